"""Finds out which arguments a call has mutated."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from .. import wire
from ..wire import Reference, WireError
from .callbacks import Callback


class ArgumentSnapshots:
    """The arguments' contents before a call, to find afterwards which were mutated."""

    def __init__(self, function: Any, args: list[Any], kwargs: dict[str, Any]):
        self.function = function
        self.generator = None
        self.snapshots: list[tuple[int | str, Any, Any]] = []
        items: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        for key, value in items:
            if is_random_generator(value):
                self.generator = value if self.generator is None else self.generator
            elif value is not None and type(value) not in _IMMUTABLE:
                self.snapshots.append((key, value, _snapshot(value)))

    def mutated(self) -> tuple[str, ...]:
        """The names of the arguments that have changed: ``("x", "words[2]")``."""
        return tuple(
            _mutated_path(self._name(key), before, value)
            for key, value, before in self.snapshots
            if _snapshot(value) != before
        )

    def _name(self, key: int | str) -> str:
        if isinstance(key, str):
            return key
        names = parameter_names(self.function)
        return names[key] if key < len(names) else f"argument {key + 1}"


_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, range, slice, Callback, type(...)})


def is_random_generator(value: Any) -> bool:
    """Whether ``value`` is a random generator of NumPy or PyTorch."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    return (numpy is not None and isinstance(value, numpy.random.Generator)) or (
        torch is not None and isinstance(value, torch.Generator)
    )


def _snapshot(value: Any) -> Any:
    numpy = sys.modules["numpy"]
    if type(value) is numpy.ndarray:
        return value.shape, value.dtype.str, value.tobytes()
    try:
        return wire.encode(value, refer=_by_identity)
    except WireError:
        return None


def _by_identity(value: Any) -> Reference:
    return Reference("identity", id(value))


def _mutated_path(name: str, before: Any, now: Any) -> str:
    """``name`` with the index of the first part of a list, tuple or dict that changed."""
    if not isinstance(before, bytes):
        return name
    old = wire.decode(before, resolve=lambda reference: reference, allow_opaque=True)
    if type(old) is dict and type(now) is dict and old.keys() == now.keys():
        pairs = [(f"{name}[{key!r}]", old[key], now[key]) for key in old]
    elif type(old) in (list, tuple) and type(now) in (list, tuple) and len(old) == len(now):
        pairs = [(f"{name}[{i}]", a, b) for i, (a, b) in enumerate(zip(old, now, strict=True))]
    else:
        return name
    for path, a, b in pairs:
        encoded = wire.encode(a, refer=_by_identity)
        if encoded != wire.encode(b, refer=_by_identity):
            return _mutated_path(path, encoded, b)
    return name


def parameter_names(function: Any) -> tuple[str, ...]:
    try:
        return tuple(name[:100] for name in inspect.signature(function).parameters)[:100]
    except (TypeError, ValueError):
        return ()
