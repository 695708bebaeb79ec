"""Lab 08: slips that come with one branch or leave something at a model lose points, and their card is red."""

from __future__ import annotations

import pytest
from coursekit.checks.api import judge

from autograder.course.masters import solution
from autograder.testing.catalogue import answers_of
from autograder.testing.run import earned, run_question, student_with_answer

LAB = "08_multi_head"


def _maps(model, inputs, note_at, clean):
    """Run the model with hooks at its layers of attention; ``note_at`` puts one there and ``clean`` takes leave."""
    maps, handles = {}, []
    for name, module in model.named_modules():
        if type(module).__name__ == "MultiHeadAttention":
            handles.append(note_at(module, lambda m, i, o, name=name: maps.update({name: o[1].detach()})))
    model(*inputs)
    clean(handles)
    return maps


def _removed(handles):
    for handle in handles:
        handle.remove()


def a_pre_hook_stays(model, *inputs):
    def note_at(module, note):
        module.register_forward_pre_hook(lambda *_: None)
        return module.register_forward_hook(note)

    return _maps(model, inputs, note_at, _removed)


def a_hook_of_somebody_else_is_taken(model, *inputs):
    def note_at(module, note):
        module.register_forward_hook(note)
        return module

    def clean(modules):
        for module in modules:
            module._forward_hooks.popitem(last=False)

    return _maps(model, inputs, note_at, clean)


def _kept(question, answer):
    runs = run_question(LAB, question, student_with_answer(LAB, question, answer))
    return earned(1, [(run.test.weight, run.result.passed) for run in runs])


@pytest.mark.parametrize("answer", [a_pre_hook_stays, a_hook_of_somebody_else_is_taken])
def test_a_model_that_is_left_changed(answer):
    assert 0.5 < _kept("attention_maps", answer) < 1
    assert not all(mark.passed for mark in judge(LAB, "attention_maps", answer).marks)


def _sizes_differ(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and Q.shape != V.shape


def _one_sentence(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and len(x) == 1


def _many_heads_by_themselves(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and x.shape == memory.shape and h > 1


def _as_long_as_the_memory(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and x.shape == memory.shape


@pytest.mark.parametrize("name", ["heads_scaled_by_the_model", "heads_merged_by_reshape"])
@pytest.mark.parametrize("when", [_sizes_differ, _one_sentence, _many_heads_by_themselves])
def test_a_slip_where_there_is_a_mask(name, when):
    _loses_and_is_red(name, when)


def test_a_memory_as_long_as_the_listener():
    _loses_and_is_red("heads_that_ignore_the_memory", _as_long_as_the_memory)


def _loses_and_is_red(name, when):
    right = solution(LAB)["multi_head_attention"]
    slips = answers_of(LAB)["misconception"]["multi_head_attention"]
    wrong = next(slip.function for slip in slips if slip.name == name)

    def multi_head_attention(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
        arguments = (x, memory, W_Q, W_K, W_V, W_O, h, mask)
        return (wrong if when(*arguments) else right)(*arguments)

    assert 0.5 < _kept("multi_head_attention", multi_head_attention) < 1
    assert not all(mark.passed for mark in judge(LAB, "multi_head_attention", multi_head_attention).marks)
