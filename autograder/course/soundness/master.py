"""Reads a master's cells and header as data, and finds their faults."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from autograder.course.masters import SKIP, course_header
from autograder.errors import UserError
from autograder.sandbox.limits import Limits

#: The total points of a lab's graded functions.
POINTS = 20

_ROLES = ("question", "test", "written", "locked")
_OPTIONS = (*_ROLES, "points", "tags")
_HEADER = ("data", "minutes", "demo", "limits", "nbgrader")
_REGION = ("### BEGIN SOLUTION", "### END SOLUTION")
_MADE_BY_JUPYTEXT = {"lines_to_next_cell", "lines_to_end_of_cell_marker"}


@dataclass(frozen=True)
class Fault:
    """A fault of a lab. ``str`` gives the sentence for the author."""

    #: The file's path in the course's folder.
    file: str
    #: The line (from 1); 0 for the whole file.
    line: int
    #: The cell, function or setting; "" for the whole file.
    place: str
    sentence: str
    #: Whether the fault is only a missing part of a question.
    unfinished: bool = False

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}{f', {self.place}' if self.place else ''}: {self.sentence}."


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: "; the nearest is “entropy”", or else the known names."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    if close:
        return f"; the nearest is “{close[0]}”"
    return (
        f"; there {'is' if len(names) == 1 else 'are'} {', '.join(f'“{n}”' for n in names[:12])}"
        if names
        else ""
    )


def missing_file(path: Path, root: Path, what: str) -> Fault:
    """A fault about a missing file or folder, naming the one with the most similar name beside it."""
    beside = [p.name for p in path.parent.glob("*") if p.name[:1] not in "._"] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.8)
    hint = f"; there is {close[0]}" if close else ""
    return Fault(path.relative_to(root).as_posix(), 0, "", f"{what} are not there{hint}")


@dataclass(frozen=True)
class Cell:
    """A cell of the percent file: its first line, options and source."""

    line: int
    kind: str  # "code" or "markdown"
    options: dict[str, Any]
    source: str
    #: The role: question, test, written or locked ("" for a plain cell); and the name, or that of the question that it tests.
    role: str
    name: str


@dataclass
class Outline:
    """A master's questions, which other files must match, and its faults."""

    file: str
    #: Graded question -> first line of its cell.
    questions: dict[str, int] = field(default_factory=dict)
    #: Optional questions: ``points=0``, no test cell.
    challenges: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def refuse(self, line: int, place: str, sentence: str) -> None:
        """Note a fault of the master."""
        self.faults.append(Fault(self.file, line, place, sentence))

    def blame(self, cell: Cell, sentence: str, below: int = 0) -> None:
        """Note a fault of a cell, ``below`` lines after its mark."""
        place = f"cell {cell.role}=“{cell.name}”" if cell.role else "this cell"
        self.refuse(cell.line + below, place, sentence)


def read_outline(lab: str, path: Path, root: Path) -> Outline:
    """The master's questions and faults. Nothing is run."""
    outline = Outline(path.relative_to(root).as_posix())
    if not path.is_file():
        outline.faults.append(missing_file(path, root, "the lab's master and its cells"))
        return outline
    try:
        header = course_header(lab)
        outline.cells = _cells(path.read_text(encoding="utf-8"))
    except UserError as error:
        outline.refuse(1, "header", str(error).rstrip("."))
        return outline
    except Exception as error:  # jupytext raises many types for invalid cell options
        outline.refuse(0, "", f"its cells cannot be read: {' '.join(str(error).split())[:200]}")
        return outline
    for cell in outline.cells:
        _check_options(outline, cell)
        _check_regions(outline, cell)
    _check_names(outline)
    _check_pairs(outline)
    _check_start(outline, lab)
    _check_header(outline, header)
    return outline


def _cells(text: str) -> list[Cell]:
    import jupytext

    notebook = jupytext.reads(text, fmt="py:percent")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("# %%")]
    lines = [1] * (len(notebook.cells) - len(lines)) + lines  # text before the first mark is a cell
    cells = []
    for line, cell in zip(lines, notebook.cells, strict=False):
        options = dict(cell.metadata)
        role = next((role for role in _ROLES if role in options), "")
        cells.append(Cell(line, cell.cell_type, options, cell.source, role, str(options.get(role, ""))))
    return cells


