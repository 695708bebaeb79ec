"""The extensions that the teaching team gave while the course ran: ``extensions.csv`` beside ``course.toml``, a line each."""

from __future__ import annotations

import csv
import io
import os
from functools import lru_cache
from pathlib import Path

from autograder.errors import UserError

_HEADER = ("lab", "student", "days")


def granted(file: Path, lab: str, student: str) -> float | None:
    """How many days a student was given for a lab (0: none after all); None when nobody decided. The last line holds."""
    try:
        changed = file.stat().st_mtime_ns
    except OSError:
        return None
    return _read(file, changed).get((lab, student))


def add(file: Path, lab: str, student: str, days: float) -> None:
    """Write a line; it has reached the disk when this returns."""
    text = io.StringIO()
    writer = csv.writer(text)
    if not file.exists():
        writer.writerow(_HEADER)
    writer.writerow((lab, student, f"{days:g}"))
    try:
        with file.open("a", encoding="utf-8", newline="") as opened:
            opened.write(text.getvalue())
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise UserError(f"The extensions cannot be written to {file}: {error.strerror}.") from None
    _read.cache_clear()


@lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> dict[tuple[str, str], float]:
    """All that was decided. ``changed`` tells one state of the file from the next."""
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.reader(opened))
    decided: dict[tuple[str, str], float] = {}
    for number, row in enumerate(rows[1:], start=2):
        try:
            lab, student, days = row
            decided[lab, student] = float(days)
        except ValueError:
            raise UserError(f"Row {number} of {file} is no “lab,student,days”.") from None
        if not 0 <= decided[lab, student] <= 366:
            raise UserError(f"Row {number} of {file}: an extension is a number of days, at most 366.")
    return decided
