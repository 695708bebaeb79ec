"""Cells below a check that may change what the answer above it returns are told from those that only add names."""

from __future__ import annotations

from autograder.course.build import released_notebook
from autograder.grading.later_cells import last_change
from tests.grading.accidents import LAB

GIVEN = "import numpy as np\nwords = names()"
ANSWER = "import numpy as np\nEPS = 1e-9\ndef f(x):\n    return x + EPS"
ADD_NAMES = (
    "def g(x):\n    return f(x)",
    "import math\nfrom math import log\nimport numpy as np",
    "TABLE = {'a': [1, 2]}\n'''A text.'''",
    "if 'softmax' not in globals():\n\n    def softmax(x):\n        return x",
    "class C:\n    size = 3\n\n    @staticmethod\n    def f():\n        return 1",
)
DO_MORE = (
    *("EPS = 1", "def f(x): pass", "f.x = 1", "TABLE[0] = 1", "x = f(3)", "print(1)", "del f", "EPS += 1"),
    *("%reset", "!ls", "import math as np", "from numpy import *", "for np in (1, 2): pass", "len = 3"),
    *("def g():\n    global EPS\n    EPS = 1", "with open('x') as f: pass", "(y := 3)"),
)


def test_cells_that_add_names_change_nothing_and_cells_that_do_more_are_known():
    cells = (*ADD_NAMES, *DO_MORE)
    changes = {cell: last_change([GIVEN, ANSWER, cell, "def h(): pass"], {GIVEN}) for cell in cells}
    assert changes == dict.fromkeys(ADD_NAMES, -1) | dict.fromkeys(DO_MORE, 2)


def test_a_given_cell_changes_what_the_student_has_named_and_the_released_cells_change_nothing():
    assert last_change([GIVEN, ANSWER, "words = 1"], {GIVEN, "words = 1"}) == -1
    assert last_change(["def words(): pass", GIVEN], {GIVEN}) == 1
    sources = [cell.source for cell in released_notebook(LAB).cells if cell.cell_type == "code"]
    assert last_change(sources, {source.strip() for source in sources}) == -1
