"""Refuses unsound labs: reads a lab's files without running them, and reports every fault.

``audit`` finds faults that only running shows (a wrong answer that keeps its points, two that behave alike); ``build``
measures the master's time.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from autograder.course.masters import SKIP, course_header, course_root, master_path, source_of_import
from autograder.course.policy import LimitsPolicy
from autograder.errors import UserError

#: The total points of a lab's graded functions.
POINTS = 20
#: The most sentences that are shown.
SHOWN = 20
#: Decorator that each question needs at least once -> its name in sentences. A scenario counts as a family.
NEEDED = {
    "family": "family of inputs and no scenario",
    "misconception": "misconception",
    "alternative": "alternative",
}

_ROLES = ("question", "test", "written", "locked")
_BEGIN, _END = _REGION = ("### BEGIN SOLUTION", "### END SOLUTION")
#: Where jupytext puts words among the options that it cannot read, and what they may have been meant to be.
_UNREAD, _MEANT = ("title", "incorrectly_encoded_metadata"), ("[markdown]", 'question="entropy"')


_Name = Annotated[str, Field(min_length=1)]


class _Options(BaseModel):
    """The options of a master's cell; the last two are jupytext's own."""

    model_config = ConfigDict(extra="forbid", strict=True)
    question: _Name = "none"
    test: _Name = "none"
    written: _Name = "none"
    locked: _Name = "none"
    points: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0
    tags: list[Literal["skip-grading"]] = []
    lines_to_next_cell: Any = None
    lines_to_end_of_cell_marker: Any = None


class _Header(BaseModel):
    """The ``course`` entry of a master's header. ``data_files`` checks the names of the data."""

    model_config = ConfigDict(extra="forbid", strict=True)
    data: Any = None
    minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1
    demo: str | None = None
    limits: LimitsPolicy | None = None
    nbgrader: str | None = None


@dataclass(frozen=True)
class Fault:
    """A fault of a lab: the sentence for the author, and whether only a part of a question is missing."""

    sentence: str
    unfinished: bool = False

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class _Cell:
    """A cell of the percent file: its first line, options and source."""

    line: int
    kind: str  # "code" or "markdown"
    options: dict[str, Any]
    source: str

    @property
    def role(self) -> str:
        """``question``, ``test``, ``written`` or ``locked``; "" for a plain cell."""
        return next((role for role in _ROLES if role in self.options), "")

    @property
    def name(self) -> str:
        """The cell's name, or that of the question that it tests."""
        return str(self.options.get(self.role, ""))

    @property
    def tree(self) -> ast.Module:
        """The syntax tree; empty for text and for code that is not plain Python (magics)."""
        try:
            return ast.parse(self.source if self.kind == "code" else "")
        except SyntaxError:
            return ast.Module([], [])


#: A fault of a master: its cell (None: the whole file), the line below the cell's mark, and a sentence.
_Found = Iterator[tuple[_Cell | None, int, str]]


def faults_of(lab: str) -> list[Fault]:
    """Every fault of a lab (full name) in its master, its checks, hidden tests, wrong answers and data names."""
    path, root = master_path(lab), course_root()
    file = path.relative_to(root).as_posix()
    if not path.is_file():
        return [_missing(path, "the lab's master and its cells")]
    try:
        header = course_header(lab)
        if source_of_import(lab):
            return []  # it has no wrong answers, and the import ran nbgrader's checks
        cells = _cells(path.read_text(encoding="utf-8"))
    except UserError as error:
        return [Fault(f"{file}, line 1, header: {error}")]
    except Exception as error:  # jupytext raises many types for invalid cell options
        return [Fault(f"{file}: its cells cannot be read: {' '.join(str(error).split())[:200]}.")]
    found = [
        *(
            fault
            for cell in cells
            for check in (_of_options, _of_solution, _of_code)
            for fault in check(cell)
        ),
        *_of_names(cells),
        *_of_pairs(cells),
        *_of_start(cells, lab),
    ]
    faults = []
    for cell, below, sentence in found:
        place = f", cell {cell.role}=“{cell.name}”" if cell and cell.role else ", this cell" if cell else ""
        faults.append(Fault(f"{file}{f', line {cell.line + below}' if cell else ''}{place}: {sentence}."))
    faults += [Fault(f"{file}, line 1, header: {sentence}.") for sentence in _misfits(_Header, header)]
    return [*faults, *_of_the_questions(lab, file, cells)]


def require_sound(labs: Iterable[str], *, unfinished: bool = False) -> list[str]:
    """Raise a ``UserError`` with the faults of all these labs.

    With ``unfinished``, missing parts of questions are allowed: the sentences about them are returned.
    """
    faults = [fault for lab in labs for fault in faults_of(lab)]
    refused = [fault for fault in faults if not (unfinished and fault.unfinished)]
    if not refused:
        return [str(fault) for fault in faults]
    lines = [str(fault) for fault in refused[:SHOWN]]
    if len(refused) > SHOWN:
        lines.append(f"… and {len(refused) - SHOWN} more.")
    raise UserError("\n  ".join(["Fix these first; nothing was written:", *lines]))


