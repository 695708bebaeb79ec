"""What lab 00 taught, for later labs: one-hot rows, look-up, log-sum-exp, softmax and cross-entropy in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def one_hot(ids: npt.ArrayLike, V: int) -> Array:
    """One-hot rows.  ids: any shape (...) of whole numbers below V → (..., V)."""
    rows: Array = np.eye(V)[np.asarray(ids)]
    return rows


def lookup(H: npt.ArrayLike, E: npt.ArrayLike) -> Array:
    """Weighted sums of the rows of a table.  H: (..., V), E: (V, D) → (..., D)."""
    sums: Array = np.matmul(H, E)
    return sums


def logsumexp(x: npt.ArrayLike, axis: int = -1) -> Array:
    """The logarithm of the sum of exponentials along an axis, which disappears. Safe for large scores."""
    logarithm: Array = np.logaddexp.reduce(np.asarray(x, dtype=float), axis=axis)
    return logarithm


def softmax(x: npt.ArrayLike, axis: int = -1) -> Array:
    """Scores to probabilities along an axis: none negative, summing to one. Same shape as x."""
    x = np.asarray(x, dtype=float)
    probabilities: Array = np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))
    return probabilities


def cross_entropy(logits: npt.ArrayLike, ids: npt.ArrayLike) -> float:
    """Mean negative log-probability of the true words.  logits: (N, V), ids: (N,) → one number."""
    scores, words = np.asarray(logits, dtype=float), np.asarray(ids)
    true = np.take_along_axis(scores, words[:, None], axis=1)[:, 0]
    return float(np.mean(logsumexp(scores) - true))
