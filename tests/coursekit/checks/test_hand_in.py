"""``hand_in()`` packs the file and nothing else, and says in words what the file holds."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import nbformat
import pytest
from coursekit import check, hand_in, start
from nbformat.notebooknode import NotebookNode

from autograder.course.build import released_notebook

LAB = "00_warm_up"
FILE = f"{LAB}.ipynb"


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NotebookNode:
    """The empty lab, started in its folder, and not saved there yet."""
    monkeypatch.chdir(tmp_path)
    start(LAB)
    return released_notebook(LAB)


def said(notebook: NotebookNode) -> str:
    """What ``hand_in()`` says once the notebook is saved."""
    nbformat.write(notebook, FILE)
    return repr(hand_in())


def answer(notebook: NotebookNode, name: str, source: str) -> None:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == name:
            cell.source = source


def test_what_is_not_done_yet_is_said_and_the_file_is_packed_all_the_same(notebook: NotebookNode) -> None:
    check("softmax", lambda x: x)
    answer(notebook, "softmax", "def softmax(x):\n    return x")
    answer(notebook, "lookup", "def lookup(H, E):\n    return H @ E")
    cells = (c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "cross_entropy")
    notebook.cells.remove(next(cells))
    answer(notebook, "why_one_hot", "Ids are names.")
    words = said(notebook)
    assert words.startswith(f"{LAB}.zip is ready to hand in")
    assert "○ one_hot: not written yet" in words
    assert "✓ lookup: written, but not checked since the notebook was started" in words
    assert "✓ why_one_hot: answered in words" in words
    assert "✓ softmax: written; 1 of 8 public" in words and "○ cross_entropy: its cell is missing" in words
    with zipfile.ZipFile(f"{LAB}.zip") as packed:
        assert packed.namelist() == [FILE]
        assert packed.read(FILE) == Path(FILE).read_bytes()


def test_a_renamed_or_damaged_notebook_is_not_packed_but_told_why(
    notebook: NotebookNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "work/Untitled.ipynb")
    words = repr(hand_in())
    assert f"There is no file `{FILE}`" in words
    assert "This notebook is called `Untitled.ipynb`: give it back its original name" in words
    Path(FILE).write_text("{", encoding="utf-8")
    assert "cannot be read as a notebook" in repr(hand_in())
    assert not os.path.exists(f"{LAB}.zip")
