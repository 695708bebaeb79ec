"""Writes a JSON file for each student: Gradescope's results, and GitHub Classroom's autograding results.

Gradescope's ``results.json`` is that of gradescope-autograders.readthedocs.io, "Autograder Specifications". Classroom's grading
reporter (classroom-resources/autograding-grading-reporter) takes its object in base64 from a step's ``result`` output, prints
each test and reports the sum of the scores out of ``max_score``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.exports.rows import Graded, Grades
from autograder.files import folder_name, write_atomically
from autograder.pages.render import plain, points
from autograder.results import STATUSES, QuestionResult


def write_gradescope(grades: Grades, out: Path) -> Iterator[Path]:
    """Write ``out/gradescope/<student>/results.json`` for every student."""
    for row in grades.rows:
        yield _written(out / "gradescope" / folder_name(row.student) / "results.json", results_json(row))


def write_classroom(grades: Grades, out: Path) -> Iterator[Path]:
    """Write ``out/github-classroom/<student>/autograding.json`` for every student."""
    for row in grades.rows:
        path = out / "github-classroom" / folder_name(row.student) / "autograding.json"
        yield _written(path, autograding_json(row, grades.max_points))


def _written(path: Path, content: dict[str, Any]) -> Path:
    write_atomically(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return path


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


def autograding_json(row: Graded, max_points: float) -> dict[str, Any]:
    """The object that the reporter reads. Its status is ``pass`` only if every question has full points.

    Points that belong to no question (written answers, a late penalty) are an additional test, so that the scores add up
    to the student's points.
    """
    tests = []

    def add(name: str, score: float, status: str, message: str | None, code: str = "") -> None:
        place = {"filename": f"{row.result.lab}.ipynb", "line_no": 0, "duration": 0}
        about = {"name": name, "status": status, "score": round(score, 4), "message": message}
        tests.append({**about, "test_code": code, **place})

    for question in row.result.questions:
        earned, code = row.points_of(question.name), f'check("{question.name}", {question.name})'
        if earned >= question.max_points - 1e-9:
            add(question.name, earned, "pass", None, code)
        else:
            add(question.name, earned, "error" if question.error else "fail", plain(in_words(question)), code)
    by_hand = row.points - sum(row.points_of(question.name) for question in row.result.questions)
    if abs(by_hand) > 1e-9:
        add("written answers and lateness", by_hand, "pass" if by_hand > 0 else "fail", None)
    for phrase in row.open:
        add("what the grade lacks", 0.0, "fail", phrase)
    stopped = row.result.status not in ("graded", "partly-run")
    passed = all(test["status"] == "pass" for test in tests)
    status = "error" if stopped or not tests else "pass" if passed else "fail"
    return {"version": 1, "status": status, "max_score": max_points, "tests": tests}
