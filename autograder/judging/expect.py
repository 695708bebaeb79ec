"""The exception with which a hidden test fails."""

from __future__ import annotations


class Failed(AssertionError):
    """A hidden test fails. The text is for the student and never repeats an input."""


#: The message for an answer that returns another value when called again.
NOT_THE_SAME_AGAIN = "called again in the same way, your function returns something else: does it keep something of an earlier call?"
