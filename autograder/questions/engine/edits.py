"""Makes single edits of a right answer, each with words for the edited answer's behaviour.

The words name arguments, axes and library functions, but no line of a solution.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Operation -> its noun, and the preposition before its second operand ("a division", "by").
_OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("an addition", "of"),
    ast.Sub: ("a subtraction", "of"),
    ast.Mult: ("a multiplication", "by"),
    ast.Div: ("a division", "by"),
    ast.FloorDiv: ("a division", "by"),
    ast.Pow: ("a power", "of"),
    ast.MatMult: ("a matrix product", "with"),
    ast.Mod: ("a remainder", "by"),
    ast.BitAnd: ("an “and”", "with"),
    ast.BitOr: ("an “or”", "with"),
}
_INVERSES: dict[type[ast.operator], tuple[type[ast.operator], str]] = {
    ast.Add: (ast.Sub, "subtracts where it should add"),
    ast.Sub: (ast.Add, "adds where it should subtract"),
    ast.Mult: (ast.Div, "divides where it should multiply"),
    ast.Div: (ast.Mult, "multiplies where it should divide"),
}
#: Comparison -> the one that differs only for equal values.
_EQUALITY_MOVED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """The source of an edited answer, and its behaviour in words ("ignores `mask`")."""

    source: str
    behaviour: str
    #: How little the words tell: from an ignored argument (0) to a changed number (3).
    rank: int = 1


def edits_of(source: str, name: str, given: Collection[str] = (), master: str = "") -> list[Edit]:
    """All single edits of the function ``name`` in a source, in a fixed order, without duplicates.

    ``given`` are the functions that every student has, which the words may name. ``master`` is the source of the master's
    answer if that is another one. Then no operation becomes its inverse: a student need not have that operation.

    >>> [edit.behaviour for edit in edits_of("def f(x, mask=None): return -x", "f")]
    ['ignores `mask`', 'has the other sign in a place that has to do with `x`']
    """
    tree = ast.parse(source)
    _defined(tree, name).decorator_list = []
    for function in _functions(tree, name):
        if ast.get_docstring(function):
            function.body = function.body[1:] or [ast.Pass()]
    before = ast.unparse(tree)
    known = frozenset(re.findall(r"\w+", master or source))
    found: dict[str, Edit] = {}
    for place in list(_places(tree, name, given, known, own=not master)):
        for behaviour, replacement in _changes(place):
            ast.fix_missing_locations(replacement)
            _Replaced(place.node, replacement).visit(tree)
            after = ast.unparse(tree)
            _Replaced(replacement, place.node).visit(tree)
            if after != before:
                found.setdefault(after, Edit(after, behaviour, _rank(place.node)))
    return list(found.values())


def _functions(tree: ast.Module, name: str) -> list[ast.FunctionDef]:
    """The function ``name``, or the methods of the class ``name``."""
    defined = _defined(tree, name)
    parts = defined.body if isinstance(defined, ast.ClassDef) else [defined]
    return [part for part in parts if isinstance(part, ast.FunctionDef)]


def _defined(tree: ast.Module, name: str) -> ast.FunctionDef | ast.ClassDef:
    definitions = (n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
    return next(one for one in definitions if one.name == name)


def _places(
    tree: ast.Module, name: str, given: Collection[str], known: frozenset[str], own: bool
) -> Iterator[_Place]:
    for function in _functions(tree, name):
        inside = list(ast.walk(function))
        arguments = [argument.arg for argument in function.args.args if argument.arg != "self"]
        made: dict[str, ast.expr] = {}
        for node in inside:
            match node:
                case (
                    ast.Assign(targets=[ast.Name() as target], value=source)
                    | ast.For(target=target, iter=source)
                    | ast.comprehension(target=target, iter=source)
                ):
                    bound = (part for part in ast.walk(target) if isinstance(part, ast.Name))
                    made = {part.id: source for part in bound if isinstance(part.ctx, ast.Store)} | made
        parents = {child: node for node in inside for child in ast.iter_child_nodes(node)}
        names = frozenset(given) - set(arguments)
        yield from (_Place(node, function, parents, arguments, names, known, made, own) for node in inside)


def _rank(node: ast.AST) -> int:
    if isinstance(node, (ast.FunctionDef, ast.Constant)):
        return 0 if isinstance(node, ast.FunctionDef) else 3
    return 2 if isinstance(node, ast.Name) else 1


class _Replaced(ast.NodeTransformer):
    """Replaces one node by another."""

    def __init__(self, old: ast.AST, new: ast.AST):
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().generic_visit(node)


@dataclass(frozen=True)
class _Place:
    """A node of a function, and the names that its words may use: arguments, and functions that every student has."""

    node: Any
    function: ast.FunctionDef
    parents: dict[ast.AST, ast.AST]
    arguments: list[str]
    given: frozenset[str]
    #: All names in the master's answer. A student need not know the other functions of an alternative.
    masters_names: frozenset[str]
    #: Local variable -> the first expression assigned to it.
    assigned: dict[str, ast.expr]
    #: Whether the function is the master's answer.
    own: bool

    def about(self, node: ast.AST) -> str:
        """A phrase with the first two usable names in an expression, or in those assigned to its variables; "" for none."""
        shown = list(dict.fromkeys(self._names_in([node])))[:2]
        return f" that has to do with {' and '.join(shown)}" if shown else ""

    def within(self, node: ast.AST) -> str:
        """A phrase for the place of a node."""
        about = self.about(node)
        return f"a place{about}" if about else "one place"

    def _names_in(self, nodes: Iterable[ast.AST], deep: bool = True) -> Iterator[str]:
        inside = [part for node in nodes for part in ast.walk(node)]
        variables = [n.id for n in inside if isinstance(n, ast.Name)]
        called = [n.func.id for n in inside if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        yield from (f"`{name}`" for name in called if name in self.given and name in self.masters_names)
        yield from (f"`{name}`" for name in variables if name in self.arguments)
        if deep:
            local = [name for name in variables if name not in self.arguments and name in self.assigned]
            yield from self._names_in([self.assigned[name] for name in local], deep=False)

    def called(self, node: ast.AST) -> str:
        """The name of a called library function or array method that the master names, too; "" for another."""
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        *before, last = name.rpartition(".")
        if last not in self.masters_names:
            return ""
        if name.partition(".")[0] in ("np", "torch", "math") and name.replace(".", "").isidentifier():
            return name
        if before[1]:
            return last if hasattr(np.ndarray, last) else ""
        return name if name in self.given or name in vars(builtins) else ""

    def of_number(self) -> str:
        """A phrase for the place of a number; "" if nothing there can be named."""
        node, parent, words = self.node, self.parents.get(self.node), ""
        while parent is not None and not words:
            about = self.about(parent)
            match parent:
                case ast.keyword(arg=str(name)) if called := self.called(self.parents[parent]):
                    return f"the argument `{name}` of `{called}`"
                case ast.Call() if called := self.called(parent):
                    return f"what it gives to `{called}`"
                case ast.Subscript(slice=part) if part is node:
                    words = "an index or a slice of something"
                case ast.Compare():
                    words = "a comparison"
                case ast.BinOp() if type(parent.op) in _OPERATIONS:
                    words = _OPERATIONS[type(parent.op)][0]
            node, parent = parent, self.parents.get(parent)
        return f"{words}{about}" if words and about else ""


def _changes(place: _Place) -> Iterator[tuple[str, ast.AST]]:
    """Yield the edits of a node: the edited answer's behaviour in words, and the node's replacement."""
    node, arguments = place.node, place.arguments
    if node is place.function:
        yield from _ignored_arguments(place.function)
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node, place)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        if not isinstance(node.op, ast.USub):
            yield f"exchanges True and False in {place.within(node)}", node.operand
        elif not isinstance(node.operand, ast.Constant):
            yield f"has the other sign in {place.within(node)}", node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind, about = type(node.ops[0]), place.about(node)
        if kind in _EQUALITY_MOVED:
            words = f"puts equal values on the wrong side of a comparison{about}"
            yield words, ast.Compare(node.left, [_EQUALITY_MOVED[kind]()], node.comparators)
        if kind in _OPPOSITES:
            words = f"reverses a comparison{about}"
            yield words, ast.Compare(node.left, [_OPPOSITES[kind]()], node.comparators)
    elif isinstance(node, ast.Call):
        yield from _of_call(node, place)
    elif isinstance(node, ast.AugAssign):
        words = f"overwrites what it should add to in {place.within(node)}"
        yield words, ast.Assign([node.target], node.value)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in arguments:
        others = arguments[: len(arguments) - len(place.function.args.defaults)]
        for name in others if not isinstance(place.parents[node], ast.Compare) else ():
            if name != node.id:
                yield f"takes `{name}` for `{node.id}` in one place", ast.Name(name, ast.Load())
    elif isinstance(node, ast.Constant) and type(node.value) is int and (where := place.of_number()):
        for step, more in ((1, "large"), (-1, "small")):
            yield f"has a number too {more} by one in {where}", ast.Constant(node.value + step)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
        swapped = ast.Tuple(node.value.elts[::-1], ast.Load())
        yield "returns its results in the other order", _with(node, value=swapped)


def _with(node: Any, **changes: Any) -> Any:
    changed = copy.copy(node)
    vars(changed).update(changes)
    return changed


def _ignored_arguments(function: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    """Yield edits that set an argument to its default at the start."""
    defaults = function.args.defaults
    for argument, default in zip(function.args.args[::-1], defaults[::-1], strict=False):
        first = ast.Assign([ast.Name(argument.arg, ast.Store())], default)
        yield f"ignores `{argument.arg}`", _with(function, body=[first, *function.body])


def _of_operation(node: ast.BinOp, place: _Place) -> Iterator[tuple[str, ast.AST]]:
    if type(node.op) in _OPERATIONS:
        operation, by = _OPERATIONS[type(node.op)]
        for kept, dropped in ((node.left, node.right), (node.right, node.left)):
            words = f"leaves out {operation}{place.about(dropped) or place.about(kept)}"
            number = getattr(dropped, "value", None)
            either = isinstance(node.op, (ast.Add, ast.Mult))
            if type(number) in (int, float) and (either or dropped is node.right):
                words = f"leaves out {operation} {by} {number} in {place.within(kept)}"
            if not isinstance(kept, ast.Constant):
                yield words, kept
    if type(node.op) in _INVERSES and place.own:
        other, words = _INVERSES[type(node.op)]
        yield f"{words} in {place.within(node)}", ast.BinOp(node.left, other(), node.right)


def _of_call(node: ast.Call, place: _Place) -> Iterator[tuple[str, ast.AST]]:
    name = place.called(node)
    if name and len(node.args) == 1 and not node.keywords:
        yield f"leaves out `{name}`", node.args[0]
    for number, keyword in enumerate(node.keywords):
        axis = ast.unparse(keyword.value) if keyword.arg in ("axis", "dim") else ""
        for other in {"-1": (-2, 0), "-2": (-1,), "0": (1,), "1": (0,)}.get(axis, ()):
            turned = _with(keyword, value=ast.Constant(other))
            keywords = [*node.keywords[:number], turned, *node.keywords[number + 1 :]]
            words = f"takes `{name}` along another axis" if name else "takes another axis"
            yield words, _with(node, keywords=keywords)
