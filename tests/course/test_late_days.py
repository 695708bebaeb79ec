"""Days of lateness end at the due date's hour on the course's clock, where summer time begins or ends, too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from autograder.course.policy_file import extension_of, settings
from autograder.results import SubmissionResult
from autograder.run.recorder import open_gradebook
from autograder.serve.rules import closing_of

LAB = "01_markov_bigram"
BERLIN = ZoneInfo("Europe/Berlin")


def utc(text: str) -> datetime:
    """A time on the course's clock, as the gradebook stores it. A trailing ``'`` is the second of two equal hours."""
    local = datetime.fromisoformat(text.rstrip("'")).replace(tzinfo=BERLIN, fold=text.endswith("'"))
    return local.astimezone(UTC).replace(tzinfo=None)


def policy(due: str, more: str = "") -> str:
    return f'timezone = "Europe/Berlin"\n[labs.01]\ndue = {due}\nlate = {{ percent_per_day = 10, at_most_percent = 50, grace_minutes = 15 }}\n{more}'


@pytest.mark.parametrize(
    ("due", "received", "days"),
    [
        ("2026-10-24T18:00:00", "2026-10-25 18:00", 1),
        ("2026-10-24T18:00:00", "2026-10-25 18:01", 2),
        ("2026-03-28T18:00:00", "2026-03-29 18:01", 2),  # 23 hours later
        ("2026-07-01T18:00:00", "2026-07-01 18:15", 0),
        ("2026-07-01T18:00:00", "2026-07-01 18:16", 1),
        ("2026-07-01T18:00:00", "2026-08-10 17:59", 5),  # at most half of the points
        ("2026-03-29T01:55:00", "2026-03-29 03:05", 0),  # ten minutes, within the grace
        ("2026-10-25T02:30:00", "2026-10-25 02:20'", 1),  # 50 minutes
        ("2026-10-24T02:30:00", "2026-10-25 02:20", 1),
    ],
)
def test_a_day_ends_at_the_hour_of_the_due_date(
    course_at: Callable[[str], None], due: str, received: str, days: int
) -> None:
    course_at(policy(due))
    late = (utc(received) - settings().due(LAB)).total_seconds()
    assert (settings().penalty(LAB, 20.0, late) or 0.0) == pytest.approx(2 * days)


def test_the_days_of_lateness_begin_where_the_students_own_extension_ends(
    course_at: Callable[[str], None], tmp_path: Path
) -> None:
    course_at(policy("2026-10-23T18:00:00", "extensions = { ada = 1 }\n"))
    with open_gradebook(LAB, tmp_path) as book:
        for student, received in (("ada", "2026-10-25 17:30"), ("bo", "2026-10-24 18:30")):
            time = f"{utc(received)} UTC"
            book.write(SubmissionResult(student, LAB, "graded", 10.0, 20.0, 0.0, submitted_at=time))
        book.apply_policy()
        marks = book.all_marks()
        assert marks["ada"].due == utc("2026-10-24 18:00")
        late = {
            name: settings().days_begun(own.due, own.due + timedelta(seconds=own.seconds_late))
            for name, own in marks.items()
        }
        assert late == {"ada": 1, "bo": 2}
        assert settings().penalty(LAB, 10.0, marks["ada"].seconds_late, marks["ada"].due) == 1.0


def test_an_extension_moves_the_closing_on_the_courses_clock(course_at: Callable[[str], None]) -> None:
    course_at(policy("2026-03-27T18:00:00", "closes = 2026-03-28T12:00:00\nextensions = { ada = 2 }\n"))
    longer = extension_of(LAB, "ada")
    assert longer == timedelta(hours=47) and settings().days_of(LAB, longer) == 2
    assert settings().closes(LAB, longer) == utc("2026-03-30 12:00")
    assert closing_of(LAB, "ada") == utc("2026-03-30 12:00").replace(tzinfo=UTC).timestamp()
    due = settings().due(LAB) + longer
    for received, closed in (("2026-03-30 12:00", False), ("2026-03-30 12:01", True)):
        late = (utc(received) - due).total_seconds()
        assert settings().is_closed(LAB, late, due) is closed
        assert (settings().penalty(LAB, 20, late, due) == 20) is closed
    course_at("[labs.01]\ncloses = 2026-10-04T12:00:00\n")
    assert settings().due(LAB) == settings().closes(LAB) and settings().penalty(LAB, 20, 1) == 20
