"""Lab 01, ``transition_matrix``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from autograder.misconceptions.m01_markov_bigram.common import reference
from autograder.testing import alternative, misconception


def _table(sentences, pairs_of):
    """Vocabulary and unnormalised table; ``pairs_of`` yields (current, next, weight)."""
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    N = np.zeros((len(vocabulary), len(vocabulary)))
    for current, following, weight in pairs_of:
        N[vocabulary.index(current), vocabulary.index(following)] += weight
    return vocabulary, N


def _pairs(sentences, weights):
    for sentence, weight in zip(sentences, weights, strict=True):
        words = sentence.split()
        for current, following in itertools.pairwise(words):
            yield current, following, weight


@misconception(
    "transition_matrix", title="the weights are ignored", keeps="right where all weights are equal"
)
def weights_ignored(sentences, weights):
    """Every sentence counts the same in your table. A sentence with weight 0.5 is said more often than one
    with 0.2: add its weight, not 1, for each of its pairs."""
    vocabulary, N = _table(sentences, _pairs(sentences, [1] * len(sentences)))
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="rows and columns are exchanged")
def transposed(sentences, weights):
    """Your table is turned around: it answers “what came before?”. The row is the current word and the column
    the next one, and the rows are normalised."""
    vocabulary, N = _table(sentences, ((b, a, w) for a, b, w in _pairs(sentences, weights)))
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="the last word of a sentence is followed by the next sentence")
def across_sentences(sentences, weights):
    """Your chain steps from the last word of one sentence to the first word of the next. Those two are
    neighbours in the list only; nobody said them in a row. Count inside each sentence."""
    return _one_long_list(sentences, weights, weight_of=1)


@misconception("transition_matrix", title="pairs reach over the end of a sentence")
def over_the_end(sentences, weights):
    """Something follows the words that end a sentence: pairs reach over its end, each with the weight of the sentence that it comes
    from. All words in one long list lose the ends; count inside each sentence."""
    return _one_long_list(sentences, weights, weight_of=0)


def _one_long_list(sentences, weights, weight_of):
    """All words in one list; a pair of two sentences has the weight of the first (0) or of the second (1)."""
    spoken = [(word, weight) for s, weight in zip(sentences, weights, strict=True) for word in s.split()]
    pairs = ((pair[0][0], pair[1][0], pair[weight_of][1]) for pair in itertools.pairwise(spoken))
    vocabulary, N = _table(sentences, pairs)
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="divided by how often the word occurs")
def divided_by_occurrences(sentences, weights):
    """Some of your rows sum to less than one: those of words that also end a sentence. Divide by how often the
    word is *followed* by something, which is the row's own sum, and not by how often it occurs."""
    vocabulary, N = _table(sentences, _pairs(sentences, weights))
    occurs: Counter[str] = Counter()
    for sentence, weight in zip(sentences, weights, strict=True):
        for word in sentence.split():
            occurs[word] += weight
    return vocabulary, N / np.array([[occurs[word]] for word in vocabulary])


@misconception(
    "transition_matrix",
    title="a pair counts once a sentence",
    keeps="right for sentences that never repeat a pair",
)
def a_pair_counts_once(sentences, weights):
    """A pair that occurs twice in one sentence counts once in your table, as in a set. It was said twice, so
    its weight is added twice."""
    once = (p for s, w in zip(sentences, weights, strict=True) for p in sorted(set(_pairs([s], [w]))))
    vocabulary, N = _table(sentences, once)
    return vocabulary, reference.normalise_rows(N)


@misconception(
    "transition_matrix",
    title="the vocabulary comes from the pairs",
    keeps="right where every sentence has two words or more",
)
def vocabulary_of_the_pairs(sentences, weights):
    """A sentence of one word has no pair, but its word belongs to the vocabulary. Collect the words from the sentences, not from the
    pairs."""
    pairs = list(_pairs(sentences, weights))
    spoken = [f"{current} {following}" for current, following, _ in pairs]
    vocabulary, N = _table(spoken, pairs)
    return vocabulary, reference.normalise_rows(N)


