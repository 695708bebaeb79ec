"""Writes a student's feedback page: what to change, why, and its cost; one line for each right answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.course.lab import LabSpec
from autograder.course.masters import all_labs, source_of_import
from autograder.course.policy_file import settings
from autograder.files import feedback_page, parse_time, write_atomically
from autograder.gradebook.cells import test_cells
from autograder.gradebook.final_points import CellPoints, TeacherMarks, final_points
from autograder.pages.own_code import OwnCode, code_cells, own_code
from autograder.pages.places import Place, places_of
from autograder.pages.render import counted_points, duration, plain, points, render
from autograder.results import STATUSES, QuestionResult, SubmissionResult, TestResult
from autograder.testing.run import NOT_WRITTEN

#: Shown instead of the status if the grader itself failed.
FAULT_SENTENCE = "Our grader had trouble with your notebook, which is not your fault. A person will look at it; the points below are not final."


@dataclass(frozen=True)
class AnswerView:
    """The view of one graded function or written answer on the page."""

    #: "question" or "written".
    kind: str
    number: int
    name: str
    #: None until a person has read it.
    points: float | None
    max_points: float
    #: The teacher's comment, as HTML.
    comment: str = ""
    place: Place = field(default_factory=Place)
    #: The reason for a written answer's points.
    remark: str = ""
    #: None if all tests fail for the reason that the headline gives.
    tests: tuple[TestResult, ...] = ()
    #: A sentence about what is wrong; "" if nothing is, or if it is unknown.
    headline: str = ""
    hint: str = ""
    #: The student's error, if no line of ``code`` shows it.
    error: str = ""
    code: OwnCode = field(default_factory=OwnCode)
    #: Whether nothing was written; then the page says only that.
    unwritten: bool = False
    forbidden: tuple[str, ...] = ()
    #: Whether a person must still decide if that costs points.
    in_question: bool = False
    public_checks: tuple[tuple[bool, str], ...] = ()
    by_hand: str = ""

    @property
    def lost(self) -> float:
        """The points that are certainly lost."""
        return 0.0 if self.points is None else max(0.0, self.max_points - self.points)

    @property
    def failed(self) -> tuple[TestResult, ...]:
        """The failed tests."""
        return tuple(test for test in self.tests if not test.passed)

    @property
    def passed(self) -> tuple[TestResult, ...]:
        """The passed tests."""
        return tuple(test for test in self.tests if test.passed)


class FeedbackWriter:
    """Writes ``feedback/<student>/<lab>/<lab>.html`` under ``out`` for the submissions of one lab."""

    def __init__(self, spec: LabSpec, out: Path, demos_at: str = "") -> None:
        self.spec = spec
        self.out = out
        self._test_cell = test_cells(spec)
        self._places = places_of(spec, demos_at)

    def write(self, result: SubmissionResult, marks: TeacherMarks | None = None) -> Path:
        """Write the page, completely or not at all. Returns its path. Raises GradingError."""
        path = feedback_page(self.out, result.student, result.lab)
        write_atomically(path, self.page(result, marks))
        return path

    def page(self, result: SubmissionResult, marks: TeacherMarks | None = None) -> str:
        """The page as self-contained HTML. ``marks`` are those that people entered in the gradebook."""
        return render("feedback.html.j2", page=self._view(result, marks))

    def _view(self, result: SubmissionResult, entered: TeacherMarks | None) -> dict[str, Any]:
        """The template's values. ``judged``: whether there is a notebook and the grader itself did not fail."""
        marks, final = entered or TeacherMarks(), final_points(result, self.spec, entered, self._test_cell)
        cells = code_cells(result.notebook)
        judged = result.readable and not result.fault
        first = result.run_notes if judged else result.notes
        questions = [
            _question(number, question, final.questions[question.name], cells)
            for number, question in enumerate(self._all(result), 1)
        ]
        written = [
            _written(number, name, most, final.written[name], result.readable)
            for number, (name, most) in enumerate(self.spec.written, 1)
        ]
        answers = [
            replace(
                one,
                comment=_comment(marks, one.name),
                place=self._places.get(one.name, Place()),
                public_checks=tuple(result.public_checks.get(one.name, ())),
            )
            for one in (*questions, *written)
        ]
        waiting = [one for one in answers if one.points is None]
        open_ = [one for one in answers if judged and (one.lost > 1e-9 or one.in_question)]
        return {
            "student": plain(result.student, 200),
            "title": self.spec.title,
            "lab": result.lab,
            "submitted": _when(result.submitted_at),
            "status": FAULT_SENTENCE if result.fault else STATUSES[result.status].for_student,
            "all_ran": result.status == "graded",
            "judged": judged,
            "run_notes": [note for note in result.notes if note in first and not _in_a_card(note, result)],
            "notes": [note for note in result.notes if note not in first],
            "changes": [one for one in open_ if not one.unwritten],
            "unwritten": [one for one in open_ if one.unwritten],
            "nothing_written": judged and {one.unwritten for one in questions} == {True},
            "others": [one for one in answers if one not in open_ and one.points is not None],
            "waiting": waiting,
            "late": _late(result.lab, marks),
            "late_penalty": final.late_penalty,
            "waits": _waiting(waiting),
            "unseen": result.lab not in all_labs() or not source_of_import(result.lab),
            "score": final.total,
            "max_score": sum(one.max_points for one in answers if one.points is not None),
        }

    def _all(self, result: SubmissionResult) -> tuple[QuestionResult, ...]:
        """The result's questions and, with 0 points, the lab's other questions."""
        known = {question.name for question in result.questions}
        silent = (QuestionResult(name, 0.0, most) for name, most in self.spec.questions if name not in known)
        return (*result.questions, *silent)


