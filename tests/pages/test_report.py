"""The class report counts what happened, measures the questions and accuses nobody without reason."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from autograder.cli.grade_table import show
from autograder.files import write_atomically
from autograder.gradebook.final_points import TeacherMarks
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.places import Place
from autograder.pages.report import build_report, question_headline, question_statistics
from autograder.pages.similarity import MAX_READ, alike_groups, answers
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.pipeline import ClassResult
from autograder.run.plan import Plan
from tests.fixtures.html_reader import read

QUESTIONS = (("one_hot", 4.0), ("softmax", 6.0))


def scored(make_result, *points: tuple[float, float]) -> list[SubmissionResult]:
    return [make_result(f"s{index:02}", *pair) for index, pair in enumerate(points)]


@pytest.fixture
def report(spec, tmp_path):
    """What a class's report says."""
    return lambda rows: read(build_report(rows, spec, tmp_path).read_text(encoding="utf-8")).text


def test_difficulty_and_discrimination_are_those_of_the_definition(make_result):
    rows = scored(make_result, (4, 6), (4, 3), (2, 3), (0, 0), (1, 6))
    one_hot, softmax = question_statistics(rows, QUESTIONS)
    assert one_hot["mean_share"] == pytest.approx((4 + 4 + 2 + 0 + 1) / 20)
    assert (one_hot["full_share"], one_hot["zero_share"]) == (0.4, 0.2)
    expected = np.corrcoef([4, 4, 2, 0, 1], [6, 3, 3, 0, 6])[0, 1]
    assert one_hot["discrimination"] == softmax["discrimination"] == pytest.approx(expected), "itself not in"
    same = scored(make_result, (4, 6), (4, 3), (4, 0))
    assert question_statistics(same, QUESTIONS)[0]["discrimination"] is None
    assert question_statistics([rows[0], rows[2]], QUESTIONS)[0]["discrimination"] is None


def wrong(idea: str = "softmax over queries", hint: str = "") -> QuestionResult:
    return QuestionResult("softmax", 0, 6, misconception=idea, hint=hint)


def test_the_report_counts_statuses_and_misconceptions(tmp_path, spec, make_result, monkeypatch):
    lost = (wrong(hint="Use the **last** axis."),)
    rows = [
        make_result("ada", isolation="reduced (own user id, limits)"),
        make_result("bo", questions=lost, score=0),
        make_result("cy", questions=lost, score=0, status="timed-out"),
        make_result("di", status="missing", questions=(), notebook="", score=0),
    ]
    FeedbackWriter(spec, tmp_path).write(rows[0])
    write_atomically(tmp_path / "report" / "demos" / "axis.html", "")
    places = {"softmax": Place(demo="Which axis?", demo_address="demos/axis.html")}
    monkeypatch.setattr("autograder.pages.report.places_of", lambda *_: places)
    path = build_report(reversed(rows), spec, tmp_path)
    assert path == tmp_path / "report/00_warm_up.html"
    page = path.read_text(encoding="utf-8")
    text = read(page).text
    for said in (
        "3submissions read, of 4 students",
        "Demo for this lab: Which axis?",
        "softmax over queriesbo, cy hintUse the last axis. softmax",
        "timed-out: a cell ran out of time and was stoppedwhocy1",
        "1 of 3 submissions were graded with isolation “reduced (own user id, limits)” only",
    ):
        assert said in text
    headline = re.search(r"Half of the class|students have all", text)
    assert text.index("What the class misunderstands") < headline.start()
    links = {attributes["href"] for tag, attributes in read(page).tags if tag == "a"}
    assert {"demos/axis.html", "../feedback/ada/00_warm_up/00_warm_up.html"} <= links
    assert "--lost: 100%" in page, "what was lost is tinted"


def test_the_headline_tells_what_half_of_the_class_has(report, make_result):
    ada = make_result("ada")
    alone = report([ada])
    assert "1 of 1 student has all 10 points" in alone and "Discrimination" not in alone
    few = report([make_result(f"s{n}", *[1, 1] * (n < 1)) for n in range(9)])
    assert "look at its tests" not in few and "separates" not in few, "one of nine lost points"
    assert "Half of the class has 6 points or more" in report([ada, make_result("bo", 1, 1)])
    assert "0submissions read" in report([])


