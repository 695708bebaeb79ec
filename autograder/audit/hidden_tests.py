"""Proves that the hidden tests test: masters and alternatives pass, every misconception loses points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.course.masters import solution
from autograder.testing.catalogue import Answer, answers_of
from autograder.testing.run import earned, run_question, student_with_answer


@dataclass(frozen=True)
class AnswerAudit:
    """How one named answer fared: points kept, and which tests failed it (title, message)."""

    name: str
    kind: str  # "master", "alternative" or "misconception"
    points: float
    max_points: float
    failed: tuple[tuple[str, str], ...]
    #: Why a misconception may keep more than half of the points.
    keeps: str = ""

    @property
    def fault(self) -> str:
        """What is wrong with how it fared, in words; "" when correct answers get everything and misconceptions do not."""
        if self.kind != "misconception":
            failed = "; ".join(f"{name}: {message}" for name, message in self.failed)
            return failed if self.points < self.max_points else ""
        if self.points >= self.max_points:
            return "it passes every test"
        if self.points > self.max_points / 2 and not self.keeps:
            return 'it keeps more than half; weigh the tests anew, or say in keeps="…" why that is fair'
        return ""

    @property
    def as_it_should(self) -> bool:
        """Whether there is no fault."""
        return not self.fault


def _audit_answer(
    lab: str, question: str, points: float, kind: str, name: str, function: Any, keeps: str = ""
) -> AnswerAudit:
    runs = run_question(lab, question, student_with_answer(lab, question, function))
    kept = earned(points, [(run.test.weight, run.result.passed) for run in runs])
    failed = tuple((run.test.name, run.result.message) for run in runs if not run.result.passed)
    return AnswerAudit(name, kind, kept, points, failed, keeps)


def audit_question(lab: str, question: str, points: float) -> list[AnswerAudit]:
    """The master, the alternatives and the misconceptions of one question."""
    rows = [_audit_answer(lab, question, points, "master", "master", solution(lab)[question])]
    for kind, by_question in answers_of(lab).items():
        for answer in by_question.get(question, ()):
            rows.append(
                _audit_answer(lab, question, points, kind, answer.name, answer.function, answer.keeps)
            )
    return sorted(rows, key=lambda row: ["master", "alternative", "misconception"].index(row.kind))


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


def indistinct(lab: str, question: str) -> list[tuple[str, str]]:
    """Pairs of misconceptions that no hidden test tells apart, so that a diagnosis could not either."""
    from autograder.testing.evidence import traces_match

    answers: tuple[Answer, ...] = answers_of(lab)["misconception"].get(question, ())
    traces = [
        [
            run.trace
            for run in run_question(lab, question, student_with_answer(lab, question, answer.function))
        ]
        for answer in answers
    ]
    pairs = []
    for i, first in enumerate(traces):
        for j in range(i + 1, len(traces)):
            if all(traces_match(a, b) for a, b in zip(first, traces[j], strict=True)):
                pairs.append((answers[i].name, answers[j].name))
    return pairs
