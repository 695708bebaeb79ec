"""An assignment of Canvas's, asked and graded by its REST API, with the library ``canvasapi``.

Canvas keeps one grade for all attempts, and a list of comments that only grows: ours is the newest of the token's owner with an
HTML page. Where course.toml has a rule for lateness, the course's late policy in Canvas takes nothing off the grades sent.
"""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import requests
from canvasapi.course import Course
from canvasapi.exceptions import CanvasException, InvalidAccessToken, RateLimitExceeded
from canvasapi.file import File as CanvasFile
from canvasapi.paginated_list import PaginatedList
from canvasapi.requester import Requester
from canvasapi.upload import Uploader

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


@contextmanager
def _asking() -> Iterator[None]:
    """Turns the library's exceptions into sentences."""
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

    ``counts_lateness``: whether the grades that are sent have lost points for lateness, so that Canvas must take off none.
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
            courses = map(vars, PaginatedList(Course, self._requester, "GET", "courses"))
            course = chosen(
                "Canvas", "course", course, {one["id"]: one.get("course_code") or "" for one in courses}
            )
        self._course = Course(self._requester, {"id": course})
        there = {one.id: one for one in self._course.get_assignments(override_assignment_dates=False)}
        names = {number: one.name for number, one in there.items()}
        self._known = there[chosen("Canvas", "assignment", assignment, names)]
        self.key = f"{site} assignment {self._known.id}"
        if getattr(self._known, "anonymize_students", False):
            raise UserError(
                "The assignment is graded anonymously: Canvas does not say who handed in before its grades are posted."
            )
        self._graded = set[int]()
        self._ask()
        due = _seconds(self._known, "due_at") or min(
            filter(None, (_seconds(one, "cached_due_date") for one in self._now.values())), default=0
        )
        hidden = "Students see nothing of this before you post the assignment's grades in Canvas."
        notes = (hidden,) if getattr(self._known, "post_manually", False) else ()
        self.assignment = Assignment(
            self._known.name, float(self._known.points_possible or 0), due, notes=notes
        )

    def _ask(self) -> None:
        """Fetch what each student handed in, and what it got."""
        there = self._known.get_submissions(include=["submission_comments", "group"])
        self._now: dict[int, Any] = {one.user_id: one for one in there}

    @property
    def groups(self) -> Mapping[int, int]:
        """User -> group, unless the assignment grades each member of a group for themselves."""
        if not self._known.group_category_id or self._known.grade_group_students_individually:
            return {}
        return {user: one.group["id"] for user, one in self._now.items() if one.group["id"] is not None}

    def require_gradable(self) -> None:
        """Raise ``UserError`` where the assignment takes no points, or those of several graders."""
        if self.assignment.most <= 0 or self._known.grading_type in ("pass_fail", "not_graded"):
            raise UserError(
                f"Canvas's assignment “{self.assignment.title}” takes no points: set *Points*, and *Display Grade as* to *Points*."
            )
        if getattr(self._known, "moderated_grading", False):
            raise UserError(
                "The assignment has moderated grading, where each grader's points are drafts: switch it off."
            )

    @_asking()
    def students(self) -> list[Person]:
        """The active students to whom the assignment is assigned: no staff, no test student."""
        self._ask()
        staff = {one.id for one in self._course.get_users(enrollment_type=["teacher", "ta", "designer"])}
        active = self._course.get_users(
            enrollment_type=["student"], enrollment_state=["active"], include=["email"]
        )
        return [
            Person(
                one.id,
                one.name,
                tuple(
                    filter(None, (getattr(one, word, "") for word in ("login_id", "email", "sis_user_id")))
                ),
            )
            for one in active
            if one.id in self._now and one.id not in staff
        ]

    def handed_in(self, people: Sequence[Person]) -> tuple[dict[int, HandedIn], list[str]]:
        """The newest attempt of each. A group's is each of its members'."""
        found = {}
        for person in people:
            one = self._now[person.user]
            if when := _seconds(one, "submitted_at"):
                typed = one.submission_type != "online_upload"
                found[person.user] = HandedIn(one.attempt or 0, when, _files(one.attachments), typed)
        return found, []

    def due_dates(self, people: Sequence[Person], track: Track) -> dict[int, int]:
        """What Canvas makes of the overrides for sections, groups and students."""
        return {person.user: _seconds(self._now[person.user], "cached_due_date") for person in people}

    @_asking()
    def read(self, file: File) -> bytes:
        """The bytes of a file. The token goes to the site alone: files may lie elsewhere."""
        is_own = file.address.startswith(f"{self._site}/")
        headers = {"Authorization": f"Bearer {self._token}"} if is_own else {}
        with self._session.get(file.address, headers=headers, stream=True) as answer:
            if not answer.ok:
                raise Refused(f"Canvas does not give {file.name} (status {answer.status_code}).")
            return content_of(answer, "Canvas")

    @_asking()
    def entries(self, attempts: Mapping[int, int], track: Track) -> dict[int, Entry]:
        """What Canvas holds: the grade as it was entered, our newest comment, and the page with it."""
        self._ask()
        return {user: self._entry(self._now[user]) if user in self._now else Entry() for user in attempts}

    def _entry(self, one: Any) -> Entry:
        mine = [comment for comment in one.submission_comments if comment["author_id"] == self._me]
        with_page = [
            (comment["comment"], files)
            for comment, files in zip(mine, map(self._attached, mine), strict=True)
            if any(file.name.endswith(".html") for file in files)
        ]
        text, files = with_page[-1] if with_page else ("", ())
        taken = getattr(one, "points_deducted", None) or 0
        return Entry(
            None if one.score is None else one.score + taken,
            html.escape(text),
            files,
            locked="the student is excused" if one.excused else "",
            is_settled=not (taken and self._counts_lateness),
        )

    def _attached(self, comment: Mapping[str, Any]) -> tuple[File, ...]:
        return _files([CanvasFile(self._requester, one) for one in comment.get("attachments") or ()])

    @_asking()
    def send(self, user: int, attempt: int, new: New, now: Entry) -> None:
        """Enter the grade, once for a group that shares it; a new page and the comment go to each member."""
        one, comment = self._now[user], dict[str, Any]()
        if new.page is not None:
            number = self._upload(user, new.page_name, new.page)
            text = html.unescape(new.comment.replace("<br>", "\n"))
            comment = {"text_comment": text, "attempt": attempt, "file_ids": [number]}
        group = self.groups.get(user, 0)
        one.edit(submission={} if group in self._graded else {"posted_grade": new.grade}, comment=comment)
        self._graded |= {group} - {0}
        if self._counts_lateness and getattr(one, "points_deducted", None):
            one.edit(submission={"late_policy_status": "none"})

    def _upload(self, user: int, name: str, page: bytes) -> int:
        place = f"courses/{self._course.id}/assignments/{self._known.id}/submissions/{user}/comments/files"
        with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
            path = Path(folder, name)
            path.write_bytes(page)
            is_taken, answer = Uploader(self._requester, place, path, on_duplicate="rename").start()
        if not is_taken:
            raise Refused(f"Canvas did not take the file {name}.")
        return int(answer["id"])


def _seconds(one: Any, name: str) -> int:
    """A time of Canvas's in seconds since 1970 (0 where there is none)."""
    when = getattr(one, f"{name}_date", None)
    return int(when.timestamp()) if when is not None else 0


def _files(attachments: Sequence[CanvasFile]) -> tuple[File, ...]:
    """The files. Canvas puts a number behind the name of a second page of one name, which is taken off."""
    return tuple(
        File(
            re.sub(r"-\d+(?=\.html$)", "", one.display_name), one.size, _seconds(one, "modified_at"), one.url
        )
        for one in attachments
    )
