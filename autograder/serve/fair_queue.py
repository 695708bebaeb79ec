"""The queue of attempts: students take turns, so that nobody's hundred or endless notebook delays another's one."""

from __future__ import annotations

import statistics
import threading
from collections import OrderedDict, deque

from autograder.serve.journal import Attempt

#: Seconds that a notebook is thought to take before one was graded.
FIRST_GUESS = 1.0
#: A notebook is slow that takes more seconds than this, and more than ``TIMES`` as long as half of the last ones.
SLOW, TIMES = 30.0, 3.0
#: A class's first notebooks alone do not say what is usual: so many guesses count with them.
GUESSES = 5


class FairQueue:
    """The attempts that wait, by student. Its methods may be called from any thread.

    At most one notebook of a student is graded at a time. Students whose last notebook was slow come after the others, and
    never hold the last grader, where there are two. It is bounded by who fills it: see ``rules.may_hand_in``.
    """

    def __init__(self, workers: int):
        self.workers = workers
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, deque[Attempt]] = OrderedDict()
        #: The students whose notebook is being graded.
        self._under_way: set[str] = set()
        #: The seconds that each student's last notebook took, and those that were graded last; and how many are slow now.
        self._last: dict[str, float] = {}
        self._took: deque[float] = deque([FIRST_GUESS] * GUESSES, maxlen=50)
        self._slow = SLOW
        self._closed = False

    def __len__(self) -> int:
        with self._changed:
            return sum(map(len, self._waiting.values())) + len(self._under_way)

    def put(self, attempt: Attempt) -> None:
        """Have an attempt wait behind the student's others."""
        with self._changed:
            self._waiting.setdefault(attempt.student, deque()).append(attempt)
            self._changed.notify()

    def take(self) -> Attempt | None:
        """The next attempt, when there is one; None once the queue is closed. ``done`` follows."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._next() is not None)
            student = self._next()
            if self._closed or student is None:
                return None
            attempts = self._waiting.pop(student)
            attempt = attempts.popleft()
            if attempts:
                self._waiting[student] = attempts  # at the end: the others come first
            self._under_way.add(student)
            return attempt

    def _next(self) -> str | None:
        """The student whose notebook is graded next; None while all wait."""
        free = [student for student in self._waiting if student not in self._under_way]
        slow = sum(map(self._is_slow, self._under_way))
        if slow >= max(1, self.workers - 1):
            return next((student for student in free if not self._is_slow(student)), None)
        return min(free, key=self._is_slow, default=None)

    def _is_slow(self, student: str) -> bool:
        return self._last.get(student, 0.0) > self._slow

    def done(self, attempt: Attempt, seconds: float | None = None) -> None:
        """Note that an attempt was graded in so many ``seconds``; None for one that was not."""
        with self._changed:
            self._under_way.discard(attempt.student)
            if seconds is not None:
                self._last[attempt.student] = seconds
                self._took.append(seconds)
                self._slow = max(SLOW, TIMES * statistics.median(self._took))
            self._changed.notify_all()

    def waiting_of(self, student: str) -> int:
        """How many attempts of a student wait."""
        with self._changed:
            return len(self._waiting.get(student, ()))

    def ahead_of(self, attempt: Attempt) -> int | None:
        """The number of attempts graded before this one; None when it no longer waits."""
        with self._changed:
            own = self._waiting.get(attempt.student, ())
            place = next((i for i, waiting in enumerate(own) if waiting.id == attempt.id), None)
            if place is None:
                return None
            slow, names = self._is_slow(attempt.student), list(self._waiting)
            turn, others = names.index(attempt.student), 0
            for at, (student, waiting) in enumerate(self._waiting.items()):
                if student != attempt.student and self._is_slow(student) == slow:
                    others += min(len(waiting), place + (at < turn))
                elif slow and not self._is_slow(student):
                    others += len(waiting)
            return len(self._under_way) + others + place

    def seconds_for(self, ahead: int) -> float:
        """An estimate of the seconds until an attempt with so many ahead is graded, from the median of recent ones."""
        with self._changed:
            return statistics.median(self._took) * (ahead // self.workers + 1)

    def close(self) -> None:
        """Release the threads that wait for an attempt. Attempts that wait stay in the journal."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
