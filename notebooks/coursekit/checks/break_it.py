"""Shows which wrong functions, the impostors of a question, a student's input exposes.

A lab prints a weak input, on which every impostor is right. The student writes ``counterexample()``, which returns arguments
on which impostors are wrong. The student's own function, whose check is green, gives the right result. Impostors stand in
the question's file (``Question.impostor``). An impostor changes the arguments or the result of the student's function, so that
the kit contains no part of an answer. The text before “One survives:” is shown when the impostor is exposed, the text after it
otherwise. Nothing here is graded.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coursekit.checks import time_limit
from coursekit.checks.questions import questions_of
from coursekit.checks.values import as_numbers, values_match
from coursekit.notebook import cards
from coursekit.notebook.verdict import Mark


def impostors(lab: str) -> Mapping[str, list[Callable[..., Any]]]:
    """The impostors of a lab (full name), by question."""
    return {name: card.impostors for name, card in questions_of(lab).items() if card.impostors}


def break_it(
    counterexample: Callable[[], Any], right: Callable[..., Any], shown: Callable[..., Any] | None = None
) -> None:
    """Show a card with the impostors that the student's input exposes.

    ``counterexample()`` returns a tuple of arguments, or a single argument. ``right`` is the student's own function, named
    like its question. ``shown`` is a wrong function whose code the lab prints.
    """
    from coursekit.checks.api import state

    known = impostors(state()[0])  # a lab has impostors of one question
    wrong = known.get(_name_of(right)) or next(iter(known.values()), [])
    refusal, marks = exposed(counterexample(), right, wrong, shown)
    cards.show(cards.broken(refusal, marks))


def exposed(
    arguments: Any,
    right: Callable[..., Any],
    wrong: list[Callable[..., Any]],
    shown: Callable[..., Any] | None = None,
) -> tuple[str, list[Mark]]:
    """The reason why the input cannot be used ("" if it can), and a mark for each impostor: exposed or not."""
    if arguments is None:
        return "Your `counterexample` returns None: is a return missing?", []
    given = arguments if isinstance(arguments, tuple) else (arguments,)
    try:
        truth = _result_of(right, given)
    except Exception as error:
        name = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        raises = f"Your own `{_name_of(right)}` raises an error on this input"
        return f"{raises} ({name}): give one that the text allows.", []
    if _has_nan(truth):
        return f"Your own `{_name_of(right)}` returns nan: give an input that the text allows.", []
    marks = []
    if shown is not None:
        title = f"`{shown.__name__}`, which you see above"
        marks.append(Mark(title, _differs(shown, given, truth), f"{title}, gives the same result as yours."))
    for one in wrong:
        words = " ".join((inspect.getdoc(one) or one.__name__).split())
        title, begins, hint = words.partition("One survives:")
        marks.append(Mark(title.strip(), _differs(one, (right, *given), truth), begins + hint))
    return "", marks


def _name_of(function: Any) -> str:
    """The function's name; for a callable object or ``functools.partial``, the class's name."""
    return getattr(function, "__name__", type(function).__name__)


def _result_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The function's result for copies of the arguments, within a check's time limit."""
    copies = [one if callable(one) else copy.deepcopy(one) for one in arguments]
    with np.errstate(all="ignore"):
        return time_limit.within(time_limit.SECONDS, function, *copies)


def _differs(function: Callable[..., Any], arguments: tuple[Any, ...], truth: Any) -> bool:
    """Whether a wrong function is exposed: its result differs, or it raises an error."""
    try:
        return not values_match(_result_of(function, arguments), truth, rtol=1e-6, atol=1e-9)
    except (Exception, time_limit.TookTooLong):
        return True


def _has_nan(value: Any) -> bool:
    numbers = as_numbers(value)
    if numbers is None:
        return isinstance(value, (list, tuple)) and any(map(_has_nan, value))
    return numbers.dtype.kind in "fc" and bool(np.isnan(numbers).any())
