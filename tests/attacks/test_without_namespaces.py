"""The attacks where a container gives no namespaces: nobody gets a point unearned, and what is held no longer is written down."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.masters import lab_name
from autograder.results import SubmissionResult
from autograder.sandbox.jail import landlock, namespaces
from tests.fixtures.frozen_course import environment

from .conftest import HONEST, hand_in_honest, results_in
from .loader import all_cases

pytestmark = [
    pytest.mark.skipif(
        not hasattr(os, "geteuid")
        or os.geteuid() != 0
        or namespaces.probe() is not None
        or not landlock.version(),
        reason="making a container that forbids namespaces needs Linux, root and Landlock",
    ),
    pytest.mark.xdist_group("grading"),
]

LAB = lab_name("01")
EVERYTHING = "reduced (Landlock, own user id, system call filter, limits)"
#: What depends on isolation; reading code, the wire and the notebook's form are the same everywhere.
CASES = {
    case.name: case
    for case in all_cases()
    if case.lab == LAB and case.name.partition("_")[0] in ("forge", "read", "write", "kill", "unlucky")
}
#: What ends otherwise, and why. Each costs its own author alone.
OTHERWISE = {
    "kill_all_processes": "its own process dies by its signal: it is no first process of a namespace, which would ignore it",
    "kill_fork_bomb": "ended for its processes or its memory, not for its time: shared pages are estimated",
    "kill_recursion": "ended for its memory, not for its time: shared pages are estimated",
    "kill_socket_buffers": "what lies in the buffers of sockets is seen by nobody: there is no network of its own to ask",
    "kill_the_neighbours_share": "ended for its memory, not for its time: shared pages are estimated",
    "read_harness_package": "a name that may be looked up and not be opened raises PermissionError",
    "read_other_processes": "/proc can be entered and not be listed, which raises PermissionError",
    "write_a_daemon": "/tmp is not there to be written: its fork raises, and takes the cells' place",
    "write_for_whoever_comes_first": "/dev/shm is not there to be written, which raises PermissionError",
    "write_for_whoever_comes_second": "/dev/shm is not there to be written, which raises PermissionError",
}
#: Beside those, one of each kind. The others differ in what they do to their own process, which no namespace holds.
OF_EACH_KIND = """
    forge_worker_objects kill_disk kill_every_signal_caught kill_memory_bit_by_bit read_course_files
    read_environment read_memory read_network unlucky_a_module_of_ones_own write_everywhere
    write_privileges write_python_environment
"""


@pytest.fixture(scope="module", params=["of each kind", pytest.param("all", marks=pytest.mark.proof)])
def names(request) -> list[str]:
    """The cases that are handed in."""
    return list(CASES) if request.param == "all" else [*OTHERWISE, *OF_EACH_KIND.split()]


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory, course: Path, names: list[str]
) -> dict[str, SubmissionResult]:
    """The class, graded in a plain container."""
    folder = tmp_path_factory.mktemp("attacks")
    hand_in_honest(LAB, folder / "submitted")
    for name in names:
        CASES[name].hand_in(folder / "submitted")
    words = [
        "-m",
        "tests.fixtures.plain_container",
        "--",
        sys.executable,
        "-P",
        "-m",
        "autograder.cli",
        "grade",
        LAB,
    ]
    words += ["--submitted", str(folder / "submitted"), "--out", str(folder / "out"), "--jobs", "2"]
    path = os.pathsep.join([environment(course)["PYTHONPATH"], str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, *words], env=environment(course, PYTHONPATH=path), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"graded with isolation “{EVERYTHING}” only" in " ".join(done.stdout.split())
    return results_in(folder / "out", LAB)


def test_nobody_gets_more_than_the_work_is_worth_and_nothing_hidden_is_said(results, names):
    assert [
        fault
        for name in names
        for fault in CASES[name].faults(results[CASES[name].student], name in OTHERWISE)
    ] == []
    assert {result.isolation for result in results.values() if result.readable} == {EVERYTHING}


def test_honest_work_gets_its_points(results):
    honest = {kind: results[f"honest {kind}"] for kind in HONEST}
    assert {result.status for result in honest.values()} <= {"graded", "partly-run"}
    assert honest["honest"].score == honest["another style"].score == honest["honest"].max_score
