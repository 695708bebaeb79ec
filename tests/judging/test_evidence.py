"""Traces tell functions that behave alike from those that do not."""

import contextlib
import tracemalloc

import numpy as np
import pytest
import torch
from coursekit.checks.values import as_numbers

from autograder.judging.run import traces_match
from autograder.sandbox.host.student import MAX_TRACE_BYTES, Student


def local(function):
    return Student.local_namespace({"answer": function}, "answer")


def trace_of(function, *args, tolerance=None):
    """The trace of a call; with a ``tolerance`` that of its first number, which is observed."""
    student = local(function)
    result = student(*args)
    if tolerance is not None:
        student.observe("first", np.asarray(result).ravel()[0], rtol=tolerance)
    return student.trace


def halved(x):
    return x / 2


def test_float32_is_compared_more_coarsely_than_float64():
    x = np.random.default_rng(0).normal(size=(2, 3))
    for kind, same in ((np.float64, False), (np.float32, True)):
        nudged = trace_of(lambda x: x / 2 * (1 + 1e-5), x.astype(kind))
        assert traces_match(trace_of(halved, x.astype(kind)), nudged) is same


def test_only_observations_count_when_there_are_any():
    for tolerance, same in ((0.6, True), (0.4, False)):
        first, second = (trace_of(f, np.ones(4), tolerance=tolerance) for f in (halved, lambda x: x))
        assert [entry.kind for entry in first] == ["observation"]
        assert traces_match(first, second) is same
    assert not traces_match([], []), "an empty trace is no evidence"


SAME = (
    (np.array([1.0, np.nan]), np.array([1.0, np.nan])), ({"a": [1, 2]}, {"a": np.array([1, 2])}), ({1, 2}, {2, 1}),
    (torch.ones(2, dtype=torch.bfloat16), torch.full((2,), 1.01, dtype=torch.bfloat16)),
    ([np.zeros(2), np.zeros(3)], (np.zeros(2), np.zeros(3))),
)  # fmt: skip
OTHERS = (
    (np.zeros((2, 1)), np.zeros((2,))), ({"a": 1}, {"b": 1}), ("ab", b"ab"), (None, 0), (np.array(["a"]), np.array([1.0])),
)  # fmt: skip


def test_values_are_compared_by_what_they_hold():
    for pairs, same in ((SAME, True), (OTHERS, False)):
        for a, b in pairs:
            assert traces_match(trace_of(lambda a=a: a), trace_of(lambda b=b: b)) is same, (a, b)


def test_a_trace_keeps_a_bounded_amount_over_all_tests_of_a_question():
    student = local(lambda: np.ones(1_000_000))
    for _ in range(20):
        student()
    kept = sum(entry.value.nbytes for entry in student.trace if isinstance(entry.value, np.ndarray))
    assert len(student.trace) == MAX_TRACE_BYTES // 8_000_000 + 1 and 0 < kept <= MAX_TRACE_BYTES
    assert not traces_match(student.trace, student.trace)
    student.start_trace()
    student()
    assert not isinstance(student.trace[-1].value, np.ndarray), "the next test gets no new allowance"


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
