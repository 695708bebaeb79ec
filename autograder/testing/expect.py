"""What a hidden test says of a student's values: a sentence that repeats no input."""

from __future__ import annotations


class Failed(AssertionError):
    """A hidden test fails. The text is written for the student and never repeats an input."""


#: What a test says of an answer that does not give the same again.
NOT_THE_SAME_AGAIN = "called again in the same way, your function returns something else: does it keep something of an earlier call?"
