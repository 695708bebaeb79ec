"""A slip in an earlier question is paid for once."""

from unittest.mock import Mock

import pytest

from autograder.judging.follow_through import follow_through
from autograder.judging.run import NOT_DEFINED, Failed, HiddenTest, run_test
from autograder.judging.time_guard import JudgedTooLong
from autograder.results import MEND_FIRST, QuestionResult, TestResult
from autograder.sandbox.host.student import Student, StudentGone

COURSES = """
def double(x):
    return 2 * x


class Doubler:
    def __init__(self, size):
        self.size = size

    def forward(self, x):
        return double(x)
"""


def quadruples(student):
    """Four times a number."""
    if student(7) != 28:
        raise Failed("the result is not right")


FOLLOWED = follow_through(quadruples, COURSES, ("double", "Doubler"))
QUADRUPLES = HiddenTest("quadruple", "quadruples", "Four times a number.", FOLLOWED, 1.0, "")
DOUBLE, TRIPLE = "def double(x):\n    return 2 * x\n", "def double(x):\n    return 3 * x\n"
TWICE = "def quadruple(x):\n    return double(double(x))\n"
ONCE = "def quadruple(x):\n    return double(x)\n"
#: What only a wrong helper allows: an argument, its name, a type, an argument of a class.
NEEDS_ITS_OWN = [
    "def double(x, exact=True):\n    return 3 * x\ndef quadruple(x):\n    return double(double(x, exact=True))\n",
    "def double(number):\n    return 3 * number\ndef quadruple(x):\n    return double(number=2 * x)\n",
    "def double(x, more=False):\n    return (3 * x, x)\ndef quadruple(x):\n    y, same = double(x)\n    return y + same * 2\n",
    "class Doubler:\n    def __init__(self, size, quiet):\n        pass\n    def forward(self, x):\n        return 3 * x\n"
    "def quadruple(x):\n    return Doubler(1, quiet=True).forward(2 * x)\n",
]
WRONG, RIGHT = (False, "the result is not right"), (True, "")
REPLACED = True, "with the course's double and Doubler in place of your own"
MENDED_FIRST = True, f"this needs your own double and Doubler, which is not right: {MEND_FIRST}"


@pytest.mark.parametrize(
    ("source", "wrong", "verdict"),
    [
        # A right answer passes and says how, whatever the earlier one is.
        *((earlier + TWICE, None, REPLACED) for earlier in (TRIPLE, "def double(x):\n    raise NotImplementedError()\n", "")),
        # One that fits its own helper passes without a word, and a wrong one fails whatever that is.
        (DOUBLE + TWICE, None, RIGHT),
        ("def double(x):\n    return [2 * x]\ndef quadruple(x):\n    return double(double(x)[0])[0]\n", None, RIGHT),
        ("def double(x, more):\n    return 2 * x * more\ndef quadruple(x):\n    return double(x, 2)\n", None, RIGHT),
        *((earlier + ONCE, wrong, WRONG) for earlier in (DOUBLE, TRIPLE) for wrong in (None, [], ["double"])),
        # Only answers that are not right are replaced.
        (TRIPLE + TWICE, [], WRONG),
        (TRIPLE + TWICE, ["double"], (True, "with the course's double in place of your own")),
        # What needs a wrong helper costs nothing until that is mended; a right helper is no excuse, nor is an error with it.
        *((source, None, MENDED_FIRST) for source in NEEDS_ITS_OWN),
        *((source, [], WRONG) for source in NEEDS_ITS_OWN),
        ("def double(x, k):\n    return 3 * x\ndef quadruple(x):\n    return double(x, 1) + None\n", None, (False, "your function raised an error")),
        ("x = 1\n", None, (False, NOT_DEFINED)),
    ],
)  # fmt: skip
def test_a_failed_test_is_run_again_with_the_courses_answers(source, wrong, verdict):
    namespace: dict = {"__name__": "notebook"}
    exec(source, namespace)
    own = namespace.get("double")
    student = Student.local_namespace(namespace, "quadruple")
    student.wrong = wrong
    result = run_test(QUADRUPLES, student).result
    assert (result.passed, result.message) == verdict
    assert namespace.get("double") is own, "the student's own function is back"


def test_an_earlier_answer_that_never_ends_is_not_called():
    calls: list[int] = []
    namespace: dict = {"double": calls.append}
    student = Student.local_namespace(namespace, "quadruple")
    student.wrong, student.endless = ["double"], frozenset(["double"])
    for source, passes in (
        (TWICE, True),
        (ONCE, False),
        ("def quadruple(x):\n    return double(x, 1)\n", False),
    ):
        exec(source, namespace)
        assert run_test(QUADRUPLES, student).result.passed is passes and calls == [], source


def test_why_the_second_run_ended_is_not_hidden_when_nothing_can_be_put_back():
    """Judging took too long within a request, which ends the student's process."""
    tries, student = [], Student.local_namespace({"quadruple": lambda x: 5}, "quadruple")

    def endless(student):
        tries.append(student(3))
        if len(tries) == 1:
            raise Failed("wrong")
        student._rpc.transport.exchange = Mock(side_effect=StudentGone("crashed"))
        raise JudgedTooLong

    with pytest.raises(JudgedTooLong):
        follow_through(endless, COURSES, ["double"])(student)
    assert tries == [5, 5]


def test_an_answer_that_could_not_be_tested_whole_waits_for_a_person():
    excused = TestResult("a test", *MENDED_FIRST)
    assert QuestionResult("quadruple", 3.0, 3.0, (excused,)).in_question
    assert not QuestionResult("quadruple", 3.0, 3.0, (TestResult("a test", True, ""),)).in_question
