"""Writes CSV files whose cells are safe: no spreadsheet takes them for formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from autograder.course.lists import summarize_names
from autograder.files import write_atomically

#: Spreadsheet programs run a cell that starts like this as a formula.
_FORMULA = re.compile(r"^[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]")
#: The same after a separator of cells: comma, semicolon or tab, depending on the reader's country.
_FORMULA_INSIDE = re.compile(r"([;,\t\r\n|][\s\ufeff\"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
#: A user name, address or number that a spreadsheet takes for a formula, but a harmless one.
_HARMLESS = re.compile(r"[=+\-@][\w.\-@]*")
_NUMBER = re.compile(r"^-?\d+([.,]\d+)?$")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def safe_cell(value: str) -> str:
    """The cell with an apostrophe before each part that a spreadsheet would run as a formula."""
    clean = _FORMULA_INSIDE.sub(r"\1'", _CONTROL.sub("\ufffd", value))
    if _FORMULA.match(clean) and not _NUMBER.match(clean):
        return f"'{clean}"
    return clean


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
