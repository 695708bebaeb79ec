"""Lab 00, ``logsumexp``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import alternative, misconception


@misconception(
    "logsumexp", title="the largest score not taken out", keeps="right on paper; only large scores show it"
)
def naive_logsumexp(x, axis=-1):
    """Your formula is right on paper, but the exponential of a large score is infinite in the computer, and that of
    a very negative one is 0. Take the largest score out first, and add it again at the end."""
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(x), axis=axis))


@misconception(
    "logsumexp",
    title="one maximum for the whole table",
    keeps="right for scores of one size; only rows far apart show it",
)
def maximum_of_the_whole_table(x, axis=-1):
    """You take out the largest score of the whole table. A row whose scores are far below it loses all its
    exponentials to 0, and its logarithm becomes −∞. Each row (or column) needs its own maximum."""
    with np.errstate(all="ignore"):
        return x.max() + np.log(np.sum(np.exp(x - x.max()), axis=axis))


@misconception("logsumexp", title="the maximum not added again")
def maximum_not_added_again(x, axis=-1):
    """You take the largest score out of the sum but do not put it back: the result is off by exactly that
    score. The last step adds it to the logarithm."""
    return np.log(np.sum(np.exp(x - x.max(axis=axis, keepdims=True)), axis=axis))


@misconception("logsumexp", title="always along the last axis")
def always_the_last_axis(x, axis=-1):
    """Your function always sums along the last axis. It should use the axis that it is given, both for the
    maximum and for the sum."""
    m = x.max(axis=-1, keepdims=True)
    return (m + np.log(np.exp(x - m).sum(axis=-1, keepdims=True))).squeeze(-1)


@misconception("logsumexp", title="a mean instead of a sum")
def mean_instead_of_sum(x, axis=-1):
    """You average the exponentials. log-sum-exp adds them up: the difference is the logarithm of how many there
    are."""
    m = x.max(axis=axis, keepdims=True)
    return np.squeeze(m + np.log(np.exp(x - m).mean(axis=axis, keepdims=True)), axis=axis)


@misconception("logsumexp", title="the axis is kept")
def axis_kept(x, axis=-1):
    """Your numbers are right, but the summed axis is still there with length one. Take it out of the shape at the
    end: a table (2, 3) summed along axis 1 gives (2,), not (2, 1)."""
    m = x.max(axis=axis, keepdims=True)
    return m + np.log(np.exp(x - m).sum(axis=axis, keepdims=True))


@misconception("logsumexp", title="writes into its input")
def writes_into_its_input(x, axis=-1):
    """Your numbers are right, but afterwards the caller's array holds other values: an operation like -= writes
    into it. Make a new array instead."""
    m = x.max(axis=axis, keepdims=True)
    x -= m
    return np.squeeze(m + np.log(np.exp(x).sum(axis=axis, keepdims=True)), axis=axis)


@alternative("logsumexp")
def logsumexp_by_lines(x, axis=-1):
    def of_line(line):
        m = max(line)
        return m + math.log(sum(math.exp(v - m) for v in line))

    return np.apply_along_axis(of_line, axis, x)


@alternative("logsumexp")
def logsumexp_pair_by_pair(x, axis=-1):
    total, *rest = np.moveaxis(x, axis, 0)
    for part in rest:
        larger, smaller = np.maximum(total, part), np.minimum(total, part)
        gap = np.where(np.isinf(smaller), -np.inf, smaller - np.where(np.isinf(larger), 0, larger))
        total = larger + np.log1p(np.exp(gap))
    return total


@alternative("logsumexp")
def logsumexp_torch(x, axis=-1):
    import torch

    t = torch.from_numpy(np.ascontiguousarray(x))
    m = t.amax(dim=axis, keepdim=True)
    return (m + (t - m).exp().sum(dim=axis, keepdim=True).log()).squeeze(axis)


@alternative("logsumexp")
def logsumexp_float32(x, axis=-1):
    x = x.astype(np.float32)
    m = np.max(x, axis=axis)
    return m + np.log(np.exp(x - np.expand_dims(m, axis)).sum(axis=axis))
