"""``padding_idx`` changes no value of an embedding, so an answer that gives it is right."""

from __future__ import annotations

import pytest

from autograder.course.masters import lab_name, solution, solution_sources
from autograder.judging.run import run_test, tests_of
from autograder.sandbox.host.student import Student


@pytest.mark.parametrize(
    ("lab", "question", "plain", "padded"),
    [
        ("13", "TinyLM", "nn.Embedding(V, d_model)", "nn.Embedding(V, d_model, padding_idx=0)"),
        ("12", "Transformer", "_size, d_model)", "_size, d_model, padding_idx=PAD)"),
    ],
)
def test_an_embedding_that_knows_its_padding_earns_all_points(lab, question, plain, padded):
    names = dict(solution(lab_name(lab)))
    code = solution_sources(lab_name(lab))[question]
    assert plain in code
    written = dict(names[question].forward.__globals__)
    exec(code.replace(plain, padded), written)
    answers = Student.local_namespace(names | {question: written[question]}, question)
    failed = [
        test.name for test in tests_of(lab_name(lab))[question] if not run_test(test, answers).result.passed
    ]
    assert failed == []
