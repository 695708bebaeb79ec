"""Flags answers that call the library function which the question asks to write.

The code is read, not run: the question's function, and what it reaches in the notebook by name (helpers,
top-level assignments), is searched for the names that the question's public check, or the course's policy, declares off limits.
A cell is read as IPython runs it: its own transformer makes Python of prompts, indents, magics and question marks.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from coursekit.checks.api import forbidden_calls
from coursekit.checks.forbidden_calls import literal_code, used_in_tree
from IPython.core.inputtransformer2 import TransformerManager

from autograder.course.policy_file import settings

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
    names = names_forbidden(lab, question)
    if not names:
        return ()
    defined, imports = _read(tuple(cells))
    reached = _reached(question, defined)
    bare = ast.Expr(ast.Name(question, ast.Load()))  # an import may bind the question's own name
    module = ast.Module(body=[*imports, *reached, bare], type_ignores=[])
    return used_in_tree(module, names)


def names_forbidden(lab: str, question: str) -> tuple[str, ...]:
    """The library functions that may not do the work of ``question``: the kit's list, and the course's policy's."""
    return (*forbidden_calls(lab, question), *settings().lab(lab).forbid.get(question, ()))


@dataclass(frozen=True)
class _Statement:
    """A statement at the top level of a cell, with the names that it binds or fills."""

    node: ast.stmt
    bound: frozenset[str]

    @cached_property
    def looked_up(self) -> set[str]:
        """The names that it takes from the notebook."""
        return _names_looked_up(self.node)


@dataclass(frozen=True)
class _Cell:
    """What was read of a cell, and how many characters of it were read again."""

    statements: tuple[_Statement, ...]
    imports: tuple[ast.stmt, ...]
    read_again: int


@lru_cache(maxsize=1)
def _read(cells: tuple[str, ...]) -> tuple[dict[str, list[_Statement]], list[ast.stmt]]:
    """Name -> the statements that bind it, and all imports. A notebook's questions are looked at one after another."""
    defined: dict[str, list[_Statement]] = {}
    imports: list[ast.stmt] = []
    read_again = 0
    for source in cells:
        cell = _short_cell(source) if len(source) <= MAX_KEPT else _cell(source)
        read_again += cell.read_again
        if read_again > MAX_READ_AGAIN:
            raise TooLongToRead
        imports += cell.imports
        for statement in cell.statements:
            for name in statement.bound:
                defined.setdefault(name, []).append(statement)
    return defined, imports


def _cell(source: str) -> _Cell:
    """Read one cell."""
    reader = _Reader()
    with (
        warnings.catch_warnings()
    ):  # Python's warnings about a student's code are not for the teacher's terminal
        warnings.simplefilter("ignore")
        trees = [*reader.trees(source)]
    nodes = (node for tree in trees for node in ast.walk(tree))
    return _Cell(
        tuple(_Statement(node, frozenset(_names_bound(node))) for tree in trees for node in tree.body),
        tuple(node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))),
        MAX_READ_AGAIN - reader.patience,
    )


#: The lab's own cells are the same in every notebook, and are read once for all.
_short_cell = lru_cache(maxsize=64)(_cell)


class _Reader:
    """Reads the cells of one notebook, each as IPython would run it."""

    def __init__(self) -> None:
        self.manager: Any = TransformerManager()  # IPython has no annotations
        self.patience = MAX_READ_AGAIN

    def trees(self, source: str, nesting: int = 0) -> Iterator[ast.Module]:
        """The syntax tree of a cell, and of the code that stands in its magics and literal texts.

        A cell that is no Python gives none: it does not run either.
        """
        tree = _parsed(self._as_python(source))
        if tree is None:
            return
        yield tree
        if nesting == MAX_NESTING:
            return
        for node in ast.walk(tree):
            for text in _code_of_magics(node):
                yield from self.trees(text, nesting + 1)
        yield from literal_code(ast.walk(tree))

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


def _reached(question: str, defined: Mapping[str, Sequence[_Statement]]) -> list[ast.stmt]:
    """The top-level statements that define ``question`` and everything it names, directly or not."""
    waiting = [question]
    # By identity, for a notebook may bind one name a hundred thousand times.
    reached: dict[int, ast.stmt] = {}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for statement in defined.get(name, ()):
            if id(statement) not in reached:
                reached[id(statement)] = statement.node
                waiting += statement.looked_up - seen
    return list(reached.values())


#: What has variables of its own.
_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _names_looked_up(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement takes from the notebook: a function's own variables are not among them."""
    nodes = list(ast.walk(statement))
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    named |= {text for node in nodes if (text := _named_in_text(node))}
    if not any(isinstance(node, _SCOPES) for node in nodes):
        return named
    try:
        tables = [symtable.symtable(ast.unparse(statement), "notebook", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return named
    names = {text for node in nodes if (text := _named_in_text(node))}
    while tables:
        table = tables.pop()
        module = table.get_type() == "module"
        names |= {symbol.get_name() for symbol in table.get_symbols() if module or symbol.is_global()}
        tables.extend(table.get_children())
    return names


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
