"""An answer that keeps something of earlier calls is told so on the card, and no honest one is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from coursekit.checks.api import ANSWERS_DIFFER, judge, load
from coursekit.checks.asked_again import Asked

from autograder.course.masters import solution

LAB = "01_markov_bigram"


def hints(question: str, answer: Any) -> list[str]:
    return [mark.hint for mark in judge(LAB, question, answer).marks if not mark.passed]


def test_a_table_outside_of_the_function_that_all_checks_let_pass_turns_the_card_red() -> None:
    right, calls = solution(LAB)["normalise_rows"], []

    def normalise_rows(N: Any) -> Any:
        calls.append(1)
        return right(N) + 1e-3 * (len(calls) > asked)

    asked = sum(len(part["cases"]) for part in load(LAB)["normalise_rows"].parts)
    assert hints("normalise_rows", normalise_rows) == [ANSWERS_DIFFER]


def test_a_generator_of_its_own_is_seen() -> None:
    right = solution(LAB)["sample_name"]
    own = hints("sample_name", lambda P, rng: right(P, np.random.default_rng()))
    assert any("All randomness must come from the generator rng" in hint for hint in own)


def test_the_hint_stands_at_the_first_red_check_or_in_a_line_of_its_own() -> None:
    right = solution("06_positions")["shift_matrix"]
    room: dict[Any, Any] = {}

    def shift_matrix(c: Any, D: Any, base: Any = 10000.0) -> Any:
        M = room.setdefault(D, np.zeros((D, D)))
        M[...] = right(c, D, base)
        return M

    marks = judge("06_positions", "shift_matrix", shift_matrix).marks
    assert "writes into the same array" in next(mark.hint for mark in marks if not mark.passed)


def test_one_array_for_all_calls_is_seen_and_who_changes_an_earlier_result_is_not_blamed_for_it() -> None:
    room: dict[Any, Any] = {}

    def overwrites(N: Any) -> Any:
        room.setdefault(N.shape, N.copy())[...] = N
        return room[N.shape]

    def halved(x: Any) -> Any:
        x /= 2
        return x

    asked, again = Asked(overwrites), Asked(halved)
    first = asked.function(np.eye(3))
    asked.function(np.ones((3, 3)))
    assert asked.overwrites and first[0, 1] == 1
    again.function(again.function(np.ones(3)))
    assert not again.overwrites


def test_who_answers_alike_is_not_blamed() -> None:
    answers: tuple[Callable[..., Any], ...] = (
        lambda x: {"a": x, "b": [x, float("nan")]},
        cache(lambda x: np.full(3, np.nan)),
        lambda x: (object(), iter([x])),
    )
    for answer in answers:
        asked = Asked(answer)
        for x in range(3):
            asked.function(x)
        assert not asked.answers_differ() and not asked.overwrites
    draws = Asked(lambda rng, n: rng.normal(size=n))
    draws.function(np.random.default_rng(1), 3)
    assert not draws.answers_differ(), "the generator is as it was at the first call"


def test_large_and_slow_calls_and_those_with_functions_are_not_made_again() -> None:
    seen = []
    asked = Asked(lambda x: seen.append(1))
    asked.function(np.zeros(20_000))
    asked.function(lambda: None)
    assert len(seen) == 2
    assert not asked.answers_differ()
    assert len(seen) == 2
