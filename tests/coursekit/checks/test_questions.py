"""A card that is made of data: it asks twice, compares as grading does, and shows a small case with the cause."""

from __future__ import annotations

import copy
import subprocess
import sys
from functools import partial, wraps

import numpy as np
import pytest
import torch
from coursekit.checks import api, questions
from coursekit.checks.local_student import LocalStudent, Raised
from coursekit.checks.questions import questions_of
from coursekit.checks.words import difference_in_words, in_words
from coursekit.notebook import cards

from autograder.course.masters import solution

LAB, FIRST_LAB = "07_self_attention", "01_markov_bigram"
MASTER = solution(LAB)


def _hint(question, function):
    """The lines of the first ✗; none where the card is green."""
    verdict = api.judge(LAB, question, function)
    return next((mark.hint.splitlines() for mark in verdict.marks if mark.hint), [])


def _not_divided(x, y, query, sigma):
    return np.exp(-((query[:, None] - x) ** 2) / (2 * sigma**2)) @ y


def test_a_card_shows_a_small_case_that_fails_and_the_hint_of_whose_values_they_are():
    asked, yours, right, hint = _hint("kernel_smooth", _not_divided)
    assert asked.startswith("Asked: x = [") and ", sigma = " in asked
    assert yours.startswith("Yours: [") and right.startswith("Right: [") and yours[7:] != right[7:]
    assert hint.startswith("Your heights grow with the number of dots nearby")
    unknown = _hint("kernel_smooth", lambda *given: 3 * MASTER["kernel_smooth"](*given))
    assert unknown[-1] == "Every value is three times what it should be."
    asked, error = _hint("kernel_smooth", lambda x, y, query, sigma: [1.0][len(x)])
    assert asked.startswith("Asked: x = ")
    assert error.startswith("Your function raised IndexError: list index out of range")


def test_whoever_is_right_in_one_more_case_than_a_misconception_gets_no_hint_of_it():
    def almost(x, y, query, sigma):
        return (MASTER["kernel_smooth"] if sigma == 2.5 else _not_divided)(x, y, query, sigma)

    assert not any("Your heights grow" in line for line in _hint("kernel_smooth", almost))


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


def test_a_scenario_tells_the_students_errors_from_its_own():
    student = LocalStudent(torch.nn.Linear, "Linear")
    with pytest.raises(Raised) as raised:
        student.scene("1 / 0")
    assert isinstance(raised.value.error, ZeroDivisionError)
    with pytest.raises(Raised):
        student(3, 2).call("no_such_part")


def test_only_the_first_hint_is_shown_and_the_card_says_where_to_begin():
    verdict = api.judge(LAB, "kernel_smooth", lambda *given: 0)
    red = [mark for mark in verdict.marks if not mark.passed]
    assert len(red) > 2 and [mark.hint for mark in red if mark.hint] == [red[0].hint]
    card = cards.checked(verdict, 1, 5)
    assert card.words.count("✗") == len(red) + 1 and card.words.count("→") == 1
    assert cards.FIRST_THINGS_FIRST in card.words and cards.FIRST_THINGS_FIRST in card.markup


def test_outside_a_notebook_a_card_is_said_once():
    lines = 'from coursekit import check, start\nstart("00_warm_up")\ncheck("lookup", lambda H, E: H @ E)\n'
    program = [sys.executable, "-i"]  # at a prompt: where a card's value would be shown, too
    words = subprocess.run(program, input=lines, capture_output=True, text=True, check=True).stdout
    assert words.count("public checks hold") == 1


def test_a_table_outside_of_the_function_that_all_checks_let_pass_turns_the_card_red():
    right, calls = solution(FIRST_LAB)["normalise_rows"], []

    def normalise_rows(N):
        calls.append(1)
        return right(N) + 1e-3 * (len(calls) > asked)

    asked = sum(len(part["cases"]) for part in questions_of(FIRST_LAB)["normalise_rows"].parts)
    verdict = api.judge(FIRST_LAB, "normalise_rows", normalise_rows)
    assert [mark.hint for mark in verdict.marks if not mark.passed] == [api.ANSWERS_DIFFER]
    assert cards.FIRST_THINGS_FIRST not in cards.checked(verdict, 1, 5).words, "there is one alone"


def test_who_answers_alike_is_not_blamed_and_slow_parts_are_not_asked_again(monkeypatch):
    right, known, calls = solution(FIRST_LAB)["normalise_rows"], {}, []

    def cached(N):
        return known.setdefault((N.shape, N.dtype.str, N.tobytes()), right(N))

    def counted(N):
        calls.append(1)
        return right(N)

    for answer in (cached, lambda N: iter(right(N)), counted):
        assert api.judge(FIRST_LAB, "normalise_rows", answer).passed
    unlike = api.judge(FIRST_LAB, "normalise_rows", lambda N: {"rows": right(N)}.values())
    assert api.ANSWERS_DIFFER not in [mark.hint for mark in unlike.marks]
    twice = len(calls)
    monkeypatch.setattr(questions, "AGAIN_SECONDS", 0.0)
    assert api.judge(FIRST_LAB, "normalise_rows", counted).passed and twice > len(calls) - twice > 0


def _changed(change, right, *given):
    """An answer that is right, and then changes what it was given."""
    result = right(*copy.deepcopy(given))
    change(given[0])
    return result


ROOM = np.zeros((8, 8))


def _in_one_array(right, c, D, base=10000.0):
    ROOM[:D, :D] = right(c, D, base)
    return ROOM[:D, :D]


@pytest.mark.parametrize(
    ("lab", "question", "wrong", "hint"),
    [
        (FIRST_LAB, "bigram_counts", partial(_changed, lambda words: words.append("ava")), "changes `words`"),
        (LAB, "scaled_dot_product_attention", partial(_changed, lambda q: np.multiply(q, 2, out=q)), "changes `q`"),
        ("06_positions", "shift_matrix", _in_one_array, "writes into the same array"),
    ],
)  # fmt: skip
def test_a_change_in_place_is_named_and_spoils_no_later_check(lab, question, wrong, hint):
    right = solution(lab)[question]
    verdict = api.judge(lab, question, wraps(right)(partial(wrong, right)))
    assert hint in next(mark.hint for mark in verdict.marks if not mark.passed)
    assert api.judge(lab, question, right).passed
