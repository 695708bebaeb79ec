"""Audits a question: its file, and how its hidden tests and its card judge every known answer.

Right answers must keep all points and have a green card. Each misconception must be recognised as itself, lose points, and
have a red card with its own hint, unless ``card=`` says why not. Worthless answers must earn next to nothing.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from types import FunctionType
from typing import Any

from coursekit.checks.api import judge
from coursekit.checks.compare import value_difference
from coursekit.checks.encoding import encode
from coursekit.checks.values import as_numbers
from coursekit.notebook import cards

from autograder.course.masters import solution
from autograder.judging.run import (
    TestRun,
    earned,
    master_runs,
    run_question,
    salt,
    student_with_answer,
    traces_match,
)
from autograder.questions.engine.answers import fresh_answers
from autograder.questions.engine.diagnosis import diagnose, known_answers
from autograder.questions.engine.draw import PUBLIC, Trial, trials_of
from autograder.questions.engine.question import Answer, Question, questions_of
from autograder.questions.engine.rubric import points_earned

#: The largest share of the points that a worthless answer may earn.
MAX_FOR_NOTHING = 0.05
#: The largest difference, as a share of the points, between a cost and the failed tests' weight without a reason.
MAX_WITHOUT_REASON = 0.25


@dataclass(frozen=True)
class AnswerAudit:
    """One answer's result in the hidden tests and on the card."""

    name: str
    kind: str  # "master", "alternative", "misconception" or "worthless"
    points: float
    max_points: float
    runs: tuple[TestRun, ...]
    #: What is wrong with a misconception's recognition or cost, in words.
    trouble: str = ""
    #: Sentences about faults of its card.
    card: tuple[str, ...] = ()

    @property
    def fault(self) -> str:
        """What is wrong with its result in the hidden tests, in words; "" if nothing is."""
        if self.kind == "worthless":
            share = self.points / self.max_points
            return f"it earns {share:.0%}" if share > MAX_FOR_NOTHING else ""
        if self.kind != "misconception":
            failed = (f"{one.test.name}: {one.result.message}" for one in self.runs if not one.result.passed)
            return "; ".join(failed) if self.points < self.max_points else ""
        return "it passes every test" if self.points >= self.max_points else self.trouble


@dataclass(frozen=True)
class QuestionAudit:
    """The result of each answer, and the faults of the question as a whole."""

    rows: list[AnswerAudit]
    faults: list[str]

    @property
    def of_the_whole(self) -> list[str]:
        """The faults of the question's file and card."""
        cards = (f"public check, {one.kind} {one.name}: {said}" for one in self.rows for said in one.card)
        return [*self.faults, *cards]

    @property
    def sentences(self) -> list[str]:
        """A sentence for each fault; empty if all is well."""
        return [
            *(f"{row.kind} {row.name}: {row.fault}" for row in self.rows if row.fault),
            *self.of_the_whole,
        ]


def audit_question(lab: str, question: str, points: float) -> QuestionAudit:
    """Audit a question (lab by full name). Each answer runs once in the tests and once on the card.

    ::

        audit_question("07_self_attention", "kernel_smooth", 3.0).sentences
    """
    runs, card = master_runs(lab, question), card_faults(lab, question, solution(lab)[question])
    kept = points_earned(lab, question, points, runs, None)
    rows = [AnswerAudit("master", "master", kept, points, runs, card=card)]
    # The card gets new copies, because the hidden tests may have changed the answers' state.
    for_tests, for_card = fresh_answers(lab, question), fresh_answers(lab, question)
    for one, answer in zip(for_tests["alternative"], for_card["alternative"], strict=True):
        row = audit_answer(lab, question, points, "alternative", one.name, one.function)
        rows.append(replace(row, card=card_faults(lab, question, answer.function)))
    for known, answer in zip(known_answers(lab, question), for_card["misconception"], strict=True):
        row = _misconception(lab, points, answer, tuple(known.runs()))
        rows.append(replace(row, card=card_faults(lab, question, answer.function, answer)))
    described = questions_of(lab)[question]
    for name, function in _worthless(described):
        rows.append(audit_answer(lab, question, points, "worthless", name, function))
    return QuestionAudit(rows, [*_of_the_file(described), *_indistinct(rows)])


