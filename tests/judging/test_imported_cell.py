"""A test cell keeps its meaning outside the notebook: what a student's function does there is seen here."""

import warnings
from dataclasses import replace

from autograder.judging.imported_cell import as_hidden_test
from autograder.judging.movable import graded_cells
from autograder.judging.run import run_test
from autograder.sandbox.host.student import Student, StudentError
from tests.fixtures.nbgrader_course import answer, cell, checking

#: What a given cell of the notebook holds.
OF_THE_NOTEBOOK = """
GIVEN = [3, 1, 2, 40]


def counted(x, seen=[]):
    seen.append(x)
    return len(seen)
"""
SORTS = "items, table = [3, 1, 2], {'b': [2, 1]}\nassert f(items) is None\nassert items == [1, 2, 3]\nf(table['b'])\nassert table == {'b': [1, 2]}"
SCALES = "x = np.arange(3.0)\nnp.testing.assert_array_equal(f(x), [0, 2, 4])\nassert x[2] == 2"
REFUSES = "try:\n    f([])\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('did not raise')"
LISTS_SQUARES = "assert f(3) == [0, 1, 4]"
PASSES_FUNCTIONS = (
    "assert f(lambda x: x + 1, 3) == 4\nassert f(g, 3) == 6\nassert list(map(g, [1, 2])) == [2, 4]"
)
LOOKS_AT_A_VALUE = "assert total == 55"
GOES_ON = "before, total = total, 3\ntotal += 1\nassert (before, total, f(total)) == (55, 4, 4)"
HIDES = """
assert f(1) == 1, "one stays one"
assert f(2) == 2
### BEGIN HIDDEN TESTS
assert f(31337) == 31337
### END HIDDEN TESTS
np.testing.assert_equal(f(4), 4)
"""
HIDES_WORDS = """
assert f(1) == 1, f"expected something else than {f(1)}"
assert f(2) == 2, "expected something else than " + f(2)
if f(3) != 3:
    raise AssertionError(f"{f(3)}")
### BEGIN HIDDEN TESTS
assert f(31337) == 31337, f"for {f(31337)}: no"
### END HIDDEN TESTS
"""
SQUARES = "numbers = [3, 5, 7]\nresult = f(numbers)\nassert len(result) == len(numbers)\nfor n, r in zip(numbers, result):\n    assert r == n * n"
HALVES = "x = np.array([1.0, 2.0])\nnp.testing.assert_allclose(f(x), x / 2)"
COMPARES_PAIRS = "for got, wanted in zip(map(f, [1, 2]), [1, 4]):\n    assert got == wanted"
ANNOUNCES_THE_END = "assert f([1], 0) == 1\nwith np.testing.assert_raises(StopIteration):\n    f([1], 1)"
ADDS_THE_GIVEN = "assert f(GIVEN) == sum(GIVEN)\nassert f(GIVEN[1:]) == sum(GIVEN[1:])"
RAISES = "assert f(1) == 1\nwith pytest.raises(ValueError):\n    f(-1)"


def result(source, notebook, in_place=False):
    """How the moved test cell ends on the student's notebook."""
    cells = [
        cell("code", "import numpy as np\nimport pytest"),
        cell("code", OF_THE_NOTEBOOK, "given", locked=True),
        answer("a", "def f(): ...\ndef g(): ...\ntotal = 0"),
        checking("question", 1, source),
    ]
    [found], names = graded_cells(cells)
    test = as_hidden_test(replace(found, in_place=in_place), names, "20_x")
    namespace = {"__name__": "notebook"}
    exec(compile(notebook, "<notebook>", "exec"), namespace)
    return run_test(test, Student.local_namespace(namespace, "question"))


