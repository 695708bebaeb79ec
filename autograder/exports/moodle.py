"""Writes three exports for Moodle: the grade import (CSV), an assignment's offline grading worksheet, and feedback files.

The worksheet is Moodle's file (mod/assign/gradingtable.php) from "Download grading worksheet", in any language, with grade
and feedback comments filled in. Moodle finds a student by the number in the first column. It ignores rows that changed
in Moodle in the meantime, and silently skips grades above the maximum (mod/assign/feedback/offline @452e36fc). Students
who are not in the file keep their grades, so the file contains only rows that the autograder may fill. *Upload multiple
feedback files in a zip* reads names of the form ``name_participant_assignfeedback_file_FILE``, where the name must not
contain an underscore (importziplib.php @0203d8f2).
"""

from __future__ import annotations

import hashlib
import html
import io
import re
import zipfile
from pathlib import Path

from autograder.course.class_list import ClassList
from autograder.course.lists import (
    CsvList,
    folded,
    is_called,
    number_in,
    number_of_participant,
    sentences_about,
    summarize_names,
)
from autograder.course.safe_cells import about_keys, write_table
from autograder.course.worksheet import is_unsubmitted, time_in
from autograder.errors import UserError
from autograder.exports.matching import match
from autograder.exports.rows import Graded, Grades
from autograder.files import write_atomically
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.render import points

#: The columns' names. They need no translation, because the import asks which column is which.
WHO = ("Username", "ID number", "Email address")
_ROLES = ("username", "id number", "email")
#: The last line of a comment from the autograder, with a checksum. Without a valid checksum, a person wrote or changed it.
_SIGNED = re.compile(r"\(autograder ([0-9a-f]{8})\)\s*$")


def write_grades(grades: Grades, out: Path) -> list[Path]:
    """Write ``out/moodle-<lab>.csv`` for Grades > Import > CSV file; map one of the first columns."""
    path = out / f"moodle-{grades.spec.name}.csv"
    header = [*WHO, grades.spec.name, f"{grades.spec.name} feedback", "what the grade lacks"]
    table, notes = grades.roster or _of_class_list(grades.people), grades.notes
    if all(table.column(role) is None for role in _ROLES):
        table.require_column(
            "email", "Moodle's import finds students by user name, ID number or email address"
        )
    found = match("moodle", table, grades.with_work, grades.people, path.name, notes)
    most = _maximum(table) if table.column("maximum") is not None else None
    rows, without_ids = list[list[str]](), list[str]()
    for position in sorted(found):
        who = [table.value(table.rows[position], role) for role in _ROLES]
        row = grades.by_student[found[position]]
        if any(who):
            points_cell = grades.number(row.points, most, capped=True)
            rows.append([*who, points_cell, row.summary_html, row.remark])
        else:
            without_ids.append(row.student)
    keys = range(len(WHO))
    write_table(path, header, rows, table.separator, keys)
    notes += sentences_about({f"Without an ID on the list, and so not in {path.name}": without_ids})
    notes += [*grades.scaled_note(most, "Moodle"), *about_keys(rows, keys, "Moodle", path)]
    full = [name for number, name in enumerate(WHO) if rows and all(row[number] for row in rows)]
    notes += [
        f"Map “{full[-1]}” in Moodle: one person without a value in the mapped column stops its whole import."
        if full
        else "No column has a value for everybody: Moodle's import stops at the first person without one. Use the grading worksheet.",
        "Moodle marks imported grades as overridden, so later grades in the assignment do not reach its gradebook: "
        "the grading worksheet (moodle-worksheet) avoids that.",
    ]
    if most is None:
        notes.append(
            f"The grades are of {grades.number(grades.max_points)} points: let Moodle's grade item have that maximum."
        )
    return [path]


def _of_class_list(people: ClassList) -> CsvList:
    """The class list with Moodle's columns. Raises ``UserError`` without a class list."""
    if people.path is None:
        raise UserError(
            "Only a list identifies Moodle's students: give its grades or participants, or the grading worksheet, with "
            "--roster, or a class list in course.toml."
        )
    rows = ((one.username, one.id_number, one.email, one.name) for one in people.people)
    return CsvList(people.path, (*WHO, "Full name"), tuple(rows))


def write_worksheet(grades: Grades, out: Path) -> list[Path]:
    """Write ``out/moodle-worksheet-<lab>.csv``: the fillable rows of Moodle's worksheet, with grade and comment."""
    path = out / f"moodle-worksheet-{grades.spec.name}.csv"
    table, notes = _worksheet(grades), grades.notes
    filled = _fillable(grades, table, path.name)
    grade, most = table.require_column("grade", "where the points go"), _maximum(table)
    comments, graded = table.column("comments"), table.column("graded")
    rows = []
    for position, row in filled.items():
        cells = list(table.rows[position])
        cells[grade] = grades.number(row.points, most, capped=True)
        if comments is not None:
            cells[comments] = _comment(row, grades.max_points)
        if graded is not None and (time := time_in(cells[graded])):
            cells[graded] = f"{time:%Y-%m-%d %H:%M}"  # PHP cannot read dates in other languages
        rows.append(cells)
    write_table(path, table.header, rows, table.separator)
    notes += grades.scaled_note(most, "Moodle")
    if above := [row.student for row in filled.values() if row.points > grades.max_points]:
        notes.append(
            f"Moodle refuses grades above the maximum: {summarize_names(above)} was given the maximum."
        )
    if comments is None:
        notes.append("The worksheet has no column for feedback comments: switch them on in the assignment.")
    if table.column("workflow") is not None:
        notes.append(
            "The assignment has a marking workflow: students see nothing until the state is “Released” in Moodle."
        )
    notes.append(
        "Upload it with Moodle set to the worksheet's language. Moodle skips rows that were graded after the worksheet was "
        "downloaded: download it again each time, or tick “Allow updating records that have been modified more recently in Moodle”."
    )
    return [path]


