"""Decides whether a value is right and whether two answers behave the same, by one rule for all questions.

A right value has the reference's structure (number of results, keys, order, length), shape and kind of number, and equal
numbers within single precision. A list, tuple, array and tensor of the same numbers are equal. If numbers are expected,
True is 1.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from coursekit.checks.values import MAX_ITEMS, are_close, as_numbers, extent, is_identical, values_match

Array = npt.NDArray[Any]

#: Tolerances for float64 results after one step in single precision: relative, and as a share of the largest right number (at most 1).
RTOL, ATOL = 3e-6, 5e-6
#: Tolerances for results in single or half precision.
SINGLE_RTOL, SINGLE_ATOL = 2e-4, 2e-5
#: A right value whose largest number is below this counts as zero.
_ZERO = 1e-9


@dataclass(frozen=True)
class Observed:
    """A scenario's observation, compared with the reference's. ``rtol`` and ``atol`` replace the usual tolerances.

    ::

        yield Observed("share of a", np.mean(draws == "a"), atol=0.08)
    """

    name: str
    value: Any
    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The outcome of one call or scenario: a value or an error's class, and the names of changed arguments.

    A scenario's value is a tuple of ``Observed``.
    """

    value: Any = None
    error: str = ""
    changed: tuple[str, ...] = ()
    #: Case -> the kind of difference from its right outcome, where that is known.
    known: dict[Any, str] = field(default_factory=dict, compare=False, repr=False)


def difference(
    outcome: Outcome,
    right: Outcome,
    rtol: float | None = None,
    atol: float | None = None,
    only: int | None = None,
) -> str:
    """The kind of difference from the right outcome ("shape", "values", …); "" if there is none.

    If there are several results, only the one at position ``only`` counts.
    """
    if right.error:
        return "" if _is_error(outcome.error, right.error) else "no such error"
    if outcome.error:
        return "error"
    if is_identical(outcome.value, right.value):
        return ""
    if isinstance(right.value, tuple) and right.value and isinstance(right.value[0], Observed):
        return _observations_differ(outcome.value, right.value)
    if only is None:
        return value_difference(outcome.value, right.value, rtol, atol)
    value = outcome.value
    if isinstance(value, np.ndarray) and value.ndim:
        value = list(value)
    if not isinstance(value, (list, tuple)) or len(value) != len(right.value):
        return "results"
    return value_difference(value[only], right.value[only], rtol, atol)


def alike(one: Outcome, other: Outcome, rtol: float | None = None, atol: float | None = None) -> bool:
    """Whether two answers behave the same in one call: the same values, the same error, the same arguments changed."""
    if (one.error, one.changed) != (other.error, other.changed):
        return False
    first, second = one.value, other.value
    if isinstance(first, tuple) and first and isinstance(first[0], Observed):
        return [o.name for o in first] == [o.name for o in second] and all(
            values_match(a.value, b.value, a.rtol, a.atol) for a, b in zip(first, second, strict=True)
        )
    return values_match(first, second, rtol, atol)


def value_difference(value: Any, right: Any, rtol: float | None = None, atol: float | None = None) -> str:
    """The kind of difference between ``value`` and ``right``; "" if there is none.

    >>> value_difference([1.0, 2.0], np.array([1.0, 2.0]))
    ''
    >>> value_difference(np.array([[1, 0], [1, 1]]), np.tri(2, dtype=bool))
    'kind'
    """
    if isinstance(right, np.ndarray) and right.dtype.kind not in "biufc":
        right = right.tolist()  # for example texts, which are compared item by item
    if value is None and right is not None:
        return "nothing"
    if right is None or isinstance(right, (str, bytes)):
        right_kind = isinstance(value, type(right))  # NumPy has strings of its own
        return "kind" if not right_kind else "" if value == right else "values"
    if isinstance(value, (bytes, bytearray)):
        value = list(value)
    if extent(value)[0] > MAX_ITEMS:
        return "size"
    if isinstance(right, Mapping):
        return _mappings_differ(value, right, rtol, atol)
    if isinstance(right, (set, frozenset)):
        return "" if isinstance(value, (set, frozenset)) and value == right else "values"
    expected = as_numbers(right)
    if isinstance(value, (list, tuple)) and not value and expected is not None and expected.shape[:1] == (0,):
        return ""  # a list without items has no further axes
    several = isinstance(right, tuple) and len(right) > 1
    if expected is not None and expected.dtype.kind in "biufc" and not (several and expected.ndim > 1):
        actual = as_numbers(value)
        return _numbers_differ(actual, expected, rtol, atol) if actual is not None else "kind"
    if isinstance(right, (list, tuple)):
        return _sequences_differ(value, right, rtol, atol)
    return "" if type(value) is type(right) and bool(value == right) else "kind"


def _is_error(raised: str, wanted: str) -> bool:
    """Whether an error's class is the wanted one or derives from it."""
    kinds = getattr(builtins, raised, None), getattr(builtins, wanted, None)
    if isinstance(kinds[0], type) and isinstance(kinds[1], type):
        return issubclass(kinds[0], kinds[1])
    return raised == wanted


def _observations_differ(value: Any, right: tuple[Observed, ...]) -> str:
    if [seen.name for seen in value] != [expected.name for expected in right]:
        return "values"
    words = (
        value_difference(seen.value, expected.value, expected.rtol, expected.atol)
        for seen, expected in zip(value, right, strict=True)
    )
    return next(filter(None, words), "")


def _mappings_differ(value: Any, right: Mapping[Any, Any], rtol: float | None, atol: float | None) -> str:
    if not isinstance(value, Mapping):
        return "kind"
    if value.keys() != right.keys():
        return "keys"
    return next(filter(None, (value_difference(value[key], right[key], rtol, atol) for key in right)), "")


def _sequences_differ(
    value: Any, right: list[Any] | tuple[Any, ...], rtol: float | None, atol: float | None
) -> str:
    """Compare sequences item by item; the items of an array are its rows."""
    several = isinstance(right, tuple)
    if not isinstance(value, (list, tuple)):
        array = as_numbers(value)
        if array is None or array.ndim == 0:
            return "results" if several else "kind"
        value = list(array)
    if len(value) != len(right):
        return "results" if several else "length"
    words = (value_difference(v, r, rtol, atol) for v, r in zip(value, right, strict=True))
    return next(filter(None, words), "")


def _numbers_differ(a: Array, e: Array, rtol: float | None, atol: float | None) -> str:
    if a.shape != e.shape:
        return "shape"
    if a.size == 0:
        return ""
    kinds = a.dtype.kind, e.dtype.kind
    if kinds[0] not in "biufc" or (kinds[1] == "b" and kinds[0] != "b") or ("c" in kinds and kinds[1] != "c"):
        return "kind"
    if kinds[1] in "biu" and rtol is None and atol is None:
        close = are_close(a, e, 1e-9, 0.0) if kinds[0] == "f" else bool(np.array_equal(a, e))
    else:
        close = are_close(a, e, *_tolerances(a, e, rtol, atol))
    return "" if close else "values"


def _tolerances(a: Array, e: Array, rtol: float | None, atol: float | None) -> tuple[float, float]:
    largest = float(np.abs(e[np.isfinite(e)]).max(initial=0))
    share = min(1.0, largest) if largest > _ZERO else 1.0
    rtol, atol = RTOL if rtol is None else rtol, ATOL * share if atol is None else atol
    if a.dtype.kind in "fc" and a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) <= 4:
        return max(rtol, SINGLE_RTOL), max(atol, SINGLE_ATOL * share)
    return rtol, atol
