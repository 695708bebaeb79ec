"""The Dask engine: the same unit of work on a cluster, for classes that outgrow one machine.

A Dask worker needs the package and a kernel with namespaces, nothing else: masters, tests, kit and data come
in an archive, submissions in their tasks. Each thread of a Dask worker starts a worker process of ours, so that
nothing of one course or run stays in the cluster's own processes.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import io
import logging
import shutil
import ssl
import sys
import tempfile
import threading
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dask
from distributed import CancelledError, Client, KilledWorker, LocalCluster, get_worker, wait

from autograder.course.visible_files import KIT, files_below, grader_files
from autograder.errors import GradingError
from autograder.grading.task import Assignment, Task
from autograder.results import SubmissionResult
from autograder.run.worker import Attempts, Worker

#: Tasks sent ahead for each thread of the cluster: enough to keep it busy, few enough to keep memory flat.
_AHEAD = 3
#: Seconds in which a scheduler answers; that a cluster has for its first worker (a batch system may take a while), and after
#: how many it is said.
_ANSWERS_WITHIN, _WORKERS_WITHIN, _SAID_AFTER = 10, 300, 10


@contextlib.contextmanager
def grade_all(
    tasks: Iterable[Task], assignment: Assignment, jobs: int, address: str = ""
) -> Iterator[Iterator[SubmissionResult]]:
    """Grade ``tasks`` on the cluster at ``address``, or on one of ``jobs`` processes made for this run.

    Each result comes when it is there. What a lost Dask worker had in hand is done by another.
    """
    with _client(address, jobs) as (client, where):
        yield _Run(client, where, assignment, iter(tasks)).results()


class _Run:
    """One class on a cluster: what is under way, and what has to be tried again."""

    def __init__(self, client: Client, address: str, assignment: Assignment, tasks: Iterator[Task]):
        self.client, self.address = client, address
        self.tasks = tasks
        self.attempts = Attempts(assignment)
        archive = pack(assignment)
        # A task, not scattered data: when the workers that hold it are lost, it can be made again.
        self.archive = client.submit(
            _the_same, archive, key=f"archive-{archive.digest}-{uuid.uuid4().hex[:8]}"
        )
        self.under_way: dict[Any, Task] = {}
        #: Dask workers that cannot begin here, with the reason: they get no more tasks.
        self.unfit: dict[str, str] = {}
        #: The workers that a task may go to, of those tasks that may not go to each.
        self.places: dict[Any, frozenset[str]] = {}

    def results(self) -> Iterator[SubmissionResult]:
        """Each result as it comes. ``GradingError`` when scheduler or workers are gone, or cannot grade at all."""
        try:
            self.fill()
            while self.under_way:
                for future in self.some_done():
                    if (result := self.result_of(future)) is not None:
                        yield result
                self.fill()
        except (OSError, CancelledError) as error:
            raise GradingError(
                f"The Dask scheduler at {self.address} was lost ({_in_words(error)}): what was graded is kept, start it and "
                "grade again for the rest."
            ) from None

    def some_done(self) -> list[Any]:
        """The tasks that are done, one at least. A cluster that has lost all workers that can grade has some time to get others."""
        without, lost = 0, f"The Dask scheduler at {self.address} has lost all its workers"
        while True:
            try:
                with self.client.as_current():
                    return list(wait([*self.under_way], _SAID_AFTER, "FIRST_COMPLETED").done)
            except TimeoutError:
                without = 0 if self.fit() else without + _SAID_AFTER
            lost += " that can grade" if self.unfit and "that can" not in lost else ""
            if without >= _WORKERS_WITHIN:
                raise GradingError(
                    f"{lost}: what was graded is kept, start some and grade again for the rest."
                )
            if without == _SAID_AFTER:
                _say_without_workers(lost)
            if not without:
                self.send_elsewhere()

    def result_of(self, future: Any) -> SubmissionResult | None:
        """The result of a task that is done, or None where it was sent again."""
        task = self.under_way.pop(future)
        self.places.pop(future, None)
        kind, value = _outcome(future)
        if kind == "done":
            self.attempts.any_done = True
            return value  # type: ignore[no-any-return]
        if kind == "unfit":
            worker, reason = value
            if worker not in self.unfit:
                print(f"The Dask worker {worker} takes no part: {reason}.", file=sys.stderr, flush=True)
            self.unfit[worker] = reason
            if not self.fit() and not self.attempts.any_done:
                raise GradingError(f"No Dask worker can grade: {reason}.")
        elif (result := self.attempts.failed(task, kind, value)) is not None:
            return result
        self.send(task)
        return None

    def fit(self) -> list[str]:
        """The addresses of the workers that can grade, as far as anybody knows."""
        return [worker for worker in self.client.nthreads() if worker not in self.unfit]

    def fill(self) -> None:
        """Send tasks ahead, each read when it is sent."""
        threads = sum(self.client.nthreads().values()) or 1
        while len(self.under_way) < _AHEAD * threads and (task := next(self.tasks, None)) is not None:
            self.send(task)

    def send(self, task: Task) -> None:
        # Where nobody can grade now, it waits: for the scheduler's own address, where no worker is.
        places = (self.fit() or [self.address]) if self.unfit else None
        future = self.client.submit(
            _grade, self.archive, task, key=f"grade-{uuid.uuid4().hex}", pure=False, workers=places
        )
        self.under_way[future] = task
        if places is not None:
            self.places[future] = frozenset(places)

    def send_elsewhere(self) -> None:
        """Send again what waits for workers that are gone, while others, who came later, can do it."""
        fit = frozenset(self.fit())
        for future in [future for future, places in self.places.items() if not places & fit]:
            task = self.under_way.pop(future)
            del self.places[future]
            future.cancel()
            self.send(task)


def _outcome(future: Any) -> tuple[str, Any]:
    """A task's outcome: (kind, value) as in a worker's messages."""
    try:
        kind, value = future.result()
        return kind, value
    except KilledWorker:
        return "died", "the Dask workers that graded it were lost, one after another"
    except (OSError, CancelledError):
        raise  # the scheduler
    except Exception as error:
        raise GradingError(
            f"The Dask cluster cannot grade ({type(error).__name__}: {error}): "
            "its workers need this version of the package."
        ) from error


def _in_words(error: BaseException) -> str:
    """An error of the connection: the first cause that says something, TLS's before all others."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    chosen = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), causes[0])
    return str(chosen).strip() or type(chosen).__name__


