"""Moodle's two ways in: the grade import (CSV) and an assignment's offline grading worksheet.

The worksheet is Moodle's own file, downloaded with "Download grading worksheet", with Grade and
Feedback comments filled in; Moodle finds a student by Identifier ("Participant 123") and ignores a row
that it changed itself in the meantime (docs.moodle.org, "Using Assignment", offline marking).
"""

from __future__ import annotations

from pathlib import Path

from autograder.exports.rows import Exported, Grades
from autograder.exports.tables import lms_number, unmatched_note, write_table
from autograder.pages.render import points

WORKSHEET = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)
_GRADE, _COMMENTS, _OPEN = "Grade", "Feedback comments", "Grade can be changed"
_WHO = ("Username", "ID number", "Email address")


def write_grades(grades: Grades, out: Path) -> Exported:
    """Write ``out/moodle-<lab>.csv`` for Grades > Import > CSV file; map one of the first columns."""
    path = out / f"moodle-{grades.spec.name}.csv"
    header = [*_WHO, grades.spec.name, f"{grades.spec.name} feedback"]
    matched, lost = grades.roster.match(grades.by_student)
    rows = []
    if grades.roster.rows:
        for number, listed in enumerate(grades.roster.rows):
            if number in matched:
                row = grades.by_student[matched[number]]
                who = [listed.get(column, "") for column in _WHO]
                rows.append([*who, points(row.points), row.summary_html])
        write_table(path, header, rows)
        return Exported((path,), unmatched_note(lost, path.name))
    for row in grades.rows:
        email = row.student if "@" in row.student else ""
        rows.append([row.student, lms_number(row.student), email, points(row.points), row.summary_html])
    write_table(path, header, rows)
    return Exported((path,))


def write_worksheet(grades: Grades, out: Path) -> Exported:
    """Write ``out/moodle-worksheet-<lab>.csv``: Moodle's downloaded worksheet with grades filled in."""
    path = out / f"moodle-worksheet-{grades.spec.name}.csv"
    most = points(grades.max_points)
    if not grades.roster.rows:
        rows, lost = [], []
        for row in grades.rows:
            participant = lms_number(row.student)
            if not participant:
                lost.append(row.student)
                continue
            name = row.student.removesuffix(f"_{participant}")
            cells = [
                f"Participant {participant}",
                name,
                "",
                "Submitted for grading",
                points(row.points),
                most,
            ]
            rows.append([*cells, "Yes", row.result.submitted_at, "-", row.summary_html])
        write_table(path, WORKSHEET, rows)
        return Exported((path,), unmatched_note(lost, path.name))
    header = list(grades.roster.header)
    header += [column for column in (_GRADE, _COMMENTS) if column not in header]
    matched, lost = grades.roster.match(grades.by_student)
    closed: list[str] = []
    rows = []
    for number, listed in enumerate(grades.roster.rows):
        filled = dict(listed)
        if number in matched:
            row = grades.by_student[matched[number]]
            if listed.get(_OPEN, "Yes").strip().casefold() == "no":
                closed.append(row.student)
            else:
                filled |= {_GRADE: points(row.points), _COMMENTS: row.summary_html}
        rows.append([filled.get(column, "") for column in header])
    write_table(path, header, rows)
    notes = unmatched_note(lost, path.name)
    if closed:
        notes += (f"Moodle allows no change for {', '.join(closed)}, whose rows stay as they were.",)
    return Exported((path,), notes)
