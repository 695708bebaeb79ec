"""What a hidden test says of a student's values: a sentence that repeats no input."""

from __future__ import annotations

from autograder.sandbox.host.student import Handle, Student


class Failed(AssertionError):
    """A hidden test fails. The text is written for the student and never repeats an input."""


def expect_unchanged(student: Student | Handle, advice: str = "work on a new array") -> None:
    """Fail when the last call changed an argument, with what to do instead. Of several only the first is named."""
    if student.mutated:
        raise Failed(f"your answer changes {student.mutated[0]}: {advice}")


#: What a test says of an answer that does not give the same again.
NOT_THE_SAME_AGAIN = "called again in the same way, your function returns something else: does it keep something of an earlier call?"