def test_misconceptions_of_single_students_are_folded_below_the_shared_ones(report, make_result):
    who = [(n, k) for n in range(12) for k in range(2 if n < 3 else 1)]
    rows = [make_result(f"s{n}{k}", questions=(wrong(f"idea {n}"),)) for n, k in who]
    text = report(rows)
    assert text.index("idea 2s20, s21") < text.index("9 single cases, 54 points in all")
    assert "What the class misunderstands" in text and text.index("in all") < text.index("idea 9s90")
    assert "No misconception is shared by two students" in report(rows[-1:])


# Likeness


def function(seed: int, name: str = "softmax", prefix: str = "value") -> str:
    """A long function that nobody else writes: random operations in a random order."""
    rng = random.Random(seed)
    lines = [f"def {name}(x):"]
    for index in range(12):
        operation = rng.choice(["sorted", "list", "set", "tuple", "sum", "max", "min", "len"])
        numbers = ", ".join(str(rng.randrange(1000)) for _ in range(3))
        lines.append(f"    {prefix}_{index} = {operation}([{numbers}])  # step {index}")
    return "\n".join([*lines, f"    return {prefix}_0"])


@pytest.fixture
def alike(spec, submit, make_result):
    """``alike({"ada": {"softmax": code}})``: the groups among these answers, or these notebooks, and whether they are the same."""

    def alike(sources: dict[str, dict[str, str] | str], **more: object) -> list[tuple]:
        texts = {name: one if isinstance(one, str) else submit(spec, one) for name, one in sources.items()}
        found = {name: answers(make_result(name, notebook=text), spec) for name, text in texts.items()}
        groups, _ = alike_groups(found, spec, **more)
        return [(group.students, group.what, group.lowest == 1) for group in groups]

    return alike


def test_renaming_comments_and_lines_that_are_no_python_hide_nothing(alike):
    sources = {f"honest{i}": {"softmax": function(i)} for i in range(20)}
    mine = "!echo it's mine\n" + re.sub(r"#.*", "# mine", function(99, prefix="renamed"))
    sources |= {"ada": {"softmax": function(99)}, "bo": {"softmax": mine}}
    assert alike(sources) == [(("ada", "bo"), "code", False)]


def test_code_in_added_cells_is_compared(alike, spec, submit):
    made = json.loads(submit(spec, {}))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1}
    sources = {"ada": function(7), "bo": function(7, prefix="own"), "cy": function(8)}
    notebooks = {
        name: json.dumps({**made, "cells": [{**cell, "source": source}, *made["cells"]]})
        for name, source in sources.items()
    }
    assert [students for students, *_ in alike(notebooks)] == [("ada", "bo")]


def test_what_everybody_may_have_accuses_nobody(alike, spec):
    """Short right answers, known answers, lines that many wrote, what the notebook gave."""
    short = "def softmax(x):\n    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"
    two = {name: {"softmax": function(5)} for name in ("ada", "bo")}
    assert len(alike(two)) == 1 and alike(two, known_answers=[function(5)]) == []
    for source, count in ((short, 3), (function(7), 6)):
        assert alike({f"s{i}": {"softmax": source} for i in range(count)}) == []
    given = " ".join(cell.source for cell in spec.cells) * 10
    assert alike({name: {"why_softmax": given} for name in two}) == []


def test_the_same_long_prose_is_a_group_and_a_short_sentence_is_none(alike):
    long, short = " ".join(f"thought{index}" for index in range(40)), "Rows sum to one."
    texts = {"ada": long, "bo": f"{long} indeed", "cy": short, "di": short}
    found = alike({name: {"why_softmax": text} for name, text in texts.items()})
    assert found == [(("ada", "bo"), "prose", False)]


