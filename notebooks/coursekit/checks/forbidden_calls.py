"""Finds calls of library functions that a question asks the student to write, by reading the code.

Names are written as a student would import them: ``torch.softmax``, ``torch.nn.functional.softmax``,
``numpy.linalg.solve``; ``Tensor.softmax`` means a method call ``x.softmax(...)`` on anything, and so does
``str.encode``. Where the code defines a method of that name itself, only who watches it run can tell them apart, so reading finds
nothing.

A name is found however it is reached in ordinary code: under another name, through a module that is kept in a variable,
a dictionary, an attribute or a default argument, by ``getattr`` and its kin, by a star import, under PyTorch's inner
names. Code that is put together at run time is not found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

#: What computes gradients by itself, where a question asks for them by hand.
AUTOMATIC_GRADIENTS = (
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.autograd.functional.jacobian",
    "torch.autograd.functional.jvp",
    "torch.autograd.functional.vjp",
    "torch.func.grad",
    "torch.func.grad_and_value",
    "torch.func.jacfwd",
    "torch.func.jacrev",
    "torch.func.jvp",
    "torch.func.vjp",
    "Tensor.backward",
)

#: What lies in a forbidden class and does none of its work.
_HARMLESS = frozenset(["generate_square_subsequent_mask"])

#: No library's name has more parts. Each part of a chain is looked at, so a chain of thousands would take minutes.
_MAX_PARTS = 12
#: Characters of a text that is put together from literals.
_MAX_TEXT = 10_000

#: What fetches a name that stands in a text, or hands out all names there are.
_FETCHES = frozenset(
    [
        "getattr",
        "vars",
        "globals",
        "locals",
        "eval",
        "exec",
        "compile",
        "__import__",
        "import_module",
        "attrgetter",
        "methodcaller",
        "getmembers",
        "__dict__",
        "__getattribute__",
        "__getattr__",
        "modules",
        "user_ns",
        "__globals__",
        "__builtins__",
    ]
)
#: Types that encode and decode when they are given an encoding: ``bytes(text, "utf-8")``.
_WITH_AN_ENCODING = {"bytes": ["encode"], "bytearray": ["encode"], "str": ["decode"]}
#: What is called with a name in a text, and gives what bears it.
_BY_NAME = frozenset(["getattr", "attrgetter", "methodcaller", "__getattribute__", "__getattr__"])


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
    names = tuple(forbidden)
    nodes = _walk(tree)
    nodes += [inner for text in literal_code(nodes) for inner in ast.walk(text)]
    code = _Code(nodes, _aliases_of_namespace(namespace or {}), names)
    return tuple(name for name in names if code.uses(name))


def _walk(tree: ast.AST) -> list[ast.AST]:
    """All nodes but the harmless ones."""
    nodes = []
    waiting = [tree]
    for node in waiting:
        if not (isinstance(node, ast.Attribute) and node.attr in _HARMLESS):
            nodes.append(node)
            waiting.extend(ast.iter_child_nodes(node))
    return nodes


def literal_code(nodes: Iterable[ast.AST]) -> Iterator[ast.Module]:
    """The code in literal texts that ``eval``, ``exec`` and ``compile`` are called with."""
    for node in nodes:
        if isinstance(node, ast.Call) and _last_name(node.func) in ("eval", "exec", "compile") and node.args:
            try:
                yield ast.parse(_text(node.args[0]).strip())
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue


class _Code:
    """What the code names: dotted paths into libraries, attributes of anything, and texts that fetch by name."""

    def __init__(self, nodes: list[ast.AST], aliases: Mapping[str, str], forbidden: tuple[str, ...]):
        self.aliases = {**aliases, **_aliases_of_imports(nodes)}
        self.stars = [
            node.module
            for node in nodes
            if isinstance(node, ast.ImportFrom) and node.module and _is_star(node)
        ]
        self.roots = {alias.split(".")[0] for alias in (*self.aliases.values(), *self.stars)}
        self._follow_assignments(nodes)
        self.bound = {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        self.bound |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        bodies = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
        self.own_methods = {n.name for n in bodies if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
        self.dotted: set[str] = set()
        #: Attributes of what is no module that is known here.
        self.attributes: set[str] = set()
        #: Attributes of anything, and what ``getattr`` and its kin fetch.
        self.methods: set[str] = set()
        self.texts: set[str] = set()
        self.names: set[str] = set()
        self.fetches = False
        for node in nodes:
            self._look_at(node)
        modules = {".".join(name.split(".")[:n]) for name in forbidden for n in range(1, name.count(".") + 1)}
        self.loose = self.fetches or bool(self._escaped_modules(nodes) & modules)

    def uses(self, name: str) -> bool:
        """Whether the code uses the forbidden ``name``, or what is the same under another."""
        root, _, rest = name.partition(".")
        leaf = name.rpartition(".")[2]
        if root in ("Tensor", "str"):
            return rest in self.methods and rest not in self.own_methods
        if name in self.dotted or any(_is_the_same(dotted, root, leaf) for dotted in self.dotted):
            return True
        if any(star == name.rpartition(".")[0] for star in self.stars) and leaf in self.names - self.bound:
            return True
        return (
            self.loose and root in self.roots | self._fetched_roots() and leaf in self.attributes | self.texts
        )

    def _fetched_roots(self) -> set[str]:
        return {text.split(".")[0] for text in self.texts}

    def _look_at(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute):
            self.methods.add(node.attr)
            self.fetches |= node.attr in _FETCHES
        if isinstance(node, ast.Name):
            self.names.add(node.id)
            self.fetches |= node.id in _FETCHES
        if isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)) and (
            text := _text(node)
        ):
            self.texts.update((text, text.rpartition(".")[2]))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and len(node.args + node.keywords) > 1
        ):
            self.methods.update(_WITH_AN_ENCODING.get(node.func.id, ()))
        if isinstance(node, ast.Call) and _last_name(node.func) in _BY_NAME:
            for argument in node.args[:2]:
                self._fetched(node.args[0] if argument is not node.args[0] else None, _text(argument))
        if isinstance(node, ast.Subscript) and (home := _namespace_of(node.value)) is not None:
            self._fetched(home, _text(node.slice))
        if isinstance(node, (ast.Attribute, ast.Name)):
            if name := _dotted(node, self.aliases):
                self.dotted.add(name)
            elif isinstance(node, ast.Attribute):
                self.attributes.add(node.attr)

    def _fetched(self, home: ast.AST | None, name: str) -> None:
        """Take note that ``name`` is fetched by a text, from ``home`` if that is known."""
        if not name:
            return
        self.methods.add(name.rpartition(".")[2])
        if home is not None and (place := _dotted(home, self.aliases)):
            self.dotted.add(f"{place}.{name}")

    def _follow_assignments(self, nodes: list[ast.AST]) -> None:
        """``F = nn.functional`` is one more name of a module; so is the second of two such steps."""
        assigned = [
            (target.id, node.value)
            for node in nodes
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        ]
        for _ in range(3):
            for name, value in assigned:
                path = _dotted(value, self.aliases) or _imported(value)
                if path and name not in self.aliases:
                    self.aliases[name] = path
                    self.roots.add(path.split(".")[0])

    def _escaped_modules(self, nodes: list[ast.AST]) -> set[str]:
        """The modules that the code hands on as values: in a list, an argument, an attribute, a default.

        After that anything may be such a module.
        """
        in_classes = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
        in_place: set[int] = set()
        for node in nodes:
            if isinstance(node, ast.Attribute):
                in_place.add(id(node.value))
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if all(isinstance(target, ast.Name) for target in targets):
                    in_place.add(id(node.value))
            elif isinstance(node, ast.Expr):
                in_place.add(id(node.value))
        in_place -= {id(part.value) for part in in_classes if isinstance(part, (ast.Assign, ast.AnnAssign))}
        loose = (n for n in nodes if isinstance(n, (ast.Attribute, ast.Name)) and id(n) not in in_place)
        imported = _aliases_of_imports(in_classes).values()
        return {path for node in loose if (path := _dotted(node, self.aliases))} | {*imported}


def _is_the_same(dotted: str, root: str, leaf: str) -> bool:
    """Whether a path into the library ends at ``leaf``: ``torch.special.softmax``, ``torch.optim.adam.adam``.

    Below what is the library's inside (``ops``, ``_C``) a name that has the words of ``leaf`` among its own is enough:
    ``torch.ops.aten._softmax.default``, ``torch._C._nn.cross_entropy_loss``.
    """
    first, *parts = dotted.split(".")
    if first != root or not parts:
        return False
    words = _words(leaf)
    if any(part == "ops" or part.startswith("_") for part in parts):
        return any({*words} <= {*_words(part)} for part in parts)
    return "".join(_words(parts[-1])) == "".join(words)


def _words(name: str) -> list[str]:
    """``cross``, ``entropy``, ``loss`` of ``cross_entropy_loss`` and of ``CrossEntropyLoss``."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_star(node: ast.ImportFrom) -> bool:
    return any(item.name == "*" for item in node.names)


