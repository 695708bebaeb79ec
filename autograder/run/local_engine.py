"""The local engine: as many workers as cores, each with a copy of the zygote; a worker that dies is replaced.

Importing the libraries of sandbox and harness takes seconds. So the zygote is launched while the plan is made, and the
workers are forked from this process after it has imported what they need.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import multiprocessing
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from autograder.errors import GradingError
from autograder.grading.task import Assignment, Task
from autograder.judging.run import tests_of
from autograder.questions.engine.answers import answers_of
from autograder.results import SubmissionResult
from autograder.run.worker import Attempts, Worker, serve
from autograder.sandbox.host.session import Zygote

#: After this many workers in a row that end before they are ready, no more are started.
_NEVER_READY = 3


@contextmanager
def grade_all(
    tasks: Iterable[Task], assignment: Assignment, jobs: int, zygote: Zygote
) -> Iterator[Iterator[SubmissionResult]]:
    """Grade ``tasks`` on this machine, beginning now; yields results as they come. A task whose worker dies is tried once more.

    The workers are forked before the first task is requested. Call this function while no other thread runs and while no
    file is open that a worker must not inherit.
    """
    with contextlib.suppress(ImportError):  # preflight has checked that they load
        importlib.import_module("autograder.grading.grader")
        tests_of(assignment.lab)
        answers_of(assignment.lab)
    tasks, workers = iter(tasks), list[Worker]()
    try:
        workers += [ForkedWorker(assignment, zygote.clone()) for _ in range(jobs)]
        for worker in workers:  # each gets its first task when it is ready
            worker.task = next(tasks, None)
        yield _results(tasks, assignment, workers)
    finally:
        _stop(workers)


class ForkedWorker(Worker):
    """A worker process that is forked from this process."""

    def __init__(self, assignment: Assignment, zygote: Zygote):
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        self.ready = False
        self.task = None
        keep = [theirs.fileno(), *zygote.descriptors()]
        context: Any = multiprocessing.get_context("fork")
        self.forked = context.Process(
            target=_serve_in_copy, args=(theirs.detach(), zygote, keep), daemon=True
        )
        self.forked.start()
        os.close(keep[0])
        zygote.close()  # the forked process has it
        self._send(assignment)

    def _end(self, seconds: float) -> None:
        self.forked.join(seconds)
        if self.forked.exitcode is None:
            self.forked.kill()
            self.forked.join()


def _serve_in_copy(descriptor: int, zygote: Zygote, keep: list[int]) -> None:
    """Run a worker in the forked process, after closing the descriptors that are not its own."""
    gc.freeze()  # inherited objects are never collected here: a connection would close another's descriptor
    lowest = 3
    for kept in sorted(keep):
        os.closerange(lowest, kept)
        lowest = kept + 1
    os.closerange(lowest, os.sysconf("SC_OPEN_MAX"))
    serve(Connection(descriptor), zygote)


def _stop(workers: list[Worker]) -> None:
    while workers:
        workers.pop().stop()


def _results(
    tasks: Iterator[Task], assignment: Assignment, workers: list[Worker]
) -> Iterator[SubmissionResult]:
    """Yield each result when it is done. ``workers`` end with the last task."""
    attempts, again, never_ready = Attempts(assignment), list[Task](), 0
    while busy := [worker for worker in workers if worker.task]:
        ready: Any = wait([worker.connection for worker in busy])
        for worker in [worker for worker in busy if worker.connection in ready]:
            was_ready, task, (kind, value) = worker.ready, worker.task, worker.receive()
            assert task is not None
            if kind == "ready":
                worker.give(task)  # not earlier: sending a large task would block until the worker reads it
                continue
            result = value if kind == "done" else None
            attempts.any_done |= kind == "done"
            if result is None and (was_ready or kind != "died"):
                result = attempts.failed(task, kind, value)
            if result is None:
                again.append(task)
            worker.task = again.pop() if again else next(tasks, None)
            if kind == "died":
                worker.stop()
                workers.remove(worker)
                never_ready = 0 if was_ready else never_ready + 1
                if never_ready == _NEVER_READY:
                    raise GradingError("No worker can be started here: each one ended at once.")
                if worker.task is not None:
                    workers.append(Worker(assignment))
                    workers[-1].task = worker.task
            elif worker.task is not None:
                worker.give(worker.task)
            if result is not None:
                yield result
    _stop(workers)
