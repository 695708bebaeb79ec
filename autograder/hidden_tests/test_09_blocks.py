"""Hidden tests of lab 09: the norm number by number, the blocks against the lecture's equations and PyTorch's layers.

A slip is paid for once: where a block builds on the student's own earlier answers, a test that fails is tried
again with right ones in their place.
"""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import torch
from torch import nn

from autograder.testing import (
    Handle,
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_unchanged,
    follow_through,
    hidden_test,
)


def _tensor(rng, *shape):
    return torch.tensor(rng.normal(size=shape))


def _one(result):
    """The one tensor that an answer returns."""
    expect(result is not None, "None is returned: is a return missing?")
    expect(not isinstance(result, (tuple, list)), "one tensor should be returned, not several things")
    return result


def _one_of_attention(result):
    """The one tensor that a block returns."""
    expect(
        not isinstance(result, (tuple, list)),
        "one tensor should be returned; attention returns a pair, of which you need the first part",
    )
    return _one(result)


def _first(result):
    """The tensor, or the first of several: in some tests a pair costs nothing."""
    return result[0] if isinstance(result, (tuple, list)) and len(result) else _one(result)


def _build(student, sizes, expected):
    """The student's module in double precision and in evaluation mode; its learned numbers are the expected ones."""
    module = student(*sizes)
    expect(isinstance(module, Handle), "it should be a class that derives from nn.Module")
    shapes = {name: tuple(shape) for name, shape in module.parameters(expected).items()}
    if shapes != expected:  # evidence for a diagnosis: how many tensors, and how many numbers
        numbers = sum(math.prod(shape) for shape in shapes.values())
        student.observe("what is learned", np.array([len(shapes), numbers]))
    expect_equal(shapes, expected, "the set of names or the shapes of what is learned")
    module.call("double")
    module.eval()
    return module


def _expect_gradients(actual, expected, output, rtol=1e-6):
    """Right gradients, as exactly as the precision of the student's ``output`` allows; single precision on the way rounds their largest parts."""
    exact = as_array(output).dtype.itemsize >= 8
    for name, gradient in expected.items():
        expect(actual.get(name) is not None, f"no gradient reaches {name}: is something detached?")
        rounded = 5e-6 * float(gradient.abs().max())
        tight = (rtol, max(1e-2 * rtol, rounded) if rtol > 1e-6 else max(1e-9, rounded))
        rtol, atol = tight if exact else (1e-3, 1e-4)
        expect_close(actual[name], gradient, f"the gradient of {name}", rtol=rtol, atol=atol)


# What a block may lean on when the student's own is wrong: see ``follow_through``.
_PARTS = """
import torch
from torch import nn


class LayerNorm(nn.LayerNorm):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps=eps)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(self.linear1(x).clamp(min=0))


def residual(x, sublayer, norm):
    return norm(torch.add(x, sublayer(x)))
"""
_with_right_parts = follow_through(_PARTS, "LayerNorm", "FeedForward", "residual")


# ---------------------------------------------------------------------------------------------------- LayerNorm


