"""Lab 02: what a few throws tell about a coin or a three-sided die, given what was believed before."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from coursekit.demos.frame import Again, Choice, Demo, Scene, Slider, Steps
from coursekit.demos.svg import TOP, Picture
from coursekit.figures.dirichlet import CORNERS, dirichlet_log_density, place

Array = npt.NDArray[np.float64]

COIN, DIE = "a coin", "a die with three faces"
#: The shares that the throws follow; the audience does not know them.
TRUTH = {COIN: np.array([0.7, 0.3]), DIE: np.array([0.6, 0.3, 0.1])}
FACES = {COIN: ("heads", "tails"), DIE: ("A", "B", "C")}
COLOURS = ("blue", "orange", "green")
LAST = 60
ROWS = 26


def throws(thing: str, seed: int) -> npt.NDArray[np.int64]:
    """The first ``LAST`` throws."""
    return np.random.default_rng(seed).choice(len(TRUTH[thing]), size=LAST, p=TRUTH[thing])


def estimates(counts: Array, alpha: float) -> tuple[Array, Array]:
    """The shares as counted (zero without throws), and as believed on average: (n + α) / (N + K α)."""
    seen = counts / max(counts.sum(), 1)
    believed = (counts + alpha) / (counts.sum() + len(counts) * alpha)
    return seen, believed


def spread(counts: Array, alpha: float) -> float:
    """The largest standard deviation of a share under the belief."""
    a = counts + alpha
    mean = a / a.sum()
    return float(np.sqrt(mean * (1 - mean) / (a.sum() + 1)).max())


def peak(counts: Array, alpha: float) -> Array | None:
    """The most believable shares, (n + α − 1) / …; None where the density has no top inside."""
    a = counts + alpha - 1
    return a / a.sum() if (a > 0).all() else None


def draw(thing: str, seen: int, alpha: float, seed: int) -> Picture:
    """The belief as a curve (coin) or as shading of a triangle (die), the throws, and the estimates."""
    thrown = throws(thing, seed)[:seen]
    counts = np.bincount(thrown, minlength=len(TRUTH[thing])).astype(float)
    counted, believed = estimates(counts, alpha)
    faces = FACES[thing]
    told = ", ".join(
        f"{face} {int(n)} times, believed {p:.0%}" for face, n, p in zip(faces, counts, believed, strict=True)
    )
    picture = Picture(
        _title(thing, seen, alpha, counts, believed),
        f"Belief about {thing} after {seen} throws with prior strength alpha {alpha:.2g}: {told}.",
        note=f"α = {alpha:.2g} for each face, {seen} throw{'s' * (seen != 1)} seen",
    )
    if thing == COIN:
        _draw_coin(picture, counts, alpha)
    else:
        _draw_die(picture, counts, alpha)
    _draw_throws(picture, thrown, faces)
    _draw_estimates(picture, faces, counted, believed)
    return picture


def _title(thing: str, seen: int, alpha: float, counts: Array, believed: Array) -> str:
    if not seen:
        if abs(alpha - 1) < 0.05:
            return "Nothing seen, α = 1: no shares are more believable than others"
        kind = "fair" if alpha > 1 else "one-sided"
        return f"Before any throw, α = {alpha:.2g} believes in {kind} things"
    if (counts == 0).any():
        face = FACES[thing][int(np.argmin(counts))]
        return f"{face} never came in {seen} throws, and still gets {believed[int(np.argmin(counts))]:.1%}"
    return f"{seen} throws tell the shares to about ±{100 * spread(counts, alpha):.0f} points"


def _draw_coin(picture: Picture, counts: Array, alpha: float) -> None:
    p = np.linspace(0.002, 0.998, 250)
    density = np.exp(dirichlet_log_density(np.stack([p, 1 - p], axis=-1), (counts + alpha).tolist()))
    top = max(float(density[(p > 0.02) & (p < 0.98)].max()) * 1.12, 1.3)
    plot = picture.plot(
        70,
        TOP,
        600,
        350,
        across=(0, 1),
        up=(0, top),
        xlabel="share of heads",
        ylabel="belief",
        xticks=(0, 0.5, 1),
    )
    shown = np.minimum(density, top)
    outline = [(plot.x(0), plot.y(0)), *[(plot.x(a), plot.y(b)) for a, b in zip(p, shown, strict=True)]]
    picture.path([*outline, (plot.x(1), plot.y(0))], colour="blue", width=5, fill="blue", opacity=0.18)
    _, believed = estimates(counts, alpha)
    picture.line(plot.x(believed[0]), plot.y(0), plot.x(believed[0]), TOP + 20, colour="ink", width=4)
    at_right = believed[0] > 0.75
    picture.text(
        plot.x(believed[0]) + (-10 if at_right else 10), TOP + 30, f"mean {believed[0]:.2f}",
        size=24, weight=700, anchor="end" if at_right else "start",
    )  # fmt: skip
    best = peak(counts, alpha)
    if best is not None and counts.sum():
        picture.line(
            plot.x(best[0]), plot.y(0), plot.x(best[0]), plot.y(np.interp(best[0], p, shown)),
            colour="red", width=4, dash="10 7",
        )  # fmt: skip
        picture.text(plot.x(best[0]) + 10, plot.y(0) - 14, f"peak {best[0]:.2f}", size=24)


@cache
def _triangles() -> list[tuple[Array, Array]]:
    """Small triangles that fill the large one: (corners (3, 2), middle as shares (3,))."""
    found = []
    for i in range(ROWS):
        for j in range(ROWS - i):
            k = ROWS - i - j
            up = np.array([(i, j, k), (i + 1, j, k - 1), (i, j + 1, k - 1)], dtype=float) / ROWS
            found.append((place(up), up.mean(axis=0)))
            if k > 1:
                down = (
                    np.array([(i + 1, j, k - 1), (i, j + 1, k - 1), (i + 1, j + 1, k - 2)], dtype=float)
                    / ROWS
                )
                found.append((place(down), down.mean(axis=0)))
    return found


def _draw_die(picture: Picture, counts: Array, alpha: float) -> None:
    size, left, base = 450.0, 110.0, TOP + 440.0

    def spot(shares: Array) -> tuple[float, float]:
        x, y = place(shares)
        return left + x * size, base - y * size

    middles = np.array([middle for _, middle in _triangles()])
    density = np.exp(dirichlet_log_density(middles, (counts + alpha).tolist()))
    high = float(density.max())
    for (corners, _), value in zip(_triangles(), density, strict=True):
        if value > 0.015 * high:
            points = [(left + x * size, base - y * size) for x, y in corners]
            way = "L".join(f"{x:.0f} {y:.0f}" for x, y in points)
            picture.raw(f'<path d="M{way}Z" fill="var(--d-blue)" fill-opacity="{0.9 * value / high:.2f}"/>')
    picture.path([(left + x * size, base - y * size) for x, y in CORNERS], colour="ink", width=3, close=True)
    for shares, name, dx, dy in zip(np.eye(3), FACES[DIE], (-34, 34, 0), (14, 14, -16), strict=True):
        x, y = spot(shares)
        picture.text(x + dx, y + dy, name, size=28, anchor="middle", weight=700)
    _, believed = estimates(counts, alpha)
    x, y = spot(believed)
    picture.circle(x, y, 13, fill="paper", edge="ink", width=4)
    picture.text(470, TOP + 40, "○ mean of the belief", size=24)
    if counts.sum():
        x, y = spot(counts / counts.sum())
        picture.path([(x - 12, y - 12), (x + 12, y + 12)], colour="red", width=6)
        picture.path([(x - 12, y + 12), (x + 12, y - 12)], colour="red", width=6)
        picture.text(470, TOP + 76, "× shares as counted", size=24)


def _draw_throws(picture: Picture, thrown: npt.NDArray[np.int64], faces: tuple[str, ...]) -> None:
    picture.text(0, 606, "throws:" if len(thrown) <= 26 else "the last:", colour="soft")
    if not len(thrown):
        picture.text(112, 606, "none yet", colour="soft")
    shown = thrown[-26:]
    for i, face in enumerate(shown):
        x = 130 + i * 41
        colour = COLOURS[face]
        picture.circle(x, 598, 18, fill=colour)
        ink = "on" if colour != "orange" else "over"
        picture.text(x, 607, faces[face][0].upper(), size=24, anchor="middle", colour=ink, weight=700)


def _draw_estimates(picture: Picture, faces: tuple[str, ...], counted: Array, believed: Array) -> None:
    left = 880.0
    picture.text(740, TOP + 130, "believed, and (below) counted", size=24, weight=700)
    for i, (face, by_count, by_belief) in enumerate(zip(faces, counted, believed, strict=True)):
        y = TOP + 156 + i * 96
        picture.text(left - 14, y + 50, face, anchor="end", size=28, weight=700)
        for share, top, pale in ((by_belief, y, False), (by_count, y + 42, True)):
            wide = share * 215
            picture.rect(
                *(left, top, max(wide, 2), 36),
                fill=COLOURS[i] if not pale else "faint",
                edge=COLOURS[i],
                hatch="line" if pale and wide > 4 else "",
            )
            written = f"{share:.1%}" if not pale or counted.any() else "–"
            picture.text(left + wide + 10, top + 28, written, size=24, weight=400 if pale else 700)


demo = Demo(
    name="02_dirichlet",
    title="What do a few throws tell?",
    look="Look at the belief: each throw pushes it a little, and the more throws there are, the less α matters.",
    draw=draw,
    controls=(
        Choice("thing", "throw", (COIN, DIE), COIN),
        Steps("seen", "throws", LAST, milliseconds=300),
        Slider("alpha", "α, the belief before", 0.1, 20, 1.0, log=True),
        Again("seed", "other throws", 5),
    ),
    scenes=(
        Scene("nothing seen", {"seen": 0}),
        Scene("five throws", {"seen": 5}),
        Scene("a stubborn belief", {"seen": 5, "alpha": 20.0}),
        Scene("sixty throws", {"seen": 60}),
        Scene("a die, C unseen", {"thing": DIE, "seen": 6}),
        Scene("the die, sixty throws", {"thing": DIE, "seen": 60}),
    ),
    questions=(
        "Three throws, three heads. What would you bet on the fourth, and what does the peak bet?",
        "Which α says: I am sure that this coin is loaded, I just don't know to which side?",
        "A letter pair never occurred in the names. What has this triangle to do with it?",
    ),
    poster=4,
)
