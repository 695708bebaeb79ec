"""Writes a student's feedback page: what to change, why, and its cost; one line for each right answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from markupsafe import Markup

from autograder.course.lab import LabSpec
from autograder.course.masters import all_labs, source_of_import
from autograder.course.policy_file import settings
from autograder.files import feedback_page, parse_time, write_atomically
from autograder.gradebook.final_points import CellPoints, TeacherMarks, final_points
from autograder.judging.run import NOT_WRITTEN
from autograder.pages.own_code import OwnCode, code_cells, own_code
from autograder.pages.places import Place, places_of
from autograder.pages.render import plain, render
from autograder.results import STATUSES, QuestionResult, SubmissionResult, TestResult

#: Shown instead of the status if the grader itself failed.
FAULT_SENTENCE = "Our grader had trouble with your notebook, which is not your fault. A person will look at it; the points below are not final."


@dataclass(frozen=True)
class AnswerView:
    """The view of one graded function or written answer on the page."""

    kind: str  # "question" or "written"
    number: int
    name: str
    max_points: float
    final: CellPoints
    #: None for a written answer.
    question: QuestionResult | None = None
    #: The teacher's comment, as HTML.
    comment: str = ""
    place: Place = field(default_factory=Place)
    code: OwnCode = field(default_factory=OwnCode)
    public_checks: tuple[tuple[bool, str], ...] = ()
    #: The further answers that the same error stops.
    also: tuple[AnswerView, ...] = ()

    @property
    def points(self) -> float | None:
        """The final points; None until a person has read a written answer."""
        return None if self.question is None and self.final.score is None else self.final.final

    @property
    def headline(self) -> str:
        """A sentence about what is wrong: the misconception, what the answer does, the error, or the symptom; "" for none."""
        if (question := self.question) is None:
            return ""
        if question.misconception:
            return f"This looks like: {question.misconception}"
        if question.did_not_run:
            return (question.cause or "").partition(":")[0]
        if question.generated:
            return question.generated
        if question.error:
            where, raises, _ = (question.cause or "").partition("it raises an error")
            return (where if raises else "") + question.error.rpartition("\n")[2].removeprefix("NameError: ")
        failed = next((test.message for test in question.tests if not test.passed), "")
        cause = question.cause or failed or ("" if question.tests else "No test of this question could run.")
        return cause[:1].upper() + cause[1:]

    @property
    def hint(self) -> str:
        """A misconception's hint, or, for a generated misconception, what its values show."""
        if self.question is None:
            return ""
        return self.question.hint or (self.question.generated and self.question.cause) or ""

    @property
    def unwritten(self) -> bool:
        """Whether nothing was written; then the page says only that."""
        if self.question is None:
            return self.final.manual is None and self.final.score is not None
        return {test.message for test in self.question.tests} == {NOT_WRITTEN}

    @property
    def in_question(self) -> bool:
        """Whether a person must still decide if that costs points."""
        return self.question is not None and self.question.in_question and self.final.manual is None

    @property
    def tests(self) -> tuple[TestResult, ...]:
        """The tests, each message only once; none if all fail for the reason that the headline gives."""
        tests = self.question.tests if self.question else ()
        first = {test.message: number for number, test in reversed([*enumerate(tests)])}
        if self.question and len(first) == 1 and not any(test.passed for test in tests):
            [message] = first
            alike = message.strip(".").lower() == self.headline.strip(".").lower()
            if self.question.did_not_run or alike:
                return ()
        return tuple(
            test if first[test.message] == number else replace(test, message="")
            for number, test in enumerate(tests)
        )

    @property
    def lost(self) -> float:
        """The points that are lost for certain."""
        return 0.0 if self.points is None else max(0.0, self.max_points - self.points)

    @property
    def cost(self) -> float:
        """The points that its error costs, here and in the further answers."""
        return self.lost + sum(one.lost for one in self.also)


