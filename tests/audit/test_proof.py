"""A mutant that changes an answer dies; and what `make proof` adds to the pass of each question: other salts, and no mutants."""

from __future__ import annotations

import pytest

from autograder.course.masters import all_labs, solution_source
from autograder.course.policy_file import spec
from autograder.judging import run
from docs.make_mutants import Mutant, mutants_of, survives
from tests.audit.one_pass import faults
from tests.audit.test_every_answer import each_question

pytestmark = pytest.mark.filterwarnings("ignore")

SALTS = ("one", "two", "three", "four", "five")


@pytest.mark.proof
@pytest.mark.parametrize("salt", SALTS)
@each_question
def test_a_question_judges_every_answer_as_it_should_under_any_salt(lab, question, salt):
    before = run.salt()
    try:
        assert faults(lab, question, salt) == []
    finally:
        run.set_salt(before)


@pytest.mark.proof
@pytest.mark.parametrize("lab", all_labs())
def test_a_mutant_that_changes_nothing_survives(lab):
    for question, _ in spec(lab).questions:
        assert survives(lab, Mutant(question, "none", "", solution_source(lab, question))), question


def test_a_mutant_that_changes_the_answer_dies():
    found = mutants_of("01_markov_bigram", "normalise_rows")
    assert not survives("01_markov_bigram", next(m for m in found if m.operator == "NumberReplacer"))
