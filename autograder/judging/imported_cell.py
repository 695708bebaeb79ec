"""Runs a test cell of an imported nbgrader notebook as a hidden test, with the student's names behind the sandbox.

The header of an imported lab's master names these cells::

    #   course:
    #     nbgrader: "ps1/problem1"
    #     outside: ["correct_squares", "sorts_in_place"]
    #     in_place: ["sorts_in_place"]

The cell's code runs unchanged, because results behave as in the notebook: a student's error is raised as Python's own, a
changed argument is changed here too, an iterator stays an iterator. A value that cannot be sent (an object of the student's
class, a data frame) ends the test with ``BadReply``.

A name that the cell does not bind itself is looked up at its first use. The notebook's own statement makes it, if students
may not change it; otherwise the student's process is asked.

A student's function must not change what the test expects. So if it changed an argument, the cell runs once more with
arguments that stay unchanged, and must pass both times. If the author's own answer changes arguments, the cell is named in
``in_place`` and runs once, as in a notebook.
"""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import functools
import io
import random
import sys
import traceback
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import numpy as np

from autograder.course.masters import course_header, lab_as_written, read_master
from autograder.errors import UserError
from autograder.judging.movable import GradedCell, Names, graded_cells
from autograder.judging.run import Failed, HiddenTest
from autograder.sandbox.host.student import BadReply, Handle, Scene, Student, StudentError, StudentGone
from autograder.sandbox.wire import contents_of, is_random_generator

#: The most characters of a test's message to a student.
_LONGEST_MESSAGE = 300

#: Runs in the student's process: makes one call, and returns the result with its kind.
_BESIDE_THE_STUDENT = """
import collections, collections.abc, itertools

plain = {type(None), bool, int, float, complex, str, bytes, range, slice, type(...), type}
views = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items", collections.deque: "deque"}

def odd_part(value):
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return next(filter(None, map(odd_part, value)), "")
    if kind is dict:
        return next(filter(None, map(odd_part, itertools.chain(value, value.values()))), "")
    home = kind.__module__.partition(".")[0]
    return "" if kind in plain or home in ("numpy", "torch") and kind.__name__ != "matrix" else kind.__name__

def look(value):
    return (None, "function", "") if callable(value) and not isinstance(value, type) else answer(value)

def answer(value):
    form = views.get(type(value)) or ("iterator" if isinstance(value, collections.abc.Iterator) else "")
    value = list(itertools.islice(value, 1_000_001)) if form else value
    return value, form, odd_part(value)

def find(name):
    if name not in student_namespace:
        raise NameError(f"name {name!r} is not defined")
    return student_namespace[name]

def left_of(args, kwargs):
    values = lambda items: [None if callable(item) else item for item in items]
    return values(args), dict(zip(kwargs, values(kwargs.values())))

def note(error):
    global ancestors
    ancestors = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__]
"""

_NOTING = "try:\n    {}\nexcept BaseException as error:\n    note(error)\n    raise"

#: Packages, if loaded, whose exceptions are raised here for a student's error.
_KNOWN = ("builtins", "numpy", "torch", "scipy", "decimal", "json")
_AGAIN: dict[str, Callable[[list[Any]], Any]] = {
    "": lambda value: value,
    "iterator": iter,
    "deque": collections.deque,
    "keys": lambda value: dict.fromkeys(value).keys(),
    "values": lambda value: dict(enumerate(value)).values(),
    "items": lambda value: dict(value).items(),
}


