"""Describes an error of the student's by the frames that are the student's own."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import TracebackType

MAX_MESSAGE = 2000
MAX_LINE = 300
MAX_FRAMES = 12


def describe_error(
    error: BaseException, label_of: Callable[[str], str | None]
) -> tuple[str, str, tuple[tuple[str, int, str], ...]]:
    """Type name, message and the student's own frames ``(cell, line number, source line)`` of an error."""
    try:
        message = str(error)[:MAX_MESSAGE]
    except BaseException:  # an exception's own __str__ is the student's code too
        message = ""
    name = type(error).__name__
    return str(name)[:80], message, own_frames(error.__traceback__, label_of)


def own_frames(
    traceback: TracebackType | None, label_of: Callable[[str], str | None]
) -> tuple[tuple[str, int, str], ...]:
    """The frames of the student's own code, outermost first, at most ``MAX_FRAMES`` of the innermost."""
    frames: list[tuple[str, int, str]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        label = label_of(code.co_filename)
        if label is not None:
            line = linecache.getline(code.co_filename, traceback.tb_lineno)
            frames.append((label, traceback.tb_lineno, line.rstrip()[:MAX_LINE]))
            del frames[:-MAX_FRAMES]
        traceback = traceback.tb_next
    return tuple(frames)
