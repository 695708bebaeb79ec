"""Lab 00, ``lookup``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("lookup", title="only the row with the largest weight")
def only_the_heaviest_row(H, E):
    """You pick one row of the table for each row of weights. That works for one-hot rows only: with weights
    0.5 and 0.5 both rows count half. A matrix product does this by itself."""
    return E[np.argmax(H, axis=-1)]


@misconception("lookup", title="rows added without their weights")
def rows_without_weights(H, E):
    """Your result adds up every row of the table whose weight is not zero, as if all weights were 1. Each row
    counts by its weight: half a weight, half a row."""
    return (np.asarray(H) != 0).astype(float) @ E


@misconception("lookup", title="weights rescaled to sum to one")
def weights_rescaled(H, E):
    """You divide the weights by their sum. Nothing says that they are shares of one: take them as they are, even
    negative ones."""
    with np.errstate(all="ignore"):
        return (H / H.sum(axis=-1, keepdims=True)) @ E


@misconception("lookup", title="rows in the order of the table")
def rows_in_table_order(H, E):
    """The rows come out in the order of the table, and each only once. They should come out in the order of the
    positions: one result for each row of weights, so a word that occurs twice is looked up twice."""
    return E[np.asarray(H).reshape(-1, len(E)).any(axis=0)]


@misconception("lookup", title="columns of the table instead of rows")
def columns_instead_of_rows(H, E):
    """You combine the columns of the table; each row of weights has one weight for each *row* of the table.
    Look at the shapes: (T, V) times (V, D)."""
    return H @ E.T


@misconception("lookup", title="weights rescaled where there are any")
def weights_rescaled_where_any(H, E):
    """You divide the weights by their sum wherever that is positive. But twice a row is twice a row: weights are no shares of one, and
    need not add up to anything."""
    total = H.sum(axis=-1, keepdims=True)
    return np.where(total > 0, H / np.where(total > 0, total, 1), H) @ E


@misconception(
    "lookup", title="zeros and ones taken for one-hot", keeps="right for one-hot rows, and for fractions"
)
def zeros_and_ones_for_one_hot(H, E):
    """Weights of 0 and 1 are not always one-hot: a row with two 1s adds up two rows of the table, and one of zeros gives zeros.
    argmax takes a single row for each. The product alone does all of it right."""
    return E[np.argmax(H, axis=-1)] if np.isin(H, (0, 1)).all() else H @ E


@misconception("lookup", title="a result as whole as the table", keeps="right for tables of fractions")
def as_whole_as_the_table(H, E):
    """From a table of whole numbers your results come out as whole numbers, their fractions cut off: the array that you fill has
    the type of E. Let it hold fractions (np.zeros alone does)."""
    return (H @ E).astype(E.dtype)


@misconception("lookup", title="summed over the second axis", keeps="right for tables of weights")
def summed_over_the_second_axis(H, E):
    """You sum over axis 1 whatever the shape of H is. The weights stand on its *last* axis: a single row has them on axis 0, a batch
    on axis 2. Count from the end."""
    return (H[..., None] * E).sum(axis=1)


@misconception("lookup", title="negative weights left out", keeps="right for weights that are not negative")
def negative_weights_left_out(H, E):
    """You leave out rows whose weight is negative. *Any* weights are allowed: a negative one takes its row away from the sum."""
    return np.where(H > 0, H, 0) @ E


@misconception("lookup", title="transposed, multiplied, transposed back", keeps="right for one or two axes")
def transposed_and_back(H, E):
    """.T turns *all* axes round, and np.dot sums over the last axis but one of its second factor: with a batch these are no longer
    the weights. H @ E needs no transposing."""
    return np.dot(E.T, H.T).T


@misconception("lookup", title="small weights taken for zero", keeps="right for all but small weights")
def small_weights_for_zero(H, E):
    """You take small weights for 0. They may meet large numbers in the table: use all weights as they are."""
    return np.where(np.abs(H) < 0.001, 0, H) @ E


@alternative("lookup")
def lookup_einsum(H, E):
    return np.einsum("...v,vd->...d", H, E)


@alternative("lookup")
def lookup_sum_of_scaled_rows(H, E):
    H = np.asarray(H)
    result = np.zeros((*H.shape[:-1], E.shape[1]))
    for word in range(E.shape[0]):
        result = result + H[..., word, None] * E[word]
    return result


@alternative("lookup")
def lookup_torch_float32(H, E):
    import torch

    return torch.tensor(np.ascontiguousarray(H), dtype=torch.float32) @ torch.tensor(E, dtype=torch.float32)


@alternative("lookup")
def lookup_float32_on_the_way(H, E):
    return (np.asarray(H, dtype=np.float32) @ np.asarray(E, dtype=np.float32)).astype(np.float64)


@alternative("lookup")
def lookup_by_recursion_in_lists(H, E):
    if H.ndim == 1:
        return [sum(float(h) * float(e) for h, e in zip(H, column, strict=True)) for column in E.T]
    return [lookup_by_recursion_in_lists(row, E) for row in H]
