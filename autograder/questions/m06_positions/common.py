"""What several questions of lab 06 are made of."""

import numpy as np

#: Angles of some tens of radians in single precision are honest work, too.
ATOL = 2e-5


def waves(T, exponents, base):
    """Sine and cosine columns in turn, each with its exponent.  → (T, len(exponents))"""
    angles = np.arange(T)[:, None] / base ** np.asarray(exponents)
    return np.where(np.arange(len(exponents)) % 2, np.cos(angles), np.sin(angles))


def speeds(D, base):
    return base ** (-np.arange(0, D, 2) / D)


def blocks(angles, block):
    """A matrix with a block for each angle along its diagonal, made of the angle's cosine and sine."""
    M = np.zeros((2 * len(angles), 2 * len(angles)))
    for i, angle in enumerate(angles):
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block(np.cos(angle), np.sin(angle))
    return M
