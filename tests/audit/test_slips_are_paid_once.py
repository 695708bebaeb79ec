"""A question is judged on its own: a right answer may lean on an earlier one in a way that the solution does not.

That it passes whatever the other answers are worth is a part of the pass of every question.
"""

from __future__ import annotations

import pytest

from autograder.course.masters import solution
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_question
from tests.audit.one_pass import nonsense

_OF_ITS_OWN_CHOICE = {
    ("07_self_attention", "additive_attention", "scaled_dot_product_attention"): """
import numpy as np


def additive_attention(q, k, v, W_q, W_k, w, mask=None):
    scores = np.tanh((q @ W_q)[..., :, None, :] + (k @ W_k)[..., None, :, :]) @ w
    size = k.shape[-2]
    keys = np.broadcast_to(np.eye(size), (*k.shape[:-2], size, size))
    return scaled_dot_product_attention(scores * np.sqrt(size), keys, v, mask)
""",
    ("12_translator", "translate", "make_batch"): """
import torch
from coursekit.provided.p11_decoding import beam_search


def translate(model, source, beam=1, length_penalty=0.0, max_length=40):
    model.eval()
    with torch.no_grad():
        memory, mask = model.encode(torch.tensor([list(source)]))

        def step(prefixes):
            _, given, _ = make_batch([(source, prefix[1:]) for prefix in prefixes])
            return model.decode(given, memory, mask)[:, -1].log_softmax(-1).double().numpy()

        tokens, _ = beam_search(step, beam, length_penalty, 1, 2, max_length)[0]
    return [token for token in tokens if token not in (1, 2)]
""",
}


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
    ("lab", "question", "earlier", "source"),
    [
        *((*key, source) for key, source in _OF_ITS_OWN_CHOICE.items()),
        ("07_self_attention", "additive_attention", "", _WITH_SCORES_OF_ITS_OWN),
    ],
    ids=["a call of an earlier question", "a batch of its own", "an argument of its own"],
)
def test_a_right_answer_may_lean_on_an_earlier_one_that_the_solution_does_without(
    lab, question, earlier, source
):
    namespace = solution.__wrapped__(lab)
    exec(source, namespace)
    if earlier:
        namespace[earlier] = nonsense
    runs = run_question(lab, question, Student.local_namespace(namespace, question))
    assert [(run.test.name, run.result.message) for run in runs if not run.result.passed] == []
