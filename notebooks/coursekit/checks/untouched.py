"""Sees that a call leaves its arguments as they were: a slip in place is named, and no later check hears of it.

Arrays, tensors, lists, dictionaries and sets are looked at, also inside one another. After the call what was changed is
put back, for a check's inputs are often shared by the checks after it, and would stay wrong until the kernel restarts.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

#: What a card says of an answer that changes the argument of this name.
CHANGED = "your answer changes `{}`, which it was given: leave that as it is, and work on a copy"
#: What is called with the name of the argument that a call has changed. It raises.
Report = Callable[[str], None]


def leaves_its_arguments(function: Callable[..., Any], report: Report) -> Callable[..., Any]:
    """``function``, but a call that changes an argument puts it back and ends in ``report`` of the argument's name."""

    @functools.wraps(function, updated=())
    def called(*given: Any, **named: Any) -> Any:
        with _put_back(_named(function, given, named), report) as changed:
            result = function(*given, **named)
            return _apart(result) if changed() else result

    return called


@contextmanager
def modules_leave_their_arguments(kind: type, report: Report) -> Iterator[None]:
    """In this context a PyTorch module of ``kind`` may not change what its ``forward`` is given either."""
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(kind, torch.nn.Module):
        yield
        return
    waiting: list[Any] = []

    def before(module: Any, given: tuple[Any, ...]) -> None:
        forward = module.forward
        if type(module) is kind:
            waiting.append(_put_back(_named(forward, given, {}), report))
            waiting[-1].__enter__()

    def after(module: Any, *_: Any) -> None:
        if type(module) is kind and waiting:
            waiting.pop().__exit__(None, None, None)

    hooks = torch.nn.modules.module
    handles = (
        hooks.register_module_forward_pre_hook(before),
        hooks.register_module_forward_hook(after, always_call=True),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _put_back(arguments: Mapping[str, Any], report: Report) -> Iterator[Callable[[], bool]]:
    """Put back what changes in ``arguments`` meanwhile; then, if nothing else was raised, report the first of them.

    What it gives says whether anything has changed so far.
    """
    kept = [(name, thing, _copied(thing)) for name, thing in _things_in(arguments)]
    changed = []
    try:
        yield lambda: not all(_same(thing, copy) for _, thing, copy in kept)
    finally:
        for name, thing, copy in kept:
            if not _same(thing, copy):
                _restore(thing, copy)
                changed.append(name)
    if changed:
        report(changed[0])


def _apart(result: Any) -> Any:
    """A copy of a result, which may be an argument that is put back."""
    if isinstance(result, np.ndarray) or _is_tensor(result):
        return _copied(result)
    return type(result)(map(_apart, result)) if type(result) in (list, tuple) else result


def _named(function: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by the names that ``function`` gives them."""
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except (TypeError, ValueError):  # the call itself will say what is wrong with them
        return {f"argument {place}": value for place, value in enumerate(given, 1)} | {**named}
    return dict(bound.arguments)


def argument_names(function: Any, given: Sequence[Any]) -> list[str]:
    """What ``function`` calls the arguments that it is given by position."""
    usual = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    names: list[str] = []
    with contextlib.suppress(TypeError, ValueError):
        parameters = inspect.signature(function).parameters.values()
        names = [one.name for one in parameters if one.kind in usual]
    return [*names[: len(given)], *(f"argument {place + 1}" for place in range(len(names), len(given)))]


def _things_in(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each thing in the arguments that can be changed, once, with the name of the argument that it is in."""
    seen: set[int] = set()
    waiting = [*arguments.items()]
    while waiting:
        name, value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (list, dict, set, np.ndarray)) or _is_tensor(value):
            yield name, value
        if isinstance(value, (list, tuple)):
            waiting += [(name, item) for item in value if not isinstance(item, (int, float, str, bytes))]
        elif isinstance(value, dict):
            waiting += [(name, item) for item in value.values() if not isinstance(item, (int, float, str))]


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _copied(thing: Any) -> Any:
    return thing.detach().clone() if _is_tensor(thing) else thing.copy()


def _same(thing: Any, copy: Any) -> bool:
    if isinstance(thing, np.ndarray):
        return bool(thing.shape == copy.shape and thing.tobytes() == copy.tobytes())
    if _is_tensor(thing):
        if thing.shape != copy.shape or thing.dtype != copy.dtype:
            return False
        return bool(((thing == copy) | ((thing != thing) & (copy != copy))).all())
    if isinstance(thing, set):
        return bool(thing == copy)
    now, before = (
        [part for item in one.items() for part in item] if isinstance(one, dict) else one
        for one in (thing, copy)
    )
    return len(now) == len(before) and all(map(_same_item, now, before))


def _same_item(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, (int, float, str)) and one == other)


def _restore(thing: Any, copy: Any) -> None:
    if isinstance(thing, np.ndarray):
        thing[...] = copy
    elif _is_tensor(thing):
        thing.data = copy
    elif isinstance(thing, list):
        thing[:] = copy
    else:
        thing.clear()
        thing.update(copy)
