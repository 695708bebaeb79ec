"""Lab 01, ``bigram_counts``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from autograder.misconceptions.m01_markov_bigram.common import ALPHABET, INDEX, reference
from autograder.testing import alternative, misconception


def _count(words, tokens_of):
    N = np.zeros((28, 28))
    for word in words:
        for a, b in itertools.pairwise(tokens_of(word)):
            N[INDEX[a], INDEX[b]] += 1
    return N


@misconception("bigram_counts", title="no start token", keeps="the pairs of letters are right")
def no_start(words):
    """Nothing follows <S> in your table, so it does not know how names begin. Put <S> before the first letter
    of every name."""
    return _count(words, lambda word: [*word, "<E>"])


@misconception("bigram_counts", title="no end token", keeps="the pairs of letters are right")
def no_end(words):
    """Nothing leads to <E> in your table: a chain made from it could never stop. Put <E> after the last letter
    of every name."""
    return _count(words, lambda word: ["<S>", *word])


@misconception("bigram_counts", title="the counts are transposed")
def counts_transposed(words):
    """Your counts stand in the transposed cell: the row should be the current token and the column the one that
    follows."""
    return reference.bigram_counts(words).T


@misconception(
    "bigram_counts", title="repeated names count once", keeps="right unless a name is listed twice"
)
def distinct_names_only(words):
    """A name that stands in the list twice counts once in your table. The list says how often a name was met:
    count every occurrence."""
    return reference.bigram_counts(sorted(set(words)))


@misconception(
    "bigram_counts",
    title="pairs that overlap are missed",
    keeps="right but for a letter three times in a row",
)
def overlaps_missed(words):
    """In a name such as *aaa* the pair (a, a) comes twice, and you count it once: `str.count` does not look at pairs that overlap. Go
    through the name letter by letter."""
    N = np.zeros((28, 28))
    for word in words:
        N[0, INDEX[word[0]] if word else 27] += 1
        N[INDEX[word[-1]] if word else 0, 27] += bool(word)
        for pair in {word[k : k + 2] for k in range(len(word) - 1)}:
            N[INDEX[pair[0]], INDEX[pair[1]]] += word.count(pair)
    return N


@misconception("bigram_counts", title="counts of eight bits", keeps="right up to 255")
def counts_of_eight_bits(words):
    """Your counts begin again at 0 after 255: an array of dtype uint8 holds no larger numbers. Without a dtype NumPy takes one that is
    large enough."""
    return reference.bigram_counts(words).astype(np.uint8)


@misconception("bigram_counts", title="counts of sixteen bits", keeps="right up to 2,048")
def counts_of_sixteen_bits(words):
    """Your counts stop at 2,048: in an array of dtype float16 one more is rounded away. Without a dtype NumPy takes one that is large
    enough."""
    return np.minimum(reference.bigram_counts(words), 2048)


@misconception(
    "bigram_counts", title="names of one letter are left out", keeps="right for names of two letters and more"
)
def one_letter_names_left_out(words):
    """A name of one letter has two pairs, (<S>, o) and (o, <E>), and you leave it out. A name of n letters has n + 1 pairs."""
    return reference.bigram_counts([word for word in words if len(word) > 1])


@misconception("bigram_counts", title="the empty name is left out", keeps="right for names that have letters")
def empty_name_left_out(words):
    """A name without letters has one pair, (<S>, <E>), and you leave it out. A name of n letters has n + 1 pairs."""
    return reference.bigram_counts([word for word in words if word])


_TABLE = np.zeros((28, 28))


@misconception("bigram_counts", title="counts of earlier calls stay in the table")
def one_table_for_all_calls(words):
    """Your table still holds what was counted in earlier calls: it is made once, outside of the function or as the default of an
    argument, which is the same array each time. Make it inside the function."""
    _TABLE[...] += reference.bigram_counts(words)
    return _TABLE.copy()


@misconception("bigram_counts", title="seen or not seen, instead of how often")
def seen_or_not(words):
    """Your table holds only 0 and 1. Whether a pair was ever seen is not enough: add 1 each time you meet it
    (indexing with whole lists and += adds only once; np.add.at adds each time)."""
    return (reference.bigram_counts(words) > 0).astype(int)


@misconception("bigram_counts", title="one token for start and end", keeps="the pairs of letters are right")
def one_boundary_token(words):
    """You use the same token for the start and for the end. That is a fine convention, and makemore's, but this
    table has 28 tokens: <S> has index 0 and <E> has index 27."""
    N = reference.bigram_counts(words)
    N[:, 0] += N[:, 27]
    N[:, 27] = 0
    return N


@misconception(
    "bigram_counts", title="the names run into one another", keeps="the pairs of letters are right"
)
def names_in_one_stream(words):
    """Your table counts a step from <E> to <S>, so the names were joined into one long stream. Nothing follows
    <E>: count inside each name."""
    N = reference.bigram_counts(words)
    N[27, 0] += len(words) - 1
    return N


@alternative("bigram_counts")
def with_add_at(words):
    ids = [[0, *(ord(letter) - 96 for letter in word), 27] for word in words]
    N = np.zeros((28, 28), dtype=np.int32)
    np.add.at(N, ([i for row in ids for i in row[:-1]], [i for row in ids for i in row[1:]]), 1)
    return N


@alternative("bigram_counts")
def with_a_counter_of_pairs(words):
    pairs = Counter(p for word in words for p in itertools.pairwise(["<S>", *word, "<E>"]))
    return [[pairs[a, b] for b in ALPHABET] for a in ALPHABET]


@alternative("bigram_counts")
def with_bincount_in_float32(words):
    text = np.frombuffer("".join(f"`{word}{{" for word in words).encode(), dtype=np.uint8).astype(int) - 96
    steps = text[:-1] * 28 + text[1:]
    N = np.bincount(steps[text[:-1] != 27], minlength=784).reshape(28, 28)
    return N.astype(np.float32)
