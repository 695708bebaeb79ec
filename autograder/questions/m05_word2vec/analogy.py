"""Lab 05, analogy: “a is to b as c is to …”, vectors (V, D), the V words, k → the k best answers, as pairs (word, cosine)."""

import math

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m05_word2vec.common import dot, names, ranked, ranking, unit


def answers(a, b, c, vectors, words, k=3):
    first, second, third = (
        np.asarray(row) / math.sqrt(dot(row, row))
        for row in (vectors[words.index(word)] for word in (a, b, c))
    )
    return ranked(second - first + third, vectors, words, {a, b, c}, k)


question = Question(answers)


#: In a basis: three words, the fourth corner of their parallelogram, and words on which other ways end.
PLACES = np.array(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 1, 1], [1, -1, 1], [1, 1, 1], [0, 0, 1], [-8, 1, 1], [-1, -1, 0]]
)
#: With these lengths the first word drowns the others, and the seventh has the largest dot products.
LENGTHS = np.array([8, 1, 1, 1, 2, 1, 32, 1, 4])


def corner(rng, uneven=False):
    """A riddle of the first three words, in some basis and with some noise, that the fourth word answers."""
    places = PLACES / np.sqrt((PLACES**2).sum(axis=1, keepdims=True))
    rows = np.hstack([places, 0.15 * rng.normal(size=(9, 2))]) @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    rows /= np.sqrt((rows**2).sum(axis=1, keepdims=True))
    words = names(rng, 9)
    return *words[:3], rows * (LENGTHS[:, None] if uneven else 1), words


@question.scenario("Where the vectors nearly form a parallelogram, its fourth corner is found.")
def fourth_corner(student, rng):
    for _ in range(3):
        yield Observed("the first answer", str(student(*corner(rng), 1)[0][0]))


@question.family("The case by hand; the cosine of the fourth corner, all vectors of length 1.")
def its_cosine(rng):
    vectors = np.array([[1.0, 0], [0, 2], [-1, 0], [-3, 1]])
    yield Case("a", "b", "c", vectors, list("abcd"), gives=[("d", 0.990)])
    for _ in range(3):
        yield *corner(rng), 1


@question.family("Vectors of very different lengths: all rows are brought to length 1 first.")
def other_lengths(rng):
    for kind in (list, list, list, tuple):
        *riddle, words = corner(rng, uneven=True)
        yield *riddle, kind(words), 1


@question.family(
    "Three answers by default, also where all three words of the question would come first.", weight=1.5
)
def behind_the_words_of_the_question(rng):
    rows = 0.02 * rng.normal(size=(9, 4))
    rows[:, 0] += [1, 1, 1, 0.8, 0.6, 0.4, 0.2, -0.2, -0.4]
    rows[:, 1] += [0, 0, 0, 0.6, 0.8, 0.9, 1, 1, 0.9]
    words = names(rng, 9)
    yield *words[:3], rows * np.array([[64.0], [1], [1], [2], [8], [1], [4], [2], [8]]), words


@question.family("All words are asked for: the three of the question are no answers.", weight=0.5, atol=1e-6)
def all_words(rng):
    a, b, c, vectors, words = corner(rng)
    yield a, b, c, vectors, tuple(words), 20


def _answers(a, b, c, vectors, words, k, way=lambda x, y, z: y - x + z, left_out=(0, 1, 2)):
    words, one = list(words), unit(vectors)
    v = way(*(one[words.index(word)] for word in (a, b, c)))
    return ranking(one @ (v / np.linalg.norm(v)), words, {(a, b, c)[i] for i in left_out}, k)


@question.misconception("the way is walked backwards", costs=1.5)
def backwards(a, b, c, vectors, words, k=3):
    """You walk the way backwards, a − b + c. From *can* to *could* means subtracting where you start and adding where you arrive: b − a."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: x - y + z)


@question.misconception("nothing is subtracted", costs=1.5)
def nothing_subtracted(a, b, c, vectors, words, k=3):
    """You look for words that are near to all three. The riddle asks for a *way*: from a to b, walked from c, so a is subtracted."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: x + y + z)


