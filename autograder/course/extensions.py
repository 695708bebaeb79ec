"""Reads and writes ``extensions.csv`` beside ``course.toml``: the extensions that the team gives while the course runs."""

from __future__ import annotations

import csv
import math
import os
import shutil
from functools import lru_cache
from pathlib import Path

from autograder.course.lists import CsvList, folded, number_in, read_list
from autograder.course.masters import lab_name
from autograder.course.safe_cells import safe_cell
from autograder.errors import UserError

_HEADER = ("lab", "student", "days")


def granted(file: Path, lab: str) -> dict[str, float]:
    """Name -> days that the file gives for a lab (0: extension withdrawn), in the order of the lines."""
    try:
        changed = file.stat().st_mtime_ns
    except OSError:
        return {}
    return {name: days for (of, name), days in _read(file, changed).items() if of == lab}


def add(file: Path, lab: str, student: str, days: float) -> None:
    """Append a line, which is on the disk on return. Existing lines and additional columns stay, perhaps reformatted."""
    table, target = CsvList(file, _HEADER, ()), file.resolve()  # so that a link stays a link
    if file.exists():
        _read(file, file.stat().st_mtime_ns)  # raises for an invalid file, which is left alone
        table = read_list(file)
    days = math.ceil(days * 1e6 - 1e-6) / 1e6  # rounded up, in the student's favour
    line = (lab, safe_cell(student), f"{days:.9g}")
    try:
        new = target.with_name(f"{target.name}.new")
        with new.open("w", encoding="utf-8", newline="") as opened:
            more = [""] * (len(table.header) - len(line))
            csv.writer(opened).writerows([table.header, *table.rows, (*line, *more)])
            opened.flush()
            os.fsync(opened.fileno())
        if target.exists():
            shutil.copymode(target, new)
        new.replace(target)
    except OSError as error:
        raise UserError(f"The extensions cannot be written to {file}: {error.strerror}.") from None
    _read.cache_clear()


@lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> dict[tuple[str, str], float]:
    """(lab, student) -> days, in the order of the last rows about them. ``changed``, the file's time, is a key of the cache."""
    table = read_list(file)
    if tuple(map(folded, table.header[:3])) != _HEADER:
        raise UserError(
            f"The first row of {file} has to be “{','.join(_HEADER)}”, and is {table.shown_header}."
        )
    decided: dict[tuple[str, str], float] = {}
    for number, (lab, student, days, *_) in enumerate(table.rows, start=2):
        given = number_in(days)
        if given is None or not 0 <= given <= 366 or not student.strip():
            raise UserError(
                f"Row {number} of {file}, “{','.join((lab, student, days))}”, is no lab, student and number of days, at most 366."
            )
        key = lab_name(lab.strip()), student.strip()
        decided.pop(key, None)
        decided[key] = given
    return decided
