"""What Moodle's grading worksheet says about a student beside the grade: the state, the due date, the group.

The states and the words around an extension stand in its column *Status*, in the teacher's language.
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
    """Whether what a student has there is a draft, or an attempt that was opened again: nothing that was handed in."""
    status = folded(table.value(row, "status"))
    return status.startswith(tuple(folded(word) for role in ("draft", "reopened") for word in words(role)))


def own_due(table: CsvList, row: Sequence[str], zone: str) -> datetime | None:
    """When this student has to hand in (UTC, without a zone): an extension's end, else the column of due dates; None: not said.

    Raises ValueError with a text that is no time.
    """
    found = _EXTENSION.search(folded(table.value(row, "status")))
    text = next(filter(None, found.groups())) if found else table.value(row, "due date")
    text = text.strip(" -")
    if not text:
        return None
    if (time := time_in(text)) is None:
        raise ValueError(text)
    return in_utc(time, zone).replace(tzinfo=None)


def is_team(listed: str, downloaded: str) -> bool:
    """Whether the name of a group in a download of Moodle's is that on its worksheet, whatever the default group is called."""
    default = {folded(word) for word in words("default group")}
    return letters(listed) == letters(downloaded) or {folded(listed), folded(downloaded)} <= default
