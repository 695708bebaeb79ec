"""Hidden tests of lab 02: Beta and Dirichlet posteriors, smoothing, interpolation and a motif finder."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np

from autograder.testing import (
    as_array,
    course_root,
    expect,
    expect_close,
    expect_equal,
    expect_shape,
    follow_through,
    hidden_test,
)

EQUIVALENT_MUTANTS = {
    "beta_posterior: flat = a_new + b_new <= 2": "the knobs are at least 1",
    "dirichlet_map: return np.divide(weight, total, out=np.zeros_like(weight), where=total != 0)": (
        "counts and α − 1 are not negative"
    ),
}


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_DIRICHLET = """
import numpy as np


def _rows_that_sum_to_one(weight):
    total = weight.sum(axis=-1, keepdims=True)
    return weight / np.where(total == 0, 1, total)


def dirichlet_map(N, alpha):
    return _rows_that_sum_to_one(np.asarray(N) + np.asarray(alpha, dtype=float) - 1)


def dirichlet_mean(N, alpha):
    return _rows_that_sum_to_one(np.asarray(N) + np.asarray(alpha, dtype=float))
"""
_with_right_map = follow_through(_DIRICHLET, "dirichlet_map")
_with_right_dirichlet = follow_through(_DIRICHLET, "dirichlet_map", "dirichlet_mean")


# ------------------------------------------------------------------------------------------------- references


@cache
def _makemore(file):
    """Columns of counts by name; a row ``abc,1,5`` belongs to the cell (a, b, c) over the tokens ``.abc…z``."""
    with open(course_root() / "data" / "02_dirichlet_map" / file, encoding="ascii", newline="") as opened:
        (_, *names), *rows = csv.reader(opened)
    tables = {name: np.zeros((27,) * len(rows[0][0])) for name in names}
    for text, *counts in rows:
        for name, count in zip(names, counts, strict=True):
            tables[name][tuple(".abcdefghijklmnopqrstuvwxyz".index(token) for token in text)] = float(count)
    return tables


def _rows(N, gain):
    """Each row of N plus its gain, divided by its own sum, one row at a time; 0/0 stays 0."""
    N, gain = np.asarray(N, dtype=float), np.broadcast_to(np.asarray(gain, dtype=float), np.shape(N))
    flat = []
    for row, more in zip(
        N.reshape(-1, N.shape[-1]).tolist(), gain.reshape(-1, N.shape[-1]).tolist(), strict=True
    ):
        weights = [n + g for n, g in zip(row, more, strict=True)]
        flat.append([w / sum(weights) if sum(weights) > 0 else 0.0 for w in weights])
    return np.array(flat).reshape(N.shape)


def _nll(P, N):
    seen = np.asarray(N) > 0
    return float(-(np.asarray(N)[seen] * np.log(P[seen])).sum() / np.sum(N))


def _several(result, count, what):
    expect(result is not None, "the result is None: does your function return its result?")
    fits = isinstance(result, (tuple, list, np.ndarray)) and len(result) == count
    expect(fits, f"your function should return {count} things: {what}")
    return result


def _table(value, shape, what):
    """The student's table as an array of the right shape, or a clear failure."""
    value = as_array(value, what)
    expect_shape(value, shape, what)
    return value


def _number(value, what):
    value = as_array(value, what)
    expect(value.size == 1, f"{what} should be one number")
    return float(value.reshape(()))


# ---------------------------------------------------------------------------------------------- beta_posterior


def _posterior(student, *arguments):
    parts = _several(student(*arguments), 4, "a_new, b_new, mode, mean")
    return [
        _number(part, what)
        for part, what in zip(parts, ("a_new", "b_new", "the mode", "the mean"), strict=True)
    ]


def _tosses(rng, most=40):
    """Heads, tosses and whole knobs, with heads and tails both seen."""
    n = int(rng.integers(6, most))
    return int(rng.integers(1, n)), n, *rng.integers(2, 7, size=2).tolist()


@hidden_test("beta_posterior", weight=0.5)
def test_heads_and_tails_add_to_the_prior(student, rng):
    """The posterior's knobs are the prior's plus the heads and the tails."""
    for _ in range(4):
        k, n, a, b = _tosses(rng)
        expect_close(_posterior(student, k, n, a, b)[:2], [k + a, n - k + b], "the posterior's knobs")


@hidden_test("beta_posterior", weight=2)
def test_the_knobs_need_not_be_whole(student, rng):
    """Knobs of the prior that are not whole keep their fraction."""
    for _ in range(4):
        k, n, _, _ = _tosses(rng)
        a, b = (int(rng.integers(1, 8)) + float(rng.uniform(0.3, 0.9)) for _ in range(2))
        expect_close(
            _posterior(student, k, n, a, b)[:2], [k + a, n - k + b], "the knobs, which are not whole"
        )


