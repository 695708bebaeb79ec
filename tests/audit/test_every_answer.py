"""The hidden tests and the public checks of every question, on every answer that the course knows.

One test a question, which says all that it finds. What ``autograder audit`` prints is a part of it.
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest
from coursekit.checks import api
from coursekit.notebook.verdict import Mark, Verdict

from autograder.audit import public_checks
from autograder.audit.hidden_tests import AnswerAudit, audit_question
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


def test_a_check_that_stumbles_over_an_answer_is_found(monkeypatch):
    assert api.checks_of(LAB, QUESTION)

    def stumbles(function):
        """It stumbles."""
        raise IndexError("in the check itself")

    monkeypatch.setitem(api._registry[LAB], QUESTION, [stumbles])
    troubles = audit_public(LAB, QUESTION)
    stumbles = [trouble for trouble in troubles if "stumbles stumbles: IndexError" in trouble.sentence]
    assert {trouble.kind for trouble in stumbles} == {"master", "alternative", "misconception"}


def _on_the_list(monkeypatch, lists):
    package = importlib.import_module("autograder.misconceptions.m01_markov_bigram")
    monkeypatch.setattr(package, "ONLY_UNSEEN", lists)
    troubles = audit_public("01_markov_bigram", "normalise_rows")
    sentences = [
        (trouble.answer, trouble.sentence) for trouble in troubles if "ONLY_UNSEEN" in trouble.sentence
    ]
    return [(answer, sentence.partition("ONLY_UNSEEN")[2]) for answer, sentence in sentences]


def test_a_wrong_answer_that_passes_a_card_must_be_on_the_list(monkeypatch):
    assert api.checks_of("01_markov_bigram", "normalise_rows")
    monkeypatch.setitem(api._registry["01_markov_bigram"], "normalise_rows", [lambda function: None])
    assert ("columns_normalised", "") in _on_the_list(monkeypatch, {})
    listed = {"normalise_rows": {"columns_normalised": "for this test"}}
    assert ("columns_normalised", "") not in _on_the_list(monkeypatch, listed)


def test_the_list_names_only_wrong_answers_that_pass(monkeypatch):
    lists = {"normalise_rows": {"columns_normalised": "not so", "gone": "it was renamed"}}
    assert _on_the_list(monkeypatch, lists) == [
        ("columns_normalised", ", but a public check tells it"),
        ("gone", ", but there is no such misconception"),
    ]


def test_a_sentence_on_a_card_that_nobody_has_read_is_a_fault_until_it_is_accepted(monkeypatch, tmp_path):
    accepted = tmp_path / "cards.json"
    accepted.write_text((public_checks._cards_file(LAB)).read_text())
    monkeypatch.setattr(public_checks, "_cards_file", lambda lab: accepted)
    first, *others = api.checks_of(LAB, QUESTION)

    def says_another_thing(function):
        """Another thing."""
        try:
            first(function)
        except api.Hint:
            raise api.Hint("you forgot the semicolon") from None

    monkeypatch.setitem(api._registry[LAB], QUESTION, [says_another_thing, *others])
    troubles = audit_public(LAB, QUESTION)
    assert troubles and all("its card says “you forgot the semicolon”" in t.sentence for t in troubles)
    public_checks.accept_cards(LAB, [QUESTION])
    assert audit_public(LAB, QUESTION) == []


def _kept(points, keeps="", kind="misconception"):
    failed = SimpleNamespace(
        test=SimpleNamespace(name="test_zeros"), result=SimpleNamespace(passed=False, message="the zeros")
    )
    return AnswerAudit("half_right", kind, points, 4.0, (failed,), keeps).fault


def test_a_misconception_that_keeps_more_than_half_needs_a_reason():
    assert _kept(2.0) == "" and _kept(2.5, "right for rows without zeros") == ""
    assert _kept(2.5).startswith("it keeps more than half")
    assert _kept(4.0, "a reason does not help here") == "it passes every test"
    assert _kept(2.5, kind="alternative") == "test_zeros: the zeros"


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
