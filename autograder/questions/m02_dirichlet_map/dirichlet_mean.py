"""Lab 02, dirichlet_mean: N (…, V) counts, alpha > 0 a number or an array that broadcasts → probabilities (…, V)."""

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m02_dirichlet_map.common import rows_of, seen, shares


def average(N, alpha):
    return rows_of(N, alpha)


question = Question(average, uses=("dirichlet_map",))


@question.family(
    "The case by hand, and other single rows: each outcome gains α, and all are divided by their sum."
)
def single_rows(rng):
    yield Case(np.array([2, 3, 5]), 1, gives=[0.2308, 0.3077, 0.4615])
    for outcomes, alpha in ((5, 1), (3, 0.1), (9, 25.0)):
        yield seen(rng, outcomes), alpha


@question.family("In a table each row is divided by its own sum.", weight=1.5)
def tables(rng):
    for shape, alpha in (((4, 7), 1), ((5, 3), 2), ((2, 5), 25.0), ((1, 4), 3)):
        yield seen(rng, *shape), alpha


@question.family("Three axes and a transposed view: row by row along the last axis.")
def any_shape(rng):
    for N in (seen(rng, 2, 5, 3), (rng.random((6, 3)) * 9).T):
        yield N, 0.3


@question.family(
    "α may be an array, a knob for each outcome or for each cell, and counts need not be whole.", weight=1.5
)
def knobs(rng):
    N = seen(rng, 2, 3, 6)
    for counts, shape in ((N, (6,)), (N[0] + 0.5, (3, 6)), (N, (2, 3, 6)), (N[1, 1], (6,))):
        yield counts, rng.random(shape) * 4 + 0.02


@question.family("A row without counts is even, or as its α says.", weight=1.5)
def no_counts(rng):
    N = rng.integers(1, 9, size=(4, 5))
    N[[0, 2]] = 0
    for alpha in (0.5, 0.05, rng.random(5) + 0.1):
        yield N, alpha
        yield N[2], alpha


@question.family("A very small α is meant as it stands.")
def small_alpha(rng):
    for alpha in (0.001, float(rng.uniform(1e-4, 9e-4))):
        yield rng.integers(1, 9, size=(3, 4)), alpha


@question.scenario("Within a row the outcomes stand to each other as their counts plus α.", weight=2)
def proportions(student, rng):
    for shape, alpha in (((4, 7), 1), ((6,), 0.3), ((5, 3), 12.0)):
        P = np.asarray(student(rng.integers(1, 20, size=shape), alpha))
        yield Observed("each row, divided by its sum", P / P.sum(axis=-1, keepdims=True))


@question.misconception("α − 1 where α belongs", costs=2.5)
def alpha_minus_one_for_alpha(N, alpha):
    """You add α − 1 to each count; that is the most believable point, the MAP. The mean over all believable rows adds α itself, and that is
    why it also works for α below one."""
    return shares(N + np.asarray(alpha, dtype=float) - 1)


@question.misconception(
    "α is counted once below the line",
    costs=2,
    times=lambda N: 1,
    hint="Your rows sum to more than one: all V outcomes gain α above the line, so V·α joins the sum below.",
)
@question.misconception(
    "the rows are counted for the outcomes",
    costs=2,
    times=lambda N: N.shape[0],
    hint="""Below the line you add α once for each row, N.shape[0] times. That is right for square tables only: every row gains α once for each
    outcome, and these lie on the last axis.""",
)
@question.misconception(
    "V·α below the line",
    costs=1,
    times=lambda N: N.shape[-1],
    hint="""With one α for all your rows are right; with an array of α they do not sum to one: V·α is the sum of the knobs only when all are the
    same. Divide by the sum of what stands above the line.""",
)
def alpha_so_often_below(N, alpha, *, times):
    alpha = np.asarray(alpha, dtype=float)
    return (N + alpha) / (N.sum(axis=-1, keepdims=True) + times(N) * alpha)


