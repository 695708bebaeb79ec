"""Final points: a person's score before the tests', extra credit added, lateness taken off.

The rules are nbgrader's. The gradebook, the feedback pages, the class report and the exports all ask here.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    #: Cells that still wait for a person.
    waiting: tuple[str, ...] = ()
    seconds_late: float = 0.0
    #: When it was due for this student, in UTC without a zone.
    due: datetime | None = None
    late_penalty: float = 0.0
    #: When the graded submission came in, in UTC without a zone.
    received: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CellPoints:
    """The points of one graded cell: what the tests gave (None: only a person can say), and what people entered."""

    automatic: float | None
    manual: float | None = None
    extra_credit: float = 0.0

    @property
    def score(self) -> float | None:
        """A manual score wins over the tests'; None while nobody has scored the cell."""
        return self.automatic if self.manual is None else self.manual

    @property
    def final(self) -> float:
        """The score and the extra credit; what waits for a person counts nothing yet, its extra credit neither."""
        return 0.0 if self.score is None else self.score + self.extra_credit


@dataclass(frozen=True)
class FinalPoints:
    """The points of one submission by question and by written answer, in the lab's order."""

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


def final_points(
    result: SubmissionResult, spec: LabSpec, marks: TeacherMarks | None, test_cells: Mapping[str, str]
) -> FinalPoints:
    """The points of a result with what people entered (``marks``; None before there is a gradebook).

    ``test_cells`` maps a question to the cell that carries its points in the gradebook. A written answer that does
    not wait for a person (left as it was, or there is no notebook) has 0 points. Where the grader itself failed,
    the tests gave nothing.
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
            name: points(test_cells.get(name, name), None if result.fault else earned.get(name, 0.0))
            for name in names
        },
        {name: written(name) for name, _ in spec.written},
        entered.late_penalty,
    )


def with_final_points(result: SubmissionResult, points: FinalPoints) -> SubmissionResult:
    """The result with the final points of its questions in place of the tests'; its score is their sum."""
    questions = tuple(replace(q, points=points.questions[q.name].final) for q in result.questions)
    return replace(result, questions=questions, score=round(sum(q.points for q in questions), 2))
