"""Lab 03, pair_features: x (…, D), W (D, F) → the product where it is above 0, else 0 (…, F)."""

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m03_votes_to_attention.common import PAIRS, product, relu


def number_by_number(x, W):
    return relu(product(x, W))


question = Question(
    number_by_number,
    uses=("mask_votes", "mask_lookup"),
    forbidden=("torch.relu", "torch.nn.functional.relu", "torch.nn.ReLU", "Tensor.relu"),
)


@question.family(
    "Where nothing is negative the features are the product, of one row and of several.", weight=1.25
)
def nothing_negative(rng):
    x = rng.permutation([[1.0, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1], [1, 1, 0, 1]])
    W = rng.integers(1, 4, (4, 12))[:, ::2] / 2
    yield x, W
    yield x[0], W


@question.family(
    "“battery … ran” is 1 and 0: negative values become 0, others stay, whatever x holds.", weight=1.25
)
def negative_becomes_zero(rng):
    yield Case(np.array([1.0, 0, 1, 1]), PAIRS, gives=[1.0, 0.0])
    yield Case(np.array([0.0, 1, 1, 1]), PAIRS, gives=[0.0, 1.0])
    yield rng.normal(size=(5, 4)), 8 * rng.normal(size=(4, 12))[:, ::2]
    yield rng.integers(-4, 5, 4), rng.integers(-3, 4, (4, 5))


@question.family("A batch has features, with its axes in front.", weight=0.5)
def batches(rng):
    x = rng.integers(-1, 2, size=(2, 3, 5)).astype(float)
    x[..., -1], x[0, 0], x[1, 2] = 1, [1, 0, 1, 0, 1], [0, 1, 0, 1, 1]
    W = rng.choice([-1, -0.5, 0.5, 1], size=(5, 6))
    W[:, 0] = [-1, 0.5, -1, 1, -1]
    yield x, W


@question.misconception("no ReLU", costs=2)
def no_relu(x, W):
    """Negative values are still there. A feature is present or it is not: the ReLU replaces everything below zero
    by 0."""
    return x @ W


@question.misconception("the sign dropped instead of the value", costs=1.5)
def absolute_value(x, W):
    """A value of −1 becomes 1 in your result, so an absent pair looks present. Negative values become 0; they do not just lose
    their sign."""
    return np.abs(x @ W)


@question.misconception("cut off at one as well", costs=1.5, because="features up to 1 are right")
def cut_off_at_one(x, W):
    """You cut large values off at 1. The ReLU leaves everything above zero as it is."""
    return np.clip(x @ W, 0, 1)


@question.misconception("only present or absent", costs=2.5)
def yes_or_no(x, W):
    """You return 1 for every positive value. The ReLU keeps the value itself: a step from 0 to 1 has no slope, and what has no
    slope cannot be learned."""
    return (x @ W > 0).astype(float)


@question.misconception("the bias left out", costs=2, because="right but for the bias")
def bias_left_out(x, W):
    """You leave the last entry of x out of the product. It is the bias: without it one word alone is enough to light a pair."""
    return np.maximum(0, x[..., :-1] @ W[:-1])


@question.misconception("negative inputs removed before the product", costs=1.5)
def relu_too_early(x, W):
    """You remove negative values of the input. The ReLU works on the product of x and W: first multiply, then cut."""
    return np.maximum(0, x) @ W


@question.alternative
def features_by_where(x, W):
    z = np.einsum("...d,df->...f", x, W)
    return np.where(z < 0, 0, z)


@question.alternative
def features_by_half_the_absolute_value(x, W):
    z = np.tensordot(x, W, axes=1)
    return (z + abs(z)) / 2
