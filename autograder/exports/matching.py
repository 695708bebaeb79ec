"""Finds each student's row in a learning system's list by ids. A number counts only if the name agrees.

The number in a folder's name is Moodle's participant number, which only this assignment's worksheet has, or Canvas's user
number, which every Canvas list has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection

from autograder.course.class_list import ClassList, Person
from autograder.course.lists import (
    CsvList,
    folded,
    number_of_participant,
    same_name,
    same_participant,
    sentences_about,
    summarize_names,
)
from autograder.errors import UserError

#: Kind of list -> its column of numbers.
_NUMBER = {"canvas": "canvas's ID", "moodle-worksheet": "participant", "moodle": ""}
#: Collected folders are named ``name_number``.
NUMBERED = re.compile(r"^(.+)_(\d+)$")


def match(
    system: str, table: CsvList, students: Collection[str], people: ClassList, where: str, notes: list[str]
) -> dict[int, str]:
    """Match ``students`` with the rows of a list from Canvas (``canvas``) or Moodle (``moodle``, ``moodle-worksheet``).

    Returns the students by the position of their row. Adds sentences about the others, who are not in the file ``where``.
    Raises ``UserError``, so that nothing is written, if names contradict numbers for at least half of the students found, if
    more students share a row than have their own, or if nobody is on the list.
    """
    rows, whose = _Rows(system, table), people.of_folders(students)
    claims, contradictions = defaultdict[int, list[str]](list), list[tuple[int, str]]()
    lost, renamed, with_new_name = list[str](), list[str](), list[str]()
    for student in students:
        person = people.of_folder(student)
        if person is not None and student not in whose:
            row, is_certain = None, False  # its login or number belongs to somebody else
        else:
            row, is_certain = rows.of(student, person)
        if row is None:
            lost.append(student)
            continue
        if is_certain:
            claims[row].append(student)
        if not is_certain or not rows.agrees(row, student, person):
            contradictions.append((row, student))
            (with_new_name if is_certain else renamed).append(student)
    found = {row: claiming[0] for row, claiming in claims.items() if len(claiming) == 1}
    shared = {row: claiming for row, claiming in claims.items() if len(claiming) > 1}
    doubled = [student for claiming in shared.values() for student in claiming]
    if len(doubled) > len(found):
        row, (one, other, *_) = next(iter(shared.items()))
        raise UserError(f"“{one}” and “{other}” are both row {row + 2} of {table.path}: nothing was written.")
    if contradictions and len(contradictions) >= len(found) - len(with_new_name):
        row, student = contradictions[0]
        raise UserError(
            f"Row {row + 2} of {table.path} is “{rows.names[row] or 'nameless'}”, but its number or address belongs to the "
            f"submission of “{student}”: the list belongs to another assignment or course. Nothing was written."
        )
    if students and not found:
        first = ", ".join(f"“{cell[:40]}”" for row in table.rows[:1] for cell in row[:5]) or "not there"
        raise UserError(
            f"None of the {len(students)} students is on the list {table.path}: looked for {summarize_names([*students][:3])} in its "
            f"columns {table.shown_header}, whose first row is {first}. Nothing was written."
        )
    without = [
        rows.names[position] or next(filter(str.strip, row), "")
        for position, row in enumerate(table.rows)
        if position not in found and table.is_person(row)
    ]
    problems = {
        f"Not found on the list, and so not in {where}": lost,
        f"Name does not match the number on the list, and so not in {where}": renamed,
        "Name does not match ID or e-mail, by which they were found": with_new_name,
        f"Several students match one row of the list, and so not in {where}": doubled,
        "On the list, but without a result here": without,
    }
    notes += sentences_about(problems)
    return found


class _Rows:
    """The rows of a list by number and by each other id."""

    def __init__(self, system: str, table: CsvList):
        self.system, self.table = system, table
        self.names = [table.name(row) for row in table.rows]
        self.by_key, self.by_number = defaultdict[str, set[int]](set), dict[str, int]()
        number = _NUMBER[system]
        for position, row in enumerate(table.rows):
            student = "" if table.is_canvas else folded(table.value(row, "student"))  # there it is a name
            for word in filter(None, {student, *table.ids(row)}):
                self.by_key[word].add(position)
            value = table.value(row, number) if number else ""
            value = number_of_participant(value) if number == "participant" else value
            if value and self.by_number.setdefault(value, position) != position:
                raise UserError(f"The list {table.path} has two rows for number {value}: export it again.")

    def of(self, student: str, person: Person | None) -> tuple[int | None, bool]:
        """The student's row by ids, never by name alone, and whether it is theirs: a number needs an agreeing name."""
        keys = {folded(student)} | (person.keys if person is not None else set())
        rows = set().union(*(self.by_key.get(key, ()) for key in keys))
        if len(rows) > 1:
            raise UserError(f"“{student}” may be {len(rows)} rows of {self.table.path}: nothing was written.")
        numbered, of_canvas = NUMBERED.match(student), person is not None and self.system == "canvas"
        number = (person.canvas_id if person is not None and of_canvas else "") or (
            numbered[2] if numbered else ""
        )
        by_number = self.by_number.get(number)
        if not rows:
            return by_number, by_number is not None and self.agrees(by_number, student, person)
        if of_canvas and by_number is not None and by_number not in rows:
            return by_number, False  # the login belongs to another person
        return min(rows), True

    def agrees(self, row: int, student: str, person: Person | None) -> bool:
        """Whether the row's name may be this student's name on the class list or, without one, in the folder's name."""
        numbered = NUMBERED.match(student)
        name = person.name if person is not None else numbered[1] if numbered else ""
        if self.system == "moodle-worksheet" and person is None and name:
            return same_participant(self.names[row], name)
        return not name or not self.names[row] or same_name(name, self.names[row])
