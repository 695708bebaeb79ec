"""Grades one submission: repair, run in the sandbox, test from outside, diagnose, and put it into a result.

Which names an answer sees. All cells run once, and nothing hidden is asked before they have. Then each answer is tested as it
stood at its check cell (``kept_name``), with the names of the notebook's end: so nearly all are judged, at no more cost. A
question that loses points there is asked again if a cell below its check may have changed what it uses (``later_cells``). For
that the cells run once more, in a child that stops after each check cell in question: there all is as it was, names, values
and libraries. The better result counts, and the later one of two that are equal. So a helper that stands below the check
serves, as it did in the student's session, and a scratch cell costs nothing. An answer that is written anew below its check
counts as the check saw it. Labs that were imported are tested in such a child only.

What never ends. A question is asked no more after a call that took too long or too much memory; after a crash it is, for the
next input may be harmless. Each has time of its own (``budgets``). An answer that calls an endless one of another question is
tested with that one raising an error at once, so that ``follow_through`` puts the right one in its place.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.course.policy_file import settings, spec
from autograder.errors import Unreadable
from autograder.grading import cache_keys
from autograder.grading.budgets import Budgets
from autograder.grading.cause import cause_of, where_wrong
from autograder.grading.cell_errors import stopped_cells, with_cell_errors
from autograder.grading.demonstrations import made_by_demonstrations, names_bound
from autograder.grading.diagnosis import candidates, with_same_values
from autograder.grading.later_cells import last_change
from autograder.grading.off_limits import KIT_PARTS, forbidden_used, may_use_kit, names_forbidden, no_tools
from autograder.grading.repair import Template, kept_name, repair
from autograder.grading.repaired import Repaired
from autograder.grading.rubric import NOT_RUN, paid_anew, points_earned
from autograder.grading.submissions import Notebook, Submission
from autograder.grading.symptoms import KEPT, Symptom, find_symptom
from autograder.grading.task import Task
from autograder.grading.time_guard import READING_SECONDS, JudgeClock, JudgedTooLong, ends_after, judging
from autograder.grading.zygotes import Zygotes
from autograder.questions.engine.answers import Answer
from autograder.questions.engine.as_tests import outcomes_seen
from autograder.questions.engine.compare import Outcome
from autograder.questions.engine.mutants import generated_name
from autograder.results import (
    STATUSES,
    CellOutcome,
    QuestionResult,
    SubmissionResult,
    TestResult,
)
from autograder.sandbox.host.rpc import StudentError, StudentGone
from autograder.sandbox.host.session import Session
from autograder.sandbox.host.student import Student
from autograder.testing.evidence import traces_match
from autograder.testing.run import HiddenTest, TestRun, master_runs, run_test, tests_of
from autograder.testing.safe_errors import safe_error

_TOO_LONG_TO_READ = "The code takes too long to be searched for functions that a question forbids: somebody has to look at it."
#: Seconds that watching an answer's calls may take, once it is graded: of the clock, and of this side's CPU time.
WATCH_SECONDS = 2.0
#: Ends the note about an answer that could not be tested with the course's earlier answers.
_UNTIL = "of these parts until a person has looked."
_NOT_JUDGED_IN_TIME = "what your function returned is too large or too strange to be judged in time"


@dataclass(frozen=True)
class Run:
    """What came of running a notebook: its cells' outcomes, its questions' results, how it ended, in sentences too."""

    outcomes: tuple[CellOutcome, ...]
    questions: tuple[QuestionResult, ...]
    status: str
    notes: tuple[str, ...]
    #: How long it took when it was run, for one that is taken over.
    seconds: float = 0.0
    #: Of each wrong answer that nobody has described: what its calls came to.
    unnamed: Mapping[str, Mapping[int, Outcome]] = field(default_factory=dict)


#: Ends of a call that the next one would come to as well: the question is asked no more.
_ENDS_AGAIN = ("timed-out", "out-of-memory")
_NO_TIME_LEFT = "the time for this question was over"

#: Runs in the sandbox: functions that have been found to take too long raise at once where another answer calls them.
_STOPPED = """
import functools


