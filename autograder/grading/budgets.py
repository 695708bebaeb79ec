"""Gives each question its own time, in the sandbox and on the trusted side, so that no question spends another's.

A question may use all time that is not reserved for the others. A slow question has plenty; an endless one costs only itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from autograder.grading.time_guard import SUBMISSION_SECONDS, JudgeClock
from autograder.sandbox.host.session import Session


class Budgets:
    """The time left to each question of a submission."""

    def __init__(self, session: Session, clock: JudgeClock, questions: Sequence[str]):
        self._session, self._clock = session, clock
        each = session.limits.question_seconds(len(questions))
        self._seconds = dict.fromkeys(questions, each)
        self._judging = dict.fromkeys(questions, SUBMISSION_SECONDS / 4 / max(1, len(questions)))
        self._session.start_question(sum(self._seconds.values()))

    @contextmanager
    def of(self, question: str) -> Iterator[JudgeClock]:
        """A context in which time for running and judging counts for this question."""
        seconds, judging = self._seconds.pop(question), self._judging.pop(question)
        self._session.start_question(sum(self._seconds.values()))
        self._clock.reserved = sum(self._judging.values())
        began, left = time.monotonic(), self._clock.left
        try:
            yield self._clock
        finally:
            self._seconds[question] = max(0.0, seconds - (time.monotonic() - began))
            self._judging[question] = max(0.0, judging - (left - self._clock.left))