def _check_options(outline: Outline, cell: Cell) -> None:
    refuse = partial(outline.blame, cell)
    options = cell.options
    for option in options.keys() - {*_OPTIONS, *_MADE_BY_JUPYTEXT}:
        if option == "incorrectly_encoded_metadata":
            refuse(
                f'the options `{options[option]}` cannot be read; a name stands in quotes, as in question="entropy"'
            )
        elif option == "title":
            refuse(f"“{options[option]}” is no option{nearest(options[option], ['[markdown]', *_OPTIONS])}")
        else:
            refuse(f"there is no option “{option}”{nearest(option, _OPTIONS)}")
    roles, is_skipped = [role for role in _ROLES if role in options], SKIP in options.get("tags", ())
    if len(roles) > 1:
        refuse(f"it is both {' and '.join(roles)}, and can be one of them")
    for role in roles:
        if not isinstance(options[role], str) or not options[role]:
            refuse(f"{role}={options[role]} is no name; one name stands in quotes, and no comma after it")
        elif role in ("question", "test") and not options[role].isidentifier():
            refuse(f"“{options[role]}” cannot be the name of a function")
    for tag in options.get("tags", ()):
        if tag != SKIP:
            refuse(f"there is no tag “{tag}”{nearest(tag, [SKIP])}")
    if is_skipped and roles:
        refuse(f"a {roles[0]} cell is needed when grading, so it cannot be tagged {SKIP}")
    if (cell.kind == "markdown") != (cell.role == "written") and cell.role not in ("", "locked"):
        refuse(f"a {cell.role} cell is a {'[markdown]' if cell.role == 'written' else 'code'} cell")
    _check_points(cell, refuse)
    if cell.kind == "code" and cell.role in ("", "locked") and not is_skipped:
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            refuse(f"it is no plain Python ({error.msg}); magics stand in cells tagged {SKIP}")


def _check_points(cell: Cell, refuse: Any) -> None:
    points = cell.options.get("points")
    if cell.role in ("test", "written"):
        if points is None:
            refuse("it gives no points; write points=4 behind its name")
        elif not _is_above_zero(points):
            refuse(f"points={points} is no number of points above zero")
    elif points is not None and not (cell.role == "question" and points == 0):
        refuse(
            "only test and written cells give points (and question cells points=0: a challenge without a test)"
        )


def _is_above_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")


