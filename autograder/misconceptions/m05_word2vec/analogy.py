"""Lab 05, ``analogy``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m05_word2vec.common import _ranking, _unit, reference
from autograder.testing import alternative, misconception


def _answers(a, b, c, vectors, words, k, way, left_out=True):
    words, unit = list(words), _unit(np.asarray(vectors))
    v = way(*(unit[words.index(word)] for word in (a, b, c)))
    return _ranking(unit @ (v / np.linalg.norm(v)), words, {a, b, c} if left_out else set(), k)


@misconception("analogy", title="the way is walked backwards")
def backwards(a, b, c, vectors, words, k=3):
    """You walk the way backwards, a − b + c. From *can* to *could* means subtracting where you start and adding where you
    arrive: b − a."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: x - y + z)


@misconception("analogy", title="the words of the question count as answers")
def question_words_allowed(a, b, c, vectors, words, k=3):
    """Among your answers are words of the question, usually c itself, since the sum has not gone far. They are no news: leave all three
    out."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: y - x + z, left_out=False)


@misconception(
    "analogy", title="vectors of different lengths are added", keeps="right where all lengths are equal"
)
def lengths_kept(a, b, c, vectors, words, k=3):
    """You add the vectors as they are, so a frequent word, whose vector is long, drowns the other two. Bring all rows to length 1
    first."""
    words, table = list(words), np.asarray(vectors)
    v = table[words.index(b)] - table[words.index(a)] + table[words.index(c)]
    return _ranking(_unit(table) @ (v / np.linalg.norm(v)), words, {a, b, c}, k)


@misconception("analogy", title="nothing is subtracted")
def nothing_subtracted(a, b, c, vectors, words, k=3):
    """You look for words that are near to all three. The riddle asks for a *way*: what leads from a to b, walked from c, so a is
    subtracted."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: x + y + z)


@misconception("analogy", title="the sum is not divided by its length", keeps="the right words")
def sum_not_normalised(a, b, c, vectors, words, k=3):
    """Your words come in the right order, but the numbers are no cosines, some are above 1: the sum of three vectors is longer than 1.
    Divide by its length."""
    words, unit = list(words), _unit(np.asarray(vectors))
    v = unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)]
    return _ranking(unit @ v, words, {a, b, c}, k)


@misconception("analogy", title="only the neighbours of c")
def neighbours_of_c(a, b, c, vectors, words, k=3):
    """Your answers are simply the neighbours of c: the way from a to b is never walked. Add b − a before you look around."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: z)


@misconception("analogy", title="rounded cosines of the answers", keeps="right to three decimals")
def answers_rounded(a, b, c, vectors, words, k=3):
    """Your answers are right, and their cosines are rounded. Rounding is for printing: return the numbers as they are."""
    found = _answers(a, b, c, vectors, words, k, lambda x, y, z: y - x + z)
    return [(word, round(cosine, 3)) for word, cosine in found]


@misconception("analogy", title="b counts as an answer", keeps="right where b does not come first")
def b_is_an_answer(a, b, c, vectors, words, k=3):
    """You leave out a and c, but b stands among your answers. It is a word of the question, too: leave all three out."""
    words, unit = list(words), _unit(np.asarray(vectors))
    v = unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)]
    return _ranking(unit @ (v / np.linalg.norm(v)), words, {a, c}, k)


@misconception("analogy", title="too few are left", keeps="right where one of the three lies far off")
def too_few_to_leave_out_from(a, b, c, vectors, words, k=3):
    """You take the k + 2 best words, and then leave out those of the question. If all three are among them, one answer is missing. Leave them
    out first, then take k."""
    found = _answers(a, b, c, vectors, words, k + 2, lambda x, y, z: y - x + z, left_out=False)
    return [pair for pair in found if pair[0] not in (a, b, c)][:k]


@misconception("analogy", title="too few are left", keeps="right where the three lie far off")
def left_out_of_the_k_best(a, b, c, vectors, words, k=3):
    """You take the k best words, and then leave out those of the question, so answers are missing wherever these are among the best. Leave them
    out first, then take k."""
    found = _answers(a, b, c, vectors, words, k, lambda x, y, z: y - x + z, left_out=False)
    return [pair for pair in found if pair[0] not in (a, b, c)]


@misconception("analogy", title="the vectors are changed", keeps="right, and spoils the table")
def answers_in_place(a, b, c, vectors, words, k=3):
    """Your function brings the vectors that it was given to length 1 in place, so their lengths are lost for whoever calls it. Compute with a
    new array."""
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: y - x + z)


@misconception("analogy", title="only c is left out", keeps="right where the others do not come first")
def only_c_left_out(a, b, c, vectors, words, k=3):
    """You leave out c, but a and b may stand among your answers. They are words of the question, too: leave all three out."""
    words, unit = list(words), _unit(np.asarray(vectors))
    v = unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)]
    return _ranking(unit @ (v / np.linalg.norm(v)), words, {c}, k)


@misconception("analogy", title="only v is divided by its length", keeps="right where all lengths are equal")
def rows_of_any_length_compared(a, b, c, vectors, words, k=3):
    """Your v is right, but you compare it with the vectors as they are, so the dot products of long ones are large. Compare it with the rows
    of length 1."""
    words, table = list(words), np.asarray(vectors)
    unit = _unit(table)
    v = unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)]
    return _ranking(table @ (v / np.linalg.norm(v)), words, {a, b, c}, k)


@misconception("analogy", title="the three nearest are dropped")
def three_of_the_ranking_dropped(a, b, c, vectors, words, k=3):
    """You drop the first three of the ranking, whichever they are. Those need not be the words of the question: leave out a, b and c by
    name."""
    return _answers(a, b, c, vectors, words, k + 3, lambda x, y, z: y - x + z, left_out=False)[3:]


@misconception(
    "analogy", title="the words of the question come last", keeps="right where there are enough others"
)
def question_words_at_the_end(a, b, c, vectors, words, k=3):
    """If there are fewer than k other words, those of the question stand at the end of your list, with numbers that you made up. Leave them out
    altogether."""
    words, unit = list(words), _unit(np.asarray(vectors))
    places = [words.index(word) for word in (a, b, c)]
    v = unit[places[1]] - unit[places[0]] + unit[places[2]]
    cosines = unit @ (v / np.linalg.norm(v))
    cosines[places] = -np.inf
    return _ranking(cosines, words, set(), k)


@alternative("analogy")
def with_nearest_on_a_longer_table(a, b, c, vectors, words, k=3):
    table = _unit(np.asarray(vectors, dtype=float))
    index = {word: i for i, word in enumerate(words)}
    table = np.vstack([table, table[index[b]] + table[index[c]] - table[index[a]]])
    found = reference.nearest(" ", table, [*words, " "], len(words))
    return [pair for pair in found if pair[0] not in (a, b, c)][:k]


@alternative("analogy")
def by_scores_in_float32(a, b, c, vectors, words, k=3):
    table = np.asarray(vectors, dtype=np.float32)
    unit = (table.T / np.sqrt((table**2).sum(1))).T
    ia, ib, ic = (list(words).index(word) for word in (a, b, c))
    v = unit[ib] + unit[ic] - unit[ia]
    cosines = np.einsum("vd,d->v", unit, v) / np.sqrt(v @ v)
    cosines[[ia, ib, ic]] = -2
    return tuple((words[i], cosines[i]) for i in np.argsort(cosines)[::-1][: max(0, min(k, len(words) - 3))])
