"""A test cell keeps its meaning outside the notebook: what a student's function does there is seen here.

PYTEST_DONT_REWRITE: the cells in here fail as they do in a notebook.
"""

from __future__ import annotations

import numpy as np
import pytest

from autograder.sandbox.host.rpc import StudentError
from autograder.sandbox.host.student import Student
from autograder.testing import hidden_test, moved_cell
from autograder.testing.run import run_test


def result(test, source):
    """How the moved cell ``test`` ends on the notebook ``source``."""
    namespace = {"__name__": "notebook"}
    exec(compile(source, "<notebook>", "exec"), namespace)
    marked = test if hasattr(test, "__wrapped__") else moved_cell(test)
    named = hidden_test("question")(marked).hidden_test
    return run_test(named, Student.local_namespace(namespace, "question"))


def passes(test, source):
    return result(test, source).result.passed


@moved_cell(in_place=True)
def a_list_is_sorted_in_place(student):
    """A list is sorted in place."""
    order = student.function("order")
    items, table = [3, 1, 2], {"b": [2, 1]}
    assert order(items) is None
    assert items == [1, 2, 3]
    order(table["b"])
    assert table == {"b": [1, 2]}


def an_array_keeps_its_values(student):
    """An array keeps its values."""
    scale = student.function("scale")
    x = np.arange(3.0)
    np.testing.assert_array_equal(scale(x), [0, 2, 4])
    assert x[2] == 2


def nothing_is_refused(student):
    """Nothing to average is refused."""
    mean = student.function("mean")
    try:
        mean([])
    except ValueError:
        pass
    else:
        raise AssertionError("did not raise")


def squares_are_listed(student):
    """The squares are listed."""
    squares = student.function("squares")
    assert squares(3) == [0, 1, 4]


def test_an_error_of_the_students_is_kept_as_evidence():
    run = result(squares_are_listed, "def squares(n):\n    return n + undefined")
    assert isinstance(run.error, StudentError) and run.error.type_name == "NameError"


def anything_goes(student):
    """Whatever happens is swallowed."""
    make = student.function("make")
    try:  # noqa: SIM105 (so do authors)
        make()
    except:  # noqa: E722 (so do authors)
        pass


def test_no_except_of_the_cell_makes_a_value_good_that_cannot_be_sent():
    run = result(
        anything_goes,
        "class Box:\n    def __eq__(self, other):\n        return True\ndef make():\n    return Box()",
    )
    assert not run.result.passed
    assert run.unsendable == "Box"


def counts_are_plain(student):
    """The counts."""
    count = student.function("count")
    assert count("aab")["c"] == 0


def test_a_test_that_fails_on_the_plain_value_inside_an_odd_one_asks_for_a_person():
    run = result(
        counts_are_plain, "from collections import Counter\ndef count(text):\n    return Counter(text)"
    )
    assert run.unsendable == "Counter"


def a_function_is_passed(student):
    """A function is passed in and called."""
    apply, double = student.function("apply"), student.function("double")
    assert apply(lambda x: x + 1, 3) == 4
    assert apply(double, 3) == 6
    assert list(map(double, [1, 2])) == [2, 4]


def a_value_is_looked_at(student):
    """A value is looked at."""
    total = student.value("total")
    assert total == 55


def words_and_secrets(student):
    """Words and secrets."""
    f = student.function("f")
    assert f(1) == 1, "one stays one"
    assert f(2) == 2
    ### BEGIN HIDDEN TESTS
    assert f(31337) == 31337
    ### END HIDDEN TESTS
    np.testing.assert_equal(f(4), 4)


def test_a_failed_cell_says_the_authors_words_or_its_visible_line_and_nothing_hidden():
    for wrong, message in (
        (1, "one stays one"),
        (2, "this does not hold: assert f(2) == 2"),
        (31337, "a hidden check of this cell does not hold"),
        (4, "this does not hold: np.testing.assert_equal(f(4), 4)"),
    ):
        run = result(words_and_secrets, f"def f(x):\n    return -1 if x == {wrong} else x")
        assert run.result.message == message


