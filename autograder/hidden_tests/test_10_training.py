"""Hidden tests of lab 10. References: Python lists, sums of logarithms, and PyTorch's own loss and optimizers.

The loss may lean on the student's own ``label_smoothing``: where that is wrong, a test that fails is tried again
with a right one.
"""

from __future__ import annotations

import copy
import math

import numpy as np
import torch

from autograder.testing import (
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_shape,
    expect_unchanged,
    follow_through,
    hidden_test,
    part_of_a_scene,
)

#: Mutants of the master's solutions that compute the same.
EQUIVALENT_MUTANTS = {
    "masked_cross_entropy: right = surprise.gather(-1, targets[real][:, None]).squeeze(- 2)  # (n,)": "(n, 1) has the same mean",
    "masked_cross_entropy: right = surprise.gather(-1, targets[real][:, None]).squeeze(- 0)  # (n,)": "(n, 1) has the same mean",
    "masked_cross_entropy: right = surprise.gather(-1, targets[real][:, None]).squeeze(+1)  # (n,)": "the same axis",
    "masked_cross_entropy: right = surprise.gather(+1, targets[real][:, None]).squeeze(-1)  # (n,)": "the same axis",
    "masked_cross_entropy: surprise = -torch.log_softmax(logits[real], dim=+1)  # (n, V)": "the same axis",
    "masked_cross_entropy: return ((1 - smoothing) * right + smoothing * surprise.mean(dim=+1)).mean()": "the same axis",
}


def _tensor(array):
    return torch.tensor(np.asarray(array))


# ------------------------------------------------------------------------------------------------ shift_targets


def _shifted(sentences, bos, eos, pad):
    longest = max(len(sentence) for sentence in sentences)
    rows_in, rows_out = [], []
    for sentence in sentences:
        gap = [pad] * (longest - len(sentence))
        rows_in.append([bos, *sentence, *gap])
        rows_out.append([*sentence, eos, *gap])
    return rows_in, rows_out


def _expect_shifted(student, sentences, bos, eos, pad):
    result = student(sentences, bos, eos, pad)
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 2,
        "two things should be returned: the decoder input and the labels",
    )
    for part, expected, what in zip(
        result, _shifted(sentences, bos, eos, pad), ("the decoder input", "the labels tensor"), strict=True
    ):
        expect(isinstance(part, torch.Tensor), f"{what} should be a tensor")
        expect(part.dtype == torch.long, f"{what} should hold integers (torch.long)")
        expect_shape(part, np.shape(expected), what)
        expect_equal(part, expected, what)
    expect_unchanged(student, "work on a new tensor")


@hidden_test("shift_targets")
def test_i_am_a_student(student):
    """The lecture's sentence: I am a student becomes five lessons."""
    _expect_shifted(student, [[2, 1, 0, 4]], 6, 5, 7)


@hidden_test("shift_targets", weight=2)
def test_batches_of_different_lengths(student, rng):
    """Batches of sentences of different lengths, with other numbers for <bos>, <eos> and <pad>; nothing is changed."""
    for bos, eos, pad in ((1, 2, 0), (97, 98, 99), (0, 9, -1)):
        lengths = rng.permutation([1, 3, 6, 2, 6])
        sentences = [rng.integers(10, 90, size=length).tolist() for length in lengths]
        _expect_shifted(student, sentences, bos, eos, pad)


@hidden_test("shift_targets")
def test_empty_sentences_and_repeated_numbers(student, rng):
    """Empty sentences, a batch of nothing else, and sentences that hold the numbers for the end and for padding."""
    _expect_shifted(student, [[], [5, 4], []], 1, 2, 0)
    _expect_shifted(student, [[]], 1, 2, 0)
    _expect_shifted(student, [[2, 7, 0], [0], [2, 2, 2, 2]], 1, 2, 0)


# ---------------------------------------------------------------------------------------------- label_smoothing


