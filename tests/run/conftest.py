"""A class that is graded once in one go, for the tests in which a run is disturbed; and how a run is begun and watched."""

import contextlib
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.results import SubmissionResult
from autograder.run.store import STORE, ResultStore
from tests.fixtures.frozen_course import BROKEN, LAB, STARTED_BY, WRONG, command, environment, hand_in
from tests.gradebook.by_hand import dump

STUDENTS = 8
EXITS = {"normalise_rows": "def normalise_rows(N):\n    import os\n    os._exit(1)"}


@pytest.fixture(scope="session")
def submitted(tmp_path_factory) -> Path:
    """A class with right, wrong, broken and hostile answers, in which everybody's notebook is different."""
    folder = tmp_path_factory.mktemp("class") / "submitted"
    for number in range(STUDENTS):
        path = hand_in(folder, f"student_{number:02d}", ({}, WRONG, BROKEN, EXITS)[number % 4])
        path.write_text(path.read_text().replace("follows from", f"({number}) follows from"))
        path.with_name("timestamp.txt").write_text(f"2026-10-01 12:{number:02d}:00 UTC\n")
    return folder


@pytest.fixture(scope="session")
def undisturbed(submitted: Path, frozen: Path, tmp_path_factory) -> Path:
    """The folder into which the class was graded in one go."""
    out = tmp_path_factory.mktemp("undisturbed")
    done = command("grade", "01", "--submitted", submitted, "--out", out, "--jobs", 1, root=frozen)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def begun(root: Path, submitted: Path, out: Path, *words: object, verb: str = "grade") -> subprocess.Popen:
    """A run that goes on beside the test."""
    words = (verb, "01", "--submitted", submitted, "--out", out, *words)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.cli", *map(str, words)],
        env=environment(root), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def finished(out: Path) -> dict[str, str]:
    """student -> the stored result, to the last digit of its running time."""
    with (
        contextlib.suppress(sqlite3.OperationalError),  # the file or the table is not there yet
        contextlib.closing(sqlite3.connect(f"file:{out / STORE}?mode=ro", uri=True, timeout=20)) as database,
    ):
        return dict(database.execute("SELECT student, result FROM results"))
    return {}


def wait_for_more(process: subprocess.Popen, out: Path, more: int = 1) -> None:
    """Wait until there are so many more results than now."""
    goal = len(finished(out)) + more
    while len(finished(out)) < goal and process.poll() is None:
        time.sleep(0.01)


def assert_same(out: Path, undisturbed: Path) -> None:
    """Both folders hold the same results, gradebook, and files of feedback and autograded notebooks."""
    assert _stored(out) == _stored(undisturbed)
    assert dump(out / "gradebook.db") == dump(undisturbed / "gradebook.db")
    assert _files(out) == _files(undisturbed)


def _stored(out: Path) -> list[SubmissionResult]:
    with ResultStore(out / STORE) as store:
        return [replace(result, seconds=0) for result in store.all(LAB)]


def _files(out: Path) -> dict[str, bytes]:
    paths = [path for place in ("feedback", "autograded") for path in (out / place).rglob("*")]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths if path.is_file()}


def workers_left(seconds: float = 30) -> list[str]:
    """The worker processes started by these tests that have not ended after this long."""
    mark, deadline = "=".join(*STARTED_BY.items()).encode(), time.monotonic() + seconds
    while True:
        running = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended, or is another user's
                if (process / "comm").read_text().strip() == "grade-worker":
                    running += (
                        [process.name] if mark in (process / "environ").read_bytes().split(b"\0") else []
                    )
        if not running or time.monotonic() > deadline:
            return running
        time.sleep(0.1)