def stopped(function):
    @functools.wraps(function)
    def raises(*args, **kwargs):
        raise RuntimeError("this function took too long before, and is called no more")

    return raises


functions = {name: student_namespace[name] for name in names if callable(student_namespace.get(name))}
student_namespace.update({name: stopped(function) for name, function in functions.items()})
"""


@dataclass(frozen=True)
class Tested:
    """What came of a question's hidden tests."""

    runs: tuple[TestRun, ...]
    #: The first call that ended the sandbox, in words; "" where none did.
    end: str = ""
    #: The endless functions of other questions without which the tests ran.
    without: tuple[str, ...] = ()
    #: What was asked, and what came of it (``Student.once``).
    answered: Mapping[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """A question's result, what is noted of it, and how a call of its tests ended the sandbox (None where none did)."""

    result: QuestionResult
    notes: tuple[str, ...] = ()
    status: str | None = None
    #: The check cell after which it was tested, where that was not the notebook's end.
    after: str = ""
    #: What its calls came to, where it is wrong and nobody has described how.
    unnamed: Mapping[int, Outcome] = field(default_factory=dict)

    @property
    def leans_or_fails(self) -> bool:
        """Whether a test fails, or passes only with the course's earlier answers."""
        return any(test.message or not test.passed for test in self.result.tests)


@dataclass(frozen=True)
class Grader:
    """Grades submissions of one lab with warm zygotes. ``context`` digests all that is not the submission."""

    lab: str
    zygotes: Zygotes
    template: Template
    context: cache_keys.Context

    def grade(self, task: Task) -> SubmissionResult:
        """Grade one submission; questions whose key is unchanged are taken over from its earlier result."""
        with ends_after(self.zygotes.plain.limits.total_seconds):
            return self._grade(task)

    def _grade(self, task: Task) -> SubmissionResult:
        began = time.perf_counter()
        submission, notebook = task.submission, task.notebook
        keys = {"raw": notebook.digest, "context": self.context.whole}
        if submission.path is None:
            return replace(self._nothing(submission, "missing", ()), keys=keys)
        try:
            if notebook.raw is None:
                raise Unreadable(notebook.trouble)
            repaired = repair(notebook.raw, self.template)
        except Unreadable as reason:
            result = self._nothing(submission, "unreadable", (*submission.notes, str(reason)))
            return replace(result, seconds=time.perf_counter() - began, keys=keys)
        keys |= self.context.question_keys(repaired.executed_source())
        kept = _unchanged(task.earlier, keys)
        if task.earlier is not None and task.earlier.keys.get("rubric") != keys["rubric"]:
            kept = {name: paid_anew(self.lab, question) for name, question in kept.items()}
        run = _taken_over(task.earlier, repaired, kept, spec(self.lab).questions)
        run = run or self._run(repaired, kept, notebook)
        questions = with_cell_errors(run.questions, repaired, self.template, run.outcomes)
        if not task.salt:  # an attempt in the live class has its verdict at once
            questions = tuple(_with_generated_name(self.lab, one, run.unnamed) for one in questions)
        untested = (note for note in run.notes if note.endswith(_UNTIL))
        choices = (*repaired.choices, *_defined_again(repaired, self.template, questions), *untested)
        return SubmissionResult(
            student=submission.student,
            lab=self.lab,
            status=run.status,
            score=round(sum(question.points for question in questions), 2),
            max_score=spec(self.lab).max_score,
            seconds=run.seconds or time.perf_counter() - began,
            questions=questions,
            notes=tuple(dict.fromkeys((*submission.notes, *repaired.notes, *choices, *run.notes))),
            notebook=_executed(repaired, run.outcomes, self._shown(questions)),
            submitted_at=submission.submitted_at,
            keys=keys,
            public_checks={name: repaired.saved_checks.get(name, []) for name, _ in spec(self.lab).questions},
            run_notes=run.notes,
            choices=(*submission.choices, *choices),
            tested=tuple(name for name, _ in spec(self.lab).questions if name not in kept),
        )

    def _shown(self, questions: Sequence[QuestionResult]) -> dict[str, str]:
        """What stands under each check cell of the executed notebook: its question's hidden tests, a line each."""
        lines = {
            self.template.test_of[question.name]: [
                f"{'✓' if test.passed else '✗'} {test.name}{'' if test.passed else f' {test.message}'}\n"
                for test in question.tests
            ]
            for question in questions
        }
        return {cell: "".join(of_cell) for cell, of_cell in lines.items()}

    def _run(self, repaired: Repaired, kept: Mapping[str, QuestionResult], notebook: Notebook) -> Run:
        """Run the notebook's cells, then test the questions that are not ``kept``."""
        sources = labelled_sources(repaired)
        notes: list[str] = []
        judged = {name: Judged(question) for name, question in kept.items()}
        with self.zygotes.zygote_for(notebook).session() as session:
            asked = [name for name, _ in spec(self.lab).questions if name not in kept]
            budgets = Budgets(session, JudgeClock(), asked)
            outcomes = session.run_cells(sources)
            status = session.status
            if session.note:
                notes.append(_naming_the_question(session.note, self.template))
            notes += stopped_cells(repaired, outcomes)
            forbidden = self._forbidden(repaired.executed_source(), notes, asked)
            for name in asked:
                judged[name] = self._judged(session, budgets, name, repaired, forbidden.get(name, ()), judged)
            for name in self._to_ask_again(judged, asked, repaired):
                again = self._judged_at_its_check(session, budgets, name, repaired, judged)
                if again is not None and again.result.points >= judged[name].result.points:
                    judged[name] = again
            kit = no_tools(self.lab) if may_use_kit(self.lab, repaired.executed_source()) else ()
            questions = tuple(
                judged[name].result if name in kept else self._watched(session, judged[name], kit)
                for name, _ in spec(self.lab).questions
            )
        notes += [note for name in asked for note in judged[name].notes]
        notes += [_asks_a_person(question) for question in questions if question.in_question]
        status = status or next((judged[name].status for name in asked if judged[name].status), None)
        if status is None:
            status = "partly-run" if any(outcome.status == "error" for outcome in outcomes) else "graded"
        unnamed = {name: judged[name].unnamed for name in asked if judged[name].unnamed}
        return Run(tuple(outcomes), questions, status, tuple(notes), unnamed=unnamed)

    def _to_ask_again(
        self, judged: Mapping[str, Judged], asked: Sequence[str], repaired: Repaired
    ) -> list[str]:
        """The questions that lost points where a cell below their check may have had a part in it, in the notebook's order."""
        failed = [name for name in asked if judged[name].result.points < judged[name].result.max_points]
        if not failed:
            return []
        cells = labelled_sources(repaired)
        last = last_change([source for _, source in cells], self.template.given_sources)
        places = {label: place for place, (label, _) in enumerate(cells)}
        place_of = {name: places.get(self.template.test_of[name], len(cells)) for name in failed}
        return sorted((name for name in failed if place_of[name] < last), key=place_of.__getitem__)

    def _judged_at_its_check(
        self, session: Session, budgets: Budgets, name: str, repaired: Repaired, others: Mapping[str, Judged]
    ) -> Judged | None:
        """The question with all as it stood when its check cell had run; None if there was no answer then, or no time is left."""
        check = self.template.test_of[name]
        cells = labelled_sources(repaired)
        place = [label for label, _ in cells].index(check)
        with budgets.of(name):
            if not session.stand_after(check) or _graded_name(session, name) == name:
                return None
        notes: list[str] = []
        forbidden = self._forbidden([source for _, source in cells[: place + 1]], notes, [name])
        judged = self._judged(session, budgets, name, repaired, forbidden.get(name, ()), others)
        return replace(judged, notes=(*notes, *judged.notes), after=check)

    def _nothing(self, submission: Submission, status: str, notes: tuple[str, ...]) -> SubmissionResult:
        message = STATUSES[status].test_message
        questions = tuple(
            QuestionResult(
                name,
                0.0,
                points,
                tuple(TestResult(test.title, False, message) for test in tests_of(self.lab)[name]),
            )
            for name, points in spec(self.lab).questions
        )
        return SubmissionResult(
            submission.student,
            self.lab,
            status,
            0.0,
            spec(self.lab).max_score,
            0.0,
            questions,
            notes or submission.notes,
            submitted_at=submission.submitted_at,
        )

    def _forbidden(
        self, cells: Sequence[str], notes: list[str], questions: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """The forbidden names that each answer uses; a note where the code is not one to be read in time."""
        used: dict[str, tuple[str, ...]] = {}
        try:
            with judging(READING_SECONDS):
                for name in questions:
                    used[name] = forbidden_used(self.lab, name, cells)
        except JudgedTooLong:
            notes.append(_TOO_LONG_TO_READ)
        return used

    def _judged(
        self,
        session: Session,
        budgets: Budgets,
        name: str,
        repaired: Repaired,
        forbidden: tuple[str, ...],
        others: Mapping[str, Judged],
    ) -> Judged:
        """Run a question's hidden tests, in its own time, on the answer as it stands in the child that is there."""
        session.status = None
        notes: list[str] = []
        with budgets.of(name) as clock:
            result, unnamed = self._question(session, clock, name, repaired, forbidden, others, notes)
        return Judged(result, tuple(notes), session.status, unnamed=unnamed)

    def _question(
        self,
        session: Session,
        clock: JudgeClock,
        name: str,
        repaired: Repaired,
        forbidden: tuple[str, ...],
        others: Mapping[str, Judged],
        notes: list[str],
    ) -> tuple[QuestionResult, Mapping[int, Outcome]]:
        """The question's result, with the cause of what fails; and what its calls came to, where a slip has no name."""
        points = dict(spec(self.lab).questions)[name]
        function = _graded_name(session, name)
        endless = [other for other, known in others.items() if other != name and known.status in _ENDS_AGAIN]
        wrong = [other for other, known in others.items() if known.leans_or_fails]
        tested = run_tests(session, clock, function, tests_of(self.lab)[name], endless, wrong)
        runs = tested.runs
        if tested.end:
            notes.append(f"While “{name}” was tested, {tested.end}.")
        if missing := _missing_names(clock, runs, name, repaired, self.template):
            notes.append(
                f"“{name}” uses {missing}, which only a cell makes that does not run when work is graded: make it in a cell of your own."
            )
        diagnosis = _diagnosis(clock, self.lab, name, runs)
        score = points_earned(self.lab, name, points, runs, diagnosis)
        if forbidden and settings().forbidden == "zero":
            score = 0.0
        symptom, where, seen = None, "", outcomes_seen(tested.answered)
        if diagnosis is None:
            where = where_wrong(clock, self.lab, name, runs, seen)
            kept = not tested.end and _answers_differ(session, clock, function, tested, wrong)
            symptom = KEPT if kept else _symptom(clock, self.lab, name, runs)
        shown_error = shown_error_of(runs, labelled_sources(repaired))
        result = QuestionResult(
            name,
            score,
            points,
            tuple(run.result for run in runs),
            diagnosis.title if diagnosis else None,
            diagnosis.hint if diagnosis else None,
            shown_error,
            diagnosis.title if diagnosis else cause_of(runs, symptom, shown_error, where),
            forbidden,
        )
        explained = diagnosis or symptom is KEPT or shown_error or tested.end or result.is_partly_tested
        slips = not explained and any(not run.result.passed for run in runs)
        return result, seen if slips else {}

    def _watched(self, session: Session, judged: Judged, kit: Sequence[str]) -> QuestionResult:
        """The question with the forbidden functions or parts of the ``kit`` that its answer is seen to call, where reading found none.

        Its tests that passed run once more. Nothing of that counts: no value, no status, no time-out.
        """
        question = judged.result
        names = (*names_forbidden(self.lab, question.name), *kit)
        if not names or question.forbidden or not question.points:
            return question
        tests = zip(tests_of(self.lab)[question.name], question.tests, strict=True)
        passed = [test for test, result in tests if result.passed]
        seen = _seen_called(session, judged, names, passed)
        points = 0.0 if seen and settings().forbidden == "zero" else question.points
        return replace(question, forbidden=seen, points=points)


def _with_generated_name(
    lab: str, question: QuestionResult, unnamed: Mapping[str, Mapping[int, Outcome]]
) -> QuestionResult:
    """The question with what its answer does, where an edit of a right one does the same. Looking for one never costs a grade."""
    if question.name not in unnamed:
        return question
    try:
        with judging():
            return replace(question, generated=generated_name(lab, question.name, unnamed[question.name]))
    except (Exception, JudgedTooLong):
        return question


def _seen_called(
    session: Session, judged: Judged, names: Sequence[str], tests: Sequence[HiddenTest]
) -> tuple[str, ...]:
    """A library function of ``names`` that the student's code calls while these tests run.

    One at most: which of them were called is the word of the student's side, and could spell a hidden input.
    """
    question = judged.result.name
    try:
        session.start_question(reserved=0.0)
        if not session.stand_after(judged.after) or not session.student(question).watch(names):
            return ()
        student = session.student(_graded_name(session, question))
        clock, until = JudgeClock(WATCH_SECONDS), time.monotonic() + WATCH_SECONDS
        for test in tests:
            with clock.judging():
                run_test(test, student)
            if time.monotonic() > until:
                break
        return tuple(
            KIT_PARTS if name.startswith("coursekit.") else name for name in student.watched(names)[:1]
        )
    except (Exception, JudgedTooLong):  # whatever it is, the answer has been graded
        return ()


def _asks_a_person(question: QuestionResult) -> str:
    if question.is_partly_tested:
        return (
            f"“{question.name}” needs an earlier answer that is not right, so not all of it can be tested: "
            f"it keeps the points {_UNTIL}"
        )
    return (
        f"“{question.name}” uses {', '.join(question.forbidden)}, which it asks you to do without: "
        "a person looks at it before it costs points."
    )


def _diagnosis(clock: JudgeClock, lab: str, question: str, runs: Sequence[TestRun]) -> Answer | None:
    """The misconception behind it, unless comparing the values takes too long. Looking for one never costs a grade."""
    known = candidates(lab, question, runs)  # what they return is computed at nobody's expense
    try:
        with clock.judging():
            return with_same_values(known, runs)
    except (Exception, JudgedTooLong):
        return None


def _symptom(clock: JudgeClock, lab: str, question: str, runs: Sequence[TestRun]) -> Symptom | None:
    """What the values show, unless looking at them takes too long. A value of a strange kind shows nothing."""
    if all(run.result.passed for run in runs):
        return None
    master_runs(lab, question)  # made once for the class, at nobody's expense
    try:
        with clock.judging():
            return find_symptom(lab, question, runs)
    except (Exception, JudgedTooLong):
        return None


def _defined_again(
    repaired: Repaired, template: Template, questions: Sequence[QuestionResult]
) -> tuple[str, ...]:
    """Sentences about answers that lost points and that a cell behind their check defines once more."""
    said = []
    for question in questions:
        test_id = template.test_of[question.name]
        check = next(cell for cell in repaired.cells if cell.grade_id == test_id)
        later = repaired.cells[repaired.cells.index(check) :]
        for answer in template.tested[test_id] if question.points < question.max_points else ():
            if again := [cell for cell in repaired.again.get(answer, ()) if cell in later]:
                said.append(
                    f"“{answer}” is defined once more in {repaired.where(again[-1])}: what stands in its own cell counts."
                )
    return tuple(said)


def _missing_names(
    clock: JudgeClock, runs: Sequence[TestRun], question: str, repaired: Repaired, template: Template
) -> str:
    """The names in an answer that only a demonstration makes, where a test ended in a NameError; "" where none did.

    Nothing is said of what takes too long to read, or cannot be read.
    """
    if not any(run.error is not None and run.error.type_name == "NameError" for run in runs):
        return ""
    answer = "\n".join(cell.run for cell in repaired.cells if question in cell.answers)
    shown = (
        cell.node.source
        for cell in repaired.cells
        if cell.node.cell_type == "code" and cell.run != cell.node.source
    )
    try:
        with clock.judging():
            missing = made_by_demonstrations(answer, template, shown)
            made = names_bound(cell.run for cell in repaired.cells if cell.run) if missing else ()
    except (Exception, JudgedTooLong):
        return ""
    return ", ".join(f"`{name}`" for name in missing if name not in made)


def _answers_differ(
    session: Session, clock: JudgeClock, function: str, tested: Tested, wrong: Sequence[str]
) -> bool:
    """Whether the first test that failed by its values sees others when it runs once more, on the same inputs."""
    runs = tested.runs
    failed = next((run for run in runs if not run.result.passed and run.error is None and run.trace), None)
    if failed is None or not _same_traces(clock, failed, failed):  # what cannot be compared equals nothing
        return False
    status = session.status
    again, end = run_in(session, clock, function, failed.test, tested.without, wrong)
    session.status = status  # how the second time ended is nobody's fault
    return not end and bool(again.trace) and _same_traces(clock, again, failed) is False


def _same_traces(clock: JudgeClock, one: TestRun, other: TestRun) -> bool | None:
    """Whether two runs saw the same values; None where that cannot be said."""
    try:
        with clock.judging():
            return traces_match(one.trace, other.trace)
    except (Exception, JudgedTooLong):
        return None


def shown_error_of(runs: Sequence[TestRun], sources: Sequence[tuple[str, str]]) -> str:
    """The first error of a question's tests as its student may see it; "" where nothing is but not written yet."""
    errors = (run.error for run in runs if run.error is not None)
    error = next((e for e in errors if e.type_name != "NotImplementedError" or e.message), None)
    return safe_error(error, sources)


def labelled_sources(repaired: Repaired) -> list[tuple[str, str]]:
    """The cells that run, each under the name by which notes and errors call it."""
    return [(cell.grade_id or f"number {cell.number}", cell.run) for cell in repaired.cells if cell.run]


def run_tests(
    session: Session,
    clock: JudgeClock,
    function: str,
    tests: Sequence[HiddenTest],
    endless: Sequence[str] = (),
    wrong: Sequence[str] | None = None,
) -> Tested:
    """Run a question's hidden tests. One that ends the sandbox fails; after its time or memory is over, none is run.

    Where that happens, and answers to other questions are known to be ``endless``, they may be to blame: from then on they
    raise an error at once when this one calls them. ``wrong``: the other answers that are not right (None: nobody knows).
    """
    runs: list[TestRun] = []
    first, unrun = "", ""
    without: tuple[str, ...] = ()
    answered: dict[Any, Any] = {}
    for test in tests:
        if unrun:
            runs.append(TestRun(test, TestResult(test.title, False, unrun), (), ran=False))
            continue
        status = session.status
        run, end = run_in(session, clock, function, test, without, wrong, answered)
        if end in _ENDS_AGAIN and endless and not without:
            session.status, without, answered = status, tuple(endless), {}
            run, end = run_in(session, clock, function, test, without, wrong, answered)
        runs.append(run)
        first = first or (run.result.message if end else "")
        if end in _ENDS_AGAIN:
            unrun = f"{NOT_RUN}: {run.result.message} in an earlier test"
    return Tested(tuple(runs), first, without, answered)


def run_in(
    session: Session,
    clock: JudgeClock,
    function: str,
    test: HiddenTest,
    without: Sequence[str] = (),
    wrong: Sequence[str] | None = None,
    answered: dict[Any, Any] | None = None,
) -> tuple[TestRun, str]:
    """The test's verdict, and the status to which its call ended the sandbox ("" if it did not).

    ``answered``: what tests before this one asked the same answer (``Student.once``).
    """
    student: Student | None = None
    try:
        if session.is_over or not session.revive():
            end = "timed-out" if session.is_over else ""
            session.status = session.status or end or None
            message = _NO_TIME_LEFT if end else "this could not be run any more"
            return TestRun(test, TestResult(test.title, False, message), ()), end
        student = session.student(function)
        student.wrong, student.answered = wrong, {} if answered is None else answered
        with _stopped(student, without), clock.judging():
            return run_test(test, student), ""
    except JudgedTooLong:
        trace = tuple(student.trace) if student is not None else ()
        return TestRun(test, TestResult(test.title, False, _NOT_JUDGED_IN_TIME), trace), ""
    except StudentGone as gone:
        trace = tuple(student.trace) if student is not None else ()
        message = STATUSES[gone.reason].test_message
        return TestRun(test, TestResult(test.title, False, message), trace), gone.reason


@contextlib.contextmanager
def _stopped(student: Student, functions: Sequence[str]) -> Iterator[None]:
    """Have these functions raise an error at once when the student's code calls them."""
    scene = None
    with contextlib.suppress(StudentError):
        scene = student.scene(_STOPPED, names=list(functions)) if functions else None
    try:
        yield
    finally:
        with contextlib.suppress(StudentGone, StudentError):
            if scene is not None:
                scene.run("student_namespace.update(functions)")


def _naming_the_question(note: str, template: Template) -> str:
    """The sandbox's sentence about a cell, with the question that the cell belongs to."""
    for question, test_id in template.test_of.items():
        if note.startswith(f"The cell {test_id} "):
            return note.replace(f"The cell {test_id}", f"The public check of “{question}”", 1)
        if note.startswith(f"The cell {question} "):
            return note.replace(f"The cell {question}", f"The answer cell of “{question}”", 1)
    return note


def _graded_name(session: Session, question: str) -> str:
    """The name of the answer as it stood when its test cell ran, or else as it is now."""
    kept = kept_name(question)
    try:
        return kept if session.revive() and session.is_callable(kept) else question
    except (StudentGone, StudentError):
        return question


def _unchanged(earlier: SubmissionResult | None, keys: Mapping[str, str]) -> dict[str, QuestionResult]:
    if earlier is None:
        return {}
    return {q.name: q for q in earlier.questions if earlier.keys.get(q.name) == keys[q.name]}


def _taken_over(
    earlier: SubmissionResult | None,
    repaired: Repaired,
    kept: Mapping[str, QuestionResult],
    questions: Sequence[tuple[str, float]],
) -> Run | None:
    """The earlier run, when every question is kept and so nothing has to run; None when something has."""
    if earlier is None or any(name not in kept for name, _ in questions):
        return None
    try:
        cells = json.loads(earlier.notebook)["cells"]
    except (ValueError, KeyError, TypeError):
        return None
    outputs = [cell["outputs"] for cell in cells if cell.get("execution_count") is not None]
    if len(outputs) != len(repaired.executed_source()):
        return None
    outcomes = tuple(CellOutcome(None, i, "ok", 0.0, tuple(made)) for i, made in enumerate(outputs))
    in_order = tuple(kept[name] for name, _ in questions)
    return Run(outcomes, in_order, earlier.status, earlier.run_notes, earlier.seconds)


def _executed(repaired: Repaired, outcomes: Sequence[CellOutcome], shown: Mapping[str, str]) -> str:
    """The repaired notebook with this run's outputs, as nbformat JSON; ``shown`` is the output of test cells."""
    cells: list[dict[str, Any]] = []
    waiting = iter(outcomes)
    count = 0
    for position, cell in enumerate(repaired.cells):
        node: dict[str, Any] = {**cell.node, "id": f"c{position}"}
        if node["cell_type"] == "code":
            node |= {"outputs": [], "execution_count": None}
        if cell.run and (outcome := next(waiting, None)) is not None and node["cell_type"] == "code":
            count += 1
            node |= {
                "execution_count": count,
                "outputs": [_counted(output, count) for output in outcome.outputs],
            }
            if text := shown.get(cell.grade_id or ""):
                node["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
        cells.append(node)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False)


def _counted(output: dict[str, Any], count: int) -> dict[str, Any]:
    return {**output, "execution_count": count} if output.get("output_type") == "execute_result" else output
