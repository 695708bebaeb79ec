"""Reads times as learning systems write them, and a student's state, due date and group from Moodle's grading worksheet.

The worksheet's column *Status* contains the state and any extension as text in the teacher's language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from autograder.course.lists import MONTHS, CsvList, folded, letters, words
from autograder.files import iso_time

_EXTENSION = re.compile(
    "|".join(rf"{re.escape(folded(word))} ?:? ?(.+?)(?: - |-*$)" for word in words("extended until"))
)
#: "Monday, 2 March 2026, 10:00 PM", "lundi 2 mars 2026, 10:00", "segunda-feira, 2 de março de 2026 às 10:00", "02.03.2026 10:00".
_WRITTEN = re.compile(
    r"(?:\S+,? )?(\d{1,2})(?:\.(\d{1,2})\.|\.? (?:de )?([^\W\d]+)\.? (?:de )?)(\d{4}),?(?: \S{1,3})? (\d{1,2})[:.](\d\d)(?::(\d\d))?"
    r"(?: ?([ap])\.?m\.?)?"
)
#: The same in the order of the United States: "Monday, March 2, 2026, 10:00 AM".
_MONTH_FIRST = re.compile(r"((?:[^\W\d]+, )?)([^\W\d]+) (\d{1,2}), (\d{4}),? (.*)")


def time_in(text: str) -> datetime | None:
    """The time in a text, with its zone if it names one; None if the text is ambiguous or no time."""
    with suppress(ValueError):
        time, letters = iso_time(" ".join(text.split()))
        return None if letters else time
    match = _WRITTEN.fullmatch(_MONTH_FIRST.sub(r"\3 \2 \4, \5", folded(text)))
    if match is None or (match[8] == "a" and int(match[5]) > 12):
        return None
    day, month, year, hour, minute, second = (int(match[group] or 0) for group in (1, 2, 4, 5, 6, 7))
    if match[8]:  # a Polish Moodle writes “14:15 PM”
        hour = hour % 12 + (12 if match[8] == "p" else 0)
    with suppress(ValueError, OverflowError):
        return datetime(year, month or MONTHS.get(match[3], 0), day, hour, minute, second)
    return None


def utc_time(text: str, zone: str) -> tuple[datetime, bool]:
    """The time in UTC, and whether the text names its zone; else it is in ``zone``. Raises ValueError, with the text."""
    with suppress(OverflowError):
        if (time := time_in(text)) is not None:
            there = time if time.tzinfo else time.replace(tzinfo=ZoneInfo(zone))
            return there.astimezone(UTC), time.tzinfo is not None
    raise ValueError(text)


def is_unsubmitted(table: CsvList, row: Sequence[str]) -> bool:
    """Whether the student has only a draft or a reopened attempt, so that nothing is handed in."""
    status = folded(table.value(row, "status"))
    return status.startswith(tuple(folded(word) for role in ("draft", "reopened") for word in words(role)))


def own_due(table: CsvList, row: Sequence[str], zone: str) -> datetime | None:
    """The student's due date (UTC, without a zone): the extension's end, else the column of due dates, else None.

    Raises ValueError, with the text, for a date that cannot be read.
    """
    found = _EXTENSION.search(folded(table.value(row, "status")))
    text = next(filter(None, found.groups())) if found else table.value(row, "due date")
    text = text.strip(" -")
    return utc_time(text, zone)[0].replace(tzinfo=None) if text else None


def is_same_group(listed: str, downloaded: str) -> bool:
    """Whether a group's name in Moodle's download is the same group as on its worksheet, also for the default group."""
    default = {folded(word) for word in words("default group")}
    return letters(listed) == letters(downloaded) or {folded(listed), folded(downloaded)} <= default
