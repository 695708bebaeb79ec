"""The attacks where a container gives no namespaces: nobody gets a point unearned, and what is held no longer is written down."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.audit.simulate import kinds_of
from autograder.course.masters import course_root, lab_name
from autograder.results import SubmissionResult
from autograder.run.store import STORE, ResultStore
from autograder.sandbox.jail import landlock, namespaces
from tests.fixtures.frozen_course import environment, freeze

from .conftest import HONEST, POLICY
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
#: What depends on isolation; reading code, the wire and the notebook's form are the same everywhere.
CASES = [
    case
    for case in all_cases()
    if case.lab == LAB and case.name.partition("_")[0] in ("forge", "read", "write", "kill", "unlucky")
]
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


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SubmissionResult]:
    """The class, graded in a plain container."""
    course = freeze(tmp_path_factory.mktemp("course"), LAB)
    (course / "course.toml").write_text(POLICY)
    folder = tmp_path_factory.mktemp("attacks")
    kinds = {kind.name: kind for kind in kinds_of(LAB)}
    for name in HONEST:
        path = folder / "submitted" / f"honest {name}" / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(kinds[name].write(name, random.Random(5)), encoding="utf-8")
    for case in CASES:
        case.hand_in(folder / "submitted")
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
    assert "graded with isolation “landlock” only" in done.stdout
    with ResultStore(folder / "out" / STORE) as store:
        return {result.student: replace(result, notebook="") for result in store.all(LAB)}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_nobody_gets_more_than_the_work_is_worth_and_nothing_hidden_is_said(results, case):
    result, expected = results[case.student], case.expected
    assert not result.fault
    assert result.isolation == "landlock" or not result.readable
    earned = {question.name for question in result.questions if question.points == question.max_points}
    if expected["score"] == "less":
        assert expected["question"] not in earned
    else:
        assert result.score <= expected["score"] + 1e-9
    if case.name not in OTHERWISE:
        assert result.status in case.statuses, result.notes
        if (
            expected["score"] != "less" and result.status == case.statuses[0]
        ):  # a slow machine may cost its author more
            assert result.score == pytest.approx(expected["score"])
    texts = [text for text in expected.get("never", ()) if text in json.dumps(result.as_dict())]
    assert texts == []


@pytest.mark.parametrize("kind", HONEST)
def test_honest_work_gets_its_points(results, kind):
    result = results[f"honest {kind}"]
    assert result.status in ("graded", "partly-run") and not result.fault
    if kind in ("honest", "another style"):
        assert result.score == result.max_score


def test_the_cases_that_end_otherwise_are_real_ones():
    assert OTHERWISE.keys() <= {case.name for case in CASES}


def test_the_page_on_security_counts_them():
    page = " ".join((course_root() / "docs" / "security.md").read_text(encoding="utf-8").split())
    assert len(OTHERWISE) == 10 and f"ten of the {len(CASES)}, each at its own author's cost" in page
