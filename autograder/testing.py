"""What an author of hidden tests uses: ``hidden_test``, ``expect``, ``expect_close``, ``expect_equal``.

A hidden test is a plain function in ``hidden_tests/test_NN_topic.py``::

    @hidden_test("normalise_rows")
    def test_a_row_that_was_never_seen_stays_zero(student, rng):
        '''A row of zeros stays a row of zeros.'''
        counts = rng.integers(0, 9, size=(4, 6))
        counts[2] = 0
        expect_close(student(counts), _normalised(counts), "the rows with no counts")

Its docstring is the title a student reads; it may be shown to students, so it names no input. ``student`` is
an ``autograder.student.Student``; ``rng`` is a NumPy generator seeded from the course's secret salt and the
test's name, the same for every student and every regrade. Every test must compare values: a test that a
function returning rubbish can pass would give points for nothing. ``weight`` sets a test's share of its
question's points (default 1).
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from autograder.errors import UserError
from autograder.own_errors import TYPES, error_name
from autograder.results import TestResult
from autograder.student import BadReply, Handle, Student, StudentError, StudentGone, TraceEntry

__all__ = ["Failed", "HiddenTest", "as_array", "expect", "expect_close", "expect_equal", "hidden_test"]

#: Set by the harness from the course configuration; the environment serves plain pytest.
_salt = os.environ.get("COURSE_SALT", "no salt set: development only")


def set_salt(salt: str) -> None:
    """Seed the hidden tests' inputs from ``salt`` (the course configuration's secret) from now on."""
    global _salt
    _salt = salt


class Failed(AssertionError):
    """A hidden test's verdict. Its text is written for the student and never repeats an input."""


@dataclass(frozen=True)
class HiddenTest:
    """One hidden test: which question it belongs to, its title in words and its share of the points."""

    question: str
    name: str
    title: str
    function: Callable[..., None]
    weight: float

    def rng(self) -> np.random.Generator:
        """The test's own generator, from the salt, the question and the test's name."""
        digest = hashlib.sha256(f"{_salt}|{self.question}|{self.name}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def hidden_test(question: str, weight: float = 1.0) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark a function as a hidden test of ``question``."""

    def mark(function: Callable[..., None]) -> Callable[..., None]:
        title = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
        if not title:
            raise ValueError(
                f"hidden test {function.__name__} needs a docstring: the title that students read"
            )
        marked: Any = function
        marked.hidden_test = HiddenTest(question, function.__name__, title, function, weight)
        return function

    return mark


@cache
def tests_of(lab: str) -> dict[str, tuple[HiddenTest, ...]]:
    """The hidden tests of a lab (full name) by question, in the order of the file."""
    found: dict[str, list[HiddenTest]] = {}
    for test in _tests_in(importlib.import_module(f"autograder.hidden_tests.test_{lab}")):
        found.setdefault(test.question, []).append(test)
    return {question: tuple(tests) for question, tests in found.items()}


def _tests_in(module: ModuleType) -> list[HiddenTest]:
    return [value.hidden_test for value in vars(module).values() if hasattr(value, "hidden_test")]


@dataclass(frozen=True)
class TestRun:
    """A test's verdict with the evidence that a diagnosis needs."""

    test: HiddenTest
    result: TestResult
    trace: tuple[TraceEntry, ...]
    error: StudentError | None = None


def run_test(test: HiddenTest, student: Student) -> TestRun:
    """Run one hidden test. ``StudentGone`` passes through; any other error of our own does too."""
    student.start_trace()
    error: StudentError | None = None
    arguments: dict[str, Any] = {"student": student}
    if "rng" in inspect.signature(test.function).parameters:
        arguments["rng"] = test.rng()
    try:
        test.function(**arguments)
        result = TestResult(test.title, True)
    except Failed as failure:
        result = TestResult(test.title, False, str(failure))
    except BadReply as reply:
        result = TestResult(test.title, False, _sentence_for(reply))
    except StudentError as raised:
        error = raised
        result = TestResult(test.title, False, _sentence_for(raised))
    except (StudentGone, UserError):  # the sandbox's own failure is one of those
        raise
    except Exception as fault:
        # The test stumbled over what came back, unless it stumbles over the master's answer too.
        if isinstance(fault, (NameError, ImportError)) or not _master_passes(test):
            raise
        result = TestResult(test.title, False, "your function returned something of an unexpected form")
    return TestRun(test, result, tuple(student.trace), error)


@cache
def _master_passes(test: HiddenTest) -> bool:
    """Whether the master's answer passes: if not, the fault is the test's own and no student's."""
    from autograder.masters import solution

    lab = test.function.__module__.rsplit(".test_", 1)[-1]
    arguments: dict[str, Any] = {"student": Student.local_namespace(solution(lab), test.question)}
    if "rng" in inspect.signature(test.function).parameters:
        arguments["rng"] = test.rng()
    try:
        test.function(**arguments)
    except Exception:
        return False
    return True


def _sentence_for(error: StudentError) -> str:
    if isinstance(error, BadReply):
        kind = f"a value of type {error.type_name}" if error.type_name in TYPES else "something else"
        return f"your function returned {kind}; plain numbers, arrays, tensors or lists are expected"
    if error.type_name == "NotImplementedError" and not error.message:
        return "not written yet"
    if error.type_name == "NameError" and not error.frames:
        return "this function is not defined in your notebook"
    return f"your function raised {error_name(error.type_name)}"


def earned(points: float, runs: Sequence[tuple[float, bool]]) -> float:
    """Points earned from (weight, passed) pairs, rounded to hundredths; full only when all passed."""
    total = sum(weight for weight, _ in runs)
    if not total:
        return 0.0
    if all(passed for _, passed in runs):
        return float(points)
    return round(points * sum(weight for weight, passed in runs if passed) / total, 2)


# --------------------------------------------------------------------------------------------- expectations


def expect(condition: Any, sentence: str) -> None:
    """Fail with ``sentence`` (what is wrong, in words for the student) unless ``condition`` holds."""
    if not condition:
        raise Failed(sentence)


def as_array(value: Any, what: str = "the result") -> np.ndarray:
    """``value`` (array, tensor, number or nested list of numbers) as a NumPy array, or a clear failure."""
    if value is None:
        raise Failed(f"{what} is None: does your function return its result?")
    if isinstance(value, Handle):
        raise Failed(f"{what} should be numbers, not an object")
    try:
        if hasattr(value, "detach"):
            import torch

            value = value.detach()
            value = (value.float() if value.dtype is torch.bfloat16 else value).cpu().numpy()
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError):
        raise Failed(f"{what} is not a regular array of numbers") from None
    if array.dtype.kind not in "biufc":
        raise Failed(f"{what} should hold numbers, not {_kind(value)}")
    return array


