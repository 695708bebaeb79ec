"""Lab 06: a position as the hands of clocks that turn at different speeds, and what two positions have in common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coursekit.demos.frame import Choice, Demo, Scene, Slider
from coursekit.demos.svg import TOP, Picture
from coursekit.provided.p06_positions import sinusoidal

Array = npt.NDArray[np.float64]

D, LAST = 8, 48
HANDS, TABLE, DISTANCE = "hands", "whole table", "distance"
COLOURS = ("red", "orange", "green", "blue")


def speeds(base: float) -> Array:
    """How far each clock's hand turns in one position, in radians, (D / 2,)."""
    return base ** (-np.arange(0, D, 2) / D)


def turns(position: int, base: float) -> Array:
    """How often each hand has gone round at a position."""
    return position * speeds(base) / (2 * np.pi)


def draw(position: int, base: float, view: str) -> Picture:
    """Four clocks and the row of numbers that they show; below, the table or the likeness of positions."""
    table = sinusoidal(LAST + 1, D, base)
    row, gone = table[position], turns(position, base)
    if view == HANDS:
        title = f"Position {position}: hand 1 went round {gone[0]:.1f} times, hand 4 {gone[3]:.2f} times"
    elif view == TABLE:
        title = f"Position {position} is one column: fast waves above, slow ones below"
    else:
        title = _likeness_title(table, position)
    picture = Picture(
        title,
        f"Four clocks at position {position}, base {base:.0f}. Their sines and cosines are "
        + ", ".join(f"{value:.2f}" for value in row)
        + ".",
        note=f"clock i turns by {base:.0f} to the power −2(i − 1)/{D} in each position"
        + ("   (blue +, orange −)" if view == TABLE else ""),
    )
    _draw_clocks(picture, position, base, row)
    if view == HANDS:
        _draw_waves(picture, position, base)
    elif view == TABLE:
        _draw_table(picture, table, position)
    else:
        _draw_likeness(picture, table, position)
    return picture


def _likeness_title(table: Array, position: int) -> str:
    other = position + 1 if position < LAST else position - 1
    near = float(table[position] @ table[other])
    return f"One step away from {position} the dot product is {near:.2f}, as everywhere"


def _draw_clocks(picture: Picture, position: int, base: float, row: Array) -> None:
    for i, (colour, speed) in enumerate(zip(COLOURS, speeds(base), strict=True)):
        x, y, radius = 150 + 300 * i, TOP + 112.0, 100.0
        picture.circle(x, y, radius, fill="faint", edge="soft", width=3)
        for hour in range(12):
            angle = hour * np.pi / 6
            picture.line(
                *(
                    x + 88 * np.sin(angle),
                    y - 88 * np.cos(angle),
                    x + 98 * np.sin(angle),
                    y - 98 * np.cos(angle),
                ),
                colour="soft",
                width=2,
            )
        for back in range(1, min(position, 5) + 1):  # where the hand stood before
            angle = (position - back) * speed
            picture.line(x, y, x + 80 * np.sin(angle), y - 80 * np.cos(angle), colour="line", width=3)
        angle = position * speed
        picture.arrow(x, y, x + 92 * np.sin(angle), y - 92 * np.cos(angle), colour=colour, width=7, head=8)
        picture.circle(x, y, 8, fill="ink")
        picture.text(x, y + 138, f"clock {i + 1}", anchor="middle", weight=700)
        numbers = f"sin {row[2 * i]:.2f}  cos {row[2 * i + 1]:.2f}".replace("-", "−")
        picture.text(x, y + 170, numbers, size=24, anchor="middle")


def _draw_waves(picture: Picture, position: int, base: float) -> None:
    plot = picture.plot(
        *(70, TOP + 306, 1100, 132), across=(0, LAST), up=(-1.15, 1.15), xlabel="position", ylabel="sine",
        xticks=(0, 12, 24, 36, 48), yticks=(-1, 0, 1),
    )  # fmt: skip
    fine = np.linspace(0, LAST, 400)
    for i, (colour, speed) in enumerate(zip(COLOURS, speeds(base), strict=True)):
        plot.curve(
            fine, np.sin(fine * speed), colour=colour, width=3.5, dash=("", "12 6", "3 6", "16 5 3 5")[i]
        )
        plot.dots([position], [np.sin(position * speed)], radius=8, fill=colour, edge="ink", width=2)
    picture.line(plot.x(position), TOP + 300, plot.x(position), TOP + 438, colour="ink", width=2)


def _draw_table(picture: Picture, table: Array, position: int) -> None:
    left, top, wide, high = 150.0, TOP + 318.0, 21.0, 18.0
    for t in range(LAST + 1):
        for d in range(D):
            value = float(table[t, d])
            picture.raw(
                f'<rect x="{left + t * wide:.0f}" y="{top + d * high:.0f}" width="{wide:.0f}" height="{high:.0f}" '
                f'fill="var(--d-{"blue" if value >= 0 else "orange"})" fill-opacity="{abs(value):.2f}"/>'
            )
    picture.rect(left, top, wide * (LAST + 1), high * D, fill="none", edge="soft", radius=0)
    picture.rect(
        left + position * wide - 3, top - 6, wide + 6, high * D + 12, fill="none", edge="ink", edge_width=4
    )
    for i in range(4):
        picture.text(left - 12, top + (2 * i + 1) * high + 8, f"clock {i + 1}", size=24, anchor="end")
    for t in (0, 12, 24, 36, 48):
        picture.text(
            left + (t + 0.5) * wide, top + D * high + 32, f"{t}", size=24, anchor="middle", colour="soft"
        )


def _draw_likeness(picture: Picture, table: Array, position: int) -> None:
    likeness = table @ table[position]
    plot = picture.plot(
        *(70, TOP + 306, 1100, 132), across=(0, LAST), up=(min(-1.0, float(likeness.min())), 4.3), xlabel="other position",
        ylabel="dot prod.", xticks=(0, 12, 24, 36, 48), yticks=(0, 2, 4),
    )  # fmt: skip
    plot.curve(np.arange(LAST + 1), likeness, colour="blue", width=4)
    plot.dots(np.arange(LAST + 1), likeness, radius=5, fill="blue")
    plot.dots([position], [likeness[position]], radius=10, fill="red", edge="ink")


demo = Demo(
    name="06_clock_hands",
    title="Where is a word? Ask the clocks",
    look="Move the position by one and compare the clocks: the first hand leaps, the last one hardly stirs.",
    draw=draw,
    controls=(
        Slider("position", "position", 0, LAST, 7),
        Slider("base", "base", 10, 10000, 100, log=True),
        Choice("view", "below", (HANDS, TABLE, DISTANCE), HANDS),
    ),
    scenes=(
        Scene("midnight", {"position": 0}),
        Scene("one step", {"position": 1}),
        Scene("a later time", {"position": 30}),
        Scene("slower clocks", {"position": 30, "base": 10000.0}),
        Scene("the whole table", {"position": 30, "view": TABLE}),
        Scene("who is near?", {"position": 24, "view": DISTANCE}),
    ),
    questions=(
        "Why not simply the number 30? What would a network do with the number 5,000?",
        "Two positions show the same time on clock 1. Which clock tells them apart?",
        "Turn all clocks by seven positions. Does it matter where you began?",
    ),
    poster=4,
)
