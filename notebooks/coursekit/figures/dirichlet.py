"""Draws a Dirichlet distribution over three outcomes as shading on a triangle."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma
from typing import Any

import numpy as np

from coursekit.figures import INK

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def place(p: Any) -> np.ndarray:
    """The point in the triangle of probabilities ``p``, (..., 3) → (..., 2)."""
    points: np.ndarray = np.asarray(p, dtype=float) @ CORNERS
    return points


def dirichlet_log_density(p: np.ndarray, alpha: Sequence[float]) -> np.ndarray:
    """ln of the Dirichlet density at points ``p`` (..., 3), all positive."""
    a = np.asarray(alpha, dtype=float)
    power: np.ndarray = ((a - 1) * np.log(p)).sum(axis=-1)
    return power + lgamma(float(a.sum())) - sum(lgamma(float(x)) for x in a)


def draw_dirichlet(alpha: Sequence[float], outcomes: Sequence[str], *, ax: Any) -> None:
    """Shade the triangle by the density of Dirichlet(alpha): the darker, the more believable."""
    steps = np.linspace(0.004, 0.992, 90)
    grid = np.array([(x, y, 1 - x - y) for x in steps for y in steps if x + y < 0.997])
    x, y = place(grid).T
    density = np.exp(dirichlet_log_density(grid, alpha))
    if np.ptp(density) < 1e-9:
        ax.fill(*CORNERS.T, color="#cfe2f0")
    else:
        ax.tricontourf(x, y, density, levels=12, cmap="Blues")
    ax.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color=INK, linewidth=1)
    for (across, up), name, below in zip(CORNERS, outcomes, (True, True, False), strict=True):
        ax.text(across, up + (-0.05 if below else 0.04), name, ha="center", va="top" if below else "bottom")
    ax.set(xlim=(-0.2, 1.2), ylim=(-0.15, 1.0), aspect="equal")
    ax.set_axis_off()
