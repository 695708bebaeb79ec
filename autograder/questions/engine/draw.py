"""Draws a question's inputs from a salt, and computes their right outcomes.

The course's salt (in the live class, the attempt's) seeds the hidden inputs, ``PUBLIC`` the card's. No right answer may fail by
bad luck: inputs are drawn again if an alternative disagrees with the reference, or if the right value changes when the
arguments change by 1e-12.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from coursekit.checks.encoding import decode, encode

from autograder.course.masters import solution
from autograder.questions.engine.compare import Outcome, difference
from autograder.questions.engine.question import Case, Family, Question, Scenario
from autograder.sandbox.host.rpc import BadReply, StudentError
from autograder.sandbox.host.student import Student

#: The salt of the card's inputs.
PUBLIC = "public"
#: How often a family's inputs are drawn before its author must correct them.
ATTEMPTS = 20
#: The relative change of arguments.
_STEP = 1e-12


class NoFairInputs(Exception):
    """A family had no inputs, in twenty draws, on which all right answers agree."""


@dataclass(frozen=True)
class Ask:
    """One call of a family, or one scenario, with the reference's outcome."""

    part: Family | Scenario
    case: Case | None
    seed: int
    right: Outcome

    def difference(self, outcome: Outcome) -> str:
        """The kind of difference from the right outcome; "" if there is none."""
        only = self.part.only if isinstance(self.part, Family) else None
        return difference(outcome, self.right, *self.tolerances, only)

    @property
    def tolerances(self) -> tuple[float | None, float | None]:
        """The family's relative and absolute tolerances."""
        return (self.part.rtol, self.part.atol) if isinstance(self.part, Family) else (None, None)


@lru_cache(maxsize=128)
def asks_of(question: Question, salt: str) -> tuple[Ask, ...]:
    """All calls and scenarios of a question for a salt, in the order of the file. Raises ``NoFairInputs``.

    ::

        for ask in asks_of(question, PUBLIC):
            print(ask.part.title, ask.case.args, ask.right.value)
    """
    asks = [ask for family in question.families for ask in _drawn(question, family, salt)]
    for scenario in question.scenarios:
        seed = _seed(salt, question, scenario.name, 0)
        right = outcome_of(scenario, None, seed, answering(question, question.reference))
        if right.error:
            raise NoFairInputs(
                f"{question.name}: the reference fails in the scenario “{scenario.title}”: {right.error}"
            )
        asks.append(Ask(scenario, None, seed, right))
    return tuple(asks)


def answering(question: Question, function: Any) -> Student:
    """A local student with ``function`` as the answer. Earlier questions are answered by the master."""
    earlier = solution(question.lab) if question.uses and question.lab else {}
    return Student.local_namespace(earlier | {question.name: function}, question.name)


def made_of(part: Family | Scenario, case: Case | None, seed: int, student: Student) -> Outcome:
    """The outcome of a call or scenario. Raises errors of the student's code."""
    with contextlib.redirect_stderr(io.StringIO()), np.errstate(all="ignore"):
        if isinstance(part, Scenario):
            return Outcome(tuple(part.play(student, np.random.default_rng(seed))))
        assert case is not None
        return Outcome(student(*case.args, **case.kwargs), changed=student.mutated)


def outcome_of(part: Family | Scenario, case: Case | None, seed: int, student: Student) -> Outcome:
    """The outcome of a call or scenario, which may be an error. Raises ``StudentGone``, and the harness's own errors."""
    try:
        return made_of(part, case, seed, student)
    except BadReply:
        return Outcome(error="BadReply")
    except StudentError as error:
        return Outcome(error=error.type_name, changed=student.mutated)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        if isinstance(part, Family):
            raise
        return Outcome(error="an unexpected form")  # a scenario got a strange value


def _drawn(question: Question, family: Family, salt: str) -> list[Ask]:
    for attempt in range(ATTEMPTS):
        seed = _seed(salt, question, family.name, attempt)
        cases = cases_of(family, seed)
        if salt == PUBLIC:
            cases = [_as_written(case) for case in cases]
        reference = answering(question, question.reference)
        asks = [Ask(family, case, seed, outcome_of(family, case, seed, reference)) for case in cases]
        if asks and _are_fair(question, family, asks):
            return asks
    raise NoFairInputs(
        f"{question.name}: right answers disagree about every draw of “{family.title}”, or it is empty: "
        "give it other inputs, or another tolerance"
    )


def cases_of(family: Family, seed: int) -> list[Case]:
    """The cases of a family, drawn from one seed."""
    drawn: list[Any] = list(family.inputs(np.random.default_rng(seed)))
    return [
        case if isinstance(case, Case) else Case(*(case if isinstance(case, tuple) else (case,)))
        for case in drawn
    ]


def _as_written(case: Case) -> Case:
    """The case with its numbers rounded as in the card's data."""
    try:
        args, kwargs = decode(encode([list(case.args), case.kwargs]))
    except TypeError:  # for example a function
        return case
    return Case(*args, gives=case.gives, **kwargs)


def _seed(salt: str, question: Question, name: str, attempt: int) -> int:
    text = f"{salt}|{question.lab}|{question.name}|{name}|{attempt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _are_fair(question: Question, family: Family, asks: Sequence[Ask]) -> bool:
    """Whether every right answer is right on these inputs, also after a tiny change of the arguments."""
    for function in question.alternatives:
        if needs_torch(function) and not needs_torch(question.reference):
            continue  # importing PyTorch takes seconds; the audit runs these answers
        student = answering(question, function)
        if any(ask.difference(outcome_of(family, ask.case, ask.seed, student)) for ask in asks):
            return False
    if family.exact_ties:
        return True
    reference = answering(question, question.reference)
    for ask in asks:
        assert ask.case is not None
        for sign in (1, -1):
            rng = np.random.default_rng(0)
            args = tuple(_moved(value, rng, sign * _STEP) for value in ask.case.args)
            kwargs = {name: _moved(value, rng, sign * _STEP) for name, value in ask.case.kwargs.items()}
            if ask.difference(outcome_of(family, Case(*args, **kwargs), ask.seed, reference)):
                return False
    return True


def needs_torch(function: Any) -> bool:
    """Whether a function or its file imports PyTorch."""
    code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    return "torch" in names or (code is not None and "torch" in code.co_names + code.co_varnames)


def _moved(value: Any, rng: np.random.Generator, step: float) -> Any:
    """The value with every fraction changed by the relative ``step``, randomly up or down."""
    match value:
        case builtins.float():
            return value * (1 + step * rng.uniform(0.5, 1) * rng.choice((-1, 1)))
        case np.ndarray() if value.dtype.kind == "f":
            return value * (1 + step * rng.uniform(0.5, 1, value.shape) * rng.choice((-1, 1), value.shape))
        case list() | tuple():
            return type(value)(_moved(item, rng, step) for item in value)
        case dict():
            return {key: _moved(item, rng, step) for key, item in value.items()}
    return value.new_tensor(_moved(value.numpy(), rng, step)) if hasattr(value, "new_tensor") else value
