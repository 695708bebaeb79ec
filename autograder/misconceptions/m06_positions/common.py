"""What the answers to several questions of lab 06 are made of."""

from __future__ import annotations

import numpy as np


def _blocks(angles, block):
    D = 2 * len(angles)
    M = np.zeros((D, D))
    for i, angle in enumerate(angles):
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block(np.cos(angle), np.sin(angle))
    return M


def _speeds(D, base):
    return base ** (-np.arange(0, D, 2) / D)
