"""Right answers in every form that lab 00 promises to take: they have a green card and full points, in every question.

Steps in single precision, copies that are worked on in place, lists for tuples and the other way round, arrays as lists or
tensors, NumPy's numbers for Python's, and arguments whose names are the student's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

Change = Callable[[Any], Any]


def _each(leaf: Change, sequence: Change = lambda items: items) -> Change:
    """A change of the leaves of plain tuples and lists, and of the tuples and lists themselves."""

    def change(value: Any) -> Any:
        if type(value) in (tuple, list):
            return sequence(type(value)(change(item) for item in value))
        return leaf(value)

    return change


def _single(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.float32)
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return value.float()
    return np.float32(value) if type(value) is float else value


def _single_input(value: Any) -> Any:
    return value if isinstance(value, torch.Tensor) and value.requires_grad else _single(value)


def _numpy_number(value: Any) -> Any:
    return {float: np.float64, int: np.int64}.get(type(value), lambda same: same)(value)


def _tensor(value: Any) -> Any:
    return torch.tensor(value) if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" else value


def _list(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _copy(value: Any) -> Any:
    """A copy of an argument; what is worked on afterwards is the student's own."""
    return value.copy() if isinstance(value, (np.ndarray, list, dict)) else value


def _result(change: Change) -> Change:
    return lambda function: lambda *given, **named: change(function(*given, **named))


def _arguments(change: Change) -> Change:
    def style(function: Any) -> Any:
        return lambda *given, **named: function(
            *map(change, given), **{name: change(value) for name, value in named.items()}
        )

    return style


def _other_names(function: Any) -> Any:
    """Takes by name only what has a value by default: only those names are promised."""
    parameters = inspect.signature(function).parameters.values()
    promised = {p.name for p in parameters if p.default is not p.empty or p.kind is p.VAR_KEYWORD}

    def renamed(*given: Any, **named: Any) -> Any:
        if set(named) - promised:
            raise TypeError(f"the argument is called otherwise here: {sorted(set(named) - promised)}")
        return function(*given, **named)

    return renamed


STYLES: dict[str, Change] = {
    "single precision at the end": _result(_each(_single)),
    "NumPy's numbers": _result(_each(_numpy_number)),
    "tensors for arrays": _result(_each(_tensor)),
    "lists for arrays": _result(_each(_list)),
    "tuples for lists": _result(_each(lambda value: value, tuple)),
    "lists for tuples": _result(_each(lambda value: value, list)),
    "works on copies": _arguments(_each(_copy)),
    "single precision on the way": _arguments(_each(_single_input)),
    "arguments of other names": _other_names,
}
#: What a question's own text asks for otherwise.
REFUSED = {
    # the layers that these are given are in double precision
    "attention_maps": {"single precision on the way"},
    "cached_attention": {"single precision on the way"},
}
#: Every style once. Those of one line change different values, so that none hides another; other names read the signature, so
#: they come first.
TOGETHER = (
    ("arguments of other names", "works on copies", "single precision at the end", "tuples for lists"),
    ("NumPy's numbers", "tensors for arrays", "lists for tuples", "single precision on the way"),
    ("lists for arrays",),
)


def varied(answer: Callable[..., Any], styles: Iterable[str]) -> Callable[..., Any]:
    """The answer in these styles."""
    for name in styles:
        answer = STYLES[name](answer)
    return answer
