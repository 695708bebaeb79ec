"""Lab 01, ``normalise_rows``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("normalise_rows", title="the columns are normalised instead of the rows")
def columns_normalised(N):
    """Your columns sum to one. That answers “what came before?”; the question is “what comes next?”, and
    the current word is the row. In NumPy axis=1 runs along a row."""
    total = N.sum(axis=0, keepdims=True)
    return np.divide(N, total, out=np.zeros(N.shape), where=total > 0)


@misconception("normalise_rows", title="the whole table is normalised at once")
def whole_table_normalised(N):
    """Your whole table sums to one: each cell is the probability of seeing that pair at all. The chain needs
    the probability of the next token *given* the current one, so each row has a sum of its own."""
    return N / N.sum() if N.sum() > 0 else np.zeros(N.shape)


@misconception("normalise_rows", title="a small number is added below the fraction line")
def small_number_below(N):
    """Your rows sum to a little less than one. A small number in the denominator alone avoids 0/0 but takes
    probability away from every row. Leave the full rows exact and treat the empty rows apart."""
    return N / np.sum(N + 0.0001, axis=1, keepdims=True)


@misconception(
    "normalise_rows",
    title="an empty row turns into nan",
    keeps="only rows without counts are wrong, and they are one test of four",
)
def empty_row_nan(N):
    """A row without counts became nan, because 0/0 is no number, and nan spreads to all that touches it.
    Divide only where the sum is greater than zero; a row never seen stays zero."""
    with np.errstate(all="ignore"):
        return N / N.sum(axis=1, keepdims=True)


@misconception(
    "normalise_rows",
    title="an empty row becomes even",
    keeps="only rows without counts are wrong; another convention, and a fair one",
)
def empty_row_even(N):
    """A row without counts got equal probabilities. That is an opinion about something that was never seen,
    and a fair one, but this lab pins a row of zeros. Lab 02 is about such opinions."""
    total = N.sum(axis=1, keepdims=True)
    return np.where(total > 0, N / np.where(total > 0, total, 1), 1 / N.shape[1])


@misconception(
    "normalise_rows",
    title="sums below 1 are taken for 1",
    keeps="right for whole counts, empty rows included",
)
def sums_below_one_left_out(N):
    """A row that sums to less than 1 is not normalised: max(sum, 1) guards against 0/0, but counts need not be whole. Treat the rows
    without counts apart, and divide all others by their own sum."""
    return N / np.maximum(N.sum(axis=1, keepdims=True), 1)


@misconception(
    "normalise_rows",
    title="a tiny number is added below the fraction line",
    keeps="right but for small counts",
)
def tiny_number_below(N):
    """Where the counts are small your rows do not sum to one: a tiny number is added to each sum. It avoids 0/0, but the other rows
    should stay exact. Treat the empty rows apart."""
    return N / (N.sum(axis=1, keepdims=True) + 1e-6)


@misconception(
    "normalise_rows",
    title="a row is taken for empty by its first count",
    keeps="right where no row begins with 0",
)
def empty_by_the_first_count(N):
    """A row that begins with 0 became all zeros, though it holds counts. A row is empty when its sum is 0."""
    total = np.where(N[:, :1] == 0, np.inf, N.sum(axis=1, keepdims=True))
    return N / total


@misconception(
    "normalise_rows", title="only the first empty row is treated apart", keeps="right with one empty row"
)
def first_empty_row_only(N):
    """The first row without counts stays zero, and the next one is nan. Treat every empty row alike: a mask finds them all."""
    total = N.sum(axis=1, keepdims=True).astype(float)
    empty = np.flatnonzero(total == 0)
    total[empty[:1]] = 1
    with np.errstate(all="ignore"):
        return N / total


@misconception("normalise_rows", title="the counts are changed in place", keeps="the values are right")
def counts_changed_in_place(N):
    """Your table is right, but the counts that you were given are gone: where they are fractions already, np.asarray makes no copy, and
    the division writes into them. Divide into a new array."""
    P = np.asarray(N, dtype=float)
    for row in P:
        if row.sum() > 0:
            row /= row.sum()
    return P


@misconception("normalise_rows", title="divided by the largest count of the row")
def divided_by_the_largest(N):
    """The largest entry of each of your rows is 1: you divide by the row's largest count. Probabilities sum to one, so divide by the sum."""
    largest = N.max(axis=1, keepdims=True)
    return np.divide(N, largest, out=np.zeros(N.shape), where=largest > 0)


@misconception("normalise_rows", title="softmax instead of division")
def softmax_of_counts(N):
    """Your rows are a softmax of the counts. Softmax is for scores, which may be negative; counts are already
    shares, and 5, 3, 2 should become .5, .3, .2 by plain division."""
    weights = np.exp(N - N.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@alternative("normalise_rows")
def row_by_row_in_plain_python(N):
    return [[float(n) / sum(map(float, row)) if sum(row) else 0.0 for n in row] for row in N]


@alternative("normalise_rows")
def by_a_diagonal_matrix(N):
    totals = np.einsum("ij->i", N)
    return np.diag(1.0 / np.where(totals == 0, 1.0, totals)) @ N


@alternative("normalise_rows")
def nan_to_zero_in_float32(N):
    N = np.array(N, dtype=np.float32)
    with np.errstate(all="ignore"):
        return np.nan_to_num((N.T / N.sum(1)).T)


@alternative("normalise_rows")
def with_torch(N):
    import torch

    N = torch.tensor(np.ascontiguousarray(N), dtype=torch.float64)
    return N / N.sum(dim=1, keepdim=True).clamp(min=1e-300)


@alternative("normalise_rows")
def in_float32_on_the_way(N):
    N = np.asarray(N).astype(np.float32)
    total = N.sum(axis=1, keepdims=True)
    return np.where(total > 0, N / np.where(total > 0, total, 1), 0).astype(np.float64)
