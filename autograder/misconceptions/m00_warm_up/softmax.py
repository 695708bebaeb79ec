"""Lab 00, ``softmax``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import alternative, misconception


@misconception(
    "softmax", title="the largest score not taken out", keeps="right on paper; only large scores show it"
)
def naive_softmax(x, axis=-1):
    """Right on paper, but the exponential of a large score is infinite, and infinity divided by infinity is no number.
    Subtract the largest score of each row (or column) first: the fraction stays the same."""
    with np.errstate(all="ignore"):
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


@misconception("softmax", title="one sum for the whole table")
def sums_over_everything(x, axis=-1):
    """All your probabilities together add up to one. Each row (or column) is a bet of its own: it should add up to
    one along the axis that is given."""
    values = np.exp(x - x.max())
    return values / values.sum()


@misconception(
    "softmax",
    title="one maximum for the whole table",
    keeps="right for scores of one size; only rows far apart show it",
)
def softmax_with_one_maximum(x, axis=-1):
    """You subtract the largest score of the whole table. A row whose scores are far below it becomes 0 divided by 0.
    Subtract the largest score of each row (or column)."""
    with np.errstate(all="ignore"):
        values = np.exp(x - x.max())
        return values / values.sum(axis=axis, keepdims=True)


@misconception(
    "softmax",
    title="always along the last axis",
    keeps="right along the last axis, which is asked for nearly always",
)
def softmax_always_last(x, axis=-1):
    """Your probabilities add up to one along the last axis whatever axis is asked for. Use the axis that your function
    is given."""
    values = np.exp(x - x.max(axis=-1, keepdims=True))
    return values / values.sum(axis=-1, keepdims=True)


@misconception("softmax", title="no exponential")
def shares_without_exponential(x, axis=-1):
    """You divide the scores by their sum, without the exponential. Scores may be negative, and their sum may be zero:
    only the exponential makes them positive first."""
    with np.errstate(all="ignore"):
        return x / x.sum(axis=axis, keepdims=True)


@misconception("softmax", title="each score for itself")
def each_score_for_itself(x, axis=-1):
    """You squash each score by itself (that is a sigmoid). The values lie between 0 and 1, but they do not share one
    unit of probability: divide by the sum over all the words."""
    with np.errstate(all="ignore"):
        return 1 / (1 + np.exp(-x))


def _shares(x, axis):
    values = np.exp(x - x.max(axis=axis, keepdims=True))
    return values / values.sum(axis=axis, keepdims=True)


@misconception("softmax", title="as whole as the scores", keeps="right for scores that are fractions")
def as_whole_as_the_scores(x, axis=-1):
    """Where the scores are whole numbers your probabilities are cut to 0: np.zeros_like(x) holds what x holds. Fill an array of
    fractions, or none: the division makes one."""
    result = np.zeros_like(x)
    result[...] = _shares(x, axis)
    return result


@misconception("softmax", title="rounded to three decimals", keeps="right to three decimals")
def rounded_to_three_decimals(x, axis=-1):
    """Your probabilities are right, but rounded. Then they no longer add up to one, and a small one becomes 0. Round where you
    print, not in the function."""
    return _shares(x, axis).round(3)


@misconception("softmax", title="made for two axes", keeps="right for rows and tables")
def softmax_for_two_axes(x, axis=-1):
    """x.max(axis)[:, None] puts the lost axis back at place 1, which is the right place in a table only. keepdims=True leaves it
    where it was, with any number of axes."""
    if x.ndim == 1 or axis in (0, -x.ndim):
        return _shares(x, 0)
    values = np.exp(x - x.max(axis=axis)[:, None])
    return values / values.sum(axis=axis)[:, None]


@misconception(
    "softmax",
    title="the maximum only taken out above 700",
    keeps="right but for scores that are all very small",
)
def maximum_only_above_700(x, axis=-1):
    """You take the largest score out only where it is large. A row of very negative scores becomes 0 divided by 0 as well. Take it
    out always: the fraction stays the same."""
    with np.errstate(all="ignore"):
        values = np.exp(x - x.max(axis=axis, keepdims=True) if x.max() > 700 else x)
        return values / values.sum(axis=axis, keepdims=True)


@misconception("softmax", title="differences cut off", keeps="right to six decimals")
def differences_cut_off(x, axis=-1):
    """You cut the differences off below, so an impossible word gets a small probability. A score of −∞ gets exactly 0, and e^x does
    that by itself: a very negative exponent is no danger."""
    values = np.exp(np.clip(x - x.max(axis=axis, keepdims=True), -15, 0))
    return values / values.sum(axis=axis, keepdims=True)


@misconception("softmax", title="the first axis by default", keeps="right where the axis is named")
def softmax_first_axis_by_default(x, axis=0):
    """Without a name of an axis your function runs along the first. The question's head says axis=-1: the last one."""
    return _shares(x, axis)


@alternative("softmax")
def softmax_by_division(x, axis=-1):
    values = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return values / np.sum(values, axis=axis, keepdims=True)


@alternative("softmax")
def softmax_by_lines(x, axis=-1):
    def of_line(line):
        return [
            1 / sum(math.exp(min(other - v, 700)) for other in line) if v > -math.inf else 0.0 for v in line
        ]

    return np.apply_along_axis(of_line, axis, x).tolist()


@alternative("softmax")
def softmax_float32(x, axis=-1):
    moved = np.moveaxis(np.asarray(x, dtype=np.float32), axis, 0)
    values = np.exp(moved - moved.max(axis=0))
    return np.moveaxis(values / values.sum(axis=0), 0, axis)


@alternative("softmax")
def softmax_float32_on_the_way(x, axis=-1):
    x = x.astype(np.float32)
    m = x.max(axis=axis, keepdims=True)
    total = m + np.log(np.exp(x - m).sum(axis=axis, keepdims=True))
    return np.exp(x - total).astype(np.float64)
