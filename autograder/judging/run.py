"""Collects a lab's hidden tests, and runs them on an answer.

Students read a test's title, so it names no input. ``student`` is a ``sandbox.host.student.Student``. The inputs are drawn
from the course's secret salt and are the same for every student and every regrade. Every test must compare values: a test
that a useless function can pass gives points for nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

from coursekit.checks.values import values_match

from autograder.course.masters import solution, source_of_import
from autograder.errors import UserError
from autograder.judging.safe_errors import TYPES
from autograder.results import TestResult
from autograder.sandbox.host.student import BadReply, Student, StudentError, StudentGone, TraceEntry

#: The messages for an unchanged answer, and for one that the notebook does not define.
NOT_WRITTEN = "not written yet"
NOT_DEFINED = "this function is not defined in your notebook"
#: The message for an answer that returns another value when called again.
NOT_THE_SAME_AGAIN = "called again in the same way, your function returns something else: does it keep something of an earlier call?"
#: Set by the harness from the course configuration; the environment serves plain pytest.
_salt = os.environ.get("COURSE_SALT", "no salt set: development only")


def set_salt(salt: str) -> None:
    """Use ``salt``, the secret of the course's configuration, as the seed of hidden inputs from now on."""
    global _salt
    if salt != _salt:
        for forget in _forget:
            forget()
    _salt = salt


def salt() -> str:
    """The current salt."""
    return _salt


class Failed(AssertionError):
    """A hidden test fails. The text is for the student and never repeats an input."""


_Function = TypeVar("_Function", bound=Callable[..., Any])
_forget: list[Callable[[], None]] = []


def cached_for_salt(function: _Function) -> _Function:
    """``functools.cache`` for values that depend on the hidden inputs: a new salt clears it."""
    kept = cache(function)
    _forget.append(kept.cache_clear)
    return cast(_Function, kept)


@dataclass(frozen=True)
class HiddenTest:
    """One hidden test: its question, its title and its share of the points."""

    question: str
    name: str
    title: str
    function: Callable[..., None]
    weight: float
    #: The lab's full name.
    lab: str
    #: The share of the question's points that a failure costs, for a test that earns none.
    deducts: float = 0.0


@cache
def tests_of(lab: str) -> dict[str, tuple[HiddenTest, ...]]:
    """The hidden tests of a lab (full name) by question, in the order of the file.

    A question of an imported lab has none if its test cell stays beside the student's code.
    """
    # Imported by name: these modules are on a higher floor.
    maker = "judging.imported_cell" if source_of_import(lab) else "questions.engine.as_tests"
    module = importlib.import_module(f"autograder.{maker}")
    return dict(module.make_tests(lab))


@dataclass(frozen=True)
class TestRun:
    """The result of a hidden test, with the evidence that a diagnosis needs."""

    test: HiddenTest
    result: TestResult
    trace: tuple[TraceEntry, ...]
    error: StudentError | None = None
    #: The type of a value that could not be sent and so ended the test.
    unsendable: str = ""
    #: False for a test that was skipped because an earlier one did not end.
    ran: bool = True


def run_test(test: HiddenTest, student: Student) -> TestRun:
    """Run one hidden test. Raises ``StudentGone``, and errors of the test itself."""
    student.start_trace()
    student.note = ""
    error: StudentError | None = None
    unsendable = ""
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # a warning may contain a student's value
            test.function(student)
        result = TestResult(test.title, True, student.note)
    except Failed as failure:
        result = TestResult(test.title, False, str(failure))
    except BadReply as reply:
        unsendable = reply.type_name or "unknown"
        result = TestResult(test.title, False, _failure_message(reply))
    except StudentError as raised:
        error = raised
        result = TestResult(test.title, False, _failure_message(raised))
    except (StudentGone, UserError):  # SandboxUnavailable is a UserError
        raise
    except (Exception, SystemExit) as fault:
        # The returned value made the test raise, unless the test also raises on the master's answer.
        with contextlib.suppress(MemoryError):
            if isinstance(fault, (NameError, ImportError)) or not _master_passes(test):
                raise fault
        result = TestResult(test.title, False, "your function returned something of an unexpected form")
    return TestRun(test, result, tuple(student.trace), error, unsendable)


@cached_for_salt
def _master_passes(test: HiddenTest) -> bool:
    """Whether the master's answer passes. If not, the test is at fault."""
    try:
        test.function(Student.local_namespace(solution(test.lab), test.question))
    except MemoryError:  # a student's values take the memory, so the result must not be cached
        raise
    except (Exception, SystemExit):
        return False
    return True


def _failure_message(error: StudentError) -> str:
    if isinstance(error, BadReply):
        kind = f"a value of type {error.type_name}" if error.type_name in TYPES else "something else"
        return f"your function returned {kind}; plain numbers, arrays, tensors or lists are expected"
    if error.type_name == "NotImplementedError" and not error.message:
        return NOT_WRITTEN
    if error.type_name == "NameError" and not error.frames:
        return NOT_DEFINED
    return "your function raised an error"


def earned(points: float, runs: Sequence[tuple[float, bool]]) -> float:
    """Points earned from (weight, passed) pairs, rounded to hundredths; full points only if all passed."""
    total = sum(weight for weight, _ in runs)
    if not total:
        return 0.0
    if all(passed for _, passed in runs):
        return float(points)
    return round(points * sum(weight for weight, passed in runs if passed) / total, 2)


def student_with_answer(lab: str, question: str, function: Any) -> Student:
    """A ``Student`` that answers ``question`` with ``function``, and every other question like the master."""
    return Student.local_namespace({**solution(lab), question: function}, question)


def run_question(lab: str, question: str, student: Student) -> list[TestRun]:
    """Run all hidden tests of a question on one answer, in the order of the file."""
    return [run_test(test, student) for test in tests_of(lab)[question]]


@cached_for_salt
def master_runs(lab: str, question: str) -> tuple[TestRun, ...]:
    """The runs of a question's hidden tests on the master's answer, cached: the inputs are the same for every student."""
    return tuple(run_question(lab, question, Student.local_namespace(solution(lab), question)))


def traces_match(first: Sequence[TraceEntry], second: Sequence[TraceEntry]) -> bool:
    """Whether two traces show the same behaviour.

    Numbers match to 1e-6 (float64) or 1e-4 (float32) relative to the largest in their array, or within an observation's
    tolerances (a missing one is 0). NaN matches NaN. An empty trace is no evidence and matches nothing.
    """
    return 0 < len(first) == len(second) and all(
        (a.kind, a.name) == (b.kind, b.name) and values_match(a.value, b.value, a.rtol, a.atol)
        for a, b in zip(first, second, strict=True)
    )
