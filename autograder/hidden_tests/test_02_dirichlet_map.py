"""Hidden tests of lab 02: Beta and Dirichlet posteriors, smoothing, interpolation and a motif finder."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np

from autograder.course.masters import course_root
from autograder.testing import as_array, expect, expect_close, expect_equal, follow_through, hidden_test

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
    expect(value.shape == shape, f"{what} should have shape {shape}, but has shape {value.shape}")
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


@hidden_test("beta_posterior")
def test_heads_and_tails_add_to_the_prior(student, rng):
    """The posterior's knobs are the prior's plus the heads and the tails."""
    for _ in range(4):
        n = int(rng.integers(5, 60))
        k, a, b = int(rng.integers(1, n)), float(rng.uniform(1, 9)), float(rng.uniform(1, 9))
        expect_close(_posterior(student, k, n, a, b)[:2], [k + a, n - k + b], "the posterior's knobs")


@hidden_test("beta_posterior")
def test_the_mode_is_the_highest_point_of_the_curve(student, rng):
    """The mode is where the posterior's curve is highest."""
    for _ in range(3):
        n = int(rng.integers(6, 40))
        k, a, b = int(rng.integers(1, n)), float(rng.uniform(1.5, 6)), float(rng.uniform(1.5, 6))
        mode = _posterior(student, k, n, a, b)[2]
        expect(0 < mode < 1, "the mode should lie between 0 and 1")
        slope = (k + a - 1) / mode - (n - k + b - 1) / (1 - mode)  # of the logarithm; zero at the top
        expect(abs(slope) < 1e-3 * n, "the mode is not the highest point of the posterior")


@hidden_test("beta_posterior")
def test_the_mean_is_the_average_over_the_curve(student, rng):
    """The mean is the average of q under the posterior, worked numerically."""
    q = (np.arange(40_000) + 0.5) / 40_000
    for _ in range(3):
        n = int(rng.integers(6, 40))
        k, a, b = int(rng.integers(1, n)), float(rng.uniform(2, 6)), float(rng.uniform(2, 6))
        log_belief = (k + a - 1) * np.log(q) + (n - k + b - 1) * np.log(1 - q)
        belief = np.exp(log_belief - log_belief.max())
        mean = _posterior(student, k, n, a, b)[3]
        expect_close(mean, (q * belief).sum() / belief.sum(), "the mean", rtol=1e-5)


@hidden_test("beta_posterior")
def test_few_tosses_and_flat_priors(student):
    """Flat priors, no tosses, all heads and all tails give the right mode and mean."""
    cases = {
        (0, 0, 1, 1): (1, 1, 1 / 2, 1 / 2),
        (3, 3, 1, 1): (4, 1, 1, 4 / 5),
        (0, 2, 1, 1): (1, 3, 0, 1 / 4),
        (3, 3, 2, 2): (5, 2, 4 / 5, 5 / 7),
        (0, 0, 3, 2): (3, 2, 2 / 3, 3 / 5),
        (7, 10, 1, 1): (8, 4, 7 / 10, 2 / 3),
    }
    for arguments, expected in cases.items():
        expect_close(_posterior(student, *arguments), expected, "the posterior of a few tosses")


# ----------------------------------------------------------------------------------------------- dirichlet_map


@hidden_test("dirichlet_map", weight=2)
def test_map_adds_alpha_minus_one(student, rng):
    """Each outcome gains α − 1, and each row is divided by its own sum."""
    for shape, alpha in (((4, 7), 2), ((7, 4), 1.5), ((1, 5), 11)):
        N = rng.integers(0, 20, size=shape)
        expect_close(student(N, alpha), _rows(N, alpha - 1), "the most believable probabilities")
    expect(not student.mutated, "your function changes the counts it was given")


@hidden_test("dirichlet_map")
def test_map_in_any_shape(student, rng):
    """A single row, three axes and a transposed view are treated row by row along the last axis."""
    for N in (rng.random(6) * 9, rng.integers(0, 9, size=(2, 5, 3)), (rng.random((6, 3)) * 9).T):
        expect_close(student(N, 3.0), _rows(N, 2.0), "the most believable probabilities")


@hidden_test("dirichlet_map")
def test_map_with_a_knob_for_each_outcome(student, rng):
    """α may be an array: a knob for each outcome, or for each cell."""
    N = rng.integers(0, 9, size=(3, 6))
    for alpha in (1 + rng.random(6) * 4, 1 + rng.random((3, 6)) * 4):
        expect_close(student(N, alpha), _rows(N, alpha - 1), "the probabilities with an array of α")
    expect(not student.mutated, "your function changes the counts or the α it was given")


@hidden_test("dirichlet_map", weight=3)
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


# ---------------------------------------------------------------------------------------------- dirichlet_mean


@hidden_test("dirichlet_mean", weight=2)
@_with_right_map
def test_mean_adds_alpha(student, rng):
    """Each outcome gains α, and each row is divided by its own sum."""
    for shape, alpha in (((4, 7), 1), ((7, 4), 0.1), ((1, 5), 25.0)):
        N = rng.integers(0, 20, size=shape)
        N[0] = 0
        expect_close(student(N, alpha), _rows(N, alpha), "the mean probabilities")
    expect(not student.mutated, "your function changes the counts it was given")


