"""Writes Canvas's gradebook CSV: five columns about the student, the assignment, and the points possible.

The format is that of Canvas's own export, as lib/gradebook_importer.rb @00b222d7 reads it. Canvas finds a student by ID, SIS
User ID or SIS Login ID (else by name), and the assignment by the number in brackets after its name. A row whose name
contains “Points Possible” sets the assignment's points. Canvas ignores columns with “Current Grade” in their name; the
export uses one to say what a grade still lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from autograder.course.class_list import ClassList
from autograder.course.lists import CsvList, folded, may_be_thousands, number_in, summarize_names
from autograder.course.safe_cells import about_keys, write_table
from autograder.errors import UserError
from autograder.exports.matching import NUMBERED, match
from autograder.exports.rows import Grades
from autograder.pages.render import points

WHO = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
#: The columns by which Canvas finds people.
_KEYS = (1, 2, 3)
#: Canvas takes any row whose name contains these words for the assignment's points.
_RESERVED = "Points Possible"
#: A column that Canvas's importer skips.
REMARK = "Current Grade: what it lacks"


def write(grades: Grades, out: Path) -> list[Path]:
    """Write ``out/canvas-<lab>.csv``."""
    path = out / f"canvas-{grades.spec.name}.csv"
    table = grades.roster or _of_class_list(grades.people)
    if table is None:
        assignment, possible, rows = None, grades.number(grades.max_points), list(_by_logins(grades))
    else:
        if not table.is_canvas:
            raise UserError(
                f"{table.path} is no gradebook export of Canvas's, whose first columns are Student and ID; "
                f"its columns are {table.shown_header}."
            )
        assignment = _assignment(grades, table)
        found = match("canvas", table, grades.by_student, grades.people, path.name, grades.notes)
        possible, most = _points_possible(grades, table, assignment)
        header, rows = list(map(folded, table.header)), []
        columns = [header.index(folded(name)) if folded(name) in header else None for name in WHO]
        for position in sorted(found):
            listed, student = table.rows[position], grades.by_student[found[position]]
            cells = ["" if column is None else listed[column] for column in columns]
            rows.append([*cells, grades.number(student.points, most), student.remark])
    mistaken = [row[0] for row in rows if _RESERVED in row[0]]
    for row in rows:
        row[0] = row[0].replace(_RESERVED, _RESERVED.capitalize())
    header = [*WHO, assignment or grades.spec.name, REMARK]
    points_row = [f"    {_RESERVED}", "", "", "", "", possible, "(read only)"]
    write_table(path, header, [points_row, *rows], table.separator if table is not None else ",", _KEYS)
    grades.notes += about_keys(rows, _KEYS, "Canvas", path)
    if mistaken:
        grades.notes.append(
            f"Canvas takes a row whose name holds “{_RESERVED}” for its own, so these names have a small p: {summarize_names(mistaken)}."
        )
    return [path]


def _of_class_list(people: ClassList) -> CsvList | None:
    """The class list with Canvas's columns; None without one."""
    rows = []
    for person in people.people:
        is_known = person.username or person.canvas_id or person.id_number
        login = person.username if is_known else person.student
        rows.append(
            (person.name or person.student, person.canvas_id, person.id_number, login, person.section)
        )
    return CsvList(people.path, WHO, tuple(rows)) if people.path is not None else None


def _by_logins(grades: Grades) -> Iterator[list[str]]:
    """Yield rows with the folders' names as logins. Names that end with a number are refused: they may come from Moodle."""
    grades.notes.append(
        "The folders' names were taken for login names: Canvas's own export as --roster is surer."
    )
    for row in grades.rows:
        if NUMBERED.match(row.student):
            raise UserError(
                f"Nobody can say which student of Canvas's “{row.student}” is: give Canvas's own gradebook export with --roster, "
                "or a class list in course.toml."
            )
        yield [row.student, "", "", row.student, "", grades.number(row.points), row.remark]


def _assignment(grades: Grades, table: CsvList) -> str | None:
    """The name, with number, of the assignment's column in Canvas's list; None if there is none."""
    names = {folded(grades.spec.name), folded(grades.spec.title)}
    found = [
        column
        for column in table.header
        if (numbered := re.fullmatch(r"(.*) \(\d+\)", column)) and folded(numbered.group(1)) in names
    ]
    if len(found) > 1:
        raise UserError(
            f"The list {table.path} has two columns for the lab, “{found[0]}” and “{found[1]}”: delete the one that does not count."
        )
    return found[0] if found else None


def _points_possible(grades: Grades, table: CsvList, assignment: str | None) -> tuple[str, float | None]:
    """The cell for the points possible, and the maximum to which grades are scaled (None: not scaled)."""
    if assignment is None:
        grades.notes.append(
            f"The list has no column “{grades.spec.name} (number)”: Canvas will offer to make this assignment."
        )
        return grades.number(grades.max_points), None
    row = table.points_possible
    cell = row[table.header.index(assignment)].strip() if row is not None else ""
    most = None if may_be_thousands(cell) else number_in(cell)
    if most is not None and most > 0:
        grades.notes += grades.scaled_note(most, "Canvas")
        return grades.number(grades.max_points, most), most
    state = f"has “{cell}”" if cell else "does not say what Canvas has"
    grades.notes.append(
        f"The list {state} as the points possible of “{assignment}”, so grades are not scaled: they are of "
        f"{points(grades.max_points)} points, and Canvas keeps its own maximum."
    )
    return "", None  # an empty cell changes nothing in Canvas