def _curves(a_own, b_own, k, n, a, b):
    """The knobs of the posterior, and those that were returned: what these are is another test's matter."""
    heads, tails = a_own - a, b_own - b
    grew = min(heads, tails) >= 0 and max(heads, tails) <= n and n / 2 < heads + tails < 2 * n
    return [(k + a, n - k + b), *([(a_own, b_own)] if grew else [])]


def _expect_heads_to_matter(student, which, value, k, n, a, b):
    """With other heads in as many tosses the mode, or the mean, is another."""
    other = _posterior(student, k + 1 if k < n - 1 else 1, n, a, b)[which]
    expect(other != value, "the mode and the mean should depend on how many heads were seen")


@hidden_test("beta_posterior")
def test_the_mode_is_the_highest_point_of_the_curve(student, rng):
    """The mode is where the posterior's curve is highest."""
    for _ in range(3):
        k, n, a, b = _tosses(rng)
        a_own, b_own, mode, _ = _posterior(student, k, n, a, b)
        _expect_heads_to_matter(student, 2, mode, k, n, a, b)
        expect(0 < mode < 1, "the mode should lie between 0 and 1")
        slopes = [(x - 1) / mode - (y - 1) / (1 - mode) for x, y in _curves(a_own, b_own, k, n, a, b)]
        top = min(map(abs, slopes)) < 1e-3 * n  # of the logarithm; zero at the top
        expect(top, "the mode is not the highest point of the posterior")


@hidden_test("beta_posterior")
def test_the_mean_is_the_average_over_the_curve(student, rng):
    """The mean is the average of q under the posterior, worked numerically."""
    q = (np.arange(40_000) + 0.5) / 40_000
    for _ in range(3):
        k, n, a, b = _tosses(rng)
        a_own, b_own, _, mean = _posterior(student, k, n, a, b)
        _expect_heads_to_matter(student, 3, mean, k, n, a, b)
        averages = []
        for x, y in _curves(a_own, b_own, k, n, a, b):
            log_belief = (x - 1) * np.log(q) + (y - 1) * np.log(1 - q)
            belief = np.exp(log_belief - log_belief.max())
            averages.append((q * belief).sum() / belief.sum())
        expect_close(mean, min(averages, key=lambda average: abs(average - mean)), "the mean", rtol=1e-5)


@hidden_test("beta_posterior")
def test_with_a_flat_prior_the_mode_is_plain_counting(student):
    """With the flat prior the mode is k/n."""
    for k, n in ((7, 10), (1, 4), (17, 20)):
        expect_close(_posterior(student, k, n, 1, 1)[2], k / n, "the mode with the flat prior")


@hidden_test("beta_posterior", weight=0.75)
def test_knobs_little_above_one(student):
    """Without tosses the prior alone has its highest point, also where its knobs are little above 1."""
    for a, b in ((1.4, 1.2), (1.1, 1.3), (1.05, 1.45)):
        expected = [a, b, (a - 1) / (a + b - 2), a / (a + b)]
        expect_close(_posterior(student, 0, 0, a, b), expected, "the posterior of no tosses")


@hidden_test("beta_posterior", weight=1.25)
def test_few_tosses_and_flat_priors(student):
    """Flat priors, no tosses, all heads, all tails and a single knob of 1 give the right mode and mean."""
    cases = {
        (0, 0, 1, 1): (1, 1, 1 / 2, 1 / 2),
        (3, 3, 1, 1): (4, 1, 1, 4 / 5),
        (0, 2, 1, 1): (1, 3, 0, 1 / 4),
        (3, 3, 2, 2): (5, 2, 4 / 5, 5 / 7),
        (0, 0, 3, 2): (3, 2, 2 / 3, 3 / 5),
        (7, 10, 1, 1): (8, 4, 7 / 10, 2 / 3),
        (0, 0, 1, 3): (1, 3, 0, 1 / 4),
        (0, 0, 3, 1): (3, 1, 1, 3 / 4),
        (4, 9, 1, 3): (5, 8, 4 / 11, 5 / 13),
        (5, 9, 3, 1): (8, 5, 7 / 11, 8 / 13),
        (130, 200, 3, 2): (133, 72, 132 / 203, 133 / 205),
    }
    for arguments, expected in cases.items():
        expect_close(_posterior(student, *arguments), expected, "the posterior of a few tosses")


