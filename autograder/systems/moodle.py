"""Reads and grades an assignment in Moodle through its web services (mod/assign/externallib.php of Moodle 4.5).

This module guards against silent effects of the service. A grade above the maximum, or one that the gradebook overrides, is
dropped while comment and files are kept. A wrong attempt number makes a new attempt. Staff and suspended people are graded
like others. With a marking workflow nobody sees a grade without a state. A draft area replaces all feedback files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from autograder.course.lists import sentences_about
from autograder.errors import UserError
from autograder.systems import exchange
from autograder.systems.exchange import Attempt, Entry, File, Person, Refused, Update

#: The states of an assignment's marking workflow.
STATES = ("notmarked", "inmarking", "readyforreview", "inreview", "readyforrelease", "released")

#: The most simultaneous requests to a site.
AT_ONCE = 4

#: Characters that Moodle does not escape in a file's address.
SAFE = "/%?=&"

#: Moodle's error code -> what to do.
_ADVICE = {
    "invalidtoken": "make a new token (Preferences, Security keys) and put it where the old one is",
    "accessexception": "ask the site's administrator for a token of the service “Moodle mobile web service”",
    "servicenotavailable": "ask the site's administrator to switch the service on",
    "enablewsdescription": "ask the site's administrator to switch web services on",
    "userisfilteredout": "clear the filters of the assignment's Submissions page, which hide this student from you",
    "sitemaintenance": "wait until the site is back",
}


class Moodle(exchange.System):
    """One assignment. course.toml gives Moodle's number or name of course and assignment."""

    name = "Moodle"

    def __init__(self, lab: str, state: str = "") -> None:
        super().__init__(lab, state)
        self._token, course = exchange.token("Moodle"), self._policy.course
        if not isinstance(course, int):
            answer = self._call("core_course_get_courses_by_field", field="shortname", value=course)
            course = self._chosen("course", course, {one["id"]: course for one in answer["courses"]})
        answer = self._call("mod_assign_get_assignments", **{"courseids[0]": course})
        there = {one["cmid"]: one for each in answer["courses"] for one in each["assignments"]}
        names = {number: one["name"] for number, one in there.items()}
        self._course, self._cmid = course, self._chosen("assignment", self._wanted, names)
        known = there[self._cmid]
        self._id, self._teams, self._workflow = known["id"], known["teamsubmission"], known["markingworkflow"]
        self.key, self.title = f"{self._site} assignment {self._cmid}", known["name"]
        self.most, self.due = float(known["grade"]), known["duedate"]
        ways = [
            one["plugin"]
            for one in known["configs"]
            if (one["subtype"], one["name"], one["value"]) == ("assignfeedback", "enabled", "1")
        ]
        self.takes_comments, self.takes_files = "comments" in ways, "file" in ways

    def require_gradable(self) -> None:
        if self.most <= 0:
            raise UserError(
                f"Moodle's assignment “{self.title}” takes no points: set *Grade* to *Point* in its settings."
            )
        if self._workflow and self._state not in STATES:
            states = f"one of {', '.join(STATES)} (students see what is “released”)"
            raise UserError(
                f"The assignment has a marking workflow: say with --state what the grades are, {states}."
            )
        if self._state and not self._workflow:
            raise UserError("The assignment has no marking workflow: leave --state out.")

    def people(self) -> tuple[list[Person], list[str]]:
        """With blind marking, people are known by the assignment's numbers. A group's attempt counts for each member."""
        listed = self._call(
            "mod_assign_list_participants", assignid=self._id, groupid=0, filter="", skip=0, limit=0
        )
        active = self._enrolled("onlyactive", 1) - self._enrolled("withcapability", "mod/assign:grade")
        latest = {(one["userid"], one["groupid"]): one for one in self._rows("submissions")}
        people, drafts, reopened = list[Person](), list[str](), list[str]()
        for one in listed:
            if (user := one["id"]) not in active:
                continue
            ids = [one.get("username"), one.get("email"), one.get("idnumber")]
            if one.get("recordid", -1) > 0:
                ids = [f"participant_{one['recordid']}"]
            place = (0, one.get("groupid", 0)) if self._teams else (user, 0)
            newest, attempt = latest.get(place, {"status": "none"}), None
            if newest["status"] == "submitted":
                attempt = _attempt(newest)
            elif newest.get("attemptnumber", 0) > 0 and (attempt := self._earlier(user)) is not None:
                reopened.append(one["fullname"])
            drafts += [one["fullname"]] if newest["status"] == "draft" else []
            people.append(Person(user, tuple(filter(None, ids)), attempt))
        return people, sentences_about({
            "Drafts, which nobody handed in, were not fetched": drafts,
            "A new attempt is open, so the one before it was taken": reopened,
        })  # fmt: skip

    def _earlier(self, user: int) -> Attempt | None:
        """The newest submitted attempt before the open one."""
        status = self._call("mod_assign_get_submission_status", assignid=self._id, userid=user)
        attempts = [one["submission"] for one in status.get("previousattempts", ()) if "submission" in one]
        done = [one for one in attempts if one["status"] == "submitted"]
        return _attempt(max(done, key=lambda one: one["attemptnumber"]), is_open=True) if done else None

    def due_dates(self, people: Sequence[Person]) -> Mapping[int, int]:
        longer = {one["userid"]: one["extensionduedate"] for one in self._rows("user_flags")}

        def due(user: int) -> int:
            asked = {"assignid": self._id, "userid": user, "embeduser": 0}
            one = self._call("mod_assign_get_participant", **asked)
            return max(one["duedate"], longer.get(user) or 0) if one["duedate"] else 0

        return self._of_each(due, [person.user for person in people], "due dates")

    def read(self, file: File) -> bytes:
        """Only addresses on this site are accepted, so that the token goes nowhere else."""
        _, found, path = file.address.partition("/pluginfile.php/")
        if not found:
            raise Refused(f"Moodle gives a file an address on another site: {file.address}")
        fields = {"token": self._token.get_secret_value()}
        content = self._post(f"/webservice/pluginfile.php/{quote(path, safe=SAFE)}", fields)
        if content.startswith(b'{"error"'):
            self._checked(content, "to give a file")
        return content

    def entries(self, attempts: Mapping[int, int]) -> dict[int, Entry]:
        grades = {one["userid"]: one for one in self._rows("grades")}
        states = {one["userid"]: one["workflowstate"] for one in self._rows("user_flags")}

        def entry(user: int) -> Entry:
            asked = {"assignid": self._id, "userid": user, "moodlewssettingraw": 1}
            status = self._call("mod_assign_get_submission_status", **asked)
            report = self._call("gradereport_user_get_grade_items", courseid=self._course, userid=user)
            items = (one for row in report["usergrades"] for one in row["gradeitems"])
            item: dict[str, Any] = next((one for one in items if one.get("cmid") == self._cmid), {})
            how = [word for word in ("overridden", "locked") if item.get(f"gradeis{word}")]
            locked = f"the grade is {how[0]} in the gradebook" if how else ""
            is_settled = not self._state or states.get(user) == self._state
            shown = [
                status.get("feedback", {}),
                *status.get("previousattempts", ()),
                {"grade": grades.get(user)},
            ]
            graded = (one for one in shown if (one.get("grade") or {}).get("attemptnumber") == attempts[user])
            if (found := next(graded, None)) is None:
                return Entry(locked=locked, is_settled=is_settled)
            plugins = found.get("plugins", found.get("feedbackplugins", ()))
            fields = [one for each in plugins if each["type"] == "comments" for one in each["editorfields"]]
            # A workflow hides comment and files until the grade is released.
            is_hidden = self._workflow and "feedback" not in status
            comment, value = "".join(one["text"] for one in fields), found["grade"]["grade"]
            return Entry(
                float(value) if value not in (None, "") and float(value) >= 0 else None,
                None if is_hidden else comment,
                _files(plugins),
                found["grade"]["timemodified"],
                locked,
                is_settled,
            )

        return self._of_each(entry, list(attempts), "what Moodle has")

    def send(self, user: int, attempt: int, new: Update, now: Entry) -> None:
        """Other people's feedback files, which a new page would replace, are sent again with it."""
        editor = "plugindata[assignfeedbackcomments_editor]"
        plugins: dict[str, Any] = {f"{editor}[text]": new.comment, f"{editor}[format]": 1}
        if new.page is not None:
            draft = self._upload(new.page_name, new.page)
            for other in now.files:
                if (other.folder, other.name) != ("/", new.page_name):
                    self._upload(other.name, self.read(other), draft, other.folder)
            plugins["plugindata[files_filemanager]"] = draft
        self._call(
            "mod_assign_save_grade",
            assignmentid=self._id,
            userid=user,
            grade=new.grade,
            attemptnumber=attempt,
            addattempt=0,
            workflowstate=self._state,
            applytoall=0,  # each member of a group is sent separately, and may have an entry by a person
            **plugins,
        )

    def _upload(self, name: str, content: bytes, draft: int = 0, folder: str = "/") -> int:
        """Put a file into a draft area (0: a new one). Returns the area's number."""
        fields = {"token": self._token.get_secret_value(), "itemid": str(draft), "filepath": folder}
        taken = self._post("/webservice/upload.php", fields, files={"file": (name, content)})
        answer = self._checked(taken, "to take a file")
        try:
            return int(answer[0]["itemid"])
        except (LookupError, TypeError, ValueError):
            raise Refused(
                f"Moodle did not take the file {name}: is it larger than the site allows?"
            ) from None

    def _rows(self, what: str) -> list[dict[str, Any]]:
        """This assignment's submissions, grades or flags. If the token may not see it, Moodle's warning is raised as ``Refused``."""
        answer = self._call(f"mod_assign_get_{what}", **{"assignmentids[0]": self._id})
        for one in answer["assignments"]:
            if one["assignmentid"] == self._id:
                found: list[dict[str, Any]] = one[what.replace("_", "")]
                return found
        warnings = [one["message"] for one in answer.get("warnings", ()) if one.get("warningcode") == "1"]
        if warnings:
            raise Refused(f"Moodle refuses to show the assignment: {warnings[0].rstrip('.')}.")
        return []

    def _of_each(self, ask: Callable[[int], Any], users: Sequence[int], what: str) -> dict[int, Any]:
        """The answer to a request for each user, several at once."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                return dict(zip(users, self.track(pool.map(ask, users), what, len(users)), strict=True))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _enrolled(self, option: str, value: object) -> set[int]:
        options = {"options[0][name]": option, "options[0][value]": value}
        answer = self._call("core_enrol_get_enrolled_users", courseid=self._course, **options)
        return {one["id"] for one in answer}

    def _call(self, function: str, **parameters: Any) -> Any:
        """The answer of a web service function. Raises ``Refused`` with Moodle's reason if it refuses."""
        token = self._token.get_secret_value()
        fields = {"wstoken": token, "wsfunction": function, "moodlewsrestformat": "json", **parameters}
        return self._checked(self._post("/webservice/rest/server.php", fields), function)

    def _post(self, place: str, fields: Mapping[str, Any], **more: Any) -> bytes:
        """The answer to a POST request, whose body has the token: it is in no address.

        Redirects are refused: they would lose the data, or send the token elsewhere.
        """
        answer, content = exchange.ask("POST", self._site + place, data=fields, allow_redirects=False, **more)
        if answer.status_code == 200:
            return content
        target = answer.headers.get("Location", "")
        advice = (
            f"write the address that it points to into course.toml, {target}" if target else "try again later"
        )
        raise UserError(f"{self._site} answers with status {answer.status_code}: {advice}.")

    def _checked(self, content: bytes, what: str) -> Any:
        answer = self._parsed(content)
        if isinstance(answer, dict) and (answer.get("exception") or answer.get("error")):
            reason = str(answer.get("message") or answer.get("error")).rstrip(".")
            reason = reason.replace(self._token.get_secret_value(), "…")
            advice = _ADVICE.get(str(answer.get("errorcode", "")), "")
            raise Refused(f"Moodle refuses {what}: {reason}{f'; {advice}' if advice else ''}.")
        return answer


def _attempt(submission: Mapping[str, Any], *, is_open: bool = False) -> Attempt:
    plugins = submission.get("plugins", ())
    texts = [one["text"] for plugin in plugins for one in plugin.get("editorfields", ())]
    number, when = submission["attemptnumber"], submission["timemodified"]
    return Attempt(number, when, _files(plugins), any(texts), is_open)


def _files(plugins: Iterable[Mapping[str, Any]]) -> tuple[File, ...]:
    return tuple(
        File(one["filename"], one["filesize"], one["timemodified"], one["fileurl"], one["filepath"])
        for plugin in plugins
        if plugin["type"] == "file"
        for area in plugin.get("fileareas", ())
        for one in area.get("files", ())
    )
