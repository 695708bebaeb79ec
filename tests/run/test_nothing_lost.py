"""Whatever happens to a run, what was finished stays, and the next run ends as if nothing had happened."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.course.masters import course_root
from autograder.errors import GradingError, UserError
from autograder.files import require_apart, sole_writer
from autograder.run.store import ResultStore
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import BROKEN, STARTED_BY, WRONG, command, environment, hand_in
from tests.gradebook.by_hand import dump

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

STUDENTS = 8


@pytest.fixture(scope="module")
def submitted(tmp_path_factory) -> Path:
    """A class in which everybody's notebook is different."""
    folder = tmp_path_factory.mktemp("class") / "submitted"
    for number in range(STUDENTS):
        answers = ({}, WRONG, BROKEN)[number % 3]
        path = hand_in(folder, f"student_{number:02d}", answers)
        path.write_text(path.read_text().replace("follows from", f"({number}) follows from"))
        path.with_name("timestamp.txt").write_text(f"2026-10-01 12:{number:02d}:00 UTC\n")
    return folder


@pytest.fixture(scope="module")
def undisturbed(submitted: Path, frozen: Path, tmp_path_factory) -> Path:
    """The folder into which the class was graded in one go."""
    out = tmp_path_factory.mktemp("undisturbed")
    done = command("grade", "01", "--submitted", submitted, "--out", out, "--jobs", 2, root=frozen)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def finished(out: Path) -> dict[str, str]:
    """student -> the stored result, to the last digit of its running time."""
    if not (out / ".results.db").exists():
        return {}
    database = sqlite3.connect(f"file:{out / '.results.db'}?mode=ro", uri=True, timeout=20)
    try:
        return dict(database.execute("SELECT student, result FROM results"))
    except sqlite3.OperationalError:  # the table is not there yet
        return {}
    finally:
        database.close()


def begun(submitted: Path, out: Path, root: Path, verb: str = "grade") -> subprocess.Popen:
    """A run by two workers."""
    words = (verb, "01", "--submitted", submitted, "--out", out, "--jobs", "2")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.cli", *map(str, words)],
        env=environment(root), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def wait_for_another(process: subprocess.Popen, out: Path) -> None:
    """Wait until one more result is there than now."""
    goal = len(finished(out)) + 1
    while len(finished(out)) < goal and process.poll() is None:
        time.sleep(0.01)


def results(out: Path) -> list[dict]:
    rows = json.loads((out / "results.json").read_text())
    for row in rows:
        del row["seconds"]
    return rows


def pages(out: Path) -> dict[str, bytes]:
    """Every file in the folders of feedback and autograded notebooks."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for folder in ("feedback", "autograded")
        for path in sorted((out / folder).rglob("*"))
        if path.is_file()
    }


def workers() -> list[int]:
    """The worker processes that run now because of these tests; another's on this machine are not counted."""
    mark = "=".join(*STARTED_BY.items()).encode()
    running = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended, or is another user's
                environment_of = (entry / "environ").read_bytes().split(b"\0")
                if (entry / "comm").read_text().strip() == "grade-worker" and mark in environment_of:
                    running.append(int(entry.name))
    return running


