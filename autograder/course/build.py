"""Builds notebooks from masters: the executed instructor's copy, and the student's by nbgrader's preprocessors."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearMarkScheme,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)

from autograder.course.masters import course_root, is_skipped, read_master, source_of_import
from autograder.course.policy_file import limits_of
from autograder.course.student_files import data_files
from autograder.errors import UserError
from autograder.files import write_atomically

#: Seconds that a cell of a lab may compute before the build gives up.
CELL_SECONDS = 600
#: The beginning of the line that ``until_written`` shows in place of a cell's results.
_WAITED = "○ This cell "
#: The most CPU time and memory of a lab on a student's machine: a minute on two cores, and room for a browser.
CPU_SECONDS = 120.0
MEMORY_BYTES = 1_500_000_000

#: The last cell of an executed master: prints its kernel's CPU time and memory (0 on Windows, without ``resource``).
_MEASURE = """import json, sys, time
try:
    import resource
    _used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([time.process_time(), _used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)]))
except ImportError:
    print(json.dumps([time.process_time(), 0]))"""


def solution_notebook(lab: str) -> Path:
    """The executed instructor's notebook."""
    return course_root() / "solutions" / lab / f"{lab}.ipynb"


def student_notebook(lab: str) -> Path:
    """The notebook a student receives."""
    return course_root() / "notebooks" / lab / f"{lab}.ipynb"


def released_notebook(lab: str) -> NotebookNode:
    """The student's version of a lab: without solutions, hidden tests and outputs, with checksums."""
    notebook = copy.deepcopy(read_master(lab))
    resources: dict[str, Any] = {"nbgrader": {"notebook": lab}}
    for step in (LockCells, ClearSolutions, ClearOutputPreprocessor, ClearHiddenTests, ClearMarkScheme):
        notebook, resources = step(parent=None).preprocess(notebook, resources)
    for cell in notebook.cells:
        cell.source = cell.source if source_of_import(lab) else cell.source.rstrip("\n")
    released: NotebookNode
    released, _ = ComputeChecksums().preprocess(notebook, resources)
    return released


def execute(notebook: NotebookNode, folder: Path, graded_seconds: float = CELL_SECONDS) -> list[float]:
    """Run every cell in a new kernel, keeping the outputs. Returns the CPU seconds and the bytes of memory.

    A cell that grading runs has ``graded_seconds``. Raises nbclient's ``CellExecutionError`` and ``CellTimeoutError``.
    """
    from nbclient import NotebookClient

    notebook.cells.append(nbformat.v4.new_code_cell(_MEASURE))
    NotebookClient(
        notebook,
        timeout_func=lambda cell: CELL_SECONDS if is_skipped(cell) else graded_seconds,
        record_timing=False,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute(env={**os.environ, "COURSEKIT_DRAWS_SLIDES": "1"})
    used: list[float] = json.loads(notebook.cells.pop().outputs[0].text)
    return used


def build(lab: str, *, force: bool = False) -> tuple[bool, str]:
    """Write both notebooks of a lab. Execute the master only if a source changed since the last build, or with ``force``.

    Returns whether the master was executed, and the fault of the notebooks ("" for none).
    """
    from nbclient.exceptions import CellExecutionError, CellTimeoutError  # slow: loads Jupyter's client

    master = read_master(lab)
    target = solution_notebook(lab)
    stale = force or bool(_drift_of_solution(lab))
    if stale:
        executed, refused = copy.deepcopy(master), ""
        try:
            with _where_it_runs(lab) as folder:
                seconds, memory = execute(executed, folder, limits_of(lab).cell_seconds)
            if seconds > CPU_SECONDS or memory > MEMORY_BYTES:
                refused = (
                    f"it computes for {seconds:.0f} s of CPU time and takes {memory / 1e9:.1f} GB of memory; "
                    f"{CPU_SECONDS:g} s and {MEMORY_BYTES / 1e9:g} GB are allowed, so nothing was written."
                )
        except CellTimeoutError as error:
            refused = f"grading would stop a cell, so nothing was written. {error}"
        except CellExecutionError as error:
            cell = str(error).partition("------------------\n")[2].partition("------------------")[0]
            refused = f"a cell raises {error.ename}: {error.evalue}; nothing was written. The cell:\n{cell}"
        if refused:
            raise UserError(f"solutions/{lab}/{lab}.py: {refused}")
        write_atomically(target, nbformat.writes(executed) + "\n")
    write_atomically(student_notebook(lab), nbformat.writes(released_notebook(lab)) + "\n")
    return stale, _drift_of_solution(lab)


@contextlib.contextmanager
def _where_it_runs(lab: str) -> Iterator[Path]:
    """The folder in which a master is executed: its own; for an imported lab, a copy of the files beside the notebook."""
    if not source_of_import(lab):
        yield solution_notebook(lab).parent
        return
    with tempfile.TemporaryDirectory(prefix="building-") as folder:
        for files in data_files(lab):
            shutil.copytree(files, folder, dirs_exist_ok=True)
        yield Path(folder)


def drift_of(lab: str) -> str:
    """How the built notebooks differ from the master ("" if they do not). Executes nothing."""
    return _drift_of_solution(lab) or _drift(student_notebook(lab), released_notebook(lab))


def _drift_of_solution(lab: str) -> str:
    target = solution_notebook(lab)
    if drift := _drift(target, read_master(lab)):
        return drift
    for cell in nbformat.read(target, as_version=4).cells:
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            return f"solutions/{lab}/{target.name} holds an error"
        if _WAITED in str(cell.get("outputs", "")):
            return f"solutions/{lab}/{target.name} holds a cell that waited or stopped: {cell.source[:60]!r}"
    return ""


def _drift(target: Path, expected: NotebookNode) -> str:
    place = "/".join(target.parts[-3:])
    if not target.exists():
        return f"{place} is not built"
    is_same = _essence(nbformat.read(target, as_version=4)) == _essence(expected)
    return "" if is_same else f"{place} differs from its master"


def _essence(notebook: NotebookNode) -> list[tuple[str, str, Any]]:
    return [(cell.cell_type, cell.source.rstrip("\n"), dict(cell.metadata)) for cell in notebook.cells]
