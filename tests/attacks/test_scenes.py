"""What a hidden test expects is never asked of the sandbox, where the student's code can make it up."""

from __future__ import annotations

import pytest

from autograder.course.masters import lab_name, solution
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_question

#: Answers that do more than they are asked for and then set what the test's own model might have counted, by the test that
#: must notice.
FORGED = {
    ("12", "translate", "the_encoder_runs_once"): """
right = translate

def translate(model, source, *rest, **named):
    tokens = right(model, source, *rest, **named)
    with torch.no_grad():
        model.encode(torch.tensor([list(source)]))
    model.encoded, model.recorded = 1, 0
    return tokens
""",
    ("12", "translate", "evaluation_mode"): """
import torch
from coursekit.provided.p11_decoding import beam_search

def translate(model, source, beam=1, length_penalty=0.0, max_length=40):
    model.eval()
    memory, mask = model.encode(torch.tensor([list(source)]))

    def step(prefixes):
        logits = model.decode(torch.tensor(prefixes), memory, mask)[:, -1]
        return logits.detach().double().log_softmax(-1).numpy()

    tokens, _ = beam_search(step, beam, length_penalty, 1, 2, max_length)[0]
    model.encoded, model.recorded = 1, 0
    return [token for token in tokens if token != 2]
""",
    ("10", "train_step", "in_training_mode"): """
right = train_step

def train_step(model, optimizer, loss_function, batch, *rest, **named):
    model(*batch[:2])
    loss = right(model, optimizer, loss_function, batch, *rest, **named)
    model.calls = [True]
    return loss
""",
    ("08", "attention_maps", "each_run"): """
right = attention_maps

def attention_maps(model, *inputs):
    type(model).forward.__globals__["hooks_left"] = lambda: 0
    if hasattr(model, "blocks"):
        model(*inputs)
    maps = right(model, *inputs)
    model.runs = 3
    return maps
""",
}


def passed(lab: str, question: str, source: str) -> dict[str, bool]:
    """Whether each hidden test passes when ``source`` has run after the right answers."""
    namespace = dict(solution(lab_name(lab)))
    exec(source, namespace)
    runs = run_question(lab_name(lab), question, Student.local_namespace(namespace, question))
    return {run.test.name: run.result.passed for run in runs}


@pytest.mark.parametrize(("lab", "question", "test"), FORGED)
def test_what_a_model_of_the_tests_was_asked_is_counted_where_no_student_can_set_it(lab, question, test):
    found = passed(lab, question, FORGED[lab, question, test])
    assert [name for name, right in found.items() if not right] == [test]


MAPS = """
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
    assert not any(passed("08", "attention_maps", MAPS).values())


#: The right model, and what it says multiplied with something that is no number.
BROKEN_LOGITS = """
class {name}({name}):
    def forward(self, *arguments):
        return super().forward(*arguments) * float("{factor}")
"""
#: Blocks whose part in what the model says is there for a gradient only.
FAINT_BLOCKS = """
class TinyLM(TinyLM):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        for block in self.blocks:
            block.register_forward_hook(lambda block, given, heard: given[0] + 1e-30 * heard)
"""


@pytest.mark.parametrize(
    ("lab", "question", "source"),
    [
        *(
            (lab, name, BROKEN_LOGITS.format(name=name, factor=factor))
            for lab, name in (("12", "Transformer"), ("13", "TinyLM"))
            for factor in ("nan", "inf")
        ),
        ("13", "TinyLM", FAINT_BLOCKS),
    ],
)
def test_a_model_that_says_nothing_earns_nothing_by_what_it_does_not_hear(lab, question, source):
    unheard = {
        name: right
        for name, right in passed(lab, question, source).items()
        if "padding" in name or "future" in name
    }
    assert len(unheard) >= 2 and not any(unheard.values()), unheard
