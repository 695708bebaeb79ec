"""Lab 02, Dirichlet priors: named wrong answers with their hints, and correct answers in other styles."""

from __future__ import annotations

import numpy as np

from autograder.answers import alternative, misconception
from autograder.masters import master

reference = master("02_dirichlet_map")


def _shares(weight):
    """Each row by its own sum along the last axis; 0/0 stays 0."""
    total = weight.sum(axis=-1, keepdims=True)
    return np.divide(weight, total, out=np.zeros(weight.shape), where=total != 0)


# ---------------------------------------------------------------------------------------------- beta_posterior


@misconception("beta_posterior", title="the prior is forgotten in the mode")
def mode_without_prior(k, n, a, b):
    """Your mode is k/n, which is plain counting: the prior has no say in it. Use the posterior's knobs a' and
    b', where prior and tosses are added up already."""
    a_new, b_new, _, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, k / n if n else 0.5, mean


@misconception("beta_posterior", title="all tosses are added to b")
def all_tosses_added_to_b(k, n, a, b):
    """Your b grows by all n tosses. Only the tails belong there, n − k of them; the heads went to a."""
    return reference.beta_posterior(k, n + k, a, b)


@misconception("beta_posterior", title="heads and tails are exchanged")
def heads_and_tails_exchanged(k, n, a, b):
    """Your heads are added to b and your tails to a. In q^(a−1)·(1−q)^(b−1) the knob a belongs to heads."""
    return reference.beta_posterior(n - k, n, a, b)


@misconception("beta_posterior", title="the mean is given for the mode")
def mean_for_the_mode(k, n, a, b):
    """Your mode equals your mean. The highest point of the curve has a minus one in each exponent, so it is
    (a' − 1)/(a' + b' − 2)."""
    a_new, b_new, _, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mean, mean


@misconception("beta_posterior", title="mode and mean are exchanged")
def mode_and_mean_exchanged(k, n, a, b):
    """Your third number is the mean and your fourth the mode. The order is a_new, b_new, mode, mean."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mean, mode


@misconception("beta_posterior", title="the minus one is taken twice")
def minus_one_twice(k, n, a, b):
    """Your a' and b' are one too small: they are the exponents of q and 1 − q, not the knobs. The knobs are
    a + k and b + n − k, and the minus one appears only when you look for the top."""
    _, _, mode, mean = reference.beta_posterior(k, n, a, b)
    return a + k - 1, b + n - k - 1, mode, mean


@misconception("beta_posterior", title="the mode's denominator lacks a minus one")
def mode_over_one_less(k, n, a, b):
    """Your mode has a' + b' − 1 below the line. Both exponents lose one, so it is a' + b' − 2."""
    a_new, b_new, _, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, (a_new - 1) / (a_new + b_new - 1), mean


@misconception("beta_posterior", title="a flat posterior has the mode nan")
def flat_mode_is_nan(k, n, a, b):
    """With a flat prior and no tosses your mode is nan, from 0/0. The flat curve has no highest point; the lab
    pins 0.5 for this one case."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mode if a_new + b_new > 2 else float("nan"), mean


@alternative("beta_posterior")
def as_an_array(k, n, a, b):
    knobs = np.add([a, b], [k, n - k], dtype=float)
    top = np.maximum(knobs - 1, 0)
    mode = top[0] / top.sum() if top.sum() else 0.5
    return np.array([*knobs, mode, knobs[0] / knobs.sum()])


@alternative("beta_posterior")
def in_float32_tensors(k, n, a, b):
    import torch

    heads, tails = torch.tensor(float(k + a)), torch.tensor(float(n - k + b))
    mode = torch.nan_to_num((heads - 1) / (heads - 1 + tails - 1), nan=0.5)
    return [heads, tails, mode, heads / (heads + tails)]


# ----------------------------------------------------------------------------------------------- dirichlet_map


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
    below = N.sum(axis=-1, keepdims=True) + gain.max()
    return np.divide(N + gain, below, out=np.zeros(N.shape), where=below > 0)


