"""What a Dask cluster may do to a run: certificates that do not fit, lost schedulers and workers, a worker without room."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import WRONG, command, environment, hand_in
from tests.run.test_engines import Cluster
from tests.run.test_nothing_lost import finished

pytest.importorskip("distributed", reason="the Dask engine needs the package distributed")
pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]


STUDENTS = 8


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that vouches for itself, and its key."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


def told_of(cert: Path, key: Path) -> dict[str, str]:
    """What an environment says to Dask about a certificate."""
    place = "DASK_DISTRIBUTED__COMM__TLS__"
    both = {f"{place}CLIENT__CERT": str(cert), f"{place}CLIENT__KEY": str(key)}
    return {f"{place}CA_FILE": str(cert), **both}


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    """Eight students, every other one wrong in a question."""
    for number in range(STUDENTS):
        hand_in(tmp_path / "submitted", f"student_{number:02d}", WRONG if number % 2 else {})
    return tmp_path / "submitted"


@pytest.fixture
def secured(frozen: Path, tmp_path: Path) -> Iterator[tuple[Cluster, Path, Path]]:
    """A cluster of one worker that speaks TLS only, its certificate and key."""
    cert, key = certificate(tmp_path, "ours")
    options = [
        "--protocol",
        "tls",
        "--tls-ca-file",
        str(cert),
        "--tls-cert",
        str(cert),
        "--tls-key",
        str(key),
    ]
    cluster = Cluster(frozen, tmp_path, 1, options)
    yield cluster, cert, key
    cluster.stop()


@pytest.fixture
def cluster(frozen: Path, tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(frozen, tmp_path, 1)
    yield cluster
    cluster.stop()


#: TLS is Dask's own; that no answer is one sentence, ``test_no_scheduler_is_one_sentence`` shows without it.
@pytest.mark.proof
def test_a_class_is_graded_over_tls_and_certificates_that_do_not_fit_are_one_sentence(
    submitted, frozen, secured, tmp_path
):
    cluster, cert, key = secured
    assert cluster.address.startswith("tls://")
    words = ("grade", "01", "--submitted", submitted, "--engine", f"dask:{cluster.address}", "--out")
    for said, environ in (
        ("no certificates", {}),
        ("CERTIFICATE_VERIFY_FAILED", told_of(*certificate(tmp_path, "theirs"))),
        ("do not do", told_of(tmp_path / "none.pem", tmp_path / "none.key")),
    ):
        done = command(*words, tmp_path / "refused", root=frozen, **environ)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert said in done.stderr
    done = command(*words, tmp_path / "out", root=frozen, **told_of(cert, key))
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [row["score"] == row["max_score"] for row in results] == [True, False] * (STUDENTS // 2)


#: ``autograder`` that says after a second what it would say after ten, and waits as long as its first word says.
IMPATIENT = """
import sys
from autograder.run import dask_engine
dask_engine._SAID_AFTER, dask_engine._WORKERS_WITHIN = 1, int(sys.argv.pop(1))
from autograder.cli.app import main
main()
"""


def begun(cluster: Cluster, submitted: Path, frozen: Path, out: Path, patience: int = 3) -> subprocess.Popen:
    """A run on the cluster that has graded somebody, and waits ``patience`` seconds for workers."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", IMPATIENT, str(patience), "grade", "01", "--submitted", str(submitted),
         "--out", str(out), "--engine", f"dask:{cluster.address}"],
        env=environment(frozen), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not finished(out) and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("lost", ["scheduler", "workers"])
def test_a_cluster_that_is_lost_ends_the_run_in_a_sentence_and_what_was_graded_is_kept(
    submitted, frozen, cluster, tmp_path, lost
):
    out = tmp_path / "out"
    process = begun(cluster, submitted, frozen, out)
    for one in cluster.workers if lost == "workers" else [cluster.scheduler]:
        one.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=400)
    assert process.returncode == 2, errors
    assert "Traceback" not in errors and "what was graded is kept" in errors
    assert ("has lost all its workers: start some. Waiting" in errors) == (lost == "workers")
    kept = finished(out)
    assert kept
    done = command("grade", "01", "--submitted", submitted, "--out", out, root=frozen)
    assert done.returncode == 0, done.stderr
    assert len(finished(out)) == STUDENTS and f"{len(kept)} unchanged" in done.stdout, done.stdout


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk without room."""
    folder = tmp_path / "full"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def add_worker_without_room(cluster: Cluster, full: Path) -> None:
    cluster.workers.append(cluster.new_worker(full.name))
    deadline = time.monotonic() + 60
    while not any(full.rglob("*")) and time.monotonic() < deadline:
        time.sleep(0.1)


def test_a_worker_without_room_takes_no_part_and_the_others_go_on(submitted, frozen, full, cluster, tmp_path):
    add_worker_without_room(cluster, full)
    words = ("grade", "01", "--submitted", submitted, "--out", tmp_path / "out")
    done = command(*words, "--engine", f"dask:{cluster.address}", root=frozen)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "takes no part: No space left on device." in done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {row["status"] for row in results} == {"graded"} and len(results) == STUDENTS


#: Where another comes, the run goes on as with the worker beside one without room, above.
@pytest.mark.parametrize(
    "comes",
    [pytest.param(True, id="another comes", marks=pytest.mark.proof), pytest.param(False, id="nobody comes")],
)
def test_where_only_a_worker_without_room_is_left_the_run_waits_for_another_and_not_for_ever(
    submitted, frozen, full, cluster, tmp_path, comes
):
    """Tasks were meant for the worker that is gone, and would wait for it: for ever."""
    for number in range(STUDENTS, 40):
        hand_in(submitted, f"student_{number:02d}", {})
    add_worker_without_room(cluster, full)
    out = tmp_path / "out"
    process = begun(cluster, submitted, frozen, out, patience=100 if comes else 3)
    cluster.workers[0].send_signal(signal.SIGKILL)
    if comes:
        cluster.workers.append(cluster.new_worker("another"))
    _, errors = process.communicate(timeout=400)
    assert "takes no part: No space left on device." in errors and "Traceback" not in errors
    if comes:
        assert process.returncode == 0, errors
        assert len(finished(out)) == 40
    else:
        assert process.returncode == 2, errors
        assert "has lost all its workers that can grade: what was graded is kept" in errors
