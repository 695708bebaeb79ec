"""What the answers to several questions of lab 07 are made of."""

from __future__ import annotations

import numpy as np


def _softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _swap(a):
    return np.swapaxes(a, -1, -2)


def _attend(scores, v, mask, axis=-1):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = _softmax(scores, axis)
    return weights @ v, weights
