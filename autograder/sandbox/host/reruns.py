"""Chooses the part of a stopped cell that runs again in a fresh child: nothing that would be stopped again.

Of one that was interrupted that is all before the statement at which it was. Where nobody knows how far a cell came, it is
its imports, its definitions, and the assignments that call nothing.
"""

from __future__ import annotations

import ast
import warnings

#: Characters of a cell that are read: as a syntax tree code takes some four hundred times its size.
MAX_READ = 200_000


def before_line(source: str, line: int) -> str:
    """The cell up to the top-level statement that stands at ``line``, counted from 1."""
    for statement in _statements(source):
        if (statement.end_lineno or 0) >= line:
            first = min([statement, *getattr(statement, "decorator_list", ())], key=lambda node: node.lineno)
            above = source.split("\n")[: first.lineno - 1]
            beside = source.split("\n")[first.lineno - 1].encode()[: first.col_offset].decode()
            return "\n".join([*above, "" if beside.strip() == "@" else beside])
    return ""


def harmless_part(source: str) -> str:
    """The cell's imports, its definitions, and its assignments that call nothing of the notebook's."""
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
    """Whether it calls nothing but ``globals()`` and its methods."""
    return all(
        ast.unparse(part.func).partition(".")[0] in ("globals", "globals()")
        for part in ast.walk(node)
        if isinstance(part, ast.Call)
    )


def _statements(source: str) -> list[ast.stmt]:
    """The top level of a cell; nothing of one that is too long, or not Python alone (``%time``, ``!ls``)."""
    if len(source) > MAX_READ:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # what Python thinks of a student's escapes is not for the terminal
            return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
