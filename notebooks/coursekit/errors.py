"""Errors that a person can put right: one sentence each, printed as it is, exit status 2."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right. Its text is one sentence that says what to do."""


class MissingFile(UserError, FileNotFoundError):
    """A data file is neither here nor to be had. A FileNotFoundError, too: that is what a notebook would catch."""
