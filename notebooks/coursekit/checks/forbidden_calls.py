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
#: A name stands for what is called the same elsewhere in the library, too: ``torch.func.grad``, ``torch.func.vjp``.
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

#: What lies in a forbidden class and does none of its work.
_HARMLESS = frozenset(["generate_square_subsequent_mask"])

#: No library's name has more parts. Each part of a chain is looked at, so a chain of thousands would take minutes.
_MAX_PARTS = 12
#: Characters of a text that is put together from literals.
_MAX_TEXT = 10_000

#: Paths that one name may stand for, values that it is given, and texts among them.
_MAX_KEPT = 20
#: Types that encode and decode when they are given an encoding: ``bytes(text, "utf-8")``.
_WITH_AN_ENCODING = {"bytes": ["encode"], "bytearray": ["encode"], "str": ["decode"]}


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
    code = _Code(tree, _aliases_of_namespace(namespace or {}), names)
    return tuple(name for name in names if code.uses(name))


def paths_in_tree(tree: ast.AST) -> frozenset[str]:
    """The dotted paths into libraries that parsed code names: ``torch.nn``, ``torch.nn.functional.softmax``."""
    return frozenset(_Code(tree, {}, ()).dotted)


def literal_code(nodes: Iterable[ast.AST]) -> Iterator[ast.Module]:
    """The code in literal texts that ``eval``, ``exec`` and ``compile`` are called with."""
    for node in nodes:
        if (text := _evaluated(node)) is not None and (tree := _parsed(_text(text))) is not None:
            yield tree


#: What takes something out of a dictionary by its key.
_TAKES_OUT = ("get", "pop", "__getitem__")


class _Scope:
    """A function, a class, a comprehension, or the code as a whole: what is known of the names that it binds."""

    def __init__(self, outer: _Scope | None = None, kind: type[ast.AST] = ast.Module, callee: str = ""):
        self.outer = outer
        self.module: _Scope = outer.module if outer else self
        self.kind = kind
        #: The name of the function.
        self.callee = callee
        self.bound: set[str] = set()
        self.parameters: set[str] = set()
        #: What it declares ``global`` and ``nonlocal``.
        self.of_module: set[str] = set()
        self.of_outer: set[str] = set()
        #: name -> the dotted paths into libraries that it may stand for.
        self.paths: dict[str, set[str]] = {}
        #: name -> the expressions that it is given.
        self.values: dict[str, list[tuple[ast.AST, _Scope]]] = {}

    def bind(self, name: str, path: str = "") -> _Scope:
        """Take note that code here binds ``name``; the scope that has it then."""
        home = self.module if name in self.of_module else self
        if name in self.of_outer and self.outer:
            home = self.outer
        home.bound.add(name)
        if path and len(known := home.paths.setdefault(name, set())) < _MAX_KEPT:
            known.add(path)
        return home

    def where(self, name: str) -> _Scope | None:
        """The scope whose ``name`` is meant here. A method does not see the names of its class."""
        if name in self.of_module:
            return self.module
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or scope.kind is not ast.ClassDef):
                return scope
            scope = scope.outer
        return None


