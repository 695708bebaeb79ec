"""A built notebook in which a figure's cell waited or stopped is no finished one."""

from __future__ import annotations

import nbformat
import pytest
from coursekit.notebook.progress import say

from autograder.course import build

LAB = "00_warm_up"


@pytest.mark.parametrize(
    "line", ["", "This cell stopped with ValueError: no", "This cell waits: the check of one_hot"]
)
def test_a_line_that_a_cell_waited_or_stopped_is_drift(line, monkeypatch, tmp_path, capsys):
    notebook = nbformat.read(build.solution_notebook(LAB), as_version=4)
    if line:
        say(line)
        output = nbformat.v4.new_output("stream", text=capsys.readouterr().out)
        next(cell for cell in notebook.cells if cell.cell_type == "code").outputs.append(output)
    nbformat.write(notebook, tmp_path / "built.ipynb")
    monkeypatch.setattr(build, "solution_notebook", lambda lab: tmp_path / "built.ipynb")
    assert ("holds a cell that waited or stopped" in build.check(LAB).drift) == bool(line)
