"""Notebooks that nbgrader accepts are imported as they are; others are refused by what they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearSolutions, ComputeChecksums

from autograder.course.build import released_notebook
from autograder.course.masters import read_master
from autograder.errors import UserError
from autograder.importing.bring_in import _forget
from autograder.importing.movable import test_cells_of as read_cells
from autograder.importing.notebook import _shown, master_text, read_source
from tests.fixtures.nbgrader_course import answer, cell, checking, notebook

ANSWER = answer("a", "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION")
LAB = "20_x"

#: A test cell with each way in which Python binds a name.
BINDINGS = {
    "except": "try:\n    f(0)\nexcept ValueError as e:\n    assert 'zero' in str(e)\nelse:\n    raise AssertionError",
    "except in a loop": "for n in [0]:\n    try:\n        f(n)\n    except (ValueError, TypeError) as e:\n        assert str(e)",
    "with": "import warnings\nwith warnings.catch_warnings(record=True) as e:\n    f(1)\nassert not e",
    "with, a tuple": "import io\nwith io.StringIO() as n, io.StringIO() as (*e,):\n    assert f(e) == e",
    "walrus": "if (e := f(3)) > 2:\n    assert e == 3",
    "walrus in a comprehension": "assert [e := f(n) for n in range(3)] == [0, 1, 2]\nassert e == 2",
    "match": "match f([1, 2, 3]):\n    case [e, *n] if n:\n        assert e == 1 and n == [2, 3]",
    "match, a mapping": "match f({'a': 1, 'b': 2}):\n    case {'a': e, **n}:\n        assert e == 1 and n == {'b': 2}",
    "comprehension": "assert all(f(e) == e for e in range(3)) and {e: f(n) for e, n in [(1, 2)]} == {1: 2}",
    "star": "e, *n = f([1, 2, 3])\nassert n == [2, 3]",
    "for, a star": "for e, *n in [f([1, 2])]:\n    assert n == [2]",
    "import": "try:\n    import math as e\nexcept ImportError:\n    e = None\nassert f(1) == 1",
    "nested definition": "if True:\n    async def e(n):\n        return n\nassert f(1) == 1",
    "nonlocal": "def e():\n    n = 0\n    def g():\n        nonlocal n\n        n += f(1)\n    g()\n    return n\nassert e() == 1",
    "del": "e = f(1)\nassert e == 1\ndel e",
    "augmented": "e = 0\nfor n in range(3):\n    e += f(n)\nassert e == 3",
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Every test has a lab of its own under the same name."""
    _forget(LAB)
    yield
    _forget(LAB)


def reasons(*cells: NotebookNode) -> list[str]:
    """Why each test cell stays in the notebook ("" where it does not)."""
    return [one.reason for one in read_cells([ANSWER, *cells])[0]]


@pytest.mark.parametrize("binding", BINDINGS)
def test_every_binding_of_a_test_cell_is_its_own_though_another_cell_binds_the_name_too(binding: str) -> None:
    test = checking("t", 1, BINDINGS[binding])
    assert reasons(test) == [""]
    if binding not in ("walrus", "walrus in a comprehension", "del"):
        demo = "for n in range(3):\n    print(f(n))\ntry:\n    f(0)\nexcept ValueError as e:\n    pass"
        assert reasons(cell("code", demo), test) == [""]


@pytest.mark.parametrize(
    "source",
    [
        "assert f(1) == n",
        "if f(1) > 2:\n    n = 1\nassert f(1) == n",
        "n += 1\nassert f(1) == n",
        "for n in range(n):\n    assert f(n) == n",
        "try:\n    assert n\nexcept ValueError as n:\n    pass\nassert f(1)",
        "match f(1):\n    case 1:\n        assert n\n    case n:\n        pass",
        "with f(n) as n:\n    assert n",
    ],
)
def test_a_name_is_not_the_test_cells_own_if_it_may_be_looked_at_first(source: str) -> None:
    found, _ = read_cells([ANSWER, cell("code", "n = f(5)"), checking("t", 1, source)])
    assert found[0].values == ("n",) or "binds n anew" in found[0].reason


@pytest.mark.parametrize(
    "binding",
    [
        "with open('x') as made:\n    pass",
        "try:\n    import numpy as made\nexcept ImportError:\n    made = None",
        "print([made := 1 for _ in [1]])",
        "match [1]:\n    case [*made]:\n        pass",
        "for _, *made in [[1]]:\n    pass",
        "def set_it():\n    global made\n    made = 1\nset_it()",
        "if True:\n    async def made(): pass",
    ],
)
def test_what_a_cell_of_the_notebook_binds_is_known(binding: str) -> None:
    [verdict], names = read_cells([ANSWER, cell("code", binding), checking("t", 1, "assert f(1) == made")])
    assert "made" in names.made and "no cell makes" not in verdict.reason


