"""Compares what two functions returned in the same test, to tell a misconception from chance."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.sandbox.host.rpc import TraceEntry

#: Relative tolerance by the width of a floating-point number in bytes; of two widths the coarser counts.
_RTOL = {2: 2e-2, 4: 1e-4, 8: 1e-6, 16: 1e-6}


#: An array of strings takes the room of its longest for each.
MAX_CHARACTERS = 16_000_000


def traces_match(first: Sequence[TraceEntry], second: Sequence[TraceEntry]) -> bool:
    """Whether two traces show the same behaviour.

    Numbers match to 1e-6 (float64) or 1e-4 (float32) relative to the largest in their array, or within the
    tolerances of an observation (where one that is missing is 0); NaN matches NaN. An empty trace is no evidence,
    and matches nothing.
    """
    if len(first) != len(second) or not first:
        return False
    return all(_entry_matches(a, b) for a, b in zip(first, second, strict=True))


def _entry_matches(first: TraceEntry, second: TraceEntry) -> bool:
    if (first.kind, first.name) != (second.kind, second.name):
        return False
    return values_match(first.value, second.value, first.rtol, first.atol)


def values_match(first: Any, second: Any, rtol: float | None = None, atol: float | None = None) -> bool:
    """Whether two plain values are equal; a list, an array and a tensor of the same numbers are."""
    if isinstance(first, (str, bytes)) or isinstance(second, (str, bytes)):
        return type(first) is type(second) and bool(first == second)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            values_match(first[key], second[key], rtol, atol) for key in first
        )
    a, b = as_numbers(first), as_numbers(second)
    if a is not None and b is not None:
        return _arrays_match(a, b, rtol, atol)
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(
            values_match(x, y, rtol, atol) for x, y in zip(first, second, strict=True)
        )
    if type(first) is not type(second) or type(first).__name__ == "Opaque":
        return False
    if type(first).__name__ == "Handle":
        return True
    try:
        return bool(first == second)
    except Exception:
        return False


def as_numbers(value: Any) -> np.ndarray | None:
    """The value as an array of numbers or strings, or ``None`` when it is not one."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if value.dtype is torch.bfloat16:
            value = value.to(torch.float32).to(torch.float16)
        return np.asarray(value.detach().numpy())
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
        array = np.asarray(value)
        return array if array.dtype != object else None
    if isinstance(value, range):
        return np.arange(value.start, value.stop, value.step)
    if isinstance(value, (list, tuple)):
        if len(kinds := set(map(type, value))) == 1 and kinds <= {bool, int, float, complex, str}:
            return _flat(value)
        parts = [part for part in map(as_numbers, value) if part is not None]
        if len(parts) < len(value) or len({part.shape for part in parts}) > 1:
            return None
        return np.array(parts) if parts else np.empty(0)
    return None


def _flat(values: Sequence[Any]) -> np.ndarray | None:
    """A list of numbers (or strings) of one type as an array; None where a number is too large for one."""
    if type(values[0]) is str and len(values) * max(map(len, values)) > MAX_CHARACTERS:
        return None
    array = np.array(values)
    return array if array.dtype != object else None


def _arrays_match(a: np.ndarray, b: np.ndarray, rtol: float | None, atol: float | None) -> bool:
    if a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    if a.dtype.kind in "SU" or b.dtype.kind in "SU":
        return False
    if a.size == 0:
        return True
    if rtol is None and atol is None:
        rtol = max(_precision(a), _precision(b))
        finite = np.abs(b[np.isfinite(b)])
        atol = rtol * float(finite.max() if finite.size else 0)
    return bool(np.allclose(a, b, rtol=rtol or 0.0, atol=atol or 0.0, equal_nan=True))


def _precision(array: np.ndarray) -> float:
    if array.dtype.kind not in "fc":
        return 0.0
    size = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    return _RTOL.get(size, 1e-6)
