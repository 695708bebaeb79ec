"""Reads the documented JSON of ``grade --json`` back into results (without notebooks, which it lacks)."""

from __future__ import annotations

from typing import Any

from autograder.results import QuestionResult, SubmissionResult, TestResult


def result_from_json(row: dict[str, Any]) -> SubmissionResult:
    """The result that ``SubmissionResult.as_json`` was called on, as far as its JSON says."""
    questions = tuple(
        QuestionResult(
            name=q["name"],
            points=q["points"],
            max_points=q["max_points"],
            tests=tuple(TestResult(t["name"], t["passed"], t["message"]) for t in q["tests"]),
            misconception=q["misconception"],
            cause=q.get("cause"),
            hint=q["hint"],
            error=q.get("error", ""),
            forbidden=tuple(q.get("forbidden", ())),
        )
        for q in row["questions"]
    )
    return SubmissionResult(
        student=row["student"],
        lab=row["lab"],
        status=row["status"],
        score=row["score"],
        max_score=row["max_score"],
        seconds=row["seconds"],
        questions=questions,
        notes=tuple(row.get("notes", ())),
        isolation=row["isolation"],
    )
