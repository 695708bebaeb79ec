"""Enters points and comments in a gradebook as a person does in Formgrader, and reads back what it holds."""

import sqlite3
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook


def enter(book: Path, lab: str, student: str, cell: str, comment: str = "", **columns: float | None) -> None:
    """Enter the points of a cell, and a comment on its answer."""
    with Gradebook(f"sqlite:///{book}") as gradebook:
        grade = gradebook.find_grade(cell, lab, lab, student)
        for name, value in columns.items():
            setattr(grade, name, value)
        grade.needs_manual_grade = "manual_score" not in columns and grade.auto_score is None
        if comment:
            answer = cell.removeprefix("test_")
            gradebook.find_comment(answer, lab, lab, student).manual_comment = comment
        gradebook.db.commit()


def dump(book: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table with random ids replaced by names, for comparing two gradebooks."""
    whose = "join submitted_notebook n on n.id = {}.notebook_id join submitted_assignment s on s.id = n.assignment_id"
    queries = {
        "assignment": "select name, course_id, duedate from assignment",
        "notebook": "select name, kernelspec from notebook",
        "base": "select name, type from base_cell",
        "grade_cells": "select b.name, max_score, cell_type from grade_cells g join base_cell b using (id)",
        "source": "select name, cell_type, locked, source, checksum from source_cell",
        "student": "select id, first_name, last_name from student",
        "submitted": "select student_id, timestamp, extension from submitted_assignment",
        "submitted_notebook": "select flagged, late_submission_penalty from submitted_notebook",
        "grade": "select s.student_id, b.name, auto_score, manual_score, extra_credit, needs_manual_grade"
        f" from grade g join base_cell b on b.id = cell_id {whose.format('g')}",
        "comment": "select s.student_id, b.name, auto_comment, manual_comment"
        f" from comment c join base_cell b on b.id = cell_id {whose.format('c')}",
        "version": "select version_num from alembic_version",
        "integrity": "PRAGMA integrity_check",
    }
    connection = sqlite3.connect(book)
    rows = {name: sorted(connection.execute(query).fetchall(), key=repr) for name, query in queries.items()}
    connection.close()
    return rows
