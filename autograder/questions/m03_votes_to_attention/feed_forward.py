"""Lab 03, feed_forward: x (…, D), W1 (D, F), W2 (F, V) → ReLU(x W1) W2 (…, V)."""

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m03_votes_to_attention.common import PAIRS, product, relu


def number_by_number(x, W1, W2):
    return product(relu(product(x, W1)), W2)


question = Question(
    number_by_number,
    uses=("mask_votes", "mask_lookup", "pair_features"),
    forbidden=("torch.relu", "torch.nn.functional.relu", "torch.nn.ReLU", "Tensor.relu"),
)


def features_of_one_and_more(rng, F):
    """A row x that ends in 1, and a matrix W1 whose features are all above 1 or negative, the first and the last one above."""
    signs = np.r_[1, rng.permutation([-1, -1, 1, -1])[: F - 2], 1]
    return np.r_[rng.uniform(1.1, 1.9, size=4), 1], rng.uniform(0.6, 1.4, size=(5, F)) * signs


@question.family("A single history gets its votes.", weight=1.5)
def a_single_history(rng):
    yield Case(np.array([1.0, 0, 1, 1]), PAIRS, np.eye(2), gives=[1.0, 0.0])
    for F, V in ((4, 3), (6, 2)):
        yield *features_of_one_and_more(rng, F), rng.uniform(0.5, 2, size=(F, V))


@question.family("Votes may be negative, and features of any size count.", weight=1.5)
def votes_may_be_negative(rng):
    yield Case(np.array([1.0, 0, 1, 1]), PAIRS, np.array([[2.0, -3], [5, 7]]), gives=[2.0, -3.0])
    yield rng.normal(size=(5, 4)), rng.normal(size=(4, 12))[:, ::2], rng.normal(size=(6, 3))
    yield rng.normal(size=(1, 5)), rng.normal(size=(5, 6)), rng.normal(size=(6, 4))


@question.family("Votes come for a batch, with its axes in front.", weight=0.75)
def batches(rng):
    yield rng.normal(size=(2, 3, 5)), rng.normal(size=(5, 6)), rng.normal(size=(6, 4))


@question.family("As many next words as entries in x, and whole numbers in x, W1 or W2.", weight=0.75)
def square_and_whole(rng):
    x, W1 = features_of_one_and_more(rng, 5)
    yield rng.integers(1, 4, size=5), W1, rng.uniform(0.5, 2, size=(5, 5))
    yield x, W1, rng.integers(1, 9, size=(5, 3))
    whole = np.sign(W1).astype(int) * rng.integers(1, 4, size=W1.shape)
    yield x + 0.25, whole, rng.uniform(0.5, 2, size=(5, 3))


@question.misconception("no ReLU between the matrices", costs=2, because="both products are right")
def two_matrices_without_relu(x, W1, W2):
    """You multiply by both matrices with nothing between them. Two products in a row are one product: without the ReLU the layer
    cannot tell a pair from the sum of two words."""
    return x @ W1 @ W2


@question.misconception("a second ReLU at the end", costs=2)
def relu_at_the_end_too(x, W1, W2):
    """You cut off negative votes. There is one ReLU, between the matrices; a feature may well vote against a word."""
    return np.maximum(0, np.maximum(0, x @ W1) @ W2)


@question.misconception("the ReLU only at the end", costs=2, because="both products are right")
def relu_only_at_the_end(x, W1, W2):
    """The ReLU comes after both matrices. It belongs between them, on the features, not on the votes."""
    return np.maximum(0, x @ W1 @ W2)


@question.misconception("the features are passed on instead of the votes", costs=2, because="one step short")
def only_the_features(x, W1, W2):
    """You return the features. One more product is missing, which turns features into votes."""
    return np.maximum(0, x @ W1)


@question.misconception("features as shares", costs=2, because="both products are right")
def softmax_between(x, W1, W2):
    """You turn the features into probabilities between the two matrices. Features do not compete here: a ReLU lets each of them be
    present or absent by itself."""
    z = x @ W1
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    return z / z.sum(axis=-1, keepdims=True) @ W2


@question.misconception("a batch comes back as one table", costs=1)
def batch_flattened(x, W1, W2):
    """You lay the rows of a batch under each other and forget to undo it: the votes are right, but the axes in front of x are lost."""
    votes = np.maximum(0, x.reshape(-1, x.shape[-1]) @ W1) @ W2
    return votes[0] if x.ndim == 1 else votes


@question.alternative
def feed_forward_feature_by_feature(x, W1, W2):
    votes = np.zeros((*x.shape[:-1], W2.shape[1]))
    for column, row in zip(W1.T, W2, strict=True):
        strength = x @ column
        votes = votes + np.multiply(strength, strength > 0)[..., None] * row
    return votes


@question.alternative
def feed_forward_float32(x, W1, W2):
    x, W1, W2 = (np.asarray(part, dtype=np.float32) for part in (x, W1, W2))
    hidden = x @ W1
    return np.einsum("...f,fv->...v", hidden.clip(min=0), W2)
