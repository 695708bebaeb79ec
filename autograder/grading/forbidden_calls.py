"""Flags answers that call the library function which the question asks to write.

The code is read, not run: the question's function, and what it reaches in the notebook by name (helpers,
top-level assignments), is searched for the names that the question's public check, or the course's policy, declares off limits.
A cell is read as IPython runs it: its own transformer makes Python of prompts, indents, magics and question marks.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from coursekit.checks.api import forbidden_calls
from coursekit.checks.forbidden_calls import literal_code, paths_in_tree, used_in_tree
from IPython.core.inputtransformer2 import TransformerManager

from autograder.course.policy_file import settings
from autograder.grading.kit_tools import KIT_PARTS, is_tool, may_use_kit
from autograder.grading.repair import kept_name

#: Characters of a notebook that are read once more for the sake of a magic.
MAX_READ_AGAIN = 500_000
#: Characters of a line that IPython's tokenizer reads, whose time may grow with their square. A longer one is read as Python alone.
MAX_LINE = 5_000
#: Characters of a cell that stays read for the next notebook: as a syntax tree they take some four hundred times their size.
MAX_KEPT = 2_000
#: Magics in magics, and code in texts in texts.
MAX_NESTING = 4
#: Options before the code of a line magic.
_MAX_OPTIONS = 8


class TooLongToRead(Exception):
    """The code is so long, and so full of magics, that reading all of it would take minutes."""


def forbidden_used(lab: str, question: str, cells: Sequence[str]) -> tuple[str, ...]:
    """The forbidden names that the answer to ``question`` uses in the notebook made of ``cells``.

    Every reader here takes time in proportion to the text, for a notebook may hold a million characters of anything; where
    a text would be read too often, ``TooLongToRead`` is raised.
    """
    names, with_kit = names_forbidden(lab, question), may_use_kit(lab, cells)
    if not names and not with_kit:
        return ()
    statements = _read(tuple(cells))
    notebook = _Notebook(statements, names)
    # The name under which the lab's own test cell keeps the answer, or else what the question's name stands for in the end.
    start = kept_name(question) if kept_name(question) in notebook.entries else question
    reached = notebook.reached(start)
    if notebook.is_imported(start):
        reached.append(ast.Expr(ast.Name(question, ast.Load())))
    tree = ast.Module(body=reached, type_ignores=[])
    paths = (path for path in paths_in_tree(tree) if path.startswith("coursekit.")) if with_kit else ()
    return (*used_in_tree(tree, names), *([] if all(is_tool(path, lab) for path in paths) else [KIT_PARTS]))


def names_forbidden(lab: str, question: str) -> tuple[str, ...]:
    """The library functions that may not do the work of ``question``: the kit's list, and the course's policy's."""
    return (*forbidden_calls(lab, question), *settings().lab(lab).forbid.get(question, ()))


