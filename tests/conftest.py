"""Settings for every test: a fixed salt, one thread; and tests that grade classes run one after another."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

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
    "attacks/",
    "audit/",
    "cli/",
    "coursekit/provided/",
    "coursekit/translator/",
    "demos/",
    "docker/",
    "exports/test_gradescope_zip.py",
    "gradebook/test_writer.py::test_the_rows_are_those_that_nbgrader_itself_writes",
    "grading/test_diagnosis.py",
    "grading/test_ordinary_accidents.py",
    "grading/test_time_guard.py",
    "importing/test_same_scores.py",
    "journeys/",
    "nbgrader_plugin/",
    "questions/test_mutants.py",
    "run/",
    "serve/test_live_class.py",
    "sandbox/test_cells.py",
    "sandbox/test_isolation.py",
    "sandbox/test_limits.py",
    "sandbox/test_student.py",
)
#: ... and whatever asks for a graded class or a browser.
SLOW_FIXTURES = frozenset({"frozen", "graded", "graded_class", "browser", "serve", "visit"})


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give this run a folder that other users may enter: the one that all runs share is closed when another run begins."""
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
    """Mark the slow tests, put groups first, and leave what is marked ``proof`` to a run whose ``-m`` names it: ``make proof``."""
    if "proof" not in config.getoption("markexpr"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("proof")])
        items[:] = [item for item in items if not item.get_closest_marker("proof")]
    # Groups are long: they begin first, and the many short tests fill every worker to the end.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    for item in items:
        place = item.nodeid.removeprefix("tests/")
        if place.startswith(SLOW_TESTS) or SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the files of an ``xdist_group`` on one worker.

    ``--dist loadgroup`` should, but with pytest 9.2 it silently does not (pytest-xdist issue 1386).
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # in the order above

    @cache
    def group_of(path: str) -> str:
        text = (config.rootpath / Path(path)).read_text(encoding="utf-8")
        found = re.search(r'xdist_group\("(\w+)"\)', text)
        return found.group(1) if found else ""

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid.split("::")[0]) or nodeid

    return ByGroup(config, log)
