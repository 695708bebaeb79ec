"""Public checks of lab 02: Beta and Dirichlet posteriors, smoothing, interpolation and a motif finder."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import close, ensure, equal, public_check
from coursekit.checks.break_it import impostor

# ---------------------------------------------------------------------------------------------- beta_posterior


def _parts(result: Any, names: str, count: int) -> Any:
    ensure(result is not None, "your function returns None: end it with a return")
    several = isinstance(result, (tuple, list, np.ndarray)) and len(result) == count
    ensure(several, f"return {count} things, separated by commas: {names}")
    return result


def _posterior(beta_posterior: Any, *arguments: Any) -> Any:
    with np.errstate(all="ignore"):
        parts = _parts(beta_posterior(*arguments), "a_new, b_new, mode, mean", 4)
    return [float(np.asarray(part)) for part in parts]


@public_check("beta_posterior")
def tosses_add_to_the_prior(beta_posterior: Any) -> None:
    """Heads add to a, tails add to b."""
    a, b, _, _ = _posterior(beta_posterior, 3, 4, 2, 5)
    ensure((a, b) != (3, 8), "heads and tails are exchanged: k heads add to a, the n − k tails to b")
    ensure((a, b) != (5, 9), "b grew by all n tosses: only the n − k tails add to b")
    equal([a, b], [5.0, 6.0], "3 heads in 4 tosses turn a = 2, b = 5 into a' = 5, b' = 6")
    a, b, _, _ = _posterior(beta_posterior, 1, 3, 1.5, 2.5)
    ensure((a, b) != (2, 4), "the prior's knobs need not be whole: yours lose their fraction")
    close([a, b], [2.5, 4.5], "1 head in 3 tosses turns a = 1.5, b = 2.5 into a' = 2.5, b' = 4.5")


@public_check("beta_posterior")
def four_heads_in_five_tosses(beta_posterior: Any) -> None:
    """Four heads in five tosses: mode 5/8 and mean 6/10 with the prior 2, 3."""
    _, _, mode, mean = _posterior(beta_posterior, 4, 5, 2, 3)
    exchanged = np.isclose([mode, mean], [6 / 10, 5 / 8]).all()
    ensure(not exchanged, "mode and mean are exchanged: the order is a_new, b_new, mode, mean")
    ensure(
        not np.isclose(mode, 6 / 10),
        "the mode came out as the mean: it has a' − 1 above and a' + b' − 2 below",
    )
    ensure(not np.isclose(mode, 4 / 5), "the mode came out as k/n: use a' and b', which know the prior, too")
    close(mode, 5 / 8, "the mode should be (6 − 1)/(6 + 4 − 2) = 5/8")
    ensure(
        not np.isclose(mean, 5 / 8), "the mean came out as the mode: it is a'/(a' + b'), without minus one"
    )
    ensure(
        not np.isclose(mean, 5 / 7),
        "the mean came out as (k + 1)/(n + 2), which holds for the flat prior only: it is a'/(a' + b')",
    )
    close(mean, 6 / 10, "the mean should be 6/(6 + 4) = 6/10")


@public_check("beta_posterior")
def the_flat_prior_counts(beta_posterior: Any) -> None:
    """With the flat prior the mode is k/n; without tosses the prior alone speaks."""
    _, _, mode, mean = _posterior(beta_posterior, 3, 3, 1, 1)
    ensure(
        not np.isclose(mode, 0.5),
        "three heads of three give the mode 1: 0.5 belongs to a' = b' = 1 alone, when both are 1",
    )
    close([mode, mean], [1, 4 / 5], "three heads of three: mode 1, mean 4/5")
    try:
        _, _, mode, mean = _posterior(beta_posterior, 0, 0, 1, 1)
    except ZeroDivisionError:
        ensure(False, "no tosses and a flat prior divide 0 by 0: return 0.5 as the mode then")
    close([mode, mean], [0.5, 0.5], "no tosses and a flat prior: mode 0.5 (by agreement), mean 1/2")
    _, _, mode, mean = _posterior(beta_posterior, 0, 0, 1.4, 1.2)
    rounded = 2e-6 < abs(mode - 2 / 3) < 6e-3
    ensure(not rounded, f"your mode is rounded, {mode:.6g} for 2/3: return the number as it is")
    close(
        mode,
        2 / 3,
        "no tosses, but the prior 1.4, 1.2 has a highest point: mode (1.4 − 1)/(1.4 + 1.2 − 2) = 2/3",
    )
    close(mean, 7 / 13, "no tosses and the prior 1.4, 1.2: mean 1.4/2.6")
    _, _, mode, _ = _posterior(beta_posterior, 0, 0, 1, 3)
    close(
        mode,
        0,
        "no tosses and the prior 1, 3: the curve is highest at 0; it is flat only if both knobs are 1",
    )


# ----------------------------------------------------------------------------------------------- dirichlet_map


@public_check("dirichlet_map")
def map_by_hand(dirichlet_map: Any) -> None:
    """Counts 2, 3, 5 with α = 2 become 3/13, 4/13, 6/13."""
    P = dirichlet_map(np.array([2, 3, 5]), 2)
    ensure(P is not None, "your function returns None: end it with a return")
    P = np.asarray(P, dtype=float)
    ensure(not np.allclose(P, np.array([4, 5, 7]) / 16), "you added α: the MAP adds α − 1 to each count")
    ensure(
        abs(P.sum() - 1) < 1e-6,
        f"the row sums to {P.sum():.3g}: divide by the sum of all N + α − 1, V of them",
    )
    close(P, np.array([3, 4, 6]) / 13, "it should be (N + α − 1) divided by its own sum: 3/13, 4/13, 6/13")


@public_check("dirichlet_map")
def map_row_by_row(dirichlet_map: Any) -> None:
    """Rows are treated by themselves, whatever the shape."""
    N = np.arange(12).reshape(2, 2, 3)
    P = np.asarray(dirichlet_map(N, 3), dtype=float)
    ensure(P.shape == N.shape, f"the result should have the shape of N, {N.shape}; yours has {P.shape}")
    close(
        P.sum(axis=-1),
        np.ones((2, 2)),
        "each row should sum to one: divide it by its own sum over the last axis, kept there with keepdims=True",
    )
    close(P[1, 0], np.array([8, 9, 10]) / 27, "counts 6, 7, 8 with α = 3 should become 8/27, 9/27, 10/27")


@public_check("dirichlet_map")
def flat_map_is_counting(dirichlet_map: Any) -> None:
    """With α = 1 it is plain counting, and a row without counts stays zero; with a larger α it is even."""
    with np.errstate(all="ignore"):
        P = np.asarray(dirichlet_map(np.array([[1, 3], [0, 0]]), 1), dtype=float)
    ensure(
        not np.isnan(P).any(),
        "a row without counts became nan (0/0): divide only where the sum is above zero",
    )
    close(P, [[0.25, 0.75], [0, 0]], "α = 1 adds nothing: 1, 3 become .25, .75, and an empty row stays zero")
    P = np.asarray(dirichlet_map(np.array([[1, 3], [0, 0]]), 1.25), dtype=float)
    stayed_zero = P.shape == (2, 2) and not P[1].any()
    ensure(
        not stayed_zero, "with α = 1.25 a row without counts is not zero: it gains α − 1 as every row does"
    )
    close(
        P,
        [[1.25 / 4.5, 3.25 / 4.5], [0.5, 0.5]],
        "with α = 1.25 each outcome gains .25: 1, 3 become 1.25/4.5, 3.25/4.5, and 0, 0 become .25/.5 each",
    )


@public_check("dirichlet_map")
def map_with_a_knob_each(dirichlet_map: Any) -> None:
    """α may be an array with a knob for each outcome, or for each cell."""
    P = dirichlet_map(np.array([[4.0, 0, 1], [0, 0, 0]]), np.array([1.0, 2.0, 3.0]))
    close(
        P,
        [[4 / 8, 1 / 8, 3 / 8], [0, 1 / 3, 2 / 3]],
        "with α = (1, 2, 3) the rows gain 0, 1, 2, three in all",
    )
    P = dirichlet_map(np.array([[4.0, 0, 1], [0, 1, 0]]), np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]]))
    close(
        P,
        [[4 / 8, 1 / 8, 3 / 8], [1 / 3, 2 / 3, 0]],
        "with a knob for each cell a row is divided by the sum of its own N + α − 1, not of all rows' α",
    )
    P = dirichlet_map(np.array([3, 0, 1]), np.array([1.0, 2.0, 3.0]))
    close(P, [3 / 7, 1 / 7, 3 / 7], "a single row 3, 0, 1 with α = (1, 2, 3) should become 3/7, 1/7, 3/7")
    N, knobs = (
        np.array([[[1, 3], [0, 0]], [[0, 0], [2, 2]]]),
        np.array([[[1.0, 1], [1, 1]], [[2, 1], [2, 3]]]),
    )
    with np.errstate(all="ignore"):
        P = np.asarray(dirichlet_map(N, knobs), dtype=float)
    ensure(
        not np.isnan(P).any(),
        "a row without counts whose knobs are all 1 became nan (0/0): it stays zero, also where other rows have larger knobs",
    )
    close(
        P,
        [[[0.25, 0.75], [0, 0]], [[1, 0], [3 / 7, 4 / 7]]],
        "three axes and a knob for each cell: 0, 0 stay zero where both knobs are 1, and become 1, 0 with the knobs 2, 1",
    )


# ---------------------------------------------------------------------------------------------- dirichlet_mean


@public_check("dirichlet_mean")
def mean_by_hand(dirichlet_mean: Any) -> None:
    """Counts 2, 3, 5 with α = 1 become 3/13, 4/13, 6/13."""
    P = dirichlet_mean(np.array([2, 3, 5]), 1)
    ensure(P is not None, "your function returns None: end it with a return")
    P = np.asarray(P, dtype=float)
    if np.allclose(P, [0.2, 0.3, 0.5]):
        minus_one = np.allclose(dirichlet_mean(np.array([2, 3, 5]), 2), np.array([3, 4, 6]) / 13)
        ensure(not minus_one, "you added α − 1, which is nothing for α = 1: the mean adds α itself")
        ensure(False, "α changed nothing: every outcome gains α, whether it was seen or not")
    ensure(
        abs(P.sum() - 1) < 1e-6,
        f"the row sums to {P.sum():.3g}: all V outcomes gain α, so V·α joins below the line",
    )
    close(P, np.array([3, 4, 6]) / 13, "it should be (N + α) divided by its own sum: 3/13, 4/13, 6/13")


@public_check("dirichlet_mean")
def a_small_alpha(dirichlet_mean: Any) -> None:
    """α = 0.001 works, and a row without counts is even."""
    with np.errstate(all="ignore"):
        P = np.asarray(dirichlet_mean(np.array([[3.0, 0, 0, 1], [0, 0, 0, 0]]), 0.001), dtype=float)
    ensure(P.shape == (2, 4), f"the result should have the shape of N, (2, 4); yours has {P.shape}")
    ensure(
        P[1].any(), "the row without counts stayed zero: that is the MAP's rule; the mean adds α there, too"
    )
    ensure(
        not np.isclose(P.sum(), 1),
        "your whole table sums to one: each row should, so sum over the last axis and keep it, keepdims=True",
    )
    above = np.array([[3.001, 0.001, 0.001, 1.001], [0.001] * 4])
    ensure(
        not np.allclose(P, above / [[4.002], [0.002]]),
        "below the line α is counted once for each row of the table: it is once for each outcome, N.shape[-1]",
    )
    close(
        P[1], np.full(4, 0.25), "the row without counts should be .001 over its own sum .004, a quarter each"
    )
    close(P[0], above[0] / 4.004, "counts 3, 0, 0, 1 become 3.001, .001, .001, 1.001, all over 4.004")


@public_check("dirichlet_mean")
def mean_row_by_row(dirichlet_mean: Any) -> None:
    """Rows are treated by themselves; α may be an array, with a knob for each outcome or for each cell."""
    N = np.arange(12).reshape(2, 2, 3)
    P = np.asarray(dirichlet_mean(N, np.array([1.0, 2.0, 3.0])), dtype=float)
    ensure(P.shape == N.shape, f"the result should have the shape of N, {N.shape}; yours has {P.shape}")
    close(
        P.sum(axis=-1),
        np.ones((2, 2)),
        "each row should sum to one: divide it by the sum of its own N + α (V·α is only right where all α are the same)",
    )
    close(P[0, 0], np.array([1, 3, 5]) / 9, "counts 0, 1, 2 with α = (1, 2, 3) should become 1/9, 3/9, 5/9")
    P = dirichlet_mean(np.array([[4, 0, 1], [0, 1, 0]]), np.array([[1.0, 2.0, 3.0], [2.0, 0.5, 0.5]]))
    close(
        P,
        [[5 / 11, 2 / 11, 4 / 11], [2 / 4, 1.5 / 4, 0.5 / 4]],
        "with a knob for each cell a row is divided by the sum of its own N + α, not of all rows' α",
    )
    P = dirichlet_mean(np.array([3, 0, 1]), np.array([1.0, 2.0, 3.0]))
    close(P, [4 / 10, 2 / 10, 4 / 10], "a single row 3, 0, 1 with α = (1, 2, 3) should become .4, .2, .4")


# ------------------------------------------------------------------------------------------------ choose_alpha

TRAIN, DEV = np.array([[8, 0, 0], [0, 2, 2]]), np.array([[5, 1, 0], [0, 2, 1]])
GRID = [20.0, 0.5, 0.01]


def _choice(choose_alpha: Any, train: Any, dev: Any, grid: Any) -> tuple[float, Any]:
    best, costs = _parts(choose_alpha(train, dev, grid), "best, costs", 2)
    ensure(np.size(best) == 1, "the first result should be one number of the grid, the best one")
    return float(np.asarray(best).reshape(())), costs


def _smoothed(alpha: Any, train: Any = TRAIN) -> Any:
    return (train + alpha) / (train + alpha).sum(axis=1, keepdims=True)


def _nll(alpha: Any, train: Any = TRAIN, dev: Any = DEV) -> Any:
    return -(dev * np.log(_smoothed(alpha, train))).sum() / dev.sum()


@public_check("choose_alpha")
def the_costs_are_nlls(choose_alpha: Any) -> None:
    """Each number of the grid gets its NLL on the unseen counts."""
    best, costs = _parts(choose_alpha(TRAIN, DEV, GRID), "best, costs", 2)
    exchanged = np.shape(best) == (3,) and np.shape(costs) in ((), (1,))
    ensure(not exchanged, "the two results are exchanged: the order is best, costs")
    costs, expected = np.asarray(costs, dtype=float), np.array([_nll(alpha) for alpha in GRID])
    ensure(
        costs.shape == (3,),
        f"costs should hold one number for each α of the grid; yours has shape {costs.shape}",
    )
    ensure(
        not np.allclose(costs, expected * DEV.sum() / DEV.size),
        "your average runs over the cells of the table: divide the sum by the number of unseen tokens, dev.sum()",
    )
    with np.errstate(all="ignore"):
        of_the_map = [_nll(alpha - 1) for alpha in GRID]
        unweighted = [-np.log(_smoothed(alpha)[DEV > 0]).mean() for alpha in GRID]
    ensure(
        not np.allclose(costs, of_the_map, equal_nan=True),
        "the costs are those of dirichlet_map, which adds α − 1: the model to judge is dirichlet_mean",
    )
    ensure(
        not np.allclose(costs, unweighted),
        "each kind of step weighs the same in your average: a step that dev counts five times weighs five times",
    )
    ensure(
        not np.allclose(costs, DEV.sum() * expected),
        "those are sums: divide by the number of unseen tokens, dev.sum()",
    )
    ensure(not np.allclose(costs, -expected), "the costs are negative: mind the minus sign")
    ensure(
        not np.allclose(costs, expected[::-1]),
        "the costs stand in another order than the grid's: the first is that of grid[0], sorted or not",
    )
    close(costs, expected, "a cost is −Σ dev·ln P / Σ dev with P = dirichlet_mean(train, alpha)")
    _, costs = _choice(choose_alpha, np.array([3, 1, 0]), np.array([1, 1, 2]), [1.0, 2.0])
    of_a_row = [
        -np.log([4 / 7, 2 / 7, 1 / 7, 1 / 7]).mean(),
        -np.log([5 / 10, 3 / 10, 2 / 10, 2 / 10]).mean(),
    ]
    close(costs, of_a_row, "train and dev may be single rows: learned from 3, 1, 0 and judged on 1, 1, 2")


@public_check("choose_alpha")
def the_best_is_a_number_of_the_grid(choose_alpha: Any) -> None:
    """The α with the lowest cost is returned."""
    best, _ = _choice(choose_alpha, TRAIN, DEV, GRID)
    ensure(best != 1, "you returned the place in the grid, not the number that stands there")
    ensure(
        best != 0.01,
        "that is the best α for the counts the model learned from, or the worst for the unseen ones",
    )
    equal(best, 0.5, "the lowest cost on dev belongs to α = 0.5 here")
    equal(_choice(choose_alpha, TRAIN, DEV, [20.0, 5.0])[0], 5.0, "5.0 is better than 20.0 here")
    best, costs = _choice(choose_alpha, TRAIN, DEV, [5.0])
    equal(best, 5.0, "of a grid with the single number 5.0 that one is the best")
    ensure(
        np.shape(costs) == (1,),
        f"a grid of one number has one cost, an array or list (1,); yours has shape {np.shape(costs)}",
    )


@public_check("choose_alpha")
def costs_may_be_large(choose_alpha: Any) -> None:
    """Where dev holds only what was never seen, a tiny α is dear."""
    train, dev, grid = np.array([[800, 0, 0], [0, 900, 700]]), np.array([[0, 2, 1], [3, 0, 0]]), [1e-4, 1e-3]
    best, costs = _choice(choose_alpha, train, dev, grid)
    ensure(
        np.isclose(best, 0.001),
        "of 0.0001 and 0.001 the second costs less here, though that is over 10 nats",
    )
    expected = [_nll(alpha, train, dev) for alpha in grid]
    dear = f"0.0001 and 0.001 should cost {expected[0]:.2f} and {expected[1]:.2f} here: ln P is that of P itself, with nothing added or cut off"
    close(costs, expected, dear, rtol=1e-3)


@public_check("choose_alpha")
def the_first_of_equals(choose_alpha: Any) -> None:
    """When all numbers of the grid cost the same, the first one is returned."""
    even, grid = np.ones((2, 3)), [20.0, 0.5]
    best, costs = _choice(choose_alpha, even, even, grid)
    kept = [-np.log(_smoothed(alpha)).mean() for alpha in grid]
    ensure(
        not (np.shape(costs) == (2,) and np.allclose(costs, kept)),
        "these are the costs of a model that was learned from the counts of an earlier call: learn it anew in each",
    )
    close(costs, np.full(2, np.log(3)), "equal counts stay even whatever α is: each number should cost ln 3")
    if float(costs[0]) == float(costs[1]):
        equal(best, 20.0, "20.0 and 0.5 cost exactly the same, and 20.0 stands first")


# ------------------------------------------------------------------------------------------------- interpolate


@public_check("interpolate")
def interpolate_by_hand(interpolate: Any) -> None:
    """Counts 3, 1, 0 and Q = (.2, .3, .5) with α = 4 become .475, .275, .25."""
    P = interpolate(np.array([3, 1, 0]), np.array([0.2, 0.3, 0.5]), 4)
    ensure(P is not None, "your function returns None: end it with a return")
    P = np.asarray(P, dtype=float)
    ensure(
        abs(P.sum() - 1) < 1e-6,
        f"the row sums to {P.sum():.3g}: Q sums to one, so α alone joins the sum below the line",
    )
    ensure(
        not np.allclose(P, [2.8 / 5, 1.2 / 5, 1 / 5]),
        "that is dirichlet_map with α·Q, which takes 1 off each: nothing is taken off here",
    )
    close(P, [0.475, 0.275, 0.25], "it should be (N + α·Q)/(ΣN + α)")


@public_check("interpolate")
def an_unseen_context_trusts_the_shorter(interpolate: Any) -> None:
    """A context never seen gets the shorter model's row; one seen often its own."""
    Q = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    P = np.asarray(interpolate(np.array([[0.0, 0, 0], [3000, 1000, 0]]), Q, 4), dtype=float)
    ensure(P.shape == (2, 3), f"the result should have the shape of the counts, (2, 3); yours has {P.shape}")
    close(P[0], Q[0], "without any counts the row should be exactly Q")
    close(P[1], [0.75, 0.25, 0], "4,000 observations should outweigh α = 4 nearly completely", atol=2e-3)
    with np.errstate(all="ignore"):
        P = interpolate(np.zeros(3), Q[0], 4)
    close(P, Q[0], "a single row without any counts should be exactly Q, too")