def _kind(value: Any) -> str:
    return {"str": "text", "dict": "a dictionary", "set": "a set"}.get(type(value).__name__, "other things")


#: Relative and absolute tolerance by the width of the student's numbers: float32 work is honest work.
_TOLERANCE = {2: (2e-3, 1e-4), 4: (2e-4, 2e-5)}


def expect_close(
    actual: Any, expected: Any, what: str = "the result", *, rtol: float = 1e-7, atol: float = 1e-9
) -> None:
    """Fail unless ``actual`` has the shape and the values of ``expected``.

    ``what`` names the thing in the student's terms ("the attention weights"). ``rtol`` and ``atol`` hold for
    float64 and for integers; float32 and float16 results get the tolerance their precision needs.
    """
    a, e = as_array(actual, what), np.asarray(expected.detach() if hasattr(expected, "detach") else expected)
    if a.shape != e.shape:
        raise Failed(f"{what} should have shape {_shape(e)}, but has shape {_shape(a)}")
    if a.size == 0:
        return
    if a.dtype.kind in "fc" and not np.isnan(e).any() and np.isnan(a).any():
        raise Failed(f"nan (not a number) in {what}")
    if a.dtype.kind in "fc":
        width = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
        coarse = _TOLERANCE.get(width)
        if coarse:
            rtol, atol = max(rtol, coarse[0]), max(atol, coarse[1])
    wrong = ~np.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
    if wrong.any():
        share = "" if a.size == 1 else f" ({int(wrong.sum())} of {a.size} values differ)"
        raise Failed(f"wrong values in {what}{share}")


def _shape(array: np.ndarray) -> str:
    return "() (a single number)" if array.ndim == 0 else str(array.shape)


def expect_equal(actual: Any, expected: Any, what: str = "the result") -> None:
    """Fail unless ``actual`` equals ``expected`` exactly (text, integers, tokens, dictionaries).

    Lists, tuples and integer arrays with the same items are the same answer, whole-number floats too.
    """
    if actual is None and expected is not None:
        raise Failed(f"{what} is None: does your function return its result?")
    if _plain(actual) != _plain(expected):
        raise Failed(f"{what} is not right")


#: An exact answer has no more items than this: as Python objects they take thirty times the room.
MAX_ITEMS = 2_000_000


def _plain(value: Any) -> Any:
    """Tuples, arrays and tensors as lists, NumPy numbers as Python's, all the way down."""
    if isinstance(value, (str, bytes, bool, int, float, type(None))):
        return value
    if isinstance(value, np.ndarray) and value.size > MAX_ITEMS:
        raise Failed("the result is far too large")
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if hasattr(value, "detach"):
        return _plain(value.detach().tolist())
    if isinstance(value, dict):
        return {_frozen(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return {_frozen(item) for item in value}
    if isinstance(value, (list, tuple, range)):
        return [_plain(item) for item in value]
    return value


def _frozen(value: Any) -> Any:
    value = _plain(value)
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


__all__ += [
    "StudentError",
    "StudentGone",
    "TestRun",
    "earned",
    "run_test",
    "set_salt",
    "tests_of",
]
