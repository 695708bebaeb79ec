"""Sees whether an earlier answer, whose card is red, gave what is right wherever a check of a later one led to it.

Then the later answer's own hint is true, and “mend that first” would hide it. What is right stands in the later checks' file,
call by call, since no lab comes with its own answers::

    KNOWN = {"pre_tokenize": [("abc", ["abc"])]}
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from typing import Any


def is_not_at_fault(check: Callable[[], Any], names: dict[str, Any], name: str, known: Iterable[Any]) -> bool:
    """Whether ``check`` asks the function ``name`` of a notebook's ``names`` only for what is ``known``, and each time gets that.

    The check runs once more for it. Of an answer that is not asked at all nothing is known: it may go by another name.
    """
    earlier = names.get(name)
    if not known or not callable(earlier):
        return False
    right: list[bool] = []

    def watched(*given: Any, **named: Any) -> Any:
        place = len(right)
        right.append(False)
        result = earlier(*given, **named)
        right[place] = any(
            _same((*given, *named.values()), (one,)) and _same(result, other) for one, other in known
        )
        return result

    names[name] = watched
    try:
        with contextlib.suppress(Exception, SystemExit), contextlib.redirect_stdout(io.StringIO()):
            check()
    finally:
        names[name] = earlier
    return bool(right) and all(right)


def _same(first: Any, second: Any) -> bool:
    """Whether two plain values are equal, dictionaries also in their order; a list and a tuple of the same things are."""
    if isinstance(first, dict) and isinstance(second, dict):
        return list(first.items()) == list(second.items())
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(_same, first, second))
    return type(first) is type(second) and bool(first == second)
