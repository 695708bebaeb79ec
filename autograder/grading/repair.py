"""From a student's notebook, whatever state it is in, to the cells that are run.

A cell is found by its name, else by what it defines, else by its text, else put back at its place in the master's order.
Given cells come from the master. Cells that the master tags ``skip-grading`` are not run; of one that a student changed only
the imports and definitions are, and of the others those that the student's code uses. Unknown metadata never matters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.course.masters import is_skipped, read_master, source_of_import
from autograder.errors import Unreadable
from autograder.grading.answers import (
    assign_cells,
    place_for,
    put_back_graded_by_hand,
    put_tests_after_answers,
)
from autograder.grading.cell_text import added_code, is_answer, names_at_top_level
from autograder.grading.demonstrations import MAX_FIGURES_CODE, definitions_of, demonstration, words_in
from autograder.grading.repaired import Cell, Repaired
from autograder.grading.saved_checks import saved_checks
from autograder.sandbox.host.outputs import BASE64, BINARY_TYPES
from autograder.testing.run import tests_of

MAX_CELLS = 2_000
#: Objects that JSON may become: without a limit 60 MB of brackets become gigabytes.
MAX_PARTS = 5_000_000
#: Characters of code in one cell, and in all. As a syntax tree code takes some four hundred times its size.
MAX_CELL_CODE = 200_000
MAX_CODE = 1_000_000
#: Characters, as base64, of the pictures in all cells of text together.
MAX_PICTURES = 8 << 20
PICTURES = (*BINARY_TYPES, "image/gif")


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
    #: grade_id of a test cell -> what runs in its place: it keeps the answer, and checks nothing
    test_code: dict[str, str]

    @property
    def given_sources(self) -> frozenset[str]:
        """The sources that run of the cells as handed out."""
        sources = (*(cell.source for cell in self.cells), *self.test_code.values())
        return frozenset(source.strip() for source in sources)

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
            code = {g: f"{kept_name(q)} = globals().get({q!r})" for q, g in tests.items()}
        return cls(lab, cells, named, tests, skipped, code)

    @cached_property
    def places(self) -> dict[str, int]:
        """The master's position of each cell, by name and by cell id."""
        by_id = {cell["id"]: place for place, cell in enumerate(self.cells)}
        names = ((_name_of(cell), place) for place, cell in enumerate(self.cells))
        return by_id | {name: place for name, place in names if name is not None}

    @cached_property
    def texts(self) -> dict[str, int]:
        """The master's position of each text that occurs once."""
        texts = [cell.source.strip() for cell in self.cells]
        return {text: place for place, text in enumerate(texts) if text and texts.count(text) == 1}

    @cached_property
    def skipped_sources(self) -> frozenset[str]:
        """The texts of the cells that are not run."""
        return frozenset(source.strip() for source in self.skipped.values())

    @cached_property
    def names(self) -> dict[str, frozenset[str]]:
        """``grade_id`` of each answer that is code -> what it defines, as released or else as the master's answer does."""
        whole = {_name_of(cell): cell.source for cell in read_master(self.lab).cells}
        return {
            name: names_at_top_level(cell.source) or names_at_top_level(whole[name])
            for name, cell in self.named.items()
            if cell.cell_type == "code" and not _is_locked(cell)
        }

    @cached_property
    def tested(self) -> dict[str, tuple[str, ...]]:
        """``grade_id`` of each test cell -> the answers before it that it names."""
        return {
            test: tuple(
                answer
                for answer, names in self.names.items()
                if self.places[answer] < self.places[test] and names & words_in(self.named[test].source)
            )
            for test in self.test_of.values()
        }

    @cached_property
    def by_hand(self) -> tuple[str, ...]:
        """The answers that a person grades."""
        return tuple(n for n, c in self.named.items() if c.metadata.nbgrader.grade and not _is_locked(c))


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
        "outputs": cell.get("outputs"),
    }


def _clean(text: str) -> str:
    """With line ends as Python reads them, and without lone surrogates, which no file and no page can hold."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return plain.encode("utf-8", "replace").decode("utf-8")


def repair(raw: bytes, template: Template) -> Repaired:
    """The notebook to run. Raises ``Unreadable``."""
    student_cells = parse(raw)
    result = Repaired(saved_checks=saved_checks(cell["outputs"] for cell in student_cells))
    places = _places(student_cells, template)
    for number, (cell, place) in enumerate(zip(student_cells, places, strict=True), start=1):
        known = len(result.cells)
        master = None if place is None else template.cells[place]
        grade_id = None if master is None else _name_of(master)
        if master is not None and grade_id is not None and _is_locked(master):
            _restore(cell, grade_id, template, result)
        else:
            result.cells.append(_student_cell(cell, place, template, result))
        if grade_id is not None and grade_id not in (cell["grade_id"], cell["id"]):
            result.note("found", grade_id)
        for made in result.cells[known:]:
            made.number = number
    _drop_overlong_code(result)
    assign_cells(result, template)
    put_tests_after_answers(result, template, put_back=_put_back_given(result, template))
    put_back_graded_by_hand(result, template)
    _run_what_answers_use(result, template)
    result.write_notes()
    return result


def _places(cells: Sequence[dict[str, Any]], template: Template) -> list[int | None]:
    """The master's position of each cell, found by nbgrader's name, else by cell id, else by text."""
    places = [
        next(
            (template.places[name] for name in (cell["grade_id"], cell["id"]) if name in template.places),
            None,
        )
        for cell in cells
    ]
    taken = set(places)
    for number, cell in enumerate(cells):
        place = template.texts.get(cell["source"].strip())
        if places[number] is None and place is not None and place not in taken:
            places[number] = place
            taken.add(place)
    return places


def _name_of(master: NotebookNode) -> str | None:
    name: str | None = master.metadata.get("nbgrader", {}).get("grade_id")
    return name


def _restore(cell: dict[str, Any], grade_id: str, template: Template, result: Repaired) -> None:
    """Put the master's cell in place of a given one. What a student wrote into it is a cell of the student's own."""
    master, source = template.named[grade_id], cell["source"]
    if any(grade_id == other.grade_id for other in result.cells):
        result.note("doubled", grade_id)
        return
    given = _locked_cell(grade_id, template)
    if source.strip() == master.source.strip():
        if cell["kind"] != master.cell_type:
            result.note("retyped", grade_id)
        result.cells.append(given)
        return
    result.note("changed", grade_id)
    if master.cell_type != "code":
        given.added = _added_text(source, master.source)
        result.cells.append(given)
        return
    own = added_code(source, master.source) if cell["kind"] == "code" else ""
    asked = frozenset[str]().union(*(template.names[answer] for answer in template.tested.get(grade_id, ())))
    written = Cell(_new_node("code", own), from_given=grade_id)
    if is_answer(own, asked, ""):
        written.run = own
        result.cells += [written, given]
    else:
        result.cells += [given, written] if own else [given]


def _added_text(source: str, given: str) -> str:
    """The lines that a student added to a text of the master's."""
    known = {line.strip() for line in given.split("\n")}
    return "\n".join(line for line in source.split("\n") if line.strip() not in known).strip()


