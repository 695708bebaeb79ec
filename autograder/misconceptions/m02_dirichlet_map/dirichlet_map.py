"""Lab 02, ``dirichlet_map``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m02_dirichlet_map.common import _shares, reference
from autograder.testing import alternative, misconception


@misconception("dirichlet_map", title="α where α − 1 belongs")
def alpha_for_alpha_minus_one(N, alpha):
    """You add α to each count; that is the posterior *mean*. The most believable point adds α − 1, because the
    exponents of the Dirichlet distribution are α − 1."""
    return _shares(N + np.asarray(alpha, dtype=float))


@misconception("dirichlet_map", title="the pseudo-count is counted once below the line")
def one_pseudo_count_below(N, alpha):
    """Your rows sum to more than one: every one of the V outcomes gains α − 1 above the line, so the sum below
    must gain all V of them."""
    gain = np.asarray(alpha, dtype=float) - 1
    below = N.sum(axis=-1, keepdims=True) + gain + 0 * N
    return np.divide(N + gain, below, out=np.zeros(N.shape), where=below > 0)


@misconception("dirichlet_map", title="the sum below the line is of the counts only")
def nothing_below(N, alpha):
    """Your rows sum to more than one: you add to the counts but still divide by the sum of the bare counts.
    Divide by the sum of what stands above the line."""
    below = N.sum(axis=-1, keepdims=True)
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    return np.divide(weight, below, out=np.zeros(N.shape), where=below > 0)


@misconception(
    "dirichlet_map",
    title="a row without counts becomes nan when counting",
    keeps="right but for one special case that the text pins",
)
def empty_row_nan(N, alpha):
    """With α = 1 a row without counts became nan, from 0/0. Divide only where the sum is above zero; such a row
    stays zero."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    with np.errstate(all="ignore"):
        return weight / weight.sum(axis=-1, keepdims=True)


@misconception(
    "dirichlet_map",
    title="a row without counts is even when counting",
    keeps="right but for one special case that the text pins",
)
def empty_row_even(N, alpha):
    """With α = 1 a row without counts became even. The flat prior has no most believable row there; the lab
    pins a row of zeros, as in lab 01. (The mean is even, and says so honestly.)"""
    P = reference.dirichlet_map(N, alpha)
    return np.where(P.sum(axis=-1, keepdims=True) > 0, P, 1 / P.shape[-1])


@misconception("dirichlet_map", title="the first axis is normalised")
def first_axis_normalised(N, alpha):
    """Your result sums to one down the first axis. The outcomes lie on the last axis, so each row along it is
    divided by its own sum."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    total = weight.sum(axis=0, keepdims=True)
    return np.divide(weight, total, out=np.zeros(N.shape), where=total > 0)


@misconception("dirichlet_map", title="only the zeros are filled up")
def zeros_filled_up(N, alpha):
    """You add only where the count is zero. The prior adds to *every* outcome; otherwise one that was seen once
    ends up behind one that was never seen."""
    return _shares(N + np.where(N == 0, np.asarray(alpha, dtype=float) - 1, 0.0))


@misconception(
    "dirichlet_map",
    title="the second axis is normalised",
    keeps="right for tables, wrong for other numbers of axes",
)
def second_axis_normalised(N, alpha):
    """Your sum runs over axis 1, which is the last one in a table only. A single row has no such axis, and with three the
    outcomes lie on another: the last axis is axis=-1, however many there are."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    total = weight.sum(axis=1, keepdims=True)
    return np.divide(weight, total, out=np.zeros(N.shape), where=total > 0)