@question.misconception("only the neighbours of c", costs=1.5)
def neighbours_of_c(a, b, c, vectors, words, k=3):
    """Your answers are simply the neighbours of c: the way from a to b is never walked. Add b − a before you look around."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: z)


@question.misconception("the words of the question count as answers", costs=1)
def none_left_out(a, b, c, vectors, words, k=3):
    """Among your answers are words of the question, usually c itself, since the sum has not gone far. Leave all three out."""
    return _answers(a, b, c, vectors, words, k, left_out=())


@question.misconception("vectors of different lengths are added", costs=1)
def lengths_kept(a, b, c, vectors, words, k=3):
    """You add the vectors as they are, so a frequent word, whose vector is long, drowns the other two. Bring all rows to length 1 first."""
    first, second, third = (vectors[list(words).index(word)] for word in (a, b, c))
    v = second - first + third
    return ranking(unit(vectors) @ (v / np.linalg.norm(v)), words, {a, b, c}, k)


def _sum(a, b, c, vectors, words):
    first, second, third = (unit(vectors)[list(words).index(word)] for word in (a, b, c))
    return second - first + third


@question.misconception("the sum is not divided by its length", costs=0.5, because="the words are right")
def sum_not_normalised(a, b, c, vectors, words, k=3):
    """Your words come in the right order, but the numbers are no cosines, some are above 1: the sum of three vectors is longer than 1.
    Divide by its length."""
    return ranking(unit(vectors) @ _sum(a, b, c, vectors, words), words, {a, b, c}, k)


@question.misconception("only v is divided by its length", costs=1)
def rows_of_any_length_compared(a, b, c, vectors, words, k=3):
    """Your v is right, but you compare it with the vectors as they are, so the products of long ones are large. Compare it with the rows of
    length 1."""
    v = _sum(a, b, c, vectors, words)
    return ranking(vectors @ (v / np.linalg.norm(v)), words, {a, b, c}, k)


@question.misconception("rounded cosines of the answers", costs=0.5, because="right to three decimals")
def answers_rounded(a, b, c, vectors, words, k=3):
    """Your answers are right, and their cosines are rounded. Rounding is for printing: return the numbers as they are."""
    return [(word, round(cosine, 3)) for word, cosine in _answers(a, b, c, vectors, words, k)]


@question.misconception("too few are left", costs=0.5)
def left_out_too_late(a, b, c, vectors, words, k=3):
    """You take the best words, and then leave out those of the question. If all three are among them, answers are missing. Leave them out
    first, then take k."""
    found = _answers(a, b, c, vectors, words, k + 2, left_out=())
    return [pair for pair in found if pair[0] not in (a, b, c)][:k]


@question.alternative
def with_the_place_in_a_longer_table(a, b, c, vectors, words, k=3):
    table, index = unit(vectors), {word: i for i, word in enumerate(words)}
    table = np.vstack([table, table[index[b]] + table[index[c]] - table[index[a]]])
    found = ranking(unit(table) @ unit(table)[-1], [*words, " "], {" "}, len(words))
    return [pair for pair in found if pair[0] not in (a, b, c)][:k]


@question.alternative
def by_scores_in_float32(a, b, c, vectors, words, k=3):
    table = np.asarray(vectors, dtype=np.float32)
    one = (table.T / np.sqrt((table**2).sum(1))).T
    ia, ib, ic = (list(words).index(word) for word in (a, b, c))
    v = one[ib] + one[ic] - one[ia]
    cosines = np.einsum("vd,d->v", one, v) / np.sqrt(v @ v)
    cosines[[ia, ib, ic]] = -2
    return tuple((words[i], cosines[i]) for i in np.argsort(cosines)[::-1][: max(0, min(k, len(words) - 3))])
