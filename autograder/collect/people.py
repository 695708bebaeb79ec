"""Finds the students of a download. A group's files belong to each member; the class list gives the folders' names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.collect.entries import first_of
from autograder.collect.names import Owned
from autograder.collect.times import Times
from autograder.course.class_list import ClassList, Person
from autograder.course.lists import same_name, summarize_names
from autograder.course.worksheet import is_same_group
from autograder.errors import UserError
from autograder.files import folder_name


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


@dataclass(frozen=True)
class Student:
    """A student of the download: the folder's name, the name in the download, the files."""

    name: str
    downloaded: str
    files: tuple[Owned, ...]
    #: The person on the class list, unless another student of the download matches the same one.
    person: Person | None = None


def students_of(files: Iterable[Owned], job: Download) -> list[Student]:
    """The students of the download, named as on the class list if the match is certain."""
    by_owner: dict[str, list[Owned]] = defaultdict(list)
    for one in files:
        by_owner[one.student].append(one)
    doubts: list[str] = []
    persons = {downloaded: _person(mine[0], job, doubts) for downloaded, mine in by_owner.items()}
    job.notes += first_of(doubts)
    count = Counter(person.student for person in persons.values() if person is not None)
    students = []
    for downloaded, mine in by_owner.items():
        person = persons[downloaded]
        if person is not None and count[person.student] > 1:
            job.notes.append(
                f"{downloaded} and another folder of the download both seem to be {person.student}: kept apart."
            )
            person = None
        name = person.student if person is not None else downloaded
        students.append(Student(name, downloaded, tuple(mine), person))
    unknown = [name for name, mine in by_owner.items() if job.times.worksheet_row(mine[0]) is None]
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


def _person(one: Owned, job: Download, doubts: list[str]) -> Person | None:
    """The file's owner on the class list, by the system's ids; None if that is not certain."""
    if job.kind == "moodle":
        row = job.times.worksheet_row(one)
        known = job.people.named(row.words) if row is not None else {}
        if len(known) > 1:
            doubts.append(
                f"{one.student}: the worksheet's address and numbers match {summarize_names(sorted(known))} on the class list; the folder keeps its own name."
            )
        return known.popitem()[1] if len(known) == 1 else None
    if job.kind != "canvas":
        return job.people.find(one.student)
    person = job.people.of_canvas(one.number)
    if person is not None and person.name and one.name and not same_name(person.name, one.name):
        doubts.append(
            f"{one.student}: Canvas's number {one.number} is “{person.name}” on the class list and “{one.name}” in the download: "
            "the folder keeps the download's name until you correct the list."
        )
        return None
    return person
