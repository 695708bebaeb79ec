"""Reads the lists that learning systems export (CSV, JSON), and finds a column by its role.

``moodle_words.json`` holds the words of Moodle's language packs (mod_assign and core: en, de, fr, es, it, pt, nl from
projectestac/moodle-langpacks @6340d351; pt_br and pl, in part, from elsewhere) and what other versions call a column.
Canvas's columns are those of its lib/gradebook_importer.rb @00b222d7, GitHub Classroom's those of its roster
and its grades, in English only.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.errors import UserError

#: Role -> the names of a column or value in Moodle's languages, English first, and in other systems.
_WORDS: list[dict[str, list[str]]] = list(
    json.loads(Path(__file__).with_name("moodle_words.json").read_text(encoding="utf-8")).values()
)

#: The name in the row of Canvas's export that gives each assignment's points.
POINTS_POSSIBLE = "points possible"
#: The test student that every Canvas course has for its teachers.
TEST_STUDENT = "student, test"
#: The roles of columns whose words identify a person.
IDS = ("email", "id number", "username", "login", "sis id")
#: The most names that a sentence lists.
NAMED = 10


def folded(text: str) -> str:
    """A text normalised for comparing: no case, no accents, straight apostrophes, single spaces."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").replace("\ufeff", ""))
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).casefold().split())


def letters(text: str) -> str:
    """The letters and digits of a folded text: “user_id” and “User ID” are one column."""
    return "".join(c for c in folded(text) if c.isalnum())


def words(role: str) -> tuple[str, ...]:
    """All names of a role's column or value, in Moodle's languages and in other systems."""
    return tuple(dict.fromkeys(word for language in _WORDS for word in language.get(role, ())))


_NAMES = {role: frozenset(map(letters, words(role))) for language in _WORDS for role in language}
#: Month -> number, in each of Moodle's languages and for three-letter English names.
MONTHS = {
    name: number
    for language in _WORDS
    for number, month in enumerate(language.get("months", ()), 1)
    for name in (letters(month), *((letters(month)[:3],) if language is _WORDS[0] else ()))
}


def is_called(text: str, role: str) -> bool:
    """Whether ``text`` is a name of this role's column or value, in Moodle or another system."""
    return letters(text) in _NAMES[role]


