"""From a student's notebook, whatever state it is in, to the cells that are run.

Locked cells come from the master. Cells that are missing, doubled, moved or of another type are put right
and noted. Cells that the master tags ``skip-grading`` are not run; of one that a student changed only the
imports and definitions are, and of the others those that the student's code uses. Unknown metadata never matters.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.course.masters import is_skipped, read_master, source_of_import
from autograder.grading.submissions import Unreadable
from autograder.results import first_notes
from autograder.sandbox.host.outputs import BASE64, BINARY_TYPES
from autograder.testing.run import tests_of

MAX_CELLS = 2_000
#: Objects that JSON may become: without a limit 60 MB of brackets become gigabytes.
MAX_PARTS = 5_000_000
#: Characters of code in one cell, and in all. As a syntax tree code takes some four hundred times its size.
MAX_CELL_CODE = 200_000
MAX_CODE = 1_000_000
#: Characters of code that are parsed here, before any clock runs: twenty times what a long notebook has.
MAX_FIGURES_CODE = 200_000
#: Characters, as base64, of the pictures in all cells of text together.
MAX_PICTURES = 8 << 20
PICTURES = (*BINARY_TYPES, "image/gif")
#: Characters of an answer, or of a changed figure's cell, in which names are looked for that nobody has made, and such cells.
MAX_READ_FOR_NAMES, MAX_CHANGED = 20_000, 20


@dataclass(frozen=True)
class Template:
    """The released lab, as the repair needs it."""

    lab: str
    cells: tuple[NotebookNode, ...]
    #: grade_id -> cell
    named: dict[str, NotebookNode]
    #: question -> grade_id of its test cell
    test_of: dict[str, str]
    #: sources of the cells that are not run, by cell id
    skipped: dict[str, str]
    #: grade_id of a test cell -> what runs in its place
    test_code: dict[str, str]

    @classmethod
    @cache
    def of(cls, lab: str) -> Template:
        """The template of a lab (full name)."""
        from autograder.course.build import (
            released_notebook,  # it loads nbgrader, which a worker can do without
        )

        cells = tuple(released_notebook(lab).cells)
        named = {c.metadata.nbgrader.grade_id: c for c in cells if "nbgrader" in c.metadata}
        tests = {
            g.removeprefix("test_"): g
            for g, c in named.items()
            if c.metadata.nbgrader.grade and not c.metadata.nbgrader.solution and c.cell_type == "code"
        }
        skipped = {c["id"]: c.source for c in cells if c.cell_type == "code" and is_skipped(c)}
        if source_of_import(lab):
            code = imported_test_code(lab, tests)
        else:
            code = {g: f"{kept_name(q)} = globals().get({q!r})\n{named[g].source}" for q, g in tests.items()}
        return cls(lab, cells, named, tests, skipped, code)


@dataclass
class Cell:
    """A cell of the repaired notebook. ``run`` is the source to execute ("" for none)."""

    node: NotebookNode
    grade_id: str | None = None
    run: str = ""


@dataclass
class Repaired:
    """The repaired notebook: its cells in order, and what was put right, in sentences."""

    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Characters of figures' cells that were parsed for their definitions.
    figures_code: int = 0
    #: Characters of the pictures in cells of text.
    pictures: int = 0

    def executed_source(self) -> list[str]:
        """What runs, cell by cell: a result depends on nothing else of the submission."""
        return [cell.run for cell in self.cells if cell.run]


def parse(raw: bytes) -> list[dict[str, Any]]:
    """The cells of a notebook file as plain dictionaries. Raises ``Unreadable`` with a sentence."""
    text = _text(raw)
    if text.count("[") + text.count("{") + text.count('"') // 2 > MAX_PARTS:
        raise Unreadable("The notebook has too many parts to be read.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable(
            "The notebook is not valid JSON: it may be cut off or not a notebook at all."
        ) from None
    if not isinstance(data, dict):
        raise Unreadable("The file is not a Jupyter notebook.")
    cells = data.get("cells") or _cells_of_format_3(data.get("worksheets"))
    if not isinstance(cells, list) or not cells:
        raise Unreadable("The notebook has no cells.")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(cells):,} cells; at most {MAX_CELLS:,} are read.")
    return [cell for cell in map(_plain_cell, cells) if cell is not None]


def _text(raw: bytes) -> str:
    """The file as text: UTF-8, or what editors on Windows make of it. A stray byte costs one character, not the notebook."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8-sig", "replace")


