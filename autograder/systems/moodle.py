"""Reads and grades an assignment in Moodle through its web services (mod/assign/externallib.php of Moodle 4.5).

This module guards against silent effects of the service. A grade above the maximum, or one that the gradebook overrides, is
dropped while comment and files are kept. A wrong attempt number makes a new attempt. Staff and suspended people are graded
like others. With a marking workflow nobody sees a grade without a state. A draft area replaces all feedback files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from pydantic import SecretStr

from autograder.course.lists import sentences_about
from autograder.errors import UserError
from autograder.systems import exchange
from autograder.systems.exchange import Assignment, Attempt, Entry, File, New, Person, Refused, Track

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
    """One assignment. ``course`` and ``assignment`` are Moodle's numbers or names; ``state`` is the marking workflow's."""

    name = "Moodle"

    def __init__(
        self, site: str, token: SecretStr, course: int | str, assignment: int | str, state: str = ""
    ) -> None:
        self._site, self._token, self._state = site, token, state
        self._course = course if isinstance(course, int) else self._course_called(course)
        answer = self._call("mod_assign_get_assignments", courseids=[self._course])
        there = {one["cmid"]: one for each in answer["courses"] for one in each["assignments"]}
        names = {number: one["name"] for number, one in there.items()}
        self._known = there[exchange.chosen("Moodle", "assignment", assignment, names)]
        self._id, self.key = int(self._known["id"]), f"{site} assignment {self._known['cmid']}"
        enabled = {
            (one["subtype"], one["plugin"])
            for one in self._known["configs"]
            if one["name"] == "enabled" and one["value"] == "1"
        }
        self.assignment = Assignment(
            self._known["name"],
            float(self._known["grade"]),
            int(self._known["duedate"]),
            ("assignfeedback", "comments") in enabled,
            ("assignfeedback", "file") in enabled,
        )

    def _course_called(self, name: str) -> int:
        answer = self._call("core_course_get_courses_by_field", field="shortname", value=name)
        if not answer["courses"]:
            raise UserError(
                f"Moodle has no course with the short name “{name}” for this token: write it, or the number in the address of the "
                "course's page, into course.toml."
            )
        return int(answer["courses"][0]["id"])

    def require_gradable(self) -> None:
        """Raise ``UserError`` if the assignment takes no points, or if its workflow needs a state."""
        if self.assignment.most <= 0:
            raise UserError(
                f"Moodle's assignment “{self.assignment.title}” takes no points: set *Grade* to *Point* in its settings."
            )
        if self._known["markingworkflow"] and self._state not in STATES:
            states = f"one of {', '.join(STATES)} (students see what is “released”)"
            raise UserError(
                f"The assignment has a marking workflow: say with --state what the grades are, {states}."
            )
        if self._state and not self._known["markingworkflow"]:
            raise UserError("The assignment has no marking workflow: leave --state out.")

    def people(self) -> tuple[list[Person], list[str]]:
        """The people who may hand in; with blind marking, by the assignment's numbers. A group's attempt counts for each member."""
        listed = self._call(
            "mod_assign_list_participants", assignid=self._id, groupid=0, filter="", skip=0, limit=0
        )
        active = self._enrolled("onlyactive", 1)
        graders = self._enrolled("withcapability", "mod/assign:grade")
        latest = {(one["userid"], one["groupid"]): one for one in self._rows("submissions")}
        people, drafts, reopened = list[Person](), list[str](), list[str]()
        for one in listed:
            user, name = one["id"], one["fullname"]
            if user not in active or user in graders:
                continue
            words = (one.get("username"), one.get("email"), one.get("idnumber"))
            if one.get("recordid", -1) > 0:
                words = (f"participant_{one['recordid']}", None, None)
            place = (0, one.get("groupid", 0)) if self._known["teamsubmission"] else (user, 0)
            newest, attempt = latest.get(place, {"status": "none"}), None
            if newest["status"] == "submitted":
                attempt = _attempt(newest)
            elif newest.get("attemptnumber", 0) > 0 and (attempt := self._earlier(user)) is not None:
                reopened.append(name)
            drafts += [name] if newest["status"] == "draft" else []
            people.append(Person(user, name, tuple(filter(None, words)), attempt))
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

    def due_dates(self, people: Sequence[Person], track: Track) -> Mapping[int, int]:
        """User -> the later of override and extension; 0 if the assignment is never due."""
        longer = {one["userid"]: one["extensionduedate"] for one in self._rows("user_flags")}

        def due(user: int) -> int:
            asked = {"assignid": self._id, "userid": user, "embeduser": False}
            one = self._call("mod_assign_get_participant", **asked)
            return max(one["duedate"], longer.get(user) or 0) if one["duedate"] else 0

        return _of_each(due, [person.user for person in people], track, "due dates")

    def read(self, file: File) -> bytes:
        """The bytes of a file. Only addresses on this site are accepted, so that the token goes nowhere else."""
        _, found, path = file.address.partition("/pluginfile.php/")
        if not found:
            raise Refused(f"Moodle gives a file an address on another site: {file.address}")
        fields = {"token": self._token.get_secret_value()}
        content = self._post(f"/webservice/pluginfile.php/{quote(path, safe=SAFE)}", fields)
        if content.startswith(b'{"error"'):
            self._checked(content, "to give a file")
        return content

    def entries(self, attempts: Mapping[int, int], track: Track) -> dict[int, Entry]:
        """User -> entry in Moodle: grade, comment, feedback files, and whether the gradebook overrides it."""
        grades = {one["userid"]: one for one in self._rows("grades")}
        states = {one["userid"]: one["workflowstate"] for one in self._rows("user_flags")}

        def entry(user: int) -> Entry:
            asked = {"assignid": self._id, "userid": user, "moodlewssettingraw": True}
            status = self._call("mod_assign_get_submission_status", **asked)
            report = self._call("gradereport_user_get_grade_items", courseid=self._course, userid=user)
            items = [one for row in report["usergrades"] for one in row["gradeitems"]]
            item: dict[str, Any] = next((one for one in items if one.get("cmid") == self._known["cmid"]), {})
            how = (
                "overridden"
                if item.get("gradeisoverridden")
                else "locked"
                if item.get("gradeislocked")
                else ""
            )
            locked = f"the grade is {how} in the gradebook" if how else ""
            grade, plugins = _graded(attempts[user], status, grades.get(user))
            is_settled = not self._state or states.get(user) == self._state
            if grade is None:
                return Entry(locked=locked, is_settled=is_settled)
            value = float(grade["grade"]) if grade["grade"] not in (None, "") else -1.0
            fields = [one for each in plugins if each["type"] == "comments" for one in each["editorfields"]]
            # A workflow hides comment and files until the grade is released.
            is_hidden = self._known["markingworkflow"] and "feedback" not in status
            comment = None if is_hidden else "".join(one["text"] for one in fields)
            files, when = _files(plugins), grade["timemodified"]
            return Entry(value if value >= 0 else None, comment, files, when, locked, is_settled)

        return _of_each(entry, list(attempts), track, "what Moodle has")

    def send(self, user: int, attempt: int, new: New, now: Entry) -> None:
        """Enter the grade. Other people's feedback files, which a new page would replace, are sent again with it."""
        plugins: dict[str, Any] = {"assignfeedbackcomments_editor": {"text": new.comment, "format": 1}}
        if new.page is not None:
            draft = self._upload(new.page_name, new.page)
            for other in now.files:
                if (other.folder, other.name) != ("/", new.page_name):
                    self._upload(other.name, self.read(other), draft, other.folder)
            plugins["files_filemanager"] = draft
        self._call(
            "mod_assign_save_grade",
            assignmentid=self._id,
            userid=user,
            grade=new.grade,
            attemptnumber=attempt,
            addattempt=False,
            workflowstate=self._state,
            applytoall=False,  # each member of a group is sent separately, and may have an entry by a person
            plugindata=plugins,
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
        answer = self._call(f"mod_assign_get_{what}", assignmentids=[self._id])
        for one in answer["assignments"]:
            if one["assignmentid"] == self._id:
                found: list[dict[str, Any]] = one[what.replace("_", "")]
                return found
        warnings = [one["message"] for one in answer.get("warnings", ()) if one.get("warningcode") == "1"]
        if warnings:
            raise Refused(f"Moodle refuses to show the assignment: {warnings[0].rstrip('.')}.")
        return []

    def _enrolled(self, option: str, value: object) -> set[int]:
        options = [{"name": option, "value": value}]
        answer = self._call("core_enrol_get_enrolled_users", courseid=self._course, options=options)
        return {one["id"] for one in answer}

    def _call(self, function: str, **parameters: Any) -> Any:
        """The answer of a web service function. Raises ``Refused`` with Moodle's reason if it refuses."""
        fields = {
            "wstoken": self._token.get_secret_value(),
            "wsfunction": function,
            "moodlewsrestformat": "json",
        }
        for name, value in parameters.items():
            fields.update(_flat(name, value))
        return self._checked(self._post("/webservice/rest/server.php", fields), function)

    def _post(self, place: str, fields: Mapping[str, str], **more: Any) -> bytes:
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
        answer = exchange.parsed(content, self._site, "Moodle")
        if isinstance(answer, dict) and (answer.get("exception") or answer.get("error")):
            reason = str(answer.get("message") or answer.get("error")).rstrip(".")
            reason = reason.replace(self._token.get_secret_value(), "…")
            advice = _ADVICE.get(str(answer.get("errorcode", "")), "")
            raise Refused(f"Moodle refuses {what}: {reason}{f'; {advice}' if advice else ''}.")
        return answer


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the form fields of a value, named for PHP: ``name[0][key]``."""
    if isinstance(value, Mapping | list):
        for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _flat(f"{name}[{key}]", inner)
    else:
        yield name, str(int(value)) if isinstance(value, bool) else str(value)


def _of_each(ask: Callable[[int], Any], users: Sequence[int], track: Track, what: str) -> dict[int, Any]:
    """The answer to a request for each user, several at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            return dict(zip(users, track(pool.map(ask, users), len(users), what), strict=True))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


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


def _graded(attempt: int, status: Mapping[str, Any], newest: Mapping[str, Any] | None) -> tuple[Any, Any]:
    """An attempt's grade (None: none) and feedback. ``newest``: the newest graded attempt's grade."""
    feedback = status.get("feedback", {})
    shown = [(feedback.get("grade"), feedback.get("plugins", ()))]
    shown += [
        (one.get("grade"), one.get("feedbackplugins", ())) for one in status.get("previousattempts", ())
    ]
    found = [
        (one, plugins) for one, plugins in [*shown, (newest, ())] if one and one["attemptnumber"] == attempt
    ]
    return found[0] if found else (None, ())