@misconception(
    "dirichlet_map",
    title="V times α − 1 below the line",
    keeps="right for one knob, wrong for a knob for each outcome",
)
def one_knob_for_all_below(N, alpha):
    """With one α for all your rows are right, with a knob for each outcome they do not sum to one: V·(α − 1) below the
    line is the sum of the knobs only when all are the same. Divide by the sum of what stands above the line."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    total = N.sum(axis=-1, keepdims=True) + N.shape[-1] * (np.asarray(alpha, dtype=float) - 1) + 0 * weight
    return np.divide(weight, total, out=np.zeros(weight.shape), where=total > 0)


@misconception(
    "dirichlet_map",
    title="the counts are changed in place",
    keeps="the values are right; the argument is changed",
)
def map_in_place(N, alpha):
    """Your probabilities are right, but your function writes into the counts that it was given, and whoever passed them finds
    others afterwards. N += … changes a float array in place, and np.asarray makes no copy of one: write N = N + …"""
    weight = np.asarray(N, dtype=float)
    weight += np.asarray(alpha, dtype=float) - 1
    return _shares(weight)


@misconception(
    "dirichlet_map",
    title="a row without counts stays zero whatever α is",
    keeps="only rows without counts are wrong",
)
def empty_rows_always_zero(N, alpha):
    """Your rows without counts stay zero for every α. They do with α = 1 only, where nothing stands above the line; with a larger α they
    gain α − 1 as all rows do, and come out even."""
    return np.where(N.sum(axis=-1, keepdims=True) > 0, reference.dirichlet_map(N, alpha), 0.0)


@misconception(
    "dirichlet_map",
    title="the sum below the line is at least 1",
    keeps="only rows that gain less than 1 and have no counts are wrong",
)
def map_over_at_least_one(N, alpha):
    """You divide by 1 where the sum of a row is smaller, against a division by zero. But the sum may lie between 0 and 1: a row without
    counts and α = 1.1. Only a sum of exactly 0 is a case of its own."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    return weight / np.maximum(weight.sum(axis=-1, keepdims=True), 1)


@misconception(
    "dirichlet_map",
    title="the sums meet other rows in three dimensions",
    keeps="right for rows and tables, wrong for three axes",
)
def map_transposed_sums(N, alpha):
    """Rows and tables come out right, three axes do not: .T turns *all* axes around, so that the sums of other rows stand below the line.
    Keep the axis of the sum instead: keepdims=True."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    total = weight.sum(axis=-1)
    return (weight.T / np.where(total > 0, total, 1.0)).T


@misconception(
    "dirichlet_map",
    title="an array of whole numbers for the result",
    keeps="right for counts that are floats",
)
def map_into_whole_numbers(N, alpha):
    """The array for your result is made like N, and so has room for whole numbers only when the counts are whole. Probabilities are not:
    np.zeros(N.shape), or np.zeros_like(N, dtype=float)."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    total = weight.sum(axis=-1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(N), where=total > 0)


@misconception(
    "dirichlet_map",
    title="the knobs of all rows are summed below the line",
    keeps="right for one knob and for a knob for each outcome",
)
def map_sums_all_knobs(N, alpha):
    """With a knob for each cell your rows do not sum to one: below the line you add the knobs of *all* rows. A row has its own; divide by
    the sum of what stands above the line."""
    gain = np.asarray(alpha, dtype=float) - 1
    total = N.sum(axis=-1, keepdims=True) + (gain.sum() if gain.ndim else gain * N.shape[-1])
    return np.divide(N + gain, total, out=np.zeros(N.shape), where=total > 0)


@misconception(
    "dirichlet_map",
    title="an array of α is compared with 1",
    keeps="right for one knob; with several it raises an error",
)
def map_asks_whether_alpha_is_one(N, alpha):
    """With an array of α your function fails at `if alpha == 1`: that is an answer for each knob, not one for all. No such case is needed,
    as α = 1 adds α − 1 = 0; only a row whose sum is 0 is a case of its own."""
    if alpha == 1:
        total = N.sum(axis=-1, keepdims=True)
        return N / np.where(total > 0, total, 1)
    return reference.dirichlet_map(N, alpha)


@alternative("dirichlet_map")
def map_by_shifted_mean(N, alpha):
    extra = np.broadcast_to(np.asarray(alpha, dtype=np.float64), np.shape(N)) - 1.0
    n = np.einsum("...v->...", N) + extra.sum(-1)
    return ((N + extra).T / np.where(n == 0, 1, n).T).T


@alternative("dirichlet_map")
def map_in_float32_torch(N, alpha):
    import torch

    weight = (
        torch.tensor(np.array(N, dtype=np.float32)) + torch.tensor(np.asarray(alpha, dtype=np.float32)) - 1
    )
    return weight / weight.sum(-1, keepdim=True).clamp(min=1e-20)


@alternative("dirichlet_map")
def map_row_after_row(N, alpha):
    def one(row, a):
        above = [float(n) + float(x) - 1 for n, x in zip(row, a, strict=True)]
        return [w / sum(above) if sum(above) else 0.0 for w in above]

    V = N.shape[-1]
    knobs = np.broadcast_to(alpha, N.shape).reshape(-1, V)
    return np.reshape([one(row, a) for row, a in zip(N.reshape(-1, V), knobs, strict=True)], N.shape)
