"""Draws a Markov chain as a graph: words in circles, arrows with the probability of each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coursekit.figures import BLUE, INK, ORANGE, boxed


def draw_chain(
    words: Sequence[str], P: Any, places: Mapping[str, tuple[float, float]], *, ax: Any, title: str = ""
) -> None:
    """Draw every possible step of ``P``. Steps that are not certain are orange and labelled with their probability.

    ``P[i, j]`` is the probability that word j follows word i; ``places`` gives each word its centre.
    Words without a place, and their steps, are left out.
    """
    P = np.asarray(P, dtype=float)
    for i, j in zip(*np.nonzero(P), strict=True):
        if words[i] in places and words[j] in places:
            _arrow(ax, places[words[i]], places[words[j]], float(P[i, j]))
    for word, (x, y) in places.items():
        boxed(ax, x, y, word, pad=0.35, edge=BLUE, width=1.5, color=INK, zorder=3)
    across, up = np.array(list(places.values())).T
    ax.set(xlim=(across.min() - 0.6, across.max() + 0.6), ylim=(up.min() - 0.45, up.max() + 0.45))
    ax.set_axis_off()
    ax.set_title(title)


def _arrow(ax: Any, start: tuple[float, float], end: tuple[float, float], probability: float) -> None:
    colour = INK if probability > 0.999 else ORANGE
    line = {
        "arrowstyle": "-|>",
        "color": colour,
        "linewidth": 1 + 2 * probability,
        "shrinkA": 24,
        "shrinkB": 24,
    }
    ax.annotate("", xy=end, xytext=start, arrowprops=line, zorder=1)
    if colour == ORANGE:
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        number = f"{probability:.2g}".lstrip("0")
        boxed(ax, *middle, number, pad=0.15, fontsize=9.5, weight="bold", zorder=2)