# ----------------------------------------------------------------------------------------------- dirichlet_map


@hidden_test("dirichlet_map")
def test_map_adds_alpha_minus_one(student, rng):
    """Each outcome gains α − 1, and each row is divided by its own sum."""
    for shape, alpha in (((4, 7), 2), ((7, 4), 1.5), ((1, 5), 11)):
        N = rng.integers(0, 20, size=shape)
        N[1:2] = 0
        expect_close(student(N, alpha), _rows(N, alpha - 1), "the most believable probabilities")


@hidden_test("dirichlet_map", weight=1.5)
def test_map_in_any_shape(student, rng):
    """A single row, three axes and a transposed view are treated row by row along the last axis."""
    for N in (rng.random(6) * 9, rng.random((2, 5, 3)) * 9, (rng.random((6, 3)) * 9).T):
        expect_close(student(N, 3.0), _rows(N, 2.0), "the most believable probabilities")


@hidden_test("dirichlet_map", weight=2)
def test_map_with_a_knob_for_each_outcome(student, rng):
    """α may be an array: a knob for each outcome, or for each cell."""
    N = rng.random((3, 6)) * 9
    for alpha in (2.5, 1 + rng.random(6) * 4, 1 + rng.random((3, 6)) * 4):
        expect_close(student(N, alpha), _rows(N, alpha - 1), "the probabilities with an array of α")


@hidden_test("dirichlet_map", weight=2)
def test_flat_map_is_counting_and_rules_out_the_lectures_3079_tokens(student, rng):
    """With α = 1 it is counting: empty rows stay zero, and 3,079 of makemore's 22,858 unseen tokens get zero."""
    N = rng.integers(0, 9, size=(5, 4))
    N[[0, 3]] = 0
    expect_close(student(N, 1), _rows(N, 0), "plain counting")
    parts = _makemore("makemore_trigrams.csv")
    P = _table(student(parts["first_1000"], 1), (27, 27, 27), "the table of makemore's trigrams")
    unseen = parts["last_3203"]
    expect_equal(
        [unseen[P == 0].sum(), unseen.sum()], [3079, 22858], "the number of tokens that counting rules out"
    )
    expect_close(P, _rows(parts["first_1000"], 0), "the table of makemore's trigrams")


@hidden_test("dirichlet_map", weight=2.5)
def test_map_of_a_row_without_counts(student, rng):
    """With α above 1 a row without counts is even, however little it gains."""
    N = rng.integers(1, 9, size=(4, 3))
    N[[1, 3]] = 0
    for alpha in (3, 1.2, 1 + float(rng.uniform(0.05, 0.2))):
        expect_close(student(N, alpha), _rows(N, alpha - 1), "the probabilities with rows without counts")


@hidden_test("dirichlet_map")
def test_map_leaves_its_arguments_alone(student, rng):
    """The counts and the α that were passed are the same afterwards, also when they are not whole numbers."""
    for N, alpha in ((rng.random((3, 4)) * 9, np.full(4, 2.0)), (rng.integers(1, 9, size=(3, 4)), 2)):
        expect_close(student(N, alpha), _rows(N, 1), "the most believable probabilities")
        expect(not student.mutated, "your function changes the counts or the α it was given")


@hidden_test("dirichlet_map", weight=0.75)
def test_map_of_everything_at_once(student, rng):
    """Arrays of α meet three axes, a single row and rows without counts, with knobs of which none, some or all are 1."""
    N = rng.integers(1, 9, size=(2, 3, 4))
    N[0, 1], N[1, 0], N[1, 2] = 0, 0, 0
    each = 1 + rng.random((2, 3, 4)) * 4
    each[0, 1], each[1, 0, :2], each[0, 0, 1] = 1, 1, 1
    for alpha in (1, 1.5, np.ones(4), np.array([1, 3.5, 1, 2]), each):
        expect_close(student(N, alpha), _rows(N, np.asarray(alpha) - 1), "the most believable probabilities")
    for row in (N[0, 0], N[0, 1]):
        for alpha in (1, 1.5, np.ones(4), np.array([1, 2, 1, 3.5]), each[0, 2]):
            expect_close(student(row, alpha), _rows(row, np.asarray(alpha) - 1), "the probabilities of a row")


# ---------------------------------------------------------------------------------------------- dirichlet_mean


@hidden_test("dirichlet_mean", weight=1.5)
@_with_right_map
def test_what_outcomes_gain(student, rng):
    """In every row the outcomes have their counts and α, up to a common factor."""
    for shape, alpha in (((4, 7), 1), ((6,), 0.3), ((7, 4), 12.0)):
        N = rng.integers(1, 20, size=shape)
        P = _table(student(N, alpha), shape, "the result")
        expect(np.isfinite(P).all() and P.min() > 0, "the rows should hold probabilities above zero")
        expect_close(P / P.sum(axis=-1, keepdims=True), _rows(N, alpha), "the proportions within a row")