@dataclass(frozen=True, eq=False)
class _Statement:
    """A simple statement, a function or a class at the top level of a cell, with the names that it binds or fills.

    ``if``, ``for``, ``with`` and ``try`` are taken apart: what stands beside an answer in a branch is not a part of it.
    """

    node: ast.stmt
    #: Whether it runs wherever its cell does: not what stands in a branch or a loop.
    certain: bool

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name that it binds or fills."""
        return frozenset(_names_bound(self.node))

    @cached_property
    def anew(self) -> frozenset[str]:
        """The names that stand for what it binds, whatever they stood for before."""
        return frozenset(_names_given(self.node)) if self.certain else frozenset()

    @cached_property
    def at_any_time(self) -> frozenset[str]:
        """The names that a function binds when it is called."""
        if not isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return frozenset()
        declared = (node for node in ast.walk(self.node) if isinstance(node, ast.Global))
        return frozenset(name for node in declared for name in node.names)

    @cached_property
    def attribute(self) -> str:
        """``a`` of ``x.a = …``, which only sets this."""
        match self.node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(), attr=attr)]):
                return attr
        return ""

    @cached_property
    def looked_up(self) -> tuple[set[str], set[str]]:
        """The names that it takes from the notebook: when it runs, and later, when a function in it is called."""
        return _names_looked_up(self.node)

    @cached_property
    def looked_at(self) -> set[str]:
        """The attributes that it names, also in a text, and those of its classes."""
        named: set[str] = set()
        for node in ast.walk(self.node):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Constant(value=str(name)):
                    named.add(name)
                case ast.ClassDef(body=body):
                    named |= {name for part in body for name in _names_given(part)}
        return named


@dataclass(frozen=True)
class _Cell:
    """What was read of a cell, and how many characters of it were read again."""

    statements: tuple[_Statement, ...]
    read_again: int


@lru_cache(maxsize=1)
def _read(cells: tuple[str, ...]) -> tuple[_Statement, ...]:
    """The statements of a notebook, in the order in which they run. Its questions are looked at one after another."""
    statements: list[_Statement] = []
    read_again = 0
    for source in cells:
        cell = _short_cell(source) if len(source) <= MAX_KEPT else _cell(source)
        read_again += cell.read_again
        if read_again > MAX_READ_AGAIN:
            raise TooLongToRead
        statements += cell.statements
    return tuple(statements)


@dataclass
class _Entries:
    """The statements that bind or fill a name, by their places, and for each the last one up to it that binds the name anew."""

    places: list[int] = field(default_factory=list)
    statements: list[_Statement] = field(default_factory=list)
    since: list[int] = field(default_factory=list)

    def add(self, place: int, statement: _Statement, anew: bool) -> None:
        """Add the statement at ``place``, which is behind all others."""
        self.since.append(len(self.places) if anew else self.since[-1] if self.since else 0)
        self.places.append(place)
        self.statements.append(statement)

    def at(self, place: int) -> range:
        """Which of them make what the name stands for at ``place``."""
        last = bisect_left(self.places, place) - 1
        return range(self.since[last], last + 1) if last >= 0 else range(0)


class _Notebook:
    """The names of a notebook: what they stand for where a statement runs, and where a function is called in the end."""

    def __init__(self, statements: Sequence[_Statement], forbidden: Sequence[str]):
        self.statements = statements
        self.entries: dict[str, _Entries] = {}
        #: name -> the places of functions that bind it when they are called.
        self.at_any_time: dict[str, list[int]] = {}
        for place, statement in enumerate(statements):
            for name in statement.bound:
                if name in statement.at_any_time and name not in statement.anew:
                    self.at_any_time.setdefault(name, []).append(place)
                else:
                    self._add(name, place, statement, name in statement.anew)
            match statement.node:
                case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                    for home, _, name in (known.rpartition(".") for known in forbidden):
                        if home == module:
                            alias = ast.ImportFrom(module, [ast.alias(name)], 0)
                            self._add(name, place, _Statement(alias, statement.certain), statement.certain)

    def _add(self, name: str, place: int, statement: _Statement, anew: bool) -> None:
        self.entries.setdefault(name, _Entries()).add(place, statement, anew)

    def is_imported(self, name: str) -> bool:
        """Whether the name itself may stand for something imported."""
        entries = self.entries.get(name, _Entries())
        imports = (ast.Import, ast.ImportFrom)
        return any(isinstance(entries.statements[n].node, imports) for n in entries.at(len(self.statements)))

    def reached(self, start: str) -> list[ast.stmt]:
        """The statements that make what ``start`` stands for in the end and everything that they name, directly or not.

        Each is visited once, for a notebook may bind one name a hundred thousand times.
        """
        end = len(self.statements)
        found: dict[tuple[int, int], _Statement] = {}
        visited: set[tuple[str, int]] = set()
        asked: set[tuple[str, int]] = set()
        waiting = [(start, end)]
        set_aside: list[tuple[int, _Statement]] = []
        looked_at: set[str] = set()
        while waiting or set_aside:
            if not waiting:
                again = [(place, one) for place, one in set_aside if one.attribute in looked_at]
                set_aside = [(place, one) for place, one in set_aside if one.attribute not in looked_at]
                if not again:
                    break
                for place, one in again:
                    self._take(place, one, found, waiting, looked_at)
                continue
            name, place = waiting.pop()
            if (name, place) in asked:
                continue
            asked.add((name, place))
            for other in self.at_any_time.get(name, ()):
                self._take(other, self.statements[other], found, waiting, looked_at)
            entries = self.entries.get(name, _Entries())
            which = entries.at(place)
            made_by_code = bool(which) and isinstance(
                entries.statements[which[0]].node, (ast.FunctionDef, ast.ClassDef)
            )
            for n in reversed(which):
                if (name, n) in visited:
                    break
                visited.add((name, n))
                one = entries.statements[n]
                # Of what is set on a function or a class only code that names it makes use.
                if made_by_code and one.attribute and not one.attribute.startswith("__"):
                    set_aside.append((entries.places[n], one))
                else:
                    self._take(entries.places[n], one, found, waiting, looked_at)
        return [found[key].node for key in sorted(found)]

    def _take(
        self,
        place: int,
        statement: _Statement,
        found: dict[tuple[int, int], _Statement],
        waiting: list[tuple[str, int]],
        looked_at: set[str],
    ) -> None:
        key = place, id(statement)
        if key not in found:
            found[key] = statement
            looked_at |= statement.looked_at
            now, later = statement.looked_up
            waiting += [(name, place) for name in now]
            waiting += [(name, len(self.statements)) for name in later]


def _cell(source: str) -> _Cell:
    """Read one cell."""
    reader = _Reader()
    with (
        warnings.catch_warnings()
    ):  # Python's warnings about a student's code are not for the teacher's terminal
        warnings.simplefilter("ignore")
        statements = tuple(reader.statements(source))
    return _Cell(statements, MAX_READ_AGAIN - reader.patience)


#: The lab's own cells are the same in every notebook, and are read once for all.
_short_cell = lru_cache(maxsize=64)(_cell)


class _Reader:
    """Reads the cells of one notebook, each as IPython would run it."""

    def __init__(self) -> None:
        self.manager: Any = TransformerManager()  # IPython has no annotations
        self.patience = MAX_READ_AGAIN

    def statements(self, source: str, nesting: int = 0) -> Iterator[_Statement]:
        """The statements of a cell, and of the code that stands in its magics and literal texts.

        A cell that is no Python gives none: it does not run either.
        """
        tree = _parsed(self._as_python(source))
        if tree is None:
            return
        for statement in tree.body:
            yield from _simple([statement], certain=True)
            for node in ast.walk(statement):
                for text in _code_of_magics(node) if nesting < MAX_NESTING else ():
                    yield from self.statements(text, nesting + 1)
                for code in literal_code([node]) if nesting < MAX_NESTING else ():
                    yield from _simple(code.body, certain=False)

    def _as_python(self, source: str) -> str:
        """What IPython makes of a cell (``transform_cell``, with an eye on how often it is read)."""
        lines = (source if source.endswith("\n") else source + "\n").splitlines(keepends=True)
        if max(map(len, lines)) > MAX_LINE:
            if _parsed(source) is None:
                raise TooLongToRead
            return source
        try:
            for transform in (*self.manager.cleanup_transforms, *self.manager.line_transforms):
                lines = transform(lines)
            changed = True
            while changed:
                changed, lines = self.manager.do_one_token_transform(lines)
                self.patience -= sum(map(len, lines)) if changed else 0
                if self.patience < 0:
                    raise TooLongToRead
        except (SyntaxError, ValueError, RecursionError, IndexError):
            return source
        return "".join(lines)


def _parsed(source: str) -> ast.Module | None:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = compile(source, "cell", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    assert isinstance(tree, ast.Module)
    return tree


def _code_of_magics(node: ast.AST) -> Iterator[str]:
    """The Python in what a magic became: ``%time f = g``, and what stands below ``%%time``."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="run_line_magic"),
            args=[ast.Constant(), ast.Constant(value=str(line)), *_],
        ):
            for _ in range(_MAX_OPTIONS):
                if not line.startswith("-"):
                    break
                line = line.partition(" ")[2].lstrip()
            yield line
        case ast.Call(
            func=ast.Attribute(attr="run_cell_magic"),
            args=[ast.Constant(), ast.Constant(value=str(line)), ast.Constant(value=str(body)), *_],
        ):
            yield body
            yield line