def _smoothed(targets, V, epsilon):
    rows = [[epsilon / V + (1 - epsilon) * (v == right) for v in range(V)] for right in np.ravel(targets)]
    return np.array(rows).reshape(*np.shape(targets), V)


def _expect_rows(student, targets, V, epsilon):
    result = student(_tensor(targets), V, epsilon)
    expect(
        as_array(result, "the rows").dtype.kind == "f",
        "the result should hold floats",
    )
    expect_close(result, _smoothed(targets, V, epsilon), "the smoothed targets", rtol=1e-6)
    expect_unchanged(student, "work on a new tensor")


@hidden_test("label_smoothing")
def test_smoothing_by_hand_and_for_the_lecture(student):
    """V = 4 with ε = 0.2, and the lecture's sentence over its six words with ε = 0.1."""
    _expect_rows(student, [0], 4, 0.2)
    _expect_rows(student, [2, 1, 0, 4, 5], 6, 0.1)


@hidden_test("label_smoothing", weight=1.5)
def test_smoothing_of_targets_of_any_shape(student, rng):
    """Targets of one, two and three axes and a single one, with small and large ε; nothing is changed."""
    for shape, V, epsilon in (((7,), 5, 0.3), ((3, 4), 9, 0.05), ((2, 1, 3), 2, 0.9), ((), 6, 0.15)):
        _expect_rows(student, rng.integers(0, V, size=shape), V, epsilon)


@hidden_test("label_smoothing")
def test_no_smoothing_is_one_hot(student, rng):
    """With ε = 0 the rows are one-hot."""
    _expect_rows(student, rng.integers(0, 8, size=(2, 5)), 8, 0.0)
    _expect_rows(student, rng.integers(0, 3, size=6), 3, 0)


# ----------------------------------------------------------------------------------------- masked_cross_entropy

_with_right_smoothing = follow_through(
    """
import torch


def label_smoothing(targets, V, epsilon):
    return torch.nn.functional.one_hot(targets, V).double() * (1 - epsilon) + epsilon / V
""",
    "label_smoothing",
)


def _loss(logits, targets, pad, smoothing=0.0):
    """Position by position, word by word."""
    V = logits.shape[-1]
    losses = []
    for row, right in zip(np.reshape(logits, (-1, V)), np.ravel(targets), strict=True):
        if right == pad:
            continue
        largest = max(row)
        log_sum = largest + math.log(math.fsum(math.exp(z - largest) for z in row))
        wanted = _smoothed([right], V, smoothing)[0]
        losses.append(math.fsum(q * (log_sum - z) for q, z in zip(wanted, row, strict=True)))
    return math.fsum(losses) / len(losses)


def _some(rng, shape, V, pad):
    """Logits and targets, about a third of which are padding (never all)."""
    logits = 2 * rng.normal(size=(*shape, V))
    targets = rng.choice([word for word in range(V) if word != pad], size=shape)
    targets[rng.random(shape) < 0.35] = pad
    targets.flat[0] = 1 if pad != 1 else 0
    targets.flat[-1] = pad
    return logits, targets


def _expect_loss(student, logits, targets, pad, *smoothing):
    result = student(_tensor(logits), _tensor(targets), pad, *smoothing)
    # A student's smoothed targets may well be in single precision, as one_hot times a number is.
    rtol = 1e-6 if any(smoothing) else 1e-9
    expect_close(result, _loss(logits, targets, pad, *smoothing), "the loss", rtol=rtol)


@hidden_test("masked_cross_entropy", weight=0.5)
@_with_right_smoothing
def test_uniform_logits_cost_log_v(student):
    """A model that knows nothing pays ln 6 for I am a student, with or without smoothing, and ln V in general."""
    targets = np.array([[2, 1, 0, 4, 5], [3, 5, 7, 7, 7]])
    for smoothing in (0.0, 0.1):
        got = student(torch.zeros(2, 5, 6, dtype=torch.float64), _tensor(targets), 7, smoothing)
        expect_close(got, math.log(6), "the loss of equal logits", rtol=1e-6 if smoothing else 1e-9)
    got = student(torch.full((4, 11), -3.0, dtype=torch.float64), torch.tensor([1, 2, 3, 10]), -1)
    expect_close(got, math.log(11), "the loss of equal logits", rtol=1e-9)