class Loan:
    """A student's functions and values for a moved cell. It remembers errors that the cell must not swallow."""

    def __init__(self, student: Student, write_back: bool = True):
        self._student = student
        self._write_back = write_back
        #: Whether a function changed an argument.
        self.changed = False
        self._scene: Scene | None = None
        #: The end of the sandbox, or a value that could not be sent: the cell cannot handle it by an ``except``.
        self.trouble: StudentGone | BadReply | None = None
        #: A type whose plain value came back instead of the object; "" for none.
        self.odd = ""
        #: Whether a student's ``StopIteration`` may be raised here: elsewhere it would silently end a loop of the test.
        self.may_stop = False

    def function(self, name: str) -> Callable[..., Any]:
        """The student's function ``name``. A missing function raises ``NameError`` when it is called."""
        return functools.partial(self._call, name)

    def value(self, name: str) -> Any:
        """A copy of the name's value in the notebook, or the function."""
        value, form, odd = self._answer("reply = look(find(name))", name=name)
        return self.function(name) if form == "function" else self._taken(value, form, odd)

    def _call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        source = "reply = (*answer(find(name)(*args, **kwargs)), *left_of(args, kwargs))"
        value, form, odd, left, named = self._answer(source, name=name, args=args, kwargs=kwargs)
        by_name = ((kwargs[key], named.get(key)) for key in kwargs)
        for mine, theirs in [*zip(args, left, strict=False), *by_name]:
            if not callable(mine) and _differ(mine, theirs):
                self.changed = True
                if self._write_back:
                    _write_back(mine, theirs)
        return self._taken(value, form, odd)

    def _answer(self, source: str, **bindings: Any) -> Any:
        """Run ``source`` in the student's process and return its ``reply``. Student's errors are raised as Python's own."""
        try:
            if self._scene is None:
                self._scene = self._student.scene(_BESIDE_THE_STUDENT)
            self._scene.run(_NOTING.format(source), **bindings)
            reply = self._scene["reply"]
        except (StudentGone, BadReply) as trouble:
            self.trouble = self.trouble or trouble
            raise
        except StudentError as error:
            raise self._as_python(error) from None
        if isinstance(reply, Handle) or not isinstance(reply, tuple) or len(reply) not in (3, 5):
            self._scene.run("odd = reply[2]")
            odd = self._scene["odd"]
            kind = odd if isinstance(odd, str) else ""
            self.trouble = self.trouble or BadReply(kind, "a value that cannot be sent")
            raise self.trouble
        return reply

    def _taken(self, value: Any, form: Any, odd: Any) -> Any:
        self.odd = self.odd or (odd if isinstance(odd, str) else "an odd one")
        try:
            return _AGAIN[form](value)
        except (KeyError, TypeError, ValueError):
            raise Failed("your function returned something of an unexpected form") from None

    def _as_python(self, error: StudentError) -> BaseException:
        """The error as the nearest known exception, so that a cell's ``except`` and ``assertRaises`` recognise it."""
        assert self._scene is not None
        names = self._scene["ancestors"]
        kinds = (_exception(name) for name in names) if isinstance(names, list) else iter(())
        kind = next(filter(None, kinds), _Unknown)
        if issubclass(kind, StopIteration) and not self.may_stop:
            kind = _Unknown
        raised: Any = kind.__new__(kind, error.message)
        raised.student_error = error
        return raised  # type: ignore[no-any-return]


class _Unknown(Exception):
    """An error of an unknown type, or one that is no ``Exception``, such as ``SystemExit``."""


def _exception(name: Any) -> type[Exception] | None:
    module, _, word = str(name).rpartition(".")
    if module.partition(".")[0] not in _KNOWN or not word.isidentifier():
        return None
    kind = getattr(sys.modules.get(module, builtins), word, None)
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else None


def _differ(mine: Any, theirs: Any) -> bool:
    """Whether a function changed an argument. Changes of random generators are expected."""
    return is_random_generator(mine) or contents_of([mine], {}) != contents_of([theirs], {})


def _write_back(mine: Any, theirs: Any) -> None:
    """Apply the student's changes to an argument in place: the cell may check it later."""
    if type(mine) is not type(theirs) and not isinstance(mine, bytearray):
        return
    if isinstance(mine, (list, tuple)) and len(mine) == len(theirs):
        for position, (old, new) in enumerate(zip(mine, theirs, strict=True)):
            if isinstance(old, (list, dict, set, tuple, np.ndarray)) and type(old) is type(new):
                _write_back(old, new)
            elif isinstance(mine, list):
                mine[position] = new
    elif isinstance(mine, (list, bytearray)):
        mine[:] = theirs
    elif isinstance(mine, (dict, set)):
        mine.clear()
        mine.update(theirs)
    elif isinstance(mine, np.ndarray) and mine.shape == theirs.shape and mine.flags.writeable:
        mine[...] = theirs
    elif isinstance(mine, np.random.Generator):
        mine.bit_generator.state = theirs.bit_generator.state
    elif hasattr(mine, "copy_") and not mine.requires_grad and mine.shape == theirs.shape:
        mine.copy_(theirs)


def make_tests(lab: str) -> dict[str, tuple[HiddenTest, ...]]:
    """Question -> hidden tests of an imported lab (full name); none if the cell stays beside the student's code."""
    header = course_header(lab)
    cells, names = graded_cells(read_master(lab).cells)
    found: dict[str, tuple[HiddenTest, ...]] = {name: () for name, _ in lab_as_written(lab).questions}
    for cell in cells:
        if cell.grade_id in header.get("outside", ()):
            cell = replace(cell, in_place=cell.grade_id in header.get("in_place", ()))
            found[cell.grade_id.removeprefix("test_")] = (as_hidden_test(cell, names, lab),)
    for name, node in names.given.items() if header.get("outside") else ():  # loaded before any clock runs
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            with contextlib.suppress(Exception):
                exec(_compiled(node, name), {"__name__": "__main__"})
    return found


def as_hidden_test(cell: GradedCell, names: Names, lab: str) -> HiddenTest:
    """The cell as a hidden test. Any error in it fails the test, as in nbgrader."""
    cell = replace(cell, source=cell.source.replace("\r\n", "\n").replace("\r", "\n"))
    question = cell.grade_id.removeprefix("test_")
    return HiddenTest(question, cell.grade_id, _title(cell), _MovedCell(cell, names), 1.0, lab)


