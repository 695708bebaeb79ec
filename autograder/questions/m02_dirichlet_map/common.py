"""What several questions of lab 02 are made of."""

import math

import numpy as np

# ------------------------------------------------------------------------------------------ of the references


def rows_of(N, gain):
    """Each row of N plus its gain, divided by its own sum, one row at a time; 0/0 stays 0."""
    N, gain = np.asarray(N, dtype=float), np.broadcast_to(np.asarray(gain, dtype=float), np.shape(N))
    P = np.zeros(N.shape)
    for row in np.ndindex(N.shape[:-1]):
        weights = [n + g for n, g in zip(N[row].tolist(), gain[row].tolist(), strict=True)]
        total = math.fsum(weights)
        P[row] = [w / total if total > 0 else 0.0 for w in weights]
    return P


def seen(rng, *shape):
    """Counts in which every context was seen."""
    counts = rng.integers(0, 9, size=shape)
    counts[..., 0] += 1
    return counts


# ---------------------------------------------------------------------------------------- of the wrong answers


def shares(weight):
    """Each row by its own sum along the last axis; 0/0 stays 0."""
    return over(weight, weight.sum(axis=-1, keepdims=True))


def over(weight, below):
    return np.divide(weight, below, out=np.zeros(np.shape(weight)), where=below != 0)
