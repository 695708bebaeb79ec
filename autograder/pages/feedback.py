"""Writes a student's feedback page: what each function got, why, and what to try next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from autograder.course.lab import LabSpec
from autograder.course.masters import all_labs, source_of_import
from autograder.course.policy_file import settings
from autograder.files import feedback_page, parse_time, write_atomically
from autograder.gradebook.cells import test_cells
from autograder.gradebook.final_points import CellPoints, TeacherMarks, final_points
from autograder.pages.render import counted_points, duration, plain, points, render
from autograder.results import STATUSES, QuestionResult, SubmissionResult, TestResult

#: When the grader itself failed: the status would blame the student.
FAULT_SENTENCE = "Our grader had trouble with your notebook, which is not your fault. A person will look at it; the points below are not final."


@dataclass(frozen=True)
class QuestionView:
    """One graded function as the page shows it."""

    name: str
    points: float
    max_points: float
    tests: tuple[TestResult, ...]
    misconception: str
    cause: str
    hint: str
    error: str
    #: Whether the error kept a cell from running, so that there was nothing to test.
    did_not_run: bool
    forbidden: tuple[str, ...]
    #: Whether a person is still to say if that costs points.
    in_question: bool
    public_checks: tuple[tuple[bool, str], ...]
    by_hand: str
    comment: str

    @property
    def public_failed(self) -> bool:
        """Did any check that the student could see fail?"""
        return any(not passed for passed, _ in self.public_checks)


@dataclass(frozen=True)
class WrittenView:
    """One written answer as the page shows it; ``points`` is None while nobody has read it."""

    name: str
    points: float | None
    max_points: float
    comment: str
    remark: str


@dataclass(frozen=True)
class FeedbackView:
    """Everything the template shows, as plain values."""

    student: str
    title: str
    lab: str
    submitted: str
    status: str
    all_ran: bool
    readable: bool
    notes: tuple[str, ...]
    questions: tuple[QuestionView, ...]
    written: tuple[WrittenView, ...]
    late: str
    late_penalty: float
    waiting: str
    #: What kept the notebook apart while it ran.
    isolation: str
    #: Whether the tests' inputs are the course's own, as in every lab that was not imported.
    unseen: bool
    #: Points so far, after the late penalty.
    score: float

    @property
    def max_score(self) -> float:
        """Points of what has been graded so far."""
        return sum(q.max_points for q in self.questions) + sum(
            answer.max_points for answer in self.written if answer.points is not None
        )


class FeedbackWriter:
    """Writes ``feedback/<student>/<lab>/<lab>.html`` under ``out`` for the submissions of one lab."""

    def __init__(self, spec: LabSpec, out: Path) -> None:
        self.spec = spec
        self.out = out
        self._test_cell = test_cells(spec)

    def write(self, result: SubmissionResult, marks: TeacherMarks | None = None) -> Path:
        """Write the page (whole or not at all) and return its path. Raises GradingError."""
        path = feedback_page(self.out, result.student, result.lab)
        write_atomically(path, self.page(result, marks))
        return path

    def page(self, result: SubmissionResult, marks: TeacherMarks | None = None) -> str:
        """The page as self-contained HTML; ``marks`` are what people entered in the gradebook."""
        return render("feedback.html.j2", page=self._view(result, marks))

    def _view(self, result: SubmissionResult, entered: TeacherMarks | None) -> FeedbackView:
        marks, final = entered or TeacherMarks(), final_points(result, self.spec, entered, self._test_cell)
        written = tuple(
            _written(name, maximum, final.written[name], marks.comments.get(name, ""), result.readable)
            for name, maximum in self.spec.written
        )
        return FeedbackView(
            student=plain(result.student, 200),
            title=self.spec.title,
            lab=result.lab,
            submitted=_when(result.submitted_at),
            status=FAULT_SENTENCE if result.fault else STATUSES[result.status].for_student,
            all_ran=result.status == "graded",
            notes=result.notes,
            readable=result.readable,
            questions=tuple(
                _question(
                    question, result, final.questions[question.name], marks.comments.get(question.name, "")
                )
                for question in self._all(result)
            ),
            written=written,
            late=_late(result.lab, marks),
            late_penalty=final.late_penalty,
            waiting=_waiting(written),
            isolation=result.isolation,
            unseen=result.lab not in all_labs() or not source_of_import(result.lab),
            score=final.total,
        )

    def _all(self, result: SubmissionResult) -> tuple[QuestionResult, ...]:
        """The result's questions and, with no points, those of the lab that it says nothing about."""
        known = {question.name for question in result.questions}
        silent = (QuestionResult(name, 0.0, most) for name, most in self.spec.questions if name not in known)
        return (*result.questions, *silent)


