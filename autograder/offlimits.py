"""Flags answers that call the library function which the question asks to write.

The code is read, not run: the question's function, and what it reaches in the notebook by name (helpers,
top-level assignments), is searched for the names that the question's public check, or the course's policy, declares off limits.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from coursekit.checking import forbidden_in
from coursekit.forbidden import used_in

from autograder.course import settings


def forbidden_used(lab: str, question: str, cells: Sequence[str]) -> tuple[str, ...]:
    """The forbidden names that the answer to ``question`` uses in the notebook made of ``cells``."""
    names = (*forbidden_in(lab, question), *settings().lab(lab).forbid.get(question, ()))
    if not names:
        return ()
    trees = [tree for tree in map(_parse, cells) if tree is not None]
    imports = [
        node for tree in trees for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    reached = _reached(question, trees)
    if not reached:
        return ()
    module = ast.Module(body=[*imports, *reached], type_ignores=[])
    try:
        return used_in(ast.unparse(module), names)
    except (RecursionError, ValueError):
        return ()


def _parse(source: str) -> ast.Module | None:
    """The cell's syntax tree with IPython's own lines (magics, shell commands) left out."""
    lines = [line if not line.lstrip().startswith(("%", "!", "?")) else "" for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _reached(question: str, trees: Sequence[ast.Module]) -> list[ast.stmt]:
    """The top-level statements that define ``question`` and everything it names, directly or not."""
    defined: dict[str, list[ast.stmt]] = {}
    for tree in trees:
        for node in tree.body:
            for name in _names_bound(node):
                defined.setdefault(name, []).append(node)
    waiting, reached = [question], []
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in defined.get(name, []):
            if node not in reached:
                reached.append(node)
                waiting += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    return reached


def _names_bound(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    return []
