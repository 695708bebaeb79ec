"""Judges an answer: asks it everything, and says which families hold, which rules are broken, and whose behaviour it is.

A misconception is recognised by its behaviour: the same values, errors and changed arguments in every call. One that only
raises errors shows nothing of what its author thought, and has no name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from autograder.questions.engine.as_tests import masters_definitions
from autograder.questions.engine.compare import Outcome, alike
from autograder.questions.engine.draw import Ask, answering, asks_of, outcome_of
from autograder.questions.engine.question import Family, Misconception, Question
from autograder.sandbox.host.rpc import StudentError, StudentGone
from autograder.sandbox.host.student import Student
from autograder.testing.evidence import extent
from autograder.testing.expect import Failed
from autograder.testing.follow_through import follow_through

#: What no answer may do, whatever its question, by name: the line on the page, and the share of the points that it costs.
RULES = {
    "arguments": ("The arguments are left as they are.", 0.2),
    "again": ("The same call gives the same result again.", 0.3),
}


@dataclass(frozen=True)
class Observations:
    """What an answer did: an outcome for each ``Ask``, and those of the calls that were made again at the end."""

    asks: tuple[Ask, ...]
    outcomes: tuple[Outcome, ...]
    again: tuple[Outcome, ...] = ()

    @cached_property
    def wrong(self) -> list[str]:
        """How each outcome differs from the right one, in a word; "" where it is right."""
        return [ask.difference(outcome) for ask, outcome in zip(self.asks, self.outcomes, strict=True)]

    @cached_property
    def broken(self) -> frozenset[str]:
        """The rules that the answer broke."""
        changed = any(
            set(outcome.changed) - set(ask.right.changed)
            for ask, outcome in zip(self.asks, self.outcomes, strict=True)
        )
        first = [self.outcomes[place] for place in _asked_again(self.asks)]
        differs = not all(map(_same_again, first, self.again)) if self.again else False
        return frozenset(name for name, broken in (("arguments", changed), ("again", differs)) if broken)

    @cached_property
    def failed(self) -> frozenset[str]:
        """The names of the families and scenarios that do not hold, and of the rules that are broken."""
        parts = {ask.part.name for ask, word in zip(self.asks, self.wrong, strict=True) if word}
        return frozenset(parts) | self.broken

    @property
    def right(self) -> bool:
        """Whether every family holds and no rule is broken."""
        return not self.failed


@dataclass(frozen=True)
class Judgement:
    """What is said of an answer. ``shown`` is the place of the smallest call that fails, in ``seen.asks``."""

    seen: Observations
    misconception: Misconception | None = None
    shown: int | None = None

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.seen.right


def judge(
    question: Question, salt: str, student: Student, revive: Callable[[], Student | None] = lambda: None
) -> Judgement:
    """Ask ``student`` all of a question under a salt, and name what is wrong.

    ``revive`` gives the student in a new process where a call ended the last one, or None::

        judge(question, salt, Student.local(function, question.name)).misconception
    """
    first = observe(question, salt, student, revive)
    seen = first
    if not seen.right and question.uses and not any(o.error.startswith("gone") for o in seen.outcomes):
        seen = _with_right_earlier_answers(question, salt, student, revive, seen)
    return _judgement(question, salt, seen, first)


def _judgement(question: Question, salt: str, seen: Observations, first: Observations) -> Judgement:
    if seen.right:
        return Judgement(seen)
    named = recognised(question, salt, seen)
    if named is None and seen is not first and (named := recognised(question, salt, first)):
        seen = first  # what an answer keeps from call to call may show in the first run only
    return Judgement(seen, named, _smallest_failing(seen))


def observe(
    question: Question, salt: str, student: Student, revive: Callable[[], Student | None] = lambda: None
) -> Observations:
    """What the answer does in every call, and in the first of each family when it is called again at the end.

    A call that ends the process counts as an error ("gone: timed-out"), and so do all later ones where there is no other.
    """
    asks = asks_of(question, salt)
    living: Student | None = student
    ended = ""  # how the last process ended

    def ask(item: Ask) -> Outcome:
        nonlocal living, ended
        if living is None:
            return Outcome(error=ended)
        try:
            return outcome_of(item.part, item.case, item.seed, living)
        except StudentGone as gone:
            ended = f"gone: {gone.reason}"
            living = revive()
            return Outcome(error=ended)

    outcomes = tuple(map(ask, asks))
    # A new process has forgotten what the last one kept.
    again = tuple(ask(asks[place]) for place in _asked_again(asks)) if not ended else ()
    return Observations(asks, outcomes, again)


def _asked_again(asks: Sequence[Ask]) -> list[int]:
    """The places of the first call of each family."""
    first: dict[str, int] = {}
    for place, ask in enumerate(asks):
        if isinstance(ask.part, Family):
            first.setdefault(ask.part.name, place)
    return list(first.values())


def _same_again(first: Outcome, again: Outcome) -> bool:
    return first.error == again.error if first.error else alike(first, again)


def _with_right_earlier_answers(
    question: Question,
    salt: str,
    student: Student,
    revive: Callable[[], Student | None],
    before: Observations,
) -> Observations:
    """What the answer does with the master's answers to the questions that it uses."""
    runs: list[Observations] = []

    @follow_through(f"{masters_definitions(question.lab)}\n\n{question.earlier}", *question.uses)
    def ask(student: Student) -> None:
        runs.append(observe(question, salt, student, revive) if runs else before)
        if error := next((o.error for o in runs[-1].outcomes if o.error), ""):
            raise StudentError(error, "")
        if not runs[-1].right:
            raise Failed("")

    with contextlib.suppress(Failed, StudentError, StudentGone):
        ask(student)
    return max(reversed(runs), key=lambda run: run.right)  # of wrong ones the last


