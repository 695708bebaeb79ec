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
from autograder.questions.engine.draw import PUBLIC
from autograder.questions.engine.judge import judge_function
from autograder.questions.engine.question import questions_of
from autograder.questions.engine.rubric import points_earned
from autograder.testing.catalogue import answers_of, has_question_files, loaded_anew
from tests.blind.test_points import FAIR

SALT = "a salt"
LABS = [lab for lab in all_labs() if importlib.util.find_spec(f"autograder.questions.m{lab}") is not None]
#: Those whose old tests and wrong answers still stand.
WITH_CATALOGUE = [lab for lab in LABS if not has_question_files(lab)]


def questions(labs):
    return [
        pytest.param(lab, name, points, id=f"{lab[:2]} {name}")
        for lab in labs
        for name, points in spec(lab).questions
        if points
    ]


#: Wrong answers of before that have another name now, or none: by lab and name, the title and why.
RENAMED: dict[tuple[str, str], tuple[str | None, str]] = {
    ("01_markov_bigram", "names_in_one_stream"): (None, "it counted −1 for an empty list, which nobody does"),
}
each_question = pytest.mark.parametrize(("lab", "name", "points"), questions(LABS))
each_of_before = pytest.mark.parametrize(("lab", "name", "points"), questions(WITH_CATALOGUE))


@pytest.mark.parametrize("lab", LABS)
def test_each_question_with_points_has_a_file(lab):
    assert set(questions_of(lab)) == {name for name, points in spec(lab).questions if points}


@each_question
def test_the_audit_finds_nothing(lab, name, points):
    assert audit(questions_of(lab)[name], points, solution(lab)[name], SALT) == []


@each_of_before
def test_each_wrong_answer_of_before_has_its_name_and_a_red_card(lab, name, points):
    question = questions_of(lab)[name]
    found, wanted = {}, {}
    for answer in answers_of(lab)["misconception"].get(name, ()):
        hidden = judge_function(question, SALT, answer.function).misconception
        green = judge_function(question, PUBLIC, answer.function).right
        found[answer.name] = (hidden.title if hidden else None, green)
        wanted[answer.name] = (RENAMED.get((lab, answer.name), (answer.title,))[0], False)
    assert found == wanted


@each_of_before
def test_each_right_answer_of_before_is_whole_and_its_card_green(lab, name, points):
    question = questions_of(lab)[name]
    for answer in answers_of(lab)["alternative"].get(name, ()):
        for salt in (SALT, "another salt", PUBLIC):
            judgement = judge_function(question, salt, answer.function)
            assert points_earned(question, salt, points, judgement) == points, answer.name


@pytest.mark.parametrize("lab", [lab for lab in WITH_CATALOGUE if lab in FAIR])
def test_blind_slips_cost_in_sum_what_their_authors_thought_fair(lab):
    given, points = 0.0, dict(spec(lab).questions)
    for name, slips in FAIR[lab].items():
        question = questions_of(lab)[name]
        for answer in loaded_anew(answers_of(lab)["misconception"][name]):
            if answer.name in slips:
                judgement = judge_function(question, SALT, answer.function)
                earned = points_earned(question, SALT, points[name], judgement)
                assert earned >= points[name] / 4 or slips[answer.name] < points[name] / 2, answer.name
                given += earned
    assert given == pytest.approx(
        sum(fair for slips in FAIR[lab].values() for fair in slips.values()), rel=0.1
    )


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
