"""When each submission came in, from where that is true: a list that the teacher gives. Never from a file's own time.

A bulk download stamps its entries with the moment of the download (Canvas: rubyzip's default in lib/content_zipper.rb
@05e9653c; Moodle: ZipStream's now), and a clone's files are as old as the clone.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.collect.names import Owned
from autograder.course.class_list import Person
from autograder.course.lists import (
    PARTICIPANT,
    AnotherName,
    CsvList,
    folded,
    number_of_participant,
    read_list,
    same_name,
    some,
)
from autograder.errors import UserError

#: Columns that say who a row of the list is about, other than by a number that only one system knows.
_KEYS = ("email", "id number", "username", "login", "sis id")
_WHO = ("student", *_KEYS, "github", "repository")
#: A cell that says that nothing was handed in.
_NEVER = frozenset({"", "-", "null", "none"})

_MONTHS = {
    folded(name): number
    for names in (
        "January February March April May June July August September October November December",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    )
    for number, name in enumerate(names.split(), start=1)
}
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?"
)
_DOTTED = re.compile(r"(?:[^\W\d]+,? )?(\d{1,2})\.(\d{1,2})\.(\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?")
#: "Monday, 2 March 2026, 10:00 PM", "lundi 2 mars 2026, 10:00", "segunda-feira, 2 de março de 2026 às 10:00".
_WRITTEN = re.compile(
    r"(?:\S+,? )?(\d{1,2})\.? (?:de )?([^\W\d]+)\.? (?:de )?(\d{4}),?(?: \S{1,3})? (\d{1,2})[:.](\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?"
)
#: The same as the United States write it: "Monday, March 2, 2026, 10:00 AM".
_MONTH_FIRST = re.compile(r"((?:[^\W\d]+, )?)([^\W\d]+) (\d{1,2}), (\d{4}),? (.*)")


@dataclass(frozen=True)
class Row:
    """One line of the list: whom it names, and when they handed in (None: they did not)."""

    words: frozenset[str]
    #: Column ``student`` as it stands there: a folder in a list made by hand, a name that its bearer may change in a system's.
    student: str
    participant: str
    canvas_id: str
    name: str
    when: datetime | None
    #: What GitHub Classroom calls them and their repository: compared with GitHub's names only, each with its own.
    login: str = ""
    repository: str = ""

    @property
    def who(self) -> str:
        """What a sentence calls the row by."""
        words = (self.student, self.name, self.login, *sorted(self.words), self.canvas_id, self.participant)
        return next(filter(None, words), "a row without a name")


@dataclass(frozen=True)
class Times:
    """The times that a teacher's list gives."""

    path: Path
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def logins(self) -> dict[str, str]:
        """Repository -> whose it is, both folded, where GitHub Classroom's own list says so of one account only."""
        found: dict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            if row.login and row.repository:
                found[row.repository].add(row.login)
        return {repository: min(logins) for repository, logins in found.items() if len(logins) == 1}

    def names(self, word: str) -> bool:
        """Whether a row is of somebody, or of a repository, that is called so."""
        one = folded(word)
        return any(one in (folded(row.student), row.login, row.repository, *row.words) for row in self.rows)

    def words_of(self, participant: str) -> frozenset[str]:
        """The addresses, logins and ID numbers that Moodle's worksheet has beside the number of a participant."""
        mine = [row.words for row in self.rows if participant and row.participant == participant]
        return frozenset[str]().union(*mine)

    def rows_of(
        self, one: Owned, person: Person | None, kind: str, folder: str, *, exact: bool = False
    ) -> Iterator[Row]:
        """The student's rows, by the surest thing that the list knows of anybody: other words may be what somebody chose to be called.

        ``person``: who it is on the class list, where that is certain. ``folder`` is the name in the download. ``exact``: capitals
        count, for another is called the same but for them. ``AnotherName`` behind a row whose number and name mean different people.
        """
        called = {one.student, folder}
        mine = {folded(name) for name in called} | (person.keys if person else set())
        number = {"moodle": "participant", "canvas": "canvas_id"}.get(kind, "")
        if one.number and any(getattr(row, number) for row in self.rows):
            for row in self.rows:
                if getattr(row, number) == one.number:
                    yield row
                    self._refuse_another_name(row, one, kind)
        elif kind in ("classroom", "plain") and any(row.login or row.repository for row in self.rows):
            login, repository = folded(folder), folded(one.entry.parts[0])
            by_repository = any(row.repository == repository for row in self.rows)
            for row in self.rows:
                if (row.repository == repository) if by_repository else (row.login == login):
                    yield row
        else:
            by_words = bool(number) and any(row.words for row in self.rows)
            for row in self.rows:
                by_student = row.student in called if exact else folded(row.student) in mine
                if row.words & mine or (row.student and by_student and not by_words):
                    yield row

    def _refuse_another_name(self, row: Row, one: Owned, kind: str) -> None:
        nameless = kind == "moodle" and not row.name and folded(one.name) not in map(folded, PARTICIPANT)
        if nameless or (row.name and one.name and not same_name(row.name, one.name)):
            raise AnotherName(
                f"{self.path} calls number {one.number} “{row.name}”, the download “{one.name}”: the list is another "
                "assignment's or another course's, or has no names, and nothing was collected."
            )


