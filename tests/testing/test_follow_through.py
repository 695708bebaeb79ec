"""A slip in an earlier question is paid for once."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.grading.time_guard import JudgedTooLong
from autograder.sandbox.host.rpc import StudentGone
from autograder.sandbox.host.student import Student
from autograder.testing.expect import Failed, expect_close, expect_equal
from autograder.testing.follow_through import follow_through
from autograder.testing.run import hidden_test, run_test

_RIGHT = "def double(x):\n    return 2 * x\n"


@hidden_test("quadruple")
@follow_through(_RIGHT, "double")
def quadruples(student):
    """Four times the number."""
    expect_equal(student(3), 12, "the result")


def _notebook(source: str) -> dict:
    namespace: dict = {"__name__": "notebook"}
    exec(source, namespace)
    return namespace


def _verdict(namespace: dict):
    return run_test(quadruples.hidden_test, Student.local_namespace(namespace, "quadruple")).result


_QUADRUPLE = "def quadruple(x):\n    return double(double(x))\n"


@pytest.mark.parametrize(
    "earlier",
    [
        "def double(x):\n    return 3 * x\n",
        "def double(x):\n    raise NotImplementedError()\n",
        "",
    ],
    ids=["wrong", "not written", "missing"],
)
def test_a_right_answer_passes_whatever_the_earlier_one_is(earlier):
    namespace = _notebook(earlier + _QUADRUPLE)
    own = namespace.get("double")
    assert _verdict(namespace).passed
    assert namespace.get("double") is own, "the student's own function is back"


def test_an_answer_that_fits_its_own_helper_passes():
    assert _verdict(
        _notebook(
            "def double(x):\n    return [2 * x]\ndef quadruple(x):\n    return double(double(x)[0])[0]\n"
        )
    ).passed


def test_a_wrong_answer_fails_with_right_helpers_too():
    verdict = _verdict(
        _notebook("def double(x):\n    return 2 * x\ndef quadruple(x):\n    return double(x)\n")
    )
    assert not verdict.passed
    assert verdict.message == "the result is not right"


def test_a_question_that_is_not_there_is_reported_as_such():
    assert "not defined" in _verdict(_notebook("x = 1\n")).message


def test_the_test_function_itself_raises_what_the_second_try_says():
    namespace = _notebook("def quadruple(x):\n    return 5\n")
    with pytest.raises(Failed, match="not right"):
        quadruples(Student.local_namespace(namespace, "quadruple"))


@hidden_test("quadruple")
@follow_through(_RIGHT, "double")
def quadruples_any_number(student, rng):
    """Four times a random number."""
    number = int(rng.integers(10**9))
    student.observe("the number", number)
    expect_equal(student(number), 4 * number, "the result")


def test_the_second_try_draws_the_inputs_of_the_first():
    wrong_later = "def quadruple(x):\n    return double(x)\n"
    runs = [
        run_test(
            quadruples_any_number.hidden_test,
            Student.local_namespace(_notebook(earlier + wrong_later), "quadruple"),
        )
        for earlier in (_RIGHT, "")
    ]
    first = quadruples_any_number.hidden_test.rng().integers(10**9)
    assert [run.trace[0].value for run in runs] == [first, first]


def test_why_the_second_try_ended_is_not_hidden_when_nothing_can_be_put_back():
    """Judging took too long within a request, which ends the student's process."""
    student = Student.local_namespace(_notebook("def quadruple(x):\n    return 5\n"), "quadruple")
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


@pytest.mark.parametrize(
    ("earlier", "call"),
    [
        ("def double(x, exact=True):\n    return 3 * x\n", "double(double(x, True), exact=False)"),
        ("def double(x, *, exact=True):\n    return 3 * x\n", "double(double(x, exact=True))"),
        ("def double(number, exact=True):\n    return 3 * number\n", "double(number=double(x, True))"),
    ],
    ids=["in its place", "by its name", "another name for the first"],
)
def test_an_answer_may_hand_an_argument_of_its_own_to_a_wrong_helper(earlier, call):
    assert _verdict(_notebook(f"{earlier}def quadruple(x):\n    return {call}\n")).passed


