"""Sends the points that count to the learning system's gradebook, in its own thread, until they have arrived.

The journal records pending and sent points, so nothing is lost when the service ends: the next start sends the rest.

A grade is always ``FullyGraded`` with a comment, because ``PendingManual`` or a missing comment erases the current entry. If
a written answer waits for a person, the points earned so far are sent, and the comment says what is not read yet. Points
that a person enters in the gradebook are sent within a minute. Points that the student may not see yet are not sent.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.names_roles import NamesRolesProvisioningService
from pylti1p3.service_connector import ServiceConnector

from autograder.course.lists import summarize_names
from autograder.course.policy_file import settings, spec
from autograder.errors import UserError
from autograder.exports.rows import graded
from autograder.files import parse_time
from autograder.gradebook.cells import test_cells
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import storable
from autograder.pages.render import plain
from autograder.run.recorder import open_gradebook
from autograder.serve import rules
from autograder.serve.hand_in import marks_on
from autograder.serve.journal import Journal
from autograder.serve.service import Service
from autograder.systems.lti import ANSWER, ROUTES, Lti, SessionWithTimeout

log = logging.getLogger(__name__)

#: Seconds between two checks of all points (the team's decisions, closed labs), and between two of the class list.
LOOK, LIST = 60.0, 600.0
#: Seconds until the first retry, and the most until a later one.
SOON, LATE = 1.0, 300.0
#: Seconds for which an access token is used; it is usually valid for an hour.
TOKEN = 1200.0
_Key = tuple[str, str]


@dataclass(frozen=True)
class Score:
    """A score for the gradebook: points, maximum, comment. ``item`` and ``user`` are the learning system's ids."""

    item: str
    user: str
    points: float
    most: float
    comment: str


def score_of(
    journal: Journal, lab: str, student: str, item: str, user: str, entered: Mapping[str, TeacherMarks]
) -> Score | None:
    """The score that counts now; None if it is unknown or the student may not see it. ``entered``: the gradebook's marks."""
    attempts = journal.attempts(lab, student)
    counts = rules.counting(lab, attempts)
    if counts is None or any(attempt.verdict is None for attempt in attempts):
        return None
    result = journal.result(counts)
    if result is None or result.fault or not rules.shows_points(lab, student):
        return None
    result = replace(result, student=student, submitted_at=counts.received_at)
    marks, lab_spec, cells = marks_on(journal, counts), spec(lab), test_cells(spec(lab))
    own = entered.get(storable(student), TeacherMarks())
    if own.received is not None and own.received == parse_time(counts.received_at):  # of this attempt
        scores, comments = {**own.scores, **marks.scores}, {**own.comments, **marks.comments}
        marks = replace(own, scores=scores, comments=comments)
    row = graded(result, lab_spec, {student: marks}, cells)
    due = rules.due_of(lab, student)
    if due is not None:
        late = counts.received - due.replace(tzinfo=UTC).timestamp()
        penalty = settings().penalty(lab, row.points, late, due) or 0.0
        marks = replace(marks, seconds_late=late, due=due, late_penalty=min(max(penalty, 0.0), row.points))
        row = graded(result, lab_spec, {student: marks}, cells)
    most = lab_spec.max_score + sum(points for _, points in lab_spec.written)
    comment = f"Attempt {counts.number}, receipt {counts.receipt}.\n{row.summary}"
    return Score(item, user, round(row.points, 2), most, comment)


