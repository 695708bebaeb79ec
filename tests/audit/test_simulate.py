"""A simulated class has its size and its seed, and its right answers get full points in the sandbox."""

from __future__ import annotations

import random

import pytest

from autograder.audit.simulate import kinds_of, simulate
from autograder.course.masters import all_labs, lab_name
from autograder.errors import UserError
from autograder.run.pipeline import run
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import hand_in

LAB = lab_name("01")


def test_a_class_is_as_large_as_asked_for_and_the_same_for_the_same_seed(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.audit.simulate.kinds_of", lambda lab: {"honest": lambda rng: "{}"})
    first, again, other = ([*simulate(LAB, 400, tmp_path / f"{n}", n // 2)] for n in (0, 1, 2))
    assert len(first) == 400 and first == again != other
    with pytest.raises(UserError, match="not empty"):
        simulate(LAB, 3, tmp_path / "0")


#: Labs whose answers take and return other kinds of values: arrays, texts, the modules of a whole translator. The audit judges every
#: right answer without a sandbox, and the classes of labs 01 and 07 are graded elsewhere.
KINDS = ("00", "04", "12")


@pytest.mark.skipif(probe() is not None, reason=str(probe()))
@pytest.mark.xdist_group("right_answers")
@pytest.mark.parametrize(
    "lab", [lab if lab[:2] in KINDS else pytest.param(lab, marks=pytest.mark.proof) for lab in all_labs()]
)
def test_right_answers_get_full_points(lab, tmp_path):
    """The sandbox keeps a graded answer under another name, and arguments and results travel."""
    for name in ("honest", "another style"):
        hand_in(tmp_path / "submitted", name, kinds_of(lab)[name](random.Random(1)), lab)
    results = run(lab, tmp_path / "submitted", tmp_path / "out", jobs=1).results
    tests = [(q.name, test) for r in results for q in r.questions for test in q.tests]
    assert [one for one in tests if not one[1].passed] == []
    assert [result.score for result in results] == [20, 20]
