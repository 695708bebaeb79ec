"""The public checks of a lab: made of data, with no answer among them.

``autograder build`` writes ``checks/data/qNN_topic.json``: for each question its cases, with what is right for them and what
each known misconception makes of them. A check asks the student's function and compares by the rule of the hidden tests. A
card's first ✗ shows a small case that fails, and the misconception's hint where the answer behaves as that one in all cases.
"""

from __future__ import annotations

import copy
import gc
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from coursekit.checks.compare import Observed, Outcome, alike, difference
from coursekit.checks.encoding import decode, encode
from coursekit.checks.local_student import LocalStudent, Raised
from coursekit.checks.symptoms import VAGUE, symptom_of
from coursekit.checks.values import extent, plain, unchanged
from coursekit.checks.words import (
    PLACES,
    are_readable,
    argument_names,
    arguments_in_words,
    both_in_words,
    in_words,
)
from coursekit.notebook.verdict import Mark

DATA = Path(__file__).parent / "data"
#: The entry beside the questions that holds the digest of the files that the data were made of.
MADE_OF = "made of"
#: Seconds that a part may take whose first case is asked again; items of a result that is watched afterwards.
AGAIN_SECONDS, MAX_WATCHED = 0.2, 10_000


class NotMet(AssertionError):
    """Raised by a check that does not hold; what to say of it is known when all have run."""


def questions_of(lab: str) -> dict[str, QuestionCard]:
    """The questions of a lab (full name) by name, in the lab's order; none where the lab has no cards.

    It is not cached itself: the grader sees an answer call a plain function, and no cached one.
    """
    return _read(lab)


@cache
def _read(lab: str) -> dict[str, QuestionCard]:
    file = DATA / f"q{lab}.json"
    data = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {name: QuestionCard(name, of_question) for name, of_question in data.items() if name != MADE_OF}


def prepare(lab: str) -> None:
    """Read all data of a lab, for processes that are copies of this one."""
    for card in questions_of(lab).values():
        assert card.cases and card.code is not None


@dataclass(frozen=True)
class Case:
    """A call, or a scenario, of the part that stands at ``part``: what is right, and what misconceptions make of it."""

    part: int
    asked: tuple[list[Any], dict[str, Any]] | None
    seed: int
    right: Outcome
    slips: dict[int, Outcome]
    rtol: float | None
    atol: float | None
    only: int | None
    is_the_texts: bool

    def difference(self, outcome: Outcome) -> str:
        """How an outcome differs from the right one, in a word; "" where it is right."""
        return difference(outcome, self.right, self.rtol, self.atol, self.only)

    def is_as(self, slip: int, outcome: Outcome, word: str) -> bool:
        """Whether an outcome, which differs in this word, is what a misconception makes of the case."""
        other = self.slips.get(slip)
        if other is None:
            return not word and not outcome.changed
        if word != self.difference(other) or outcome.changed != other.changed[:1]:
            return False
        return not word or alike(
            replace(outcome, changed=()), replace(other, changed=()), self.rtol, self.atol
        )

    @cached_property
    def size(self) -> int:
        """How much there is to read in what is asked."""
        return extent(list(self.asked))[0] if self.asked else 1 << 60

    @cached_property
    def axes(self) -> int:
        """The axes of the array with the most: a sentence is easier to read than a batch."""
        args, kwargs = self.asked or ([], {})
        return max(
            (np.ndim(value) for value in (*args, *kwargs.values()) if hasattr(value, "shape")), default=0
        )


class QuestionCard:
    """A question as its data describe it. Its checks, one for each part, belong to one answer: each iteration makes new ones."""

    def __init__(self, name: str, data: dict[str, Any]):
        self.name = name
        self.forbidden: tuple[str, ...] = tuple(data["forbidden"])
        self.parts: list[dict[str, Any]] = data["parts"]
        self.misconceptions: list[dict[str, Any]] = data["misconceptions"]
        self._code: str = data["code"]
        self._impostors: list[str] = data["impostors"]

    def __iter__(self) -> Iterator[PartCheck]:
        sitting = Sitting(self)
        return (PartCheck(sitting, place, part) for place, part in enumerate(self.parts))

    @cached_property
    def cases(self) -> list[Case]:
        """All cases, part by part."""
        return [
            Case(
                part=place,
                asked=decode(case["asked"]) if "asked" in case else None,
                seed=part.get("seed", 0),
                right=_outcome(case["right"]),
                slips={int(number): _outcome(slip) for number, slip in case["slips"].items()},
                rtol=part.get("rtol"),
                atol=part.get("atol"),
                only=part.get("only"),
                is_the_texts=case.get("text", False),
            )
            for place, part in enumerate(self.parts)
            for case in part["cases"]
        ]

    @cached_property
    def code(self) -> dict[str, Any]:
        """The names that the question's scenarios and impostors define."""
        module = ModuleType(f"{__name__}.{self.name}")
        exec(compile(self._code, f"<card of {self.name}>", "exec"), vars(module))
        return vars(module)

    @property
    def impostors(self) -> list[Callable[..., Any]]:
        """The wrong functions that a student's counterexample should expose."""
        return [self.code[name] for name in self._impostors]


