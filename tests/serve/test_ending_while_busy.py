"""A service that ends while notebooks are graded leaves no process behind, however it ends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import solved
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB
from tests.fixtures.live_class import Served

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, frozen: Path) -> Iterator[Served]:
    service = Served(frozen, tmp_path_factory.mktemp("busy") / "out", LAB)
    yield service
    service.stop()


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, directly or not."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found |= {child} | descendants(child)
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_that_is_busy_ends_with_the_service(served, number):
    token = served.invite("ada")["ada"]
    served.start()
    endless = answered(LAB, solved(LAB))
    endless.cells.insert(1, nbformat.v4.new_code_cell(f"open('began', 'w')\nwhile True: {int(number)}"))
    answer = served.ask(f"/labs/{LAB}/hand-in", nbformat.writes(endless).encode(), token)
    assert answer.status == 201
    before = descendants(served.process.pid)
    while not (started := descendants(served.process.pid) - before):  # the submission's own process
        time.sleep(0.05)
    started |= before
    os.kill(served.process.pid, number)
    served.process.wait(120)
    left, until = started, time.monotonic() + 45
    while left and time.monotonic() < until:
        left = set(filter(is_running, left))
        time.sleep(0.1)
    assert not left
