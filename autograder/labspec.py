"""What a lab is to the harness: its name, its questions and their points, its master cells."""

from __future__ import annotations

from dataclasses import dataclass

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
