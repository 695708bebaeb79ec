"""A notebook tells which lab it is and a master where its minutes go; a build refuses a lab that takes too much, waits or stops."""

from __future__ import annotations

import re
from unittest.mock import Mock

import nbformat
import pytest
from coursekit.notebook.progress import say
from nbclient.exceptions import CellTimeoutError

from autograder.course import build
from autograder.course.masters import (
    _cell_names,
    all_labs,
    course_header,
    course_root,
    lab_as_written,
    master_path,
    other_lab,
)


@pytest.mark.parametrize("own", all_labs())
def test_a_notebook_handed_in_for_any_other_lab_is_called_its_own(own):
    raw = (course_root() / "notebooks" / own / f"{own}.ipynb").read_bytes()
    assert {lab: other_lab(raw, lab) for lab in all_labs()} == dict.fromkeys(all_labs(), own) | {own: ""}


def test_an_imported_labs_notebook_is_its_own_beside_a_lab_with_a_cell_of_that_name(monkeypatch, tmp_path):
    headers = {
        "00_warm_up": 'question="softmax"',
        "14_problem": 'nbgrader={"grade": false, "grade_id": "softmax", "solution": true}',
    }
    for lab, header in headers.items():
        (tmp_path / "solutions" / lab).mkdir(parents=True)
        (tmp_path / "solutions" / lab / f"{lab}.py").write_text(f"# %% {header}\n")
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    _cell_names.cache_clear()
    raw = b'{"grade_id": "softmax"}'
    assert [other_lab(raw, lab) for lab in headers] == ["", ""]
    _cell_names.cache_clear()


_LINE = re.compile(r"\*(\d+) minutes: (\d+) for [^*]+?, (\d+) for [^*]+?, (\d+) to read")
_HEADING = re.compile(r"^# #{2,3} (?!Optional)(.*) \((\d+) minutes")


def test_the_minutes_of_each_lab_add_up():
    for lab in all_labs():
        text = master_path(lab).read_text(encoding="utf-8")
        line = _LINE.search(" ".join(text.replace("\n# ", " ").split()))
        assert line, f"lab {lab} does not say where its minutes go"
        total, functions, words, reading = map(int, line.groups())
        assert course_header(lab)["minutes"] == total == functions + words + reading, lab
        questions = [name for name, _ in lab_as_written(lab).questions]
        counted = {True: 0, False: 0}
        for heading in map(_HEADING.match, text.splitlines()):
            if heading:
                counted[any(f"`{name}`" in heading[1] for name in questions)] += int(heading[2])
        assert counted == {True: functions, False: words}, lab


@pytest.mark.parametrize(
    "line", ["", "This cell stopped with ValueError: no", "This cell waits: the check of one_hot"]
)
def test_a_line_that_a_cell_waited_or_stopped_is_drift(line, monkeypatch, tmp_path, capsys):
    notebook = nbformat.read(build.solution_notebook("00_warm_up"), as_version=4)
    if line:
        say(line)
        output = nbformat.v4.new_output("stream", text=capsys.readouterr().out)
        next(cell for cell in notebook.cells if cell.cell_type == "code").outputs.append(output)
    nbformat.write(notebook, tmp_path / "built.ipynb")
    monkeypatch.setattr(build, "solution_notebook", lambda lab: tmp_path / "built.ipynb")
    assert ("holds a cell that waited or stopped" in build.drift_of("00_warm_up")) == bool(line)


def test_a_cell_over_its_time_ends_the_run_and_the_cost_is_measured_and_leaves_no_trace(tmp_path):
    slow = nbformat.v4.new_code_cell("import time\nheld = bytearray(300_000_000)\ntime.sleep(4)", id="slow")
    skipped = nbformat.v4.new_code_cell("time.sleep(4)", id="figure", metadata={"tags": ["skip-grading"]})
    with pytest.raises(CellTimeoutError, match="after 3 seconds"):
        build.execute(nbformat.v4.new_notebook(cells=[slow.copy()]), tmp_path, 3)
    quick = nbformat.v4.new_code_cell(slow.source.replace("4", "0"), id="quick")
    notebook = nbformat.v4.new_notebook(cells=[quick, skipped])
    cpu_seconds, memory_bytes = build.execute(notebook, tmp_path, 3)
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
        build.build("00_warm_up", force=True)
