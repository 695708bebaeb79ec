"""Lab 07, ``padding_mask``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("padding_mask", title="True for the padding")
def padding_mask_inverted(lengths, T):
    """Your mask is True at the padding. Some libraries want it so; in this course True means “may attend”, so the real
    words are True."""
    return np.arange(T)[None, None, :] >= np.asarray(lengths)[:, None, None]


@misconception("padding_mask", title="one padding position counts as a word")
def padding_mask_one_too_many(lengths, T):
    """Your rows have one True too many: a sentence of length n fills positions 0 to n − 1."""
    return np.arange(T)[None, None, :] <= np.asarray(lengths)[:, None, None]


@misconception(
    "padding_mask", title="no axis for the queries", keeps="the values are right; only an axis is missing"
)
def padding_mask_without_the_middle_axis(lengths, T):
    """The values are right, the shape is not: (B, T) would be taken for (queries, keys) when it meets the scores. It needs
    an axis of length 1 in the middle."""
    return np.arange(T)[None, :] < np.asarray(lengths)[:, None]


@misconception("padding_mask", title="queries masked instead of keys")
def padding_mask_for_the_queries(lengths, T):
    """Your mask has the shape (B, T, 1): it silences the listeners at the padding, not the padding itself. The keys are
    the last axis."""
    return np.arange(T)[None, :, None] < np.asarray(lengths)[:, None, None]


@misconception("padding_mask", title="padding on the left")
def padding_mask_on_the_left(lengths, T):
    """Your mask takes the last positions for the real words. Here the words come first and the padding behind them."""
    return np.arange(T)[None, None, :] >= T - np.asarray(lengths)[:, None, None]


@misconception(
    "padding_mask",
    title="numbers instead of a mask of booleans",
    keeps="the values are right; only their type is not",
)
def padding_mask_of_numbers(lengths, T):
    """Your mask holds 1 and 0 where True and False are wanted. Masks are booleans, so that & and ~ mean what they say."""
    return (np.arange(T)[None, None, :] < np.asarray(lengths)[:, None, None]).astype(float)


@misconception("padding_mask", title="as wide as the longest sentence")
def padding_mask_as_wide_as_the_longest(lengths, T):
    """Your mask is as wide as the longest sentence of the batch. The batch itself may be wider: the width is T, whatever
    the lengths are."""
    lengths = np.asarray(lengths)
    return np.arange(lengths.max())[None, None] < lengths[:, None, None]


@misconception("padding_mask", title="the list of lengths is emptied", keeps="the mask is right")
def padding_mask_that_pops(lengths, T):
    """Your mask is right, but afterwards the list that you were given is empty: `pop` takes its items out. Go through it with
    `for length in lengths`."""
    lengths = lengths if isinstance(lengths, list) else lengths.tolist()
    rows = []
    while lengths:
        length = lengths.pop(0)
        rows.append([[True] * length + [False] * (T - length)])
    return np.array(rows)


@misconception(
    "padding_mask", title="squeezed when there is one sentence", keeps="right for two sentences and more"
)
def padding_mask_squeezed(lengths, T):
    """With a single sentence your function raises an error: `squeeze` takes away the axis of the sentences, too, when its length is 1."""
    mask = (np.arange(T) < np.array(lengths).reshape(-1, 1)).squeeze()
    return mask[:, None, :]


@misconception(
    "padding_mask",
    title="of equal lengths only the first is filled",
    keeps="right where all lengths differ",
)
def padding_mask_for_the_first_of_each_length(lengths, T):
    """Of two sentences of the same length only the first gets its words: `lengths.index(n)` finds the first place only. Count along, with
    `enumerate(lengths)`."""
    lengths = list(lengths)
    mask = np.zeros((len(lengths), 1, T), dtype=bool)
    for n in lengths:
        mask[lengths.index(n), 0, :n] = True
    return mask


@misconception(
    "padding_mask", title="a length of 0 counts as a full sentence", keeps="right for all other lengths"
)
def padding_mask_where_nothing_is_everything(lengths, T):
    """A sentence of length 0 comes out as a full one: `n or T` is T where n is 0, for 0 counts as False. Its row is all False."""
    return np.array([[[t < (n or T) for t in range(T)]] for n in lengths], dtype=bool)


@misconception("padding_mask", title="the sentences are sorted", keeps="right where the longest come first")
def padding_mask_sorted(lengths, T):
    """Your rows stand in the order of the lengths, not in that of the sentences: row b belongs to `lengths[b]`. Do not sort."""
    return np.arange(T)[None, None, :] < np.sort(np.asarray(lengths))[::-1][:, None, None]


@alternative("padding_mask")
def padding_mask_as_lists(lengths, T):
    return [[[t < n for t in range(T)]] for n in lengths]


@alternative("padding_mask")
def padding_mask_by_filling(lengths, T):
    mask = np.zeros((len(lengths), 1, T), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = True
    return mask


@alternative("padding_mask")
def padding_mask_in_torch(lengths, T):
    import torch

    return (torch.arange(T) < torch.as_tensor(lengths).unsqueeze(-1)).unsqueeze(1)
