"""The feedback page says what happened in words and never runs what a student wrote."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.lab import LabSpec
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import GradebookWriter
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.render import duration, plain, points, prose, sentence, share
from autograder.results import STATUSES, QuestionResult, SubmissionResult, TestResult

Make = Callable[..., SubmissionResult]
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">\'"&{{ 7 * 7 }}\x1b[31m\x00\u202e'


class Reader(HTMLParser):
    """Collects a page's elements and its visible text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._hidden = tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.text = re.sub(r"\s+", " ", reader.text)
    return reader


@pytest.fixture
def writer(spec: LabSpec, tmp_path: Path) -> FeedbackWriter:
    return FeedbackWriter(spec, tmp_path)


def failed_softmax(**changes: object) -> tuple[QuestionResult, ...]:
    fields = {
        "tests": (
            TestResult("Each row sums to one.", False, "Row 2 sums to 1.7."),
            TestResult("Stays finite.", True),
        ),
        "misconception": "softmax over queries instead of keys",
        "hint": "Sum over the **last** axis:\n    `axis=-1`.",
        "error": "cell softmax, line 3\nValueError: no",
        "forbidden": ("torch.softmax",),
    }
    return (QuestionResult("one_hot", 4, 4), QuestionResult("softmax", 2, 6, **{**fields, **changes}))  # type: ignore[arg-type]


def test_the_page_says_what_failed_why_and_what_to_try(writer: FeedbackWriter, make_result: Make) -> None:
    checks = {"softmax": [(False, "The weights do not sum to one.")]}
    page = writer.page(make_result("ada", questions=failed_softmax(), public_checks=checks))
    text = read(page).text
    for expected in (
        "6 of 10 points",
        "✗ not yetEach row sums to one.Row 2 sums to 1.7.",
        "✓ passedStays finite.",
        "This looks like: softmax over queries instead of keys",
        "Sum over the last axis: axis=-1.",
        "cell softmax, line 3 ValueError: no",
        "without torch.softmax",
        "The weights do not sum to one.",
        "up to 5 more points",
        "2 March 2026, 10:00 UTC",
    ):
        assert expected in text
    assert "<strong>last</strong>" in page


def test_a_message_that_every_test_gives_is_said_once(writer: FeedbackWriter, make_result: Make) -> None:
    tests = tuple(TestResult(f"Title {number}.", False, "not written yet") for number in range(3))
    text = read(writer.page(make_result("ada", questions=(QuestionResult("softmax", 0, 6, tests),)))).text
    assert text.count("not written yet") == 1 and text.count("✗ not yet") == 3


def test_nothing_a_student_wrote_becomes_markup(writer: FeedbackWriter, make_result: Make) -> None:
    question = QuestionResult(
        "softmax", 0, 6, (TestResult("t", False, HOSTILE),), error=HOSTILE, hint=HOSTILE
    )
    clean = make_result(
        "ada", questions=failed_softmax(), notes=("n",), public_checks={"softmax": [(True, "c")]}
    )
    hostile = make_result(
        HOSTILE,
        questions=(failed_softmax()[0], question),
        notes=(HOSTILE,),
        public_checks={"softmax": [(False, HOSTILE)]},
        submitted_at=HOSTILE,
    )
    marks = TeacherMarks(comments={"softmax": HOSTILE, "why_softmax": HOSTILE})
    reader = read(writer.page(hostile, marks))
    allowed = {tag for tag, _ in read(writer.page(clean, marks)).tags}
    assert {tag for tag, _ in reader.tags} <= allowed
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    assert "<script>alert(1)</script>" in reader.text, "shown as text"
    assert "{{ 7 * 7 }}" in reader.text
    assert "\x1b" not in reader.text and "\x00" not in reader.text


