"""A value that keeps a hidden test busy for ever costs its author that test, and the class nothing."""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from autograder.grading import time_guard
from autograder.grading.time_guard import JUDGING_BYTES, HalfImported, JudgedTooLong, judging
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, command, freeze, hand_in

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

BUSY = """

@question.scenario("What comes back is looked at.")
def what_comes_back_is_looked_at(student, rng):
    import time

    value = np.asarray(student(np.ones((2, 2))))
    while value.dtype == np.float32:
        pass
    if value.dtype == np.float16:
        time.sleep(1000)
    yield Observed("the sum of a row", value.sum(axis=1))
"""
ANSWER = "def normalise_rows(N):\n    s = N.sum(axis=1, keepdims=True)\n    return (N / np.where(s, s, 1)){}"
POLICY = "[limits]\ncell_seconds = 5\ncall_seconds = 5\ntotal_seconds = 30\n"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """A class graded with a hidden test that never ends on single, and sleeps on half precision."""
    root = freeze(tmp_path_factory.mktemp("course"), LAB)
    (root / "course.toml").write_text(POLICY)
    question = root / "autograder" / "questions" / f"m{LAB}" / "normalise_rows.py"
    question.write_text(question.read_text().replace("import Case,", "import Case, Observed,") + BUSY)
    guard = root / "autograder" / "grading" / "time_guard.py"
    text = guard.read_text()
    for seconds, less in (("JUDGING_SECONDS = 30.0", "1.0"), ("GRACE_SECONDS = 120.0", "4.0")):
        assert seconds in text
        text = text.replace(seconds, seconds.split("=")[0] + f"= {less}")
    guard.write_text(text)
    folder = tmp_path_factory.mktemp("class")
    for student, ending in (("ada", ""), ("loops", ".astype(np.float32)"), ("sleeps", ".astype(np.float16)")):
        hand_in(folder / "submitted", student, {"normalise_rows": ANSWER.format(ending)})
    hand_in(folder / "submitted", "zoe", {})
    words = ("--submitted", folder / "submitted", "--out", folder / "out", "--jobs", 2)
    done = command("grade", "01", *words, root=root)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {row["student"]: row for row in json.loads((folder / "out" / "results.json").read_text())}


def test_a_test_that_never_ends_on_a_value_is_stopped_and_the_others_count(rows):
    question = rows["loops"]["questions"][0]
    failed = [test["name"] for test in question["tests"] if not test["passed"]]
    assert rows["loops"]["status"] == "graded" and failed == ["What comes back is looked at."]
    assert "too strange to be judged" in next(t["message"] for t in question["tests"] if not t["passed"])


def test_a_process_that_nothing_stops_is_ended_and_the_class_goes_on(rows):
    assert rows["ada"]["score"] == rows["zoe"]["score"] == 20
    assert rows["sleeps"]["score"] == 0
    assert any("which is not its author's fault" in note for note in rows["sleeps"]["notes"])


def test_only_the_trusted_sides_own_time_counts(monkeypatch):
    import time

    monkeypatch.setattr(time_guard, "JUDGING_SECONDS", 0.2)
    with time_guard.judging():
        time.sleep(0.5)
    with pytest.raises(time_guard.JudgedTooLong), time_guard.judging():
        while True:
            pass
    with time_guard.judging():
        pass


def test_all_that_is_judged_of_one_submission_has_one_clock(monkeypatch):
    monkeypatch.setattr(time_guard, "SUBMISSION_SECONDS", 0.3)
    clock, judged = time_guard.JudgeClock(), []
    for number in range(6):
        try:
            with clock.judging():
                judged.append(number)
                until = time.process_time() + 0.1
                while time.process_time() < until:
                    pass
        except time_guard.JudgedTooLong:
            pass
    assert judged[:3] == [0, 1, 2] and len(judged) < 5
    with pytest.raises(time_guard.JudgedTooLong), clock.judging():
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
        "from autograder.grading.time_guard import JudgedTooLong, judging\n"
        "try:\n    with judging(0.1):\n        while True: pass\nexcept JudgedTooLong: struck = True"
    )
    assert importlib.import_module(name).struck


def test_where_memory_ends_an_import_in_the_middle_nothing_more_is_judged_in_this_process(package):
    name = package(f"import numpy\nnumpy.zeros({2 * JUDGING_BYTES}, numpy.uint8)")
    with pytest.raises(HalfImported, match=name), judging():
        with pytest.raises(MemoryError):
            importlib.import_module(name)
        raise ValueError("what a test makes of it")


def test_an_import_that_is_not_there_spoils_nothing():
    with judging(), pytest.raises(ImportError):
        importlib.import_module("no_such" + "_package")
