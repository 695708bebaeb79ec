"""A card explains the first thing that is wrong, and says no more than is known."""

from __future__ import annotations

import subprocess
import sys

import pytest
from coursekit.checks import api
from coursekit.checks.encoding import encode
from coursekit.checks.questions import QuestionCard, questions_of
from coursekit.notebook import cards

LAB = "01_markov_bigram"
CALLS = {"It starts at 1.": (0, 1), "It doubles.": (1, 2), "It knows words.": ("a", "aa")}


def made_of_calls() -> QuestionCard:
    """A question with three checks of one call each."""
    parts = [
        {"name": title, "title": title,
         "cases": [{"asked": encode(([asked], {})), "right": {"value": encode(right)}, "slips": {}}]}
        for title, (asked, right) in CALLS.items()
    ]  # fmt: skip
    data = {"forbidden": [], "parts": parts, "misconceptions": [], "code": "", "impostors": []}
    return QuestionCard("normalise_rows", data)


@pytest.fixture
def verdict_of(monkeypatch):
    monkeypatch.setitem(questions_of(LAB), "normalise_rows", made_of_calls())
    return lambda function: api.judge(LAB, "normalise_rows", function)


def test_only_the_first_hint_is_shown_and_the_card_says_where_to_begin(verdict_of):
    verdict = verdict_of(lambda x: 0)
    hints = [mark.hint for mark in verdict.marks]
    assert "Yours: 0\nRight: 1" in hints[0] and hints[1:] == ["", ""]
    card = cards.checked(verdict, 1, 5)
    assert card.words.count("✗") == 3 + 1 and card.words.count("→") == 1
    assert cards.FIRST_THINGS_FIRST in card.words and cards.FIRST_THINGS_FIRST in card.markup


def test_a_single_failure_needs_no_advice_where_to_begin(verdict_of):
    verdict = verdict_of(lambda x: {0: 1, 1: 2}.get(x))
    assert [bool(mark.hint) for mark in verdict.marks] == [False, False, True]
    assert cards.FIRST_THINGS_FIRST not in cards.checked(verdict, 1, 5).words


def test_outside_a_notebook_a_card_is_said_once() -> None:
    lines = 'from coursekit import check, start\nstart("00_warm_up")\ncheck("lookup", lambda H, E: H @ E)\n'
    program = [sys.executable, "-i"]  # at a prompt: where a card's value would be shown, too
    words = subprocess.run(program, input=lines, capture_output=True, text=True, check=True).stdout
    assert words.count("public checks hold") == 1
