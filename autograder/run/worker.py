"""A worker process: grades one submission after another for the process that started it.

``python -m autograder.run.worker DESCRIPTOR`` talks over a socket to the process that started it. It ends when the other
end closes, even while grading, so a killed starter leaves no process behind.
"""

from __future__ import annotations

import autograder.startup.lean_imports  # noqa: F401 (before the imports that it makes faster)

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
from autograder.grading.zygotes import zygote_of
from autograder.judging.time_guard import HalfImported
from autograder.results import FAULT_NOTE, STRONGEST, SubmissionResult
from autograder.sandbox.host.session import Zygote
from autograder.startup.one_thread import ONE_THREAD

#: The name of a worker's process.
NAME = "grade-worker"

#: Seconds that a worker has to end by itself after its starter has ended.
ENDS_WITHIN = 2.0

#: How often a task is tried before the grader gives up.
TRIES = 2


def make_grader(assignment: Assignment, zygote: Zygote | None = None) -> Any:
    """A grader with a started zygote. The caller closes ``grader.zygote``."""
    from autograder.course import policy_file
    from autograder.grading.imported import grader_of
    from autograder.judging.run import set_salt

    require_assertions()
    use_root(assignment.root)
    _same_version(assignment)
    policy_file.use(assignment.settings)
    set_salt(assignment.settings.salt)
    zygote = zygote or zygote_of(
        assignment.lab, assignment.kit, assignment.data, assignment.limits, assignment.private
    )
    zygote.limits = assignment.limits
    zygote.wait_ready()
    return grader_of(assignment.lab)(assignment.lab, zygote, assignment.template, assignment.context)


def _same_version(assignment: Assignment) -> None:
    """Refuse to grade if harness or libraries differ from the writer's: results would not be comparable."""
    for what, ours in (("harness", harness_digest()), ("library versions", library_versions())):
        theirs = assignment.context.shared[what]
        if ours != theirs:
            words = "this version of the package" if what == "harness" else f"{theirs} (it has {ours})"
            raise UserError(f"The worker on {platform.node()} cannot grade: it needs {words}.")


def serve(connection: Connection, zygote: Zygote | None = None) -> None:
    """Receive the assignment, then grade each task that comes until the connection closes.

    ``zygote`` was made for this worker; without it the worker starts its own.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_end_with_starter, args=(connection.fileno(),), daemon=True).start()
    with contextlib.suppress(OSError):  # its name in ps and top, on Linux
        Path("/proc/self/comm").write_text(NAME)
    try:
        grader = make_grader(connection.recv(), zygote)
    except EOFError:  # the starter had no task, or has ended
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
    except (EOFError, OSError):  # the starter has ended
        pass
    except HalfImported as trouble:  # the starter makes another worker, which tries the task again
        print(f"A worker ends, because {trouble} was only half imported.", file=sys.stderr)
    finally:
        grader.zygote.close()


def _end_with_starter(descriptor: int) -> None:
    """End this process when the other end of its connection closes, even while grading."""
    hung_up = select.poll()
    hung_up.register(descriptor, 0)
    hung_up.poll()
    time.sleep(ENDS_WITHIN)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ENDS_WITHIN)
    os._exit(1)


def _graded(grader: Any, task: Task) -> tuple[str, Any]:
    from autograder.course.policy_file import settings
    from autograder.judging.run import set_salt

    set_salt(task.salt or settings().salt)
    try:
        result: SubmissionResult = grader.grade(task)
        isolation = grader.zygote.isolation if result.tested else STRONGEST
        # The weaker level counts, if questions of an earlier run do.
        if task.earlier is not None and len(result.tested) < len(result.questions) and isolation == STRONGEST:
            isolation = task.earlier.isolation
        return "done", replace(result, isolation=isolation)
    except UserError as error:
        return "cannot", str(error)
    except Exception:
        return "fault", traceback.format_exc()


class Worker:
    """A worker process, seen from its starter, and its current task."""

    def __init__(self, assignment: Assignment):
        ours, theirs = socket.socketpair()
        # The course's own kit may be newer than the installed one.
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
        """Send ``task`` to be graded; the answer comes on ``connection``."""
        self.task = task
        self._send(task)

    def graded(self, task: Task, seconds: float | None = None) -> tuple[str, Any]:
        """The worker's answer to ``task``, or the reason why it cannot start: (kind, value)."""
        kind, value = ("ready", None) if self.ready else self.receive()
        if kind != "ready":
            return kind, value
        self.give(task)
        return self.receive(seconds)

    def receive(self, seconds: float | None = None) -> tuple[str, Any]:
        """The worker's next message: (kind, value). The kind is ``died`` if it ended or sent nothing for ``seconds``."""
        try:
            if not self.connection.poll(seconds):
                return "died", "it did not answer any more"
            kind, value = self.connection.recv()
        except (EOFError, OSError):
            return "died", "its process ended"
        self.ready = True
        return kind, value

    def _send(self, value: Any) -> None:
        with contextlib.suppress(OSError):  # it has died; ``receive`` will say so
            self.connection.send(value)

    def stop(self) -> None:
        """End the worker, by force if it does not end itself."""
        self._send(None)
        self.connection.close()
        self._end(5)

    def _end(self, seconds: float) -> None:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Attempts:
    """Counts how often a submission ended its worker. After the second time it gets a fault and the class goes on."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        self.failures: dict[str, int] = {}
        #: Whether any submission has been graded in this run.
        self.any_done = False

    def failed(self, task: Task, kind: str, value: str) -> SubmissionResult | None:
        """Handle a worker's failure of ``kind``. Returns the fault to record, or None to try again.

        Raises GradingError if the failure does not concern the submission.
        """
        if kind == "cannot start":
            raise GradingError(value)
        name = task.submission.student
        self.failures[name] = self.failures.get(name, 0) + 1
        if self.failures[name] < TRIES:
            return None
        if kind == "cannot" and not self.any_done:
            raise GradingError(value)  # every submission would fail so
        if kind == "died":
            value = f"The worker that graded it died {TRIES} times: {value}."
        lab, submission = self.assignment.lab, task.submission
        return SubmissionResult(
            name, lab, "crashed", 0.0, spec(lab).max_score, 0.0, notes=(*submission.notes, FAULT_NOTE),
            submitted_at=submission.submitted_at, fault=value.strip(),
        )  # fmt: skip


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