def _normalised(x, weight=1.0, bias=0.0, eps=1e-5):
    """One vector at a time."""
    x = np.asarray(x, dtype=float)
    result = np.empty(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        row = x[place]
        mean = sum(row) / len(row)
        variance = sum((number - mean) ** 2 for number in row) / len(row)
        result[place] = (row - mean) / math.sqrt(variance + eps)
    return result * np.asarray(weight) + np.asarray(bias)


def _norm(student, d_model, *more):
    return _build(student, (d_model, *more), {"weight": (d_model,), "bias": (d_model,)})


@hidden_test("LayerNorm")
def test_the_case_by_hand(student):
    """(1, 3, 5, 7) becomes (−1.342, −0.447, 0.447, 1.342), beside another word and in single precision."""
    result = _one(student(4)(torch.tensor([[1.0, 3, 5, 7], [0, 0, 0, 8]])))
    expected = [[-1.3416394, -0.4472131, 0.4472131, 1.3416394], [-0.5773499] * 3 + [1.7320498]]
    expect_close(result, expected, "the two normalised words", rtol=1e-5)


@hidden_test("LayerNorm")
def test_each_vector_gets_mean_0_and_variance_1(student, rng):
    """Single vectors, sentences, batches and a length of one: each vector by itself gets mean 0 and variance 1."""
    for shape in ((7,), (5, 3), (2, 4, 9), (2, 3, 5, 4), (3, 1, 6), (1, 2, 8)):
        module = _norm(student, shape[-1])
        x = (
            3000 * _tensor(rng, *shape) + 2000
        )  # so large that eps makes no difference: another test is for it
        result = as_array(_one(module(x)))
        expect_close(result, _normalised(x), "the normalised vectors")
        expect_close(result.mean(axis=-1), np.zeros(shape[:-1]), "the mean of a vector", atol=1e-6)
        expect_close((result**2).mean(axis=-1), np.ones(shape[:-1]), "the (biased) variance", rtol=1e-6)
        expect_unchanged(module, "work on a new tensor")


def _expect_direction(result, x, **tolerance):
    """Each vector points where the centred one points, and has about its length: any variance will do."""
    expected = _normalised(x)
    result = as_array(result)
    expect(result.shape == expected.shape, "the result should have the shape of the input")
    lengths = (result * expected).sum(axis=-1, keepdims=True) / (expected**2).sum(axis=-1, keepdims=True)
    expect((lengths > 0.5).all() and (lengths < 1.5).all(), "the vectors have a wrong size")
    expect_close(result, lengths * expected, "the direction of the normalised vectors", **tolerance)


@hidden_test("LayerNorm", weight=2)
def test_weight_and_bias_are_learned_and_used(student, rng):
    """The weight multiplies each entry, the bias is added to it; both can be loaded, and begin as ones and zeros."""
    for shape in ((2, 3, 5), (4, 6), (9,)):
        module = _norm(student, shape[-1])
        x, weight, bias = 1000 * _tensor(rng, *shape), _tensor(rng, shape[-1]), _tensor(rng, shape[-1])
        first = as_array(_one(module(x)))
        _expect_direction(first, x)
        module.load_state_dict({"weight": weight, "bias": bias}, strict=False)
        expected = first * weight.numpy() + bias.numpy()
        expect_close(_one(module(x)), expected, "the result with another weight and bias")


@hidden_test("LayerNorm", weight=4)
def test_eps_stands_inside_the_root(student, rng):
    """The argument eps, its usual value 1e-5 on nearly equal entries, and a vector whose entries are all equal."""
    module = _norm(student, 5)
    for x in (0.003 * _tensor(rng, 5) + 1, 0.003 * _tensor(rng, 5) - 1, torch.full((5,), 7.0).double()):
        result = as_array(_one(module(x)))  # a word alone: over which axes the mean runs has tests of its own
        exact = result.dtype.itemsize >= 8
        atol = 2e-4 if exact else 1e-3  # single precision on the way rounds the entries, which are near 1
        expect_close(
            result.astype(float), _normalised(x), "the result for equal entries", rtol=1e-6, atol=atol
        )
    for eps in (0.5, 3.0, 1e-12):
        module = _norm(student, 5, eps)
        x = _tensor(rng, 5)
        expect_close(_one(module(x)), _normalised(x, eps=eps), "the result with another eps")


@hidden_test("LayerNorm")
def test_a_shift_by_1000_changes_nothing(student, rng):
    """All entries larger by 1000, a transposed view, and very large numbers."""
    module = _norm(student, 6)
    numbers = 250.0 * rng.integers(-9, 9, size=(6, 5, 2))  # exact also after the shift
    x = torch.tensor(numbers).permute(2, 1, 0)
    result = as_array(_one(module(x)))
    _expect_direction(result, x)
    expect_close(_one(module(x + 1000)), result, "the result after a shift by 1000", atol=1e-6)
    expect_close(_one(module(1e6 * x)), result, "the result for large numbers", rtol=1e-6)


@hidden_test("LayerNorm", weight=4)
def test_the_variance_survives_single_precision(student):
    """Vectors whose mean is thousands of times as large as their deviation, in single precision."""
    for mean in (1001.0, 2002.0, 9003.0):
        x = mean + torch.tensor([0.0, 0.5, 0.25, 1.0, 0.75, 0.125])
        _expect_direction(_one(student(6)(x)), x, rtol=1e-2, atol=1e-2)


@hidden_test("LayerNorm", weight=5)
def test_the_gradients_of_the_norm(student, rng):
    """Gradients reach the input, the weight and the bias; the mean and the variance depend on the input, too."""
    module = _norm(student, 7)
    weight, bias = _tensor(rng, 7), _tensor(rng, 7)
    module.load_state_dict({"weight": weight, "bias": bias}, strict=False)
    x, cotangent = 1000 * _tensor(rng, 2, 3, 7), _tensor(rng, 2, 3, 7)
    found = module.gradients([x], cotangent=cotangent)
    parts = [part.clone().requires_grad_() for part in (x, weight, bias)]
    (nn.functional.layer_norm(parts[0], (7,), parts[1], parts[2]) * cotangent).sum().backward()
    expected = dict(zip(("x", "weight", "bias"), (part.grad for part in parts), strict=True))
    actual = {"x": found.inputs[0], **found.parameters}
    for name in ("x", "weight"):  # any variance will do, here too: by d or by d − 1
        if actual.get(name) is None:
            continue
        gradient, right = as_array(actual[name]), expected[name].numpy()
        if gradient.shape == right.shape:
            factor = np.nan_to_num(np.vdot(gradient, right) / np.vdot(right, right), nan=1.0)
            expected[name] = torch.as_tensor(right * np.clip(factor, 0.8, 1.25))
    _expect_gradients(actual, expected, found.output)


@hidden_test("LayerNorm")
def test_the_norm_of_all_kinds_of_words_at_once(student, rng):
    """All of it at once: loud, usual and quiet words and one of equal entries, with any leading axes, another weight, bias and eps, and the gradients."""
    sizes = ((8,), (3, 200), (4, 4), (2, 5, 8), (1, 3, 6), (2, 3, 1, 5), (2, 1, 3, 2, 6), (3, 1))
    for shape, eps in zip(sizes, ((), (0.02,), (), (), (3.0,), (), (0.5,), ()), strict=True):
        module = _norm(student, shape[-1], *eps)
        weight, bias, cotangent = _tensor(rng, shape[-1]), _tensor(rng, shape[-1]), _tensor(rng, *shape)
        module.load_state_dict({"weight": weight, "bias": bias}, strict=False)
        loudness = torch.tensor(rng.permutation(np.resize([1.0, 0.003, 40.0], math.prod(shape[:-1]))))
        x = (_tensor(rng, *shape[::-1]).T if len(shape) == 2 else _tensor(rng, *shape)) * loudness.reshape(
            *shape[:-1], 1
        )
        if len(shape) > 2:
            x[(0,) * (len(shape) - 1)] = 4.0  # a word of equal entries, among others
            x = x.transpose(0, 1).contiguous().transpose(0, 1)
        if shape[-1] == 1:
            x = x.round()  # as single precision has it: nothing is left but the bias
        expected = _normalised(x, weight, bias, *eps)
        found = module.gradients([x], cotangent=cotangent)
        # Single precision on the way costs as much of the gradient at quiet words as it is large there.
        expect_close(found.output, expected, "the result for words of all kinds", rtol=1e-5, atol=2e-5)
        if len(shape) == 1 or shape == sizes[2]:
            x = x.clone().requires_grad_()
            own = nn.functional.layer_norm(x, shape[-1:], weight, bias, *(eps or (1e-5,)))
            (own * cotangent).sum().backward()
            largest = float(x.grad.abs().max())
            expect(found.inputs[0] is not None, "no gradient reaches x: is something detached?")
            expect_close(
                as_array(found.inputs[0]) / largest, x.grad / largest, "the gradient of x", atol=1e-4
            )


# -------------------------------------------------------------------------------------------------- FeedForward


def _ff_shapes(d_model, d_ff, prefix=""):
    return {
        f"{prefix}linear1.weight": (d_ff, d_model),
        f"{prefix}linear1.bias": (d_ff,),
        f"{prefix}linear2.weight": (d_model, d_ff),
        f"{prefix}linear2.bias": (d_model,),
    }


def _draw(rng, shapes):
    """Random numbers of the size that layers have, for each name."""
    return {
        name: _tensor(rng, *shape) / (math.sqrt(shape[-1]) if len(shape) > 1 else 1)
        for name, shape in shapes.items()
    }


def _thought(x, weights, prefix=""):
    """The feed-forward layer on NumPy arrays."""
    first, b1, second, b2 = (np.asarray(weights[name]) for name in _ff_shapes(1, 1, prefix))
    hidden = np.asarray(x) @ first.T + b1
    return np.where(hidden > 0, hidden, 0) @ second.T + b2


def _thinking(student, rng, d_model, d_ff, **chosen):
    """The student's layer and its weights: no vote is negative, and linear2's bias is zero, but where ``chosen`` says otherwise.

    For words without negative entries no hidden number is negative either: what the ReLU does has tests of its own.
    """
    module = student(d_model, d_ff)
    expect(isinstance(module, Handle), "FeedForward should be a class that derives from nn.Module")
    weights = _draw(rng, _ff_shapes(d_model, d_ff))
    weights = {name: value.abs() for name, value in weights.items()}
    weights["linear1.bias"] += 9  # so far from 0 that a GELU, too, lets it pass
    weights["linear2.bias"] = torch.zeros(d_model, dtype=torch.double)
    weights |= chosen
    module.call("double")
    module.load_state_dict(weights, strict=False)
    module.eval()
    return module, weights


def _expect_no_chance(student, module, x):
    """Two calls give one result. Where they do not, that is all that a diagnosis sees: the rate of a dropout may be any."""
    first, second = (as_array(_one(module(x))) for _ in range(2))
    if first.shape == second.shape and not np.allclose(first, second, equal_nan=True):
        student.observe("two calls differ", np.ones(1))
        expect(False, "two calls give two results: there is a dropout inside")


@hidden_test("FeedForward", weight=12)
def test_the_features_of_lab_03(student):
    """A new layer: (1, 0, 1) becomes (1, −1), then (1, 0), then the votes; the other contexts of lab 03, too."""
    module = student(3, 2)
    expect(isinstance(module, Handle), "FeedForward should be a class that derives from nn.Module")
    wide = student(3, 200)  # so wide that a dropout drops something in one of two calls
    wide.load_state_dict(
        {name: torch.ones(shape) for name, shape in _ff_shapes(3, 200).items()}, strict=False
    )
    _expect_no_chance(student, wide, torch.ones(3))
    module.load_state_dict(
        {
            "linear1.weight": torch.tensor([[1.0, -1, 1], [-1, 1, 1]]),
            "linear1.bias": torch.tensor([-1.0, -1]),
            "linear2.weight": torch.tensor([[4.0, 5], [5, 4], [0, -7]]),
            "linear2.bias": torch.tensor([-1.0, 0, 2]),
        },
        strict=False,
    )
    x = torch.tensor([[1.0, 0, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1]])
    votes = [[3, 5, 2], [4, 4, -5], [-1, 0, 2], [-1, 0, 2]]
    expect_close(_one(module(x)), votes, "the votes")


@hidden_test("FeedForward", weight=14)
def test_votes_may_be_negative(student, rng):
    """Two layers with a ReLU between them, and none behind: votes of either sign."""
    for shape, d_ff in (((2, 5, 3), 7), ((3, 1, 4), 16)):
        signed = _draw(rng, _ff_shapes(shape[-1], d_ff)) | {"linear2.weight": _tensor(rng, shape[-1], d_ff)}
        signed |= {"linear2.bias": torch.zeros(shape[-1], dtype=torch.double)}
        module, weights = _thinking(student, rng, shape[-1], d_ff, **signed)
        x = 2 * _tensor(rng, *shape)
        expect_close(_one(module(x)), _thought(x, weights), "the result")


@hidden_test("FeedForward", weight=9)
def test_each_layer_has_its_bias(student, rng):
    """The names and shapes of what is learned, and the biases of both layers, with their gradients."""
    shapes = _ff_shapes(5, 7)
    _build(student, (5, 7), shapes)
    bias = _tensor(rng, 5).abs()
    module, weights = _thinking(student, rng, 5, 7, **{"linear2.bias": bias})
    x, cotangent = _tensor(rng, 2, 3, 5).abs(), _tensor(rng, 2, 3, 5)
    expect_close(_one(module(x)), _thought(x, weights), "the result with another bias")
    found = module.gradients([x], cotangent=cotangent)
    expected = {"linear2.bias": cotangent.sum(dim=(0, 1))}
    _expect_gradients(found.parameters, expected, found.output)


@hidden_test("FeedForward", weight=9)
def test_any_leading_axes_or_none(student, rng):
    """A word alone, words without a batch, and more axes than usual; the argument is left alone."""
    for shape, d_ff in (((9,), 5), ((4, 6), 2), ((2, 3, 2, 5), 4)):
        module, weights = _thinking(student, rng, shape[-1], d_ff)
        x = 2 * _tensor(rng, *shape).abs()
        expect_close(_one(module(x)), _thought(x, weights), "the result")
        expect_unchanged(module, "work on a new tensor")


@hidden_test("FeedForward", weight=9)
def test_nothing_is_dropped_inside(student, rng):
    """In training mode, in which a new module is, the layer does the same: there is no dropout inside."""
    module, weights = _thinking(student, rng, 8, 200)
    x = _tensor(rng, 2, 5, 8).abs()
    module.train()
    _expect_no_chance(student, module, x)
    expect_close(_one(module(x)), _thought(x, weights), "the result in training mode")


@hidden_test("FeedForward", weight=2)
def test_a_transposed_view_is_thought_about(student, rng):
    """A transposed view, and numbers larger by 1000; and all of it at once: any axes, any sizes, numbers and votes of either sign."""
    module, weights = _thinking(student, rng, 5, 20)
    x = _tensor(rng, 5, 3, 2).abs().permute(2, 1, 0)
    expect_close(_one(module(x)), _thought(x, weights), "the result for a transposed view")
    expect_close(_one(module(x + 1000)), _thought(x + 1000, weights), "the result for large numbers")
    for shape, d_ff in (
        ((5,), 7),
        ((3, 4), 4),
        ((1, 6, 3), 12),
        ((2, 1, 5), 1),
        ((3, 2, 4, 2), 200),
        ((2, 1, 3, 2, 1), 6),
    ):
        module, weights = _thinking(student, rng, shape[-1], d_ff, **_draw(rng, _ff_shapes(shape[-1], d_ff)))
        x = _tensor(rng, *shape[::-1]).permute(*range(len(shape))[::-1])
        expect_close(_one(module(x)), _thought(x, weights), "the result", rtol=1e-5, atol=1e-5)
        if d_ff == 200:
            module.train()
            _expect_no_chance(student, module, x)
            expect_close(
                _one(module(x)), _thought(x, weights), "the result in training mode", rtol=1e-5, atol=1e-5
            )


@hidden_test("FeedForward", weight=14)
def test_gradients_flow_where_the_relu_is_open(student, rng):
    """Gradients reach the input and what is learned, and only where the ReLU lets them through."""
    open_once = torch.cat([torch.tensor([9.0], dtype=torch.double), _tensor(rng, 5)])  # so that no vote is 0
    signed = {"linear1.weight": _draw(rng, _ff_shapes(4, 6))["linear1.weight"], "linear1.bias": open_once}
    module, weights = _thinking(student, rng, 4, 6, **signed)
    x, cotangent = _tensor(rng, 2, 3, 4), _tensor(rng, 2, 3, 4)
    found = module.gradients([x], cotangent=cotangent)
    hidden = x @ weights["linear1.weight"].T + weights["linear1.bias"]
    back = (cotangent @ weights["linear2.weight"]) * (hidden > 0)
    expected = {
        "x": back @ weights["linear1.weight"],
        "linear1.weight": torch.einsum("btf,btd->fd", back, x),
        "linear1.bias": back.sum(dim=(0, 1)),
        "linear2.weight": torch.einsum("btd,btf->df", cotangent, hidden * (hidden > 0)),
    }
    _expect_gradients({"x": found.inputs[0], **found.parameters}, expected, found.output)


# ----------------------------------------------------------------------------------------------------- residual


class _Noted:
    """A function that notes what it was given."""

    def __init__(self, function):
        self.function, self.given = function, []

    def __call__(self, y):
        self.given.append(np.array(as_array(y), copy=True))
        return torch.as_tensor(self.function(np.array(as_array(y), dtype=float)))


@hidden_test("residual", weight=2)
def test_the_sum(student, rng):
    """The sum of x and what the sublayer says, before a norm that does nothing; a silent sublayer lets x pass."""
    x = torch.tensor([1.0, 2.0], dtype=torch.double)
    expect_close(_one(student(x, _Noted(lambda y: 10 * y), _Noted(lambda y: y))), [11, 22], "the sum")
    for shape in ((3, 2, 4), (5,)):
        x = _tensor(rng, *shape)
        expect_close(_one(student(x, _Noted(np.zeros_like), _Noted(lambda y: y))), x, "the words that pass")


@hidden_test("residual")
def test_the_norm_of_the_sum(student, rng):
    """The norm of the sum of x and what the sublayer says about x, also where it says nothing; of modules, too."""
    for shape in ((2, 3, 5), (4, 6), (7,), (1, 1, 3), (2, 3, 2, 4)):
        x, says = _tensor(rng, *shape[::-1]).permute(*range(len(shape))[::-1]), rng.normal(size=shape)
        sublayer, norm = _Noted(lambda y, says=says: says * y**2 + 1), _Noted(lambda y: np.tanh(y) * 3 - y)
        total = x.numpy() + says * x.numpy() ** 2 + 1
        expect_close(_one(student(x, sublayer, norm)), 3 * np.tanh(total) - total, "the norm of the sum")
        result = _one(student(x, _Noted(np.zeros_like), _Noted(lambda y: _normalised(y, 2.0, 1.0))))
        expect_close(result, _normalised(x, 2.0, 1.0), "the words behind a norm")
    scene = student.scene(_LAYERS, question=student.name, seed=int(rng.integers(2**31)))
    scene.run("parts = [linear.weight.detach(), linear.bias.detach()]")
    weight, bias = (np.asarray(part) for part in scene["parts"])
    for shape in ((5,), (3, 5), (2, 1, 3, 5)):
        x = _tensor(rng, *shape)
        total = x.numpy() + x.numpy() @ weight.T + bias
        scene.run(
            "x.requires_grad_()\ny = residual(1 * x, linear, norm).detach()\nz = residual(1 * x, linear, nn.Identity()).detach()",
            x=x,
        )
        expect_close(scene.get("y"), _normalised(total), "the result with modules", rtol=1e-5, atol=1e-5)
        expect_close(scene.get("z"), total, "the result with a norm that does nothing", rtol=1e-5, atol=1e-5)


@hidden_test("residual", weight=8)
def test_each_function_is_called_once(student, rng):
    """The sublayer is called once, with x itself, and the norm once, with the sum."""
    x = _tensor(rng, 2, 3, 4)
    sublayer, norm = _Noted(lambda y: 5 - y**3), _Noted(lambda y: y / 2)
    result = _one(student(x, sublayer, norm))
    expect_close(result, (x + 5 - x**3) / 2, "the norm of the sum")
    for what, noted, given in (("sublayer", sublayer, x), ("norm", norm, x + 5 - x**3)):
        expect(len(noted.given) == 1, f"the {what} should be called exactly once")
        expect_close(noted.given[0], given, f"what the {what} is given")


@hidden_test("residual", weight=8)
def test_x_stays_as_it_is(student, rng):
    """x stays as it is, also where the sublayer hands x itself back, as nn.Identity does."""
    x = _tensor(rng, 2, 5)
    before = x.clone()
    scene = student.scene(_HANDS_BACK, question=student.name)
    scene.run("result = residual(x, lambda y: 3 * y, lambda y: y)", x=x)
    expect_close(scene.get("result"), 4 * before, "the sum")
    expect_close(scene.get("x"), before, "x after the call")
    scene.run("result = residual(x, torch.nn.Identity(), lambda y: y)", x=before.clone())
    expect_close(scene.get("result"), 2 * before, "the sum with a sublayer that hands x back")
    expect_close(scene.get("x"), before, "x after a call with a sublayer that hands it back")


_HANDS_BACK = "import torch\n\nresidual = student_namespace[question]\n"
_LAYERS = """
import torch
from torch import nn

torch.manual_seed(seed)
linear, norm = nn.Linear(5, 5).double(), nn.LayerNorm(5, elementwise_affine=False).double()
residual = student_namespace[question]
"""


@hidden_test("residual", weight=11)
def test_gradients_go_through_and_around(student, rng):
    """The gradient goes into the sublayer and around it: of a silent sublayer, x gets all of it."""
    scene = student.scene(_LAYERS, question=student.name, seed=int(rng.integers(2**31)))
    x, cotangent = _tensor(rng, 2, 3, 5), _tensor(rng, 2, 3, 5)
    scene.run(
        "x.requires_grad_()\n"
        "y = residual(1 * x, lambda y: linear(1 * y), norm)\n"  # also where x += … is written: that has a test of its own
        "(y * cotangent).sum().backward()\n"
        "gradients = [x.grad, linear.weight.grad]\n"
        "weights = [linear.weight.detach(), linear.bias.detach()]",
        x=x,
        cotangent=cotangent,
    )
    weight, bias = scene["weights"]
    x = x.clone().requires_grad_()
    weight = weight.clone().requires_grad_()
    y = nn.functional.layer_norm(x + x @ weight.T + bias, (5,))
    (y * cotangent).sum().backward()
    expect_close(scene.get("y"), y, "the result with modules")
    found = dict(zip(("x", "the sublayer"), scene.get("gradients"), strict=True))
    _expect_gradients(found, {"x": x.grad, "the sublayer": weight.grad}, scene["y"])
    scene.run(
        "x = x.detach().requires_grad_()\n"
        "(residual(1 * x, lambda y: 0 * linear(1 * y), lambda y: y) * cotangent).sum().backward()\n"
        "around = x.grad"
    )
    expect_close(scene.get("around"), cotangent, "the gradient around a silent sublayer")


# -------------------------------------------------------------------------------------- what both blocks are made of

_ATTENTION = ("W_Q", "W_K", "W_V", "W_O")


def _block_shapes(attentions, norms, d_model, d_ff):
    """Names and shapes of all that a block learns."""
    shapes = _ff_shapes(d_model, d_ff, "feed_forward.")
    for attention in attentions:
        for layer in _ATTENTION:
            shapes[f"{attention}.{layer}.weight"] = (d_model, d_model)
            shapes[f"{attention}.{layer}.bias"] = (d_model,)
    for norm in norms:
        shapes |= {f"{norm}.weight": (d_model,), f"{norm}.bias": (d_model,)}
    return shapes


def _encoder_shapes(d_model, d_ff):
    return _block_shapes(("attention",), ("norm1", "norm2"), d_model, d_ff)


def _decoder_shapes(d_model, d_ff):
    return _block_shapes(("self_attention", "cross_attention"), ("norm1", "norm2", "norm3"), d_model, d_ff)


def _theirs(weights, attentions):
    """The same weights under PyTorch's names. ``attentions``: our name → PyTorch's name."""
    state = {}
    for ours, theirs in attentions.items():
        for kind in ("weight", "bias"):
            parts = [weights[f"{ours}.{layer}.{kind}"] for layer in _ATTENTION]
            state[f"{theirs}.in_proj_{kind}"] = torch.cat(parts[:3])
            state[f"{theirs}.out_proj.{kind}"] = parts[3]
    state |= {
        name.removeprefix("feed_forward."): value
        for name, value in weights.items()
        if name.split(".")[0] not in attentions
    }
    return state


_ENCODER_NAMES = {"attention": "self_attn"}
_DECODER_NAMES = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}


