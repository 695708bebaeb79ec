"""Lab 07: a curve through dots by asking the dots, and how that turns into attention."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coursekit.demos.frame import Choice, Demo, Scene, Slider
from coursekit.demos.svg import Picture
from coursekit.provided.p00_warm_up import softmax

Array = npt.NDArray[np.float64]

DISTANCE, PRODUCT = "distance on a line", "dot product of arrows"
PLACES = np.linspace(0, 10, 11)
HEIGHTS = np.sin(PLACES) + 0.1 * PLACES + np.random.default_rng(3).normal(0, 0.2, 11)
#: Arrows of one length: the line is bent round half a circle, so that neighbours stay as far apart as they were.
RADIUS = 10 / np.pi
GRID = np.linspace(0, 10, 201)


def arrows(places: npt.ArrayLike) -> Array:
    """Each place as an arrow of length ``RADIUS``, (n,) → (n, 2)."""
    angle = np.pi - np.asarray(places, dtype=float) / RADIUS
    return RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def weights(queries: npt.ArrayLike, sigma: float, score: str) -> Array:
    """How much each query listens to each of the eleven dots, (m, 11); every row adds up to one."""
    queries = np.atleast_1d(np.asarray(queries, dtype=float))
    if score == DISTANCE:
        return softmax(-((queries[:, None] - PLACES) ** 2) / (2 * sigma**2))
    return softmax(arrows(queries) @ arrows(PLACES).T / sigma**2)


def listeners(row: Array) -> float:
    """How many dots a row of weights listens to, in effect: e to the entropy."""
    positive = row[row > 0]
    return float(np.exp(-(positive * np.log(positive)).sum()))


def draw(sigma: float, query: float, score: str) -> Picture:
    """The curve or the arrows on the left, the attention map of all queries on the right."""
    row = weights(query, sigma, score)[0]
    answer, heard = float(row @ HEIGHTS), listeners(row)
    if heard < 1.15:
        finding = "one dot speaks for itself"
    elif heard > 9.5:
        finding = "everyone speaks at once"
    else:
        finding = f"the query listens to about {heard:.1f} dots"
    picture = Picture(
        f"σ = {sigma:.2g}: {finding}",
        f"Eleven dots, a query at {query:.1f}, sigma {sigma:.2g}, scores from the {score}. The largest weight is "
        f"{row.max():.2f}; the answer is {answer:.2f}; in effect {heard:.1f} of 11 dots are heard.",
        note=f"answer = Σ weight · height = {answer:.2f}      ".replace("-", "−")
        + ("score = −d²/2σ²" if score == DISTANCE else "score = q·k/σ²   (σ² in the place of √dₖ)"),
    )
    (_draw_line if score == DISTANCE else _draw_arrows)(picture, sigma, query, row, answer)
    _draw_row(picture, row)
    _draw_map(picture, sigma, query, score)
    return picture


def _draw_line(picture: Picture, sigma: float, query: float, row: Array, answer: float) -> None:
    plot = picture.plot(50, 120, 640, 330, across=(-0.3, 10.3), up=(-1.2, 2.3), yticks=(-1, 0, 1, 2))
    plot.curve(GRID, weights(GRID, sigma, DISTANCE) @ HEIGHTS, colour="blue", width=5)
    picture.line(plot.x(query), 120, plot.x(query), 450, colour="red", width=3, dash="10 7")
    for place, height, weight in zip(PLACES, HEIGHTS, row, strict=True):
        picture.line(
            *(plot.x(query), plot.y(answer), plot.x(place), plot.y(height)),
            colour="orange",
            width=0.3 + 10 * weight,
        ) if weight > 0.01 else None
        picture.circle(
            plot.x(place), plot.y(height), 7 + 16 * weight**0.5, fill="orange", edge="ink", width=1.5
        )
    picture.rect(plot.x(query) - 11, plot.y(answer) - 11, 22, 22, fill="red", edge="paper", radius=0)
    picture.text(
        plot.x(query) + (14 if query < 8 else -14), 142, "query", anchor="start" if query < 8 else "end"
    )


def _draw_arrows(picture: Picture, sigma: float, query: float, row: Array, answer: float) -> None:
    x, y, size = 370.0, 440.0, 78.0
    for place, (across, up), weight in zip(PLACES, arrows(PLACES), row, strict=True):
        end = x + across * size, y - up * size
        picture.arrow(x, y, *end, colour="orange" if weight > 0.01 else "line", width=2 + 14 * weight, head=8)
        picture.text(
            x + across * size * 1.09,
            y - up * size * 1.09 + 8,
            f"{place:.0f}",
            size=24,
            anchor="middle",
            weight=700,
        )
    (across, up) = arrows(query)
    picture.line(x, y, x + across * size * 1.04, y - up * size * 1.04, colour="red", width=5, dash="12 7")
    picture.text(0, 140, "keys: arrows of one length", size=26, colour="soft")
    picture.text(0, 174, "query: the dashed one", size=26, colour="soft")


def _draw_row(picture: Picture, row: Array) -> None:
    """The weights of this query, below their dots."""
    for place, weight in zip(PLACES, row, strict=True):
        left = 50 + (place + 0.3) / 10.6 * 640 - 29
        picture.rect(left, 480, 58, 58, fill="blue", opacity=float(weight), edge="line", edge_width=1.5)
        picture.text(
            left + 29, 518, f"{weight:.2f}".lstrip("0") if weight < 0.995 else "1", size=24, anchor="middle",
            colour="on" if weight > 0.85 else "ink",
        )  # fmt: skip
        picture.text(left + 29, 570, f"{place:.0f}", size=22, anchor="middle", colour="soft")
    picture.text(370, 606, f"weights of this query: they add up to {row.sum():.2f}", anchor="middle")


def _draw_map(picture: Picture, sigma: float, query: float, score: str) -> None:
    """All queries below each other: an attention map."""
    left, top, wide, high, count = 790.0, 160.0, 36.0, 18.0, 21
    queries = np.linspace(0, 10, count)
    for i, values in enumerate(weights(queries, sigma, score)):
        for j, weight in enumerate(values):
            if weight > 0.004:
                picture.rect(
                    left + j * wide, top + i * high, wide, high, fill="blue", opacity=float(weight), radius=0
                )
    picture.rect(left, top, 11 * wide, count * high, fill="none", edge="soft", radius=0)
    mark = top + (query / 10) * (count - 1) * high
    picture.rect(
        left - 5, mark - 3, 11 * wide + 10, high + 6, fill="none", edge="red", edge_width=4, dash="10 7"
    )
    picture.text(left, 140, "the same for all queries", weight=700)
    picture.text(left + 5.5 * wide, top + count * high + 36, "keys →", anchor="middle", colour="soft")
    picture.text(left - 20, top + count * high / 2, "← queries", anchor="middle", colour="soft", turn=-90)


demo = Demo(
    name="07_kernel_to_attention",
    title="From a smooth curve to attention",
    look="Look at the row of weights below the curve while σ moves: it always adds up to 1, and it is a row of attention.",
    draw=draw,
    controls=(
        Slider("sigma", "σ, how far a voice carries", 0.1, 20, 0.6, log=True),
        Slider("query", "query", 0, 10, 4.3, step=0.1),
        Choice("score", "score", (DISTANCE, PRODUCT), DISTANCE),
    ),
    scenes=(
        Scene("the nearest wins", {"sigma": 0.1}),
        Scene("a smooth curve", {"sigma": 0.6}),
        Scene("nearly the mean", {"sigma": 20.0}),
        Scene("arrows instead of distance", {"sigma": 0.6, "score": PRODUCT}),
        Scene("sharp arrows", {"sigma": 0.2, "score": PRODUCT, "query": 6.8}),
    ),
    questions=(
        "What does the curve become when σ goes to zero? And when it grows without end?",
        "Nothing in this curve was trained. What would you like to train?",
        "Where in softmax(QKᵀ/√dₖ)V does σ hide?",
    ),
)
