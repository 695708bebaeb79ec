"""Copies extensions from a learning system to ``extensions.csv``, unless the course already gives as much."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from autograder.course import extensions
from autograder.course.lists import sentences_about
from autograder.course.policy_file import extension_of, extensions_file, settings

#: Learning systems give times in minutes: smaller differences are ignored.
_A_MINUTE = timedelta(minutes=1)
_MOST_DAYS = 366


def take_over_extensions(
    lab: str, due: datetime, until: Iterable[tuple[str, datetime]], source: str
) -> list[str]:
    """Add an extension for each student with a later due date than in the course. Returns sentences about it.

    ``until``: (student, due date in the ``source``). Its times and ``due`` are in UTC, without a zone. No extension gets shorter.
    """
    given, more, too_long = list[str](), list[str](), list[str]()
    for student, own in until:
        have, longer = extension_of(lab, student) or timedelta(), own - due
        days = settings().days_of(lab, longer)
        if days > _MOST_DAYS:
            too_long.append(student)
        elif longer > have + _A_MINUTE:
            extensions.add(extensions_file(), lab, student, days)
            given.append(f"{student} ({settings().local(own):%Y-%m-%d %H:%M})")
        elif have > max(longer, timedelta()) + _A_MINUTE:
            more.append(student)
    file = extensions_file().name
    return sentences_about(
        {
            f"Longer in {source}, and so added to {file}": given,
            f"Longer in course.toml or {file} than in {source}, which counts": more,
            f"More than a year longer in {source}, so give them an extension in course.toml": too_long,
        }
    )
