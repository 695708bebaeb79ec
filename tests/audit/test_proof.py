"""docs/mutants.md against the course; and what `make proof` adds to the pass of each question: other salts, and no mutants."""

from __future__ import annotations

import re

import pytest

from autograder.course.masters import all_labs, course_root, solution_source
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


def test_every_lab_has_its_section_and_every_row_names_a_question_of_its_lab():
    page = (course_root() / "docs" / "mutants.md").read_text(encoding="utf-8")
    sections = dict(section.split("\n", 1) for section in page.split("\n## ")[1:])
    assert list(sections) == all_labs()
    for lab, text in sections.items():
        assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) <= {
            name for name, _ in spec(lab).questions
        }


def test_a_mutant_that_changes_the_answer_dies():
    mutant = next(
        m for m in mutants_of("01_markov_bigram", "normalise_rows") if m.operator == "NumberReplacer"
    )
    assert not survives("01_markov_bigram", mutant)
