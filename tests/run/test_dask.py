"""On a Dask cluster a class gets what it gets here, on workers that have the package alone; and what goes wrong is a sentence."""

import contextlib
import errno
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from autograder.errors import GradingError, UserError
from autograder.grading.cache_keys import library_versions
from autograder.run.worker import _same_version
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import STARTED_BY
from tests.run.conftest import STUDENTS, assert_same, begun, finished, wait_for_more, workers_left

distributed = pytest.importorskip("distributed")
dask_engine = importlib.import_module("autograder.run.dask_engine")
pytestmark = [
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

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def test_a_class_gets_the_same_results_though_a_worker_is_killed(submitted, undisturbed, frozen, tmp_path):
    cluster, out = Cluster(frozen, tmp_path / "cluster"), tmp_path / "out"
    try:
        process = begun(frozen, submitted, out, "--engine", cluster.engine)
        wait_for_more(process, out, 3)
        cluster.workers[0].send_signal(signal.SIGKILL)
        at_the_kill = len(finished(out))
        said, _ = process.communicate(timeout=300)
    finally:
        cluster.stop()
    assert process.returncode == 0, said + (cluster.folder / "cluster.log").read_text()[-3000:]
    assert 3 <= at_the_kill < STUDENTS, "the worker was killed in mid-run"
    assert_same(out, undisturbed)
    assert not workers_left(), "the cluster's worker processes end with it"


def test_what_a_cluster_lacks_is_a_sentence_each(monkeypatch, capsys):
    """No scheduler, no workers, a scheduler that is lost, no room. That a class can be graded over TLS is Dask's own."""
    for seconds in ("_WARN_AFTER", "_ANSWERS_WITHIN"):
        monkeypatch.setattr(dask_engine, seconds, 0.5)
    monkeypatch.setattr(dask_engine, "_WORKERS_WITHIN", 1.0)
    for address in ("tcp://127.0.0.1:1", "tls://127.0.0.1:1"):
        with (
            pytest.raises(GradingError, match=f"No Dask scheduler can be reached at {address} "),
            dask_engine._client(address, 1),
        ):
            pytest.fail("nothing is sent to nobody")
    monkeypatch.setattr(dask_engine, "_ANSWERS_WITHIN", 60)
    monkeypatch.setattr(dask_engine, "LocalCluster", partial(distributed.LocalCluster, processes=False))
    with dask_engine._client("", 1) as (client, _):
        assert client.submit(len, "ab").result() == 2
    with dask_engine._client("", 0) as (client, _), pytest.raises(GradingError, match="graded is kept"):
        dask_engine._done(client, [client.submit(len, "ab")], "there")
    assert capsys.readouterr().err.startswith("The Dask scheduler at there has no workers: start some.")


def test_a_scheduler_that_is_lost_a_worker_without_room_and_another_version_are_a_sentence_each(monkeypatch):
    graders, lost = object.__new__(dask_engine.Graders), Mock()
    lost.register_plugin.side_effect = distributed.CancelledError
    monkeypatch.setattr(dask_engine, "Graders", lambda assignment: graders)
    with pytest.raises(GradingError, match=r"was lost \(the connection ended\): what was graded is kept"):
        next(dask_engine._results(lost, "there", None, iter(())))
    graders.trouble = OSError(errno.ENOSPC, "No space left on device")
    here = SimpleNamespace(plugins={"g": graders}, address="tcp://w")
    monkeypatch.setattr(dask_engine, "get_worker", lambda: here)
    refusal = "The Dask worker tcp://w cannot grade: No space left on device."
    assert dask_engine._grade("g", None) == ("cannot start", refusal)
    shared = {"harness": "another", "library versions": library_versions()}
    with pytest.raises(UserError, match="needs this version of the package"):
        _same_version(SimpleNamespace(context=SimpleNamespace(shared=shared)))