def read_times(path: Path, zone: str) -> Times:
    """Read a list of times: a CSV, or the JSON of Canvas's API. Times without a zone are in ``zone``.

    ``UserError`` for a list without times or people, of several assignments, and for a time that cannot be read without guessing.
    """
    table = _json_list(path) or read_list(path)
    table.need("submitted", "when each student handed in")
    who = [role for role in (*_WHO, "participant", "canvas id") if table.column(role) is not None]
    if not who:
        raise UserError(
            f"The list {path} has no column that says whose time it is, such as “student”, “user_id” or “Identifier”; "
            f"its columns are {table.shown_header}."
        )
    for assignments in table.values_of("assignment"):
        if len(assignments) > 1:
            raise UserError(
                f"The list {path} has the times of {len(assignments)} assignments, {some(assignments)}: give that of this lab alone."
            )
    rows, without_zone = [], 0
    for number, row in enumerate(table.rows, start=2):
        text = table.value(row, "submitted")
        when, has_zone = (None, True) if folded(text) in _NEVER else _time(text, zone, path, number)
        without_zone += not has_zone
        words = frozenset(folded(word) for role in _KEYS if (word := table.value(row, role)))
        participant = number_of_participant(table.value(row, "participant"))
        login, repository = (folded(table.value(row, role)) for role in ("github", "repository"))
        canvas_id = table.value(row, "canvas id")
        student = table.value(row, "student")
        rows.append(Row(words, student, participant, canvas_id, table.name(row), when, login, repository))
    notes = list(table.notes)
    if without_zone:
        notes.append(
            f"{path.name}: {without_zone} times name no zone and were taken for {zone} (course.toml)."
        )
    return Times(path, tuple(rows), tuple(notes))


def _json_list(path: Path) -> CsvList | None:
    """Canvas's API answers with a list of objects; None for anything else."""
    try:
        rows = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
        return None
    header = ("user_id", "submitted_at", "assignment_id")
    return CsvList(
        path, header, tuple(tuple("" if row.get(k) is None else str(row[k]) for k in header) for row in rows)
    )


def _time(text: str, zone: str, path: Path, number: int) -> tuple[datetime, bool]:
    """The time in UTC, and whether the text itself named a zone."""
    parts = _parts(" ".join(text.split()))
    try:
        if parts is not None:
            *numbers, offset = parts
            naive = datetime(*numbers)  # type: ignore[arg-type]
            if offset is None:
                return naive.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC), False
            return datetime.strptime(f"{naive:%Y-%m-%d %H:%M:%S}{offset}", "%Y-%m-%d %H:%M:%S%z").astimezone(
                UTC
            ), True
    except (ValueError, OverflowError):
        pass
    raise UserError(
        f"Row {number} of {path}: “{text[:60]}” is no time that can be read without guessing; "
        "write it like 2026-03-02 10:00."
    )


def _parts(text: str) -> Sequence[int | str | None] | None:
    """Year, month, day, hour, minute, second and the zone's offset (None: no zone)."""
    if (match := _ISO.fullmatch(text)) and (match[4] or not match[7]):
        offset = match[7] and ("+0000" if match[7] in ("Z", "UTC") else match[7].replace(":", ""))
        if match[4] is None:
            return None  # a day without an hour
        return [*(int(match[n] or 0) for n in range(1, 7)), offset]
    if match := _DOTTED.fullmatch(text):
        day, month, year, *clock = (int(group or 0) for group in match.groups())
        return [year, month, day, *clock, None]
    plain = _MONTH_FIRST.sub(r"\3 \2 \4, \5", folded(text))
    if match := _WRITTEN.fullmatch(plain):
        month = _MONTHS.get(match[2], 0)
        hour = int(match[4])
        if match[7] == "a" and hour > 12:
            return None
        if match[7]:  # a Polish Moodle writes “14:15 PM”
            hour = hour % 12 + (12 if match[7] == "p" else 0)
        return [int(match[3]), month, int(match[1]), hour, int(match[5]), int(match[6] or 0), None]
    return None