def as_json(audits: Mapping[str, Mapping[str, QuestionAudit]]) -> dict[str, Any]:
    """``{lab: {question: {master, alternatives: [[name, passed]], misconceptions: [[name, killed]]}}}``.

    If there are any, ``faults`` and ``public_checks`` (kind, answer, sentence) are added.
    """
    return {
        lab: {question: _as_json(audit) for question, audit in questions.items()}
        for lab, questions in audits.items()
    }


def _as_json(audit: QuestionAudit) -> dict[str, Any]:
    def of(kind: str) -> list[list[Any]]:
        return [[row.name, not row.fault] for row in audit.rows if row.kind == kind]

    worthless = [f"{row.name}: {row.fault}" for row in audit.rows if row.kind == "worthless" and row.fault]
    beside = {
        "faults": [*audit.faults, *worthless],
        "public_checks": [[row.kind, row.name, said] for row in audit.rows for said in row.card],
    }
    return {
        "master": all(good for _, good in of("master")),
        "alternatives": of("alternative"),
        "misconceptions": of("misconception"),
        **{name: found for name, found in beside.items() if found},
    }


# ------------------------------------------------------------------------------------------------ the hidden tests


def audit_answer(lab: str, question: str, points: float, kind: str, name: str, function: Any) -> AnswerAudit:
    """Run the hidden tests of a question on one answer."""
    runs = run_question(lab, question, student_with_answer(lab, question, function))
    named = None if kind == "worthless" else _named(lab, question, runs)
    kept = points_earned(lab, question, points, runs, named)
    return AnswerAudit(name, kind, kept, points, tuple(runs))


def _named(lab: str, question: str, runs: Any) -> Answer | None:
    return None if all(run.result.passed for run in runs) else diagnose(lab, question, runs)


def _misconception(lab: str, points: float, answer: Answer, runs: tuple[TestRun, ...]) -> AnswerAudit:
    named = _named(lab, answer.question, runs)
    kept = points_earned(lab, answer.question, points, runs, named)
    deducted = points * sum(run.test.deducts for run in runs if not run.result.passed)
    held = earned(points, [(run.test.weight, run.result.passed) for run in runs]) - deducted
    weighed = points - max(0.0, held)
    if named is None or named.name != answer.name:
        trouble = f"it is recognised as {named.name if named else 'none'}"
    elif not 0 < answer.costs <= points:
        trouble = f"it costs {answer.costs:g} of {points:g} points"
    elif abs(answer.costs - weighed) > MAX_WITHOUT_REASON * points and not answer.because:
        trouble = f"it costs {answer.costs:g}, and its tests are worth {weighed:.2f}: say why in because="
    else:
        trouble = ""
    return AnswerAudit(answer.name, "misconception", kept, points, runs, trouble)


def _indistinct(rows: list[AnswerAudit]) -> Iterator[str]:
    """Yield a sentence for each pair of misconceptions that no hidden test distinguishes, so that a diagnosis cannot either."""
    for one, other in combinations([row for row in rows if row.kind == "misconception"], 2):
        pairs = zip(one.runs, other.runs, strict=True)
        if all(a.result.passed == b.result.passed and traces_match(a.trace, b.trace) for a, b in pairs):
            yield f"no hidden test tells {one.name} from {other.name}"


def _worthless(question: Question) -> Iterator[tuple[str, Any]]:
    """Yield worthless answers: with the card's data memorised, or always returning its first right value or an argument."""
    trials = trials_of(question, PUBLIC)
    called = ((trial.case, trial.right.value) for trial in trials)
    right = {_written(case.args, case.kwargs): value for case, value in called if case is not None}
    yield "the card's data by heart", lambda *args, **kwargs: right.get(_written(args, kwargs))
    yield "the card's first right value", lambda *_, **__: trials[0].right.value
    yield "the first argument", lambda first=None, *_, **__: first


