"""Decides, for each test cell of an nbgrader notebook, whether it can run outside the student's process, or why not.

A cell that only calls the student's functions and checks their results works the same outside the sandbox. A cell that
deletes the student's names, inspects the functions themselves, or defines something for a later cell does not: it is graded
beside the student's code, as in nbgrader.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.course.names import names_used, symbols
from autograder.judging.safe_errors import WORDS

if TYPE_CHECKING:
    from nbformat.notebooknode import NotebookNode

#: The syntax of a constant.
_PARTS = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.Name,
    ast.Attribute, ast.expr_context, ast.Call, ast.keyword,
)  # fmt: skip
#: Calls that change settings of the whole process, which would affect later tests.
_SETS = re.compile(
    r"(set|use|enable|disable|register|install|config|reset|rc)(_|[A-Z]|$)|set[a-z]*$|.*Config$"
)
#: Names that reach beyond values, but not as attributes: ``re.compile``; ``contextlib.redirect_stdout`` does.
_USUAL = {"compile", "open", "input", "patch", "id"}
_SINGLETONS = frozenset({"NoneType", "bool", "ellipsis"})


@dataclass(frozen=True)
class GradedCell:
    """A graded test cell: its points, and the reason why it must stay in the notebook ("" if it can move)."""

    grade_id: str
    points: float
    source: str
    reason: str = ""
    #: Whether it checks changes that the student's functions make to their arguments.
    in_place: bool = False


@dataclass
class Names:
    """The names that the notebook's cells bind at the top level."""

    #: Name -> the statement of an import, a helper function or a constant that students may not change.
    given: dict[str, ast.stmt] = field(default_factory=dict)
    #: Name that students may rebind -> whether the notebook makes it a function or a class.
    made: dict[str, bool] = field(default_factory=dict)
    #: Name -> the positions of the code cells that use it.
    used: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


def graded_cells(cells: Sequence[NotebookNode]) -> tuple[list[GradedCell], Names]:
    """The graded test cells of the notebook in order, and the notebook's names."""
    names = _names_of(cells)
    found = []
    for place, cell in enumerate(cells):
        if cell.cell_type == "code" and _is_test(cell):
            data, tree = cell.metadata.nbgrader, _parsed(cell.source)
            reason = "it is no plain Python" if tree is None else next(_reasons(place, tree, names), "")
            found.append(GradedCell(data["grade_id"], float(data["points"]), cell.source, reason))
    return found, names


def _is_test(cell: NotebookNode) -> bool:
    data = cell.metadata.get("nbgrader", {})
    return bool(data.get("grade") and not data.get("solution"))


def _names_of(cells: Sequence[NotebookNode]) -> Names:
    names, versions = Names(), defaultdict[str, set[str]](set)
    for place, cell in enumerate(cells):
        # Without magics and shell commands, only for parsing.
        lines = ("" if line.lstrip()[:1] in ("%", "!") else line for line in cell.source.splitlines())
        source = "\n".join(lines)
        tree = _parsed(source) if cell.cell_type == "code" else None
        if tree is None:
            continue
        here = [(name, node) for node in tree.body for name in bound_by(node)]
        for name, node in here:
            versions[name].add(ast.dump(node))
            if _is_given(cell, node):
                names.given[name] = node
            else:
                names.made[name] = _makes_function(node, name)
        for name in names_used(source) - {name for name, node in here if not isinstance(node, ast.AugAssign)}:
            names.used[name].add(place)
    for name in [*names.given]:
        if name in names.made or len(versions[name]) > 1:
            names.made.setdefault(name, _makes_function(names.given.pop(name), name))
    return names


def _is_given(cell: NotebookNode, node: ast.stmt) -> bool:
    """Whether a statement binds the same value for every student: an import, or a given cell's plain definition."""
    data = cell.metadata.get("nbgrader", {})
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return not data.get("solution") and getattr(node, "module", "") != "__future__"
    restored = _is_test(cell) or (data.get("locked") and not data.get("solution"))
    return bool(restored) and (isinstance(node, ast.FunctionDef) or _is_constant(node))


def _is_constant(node: ast.stmt) -> bool:
    """Whether a statement binds a constant: ``EXPECTED = 3``, ``EXPECTED = np.array([1.0, 2.0])``."""
    if not isinstance(node, ast.Assign) or not all(isinstance(target, ast.Name) for target in node.targets):
        return False
    return all(
        isinstance(part, _PARTS)
        and (not isinstance(part, ast.Call) or _last_name(part.func) in WORDS["make_constants"])
        for part in ast.walk(node.value)
    )