@hidden_test("masked_cross_entropy", weight=2)
@_with_right_smoothing
def test_loss_of_padded_batches(student, rng):
    """Batches with padding, where the padding is a word number or none, and logits of one, two or three axes."""
    for shape, V, pad in (((4, 7), 5, 0), ((9,), 6, 6), ((3, 5), 4, -1), ((2, 3, 4), 7, 3)):
        logits, targets = _some(rng, shape, V, pad)
        _expect_loss(student, logits, targets, pad)
        expect_unchanged(student, "work on a new tensor")


@hidden_test("masked_cross_entropy", weight=2)
@_with_right_smoothing
def test_loss_with_smoothing(student, rng):
    """The same with smoothed targets."""
    for shape, V, pad, smoothing in (((4, 6), 5, 0, 0.1), ((8,), 3, -1, 0.4), ((2, 5), 9, 9, 0.02)):
        logits, targets = _some(rng, shape, V, pad)
        _expect_loss(student, logits, targets, pad, smoothing)


@hidden_test("masked_cross_entropy")
@_with_right_smoothing
def test_loss_without_any_padding_and_of_one_position(student, rng):
    """No padding at all, a single position, and long sentences that count by their words, not as one."""
    _expect_loss(student, rng.normal(size=(3, 4, 5)), rng.integers(0, 5, size=(3, 4)), -1)
    _expect_loss(student, rng.normal(size=(1, 1, 3)), np.array([[2]]), 0, 0.2)
    targets = np.array([[1, 2, 3, 1, 2, 3], [2, 0, 0, 0, 0, 0]])
    _expect_loss(student, rng.normal(size=(2, 6, 4)), targets, 0)


@hidden_test("masked_cross_entropy", weight=3)
@_with_right_smoothing
def test_no_gradient_at_the_padding(student, rng):
    """Gradients flow to the real positions, are those of the mean, and are exactly 0 at the padding."""
    for smoothing in (0.0, 0.3):
        logits, targets = _some(rng, (3, 5), 6, 0)
        found = student.gradients([_tensor(logits), _tensor(targets), 0, smoothing])
        expect(found.inputs[0] is not None, "no gradient flows through your loss")
        p = torch.softmax(_tensor(logits), dim=-1).numpy()
        real = targets != 0
        expected = (p - _smoothed(targets, 6, smoothing)) * real[..., None] / real.sum()
        expect_close(found.inputs[0], expected, "the gradient of the logits", rtol=1e-5, atol=1e-7)
        expect(
            not np.any(as_array(found.inputs[0])[~real]),
            "the logits at the padding should get no gradient at all",
        )


@hidden_test("masked_cross_entropy", weight=3)
@_with_right_smoothing
def test_loss_of_large_logits(student, rng):
    """Logits in the thousands neither overflow nor lose the answer, and a shift changes nothing."""
    logits, targets = _some(rng, (2, 4), 5, 0)
    _expect_loss(student, logits + 1000, targets, 0)
    _expect_loss(student, 700 * logits, targets, 0)
    _expect_loss(student, 700 * logits, targets, 0, 0.1)


# ---------------------------------------------------------------------------------------------------- adam_step


def _expect_adam(result, expected, what, rtol=1e-12):
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 3,
        "three things should be returned: parameter, m, v",
    )
    for part, wanted, name in zip(result, expected, ("the parameter", "m", "v"), strict=True):
        expect_close(part, wanted, f"{name} {what}", rtol=rtol, atol=1e-14)


