"""Reads an nbgrader source notebook and writes it as a master."""

from __future__ import annotations

import copy
import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.utils import compute_checksum, is_solution

from autograder.course.masters import KERNEL
from autograder.errors import UserError
from autograder.judging.movable import GradedCell

#: The two lines with which nbgrader replaces an answer.
_STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
#: The most points of a cell, and the most characters of its name.
_MOST_POINTS, _LONGEST_NAME = 1_000_000.0, 100


def read_source(path: Path) -> NotebookNode:
    """The notebook with nbgrader's metadata in the newest form. Raises ``UserError`` for other files and languages."""
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)  # silences nbformat's reports
    try:
        notebook: NotebookNode = nbformat.reads(path.read_text(encoding="utf-8-sig"), as_version=4)
        return _checked(MetadataValidator().upgrade_notebook_metadata(notebook), path)
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"The notebook {path} cannot be read: {error.strerror}.") from None
    except (Exception, ValidationError) as error:  # parts of wrong types raise undocumented errors
        why = str(error).partition("\n")[0][:200] or type(error).__name__
        raise UserError(f"{path} is no notebook that nbgrader can read: {why}.") from None


def _checked(notebook: NotebookNode, path: Path) -> NotebookNode:
    kernel = notebook.metadata.get("kernelspec", {}).get("language")
    language = kernel or notebook.metadata.get("language_info", {}).get("name")
    if str(language or "python").lower() != "python":
        raise UserError(f"{path} is written in {language}: only Python notebooks can be imported.")
    for cell in notebook.cells:
        data = cell.metadata.get("nbgrader", {})
        if not any(data.get(role) for role in ("grade", "solution", "locked", "task")):
            cell.metadata.pop("nbgrader", None)  # nbgrader's toolbar leaves such metadata on an ordinary cell
    MetadataValidator().validate_nb(notebook)
    if fault := next(_faults(notebook), ""):
        raise UserError(f"{path} {fault}")
    if any("AUTOTEST" in cell.source for cell in _graded(notebook)):
        _write_autotests(notebook, path)
    for data in (cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata):
        if data.get("grade") or data.get("task"):
            data["points"] = float(data.points)
        if data.get("grade") and not data.get("solution"):
            data["locked"] = True  # nbgrader restores every test cell, locked or not
    return notebook


def _graded(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]


def _faults(notebook: NotebookNode) -> Iterator[str]:
    """Yield the end of a sentence for each reason against a notebook: no source, or what would be graded wrongly."""
    from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions

    if not _graded(notebook):
        yield "has no cell with points: is it nbgrader's source notebook, with its solutions and tests?"
    answers = [cell for cell in notebook.cells if cell.cell_type == "code" and is_solution(cell)]
    if answers and all(map(_is_as_released, answers)):
        yield "is a released notebook, whose solutions nbgrader took out: give the source notebook, which has them."
    for cell in notebook.cells:
        for step in (ClearSolutions, ClearHiddenTests, ClearMarkScheme):
            try:
                step().preprocess_cell(copy.deepcopy(cell), {"language": "python"}, 0)
            except RuntimeError as error:
                begins = cell.source.strip().partition("\n")[0][:60]
                why = " ".join(str(error).split())[:200].rstrip(".")
                yield f"has a cell that nbgrader refuses, which begins “{begins}”: {why}."
        data = cell.metadata.get("nbgrader", {})
        if len(name := data.get("grade_id", "")) > _LONGEST_NAME:
            yield f"names a cell “{name[:80]}…”: a name has at most {_LONGEST_NAME} characters."
        if (data.get("grade") or data.get("task")) and not data.points <= _MOST_POINTS:
            yield f"gives the cell “{name}” more than a million points."
    words = Counter(cell.metadata.nbgrader.grade_id.removeprefix("test_") for cell in _graded(notebook))
    if both := sorted(word for word, times in words.items() if times > 1):
        yield f"has graded cells “{both[0]}” and “test_{both[0]}”: give one of them another name."


def _is_as_released(cell: NotebookNode) -> bool:
    """Whether an answer cell is as released: it has the checksum of the released cell, or nbgrader's two lines."""
    lines = [line.strip() for line in cell.source.splitlines()]
    is_unchanged = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
    return is_unchanged or all(line in lines for line in _STUB)


def _write_autotests(notebook: NotebookNode, path: Path) -> None:
    """Replace ``### AUTOTEST`` lines by nbgrader's tests from the course's templates."""
    from nbgrader.preprocessors import InstantiateTests

    places = [folder / "autotests.yml" for folder in path.resolve().parents]
    if (templates := next(filter(Path.is_file, places), None)) is None:
        raise UserError(
            f"{path} has ### AUTOTEST lines, whose templates (autotests.yml) lie in no folder above it."
        )
    notebook.metadata["kernelspec"] = nbformat.from_dict(KERNEL)
    maker = InstantiateTests(autotest_filename=templates.name)
    resources: dict[str, Any] = {"metadata": {"path": str(templates.parent)}, "nbgrader": {}}
    try:
        made, _ = maker.preprocess(copy.deepcopy(notebook), resources)
    except Exception as error:
        raise UserError(
            f"nbgrader cannot write the tests for the ### AUTOTEST lines of {path}: {error}."
        ) from None
    notebook.cells = made.cells


def master_text(
    notebook: NotebookNode, lab: str, source: str, data: bool, cells: Sequence[GradedCell] = ()
) -> str:
    """The master of an imported lab: the notebook's cells in percent format, with unchanged nbgrader metadata.

    The header names the test ``cells`` that run outside the student's process.
    """
    import jupytext

    plain = nbformat.v4.new_notebook()
    for cell in notebook.cells:
        metadata = {key: cell.metadata[key] for key in ("nbgrader", "tags") if cell.metadata.get(key)}
        new_cell = getattr(nbformat.v4, f"new_{cell.cell_type}_cell")
        texts = (cell.source, cell.source.rstrip(), "")
        text = next(text for text in texts if _survives(new_cell(text)))
        rest = {"rest": cell.source[len(text) :]} if text != cell.source else {}
        plain.cells.append(new_cell(text, metadata=metadata | rest))
    outside = [cell for cell in cells if not cell.reason]
    entries = {
        "nbgrader": source,
        "data": [lab] if data else [],
        "outside": [cell.grade_id for cell in outside],
        "in_place": [cell.grade_id for cell in outside if cell.in_place],
    }
    lines = [
        f"#     {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items() if value
    ]
    body: str = jupytext.writes(plain, fmt="py:percent")
    return "\n".join(["# ---", "# jupyter:", "#   course:", *lines, "# ---", "", body[body.index("# %%") :]])


def _survives(cell: NotebookNode) -> bool:
    """Whether the percent format keeps a cell and the next one unchanged."""
    import jupytext

    following = nbformat.v4.new_code_cell("following = True")
    text = jupytext.writes(nbformat.v4.new_notebook(cells=[cell, following]), fmt="py:percent")
    again = [(one.cell_type, one.source) for one in jupytext.reads(text, fmt="py:percent").cells]
    return again == [(one.cell_type, one.source) for one in (cell, following)]
