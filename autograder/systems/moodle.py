"""Reads and grades an assignment in Moodle through its web services (mod/assign/externallib.php of Moodle 4.5).

This module guards against silent effects of the service. A grade above the maximum, or one that the gradebook overrides, is
dropped while comment and files are kept. A wrong attempt number makes a new attempt. Staff and suspended people are graded
like others. With a marking workflow nobody sees a grade without a state. A draft area replaces all feedback files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from autograder.course.lists import summarize_names
from autograder.errors import UserError
from autograder.systems.exchange import (
    Assignment,
    Attempt,
    Entry,
    File,
    New,
    Person,
    Refused,
    System,
    Track,
    chosen,
)
from autograder.systems.moodle_client import MoodleClient

#: The states of an assignment's marking workflow.
STATES = ("notmarked", "inmarking", "readyforreview", "inreview", "readyforrelease", "released")

#: The most simultaneous requests to a site.
AT_ONCE = 4


class Moodle(System):
    """One assignment. ``course`` and ``assignment`` are Moodle's numbers or names; ``state`` is the marking workflow's."""

    name = "Moodle"

    def __init__(
        self, client: MoodleClient, course: int | str, assignment: int | str, state: str = ""
    ) -> None:
        self._client = client
        self._course = course if isinstance(course, int) else _course(client, course)
        self._known = _assignment(client, self._course, assignment)
        self._id = int(self._known["id"])
        self.key = f"{client.site} assignment {self._known['cmid']}"
        self._state = state
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

    def require_gradable(self) -> None:
        """Raise ``UserError`` if the assignment takes no points, or if its workflow needs a state."""
        states = f"one of {', '.join(STATES)} (students see what is “released”)"
        if self.assignment.most <= 0:
            raise UserError(
                f"Moodle's assignment “{self.assignment.title}” takes no points: set *Grade* to *Point* in its settings."
            )
        if self._known["markingworkflow"] and self._state not in STATES:
            raise UserError(
                f"The assignment has a marking workflow: say with --state what the grades are, {states}."
            )
        if self._state and not self._known["markingworkflow"]:
            raise UserError("The assignment has no marking workflow: leave --state out.")

    def people(self) -> tuple[list[Person], list[str]]:
        """The people who may hand in; with blind marking, by the assignment's numbers. A group's attempt counts for each member."""
        listed = self._client.call(
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
        notes = []
        if drafts:
            notes.append(f"Drafts, which nobody handed in, were not fetched: {summarize_names(drafts)}.")
        if reopened:
            notes.append(
                f"A new attempt is open, so the one before it was taken: {summarize_names(reopened)}."
            )
        return people, notes

    def due_dates(self, people: Sequence[Person], track: Track) -> Mapping[int, int]:
        """User -> the later of override and extension; 0 if the assignment is never due."""
        longer = {one["userid"]: one["extensionduedate"] for one in self._rows("user_flags")}

        def due(user: int) -> int:
            asked = {"assignid": self._id, "userid": user, "embeduser": False}
            one = self._client.call("mod_assign_get_participant", **asked)
            return max(one["duedate"], longer.get(user) or 0) if one["duedate"] else 0

        return _of_each(due, [person.user for person in people], track, "due dates")

    def read(self, file: File) -> bytes:
        """The bytes of a file."""
        return self._client.read(file.address)

    def entries(self, attempts: Mapping[int, int], track: Track) -> dict[int, Entry]:
        """User -> entry in Moodle: grade, comment, feedback files, and whether the gradebook overrides it."""
        grades = {one["userid"]: one for one in self._rows("grades")}
        states = {one["userid"]: one["workflowstate"] for one in self._rows("user_flags")}

        def entry(user: int) -> Entry:
            status = self._client.call(
                "mod_assign_get_submission_status", assignid=self._id, userid=user, moodlewssettingraw=True
            )
            report = self._client.call("gradereport_user_get_grade_items", courseid=self._course, userid=user)
            items = [one for row in report["usergrades"] for one in row["gradeitems"]]
            item: dict[str, Any] = next((one for one in items if one.get("cmid") == self._known["cmid"]), {})
            hidden = self._known["markingworkflow"] and "feedback" not in status
            found = _entry(attempts[user], status, grades.get(user), item, hidden)
            return replace(found, is_settled=not self._state or states.get(user) == self._state)

        return _of_each(entry, list(attempts), track, "what Moodle has")

    def send(self, user: int, attempt: int, new: New, now: Entry) -> None:
        """Enter the grade. Other people's feedback files, which a new page would replace, are sent again with it."""
        plugins: dict[str, Any] = {"assignfeedbackcomments_editor": {"text": new.comment, "format": 1}}
        if new.page is not None:
            draft = self._client.upload(new.page_name, new.page)
            for other in now.files:
                if (other.folder, other.name) != ("/", new.page_name):
                    self._client.upload(other.name, self.read(other), draft, other.folder)
            plugins["files_filemanager"] = draft
        self._client.call(
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

    def _rows(self, what: str) -> list[dict[str, Any]]:
        """This assignment's submissions, grades or flags. If the token may not see it, Moodle's warning is raised as ``Refused``."""
        answer = self._client.call(f"mod_assign_get_{what}", assignmentids=[self._id])
        for one in answer["assignments"]:
            if one["assignmentid"] == self._id:
                found: list[dict[str, Any]] = one[what.replace("_", "")]
                return found
        warnings = [one["message"] for one in answer.get("warnings", ()) if one.get("warningcode") == "1"]
        if warnings:
            raise Refused(f"Moodle refuses to show the assignment: {warnings[0].rstrip('.')}.")
        return []

    def _enrolled(self, option: str, value: object) -> set[int]:
        answer = self._client.call(
            "core_enrol_get_enrolled_users", courseid=self._course, options=[{"name": option, "value": value}]
        )
        return {one["id"] for one in answer}

    def _earlier(self, user: int) -> Attempt | None:
        """The newest submitted attempt before the open one."""
        status = self._client.call("mod_assign_get_submission_status", assignid=self._id, userid=user)
        attempts = [one["submission"] for one in status.get("previousattempts", ()) if "submission" in one]
        done = [one for one in attempts if one["status"] == "submitted"]
        return _attempt(max(done, key=lambda one: one["attemptnumber"]), is_open=True) if done else None


def _of_each(ask: Callable[[int], Any], users: Sequence[int], track: Track, what: str) -> dict[int, Any]:
    """The answer to a request for each user, several at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            return dict(zip(users, track(pool.map(ask, users), len(users), what), strict=True))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _course(client: MoodleClient, name: str) -> int:
    answer = client.call("core_course_get_courses_by_field", field="shortname", value=name)
    if not answer["courses"]:
        raise UserError(
            f"Moodle has no course with the short name “{name}” for this token: write it, or the number in the address of the "
            "course's page, into course.toml."
        )
    return int(answer["courses"][0]["id"])


def _assignment(client: MoodleClient, course: int, wanted: int | str) -> dict[str, Any]:
    answer = client.call("mod_assign_get_assignments", courseids=[course])
    there: dict[int, dict[str, Any]] = {
        one["cmid"]: one for course in answer["courses"] for one in course["assignments"]
    }
    return there[
        chosen("Moodle", "assignment", wanted, {number: one["name"] for number, one in there.items()})
    ]


def _attempt(submission: Mapping[str, Any], *, is_open: bool = False) -> Attempt:
    plugins = submission.get("plugins", ())
    texts = [one["text"] for plugin in plugins for one in plugin.get("editorfields", ())]
    number, when = submission["attemptnumber"], submission["timemodified"]
    return Attempt(number, when, _files(plugins, "file"), any(texts), is_open)


def _files(plugins: Iterable[Mapping[str, Any]], kind: str) -> tuple[File, ...]:
    return tuple(
        File(one["filename"], one["filesize"], one["timemodified"], one["fileurl"], one["filepath"])
        for plugin in plugins
        if plugin["type"] == kind
        for area in plugin.get("fileareas", ())
        for one in area.get("files", ())
    )


def _entry(
    attempt: int,
    status: Mapping[str, Any],
    newest: Mapping[str, Any] | None,
    item: Mapping[str, Any],
    hidden: bool,
) -> Entry:
    """One attempt's entry. ``newest``: the newest graded attempt's grade. A workflow hides comment and files until release."""
    feedback = status.get("feedback", {})
    shown = [(feedback.get("grade"), feedback.get("plugins", ()))]
    shown += [
        (one.get("grade"), one.get("feedbackplugins", ())) for one in status.get("previousattempts", ())
    ]
    grade, plugins = next(
        ((one, has) for one, has in shown if one and one["attemptnumber"] == attempt), (newest, ())
    )
    how = "overridden" if item.get("gradeisoverridden") else "locked" if item.get("gradeislocked") else ""
    locked = f"the grade is {how} in the gradebook" if how else ""
    if grade is None or grade["attemptnumber"] != attempt:
        return Entry(locked=locked)
    value = float(grade["grade"]) if grade["grade"] not in (None, "") else -1.0
    texts = [
        one["text"] for plugin in plugins if plugin["type"] == "comments" for one in plugin["editorfields"]
    ]
    return Entry(
        value if value >= 0 else None,
        None if hidden else "".join(texts),
        _files(plugins, "file"),
        grade["timemodified"],
        locked,
    )