class _Known:
    """A misconception under one salt; each call is made when it is first asked for, in order."""

    def __init__(self, question: Question, misconception: Misconception, asks: tuple[Ask, ...]):
        self.misconception = misconception
        self._asks = asks
        self._student = answering(question, misconception.function)
        self._outcomes: list[tuple[Outcome, str]] = []

    def _outcome(self, place: int) -> tuple[Outcome, str]:
        """What it does in a call, and how that differs from what is right."""
        while len(self._outcomes) <= place:
            ask = self._asks[len(self._outcomes)]
            outcome = outcome_of(ask.part, ask.case, ask.seed, self._student)
            self._outcomes.append((outcome, ask.difference(outcome)))
        return self._outcomes[place]

    @cached_property
    def seen(self) -> Observations:
        """All that it does."""
        outcomes = tuple(self._outcome(place)[0] for place in range(len(self._asks)))
        again = [self._asks[place] for place in _asked_again(self._asks)]
        made = (outcome_of(ask.part, ask.case, ask.seed, self._student) for ask in again)
        return Observations(self._asks, outcomes, tuple(made))

    def behaves_as(self, seen: Observations) -> bool:
        """Whether an answer does the same in every call where either is wrong, and is right where this is."""
        for place, (ask, outcome, word) in enumerate(zip(self._asks, seen.outcomes, seen.wrong, strict=True)):
            mine, my_word = self._outcome(place)
            if word != my_word or outcome.changed != mine.changed:
                return False
            if word and not alike(outcome, mine, *ask.tolerances):
                return False
        return self.seen.broken == seen.broken


@lru_cache(maxsize=128)
def known(question: Question, salt: str) -> tuple[_Known, ...]:
    """The misconceptions of a question under a salt, in the order of the file."""
    asks = asks_of(question, salt)
    fresh = question.anew()
    return tuple(_Known(fresh, misconception, asks) for misconception in fresh.misconceptions)


def all_recognised(question: Question, salt: str, seen: Observations) -> list[Misconception]:
    """The misconceptions that behave as the answer does: one at most, where the audit is content."""
    if seen.right or all(outcome.error for outcome in seen.outcomes):
        return []
    return [one.misconception for one in known(question, salt) if one.behaves_as(seen)]


def recognised(question: Question, salt: str, seen: Observations) -> Misconception | None:
    """The misconception that behaves as the answer does, or None."""
    return next(iter(all_recognised(question, salt, seen)), None)


def _smallest_failing(seen: Observations) -> int | None:
    """The place of the failing call whose arguments are the fewest numbers; of equals the first."""
    places = [place for place, word in enumerate(seen.wrong) if word]
    return min(places, key=lambda place: _size(seen.asks[place]), default=None)


def _size(ask: Ask) -> int:
    return extent([*ask.case.args, *ask.case.kwargs.values()])[0] if ask.case is not None else 1 << 60


def judge_function(question: Question, salt: str, function: Any) -> Judgement:
    """The judgement of a function in this process, every earlier question answered as the master does."""
    seen = observe(question, salt, answering(question, function))
    return _judgement(question, salt, seen, seen)
