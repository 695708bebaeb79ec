"""Lab 00, ``one_hot``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("one_hot", title="ids counted from one")
def ids_from_one(ids, V):
    """Each 1 stands one place too far left. Ids start at 0 in this course: the word with id 0 lights the first
    place, and id 1 the second. The lecture counts from one; no correction is needed here."""
    return (np.asarray(ids)[..., None] - 1 == np.arange(V)).astype(float)


@misconception("one_hot", title="as wide as the largest id")
def width_of_the_largest_id(ids, V):
    """Your rows are only as wide as the largest id that occurs. The width belongs to the vocabulary, not to the
    sentence: two sentences must give rows of the same width, or they cannot be multiplied by the same table."""
    ids = np.asarray(ids)
    return np.eye(int(ids.max()) + 1)[ids]


@misconception("one_hot", title="words in columns")
def words_in_columns(ids, V):
    """Rows and columns are swapped: each word of the sentence should be a row. The axis of the vocabulary
    comes last, after all the axes that ids already had."""
    return np.moveaxis(np.eye(V)[np.asarray(ids)], -1, 0)


@misconception("one_hot", title="several sentences flattened into one")
def shape_lost(ids, V):
    """You return one long list of rows and lose the shape of ids. Two sentences of five words should give
    (2, 5, V): keep the axes of ids and add one at the end. A single id has no axis and gives a single row."""
    return np.eye(V)[np.asarray(ids).reshape(-1)]


@misconception("one_hot", title="one row for the whole sentence")
def one_row_for_all(ids, V):
    """You mark all words of the sentence in a single row. Then their order and number are lost. Each position
    needs a row of its own."""
    ids = np.asarray(ids).reshape(-1)
    row = np.zeros(V)
    row[ids] = 1.0
    return row


@alternative("one_hot")
def one_hot_from_the_identity(ids, V):
    return np.eye(V, dtype=int)[ids]


@alternative("one_hot")
def one_hot_by_recursion_in_lists(ids, V):
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    if isinstance(ids, (list, tuple)):
        return [one_hot_by_recursion_in_lists(part, V) for part in ids]
    return [1 if place == ids else 0 for place in range(V)]


@alternative("one_hot")
def one_hot_float32_put(ids, V):
    ids = np.array(ids)
    rows = np.zeros((ids.size, V), dtype=np.float32)
    rows[np.arange(ids.size), ids.ravel()] = 1
    return rows.reshape((*ids.shape, V))


@alternative("one_hot")
def one_hot_as_truth_values(ids, V):
    return np.equal.outer(np.asarray(ids), np.arange(V))
