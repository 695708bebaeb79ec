"""The feedback page says what happened in words and never runs what a student wrote."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from docutils.nodes import make_id
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.masters import lab_name
from autograder.course.policy_file import spec as lab_spec
from autograder.gradebook.final_points import TeacherMarks
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.own_code import MOST_LINES, own_code
from autograder.pages.places import places_of
from autograder.pages.render import duration, plain, points, prose, share
from autograder.pages.report import build_report
from autograder.results import STATUSES, QuestionResult, SubmissionResult, TestResult
from autograder.run.term import Entry, Idea, Lab, Student, Term, render_term
from tests.fixtures.html_reader import read

HOSTILE = '<script>throw 1</script><img src=x onerror="throw 2">\'"&{{ 7 * 7 }}\x1b[31m\x00\u202e'
WRONG = "wrong values in what your function returns"
CODE = """def softmax(scores):
    \"\"\"Scores of any size -> weights.\"\"\"
    shifted = scores - scores.max()
    weights = torch.softmax(shifted, 0)
    return weights / total
"""
MISSING = "NameError: name 'nump' is not defined"
HOT = QuestionResult("one_hot", 4, 4, (TestResult("One 1 a row.", True),))


def softmax(points: float = 2, **changes: object) -> QuestionResult:
    fields = {
        "tests": (TestResult("Each row sums to one.", False, WRONG), TestResult("Stays finite.", True)),
        "misconception": "softmax over queries instead of keys",
        "hint": "Sum over the **last** axis:\n    `axis=-1`.",
        "error": "in softmax, line 5: return weights / total\nNameError: name 'total' is not defined",
    }
    return QuestionResult("softmax", points, 6, **{**fields, **changes})


def did_not_run(error: str, **changes: object) -> QuestionResult:
    tests = (TestResult("Each row sums to one.", False, "the cell that should define it did not run"),)
    return QuestionResult("softmax", 0, 6, tests, error=error, did_not_run=True, **changes)


@pytest.fixture
def writer(spec, tmp_path):
    return FeedbackWriter(spec, tmp_path)


@pytest.fixture
def wrong(spec, submit, make_result):
    """``wrong(softmax())``: ada's result with this question, her own code in the notebook."""

    def make(*questions: QuestionResult, **changes: object) -> SubmissionResult:
        changes = {"notebook": submit(spec, {"softmax": CODE}), **changes}
        return make_result("ada", questions=questions if questions[1:] else (HOT, *questions), **changes)

    return make


@pytest.fixture
def words(writer, wrong):
    """``words(softmax())``: what ada reads on the page of ``wrong(softmax())``."""
    return lambda *questions, **changes: read(writer.page(wrong(*questions, **changes))).text


def test_what_to_change_comes_first_with_its_cost_its_cause_and_the_line_that_raised(writer, wrong):
    checks = {"softmax": [(False, "The weights do not sum to one.")]}
    page = writer.page(wrong(softmax(), public_checks=checks))
    text = read(page).text
    in_order = [
        "6 of 10 points", "up to 5 more points", "What to change", "softmax", "−4", "2 of 6 points",
        "This looks like: softmax over queries instead of keys", "Sum over the last axis: axis=-1.",
        "1def softmax(scores):", "⋮", "3 shifted = scores", "→ 5 return weights / total",
        "NameError: name 'total' is not defined", "✗ not yet", f"Each row sums to one. {WRONG}", "1 of 2 tests passed",
        "The weights do not sum to one.", "What is right", "one_hot", "4 of 4",
    ]  # fmt: skip
    assert re.search(".*".join(map(re.escape, in_order)), text)
    assert "Scores of any size" not in text, "the doc string came with the lab"
    assert "<strong>last</strong>" in page and "2 March 2026, 10:00 UTC" in text


def test_the_call_that_a_question_forbids_is_marked(words):
    text = words(softmax(6, misconception=None, hint=None, error="", tests=(), forbidden=("torch.softmax",)))
    assert "→ 4 weights = torch.softmax(shifted, 0)" in text and text.count("→") == 1
    assert "without torch.softmax" in text and "A person looks at this; until then your points stand." in text


def test_without_code_that_can_be_shown_the_error_stands_alone(writer, wrong):
    cells = '{"cells": [7, {"cell_type": "code"}]}'
    for notebook in ("", "[]", "{}", '{"cells": 3}', cells, "[" * 100_000, "no JSON"):
        page = writer.page(wrong(softmax(), notebook=notebook))
        assert "in softmax, line 5: return weights / total" in read(page).text and 'class="code"' not in page


@given(st.text(), st.text())
def test_whatever_a_cell_holds_few_of_its_lines_are_shown(source, error):
    question = QuestionResult("softmax", 0, 6, error=f"in softmax, line 3: {error}", forbidden=("a.b",))
    long = source + "\n" + CODE + "x = 1\n" * 100
    for text in (source, long):
        shown = own_code([("softmax", text)], question)
        assert len(shown.lines) <= MOST_LINES and all(line.text.strip() for line in shown.lines)
        assert [line.number for line in shown.lines] == sorted({line.number for line in shown.lines})


