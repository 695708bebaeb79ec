"""Answers as Canvas's REST API documents them, and keeps what is sent. Nothing here was recorded: no real Canvas was at hand."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.systems.fake_site import TOKEN, FakeSite, handed_in, recorded

#: The token's owner, and students of whom Test Student and Tom, who also teaches, hand in nothing that counts.
ME, ADA, BO, CY, DI, TEST, TOM = 1, 11, 12, 13, 14, 15, 16
NAMES = {ADA: "ada", BO: "bo", CY: "cy", DI: "di", TEST: "test", TOM: "tom"}
LATE = "[late]\npercent_per_day = 10\n[labs.00]\ndue = 2026-11-20T22:59:59"


class FakeCanvas(FakeSite):
    """A site with one course (5) and one assignment (70). Tests change its attributes; what was sent stands in ``submissions``."""

    name, course_toml = "Canvas", ("70", LATE)
    first, second, most = ADA, BO, 30

    def __init__(self) -> None:
        super().__init__()
        self.active = [ADA, BO, CY, TOM]
        self.assignment = recorded("canvas")["assignment"]
        self.submissions = {user: self._submission(user) for user in NAMES if user != TEST}
        self.submissions[CY].update(attempt=None, submitted_at=None, attachments=[], submission_type=None)
        #: Points that the course's late policy takes off, by user.
        self.deducts: dict[int, float] = {}
        self.put: list[tuple[int, dict[str, str]]] = []
        self._pages: dict[int, tuple[str, bytes]] = {}

    def entered(self, user: int) -> tuple[float, str, list[str]]:
        """Grade, comment, files."""
        ours = [one for one in self.submissions[user]["submission_comments"] if one["attachments"]]
        files = [one["display_name"] for one in ours[-1]["attachments"]]
        return self.submissions[user]["score"], ours[-1]["comment"], files

    def enter(self, user: int, grade: float) -> None:
        """As a person does it in Canvas's own pages."""
        self.submissions[user]["score"] = grade

    def hand_in_again(self, user: int) -> None:
        self.submissions[user].update(attempt=3, submitted_at="2026-11-20T10:00:00Z")

    def comment(self, user: int, author: int, text: str, *attachments: dict[str, Any]) -> None:
        found = self.submissions[user]["submission_comments"]
        found.append({"author_id": author, "comment": text, "attachments": list(attachments)})

    def answer(
        self, method: str, path: str, fields: dict[str, str], files: dict[str, bytes]
    ) -> tuple[int, dict[str, str], bytes]:
        if path.startswith("/files/"):
            return 200, {}, handed_in(path)
        if path == "/upload":
            [(name, page)] = files.items()
            self._pages[len(self._pages)] = name, page
            return 201, {}, json.dumps({"id": len(self._pages) - 1, "url": "x"}).encode()
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"WWW-Authenticate": 'Bearer realm="canvas-lms"'}, b'{"errors": []}'
        place = path.removeprefix("/api/v1/").removeprefix("courses/5/").removeprefix("assignments/70/")
        if method == "PUT" and int(place.removeprefix("submissions/")) in self.refused:
            return 403, {}, b"the grading period is closed"
        found, headers = getattr(self, f"_{method.lower()}")(place, fields), dict[str, str]()
        if method == "GET" and isinstance(found, list) and len(found) > 2:  # page by page
            start = int(fields.get("page", 0))
            if start + 2 < len(found):
                headers["Link"] = f'<{self.site}{path}?page={start + 2}>; rel="next"'
            found = found[start : start + 2]
        return 200, headers, json.dumps(found).encode()

    def _get(self, place: str, fields: dict[str, str]) -> Any:
        if place == "search_users":
            if fields.get("enrollment_type[]") != "student" and "page" not in fields:
                return [{"id": ME, "name": "Me"}, {"id": TOM, "name": "Tom"}]
            return [{"id": one, "name": NAMES[one].title(), "login_id": NAMES[one]} for one in self.active]
        return {
            "users/self": {"id": ME},
            "courses": [{"id": 5, "course_code": "NLP-2026"}, {"id": 6, "access_restricted_by_date": True}],
            "assignments": [{**self.assignment, "id": 71, "name": "Essay"}, self.assignment],
            "submissions": list(self.submissions.values()),
        }[place.removeprefix("assignments/71/")]

    def _post(self, place: str, fields: dict[str, str]) -> Any:
        assert re.fullmatch(r"submissions/\d+/comments/files", place)
        return {"upload_url": "https://elsewhere.example/upload", "upload_params": {"key": "k"}}

    def _put(self, place: str, fields: dict[str, str]) -> Any:
        one = self.submissions[int(place.removeprefix("submissions/"))]
        self.put.append((one["user_id"], fields))
        self.saved += [one["user_id"]] if "submission[posted_grade]" in fields else []
        if "submission[posted_grade]" in fields and "grade" not in self.drops:
            one["points_deducted"] = taken = self.deducts.get(one["user_id"])
            one["score"] = float(fields["submission[posted_grade]"]) - (taken or 0)
        if fields.get("submission[late_policy_status]") == "none":
            one["score"] += one["points_deducted"] or 0
            one["points_deducted"] = self.deducts[one["user_id"]] = None
        if "comment[text_comment]" in fields and "comment" not in self.drops:
            name, page = self._pages[int(fields["comment[file_ids][]"])]
            self.comment(one["user_id"], ME, fields["comment[text_comment]"], self.file(name, len(page)))
        return one

    def file(self, name: str, size: int) -> dict[str, Any]:
        address = f"{self.site}/files/{name}"
        return {"display_name": name, "size": size, "url": address, "modified_at": "2026-11-19T15:00:00Z"}

    def _submission(self, user: int) -> dict[str, Any]:
        own = {"user_id": user, "submitted_at": f"2026-11-19T15:00:{user}Z"}
        attached = [self.file(f"{NAMES[user]}.ipynb", 9)]
        return {**recorded("canvas")["submission"], **own, "attachments": attached}
