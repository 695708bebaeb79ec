"""Grades one submission: repairs it, runs it in the sandbox, tests it from outside and diagnoses what fails.

Which names an answer sees. All cells run once, before any hidden input is used. Then each answer is tested as it was at
its check cell (``kept_name``), with the names of the notebook's end. For most answers that is enough. A question that
loses points is tested again if a cell below its check may have changed what it uses (``later_cells``). For that test the
cells run once more, in a child that stops after the check cell: names, values and libraries are as they were there. The
better result counts; of two equal results, the later. So a helper defined below the check works, as it did in the
student's session, and a scratch cell costs nothing. An answer that is redefined below its check counts as the check saw
it. Imported labs are tested only in a child that stops after each test cell.

What never ends. After a call that takes too long or too much memory, a question's other tests do not run. After a crash they
do: the next input may be harmless. Each question has its own time (``start_turn``). An endless earlier answer is replaced by the
course's before it is called (``follow_through``).
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from coursekit.checks.compare import Outcome

from autograder.course.masters import KERNEL
from autograder.course.policy_file import settings, spec
from autograder.errors import Unreadable
from autograder.grading import cache_keys
from autograder.grading.cell_errors import failed_cells, names_not_made, stopped_cells, with_cell_error
from autograder.grading.later_cells import last_change
from autograder.grading.off_limits import KIT_PARTS, forbidden_used, may_use_kit, names_forbidden, no_tools
from autograder.grading.repair import Template, kept_name, repair
from autograder.grading.repaired import Repaired
from autograder.grading.task import Task
from autograder.judging.run import HiddenTest, TestRun, master_runs, run_test, tests_of
from autograder.judging.safe_errors import safe_error
from autograder.judging.time_guard import READING_SECONDS, JudgeClock, JudgedTooLong, ends_after, judging
from autograder.questions.engine.as_tests import outcomes_seen
from autograder.questions.engine.cause import cause_of, where_wrong
from autograder.questions.engine.diagnosis import candidates, with_same_values
from autograder.questions.engine.mutants import sentence_of_edit
from autograder.questions.engine.question import questions_of
from autograder.questions.engine.rubric import NOT_RUN, paid_anew, points_earned
from autograder.questions.engine.symptoms import KEPT, find_symptom
from autograder.results import (
    STATUSES,
    CellOutcome,
    QuestionResult,
    SubmissionResult,
    TestResult,
)
from autograder.sandbox.host.session import Session, Zygote
from autograder.sandbox.host.student import StudentError, StudentGone

_TOO_LONG_TO_READ = "The code takes too long to search for forbidden functions: a person must look at it."
#: The most seconds for watching a graded answer's calls: wall-clock time, and CPU time of this process.
WATCH_SECONDS = 2.0
#: The end of the notes about answers that were tested only in part; teachers read these notes too.
_UNTIL_SEEN = "of these parts until a person has looked."
_NOT_JUDGED_IN_TIME = "what your function returned is too large or too strange to be judged in time"


@dataclass(frozen=True)
class Run:
    """The outcome of running a notebook: its cells' outcomes, its questions' results, and notes."""

    outcomes: tuple[CellOutcome, ...]
    questions: tuple[QuestionResult, ...]
    notes: tuple[str, ...]
    #: The status with which a cell or a call ended the sandbox, if one did.
    status: str | None = None
    #: The duration of the original run, if its results are reused.
    seconds: float = 0.0
    #: Question -> the outcomes of its calls, for each wrong answer that matches no misconception.
    unnamed: Mapping[str, Mapping[int, Outcome]] = field(default_factory=dict)


#: Statuses in which the next call would end too, so that the question's other tests do not run.
_WOULD_END_AGAIN = ("timed-out", "out-of-memory")
_NO_TIME_LEFT = "the time for this question was over"
#: The message of a test, or of a cell with a test, that the sandbox could not run.
NOT_RUN_ANY_MORE = "this could not be run any more"


@dataclass(frozen=True)
class Tested:
    """The outcome of a question's hidden tests."""

    runs: tuple[TestRun, ...]
    #: The note about the first call that ended the sandbox; none if none did.
    notes: tuple[str, ...]
    #: Call -> its outcome (``Student.once``).
    answered: Mapping[Any, Any]