def _check_regions(outline: Outline, cell: Cell) -> None:
    marks = []
    for offset, line in enumerate(cell.source.splitlines()):
        text = line.strip()
        looks = re.match(r"#+\s*(BEGIN|END)\b", text, re.IGNORECASE)
        close = difflib.get_close_matches(text.upper(), _REGION, n=1, cutoff=0.8) if "#" in text[:1] else []
        if text in _REGION:
            marks.append((text, offset))
        elif looks or close:
            outline.blame(cell, f"“{text}” marks no region{nearest(text.upper(), _REGION)}", 1 + offset)
            return
    if cell.role in ("question", "written"):
        if not marks:
            outline.blame(
                cell,
                f"its solution is not marked, so students would get it; put it between “{_REGION[0]}” and “{_REGION[1]}”",
            )
        elif [mark for mark, _ in marks] != [*_REGION] * (len(marks) // 2) or len(marks) % 2:
            outline.blame(cell, f"each “{_REGION[0]}” needs its “{_REGION[1]}” below it")
    elif marks:
        outline.blame(cell, "a solution region stands in question and written cells only")
    if cell.role in ("question", "test"):
        _check_code(outline, cell, marks[0][1] + 1 if marks else None)


def _check_code(outline: Outline, cell: Cell, begin: int | None) -> None:
    """Check that a solution defines its question's name where students see it, and that a test cell shows its card."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        outline.blame(cell, f"it is no Python: {error.msg}", error.lineno or 1)
        return
    if cell.role == "test":
        calls = [call for call in _calls(tree, "check") if call.args]
        names = [ast.unparse(call.args[0]).strip("'\"") for call in calls]
        if cell.name not in names:
            instead = f" (it checks {', '.join(names)})" if names else ""
            outline.blame(cell, f'it shows no card; it needs check("{cell.name}", {cell.name}){instead}')
        return
    defined = {name: node.lineno for node in tree.body for name in _bound(node)}
    if cell.name not in defined:
        outline.blame(cell, f"its solution does not define {cell.name}{nearest(cell.name, defined)}")
    elif begin is not None and defined[cell.name] >= begin:
        outline.blame(
            cell,
            f"“{_REGION[0]}” stands above the line that defines {cell.name}, which students would not see",
        )


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            yield node


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _check_names(outline: Outline) -> None:
    first: dict[str, int] = {}
    for cell in outline.cells:
        name = f"test_{cell.name}" if cell.role == "test" else cell.name
        if cell.role and name in first:
            outline.blame(cell, f"the cell in line {first[name]} has the name “{name}” already")
        elif cell.role:
            first[name] = cell.line


def _check_pairs(outline: Outline) -> None:
    """Check that each question has its test cell below it, and that the points add up."""
    asked = {cell.name: cell for cell in outline.cells if cell.role == "question"}
    tested = {cell.name: cell for cell in outline.cells if cell.role == "test"}
    outline.challenges = {name for name, cell in asked.items() if cell.options.get("points") == 0}
    outline.questions = {name: cell.line for name, cell in asked.items() if name not in outline.challenges}
    for name in outline.questions:
        if name not in tested:
            near = nearest(name, tested.keys() - asked.keys()) if tested.keys() - asked.keys() else ""
            outline.blame(
                asked[name], f'no cell test="{name}" gives it points (points=0 makes it a challenge){near}'
            )
    for name, cell in ((cell.name, cell) for cell in outline.cells if cell.role == "test"):
        if name not in asked:
            outline.blame(cell, f"there is no question “{name}”{nearest(name, asked)}")
        elif name in outline.challenges:
            outline.blame(cell, "its question says points=0, so it has no test cell")
        elif cell.line < asked[name].line:
            outline.blame(cell, "it stands above its question")
    points = [cell.options.get("points") for cell in tested.values()]
    numbers = [value for value in points if isinstance(value, (int, float))]
    if not asked:
        outline.refuse(
            0, "", 'it has no question; a question is a cell question="name" and a cell test="name" points=4'
        )
    elif len(numbers) == len(points) and abs(sum(numbers) - POINTS) > 1e-9:
        outline.refuse(0, "", f"the points of its test cells add up to {sum(numbers):g} and not to {POINTS}")


def _check_start(outline: Outline, lab: str) -> None:
    for cell in outline.cells:
        for call in _calls(_parsed(cell), "start"):
            name = ast.unparse(call.args[0]).strip("'\"") if call.args else ""
            if name != lab:
                outline.blame(cell, f'start("{name}") begins another lab; this one is “{lab}”')
            elif cell.role != "locked":
                outline.blame(cell, 'the cell that starts the lab is to be locked, as in locked="setup"')
            return
    outline.refuse(0, "", f'no cell starts the lab; its first code cell needs start("{lab}")')


def _parsed(cell: Cell) -> ast.AST:
    """The cell's syntax tree; empty for text and for code that is not plain Python (magics)."""
    try:
        return ast.parse(cell.source if cell.kind == "code" else "")
    except SyntaxError:
        return ast.Module([], [])


def _check_header(outline: Outline, header: dict[str, Any]) -> None:
    refuse = partial(outline.refuse, 1, "header")
    for key in header.keys() - set(_HEADER):
        refuse(f"there is no setting “{key}”{nearest(key, _HEADER)}")
    minutes = header.get("minutes", 1)
    if not _is_above_zero(minutes):
        refuse(f"minutes: {minutes} is no number of minutes")
    limits, known = header.get("limits") or {}, [limit.name for limit in fields(Limits)]
    for name, value in limits.items() if isinstance(limits, dict) else [(limits, 1)]:
        if name not in known:
            refuse(f"there is no limit “{name}”{nearest(name, known)}")
        elif not _is_above_zero(value):
            refuse(f"the limit {name}: {value} is no number above zero")
