"""Grades attacks in one class with honest submissions, and the honest ones once more alone."""

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.audit.simulate import kinds_of
from autograder.results import SubmissionResult
from autograder.run.store import STORE, ResultStore
from tests.fixtures.frozen_course import environment, freeze, hand_in

from .loader import Case, all_cases

#: Short, because many cases run into them: honest ones take a second at most, where a cell imports a library.
POLICY = """
[limits]
cell_seconds = 3
call_seconds = 2
total_seconds = 60
cpu_seconds = 60
memory_bytes = 536_870_912
scratch_bytes = 33_554_432
"""
HONEST = ("honest", "another style", "two misconceptions", "half done")


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the harness with the cases' labs and short limits, which seeks few edits that do what a wrong answer does."""
    root = freeze(tmp_path_factory.mktemp("course"), *{case.lab for case in all_cases()})
    mutants = root / "autograder" / "questions" / "engine" / "mutants.py"
    text, found = re.subn(
        r"^MAX_EDITS = \d+$", "MAX_EDITS = 20", mutants.read_text(encoding="utf-8"), flags=re.M
    )
    assert found == 1
    mutants.write_text(text, encoding="utf-8")
    (root / "course.toml").write_text(POLICY)
    return root


@dataclass(frozen=True)
class GradedClass:
    """Cases and honest submissions graded together, what the terminal showed, and where everything was written."""

    cases: list[Case]
    results: dict[str, SubmissionResult]
    said: str
    out: Path


Grade = Callable[..., GradedClass]


@pytest.fixture(scope="session")
def grade(tmp_path_factory: pytest.TempPathFactory, course: Path) -> Grade:
    """``grade(lab, cases)`` has these cases graded in one class with honest submissions, by the command.

    With ``contained`` the command runs as in a plain container, which gives no namespaces.
    """

    def grade(lab: str, cases: list[Case], contained: bool = False) -> GradedClass:
        folder, rng, kinds = tmp_path_factory.mktemp("attacks"), random.Random(5), kinds_of(lab)
        for name in HONEST:
            hand_in(folder / "submitted", f"honest {name}", kinds[name](rng), lab)
        for case in cases:
            case.hand_in(folder / "submitted")
        words = ["-P", "-m", "autograder.cli", "grade", lab, "--submitted", str(folder / "submitted")]
        words += ["--out", str(folder / "out"), "--jobs", "2" if cases else "1"]
        path = environment(course)["PYTHONPATH"]
        if contained:
            words = ["-m", "tests.fixtures.plain_container", "--", sys.executable, *words]
            path = os.pathsep.join([path, str(Path(__file__).parents[2])])
        done = subprocess.run(
            [sys.executable, *words], env=environment(course, PYTHONPATH=path), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        with ResultStore(folder / "out" / STORE) as store:
            results = {result.student: replace(result, notebook="") for result in store.all(lab)}
        return GradedClass(cases, results, " ".join(done.stdout.split()), folder / "out")

    return grade
