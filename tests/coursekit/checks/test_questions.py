"""A card that is made of data: it asks, compares as grading does, and shows a small case with the cause."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from coursekit.checks import api
from coursekit.checks.local_student import LocalStudent, Raised
from coursekit.checks.questions import questions_of
from coursekit.checks.words import difference_in_words, in_words
from coursekit.notebook import cards

from autograder.course.masters import solution

LAB = "07_self_attention"
MASTER = solution(LAB)


def _hint(question, function):
    """The lines of the first ✗; none where the card is green."""
    verdict = api.judge(LAB, question, function)
    return next((mark.hint.splitlines() for mark in verdict.marks if mark.hint), [])


def _smooth(x, y, query, sigma):
    return MASTER["kernel_smooth"](x, y, query, sigma)


def _not_divided(x, y, query, sigma):
    return np.exp(-((query[:, None] - x) ** 2) / (2 * sigma**2)) @ y


def test_a_card_shows_a_small_case_that_fails_and_the_hint_of_whose_values_they_are():
    asked, yours, right, hint = _hint("kernel_smooth", _not_divided)
    assert asked.startswith("Asked: x = [") and ", sigma = " in asked
    assert yours.startswith("Yours: [") and right.startswith("Right: [") and yours[7:] != right[7:]
    assert hint.startswith("Your heights grow with the number of dots nearby")


def test_an_answer_that_is_no_known_one_is_told_what_its_values_show():
    lines = _hint("kernel_smooth", lambda x, y, query, sigma: 3 * _smooth(x, y, query, sigma))
    assert lines[-1] == "Every value is three times what it should be."


def test_whoever_is_right_in_one_more_case_than_a_misconception_gets_no_hint_of_it():
    def almost(x, y, query, sigma):
        return (_smooth if sigma == 2.5 else _not_divided)(x, y, query, sigma)

    assert not any("Your heights grow" in line for line in _hint("kernel_smooth", almost))


def test_an_error_is_named_with_what_was_asked():
    lines = _hint("kernel_smooth", lambda x, y, query, sigma: [1.0][len(x)])
    assert lines[0].startswith("Asked: x = ")
    assert lines[1].startswith("Your function raised IndexError: list index out of range")


def test_a_long_array_is_not_printed_whole_and_a_card_is_short():
    for question in questions_of(LAB):
        for function in (lambda *given, **_: np.arange(3000), MASTER[question]):
            verdict = api.judge(LAB, question, function)
            lines = cards.checked(verdict, 0, 6).words.splitlines()
            assert len(lines) <= len(verdict.marks) + 8 and max(map(len, lines)) < 420
    assert in_words(np.zeros((40, 40))) == "an array of shape (40, 40)"
    value, right = np.zeros((40, 40)), np.zeros((40, 40))
    right[2, 3] = right[9, 9] = 1
    assert difference_in_words(value, right) == ("entry [2, 3]", "0", "1", "2 of 1600 entries differ")
    assert difference_in_words([164.049, 1.0], [164.04, 1.0])[1:3] == ("[164.05, 1]", "[164.04, 1]")


def test_an_answer_is_asked_anew_each_time_and_an_unwritten_one_is_still_to_do():
    right = [False]

    def mended(T):
        return np.tri(T, dtype=bool) if right[0] else np.ones((T, T), dtype=bool)

    def stub(T):
        raise NotImplementedError()

    assert not api.judge(LAB, "causal_mask", mended).passed
    right[0] = True
    assert api.judge(LAB, "causal_mask", mended).passed
    assert not api.judge(LAB, "causal_mask", stub).written


def test_a_scenario_tells_the_students_errors_from_its_own():
    student = LocalStudent(torch.nn.Linear, "Linear")
    with pytest.raises(Raised) as raised:
        student.scene("1 / 0")
    assert isinstance(raised.value.error, ZeroDivisionError)
    with pytest.raises(Raised):
        student(3, 2).call("no_such_part")
