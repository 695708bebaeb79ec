"""Lab 05, ``nearest``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.misconceptions.m05_word2vec.common import _ranking, _unit
from autograder.testing import alternative, misconception


@misconception("nearest", title="the dot product instead of the cosine")
def dot_product(word, vectors, words, k=5):
    """You rank by the dot product, so words with long vectors, the frequent ones, seem near to everything. Divide by both lengths: only
    the direction counts."""
    vectors = np.asarray(vectors)
    return _ranking(vectors @ vectors[list(words).index(word)], words, {word}, k)


@misconception("nearest", title="the straight distance instead of the angle")
def straight_distance(word, vectors, words, k=5):
    """You rank by the straight distance between the points. A short and a long vector in the same direction are then far apart; the
    cosine looks at the direction alone."""
    row = list(words).index(word)
    distances = np.linalg.norm(vectors - vectors[row], axis=1)
    cosines = _unit(vectors) @ _unit(vectors)[row]
    order = [i for i in np.argsort(distances) if i != row]
    return [(words[i], float(cosines[i])) for i in order[:k]]


@misconception("nearest", title="the word is its own neighbour")
def own_neighbour(word, vectors, words, k=5):
    """The first neighbour in your list is the word itself, with cosine 1. That is true, and no news: leave it out."""
    return _ranking(_unit(vectors) @ _unit(vectors)[list(words).index(word)], words, set(), k)


@misconception("nearest", title="the farthest words come first")
def farthest_first(word, vectors, words, k=5):
    """Your list begins with the words that point the other way. np.argsort goes from small to large; you want the largest cosine
    first."""
    unit = _unit(vectors)
    cosines = unit @ unit[list(words).index(word)]
    order = [i for i in np.argsort(cosines) if words[i] != word]
    return [(words[i], float(cosines[i])) for i in order[:k]]


@misconception("nearest", title="opposite directions count as near")
def sign_ignored(word, vectors, words, k=5):
    """You rank by the size of the cosine without its sign. A cosine of −1 is the opposite direction, as far away as it gets."""
    unit = _unit(vectors)
    return _ranking(np.abs(unit @ unit[list(words).index(word)]), words, {word}, k)


@misconception("nearest", title="divided by one length only")
def one_length_only(word, vectors, words, k=5):
    """The order of your words is right, but the numbers are no cosines: they can be larger than 1. Divide by the length of the word's own
    vector as well."""
    vectors = np.asarray(vectors)
    return _ranking(_unit(vectors) @ vectors[list(words).index(word)], words, {word}, k)


@misconception("nearest", title="rounded cosines", keeps="right to three decimals")
def rounded(word, vectors, words, k=5):
    """Your words are right, and your cosines are rounded. Rounding is for printing: whoever calls the function may still want to compute with
    the numbers. Return them as they are."""
    unit = _unit(vectors)
    found = _ranking(unit @ unit[list(words).index(word)], words, {word}, k)
    return [(other, round(cosine, 3)) for other, cosine in found]


@misconception(
    "nearest",
    title="the first of the ranking is dropped",
    keeps="right where no other word has the same direction",
)
def first_of_the_ranking_dropped(word, vectors, words, k=5):
    """You leave out whatever comes first in the ranking. That need not be the word itself: another word may point in exactly the same
    direction. Leave out the word."""
    unit = _unit(np.asarray(vectors))
    return _ranking(unit @ unit[list(words).index(word)], words, set(), k + 1)[1:]


@misconception(
    "nearest", title="divided by the length of the whole table", keeps="the order where all lengths are equal"
)
def length_of_the_whole_table(word, vectors, words, k=5):
    """You divide by the length of the whole table, one number for all rows, so long vectors still come first. Divide each row by its own
    length: axis=1."""
    vectors = np.asarray(vectors)
    row = vectors[list(words).index(word)]
    return _ranking(vectors @ (row / np.linalg.norm(row)) / np.linalg.norm(vectors), words, {word}, k)


@misconception("nearest", title="the word itself comes last", keeps="right where there are enough others")
def itself_at_the_end(word, vectors, words, k=5):
    """If there are fewer than k other words, the word itself stands at the end of your list, with a cosine that you made up. Leave it out
    altogether."""
    unit, row = _unit(np.asarray(vectors)), list(words).index(word)
    cosines = unit @ unit[row]
    cosines[row] = -2
    return _ranking(cosines, words, set(), k)


@misconception("nearest", title="the vectors are changed", keeps="right, and spoils the table")
def table_brought_to_length_one(word, vectors, words, k=5):
    """Your function brings the vectors that it was given to length 1 in place, so their lengths are lost for whoever calls it. Compute with a
    new array."""
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return _ranking(vectors @ vectors[list(words).index(word)], words, {word}, k)


@misconception(
    "nearest", title="one word too few", keeps="the right words in the right order, but for the last"
)
def left_out_of_the_k_nearest(word, vectors, words, k=5):
    """You take the k nearest words, and then leave out the word itself, which is always among them, so one is missing. Leave it out first, then
    take k."""
    unit = _unit(np.asarray(vectors))
    found = _ranking(unit @ unit[list(words).index(word)], words, set(), k)
    return [pair for pair in found if pair[0] != word]


@misconception(
    "nearest", title="twins are left out, too", keeps="right where no other word has the same direction"
)
def twins_left_out(word, vectors, words, k=5):
    """You leave out every word with cosine 1. Another word may point in the same direction, and is then the nearest: leave out the word itself
    alone."""
    unit = _unit(np.asarray(vectors))
    found = _ranking(unit @ unit[list(words).index(word)], words, {word}, len(words))
    return [pair for pair in found if pair[1] < 1 - 1e-9][:k]


@misconception("nearest", title="the nearest comes last", keeps="the right words and cosines")
def nearest_last(word, vectors, words, k=5):
    """You have the right words, and the nearest stands at the end. np.argsort goes from small to large: turn the list round."""
    unit = _unit(np.asarray(vectors))
    return _ranking(unit @ unit[list(words).index(word)], words, {word}, k)[::-1]


@misconception(
    "nearest", title="the word itself as the opposite of itself", keeps="right where no other cosine is −1"
)
def own_cosine_of_minus_one(word, vectors, words, k=5):
    """You give the word itself the cosine −1, so that it comes last. Another word may point in the opposite direction and have it, too, and is lost
    then. Leave the word out altogether."""
    unit, row = _unit(np.asarray(vectors)), list(words).index(word)
    cosines = unit @ unit[row]
    cosines[row] = -1
    order = np.argsort(-cosines.round(9), kind="stable")[: min(k, len(words) - 1)]
    return [(words[i], float(cosines[i])) for i in order]


@alternative("nearest")
def by_sorting_pairs_in_plain_python(word, vectors, words, k=5):
    def cosine(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(
            sum(x * x for x in a) * sum(x * x for x in b)
        )

    table = dict(zip(words, np.asarray(vectors).tolist(), strict=True))
    own = table.pop(word)
    ranked = sorted(((cosine(row, own), other) for other, row in table.items()), reverse=True)
    return [[other, near] for near, other in ranked[:k]]


@alternative("nearest")
def with_float32_and_infinity(word, vectors, words, k=5):
    table = np.array(vectors, dtype=np.float32)
    row = list(words).index(word)
    cosines = table @ table[row] / (np.linalg.norm(table, axis=1) * np.linalg.norm(table[row]))
    cosines[row] = -np.inf
    best = cosines.argsort()[::-1][: min(k, len(words) - 1)]
    return [(words[i], cosines[i]) for i in best]
