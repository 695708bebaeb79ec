"""The extensions that the teaching team gave while the course ran: ``extensions.csv`` beside ``course.toml``, a line each."""

from __future__ import annotations

import csv
import io
import os
from functools import lru_cache
from pathlib import Path

from autograder.course.safe_cells import safe_cell
from autograder.errors import UserError

_HEADER = ("lab", "student", "days")


def granted(file: Path, lab: str, student: str) -> float | None:
    """How many days a student was given for a lab (0: none after all); None when nobody decided. The last line holds."""
    try:
        changed = file.stat().st_mtime_ns
    except OSError:
        return None
    decided = _read(file, changed)
    # The name as it is, which a person may have written, and as ``add`` writes it.
    lines = [decided[lab, name] for name in (student, safe_cell(student)) if (lab, name) in decided]
    return max(lines)[1] if lines else None


def add(file: Path, lab: str, student: str, days: float) -> None:
    """Write a line; it has reached the disk when this returns."""
    text = io.StringIO()
    writer = csv.writer(text)
    if not file.exists():
        writer.writerow(_HEADER)
    writer.writerow((lab, safe_cell(student), f"{days:g}"))
    try:
        with file.open("a", encoding="utf-8", newline="") as opened:
            opened.write(text.getvalue())
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise UserError(f"The extensions cannot be written to {file}: {error.strerror}.") from None
    _read.cache_clear()


@lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> dict[tuple[str, str], tuple[int, float]]:
    """The last row about each lab and student, and the days that it gives. ``changed`` tells one state of the file from the next."""
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.reader(opened))
    decided: dict[tuple[str, str], tuple[int, float]] = {}
    for number, row in enumerate(rows[1:], start=2):
        try:
            lab, student, days = row
            given = float(days)
        except ValueError:
            raise UserError(f"Row {number} of {file} is no “lab,student,days”.") from None
        if not 0 <= given <= 366:
            raise UserError(f"Row {number} of {file}: an extension is a number of days, at most 366.")
        decided[lab, student] = number, given
    return decided
