"""Turns a student's notebook, whatever its state, into the cells that run.

A cell is found by its name, else by what it defines, else by its text. A missing cell is restored at its place in the
master's order. Given cells come from the master. Cells tagged ``skip-grading`` in the master do not run. Their imports and
definitions do, if the student changed the cell or if the student's code uses them. Unknown metadata is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import takewhile
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.course.masters import is_skipped, lab_as_written, read_master, source_of_import
from autograder.errors import Unreadable
from autograder.grading.answers import (
    assign_cells,
    put_back_graded_by_hand,
    put_tests_after_answers,
)
from autograder.grading.cell_text import (
    MAX_FIGURES_CODE,
    added_code,
    definitions_of,
    is_answer,
    lent_by,
    names_at_top_level,
    words_in,
)
from autograder.grading.repaired import Cell, Repaired
from autograder.grading.saved_checks import saved_checks
from autograder.judging.run import tests_of
from autograder.sandbox.host.cells import BASE64, BINARY_TYPES

MAX_CELLS = 2_000
#: The most objects that a notebook's JSON may hold: 60 MB of brackets would become gigabytes.
MAX_PARTS = 5_000_000
#: The most characters of code in one cell and in all cells. A syntax tree takes some four hundred times the size of its code.
MAX_CELL_CODE = 200_000
MAX_CODE = 1_000_000
#: The most base64 characters of pictures in all text cells together.
MAX_PICTURES = 8 << 20
PICTURES = (*BINARY_TYPES, "image/gif")


@dataclass(frozen=True)
class Template:
    """The released lab with the lookups that the repair needs."""

    lab: str
    cells: tuple[NotebookNode, ...]

    @classmethod
    @cache
    def of(cls, lab: str) -> Template:
        """The template of a lab (full name)."""
        from autograder.course.build import released_notebook  # loads nbgrader, which a worker does not need

        return cls(lab, tuple(released_notebook(lab).cells))

    @cached_property
    def named(self) -> dict[str, NotebookNode]:
        """``grade_id`` -> cell."""
        return {name: cell for cell in self.cells if (name := _name_of(cell)) is not None}

    @cached_property
    def test_of(self) -> dict[str, str]:
        """Question -> ``grade_id`` of its test cell."""
        return lab_as_written(self.lab).test_cells

    @cached_property
    def test_code(self) -> dict[str, str]:
        """``grade_id`` of a test cell -> the code that runs in its place.

        It keeps the answer and checks nothing. In an imported lab, only imports and definitions run of a cell that became a
        hidden test: later cells may use them. Any other test cell is graded at its place and runs with its hidden part. No
        source is empty: a test runs after its cell.
        """
        if not source_of_import(self.lab):
            return {name: f"{kept_name(q)} = globals().get({q!r})" for q, name in self.test_of.items()}
        sources = {_name_of(cell): cell.source for cell in read_master(self.lab).cells}
        moved = tests_of(self.lab)
        return {
            name: (definitions_of(sources[name]) or "pass") if moved[question] else sources[name]
            for question, name in self.test_of.items()
        }

    @cached_property
    def skipped(self) -> dict[str, str]:
        """Cell id -> source of each cell that does not run."""
        return {c["id"]: c.source for c in self.cells if c.cell_type == "code" and is_skipped(c)}

    @cached_property
    def given_sources(self) -> frozenset[str]:
        """The sources that run in the lab as it was handed out."""
        sources = (*(cell.source for cell in self.cells), *self.test_code.values())
        return frozenset(source.strip() for source in sources)

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
        """The sources of the cells that do not run."""
        return frozenset(source.strip() for source in self.skipped.values())

    @cached_property
    def names(self) -> dict[str, frozenset[str]]:
        """``grade_id`` of each code answer -> the names it defines, as released or else in the master's solution."""
        solved = {_name_of(cell): cell.source for cell in read_master(self.lab).cells}
        return {
            name: names_at_top_level(cell.source) or names_at_top_level(solved[name])
            for name, cell in self.named.items()
            if cell.cell_type == "code" and not _is_locked(cell)
        }

    @cached_property
    def tested(self) -> dict[str, tuple[str, ...]]:
        """``grade_id`` of each test cell -> the answers above it that its code mentions."""
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
    """The cells of a notebook file as plain dictionaries. Raises ``Unreadable``, in one sentence."""
    # UTF-8, or as Windows editors encode it. An invalid byte costs one character, not the notebook.
    text = raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig", "replace")
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
    cells = data.get("cells")
    if not cells and "worksheets" in data:
        raise Unreadable("The notebook has a format from before 2015: save it again in JupyterLab.")
    if not isinstance(cells, list) or not cells:
        raise Unreadable("The notebook has no cells.")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(cells):,} cells; at most {MAX_CELLS:,} are read.")
    return [_plain_cell(cell) for cell in cells if isinstance(cell, dict)]


