"""Reads figures' cells, which grading does not run, for the imports and definitions that students' code may use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from coursekit.checks.forbidden_calls import names_bound as names_bound_by

from autograder.grading.cell_text import statements

if TYPE_CHECKING:
    from autograder.grading.repair import Template

#: Characters of code that are parsed here, before any clock runs: twenty times what a long notebook has.
MAX_FIGURES_CODE = 200_000
#: Characters of an answer, or of a changed figure's cell, in which names are looked for that nobody has made, and such cells.
MAX_READ_FOR_NAMES, MAX_CHANGED = 20_000, 20


@dataclass(frozen=True)
class Demonstration:
    """The names that a cell would bind, if it ran."""

    #: Its imports and definitions at the top level, each with the names that it binds.
    lent: tuple[tuple[frozenset[str], str], ...] = ()
    #: All other names that it binds at the top level.
    made: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.lent or self.made)


@cache
def demonstration(source: str) -> Demonstration:
    """The names that a master's cell would bind; empty for a cell that is not plain Python (``%pip``, ``!ls``)."""
    lent, body = [], statements(source)
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                one = (
                    ast.Import([alias])
                    if isinstance(node, ast.Import)
                    else ast.ImportFrom(node.module, [alias], node.level)
                )
                lent.append(_lent(alias.asname or alias.name.split(".")[0], one))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            lent.append(_lent(node.name, node))
    return Demonstration(tuple(lent), _made(body))


def _made(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that statements bind at the top level, otherwise than by imports and definitions."""
    lent = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    parts = (part for node in body if not isinstance(node, lent) for part in ast.walk(node))
    return frozenset(
        part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )


def _lent(name: str, node: ast.stmt) -> tuple[frozenset[str], str]:
    """An import or a definition that gives way to what the student's code calls by that name."""
    asked = ast.parse(f"if {name!r} not in globals(): pass").body[0]
    assert isinstance(asked, ast.If)
    asked.body = [node]
    return frozenset({name}), ast.unparse(asked)


def made_by_demonstrations(answer: str, template: Template, changed: Iterable[str] = ()) -> list[str]:
    """The names that an answer uses, does not bind itself, and only cells which are not run would make.

    ``changed``: the sources of such cells as the student has them.
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
    """The names that these cells bind, in functions too."""
    nodes, left = list[ast.AST](), MAX_FIGURES_CODE
    for source in sources:
        left -= len(source)
        nodes += [part for node in (statements(source) if left >= 0 else ()) for part in ast.walk(node)]
    return {*names_bound_by(nodes)}


def words_in(code: str) -> frozenset[str]:
    """The words of a cell, lines of comment apart: more than its names, and found in linear time, whatever the cell holds."""
    return frozenset(_WORD.findall(_COMMENT.sub("", code)))


_COMMENT = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")


def definitions_of(source: str) -> str:
    """Only the imports, functions and classes at the top level of ``source`` ("" when it cannot be read)."""
    if len(source) > MAX_FIGURES_CODE:
        return ""
    kept = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    try:
        return "\n\n".join(ast.unparse(node) for node in statements(source) if isinstance(node, kept))
    except (ValueError, RecursionError, MemoryError):
        return ""