_TALLY = "def tally(text):\n    return {letter: text.count(letter) for letter in text}\n"


@hidden_test("favourite")
@follow_through(_TALLY, "tally")
def the_favourite(student):
    """The letter that occurs most often."""
    expect_equal(student("abb"), "b", "the result")


def test_an_answer_may_rely_on_the_kind_of_dictionary_that_its_wrong_helper_returns():
    namespace = _notebook(
        "from collections import Counter\n"
        "def tally(text):\n    return Counter(text[:1])\n"
        "def favourite(text):\n    return tally(text).most_common(1)[0][0]\n"
    )
    assert run_test(the_favourite.hidden_test, Student.local_namespace(namespace, "favourite")).result.passed


def test_a_wrong_answer_that_stumbles_over_the_right_helper_is_wrong_in_the_form_of_its_own_too():
    verdict = _verdict(
        _notebook("def double(x, k):\n    return 3 * x\ndef quadruple(x):\n    return double(x, 1)\n")
    )
    assert (verdict.passed, verdict.message) == (False, "the result is not right")


_MODULE = """
class Doubler:
    def __init__(self, size):
        self.size = size

    def forward(self, x):
        return 2 * x
"""


@hidden_test("quadruple")
@follow_through(_MODULE, "Doubler")
def quadruples_by_a_class(student):
    """Four times the number."""
    expect_equal(student(3), 12, "the result")


def test_a_class_of_the_students_may_take_more_arguments_than_the_right_one():
    namespace = _notebook(
        "class Doubler:\n"
        "    def __init__(self, size, quiet=0.0):\n        self.size = size\n"
        "    def forward(self, x, mask=None):\n        return 3 * x\n"
        "def quadruple(x):\n"
        "    layer = Doubler(4, quiet=0.1)\n"
        "    return layer.forward(layer.forward(x, mask=None))\n"
    )
    student = Student.local_namespace(namespace, "quadruple")
    assert run_test(quadruples_by_a_class.hidden_test, student).result.passed


def test_the_student_reads_which_answers_were_replaced_and_only_where_they_were():
    wrong = "def double(x):\n    return 3 * x\n"
    notes = [_verdict(_notebook(earlier + _QUADRUPLE)).message for earlier in (wrong, _RIGHT)]
    assert notes == ["with the course's double in place of your own", ""]


@pytest.mark.parametrize(
    ("option", "undone"),
    [("np.log(y)", "np.exp(double(x, True))"), ("-y", "-double(x, True)"), ("y", "double(x, True)")],
    ids=["logarithm", "other sign", "the same"],
)
def test_what_an_argument_of_ones_own_makes_of_a_wrong_result_is_made_of_the_right_one(option, undone):
    helper = f"import numpy as np\ndef double(x, other=False):\n    y = 3 * x\n    return {option} if other else y\n"
    assert _verdict(_notebook(helper + f"def quadruple(x):\n    return round(2 * {undone})\n")).passed


_HELPERS = """
def total(x):
    return x.sum(axis=-1)


def large(x):
    return (x > 2).astype(float)
"""


@hidden_test("answer")
@follow_through(_HELPERS, "total", "large")
def the_share_of_the_large(student):
    """The large numbers' shares of their rows, added up."""
    expect_close(student(np.array([[1.0, 3.0, 4.0], [4.0, 1.0, 3.0]])), 1.75, "the shares")


@pytest.mark.parametrize(
    "answer",
    [
        "def answer(x):\n    return ((x / total(x, keep=True)) * large(x)).sum()\n",
        "def answer(x):\n    return x[large(x, kind=bool)].sum() / total(x)[0]\n",
    ],
    ids=["an axis of length one", "truth values for numbers"],
)
def test_a_wrong_helper_may_give_its_result_in_another_form(answer):
    helpers = (
        "def total(x, keep=False):\n    return x.max(axis=-1, keepdims=keep)\n"
        "def large(x, kind=float):\n    return (x > 3).astype(kind)\n"
    )
    student = Student.local_namespace(_notebook(helpers + answer), "answer")
    assert run_test(the_share_of_the_large.hidden_test, student).result.passed


