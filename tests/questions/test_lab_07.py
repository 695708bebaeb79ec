"""Lab 07's question files against the catalogue that they replace: the same verdicts, names and about the same points.

A gate for the port: it goes with the catalogue.
"""

from __future__ import annotations

import json

import pytest

from autograder.course.masters import solution
from autograder.course.policy_file import spec
from autograder.questions.engine.audit import audit
from autograder.questions.engine.card import MAX_BYTES, card_data
from autograder.questions.engine.draw import PUBLIC
from autograder.questions.engine.judge import judge_function
from autograder.questions.engine.question import questions_of
from autograder.questions.engine.rubric import points_earned
from autograder.testing.catalogue import answers_of
from tests.blind.test_points import FAIR

LAB, SALT = "07_self_attention", "a salt"
POINTS = {question: points for question, points in spec(LAB).questions if points}


def test_each_question_with_points_has_a_file():
    assert set(questions_of(LAB)) == set(POINTS)


@pytest.mark.parametrize("name", POINTS)
def test_the_audit_finds_nothing(name):
    assert audit(questions_of(LAB)[name], POINTS[name], solution(LAB)[name], SALT) == []


@pytest.mark.parametrize("name", POINTS)
def test_each_wrong_answer_of_before_has_its_name_and_a_red_card(name):
    question = questions_of(LAB)[name]
    found = {}
    for answer in answers_of(LAB)["misconception"][name]:
        hidden = judge_function(question, SALT, answer.function).misconception
        green = judge_function(question, PUBLIC, answer.function).right
        found[answer.name] = (hidden.title if hidden else None, green)
    assert found == {answer.name: (answer.title, False) for answer in answers_of(LAB)["misconception"][name]}


@pytest.mark.parametrize("name", POINTS)
def test_each_right_answer_of_before_is_whole_and_its_card_green(name):
    question = questions_of(LAB)[name]
    for answer in answers_of(LAB)["alternative"][name]:
        for salt in (SALT, "another salt", PUBLIC):
            judgement = judge_function(question, salt, answer.function)
            assert points_earned(question, salt, POINTS[name], judgement) == POINTS[name], answer.name


def test_blind_slips_cost_in_sum_what_their_authors_thought_fair():
    given = 0.0
    for name, slips in FAIR[LAB].items():
        question = questions_of(LAB)[name]
        for answer in answers_of(LAB)["misconception"][name]:
            if answer.name in slips:
                judgement = judge_function(question, SALT, answer.function)
                points = points_earned(question, SALT, POINTS[name], judgement)
                assert points >= POINTS[name] / 4 or slips[answer.name] < POINTS[name] / 2, answer.name
                given += points
    assert given == pytest.approx(
        sum(fair for slips in FAIR[LAB].values() for fair in slips.values()), rel=0.1
    )


def test_the_cards_data_of_the_lab_take_less_than_a_megabyte():
    sizes = [
        len(json.dumps(card_data(question), separators=(",", ":"), allow_nan=False))
        for question in questions_of(LAB).values()
    ]
    assert sum(sizes) < MAX_BYTES


RUBBISH = [
    None,
    "text",
    b"bytes",
    {},
    {"a": 1},
    [],
    (),
    [[1, 2], [3]],
    0,
    float("nan"),
    True,
    [None, [None]],
    {1, 2},
]


@pytest.mark.parametrize("name", POINTS)
def test_whatever_comes_back_is_judged_and_earns_next_to_nothing(name):
    question = questions_of(LAB)[name]
    for value in [*RUBBISH, (value for value in ()), object()]:
        judgement = judge_function(question, SALT, lambda *_, value=value, **__: value)
        assert points_earned(question, SALT, 1.0, judgement) <= 0.05, value
