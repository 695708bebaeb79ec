"""A class of every kind of submission, graded once: honest work keeps its points, nobody gets what they did not earn."""

from __future__ import annotations

import random

import pytest

from autograder.audit.simulate import _HOSTILE, _UNLUCKY, _with_cell, kinds_of
from autograder.course.masters import lab_name, solved
from autograder.course.policy_file import spec
from autograder.files import feedback_page, report_page
from autograder.questions.engine.answers import answers_of
from autograder.run.pipeline import run
from autograder.sandbox.jail.namespaces import probe
from autograder.sandbox.limits import Limits
from tests.fixtures.frozen_course import hand_in

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

LAB = lab_name("07")
LIMITS = Limits(cell_seconds=4, call_seconds=4, total_seconds=60, cpu_seconds=60, memory_bytes=1 << 30)


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory):
    """One submission of each kind; the student is named after the kind."""
    folder = tmp_path_factory.mktemp("class")
    rng = random.Random(1)

    for kind in kinds_of(LAB):
        if kind.name != "unlucky":
            hand_in(folder / "submitted", kind.name, kind.write(kind.name, rng), LAB)
    last = list(solved(LAB))[-1]
    for name, source in _UNLUCKY.items():
        made = _with_cell(LAB, source or f"{last} = 'overwritten'", None if source else f"test_{last}")
        hand_in(folder / "submitted", name, made, LAB)
    slip = {"kernel_smooth": solved(LAB)["kernel_smooth"].replace("softmax(-(", "softmax((")}
    hand_in(folder / "submitted", "a slip that nobody foresaw", slip, LAB)
    (folder / "submitted" / "nothing handed in" / LAB).mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def graded(class_folder):
    """The class, graded."""
    return run(LAB, class_folder / "submitted", class_folder / "out", jobs=2, limits=LIMITS)


@pytest.fixture(scope="module")
def by_student(graded):
    return {result.student: result for result in graded.results}


@pytest.mark.parametrize("student", ["honest", "another style", "test cell edited", *_UNLUCKY, *_HOSTILE])
def test_right_answers_get_full_points_whatever_stands_beside_them(by_student, student):
    result = by_student[student]
    assert result.score == result.max_score == 20, [q for q in result.questions if q.points < q.max_points]


@pytest.mark.parametrize(
    ("student", "status"),
    [
        ("honest", "graded"),
        ("a cell that raises", "partly-run"),
        ("spins for ever", "timed-out"),
        ("exits", "crashed"),
        ("opens a socket", "partly-run"),
        ("reads the repository", "partly-run"),
        ("cut off", "unreadable"),
        ("nothing handed in", "missing"),
    ],
)
def test_every_submission_ends_in_its_status(by_student, student, status):
    assert by_student[student].status == status


def test_a_misconception_loses_points_and_is_named(by_student):
    result = by_student["one misconception"]
    titles = {a.title for answers in answers_of(LAB)["misconception"].values() for a in answers}
    wrong = [question for question in result.questions if question.points < question.max_points]
    assert len(wrong) == 1 and wrong[0].misconception in titles and wrong[0].hint


@pytest.mark.parametrize("student", ["untouched", "cut off", "nothing handed in"])
def test_nothing_earns_nothing_and_still_has_a_row_for_each_question(by_student, student):
    result = by_student[student]
    assert result.score == 0
    assert [(q.name, q.max_points) for q in result.questions] == list(spec(LAB).questions)


def test_a_feedback_page_holds_no_hidden_test(class_folder, by_student):
    page = feedback_page(class_folder / "out", "one misconception", LAB).read_text(encoding="utf-8")
    assert "expect_close" not in page and "BEGIN HIDDEN" not in page


def test_a_slip_that_nobody_foresaw_has_a_sentence_in_the_json_and_on_the_pages(class_folder, by_student):
    rows = {student: result.as_json()["questions"] for student, result in by_student.items()}
    slip = next(row for row in rows["a slip that nobody foresaw"] if row["points"] < row["max_points"])
    said = "On our inputs your results are those of a right answer that has the other sign in a place"
    assert slip["misconception"] is None and slip["generated"].startswith(said)
    assert not any(
        row["generated"] for student in ("honest", "one misconception", "untouched") for row in rows[student]
    )
    page = feedback_page(class_folder / "out", "a slip that nobody foresaw", LAB).read_text(encoding="utf-8")
    assert 0 < page.index(said) < page.index(slip["cause"].split("`")[0])
    report = report_page(class_folder / "out", LAB).read_text(encoding="utf-8")
    assert report.index("Slips that no misconception describes") < report.index(said)