@dataclass(frozen=True)
class Judged:
    """A question's result, the notes about it, and the status if a call of its tests ended the sandbox."""

    result: QuestionResult
    notes: tuple[str, ...] = ()
    status: str | None = None
    #: The check cell after which it was tested; "" for the notebook's end.
    after: str = ""
    #: The outcomes of its calls, if it is wrong and matches no misconception.
    unnamed: Mapping[int, Outcome] = field(default_factory=dict)


@dataclass(frozen=True)
class Grader:
    """Grades submissions of one lab with a launched zygote. ``context`` digests everything but the submission."""

    lab: str
    zygote: Zygote
    template: Template
    context: cache_keys.Context

    @cached_property
    def points(self) -> dict[str, float]:
        """Question -> its points, in the lab's order."""
        return dict(spec(self.lab).questions)

    def grade(self, task: Task) -> SubmissionResult:
        """Grade one submission. Questions whose key is unchanged keep their earlier result."""
        with ends_after(self.zygote.limits.total_seconds):
            return self._grade(task)

    def _grade(self, task: Task) -> SubmissionResult:
        began = time.perf_counter()
        submission, notebook, earlier = task.submission, task.notebook, task.earlier
        keys = {"raw": notebook.digest, "context": self.context.combined_digest}
        result = SubmissionResult(
            submission.student,
            self.lab,
            status="missing",
            score=0.0,
            max_score=spec(self.lab).max_score,
            seconds=0.0,
            notes=submission.notes,
            submitted_at=submission.submitted_at,
            keys=keys,
        )
        if submission.path is None:
            return self._with_failed_tests(result)
        try:
            if notebook.raw is None:
                raise Unreadable(notebook.trouble)
            repaired = repair(notebook.raw, self.template)
        except Unreadable as reason:
            notes = (*submission.notes, str(reason))
            seconds = time.perf_counter() - began
            return self._with_failed_tests(replace(result, status="unreadable", notes=notes, seconds=seconds))
        keys = keys | self.context.question_keys(repaired.executed_source())
        kept: dict[str, QuestionResult] = {}
        if earlier is not None:
            kept = {q.name: q for q in earlier.questions if earlier.keys.get(q.name) == keys.get(q.name, "")}
            if earlier.keys.get("rubric") != keys["rubric"]:
                kept = {name: paid_anew(self.lab, question) for name, question in kept.items()}
        run = self._earlier_run(earlier, repaired, kept) or self._run(repaired, kept)
        failed = failed_cells(repaired, run.outcomes)
        questions = tuple(with_cell_error(one, repaired, self.template, failed) for one in run.questions)
        lacking = names_not_made(questions, repaired)
        # Sentences about unnamed wrong answers. They take too long for a live attempt, which has a salt of its own.
        generated = {
            name: JudgeClock().tried(partial(sentence_of_edit, self.lab, name, seen), "")
            for name, seen in ({} if task.salt else run.unnamed).items()
        }
        questions = tuple(replace(one, generated=generated.get(one.name, one.generated)) for one in questions)
        untested = (note for note in run.notes if note.endswith(_UNTIL_SEEN))
        choices = (*repaired.choices, *_defined_again(repaired, self.template, questions), *untested)
        a_cell_failed = any(outcome.status == "error" for outcome in run.outcomes)
        return replace(
            result,
            status=run.status or ("partly-run" if a_cell_failed else "graded"),
            score=round(sum(question.points for question in questions), 2),
            seconds=run.seconds or time.perf_counter() - began,
            questions=questions,
            notes=tuple(dict.fromkeys((*submission.notes, *repaired.notes, *choices, *run.notes, *lacking))),
            notebook=_executed(repaired, run.outcomes, self._test_outputs(questions)),
            keys=keys,
            public_checks={name: repaired.saved_checks.get(name, []) for name in self.points},
            run_notes=run.notes,
            choices=(*submission.choices, *choices),
            tested=tuple(name for name in self.points if name not in kept),
        )

    def _with_failed_tests(self, result: SubmissionResult) -> SubmissionResult:
        """The result with a failed row for every hidden test: there is no notebook to grade."""
        message = STATUSES[result.status].test_message
        tests = {
            name: tuple(TestResult(test.title, False, message) for test in tests_of(self.lab)[name])
            for name in self.points
        }
        rows = tuple(QuestionResult(name, 0.0, most, tests[name]) for name, most in self.points.items())
        return replace(result, questions=rows)

    def _earlier_run(
        self, earlier: SubmissionResult | None, repaired: Repaired, kept: Mapping[str, QuestionResult]
    ) -> Run | None:
        """The earlier run if every question is kept, so that nothing has to run; else None."""
        if earlier is None or len(kept) < len(self.points):
            return None
        try:
            cells = json.loads(earlier.notebook)["cells"]
        except (ValueError, KeyError, TypeError):
            return None
        outputs = [cell["outputs"] for cell in cells if cell.get("execution_count") is not None]
        if len(outputs) != len(repaired.executed_source()):
            return None
        outcomes = tuple(CellOutcome(None, i, "ok", 0.0, tuple(made)) for i, made in enumerate(outputs))
        in_order = tuple(kept[name] for name in self.points)
        return Run(outcomes, in_order, earlier.run_notes, earlier.status, earlier.seconds)

    def _test_outputs(self, questions: Sequence[QuestionResult]) -> dict[str, str]:
        """The output of each check cell in the executed notebook: a line for each hidden test of its question."""
        lines = {
            self.template.test_of[question.name]: [
                f"{'✓' if test.passed else '✗'} {test.name}{'' if test.passed else f' {test.message}'}\n"
                for test in question.tests
            ]
            for question in questions
        }
        return {cell: "".join(of_cell) for cell, of_cell in lines.items()}

    def _run(self, repaired: Repaired, kept: Mapping[str, QuestionResult]) -> Run:
        """Run the notebook's cells, then test the questions that are not ``kept``."""
        cells = repaired.labelled_sources()
        notes: list[str] = []
        judged = {name: Judged(question) for name, question in kept.items()}
        with self.zygote.session() as session:
            asked = [name for name in self.points if name not in kept]
            session.start_question(session.limits.question_seconds(1) if asked else 0.0)
            outcomes = session.run_cells(cells)
            status = session.status
            if " was not run: " in session.note:
                notes.append(session.note)
            notes += stopped_cells(failed_cells(repaired, outcomes))
            forbidden = self._forbidden(repaired.executed_source(), notes, asked)
            kept_as: dict[str, str] = {}
            for turn, name in enumerate(asked):
                clock = start_turn(session, turn, len(asked))
                kept_as = kept_as or _kept_names(session, asked)
                function = kept_as.get(name, name)
                judged[name] = self._judged(session, clock, name, function, cells, forbidden, judged)
            again_at_check = self._to_test_again(judged, asked, cells)
            for turn, (place, name) in enumerate(again_at_check):
                clock = start_turn(session, turn, len(again_at_check))
                check = self.template.test_of[name]
                kept_as = _kept_names(session, [name]) if session.stand_after(check) else {}
                if not kept_as:
                    continue  # it has no answer there, or no time is left
                found: list[str] = []
                forbidden = self._forbidden([source for _, source in cells[: place + 1]], found, [name])
                again = self._judged(session, clock, name, kept_as[name], cells, forbidden, judged)
                if again.result.points >= judged[name].result.points:
                    judged[name] = replace(again, notes=(*found, *again.notes), after=check)
            kit = no_tools(self.lab) if may_use_kit(self.lab, repaired.executed_source()) else ()
            questions = tuple(
                judged[name].result if name in kept else self._watched(session, judged[name], kit)
                for name in self.points
            )
        notes += [note for name in asked for note in judged[name].notes]
        notes += [_asks_a_person(question) for question in questions if question.in_question]
        status = status or next((judged[name].status for name in asked if judged[name].status), None)
        unnamed = {name: judged[name].unnamed for name in asked if judged[name].unnamed}
        return Run(tuple(outcomes), questions, tuple(notes), status, unnamed=unnamed)

    def _to_test_again(
        self, judged: Mapping[str, Judged], asked: Sequence[str], cells: Sequence[tuple[str, str]]
    ) -> list[tuple[int, str]]:
        """The questions that lost points, perhaps because of a cell below their check, each with its check's place; in order."""
        failed = [name for name in asked if judged[name].result.points < judged[name].result.max_points]
        if not failed:
            return []
        last = last_change([source for _, source in cells], self.template.given_sources)
        places = {label: place for place, (label, _) in enumerate(cells[: max(last, 0)])}
        checks = ((places.get(self.template.test_of[name]), name) for name in failed)
        return sorted((place, name) for place, name in checks if place is not None)

    def _forbidden(
        self, cells: Sequence[str], notes: list[str], questions: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """The forbidden names that each answer uses. Adds a note if the code takes too long to read."""
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
        clock: JudgeClock,
        name: str,
        function: str,
        cells: Sequence[tuple[str, str]],
        forbidden: Mapping[str, tuple[str, ...]],
        others: Mapping[str, Judged],
    ) -> Judged:
        """Run a question's hidden tests on ``function`` in the session's current child, and say what is wrong with it."""
        session.status = None
        points, used = self.points[name], forbidden.get(name, ())
        wrong = [
            other
            for other, known in others.items()
            if any(test.message or not test.passed for test in known.result.tests)
        ]
        endless = endless_in(self.lab, others)
        tested = run_tests(session, clock, name, tests_of(self.lab)[name], function, wrong, endless)
        runs = tested.runs
        known = candidates(self.lab, name, runs)  # computing their values takes no time from the question
        diagnosis = clock.tried(lambda: with_same_values(known, runs), None)
        score = points_earned(self.lab, name, points, runs, diagnosis)
        if used and settings().forbidden == "zero":
            score = 0.0
        symptom, where, seen = None, "", outcomes_seen(tested.answered)
        is_wrong = not all(run.result.passed for run in runs)
        if diagnosis is None and is_wrong:
            master_runs(self.lab, name)  # made once for the class; takes no time from the question
            symptom = clock.tried(lambda: find_symptom(self.lab, name, runs), None)
            where = where_wrong(clock, self.lab, name, runs, seen, symptom)
        shown_error = shown_error_of(runs, cells)
        result = QuestionResult(
            name,
            score,
            points,
            tuple(run.result for run in runs),
            diagnosis.title if diagnosis else None,
            diagnosis.hint if diagnosis else None,
            shown_error,
            diagnosis.title if diagnosis else cause_of(runs, symptom, shown_error, where),
            used,
        )
        explained = diagnosis or symptom is KEPT or shown_error or tested.notes or result.is_partly_tested
        is_unnamed = is_wrong and not explained
        return Judged(result, tested.notes, session.status, unnamed=seen if is_unnamed else {})

    def _watched(self, session: Session, judged: Judged, kit: Sequence[str]) -> QuestionResult:
        """The question with a forbidden function or ``kit`` part that its answer calls, if reading the code found none.

        The passed tests run once more. Their values, statuses and time-outs do not count. Only one name is shown: the
        student's process reports the calls, and a list could encode a hidden input.
        """
        question = judged.result
        names = (*names_forbidden(self.lab, question.name), *kit)
        if not names or question.forbidden or not question.points:
            return question
        try:
            session.start_question(reserved=0.0)
            if not session.stand_after(judged.after) or not session.student(question.name).watch(names):
                return question
            student = session.student(_kept_names(session, [question.name]).get(question.name, question.name))
            clock, until = JudgeClock(WATCH_SECONDS), time.monotonic() + WATCH_SECONDS
            for test, result in zip(tests_of(self.lab)[question.name], question.tests, strict=True):
                if result.passed and time.monotonic() <= until:
                    with clock.judging():
                        run_test(test, student)
            seen = student.watched(names)[:1]
        except (Exception, JudgedTooLong):  # the answer has its grade already
            return question
        if not seen:
            return question
        called = KIT_PARTS if seen[0].startswith("coursekit.") else seen[0]
        points = 0.0 if settings().forbidden == "zero" else question.points
        return replace(question, forbidden=(called,), points=points)


