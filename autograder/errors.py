"""Errors that several modules raise. A command prints a ``UserError`` as one sentence and exits with status 2."""

from __future__ import annotations

import sys


class UserError(Exception):
    """An error that the user can fix. Its text is one sentence that says what to do."""


class GradingError(UserError):
    """Grading or recording cannot go on: a locked gradebook, a full disk, a folder without permission."""


class Unreadable(Exception):
    """A submission, or a file of a download, cannot be read. The text is the sentence for its notes."""


def require_assertions() -> None:
    """Refuse a Python without assertions: imported labs' hidden tests consist of them, so all would pass."""
    if sys.flags.optimize:
        raise UserError(
            "Python ignores assertions here, and so hidden tests: unset PYTHONOPTIMIZE, or run it without -O."
        )


def database_error(what: str, error: BaseException) -> GradingError:
    """Turn SQLite's error about ``what`` ("The gradebook PATH") into a sentence that says what to do."""
    message = str(error).lower()
    if "locked" in message or "busy" in message:
        advice = "is in use by another program: let it finish and try again"
    elif "full" in message:
        advice = "cannot be written, there is no room left on the disk: make room and try again"
    elif "readonly" in message or "unable to open" in message or "disk i/o" in message:
        advice = "cannot be written: check its folder's permissions and the disk, and try again"
    else:
        advice = f"is damaged, or is no SQLite file ({error}): move it away and grade again"
    return GradingError(f"{what} {advice}.")
