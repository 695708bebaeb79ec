"""Refuses unsound labs: reads a lab's files without running them, and reports every fault.

``audit`` finds faults that only running shows (a wrong answer that keeps its points, two that behave alike); ``build``
measures the master's time.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from autograder.course.masters import SKIP, course_header, course_root, master_path, source_of_import
from autograder.course.names import symbols
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
    def place(self) -> str:
        """The cell's place in the file, for sentences."""
        return f"line {self.line}, " + (f"cell {self.role}=“{self.name}”" if self.role else "this cell")


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
        *(f"{cell.place}: {sentence}" for cell in cells for sentence in _of_cell(cell)),
        *_of_names(cells),
        *_of_pairs(cells),
        *(f"line 1, header: {sentence}" for sentence in _misfits(_Header, header)),
    ]
    if not any(cell.role == "locked" and f'start("{lab}")' in cell.source for cell in cells):
        found.append(f'whole lab: no locked cell starts the lab; its first code cell needs start("{lab}")')
    faults = [Fault(f"{file}, {sentence}.") for sentence in found]
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
                yield f"there is no setting “{name}” ({one['input']}){_nearest(name, known.model_fields)}"
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


def _of_cell(cell: _Cell) -> Iterator[str]:
    """Yield a sentence for each fault of one cell: its options, its code, and what students get of it."""
    options = cell.options
    yield from _misfits(_Options, options)
    roles, is_skipped = [role for role in _ROLES if role in options], SKIP in options.get("tags", ())
    if len(roles) > 1:
        yield f"it is both {' and '.join(roles)}, and can be one of them"
    if is_skipped and roles:
        yield f"a {roles[0]} cell is needed when grading, so it cannot be tagged {SKIP}"
    if (cell.kind == "markdown") != (cell.role == "written") and cell.role not in ("", "locked"):
        kind = "[markdown]" if cell.role == "written" else "code"
        yield f"a {cell.role} cell is a {kind} cell"
    points, gives = options.get("points"), cell.role in ("test", "written")
    if gives and not points:
        yield "it gives no points; write points=4 behind its name"
    elif not gives and points is not None and (cell.role, points) != ("question", 0):
        yield "only test and written cells give points (and question cells points=0: a challenge without a test)"
    if cell.role == "test" and f'check("{cell.name}", {cell.name}' not in cell.source:
        yield f'it shows no card; it needs check("{cell.name}", {cell.name})'
    if cell.kind == "code" and not is_skipped:
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            magics = f"; magics stand in cells tagged {SKIP}" if cell.role in ("", "locked") else ""
            yield f"its line {error.lineno} is no plain Python ({error.msg}){magics}"
            return
    yield from _of_solution(cell)


def _of_solution(cell: _Cell) -> Iterator[str]:
    """Yield a sentence for each fault of the cell that students get, which nbgrader makes."""
    from nbformat import from_dict
    from nbgrader.preprocessors import ClearSolutions

    is_solution = cell.role in ("question", "written")
    data = {"solution": is_solution, "grade": cell.role == "written"}
    given = from_dict({"cell_type": cell.kind, "source": cell.source, "metadata": {"nbgrader": data}})
    try:
        released, _ = ClearSolutions().preprocess_cell(given, {"language": "python"}, 0)
    except RuntimeError as error:
        yield str(error).partition(";")[0].lower()
        return
    if cell.role != "question":
        return
    defined: list[str] = []
    with suppress(SyntaxError):
        scopes = [(scope.get_type(), symbol) for scope, symbol in symbols(released.source)]
        defined = [symbol.get_name() for kind, symbol in scopes if kind == "module" and symbol.is_assigned()]
    if cell.name not in defined:
        yield (
            f"what students get of it does not define {cell.name}: only its inside stands between “### BEGIN SOLUTION” "
            f"and “### END SOLUTION”{_nearest(cell.name, defined)}"
        )


def _of_names(cells: list[_Cell]) -> Iterator[str]:
    first: dict[str, int] = {}
    for cell in (cell for cell in cells if cell.role):
        name = f"test_{cell.name}" if cell.role == "test" else cell.name
        if first.setdefault(name, cell.line) != cell.line:
            yield f"{cell.place}: the cell in line {first[name]} has the name “{name}” already"


def _of_pairs(cells: list[_Cell]) -> Iterator[str]:
    """Yield a sentence for each question without a test cell below it, each other test cell, and points that do not add up."""
    asked = {cell.name: cell for cell in cells if cell.role == "question"}
    tests = [cell for cell in cells if cell.role == "test"]
    tested, graded = {cell.name for cell in tests}, dict[str, _Cell]()
    for name, cell in asked.items():
        if cell.options.get("points") != 0:
            graded[name] = cell
            if name not in tested:
                near = _nearest(name, tested - asked.keys())
                yield f'{cell.place}: no cell test="{name}" gives it points (points=0 makes it a challenge){near}'
    for cell in tests:
        if cell.name not in graded:
            yield f"{cell.place}: there is no question “{cell.name}” with points{_nearest(cell.name, graded)}"
        elif cell.line < graded[cell.name].line:
            yield f"{cell.place}: it stands above its question"
    numbers = [value for cell in tests if isinstance(value := cell.options.get("points"), (int, float))]
    if not asked:
        yield 'whole lab: it has no question; a question is a cell question="name" and a cell test="name" points=4'
    elif len(numbers) == len(tests) and abs(sum(numbers) - POINTS) > 1e-9:
        yield f"whole lab: the points of its test cells add up to {sum(numbers):g} and not to {POINTS}"


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
