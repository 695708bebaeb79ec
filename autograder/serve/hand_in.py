"""Request handlers for students: sign in, hand in, read verdicts."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, cast

from tornado.http1connection import HTTP1Connection
from tornado.web import stream_request_body

from autograder.course.policy_file import settings, spec
from autograder.gradebook.final_points import TeacherMarks
from autograder.pages.feedback import FeedbackWriter
from autograder.serve import rules
from autograder.serve.handlers import COOKIE, Failure, Handler, Person, whole_number
from autograder.serve.journal import Attempt, Journal, Refused, digest_of_token
from autograder.serve.room import exercise_of

#: A notebook larger than this is refused. A notebook with all figures has a tenth of this size.
MAX_BYTES = 16 << 20
#: The notebooks that one person may send in a minute, accepted or not.
UPLOADS_A_MINUTE = 20
#: The most seconds that a request waits for a verdict.
MAX_WAIT = 30.0
#: The most attempts listed of a student: the newest, and the one that counts.
LISTED = 50


class SignIn(Handler):
    """``/in/TOKEN``: an invitation's link. Its page shows the name, so that nobody signs in as a classmate by mistake."""

    def get(self, token: str) -> None:
        invited = self._invited(token)
        if self.current_user is not None:
            self.redirect(self.service.options.base)
        else:
            self.page("invitation.html.j2", invited=invited)

    def post(self, token: str) -> None:
        self._invited(token)
        self.sign_in(digest_of_token(token))
        self.redirect(self.service.options.base)

    def _invited(self, token: str) -> Person:
        """The person whom the link invites. Raises ``Failure`` if somebody else is signed in."""
        invited = self.service.journal.invited(digest_of_token(token))
        if invited is None:
            raise Failure(403, "This invitation is not valid (any more): ask your teacher for a new one")
        known = self.current_user
        if known is not None and known.name != invited[0]:
            raise Failure(
                409, f"You are signed in as {known.name} here: sign out before you come in as {invited[0]}"
            )
        return Person(*invited)


class SignOut(Handler):
    """``/out``: signs out."""

    def post(self) -> None:
        self.clear_cookie(COOKIE, path=self.service.options.base)
        self.answer({"message": "You are signed out."})


class Home(Handler):
    """``/``: a student's page with every lab that can be handed in."""

    def get(self) -> None:
        person = self.person()
        labs = [self._shown(lab, person) for lab in self.service.options.labs]
        self.page(
            "student.html.j2",
            "student.js",
            labs=labs,
            largest=MAX_BYTES,
            hub=self.service.options.hub,
            lti=self.service.part is not None,
        )

    def _shown(self, lab: str, person: Person) -> dict[str, Any]:
        exercise = exercise_of(lab, self.service.journal)
        running = exercise if exercise is not None and exercise.stopped is None else None
        due, closing = settings().due(lab), rules.closing_of(lab, person.name)
        return {
            "name": lab,
            "title": spec(lab).title,
            "due": f"{settings().local(due):%-d %B, %H:%M}" if due else "",
            "policy": settings().live_of(lab),
            "closes": rules.clock(closing) if closing is not None else "",
            "ends": running.ends if running else None,
        }


def _own_attempt(handler: Handler, receipt: str) -> tuple[Person, Attempt]:
    """The person who sent the request, and the attempt of the receipt. Raises ``Failure`` if it is not theirs."""
    person, attempt = handler.person(), handler.service.journal.of_receipt(receipt)
    if attempt is None or (attempt.student != person.name and not person.team):
        raise Failure(403, "This is no receipt of yours")
    return person, attempt


