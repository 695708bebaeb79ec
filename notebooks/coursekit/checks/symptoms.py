"""Describes how a wrong value differs from the right one: transposed, twice as large, right but for the last row.

A misconception tells what a student thought; a symptom tells only what the values show, and is always true of them. A
page shows it if no misconception matches. Every sentence comes from a fixed list of n. So a page reveals at most log2(n) bits
about the hidden inputs, and no number, shape or name of an input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coursekit.checks.values import as_numbers, extent, values_match

Array = npt.NDArray[Any]

#: Values that agree within this relative tolerance are right but for lost precision.
SINGLE_PRECISION = 3e-5
_RTOL, _ATOL = 1e-6, 1e-12
#: Only the shape of a larger array is compared, and only the beginning of a longer text.
MAX_NUMBERS = 200_000
#: The most nested sentences. With more, a student could encode hidden inputs in the nesting.
MAX_INSIDE = 2


@dataclass(frozen=True)
class Symptom:
    """A visible difference between values. ``name`` is for programs, ``sentence`` for the student."""

    name: str
    sentence: str
    #: The number of sentences around this one ("Each item: …"), at most ``MAX_INSIDE``.
    inside: int = 0


#: Name -> sentence, for symptoms with a fixed sentence.
_SENTENCES = {
    "nothing returned": "It returns None: is a return missing?",
    "another kind of value": "It returns another kind of value than the one asked for.",
    "one result for several": "It returns one value where several are asked for.",
    "number of results": "It returns another number of values than asked for.",
    "results exchanged": "The results are right, but they come in another order.",
    "keys turned round": "The keys are the right pairs, each reversed.",
    "some entries": "The keys are right, but a few of the values are wrong.",
    "entries' values": "The keys are right, but the values are wrong.",
    "repeats": "Each item is right, but some come more or less often than they should.",
    "items missing": "Some items of the list are missing.",
    "items too many": "There are items in the list that should not be there.",
    "axis dropped": "An axis of length one is missing: does a `squeeze` take it, or a sum or a mean without keepdims?",
    "shape only": "The values are right and in the right order, but the shape is wrong.",
    "axes in another order": "The axes of the result are in the wrong order.",
    "one place more or less": "An axis is longer or shorter by one.",
    "transposed": "The result is the right one transposed.",
    "shifted by one": "The result is the right one, shifted by one place.",
    "some True missing": "Some places are False that should be True, and none the other way round.",
    "some True too many": "Some places are True that should be False, and none the other way round.",
    "infinite": "The result holds infinite values where there should be numbers.",
    "finite": "Some values are finite that should be infinite.",
    "precision": (
        "The values agree to several digits only: something was rounded, or computed in single precision, or a small number was added."
    ),
    "sign": "The result has the wrong sign.",
    "too large": "The result is too large.",
    "too small": "The result is too small.",
    "all equal": "The result is the same number everywhere.",
    "wrong axis": "The columns sum to one where the rows should: it is normalised along the wrong axis.",
    "normalised as a whole": "The whole result sums to one, where each row should.",
    "zeros": "Some shares are wrongly zero, and the others are not normalised again.",
    "zero too many": "The rows sum to one, but some shares are zero that should not be.",
    "too sharp": "The shares are too sharp: before the softmax all scores are too large by one factor.",
    "too even": "The shares are too even: before the softmax all scores are too small by one factor.",
    "only the diagonal": "Only the diagonal is wrong.",
    "only where zero is expected": "Only values that should be zero are wrong.",
    "only negative values": "Only values that should be negative are wrong.",
    "other values": "The result has the right shape but wrong values.",
}


def symptom_of(actual: Any, expected: Any) -> Symptom | None:
    """How ``actual`` differs from ``expected``; None if they are equal."""
    if values_match(actual, expected):
        return _about_kinds(actual, expected)
    if actual is None:
        return _named("nothing returned")
    for look in (_of_texts, _of_mappings, _of_parts, _of_lengths, _of_numbers, _of_sequences):
        if symptom := look(actual, expected):
            return symptom
    return _named("another kind of value")


def _about_kinds(actual: Any, expected: Any) -> Symptom | None:
    """The symptom of equal values of another type, such as 2.0 for 2 or a list for an array."""
    a, e = as_numbers(actual), as_numbers(expected)
    if a is not None and e is not None and a.dtype.kind == e.dtype.kind == "f":
        return None if np.allclose(a, e, rtol=1e-10, atol=1e-12, equal_nan=True) else _named("precision")
    if a is not None and e is not None and a.dtype.kind != e.dtype.kind:
        is_, should = _KINDS.get(a.dtype.kind), _KINDS.get(e.dtype.kind)
        if is_ and should and is_ != should:
            words = f"The values are right, but they are {is_} where {should} are expected."
            return Symptom(OTHER_TYPE, words)
    return None


#: The symptom of a right value of another type.
OTHER_TYPE = "another type of number"
_WHOLE = "whole numbers"
_KINDS = {"b": "True and False", "i": _WHOLE, "u": _WHOLE, "f": "fractions", "c": "complex numbers"}


# ------------------------------------------------------------------------------------------------------- texts, mappings


def _of_texts(actual: Any, expected: Any) -> Symptom | None:
    if not isinstance(actual, (str, bytes)) or type(actual) is not type(expected):
        return None
    a, e = (value if isinstance(value, str) else value.decode("latin-1") for value in (actual, expected))
    a = a[: MAX_NUMBERS + len(e)]  # only the beginning of a long text is compared
    return _first(
        (a == e[::-1], "reversed text", "The text is the right one written backwards."),
        (a.lower() == e.lower(), "letter case", "The text is right but for capital and small letters."),
        (_letters(a) == _letters(e), "punctuation", "The text is right but for punctuation and blanks."),
        (e.startswith(a), "text ends too early", "The text begins right and ends too early."),
        (a.startswith(e), "text goes on too long", "The text is right and then goes on too long."),
        (e.endswith(a), "beginning missing", "The beginning of the text is missing."),
        (True, "another text", "The text is wrong."),
    )


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def _of_mappings(actual: Any, expected: Any) -> Symptom | None:
    if not isinstance(actual, Mapping) or not isinstance(expected, Mapping):
        return None
    a, e = actual.keys(), expected.keys()
    flipped = {tuple(reversed(key)) if isinstance(key, tuple) else key for key in a}
    if a == e:
        wrong = [key for key in e if not values_match(actual[key], expected[key])]
        inner = [symptom_of(actual[key], expected[key]) for key in wrong[:20]]
        if len(wrong) == len(e) and all(inner) and len({s.name for s in inner if s}) == 1 and inner[0]:
            return _inside(inner[0], f"The keys are right. {inner[0].sentence}")
        return _named("some entries" if len(wrong) <= len(e) / 4 else "entries' values")
    begins = _beginning(list(actual.items()), list(expected.items()))
    return _first(
        (flipped == e, "keys turned round"),
        (a < e, "entries missing", "Some entries are missing."),
        (a > e, "entries too many", "There are entries that should not be there."),
        (True, "other keys", f"{begins} The keys are wrong."),
    )


# ------------------------------------------------------------------------------------------------ several results, lists


def _of_parts(actual: Any, expected: Any) -> Symptom | None:
    """Several results at once, of different shapes: a tuple of arrays."""
    if not _is_several(expected):
        return None
    if not isinstance(actual, (list, tuple)):
        return _named("one result for several")
    if len(actual) != len(expected):
        return _named("number of results")
    wrong = [i for i in range(len(expected)) if not values_match(actual[i], expected[i])]
    if len(expected) > 1 and values_match(list(reversed(actual)), list(expected)):
        return _named("results exchanged")
    shown = {i: symptom for i in wrong if (symptom := symptom_of(actual[i], expected[i])) is not None}
    if not shown:
        return None
    inner = min(shown.values(), key=lambda symptom: symptom.name in VAGUE)
    such = [i for i in wrong if shown.get(i, inner).name == inner.name]
    right = [i for i in range(len(expected)) if i not in wrong]
    if len(such) == len(expected):
        which = "The results"
    elif len(expected) > len(_ORDINALS):
        which = "Some of the results"
    else:
        before = f"The {_places(right)} result is right. " if right else ""
        which = f"{before}The {_places(such)} result"
    return _inside(inner, f"{which}: {lower_first(inner.sentence)}")


_ORDINALS = ("first", "second", "third")


def _places(places: Sequence[int]) -> str:
    return " and ".join(_ORDINALS[place] for place in places)


def _is_several(value: Any) -> bool:
    return (
        isinstance(value, tuple) and 1 < len(value) <= 8 and any(np.ndim(_shaped(part)) > 0 for part in value)
    )


def _shaped(part: Any) -> Any:
    numbers = as_numbers(part)
    if numbers is not None:
        return numbers
    return np.empty(len(part)) if isinstance(part, (list, tuple)) else part


def _of_lengths(actual: Any, expected: Any) -> Symptom | None:
    """Lists of another length; as arrays they would show only another shape."""
    lists = isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple))
    return _of_sequences(actual, expected) if lists and len(actual) != len(expected) else None


def _of_sequences(actual: Any, expected: Any) -> Symptom | None:
    if not isinstance(actual, (list, tuple)) or not isinstance(expected, (list, tuple)):
        return None
    a, e = list(actual), list(expected)
    has, needs = _as_bag(a), _as_bag(e)
    if len(a) != len(e):
        tail = e[-len(a) :] if a else []
        return _first(
            (values_match(a, e[: len(a)]), "ends too early", "The list begins right and ends too early."),
            (values_match(a[: len(e)], e), "goes on too long", "The list is right, but goes on too long."),
            (values_match(a, tail), "beginning missing", "The beginning of the list is missing."),
            (has is not None and has == needs, "repeats"),
            (has is not None and needs is not None and has < needs, "items missing"),
            (has is not None and needs is not None and has > needs, "items too many"),
            (len(a) > len(e), "longer list", f"{_beginning(a, e)} The list is longer than it should be."),
            (True, "shorter list", f"{_beginning(a, e)} The list is shorter than it should be."),
        )
    wrong = [i for i in range(len(e)) if not values_match(a[i], e[i])]
    inner = [symptom for i in wrong[:20] if (symptom := symptom_of(a[i], e[i])) is not None]
    same = inner[0] if inner and len({s.name for s in inner}) == 1 and inner[0].name not in VAGUE else None
    found = _first(
        (values_match(a[::-1], e), "reversed", "The list is the right one in reverse order."),
        (
            has is not None and has == needs and sorted(map(repr, a)) == sorted(map(repr, e)),
            "another order",
            "The items are right, but they come in another order.",
        ),
    )
    if found is None and same is not None:
        which = "Each item" if len(wrong) == len(e) else "Some items"
        return _inside(same, f"{which}: {lower_first(same.sentence)}")
    return found or _first(
        (wrong == [len(e) - 1], "only the last item", "Only the last item of the list is wrong."),
        (wrong == [0], "only the first item", "Only the first item of the list is wrong."),
        (len(wrong) <= len(e) / 4, "few items", "The list is right but for a few items."),
        (True, "other items", f"{_beginning(a, e)} The list has the right length but wrong items."),
    )


def _beginning(a: Sequence[Any], e: Sequence[Any]) -> str:
    """A sentence that says whether the first entry is right."""
    if a and e and values_match(a[0], e[0]):
        return "The first entry is right, but a later one is wrong."
    return "The first entry is already wrong."


def _as_bag(items: Sequence[Any]) -> frozenset[str] | None:
    """The set of items, without order and repeats; None if they are too large."""
    count, _, characters = extent(items)
    if count + characters > MAX_NUMBERS:
        return None
    numbers = [as_numbers(item) for item in items[:10_000]]
    return frozenset(repr(item if n is None else n.tolist()) for item, n in zip(items, numbers, strict=False))


# --------------------------------------------------------------------------------------------------------------- numbers


def _of_numbers(actual: Any, expected: Any) -> Symptom | None:
    a, e = as_numbers(actual), as_numbers(expected)
    if a is None or e is None or a.dtype.kind not in "biufc" or e.dtype.kind not in "biufc":
        return None
    if a.shape != e.shape:
        return _of_shapes(a, e)
    if a.size > MAX_NUMBERS or a.size == 0:
        return None
    if a.dtype.kind == "b" and e.dtype.kind == "b":
        return _of_masks(a, e)
    wide: Any = np.complex128 if "c" in (a.dtype.kind, e.dtype.kind) else np.float64
    a, e = a.astype(wide), e.astype(wide)
    with np.errstate(all="ignore"):
        looks = _of_nan, _of_precision, _of_scale, _of_functions, _of_order, _of_shares, _of_rows, _of_places
        for look in looks:
            if symptom := look(a, e):
                return symptom
    return _named("other values")


def _of_shapes(a: Array, e: Array) -> Symptom | None:
    ones = tuple(n for n in a.shape if n != 1) == tuple(n for n in e.shape if n != 1)
    near = a.ndim == e.ndim and all(abs(x - y) <= 1 for x, y in zip(a.shape, e.shape, strict=True))
    return _first(
        (_is_transposed(a, e), "transposed"),
        (ones and a.ndim < e.ndim, "axis dropped"),
        (ones and a.ndim > e.ndim, "axis too many", "There is an axis of length one too many."),
        (a.size == e.size and _same(a.ravel(), e.ravel()), "shape only"),
        (a.ndim < e.ndim, "too few axes", "The result has fewer axes than it should have."),
        (a.ndim > e.ndim, "too many axes", "The result has more axes than it should have."),
        (sorted(a.shape) == sorted(e.shape), "axes in another order"),
        (near, "one place more or less"),
        (True, "another shape", "An axis has another length."),
    )


def _is_transposed(a: Array, e: Array) -> bool:
    return a.ndim == e.ndim >= 2 and _same(a.swapaxes(-1, -2), e)


def _of_masks(a: Array, e: Array) -> Symptom | None:
    return _first(
        (np.array_equal(a, ~e), "True and False exchanged", "True and False are exchanged."),
        (_is_transposed(a, e), "transposed"),
        (_is_shifted(a, e), "shifted by one"),
        (not (a & ~e).any(), "some True missing"),
        (not (e & ~a).any(), "some True too many"),
    ) or _of_places(a, e)


def _of_nan(a: Array, e: Array) -> Symptom | None:
    right, rest = np.isfinite(e), ~np.isnan(a)
    unexpected = (np.isnan(a) & right).any()
    words = "The result holds nan (perhaps from a division of zero by zero); all other values are right."
    return _first(
        (unexpected and _same(a[rest], e[rest]), "nan", words),
        (unexpected, "nan", "The result holds nan where there should be numbers."),
        ((np.isinf(a) & right).any(), "infinite"),
        ((~right).any() and np.isfinite(a[~right]).all(), "finite"),
    )


def _of_precision(a: Array, e: Array) -> Symptom | None:
    size = np.abs(e[np.isfinite(e)]).max(initial=0)
    if np.allclose(a, e, rtol=SINGLE_PRECISION, atol=SINGLE_PRECISION * size):
        return _named("precision")
    # With fewer fractions the cause may be another, for example that everything goes to the first.
    fractional = a.any() and not np.iscomplexobj(e) and np.count_nonzero(e != np.rint(e)) > 2
    if fractional and any(np.array_equal(a, cut(e)) for cut in (np.rint, np.trunc, np.floor)):
        return Symptom("whole numbers", "The values are the right ones cut or rounded to whole numbers.")
    if a.any() and any(np.array_equal(a, np.round(e, digits)) for digits in (1, 2, 3)):
        return Symptom("rounded", "The values are the right ones, rounded.")
    return None


_FACTORS = {2.0: "twice", 3.0: "three times", 4.0: "four times", 10.0: "ten times", 100.0: "a hundred times"}
_SHARES = {0.5: "half", 1 / 3: "a third of", 0.25: "a quarter of", 0.1: "a tenth of", 0.01: "a hundredth of"}


def _of_scale(a: Array, e: Array) -> Symptom | None:
    if e.size < 2 and not np.iscomplexobj(e):
        factors: Any = a / e
        if float(factors.flat[0]) not in (-1.0, *_FACTORS, *_SHARES):
            return _of_single(a, e)
    where = np.abs(e) > 1e-9 * max(np.abs(e).max(initial=0), 1e-300)
    if not where.any():
        words = "Every value should be zero, but some are not."
        return Symptom("zero expected", words) if e.size > 1 else None
    if not a.any():
        return Symptom("all zero", "The result is zero everywhere.")
    factor = np.median((a[where] / e[where]).real)
    if np.isfinite(factor) and factor and _same(a, factor * e):
        if np.isclose(factor, -1, rtol=1e-6):
            return _named("sign")
        if np.isclose(factor, 1 / np.log(2), rtol=1e-6):
            return _BASE_TWO
        for known, words in (_FACTORS | _SHARES).items():
            if np.isclose(factor, known, rtol=1e-6):
                return Symptom("factor", f"Every value is {words} what it should be.")
        more = "large" if abs(factor) > 1 else "small"
        return Symptom("factor", f"Every value is too {more} by the same factor.")
    by = (a - e).ravel()
    if e.size > 2 and np.isfinite(by).all() and np.allclose(by, by[0], rtol=1e-6, atol=_ATOL):
        if np.isclose(abs(by[0].real), 1):
            more = "large" if by[0].real > 0 else "small"
            return Symptom("off by one", f"Every value is too {more} by one.")
        return Symptom("offset", "All values are off by the same amount.")
    if np.ptp(a.real) == 0 and np.ptp(e.real) != 0 and a.size > 3:
        return _named("all equal")
    return None


def _of_single(a: Array, e: Array) -> Symptom | None:
    x, y = float(a.real.flat[0]), float(e.real.flat[0])
    found = _first(
        (x == 0, "all zero", "The result is zero."),
        (np.isclose(x, -y), "sign"),
        (np.isclose(abs(x - y), 1), "off by one", "The result is off by one."),
    )
    if found := found or _of_functions(a, e):
        return replace(found, sentence=found.sentence.replace("Every value", "The result"))
    if y != 0 and np.isclose(x / y, 1 / np.log(2)):
        return _BASE_TWO
    return _named("too large" if x > y else "too small")


_BASE_TWO = Symptom("factor", "The logarithm is to the base 2 where the natural one is asked for.")
_FUNCTIONS: tuple[tuple[str, str, Callable[[Array], Array]], ...] = (
    ("complement", "Every value is one minus what it should be.", lambda e: 1 - e),
    ("reciprocal", "Every value is the reciprocal of what it should be.", lambda e: 1 / e),
    ("exponential", "Every value is the exponential of what it should be: a logarithm is missing.", np.exp),
    ("logarithm", "Every value is the logarithm of what it should be.", np.log),
    ("logarithm", "Every value is minus the logarithm of what it should be.", lambda e: -np.log(e)),
    ("square", "Every value is the square of what it should be: a root is missing.", np.square),
    ("root", "Every value is the square root of what it should be.", np.sqrt),
    ("absolute", "Every value has lost its sign.", np.abs),
    ("clipped at zero", "Negative values have become zero.", lambda e: np.maximum(e, 0)),
)


def _of_functions(a: Array, e: Array) -> Symptom | None:
    if np.iscomplexobj(e):
        return None
    for name, sentence, function in _FUNCTIONS:
        changed = function(e)
        if np.isfinite(changed).all() and not _same(changed, e) and _same(a, changed):
            return Symptom(name, sentence)
    return None


def _of_order(a: Array, e: Array) -> Symptom | None:
    if e.size < 2:
        return None
    if _is_transposed(a, e):
        return _named("transposed")
    for axis, words in ((-1, "the last axis"), (-2, "the last axis but one"), (0, "the first axis")):
        if e.ndim >= -axis and e.ndim > axis and np.count_nonzero(e) > 1 and _same(a, np.flip(e, axis)):
            where = "" if e.ndim == 1 else f" along {words}"
            return Symptom("reversed", f"The values are right, in reverse order{where}.")
    if _is_shifted(a, e):
        return _named("shifted by one")
    if _same(np.sort(a.real, axis=None), np.sort(e.real, axis=None)) and not np.iscomplexobj(e):
        if e.ndim >= 2 and _same(np.sort(a, axis=-1), np.sort(e, axis=-1)):
            return Symptom("order in rows", "Each row holds the right values in another order.")
        return Symptom("another order", "The values are right, but in the wrong places.")
    return None


def _is_shifted(a: Array, e: Array) -> bool:
    for axis in range(a.ndim):
        if a.shape[axis] < 3:
            continue
        head, tail = (np.take(a, range(1, a.shape[axis]), axis), np.take(e, range(e.shape[axis] - 1), axis))
        first, last = (np.take(a, range(a.shape[axis] - 1), axis), np.take(e, range(1, e.shape[axis]), axis))
        varied = np.unique(tail).size > 1 and np.unique(last).size > 1
        if varied and (_same(head, tail) or _same(first, last)):
            return True
    return False


def _of_shares(a: Array, e: Array) -> Symptom | None:
    """Probabilities and weights: where they sum to one, and whether the scores behind them were scaled."""
    if e.ndim == 0 or e.shape[-1] < 2 or np.iscomplexobj(e) or not np.allclose(e.sum(-1), 1) or (e < 0).any():
        return None
    if not np.allclose(a.sum(-1), 1):
        some = ((a == 0) != (e == 0)).any() and ((a == 0) | np.isclose(a, e)).all()
        return _first(
            (e.ndim >= 2 and np.allclose(a.sum(-2), 1), "wrong axis"),
            (np.count_nonzero(a.any(-1)) > 1 and np.isclose(a.sum(), 1), "normalised as a whole"),
            (
                not a[~np.isclose(a.sum(-1), 1)].any(),
                "zero rows",
                "A row that should sum to one is zero everywhere.",
            ),
            (some, "zeros"),
            (True, "sums", "The rows do not sum to one."),
        )
    if ((a > 0) & (e == 0)).any():
        words = "The rows sum to one, but some shares that should be zero are not."
        return Symptom("zero expected", words)
    if ((a == 0) & (e > 0)).any():
        return _named("zero too many")
    where = e > 0
    logs = (np.log(np.where(where, values, 1)) for values in (a, e))
    x, y = (np.where(where, log - log.mean(-1, keepdims=True, where=where), 0) for log in logs)
    steps = np.diff(np.sort(np.where(where, y, y.max(-1, keepdims=True)))) > 1e-9
    if (steps.sum(-1) >= 2).any():  # two different scores are always on a line
        slope = (x * y).sum() / (y * y).sum()
        if slope > 0 and _same(x, slope * y):
            return _named("too sharp" if slope > 1 else "too even")
    return None


def _of_rows(a: Array, e: Array) -> Symptom | None:
    """All rows equal, or a separate factor or difference for each row or column."""
    rows_alike = (_same(x, np.broadcast_to(x[:1], x.shape)) for x in (a, e) if e.ndim >= 2)
    if [*rows_alike] == [True, False]:
        return Symptom("rows alike", "All rows of the result are equal, but should not be.")
    if e.ndim < 2 or min(e.shape[-2:]) < 3 or np.iscomplexobj(e):
        return None
    for axis, name in ((-1, "row"), (-2, "column")):
        size = np.abs(e).sum(axis, keepdims=True)
        wrong = np.asarray(~np.isclose(a, e, rtol=_RTOL, atol=_ATOL).all(axis, keepdims=True))
        ratio = np.where(size > 0, (a * e).sum(axis, keepdims=True) / (e * e).sum(axis, keepdims=True), 1)
        many = wrong[size > 0].mean() > 0.5
        if many and np.isfinite(ratio).all() and ratio.all() and _same(a, ratio * e):
            words = "is right up to its own factor: it is normalised by something else, or not at all."
            return Symptom(f"factor for each {name}", f"Each {name} {words}")
        difference = a - e
        if many and np.allclose(difference, difference.mean(axis, keepdims=True), rtol=1e-6, atol=1e-9):
            return Symptom(f"offset for each {name}", f"Each {name} is off by its own amount.")
    return None


def _of_places(a: Array, e: Array) -> Symptom | None:
    size = np.abs(e[np.isfinite(e)]).max(initial=0)
    wrong: Array = ~np.isclose(a, e, rtol=_RTOL, atol=_ATOL + _RTOL * size, equal_nan=True)
    if not wrong.any() or wrong.all() or e.size < 3:
        return None
    for axis in range(e.ndim):
        lines: Array = np.asarray(wrong.any(axis=tuple(i for i in range(e.ndim) if i != axis)))
        if lines.size < 3:
            continue
        names = {0: "first", e.ndim - 1: "last"}
        which = "" if e.ndim == 1 else f" of the {names.get(axis, 'middle')} axis"
        if lines[1:].all() and not lines[0]:
            return Symptom("only the first is right", f"Only the first entry{which} is right.")
        if lines[-1] and not lines[:-1].any():
            return Symptom("only the last", f"Only the last entry{which} is wrong.")
        if lines[0] and not lines[1:].any():
            return Symptom("only the first", f"Only the first entry{which} is wrong.")
    if e.ndim >= 2 and e.shape[-1] == e.shape[-2]:
        diagonal = np.broadcast_to(np.eye(e.shape[-1], dtype=bool), e.shape)
        if not (wrong & ~diagonal).any():
            return _named("only the diagonal")
    zero = e == 0
    return _first(
        (zero.any() and not (wrong & ~zero).any(), "only where zero is expected"),
        (not (wrong & (e > 0)).any() and (e < 0).any(), "only negative values"),
        (wrong.mean() <= 0.25, "few values", "Most values are right, and a few are wrong."),
        (wrong.mean() <= 0.75, "some values", "Some values are right, and some are wrong."),
    )


# --------------------------------------------------------------------------------------------------------------- helpers

#: Symptoms that tell little. Another test's symptom is preferred.
VAGUE = frozenset({
    "other values", "another text", "other items", "other keys", "entries' values", "another kind of value", "some values",
    "few values", "few items", "some entries", "too large", "too small", "another shape", "longer list", "shorter list",
})  # fmt: skip


def _same(a: Array, e: Array) -> bool:
    if a.shape != e.shape:
        return False
    size = np.abs(e[np.isfinite(e)]).max(initial=0)
    return bool(np.allclose(a, e, rtol=_RTOL, atol=_ATOL + _RTOL * size, equal_nan=True))


def _inside(symptom: Symptom, sentence: str) -> Symptom:
    """The symptom inside another sentence; unchanged if it is nested too deeply already."""
    if symptom.inside >= MAX_INSIDE:
        return symptom
    return replace(symptom, sentence=sentence, inside=symptom.inside + 1)


def lower_first(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _named(name: str) -> Symptom:
    return Symptom(name, _SENTENCES[name])


def _first(*rows: tuple[Any, ...]) -> Symptom | None:
    """The first row whose condition holds, as a symptom: (condition, name) or (condition, name, sentence)."""
    found = next((row[1:] for row in rows if bool(row[0])), None)
    return None if found is None else Symptom(found[0], found[-1] if len(found) > 1 else _SENTENCES[found[0]])
