"""Reads the lists (CSV) that learning systems export: separator, encoding and numbers by what is in the file, columns by their role.

The words of Moodle's columns are those of its language packs (mod/assign, gradereport and core; de, fr, es, it, pt, nl
from projectestac/moodle-langpacks @6340d351, pt_br from the same place, pl of Moodle 4.0 from
InfoSoftware-Polska-sp-z-o-o/ISAsync @b390f155, lang/pl). Polish words besides those are kept from memory, in case another
version has them: a column that they name wrongly is refused, never mistaken for another. Canvas's are those of its
lib/gradebook_importer.rb @00b222d7, GitHub Classroom's and Gradescope's those of their grade downloads, in English only.
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.errors import UserError

#: Role -> what the column is called, folded as ``folded`` does it.
ROLES: dict[str, tuple[str, ...]] = {
    # Moodle: the number in "Participant 123" is the assignment's own, known nowhere else.
    "participant": (
        "Identifier", "ID", "Identifiant", "Identificador", "Identificativo", "Identificatie", "Identyfikator",
    ),
    "full name": (
        "Full name", "Name", "Vollständiger Name", "Nom complet", "Nom complet de l’utilisateur", "Nombre completo",
        "Nombre completo del usuario", "Nome completo", "Nome completo dell'utente", "Nome completo do utilizador",
        "Volledige naam", "Volledige naam van de gebruiker", "Imię i nazwisko", "Pełna nazwa",
    ),
    "first name": ("First name", "Firstname", "Vorname", "Prénom", "Nombre", "Nome", "Voornaam", "Imię"),
    "last name": (
        "Last name", "Surname", "Lastname", "Nachname", "Nom de famille", "Nom", "Apellido(s)", "Apellidos",
        "Cognome", "Apelido", "Sobrenome", "Achternaam", "Nazwisko",
    ),
    "email": (
        "Email address", "Email", "E-mail", "Mail", "E-Mail-Adresse", "Adresse de courriel", "Dirección de correo",
        "Indirizzo email", "Endereço de e-mail", "E-mailadres", "E-mail", "Adres e-mail", "Adres email",
    ),
    "id number": (
        "ID number", "ID-Nummer", "Matrikelnummer", "Numéro d’identification", "Número de ID", "Codice identificativo",
        "Número de identificação (ID)", "Número de identificação", "Nummer (ID)", "Numer Indeksu", "Numer ID",
        "Numer identyfikacyjny",
        "moodle id", "SID",
    ),
    "username": (
        "Username", "Anmeldename", "Nom d’utilisateur", "Nombre de usuario", "Nome de utilizador",
        "Nome de usuário", "Identificação de usuário", "Gebruikersnaam", "Nazwa użytkownika", "Login",
    ),
    "grade": (
        "Grade", "Bewertung", "Note", "Calificación", "Valutazione", "Avaliação", "Nota", "Cijfer", "Beoordeling",
        "Ocena",
    ),
    "maximum": (
        "Maximum grade", "Beste Bewertung", "Note maximale", "Calificación máxima", "Voto massimo", "Nota máxima",
        "Hoogst haalbare cijfer", "Maximaal cijfer", "Maksymalna ocena", "Ocena maksymalna",
    ),
    "open": (
        "Grade can be changed", "Bewertung kann geändert werden", "La note peut être modifiée",
        "La calificación puede ser cambiada", "La calificación se puede cambiar",
        "La valutazione può essere modificata", "La valutazione può essere cambiata", "A nota pode ser alterada", "A nota pode ser alterada.",
        "Nota pode ser alterada", "Cijfer kan gewijzigd worden", "Cijfer kan worden gewijzigd",
        "Beoordeling kan gewijzigd worden", "Ocena może być zmieniona", "Ocenę można zmienić",
    ),
    "comments": (
        "Feedback comments", "Feedback als Kommentar", "Feedback par commentaires",
        "Comentarios de retroalimentación", "Commenti", "Comentários de feedback", "Feedback tekstvak",
        "Comentários", "Comentários do feedback", "Komentarz zwrotny", "Komentarze", "Informacja zwrotna w postaci komentarza",
    ),
    "submitted": (
        "Last modified (submission)", "Zuletzt geändert (Abgabe)", "Dernière modification (travail remis)",
        "Última modificación (entrega)", "Ultima modifica (consegna)", "Última atualização (submissão)",
        "Última modificação (envio)", "Laatst gewijzigd (inzending)", "Ostatnia modyfikacja (przesłane rozwiązanie)",
        "Ostatnio modyfikowane (zadanie)",
        # Canvas's report and API, GitHub Classroom, Gradescope, by hand
        "submitted_at", "Submitted at", "submission_timestamp", "Submission Time", "time", "timestamp",
    ),
    # Canvas
    "canvas's ID": ("ID",),
    "canvas id": ("canvas id", "canvas_id", "user_id", "user id", "Canvas User ID", "Student ID"),
    "sis id": ("SIS User ID", "sis_user_id"),
    "login": ("SIS Login ID", "login_id", "sis_login_id", "login id"),
    # GitHub Classroom
    "github": ("github_username",),
    "repository": ("student_repository_name",),
    # Canvas and GitHub Classroom: a list may hold more than one
    "assignment": ("assignment_id", "assignment id", "assignment_name", "assignment name", "assignment"),
    # by hand, and everywhere
    "student": ("student", "roster_identifier"),
    "section": ("Section", "Group", "Groups", "Gruppe", "Gruppen", "Groupe", "Grupo", "Gruppo", "Groep", "Grupa", "Grupy"),
    "extension": ("extension", "extra days"),
}  # fmt: skip

#: What Moodle writes in the column "open" for no.
NO = frozenset({"no", "nein", "non", "nao", "nee", "nie"})
#: What stands in place of a name in the row of Canvas's export that holds each assignment's points.
POINTS_POSSIBLE = "points possible"
#: The student that each course of Canvas's has, for its teachers to try things.
TEST_STUDENT = "student, test"
#: Names that a sentence lists.
NAMED = 10
#: What Moodle puts before the number of a participant: ``hiddenuser`` of mod/assign.
PARTICIPANT = (
    "Participant", "Teilnehmer/in", "Participante", "Partecipante", "Deelnemer", "Uczestnik",
)  # fmt: skip


class AnotherName(UserError):
    """A number and a name mean different people: one may have a new name, of many it is another course's list."""