@dataclass(frozen=True)
class CsvList:
    """A list: the header, the rows (each as long as the header), and the format."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    separator: str = ","
    notes: tuple[str, ...] = ()

    def column(self, role: str) -> int | None:
        """The position of the column with this role, or None. Raises ``UserError`` if two columns fit."""
        numbers = [number for number, name in enumerate(self.header) if is_called(name, role)]
        if role == "first name" and self.column("last name") is None:
            return None  # in Italian “Nome” can also be a full name
        if role == "full name" and self.column("last name") is not None:
            numbers = [number for number in numbers if not is_called(self.header[number], "first name")]
        if len(numbers) > 1:
            names = " and ".join(f"“{self.header[number]}”" for number in numbers[:2])
            raise UserError(
                f"The list {self.path} has two columns for the {role}, {names}: delete the one that does not count."
            )
        return numbers[0] if numbers else None

    def require_column(self, role: str, what_for: str) -> int:
        """``column``, but raises a ``UserError`` that names the missing column and the existing ones."""
        number = self.column(role)
        if number is None:
            raise UserError(
                f"The list {self.path} has no column for the {role} ({what_for}), such as “{words(role)[0]}”; "
                f"its columns are {self.shown_header}."
            )
        return number

    def values_of(self, role: str) -> list[list[str]]:
        """The distinct values of each column that may have this role."""
        columns = [number for number, name in enumerate(self.header) if is_called(name, role)]
        cells = [[row[column].strip() for row in self.rows] for column in columns]
        return [list(dict.fromkeys(filter(None, column))) for column in cells]

    def value(self, row: Sequence[str], role: str) -> str:
        """The row's value for a role; "" if there is no column for it."""
        column = self.column(role)
        return row[column].strip() if column is not None else ""

    def name(self, row: Sequence[str]) -> str:
        """The full name of the row's person; "" if the list does not give it."""
        if self.is_canvas:
            return row[0].strip()
        full = self.value(row, "full name")
        return full or " ".join(filter(None, (self.value(row, "first name"), self.value(row, "last name"))))

    def ids(self, row: Sequence[str]) -> frozenset[str]:
        """The folded words that identify the row's person in some system."""
        return frozenset(folded(word) for role in IDS if (word := self.value(row, role)))

    @property
    def is_canvas(self) -> bool:
        """Whether this is Canvas's gradebook export, in which “Student” is a name and “ID” Canvas's number."""
        return bool(self.header) and folded(self.header[0]) == "student" and "id" in map(folded, self.header)

    def is_person(self, row: Sequence[str]) -> bool:
        """Whether the row is a person's. Canvas also has rows about assignments, without number and login, and a test student."""
        if not self.is_canvas:
            return True
        known = any(self.value(row, role) for role in ("canvas's ID", "sis id", "login"))
        return known and folded(row[0]) != TEST_STUDENT

    @cached_property
    def points_possible(self) -> tuple[str, ...] | None:
        """The row with the assignments' points in Canvas's list. It has no number or login; a person could have its name."""
        rows = (row for row in self.rows if folded(row[0]) == POINTS_POSSIBLE and not self.is_person(row))
        return next(rows, None) if self.is_canvas else None

    @property
    def shown_header(self) -> str:
        """The first columns, for sentences."""
        first = ", ".join(f"“{name}”" for name in self.header[:8])
        return first + (" …" if len(self.header) > 8 else "")

    @cached_property
    def decimal_comma(self) -> bool:
        """Whether the system that wrote the list writes numbers with a decimal comma.

        The system's own numbers decide (grades, maxima, Canvas's points possible), or else columns with numbers in most rows.
        Other cells may contain text that a student typed.
        """
        columns = [(name, cells) for name, *cells in zip(self.header, *self.rows, strict=False)]
        numbers = [cell for cell in (self.points_possible or ())[1:] if not may_be_thousands(cell)]
        for name, cells in columns:
            numbers += cells if is_called(name, "grade") or is_called(name, "maximum") else []
        if not any(map(_separator_in, numbers)):
            for name, cells in columns:
                most = 2 * sum(number_in(cell) is not None for cell in cells) > len(cells)
                numbers += cells if most and not is_called(name, "groups") else []
        found = Counter(map(_separator_in, numbers))
        return found[","] > found["."]


def _separator_in(text: str) -> str:
    """The decimal separator of a number; "" if it has none or is no number."""
    match = re.fullmatch(r"-?\d+([.,])\d+", text.strip())
    return match.group(1) if match else ""


#: A cell may hold a long text that a student typed; the csv module's default limit is 131,072 characters.
csv.field_size_limit(1 << 30)


def read_list(path: Path) -> CsvList:
    """Read a list from a CSV or JSON file. Raises ``UserError``, in one sentence."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"The list {path} could not be read: {error.strerror}.") from error
    separator, notes = ",", tuple[str, ...]()
    if (objects := _objects(raw)) is not None:
        header = list(dict.fromkeys(name for one in objects for name in one))
        table = [header, *([_as_text(one.get(name)) for name in header] for one in objects)]
    else:
        text, notes = _decoded(raw, path)
        table, separator = _rows_of_csv(text, path)
    if not table:
        raise UserError(f"The list {path} is empty: export it again from the learning system.")
    width = len(table[0])
    for number, row in enumerate(table[1:], start=2):
        if len(row) > width and any(cell.strip() for cell in row[width:]):
            raise UserError(
                f"Row {number} of the list {path} has {len(row)} cells where its header has {width}: "
                "was it saved with another separator?"
            )
    rows = tuple(tuple((row + [""] * width)[:width]) for row in table[1:])
    return CsvList(path, tuple(name.strip() for name in table[0]), rows, separator, notes)


def _rows_of_csv(text: str, path: Path) -> tuple[list[list[str]], str]:
    """The non-empty rows, and the separator."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    separator = max((",", ";", "\t"), key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    table, began = [], 1
    try:
        for row in rows:
            began = rows.line_num + 1
            table += [row] if any(row) else []
    except csv.Error as error:
        raise UserError(
            f"The list {path} is not a CSV file ({error}, in the row that begins in line {began}): "
            "is there a quotation mark too many or too few?"
        ) from error
    return table, separator


