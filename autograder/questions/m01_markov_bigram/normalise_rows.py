"""Lab 01, normalise_rows: counts N (R, V) → probabilities (R, V), each row by its own sum; a row without counts stays zero."""

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m01_markov_bigram.common import normalised


def row_by_row(N):
    return normalised(N)


question = Question(row_by_row)


@question.family("Each row is divided by its own sum, whatever the table's shape.", weight=1.5)
def own_sums(rng):
    yield Case(np.array([[2.0, 3.0, 5.0], [1.0, 0.0, 3.0]]), gives=[[0.2, 0.3, 0.5], [0.25, 0, 0.75]])
    for shape in ((3, 5), (5, 3), (4, 4), (1, 6)):
        yield rng.integers(1, 30, size=shape).astype(float)


@question.family("A row in which only one thing ever followed is certain.")
def certain_rows(rng):
    for size in (3, 5):
        yield np.diag(rng.integers(2, 30, size=size).astype(float))[rng.permutation(size)]


@question.family("Rows that were never seen stay zero, and the others are exact.")
def empty_rows(rng):
    yield Case(
        np.array([[0, 0, 0], [0, 1, 3], [0, 0, 0]]), gives=[[0.0, 0.0, 0.0], [0.0, 0.25, 0.75], [0.0] * 3]
    )
    N = rng.integers(1, 9, size=(5, 6)).astype(float)
    N[[1, 3]], N[:, 2], N[0, 0] = 0, 0, 0
    yield from (N, N[:, 3:5], np.zeros((1, 3)))
    yield np.zeros((int(rng.integers(2, 5)), 4))


@question.family("Whole numbers, large ones, and views of a table work.", weight=0.5)
def whole_numbers_and_views(rng):
    N = rng.integers(1, 50, size=(4, 3))
    yield from (N, N.T, N * 100_000, N.astype(np.int32), N[:, :1])


@question.family("Counts may be fractions, and as small as they like.", weight=1.5)
def fractions(rng):
    yield 0.01 + 0.2 * rng.random((3, 4))
    for size in (1.0, 1e-6, 1e-9):
        yield size * rng.uniform(0.1, 0.2, (3, 2)).T
    yield rng.integers(1, 7, size=(4, 3)) * 10.0 ** rng.integers(-8, 5, size=(4, 1))


@question.misconception("the columns are normalised instead of the rows", costs=2)
def columns_normalised(N):
    """Your columns sum to one. That answers “what came before?”; the question is “what comes next?”, and
    the current word is the row. In NumPy axis=1 runs along a row."""
    total = N.sum(axis=0, keepdims=True)
    return np.divide(N, total, out=np.zeros(N.shape), where=total > 0)


@question.misconception("the whole table is normalised at once", costs=2, because="one slip")
def whole_table_normalised(N):
    """Your whole table sums to one: each cell is the probability of seeing that pair at all. The chain needs
    the probability of the next token *given* the current one, so each row has a sum of its own."""
    return N / N.sum() if N.sum() > 0 else np.zeros(N.shape)


@question.misconception(
    "a small number is added below the fraction line",
    costs=1.5,
    because="the rows are nearly right",
    small=1e-4,
)
@question.misconception(
    "a tiny number is added below the fraction line",
    costs=1,
    small=1e-6,
    hint="""Where the counts are small your rows do not sum to one: a tiny number is added to each sum. It avoids 0/0, but the other rows
    should stay exact. Treat the empty rows apart.""",
)
def small_number_below(N, *, small):
    """Your rows sum to a little less than one. A small number in the denominator alone avoids 0/0 but takes
    probability away from every row. Leave the full rows exact and treat the empty rows apart."""
    cells = N.shape[1] if small > 1e-5 else 1  # the lecture adds it to each cell
    return N / (N.sum(axis=1, keepdims=True) + small * cells)


@question.misconception("an empty row turns into nan", costs=1)
def empty_row_nan(N):
    """A row without counts became nan, because 0/0 is no number, and nan spreads to all that touches it.
    Divide only where the sum is greater than zero; a row never seen stays zero."""
    return N / N.sum(axis=1, keepdims=True)


@question.misconception("an empty row becomes even", costs=1)
def empty_row_even(N):
    """A row without counts got equal probabilities. That is an opinion about something that was never seen,
    and a fair one, but this lab pins a row of zeros. Lab 02 is about such opinions."""
    total = N.sum(axis=1, keepdims=True)
    return np.where(total > 0, N / np.where(total > 0, total, 1), 1 / N.shape[1])


@question.misconception("a row is taken for empty by its first count", costs=2, because="it may be any row")
def empty_by_the_first_count(N):
    """A row that begins with 0 became all zeros, though it holds counts. A row is empty when its sum is 0."""
    return N / np.where(N[:, :1] == 0, np.inf, N.sum(axis=1, keepdims=True))


@question.misconception("only the first empty row is treated apart", costs=1)
def first_empty_row_only(N):
    """The first row without counts stays zero, and the next one is nan. Treat every empty row alike: a mask finds them all."""
    total = N.sum(axis=1, keepdims=True).astype(float)
    total[np.flatnonzero(total == 0)[:1]] = 1
    return N / total


@question.misconception("divided by the largest count of the row", costs=2)
def divided_by_the_largest(N):
    """The largest entry of each of your rows is 1: you divide by the row's largest count. Probabilities sum to one, so divide by the sum."""
    largest = N.max(axis=1, keepdims=True)
    return np.divide(N, largest, out=np.zeros(N.shape), where=largest > 0)


@question.misconception("softmax instead of division", costs=3)
def softmax_of_counts(N):
    """Your rows are a softmax of the counts. Softmax is for scores, which may be negative; counts are already
    shares, and 5, 3, 2 should become .5, .3, .2 by plain division."""
    weights = np.exp(N - N.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@question.alternative
def row_by_row_in_plain_python(N):
    return [[float(n) / sum(map(float, row)) if sum(row) else 0.0 for n in row] for row in N]


@question.alternative
def by_a_diagonal_matrix(N):
    totals = np.einsum("ij->i", N)
    return np.diag(1.0 / np.where(totals == 0, 1.0, totals)) @ N
