"""Makes the public checks of a lab from data that contain no answer's code.

``autograder build`` writes ``checks/data/qNN_topic.json``: each question's cases, with the right outcomes and those of each
misconception. A check calls the student's function and compares as the hidden tests do. A card's first ✗ shows a small
failing case, and a misconception's hint if the answer behaves like it in all cases.
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
    difference_in_words,
    in_words,
)
from coursekit.notebook.verdict import Mark, is_stub

DATA = Path(__file__).parent / "data"
#: The key, beside the questions, of the digest of the files from which the data were made.
DIGEST_KEY = "made of"
#: The most seconds of a part whose first case is called again, and the most items of a result that is compared again.
AGAIN_SECONDS, MAX_WATCHED = 0.2, 10_000


class NotMet(AssertionError):
    """The answer is wrong in this check. Its hint is chosen after all checks have run."""


def questions_of(lab: str) -> dict[str, QuestionCard]:
    """Name -> question of a lab (full name), in the lab's order; empty if the lab has no cards.

    This function itself is not cached, because the grader's call watch does not see cached functions.
    """
    return _read(lab)


@cache
def _read(lab: str) -> dict[str, QuestionCard]:
    file = DATA / f"q{lab}.json"
    data = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {name: QuestionCard(name, of_question) for name, of_question in data.items() if name != DIGEST_KEY}


def prepare(lab: str) -> None:
    """Read all data of a lab before this process is forked."""
    for card in questions_of(lab).values():
        assert card.cases and card.code is not None


@dataclass(frozen=True)
class Case:
    """A call or scenario of the part at position ``part``, with the right outcome and wrong misconceptions' outcomes."""

    part: int
    asked: tuple[list[Any], dict[str, Any]] | None
    seed: int
    right: Outcome
    misconceptions: dict[int, Outcome]
    rtol: float | None
    atol: float | None
    only: int | None
    from_text: bool

    def difference(self, outcome: Outcome) -> str:
        """The kind of difference from the right outcome; "" if there is none."""
        return difference(outcome, self.right, self.rtol, self.atol, self.only)

    def is_outcome_of(self, misconception: int, outcome: Outcome, kind: str) -> bool:
        """Whether an outcome, with this kind of difference, is a misconception's outcome in this case."""
        other = self.misconceptions.get(misconception)
        if other is None:
            return not kind and not outcome.changed
        if kind != self.difference(other) or outcome.changed != other.changed[:1]:
            return False
        return not kind or alike(
            replace(outcome, changed=()), replace(other, changed=()), self.rtol, self.atol
        )

    @cached_property
    def size(self) -> int:
        """The number of items in the arguments: fewer are easier to read."""
        return extent(list(self.asked))[0] if self.asked else 1 << 60

    @cached_property
    def axes(self) -> int:
        """The largest number of axes of an argument: one sentence is easier to read than a batch."""
        args, kwargs = self.asked or ([], {})
        return max(
            (np.ndim(value) for value in (*args, *kwargs.values()) if hasattr(value, "shape")), default=0
        )


class QuestionCard:
    """A question's card, from its data. Iterating yields new checks for one answer, one for each part."""

    def __init__(self, name: str, data: dict[str, Any]):
        self.name = name
        self.forbidden: tuple[str, ...] = tuple(data["forbidden"])
        self.parts: list[dict[str, Any]] = data["parts"]
        self.misconceptions: list[dict[str, Any]] = data["misconceptions"]
        self._code: str = data["code"]
        self._impostors: list[str] = data["impostors"]

    def __iter__(self) -> Iterator[PartCheck]:
        card_run = CardRun(self)
        return (PartCheck(card_run, place, part) for place, part in enumerate(self.parts))

    @cached_property
    def cases(self) -> list[Case]:
        """All cases, part by part."""
        return [
            Case(
                part=place,
                asked=decode(case["asked"]) if "asked" in case else None,
                seed=part.get("seed", 0),
                right=_outcome(case["right"]),
                misconceptions={int(number): _outcome(one) for number, one in case["slips"].items()},
                rtol=part.get("rtol"),
                atol=part.get("atol"),
                only=part.get("only"),
                from_text=case.get("text", False),
            )
            for place, part in enumerate(self.parts)
            for case in part["cases"]
        ]

    @cached_property
    def code(self) -> dict[str, Any]:
        """The namespace of the question's scenarios and impostors."""
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

    def __init__(self, card_run: CardRun, place: int, part: dict[str, Any]):
        self.card_run, self.place = card_run, place
        self.__name__, self.__doc__ = part["name"], part["title"]

    def __call__(self, answer: Any) -> None:
        if not self.card_run.holds(self.place, answer):
            raise NotMet


