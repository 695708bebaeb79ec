"""Counts, by question, what the class has understood, from each student's last verdict. It names nobody."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autograder.course.policy_file import class_list, spec
from autograder.judging.run import NOT_DEFINED, NOT_WRITTEN
from autograder.pages.places import demo_names, demo_of
from autograder.results import QuestionResult, SubmissionResult
from autograder.serve.journal import Attempt, Journal

#: The seconds that the view ``now`` covers.
NOW_SECONDS = 600
#: The most misconceptions that the screen names for a question.
NAMED = 2


@dataclass(frozen=True)
class Exercise:
    """An exercise in class. ``ends`` is the time at which the timer ends, ``stopped`` when somebody stopped it."""

    started: float
    ends: float | None = None
    stopped: float | None = None


class Room:
    """The counts for one lab's screen. Its methods are called only from the event loop."""

    def __init__(self, lab: str):
        self.lab = lab
        self.exercise: Exercise | None = None
        #: The verdicts; one without questions is of a notebook that could not be read.
        self.verdicts: list[tuple[Attempt, tuple[QuestionResult, ...]]] = []
        self.waiting: set[int] = set()
        #: A number that grows with each change.
        self.version = 0

    @classmethod
    def of(cls, lab: str, journal: Journal) -> Room:
        """The room of a lab, restored from the journal."""
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
        """Note a new attempt that waits for its verdict."""
        self.waiting.add(attempt.id)
        self.version += 1

    def verdict(self, attempt: Attempt, result: SubmissionResult) -> None:
        """Note the verdict on an attempt."""
        self.waiting.discard(attempt.id)
        self.version += 1
        self.verdicts.append((attempt, result.questions if result.readable and not result.fault else ()))

    def set_exercise(self, exercise: Exercise | None) -> None:
        """Set the exercise after it was started or stopped."""
        self.exercise = exercise
        self.version += 1

    def seen(self, view: str) -> dict[str, Any]:
        """The screen's content as JSON. ``view``: ``exercise`` (since its start), ``now`` (the last ten minutes) or ``all``."""
        since, until = 0.0, float("inf")
        if view == "now":
            since = time.time() - NOW_SECONDS
        elif view == "exercise" and self.exercise is not None:
            since, until = self.exercise.started, self.exercise.stopped or until
        latest: dict[str, tuple[QuestionResult, ...]] = {}
        for attempt, questions in self.verdicts:
            if since <= attempt.received <= until and (questions or attempt.student not in latest):
                latest[attempt.student] = questions
        demos = demo_names(self.lab)
        ended = self.exercise is None or self.exercise.stopped is not None
        return {
            "view": view,
            "students": len(latest),
            "unread": sum(not questions for questions in latest.values()),
            "class": len(class_list().people),
            "waiting": len(self.waiting),
            "running": not ended,
            "started": self.exercise.started if self.exercise else None,
            "ends": self.exercise.ends if self.exercise and not ended else None,
            "now": time.time(),
            "questions": [
                _question(name, latest.values(), demo_of(demos, name)) for name, _ in spec(self.lab).questions
            ],
        }


def _question(name: str, latest: Iterable[tuple[QuestionResult, ...]], demo: str) -> dict[str, Any]:
    """A question's line: how many students have it right, partly right or unwritten, and the misconceptions."""
    answers = [one for questions in latest for one in questions if one.name == name]
    begun = [
        one for one in answers if any(test.message not in (NOT_WRITTEN, NOT_DEFINED) for test in one.tests)
    ]
    wrong = [one for one in begun if not one.is_right]
    titles = Counter(one.misconception for one in wrong if one.misconception)
    stuck = Counter(
        next(test.name for test in one.tests if not test.passed) for one in wrong if not one.misconception
    )
    return {
        "name": name,
        "right": sum(one.is_right for one in answers),
        "partly": sum(one.points > 0 for one in wrong),
        "not_begun": len(answers) - len(begun),
        "of": len(answers),
        "misconceptions": [{"title": title, "count": count} for title, count in titles.most_common(NAMED)],
        "stuck": [{"title": title, "count": count} for title, count in stuck.most_common(1)],
        "demo": demo,
    }
