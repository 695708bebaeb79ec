"""A worker process: grades one submission after another for the process that started it.

``python -m autograder.run.worker DESCRIPTOR`` speaks over a socket with its starter, and with nobody else. It
ends when the other end closes, busy or not, so a starter that is killed leaves nothing behind.
"""

from __future__ import annotations

import autograder.startup.lean_imports  # noqa: F401 (before what it makes quick)

# isort: split
import contextlib
import os
import platform
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.course.masters import use_root
from autograder.course.policy_file import spec
from autograder.errors import GradingError, UserError, require_assertions
from autograder.grading.cache_keys import harness_digest, library_versions
from autograder.grading.task import Assignment, Task
from autograder.grading.time_guard import HalfImported
from autograder.grading.zygotes import Zygotes
from autograder.results import FAULT_NOTE, STRONGEST, SubmissionResult
from autograder.startup.one_thread import ONE_THREAD

#: What a worker's process is called.
NAME = "grade-worker"

#: Seconds that a worker has to end by itself once its starter has gone.
ENDS_WITHIN = 2.0

#: How often a task is tried before the grader says that it cannot.
TRIES = 2


def make_grader(assignment: Assignment, zygotes: Zygotes | None = None) -> Any:
    """A grader with a started zygote; close ``grader.zygotes`` in the end."""
    from autograder.course import policy_file
    from autograder.grading.imported import grader_of
    from autograder.testing.run import set_salt

    require_assertions()
    use_root(assignment.root)
    _same_version(assignment)
    policy_file.use(assignment.settings)
    set_salt(assignment.settings.salt)
    zygotes = zygotes or Zygotes.of(
        assignment.lab, assignment.kit, assignment.data, assignment.limits, assignment.private
    )
    zygotes.use(assignment.limits)
    zygotes.plain.wait_ready()
    return grader_of(assignment.lab)(assignment.lab, zygotes, assignment.template, assignment.context)


def _same_version(assignment: Assignment) -> None:
    """Refuse to grade with another harness or other libraries than the writer's: results would not be comparable."""
    for what, ours in (("harness", harness_digest()), ("library versions", library_versions())):
        theirs = assignment.context.shared[what]
        if ours != theirs:
            words = "this version of the package" if what == "harness" else f"{theirs} (it has {ours})"
            raise UserError(f"The worker on {platform.node()} cannot grade: it needs {words}.")


