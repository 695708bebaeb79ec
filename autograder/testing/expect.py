"""What a hidden test expects of a student's values: each expectation fails with a sentence that repeats no input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from coursekit.checks.values import MAX_ITEMS

from autograder.sandbox.host.rpc import StudentError
from autograder.sandbox.host.student import Handle, Student


class Failed(AssertionError):
    """A hidden test fails. The text is written for the student and never repeats an input."""


def expect(condition: Any, sentence: str) -> None:
    """Fail with ``sentence`` (what is wrong, in words for the student) unless ``condition`` holds."""
    if not condition:
        raise Failed(sentence)


def as_array(value: Any, what: str = "the result") -> np.ndarray:
    """``value`` (array, tensor, number or nested list of numbers) as a NumPy array; ``Failed`` if it is none."""
    if value is None:
        raise Failed(f"{what} is None: does your function return its result?")
    if isinstance(value, Handle):
        raise Failed(f"{what} should be numbers, not an object")
    if isinstance(value, (list, tuple)):
        if count_items(value) > MAX_ITEMS:
            raise Failed(f"{what} is far too large")
        if _holds_text(value):  # as an array each item would take the room of the longest text
            raise Failed(f"{what} should hold numbers, not {_described(value)}")
    try:
        if hasattr(value, "detach"):
            import torch

            value = value.detach()
            value = (value.float() if value.dtype is torch.bfloat16 else value).cpu().numpy()
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError):
        raise Failed(f"{what} is not a regular array of numbers") from None
    if array.dtype.kind not in "biufc":
        raise Failed(f"{what} should hold numbers, not {_described(value)}")
    return array


def _holds_text(value: Any) -> bool:
    """Whether a list or tuple holds a text anywhere: of Python's, or an array of them."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (str, bytes)) or (
            isinstance(part, (np.ndarray, np.generic)) and part.dtype.kind in "SU"
        ):
            return True
        if isinstance(part, (list, tuple)):
            waiting += part
    return False


def _described(value: Any) -> str:
    return {"str": "text", "dict": "a dictionary", "set": "a set"}.get(type(value).__name__, "other things")


#: Relative and absolute tolerance for numbers of four bytes or fewer: computing in float32 is allowed. Half precision gets
#: no more, or a wrong answer could choose its own tolerance.
_SINGLE = (2e-4, 2e-5)


#: A step in single precision on the way (a root of d_k as a float32 tensor, say) leaves a float64 result off by 1e-7 of its
#: largest number at most, as measured in lab 08; this leaves it room, and none to a mistake.
_RTOL = 3e-6


def expect_close(
    actual: Any,
    expected: Any,
    what: str = "the result",
    *,
    rtol: float = _RTOL,
    atol: float | None = None,
) -> None:
    """Fail unless ``actual`` has the shape and the values of ``expected``.

    ``what`` names the thing in the student's terms ("the attention weights"). ``rtol`` and ``atol`` (a millionth of
    the largest number expected, and of 1 at most) hold for float64 and for integers, and leave room for a step in
    single precision on the way; float32 results get the tolerance their precision needs, and float16 ones no more.
    """
    a, e = as_array(actual, what), np.asarray(expected.detach() if hasattr(expected, "detach") else expected)
    if a.shape != e.shape:
        raise Failed(f"{what} should have shape {_shape(e)}, but {shape_words(a.shape, e.shape)}")
    _expect_values(a, e, what, f" ({{}} of {a.size} values differ)", rtol, atol)


def expect_alike(
    one: Any, other: Any, what: str = "the result", *, rtol: float = _RTOL, atol: float | None = None
) -> None:
    """Fail unless two values that the student's code returned are the same, as ``expect_close`` compares them.

    Nothing is said of their shapes or sizes: both are the student's, who could spell a hidden input with them. What is no
    finite number is alike to nothing, since any wrong answer can be made of it.
    """
    a, e = as_array(one, what), as_array(other, what)
    expect(a.shape == e.shape, f"{what} should have the same shape both times")
    _expect_finite(what, a, e)
    _expect_values(a, e, what, "", rtol, atol)


def expect_unlike(one: Any, other: Any, sentence: str, what: str = "the result") -> None:
    """Fail with ``sentence`` where two values that the student's code returned are the same; NaN, which differs from all, fails, too."""
    a, b = as_array(one, what), as_array(other, what)
    _expect_finite(what, a, b)
    expect(not np.allclose(a, b), sentence)


def has_a_part(gradients: Mapping[str, Any], start: str) -> bool:
    """Whether the parameters whose names begin with ``start`` have a part in what the gradients are of, large enough to matter.

    ``gradients``: by the parameters' names, None where no gradient reaches one. In the labs' models a block's steepest gradient is a
    tenth of the steepest of all, or more; a part that is there for this question only need not be a millionth of it.
    """
    steepest = {
        name: np.abs(as_array(g, "a gradient")).max(initial=0)
        for name, g in gradients.items()
        if g is not None
    }
    of_these = [steep for name, steep in steepest.items() if name.startswith(start)]
    return bool(max(of_these, default=0) > 1e-6 * max(steepest.values(), default=0))


def _expect_finite(what: str, *arrays: np.ndarray) -> None:
    expect(all(np.isfinite(array).all() for array in arrays), f"inf or nan (not a number) in {what}")


