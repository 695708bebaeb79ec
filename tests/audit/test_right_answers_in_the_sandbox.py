"""The master's answers, and right ones in another style, get full points where students are graded: in the sandbox.

The hidden tests' own runs see a function in this process; the sandbox keeps a graded answer under another name,
and arguments and results travel.
"""

from __future__ import annotations

import random

import pytest

from autograder.audit.simulate import kinds_of
from autograder.course.masters import all_labs
from autograder.run.pipeline import run
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import hand_in

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("right_answers"),
]


#: Labs whose answers take and return other kinds of values: arrays, texts, the modules of a whole translator. The audit judges every
#: right answer without a sandbox, and the classes of labs 01 and 07 are graded elsewhere.
KINDS = ("00", "04", "12")


@pytest.mark.parametrize(
    "lab",
    [lab if lab[:2] in KINDS else pytest.param(lab, marks=pytest.mark.proof) for lab in all_labs()],
)
def test_right_answers_get_full_points(lab, tmp_path):
    for name in ("honest", "another style"):
        hand_in(tmp_path / "submitted", name, kinds_of(lab)[name](random.Random(1)), lab)
    results = run(lab, tmp_path / "submitted", tmp_path / "out", jobs=1).results
    failed = [
        (q.name, t.name, t.message) for r in results for q in r.questions for t in q.tests if not t.passed
    ]
    assert failed == [] and [result.score for result in results] == [20, 20]
