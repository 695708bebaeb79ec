"""Parses times as learning systems write them in their lists, in all languages of ``lists``."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from autograder.course.lists import MONTHS, folded
from autograder.files import iso_time

_DOTTED = re.compile(r"(?:[^\W\d]+,? )?(\d{1,2})\.(\d{1,2})\.(\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?")
#: "Monday, 2 March 2026, 10:00 PM", "lundi 2 mars 2026, 10:00", "segunda-feira, 2 de março de 2026 às 10:00".
_WRITTEN = re.compile(
    r"(?:\S+,? )?(\d{1,2})\.? (?:de )?([^\W\d]+)\.? (?:de )?(\d{4}),?(?: \S{1,3})? (\d{1,2})[:.](\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?"
)
#: The same in the order of the United States: "Monday, March 2, 2026, 10:00 AM".
_MONTH_FIRST = re.compile(r"((?:[^\W\d]+, )?)([^\W\d]+) (\d{1,2}), (\d{4}),? (.*)")


def time_in(text: str) -> datetime | None:
    """The time in a text, with its zone if it names one; None if the text is ambiguous or no time."""
    plain = " ".join(text.split())
    try:
        with suppress(ValueError):
            time, letters = iso_time(plain)
            return None if letters else time
        if match := _DOTTED.fullmatch(plain):
            day, month, year, *clock = (int(group or 0) for group in match.groups())
            return datetime(year, month, day, *clock)  # type: ignore[arg-type]
        if match := _WRITTEN.fullmatch(_MONTH_FIRST.sub(r"\3 \2 \4, \5", folded(text))):
            hour = int(match[4])
            if match[7] == "a" and hour > 12:
                return None
            if match[7]:  # a Polish Moodle writes “14:15 PM”
                hour = hour % 12 + (12 if match[7] == "p" else 0)
            month = MONTHS.get(match[2], 0)
            return datetime(int(match[3]), month, int(match[1]), hour, int(match[5]), int(match[6] or 0))
    except (ValueError, OverflowError):
        pass
    return None


def in_utc(time: datetime, zone: str) -> datetime:
    """Convert a time to UTC; a time without a zone is in ``zone``. Raises OverflowError outside the years 1 to 9999."""
    return (time if time.tzinfo else time.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