def _cells_of_format_3(worksheets: Any) -> list[Any]:
    """The cells of a notebook of format 3, as format 4 has them; outputs are not looked at, however many there are."""
    sheets = (
        sheet.get("cells")
        for sheet in (worksheets if isinstance(worksheets, list) else ())
        if isinstance(sheet, dict)
    )
    cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    for cell in (cell for cell in cells if isinstance(cell, dict)):
        kind, text = (
            cell.get("cell_type"),
            cell.get("input" if cell.get("cell_type") == "code" else "source", ""),
        )
        lines = [line for line in text if isinstance(line, str)] if isinstance(text, list) else [text]
        if lines[1:] and not lines[0].endswith(("\n", "\r")):
            lines = [f"{line}\n" for line in lines]  # the oldest files have lines without their ends
        if kind == "heading":
            level = cell.get("level")
            lines.insert(0, "#" * (level if isinstance(level, int) and 0 < level < 7 else 1) + " ")
        cell |= {"cell_type": "markdown" if kind in ("heading", "html") else kind, "source": lines}
    return cells


def _plain_cell(cell: Any) -> dict[str, Any] | None:
    if not isinstance(cell, dict):
        return None
    kind = cell.get("cell_type")
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    metadata = cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    nbgrader = metadata.get("nbgrader")
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return {
        "kind": kind if kind in ("code", "markdown", "raw") else "raw",
        "source": _clean(source) if isinstance(source, str) else "",
        "id": cell.get("id") if isinstance(cell.get("id"), str) else "",
        "grade_id": grade_id if isinstance(grade_id, str) else None,
        "attachments": cell.get("attachments"),
    }


def _clean(text: str) -> str:
    """With line ends as Python reads them, and without lone surrogates, which no file and no page can hold."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return plain.encode("utf-8", "replace").decode("utf-8")


def repair(raw: bytes, template: Template) -> Repaired:
    """The notebook to run. Raises ``Unreadable``."""
    student_cells = parse(raw)
    result = Repaired()
    seen: set[str] = set()
    for cell in student_cells:
        grade_id = _identify(cell, template)
        if grade_id is not None and _is_locked(template.named[grade_id]):
            if grade_id in seen:
                result.notes.append(
                    f"The given cell “{grade_id}” stood there twice; the second was left out."
                )
                continue
            if cell["source"].strip() != template.named[grade_id].source.strip():
                result.notes.append(f"The given cell “{grade_id}” had been changed and was restored.")
            elif cell["kind"] != template.named[grade_id].cell_type:
                result.notes.append(
                    f"The given cell “{grade_id}” had become {cell['kind']} and was restored."
                )
            result.cells.append(_locked_cell(grade_id, template))
        else:
            result.cells.append(_student_cell(cell, grade_id, template, result))
        if grade_id is not None:
            seen.add(grade_id)
    _name_answers(result, template)
    _insert_missing(result, template, seen)
    _put_tests_after_answers(result, template)
    _drop_overlong_code(result)
    _run_what_answers_use(result, template)
    result.notes = first_notes(result.notes)
    return result


def _run_what_answers_use(result: Repaired, template: Template) -> None:
    """Run those imports and definitions of cells that are not run which the student's code names: ``import math``, say."""
    shown = [cell for cell in result.cells if not cell.run and _demonstration(cell.node.source, template)]
    given = {
        source.strip() for source in (*(cell.source for cell in template.cells), *template.test_code.values())
    }
    own = [cell.run for cell in result.cells if cell.run and cell.run.strip() not in given]
    wanted = frozenset[str]().union(*map(_names_in, own))
    for _ in shown:  # what is used by what is used, too
        for cell in shown:
            parts = _demonstration(cell.node.source, template).lent
            cell.run = "\n\n".join(source for names, source in parts if names & wanted)
        more = wanted.union(*(_names_in(cell.run) for cell in shown))
        if more == wanted:
            break
        wanted = more


@dataclass(frozen=True)
class Demonstration:
    """What a cell that is not run would make."""

    #: Its imports and definitions at the top level, each with the names that it binds.
    lent: tuple[tuple[frozenset[str], str], ...] = ()
    #: All other names that it binds at the top level.
    made: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.lent or self.made)


def _demonstration(source: str, template: Template) -> Demonstration:
    return demonstration(source) if source.strip() in _skipped_sources(template) else Demonstration()


@cache
def demonstration(source: str) -> Demonstration:
    """What the cell ``source`` of a master would make; nothing is known of one that is not Python alone (``%pip``, ``!ls``)."""
    lent, body = [], statements(source)
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                one = (
                    ast.Import([alias])
                    if isinstance(node, ast.Import)
                    else ast.ImportFrom(node.module, [alias], node.level)
                )
                lent.append(_lent(alias.asname or alias.name.split(".")[0], one))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            lent.append(_lent(node.name, node))
    return Demonstration(tuple(lent), _made(body))


