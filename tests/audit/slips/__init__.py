"""Slips: answers that are wrong in one branch only, or where two features meet. ``lab_NN.py`` holds those of a lab.

A slip keeps most of its points and not all of them, and its card is red unless its author says otherwise.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.course.masters import lab_name, solution
from autograder.course.policy_file import spec
from autograder.testing.catalogue import answers_of

#: What a slip costs -> whether a share of the points fits.
FITS: dict[str, Callable[[float], bool]] = {
    "a little": lambda kept: 0.4 < kept < 1,
    "nothing": lambda kept: kept == 1,
    "everything": lambda kept: kept == 0,
}


@dataclass(frozen=True)
class Slip:
    """An answer, what it costs (a key of ``FITS``), and whether its card is red; None where that is left open."""

    question: str
    name: str
    answer: Any
    costs: str
    red: bool | None

    def fault(self, kept: float, card_is_green: bool) -> str:
        """What is wrong with how it fared, in words; "" when nothing is."""
        if not FITS[self.costs](kept):
            return f"it keeps {kept:.0%} of the points and should lose {self.costs}"
        if self.red is card_is_green:  # None is neither
            return f"its card is {'green' if card_is_green else 'red'}"
        return ""


class Slips(list[Slip]):
    """The slips of a lab (by its number), which are written below it as decorated functions or classes."""

    def __init__(self, lab: str):
        self.lab = lab_name(lab)

    def __call__(
        self, question: str, *, costs: str = "a little", red: bool | None = True
    ) -> Callable[[Any], Any]:
        """Mark an answer to ``question`` as a slip."""

        def mark(answer: Any) -> Any:
            self._add(Slip(question, answer.__name__, answer, costs, red))
            return answer

        return mark

    def where(self, branches: Mapping[str, tuple[str, str, Callable[..., Any]]]) -> None:
        """Add slips by name: a question, one of its misconceptions, and when that is given; else the master's answer is."""
        for name, (question, wrong, when) in branches.items():
            self._add(Slip(question, name, self._branch(question, wrong, when), "a little", True))

    def _add(self, slip: Slip) -> None:
        if slip.question not in dict(spec(self.lab).questions):
            raise ValueError(f"lab {self.lab} has no question {slip.question}")
        self.append(slip)

    def _branch(self, question: str, name: str, when: Callable[..., Any]) -> Callable[..., Any]:
        right = solution(self.lab)[question]
        known = answers_of(self.lab)["misconception"][question]
        wrong = next(slip.function for slip in known if slip.name == name)
        return lambda *given, **named: (wrong if when(*given, **named) else right)(*given, **named)


def slips_of(lab: str, question: str) -> list[Slip]:
    """The slips of a question (lab by full name)."""
    name = f"{__name__}.lab_{lab[:2]}"
    if importlib.util.find_spec(name) is None:
        return []
    return [slip for slip in importlib.import_module(name).slip if slip.question == question]
