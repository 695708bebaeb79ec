"""Writes results in formats that other systems import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course.lab import LabSpec
from autograder.course.lists import read_list
from autograder.course.policy_file import class_list
from autograder.errors import GradingError
from autograder.exports import canvas, gradescope_zip, json_results, moodle
from autograder.exports.rows import Grades, graded
from autograder.gradebook.final_points import TeacherMarks
from autograder.results import SubmissionResult

__all__ = ["FORMATS", "Exported", "export"]

#: Format -> its writer, which returns the files that it wrote.
FORMATS: dict[str, Callable[[Grades, Path], Iterable[Path]]] = {
    "canvas": canvas.write,
    "moodle": moodle.write_grades,
    "moodle-worksheet": moodle.write_worksheet,
    "moodle-feedback": moodle.write_feedback,
    "gradescope": json_results.write_gradescope,
    "gradescope-zip": gradescope_zip.write_zip,
    "github": json_results.write_classroom,
}


@dataclass(frozen=True)
class Exported:
    """The files that an export wrote, and sentences about problems."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def export(
    format: str,
    results: Iterable[SubmissionResult],
    spec: LabSpec,
    out: Path,
    *,
    marks: Mapping[str, TeacherMarks] | None = None,
    roster: Path | None = None,
) -> Exported:
    """Write ``results`` in one of ``FORMATS`` under the folder ``out``.

    ``marks`` (student -> marks that people entered in the gradebook) make the exported points final, including manual
    scores, written answers, extra credit and late penalties. Without them only the functions' automatic points count.
    ``roster`` is a CSV that the learning system exported (Canvas's gradebook, Moodle's grades or worksheet). Its columns are
    kept and its students matched, so that the import finds everybody.
    Raises GradingError for an unknown format, or a file that cannot be used.
    """
    if format not in FORMATS:
        raise GradingError(f"There is no export format “{format}”: choose one of {', '.join(FORMATS)}.")
    table = read_list(roster) if roster is not None else None
    rows = tuple(graded(result, spec, marks) for result in results)
    notes = list(table.notes) if table is not None else []
    grades = Grades(spec, rows, table, marks is not None, class_list(), marks or {}, notes)
    return Exported(tuple(FORMATS[format](grades, out)), tuple(grades.notes))
