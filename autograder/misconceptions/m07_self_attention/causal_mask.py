"""Lab 07, ``causal_mask``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("causal_mask", title="a word may not listen to itself")
def causal_mask_without_the_diagonal(T):
    """Your mask hides a position from itself. The first position then may attend to nothing, and its softmax is 0/0.
    The diagonal is allowed."""
    return np.tril(np.ones((T, T), dtype=bool), k=-1)


@misconception("causal_mask", title="one word of the future is visible")
def causal_mask_one_too_far(T):
    """Your mask lets each position see the next one, which is the very word it should predict: a model trained so looks
    perfect and has learned nothing. The last True of row i is in column i."""
    return np.tril(np.ones((T, T), dtype=bool), k=1)


@misconception("causal_mask", title="only the future is visible")
def causal_mask_transposed(T):
    """Your mask is the transposed one: each position hears itself and the future. Rows are the listeners: row 0 has one True."""
    return np.triu(np.ones((T, T), dtype=bool))


@misconception("causal_mask", title="True for what is forbidden")
def causal_mask_inverted(T):
    """Your mask is True where attention is forbidden, as some libraries have it. In this course True means “may attend”."""
    return np.triu(np.ones((T, T), dtype=bool), k=1)


@misconception(
    "causal_mask", title="numbers instead of booleans", keeps="the values are right; only their type is not"
)
def causal_mask_of_numbers(T):
    """Your mask holds 1 and 0 where True and False are wanted. With numbers ~mask gives −2 and −1, both of which count as
    True: masks are booleans."""
    return np.tril(np.ones((T, T), dtype=int))


@misconception("causal_mask", title="0 and −∞ instead of booleans")
def causal_mask_to_be_added(T):
    """Your mask is meant to be added to the scores: 0 and −∞. The mask of this course says True and False; the filling with
    −∞ happens in the attention."""
    return np.triu(np.full((T, T), -np.inf), k=1)


@misconception("causal_mask", title="no axes for a single token", keeps="right for all but one length")
def causal_mask_squeezed(T):
    """With a single token your mask loses its axes: a squeeze takes away every axis of length 1. Even then it is a table, (1, 1)."""
    return np.tril(np.ones((T, T), dtype=bool)).squeeze()


_TRIANGLE = np.tril(np.ones((64, 64), dtype=bool))


@misconception("causal_mask", title="a table that is too small", keeps="right for short sentences")
def causal_mask_from_a_table(T):
    """Your mask comes from a table that was made once, and a longer sentence does not fit into it. Make it from T."""
    return _TRIANGLE[:T, :T].copy()


@misconception("causal_mask", title="one mask for all calls", keeps="right until somebody writes into a mask")
def causal_mask_kept(T):
    """Your function keeps the masks that it has made and hands out the same array again: who writes into one changes all later ones.
    Return a new array from each call."""
    if T not in _KEPT:
        _KEPT[T] = np.tril(np.ones((T, T), dtype=bool))
    return _KEPT[T]


_KEPT: dict[int, np.ndarray] = {}


@alternative("causal_mask")
def causal_mask_by_comparison(T):
    position = np.arange(T)
    return position[:, None] >= position


@alternative("causal_mask")
def causal_mask_as_lists(T):
    return [[True] * (i + 1) + [False] * (T - i - 1) for i in range(T)]


@alternative("causal_mask")
def causal_mask_in_torch(T):
    import torch

    return ~torch.triu(torch.ones(T, T), diagonal=1).bool()
