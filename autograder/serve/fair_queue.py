"""The queue of attempts: students take turns, so that many notebooks of one student do not delay the others'."""

from __future__ import annotations

import statistics
import threading
from collections import deque

from autograder.serve.journal import Attempt

#: The estimated seconds for a notebook before any was graded.
FIRST_GUESS = 1.0


class FairQueue:
    """The waiting attempts, by student. Its methods may be called from any thread.

    At most one notebook of a student is graded at a time. ``rules.may_hand_in`` bounds the length of the queue.
    """

    def __init__(self, workers: int):
        self.workers = workers
        self._changed = threading.Condition()
        self._waiting: dict[str, deque[Attempt]] = {}
        #: The students whose notebook is being graded.
        self._under_way: set[str] = set()
        #: The seconds of the last notebooks.
        self._took: deque[float] = deque([FIRST_GUESS], maxlen=50)
        self._closed = False

    def __len__(self) -> int:
        with self._changed:
            return sum(map(len, self._waiting.values())) + len(self._under_way)

    def put(self, attempt: Attempt) -> None:
        """Add an attempt after the student's others."""
        with self._changed:
            self._waiting.setdefault(attempt.student, deque()).append(attempt)
            self._changed.notify()

    def take(self) -> Attempt | None:
        """Wait for the next attempt; None once the queue is closed. The caller calls ``done`` afterwards."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._next() is not None)
            student = self._next()
            if self._closed or student is None:
                return None
            attempts = self._waiting.pop(student)
            attempt = attempts.popleft()
            if attempts:
                self._waiting[student] = attempts  # at the end: other students come first
            self._under_way.add(student)
            return attempt

    def _next(self) -> str | None:
        """The student whose notebook is graded next; None if nobody's can be."""
        return next((student for student in self._waiting if student not in self._under_way), None)

    def done(self, attempt: Attempt, seconds: float | None = None) -> None:
        """Note that grading an attempt took ``seconds``; None if it was not graded."""
        with self._changed:
            self._under_way.discard(attempt.student)
            if seconds is not None:
                self._took.append(seconds)
            self._changed.notify_all()

    def waiting_of(self, student: str) -> int:
        """The number of a student's waiting attempts."""
        with self._changed:
            return len(self._waiting.get(student, ()))

    def ahead_of(self, attempt: Attempt) -> int | None:
        """The number of attempts to be graded before this one; None if it no longer waits."""
        with self._changed:
            turns = sorted(
                (place, turn, waiting.id)
                for turn, own in enumerate(self._waiting.values())
                for place, waiting in enumerate(own)
            )
            order = [number for *_, number in turns]
            return len(self._under_way) + order.index(attempt.id) if attempt.id in order else None

    def seconds_for(self, ahead: int) -> float:
        """The estimated seconds until an attempt with ``ahead`` others before it is graded, from the recent median."""
        with self._changed:
            return statistics.median(self._took) * (ahead // self.workers + 1)

    def close(self) -> None:
        """Release the threads that wait for an attempt. Waiting attempts stay in the journal."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
