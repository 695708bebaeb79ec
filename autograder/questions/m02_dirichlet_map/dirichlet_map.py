"""Lab 02, dirichlet_map: N (…, V) counts, alpha ≥ 1 a number or an array that broadcasts → probabilities (…, V)."""

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m02_dirichlet_map.common import over, rows_of, seen, shares


def most_believable(N, alpha):
    return rows_of(N, np.asarray(alpha, dtype=float) - 1)


question = Question(most_believable)


@question.family("Each outcome gains α − 1, and each row is divided by its own sum.", weight=1.5)
def tables(rng):
    for shape, alpha in (((4, 7), 2), ((5, 3), 1.5), ((1, 5), 11)):
        yield seen(rng, *shape), alpha


@question.family(
    "The two rows by hand, three axes and a transposed view: row by row along the last axis.", weight=1.5
)
def any_shape(rng):
    yield Case(np.array([2.0, 3, 5]), 2, gives=[0.2308, 0.3077, 0.4615])
    yield Case(np.zeros(3), 2, gives=[0.333, 0.333, 0.333])
    for N in (rng.random(6) * 9, rng.random((2, 5, 3)) * 9, (rng.random((6, 3)) * 9).T):
        yield N, 3.0


@question.family("α may be an array: a knob for each outcome, or for each cell.", weight=1.5, exact_ties=True)
def knobs(rng):
    N = rng.random((2, 3, 4)) * 9
    for shape in ((4,), (3, 4), (2, 3, 4)):
        yield N, 1 + rng.random(shape) * 4
    yield N[0], 1 + rng.random((3, 4)) * 4
    yield N[0, 1], np.array([1, 3.5, 1, 2])
    N[0, 1], N[1, 0] = 0, 0
    alpha = 1 + rng.random((2, 3, 4)) * 4
    alpha[0, 1], alpha[1, 0, :2] = 1, 1
    yield N, alpha


@question.family(
    "With α = 1 it is counting, and a row without counts stays zero.", weight=1.5, exact_ties=True
)
def counting(rng):
    N = rng.integers(1, 9, size=(5, 4))
    N[[0, 3]] = 0
    yield N, 1
    yield N, 1.0


@question.family("With α above 1 a row without counts is even, however little it gains.", weight=2.5)
def no_counts(rng):
    N = rng.integers(1, 9, size=(4, 3))
    N[[1, 3]] = 0
    for alpha in (3, 1.2, 1 + float(rng.uniform(0.05, 0.2))):
        yield N, alpha


def above(N, alpha):
    return N + (np.asarray(alpha, dtype=float) - 1)


@question.misconception("α where α − 1 belongs", costs=2.5)
def alpha_for_alpha_minus_one(N, alpha):
    """You add α to each count; that is the posterior *mean*. The most believable point adds α − 1, because the exponents of the Dirichlet
    distribution are α − 1."""
    return rows_of(N, alpha)


@question.misconception("the pseudo-count is counted once below the line", costs=2)
def one_pseudo_count_below(N, alpha):
    """Your rows sum to more than one: each of the V outcomes gains α − 1 above the line, so the sum below must gain all V of them."""
    gain = np.asarray(alpha, dtype=float) - 1
    return over(N + gain, N.sum(axis=-1, keepdims=True) + gain + 0 * N)


@question.misconception("the sum below the line is of the counts only", costs=2.5)
def nothing_below(N, alpha):
    """Your rows sum to more than one: you add to the counts but divide by the sum of the bare counts. Divide by the sum of what stands above
    the line."""
    return over(above(N, alpha), N.sum(axis=-1, keepdims=True))


@question.misconception("a row without counts becomes nan when counting", costs=1)
def empty_row_nan(N, alpha):
    """With α = 1 a row without counts becomes nan, from 0/0. Divide only where the sum is above zero; such a row stays zero."""
    weight = above(N, alpha)
    return weight / weight.sum(axis=-1, keepdims=True)


@question.misconception("a row without counts is even when counting", costs=1)
def empty_row_even(N, alpha):
    """With α = 1 a row without counts is even in your table. The flat prior has no most believable row there; the text asks for zeros, as in
    lab 01. (The mean is even, and says so honestly.)"""
    P = most_believable(N, alpha)
    return np.where(P.sum(axis=-1, keepdims=True) > 0, P, 1 / P.shape[-1])


@question.misconception("the first axis is normalised", costs=2.5, axis=0)
@question.misconception(
    "the second axis is normalised",
    costs=1.5,
    axis=1,
    hint="""Your sum runs over axis 1, which is the last one in a table only. A single row has no such axis, and with three the outcomes lie on
    another: the last axis is axis=-1, however many there are.""",
)
def another_axis_normalised(N, alpha, *, axis):
    """Your result sums to one down the first axis. The outcomes lie on the last axis: divide each row along it by its own sum."""
    weight = above(N, alpha)
    return over(weight, weight.sum(axis=axis, keepdims=True))


@question.misconception("only the zeros are filled up", costs=2.5)
def zeros_filled_up(N, alpha):
    """You add only where the count is zero. The prior adds to *every* outcome; otherwise one that was seen once ends up behind one that was
    never seen."""
    return shares(N + np.where(N == 0, np.asarray(alpha, dtype=float) - 1, 0.0))


@question.misconception("a row without counts stays zero whatever α is", costs=1.5)
def empty_rows_always_zero(N, alpha):
    """Your rows without counts stay zero for every α. They do with α = 1 only; with a larger α they gain α − 1 as all rows do, and come
    out even."""
    return np.where(N.sum(axis=-1, keepdims=True) > 0, most_believable(N, alpha), 0.0)


@question.alternative
def map_row_after_row(N, alpha):
    def one(row, a):
        above = [float(n) + float(x) - 1 for n, x in zip(row, a, strict=True)]
        return [w / sum(above) if sum(above) else 0.0 for w in above]

    V = N.shape[-1]
    knobs = np.broadcast_to(alpha, N.shape).reshape(-1, V)
    return np.reshape([one(row, a) for row, a in zip(N.reshape(-1, V), knobs, strict=True)], N.shape)
