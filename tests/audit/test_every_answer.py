"""The hidden tests and the public checks of every question, on every answer that the course knows.

One test a question, which says all that it finds. What ``autograder audit`` prints is a part of it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from coursekit.notebook.verdict import Mark, Verdict

from autograder.audit.hidden_tests import audit_question
from autograder.audit.public_checks import audit_public
from autograder.course.masters import all_labs, solution
from autograder.course.policy_file import spec
from autograder.testing import catalogue
from tests.audit import one_pass, slips, styles
from tests.audit.one_pass import faults, faults_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("answers")]

QUESTIONS = [(lab, question) for lab in all_labs() for question, _ in spec(lab).questions]
each_question = pytest.mark.parametrize(
    ("lab", "question"), QUESTIONS, ids=[f"{lab[:2]} {question}" for lab, question in QUESTIONS]
)


@each_question
def test_a_question_judges_every_answer_as_it_should(lab, question):
    assert faults(lab, question) == []


LAB, QUESTION = "01_markov_bigram", "normalise_rows"


def _with(monkeypatch, kind, *answers):
    known = catalogue.answers_of(LAB)
    changed = known | {kind: known[kind] | {QUESTION: (*known[kind][QUESTION], *answers)}}
    for module in ("autograder.audit.hidden_tests", "autograder.audit.public_checks"):
        monkeypatch.setattr(f"{module}.answers_of", lambda lab: changed)


def test_a_misconception_that_passes_is_named(monkeypatch):
    right = catalogue.answers_of(LAB)["alternative"][QUESTION][0].function
    _with(
        monkeypatch,
        "misconception",
        catalogue.Answer(QUESTION, "passes_by_mistake", "passes", right, "A hint."),
    )
    assert any(
        "misconception passes_by_mistake keeps 4 of 4" in fault
        for fault in faults_of(audit_question(LAB, QUESTION, 4.0))
    )


def test_a_misconception_without_its_hint_on_the_card_is_found(monkeypatch):
    name = "columns_normalised"
    known = next(a for a in catalogue.answers_of(LAB)["misconception"][QUESTION] if a.name == name)
    other = replace(known, hint="Something else.")
    _with(monkeypatch, "misconception", other)
    assert (name, "its card does not show its hint") in [
        (t.answer, t.sentence) for t in audit_public(LAB, QUESTION)
    ]


def test_a_slip_that_costs_nothing_is_named(monkeypatch):
    right = slips.Slip(QUESTION, "right after all", solution(LAB)[QUESTION], "a little", True)
    monkeypatch.setattr(one_pass, "slips_of", lambda *_: [right])
    expected = "slip “right after all”: it keeps 100% of the points and should lose a little"
    assert list(one_pass._slips(LAB, QUESTION)) == [expected]


def test_a_style_that_loses_points_is_named(monkeypatch):
    monkeypatch.setitem(styles.STYLES, "lists for arrays", lambda function: lambda N: [[0.0]])
    found = list(one_pass._honest_variations(LAB, QUESTION))
    assert found and all("lists for arrays" in fault for fault in found)


def test_an_answer_that_a_hidden_test_sends_into_the_sandbox_is_named(monkeypatch):
    monkeypatch.setattr(
        one_pass, "run_question", lambda lab, question, student: student.scene("def normalise_rows(N): ...")
    )
    expected = ["a hidden test sends an answer to normalise_rows into the sandbox"]
    assert list(one_pass._nothing_given_away(LAB, QUESTION)) == expected


def test_a_card_that_blames_an_error_on_rubbish_is_named(monkeypatch):
    blames = Verdict(QUESTION, (Mark("A check.", False, "your function raised KeyError"),))
    monkeypatch.setattr(one_pass, "judge", lambda *_: blames)
    assert len(list(one_pass._rubbish(LAB, QUESTION))) == len(one_pass.RUBBISH)