@misconception("dirichlet_map", title="the sum below the line is of the counts only")
def nothing_below(N, alpha):
    """Your rows sum to more than one: you add to the counts but still divide by the sum of the bare counts.
    Divide by the sum of what stands above the line."""
    below = N.sum(axis=-1, keepdims=True)
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    return np.divide(weight, below, out=np.zeros(N.shape), where=below > 0)


@misconception("dirichlet_map", title="a row without counts becomes nan when counting")
def empty_row_nan(N, alpha):
    """With α = 1 a row without counts became nan, from 0/0. Divide only where the sum is above zero; such a row
    stays zero."""
    weight = N + (np.asarray(alpha, dtype=float) - 1)
    with np.errstate(all="ignore"):
        return weight / weight.sum(axis=-1, keepdims=True)


@misconception("dirichlet_map", title="a row without counts is even when counting")
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


# ---------------------------------------------------------------------------------------------- dirichlet_mean


@misconception("dirichlet_mean", title="α − 1 where α belongs")
def alpha_minus_one_for_alpha(N, alpha):
    """You add α − 1 to each count; that is the most believable point, the MAP. The mean over all believable
    rows adds α itself, and that is why it also works for α below one."""
    return _shares(N + np.asarray(alpha, dtype=float) - 1)


@misconception("dirichlet_mean", title="α is counted once below the line")
def one_alpha_below(N, alpha):
    """Your rows sum to more than one: all V outcomes gain α above the line, so V·α joins the sum below."""
    gain = np.asarray(alpha, dtype=float)
    return (N + gain) / (N.sum(axis=-1, keepdims=True) + gain.max())


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


# ------------------------------------------------------------------------------------------------ choose_alpha


def _costs(train, dev, grid, cost=None, model=None):
    model = model or reference.dirichlet_mean
    cost = cost or (lambda P: -(dev * np.log(P)).sum() / dev.sum())
    with np.errstate(all="ignore"):
        return np.array([cost(model(train, alpha)) for alpha in grid])


def _pick(costs, grid):
    return grid[int(np.argmin(costs))], costs


@misconception("choose_alpha", title="judged on what it learned from")
def judged_on_train(train, dev, grid):
    """Your costs are measured on the counts that the model learned from. There the smallest α always wins. Judge
    by dev, the names that were not seen."""
    return _pick(_costs(train, train, grid), grid)


@misconception("choose_alpha", title="the roles of train and dev are exchanged")
def roles_exchanged(train, dev, grid):
    """Your model is built from dev and judged on train. It learns from train and is judged on dev."""
    return _pick(_costs(dev, train, grid), grid)


@misconception("choose_alpha", title="the place in the grid instead of α")
def place_in_the_grid(train, dev, grid):
    """You return where in the grid the best α stands. Return the number that stands there."""
    costs = _costs(train, dev, grid)
    return int(np.argmin(costs)), costs


@misconception("choose_alpha", title="the highest cost wins")
def highest_cost_wins(train, dev, grid):
    """You return the α with the *highest* cost. The NLL measures surprise: less is better."""
    costs = _costs(train, dev, grid)
    return grid[int(np.argmax(costs))], costs


@misconception("choose_alpha", title="the sum instead of the average")
def summed_costs(train, dev, grid):
    """Your costs are sums over all tokens. Divide by the number of unseen tokens, dev.sum(), so that the cost
    compares between lists of different length."""
    return _pick(_costs(train, dev, grid, lambda P: -(dev * np.log(P)).sum()), grid)


@misconception("choose_alpha", title="the average runs over cells")
def averaged_over_cells(train, dev, grid):
    """Your average gives each cell of the table the same weight. A step that occurs a hundred times among the
    unseen names counts a hundred times: weigh −ln P by the counts of dev."""
    return _pick(_costs(train, dev, grid, lambda P: -np.log(P[dev > 0]).mean()), grid)


@misconception("choose_alpha", title="the average runs over rows")
def averaged_over_rows(train, dev, grid):
    """Your cost averages each row first and then the rows, so a rare context weighs as much as a frequent one.
    Sum over all cells, then divide once by dev.sum()."""

    def cost(P):
        n = dev.sum(axis=-1)
        return (-(dev * np.log(P)).sum(axis=-1)[n > 0] / n[n > 0]).mean()

    return _pick(_costs(train, dev, grid, cost), grid)


