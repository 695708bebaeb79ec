"""The queue of attempts: students take turns, so that many or slow notebooks of one student do not delay the others'."""

from __future__ import annotations

import statistics
import threading
from collections import OrderedDict, deque

from autograder.serve.journal import Attempt

#: The estimated seconds for a notebook before any was graded.
FIRST_GUESS = 1.0
#: A notebook is slow if it took more than ``SLOW`` seconds and more than ``TIMES`` the median of the last ones.
SLOW, TIMES = 30.0, 3.0
#: The number of guesses that count in the median, because a class's first notebooks alone do not tell what is usual.
GUESSES = 5


class FairQueue:
    """The waiting attempts, by student. Its methods may be called from any thread.

    At most one notebook of a student is graded at a time. Students whose last notebook was slow come after the others, and
    with two or more graders they never occupy the last one. ``rules.may_hand_in`` bounds the length of the queue.
    """

    def __init__(self, workers: int):
        self.workers = workers
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, deque[Attempt]] = OrderedDict()
        #: The students whose notebook is being graded.
        self._under_way: set[str] = set()
        #: The seconds of each student's last notebook and of everybody's last ones, and how many slow ones are running.
        self._last: dict[str, float] = {}
        self._took: deque[float] = deque([FIRST_GUESS] * GUESSES, maxlen=50)
        self._slow = SLOW
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
        free = [student for student in self._waiting if student not in self._under_way]
        slow = sum(map(self._is_slow, self._under_way))
        if slow >= max(1, self.workers - 1):
            return next((student for student in free if not self._is_slow(student)), None)
        return min(free, key=self._is_slow, default=None)

    def _is_slow(self, student: str) -> bool:
        return self._last.get(student, 0.0) > self._slow

    def done(self, attempt: Attempt, seconds: float | None = None) -> None:
        """Note that grading an attempt took ``seconds``; None if it was not graded."""
        with self._changed:
            self._under_way.discard(attempt.student)
            if seconds is not None:
                self._last[attempt.student] = seconds
                self._took.append(seconds)
                self._slow = max(SLOW, TIMES * statistics.median(self._took))
            self._changed.notify_all()

    def waiting_of(self, student: str) -> int:
        """The number of a student's waiting attempts."""
        with self._changed:
            return len(self._waiting.get(student, ()))

    def ahead_of(self, attempt: Attempt) -> int | None:
        """The number of attempts to be graded before this one; None if it no longer waits."""
        with self._changed:
            turns = sorted(
                (self._is_slow(student), place, turn, waiting.id)
                for turn, (student, own) in enumerate(self._waiting.items())
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