def _written(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return json.dumps(encode([list(args), kwargs]))


# --------------------------------------------------------------------------------------------------------- the card


def card_faults(
    lab: str, question: str, function: Any, misconception: Answer | None = None
) -> tuple[str, ...]:
    """The faults of an answer's card. The answer must not have been called before.

    No check may raise an error on a returned value: the card would blame the student for it.
    """
    errors: list[tuple[str, Exception]] = []
    verdict = judge(lab, question, in_a_notebook(function, solution(lab)), errors)
    faults = [
        f"{check} stumbles: {''.join(traceback.format_exception_only(error)).strip()}"
        for check, error in errors
        if misconception is None or not (isinstance(error, NotImplementedError) or _in_the_answer(error))
    ]
    if misconception is None and not verdict.passed and not faults:
        red = [f"“{mark.title}” says: {mark.hint}" for mark in verdict.marks if not mark.passed]
        faults = red or ["it is taken for an answer that is not written"]
    try:
        cards.checked(verdict, 0, 1)
    except Exception as error:
        faults.append(f"no card can be made: {error!r}")
    if misconception is not None and verdict.passed:
        faults.append("its card is green")
    elif misconception is not None and not misconception.card:
        shown = any(misconception.hint in mark.hint for mark in verdict.marks)
        faults += [] if shown else ["its card does not show its hint"]
    return tuple(faults)


def in_a_notebook(function: Any, beside: Mapping[str, Any]) -> Any:
    """The answer in a namespace with the master's other functions, which a check may look for."""
    if not isinstance(function, FunctionType):
        return function
    names = {**beside, **function.__globals__}
    moved = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    moved.__kwdefaults__, moved.__doc__ = function.__kwdefaults__, function.__doc__
    return moved


def _in_the_answer(error: BaseException) -> bool:
    """Whether the error was raised in an answer or in code that it called, not in the check's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    folders = ("/questions/m", "/solutions/")
    return any(folder in frame.filename for frame in frames for folder in folders)


# --------------------------------------------------------------------------------------------------------- the file


def _of_the_file(question: Question) -> Iterator[str]:
    titles = [one.title for one in question.misconceptions]
    if len(set(titles)) < len(titles):
        yield "two misconceptions have one title"
    public, hidden = (_inputs_by_part(trials_of(question, drawn)) for drawn in (PUBLIC, salt()))
    for name, inputs in hidden.items():
        if inputs == public[name]:
            yield f"{name} draws nothing: its hidden inputs are the card's"
    for trial in trials_of(question, salt()):
        if trial.case is not None and not _as_the_text_says(trial.right.value, trial.case.gives):
            yield f"{trial.part.name}: the reference gives {trial.right.value}, and the text says {trial.case.gives}"


def _inputs_by_part(trials: tuple[Trial, ...]) -> dict[str, str]:
    inputs: dict[str, str] = {}
    for trial in trials:
        if (case := trial.case) is not None:
            inputs[trial.part.name] = inputs.get(trial.part.name, "") + _written(case.args, case.kwargs)
    return inputs


def _as_the_text_says(value: Any, gives: Any) -> bool:
    """Whether a value agrees with the text's, to the digits in the text. None agrees with everything."""
    if gives is None:
        return True
    numbers = as_numbers(gives)
    if isinstance(gives, tuple) or (
        isinstance(gives, list) and (numbers is None or numbers.dtype.kind == "U")
    ):
        return len(value) == len(gives) and all(map(_as_the_text_says, value, gives))
    if numbers is None or numbers.dtype.kind != "f" or not numbers.size:
        return not value_difference(value, numbers if isinstance(gives, list) else gives)
    decimals = max(len(repr(number).partition(".")[2]) for number in numbers.ravel().tolist())
    return not value_difference(value, numbers, rtol=0, atol=0.51 * 10.0**-decimals)
