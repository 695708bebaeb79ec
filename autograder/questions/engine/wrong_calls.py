"""Describes what the wrong calls of an answer have in common: "where `W1` holds whole numbers"."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from coursekit.checks.compare import Outcome
from coursekit.checks.values import as_numbers

from autograder.judging import run
from autograder.questions.engine.draw import trials_of
from autograder.questions.engine.question import Case, Question, questions_of

_AXES = {1: "one axis", 2: "two axes", 3: "three axes", 4: "four axes"}
_NUMBERS = {"b": "holds truth values", "i": "holds whole numbers", "u": "holds whole numbers"}


def shared_by_wrong_calls(lab: str, name: str, seen: Mapping[int, Outcome]) -> str:
    """A clause about what is true of every wrong call and of no right call; "" if nothing is.

    ``seen`` maps the position of each trial to the answer's outcome. More than two common traits count as chance::

        shared_by_wrong_calls(lab, "mask_votes", outcomes_seen(answered))
        # "`mask` is a list"
    """
    question = questions_of(lab).get(name)
    trials = trials_of(question, run.salt()) if question else ()
    wrong = {place for place in seen if trials[place].difference(seen[place])}
    traits = {
        place: list(_traits(question, case))
        for place in seen
        if question and (case := trials[place].case) is not None
    }
    if not 0 < len(wrong) < len(traits) or not wrong <= traits.keys():
        return ""
    found: dict[str, dict[str, list[str]]] = {}
    of_right = {trait[:2] for place in traits.keys() - wrong for trait in traits[place]}
    for trait in next(traits[place] for place in traits if place in wrong):
        arg, kind, words = trait  # counts only if right calls have other traits of this kind
        if words and (arg, kind) in of_right and {n for n in traits if trait in traits[n]} == wrong:
            found.setdefault(kind, {}).setdefault(words, []).append(f"`{arg}`")
    parts = [_clause(names, trait) for trait, names in (next(iter(one.items())) for one in found.values())]
    return " and ".join(parts) if len(parts) <= 2 else ""


def _clause(names: list[str], trait: str) -> str:
    return f"{names[0]} {trait}" if len(names) == 1 else f"each of {', '.join(names)} {trait}"


def _traits(question: Question, case: Case) -> Iterator[tuple[str, str, str]]:
    """Yield the traits of a call's arguments: (name, kind, trait in words). A trait that tells nothing has no words."""
    signature = inspect.signature(question.reference)
    given = signature.bind(*case.args, **case.kwargs).arguments
    for name, parameter in signature.parameters.items():
        if parameter.default is not parameter.empty:
            is_given = name in given and given[name] is not None
            yield name, "given", "is given" if is_given else "is left out"
    for name, value in given.items():
        yield from ((name, *trait) for trait in _traits_of_value(value))


def _traits_of_value(value: Any) -> Iterator[tuple[str, str]]:
    numbers = None if isinstance(value, str) else as_numbers(value)
    if isinstance(value, (str, list, tuple, dict)) or (numbers is not None and numbers.ndim):
        size = len(value) if numbers is None else numbers.size
        yield "empty", "" if size else "is empty"
    if numbers is None:
        return
    if numbers.size and numbers.dtype.kind in "iuf":
        yield "fraction", "has a fraction" if (numbers != np.rint(numbers)).any() else ""
        yield "below 1", "goes below 1" if 0 < numbers.min() < 1 else ""
    if numbers.ndim == 0:
        if numbers.dtype.kind == "b":
            yield "size", f"is {bool(numbers)}"
        elif numbers.dtype.kind != "c" and not np.isnan(numbers):
            yield "size", "is 0" if numbers == 0 else "is above 0" if numbers > 0 else "is below 0"
        yield "axes", ""
        return
    if numbers.size:
        yield "numbers", _NUMBERS.get(numbers.dtype.kind, "")
    yield "form", f"is {'a list' if isinstance(value, (list, tuple)) else 'an array'}"
    for axes, word in _AXES.items():
        if numbers.ndim >= axes:
            yield "axes", f"has {word} or more"
    if numbers.ndim == 1:
        yield "axes", "has one axis"
    elif numbers.size:
        yield "rows", "has more than one row" if numbers.shape[0] > 1 else ""