@hidden_test("dirichlet_mean")
@_with_right_map
def test_mean_in_any_shape(student, rng):
    """A single row, three axes and a transposed view are treated row by row along the last axis."""
    for N in (rng.random(6) * 9, rng.integers(0, 9, size=(2, 5, 3)), (rng.random((6, 3)) * 9).T):
        expect_close(student(N, 0.3), _rows(N, 0.3), "the mean probabilities")


@hidden_test("dirichlet_mean")
@_with_right_map
def test_mean_with_a_knob_for_each_outcome(student, rng):
    """α may be an array: a knob for each outcome, or for each cell."""
    N = rng.integers(0, 9, size=(3, 6))
    for alpha in (rng.random(6) * 4 + 0.01, rng.random((3, 6)) * 4 + 0.01):
        expect_close(student(N, alpha), _rows(N, alpha), "the probabilities with an array of α")
    expect(not student.mutated, "your function changes the counts or the α it was given")


@hidden_test("dirichlet_mean")
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


def _expect_choice(student, train, dev, grid):
    best, costs = _several(student(train, dev, grid), 2, "best, costs")
    expected_best, expected_costs = _expected_choice(train, dev, grid)
    expect_close(costs, expected_costs, "the costs")
    expect_close(_number(best, "the best α"), expected_best, "the best α")


def _split(rng, shape, tokens):
    """Counts of the same rows twice: few to learn from, some to judge by."""
    P = rng.dirichlet(np.full(shape[-1], 0.4), size=shape[:-1])
    heard = rng.integers(1, 2 * tokens, size=shape[:-1])
    return rng.multinomial(heard, P), rng.multinomial(2 * heard, P)


@hidden_test("choose_alpha", weight=2)
@_with_right_dirichlet
def test_the_best_of_a_grid_and_its_costs(student, rng):
    """The number with the lowest NLL on the unseen counts is chosen, and each number's NLL returned."""
    for tokens in (3, 8, 40):
        train, dev = _split(rng, (6, 9), tokens)
        _expect_choice(student, train, dev, [0.003, 0.03, 0.1, 0.4, 1.5, 12.0])
    expect(not student.mutated, "your function changes the counts or the grid it was given")


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_the_best_may_stand_anywhere_in_the_grid(student, rng):
    """The best number may be the first, the last or the only one, and the grid need not be sorted."""
    train, dev = _split(rng, (5, 7), 4)
    grid = [float(alpha) for alpha in np.geomspace(0.002, 60, 9)]
    best = _expected_choice(train, dev, grid)[0]
    others = [alpha for alpha in grid if alpha != best]
    for order in ([best, *others], [*others, best], [*others[:4][::-1], best, *others[4:]], [best]):
        _expect_choice(student, train, dev, order)


@hidden_test("choose_alpha", weight=0.5)
@_with_right_dirichlet
def test_the_first_of_equally_good_numbers_is_chosen(student, rng):
    """When all numbers of the grid cost the same, the first one is chosen."""
    train, dev = np.full((3, 4), int(rng.integers(1, 9))), rng.integers(1, 20, size=(3, 4))
    for grid in ([7.0, 1.0, 3.0], [0.5, 2.0, 8.0, 4.0]):
        best, costs = _several(student(train, dev, grid), 2, "best, costs")
        costs = as_array(costs, "the costs")
        expect_close(costs, np.full(len(grid), np.log(4)), "the costs of equally good numbers")
        chosen = _number(best, "the best α")
        expect(chosen in grid, "the best α should be a number of the grid")
        # Who rounds the costs another way may see no tie: the first of the student's own lowest costs counts.
        ties = [alpha for alpha, cost in zip(grid, costs, strict=True) if cost == costs.min()]
        exact = costs.dtype == np.float64
        expect(
            chosen == ties[0] or (not exact and chosen in ties),
            "of equally good numbers of the grid the first one should be chosen",
        )


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_costs_count_tokens_not_cells(student, rng):
    """A cell that is seen often among the unseen names weighs more, on three axes too."""
    train, dev = _split(rng, (3, 4, 5), 6)
    dev[0, 0] = [200, 0, 0, 1, 0]
    dev[2] = 0
    _expect_choice(student, train, dev, [0.05, 0.2, 1, 7])


@hidden_test("choose_alpha")
@_with_right_dirichlet
def test_on_all_of_makemores_names_alpha_hardly_matters(student):
    """On makemore's full bigrams α = 0.01 costs 2.4535 and α = 1 costs 2.4533."""
    parts = _makemore("makemore_bigrams.csv")
    best, costs = _several(student(parts["train_25626"], parts["dev_3203"], [0.01, 1.0]), 2, "best, costs")
    costs = _table(costs, (2,), "the costs")
    expect(np.all(np.abs(costs - [2.4535, 2.4533]) < 6e-5), "the costs of makemore's bigrams are not right")
    expect_equal(_number(best, "the best α"), 1.0, "the best α")


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


