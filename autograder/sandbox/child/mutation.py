"""What a call left of its arguments. The harness compares it with what it sent, and so finds what was changed."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import wire
from ..wire import Reference, WireError
from .callbacks import Callback

_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, range, slice, Callback, type(None), type(...)})


def contents_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, bytes]:
    """The contents of each argument that can be changed, as bytes that are equal on both sides when nothing was.

    Left out are random generators, whose state goes its own way.
    """
    items: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    return {
        key: _contents(value)
        for key, value in items
        if type(value) not in _IMMUTABLE and not is_random_generator(value)
    }


def _contents(value: Any) -> bytes:
    if (
        type(value) is np.ndarray and value.dtype.kind in "biufc"
    ):  # nearly always: as sure as a frame, and made at once
        return f"{value.dtype.str} {value.shape} ".encode() + value.tobytes()
    try:
        return wire.encode(value, refer=lambda other: Reference("something else", 0), in_order=True)
    except WireError:  # it cannot have come from the harness so
        return b""


def first_generator(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The first random generator among the arguments, or ``None``."""
    return next((value for value in (*args, *kwargs.values()) if is_random_generator(value)), None)


def is_random_generator(value: Any) -> bool:
    """Whether ``value`` is a random generator of NumPy or PyTorch."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    return (numpy is not None and isinstance(value, numpy.random.Generator)) or (
        torch is not None and isinstance(value, torch.Generator)
    )


def parameter_names(function: Any) -> tuple[str, ...]:
    try:
        return tuple(name[:100] for name in inspect.signature(function).parameters)[:100]
    except (TypeError, ValueError):
        return ()
