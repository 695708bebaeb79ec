"""Grades the waiting attempts on the same kind of workers as a class: warm and isolated; a worker that dies is replaced.

Each attempt has its own hidden inputs. So its verdict tells nothing about the inputs of the grade, which is computed with
the course's salt.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from autograder.course.policy_file import settings
from autograder.errors import GradingError, UserError
from autograder.grading.submissions import Submission, read
from autograder.grading.task import Assignment, Task
from autograder.results import SubmissionResult
from autograder.run.worker import Attempts, Worker
from autograder.serve.fair_queue import FairQueue
from autograder.serve.journal import Attempt, Journal

log = logging.getLogger(__name__)

#: Seconds before grading is tried again after the grader itself failed (a course that is being edited, a full disk).
AGAIN_AFTER = 5.0
#: After this many workers in a row that end before they are ready, no more are started.
NEVER_READY = 3
#: The most workers that one grader keeps warm, each for one lab.
KEPT_WARM = 3


def salt_of(attempt: Attempt) -> str:
    """The salt of this attempt's hidden inputs."""
    about = "\0".join(("attempt", attempt.lab, attempt.student, str(attempt.number)))
    return hmac.new(settings().salt.encode(), about.encode(), hashlib.sha256).hexdigest()


@dataclass(eq=False)
class Graders:
    """Threads that grade attempts and store their verdicts. ``on_verdict`` is called with each verdict."""

    journal: Journal
    queue: FairQueue
    assignments: Mapping[str, Assignment]
    on_verdict: Callable[[Attempt], None]
    #: The reason why nothing can be graded now, in a sentence for the team; "" if all is well.
    trouble: str = ""
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Start grading once every first worker is ready. Raises ``GradingError`` if this machine cannot grade."""
        own_workers = [dict[str, Worker]() for _ in range(self.queue.workers)]
        first = next(iter(self.assignments))
        with ThreadPoolExecutor(len(own_workers)) as pool:
            list(pool.map(lambda own: self._ready(own, first), own_workers))
        self._threads = [threading.Thread(target=self._work, args=(own,), daemon=True) for own in own_workers]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop grading. Attempts under way stay without a verdict and are graded at the next start.

        Busy workers end with this process.
        """
        self.queue.close()
        until = time.monotonic() + 5
        for thread in self._threads:
            thread.join(timeout=max(0.0, until - time.monotonic()))

    def _work(self, own: dict[str, Worker]) -> None:
        """Grade one attempt after the other. ``own``: this grader's workers, by lab, the least recently used first."""
        while (attempt := self.queue.take()) is not None:
            self._grade_one(attempt, own)
        for worker in own.values():
            worker.stop()

    def _grade_one(self, attempt: Attempt, own: dict[str, Worker]) -> None:
        """Grade one attempt and store its verdict. If anything fails, put it back into the queue."""
        began = time.monotonic()
        try:
            self.journal.finish(attempt, self._verdict(attempt, own))
            self.on_verdict(attempt)
        except Exception as error:  # a grader must live as long as the service
            known = isinstance(error, UserError)
            self.trouble = str(error) if known else f"{type(error).__name__}: {error}"
            log.exception("cannot grade %s", attempt.receipt)
            self.queue.done(attempt)
            time.sleep(AGAIN_AFTER)
            self.queue.put(attempt)
        else:
            self.trouble = ""
            self.queue.done(attempt, time.monotonic() - began)

    def _verdict(self, attempt: Attempt, own: dict[str, Worker]) -> SubmissionResult:
        """The verdict on an attempt. Grading is tried again if the worker dies."""
        assignment = self.assignments[attempt.lab]
        tries = Attempts(assignment)
        tries.any_done = True  # a failure on one notebook never counts as the machine's
        path = self.journal.notebook(attempt.lab, attempt.receipt)
        notebook = read(Submission(attempt.student, path, attempt.received_at), attempt.lab)
        task = Task(notebook, salt=salt_of(attempt))
        while True:
            worker = self._ready(own, attempt.lab)
            kind, value = worker.graded(task, 2 * assignment.limits.total_seconds + 240)
            if kind == "done":
                result: SubmissionResult = value
                return result
            if kind == "died":
                own.pop(attempt.lab).stop()
            if (fault := tries.failed(task, kind, value)) is not None:
                return fault

    def _ready(self, own: dict[str, Worker], lab: str) -> Worker:
        """A ready worker for ``lab``. Raises ``GradingError`` if none can be started."""
        worker = own.pop(lab, None) or self._started(lab)
        own[lab] = worker  # as the most recently used
        while len(own) > KEPT_WARM:
            own.pop(next(iter(own))).stop()
        return worker

    def _started(self, lab: str) -> Worker:
        """Start a worker and wait until it is ready. If it is killed before, start another one."""
        for _ in range(NEVER_READY):
            worker = Worker(self.assignments[lab])
            kind, value = worker.receive()
            if kind == "ready":
                return worker
            worker.stop()
            if kind == "cannot start":
                raise GradingError(value)
        raise GradingError("No worker can be started here: each one ended at once.")
