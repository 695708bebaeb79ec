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


@misconception(
    "feed_forward", title="the largest of all rows instead of a ReLU", keeps="right for a single row"
)
def largest_of_the_rows(x, W1, W2):
    """For several rows you take the largest value of each column, one for all rows together: that is np.max(z, 0), where 0 is an axis. The ReLU
    compares each number with zero: np.maximum(z, 0)."""
    z = x @ W1
    return (np.max(z, 0) if z.ndim > 1 else np.maximum(z, 0)) @ W2


@misconception("feed_forward", title="a batch comes back as one table", keeps="right for up to two axes")
def batch_flattened(x, W1, W2):
    """You lay the rows of a batch under each other and forget to undo it: the votes are right, but the axes in front of x are lost."""
    votes = np.maximum(0, x.reshape(-1, x.shape[-1]) @ W1) @ W2
    return votes[0] if x.ndim == 1 else votes


@misconception("feed_forward", title="features below one are lost", keeps="right for features of 1 and more")
def small_features_lost(x, W1, W2):
    """You set features below 1 to zero. The ReLU cuts at 0: a feature of one half is half there, and counts half."""
    z = x @ W1
    return np.where(z >= 1, z, 0) @ W2


@misconception(
    "feed_forward", title="features cut to whole numbers", keeps="right unless W2 holds whole numbers"
)
def features_cut_to_whole_numbers(x, W1, W2):
    """Where W2 holds whole numbers, your features become whole numbers as well, and fractions are lost. Leave them as the ReLU gives
    them."""
    return np.maximum(0, x @ W1).astype(W2.dtype) @ W2


@misconception(
    "feed_forward", title="x added to the votes", keeps="right where votes and x have different shapes"
)
def x_added_to_the_votes(x, W1, W2):
    """Where the shapes agree you add x to the votes. A transformer does that around this layer, with a sum of its own; the layer itself
    returns what comes out of the second matrix."""
    votes = np.maximum(0, x @ W1) @ W2
    return votes + x if votes.shape == x.shape else votes


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
