"""What counts as the same answer: single precision on the way does, a mistake does not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from autograder.sandbox.host.student import Student
from autograder.testing.expect import (
    Failed,
    as_array,
    expect_alike,
    expect_close,
    expect_equal,
    expect_raises,
    expect_unlike,
)

_SCORES = torch.linspace(-4, 4, 30, dtype=torch.double).reshape(5, 6)


def test_a_root_in_single_precision_on_the_way_is_honest_work():
    right = (_SCORES / math.sqrt(7)).softmax(-1)
    expect_close((_SCORES / torch.sqrt(torch.tensor(7.0))).softmax(-1), right)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: torch.zeros_like(x),
        lambda x: x * (1 + 1e-5),
        lambda x: x + 1e-5,
        lambda x: torch.where(x < 0.15, 0, x),
    ],
    ids=["zeros", "a factor", "a shift", "the small ones left out"],
)
def test_a_mistake_in_the_fifth_digit_is_none(wrong):
    right = (_SCORES / math.sqrt(7)).softmax(-1)
    with pytest.raises(Failed):
        expect_close(wrong(right), right)


def test_small_numbers_are_compared_with_the_largest_of_them():
    right = np.array([3e-9, -2e-9, 1e-9])
    with pytest.raises(Failed):
        expect_close(np.zeros(3) + 4e-9, right)
    with pytest.raises(Failed):
        expect_close(np.zeros(3), 1e-6 * right / 1e-9)


class _NoCodePoint(UnicodeError):
    """A student's own error."""


def _raises_its_own():
    raise _NoCodePoint("an own error that is a ValueError")


@pytest.mark.parametrize(
    "function",
    [_raises_its_own, lambda: int("x"), lambda: "ü".encode("ascii")],
    ids=["own", "plain", "derived"],
)
def test_an_error_that_derives_from_the_one_asked_for_is_accepted(function):
    student = Student.local(function, "function")
    expect_raises(ValueError, student, "a ValueError should be raised")


@pytest.mark.parametrize("function", [lambda: 1 / 0, lambda: 3, lambda: [][0]])
def test_another_error_and_none_are_not(function):
    with pytest.raises(Failed, match="a ValueError should be raised"):
        expect_raises(ValueError, Student.local(function, "function"), "a ValueError should be raised")


def test_fractions_are_numbers():
    student = Student.local(lambda: (Fraction(1, 3), [Fraction(3, 4)]), "function")
    expect_close(student()[0], 1 / 3)
    expect_close(student()[1], [0.75])


@pytest.mark.parametrize(
    "value",
    [
        range(3_000_000),
        [range(1_100_000)] * 2,
        np.zeros(3_000_000),
        [np.zeros(1_100_000, bool)] * 2,
        {"a": range(3_000_000)},
    ],
)
def test_a_value_of_too_many_items_is_not_unfolded(value):
    import tracemalloc

    tracemalloc.start()
    with pytest.raises(Failed, match="far too large"):
        expect_equal(value, [1])
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "value",
    [
        ["a" * 100_000] + ["b"] * 1000,
        [[["a" * 100_000]], [["b"]] * 1000],
        [np.array("a" * 100_000)] + [np.array("b")] * 1000,
        [b"a" * 100_000] + [b"b"] * 1000,
        [1.0, "1"],
    ],
)
def test_texts_among_numbers_are_refused_before_each_takes_the_room_of_the_longest(value):
    import tracemalloc

    tracemalloc.start()
    with pytest.raises(Failed, match="should hold numbers"):
        as_array(value)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_half_precision_gets_the_tolerance_of_single_precision_and_no_more():
    right = np.array([0.5, 0.25, 1.0])
    expect_close(right.astype(np.float16), right)
    expect_close((right * (1 + 1e-4)).astype(np.float32), right)
    for wrong in (right * 1.001, right + 5e-4):
        with pytest.raises(Failed, match="wrong values"):
            expect_close(wrong.astype(np.float16), right)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_no_finite_number_is_neither_like_nor_unlike_anything(strange):
    broken = np.array([1.0, strange])
    for one, other in ((broken, broken), (broken, np.ones(2)), (np.ones(2), broken)):
        with pytest.raises(Failed, match="inf or nan"):
            expect_alike(one, other)
        with pytest.raises(Failed, match="inf or nan"):
            expect_unlike(one, other, "the two are the same")


def test_two_values_that_should_differ():
    expect_unlike(np.ones(2), [1.0, 2.0], "the two are the same")
    with pytest.raises(Failed, match="the two are the same"):
        expect_unlike(np.ones(2), [1.0, 1.0], "the two are the same")