def _in_a_card(note: str, result: SubmissionResult) -> bool:
    """Whether the card of a question names the error that the note names."""
    error = note.partition(" stopped: ")[2]
    return bool(error) and any(q.did_not_run and (q.cause or "").endswith(error) for q in result.questions)


def _question(
    number: int, question: QuestionResult, final: CellPoints, cells: Sequence[tuple[str, str]]
) -> AnswerView:
    words = []
    if final.manual is not None and final.manual != question.points:
        words.append(
            f"Your teacher looked at this and gave {counted_points(final.manual)} "
            f"(the tests gave {points(question.points)})."
        )
    if final.extra_credit:
        words.append(f"Your teacher added {counted_points(final.extra_credit)} of extra credit.")
    headline, messages = _headline(question), {test.message for test in question.tests if not test.passed}
    one_reason = len(messages) == 1 and (question.did_not_run or _same(next(iter(messages)), headline))
    code = own_code(cells, question)
    return AnswerView(
        kind="question",
        number=number,
        name=question.name,
        points=final.final,
        max_points=question.max_points,
        tests=()
        if one_reason and not any(test.passed for test in question.tests)
        else _without_repeats(question.tests),
        headline=headline,
        hint=question.hint or (question.generated and question.cause) or "",
        error="" if code.error else plain(question.error, 2000),
        code=code,
        unwritten={test.message for test in question.tests} == {NOT_WRITTEN},
        forbidden=question.forbidden,
        in_question=question.in_question and final.manual is None,
        by_hand=" ".join(words),
    )


def _headline(question: QuestionResult) -> str:
    """A sentence about what is wrong: the misconception, what the answer does, the kind of error, or the symptom."""
    if question.misconception:
        return f"This looks like: {question.misconception}"
    if question.did_not_run:
        return (question.cause or "").partition(":")[0]
    if question.generated:
        return question.generated
    if question.error:
        where, raises, _ = (question.cause or "").partition("it raises an error")
        return f"{where}{raises}" if raises else "Your function raises an error"
    failed = next((test.message for test in question.tests if not test.passed), "")
    cause = question.cause or failed or ("" if question.tests else "No test of this question could run.")
    return cause[:1].upper() + cause[1:]


def _same(message: str, sentence: str) -> bool:
    return message.strip(".").lower() == sentence.strip(".").lower()


def _without_repeats(tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """The tests; a message that several have ("not written yet") stays only at the first."""
    seen: set[str] = set()
    kept = []
    for test in tests:
        kept.append(replace(test, message="") if test.message in seen else test)
        seen.add(test.message)
    return tuple(kept)


def _written(number: int, name: str, most: float, final: CellPoints, readable: bool) -> AnswerView:
    """A written answer. The remark says why nobody needs to read it."""
    view = AnswerView("written", number, name, None if final.score is None else final.final, most)
    if final.manual is not None or (readable and final.score is None):
        return view
    remark = "There was no answer to read." if readable else "There was no notebook to read it from."
    return replace(view, remark=remark, unwritten=True)


def _comment(marks: TeacherMarks, name: str) -> str:
    """A teacher's comment as HTML. It is markdown with formulas, as in Formgrader."""
    if not (text := marks.comments.get(name)):
        return ""
    from autograder.pages.clean_html import comment_html  # takes half a second to import

    return Markup(comment_html(plain(text)))


def _when(submitted_at: str) -> str:
    """The time as "2 March 2026, 10:00 UTC", or the text itself if it is no time."""
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


def _waiting(answers: Sequence[AnswerView]) -> str:
    if not answers:
        return ""
    more = points(sum(answer.max_points for answer in answers))
    which = "Your written answer has" if len(answers) == 1 else "Your written answers have"
    return f"{which} not been read yet: up to {more} more points."
