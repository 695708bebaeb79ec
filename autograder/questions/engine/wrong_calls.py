"""Describes what the wrong calls of an answer have in common: "where `W1` holds whole numbers"."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from coursekit.checks.values import as_numbers

from autograder.judging import run
from autograder.questions.engine.compare import Outcome
from autograder.questions.engine.draw import trials_of
from autograder.questions.engine.question import Case, Question, questions_of

_AXES = {2: "two", 3: "three", 4: "four"}


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
        place: dict(_traits(question, case))
        for place in seen
        if question and (case := trials[place].case) is not None
    }
    if not 0 < len(wrong) < len(traits) or not wrong <= traits.keys():
        return ""
    found: dict[str, dict[str, list[str]]] = {}
    sizes_of_right = {
        n for place in traits.keys() - wrong for (n, _), kind in traits[place].items() if kind == "size"
    }
    for (name, trait), kind in next(traits[place] for place in traits if place in wrong).items():
        if kind == "size" and name not in sizes_of_right:
            continue  # no right call has a number here to differ from
        if {place for place in traits if (name, trait) in traits[place]} == wrong:
            found.setdefault(kind, {}).setdefault(trait, []).append(f"`{name}`")
    parts = [_of_all(names, trait) for trait, names in (next(iter(such.items())) for such in found.values())]
    return " and ".join(parts) if len(parts) <= 2 else ""


def _of_all(names: list[str], trait: str) -> str:
    return f"{names[0]} {trait}" if len(names) == 1 else f"each of {', '.join(names)} {trait}"


def _traits(question: Question, case: Case) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the traits of a call's arguments: ((name, trait in words), kind)."""
    signature = inspect.signature(question.reference)
    given = signature.bind(*case.args, **case.kwargs).arguments
    for name, parameter in signature.parameters.items():
        if parameter.default is not parameter.empty:
            is_given = name in given and given[name] is not None
            yield (name, "is given" if is_given else "is left out"), "given"
    for name, value in given.items():
        for trait, kind in _traits_of_value(value):
            yield (name, trait), kind


def _traits_of_value(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, (str, list, tuple, dict)) and not value:
        yield "is empty", "empty"
    numbers = None if isinstance(value, str) else as_numbers(value)
    if numbers is None:
        return
    if numbers.ndim == 0 and numbers.dtype.kind == "b":
        yield f"is {bool(numbers)}", "size"
        return
    if numbers.dtype.kind in "iub" and numbers.size:
        words = "truth values" if numbers.dtype.kind == "b" else "whole numbers"
        yield f"holds {words}" if numbers.ndim else "is a whole number", "numbers"
    if numbers.ndim == 0:
        if numbers.dtype.kind != "c" and not np.isnan(numbers):
            yield ("is 0" if numbers == 0 else "is above 0" if numbers > 0 else "is below 0"), "size"
        return
    yield f"is {'a list' if isinstance(value, (list, tuple)) else 'an array'}", "form"
    if numbers.size == 0:
        yield "is empty", "empty"
    for axes, word in _AXES.items():
        if numbers.ndim >= axes:
            yield f"has {word} axes or more", "axes"
    if numbers.ndim == 1:
        yield "has one axis", "axes"
    elif numbers.shape[0] > 1:
        yield "has more than one row", "axes"
