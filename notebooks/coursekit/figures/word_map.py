"""Draws word vectors as a map that keeps neighbours together and labels apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coursekit.figures import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY

# Orange, sky and purple are too light for small letters on white, so darker variants are used.
_INKS = (BLUE, "#9c6a00", GREEN, RED, "#a34f80", "#20709c", INK)
_DOTS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, INK)
_MARKERS = ("o", "s")


def layout(vectors: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Places in the plane for the rows of ``vectors`` (N, D) → (N, 2), by t-SNE on cosines (van der Maaten 2008)."""
    from sklearn.manifold import TSNE

    rows = np.asarray(vectors, dtype=float)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    places = TSNE(2, metric="cosine", perplexity=8, init="pca", random_state=1).fit_transform(rows)
    return np.asarray(places, dtype=float)


def draw_map(
    vectors: npt.NDArray[Any],
    words: Sequence[str],
    groups: Mapping[str, str],
    *,
    ax: Any,
    title: str = "",
    labels: bool = True,
    others: Sequence[str] = (),
) -> None:
    """Draw the words of each group (one string, separated by blanks) at their places; unknown words are left out.

    ``others`` are placed together with them, as small grey dots without a name.
    """
    number = {word: i for i, word in enumerate(words)}
    shown = [(word, k) for k, row in enumerate(groups.values()) for word in row.split() if word in number]
    picked = {word for word, _ in shown}
    rest = [number[word] for word in others if word in number and word not in picked]
    everything = layout(vectors[[number[word] for word, _ in shown] + rest])
    places = everything[: len(shown)]
    ax.scatter(*everything[len(shown) :].T, s=9, color="#c3cad1", linewidths=0)
    for k, name in enumerate(groups):
        mine = places[[group == k for _, group in shown]]
        style = {"color": _DOTS[k % 7], "marker": _MARKERS[k // 7 % 2]}
        ax.scatter(mine[:, 0], mine[:, 1], s=26, label=name, linewidths=0, **style)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title)
    ax.spines[:].set(color="#d5dbe1", visible=True)
    if labels:
        ax.margins(0.07, 0.05)
        _label(ax, places, shown)


def _label(ax: Any, places: npt.NDArray[np.float64], shown: Sequence[tuple[str, int]]) -> None:
    """Write each word beside its dot where no dot or other word is. A word without such a place is left out."""
    figure = ax.figure
    figure.canvas.draw()
    dots = ax.transData.transform(places)
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    scale = figure.dpi / 72
    box = ax.bbox
    for (word, group), (x, y) in zip(shown, dots, strict=True):
        width, height = 7 * len(word) * scale, 13 * scale
        for left, low in _spots(x, y, width, height, 5 * scale):
            spot = (left, low, left + width, low + height)
            inside = box.x0 < left < box.x1 - width and box.y0 < low < box.y1 - height
            if inside and not any(_overlap(spot, other) for other in taken):
                taken.append(spot)
                at = ax.transData.inverted().transform((left, low))
                ax.text(*at, word, fontsize=11, color=_INKS[group % 7], va="bottom", ha="left")
                break


def _spots(x: float, y: float, width: float, height: float, gap: float) -> list[tuple[float, float]]:
    """The lower left corners of possible places for a label around a dot, the best first."""
    spots = []
    for far in (1.0, 2.2, 3.6, 5.0):
        d = gap * far
        spots += [(x + d, y - height / 2), (x - d - width, y - height / 2), (x - width / 2, y + d)]
        spots += [(x - width / 2, y - d - height), (x + d, y + d / 2), (x - d - width, y + d / 2)]
        spots += [(x + d, y - d / 2 - height), (x - d - width, y - d / 2 - height)]
    return spots


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two rectangles (left, low, right, top) share an area."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
