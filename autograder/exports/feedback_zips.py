"""Writes the feedback pages as one zip that a learning system takes back, named as the system names its students.

Moodle: *Upload multiple feedback files in a zip* reads ``name_participant_assignfeedback_file_FILE``, where the name may hold no
underscore (mod/assign/feedback/file/importziplib.php @0203d8f2). Canvas: *Upload Submissions* reads user and attachment from the
very names of its own download, the first two numbers between underscores (generate_comments_from_files in its assignment
model); an attachment that is not the user's submission's is left out there.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autograder.course.lists import number_of_participant, sentences_about
from autograder.errors import UserError
from autograder.exports.moodle import fillable, worksheet
from autograder.exports.rows import Exported, Grades
from autograder.files import write_atomically
from autograder.pages.feedback import FeedbackWriter

_UPLOADED = re.compile(r"^(?P<who>.+?_\d+_\d+)_.+$")


def write_moodle(grades: Grades, out: Path) -> Exported:
    """Write ``out/moodle-feedback-<lab>.zip``; the list is the assignment's own worksheet."""
    table, path = worksheet(grades), out / f"moodle-feedback-{grades.spec.name}.zip"
    filled, notes = fillable(grades, table, path.name)
    names = {}
    for position, row in filled.items():
        number = number_of_participant(table.value(table.rows[position], "participant"))
        name = re.sub(r"[^\w ]|_", " ", table.row_name(table.rows[position])).strip() or "Participant"
        names[row.student] = f"{name}_{number}_assignfeedback_file_{grades.spec.name}.html"
    return Exported((_write(grades, names, path),), tuple(notes))


def write_canvas(grades: Grades, out: Path) -> Exported:
    """Write ``out/canvas-feedback-<lab>.zip`` with the names of the download that the submissions came from."""
    if not grades.download:
        raise UserError(
            "Canvas takes feedback back under the names of its own download: give that zip with --download."
        )
    names: dict[str, str] = {}
    strangers: dict[str, None] = {}
    for student, path in sorted(grades.download, key=lambda one: _attachment(one[1])):
        uploaded = _UPLOADED.match(path)
        if student not in grades.by_student:
            strangers[student] = None
        elif uploaded:
            names[student] = f"{uploaded['who']}_feedback_{grades.spec.name}.html"
    if not names:
        raise UserError(
            "Nobody in this download was graded here: it is another assignment's. Nothing was written."
        )
    lost = [row.student for row in grades.rows if row.student not in names]
    zip_path = _write(grades, names, out / f"canvas-feedback-{grades.spec.name}.zip")
    not_in = (
        f"Not in the download, or not under a name that can be theirs only, and so not in {zip_path.name}"
    )
    notes = {not_in: lost, "In the download, but no result here is theirs": list(strangers)}
    return Exported((zip_path,), tuple(sentences_about(notes)))


def _attachment(path: str) -> int:
    uploaded = _UPLOADED.match(path)
    return int(uploaded["who"].rpartition("_")[2]) if uploaded else 0


def _write(grades: Grades, names: Mapping[str, str], path: Path) -> Path:
    """The zip: student -> the page's name in it. Two students never share a name."""
    if len(set(names.values())) < len(names):
        raise UserError("Two students would have the same feedback file: nothing was written.")
    writer, content = FeedbackWriter(grades.spec, path.parent), io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, name in sorted(names.items(), key=lambda item: item[1]):
            archive.writestr(name, writer.page(grades.by_student[student].result, grades.marks.get(student)))
    write_atomically(path, content.getvalue())
    return path
