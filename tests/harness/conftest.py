"""A frozen copy of the course and small classes, graded by the command as a teacher would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course import policy_file
from autograder.course.masters import course_root, lab_name, solved
from autograder.course.visible_files import data_files

SALT = "the tests' salt"
LAB = lab_name("01")

Grade = Callable[..., subprocess.CompletedProcess]


def freeze(root: Path, *labs: str) -> Path:
    """Copy the harness and what grading these labs needs to ``root``: nobody edits it while its tests run."""
    here = course_root()
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(here / "autograder", root / "autograder", ignore=unwanted)
    shutil.copytree(here / "notebooks" / "coursekit", root / "notebooks" / "coursekit", ignore=unwanted)
    for lab in labs:
        shutil.copytree(here / "solutions" / lab, root / "solutions" / lab)
        for source in data_files(lab):
            target = root / "data" / source.relative_to(here / "data")
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    return root


@pytest.fixture(scope="session")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frozen course with lab 01."""
    return freeze(tmp_path_factory.mktemp("course"), LAB)


@pytest.fixture
def course_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """``course_at(text)`` puts a policy_file.toml in force; afterwards there is none again."""
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"course-{os.getpid()}"
    folder.mkdir(exist_ok=True)

    def put(text: str) -> None:
        (folder / "policy_file.toml").write_text(text, encoding="utf-8")
        monkeypatch.setenv("COURSE_FILE", str(folder / "policy_file.toml"))
        policy_file.use(None)

    yield put
    monkeypatch.undo()
    policy_file.use(None)
    shutil.rmtree(folder)


def environment(root: Path, **more: str) -> dict[str, str]:
    """For a command that grades the course in ``root``."""
    path = f"{root}{os.pathsep}{root / 'notebooks'}"
    own = {"COURSE_ROOT": str(root), "PYTHONPATH": path, "COURSE_SALT": SALT, "COLUMNS": "200"}
    return {**os.environ, **own, **more}


def command(*words: object, root: Path, **more: str) -> subprocess.CompletedProcess:
    """Run ``autograder`` with these words; its output as text."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "autograder.cli", *map(str, words)],
        env=environment(root, **more), capture_output=True, text=True, check=False,
    )  # fmt: skip


def hand_in(submitted: Path, student: str, answers: dict[str, str] | str, lab: str = LAB) -> Path:
    """Write a submission: the solved lab with these answers in place of the master's (or the text itself)."""
    path = submitted / student / lab / f"{lab}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(answers, str):
        path.write_text(answers, encoding="utf-8")
    else:
        path.write_text(nbformat.writes(answered(lab, solved(lab) | answers)), encoding="utf-8")
    return path


WRONG = {"normalise_rows": "def normalise_rows(N):\n    return N / N.sum()"}
BROKEN = {"average_nll": "def average_nll(P, words):\n    raise RuntimeError('not today')"}


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory: pytest.TempPathFactory, frozen: Path) -> Path:
    """A folder with ``submitted`` and ``out``: ada is right, bo wrong in one question, cleo handed in nothing."""
    folder = tmp_path_factory.mktemp("graded")
    hand_in(folder / "submitted", "ada", {})
    hand_in(folder / "submitted", "bo", WRONG)
    (folder / "submitted" / "cleo" / LAB).mkdir(parents=True)
    for student, when in (("ada", "2026-10-01 12:00:00 UTC"), ("bo", "2026-10-04 12:00:00 UTC")):
        (folder / "submitted" / student / LAB / "timestamp.txt").write_text(when + "\n")
    done = command(
        "grade", "01", "--submitted", folder / "submitted", "--out", folder / "out", "--jobs", 1, root=frozen
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def graded(graded_class: Path, tmp_path: Path) -> Path:
    """A copy of the graded class that a test may change."""
    return shutil.copytree(graded_class, tmp_path / "class")
