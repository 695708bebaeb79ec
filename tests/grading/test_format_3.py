"""A notebook of format 3 is read without nbformat's conversion, whose time grows with its outputs."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.grading.repair import parse
from autograder.grading.submissions import Unreadable

CELLS = [
    {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python", "outputs": [], "metadata": {}},
    {
        "cell_type": "code",
        "input": ["def f():", "    pass"],
        "language": "python",
        "outputs": [],
        "metadata": {},
    },
    {
        "cell_type": "code",
        "input": "x",
        "language": "python",
        "outputs": [{"output_type": "stream", "text": "1"}],
        "metadata": {},
    },
    {"cell_type": "markdown", "source": "Some *text*.", "metadata": {"nbgrader": {"grade_id": "why"}}},
    {"cell_type": "heading", "level": 2, "source": "A heading", "metadata": {}},
    {"cell_type": "raw", "source": "as it is", "metadata": {}},
    {"cell_type": "html", "source": ["<b>\n", "bold</b>"], "metadata": {}},
]


def _file(*worksheets: object) -> bytes:
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": worksheets}).encode()


def test_cells_are_read_as_nbformat_converts_them():
    raw = _file({"cells": CELLS[:2]}, {"cells": CELLS[2:]})
    converted = nbformat.reads(raw.decode(), as_version=4)
    read = parse(raw)
    assert [(cell["kind"], cell["source"].rstrip()) for cell in read] == [
        (cell.cell_type, cell.source) for cell in converted.cells
    ]
    assert [cell["grade_id"] for cell in read] == [None, None, None, "why", None, None, None]


def test_nbformat_converts_no_notebook_of_a_student(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(nbformat, "reads", None)
    assert len(parse(_file({"cells": CELLS}))) == len(CELLS)


@pytest.mark.parametrize(
    "cell",
    [
        {"cell_type": "heading", "level": 10**9, "source": "far down"},
        {"cell_type": "heading", "level": "2", "source": ["far", 2, None]},
        {"cell_type": "heading", "source": {"no": "text"}},
        {"cell_type": "code", "input": 7},
        {"cell_type": ["code"]},
    ],
)
def test_a_cell_of_any_form_is_read(cell: dict[str, object]):
    [read] = parse(_file({"cells": [cell, 3, None]}))
    assert isinstance(read["source"], str) and len(read["source"]) < 100


@pytest.mark.parametrize("worksheets", [[], [7], [{"cells": 5}], [{}], [[]]])
def test_worksheets_without_cells_are_unreadable(worksheets: list[object]):
    with pytest.raises(Unreadable, match="no cells"):
        parse(_file(*worksheets))
