"""Formats arguments and results for cards: short values in full, long ones by their shape."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.checks.values import as_numbers, extent

#: The most numbers and the most characters of a value that is printed in full.
MAX_NUMBERS, MAX_CHARACTERS = 30, 120
#: The most characters of a call's arguments together.
MAX_LINE = 200
#: The digits of a floating-point number, and the most if two different ones would look equal.
DIGITS, ALL_DIGITS = 4, 9
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")


def is_short(value: Any) -> bool:
    """Whether a value is printed in full."""
    return _in_full(value, DIGITS) is not None


def in_words(value: Any, digits: int = DIGITS, whole: bool = True) -> str:
    """A short value in full; a long one, or any if not ``whole``, by its shape or beginning.

    >>> in_words(np.array([[0.25, 1.0]])), in_words(np.zeros((9, 9)))
    ('[[0.25, 1]]', 'an array of shape (9, 9)')
    """
    text = _in_full(value, digits) if whole else None
    if text is not None:
        return text
    array = as_numbers(value)
    if array is not None and array.ndim and array.dtype.kind in "biufc":
        kind = "an array" if hasattr(value, "shape") else "a list of numbers"
        return f"{kind} of shape {array.shape}"
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return f"{_shortened(_text(value, digits))} ({len(value)} entries)"
    return _shortened(_text(value, digits))


def arguments_in_words(names: Sequence[str], values: Sequence[Any]) -> str:
    """The arguments of a call with their names. If the line is too long, the longest are shown as shapes.

    >>> arguments_in_words(["T", "mask"], [3, None])
    'T = 3, mask = None'
    """
    words = [in_words(value) for value in values]
    while sum(map(len, words)) > MAX_LINE:
        longest = max(range(len(words)), key=lambda place: len(words[place]))
        shape = in_words(values[longest], whole=False)
        if len(shape) >= len(words[longest]):
            break
        words[longest] = shape
    return ", ".join(f"{name} = {text}" for name, text in zip(names, words, strict=True))


def argument_names(function: Any, given: Sequence[Any]) -> list[str]:
    """The function's names of the positional arguments ``given``; "argument 2" for one without a name."""
    usual = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    names: list[str] = []
    with contextlib.suppress(TypeError, ValueError):
        parameters = inspect.signature(function).parameters.values()
        names = [one.name for one in parameters if one.kind in usual]
    return [*names[: len(given)], *(f"argument {place + 1}" for place in range(len(names), len(given)))]


def are_readable(values: Sequence[Any]) -> bool:
    """Whether the arguments of a call are printed in full."""
    return all(map(is_short, values)) and sum(len(in_words(value)) for value in values) <= MAX_LINE


def difference_in_words(value: Any, right: Any) -> tuple[str, str, str, str]:
    """The place of the first difference ("" for the whole value), both values there, and how many entries differ.

    >>> difference_in_words((np.ones(2), np.zeros(2)), (np.ones(2), np.array([0.5, 0])))
    ('second result', '[0, 0]', '[0.5, 0]', '')
    >>> difference_in_words((["a", "b"], np.zeros(2)), (["a", "b"], np.array([0.5, 0])))[0]
    'second result'
    """
    places, others = [], ""
    while (found := _first_difference(value, right)) is not None:
        place, others, value, right = found
        places.append(place)
    for digits in range(DIGITS, ALL_DIGITS + 1):
        yours, rights = in_words(value, digits), in_words(right, digits)
        if yours != rights and not _looks_equal(value, right, digits):
            break
    return ", ".join(places), yours, rights, others


def _looks_equal(value: Any, right: Any, digits: int) -> bool:
    """Whether two different numbers look equal with this many digits."""
    a, e = as_numbers(value), as_numbers(right)
    if a is None or e is None or a.shape != e.shape or a.dtype.kind not in "fc" or a.size > MAX_NUMBERS:
        return False
    wrong = _unequal(a, e)
    pairs = zip(a[wrong].tolist(), e[wrong].tolist(), strict=True)
    return any(_text(one, digits) == _text(other, digits) for one, other in pairs)


def _first_difference(value: Any, right: Any) -> tuple[str, str, Any, Any] | None:
    """(place, how many differ, both values there) of the first difference; None for short values, or if there is no such place."""
    several = isinstance(right, tuple) and 1 < len(right) <= len(PLACES) and not _are_numbers(right)
    if is_short(value) and is_short(right) and not several:
        return None
    if isinstance(right, Mapping) and isinstance(value, Mapping):
        if value.keys() != right.keys():
            return None
        wrong = [key for key in right if _differ(value[key], right[key])]
        if not wrong:
            return None
        key = wrong[0]
        return _difference(f"for {in_words(key)}", len(wrong), len(right), value[key], right[key])
    a, e = as_numbers(value), as_numbers(right)
    if a is not None and e is not None and a.dtype.kind in "biufc" and not several:
        if a.shape != e.shape or a.ndim == 0:
            return None
        entries = [tuple(place) for place in np.argwhere(_unequal(a, e)).tolist()]
        if not entries:
            return None
        return _difference(f"entry {[*entries[0]]}", len(entries), a.size, a[entries[0]], e[entries[0]])
    lists = isinstance(right, (list, tuple)) and isinstance(value, (list, tuple))
    if not lists or len(value) != len(right):
        return None
    items = [i for i, (one, other) in enumerate(zip(value, right, strict=True)) if _differ(one, other)]
    if not items:
        return None
    i = items[0]
    if several:
        return f"{PLACES[i]} result", "", value[i], right[i]
    return _difference(f"entry {i}", len(items), len(right), value[i], right[i])


def _difference(place: str, wrong: int, size: int, value: Any, right: Any) -> tuple[str, str, Any, Any]:
    return place, f"{wrong} of {size} entries differ" if wrong > 1 else "", value, right


def _are_numbers(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, (bool, int, float, complex, np.generic)) for value in values)


def _differ(value: Any, right: Any) -> bool:
    a, e = as_numbers(value), as_numbers(right)
    if a is None or e is None:
        return a is not e or type(value) is not type(right) or bool(value != right)
    return a.shape != e.shape or bool(_unequal(a, e).any())


def _unequal(a: np.ndarray, e: np.ndarray) -> np.ndarray:
    """A mask of the entries that differ by more than rounding."""
    if a.dtype.kind not in "fc" and e.dtype.kind not in "fc":
        return np.asarray(a != e)
    size = float(np.abs(e[np.isfinite(e)]).max(initial=0)) if e.size else 0.0
    return np.asarray(~np.isclose(a, e, rtol=1e-5, atol=1e-5 * min(1.0, size or 1.0), equal_nan=True))


def _in_full(value: Any, digits: int) -> str | None:
    """A value as text; None if it is too long."""
    count, _, characters = extent(value)
    if count > MAX_NUMBERS or characters > MAX_CHARACTERS:
        return None
    text = _text(value, digits)
    return text if len(text) <= MAX_CHARACTERS else None


def _text(value: Any, digits: int) -> str:
    if hasattr(value, "detach") or isinstance(value, (np.ndarray, np.generic)):
        array = as_numbers(value)
        if array is None and hasattr(value, "detach"):
            return repr(value)
        return _text(array.tolist() if array is not None else value.tolist(), digits)
    if isinstance(value, float):
        return f"{value:.{digits}g}".replace("-inf", "−∞").replace("inf", "∞")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(k, digits)}: {_text(v, digits)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(_text(item, digits) for item in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(_text(item, digits) for item in value)}]"
    return repr(value)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
