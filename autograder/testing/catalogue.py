"""The named answers of a lab: wrong ones with their hints, and right ones in other styles; and their source.

The files of its questions hold them (``autograder.questions``).
"""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from autograder.course.masters import source_of_import

_QUESTIONS = "autograder.questions."


@dataclass(frozen=True)
class Answer:
    """A named answer to a question; ``hint`` is empty for a correct alternative."""

    question: str
    name: str
    title: str
    function: Callable[..., Any]
    hint: str = ""
    #: What it costs whoever is recognised, in points.
    costs: float = 0.0
    #: Why its card shows another thing than its hint; "" where it shows that.
    card: str = ""


def questions_engine() -> Any:
    """The module that makes tests and answers of question files. It stands above this one, which serves its callers."""
    return importlib.import_module(f"{_QUESTIONS}engine.as_tests")


@cache
def answers_of(lab: str) -> dict[str, dict[str, tuple[Answer, ...]]]:
    """``{"misconception" | "alternative": {question: answers}}`` of a lab (full name), in file order."""
    if source_of_import(lab):
        return {"misconception": {}, "alternative": {}}
    found: dict[str, dict[str, tuple[Answer, ...]]] = questions_engine().answers(lab)
    return found


def loaded_anew(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """The same answers from new copies of their modules: what one keeps from call to call begins as in a student's process."""
    copies: dict[str, Any] = {}
    for name in {answer.function.__module__ for answer in answers}:
        spec = sys.modules[name].__spec__
        assert spec is not None and spec.loader is not None
        copies[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(copies[name])
    return tuple(replace(a, function=_in_module(copies[a.function.__module__], a)) for a in answers)


def _in_module(module: Any, answer: Answer) -> Any:
    if (question := getattr(module, "question", None)) is not None and answer.hint:
        return next(one.function for one in question.misconceptions if one.title == answer.title)
    return getattr(module, answer.name)


def source_of(answer: Answer) -> str | None:
    """The source of a named answer as a student would have written it, or None when it builds on the harness."""
    definitions: dict[tuple[str, int], str] = {}  # by module and line
    pending = [(answer.function.__module__, answer.function.__name__)]
    while pending:
        module, name = pending.pop()
        node = _definitions(module).get(name)
        if node is None or (module, node.lineno) in definitions:
            continue
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{_QUESTIONS}m"):
            pending += [(str(node.module), name)]
            continue
        if isinstance(node, ast.FunctionDef) and _fixed_arguments(node, answer.title).keys() - {
            argument.arg for argument in node.args.kwonlyargs
        }:
            return None  # it hands on what is fixed
        definition = _as_answer(node, answer)
        definitions[module, node.lineno] = ast.unparse(definition)
        names = [n for n in ast.walk(definition) if isinstance(n, ast.Name)]
        bound = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        bound |= {part.arg for part in ast.walk(definition) if isinstance(part, ast.arg)}
        pending += [(module, n.id) for n in names if n.id not in bound]
    # Helpers that several questions share come first, as in a notebook.
    parts = [
        definitions[key] for key in sorted(definitions, key=lambda key: (not key[0].endswith(".common"), key))
    ]
    if any("autograder" in text or "master(" in text for text in parts):
        return None
    return "\n\n".join(dict.fromkeys(parts))


@cache
def _definitions(module: str) -> dict[str, ast.stmt]:
    """The statements at the top level of a loaded module, by the names they bind."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {name: node for node in tree.body for name in _bound_names(node)}


def _bound_names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(item.asname or item.name).split(".")[0] for item in node.names]
    if isinstance(node, ast.Assign):
        return [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    return []


def _fixed_arguments(node: ast.FunctionDef | ast.ClassDef, title: str) -> dict[str | None, ast.expr]:
    """What the decorator with this title sets of the parameters that are given by name only."""
    calls = [mark for mark in node.decorator_list if isinstance(mark, ast.Call) and mark.args]
    return {
        keyword.arg: keyword.value
        for call in calls
        if isinstance(call.args[0], ast.Constant) and call.args[0].value == title
        for keyword in call.keywords
        if keyword.arg not in ("costs", "hint", "because", "card")
    }


def _as_answer(node: ast.stmt, answer: Answer) -> ast.stmt:
    """The definition under the question's name, without decorator and hint."""
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name != answer.function.__name__:
        return node
    copied = copy.deepcopy(node)
    copied.name, copied.decorator_list = answer.question, []
    if isinstance(copied, ast.FunctionDef):
        fixed = _fixed_arguments(node, answer.title)
        names = [argument.arg for argument in copied.args.kwonlyargs]
        given = zip(names, copied.args.kw_defaults, strict=True)
        copied.args.kw_defaults = [fixed.get(name, default) for name, default in given]
    copied.body = (copied.body[1:] if ast.get_docstring(node) else copied.body) or [ast.Pass()]
    for part in ast.walk(copied):
        if isinstance(part, ast.Name) and part.id == answer.function.__name__:  # it calls itself
            part.id = answer.question
    return copied