@misconception(
    "transition_matrix",
    title="a sentence's weight is shared out among its pairs",
    keeps="right where the sentences have the same length",
)
def weight_shared_out(sentences, weights):
    """A pair of a long sentence counts less in your table than one of a short sentence: you divide the weight by the number of pairs.
    Each pair adds the whole weight of its sentence."""
    shared = [weight / max(len(s.split()) - 1, 1) for s, weight in zip(sentences, weights, strict=True)]
    vocabulary, N = _table(sentences, _pairs(sentences, shared))
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="weighted counts, not probabilities")
def not_normalised(sentences, weights):
    """Your rows hold summed weights and do not add up to one. The last step is missing: each row divided by
    its own sum, which you have just written."""
    return _table(sentences, _pairs(sentences, weights))


@misconception("transition_matrix", title="the vocabulary stands in the order of appearance")
def order_of_appearance(sentences, weights):
    """Your probabilities are right, but the words stand in the order in which they were first said. The lab
    pins the alphabetical order, for the vocabulary and so for the rows and columns of the table."""
    vocabulary, N = _table(sentences, _pairs(sentences, weights))
    spoken = list(dict.fromkeys(word for sentence in sentences for word in sentence.split()))
    at = [vocabulary.index(word) for word in spoken]
    return spoken, reference.normalise_rows(N)[np.ix_(at, at)]


@alternative("transition_matrix")
def with_counters(sentences, weights):
    follow: defaultdict[str, Counter] = defaultdict(Counter)
    for a, b, w in _pairs(sentences, weights):
        follow[a][b] += w
    vocabulary = tuple(sorted(set(" ".join(sentences).split())))
    rows = []
    for a in vocabulary:
        total = sum(follow[a].values())
        rows.append([follow[a][b] / total if total else 0 for b in vocabulary])
    return [vocabulary, rows]


@alternative("transition_matrix")
def with_one_hot_products(sentences, weights):
    vocabulary = np.unique([word for sentence in sentences for word in sentence.split()])
    N = np.zeros((len(vocabulary), len(vocabulary)), dtype=np.float32)
    for sentence, weight in zip(sentences, weights, strict=True):
        hot = (np.array(sentence.split())[:, None] == vocabulary).astype(np.float32)
        N = N + weight * hot[:-1].T @ hot[1:]
    total = N.sum(1, keepdims=True)
    return vocabulary.tolist(), np.where(total > 0, N / np.where(total > 0, total, 1), 0).astype(np.float32)


@misconception(
    "transition_matrix",
    title="a sentence listed twice counts once",
    keeps="right unless a sentence is listed twice",
)
def weights_in_a_dictionary(sentences, weights):
    """A sentence that stands in the list twice keeps only its last weight. A dictionary with the sentences as keys forgets
    the first one: walk through sentences and weights side by side."""
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    N = np.zeros((len(vocabulary), len(vocabulary)))
    for sentence, weight in dict(zip(sentences, weights, strict=True)).items():
        words = sentence.split()
        for a, b in pairwise(words):
            N[vocabulary.index(a), vocabulary.index(b)] += weight
    total = N.sum(axis=1, keepdims=True)
    return vocabulary, np.divide(N, total, out=np.zeros(N.shape), where=total > 0)


@alternative("transition_matrix")
def with_weights_in_float32(sentences, weights):
    vocabulary = sorted(set(" ".join(sentences).split()))
    N = np.zeros((len(vocabulary), len(vocabulary)), dtype=np.float32)
    for a, b, w in _pairs(sentences, np.asarray(weights, dtype=np.float32)):
        N[vocabulary.index(a), vocabulary.index(b)] += w
    return vocabulary, np.asarray(reference.normalise_rows(N), dtype=np.float64)
