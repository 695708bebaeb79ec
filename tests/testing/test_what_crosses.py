"""What a page says in words comes from this side, never from what the student's side calls itself."""

from __future__ import annotations

import numpy as np

from autograder.sandbox.host.student import Student
from autograder.testing.safe_errors import safe_name


def test_a_changed_argument_is_named_as_the_test_passed_it():
    def careless(zebra, words):
        words[1].append("mole")

    student = Student.local_namespace({"f": careless}, "f")
    student(np.zeros(2), words=[["a"], ["b"]])
    assert student.mutated == ("the argument words",)


def test_equal_sets_are_no_change_whatever_their_order():
    function = lambda words, more: (words.discard("none"), list(more))  # noqa: E731
    student = Student.local_namespace({"f": function}, "f")
    student({f"w{i}" for i in range(40)}, more={"a": frozenset("xyz")})
    assert student.mutated == ()


def test_a_name_is_shown_as_it_is_only_where_it_is_allowed():
    assert safe_name("ValueError", {"ValueError"}, "another") == "ValueError"
    assert safe_name("zebra", {"ValueError"}, "another") == "another"
