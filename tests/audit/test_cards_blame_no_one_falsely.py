"""No card says that a function raised an error which the check itself ran into with what the function returned."""

from __future__ import annotations

import warnings

import pytest
from coursekit.checks.api import judge

from autograder.course.masters import all_labs
from autograder.course.policy_file import spec

QUESTIONS = [(lab, question) for lab in all_labs() for question, _ in spec(lab).questions]
RUBBISH = {
    "nothing": None,
    "a text": "a smooth curve",
    "a number": 7.5,
    "an empty list": [],
    "lists of unequal lengths": [[1.0], [2.0, 3.0]],
    "a dictionary": {"output": 1},
    "a function": len,
    "three things": (None, "two", {}),
}


@pytest.mark.parametrize(("lab", "question"), QUESTIONS, ids=[f"{lab[:2]} {name}" for lab, name in QUESTIONS])
def test_a_function_that_returns_rubbish_is_not_said_to_have_raised_an_error(lab, question):
    said = {}
    for name, rubbish in RUBBISH.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            marks = judge(lab, question, lambda *given, _rubbish=rubbish, **named: _rubbish).marks
        hints = [mark.hint for mark in marks if mark.hint]
        assert hints, f"{name} has a green card"
        said[name] = [hint for hint in hints if hint.startswith("your function raised")]
    assert not any(said.values()), said
