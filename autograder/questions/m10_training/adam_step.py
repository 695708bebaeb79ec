"""Lab 10, adam_step: parameter, gradient, m, v of one shape, t, rate, betas, eps → the new parameter, m and v."""

import math

import numpy as np
import torch

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m08_multi_head.common import tensor


def number_by_number(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    moved = []
    for theta, g, mean, square in zip(
        *(one.flatten().tolist() for one in (parameter, gradient, m, v)), strict=True
    ):
        mean = beta1 * mean + (1 - beta1) * g
        square = beta2 * square + (1 - beta2) * g * g
        root = math.sqrt(square / (1 - beta2**t))
        moved.append((theta - rate * mean / (1 - beta1**t) / (root + eps), mean, square))
    return tuple(np.array(part).reshape(parameter.shape) for part in zip(*moved, strict=True))


question = Question(number_by_number, forbidden=("torch.optim.Adam", "torch.optim.AdamW"))
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def state(rng, *shape, grows=False):
    """Parameter, gradient, m and v; where the gradient ``grows``, v does, and falls otherwise."""
    gradient = torch.tensor(rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape))
    square = torch.tensor(rng.uniform(0.05, 0.2, shape) if grows else rng.uniform(3, 6, shape))
    return tensor(rng, *shape), gradient, torch.tensor(rng.uniform(-0.5, 0.5, shape)), square


@question.family("The mean m of the gradients, in the text's second step and others.", only=1, **CLOSE)
def mean_of_gradients(rng):
    start = (torch.tensor([value], dtype=torch.double) for value in (0.9, -0.1, 0.05, 0.005))
    yield Case(*start, 2, 0.1, gives=(None, [0.035], [0.0051]))
    for shape, betas in (((3, 2), (0.9, 0.98)), ((3,), (0.0, 0.9))):
        yield *state(rng, *shape), 2, 0.03, *betas, 1e-9


@question.family("The mean v of their squares.", only=2, **CLOSE)
def mean_of_squares(rng):
    for shape, betas, eps in (
        ((3, 2), (0.9, 0.98), 1e-9),
        ((3,), (0.5, 0.4), 1e-9),
        ((2,), (0.9, 0.98), 0.1),
    ):
        yield *state(rng, *shape), 2, 0.03, *betas, eps


def parameter_after(student, *arguments):
    """The parameter after a step; of an answer that counts its calls only that it does, whatever its count is by now."""
    once, again = (student(*arguments)[0] for _ in range(2))
    same = np.array_equal(np.asarray(once), np.asarray(again), equal_nan=True)
    yield Observed("the same call gives the same again", same)
    if same:
        yield Observed("the parameter", once, **CLOSE)


@question.scenario("Where the parameter goes in the first steps.", weight=1.5)
def first_steps(student, rng):
    for t, rate in ((1, 0.03), (2, 1.5), (3, 0.2)):
        yield from parameter_after(student, *state(rng, 2, 3), t, rate, 0.9, 0.98, 1e-9)


@question.scenario("Where it goes with other betas.")
def other_betas(student, rng):
    for t, betas in ((2, (0.9, 0.999)), (3, (0.5, 0.99)), (2, (0.0, 0.99)), (40, (0.8, 0.99))):
        yield from parameter_after(student, *state(rng, 4, grows=True), t, 0.03, *betas, 1e-9)


@question.scenario("The usual betas where none are given; late steps.", weight=1.25)
def defaults_and_late_steps(student, rng):
    for t in (3, 40):
        yield from parameter_after(student, *state(rng, 2, 3), t, 1.0)


@question.scenario("eps stands after the corrected root, and is 1e-9 where none is given.")
def where_eps_stands(student, rng):
    zeros, signs = torch.zeros(4).double(), torch.tensor(rng.choice([-1.0, 1.0], 4))
    for sizes, eps in (([3e-3, 1e6, 0.5, 30], [0.5]), ([1e-9, 2e-9, 0.5, 30], [])):
        gradient = signs * torch.tensor(sizes)
        yield from parameter_after(student, zeros, gradient, zeros, zeros, 1, 0.25, 0.9, 0.98, *eps)


