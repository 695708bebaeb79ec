"""The input of every export: each student's result, final points and comments."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from autograder.course.class_list import ClassList
from autograder.course.lab import LabSpec
from autograder.course.lists import CsvList
from autograder.course.policy_file import extension_of, settings
from autograder.errors import UserError
from autograder.gradebook.final_points import FinalPoints, TeacherMarks, final_points
from autograder.pages.render import counted_points, plain, points
from autograder.results import STATUSES, STRONGEST, SubmissionResult


@dataclass(frozen=True)
class Graded:
    """One student's result and final points. ``marks`` are those that people entered; None if they are not counted."""

    result: SubmissionResult
    spec: LabSpec
    marks: TeacherMarks | None
    final: FinalPoints

    @cached_property
    def open(self) -> tuple[str, ...]:
        """What the grade still lacks: answers that wait for a person, an unknown time."""
        return tuple(self._lacks(self.marks)) if self.marks is not None else ()

    def _lacks(self, marks: TeacherMarks) -> Iterator[str]:
        result, name, policy = self.result, self.spec.name, settings()
        if waiting := self.final.waiting:
            up_to = counted_points(sum(most for name, most in self.spec.written if name in waiting))
            yield f"not final: {', '.join(waiting)} not read yet (up to {up_to})"
        due = policy.due(name)
        if result.status == "missing" and due and (longer := extension_of(name, result.student)):
            yield f"nothing handed in: the extension ends on {policy.local(due + longer):%Y-%m-%d at %H:%M}"
        if result.is_outdated:
            yield "points from an earlier run: the grader itself failed on the newer submission"
        if result.readable and not result.submitted_at and due is not None:
            yield "lateness not counted: nobody knows when it came in"
        if policy.is_closed(name, marks.seconds_late, marks.due):
            yield "no points: handed in after the lab had closed"
        if result.readable and result.isolation != STRONGEST:
            yield f"graded with isolation “{result.isolation}”"

    @property
    def by_hand(self) -> Iterator[str]:
        """Yield the comment's lines after the questions: written answers, teachers' comments, lateness, what the grade lacks."""
        for name, most in self.spec.written:
            if self.final.written[name].manual is not None:
                yield f"{name}: {points(self.final.written[name].final)} of {points(most)}"
        for name, comment in self.marks.comments.items() if self.marks is not None else ():
            yield f"Your teacher on {name}: {comment}"
        if self.final.late_penalty:
            yield f"Lateness takes off {counted_points(self.final.late_penalty)}."
        for phrase in self.open:
            yield f"{phrase[0].upper()}{phrase[1:]}."

    @property
    def points(self) -> float:
        """The submission's points, including the late penalty."""
        return self.final.total

    def points_of(self, question: str) -> float:
        """A question's points, including changes made by people."""
        return self.final.questions[question].final

    @property
    def student(self) -> str:
        """The student's name: the folder's name."""
        return self.result.student

    @property
    def summary(self) -> str:
        """The comment as plain text: the status, each question's points and cause, people's comments."""
        lines = [STATUSES[self.result.status].for_student]
        for question in self.result.questions:
            earned = points(self.points_of(question.name))
            line = f"{question.name}: {earned} of {points(question.max_points)}"
            why = f"looks like: {question.misconception}" if question.misconception else question.why
            lines.append(f"{line} ({why})" if why else line)
        return plain("\n".join([*lines, *self.by_hand]), 4000)

    @property
    def remark(self) -> str:
        """What the grade still lacks, as one cell for the teacher; "" for a final grade."""
        return "; ".join(self.open)

    @property
    def summary_html(self) -> str:
        """The summary as HTML, for systems that show comments as HTML."""
        return html.escape(self.summary).replace("\n", "<br>")


@dataclass
class Grades:
    """The input of a format's writer: the lab, its graded students, and the learning system's list."""

    spec: LabSpec
    rows: tuple[Graded, ...]
    roster: CsvList | None
    with_written: bool
    #: The course's class list; empty if there is none.
    people: ClassList = field(default_factory=ClassList)
    #: The marks that people entered, for formats that show them.
    marks: Mapping[str, TeacherMarks] = field(default_factory=dict)
    #: Sentences about problems, to which the writers add.
    notes: list[str] = field(default_factory=list)

    @property
    def max_points(self) -> float:
        """The points that can be reached. Written answers count if people's marks are given."""
        written = sum(most for _, most in self.spec.written) if self.with_written else 0.0
        return self.spec.max_score + written

    def number(self, earned: float, most: float | None = None, *, capped: bool = False) -> str:
        """Points in the list's number format, scaled to the system's maximum ``most`` (None: not scaled)."""
        if most is not None and not self.max_points:
            raise UserError(
                f"{self.spec.name} has no points, and the learning system {points(most)}: nothing can be scaled, nothing was written."
            )
        value = earned if most is None else earned * most / self.max_points
        text = points(min(value, most) if capped and most is not None else value)
        return text.replace(".", ",") if self.roster is not None and self.roster.decimal_comma else text

    def scaled_note(self, most: float | None, system: str) -> tuple[str, ...]:
        """The sentence about a maximum that differs from the lab's; none if it does not."""
        if most is None or abs(most - self.max_points) < 1e-9:
            return ()
        return (
            f"{system} has {points(most)} points for the lab where it has {points(self.max_points)}: every grade is scaled.",
        )

    @cached_property
    def by_student(self) -> dict[str, Graded]:
        """The rows by the student's name."""
        return {row.student: row for row in self.rows}

    @property
    def with_work(self) -> list[str]:
        """The students who handed something in, or who got points from a person anyway."""
        return [row.student for row in self.rows if row.result.status != "missing" or row.points > 0]


def graded(result: SubmissionResult, spec: LabSpec, marks: Mapping[str, TeacherMarks] | None) -> Graded:
    """A result with its final points."""
    entered = None if marks is None else marks.get(result.student, TeacherMarks())
    return Graded(result, spec, entered, final_points(result, spec, entered))