def squares_of_a_list(student):
    """Each number is squared."""
    squares = student.function("squares")
    numbers = [3, 5, 7]
    result = squares(numbers)
    assert len(result) == len(numbers)
    for n, r in zip(numbers, result, strict=True):
        assert r == n * n


def halves_of_an_array(student):
    """Each number is halved."""
    halves = student.function("halves")
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(halves(x), x / 2)


def test_what_is_expected_cannot_be_changed_through_an_argument():
    for test, source in (
        (squares_of_a_list, "def squares(n):\n    n[:] = [0] * len(n)\n    return [0] * len(n)"),
        (squares_of_a_list, "def squares(n):\n    n.clear()\n    return []"),
        (halves_of_an_array, "def halves(x):\n    x[...] = 0\n    return x"),
        (halves_of_an_array, "def halves(x):\n    import numpy as np\n    x[...] = np.nan\n    return x"),
    ):
        message = "this holds only where your function changes what it is given"
        assert result(test, source).result.message == message
    unseen = (
        "def squares(n):\n    right = [i * i for i in n]\n    n.reverse()\n    n.reverse()\n    return right"
    )
    assert passes(squares_of_a_list, unseen), "nobody looks at it again"
    assert passes(squares_are_listed, "def squares(n):\n    return [i * i for i in range(n)]")


def pairs_are_compared(student):
    """Pairs are compared."""
    square = student.function("square")
    for got, wanted in zip(map(square, [1, 2]), [1, 4], strict=False):
        assert got == wanted


def the_end_is_announced(student):
    """The end is announced."""
    following = student.function("following")
    assert following([1], 0) == 1
    with np.testing.assert_raises(StopIteration):
        following([1], 1)


def words_with_values(student):
    """Words with values."""
    f = student.function("f")
    assert f(1) == 1, f"expected something else than {f(1)}"
    assert f(2) == 2, "expected something else than " + f(2)
    if f(3) != 3:
        raise AssertionError(f"{f(3)}")
    ### BEGIN HIDDEN TESTS
    assert f(31337) == 31337, f"for {f(31337)}: no"
    ### END HIDDEN TESTS


def test_of_an_authors_message_only_its_own_words_are_shown():
    for wrong, message in (
        (1, "expected something else than …"),
        (2, 'this does not hold: assert f(2) == 2, "expected something else than " + f(2)'),
        (3, 'this does not hold: raise AssertionError(f"{f(3)}")'),
        (31337, "for …: no"),
    ):
        source = f"def f(x):\n    return 'the hidden input is %d' % x if x == {wrong} else x"
        assert result(words_with_values, source).result.message == message


GIVEN = [3, 1, 2, 40]


def given_numbers_are_added(student):
    """The given numbers are added."""
    total = student.function("total")
    assert total(GIVEN) == sum(GIVEN)
    assert total(GIVEN[1:]) == sum(GIVEN[1:])


def test_what_a_function_makes_of_a_given_list_is_seen_by_no_other_student():
    right = "def total(x):\n    return sum(x)"
    for evil in (
        "def total(x):\n    x[:] = []\n    return 0",
        "def total(x):\n    x.sort()\n    return sum(x[:1])",
    ):
        assert not passes(given_numbers_are_added, evil)
        assert passes(given_numbers_are_added, right)
        assert not passes(given_numbers_are_added, "def total(x):\n    return 0")
    assert GIVEN == [3, 1, 2, 40]


def counted(x, seen=[]):  # noqa: B006
    seen.append(x)
    return len(seen)


def a_helper_remembers(student):
    """A helper remembers."""
    assert student.function("f")(1) == counted(1)


def everything_is_set_otherwise(student):
    """A cell that sets what holds for its whole process."""
    import decimal
    import random
    import warnings

    import torch

    np.seterr(all="raise")
    np.set_printoptions(precision=1)
    warnings.simplefilter("error")
    decimal.getcontext().prec = 3
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    random.seed(1)
    assert student.function("f")(1) == 1