def test_a_wrong_helper_that_returns_something_beside_its_result_is_replaced_by_a_right_one_that_does():
    helper = "def double(x, more=False):\n    return (3 * x, x) if more else 3 * x\n"
    answer = "def quadruple(x):\n    y, same = double(x, more=True)\n    return y + 2 * same\n"
    assert _verdict(_notebook(helper + answer)).passed


def test_a_wrong_helper_that_returns_the_logarithm_beside_its_result_is_replaced_by_a_right_one_that_does():
    helper = "import math\ndef double(x, log=False):\n    return (3 * x, math.log(3 * x)) if log else 3 * x\n"
    answer = "def quadruple(x):\n    _, logarithm = double(x, log=True)\n    return 2 * math.exp(logarithm)\n"
    assert _verdict(_notebook(helper + answer)).passed


def test_an_order_beside_the_result_is_no_logarithm_of_a_one():
    helper = (
        "import numpy as np\ndef double(x, order=False):\n"
        "    y = np.array([x / x])\n    return (y, np.argsort(-y)) if order else y\n"
    )
    answer = "def quadruple(x):\n    y, order = double(x, order=True)\n    return 2 * float(np.ravel(y)[order[0]])\n"
    assert _verdict(_notebook(helper + answer)).passed


def test_a_wrong_helper_that_also_cuts_off_below_zero_is_replaced_by_a_right_one_that_does():
    helper = "def double(x, floor=None):\n    y = 3 * x\n    return y if floor is None else max(y, floor)\n"
    answer = "def quadruple(x):\n    return 2 * double(x, floor=0) + double(-x, floor=0)\n"
    assert _verdict(_notebook(helper + answer)).passed


@hidden_test("answer")
@follow_through("def shares(x):\n    return x / x.sum()\n", "shares")
def the_shares_of_the_first_two(student):
    """The shares of the first two among themselves."""
    expect_close(student(np.array([3.0, 1.0, 4.0])), [0.75, 0.25, 0], "the shares")


def test_a_wrong_helper_that_shares_among_some_only_is_replaced_by_a_right_one_that_does():
    helper = (
        "def shares(x, among=None):\n"
        "    x = x**2 if among is None else x**2 * among\n"
        "    return x / x.sum()\n"
    )
    answer = "import numpy as np\ndef answer(x):\n    return shares(x, among=np.array([1, 1, 0]))\n"
    student = Student.local_namespace(_notebook(helper + answer), "answer")
    assert run_test(the_shares_of_the_first_two.hidden_test, student).result.passed


_ADD_AND_NORM = "def residual(x, sublayer, norm):\n    return norm(x + sublayer(x))\n"


@hidden_test("answer")
@follow_through(_ADD_AND_NORM, "residual")
def half_of_it_comes_through(student):
    """The sum of x and half of what the sublayer says, less one."""
    expect_close(student(torch.tensor([2.0, 4.0])), [2.0, 5.0], "the sum")


def _sum_with(helper: str, answer: str):
    student = Student.local_namespace(_notebook(helper + answer), "answer")
    return run_test(half_of_it_comes_through.hidden_test, student)


_LESS_ONE = "def answer(x):\n    return residual(x, lambda y: y, lambda y: y - 1, {})\n"
_HALVES = "lambda y: y / 2"


@pytest.mark.parametrize(
    "body",
    [
        "    said = sublayer(norm(x))\n    return x + (said if drop is None else drop(said))\n",
        "    said = sublayer(norm(x))\n    return x + said * (1 if drop is None else drop(1.0))\n",
    ],
    ids=["handed what is said", "handed another thing"],
)
def test_a_function_that_a_wrong_helper_is_handed_acts_where_it_did(body):
    helper = "def residual(x, sublayer, norm, drop=None):\n" + body
    assert _sum_with(helper, _LESS_ONE.format(_HALVES)).result.passed