#: Blocks are compared so closely: another eps of their norms has a test of its own.
_NEARLY = 1e-3


def _with_one_norm(weights):
    """The weights with the numbers of norm1 in all norms: which norm comes where has a test of its own."""
    return {
        name: weights[f"norm1.{name.split('.')[1]}"] if name.startswith("norm") else value
        for name, value in weights.items()
    }


def _twins(student, rng, d_model, heads, d_ff, shapes_of, layer, names, change=_with_one_norm):
    """The student's block and PyTorch's ``layer`` with the same weights, drawn anew; ``change`` makes others of them."""
    shapes = shapes_of(d_model, d_ff)
    module = _build(student, (d_model, heads, d_ff), shapes)
    weights = change(_draw(rng, shapes))
    module.load_state_dict(weights, strict=False)
    theirs = layer(d_model, heads, d_ff, dropout=0.0, batch_first=True, dtype=torch.double)
    theirs.load_state_dict(_theirs(weights, names))
    return module, theirs, weights


_encoder_twins = partial(
    _twins, shapes_of=_encoder_shapes, layer=nn.TransformerEncoderLayer, names=_ENCODER_NAMES
)
_decoder_twins = partial(
    _twins, shapes_of=_decoder_shapes, layer=nn.TransformerDecoderLayer, names=_DECODER_NAMES
)