@misconception("choose_alpha", title="the sign of the costs")
def positive_log_likelihood(train, dev, grid):
    """Your costs are negative: they are log-likelihoods. Your choice is right, but the NLL has the opposite
    sign."""
    costs = _costs(train, dev, grid)
    return grid[int(np.argmin(costs))], -costs


@misconception("choose_alpha", title="α − 1 is added for α")
def chosen_for_the_map(train, dev, grid):
    """Your grid is read as the knobs of the MAP, which adds α − 1. The model to judge is dirichlet_mean."""

    def clipped(N, alpha):
        return _shares(np.maximum(N + alpha - 1.0, 1e-12))

    return _pick(_costs(train, dev, grid, model=clipped), grid)


@misconception("choose_alpha", title="the smallest of equally good numbers")
def smallest_of_equals(train, dev, grid):
    """When several numbers of the grid cost the same, you take the smallest of them. The text asks for the one that stands
    first in the grid; min(zip(costs, grid)) compares the second parts when the first are equal."""
    costs = _costs(train, dev, grid)
    return min(zip(costs, grid, strict=True))[1], costs


@misconception("choose_alpha", title="the last of equally good numbers")
def last_of_equals(train, dev, grid):
    """When several numbers of the grid cost the same, you take the last of them. The text asks for the first: a later
    number must be better, not just as good."""
    costs = _costs(train, dev, grid)
    return grid[max(i for i, cost in enumerate(costs) if cost <= min(costs))], costs


@alternative("choose_alpha")
def cell_by_cell(train, dev, grid):
    best, lowest, costs = None, float("inf"), []
    rows, judged = train.reshape(-1, train.shape[-1]), dev.reshape(-1, dev.shape[-1])
    for alpha in grid:
        cost = 0.0
        for i, j in zip(*np.nonzero(judged), strict=True):
            p = (rows[i, j] + alpha) / (rows[i].sum() + alpha * rows.shape[1])
            cost -= judged[i, j] * float(np.log(p))
        costs.append(cost / dev.sum())
        if costs[-1] < lowest:
            best, lowest = alpha, costs[-1]
    return [best, costs]


@alternative("choose_alpha")
def whole_grid_at_once_in_float32(train, dev, grid):
    alphas = np.asarray(grid, dtype=np.float32).reshape(-1, *[1] * train.ndim)
    weight = train.astype(np.float32)[None] + alphas
    log_p = np.log(weight) - np.log(weight.sum(-1, keepdims=True))
    costs = -np.tensordot(log_p, dev.astype(np.float32), axes=train.ndim) / np.float32(dev.sum())
    return np.float64(grid[costs.argmin()]), costs


# ------------------------------------------------------------------------------------------------- interpolate


@misconception("interpolate", title="a fixed mixture")
def fixed_mixture(counts, shorter, alpha):
    """You mix the two models in the same proportion everywhere. A context seen a thousand times deserves more
    trust than one seen once: add α·Q to the *counts* and then divide."""
    return (_shares(np.asarray(counts, dtype=float)) + alpha * shorter) / (1 + alpha)


@misconception("interpolate", title="the shorter model only steps in for rows never seen")
def back_off_for_empty_rows(counts, shorter, alpha):
    """You use the shorter model only where a context was never seen. A context seen once still rules out all but
    one successor then. Every row needs its α imagined observations."""
    seen = counts.sum(axis=-1, keepdims=True) > 0
    return np.where(seen, _shares(np.asarray(counts, dtype=float)), shorter)


@misconception("interpolate", title="the shorter model only fills the zeros")
def fills_the_zeros(counts, shorter, alpha):
    """You add α·Q only where the count is zero. The shorter model has something to say about every successor:
    add it everywhere."""
    return _shares(counts + np.where(counts == 0, alpha * shorter, 0.0))


@misconception("interpolate", title="the sum below the line forgets α")
def alpha_not_below(counts, shorter, alpha):
    """Your rows sum to more than one: α·Q joins above the line, and as Q sums to one, α must join below."""
    below = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts + alpha * shorter, below, out=counts * 0.0 + shorter, where=below > 0)