@public_check("interpolate")
def the_oldest_token_is_forgotten(interpolate: Any) -> None:
    """Trigram counts (2, 3, 4) meet the bigram's (3, 4)."""
    counts, Q = (
        np.arange(24).reshape(2, 3, 4) % 5,
        np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0.25] * 4], dtype=float),
    )
    P = np.asarray(interpolate(counts, Q, 2.5), dtype=float)
    ensure(
        P.shape == (2, 3, 4),
        f"the result should have the shape of the counts, (2, 3, 4); yours has {P.shape}",
    )
    for i, j in ((0, 1), (1, 0), (1, 2)):
        expected, cut = ((counts[i, j] + alpha * Q[j]) / (counts[i, j].sum() + alpha) for alpha in (2.5, 2))
        ensure(not np.allclose(P[i, j], cut), "α need not be a whole number: yours loses its fraction")
        close(P[i, j], expected, "row (i, j) of the counts should meet row j of the shorter model")


# -------------------------------------------------------------------------------------------------- pwm_scores


@public_check("pwm_scores")
def one_window_by_hand(pwm_scores: Any) -> None:
    """Sites AC and AG: the window AC scores ln(3/6 ÷ 1/4) + ln(2/6 ÷ 1/4) with α = 1."""
    scores = pwm_scores(["AC", "AG"], "AC", 1)
    ensure(scores is not None, "your function returns None: end it with a return")
    scores = np.asarray(scores, dtype=float)
    ensure(
        scores.shape == (1,),
        f"one window fits, so the result should have shape (1,); yours has {scores.shape}",
    )
    ensure(
        not np.isclose(scores[0], np.log(3 / 6 * 2 / 6 / 16)),
        "you divide by 4, not by 1/4: P / 1/4 is (P / 1) / 4, so write P / (1/4), or 4 * P",
    )
    ensure(not np.isclose(scores[0], np.log(3 / 6 * 2 / 6)), "divide each probability by the background, 1/4")
    ensure(
        not np.isclose(scores[0], np.log2(3 / 6 * 2 / 6 * 16)),
        "that is in bits: use the natural logarithm, np.log",
    )
    ensure(
        not np.isclose(scores[0], np.log(3 / 6 * 2 / 6 * 4)),
        "the background is 1/4 for each letter, not how often it stands in the sequence",
    )
    close(
        scores[0], np.log(2) + np.log(4 / 3), "P(A) = (2+1)/(2+4) in column 0, P(C) = (1+1)/(2+4) in column 1"
    )