def _question(
    question: QuestionResult, result: SubmissionResult, final: CellPoints, comment: str
) -> QuestionView:
    words = []
    if final.manual is not None and final.manual != question.points:
        words.append(
            f"Your teacher looked at this and gave {counted_points(final.manual)} "
            f"(the tests gave {points(question.points)})."
        )
    if final.extra_credit:
        words.append(f"Your teacher added {counted_points(final.extra_credit)} of extra credit.")
    return QuestionView(
        name=question.name,
        points=final.final,
        max_points=question.max_points,
        tests=_without_repeats(question.tests),
        misconception=question.misconception or "",
        cause=_cause(question),
        hint=question.hint or "",
        error=plain(question.error),
        did_not_run=question.did_not_run,
        forbidden=question.forbidden,
        in_question=question.in_question and final.manual is None,
        public_checks=tuple(result.public_checks.get(question.name, ())),
        by_hand=" ".join(words),
        comment=_comment(comment),
    )


def _cause(question: QuestionResult) -> str:
    """What the values show; "" where the page says it elsewhere: as a misconception, an error or a test's message."""
    messages = {test.message.strip(".").lower() for test in question.tests}
    cause = question.cause or ""
    elsewhere = question.misconception or question.error or cause.strip(".").lower() in messages
    return "" if elsewhere else cause


def _without_repeats(tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """The tests, a message that several give ("not written yet") kept at the first of them only."""
    seen: set[str] = set()
    kept = []
    for test in tests:
        kept.append(replace(test, message="") if test.message in seen else test)
        seen.add(test.message)
    return tuple(kept)


def _written(name: str, maximum: float, final: CellPoints, comment: str, readable: bool) -> WrittenView:
    remark = ""
    if final.manual is None and not readable:
        remark = "There was no notebook to read it from."
    elif final.manual is None and final.score is not None:
        remark = "There was no answer to read."
    earned = None if final.score is None else final.final
    return WrittenView(name, earned, maximum, _comment(comment), remark)


def _comment(text: str) -> str:
    """A teacher's comment as HTML: Formgrader asks for it in markdown, with formulas."""
    if not text:
        return ""
    from autograder.pages.clean_html import comment_html  # half a second, for those who comment

    return Markup(comment_html(plain(text)))


def _when(submitted_at: str) -> str:
    """ "2 March 2026, 10:00 UTC", or the text itself when it is no time."""
    time = parse_time(submitted_at) if submitted_at else None
    return f"{time.day} {time:%B %Y, %H:%M} UTC" if time else plain(submitted_at, 60)


def _late(lab: str, marks: TeacherMarks) -> str:
    if marks.seconds_late <= 0:
        return ""
    if settings().is_closed(lab, marks.seconds_late, marks.due):
        return (
            "It came in after the lab had closed, so it has no points. If you had a reason, please talk to your teacher, "
            "who can give you an extension."
        )
    cost = f", which costs {counted_points(marks.late_penalty)}" if marks.late_penalty else ""
    return f"It came in {duration(marks.seconds_late)} after the due date{cost}."


def _waiting(written: tuple[WrittenView, ...]) -> str:
    open_answers = [answer for answer in written if answer.points is None]
    if not open_answers:
        return ""
    more = points(sum(answer.max_points for answer in open_answers))
    which = "Your written answer has" if len(open_answers) == 1 else "Your written answers have"
    return f"{which} not been read yet: up to {more} more points."
