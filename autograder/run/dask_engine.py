"""The Dask engine: grades on a cluster, for classes that outgrow one machine.

A Dask worker needs only the package and a kernel with namespaces. Masters, tests, kit and data come in an archive,
submissions in their tasks. Each thread of a Dask worker starts a worker process of this package, so that no state of a
course or run stays in the cluster's own processes.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import logging
import shutil
import ssl
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
from distributed import CancelledError, Client, KilledWorker, LocalCluster, WorkerPlugin, get_worker, wait

from autograder.course.student_files import KIT, files_below, grader_files
from autograder.errors import GradingError
from autograder.grading.task import Assignment, Task
from autograder.results import SubmissionResult
from autograder.run.worker import Attempts, Worker

#: Tasks sent ahead for each thread of the cluster: enough to keep it busy, few enough to keep memory flat.
_AHEAD = 3
#: Seconds in which a scheduler must answer; in which a cluster must get its first worker (a batch system may take a while);
#: after which a message says so.
_ANSWERS_WITHIN, _WORKERS_WITHIN, _WARN_AFTER = 10, 300, 10


@contextlib.contextmanager
def grade_all(
    tasks: Iterable[Task], assignment: Assignment, jobs: int, address: str = ""
) -> Iterator[Iterator[SubmissionResult]]:
    """Grade ``tasks`` on the cluster at ``address``, or on a new one of ``jobs`` processes.

    Results come in the order in which they are done. Another worker takes over the tasks of a lost one.
    """
    with _client(address, jobs) as (client, where):
        yield _results(client, where, assignment, iter(tasks))


def _results(
    client: Client, address: str, assignment: Assignment, tasks: Iterator[Task]
) -> Iterator[SubmissionResult]:
    """Yield each result when it is done. Raises ``GradingError`` if scheduler or workers are lost or cannot grade."""
    graders, attempts, under_way = Graders(assignment), Attempts(assignment), dict[Any, Task]()

    def send(task: Task) -> None:
        key = f"grade-{uuid.uuid4().hex}"
        under_way[client.submit(_grade, graders.name, task, key=key, pure=False)] = task

    try:
        with _needs_this_version():
            client.register_plugin(graders)
        while True:
            most = _AHEAD * (sum(client.nthreads().values()) or 1)
            for task in itertools.islice(tasks, max(0, most - len(under_way))):  # read when it is sent
                send(task)
            if not under_way:
                break
            for future in _done(client, list(under_way), address):
                task = under_way.pop(future)
                try:
                    with _needs_this_version():
                        kind, value = future.result()
                except KilledWorker:
                    kind, value = "died", "the Dask workers that graded it were lost, one after another"
                if kind == "done":
                    attempts.any_done = True
                    yield value
                elif (result := attempts.failed(task, kind, value)) is not None:
                    yield result
                else:
                    send(task)
        with contextlib.suppress(Exception):  # everything is graded: errors of the cluster no longer matter
            client.unregister_worker_plugin(graders.name)
    except (OSError, CancelledError) as error:
        why = "the connection ended" if isinstance(error, CancelledError) else _cause_of(error)
        raise GradingError(
            f"The Dask scheduler at {address} was lost ({why}): what was graded is kept, start it and "
            "grade again for the rest."
        ) from None


def _done(client: Client, futures: list[Any], address: str) -> list[Any]:
    """Wait for at least one finished task; returns all finished. A cluster without workers has some time to get one."""
    while True:
        try:
            with client.as_current():
                return list(wait(futures, _WARN_AFTER, "FIRST_COMPLETED").done)
        except TimeoutError:
            if client.nthreads():
                continue
        lacking = f"The Dask scheduler at {address} has no workers"
        print(
            f"{lacking}: start some. Waiting {_WORKERS_WITHIN} seconds for the first (Ctrl + C ends it).",
            file=sys.stderr,
            flush=True,
        )
        try:
            client.wait_for_workers(1, _WORKERS_WITHIN)
        except TimeoutError:
            raise GradingError(
                f"{lacking}: what was graded is kept, start some and grade again for the rest."
            ) from None


@contextlib.contextmanager
def _needs_this_version() -> Iterator[None]:
    """Turn errors of workers with another version of the package into one sentence. Lost connections raise other errors."""
    try:
        yield
    except (OSError, CancelledError, KilledWorker):
        raise
    except Exception as error:
        raise GradingError(
            f"The Dask cluster cannot grade ({type(error).__name__}: {error}): "
            "its workers need this version of the package."
        ) from error


def _cause_of(error: BaseException) -> str:
    """The cause of a connection error: TLS's message if there is one, else the first that is not empty."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    chosen = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), causes[0])
    return str(chosen).strip() or type(chosen).__name__