def _outcome(data: dict[str, Any]) -> Outcome:
    if "seen" in data:
        value: Any = tuple(
            Observed(name, decode(seen), *tolerances) for name, seen, *tolerances in data["seen"]
        )
    else:
        value = decode(data.get("value"))
    return Outcome(value, data.get("error", ""), tuple(data.get("changed", ())))


class PartCheck:
    """The public check of one part of a question."""

    def __init__(self, sitting: Sitting, place: int, part: dict[str, Any]):
        self.sitting, self.place = sitting, place
        self.__name__, self.__doc__ = part["name"], part["title"]

    def __call__(self, answer: Any) -> None:
        if not self.sitting.holds(self.place, answer):
            raise NotMet


class Sitting:
    """One answer and what it did in the cases of a card, each of which it is asked once."""

    def __init__(self, card: QuestionCard):
        self._card = card
        self._outcomes: dict[int, Outcome] = {}
        #: How each differs from what is right, in a word; "" where it does not.
        self._words: dict[int, str] = {}
        self._errors: dict[int, Exception] = {}
        #: What each part took, in seconds.
        self._seconds: dict[int, float] = {}
        #: What was returned, with what it held then.
        self._returned: list[tuple[Any, Any]] = []

    def forget(self) -> None:
        """Let go of what the answer returned and raised: the next cells may need the memory, which errors hold by their frames."""
        out_of_memory = any(isinstance(error, MemoryError) for error in self._errors.values())
        self._outcomes.clear()
        self._errors.clear()
        self._returned.clear()
        if out_of_memory:
            gc.collect()

    def holds(self, part: int, answer: Any) -> bool:
        """Ask all of a part; whether the answer is right in all of it."""
        began = time.perf_counter()
        for place, case in enumerate(self._card.cases):
            if case.part == part:
                self._outcomes[place], error = self._ask(case, answer)
                self._errors |= {place: error} if error else {}
                self._words[place] = case.difference(self._outcomes[place])
        self._seconds[part] = time.perf_counter() - began
        return not any(self._card.cases[place].part == part for place in self._wrong)

    def answers_differ(self, answer: Any) -> bool:
        """Whether the first case of a part gives another result when it is asked again; slow parts are left out."""
        first: dict[int, int] = {}
        for place in self._outcomes:
            first.setdefault(self._card.cases[place].part, place)
        quick = [place for part, place in first.items() if self._seconds.get(part, 1.0) < AGAIN_SECONDS]
        cases = ((self._outcomes[place], self._card.cases[place]) for place in quick)
        return any(
            _is_data(one.value) and not alike(one, self._ask(case, answer)[0], case.rtol, case.atol)
            for one, case in cases
        )

    @property
    def overwrites(self) -> bool:
        """Whether a call has changed what an earlier one had returned."""
        return not all(unchanged(plain(returned), held) for returned, held in self._returned)

    def _ask(self, case: Case, answer: Any) -> tuple[Outcome, Exception | None]:
        try:
            with np.errstate(all="ignore"):
                if case.asked is None:
                    return Outcome(tuple(self._observed(case, answer))), None
                return self._called(case.asked, answer), None
        except Raised as raised:  # in a scenario, where the check's own code stumbles, too
            error: Exception = raised.error
        except Exception as raised:
            if case.asked is None:
                return Outcome(error="an unexpected form"), None
            error = raised
        if isinstance(error, NotImplementedError) and not error.args:
            raise error
        # Of a student's own kind of error the library's or Python's counts that it derives from.
        libraries = ("builtins", "numpy", "torch")
        kind = next(one for one in type(error).__mro__ if one.__module__.partition(".")[0] in libraries)
        return Outcome(error=kind.__name__), error

    def _called(self, asked: tuple[list[Any], dict[str, Any]], answer: Any) -> Outcome:
        """What a call with copies of the arguments comes to."""
        args, kwargs = copy.deepcopy(asked)
        returned = answer(*args, **kwargs)
        value = plain(returned)
        names = [*argument_names(answer, args), *kwargs]
        pairs = zip([*args, *kwargs.values()], [*asked[0], *asked[1].values()], strict=True)
        changed = [name for name, pair in zip(names, pairs, strict=True) if not unchanged(*pair)]
        if extent(value)[0] <= MAX_WATCHED and unchanged(plain(returned), value):
            self._returned.append((returned, value))
        return Outcome(value, changed=tuple(changed[:1]))

    def _observed(self, case: Case, answer: Any) -> Iterator[Observed]:
        play = self._card.code[self._card.parts[case.part]["name"]]
        student = LocalStudent(answer, self._card.name)
        for seen in play(student, np.random.default_rng(case.seed)):
            yield replace(seen, value=plain(seen.value))

    @property
    def _wrong(self) -> list[int]:
        """The places of the cases that were asked and are not right, or in which an argument was changed."""
        return [place for place, outcome in self._outcomes.items() if self._words[place] or outcome.changed]

    # ---------------------------------------------------------------------------------------- what the card says

    def explained(
        self, marks: list[Mark], answer: Any, where_it_raised: Callable[[Exception], str]
    ) -> list[Mark]:
        """The marks, the first of those that fail without a hint with what its smallest failing case shows."""
        place = next((place for place, mark in enumerate(marks) if not mark.passed), None)
        if place is None or marks[place].hint:
            return marks
        hint = "\n".join(self._lines(place, answer, where_it_raised))
        return [*marks[:place], replace(marks[place], hint=hint), *marks[place + 1 :]]

    def hint(self, again: bool = False) -> str:
        """The hint of the misconception as which the answer behaves in all cases of the card, or "".

        ``again``: of those that do not give the same again.
        """
        if len(self._outcomes) < len(self._card.cases) or not (self._wrong or again):
            return ""
        hints = {
            one["hint"]
            for number, one in enumerate(self._card.misconceptions)
            if one.get("again", False) is again
            and all(
                case.is_as(number, self._outcomes[place], self._words[place])
                for place, case in enumerate(self._card.cases)
            )
        }
        return hints.pop() if len(hints) == 1 else ""

    def _lines(self, part: int, answer: Any, where_it_raised: Callable[[Exception], str]) -> Iterator[str]:
        place = self._shown(part)
        case, outcome = self._card.cases[place], self._outcomes[place]
        if case.part != part:
            title = self._card.parts[case.part]["title"].rstrip(".")
            yield f"A case that is easier to read, of “{title}”:"
        if case.asked is not None:
            args, kwargs = case.asked
            names = [*argument_names(answer, args), *kwargs]
            yield f"Asked: {arguments_in_words(names, [*args, *kwargs.values()])}"
        symptom = None
        if place in self._errors and not case.right.error:
            yield _sentence(where_it_raised(self._errors[place]))
        elif outcome.error or case.right.error:
            yield f"Yours: {f'the error {outcome.error}' if outcome.error else in_words(outcome.value)}"
            yield f"Right: {f'the error {case.right.error}' if case.right.error else 'a value of another form'}"
        elif self._words[place]:
            yours, right, name = self._sides(case, outcome)
            where, yours_there, right_there, others = both_in_words(yours, right)
            where = "".join(f", {part}" for part in (name, where) if part)
            yield f"Yours{where}: {yours_there}"
            yield f"Right{where}: {right_there}{f' ({others})' if others else ''}"
            symptom = symptom_of(yours, right)
        changed = next((outcome.changed[0] for outcome in self._outcomes.values() if outcome.changed), "")
        if hint := self.hint():
            yield hint
        elif changed:
            yield f"Your answer changes `{changed}`, which it was given: leave that as it is, and work on a copy."
        elif symptom is not None and symptom.name not in VAGUE:
            yield symptom.sentence

    def _sides(self, case: Case, outcome: Outcome) -> tuple[Any, Any, str]:
        """What came back, what is right, and the name under which it is seen; of results, or observations, the first that differs."""
        yours, right = outcome.value, case.right.value
        if case.asked is None:
            for seen, expected in zip(yours, right, strict=False):
                one, other = Outcome((seen,)), Outcome((expected,))
                if difference(one, other):
                    return seen.value, expected.value, f"“{expected.name}”"
            return [seen.name for seen in yours], [seen.name for seen in right], "what was seen"
        if case.only is not None and isinstance(yours, (list, tuple)) and len(yours) == len(right):
            return yours[case.only], right[case.only], f"{PLACES[case.only]} result"
        return yours, right, ""

    def _shown(self, part: int) -> int:
        """The failing case that says most: of the part the text's own, or the smallest; of another part a small one if that is long."""

        def order(place: int) -> tuple[bool, int, int]:
            case = self._card.cases[place]
            return not case.is_the_texts, case.axes, case.size

        cases = self._card.cases
        first = min((place for place in self._wrong if cases[place].part == part), key=order)
        if self._is_readable(first):
            return first
        return min(filter(self._is_readable, self._wrong), key=order, default=first)

    def _is_readable(self, place: int) -> bool:
        asked = self._card.cases[place].asked
        return place in self._errors or (asked is not None and are_readable([*asked[0], *asked[1].values()]))


def _is_data(value: Any) -> bool:
    """Whether a value, or what a scenario saw, is small and holds nothing but data: only that can be compared again."""
    seen = value if type(value) is tuple else (value,)
    held = [one.value if isinstance(one, Observed) else one for one in seen]
    try:
        return extent(held)[0] <= MAX_WATCHED and bool(encode(held))
    except TypeError:
        return False


def _sentence(words: str) -> str:
    """Words of a hint as a line of their own."""
    return f"{words[0].upper()}{words[1:]}."
