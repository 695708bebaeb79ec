"""On a Dask cluster a class gets what it gets here, on workers that have the package alone; and what goes wrong is a sentence."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from autograder.errors import GradingError, UserError
from autograder.grading.cache_keys import library_versions
from autograder.run.worker import _same_version
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import STARTED_BY
from tests.gradebook.by_hand import dump
from tests.run.conftest import STUDENTS, begun, finished, pages, results, wait_for_more, workers_left

pytestmark = [
    pytest.mark.skipif(not find_spec("distributed"), reason="the Dask engine needs the package distributed"),
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("disturbed"),
]


class Cluster:
    """A scheduler and two workers, each a process of its own, as on several machines."""

    def __init__(self, frozen: Path, folder: Path):
        self.folder = folder
        shutil.copytree(frozen / "autograder", folder / "site" / "autograder")
        shutil.copytree(frozen / "notebooks" / "coursekit", folder / "site" / "coursekit")
        file = folder / "scheduler.json"
        common = ["--scheduler-file", str(file), "--no-dashboard"]
        self.scheduler = self.start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *common)
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(folder / "scratch")]
        self.workers = [self.start("dask_worker", *common, *options) for _ in range(2)]
        self.engine = f"dask:{self.read_address(file)}"

    def read_address(self, file: Path, seconds: float = 120) -> str:
        """The scheduler's address, once it has written it in full."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.scheduler.poll() is None:
            with contextlib.suppress(OSError, ValueError):
                return json.loads(file.read_text())["address"]
            time.sleep(0.1)
        raise AssertionError((self.folder / "cluster.log").read_text())

    def start(self, program: str, *words: str) -> subprocess.Popen:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("COURSE_")}
        log = (self.folder / "cluster.log").open("a")
        return subprocess.Popen(
            [sys.executable, "-P", "-m", f"distributed.cli.{program}", *words], stdout=log, stderr=log,
            cwd=self.folder, env={**environment, "PYTHONPATH": str(self.folder / "site"), **STARTED_BY},
        )  # fmt: skip


@pytest.fixture(scope="module")
def cluster(frozen: Path, tmp_path_factory) -> Iterator[Cluster]:
    """The cluster of these tests, in their order: the first kills a worker, the last all that is left."""
    cluster = Cluster(frozen, tmp_path_factory.mktemp("cluster"))
    yield cluster
    for process in (*cluster.workers, cluster.scheduler):
        process.kill()
        process.wait()


def test_a_class_gets_the_same_results_though_a_worker_is_killed(
    submitted, undisturbed, frozen, cluster, tmp_path
):
    process = begun(frozen, submitted, tmp_path, "--engine", cluster.engine)
    wait_for_more(process, tmp_path, 3)
    cluster.workers.pop().send_signal(signal.SIGKILL)
    at_the_kill = len(finished(tmp_path))
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said + (cluster.folder / "cluster.log").read_text()[-3000:]
    assert 3 <= at_the_kill < STUDENTS, "the worker was killed in mid-run"
    assert results(tmp_path) == results(undisturbed)
    assert dump(tmp_path / "gradebook.db") == dump(undisturbed / "gradebook.db")
    assert pages(tmp_path) == pages(undisturbed)


#: ``autograder`` that says after a second what it would say after ten.
IMPATIENT = (
    "from autograder.run import dask_engine\ndask_engine._WARN_AFTER = 1\n"
    "from autograder.cli.app import main\nmain()"
)


def test_a_run_that_has_lost_all_workers_says_so_and_one_that_has_lost_its_scheduler_ends_in_a_sentence(
    submitted, frozen, cluster, tmp_path
):
    process = begun(frozen, submitted, tmp_path, "--engine", cluster.engine, program=("-c", IMPATIENT))
    wait_for_more(process, tmp_path)
    cluster.workers.pop().send_signal(signal.SIGKILL)
    assert process.stdout is not None
    assert "has no workers: start some." in process.stdout.readline()
    cluster.scheduler.send_signal(signal.SIGKILL)
    said, _ = process.communicate(timeout=400)
    assert process.returncode == 2 and "what was graded is kept" in said, said
    assert "\n" not in said.strip(), "one sentence"
    assert finished(tmp_path) and not workers_left(), "the cluster's worker processes end with it"


def test_a_worker_with_another_version_of_the_package_is_refused():
    shared = {"harness": "another", "library versions": library_versions()}
    with pytest.raises(UserError, match="needs this version of the package"):
        _same_version(cast(Any, SimpleNamespace(context=SimpleNamespace(shared=shared))))


def test_an_own_cluster_no_scheduler_no_workers_and_no_room_are_a_sentence_each(monkeypatch):
    """That a class can be graded over TLS is Dask's own."""
    from distributed import Client, LocalCluster

    from autograder.run import dask_engine

    for seconds in ("_WARN_AFTER", "_WORKERS_WITHIN", "_ANSWERS_WITHIN"):
        monkeypatch.setattr(dask_engine, seconds, 0.5)
    for address in ("tcp://127.0.0.1:1", "tls://127.0.0.1:1"):
        with (
            pytest.raises(GradingError, match=f"No Dask scheduler can be reached at {address} "),
            dask_engine._client(address, 1),
        ):
            pytest.fail("nothing is sent to nobody")
    monkeypatch.setattr(dask_engine, "_ANSWERS_WITHIN", 60)
    with dask_engine._client("", 1) as (client, _):
        assert client.submit(len, "ab").result() == 2
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50, host="127.0.0.1") as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(GradingError, match="there has no workers: what was graded is kept"),
    ):
        dask_engine._done(client, [client.submit(len, "ab")], "there")
    graders = dask_engine.Graders.__new__(dask_engine.Graders)
    graders.trouble = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(
        dask_engine, "get_worker", lambda: SimpleNamespace(plugins={"g": graders}, address="tcp://w")
    )
    refusal = "The Dask worker tcp://w cannot grade: No space left on device."
    assert dask_engine._grade("g", cast(Any, None)) == ("cannot start", refusal)
