"""Reads the time of each submission from the teacher's list, never from a file's own time.

The files of a bulk download have the time of the download (Canvas: rubyzip's default in lib/content_zipper.rb @05e9653c;
Moodle: ZipStream's now), and the files of a clone have the time of cloning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from autograder.collect.names import Owned
from autograder.course.class_list import Person
from autograder.course.lists import (
    IDS,
    CsvList,
    folded,
    number_of_participant,
    read_list,
    same_name,
    same_participant,
    summarize_names,
)
from autograder.course.policy_file import settings
from autograder.course.worksheet import is_unsubmitted, own_due, utc_time
from autograder.errors import UserError

#: Kind of download -> the column with the number that also occurs in its files' names.
_NUMBER = {"moodle": "participant", "canvas": "canvas id"}
#: Cells that mean that nothing was handed in.
_NEVER = frozenset({"", "-", "null", "none"})


@dataclass(frozen=True)
class Row:
    """One row of the list: the student's names and ids, and the time of submission (None: nothing handed in)."""

    words: frozenset[str]
    #: Column ``student``: the folder's name in a hand-made list; in a system's list a name, which students may change.
    student: str
    #: Canvas's number of the user, or Moodle's of the participant, if the download is of that kind.
    number: str
    name: str
    when: datetime | None
    #: Only from Moodle's worksheet: whether it is a draft or reopened attempt; the group; the student's due date (UTC).
    is_unsubmitted: bool = False
    team: str = ""
    due: datetime | None = None

    @property
    def who(self) -> str:
        """The row's name in sentences."""
        words = (self.student, self.name, *sorted(self.words), self.number)
        return next(filter(None, words), "a row without a name")


@dataclass(frozen=True)
class Times:
    """A list of times for a download of this kind; empty when the teacher gave none."""

    kind: str = "plain"
    path: Path | None = None
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()

    def is_anothers(self, row: Row, one: Owned) -> bool:
        """Whether the row has the number of a file's owner but another name."""
        if not one.number or row.number != one.number:
            return False
        if self.kind == "moodle":
            return not same_participant(row.name, one.name)
        return bool(row.name and one.name) and not same_name(row.name, one.name)

    def worksheet_row(self, one: Owned) -> Row | None:
        """The row of Moodle's worksheet with the number of a file's owner, if the names agree."""
        mine = (row for row in self.rows if self.kind == "moodle" and one.number and row.number == one.number)
        return next((row for row in mine if not self.is_anothers(row, one)), None)

    def rows_of(self, one: Owned, person: Person | None, called: Iterable[str]) -> list[Row]:
        """The student's rows, by the most reliable column: the system's number, else ids, else the column ``student``.

        ``person`` is the student on the class list, if certain; ``called`` are the names of the folder and in the download.
        """
        if one.number and any(row.number for row in self.rows):
            return [row for row in self.rows if row.number == one.number]
        keys = person.keys if person else set[str]()
        ids = keys | set(map(folded, called))
        by_words = self.kind in _NUMBER and any(row.words for row in self.rows)

        def is_theirs(row: Row) -> bool:
            by_student = row.student in called or folded(row.student) in keys
            return bool(row.words & ids or (row.student and by_student and not by_words))

        return list(filter(is_theirs, self.rows))


def read_times(path: Path, kind: str) -> Times:
    """Read a list of times for a download of this kind. Times without a zone are in the course's.

    Raises ``UserError`` for a list without times or people, for several assignments, and for an ambiguous time.
    """
    table, zone = read_list(path), settings().timezone
    table.require_column("submitted", "when each student handed in")
    if all(table.column(role) is None for role in ("student", *IDS, *_NUMBER.values())):
        raise UserError(
            f"The list {path} has no column that says whose time it is, such as “student”, “user_id” or “Identifier”; "
            f"its columns are {table.shown_header}."
        )
    for assignments in table.values_of("assignment"):
        if len(assignments) > 1:
            raise UserError(
                f"The list {path} has the times of {len(assignments)} assignments, {summarize_names(assignments)}: give that of this lab alone."
            )
    rows, without_zone = [], 0
    for number, row in enumerate(table.rows, start=2):
        text, time = table.value(row, "submitted"), None
        try:
            if folded(text) not in _NEVER:
                time, has_zone = utc_time(text, zone)
                without_zone += not has_zone
            rows.append(_row(table, row, time, zone, kind))
        except ValueError as error:
            raise UserError(
                f"Row {number} of {path}: “{str(error)[:60]}” is no time that can be read without guessing; "
                "write it like 2026-03-02 10:00."
            ) from None
    notes = list(table.notes)
    if without_zone:
        notes.append(
            f"{path.name}: {without_zone} times name no zone and were taken for {zone} (course.toml)."
        )
    return Times(kind, path, tuple(rows), tuple(notes))


def _row(table: CsvList, row: tuple[str, ...], time: datetime | None, zone: str, kind: str) -> Row:
    own = table.value(row, _NUMBER[kind]) if kind in _NUMBER else ""
    own = number_of_participant(own) if kind == "moodle" else own
    plain = Row(table.ids(row), table.value(row, "student"), own, table.name(row), time)
    if kind != "moodle" or not own:
        return plain
    team, due = table.value(row, "groups"), own_due(table, row, zone)
    return replace(plain, is_unsubmitted=is_unsubmitted(table, row), team=team, due=due)
