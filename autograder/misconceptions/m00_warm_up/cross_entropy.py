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


def _prices(logits, ids):
    return -_log_softmax(logits)[np.arange(len(ids)), ids]


@misconception("cross_entropy", title="halved with each position")
def halved_with_each_position(logits, ids):
    """You take the mean of the mean so far and the next price. That is right for two positions; with more, the last price counts half
    and the first ones hardly. Add up all prices, and divide once by their number."""
    prices = _prices(logits, ids)
    mean = prices[0]
    for price in prices[1:]:
        mean = (mean + price) / 2
    return mean


@misconception("cross_entropy", title="the median of the prices")
def median_of_the_prices(logits, ids):
    """You return the middle one of the prices, the median. Then one very bad bet costs nothing. The mean is the sum of all prices
    divided by their number."""
    return np.median(_prices(logits, ids))


_KEPT: list[float] = []


@misconception("cross_entropy", title="prices of earlier calls stay in the list")
def prices_of_earlier_calls(logits, ids):
    """Your mean is also over the prices of earlier calls: a list as the default of an argument, or outside of the function, is made
    once and grows. Make a new one in each call."""
    _KEPT.extend(_prices(logits, ids).tolist())
    return sum(_KEPT) / len(_KEPT)


@misconception("cross_entropy", title="one maximum for the whole table", keeps="right for rows of one size")
def price_with_one_maximum(logits, ids):
    """You take out the largest score of the whole table. A row whose scores are far below it loses all its exponentials to 0, and
    its price is no longer a number. Each row needs its own maximum."""
    m = logits.max()
    with np.errstate(all="ignore"):
        return (m + np.log(np.exp(logits - m).sum(axis=-1)) - logits[np.arange(len(ids)), ids]).mean()


@misconception("cross_entropy", title="scores cut off at 1000", keeps="right for scores up to 1000")
def scores_cut_off(logits, ids):
    """You cut the scores off at 1000. They may be of any size, and a larger mistake costs more. With the largest score taken out
    nothing overflows, so nothing need be cut."""
    return _prices(np.clip(logits, -1000, 1000), ids).mean()


@misconception(
    "cross_entropy", title="a small number added to the probability", keeps="right for likely words"
)
def small_number_added(logits, ids):
    """You add a small number to the probability so that its logarithm is finite. Then no mistake costs more than its −ln, and all
    prices are a little wrong. Subtract scores instead: logsumexp(row) − score."""
    return -np.log(np.exp(-_prices(logits, ids)) + 1e-12).mean()


@misconception(
    "cross_entropy", title="prices as whole as the scores", keeps="right for scores that are fractions"
)
def prices_as_whole_as_the_scores(logits, ids):
    """Where the scores are whole numbers your prices are cut to whole numbers: np.zeros_like makes an array that holds what its
    argument holds. Fill an array of fractions."""
    prices = np.zeros_like(logits[:, 0])
    prices[...] = _prices(logits, ids)
    return prices.mean()


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


@alternative("cross_entropy")
def cross_entropy_float32_on_the_way(logits, ids):
    prices = np.zeros(len(ids), dtype=np.float32)
    for place, (row, word) in enumerate(zip(logits.astype(np.float32), ids, strict=True)):
        m = row.max()
        prices[place] = m + np.log(np.exp(row - m).sum()) - row[word]
    return float(prices.mean())