@contextlib.contextmanager
def _client(address: str, jobs: int) -> Iterator[tuple[Client, str]]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}))
        # This module says in a sentence what is lost; Dask's log would add pages of tracebacks.
        for log in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
            logging.getLogger(log).setLevel(logging.CRITICAL)
        if not address:
            cluster = stack.enter_context(
                LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50)
            )
            address = cluster.scheduler_address
        try:
            client = stack.enter_context(Client(address, timeout=_ANSWERS_WITHIN, set_as_default=False))
        except (OSError, ValueError, TypeError) as error:  # TypeError: Dask has no certificates
            raise GradingError(
                f"No Dask scheduler can be reached at {address} ({_cause_of(error)}): check the address, that it runs, and, "
                "for tls://, the certificates in Dask's own settings (docs/run_a_course.md)."
            ) from None
        yield client, address


class Graders(WorkerPlugin):
    """The worker processes of a Dask worker for one assignment, with its files. Each thread uses one process."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        self.files = _packed(assignment)
        identity = f"{assignment.context.combined_digest} {assignment.settings.salt}".encode() + self.files
        #: A name for this assignment's graders: other runs have their own, and a killed run may have left these.
        self.name = f"autograder-{hashlib.sha256(identity).hexdigest()[:16]}"
        self.folder = ""
        self.idle: list[Worker] = []
        self.trouble: OSError | None = None

    def setup(self, worker: Any) -> None:
        """Unpack the course's files. An error is kept and reported by each task: here it would only reach a log."""
        try:
            self.folder = tempfile.mkdtemp(prefix="course-", dir=worker.local_directory)
            with zipfile.ZipFile(io.BytesIO(self.files)) as packed:
                packed.extractall(self.folder)
        except OSError as error:
            self.trouble = error
        root, old = Path(self.folder), self.assignment
        data = tuple(root / "data" / path.relative_to(old.root / "data") for path in old.data)
        self.assignment = replace(old, root=root, kit=root / KIT, data=data)

    def teardown(self, worker: Any) -> None:
        """End the worker processes."""
        while self.idle:
            self.idle.pop().stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def graded(self, task: Task) -> tuple[str, Any]:
        """A worker process's message about ``task``: (kind, value). Raises ``OSError`` if none can be started."""
        if self.trouble is not None:
            raise self.trouble
        try:
            worker = self.idle.pop()
        except IndexError:
            worker = Worker(self.assignment)
        kind, value = worker.graded(task)
        if kind in ("died", "cannot start"):
            worker.stop()
        else:
            self.idle.append(worker)
        return kind, value


def _packed(assignment: Assignment) -> bytes:
    """An archive of the lab's kit and data, and of masters and question files up to the lab."""
    kit, data = assignment.kit, assignment.root / "data"
    files = {name: file for file, name in grader_files(assignment.lab)}
    files |= {f"{KIT}/{file.relative_to(kit).as_posix()}": file for file in files_below(kit)}
    below = (file for path in assignment.data for file in files_below(path))
    files |= {f"data/{file.relative_to(data).as_posix()}": file for file in below}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, file in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _grade(graders: str, task: Task) -> tuple[str, Any]:
    """Grade one task on a Dask worker. Returns a worker process's message: (kind, value)."""
    here = get_worker()
    plugin: Any = here.plugins[graders]
    try:
        return plugin.graded(task)  # type: ignore[no-any-return]
    except OSError as error:
        return "cannot start", f"The Dask worker {here.address} cannot grade: {error.strerror or error}."