@public_check("pwm_scores")
def every_window_has_a_score(pwm_scores: Any) -> None:
    """Every window has a score, the last one too, and the site itself scores best."""
    scores = np.asarray(pwm_scores(["TGTGA", "TGTGA", "TGAGA"], "ACTGTGACCGTTGAGA", 0.5), dtype=float)
    ensure(scores.shape == (12,), f"16 − 5 + 1 = 12 windows fit; your result has shape {scores.shape}")
    equal(int(scores.argmax()), 2, "the window TGTGA that starts at 2 should score best")
    ensure(scores[11] == np.sort(scores)[-2], "the last window, TGAGA, should score second best")
    tgtga = 4 * np.log(4 * 3.5 / 5) + np.log(4 * 2.5 / 5)
    once = 4 * np.log(4 * 2.5 / 4) + np.log(4 * 1.5 / 4)
    ensure(not np.isclose(scores[2], once), "TGTGA stands in the list twice and should count twice")
    close(scores[2], tgtga, f"the window TGTGA should score {tgtga:.4f} with these three sites and α = 0.5")


@public_check("pwm_scores")
def a_short_sequence_has_no_window(pwm_scores: Any) -> None:
    """A sequence shorter than the sites has no window; sites may be long."""
    for sequence in ("ACG", "A"):
        scores = np.asarray(pwm_scores(["ACGT"], sequence, 1))
        equal(scores.shape, (0,), "no window fits, so the result should be an empty array")
    scores = pwm_scores(["A" * 800], "A" * 800, 1)
    close(
        scores,
        [800 * np.log(1.6)],
        "a site of 800 letters: sum the logarithms, for the product of so many probabilities is too small for the computer",
        rtol=1e-3,
    )


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("dirichlet_mean")
def counts_rows_for_outcomes(right: Any, N: Any, alpha: Any) -> Any:
    """It adds α below the line as often as there are rows, not outcomes.

    One survives: your table has as many rows as columns.
    """
    weight = np.asarray(N) + alpha
    too_few = (weight.shape[-1] - len(weight)) * alpha
    return right(N, alpha) / (1 - too_few / weight.sum(axis=-1, keepdims=True))


@impostor("dirichlet_mean")
def sums_over_the_columns(right: Any, N: Any, alpha: Any) -> Any:
    """It divides by the sums of the columns.

    One survives: your table reads the same by rows and by columns.
    """
    return np.swapaxes(right(np.swapaxes(N, -1, -2), alpha), -1, -2)


@impostor("dirichlet_mean")
def one_sum_for_all_rows(right: Any, N: Any, alpha: Any) -> Any:
    """It divides all rows by the sum of the first.

    One survives: all rows of your table have the same sum.
    """
    weight = np.asarray(N) + alpha
    return weight / weight.reshape(-1, weight.shape[-1])[0].sum()


@impostor("dirichlet_mean")
def cuts_alpha_to_a_whole_number(right: Any, N: Any, alpha: Any) -> Any:
    """It cuts α down to a whole number.

    One survives: the α of your input are whole numbers. Need they be?
    """
    return right(N, np.floor(alpha))


@impostor("dirichlet_mean")
def takes_the_first_alpha(right: Any, N: Any, alpha: Any) -> Any:
    """It uses the first α for all outcomes.

    One survives: all outcomes of your input have the same α. Need they?
    """
    return right(N, np.ravel(alpha)[0])
