"""Answers as a real Moodle 4.5 did, from recordings of it, and keeps what is sent as that Moodle does: silently, or not at all."""

from __future__ import annotations

import json
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
    """A site. Tests change its attributes; what was entered stands in ``entries``."""

    name, course_toml = "Moodle", ("2", "[labs.00]\ndue = 2026-11-20")
    first, second, most = ANNE, SEAN, 24

    def __init__(self) -> None:
        super().__init__()
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
        self.overridden, self.suspended, self.states = set[int](), {SUSI}, dict[int, str]()
        #: After so many files the line is dead.
        self.files_left = 99
        self.redirects, self.clock = False, 1_795_700_000
        self._drafts: dict[int, dict[str, bytes]] = {}

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
        what = fields.get("wsfunction") or path.split("/")[2].removesuffix(".php")
        if (fields.get("wstoken") or fields.get("token")) != TOKEN:
            what = "no token"
        elif what == "pluginfile":
            self.files_left -= 1
            if self.files_left < 0:
                raise requests.ConnectionError
            return 200, {}, handed_in(path)
        return 200, {}, json.dumps(self._found(what, fields, files)).encode()

    def _found(self, what: str, fields: dict[str, str], files: dict[str, bytes]) -> Any:
        number = int(fields.get("assignid") or fields.get("assignmentids[0]") or 1)
        user, [course] = int(fields.get("userid", 0)), self.assignments["courses"]
        match what:
            case "no token":
                return refusal("invalidtoken", "Invalid token - token not found")
            case "upload":
                draft = int(fields["itemid"]) or len(self._drafts) + 100
                self._drafts.setdefault(draft, {}).update(files)
                return [{"itemid": draft, "filename": name} for name in files]
            case "mod_assign_get_assignments":
                return self.assignments
            case "mod_assign_list_participants":
                return self.participants[number]
            case "mod_assign_get_submissions":
                return self.submissions[number]
            case "core_course_get_courses_by_field":
                return {"courses": [{"id": 2}] if fields["value"] == "NLP-2026" else [], "warnings": []}
            case "core_enrol_get_enrolled_users":
                if fields["options[0][name]"] == "onlyactive":
                    return [one for one in self.listed if one["id"] not in self.suspended]
                return [
                    one for one in self.listed if any("teacher" in role["shortname"] for role in one["roles"])
                ]
            case "mod_assign_get_user_flags":
                flags = self.flags[number]["assignments"][0]["userflags"]
                rows = [{**row, "workflowstate": self.states.get(row["userid"], "")} for row in flags]
                return {"assignments": [{"assignmentid": number, "userflags": rows}]}
            case "mod_assign_get_participant":
                return {"duedate": self.due.get(user, self.assignment(number)["duedate"])}
            case "mod_assign_get_grades":  # of each user the newest attempt's
                rows = [self._grade(*one) for one in dict(sorted(self.entries)).items()]
                return {
                    "assignments": [{"assignmentid": number, "grades": rows}] if rows else [],
                    "warnings": [],
                }
            case "gradereport_user_get_grade_items":
                facts = {"gradeisoverridden": user in self.overridden, "gradeislocked": False}
                items = [{"cmid": one["cmid"], **facts} for one in course["assignments"]]
                return {"usergrades": [{"userid": user, "gradeitems": [{"itemtype": "course"}, *items]}]}
            case "mod_assign_get_submission_status":
                return self.rita if user == RITA else self._status(user, number)
            case "mod_assign_save_grade":
                return self._save(user, fields)
        raise AssertionError(what)

    def _status(self, user: int, number: int) -> Any:
        attempt = self.submission(user)["attemptnumber"]
        hidden = self.assignment(number)["markingworkflow"] and self.states.get(user) != "released"
        if (user, attempt) not in self.entries or hidden:
            return {"lastattempt": {}}
        entry, place = self.entries[user, attempt], f"{self.site}/pluginfile.php/1"
        files = [
            {"filename": name, "filepath": "/", "filesize": len(content), "timemodified": 1, "fileurl": f"{place}/{name}"}
            for name, content in entry["files"].items()
        ]  # fmt: skip
        plugins = [
            {"type": "comments", "editorfields": [{"name": "comments", "text": entry["comment"]}]},
            {"type": "file", "fileareas": [{"area": "feedback_files", "files": files}]},
        ]
        return {"feedback": {"grade": self._grade(user, attempt), "plugins": plugins}}

    def _save(self, user: int, fields: dict[str, str]) -> Any:
        """Moodle's own silence: see ``update_grade`` and ``grading_disabled`` of mod/assign/locallib.php."""
        text, draft = (
            f"plugindata[{one}" for one in ("assignfeedbackcomments_editor][text]", "files_filemanager]")
        )
        if text not in fields:
            return refusal("dmlwriteexception", "Error writing to database")
        assert fields["applytoall"] == "0" and fields["addattempt"] == "0"
        self.saved.append(user)
        if user in self.refused:
            return refusal("nopermission", "the grading period is closed")
        attempt, grade, changes = int(fields["attemptnumber"]), float(fields["grade"]), dict[str, Any]()
        most = self.assignment(int(fields["assignmentid"]))["grade"]
        self.states[user] = fields["workflowstate"]
        if user not in self.overridden and grade <= most and "grade" not in self.drops:
            changes["grade"] = grade
        if "comment" not in self.drops:
            changes["comment"] = fields[text].replace("<br>", "<br />")
        if draft in fields and "files" not in self.drops:
            changes["files"] = self._drafts[int(fields[draft])]
        self.enter(user, attempt=attempt, **changes)
        if "answer" in self.drops:
            raise requests.ConnectionError
        return None

    def _grade(self, user: int, attempt: int) -> dict[str, Any]:
        entry = self.entries[user, attempt]
        value = "-1.00000" if entry["grade"] is None else f"{entry['grade']:.5f}"
        return {"userid": user, "attemptnumber": attempt, "grade": value, "timemodified": entry["when"]}