def _card(handler: Handler, attempt: Attempt, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """An attempt, one of its student's ``attempts`` at the lab, as JSON."""
    used = 1 + sum(one.counted for one in attempts[: attempt.number - 1])
    return rules.card_of(attempt, handler.service.journal.result(attempt), used, handler.service.queue)


class Attempts(Handler):
    """``/labs/LAB/attempts``: a student's newest attempts as JSON, and how many are left out."""

    def get(self, lab: str) -> None:
        person = self.person()
        attempts = self.service.journal.attempts(self.lab(lab), person.name)
        counted = rules.counting(lab, attempts)
        shown = [one for one in attempts if one is counted or one.number > len(attempts) - LISTED]
        self.answer({
            "attempts": [_card(self, attempt, attempts) for attempt in shown],
            "left_out": len(attempts) - len(shown), "counting": counted.receipt if counted else None,
        })  # fmt: skip


class Receipt(Handler):
    """``/receipts/RECEIPT``: one attempt as JSON. ``?wait=SECONDS`` waits that long for its verdict."""

    async def get(self, receipt: str) -> None:
        _, attempt = _own_attempt(self, receipt)
        wait = min(whole_number(self.get_query_argument("wait", "0")), MAX_WAIT)
        attempt = await self.service.wait_for_verdict(attempt, wait)
        self.answer(_card(self, attempt, self.service.journal.attempts(attempt.lab, attempt.student)))


class Feedback(Handler):
    """``/receipts/RECEIPT/feedback``: an attempt's feedback page, as grading writes it."""

    async def get(self, receipt: str) -> None:
        person, attempt = _own_attempt(self, receipt)
        if not person.team and not rules.shows_points(attempt.lab, attempt.student):
            raise Failure(403, "The points of this lab are not shown yet")
        if attempt.graded is None:
            raise Failure(404, "This notebook has no verdict yet")
        page = await asyncio.get_running_loop().run_in_executor(self.service.disk, self._page, attempt)
        self.set_header("Content-Security-Policy", _PAGE_MAY)
        self.finish(page)

    def _page(self, attempt: Attempt) -> str:
        """The feedback page of an attempt, with the team's decisions."""
        journal, demos = self.service.journal, f"{self.service.options.base}demos/"
        result, marks = journal.result(attempt), marks_on(journal, attempt)
        assert result is not None
        notebook = journal.notebook(attempt.lab, attempt.receipt).read_text("utf-8", errors="replace")
        with _one_page:  # formulas are drawn one at a time
            writer = FeedbackWriter(spec(attempt.lab), journal.folder, demos)
            return writer.page(replace(result, notebook=notebook), marks)


_PAGE_MAY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_one_page = threading.Lock()


def marks_on(journal: Journal, attempt: Attempt) -> TeacherMarks:
    """The team's decisions on an attempt. Written answers wait for a person."""
    lab_spec, cells = spec(attempt.lab), spec(attempt.lab).test_cells
    overruled = journal.overruled().get((attempt.lab, attempt.student), {})
    return TeacherMarks(
        scores={cells[name]: one["points"] for name, one in overruled.items() if name in cells},
        comments={name: one["why"] for name, one in overruled.items()},
        waiting=tuple(name for name, _ in lab_spec.written),
    )


@stream_request_body
class HandIn(Handler):
    """``/labs/LAB/hand-in``: receives a notebook as the body, and writes it to the disk while it arrives."""

    #: The file in the journal's ``incoming`` while the upload is under way.
    upload: IO[bytes] | None = None

    def prepare(self) -> None:
        super().prepare()
        if self.request.method != "POST":
            return
        student = self.person().name
        self.lab(self.path_args[0])
        if whole_number(self.request.headers.get("Content-Length", "0")) > MAX_BYTES:
            raise Failure(413, _TOO_LARGE)
        cast(HTTP1Connection, self.request.connection).set_max_body_size(MAX_BYTES)
        if not self.service.is_below_rate("send", student, UPLOADS_A_MINUTE):
            raise Failure(429, "That is too often: hand in again in a minute")
        self.upload = NamedTemporaryFile(dir=self.service.journal.incoming, delete=False)  # noqa: SIM115

    def data_received(self, chunk: bytes) -> None:
        if self.upload is not None:
            self.upload.write(chunk)

    async def post(self, lab: str) -> None:
        assert self.upload is not None
        self.upload.close()
        path = Path(self.upload.name)
        content = path.read_bytes()
        start = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if start != b"{" or b'"cells"' not in content:  # only grading finds out whether it is valid
            raise Failure(422, "This is no notebook: hand in the file that ends in .ipynb")
        student = self.person().name
        try:
            attempt, new = await self.service.receive(lab, student, path)
        except Refused as refused:
            if refused.retry_after is not None:
                self.set_header("Retry-After", str(math.ceil(refused.retry_after)))
            self.answer({"message": str(refused)}, 429 if refused.retry_after is not None else 409)
            return
        card = _card(self, attempt, self.service.journal.attempts(lab, student))
        self.answer(card | {"new": new}, 201 if new else 200)

    def on_finish(self) -> None:
        if self.upload is not None:
            self.upload.close()
            Path(self.upload.name).unlink(missing_ok=True)  # unless it was moved to its place

    def on_connection_close(self) -> None:
        self.on_finish()
        super().on_connection_close()


_TOO_LARGE = f"The notebook is too large: at most {MAX_BYTES >> 20} MB are taken. Clear the outputs of its cells, save, and hand in again"