#: A test cell, and sources that pass it or do not, as in the notebook.
AS_IN_THE_NOTEBOOK = (
    (SORTS, "def f(items):\n    items.sort()", True),
    (SORTS, "def f(items):\n    items = sorted(items)", False),
    (SCALES, "def f(x):\n    return 2 * x", True),
    (SCALES, "def f(x):\n    x *= 2\n    return x", False),
    (REFUSES, "def f(v):\n    raise ValueError('empty')", True),
    (REFUSES, "class Empty(ValueError): pass\ndef f(v):\n    raise Empty()", True),
    (REFUSES, "import numpy as np\ndef f(v):\n    raise np.linalg.LinAlgError('singular')", True),
    (REFUSES, "def f(v):\n    raise TypeError('empty')", False),
    (REFUSES, "def f(v):\n    raise SystemExit", False),
    (REFUSES, "def f(v):\n    return 0", False),
    (REFUSES, "f = 3", False),
    (REFUSES, "", False),
    (LISTS_SQUARES, "def f(n):\n    return [i * i for i in range(n)]", True),
    (LISTS_SQUARES, "class Own(list): pass\ndef f(n):\n    return Own(i * i for i in range(n))", True),
    (LISTS_SQUARES, "def f(n):\n    return (i * i for i in range(n))", False),
    (LISTS_SQUARES, "def f(n):\n    return tuple(i * i for i in range(n))", False),
    (LISTS_SQUARES, "import numpy as np\ndef f(n):\n    return np.arange(n) ** 2", False),
    (LISTS_SQUARES, "def f(n):\n    return {0: 1, 1: 1}.keys()", False),
    (PASSES_FUNCTIONS, "def f(f, x):\n    return f(x)\ndef g(x):\n    return 2 * x", True),
    (LOOKS_AT_A_VALUE, "total = sum(range(11))", True),
    (LOOKS_AT_A_VALUE, "", False),
    ("assert total(3) == 6", "import functools, operator\ntotal = functools.partial(operator.mul, 2)", True),
    ("assert total is float and total('3') == 3", "total = float", True),
    # What it binds itself is its own from then on.
    (GOES_ON, "total = 55\ndef f(x):\n    return x", True),
    (GOES_ON, "total = 54\ndef f(x):\n    return x", False),
    # A student's StopIteration ends no loop of the test's; where the test asks for it, it is one.
    (COMPARES_PAIRS, "def f(n):\n    return n * n", True),
    (COMPARES_PAIRS, "def f(n):\n    raise StopIteration", False),
    (COMPARES_PAIRS, "class Own(StopIteration): pass\ndef f(n):\n    raise Own()", False),
    (ANNOUNCES_THE_END, "def f(xs, i):\n    return next(iter(xs[i:]))", True),
    (ANNOUNCES_THE_END, "def f(xs, i):\n    return 1", False),
    *[("assert f(1) == counted(1)", "def f(x):\n    return x", True)] * 3,  # it forgets from one student to the next
    # What a function makes of a given list is seen by no other student.
    (ADDS_THE_GIVEN, "def f(x):\n    x[:] = []\n    return 0", False),
    (ADDS_THE_GIVEN, "def f(x):\n    x.sort()\n    return sum(x[:1])", False),
    (ADDS_THE_GIVEN, "def f(x):\n    return sum(x)", True),
    # pytest's own errors are no ``Exception``: one ended the process that grades, and cost all questions.
    (RAISES, "def f(x):\n    if x < 0:\n        raise ValueError\n    return x", True),
    (RAISES, "def f(x):\n    return x", False),
    ("f(1)\npytest.skip('not today')", "def f(x):\n    return x", False),
    # Nobody looks again at an argument that was changed.
    (SQUARES, "def f(n):\n    right = [i * i for i in n]\n    n.reverse()\n    n.reverse()\n    return right", True),
)  # fmt: skip


def test_a_test_passes_and_fails_as_in_the_notebook():
    for code, source, good in AS_IN_THE_NOTEBOOK:
        assert result(code, source, in_place=code == SORTS).result.passed is good, (code, source)


def test_what_a_cell_sets_for_warnings_is_as_before_for_the_next_test():
    before, warns = [*warnings.filters], "import warnings\nwarnings.simplefilter('error')\nassert f(1) == 1"
    assert result(warns, "def f(x):\n    return x").result.passed and [*warnings.filters] == before


def test_what_is_expected_cannot_be_changed_through_an_argument():
    for code, source in (
        (SQUARES, "def f(n):\n    n[:] = [0] * len(n)\n    return [0] * len(n)"),
        (SQUARES, "def f(n):\n    n.clear()\n    return []"),
        (HALVES, "def f(x):\n    x[...] = 0\n    return x"),
        (HALVES, "def f(x):\n    import numpy as np\n    x[...] = np.nan\n    return x"),
    ):
        message = "this holds only where your function changes what it is given"
        assert result(code, source).result.message == message


def test_a_failed_cell_says_the_authors_own_words_or_its_visible_line_and_nothing_hidden():
    for code, wrong, message in (
        (HIDES, 1, "one stays one"),
        (HIDES, 2, "this does not hold: assert f(2) == 2"),
        (HIDES, 31337, "a hidden check of this cell does not hold"),
        (HIDES, 4, "this does not hold: np.testing.assert_equal(f(4), 4)"),
        (HIDES_WORDS, 1, "expected something else than …"),
        (HIDES_WORDS, 2, 'this does not hold: assert f(2) == 2, "expected something else than " + f(2)'),
        (HIDES_WORDS, 3, 'this does not hold: raise AssertionError(f"{f(3)}")'),
        (HIDES_WORDS, 31337, "for …: no"),
    ):
        source = f"def f(x):\n    return 'the hidden input is %d' % x if x == {wrong} else x"
        assert result(code, source).result.message == message


def test_an_error_is_evidence_and_what_cannot_be_sent_asks_for_a_person_whatever_the_cell_catches():
    run = result(LISTS_SQUARES, "def f(n):\n    return n + undefined")
    assert isinstance(run.error, StudentError) and run.error.type_name == "NameError"
    box = "class Box:\n    def __eq__(self, other):\n        return True\ndef f():\n    return Box()"
    run = result("try:\n    f()\nexcept:\n    pass", box)
    assert not run.result.passed and run.unsendable == "Box"
    run = result(
        "assert f('aab')['c'] == 0", "from collections import Counter\ndef f(text):\n    return Counter(text)"
    )
    assert run.unsendable == "Counter"
