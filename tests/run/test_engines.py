"""The Dask engine gives what the local engine gives, on workers that have the package and nothing of the course."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import BROKEN, LAB, SALT, STARTED_BY, WRONG, command, environment, hand_in
from tests.run.test_nothing_lost import finished, gradebook, pages, workers, workers_left

pytest.importorskip("distributed", reason="the Dask engine needs the package distributed")
pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

STUDENTS = 8
SPIN = "def normalise_rows(N):\n    import os\n    os._exit(1)"


@pytest.fixture(scope="module")
def submitted(tmp_path_factory) -> Path:
    """A class with right, wrong, broken and hostile answers, one cut off and one missing."""
    folder = tmp_path_factory.mktemp("class") / "submitted"
    for number in range(STUDENTS):
        hand_in(folder, f"student_{number:02d}", ({}, WRONG, BROKEN, {"normalise_rows": SPIN})[number % 4])
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
    """A scheduler and workers, each a process of its own, as on three machines."""

    def __init__(self, frozen: Path, folder: Path, count: int, options: Sequence[str] = ()):
        self.folder = folder
        site = folder / "site"
        shutil.copytree(frozen / "autograder", site / "autograder")
        shutil.copytree(frozen / "notebooks" / "coursekit", site / "coursekit")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("COURSE_")}
        self.environment |= {"PYTHONPATH": str(site), **STARTED_BY}
        self.file = folder / "scheduler.json"
        self.common = ["--scheduler-file", str(self.file), "--no-dashboard", *options]
        self.scheduler = self.start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *self.common)
        self.address = self.read_address()
        self.workers = [self.new_worker("scratch") for _ in range(count)]

    def new_worker(self, scratch: str) -> subprocess.Popen:
        """One more Dask worker, with its files in the folder ``scratch``."""
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder / scratch)]
        return self.start("dask_worker", *self.common, *options)

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


@pytest.fixture
def cluster(request: pytest.FixtureRequest, frozen: Path, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of two workers, or as many as the test's parameter says."""
    cluster = Cluster(frozen, tmp_path, getattr(request, "param", 2))
    yield cluster
    cluster.stop()


def rows(out: Path) -> bytes:
    """results.json without the running times, as bytes."""
    results = json.loads((out / "results.json").read_text())
    for row in results:
        del row["seconds"]
    return json.dumps(results, indent=2, ensure_ascii=False).encode()


def test_a_class_on_a_cluster_gets_the_same_results_also_when_a_worker_is_killed(
    submitted, local, frozen, cluster, tmp_path
):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.cli", "grade", "01", "--submitted", str(submitted),
         "--out", str(out), "--engine", f"dask:{cluster.address}"],
        env=environment(frozen), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    while len(finished(out)) < 4 and process.poll() is None:
        time.sleep(0.02)
    cluster.workers[0].send_signal(signal.SIGKILL)
    at_the_kill = len(finished(out))
    assert workers(), "the cluster grades in worker processes"
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output + (tmp_path / "cluster.log").read_text()[-3000:]
    assert 4 <= at_the_kill < STUDENTS, "the worker was killed in mid-run"
    assert rows(out) == rows(local)
    assert gradebook(out) == gradebook(local)
    assert pages(out) == pages(local)
    cluster.stop()
    assert not workers_left(), "the cluster's worker processes end with it"


def test_a_cluster_made_for_one_run_gives_the_same_results(submitted, local, frozen, tmp_path):
    words = ("grade", "01", "--submitted", submitted, "--out", tmp_path, "--engine", "dask", "--jobs", 1)
    done = command(*words, root=frozen)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(tmp_path) == rows(local)


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_workers_with_another_version_of_the_package_are_refused(submitted, frozen, cluster, tmp_path):
    changed = tmp_path / "site" / "autograder" / "testing" / "evidence.py"
    changed.write_text(changed.read_text() + "\n# another version\n")
    words = ("grade", "01", "--submitted", submitted, "--out", tmp_path / "out")
    done = command(*words, "--engine", f"dask:{cluster.address}", root=frozen)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "needs this version of the package" in done.stderr


def test_no_scheduler_is_one_sentence(submitted, frozen, tmp_path):
    words = ("grade", "01", "--submitted", submitted, "--out", tmp_path, "--engine", "dask:tcp://127.0.0.1:1")
    done = command(*words, root=frozen)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "No Dask scheduler answers" in done.stderr and SALT not in done.stderr


def test_a_real_scheduler_without_workers_is_one_sentence(monkeypatch, capsys):
    from distributed import LocalCluster

    from autograder.errors import GradingError
    from autograder.run import dask_engine

    monkeypatch.setattr(dask_engine, "_SAID_AFTER", 0.5)
    monkeypatch.setattr(dask_engine, "_WORKERS_WITHIN", 0.5)
    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster:
        address = cluster.scheduler_address
        with (
            pytest.raises(GradingError, match=f"at {address} has no workers"),
            dask_engine._client(address, 1),
        ):
            pytest.fail("nothing is sent to nobody")
    assert f"at {address} has no workers yet: start some." in capsys.readouterr().err


def test_a_scheduler_without_workers_is_said_before_anybody_gives_up(monkeypatch, capsys):
    from autograder.errors import GradingError
    from autograder.run import dask_engine

    class Empty:
        def __init__(self) -> None:
            self.waited: list[float] = []

        def wait_for_workers(self, count: int, timeout: float) -> None:
            self.waited.append(timeout)
            raise TimeoutError

    empty = Empty()
    with pytest.raises(GradingError, match="has no workers"):
        dask_engine._wait_for_workers(empty, "tcp://there:8786")
    assert empty.waited == [10, 300]
    assert "tcp://there:8786 has no workers yet" in capsys.readouterr().err
