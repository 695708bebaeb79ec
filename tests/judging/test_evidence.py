"""Traces tell functions that behave alike from those that do not."""

import contextlib
import math
import tracemalloc

import numpy as np
import pytest
import torch
from coursekit.checks.values import as_numbers

from autograder.judging.run import traces_match
from autograder.sandbox.host.rpc import MAX_TRACE_BYTES
from autograder.sandbox.host.student import Student


def scale(x):
    return x / math.sqrt(x.shape[-1])


def forgets_the_root(x):
    return x / x.shape[-1]


def scale_as_a_list(x):
    return (np.asarray(x) * x.shape[-1] ** -0.5).tolist()


def local(function):
    return Student.local_namespace({"scale": function}, "scale")


def trace_of(function, x, observe=None):
    student = local(function)
    student.start_trace()
    result = student(x)
    if observe is not None:
        student.observe("ratio", np.asarray(result).ravel()[0], rtol=observe)
    return student.trace


def test_the_same_behaviour_in_another_form_matches_and_another_behaviour_does_not():
    x = np.random.default_rng(0).normal(size=(2, 3))
    assert traces_match(trace_of(scale, x), trace_of(scale_as_a_list, x))
    assert not traces_match(trace_of(scale, x), trace_of(forgets_the_root, x))
    assert not traces_match([], []), "an empty trace is no evidence"


def test_float32_is_compared_more_coarsely_than_float64():
    def nudged(x):
        return scale(x) * (1 + 1e-5)

    x = np.random.default_rng(0).normal(size=(2, 3))
    assert not traces_match(trace_of(scale, x), trace_of(nudged, x))
    x = x.astype(np.float32)
    assert traces_match(trace_of(scale, x), trace_of(nudged, x))


def test_only_observations_count_when_there_are_any():
    x = np.random.default_rng(0).normal(size=(2, 4))
    first, second = trace_of(scale, x, observe=0.6), trace_of(forgets_the_root, x, observe=0.6)
    assert [entry.kind for entry in first] == ["observation"]
    assert not traces_match(first, second)
    assert traces_match(trace_of(scale, x, observe=2.0), trace_of(forgets_the_root, x, observe=2.0))


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.zeros((2, 1)), np.zeros((2,)), False),
        ({"a": [1, 2]}, {"a": np.array([1, 2])}, True),
        ({"a": 1}, {"b": 1}, False),
        ([np.zeros(2), np.zeros(3)], (np.zeros(2), np.zeros(3)), True),
        ("ab", b"ab", False),
        (torch.ones(2, dtype=torch.bfloat16), torch.full((2,), 1.01, dtype=torch.bfloat16), True),
        (None, 0, False),
        ({1, 2}, {2, 1}, True),
        (np.array(["a"]), np.array([1.0]), False),
    ],
)
def test_values_are_compared_by_what_they_hold(a, b, same):
    first, second = (trace_of_value(value) for value in (a, b))
    assert traces_match(first, second) is same


def trace_of_value(value):
    student = local(lambda: value)
    student()
    return student.trace


def test_a_trace_keeps_a_bounded_amount_over_all_tests_of_a_question():
    student = local(lambda: np.ones(1_000_000))
    for _ in range(20):
        student()
    kept = sum(entry.value.nbytes for entry in student.trace if isinstance(entry.value, np.ndarray))
    assert len(student.trace) == MAX_TRACE_BYTES // 8_000_000 + 1 and 0 < kept <= MAX_TRACE_BYTES
    assert not traces_match(student.trace, student.trace)
    student.start_trace()
    student()
    assert not isinstance(
        student.trace[-1].value, np.ndarray
    )  # only ``forget_traces`` gives the allowance again
    student = local(lambda: np.ones(1_000_000))
    student()
    assert traces_match(student.trace, student.trace)


@pytest.mark.parametrize(
    "value",
    [
        ["a" * 1_000_000] + ["b"] * 100,
        [["a" * 1_000_000], *[["b"]] * 100],
        [["a" * 100_000] + ["b"] * 100] * 20,
        [np.array(["a" * 1_000_000])] + [np.array(["b"])] * 100,
        [np.zeros(1_000_000, bool)] * 40 + [np.zeros(1_000_000, np.clongdouble)],
    ],
)
def test_a_list_whose_widest_item_would_make_a_large_array_is_none(value):
    tracemalloc.start()
    assert as_numbers(value) is None
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_changed_argument_is_named_as_the_test_passed_it_and_a_set_in_another_order_is_not_changed():
    def careless(zebra, words, names):
        words[1].append("mole")
        names.discard("none")

    student = local(careless)
    student(np.zeros(2), words=[["a"], ["b"]], names={f"w{i}" for i in range(40)})
    assert student.mutated == ("the argument words",)


def test_what_is_called_back_after_a_test_is_over_is_not_kept():
    def step(prefix):
        raise AssertionError("over")

    def calls_on(step):
        for _ in range(30):
            with contextlib.suppress(RuntimeError):
                step([0.5] * 10)

    student = local(calls_on)
    with pytest.raises(AssertionError, match="over"):
        student(step)
    assert [entry.kind for entry in student.trace] == ["callback"]
