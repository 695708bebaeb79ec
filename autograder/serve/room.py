"""The lecturer's screen: what the class has understood, updated live, and the demos that it links to.

It counts each student's last verdict, and names nobody.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from coursekit.demos import bundle
from tornado.iostream import StreamClosedError

from autograder.course.policy_file import class_list, spec
from autograder.judging.run import NOT_DEFINED, NOT_WRITTEN
from autograder.pages.places import demo_names, demo_of
from autograder.pages.render import plain
from autograder.results import QuestionResult
from autograder.serve.handlers import Failure, Handler, number
from autograder.serve.journal import Attempt, Journal

#: The seconds that the view ``now`` covers.
NOW_SECONDS = 600
#: Seconds between two checks for changes, and the number of checks after which the page gets an event in any case.
LOOK_EVERY, TELL_AFTER = 0.5, 20
VIEWS = ("exercise", "now", "all")
#: The most minutes of an exercise.
LONGEST = 24 * 60
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
        if attempt.graded and since <= attempt.received <= until and (attempt.judged or known is None):
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
        "waiting": sum(attempt.graded is None for attempt in attempts),
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
        plain(one.error.rpartition("\n")[2], 200) or next(test.name for test in one.tests if not test.passed)
        for one in wrong
        if not one.misconception
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


class Events(Handler):
    """``/room/LAB/events?view=VIEW``: server-sent events, one at each change."""

    gone = False

    def on_connection_close(self) -> None:
        self.gone = True

    async def get(self, lab: str) -> None:
        self.person(team=True)
        journal, view = self.service.journal, self.get_query_argument("view", "all")
        if view not in VIEWS:
            raise Failure(400, f"“view” is {', '.join(VIEWS)}")
        self.lab(lab)
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("X-Accel-Buffering", "no")  # a proxy would delay the events
        sent_version, looks = -1, 0
        with suppress(StreamClosedError):
            while not self.gone:
                if journal.version != sent_version or looks >= TELL_AFTER:
                    sent_version, looks = journal.version, 0
                    self.write(f"data: {json.dumps(seen(lab, journal, view))}\n\n")
                    await self.flush()
                looks += 1
                await asyncio.sleep(LOOK_EVERY)


class StartStop(Handler):
    """``/room/LAB/exercise``: start an exercise (for ``minutes``, or until it is stopped), or stop it."""

    def post(self, lab: str) -> None:
        person, journal = self.person(team=True), self.service.journal
        exercise = exercise_of(self.lab(lab), journal)
        wish, now = self.json_body(), time.time()
        if wish.get("do") == "start":
            minutes = wish.get("minutes")
            if minutes is not None:
                minutes = number(minutes, LONGEST, f"An exercise lasts at most {LONGEST} minutes")
            exercise = Exercise(now, now + 60 * minutes if minutes is not None else None)
        elif wish.get("do") == "stop" and exercise is not None:
            exercise = replace(exercise, stopped=now)
        else:
            raise Failure(400, "An exercise can only be started or stopped")
        journal.log(person.name, "exercise", lab, **asdict(exercise))
        self.answer({"message": "done"})


class Demo(Handler):
    """``/demos/NAME.html``: a lecture demo, the file that ``make site`` writes."""

    def get(self, name: str) -> None:
        if name not in bundle.names():
            raise Failure(404, "There is no such demo")
        self.set_header("Content-Security-Policy", _DEMOS_MAY)
        self.set_header("Cache-Control", "private, max-age=3600")
        self.finish(_demo(name))


#: The content policy of demos: their own scripts run, and nothing is fetched.
_DEMOS_MAY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
    "sandbox allow-scripts"
)


_demo = cache(bundle.page)
