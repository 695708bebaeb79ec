"""Writes CSV files for learning systems: no cell runs as a formula in a spreadsheet, and ids stay intact."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from autograder.course.lists import summarize_names
from autograder.course.safe_cells import safe_cell
from autograder.files import write_atomically

#: A user name, address or number that a spreadsheet takes for a formula, but a harmless one.
_HARMLESS = re.compile(r"[=+\-@][\w.\-@]*")


def write_table(
    path: Path,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    separator: str = ",",
    keys: Collection[int] = (),
) -> Path:
    """Write a CSV file in UTF-8 with safe cells. Returns the path. Raises GradingError.

    ``keys`` are the columns by which a system finds people: see ``about_keys``.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    writer.writerow([safe_cell(cell) for cell in header])
    for row in rows:
        writer.writerow(
            [_key(cell) if number in keys else safe_cell(cell) for number, cell in enumerate(row)]
        )
    write_atomically(path, text.getvalue())
    return path


def about_keys(
    rows: Iterable[Sequence[str]], keys: Collection[int], system: str, path: Path
) -> Iterator[str]:
    """Yield sentences about ids that a spreadsheet takes for formulas."""
    words = dict.fromkeys(row[key] for row in rows for key in keys)
    if kept := [word for word in words if word == _key(word) != safe_cell(word)]:
        yield (
            f"A spreadsheet takes {summarize_names(kept)} for formulas: import {path.name} without saving it in a spreadsheet first."
        )
    if changed := [word for word in words if word != _key(word)]:
        yield (
            f"{system} will find nobody by {summarize_names(changed)}: {path.name} has these changed, because a spreadsheet could run them. "
            "If no other column identifies these students, enter their grades by hand."
        )


def _key(word: str) -> str:
    """The id unchanged if it is harmless, else as a safe cell."""
    return word if _HARMLESS.fullmatch(word) else safe_cell(word)