def _plain_cell(cell: dict[str, Any]) -> dict[str, Any]:
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
    """The text with "\\n" as line end and without lone surrogates, which UTF-8 cannot encode."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return plain.encode("utf-8", "replace").decode("utf-8")


def repair(raw: bytes, template: Template) -> Repaired:
    """The notebook to run. Raises ``Unreadable``."""
    student_cells = parse(raw)
    result = Repaired(saved_checks=saved_checks(cell["outputs"] for cell in student_cells))
    places = _places(student_cells, template)
    for number, (cell, place) in enumerate(zip(student_cells, places, strict=True), start=1):
        master = None if place is None else template.cells[place]
        grade_id = None if master is None else _name_of(master)
        if master is not None and grade_id is not None and _is_locked(master):
            made = _restored(cell, grade_id, template, result)
        else:
            made = [_student_cell(cell, place, grade_id, template, result)]
        for one in made:
            one.number = number
        result.cells += made
        if grade_id is not None and grade_id not in (cell["grade_id"], cell["id"]):
            result.note("found", grade_id)
    _drop_overlong_code(result)
    assign_cells(result, template)
    _set_up_first(result, template)
    put_tests_after_answers(result, template, put_back=_put_back_given(result, template))
    put_back_graded_by_hand(result, template)
    _run_what_answers_use(result, template)
    return result


def _places(cells: Sequence[dict[str, Any]], template: Template) -> list[int | None]:
    """The master's position of each cell, found by nbgrader's name, else by cell id, else by text."""
    known = template.places
    places = [known.get(cell["grade_id"] or "", known.get(cell["id"])) for cell in cells]
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


def _restored(cell: dict[str, Any], grade_id: str, template: Template, result: Repaired) -> list[Cell]:
    """The master's cell in place of a given one, and a cell of the student's own with what the student added to it."""
    master, source = template.named[grade_id], cell["source"]
    if any(grade_id == other.grade_id for other in result.cells):
        result.note("doubled", grade_id)
        return []
    given = _locked_cell(grade_id, template)
    if source.strip() == master.source.strip():
        if cell["kind"] != master.cell_type:
            result.note("retyped", grade_id)
        return [given]
    result.note("changed", grade_id)
    if master.cell_type != "code":
        given.added = _added_text(source, master.source)
        return [given]
    own = added_code(source, master.source) if cell["kind"] == "code" else ""
    asked = frozenset[str]().union(*(template.names[answer] for answer in template.tested.get(grade_id, ())))
    written = Cell(_new_node("code", own), from_given=grade_id)
    if is_answer(own, asked, ""):
        written.run = own
        return [written, given]
    return [given, written] if own else [given]


def _added_text(source: str, given: str) -> str:
    """The lines that a student added to the master's text."""
    known = {line.strip() for line in given.split("\n")}
    return "\n".join(line for line in source.split("\n") if line.strip() not in known).strip()


def _run_what_answers_use(result: Repaired, template: Template) -> None:
    """From cells that do not run, run the imports and definitions that the student's code uses, such as ``import math``.

    Such cells are figures, and code that the student added to a given cell.
    """
    lent: dict[Cell, tuple[tuple[str, str], ...]] = {}
    for cell in result.cells:
        if not cell.run and cell.from_given:
            lent[cell] = lent_by.__wrapped__(cell.source)
        elif not cell.run and cell.source.strip() in template.skipped_sources:
            lent[cell] = lent_by(cell.source)
    own = [cell.run for cell in result.cells if cell.run and cell.run.strip() not in template.given_sources]
    wanted, before = frozenset[str]().union(*map(words_in, own)), None
    while wanted != before:  # definitions may use other definitions
        for cell, parts in lent.items():
            cell.run = "\n\n".join(source for name, source in parts if name in wanted)
        wanted, before = wanted.union(*(words_in(cell.run) for cell in lent)), wanted


