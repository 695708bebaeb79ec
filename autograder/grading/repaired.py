"""The repaired notebook: its cells in order, and one sentence for each kind of repair."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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

    @property
    def where(self) -> str:
        """The name of the cell in notes."""
        return f"the given cell “{self.from_given}”" if self.from_given else f"cell number {self.number}"


#: Kind of repair or choice -> the sentence about one cell, and about several, and their rank.
SENTENCES = tomllib.loads(Path(__file__).with_name("repairs.toml").read_text(encoding="utf-8"))


@dataclass
class Repaired:
    """The repaired notebook: its cells in order, and sentences about the repairs."""

    cells: list[Cell] = field(default_factory=list)
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
    _noted: dict[tuple[Any, ...], list[str]] = field(default_factory=lambda: defaultdict(list))

    def executed_source(self) -> list[str]:
        """The sources that run, cell by cell: all of the submission that a result depends on."""
        return [cell.run for cell in self.cells if cell.run]

    def labelled_sources(self) -> list[tuple[str, str]]:
        """The cells that run: (label in notes and errors, source)."""
        return [(cell.grade_id or f"number {cell.number}", cell.run) for cell in self.cells if cell.run]

    def put_back(self, cell: Cell, place: int) -> Cell:
        """Insert the master's cell number ``place`` after the nearest cell that precedes it in the master, else first."""
        cell.place = place
        before = [(c.place, i) for i, c in enumerate(self.cells) if c.place is not None and c.place < place]
        self.cells.insert(max(before)[1] + 1 if before else 0, cell)
        return cell

    def note(self, kind: str, name: str = "", **words: str) -> None:
        """Note a kind of repair or choice from ``SENTENCES``; one sentence will name all cells with the same ``words``."""
        self._noted[kind, *words.items()].append(name)

    @property
    def notes(self) -> list[str]:
        """The sentences about all repairs and choices."""
        return self._sentences(0)

    @property
    def choices(self) -> list[str]:
        """The sentences on unclear choices of which cell counts; teachers also read them."""
        return self._sentences(2)

    def _sentences(self, least_rank: int) -> list[str]:
        ranked = sorted(self._noted.items(), key=lambda noted: SENTENCES[noted[0][0]].get("rank", 0))
        return [
            sentences["several" if len(set(names)) > 1 else "one"].format(
                summarize_names([f"“{name}”" for name in dict.fromkeys(names)]), **dict(words)
            )
            for (kind, *words), names in ranked
            if (sentences := SENTENCES[kind]).get("rank", 0) >= least_rank
        ]
