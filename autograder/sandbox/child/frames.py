"""Describes an error by the stack frames of the student's code, without those of libraries."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import TracebackType

MAX_MESSAGE = 2000
MAX_LINE = 300
MAX_FRAMES = 12
#: Where the errors come from that a name tells: Python and the libraries of the labs.
LIBRARIES = frozenset(("numpy", "torch", "matplotlib", "pandas", "scipy", "regex"))


def describe_error(
    error: BaseException, cell_label: Callable[[str], str | None]
) -> tuple[str, str, tuple[tuple[str, int, str], ...]]:
    """Type name, message and the student's frames ``(cell, line number, source line)`` of an error."""
    return _known_name(type(error))[:80], message_of(error), student_frames(error.__traceback__, cell_label)


def message_of(error: BaseException) -> str:
    """An error's message; "" if it cannot tell one."""
    try:
        return str(error)[:MAX_MESSAGE]
    except BaseException:  # its __str__ may be the student's code
        return ""


def _known_name(kind: type[BaseException]) -> str:
    """The name of an error's class; for a class of the student's own that of the nearest known one it derives from."""
    homes = ((base.__name__, str(base.__module__).partition(".")[0]) for base in kind.__mro__)
    return next(
        (name for name, home in homes if home in sys.stdlib_module_names or home in LIBRARIES), "Exception"
    )


def student_frames(
    traceback: TracebackType | None, cell_label: Callable[[str], str | None]
) -> tuple[tuple[str, int, str], ...]:
    """The innermost ``MAX_FRAMES`` frames of the student's code, outermost first."""
    frames: list[tuple[str, int, str]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        label = cell_label(code.co_filename)
        if label is not None:
            line = linecache.getline(code.co_filename, traceback.tb_lineno)
            frames.append((label, traceback.tb_lineno, line.rstrip()[:MAX_LINE]))
            del frames[:-MAX_FRAMES]
        traceback = traceback.tb_next
    return tuple(frames)
