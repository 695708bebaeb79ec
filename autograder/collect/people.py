"""Finds the students of a download, and when each handed in.

A group's files belong to each member. The class list gives the folders' names, and the teacher's list the times, never a
file's own time: the files of a bulk download have the time of the download (Canvas: rubyzip's default in
lib/content_zipper.rb @05e9653c; Moodle: ZipStream's now), and the files of a clone have the time of cloning.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from autograder.collect.entries import first_of, shortened
from autograder.collect.names import Owned
from autograder.course.class_list import ClassList, Person
from autograder.course.lists import (
    IDS,
    CsvList,
    folded,
    number_of_participant,
    read_list,
    same_name,
    same_participant,
    sentences_about,
    summarize_names,
)
from autograder.course.policy_file import settings
from autograder.course.worksheet import is_same_group, is_unsubmitted, own_due, utc_time
from autograder.errors import UserError
from autograder.files import folder_name

#: Kind of download -> the column with the number that also occurs in its files' names.
_NUMBER = {"moodle": "participant", "canvas": "canvas id"}
#: Cells that mean that nothing was handed in.
_NEVER = frozenset({"", "-", "null", "none"})


@dataclass(frozen=True)
class Row:
    """One row of the list: the student's names and ids, and the time of submission (None: nothing handed in)."""

    words: frozenset[str]
    #: Column ``student``: the folder's name in a hand-made list; in a system's list a name, which students may change.
    student: str
    #: Canvas's number of the user, or Moodle's of the participant, if the download is of that kind.
    number: str
    name: str
    when: datetime | None
    #: Only from Moodle's worksheet: whether it is a draft or reopened attempt; the group; the student's due date (UTC).
    is_unsubmitted: bool = False
    team: str = ""
    due: datetime | None = None

    @property
    def who(self) -> str:
        """The row's name in sentences."""
        words = (self.student, self.name, *sorted(self.words), self.number)
        return next(filter(None, words), "a row without a name")


@dataclass(frozen=True)
class Times:
    """A list of times for a download of this kind; empty when the teacher gave none."""

    kind: str = "plain"
    path: Path | None = None
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()

    def is_anothers(self, row: Row, one: Owned) -> bool:
        """Whether the row has the number of a file's owner but another name."""
        if not one.number or row.number != one.number:
            return False
        if self.kind == "moodle":
            return not same_participant(row.name, one.name)
        return bool(row.name and one.name) and not same_name(row.name, one.name)

    def worksheet_row(self, one: Owned) -> Row | None:
        """The row of Moodle's worksheet with the number of a file's owner, if the names agree."""
        mine = (row for row in self.rows if self.kind == "moodle" and one.number and row.number == one.number)
        return next((row for row in mine if not self.is_anothers(row, one)), None)

    def rows_of(self, one: Owned, person: Person | None, called: Iterable[str]) -> list[Row]:
        """The student's rows, by the most reliable column: the system's number, else ids, else the column ``student``.

        ``person`` is the student on the class list, if certain; ``called`` are the names of the folder and in the download.
        """
        if one.number and any(row.number for row in self.rows):
            return [row for row in self.rows if row.number == one.number]
        keys = person.keys if person else set[str]()
        ids = keys | set(map(folded, called))
        by_words = self.kind in _NUMBER and any(row.words for row in self.rows)

        def is_theirs(row: Row) -> bool:
            by_student = row.student in called or folded(row.student) in keys
            return bool(row.words & ids or (row.student and by_student and not by_words))

        return list(filter(is_theirs, self.rows))


def read_times(path: Path, kind: str) -> Times:
    """Read a list of times for a download of this kind. Times without a zone are in the course's.

    Raises ``UserError`` for a list without times or people, for several assignments, and for an ambiguous time.
    """
    table, zone = read_list(path), settings().timezone
    table.require_column("submitted", "when each student handed in")
    if all(table.column(role) is None for role in ("student", *IDS, *_NUMBER.values())):
        raise UserError(
            f"The list {path} has no column that says whose time it is, such as “student”, “user_id” or “Identifier”; "
            f"its columns are {table.shown_header}."
        )
    for assignments in table.values_of("assignment"):
        if len(assignments) > 1:
            raise UserError(
                f"The list {path} has the times of {len(assignments)} assignments, {summarize_names(assignments)}: give that of this lab alone."
            )
    rows, without_zone = [], 0
    for number, row in enumerate(table.rows, start=2):
        text, time = table.value(row, "submitted"), None
        try:
            if folded(text) not in _NEVER:
                time, has_zone = utc_time(text, zone)
                without_zone += not has_zone
            rows.append(_row(table, row, time, zone, kind))
        except ValueError as error:
            raise UserError(
                f"Row {number} of {path}: “{str(error)[:60]}” is no time that can be read without guessing; "
                "write it like 2026-03-02 10:00."
            ) from None
    notes = list(table.notes)
    if without_zone:
        notes.append(
            f"{path.name}: {without_zone} times name no zone and were taken for {zone} (course.toml)."
        )
    return Times(kind, path, tuple(rows), tuple(notes))


def _row(table: CsvList, row: tuple[str, ...], time: datetime | None, zone: str, kind: str) -> Row:
    own = table.value(row, _NUMBER[kind]) if kind in _NUMBER else ""
    own = number_of_participant(own) if kind == "moodle" else own
    plain = Row(table.ids(row), table.value(row, "student"), own, table.name(row), time)
    if kind != "moodle" or not own:
        return plain
    team, due = table.value(row, "groups"), own_due(table, row, zone)
    return replace(plain, is_unsubmitted=is_unsubmitted(table, row), team=team, due=due)


