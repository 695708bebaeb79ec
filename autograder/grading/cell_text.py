"""Reads a cell's text: the names that it defines, and whether it holds an answer."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Collection
from functools import cache

#: The longest cell that is parsed: a syntax tree takes some four hundred times the size of its code.
MAX_PARSED = 20_000

#: The statements that define a function or a class.
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_TOP_LEVEL = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.MULTILINE)


def statements(source: str) -> list[ast.stmt]:
    """The top-level statements of a cell; none if it is not Python or nested too deeply to parse."""
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
    return bool(made) and all(map(_is_empty, made))


def is_nothing_but_unwritten(source: str, names: Collection[str], received: str) -> bool:
    """Whether a cell is as ``received`` or defines only unwritten functions of these names: it can be left out."""
    if _code(source) == _code(received):
        return True
    nodes = [node for node in _parsed(source) if not _is_constant(node)]
    return bool(nodes) and all(
        isinstance(node, DEFINITIONS) and node.name in names and _is_empty(node) for node in nodes
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


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_empty(node: ast.stmt) -> bool:
    """Whether a function, or each function of a class, does nothing."""
    body: list[ast.stmt] = getattr(node, "body", [])
    if isinstance(node, ast.ClassDef):
        return all(
            isinstance(part, ast.Pass)
            or _is_constant(part)
            or (isinstance(part, DEFINITIONS) and _is_empty(part))
            for part in body
        )
    return all(isinstance(part, ast.Pass) or _is_constant(part) or _is_refusal(part) for part in body)


def _is_refusal(node: ast.stmt) -> bool:
    """Whether a statement is ``raise NotImplementedError()`` or returns nothing."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    returned = node.value if isinstance(node, ast.Return) else node
    return returned is None or (isinstance(returned, ast.Constant) and returned.value is None)
