"""Finds the answers in a notebook by cell name, else by what a cell defines; written answers by their place."""

from __future__ import annotations

import copy
from collections import defaultdict
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
from autograder.grading.repaired import Cell, Repaired, quoted

if TYPE_CHECKING:
    from autograder.grading.repair import Template


def assign_cells(result: Repaired, template: Template) -> None:
    """Decide which cells count for each answer: the last written one. Unwritten cells do not run.

    An unnamed cell counts for an answer that it defines if the answer's own cell is missing or unwritten.
    """
    given = {cell.source.strip() for cell in template.cells}
    added = [c for c in result.cells if c.run and c.grade_id is None and c.source.strip() not in given]
    elsewhere: dict[tuple[Cell, bool], list[str]] = defaultdict(list)
    copies: dict[tuple[int, bool], list[str]] = defaultdict(list)
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
        if chosen not in own:
            elsewhere[chosen, bool(defining)].append(grade_id)
        elif len(own) > 1:
            copies[len(own), chosen is own[-1]].append(grade_id)
        if again := [cell for cell in functions if cell not in counting]:
            result.again[grade_id] = again
    _name_answers(result, template)
    _say_which_counts(result, elsewhere, copies)


def _name_answers(result: Repaired, template: Template) -> None:
    """Give each counting cell the answer's metadata, and the answer's name if it holds no other answer."""
    named = {cell.grade_id for cell in result.cells}
    for grade_id in template.names:
        cell = next((cell for cell in reversed(result.cells) if grade_id in cell.answers), None)
        if cell is None or "nbgrader" in cell.node.metadata:
            continue
        cell.node.metadata = nbformat.from_dict(dict(template.named[grade_id].metadata))
        if grade_id not in named and len(cell.answers) == 1:
            cell.grade_id, cell.place = grade_id, template.places[grade_id]


def _say_which_counts(
    result: Repaired, elsewhere: dict[tuple[Cell, bool], list[str]], copies: dict[tuple[int, bool], list[str]]
) -> None:
    for (cell, doubled), names in elsewhere.items():
        if names == [cell.grade_id]:
            result.note("found", names[0])
            continue
        are, its, own = ("is", "its", "place") if len(names) == 1 else ("are", "their", "places")
        why = f"{its} own {own} {'was' if are == 'is' else 'were'} left empty"
        why = f"it stands behind {its} own cell" if doubled else why
        result.note_choice(f"{quoted(names)} {are} defined in {result.where(cell)}, which counts: {why}.")
    for (number, is_last), names in copies.items():
        which = "the later one counts" if is_last else "the last that was written counts"
        times = "twice" if number == 2 else f"{number} times"
        cells = "The answer cell" if len(names) == 1 else "Each of the answer cells"
        result.note_choice(f"{cells} {quoted(names)} stood there {times}; {which}.")


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
    filled: dict[bool, list[str]] = defaultdict(list)
    for grade_id in template.by_hand:
        mine = [cell for cell in result.cells if cell.grade_id == grade_id]
        received = template.named[grade_id]
        if grade_id in template.names:
            if not any("nbgrader" in cell.node.metadata for cell in mine):
                parts = [
                    cell.source for cell in result.cells if grade_id in cell.answers and cell not in mine
                ]
                _put_back(result, template, grade_id, parts[-1:])
            continue
        changed = [cell for cell in mine if cell.source.strip() != received.source.strip()]
        if mine:
            chosen = (changed or mine)[-1]
            chosen.node.metadata = nbformat.from_dict(dict(received.metadata))
            if len(mine) > 1:
                _say_which_counts(result, {}, {(len(mine), chosen is mine[-1]): [grade_id]})
        if changed or own:
            result.written.add(grade_id)
        if not changed and own:
            _fill(mine[-1] if mine else _put_back(result, template, grade_id, []), own)
            filled[not mine].append(grade_id)
        elif not mine:
            _put_back(result, template, grade_id, [])
            result.note("empty", grade_id)
    for missing, names in filled.items():
        cell = "The cell" if len(names) == 1 else "Each of the cells"
        state = "missing" if missing else "left empty"
        result.note_choice(
            f"{cell} of the written answer{'s' * (len(names) > 1)} {quoted(names)} was {state}; "
            "what stands in other cells of text counts."
        )


def _fill(cell: Cell, found: Sequence[Cell]) -> None:
    """Put the texts of these cells and their pictures into a written answer's cell."""
    cell.node.source = "\n\n".join(one.added or one.source for one in found)
    pictures: dict[str, Any] = {}
    for one in found:
        pictures |= one.node.get("attachments", {})
    if pictures:
        cell.node["attachments"] = nbformat.from_dict(pictures)


def _put_back(result: Repaired, template: Template, grade_id: str, parts: Sequence[str]) -> Cell:
    """Insert the master's cell of an answer, holding these texts, at its place in the notebook; it does not run."""
    node = copy.deepcopy(template.named[grade_id])
    node.source = "\n\n".join(parts) or node.source
    cell = Cell(node, grade_id, place=template.places[grade_id])
    result.cells.insert(place_for(result.cells, template.places[grade_id]), cell)
    return cell


def place_for(cells: Sequence[Cell], place: int) -> int:
    """The position of a restored cell: after the nearest cell that precedes it in the master, else first."""
    before = [
        (cell.place, i) for i, cell in enumerate(cells) if cell.place is not None and cell.place < place
    ]
    return max(before)[1] + 1 if before else 0


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