def _simple(statements: Iterable[ast.stmt], certain: bool) -> Iterator[_Statement]:
    """These statements, with those in branches and loops on their own, and each name of an import."""
    waiting = [(statement, certain) for statement in reversed([*statements])]
    while waiting:
        node, certain = waiting.pop()
        head: ast.stmt | None = None
        parts: list[tuple[Sequence[ast.stmt], bool]] = []
        match node:
            case ast.Import(names=[_, _, *_]):
                parts = [([ast.Import([item]) for item in node.names], certain)]
            case ast.ImportFrom(names=[_, _, *_]):
                parts = [([ast.ImportFrom(node.module, [item], node.level) for item in node.names], certain)]
            case ast.If(test=ast.Constant(value=value), body=body, orelse=orelse):
                parts = [(body, certain and bool(value)), (orelse, certain and not value)]
            case ast.If(test=test, body=body, orelse=orelse) | ast.While(test=test, body=body, orelse=orelse):
                head, parts = ast.Expr(test), [(body, False), (orelse, False)]
            case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
                head, parts = ast.Assign([node.target], node.iter), [(body, False), (orelse, False)]
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                heads: list[ast.stmt] = [
                    ast.Assign([item.optional_vars], item.context_expr)
                    if item.optional_vars
                    else ast.Expr(item.context_expr)
                    for item in items
                ]
                parts = [(heads, certain), (body, certain)]
            case ast.Try() | ast.TryStar():
                handlers = [(handler.body, False) for handler in node.handlers]
                parts = [(node.body, certain), *handlers, (node.orelse, certain), (node.finalbody, certain)]
            case ast.Match(subject=subject, cases=cases):
                head = ast.Match(
                    subject, [ast.match_case(case.pattern, case.guard, [ast.Pass()]) for case in cases]
                )
                parts = [(case.body, False) for case in cases]
            case _:
                yield _Statement(node, certain)
        if head is not None:
            yield _Statement(head, certain and not isinstance(node, (ast.For, ast.AsyncFor, ast.Match)))
        waiting += reversed([(part, sure) for body, sure in parts for part in body])


