"""The public checks of every lab, on every answer that the course knows."""

from __future__ import annotations

import warnings

import pytest
from coursekit.checks import api

from autograder.audit.public_checks import audit_public
from autograder.course.masters import all_labs
from autograder.course.policy_file import spec


@pytest.mark.parametrize("lab", all_labs())
def test_right_answers_pass_and_no_wrong_one_breaks_a_check(lab):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        troubles = {question: audit_public(lab, question) for question, _ in spec(lab).questions}
    assert {question: found for question, found in troubles.items() if found} == {}


def test_a_check_that_stumbles_over_an_answer_is_found(monkeypatch):
    lab = "01_markov_bigram"
    assert api.checks_of(lab, "normalise_rows")

    def stumbles(function):
        """It stumbles."""
        raise IndexError("in the check itself")

    monkeypatch.setitem(api._registry[lab], "normalise_rows", [stumbles])
    troubles = audit_public(lab, "normalise_rows")
    assert {trouble.kind for trouble in troubles} == {"master", "alternative", "misconception"}
    assert all("stumbles stumbles: IndexError" in trouble.sentence for trouble in troubles)
