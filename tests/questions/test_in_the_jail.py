"""An answer in the jail is judged as it is in this process; a call that ends the child fails alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.course.visible_files import kit_folder
from autograder.questions.engine.judge import judge, judge_function
from autograder.questions.engine.question import questions_of
from autograder.questions.engine.rubric import points_earned
from autograder.sandbox.host.session import Zygote
from autograder.sandbox.limits import Limits

SALT = "a salt"
RIGHT = """
import numpy as np

def padding_mask(lengths, T):
    return np.array([[[t < n for t in range(T)]] for n in lengths], dtype=bool)
"""
ANSWERS = {
    "right": RIGHT,
    "inverted": RIGHT.replace("t < n", "t >= n"),
    "squeezed": RIGHT.replace("dtype=bool)", "dtype=bool).squeeze()[:, None]"),
    "emptied": RIGHT.replace("    return", "    given, lengths[:] = [*lengths], []\n    return").replace(
        "in lengths]", "in given]"
    ),
    "unwritten": "def padding_mask(lengths, T):\n    raise NotImplementedError()",
    "missing": "padding_mask = 3",
}


@pytest.fixture(scope="module")
def zygote():
    with Zygote(kit_folder(), [], replace(Limits(), call_seconds=1.0)) as zygote:
        yield zygote


@pytest.fixture(scope="module")
def question():
    return questions_of("07_self_attention")["padding_mask"]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_in_the_jail_gets_the_same_points_and_name(name, zygote, question):
    namespace = {}
    exec(ANSWERS[name], namespace)
    here = judge_function(question, SALT, namespace["padding_mask"])
    with zygote.session() as session:
        session.run_cells([("cell", ANSWERS[name])])
        there = judge(question, SALT, session.student("padding_mask"))
    assert there.misconception == here.misconception and there.seen.failed == here.seen.failed
    points = [points_earned(question, SALT, 2.0, judgement) for judgement in (here, there)]
    assert points[0] == points[1] and (points[0] == 2) is (name == "right")


def test_a_call_without_end_fails_alone(zygote, question):
    source = RIGHT.replace("    return", "    while len(lengths) == 1:\n        pass\n    return")
    with zygote.session() as session:
        session.run_cells([("cell", source)])
        judgement = judge(
            question,
            SALT,
            session.student("padding_mask"),
            lambda: session.student("padding_mask") if session.revive() else None,
        )
    assert judgement.seen.failed == {"one_sentence"}
    assert "gone: timed-out" in {outcome.error for outcome in judgement.seen.outcomes}
