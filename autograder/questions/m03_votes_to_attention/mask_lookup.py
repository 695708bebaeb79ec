"""Lab 03, mask_lookup: query (V,) or (T, V), masks (V, M) → the mask that it asks for (M,) or (T, M)."""

import numpy as np

from autograder.questions.engine import Question
from autograder.questions.m03_votes_to_attention.common import product


def mixed(query, masks):
    return product(query, masks)


question = Question(mixed, uses=("mask_votes",))


def some_masks(rng, V, M):
    """Masks of 0 and 1, no two of them alike."""
    return np.array(
        [[word >> bit & 1 for bit in range(M)] for word in 1 + rng.permutation(2**M - 1)[:V]], float
    )


@question.family("A one-hot query fetches the row of its word.")
def a_single_query(rng):
    for M in (5, 4):
        yield np.eye(5)[rng.integers(5)], some_masks(rng, 5, M)


@question.family("Several queries fetch as many rows, in their order and as often as they ask.")
def several_queries(rng):
    first, second = rng.permutation(6)[:2]
    yield np.eye(6)[[first, second, first]], some_masks(rng, 6, 8)[:, ::2]
    yield np.eye(6)[[second]], some_masks(rng, 6, 4)
    yield np.eye(5)[rng.permutation(5)[:2]], some_masks(rng, 5, 5)


@question.family("A query that mixes words gets the same mixture of their rows.")
def mixed_queries(rng):
    yield np.array([0.5, 0.25, 0, 0.125])[rng.permutation(4)], some_masks(rng, 4, 5)
    yield rng.uniform(0.3, 0.9, size=(2, 5)), some_masks(rng, 5, 3)


@question.family("A table of any numbers, whole or not, is mixed as it is.")
def any_table(rng):
    whole = rng.integers(2, 90, size=(4, 3)) * [1, -1, 1]
    yield np.array([0.5, 0.25, 0, 0.125]), whole
    yield np.array([0.5, 1.5, 0, 1]), whole
    yield rng.uniform(0.5, 1.5, size=(2, 4)), rng.uniform(0.5, 3, size=(4, 3)) * [1, -1, 1]


@question.misconception("a column instead of a row", costs=1, because="a product of query and table")
def column_instead_of_row(query, masks):
    """You fetch a column of the table. The mask of a word is its row: the query stands on the left of the
    product."""
    return query @ masks.T


@question.misconception("only the strongest word is asked", costs=1)
def only_the_strongest(query, masks):
    """You look for the largest entry of the query and take its row. That works for one-hot queries only; a product mixes the
    masks when a query mixes words, and it can be learned."""
    return masks[np.argmax(query, axis=-1)]


@question.misconception("masks made hard", costs=1)
def made_hard(query, masks):
    """You turn the result into 0 and 1. Leave it as the product gives it: masks may hold any weights."""
    return (query @ masks > 0.5).astype(float)


@question.misconception("one mask for all queries", costs=1)
def one_mask_for_all(query, masks):
    """You add the masks of all queries into one. Each query, each row, should get a mask of its own."""
    return np.atleast_2d(query).sum(axis=0) @ masks


@question.misconception("weights rescaled to sum to one", costs=1)
def query_rescaled(query, masks):
    """You rescale the query before the look-up, so that a mixed query gets another mixture than it asks for. The product needs
    nothing but the query and the table."""
    query = np.asarray(query, dtype=float)
    return np.abs(query) / np.abs(query).sum(axis=-1, keepdims=True) @ masks


@question.alternative
def lookup_by_summing_rows(query, masks):
    return sum(np.asarray(query)[..., word, None] * masks[word] for word in range(len(masks)))
