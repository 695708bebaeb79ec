"""Lab 05, nearest: a word, vectors (V, D), the V words, k → the k words with the largest cosine, as pairs (word, cosine)."""

import math

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m05_word2vec.common import around, names, ranked, ranking, unit


def neighbours(word, vectors, words, k=5):
    return ranked(vectors[words.index(word)], vectors, words, {word}, k)


question = Question(neighbours)


def lengths(rng, V):
    return 2.0 ** rng.integers(-4, 5, size=V)


@question.scenario(
    "Which words are the nearest, in whichever order, and whatever the lengths of their vectors.", weight=2
)
def which_words(student, rng):
    for V, D, k in ((12, 3, 4), (9, 5, 3), (15, 2, 5)):
        words, vectors = names(rng, V), rng.normal(size=(V, D)) * lengths(rng, V)[:, None]
        word = words[int(rng.integers(V))]
        others = [pair for pair in student(word, vectors, words, k) if pair[0] != word]
        best = sorted(others, key=lambda pair: -abs(float(pair[1])))[: k - 1]
        yield Observed("the nearest but the last", sorted(str(other) for other, _ in best))


@question.family(
    "The case by hand; the nearest first, with their cosines, in a list or a tuple of words.", weight=1.5
)
def in_order(rng):
    vectors = np.array([[1.0, 0], [10, 1], [0, 2], [-1, 0]])
    yield Case("a", vectors, list("abcd"), k=2, gives=[("b", 0.995), ("c", 0.0)])
    for V, D, k in ((12, 3, 4), (9, 5, 7)):
        words, vectors = names(rng, V), rng.normal(size=(V, D)) * lengths(rng, V)[:, None]
        yield words[0], vectors, words, k
        yield words[V - 1], vectors, tuple(words)


@question.family("All others where there are fewer than k, and never the word itself.", weight=0.5)
def fewer_than_k(rng):
    for count in (4, 2):
        for k in (9, count):
            words = names(rng, count)
            yield words[0], around(rng, [1, -1, 0.9, 0.8][:count], lengths(rng, count)), words, k
        yield words[0], around(rng, [1, -1, 0.9, 0.8][:count], lengths(rng, count)), words


@question.family("Another word with the same direction is the nearest.", weight=0.5)
def twins(rng):
    words = names(rng, 7)
    vectors = around(rng, [0.6, -0.4, 1, 0.2, 0.8, 1, -0.7], [1, 2, 1, 8, 4, 4, 1])
    yield words[2], vectors, words, 3
    yield words[5], vectors, words, 3


def _cosines(word, vectors, words):
    return unit(vectors) @ unit(vectors)[list(words).index(word)]


@question.misconception("the dot product instead of the cosine", costs=1.5)
def dot_product(word, vectors, words, k=5):
    """You rank by the dot product, so words with long vectors, the frequent ones, seem near to everything. Divide by both lengths."""
    return ranking(vectors @ vectors[list(words).index(word)], words, {word}, k)


@question.misconception("the straight distance instead of the angle", costs=1.5)
def straight_distance(word, vectors, words, k=5):
    """You rank by the straight distance between the points. A short and a long vector in the same direction are then far apart; the cosine
    looks at the direction alone."""
    distances = np.linalg.norm(vectors - vectors[list(words).index(word)], axis=1)
    cosines = _cosines(word, vectors, words)
    order = [i for i in np.argsort(distances) if words[i] != word]
    return [(words[i], float(cosines[i])) for i in order[:k]]


@question.misconception("the word is its own neighbour", costs=1, because="the cosines are right")
def own_neighbour(word, vectors, words, k=5):
    """The first neighbour in your list is the word itself, with cosine 1. That is true, and no news: leave it out."""
    return ranking(_cosines(word, vectors, words), words, set(), k)


@question.misconception("the farthest words come first", costs=1.5)
def farthest_first(word, vectors, words, k=5):
    """Your list begins with the words that point the other way. np.argsort goes from small to large; you want the largest cosine first."""
    return [(other, -cosine) for other, cosine in ranking(-_cosines(word, vectors, words), words, {word}, k)]


@question.misconception("opposite directions count as near", costs=1.5)
def sign_ignored(word, vectors, words, k=5):
    """You rank by the size of the cosine without its sign. A cosine of −1 is the opposite direction, as far away as it gets."""
    return ranking(np.abs(_cosines(word, vectors, words)), words, {word}, k)


@question.misconception("divided by one length only", costs=1)
def one_length_only(word, vectors, words, k=5):
    """The order of your words is right, but the numbers are no cosines: they can be larger than 1. Divide by the length of the word's own
    vector as well."""
    return ranking(unit(vectors) @ vectors[list(words).index(word)], words, {word}, k)


@question.misconception("cosines with one decimal", costs=0.5, decimals=1)
@question.misconception("cosines with two decimals", costs=0.5, decimals=2)
@question.misconception("cosines with three decimals", costs=0.5, decimals=3)
@question.misconception("cosines with four decimals", costs=0.5, decimals=4)
def rounded(word, vectors, words, k=5, *, decimals):
    """Your words are right, and your cosines are rounded. Rounding is for printing: whoever calls the function may want to compute."""
    return [
        (other, round(c, decimals)) for other, c in ranking(_cosines(word, vectors, words), words, {word}, k)
    ]


@question.misconception("divided by the length of the whole table", costs=1.5)
def length_of_the_whole_table(word, vectors, words, k=5):
    """You divide by the length of the whole table, one number for all rows, so long vectors still come first. Divide each row by its own
    length: axis=1."""
    row = vectors[list(words).index(word)]
    return ranking(vectors @ (row / np.linalg.norm(row)) / np.linalg.norm(vectors), words, {word}, k)


@question.misconception("one word too few", costs=0.5, because="the cosines are right")
def left_out_of_the_k_nearest(word, vectors, words, k=5):
    """You take the k nearest words, and then leave out the word itself, so one is missing. Leave it out first, then take k."""
    return [pair for pair in ranking(_cosines(word, vectors, words), words, set(), k) if pair[0] != word]


@question.misconception("the nearest comes last", costs=1)
def nearest_last(word, vectors, words, k=5):
    """You have the right words, and the nearest stands at the end. np.argsort goes from small to large: turn the list round."""
    return ranking(_cosines(word, vectors, words), words, {word}, k)[::-1]


@question.alternative
def by_sorting_pairs_in_plain_python(word, vectors, words, k=5):
    def cosine(a, b):
        length = math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))
        return sum(x * y for x, y in zip(a, b, strict=True)) / length

    table = dict(zip(words, np.asarray(vectors).tolist(), strict=True))
    own = table.pop(word)
    found = sorted(((cosine(row, own), other) for other, row in table.items()), reverse=True)
    return [[other, near] for near, other in found[:k]]


@question.alternative
def with_float32_and_infinity(word, vectors, words, k=5):
    table = np.array(vectors, dtype=np.float32)
    row = list(words).index(word)
    cosines = table @ table[row] / (np.linalg.norm(table, axis=1) * np.linalg.norm(table[row]))
    cosines[row] = -np.inf
    best = cosines.argsort()[::-1][: min(k, len(words) - 1)]
    return [(words[i], cosines[i]) for i in best]
