"""A slip in an earlier question is paid for once."""

from __future__ import annotations

import pytest

from autograder.grading.time_guard import JudgedTooLong
from autograder.results import MEND_FIRST, QuestionResult, TestResult
from autograder.sandbox.host.rpc import StudentGone
from autograder.sandbox.host.student import Student
from autograder.testing.expect import Failed
from autograder.testing.follow_through import follow_through
from autograder.testing.run import hidden_test, run_test

_RIGHT = """
def double(x):
    return 2 * x


class Doubler:
    def __init__(self, size):
        self.size = size

    def forward(self, x):
        return double(x)
"""


@hidden_test("quadruple")
@follow_through(_RIGHT, "double", "Doubler")
def quadruples(student, rng):
    """Four times a random number."""
    number = int(rng.integers(10**9))
    student.observe("the number", number)
    if student(number) != 4 * number:
        raise Failed("the result is not right")


def _student(source: str) -> tuple[Student, dict]:
    namespace: dict = {"__name__": "notebook"}
    exec(source, namespace)
    return Student.local_namespace(namespace, "quadruple"), namespace


def _verdict(source: str, wrong: list[str] | None = None):
    student, _ = _student(source)
    student.wrong = wrong
    result = run_test(quadruples.hidden_test, student).result
    return result.passed, result.message


_TRIPLES = "def double(x):\n    return 3 * x\n"
_QUADRUPLE = "def quadruple(x):\n    return double(double(x))\n"
_REPLACED = "with the course's double and Doubler in place of your own"


@pytest.mark.parametrize(
    "earlier",
    [_TRIPLES, "def double(x):\n    raise NotImplementedError()\n", ""],
    ids=["wrong", "not written", "missing"],
)
def test_a_right_answer_passes_and_says_how_whatever_the_earlier_one_is(earlier):
    student, namespace = _student(earlier + _QUADRUPLE)
    own = namespace.get("double")
    result = run_test(quadruples.hidden_test, student).result
    assert (result.passed, result.message) == (True, _REPLACED)
    assert namespace.get("double") is own, "the student's own function is back"


def test_an_answer_that_fits_its_own_helper_passes_without_a_word_and_a_wrong_one_fails_whatever_that_is():
    for source in (
        "def double(x):\n    return 2 * x\n" + _QUADRUPLE,
        "def double(x):\n    return [2 * x]\ndef quadruple(x):\n    return double(double(x)[0])[0]\n",
        "def double(x, more):\n    return 2 * x * more\ndef quadruple(x):\n    return double(x, 2)\n",
    ):
        assert _verdict(source) == (True, "")
    for wrong in (None, [], ["double"]):
        for earlier in ("def double(x):\n    return 2 * x\n", _TRIPLES):
            own = earlier + "def quadruple(x):\n    return double(x)\n"
            assert _verdict(own, wrong) == (False, "the result is not right")


def test_only_answers_that_are_not_right_are_replaced():
    assert _verdict(_TRIPLES + _QUADRUPLE, []) == (False, "the result is not right")
    assert _verdict(_TRIPLES + _QUADRUPLE, ["double"]) == (
        True,
        "with the course's double in place of your own",
    )


@pytest.mark.parametrize(
    "source",
    [
        "def double(x, exact=True):\n    return 3 * x\ndef quadruple(x):\n    return double(double(x, exact=True))\n",
        "def double(number):\n    return 3 * number\ndef quadruple(x):\n    return double(number=2 * x)\n",
        "def double(x, more=False):\n    return (3 * x, x)\ndef quadruple(x):\n    y, same = double(x)\n    return y + same * 2\n",
        "class Doubler:\n"
        "    def __init__(self, size, quiet):\n        pass\n"
        "    def forward(self, x):\n        return 3 * x\n"
        "def quadruple(x):\n    return Doubler(1, quiet=True).forward(2 * x)\n",
    ],
    ids=["an argument", "its name", "a type", "an argument of a class"],
)
def test_what_only_a_wrong_helper_allows_costs_nothing_until_it_is_mended(source):
    passed, message = _verdict(source)
    assert passed and message == f"this needs your own double and Doubler, which is not right: {MEND_FIRST}"
    assert _verdict(source, []) == (False, "the result is not right"), "a right helper is no excuse"


def test_an_error_with_ones_own_helper_too_is_an_error_and_a_missing_question_is_reported_as_such():
    own = "def double(x, k):\n    return 3 * x\ndef quadruple(x):\n    return double(x, 1) + None\n"
    assert _verdict(own) == (False, "your function raised an error")
    passed, message = _verdict("x = 1\n")
    assert not passed and "not defined" in message


def test_both_runs_draw_the_same_inputs():
    for earlier in (_RIGHT, ""):
        student, _ = _student(earlier + "def quadruple(x):\n    return double(x)\n")
        run = run_test(quadruples.hidden_test, student)
        assert [entry.value for entry in run.trace] == [quadruples.hidden_test.rng().integers(10**9)]


def test_why_the_second_run_ended_is_not_hidden_when_nothing_can_be_put_back():
    """Judging took too long within a request, which ends the student's process."""
    student, _ = _student("def quadruple(x):\n    return 5\n")
    tries = []

    @follow_through(_RIGHT, "double")
    def endless(student):
        tries.append(student(3))
        if len(tries) == 1:
            raise Failed("wrong")

        def gone(request, answer):
            raise StudentGone("crashed")

        student._rpc.transport.exchange = gone
        raise JudgedTooLong

    with pytest.raises(JudgedTooLong):
        endless(student)
    assert tries == [5, 5]


def test_an_answer_that_could_not_be_tested_whole_waits_for_a_person():
    excused = TestResult("a test", True, f"this needs your own double, which is not right: {MEND_FIRST}")
    assert QuestionResult("quadruple", 3.0, 3.0, (excused,)).in_question
    assert not QuestionResult("quadruple", 3.0, 3.0, (TestResult("a test", True, ""),)).in_question
