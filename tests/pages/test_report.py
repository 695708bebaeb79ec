"""The class report counts what happened, measures the questions and accuses nobody without reason."""

from __future__ import annotations

import dataclasses
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
from autograder.pages.similarity import MAX_READ, Answers, alike_groups, answers
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.pipeline import ClassResult
from autograder.run.plan import Plan
from tests.fixtures.html_reader import read

QUESTIONS = (("one_hot", 4.0), ("softmax", 6.0))


def scored(make_result, *points: tuple[float, float]) -> list[SubmissionResult]:
    return [make_result(f"s{index:02}", *pair) for index, pair in enumerate(points)]


def text_of(path: Path) -> str:
    page = re.sub(r"<(style|script)>.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


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


def test_the_report_counts_statuses_and_misconceptions(tmp_path, spec, make_result, monkeypatch):
    wrong = QuestionResult(
        "softmax", 0, 6, misconception="softmax over queries", hint="Use the **last** axis."
    )
    rows = [
        make_result("ada"),
        make_result("bo", questions=(wrong,), score=0),
        make_result("cy", questions=(wrong,), score=0, status="timed-out"),
        make_result("di", status="missing", questions=(), notebook="", score=0),
    ]
    FeedbackWriter(spec, tmp_path).write(rows[0])
    write_atomically(tmp_path / "report" / "demos" / "axis.html", "")
    places = {"softmax": Place(demo="Which axis?", demo_address="demos/axis.html")}
    monkeypatch.setattr("autograder.pages.report.places_of", lambda *_: places)
    rows[0] = dataclasses.replace(rows[0], isolation="reduced (own user id, limits)")
    path = build_report(iter(rows), spec, tmp_path)
    page, text = path.read_text(encoding="utf-8"), text_of(path)
    assert path == tmp_path / "report/00_warm_up.html"
    assert "3 submissions read, of 4 students" in text
    assert 'href="demos/axis.html"' in page
    assert "softmax over queries bo , cy hint Use the last axis. softmax" in text and "Which axis?" in text
    assert "timed-out : a cell ran out of time and was stopped who cy 1" in text
    assert 'href="../feedback/ada/00_warm_up/00_warm_up.html"' in page
    assert (
        text.index("What the class misunderstands")
        < re.search(r"Half of the class|students have all", text).start()
    )
    assert "--lost: 100%" in page, "what was lost is tinted"
    assert "1 of 3 submissions were graded with isolation “reduced (own user id, limits)” only" in text


def test_the_headline_tells_what_half_of_the_class_has(tmp_path, spec, make_result):
    alone = text_of(build_report([make_result("ada")], spec, tmp_path))
    assert "1 of 1 student has all 10 points" in alone and "Discrimination" not in alone
    few = text_of(build_report([make_result(f"s{n}", *[1, 1] * (n < 1)) for n in range(9)], spec, tmp_path))
    assert "look at its tests" not in few and "separates" not in few, "one of nine lost points"
    lower = [make_result("ada"), make_result("bo", 1, 1)]
    assert "Half of the class has 6 points or more" in text_of(build_report(lower, spec, tmp_path))
    assert "0 submissions read" in text_of(build_report([], spec, tmp_path))


def test_misconceptions_of_single_students_are_folded_below_the_shared_ones(tmp_path, spec, make_result):
    def wrong(n: int) -> QuestionResult:
        return QuestionResult("softmax", 0, 6, misconception=f"idea {n}", hint="")

    rows = [
        make_result(f"s{n}{k}", questions=(wrong(n),)) for n in range(12) for k in range(2 if n < 3 else 1)
    ]
    text = text_of(build_report(rows, spec, tmp_path))
    assert text.index("idea 2 s20 , s21") < text.index("9 single cases, 54 points in all")
    assert "What the class misunderstands" in text and text.index("in all") < text.index("idea 9 s90")
    alone = text_of(build_report(rows[-1:], spec, tmp_path))
    assert "No misconception is shared by two students" in alone


def test_names_titles_and_demos_cannot_become_markup(tmp_path, spec, make_result):
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    wrong = QuestionResult("softmax", 0, 6, misconception=hostile, hint=hostile)
    path = build_report([make_result(hostile, questions=(wrong,))], spec, tmp_path)
    seen = read(path.read_text(encoding="utf-8")).tags
    assert [tag for tag, _ in seen].count("script") == 1
    assert "img" not in {tag for tag, _ in seen}
    assert not any("onerror" in attributes for _, attributes in seen)


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


def class_of(spec, submit, make_result, sources: dict[str, dict[str, str]]) -> dict[str, Answers]:
    return {
        name: answers(make_result(name, notebook=submit(spec, cells)), spec)
        for name, cells in sources.items()
    }


def test_renaming_comments_and_lines_that_are_no_python_hide_nothing(spec, submit, make_result):
    sources = {f"honest{i}": {"softmax": function(i)} for i in range(20)}
    sources["ada"] = {"softmax": function(99)}
    sources["bo"] = {
        "softmax": "!echo it's mine\n" + re.sub(r"#.*", "# mine", function(99, prefix="renamed"))
    }
    groups = alike_groups(class_of(spec, submit, make_result, sources), spec)[0]
    assert [(group.students, group.what) for group in groups] == [(("ada", "bo"), "code")]


def test_code_in_added_cells_is_compared(spec, submit, make_result):
    def with_cell(source: str) -> str:
        made = json.loads(submit(spec, {}))
        cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": 1}
        return json.dumps({**made, "cells": [cell, *made["cells"]]})

    notebooks = {"ada": function(7), "bo": function(7, prefix="own"), "cy": function(8)}
    found = {
        name: answers(make_result(name, notebook=with_cell(code)), spec) for name, code in notebooks.items()
    }
    [group] = alike_groups(found, spec)[0]
    assert group.students == ("ada", "bo")


def test_what_everybody_may_have_accuses_nobody(spec, submit, make_result):
    """Short right answers, known answers, lines that many wrote, what the notebook gave."""
    short = "def softmax(x):\n    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"
    for source, count, known in ((short, 3, []), (function(5), 2, [function(5)]), (function(7), 6, [])):
        submissions = class_of(
            spec, submit, make_result, {f"s{i}": {"softmax": source} for i in range(count)}
        )
        assert alike_groups(submissions, spec, known_answers=known)[0] == []
        if known:
            assert len(alike_groups(submissions, spec)[0]) == 1
    given = " ".join(cell.source for cell in spec.cells) * 10
    repeated = class_of(spec, submit, make_result, {name: {"why_softmax": given} for name in ("ada", "bo")})
    assert alike_groups(repeated, spec)[0] == []


def test_the_same_long_prose_is_a_group_and_a_short_sentence_is_none(spec, submit, make_result):
    long_text = " ".join(f"thought{index}" for index in range(40))
    texts = {
        "ada": long_text,
        "bo": long_text + " indeed",
        "cy": "Rows sum to one.",
        "di": "Rows sum to one.",
    }
    sources = {name: {"why_softmax": text} for name, text in texts.items()}
    [group] = alike_groups(class_of(spec, submit, make_result, sources), spec)[0]
    assert (group.students, group.what, group.lowest < 1) == (("ada", "bo"), "prose", True)


def test_who_wrote_too_much_is_named_on_the_report(tmp_path, spec, submit, make_result):
    sources = {"long": {"softmax": "x = 1\n" * MAX_READ, "why_softmax": "a " * 90_000}}
    sources |= {name: {"softmax": function(3)} for name in ("ada", "bo")}
    rows = [make_result(name, notebook=submit(spec, cells)) for name, cells in sources.items()]
    text = text_of(build_report([*rows, make_result("di", notebook="")], spec, tmp_path))
    for what in ("code is", "written answers are"):
        assert f"their {what} far longer than any that is asked for: long ." in text
    assert "ada , bo the code 100%" in text and "Alike does not mean copied." in text
    alone = build_report([make_result("ada", notebook=rows[1].notebook)], spec, tmp_path)
    assert "No two submissions are suspiciously alike" in text_of(alone)


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
