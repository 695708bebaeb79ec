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


@misconception(
    "logsumexp",
    title="always along the last axis",
    keeps="right along the last axis, which is asked for nearly always",
)
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


@misconception("logsumexp", title="writes into its input", keeps="the values are right")
def writes_into_its_input(x, axis=-1):
    """Your numbers are right, but afterwards the caller's array holds other values: an operation like -= writes
    into it. Make a new array instead."""
    m = x.max(axis=axis, keepdims=True)
    x -= m
    return np.squeeze(m + np.log(np.exp(x).sum(axis=axis, keepdims=True)), axis=axis)


def _taken_out(x, axis, largest):
    """log-sum-exp with something else than the largest score taken out of each line."""
    m = largest(x, axis=axis, keepdims=True)
    with np.errstate(all="ignore"):
        return np.squeeze(m, axis=axis) + np.log(np.exp(x - m).sum(axis=axis))


@misconception("logsumexp", title="the mean taken out", keeps="right for rows whose scores are of one size")
def mean_taken_out(x, axis=-1):
    """You take out the mean of each row. Then a score far above the mean still overflows, and one of −∞ makes the mean −∞. Only the
    *largest* score leaves no exponent above 0."""
    return _taken_out(x, axis, np.mean)


@misconception(
    "logsumexp", title="the smallest score taken out", keeps="right for rows whose scores are of one size"
)
def smallest_taken_out(x, axis=-1):
    """You take out the smallest score of each row. Then all exponents are positive, and a large one overflows. Take out the
    *largest*: then none is above 0."""
    return _taken_out(x, axis, np.min)


@misconception(
    "logsumexp",
    title="the largest absolute value taken out",
    keeps="right where the largest score is positive",
)
def largest_absolute_taken_out(x, axis=-1):
    """You take out the largest absolute value of each row. In a row of very negative scores that is far above all of them: every
    exponential becomes 0, and the logarithm −∞. Take out the largest score itself, with its sign."""
    return _taken_out(np.asarray(x), axis, lambda x, **named: np.abs(x).max(**named))


@misconception("logsumexp", title="−∞ counted as 0", keeps="right for finite scores")
def impossible_counted_as_zero(x, axis=-1):
    """You replace a score of −∞ by 0. Then it adds e⁰ = 1, and an impossible word counts like another. e^−∞ is 0 by itself: leave it
    as it is."""
    x = np.where(np.isneginf(x), 0, x)
    return _taken_out(x, axis, np.max)


@misconception("logsumexp", title="−∞ replaced in the caller's array", keeps="the values are right")
def impossible_replaced_in_place(x, axis=-1):
    """Your numbers are right, but afterwards the caller's scores of −∞ are gone: x[…] = … writes into the array that you were given.
    It is not needed either: e^−∞ is 0 by itself."""
    x[np.isneginf(x)] = -1e9
    return _taken_out(x, axis, np.max)


@misconception("logsumexp", title="made for two axes", keeps="right for rows and tables")
def made_for_two_axes(x, axis=-1):
    """With three axes you sum over two of them at once: a loop over the first axis meets tables there, not rows. Let NumPy find
    the axis, with axis=axis in max and sum."""
    lines = [x] if x.ndim == 1 else x.T if axis in (0, -2) else x
    values = [line.max() + np.log(np.exp(line - line.max()).sum()) for line in lines]
    return values[0] if x.ndim == 1 else np.array(values)


@misconception("logsumexp", title="the first axis by default", keeps="right where the axis is named")
def first_axis_by_default(x, axis=0):
    """Without a name of an axis your function sums along the first. The question's head says axis=-1: the last one."""
    return _taken_out(x, axis, np.max)


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


@alternative("logsumexp")
def logsumexp_float32_on_the_way(x, axis=-1):
    x = x.astype(np.float32)
    m = x.max(axis=axis, keepdims=True)
    return (m + np.log(np.exp(x - m).sum(axis=axis, keepdims=True))).squeeze(axis).astype(np.float64)
