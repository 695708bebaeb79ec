"""``hand_in()`` packs the file and nothing else, and says in words what the file holds."""

from __future__ import annotations

import zipfile
from pathlib import Path

import nbformat
from coursekit import check, hand_in, start

from autograder.course.build import released_notebook

LAB = "00_warm_up"
FILE = f"{LAB}.ipynb"


def test_a_notebook_is_packed_though_not_all_is_done_but_not_when_it_is_damaged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JPY_SESSION_NAME", "work/Untitled.ipynb")
    start(LAB)
    words = repr(hand_in())
    assert f"There is no file `{FILE}`" in words
    assert "This notebook is called `Untitled.ipynb`: give it back its original name" in words
    Path(FILE).write_text("{", encoding="utf-8")
    assert "cannot be read as a notebook" in repr(hand_in())
    assert not Path(f"{LAB}.zip").exists()
    check("softmax", lambda x: x)
    notebook = released_notebook(LAB)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    cells["softmax"].source = "def softmax(x):\n    return x"
    cells["lookup"].source = "def lookup(H, E):\n    return H @ E"
    cells["why_one_hot"].source = "Ids are names."
    notebook.cells.remove(cells["cross_entropy"])
    nbformat.write(notebook, FILE)
    words = repr(hand_in())
    assert words.startswith(f"{LAB}.zip is ready to hand in")
    for line in (
        "○ one_hot: not written yet",
        "✓ lookup: written, but not checked since the notebook was started",
        "✓ why_one_hot: answered in words",
        "✓ softmax: written; 1 of 8 public",
        "○ cross_entropy: its cell is missing",
    ):
        assert line in words
    with zipfile.ZipFile(f"{LAB}.zip") as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {FILE: Path(FILE).read_bytes()}