class CardRun:
    """A run of a card's cases on one answer, with its outcomes. Each case is called once."""

    def __init__(self, card: QuestionCard):
        self._card = card
        self._outcomes: dict[int, Outcome] = {}
        #: Each outcome's kind of difference from the right one; "" for none.
        self._kinds: dict[int, str] = {}
        self._errors: dict[int, Exception] = {}
        #: The seconds of each part.
        self._seconds: dict[int, float] = {}
        #: The returned values, with copies of them.
        self._returned: list[tuple[Any, Any]] = []

    def forget(self) -> None:
        """Drop the answer's results and errors, so that the next cells can use their memory."""
        out_of_memory = any(isinstance(error, MemoryError) for error in self._errors.values())
        self._outcomes.clear()
        self._errors.clear()
        self._returned.clear()
        if out_of_memory:
            gc.collect()

    def holds(self, part: int, answer: Any) -> bool:
        """Run all cases of a part. Return whether the answer is right in all of them."""
        began = time.perf_counter()
        for place, case in enumerate(self._card.cases):
            if case.part == part:
                self._outcomes[place], error = self._run(case, answer)
                self._errors |= {place: error} if error else {}
                self._kinds[place] = case.difference(self._outcomes[place])
        self._seconds[part] = time.perf_counter() - began
        return not any(self._card.cases[place].part == part for place in self._wrong)

    def answers_differ(self, answer: Any) -> bool:
        """Whether the first case of a part gives another result when called again. Slow parts are left out."""
        first: dict[int, int] = {}
        for place in self._outcomes:
            first.setdefault(self._card.cases[place].part, place)
        quick = [place for part, place in first.items() if self._seconds.get(part, 1.0) < AGAIN_SECONDS]
        cases = ((self._outcomes[place], self._card.cases[place]) for place in quick)
        return any(
            _is_data(one.value) and not alike(one, self._run(case, answer)[0], case.rtol, case.atol)
            for one, case in cases
        )

    @property
    def overwrites(self) -> bool:
        """Whether a later call changed a returned value."""
        return not all(unchanged(plain(returned), held) for returned, held in self._returned)

    def _run(self, case: Case, answer: Any) -> tuple[Outcome, Exception | None]:
        try:
            with np.errstate(all="ignore"):
                if case.asked is None:
                    return Outcome(tuple(self._observed(case, answer))), None
                return self._called(case.asked, answer), None
        except Raised as raised:  # in a scenario, only the student's own errors
            error: Exception = raised.error
        except Exception as raised:
            if case.asked is None:
                return Outcome(error="an unexpected form"), None
            error = raised
        if is_stub(error):
            raise error
        # A student's own exception class counts as the library's or Python's class from which it derives.
        libraries = ("builtins", "numpy", "torch")
        kind = next(one for one in type(error).__mro__ if one.__module__.partition(".")[0] in libraries)
        return Outcome(error=kind.__name__), error

    def _called(self, asked: tuple[list[Any], dict[str, Any]], answer: Any) -> Outcome:
        """The outcome of a call with copies of the arguments."""
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
        """The positions of the cases that are wrong, or in which an argument was changed."""
        return [place for place, outcome in self._outcomes.items() if self._kinds[place] or outcome.changed]

    # ---------------------------------------------------------------------------------------- the sentences of the card

    def explained(
        self, marks: list[Mark], answer: Any, where_it_raised: Callable[[Exception], str]
    ) -> list[Mark]:
        """The marks, where the first failed mark without a hint gets lines about its smallest failing case."""
        place = next((place for place, mark in enumerate(marks) if not mark.passed), None)
        if place is None or marks[place].hint:
            return marks
        hint = "\n".join(self._hints(place, answer, where_it_raised))
        return [*marks[:place], replace(marks[place], hint=hint), *marks[place + 1 :]]

    def hint(self, again: bool = False) -> str:
        """The hint of the misconception that behaves like the answer in all cases of the card, or "".

        ``again``: only misconceptions that give another result when called again.
        """
        if len(self._outcomes) < len(self._card.cases) or not (self._wrong or again):
            return ""
        hints = {
            one["hint"]
            for number, one in enumerate(self._card.misconceptions)
            if one.get("again", False) is again
            and all(
                case.is_outcome_of(number, self._outcomes[place], self._kinds[place])
                for place, case in enumerate(self._card.cases)
            )
        }
        return hints.pop() if len(hints) == 1 else ""

    def _hints(self, part: int, answer: Any, where_it_raised: Callable[[Exception], str]) -> Iterator[str]:
        place = self._most_readable(part)
        case, outcome = self._card.cases[place], self._outcomes[place]
        if case.part != part:
            title = self._card.parts[case.part]["title"].rstrip(".")
            yield f"A case of “{title}” that is easier to read:"
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
        elif self._kinds[place]:
            yours, right, name = self._compared_values(case, outcome)
            where, yours_there, right_there, others = difference_in_words(yours, right)
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

    def _compared_values(self, case: Case, outcome: Outcome) -> tuple[Any, Any, str]:
        """The values to compare and their name; of several observations, the first that differs."""
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

    def _most_readable(self, part: int) -> int:
        """The position of the most readable failing case: one of this part if it can be shown, else of another part."""

        def order(place: int) -> tuple[bool, int, int]:
            case = self._card.cases[place]
            return not case.from_text, case.axes, case.size

        cases = self._card.cases
        first = min((place for place in self._wrong if cases[place].part == part), key=order)
        if self._is_readable(first):
            return first
        return min(filter(self._is_readable, self._wrong), key=order, default=first)

    def _is_readable(self, place: int) -> bool:
        asked = self._card.cases[place].asked
        return place in self._errors or (asked is not None and are_readable([*asked[0], *asked[1].values()]))


def _is_data(value: Any) -> bool:
    """Whether a value or its observations are data, and small enough to compare again later."""
    seen = value if type(value) is tuple else (value,)
    held = [one.value if isinstance(one, Observed) else one for one in seen]
    try:
        return extent(held)[0] <= MAX_WATCHED and bool(encode(held))
    except TypeError:
        return False


def _sentence(words: str) -> str:
    """A hint as a sentence of its own."""
    return f"{words[0].upper()}{words[1:]}."
