"""Lab 03, mask_votes: votes (N, V), mask (N,) → the total of the votes, each weighted by the mask (V,)."""

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m03_votes_to_attention.common import product


def added_up(votes, mask):
    return product(mask, votes)


question = Question(added_up)
BY_HAND = np.array([[0.5, 0.5], [0, 1], [0.5, 0.5]])


@question.family("The cases by hand; a mask of truth values, or of 0 and 1.", weight=1.25)
def who_may_vote(rng):
    yield Case(BY_HAND, np.array([1, 1, 1]), gives=[1.0, 2.0])
    yield Case(BY_HAND, np.array([0, 1, 0]), gives=[0.0, 1.0])
    votes, mask = some_votes(rng)
    yield votes, mask
    yield votes, mask.astype(bool)


def some_votes(rng):
    return rng.integers(-20, 21, size=(7, 5)) / 4, rng.permutation([0, 1, 1, 0, 1, 0, 0])


@question.family("A mask may be a list.", weight=0.5)
def lists(rng):
    votes, mask = some_votes(rng)
    yield votes, mask.tolist()
    yield votes, mask.astype(bool).tolist()


@question.family("Weights between 0 and 1 give parts of votes.", weight=1.25)
def parts_of_votes(rng):
    yield Case(BY_HAND, np.array([0.5, 1, 0]), gives=[0.25, 1.25])
    mask = rng.uniform(0.1, 0.9, size=4)
    for columns in (3, 4):
        yield rng.random(size=(4, columns)), mask


@question.family("Votes of whole numbers have parts, too.", weight=0.5)
def whole_votes(rng):
    yield rng.integers(1, 90, size=(4, 3)), rng.permutation([0.5, 0.25, 0, 0.75])


@question.family("Everybody, nobody, and no voter at all.", weight=0.5)
def all_and_nobody(rng):
    votes = rng.integers(1, 90, size=(4, 3)) / 4
    yield votes, np.ones(4, dtype=int)
    yield votes, np.zeros(4, dtype=bool)
    yield votes[:0], np.zeros(0, dtype=int)
    yield np.zeros((0, 3), dtype=int), np.zeros(0)


@question.misconception("the mask the wrong way round", costs=1.5, because="all but the direction is right")
def mask_inverted(votes, mask):
    """You silence those who may vote and count those who may not. In this course True (or 1) means "may vote", here
    and in every mask to come."""
    return (1 - np.asarray(mask, dtype=float)) @ votes


@question.misconception("a mask of 0 and 1 used as row numbers", costs=1.5)
def mask_as_row_numbers(votes, mask):
    """With 0 and 1 in the mask you pick row 0 and row 1, again and again: NumPy reads whole numbers in square brackets as
    row numbers. Multiply each row by its entry of the mask instead."""
    mask = np.asarray(mask)
    if mask.dtype.kind == "f":
        return mask @ votes
    return votes[mask].sum(axis=0)


@question.misconception("every weight above 0 counts in full", costs=1.5)
def any_weight_counts_in_full(votes, mask):
    """A voter with half a vote is counted in full. Use the entry of the mask as a factor, and not only as a yes or
    no."""
    return votes[np.asarray(mask, dtype=bool)].sum(axis=0)


@question.misconception("the mean of the votes", costs=1.5, because="right but for a factor", least=0.0)
@question.misconception(
    "the mean of the votes, where there are any", costs=1.5, because="right but for a factor", least=1e-9
)
def mean_of_the_votes(votes, mask, *, least):
    """You divide the total by the weight of the voters. Votes are added up here; and when nobody may vote there is nothing to
    divide by."""
    mask = np.asarray(mask, dtype=float)
    with np.errstate(all="ignore"):
        return (mask @ votes) / max(mask.sum(), least)


@question.misconception("masked, but not added up", costs=2, because="the rows are right")
def not_added_up(votes, mask):
    """You silence the right voters, but return their rows one by one. The result is one total for each next word: add
    the rows up."""
    return votes * np.asarray(mask, dtype=float)[:, None]


@question.misconception("masks the words instead of the voters", costs=2, because="a sum over the other axis")
def masks_the_words(votes, mask):
    """You apply the mask to the columns, the words that are voted for. It has one entry for each voter, and voters are
    rows."""
    return votes @ np.asarray(mask, dtype=float)


@question.alternative
def masked_total_by_a_loop(votes, mask):
    total = [0.0] * votes.shape[1]
    for row, weight in zip(votes.tolist(), list(mask), strict=True):
        total = [t + float(weight) * v for t, v in zip(total, row, strict=True)]
    return total


@question.alternative
def masked_total_by_broadcasting(votes, mask):
    return (votes * np.array(mask).reshape(-1, 1)).sum(0)
