"""A notebook of format 3 is read without nbformat's conversion, whose time grows with its outputs."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.grading.repair import parse
from autograder.grading.submissions import Unreadable

CELLS = [
    {"cell_type": "code", "input": ["x = 1\n", "y = 2"]},
    {"cell_type": "code", "input": ["def f():", "    pass"]},
    {"cell_type": "code", "input": "x", "outputs": [{"output_type": "stream", "text": "1"}]},
    {"cell_type": "markdown", "source": "Some *text*.", "metadata": {"nbgrader": {"grade_id": "why"}}},
    {"cell_type": "heading", "level": 2, "source": "A heading"},
    {"cell_type": "raw", "source": "as it is"},
    {"cell_type": "html", "source": ["<b>\n", "bold</b>"]},
]
OF_CODE = {"language": "python", "outputs": []}
CELLS = [{"metadata": {}, **(OF_CODE if cell["cell_type"] == "code" else {}), **cell} for cell in CELLS]


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


def test_nbformat_converts_no_notebook_of_a_student_and_a_cell_of_any_form_is_read(monkeypatch):
    monkeypatch.setattr(nbformat, "reads", None)
    odd: list[dict[str, object]] = [
        {"cell_type": "heading", "level": 10**9, "source": "far down"},
        {"cell_type": "heading", "level": "2", "source": ["far", 2, None]},
        {"cell_type": "heading", "source": {"no": "text"}},
        {"cell_type": "code", "input": 7},
        {"cell_type": ["code"]},
    ]
    for cell in odd:
        [read] = parse(_file({"cells": [cell, 3, None]}))
        assert isinstance(read["source"], str) and len(read["source"]) < 100, cell
    for worksheets in ([], [7], [{"cells": 5}], [{}], [[]]):
        with pytest.raises(Unreadable, match="no cells"):
            parse(_file(*worksheets))
