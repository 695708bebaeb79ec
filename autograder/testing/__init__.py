"""Everything that an author of hidden tests and misconceptions imports; the modules behind it are for the harness.

A hidden test is a plain function in ``hidden_tests/test_NN_topic.py``::

    from autograder.testing import expect_close, hidden_test

    @hidden_test("normalise_rows")
    def test_a_row_that_was_never_seen_stays_zero(student, rng):
        '''A row of zeros stays a row of zeros.'''
        counts = rng.integers(0, 9, size=(4, 6))
        counts[2] = 0
        expect_close(student(counts), _normalised(counts), "the rows with no counts")

A test's inputs are the same for the whole class. A reference that is slow on them, in loops that a reader can check, is
computed once under ``@remembered``.

A misconception is a short working wrong answer in ``misconceptions/mNN_topic/<question>.py``; see ``catalogue``.
"""

from autograder.course.masters import course_root, master, solution
from autograder.sandbox.host.rpc import BadReply, StudentError, StudentGone
from autograder.sandbox.host.student import Handle, Student
from autograder.testing.catalogue import alternative, misconception
from autograder.testing.expect import (
    Failed,
    as_array,
    expect,
    expect_alike,
    expect_close,
    expect_equal,
    expect_raises,
    expect_same_again,
    expect_shape,
    expect_unchanged,
    expect_unlike,
    has_a_part,
)
from autograder.testing.follow_through import follow_through
from autograder.testing.moved_cell import moved_cell
from autograder.testing.run import hidden_test, remembered

__all__ = [
    "BadReply",
    "Failed",
    "Handle",
    "Student",
    "StudentError",
    "StudentGone",
    "alternative",
    "as_array",
    "course_root",
    "expect",
    "expect_alike",
    "expect_close",
    "expect_equal",
    "expect_raises",
    "expect_same_again",
    "expect_shape",
    "expect_unchanged",
    "expect_unlike",
    "follow_through",
    "has_a_part",
    "hidden_test",
    "master",
    "misconception",
    "moved_cell",
    "remembered",
    "solution",
]
