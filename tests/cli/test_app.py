"""The commands after grading: lateness, marks that people entered, exports, collecting, mistakes in one sentence."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.cli.app import main
from autograder.course.policy_file import spec
from autograder.files import feedback_page
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, command
from tests.gradebook.by_hand import enter

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

POLICY = """\
[late]
percent_per_day = 10
[labs.01]
due = 2026-10-02T12:00:00
[labs.01.extensions]
"""


def fine(done: subprocess.CompletedProcess) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def page_of(folder: Path, student: str) -> str:
    return feedback_page(folder / "out", student, LAB).read_text(encoding="utf-8")


def penalty(folder: Path, student: str) -> float | None:
    with Gradebook(f"sqlite:///{folder / 'out' / 'gradebook.db'}") as book:
        return book.find_submission_notebook(LAB, LAB, student).late_submission_penalty


def score_of(folder: Path, student: str) -> float:
    rows = json.loads((folder / "out" / "results.json").read_text())
    return next(row["score"] for row in rows if row["student"] == student)


def test_a_due_date_set_later_costs_points_but_without_a_true_time_nobody_is_late_until_a_list_gives_it(
    graded, frozen, tmp_path
):
    course = tmp_path / "course.toml"
    course.write_text(POLICY)
    words = ("regrade", "01", "--submitted", graded / "submitted", "--out", graded / "out")
    said = fine(command(*words, root=frozen, COURSE_FILE=str(course)))
    assert "3 unchanged" in said
    assert penalty(graded, "bo") == pytest.approx(0.2 * score_of(graded, "bo"))
    assert penalty(graded, "ada") is None
    assert "2 days after the due date" in page_of(graded, "bo")
    (graded / "submitted" / "bo" / LAB / "timestamp.txt").unlink()
    said = fine(command(*words, root=frozen, COURSE_FILE=str(course)))
    assert penalty(graded, "bo") is None, "what was once known of the time is known no more"
    sentence = "Lateness was not counted for 1 of 2 submissions"
    assert sentence in " ".join(said.split()) and "3 unchanged" in said
    most = 20 + sum(points for _, points in spec(LAB).written)
    assert f"the tests give at most 20 points, with the written answers it is {most:g}" in said
    assert sentence in (graded / "out" / "report" / f"{LAB}.html").read_text()
    checked = fine(command("check-course", root=frozen, COURSE_FILE=str(course)))
    shown = " ".join(checked.split())
    assert "Without a time nobody is late" in shown
    assert LAB in shown and "2026-10-02 12:00" in shown and "10% a day" in shown
    times = tmp_path / "times.csv"
    times.write_text("student;time\nada;2026-10-01 12:00 UTC\nbo;2026-10-02 12:01 UTC\n")
    fine(
        command(
            "collect", graded / "submitted", "01", "--submitted", graded / "submitted", "--times", times,
            root=frozen, COURSE_FILE=str(course),
        )
    )  # fmt: skip
    said = fine(command(*words, root=frozen, COURSE_FILE=str(course)))
    lost = penalty(graded, "bo")
    assert lost == pytest.approx(0.1 * score_of(graded, "bo")) and "3 unchanged" in said
    [row] = [line for line in said.splitlines() if line.startswith("bo ")]
    assert f"−{lost:g} late (1 minute)" in row and f" {score_of(graded, 'bo') - lost:g}/20 " in row
    assert f"lateness takes {lost:g} points off 1 of them" in said
    course.write_text(POLICY + "bo = 2\n")
    fine(command(*words, root=frozen, COURSE_FILE=str(course)))
    assert penalty(graded, "bo") is None and "after the due date" not in page_of(graded, "bo")


def test_after_closing_there_are_no_points_and_an_extension_gives_them_back(graded, frozen, tmp_path):
    course = tmp_path / "course.toml"
    closed = "[labs.01]\ndue = 2026-10-02T12:00:00\ncloses = 2026-10-03T12:00:00\n"
    course.write_text(closed)
    words = ("regrade", "01", "--submitted", graded / "submitted", "--out", graded / "out")
    said = fine(command(*words, root=frozen, COURSE_FILE=str(course)))
    assert penalty(graded, "bo") == score_of(graded, "bo")
    assert "1 came in after the lab had closed" in said and "(closed, 2 days)" in said
    assert "after the lab had closed" in page_of(graded, "bo")
    fine(command("export", "canvas", "01", "--out", graded / "out", root=frozen, COURSE_FILE=str(course)))
    rows = {row[0]: row for row in csv.reader((graded / "out" / "exports" / f"canvas-{LAB}.csv").open())}
    assert rows["bo"][5] == "0" and "closed" in rows["bo"][6]
    course.write_text(closed + "[labs.01.extensions]\nbo = 1\n")
    fine(command(*words, root=frozen, COURSE_FILE=str(course)))
    assert penalty(graded, "bo") is None, "an extension moves the closing, too; here is no other rule"


def test_the_class_list_says_who_is_missing_and_who_is_a_stranger(graded, frozen, tmp_path):
    course = tmp_path / "course.toml"
    course.write_text('roster = "roster.csv"\n[extensions]\nzoe = 2\n')
    (tmp_path / "roster.csv").write_text("student;name;extension\nada;Ada;\ncleo;Cleo;\ndora;Dora;2,5\n")
    words = ("regrade", "01", "--submitted", graded / "submitted", "--out", graded / "out")
    said = fine(command(*words, root=frozen, COURSE_FILE=str(course)))
    [row] = [line for line in said.splitlines() if line.startswith("dora ")]
    assert "missing" in row
    assert "Not on the class list: bo." in said
    assert "an extension to nobody of this class: zoe." in said
    checked = fine(command("check-course", root=frozen, COURSE_FILE=str(course)))
    assert "3 students" in checked and "An extension for nobody on the class list: zoe." in checked


def test_marks_that_people_entered_reach_feedback_report_and_export_and_survive_a_regrade_of_everything(
    graded, frozen, tmp_path
):
    enter(
        graded / "out" / "gradebook.db", LAB, "bo", "test_normalise_rows", "Nearly: look at the axis.",
        manual_score=1.75,
    )  # fmt: skip
    enter(graded / "out" / "gradebook.db", LAB, "bo", "test_second_order", extra_credit=0.5)
    report = graded / "out" / "report" / f"{LAB}.html"
    before = report.read_text()
    assert "3 pages" in fine(command("feedback", "01", "--out", graded / "out", root=frozen))
    page = page_of(graded, "bo")
    assert "Nearly: look at the axis." in page and "gave 1.75 points" in page
    assert str(report) in fine(command("report", "01", "--out", graded / "out", root=frozen))
    assert report.read_text() != before
    roster = tmp_path / "canvas.csv"
    header = f"Student,ID,SIS User ID,SIS Login ID,Section,{LAB} (17)"
    roster.write_text(f"{header}\nLovelace Ada,1,,ada,,\nBohr Bo,2,,bo,,\n")
    said = fine(command("export", "canvas", "01", "--out", graded / "out", "--roster", roster, root=frozen))
    with (graded / "out" / "exports" / f"canvas-{LAB}.csv").open() as file:
        names, *lines = csv.reader(file)
    rows = {row[3]: row for row in lines}
    assert names[5] == f"{LAB} (17)" and rows["ada"][:2] == ["Lovelace Ada", "1"]
    assert "Not found on the list" in said and "cleo" in said
    without = score_of(graded, "bo")
    normalise_rows = next(
        q["points"]
        for row in json.loads((graded / "out" / "results.json").read_text())
        if row["student"] == "bo"
        for q in row["questions"]
        if q["name"] == "normalise_rows"
    )
    assert float(rows["bo"][5]) == pytest.approx(without - normalise_rows + 1.75 + 0.5, abs=0.011)
    assert "answers that wait for a person" in said
    words = ("regrade", "01", "--submitted", graded / "submitted", "--out", graded / "out", "--all")
    assert "asked for: all questions tested" in fine(command(*words, root=frozen))
    with Gradebook(f"sqlite:///{graded / 'out' / 'gradebook.db'}") as book:
        grade = book.find_grade("test_normalise_rows", LAB, LAB, "bo")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.75, True)
        assert book.find_grade("test_second_order", LAB, LAB, "bo").extra_credit == 0.5
    assert "Nearly: look at the axis." in page_of(graded, "bo")


@pytest.fixture
def refused(monkeypatch, capsys):
    """``refused("report", "01", …)``: what a command says that ends with exit status 2 and one sentence."""

    def run(*words: object) -> str:
        monkeypatch.setattr(sys, "argv", ["autograder", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr().err
        assert ended.value.code == 2 and said.startswith("✗ ")
        assert said.strip().endswith(".") and said.count("\n") == 1 and "Traceback" not in said
        return said

    return run


def test_a_persons_mistake_is_one_sentence_and_exit_status_2(graded, refused):
    (graded / "submitted" / "ada" / "x.txt").write_text("a file")
    out, submitted = graded / "out", graded / "submitted"
    odd = "/nowhere/[bold]x[/bold]"
    assert odd in refused("grade", "01", "--submitted", odd, "--out", out)
    refused("grade", "99", "--submitted", submitted, "--out", out)
    refused("grade", "01", "--submitted", submitted, "--out", submitted / "ada" / "x.txt" / "y", "--jobs", 1)
    refused("grade", "01", "--submitted", submitted, "--out", out, "--engine", "cloud")
    refused("report", "01", "--out", "/nowhere")
    refused("export", "excel", "01", "--out", out)


def test_a_wrong_course_file_stops_the_grader_before_anything_runs(graded, frozen, tmp_path):
    course = tmp_path / "course.toml"
    course.write_text("[limits]\ncell_seconds = 0\n")
    before = (graded / "out" / ".results.db").read_bytes()
    done = command(
        "regrade", "01", "--submitted", graded / "submitted", "--out", graded / "out",
        root=frozen, COURSE_FILE=str(course),
    )  # fmt: skip
    assert done.returncode == 2 and "line 2" in done.stderr
    assert (graded / "out" / ".results.db").read_bytes() == before


def test_a_python_that_leaves_out_assertions_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-O", "-m", "autograder.cli", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "PYTHONOPTIMIZE" in done.stderr and "Traceback" not in done.stderr


def test_a_gradebook_or_a_row_that_is_gone_gives_nobody_full_points(graded, refused):
    out = graded / "out"
    (out / "gradebook.db").unlink()
    for words in (["export", "gradescope", "01"], ["report", "01"], ["feedback", "01"], ["report"]):
        assert "holds nothing about ada" in refused(*words, "--out", out)
        assert not (out / "gradebook.db").exists()
    with sqlite3.connect(out / ".results.db") as store:
        store.execute("UPDATE results SET result = substr(result, 1, 100) WHERE student = 'ada'")
    assert "is damaged" in refused("export", "canvas", "01", "--out", out)
