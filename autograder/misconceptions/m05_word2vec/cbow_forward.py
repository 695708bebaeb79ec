"""Lab 05, ``cbow_forward``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from collections import Counter

import numpy as np

from autograder.misconceptions.m05_word2vec.common import _softmax
from autograder.testing import alternative, misconception


@misconception(
    "cbow_forward", title="the sum of the hints instead of their mean", keeps="right for a single hint"
)
def sum_of_hints(context, W_in, W_out):
    """Your h is the sum of the hints' rows. Then a long context shouts and a short one whispers. Take the mean: divide by the
    number of words in the context."""
    h = W_in[context].sum(axis=0)
    return h, _softmax(W_out @ h)


@misconception("cbow_forward", title="repeated hints count once", keeps="right where no word stands twice")
def each_hint_once(context, W_in, W_out):
    """A word that stands in the context twice has one vote in your mean. Nothing in the bag gets lost: it counts as often as it
    stands there."""
    h = W_in[sorted(set(context))].mean(axis=0)
    return h, _softmax(W_out @ h)


@misconception("cbow_forward", title="the two tables are exchanged")
def tables_exchanged(context, W_in, W_out):
    """You take the hints from W_out and the answers from W_in. The rows of W_in are the words as hints, those of W_out the words
    as answers."""
    h = W_out[context].mean(axis=0)
    return h, _softmax(W_in @ h)


@misconception("cbow_forward", title="the scores are no probabilities yet", keeps="the mean of the hints")
def scores_without_softmax(context, W_in, W_out):
    """Your second result holds the scores; some are negative, and they do not add up to one. Softmax turns them into
    probabilities."""
    h = W_in[context].mean(axis=0)
    return h, W_out @ h


@misconception("cbow_forward", title="softmax without the exponential", keeps="the mean of the hints")
def shares_of_scores(context, W_in, W_out):
    """You divide the scores by their sum. Scores may be negative, and then so are your probabilities. Softmax takes the
    exponential of each score first."""
    h = W_in[context].mean(axis=0)
    scores = W_out @ h
    return h, scores / scores.sum()


@misconception("cbow_forward", title="h is brought to length one")
def h_of_length_one(context, W_in, W_out):
    """You bring h to length 1. That belongs to the cosine of Part F. While answering riddles the length matters: hints that agree
    make a long h and a confident answer."""
    h = W_in[context].mean(axis=0)
    h = h / np.linalg.norm(h)
    return h, _softmax(W_out @ h)


@misconception("cbow_forward", title="large scores overflow", keeps="right but for large scores")
def softmax_that_overflows(context, W_in, W_out):
    """Large scores make your probabilities nan: np.exp overflows from about 710 on. Subtract the largest score first, as the softmax that is
    given does."""
    h = W_in[context].mean(axis=0)
    with np.errstate(all="ignore"):
        weights = np.exp(W_out @ h)
        return h, weights / weights.sum()


@misconception(
    "cbow_forward", title="the hints are added up inside the table", keeps="right, and spoils the table"
)
def hints_added_in_the_table(context, W_in, W_out):
    """Your function changes W_in: h = W_in[i] is a view of the row, so h += … writes the sum into the table. Begin with zeros, or with a
    copy."""
    h = W_in[context[0]]
    for word in context[1:]:
        h += W_in[word]
    h = h / len(context)
    return h, _softmax(W_out @ h)


@misconception("cbow_forward", title="rounded results", keeps="right to three decimals")
def forward_rounded(context, W_in, W_out):
    """Your h and p are right, and rounded. Rounding is for printing: the gradients are computed with these numbers. Return them as they
    are."""
    h = W_in[context].mean(axis=0)
    return h.round(3), _softmax(W_out @ h).round(3)


@misconception("cbow_forward", title="always divided by two", keeps="right for two hints")
def divided_by_two(context, W_in, W_out):
    """You divide the sum of the hints by two, however many there are. Two is the number of the case by hand: divide by the length of the
    context."""
    h = W_in[context].sum(axis=0) / 2
    return h, _softmax(W_out @ h)


@misconception("cbow_forward", title="the scores come from W_in", keeps="the mean of the hints")
def scores_from_w_in(context, W_in, W_out):
    """Your h is right, but your scores are W_in · h. The rows of W_in are the words as hints; the words as answers have their rows in W_out."""
    h = W_in[context].mean(axis=0)
    return h, _softmax(W_in @ h)


@alternative("cbow_forward")
def by_one_hot_products(context, W_in, W_out):
    counts = Counter(context)
    bag = np.array([counts[word] / len(context) for word in range(len(W_in))])
    h = bag @ W_in
    scores = np.einsum("vd,d->v", W_out, h)
    return [h, np.exp(scores - np.logaddexp.reduce(scores))]


@alternative("cbow_forward")
def with_torch_in_float32(context, W_in, W_out):
    import torch

    table = torch.tensor(np.ascontiguousarray(W_in), dtype=torch.float32)
    h = table[list(context)].mean(dim=0)
    return h, torch.softmax(torch.tensor(np.ascontiguousarray(W_out), dtype=torch.float32) @ h, dim=0)