def folded(text: str) -> str:
    """A text for comparing: no case, no accents, straight apostrophes, single spaces."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").replace("\ufeff", ""))
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).casefold().split())


_NAMES = {role: frozenset(map(folded, names)) for role, names in ROLES.items()}


@dataclass(frozen=True)
class CsvList:
    """A list as it was read: the header, the rows (each as long as the header), and how it was written."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    separator: str = ","
    notes: tuple[str, ...] = ()

    def column(self, role: str) -> int | None:
        """The position of the column with this role. ``UserError`` when two columns could be it."""
        numbers = [number for number, name in enumerate(self.header) if folded(name) in _NAMES[role]]
        if role == "first name" and self.column("last name") is None:
            return None  # Italian calls a full name “Nome” as well
        if role == "full name" and not numbers:
            numbers = [number for number, name in enumerate(self.header) if folded(name) == "nome"]
            if self.column("last name") is not None:
                numbers = []
        if len(numbers) > 1:
            names = " and ".join(f"“{self.header[number]}”" for number in numbers[:2])
            raise UserError(
                f"The list {self.path} has two columns for the {role}, {names}: delete the one that does not count."
            )
        return numbers[0] if numbers else None

    def need(self, role: str, what_for: str) -> int:
        """``column``; a ``UserError`` that says what was looked for and what stands there when there is none."""
        number = self.column(role)
        if number is None:
            raise UserError(
                f"The list {self.path} has no column for the {role} ({what_for}), such as “{ROLES[role][0]}”; "
                f"its columns are {self.shown_header}."
            )
        return number

    def values_of(self, role: str) -> list[list[str]]:
        """What stands in each column that may have this role, each thing once."""
        columns = [number for number, name in enumerate(self.header) if folded(name) in _NAMES[role]]
        cells = [[row[column].strip() for row in self.rows] for column in columns]
        return [list(dict.fromkeys(filter(None, column))) for column in cells]

    def value(self, row: Sequence[str], role: str) -> str:
        """What a row has in the column of a role ("" when there is no such column)."""
        column = self.column(role)
        return row[column].strip() if column is not None else ""

    def name(self, row: Sequence[str]) -> str:
        """The full name of the row's person ("" when the list does not say)."""
        whole = self.value(row, "full name")
        return whole or " ".join(filter(None, (self.value(row, "first name"), self.value(row, "last name"))))

    def row_name(self, row: Sequence[str]) -> str:
        """The full name of the row's person, on Canvas's list too ("" when the list does not say)."""
        return row[0].strip() if self.is_canvas else self.name(row)

    @property
    def is_canvas(self) -> bool:
        """Whether this is Canvas's own gradebook export: there “Student” is a name, and “ID” Canvas's number."""
        return bool(self.header) and folded(self.header[0]) == "student" and "id" in map(folded, self.header)

    def is_person(self, row: Sequence[str]) -> bool:
        """Whether the row is somebody's. Canvas's rows about the assignments have no number and no login, its test student has."""
        if not self.is_canvas:
            return True
        known = any(self.value(row, role) for role in ("canvas's ID", "sis id", "login"))
        return known and folded(row[0]) != TEST_STUDENT

    @cached_property
    def points_possible(self) -> tuple[str, ...] | None:
        """The row of Canvas's list that holds each assignment's points: known by what it lacks, for a person may be called so."""
        rows = (row for row in self.rows if folded(row[0]) == POINTS_POSSIBLE and not self.is_person(row))
        return next(rows, None) if self.is_canvas else None

    @property
    def shown_header(self) -> str:
        """The first columns, for sentences."""
        few = ", ".join(f"“{name}”" for name in self.header[:8])
        return few + (" …" if len(self.header) > 8 else "")

    @cached_property
    def decimal_comma(self) -> bool:
        """Whether the system that wrote the list writes numbers with a decimal comma.

        Its own numbers tell (grades, maxima, Canvas's points possible), or else the columns that are numbers in most rows: what
        stands in the cells of a text, a student may have typed.
        """
        own = [c for c, name in enumerate(self.header) if folded(name) in _NAMES["grade"] | _NAMES["maximum"]]
        numbers = [row[c] for row in self.rows for c in own]
        numbers += [cell for cell in (self.points_possible or ())[1:] if not may_be_thousands(cell)]
        if not any(_separator_in(number) for number in numbers):
            columns = [list(column) for column in zip(*self.rows, strict=True)] if self.rows else []
            for name, column in zip(self.header, columns, strict=False):
                most = 2 * sum(number_in(cell) is not None for cell in column) > len(column)
                numbers += column if most and folded(name) not in _NAMES["section"] else []
        found = Counter(map(_separator_in, numbers))
        return found[","] > found["."]


