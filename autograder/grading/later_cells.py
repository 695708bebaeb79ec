"""Finds cells below a check cell that may change what the answer above it returns. A failed answer is then tested again.

Definitions, imports and plain assignments of new names change nothing. A cell may change something if it binds a known
name, does anything else or cannot be parsed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from autograder.grading.cell_text import DEFINITIONS, statements


def last_change(cells: Sequence[str], given: Collection[str]) -> int:
    """The index of the last cell that may change what the cells above it define; -1 if there is none.

    A ``given`` cell is the course's own: it can change only names that the student's cells have bound.
    """
    last = -1
    # Name -> the import that bound it. Python binds the last shown value to "_".
    own: dict[str, str] = dict.fromkeys({*dir(builtins)} - {"_"}, "")
    known = dict(own)
    for place, source in enumerate(cells):
        (made, adds), is_given = _effects(source), source.strip() in given
        earlier = own if is_given else known
        if not (adds or is_given) or any(
            name in earlier and (earlier[name] != how or not how) for name, how in made.items()
        ):
            last = place
        known |= made
        own |= {} if is_given else made
    return last


@lru_cache(maxsize=2048)  # a lab's own cells are in every notebook
def _effects(source: str) -> tuple[dict[str, str], bool]:
    """The names that a cell binds, each with its import, and whether it only binds names."""
    body = statements(source)
    return dict(part for node in body for part in _made(node)), bool(body) and all(map(_adds, body))


def _adds(node: ast.stmt) -> bool:
    match node:
        case ast.ImportFrom(names=names):
            return all(alias.name != "*" for alias in names)
        case ast.Import() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Pass():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=value):
            return value is None or not any(isinstance(part, ast.Call) for part in ast.walk(value))
        case ast.If(test=ast.Compare(ops=[ast.NotIn()]), body=body):
            # An import lent by a demonstration: "if 'math' not in globals()".
            return all(map(_adds, body)) and not node.orelse
    return False


def _made(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that a statement binds, including globals bound in functions, each with its import."""
    for part in ast.walk(node):
        match part:
            case ast.Global(names=names):
                yield from ((name, "") for name in names)
            case ast.Import(names=aliases) if not isinstance(node, DEFINITIONS):
                for alias in aliases:
                    package = alias.name.split(".")[0]
                    yield alias.asname or package, alias.name if alias.asname else package
            case ast.ImportFrom(names=aliases) if not isinstance(node, DEFINITIONS):
                for alias in aliases:
                    yield alias.asname or alias.name, f"{part.level}{part.module}.{alias.name}"
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if not isinstance(node, DEFINITIONS):
                yield name, ""
    if isinstance(node, DEFINITIONS):
        yield node.name, ""
    elif isinstance(node, ast.If):
        yield from (made for inner in node.body for made in _made(inner))
