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


@alternative("mask_lookup")
def lookup_by_summing_rows(query, masks):
    return sum(np.asarray(query)[..., word, None] * masks[word] for word in range(len(masks)))


@alternative("mask_lookup")
def lookup_the_lectures_way(query, masks):
    K = masks.T  # the lecture keeps the masks in the columns of K
    return np.dot(query.astype(np.float32), K.T)
