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


@misconception(
    "one_hot",
    title="axes of length one disappear",
    keeps="right but for sentences or vocabularies of one word",
)
def squeezed(ids, V):
    """Axes of length one disappear from your result: a sentence of one word should give (1, V), and a vocabulary of one word
    rows of length one. squeeze() takes out every such axis, also those that belong to the shape of ids."""
    return (np.atleast_1d(ids)[..., None] == np.arange(V)).astype(float).squeeze()


@misconception("one_hot", title="the ids are changed in place", keeps="the rows are right")
def ids_changed_in_place(ids, V):
    """Your rows are right, but the array of ids that you were given holds other numbers afterwards: np.asarray and reshape make no
    copy of an array, so += writes into it. Write places = places + …, which makes a new one."""
    ids = np.asarray(ids)
    rows = np.zeros((*ids.shape, V))
    places = ids.reshape(-1)
    places += V * np.arange(ids.size)
    rows.reshape(-1)[places] = 1
    return rows


@misconception("one_hot", title="a single id becomes a sentence", keeps="right but for single ids")
def single_id_as_a_sentence(ids, V):
    """A single id gives a table with one row in yours. It has no axis, so there is only the one of length V: a single row."""
    return (np.array(ids, ndmin=1)[..., None] == np.arange(V)).astype(float)


@misconception(
    "one_hot", title="only Python's whole numbers are single ids", keeps="right but for NumPy's numbers"
)
def only_pythons_numbers(ids, V):
    """A single id may also be one of NumPy's numbers, as when you take it out of an array; then isinstance(ids, int) does not hold.
    Ask np.ndim(ids) == 0 instead."""
    if isinstance(ids, int):
        return np.array([1.0 if place == ids else 0.0 for place in range(V)])
    flat = np.array(ids, dtype=int).reshape(len(ids), -1)
    return np.eye(V)[flat].reshape(*np.shape(ids), V)


_TABLES: dict[tuple[int, ...], np.ndarray] = {}


@misconception("one_hot", title="1s of earlier calls stay in the table", keeps="right in the first call")
def one_table_for_a_shape(ids, V):
    """Your rows still hold the 1s of an earlier call with as many ids: the table is made once and kept. Make a new one in each
    call."""
    ids = np.asarray(ids, dtype=int)
    if (*ids.shape, V) not in _TABLES:  # the table of the last call, which serves while the shape stays
        _TABLES.clear()
    table = _TABLES.setdefault((*ids.shape, V), np.zeros((*ids.shape, V)))
    np.put_along_axis(table, ids[..., None], 1.0, axis=-1)
    return table.copy()


@misconception("one_hot", title="each row has the 1s of all words")
def all_words_in_each_row(ids, V):
    """Each of your rows has the 1s of all the words. Indexing with [..., ids] = 1 sets these places in every row; a row should have
    one 1 only, that of its own word."""
    ids = np.asarray(ids)
    rows = np.zeros((*ids.shape, V))
    rows[..., ids] = 1
    return rows


@misconception("one_hot", title="ids of eight bits", keeps="right for up to 256 words")
def ids_of_eight_bits(ids, V):
    """With more than 256 words your rows have several 1s: numbers of eight bits (uint8) begin again after 255. Leave the ids as
    they are."""
    places = np.arange(V) % 256
    return (np.asarray(ids)[..., None] % 256 == places).astype(float)


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


@alternative("one_hot")
def one_hot_torch_in_half_precision(ids, V):
    import torch

    return torch.eye(V, dtype=torch.float16)[torch.as_tensor(np.asarray(ids)).long()]
