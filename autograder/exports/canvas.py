"""Canvas's gradebook CSV: its five columns about the student, the assignment, and the points possible.

The format is that of Canvas's own export, as lib/gradebook_importer.rb @00b222d7 reads it: a student is found by ID, SIS
User ID or SIS Login ID (and, failing those, by name), the assignment by the number in brackets after its name, and the
row of points possible sets the assignment's own. A column with “Current Grade” in its name is left alone: ours says
there what a grade still lacks.
"""

from __future__ import annotations

import re
from pathlib import Path

from autograder.course.lists import POINTS_POSSIBLE, CsvList, folded, number_in
from autograder.errors import UserError
from autograder.exports.matching import is_numbered, match
from autograder.exports.rows import Exported, Grades
from autograder.exports.tables import write_table

WHO = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
#: Canvas's importer passes over it.
REMARK = "Current Grade: what it lacks"


def write(grades: Grades, out: Path) -> Exported:
    """Write ``out/canvas-<lab>.csv``."""
    path = out / f"canvas-{grades.spec.name}.csv"
    if grades.roster is None:
        return _without_export(grades, path)
    table = grades.roster
    if not table.is_canvas:
        raise UserError(
            f"{table.path} is no gradebook export of Canvas's, whose first columns are Student and ID; "
            f"its columns are {table.shown_header}."
        )
    assignment = _assignment(grades, table)
    whose = match("canvas", table, grades.by_student, grades.people)
    most = _possible(table, assignment)
    rows = [
        [*_who(table, row), grades.number(student.points, most), student.remark]
        for position, row in enumerate(table.rows)
        if position in whose.students
        for student in [grades.by_student[whose.students[position]]]
    ]
    header = [*WHO, assignment or grades.spec.name, REMARK]
    write_table(path, header, [_possible_row(grades, most), *rows], table.separator)
    notes = [*table.notes, *whose.notes(path.name), *grades.scaled_note(most, "Canvas")]
    if assignment is None:
        notes.append(
            f"The list has no column “{grades.spec.name} (number)”: Canvas will offer to make this assignment."
        )
    return Exported((path,), tuple(notes))


def _without_export(grades: Grades, path: Path) -> Exported:
    """Everybody by the class list's ids, or by a folder's name as the login; never by a number of unknown origin."""
    rows, lost = [], []
    whose = grades.people.of_folders(row.student for row in grades.rows)
    for row in grades.rows:
        person = whose.get(row.student)
        if person is None and (grades.people or is_numbered(row.student)):
            lost.append(row.student)
            continue
        who = [row.student, "", "", row.student, ""]
        if person is not None:
            login = person.username or (
                person.student if not person.canvas_id and not person.id_number else ""
            )
            who = [person.name or person.student, person.canvas_id, person.id_number, login, person.section]
        rows.append([*who, grades.number(row.points), row.remark])
    if lost and not grades.people:
        raise UserError(
            f"Nobody can say which student of Canvas's “{lost[0]}” is: give Canvas's own gradebook export with --roster, "
            "or a class list in course.toml."
        )
    write_table(path, [*WHO, grades.spec.name, REMARK], [_possible_row(grades, None), *rows])
    notes = [f"Not on the class list, and so not in {path.name}: {', '.join(lost[:5])}."] if lost else []
    if not grades.people:
        notes.append(
            "The folders' names were taken for login names: Canvas's own export as --roster is surer."
        )
    return Exported((path,), tuple(notes))


def _possible_row(grades: Grades, most: float | None) -> list[str]:
    possible = grades.number(grades.max_points, most)
    return ["    Points Possible", "", "", "", "", possible, "(read only)"]


def _who(table: CsvList, row: tuple[str, ...]) -> list[str]:
    """A row's own cells about the student."""
    columns = {folded(name): position for position, name in reversed(list(enumerate(table.header)))}
    return [row[columns[folded(name)]] if folded(name) in columns else "" for name in WHO]


def _assignment(grades: Grades, table: CsvList) -> str | None:
    """The assignment's column: Canvas's own, number and all, where the list has it."""
    names = {folded(grades.spec.name), folded(grades.spec.title)}
    for column in table.header:
        numbered = re.fullmatch(r"(.*) \(\d+\)", column)
        if numbered and folded(numbered.group(1)) in names:
            return column
    return None


def _possible(table: CsvList, assignment: str | None) -> float | None:
    """The points that Canvas has for the assignment (None: it does not say)."""
    if assignment is None:
        return None
    column = table.header.index(assignment)
    for row in table.rows:
        if POINTS_POSSIBLE in folded(row[0]):
            most = number_in(row[column])
            return most if most else None
    return None
