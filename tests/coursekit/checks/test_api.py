"""A card blames the answer that is wrong: an earlier one where that is so, and never an unwritten one for another."""

from __future__ import annotations

import pytest
from coursekit.checks import api
from coursekit.notebook.verdict import last_verdicts

from autograder.course.masters import solution_sources

LAB = "01_markov_bigram"
RIGHT = solution_sources(LAB)
WRONG = "def normalise_rows(N):\n    return N / N.sum()\n"
UNWRITTEN = "def normalise_rows(N):\n    raise NotImplementedError()\n"


@pytest.fixture
def cards(monkeypatch):
    """The cards of both questions, for the source of a notebook that answers them."""
    monkeypatch.setattr(api, "_lab", LAB)
    last_verdicts.clear()

    def check(source: str):
        names = {"__name__": "__main__"}
        exec("import numpy as np\n" + source, names)
        return [api.check(name, names[name]).words for name in ("normalise_rows", "transition_matrix")]

    yield check
    last_verdicts.clear()


FIRST = "your earlier `normalise_rows` is not right yet: mend that first"
HELPED = RIGHT["transition_matrix"].replace("normalise_rows(N)", "rows(N)")
CALLED = """
class Called:
    def __init__(self, f):
        self.f = f
    def __call__(self, *given):
        return self.f(*given)
    @property
    def rows(self):
        return normalise_rows(self.f)
"""
ROWS = "def rows(N):\n    return normalise_rows(N)\n"
ANSWER = "transition_matrix(*given):\n    return [], rows(np.ones((2, 2)))\n"
#: How an answer may come to the earlier one: by a helper of any kind, or as something that is no plain function itself.
WAYS = [
    RIGHT["transition_matrix"],
    ROWS + HELPED,
    f"rows = functools.partial(lambda f, N: f(N), normalise_rows)\n{HELPED}",
    f"rows = Called(normalise_rows)\n{HELPED}",
    f"rows = lambda N: Called(N).rows\n{HELPED}",
    f"@torch.no_grad()\n{ROWS}{HELPED}",
    f"{ROWS}def {ANSWER}transition_matrix = functools.partial(transition_matrix, 1)",
    f"{ROWS}def {ANSWER}transition_matrix = Called(transition_matrix)",
    f"{ROWS}@functools.cache\ndef {ANSWER}",
]


@pytest.mark.parametrize("way", WAYS)
def test_a_failure_that_may_follow_from_an_earlier_answer_names_that_one_and_nothing_else(cards, way):
    earlier, later = cards(f"import functools\nimport torch\n{WRONG}{CALLED}{way}\n")
    assert "✗" in earlier and later.count("→") == 1 and f"→ {FIRST}" in later


def test_an_answer_that_does_not_use_the_wrong_one_gets_its_own_hint_and_a_right_one_is_not_blamed(cards):
    other = "class Other:\n    def normalise_rows(self):\n        return [], np.zeros((0, 0))\n"
    alone = "def transition_matrix(sentences, weights):\n    return Other().normalise_rows()\n"
    assert FIRST not in cards(WRONG + other + alone)[1], "a method of the same name is another thing"
    alone = "def transition_matrix(sentences, weights):\n    return [], np.zeros((0, 0))\n"
    _, later = cards(WRONG + alone)
    assert FIRST not in later and "Yours, first result: []" in later
    wrong = RIGHT["transition_matrix"].replace("+= weight", "+= 1")
    earlier, later = cards(f"{RIGHT['normalise_rows']}\n{wrong}")
    assert "✗" not in earlier and FIRST not in later and "add its weight, not 1" in later


def test_an_answer_that_calls_an_unwritten_one_or_ends_the_program_is_told_so(cards):
    earlier, later = cards(UNWRITTEN + RIGHT["transition_matrix"])
    assert "normalise_rows: not written yet" in earlier and "transition_matrix: not written" not in later
    assert "→ it calls your `normalise_rows`, which is not written yet: write that first" in later
    earlier, _ = cards("def normalise_rows(N):\n    raise SystemExit\n" + RIGHT["transition_matrix"])
    assert earlier.count("→ your function ends the program") == 1
