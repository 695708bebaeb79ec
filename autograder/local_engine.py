"""The local engine: as many workers as cores, each with its own zygote; a worker that dies is replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any

from autograder.errors import GradingError
from autograder.results import SubmissionResult
from autograder.work import Assignment, Task
from autograder.worker import Attempts, Worker

#: Workers that end before they were ever ready, one after another, mean that none ever will be.
_STILLBORN = 3


def grade_all(tasks: Iterable[Task], assignment: Assignment, jobs: int) -> Iterator[SubmissionResult]:
    """Grade ``tasks`` and yield each result as it comes. A task whose worker dies is tried once more."""
    return _Crew(iter(tasks), assignment).work(jobs)


class _Crew:
    """The workers, what they have in hand, and what has to be done again."""

    def __init__(self, tasks: Iterator[Task], assignment: Assignment):
        self.tasks = tasks
        self.assignment = assignment
        self.again: list[Task] = []
        self.attempts = Attempts(assignment)
        self.workers: list[Worker] = []
        self.stillborn = 0

    def next_task(self) -> Task | None:
        return self.again.pop() if self.again else next(self.tasks, None)

    def work(self, jobs: int) -> Iterator[SubmissionResult]:
        try:
            while len(self.workers) < jobs and (task := self.next_task()) is not None:
                self.hire(task)
            while busy := [worker for worker in self.workers if worker.task]:
                ready: Any = wait([worker.connection for worker in busy])
                for worker in [worker for worker in busy if worker.connection in ready]:
                    yield from self.answer(worker)
        finally:
            for worker in self.workers:
                worker.stop()

    def hire(self, task: Task) -> None:
        worker = Worker(self.assignment)
        self.workers.append(worker)
        worker.task = task

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
            self.stillborn = 0 if was_ready else self.stillborn + 1
            if self.stillborn == _STILLBORN:
                raise GradingError("No worker can be started here: each one ended at once.")
        if kind == "done":
            yield value
        elif kind == "died" and not was_ready:
            self.again.append(task)
        elif (result := self.attempts.failed(task, kind, value)) is not None:
            yield result
        else:
            self.again.append(task)
        if (following := self.next_task()) is None:
            return
        if kind == "died":
            self.hire(following)
        else:
            worker.give(following)


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
