"""Reads and writes the CSV files of learning systems: their own rows kept, no cell taken for a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import GradingError
from autograder.files import write_atomically

#: A cell that starts so is run as a formula by spreadsheet programs.
_FORMULA = re.compile(r"^[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]")
#: The same behind what separates cells: with a comma or a semicolon, as the reader's country has it, or a tab.
_FORMULA_INSIDE = re.compile(r"([;,\t\r\n|][\s\ufeff\"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"^-?\d+(\.\d+)?$")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
#: Collected folders are named ``name_userid``; learning systems know the number.
_NUMBER_AT_THE_END = re.compile(r"_(\d+)$")
#: Columns that say who a row is about, in the systems' own words (compared in lower case).
_WHO = ("id", "sis user id", "sis login id", "identifier", "id number", "username", "email address", "email")


@dataclass(frozen=True)
class Roster:
    """A learning system's own list: the header and one dictionary a row (empty when none was given)."""

    header: tuple[str, ...] = ()
    rows: tuple[dict[str, str], ...] = ()

    def match(self, students: Iterable[str]) -> tuple[dict[int, str], list[str]]:
        """Row number -> student, and the students of whom no row, or more than one, could be found."""
        known: dict[str, set[int]] = {}
        for number, row in enumerate(self.rows):
            for column, value in row.items():
                if column.strip().casefold() in _WHO and value.strip():
                    word = value.strip().casefold()
                    for key in (word, word.removeprefix("participant ")):
                        known.setdefault(key, set()).add(number)
        matched: dict[int, str] = {}
        lost: list[str] = []
        for student in students:
            number_at_end = lms_number(student)
            candidates = known.get(student.casefold()) or known.get(number_at_end) or set()
            if len(candidates) == 1 and not candidates & matched.keys():
                matched[min(candidates)] = student
            else:
                lost.append(student)
        return matched, lost


def lms_number(student: str) -> str:
    """The learning system's number in a collected student's name ("" when there is none)."""
    found = _NUMBER_AT_THE_END.search(student)
    return found.group(1) if found else ""


def read_roster(path: Path) -> Roster:
    """Read a CSV file that a learning system exported. Raises GradingError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        table = list(csv.reader(io.StringIO(text)))
    except OSError as error:
        raise GradingError(f"The list {path} could not be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise GradingError(f"The list {path} is not a CSV file in UTF-8: export it again.") from error
    if not table or not table[0]:
        raise GradingError(f"The list {path} is empty: export it again from the learning system.")
    header = table[0]
    if not any(column.strip().casefold() in _WHO for column in header):
        raise GradingError(f"The list {path} has no column that says who a row is about, such as ID.")
    rows = tuple(
        dict(zip(header, row + [""] * (len(header) - len(row)), strict=False))
        for row in table[1:]
        if any(row)
    )
    return Roster(tuple(header), rows)


def safe_cell(value: str) -> str:
    """A cell that a spreadsheet shows as it is: what would be a formula gets an apostrophe in front."""
    clean = _FORMULA_INSIDE.sub(r"\1'", _CONTROL.sub("\ufffd", value))
    if _FORMULA.match(clean) and not _NUMBER.match(clean):
        return f"'{clean}"
    return clean


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    """Write a CSV file in UTF-8, every cell made safe. Raises GradingError. Returns the path."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([safe_cell(cell) for cell in header])
    for row in rows:
        writer.writerow([safe_cell(cell) for cell in row])
    write_atomically(path, text.getvalue())
    return path


def unmatched_note(lost: Sequence[str], where: str) -> tuple[str, ...]:
    """The sentence about students who are not on the learning system's list."""
    if not lost:
        return ()
    few = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    return (f"Not found on the list, and so not in {where}: {few}.",)