@contextlib.contextmanager
def _client(address: str, jobs: int) -> Iterator[tuple[Client, str]]:
    """A client, and the scheduler's address."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}))
        # Of what is lost this module says a sentence; Dask's own log would put pages of tracebacks before it.
        for log in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
            logging.getLogger(log).setLevel(logging.CRITICAL)
        if not address:
            cluster = stack.enter_context(
                LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50)
            )
            address = cluster.scheduler_address
        try:
            client = stack.enter_context(Client(address, timeout=_ANSWERS_WITHIN, set_as_default=False))
        except (OSError, ValueError, TypeError) as error:  # a TypeError where Dask is told of no certificates
            raise GradingError(
                f"No Dask scheduler can be reached at {address} ({_in_words(error)}): check the address, that it runs, and, "
                "for tls://, the certificates in Dask's own settings (docs/run_a_course.md)."
            ) from None
        _wait_for_workers(client, address)
        yield client, address


def _wait_for_workers(client: Client, address: str) -> None:
    """Wait for the first worker, and say so where it takes longer than anybody waits in silence."""
    try:
        client.wait_for_workers(1, timeout=_SAID_AFTER)
        return
    except TimeoutError:
        _say_without_workers(f"The Dask scheduler at {address} has no workers yet")
    try:
        client.wait_for_workers(1, timeout=_WORKERS_WITHIN)
    except TimeoutError:
        raise GradingError(
            f"The Dask scheduler at {address} has no workers: start some and try again."
        ) from None


def _say_without_workers(what: str) -> None:
    print(
        f"{what}: start some. Waiting {_WORKERS_WITHIN} seconds for the first (Ctrl + C ends it).",
        file=sys.stderr,
        flush=True,
    )


# ------------------------------------------------------------------------------------ what travels


@dataclass(frozen=True)
class WorkerArchive:
    """An assignment whose files travel with it. ``digest`` names it."""

    assignment: Assignment
    files: bytes
    digest: str


def pack(assignment: Assignment) -> WorkerArchive:
    """Put the masters and questions' files up to the lab, its kit and its data into an archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for source, name in sorted(set(_files(assignment)), key=lambda pair: pair[1]):
            packed.writestr(zipfile.ZipInfo(name), source.read_bytes(), zipfile.ZIP_DEFLATED)
    files = content.getvalue()
    identity = f"{assignment.context.whole} {assignment.settings.salt}"
    return WorkerArchive(assignment, files, hashlib.sha256(identity.encode() + files).hexdigest()[:16])