@hidden_test("dirichlet_mean", weight=1.5)
@_with_right_map
def test_mean_of_a_single_row(student, rng):
    """In a single row each outcome gains α, and all are divided by their sum."""
    for outcomes, alpha in ((5, 1), (3, 0.1), (9, 25.0)):
        N = rng.integers(1, 20, size=outcomes)
        expect_close(student(N, alpha), _rows(N, alpha), "the mean probabilities of a row")


@hidden_test("dirichlet_mean", weight=1.5)
@_with_right_map
def test_mean_adds_alpha(student, rng):
    """In a table each outcome gains α, and each row is divided by its own sum."""
    for shape, alpha in (((4, 7), 1), ((7, 4), 0.1), ((2, 5), 25.0), ((3, 4), 0.001)):
        N = rng.integers(0, 20, size=shape)
        N[:, 0] += 1
        expect_close(student(N, alpha), _rows(N, alpha), "the mean probabilities")


@hidden_test("dirichlet_mean", weight=1.5)
@_with_right_map
def test_mean_of_a_row_never_seen(student, rng):
    """A row without counts is even, or as its α says."""
    N, alpha = rng.integers(1, 9, size=(4, 6)), rng.random(6) + 0.1
    N[[0, 2]] = 0
    for same in (0.5, 0.1):
        expect_close(student(N, same), _rows(N, same), "the mean probabilities with rows never seen")
    expect_close(student(N, alpha), _rows(N, alpha), "the mean probabilities with rows never seen")


@hidden_test("dirichlet_mean")
@_with_right_map
def test_mean_in_any_shape(student, rng):
    """Three axes and a transposed view are treated row by row along the last axis."""
    for N in (rng.integers(1, 9, size=(2, 5, 3)), (rng.random((6, 3)) * 9).T):
        expect_close(student(N, 0.3), _rows(N, 0.3), "the mean probabilities")


@hidden_test("dirichlet_mean", weight=1.5)
@_with_right_map
def test_mean_with_a_knob_for_each_outcome(student, rng):
    """α may be an array, a knob for each outcome or for each cell, and arguments are left alone."""
    N = rng.integers(0, 9, size=(3, 6))
    N[:, 0] += 1
    for alpha in (rng.random(6) * 4 + 0.01, rng.random((3, 6)) * 4 + 0.01):
        expect_close(student(N, alpha), _rows(N, alpha), "the probabilities with an array of α")
        expect_close(student(N + 0.5, alpha), _rows(N + 0.5, alpha), "the probabilities with an array of α")
        expect(not student.mutated, "your function changes the counts or the α it was given")


@hidden_test("dirichlet_mean", weight=0.75)
@_with_right_map
def test_mean_of_everything_at_once(student, rng):
    """Arrays of α meet three axes, a single row, a table of one row and rows without counts."""
    N, each = rng.integers(1, 9, size=(2, 3, 4)), rng.random((2, 3, 4)) * 3 + 0.05
    N[0, 1], N[1, 2] = 0, 0
    for alpha in (0.5, each[1, 1], each):
        expect_close(student(N, alpha), _rows(N, alpha), "the mean probabilities")
    for some in (N[0, 0], N[0, 1], N[0, :1], N[1, 2:]):
        for alpha in (0.5, each[1, 1], each[0, 2].reshape(some.shape)):
            expect_close(student(some, alpha), _rows(some, alpha), "the mean probabilities of a row")


@hidden_test("dirichlet_mean", weight=2)
@_with_right_map
def test_the_courses_table_of_add_one_and_add_a_tenth(student):
    """On makemore's trigrams add-1 costs 2.548 (200 names: 2.880) and add-0.1 costs 2.474 (2.783)."""
    parts = _makemore("makemore_trigrams.csv")
    for size, alpha, cost in (
        ("1000", 1, 2.548),
        ("1000", 0.1, 2.474),
        ("200", 1, 2.880),
        ("200", 0.1, 2.783),
    ):
        P = _table(student(parts[f"first_{size}"], alpha), (27, 27, 27), "the smoothed table")
        expect(P.min() > 0, "a smoothed table should hold no zero")
        expect(
            abs(_nll(P, parts["last_3203"]) - cost) < 5.1e-4,
            "the smoothed trigrams do not cost what they should",
        )


