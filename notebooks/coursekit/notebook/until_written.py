"""Lets a cell wait, without an error, for an answer that is not written or not right yet."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from types import FunctionType
from typing import Any

import numpy as np

from coursekit.notebook.progress import say
from coursekit.notebook.verdict import is_stub, last_verdicts


class _NotGreen(Exception):
    """The last check of a needed question was red."""


def needs(*questions: str) -> None:
    """Let the cell wait while the last check of one of the questions was red, since its output would be wrong.

    Call it first in a cell's ``with until_written():``, with every question whose answer the cell uses. In the rest of the
    cell, lists of numbers that these functions return are arrays: checks accept both, but figures compute with arrays.
    """
    known = {name: last_verdicts[name] for name in questions if name in last_verdicts}
    red = [name for name, verdict in known.items() if verdict.written and not verdict.passed]
    if red:
        raise _NotGreen(", ".join(red))
    notebook = vars(sys.modules["__main__"])
    for name in known:
        if isinstance(notebook.get(name), FunctionType) and _is_of_the_notebook(notebook[name]):
            notebook[name] = _returning_arrays(notebook[name])


def _returning_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def returning_arrays(*values: Any, **named: Any) -> Any:
        return _as_arrays(function(*values, **named))

    returning_arrays.stands_for = function  # type: ignore[attr-defined]
    return returning_arrays


def _as_arrays(value: Any) -> Any:
    """Convert tables and rows of fractions to arrays, also in a tuple of results. Other values, such as lists of ids, stay."""
    if type(value) is tuple:
        return tuple(map(_as_arrays, value))
    if type(value) is not list or not value or not isinstance(value[0], _IN_ARRAYS):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return value
    return array if array.dtype.kind in "biufc" else value


_IN_ARRAYS = (list, float, bool, np.floating, np.bool_, np.ndarray)


@contextmanager
def until_written() -> Iterator[None]:
    """Run a cell that needs the student's functions. If it cannot run, show a line with the reason.

    A function may be unwritten, or its check not green (``needs``). Any other error is shown as one line that names the
    function, with the traceback folded below, so that *Run All* goes on. If the cell rebinds the name of a student's helper,
    the helper is restored afterwards, because an answer may use it.
    """
    notebook = vars(sys.modules["__main__"])
    functions = {name: value for name, value in notebook.items() if _is_of_the_notebook(value)}
    try:
        yield
    except Exception as error:
        _close_figures()
        details = "" if _is_expected(error) else "".join(traceback.format_exception(error))
        say(_why(error), details)
    finally:
        for name, function in functions.items():
            now = notebook.get(name)
            if not _is_of_the_notebook(now) or getattr(now, "stands_for", None) is function:
                notebook[name] = function


def _is_of_the_notebook(value: object) -> bool:
    """Whether a value is a function or class of the notebook, or a callable object.

    Models are callable too, but are excluded: the cells use one name for several models.
    """
    if isinstance(value, partial):
        return True
    if isinstance(value, (FunctionType, type)) or hasattr(type(value), "cache_info"):
        return getattr(value, "__module__", "") == "__main__"
    return callable(value) and type(value).__module__ == "__main__" and not hasattr(type(value), "forward")


def _is_expected(error: Exception) -> bool:
    """Whether the cell only waits."""
    return isinstance(error, (_NotGreen, NameError)) or is_stub(error)


def _why(error: Exception) -> str:
    if isinstance(error, _NotGreen):
        return f"This cell waits: the check of {error} is not green yet."
    where = _raised_in(error)
    if is_stub(error):
        return f"This cell waits for {where or 'a function'}, which is not written yet. Write it above, then run this cell again."
    if isinstance(error, NameError):
        name = f"“{error.name}”" if error.name else "a name"
        if where:
            return f"This cell waits: {where} uses {name}, which is not there yet."
        return f"This cell needs {name} from a cell above, which has not run to its end: it may wait for one of your functions."
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return f"This cell stopped: {where} raised {message}" if where else f"This cell stopped with {message}"


def _raised_in(error: BaseException) -> str:
    """The notebook's function or class that raised the error; "" for a cell's own lines."""
    names = [
        frame.f_code.co_qualname.split(".")[0]
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__")
        == "__main__"  # notebook cells run in this module, the kit's functions do not
    ]
    return next((name for name in reversed(names) if not name.startswith("<")), "")


def _close_figures() -> None:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
