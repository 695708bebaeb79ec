"""Reads and grades an assignment in Canvas through its REST API.

Canvas keeps one grade for all attempts, and a list of comments that only grows. The autograder's comment is the newest by the
token's owner with an HTML page. If course.toml has a rule for lateness, Canvas's late policy does not reduce sent grades.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from autograder.course.policy_file import settings
from autograder.errors import UserError
from autograder.systems import exchange
from autograder.systems.exchange import Attempt, Entry, File, Person, Refused, Update

#: The ids by which a class list may identify a person, the most reliable first.
_IDS = ("login_id", "email", "sis_user_id")


class Canvas(exchange.System):
    """One assignment. course.toml gives Canvas's number or name of course and assignment."""

    name = "Canvas"

    def __init__(self, lab: str, state: str = "") -> None:
        super().__init__(lab, state)
        self._token, course = exchange.token("Canvas"), self._policy.course
        #: Whether sent grades already include late penalties, so that Canvas must subtract nothing.
        self._counts_lateness = settings().has_late_rule(lab) and settings().due(lab) is not None
        self._me = self._json("GET", "users/self")["id"]
        if not isinstance(course, int):
            codes = {one["id"]: one.get("course_code") or "" for one in self._list("courses")}
            course = self._chosen("course", course, codes)
        self._users, place = f"courses/{course}/search_users", f"courses/{course}/assignments"
        there = {one["id"]: one for one in self._list(place, override_assignment_dates="false")}
        names = {number: one["name"] for number, one in there.items()}
        number = self._chosen("assignment", self._wanted, names)
        self._known, self._place = there[number], f"{place}/{number}/submissions"
        self.key, self.title = f"{self._site} assignment {number}", names[number]
        if self._known.get("anonymize_students"):
            raise UserError(
                "The assignment is graded anonymously: Canvas does not say who handed in before its grades are posted."
            )
        self._read_submissions()
        dates = filter(None, (_seconds(one, "cached_due_date") for one in self._now.values()))
        self.most = float(self._known["points_possible"] or 0)
        self.due = _seconds(self._known, "due_at") or min(dates, default=0)
        if self._known.get("post_manually"):
            self.notes = ("Students see nothing of this before you post the assignment's grades in Canvas.",)

    def _ask(self, method: str, address: str, **more: Any) -> tuple[bytes, str]:
        """An answer's content, and the address of the next page. The token goes only to the site: files may be elsewhere."""
        is_own = address.startswith(f"{self._site}/")
        headers = {"Authorization": f"Bearer {self._token.get_secret_value()}"} if is_own else {}
        answer, content = exchange.ask(method, address, headers=headers, **more)
        if answer.status_code == 401 and "WWW-Authenticate" in answer.headers:
            raise UserError(
                "Canvas does not know the token: make a new one (Account, Settings) and put it where the old one is."
            )
        if answer.status_code == 429:
            raise UserError("Canvas has had too many requests: run the same command again in a minute.")
        if not answer.ok:
            reason = content.decode("utf-8", "replace")[:300].rstrip(".") or f"status {answer.status_code}"
            raise Refused(f"Canvas refuses: {reason}.")
        return content, answer.links.get("next", {}).get("url", "")

    def _json(self, method: str, place: str, **data: Any) -> Any:
        content, _ = self._ask(method, f"{self._site}/api/v1/{place}", data=data)
        return self._parsed(content)

    def _list(self, place: str, **parameters: Any) -> list[dict[str, Any]]:
        """All pages of a list."""
        found, address = list[dict[str, Any]](), f"{self._site}/api/v1/{place}"
        asked: dict[str, Any] = {"per_page": 100, **parameters}
        while address:
            content, address = self._ask("GET", address, params=asked)
            found, asked = found + self._parsed(content), {}
        return found

    def _read_submissions(self) -> None:
        """Fetch each student's submission and grade."""
        there = self._list(self._place, **{"include[]": ["submission_comments"]})
        self._now = {one["user_id"]: one for one in there}

    def require_gradable(self) -> None:
        if self.most <= 0 or self._known["grading_type"] in ("pass_fail", "not_graded"):
            raise UserError(
                f"Canvas's assignment “{self.title}” takes no points: set *Points*, and *Display Grade as* to *Points*."
            )
        if self._known.get("moderated_grading"):
            raise UserError(
                "The assignment has moderated grading, where each grader's points are drafts: switch it off."
            )
        if self._known.get("group_category_id") and not self._known.get("grade_group_students_individually"):
            raise UserError(
                "The assignment has one grade for the members of a group: set *Assign Grades to Each Student Individually*."
            )

    def people(self) -> tuple[list[Person], list[str]]:
        """A group's attempt counts for each member."""
        self._read_submissions()
        teaching = {"enrollment_type[]": ["teacher", "ta", "designer"]}
        staff = {one["id"] for one in self._list(self._users, **teaching)}
        active = {"enrollment_type[]": "student", "enrollment_state[]": "active", "include[]": "email"}
        return [
            Person(user, tuple(filter(None, map(one.get, _IDS))), _attempt(self._now[user]))
            for one in self._list(self._users, **active)
            if (user := one["id"]) in self._now and user not in staff
        ], []

    def due_dates(self, people: Sequence[Person]) -> Mapping[int, int]:
        """The due dates that Canvas computes from the overrides for sections, groups and students."""
        return {person.user: _seconds(self._now[person.user], "cached_due_date") for person in people}

    def read(self, file: File) -> bytes:
        return self._ask("GET", file.address)[0]

    def entries(self, attempts: Mapping[int, int]) -> dict[int, Entry]:
        """The entries in Canvas: the grade as entered, the autograder's newest comment, and its page."""
        self._read_submissions()
        return {user: self._entry(self._now[user]) if user in self._now else Entry() for user in attempts}

    def _entry(self, one: Mapping[str, Any]) -> Entry:
        ours = [
            comment
            for comment in one["submission_comments"]
            if comment["author_id"] == self._me
            and any(file["display_name"].endswith(".html") for file in comment.get("attachments") or ())
        ]
        newest: Mapping[str, Any] = ours[-1] if ours else {"comment": "", "attachments": []}
        taken = one.get("points_deducted") or 0
        return Entry(
            None if one["score"] is None else one["score"] + taken,
            html.escape(newest["comment"]),
            _files(newest["attachments"]),
            locked="the student is excused" if one["excused"] else "",
            is_settled=not (taken and self._counts_lateness),
        )

    def send(self, user: int, attempt: int, new: Update, now: Entry) -> None:
        place, entered = f"{self._place}/{user}", dict[str, Any]({"submission[posted_grade]": new.grade})
        if new.page is not None:
            entered["comment[file_ids][]"] = self._upload(f"{place}/comments/files", new.page_name, new.page)
            entered["comment[text_comment]"] = html.unescape(new.comment.replace("<br>", "\n"))
            entered["comment[attempt]"] = attempt
        now_there = self._json("PUT", place, **entered)
        if self._counts_lateness and now_there.get("points_deducted"):
            self._json("PUT", place, **{"submission[late_policy_status]": "none"})

    def _upload(self, place: str, name: str, content: bytes) -> int:
        """The number of an uploaded file. The place for it, which Canvas names, gets no token."""
        there = self._json("POST", place, name=name, size=len(content), on_duplicate="rename")
        file, fields = {"file": (name, content)}, there["upload_params"]
        answer, taken = exchange.ask("POST", there["upload_url"], data=fields, files=file)
        found = self._parsed(taken.removeprefix(b"while(1);")) if answer.ok else {}
        if "id" not in found:
            raise Refused(f"Canvas did not take the file {name}.")
        return int(found["id"])


def _attempt(one: Mapping[str, Any]) -> Attempt | None:
    """The submitted attempt of a submission."""
    if when := _seconds(one, "submitted_at"):
        has_text = one["submission_type"] != "online_upload"
        return Attempt(one["attempt"] or 0, when, _files(one.get("attachments", ())), has_text)
    return None


def _seconds(one: Mapping[str, Any], name: str) -> int:
    """A time from Canvas in seconds since 1970; 0 for none."""
    text = one.get(name)
    return int(datetime.fromisoformat(text).timestamp()) if text else 0


def _files(attachments: Iterable[Mapping[str, Any]]) -> tuple[File, ...]:
    """The files, without the number that Canvas appends to a second page of the same name."""
    ours = re.compile(r"-\d+(?=\.html$)")
    return tuple(
        File(ours.sub("", one["display_name"]), one["size"], _seconds(one, "modified_at"), one["url"])
        for one in attachments
    )