def unpack(archive: WorkerArchive, folder: Path) -> Assignment:
    """Write the archive's files to ``folder``: a course of its own; the assignment as it is there."""
    with zipfile.ZipFile(io.BytesIO(archive.files)) as packed:
        packed.extractall(folder)
    old = archive.assignment
    data = tuple(folder / "data" / path.relative_to(old.root / "data") for path in old.data)
    return replace(old, root=folder, kit=folder / KIT, data=data)


def _files(assignment: Assignment) -> Iterator[tuple[Path, str]]:
    """Each file with its name in the archive."""
    yield from grader_files(assignment.lab)
    for file in files_below(assignment.kit):
        yield file, f"{KIT}/{file.relative_to(assignment.kit).as_posix()}"
    for path in assignment.data:
        for file in files_below(path):
            yield file, f"data/{file.relative_to(assignment.root / 'data').as_posix()}"


# ------------------------------------------------------------------------------------ inside a Dask worker


class _Pool:
    """The worker processes of one Dask worker for one archive. Threads take one each."""

    def __init__(self, archive: WorkerArchive, home: str):
        self.digest = archive.digest
        self.folder = Path(tempfile.mkdtemp(prefix=f"course-{archive.digest}-", dir=home))
        self.assignment = unpack(archive, self.folder)
        self.idle: list[Worker] = []
        self.closed = False

    def take(self) -> Worker:
        with _lock:
            if self.idle:
                return self.idle.pop()
        return Worker(self.assignment)

    def give_back(self, worker: Worker) -> None:
        with _lock:
            if not self.closed:
                self.idle.append(worker)
                return
        worker.stop()

    def close(self) -> None:
        with _lock:
            self.closed, idle = True, self.idle
        for worker in idle:
            worker.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


_lock = threading.Lock()
_pool: _Pool | None = None


def _pool_for(archive: WorkerArchive) -> _Pool:
    """The pool of this process for ``archive``; one for another archive makes way."""
    global _pool
    old = None
    with _lock:
        if _pool is None or _pool.digest != archive.digest:
            old, _pool = _pool, _Pool(archive, get_worker().local_directory)
        mine = _pool
    if old is not None:
        old.close()
    return mine


@atexit.register
def _close() -> None:
    if _pool is not None:
        _pool.close()


def _the_same(archive: WorkerArchive) -> WorkerArchive:
    return archive


def _grade(archive: WorkerArchive, task: Task) -> tuple[str, Any]:
    """The unit of work, as the local engine does it: (kind, value), a worker's own message.

    ``("unfit", (address, reason))`` where this machine has no room to begin.
    """
    try:
        pool = _pool_for(archive)
        worker = pool.take()
    except OSError as error:
        return "unfit", (get_worker().address, error.strerror or type(error).__name__)
    kind, value = worker.graded(task)
    if kind in ("died", "cannot start"):
        worker.stop()
    else:
        pool.give_back(worker)
    return kind, value
