"""Single edits of a right answer, each with a sentence of what the edited answer does.

A sentence speaks of behaviour: it names arguments, axes and library functions, and no line of a solution.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np

_OPERATIONS = {
    ast.Add: "an addition",
    ast.Sub: "a subtraction",
    ast.Mult: "a multiplication",
    ast.Div: "a division",
    ast.FloorDiv: "a division",
    ast.Pow: "a power",
    ast.MatMult: "a matrix product",
    ast.Mod: "a remainder",
    ast.BitAnd: "an “and”",
    ast.BitOr: "an “or”",
}
_INSTEAD: dict[type[ast.operator], tuple[type[ast.operator], str]] = {
    ast.Add: (ast.Sub, "subtracts where it should add"),
    ast.Sub: (ast.Add, "adds where it should subtract"),
    ast.Mult: (ast.Div, "divides where it should multiply"),
    ast.Div: (ast.Mult, "multiplies where it should divide"),
}
_BORDERS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


@dataclass(frozen=True)
class Edit:
    """A changed answer's source, and what that answer does, as the end of a sentence ("ignores `mask`")."""

    source: str
    does: str
    #: How little that says: from an argument that is ignored (0) to a number that is another (3).
    rank: int = 1


def edits_of(source: str, name: str, given: Collection[str] = ()) -> list[Edit]:
    """All single edits of the function ``name`` in a source, in a fixed order, each source once.

    ``given`` names the functions that everybody has, and that a sentence may name.

    >>> [edit.does for edit in edits_of("def f(x, mask=None): return -x", "f")]
    ['ignores `mask`', 'has the other sign in one place']
    """
    tree = ast.parse(source)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    function.decorator_list = []
    if ast.get_docstring(function):
        function.body = function.body[1:] or [ast.Pass()]
    before = ast.unparse(tree)
    found: dict[str, Edit] = {}
    for place, node in enumerate(ast.walk(function)):
        for number in range(len(list(_changes(node, function, given)))):
            edited = copy.deepcopy(tree)
            inside = next(n for n in edited.body if isinstance(n, ast.FunctionDef) and n.name == name)
            twin = list(ast.walk(inside))[place]
            does, change = list(_changes(twin, inside, given))[number]
            replacement = change()
            if replacement is not None:
                _Replaced(twin, replacement).visit(inside)
            after = ast.unparse(ast.fix_missing_locations(edited))
            if after != before:
                found.setdefault(after, Edit(after, does, _rank(node)))
    return list(found.values())


def _rank(node: ast.AST) -> int:
    if isinstance(node, (ast.FunctionDef, ast.Constant)):
        return 0 if isinstance(node, ast.FunctionDef) else 3
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return 3
    return 2 if isinstance(node, (ast.If, ast.IfExp, ast.Name)) else 1


class _Replaced(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST):
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().generic_visit(node)


@dataclass(frozen=True)
class _Names:
    """What a sentence may name: the arguments, and functions that are a library's or everybody's."""

    arguments: frozenset[str]
    given: frozenset[str]

    def about(self, node: ast.AST) -> str:
        """The first two such names in an expression, for a sentence; "" where there are none."""
        inside = list(ast.walk(node))
        found = [name for n in inside if isinstance(n, ast.Call) and (name := self.called(n))]
        found += [n.id for n in inside if isinstance(n, ast.Name) and n.id in self.arguments]
        shown = [f"`{name}`" for name in dict.fromkeys(found)][:2]
        return f" that has to do with {' and '.join(shown)}" if shown else ""

    def called(self, node: ast.Call) -> str:
        """The name of a called function, or of an array's method; "" for one of the solution's own."""
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and not isinstance(
            node.func.value, (ast.Name, ast.Attribute)
        ):
            name = f"np.{node.func.attr}" if hasattr(np, node.func.attr) else ""
        library = name.partition(".")[0] in ("np", "torch", "math") and name.replace(".", "").isidentifier()
        return name if library or name in self.given or name in vars(builtins) else ""


_Change = tuple[str, Callable[[], ast.AST | None]]