def test_who_wrote_too_much_is_named_on_the_report(report, spec, submit, make_result):
    sources = {"long": {"softmax": "x = 1\n" * MAX_READ, "why_softmax": "a " * 90_000}}
    sources |= {name: {"softmax": function(3)} for name in ("ada", "bo")}
    rows = [make_result(name, notebook=submit(spec, cells)) for name, cells in sources.items()]
    text = report([*rows, make_result("di", notebook="")])
    for what in ("code is", "written answers are"):
        assert f"their {what} far longer than any that is asked for: long." in text
    assert "ada, bothe code100%" in text and "Alike does not mean copied." in text
    alone = report([make_result("ada", notebook=rows[1].notebook)])
    assert "No two submissions are suspiciously alike" in alone


def screen(rows: tuple[SubmissionResult, ...], tmp_path: Path, *more: object, width: int = 400) -> str:
    """What the terminal shows of a class."""
    done = ClassResult(
        "03_votes_to_attention", rows, Plan((), (), {}), {}, (), tmp_path, tmp_path / "report.html", *more
    )
    console = Console(record=True, width=width)
    show(console, done, 1.0, tmp_path / "results.json", say_why=False)
    return console.export_text()


def test_the_screen_has_one_line_a_student_those_in_trouble_first(make_result, tmp_path):
    idea = "softmax over queries instead of keys"
    wrong = QuestionResult("softmax", 2, 6, (), idea, cause=idea)
    rows = (
        make_result("ada"), make_result("bo", score=2.0, questions=(QuestionResult("one_hot", 0, 4, cause="x " * 99), wrong)),
        make_result("cy", 4, 2, status="partly-run", notes=("The cell that begins `x` stopped: NameError",), questions=(wrong,)),
    )  # fmt: skip
    lines = screen(rows, tmp_path, width=80).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["bo", "cy", "ada"] and not lines[4].strip()
    assert "Q1: softmax over queries instead of keys" in lines[2] and max(map(len, lines)) <= 80
    assert "Q1–Q3: softmax over" in screen((make_result("di", questions=(wrong,) * 3),), tmp_path)
    shared = screen((*rows, make_result("di", questions=(wrong,))), tmp_path)
    assert "2 × Q1 softmax" in shared and not any(" × Q" in line for line in lines), "shared ideas only"


def test_the_screen_says_the_same_mean_as_the_report_and_who_has_no_folder_any_more(
    make_result, tmp_path, course_at
):
    rows = tuple(scored(make_result, (4, 6), (4, 3), (1, 3)))
    unread = tuple(make_result(name, 0, 0, status=name, notebook="") for name in ("unreadable", "missing"))
    marks = {"s00": TeacherMarks(late_penalty=2), "bo": TeacherMarks(late_penalty=5)}
    said = screen(rows, tmp_path, marks, ("bo",))
    assert "3 submissions, mean 7.0 of 10 points\n" in said
    assert "lateness takes 2 points off 1 of them, 2 at most" in said, "nobody's but the class's"
    assert f"Graded into {tmp_path} before, and without a folder now: bo." in said
    words = "5 submissions, mean 7.0 of 10 points over the 3 read\n"
    assert words in screen((*rows, *unread), tmp_path)
    assert "1 submissions, none could be read\n" in screen(unread[:1], tmp_path)
    course_at("[labs.03]\ndue = 2026-03-01T12:00:00\ncloses = 2026-03-01T13:00:00\n")
    late = screen(rows, tmp_path, {"s00": TeacherMarks(late_penalty=10, seconds_late=172_800)})
    assert "−10 late (closed, 2 days)" in late and "1 came in after the lab had closed" in late


def test_the_hardest_question_is_named_with_those_that_were_as_hard():
    for shares, headline in {
        (0.5, 0.9, 0.8): "a was the hardest: 50% of its points were earned",
        (0.504, 0.9, 0.496): "a and c were the hardest: 50% of their points were earned",
        (0.7, 0.7, 0.7): "All questions were equally hard: 70% of their points were earned",
        (0.96, 1.0, 1.0): "No question was hard for this class",
        (0.3,): "",
    }.items():
        rows = [{"name": "abc"[n], "mean_share": share} for n, share in enumerate(shares)]
        assert question_headline(rows) == headline
