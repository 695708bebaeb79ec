"""Reads a student's state, due date and group from Moodle's grading worksheet.

The column *Status* contains the state and any extension as text in the teacher's language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from autograder.course.lists import CsvList, folded, letters, words
from autograder.course.written_times import in_utc, time_in

_EXTENSION = re.compile(
    "|".join(rf"{re.escape(folded(word))} ?:? ?(.+?)(?: - |-*$)" for word in words("extended until"))
)


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
    if not text:
        return None
    if (time := time_in(text)) is None:
        raise ValueError(text)
    return in_utc(time, zone).replace(tzinfo=None)


def is_same_group(listed: str, downloaded: str) -> bool:
    """Whether a group's name in Moodle's download is the same group as on its worksheet, also for the default group."""
    default = {folded(word) for word in words("default group")}
    return letters(listed) == letters(downloaded) or {folded(listed), folded(downloaded)} <= default