def questions_folder(lab: str, root: Path) -> Path:
    """The folder of a lab's questions."""
    return root / "autograder" / "questions" / f"m{lab}"


def _nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: "; the nearest is “entropy”", or else the known names."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    shown = ", ".join(f"“{one}”" for one in close or names[:12])
    return (
        f"; {'the nearest' if close else 'there'} {'is' if ',' not in shown else 'are'} {shown}"
        if names
        else ""
    )


def _missing(path: Path, what: str) -> Fault:
    """A fault about a missing file or folder, naming the one with the most similar name beside it."""
    beside = [file.name for file in path.parent.glob("[!._]*")]
    file = path.relative_to(course_root()).as_posix()
    return Fault(f"{file}: {what} are not there{_nearest(path.name, beside)}.")


def _misfits(model: type[BaseModel], values: Any) -> Iterator[str]:
    """Yield a sentence for each of the ``values`` that the model does not allow."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        for one in error.errors():
            *inside, name = (part for part in one["loc"] if isinstance(part, str))
            if one["type"] == "extra_forbidden":
                known = LimitsPolicy if inside else model
                yield f"there is no setting “{name}”{_nearest(name, known.model_fields)}"
            else:
                yield f"{name}={one['input']}: {one['msg'][:1].lower()}{one['msg'][1:]}"


def _cells(text: str) -> list[_Cell]:
    import jupytext

    notebook = jupytext.reads(text, fmt="py:percent")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("# %%")]
    lines = [1] * (len(notebook.cells) - len(lines)) + lines  # text before the first mark is a cell
    return [
        _Cell(line, cell.cell_type, dict(cell.metadata), cell.source)
        for line, cell in zip(lines, notebook.cells, strict=False)
    ]


def _of_options(cell: _Cell) -> _Found:
    options = {name: value for name, value in cell.options.items() if name not in _UNREAD}
    for text in (cell.options[name] for name in _UNREAD if name in cell.options):
        yield cell, 0, f"“{text}” is no option{_nearest(text, _MEANT)}"
    yield from ((cell, 0, sentence) for sentence in _misfits(_Options, options))
    roles, is_skipped = [role for role in _ROLES if role in options], SKIP in options.get("tags", ())
    if len(roles) > 1:
        yield cell, 0, f"it is both {' and '.join(roles)}, and can be one of them"
    if is_skipped and roles:
        yield cell, 0, f"a {roles[0]} cell is needed when grading, so it cannot be tagged {SKIP}"
    if (cell.kind == "markdown") != (cell.role == "written") and cell.role not in ("", "locked"):
        kind = "[markdown]" if cell.role == "written" else "code"
        yield cell, 0, f"a {cell.role} cell is a {kind} cell"
    points, gives = options.get("points"), cell.role in ("test", "written")
    if gives and not points:
        yield cell, 0, "it gives no points; write points=4 behind its name"
    elif not gives and points is not None and (cell.role, points) != ("question", 0):
        yield (
            cell, 0, "only test and written cells give points (and question cells points=0: a challenge without a test)",
        )  # fmt: skip


def _of_solution(cell: _Cell) -> _Found:
    """Faults of the marks around a solution, and of a question's name that students would not see."""
    marks = []
    for below, line in enumerate(map(str.strip, cell.source.splitlines()), 1):
        looks = re.match(r"#+\s*(BEGIN|END)\b", line, re.IGNORECASE)
        if line in _REGION:
            marks.append((line, below))
        elif looks or (line[:1] == "#" and difflib.get_close_matches(line.upper(), _REGION, cutoff=0.8)):
            yield cell, below, f"“{line}” marks no region{_nearest(line.upper(), _REGION)}"
            return
    if cell.role not in ("question", "written"):
        if marks:
            yield cell, 0, "a solution region stands in question and written cells only"
        return
    if not marks:
        yield (
            cell, 0, f"its solution is not marked, so students would get it; put it between “{_BEGIN}” and “{_END}”",
        )  # fmt: skip
    elif [mark for mark, _ in marks] != [*_REGION] * (len(marks) // 2) or len(marks) % 2:
        yield cell, 0, f"each “{_BEGIN}” needs its “{_END}” below it"
    if cell.role == "question" and cell.tree.body:
        defined = {name: node.lineno for node in cell.tree.body for name in _bound(node)}
        if cell.name not in defined:
            yield cell, 0, f"its solution does not define {cell.name}{_nearest(cell.name, defined)}"
        elif marks and defined[cell.name] >= marks[0][1]:
            yield (
                cell, 0, f"“{_BEGIN}” stands above the line that defines {cell.name}, which students would not see",
            )  # fmt: skip


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _of_code(cell: _Cell) -> _Found:
    """Faults of code that grading runs, and of a test cell that does not show its question's card."""
    if cell.kind != "code" or SKIP in cell.options.get("tags", ()):
        return
    try:
        ast.parse(cell.source)
    except SyntaxError as error:
        magics = f"; magics stand in cells tagged {SKIP}" if cell.role in ("", "locked") else ""
        yield cell, error.lineno or 1, f"it is no plain Python ({error.msg}){magics}"
        return
    shown = [argument for argument in _first_arguments(cell, "check") if argument]
    if cell.role == "test" and cell.name not in shown:
        instead = f" (it checks {', '.join(shown)})" if shown else ""
        yield cell, 0, f'it shows no card; it needs check("{cell.name}", {cell.name}){instead}'


def _first_arguments(cell: _Cell, function: str) -> Iterator[str]:
    """Yield the first argument of each call of a function in the cell; "" for a call without arguments."""
    for node in ast.walk(cell.tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == function:
            yield ast.unparse(node.args[0]).strip("'\"") if node.args else ""


def _of_names(cells: list[_Cell]) -> _Found:
    first: dict[str, int] = {}
    for cell in (cell for cell in cells if cell.role):
        name = f"test_{cell.name}" if cell.role == "test" else cell.name
        if first.setdefault(name, cell.line) != cell.line:
            yield cell, 0, f"the cell in line {first[name]} has the name “{name}” already"


def _of_pairs(cells: list[_Cell]) -> _Found:
    """Faults of questions without a test cell below them, and of points that do not add up."""
    asked = {cell.name: cell for cell in cells if cell.role == "question"}
    tested = {cell.name: cell for cell in cells if cell.role == "test"}
    for name, cell in asked.items():
        if name not in tested and cell.options.get("points") != 0:
            near = _nearest(name, tested.keys() - asked.keys())
            yield cell, 0, f'no cell test="{name}" gives it points (points=0 makes it a challenge){near}'
    for cell in (cell for cell in cells if cell.role == "test"):
        question = asked.get(cell.name)
        if question is None:
            yield cell, 0, f"there is no question “{cell.name}”{_nearest(cell.name, asked)}"
        elif question.options.get("points") == 0:
            yield cell, 0, "its question says points=0, so it has no test cell"
        elif cell.line < question.line:
            yield cell, 0, "it stands above its question"
    points = [cell.options.get("points") for cell in tested.values()]
    numbers = [value for value in points if isinstance(value, (int, float))]
    if not asked:
        words = 'a question is a cell question="name" and a cell test="name" points=4'
        yield None, 0, f"it has no question; {words}"
    elif len(numbers) == len(points) and abs(sum(numbers) - POINTS) > 1e-9:
        yield None, 0, f"the points of its test cells add up to {sum(numbers):g} and not to {POINTS}"


def _of_start(cells: list[_Cell], lab: str) -> _Found:
    starts = [(cell, argument) for cell in cells for argument in _first_arguments(cell, "start")]
    if not starts:
        yield None, 0, f'no cell starts the lab; its first code cell needs start("{lab}")'
        return
    cell, name = starts[0]
    if name != lab:
        yield cell, 0, f'start("{name}") begins another lab; this one is “{lab}”'
    elif cell.role != "locked":
        yield cell, 0, 'the cell that starts the lab is to be locked, as in locked="setup"'


def _of_the_questions(lab: str, master: str, cells: list[_Cell]) -> Iterator[Fault]:
    """Every fault in a lab's question files, as far as decorators such as ``@question.misconception`` show it."""
    folder = questions_folder(lab, course_root())
    if not folder.is_dir():
        yield _missing(folder, "the lab's questions")
        return
    asked = {cell.name: cell for cell in cells if cell.role == "question"}
    declared: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.py")):
        file = path.relative_to(course_root()).as_posix()
        try:
            declared[path.stem] = _kinds(ast.parse(path.read_text(encoding="utf-8")))
        except SyntaxError as error:
            yield Fault(f"{file}, line {error.lineno}: it is no Python: {error.msg}.")
        except UnicodeDecodeError as error:
            yield Fault(f"{file}: it is no Python: {error}.")
        if asked and declared.get(path.stem) and path.stem not in asked:
            yield Fault(f"{file}: “{path.stem}” is no question of the lab{_nearest(path.stem, asked)}.")
    for name, cell in asked.items():
        lacks = ", ".join(
            f"no {words}" for kind, words in NEEDED.items() if kind not in declared.get(name, ())
        )
        if lacks and cell.options.get("points") != 0:
            yield Fault(f"{master}, line {cell.line}, question “{name}”: it has {lacks}.", unfinished=True)


def _kinds(tree: ast.Module) -> set[str]:
    """The keys of ``NEEDED`` that a file's decorators declare."""
    marks = [mark for node in tree.body for mark in getattr(node, "decorator_list", ())]
    of = (mark.func if isinstance(mark, ast.Call) else mark for mark in marks)
    kinds = {one.attr for one in of if isinstance(one, ast.Attribute)}
    return ({"family"} if "scenario" in kinds else set()) | (kinds & NEEDED.keys())
