"""What never ends costs its author that test or question, and the class nothing (see also the class of accidents)."""

import importlib
import resource
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.grading.grader import Judged, endless_in, run_tests, start_turn
from autograder.judging import time_guard
from autograder.judging.run import HiddenTest
from autograder.judging.time_guard import JUDGING_BYTES, HalfImported, JudgedTooLong, judging
from autograder.results import QuestionResult
from autograder.sandbox.host.cells import part_to_rerun
from autograder.sandbox.host.student import Student
from autograder.sandbox.limits import Limits


def test_a_test_that_never_ends_on_a_value_is_stopped_and_the_others_count(monkeypatch):
    def never_ends(student):
        value = student(1)
        while value == 1:
            pass

    def ends(student):
        assert student(2) == 2

    monkeypatch.setattr(time_guard, "JUDGING_SECONDS", 0.2)
    tests = [HiddenTest("same", "a_test", "It is the same.", test, 1.0, "01") for test in (never_ends, ends)]
    session = SimpleNamespace(
        is_over=False, status=None, revive=lambda: True,
        student=lambda name: Student.local_namespace({name: lambda x: x}, name),
    )  # fmt: skip
    stopped, passed = run_tests(session, time_guard.JudgeClock(), "same", tests, "same").runs
    assert passed.result.passed and not stopped.result.passed
    assert "too strange to be judged" in stopped.result.message


def test_a_process_that_nothing_stops_is_ended():
    """That the class then goes on: ``run/test_nothing_lost``."""
    code = "import time\nfrom autograder.judging import time_guard\ntime_guard.GRACE_SECONDS = 0.1\n"
    code += "with time_guard.ends_after(0.1):\n    time.sleep(600)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=300).returncode == 1


def test_all_that_is_judged_of_one_question_has_one_clock_of_which_each_test_leaves_half():
    """Only the trusted side's own time counts, not that for which it waits."""
    clock = time_guard.JudgeClock(0.4)
    with clock.judging():
        time.sleep(0.5)
    with pytest.raises(JudgedTooLong), clock.judging():
        while True:
            pass
    assert 0.1 < clock.left < 0.25
    clock.left = 0
    with pytest.raises(JudgedTooLong), clock.judging():
        raise AssertionError("nothing is judged any more")


def test_judging_takes_a_bounded_amount_of_memory_and_gives_the_limit_back():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with judging():
        with pytest.raises(MemoryError):
            np.zeros(2 * JUDGING_BYTES, np.uint8)
        assert np.zeros(JUDGING_BYTES // 4, np.uint8).size
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """``package(body)`` makes a package of a module, which it imports, and of that body; its name."""
    made: list[str] = []

    def make(body: str) -> str:
        made.append(f"package_of_{tmp_path.name}_{len(made)}".replace("-", "_"))
        folder = tmp_path / made[-1]
        folder.mkdir()
        (folder / "part.py").write_text("")
        (folder / "__init__.py").write_text(f"from {made[-1]} import part\n{body}\nwhole = True\n")
        return made[-1]

    monkeypatch.syspath_prepend(tmp_path)
    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] in made]:
        del sys.modules[name]


WORKS = "import time\nuntil = time.process_time() + 0.4\nwhile time.process_time() < until: pass"


def test_an_import_under_way_is_made_whole_before_the_clock_strikes(package):
    name, began = package(WORKS), time.process_time()
    with pytest.raises(JudgedTooLong), judging(0.1):
        importlib.import_module(name)
        while True:
            pass
    assert sys.modules[name].whole and time.process_time() - began < 0.8


def test_a_clock_that_is_started_within_an_import_strikes_all_the_same(package):
    name = package(
        "from autograder.judging.time_guard import JudgedTooLong, judging\n"
        "try:\n    with judging(0.1):\n        while True: pass\nexcept JudgedTooLong: struck = True"
    )
    assert importlib.import_module(name).struck


def test_where_memory_ends_an_import_in_the_middle_nothing_more_is_judged_in_this_process(package):
    name = package(f"import numpy\nnumpy.zeros({2 * JUDGING_BYTES}, numpy.uint8)")
    with judging(), pytest.raises(ImportError):
        importlib.import_module("no_such" + "_package")  # which spoils nothing
    with pytest.raises(HalfImported, match=name), judging():
        with pytest.raises(MemoryError):
            importlib.import_module(name)
        raise ValueError("what a test makes of it")


def test_each_question_leaves_the_later_turns_what_is_theirs():
    reserved: list[float] = []
    session = SimpleNamespace(limits=Limits(total_seconds=40), start_question=reserved.append)
    for turn in range(4):
        start_turn(session, turn, 4)
    assert reserved == [7.5, 5.0, 2.5, 0.0]


def test_an_answer_that_builds_on_an_endless_one_is_endless_too():
    statuses = {"split_heads": "crashed", "multi_head_attention": "timed-out"}
    judged = {
        name: Judged(QuestionResult(name, 0, 1, ()), status=status) for name, status in statuses.items()
    }
    assert endless_in("08_multi_head", judged) == {"multi_head_attention", "MultiHeadAttention"}


CELL = "import math\nx = 1; y = f(x)\n\n\n@cache\ndef g():\n    return 1\n\n\nfor i in g():\n    while True:\n        pass"


def test_of_a_stopped_cell_what_stands_before_or_is_harmless_runs_again():
    rest = {1: "", 2: "import math\n", 7: "import math\nx = 1; y = f(x)\n\n\n", 12: CELL.partition("for")[0]}
    assert {line: part_to_rerun(CELL, line) for line in rest} == rest
    assert part_to_rerun("é = 1; loop()", 1) == ""
    assert part_to_rerun("x = 1\né = 2; loop(\n)", 3) == "x = 1\né = 2; "
    harmless = {
        "import os\nEPS = 1e-9\nx = f()\nos._exit(0)": "import os\n\nEPS = 1e-09",
        "kept = globals().get('f')\ncheck('f', f)": "kept = globals().get('f')",
        "class A:\n    pass\n\n\nA()": "class A:\n    pass",
        **{"%time f()": "", "f(": "", "# nothing": ""},
    }
    assert {source: part_to_rerun(source, 0) for source in harmless} == harmless
