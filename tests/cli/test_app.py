"""The commands after grading: lateness, marks that people entered, exports, collecting, mistakes in one sentence."""

import csv
import json
import sqlite3
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

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


def regrade(graded: Path) -> tuple[object, ...]:
    return "regrade", "01", "--submitted", graded / "submitted", "--out", graded / "out"


def page_of(folder: Path, student: str) -> str:
    return feedback_page(folder / "out", student, LAB).read_text(encoding="utf-8")


def penalty(folder: Path, student: str) -> float | None:
    with Gradebook(f"sqlite:///{folder / 'out' / 'gradebook.db'}") as book:
        return book.find_submission_notebook(LAB, LAB, student).late_submission_penalty


def row_of(folder: Path, student: str) -> dict:
    rows = json.loads((folder / "out" / "results.json").read_text())
    return next(row for row in rows if row["student"] == student)


def test_a_due_date_set_later_costs_points_but_without_a_true_time_nobody_is_late_until_a_list_gives_it(
    graded, said, course_at, tmp_path
):
    course_at(POLICY)
    score = row_of(graded, "bo")["score"]
    assert "3 unchanged" in said(*regrade(graded))
    assert penalty(graded, "bo") == pytest.approx(0.2 * score) and penalty(graded, "ada") is None
    assert "2 days after the due date" in page_of(graded, "bo")
    (graded / "submitted" / "bo" / LAB / "timestamp.txt").unlink()
    shown = said(*regrade(graded))
    assert penalty(graded, "bo") is None, "what was once known of the time is known no more"
    sentence = "Lateness was not counted for 1 of 2 submissions"
    assert sentence in " ".join(shown.split()) and "3 unchanged" in shown
    most = 20 + sum(points for _, points in spec(LAB).written)
    assert f"at most 20 points from the tests, {most:g} where the written answers are decided" in shown
    assert sentence in (graded / "out" / "report" / f"{LAB}.html").read_text()
    shown = " ".join(said("check-course").split())
    assert "Without a time nobody is late" in shown
    assert LAB in shown and "2026-10-02 12:00" in shown and "10% a day" in shown
    times = tmp_path / "times.csv"
    times.write_text("student;time\nada;2026-10-01 12:00 UTC\nbo;2026-10-02 12:01 UTC\n")
    said("collect", graded / "submitted", "01", "--submitted", graded / "submitted", "--times", times)
    shown = said(*regrade(graded))
    lost = penalty(graded, "bo")
    assert lost == pytest.approx(0.1 * score) and "3 unchanged" in shown
    [row] = [line for line in shown.splitlines() if line.startswith("bo ")]
    assert f"−{lost:g} late (1 minute)" in row and f" {score - lost:g}/20 " in row
    assert f"lateness takes {lost:g} points off 1 of them" in shown
    course_at(POLICY + "bo = 2\n")
    said(*regrade(graded))
    assert penalty(graded, "bo") is None and "after the due date" not in page_of(graded, "bo")


def test_the_class_list_says_who_is_missing_and_who_is_a_stranger(graded, said, course_at):
    course_at("[extensions]\nzoe = 2\n", "student;name;extension\nada;Ada;\ncleo;Cleo;\ndora;Dora;2,5\n")
    shown = said("check-course")
    assert "3 students" in shown and "Extensions for names that are not on the class list: zoe." in shown
    shown = said(*regrade(graded))
    [row] = [line for line in shown.splitlines() if line.startswith("dora ")]
    assert "missing" in row and "Not on the class list: bo." in shown
    assert "an extension to nobody of this class: zoe." in shown


