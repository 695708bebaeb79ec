"""Finds calls of library functions that a question asks the student to write, by reading the code.

Names are written as a student would import them: ``torch.softmax``, ``torch.nn.functional.softmax``,
``numpy.linalg.solve``; ``Tensor.softmax`` means a method call ``x.softmax(...)`` on anything, and so does
``str.encode``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

#: No library's name has more parts. Each part of a chain is looked at, so a chain of thousands would take minutes.
_MAX_PARTS = 12


def used_in(
    source: str, forbidden: Iterable[str], namespace: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """The names of ``forbidden`` that ``source`` uses, in order of ``forbidden``.

    ``namespace`` (a live ``globals()``) resolves names imported elsewhere in the notebook; without it the
    imports in ``source`` itself are followed. Code that does not parse uses nothing.
    """
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return used_in_tree(tree, forbidden, namespace)


def used_in_tree(
    tree: ast.AST, forbidden: Iterable[str], namespace: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """The same for code that has been parsed; it may be nested as deeply as it likes."""
    aliases = {**_aliases_of_namespace(namespace or {}), **_aliases_of_imports(tree)}
    dotted, methods = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            methods.add(node.attr)
        if isinstance(node, ast.Call) and (fetched := _fetched(node)):
            methods.add(fetched.attr)
            dotted.add(_dotted(fetched, aliases))
        if isinstance(node, (ast.Attribute, ast.Name)):
            name = _dotted(node, aliases)
            if name:
                dotted.add(name)
    return tuple(name for name in forbidden if _is_used(name, dotted, methods))


def _is_used(name: str, dotted: set[str], methods: set[str]) -> bool:
    if name.startswith(("Tensor.", "str.")):
        return name.partition(".")[2] in methods
    return name in dotted


def _fetched(call: ast.Call) -> ast.Attribute | None:
    """``getattr(thing, "name")`` as ``thing.name``."""
    match call:
        case ast.Call(func=ast.Name(id="getattr"), args=[thing, ast.Constant(value=str(name)), *_]):
            return ast.Attribute(value=thing, attr=name)
    return None


def _aliases_of_imports(tree: ast.AST) -> dict[str, str]:
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                aliases[item.asname or item.name.split(".")[0]] = (
                    item.name if item.asname else item.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                aliases[item.asname or item.name] = f"{node.module}.{item.name}"
    return aliases


def _aliases_of_namespace(namespace: Mapping[str, Any]) -> dict[str, str]:
    aliases = {}
    for name, value in list(namespace.items()):
        if isinstance(value, ModuleType):
            aliases[name] = value.__name__
        elif callable(value) and (getattr(value, "__module__", None) or "").split(".")[0] in (
            "torch",
            "numpy",
            "scipy",
        ):
            aliases[name] = f"{value.__module__}.{getattr(value, '__name__', name)}"
    return aliases


def _dotted(node: ast.AST, aliases: Mapping[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MAX_PARTS:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return ""
    return ".".join([aliases[node.id], *reversed(parts)])
