"""Lab 01, ``second_order``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import numpy as np

from autograder.misconceptions.m01_markov_bigram.common import reference
from autograder.testing import alternative, misconception


def _triples(sentences, weights):
    for sentence, weight in zip(sentences, weights, strict=True):
        words = sentence.split()
        for a, b, c in zip(words, words[1:], words[2:], strict=False):
            yield (a, b), c, weight


def _context_table(sentences, triples, contexts=None):
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    triples = list(triples)
    contexts = sorted({context for context, _, _ in triples} | set(contexts or ()))
    N = np.zeros((len(contexts), len(vocabulary)))
    for context, following, weight in triples:
        N[contexts.index(context), vocabulary.index(following)] += weight
    return contexts, vocabulary, reference.normalise_rows(N)


@misconception("second_order", title="the two words of a context are exchanged")
def context_backwards(sentences, weights):
    """Your contexts name the later word first. A context is read as it is spoken: (battery, ran), then what
    comes next."""
    return _context_table(sentences, (((b, a), c, w) for (a, b), c, w in _triples(sentences, weights)))


@misconception("second_order", title="the order of the two words is lost")
def context_unordered(sentences, weights):
    """Your contexts (a, b) and (b, a) share a row. The order in which two words are said is information: keep
    the pair as it is spoken and sort the list of pairs, not the words inside a pair."""
    return _context_table(sentences, ((tuple(sorted(p)), c, w) for p, c, w in _triples(sentences, weights)))


@misconception("second_order", title="the weights are ignored in the second order")
def second_order_unweighted(sentences, weights):
    """Every sentence counts the same in your second-order table. Add the sentence's weight, not 1, for each
    step."""
    return _context_table(sentences, _triples(sentences, [1] * len(sentences)))


@misconception(
    "second_order",
    title="the last pair of a sentence gets a row",
    keeps="the rows of all other contexts are right",
)
def final_pairs_kept(sentences, weights):
    """You keep a row of zeros for the pair that ends a sentence. Nothing ever follows it, so there is nothing to
    predict: only pairs that some word follows have a row."""
    pairs = {pair for s in sentences for pair in itertools.pairwise(s.split())}
    return _context_table(sentences, _triples(sentences, weights), pairs)


@misconception("second_order", title="the last weight counts, not the sum")
def second_order_overwritten(sentences, weights):
    """Where three neighbours come again, only the last time counts in your table: the weight is put into the cell with = where += adds
    it up."""
    seen = {(context, following): weight for context, following, weight in _triples(sentences, weights)}
    return _context_table(sentences, ((context, following, w) for (context, following), w in seen.items()))


@misconception(
    "second_order",
    title="words of short sentences are missing",
    keeps="right where every sentence has three words or more",
)
def second_order_without_short_sentences(sentences, weights):
    """A sentence of one or two words has no context, but its words belong to the vocabulary. Collect the words before you leave it out."""
    spoken = [s for s in sentences if len(s.split()) > 2]
    return _context_table(spoken, _triples(sentences, weights))


@misconception(
    "second_order",
    title="three neighbours count once a sentence",
    keeps="right unless they come twice in a sentence",
)
def second_order_once_a_sentence(sentences, weights):
    """Three neighbours that come twice in one sentence count once in your table. Count each time they occur."""
    return _context_table(
        sentences,
        (
            triple
            for sentence, weight in zip(sentences, weights, strict=True)
            for triple in dict.fromkeys(_triples([sentence], [weight]))
        ),
    )


@misconception(
    "second_order",
    title="a sentence listed twice counts once in the second order",
    keeps="right unless a sentence is listed twice",
)
def second_order_weights_in_a_dictionary(sentences, weights):
    """A sentence that stands in the list twice keeps only its last weight. A dictionary with the sentences as keys forgets the first
    one: walk through sentences and weights side by side."""
    last = dict(zip(sentences, weights, strict=True))
    return _context_table(sentences, _triples(list(last), list(last.values())))


@misconception("second_order", title="divided by how often the pair occurs")
def second_order_divided_by_occurrences(sentences, weights):
    """Some of your rows sum to less than one: those of pairs that also end a sentence. Divide by how often a word *follows* the pair,
    which is the row's own sum."""
    contexts, vocabulary, P = _context_table(sentences, _triples(sentences, weights))
    follows: Counter[tuple] = Counter()
    occurs: Counter[tuple] = Counter()
    for context, _, weight in _triples(sentences, weights):
        follows[context] += weight
    for sentence, weight in zip(sentences, weights, strict=True):
        for pair in itertools.pairwise(sentence.split()):
            occurs[pair] += weight
    return contexts, vocabulary, P * np.array([[follows[c] / occurs[c]] for c in contexts]).reshape(-1, 1)


@misconception("second_order", title="contexts reach into the next sentence")
def second_order_across_sentences(sentences, weights):
    """Some of your contexts join the end of one sentence to the beginning of the next. Nobody said those words
    in a row. Count inside each sentence."""
    said = [(word, w) for s, w in zip(sentences, weights, strict=True) for word in s.split()]
    steps = zip(said, said[1:], said[2:], strict=False)
    return _context_table(sentences, (((a, b), c, w) for (a, _), (b, _), (c, w) in steps))


@misconception("second_order", title="the most recent word is skipped")
def a_gap_in_the_context(sentences, weights):
    """Your context holds an earlier word and the *next* word is predicted one step too late, or the most recent
    word is left out. The context is the two words directly before the predicted one."""
    steps = []
    for s, w in zip(sentences, weights, strict=True):
        words = s.split()
        steps += [((a, b), d, w) for a, b, d in zip(words, words[1:], words[3:], strict=False)]
    return _context_table(sentences, steps)


@misconception("second_order", title="the second-order rows are not normalised")
def second_order_not_normalised(sentences, weights):
    """Your second-order rows hold summed weights. Each row should be divided by its own sum, as in the first
    order."""
    contexts, vocabulary, P = _context_table(sentences, _triples(sentences, weights))
    totals: Counter[tuple] = Counter()
    for context, _, weight in _triples(sentences, weights):
        totals[context] += weight
    return contexts, vocabulary, P * np.array([[totals[c]] for c in contexts]).reshape(-1, 1)


@alternative("second_order")
def by_dictionaries(sentences, weights):
    follow: defaultdict[tuple, defaultdict] = defaultdict(lambda: defaultdict(float))
    for pair, c, w in _triples(sentences, weights):
        follow[pair][c] += w
    vocabulary = sorted(set(" ".join(sentences).split()))
    P = [[follow[pair][c] / sum(follow[pair].values()) for c in vocabulary] for pair in sorted(follow)]
    return sorted(follow), vocabulary, np.array(P).reshape(-1, len(vocabulary))


@alternative("second_order")
def through_the_full_cube_in_float32(sentences, weights):
    vocabulary = sorted(set(" ".join(sentences).split()))
    V = len(vocabulary)
    cube = np.zeros((V, V, V), dtype=np.float32)
    for (a, b), c, w in _triples(sentences, weights):
        cube[tuple(map(vocabulary.index, (a, b, c)))] += w
    rows = cube.reshape(V * V, V)
    kept = np.flatnonzero(rows.sum(1))
    contexts = [[vocabulary[k // V], vocabulary[k % V]] for k in kept]
    return contexts, vocabulary, rows[kept] / rows[kept].sum(1, keepdims=True)
