"""A figure's cell binds no name that a student may well have given to a helper: the helper would be gone, and a right answer with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.course.build import released_notebook

#: Names that a helper of lab 05's questions may well have; one that was called ``cosine`` was lost to a figure.
HELPERS = """
    context contexts cosine cosines error errors first gradient gradients hints hits left length loss losses near neighbours noise
    normalise of_length_one order pairs probabilities ranked ranking riddle riddles riddles_of right row scatter score scores share
    shares side sigmoid similarity slope softplus step target targets total unit window windows
"""


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that code binds where it stands, not those inside of its functions."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def test_the_figures_of_lab_05_leave_a_students_helpers_as_they_are():
    cells = [
        cell
        for cell in released_notebook("05_word2vec").cells
        if "skip-grading" in cell.metadata.get("tags", [])
    ]
    assert len(cells) > 10
    assert {name for cell in cells for name in _bound(ast.parse(cell.source))} & {*HELPERS.split()} == set()
