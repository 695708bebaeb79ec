"""The local engine: as many workers as cores, each with its own zygote; a worker that dies is replaced."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from autograder.errors import GradingError, UserError
from autograder.results import SubmissionResult
from autograder.sandbox.policy import Limits
from autograder.submissions import Submission


@dataclass(frozen=True)
class Task:
    """One unit of work: a submission and what is known of it from before."""

    submission: Submission
    earlier: SubmissionResult | None = None


@dataclass(frozen=True)
class Assignment:
    """What a worker needs to know once: the lab, its limits, the kit and the data, the salt."""

    lab: str
    limits: Limits
    kit: Path
    data: tuple[Path, ...]
    sandbox: bool
    salt: str


def make_grader(assignment: Assignment) -> Any:
    """A grader with a started zygote; close ``grader.zygote`` in the end."""
    from autograder.fingerprints import context_of
    from autograder.grading import Grader
    from autograder.sandbox.session import Zygote
    from autograder.sanitise import Template
    from autograder.testing import set_salt

    set_salt(assignment.salt)
    zygote = Zygote(assignment.kit, assignment.data, assignment.limits, sandbox=assignment.sandbox)
    zygote.start()
    context = context_of(assignment.lab, assignment.limits, assignment.sandbox)
    return Grader(assignment.lab, zygote, Template.of(assignment.lab), context)


def _work(connection: Connection, assignment: Assignment) -> None:
    """A worker's life: make a grader, then grade what comes until nothing more does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(1)
    try:
        grader = make_grader(assignment)
    except UserError as error:
        connection.send(("cannot", str(error)))
        return
    try:
        while (task := connection.recv()) is not None:
            try:
                connection.send(("done", grader.grade(task.submission, task.earlier)))
            except UserError as error:
                connection.send(("cannot", str(error)))
            except Exception:
                connection.send(("fault", traceback.format_exc()))
    except (EOFError, OSError):
        pass
    finally:
        grader.zygote.close()


class _Worker:
    """A worker process and the task it has in hand."""

    def __init__(self, context: Any, assignment: Assignment):
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, assignment), daemon=False)
        self.process.start()
        theirs.close()
        self.task: Task | None = None

    def give(self, task: Task) -> None:
        self.task = task
        with contextlib.suppress(OSError):  # it has died: its connection reads as ended
            self.connection.send(task)

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.send(None)
        self.connection.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def failed(task: Task, assignment: Assignment, note: str) -> SubmissionResult:
    """The result of a submission that brought the harness itself down: ours to look into, not the student's fault."""
    from autograder.masters import spec

    lab = spec(assignment.lab)
    return SubmissionResult(
        task.submission.student, assignment.lab, "crashed", 0.0, lab.max_score, 0.0,
        notes=(note,), submitted_at=task.submission.submitted_at, unsandboxed=not assignment.sandbox,
    )  # fmt: skip


def grade_all(tasks: Sequence[Task], assignment: Assignment, jobs: int) -> Iterator[SubmissionResult]:
    """Grade ``tasks`` and yield each result as it comes. A task whose worker dies is tried once more."""
    if not tasks:
        return
    # One thread a worker: two workers on two cores with two threads each stand in each other's way.
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})
    context = multiprocessing.get_context("spawn")
    waiting = list(reversed(tasks))
    tried: dict[str, int] = {}
    workers = [_Worker(context, assignment) for _ in range(min(jobs, len(tasks)))]
    try:
        for worker in workers:
            worker.give(waiting.pop())
        while any(worker.task for worker in workers):
            ready = wait([worker.connection for worker in workers if worker.task])
            for worker in [worker for worker in workers if worker.connection in ready]:
                task = worker.task
                assert task is not None
                try:
                    kind, value = worker.connection.recv()
                except (EOFError, OSError):
                    kind, value = "died", ""
                worker.task = None
                if kind == "cannot":
                    raise GradingError(value)
                if kind == "done":
                    yield value
                else:
                    name = task.submission.student
                    tried[name] = tried.get(name, 0) + 1
                    if tried[name] < 2:
                        waiting.append(task)
                    else:
                        yield failed(task, assignment, _fault_note(kind, value))
                if kind == "died":
                    worker.stop()
                    workers[workers.index(worker)] = worker = _Worker(context, assignment)
                if waiting:
                    worker.give(waiting.pop())
    finally:
        for worker in workers:
            worker.stop()


def _fault_note(kind: str, value: str) -> str:
    if kind == "fault":
        last = value.strip().splitlines()[-1]
        return f"The grader failed on this submission and it has to be looked at by hand: {last}"
    return "The grader's worker died on this submission twice; it has to be looked at by hand."


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
