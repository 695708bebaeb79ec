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

from autograder.course.masters import (
    ROLES,
    SKIP,
    course_header,
    course_root,
    master_path,
    questions_folder,
    source_of_import,
)  # fmt: skip
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


class Unfinished(str):
    """A fault that is only a missing part of a question."""


@dataclass(frozen=True)
class _Cell:
    """A cell of the percent file. ``role`` is "" for a plain cell. A test cell's ``name`` is its question's."""

    line: int
    kind: str  # "code" or "markdown"
    options: dict[str, Any]
    source: str
    role: str
    name: str

    @property
    def place(self) -> str:
        """The cell's place in the file, for sentences."""
        return f"line {self.line}, " + (f"cell {self.role}=“{self.name}”" if self.role else "this cell")


def faults_of(lab: str) -> list[str]:
    """Every fault of a lab (full name): in its master's header and cells, and in its question files."""
    path = master_path(lab)
    file = path.relative_to(course_root()).as_posix()
    if not path.is_file():
        return [_missing(path, "the lab's master and its cells")]
    try:
        header = course_header(lab)
        if source_of_import(lab):
            return []  # it has no wrong answers, and the import ran nbgrader's checks
        cells = _cells(path.read_text(encoding="utf-8"))
    except UserError as error:
        return [f"{file}, line 1, header: {error}"]
    except Exception as error:  # jupytext raises many types for invalid cell options
        return [f"{file}: its cells cannot be read: {' '.join(str(error).split())[:200]}."]
    found = [
        *(f"{cell.place}: {sentence}" for cell in cells for sentence in _faults_of_cell(cell)),
        *_faults_between_cells(cells),
        *(f"line 1, header: {sentence}" for sentence in _misfits(_Header, header)),
    ]
    if not any(cell.role == "locked" and f'start("{lab}")' in cell.source for cell in cells):
        found.append(f'whole lab: no locked cell starts the lab; its first code cell needs start("{lab}")')
    return [*(f"{file}, {sentence}." for sentence in found), *_faults_of_questions(lab, file, cells)]


def require_sound(labs: Iterable[str], *, unfinished: bool = False) -> list[str]:
    """Raise a ``UserError`` with the faults of all these labs.

    With ``unfinished``, missing parts of questions are allowed: the sentences about them are returned.
    """
    faults = [fault for lab in labs for fault in faults_of(lab)]
    refused = [fault for fault in faults if not (unfinished and isinstance(fault, Unfinished))]
    if refused:
        more = [f"… and {len(refused) - SHOWN} more."] if len(refused) > SHOWN else []
        raise UserError("\n  ".join(["Fix these first; nothing was written:", *refused[:SHOWN], *more]))
    return faults


def _nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: "; the nearest is “entropy”", or else the known names."""
    names = list(known)
    if close := difflib.get_close_matches(name, names, n=1, cutoff=0.5):
        return f"; the nearest is “{close[0]}”"
    return f"; the known ones: {', '.join(f'“{one}”' for one in names[:12])}" if names else ""


def _missing(path: Path, what: str) -> str:
    """A fault about a missing file or folder, naming the one with the most similar name beside it."""
    beside = [file.name for file in path.parent.glob("[!._]*")]
    file = path.relative_to(course_root()).as_posix()
    return f"{file}: {what} are not there{_nearest(path.name, beside)}."


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
    cells = []
    for line, cell in zip(lines, notebook.cells, strict=False):
        role = next((role for role in ROLES if role in cell.metadata), "")
        name = str(cell.metadata.get(role, ""))
        cells.append(_Cell(line, cell.cell_type, dict(cell.metadata), cell.source, role, name))
    return cells


def _faults_of_cell(cell: _Cell) -> Iterator[str]:
    """Yield a sentence for each fault of one cell: its options, its code, and what the students' notebook keeps of it."""
    options = cell.options
    yield from _misfits(_Options, options)
    roles, is_skipped = [role for role in ROLES if role in options], SKIP in options.get("tags", ())
    if len(roles) > 1:
        yield f"it is both {' and '.join(roles)}, and can be one of them"
    if is_skipped and roles:
        yield f"a {roles[0]} cell is needed when grading, so it cannot be tagged {SKIP}"
    if (cell.kind == "markdown") != (cell.role == "written") and cell.role not in ("", "locked"):
        kind = "[markdown]" if cell.role == "written" else "code"
        yield f"a {cell.role} cell is a {kind} cell"
    points, gives_points = options.get("points"), cell.role in ("test", "written")
    if gives_points and not points:
        yield "it gives no points; write points=4 behind its name"
    elif not gives_points and points is not None and (cell.role, points) != ("question", 0):
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
    if cell.role == "question":
        defined: list[str] = []
        with suppress(SyntaxError):
            scopes = [(scope.get_type(), symbol) for scope, symbol in symbols(released.source)]
            defined = [
                symbol.get_name() for kind, symbol in scopes if kind == "module" and symbol.is_assigned()
            ]
        if cell.name not in defined:
            yield (
                f"what students get of it does not define {cell.name}: only its inside stands between “### BEGIN SOLUTION” "
                f"and “### END SOLUTION”{_nearest(cell.name, defined)}"
            )


