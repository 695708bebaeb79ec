"""What a build refuses: a lab over its time or memory, and a notebook in which a cell waited or stopped."""

from __future__ import annotations

from unittest.mock import Mock

import nbformat
import pytest
from coursekit.notebook.progress import say
from nbclient.exceptions import CellTimeoutError

from autograder.course import build
from autograder.course.build import execute

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
    assert ("holds a cell that waited or stopped" in build.drift_of(LAB)) == bool(line)


def test_a_cell_over_its_time_ends_the_run_and_the_cost_is_measured_and_leaves_no_trace(tmp_path):
    slow = nbformat.v4.new_code_cell("import time\nheld = bytearray(300_000_000)\ntime.sleep(4)", id="slow")
    skipped = nbformat.v4.new_code_cell("time.sleep(4)", id="figure", metadata={"tags": ["skip-grading"]})
    with pytest.raises(CellTimeoutError, match="after 3 seconds"):
        execute(nbformat.v4.new_notebook(cells=[slow.copy()]), tmp_path, 3)
    quick = nbformat.v4.new_code_cell(slow.source.replace("4", "0"), id="quick")
    notebook = nbformat.v4.new_notebook(cells=[quick, skipped])
    cpu_seconds, memory_bytes = execute(notebook, tmp_path, 3)
    assert memory_bytes > 300_000_000 and 0 < cpu_seconds < 60
    assert [cell.id for cell in notebook.cells] == ["quick", "figure"]
    assert all("execution" not in cell.metadata for cell in notebook.cells)


@pytest.mark.parametrize(
    ("used", "sentence"),
    [
        ([130, 1], "it computes for 130 s of CPU time .*; 120 s and 1.5 GB are allowed"),
        ([1, 9e9], "takes 9.0 GB of memory"),
        (CellTimeoutError("A cell timed out."), "grading would stop a cell"),
    ],
)
def test_nothing_is_written_when_a_lab_takes_too_much(monkeypatch, used, sentence):
    monkeypatch.setattr(build, "execute", Mock(side_effect=[used]))
    monkeypatch.setattr(build, "write_atomically", lambda *_: pytest.fail("it was written"))
    with pytest.raises(build.UserError, match=sentence):
        build.build(LAB, force=True)
