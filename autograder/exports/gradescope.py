"""Writes Gradescope's ``results.json`` (gradescope-autograders.readthedocs.io, "Autograder Specifications")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.course.lab import LabSpec
from autograder.exports.rows import Exported, Graded, Grades, graded
from autograder.files import folder_name, write_atomically
from autograder.gradebook.cells import test_cells
from autograder.pages.render import plain, points
from autograder.results import STATUSES, QuestionResult, SubmissionResult


def write_results(grades: Grades, out: Path) -> Exported:
    """Write ``out/gradescope/<student>/results.json`` for every student."""
    paths = []
    for row in grades.rows:
        paths.append(out / "gradescope" / folder_name(row.student) / "results.json")
        write_atomically(paths[-1], json.dumps(results_json(row), indent=2, ensure_ascii=False) + "\n")
    return Exported(tuple(paths))


def results_of(result: SubmissionResult, spec: LabSpec) -> dict[str, Any]:
    """The documented object for a result with automatic points."""
    return results_json(graded(result, spec, None, test_cells(spec)))


def results_json(row: Graded) -> dict[str, Any]:
    """The documented object: the submission's score and summary, and one test for each question.

    The grader's own output stays hidden from students (``stdout_visibility``), because it is not about their work. There
    is no leaderboard, because grades are private.
    """
    result = row.result
    notes = "\n".join(f"- {note}" for note in result.notes)
    isolation = f"Isolation: {result.isolation}."
    return {
        "score": round(row.points, 4),
        "execution_time": round(result.seconds, 3),
        "output": plain(
            "\n".join(filter(None, [STATUSES[result.status].for_student, notes, *row.by_hand, isolation]))
        ),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"lab": result.lab, "status": result.status, "isolation": result.isolation},
        "tests": [
            _test(question, row.points_of(question.name), number)
            for number, question in enumerate(result.questions, start=1)
        ],
    }


def _test(question: QuestionResult, earned: float, number: int) -> dict[str, Any]:
    return {
        "score": round(earned, 4),
        "max_score": question.max_points,
        "status": "passed" if earned >= question.max_points - 1e-9 else "failed",
        "name": question.name,
        "name_format": "text",
        "number": str(number),
        "output": plain(in_words(question)),
        "output_format": "text",
        "tags": ["function"],
        "visibility": "visible",
    }


def in_words(question: QuestionResult) -> str:
    """A question's tests, misconception, hint and error, as plain text."""
    lines = []
    for test in question.tests:
        lines.append(f"{'✓ passed' if test.passed else '✗ not yet'}: {test.name}")
        if test.message and not test.passed:
            lines.append(f"    {test.message}")
    if question.misconception:
        lines.append(f"This looks like: {question.misconception}")
    elif question.why:
        lines.append(f"The cause, as far as it can be seen: {question.why}")
    if question.hint:
        lines.append(question.hint)
    if question.forbidden:
        lines.append(f"This exercise asks you to work without {', '.join(question.forbidden)}.")
    if question.error:
        lines.append(f"The error in your code:\n{question.error}")
    return "\n".join(lines) or f"{points(question.points)} of {points(question.max_points)} points."
