"""What several questions of lab 00 are made of."""

import math

import numpy as np


def log_sum_exp(scores):
    """Of a list, in plain Python; a score of −∞ adds nothing."""
    largest = max(scores)
    return largest + math.log(math.fsum(math.exp(score - largest) for score in scores))


def along(function, x, axis):
    """``function`` of each line of x along an axis; what it returns, a number or a line, stands last."""
    lines = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    values = np.array([function(line) for line in lines.reshape(-1, lines.shape[-1]).tolist()])
    return values.reshape((*lines.shape[:-1], *values.shape[1:]))
