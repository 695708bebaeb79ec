"""How a hidden test fails: with a sentence that repeats no input."""

from __future__ import annotations


class Failed(AssertionError):
    """A hidden test fails. The text is written for the student and never repeats an input."""


#: The message for an answer that returns another value when called again.
NOT_THE_SAME_AGAIN = "called again in the same way, your function returns something else: does it keep something of an earlier call?"