def _expect_values(
    a: np.ndarray, e: np.ndarray, what: str, share: str, rtol: float, atol: float | None
) -> None:
    """Fail unless the values are close; ``share`` says how many are not, in one of four words."""
    if a.size == 0:
        return
    if a.dtype.kind in "fc" and not np.isnan(e).any() and np.isnan(a).any():
        raise Failed(f"nan (not a number) in {what}")
    if atol is None:
        finite = np.abs(e[np.isfinite(e)]) if e.dtype.kind in "fc" else np.abs(e)
        atol = max(1e-9, 1e-6 * min(1.0, float(finite.max(initial=0))))
    if a.dtype.kind in "fc":
        width = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
        if width <= 4:
            rtol, atol = max(rtol, _SINGLE[0]), max(atol, _SINGLE[1])
    wrong = ~np.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
    if wrong.any():
        count = int(wrong.sum())
        word = "all" if count == a.size else "one" if count == 1 else "most" if 2 * count > a.size else "some"
        raise Failed(f"wrong values in {what}{share.format(word) if a.size > 1 else ''}")


#: All that a page says of a wrong shape: a shape spelt out could spell a hidden input.
SHAPE_WORDS = (
    "it has too few axes",
    "it has too many axes",
    "an axis is too short",
    "an axis is too long",
    "some axes are too short and some too long",
)


def shape_words(actual: Sequence[int], expected: Sequence[int]) -> str:
    """How a shape differs from the one asked for, in one of ``SHAPE_WORDS``."""
    if len(actual) != len(expected):
        return SHAPE_WORDS[len(actual) > len(expected)]
    shorter = any(a < e for a, e in zip(actual, expected, strict=True))
    longer = any(a > e for a, e in zip(actual, expected, strict=True))
    return SHAPE_WORDS[4 if shorter and longer else 3 if longer else 2]


def expect_shape(array: Any, shape: Sequence[int], what: str) -> None:
    """Fail unless the array or tensor has the shape; of its own shape the sentence says what ``SHAPE_WORDS`` can."""
    if tuple(array.shape) != tuple(shape):
        raise Failed(f"{what} should have shape {tuple(shape)}, but {shape_words(array.shape, shape)}")


def _shape(array: np.ndarray) -> str:
    return "() (a single number)" if array.ndim == 0 else str(array.shape)


def expect_unchanged(student: Student | Handle, advice: str = "work on a new array") -> None:
    """Fail when the last call changed an argument, with what to do instead. Of several only the first is named."""
    if student.mutated:
        raise Failed(f"your answer changes {student.mutated[0]}: {advice}")


#: What a test says of an answer that does not give the same again.
NOT_THE_SAME_AGAIN = "called again in the same way, your function returns something else: does it keep something of an earlier call?"


def expect_same_again(first: Any, again: Any) -> None:
    """Fail unless the numbers that the same call returned twice, with another call between, are the same."""
    one, other = as_array(first), as_array(again)
    if not np.array_equal(one, other, equal_nan=one.dtype.kind in "fc" and other.dtype.kind in "fc"):
        raise Failed(NOT_THE_SAME_AGAIN)


def expect_raises(kind: type[BaseException], call: Callable[[], Any], sentence: str) -> None:
    """Fail with ``sentence`` unless the student's code in ``call`` raises ``kind``, or an error that derives from it."""
    try:
        call()
    except StudentError as error:
        expect(error.is_a(kind), sentence)
    else:
        raise Failed(sentence)


def expect_equal(actual: Any, expected: Any, what: str = "the result") -> None:
    """Fail unless ``actual`` equals ``expected`` exactly (text, integers, tokens, dictionaries).

    Lists, tuples and integer arrays with the same items are the same answer, whole-number floats too.
    """
    if actual is None and expected is not None:
        raise Failed(f"{what} is None: does your function return its result?")
    if _plain(actual) != _plain(expected):
        raise Failed(f"{what} is not right")


def _plain(value: Any) -> Any:
    """Tuples, arrays and tensors as lists, NumPy numbers as Python's, all the way down."""
    if count_items(value) > MAX_ITEMS:
        raise Failed("the result is far too large")
    return _as_lists(value)


def count_items(value: Any) -> int:
    """How many numbers, strings and other things a value holds in all, counted without unfolding any of it."""
    count, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        count += 1
        if isinstance(part, np.ndarray):
            count += part.size
        elif isinstance(part, range):
            count += len(part)
        elif hasattr(part, "detach"):
            count += part.numel()
        elif isinstance(part, Mapping):
            waiting += part.keys()
            waiting += part.values()
        elif isinstance(part, (list, tuple, set, frozenset)):
            waiting += part
    return count


def _as_lists(value: Any) -> Any:
    if isinstance(value, (str, bytes, bool, int, float, type(None))):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return _as_lists(value.tolist()) if value.dtype.kind in "OV" else value.tolist()
    if hasattr(value, "detach"):
        return value.detach().tolist()
    if isinstance(value, dict):
        return {_hashable(key): _as_lists(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return {_hashable(item) for item in value}
    if isinstance(value, (list, tuple, range)):
        return [_as_lists(item) for item in value]
    return value


def _hashable(value: Any) -> Any:
    value = _as_lists(value)
    return tuple(_hashable(item) for item in value) if isinstance(value, list) else value
