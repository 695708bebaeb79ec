"""Lab 03, ``mask_votes``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("mask_votes", title="the mask the wrong way round")
def mask_inverted(votes, mask):
    """You silence those who may vote and count those who may not. In this course True (or 1) means "may vote", here
    and in every mask to come."""
    return (1 - np.asarray(mask, dtype=float)) @ votes


@misconception("mask_votes", title="a mask of 0 and 1 used as row numbers")
def mask_as_row_numbers(votes, mask):
    """With 0 and 1 in the mask you pick row 0 and row 1, again and again: NumPy reads whole numbers in square brackets as
    row numbers. Multiply each row by its entry of the mask instead."""
    mask = np.asarray(mask)
    if mask.dtype.kind == "f":
        return mask @ votes
    return votes[mask].sum(axis=0)


@misconception("mask_votes", title="every weight above 0 counts in full")
def any_weight_counts_in_full(votes, mask):
    """A voter with half a vote is counted in full. Use the entry of the mask as a factor, and not only as a yes or
    no."""
    return votes[np.asarray(mask, dtype=bool)].sum(axis=0)


@misconception("mask_votes", title="the mean of the votes")
def mean_of_the_votes(votes, mask):
    """You divide the total by the weight of the voters. Votes are added up here; and when nobody may vote there is nothing to
    divide by."""
    mask = np.asarray(mask, dtype=float)
    with np.errstate(all="ignore"):
        return (mask @ votes) / mask.sum()


@misconception("mask_votes", title="masked, but not added up")
def not_added_up(votes, mask):
    """You silence the right voters, but return their rows one by one. The result is one total for each next word: add
    the rows up."""
    return votes * np.asarray(mask, dtype=float)[:, None]


@misconception("mask_votes", title="masks the words instead of the voters")
def masks_the_words(votes, mask):
    """You apply the mask to the columns, the words that are voted for. It has one entry for each voter, and voters are
    rows."""
    return votes @ np.asarray(mask, dtype=float)


@misconception("mask_votes", title="the largest weight counts in full")
def divided_by_the_largest_weight(votes, mask):
    """You divide the weights by the largest of them. If half a vote is all that anybody has, it stays half a vote: take the mask
    as it is."""
    mask = np.asarray(mask, dtype=float)
    return (mask / mask.max() if mask.any() else mask) @ votes


@misconception("mask_votes", title="totals rounded", keeps="right to the second decimal")
def totals_rounded(votes, mask):
    """You round the totals. Small differences may decide who wins: leave them as they are."""
    return np.round(np.asarray(mask, dtype=float) @ votes, 2)


@misconception(
    "mask_votes", title="weights cut to whole numbers", keeps="right unless the votes are whole numbers"
)
def weights_cut_to_whole_numbers(votes, mask):
    """Where the votes are whole numbers, your mask becomes whole numbers as well, and half a vote becomes none. Give the mask a
    type with fractions."""
    return np.asarray(mask).astype(votes.dtype) @ votes


@misconception("mask_votes", title="a bare 0 without voters", keeps="right wherever there is a voter")
def bare_zero_without_voters(votes, mask):
    """Without voters you return a single 0, for the sum has nothing to begin with. The result has a zero for each next word: begin with
    zeros of the right shape."""
    return sum((weight * row for weight, row in zip(mask, votes, strict=True)), 0)


@misconception("mask_votes", title="the votes overwritten", keeps="the total is right")
def votes_overwritten(votes, mask):
    """You multiply the rows in place, so that the caller's votes are others afterwards (and votes of whole numbers end in an error).
    Multiply into a new array."""
    for i in range(len(mask)):
        votes[i] *= mask[i]
    return votes.sum(axis=0)


@alternative("mask_votes")
def masked_total_by_a_loop(votes, mask):
    total = [0.0] * votes.shape[1]
    for row, weight in zip(votes.tolist(), list(mask), strict=True):
        total = [t + float(weight) * v for t, v in zip(total, row, strict=True)]
    return total


@alternative("mask_votes")
def masked_total_by_broadcasting(votes, mask):
    return (votes * np.array(mask).reshape(-1, 1)).sum(0)


@alternative("mask_votes")
def masked_total_float32(votes, mask):
    return np.dot(votes.astype(np.float32).T, np.asarray(mask, np.float32))
