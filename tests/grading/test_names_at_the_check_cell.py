"""An answer is judged with the names that it had at its check cell, whatever cells below it do with them."""

from __future__ import annotations

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.build import released_notebook
from autograder.course.masters import lab_name, solved
from autograder.grading.later_cells import last_change
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import hand_in, results_of

LAB = lab_name("01")
HELPER = "def helper(N):\n    return N.sum(axis=1, keepdims=True)\n\n"
ROWS = "def normalise_rows(N):\n    s = {}\n    return N / np.where(s, s, 1)"
WITH_A_HELPER = {"normalise_rows": HELPER + ROWS.format("helper(N)")}
WITH_A_CLASS = {
    "normalise_rows": HELPER
    + "class Sums:\n    def of(self, N):\n        return helper(N)\n\n"
    + ROWS.format("Sums().of(N)")
}
WRONG = {"normalise_rows": "def normalise_rows(N):\n    return N"}
RIGHT = ROWS.format("N.sum(axis=1, keepdims=True)")

#: name -> the answers that are not the master's, the cell at the end, what stands above the answer to question 4.
CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "a helper's name is used again": (WITH_A_HELPER, "", 'def helper(word):\n    return ["<S>", *word]\n\n'),
    "a helper is a number": (WITH_A_HELPER, "helper = 3", ""),
    "a class of the answer's is patched": (WITH_A_CLASS, "Sums.of = None", ""),
    "a helper of a class is deleted": (WITH_A_CLASS, "del helper", ""),
    "a library's name": ({}, "np = None", ""),
    "built-in functions": (
        {},
        "len, sum, range, sorted, list = 1, 2, 3, 4, 5\nzip = enumerate = set = 6",
        "",
    ),
    "all names": ({}, "%reset -f", ""),
    "a table is emptied": ({}, "INDEX.clear()\nALPHABET *= 0", ""),
    "a library's function": ({}, "np.zeros = np.log = None", ""),
    "a library's settings": (
        {},
        "np.seterr(all='raise')\nimport warnings; warnings.simplefilter('error')",
        "",
    ),
    "a helper below the check": (
        {"normalise_rows": ROWS.format("helper(N)")},
        "",
        HELPER,
    ),
}


def notebook(answers: dict[str, str], last: str = "", above: str = "") -> str:
    """A solved notebook with these answers, a cell at its end, and code above its fourth answer."""
    right = solved(LAB)
    given = right | answers
    given |= {"bigram_counts": above + given["bigram_counts"]}
    made = answered(LAB, given)
    made.cells += [nbformat.v4.new_code_cell(last)] if last else []
    return nbformat.writes(made)


@pytest.fixture(scope="module")
def results(tmp_path_factory, frozen):
    folder = tmp_path_factory.mktemp("class")
    written = {name: notebook(*case) for name, case in CASES.items()}
    written["fixed below"] = notebook(WRONG, RIGHT)
    written["wrong, and a scratch cell"] = notebook(WRONG, "print(np.pi)")
    for student, text in written.items():
        hand_in(folder / "submitted", student, text)
    return results_of(folder, frozen)


needs_a_sandbox = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]


@pytest.mark.parametrize("student", [pytest.param(name, marks=needs_a_sandbox) for name in CASES])
def test_what_a_cell_below_does_costs_no_answer_its_points(results, student):
    result = results[student]
    assert result.score == 20, [(q.name, q.points, q.cause) for q in result.questions]
    assert not any("was tested" in note for note in result.notes)


@pytest.mark.parametrize(
    "student",
    [pytest.param(name, marks=needs_a_sandbox) for name in ("fixed below", "wrong, and a scratch cell")],
)
def test_a_wrong_answer_stays_wrong_whatever_stands_below_its_check(results, student):
    rows = results[student].questions[0]
    assert rows.points < rows.max_points and results[student].score == 17 + rows.points
    assert rows.misconception or rows.cause


GIVEN = "import numpy as np\nwords = names()"
ANSWER = "import numpy as np\nEPS = 1e-9\ndef f(x):\n    return x + EPS"


@pytest.mark.parametrize(
    "source",
    [
        "def g(x):\n    return f(x)",
        "import math\nfrom math import log\nimport numpy as np",
        "TABLE = {'a': [1, 2]}\n'''A text.'''",
        "if 'softmax' not in globals():\n\n    def softmax(x):\n        return x",
        "class C:\n    size = 3\n\n    @staticmethod\n    def f():\n        return 1",
    ],
)
def test_cells_that_add_names_change_nothing(source):
    assert last_change([GIVEN, ANSWER, source], {GIVEN}) == -1


@pytest.mark.parametrize(
    "source",
    [
        *(
            "EPS = 1",
            "def f(x): pass",
            "f.x = 1",
            "TABLE[0] = 1",
            "x = f(3)",
            "print(1)",
            "del f",
            "EPS += 1",
        ),
        *("%reset", "!ls", "import math as np", "from numpy import *", "for np in (1, 2): pass", "len = 3"),
        "def g():\n    global EPS\n    EPS = 1",
        "with open('x') as f: pass",
        "(y := 3)",
    ],
)
def test_cells_that_do_more_are_known(source):
    assert last_change([GIVEN, ANSWER, source, "def h(): pass"], {GIVEN}) == 2


def test_a_given_cell_changes_what_the_student_has_named():
    assert last_change([GIVEN, ANSWER, "words = 1"], {GIVEN, "words = 1"}) == -1
    assert last_change(["def words(): pass", GIVEN], {GIVEN}) == 1


def test_the_released_cells_change_nothing():
    sources = [cell.source for cell in released_notebook(LAB).cells if cell.cell_type == "code"]
    assert last_change(sources, {source.strip() for source in sources}) == -1
