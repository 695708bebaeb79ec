"""A warm zygote for all of the sandbox's tests, with a student kit and data of their own."""

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from coursekit import checks
from coursekit.checks import time_limit

from autograder.sandbox.host.session import Zygote
from autograder.sandbox.limits import MEBIBYTE, Limits

#: Small, so that running into them takes little time.
LIMITS = Limits(
    cell_seconds=10.0,
    call_seconds=10.0,
    total_seconds=60.0,
    memory_bytes=300 * MEBIBYTE,
    scratch_bytes=16 * MEBIBYTE,
    file_bytes=8 * MEBIBYTE,
    output_bytes=20_000,
)

CELLS = tomllib.loads(Path(__file__).with_name("cells.toml").read_text(encoding="utf-8"))

KIT = """
from IPython.display import display

def check(name, passed):
    display({"application/vnd.coursekit.check+json": {"question": name, "passed": passed}}, raw=True)
"""


def runs(pid: int) -> bool:
    """Whether a process runs: it is there, and no zombie."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A course folder with the kit, data, and things that are no submission's business."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "coursekit").mkdir()
    (folder / "coursekit" / "__init__.py").write_text(KIT)
    shutil.copy(time_limit.__file__, folder / "coursekit")
    unneeded = shutil.ignore_patterns("data", "__pycache__")
    shutil.copytree(Path(checks.__path__[0]), folder / "coursekit" / "checks", ignore=unneeded)
    (folder / "data").mkdir()
    (folder / "data" / "names.txt").write_text("emma\n")
    (folder / "solutions").mkdir()
    (folder / "solutions" / "00.py").write_text("answer = 42\n")
    return folder


@pytest.fixture(scope="session")
def zygote(folder):
    with Zygote(folder / "coursekit", [folder / "data" / "names.txt"], LIMITS) as zygote:
        yield zygote


@pytest.fixture
def session(zygote):
    with zygote.session() as session:
        yield session


@pytest.fixture
def hasty(zygote):
    """A session with little patience."""
    with zygote.session(replace(LIMITS, cell_seconds=1.0, call_seconds=1.0)) as session:
        yield session


@pytest.fixture
def say(session):
    """Run a cell that must succeed, and return what it printed."""

    def say(source):
        [outcome] = session.run_cells([("cell", source)])
        assert outcome.status == "ok", outcome.error
        return "".join(o["text"] for o in outcome.outputs if o["output_type"] == "stream").strip()

    return say
