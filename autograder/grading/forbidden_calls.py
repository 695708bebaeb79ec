"""Flags answers that call the library function which the question asks to write.

The code is read, not run: the question's function, and what it reaches in the notebook by name (helpers,
top-level assignments), is searched for the names that the question's public check, or the course's policy, declares off limits.
"""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from collections.abc import Sequence
from functools import lru_cache

from coursekit.checks.api import forbidden_calls
from coursekit.checks.forbidden_calls import used_in_tree

from autograder.course.policy_file import settings

#: Lines that are no Python, after which a cell is given up.
MAX_BAD_LINES = 50
#: Characters of a notebook that are read once more for the sake of a bad line.
MAX_READ_AGAIN = 2_000_000
_MAGIC = re.compile(r"(?P<indent>\s*)%(?:time|timeit|prun|memit|debug)\s+(?:-\S+\s+)*")


class TooLongToRead(Exception):
    """The code is so long, and so often no Python, that reading all of it would take minutes."""


def forbidden_used(lab: str, question: str, cells: Sequence[str]) -> tuple[str, ...]:
    """The forbidden names that the answer to ``question`` uses in the notebook made of ``cells``.

    Every reader here takes time in proportion to the text, for a notebook may hold a million characters of anything; where
    a text would be read too often, ``TooLongToRead`` is raised.
    """
    names = (*forbidden_calls(lab, question), *settings().lab(lab).forbid.get(question, ()))
    if not names:
        return ()
    trees, imports = _read(tuple(cells))
    reached = _reached(question, trees)
    if not reached:
        return ()
    bare = ast.Expr(ast.Name(question, ast.Load()))  # an import may bind the question's own name
    module = ast.Module(body=[*imports, *reached, bare], type_ignores=[])
    return used_in_tree(module, names)


@lru_cache(maxsize=1)
def _read(cells: tuple[str, ...]) -> tuple[list[ast.Module], list[ast.stmt]]:
    """The cells' syntax trees and their imports. A notebook's questions are looked at one after another."""
    trees: list[ast.Module] = []
    left = MAX_READ_AGAIN
    with (
        warnings.catch_warnings()
    ):  # Python's warnings about a student's code are not for the teacher's terminal
        warnings.simplefilter("ignore")
        for cell in cells:
            tree, read_again = _parse(cell, left)
            left -= read_again
            trees += [tree] if tree is not None else []
    nodes = (node for tree in trees for node in ast.walk(tree))
    return trees, [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def _parse(source: str, patience: int) -> tuple[ast.Module | None, int]:
    """The cell's syntax tree, and the characters read again for it, ``patience`` at most.

    IPython's own lines give what Python there is in them; a bad line is left out.
    """
    lines = [_plain_python(line) for line in source.splitlines()]
    for again in range(MAX_BAD_LINES):
        if again * len(source) > patience:
            raise TooLongToRead
        try:
            return ast.parse("\n".join(lines)), again * len(source)
        except SyntaxError as error:
            if not error.lineno or error.lineno > len(lines) or not lines[error.lineno - 1]:
                return None, again * len(source)
            lines[error.lineno - 1] = ""
        except (ValueError, RecursionError, MemoryError):
            return None, again * len(source)
    return None, MAX_BAD_LINES * len(source)


def _plain_python(line: str) -> str:
    """``%time f = g`` and ``f = g``; ``files = !ls`` and ``!ls`` are nothing."""
    if magic := _MAGIC.match(line):
        return magic["indent"] + line[magic.end() :]
    stripped = line.strip()
    target, _, value = stripped.partition("=")
    shell = bool(target) and "#" not in target and value.lstrip().startswith(("!", "%"))
    asks = stripped.endswith("?") and "#" not in stripped
    return "" if shell or asks or stripped.startswith(tuple("%!?/,;")) else line


def _reached(question: str, trees: Sequence[ast.Module]) -> list[ast.stmt]:
    """The top-level statements that define ``question`` and everything it names, directly or not."""
    defined: dict[str, list[ast.stmt]] = {}
    for tree in trees:
        for node in tree.body:
            for name in _names_bound(node):
                defined.setdefault(name, []).append(node)
    waiting = [question]
    # By identity, for a notebook may bind one name a hundred thousand times.
    reached: dict[int, ast.stmt] = {}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in defined.get(name, []):
            if id(node) not in reached:
                reached[id(node)] = node
                waiting += _names_looked_up(node) - seen
    return list(reached.values())


#: What has variables of its own.
_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _names_looked_up(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement takes from the notebook: a function's own variables are not among them."""
    nodes = list(ast.walk(statement))
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not any(isinstance(node, _SCOPES) for node in nodes):
        return named
    try:
        tables = [symtable.symtable(ast.unparse(statement), "notebook", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return named
    names: set[str] = set()
    while tables:
        table = tables.pop()
        module = table.get_type() == "module"
        names |= {symbol.get_name() for symbol in table.get_symbols() if module or symbol.is_global()}
        tables.extend(table.get_children())
    return names


def _names_bound(statement: ast.stmt) -> set[str]:
    """Every name that a top-level statement may bind, in its branches too, but not inside functions."""
    names: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((item.asname or item.name).split(".")[0] for item in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif not isinstance(node, ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return names
