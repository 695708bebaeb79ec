"""Sends the points that count to the learning system's gradebook, in its own thread, until they have arrived.

The journal records pending and sent points, so nothing is lost when the service ends: the next start sends the rest.

A grade is always ``FullyGraded`` with a comment, because ``PendingManual`` or a missing comment erases the current entry. If
a written answer waits for a person, the points earned so far are sent, and the comment says what is not read yet. Points
that a person enters in the gradebook are sent within a minute. Points that the student may not see yet are not sent.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jwt
import requests

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
from autograder.systems.lti import ANSWER, Lti, private_key

log = logging.getLogger(__name__)

#: Seconds between two checks of all points (the team's decisions, closed labs), and between two of the class list.
LOOK, LIST = 60.0, 600.0
#: The scopes of the services that take scores and list people.
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
TYPE = "application/vnd.ims."
_Key = tuple[str, str]


def score_of(
    journal: Journal, lab: str, student: str, entered: Mapping[str, TeacherMarks]
) -> dict[str, Any] | None:
    """The points that count now, their maximum, and a comment; None if they are unknown or the student may not see them.

    ``entered``: the gradebook's marks.
    """
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
    return {"points": round(row.points, 2), "most": most, "comment": comment}


class LtiClass(Lti):
    """An LTI course that also sends points. Its methods may be called from any thread."""

    def __init__(self, service: Service):
        super().__init__(service)
        #: (lab, student) whose points are to be sent, unless they have arrived.
        self._changed = queue.SimpleQueue[_Key]()
        #: (lab, student) whose points have not arrived -> the reason.
        self._failed: dict[_Key, str] = {}
        #: When the class list was fetched last, by the monotonic clock, and a sentence if that failed.
        self._listed, self._list_trouble = float("-inf"), ""
        #: Lab -> stored name -> marks that people entered in the class's gradebook; only labs that were read.
        self._entered: dict[str, Mapping[str, TeacherMarks]] = {}
        #: Scope -> access token, for a minute; it is usually valid for an hour.
        self._tokens: dict[str, str] = {}
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start sending, beginning with points left from the last run."""
        self._thread.start()

    def close(self) -> None:
        """Stop sending."""
        self._ended = True
        self._changed.put(("", ""))
        if self._thread.is_alive():
            self._thread.join(ANSWER + 10)

    def changed(self, lab: str, student: str) -> None:
        """Check a student's points at once."""
        self._changed.put((lab, student))

    @property
    def trouble(self) -> str:
        """A sentence about points that have not arrived; "" for none."""
        if failed := dict(self._failed):
            students, why = sorted({student for _, student in failed}), next(iter(failed.values()))
            return f"The points of {summarize_names(students)} have not reached the learning system: {why}. They are sent again."
        return self._list_trouble

    def _run(self) -> None:
        """Send points that may have changed; each minute those of everybody, so that nothing stays behind."""
        looked = float("-inf")
        while not self._ended:
            self._fetch_list()
            try:
                key = self._changed.get(timeout=max(0.0, looked + LOOK - time.monotonic()))
            except queue.Empty:
                looked = time.monotonic()
                self._look()
            else:
                if not self._ended:
                    self._try(key)

    def _look(self) -> None:
        self._tokens.clear()
        try:
            for lab in self.service.options.labs:
                self._entered[lab] = _in_gradebook(lab, self.service.options.out)
                for student in {attempt.student for attempt in self.journal.attempts(lab)}:
                    self.changed(lab, student)
        except Exception:  # this thread must live as long as the service
            log.exception("cannot check the points to be sent")

    def _try(self, key: _Key) -> None:
        """Send a student's points if they have not arrived yet."""
        try:
            self._send(*key)
            self._failed.pop(key, None)
        except Exception as error:  # the network can fail in many ways
            log.warning("the points of %s in %s have not arrived: %s", key[1], key[0], error)
            self._failed[key] = _why(error)

    def _send(self, lab: str, student: str) -> None:
        """Send the score unless it has arrived already."""
        people = self.journal.notes(self.people).items()
        user = next((user for user, one in people if one == {"student": student, "team": False}), None)
        # A teacher, who has no grades, or a person with an invitation has no number; some gradebooks cannot be read.
        if user is None or lab not in self._entered:
            return
        found = score_of(self.journal, lab, student, self._entered[lab])
        services = (self.journal.noted(self.links, lab) or {}).get("scores", {})
        item = services.get("lineitem", "")
        score = {"item": item, "user": user, **(found or {})}
        before = self.journal.noted("lti sent", f"{lab}/{student}") or {"at": 0.0, "score": None}
        if found is None or score == before["score"]:
            return
        if not item or SCORE not in services.get("scope", ()):
            raise UserError(
                f"it has no gradebook column for {lab}: allow grades there, and open the exercise again"
            )
        # Some systems store times in seconds: the next score must have a later one.
        time.sleep(max(0.0, int(before["at"]) + 1 - time.time()))
        address, mark, query = item.partition("?")
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        body = {
            "userId": user, "scoreGiven": score["points"], "scoreMaximum": score["most"], "comment": score["comment"],
            "activityProgress": "Completed", "gradingProgress": "FullyGraded", "timestamp": when,
        }  # fmt: skip
        place = f"{address.rstrip('/')}/scores{mark}{query}"
        self._ask(SCORE, "POST", place, f"{TYPE}lis.v1.score+json", json.dumps(body))
        self.journal.note("lti sent", f"{lab}/{student}", {"at": time.time(), "score": score})

    def _ask(self, scope: str, method: str, address: str, kind: str, data: str = "") -> requests.Response:
        """The answer of a service of the learning system. ``kind``: the type of what is asked for, or sent."""
        if scope not in self._tokens:
            client, place, now = self.policy.client_id, self.policy.token, int(time.time())
            said = {"iss": client, "sub": client, "aud": place, "iat": now - 5, "exp": now + 60, "jti": uuid.uuid4().hex}  # fmt: skip
            form = {
                "grant_type": "client_credentials",
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": jwt.encode(said, private_key(), "RS256", {"kid": self.key.key_id}),
                "scope": scope,
            }
            self._tokens[scope] = _answer("POST", place, data=form).json()["access_token"]
        what = "Accept" if method == "GET" else "Content-Type"
        headers = {"Authorization": f"Bearer {self._tokens[scope]}", what: kind}
        return _answer(method, address, headers=headers, data=data)

    def _fetch_list(self) -> None:
        """Fetch the learning system's class list at the first launch and every ten minutes, if the course has none."""
        try:
            links = self.journal.notes(self.links).values()
            places = [link["names"]["context_memberships_url"] for link in links if link["names"]]
            if not places or not self.takes_list or time.monotonic() - self._listed < LIST:
                return
            self._listed = time.monotonic()
            members, address = list[dict[str, Any]](), places[0]
            while address:
                answer = self._ask(MEMBERS, "GET", address, f"{TYPE}lti-nrps.v2.membershipcontainer+json")
                members += answer.json()["members"]
                address = answer.links.get("next", {}).get("url", "")
            self.write_list(members)
            self._list_trouble = ""
        except Exception as error:  # see ``_try``
            self._list_trouble = f"The learning system's class list cannot be used: {_why(error)}."
            log.warning("no class list: %s", error)


def _in_gradebook(lab: str, out: Path) -> Mapping[str, TeacherMarks]:
    """Stored name -> marks that people entered in the class's gradebook; empty before the class is graded."""
    if not (out / "gradebook.db").is_file():
        return {}
    with open_gradebook(lab, out) as gradebook:
        return gradebook.all_marks()


def _answer(method: str, address: str, **more: Any) -> requests.Response:
    """The answer to a request. Redirects are refused: they would lose the data, and a sign-in page is no success."""
    answer = requests.request(method, address, timeout=ANSWER, allow_redirects=False, **more)
    if not 200 <= answer.status_code < 300:
        raise requests.HTTPError(f"{address} answers with status {answer.status_code}", response=answer)
    return answer


def _why(error: Exception) -> str:
    """The reason for a failure, for the team."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        asks = " (is this a student of the course there?)" if error.response.status_code == 400 else ""
        return f"it answers with status {error.response.status_code}{asks}"
    return (
        "it cannot be reached"
        if isinstance(error, requests.RequestException)
        else plain(str(error), 300).rstrip(".")
    )
