"""Counts, by question, what the class has understood, from each student's last verdict. It names nobody."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course.policy_file import class_list, spec
from autograder.judging.run import NOT_DEFINED, NOT_WRITTEN
from autograder.pages.places import demo_names, demo_of
from autograder.results import QuestionResult
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


def exercise_of(lab: str, journal: Journal) -> Exercise | None:
    """The last exercise in this lab, also if it was stopped."""
    events = journal.events("exercise", lab=lab, last=1)
    return Exercise(**events[0].details) if events else None


def seen(lab: str, journal: Journal, view: str) -> dict[str, Any]:
    """The screen's content as JSON. ``view``: ``exercise`` (since its start), ``now`` (the last ten minutes) or ``all``."""
    exercise, attempts = exercise_of(lab, journal), journal.attempts(lab)
    since, until = 0.0, float("inf")
    if view == "now":
        since = time.time() - NOW_SECONDS
    elif view == "exercise" and exercise is not None:
        since, until = exercise.started, exercise.stopped or until
    latest: dict[str, Attempt] = {}
    for attempt in attempts:
        known = latest.get(attempt.student)
        if attempt.verdict and since <= attempt.received <= until and (attempt.judged or known is None):
            latest[attempt.student] = attempt
    results = [journal.result(attempt) for attempt in latest.values() if attempt.judged]
    answers = [question for result in results if result is not None for question in result.questions]
    demos = demo_names(lab)
    ended = exercise is None or exercise.stopped is not None
    return {
        "view": view,
        "students": len(latest),
        "unread": len(latest) - len(results),
        "class": len(class_list().people),
        "waiting": sum(attempt.verdict is None for attempt in attempts),
        "running": not ended,
        "started": exercise.started if exercise else None,
        "ends": exercise.ends if exercise and not ended else None,
        "now": time.time(),
        "questions": [_question(name, answers, demo_of(demos, name)) for name, _ in spec(lab).questions],
    }


def _question(name: str, everybodys: Sequence[QuestionResult], demo: str) -> dict[str, Any]:
    """A question's line: how many students have it right, partly right or unwritten, and the misconceptions."""
    answers = [one for one in everybodys if one.name == name]
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
