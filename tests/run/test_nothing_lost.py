"""Whatever happens to a run, what was finished stays, and the next run ends as if nothing had happened."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.masters import course_root
from autograder.errors import GradingError, UserError
from autograder.files import require_apart, sole_writer
from autograder.run.store import ResultStore
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import environment
from tests.run.conftest import STUDENTS, assert_same, begun, finished, wait_for_more, workers_left

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("disturbed"),
]


def test_a_killed_run_goes_on_as_an_undisturbed_one_though_its_worker_and_sandbox_are_killed_too(
    submitted, undisturbed, frozen, tmp_path
):
    process = begun(frozen, submitted, tmp_path, "--jobs", 2)
    wait_for_more(process, tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not workers_left(), "a killed run leaves no process behind"
    kept = finished(tmp_path)
    assert 0 < len(kept) < STUDENTS - 1
    process = begun(frozen, submitted, tmp_path, "--jobs", 2, verb="regrade")
    for victim in ("grade-worker", "python"):
        wait_for_more(process, tmp_path)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        named = {Path(f"/proc/{child}/comm").read_text().strip(): int(child) for child in children}
        os.kill(named[victim], signal.SIGKILL)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert f"{len(kept)} unchanged" in said
    assert kept.items() <= finished(tmp_path).items(), "a finished result was lost or graded again"
    assert_same(tmp_path, undisturbed)


#: Runs a command on a disk of this size, lists what it left, and runs it again on a larger disk.
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
#: Records a class's results, as grading it does.
RECORD = """
import sys
from pathlib import Path
from autograder.errors import UserError
from autograder.run.recorder import Recorder
from autograder.run.store import ResultStore

graded, out = map(Path, sys.argv[1:])
lab = "01_markov_bigram"
try:
    with ResultStore(graded / ".results.db") as known, ResultStore(out / ".results.db") as store, Recorder(lab, out, store) as recorder:
        kept = store.keys(lab)
        for result in known.all(lab):
            if result.student not in kept:
                recorder.record(result)
        recorder.finish()
    print(f"{len(kept)} unchanged")
except UserError as error:
    print("✗", error)
    sys.exit(2)
"""


@pytest.mark.parametrize("what", ["results", "release"])
def test_a_full_disk_is_one_sentence_and_leaves_no_half_of_anything_and_the_next_run_goes_on(
    undisturbed, frozen, tmp_path, what
):
    small, copy, said = tmp_path / "small", tmp_path / "copy", tmp_path / "said"
    small.mkdir()
    copy.mkdir()
    course, words, size = frozen, ["-c", RECORD, str(undisturbed), str(small)], "600k"
    if what == "release":  # a bundle needs what lies beside the harness, too
        course, size = course_root(), "64k"
        words = ["-m", "autograder.cli", "release", "01", "--out", str(small)]
    try_it = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*try_it, "mount -t tmpfs none /mnt"], capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    done = subprocess.run(
        [*try_it, SMALL, "sh", sys.executable, "-P", *words],
        env=environment(course, SIZE=size, SMALL=str(small), COPY=str(copy), SAID=str(said)),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, said.read_text() + done.stderr
    first, rest = said.read_text().split("status 2\n")
    left, second = rest.split("room\n")
    assert first.strip().startswith("✗ ") and first.strip().endswith(".") and "\n" not in first.strip(), first
    if what == "results":
        assert "0 unchanged" not in second, "what was finished before the disk was full is kept"
        assert_same(copy, undisturbed)
    else:
        assert "No space left on device" in first and "01_markov_bigram" not in left.split()


def test_a_disk_that_cannot_tell_two_students_apart_is_refused_before_anything_is_written(
    tmp_path, monkeypatch
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


def test_two_runs_into_one_folder_do_not_mix(tmp_path):
    with (
        sole_writer(tmp_path),
        pytest.raises(UserError, match="Another command is writing"),
        sole_writer(tmp_path),
    ):
        pytest.fail("both write")


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
