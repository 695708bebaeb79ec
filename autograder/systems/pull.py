"""Fetches notebooks, times and extensions from a learning system, in the layout that ``autograder grade`` reads."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.collect import collect_folder
from autograder.collect.names import may_contain_notebook
from autograder.course.lists import sentences_about, summarize_names
from autograder.course.policy_file import class_list, settings, take_over_extensions
from autograder.files import folder_name, letters_of, require_apart, timestamp_in
from autograder.grading.submissions import MAX_BYTES
from autograder.systems.exchange import Attempt, Pulled, Record, Refused, System

#: Smaller differences between due dates are ignored: some systems end a day at 23:59:00.
A_MINUTE = timedelta(minutes=1)


class Pull:
    """A pull of one assignment: the ``students``, who ``handed_in``, whose notebook is new (``fetched``), and sentences (``notes``)."""

    def __init__(self, system: System, submitted: Path, lab: str) -> None:
        self._system, self._submitted, self._lab = system, submitted, lab
        self._record = Record.read(submitted, lab, system)
        self._people, self.notes = system.require_people()
        self._names = self._names_of_class()
        self.students = sorted(self._names.values())
        self.handed_in, self.fetched = list[str](), list[str]()
        self.notes += class_list().notes_about(
            self._names.values(), f"On the class list, but not a student in {system.name}"
        )
        require_apart(submitted, self.students)

    def run(self) -> None:
        """Write ``submitted/<student>/<lab>/`` for everybody in the class, with their newest submitted attempt and its time.

        Unchanged notebooks are not fetched again, so an interrupted pull resumes. Extensions are added to ``extensions.csv``.
        Raises ``UserError``; notebooks fetched before the error are kept and recorded.
        """
        try:
            self._fetch_all()
        finally:
            self._record.save()
        left = [one.student for user, one in self._record.students.items() if user not in self._names]
        self.notes += sentences_about(
            {f"No active students of {self._system.name} any more, but still here": left}
        )
        self._extend()

    def _names_of_class(self) -> dict[int, str]:
        """User -> name: as before, else as on the class list, else the system's most reliable id. The folder is ``folder_name`` of it."""
        listed, names, system = class_list(), dict[int, str](), self._system.name
        for person in self._people:
            found = {one.student for own_id in person.ids if (one := listed.find(own_id)) is not None}
            own = person.ids[0] if person.ids else f"{system.lower()}-{person.user}"
            before = self._record.students.get(person.user)
            names[person.user] = before.student if before else found.pop() if len(found) == 1 else own
        alike = {user: letters_of(folder_name(name)) for user, name in names.items()}
        same = Counter(alike.values())
        twice = {user: name for user, name in names.items() if same[alike[user]] > 1}
        if twice:
            shown = summarize_names(list(twice.values()))
            self.notes.append(
                f"Several people of {system} would have one folder: {shown}; each has a number."
            )
        return {**names, **{user: f"{name}_{user}" for user, name in twice.items()}}

    def _fetch_all(self) -> None:
        without = list[str]()
        for person in self._system.track(self._people, "notebooks"):
            student, attempt = self._names[person.user], person.attempt
            folder = self._submitted / folder_name(student) / self._lab
            folder.mkdir(parents=True, exist_ok=True)
            known = self._record.students.setdefault(person.user, Pulled(student=student))
            if attempt is None:
                if known.attempt >= 0:
                    self.notes.append(
                        f"{student} has nothing handed in there any more: what was fetched before stays."
                    )
                continue
            files = [(one.name, one.size, one.modified) for one in attempt.files]
            found = Pulled(student=student, attempt=attempt.number, when=attempt.when, files=files)
            is_here = known == found and (folder / f"{self._lab}.ipynb").is_file()
            if not is_here and self._fetch(attempt, student, folder):
                self.fetched.append(student)
                known = self._record.students[person.user] = found
            (self.handed_in if known.attempt >= 0 else without).append(student)
        beginning = "Handed in, but nothing that is graded here"
        self.notes += [f"{said} No grade will be sent." for said in sentences_about({beginning: without})]

    def _fetch(self, attempt: Attempt, student: str, folder: Path) -> bool:
        """Fetch one student's notebook. Returns whether it is in the folder now."""
        time = f"{datetime.fromtimestamp(attempt.when, UTC):%Y-%m-%d %H:%M:%S} UTC"
        with tempfile.TemporaryDirectory(prefix="autograder-") as scratch:
            for file in attempt.files:
                if not may_contain_notebook(file.name):
                    continue
                if file.size > MAX_BYTES:
                    self.notes.append(
                        f"{student}: {file.name} is larger than {MAX_BYTES >> 20} MB and was not fetched."
                    )
                    continue
                folders = filter(None, file.folder.split("/"))
                path = Path(scratch, *map(folder_name, (*folders, file.name)))
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    path.write_bytes(self._system.read(file))
                except Refused as error:
                    self.notes.append(f"{student}: {error}")
                    return False
                os.utime(path, (file.modified, file.modified))
            if any(Path(scratch).iterdir()):
                done = collect_folder(
                    Path(scratch), self._submitted, self._lab, student=student, submitted_at=time
                )
                self.notes += done.notes
                if done.students:
                    return timestamp_in(folder) == time
            elif not attempt.has_text:
                self.notes.append(f"{student} handed in no notebook of {self._lab}.")
        if attempt.has_text:
            self.notes.append(f"{student} typed a text into {self._system.name}: read it there.")
        return False

    def _extend(self) -> None:
        """Add extensions to ``extensions.csv``. The longer of the course's and the system's due dates counts."""
        name, theirs, ours = self._system.name, self._system.due, settings().due(self._lab)
        if theirs and (ours is None or abs(_utc(theirs) - ours) > A_MINUTE):
            there = _local(_utc(theirs))
            none = f" has none, so nobody is late: write `due = {there}` under [labs.{self._lab[:2]}]"
            mine = f"'s {_local(ours)}, which counts" if ours else none
            self.notes.append(f"{name}'s due date is {there}, and course.toml{mine}.")
        due = ours or (_utc(theirs) if theirs else None)
        if due is None:
            return
        dates = self._system.due_dates(self._people)
        own_dates = [(folder_name(self._names[user]), own) for user, own in dates.items()]
        longer = [(student, _utc(own) if own > theirs else due) for student, own in own_dates if own]
        self.notes += take_over_extensions(self._lab, due, longer, name)
        self.notes += sentences_about({
            f"Never due in {name}, so give them an extension in course.toml":
                [student for student, own in own_dates if not own and theirs],
            f"Due sooner than the others in {name}, which does not count here":
                [student for student, own in own_dates if 0 < own < theirs],
        })  # fmt: skip


def _utc(seconds: int) -> datetime:
    """The time in UTC without a zone, as in the policy."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _local(time: datetime) -> str:
    return f"{settings().local(time):%Y-%m-%dT%H:%M:%S}"
