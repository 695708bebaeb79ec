"""An answer that keeps something of earlier calls is told so on the card, and no honest one is."""

from __future__ import annotations

import copy
import functools
import inspect
from typing import Any

import numpy as np
from coursekit.checks import questions
from coursekit.checks.api import ANSWERS_DIFFER, judge

from autograder.course.masters import solution

LAB = "01_markov_bigram"


def hints(question: str, answer: Any) -> list[str]:
    return [mark.hint for mark in judge(LAB, question, answer).marks if not mark.passed]


def test_a_table_outside_of_the_function_that_all_checks_let_pass_turns_the_card_red() -> None:
    right, calls = solution(LAB)["normalise_rows"], []

    def normalise_rows(N: Any) -> Any:
        calls.append(1)
        return right(N) + 1e-3 * (len(calls) > asked)

    asked = sum(len(part["cases"]) for part in questions.questions_of(LAB)["normalise_rows"].parts)
    assert hints("normalise_rows", normalise_rows) == [ANSWERS_DIFFER]


def test_the_hint_stands_at_the_first_red_check_or_in_a_line_of_its_own() -> None:
    right = solution("06_positions")["shift_matrix"]
    room: dict[Any, Any] = {}

    def shift_matrix(c: Any, D: Any, base: Any = 10000.0) -> Any:
        M = room.setdefault(D, np.zeros((D, D)))
        M[...] = right(c, D, base)
        return M

    marks = judge("06_positions", "shift_matrix", shift_matrix).marks
    assert "writes into the same array" in next(mark.hint for mark in marks if not mark.passed)


def test_who_answers_alike_is_not_blamed_and_slow_parts_are_not_asked_again(monkeypatch: Any) -> None:
    right, known, calls = solution(LAB)["normalise_rows"], {}, []

    def cached(N: Any) -> Any:
        return known.setdefault((N.shape, N.dtype.str, N.tobytes()), right(N))

    def counted(N: Any) -> Any:
        calls.append(1)
        return right(N)

    for answer in (cached, lambda N: iter(right(N)), counted):
        assert judge(LAB, "normalise_rows", answer).passed
    assert ANSWERS_DIFFER not in hints("normalise_rows", lambda N: {"rows": right(N)}.values())
    twice = len(calls)
    monkeypatch.setattr(questions, "AGAIN_SECONDS", 0.0)
    assert judge(LAB, "normalise_rows", counted).passed and twice > len(calls) - twice > 0


def test_a_change_in_place_is_named_and_spoils_no_later_check() -> None:
    def doubles(x: Any) -> None:
        x *= 2

    for lab, question, change in (
        (LAB, "bigram_counts", lambda words: words.append("ava")),
        ("07_self_attention", "scaled_dot_product_attention", doubles),
    ):
        right = solution(lab)[question]

        @functools.wraps(right)
        def wrong(*given: Any, right: Any = right, change: Any = change) -> Any:
            result = right(*copy.deepcopy(given))
            change(given[0])
            return result

        name = next(iter(inspect.signature(right).parameters))
        red = next(mark.hint for mark in judge(lab, question, wrong).marks if not mark.passed)
        assert f"Your answer changes `{name}`" in red, question
        assert judge(lab, question, right).passed
