"""Reads and grades an assignment in Canvas through its REST API, with the library ``canvasapi``.

Canvas keeps one grade for all attempts, and a list of comments that only grows. The autograder's comment is the newest by the
token's owner with an HTML page. If course.toml has a rule for lateness, Canvas's late policy does not reduce sent grades.
"""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import requests
from canvasapi.exceptions import CanvasException, InvalidAccessToken, RateLimitExceeded
from canvasapi.paginated_list import PaginatedList
from canvasapi.requester import Requester
from canvasapi.upload import Uploader
from canvasapi.util import combine_kwargs

from autograder.errors import UserError
from autograder.systems.exchange import (
    SECONDS,
    Assignment,
    Entry,
    File,
    HandedIn,
    New,
    Person,
    Refused,
    Track,
    chosen,
    content_of,
    unreachable,
)

#: The ids by which a class list may identify a person, the most reliable first.
_WORDS = ("login_id", "email", "sis_user_id")


@contextmanager
def _asking() -> Iterator[None]:
    """Raise the library's exceptions as ``UserError`` in one sentence."""
    try:
        yield
    except InvalidAccessToken:
        raise UserError(
            "Canvas does not know the token: make a new one (Account, Settings) and put it where the old one is."
        ) from None
    except RateLimitExceeded:
        raise UserError("Canvas has had too many requests: run the same command again in a minute.") from None
    except CanvasException as error:
        raise Refused(f"Canvas refuses: {str(error)[:300].rstrip('.')}.") from None
    except requests.RequestException as error:
        raise unreachable("Canvas", error) from None