def test_the_page_loads_nothing_and_runs_nothing(writer: FeedbackWriter, make_result: Make) -> None:
    reader = read(writer.page(make_result("ada", questions=failed_softmax())))
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in reader.tags}
    policies = [a["content"] for tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies and "default-src 'none'" in str(policies[0])


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_its_words(writer: FeedbackWriter, make_result: Make, status: str) -> None:
    assert STATUSES[status].for_student in read(writer.page(make_result("ada", status=status))).text


def test_a_missing_notebook_scores_zero_of_everything(writer: FeedbackWriter, make_result: Make) -> None:
    text = read(writer.page(make_result("ada", status="missing", questions=(), notebook=""))).text
    assert "0 of 15 points" in text


def test_what_the_teacher_entered_is_on_the_page(
    tmp_path: Path, spec: LabSpec, writer: FeedbackWriter, make_result: Make
) -> None:
    result = make_result("ada", 4, 2)
    with GradebookWriter(tmp_path / "gradebook.db", spec) as book:
        book.write(result)
        assert "up to 5 more points" in read(writer.page(result, book.marks("ada"))).text
    marks = TeacherMarks(
        scores={"test_softmax": 5.0, "why_softmax": 4.5},
        comments={"softmax": "Almost.", "why_softmax": "Nicely put."},
        extra_credit={"test_one_hot": 0.5},
        seconds_late=4800,
        late_penalty=1.0,
    )
    text = read(writer.page(result, marks)).text
    assert "13 of 15 points, lateness taken off" in text
    assert "gave 5 points (the tests gave 2)" in text
    assert "0.5 points of extra credit" in text
    assert "1 hour 20 minutes after the due date, which costs 1 point." in text
    assert "Nicely put." in text and "Almost." in text
    assert "not been read" not in text


def test_a_comment_is_markdown_with_formulas_as_formgrader_promises(
    writer: FeedbackWriter, make_result: Make
) -> None:
    comment = "*Nearly*: divide by $\\sqrt{d_k}$.\nA List<int> will do."
    reader = read(writer.page(make_result("ada"), TeacherMarks(comments={"softmax": comment})))
    tags = [tag for tag, _ in reader.tags]
    assert "em" in tags and "svg" in tags
    assert ("svg", "\\sqrt{d_k}") in [(tag, attributes.get("aria-label")) for tag, attributes in reader.tags]
    assert "A List<int> will do." in reader.text and "$" not in reader.text


def test_the_page_is_where_nbgrader_releases_it_from(
    writer: FeedbackWriter, make_result: Make, tmp_path: Path
) -> None:
    assert writer.write(make_result("ada")) == tmp_path / "feedback/ada/00_warm_up/00_warm_up.html"
    hostile = writer.write(make_result("../../x"))
    assert hostile.resolve().is_relative_to(tmp_path.resolve() / "feedback")


@given(st.text())
def test_any_text_is_escaped_in_sentences_and_prose(text: str) -> None:
    for html in (sentence(text), prose(text)):
        tags = {tag for tag, _ in read(str(html)).tags}
        assert tags <= {"code", "p", "em", "strong"}
    str(sentence(text)).encode("utf-8")


def test_code_and_products_are_not_taken_for_emphasis() -> None:
    assert prose("scale `q * k * v` and a * b * c") == "<p>scale <code>q * k * v</code> and a * b * c</p>"


def test_a_very_long_error_is_cut_in_the_middle() -> None:
    cut = plain("begin" + "x" * 100_000 + "end")
    assert len(cut) < 9000 and cut.startswith("begin") and cut.endswith("end")


@pytest.mark.parametrize(
    ("value", "words"), [(4.0, "4"), (2.5, "2.5"), (1 / 3, "0.33"), (0.0, "0"), (10.0, "10")]
)
def test_points_have_no_needless_zeros(value: float, words: str) -> None:
    assert points(value) == words


def test_a_bar_is_never_wider_than_its_frame() -> None:
    assert [share(v, 4) for v in (-1, 0, 1, 4, 9)] == ["0", "0", "25", "100", "100"]
    assert share(1, 0) == "0"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "less than a minute"), (61, "1 minute"), (4800, "1 hour 20 minutes"), (172800, "2 days")],
)
def test_lengths_of_time_are_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words
