"""Notebooks of lab 01 with the accidents that happen in every class, built from the solved lab."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.audit.simulate import answered
from autograder.course.masters import lab_name, solution_sources
from autograder.grading.repair import Template

LAB = lab_name("01")
SOLVED = solution_sources(LAB)
TEMPLATE = Template.of(LAB)
COUNTS = "bigram_counts"
Accident = Callable[[NotebookNode], None]


def notebook(*accidents: Accident) -> NotebookNode:
    """The solved lab after these accidents."""
    made = answered(LAB, SOLVED)
    for name in TEMPLATE.by_hand:
        made.cells[position(made, name)].source = f"In my own words: {name}."
    for accident in accidents:
        accident(made)
    return made


def raw(made: NotebookNode) -> bytes:
    return nbformat.writes(made).encode()


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
    return put(grade_id, TEMPLATE.named[grade_id].source)


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


def in_figure(source: str) -> Accident:
    """The code of a figure's cell, which is not run, is another one."""

    def accident(made: NotebookNode) -> None:
        next(cell for cell in made.cells if cell["id"] in TEMPLATE.skipped).source = source

    return accident
