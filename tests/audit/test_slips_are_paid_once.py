"""A question is judged on its own: a right answer gets full points whatever the answers it builds on are worth."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from autograder.course.masters import all_labs, solution
from autograder.course.policy_file import spec
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_question

QUESTIONS = [(lab, question) for lab in all_labs() for question, points in spec(lab).questions if points]


_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def _not_written(*arguments: Any, **named: Any) -> Any:
    raise NotImplementedError


def _nonsense(*arguments: Any, **named: Any) -> Any:
    return None


@pytest.mark.parametrize("other_answers", [_not_written, _nonsense], ids=["not written", "wrong"])
@pytest.mark.parametrize(("lab", "question"), QUESTIONS, ids=[f"{lab[:2]} {name}" for lab, name in QUESTIONS])
def test_a_right_answer_passes_without_the_others(lab, question, other_answers):
    namespace = solution.__wrapped__(lab)  # a fresh one: the cached one serves other tests
    for other, _ in spec(lab).questions:
        if other != question:
            namespace[other] = other_answers
    runs = run_question(lab, question, Student.local_namespace(namespace, question))
    assert [(run.test.name, run.result.message) for run in runs if not run.result.passed] == []


@pytest.mark.parametrize(("lab", "question"), QUESTIONS, ids=[f"{lab[:2]} {name}" for lab, name in QUESTIONS])
def test_no_right_answer_is_in_the_sandbox_before_its_question_is_over(lab, question, monkeypatch):
    """Student code can find whatever is there: what helps it along may answer earlier questions only."""
    sent: list[str] = []
    scene = Student.scene
    monkeypatch.setattr(
        Student, "scene", lambda self, source, **named: sent.append(source) or scene(self, source, **named)
    )
    run_question(lab, question, Student.local_namespace({question: _nonsense}, question))
    order = [name for name, _ in spec(lab).questions]
    defined = {
        node.name for source in sent for node in ast.walk(ast.parse(source)) if isinstance(node, _DEFINITIONS)
    }
    assert not defined & set(order[order.index(question) :])


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


def test_attention_that_takes_ready_made_scores_is_paid_for_once():
    namespace = solution.__wrapped__("07_self_attention")
    exec(_WITH_SCORES_OF_ITS_OWN, namespace)
    student = Student.local_namespace(namespace, "additive_attention")
    runs = run_question("07_self_attention", "additive_attention", student)
    assert [(run.test.name, run.result.message) for run in runs if not run.result.passed] == []


@pytest.mark.parametrize(("lab", "question", "earlier"), _OF_ITS_OWN_CHOICE)
def test_a_right_answer_may_lean_on_an_earlier_one_that_the_solution_does_without(lab, question, earlier):
    namespace = solution.__wrapped__(lab)
    exec(_OF_ITS_OWN_CHOICE[lab, question, earlier], namespace)
    namespace[earlier] = _nonsense
    runs = run_question(lab, question, Student.local_namespace(namespace, question))
    assert [(run.test.name, run.result.message) for run in runs if not run.result.passed] == []
