"""Lab 02, ``dirichlet_mean``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m02_dirichlet_map.common import _shares, reference
from autograder.testing import alternative, misconception


@misconception("dirichlet_mean", title="α − 1 where α belongs")
def alpha_minus_one_for_alpha(N, alpha):
    """You add α − 1 to each count; that is the most believable point, the MAP. The mean over all believable
    rows adds α itself, and that is why it also works for α below one."""
    return _shares(N + np.asarray(alpha, dtype=float) - 1)


@misconception("dirichlet_mean", title="α is counted once below the line")
def one_alpha_below(N, alpha):
    """Your rows sum to more than one: all V outcomes gain α above the line, so V·α joins the sum below."""
    gain = np.asarray(alpha, dtype=float)
    return (N + gain) / (N.sum(axis=-1, keepdims=True) + gain)


@misconception("dirichlet_mean", title="α counts for the outcomes that were seen")
def alpha_for_seen_outcomes_below(N, alpha):
    """Below the line you add α only for the outcomes of the row that were seen. The prior speaks of all V of
    them; with the others left out the rows sum to more than one."""
    gain = np.broadcast_to(np.asarray(alpha, dtype=float), N.shape)
    below = (N + np.where(N > 0, gain, 0)).sum(axis=-1, keepdims=True)
    return np.divide(N + gain, below, out=np.full(N.shape, 1 / N.shape[-1]), where=below > 0)


@misconception("dirichlet_mean", title="only the zeros get α")
def only_zeros_get_alpha(N, alpha):
    """You add α only where the count is zero. The prior adds to every outcome; otherwise, with α = 2, an outcome
    seen once would be less likely than one never seen."""
    return _shares(N + np.where(N == 0, np.asarray(alpha, dtype=float), 0.0))


@misconception("dirichlet_mean", title="the first axis is summed")
def mean_over_the_first_axis(N, alpha):
    """Your result sums to one down the first axis. The outcomes lie on the last axis."""
    weight = N + np.asarray(alpha, dtype=float)
    return weight / weight.sum(axis=0, keepdims=True)


@misconception("dirichlet_mean", title="the whole table is divided by its sum")
def mean_of_the_whole_table(N, alpha):
    """Your whole table sums to one. Every context has a row of its own that sums to one: keep the sum over the
    last axis, with keepdims."""
    weight = N + np.asarray(alpha, dtype=float)
    return weight / weight.sum()


@misconception("dirichlet_mean", title="α is added to the probabilities")
def alpha_added_to_probabilities(N, alpha):
    """You divide first and add α afterwards, so a row seen a thousand times is smoothed as much as one seen once.
    α is a number of imagined observations: add it to the counts."""
    return _shares(_shares(np.asarray(N, dtype=float)) + np.asarray(alpha, dtype=float))


@misconception("dirichlet_mean", title="27 outcomes below the line, however many there are")
def always_27_outcomes(N, alpha):
    """Below the line you add 27·α, so only tables of 27 letters come out right. How many outcomes there are, the last axis
    says: N.shape[-1]; better still, divide by the sum of what stands above the line."""
    return (N + alpha) / (N.sum(axis=-1, keepdims=True) + 27 * np.asarray(alpha, dtype=float))


@misconception("dirichlet_mean", title="the rows are counted for the outcomes")
def rows_for_outcomes(N, alpha):
    """Below the line you add α once for each row, N.shape[0] times. It is right for square tables only: every row gains α once
    for each outcome, and these lie on the last axis."""
    return (N + alpha) / (N.sum(axis=-1, keepdims=True) + N.shape[0] * np.asarray(alpha, dtype=float))


@misconception(
    "dirichlet_mean", title="a row without counts stays zero", keeps="only rows without counts are wrong"
)
def empty_rows_stay_zero(N, alpha):
    """Your rows without counts stay zero. That is the rule of the MAP with α = 1; the mean adds α there as everywhere, so
    such a row is even."""
    return np.where(N.sum(axis=-1, keepdims=True) > 0, _shares(N + np.asarray(alpha, dtype=float)), 0.0)


@misconception(
    "dirichlet_mean",
    title="V·α below the line",
    keeps="right for one knob, wrong for a knob for each outcome",
)
def mean_one_knob_for_all_below(N, alpha):
    """With one α for all your rows are right, with an array of α they do not sum to one: V·α is the sum of the knobs only when all are
    the same. Divide by the sum of what stands above the line."""
    alpha = np.asarray(alpha, dtype=float)
    return (N + alpha) / (N.sum(axis=-1, keepdims=True) + N.shape[-1] * alpha)


@misconception(
    "dirichlet_mean",
    title="the knobs of all rows are summed below the line",
    keeps="right for one knob and for a knob for each outcome",
)
def mean_sums_all_knobs(N, alpha):
    """With a knob for each cell your rows do not sum to one: below the line you add the knobs of *all* rows. A row has its own; divide by
    the sum of what stands above the line."""
    alpha = np.asarray(alpha, dtype=float)
    return (N + alpha) / (
        N.sum(axis=-1, keepdims=True) + (alpha.sum() if alpha.ndim else alpha * N.shape[-1])
    )


@misconception(
    "dirichlet_mean",
    title="the sum below the line is at least 1",
    keeps="only rows without counts are wrong, and only with a small α",
)
def mean_over_at_least_one(N, alpha):
    """You divide by 1 where the sum of a row is smaller, against a division by zero. But it is never 0, as every α is above 0; and a row
    without counts and a small α has a sum between 0 and 1."""
    weight = N + np.asarray(alpha, dtype=float)
    return weight / np.maximum(weight.sum(axis=-1, keepdims=True), 1)


@misconception("dirichlet_mean", title="a small α is made larger", keeps="right unless α is small")
def mean_with_a_lowest_alpha(N, alpha):
    """A small α is made larger by your function, to 0.01 or so. Every α above 0 is meant as it stands: it makes nothing
    impossible."""
    return reference.dirichlet_mean(N, np.maximum(alpha, 0.01))


@misconception(
    "dirichlet_mean",
    title="the counts are changed in place",
    keeps="the values are right; the argument is changed",
)
def mean_in_place(N, alpha):
    """Your probabilities are right, but your function writes into the counts that it was given, and whoever passed them finds
    others afterwards. N += … changes a float array in place, and np.asarray makes no copy of one: write N = N + …"""
    weight = np.asarray(N, dtype=float)
    weight += alpha
    return _shares(weight)


@misconception(
    "dirichlet_mean", title="a single row gets a second axis", keeps="the values are right; one shape is not"
)
def single_row_as_a_table(N, alpha):
    """A single row (V,) comes back as a table (1, V). The result has the shape of N; axis=-1 is the last axis of a single row,
    too, so nothing need be added."""
    return np.atleast_2d(reference.dirichlet_mean(N, alpha))


@alternative("dirichlet_mean")
def mean_as_shrinkage(N, alpha):
    a = np.broadcast_to(np.asarray(alpha, dtype=float), N.shape)
    n, strength = N.sum(-1, keepdims=True), a.sum(-1, keepdims=True)
    own = np.divide(N, n, out=np.zeros(N.shape), where=n > 0)
    return (n * own + strength * (a / strength)) / (n + strength)


@alternative("dirichlet_mean")
def mean_as_map_of_one_more(N, alpha):
    return reference.dirichlet_map(N, np.asarray(alpha) + 1.0)


@alternative("dirichlet_mean")
def mean_in_float32(N, alpha):
    weight = np.asarray(N, dtype=np.float32) + np.asarray(alpha, dtype=np.float32)
    return weight / np.sum(weight, axis=-1)[..., None]
