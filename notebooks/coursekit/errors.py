"""Errors that a person can fix: each is printed as one sentence, with exit status 2."""

from __future__ import annotations


class UserError(Exception):
    """An error that the user can fix. Its text is one sentence that says what to do."""


class MissingFile(UserError, FileNotFoundError):
    """A data file is missing and cannot be fetched. Also a FileNotFoundError, which a notebook may catch."""
