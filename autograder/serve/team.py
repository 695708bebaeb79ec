"""The teaching team's screen: attempts, waiting requests, and the team's decisions."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from pathlib import Path
from typing import Any

from autograder.course import extensions
from autograder.course.policy_file import class_list, extension_of, extensions_file, settings, spec
from autograder.errors import UserError
from autograder.pages.render import plain
from autograder.run.recorder import open_gradebook
from autograder.run.remarks import what_is_wrong
from autograder.serve import rules
from autograder.serve.handlers import Failure, Handler, number
from autograder.serve.journal import Attempt, Event, Journal
from autograder.startup.one_thread import ONE_THREAD

#: The most characters of a written sentence.
LONGEST = 2000
#: The number of log lines on the screen.
SHOWN = 12


class Screen(Handler):
    """``/team/LAB`` and ``/room/LAB``: the pages. The room's names nobody, so that it can be shown to the class."""

    def get(self, screen: str, lab: str) -> None:
        self.person(team=True)
        self.page(
            f"{screen}.html.j2", f"{screen}.js", lab=self.lab(lab), title=spec(lab).title,
            questions=spec(lab).questions, most=spec(lab).max_score, labs=self.service.options.labs,
        )  # fmt: skip


class State(Handler):
    """``/team/LAB/state``: what the page shows, as JSON."""

    def get(self, lab: str) -> None:
        self.person(team=True)
        service, journal = self.service, self.service.journal
        by_student: dict[str, list[Attempt]] = {person.student: [] for person in class_list().people}
        for attempt in journal.attempts(self.lab(lab)):
            by_student.setdefault(attempt.student, []).append(attempt)
        asked = {request["student"]: request for request in requests_of(journal, lab)}
        waiting = len(service.queue)
        self.answer(
            {
                "students": [
                    _row(service.journal, lab, student, attempts, asked)
                    for student, attempts in sorted(by_student.items())
                ],
                "queue": waiting,
                "seconds": math.ceil(service.queue.seconds_for(waiting)) if waiting else 0,
                "trouble": service.trouble,
                "grading": service.grading,
                "log": [_line(event) for event in journal.events(*_DECISIONS, lab=lab, last=SHOWN)],
            }
        )


