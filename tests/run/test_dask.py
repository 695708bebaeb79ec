"""On a Dask cluster a class gets what it gets here, on workers that have the package alone; and what goes wrong is a sentence."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.errors import GradingError
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import BROKEN, LAB, STARTED_BY, WRONG, command, environment, hand_in
from tests.gradebook.by_hand import dump
from tests.run.test_nothing_lost import finished, pages, results, workers, workers_left

pytest.importorskip("distributed", reason="the Dask engine needs the package distributed")
from distributed import LocalCluster

from autograder.run import dask_engine

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

STUDENTS = 8
EXITS = {"normalise_rows": "def normalise_rows(N):\n    import os\n    os._exit(1)"}


@pytest.fixture(scope="module")
def submitted(tmp_path_factory) -> Path:
    """A class with right, wrong, broken and hostile answers, one cut off and one missing."""
    folder = tmp_path_factory.mktemp("class") / "submitted"
    for number in range(STUDENTS):
        hand_in(folder, f"student_{number:02d}", ({}, WRONG, BROKEN, EXITS)[number % 4])
    hand_in(folder, "torn", "{")
    (folder / "idle" / LAB).mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def local(submitted: Path, frozen: Path, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("local")
    done = command("grade", "01", "--submitted", submitted, "--out", out, "--jobs", 2, root=frozen)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


class Cluster:
    """A scheduler and workers, each a process of its own, as on several machines."""

    def __init__(self, frozen: Path, folder: Path):
        self.folder = folder
        self.site = folder / "site"
        shutil.copytree(frozen / "autograder", self.site / "autograder")
        shutil.copytree(frozen / "notebooks" / "coursekit", self.site / "coursekit")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("COURSE_")}
        self.environment |= {"PYTHONPATH": str(self.site), **STARTED_BY}
        self.file = folder / "scheduler.json"
        self.common = ["--scheduler-file", str(self.file), "--no-dashboard"]
        self.scheduler = self.start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *self.common)
        self.address = self.read_address()
        self.workers: list[subprocess.Popen] = []

    def add_worker(self, scratch: str = "scratch") -> subprocess.Popen:
        """One more Dask worker, with its files in the folder ``scratch``."""
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder / scratch)]
        self.workers.append(self.start("dask_worker", *self.common, *options))
        return self.workers[-1]

    def read_address(self, seconds: float = 120) -> str:
        """The scheduler's address, once it has written it in full."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.scheduler.poll() is None:
            with contextlib.suppress(OSError, ValueError):
                return json.loads(self.file.read_text())["address"]
            time.sleep(0.1)
        raise AssertionError((self.folder / "cluster.log").read_text())

    def start(self, program: str, *words: str) -> subprocess.Popen:
        log = (self.folder / "cluster.log").open("a")
        return subprocess.Popen(
            [sys.executable, "-P", "-m", f"distributed.cli.{program}", *words],
            cwd=self.folder, env=self.environment, stdout=log, stderr=log,
        )  # fmt: skip

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(frozen: Path, tmp_path_factory) -> Iterator[Cluster]:
    """The scheduler of all tests but the last; each adds the workers that it needs, and kills or leaves them."""
    cluster = Cluster(frozen, tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture
def full(cluster: Cluster) -> Iterator[subprocess.Popen]:
    """A worker whose folder is on a disk without room."""
    folder = cluster.folder / "full"
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], check=True)
    worker = cluster.add_worker(folder.name)
    deadline = time.monotonic() + 60
    while not any(folder.rglob("*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    yield worker
    worker.kill()
    worker.wait()
    subprocess.run(["umount", "-l", str(folder)], check=True)


#: ``autograder`` that says after a second what it would say after ten, and waits as long as its first word says.
IMPATIENT = """
import sys
from autograder.run import dask_engine
dask_engine._SAID_AFTER, dask_engine._WORKERS_WITHIN = 1, int(sys.argv.pop(1))
from autograder.cli.app import main
main()
"""


def begun(
    cluster: Cluster, submitted: Path, frozen: Path, out: Path, patience: int = 3, some: int = 1
) -> subprocess.Popen:
    """A run on the cluster that has graded ``some``, and waits ``patience`` seconds for workers."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", IMPATIENT, str(patience), "grade", "01", "--submitted", str(submitted),
         "--out", str(out), "--engine", f"dask:{cluster.address}"],
        env=environment(frozen), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while len(finished(out)) < some and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    return process


def test_a_class_gets_the_same_results_though_a_worker_is_killed_and_another_has_no_room(
    submitted, local, frozen, cluster, full, tmp_path
):
    victim, _ = cluster.add_worker(), cluster.add_worker()
    process = begun(cluster, submitted, frozen, tmp_path, patience=300, some=4)
    victim.send_signal(signal.SIGKILL)
    at_the_kill = len(finished(tmp_path))
    assert workers(), "the cluster grades in worker processes"
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, output + errors + (cluster.folder / "cluster.log").read_text()[-3000:]
    assert 4 <= at_the_kill < STUDENTS, "the worker was killed in mid-run"
    assert "takes no part: No space left on device." in errors
    assert results(tmp_path) == results(local)
    assert dump(tmp_path / "gradebook.db") == dump(local / "gradebook.db")
    assert pages(tmp_path) == pages(local)


def test_a_run_that_has_lost_all_workers_that_can_grade_waits_for_another_and_not_for_ever(
    frozen, cluster, full, tmp_path
):
    """Tasks were meant for the worker that is gone, and would wait for it: for ever. What was graded is kept."""
    for number in range(10):
        hand_in(tmp_path / "submitted", f"student_{number:02d}", {})
    if all(worker.poll() is not None for worker in cluster.workers if worker is not full):
        cluster.add_worker()
    process = begun(cluster, tmp_path / "submitted", frozen, tmp_path / "out")
    for worker in cluster.workers:
        if worker is not full:
            worker.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=400)
    assert "takes no part: No space left on device." in errors and "Traceback" not in errors
    assert process.returncode == 2, errors
    assert "has lost all its workers that can grade: what was graded is kept" in errors
    kept = finished(tmp_path / "out")
    assert kept and not workers_left(), "the cluster's worker processes end with it"
    words = ("--submitted", tmp_path / "submitted", "--out", tmp_path / "out")
    done = command("regrade", "01", *words, root=frozen)
    assert done.returncode == 0 and f"{len(kept)} unchanged" in done.stdout, done.stdout + done.stderr
    assert len(finished(tmp_path / "out")) == 10


def test_workers_with_another_version_of_the_package_are_refused(submitted, frozen, cluster, tmp_path):
    cluster.add_worker()
    changed = cluster.site / "autograder" / "testing" / "evidence.py"
    before = changed.read_text()
    changed.write_text(before + "\n# another version\n")
    options = ("--out", tmp_path, "--engine", f"dask:{cluster.address}")
    done = command("grade", "01", "--submitted", submitted, *options, root=frozen)
    changed.write_text(before)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "needs this version of the package" in done.stderr


def test_a_lost_scheduler_ends_the_run_in_a_sentence(submitted, frozen, cluster, tmp_path):
    """The last test of this cluster."""
    cluster.add_worker()
    process = begun(cluster, submitted, frozen, tmp_path)
    cluster.scheduler.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=400)
    assert process.returncode == 2, errors
    assert "Traceback" not in errors and "what was graded is kept" in errors and finished(tmp_path)


def test_a_cluster_made_for_one_run_grades_a_class(frozen, tmp_path):
    hand_in(tmp_path / "submitted", "ada", WRONG)
    words = (
        "--submitted",
        tmp_path / "submitted",
        "--out",
        tmp_path / "out",
        "--engine",
        "dask",
        "--jobs",
        1,
    )
    done = command("grade", "01", *words, root=frozen)
    assert done.returncode == 0, done.stdout + done.stderr
    [row] = results(tmp_path / "out")
    assert row["status"] == "graded" and 0 < row["score"] < row["max_score"]


def test_no_scheduler_and_no_workers_are_a_sentence_each(monkeypatch, capsys):
    """That a class can be graded over TLS is Dask's own."""
    for seconds in ("_SAID_AFTER", "_WORKERS_WITHIN", "_ANSWERS_WITHIN"):
        monkeypatch.setattr(dask_engine, seconds, 0.5)

    def said(address: str) -> str:
        with pytest.raises(GradingError) as error, dask_engine._client(address, 1):
            pytest.fail("nothing is sent to nobody")
        return str(error.value)

    with LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50, host="127.0.0.1") as cluster:
        assert f"at {cluster.scheduler_address} has no workers" in said(cluster.scheduler_address)
    assert "has no workers yet: start some." in capsys.readouterr().err
    for address in ("tcp://127.0.0.1:1", "tls://127.0.0.1:1"):
        assert f"No Dask scheduler can be reached at {address} (" in said(address)
