"""From masters to notebooks: the executed instructor's copy, and the student's through nbgrader's preprocessors."""

from __future__ import annotations

import copy
from dataclasses import dataclass
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

from autograder.course.masters import course_root, read_master
from autograder.files import write_atomically

#: A cell of a lab may compute this long before the build gives up on it.
CELL_SECONDS = 600
#: How the line begins that ``until_written`` shows in place of a cell's results.
_WAITED = "○ This cell "


@dataclass(frozen=True)
class Built:
    """What a build did for one lab, and what is wrong with the notebooks ("" when nothing)."""

    lab: str
    executed: bool
    drift: str = ""


def solution_notebook(lab: str) -> Path:
    """The executed instructor's notebook."""
    return course_root() / "solutions" / lab / f"{lab}.ipynb"


def student_notebook(lab: str) -> Path:
    """The notebook a student receives."""
    return course_root() / "notebooks" / lab / f"{lab}.ipynb"


def released_notebook(lab: str) -> NotebookNode:
    """The student's version of a lab: solutions, hidden tests and outputs gone, checksums in place."""
    notebook = copy.deepcopy(read_master(lab))
    resources: dict[str, Any] = {"nbgrader": {"notebook": lab}}
    steps = (
        LockCells,
        ClearSolutions,
        ClearOutputPreprocessor,
        ClearHiddenTests,
        ClearMarkScheme,
        ComputeChecksums,
    )
    for step in steps:
        notebook, resources = step(parent=None).preprocess(notebook, resources)
    for cell in notebook.cells:
        cell.source = cell.source.rstrip("\n")
    released: NotebookNode
    released, _ = ComputeChecksums().preprocess(notebook, resources)
    return released


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run every cell in a fresh kernel, outputs kept. Raises nbclient's ``CellExecutionError``."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook, timeout=CELL_SECONDS, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def build(lab: str, *, force: bool = False) -> Built:
    """Write both notebooks of a lab; execute only when a source changed since the last build, or ``force``."""
    master = read_master(lab)
    target = solution_notebook(lab)
    stale = force or bool(_drift_of_solution(lab))
    if stale:
        executed = execute(copy.deepcopy(master), target.parent)
        write_atomically(target, nbformat.writes(executed) + "\n")
    write_atomically(student_notebook(lab), nbformat.writes(released_notebook(lab)) + "\n")
    return Built(lab, stale, _drift_of_solution(lab))


def check(lab: str) -> Built:
    """Whether the built notebooks are what the master says, without executing anything."""
    drift = _drift_of_solution(lab) or _drift_of_release(lab)
    return Built(lab, False, drift)


def _drift_of_solution(lab: str) -> str:
    target = solution_notebook(lab)
    if not target.exists():
        return f"{target.name} in solutions is not built"
    built = nbformat.read(target, as_version=4)
    if _essence(built) != _essence(read_master(lab)):
        return f"solutions/{lab}/{target.name} differs from its master"
    for cell in built.cells:
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            return f"solutions/{lab}/{target.name} holds an error"
        if _WAITED in str(cell.get("outputs", "")):
            return f"solutions/{lab}/{target.name} holds a cell that waited or stopped: {cell.source[:60]!r}"
    return ""


def _drift_of_release(lab: str) -> str:
    target = student_notebook(lab)
    if not target.exists():
        return f"notebooks/{lab}/{target.name} is not built"
    if _essence(nbformat.read(target, as_version=4)) != _essence(released_notebook(lab)):
        return f"notebooks/{lab}/{target.name} differs from its master"
    return ""


def _essence(notebook: NotebookNode) -> list[tuple[str, str, Any]]:
    return [(cell.cell_type, cell.source.rstrip("\n"), dict(cell.metadata)) for cell in notebook.cells]
