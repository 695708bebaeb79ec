"""Draws a question's inputs from a salt, and computes their right outcomes.

The course's salt seeds the hidden inputs (in the live class, the attempt's salt), ``PUBLIC`` the card's. No right answer may
fail by bad luck. So inputs are drawn again if an alternative disagrees with the reference on them, or if a relative change of
1e-12 in the arguments changes the right value.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from coursekit.checks.compare import Outcome, difference
from coursekit.checks.encoding import decode, encode

from autograder.course.masters import solution
from autograder.questions.engine.question import Case, Family, Question, Scenario
from autograder.sandbox.host.student import BadReply, Student, StudentError

#: The salt of the card's inputs.
PUBLIC = "public"
#: The most draws of a family's inputs before its author must correct them.
ATTEMPTS = 20
#: The relative change of arguments that must not change the right value.
_STEP = 1e-12


class NoFairInputs(Exception):
    """The right answers disagreed on every draw of a family's inputs, or the reference failed in a scenario."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One call with a family's case, or one run of a scenario, with the reference's outcome."""

    part: Family | Scenario
    case: Case | None
    seed: int
    right: Outcome = field(default_factory=Outcome)

    def difference(self, outcome: Outcome) -> str:
        """The kind of difference from the right outcome; "" if there is none."""
        if self not in outcome.known:
            only = self.part.only if isinstance(self.part, Family) else None
            outcome.known[self] = difference(outcome, self.right, *self.tolerances, only)
        kind: str = outcome.known[self]
        return kind

    @property
    def tolerances(self) -> tuple[float | None, float | None]:
        """The family's relative and absolute tolerances."""
        return (self.part.rtol, self.part.atol) if isinstance(self.part, Family) else (None, None)


@lru_cache(maxsize=128)
def trials_of(question: Question, salt: str) -> tuple[Trial, ...]:
    """All trials of a question for a salt: calls, then scenarios, in the order of the file. Raises ``NoFairInputs``.

    ::

        for trial in trials_of(question, PUBLIC):
            print(trial.part.title, trial.case.args, trial.right.value)
    """
    trials = [trial for family in question.families for trial in _drawn(question, family, salt)]
    for scenario in question.scenarios:
        trials += _solved(question, [Trial(scenario, None, _seed(salt, question, scenario.name, 0))])
        if error := trials[-1].right.error:
            raise NoFairInputs(
                f"{question.name}: the reference fails in the scenario “{scenario.title}”: {error}"
            )
    return tuple(trials)


def _solved(question: Question, trials: Sequence[Trial]) -> list[Trial]:
    """The trials with the reference's outcomes."""
    reference = student_answering(question, question.reference)
    return [replace(trial, right=outcome_of(trial, reference)) for trial in trials]


def student_answering(question: Question, function: Any) -> Student:
    """A student in this process whose answer is ``function``. The master answers earlier questions."""
    earlier = solution(question.lab) if question.uses and question.lab else {}
    return Student.local_namespace(earlier | {question.name: function}, question.name)


def outcome_or_raise(trial: Trial, student: Student) -> Outcome:
    """The student's outcome in a trial. Raises errors of the student's code."""
    if isinstance(trial.part, Scenario):
        with contextlib.redirect_stderr(io.StringIO()), np.errstate(all="ignore"):
            return Outcome(tuple(trial.part.play(student, np.random.default_rng(trial.seed))))
    assert trial.case is not None
    return Outcome(student.call_with(trial.case), changed=student.mutated, known=student.known)


def outcome_of(trial: Trial, student: Student) -> Outcome:
    """The student's outcome in a trial, which may be an error. Raises ``StudentGone`` and the harness's own errors."""
    try:
        return outcome_or_raise(trial, student)
    except BadReply:
        return Outcome(error="BadReply")
    except StudentError as error:
        return Outcome(error=error.type_name, changed=student.mutated)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        if isinstance(trial.part, Family):
            raise
        return Outcome(error="an unexpected form")  # the scenario's own code fails on the answer's value


def _drawn(question: Question, family: Family, salt: str) -> list[Trial]:
    for attempt in range(ATTEMPTS):
        seed = _seed(salt, question, family.name, attempt)
        cases = cases_of(family, seed)
        if salt == PUBLIC:
            cases = [_rounded(case) for case in cases]
        trials = _solved(question, [Trial(family, case, seed) for case in cases])
        if trials and _are_fair(question, family, trials):
            return trials
    raise NoFairInputs(
        f"{question.name}: right answers disagree on each of {ATTEMPTS} draws of “{family.title}”, or it yields no case: "
        "give it other inputs, or another tolerance"
    )


def cases_of(family: Family, seed: int) -> list[Case]:
    """The cases of a family, drawn from one seed."""
    drawn: list[Any] = list(family.inputs(np.random.default_rng(seed)))
    return [
        case if isinstance(case, Case) else Case(*(case if isinstance(case, tuple) else (case,)))
        for case in drawn
    ]


def _rounded(case: Case) -> Case:
    """The case with its numbers rounded to the digits of the card's data."""
    try:
        args, kwargs = decode(encode([list(case.args), case.kwargs]))
    except TypeError:  # for example a function
        return case
    return Case(*args, gives=case.gives, **kwargs)


def _seed(salt: str, question: Question, name: str, attempt: int) -> int:
    text = f"{salt}|{question.lab}|{question.name}|{name}|{attempt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _are_fair(question: Question, family: Family, trials: Sequence[Trial]) -> bool:
    """Whether all right answers agree on these inputs, and the right values survive a tiny change of the arguments."""
    for function in question.alternatives:
        if needs_torch(function) and not needs_torch(question.reference):
            continue  # importing PyTorch takes seconds; the audit runs these answers
        student = student_answering(question, function)
        if any(trial.difference(outcome_of(trial, student)) for trial in trials):
            return False
    if family.exact_ties:
        return True
    reference = student_answering(question, question.reference)
    for trial in trials:
        assert trial.case is not None
        for step in (_STEP, -_STEP):
            rng = np.random.default_rng(0)
            args = _perturbed(trial.case.args, rng, step)
            kwargs = _perturbed(trial.case.kwargs, rng, step)
            if trial.difference(outcome_of(replace(trial, case=Case(*args, **kwargs)), reference)):
                return False
    return True


def needs_torch(function: Any) -> bool:
    """Whether a function or its file imports PyTorch."""
    code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    return "torch" in names or (code is not None and "torch" in code.co_names + code.co_varnames)


def _perturbed(value: Any, rng: np.random.Generator, step: float) -> Any:
    """The value with each floating-point number changed by up to the relative ``step``, randomly up or down."""
    match value:
        case builtins.float():
            return value * (1 + step * rng.uniform(0.5, 1) * rng.choice((-1, 1)))
        case np.ndarray() if value.dtype.kind == "f":
            return value * (1 + step * rng.uniform(0.5, 1, value.shape) * rng.choice((-1, 1), value.shape))
        case list() | tuple():
            return type(value)(_perturbed(item, rng, step) for item in value)
        case dict():
            return {key: _perturbed(item, rng, step) for key, item in value.items()}
    return value.new_tensor(_perturbed(value.numpy(), rng, step)) if hasattr(value, "new_tensor") else value