def _namespace_of(node: ast.AST) -> ast.AST | None:
    """``F`` of ``F.__dict__`` and of ``vars(F)``."""
    match node:
        case ast.Attribute(value=home, attr="__dict__"):
            return home
        case ast.Call(func=ast.Name(id="vars"), args=[home, *_]):
            return home
    return None


def _imported(node: ast.AST) -> str:
    """``torch.nn`` of ``importlib.import_module("torch.nn")`` and of ``__import__("torch.nn")``."""
    if isinstance(node, ast.Call) and node.args and _last_name(node.func) in ("import_module", "__import__"):
        name = _text(node.args[0])
        return name if _last_name(node.func) == "import_module" else name.split(".")[0]
    return ""


def _text(node: ast.AST) -> str:
    """The text that an expression of literals stands for: a literal, a sum, an f-string, a join, a text backwards."""
    match node:
        case ast.Constant(value=str(text)):
            return text if len(text) <= _MAX_TEXT else ""
        case ast.BinOp(op=ast.Add()):
            return _sum(node)
        case ast.JoinedStr(values=parts):
            inner = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
            return _joined("", inner)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"),
            args=[ast.List(elts=parts) | ast.Tuple(elts=parts)],
        ):
            return _joined(between, parts)
        case ast.Subscript(
            value=ast.Constant(value=str(text)),
            slice=ast.Slice(
                lower=None, upper=None, step=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))
            ),
        ) if len(text) <= _MAX_TEXT:
            return text[::-1]
    return ""


def _sum(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.BinOp) and len(parts) < _MAX_PARTS:
        if not (isinstance(node.right, ast.Constant) and isinstance(node.right.value, str)):
            return ""
        parts.append(node.right.value)
        node = node.left
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return ""
    text = "".join([node.value, *reversed(parts)])
    return text if len(text) <= _MAX_TEXT else ""


def _joined(between: str, parts: Iterable[ast.AST]) -> str:
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return between.join(texts) if sum(map(len, texts)) <= _MAX_TEXT else ""


def _aliases_of_imports(nodes: Iterable[ast.AST]) -> dict[str, str]:
    aliases = {}
    for node in nodes:
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
    if isinstance(node, ast.NamedExpr):
        node = node.target
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return ""
    return ".".join([aliases[node.id], *reversed(parts)])