@question.scenario("A gradient of 0: no first step; in a later one m goes on by itself.", weight=0.75)
def gradients_of_zero(student, rng):
    zeros, gradient = torch.zeros(3).double(), torch.tensor([0.0, float(rng.uniform(1, 2)), 0]).double()
    yield from parameter_after(student, zeros, gradient, zeros, zeros, 1, 0.25, 0.9, 0.98, 1e-9)
    theta, _, m, v = state(rng, 3)
    yield from parameter_after(student, theta, gradient, m, v, 3, 0.25, 0.9, 0.98, 1e-9)


@question.scenario("A single number, and tensors of three axes.", weight=0.5)
def other_shapes(student, rng):
    for shape in ((), (2, 1, 3)):
        yield from parameter_after(student, *state(rng, *shape, grows=True), 2, 0.1)


def _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, *, corrected=(True, True), power=None):
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    power = t if power is None else power
    m_hat = m / (1 - beta1**power) if corrected[0] else m
    v_hat = v / (1 - beta2**power) if corrected[1] else v
    return parameter - rate * m_hat / (v_hat.sqrt() + eps), m, v


@question.misconception("no correction of the means", costs=2.5)
def adam_without_correction(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first steps have the wrong length: m and v began at 0 and are too small at first. Divide them by 1 − βᵗ before you use them."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, corrected=(False, False))


@question.misconception("the correction without the power t", costs=2)
def adam_correcting_without_t(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first step is right and all later ones are too long: the correction is 1 − β to the power t, and fades away as t grows."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=1)


@question.misconception("counting from zero", costs=2.5)
def adam_one_step_ahead(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your correction uses t + 1. Here t is 1 in the first step already."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=t + 1)


@question.misconception("no square root", costs=2.5)
def adam_without_the_root(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """You divide by v̂, a mean of *squares*. Its root has the size of a gradient: divide by that."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter - rate * (m / (1 - beta1**t)) / (v / (1 - beta2**t) + eps), m, v


@question.misconception("eps inside the root", costs=0.5)
def adam_with_eps_inside(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your eps stands under the root, where it weighs much more for small gradients. It is added after the root."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter - rate * (m / (1 - beta1**t)) / (v / (1 - beta2**t) + eps).sqrt(), m, v


@question.misconception("the gradient is not squared", costs=3)
def adam_without_the_square(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your v is a mean of the gradient, not of its square: it can become negative, and its root is then no number."""
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient
    return parameter - rate * (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + eps), m, v


@question.misconception("β₁ and β₂ exchanged", costs=3)
def adam_with_betas_exchanged(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """β₁ and β₂ are exchanged in your function: β₁ belongs to m, β₂ to v."""
    return _adam(parameter, gradient, m, v, t, rate, beta2, beta1, eps)


_COUNTED = [0]


@question.misconception("the steps are counted inside", costs=2, because="a step is right but for its number")
def adam_that_counts_by_itself(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Called twice with the same arguments, your function takes two different steps: something is kept from call to call, a count of the steps, say. The
    argument t says which step it is. (A model has many weights, and each of them calls.)"""
    _COUNTED[0] += 1
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=_COUNTED[0])


@question.alternative
def adam_with_lerp_and_addcdiv(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    m = torch.lerp(m, gradient, 1.0 - beta1)
    v = torch.lerp(v, gradient.square(), 1.0 - beta2)
    step = rate / (1 - math.pow(beta1, t))
    below = v.sqrt() / math.sqrt(1 - math.pow(beta2, t)) + eps
    return torch.addcdiv(parameter, m, below, value=-step), m, v


@question.alternative
def adam_in_numpy(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    p, g, m, v = (one.numpy() for one in (parameter, gradient, m, v))
    m = m + (1 - beta1) * (g - m)
    v = v + (1 - beta2) * (g * g - v)
    p = p - rate * np.divide(m, 1 - beta1**t) / (np.sqrt(np.divide(v, 1 - beta2**t)) + eps)
    return [torch.as_tensor(one) for one in (p, m, v)]
