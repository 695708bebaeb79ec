"""What a hidden test expects is never asked of the sandbox, where the student's code can make it up."""

from __future__ import annotations

import pytest

from autograder.course.masters import lab_name, solution
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_question, run_test, tests_of

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


#: Answers that do more than they are asked for and then set what the test's own model might have counted.
FORGED_COUNTS = {
    ("12", "translate", "test_the_encoder_runs_once"): """
import torch
from coursekit.provided.p11_decoding import beam_search

def translate(model, source, beam=1, length_penalty=0.0, max_length=40):
    model.eval()
    source = torch.tensor([list(source)])

    def step(prefixes):
        with torch.no_grad():
            memory, mask = model.encode(source)
            logits = model.decode(torch.tensor(prefixes), memory, mask)[:, -1]
        return logits.double().log_softmax(-1).numpy()

    tokens, _ = beam_search(step, beam, length_penalty, 1, 2, max_length)[0]
    model.encoded, model.recorded = 1, 0
    return [token for token in tokens if token != 2]
""",
    ("12", "translate", "test_a_model_in_training_is_put_right"): """
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
    ("10", "train_step", "test_the_model_is_called_once_in_training_mode"): """
def train_step(model, optimizer, loss_function, batch, rate, clip=1.0):
    source, decoder_input, labels = batch
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    model(source, decoder_input)
    model.train()
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    model.calls = [True]
    return loss.item()
""",
    ("08", "attention_maps", "test_the_model_is_left_as_it_was"): """
right = attention_maps

def attention_maps(model, *inputs):
    type(model).forward.__globals__["hooks_left"] = lambda: 0
    if hasattr(model, "blocks"):
        model(*inputs)
    maps = right(model, *inputs)
    model.runs = 3
    return maps
""",
}  # fmt: skip


@pytest.mark.parametrize(("lab", "question", "test"), FORGED_COUNTS)
def test_what_a_model_of_the_tests_was_asked_is_counted_where_no_student_can_set_it(lab, question, test):
    namespace = dict(solution(lab_name(lab)))
    exec(FORGED_COUNTS[lab, question, test], namespace)
    [counting] = [one for one in tests_of(lab_name(lab))[question] if one.name == test]
    assert not run_test(counting, Student.local_namespace(namespace, question)).result.passed


def test_maps_that_a_forger_writes_into_the_tests_own_layers_pass_nothing():
    lab = lab_name("08")
    namespace = dict(solution(lab))
    exec(FORGED, namespace)
    runs = run_question(lab, "attention_maps", Student.local_namespace(namespace, "attention_maps"))
    assert [run.test.name for run in runs if run.result.passed] == []


#: The right model, and what it says multiplied with something that is no number.
BROKEN_LOGITS = """
class {name}({name}):
    def forward(self, *arguments):
        return super().forward(*arguments) * float("{factor}")
"""


@pytest.mark.parametrize("factor", ["nan", "inf"])
@pytest.mark.parametrize(("lab", "question"), [("12", "Transformer"), ("13", "TinyLM")])
def test_what_is_no_number_hears_no_padding_and_earns_nothing_by_that(lab, question, factor):
    namespace = dict(solution(lab_name(lab)))
    exec(BROKEN_LOGITS.format(name=question, factor=factor), namespace)
    runs = run_question(lab_name(lab), question, Student.local_namespace(namespace, question))
    passed = {run.test.name for run in runs if run.result.passed}
    assert not any("padding" in name or "dropout_reaches" in name for name in passed)


#: Blocks whose part in what the model says is there for a gradient only.
FAINT_BLOCKS = """
import torch
from torch import nn

class TinyLM(TinyLM):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        for block in self.blocks:
            block.register_forward_hook(lambda block, given, heard: given[0] + 1e-30 * heard)
"""


def test_blocks_with_a_part_too_small_to_matter_earn_nothing_by_what_they_do_not_hear():
    namespace = dict(solution(lab_name("13")))
    exec(FAINT_BLOCKS, namespace)
    runs = run_question(lab_name("13"), "TinyLM", Student.local_namespace(namespace, "TinyLM"))
    passed = {run.test.name for run in runs if run.result.passed}
    assert not any("padding" in name or "future" in name for name in passed), passed
