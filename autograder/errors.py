"""Errors that a person can cause and put right: one sentence each, printed as it is, exit status 2."""

from __future__ import annotations

import sys


class UserError(Exception):
    """Something the user can put right. Its text is one sentence that says what to do."""


def require_assertions() -> None:
    """Refuse a Python that leaves out assertions: an imported lab's hidden tests are made of them, and all would pass."""
    if sys.flags.optimize:
        raise UserError(
            "Python leaves out assertions here (PYTHONOPTIMIZE or -O), and hidden tests with them: unset it."
        )


class GradingError(UserError):
    """Grading or recording cannot go on: a locked gradebook, a full disk, a folder without permission."""


class Unreadable(Exception):
    """A submission that cannot be read; the text is the sentence for its notes."""
