"""Lab 00, cross_entropy: logits (N, V), ids (N,) → the mean price of the true words."""

import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m00_warm_up.common import log_sum_exp


def price_by_price(logits, ids):
    prices = [
        log_sum_exp(row) - row[int(word)]
        for row, word in zip(np.asarray(logits, dtype=float).tolist(), ids, strict=True)
    ]
    return math.fsum(prices) / len(prices)


question = Question(
    price_by_price,
    uses=("one_hot", "lookup", "logsumexp", "softmax"),
    forbidden=(
        "torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss", "torch.distributions.Categorical",
        "torch.distributions.OneHotCategorical", "sklearn.metrics.log_loss",
    ),
)  # fmt: skip


@question.family("A single position costs its own price.", weight=0.5)
def a_single_position(rng):
    yield Case(np.array([[2.0, 1, 0]]), [0], gives=0.408)
    yield rng.normal(size=(1, 6)), [int(rng.integers(6))]


@question.family("Two positions cost the mean of their prices, sure and right bets nothing.", weight=0.75)
def two_positions(rng):
    yield Case(np.array([[2.0, 1, 0], [2, 1, 0]]), [0, 2], gives=1.408)
    yield rng.normal(size=(2, 6)), rng.integers(0, 6, size=2)
    yield np.array([[0.0, 800.0], [900.0, 0.0]]), [1, 0]


@question.family("Many positions cost the mean of all their prices.")
def many_positions(rng):
    yield rng.normal(size=(7, 5)), rng.integers(0, 5, size=7)
    yield rng.normal(size=(8, 5))[::2], rng.integers(0, 5, size=4).tolist()
    word, another = rng.permutation(5)[:2].tolist()
    yield rng.normal(size=(3, 5)), [word, word, another]


@question.family("Equal scores cost ln V, whichever words are true.", weight=0.5)
def equal_scores(rng):
    yield np.full((6, 11), rng.normal()), rng.integers(0, 11, size=6)


@question.family("Whole scores have prices with fractions.", weight=0.75)
def whole_scores(rng):
    yield rng.integers(-3, 4, size=(5, 4)), rng.integers(0, 4, size=5)
    yield rng.integers(-3, 4, size=(3, 3)) + np.array([3000, 0, 0]), rng.integers(1, 3, size=3)


@question.family("A confident mistake costs as much as the true word lies behind.", weight=0.75)
def confident_mistakes(rng):
    for ahead in (900, 3000):
        yield rng.normal(size=(1, 3)) + np.array([ahead, 0, 0]), [int(rng.integers(1, 3))]


@question.family("Rows of very different size stand side by side.", weight=0.75, rtol=1e-3, atol=5e-4)
def rows_far_apart(rng):
    yield rng.normal(size=(4, 3)) + np.array([[0.0], [0], [-900], [1000]]), rng.permutation([1, 0, 2, 2])


def log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@question.misconception("a sum instead of a mean", costs=2)
def sum_instead_of_mean(logits, ids):
    """You add up the prices of all positions. The mean divides by their number: a long text must not look worse than
    a short one."""
    return -log_softmax(logits)[np.arange(len(ids)), ids].sum()


@question.misconception("every position against every true word", costs=2)
def all_pairs_of_positions_and_words(logits, ids):
    """You pick too much: logits[:, ids] takes the scores of *all* true words from *every* row. Each row has one true
    word: index rows and words together."""
    return -log_softmax(logits)[:, ids].mean()


@question.misconception("through a probability of zero", costs=1)
def through_the_probability(logits, ids):
    """You compute the probability first and its logarithm afterwards. A very improbable true word has probability 0
    in the computer, and the price becomes infinite. Subtract scores instead: logsumexp(row) − score."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = shifted / shifted.sum(axis=-1, keepdims=True)
    with np.errstate(all="ignore"):
        return -np.log(probabilities[np.arange(len(ids)), ids]).mean()


@question.misconception("the minus sign is missing", costs=2, because="all but the sign is right")
def without_the_minus(logits, ids):
    """Your price is negative: it is the mean log-probability. The loss is its negative, so that less is better and
    zero is perfect."""
    return log_softmax(logits)[np.arange(len(ids)), ids].mean()


@question.misconception("the price of the favourite, not of the truth", costs=3)
def price_of_the_favourite(logits, ids):
    """You pay for the word that the model likes best. Then every bet looks good. Take the score of the *true* word in
    each row."""
    return -log_softmax(logits).max(axis=-1).mean()


@question.misconception("logarithm to base 2", costs=2, because="right but for a factor")
def in_bits(logits, ids):
    """Your price is in bits: the logarithm is to base 2. The course uses the natural logarithm throughout."""
    return -log_softmax(logits)[np.arange(len(ids)), ids].mean() / math.log(2)


@question.misconception("divided by the size of the table", costs=2, because="right but for a factor")
def divided_by_the_whole_table(logits, ids):
    """You divide by the number of entries in the table of scores (N times V). There is one price for each position:
    divide by N."""
    return -log_softmax(logits)[np.arange(len(ids)), ids].sum() / logits.size


def prices_of(logits, ids):
    return -log_softmax(logits)[np.arange(len(ids)), ids]


KEPT: list[float] = []


@question.misconception("prices of earlier calls stay in the list", costs=2.5, because="right the first time")
def prices_of_earlier_calls(logits, ids):
    """Your mean is also over the prices of earlier calls: a list as the default of an argument, or outside of the function, is made
    once and grows. Make a new one in each call."""
    KEPT.extend(prices_of(logits, ids).tolist())
    return sum(KEPT) / len(KEPT)


@question.misconception("one maximum for the whole table", costs=1)
def price_with_one_maximum(logits, ids):
    """You take out the largest score of the whole table. A row whose scores are far below it loses all its exponentials to 0, and
    its price is no longer a number. Each row needs its own maximum."""
    m = logits.max()
    with np.errstate(all="ignore"):
        return (m + np.log(np.exp(logits - m).sum(axis=-1)) - logits[np.arange(len(ids)), ids]).mean()


@question.misconception("scores cut off at 1000", costs=1)
def scores_cut_off(logits, ids):
    """You cut the scores off at 1000. They may be of any size, and a larger mistake costs more. With the largest score taken out
    nothing overflows, so nothing need be cut."""
    return prices_of(np.clip(logits, -1000, 1000), ids).mean()


@question.misconception("a small number keeps the probability above 0", costs=1.5)
def small_number_added(logits, ids):
    """A small number keeps your probability above 0, so that its logarithm is finite. Then no mistake costs more than its −ln.
    Subtract scores instead: logsumexp(row) − score."""
    return -np.log(np.exp(-prices_of(logits, ids)) + 1e-12).mean()


@question.alternative
def cross_entropy_with_one_hot_rows(logits, ids):
    true = np.eye(logits.shape[1])[ids]
    return -(true * log_softmax(logits)).sum(axis=1).mean()


@question.alternative
def cross_entropy_in_a_loop(logits, ids):
    total = 0.0
    for row, word in zip(logits.tolist(), ids, strict=True):
        m = max(row)
        total += m + math.log(sum(math.exp(v - m) for v in row)) - row[int(word)]
    return total / len(ids)
