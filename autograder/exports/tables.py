"""Writes the CSV files that learning systems read: no cell is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.course.safe_cells import safe_cell
from autograder.files import write_atomically


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[str]], separator: str = ","
) -> Path:
    """Write a CSV file in UTF-8, every cell made safe. Raises GradingError. Returns the path."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    writer.writerow([safe_cell(cell) for cell in header])
    for row in rows:
        writer.writerow([safe_cell(cell) for cell in row])
    write_atomically(path, text.getvalue())
    return path
