"""A small made-up lab and made-up results, so that writers are tested without grading anything."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, ComputeChecksums

from autograder.course.lab import LabSpec
from autograder.results import QuestionResult, SubmissionResult, TestResult

LAB = "00_warm_up"


def nbgrader_cell(kind: str, grade_id: str, source: str, **flags: Any) -> NotebookNode:
    """A cell with complete nbgrader metadata."""
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    metadata = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    cell = make(source)
    cell.metadata["nbgrader"] = nbformat.from_dict({"grade_id": grade_id, **metadata, **flags})
    return cell


def function_cells(name: str, points: float) -> list[NotebookNode]:
    """A solution cell and its locked test cell."""
    solution = f"def {name}(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n"
    test = f'check("{name}", {name})\n### BEGIN HIDDEN TESTS\nscore("{name}")\n### END HIDDEN TESTS'
    return [
        nbgrader_cell("code", name, solution, solution=True),
        nbgrader_cell("code", f"test_{name}", test, grade=True, locked=True, points=points),
    ]


def build_spec(questions: tuple[tuple[str, float], ...], written: tuple[tuple[str, float], ...]) -> LabSpec:
    """A lab of the given questions and written answers."""
    cells = [nbgrader_cell("markdown", "intro", "# Warm up", locked=True)]
    for name, points in questions:
        cells += function_cells(name, points)
    for grade_id, points in written:
        text = "Why is that so?\n### BEGIN SOLUTION\nBecause.\n### END SOLUTION"
        cells.append(nbgrader_cell("markdown", grade_id, text, grade=True, solution=True, points=points))
    return LabSpec(LAB, "How do words become numbers?", questions, written, tuple(cells))


def released(spec: LabSpec) -> NotebookNode:
    """The notebook a student receives, made by nbgrader's own preprocessors."""
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    )
    notebook.cells = [copy.deepcopy(cell) for cell in spec.cells]
    resources: dict[str, Any] = {"nbgrader": {}}
    for step in (ClearSolutions(), ClearHiddenTests(), ComputeChecksums()):
        notebook, resources = step.preprocess(notebook, resources)
    return notebook


def answered(spec: LabSpec, answers: dict[str, str]) -> str:
    """A submitted notebook as JSON text: the released one with these cells' sources replaced."""
    notebook = released(spec)
    for cell in notebook.cells:
        grade_id = cell.metadata.nbgrader["grade_id"]
        cell.source = answers.get(grade_id, cell.source)
    return nbformat.writes(notebook)


@pytest.fixture
def spec() -> LabSpec:
    return build_spec((("one_hot", 4.0), ("softmax", 6.0)), (("why_softmax", 5.0),))


@pytest.fixture
def make_spec() -> Callable[..., LabSpec]:
    return build_spec


@pytest.fixture
def submit() -> Callable[..., str]:
    return answered


@pytest.fixture
def make_result(spec: LabSpec) -> Callable[..., SubmissionResult]:
    """``make_result("ada", 4, 6)``: points for one_hot and softmax; keywords replace other fields."""

    def make(student: str, one_hot: float = 4.0, softmax: float = 6.0, **changes: Any) -> SubmissionResult:
        answers = {"one_hot": "def one_hot(x): ...", "softmax": "def softmax(x): ...", "why_softmax": "Sums."}
        questions = (
            QuestionResult(
                "one_hot", one_hot, 4.0, (TestResult("Puts a single 1 in each row.", one_hot == 4),)
            ),
            QuestionResult("softmax", softmax, 6.0, (TestResult("Each row sums to one.", softmax == 6),)),
        )
        result = SubmissionResult(
            student=student,
            lab=LAB,
            status="graded",
            score=one_hot + softmax,
            max_score=10.0,
            seconds=0.08,
            questions=questions,
            notebook=answered(spec, answers),
            submitted_at="2026-03-02 10:00:00 UTC",
        )
        return dataclasses.replace(result, **changes)

    return make
