"""The course's policy: a mistake is refused with its line, and what it says is what happens."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from autograder.cli import check_course
from autograder.course import policy_file
from autograder.course.masters import course_root, lab_as_written, lab_name
from autograder.course.policy_file import GRADED_LIMITS, extension_of, limits_of, settings, spec
from autograder.errors import UserError
from autograder.grading.cache_keys import changed_parts, context_of
from autograder.grading.off_limits import forbidden_used
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.recorder import open_gradebook
from autograder.sandbox.limits import Limits
from autograder.serve.rules import closing_of

LAB = "01_markov_bigram"
BERLIN = ZoneInfo("Europe/Berlin")

HERE = Path(__file__).parent
COURSE = (HERE / "policy.toml").read_text(encoding="utf-8")


def test_a_date_is_its_last_second_on_the_courses_clock_in_quotes_or_not_also_behind_a_byte_order_mark(
    course_at,
):
    for quote in ("", '"'):
        course_at(f"[labs.01]\ndue = {quote}2026-10-15{quote}\ncloses = {quote}2026-10-16T08:00:00Z{quote}\n")
        assert settings().due(LAB) == datetime(2026, 10, 15, 23, 59, 59)
        assert settings().closes(LAB) == datetime(2026, 10, 16, 8)
    course_at("\ufeff" + COURSE)
    assert settings().due(LAB) == datetime(2026, 10, 15, 21, 59, 59)


def test_a_mistake_is_refused_in_one_sentence_with_its_line(course_at):
    mistakes = tomllib.loads((HERE / "mistakes.toml").read_text(encoding="utf-8"))["mistakes"]
    too_deep = ["", "x = " + "[" * 5_000, 0, "brackets stand inside one another too deep"]
    for right, wrong, line, words in (*mistakes, too_deep):
        assert not right or COURSE.count(right) == 1
        course_at(COURSE.replace(right, wrong) if right else wrong)
        with pytest.raises(UserError) as caught:
            settings()
        said = str(caught.value)
        assert words in said and (not line or f"line {line}" in said), (wrong, said)
        assert "\n" not in said and said.endswith("."), said


def test_points_and_forbidden_functions_of_the_policy_reach_the_lab(course_at):
    plain = lab_as_written(LAB)
    source = "import numpy as np\ndef normalise_rows(N):\n    return np.divide(N, N.sum(1, keepdims=True))"
    assert forbidden_used(LAB, "normalise_rows", [source]) == ()
    course_at(COURSE)
    assert forbidden_used(LAB, "normalise_rows", [source]) == ("numpy.divide",)
    assert settings().forbidden == "ask", "the points stand until a person has looked"
    changed = spec(LAB)
    assert dict(changed.questions)["normalise_rows"] == 30
    assert changed.max_score == plain.max_score - dict(plain.questions)["normalise_rows"] + 30
    cells = [cell.metadata.get("nbgrader", {}) for cell in changed.cells]
    assert [one["points"] for one in cells if one.get("grade_id") == "test_normalise_rows"] == [30]
    assert dict(lab_as_written(LAB).questions) == dict(plain.questions)


def test_limits_of_the_master_stand_between_those_for_all_labs_and_those_for_this_one(course_at, monkeypatch):
    course_at(COURSE)
    limits = limits_of(LAB)
    assert (limits.cell_seconds, limits.call_seconds) == (20, 8)
    assert limits.memory_bytes == Limits().memory_bytes
    header = {"limits": {"cell_seconds": 90, "call_seconds": 91, "processes": 5}}
    monkeypatch.setattr(policy_file, "course_header", lambda lab: header)
    limits = limits_of(LAB)
    assert (limits.cell_seconds, limits.call_seconds, limits.processes) == (20, 91, 5)
    assert limits.total_seconds == GRADED_LIMITS.total_seconds < Limits().total_seconds


def shown():
    """``check-course``: its row for each lab, and what it prints."""
    said = StringIO()
    rows = {row["lab"]: row for row in check_course.show(Console(file=said, width=300))}
    return rows, said.getvalue()


def test_check_course_shows_the_courses_own_clock_and_until_when_each_person_has_an_extension(course_at):
    course_at(
        'timezone = "Europe/Berlin"\n[extensions]\n"ada@uni.edu" = 1\n[labs.02]\ndue = 2026-07-01T21:30:00Z\n'
        "[labs.01]\ndue = 2026-10-24\ncloses = 2026-12-31T23:30:00Z\n[labs.01.extensions]\nbo = 2026-10-30T12:00:00\n",
        "student,name,email,extension\nada,Ada,ada@uni.edu,\nbo,Bo,bo@uni.edu,2\ncy,Cy,c@uni.edu,1\n",
    )
    policy_file.extensions_file().write_text("lab,student,days\n01,Ada,3\n01,cy,0\n")
    rows, said = shown()
    heading, summer, own = "due (Europe/Berlin)", rows[lab_name("02")], rows[LAB]
    assert [summer[heading], own[heading]] == ["2026-07-01 23:30", "2026-10-24 23:59"]
    assert own["closes"] == "2027-01-01 00:30" and heading in said and summer[heading] in said
    assert own["extensions"] == "ada (2026-10-27 23:59), bo (2026-10-30 12:00)"
    assert rows[lab_name("03")]["extensions"] == "ada, bo, cy", "there is no due date to count from"


def test_check_course_says_that_dates_are_in_utc_where_nobody_said_so(course_at):
    for policy, is_said in (
        ("[labs.01]\ndue = 2026-10-15\n", True),
        ('timezone = "UTC"\n[labs.01]\ndue = 2026-10-15\n', False),
        ("[labs.01]\ndue = 2026-10-15T10:00:00Z\n", False),
        ("[labs.01]\ndue = 2026-10-15T10:00:00Z\nextensions = { ada = 2026-10-16 }\n", True),
        ("[extensions]\nada = 1\n", False),
    ):
        course_at(policy)
        _, said = shown()
        assert ("names no timezone" in said) == is_said


@pytest.mark.parametrize(
    ("due", "until"),
    [
        ("2026-10-24", "2026-10-27 23:59:59+01:00"),  # summer time ends on the 25th
        ("2026-03-28", "2026-03-31 23:59:59+02:00"),  # and begins on the 29th
        ("2026-10-25T00:30:00Z", "2026-10-28 02:30:00+01:00"),
        ("2026-10-25T01:30:00Z", "2026-10-28 02:30:00+01:00"),  # an hour later, by the same clock
        ("2026-07-01", "2026-07-04 23:59:59+02:00"),
    ],
)
def test_an_extension_ends_at_the_same_hour_whatever_the_clocks_were_put_to(course_at, due, until):
    policy = f'timezone = "Europe/Berlin"\n[labs.01]\ndue = {due}\n[extensions]\nada = 3\n'
    course_at(policy, "student,extension\ncy,3\n")
    policy_file.extensions_file().write_text("lab,student,days\n01,bo,3\n")
    for student in ("ada", "bo", "cy"):
        longer = extension_of(LAB, student)
        assert str(settings().local(settings().due(LAB) + longer)) == until


def test_part_of_a_day_is_part_of_24_hours_also_while_the_clocks_are_put_back(course_at):
    course_at('timezone = "Europe/Berlin"\n[labs.01]\ndue = 2026-10-25T01:30:00Z\n')  # the second 02:30
    assert settings().length_of(LAB, 0.5) == timedelta(hours=12)
    assert settings().length_of("02_dirichlet_map", 2.5) == timedelta(days=2.5), "no due date, no clock"


def test_only_what_the_policy_changed_is_a_reason_to_grade_again(course_at):
    before = context_of(LAB, limits_of(LAB))
    course_at("[labs.01]\ndue = 2026-10-15\n")
    assert changed_parts(before, context_of(LAB, limits_of(LAB))) == []
    course_at('[labs.01]\nforbid.normalise_rows = ["numpy.divide"]\n')
    assert changed_parts(before, context_of(LAB, limits_of(LAB))) == ["tests of normalise_rows"]
    course_at('[labs.01.rubric.normalise_rows]\n"an empty row turns into nan" = 0.5\n')
    assert changed_parts(before, context_of(LAB, limits_of(LAB))) == ["what misconceptions cost"]


def test_the_policy_in_the_documentation_is_valid(course_at):
    document = (course_root() / "docs" / "run_a_course.md").read_text(encoding="utf-8")
    blocks = re.findall("```toml\n(.*?)```", document, re.DOTALL)
    for block in sorted(blocks, key=lambda block: "[late]" in block):  # the policy last
        course_at(block)
        assert settings()
    lab = lab_name("07")
    assert settings().due(lab) == datetime(2026, 12, 3, 22, 59, 59)
    assert settings().extended(lab)["ada"] == 3
    assert settings().penalty(lab, 10, 86_000) == 2
    assert limits_of(lab).cell_seconds == 30
    assert dict(spec(lab).questions)["causal_mask"] == 3


def test_the_courses_own_file_is_valid_with_every_sample_switched_on(course_at):
    lines = (course_root() / "course.toml").read_text(encoding="utf-8").splitlines()
    sample = [re.sub(r"^# (?=\[|\w+(\.\w+)* = )", "", line) for line in lines]
    course_at("\n".join(sample))
    assert extension_of(LAB, "ada") == timedelta(days=3)
    assert settings().has_late_rule(LAB) and limits_of(LAB).cell_seconds == 30


def test_an_empty_salt_is_no_secret_and_the_environments_comes_before_the_files(
    course_at, monkeypatch, tmp_path
):
    monkeypatch.delenv("COURSE_SALT", raising=False)
    file = tmp_path / "salt"
    monkeypatch.setenv("COURSE_SALT_FILE", str(file))
    course_at("")
    assert len(settings().salt) == 32 and file.read_text() == settings().salt
    assert file.stat().st_mode & 0o777 == 0o600 and [*tmp_path.iterdir()] == [file]
    file.write_text("\n")
    course_at("")
    with pytest.raises(UserError, match="is empty: restore the file"):
        settings()
    monkeypatch.setenv("COURSE_SALT", "secret")
    course_at('salt = "published by mistake"\n')
    assert settings().salt == "secret"


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
def test_a_day_ends_at_the_hour_of_the_due_date(course_at, due: str, received: str, days: int) -> None:
    course_at(policy(due))
    late = (utc(received) - settings().due(LAB)).total_seconds()
    assert (settings().penalty(LAB, 20.0, late) or 0.0) == pytest.approx(2 * days)


def test_the_days_of_lateness_begin_where_the_students_own_extension_ends(course_at, tmp_path):
    course_at(policy("2026-10-23T18:00:00", "extensions = { ada = 1 }\n"))
    with open_gradebook(LAB, tmp_path) as book:
        for student, received in (("ada", "2026-10-25 17:30"), ("bo", "2026-10-24 18:30")):
            time = f"{utc(received)} UTC"
            rows = (QuestionResult("normalise_rows", 2.0, 2.0),)
            book.write(SubmissionResult(student, LAB, "graded", 2.0, 20.0, 0.0, rows, submitted_at=time))
        marks = book.apply_policy()
        assert marks["ada"].due == utc("2026-10-24 18:00")
        off = {name: own.late_penalty for name, own in marks.items()}
        assert off == pytest.approx({"ada": 0.2, "bo": 0.4}), "ten percent for one day, and for two"


def test_an_extension_moves_the_closing_on_the_courses_clock(course_at) -> None:
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
