"""A check whose function never ends is stopped; what was checked before it stays on the card."""

from __future__ import annotations

import re
import sys
import time
from contextlib import suppress

import nbformat
import pytest
from coursekit.checks import time_limit
from coursekit.checks.questions import questions_of
from coursekit.checks.time_limit import TookTooLong, within
from nbclient import NotebookClient

from autograder.course.masters import solution_source

LAB = "01_markov_bigram"


def _for_ever():
    while True:
        pass


def _that_swallows_errors():
    for _ in range(2):
        with suppress(BaseException):
            _for_ever()
    _for_ever()


ENDLESS = [
    _for_ever,
    _that_swallows_errors,
    lambda: time.sleep(60),
    lambda: re.match(r"(a+)+$", "a" * 60 + "b"),
]


@pytest.mark.parametrize("alarm", [True, False])
def test_what_takes_too_long_is_stopped_and_nothing_comes_late_for_what_ends_in_time(alarm, monkeypatch):
    """With an alarm also sleeps and regular expressions; a thread stops what Python runs."""
    monkeypatch.setattr(time_limit, "_AGAIN", 0.05)
    if not alarm:
        monkeypatch.setattr(time_limit, "_may_set_an_alarm", lambda: False)
    for function in ENDLESS if alarm else ENDLESS[:2]:
        with pytest.raises(TookTooLong):
            within(0.2, function)
    for _ in range(20):
        assert within(0.5, sum, [1, 2]) == 3  # a busy machine may keep us waiting for a while
    time.sleep(0.7)


def test_a_debugger_holds_the_clock():
    def step(frame, event, arg):
        return step

    def debugged():
        sys._getframe().f_trace = step
        time.sleep(0.3)
        return "done"

    assert within(0.1, debugged) == "done"


def test_in_a_kernel_the_cell_ends_with_its_card_and_the_next_cell_runs():
    """The card holds the checks before the one that never ends, and how many were not run."""
    first, *others = (len(part["cases"]) for part in questions_of(LAB)["normalise_rows"].parts)
    cells = [
        "import numpy as np\nfrom coursekit import check, start\nfrom coursekit.checks import time_limit",
        f'time_limit.SECONDS = 1\nstart("{LAB}")\n{solution_source(LAB, "normalise_rows")}',
        f"right, asked = normalise_rows, []\ndef endless(N):\n    asked.append(N)\n    while len(asked) > {first}: pass\n    return right(N)",
        'check("normalise_rows", endless)',
        "print('and on')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    card = notebook.cells[3].outputs[0].data["text/plain"]
    assert card.count("✓") == card.count("✗ ") == 1
    assert "`normalise_rows` was stopped in this check after 1 seconds: does a loop never end?" in card
    assert f"({len(others) - 1} more checks were not run)" in card
    assert notebook.cells[4].outputs[0].text == "and on\n"