def _makes_function(node: ast.stmt, name: str) -> bool:
    """Whether a statement that binds ``name`` defines a function or a class."""
    is_lambda = isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
    return is_lambda or getattr(node, "name", "") == name


def bound_by(node: ast.stmt) -> set[str]:
    """The global names that a top-level statement, or a function in it, binds or deletes."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return set()
    return {
        symbol.get_name()
        for table, symbol in symbols(ast.unparse(node))
        if (symbol.is_assigned() and (table.get_type() == "module" or symbol.is_declared_global()))
        or (symbol.is_imported() and table.get_type() == "module")
    }


def _parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell that Python can compile and unparse, perhaps with ``await``; else None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            tree = ast.parse(source)
            ast.unparse(tree)
            return tree
    except (SyntaxError, ValueError):
        return None


def _with_helpers(tree: ast.Module, wanted: set[str], names: Names) -> ast.Module:
    """The cell's code with the given statements that define the ``wanted`` names, and all that these use."""
    reached, waiting = dict[ast.stmt, None](), sorted(wanted)
    while waiting:
        node = names.given.get(waiting.pop())
        if node is not None and node not in reached:
            reached[node] = None
            waiting += sorted(names_used(ast.unparse(node)))
    return ast.Module([*tree.body, *reached], [])


def _reasons(place: int, tree: ast.Module, names: Names) -> Iterator[str]:
    """The reasons against moving a cell that running it would not show, the simplest first."""
    free = names_used(ast.unparse(tree))
    here = {name for node in tree.body for name in bound_by(node)}
    whole = _with_helpers(tree, free - here, names)
    attributes = {node.attr for node in ast.walk(whole) if isinstance(node, ast.Attribute)} - _USUAL
    if around := (names_used(ast.unparse(whole)) | attributes) & WORDS["reach_around"]:
        yield f"it uses {_listed(around)}, which looks beyond values"
    definitions = (ast.Import, ast.ImportFrom, ast.FunctionDef)
    lasting = {n for node in tree.body if not isinstance(node, definitions) for n in bound_by(node)}
    lasting |= here & names.made.keys()
    if needed := {name for name in lasting if names.used[name] - {place}}:
        yield f"it makes {_listed(needed)}, which another cell uses"
    imports = (node for node in ast.walk(whole) if isinstance(node, (ast.Import, ast.ImportFrom)))
    if settings := {*_sets(whole, {name for node in imports for name in bound_by(node)})}:
        yield f"it sets {_listed(settings)}, which would hold for the tests after it"
    yield from _identities(tree)
    calls = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    looked_at = {node.id for node, fine in _uses(tree) if isinstance(node, ast.Name) and not fine}
    for name in sorted((free & names.made.keys() & looked_at) - here):
        if names.made[name] or name in calls:
            yield f"it looks at the function {name} itself, not only at what it returns"
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not _gives_nothing(tree.body[-1].value):
        yield "its last line may be a number of points"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _sets(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """Yield the lasting settings of modules: ``plt.rcParams["x"] = 1``, ``locale.setlocale(…)``."""
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and _SETS.match(_last_name(node.func))
        written = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
        if (called or written) and _root(node) in modules:
            yield ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _identities(tree: ast.AST) -> Iterator[str]:
    """Comparisons such as ``a is b``, which fail for copies; ``is None``, ``is True`` and ``type(x) is list`` hold."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for operator, right in zip(node.ops, node.comparators, strict=True):
                single = isinstance(right, ast.Constant) and type(right.value).__name__ in _SINGLETONS
                is_type = isinstance(right, ast.Name) and isinstance(getattr(builtins, right.id, None), type)
                if isinstance(operator, (ast.Is, ast.IsNot)) and not single and not is_type:
                    yield "it asks whether two objects are the same one"


def _uses(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node, and whether it may be a function: if it is called, or an argument of a function that calls it."""
    for node in ast.walk(tree):
        calls_it = isinstance(node, ast.Call) and _last_name(node.func) in WORDS["call_their_argument"]
        for place, child in ast.iter_fields(node):
            for part in child if isinstance(child, list) else [child]:
                part = part.value if isinstance(part, ast.keyword) else part
                if isinstance(part, ast.AST) and not isinstance(node, ast.keyword):
                    yield part, isinstance(node, ast.Call) and (place == "func" or calls_it)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _gives_nothing(node: ast.expr) -> bool:
    """Whether nbgrader reads no points from the cell's last line."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) or node.value is None
    if not isinstance(node, ast.Call):
        return False
    name = _last_name(node.func)
    return name == "print" or name.lower().startswith("assert")
