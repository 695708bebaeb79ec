"""Computes final points: manual scores replace the tests', extra credit is added, late penalties are subtracted.

The rules are nbgrader's. The gradebook, the feedback pages, the class report and the exports all use this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from autograder.course.lab import LabSpec
from autograder.results import SubmissionResult


@dataclass(frozen=True)
class TeacherMarks:
    """The marks that people entered for one submission, by ``grade_id``, and how late it was."""

    scores: dict[str, float] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    extra_credit: dict[str, float] = field(default_factory=dict)
    #: Cells that wait for a person.
    waiting: tuple[str, ...] = ()
    seconds_late: float = 0.0
    #: When the lab was due for this student, in UTC without a zone.
    due: datetime | None = None
    late_penalty: float = 0.0
    #: When the graded submission was received, in UTC without a zone.
    received: datetime | None = field(default=None, compare=False)
    #: The automatic scores in the gradebook.
    automatic: dict[str, float | None] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class CellPoints:
    """The points of one graded cell: the tests' (None: only a person can score it), and those that people entered."""

    automatic: float | None
    manual: float | None = None
    extra_credit: float = 0.0

    @property
    def score(self) -> float | None:
        """The manual score if there is one, else the tests'; None if the cell has neither."""
        return self.automatic if self.manual is None else self.manual

    @property
    def final(self) -> float:
        """The score plus the extra credit; 0, even with extra credit, while the cell waits for a person."""
        return 0.0 if self.score is None else self.score + self.extra_credit


@dataclass(frozen=True)
class FinalPoints:
    """The points of one submission, by question and written answer, in the lab's order."""

    questions: dict[str, CellPoints]
    written: dict[str, CellPoints]
    late_penalty: float = 0.0

    @property
    def total(self) -> float:
        """All points after the late penalty, never below zero."""
        cells = (*self.questions.values(), *self.written.values())
        return max(0.0, sum(cell.final for cell in cells) - self.late_penalty)

    @property
    def waiting(self) -> tuple[str, ...]:
        """The written answers that nobody has scored yet."""
        return tuple(name for name, cell in self.written.items() if cell.score is None)


def final_points(result: SubmissionResult, spec: LabSpec, marks: TeacherMarks | None) -> FinalPoints:
    """The points of a result with the ``marks`` that people entered (None: there is no gradebook yet).

    A written answer that does not wait for a person (unchanged, or no notebook) has 0 points. If the grader itself failed,
    the tests' points are missing.
    """
    entered = marks or TeacherMarks()
    earned = {question.name: question.points for question in result.questions}
    names = dict.fromkeys([*(name for name, _ in spec.questions), *earned])

    def points(cell: str, automatic: float | None) -> CellPoints:
        return CellPoints(automatic, entered.scores.get(cell), entered.extra_credit.get(cell, 0.0))

    def written(name: str) -> CellPoints:
        settled = marks is not None and name not in marks.waiting
        return points(name, 0.0 if settled or not result.readable else None)

    return FinalPoints(
        {
            name: points(spec.test_cells.get(name, name), None if result.fault else earned.get(name, 0.0))
            for name in names
        },
        {name: written(name) for name, _ in spec.written},
        entered.late_penalty,
    )


def with_final_points(result: SubmissionResult, points: FinalPoints) -> SubmissionResult:
    """The result with final points instead of the tests', and their sum as the score."""
    questions = tuple(replace(q, points=points.questions[q.name].final) for q in result.questions)
    return replace(result, questions=questions, score=round(sum(q.points for q in questions), 2))
