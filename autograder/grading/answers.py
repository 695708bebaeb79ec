"""Finds the answers in a notebook by cell name, else by what a cell defines; written answers by their place."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import nbformat

from autograder.grading.cell_text import (
    MAX_PARSED,
    defines,
    defines_function,
    is_answer,
    is_nothing_but_unwritten,
    is_unwritten,
    statements,
)
from autograder.grading.repaired import Cell, Repaired

if TYPE_CHECKING:
    from autograder.grading.repair import Template


def assign_cells(result: Repaired, template: Template) -> None:
    """Decide which cells count for each answer: the last written one. Unwritten cells do not run.

    An unnamed cell counts for an answer that it defines if the answer's own cell is missing or unwritten.
    """
    given = {cell.source.strip() for cell in template.cells}
    added = [c for c in result.cells if c.run and c.grade_id is None and c.source.strip() not in given]
    # Answer -> its cell, and the kind of note on another's cell.
    counting_of: dict[str, tuple[Cell, str]] = {}
    for grade_id, names in template.names.items():
        received = template.named[grade_id].source
        own = [cell for cell in result.cells if cell.grade_id == grade_id]
        changed = [cell for cell in own if not is_unwritten(cell.run, names, received)]
        defining = [cell for cell in changed if not names or defines(cell.run, names)]
        others = [cell for cell in added if is_answer(cell.run, names, received)]
        functions = [cell for cell in others if defines_function(cell.run, names)]
        others = functions or others
        counting = [cell for cell in others if cell.from_given or not defining]
        written = [cell for cell in result.cells if cell in defining or cell in counting] or changed
        for cell in own:
            if written and cell not in written and is_nothing_but_unwritten(cell.run, names, received):
                cell.run = ""
        if not written and not own:
            result.note("no answer", grade_id)
            continue
        chosen = (written or own)[-1]
        for cell in written or [chosen]:
            cell.answers += (grade_id,)
        if written:
            result.written.add(grade_id)
        counting_of[grade_id] = chosen, "" if chosen in own else "behind" if defining else "elsewhere"
        note_copies(result, grade_id, own, chosen)
        if again := [cell for cell in functions if cell not in counting]:
            result.again[grade_id] = again
    named = {cell.grade_id for cell in result.cells}
    for grade_id, (cell, kind) in counting_of.items():
        if "nbgrader" not in cell.node.metadata:
            cell.node.metadata = nbformat.from_dict(dict(template.named[grade_id].metadata))
            if grade_id not in named and len(cell.answers) == 1:
                cell.grade_id, cell.place = grade_id, template.places[grade_id]
        if kind and cell.grade_id == grade_id:
            result.note("found", grade_id)
        elif kind:
            result.note(kind, grade_id, where=cell.where)


def note_copies(result: Repaired, grade_id: str, own: Sequence[Cell], chosen: Cell) -> None:
    """Note which of an answer's own cells counts, if there are several."""
    if len(own) > 1 and chosen in own:
        times = "twice" if len(own) == 2 else f"{len(own)} times"
        result.note("later copy" if chosen is own[-1] else "written copy", grade_id, times=times)


def put_tests_after_answers(result: Repaired, template: Template, put_back: Collection[str]) -> None:
    """Move each test cell behind the answers that it names; restored test cells without an answer come last."""
    cells, at_the_end = result.cells, []
    for test_id, answers in reversed(template.tested.items()):
        at = next(i for i, cell in enumerate(cells) if cell.grade_id == test_id)
        behind = [i for i, cell in enumerate(cells) if not set(answers).isdisjoint(cell.answers)]
        if behind and at < behind[-1]:
            if test_id not in put_back and cells[behind[-1]].grade_id in answers:
                result.note("moved", test_id.removeprefix("test_"))
            cells.insert(behind[-1], cells.pop(at))
        elif answers and not behind and test_id in put_back:
            at_the_end.append(cells.pop(at))
    cells += reversed(at_the_end)


def put_back_graded_by_hand(result: Repaired, template: Template) -> None:
    """Give each manually graded answer a cell. An empty written answer gets what the student wrote in other cells of text."""
    texts = {cell.source.strip() for cell in template.cells}
    own = [cell for cell in result.cells if _is_own_text(cell, texts)]
    for grade_id in template.by_hand:
        mine = [cell for cell in result.cells if cell.grade_id == grade_id]
        received = template.named[grade_id]
        if grade_id in template.names:
            if not any("nbgrader" in cell.node.metadata for cell in mine):
                parts = [c.source for c in result.cells if grade_id in c.answers and c not in mine]
                _put_back(result, template, grade_id).node.source = (parts or [received.source])[-1]
            continue
        changed = [cell for cell in mine if cell.source.strip() != received.source.strip()]
        if mine:
            chosen = (changed or mine)[-1]
            chosen.node.metadata = nbformat.from_dict(dict(received.metadata))
            note_copies(result, grade_id, mine, chosen)
        if changed or own:
            result.written.add(grade_id)
        if not changed and own:
            _fill(mine[-1] if mine else _put_back(result, template, grade_id), own)
            result.note("written empty" if mine else "written missing", grade_id)
        elif not mine:
            _put_back(result, template, grade_id)
            result.note("empty", grade_id)


def _fill(cell: Cell, found: Sequence[Cell]) -> None:
    """Put the texts of these cells and their pictures into a written answer's cell."""
    cell.node.source = "\n\n".join(one.added or one.source for one in found)
    pictures: dict[str, Any] = {}
    for one in found:
        pictures |= one.node.get("attachments", {})
    if pictures:
        cell.node["attachments"] = nbformat.from_dict(pictures)


def _put_back(result: Repaired, template: Template, grade_id: str) -> Cell:
    """Insert the master's cell of an answer; it does not run."""
    node = copy.deepcopy(template.named[grade_id])
    return result.put_back(Cell(node, grade_id), template.places[grade_id])


def _is_own_text(cell: Cell, given: set[str]) -> bool:
    """Whether a cell holds the student's own text: markdown, or prose that was typed into a code cell."""
    if cell.added:
        return True
    source = cell.source.strip()
    if cell.place is not None or cell.grade_id is not None or cell.answers or not source or source in given:
        return False
    return cell.node.cell_type != "code" or (bool(cell.run) and not cell.from_given and _is_prose(source))


def _is_prose(source: str) -> bool:
    """Whether a code cell holds prose only: nothing but comments, or letters that Python cannot parse."""
    if len(source) > MAX_PARSED or all(line.lstrip().startswith("#") for line in source.split("\n")):
        return len(source) <= MAX_PARSED
    letters = sum(letter.isalpha() or letter in " \n.,;:’'" for letter in source)
    return letters > 0.95 * len(source) and not statements(source)