def statements(source: str) -> list[ast.stmt]:
    """The top level of a cell; nothing of what is not Python, or Python that nobody could write by hand (thousands of brackets)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # what Python thinks of a student's escapes is not for the terminal
            return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _made(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that statements bind at the top level, otherwise than by imports and definitions."""
    lent = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    parts = (part for node in body if not isinstance(node, lent) for part in ast.walk(node))
    return frozenset(
        part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )


def _lent(name: str, node: ast.stmt) -> tuple[frozenset[str], str]:
    """An import or a definition that gives way to what the student's code calls by that name."""
    asked = ast.parse(f"if {name!r} not in globals(): pass").body[0]
    assert isinstance(asked, ast.If)
    asked.body = [node]
    return frozenset({name}), ast.unparse(asked)


def made_by_demonstrations(answer: str, template: Template, changed: Iterable[str] = ()) -> list[str]:
    """The names that an answer uses, does not bind itself, and only cells which are not run would make.

    ``changed``: the sources of such cells as the student has them.
    """
    nodes = [part for node in statements(answer[:MAX_READ_FOR_NAMES]) for part in ast.walk(node)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    short = (source for source in changed if len(source) <= MAX_READ_FOR_NAMES)
    made = frozenset[str]().union(
        *(demonstration(source).made for source in template.skipped.values()),
        *(_made(statements(source)) for source in islice(short, MAX_CHANGED)),
    )
    return sorted(({node.id for node in names} & made) - own)


def names_bound(sources: Iterable[str]) -> set[str]:
    """The names that these cells bind, in functions too."""
    bound, left = set[str](), MAX_FIGURES_CODE
    for source in sources:
        left -= len(source)
        body = statements(source) if left >= 0 else []
        for node in (part for statement in body for part in ast.walk(statement)):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                bound |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return bound


def _names_in(code: str) -> frozenset[str]:
    """The words of a cell, lines of comment apart: more than its names, and found in linear time, whatever the cell holds."""
    return frozenset(_WORD.findall(_COMMENT.sub("", code)))


_COMMENT = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")


def _drop_overlong_code(result: Repaired) -> None:
    """Do not run, read or hand on more than anybody writes."""
    left = MAX_CODE
    for position, cell in enumerate(result.cells):
        if len(cell.node.source) > MAX_CELL_CODE:
            cell.node.source = f"{cell.node.source[:MAX_CELL_CODE]}\n[the rest was left out: it is too long]"
        left -= len(cell.run)
        if len(cell.run) > MAX_CELL_CODE or left < 0:
            left += len(cell.run)
            result.notes.append(
                f"The cell {cell.grade_id or f'number {position + 1}'} was not run: its code is too long."
            )
            cell.run = ""


def _is_locked(master: NotebookNode) -> bool:
    """Whether students are told not to change the cell: a "given" cell, in the notes that they read."""
    return bool(master.metadata.nbgrader.locked) and not master.metadata.nbgrader.solution


def _identify(cell: dict[str, Any], template: Template) -> str | None:
    """The master's name of a cell: by nbgrader's metadata, or by the cell id where an editor dropped that."""
    names: tuple[str | None, str] = (cell["grade_id"], cell["id"])
    return next((name for name in names if name in template.named), None)


def _locked_cell(grade_id: str, template: Template) -> Cell:
    """A cell that runs as the master has it."""
    node = nbformat.from_dict(dict(template.named[grade_id]))
    if node.cell_type != "code":
        return Cell(node, grade_id)
    return Cell(node, grade_id, template.test_code.get(grade_id, node.source))


def imported_test_code(lab: str, tests: Mapping[str, str]) -> dict[str, str]:
    """What runs in the place of an imported lab's test cells (question -> ``grade_id``).

    Of a cell that became a hidden test only its imports and definitions run, which later cells may use. Any other is
    graded where it stands, so it runs whole, with its hidden part. None is empty: a test is run when its cell has been.
    """
    whole = {
        cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in read_master(lab).cells
    }
    moved = tests_of(lab)
    return {g: (definitions_of(whole[g]) or "pass") if moved[q] else whole[g] for q, g in tests.items()}


def kept_name(question: str) -> str:
    """The name under which a test cell keeps the answer, so that a later cell may reuse the question's name."""
    return f"__graded_{question}__"


def _student_cell(cell: dict[str, Any], grade_id: str | None, template: Template, result: Repaired) -> Cell:
    """A cell of the student's: an answer, or one they added."""
    kind, source, notes = cell["kind"], cell["source"], result.notes
    if grade_id is not None:
        master = template.named[grade_id]
        if kind != master.cell_type:
            notes.append(
                f"The answer cell “{grade_id}” had become {kind} and was read as {master.cell_type}."
            )
            kind = master.cell_type
    # Built by hand: nbformat validates every new cell, which costs more than running most of them.
    node = nbformat.from_dict({"cell_type": kind, "metadata": {}, "source": source})
    if kind == "code":
        node.update(outputs=[], execution_count=None)
    elif pictures := _pictures(cell["attachments"], result):
        node["attachments"] = nbformat.from_dict(pictures)
    run = source if kind == "code" else ""
    original = template.skipped.get(cell["id"])
    if run and (original is not None or run.strip() in _skipped_sources(template)):
        run = "" if run.strip() in _skipped_sources(template) else _few_definitions(run, result)
    return Cell(node, grade_id, run if run.strip() else "")


def _pictures(attachments: Any, result: Repaired) -> dict[str, dict[str, str]]:
    """The pictures that a cell of text holds, as JupyterLab keeps them: name -> kind -> base64. What is left out, is said."""
    kept: dict[str, dict[str, str]] = {}
    for name, kinds in attachments.items() if isinstance(attachments, dict) else ():
        kind = next((kind for kind in PICTURES if isinstance(kinds, dict) and kind in kinds), "")
        data = kinds[kind] if kind else None
        data = "".join(line for line in data if isinstance(line, str)) if isinstance(data, list) else data
        result.pictures += len(data) if isinstance(data, str) else 0
        if isinstance(data, str) and result.pictures <= MAX_PICTURES and BASE64.issuperset(data):
            kept[_clean(name)] = {kind: data}
            continue
        note = "A picture in a cell of text was left out: it is none of PNG, JPEG and GIF, or all of them together are over 6 MB."
        result.notes += [] if note in result.notes else [note]
    return kept


def _few_definitions(source: str, result: Repaired) -> str:
    """The definitions of a figure's cell that was changed, which alone of it run: as much as people write, for reading code takes time."""
    result.figures_code += len(source)
    if result.figures_code > MAX_FIGURES_CODE:
        note = "A changed cell that does not run when work is graded was not read: its code is too long."
        result.notes += [] if note in result.notes else [note]
        return ""
    return definitions_of(source)


def _name_answers(result: Repaired, template: Template) -> None:
    """Give each answer its metadata. Of several copies the last that is not as it was received counts; of such none runs."""
    copies: dict[str, list[Cell]] = defaultdict(list)
    for cell in result.cells:
        if cell.grade_id is not None and not _is_locked(template.named[cell.grade_id]):
            copies[cell.grade_id].append(cell)
    for grade_id, cells in copies.items():
        master = template.named[grade_id]
        changed = [cell for cell in cells if cell.node.source.strip() != master.source.strip()]
        (changed or cells)[-1].node.metadata = nbformat.from_dict(dict(master.metadata))
        if len(cells) == 1:
            continue
        which = "the later one counts"
        if changed and changed[-1] is not cells[-1]:
            which = "the last that was changed counts"
            for cell in cells:
                cell.run = "" if cell not in changed else cell.run
        result.notes.append(f"The answer cell “{grade_id}” stood there {_times(len(cells))}; {which}.")


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"


def _skipped_sources(template: Template) -> set[str]:
    return {source.strip() for source in template.skipped.values()}


def definitions_of(source: str) -> str:
    """Only the imports, functions and classes at the top level of ``source`` ("" when it cannot be read)."""
    if len(source) > MAX_CELL_CODE:
        return ""
    kept = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    try:
        return "\n\n".join(ast.unparse(node) for node in statements(source) if isinstance(node, kept))
    except (ValueError, RecursionError, MemoryError):
        return ""


def _insert_missing(result: Repaired, template: Template, seen: set[str]) -> None:
    """Put back the master's named cells that are not there, each after the master cell that precedes it."""
    before: str | None = None
    for master in template.cells:
        grade_id = master.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id is None:
            continue
        if grade_id not in seen:
            places = (i + 1 for i, cell in reversed(list(enumerate(result.cells))) if cell.grade_id == before)
            where = next(places, 0) if before is not None else 0
            if _is_locked(master):
                result.notes.append(f"The given cell “{grade_id}” was missing and was restored.")
                result.cells.insert(where, _locked_cell(grade_id, template))
            else:
                result.notes.append(f"The answer cell “{grade_id}” was missing.")
        before = grade_id if grade_id in seen or _is_locked(master) else before


def _put_tests_after_answers(result: Repaired, template: Template) -> None:
    """Move a test cell that stands before (the last copy of) its answer to just after it."""
    for question, test_id in template.test_of.items():
        answers = [i for i, cell in enumerate(result.cells) if cell.grade_id == question]
        test = next((i for i, cell in enumerate(result.cells) if cell.grade_id == test_id), None)
        if answers and test is not None and test < answers[-1]:
            moved = result.cells.pop(test)
            result.cells.insert(answers[-1], moved)
            result.notes.append(f"The test cell of “{question}” stood before its answer and was moved.")
