"""What the room has and has not understood, by question, from everybody's last verdict; nobody's name."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from autograder.course.policy_file import spec
from autograder.pages.places import demo_names, demo_of
from autograder.results import SubmissionResult
from autograder.serve.journal import Attempt, Journal
from autograder.testing.run import NOT_DEFINED, NOT_WRITTEN

#: How long the view of what happens just now looks back.
NOW_SECONDS = 600
#: How many misconceptions of a question the screen names.
NAMED = 2


@dataclass(frozen=True)
class Exercise:
    """Work on a lab in class. ``ends`` is what the timer runs to; ``stopped`` when somebody ended it."""

    started: float
    ends: float | None = None
    stopped: float | None = None


@dataclass(frozen=True)
class _Answer:
    """What became of one question: ``stuck`` is the title of the first test that failed, "" where none did."""

    begun: bool
    right: bool
    share: float
    misconception: str
    stuck: str


@dataclass(frozen=True)
class _Verdict:
    """What the screen needs of one verdict: for each question its title words, never a student's own."""

    at: float
    student: str
    questions: dict[str, _Answer]


class Room:
    """One lab's screen. Its methods are called from the event loop only."""

    def __init__(self, lab: str):
        self.lab = lab
        self.exercise: Exercise | None = None
        self.verdicts: list[_Verdict] = []
        self.waiting: set[int] = set()
        #: Grows with each change.
        self.version = 0

    @classmethod
    def of(cls, lab: str, journal: Journal) -> Room:
        """The room as the journal has it."""
        room = cls(lab)
        for attempt in journal.attempts(lab):
            result = journal.result(attempt) if attempt.verdict is not None else None
            if result is None:
                room.came_in(attempt)
            else:
                room.verdict(attempt, result)
        for event in journal.events("exercise", lab=lab):
            room.exercise = Exercise(**event.details)
        return room

    def came_in(self, attempt: Attempt) -> None:
        """A notebook waits."""
        self.waiting.add(attempt.id)
        self.version += 1

    def verdict(self, attempt: Attempt, result: SubmissionResult) -> None:
        """A notebook has its verdict."""
        self.waiting.discard(attempt.id)
        self.version += 1
        if result.fault or not result.readable:
            return
        questions = {
            q.name: _Answer(
                any(test.message not in (NOT_WRITTEN, NOT_DEFINED) for test in q.tests),
                bool(q.tests) and all(test.passed for test in q.tests),
                q.points / q.max_points if q.max_points else 0.0,
                q.misconception or "",
                next((test.name for test in q.tests if not test.passed), ""),
            )
            for q in result.questions
        }
        self.verdicts.append(_Verdict(attempt.received, attempt.student, questions))

    def set_exercise(self, exercise: Exercise | None) -> None:
        """An exercise was started or stopped."""
        self.exercise = exercise
        self.version += 1

    def seen(self, view: str) -> dict[str, Any]:
        """What the screen shows, as JSON. ``view``: ``exercise`` (since it was started), ``now`` (ten minutes) or ``all``."""
        since, until = 0.0, float("inf")
        if view == "now":
            since = time.time() - NOW_SECONDS
        elif view == "exercise" and self.exercise is not None:
            since, until = self.exercise.started, self.exercise.stopped or until
        latest: dict[str, _Verdict] = {}
        for verdict in self.verdicts:
            if since <= verdict.at <= until:
                latest[verdict.student] = verdict
        demos = demo_names(self.lab)
        ended = self.exercise is None or self.exercise.stopped is not None
        return {
            "view": view,
            "students": len(latest),
            "waiting": len(self.waiting),
            "running": not ended,
            "started": self.exercise.started if self.exercise else None,
            "ends": self.exercise.ends if self.exercise and not ended else None,
            "now": time.time(),
            "questions": [
                _question(name, list(latest.values()), demo_of(demos, name))
                for name, _ in spec(self.lab).questions
            ],
        }


def _question(name: str, verdicts: list[_Verdict], demo: str) -> dict[str, Any]:
    """A question's line: how many have it, have some of it, have not begun, and what the others think."""
    rows = [verdict.questions[name] for verdict in verdicts if name in verdict.questions]
    wrong = [row for row in rows if row.begun and not row.right]
    titles = Counter(row.misconception for row in wrong if row.misconception)
    stuck = Counter(row.stuck for row in wrong if not row.misconception and row.stuck)
    return {
        "name": name,
        "right": sum(row.right for row in rows),
        "partly": sum(row.share > 0 for row in wrong),
        "not_begun": sum(not row.begun for row in rows),
        "of": len(rows),
        "misconceptions": [{"title": title, "count": count} for title, count in titles.most_common(NAMED)],
        "stuck": [{"title": title, "count": count} for title, count in stuck.most_common(1)],
        "demo": demo,
    }
