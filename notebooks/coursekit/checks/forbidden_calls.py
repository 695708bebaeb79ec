"""Finds the library functions that a question forbids, by their names in the student's code.

A forbidden function is written as a student would import it: ``torch.softmax``, ``scipy.special.softmax``. It covers every
function of that name in its library, also ``torch.nn.functional.softmax``. ``Tensor.softmax`` covers ``x.softmax(...)`` on
any object, ``str.encode`` likewise. Methods that the code defines itself are allowed.

The search follows imports (also with ``as``), assignments such as ``F = nn.functional``, and ``getattr`` with a literal name. A
name that the code also binds in another way is ignored, because a miss is better than a false accusation. Watching the calls at run
time finds the rest (``autograder/sandbox/child/call_watch.py``).
"""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

#: Functions that compute gradients, for questions that ask for gradients by hand.
AUTOMATIC_GRADIENTS = (
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.autograd.functional.jacobian",
    "torch.autograd.functional.hessian",
    "torch.autograd.functional.jvp",
    "torch.autograd.functional.vjp",
    "torch.autograd.functional.hvp",
    "torch.autograd.functional.vhp",
    "torch.autograd.forward_ad.make_dual",
    "torch.func.grad_and_value",
    "torch.func.jacfwd",
    "torch.func.jacrev",
    "torch.func.linearize",
    "Tensor.backward",
    "scipy.optimize.approx_fprime",
)

#: Static methods of forbidden classes that are allowed.
_HARMLESS = frozenset(["generate_square_subsequent_mask"])
#: The most parts of a dotted name; longer chains are ignored.
_MAX_PARTS = 12
#: The most chained assignments that are followed: ``nn = torch.nn``, then ``F = nn.functional``.
_MAX_ASSIGNMENTS = 3


def used_in(
    source: str, forbidden: Iterable[str], namespace: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """The names of ``forbidden`` that ``source`` uses, in order of ``forbidden``; none for invalid Python.

    ``namespace``: the live ``globals()`` of the code, for names that other cells import.
    """
    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return among(named_in(tree, namespace), forbidden)


def among(named: Collection[str], forbidden: Iterable[str]) -> tuple[str, ...]:
    """The names of ``forbidden`` that occur in ``named``, the result of ``named_in``."""
    ends = {(name.partition(".")[0], name.rpartition(".")[2]) for name in named}
    parts = ((name, *name.partition(".")[::2]) for name in forbidden)
    return tuple(
        name
        for name, library, rest in parts
        if ("" if library in ("Tensor", "str") else library, rest.rpartition(".")[2]) in ends
    )


def named_in(tree: ast.AST, namespace: Mapping[str, Any] | None = None) -> frozenset[str]:
    """The names in code: dotted paths into libraries, and attributes of other objects as ``.softmax``."""
    nodes = [*ast.walk(tree)]
    paths = _meanings(nodes, namespace or {})
    harmless = {
        id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in _HARMLESS
    }
    named, attributes = set[str](), set[str]()
    for node in nodes:
        match node:
            case (
                ast.Attribute(attr=name, ctx=ast.Load())
                | ast.Name(id=name, ctx=ast.Load())
                | ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_])
            ) if id(node) not in harmless:
                path = _path(node, paths)
                named |= {path} - {""}
                attributes |= set() if path or isinstance(node, ast.Name) else {f".{name}"}
            case ast.Call(func=ast.Name(id="bytes" | "bytearray"), args=args, keywords=keywords):
                attributes |= {".encode"} if len(args) + len(keywords) > 1 else set()
    return frozenset(named | (attributes - {f".{name}" for name in _own_attributes(nodes)}))


def names_bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield each binding of a name by these nodes, in any scope."""
    for node in nodes:
        match node:
            case ast.Import(names=items) | ast.ImportFrom(names=items):
                yield from (item.asname or item.name.split(".")[0] for item in items)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def _meanings(nodes: list[ast.AST], namespace: Mapping[str, Any]) -> dict[str, str]:
    """Name -> dotted path, for each name that refers to one library's object throughout the code."""
    bound = Counter(names_bound(nodes))
    paths = {name: path for name, path in _imported(namespace) if name not in bound}
    for _ in range(_MAX_ASSIGNMENTS):
        stands_for: dict[str, list[str]] = {}
        for name, path in _given(nodes, paths):
            stands_for.setdefault(name, []).append(path)
        paths |= {
            name: of[0] for name, of in stands_for.items() if len(of) == bound[name] and len({*of}) == 1
        }
    return paths


def _given(nodes: Iterable[ast.AST], paths: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (name, dotted path) for each import or assignment of a library's object."""
    for node in nodes:
        match node:
            case ast.Import(names=items):
                for item in items:
                    root = item.name.split(".")[0]
                    yield item.asname or root, item.name if item.asname else root
            case ast.ImportFrom(module=str(module), names=items, level=0):
                yield from ((item.asname or item.name, f"{module}.{item.name}") for item in items)
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ) if value is not None and (path := _path(value, paths)):
                yield name, path


def _imported(namespace: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The modules, functions and classes in a live namespace: name -> dotted path."""
    for name, value in [*namespace.items()]:
        module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if isinstance(value, ModuleType):
            yield name, value.__name__
        elif callable(value) and isinstance(module, str) and isinstance(own, str):
            yield name, f"{module}.{own}"


def _path(node: ast.AST, paths: Mapping[str, str]) -> str:
    """The dotted path of ``F.softmax`` or ``getattr(F, "softmax")``; "" if its first name is unknown."""
    parts: list[str] = []
    while len(parts) <= _MAX_PARTS:
        match node:
            case (
                ast.Attribute(value=home, attr=name)
                | ast.Call(func=ast.Name(id="getattr"), args=[home, ast.Constant(value=str(name)), *_])
            ):
                parts.append(name)
                node = home
            case ast.Name(id=name) if name in paths:
                return ".".join([paths[name], *reversed(parts)])
            case _:
                return ""
    return ""


def _own_attributes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The attributes that the code defines on its own objects."""
    for node in nodes:
        match node:
            case ast.ClassDef(body=body):
                targets = (target for part in body for target in getattr(part, "targets", ()))
                yield from names_bound([*body, *targets])
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.keyword(arg=str(name)):
                yield name