@hidden_test("interpolate", weight=2)
@_with_right_dirichlet
def test_counts_and_the_shorter_model_are_weighed_by_evidence(student, rng):
    """The more often a context was seen, the less the shorter model counts."""
    for shape, alpha in (((4, 7), 5), ((6, 3), 0.5), ((2, 9), 40.0)):
        counts = rng.integers(0, 12, size=shape) * rng.integers(0, 30, size=(shape[0], 1))
        shorter = rng.dirichlet(np.ones(shape[1]), size=shape[0])
        expect_close(
            student(counts, shorter, alpha), _mixed(counts, shorter, alpha), "the interpolated probabilities"
        )
    expect(not student.mutated, "your function changes the counts or the shorter model it was given")


@hidden_test("interpolate")
@_with_right_dirichlet
def test_the_shorter_model_lacks_the_first_axes(student, rng):
    """A shorter model with fewer axes is used for every oldest token; a single row works too."""
    counts = rng.integers(0, 9, size=(3, 5, 4))
    for size in ((5,), ()):
        shorter = rng.dirichlet(np.ones(4), size=size)
        expect_close(
            student(counts, shorter, 7), _mixed(counts, shorter, 7), "the interpolated probabilities"
        )
    row, shorter = rng.integers(1, 9, size=6), rng.dirichlet(np.ones(6))
    expect_close(student(row, shorter, 2.5), _mixed(row, shorter, 2.5), "a single interpolated row")


@hidden_test("interpolate")
@_with_right_dirichlet
def test_a_context_never_seen_gets_the_shorter_models_row(student, rng):
    """Without counts the shorter model's row comes out exactly; with some the zeros fill up."""
    counts, shorter = rng.integers(1, 5, size=(4, 6)), rng.dirichlet(np.ones(6), size=4)
    counts[[0, 2]], counts[1, 3:] = 0, 0
    P = _table(student(counts, shorter, 3), (4, 6), "the result")
    expect_close(P[[0, 2]], shorter[[0, 2]], "the rows never seen")
    expect_close(P, _mixed(counts, shorter, 3), "the interpolated probabilities")


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


@hidden_test("pwm_scores", weight=2)
@_with_right_dirichlet
def test_the_log_odds_of_every_window(student, rng):
    """Every window's log-odds against even DNA, in nats."""
    for length, sites, letters, alpha in ((6, 9, 40, 1), (3, 14, 25, 0.3), (11, 5, 60, 2.5)):
        known = [_dna(rng, length, [0.5, 0.1, 0.3, 0.1]) for _ in range(sites)]
        sequence = _dna(rng, letters)
        expect_close(student(known, sequence, alpha), _scores(known, sequence, alpha), "the scores")
    expect(not student.mutated, "your function changes the list of sites")


@hidden_test("pwm_scores")
@_with_right_dirichlet
def test_letters_that_no_site_has(student, rng):
    """A letter that no site has at a position lowers the score by as much as α lets it."""
    known = [_dna(rng, 5, [0.5, 0, 0.5, 0]) for _ in range(8)]
    for alpha in (0.01, 4):
        sequence = _dna(rng, 12, [0.1, 0.4, 0.1, 0.4])
        expect_close(
            student(known, sequence, alpha), _scores(known, sequence, alpha), "the scores of rare letters"
        )


@hidden_test("pwm_scores")
@_with_right_dirichlet
def test_repeated_sites_single_sites_and_tight_fits(student, rng):
    """Repeated sites count twice, one site is enough, one window may fit exactly, or none."""
    site, other = _dna(rng, 7), _dna(rng, 7)
    for known, sequence in (([site, site, other], _dna(rng, 20)), ([site], other), ([site] * 3, site)):
        expect_close(student(known, sequence, 0.7), _scores(known, sequence, 0.7), "the scores")
    expect_close(
        student(["A", "A", "C"], "GATTACA", 1), _scores(["A", "A", "C"], "GATTACA", 1), "scores of one letter"
    )
    empty = as_array(student([site, other], site[:4], 1), "the result without any window")
    expect(empty.shape == (0,), "without any window the result should be an empty array")


@hidden_test("pwm_scores")
@_with_right_dirichlet
def test_it_finds_the_binding_sites_before_lacz(student):
    """In the promoter of lacZ the two known sites of CRP score highest, though neither was shown."""
    folder = course_root() / "data" / "02_dirichlet_map"
    rows = [line.split("\t") for line in (folder / "crp_sites.tsv").read_text(encoding="ascii").splitlines()]
    known = sorted({site for promoter, _, site in rows if not promoter.startswith("lac")})
    sequence = (folder / "lac_promoter.txt").read_text(encoding="ascii").strip()
    scores = as_array(student(known, sequence, 1), "the scores")
    expect_close(scores, _scores(known, sequence, 1), "the scores of the promoter")
    expect_equal(np.argsort(-scores)[:2], [10, 82], "the two best windows")
