"""A class in which each notebook has an ordinary accident: no point is lost that the answer does not lose, and the cause is told."""

from __future__ import annotations

import nbformat
import pytest

from autograder.course.policy_file import spec
from autograder.grading.cell_errors import CALLS_UNWRITTEN, DID_NOT_RUN, STILL_THERE
from autograder.pages.feedback import FeedbackWriter
from autograder.results import SubmissionResult
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import hand_in, results_of
from tests.grading.accidents import (
    COUNTS,
    LAB,
    answer,
    delete,
    forget_names,
    insert,
    notebook,
    put,
    stub,
)

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

CHECK = f"test_{COUNTS}"
MARKED = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs"
#: Student -> accidents, and what the cause holds: the student's own error and its line.
STOPPED = {
    "minus": ([put(COUNTS, lambda code: code + "\n\n\nx = 3 − 1")], "SyntaxError: invalid character '−'", "x = 3 − 1"),
    "tab": (
        [put(COUNTS, "def bigram_counts(words):\n    n = 0\n\treturn n")],
        "TabError: inconsistent use of tabs and spaces",
        "return n",
    ),
    "merge": ([put(COUNTS, lambda code: MARKED.format(code, code))], "SyntaxError", "<<<<<<< HEAD"),
    "package": ([put(COUNTS, lambda code: "import nltk\n" + code)], "No module named 'nltk'", "import nltk"),
    "last cell": ([stub(COUNTS), insert("def bigram_counts(words)\n    return 0")], "SyntaxError", "def bigram_counts(words)"),
}  # fmt: skip
OTHERS = {
    "helper": [
        insert("import nltk", after="setup"),
        put(COUNTS, "def bigram_counts(words):\n    return nltk.bigrams(words)"),
    ],
    "raises": [
        put(COUNTS, lambda code: code.replace("\n    N = ", "\n    raise NotImplementedError()\n    N = "))
    ],
    "calls": [
        insert("def helper():\n    raise NotImplementedError()", after="setup"),
        put(COUNTS, "def bigram_counts(words):\n    return helper()"),
    ],
    "again": [put(COUNTS, "def bigram_counts(words):\n    return 0"), insert(answer(COUNTS))],
}
WHOLE = {
    "check cell": [stub(COUNTS), put(CHECK, lambda check: f"{answer(COUNTS)}\n\n{check}")],
    "above": [stub(COUNTS), insert(answer(COUNTS), before=COUNTS)],
    "no names": [forget_names, lambda made: made.cells.reverse()],
    "deleted": [delete(COUNTS, CHECK), insert(answer(COUNTS), after="alphabet")],
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, frozen) -> dict[str, SubmissionResult]:
    folder = tmp_path_factory.mktemp("accidents")
    accidents = {**{name: made for name, (made, *_) in STOPPED.items()}, **OTHERS, **WHOLE}
    for student, made in accidents.items():
        hand_in(folder / "submitted", student, nbformat.writes(notebook(*made)))
    return results_of(folder, frozen)


def of(result: SubmissionResult, name: str = COUNTS):
    return next(question for question in result.questions if question.name == name)


@pytest.mark.parametrize("student", STOPPED)
def test_the_error_that_kept_an_answer_from_running_is_its_cause(graded, student):
    result, (_, error, line) = graded[student], STOPPED[student]
    question = of(result)
    assert result.score == result.max_score - question.max_points and question.points == 0
    assert question.did_not_run and error in question.cause and line in question.cause
    assert error in question.error and line in question.error.splitlines()[0]
    assert {test.message for test in question.tests} == {DID_NOT_RUN}


def test_the_error_stands_first_in_the_question_on_the_page(graded, tmp_path):
    result = graded["minus"]
    page = FeedbackWriter(spec(LAB), tmp_path).page(result)
    section = page[page.index("<h2>bigram_counts</h2>") :]
    assert section.index("SyntaxError: invalid character") < section.index("✗ not yet")
    assert "not defined" not in section[: section.index("</section>")]


def test_a_missing_package_is_the_cause_of_what_uses_it_in_another_cell(graded):
    question = of(graded["helper"])
    assert "No module named 'nltk' (line 1: import nltk)" in question.cause and question.did_not_run


def test_an_answer_that_was_written_is_not_called_unwritten(graded):
    assert {test.message for test in of(graded["raises"]).tests} == {STILL_THERE}
    assert of(graded["raises"]).cause.startswith("The line “raise NotImplementedError()”")
    assert {test.message for test in of(graded["calls"]).tests} == {CALLS_UNWRITTEN}


def test_a_later_definition_that_does_not_count_is_told_where_points_are_lost(graded):
    result = graded["again"]
    assert of(result).points < of(result).max_points
    [choice] = result.choices
    assert "is defined once more" in choice and choice in result.notes


@pytest.mark.parametrize("student", WHOLE)
def test_an_answer_that_is_there_has_its_points(graded, student):
    result = graded[student]
    assert result.score == result.max_score, (
        result.notes,
        [q for q in result.questions if q.points < q.max_points],
    )
