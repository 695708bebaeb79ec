"""What never ends costs its own question's time: no other's, and nothing that was made before it (see the class of accidents)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from autograder.grading.grader import Judged, endless_in, start_turn
from autograder.results import QuestionResult
from autograder.sandbox.host.cells import part_to_rerun
from autograder.sandbox.limits import Limits


def test_each_question_leaves_the_later_turns_what_is_theirs():
    reserved: list[float] = []
    session = SimpleNamespace(limits=Limits(total_seconds=40), start_question=reserved.append)
    for turn in range(4):
        start_turn(cast(Any, session), turn, 4)
    assert reserved == [7.5, 5.0, 2.5, 0.0]


def test_an_answer_that_builds_on_an_endless_one_is_endless_too():
    statuses = {"split_heads": "crashed", "multi_head_attention": "timed-out"}
    judged = {
        name: Judged(QuestionResult(name, 0, 1, ()), status=status) for name, status in statuses.items()
    }
    assert endless_in("08_multi_head", judged) == {"multi_head_attention", "MultiHeadAttention"}


CELL = "import math\nx = 1; y = f(x)\n\n\n@cache\ndef g():\n    return 1\n\n\nfor i in g():\n    while True:\n        pass"


def test_of_an_interrupted_cell_all_runs_again_that_stands_before_the_statement():
    rest = {1: "", 2: "import math\n", 7: "import math\nx = 1; y = f(x)\n\n\n", 12: CELL.partition("for")[0]}
    assert {line: part_to_rerun(CELL, line) for line in rest} == rest
    assert part_to_rerun("é = 1; loop()", 1) == ""
    assert part_to_rerun("x = 1\né = 2; loop(\n)", 3) == "x = 1\né = 2; "


def test_of_a_cell_that_ended_its_process_the_harmless_part_runs_again():
    rest = {
        "import os\nEPS = 1e-9\nx = f()\nos._exit(0)": "import os\n\nEPS = 1e-09",
        "kept = globals().get('f')\ncheck('f', f)": "kept = globals().get('f')",
        "class A:\n    pass\n\n\nA()": "class A:\n    pass",
        **{"%time f()": "", "f(": "", "# nothing": ""},
    }
    assert {source: part_to_rerun(source, 0) for source in rest} == rest
