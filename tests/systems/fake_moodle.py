"""Answers as a real Moodle 4.5 did, from recordings of it, and keeps what is sent as that Moodle does: silently, or not at all."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import requests

from tests.systems.fake_site import TOKEN, FakeSite, handed_in, recorded

ANNE, SEAN, RAVI, OTTO, DORA, SUSI, RITA = 4, 5, 15, 18, 19, 24, 28


def words(user: int) -> str:
    """The name of somebody's folder."""
    return next(one["email"] for one in recorded("core_enrol_get_enrolled_users") if one["id"] == user)


def refusal(code: str, message: str) -> dict[str, str]:
    return {"exception": "x", "errorcode": code, "message": message}


class FakeMoodle(FakeSite):
    """A site. Tests change its attributes; what was asked stands in ``asked``, what was entered in ``entries``."""

    name, course_toml = "Moodle", ("2", "[labs.00]\ndue = 2026-11-20")
    first, second, most = ANNE, SEAN, 24

    def __init__(self) -> None:
        self.listed = recorded("core_enrol_get_enrolled_users")
        self.assignments = recorded("mod_assign_get_assignments")
        self.submissions, self.participants, self.flags = (
            {number: recorded(f"{kind}-mod_assign_{what}") for number, kind in {1: "a24", 3: "blind"}.items()}
            for what in ("get_submissions", "list_participants", "get_user_flags")
        )
        self.rita = recorded("a24-mod_assign_get_submission_status-rita")
        #: (user, attempt) -> grade, comment, files by name, when it was saved; as a teacher may have entered them, too.
        self.entries: dict[tuple[int, int], dict[str, Any]] = {}
        self.due = {5: recorded("a100-mod_assign_get_participant-override")["duedate"]}
        self.asked: Counter[str] = Counter()
        self.overridden: set[int] = set()
        self.suspended = {SUSI}
        self.saved: list[int] = []
        self.refused: set[int] = set()
        self.drops: set[str] = set()
        self.states: dict[int, str] = {}
        #: After so many requests of this kind the line is dead.
        self.dies: tuple[str, int] | None = None
        self.redirects = False
        self.clock = 1_795_700_000
        self._drafts: dict[int, dict[str, bytes]] = {}
        super().__init__()

    def assignment(self, number: int = 1) -> dict[str, Any]:
        [course] = self.assignments["courses"]
        return next(one for one in course["assignments"] if one["id"] == number)

    def submission(self, user: int, number: int = 1) -> dict[str, Any]:
        [one] = self.submissions[number]["assignments"]
        return next(row for row in one["submissions"] if row["userid"] == user)

    def entered(self, user: int) -> tuple[float, str, list[str]]:
        """Grade, comment, files."""
        found = self.entries[user, 0]
        return found["grade"], found["comment"], list(found["files"])

    def hand_in_again(self, user: int) -> None:
        self.submission(user).update(timemodified=1795304192, attemptnumber=1)

    def only(self, *users: int) -> None:
        """A small class: tests are quicker."""
        self.participants[1] = [one for one in self.participants[1] if one["id"] in users]

    def enter(self, user: int, grade: float | None = None, attempt: int = 0, **changes: Any) -> None:
        """As a person does it in Moodle's own pages."""
        self.clock += 1
        before = self.entries.get((user, attempt), {"grade": None, "comment": "", "files": {}})
        changes |= {} if grade is None else {"grade": grade}
        self.entries[user, attempt] = {**before, **changes, "when": self.clock}

    def answer(
        self, method: str, path: str, fields: dict[str, str], files: dict[str, bytes]
    ) -> tuple[int, dict[str, str], bytes]:
        if self.redirects:
            return 301, {"Location": "https://elsewhere.example/"}, b""
        return 200, {}, self._answer(path, fields, files)

    def _answer(self, path: str, fields: dict[str, str], files: dict[str, bytes]) -> bytes:
        what = fields.get("wsfunction") or path.split("/")[2].removesuffix(".php")
        if self.dies is not None and what == self.dies[0] and self.asked[what] >= self.dies[1]:
            raise requests.ConnectionError
        self.asked[what] += 1
        if (fields.get("wstoken") or fields.get("token")) != TOKEN:
            return json.dumps(refusal("invalidtoken", "Invalid token - token not found")).encode()
        if what == "pluginfile":
            return handed_in(path)
        if what == "upload":
            draft = int(fields["itemid"]) or len(self._drafts) + 100
            self._drafts.setdefault(draft, {}).update(files)
            return json.dumps([{"itemid": draft, "filename": name} for name in files]).encode()
        number = int(fields.get("assignid") or fields.get("assignmentids[0]") or 1)
        as_recorded = {
            "mod_assign_get_assignments": self.assignments,
            "mod_assign_list_participants": self.participants.get(number),
            "mod_assign_get_submissions": self.submissions.get(number),
        }
        found = as_recorded[what] if what in as_recorded else getattr(self, what)(fields, number)
        return json.dumps(found).encode()

    def core_course_get_courses_by_field(self, fields: dict[str, str], number: int) -> Any:
        return {"courses": [{"id": 2}] if fields["value"] == "NLP-2026" else [], "warnings": []}

    def core_enrol_get_enrolled_users(self, fields: dict[str, str], number: int) -> Any:
        if fields["options[0][name]"] == "onlyactive":
            return [one for one in self.listed if one["id"] not in self.suspended]
        return [one for one in self.listed if any("teacher" in role["shortname"] for role in one["roles"])]

    def mod_assign_get_user_flags(self, fields: dict[str, str], number: int) -> Any:
        [one] = self.flags[number]["assignments"]
        rows = [{**row, "workflowstate": self.states.get(row["userid"], "")} for row in one["userflags"]]
        return {"assignments": [{"assignmentid": number, "userflags": rows}]}

    def mod_assign_get_participant(self, fields: dict[str, str], number: int) -> Any:
        return {"duedate": self.due.get(int(fields["userid"]), self.assignment(number)["duedate"])}

    def mod_assign_get_grades(self, fields: dict[str, str], number: int) -> Any:
        newest = dict(sorted(self.entries))
        rows = [self._grade(user, attempt) for user, attempt in newest.items()]
        return {"assignments": [{"assignmentid": number, "grades": rows}] if rows else [], "warnings": []}

    def gradereport_user_get_grade_items(self, fields: dict[str, str], number: int) -> Any:
        pages = [one["cmid"] for one in self.assignments["courses"][0]["assignments"]]
        is_mine = int(fields["userid"]) in self.overridden
        items = [{"cmid": page, "gradeisoverridden": is_mine, "gradeislocked": False} for page in pages]
        return {
            "usergrades": [{"userid": int(fields["userid"]), "gradeitems": [{"itemtype": "course"}, *items]}]
        }

    def mod_assign_get_submission_status(self, fields: dict[str, str], number: int) -> Any:
        user = int(fields["userid"])
        if user == 28:
            return self.rita
        attempt = self.submission(user)["attemptnumber"]
        hidden = self.assignment(number)["markingworkflow"] and self.states.get(user) != "released"
        if (user, attempt) not in self.entries or hidden:
            return {"lastattempt": {}}
        entry = self.entries[user, attempt]
        place = f"{self.site}/pluginfile.php/1"
        files = [
            {"filename": name, "filepath": "/", "filesize": len(content), "timemodified": 1, "fileurl": f"{place}/{name}"}
            for name, content in entry["files"].items()
        ]  # fmt: skip
        plugins = [
            {"type": "comments", "editorfields": [{"name": "comments", "text": entry["comment"]}]},
            {"type": "file", "fileareas": [{"area": "feedback_files", "files": files}]},
        ]
        return {"feedback": {"grade": self._grade(user, attempt), "plugins": plugins}}

    def mod_assign_save_grade(self, fields: dict[str, str], number: int) -> Any:
        """Moodle's own silence: see ``update_grade`` and ``grading_disabled`` of mod/assign/locallib.php."""
        text = "plugindata[assignfeedbackcomments_editor][text]"
        if text not in fields:
            return refusal("dmlwriteexception", "Error writing to database")
        assert fields["applytoall"] == "0" and fields["addattempt"] == "0"
        user, attempt, grade = int(fields["userid"]), int(fields["attemptnumber"]), float(fields["grade"])
        self.saved.append(user)
        if user in self.refused:
            return refusal("nopermission", "the grading period is closed")
        old = self.entries.get((user, attempt), {}).get("grade")
        most = self.assignment(int(fields["assignmentid"]))["grade"]
        is_taken = user not in self.overridden and grade <= most
        self.states[user] = fields["workflowstate"]
        entered: dict[str, Any] = {}
        if "comment" not in self.drops:
            entered["comment"] = fields[text].replace("<br>", "<br />")
        if "plugindata[files_filemanager]" in fields and "files" not in self.drops:
            entered["files"] = self._drafts[int(fields["plugindata[files_filemanager]"])]
        kept = grade if is_taken and "grade" not in self.drops else old
        self.enter(user, kept, attempt, **entered)
        if "answer" in self.drops:
            raise requests.ConnectionError
        return None

    def _grade(self, user: int, attempt: int) -> dict[str, Any]:
        entry = self.entries[user, attempt]
        value = "-1.00000" if entry["grade"] is None else f"{entry['grade']:.5f}"
        return {"userid": user, "attemptnumber": attempt, "grade": value, "timemodified": entry["when"]}
