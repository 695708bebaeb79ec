"""A question is judged on its own: a right answer may lean on an earlier one in a way that the solution does not.

That it passes whatever the other answers are worth is a part of the pass of every question.
"""

from __future__ import annotations

import pytest

from autograder.course.masters import solution
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_question
from tests.audit.one_pass import nonsense

LAB, QUESTION = "07_self_attention", "additive_attention"

_CALLS_AN_EARLIER_ONE = """
import numpy as np


def additive_attention(q, k, v, W_q, W_k, w, mask=None):
    scores = np.tanh((q @ W_q)[..., :, None, :] + (k @ W_k)[..., None, :, :]) @ w
    size = k.shape[-2]
    keys = np.broadcast_to(np.eye(size), (*k.shape[:-2], size, size))
    return scaled_dot_product_attention(scores * np.sqrt(size), keys, v, mask)
"""


_WITH_SCORES_OF_ITS_OWN = """
import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None, table=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) if table is None else table
    weights = softmax(scores if mask is None else np.where(mask, -np.inf, scores))
    return weights @ v, weights


def additive_attention(q, k, v, W_q, W_k, w, mask=None):
    scores = np.tanh((q @ W_q)[..., :, None, :] + (k @ W_k)[..., None, :, :]) @ w
    return scaled_dot_product_attention(None, None, v, mask, table=scores)
"""


@pytest.mark.parametrize(
    ("earlier", "source"),
    [("scaled_dot_product_attention", _CALLS_AN_EARLIER_ONE), ("", _WITH_SCORES_OF_ITS_OWN)],
    ids=["a call of an earlier question", "an argument of its own"],
)
def test_a_right_answer_may_lean_on_an_earlier_one_that_the_solution_does_without(earlier, source):
    namespace = solution.__wrapped__(LAB)
    exec(source, namespace)
    if earlier:
        namespace[earlier] = nonsense
    runs = run_question(LAB, QUESTION, Student.local_namespace(namespace, QUESTION))
    assert [(run.test.name, run.result.message) for run in runs if not run.result.passed] == []