def test_of_a_long_cell_the_lines_around_the_error_are_shown():
    source = "\n".join(f"x{n} = {n}" for n in range(1, 61))
    question = QuestionResult("softmax", 0, 6, error="in softmax, line 40: x40 = 40\nValueError")
    shown = own_code([("other", "x"), ("softmax", source)], question)
    assert [line.number for line in shown.lines if line.marked] == [40] and shown.lines[0].gap
    assert (len(shown.lines), shown.more) == (MOST_LINES, 60 - shown.lines[-1].number)
    helped = "def helper():\n    pass\ndef softmax(x):\n    return x"
    below = own_code([("softmax", helped)], replace(question, error=""))
    assert [line.number for line in below.lines] == [3, 4], "helpers above the answer are left out"
    other_line = replace(question, error="in softmax, line 40: y = 1\nValueError")
    assert not own_code([("softmax", source)], other_line).error


def test_one_reason_for_all_tests_is_said_once(words):
    tests = tuple(TestResult(f"Title {number}.", False, "not written yet") for number in range(3))
    text = words(QuestionResult("softmax", 0, 6, tests, cause="Not written yet."))
    assert text.lower().count("not written yet") == 1 and "✗" not in text and "def softmax" not in text
    several = (*tests, TestResult("Another.", False, "too slow"))
    text = words(QuestionResult("softmax", 0, 6, several, cause="Too slow."))
    assert text.count("not written yet") == 1 and text.count("✗") == 4
    without_cause = (TestResult("First.", True, "nothing wrong"), TestResult("Second.", False, "too large"))
    text = words(QuestionResult("softmax", 3, 6, without_cause))
    assert "Too large" in text and "Nothing wrong" not in text


def test_a_cell_that_did_not_run_shows_its_error_and_no_tests(words):
    error = "in softmax, line 5: return weights / total\nSyntaxError: invalid syntax"
    stopped = did_not_run(error, cause="Its cell did not run: S")
    notes = ("The cell that begins `def softmax(x):` stopped: S",)
    text = words(stopped, status="partly-run", notes=notes, run_notes=notes)
    assert "that begins" not in text and "✗" not in text, "its card names the error"
    assert "Its cell did not run" in text and "→ 5 return weights / totalSyntaxError: invalid syntax" in text
    assert "holds no output of its checks" in text


def test_a_cell_that_stops_several_functions_gives_its_card_the_title(words):
    cells = [{"cell_type": "code", "metadata": {}, "source": "import tool\ntools = load()"}]
    stopped = did_not_run("in cell number 3, line 2: tools = load()\nValueError: no tools")
    both = replace(stopped, name="one_hot", max_points=4), stopped
    text = words(*both, notebook=json.dumps({"cells": cells}))
    assert "The cell that begins import tool stopped" in text and "−10" in text and "def softmax" not in text
    assert "tools = load()ValueError: no tools" in text
    assert "It stops 2 functions: ✗one_hot0 of 4 ✗softmax0 of 6" in text


def test_an_error_that_stops_several_functions_is_one_cause(writer, wrong):
    tests = (TestResult("Each row sums to one.", False),)
    hot, same = (
        QuestionResult(name, 0, most, tests, error=f"in {name}, line 2: x\n{MISSING}")
        for name, most in (("one_hot", 4), ("softmax", 6))
    )
    page = writer.page(wrong(hot, same, notebook=""))
    text = read(page).text
    assert page.count('class="card change"') == 1 and text.count(MISSING) == 1
    assert "2 functions, one error" in text and text.count("name 'nump' is not defined") == 2
    assert "−10" in text and "The same error stops 1 more function: ✗softmax0 of 6" in text
    for other in (
        {"error": "in softmax, line 2: x\nNameError: name 'y' is not defined"},
        {"misconception": "softmax over queries"},
        {"tests": (*tests, TestResult("Finite.", True))},
    ):
        assert writer.page(wrong(hot, replace(same, **other), notebook="")).count('class="card change"') == 2


def test_links_lead_to_the_labs_section_and_the_demo_where_the_course_has_a_site(course_at, tmp_path):
    course_at('site = "https://example.org/course/"')
    lab = lab_spec(lab_name("07"))
    result = SubmissionResult("ada", lab.name, "graded", 0, 20, 0.1, (QuestionResult("padding_mask", 0, 2),))
    page = read(FeedbackWriter(lab, tmp_path).page(result))
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    heading = "Question 4 · `padding_mask` ●○○ (5 minutes, 2 points)"
    at = f"https://example.org/course/labs/{lab.name}.html#{make_id(heading)}"
    assert at in links and "https://example.org/course/demos/07_mask_painter.html" in links
    assert "In the lab: 6 · Masks: what may not be heard, Question 4" in page.text
    named = places_of(lab_spec(lab_name("03")))["pair_features"]
    assert named.section == "From single words to pairs, Question 5"
    course_at("")
    assert "In the lab" in FeedbackWriter(lab, tmp_path).page(replace(result, questions=()))


