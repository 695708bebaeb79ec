"""Settings for every test: a fixed salt, one thread; and tests that grade classes run one after another."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("COURSE_SALT", "the tests' salt")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything of ours is imported
sys.path.insert(0, str(Path(__file__).parent / "fixtures" / "quick_start"))
os.environ["PYTHONPATH"] = os.pathsep.join([sys.path[0], *filter(None, [os.environ.get("PYTHONPATH")])])

import pytest
from hypothesis import settings

pytest_plugins = [
    f"tests.fixtures.{name}" for name in ("browser", "frozen_course", "jupyterlab", "small_lab")
]

# No test depends on the clock of a busy machine.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

#: What `make check` leaves to `make test`: jails, trainings, notebooks, nbgrader's own programs, the audit of every lab ...
SLOW_TESTS = (
    "attacks/", "audit/", "cli/", "coursekit/provided/", "coursekit/translator/", "demos/", "docker/",
    "exports/test_gradescope_zip.py", "gradebook/test_writer.py::test_the_rows_are_those_that_nbgrader_itself_writes",
    "grading/test_ordinary_accidents.py", "grading/test_time_guard.py",
    "importing/test_same_scores.py", "journeys/", "nbgrader_plugin/", "questions/test_mutants.py", "run/",
    "serve/test_live_class.py", "sandbox/test_cells.py", "sandbox/test_isolation.py", "sandbox/test_limits.py",
    "sandbox/test_student.py",
)  # fmt: skip
#: ... and whatever asks for a graded class or a browser.
SLOW_FIXTURES = frozenset({"frozen", "graded", "graded_class", "browser", "serve", "visit"})


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give this run a folder that other users may enter: the one that all runs share is closed when another run begins."""
    config.option.loadscopereorder = False  # workers take the tests in the order below
    if config.option.basetemp is None:
        own = Path(tempfile.mkdtemp(prefix="course-tests-"))
        own.chmod(0o755)
        config.option.basetemp = own / "run"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remove that folder, unless a test failed."""
    own = Path(session.config.option.basetemp).parent
    if exitstatus == 0 and own.name.startswith("course-tests-"):
        shutil.rmtree(own, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests, put groups first, and leave what is marked ``proof`` to a run whose ``-m`` names it: ``make proof``.

    ``--dist loadgroup`` keeps tests on one worker whose names end with the same group. pytest-xdist writes the group into an
    attribute that pytest 9.2 does not read (its issue 1386), so it is written here.
    """
    if "proof" not in config.getoption("markexpr"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("proof")])
        items[:] = [item for item in items if not item.get_closest_marker("proof")]
    # Groups are long: they begin first, and the many short tests fill every worker to the end.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    for item in items:
        place = item.nodeid.removeprefix("tests/")
        if place.startswith(SLOW_TESTS) or SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
        if (group := item.get_closest_marker("xdist_group")) and getattr(config.option, "loadgroup", False):
            item._id = item._id.parse(f"{item.nodeid}@{group.args[0]}")
