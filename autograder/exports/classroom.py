"""GitHub Classroom's autograding result: what its grading reporter reads, one JSON file a student.

The reporter (classroom-resources/autograding-grading-reporter) takes this object in base64 from a
step's ``result`` output, prints each test and reports the sum of the scores out of ``max_score``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.exports.gradescope import in_words
from autograder.exports.rows import Exported, Graded, Grades
from autograder.files import folder_name, write_atomically
from autograder.pages.render import plain

#: The version of the object that the reporter's graders write.
VERSION = 1


def write(grades: Grades, out: Path) -> Exported:
    """Write ``out/github-classroom/<student>/autograding.json`` for every student."""
    paths = []
    for row in grades.rows:
        path = out / "github-classroom" / folder_name(row.student) / "autograding.json"
        content = autograding_json(row, grades.max_points)
        write_atomically(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        paths.append(path)
    return Exported(tuple(paths))


def autograding_json(row: Graded, max_points: float) -> dict[str, Any]:
    """The object the reporter reads. Its status is ``pass`` only when every question has full points.

    What people changed for the whole submission (written answers, a late penalty) has no question of
    its own: it is one more test, so that the scores add up to the student's points.
    """
    tests = []
    for question in row.result.questions:
        earned = row.points_of(question.name)
        full = earned >= question.max_points - 1e-9
        status = "pass" if full else "error" if question.error else "fail"
        message, code = (
            None if full else plain(in_words(question)),
            f'check("{question.name}", {question.name})',
        )
        tests.append(_test(row, question.name, earned, status, message, code))
    by_hand = row.points - sum(row.points_of(question.name) for question in row.result.questions)
    if abs(by_hand) > 1e-9:
        tests.append(
            _test(row, "written answers and lateness", by_hand, "pass" if by_hand > 0 else "fail", None)
        )
    for phrase in row.open:
        tests.append(_test(row, "what the grade lacks", 0.0, "fail", phrase))
    statuses = {test["status"] for test in tests}
    stopped = row.result.status not in ("graded", "partly-run")
    overall = "error" if stopped or not tests else "pass" if statuses == {"pass"} else "fail"
    return {"version": VERSION, "status": overall, "max_score": max_points, "tests": tests}


def _test(
    row: Graded, name: str, score: float, status: str, message: str | None, code: str = ""
) -> dict[str, Any]:
    """A test of a question, or about the whole submission."""
    return {
        "name": name,
        "status": status,
        "score": round(score, 4),
        "message": message,
        "test_code": code,
        "filename": f"{row.result.lab}.ipynb",
        "line_no": 0,
        "duration": 0,
    }