def _asks_a_person(question: QuestionResult) -> str:
    if question.is_partly_tested:
        return (
            f"“{question.name}” needs an earlier answer that is not right, so not all of it can be tested: "
            f"it keeps the points {_UNTIL_SEEN}"
        )
    return (
        f"“{question.name}” uses {', '.join(question.forbidden)}, which it asks you to do without: "
        "a person looks at it before it costs points."
    )


def _defined_again(
    repaired: Repaired, template: Template, questions: Sequence[QuestionResult]
) -> tuple[str, ...]:
    """Sentences about answers that lost points and are defined again in a cell after their check."""
    said = []
    for question in questions:
        test_id = template.test_of[question.name]
        check = next(cell for cell in repaired.cells if cell.grade_id == test_id)
        later = repaired.cells[repaired.cells.index(check) :]
        for answer in template.tested[test_id] if question.points < question.max_points else ():
            if again := [cell for cell in repaired.again.get(answer, ()) if cell in later]:
                said.append(
                    f"“{answer}” is defined once more in {again[-1].where}: what stands in its own cell counts."
                )
    return tuple(said)


def shown_error_of(runs: Sequence[TestRun], sources: Sequence[tuple[str, str]]) -> str:
    """The first error of a question's tests as its student may see it; "" for none or an unwritten answer."""
    errors = (run.error for run in runs if run.error is not None)
    error = next((e for e in errors if e.type_name != "NotImplementedError" or e.message), None)
    return safe_error(error, sources)


