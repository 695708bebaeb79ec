"""Lab 03, ``mask_lookup``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("mask_lookup", title="a column instead of a row")
def column_instead_of_row(query, masks):
    """You fetch a column of the table. The mask of a word is its row: the query stands on the left of the
    product."""
    return query @ masks.T


@misconception("mask_lookup", title="only the strongest word is asked")
def only_the_strongest(query, masks):
    """You look for the largest entry of the query and take its row. That works for one-hot queries only; a product mixes the
    masks when a query mixes words, and it can be learned."""
    return masks[np.argmax(query, axis=-1)]


@misconception("mask_lookup", title="masks made hard")
def made_hard(query, masks):
    """You turn the result into 0 and 1. Leave it as the product gives it: masks may hold any weights."""
    return (query @ masks > 0.5).astype(float)


@misconception("mask_lookup", title="one mask for all queries")
def one_mask_for_all(query, masks):
    """You add the masks of all queries into one. Each query, each row, should get a mask of its own."""
    return np.atleast_2d(query).sum(axis=0) @ masks


@misconception("mask_lookup", title="weights rescaled to sum to one")
def query_rescaled(query, masks):
    """You rescale the query before the look-up, so that a mixed query gets another mixture than it asks for. The product needs
    nothing but the query and the table."""
    query = np.asarray(query, dtype=float)
    return np.abs(query) / np.abs(query).sum(axis=-1, keepdims=True) @ masks


@misconception("mask_lookup", title="one query only")
def one_query_only(query, masks):
    """Your product fits a single query and ends in an error for several. With the query on the left of the table, one row of queries
    after the other finds its mask."""
    return masks.T @ query


@misconception("mask_lookup", title="queries above one are divided by their sum")
def large_queries_rescaled(query, masks):
    """You divide a query whose entries add up to more than one by their sum. The product needs nothing but the query and the table, as
    they are."""
    return query / np.maximum(np.sum(query, axis=-1, keepdims=True), 1) @ masks


@misconception(
    "mask_lookup", title="the query cut to whole numbers", keeps="right unless the table holds whole numbers"
)
def query_cut_to_whole_numbers(query, masks):
    """Where the table holds whole numbers, your query becomes whole numbers as well: ½ becomes 0, and 1½ becomes 1. Leave the query as
    it is."""
    return np.asarray(query, dtype=masks.dtype) @ masks


@misconception("mask_lookup", title="masks cut off at one")
def masks_cut_off_at_one(query, masks):
    """You cut the result off at 1. A table may hold any numbers, and a query may ask for more than one of a row: leave the product as it
    is."""
    return np.minimum(query @ masks, 1)


@misconception("mask_lookup", title="the table taken for yes and no")
def table_of_yes_and_no(query, masks):
    """Every entry of the table above 0 counts as 1 for you, and every other one as 0. A table may hold any numbers, also scores: multiply
    by them."""
    return query @ (masks > 0)


@alternative("mask_lookup")
def lookup_by_summing_rows(query, masks):
    return sum(np.asarray(query)[..., word, None] * masks[word] for word in range(len(masks)))


@alternative("mask_lookup")
def lookup_the_lectures_way(query, masks):
    K = masks.T  # the lecture keeps the masks in the columns of K
    return np.dot(query.astype(np.float32), K.T)