def _objects(raw: bytes) -> list[dict[str, Any]] | None:
    """The objects of a JSON list, which Moodle nests in another list; None for other content."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    while isinstance(content, list) and len(content) == 1 and isinstance(content[0], list):
        [content] = content
    is_table = isinstance(content, list) and content and all(isinstance(one, dict) for one in content)
    return content if is_table else None


def _as_text(value: Any) -> str:
    """A JSON value as a cell; objects (roles, groups) become their names."""
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    if isinstance(value, dict):
        return str(value.get("shortname") or value.get("name") or "")
    return "" if value is None else str(value)


def _decoded(raw: bytes, path: Path) -> tuple[str, tuple[str, ...]]:
    """The text, and a note if the encoding had to be guessed."""
    if raw.startswith(b"PK\x03\x04"):
        raise UserError(f"The list {path} is a workbook: export it as CSV.")
    encodings = ["utf-8-sig", "cp1252"]
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif b"\x00" in raw[:200]:
        encodings = ["utf-16-le" if raw[1:2] == b"\x00" else "utf-16-be"]
    for encoding in encodings:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        note = f"{path.name} is not in UTF-8; it was read as Windows-1252: check the accents in names."
        return text, (note,) if encoding == "cp1252" else ()
    raise UserError(f"The list {path} is not a CSV file in UTF-8, UTF-16 or Windows-1252: export it again.")


def number_in(text: str) -> float | None:
    """The number, with decimal point or comma, perhaps an exponent (1e-05); None for other text."""
    clean = text.strip().removesuffix("%").strip()
    if not re.fullmatch(r"-?\d+([.,]\d+)?([eE][+-]?\d+)?", clean):
        return None
    number = float(clean.replace(",", "."))
    return number if math.isfinite(number) else None


def may_be_thousands(text: str) -> bool:
    """Whether a point or comma may separate thousands, as in Canvas's “1,000”."""
    return re.fullmatch(r"[1-9]\d{0,2}([.,]\d{3})+", text.strip()) is not None


def summarize_names(names: Sequence[str]) -> str:
    """Up to ``NAMED`` names and the number of further ones, for sentences."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def sentences_about(names: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence for each beginning that has names: the beginning and the names."""
    return [f"{beginning}: {summarize_names(group)}." for beginning, group in names.items() if group]


def number_of_participant(text: str) -> str:
    """The number in Moodle's Identifier, “Participant 123” in any language; "" for other text."""
    match = re.fullmatch(r"\D*?\s*(\d+)", text.strip())
    return match.group(1) if match else ""


def same_name(one: str, other: str) -> bool:
    """Whether two texts are the same name with its parts in any order and spelling: “Lovelace, Ada”, “lovelaceada”."""
    return bool(_spellings(one) & _spellings(other))


def same_participant(listed: str, downloaded: str) -> bool:
    """Whether a name in Moodle's download is the same person as a name on its worksheet.

    A blind worksheet has no names, and the download calls everybody “Participant” in the teacher's language. With groups,
    the group's name and a hyphen precede the person's name.
    """
    if not listed:
        return is_called(downloaded, "hidden user")
    ends = (downloaded[at + 1 :] for at, letter in enumerate(downloaded) if letter == "-")
    return any(same_name(listed, name) for name in (downloaded, *ends))


def _spellings(name: str) -> set[str]:
    parts = ["".join(c for c in word if c.isalnum()) for word in folded(name).split()]
    parts = [part for part in parts if part]
    return {"".join(parts[turn:] + parts[:turn]) for turn in range(len(parts))}
