"""Errors that a person can cause and put right: one sentence each, printed as it is, exit status 2."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right. Its text is one sentence that says what to do."""


class GradingError(UserError):
    """Grading or recording cannot go on: a locked gradebook, a full disk, a folder without permission."""