def _separator_in(text: str) -> str:
    """The mark before a number's decimals ("" where it has none, or is no number)."""
    match = re.fullmatch(r"-?\d+([.,])\d+", text.strip())
    return match.group(1) if match else ""


#: A cell may hold all that a student typed into a text field: Python's csv module would stop at 131,072 characters.
csv.field_size_limit(1 << 30)


def read_list(path: Path) -> CsvList:
    """Read a CSV file. Raises ``UserError`` in one sentence."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"The list {path} could not be read: {error.strerror}.") from error
    text, notes = _decoded(raw, path)
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    header_line = next((line for line in lines if line.strip()), "")
    separator = max(
        (",", ";", "\t"), key=lambda mark: len(next(csv.reader([header_line], delimiter=mark), []))
    )
    rows_read = csv.reader(io.StringIO("".join(lines)), delimiter=separator, strict=True)
    table, began = [], 1
    try:
        for row in rows_read:
            began = rows_read.line_num + 1
            table += [row] if any(row) else []
    except csv.Error as error:
        raise UserError(
            f"The list {path} is not a CSV file ({error}, in the row that begins in line {began}): "
            "a quotation mark too many or too few?"
        ) from error
    if not table:
        raise UserError(f"The list {path} is empty: export it again from the learning system.")
    header, width = table[0], len(table[0])
    for number, row in enumerate(table[1:], start=2):
        if len(row) > width and any(cell.strip() for cell in row[width:]):
            raise UserError(
                f"Row {number} of the list {path} has {len(row)} cells where its header has {width}: "
                "was it saved with another separator?"
            )
    rows = tuple(tuple((row + [""] * width)[:width]) for row in table[1:])
    return CsvList(path, tuple(name.strip() for name in header), rows, separator, notes)


def _decoded(raw: bytes, path: Path) -> tuple[str, tuple[str, ...]]:
    """The text, and a sentence where the encoding had to be chosen."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif b"\x00" in raw[:200]:
        encodings = ["utf-16-le" if raw[1:2] == b"\x00" else "utf-16-be"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        note = f"{path.name} is not in UTF-8; it was read as Windows-1252: check the accents in names."
        return text, (note,) if encoding == "cp1252" else ()
    raise UserError(f"The list {path} is not a CSV file in UTF-8, UTF-16 or Windows-1252: export it again.")


def number_in(text: str) -> float | None:
    """A number with a decimal point or comma, as programs write it (1e-05); None for anything else."""
    clean = text.strip().removesuffix("%").strip()
    if not re.fullmatch(r"-?\d+([.,]\d+)?([eE][+-]?\d+)?", clean):
        return None
    number = float(clean.replace(",", "."))
    return number if math.isfinite(number) else None


def may_be_thousands(text: str) -> bool:
    """Whether a point or comma may part thousands, as Canvas writes them: “1,000”."""
    return re.fullmatch(r"[1-9]\d{0,2}([.,]\d{3})+", text.strip()) is not None


def some(names: Sequence[str]) -> str:
    """The first names and how many more there are, for sentences."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def number_of_participant(text: str) -> str:
    """The number in Moodle's Identifier, “Participant 123” in any language ("" when it is none)."""
    match = re.fullmatch(r"\D*?\s*(\d+)", text.strip())
    return match.group(1) if match else ""


def same_name(one: str, other: str) -> bool:
    """Whether two texts are one name, however its parts are ordered and joined: “Lovelace, Ada”, “lovelaceada”."""
    return bool(_spellings(one) & _spellings(other))


def _spellings(name: str) -> set[str]:
    words = ["".join(c for c in word if c.isalnum()) for word in folded(name).split()]
    words = [word for word in words if word]
    return {"".join(words[turn:] + words[:turn]) for turn in range(len(words))}