@question.misconception("α counts for the outcomes that were seen", costs=2)
def alpha_for_seen_outcomes_below(N, alpha):
    """Below the line you add α only for the outcomes of the row that were seen. The prior speaks of all V of them; with the others left out
    the rows sum to more than one."""
    gain = np.broadcast_to(np.asarray(alpha, dtype=float), N.shape)
    below = (N + np.where(N > 0, gain, 0)).sum(axis=-1, keepdims=True)
    return np.divide(N + gain, below, out=np.full(N.shape, 1 / N.shape[-1]), where=below > 0)


@question.misconception("only the zeros get α", costs=2.5)
def only_zeros_get_alpha(N, alpha):
    """You add α only where the count is zero. The prior adds to every outcome; otherwise, with α = 2, an outcome seen once would be less
    likely than one never seen."""
    return shares(N + np.where(N == 0, np.asarray(alpha, dtype=float), 0.0))


@question.misconception("the first axis is summed", costs=2, axis=0)
@question.misconception(
    "the whole table is divided by its sum",
    costs=2,
    axis=None,
    hint="Your whole table sums to one. Every context has a row of its own that sums to one: sum over the last axis, and keep it with keepdims.",
)
def summed_along(N, alpha, *, axis):
    """Your result sums to one down the first axis. The outcomes lie on the last axis."""
    weight = N + np.asarray(alpha, dtype=float)
    return weight / weight.sum(axis=axis, keepdims=True)


@question.misconception("α is added to the probabilities", costs=2.5)
def alpha_added_to_probabilities(N, alpha):
    """You divide first and add α afterwards, so a row seen a thousand times is smoothed as much as one seen once. α is a number of imagined
    observations: add it to the counts."""
    return shares(shares(N + 0.0) + np.asarray(alpha, dtype=float))


@question.misconception("a row without counts stays zero", costs=1)
def empty_rows_stay_zero(N, alpha):
    """Your rows without counts stay zero. That is the rule of the MAP with α = 1; the mean adds α there as everywhere, so such a row is
    even."""
    return np.where(N.sum(axis=-1, keepdims=True) > 0, average(N, alpha), 0.0)


@question.misconception("a single row gets a second axis", costs=1, because="only a shape is off")
def single_row_as_a_table(N, alpha):
    """A single row (V,) comes back as a table (1, V). The result has the shape of N; axis=-1 is the last axis of a single row, too, so
    nothing need be added."""
    return np.atleast_2d(average(N, alpha))


@question.alternative
def mean_as_shrinkage(N, alpha):
    a = np.broadcast_to(np.asarray(alpha, dtype=float), N.shape)
    n, strength = N.sum(-1, keepdims=True), a.sum(-1, keepdims=True)
    own = np.divide(N, n, out=np.zeros(N.shape), where=n > 0)
    return (n * own + strength * (a / strength)) / (n + strength)


@question.alternative
def mean_as_map_of_one_more(N, alpha):
    return shares(N + (np.asarray(alpha) + 1.0) - 1)


@question.impostor
def counts_rows_for_outcomes(right, N, alpha):
    """It adds α below the line as often as there are rows, not outcomes.
    One survives: your table has as many rows as columns."""
    weight = np.asarray(N) + alpha
    too_few = (weight.shape[-1] - len(weight)) * alpha
    return right(N, alpha) / (1 - too_few / weight.sum(axis=-1, keepdims=True))


@question.impostor
def sums_over_the_columns(right, N, alpha):
    """It divides by the sums of the columns.
    One survives: your table reads the same by rows and by columns."""
    return np.swapaxes(right(np.swapaxes(N, -1, -2), alpha), -1, -2)


@question.impostor
def one_sum_for_all_rows(right, N, alpha):
    """It divides all rows by the sum of the first.
    One survives: all rows of your table have the same sum."""
    weight = np.asarray(N) + alpha
    return weight / weight.reshape(-1, weight.shape[-1])[0].sum()


@question.impostor
def cuts_alpha_to_a_whole_number(right, N, alpha):
    """It cuts α down to a whole number.
    One survives: the α of your input are whole numbers. Need they be?"""
    return right(N, np.floor(alpha))


@question.impostor
def takes_the_first_alpha(right, N, alpha):
    """It uses the first α for all outcomes.
    One survives: all outcomes of your input have the same α. Need they?"""
    return right(N, np.ravel(alpha)[0])
