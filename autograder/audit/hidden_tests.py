"""Proves that the hidden tests test: masters and alternatives pass, every misconception loses points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from autograder.course.masters import solution
from autograder.grading.diagnosis import diagnose
from autograder.grading.rubric import points_earned
from autograder.testing.catalogue import answers_of
from autograder.testing.evidence import traces_match
from autograder.testing.run import TestRun, run_question, student_with_answer


@dataclass(frozen=True)
class AnswerAudit:
    """How one named answer fared in the hidden tests of its question."""

    name: str
    kind: str  # "master", "alternative" or "misconception"
    points: float
    max_points: float
    runs: tuple[TestRun, ...]

    @property
    def failed(self) -> list[tuple[str, str]]:
        """The tests that failed it: name and message."""
        return [(run.test.name, run.result.message) for run in self.runs if not run.result.passed]

    @property
    def fault(self) -> str:
        """What is wrong with how it fared, in words; "" when correct answers get everything and misconceptions do not."""
        if self.kind != "misconception":
            failed = "; ".join(f"{name}: {message}" for name, message in self.failed)
            return failed if self.points < self.max_points else ""
        if self.points >= self.max_points:
            return "it passes every test"
        return ""

    @property
    def as_it_should(self) -> bool:
        """Whether there is no fault."""
        return not self.fault


def audit_answer(lab: str, question: str, points: float, kind: str, name: str, function: Any) -> AnswerAudit:
    """Run the hidden tests of a question on one answer."""
    runs = run_question(lab, question, student_with_answer(lab, question, function))
    kept = points_earned(lab, question, points, runs, diagnose(lab, question, runs))
    return AnswerAudit(name, kind, kept, points, tuple(runs))


def audit_question(lab: str, question: str, points: float) -> list[AnswerAudit]:
    """The master, the alternatives and the misconceptions of one question, each run once."""
    rows = [audit_answer(lab, question, points, "master", "master", solution(lab)[question])]
    for kind in ("alternative", "misconception"):
        for answer in answers_of(lab)[kind].get(question, ()):
            rows.append(audit_answer(lab, question, points, kind, answer.name, answer.function))
    return rows


def as_json(audits: Mapping[str, Mapping[str, list[AnswerAudit]]]) -> dict[str, Any]:
    """``{lab: {question: {master, alternatives: [[name, passed]], misconceptions: [[name, killed]]}}}``."""
    return {
        lab: {
            question: {
                "master": all(row.as_it_should for row in rows if row.kind == "master"),
                "alternatives": [[row.name, row.as_it_should] for row in rows if row.kind == "alternative"],
                "misconceptions": [
                    [row.name, row.as_it_should] for row in rows if row.kind == "misconception"
                ],
            }
            for question, rows in questions.items()
        }
        for lab, questions in audits.items()
    }


def indistinct(rows: Sequence[AnswerAudit]) -> list[tuple[str, str]]:
    """Pairs of misconceptions that no hidden test tells apart, so that a diagnosis could not either."""
    wrong = [row for row in rows if row.kind == "misconception"]
    return [(first.name, second.name) for first, second in combinations(wrong, 2) if _alike(first, second)]


def _alike(first: AnswerAudit, second: AnswerAudit) -> bool:
    return all(traces_match(a.trace, b.trace) for a, b in zip(first.runs, second.runs, strict=True))