def _forbidden(mask, heads, batch, queries, keys):
    """PyTorch's form of a mask: (B · h, T, S), True where attention is forbidden."""
    return None if mask is None else ~mask.expand(batch, queries, keys).repeat_interleave(heads, dim=0)


def _random_mask(rng, *shape):
    """Booleans with something to listen to in each row."""
    mask = rng.random(shape) < 0.5
    rows, column = ~mask.any(axis=-1), int(rng.integers(shape[-1]))
    mask[..., column] |= rows
    return torch.tensor(mask)


def _causal(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def _heard(x, memory, weights, name, heads):
    """Multi-head attention without a mask on NumPy arrays, one head of one sentence at a time."""
    x, memory = np.asarray(x), np.asarray(memory)
    W = {layer: np.asarray(weights[f"{name}.{layer}.weight"]).T for layer in _ATTENTION}
    b = {layer: np.asarray(weights[f"{name}.{layer}.bias"]) for layer in _ATTENTION}
    size = x.shape[-1] // heads
    result = np.empty(x.shape)
    for sentence, (listener, source) in enumerate(zip(x, memory, strict=True)):
        blends = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            q, k, v = (
                (y @ W[layer] + b[layer])[:, part]
                for y, layer in ((listener, "W_Q"), (source, "W_K"), (source, "W_V"))
            )
            scores = np.exp(q @ k.T / math.sqrt(size))
            blends.append(scores / scores.sum(axis=1, keepdims=True) @ v)
        result[sentence] = np.concatenate(blends, axis=1) @ W["W_O"] + b["W_O"]
    return result


def _norm_of(number, x, weights):
    return _normalised(x, weights[f"norm{number}.weight"], weights[f"norm{number}.bias"])


def _silence(weights, *layers):
    """The weights with everything that these layers say set to zero."""
    return {
        name: torch.zeros_like(value) if name.rpartition(".")[0] in layers else value
        for name, value in weights.items()
    }


def _only_listening(weights):
    """The feed-forward layer says nothing: what it is given has tests of its own."""
    return _silence(_with_one_norm(weights), "feed_forward.linear2")


def _asking_always_the_same(weights):
    """The source is asked the same whoever asks: what it is asked with has tests of its own."""
    question = "cross_attention.W_Q.weight"
    return _with_one_norm(weights) | {question: torch.zeros_like(weights[question])}


def _only(*sublayers):
    """A change of a decoder's weights: only these attentions say something, and the source is asked always the same."""
    others = {"self_attention.W_O", "cross_attention.W_O", "feed_forward.linear2"}
    others -= {f"{name}.W_O" for name in sublayers}
    return lambda weights: _silence(_asking_always_the_same(weights), *others)


def _as_drawn(weights):
    return weights


def _expect_usual_eps(student, rng, shapes_of, count, *more):
    """Quiet words, and quiet norms: behind silent sublayers each norm shows its eps."""
    shapes = shapes_of(6, 5)
    module = _build(student, (6, 2, 5), shapes)
    weights = _silence(
        _draw(rng, shapes), *(name.rpartition(".")[0] for name in shapes if "norm" not in name)
    )
    for name in shapes:
        if name.startswith("norm"):
            weights[name] = torch.full((6,), 0.003 if name.endswith("weight") else 0.0, dtype=torch.double)
    module.load_state_dict(weights, strict=False)
    x = y = 0.003 * _tensor(rng, 2, 4, 6)
    for _ in range(count):
        y = _normalised(y, 0.003)
    result = as_array(_first(module(x, *more)))
    if result.shape == y.shape:
        factors = (result * y).sum(axis=-1, keepdims=True) / (y**2).sum(axis=-1, keepdims=True)
        if np.allclose(result, factors * y, rtol=1e-4, atol=1e-7) and not np.allclose(factors, 1, rtol=1e-3):
            student.observe("another eps", np.ones(1))  # that is all that a diagnosis sees: it may be any
    expect_close(1000 * result, 1000 * y, "the result for quiet words (a thousand times as large)")


_BIG = """
import torch

block = student_namespace[question](512, 8, 2048)
with torch.no_grad():
    for name, value in block.named_parameters(remove_duplicate=False):
        if name.rpartition(".")[0].split(".")[-1] in ("W_O", "linear2"):
            value.zero_()
"""


_SEED = "import torch\ntorch.manual_seed(seed)"


def _expect_dropout(student, rng, shapes_of, sublayer, number, norms, arguments):
    """Dropout silences entries of what one sublayer says, before the sum, scales the others, and acts nowhere else.

    The sublayer speaks louder than the words that it is given, the others say nothing; so the signs behind the norm
    tell which entries were dropped, and the numbers tell whether the words came through whole, to it and around it.
    """
    d_model, heads, d_ff, rate = 64, 4, 16, 0.4
    shapes = shapes_of(d_model, d_ff)
    module = _build(student, (d_model, heads, d_ff, rate), shapes)
    voices = {name.split(".")[0]: name for name in shapes if name.endswith(("W_O.bias", "linear2.bias"))}
    silent = [name.rpartition(".")[0] for part, name in voices.items() if part != sublayer]
    weights = _silence(_draw(rng, shapes), *silent)
    weights[voices[sublayer]] = 50 + 5 * torch.tensor(rng.random(d_model))
    for n in range(1, norms + 1):
        weights[f"norm{n}.weight"] = torch.ones(d_model, dtype=torch.double)
        weights[f"norm{n}.bias"] = torch.zeros(d_model, dtype=torch.double)
    module.load_state_dict(weights, strict=False)

    def says(y):
        if sublayer == "feed_forward":
            return _thought(y, weights, "feed_forward.")
        return _heard(y, arguments[1] if sublayer == "cross_attention" else y, weights, sublayer, heads)

    def through(kept):
        y = arguments[0].numpy()
        for n in range(1, norms + 1):
            y = _normalised(y + kept * says(y) if n == number else y)
        return y

    module.eval()
    quiet = _first(module(*arguments))
    expect_close(quiet, through(1.0), "the result in evaluation mode", rtol=_NEARLY, atol=_NEARLY)
    module.train()
    student.scene(_SEED, seed=int(rng.integers(2**31)))  # so that a diagnosis sees the same draws
    loud = as_array(_first(module(*arguments)))
    expect(loud.shape == arguments[0].shape, "the shape should stay in training mode")
    kept = loud > 0
    expected = through(kept / (1 - rate))
    expect_close(loud, expected, "the result in training mode", rtol=_NEARLY, atol=_NEARLY)
    share = 1 - kept.mean()
    # 3,840 entries: this is nine standard deviations.
    expect(
        abs(share - rate) < 0.075, "the share of what is dropped is not the probability that was asked for"
    )
    mixed = [kept.any(axis=axes).all() and (~kept).any(axis=axes).all() for axes in (-1, (0, 1))]
    expect(all(mixed), "each entry should be dropped or kept by itself")


def _expect_no_usual_dropout(student, rng, twins, *arguments):
    """Without the argument nothing is dropped in training mode either."""
    module, _, _ = twins(student, rng, 6, 2, 5)
    quiet = as_array(_first(module(*arguments)))
    module.train()
    expect_close(
        _first(module(*arguments)),
        quiet,
        "the result in training mode, without the argument dropout",
    )


# -------------------------------------------------------------------------------------------------- EncoderBlock


def _without_chance(student, module, *arguments, **named):
    """What a block says in training mode without dropout. Where two calls differ, that is all that a diagnosis sees."""
    module.train()
    first, second = (as_array(_first(module(*arguments, **named))) for _ in range(2))
    if first.shape == second.shape and not np.allclose(first, second, equal_nan=True):
        student.observe("two calls differ", np.ones(1))
        expect(False, "two calls in training mode without dropout give two results")
    module.eval()
    return first


def _expect_encoder(module, theirs, x, mask=None, named=False):
    heads = theirs.self_attn.num_heads
    expected = theirs(x, src_mask=_forbidden(mask, heads, len(x), x.shape[1], x.shape[1]))
    if mask is None:
        result = module(x)
    else:
        result = module(x, mask=mask) if named else module(x, mask)
    expect_close(_first(result), expected, "the block's output", rtol=_NEARLY, atol=_NEARLY)
    expect_unchanged(module, "work on a new tensor")


@hidden_test("EncoderBlock", weight=3)
@_with_right_parts
def test_the_lectures_two_equations(student, rng):
    """Listen, add, normalise; think, add, normalise: the lecture's equations, number by number."""
    for B, T, d_model, heads, d_ff in ((2, 5, 6, 3, 7), (3, 4, 8, 2, 5)):
        module, _, weights = _encoder_twins(student, rng, d_model, heads, d_ff)
        x = _tensor(rng, B, T, d_model)
        between = _norm_of(1, _heard(x, x, weights, "attention", heads) + x.numpy(), weights)
        expected = _norm_of(2, _thought(between, weights, "feed_forward.") + between, weights)
        expect_close(_one_of_attention(module(x)), expected, "the block's output", rtol=_NEARLY, atol=_NEARLY)


@hidden_test("EncoderBlock", weight=2)
@_with_right_parts
def test_the_block_agrees_with_pytorchs(student, rng):
    """It equals nn.TransformerEncoderLayer with the same weights: odd sizes, one word, one head, a view."""
    for B, T, d_model, heads, d_ff in ((2, 5, 12, 3, 7), (1, 1, 9, 3, 4), (4, 7, 5, 1, 13), (3, 2, 6, 6, 1)):
        module, theirs, _ = _encoder_twins(student, rng, d_model, heads, d_ff)
        _expect_encoder(module, theirs, _tensor(rng, B, T, d_model))
    _expect_encoder(module, theirs, _tensor(rng, 2, 6, 4).transpose(1, 2))
    _expect_encoder(module, theirs, _tensor(rng, 2, 3, 6) + 1000)


@hidden_test("EncoderBlock", weight=12)
@_with_right_parts
def test_the_encoder_obeys_its_mask(student, rng):
    """Masks for all sentences, for each sentence and for padding, in second place and by name."""
    for B, heads in ((5, 3), (2, 3), (3, 3), (4, 2)):  # five words: once as many as sentences
        module, theirs, _ = _encoder_twins(student, rng, 6, heads, 7, change=_only_listening)
        x = _tensor(rng, B, 5, 6)
        padding = torch.arange(5) < torch.tensor([5, 2, 3, 1, 4][:B])[:, None, None]
        for number, mask in enumerate(
            (_causal(5), _random_mask(rng, 5, 5), _random_mask(rng, B, 5, 5), padding)
        ):
            _expect_encoder(module, theirs, x, mask, named=number % 2 == 0)


@hidden_test("EncoderBlock", weight=14)
@_with_right_parts
def test_each_of_the_encoders_norms_in_its_place(student, rng):
    """With both sublayers silent only the two norms act, norm1 first; with one of them silent only the other; each norm learns."""
    module, theirs, weights = _encoder_twins(student, rng, 6, 2, 5, change=_as_drawn)
    x, cotangent = 3 * _tensor(rng, 2, 4, 6) + 1, _tensor(rng, 2, 4, 6)
    attention, thinking = "attention.W_O", "feed_forward.linear2"
    expect_nearly = partial(expect_close, rtol=_NEARLY, atol=_NEARLY)
    module.load_state_dict(_silence(weights, attention, thinking), strict=False)
    between = _norm_of(1, x, weights)
    expected = _norm_of(2, between, weights)
    expect_nearly(_first(module(x)), expected, "the output with both sublayers silent")
    module.load_state_dict(_silence(weights, attention), strict=False)
    expected = _norm_of(2, between + _thought(between, weights, "feed_forward."), weights)
    expect_nearly(_first(module(x)), expected, "the output with a silent attention")
    module.load_state_dict(_silence(weights, thinking), strict=False)
    expected = _norm_of(2, _norm_of(1, x.numpy() + _heard(x, x, weights, "attention", 2), weights), weights)
    expect_nearly(_first(module(x)), expected, "the output with a silent feed-forward layer")
    module.load_state_dict(weights, strict=False)
    found = module.gradients([x], cotangent=cotangent)
    (theirs(x) * cotangent).sum().backward()
    expected = _their_gradients(theirs, weights, _ENCODER_NAMES)
    expected = {name: value for name, value in expected.items() if name.startswith("norm")}
    _expect_gradients(found.parameters, expected, found.output, rtol=_NEARLY)
    big = student.scene(_BIG, question=student.name)["block"]
    x = _tensor(rng, 1, 3, 512).float()
    expect_close(
        _first(big(x)), _normalised(_normalised(x)), "a silent block of the first transformer's size"
    )


@hidden_test("EncoderBlock", weight=4)
@_with_right_parts
def test_the_encoders_norms_have_the_usual_eps(student, rng):
    """Words so quiet that the eps of the norms shows: it is LayerNorm's usual one."""
    _expect_usual_eps(student, rng, _encoder_shapes, 2)


@hidden_test("EncoderBlock", weight=4)
@_with_right_parts
def test_no_gradient_comes_from_the_future(student, rng):
    """With a causal mask the gradient of an output with respect to later words is exactly zero, and right elsewhere."""
    module, theirs, _ = _encoder_twins(student, rng, 6, 3, 8, change=_only_listening)
    x, mask = _tensor(rng, 2, 5, 6), _causal(5)
    for place in (0, 2, 4):
        cotangent = torch.zeros(2, 5, 6, dtype=torch.double)
        cotangent[:, place] = _tensor(rng, 2, 6)
        found = module.gradients([x, mask], cotangent=cotangent)
        own = x.clone().requires_grad_()
        (theirs(own, src_mask=~mask) * cotangent).sum().backward()
        _expect_gradients({"x": found.inputs[0]}, {"x": own.grad}, found.output, rtol=_NEARLY)
        later = as_array(found.inputs[0])[:, place + 1 :]
        expect(not later.any(), "a later word has an influence: pass the mask on to the attention")


@hidden_test("EncoderBlock", weight=8)
@_with_right_parts
def test_gradients_reach_every_part_of_the_encoder(student, rng):
    """Gradients reach the input and both sublayers, and equal those of PyTorch's layer."""
    module, theirs, weights = _encoder_twins(student, rng, 6, 2, 5)
    x, cotangent = _tensor(rng, 2, 4, 6), _tensor(rng, 2, 4, 6)
    found = module.gradients([x], cotangent=cotangent)
    own = x.clone().requires_grad_()
    (theirs(own) * cotangent).sum().backward()
    expected = _their_gradients(theirs, weights, _ENCODER_NAMES)
    expected = {name: value for name, value in expected.items() if not name.startswith("norm")}
    actual = {"x": found.inputs[0], **found.parameters}
    _expect_gradients(actual, {"x": own.grad, **expected}, found.output, rtol=_NEARLY)


def _their_gradients(theirs, weights, attentions):
    """The gradients of PyTorch's layer under our names. (Keys have no gradient in their bias: softmax ignores it.)"""
    gradients = {name: value.grad for name, value in theirs.named_parameters()}
    expected = {}
    for name in weights:
        part, _, rest = name.partition(".")
        if part not in attentions:
            expected[name] = gradients[name.removeprefix("feed_forward.")]
            continue
        layer, _, kind = rest.partition(".")
        if layer == "W_O":
            expected[name] = gradients[f"{attentions[part]}.out_proj.{kind}"]
        else:
            joint = gradients[f"{attentions[part]}.in_proj_{kind}"]
            expected[name] = joint.chunk(3)[_ATTENTION.index(layer)]
    return expected


@hidden_test("EncoderBlock", weight=11)
@_with_right_parts
def test_dropout_acts_on_what_the_encoders_sublayers_say(student, rng):
    """In training mode dropout silences entries of what each sublayer says, before the sum, and nothing else; in evaluation mode nothing."""
    x = _tensor(rng, 4, 15, 64)
    for number, sublayer in enumerate(("attention", "feed_forward"), start=1):
        _expect_dropout(student, rng, _encoder_shapes, sublayer, number, 2, (x,))
    _expect_no_usual_dropout(student, rng, _encoder_twins, _tensor(rng, 2, 3, 6))


@hidden_test("EncoderBlock", weight=2)
@_with_right_parts
def test_the_encoder_with_all_of_it_at_once(student, rng):
    """All of it at once: each mask with norms of their own and a layer that thinks, one sentence, one word, one head, many words, views; training without dropout; gradients."""
    for B, T, d_model, heads, d_ff in (
        (1, 4, 6, 2, 5),
        (3, 1, 9, 3, 4),
        (4, 4, 5, 1, 13),
        (2, 11, 16, 4, 24),
    ):
        module, theirs, _ = _encoder_twins(student, rng, d_model, heads, d_ff, change=_as_drawn)
        x = _tensor(rng, B, d_model, T).transpose(1, 2)
        masks = [_random_mask(rng, *shape) for shape in ((T, T), (B, T, T), (B, 1, T))]
        for number, mask in enumerate((None, *masks, None)):
            _expect_encoder(module, theirs, x, mask, named=number % 2 == 0)
    forbidden = _forbidden(mask := masks[2], heads, B, T, T)
    expected = theirs(x, src_mask=forbidden).detach()
    loud = _without_chance(student, module, x, mask)
    expect_close(loud, expected, "the output in training mode", rtol=_NEARLY, atol=_NEARLY)
    cotangent = _tensor(rng, B, T, d_model)
    found = module.gradients([x, mask], cotangent=cotangent)
    own = x.clone().requires_grad_()
    (theirs(own, src_mask=forbidden) * cotangent).sum().backward()
    _expect_gradients({"x": found.inputs[0]}, {"x": own.grad}, found.output, rtol=_NEARLY)


# -------------------------------------------------------------------------------------------------- DecoderBlock


def _expect_decoder(module, theirs, x, memory, self_mask=None, memory_mask=None, named=True):
    heads, B, T, S = theirs.self_attn.num_heads, len(x), x.shape[1], memory.shape[1]
    expected = theirs(
        x,
        memory,
        tgt_mask=_forbidden(self_mask, heads, B, T, T),
        memory_mask=_forbidden(memory_mask, heads, B, T, S),
    )
    masks = {"self_mask": self_mask, "memory_mask": memory_mask}
    if named:
        result = module(x, memory, **{name: mask for name, mask in masks.items() if mask is not None})
    else:
        result = module(x, memory, self_mask, memory_mask)
    expect_close(_first(result), expected, "the block's output", rtol=_NEARLY, atol=_NEARLY)
    expect_unchanged(module, "work on a new tensor")


@hidden_test("DecoderBlock", weight=12)
@_with_right_parts
def test_the_lectures_three_equations(student, rng):
    """Listen to yourself, to the source, think, each with Add & Norm: the lecture's equations, number by number."""
    for B, T, S, d_model, heads, d_ff in ((2, 5, 4, 6, 3, 7), (3, 2, 7, 8, 2, 5)):
        module, _, weights = _decoder_twins(student, rng, d_model, heads, d_ff)
        x, memory = _tensor(rng, B, T, d_model), _tensor(rng, B, S, d_model)
        written = _norm_of(1, _heard(x, x, weights, "self_attention", heads) + x.numpy(), weights)
        heard = _norm_of(2, _heard(written, memory, weights, "cross_attention", heads) + written, weights)
        expected = _norm_of(3, _thought(heard, weights, "feed_forward.") + heard, weights)
        result = _one_of_attention(module(x, memory))
        expect_close(result, expected, "the block's output", rtol=_NEARLY, atol=_NEARLY)


@hidden_test("DecoderBlock", weight=8)
@_with_right_parts
def test_the_decoder_agrees_with_pytorchs(student, rng):
    """It equals nn.TransformerDecoderLayer with the same weights: target and source of other and of equal lengths; so do the gradients of what asks."""
    sizes = ((2, 3, 5, 12, 3, 7), (1, 1, 4, 9, 3, 4), (4, 6, 1, 5, 1, 13), (3, 4, 4, 6, 2, 1))
    for B, T, S, d_model, heads, d_ff in sizes:
        module, theirs, _ = _decoder_twins(student, rng, d_model, heads, d_ff)
        _expect_decoder(module, theirs, _tensor(rng, B, T, d_model), _tensor(rng, B, S, d_model))
    x, memory = _tensor(rng, 2, 6, 3).transpose(1, 2), _tensor(rng, 2, 6, 5).transpose(1, 2) + 1000
    _expect_decoder(module, theirs, x, memory)
    module, theirs, weights = _decoder_twins(student, rng, 6, 2, 5)
    x, memory, cotangent = _tensor(rng, 2, 4, 6), _tensor(rng, 2, 3, 6), _tensor(rng, 2, 4, 6)
    found = module.gradients([x, memory], cotangent=cotangent)
    own = x.clone().requires_grad_()
    (theirs(own, memory) * cotangent).sum().backward()
    asking = "cross_attention.W_Q.weight"
    expected = {"x": own.grad, asking: _their_gradients(theirs, weights, _DECODER_NAMES)[asking]}
    actual = {"x": found.inputs[0], **found.parameters}
    _expect_gradients(actual, expected, found.output, rtol=_NEARLY)


@hidden_test("DecoderBlock", weight=10)
@_with_right_parts
def test_the_self_mask_hides_the_future(student, rng):
    """The self mask acts on the self-attention, in all three shapes."""
    for B, heads in ((2, 3), (3, 3)):
        module, theirs, _ = _decoder_twins(student, rng, 6, heads, 5, change=_only("self_attention"))
        x, memory = _tensor(rng, B, 4, 6), _tensor(rng, B, 4, 6)  # as long as each other, on purpose
        for mask in (_causal(4), _random_mask(rng, B, 4, 4), _random_mask(rng, B, 1, 4)):
            _expect_decoder(module, theirs, x, memory, self_mask=mask)


@hidden_test("DecoderBlock", weight=10)
@_with_right_parts
def test_the_memory_mask_hides_the_padding(student, rng):
    """The memory mask acts on the cross-attention, in all three shapes."""
    for B, heads in ((2, 3), (3, 3)):
        module, theirs, _ = _decoder_twins(student, rng, 6, heads, 5, change=_only("cross_attention"))
        x, memory = _tensor(rng, B, 4, 6), _tensor(rng, B, 4, 6)
        for mask in (_random_mask(rng, 4, 4), _random_mask(rng, B, 4, 4), _random_mask(rng, B, 1, 4)):
            _expect_decoder(module, theirs, x, memory, memory_mask=mask)


@hidden_test("DecoderBlock", weight=18)
@_with_right_parts
def test_both_masks_together(student, rng):
    """Causal mask and padding at once, by name and in their places, with a source of another length."""
    for B, heads in ((2, 3), (3, 2)):
        module, theirs, _ = _decoder_twins(student, rng, 6, heads, 5, change=_asking_always_the_same)
        for T, S in ((4, 5), (5, 3)):
            x, memory = _tensor(rng, B, T, 6), _tensor(rng, B, S, 6)
            padding = torch.arange(S) < torch.tensor([S, 2, 1][:B])[:, None, None]
            _expect_decoder(module, theirs, x, memory, _causal(T), padding)
            _expect_decoder(module, theirs, x, memory, _causal(T), padding, named=False)


@hidden_test("DecoderBlock", weight=22)
@_with_right_parts
def test_each_of_the_decoders_norms_in_its_place(student, rng):
    """With silent sublayers only the three norms act, in their order; with two of them silent only the third; each norm learns."""
    module, theirs, weights = _decoder_twins(student, rng, 6, 2, 5, change=_as_drawn)
    for layer in ("cross_attention.W_Q", "self_attention.W_V"):
        weights[
            f"{layer}.weight"
        ].zero_()  # what the source is asked with, and masks, have tests of their own
    x, memory = 3 * _tensor(rng, 2, 4, 6) + 1, _tensor(rng, 2, 3, 6)
    layers = ("self_attention.W_O", "cross_attention.W_O", "feed_forward.linear2")
    for speaking in (None, 1, 2, 3):
        silent = [layer for number, layer in enumerate(layers, start=1) if number != speaking]
        module.load_state_dict(_silence(weights, *silent), strict=False)
        y = x.numpy()
        for number in (1, 2, 3):
            said = 0.0
            if number == speaking == 1:
                said = _heard(y, y, weights, "self_attention", 2)
            elif number == speaking == 2:
                said = _heard(y, memory, weights, "cross_attention", 2)
            elif number == speaking:
                said = _thought(y, weights, "feed_forward.")
            y = _norm_of(number, y + said, weights)
        result = _first(module(x, memory))
        expect_close(result, y, "the output with silent sublayers", rtol=_NEARLY, atol=_NEARLY)
    module.load_state_dict(weights, strict=False)
    theirs.load_state_dict(_theirs(weights, _DECODER_NAMES))
    cotangent = _tensor(rng, 2, 4, 6)
    found = module.gradients([x, memory], cotangent=cotangent)
    (theirs(x, memory) * cotangent).sum().backward()
    expected = _their_gradients(theirs, weights, _DECODER_NAMES)
    expected = {name: value for name, value in expected.items() if name.startswith("norm")}
    _expect_gradients(found.parameters, expected, found.output, rtol=_NEARLY)
    big = student.scene(_BIG, question=student.name)["block"]
    x, memory = _tensor(rng, 1, 3, 512).float(), _tensor(rng, 1, 2, 512).float()
    expected = _normalised(_normalised(_normalised(x)))
    expect_close(_first(big(x, memory)), expected, "a silent block of the first transformer's size")


@hidden_test("DecoderBlock", weight=8)
@_with_right_parts
def test_the_decoders_norms_have_the_usual_eps(student, rng):
    """Words so quiet that the eps of the norms shows: it is LayerNorm's usual one."""
    _expect_usual_eps(student, rng, _decoder_shapes, 3, _tensor(rng, 2, 3, 6))


@hidden_test("DecoderBlock", weight=12)
@_with_right_parts
def test_no_gradient_from_the_future_or_the_padding(student, rng):
    """The gradient with respect to later words and to the source's padding is exactly zero, and right elsewhere."""
    module, theirs, _ = _decoder_twins(student, rng, 6, 3, 8, change=_asking_always_the_same)
    x, memory = _tensor(rng, 2, 4, 6), _tensor(rng, 2, 5, 6)
    causal, padding = _causal(4), torch.arange(5) < torch.tensor([3, 2])[:, None, None]
    for place in (0, 2):
        cotangent = torch.zeros(2, 4, 6, dtype=torch.double)
        cotangent[:, place] = _tensor(rng, 2, 6)
        found = module.gradients([x, memory, causal, padding], cotangent=cotangent)
        own, source = x.clone().requires_grad_(), memory.clone().requires_grad_()
        output = theirs(own, source, tgt_mask=~causal, memory_key_padding_mask=~padding[:, 0])
        (output * cotangent).sum().backward()
        names = {"x": found.inputs[0], "the memory": found.inputs[1]}
        expected = {"x": own.grad, "the memory": source.grad}
        _expect_gradients(names, expected, found.output, rtol=_NEARLY)
        expect(not as_array(found.inputs[0])[:, place + 1 :].any(), "a later word has an influence")
        hidden = as_array(found.inputs[1])[~padding[:, 0].numpy()]
        expect(not hidden.any(), "the padding of the source has an influence")


@hidden_test("DecoderBlock", weight=18)
@_with_right_parts
def test_gradients_reach_every_part_of_the_decoder(student, rng):
    """Gradients reach the input, the memory and the three sublayers, and equal those of PyTorch's layer."""
    module, theirs, weights = _decoder_twins(student, rng, 6, 2, 5, change=_asking_always_the_same)
    x, memory, cotangent = _tensor(rng, 2, 4, 6), _tensor(rng, 2, 3, 6), _tensor(rng, 2, 4, 6)
    found = module.gradients([x, memory], cotangent=cotangent)
    own, source = x.clone().requires_grad_(), memory.clone().requires_grad_()
    (theirs(own, source) * cotangent).sum().backward()
    expected = {"x": own.grad, "the memory": source.grad, **_their_gradients(theirs, weights, _DECODER_NAMES)}
    elsewhere = ("norm", "cross_attention.W_Q")
    expected = {name: value for name, value in expected.items() if not name.startswith(elsewhere)}
    actual = {"x": found.inputs[0], "the memory": found.inputs[1], **found.parameters}
    _expect_gradients(actual, expected, found.output, rtol=_NEARLY)


@hidden_test("DecoderBlock", weight=20)
@_with_right_parts
def test_dropout_acts_on_what_the_decoders_sublayers_say(student, rng):
    """In training mode dropout silences entries of what each sublayer says, before the sum, and nothing else; in evaluation mode nothing."""
    x, memory = _tensor(rng, 4, 15, 64), _tensor(rng, 4, 3, 64)
    for number, sublayer in enumerate(("self_attention", "cross_attention", "feed_forward"), start=1):
        _expect_dropout(student, rng, _decoder_shapes, sublayer, number, 3, (x, memory))
    _expect_no_usual_dropout(student, rng, _decoder_twins, _tensor(rng, 2, 3, 6), _tensor(rng, 2, 4, 6))


@hidden_test("DecoderBlock", weight=5)
@_with_right_parts
def test_the_decoder_with_all_of_it_at_once(student, rng):
    """All of it at once: each self mask with each memory mask while all parts speak, one sentence, one word, one head, many words, views; training without dropout; gradients."""
    for B, T, S, d_model, heads, d_ff in (
        (1, 4, 4, 6, 2, 5),
        (3, 1, 4, 9, 3, 4),
        (4, 4, 1, 5, 1, 13),
        (2, 9, 11, 16, 4, 24),
    ):
        module, theirs, _ = _decoder_twins(student, rng, d_model, heads, d_ff, change=_as_drawn)
        x, memory = (_tensor(rng, B, d_model, length).transpose(1, 2) for length in (T, S))
        own = None, *(_random_mask(rng, *shape) for shape in ((T, T), (B, T, T), (B, 1, T)))
        source = None, *(_random_mask(rng, *shape) for shape in ((T, S), (B, T, S), (B, 1, S)))
        for number, (i, j) in enumerate(itertools.product(range(4), repeat=2)):
            _expect_decoder(module, theirs, x, memory, own[i], source[j], named=number % 3 > 0)
    _expect_decoder(module, theirs, x, x, own[1])
    forbidden = {
        "tgt_mask": _forbidden(own[1], heads, B, T, T),
        "memory_mask": _forbidden(source[3], heads, B, T, S),
    }
    expected = theirs(x, memory, **forbidden).detach()
    loud = _without_chance(student, module, x, memory, self_mask=own[1], memory_mask=source[3])
    expect_close(loud, expected, "the output in training mode", rtol=_NEARLY, atol=_NEARLY)
    cotangent = _tensor(rng, B, T, d_model)
    found = module.gradients([x, memory, own[1], source[3]], cotangent=cotangent)
    words, said = x.clone().requires_grad_(), memory.clone().requires_grad_()
    (theirs(words, said, **forbidden) * cotangent).sum().backward()
    actual = {"x": found.inputs[0], "the memory": found.inputs[1]}
    _expect_gradients(actual, {"x": words.grad, "the memory": said.grad}, found.output, rtol=_NEARLY)