class Canvas:
    """One assignment. ``course`` and ``assignment`` are Canvas's numbers or names.

    ``counts_lateness``: whether sent grades already include late penalties, so that Canvas must subtract nothing.
    """

    name = "Canvas"

    @_asking()
    def __init__(
        self, site: str, token: str, course: int | str, assignment: int | str, *, counts_lateness: bool
    ) -> None:
        self._site, self._token, self._counts_lateness = site, token, counts_lateness
        self._requester = Requester(site, token)
        self._session = self._requester._session
        self._session.request = partial(self._session.request, timeout=SECONDS)
        self._me = self._requester.request("GET", "users/self").json()["id"]
        if not isinstance(course, int):
            codes = {one["id"]: one.get("course_code") or "" for one in self._list("courses")}
            course = chosen("Canvas", "course", course, codes)
        self._users, place = f"courses/{course}/search_users", f"courses/{course}/assignments"
        there = {one["id"]: one for one in self._list(place, override_assignment_dates=False)}
        names = {number: one["name"] for number, one in there.items()}
        number = chosen("Canvas", "assignment", assignment, names)
        self._known, self._place = there[number], f"{place}/{number}/submissions"
        self.key = f"{site} assignment {number}"
        if self._known.get("anonymize_students"):
            raise UserError(
                "The assignment is graded anonymously: Canvas does not say who handed in before its grades are posted."
            )
        self._graded = set[int]()
        self._ask()
        dates = filter(None, (_seconds(one, "cached_due_date") for one in self._now.values()))
        hidden = "Students see nothing of this before you post the assignment's grades in Canvas."
        self.assignment = Assignment(
            names[number],
            float(self._known["points_possible"] or 0),
            _seconds(self._known, "due_at") or min(dates, default=0),
            notes=(hidden,) if self._known.get("post_manually") else (),
        )

    def _list(self, place: str, **parameters: Any) -> list[dict[str, Any]]:
        """All pages of a list as JSON. The library's classes are not used: they parse any text as a date, and may fail."""
        words = combine_kwargs(**parameters)
        return list(PaginatedList(lambda _, one: one, self._requester, "GET", place, _kwargs=words))

    def _ask(self) -> None:
        """Fetch each student's submission and grade."""
        there = self._list(self._place, include=["submission_comments", "group"])
        self._now = {one["user_id"]: one for one in there}

    @property
    def groups(self) -> Mapping[int, int]:
        """User -> group, unless the assignment grades the members of a group individually."""
        if not self._known.get("group_category_id") or self._known.get("grade_group_students_individually"):
            return {}
        return {user: one["group"]["id"] for user, one in self._now.items() if one["group"]["id"] is not None}

    def require_gradable(self) -> None:
        """Raise ``UserError`` if the assignment takes no points, or points of several graders."""
        if self.assignment.most <= 0 or self._known["grading_type"] in ("pass_fail", "not_graded"):
            raise UserError(
                f"Canvas's assignment “{self.assignment.title}” takes no points: set *Points*, and *Display Grade as* to *Points*."
            )
        if self._known.get("moderated_grading"):
            raise UserError(
                "The assignment has moderated grading, where each grader's points are drafts: switch it off."
            )

    @_asking()
    def students(self) -> list[Person]:
        """The active students with this assignment, without staff and the test student."""
        self._ask()
        staff = {one["id"] for one in self._list(self._users, enrollment_type=["teacher", "ta", "designer"])}
        active = self._list(
            self._users, enrollment_type=["student"], enrollment_state=["active"], include=["email"]
        )
        return [
            Person(one["id"], one["name"], tuple(filter(None, map(one.get, _WORDS))))
            for one in active
            if one["id"] in self._now and one["id"] not in staff
        ]

    def handed_in(self, people: Sequence[Person]) -> tuple[dict[int, HandedIn], list[str]]:
        """The newest attempt of each student. A group's attempt counts for each member."""
        found = {}
        for person in people:
            one = self._now[person.user]
            if when := _seconds(one, "submitted_at"):
                typed, files = one["submission_type"] != "online_upload", _files(one.get("attachments", ()))
                found[person.user] = HandedIn(one["attempt"] or 0, when, files, typed)
        return found, []

    def due_dates(self, people: Sequence[Person], track: Track) -> dict[int, int]:
        """The due dates that Canvas computes from the overrides for sections, groups and students."""
        return {person.user: _seconds(self._now[person.user], "cached_due_date") for person in people}

    @_asking()
    def read(self, file: File) -> bytes:
        """The bytes of a file. The token is sent only to the site itself, since files may be elsewhere."""
        is_own = file.address.startswith(f"{self._site}/")
        headers = {"Authorization": f"Bearer {self._token}"} if is_own else {}
        with self._session.get(file.address, headers=headers, stream=True) as answer:
            if not answer.ok:
                raise Refused(f"Canvas does not give {file.name} (status {answer.status_code}).")
            return content_of(answer, "Canvas")

    @_asking()
    def entries(self, attempts: Mapping[int, int], track: Track) -> dict[int, Entry]:
        """The entries in Canvas: the grade as entered, the autograder's newest comment, and its page."""
        self._ask()
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

    @_asking()
    def send(self, user: int, attempt: int, new: New, now: Entry) -> None:
        """Enter the grade, once for a group that shares it. A new page and the comment go to each member."""
        place, comment, group = f"{self._place}/{user}", dict[str, Any](), self.groups.get(user, 0)
        if new.page is not None:
            with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
                path = Path(folder, new.page_name)
                path.write_bytes(new.page)
                upload = Uploader(self._requester, f"{place}/comments/files", path, on_duplicate="rename")
                is_taken, answer = upload.start()
            if not is_taken:
                raise Refused(f"Canvas did not take the file {new.page_name}.")
            text = html.unescape(new.comment.replace("<br>", "\n"))
            comment = {"text_comment": text, "attempt": attempt, "file_ids": [answer["id"]]}
        grade = {} if group in self._graded else {"posted_grade": new.grade}
        now_there = self._put(place, submission=grade, comment=comment)
        self._graded |= {group} - {0}
        if self._counts_lateness and now_there.get("points_deducted"):
            self._put(place, submission={"late_policy_status": "none"})

    def _put(self, place: str, **parameters: Any) -> dict[str, Any]:
        answer = self._requester.request("PUT", place, _kwargs=combine_kwargs(**parameters))
        found: dict[str, Any] = answer.json()
        return found


def _seconds(one: Mapping[str, Any], name: str) -> int:
    """A time from Canvas in seconds since 1970; 0 for none."""
    text = one.get(name)
    return int(datetime.fromisoformat(text).timestamp()) if text else 0


def _files(attachments: Iterable[Mapping[str, Any]]) -> tuple[File, ...]:
    """The files, without the number that Canvas appends to a second page of the same name."""
    return tuple(
        File(
            re.sub(r"-\d+(?=\.html$)", "", one["display_name"]),
            one["size"],
            _seconds(one, "modified_at"),
            one["url"],
        )
        for one in attachments
    )
