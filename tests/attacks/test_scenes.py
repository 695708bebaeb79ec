"""What a hidden test expects is never asked of the sandbox, where the student's code can make it up."""

from __future__ import annotations

from autograder.course.masters import lab_name, solution
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_question

FORGED = """
import torch


def attention_maps(model, *inputs):
    maps = {}
    for name, module in model.named_modules():
        if type(module).__name__ == "MultiHeadAttention":
            maps[name] = torch.zeros(1)
        elif type(module).__name__ == "Block":  # the test's own, which lies open to whoever is handed it
            module.expected = module.weights = torch.zeros(1)
            type(module).forward = lambda self, x, *rest, **named: x
    return maps
"""


def test_maps_that_a_forger_writes_into_the_tests_own_layers_pass_nothing():
    lab = lab_name("08")
    namespace = dict(solution(lab))
    exec(FORGED, namespace)
    runs = run_question(lab, "attention_maps", Student.local_namespace(namespace, "attention_maps"))
    assert [run.test.name for run in runs if run.result.passed] == []
