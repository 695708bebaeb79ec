"""Grades the attacks of a lab in one class with honest submissions, and the honest ones once more alone."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.masters import lab_name
from autograder.pipeline import run
from autograder.results import SubmissionResult
from autograder.sandbox.policy import Limits
from autograder.simulate import kinds_of

from .loader import all_cases

#: Short, because a third of the cases runs into them.
LIMITS = Limits(
    cell_seconds=3,
    call_seconds=3,
    total_seconds=25,
    cpu_seconds=25,
    memory_bytes=512 << 20,
    scratch_bytes=32 << 20,
)
HONEST = ("honest", "another style", "one misconception", "two misconceptions", "half done", "untouched")


@dataclass(frozen=True)
class GradedClass:
    """A class's results by student, where they were written, and how the honest fared without the others."""

    results: dict[str, SubmissionResult]
    alone: dict[str, SubmissionResult]
    out: Path


def _graded(lab: str, folder: Path) -> dict[str, SubmissionResult]:
    done = run(lab, folder / "submitted", folder / "out", jobs=2, limits=LIMITS)
    return {result.student: result for result in done.results}


def _class(lab: str, folder: Path) -> GradedClass:
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
    together = _graded(lab, folder / "class")
    return GradedClass(together, _graded(lab, folder / "alone"), folder / "class" / "out")


@pytest.fixture(scope="session")
def classes(tmp_path_factory):
    """The graded class of a lab, by its full name; made at its first use."""
    made: dict[str, GradedClass] = {}

    def of(lab: str) -> GradedClass:
        lab = lab_name(lab)
        if lab not in made:
            made[lab] = _class(lab, tmp_path_factory.mktemp("attacks"))
        return made[lab]

    return of