@misconception("interpolate", title="V·α joins below the line")
def alpha_for_every_outcome_below(counts, shorter, alpha):
    """Your rows sum to less than one: below the line you add α for each of the V outcomes. Q sums to one already,
    so α·Q adds α in all."""
    V = counts.shape[-1]
    return (counts + alpha * shorter) / (counts.sum(axis=-1, keepdims=True) + V * alpha)


@misconception("interpolate", title="the shorter model is left out")
def shorter_left_out(counts, shorter, alpha):
    """Your result does not depend on the shorter model: you add the same α to every outcome. Here the imagined
    observations follow the shorter model: α·Q."""
    return reference.dirichlet_mean(counts, alpha / counts.shape[-1])


@misconception("interpolate", title="the weights of the two models are exchanged")
def weights_exchanged(counts, shorter, alpha):
    """The more often a context was seen, the *less* your result listens to its own counts. The weights are
    exchanged: its own share is n/(n + α), the shorter model's α/(n + α)."""
    n = counts.sum(axis=-1, keepdims=True)
    return (alpha * _shares(np.asarray(counts, dtype=float)) + n * shorter) / (n + alpha)


@misconception("interpolate", title="the shorter model is matched to the wrong token")
def newest_token_forgotten(counts, shorter, alpha):
    """Your trigram rows meet the wrong bigram rows. The *older* of the two tokens is forgotten, and it lies on the
    first axis: NumPy's broadcasting matches the last axes by itself."""
    shorter = np.asarray(shorter)
    if counts.ndim == 3 and shorter.ndim == 2 and counts.shape[0] == counts.shape[1]:
        shorter = shorter[:, None, :]
    elif counts.ndim == 3 and shorter.ndim == 2:
        shorter = np.resize(shorter, (counts.shape[0], 1, counts.shape[2]))
    return reference.interpolate(counts, shorter, alpha)


@alternative("interpolate")
def as_a_dirichlet_mean(counts, shorter, alpha):
    return reference.dirichlet_mean(counts, alpha * np.asarray(shorter))


@alternative("interpolate")
def as_a_weighted_average(counts, shorter, alpha):
    n = counts.sum(-1, keepdims=True)
    trust = n / (n + alpha)
    return trust * counts / np.where(n > 0, n, 1) + (1 - trust) * shorter


@alternative("interpolate")
def loops_in_float32(counts, shorter, alpha):
    counts = np.array(counts, dtype=np.float32)
    shorter = np.broadcast_to(np.asarray(shorter, dtype=np.float32), counts.shape)
    for at in np.ndindex(counts.shape[:-1]):
        counts[at] = (counts[at] + np.float32(alpha) * shorter[at]) / (counts[at].sum() + np.float32(alpha))
    return counts


# -------------------------------------------------------------------------------------------------- pwm_scores


def _windows(sites, sequence, alpha, score, background=(0.25,) * 4, last=1):
    """``score`` turns (L,) probabilities of the window's letters and their background into a number."""
    N = np.array([[[site[j] for site in sites].count(a) for a in "ACGT"] for j in range(len(sites[0]))])
    P, L = (N + alpha) / (len(sites) + 4 * alpha), len(N)
    ids = ["ACGT".index(letter) for letter in sequence]
    starts = range(max(0, len(ids) - L + last))
    return np.array(
        [score(P[np.arange(L), ids[s : s + L]], np.array(background)[ids[s : s + L]]) for s in starts]
    )


