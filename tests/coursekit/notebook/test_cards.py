"""A card explains the first thing that is wrong, and says no more than is known."""

from __future__ import annotations

import subprocess
import sys

import pytest
from coursekit.checks import api
from coursekit.checks.api import ensure
from coursekit.notebook import cards

LAB = "01_markov_bigram"


def _starts_at_one(function):
    """It starts at 1."""
    ensure(function(0) == 1, "it starts elsewhere: add 1")


def _doubles(function):
    """It doubles."""
    ensure(function(1) == 2, "2 is expected: is there a square?")


def _knows_words(function):
    """It knows words."""
    ensure(function("a") == "aa", "words are doubled, too")


@pytest.fixture
def verdict_of(monkeypatch):
    api.checks_of(LAB, "normalise_rows")
    monkeypatch.setitem(api._registry[LAB], "normalise_rows", [_starts_at_one, _doubles, _knows_words])
    monkeypatch.setattr(api, "forbidden_calls", lambda *_: ())
    return lambda function: api.judge(LAB, "normalise_rows", function)


def test_only_the_first_hint_is_shown_and_the_card_says_where_to_begin(verdict_of):
    verdict = verdict_of(lambda x: 0)
    assert [mark.hint for mark in verdict.marks] == ["it starts elsewhere: add 1", "", ""]
    card = cards.checked(verdict, 1, 5)
    assert card.words.count("✗") == 3 + 1 and card.words.count("→") == 1
    assert cards.FIRST_THINGS_FIRST in card.words and cards.FIRST_THINGS_FIRST in card.markup


def test_an_error_is_told_also_behind_a_hint_but_only_once(verdict_of):
    hints = [mark.hint for mark in verdict_of(lambda x: x + 0).marks]
    assert hints[:2] == ["it starts elsewhere: add 1", ""] and "raised TypeError" in hints[2]
    hints = [mark.hint for mark in verdict_of(lambda x: 1 / 0).marks]
    assert "raised ZeroDivisionError" in hints[0] and hints[1:] == ["", ""]


def test_a_single_failure_needs_no_advice_where_to_begin(verdict_of):
    verdict = verdict_of(lambda x: {0: 1, 1: 2}.get(x))
    assert [mark.hint for mark in verdict.marks] == ["", "", "words are doubled, too"]
    assert cards.FIRST_THINGS_FIRST not in cards.checked(verdict, 1, 5).words


def test_the_cards_say_that_answers_in_words_are_not_counted():
    assert "answers in words" in cards.overview(LAB, ["a", "b"], {}).words
    assert "answer in words" in cards.started(LAB, ["a", "b"]).words


@pytest.mark.parametrize("options", [[], ["-i"]], ids=["a program", "a prompt"])
def test_outside_a_notebook_a_card_is_said_once(options: list[str]) -> None:
    lines = 'from coursekit import check, start\nstart("00_warm_up")\ncheck("lookup", lambda H, E: H @ E)\n'
    words = subprocess.run(
        [sys.executable, *options], input=lines, capture_output=True, text=True, check=True
    ).stdout
    assert words.count("lookup: 4 of 4 public checks hold") == 1
