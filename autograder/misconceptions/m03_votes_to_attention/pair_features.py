"""Lab 03, ``pair_features``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("pair_features", title="no ReLU")
def no_relu(x, W):
    """Negative values are still there. A feature is present or it is not: the ReLU replaces everything below zero
    by 0."""
    return x @ W


@misconception("pair_features", title="the sign dropped instead of the value")
def absolute_value(x, W):
    """A value of −1 becomes 1 in your result, so an absent pair looks present. Negative values become 0; they do not just lose
    their sign."""
    return np.abs(x @ W)


@misconception("pair_features", title="cut off at one as well")
def cut_off_at_one(x, W):
    """You cut large values off at 1. The ReLU leaves everything above zero as it is."""
    return np.clip(x @ W, 0, 1)


@misconception("pair_features", title="only present or absent")
def yes_or_no(x, W):
    """You return 1 for every positive value. The ReLU keeps the value itself: a step from 0 to 1 has no slope, and what has no
    slope cannot be learned."""
    return (x @ W > 0).astype(float)


@misconception("pair_features", title="the bias left out")
def bias_left_out(x, W):
    """You leave the last entry of x out of the product. It is the bias: without it one word alone is enough to light a pair."""
    return np.maximum(0, x[..., :-1] @ W[:-1])


@misconception("pair_features", title="negative inputs removed before the product")
def relu_too_early(x, W):
    """You remove negative values of the input. The ReLU works on the product of x and W: first multiply, then cut."""
    return np.maximum(0, x) @ W


@misconception("pair_features", title="the last entry of x replaced by 1", keeps="right where it is 1")
def bias_set_to_one(x, W):
    """You write a 1 over the last entry of x. The bias is in place already: take x as it is."""
    return np.maximum(0, x[..., :-1] @ W[:-1] + W[-1])


@misconception("pair_features", title="a leaky ReLU")
def leaky(x, W):
    """A hundredth of each negative value is left in your features. That is another function, the leaky ReLU; here negative values become
    0."""
    z = x @ W
    return np.where(z > 0, z, 0.01 * z)


@misconception("pair_features", title="for one row or a table only", keeps="right for up to two axes")
def rows_only(x, W):
    """Your product fits a single row and a table of rows, and ends in an error for a batch of tables. Any number of axes may stand in front
    of the last: `x @ W` takes them all."""
    return np.maximum(0, np.dot(W.T, x.T).T)


@misconception("pair_features", title="features rounded", keeps="right to the first decimal")
def features_rounded(x, W):
    """You round the features to one decimal. Positive values stay as they are."""
    return np.maximum(0, x @ W).round(1)


@misconception("pair_features", title="cut off at six as well", keeps="right for values up to 6")
def cut_off_at_six(x, W):
    """You cut large values off at 6. That is another function, ReLU6; here everything above zero stays as it is."""
    return np.clip(x @ W, 0, 6)


@misconception("pair_features", title="the ReLU before the sum")
def relu_before_the_sum(x, W):
    """You remove negative numbers from the single products, before they are added up. What speaks against a pair must be able to
    outweigh what speaks for it: first the sum, then the ReLU."""
    return np.maximum(0, x[..., None] * W).sum(axis=-2)


@alternative("pair_features")
def features_by_where(x, W):
    z = np.einsum("...d,df->...f", x, W)
    return np.where(z < 0, 0, z)


@alternative("pair_features")
def features_by_half_the_absolute_value(x, W):
    z = np.tensordot(x, W, axes=1)
    return (z + abs(z)) / 2


@alternative("pair_features")
def features_in_torch_float32(x, W):
    import torch

    return (torch.tensor(x, dtype=torch.float32) @ torch.tensor(W.copy(), dtype=torch.float32)).clamp(min=0)
