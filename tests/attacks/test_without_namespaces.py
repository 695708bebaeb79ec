"""The attacks where a container gives no namespaces: nobody gets a point unearned, and what is held no longer is written down."""

import os

import pytest

from autograder.course.masters import lab_name
from autograder.sandbox.jail import landlock, namespaces

from .conftest import HONEST, Grade, GradedClass
from .loader import all_cases

pytestmark = [
    pytest.mark.skipif(
        not hasattr(os, "geteuid")
        or os.geteuid() != 0
        or namespaces.probe() is not None
        or not landlock.version(),
        reason="making a container that forbids namespaces needs Linux, root and Landlock",
    ),
    pytest.mark.xdist_group("attacks"),
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
def graded(request: pytest.FixtureRequest, grade: Grade) -> GradedClass:
    """The class, graded in a plain container."""
    names = CASES if request.param == "all" else [*OTHERWISE, *OF_EACH_KIND.split()]
    return grade(LAB, [CASES[name] for name in names], contained=True)


def test_nobody_gets_more_than_the_work_is_worth_and_honest_work_its_points(graded):
    assert f"graded with isolation “{EVERYTHING}” only" in graded.said
    results = graded.results
    assert [
        fault for case in graded.cases for fault in case.faults(results[case.student], case.name in OTHERWISE)
    ] == []
    assert {result.isolation for result in results.values() if result.readable} == {EVERYTHING}
    honest = {kind: results[f"honest {kind}"] for kind in HONEST}
    assert {result.status for result in honest.values()} <= {"graded", "partly-run"}
    assert honest["honest"].score == honest["another style"].score == honest["honest"].max_score