@misconception("pwm_scores", title="no background")
def no_background(sites, sequence, alpha):
    """Your scores are the log-probability of a site alone, far below zero everywhere. Divide each probability by
    1/4, what even DNA would give it: only then does zero mean “no evidence either way”."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p).sum())


@misconception("pwm_scores", title="the sites' own letters as background")
def background_from_the_sites(sites, sequence, alpha):
    """Your background is how frequent the letters are among the sites. The other explanation is plain DNA, where
    this lab gives each letter 1/4."""
    joined = "".join(sites)
    background = [(joined.count(a) + 1) / (len(joined) + 4) for a in "ACGT"]
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).sum(), background)


@misconception("pwm_scores", title="the ratio without its logarithm")
def ratio_without_logarithm(sites, sequence, alpha):
    """Your scores are products of ratios, always positive. The score is their logarithm: a sum over positions,
    above zero for a site and below zero for the rest."""
    return _windows(sites, sequence, alpha, lambda p, b: np.prod(p / b))


@misconception("pwm_scores", title="scores in bits")
def scores_in_bits(sites, sequence, alpha):
    """Your scores are in bits, with the logarithm to base 2. The course measures in nats: np.log."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log2(p / b).sum())


@misconception("pwm_scores", title="the last window is missing")
def last_window_missing(sites, sequence, alpha):
    """Your result is one short: the window that ends with the last letter is missing. T − L + 1 windows fit."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).sum(), last=0)


@misconception("pwm_scores", title="α is counted once below the line in a column")
def pwm_alpha_once_below(sites, sequence, alpha):
    """Each column of your matrix sums to more than one: four letters gain α, so 4α joins the number of sites."""
    scale = (len(sites) + 4 * alpha) / (len(sites) + alpha)
    return _windows(sites, sequence, alpha, lambda p, b: np.log(scale * p / b).sum())


@misconception("pwm_scores", title="one distribution for all positions")
def one_distribution_for_all_positions(sites, sequence, alpha):
    """You use the same four probabilities at every position, so the order of the letters does not matter. Each
    column of the sites has a distribution of its own."""
    joined, L = "".join(sites), len(sites[0])
    P = {a: (joined.count(a) + alpha) / (len(joined) + 4 * alpha) for a in "ACGT"}
    single = np.array([np.log(P[letter] / 0.25) for letter in sequence])
    return np.array([single[s : s + L].sum() for s in range(len(sequence) - L + 1)])


@misconception("pwm_scores", title="repeated sites count once")
def repeated_sites_once(sites, sequence, alpha):
    """A site that stands in the list twice counts once in your matrix. The list says how often it was observed."""
    return reference.pwm_scores(sorted(set(sites)), sequence, alpha)


@misconception("pwm_scores", title="the average over the window")
def averaged_over_the_window(sites, sequence, alpha):
    """Your scores are averages over the window's positions. The evidence of the positions adds up: sum it."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).mean())


@alternative("pwm_scores")
def with_dictionaries_and_strings(sites, sequence, alpha):
    columns = ["".join(column) for column in zip(*sites, strict=True)]
    table = [{a: np.log(4 * (c.count(a) + alpha) / (len(c) + 4 * alpha)) for a in "ACGT"} for c in columns]
    L, T = len(columns), len(sequence)
    return [sum(table[j][sequence[s + j]] for j in range(L)) for s in range(max(T - L + 1, 0))]


@alternative("pwm_scores")
def as_a_correlation_of_one_hot_rows(sites, sequence, alpha):
    hot = np.array([[letter == a for a in "ACGT"] for letter in sequence], dtype=np.float32)
    N = sum(np.array([[letter == a for a in "ACGT"] for letter in site], dtype=np.float32) for site in sites)
    W = np.log((N + np.float32(alpha)) / np.float32(len(sites) + 4 * alpha)) + np.float32(np.log(4))
    if len(sequence) < len(W):
        return np.zeros(0, dtype=np.float32)
    return sum(np.correlate(hot[:, a], W[:, a], mode="valid") for a in range(4))


@alternative("pwm_scores")
def as_a_torch_convolution(sites, sequence, alpha):
    import torch

    def hot(text):
        return torch.tensor(["ACGT".index(a) for a in text])

    N = torch.stack([torch.nn.functional.one_hot(hot(site), 4).double() for site in sites]).sum(0)
    W = torch.log((N + alpha) / (len(sites) + 4 * alpha) / 0.25)
    if len(sequence) < len(W):
        return torch.zeros(0)
    x = torch.nn.functional.one_hot(hot(sequence), 4).double()
    return torch.nn.functional.conv1d(x.T[None], W.T[None])[0, 0]