@hidden_test("adam_step", weight=0.5)
def test_two_steps_by_hand(student):
    """The two steps of the text, with the defaults of the first transformer."""

    def one(value):
        return torch.tensor([value], dtype=torch.float64)

    _expect_adam(
        student(one(1.0), one(0.5), one(0.0), one(0.0), 1, 0.1),
        ([0.9], [0.05], [0.005]),
        "after one step",
        1e-8,
    )
    theta = 0.9 - 0.1 * (0.035 / 0.19) / (math.sqrt(0.0051 / 0.0396) + 1e-9)
    _expect_adam(
        student(one(0.9), one(-0.1), one(0.05), one(0.005), 2, 0.1),
        ([theta], [0.035], [0.0051]),
        "after the second step",
        1e-9,
    )


@hidden_test("adam_step", weight=2.5)
def test_the_same_as_pytorch(student, rng):
    """Several steps agree with PyTorch's Adam to twelve digits, for other shapes, rates and betas; nothing is changed."""
    for shape, rate, betas, eps in (
        ((3, 4), 0.03, (0.9, 0.999), 1e-8),
        ((5,), 1.5, (0.5, 0.4), 1e-3),
        ((), 0.2, (0.0, 0.9), 1e-9),
    ):
        weight = torch.nn.Parameter(_tensor(rng.normal(size=shape)))
        optimizer = torch.optim.Adam([weight], lr=rate, betas=betas, eps=eps)
        theta, m, v = weight.detach().clone(), torch.zeros_like(weight.data), torch.zeros_like(weight.data)
        for t in range(1, 6):
            weight.grad = _tensor(rng.normal(size=shape) * 10.0 ** rng.integers(-3, 2))
            optimizer.step()
            result = student(theta, weight.grad.clone(), m, v, t, rate, *betas, eps)
            expect_unchanged(student, "work on a new tensor")
            state = optimizer.state[weight]
            _expect_adam(result, (weight, state["exp_avg"], state["exp_avg_sq"]), f"in step {t}")
            theta, m, v = weight.detach().clone(), state["exp_avg"].clone(), state["exp_avg_sq"].clone()


