"""The Dask engine: the same unit of work on a cluster, for classes that outgrow one machine.

A Dask worker needs the package and a kernel with namespaces, nothing else: masters, tests, kit and data come
in a archive, submissions in their tasks. Each thread of a Dask worker starts a worker process of ours, so that
nothing of one course or run stays in the cluster's own processes.
"""

from __future__ import annotations

import atexit
import contextlib
import shutil
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import dask
from distributed import Client, KilledWorker, LocalCluster, as_completed, get_worker

from autograder.errors import GradingError
from autograder.grading.task import Assignment, Task
from autograder.results import SubmissionResult
from autograder.run.worker import Attempts, Worker
from autograder.run.worker_archive import WorkerArchive, pack, unpack

#: Tasks sent ahead for each thread of the cluster: enough to keep it busy, few enough to keep memory flat.
_AHEAD = 3
#: Seconds that a cluster has for its first worker (a batch system may take a while), and after how many it is said.
_WORKERS_WITHIN, _SAID_AFTER = 300, 10


@contextlib.contextmanager
def grade_all(
    tasks: Iterable[Task], assignment: Assignment, jobs: int, address: str = ""
) -> Iterator[Iterator[SubmissionResult]]:
    """Grade ``tasks`` on the cluster at ``address``, or on one of ``jobs`` processes made for this run.

    Each result comes when it is there. What a lost Dask worker had in hand is done by another.
    """
    with _client(address, jobs) as client:
        yield _Run(client, assignment, iter(tasks)).results()


class _Run:
    """One class on a cluster: what is under way, and what has to be tried again."""

    def __init__(self, client: Client, assignment: Assignment, tasks: Iterator[Task]):
        self.client = client
        self.tasks = tasks
        self.attempts = Attempts(assignment)
        archive = pack(assignment)
        # A task, not scattered data: when the workers that hold it are lost, it can be made again.
        self.archive = client.submit(
            _the_same, archive, key=f"archive-{archive.digest}-{uuid.uuid4().hex[:8]}"
        )
        self.under_way: dict[Any, Task] = {}
        self.done = as_completed(loop=client.loop)

    def results(self) -> Iterator[SubmissionResult]:
        self.fill()
        for future in self.done:
            task = self.under_way.pop(future)
            kind, value = _outcome(future)
            if kind == "done":
                self.attempts.any_done = True
                yield value
            elif (result := self.attempts.failed(task, kind, value)) is not None:
                yield result
            else:
                self.send(task)
            self.fill()

    def fill(self) -> None:
        """Send tasks ahead, each read when it is sent."""
        threads = sum(self.client.nthreads().values()) or 1
        while len(self.under_way) < _AHEAD * threads and (task := next(self.tasks, None)) is not None:
            self.send(task)

    def send(self, task: Task) -> None:
        key = f"grade-{uuid.uuid4().hex}"
        future = self.client.submit(_grade, self.archive, task, key=key, pure=False)
        self.under_way[future] = task
        self.done.add(future)


def _outcome(future: Any) -> tuple[str, Any]:
    """What became of a task: (kind, value) as a worker's messages have it."""
    try:
        kind, value = future.result()
        return kind, value
    except KilledWorker:
        return "died", "the Dask workers that graded it were lost, one after another"
    except Exception as error:
        raise GradingError(
            f"The Dask cluster cannot grade ({type(error).__name__}: {error}): "
            "its workers need this version of the package."
        ) from error


@contextlib.contextmanager
def _client(address: str, jobs: int) -> Iterator[Client]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}))
        if not address:
            cluster = stack.enter_context(
                LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50)
            )
            address = cluster.scheduler_address
        try:
            client = stack.enter_context(Client(address, timeout=10, set_as_default=False))
        except (OSError, ValueError, TimeoutError):
            raise GradingError(
                f"No Dask scheduler answers at {address}: check the address, and that it runs."
            ) from None
        _wait_for_workers(client, address)
        yield client


def _wait_for_workers(client: Client, address: str) -> None:
    """Wait for the first worker, and say so where it takes longer than anybody waits in silence."""
    try:
        client.wait_for_workers(1, timeout=_SAID_AFTER)
        return
    except TimeoutError:
        print(
            f"The Dask scheduler at {address} has no workers yet: start some. Waiting {_WORKERS_WITHIN} seconds for the "
            "first (Ctrl + C ends it).",
            file=sys.stderr,
            flush=True,
        )
    try:
        client.wait_for_workers(1, timeout=_WORKERS_WITHIN)
    except TimeoutError:
        raise GradingError(
            f"The Dask scheduler at {address} has no workers: start some and try again."
        ) from None


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
    """The unit of work, as the local engine does it: (kind, value), a worker's own message."""
    pool = _pool_for(archive)
    worker = pool.take()
    if not worker.ready:
        kind, value = worker.receive()
        if kind != "ready":
            worker.stop()
            return kind, value
    worker.give(task)
    kind, value = worker.receive()
    if kind == "died":
        worker.stop()
    else:
        pool.give_back(worker)
    return kind, value