def test_an_annotation_alone_binds_nothing() -> None:
    [reason] = reasons(cell("code", "made: int"), checking("t", 1, "assert f(1) == made"))
    assert reason == "it uses made, which no cell makes"


def test_a_star_import_is_named_where_a_name_may_come_from_it() -> None:
    [reason] = reasons(cell("code", "from math import *"), checking("t", 1, "assert f(1) == sqrt(1)"))
    assert reason == "it uses sqrt, which no cell makes, unless “from math import *” does"


def read(tmp_path: Path, *cells: NotebookNode, **metadata: dict) -> NotebookNode:
    made = notebook(list(cells))
    made.metadata |= metadata
    nbformat.write(made, tmp_path / "x.ipynb")
    return read_source(tmp_path / "x.ipynb")


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("### BEGIN SOLUTION", "## END SOLUTION"),
        ("#BEGIN SOLUTION", "# END SOLUTION ####"),
        ("# BEGIN SOLUTION (3 lines)", "pass  # END SOLUTION"),
    ],
)
def test_solutions_are_marked_in_each_way_that_nbgrader_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: str, end: str
) -> None:
    source = f"def f(x):\n    {begin}\n    return x\n    {end}\n"
    made = read(tmp_path, answer("a", source), checking("t", 1, "assert f(1) == 1"))
    expected, _ = ClearSolutions().preprocess_cell(made.cells[0].copy(), {"language": "python"}, 0)
    assert _released(tmp_path, monkeypatch, made)[0].source == expected.source
    assert "return x" not in expected.source


def test_hidden_tests_are_marked_in_each_way_that_nbgrader_accepts() -> None:
    assert _shown("#BEGIN HIDDEN TESTS\n'secret'\n## END HIDDEN TESTS\nassert f(1)") == "assert f(1)"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("### BEGIN SOLUTION\nx = 1", "no end solution statement found"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION", "nested begin solution"),
    ],
)
def test_marks_that_nbgrader_refuses_are_refused_in_its_words(tmp_path: Path, source: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        read(tmp_path, answer("a", source), checking("t", 1, "assert f(1)"))


TEXTS = {
    "blanks at the end": "def f(x):\n    return x\n    \n\t",
    "only blanks": "   ",
    "newlines at the end": "x = 1\n\n\n",
    "a line of percent format": "x = 1\n# %% [markdown]\ny = 2",
    "another page": "x = 'a\x0cb\u2028c'",
    "carriage returns": "x = 1\r\ny = 2",
    "an open text": "'''never closed",
}


@pytest.mark.parametrize("kind", ["code", "markdown"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_text_that_goes_in_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, text: str
) -> None:
    given = cell(kind, "", "given", locked=True)
    given.source = TEXTS[text]
    plain = (nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell)(TEXTS[text])
    made = notebook([given, plain, ANSWER, checking("t", 1, "assert f(1) == 1")])
    released = _released(tmp_path, monkeypatch, made)
    assert [one.source for one in read_master(LAB).cells] == [one.source for one in made.cells]
    assert [one.source for one in released[:2]] == [TEXTS[text]] * 2


def _released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: NotebookNode) -> list[NotebookNode]:
    """The cells that students get of an imported notebook."""
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    master = tmp_path / "solutions" / LAB / f"{LAB}.py"
    master.parent.mkdir(parents=True)
    master.write_text(master_text(made, LAB, "hw/x", False), encoding="utf-8", newline="")
    return list(released_notebook(LAB).cells)


def test_a_released_notebook_is_called_that(tmp_path: Path) -> None:
    stub = answer("a", "def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()")
    with pytest.raises(UserError, match="is a released notebook"):
        read(tmp_path, stub, checking("t", 1, "assert f(1) == 1"))
    own_stub = answer("a", "def f(x):\n    ...  # your turn")
    own_stub, _ = ComputeChecksums().preprocess_cell(own_stub, {}, 0)
    with pytest.raises(UserError, match="is a released notebook"):
        read(tmp_path, own_stub, checking("t", 1, "assert f(1) == 1"))
    own_stub.source = "def f(x):\n    return x"  # somebody made a source of a released notebook
    read(tmp_path, own_stub, checking("t", 1, "assert f(1) == 1"))


@pytest.mark.parametrize(
    "source",
    [
        "# Initialize Otter\nimport otter\ngrader = otter.Notebook('hw.ipynb')",
        "# ASSIGNMENT CONFIG\nname: hw01",
        "# BEGIN QUESTION\nname: q1",
    ],
)
def test_a_notebook_of_otter_graders_is_called_that(tmp_path: Path, source: str) -> None:
    with pytest.raises(UserError, match="for otter-grader"):
        read(tmp_path, cell("code", source), cell("code", "# BEGIN SOLUTION\nx = 1\n# END SOLUTION"))
    with pytest.raises(UserError, match="for otter-grader"):
        read(tmp_path, cell("code", "x = 1"), otter={"OK_FORMAT": True})