def test_nothing_that_somebody_wrote_becomes_markup(writer, wrong, spec, submit, tmp_path):
    """A class whose only student, and whose teacher, write the same text wherever they can."""

    def pages(text: str) -> list[str]:
        question = softmax(
            0, tests=(TestResult("t", False, text),), hint=text, misconception=text,
            error=f"in softmax, line 1: {text}\n{text}",
        )  # fmt: skip
        changes = {"notebook": submit(spec, {"softmax": text}), "submitted_at": text, "notes": (text,)}
        result = replace(wrong(question, public_checks={"softmax": [(False, text)]}, **changes), student=text)
        marks = TeacherMarks(comments={"softmax": text, "why_softmax": text})
        entry = Entry("graded", 3, 20, ideas=(Idea(spec.name, "softmax", text, 9),))
        labs = (Lab(spec.name, spec.title, 20, ""),)
        term = Term("Transformers", labs, (Student(text, text, text, {spec.name: entry}),), (text,))
        report = build_report([result], spec, tmp_path).read_text(encoding="utf-8")
        return [writer.page(result, marks), report, render_term(term, tmp_path)]

    plain, hostile = pages("plain"), pages(HOSTILE)
    for as_usual, attacked in zip(map(read, plain), map(read, hostile), strict=True):
        assert [tag for tag, _ in attacked.tags] == [tag for tag, _ in as_usual.tags] and not attacked.active
        assert "<script>throw 1</script>" in attacked.text and "{{ 7 * 7 }}" in attacked.text, "shown as text"
    assert not {"\x1b", "\x00", "\u202e"} & set("".join(hostile)) and "<script" not in plain[0]
    policies = [a["content"] for _, a in read(plain[0]).tags if a.get("http-equiv")]
    assert policies and "default-src 'none'" in str(policies[0])


def test_every_status_has_its_words(writer, make_result):
    for status in STATUSES:
        assert STATUSES[status].for_student in read(writer.page(make_result("ada", status=status))).text
    text = read(writer.page(make_result("ada", status="missing", questions=(), notebook=""))).text
    assert "0 of 15 points" in text


def test_what_the_teacher_entered_is_on_the_page(writer, make_result, course_at):
    result = make_result("ada", 4, 2)
    text = read(writer.page(result)).text
    assert "up to 5 more points" in text and text.index("A person still reads") < text.index("why_softmax")
    marks = TeacherMarks(
        scores={"test_softmax": 5.0, "why_softmax": 4.5},
        comments={"softmax": "Almost.", "why_softmax": "*Nearly*: $\\sqrt{d_k}$.\nA List<int> will do."},
        extra_credit={"test_one_hot": 0.5}, seconds_late=4800, late_penalty=1.0,
    )  # fmt: skip
    page = read(writer.page(result, marks))
    for words in (
        "13 of 15 points, lateness taken off", "gave 5 points (the tests gave 2)", "0.5 points of extra credit",
        "1 hour 20 minutes after the due date, which costs 1 point.", "Almost.", "A List<int> will do.",
    ):  # fmt: skip
        assert words in page.text
    assert "not been read" not in page.text and "$" not in page.text
    formulas = [attributes["aria-label"] for tag, attributes in page.tags if tag == "svg"]
    assert "em" in dict(page.tags) and formulas == ["\\sqrt{d_k}"], "Markdown, as Formgrader promises"
    course_at("[labs.00]\ndue = 2026-03-01T12:00:00\ncloses = 2026-03-01T13:00:00\n")
    assert "after the lab had closed" in read(writer.page(result, marks)).text


def test_code_and_products_are_not_taken_for_emphasis_and_a_very_long_error_is_cut():
    assert prose("scale `q * k * v` and a * b * c") == "<p>scale <code>q * k * v</code> and a * b * c</p>"
    cut = plain("begin" + "x" * 100_000 + "end")
    assert len(cut) < 9000 and cut.startswith("begin") and cut.endswith("end")


def test_points_shares_and_lengths_of_time_are_short():
    assert [points(value) for value in (4.0, 2.5, 1 / 3, 0.0, 10.0)] == ["4", "2.5", "0.33", "0", "10"]
    shares = (-1, 4), (0, 4), (1, 4), (4, 4), (9, 4), (1, 0)
    assert [share(*of) for of in shares] == ["0", "0", "25", "100", "100", "0"]
    lengths = {5: "less than a minute", 61: "1 minute", 4800: "1 hour 20 minutes", 172800: "2 days"}
    assert {seconds: duration(seconds) for seconds in lengths} == lengths