def serve(connection: Connection, zygotes: Zygotes | None = None) -> None:
    """A worker's life: learn the assignment, then grade what comes until nothing more does.

    ``zygotes`` are those that were made for it; without any it starts its own.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_end_with_starter, args=(connection.fileno(),), daemon=True).start()
    with contextlib.suppress(OSError):  # what ps and top call it, on Linux
        Path("/proc/self/comm").write_text(NAME)
    try:
        grader = make_grader(connection.recv(), zygotes)
    except EOFError:  # the starter had nothing to do, or has gone
        return
    except UserError as error:
        connection.send(("cannot start", str(error)))
        return
    except Exception:
        connection.send(("cannot start", f"A worker could not start: {traceback.format_exc()}"))
        return
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    try:
        connection.send(("ready", None))
        while (task := connection.recv()) is not None:
            connection.send(_graded(grader, task))
    except (EOFError, OSError):  # the starter has gone
        pass
    except HalfImported as trouble:  # the starter makes another worker, and has the task tried there
        print(f"A worker ends, because its {trouble} was only imported by half.", file=sys.stderr)
    finally:
        grader.zygotes.close()


def _end_with_starter(descriptor: int) -> None:
    """End this process when the other end of its connection closes, also while a submission is being graded."""
    hung_up = select.poll()
    hung_up.register(descriptor, 0)
    hung_up.poll()
    time.sleep(ENDS_WITHIN)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ENDS_WITHIN)
    os._exit(1)


def _graded(grader: Any, task: Task) -> tuple[str, Any]:
    from autograder.course.policy_file import settings
    from autograder.testing.run import set_salt

    set_salt(task.salt or settings().salt)
    try:
        return "done", _with_isolation(grader.grade(task), grader.zygotes, task)
    except UserError as error:
        return "cannot", str(error)
    except Exception:
        return "fault", traceback.format_exc()


def _with_isolation(result: SubmissionResult, zygotes: Zygotes, task: Task) -> SubmissionResult:
    """The result with what kept the submission apart: the weaker, where questions of an earlier run count."""
    isolation = zygotes.zygote_for(task.notebook).isolation if result.tested else STRONGEST
    if task.earlier is not None and len(result.tested) < len(result.questions) and isolation == STRONGEST:
        isolation = task.earlier.isolation
    return replace(result, isolation=isolation)


class Worker:
    """A worker process as its starter sees it, and the task it has in hand."""

    def __init__(self, assignment: Assignment):
        ours, theirs = socket.socketpair()
        # The course's own kit, which may be newer than the one installed.
        path = [str(assignment.root / "notebooks"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.run.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=assignment.root,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(path)},
        )
        theirs.close()
        self.connection = Connection(ours.detach())
        self.ready = False
        self.task: Task | None = None
        self._send(assignment)

    def give(self, task: Task) -> None:
        """Have it grade ``task``; the answer comes on ``connection``."""
        self.task = task
        self._send(task)

    def graded(self, task: Task, seconds: float | None = None) -> tuple[str, Any]:
        """Its answer to ``task``, or the reason why it cannot begin: (kind, value)."""
        kind, value = ("ready", None) if self.ready else self.receive()
        if kind != "ready":
            return kind, value
        self.give(task)
        return self.receive(seconds)

    def receive(self, seconds: float | None = None) -> tuple[str, Any]:
        """Its next message: (kind, value). The kind is ``died`` when there will be no more, or is none for so long."""
        try:
            if not self.connection.poll(seconds):
                return "died", "it did not answer any more"
            kind, value = self.connection.recv()
        except (EOFError, OSError):
            return "died", "its process ended"
        self.ready = True
        return kind, value

    def _send(self, value: Any) -> None:
        with contextlib.suppress(OSError):  # it has died: its connection reads as ended
            self.connection.send(value)

    def stop(self) -> None:
        """End it, now if it must be."""
        self._send(None)
        self.connection.close()
        if not self._wait(5):
            self._kill()

    def _wait(self, seconds: float) -> bool:
        """Whether its process has ended, or does within ``seconds``."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Attempts:
    """Counts how often a submission brought its worker down: after the second time the class goes on without it."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        self.failures: dict[str, int] = {}
        #: Whether any submission has been graded in this run.
        self.any_done = False

    def failed(self, task: Task, kind: str, value: str) -> SubmissionResult | None:
        """What to do after a worker's message of ``kind``: the result that says so, or None to try again.

        Raises GradingError when it is not about the submission.
        """
        if kind == "cannot start":
            raise GradingError(value)
        name = task.submission.student
        self.failures[name] = self.failures.get(name, 0) + 1
        if self.failures[name] < TRIES:
            return None
        if kind == "cannot" and not self.any_done:
            raise GradingError(value)  # so it will be with everybody
        reason = (
            value
            if kind in ("fault", "cannot")
            else f"The worker that graded it died {TRIES} times: {value}."
        )
        return _fault(task, self.assignment, reason)


def _fault(task: Task, assignment: Assignment, trace: str) -> SubmissionResult:
    """The result of a submission on which the harness itself failed: ours to look into, and no grade."""
    return SubmissionResult(
        task.submission.student, assignment.lab, "crashed", 0.0, spec(assignment.lab).max_score, 0.0,
        notes=(*task.submission.notes, FAULT_NOTE), submitted_at=task.submission.submitted_at,
        fault=trace.strip(),
    )  # fmt: skip


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
