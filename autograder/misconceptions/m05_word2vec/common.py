"""What the answers to several questions of lab 05 are made of."""

from __future__ import annotations

import numpy as np

from autograder.testing import master

reference = master("05_word2vec")


def _softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _ranking(values, words, left_out, k):
    order = [i for i in np.argsort(-np.asarray(values)) if words[i] not in left_out]
    return [(words[i], float(values[i])) for i in order[:k]]
