"""The hidden tests and the public checks of every question, on every answer that the course knows.

One test a question, which says all that it finds. What ``autograder audit`` prints is a part of it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.audit.question import card_faults
from autograder.course.masters import all_labs
from autograder.course.policy_file import spec
from autograder.questions.engine.answers import answers_of
from tests.audit.one_pass import faults

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("answers")]

QUESTIONS = [(lab, question) for lab in all_labs() for question, _ in spec(lab).questions]
each_question = pytest.mark.parametrize(
    ("lab", "question"), QUESTIONS, ids=[f"{lab[:2]} {question}" for lab, question in QUESTIONS]
)


@each_question
def test_a_question_judges_every_answer_as_it_should(lab, question):
    assert faults(lab, question) == []


def test_a_card_without_its_hint_is_a_fault():
    lab, question = "01_markov_bigram", "normalise_rows"
    answer = next(a for a in answers_of(lab)["misconception"][question] if a.name == "columns_normalised")
    assert card_faults(lab, question, answer.function, answer) == ()
    other = replace(answer, hint="Something else.")
    assert card_faults(lab, question, answer.function, other) == ("its card does not show its hint",)