class LtiClass(Lti):
    """An LTI course that also sends points. Its methods may be called from any thread."""

    def __init__(self, service: Service):
        super().__init__(service)
        self.routes = ROUTES
        #: (lab, student) -> when to check their points, by the monotonic clock.
        self._when: dict[_Key, float] = {}
        #: (lab, student) whose points have not arrived -> number of attempts, and the reason.
        self._failed: dict[_Key, tuple[int, str]] = {}
        self._list_trouble = ""
        #: Lab -> stored name -> marks that people entered in the class's gradebook; only labs that were read.
        self._entered: dict[str, Mapping[str, TeacherMarks]] = {}
        self._changed = threading.Condition()
        self._ended = False
        self._connector: tuple[float, ServiceConnector] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start sending, beginning with points left from the last run."""
        self._thread.start()

    def close(self) -> None:
        """Stop sending."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(ANSWER + 10)
        self.threads.shutdown(wait=False, cancel_futures=True)

    def changed(self, lab: str, student: str) -> None:
        """Check a student's points at once; if they did not arrive, at the next retry."""
        with self._changed:
            self._when.setdefault((lab, student), 0.0)
            self._changed.notify()

    def come_in(self, claims: Mapping[str, Any]) -> tuple[str, bool, str]:
        """See ``Lti``. From the first launch on, the class list can be fetched."""
        who = super().come_in(claims)
        with self._changed:
            self._changed.notify()
        return who

    @property
    def trouble(self) -> str:
        """A sentence about points that have not arrived; "" for none."""
        with self._changed:
            students = sorted({student for _, student in self._failed})
            why = next((why for _, why in self._failed.values()), "")
        if students:
            return f"The points of {summarize_names(students)} have not reached the learning system: {why}. They are sent again."
        return self._list_trouble

    def _run(self) -> None:
        looked = listed = float("-inf")
        while not self._ended:
            try:
                if time.monotonic() - looked >= LOOK:
                    looked = time.monotonic()
                    for lab in self.service.options.labs:
                        self._entered[lab] = _in_gradebook(lab, self.service.options.out)
                        for student in {attempt.student for attempt in self.journal.attempts(lab)}:
                            self.changed(lab, student)
                if time.monotonic() - listed >= LIST and (links := self.journal.notes(self.links)):
                    listed = time.monotonic()
                    self._fetch_list([link["names"] for link in links.values() if link["names"]])
            except Exception:  # this thread must live as long as the service
                log.exception("cannot check the points to be sent")
            with self._changed:
                due = [key for key, when in self._when.items() if when <= time.monotonic()]
                if not due and not self._ended:
                    soonest = min([looked + LOOK, *self._when.values()])
                    self._changed.wait(max(0.0, soonest - time.monotonic()))
            for key in due:
                if not self._ended:
                    self._try(key)

    def _try(self, key: _Key) -> None:
        """Send a student's points if they have not arrived yet. Failed attempts are repeated, with growing pauses."""
        with self._changed:
            self._when.pop(key, None)  # later changes are checked again
        tries, why, wait = self._failed.get(key, (0, ""))[0], "", 0.0
        try:
            wait = self._send(*key)
        except Exception as error:  # the network can fail in many ways
            log.warning("the points of %s in %s have not arrived: %s", key[1], key[0], error)
            self._connector = None  # the access token may be the cause
            why, wait = _why(error), min(SOON * 2 ** min(tries, 20), LATE)
        with self._changed:
            if why:
                self._failed[key] = tries + 1, why
            else:
                self._failed.pop(key, None)
            if wait:
                self._when[key] = time.monotonic() + wait

    def _send(self, lab: str, student: str) -> float:
        """Send the score unless it has arrived already. Returns the seconds to wait before it can be sent (0: done)."""
        people = self.journal.notes(self.people)
        user = next(
            (user for user, one in people.items() if one == {"student": student, "team": False}), None
        )
        if user is None:  # a teacher, who has no grades, or a person with an invitation
            return 0.0
        services = (self.journal.noted(self.links, lab) or {}).get("scores", {})
        if lab not in self._entered:  # the gradebook could not be read
            return LOOK
        item = services.get("lineitem", "")
        score = score_of(self.journal, lab, student, item, user, self._entered[lab])
        before = self.journal.noted("lti sent", f"{lab}/{student}") or {"at": 0.0, "score": None}
        now = time.time()
        if score is None or asdict(score) == before["score"]:
            return 0.0
        if not score.item:
            raise UserError(
                f"it has no gradebook column for {lab}: allow grades there, and open the exercise again"
            )
        if int(now) <= int(before["at"]):
            return int(before["at"]) + 1 - now
        grade = (
            Grade()
            .set_score_given(score.points)
            .set_score_maximum(score.most)
            .set_activity_progress("Completed")
            .set_grading_progress("FullyGraded")
            .set_timestamp(datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"))
            .set_user_id(user)
            .set_comment(score.comment)
        )
        AssignmentsGradesService(self._reach(), services).put_grade(grade)
        # Some systems store times in seconds: the next score must have a later one.
        self.journal.note("lti sent", f"{lab}/{student}", {"at": time.time(), "score": asdict(score)})
        return 0.0

    def _reach(self) -> ServiceConnector:
        """A connection to the learning system, with a valid access token."""
        if self._connector is None or time.monotonic() - self._connector[0] > TOKEN:
            self._connector = time.monotonic(), ServiceConnector(self.registration, SessionWithTimeout())
        return self._connector[1]

    def _fetch_list(self, services: list[Any]) -> None:
        """Fetch the learning system's class list, if the course has none."""
        if not services or not self.takes_list:
            return
        try:
            self.write_list(NamesRolesProvisioningService(self._reach(), services[0]).get_members())
            self._list_trouble = ""
        except Exception as error:  # see ``_try``
            self._connector = None
            self._list_trouble = f"The learning system's class list cannot be used: {_why(error)}."
            log.warning("no class list: %s", error)


def _in_gradebook(lab: str, out: Path) -> Mapping[str, TeacherMarks]:
    """Stored name -> marks that people entered in the class's gradebook; empty before the class is graded."""
    if not (out / "gradebook.db").is_file():
        return {}
    with open_gradebook(lab, out) as gradebook:
        return gradebook.all_marks()


def _why(error: Exception) -> str:
    """The reason for a failure, for the team."""
    if isinstance(error, LtiServiceException):
        asks = " (is this a student of the course there?)" if error.response.status_code == 400 else ""
        return f"it answers with status {error.response.status_code}{asks}"
    return (
        "it cannot be reached"
        if isinstance(error, requests.RequestException)
        else plain(str(error), 300).rstrip(".")
    )
