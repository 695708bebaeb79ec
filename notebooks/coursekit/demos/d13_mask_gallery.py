"""Lab 13: which pairs of positions may talk, and what that costs as the text grows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coursekit.demos.frame import Choice, Demo, Scene, Slider
from coursekit.demos.svg import TOP, Picture

Mask = npt.NDArray[np.bool_]

KINDS = ("full", "causal", "local", "dilated", "global")
LOOKS = {"full": "ink", "causal": "orange", "local": "blue", "dilated": "green", "global": "purple"}
DASHES = {"full": "", "causal": "16 6", "local": "", "dilated": "6 6", "global": "14 6 3 6"}
LENGTHS = (16, 64, 256, 1024, 4096)


def mask(kind: str, T: int, width: int) -> Mask:
    """(T, T) booleans, True where row i may attend to column j; ``dilated`` takes every second neighbour."""
    gap = np.arange(T)[:, None] - np.arange(T)[None, :]
    near = np.abs(gap) <= width
    if kind == "full":
        return np.ones((T, T), dtype=bool)
    if kind == "causal":
        return gap >= 0
    if kind == "local":
        return near
    if kind == "dilated":
        return (gap % 2 == 0) & (np.abs(gap) <= 2 * width)
    first = np.arange(T) == 0
    return near | first[:, None] | first[None, :]


def pairs(kind: str, T: int, width: int) -> int:
    """How many pairs a mask allows, by a formula, so that T may be large."""
    if kind == "full":
        return T * T
    if kind == "causal":
        return T * (T + 1) // 2
    if kind == "dilated":
        return T + 2 * sum(T - 2 * k for k in range(1, width + 1) if 2 * k < T)
    near = T + 2 * sum(T - k for k in range(1, width + 1) if k < T)
    return near if kind == "local" else near + 2 * max(T - 1 - width, 0)


def reach(kind: str, T: int, width: int) -> int | None:
    """After how many layers the last position has heard of the first; None for never."""
    heard: Mask = np.zeros(T, dtype=bool)
    heard[-1] = True
    allowed = mask(kind, T, width)
    for layer in range(1, T + 1):
        heard = np.asarray(allowed[heard].any(axis=0))
        if heard[0]:
            return layer
    return None


def _short(count: float) -> str:
    for limit, name in ((1e9, " billion"), (1e6, " million"), (1e4, " thousand")):
        if count >= limit:
            return f"{count / {1e9: 1e9, 1e6: 1e6, 1e4: 1e3}[limit]:.3g}{name}"
    return f"{count:,.0f}"


def draw(kind: str, T: int, width: int) -> Picture:
    """The mask on the left; on the right the pairs of every mask against the length, both axes in powers of ten."""
    allowed, count = mask(kind, T, width), pairs(kind, T, width)
    layers = reach(kind, T, width)
    far = (
        "the ends never meet"
        if layers is None
        else f"the ends meet after {layers} layer{'s' if layers > 1 else ''}"
    )
    at_4096 = pairs(kind, LENGTHS[-1], width)
    picture = Picture(
        f"{kind.capitalize()}: {count} of {T * T} pairs, {far}",
        f"The {kind} mask for {T} positions allows {count} of {T * T} pairs; {far}. For 4,096 positions it allows "
        f"{at_4096:,} pairs, {at_4096 / LENGTHS[-1] ** 2:.2%} of all.",
        note=f"with 4,096 tokens: {_short(at_4096)} pairs in each head and layer, {at_4096 / 4096**2:.2%} of all",
    )
    side = 430.0
    cell = side / T
    left, top = 80.0, TOP + 30
    picture.rect(left, top, side, side, fill="faint", edge="line", edge_width=1)
    for i in range(T):
        row = np.flatnonzero(np.diff(np.concatenate(([0], allowed[i].astype(int), [0]))))
        for start, end in zip(row[::2], row[1::2], strict=True):
            for j in range(start, end):
                picture.rect(
                    left + j * cell + 0.5,
                    top + i * cell + 0.5,
                    cell - 1,
                    cell - 1,
                    fill=LOOKS[kind],
                    radius=min(3, cell / 6),
                )
    picture.text(left + side / 2, top + side + 32, "who is heard →", size=24, anchor="middle", colour="soft")
    picture.text(
        left - 22, top + side / 2, "← who listens", size=24, anchor="middle", colour="soft", turn=-90
    )
    x = np.log10(LENGTHS)
    plot = picture.plot(
        700, TOP + 30, 330, 390, across=(x[0], x[-1]), up=(1.5, 7.5), xlabel="tokens (each step ×4)"
    )
    for length, place in zip(LENGTHS, x, strict=True):
        picture.text(plot.x(place), TOP + 454, f"{length}", size=22, anchor="middle", colour="soft")
    for power, word in ((2, "100"), (4, "10,000"), (6, "1 million")):
        picture.line(plot.x(x[0]), plot.y(power), plot.x(x[-1]), plot.y(power), colour="faint")
        picture.text(plot.x(x[0]) - 14, plot.y(power) + 8, word, size=22, anchor="end", colour="soft")
    picture.text(700, TOP + 16, "pairs to be computed", weight=700)
    ends = {name: plot.y(np.log10(pairs(name, LENGTHS[-1], width))) for name in KINDS}
    order = sorted(KINDS, key=ends.__getitem__)
    places: dict[str, float] = {}
    for name in order:
        above = places[order[order.index(name) - 1]] if places else 0.0
        places[name] = max(ends[name] + 8, above + 29)
    for name in KINDS:
        chosen = name == kind
        plot.curve(
            x,
            [np.log10(pairs(name, length, width)) for length in LENGTHS],
            colour=LOOKS[name],
            width=8 if chosen else 3.5,
            dash=DASHES[name],
        )
        picture.text(
            plot.x(x[-1]) + 14, places[name], name, size=24, colour=LOOKS[name], weight=700 if chosen else 400
        )
    return picture


demo = Demo(
    name="13_mask_gallery",
    title="A gallery of masks, and what each costs",
    look="Compare the filled area on the left with the steepness of its line on the right.",
    draw=draw,
    controls=(
        Choice("kind", "mask", KINDS, "full"),
        Slider("T", "tokens", 6, 24, 16),
        Slider("width", "neighbours on each side", 1, 5, 2),
    ),
    scenes=(
        Scene("everyone hears everyone", {"kind": "full"}),
        Scene("no future", {"kind": "causal"}),
        Scene("neighbours only", {"kind": "local"}),
        Scene("every second neighbour", {"kind": "dilated"}),
        Scene("one listens to all", {"kind": "global"}),
    ),
    questions=(
        "Twice the text: how much more work is full attention, and how much more a window?",
        "Why does one global token bring the two ends of the text so close together?",
        "Which of these masks may a decoder use while it writes?",
    ),
    poster=4,
)
