"""Lets a cell wait for an answer that is not written yet, without an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from coursekit.notebook.progress import say


@contextmanager
def until_written() -> Iterator[None]:
    """Run a cell that needs the student's functions; say so calmly while one of them is not written yet.

    Only ``NotImplementedError``, and a name that a cell above did not get to make, is taken for "not yet"; every
    other error shows as usual.
    """
    try:
        yield
    except NotImplementedError as error:
        if error.args:  # PyTorch's own, which say what they miss
            raise
        _close_figures()
        name = _raised_in(error) or "a function"
        say(
            f"This cell waits for {name}, which is not written yet. Write it above, then run this cell again."
        )
    except NameError as error:
        _close_figures()
        name, where = f"“{error.name}”" if error.name else "a name", _raised_in(error)
        if where:
            say(f"This cell waits: {where} uses {name}, which is not there yet.")
        else:
            say(
                f"This cell needs {name} from a cell above, which waits for a function that is not written yet."
            )


def _raised_in(error: BaseException) -> str:
    """The name of the function (or class) that raised the error; empty for a cell's own lines."""
    trace, innermost = error.__traceback__, ""
    while trace is not None:
        innermost = trace.tb_frame.f_code.co_qualname
        trace = trace.tb_next
    name = innermost.split(".")[0]
    return "" if name.startswith("<") else name


def _close_figures() -> None:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