def _run_what_answers_use(result: Repaired, template: Template) -> None:
    """Run those imports and definitions of cells that are not run which the student's code names: ``import math``, say."""
    lent = {cell: lends(cell, template) for cell in result.cells if not cell.run}
    lent = {cell: parts for cell, parts in lent.items() if parts}
    given = template.given_sources
    own = [cell.run for cell in result.cells if cell.run and cell.run.strip() not in given]
    wanted = frozenset[str]().union(*map(words_in, own))
    for _ in lent:  # what is used by what is used, too
        for cell, parts in lent.items():
            cell.run = "\n\n".join(source for names, source in parts if names & wanted)
        more = wanted.union(*(words_in(cell.run) for cell in lent))
        if more == wanted:
            break
        wanted = more


def lends(cell: Cell, template: Template) -> tuple[tuple[frozenset[str], str], ...]:
    """The imports and definitions that a cell which is not run lends: a figure's cell, or what was added to a given cell."""
    if cell.from_given:
        return demonstration.__wrapped__(cell.source).lent
    return demonstration(cell.source).lent if cell.source.strip() in template.skipped_sources else ()


def _drop_overlong_code(result: Repaired) -> None:
    """Do not run, read or hand on more than anybody writes."""
    left = MAX_CODE
    for cell in result.cells:
        if len(cell.node.source) > MAX_CELL_CODE:
            cell.node.source = f"{cell.node.source[:MAX_CELL_CODE]}\n[the rest was left out: it is too long]"
        left -= len(cell.run)
        if len(cell.run) > MAX_CELL_CODE or left < 0:
            left += len(cell.run)
            result.note("too long", cell.grade_id or f"number {cell.number}")
            cell.run = ""


def _is_locked(master: NotebookNode) -> bool:
    """Whether students are told not to change the cell: a "given" cell, in the notes that they read."""
    return bool(master.metadata.nbgrader.locked) and not master.metadata.nbgrader.solution


def _locked_cell(grade_id: str, template: Template) -> Cell:
    """A cell that runs as the master has it."""
    node = nbformat.from_dict(dict(template.named[grade_id]))
    run = template.test_code.get(grade_id, node.source) if node.cell_type == "code" else ""
    return Cell(node, grade_id, run, place=template.places[grade_id])


def imported_test_code(lab: str, tests: Mapping[str, str]) -> dict[str, str]:
    """The code that runs in place of an imported lab's test cells (question -> ``grade_id``).

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


def _student_cell(cell: dict[str, Any], place: int | None, template: Template, result: Repaired) -> Cell:
    """A cell of the student's: an answer, one of the master's that may be changed, or one they added."""
    kind, source = cell["kind"], cell["source"]
    master = None if place is None else template.cells[place]
    grade_id = None if master is None else _name_of(master)
    if master is not None and grade_id is not None and kind != master.cell_type:
        result.note("read as code" if master.cell_type == "code" else "read as text", grade_id)
        kind = master.cell_type
    node = _new_node(kind, source)
    if kind != "code" and (pictures := _pictures(cell["attachments"], result)):
        node["attachments"] = nbformat.from_dict(pictures)
    run = source if kind == "code" else ""
    if run.strip() in template.skipped_sources:
        run = ""
    elif run and place is not None and cell["id"] in template.skipped:
        run = _few_definitions(run, result)
    made = Cell(node, grade_id, run if run.strip() else "", place=place)
    if master is not None and grade_id is None and kind == "markdown":
        made.added = _added_text(source, master.source)
    return made


def _new_node(kind: str, source: str) -> NotebookNode:
    # Built by hand: nbformat validates every new cell, which costs more than running most of them.
    node: NotebookNode = nbformat.from_dict({"cell_type": kind, "metadata": {}, "source": source})
    if kind == "code":
        node.update(outputs=[], execution_count=None)
    return node


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


def _put_back_given(result: Repaired, template: Template) -> set[str]:
    """Put back the master's given cells that are not there, each behind what precedes it in the master; their names."""
    present = {cell.grade_id for cell in result.cells}
    missing = {name for name, master in template.named.items() if _is_locked(master)} - present
    for grade_id in template.named:
        if grade_id in missing:
            result.note("missing", grade_id)
            where = place_for(result.cells, template.places[grade_id])
            result.cells.insert(where, _locked_cell(grade_id, template))
    return missing
