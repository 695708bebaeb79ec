"""Moodle's two ways in: the grade import (CSV) and an assignment's offline grading worksheet.

The worksheet is Moodle's own file (mod/assign/gradingtable.php), downloaded with "Download grading worksheet", with
grade and feedback comments filled in, in whatever language it is. Moodle finds a student by the number in its first
column, ignores a row that it changed itself in the meantime, and skips a grade above the maximum without a word
(mod/assign/feedback/offline/importgradeslib.php @452e36fc).
"""

from __future__ import annotations

from pathlib import Path

from autograder.course.lists import NO, CsvList, folded, number_in, some
from autograder.errors import UserError
from autograder.exports.matching import match, no_result
from autograder.exports.rows import Exported, Grades
from autograder.exports.tables import about_keys, write_table

#: The import asks which column is which; these are English whatever Moodle speaks.
WHO = ("Username", "ID number", "Email address")


def write_grades(grades: Grades, out: Path) -> Exported:
    """Write ``out/moodle-<lab>.csv`` for Grades > Import > CSV file; map one of the first columns."""
    path = out / f"moodle-{grades.spec.name}.csv"
    header = [*WHO, grades.spec.name, f"{grades.spec.name} feedback", "what the grade lacks"]
    rows, notes = (_from_list if grades.roster is not None else _from_class_list)(grades, path)
    separator = grades.roster.separator if grades.roster is not None else ","
    keys = range(len(WHO))
    write_table(path, header, rows, separator, keys)
    most = f"The grades are of {grades.number(grades.max_points)} points: let Moodle's grade item have that maximum."
    return Exported((path,), (*notes, *about_keys(rows, keys, "Moodle", path), most))


def _from_list(grades: Grades, path: Path) -> tuple[list[list[str]], tuple[str, ...]]:
    table = grades.roster
    assert table is not None
    if all(table.column(role) is None for role in ("username", "id number", "email")):
        table.need("email", "Moodle's import finds students by user name, ID number or email address")
    whose = match("moodle", table, grades.by_student, grades.people)
    rows = []
    for position, listed in enumerate(table.rows):
        if position in whose.students:
            row = grades.by_student[whose.students[position]]
            who = [table.value(listed, role) for role in ("username", "id number", "email")]
            if not any(who):
                whose.lost.append(row.student)
            else:
                rows.append([*who, grades.number(row.points), row.summary_html, row.remark])
    return rows, (*table.notes, *whose.notes(path.name))


def _from_class_list(grades: Grades, path: Path) -> tuple[list[list[str]], tuple[str, ...]]:
    whose = grades.people.of_folders(row.student for row in grades.rows)
    people = [whose.get(row.student) for row in grades.rows]
    known = [
        (row, person)
        for row, person in zip(grades.rows, people, strict=True)
        if person is not None and (person.username or person.id_number or person.email)
    ]
    if not known:
        raise UserError(
            "Only a list can say whom Moodle means: give its grades or participants as CSV, or the grading worksheet, with "
            "--roster, or a class list in course.toml."
        )
    lost = [row.student for row in grades.rows if all(row is not other for other, _ in known)]
    rows = [
        [p.username, p.id_number, p.email, grades.number(row.points), row.summary_html, row.remark]
        for row, p in known
    ]
    notes = [f"Not on the class list, and so not in {path.name}: {some(lost)}."] if lost else []
    if absent := grades.people.absent(grades.by_student):
        notes.append(no_result("On the class list", [person.student for person in absent]))
    return rows, tuple(notes)


def write_worksheet(grades: Grades, out: Path) -> Exported:
    """Write ``out/moodle-worksheet-<lab>.csv``: Moodle's downloaded worksheet with grades filled in."""
    path = out / f"moodle-worksheet-{grades.spec.name}.csv"
    table = grades.roster
    if table is None:
        raise UserError(
            "A worksheet's numbers are the assignment's own: download the grading worksheet from Moodle and give it with --roster."
        )
    table.need("participant", "it is no grading worksheet of Moodle's without")
    grade = table.need("grade", "where the points go")
    whose = match("moodle-worksheet", table, grades.by_student, grades.people)
    header, comments = list(table.header), table.column("comments")
    notes, closed = [*table.notes, *whose.notes(path.name)], []
    if comments is None:
        header.append("Feedback comments")
        notes.append("The worksheet has no column for feedback comments: switch them on in the assignment.")
    rows = []
    for position, listed in enumerate(table.rows):
        cells = [*listed, ""][: len(header)]
        if position in whose.students:
            row = grades.by_student[whose.students[position]]
            if folded(table.value(listed, "open")).rstrip(".") in NO:
                closed.append(row.student)
            else:
                most = _maximum(table, listed)
                cells[grade] = grades.number(row.points, most, capped=True)
                cells[comments if comments is not None else -1] = row.summary_html
                notes += [
                    note
                    for note in _about_maximum(grades, row.student, row.points, most)
                    if note not in notes
                ]
        rows.append(cells)
    write_table(path, header, rows, table.separator)
    if closed:
        notes.append(f"Moodle allows no change for {', '.join(closed)}, whose rows stay as they were.")
    return Exported((path,), tuple(notes))


def _maximum(table: CsvList, row: tuple[str, ...]) -> float | None:
    """The row's maximum grade (None: the worksheet does not say)."""
    most = number_in(table.value(row, "maximum"))
    return most if most is not None and most > 0 else None


def _about_maximum(grades: Grades, student: str, earned: float, most: float | None) -> tuple[str, ...]:
    if most is None:
        return ("The worksheet does not say the maximum grade: the points were not scaled.",)
    above: tuple[str, ...] = ()
    if earned > grades.max_points:
        above = (f"Moodle skips a grade above the maximum: {student} was given the maximum.",)
    return (*grades.scaled_note(most, "Moodle"), *above)