def write_feedback(grades: Grades, out: Path) -> list[Path]:
    """Write ``out/moodle-feedback-<lab>.zip`` with the pages of students with fillable rows in the worksheet."""
    lab, table = grades.spec.name, _worksheet(grades)
    path = out / f"moodle-feedback-{lab}.zip"
    filled = _fillable(grades, table, path.name)
    writer, content = FeedbackWriter(grades.spec, out), io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for position, row in filled.items():
            listed = table.rows[position]
            number = number_of_participant(table.value(listed, "participant"))
            name = re.sub(r"[^\w ]|_", " ", table.name(listed)).strip() or "Participant"
            page = writer.page(row.result, grades.marks.get(row.student))
            archive.writestr(f"{name}_{number}_assignfeedback_file_{lab}.html", page)
    write_atomically(path, content.getvalue())
    return [path]


def _fillable(grades: Grades, table: CsvList, where: str) -> dict[int, Graded]:
    """Position -> student, for the worksheet's rows that the autograder may fill."""
    found = match("moodle-worksheet", table, grades.with_work, grades.people, where, grades.notes)
    filled: dict[int, Graded] = {}
    closed, unsubmitted, entered = list[str](), list[str](), list[str]()
    for position, student in found.items():
        listed = table.rows[position]
        if is_called(table.value(listed, "can be changed"), "no"):
            closed.append(student)
        elif is_unsubmitted(table, listed):
            unsubmitted.append(student)
        elif _was_entered_by_a_person(table, listed):
            entered.append(f"{student} ({points(grades.by_student[student].points)} points here)")
        else:
            filled[position] = grades.by_student[student]
    unfilled = {
        f"Moodle allows no change, and so not in {where}": closed,
        f"A draft or a reopened attempt in Moodle, and so not in {where}": unsubmitted,
    }
    grades.notes += sentences_about(unfilled)
    if entered:
        grades.notes.append(
            f"Points or a comment that somebody entered in Moodle stay, and so not in {where}: {', '.join(entered)}."
        )
    return filled


def _worksheet(grades: Grades) -> CsvList:
    """The assignment's grading worksheet. Raises ``UserError`` if none was given."""
    if grades.roster is None:
        raise UserError(
            "A worksheet's numbers are the assignment's own: download the grading worksheet from Moodle and give it with --roster."
        )
    grades.roster.require_column("participant", "it is no grading worksheet of Moodle's without")
    return grades.roster


def _maximum(table: CsvList) -> float:
    """The assignment's maximum grade. Raises ``UserError`` if the worksheet does not give it, since no grade can be scaled."""
    column = table.require_column("maximum", "grades are scaled to it, and nothing was written")
    found = {number_in(row[column]) or 0.0 for row in table.rows}
    most = min(found, default=0.0)
    if len(found) != 1 or most <= 0:
        raise UserError(
            f"The column “{table.header[column]}” of {table.path} does not have the same number of points in every row: nothing was written."
        )
    return most


def _comment(row: Graded, most: float) -> str:
    """The feedback comment as HTML. It begins with the points and ends with a checksum."""
    text = f"{points(row.points)} of {points(most)} points.\n{row.summary}"
    return html.escape(f"{text}\n(autograder {_checksum(text)})").replace("\n", "<br>")


def _checksum(text: str) -> str:
    """A checksum of only letters and digits, because Moodle's worksheet drops a comment's tags and line breaks."""
    return hashlib.sha256("".join(c for c in folded(text) if c.isalnum()).encode()).hexdigest()[:8]


def _was_entered_by_a_person(table: CsvList, row: tuple[str, ...]) -> bool:
    """Whether a row has points or a comment that a person entered in Moodle."""
    grade, comment = table.value(row, "grade"), html.unescape(table.value(row, "comments"))
    if grade in ("", "-") and not comment:
        return False
    signed, stated = _SIGNED.search(comment), re.match(r"([\d.]+) of ([\d.]+) points", comment)
    if not signed or not stated or _checksum(comment[: signed.start()]) != signed[1]:
        return True
    earned, of = map(float, stated.groups())
    most, there = number_in(table.value(row, "maximum")) or of, number_in(grade)
    decimals = len(re.sub(r"^\d*\D?", "", grade))
    return there is None or abs(there - min(earned * most / of, most)) > 0.5001 * 10**-decimals