@dataclass
class Download:
    """A whole download: what is known about it, and the sentences about refused files and choices so far."""

    submitted: Path
    lab: str
    kind: str = "plain"
    people: ClassList = field(default_factory=ClassList)
    times: Times = field(default_factory=Times)
    notes: list[str] = field(default_factory=list)

    def folder(self, student: str) -> Path:
        """The folder for a student's notebook."""
        return self.submitted / folder_name(student) / self.lab


@dataclass
class Student:
    """A student of the download: the folder's name, the name in the download, the files, the time ("" if unknown)."""

    name: str
    downloaded: str
    files: Sequence[Owned]
    time: str = ""
    #: The person on the class list, unless another student of the download matches the same one.
    person: Person | None = None
    #: The student's row on Moodle's grading worksheet.
    row: Row | None = None


def students_of(files: Iterable[Owned], job: Download) -> list[Student]:
    """The students of the download, named as on the class list if the match is certain."""
    by_owner: dict[str, list[Owned]] = defaultdict(list)
    for one in files:
        by_owner[one.student].append(one)
    students = [
        Student(downloaded, downloaded, mine, row=job.times.worksheet_row(mine[0]))
        for downloaded, mine in by_owner.items()
    ]
    doubts: list[str] = []
    for student in students:
        student.person = _person(student, job, doubts)
    job.notes += first_of(doubts)
    count = Counter(student.person for student in students)
    for student in students:
        if student.person is not None and count[student.person] > 1:
            job.notes.append(
                f"{student.name} and another folder of the download both seem to be {student.person.student}: kept apart."
            )
            student.person = None
        elif student.person is not None:
            student.name = student.person.student
    unknown = [student.downloaded for student in students if student.row is None]
    if job.people and job.kind == "moodle" and unknown:
        job.notes.append(
            f"No worksheet identifies {len(unknown)} of Moodle's students, so each keeps the download's name: {summarize_names(unknown)}. "
            "Give the grading worksheet with --times."
        )
    return students


def of_members(files: Sequence[Owned], job: Download) -> list[Owned]:
    """The files; a group's files once for each member. Raises ``UserError`` if no list gives a group's members."""
    teams = [row for row in job.times.rows if row.team]
    if job.kind != "moodle" or not (teams or any(not one.number for one in files)):
        return list(files)
    found = []
    for one in files:
        members = [row for row in teams if is_same_group(row.team, one.name)]
        if not members:
            raise UserError(
                f"“{one.name}” is a group, and no list says who is in it: download the assignment's grading worksheet in the "
                "same language and give it with --times. Nothing was collected."
            )
        if len({row.team for row in members}) > 1:
            raise UserError(
                f"Two groups on the worksheet are called like “{one.name}”: rename one. Nothing was collected."
            )
        for row in members:
            number, name = row.number, row.name or "Participant"
            found.append(replace(one, student=f"{name}_{number}", name=name, number=number))
    return found


def _person(student: Student, job: Download, doubts: list[str]) -> Person | None:
    """The student on the class list, by the system's ids; None if that is not certain."""
    if job.kind == "moodle":
        known = job.people.named(student.row.words) if student.row is not None else {}
        if len(known) > 1:
            doubts.append(
                f"{student.name}: the worksheet's address and numbers match {summarize_names(sorted(known))} on the class list; the folder keeps its own name."
            )
        return known.popitem()[1] if len(known) == 1 else None
    if job.kind != "canvas":
        return job.people.find(student.name)
    one, person = student.files[0], job.people.of_canvas(student.files[0].number)
    if person is not None and person.name and one.name and not same_name(person.name, one.name):
        doubts.append(
            f"{student.name}: Canvas's number {one.number} is “{person.name}” on the class list and “{one.name}” in the download: "
            "the folder keeps the download's name until you correct the list."
        )
        return None
    return person


def set_times(students: Sequence[Student], job: Download) -> None:
    """Give the students their times of submission from the teacher's list.

    A student with another name on the list gets no time. If these are at least half, the list is refused.
    """
    listed = job.times
    if listed.path is None:
        return
    contradictions, matched, several = list[tuple[Student, Row]](), set[Row](), list[str]()
    for student in students:
        one = student.files[0]
        rows = listed.rows_of(one, student.person, {student.name, student.downloaded})
        matched |= set(rows)
        if wrong := [row for row in rows if listed.is_anothers(row, one)]:
            contradictions.append((student, wrong[0]))
        elif found := {row.when for row in rows if row.when is not None}:
            student.time = f"{max(found):%Y-%m-%d %H:%M:%S} UTC"
            several += [student.name] if len(found) > 1 else []
    if not matched:
        raise UserError(
            f"{listed.path} has no time for anybody in the download: it names {_names_once(row.who for row in listed.rows)}, the "
            f"download {_names_once(student.name for student in students)}. Nothing was collected."
        )
    if contradictions and len(contradictions) >= sum(bool(student.time) for student in students):
        student, row = contradictions[0]
        raise UserError(
            f"{listed.path} calls number {student.files[0].number} “{row.name}”, the download “{student.files[0].name}”: the list "
            "belongs to another assignment or course, or has no names. Nothing was collected."
        )
    file, apart = listed.path.name, [student.name for student, _ in contradictions]
    sentences = {
        f"Name in {file} does not match the download's, and so without a time": apart,
        f"In {file} with several times, of which the last counts": several,
    }
    job.notes += sentences_about(sentences)
    if nobodys := [row.who for row in listed.rows if row not in matched and row.when is not None]:
        job.notes.append(f"In {file}, but not in the download: {_names_once(nobodys)}.")


def _names_once(names: Iterable[str]) -> str:
    """The distinct names, shortened for sentences."""
    return summarize_names(list(dict.fromkeys(map(shortened, names)))) or "nobody"
