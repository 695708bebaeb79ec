"""Lab 03, ``feed_forward``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("feed_forward", title="no ReLU between the matrices")
def two_matrices_without_relu(x, W1, W2):
    """You multiply by both matrices with nothing between them. Two products in a row are one product: without the ReLU the layer
    cannot tell a pair from the sum of two words."""
    return x @ W1 @ W2


@misconception("feed_forward", title="a second ReLU at the end")
def relu_at_the_end_too(x, W1, W2):
    """You cut off negative votes. There is one ReLU, between the matrices; a feature may well vote against a word."""
    return np.maximum(0, np.maximum(0, x @ W1) @ W2)


@misconception("feed_forward", title="the ReLU only at the end")
def relu_only_at_the_end(x, W1, W2):
    """The ReLU comes after both matrices. It belongs between them, on the features, not on the votes."""
    return np.maximum(0, x @ W1 @ W2)


@misconception("feed_forward", title="the features are passed on instead of the votes")
def only_the_features(x, W1, W2):
    """You return the features. One more product is missing, which turns features into votes."""
    return np.maximum(0, x @ W1)


@misconception("feed_forward", title="features as shares")
def softmax_between(x, W1, W2):
    """You turn the features into probabilities between the two matrices. Features do not compete here: a ReLU lets each of them be
    present or absent by itself."""
    z = x @ W1
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    return z / z.sum(axis=-1, keepdims=True) @ W2


@alternative("feed_forward")
def feed_forward_feature_by_feature(x, W1, W2):
    votes = np.zeros((*x.shape[:-1], W2.shape[1]))
    for column, row in zip(W1.T, W2, strict=True):
        strength = x @ column
        votes = votes + np.multiply(strength, strength > 0)[..., None] * row
    return votes


@alternative("feed_forward")
def feed_forward_float32(x, W1, W2):
    x, W1, W2 = (np.asarray(part, dtype=np.float32) for part in (x, W1, W2))
    hidden = x @ W1
    return np.einsum("...f,fv->...v", hidden.clip(min=0), W2)
