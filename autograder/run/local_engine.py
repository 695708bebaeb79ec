"""The local engine: as many workers as cores, each with a copy of the zygotes; a worker that dies is replaced.

The sandbox's libraries and the harness's own take seconds to import. So the zygotes are launched while the plan is made,
and the workers are copies of this process, made when it has imported what they need.
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
from autograder.grading.zygotes import Zygotes
from autograder.questions.engine.answers import answers_of
from autograder.results import SubmissionResult
from autograder.run.worker import Attempts, Worker, serve
from autograder.testing.run import tests_of

#: Workers that end before they were ever ready, one after another, mean that none ever will be.
_NEVER_READY = 3


@contextmanager
def grade_all(
    tasks: Iterable[Task], assignment: Assignment, jobs: int, zygotes: Zygotes
) -> Iterator[Iterator[SubmissionResult]]:
    """Grade ``tasks`` on this machine, beginning now; each result as it comes. A task whose worker dies is tried once more.

    The workers are copies of this process and made before the first task is asked for: call it while no other thread
    runs and nothing is open that a copy must not hold.
    """
    with contextlib.suppress(ImportError):  # the tests' soundness was checked, or is as it was
        importlib.import_module("autograder.grading.grader")
        tests_of(assignment.lab)
        answers_of(assignment.lab)
    pool = _WorkerPool(
        iter(tasks), assignment, [ForkedWorker(assignment, zygotes.clone()) for _ in range(jobs)]
    )
    try:
        pool.begin()
        yield pool.work()
    finally:
        pool.stop()


class ForkedWorker(Worker):
    """A worker that is a copy of this process."""

    def __init__(self, assignment: Assignment, zygotes: Zygotes):
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        self.ready = False
        self.task = None
        keep = [theirs.fileno(), *zygotes.descriptors()]
        context: Any = multiprocessing.get_context("fork")
        self.forked = context.Process(
            target=_serve_in_copy, args=(theirs.detach(), zygotes, keep), daemon=True
        )
        self.forked.start()
        os.close(keep[0])
        zygotes.close()  # the copy has them
        self._send(assignment)

    def _wait(self, seconds: float) -> bool:
        self.forked.join(seconds)
        return self.forked.exitcode is not None

    def _kill(self) -> None:
        self.forked.kill()
        self.forked.join()


def _serve_in_copy(descriptor: int, zygotes: Zygotes, keep: list[int]) -> None:
    """A copy's life: let go of everything that is not its own, then a worker's."""
    gc.freeze()  # what was copied is never taken apart here: a connection would close a descriptor of another's
    lowest = 3
    for kept in sorted(keep):
        os.closerange(lowest, kept)
        lowest = kept + 1
    os.closerange(lowest, os.sysconf("SC_OPEN_MAX"))
    serve(Connection(descriptor), zygotes)


class _WorkerPool:
    """The workers, what they have in hand, and what has to be done again."""

    def __init__(self, tasks: Iterator[Task], assignment: Assignment, workers: list[ForkedWorker]):
        self.tasks = tasks
        self.assignment = assignment
        self.workers: list[Worker] = [*workers]
        self.retries: list[Task] = []
        self.attempts = Attempts(assignment)
        self.never_ready = 0

    def next_task(self) -> Task | None:
        """The next task; None when all are under way."""
        return self.retries.pop() if self.retries else next(self.tasks, None)

    def begin(self) -> None:
        """Have a first task in hand for each worker: it gets it when it is ready."""
        for worker in self.workers:
            worker.task = self.next_task()

    def stop(self) -> None:
        """End the workers."""
        while self.workers:
            self.workers.pop().stop()

    def work(self) -> Iterator[SubmissionResult]:
        try:
            while busy := [worker for worker in self.workers if worker.task]:
                ready: Any = wait([worker.connection for worker in busy])
                for worker in [worker for worker in busy if worker.connection in ready]:
                    yield from self.answer(worker)
        finally:
            self.stop()

    def answer(self, worker: Worker) -> Iterator[SubmissionResult]:
        """Deal with a worker's message and give it the next task."""
        was_ready = worker.ready
        kind, value = worker.receive()
        if kind == "ready":
            assert worker.task is not None
            worker.give(worker.task)  # not before: a large one would wait here for the worker to start
            return
        if kind == "cannot start":
            raise GradingError(value)
        task = worker.task
        assert task is not None
        worker.task = None
        if kind == "died":
            worker.stop()
            self.workers.remove(worker)
            self.never_ready = 0 if was_ready else self.never_ready + 1
            if self.never_ready == _NEVER_READY:
                raise GradingError("No worker can be started here: each one ended at once.")
        if kind == "done":
            self.attempts.any_done = True
            yield value
        elif kind == "died" and not was_ready:
            self.retries.append(task)
        elif (result := self.attempts.failed(task, kind, value)) is not None:
            yield result
        else:
            self.retries.append(task)
        if (following := self.next_task()) is None:
            return
        if kind == "died":
            replacement = Worker(self.assignment)
            replacement.task = following
            self.workers.append(replacement)
        else:
            worker.give(following)
