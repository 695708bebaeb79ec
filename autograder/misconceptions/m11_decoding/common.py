"""What the answers to several questions of lab 11 are made of."""

from __future__ import annotations

import numpy as np


def _softmax(scores):
    e = np.exp(scores - np.max(scores))
    return e / e.sum()
