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

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]


#: Of the first and the seventh lab the classes of attacks and of every kind of submission hold the same.
@pytest.mark.parametrize("lab", [lab for lab in all_labs() if lab[:2] not in ("01", "07")])
def test_right_answers_get_full_points(lab, tmp_path):
    for kind in kinds_of(lab):
        if kind.name in ("honest", "another style"):
            path = tmp_path / "submitted" / kind.name / lab / f"{lab}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(kind.write(kind.name, random.Random(1)), encoding="utf-8")
    results = run(lab, tmp_path / "submitted", tmp_path / "out", jobs=1).results
    lost = {
        result.student: [
            (question.name, test.name, test.message)
            for question in result.questions
            for test in question.tests
            if not test.passed
        ]
        for result in results
    }
    assert lost == {"honest": [], "another style": []}
    assert [result.score for result in results] == [20, 20]
