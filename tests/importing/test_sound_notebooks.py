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
from autograder.importing.notebook import master_text, read_source
from tests.fixtures.nbgrader_course import answer, cell, checking, notebook

ANSWER = answer("a", "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION")
LAB = "20_x"


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Every test has a lab of its own under the same name."""
    _forget(LAB)
    yield
    _forget(LAB)


def read(tmp_path: Path, *cells: NotebookNode, **metadata: dict) -> NotebookNode:
    made = notebook(list(cells))
    made.metadata |= metadata
    nbformat.write(made, tmp_path / "x.ipynb")
    return read_source(tmp_path / "x.ipynb")


MARKS = {
    "### BEGIN SOLUTION": "## END SOLUTION",
    "#BEGIN SOLUTION": "# END SOLUTION ####",
    "# BEGIN SOLUTION (3 lines)": "pass  # END SOLUTION",
}


def test_solutions_are_marked_in_each_way_that_nbgrader_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        answer(f"a{number}", f"def f(x):\n    {begin}\n    return x\n    {end}\n")
        for number, (begin, end) in enumerate(MARKS.items())
    ]
    made = read(tmp_path, *answers, checking("t", 1, "assert f(1) == 1"))
    for one, released in zip(made.cells[:3], _released(tmp_path, monkeypatch, made), strict=False):
        expected, _ = ClearSolutions().preprocess_cell(one.copy(), {"language": "python"}, 0)
        assert released.source == expected.source and "return x" not in expected.source


def test_marks_that_nbgrader_refuses_are_refused_in_its_words(tmp_path: Path) -> None:
    for source, why in (
        ("### BEGIN SOLUTION\nx = 1", "no end solution statement found"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION", "nested begin solution"),
    ):
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


def test_the_text_that_goes_in_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = []
    for number, text in enumerate(TEXTS.values()):
        for kind in ("code", "markdown"):
            given = cell(kind, "", f"given_{kind}_{number}", locked=True)
            plain = (nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell)(text)
            given.source = text
            cells += [given, plain]
    made = notebook([*cells, ANSWER, checking("t", 1, "assert f(1) == 1")])
    released = _released(tmp_path, monkeypatch, made)
    for one, other, back in zip(made.cells, read_master(LAB).cells, released, strict=True):
        assert one.source == other.source and one.metadata.get("nbgrader") == other.metadata.get("nbgrader")
        assert back.source == one.source or one.metadata.get("nbgrader", {}).get("solution")


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