def endless_in(lab: str, judged: Mapping[str, Judged]) -> set[str]:
    """The questions whose answers ran out of time or memory, and those whose answers call them."""
    endless = {name for name, one in judged.items() if one.status in _WOULD_END_AGAIN}
    users = {n for n, question in questions_of(lab).items() if not endless.isdisjoint(question.uses)}
    return endless | users


def start_turn(session: Session, turn: int, turns: int) -> JudgeClock:
    """Start a question's turn, of ``turns`` that have equal shares of the time. Returns the clock for judging.

    It may use all time but the later turns' shares: a slow question has plenty, and an endless one costs only itself.
    """
    session.start_question(session.limits.question_seconds(turns) * (turns - 1 - turn))
    return JudgeClock()


def run_tests(
    session: Session,
    clock: JudgeClock,
    question: str,
    tests: Sequence[HiddenTest],
    function: str,
    wrong: Sequence[str] | None = None,
    endless: Collection[str] = (),
) -> Tested:
    """Run a question's hidden tests. A test that ends the sandbox fails. After one that used up time or memory, no other runs.

    ``function``: the answer's name. ``wrong``: the other answers that are wrong (None: unknown). ``endless``: those that
    never end.
    """
    runs: list[TestRun] = []
    notes: list[str] = []
    answered: dict[Any, Any] = {}
    for test in tests:
        student, end = None, ""
        try:
            if session.is_over or not session.revive():
                end = "timed-out" if session.is_over else ""
                session.status = session.status or end or None
                message = _NO_TIME_LEFT if end else NOT_RUN_ANY_MORE
            else:
                student = session.student(function)
                student.wrong, student.endless, student.answered = wrong, frozenset(endless), answered
                with clock.judging():
                    runs.append(run_test(test, student))
                continue
        except JudgedTooLong:
            message = _NOT_JUDGED_IN_TIME
        except StudentGone as gone:
            end, message = gone.reason, STATUSES[gone.reason].test_message
        trace = tuple(student.trace) if student is not None else ()
        runs.append(TestRun(test, TestResult(test.title, False, message), trace))
        notes += [f"While “{question}” was tested, {message}."] if end and not notes else []
        if end in _WOULD_END_AGAIN:
            unrun = f"{NOT_RUN}: {message} in an earlier test"
            rest = tests[len(runs) :]
            runs += [TestRun(one, TestResult(one.title, False, unrun), (), ran=False) for one in rest]
            break
    return Tested(tuple(runs), tuple(notes), answered)


def _kept_names(session: Session, questions: Sequence[str]) -> dict[str, str]:
    """Question -> the name under which its test cell kept the answer; without the questions of which it kept none."""
    names, found = {kept_name(name): name for name in questions}, list[str]()
    with contextlib.suppress(StudentGone, StudentError):
        found = session.callables([*names]) if session.revive() else []
    return {names[kept]: kept for kept in found}


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
                "outputs": [
                    {**made, "execution_count": count} if made["output_type"] == "execute_result" else made
                    for made in outcome.outputs
                ],
            }
            if text := shown.get(cell.grade_id or ""):
                node["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
        cells.append(node)
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False)