# ------------------------------------------------------------------------------------------------ choose_alpha


def _expected_choice(train, dev, grid):
    costs = [_nll(_rows(train, alpha), dev) for alpha in grid]
    return grid[costs.index(min(costs))], costs


def _choice(student, train, dev, grid, in_order=True):
    """The student's best number and its costs, once they have the right form; not ``in_order``: they may be exchanged."""
    best, costs = _several(student(train, dev, grid), 2, "best, costs")
    if not in_order and np.shape(best) == (len(grid),) != np.shape(costs):
        best, costs = costs, best
    costs = as_array(costs, "the costs")
    expect(costs.shape == (len(grid),), "the costs should be one number for each number of the grid")
    return _number(best, "the best α"), costs


def _split(rng, shape, tokens):
    """Counts of the same rows twice: few to learn from, some to judge by."""
    P = rng.dirichlet(np.full(shape[-1], 0.4), size=shape[:-1])
    heard = rng.integers(1, 2 * tokens, size=shape[:-1])
    return rng.multinomial(heard, P), rng.multinomial(2 * heard, P)


_GRID = [0.003, 0.03, 0.1, 0.4, 1.5, 12.0]


def _telling_split(rng, shape, tokens):
    """A split on which who weighs all cells alike, or judges by what was learned, chooses another number."""
    while True:
        train, dev = _split(rng, shape, tokens)
        best, costs = _expected_choice(train, dev, _GRID)
        alike = _expected_choice(train, (dev > 0).astype(int), _GRID)[0]
        if best not in (alike, _GRID[0], _GRID[-1]) and np.ptp(costs) > 0.01:
            return train, dev


def _expect_best(student, train, dev, grid):
    """The best number, and costs that stand to each other as the NLLs do: their unit is another test's matter."""
    best, costs = _choice(student, train, dev, grid)
    expected, nlls = _expected_choice(train, dev, grid)
    expect(np.isfinite(costs).all() and costs[0] != 0, "the costs should be finite numbers")
    expect_close(
        costs / costs[0], np.divide(nlls, nlls[0]), "the costs, each divided by the first,", rtol=1e-5
    )
    expect_close(best, expected, "the best α")


@hidden_test("choose_alpha", weight=2)
@_with_right_dirichlet
def test_the_best_of_a_grid(student, rng):
    """The number with the lowest NLL on the unseen counts is chosen."""
    for tokens in (3, 8, 20):
        train, dev = _telling_split(rng, (6, 9), tokens)
        _expect_best(student, train, dev, _GRID)
    expect(not student.mutated, "your function changes the counts or the grid it was given")


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_the_best_may_stand_anywhere_in_the_grid(student, rng):
    """The best number may be the first or the last, and the grid need not be sorted."""
    train, dev = _telling_split(rng, (5, 7), 8)
    best = _expected_choice(train, dev, _GRID)[0]
    others = [alpha for alpha in _GRID if alpha != best]
    for order in ([best, *others], [*others, best], [*others[:3][::-1], best, *others[3:]]):
        _expect_best(student, train, dev, order)


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_the_first_of_equally_good_numbers_is_chosen(student, rng):
    """When all numbers of the grid cost the same, the first one is chosen."""
    train, dev = np.full((3, 4), int(rng.integers(1, 9))), rng.integers(1, 20, size=(3, 4))
    for grid in ([7.0, 1.0, 3.0], [0.5, 2.0, 8.0, 4.0]):
        chosen, costs = _choice(student, train, dev, grid)
        expect(np.ptp(costs) < 1e-4 * abs(costs[0]), "the costs of equally good numbers should be equal")
        # Who rounds the costs another way may see no tie: the first of the student's own lowest costs counts.
        ties = [alpha for alpha, cost in zip(grid, costs, strict=True) if cost == costs.min()]
        exact = costs.dtype == np.float64
        expect(
            chosen == ties[0] or (not exact and chosen in ties),
            "of equally good numbers of the grid the first one should be chosen",
        )
    train, dev = _telling_split(rng, (4, 5), 8)
    costs = _choice(student, train, dev, [1.5, 12.0])[1]
    expect(np.ptp(costs) > 0, "numbers that are not equally good should not cost the same")


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_the_costs_are_the_nll_of_each_number(student, rng):
    """Each number's NLL is returned: each token counts, not each cell, on three axes and on one, and for a grid of one."""
    train, dev = _split(rng, (3, 4, 5), 6)
    dev[0, 0] = [200, 0, 0, 1, 0]
    dev[2] = 0
    for some, judged in ((train, dev), (train[1, 1], dev[1, 1])):
        for grid in ([0.05, 0.2, 0.9, 7], [2.5, 8], [2.5]):
            costs = _choice(student, some, judged, grid, in_order=False)[1]
            expect_close(costs, _expected_choice(some, judged, grid)[1], "the costs")


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_costs_of_what_was_never_seen_are_large(student, rng):
    """Where dev holds only what train has not seen, a tiny α costs more than ten nats a token."""
    train, dev = rng.integers(500, 900, size=(4, 6)), rng.integers(1, 9, size=(4, 6))
    train[:, 3:], dev[:, :3] = 0, 0
    train[0], dev[0] = train[0] // 8, 9 * dev[0]  # so that who weighs all cells alike gets other costs
    grid = [2e-4, 2e-3, 5e-4]
    best, costs = _choice(student, train, dev, grid, in_order=False)
    expect_close(costs, _expected_choice(train, dev, grid)[1], "the costs of unseen tokens", rtol=2e-4)
    expect_close(best, grid[1], "the best α")


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_on_all_of_makemores_names_alpha_hardly_matters(student):
    """On makemore's full bigrams α = 0.01 costs 2.4535 and α = 1 costs 2.4533."""
    parts = _makemore("makemore_bigrams.csv")
    best, costs = _choice(student, parts["train_25626"], parts["dev_3203"], [0.01, 1.0], in_order=False)
    expect(np.all(np.abs(costs - [2.4535, 2.4533]) < 6e-5), "the costs of makemore's bigrams are not right")
    expect_equal(best, 1.0, "the best α")