def _faults_between_cells(cells: list[_Cell]) -> Iterator[str]:
    """Yield a sentence for each repeated name, question without a test, test without a question above it, and wrong total."""
    first: dict[str, int] = {}
    for cell in (cell for cell in cells if cell.role):
        name = f"test_{cell.name}" if cell.role == "test" else cell.name
        if first.setdefault(name, cell.line) != cell.line:
            yield f"{cell.place}: the cell in line {first[name]} has the name “{name}” already"
    asked = {cell.name: cell for cell in cells if cell.role == "question"}
    graded = {name: cell for name, cell in asked.items() if cell.options.get("points") != 0}
    tests = [cell for cell in cells if cell.role == "test"]
    tested = {cell.name for cell in tests}
    for name in (name for name in graded if name not in tested):
        near = _nearest(name, tested - asked.keys())
        yield f'{graded[name].place}: no cell test="{name}" gives it points (points=0 makes it a challenge){near}'
    for cell in tests:
        if cell.name not in graded:
            yield f"{cell.place}: there is no question “{cell.name}” with points{_nearest(cell.name, graded)}"
        elif cell.line < graded[cell.name].line:
            yield f"{cell.place}: it stands above its question"
    if not asked:
        yield 'whole lab: it has no question; a question is a cell question="name" and a cell test="name" points=4'
    else:
        with suppress(TypeError, KeyError):  # a cell without a number has a fault of its own
            total = sum(cell.options["points"] for cell in tests)
            if abs(total - POINTS) > 1e-9:
                yield f"whole lab: the points of its test cells add up to {total:g} and not to {POINTS}"


def _faults_of_questions(lab: str, master: str, cells: list[_Cell]) -> Iterator[str]:
    """Every fault in a lab's question files, as far as decorators such as ``@question.misconception`` show it."""
    folder = questions_folder(lab)
    if not folder.is_dir():
        yield _missing(folder, "the lab's questions")
        return
    asked = {cell.name: cell for cell in cells if cell.role == "question"}
    declared: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.py")):
        file = path.relative_to(course_root()).as_posix()
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            marks = [mark for node in tree.body for mark in getattr(node, "decorator_list", ())]
            kinds = {getattr(getattr(mark, "func", mark), "attr", "") for mark in marks}
            declared[path.stem] = {"family" if kind == "scenario" else kind for kind in kinds} & NEEDED.keys()
        except SyntaxError as error:
            yield f"{file}, line {error.lineno}: it is no Python: {error.msg}."
        except UnicodeDecodeError as error:
            yield f"{file}: it is no Python: {error}."
        if asked and declared.get(path.stem) and path.stem not in asked:
            yield f"{file}: “{path.stem}” is no question of the lab{_nearest(path.stem, asked)}."
    for name, cell in asked.items():
        lacks = [f"no {words}" for kind, words in NEEDED.items() if kind not in declared.get(name, ())]
        if lacks and cell.options.get("points") != 0:
            yield Unfinished(f"{master}, line {cell.line}, question “{name}”: it has {', '.join(lacks)}.")