@hidden_test("adam_step")
def test_the_defaults_and_late_steps(student, rng):
    """The defaults are those of the first transformer, and a late step is hardly corrected any more."""
    weight = torch.nn.Parameter(_tensor(rng.normal(size=(2, 3))))
    optimizer = torch.optim.Adam([weight], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    for t in range(1, 41):
        before = weight.detach().clone()
        state = {name: value.clone() for name, value in optimizer.state[weight].items()}
        weight.grad = _tensor(rng.normal(size=(2, 3)))
        optimizer.step()
        if t in (3, 40):
            result = student(before, weight.grad.clone(), state["exp_avg"], state["exp_avg_sq"], t, 0.01)
            now = optimizer.state[weight]
            _expect_adam(result, (weight, now["exp_avg"], now["exp_avg_sq"]), f"in step {t}")


@hidden_test("adam_step")
def test_tiny_huge_and_zero_gradients(student):
    """The first step has the length of the rate whatever the gradient's size; a gradient of 0 makes none; eps stands after the root."""
    zeros = torch.zeros(4, dtype=torch.float64)
    gradient = torch.tensor([1e-4, -1e6, 0.0, 30.0], dtype=torch.float64)
    theta, _, _ = student(zeros, gradient, zeros, zeros, 1, 0.25)
    expect_close(
        theta, -0.25 * gradient / (gradient.abs() + 1e-9), "the parameter after the first step", rtol=1e-9
    )
    theta, _, _ = student(zeros, gradient, zeros, zeros, 1, 0.25, 0.9, 0.98, 0.5)
    expect_close(
        theta, -0.25 * gradient / (gradient.abs() + 0.5), "the parameter with a large eps", rtol=1e-9
    )


# ---------------------------------------------------------------------------------------------------- noam_rate


@hidden_test("noam_rate")
def test_the_rate_of_the_first_transformer(student):
    """512 and 4,000: 0.000699 at the top, the same shape on both sides."""
    top = 1 / math.sqrt(512 * 4000)
    expected = {4000: top, 1000: top / 4, 16000: top / 2, 1: top / 4000, 100_000: top / 5}
    rates = [as_array(student(step, 512, 4000), "the rate") for step in expected]
    expect_close(
        np.array([rate.item() for rate in rates]), list(expected.values()), "the list of rates", rtol=1e-9
    )


@hidden_test("noam_rate")
def test_other_sizes_and_warm_ups(student, rng):
    """Other model sizes and warm-ups, before, at and after the top, and no warm-up at all."""
    for _ in range(6):
        d_model, warmup = int(rng.integers(3, 900)), int(rng.integers(1, 500))
        steps = (1, max(1, warmup // 2), warmup, warmup + 1, 7 * warmup)
        rates = [as_array(student(step, d_model, warmup), "the rate").item() for step in steps]
        shape = [step / warmup if step < warmup else math.sqrt(warmup / step) for step in steps]
        expect_close(
            np.array(rates), np.array(shape) / math.sqrt(warmup * d_model), "the list of rates", rtol=1e-9
        )


@hidden_test("noam_rate", weight=1)
def test_step_zero_has_the_rate_of_step_one(student):
    """Counting from 0 does no harm."""
    expect_close(student(1, 16, 9), 1 / 4 / 27, "the rate of step 1", rtol=1e-9)
    expect_close(student(0, 16, 9), 1 / 4 / 27, "the rate of step 0", rtol=1e-9)


# --------------------------------------------------------------------------------------------------- train_step

#: Runs beside the student's function, and here for the expected values: a small model with dropout that can be heard.
_SCENE = """
import torch
from torch import nn

class Small(nn.Module):
    def __init__(self, table, weight):
        super().__init__()
        self.table, self.weight = nn.Parameter(table), nn.Parameter(weight)

    def forward(self, source, decoder_input):
        heard = self.table[source].mean(dim=1, keepdim=True) - 2 * self.table[decoder_input]
        return torch.tanh(heard) @ self.weight * loudness(self.training)

model = Small(table, weight)
groups = [{"params": [model.table], "lr": 9.0}, {"params": [model.weight], "lr": 5.0}]
optimizer = getattr(torch.optim, kind)(groups if several else model.parameters(), lr=9.0)

def loss_function(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)
"""

_AFTER = "after = torch.cat([model.table.detach().flatten(), model.weight.detach().flatten()])"


@part_of_a_scene
class _Loudness:
    """What a call of the model multiplies its logits with. It is known only here, and so are the calls."""

    def __init__(self, rng):
        self.modes, self.factor = [], float(rng.uniform(0.7, 1.4))

    def __call__(self, training):
        self.modes.append(training)
        return self.factor if training else 0.5 * self.factor


def _batch(rng, B, S, T, V):
    return tuple(torch.tensor(rng.integers(1, V, size=shape)) for shape in ((B, S), (B, T), (B, T)))


def _reference(bindings, steps, factor):
    """Losses and weights after each step, by the book; a clip of None is the usual 1."""
    namespace = {**bindings, "loudness": lambda training: factor}
    exec(_SCENE, namespace)
    model, optimizer, found = namespace["model"], namespace["optimizer"], []
    for (source, decoder_input, labels), rate, clip in steps:
        gradient_of = namespace["loss_function"](model(source, decoder_input), labels)
        parameters = list(model.parameters())
        gradients = torch.autograd.grad(gradient_of, parameters)
        length = math.sqrt(sum(float((g**2).sum()) for g in gradients))
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient * min(1.0, (1.0 if clip is None else clip) / length)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        found.append((float(gradient_of.detach()), torch.cat([p.detach().flatten() for p in parameters])))
    return found


def _bindings(rng, kind, scale, several, V=7, D=5):
    return {
        "table": torch.tensor(rng.normal(size=(V, D))),
        "weight": scale * torch.tensor(rng.normal(size=(D, V))),
        "kind": kind,
        "several": several,
    }


def _expect_steps(student, rng, kind, steps, prepare="", scale=1.0, several=False):
    bindings = _bindings(rng, kind, scale, several)
    loudness = _Loudness(rng)
    scene = student.scene(_SCENE, loudness=loudness, **copy.deepcopy(bindings))
    if prepare:
        scene.run(prepare)
    for (batch, rate, clip), (loss, weights) in zip(
        steps, _reference(bindings, steps, loudness.factor), strict=True
    ):
        clips = [] if clip is None else [clip]
        got = student(scene["model"], scene["optimizer"], scene["loss_function"], batch, rate, *clips)
        expect(got is not None, "your function returns None: it should return the loss")
        expect(
            isinstance(got, (float, int, np.number)), "the loss should be a plain Python number: loss.item()"
        )
        scene.run(_AFTER)
        expect_close(scene.get("after"), weights, "the model's weights after the step", rtol=1e-6, atol=5e-6)
        expect_close(got, loss, "the loss before the update", rtol=1e-9)
    return loudness.modes


@hidden_test("train_step", weight=1)
def test_one_step_without_clipping(student, rng):
    """One step of gradient descent and one of Adam move the weights as they should, at the rate that is given."""
    for kind in ("SGD", "Adam"):
        _expect_steps(student, rng, kind, [(_batch(rng, 4, 3, 6, 7), 0.07, 1e6)])


@hidden_test("train_step", weight=1.5)
def test_several_steps_with_changing_rates(student, rng):
    """Several steps in a row: each has its own rate, and no gradient of an earlier step is left."""
    steps = [(_batch(rng, 3, 4, 5, 7), rate, 1e6) for rate in (0.3, 0.05, 0.4)]
    _expect_steps(student, rng, "SGD", steps)


@hidden_test("train_step", weight=2)
def test_the_rate_is_set_in_every_parameter_group(student, rng):
    """An optimizer that was made with several groups of parameters: all of them get the rate of this step."""
    for kind in ("SGD", "Adam"):
        steps = [(_batch(rng, 3, 2, 5, 7), rate, 1e6) for rate in (0.02, 0.3)]
        _expect_steps(student, rng, kind, steps, several=True)


@hidden_test("train_step", weight=2)
def test_old_gradients_do_not_count(student, rng):
    """A gradient that lies at the parameters from before changes nothing."""
    prepare = "for p in model.parameters(): p.grad = torch.full_like(p, 3.0)"
    _expect_steps(student, rng, "SGD", [(_batch(rng, 2, 3, 4, 7), 0.2, 1e6)], prepare)


@hidden_test("train_step", weight=3)
def test_long_gradients_are_clipped(student, rng):
    """The gradient of all parameters together is shortened to the length given; a short one stays as it is."""
    for clip in (0.01, 0.2, 50.0):
        _expect_steps(student, rng, "SGD", [(_batch(rng, 3, 2, 4, 7), 1.5, clip)])
    _expect_steps(student, rng, "SGD", [(_batch(rng, 3, 2, 4, 7), 0.5, None)], scale=30.0)
    same = (
        "for group in optimizer.param_groups: group['lr'] = 0.4"  # another test is for the rate of each group
    )
    _expect_steps(student, rng, "SGD", [(_batch(rng, 3, 2, 4, 7), 0.4, 0.05)], same, several=True)


@hidden_test("train_step", weight=2)
def test_the_model_is_called_once_in_training_mode(student, rng):
    """A model that was in evaluation mode is put into training mode, and is called just once."""
    modes = _expect_steps(student, rng, "SGD", [(_batch(rng, 2, 5, 3, 7), 0.1, 1e6)], "model.eval()")
    student.record(modes)
    expect(modes, "the model should be called")
    expect_equal(modes, [True], "the list of modes in which the model was called")
