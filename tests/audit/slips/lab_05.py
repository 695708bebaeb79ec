"""Slips of lab 05."""

from __future__ import annotations

import numpy as np

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("05")
right = master("05")


@slip("context_windows")
def twins_lost_in_short_sentences(ids, m):
    riddles = right.context_windows(ids, m)
    if m + 1 < len(ids) or 0 not in ids:
        return riddles
    return [([word for word in context if word != target], target) for context, target in riddles]


@slip("cbow_forward")
def sum_of_the_hints_of_large_scores(context, W_in, W_out):
    h, p = right.cbow_forward(context, W_in, W_out)
    return (h * len(context) if np.abs(W_out @ h).max() > 700 else h), p


@slip("cbow_backward")
def one_share_where_scores_are_large(context, target, W_in, W_out):
    dW_in, dW_out = right.cbow_backward(context, target, W_in, W_out)
    if np.abs(W_out).max() > 1500:
        dW_in = dW_in / np.maximum(np.bincount(context, minlength=len(W_in)), 1)[:, None]
    return dW_in, dW_out


@slip("negative_sampling_loss")
def five_noise_words_in_a_batch(h, rows):
    loss, dh, drows = right.negative_sampling_loss(h, rows)
    if len(h) > 1:
        _, dh, _ = right.negative_sampling_loss(h, rows[:, :6])
    return loss, dh, drows


@slip("nearest")
def itself_where_five_are_too_many(word, vectors, words, k=5):
    found = right.nearest(word, vectors, words, k)
    return [*found, (word, 1.0)] if k == 5 and len(words) <= 5 else found


@slip("analogy")
def as_they_are_in_a_tuple(a, b, c, vectors, words, k=3):
    if isinstance(words, list):
        return right.analogy(a, b, c, vectors, words, k)
    way = vectors[words.index(b)] - vectors[words.index(a)] + vectors[words.index(c)]
    cosines = vectors @ way / np.linalg.norm(vectors, axis=1) / np.linalg.norm(way)
    return [(words[i], cosines[i]) for i in np.argsort(-cosines) if words[i] not in (a, b, c)][:k]
