"""A lab's description for the harness: name, questions with points, master cells."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from autograder.errors import GradingError

if TYPE_CHECKING:
    from nbformat.notebooknode import NotebookNode


@dataclass(frozen=True)
class LabSpec:
    """One lab, read from its master notebook.

    ``questions`` are (name, points) of the functions the harness grades, in the lab's order;
    ``written`` are (grade_id, points) of the answers that a person grades;
    ``cells`` are the master notebook's cells, with solutions and hidden tests still in them.
    """

    name: str
    title: str
    questions: tuple[tuple[str, float], ...]
    written: tuple[tuple[str, float], ...]
    cells: tuple[NotebookNode, ...]

    @property
    def max_score(self) -> float:
        """The points of all graded functions together (written answers not counted)."""
        return float(sum(points for _, points in self.questions))

    @cached_property
    def test_cells(self) -> dict[str, str]:
        """Question -> ``grade_id`` of the cell that holds its points: ``test_<question>``, or the question's own name."""
        code = [cell.metadata.get("nbgrader", {}) for cell in self.cells if cell.cell_type == "code"]
        tests = {data["grade_id"] for data in code if data.get("grade") and not data.get("solution")}
        found = {name: cell for name, _ in self.questions for cell in (name, f"test_{name}") if cell in tests}
        if lacking := sorted(name for name, _ in self.questions if name not in found):
            raise GradingError(
                f"Lab {self.name} has no test cell for {', '.join(lacking)}: correct its master and build it again."
            )
        return found

    def with_points(self, points: Mapping[str, float]) -> LabSpec:
        """A copy of the lab with other points for the named questions and written answers."""
        if not points:
            return self
        cells = copy.deepcopy(self.cells)
        for cell in cells:
            data = cell.metadata.get("nbgrader", {})
            name = data.get("grade_id", "")
            name = name if data.get("solution") or data.get("task") else name.removeprefix("test_")
            if (data.get("grade") or data.get("task")) and name in points:
                data["points"] = points[name]
        return replace(
            self,
            questions=tuple((name, points.get(name, most)) for name, most in self.questions),
            written=tuple((name, points.get(name, most)) for name, most in self.written),
            cells=cells,
        )