def _title(cell: GradedCell) -> str:
    """The docstring of the cell's visible part, else the cell's name."""
    hidden, lines = hidden_lines(cell.source), cell.source.split("\n")
    shown = "\n".join(line for number, line in enumerate(lines, 1) if number not in hidden)
    try:
        title = ast.get_docstring(ast.parse(shown))
    except (SyntaxError, ValueError):
        title = None
    return " ".join((title or f"The cell {cell.grade_id}").split())


def hidden_lines(source: str) -> set[int]:
    """The numbers (from 1) of a test cell's hidden lines."""
    hidden, inside = set[int](), False
    for number, line in enumerate(source.split("\n"), 1):
        inside |= "BEGIN HIDDEN TESTS" in line
        if inside:
            hidden.add(number)
        inside &= "END HIDDEN TESTS" not in line
    return hidden


#: The test cell's file name in tracebacks. Code from other cells has the name that it makes.
_CELL = "<the test cell>"


class _Namespace(dict[str, Any]):
    """The global names of a test cell. Names that it has not bound itself are the notebook's or the student's."""

    def __init__(self, names: Names, loan: Loan):
        super().__init__(__name__="__main__")
        self._names = names
        self._loan = loan

    def __missing__(self, name: str) -> Any:
        if name in self._names.given:
            exec(_compiled(self._names.given[name], name), self)
        elif name in self._names.made:
            is_function = self._names.made[name]
            self[name] = self._loan.function(name) if is_function else self._loan.value(name)
        else:
            raise KeyError(name)
        return self[name]


@dataclass(frozen=True, eq=False)
class _MovedCell:
    """A test cell's code, and the names of the notebook."""

    cell: GradedCell
    names: Names

    def __call__(self, student: Student) -> None:
        loan = Loan(student)
        self._run(loan)
        if loan.changed and not self.cell.in_place:
            try:
                self._run(Loan(student, write_back=False))
            except Failed:
                raise Failed("this holds only where your function changes what it is given") from None

    def _run(self, loan: Loan) -> None:
        """Run the cell's code in its own namespace. Its errors are raised as a hidden test's."""
        loan.may_stop = "StopIteration" in self.cell.source
        failure: BaseException | None = None
        try:
            seed = zlib.crc32(self.cell.grade_id.encode())  # the same numbers in each run
            random.seed(seed)
            np.random.seed(seed)
            if (torch := sys.modules.get("torch")) is not None:
                torch.manual_seed(seed)
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate():
                exec(_compiled(self.cell.source, _CELL), _Namespace(self.names, loan))
        except (UserError, KeyboardInterrupt):  # a cell that raises this itself does not move
            raise
        except BaseException as error:  # an error in a notebook, also SystemExit and pytest's own exceptions
            if not isinstance(error, Exception) and type(error).__module__.startswith("autograder."):
                raise  # the time limit
            failure = error
        if loan.trouble is not None:
            raise loan.trouble
        if failure is None:
            return
        if loan.odd:
            raise BadReply(loan.odd, f"returned a value of type {loan.odd}") from None
        if isinstance(own := getattr(failure, "student_error", None), StudentError):
            raise own from None
        raise failure if isinstance(failure, Failed) else Failed(self._in_words(failure)) from None

    def _in_words(self, failure: BaseException) -> str:
        """The failure's message: the author's own text, else the line if it is visible, else that a hidden check failed."""
        frames = traceback.extract_tb(failure.__traceback__)
        last = frames[-1]
        code = ast.parse(self.cell.source) if last.filename == _CELL else self.names.given.get(last.filename)
        words = _literal_words(code, last.lineno or 0) if code is not None else ""
        if words and isinstance(failure, AssertionError):
            return words[:_LONGEST_MESSAGE]
        lines = [frame.lineno or 0 for frame in frames if frame.filename == _CELL]
        if not lines or lines[-1] in hidden_lines(self.cell.source):
            return "a hidden check of this cell does not hold"
        return f"this does not hold: {self.cell.source.split(chr(10))[lines[-1] - 1].strip()}"[
            :_LONGEST_MESSAGE
        ]


@functools.cache
def _compiled(code: str | ast.stmt, name: str) -> CodeType:
    """The code of a test cell, or of the statement that defines ``name``, which is also its file name in tracebacks."""
    whole = code if isinstance(code, str) else ast.Module([code], [])
    return compile(whole, name, "exec", dont_inherit=True)


def _literal_words(code: ast.AST, line: int) -> str:
    """The literal text in the message of this line's ``assert`` or ``raise``; "" if it has only values. Formatted values are
    left out: a student could choose them, so they could be a hidden input.
    """
    statements = [
        node
        for node in ast.walk(code)
        if isinstance(node, (ast.Assert, ast.Raise)) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    said = statements[-1] if statements else None
    message: ast.expr | None = said.msg if isinstance(said, ast.Assert) else None
    if isinstance(said, ast.Raise) and isinstance(said.exc, ast.Call) and said.exc.args:
        message = said.exc.args[0]
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    texts = [part.value if isinstance(part, ast.Constant) else "…" for part in parts]
    words = "".join(text for text in texts if isinstance(text, str)).strip()
    return words if words.strip("… ") else ""