class _Code:
    """What the code names: dotted paths into libraries, attributes of anything, and texts that fetch by name."""

    def __init__(self, tree: ast.AST, aliases: Mapping[str, str], forbidden: tuple[str, ...]):
        self.module = _Scope()
        for name, path in aliases.items():
            self.module.bind(name, path)
        self.nodes: list[tuple[ast.AST, _Scope]] = []
        self.stars: list[str] = []
        #: The arguments of calls, by the function's name; what attributes are given, by theirs.
        self.calls: dict[str, list[tuple[ast.AST, _Scope]]] = {}
        self.given: dict[str, list[tuple[ast.AST, _Scope]]] = {}
        #: Attributes that the code gives to objects of its own.
        self.own: set[str] = set()
        self._texts_in: dict[int, tuple[set[str], list[ast.Name | ast.Attribute]]] = {}
        self._code_in: dict[str, ast.Module | None] = {}
        self._walk(tree, self.module)
        for node, scope in [*self.nodes]:
            text = _evaluated(node)
            for code in self._texts(text, scope) if text is not None and not _text(text) else ():
                if (evaluated := self._parsed(code)) is not None:
                    self._walk(evaluated, scope)
        self._follow_assignments()
        self.dotted: set[str] = set()
        #: Attributes of what is no module that is known here.
        self.attributes: set[str] = set()
        #: Attributes of anything, and what ``getattr`` and its kin fetch.
        self.methods: set[str] = set()
        #: Names that nothing here binds.
        self.free: set[str] = set()
        #: Expressions whose value is not handed on to where it would be lost sight of.
        self.in_place: set[int] = set()
        for node, scope in self.nodes:
            self._look_at(node, scope)
        modules = {".".join(name.split(".")[:n]) for name in forbidden for n in range(1, name.count(".") + 1)}
        #: The libraries of which anything may be a module that holds something forbidden.
        self.loose = {module.split(".")[0] for module in self._escaped_modules() & modules}

    def uses(self, name: str) -> bool:
        """Whether the code uses the forbidden ``name``, or what is the same under another."""
        root, _, rest = name.partition(".")
        leaf = name.rpartition(".")[2]
        if root in ("Tensor", "str"):
            return rest in self.methods - self.own
        if name in self.dotted or any(_is_the_same(dotted, root, leaf) for dotted in self.dotted):
            return True
        if any(star == name.rpartition(".")[0] for star in self.stars) and leaf in self.free:
            return True
        return root in self.loose and leaf in self.attributes - self.own

    def _walk(self, tree: ast.AST, scope: _Scope) -> None:
        """Keep all nodes but the harmless ones, in the order of the text, and what each binds."""
        waiting = [(tree, scope)]
        lambdas: dict[int, str] = {}
        while waiting:
            node, scope = waiting.pop()
            if isinstance(node, ast.Attribute) and node.attr in _HARMLESS:
                continue
            self.nodes.append((node, scope))
            self._bind(node, scope)
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                    lambdas[id(function)] = name
                case ast.Call(func=function):
                    values = [*node.args, *(keyword.value for keyword in node.keywords)]
                    known = self.calls.setdefault(_last_name(function), [])
                    known += [(value, scope) for value in values[: _MAX_KEPT - len(known)]]
            outside, inside = _parts(node)
            if inside:
                callee = getattr(node, "name", "") or lambdas.get(id(node), "")
                inner = _Scope(scope, type(node), callee)
                for argument, default in _parameters(node.args) if isinstance(node, _FUNCTIONS) else ():
                    inner.values[argument.arg] = [(default, scope)] if default is not None else []
                waiting += [(part, inner) for part in reversed(inside)]
            waiting += [(part, scope) for part in reversed(outside)]
            text = _evaluated(node)
            if text is not None and (code := _parsed(_text(text))) is not None:
                waiting.append((code, scope))

    def _bind(self, node: ast.AST, scope: _Scope) -> None:
        match node:
            case ast.Import(names=items):
                for item in items:
                    root = item.name.split(".")[0]
                    scope.bind(item.asname or root, item.name if item.asname else root)
            case ast.ImportFrom(module=str(module), names=items, level=0):
                if _is_star(node):
                    self.stars.append(module)
                for item in items:
                    scope.bind(item.asname or item.name, f"{module}.{item.name}")
            case ast.Global(names=names):
                scope.of_module.update(names)
            case ast.Nonlocal(names=names):
                scope.of_outer.update(names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                scope.bind(name)
                if scope.kind is ast.ClassDef:
                    self.own.add(name)
            case ast.arg(arg=name):
                scope.bind(name)
                scope.parameters.add(name)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if scope.kind not in _COMPREHENSIONS:
                scope.bind(name)
                if scope.kind is ast.ClassDef:
                    self.own.add(name)
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                scope.bind(name)
            case ast.MatchMapping(rest=str(name)):
                scope.bind(name)
            case ast.Attribute(attr=attr, ctx=ast.Store()):
                self.own.add(attr)
            case ast.keyword(arg=str(name)):
                self.own.add(name)
        for target, value in _given_by(node):
            self._give(target, value, scope, _binding(node, scope))

    def _give(self, target: ast.AST, value: ast.AST, scope: _Scope, home: _Scope) -> None:
        """Keep that the names of ``home`` and attributes in ``target`` are given ``value``, or a part of it."""
        for part in ast.walk(target):
            known = None
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                known = home.bind(part.id).values.setdefault(part.id, [])
            elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                known = self.given.setdefault(part.attr, [])
            if known is not None and len(known) < _MAX_KEPT:
                known.append((value, scope))

    def _follow_assignments(self) -> None:
        """``F = nn.functional`` is one more name of a module; so is the second of two such steps."""
        assigned = [
            (target.id, node.value, scope, _binding(node, scope))
            for node, scope in self.nodes
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        ]
        for _ in range(3):
            for name, value, scope, home in assigned:
                for path in [*self._paths(value, scope)]:
                    home.bind(name, path)

    def _look_at(self, node: ast.AST, scope: _Scope) -> None:
        """Take note of what one node names."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.dotted |= self._paths(node, scope)
            if scope.where(node.id) is None:
                self.free.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            self.methods.add(node.attr)
            paths = self._paths(node, scope)
            self.dotted |= paths
            if not paths:
                self.attributes.add(node.attr)
            self.in_place.add(id(node.value))
        elif isinstance(node, (ast.Call, ast.Subscript)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and len(node.args + node.keywords) > 1
            ):
                self.methods.update(_WITH_AN_ENCODING.get(node.func.id, ()))
            for home, name, paths in self._fetched(node, scope):
                self.dotted |= paths
                self.in_place.add(id(home))
                if leaf := name.rpartition(".")[2]:
                    in_dictionary = isinstance(node, ast.Subscript) or _last_name(node.func) in _TAKES_OUT
                    self.methods.update((leaf,) if paths or not in_dictionary else ())
                    self.attributes.update(() if paths else (leaf,))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if all(isinstance(target, ast.Name) for target in targets) and (
                scope.kind is not ast.ClassDef or isinstance(node, ast.NamedExpr)
            ):
                self.in_place.add(id(node.value))
        elif isinstance(node, ast.Expr):
            self.in_place.add(id(node.value))

    def _paths(self, node: ast.AST | None, scope: _Scope, depth: int = _MAX_PARTS) -> set[str]:
        """The dotted paths into libraries that an expression may stand for."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < _MAX_PARTS:
            parts.append(node.attr)
            node = node.value
        paths: set[str] = set()
        match node:
            case ast.Name(id=name):
                home = scope.where(name)
                paths = home.paths.get(name, paths) if home else paths
            case ast.NamedExpr(value=value) if depth:
                paths = self._paths(value, scope, depth - 1)
            case ast.Call() | ast.Subscript() if depth:
                paths = set().union(*(found for _, _, found in self._fetched(node, scope, depth - 1)))
        return {".".join([path, *reversed(parts)]) for path in paths} if parts else paths

    def _fetched(
        self, node: ast.AST, scope: _Scope, depth: int = _MAX_PARTS
    ) -> Iterator[tuple[ast.AST | None, str, set[str]]]:
        """What an expression fetches by a text: where from, as which attribute ("" for none), and the paths that are known of it."""
        match node:
            case ast.Call(
                func=ast.Name(id="getattr") | ast.Attribute(attr="__getattribute__"), args=[home, key, *_]
            ):
                yield from self._below(home, key, scope, depth)
            case ast.Call(
                func=ast.Attribute(value=home, attr="__getattribute__" | "__getattr__"), args=[key]
            ):
                yield from self._below(home, key, scope, depth)
            case ast.Call(func=ast.Call(func=getter, args=[key, *_]), args=[home]) if (
                _last_name(getter) == "attrgetter"
            ):
                yield from self._below(home, key, scope, depth)
            case ast.Call(func=getter, args=keys) if _last_name(getter) in ("attrgetter", "methodcaller"):
                for key in keys if _last_name(getter) == "attrgetter" else keys[:1]:
                    yield from self._below(None, key, scope, depth)
            case ast.Call(func=getter, args=[key, *_]) if _last_name(getter) in (
                "import_module",
                "__import__",
            ):
                for name in self._texts(key, scope):
                    whole = _last_name(getter) == "import_module"
                    yield None, "", {name if whole else name.split(".")[0]}
            case ast.Subscript(value=holder, slice=key):
                yield from self._held(holder, key, scope, depth)
            case ast.Call(func=ast.Attribute(value=holder, attr=attr), args=[key, *_]) if attr in _TAKES_OUT:
                yield from self._held(holder, key, scope, depth)
            case ast.Call() if (text := _evaluated(node)) is not None:
                for code in self._texts(text, scope):
                    tree = self._parsed(code)
                    if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
                        yield None, "", self._paths(tree.body[0].value, scope, depth)

    def _below(
        self, home: ast.AST | None, key: ast.AST, scope: _Scope, depth: int
    ) -> Iterator[tuple[ast.AST | None, str, set[str]]]:
        """``F.softmax`` of ``getattr(F, "softmax")``."""
        texts = self._texts(key, scope)
        paths = self._paths(home, scope, depth) if texts else set()
        for text in texts:
            yield home, text, {f"{path}.{text}" for path in paths}

    def _held(
        self, holder: ast.AST, key: ast.AST, scope: _Scope, depth: int
    ) -> Iterator[tuple[ast.AST | None, str, set[str]]]:
        """What lies in a dictionary of names: ``vars(F)["softmax"]``, ``globals()["F"]``, ``sys.modules["torch"]``."""
        match holder:
            case ast.Call(func=ast.Name(id="vars"), args=[home]) | ast.Attribute(value=home, attr="__dict__"):
                yield from self._below(home, key, scope, depth)
            case (
                ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[])
                | ast.Attribute(attr="user_ns")
            ):
                for name in self._texts(key, scope):
                    yield None, "", self.module.paths.get(name, set())
            case ast.Attribute(value=home, attr="__globals__"):
                for name in self._texts(key, scope):
                    beside = {f"{path.rpartition('.')[0]}.{name}" for path in self._paths(home, scope, depth)}
                    yield None, "", beside or self.module.paths.get(name, set())
            case ast.Name() | ast.Attribute() if "sys.modules" in self._paths(holder, scope, depth):
                for name in self._texts(key, scope):
                    yield None, "", {name}

    def _parsed(self, code: str) -> ast.Module | None:
        if code not in self._code_in:
            self._code_in[code] = _parsed(code)
        return self._code_in[code]

    def _texts(self, node: ast.AST, scope: _Scope) -> set[str]:
        """The literal texts that an expression may be: those in it, and those that come to its names."""
        if text := _text(node):
            return {text}
        found: set[str] = set()
        waiting, seen = [(node, scope)], {id(node)}
        while waiting and len(found) < _MAX_KEPT:
            node, scope = waiting.pop()
            if id(node) not in self._texts_in:
                parts = [*ast.walk(node)]
                names: list[ast.Name | ast.Attribute] = [
                    part for part in parts if isinstance(part, (ast.Name, ast.Attribute))
                ][:_MAX_KEPT]
                texts = [text for part in parts if (text := _text(part))][:_MAX_KEPT]
                self._texts_in[id(node)] = ({*texts}, names)
            texts_here, names = self._texts_in[id(node)]
            found |= texts_here
            for part in names:
                for value, home in self._values(part, scope):
                    if id(value) not in seen and len(seen) < 3 * _MAX_KEPT:
                        seen.add(id(value))
                        waiting.append((value, home))
        return found

    def _values(self, node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.AST, _Scope]]:
        """What a name or an attribute is given: by assignments, loops and defaults, and by calls of the function whose parameter it is."""
        if isinstance(node, ast.Attribute):
            yield from self.given.get(node.attr, ())
        elif isinstance(node, ast.Name) and (home := scope.where(node.id)) is not None:
            yield from home.values.get(node.id, ())
            if node.id in home.parameters:
                of_class = home.outer.callee if home.outer and home.callee == "__init__" else home.callee
                yield from self.calls.get(of_class, ()) if of_class else ()

    def _escaped_modules(self) -> set[str]:
        """The modules that the code hands on as values: in a list, an argument, an attribute, a default.

        After that anything may be such a module.
        """
        escaped: set[str] = set()
        for node, scope in self.nodes:
            if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
                escaped |= self._paths(node, scope) if id(node) not in self.in_place else set()
            elif isinstance(node, (ast.Import, ast.ImportFrom)) and scope.kind is ast.ClassDef:
                escaped |= set().union(*scope.paths.values())
        return escaped


