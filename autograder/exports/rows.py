"""A student's final points: the tests', or where people entered something, theirs."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.course.lab import LabSpec
from autograder.exports.tables import Roster
from autograder.gradebook.final_points import FinalPoints, TeacherMarks, final_points
from autograder.pages.render import counted_points, plain, points
from autograder.results import STATUSES, SubmissionResult


@dataclass(frozen=True)
class Exported:
    """What an export wrote, and sentences about what it noticed."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Path]:
        """The paths, for whoever only wants those."""
        return iter(self.paths)


@dataclass(frozen=True)
class Graded:
    """One student's result and final points."""

    result: SubmissionResult
    final: FinalPoints
    #: What people did beside the questions' points, a line each: points of written answers, comments, lateness.
    by_hand: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The submission's points, late penalty and all."""
        return self.final.total

    def points_of(self, question: str) -> float:
        """A question's points, changes made by people included."""
        return self.final.questions[question].final

    @property
    def student(self) -> str:
        """The student's name as the folder had it."""
        return self.result.student

    @property
    def summary(self) -> str:
        """Points by question and named misconceptions as lines of plain text."""
        lines = [STATUSES[self.result.status].for_student]
        for question in self.result.questions:
            earned = points(self.points_of(question.name))
            line = f"{question.name}: {earned} of {points(question.max_points)}"
            why = f"looks like: {question.misconception}" if question.misconception else question.cause
            lines.append(f"{line} ({why})" if why else line)
        return plain("\n".join([*lines, *self.by_hand]), 4000)

    @property
    def summary_html(self) -> str:
        """The summary as HTML, for systems that show comments as such."""
        return html.escape(self.summary).replace("\n", "<br>")


@dataclass(frozen=True)
class Grades:
    """What a writer of a format gets: the lab, its graded students, and the learning system's own list."""

    spec: LabSpec
    rows: tuple[Graded, ...]
    roster: Roster
    with_written: bool
    #: For Gradescope's zip: grade there without isolation, and say so in every result.
    no_sandbox: bool = False

    @property
    def max_points(self) -> float:
        """The points that can be reached: written answers count when people's marks were given."""
        written = sum(most for _, most in self.spec.written) if self.with_written else 0.0
        return self.spec.max_score + written

    @cached_property
    def by_student(self) -> dict[str, Graded]:
        """The rows by the student's name."""
        return {row.student: row for row in self.rows}


def graded(
    result: SubmissionResult,
    spec: LabSpec,
    marks: Mapping[str, TeacherMarks] | None,
    test_cells: Mapping[str, str],
) -> Graded:
    """A result with its final points. ``test_cells``: question -> the cell with its points in the gradebook."""
    entered = None if marks is None else marks.get(result.student, TeacherMarks())
    final = final_points(result, spec, entered, test_cells)
    return Graded(result, final, tuple(_by_hand(entered or TeacherMarks(), final, spec)))


def _by_hand(marks: TeacherMarks, final: FinalPoints, spec: LabSpec) -> Iterator[str]:
    for name, most in spec.written:
        if final.written[name].manual is not None:
            yield f"{name}: {points(final.written[name].final)} of {points(most)}"
    for name, comment in marks.comments.items():
        yield f"Your teacher on {name}: {comment}"
    if final.late_penalty:
        yield f"Lateness takes off {counted_points(final.late_penalty)}."
