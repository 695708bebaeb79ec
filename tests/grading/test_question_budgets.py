"""What never ends costs its own question's time: no other's, and nothing that was made before it (see the class of accidents)."""

from __future__ import annotations

import time

import pytest

from autograder.grading import time_guard
from autograder.grading.budgets import Budgets
from autograder.grading.time_guard import JudgeClock, JudgedTooLong
from autograder.sandbox.host.reruns import before_line, harmless_part
from autograder.sandbox.limits import Limits


class Recorder:
    """A session that only notes what is reserved."""

    limits = Limits(total_seconds=40)

    def start_question(self, reserved: float) -> None:
        self.reserved = reserved


def test_each_question_leaves_the_others_what_is_theirs(monkeypatch):
    session, clock, now = Recorder(), JudgeClock(), [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    budgets = Budgets(session, clock, ["one", "two"])
    assert session.reserved == 10.0
    with budgets.of("one"):
        assert session.reserved == 5.0
        now[0] += 3.0
    with budgets.of("two"):
        assert session.reserved == 2.0  # what "one" has left of its own
        now[0] += 20.0
    with budgets.of("one"):
        assert session.reserved == 0.0


def test_no_question_spends_the_others_time_to_be_judged(monkeypatch):
    clock = JudgeClock()
    each = time_guard.SUBMISSION_SECONDS / 8
    budgets = Budgets(Recorder(), clock, ["one", "two"])
    with budgets.of("one"):
        assert clock.reserved == each
        clock.left = each
        with pytest.raises(JudgedTooLong), clock.judging():
            raise AssertionError("nothing of this question is judged any more")
    with budgets.of("two"), clock.judging():
        pass


CELL = "import math\nx = 1; y = f(x)\n\n\n@cache\ndef g():\n    return 1\n\n\nfor i in g():\n    while True:\n        pass"


def test_of_an_interrupted_cell_all_runs_again_that_stands_before_the_statement():
    rest = {1: "", 2: "import math\n", 7: "import math\nx = 1; y = f(x)\n\n\n", 12: CELL.partition("for")[0]}
    assert {line: before_line(CELL, line) for line in rest} == rest
    assert before_line("é = 1; loop()", 1) == ""
    assert before_line("x = 1\né = 2; loop(\n)", 3) == "x = 1\né = 2; "


def test_of_a_cell_that_ended_its_process_the_harmless_part_runs_again():
    rest = {
        "import os\nEPS = 1e-9\nx = f()\nos._exit(0)": "import os\n\nEPS = 1e-09",
        "kept = globals().get('f')\ncheck('f', f)": "kept = globals().get('f')",
        "class A:\n    pass\n\n\nA()": "class A:\n    pass",
        **{"%time f()": "", "f(": "", "# nothing": ""},
    }
    assert {source: harmless_part(source) for source in rest} == rest
