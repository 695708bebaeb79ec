"""Reads a cell's text: the names that it defines, whether it holds an answer, and what other cells may use of it."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
import warnings
from collections.abc import Collection
from functools import cache, lru_cache

#: The longest cell that is parsed: a syntax tree takes some four hundred times the size of its code.
MAX_PARSED = 20_000
#: The most characters of figure cells that are parsed, before any clock runs: twenty times a long notebook.
MAX_FIGURES_CODE = 200_000

#: The statements that define a function or a class.
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_TOP_LEVEL = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.MULTILINE)


@lru_cache(maxsize=32)  # several rules read the same cell, and all students have the given cells
def statements(source: str) -> list[ast.stmt]:
    """The top-level statements of a cell; none if it is not Python or nested too deeply to parse. Do not change them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in students' code
            return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def names_at_top_level(source: str) -> frozenset[str]:
    """The functions, classes and variables that begin a line of ``source``, even if it is not valid Python."""
    return frozenset(function or variable for function, variable in _TOP_LEVEL.findall(source))


def defines(source: str, names: Collection[str]) -> bool:
    """Whether a cell binds one of ``names`` at its top level, even if an error keeps it from running."""
    return _matches(source, names, _DEFINED + r"|^{one}[ \t]*(?::[^=\n]+)?=(?!=)")


def defines_function(source: str, names: Collection[str]) -> bool:
    """Whether a cell defines one of ``names`` as a function or class; ``f = 3`` does not."""
    return _matches(source, names, _DEFINED + r"|^{one}[ \t]*=[ \t]*lambda\b")


_DEFINED = r"^(?:(?:async[ \t]+)?def|class)[ \t]+{one}\b|^(?:from|import)\b[^\n]*\b{one}\b"


def _matches(source: str, names: Collection[str], pattern: str) -> bool:
    if not any(name in source for name in names):
        return False
    source = textwrap.dedent(source) if source[:1].isspace() else source
    return _compiled(frozenset(names), pattern).search(source) is not None


@cache
def _compiled(names: frozenset[str], pattern: str) -> re.Pattern[str]:
    one = f"(?:{'|'.join(map(re.escape, sorted(names)))})"
    return re.compile(pattern.replace("{one}", one), re.MULTILINE)


def is_answer(source: str, names: Collection[str], received: str) -> bool:
    """Whether a cell holds somebody's definition of one of ``names``: not the cell as ``received``, nor an empty function."""
    return defines(source, names) and not is_unwritten(source, names, received)


def is_unwritten(source: str, names: Collection[str], received: str) -> bool:
    """Whether a cell is unwritten: its code is as ``received``, or its functions of these names are empty."""
    if _code(source) == _code(received):
        return True
    made = [node for node in _parsed(source) if isinstance(node, DEFINITIONS) and node.name in names]
    return bool(made) and all(map(_does_nothing, made))


def is_nothing_but_unwritten(source: str, names: Collection[str], received: str) -> bool:
    """Whether a cell is as ``received`` or defines only unwritten functions of these names: it can be left out."""
    if _code(source) == _code(received):
        return True
    nodes = [
        n for n in _parsed(source) if not isinstance(n, ast.Expr) or not isinstance(n.value, ast.Constant)
    ]
    return bool(nodes) and all(
        isinstance(node, DEFINITIONS) and node.name in names and _does_nothing(node) for node in nodes
    )


def added_code(source: str, given: str) -> str:
    """The statements that a student added to a given cell, on their lines, without those that only check or show.

    A cell that is not Python counts as added code as a whole, so that its writer is told of the error.
    """
    if len(source) > MAX_PARSED:
        return ""
    nodes = statements(source)
    if not nodes:
        return source
    known = {ast.dump(node) for node in statements(given)}
    lines = source.split("\n")
    kept = [""] * len(lines)
    for node in nodes:
        if isinstance(node, (ast.Expr, ast.Assert)) or ast.dump(node) in known:
            continue
        first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
        kept[first - 1 : node.end_lineno] = lines[first - 1 : node.end_lineno]
    return "\n".join(kept).rstrip()


def _parsed(source: str) -> list[ast.stmt]:
    return statements(textwrap.dedent(source)) if len(source) <= MAX_PARSED else []


def _code(source: str) -> str:
    """The code without blanks and comment lines."""
    lines = (line.strip() for line in source.split("\n"))
    return "".join("".join(line.split()) for line in lines if not line.startswith("#"))


def _does_nothing(node: ast.stmt) -> bool:
    """Whether a function only returns None or raises the stub's error, or each function of a class does."""
    match node:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) | ast.ClassDef(body=body):
            return all(map(_does_nothing, body))
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == "NotImplementedError"
    return False


_COMMENT = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_LENT = (*DEFINITIONS, ast.Import, ast.ImportFrom)


@cache
def lent_by(source: str) -> tuple[tuple[str, str], ...]:
    """The imports and definitions of a cell: the name that each binds, and code that does so if nothing has bound it yet.

    A cell that is not plain Python (``%pip``, ``!ls``) has none.
    """
    lent: list[tuple[str, ast.stmt]] = []
    for node in statements(source):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                one = copy.copy(node)
                one.names = [alias]
                lent.append((alias.asname or alias.name.split(".")[0], one))
        elif isinstance(node, DEFINITIONS):
            lent.append((node.name, node))
    return tuple((name, ast.unparse(_unless_bound(name, node))) for name, node in lent)


def _unless_bound(name: str, node: ast.stmt) -> ast.stmt:
    asked = ast.parse(f"if {name!r} not in globals(): pass").body[0]
    assert isinstance(asked, ast.If)
    asked.body = [node]
    return asked


def makes(source: str, name: str) -> bool:
    """Whether a cell binds ``name`` at its top level, other than by an import or a definition."""
    body = statements(source) if name in source and len(source) <= MAX_PARSED else []
    parts = (part for node in body if not isinstance(node, _LENT) for part in ast.walk(node))
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in parts
    )


def words_in(code: str) -> frozenset[str]:
    """The words of a cell outside comment lines: a superset of its names, found in linear time."""
    return frozenset(_WORD.findall(_COMMENT.sub("", code)))


def definitions_of(source: str) -> str:
    """Only the imports, functions and classes at the top level of ``source`` ("" when it cannot be read)."""
    if len(source) > MAX_FIGURES_CODE:
        return ""
    try:
        return "\n\n".join(ast.unparse(node) for node in statements(source) if isinstance(node, _LENT))
    except (ValueError, RecursionError, MemoryError):
        return ""
