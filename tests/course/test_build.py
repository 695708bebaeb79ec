"""What a build refuses: a lab over its time or memory, and a notebook in which a cell waited or stopped."""

from __future__ import annotations

import nbformat
import pytest
from coursekit.notebook.progress import say

from autograder.course import build
from autograder.course.build import Usage, execute, too_costly

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


@pytest.mark.parametrize(
    ("used", "sentence"),
    [
        (Usage(1, 1, {"setup": 20}), "the cell setup computes for 20 s, and grading stops it after 15 s"),
        (Usage(1, 1, {str(i): 14 for i in range(9)}), "its graded cells compute for 126 s"),
        (Usage(130, 1, {}), "it computes for 130 s of CPU time; 120 s are allowed"),
        (Usage(1, 2e9, {}), "it takes 2.0 GB of memory; 1.5 GB are allowed"),
    ],
)
def test_a_lab_over_its_time_or_memory_is_refused(used, sentence):
    assert [sentence in found for found in too_costly(LAB, used)] == [True]


def test_a_lab_within_its_limits_is_not():
    assert too_costly(LAB, Usage(100, 1e9, {"setup": 10})) == []


def test_what_a_notebook_took_is_measured_and_leaves_no_trace(tmp_path):
    slow = nbformat.v4.new_code_cell("import time\nheld = bytearray(300_000_000)\ntime.sleep(0.5)", id="slow")
    figure = nbformat.v4.new_code_cell("time.sleep(0.2)", id="figure", metadata={"tags": ["skip-grading"]})
    notebook = nbformat.v4.new_notebook(cells=[slow, figure])
    used = execute(notebook, tmp_path)
    assert list(used.graded) == ["slow"] and used.graded["slow"] >= 0.5
    assert used.memory_bytes > 300_000_000 and 0 < used.cpu_seconds < 60
    assert [cell.id for cell in notebook.cells] == ["slow", "figure"]
    assert all("execution" not in cell.metadata for cell in notebook.cells)


def test_nothing_is_written_when_a_lab_takes_too_much(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "execute", lambda *_: Usage(1, 9e9, {}))
    monkeypatch.setattr(build, "write_atomically", lambda *_: pytest.fail("it was written"))
    with pytest.raises(build.UserError, match=r"9\.0 GB of memory"):
        build.build(LAB, force=True)
