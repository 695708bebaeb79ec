"""The hidden tests and the public checks of every question, on every answer that the course knows.

One test a question, which says all that it finds. What ``autograder audit`` prints is a part of it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from coursekit.notebook.verdict import Mark, Verdict

from autograder.audit.question import card_faults
from autograder.course.masters import all_labs
from autograder.course.policy_file import spec
from autograder.judging import run
from autograder.questions.engine.answers import answers_of
from autograder.questions.engine.question import questions_of
from tests.audit import one_pass, styles
from tests.audit.one_pass import faults

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("answers")]

QUESTIONS = [(lab, question) for lab in all_labs() for question, _ in spec(lab).questions]
each_question = pytest.mark.parametrize(
    ("lab", "question"), QUESTIONS, ids=[f"{lab[:2]} {question}" for lab, question in QUESTIONS]
)


@each_question
def test_a_question_judges_every_answer_as_it_should(lab, question):
    assert faults(lab, question) == []


@pytest.mark.parametrize("lab", all_labs())
def test_each_question_with_points_has_a_file(lab):
    assert set(questions_of(lab)) == {name for name, points in spec(lab).questions if points}


LAB, QUESTION = "01_markov_bigram", "normalise_rows"


def test_each_kind_of_fault_is_named(monkeypatch):
    answer = next(a for a in answers_of(LAB)["misconception"][QUESTION] if a.name == "columns_normalised")
    assert card_faults(LAB, QUESTION, answer.function, answer) == ()
    other = replace(answer, hint="Something else.")
    assert card_faults(LAB, QUESTION, answer.function, other) == ("its card does not show its hint",)
    monkeypatch.setitem(styles.STYLES, "lists for arrays", lambda function: lambda N: [[0.0]])
    found = list(one_pass._honest_variations(LAB, QUESTION))
    assert found and all("lists for arrays" in fault for fault in found)
    sends = "def normalise_rows(N): ..."
    monkeypatch.setattr(one_pass, "run_question", lambda lab, question, student: student.scene(sends))
    expected = ["a hidden test sends an answer to normalise_rows into the sandbox"]
    assert list(one_pass._nothing_given_away(LAB, QUESTION)) == expected
    blames = Verdict(QUESTION, (Mark("A check.", False, "your function raised KeyError"),))
    monkeypatch.setattr(one_pass, "judge", lambda *_: blames)
    for salt, kinds in ((run.salt(), one_pass._few(QUESTION)), ("another", one_pass.RUBBISH)):
        monkeypatch.setattr(one_pass, "SALT", salt)
        assert len(list(one_pass._rubbish(LAB, QUESTION))) == len(kinds)
