"""The class report counts what happened, measures the questions and accuses nobody without reason."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from autograder.cli.grade_table import show_summary
from autograder.course.lab import LabSpec
from autograder.gradebook.final_points import TeacherMarks
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.report import build_report, similarity
from autograder.pages.report.charts import histogram_chart
from autograder.pages.report.page import question_headline
from autograder.pages.report.similarity import Answers, alike_groups, answers, code_lines
from autograder.pages.report.statistics import (
    QuestionStatistics,
    correlation,
    histogram,
    question_statistics,
    round_edges,
)
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.pipeline import ClassResult
from autograder.run.plan import Plan

Make = Callable[..., SubmissionResult]
Submit = Callable[..., str]


def scored(make_result: Make, *points: tuple[float, float]) -> list[SubmissionResult]:
    return [make_result(f"s{index:02}", *pair) for index, pair in enumerate(points)]


def text_of(path: Path) -> str:
    page = re.sub(r"<(style|script)>.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_difficulty_and_discrimination_are_those_of_the_definition(make_result: Make) -> None:
    rows = scored(make_result, (4, 6), (4, 3), (2, 3), (0, 0), (1, 6))
    one_hot, softmax = question_statistics(rows, (("one_hot", 4.0), ("softmax", 6.0)))
    assert one_hot.mean_share == pytest.approx((4 + 4 + 2 + 0 + 1) / 20)
    assert (one_hot.full_share, one_hot.zero_share) == (0.4, 0.2)
    expected = np.corrcoef([4, 4, 2, 0, 1], [6, 3, 3, 0, 6])[0, 1]
    assert one_hot.discrimination == pytest.approx(expected)
    assert softmax.discrimination == pytest.approx(expected)


def test_the_question_itself_is_not_in_the_total_it_is_compared_with(make_result: Make) -> None:
    alternating = scored(make_result, (4, 0), (0, 6), (4, 0), (0, 6))
    assert question_statistics(alternating, (("one_hot", 4.0), ("softmax", 6.0)))[
        0
    ].discrimination == pytest.approx(-1)


def test_no_spread_means_no_discrimination(make_result: Make) -> None:
    found = question_statistics(
        scored(make_result, (4, 6), (4, 3), (4, 0)), (("one_hot", 4.0), ("softmax", 6.0))
    )
    assert found[0].discrimination is None
    assert correlation([1, 2], [1, 2]) is None


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(1e-3, 1e6))
def test_every_value_is_in_exactly_one_bin(values: list[float], largest: float) -> None:
    edges = round_edges(max(largest, *values))
    assert edges[0] == 0 and edges[-1] >= max(values) * (1 - 1e-9) and len(edges) <= 11
    assert sum(histogram(values, edges)) == len(values)


def test_a_value_on_an_edge_belongs_to_the_bin_above_and_the_largest_to_the_last() -> None:
    assert histogram([0, 5, 10], [0, 5, 10]) == [1, 2]


def test_the_chart_is_well_formed_and_escapes_its_words() -> None:
    chart = histogram_chart([1, 2], [0, 1, 2], x_label="<b>", y_label="&", description='"<x>', mean=1.0)
    root = ElementTree.fromstring(str(chart))
    heights = [float(bar.attrib["height"]) for bar in root.iter("rect")]
    assert heights[1] == pytest.approx(2 * heights[0])


def test_the_report_counts_statuses_and_misconceptions(
    tmp_path: Path, spec: LabSpec, make_result: Make
) -> None:
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
    path = build_report(iter(rows), spec, tmp_path, {"softmax over queries": "demos/07 softmax.ipynb"})
    page, text = path.read_text(encoding="utf-8"), text_of(path)
    assert path == tmp_path / "report/00_warm_up.html"
    assert "3 submissions read, of 4 students" in text
    assert 'href="../demos/07%20softmax.ipynb"' in page
    assert re.search(
        r"2 softmax over queries hint and students Use the last axis. bo , cy softmax 07 softmax", text
    )
    assert "timed-out : a cell ran out of time and was stopped who cy 1" in text
    assert 'href="../feedback/ada/00_warm_up/00_warm_up.html"' in page
    assert "graded with isolation" not in text and "Isolation: namespaces" in text


def test_the_report_says_when_submissions_ran_with_less_isolation(
    tmp_path: Path, spec: LabSpec, make_result: Make
) -> None:
    path = build_report(
        [make_result("ada", isolation="reduced (own user id, limits)"), make_result("bo")], spec, tmp_path
    )
    assert "1 of 2 submissions were graded with isolation “reduced (own user id, limits)” only" in text_of(
        path
    )


def test_the_headline_tells_when_half_of_the_class_has_everything(
    tmp_path: Path, spec: LabSpec, make_result: Make
) -> None:
    assert "half of the class has all 10 points" in text_of(
        build_report([make_result("ada")], spec, tmp_path)
    )
    lower = [make_result("ada"), make_result("bo", 1, 1)]
    assert "Half of the class has 6 points or more" in text_of(build_report(lower, spec, tmp_path))


def test_an_empty_class_still_has_a_report(tmp_path: Path, spec: LabSpec) -> None:
    assert "0 submissions read" in text_of(build_report([], spec, tmp_path))


def test_names_titles_and_demos_cannot_become_markup(
    tmp_path: Path, spec: LabSpec, make_result: Make
) -> None:
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    wrong = QuestionResult("softmax", 0, 6, misconception=hostile, hint=hostile)
    path = build_report(
        [make_result(hostile, questions=(wrong,))], spec, tmp_path, {hostile: "javascript:alert(3)"}
    )

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, dict(attrs)))

    seen: list[tuple[str, dict[str, str | None]]] = []
    reader = Tags()
    reader.feed(path.read_text(encoding="utf-8"))
    assert [tag for tag, _ in seen].count("script") == 1
    assert "img" not in {tag for tag, _ in seen}
    assert not any("javascript" in str(a.get("href")) or "onerror" in a for _, a in seen)


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


def class_of(
    spec: LabSpec, submit: Submit, make_result: Make, sources: dict[str, dict[str, str]]
) -> list[Answers]:
    found = [
        answers(make_result(name, notebook=submit(spec, cells)), spec) for name, cells in sources.items()
    ]
    return [one for one in found if one is not None]


def test_renaming_and_comments_do_not_hide_a_shared_function(
    spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    sources = {f"honest{i}": {"softmax": function(i)} for i in range(20)}
    sources["ada"] = {"softmax": function(99)}
    sources["bo"] = {"softmax": re.sub(r"#.*", "# mine", function(99, prefix="renamed"))}
    groups = alike_groups(class_of(spec, submit, make_result, sources), spec).groups
    assert [(group.students, group.what) for group in groups] == [(("ada", "bo"), "code")]
    assert groups[0].lowest == 1.0


def test_short_right_answers_that_must_look_alike_accuse_nobody(
    spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    short = "def softmax(x):\n    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"
    sources = {f"s{i}": {"softmax": short} for i in range(3)}
    assert alike_groups(class_of(spec, submit, make_result, sources), spec).groups == ()


def test_the_known_answer_accuses_nobody(spec: LabSpec, submit: Submit, make_result: Make) -> None:
    sources = {"ada": {"softmax": function(5)}, "bo": {"softmax": function(5)}}
    submissions = class_of(spec, submit, make_result, sources)
    assert len(alike_groups(submissions, spec).groups) == 1
    assert alike_groups(submissions, spec, known_answers=[function(5)]).groups == ()


def test_what_many_wrote_is_common_property(spec: LabSpec, submit: Submit, make_result: Make) -> None:
    sources = {f"s{i}": {"softmax": function(7)} for i in range(6)}
    assert alike_groups(class_of(spec, submit, make_result, sources), spec).groups == ()


def test_the_same_long_prose_is_a_group_and_a_short_sentence_is_none(
    spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    long_text = " ".join(f"thought{index}" for index in range(40))
    sources = {
        "ada": {"why_softmax": long_text},
        "bo": {"why_softmax": long_text + " indeed"},
        "cy": {"why_softmax": "Rows sum to one."},
        "di": {"why_softmax": "Rows sum to one."},
    }
    [group] = alike_groups(class_of(spec, submit, make_result, sources), spec).groups
    assert (group.students, group.what) == (("ada", "bo"), "prose")


def test_a_submission_without_a_notebook_or_with_broken_code_does_not_stop_the_report(
    tmp_path: Path, spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    broken = make_result("bo", notebook=submit(spec, {"softmax": "def softmax(x:\n  '''\n\x0c $$ \t"}))
    build_report([make_result("ada", notebook=""), broken], spec, tmp_path)
    assert code_lines("x = 1 # c\n'doc'\ny = (2,\n 3)") == (
        ("x", "=", "1"),
        ("y", "=", "(", "2", ",", "3", ")"),
    )


#: 200,000 characters each that some reader of code or of prose might look at again and again.
LONG = {
    "quotes behind backslashes": "!: '" + "\\'" * 100_000,
    "the same below a magic": "%%html\n'" + "\\'" * 100_000,
    "double ones": '"' + '\\"' * 100_000,
    "blanks before a sign": "x = 1" + " " * 200_000 + "$",
    "tabs before a question": "\t" * 200_000 + "?",
    "texts that never end": 3 * "'" + "\\'" * 100_000,
    "texts over many lines": 3 * "'" + "\n" + "a\n" * 100_000,
    "quotes before line ends": "'\\\n" * 66_000,
    "brackets": "(" * 200_000,
    "numbers": "1_" * 100_000,
    "signs": "$?" * 100_000,
    "lines": "\n" * 200_000,
    "comments": "#\n" * 100_000,
    "indents": "\n".join(" " * depth + "if a:" for depth in range(600)),
    "braces": "f'{" * 66_000,
    "a list": "[1,7," * 40_000,
    "words": "a " * 100_000,
}


def test_whatever_an_answer_holds_is_read_in_time_that_grows_with_its_length() -> None:
    for name, source in LONG.items():
        began = time.process_time()
        code_lines(source)
        assert time.process_time() - began < 3, name


def test_a_line_that_is_no_python_is_skipped() -> None:
    first = ("x", "=", "1")
    assert code_lines("x = 1\ny = 'no end\nz = 2") == (first, ("y", "="), ("z", "=", "2"))
    assert code_lines("%matplotlib inline\nx = 1\n")[-1] == code_lines("!ls\nx = 1\n")[-1] == first


def test_who_wrote_far_too_much_is_named_on_the_report_and_holds_nobody_up(
    tmp_path: Path, spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    numbers = random.Random(0)
    sources = {
        f"long{index}": {
            "softmax": f"x = {[numbers.randrange(10) for _ in range(60_000)]}",
            "why_softmax": "a " * 90_000,
        }
        for index in range(3)
    }
    sources |= {name: {"softmax": function(3)} for name in ("ada", "bo")}
    began = time.process_time()
    path = build_report(
        [make_result(name, notebook=submit(spec, cells)) for name, cells in sources.items()], spec, tmp_path
    )
    assert time.process_time() - began < 3
    text = text_of(path).replace(" ,", ",").replace(" .", ".")
    for what, tail in (("functions", ", or no Python"), ("written answers", "")):
        assert f"their {what} are far longer than any that is asked for{tail}: long0, long1, long2." in text
    assert "ada, bo the functions 100%" in text


def test_the_longest_are_left_out_where_a_class_has_too_much_to_compare(
    spec: LabSpec, submit: Submit, make_result: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "MAX_COMPARED", 400)
    sources = {name: {"softmax": function(3)} for name in ("ada", "bo")}
    sources["cy"] = {"softmax": function(4) + function(5)}
    alike = alike_groups(class_of(spec, submit, make_result, sources), spec)
    assert alike.left_out == {"code": ("cy",)}
    assert [group.students for group in alike.groups] == [("ada", "bo")]


def test_the_group_is_worded_with_care(
    tmp_path: Path, spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    shared = submit(spec, {"softmax": function(3)})
    path = build_report([make_result(name, notebook=shared) for name in ("ada", "bo")], spec, tmp_path)
    assert "Alike does not mean copied." in text_of(path)
    alone = build_report([make_result("ada", notebook=shared)], spec, tmp_path)
    assert "No two submissions are more alike" in text_of(alone)


@pytest.mark.parametrize(
    ("unread", "sentence"),
    [
        ([], "3 submissions, mean 7.0 of 10 points;"),
        (["unreadable", "missing"], "5 submissions, mean 7.0 of 10 points over the 3 that could be read;"),
    ],
)
def test_the_screen_says_the_same_mean_as_the_report(
    make_result: Make, tmp_path: Path, unread: list[str], sentence: str
) -> None:
    rows = scored(make_result, (4, 6), (4, 3), (1, 3))
    rows += [make_result(status, 0, 0, status=status, notebook="") for status in unread]
    done = ClassResult(
        "03_votes_to_attention", tuple(rows), Plan((), (), {}), {}, (), tmp_path, tmp_path / "report.html"
    )
    console = Console(record=True, width=200)
    show_summary(console, done, 1.0)
    assert sentence in console.export_text()


def test_the_screen_names_who_has_no_folder_any_more_and_counts_nobodys_lateness_but_the_classs(
    make_result: Make, tmp_path: Path
) -> None:
    marks = {"ada": TeacherMarks(late_penalty=2), "bo": TeacherMarks(late_penalty=5)}
    done = ClassResult(
        "03_votes_to_attention", (make_result("ada"),), Plan((), (), {}), {}, (), tmp_path, tmp_path / "r.html", marks,
        ("bo",),
    )  # fmt: skip
    console = Console(record=True, width=400)
    show_summary(console, done, 1.0)
    said = console.export_text()
    assert "lateness takes 2 points off 1 of them, 2 at most" in said
    assert f"Graded into {tmp_path} before, and without a folder now: bo." in said


def test_a_class_of_which_nothing_could_be_read_has_no_mean(make_result: Make, tmp_path: Path) -> None:
    rows = (make_result("ada", 0, 0, status="unreadable", notebook=""),)
    done = ClassResult(
        "03_votes_to_attention", rows, Plan((), (), {}), {}, (), tmp_path, tmp_path / "report.html"
    )
    console = Console(record=True, width=200)
    show_summary(console, done, 1.0)
    assert "1 submissions, none could be read;" in console.export_text()


@pytest.mark.parametrize(
    ("shares", "headline"),
    [
        ((0.5, 0.9, 0.8), "a was the hardest: 50% of its points were earned"),
        ((0.504, 0.9, 0.496), "a and c were the hardest: 50% of their points were earned"),
        ((0.7, 0.7, 0.7), "All questions were equally hard: 70% of their points were earned"),
        ((0.96, 1.0, 1.0), "No question was hard for this class"),
        ((0.3,), ""),
    ],
)
def test_the_hardest_question_is_named_with_those_that_were_as_hard(shares, headline):
    rows = [
        QuestionStatistics(name, 4.0, share, 0.0, 0.0, None)
        for name, share in zip("abc", shares, strict=False)
    ]
    assert question_headline(rows) == headline
    assert "too few" in rows[0].verdict
