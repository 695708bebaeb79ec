"""Lab 05: slips in one branch only, or where two features meet, lose one test and turn the card red."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.course.masters import solution

from .slips import loses_a_little

LAB = "05_word2vec"


def _twins_lost_in_short_sentences(ids, m):
    riddles = solution(LAB)["context_windows"](ids, m)
    if m + 1 < len(ids) or 0 not in ids:
        return riddles
    return [([word for word in context if word != target], target) for context, target in riddles]


def _sum_of_the_hints_of_large_scores(context, W_in, W_out):
    h, p = solution(LAB)["cbow_forward"](context, W_in, W_out)
    return (h * len(context) if np.abs(W_out @ h).max() > 700 else h), p


def _one_share_where_scores_are_large(context, target, W_in, W_out):
    dW_in, dW_out = solution(LAB)["cbow_backward"](context, target, W_in, W_out)
    if np.abs(W_out).max() > 1500:
        dW_in = dW_in / np.maximum(np.bincount(context, minlength=len(W_in)), 1)[:, None]
    return dW_in, dW_out


def _five_noise_words_in_a_batch(h, rows):
    loss, dh, drows = solution(LAB)["negative_sampling_loss"](h, rows)
    if len(h) > 1:
        _, dh, _ = solution(LAB)["negative_sampling_loss"](h, rows[:, :6])
    return loss, dh, drows


def _itself_where_five_are_too_many(word, vectors, words, k=5):
    found = solution(LAB)["nearest"](word, vectors, words, k)
    return [*found, (word, 1.0)] if k == 5 and len(words) <= 5 else found


def _as_they_are_in_a_tuple(a, b, c, vectors, words, k=3):
    if isinstance(words, list):
        return solution(LAB)["analogy"](a, b, c, vectors, words, k)
    way = vectors[words.index(b)] - vectors[words.index(a)] + vectors[words.index(c)]
    cosines = vectors @ way / np.linalg.norm(vectors, axis=1) / np.linalg.norm(way)
    return [(words[i], cosines[i]) for i in np.argsort(-cosines) if words[i] not in (a, b, c)][:k]


SLIPS = [
    ("context_windows", _twins_lost_in_short_sentences),
    ("cbow_forward", _sum_of_the_hints_of_large_scores),
    ("cbow_backward", _one_share_where_scores_are_large),
    ("negative_sampling_loss", _five_noise_words_in_a_batch),
    ("nearest", _itself_where_five_are_too_many),
    ("analogy", _as_they_are_in_a_tuple),
]
ONLY_UNSEEN = {_as_they_are_in_a_tuple}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "slip"), SLIPS, ids=lambda value: getattr(value, "__name__", value))
def test_a_slip_in_one_branch_loses_a_little(question, slip):
    loses_a_little(LAB, question, slip, red=slip not in ONLY_UNSEEN)