def _row(
    journal: Journal, lab: str, student: str, attempts: list[Attempt], asked: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    counting, person = rules.counting(lab, attempts), class_list().find(student)
    longer = extension_of(lab, student)
    request = asked.get(student)
    result = journal.result(counting) if counting else None
    verdict = counting if counting and counting.graded else None
    status = verdict.status if verdict else "waiting" if attempts else ""
    return {
        "student": student,
        "name": person.name if person else "",
        "section": person.section if person else "",
        "attempts": len(attempts),
        "waiting": sum(attempt.graded is None for attempt in attempts),
        "status": "fault" if verdict and verdict.fault else status,
        "score": verdict.score if verdict else None,
        "receipt": counting.receipt if counting else "",
        "last": attempts[-1].receipt if attempts else "",
        "days": settings().days_of(lab, longer) if longer else 0,
        "questions": verdict.points if verdict else {},
        "errors": [plain(reason, 300) for reason in what_is_wrong(result)] if result else [],
        "request": request if request and not request["answer"] else None,
    }


#: Decision -> the log's sentence about it.
_DECISIONS = {
    "regrade": "had {receipt} of {student} graded again",
    "overrule": "gave {student} {points:g} for {question}: “{why}”",
    "extension": "gave {student} {days:g} days more",
    "answer": "answered {student}: “{text}”",
    "graded": "graded the class for good",
    "exercise": "started an exercise",
}


def _line(event: Event) -> str:
    """A line of the log: a person and their decision."""
    what = "stopped the exercise" if event.details.get("stopped") else _DECISIONS[event.what]
    return f"{rules.clock(event.at)}: {event.who} {what.format(student=event.student, **event.details)}"


def requests_of(journal: Journal, lab: str, student: str | None = None) -> list[dict[str, Any]]:
    """The requests of one student or of all, each with its answer if there is one."""
    events = journal.events("request", "answer", lab=lab, student=student)
    answers = {one.details["request"]: one.details["text"] for one in events if one.what == "answer"}
    return [
        {
            "id": one.id,
            "student": one.student,
            "at": rules.clock(one.at),
            "answer": answers.get(one.id, ""),
            **one.details,
        }
        for one in events
        if one.what == "request"
    ]


class Ask(Handler):
    """``/labs/LAB/requests``: a student asks for a regrade (POST), and reads the answer (GET)."""

    def get(self, lab: str) -> None:
        person, journal = self.person(), self.service.journal
        overruled = journal.overruled().get((self.lab(lab), person.name), {})
        requests = requests_of(journal, lab, person.name)
        self.answer({"requests": requests, "overruled": list(overruled.values())})

    def post(self, lab: str) -> None:
        person, journal = self.person(), self.service.journal
        text = _sentence(self.json_body().get("text"))
        if not journal.attempts(self.lab(lab), person.name):
            raise Failure(409, "There is nothing of yours to look at: hand in first")
        if any(not request["answer"] for request in requests_of(journal, lab, person.name)):
            raise Failure(409, "Your last request has no answer yet: please wait for it")
        journal.log(person.name, "request", lab, person.name, text=text)
        self.answer({"message": "Your teachers see your request here."}, 201)


class Decide(Handler):
    """``/team/LAB/decide``: carries out a decision of a team member and logs it."""

    async def post(self, lab: str) -> None:
        person = self.person(team=True)
        self.lab(lab)
        wish = self.json_body()
        deciding = {
            "regrade": self._regrade, "overrule": self._overrule, "extend": self._extend, "answer": self._answer,
            "grade": self._grade,
        }.get(str(wish.get("do")))  # fmt: skip
        if deciding is None:
            raise Failure(400, "There is no such decision")
        try:
            message = await deciding(lab, person.name, wish)
        except UserError as error:
            raise Failure(409, str(error)) from None
        self.answer({"message": message or "Done."})

    async def _grade(self, lab: str, who: str, wish: dict[str, Any]) -> str:
        """Grade the attempts that count with the course's salt, as ``autograder grade`` does.

        The team's overruled points are entered as manual scores, and the pages are updated.
        """
        service, out = self.service, self.service.options.out
        if service.grading:
            raise Failure(409, "The class is being graded already")
        if not (out / "submitted").is_dir():
            raise Failure(409, "Nobody has handed in")
        service.grading, loop = lab, asyncio.get_running_loop()
        try:
            await loop.run_in_executor(service.disk, service.lay_out_class, lab)
            await _run_grade(out, lab)
            decided = service.journal.overruled()
            if overruled := {name: of for (of_lab, name), of in decided.items() if of_lab == lab}:
                await loop.run_in_executor(service.disk, _enter, out, lab, overruled)
                await _run_grade(out, lab)
        finally:
            service.grading = ""
        service.journal.log(who, "graded", lab)
        return f"The class is graded: gradebook, feedback and report lie in {out}."

    async def _regrade(self, lab: str, who: str, wish: dict[str, Any]) -> None:
        attempt = self.service.journal.of_receipt(str(wish.get("receipt")))
        if attempt is None or attempt.lab != lab:
            raise Failure(404, "There is no such receipt")
        if attempt.graded is None:
            raise Failure(409, "This one is being graded already")
        self.service.journal.judge_again(attempt, who)
        self.service.queue.put(attempt)

    async def _overrule(self, lab: str, who: str, wish: dict[str, Any]) -> None:
        questions, question = dict(spec(lab).questions), str(wish.get("question"))
        if question not in questions:
            raise Failure(400, "There is no such question")
        most = questions[question]
        points = number(wish.get("points"), most, f"“{question}” gives 0 to {most:g} points")
        student, why = self._student(lab, wish), _sentence(wish.get("why"))
        self.service.journal.log(who, "overrule", lab, student, question=question, points=points, why=why)
        self.service.lay_out(lab, student)  # now another attempt may count

    async def _extend(self, lab: str, who: str, wish: dict[str, Any]) -> None:
        days = number(wish.get("days"), 366, "An extension is a number of days, at most 366")
        student = self._student(lab, wish)
        extensions.add(extensions_file(), lab, student, days)
        self.service.journal.log(who, "extension", lab, student, days=days)
        self.service.lay_out(lab, student)  # now another attempt may count

    async def _answer(self, lab: str, who: str, wish: dict[str, Any]) -> None:
        known = requests_of(self.service.journal, lab)
        request = next((request for request in known if request["id"] == wish.get("request")), None)
        if request is None:
            raise Failure(404, "There is no such request")
        self.service.journal.log(
            who, "answer", lab, request["student"], request=request["id"], text=_sentence(wish.get("text"))
        )

    def _student(self, lab: str, wish: dict[str, Any]) -> str:
        student = str(wish.get("student"))
        if class_list().find(student) is None and not self.service.journal.attempts(lab, student):
            raise Failure(404, "There is no such student")
        return student


def _sentence(text: object) -> str:
    """The sentence that a person wrote. Raises ``Failure`` for an empty one."""
    if not isinstance(text, str) or not text.strip():
        raise Failure(400, "Please write a sentence")
    return plain(text).strip()[:LONGEST]


async def _run_grade(out: Path, lab: str) -> None:
    words = ["grade", lab, "--submitted", str(out / "submitted"), "--out", str(out), "--jobs", "1"]
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "autograder.cli", *words, env={**os.environ, **ONE_THREAD},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = await running.communicate()
    finally:
        if running.returncode is None:  # the service ends; the next run resumes this one
            running.terminate()
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    if running.returncode:
        wrong = next(
            (line for line in lines if line.startswith(("✗", "!"))), lines[-1] if lines else "it ended"
        )
        raise UserError(wrong.lstrip("✗! "))


def _enter(out: Path, lab: str, overruled: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Enter the points that the team decided, by student and question, into the gradebook."""
    with open_gradebook(lab, out) as gradebook:
        for student, of in overruled.items():
            for question, one in of.items():
                gradebook.overrule(student, question, one["points"], one["why"])