def _drop_overlong_code(result: Repaired) -> None:
    """Cut and skip code that is longer than any person writes."""
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
    """Whether students must not change the cell. Notes to students call it a "given cell"."""
    return bool(master.metadata.nbgrader.locked) and not master.metadata.nbgrader.solution


def _locked_cell(grade_id: str, template: Template) -> Cell:
    node = nbformat.from_dict(dict(template.named[grade_id]))
    run = template.test_code.get(grade_id, node.source) if node.cell_type == "code" else ""
    return Cell(node, grade_id, run, place=template.places[grade_id])


def kept_name(question: str) -> str:
    """The name under which a test cell keeps the answer, so that a later cell may reuse the question's name."""
    return f"__graded_{question}__"


def _student_cell(
    cell: dict[str, Any], place: int | None, grade_id: str | None, template: Template, result: Repaired
) -> Cell:
    """A student's cell: an answer, a master's cell that may be changed, or an added cell."""
    kind, source = cell["kind"], cell["source"]
    if grade_id is not None and kind != template.named[grade_id].cell_type:
        kind = template.named[grade_id].cell_type
        result.note("read as code" if kind == "code" else "read as text", grade_id)
    made = Cell(_new_node(kind, source), grade_id, place=place)
    if kind == "code" and source.strip() not in template.skipped_sources:
        made.run = source if source.strip() else ""
        if made.run and place is not None and cell["id"] in template.skipped:
            result.figures_code += len(source)
            if result.figures_code > MAX_FIGURES_CODE:
                result.note("figure too long")
            made.run = definitions_of(source) if result.figures_code <= MAX_FIGURES_CODE else ""
    elif kind != "code":
        if pictures := _pictures(cell["attachments"], result):
            made.node["attachments"] = nbformat.from_dict(pictures)
        if kind == "markdown" and place is not None and grade_id is None:
            made.added = _added_text(source, template.cells[place].source)
    return made


def _new_node(kind: str, source: str) -> NotebookNode:
    # nbformat would validate every new cell, which takes longer than running most cells.
    node: NotebookNode = nbformat.from_dict({"cell_type": kind, "metadata": {}, "source": source})
    if kind == "code":
        node.update(outputs=[], execution_count=None)
    return node


def _pictures(attachments: Any, result: Repaired) -> dict[str, dict[str, str]]:
    """The pictures of a text cell, as JupyterLab stores them: name -> type -> base64. A note says if one is left out."""
    kept: dict[str, dict[str, str]] = {}
    for name, kinds in attachments.items() if isinstance(attachments, dict) else ():
        kind = next((kind for kind in PICTURES if isinstance(kinds, dict) and kind in kinds), "")
        data = kinds[kind] if kind else None
        data = "".join(line for line in data if isinstance(line, str)) if isinstance(data, list) else data
        result.pictures += len(data) if isinstance(data, str) else 0
        if isinstance(data, str) and result.pictures <= MAX_PICTURES and BASE64.issuperset(data):
            kept[_clean(name)] = {kind: data}
            continue
        result.note("pictures")
    return kept


def _set_up_first(result: Repaired, template: Template) -> None:
    """Move the given code above the master's first answer to the front if an answer precedes it: a class needs its imports."""
    first = min((template.places[name] for name in template.names), default=0)
    setup = {
        c: c.place
        for c in result.cells
        if c.run and not c.answers and c.place is not None and c.place < first
    }
    above = list(takewhile(lambda cell: not cell.answers, result.cells))
    if late := [cell for cell in setup if cell not in above]:
        rest = [cell for cell in result.cells if cell not in setup]
        result.cells = [*sorted(setup, key=setup.__getitem__), *rest]
        for cell in late:
            result.note("set up", cell.grade_id or f"number {cell.number}")


def _put_back_given(result: Repaired, template: Template) -> set[str]:
    """Put back the master's missing given cells. Returns their names."""
    present = {cell.grade_id for cell in result.cells}
    missing = [name for name, c in template.named.items() if _is_locked(c) and name not in present]
    for grade_id in missing:
        result.note("missing", grade_id)
        result.put_back(_locked_cell(grade_id, template), template.places[grade_id])
    return {*missing}
