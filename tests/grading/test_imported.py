"""A test cell that stayed in an imported notebook gives what nbgrader would read off its outputs."""

from __future__ import annotations

import pytest

from autograder.grading.imported import BESIDE, judged_beside
from autograder.results import CellOutcome
from tests.fixtures.nbgrader_course import checking

CODE = "assert f(1) == 1\n### BEGIN HIDDEN TESTS\nassert f(31337) == 2\n### END HIDDEN TESTS\nassert f(3)"


def judged(status="ok", outputs=(), error="", code=CODE):
    outcome = CellOutcome("t", 0, status, 0.0, outputs, error)
    return judged_beside(checking("t", 2, code), code, outcome, "t", 2.0)


def shows(text):
    return (
        {"output_type": "execute_result", "data": {"text/plain": text}, "metadata": {}, "execution_count": 1},
    )


def test_a_number_that_a_cell_shows_is_its_points_a_warning_costs_nothing_and_an_error_everything():
    shown = {"1.5": 1.5, "0": 0, "'done'": 2, "-1": 2, "7": 0}
    assert {text: judged(outputs=shows(text)).points for text in shown} == shown and judged().points == 2
    assert judged(outputs=({"output_type": "stream", "name": "stderr", "text": "careful"},)).points == 2
    assert judged("error", error="ValueError: no").points == 0
    assert judged_beside(checking("t", 2, CODE), CODE, None, "t", 2.0).points == 0


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("AssertionError:  (line 1: assert f(1) == 1)", "AssertionError:  (line 1: assert f(1) == 1)"),
        ("AssertionError:  (line 3: assert f(31337) == 2)", "a hidden check of this cell does not hold"),
        ("AssertionError:  (line 5: assert f(3))", "AssertionError:  (line 5: assert f(3))"),
        ("KeyError: 31337", "a hidden check of this cell does not hold"),
    ],
)
def test_an_error_names_no_line_that_students_were_not_given(error, message):
    [test] = judged("error", error=error).tests
    assert (test.name, test.passed, test.message) == (BESIDE, False, message)
