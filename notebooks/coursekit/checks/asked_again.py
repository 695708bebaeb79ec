"""Sees whether an answer gives the same result when it is asked the same again.

One that keeps something of earlier calls does not: a list as the default of an argument, a table outside of the function. Nor
does one that draws from a generator of its own. What other checks then find wrong says nothing of the cause. And it sees whether a call writes into what an
earlier one has returned, as one array for all calls does.
"""

from __future__ import annotations

import copy
import functools
import operator
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: How many calls are made again, of those the last; how long they may take; how much such a call is given.
CALLS, SECONDS, MAX_ITEMS = 8, 0.2, 10_000

#: How many results are watched, of those the last.
RETURNED = 3


class Asked:
    """A function, and what it was asked while it was checked."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._calls: list[tuple[Any, Any, Any]] = []
        self._returned: list[Any] = []
        self._latest: list[Any] = []
        #: Whether a call has changed what an earlier one had returned, and not by changing its own arguments.
        self.overwrites = False

    @property
    def function(self) -> Callable[..., Any]:
        """The function, whose calls are remembered where their arguments are plain and small."""

        @functools.wraps(self._function, updated=())
        def called(*given: Any, **named: Any) -> Any:
            if self._is_repetition([*given, *named.values()]) or not _is_small((given, named)):
                return self._function(*given, **named)
            before = copy.deepcopy((given, named))
            earlier = copy.deepcopy(self._returned)
            began = time.perf_counter()
            result = self._function(*given, **named)
            if not _same(self._returned, earlier) and _same([*before], [given, named]):
                self.overwrites = True
            if time.perf_counter() - began < SECONDS / CALLS and _is_small(result):
                self._calls.append((*before, copy.deepcopy(result)))
                self._returned.append(result)
                del self._calls[:-CALLS], self._returned[:-RETURNED]
            return result

        return called

    def _is_repetition(self, arguments: list[Any]) -> bool:
        """Whether the call before was given the very same objects: of thousands of draws one is enough to remember."""
        latest, self._latest = self._latest, arguments
        return len(latest) == len(arguments) > 0 and all(map(operator.is_, latest, arguments))

    def answers_differ(self) -> bool:
        """Whether one of the last calls, made again, gives another result."""
        until = time.perf_counter() + SECONDS
        for given, named, result in [*self._calls]:
            if time.perf_counter() > until:
                break
            try:
                again = self._function(*given, **named)
            except Exception:
                return True
            if not _same(again, result):
                return True
        return False


def _is_small(value: Any) -> bool:
    """Whether a value is made of plain things only, and of few."""
    count, waiting = 0, [value]
    while waiting and count <= MAX_ITEMS:
        part = waiting.pop()
        count += 1
        if isinstance(part, (list, tuple, set, frozenset)):
            waiting += part
        elif isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif _is_array(part):
            count += int(np.prod(part.shape))
            if not isinstance(part, np.ndarray) and part.requires_grad:
                return False
        elif isinstance(part, (str, bytes)):
            count += len(part)
        elif not (part is None or isinstance(part, (int, float, complex, np.generic, np.random.Generator))):
            return False
    return count <= MAX_ITEMS


def _is_array(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor))


def _same(one: Any, other: Any) -> bool:
    """Whether two results are equal, but for rounding; what cannot be compared, a sparse tensor say, is taken for equal."""
    try:
        return _are_equal(one, other)
    except Exception:
        return True


def _are_equal(one: Any, other: Any) -> bool:
    if _is_array(one) and _is_array(other):
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=True))
        return bool(np.array_equal(a, b))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (float, np.floating)) and isinstance(other, (float, np.floating)):
        return bool(np.isclose(one, other, rtol=1e-5, atol=1e-8, equal_nan=True))
    return isinstance(one, np.random.Generator) or bool(one == other)
