"""Describes an error by the stack frames of the student's code, without those of libraries."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import TracebackType

MAX_MESSAGE = 2000
MAX_LINE = 300
MAX_FRAMES = 12


def describe_error(
    error: BaseException, cell_label: Callable[[str], str | None]
) -> tuple[str, str, tuple[tuple[str, int, str], ...]]:
    """Type name, message and the student's frames ``(cell, line number, source line)`` of an error."""
    try:
        message = str(error)[:MAX_MESSAGE]
    except BaseException:  # its __str__ may be the student's code
        message = ""
    name = type(error).__name__
    return str(name)[:80], message, student_frames(error.__traceback__, cell_label)


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
