"""Finds the imports and definitions that students' code may use in figure cells, which grading does not run."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from coursekit.checks.forbidden_calls import names_bound as names_bound_by

from autograder.grading.cell_text import DEFINITIONS, statements

if TYPE_CHECKING:
    from autograder.grading.repair import Template

#: The most characters of code parsed here, before any clock runs: twenty times a long notebook.
MAX_FIGURES_CODE = 200_000
#: Undefined names are looked for in this many characters of an answer or changed figure cell, and in this many such cells.
MAX_READ_FOR_NAMES, MAX_CHANGED = 20_000, 20

_LENT = (*DEFINITIONS, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Demonstration:
    """The names that a cell would bind if it ran."""

    #: The top-level imports and definitions: the name that each binds, and its source.
    lent: tuple[tuple[str, str], ...]
    #: All other names bound at the top level.
    made: frozenset[str]


@cache
def demonstration(source: str) -> Demonstration:
    """The names that a master's cell would bind; empty for a cell that is not plain Python (``%pip``, ``!ls``)."""
    lent, body = [], statements(source)
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                one = copy.copy(node)
                one.names = [alias]
                lent.append(_lent(alias.asname or alias.name.split(".")[0], one))
        elif isinstance(node, DEFINITIONS):
            lent.append(_lent(node.name, node))
    return Demonstration(tuple(lent), _made(body))


def _made(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that statements bind at the top level, except by imports and definitions."""
    parts = (part for node in body if not isinstance(node, _LENT) for part in ast.walk(node))
    return frozenset(
        part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )


def _lent(name: str, node: ast.stmt) -> tuple[str, str]:
    """An import or definition that runs only if the student's code has not bound its name."""
    asked = ast.parse(f"if {name!r} not in globals(): pass").body[0]
    assert isinstance(asked, ast.If)
    asked.body = [node]
    return name, ast.unparse(asked)


def made_by_demonstrations(answer: str, template: Template, changed: Iterable[str] = ()) -> list[str]:
    """The names that an answer uses but does not bind, and that only cells that do not run would bind.

    ``changed``: the sources of these cells as the student changed them.
    """
    nodes = [part for node in statements(answer[:MAX_READ_FOR_NAMES]) for part in ast.walk(node)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    short = (source for source in changed if len(source) <= MAX_READ_FOR_NAMES)
    made = frozenset[str]().union(
        *(demonstration(source).made for source in template.skipped.values()),
        *(_made(statements(source)) for source in islice(short, MAX_CHANGED)),
    )
    return sorted((used & made).difference(names_bound_by(nodes)))


def names_bound(sources: Iterable[str]) -> set[str]:
    """The names that these cells bind, also inside functions."""
    nodes, left = list[ast.AST](), MAX_FIGURES_CODE
    for source in sources:
        left -= len(source)
        nodes += [part for node in (statements(source) if left >= 0 else ()) for part in ast.walk(node)]
    return {*names_bound_by(nodes)}


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