def test_a_random_function_that_is_handed_on_draws_what_it_would_draw_anyway():
    helper = "import torch\ndef residual(x, sublayer, norm, drop):\n    return x + drop(sublayer(norm(x)))\n"
    answer = _LESS_ONE.format("lambda y: y * torch.rand(2)")
    torch.manual_seed(5)
    expected = torch.tensor([2.0, 4.0]) * (1 + torch.rand(2)) - 1

    @hidden_test("answer")
    @follow_through(_ADD_AND_NORM, "residual")
    def with_the_same_draws(student):
        """The sum with the first draws."""
        torch.manual_seed(5)
        expect_close(student(torch.tensor([2.0, 4.0])), expected, "the sum")

    student = Student.local_namespace(_notebook(helper + answer), "answer")
    assert run_test(with_the_same_draws.hidden_test, student).result.passed


@pytest.mark.parametrize(
    "helper",
    [
        "def residual(x, sublayer, norm, share):\n    return x + share(sublayer(norm(x))) ** share(2) + 1\n",
        "def residual(x, sublayer, norm, kept):\n    return x + (3 * kept(x) - sublayer(x)) * norm(x)\n",
    ],
)
def test_an_argument_of_ones_own_that_is_not_understood_is_evidence_so_that_no_misconception_is_named(helper):
    run = _sum_with(helper, _LESS_ONE.format(_HALVES))
    assert not run.result.passed
    assert [entry.kind for entry in run.trace][-1] == "observation"


def test_an_argument_that_only_ones_own_class_has_is_evidence_where_the_answer_fails_without_it():
    namespace = _notebook(
        "class Doubler:\n"
        "    def __init__(self, size, factor=1.0):\n        self.factor = factor\n"
        "    def forward(self, x):\n        return 3 * self.factor * x\n"
        "def quadruple(x):\n    return Doubler(4, factor=2).forward(x)\n"
    )
    run = run_test(quadruples_by_a_class.hidden_test, Student.local_namespace(namespace, "quadruple"))
    assert not run.result.passed
    assert [entry.kind for entry in run.trace][-1] == "observation"


@hidden_test("answer")
@follow_through("def parts(x):\n    return x.mean(), x / x.sum()\n", "parts")
def the_error_times_the_mean(student):
    """The shares less one at a place, times the mean."""
    expect_close(
        student(np.array([3.0, 1.0, 4.0]), 2), np.array([3.0, 1.0, -4.0]) / 3, "the error times the mean"
    )


@pytest.mark.parametrize(
    ("returned", "passes"),
    [("x.sum(), p, e", True), ("e, x.sum()", True), ("x.sum(), p, p * e", False)],
    ids=["beside the result", "in place of a part", "computed from a wrong part"],
)
def test_a_wrong_helper_that_returns_a_part_less_one_is_replaced_by_a_right_one_that_does(returned, passes):
    helper = (
        "def parts(x, place=None):\n"
        "    p = x**2 / (x**2).sum()\n"
        "    if place is None:\n"
        "        return x.sum(), p\n"
        "    e = p.copy()\n"
        "    e[place] -= 1\n"
        f"    return {returned}\n"
    )
    found = {"x.sum(), p, e": "m, _, e", "e, x.sum()": "e, m", "x.sum(), p, p * e": "m, _, e"}[returned]
    answer = f"def answer(x, place):\n    {found} = parts(x, place=place)\n    return m * e\n"
    student = Student.local_namespace(_notebook(helper + answer), "answer")
    assert run_test(the_error_times_the_mean.hidden_test, student).result.passed == passes


@hidden_test("answer")
@follow_through("def halves(x):\n    return x / 2\n", "halves")
def learns_from_halves(student):
    """The slope of the halves' sum."""
    found = student.gradients([torch.ones(4)])
    expect_close(found.inputs[0], [0.5] * 4, "the gradient")


def test_a_wrong_helper_that_returns_something_besides_is_replaced_where_gradients_flow():
    helper = "def halves(x, size=False):\n    y = x / 3\n    return (y, len(x)) if size else y\n"
    answer = "def answer(x):\n    y, n = halves(x, size=True)\n    return y.sum() * n / len(x)\n"
    student = Student.local_namespace(_notebook(helper + answer), "answer")
    assert run_test(learns_from_halves.hidden_test, student).result.passed