def workers_left(seconds: float = 30) -> list[int]:
    """The worker processes that have not ended after this long."""
    deadline = time.monotonic() + seconds
    while (running := workers()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return running


def test_a_run_that_is_killed_again_and_again_ends_as_an_undisturbed_one(
    submitted, undisturbed, frozen, tmp_path
):
    """In the last run only a worker is killed, and the first sandbox process: both are replaced."""
    for soon in (True, False):
        process = begun(submitted, tmp_path, frozen)
        if soon:
            time.sleep(1)
        else:
            wait_for_another(process, tmp_path)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not workers_left(), "a killed run leaves no process behind"
    kept = finished(tmp_path)
    assert 0 < len(kept) < STUDENTS - 1
    process = begun(submitted, tmp_path, frozen, "regrade")
    for victim in ("grade-worker", "python"):
        wait_for_another(process, tmp_path)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        named = {Path(f"/proc/{child}/comm").read_text().strip(): int(child) for child in children}
        os.kill(named[victim], signal.SIGKILL)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert f"{len(kept)} unchanged" in said
    assert kept.items() <= finished(tmp_path).items(), "a finished result was lost or graded again"
    assert results(tmp_path) == results(undisturbed)
    assert dump(tmp_path / "gradebook.db") == dump(undisturbed / "gradebook.db")
    assert pages(tmp_path) == pages(undisturbed)


SMALL = """
set -e
mount -t tmpfs -o size=$SIZE none "$SMALL"
"$@" > "$SAID" 2>&1 && exit 3
echo "status $?" >> "$SAID"
ls "$SMALL" >> "$SAID"
echo "room" >> "$SAID"
mount -o remount,size=200m "$SMALL"
"$@" >> "$SAID" 2>&1
cp -r "$SMALL"/. "$COPY"
"""


@pytest.mark.parametrize("what", ["results", "release", "temporary files"])
def test_a_full_disk_is_one_sentence_and_leaves_no_half_of_anything_and_the_next_run_goes_on(
    submitted, undisturbed, frozen, tmp_path, what
):
    small, copy, said = tmp_path / "small", tmp_path / "copy", tmp_path / "said"
    if what != "results":
        submitted = hand_in(tmp_path / "one", "ada", {}).parents[2]
    small.mkdir()
    copy.mkdir()
    out = small if what == "results" else tmp_path / "out"
    words = ["regrade", "01", "--submitted", str(submitted), "--out", str(out), "--jobs", "1"]
    course, places = frozen, {"SIZE": "600k" if what == "results" else "64k"}
    if what == "release":  # a bundle needs what lies beside the harness, too
        course, words = course_root(), ["release", "01", "--out", str(small)]
    elif what == "temporary files":
        places["TMPDIR"] = str(small)
    try_it = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*try_it, "mount -t tmpfs none /mnt"], capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    done = subprocess.run(
        [*try_it, SMALL, "sh", sys.executable, "-P", "-m", "autograder.cli", *words],
        env=environment(course, SMALL=str(small), COPY=str(copy), SAID=str(said), **places),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, said.read_text() + done.stderr
    first, rest = said.read_text().split("status 2\n")
    left, second = rest.split("room\n")
    assert first.strip().startswith("✗ ") and first.strip().endswith(".") and "\n" not in first.strip(), first
    if what == "results":
        assert "0 unchanged" not in second, "what was finished before the disk was full is kept"
        assert results(copy) == results(undisturbed)
        assert dump(copy / "gradebook.db") == dump(undisturbed / "gradebook.db")
    else:
        assert "No space left on device" in first and "01_markov_bigram" not in left.split()


def test_a_disk_that_cannot_tell_two_students_apart_is_refused_before_anything_is_written(
    submitted, frozen, tmp_path, monkeypatch
):
    """As Windows and a Mac have them; here a folder that only says what it would hold there."""
    names = ["Anna", "anna", "bo"]
    require_apart(tmp_path, names)  # this disk can
    listing = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: sorted({name.casefold() for name in listing(folder)}))
    with pytest.raises(UserError, match="does not tell “Anna” from “anna”"):
        require_apart(tmp_path, names)
    require_apart(tmp_path, ["Anna", "bo"])
    assert listing(tmp_path) == []


def test_two_runs_into_one_folder_do_not_mix(submitted, frozen, tmp_path):
    with sole_writer(tmp_path):
        done = command("grade", "01", "--submitted", submitted, "--out", tmp_path, root=frozen)
    assert done.returncode == 2 and "Another command is writing" in done.stderr


def test_a_locked_or_damaged_store_is_one_sentence(tmp_path):
    path = tmp_path / ".results.db"
    with ResultStore(path):
        pass
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(GradingError, match="in use by another program"):
        ResultStore(path, busy_seconds=0.05)
    holder.close()
    path.write_bytes(b"rubbish" * 1000)
    with pytest.raises(GradingError, match="damaged"):
        ResultStore(path)