def test_what_a_cell_sets_for_its_process_is_as_before_for_the_next_test():
    import decimal
    import warnings

    import torch

    def settings():
        precision = decimal.getcontext().prec, np.get_printoptions()["precision"]
        return np.geterr(), precision, torch.get_default_dtype(), torch.is_grad_enabled(), [*warnings.filters]

    before = settings()
    assert passes(everything_is_set_otherwise, "def f(x):\n    return x")
    assert not passes(everything_is_set_otherwise, "def f(x):\n    return 0")
    assert settings() == before


def a_negative_number_is_refused(student):
    """A negative number is refused."""
    f = student.function("f")
    assert f(1) == 1
    with pytest.raises(ValueError):
        f(-1)


def it_skips(student):
    """It skips."""
    student.function("f")(1)
    pytest.skip("not today")


#: A test, and sources that pass it or do not, as in the notebook.
AS_IN_THE_NOTEBOOK = (
    (a_list_is_sorted_in_place, "def order(items):\n    items.sort()", True),
    (a_list_is_sorted_in_place, "def order(items):\n    items = sorted(items)", False),
    (an_array_keeps_its_values, "def scale(x):\n    return 2 * x", True),
    (an_array_keeps_its_values, "def scale(x):\n    x *= 2\n    return x", False),
    (nothing_is_refused, "def mean(v):\n    raise ValueError('empty')", True),
    (nothing_is_refused, "class Empty(ValueError): pass\ndef mean(v):\n    raise Empty()", True),
    (nothing_is_refused, "import numpy as np\ndef mean(v):\n    raise np.linalg.LinAlgError('singular')", True),
    (nothing_is_refused, "def mean(v):\n    raise TypeError('empty')", False),
    (nothing_is_refused, "def mean(v):\n    raise SystemExit", False),
    (nothing_is_refused, "def mean(v):\n    return 0", False),
    (nothing_is_refused, "mean = 3", False),
    (nothing_is_refused, "", False),
    (squares_are_listed, "def squares(n):\n    return [i * i for i in range(n)]", True),
    (squares_are_listed, "class Own(list): pass\ndef squares(n):\n    return Own(i * i for i in range(n))", True),
    (squares_are_listed, "def squares(n):\n    return (i * i for i in range(n))", False),
    (squares_are_listed, "def squares(n):\n    return tuple(i * i for i in range(n))", False),
    (squares_are_listed, "import numpy as np\ndef squares(n):\n    return np.arange(n) ** 2", False),
    (squares_are_listed, "def squares(n):\n    return {0: 1, 1: 1}.keys()", False),
    (a_function_is_passed, "def apply(f, x):\n    return f(x)\ndef double(x):\n    return 2 * x", True),
    (a_value_is_looked_at, "total = sum(range(11))", True),
    (a_value_is_looked_at, "", False),
    # A student's StopIteration ends no loop of the test's; where the test asks for it, it is one.
    (pairs_are_compared, "def square(n):\n    return n * n", True),
    (pairs_are_compared, "def square(n):\n    raise StopIteration", False),
    (pairs_are_compared, "class Own(StopIteration): pass\ndef square(n):\n    raise Own()", False),
    (the_end_is_announced, "def following(xs, i):\n    return next(iter(xs[i:]))", True),
    (the_end_is_announced, "def following(xs, i):\n    return 1", False),
    *[(a_helper_remembers, "def f(x):\n    return x", True)] * 3,  # it forgets from one student to the next
    # pytest's own errors are no ``Exception``: one ended the process that grades, and cost all questions.
    (a_negative_number_is_refused, "def f(x):\n    if x < 0:\n        raise ValueError\n    return x", True),
    (a_negative_number_is_refused, "def f(x):\n    return x", False),
    (it_skips, "def f(x):\n    return x", False),
)  # fmt: skip


def test_a_test_passes_and_fails_as_in_the_notebook():
    for test, source, good in AS_IN_THE_NOTEBOOK:
        assert passes(test, source) is good, (test.__name__, source)
