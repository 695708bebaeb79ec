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
    cards = {}
    for output in (output for cell in outputs if isinstance(cell, list) for output in cell[:MOST]):
        data = output.get("data") if isinstance(output, dict) else None
        match data.get(MIME) if isinstance(data, dict) else None:
            case {"question": str(question), "marks": list(marks)}:
                cards[question] = [*_lines(marks[:MOST])]
    return cards


def _lines(marks: list[Any]) -> Iterator[tuple[bool, str]]:
    for mark in marks:
        match mark:
            case [str(title), True, _]:
                yield True, whole_sentences(clean_text(title, LONGEST))
            case [str(title), _, hint]:
                yield False, whole_sentences(clean_text(f"{title} {hint}".strip(), LONGEST))
