"""Extracts the source of a question's scenarios and impostors for the kit, without any code of an answer."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course.names import names_used
from autograder.questions.engine.question import Question

_QUESTIONS = "autograder.questions.m"
_ENGINE = "autograder.questions.engine"
#: Name that scenarios import from the engine -> its module in the kit.
_IN_THE_KIT = {"Observed": "coursekit.checks.compare"}


class ReachesAnAnswer(ValueError):
    """A scenario or impostor uses code that must not be in the kit. The message names it."""


def card_code(question: Question) -> str:
    """The source of a question's scenarios and impostors, with all that they use in the lab's files; "" if it has none.

    Raises ``ReachesAnAnswer`` if they use a misconception, an alternative, the master, the reference or its helpers.
    """
    plays = [scenario.play for scenario in question.scenarios]
    answers = [question.reference, *(one.function for one in question.misconceptions), *question.alternatives]
    of_the_reference = reached([_home(question.reference, question)]).items()
    secret = {found for found, node in of_the_reference if not isinstance(node, ast.Assign)}
    secret |= {_home(function, question) for function in answers}
    found = reached([_home(function, question) for function in (*plays, *question.impostors)])
    imports, definitions = [], {}
    for (module, name), node in found.items():
        where = f"{question.name}: the card's scenarios and impostors use “{name}”"
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append(_import_of(name, node, where))
        elif (module, name) in secret or name == "question":
            raise ReachesAnAnswer(f"{where}, which is part of an answer: write what they need without it")
        else:
            definitions[module == question.reference.__module__, module, node.lineno] = ast.unparse(node)
    if not definitions:
        return ""
    lines = ["from __future__ import annotations", *sorted(set(imports))]
    source = "\n\n".join(["\n".join(lines), *(definitions[place] for place in sorted(definitions))]) + "\n"
    if "autograder" in source:
        raise ReachesAnAnswer(f"{question.name}: the card's scenarios and impostors name the harness")
    return source


def reached(names: list[tuple[str, str]]) -> dict[tuple[str, str], ast.stmt]:
    """(Module, name) -> its definition without decorators, for these names and all that they use in the lab's folder."""
    waiting = [*names]
    found: dict[tuple[str, str], ast.stmt] = {}
    while waiting:
        module, name = waiting.pop()
        node = definitions_in(module).get(name)
        if (module, name) in found or node is None:
            continue
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(_QUESTIONS):
            original = next(item.name for item in node.names if name in (item.asname, item.name))
            waiting.append((str(node.module), original))
            continue
        found[module, name] = _undecorated(node)
        waiting += [
            (module, used)
            for used in names_used(ast.unparse(found[module, name]))
            if not hasattr(builtins, used)
        ]
    return found


def _home(function: Any, question: Question) -> tuple[str, str]:
    """The module and name of a function, or of the function that a ``partial`` wraps."""
    function = function.func if isinstance(function, functools.partial) else function
    return getattr(function, "__module__", question.reference.__module__), getattr(function, "__name__", "")


@functools.cache
def definitions_in(module: str) -> dict[str, ast.stmt]:
    """Name -> top-level statement of a module that binds it."""
    tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))
    return {name: node for node in tree.body for name in _names_bound(node)}


def _names_bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((item.asname or item.name).split(".")[0] for item in names)
        case ast.Assign() | ast.AnnAssign():
            yield from (
                part.id
                for part in ast.walk(node)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )


def _undecorated(node: ast.stmt) -> ast.stmt:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return type(node)(**{**dict(ast.iter_fields(node)), "decorator_list": []}, lineno=node.lineno)
    return node


def _import_of(name: str, node: ast.Import | ast.ImportFrom, where: str) -> str:
    """The import of one name, as it must be in the kit."""
    if isinstance(node, ast.ImportFrom) and node.module == _ENGINE and name in _IN_THE_KIT:
        return f"from {_IN_THE_KIT[name]} import {name}"
    [item] = [item for item in node.names if (item.asname or item.name).split(".")[0] == name]
    line = ast.unparse(
        ast.Import([item])
        if isinstance(node, ast.Import)
        else ast.ImportFrom(node.module, [item], node.level)
    )
    if "autograder" in line:
        raise ReachesAnAnswer(f"{where} of the harness, which is not in the kit")
    return line
