"""The labs' question files against the catalogue that they replace: the same verdicts, names and about the same points.

A gate for the port: it goes with the catalogue.
"""

from __future__ import annotations

import importlib.util
import json

import pytest

from autograder.course.masters import all_labs, solution
from autograder.course.policy_file import spec
from autograder.questions.engine.audit import audit
from autograder.questions.engine.card import MAX_BYTES, card_data
from autograder.questions.engine.judge import judge_function
from autograder.questions.engine.question import questions_of
from autograder.questions.engine.rubric import points_earned

SALT = "a salt"
LABS = [lab for lab in all_labs() if importlib.util.find_spec(f"autograder.questions.m{lab}") is not None]


def questions(labs):
    return [
        pytest.param(lab, name, points, id=f"{lab[:2]} {name}")
        for lab in labs
        for name, points in spec(lab).questions
        if points
    ]


each_question = pytest.mark.parametrize(("lab", "name", "points"), questions(LABS))


@pytest.mark.parametrize("lab", LABS)
def test_each_question_with_points_has_a_file(lab):
    assert set(questions_of(lab)) == {name for name, points in spec(lab).questions if points}


@each_question
def test_the_audit_finds_nothing(lab, name, points):
    assert audit(questions_of(lab)[name], points, solution(lab)[name], SALT) == []


@pytest.mark.parametrize("lab", LABS)
def test_the_cards_data_of_a_lab_take_less_than_a_megabyte(lab):
    sizes = [
        len(json.dumps(card_data(question), separators=(",", ":"), allow_nan=False))
        for question in questions_of(lab).values()
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


@each_question
def test_whatever_comes_back_is_judged_and_earns_next_to_nothing(lab, name, points):
    question = questions_of(lab)[name]
    for value in [*RUBBISH, (value for value in ()), object()]:
        judgement = judge_function(question, SALT, lambda *_, value=value, **__: value)
        assert points_earned(question, SALT, 1.0, judgement) <= 0.05, value
