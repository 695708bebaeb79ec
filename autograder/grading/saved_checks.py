"""Reads the check cards saved in a student's notebook. Students can edit them, so they prove nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from coursekit.notebook.verdict import MIME

from autograder.results import whole_sentences
from autograder.sandbox.wire import clean_text

#: The most outputs of a cell, and lines of a card, that are read.
MOST = 50
#: The most characters of a line.
LONGEST = 2000


def saved_checks(outputs: Iterable[Any]) -> dict[str, list[tuple[bool, str]]]:
    """Question -> (whether it holds, line) of each line of its last card. ``outputs`` has the outputs of each cell."""
    return {question: [*_lines(marks)] for question, marks in _cards(outputs)}


def _cards(outputs: Iterable[Any]) -> Iterator[tuple[str, list[Any]]]:
    for of_cell in outputs:
        for output in of_cell[:MOST] if isinstance(of_cell, list) else ():
            data = output.get("data") if isinstance(output, dict) else None
            match data.get(MIME) if isinstance(data, dict) else None:
                case {"question": str(question), "marks": list(marks)}:
                    yield question, marks[:MOST]


def _lines(marks: list[Any]) -> Iterator[tuple[bool, str]]:
    for mark in marks:
        match mark:
            case [str(title), True, _]:
                yield True, whole_sentences(clean_text(title, LONGEST))
            case [str(title), _, hint]:
                yield False, whole_sentences(clean_text(f"{title} {hint}".strip(), LONGEST))
