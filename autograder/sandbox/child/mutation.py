"""Functions that stay in the harness's process, and what a call left of its arguments, which the harness compares with what it sent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import wire
from ..wire import Reference, WireError


class Callback:
    """A proxy of a function that stays in the harness's process: calling it calls back."""

    def __init__(self, call_back: Callable[[int, tuple[Any, ...], dict[str, Any]], Any], key: int):
        self._call_back = call_back
        self.key = key

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call_back(self.key, args, kwargs)

    def __repr__(self) -> str:
        return f"<function given by the test, number {self.key}>"


_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, range, slice, type(None), type(...)})


def contents_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, bytes]:
    """The contents of each argument that can be changed, as bytes that are equal on both sides when nothing was.

    Left out are functions and modules, and random generators, whose state goes its own way.
    """
    items: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    return {
        key: _contents(value)
        for key, value in items
        if type(value) not in _IMMUTABLE and not callable(value) and not is_random_generator(value)
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


def is_random_generator(value: Any) -> bool:
    """Whether ``value`` is a random generator of NumPy or PyTorch."""
    torch = sys.modules.get("torch")
    return isinstance(value, np.random.Generator) or (
        torch is not None and isinstance(value, torch.Generator)
    )