def _changes(node: ast.AST, function: ast.FunctionDef, given: Collection[str]) -> Iterator[_Change]:
    """What may be changed at a node: what the answer then does, and a function that returns the node's replacement.

    One that returns None has changed the node itself.
    """
    arguments = [argument.arg for argument in function.args.args]
    names = _Names(frozenset(arguments), frozenset(given) - set(arguments))
    if node is function:
        yield from _ignored_arguments(function)
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node, names)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        words = "turns True and False round in one place"
        if isinstance(node.op, ast.USub):
            number = isinstance(node.operand, ast.Constant)
            words = "takes another axis or number" if number else "has the other sign in one place"
        yield words, lambda: node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _of_comparison(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node, names)
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield from _of_condition(node, names)
    elif isinstance(node, ast.AugAssign):
        yield (
            "overwrites what it should add to",
            lambda: ast.copy_location(ast.Assign([node.target], node.value), node),
        )
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in arguments:
        for other in arguments[: len(arguments) - len(function.args.defaults)]:
            if other != node.id:
                words = f"takes `{other}` for `{node.id}` in one place"
                yield words, lambda other=other: ast.Name(other, ast.Load())  # type: ignore[misc]
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        for step, more in ((1, "larger"), (-1, "smaller")):
            words = f"has a number that is {more} by one than it should be"
            yield words, lambda step=step: ast.Constant(node.value + step)  # type: ignore[misc]
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
        elements = node.value.elts
        yield (
            "returns its results in the other order",
            lambda: ast.Return(ast.Tuple(elements[::-1], ast.Load())),
        )


def _ignored_arguments(function: ast.FunctionDef) -> Iterator[_Change]:
    """An argument with a default is set to it at the start."""
    defaults = function.args.defaults
    for argument, default in zip(
        function.args.args[-len(defaults) :] if defaults else [], defaults, strict=True
    ):

        def ignore(argument: ast.arg = argument, default: ast.expr = default) -> None:
            function.body.insert(0, ast.Assign([ast.Name(argument.arg, ast.Store())], copy.deepcopy(default)))

        yield f"ignores `{argument.arg}`", ignore


def _of_operation(node: ast.BinOp, names: _Names) -> Iterator[_Change]:
    operation = _OPERATIONS.get(type(node.op))
    if operation:
        for kept, dropped in ((node.left, node.right), (node.right, node.left)):
            words = f"leaves out {operation}{names.about(dropped)}"
            yield words, lambda kept=kept: kept  # type: ignore[misc]
    if type(node.op) in _INSTEAD:
        other, words = _INSTEAD[type(node.op)]
        yield words, lambda: ast.BinOp(node.left, other(), node.right)


def _of_comparison(node: ast.Compare) -> Iterator[_Change]:
    kind = type(node.ops[0])
    if kind in _BORDERS:
        words = "takes the border itself to the other side of a comparison"
        yield words, lambda: ast.Compare(node.left, [_BORDERS[kind]()], node.comparators)
    if kind in _TURNED:
        words = "has a comparison the other way round"
        yield words, lambda: ast.Compare(node.left, [_TURNED[kind]()], node.comparators)


def _of_call(node: ast.Call, names: _Names) -> Iterator[_Change]:
    name = names.called(node)
    if name and len(node.args) == 1 and not node.keywords:
        yield f"leaves out `{name}`", lambda: node.args[0]
    for keyword in node.keywords:
        axis = _whole(keyword.value) if keyword.arg == "axis" else None
        for other in {-1: (-2, 0), -2: (-1,), 0: (1,), 1: (0,)}.get(axis, ()) if axis is not None else ():

            def turn(keyword: ast.keyword = keyword, other: int = other) -> None:
                keyword.value = ast.Constant(other)

            yield f"takes `{name or 'a function'}` along another axis", turn


def _of_condition(node: ast.If | ast.IfExp, names: _Names) -> Iterator[_Change]:
    about = names.about(node.test)
    for value, words in (
        (False, f"does not look at a special case{about}"),
        (True, f"takes every case for a special one{about}"),
    ):

        def decide(value: bool = value) -> None:
            node.test = ast.Constant(value)

        yield words, decide


def _whole(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None
