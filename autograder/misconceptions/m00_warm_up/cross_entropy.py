"""Lab 00, ``cross_entropy``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import alternative, misconception


def _log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@misconception("cross_entropy", title="a sum instead of a mean")
def sum_instead_of_mean(logits, ids):
    """You add up the prices of all positions. The mean divides by their number: a long text must not look worse than
    a short one."""
    return -_log_softmax(logits)[np.arange(len(ids)), ids].sum()


@misconception("cross_entropy", title="every position against every true word")
def all_pairs_of_positions_and_words(logits, ids):
    """You pick too much: logits[:, ids] takes the scores of *all* true words from *every* row. Each row has one true
    word: index rows and words together."""
    return -_log_softmax(logits)[:, ids].mean()


@misconception(
    "cross_entropy",
    title="through a probability of zero",
    keeps="right but for words of probability near zero",
)
def through_the_probability(logits, ids):
    """You compute the probability first and its logarithm afterwards. A very improbable true word has probability 0
    in the computer, and the price becomes infinite. Subtract scores instead: logsumexp(row) − score."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = shifted / shifted.sum(axis=-1, keepdims=True)
    with np.errstate(all="ignore"):
        return -np.log(probabilities[np.arange(len(ids)), ids]).mean()


@misconception("cross_entropy", title="the minus sign is missing")
def without_the_minus(logits, ids):
    """Your price is negative: it is the mean log-probability. The loss is its negative, so that less is better and
    zero is perfect."""
    return _log_softmax(logits)[np.arange(len(ids)), ids].mean()


@misconception("cross_entropy", title="the price of the favourite, not of the truth")
def price_of_the_favourite(logits, ids):
    """You pay for the word that the model likes best. Then every bet looks good. Take the score of the *true* word in
    each row."""
    return -_log_softmax(logits).max(axis=-1).mean()


@misconception("cross_entropy", title="logarithm to base 2")
def in_bits(logits, ids):
    """Your price is in bits: the logarithm is to base 2. The course uses the natural logarithm throughout."""
    return -_log_softmax(logits)[np.arange(len(ids)), ids].mean() / math.log(2)


@misconception("cross_entropy", title="divided by the size of the table")
def divided_by_the_whole_table(logits, ids):
    """You divide by the number of entries in the table of scores (N times V). There is one price for each position:
    divide by N."""
    return -_log_softmax(logits)[np.arange(len(ids)), ids].sum() / logits.size


@alternative("cross_entropy")
def cross_entropy_with_one_hot_rows(logits, ids):
    true = np.eye(logits.shape[1])[ids]
    return -(true * _log_softmax(logits)).sum(axis=1).mean()


@alternative("cross_entropy")
def cross_entropy_in_a_loop(logits, ids):
    total = 0.0
    for row, word in zip(logits.tolist(), ids, strict=True):
        m = max(row)
        total += m + math.log(sum(math.exp(v - m) for v in row)) - row[int(word)]
    return total / len(ids)


@alternative("cross_entropy")
def cross_entropy_float32(logits, ids):
    scores = _log_softmax(logits.astype(np.float32))
    return -np.take_along_axis(scores, np.asarray(ids)[:, None], axis=1).mean()
