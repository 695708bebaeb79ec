"""Gives each question time of its own, so that none can spend another's: in the sandbox, and of this side's CPU.

A question may take all that is left but what is kept for the others; so one that is slow has much, and one that never ends
costs itself. The notebook's cells leave to every question what is its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from autograder.grading.time_guard import SUBMISSION_SECONDS, JudgeClock
from autograder.sandbox.host.session import Session


class Budgets:
    """What each of the ``questions`` of a submission has left of its own."""

    def __init__(self, session: Session, clock: JudgeClock, questions: Sequence[str]):
        self._session, self._clock = session, clock
        each = session.limits.question_seconds(len(questions))
        self._seconds = dict.fromkeys(questions, each)
        self._judging = dict.fromkeys(questions, SUBMISSION_SECONDS / 4 / max(1, len(questions)))
        self._session.start_question(sum(self._seconds.values()))

    @contextmanager
    def of(self, question: str) -> Iterator[JudgeClock]:
        """Inside, what runs and is judged is this question's."""
        seconds, judging = self._seconds.pop(question), self._judging.pop(question)
        self._session.start_question(sum(self._seconds.values()))
        self._clock.reserved = sum(self._judging.values())
        began, left = time.monotonic(), self._clock.left
        try:
            yield self._clock
        finally:
            self._seconds[question] = max(0.0, seconds - (time.monotonic() - began))
            self._judging[question] = max(0.0, judging - (left - self._clock.left))
