"""The lecturer's screen: what the class has understood, updated live; and the demos that it links to."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache

from coursekit.demos import bundle
from tornado.iostream import StreamClosedError

from autograder.course.policy_file import spec
from autograder.serve.hand_in import script_named
from autograder.serve.handlers import Failure, Handler, number
from autograder.serve.room import Exercise, exercise_of, seen

#: Seconds between two checks for changes, and the number of checks after which the page gets an event in any case.
LOOK_EVERY, TELL_AFTER = 0.5, 20
VIEWS = ("exercise", "now", "all")
#: The most minutes of an exercise.
LONGEST = 24 * 60


class Screen(Handler):
    """``/room/LAB``: the page. It names nobody, so that it can be shown to the class."""

    def get(self, lab: str) -> None:
        self.person(team=True)
        self.page(
            "room.html.j2", script_named("room.js"), lab=self.lab(lab), title=spec(lab).title,
            labs=self.service.options.labs,
        )  # fmt: skip


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
            exercise = Exercise(now, now + 60 * minutes if minutes else None)
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


@cache
def _demo(name: str) -> str:
    return bundle.page(name)