class FeedbackWriter:
    """Writes ``feedback/<student>/<lab>/<lab>.html`` under ``out`` for the submissions of one lab."""

    def __init__(self, spec: LabSpec, out: Path, demos_at: str = "") -> None:
        self.spec = spec
        self.out = out
        self._places = places_of(spec, demos_at)
        #: Whether the tests' inputs are not in the notebook, as those of an imported lab may be.
        self._unseen = spec.name not in all_labs() or not source_of_import(spec.name)

    def write(self, result: SubmissionResult, marks: TeacherMarks | None = None) -> Path:
        """Write the page, completely or not at all. Returns its path. Raises GradingError."""
        path = feedback_page(self.out, result.student, result.lab)
        write_atomically(path, self.page(result, marks))
        return path

    def page(self, result: SubmissionResult, marks: TeacherMarks | None = None) -> str:
        """The page as self-contained HTML. ``marks`` are those that people entered in the gradebook.

        ``judged``: whether there is a notebook and the grader itself did not fail. ``calm``: whether all cells ran, or a card
        tells of those that stopped.
        """
        final, marks = final_points(result, self.spec, marks), marks or TeacherMarks()
        cells = code_cells(result.notebook)
        judged = result.readable and not result.fault
        first = result.run_notes if judged else result.notes
        known = {question.name for question in result.questions}
        silent = (QuestionResult(name, 0.0, most) for name, most in self.spec.questions if name not in known)
        functions = [
            (one.name, one.max_points, final.questions[one.name], one) for one in (*result.questions, *silent)
        ]
        written = [(name, most, final.written[name], None) for name, most in self.spec.written]
        answers = [
            AnswerView(
                *(kind, number, name, most, mark, question),
                comment=_comment(marks, name),
                place=self._places.get(name, Place()),
                code=own_code(cells, question) if question else OwnCode(),
                public_checks=tuple(result.public_checks.get(name, ())),
            )
            for kind, part in (("question", functions), ("written", written))
            for number, (name, most, mark, question) in enumerate(part, 1)
        ]
        open_ = [one for one in answers if judged and (one.lost > 1e-9 or one.in_question)]
        view = {
            "student": plain(result.student, 200),
            "title": self.spec.title,
            "lab": result.lab,
            "submitted": _when(result.submitted_at),
            "status": FAULT_SENTENCE if result.fault else STATUSES[result.status].for_student,
            "calm": result.status == "graded" or any(_in_a_card(note, result) for note in first),
            "judged": judged,
            "readable": result.readable,
            "run_notes": [note for note in result.notes if note in first and not _in_a_card(note, result)],
            "notes": [note for note in result.notes if note not in first],
            "changes": _once_an_error([one for one in open_ if not one.unwritten]),
            "unwritten": [one for one in open_ if one.unwritten],
            "nothing_written": judged and {one.unwritten for one in answers if one.question} == {True},
            "others": [one for one in answers if one not in open_ and one.points is not None],
            "waiting": [one for one in answers if one.points is None],
            "seconds_late": marks.seconds_late,
            "closed": settings().is_closed(result.lab, marks.seconds_late, marks.due),
            "late_penalty": final.late_penalty,
            "unseen": self._unseen,
            "no_checks": self._unseen and not any(result.public_checks.values()),
            "score": final.total,
            "max_score": sum(one.max_points for one in answers if one.points is not None),
        }
        return render("feedback.html.j2", page=view)


def _in_a_card(note: str, result: SubmissionResult) -> bool:
    """Whether the card of a question names the error that the note names."""
    error = note.partition(" stopped: ")[2]
    return bool(error) and any(q.did_not_run and (q.cause or "").endswith(error) for q in result.questions)


def _once_an_error(changes: Sequence[AnswerView]) -> list[AnswerView]:
    """The answers, the dearest first; those that one error stops are one, with the others as its ``also``."""
    stopped: dict[str, list[AnswerView]] = {}
    for one in changes:
        stopped.setdefault(_stopped_by(one.question) or one.name, []).append(one)
    one_each = [replace(first, also=tuple(others)) for first, *others in stopped.values()]
    return sorted(one_each, key=lambda one: -one.cost)


def _stopped_by(question: QuestionResult | None) -> str:
    """The error of the cell, or of the missing name, that lets no test run; "" for none."""
    if question is None or question.misconception or any(test.passed for test in question.tests):
        return ""
    error = question.error.rpartition("\n")[2]
    return question.error if question.did_not_run else error if error.startswith("NameError: ") else ""


def _comment(marks: TeacherMarks, name: str) -> str:
    """A teacher's comment as HTML. It is markdown with formulas, as in Formgrader."""
    if not (text := marks.comments.get(name)):
        return ""
    from autograder.pages.clean_html import comment_html  # takes half a second to import

    return Markup(comment_html(plain(text)))


def _when(submitted_at: str) -> str:
    """The time as "2 March 2026, 10:00 UTC", or the text itself if it is no time."""
    time = parse_time(submitted_at)
    return f"{time.day} {time:%B %Y, %H:%M} UTC" if time else plain(submitted_at, 60)
