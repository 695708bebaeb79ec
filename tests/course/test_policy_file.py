"""The course's policy: a mistake is refused with its line, and what it says is what happens."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console

from autograder.cli import check_course
from autograder.course import policy_file
from autograder.course.masters import course_root, lab_as_written, lab_name
from autograder.course.policy_file import GRADED_LIMITS, limits_of, settings, spec
from autograder.errors import UserError
from autograder.grading.cache_keys import changed_parts, context_of
from autograder.grading.off_limits import forbidden_used
from autograder.sandbox.limits import Limits

LAB = "01_markov_bigram"

COURSE = """\
name = "A course"
timezone = "Europe/Berlin"

[late]
percent_per_day = 10
at_most_percent = 50
grace_minutes = 15

[limits]
cell_seconds = 9
call_seconds = 8

[extensions]
ada = 2

[labs.01]
due = 2026-10-15
points = { normalise_rows = 30 }
forbid.normalise_rows = ["numpy.divide"]

[labs.01.limits]
cell_seconds = 20

[labs.01.extensions]
bo = 2026-10-20T12:00:00
"""


def test_a_date_means_its_last_second_on_the_courses_clock_in_quotes_or_not_also_behind_a_byte_order_mark(
    course_at,
):
    for quotes in ("", '"'):
        course_at(
            f"[labs.01]\ndue = {quotes}2026-10-15{quotes}\ncloses = {quotes}2026-10-16T08:00:00Z{quotes}\n"
        )
        assert settings().due(LAB) == datetime(2026, 10, 15, 23, 59, 59)
        assert settings().closes(LAB) == datetime(2026, 10, 16, 8)
    course_at("\ufeff" + COURSE)
    assert settings().due(LAB) == datetime(2026, 10, 15, 21, 59, 59)


@pytest.mark.parametrize(
    ("right", "wrong", "line", "words"),
    [
        ("percent_per_day = 10", "percent_per_day = 1000", 5, "late.percent_per_day"),
        ("percent_per_day = 10\n", "", 4, "field required"),
        ("cell_seconds = 9", "cell_seconds = -1", 10, "limits.cell_seconds"),
        ("cell_seconds = 20", "cell_second = 20", 22, "there is no such setting"),
        ("ada = 2", 'ada = "two"', 14, "number of days"),
        ("due = 2026-10-15", "due = 20261015", 17, "a date is written 2026-10-15"),
        ("due = 2026-10-15", 'due = "15.10.2026"', 17, "labs.01.due"),
        ("bo = 2026-10-20T12:00:00", "bo = 2025-10-20", 25, "ends before the lab is due"),
        ("normalise_rows = 30", "normalise_rows = 1e308", 18, "less than or equal to 1000000"),
        ("[labs.01]", "[labs.77]", 16, "there is no lab “77”"),
        ("{ normalise_rows = 30 }", "{ normalize_rows = 30 }", 18, "no question “normalize_rows”"),
        ("forbid.normalise_rows", "forbid.softmax", 19, "no question “softmax”"),
        ("due = 2026-10-15", "", 25, "needs the lab's own due date"),
        ("Europe/Berlin", "Berlin", 2, "there is no time zone “Berlin”"),
        ("[late]", "[late", 4, "not valid TOML"),
        ('name = "A course"', 'nmae = "A course"', 1, "there is no such setting"),
        (COURSE, "x = " + "[" * 5_000, 0, "brackets stand inside one another too deep"),
        (COURSE, "[labs.01]\n[labs.1]\n", 2, f"lab {LAB} has a section of its own already"),
        (COURSE, "[limits]\ntotal_seconds = 1e300\n", 2, "limits.total_seconds"),
        (COURSE, "[limits]\nmemory_bytes = 99999999999999999999\n", 2, "limits.memory_bytes"),
        (COURSE, "[limits]\ncell_seconds = true\n", 2, "no numbers"),
        (COURSE, "[extensions]\nada = true\n", 2, "number of days"),
        (COURSE, "[late]\npercent_per_day = true\n", 2, "no numbers"),
        (COURSE, "[live]\nattempts = true\n", 2, "no numbers"),
        (COURSE, "[labs.01]\npoints = { normalise_rows = true }\n", 2, "no numbers"),
        (COURSE, "[labs.01]\ndue = 0001-01-01T00:00:00+14:00\n", 2, "between the years"),
        (COURSE, "[labs.01]\ndue = 9999-12-31\n", 2, "between the years"),
    ],
)
def test_a_mistake_is_refused_in_one_sentence_with_its_line(course_at, right, wrong, line, words):
    assert COURSE.count(right) == 1
    course_at(COURSE.replace(right, wrong))
    with pytest.raises(UserError) as caught:
        settings()
    assert (not line or f"line {line}" in str(caught.value)) and words in str(caught.value)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_points_of_the_policy_reach_the_lab_its_cells_and_its_total(course_at):
    plain = lab_as_written(LAB)
    course_at(COURSE)
    changed = spec(LAB)
    assert dict(changed.questions)["normalise_rows"] == 30
    assert changed.max_score == plain.max_score - dict(plain.questions)["normalise_rows"] + 30
    cell = next(
        c for c in changed.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "test_normalise_rows"
    )
    assert cell.metadata.nbgrader["points"] == 30
    assert dict(lab_as_written(LAB).questions) == dict(plain.questions)


def test_a_function_that_the_policy_forbids_is_found(course_at):
    source = "import numpy as np\ndef normalise_rows(N):\n    return np.divide(N, N.sum(1, keepdims=True))"
    assert forbidden_used(LAB, "normalise_rows", [source]) == ()
    course_at(COURSE)
    assert forbidden_used(LAB, "normalise_rows", [source]) == ("numpy.divide",)


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


def shown(*folder):
    """``check-course``: its row for each lab, and what it prints."""
    said = StringIO()
    rows = {row["lab"]: row for row in check_course.show(Console(file=said, width=300), *folder)}
    return rows, said.getvalue()


def test_check_course_shows_the_courses_own_clock_in_summer_and_winter(course_at):
    course_at(
        'timezone = "Europe/Berlin"\n[labs.01]\ndue = 2026-07-01T21:30:00Z\ncloses = 2026-12-31T23:30:00Z\n'
        "[labs.02]\ndue = 2026-07-05T12:00:00\n"
    )
    rows, said = shown()
    heading = "due (Europe/Berlin)"
    assert (rows[lab_name("01")][heading], rows[lab_name("01")]["closes"]) == (
        "2026-07-01 23:30",
        "2027-01-01 00:30",
    )
    assert rows[lab_name("02")][heading] == "2026-07-05 12:00"
    assert "2026-07-01 23:30" in said and heading in said


def test_check_course_shows_until_when_each_person_has_an_extension(course_at, tmp_path, monkeypatch):
    (tmp_path / "roster.csv").write_text(
        "student,name,email,extension\nada,Ada,ada@uni.edu,\nbo,Bo,bo@uni.edu,2\ncy,Cy,c@uni.edu,1\n"
    )
    monkeypatch.setenv("COURSE_ROSTER", str(tmp_path / "roster.csv"))
    course_at(
        'timezone = "Europe/Berlin"\n[extensions]\n"ada@uni.edu" = 1\n[labs.01]\ndue = 2026-10-24\n'
        "[labs.01.extensions]\nbo = 2026-10-30T12:00:00\n"
    )
    policy_file.extensions_file().write_text("lab,student,days\n01,Ada,3\n01,cy,0\n")
    rows, _ = shown()
    assert rows[LAB]["extensions"] == "ada (2026-10-27 23:59), bo (2026-10-30 12:00)"
    assert rows[lab_name("02")]["extensions"] == "ada, bo, cy", (
        "without a due date there is nothing to count from"
    )


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
def test_an_extension_ends_at_the_same_hour_whatever_the_clocks_were_put_to(
    course_at, tmp_path, monkeypatch, due, until
):
    (tmp_path / "roster.csv").write_text("student,extension\ncy,3\n")
    monkeypatch.setenv("COURSE_ROSTER", str(tmp_path / "roster.csv"))
    course_at(f'timezone = "Europe/Berlin"\n[labs.01]\ndue = {due}\n[extensions]\nada = 3\n')
    policy_file.extensions_file().write_text("lab,student,days\n01,bo,3\n")
    for student in ("ada", "bo", "cy"):
        longer = policy_file.extension_of(LAB, student)
        assert str(settings().local(settings().due(LAB) + longer)) == until


def test_part_of_a_day_is_part_of_24_hours_also_while_the_clocks_are_put_back(course_at):
    course_at('timezone = "Europe/Berlin"\n[labs.01]\ndue = 2026-10-25T01:30:00Z\n')  # the second 02:30
    assert settings().length_of(LAB, 0.5) == timedelta(hours=12)
    assert settings().length_of("02_dirichlet_map", 2.5) == timedelta(days=2.5), "no due date, no clock"


@pytest.mark.parametrize(
    ("seconds", "penalty"),
    [(0, None), (15 * 60, None), (15 * 60 + 1, 2.0), (86_400, 2.0), (86_401, 4.0), (40 * 86_400, 10.0)],
)
def test_lateness_costs_a_share_for_each_day_begun_after_the_grace(course_at, seconds, penalty):
    course_at(
        "[labs.01]\ndue = 2026-10-15\nlate = { percent_per_day = 10, at_most_percent = 50, grace_minutes = 15 }\n"
    )
    assert settings().penalty(LAB, 20.0, seconds) == penalty


def test_the_salt_comes_from_the_environment_before_the_file(course_at, monkeypatch):
    monkeypatch.setenv("COURSE_SALT", "secret")
    course_at('salt = "published by mistake"\n')
    assert settings().salt == "secret"


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
    assert settings().extension(lab, "ada") == timedelta(days=3)
    assert settings().penalty(lab, 10, 86_000) == 2
    assert limits_of(lab).cell_seconds == 30
    assert dict(spec(lab).questions)["causal_mask"] == 3


def test_the_courses_own_file_is_valid_with_every_sample_switched_on(course_at):
    lines = (course_root() / "course.toml").read_text(encoding="utf-8").splitlines()
    sample = [re.sub(r"^# (?=\[|\w+(\.\w+)* = )", "", line) for line in lines]
    course_at("\n".join(sample))
    assert settings().extension(LAB, "ada") == timedelta(days=3)
    assert settings().has_late_rule(LAB) and limits_of(LAB).cell_seconds == 30


def test_an_empty_salt_is_no_secret(course_at, monkeypatch, tmp_path):
    monkeypatch.delenv("COURSE_SALT", raising=False)
    file = tmp_path / "salt"
    monkeypatch.setenv("COURSE_SALT_FILE", str(file))
    course_at("")
    assert len(settings().salt) == 32 and file.read_text() == settings().salt
    assert file.stat().st_mode & 0o777 == 0o600 and [path.name for path in tmp_path.glob("*salt*")] == [
        "salt"
    ]
    file.write_text("\n")
    course_at("")
    with pytest.raises(UserError, match="is empty: restore the file"):
        settings()