def _binding(node: ast.AST, scope: _Scope) -> _Scope:
    """Whose names a node binds: ``:=`` in a comprehension binds one of those around it."""
    while isinstance(node, ast.NamedExpr) and scope.outer and scope.kind in _COMPREHENSIONS:
        scope = scope.outer
    return scope


#: What has variables of its own.
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _parts(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """What stands in a node, in order: what is looked up where the node stands, and what has the node's own names."""
    children = [*ast.iter_child_nodes(node)]
    if isinstance(node, _FUNCTIONS):
        body = node.body if isinstance(node.body, list) else [node.body]
        arguments = [argument for argument, _ in _parameters(node.args)]
        defaults = [default for _, default in _parameters(node.args) if default is not None]
        inside = [*arguments, *body]
        own = {id(part) for part in (node.args, *body)}
        return [*defaults, *(part for part in children if id(part) not in own)], inside
    if isinstance(node, ast.ClassDef):
        own = {id(part) for part in node.body}
        return [part for part in children if id(part) not in own], [*node.body]
    return ([], children) if isinstance(node, _COMPREHENSIONS) else (children, [])


def _parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Each parameter of a function, and its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(positional) - len(arguments.defaults))
    several = [part for part in (arguments.vararg, arguments.kwarg) if part is not None]
    return [
        *zip(positional, [*without, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        *((part, None) for part in several),
    ]


def _given_by(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Each target that a node gives a value, and the value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value) if value:
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield target, value
        case ast.comprehension(target=target, iter=value):
            yield target, value


def _evaluated(node: ast.AST) -> ast.AST | None:
    """What ``eval``, ``exec`` or ``compile`` is called with; ``re.compile`` is none of them."""
    match node:
        case ast.Call(func=function, args=[text, *_]) if _last_name(function) in ("eval", "exec", "compile"):
            home = function.value if isinstance(function, ast.Attribute) else None
            if home is None or _last_name(home) in ("builtins", "__builtins__"):
                return text
    return None


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text.strip()) if text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


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
