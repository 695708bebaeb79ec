"""What `make proof` adds to the pass of each question: other salts, and honest answers in styles drawn together."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.course.masters import all_labs, solution, solution_source
from autograder.course.policy_file import spec
from autograder.judging import run
from docs.make_mutants import Mutant, survives
from tests.audit.one_pass import faults, variation_faults
from tests.audit.styles import styles_for
from tests.audit.test_every_answer import each_question

pytestmark = [pytest.mark.proof, pytest.mark.filterwarnings("ignore")]

SALTS = ("one", "two", "three", "four", "five")


@pytest.mark.parametrize("salt", SALTS)
@each_question
def test_a_question_judges_every_answer_as_it_should_under_any_salt(lab, question, salt):
    before = run.salt()
    try:
        assert faults(lab, question, salt) == []
    finally:
        run.set_salt(before)


@each_question
def test_an_honest_variation_of_the_right_answer_keeps_card_and_points(lab, question):
    if isinstance(solution(lab)[question], type):  # of a class only its results could be varied
        return
    names = sorted(styles_for(question))

    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True))
    def draw(styles):
        assert variation_faults(lab, question, styles) == [], styles

    draw()


@pytest.mark.parametrize("lab", all_labs())
def test_a_mutant_that_changes_nothing_survives(lab):
    for question, _ in spec(lab).questions:
        assert survives(lab, Mutant(question, "none", "", solution_source(lab, question))), question
