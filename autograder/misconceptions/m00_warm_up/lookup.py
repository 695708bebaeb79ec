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
