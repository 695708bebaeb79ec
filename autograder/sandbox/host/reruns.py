"""Chooses the part of a stopped cell that can run again in a fresh child without being stopped again.

If the line of the interruption is known, that is the code before the interrupted statement. Otherwise it is the cell's
imports, definitions, and assignments without calls.
"""

from __future__ import annotations

import ast
import warnings

#: The most characters of a cell that are parsed: a syntax tree takes some four hundred times the size of its code.
MAX_READ = 200_000


def before_line(source: str, line: int) -> str:
    """The cell's code before the top-level statement at ``line``, counted from 1."""
    for statement in _statements(source):
        if (statement.end_lineno or 0) >= line:
            first = min([statement, *getattr(statement, "decorator_list", ())], key=lambda node: node.lineno)
            above = source.split("\n")[: first.lineno - 1]
            beside = source.split("\n")[first.lineno - 1].encode()[: first.col_offset].decode()
            return "\n".join([*above, "" if beside.strip() == "@" else beside])
    return ""


def harmless_part(source: str) -> str:
    """The cell's imports, definitions, and assignments without calls."""
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    try:
        return "\n\n".join(
            ast.unparse(node)
            for node in _statements(source)
            if isinstance(node, kept)
            or (isinstance(node, (ast.Assign, ast.AnnAssign)) and _calls_nothing(node))
        )
    except (ValueError, RecursionError, MemoryError):
        return ""


def _calls_nothing(node: ast.stmt) -> bool:
    """Whether a statement calls nothing but ``globals()`` and its methods."""
    return all(
        ast.unparse(part.func).partition(".")[0] in ("globals", "globals()")
        for part in ast.walk(node)
        if isinstance(part, ast.Call)
    )


def _statements(source: str) -> list[ast.stmt]:
    """The top-level statements of a cell; none if it is too long or not plain Python (``%time``, ``!ls``)."""
    if len(source) > MAX_READ:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in students' code
            return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
