"""Lab 05, cbow_forward: a context of C ids, W_in and W_out (V, D) → h (D,), probabilities (V,)."""

from collections import Counter

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m05_word2vec.common import answer, certain_tables, softmax, tables


def answered(context, W_in, W_out):
    return answer(context, W_in, W_out)


question = Question(answered)


@question.family("A single hint is its own mean.", weight=0.5, only=0)
def single_hints(rng):
    for V, D in ((7, 4), (4, 1)):
        yield [int(rng.integers(V))], *tables(rng, V, D)


@question.family("The case by hand; h is the mean of several hints' rows of W_in.", weight=1.5, only=0)
def several_hints(rng):
    W_in, W_out = np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([[2.0, 0], [0, 2], [2, 2]])
    yield Case([0, 1], W_in, W_out, gives=([0.5, 0.5], [0.212, 0.212, 0.576]))
    for V, D, C in ((7, 4, 4), (5, 6, 3), (6, 2, 5)):
        yield rng.permutation(V)[:C].tolist(), *tables(rng, V, D)
    yield rng.permutation(7)[:4].tolist(), *certain_tables(rng, 7, 3)


@question.family("A word that stands in the context twice counts twice, the first one, too.", only=0)
def repeated_hints(rng):
    a, b, c = rng.permutation(6)[:3].tolist()
    for context in ([b, a, a, c], [a, b, a, c], [c, b, c, c], [b, b, b]):
        yield context, *tables(rng, 6, 3)


@question.family(
    "p is the softmax of W_out · h, in tables of any size, and in views of a larger one.", weight=1.5, only=1
)
def probabilities(rng):
    for V, D in ((7, 4), (5, 9), (40, 2), (4, 1)):
        yield [int(rng.integers(V))], *tables(rng, V, D)
    W_in, W_out = tables(rng, 4, 7)
    yield [3], W_in.T, W_out.T


@question.family("Scores of a thousand and more give probabilities, not nan.", only=1, rtol=1e-3)
def large_scores(rng):
    yield [2], *certain_tables(rng, 7, 3)
    W_in, W_out = tables(rng, 5, 3)
    W_in[:, 0], W_out[:, 0] = 1, 1000
    yield [1], W_in, W_out


@question.family("Repeats, any number of hints, and the first word and the last meet.", weight=0.5)
def contexts_of_every_kind(rng):
    for V, D in ((5, 3), (4, 4)):
        W_in, W_out = tables(rng, V, D)
        for context in ([0, V - 1], [1, 2, 1, V - 1, 0, 0, 2, V - 1], list(range(V))):
            yield context, W_in, W_out


def _of_the_mean(h, W_out):
    return h, softmax(W_out @ h)


@question.misconception("the sum of the hints instead of their mean", costs=1)
def sum_of_hints(context, W_in, W_out):
    """Your h is the sum of the hints' rows. Then a long context shouts and a short one whispers: divide by the number of hints."""
    return _of_the_mean(W_in[context].sum(axis=0), W_out)


@question.misconception("repeated hints count once", costs=1)
def each_hint_once(context, W_in, W_out):
    """A word that stands in the context twice has one vote in your mean. Nothing in the bag gets lost: it counts as often as it stands there."""
    return _of_the_mean(W_in[sorted(set(context))].mean(axis=0), W_out)


@question.misconception("the two tables are exchanged", costs=2.5)
def tables_exchanged(context, W_in, W_out):
    """You take the hints from W_out and the answers from W_in. The rows of W_in are the words as hints, those of W_out as answers."""
    return _of_the_mean(W_out[context].mean(axis=0), W_in)


@question.misconception("the scores are no probabilities yet", costs=1.5)
def scores_without_softmax(context, W_in, W_out):
    """Your second result holds the scores; they do not add up to one. Softmax turns them into probabilities."""
    h = W_in[context].mean(axis=0)
    return h, W_out @ h


@question.misconception("softmax without the exponential", costs=1.5)
def shares_of_scores(context, W_in, W_out):
    """You divide the scores by their sum. Scores may be negative, and then so are your probabilities: softmax takes exponentials first."""
    h = W_in[context].mean(axis=0)
    scores = W_out @ h
    return h, scores / scores.sum()


@question.misconception("rounded results", costs=1, because="right to three decimals")
def forward_rounded(context, W_in, W_out):
    """Your h and p are right, and rounded. Rounding is for printing: the gradients are computed with these numbers."""
    h, p = _of_the_mean(W_in[context].mean(axis=0), W_out)
    return h.round(3), p.round(3)


@question.misconception("always divided by two", costs=1.5, because="right for two hints")
def divided_by_two(context, W_in, W_out):
    """You divide the sum of the hints by two, however many there are. Two is the number of the case by hand: divide by len(context)."""
    return _of_the_mean(W_in[context].sum(axis=0) / 2, W_out)


@question.alternative
def by_one_hot_products(context, W_in, W_out):
    counts = Counter(context)
    bag = np.array([counts[word] / len(context) for word in range(len(W_in))])
    h = bag @ W_in
    scores = np.einsum("vd,d->v", W_out, h)
    return [h, np.exp(scores - np.logaddexp.reduce(scores))]
