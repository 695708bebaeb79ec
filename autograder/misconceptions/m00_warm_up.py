"""Named wrong answers to lab 00 with their hints, and correct answers in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.answers import alternative, misconception

# ------------------------------------------------------------------------------------------------- one_hot


@misconception("one_hot", title="ids counted from one")
def ids_from_one(ids, V):
    """Each 1 stands one place too far left. Ids start at 0 in this course: the word with id 0 lights the first
    place, and id 1 the second. The lecture counts from one; no correction is needed here."""
    return (np.asarray(ids)[..., None] - 1 == np.arange(V)).astype(float)


@misconception("one_hot", title="as wide as the largest id")
def width_of_the_largest_id(ids, V):
    """Your rows are only as wide as the largest id that occurs. The width belongs to the vocabulary, not to the
    sentence: two sentences must give rows of the same width, or they cannot be multiplied by the same table."""
    ids = np.asarray(ids)
    return np.eye(int(ids.max()) + 1)[ids]


@misconception("one_hot", title="words in columns")
def words_in_columns(ids, V):
    """Rows and columns are swapped: each word of the sentence should be a row. The axis of the vocabulary
    comes last, after all the axes that ids already had."""
    return np.moveaxis(np.eye(V)[np.asarray(ids)], -1, 0)


@misconception("one_hot", title="several sentences flattened into one")
def shape_lost(ids, V):
    """You return one long list of rows and lose the shape of ids. Two sentences of five words should give
    (2, 5, V): keep the axes of ids and add one at the end. A single id has no axis and gives a single row."""
    return np.eye(V)[np.asarray(ids).reshape(-1)]


@misconception("one_hot", title="one row for the whole sentence")
def one_row_for_all(ids, V):
    """You mark all words of the sentence in a single row. Then their order and number are lost. Each position
    needs a row of its own."""
    ids = np.asarray(ids).reshape(-1)
    row = np.zeros(V)
    row[ids] = 1.0
    return row


@alternative("one_hot")
def one_hot_from_the_identity(ids, V):
    return np.eye(V, dtype=int)[ids]


@alternative("one_hot")
def one_hot_by_recursion_in_lists(ids, V):
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    if isinstance(ids, (list, tuple)):
        return [one_hot_by_recursion_in_lists(part, V) for part in ids]
    return [1 if place == ids else 0 for place in range(V)]


@alternative("one_hot")
def one_hot_float32_put(ids, V):
    ids = np.array(ids)
    rows = np.zeros((ids.size, V), dtype=np.float32)
    rows[np.arange(ids.size), ids.ravel()] = 1
    return rows.reshape((*ids.shape, V))


@alternative("one_hot")
def one_hot_as_truth_values(ids, V):
    return np.equal.outer(np.asarray(ids), np.arange(V))


# -------------------------------------------------------------------------------------------------- lookup


@misconception("lookup", title="only the row with the largest weight")
def only_the_heaviest_row(H, E):
    """You pick one row of the table for each row of weights. That works for one-hot rows only: with weights
    0.5 and 0.5 both rows count half. A matrix product does this by itself."""
    return E[np.argmax(H, axis=-1)]


@misconception("lookup", title="rows added without their weights")
def rows_without_weights(H, E):
    """Your result adds up every row of the table whose weight is not zero, as if all weights were 1. Each row
    counts by its weight: half a weight, half a row."""
    return (np.asarray(H) != 0).astype(float) @ E


@misconception("lookup", title="weights rescaled to sum to one")
def weights_rescaled(H, E):
    """You divide the weights by their sum. Nothing says that they are shares of one: take them as they are, even
    negative ones."""
    return (H / H.sum(axis=-1, keepdims=True)) @ E


@misconception("lookup", title="rows in the order of the table")
def rows_in_table_order(H, E):
    """The rows come out in the order of the table, and each only once. They should come out in the order of the
    positions: one result for each row of weights, so a word that occurs twice is looked up twice."""
    return E[np.asarray(H).reshape(-1, len(E)).any(axis=0)]


@misconception("lookup", title="columns of the table instead of rows")
def columns_instead_of_rows(H, E):
    """You combine the columns of the table; each row of weights has one weight for each *row* of the table.
    Look at the shapes: (T, V) times (V, D)."""
    return H @ E.T


@alternative("lookup")
def lookup_einsum(H, E):
    return np.einsum("...v,vd->...d", H, E)


@alternative("lookup")
def lookup_sum_of_scaled_rows(H, E):
    H = np.asarray(H)
    result = np.zeros((*H.shape[:-1], E.shape[1]))
    for word in range(E.shape[0]):
        result = result + H[..., word, None] * E[word]
    return result


@alternative("lookup")
def lookup_torch_float32(H, E):
    import torch

    return torch.tensor(np.ascontiguousarray(H), dtype=torch.float32) @ torch.tensor(E, dtype=torch.float32)


# ----------------------------------------------------------------------------------------------- logsumexp


@misconception("logsumexp", title="the largest score not taken out")
def naive_logsumexp(x, axis=-1):
    """Your formula is right on paper, but the exponential of a large score is infinite in the computer, and that of
    a very negative one is 0. Take the largest score out first, and add it again at the end."""
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(x), axis=axis))


@misconception("logsumexp", title="one maximum for the whole table")
def maximum_of_the_whole_table(x, axis=-1):
    """You take out the largest score of the whole table. A row whose scores are far below it loses all its
    exponentials to 0, and its logarithm becomes −∞. Each row (or column) needs its own maximum."""
    with np.errstate(all="ignore"):
        return x.max() + np.log(np.sum(np.exp(x - x.max()), axis=axis))


@misconception("logsumexp", title="the maximum not added again")
def maximum_not_added_again(x, axis=-1):
    """You take the largest score out of the sum but do not put it back: the result is off by exactly that
    score. The last step adds it to the logarithm."""
    return np.log(np.sum(np.exp(x - x.max(axis=axis, keepdims=True)), axis=axis))


@misconception("logsumexp", title="always along the last axis")
def always_the_last_axis(x, axis=-1):
    """Your function always sums along the last axis. It should use the axis that it is given, both for the
    maximum and for the sum."""
    m = x.max(axis=-1, keepdims=True)
    return (m + np.log(np.exp(x - m).sum(axis=-1, keepdims=True))).squeeze(-1)


@misconception("logsumexp", title="a mean instead of a sum")
def mean_instead_of_sum(x, axis=-1):
    """You average the exponentials. log-sum-exp adds them up: the difference is the logarithm of how many there
    are."""
    m = x.max(axis=axis, keepdims=True)
    return np.squeeze(m + np.log(np.exp(x - m).mean(axis=axis, keepdims=True)), axis=axis)


@misconception("logsumexp", title="the axis is kept")
def axis_kept(x, axis=-1):
    """Your numbers are right, but the summed axis is still there with length one. Take it out of the shape at the
    end: a table (2, 3) summed along axis 1 gives (2,), not (2, 1)."""
    m = x.max(axis=axis, keepdims=True)
    return m + np.log(np.exp(x - m).sum(axis=axis, keepdims=True))


@misconception("logsumexp", title="writes into its input")
def writes_into_its_input(x, axis=-1):
    """Your numbers are right, but afterwards the caller's array holds other values: an operation like -= writes
    into it. Make a new array instead."""
    m = x.max(axis=axis, keepdims=True)
    x -= m
    return np.squeeze(m + np.log(np.exp(x).sum(axis=axis, keepdims=True)), axis=axis)


@alternative("logsumexp")
def logsumexp_by_lines(x, axis=-1):
    def of_line(line):
        m = max(line)
        return m + math.log(sum(math.exp(v - m) for v in line))

    return np.apply_along_axis(of_line, axis, x)


@alternative("logsumexp")
def logsumexp_pair_by_pair(x, axis=-1):
    total, *rest = np.moveaxis(x, axis, 0)
    for part in rest:
        larger, smaller = np.maximum(total, part), np.minimum(total, part)
        gap = np.where(np.isinf(smaller), -np.inf, smaller - np.where(np.isinf(larger), 0, larger))
        total = larger + np.log1p(np.exp(gap))
    return total


@alternative("logsumexp")
def logsumexp_torch(x, axis=-1):
    import torch

    t = torch.from_numpy(np.ascontiguousarray(x))
    m = t.amax(dim=axis, keepdim=True)
    return (m + (t - m).exp().sum(dim=axis, keepdim=True).log()).squeeze(axis)


@alternative("logsumexp")
def logsumexp_float32(x, axis=-1):
    x = x.astype(np.float32)
    m = np.max(x, axis=axis)
    return m + np.log(np.exp(x - np.expand_dims(m, axis)).sum(axis=axis))


# ------------------------------------------------------------------------------------------------- softmax


@misconception("softmax", title="the largest score not taken out")
def naive_softmax(x, axis=-1):
    """Right on paper, but the exponential of a large score is infinite, and infinity divided by infinity is no number.
    Subtract the largest score of each row (or column) first: the fraction stays the same."""
    with np.errstate(all="ignore"):
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


@misconception("softmax", title="one sum for the whole table")
def sums_over_everything(x, axis=-1):
    """All your probabilities together add up to one. Each row (or column) is a bet of its own: it should add up to
    one along the axis that is given."""
    values = np.exp(x - x.max())
    return values / values.sum()


@misconception("softmax", title="one maximum for the whole table")
def softmax_with_one_maximum(x, axis=-1):
    """You subtract the largest score of the whole table. A row whose scores are far below it becomes 0 divided by 0.
    Subtract the largest score of each row (or column)."""
    with np.errstate(all="ignore"):
        values = np.exp(x - x.max())
        return values / values.sum(axis=axis, keepdims=True)


@misconception("softmax", title="always along the last axis")
def softmax_always_last(x, axis=-1):
    """Your probabilities add up to one along the last axis whatever axis is asked for. Use the axis that your function
    is given."""
    values = np.exp(x - x.max(axis=-1, keepdims=True))
    return values / values.sum(axis=-1, keepdims=True)


@misconception("softmax", title="no exponential")
def shares_without_exponential(x, axis=-1):
    """You divide the scores by their sum, without the exponential. Scores may be negative, and their sum may be zero:
    only the exponential makes them positive first."""
    with np.errstate(all="ignore"):
        return x / x.sum(axis=axis, keepdims=True)


@misconception("softmax", title="each score for itself")
def each_score_for_itself(x, axis=-1):
    """You squash each score by itself (that is a sigmoid). The values lie between 0 and 1, but they do not share one
    unit of probability: divide by the sum over all the words."""
    with np.errstate(all="ignore"):
        return 1 / (1 + np.exp(-x))


@alternative("softmax")
def softmax_by_division(x, axis=-1):
    values = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return values / np.sum(values, axis=axis, keepdims=True)


@alternative("softmax")
def softmax_by_lines(x, axis=-1):
    def of_line(line):
        return [
            1 / sum(math.exp(min(other - v, 700)) for other in line) if v > -math.inf else 0.0 for v in line
        ]

    return np.apply_along_axis(of_line, axis, x).tolist()


@alternative("softmax")
def softmax_float32(x, axis=-1):
    moved = np.moveaxis(np.asarray(x, dtype=np.float32), axis, 0)
    values = np.exp(moved - moved.max(axis=0))
    return np.moveaxis(values / values.sum(axis=0), 0, axis)


# ------------------------------------------------------------------------------------------- cross_entropy


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


@misconception("cross_entropy", title="through a probability of zero")
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