#: What has variables of its own.
_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _names_looked_up(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement takes from the notebook when it runs, and those that functions in it take when they are called.

    A function's own variables are not among them.
    """
    nodes = list(ast.walk(statement))
    named = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    texts = {text for node in nodes if (text := _named_in_text(node))}
    if not any(isinstance(node, _SCOPES) for node in nodes):
        return named | texts, set()
    try:
        tables = [(symtable.symtable(ast.unparse(statement), "notebook", "exec"), True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return named | texts, named | texts
    now, later = {*texts}, {*texts}
    while tables:
        table, runs = tables.pop()
        module = table.get_type() == "module"
        names = {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (module or symbol.is_global())
        }
        now |= names if runs else set()
        later |= set() if runs else names
        for inner in table.get_children():
            at_once = inner.get_type() == "class" or inner.get_name() in _AT_ONCE
            tables.append((inner, runs and at_once))
    return now, later


#: What Python calls the scopes of comprehensions, which run where they stand.
_AT_ONCE = frozenset(["listcomp", "setcomp", "dictcomp", "genexpr"])


def _named_in_text(node: ast.AST) -> str:
    """``f`` of ``globals()["f"]`` and of ``globals().get("f")``."""
    match node:
        case ast.Subscript(
            value=ast.Call(func=ast.Name(id="globals" | "locals" | "vars")),
            slice=ast.Constant(value=str(name)),
        ):
            return name
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id="globals" | "locals" | "vars"))),
            args=[ast.Constant(value=str(name)), *_],
        ):
            return name
    return ""


def _names_bound(statement: ast.stmt) -> set[str]:
    """Every name that a top-level statement may bind or fill, in its branches too.

    What happens inside a function binds only what the function declares ``global``.
    """
    names: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            names.update(
                name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names
            )
            continue
        names |= _names_bound_by(node)
        if not isinstance(node, (ast.Lambda, ast.Import, ast.ImportFrom)):
            waiting.extend(ast.iter_child_nodes(node))
    return names


def _names_given(statement: ast.stmt) -> Iterator[str]:
    """The names that a simple statement binds for certain."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from _names_bound_by(statement)
        case ast.Assign(targets=targets):
            for target in targets:
                elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                yield from (part.id for part in elements if isinstance(part, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name


#: Methods that put something into what they are called on.
_FILLING = frozenset(
    [
        "append",
        "add",
        "update",
        "extend",
        "insert",
        "setdefault",
        "__setitem__",
        "__setattr__",
        "register_forward_hook",
    ]
)


def _names_bound_by(node: ast.AST) -> set[str]:
    """The names that one node, without those inside it, binds or fills."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return {(item.asname or item.name).split(".")[0] for item in node.names}
        case ast.Name(id=name, ctx=ast.Store()):
            return {name}
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return {name}
        case ast.Subscript(
            value=ast.Call(func=ast.Name(id="globals" | "locals" | "vars")),
            slice=ast.Constant(value=str(name)),
            ctx=ast.Store(),
        ):
            return {name}
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return _root_of(node)
        case ast.Call(func=ast.Attribute(value=home, attr=attr)) if attr in _FILLING:
            return _root_of(home)
        case ast.Call(func=ast.Name(id="setattr"), args=[home, *_]):
            return _root_of(home)
    return set()


def _root_of(node: ast.AST) -> set[str]:
    """``x`` of ``x.a["b"].c``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
