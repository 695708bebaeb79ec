"""Finds forbidden names in an answer: functions that its question forbids, and parts of the kit that compute right values.

The code is read, not run: the question's function, and what it uses in the notebook, directly or not (helpers, imports,
assignments). ``sandbox/child/call_watch.py`` watches the student's calls and may see what reading misses.

An answer may use the kit's tools, and whatever the lab's own cells import. The rest (checks, models, names with
an underscore) compares with right values, so it can compute them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

import coursekit
from coursekit.checks.api import forbidden_calls
from coursekit.checks.forbidden_calls import among, named_in, names_bound

from autograder.course.policy_file import settings
from autograder.course.student_files import kit_files, kit_folder
from autograder.grading.cell_text import DEFINITIONS, statements
from autograder.grading.repair import Template, kept_name

#: The name that a result shows for any part of the kit.
KIT_PARTS = "the checks or models of coursekit"
#: Packages and modules whose public names are all tools.
_TOOLS = frozenset(["data", "errors", "figures", "hardware", "notebook", "provided", *coursekit.__all__])
_FUNCTIONS = frozenset(f"coursekit.checks.earlier_labs.{name}" for name in ("mine", "on_tensors", "provided"))
#: Code without any of these words reaches no module of the kit.
_WAYS_IN = re.compile(r"coursekit|modules|import_module|__import__|__globals__|\b(?:exec|eval|gc)\b")


def forbidden_used(lab: str, question: str, cells: Sequence[str]) -> tuple[str, ...]:
    """The forbidden names that the answer to ``question`` uses in the notebook made of ``cells``."""
    names, with_kit = names_forbidden(lab, question), may_use_kit(lab, cells)
    if not names and not with_kit:
        return ()
    named = _named(question, _answer_and_helpers(question, chain.from_iterable(map(_statements, cells))))
    of_kit = [path for path in named if path.startswith("coursekit.")] if with_kit else []
    return (*among(named, names), *([] if all(is_tool(path, lab) for path in of_kit) else [KIT_PARTS]))


def names_forbidden(lab: str, question: str) -> tuple[str, ...]:
    """The library functions that answers to ``question`` may not use: the kit's list, and the course policy's."""
    return (*forbidden_calls(lab, question), *settings().lab(lab).forbid.get(question, ()))


@dataclass(frozen=True, eq=False)
class _Statement:
    """A statement outside functions and classes, with the notebook's names that it binds and uses."""

    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]


@lru_cache(maxsize=2048)  # each question reads all cells, and a lab's own cells are in every notebook
def _statements(cell: str) -> list[_Statement]:
    """The statements of a cell in order, also those in branches and loops. A cell that is not plain Python has none."""
    return [_statement(node) for node in _simple(statements(cell))]


def _simple(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    waiting = [*body][::-1]
    while waiting:
        node = waiting.pop()
        parts = (ast.stmt, ast.ExceptHandler, ast.match_case)
        inner = [part for part in ast.iter_child_nodes(node) if isinstance(part, parts)]
        if inner and not isinstance(node, DEFINITIONS):
            waiting += reversed(inner)
        elif isinstance(node, ast.stmt):
            yield node


def _statement(node: ast.stmt) -> _Statement:
    nodes = [*ast.walk(node)]
    bound = frozenset(names_bound(nodes))
    loaded = {part.id for part in nodes if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    binds = frozenset([node.name]) if isinstance(node, DEFINITIONS) else bound
    return _Statement(node, binds, frozenset(loaded - bound))


@lru_cache(maxsize=512)
def _named(question: str, answer: tuple[_Statement, ...]) -> frozenset[str]:
    """The names in an answer and in the statements that it uses."""
    body = [statement.node for statement in answer]
    return named_in(ast.Module([*body, ast.Expr(ast.Name(question, ast.Load()))], []))


def _answer_and_helpers(question: str, notebook: Iterable[_Statement]) -> tuple[_Statement, ...]:
    """The answer and the statements it uses. A name means its last binding above the answer's check, else below."""
    meanings: dict[str, _Statement] = {}
    is_below = False
    for statement in notebook:
        is_below |= kept_name(question) in statement.binds
        meanings |= {name: statement for name in statement.binds if not is_below or name not in meanings}
    reached: dict[_Statement, None] = {}
    waiting = [question]
    while waiting:
        found = meanings.pop(waiting.pop(), None)
        if found is not None and found not in reached:
            reached[found] = None
            waiting += found.uses
    return (*reached,)


def may_use_kit(lab: str, cells: Iterable[str]) -> bool:
    """Whether the student's own code, without the lab's, may reach modules of the kit."""
    given = Template.of(lab).given_sources
    return any(_WAYS_IN.search(cell) is not None for cell in cells if cell.strip() not in given)


def is_tool(path: str, lab: str) -> bool:
    """Whether an answer in ``lab`` may use the dotted path, such as ``coursekit.figures.heatmap``."""
    _, *parts = path.split(".")
    if any(part.startswith("_") for part in parts):
        return False
    if not parts or parts[0] in _TOOLS:
        return True
    known = _FUNCTIONS | _imported_by_the_lab(lab)
    return any(f"{path}.".startswith(f"{name}.") or name.startswith(f"{path}.") for name in known)


@cache
def no_tools(lab: str) -> tuple[str, ...]:
    """The functions and classes of the kit that no answer in ``lab`` may use."""
    kit = kit_folder()
    defined = (
        ".".join(("coursekit", *file.relative_to(kit).with_suffix("").parts, node.name))
        for file in kit_files(lab)
        if file.suffix == ".py"
        for node in statements(file.read_text(encoding="utf-8"))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    )
    return tuple(name for name in defined if not is_tool(name, lab))


@cache
def _imported_by_the_lab(lab: str) -> frozenset[str]:
    """The parts of the kit that the lab's own cells import, as dotted paths."""
    nodes = (
        node
        for source in Template.of(lab).given_sources
        for part in statements(source)
        for node in ast.walk(part)
    )
    return frozenset(
        f"{node.module}.{item.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "coursekit"
        for item in node.names
    )
