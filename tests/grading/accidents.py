"""Notebooks of lab 01 with the accidents that happen in every class, built from the solved lab."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.audit.simulate import answered
from autograder.course.masters import lab_name, solution_sources
from autograder.grading.repair import Template

LAB = lab_name("01")
COUNTS = "bigram_counts"
Accident = Callable[[NotebookNode], None]


def notebook(*accidents: Accident) -> NotebookNode:
    """The solved lab after these accidents."""
    made = answered(LAB, solution_sources(LAB))
    for name in written_answers():
        made.cells[position(made, name)].source = f"In my own words: {name}."
    for accident in accidents:
        accident(made)
    return made


def raw(made: NotebookNode) -> bytes:
    return nbformat.writes(made).encode()


def written_answers() -> tuple[str, ...]:
    return Template.of(LAB).by_hand


def position(made: NotebookNode, grade_id: str) -> int:
    return next(
        i for i, c in enumerate(made.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def put(grade_id: str, change: Callable[[str], str] | str) -> Accident:
    """Change the source of a cell, or replace it."""

    def accident(made: NotebookNode) -> None:
        cell = made.cells[position(made, grade_id)]
        cell.source = change if isinstance(change, str) else change(cell.source)

    return accident


def stub(grade_id: str) -> Accident:
    """Leave an answer as it was received."""
    return put(grade_id, Template.of(LAB).named[grade_id].source)


def delete(*grade_ids: str) -> Accident:
    def accident(made: NotebookNode) -> None:
        for grade_id in grade_ids:
            del made.cells[position(made, grade_id)]

    return accident


def insert(
    source: str, *, after: str | None = None, before: str | None = None, kind: str = "code"
) -> Accident:
    """A new cell beside a named one, or at the end."""

    def accident(made: NotebookNode) -> None:
        new = nbformat.v4.new_code_cell(source) if kind == "code" else nbformat.v4.new_markdown_cell(source)
        at = len(made.cells)
        if after is not None:
            at = position(made, after) + 1
        elif before is not None:
            at = position(made, before)
        made.cells.insert(at, new)

    return accident


def forget_names(made: NotebookNode) -> None:
    """As cells that were copied into a new notebook: no metadata, other ids."""
    for number, cell in enumerate(made.cells):
        cell.metadata, cell.id = nbformat.from_dict({}), f"new-{number}"


def forget_ids(made: NotebookNode) -> None:
    """As an older Jupyter writes it, or another program."""
    made.nbformat_minor, made.metadata = 2, nbformat.from_dict({})
    for cell in made.cells:
        del cell["id"]


def became_text(made: NotebookNode) -> None:
    """An answer's cell is one of text now."""
    cell = made.cells[position(made, COUNTS)]
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


def foreign_metadata(made: NotebookNode) -> None:
    """As a later nbgrader and another program write it."""
    for cell in made.cells:
        known = cell.metadata.get("nbgrader", {})
        cell.metadata["nbgrader"] = {**known, "schema_version": 99, "points": 10_000}
        cell.metadata["colab"] = {"x": [1, {"y": None}]}


def in_figure(source: str) -> Accident:
    """The code of a figure's cell, which is not run, is another one."""

    def accident(made: NotebookNode) -> None:
        next(cell for cell in made.cells if cell["id"] in Template.of(LAB).skipped).source = source

    return accident


def answer(grade_id: str) -> str:
    return solution_sources(LAB).get(grade_id, f"def {grade_id}():\n    return 1")
