"""Saves a master's cells in the gradebook, as ``nbgrader generate_assignment`` does."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader import api
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions, ComputeChecksums
from nbgrader.utils import compute_checksum, is_grade, is_locked, is_solution, is_task
from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from autograder.course.lab import LabSpec
from autograder.course.masters import KERNEL
from autograder.errors import GradingError

#: nbgrader's default name of a course.
_COURSE = "default_course"


@dataclass(frozen=True)
class LabCells:
    """A lab's cells as nbgrader classifies them, by ``grade_id``, in the notebook's order."""

    name: str
    #: (``grade_id``, nbgrader's model) -> columns. Each cell has a row for its source; an answer with points has two more.
    rows: dict[tuple[str, type], dict[str, Any]]
    #: A test cell's ``grade_id`` -> the question whose points it holds.
    question_of: dict[str, str]
    #: An answer cell's ``grade_id`` -> its checksum in the released notebook.
    answer_checksums: dict[str, str]


@dataclass(frozen=True)
class SavedLab:
    """The row ids of a lab in one gradebook. ``cells``: Grade or Comment -> ``grade_id`` -> id of the cell that has one."""

    assignment_id: str
    notebook_id: str
    cells: dict[type, dict[str, str]]


def lab_cells(spec: LabSpec) -> LabCells:
    """Classify the master's cells with nbgrader's own preprocessors and predicates."""
    cells = [copy.deepcopy(cell) for cell in spec.cells]
    master = nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": KERNEL}, "cells": cells}
    )
    resources: dict[str, Any] = {"nbgrader": {}}
    for preprocessor in (ClearSolutions(), ComputeChecksums()):
        master, resources = preprocessor.preprocess(master, resources)

    rows: dict[tuple[str, type], dict[str, Any]] = {}
    for cell in master.cells:
        if not (is_grade(cell) or is_solution(cell) or is_locked(cell) or is_task(cell)):
            continue
        metadata = cell.metadata.nbgrader
        grade_id = metadata["grade_id"]
        if is_solution(cell):
            rows[grade_id, api.SolutionCell] = {}
        if is_grade(cell) or is_task(cell):
            model = api.TaskCell if is_task(cell) else api.GradeCell
            rows[grade_id, model] = {"max_score": float(metadata["points"]), "cell_type": cell.cell_type}
        rows[grade_id, api.SourceCell] = {
            "cell_type": cell.cell_type,
            "locked": bool(is_locked(cell)),
            "source": cell.source,
            "checksum": metadata.get("checksum"),
        }
    question_of = {cell: question for question, cell in spec.test_cells.items()}
    return LabCells(spec.name, rows, question_of, _received_checksums(master))


def _received_checksums(saved: NotebookNode) -> dict[str, str]:
    """The answer cells' checksums in the released notebook, after removing the parts for graders."""
    received, resources = copy.deepcopy(saved), dict[str, Any](nbgrader={})
    for step in (ClearHiddenTests(), ClearMarkScheme()):
        received, resources = step.preprocess(received, resources)
    return {c.metadata.nbgrader["grade_id"]: compute_checksum(c) for c in received.cells if is_solution(c)}


def save_lab(session: Session, lab: LabCells) -> SavedLab:
    """Create or update the course, the assignment, the notebook and its cells.

    Cells that are no longer in the master are removed, with their automatic grades. Raises GradingError if people entered
    marks for such a cell, because these must not be lost.
    """
    find_or_insert(session, api.Course, {"id": _COURSE})
    assignment_id = find_or_insert(session, api.Assignment, {"name": lab.name}, course_id=_COURSE)
    named = {"name": lab.name, "assignment_id": assignment_id}
    notebook_id = find_or_insert(session, api.Notebook, named, kernelspec=json.dumps(KERNEL))
    ids = _save_cells(session, lab, notebook_id)
    with_grade, with_comment = (api.GradeCell, api.TaskCell), (api.SolutionCell, api.TaskCell)
    cells = {
        row: {name: cell_id for (name, model), cell_id in ids.items() if model in models}
        for row, models in ((api.Grade, with_grade), (api.Comment, with_comment))
    }
    _complete_submissions(session, notebook_id, cells)
    return SavedLab(assignment_id, notebook_id, cells)


def select_rows(session: Session, query: Any) -> Any:
    """The rows of a query for columns. Without model objects this takes a third of the time."""
    return session.connection().execute(query)


def find_or_insert(session: Session, model: Any, columns: dict[str, str], **new: Any) -> str:
    """The id of the row with these values, which is inserted, with the values ``new``, if it is not there."""
    query = select(model.id).where(*(getattr(model, name) == value for name, value in columns.items()))
    if (row_id := select_rows(session, query).scalar_one_or_none()) is None:
        row_id = api.new_uuid()
        insert_rows(session, model, [{"id": row_id, **columns, **new}])
    return str(row_id)


def insert_rows(session: Session, model: Any, rows: list[dict[str, Any]]) -> None:
    """Insert rows through the model's table, which has the model's defaults. This takes half the model's time."""
    session.connection().execute(model.__table__.insert(), rows)


def _save_cells(session: Session, lab: LabCells, notebook_id: str) -> dict[tuple[str, type], str]:
    """Insert, update and remove the rows of cells and their sources. Returns (name, model) -> id."""
    rows = [
        row
        for model in (api.BaseCell, api.SourceCell)
        for row in session.scalars(select(model).where(model.notebook_id == notebook_id))
    ]
    existing = {(row.name, type(row)): row for row in rows}
    for key in existing.keys() - lab.rows.keys():
        _remove_cell(session, existing.pop(key), lab.name)
    for (name, model), columns in lab.rows.items():
        row = existing.setdefault((name, model), model(name=name, notebook_id=notebook_id))
        for column, value in columns.items():
            setattr(row, column, value)
        session.add(row)
    session.flush()
    return {key: row.id for key, row in existing.items()}


def _remove_cell(session: Session, cell: Any, lab: str) -> None:
    grade, comment = api.Grade, api.Comment
    by_hand = (
        select(grade.id)
        .where(grade.cell_id == cell.id)
        .where(or_(grade.manual_score.is_not(None), grade.extra_credit.is_not(None))),
        select(comment.id).where(comment.cell_id == cell.id, comment.manual_comment.is_not(None)),
    )
    if any(session.execute(query).first() for query in by_hand):
        raise GradingError(
            f"Cell {cell.name} is no longer in lab {lab}, but the gradebook holds marks that people entered for "
            "it: put the cell back, or grade into a new gradebook."
        )
    session.execute(delete(grade).where(grade.cell_id == cell.id))
    session.execute(delete(comment).where(comment.cell_id == cell.id))
    session.delete(cell)
    session.flush()


def _complete_submissions(session: Session, notebook_id: str, cells: dict[type, dict[str, str]]) -> None:
    """Add a new cell's rows to earlier submissions; Formgrader fails without them."""
    submitted = api.SubmittedNotebook
    submissions = list(session.scalars(select(submitted.id).where(submitted.notebook_id == notebook_id)))
    model: Any
    for model, ids in cells.items():
        rows = session.execute(
            select(model.notebook_id, model.cell_id).where(model.cell_id.in_([*ids.values()]))
        )
        missing = {(one, cell_id) for one in submissions for cell_id in ids.values()} - {*map(tuple, rows)}
        session.add_all(model(notebook_id=one, cell_id=cell_id) for one, cell_id in missing)
