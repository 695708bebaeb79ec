"""Lab 04, ``count_pairs``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from autograder.testing import alternative, misconception


@misconception("count_pairs", title="each word counts once")
def words_count_once(words):
    """Every word counts the same in your result, however often it occurs. Add the word's count for each of its pairs,
    not 1: a word that occurs six times brings its pairs six times."""
    return dict(Counter(pair for word in words for pair in pairwise(word)))


@misconception("count_pairs", title="pairs reach from word to word")
def across_words(words):
    """Some of your pairs consist of the last token of one word and the first of the next. The words of the dictionary
    are no text: they do not stand side by side anywhere. Count inside each word."""
    tokens = [(token, count) for word, count in words.items() for token in word]
    counts = {}
    for (left, _), (right, count) in pairwise(tokens):
        counts[left, right] = counts.get((left, right), 0) + count
    return counts


@misconception(
    "count_pairs", title="overlapping pairs count once", keeps="right but for runs of three equal tokens"
)
def without_overlap(words):
    """In a run of three equal tokens you count their pair once. The *merge* may use each token once only, but the count
    looks at every pair of neighbours, and there are two."""
    counts = {}
    for word, count in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            letters = "".join(map(_sign, word))
            counts[pair] = counts.get(pair, 0) + count * letters.count(_sign(pair[0]) + _sign(pair[1]))
    return counts


def _sign(token):
    return chr(0x10000 + token)


@misconception(
    "count_pairs", title="a pair counts once a word", keeps="right for words that never repeat a pair"
)
def once_a_word(words):
    """A pair that stands in a word twice counts once in your result. Go through all positions of the word, and
    add the word's count at each of them."""
    counts = {}
    for word, count in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            counts[pair] = counts.get(pair, 0) + count
    return counts


@misconception("count_pairs", title="ab and ba are the same pair")
def order_ignored(words):
    """Your pairs are sorted, so ab and ba count together. They are different pieces of text: keep the left token on the
    left."""
    counts = {}
    for word, count in words.items():
        for pair in pairwise(word):
            counts[min(pair), max(pair)] = counts.get((min(pair), max(pair)), 0) + count
    return counts


@misconception("count_pairs", title="the pairs are sorted", keeps="the counts are right; the order is not")
def sorted_pairs(words):
    """Your counts are right, but the pairs are sorted. They should stand in the order in which they are first met: train_bpe
    decides ties by it."""
    counts = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return dict(sorted(counts.items()))


@misconception("count_pairs", title="a pair has the count of its last word only")
def overwritten(words):
    """A pair that stands in several words, or several times in one, has the count of the last place only: you write the count
    over the earlier one. Add it to what is there."""
    return {pair: count for word, count in words.items() for pair in pairwise(word)}


@misconception("count_pairs", title="the last pair of a word is missing")
def last_pair_missing(words):
    """The last pair of each word is missing. A word of n tokens has n − 1 pairs, so the left token goes through
    range(len(word) - 1)."""
    counts = {}
    for word, count in words.items():
        for pair in pairwise(word[:-1]):
            counts[pair] = counts.get(pair, 0) + count
    return counts


@misconception(
    "count_pairs", title="a list of pairs and counts", keeps="the counts are right; a list is no dictionary"
)
def list_of_pairs(words):
    """Your counts are right, but they come as a list, and by that nobody can look up a pair. (most_common() makes one, and sorts it.) Return the
    dictionary itself: a Counter is one."""
    counts = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return counts.most_common()


@alternative("count_pairs")
def with_a_counter(words):
    counts = Counter()
    for word, count in words.items():
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] += count
    return counts


@alternative("count_pairs")
def with_arrays_of_numpy_numbers(words):
    counts = defaultdict(np.int64)
    for word, count in words.items():
        row = np.asarray(word)
        for left, right in np.stack([row[:-1], row[1:]], axis=1):
            counts[int(left), int(right)] += np.int64(count)
    return counts
