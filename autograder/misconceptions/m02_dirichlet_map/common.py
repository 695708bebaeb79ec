"""What the answers to several questions of lab 02 are made of."""

from __future__ import annotations

import numpy as np

from autograder.testing import master

reference = master("02_dirichlet_map")


def _shares(weight):
    """Each row by its own sum along the last axis; 0/0 stays 0."""
    total = weight.sum(axis=-1, keepdims=True)
    return np.divide(weight, total, out=np.zeros(weight.shape), where=total != 0)
