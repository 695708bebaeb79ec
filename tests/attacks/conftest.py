"""Grades the attacks of a lab in one class with honest submissions, and the honest ones once more alone."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.audit.simulate import kinds_of
from autograder.course.masters import lab_name
from autograder.results import SubmissionResult
from autograder.run.store import STORE, ResultStore
from tests.fixtures.frozen_course import command, freeze

from .loader import all_cases

#: Short, because many cases run into them.
POLICY = """
[limits]
cell_seconds = 3
call_seconds = 3
total_seconds = 25
cpu_seconds = 25
memory_bytes = 536_870_912
scratch_bytes = 33_554_432
"""
HONEST = ("honest", "another style", "one misconception", "two misconceptions", "half done", "untouched")


@dataclass(frozen=True)
class GradedClass:
    """A class's results by student, where they were written, and how the honest fared without the others."""

    results: dict[str, SubmissionResult]
    alone: dict[str, SubmissionResult]
    out: Path


def _graded(lab: str, folder: Path, course: Path) -> dict[str, SubmissionResult]:
    out = folder / "out"
    words = ("grade", lab, "--submitted", folder / "submitted", "--out", out, "--jobs", 2)
    done = command(*words, root=course)
    assert done.returncode == 0, done.stdout + done.stderr
    with ResultStore(out / STORE) as store:
        return {result.student: replace(result, notebook="") for result in store.all(lab)}


def _class(lab: str, folder: Path, course: Path) -> GradedClass:
    rng = random.Random(5)
    kinds = {kind.name: kind for kind in kinds_of(lab)}
    for name in HONEST:
        path = folder / "alone" / "submitted" / f"honest {name}" / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(kinds[name].write(name, rng), encoding="utf-8")
    shutil.copytree(folder / "alone" / "submitted", folder / "class" / "submitted")
    for case in all_cases():
        if case.lab == lab:
            case.hand_in(folder / "class" / "submitted")
    together = _graded(lab, folder / "class", course)
    return GradedClass(together, _graded(lab, folder / "alone", course), folder / "class" / "out")


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], GradedClass]:
    """The graded class of a lab, by its full name; made at its first use by a copy of the harness."""
    course = freeze(tmp_path_factory.mktemp("course"), *{case.lab for case in all_cases()})
    (course / "course.toml").write_text(POLICY)
    made: dict[str, GradedClass] = {}

    def of(lab: str) -> GradedClass:
        lab = lab_name(lab)
        if lab not in made:
            made[lab] = _class(lab, tmp_path_factory.mktemp("attacks"), course)
        return made[lab]

    return of