# ------------------------------------------------------------------------------------------------- interpolate


def _mixed(counts, shorter, alpha):
    """Row by row: the share that the counts have of all evidence, and the share of the shorter model."""
    counts = np.asarray(counts, dtype=float)
    shorter = np.broadcast_to(shorter, counts.shape)
    P = np.empty(counts.shape)
    for row in np.ndindex(counts.shape[:-1]):
        n = counts[row].sum()
        own = counts[row] / n if n else counts[row]
        P[row] = n / (n + alpha) * own + alpha / (n + alpha) * shorter[row]
    return P


def _seen(rng, *shape):
    """Counts in which every context was seen."""
    counts = rng.integers(0, 9, size=shape)
    counts[..., 0] += 1
    return counts


@hidden_test("interpolate", weight=2)
@_with_right_dirichlet
def test_what_stands_above_the_line(student, rng):
    """In a single row every outcome has its count and α times what the shorter model says, up to a common factor."""
    for V, alpha in ((6, 2.5), (4, 30.0), (9, 1)):
        counts, shorter = _seen(rng, V), rng.dirichlet(np.ones(V))
        row = _table(student(counts, shorter, alpha), (V,), "a single interpolated row")
        expect(np.isfinite(row).all() and row.sum() > 0, "the row should hold probabilities")
        expect_close(row / row.sum(), _mixed(counts, shorter, alpha), "the proportions within a row")


@hidden_test("interpolate", weight=0.5)
@_with_right_dirichlet
def test_a_single_row_is_interpolated(student, rng):
    """A single row of counts meets a single row of the shorter model."""
    for V, alpha in ((6, 2.5), (3, 40.0)):
        counts, shorter = _seen(rng, V), rng.dirichlet(np.ones(V))
        expect_close(student(counts, shorter, alpha), _mixed(counts, shorter, alpha), "a single row")


@hidden_test("interpolate")
@_with_right_dirichlet
def test_counts_and_the_shorter_model_are_weighed_by_evidence(student, rng):
    """The more often a context was seen, the less the shorter model counts."""
    for shape, alpha in (((4, 7), 5), ((6, 3), 0.5), ((2, 9), 40.0)):
        counts = _seen(rng, *shape) * rng.integers(1, 30, size=(shape[0], 1))
        shorter = rng.dirichlet(np.ones(shape[1]), size=shape[0])
        expect_close(
            student(counts, shorter, alpha), _mixed(counts, shorter, alpha), "the interpolated probabilities"
        )
    expect_close(student(counts + 0.5, shorter, 3), _mixed(counts + 0.5, shorter, 3), "the probabilities")
    expect(not student.mutated, "your function changes the counts or the shorter model it was given")


@hidden_test("interpolate", weight=2)
@_with_right_dirichlet
def test_the_shorter_model_lacks_the_first_axes(student, rng):
    """A shorter model with fewer axes is used for every oldest token."""
    counts = _seen(rng, 3, 5, 4)
    for size in ((5,), ()):
        shorter = rng.dirichlet(np.ones(4), size=size)
        expect_close(
            student(counts, shorter, 7), _mixed(counts, shorter, 7), "the interpolated probabilities"
        )


