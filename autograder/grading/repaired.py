"""The repaired notebook: its cells in order, and what was put right, each kind of trouble in one sentence."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from nbformat.notebooknode import NotebookNode

from autograder.course.lists import summarize_names


@dataclass(eq=False)
class Cell:
    """A cell of the repaired notebook. ``run`` is the source to execute ("" for none)."""

    node: NotebookNode
    grade_id: str | None = None
    run: str = ""
    #: Which cell of the student's notebook it is, from 1; 0 for one that was put back.
    number: int = 0
    #: The cell's position in the master; None for one of the student's own.
    place: int | None = None
    #: The names of the answer cells for which it counts: usually its own.
    answers: tuple[str, ...] = ()
    #: The given cell into which a student wrote what now stands here ("" for none).
    from_given: str = ""
    #: The text that the student added to a text cell of the master's.
    added: str = ""

    @property
    def source(self) -> str:
        """Its text."""
        return str(self.node.source)


#: Kind of trouble -> the sentence about one name, and about several. {} are the names.
SENTENCES = {
    "changed": (
        "The given cell {} had been changed and was restored.",
        "Each of these given cells had been changed and was restored: {}.",
    ),
    "retyped": (
        "The given cell {} had become another type of cell and was restored.",
        "Each of these given cells had become another type of cell and was restored: {}.",
    ),
    "read as code": (
        "The answer cell {} had become another type of cell and was read as code.",
        "Each of these answer cells had become another type of cell and was read as code: {}.",
    ),
    "read as text": (
        "The answer cell {} had become another type of cell and was read as text.",
        "Each of these answer cells had become another type of cell and was read as text: {}.",
    ),
    "doubled": (
        "The given cell {} stood there twice or more; the first counts.",
        "Each of these given cells stood there more than once; the first counts: {}.",
    ),
    "missing": (
        "The given cell {} was missing and was restored.",
        "Each of these given cells was missing and was restored: {}.",
    ),
    "found": (
        "The cell {} had lost its name and was found by what it defines.",
        "These cells had lost their names and were found by their text or by what they define: {}.",
    ),
    "no answer": ("The answer cell {} was missing.", "Each of these answer cells was missing: {}."),
    "empty": (
        "The cell of the written answer {} was missing and was put back empty.",
        "The cell of each of these written answers was missing and was put back empty: {}.",
    ),
    "moved": (
        "The test cell of {} stood before its answer and was moved.",
        "Each of these test cells stood before its answer and was moved: {}.",
    ),
    "too long": (
        "The cell {} was not run: its code is too long.",
        "Each of these cells was not run, because its code is too long: {}.",
    ),
}


@dataclass
class Repaired:
    """The repaired notebook: its cells in order, and what was put right, in sentences."""

    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: The notes about what counts where that was unclear; teachers read them, too.
    choices: list[str] = field(default_factory=list)
    #: ``grade_id`` of the answers, code and text, that are written.
    written: set[str] = field(default_factory=set)
    #: Answers that cells define once more after the answer that counts: ``grade_id`` -> those cells.
    again: dict[str, list[Cell]] = field(default_factory=dict)
    #: Characters of figures' cells that were parsed for their definitions.
    figures_code: int = 0
    #: Characters of the pictures in cells of text.
    pictures: int = 0
    #: What the check cards say that are saved in the notebook: question -> (holds, line).
    saved_checks: dict[str, list[tuple[bool, str]]] = field(default_factory=dict)
    _names: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def executed_source(self) -> list[str]:
        """The sources that run, cell by cell. A result depends on nothing else of the submission."""
        return [cell.run for cell in self.cells if cell.run]

    def note(self, kind: str, name: str) -> None:
        """Note that a cell has a trouble of ``SENTENCES``; one sentence names all cells that have it."""
        self._names[kind].append(name)

    def note_choice(self, sentence: str) -> None:
        """Note which cell counts where that was unclear."""
        self.choices.append(sentence)

    def write_notes(self) -> None:
        """Write the notes as sentences."""
        said = [
            SENTENCES[kind][len(set(names)) > 1].format(quoted(names)) for kind, names in self._names.items()
        ]
        self.notes = [*dict.fromkeys([*said, *self.notes, *self.choices])]

    def where(self, cell: Cell) -> str:
        """A cell as notes call it."""
        if cell.from_given:
            return f"the given cell “{cell.from_given}”"
        return f"cell number {cell.number}"


def quoted(names: list[str]) -> str:
    """Names in a sentence, each once."""
    return summarize_names([f"“{name}”" for name in dict.fromkeys(names)])
