"""Writes GitHub Classroom's autograding results, a file for each student.

Classroom's grading reporter (classroom-resources/autograding-grading-reporter) takes the object in base64 from a step's ``result``
output, prints each test and reports the sum of the scores out of ``max_score``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.exports.gradescope import in_words
from autograder.exports.rows import Exported, Graded, Grades
from autograder.files import folder_name, write_atomically
from autograder.pages.render import plain


def write_results(grades: Grades, out: Path) -> Exported:
    """Write ``out/github-classroom/<student>/autograding.json`` for every student."""
    paths = []
    for row in grades.rows:
        paths.append(out / "github-classroom" / folder_name(row.student) / "autograding.json")
        content = autograding_json(row, grades.max_points)
        write_atomically(paths[-1], json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return Exported(tuple(paths))


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