@hidden_test("interpolate", weight=1.25)
@_with_right_dirichlet
def test_a_context_never_seen_gets_the_shorter_models_row(student, rng):
    """Without counts the shorter model's row comes out exactly; with some the zeros fill up."""
    counts, shorter = rng.integers(1, 5, size=(4, 6)), rng.dirichlet(np.ones(6), size=4)
    counts[[0, 2]], counts[1, 3:] = 0, 0
    expect_close(
        student(counts, shorter[0], 3), _mixed(counts, shorter[0], 3), "with one shorter row for all"
    )
    P = _table(student(counts, shorter, 3), (4, 6), "the result")
    expect_close(P[[0, 2]], shorter[[0, 2]], "the rows never seen")
    expect_close(P, _mixed(counts, shorter, 3), "the interpolated probabilities")


@hidden_test("interpolate", weight=0.5)
@_with_right_dirichlet
def test_interpolate_everything_at_once(student, rng):
    """One to four axes with contexts never seen, any number of axes fewer, and an α below 1 or not whole."""
    counts = _seen(rng, 2, 3, 5, 4)
    counts[0, 1], counts[1, 2, ::2], counts[0, 0, 3] = 0, 0, 0
    for N in (counts, counts[1], counts[1, 2], counts[0, 0, 3]):
        for axes in range(N.ndim):
            shorter = rng.dirichlet(np.ones(4), size=N.shape[axes:-1])
            for alpha in (0.4, 3.5):
                expect_close(
                    student(N, shorter, alpha), _mixed(N, shorter, alpha), "the interpolated probabilities"
                )


@hidden_test("interpolate", weight=2)
@_with_right_dirichlet
def test_the_courses_interpolated_trigrams(student):
    """Stacked three times with α = 20, makemore's trigrams cost 2.375 with 1,000 names and 2.534 with 200."""
    parts = _makemore("makemore_trigrams.csv")
    for size, cost in (("1000", 2.375), ("200", 2.534)):
        N = parts[f"first_{size}"]
        letters = _table(
            student(N.sum(axis=(0, 1)), np.full(27, 1 / 27), 20), (27,), "the model of single letters"
        )
        bigram = _table(student(N.sum(axis=0), letters, 20), (27, 27), "the bigram model")
        P = _table(student(N, bigram, 20), (27, 27, 27), "the trigram model")
        expect(P.min() > 0, "an interpolated table should hold no zero")
        expect_close(P.sum(axis=-1), np.ones((27, 27)), "the sums of the interpolated rows")
        expect(
            abs(_nll(P, parts["last_3203"]) - cost) < 5.1e-4,
            "the interpolated trigrams do not cost what they should",
        )


# -------------------------------------------------------------------------------------------------- pwm_scores


def _dna(rng, length, p=None):
    return "".join(rng.choice(list("ACGT"), size=length, p=p))


def _scores(sites, sequence, alpha):
    """One window and one position at a time, with Python's own counting."""
    length, scores = len(sites[0]), []
    for start in range(len(sequence) - length + 1):
        score = 0.0
        for j, letter in enumerate(sequence[start : start + length]):
            count = [site[j] for site in sites].count(letter)
            score += np.log((count + alpha) / (len(sites) + 4 * alpha)) - np.log(0.25)
        scores.append(score)
    return np.array(scores)


def _different(rng, count, length, p=None):
    """Sites of which no two are the same."""
    known: list[str] = []
    while len(known) < count:
        known = list(dict.fromkeys([*known, _dna(rng, length, p)]))
    return known


def _two_with_all_letters(rng, length):
    """Two different sites, each with all four letters."""
    one, other = "", ""
    while one == other:
        one, other = ("".join(rng.permutation(list("ACGT" + _dna(rng, length - 4)))) for _ in range(2))
    return one, other


def _even(rng, quarter):
    """A sequence in which all four letters occur equally often."""
    return "".join(rng.permutation(list("ACGT" * quarter)))


def _expect_scores(student, sites, sequence, alpha, what, differences=False):
    """The scores of the windows that there are, at least of all but one; how many fit is another test's matter.

    Of ``differences`` only how windows compare counts: what all have in common is another test's matter, too.
    """
    expected = _scores(sites, sequence, alpha)
    scores = as_array(student(sites, sequence, alpha), what)
    expect(scores.ndim == 1, f"{what} should be one number for each window")
    enough = len(expected) - 1 <= len(scores) <= len(expected)
    expect(enough, f"{what}: one score for each window is expected")
    expect(np.isfinite(scores).all(), f"{what} should be finite numbers")
    common = float(np.mean(scores - expected[: len(scores)])) if differences and len(scores) else 0
    expect_close(scores - common, expected[: len(scores)], what)


