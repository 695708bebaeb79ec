"""Canvas's gradebook CSV: its five columns about the student, the assignment, and the points possible.

The format is that of Canvas's own export ("How do I import grades in the Gradebook?", Instructor
guide). Canvas finds a student by ID, SIS User ID or SIS Login ID, and the assignment by the number in
brackets after its name; without a number it offers to create the assignment.
"""

from __future__ import annotations

import re
from pathlib import Path

from autograder.exports.rows import Exported, Grades
from autograder.exports.tables import lms_number, unmatched_note, write_table
from autograder.pages.render import points

WHO = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_POINTS_POSSIBLE = "Points Possible"


def write(grades: Grades, out: Path) -> Exported:
    """Write ``out/canvas-<lab>.csv``."""
    assignment = _assignment(grades)
    possible = [f"    {_POINTS_POSSIBLE}", "", "", "", "", points(grades.max_points)]
    path = out / f"canvas-{grades.spec.name}.csv"
    if not grades.roster.rows:
        rows = [[r.student, lms_number(r.student), "", "", "", points(r.points)] for r in grades.rows]
        for row in rows:
            if not row[1]:  # no number of Canvas's: the folder's name is the best login there is
                row[3] = row[0]
        write_table(path, [*WHO, assignment], [possible, *rows])
        return Exported(
            (path,), ("Canvas finds students more surely when its own gradebook export is given.",)
        )
    matched, lost = grades.roster.match(grades.by_student)
    rows = []
    for number, listed in enumerate(grades.roster.rows):
        if _POINTS_POSSIBLE.casefold() in listed.get("Student", "").casefold() or number not in matched:
            continue
        earned = points(grades.by_student[matched[number]].points)
        rows.append([*(listed.get(column, "") for column in WHO), earned])
    write_table(path, [*WHO, assignment], [possible, *rows])
    notes = unmatched_note(lost, path.name)
    if assignment == grades.spec.name:
        notes += (
            f"The list has no column “{assignment} (number)”: Canvas will offer to make this assignment.",
        )
    return Exported((path,), notes)


def _assignment(grades: Grades) -> str:
    """The assignment's column: Canvas's own, number and all, where the roster has it."""
    names = {grades.spec.name.casefold(), grades.spec.title.casefold()}
    for column in grades.roster.header:
        found = re.fullmatch(r"(.*) \(\d+\)", column)
        if found and found.group(1).strip().casefold() in names:
            return column
    return grades.spec.name
