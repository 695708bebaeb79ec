"""Finds the imports and definitions that students' code may use in figure cells, which grading does not run."""

from __future__ import annotations

import ast
import copy
import re
from functools import cache

from autograder.grading.cell_text import DEFINITIONS, MAX_PARSED, statements

#: The most characters of code parsed here, before any clock runs: twenty times a long notebook.
MAX_FIGURES_CODE = 200_000

_LENT = (*DEFINITIONS, ast.Import, ast.ImportFrom)


@cache
def lent_by(source: str) -> tuple[tuple[str, str], ...]:
    """The imports and definitions of a cell: the name that each binds, and its source.

    A cell that is not plain Python (``%pip``, ``!ls``) has none.
    """
    lent = []
    for node in statements(source):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                one = copy.copy(node)
                one.names = [alias]
                lent.append(_lent(alias.asname or alias.name.split(".")[0], one))
        elif isinstance(node, DEFINITIONS):
            lent.append(_lent(node.name, node))
    return tuple(lent)


def makes(source: str, name: str) -> bool:
    """Whether a cell binds ``name`` at its top level, other than by an import or a definition."""
    body = statements(source) if name in source and len(source) <= MAX_PARSED else []
    parts = (part for node in body if not isinstance(node, _LENT) for part in ast.walk(node))
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in parts
    )


def _lent(name: str, node: ast.stmt) -> tuple[str, str]:
    """An import or definition that runs only if the student's code has not bound its name."""
    asked = ast.parse(f"if {name!r} not in globals(): pass").body[0]
    assert isinstance(asked, ast.If)
    asked.body = [node]
    return name, ast.unparse(asked)


def words_in(code: str) -> frozenset[str]:
    """The words of a cell outside comment lines: a superset of its names, found in linear time."""
    return frozenset(_WORD.findall(_COMMENT.sub("", code)))


_COMMENT = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")


def definitions_of(source: str) -> str:
    """Only the imports, functions and classes at the top level of ``source`` ("" when it cannot be read)."""
    if len(source) > MAX_FIGURES_CODE:
        return ""
    try:
        return "\n\n".join(ast.unparse(node) for node in statements(source) if isinstance(node, _LENT))
    except (ValueError, RecursionError, MemoryError):
        return ""