@hidden_test("pwm_scores")
@_with_right_dirichlet
def test_the_log_odds_of_windows(student, rng):
    """A window's score is its log-odds against even DNA, in nats."""
    for length, count, quarter, alpha in ((6, 9, 10, 1), (4, 14, 6, 0.3), (11, 5, 15, 2.5)):
        known = _different(rng, count, length, [0.5, 0.1, 0.3, 0.1])
        _expect_scores(student, known, _even(rng, quarter), alpha, "the scores")
    expect(not student.mutated, "your function changes the list of sites")


@hidden_test("pwm_scores", weight=1.25)
@_with_right_dirichlet
def test_every_window_has_a_score(student, rng):
    """T − L + 1 windows fit, the last one too."""
    for length, quarter in ((6, 10), (3, 6), (8, 3)):
        known, sequence = _different(rng, 5, length), _even(rng, quarter)
        expected = _scores(known, sequence, 1)
        scores = _table(student(known, sequence, 1), expected.shape, "the scores of all windows")
        expect(np.isfinite(scores).all(), "the scores of all windows should be finite numbers")
        expect_close(scores - scores.mean(), expected - expected.mean(), "how all windows compare")


@hidden_test("pwm_scores", weight=2)
@_with_right_dirichlet
def test_letters_that_are_rare(student, rng):
    """Whatever letters the sequence has, each is compared with 1/4; one that no site has lowers the score."""
    known = _different(rng, 8, 5, [0.5, 0, 0.5, 0])
    common = _dna(rng, 20, [0.7, 0, 0.3, 0])
    _expect_scores(student, known, common, 1, "the scores of the sites' own letters", differences=True)
    for alpha in (0.01, 4):
        sequence = _dna(rng, 3, [0, 0.5, 0, 0.5]) + _dna(rng, 12, [0.1, 0.4, 0.1, 0.4]) + "CCCTA"
        _expect_scores(student, known, sequence, alpha, "the scores of rare letters", differences=True)


@hidden_test("pwm_scores", weight=1.75)
@_with_right_dirichlet
def test_sites_that_repeat_and_single_sites(student, rng):
    """A site that stands in the list twice counts twice, and one site is enough."""
    site, other = _two_with_all_letters(rng, 7)
    for known in ([site, site, other], [site], [other, site, other, other]):
        _expect_scores(student, known, _even(rng, 6), 0.7, "the scores of repeated sites")


@hidden_test("pwm_scores", weight=1.75)
@_with_right_dirichlet
def test_tight_fits(student, rng):
    """One window may fit exactly, or none, also in a sequence that is much shorter."""
    site, other = _two_with_all_letters(rng, 8)
    for sequence in (_even(rng, 2), site[:7], site[:2]):
        result = as_array(student([site, other], sequence, 0.7), "the scores of a short sequence")
        windows = max(0, len(sequence) - 7)
        expect(result.shape == (windows,), f"the result should be of shape ({windows},) here")
        expect_close(result, _scores([site, other], sequence, 0.7), "the scores of a short sequence")
    expect_close(
        student(["A", "C"], "ACCACAAC", 1), _scores(["A", "C"], "ACCACAAC", 1), "scores of one letter"
    )


@hidden_test("pwm_scores")
@_with_right_dirichlet
def test_long_sites(student, rng):
    """A site may have hundreds of letters: its evidence is a sum of logarithms, which stays finite."""
    known = [_dna(rng, 700) for _ in range(3)]
    sequence = known[0] + _dna(rng, 4)
    _expect_scores(student, known, sequence, 0.5, "the scores of long sites", differences=True)


@hidden_test("pwm_scores", weight=1.25)
@_with_right_dirichlet
def test_it_finds_the_binding_sites_before_lacz(student):
    """In the promoter of lacZ the two known sites of CRP score highest, though neither was shown."""
    folder = course_root() / "data" / "02_dirichlet_map"
    rows = [line.split("\t") for line in (folder / "crp_sites.tsv").read_text(encoding="ascii").splitlines()]
    known = sorted({site for promoter, _, site in rows if not promoter.startswith("lac")})
    sequence = (folder / "lac_promoter.txt").read_text(encoding="ascii").strip()
    _expect_scores(student, known, sequence, 1, "the scores of the promoter")
    scores = as_array(student(known, sequence, 1), "the scores")
    expect_equal(np.argsort(-scores)[:2], [10, 82], "the two best windows")
