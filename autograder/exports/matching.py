"""Finds each student's row in a learning system's list by ids, and trusts a number only where the name agrees.

The number in a folder's name is Moodle's participant, which only this assignment's worksheet knows, or Canvas's user, which
every list of Canvas's has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.course.class_list import ClassList
from autograder.course.lists import (
    AnotherName,
    CsvList,
    folded,
    number_of_participant,
    same_name,
    same_participant,
    sentences_about,
    summarize_names,
)
from autograder.errors import UserError

#: Columns that identify a student on any list.
_KEYS = ("username", "email", "id number", "login", "sis id", "student")
#: Kind of list -> its column of numbers.
_NUMBER = {"canvas": "canvas's ID", "moodle-worksheet": "participant", "moodle": ""}
#: Collected folders are named ``name_number``.
_NUMBERED = re.compile(r"^(.+)_(\d+)$")


@dataclass
class Match:
    """The row of each student, and the students without one."""

    students: dict[int, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    #: Students whose number has another name on the list.
    renamed: list[str] = field(default_factory=list)
    #: Students found by user name, address or ID number whose name differs on the list.
    with_new_name: list[str] = field(default_factory=list)
    #: Students who share a row.
    doubled: list[str] = field(default_factory=list)
    #: Names on the list without a result.
    without: list[str] = field(default_factory=list)

    def notes(self, where: str) -> tuple[str, ...]:
        """Sentences about students without a row, and rows without a result."""
        return tuple(
            sentences_about(
                {
                    f"Not found on the list, and so not in {where}": self.lost,
                    f"Name does not match the number on the list, and so not in {where}": self.renamed,
                    "Name does not match ID or e-mail, by which they were found": self.with_new_name,
                    f"Several students match one row of the list, and so not in {where}": self.doubled,
                    "On the list, but no result here is theirs": self.without,
                }
            )
        )


def is_numbered(student: str) -> bool:
    """Whether a folder's name ends with a system's number."""
    return _NUMBERED.match(student) is not None


def match(system: str, table: CsvList, students: Iterable[str], people: ClassList) -> Match:
    """Match ``students`` with the rows of a list of Canvas's (``canvas``) or Moodle's (``moodle``, ``moodle-worksheet``).

    ``UserError`` when names contradict numbers for at least half of the students found, when more students share a row than
    have one, or when nobody is on the list: then nothing may be written.
    """
    rows = _Rows(system, table)
    result, names = Match(), list(students)
    claims: dict[int, list[str]] = {}
    whose = people.of_folders(names)
    contradiction: AnotherName | None = None
    for student in names:
        if student not in whose and people.of_folder(student) is not None:
            result.lost.append(student)  # somebody else's login, or number
            continue
        try:
            row = rows.of(student, people)
        except AnotherName as error:
            contradiction = contradiction or error
            result.renamed.append(student)
            continue
        if row is None:
            result.lost.append(student)
            continue
        claims.setdefault(row, []).append(student)
        if not rows.agrees(row, student, people):
            contradiction = contradiction or rows.contradiction(student, row, student)
            result.with_new_name.append(student)
    _give_rows(result, claims, table)
    result.without = [
        rows.called(position)
        for position, row in enumerate(table.rows)
        if position not in result.students and table.is_person(row)
    ]
    found = len(result.students) - len(result.with_new_name)
    if contradiction is not None and len(result.renamed) + len(result.with_new_name) >= found:
        raise contradiction
    if names and not result.students:
        raise UserError(
            f"None of the {len(names)} students is on the list {table.path}: looked for {summarize_names(names[:3])} in its columns "
            f"{table.shown_header}, whose first row is {rows.first}. Nothing was written."
        )
    return result


def _give_rows(result: Match, claims: Mapping[int, Sequence[str]], table: CsvList) -> None:
    """Give each row to the student who claims it, and to nobody when several do."""
    result.students = {row: claiming[0] for row, claiming in claims.items() if len(claiming) == 1}
    shared = {row: claiming for row, claiming in claims.items() if len(claiming) > 1}
    result.doubled = [student for claiming in shared.values() for student in claiming]
    if len(result.doubled) > len(result.students):
        row, (one, other, *_) = next(iter(shared.items()))
        raise UserError(f"“{one}” and “{other}” are both row {row + 2} of {table.path}: nothing was written.")


class _Rows:
    """The rows of a list by number and by each other id."""

    def __init__(self, system: str, table: CsvList):
        self.system, self.table = system, table
        self.names = [table.row_name(row) for row in table.rows]
        self.by_key: dict[str, set[int]] = {}
        self.by_number: dict[str, int] = {}
        number = _NUMBER[system]
        for position, row in enumerate(table.rows):
            for role in _KEYS:
                if word := folded("" if table.is_canvas and role == "student" else table.value(row, role)):
                    self.by_key.setdefault(word, set()).add(position)
            value = table.value(row, number) if number else ""
            value = number_of_participant(value) if number == "participant" else value
            if value and value in self.by_number:
                raise UserError(f"The list {table.path} has two rows for number {value}: export it again.")
            if value:
                self.by_number[value] = position

    @property
    def first(self) -> str:
        """The first row, for sentences."""
        row = self.table.rows[0] if self.table.rows else ()
        return ", ".join(f"“{cell[:40]}”" for cell in row[:5]) or "not there"

    def called(self, position: int) -> str:
        """The name of a row's person for sentences, or else the row's first cell."""
        return self.names[position] or next(filter(str.strip, self.table.rows[position]), "")

    def of(self, student: str, people: ClassList) -> int | None:
        """The student's row by ids, never by a name."""
        person = people.of_folder(student)
        numbered = _NUMBERED.match(student)
        keys = {folded(student)} | (person.keys if person is not None else set())
        rows = set().union(*(self.by_key.get(key, set()) for key in keys))
        if len(rows) > 1:
            raise UserError(f"“{student}” may be {len(rows)} rows of {self.table.path}: nothing was written.")
        number = numbered[2] if numbered else ""
        if person is not None and self.system == "canvas":
            number = person.canvas_id or number
            if (
                rows and self.by_number.get(number, min(rows)) not in rows
            ):  # login and Canvas's number disagree
                raise self.contradiction(student, self.by_number[number], number)
        if rows:
            return min(rows)
        row = self.by_number.get(number)
        if row is not None and not self.agrees(row, student, people):
            raise self.contradiction(student, row, number)
        return row

    def _name(self, student: str, people: ClassList) -> str:
        """The student's name on the class list, or else in the folder's name ("" without both)."""
        person, numbered = people.of_folder(student), _NUMBERED.match(student)
        return person.name if person is not None else numbered[1] if numbered else ""

    def agrees(self, row: int, student: str, people: ClassList) -> bool:
        """Whether the row's name may be this student's."""
        name = self._name(student, people)
        if self.system == "moodle-worksheet" and people.of_folder(student) is None and name:
            return same_participant(self.names[row], name)
        return not name or not self.names[row] or same_name(name, self.names[row])

    def contradiction(self, student: str, row: int, number: str) -> AnotherName:
        """The error that a row is another's."""
        return AnotherName(
            f"Row {row + 2} of {self.table.path} is “{self.names[row] or 'nameless'}”, but the submission with its number or "
            f"address, {number or student}, is of “{student}”: the list is another assignment's or another course's, "
            "and nothing was written."
        )
