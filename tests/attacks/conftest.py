"""Grades attacks in one class with honest submissions, and the honest ones once more alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.audit.simulate import kinds_of
from autograder.results import SubmissionResult
from autograder.run.store import STORE, ResultStore
from tests.fixtures.frozen_course import command, freeze

from .loader import Case, all_cases

#: Short, because many cases run into them: honest ones take a second at most, where a cell imports a library.
POLICY = """
[limits]
cell_seconds = 3
call_seconds = 4
total_seconds = 60
cpu_seconds = 60
memory_bytes = 536_870_912
scratch_bytes = 33_554_432
"""
HONEST = ("honest", "another style", "two misconceptions", "half done")


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the harness with the cases' labs and short limits."""
    root = freeze(tmp_path_factory.mktemp("course"), *{case.lab for case in all_cases()})
    (root / "course.toml").write_text(POLICY)
    return root


def hand_in_honest(lab: str, submitted: Path) -> None:
    """Write a submission of each honest kind into the class's folder."""
    rng = random.Random(5)
    kinds = {kind.name: kind for kind in kinds_of(lab)}
    for name in HONEST:
        path = submitted / f"honest {name}" / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(kinds[name].write(name, rng), encoding="utf-8")


def results_in(out: Path, lab: str) -> dict[str, SubmissionResult]:
    """A graded class's results by student, without their notebooks."""
    with ResultStore(out / STORE) as store:
        return {result.student: replace(result, notebook="") for result in store.all(lab)}


@dataclass(frozen=True)
class GradedClass:
    """Cases and honest submissions graded together, and where everything was written."""

    lab: str
    cases: list[Case]
    results: dict[str, SubmissionResult]
    out: Path


@pytest.fixture(scope="session")
def grade(
    tmp_path_factory: pytest.TempPathFactory, course: Path
) -> Callable[[str, Iterable[Case]], GradedClass]:
    """``grade(lab, cases)`` has these cases graded in one class with honest submissions, by the command."""

    def grade(lab: str, cases: Iterable[Case]) -> GradedClass:
        folder = tmp_path_factory.mktemp("attacks")
        hand_in_honest(lab, folder / "submitted")
        for case in cases:
            case.hand_in(folder / "submitted")
        words = ("grade", lab, "--submitted", folder / "submitted", "--out", folder / "out", "--jobs", 2)
        done = command(*words, root=course)
        assert done.returncode == 0, done.stdout + done.stderr
        return GradedClass(lab, list(cases), results_in(folder / "out", lab), folder / "out")

    return grade
