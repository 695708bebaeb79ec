"""The repaired notebook: its cells in order, and one sentence for each kind of repair."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from autograder.course.lists import summarize_names


@dataclass(eq=False)
class Cell:
    """A cell of the repaired notebook. ``run`` is the source to execute ("" for none)."""

    node: NotebookNode
    grade_id: str | None = None
    run: str = ""
    #: The cell's number in the student's notebook, from 1; 0 for a restored cell.
    number: int = 0
    #: The cell's position in the master; None for one of the student's own.
    place: int | None = None
    #: The names of the answers for which the cell counts: usually its own.
    answers: tuple[str, ...] = ()
    #: The given cell from which a student's added code was moved here ("" for none).
    from_given: str = ""
    #: The text that the student added to one of the master's text cells.
    added: str = ""

    @property
    def source(self) -> str:
        """The cell's source as the notebook shows it."""
        return str(self.node.source)


#: Kind of repair -> the sentence about one cell, and about several.
SENTENCES = tomllib.loads(Path(__file__).with_name("repairs.toml").read_text(encoding="utf-8"))


@dataclass
class Repaired:
    """The repaired notebook: its cells in order, and sentences about the repairs."""

    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: The notes on unclear choices of which cell counts; teachers also read them.
    choices: list[str] = field(default_factory=list)
    #: The ``grade_id`` of each code or text answer that is written.
    written: set[str] = field(default_factory=set)
    #: Answer's ``grade_id`` -> the cells that define it again after the cell that counts.
    again: dict[str, list[Cell]] = field(default_factory=dict)
    #: The characters of figure cells that were parsed for definitions.
    figures_code: int = 0
    #: The characters of the pictures in text cells.
    pictures: int = 0
    #: The check cards saved in the notebook: question -> (whether it holds, line) of each line.
    saved_checks: dict[str, list[tuple[bool, str]]] = field(default_factory=dict)
    _names: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def executed_source(self) -> list[str]:
        """The sources that run, cell by cell: all of the submission that a result depends on."""
        return [cell.run for cell in self.cells if cell.run]

    def note(self, kind: str, name: str) -> None:
        """Note a kind of repair from ``SENTENCES``; one sentence will name all cells of that kind."""
        self._names[kind].append(name)

    def note_choice(self, sentence: str) -> None:
        """Note an unclear choice of which cell counts."""
        self.choices.append(sentence)

    def write_notes(self) -> None:
        """Write the notes as sentences."""
        sentences = [
            SENTENCES[kind]["several" if len(set(names)) > 1 else "one"].format(quoted(names))
            for kind, names in self._names.items()
        ]
        self.notes = [*dict.fromkeys([*sentences, *self.notes, *self.choices])]

    def where(self, cell: Cell) -> str:
        """The name of a cell in notes."""
        if cell.from_given:
            return f"the given cell “{cell.from_given}”"
        return f"cell number {cell.number}"


def quoted(names: list[str]) -> str:
    """The distinct names, quoted, for a sentence."""
    return summarize_names([f"“{name}”" for name in dict.fromkeys(names)])
