"""Lab 09, residual: x (…, d_model), a sublayer, a norm → the norm of the sum of x and what the sublayer says."""

import numpy as np
import torch

from autograder.questions.engine import Observed, Question
from autograder.questions.m09_blocks.common import CLOSE, tensor


def step_by_step(x, sublayer, norm):
    said = sublayer(x)
    total = torch.stack([x, said]).sum(dim=0)
    return norm(total)


question = Question(step_by_step)


def noted(function, given):
    """A function of tensors that notes what it is given."""

    def note(y):
        given.append(np.array(y.detach()))
        return torch.as_tensor(function(y.detach()))

    return note


def nothing(y):
    return 0 * y


def same(y):
    return 1 * y


@question.scenario("The sum, where the norm does nothing: (1, 2) and ten times it are (11, 22).")
def the_sum(student, rng):
    yield Observed("the sum", student(torch.tensor([1.0, 2.0]), lambda y: 10 * y, same), **CLOSE)
    for shape in ((3, 2, 4), (5,)):
        yield Observed("where the sublayer is silent", student(tensor(rng, *shape), nothing, same), **CLOSE)


@question.scenario("The norm of the sum, with any leading axes, of views too.", weight=1.5)
def norm_of_the_sum(student, rng):
    for shape in ((2, 3, 5), (7,), (2, 2, 1, 4)):
        x, says = tensor(rng, *shape[::-1]).permute(*range(len(shape))[::-1]), tensor(rng, *shape)
        norm = lambda y: 3 * torch.tanh(y) - y  # noqa: E731
        yield Observed("the norm", student(x, lambda y, says=says: says * y**2 + 1, norm), **CLOSE)
    yield Observed("the norm of x alone", student(tensor(rng, 4, 6), nothing, lambda y: y / 2 + 1), **CLOSE)


@question.scenario("The sublayer is called once, with x, and the norm once, with the sum.")
def called_once(student, rng):
    asked, normed = [], []
    student(tensor(rng, 2, 3, 4), noted(lambda y: 5 - y**3, asked), noted(lambda y: y / 2, normed))
    yield Observed("what the sublayer is given, call by call", asked, **CLOSE)
    yield Observed("what the norm is given, call by call", normed, **CLOSE)


HANDED_BACK = """
import torch

residual = student_namespace[question]
before = x.clone()
result, same = residual(x, lambda y: 3 * y, lambda y: y), torch.equal(x, before)
result_of_itself = residual(x, torch.nn.Identity(), lambda y: y)
same_of_itself = torch.equal(x, before)
"""


@question.scenario("x stays as it is, also where the sublayer hands x itself back, as nn.Identity does.")
def x_stays(student, rng):
    scene = student.scene(HANDED_BACK, question=student.name, x=tensor(rng, 2, 5))
    for name in ("result", "same", "result_of_itself", "same_of_itself"):
        yield Observed(name, scene[name], **CLOSE)


LAYERS = """
import torch
from torch import nn

torch.manual_seed(seed)
linear, norm = nn.Linear(5, 5).double(), nn.LayerNorm(5, elementwise_affine=False)
residual = student_namespace[question]
x.requires_grad_()
y = residual(1 * x, lambda y: linear(1 * y), norm)  # not x itself: whether that is changed is asked above
(y * cotangent).sum().backward()
found, x.grad = [x.grad, linear.weight.grad], None
(residual(1 * x, lambda y: 0 * linear(1 * y), lambda y: y) * cotangent).sum().backward()
around = x.grad
"""


@question.scenario("The gradient goes into the sublayer and around it.", weight=2)
def gradients(student, rng):
    given = {"x": tensor(rng, 2, 3, 5), "cotangent": tensor(rng, 2, 3, 5)}
    scene = student.scene(LAYERS, question=student.name, seed=int(rng.integers(1 << 30)), **given)
    for name in ("y", "found", "around"):
        yield Observed(name, scene[name], **CLOSE)


@question.misconception("pre-LN for post-LN", costs=2)
def residual_before(x, sublayer, norm):
    """You normalise what the sublayer is given: that is pre-LN. Here the norm comes last, on the sum."""
    return x + sublayer(norm(x))


@question.misconception("only what the sublayer says", costs=2.5)
def residual_without_x(x, sublayer, norm):
    """Your result forgets x itself: add it to what the sublayer says, or nothing leads around the sublayer."""
    return norm(sublayer(x))


@question.misconception("no norm behind the sum", costs=2)
def residual_without_norm(x, sublayer, norm):
    """The sum is right, but it is not normalised: the third argument is not used."""
    return x + sublayer(x)


@question.misconception("the norm on the sublayer's words only", costs=2)
def residual_with_the_norm_inside(x, sublayer, norm):
    """You normalise only what the sublayer says, and then add x. The norm acts on the sum."""
    return x + norm(sublayer(x))


@question.misconception("x is changed in place", costs=1, card="the card says that x is changed")
def residual_in_place(x, sublayer, norm):
    """Your function changes x itself (x += …). Whoever passed it still needs it: write x + …"""
    x += sublayer(x)
    return norm(x)


@question.misconception("added to what the sublayer handed back", costs=1)
def residual_into_what_was_said(x, sublayer, norm):
    """You add x to the very tensor that the sublayer handed back (+=). Where that is x itself, as nn.Identity and dropout in evaluation mode hand
    it back, x changes: write said + x, which makes a new one."""
    said = sublayer(x)
    said += x
    return norm(said)


@question.misconception("the sublayer called twice", costs=1)
def residual_that_asks_twice(x, sublayer, norm):
    """You call the sublayer twice. It costs twice the time, and with dropout the two calls do not even say the same: call it once and
    keep what it says."""
    if sublayer(x).shape == x.shape:
        return norm(x + sublayer(x))
    return norm(x)


@question.misconception("x added twice", costs=2.5)
def residual_doubled(x, sublayer, norm):
    """x is in your sum twice, so that a silent sublayer lets 2 · x pass."""
    return norm(x + x + sublayer(x))


@question.misconception("no gradient around the sublayer", costs=1.5)
def residual_detached(x, sublayer, norm):
    """The values are right, but x is detached in your sum: no gradient goes around the sublayer, and that was the point."""
    return norm(x.detach() + sublayer(x))


@question.alternative
def residual_into_a_copy(x, sublayer, norm):
    said = sublayer(x).clone()
    said += x
    return norm(said)