def test_marks_that_people_entered_reach_feedback_report_and_export_and_survive_a_regrade_of_everything(
    graded, frozen, said, tmp_path
):
    book, out = graded / "out" / "gradebook.db", graded / "out"
    enter(book, LAB, "bo", "test_normalise_rows", "Nearly: look at the axis.", manual_score=1.75)
    enter(book, LAB, "bo", "test_second_order", extra_credit=0.5)
    report = out / "report" / f"{LAB}.html"
    before = report.read_text()
    assert "3 pages" in said("feedback", "01", "--out", out)
    page = page_of(graded, "bo")
    assert "Nearly: look at the axis." in page and "gave 1.75 points" in page
    assert str(report) in said("report", "01", "--out", out)
    assert report.read_text() != before
    roster = tmp_path / "canvas.csv"
    header = f"Student,ID,SIS User ID,SIS Login ID,Section,{LAB} (17)"
    roster.write_text(f"{header}\nLovelace Ada,1,,ada,,\nBohr Bo,2,,bo,,\n")
    shown = said("export", "canvas", "01", "--out", out, "--roster", roster)
    with (out / "exports" / f"canvas-{LAB}.csv").open() as file:
        names, *lines = csv.reader(file)
    rows = {row[3]: row for row in lines}
    assert names[5] == f"{LAB} (17)" and rows["ada"][:2] == ["Lovelace Ada", "1"]
    assert "Not found on the list" in shown and "cleo" in shown and "answers that wait for a person" in shown
    bo = row_of(graded, "bo")
    [tested] = [q["points"] for q in bo["questions"] if q["name"] == "normalise_rows"]
    assert float(rows["bo"][5]) == pytest.approx(bo["score"] - tested + 1.75 + 0.5, abs=0.011)
    done = command(*regrade(graded), "--all", root=frozen)
    assert "asked for: all questions tested" in done.stdout, done.stdout + done.stderr
    with Gradebook(f"sqlite:///{book}") as gradebook:
        grade = gradebook.find_grade("test_normalise_rows", LAB, LAB, "bo")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.75, True)
        assert gradebook.find_grade("test_second_order", LAB, LAB, "bo").extra_credit == 0.5
    assert "Nearly: look at the axis." in page_of(graded, "bo")


@pytest.fixture
def refused(said):
    """``refused("report", "01", …)``: what a command says that ends with exit status 2 and one sentence."""

    def run(*words: object) -> str:
        sentence = said(*words, status=2)
        assert sentence.startswith("✗ ") and sentence.strip().endswith(".") and sentence.count("\n") == 1
        return sentence

    return run


def test_a_persons_mistake_is_one_sentence_and_exit_status_2(graded, refused, course_at):
    (graded / "submitted" / "ada" / "x.txt").write_text("a file")
    out, submitted = graded / "out", graded / "submitted"
    odd = "/nowhere/[bold]x[/bold]"
    assert odd in refused("grade", "01", "--submitted", odd, "--out", out)
    refused("grade", "99", "--submitted", submitted, "--out", out)
    refused("grade", "01", "--submitted", submitted, "--out", submitted / "ada" / "x.txt" / "y", "--jobs", 1)
    refused("grade", "01", "--submitted", submitted, "--out", out, "--engine", "cloud")
    refused("report", "01", "--out", "/nowhere")
    refused("export", "excel", "01", "--out", out)
    before = (out / ".results.db").read_bytes()
    course_at("[limits]\ncell_seconds = 0\n")
    assert "line 2" in refused(*regrade(graded))
    assert (out / ".results.db").read_bytes() == before


def test_a_gradebook_or_a_row_that_is_gone_gives_nobody_full_points(graded, refused):
    out = graded / "out"
    (out / "gradebook.db").unlink()
    for words in (["export", "gradescope", "01"], ["report", "01"], ["feedback", "01"], ["report"]):
        assert "holds nothing about ada" in refused(*words, "--out", out)
        assert not (out / "gradebook.db").exists()
    with sqlite3.connect(out / ".results.db") as store:
        store.execute("UPDATE results SET result = substr(result, 1, 100) WHERE student = 'ada'")
    assert "is damaged" in refused("export", "canvas", "01", "--out", out)
