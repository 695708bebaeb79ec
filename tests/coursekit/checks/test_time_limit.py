"""A check whose function never ends is stopped; what was checked before it stays on the card."""

from __future__ import annotations

import re
import sys
import time

import nbformat
import pytest
from coursekit.checks import api, time_limit
from coursekit.checks.questions import questions_of
from coursekit.checks.time_limit import TookTooLong, within
from nbclient import NotebookClient

from autograder.course.masters import solution

LAB = "01_markov_bigram"


def _for_ever():
    while True:
        pass


def _that_swallows_errors():
    while True:
        try:
            time.sleep(0.01)
        except:  # noqa: E722
            if (count := getattr(_that_swallows_errors, "count", 0)) > 1:
                raise
            _that_swallows_errors.count = count + 1


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
    _that_swallows_errors.count = 0
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


def test_the_checks_before_stay_on_the_card_and_the_rest_is_said_not_to_have_run(monkeypatch):
    right, asked = solution(LAB)["normalise_rows"], []

    def never_ends_in_its_second_check(counts):
        asked.append(counts)
        return _for_ever() if len(asked) > first else right(counts)

    checks = api.checks_of(LAB, "normalise_rows")
    first = len(questions_of(LAB)["normalise_rows"].parts[0]["cases"])
    monkeypatch.setattr(time_limit, "SECONDS", 0.5)
    marks = api.judge(LAB, "normalise_rows", never_ends_in_its_second_check).marks
    assert [mark.passed for mark in marks] == [True, False]
    assert "`normalise_rows` was stopped in this check after 0 seconds" in marks[1].hint
    assert marks[1].hint.endswith(f"({len(checks) - 2} more checks were not run)")


def test_in_a_kernel_the_cell_ends_with_its_card_and_the_next_cell_runs():
    cells = [
        "from coursekit import check, start\nfrom coursekit.checks import time_limit\ntime_limit.SECONDS = 1",
        f'start("{LAB}")\ndef sample_name(P, rng):\n    while True:\n        rng.random()',
        'check("sample_name", sample_name)',
        "print('and on')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    card = notebook.cells[2].outputs[0].data["text/plain"]
    assert "was stopped in this check after 1 seconds: does a loop never end?" in card
    assert notebook.cells[3].outputs[0].text == "and on\n"
