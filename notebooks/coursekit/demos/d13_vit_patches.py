"""Lab 13: a digit cut into patches, read as a sentence; without positions only a bag of patches is left."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from coursekit.data import path
from coursekit.demos.frame import Again, Choice, Demo, Scene
from coursekit.demos.svg import TOP, Picture

Array = npt.NDArray[np.float64]

FILE = "demos/digits.json"
SIZES = {"1 × 1": 1, "2 × 2": 2, "4 × 4": 4, "8 × 8": 8}
KEPT, SHUFFLED = "in order", "shuffled"
SIDE = 8


@cache
def digit(name: str) -> Array:
    """(8, 8): the first digit of that name among scikit-learn's, ink from 0 to 1."""
    return np.array(json.loads(path(FILE).read_text(encoding="utf-8"))[int(name)]) / 16


def make() -> None:
    """Write ten of scikit-learn's digits (loading them takes seconds) to ``data/demos``."""
    from sklearn.datasets import load_digits

    found = load_digits()
    ten = [found.images[int(np.argmax(found.target == number))].astype(int).tolist() for number in range(10)]
    target = Path(__file__).resolve().parents[3] / "data" / FILE
    target.write_text(json.dumps(ten, separators=(",", ":")) + "\n", encoding="utf-8")


def patches(image: Array, p: int) -> Array:
    """(8, 8) → (N, p, p), row by row from the top left."""
    return np.array([image[y : y + p, x : x + p] for y in range(0, SIDE, p) for x in range(0, SIDE, p)])


def laid(pieces: Array) -> Array:
    """(N, p, p) → (8, 8): the patches side by side in the order in which they come."""
    row = SIDE // pieces.shape[1]
    return np.block([[pieces[y * row + x] for x in range(row)] for y in range(row)])


def order(count: int, positions: str, again: int) -> npt.NDArray[np.int64]:
    """In which order the patches are read; never the true one when shuffled, unless there is one patch."""
    true = np.arange(count)
    if positions == KEPT or count == 1:
        return true
    rng = np.random.default_rng(again)
    while True:
        mixed = rng.permutation(count)
        if (mixed != true).any():
            return mixed


def _ink(picture: Picture, x: float, y: float, side: float, pixels: Array) -> None:
    cell = side / len(pixels)
    picture.rect(x, y, side, side, fill="faint", radius=0)
    for (i, j), value in np.ndenumerate(pixels):
        if value:
            picture.rect(x + j * cell, y + i * cell, cell, cell, fill="ink", opacity=float(value), radius=0)


def _grid(picture: Picture, x: float, y: float, side: float, p: int) -> None:
    for k in range(SIDE // p + 1):
        at = k * p * side / SIDE
        picture.line(x + at, y, x + at, y + side, colour="orange", width=2.5)
        picture.line(x, y + at, x + side, y + at, colour="orange", width=2.5)


def draw(name: str, size: str, positions: str, again: int) -> Picture:
    """The digit and how it lies in this order on the left; the sentence of patches on the right."""
    p = SIZES[size]
    whole = patches(digit(name), p)
    count = len(whole)
    read = order(count, positions, again)
    words = f"{count} word{'s' if count > 1 else ''} of {p * p} number{'s' if p > 1 else ''}"
    if positions == SHUFFLED and count > 1:
        home = int((read == np.arange(count)).sum())
        title = f"Shuffled: the same {words}, {home} at home"
    else:
        title = f"Patches of {size}: the digit is {words}"
    mean = whole[read].mean(axis=0)
    picture = Picture(
        title,
        f"A handwritten {name} of 8 × 8 pixels cut into {words}, read in the order {', '.join(map(str, read))}. "
        f"Attention compares {count**2} pairs. The mean ink of all patches is {mean.mean():.3f} in any order.",
        note=f"8 · 8 pixels = {count} · {p * p} numbers      attention compares {count} · {count} = {count**2} pairs",
    )
    side, left, top = 190.0, 20.0, TOP + 38.0
    picture.text(left, top - 12, "the image", weight=700)
    _ink(picture, left, top, side, digit(name))
    _grid(picture, left, top, side, p)
    picture.text(left, top + side + 42, "laid in this order", weight=700)
    _ink(picture, left, top + side + 54, side, laid(whole[read]))
    _grid(picture, left, top + side + 54, side, p)
    picture.text(300, top - 12, "the sentence; each patch with the number of its true place", weight=700)
    columns, edge = {64: (16, 42.0), 16: (8, 88.0), 4: (4, 150.0), 1: (1, 240.0)}[count]
    for n, place in enumerate(read):
        x = 300 + (n % columns) * (edge + 12)
        y = top + 6 + (n // columns) * (edge + 36)
        _ink(picture, x, y, edge, whole[place])
        moved = place != n
        picture.rect(x, y, edge, edge, fill="none", edge="red" if moved else "line", radius=0)
        picture.text(
            *(x + edge / 2, y + edge + 23), str(place), size=22, anchor="middle",
            colour="red" if moved else "ink", weight=700 if moved else 400,
        )  # fmt: skip
    _ink(picture, 300, top + 350, 90, mean)
    picture.rect(300, top + 350, 90, 90, fill="none", edge="purple", edge_width=4, radius=0)
    picture.text(412, top + 386, "the mean of all patches: the same in any order.", fit=770)
    picture.text(412, top + 424, "Only the positions tell one order from another.", colour="soft", fit=770)
    return picture


demo = Demo(
    name="13_vit_patches",
    title="An image is a sentence of patches",
    look="Cut the digit, then shuffle its patches. The words stay the same; what is lost?",
    draw=draw,
    controls=(
        Choice("name", "digit", tuple("0123456789"), "0"),
        Choice("size", "patch", tuple(SIZES), "2 × 2"),
        Choice("positions", "patches", (KEPT, SHUFFLED), KEPT),
        Again("again", "shuffle again"),
    ),
    scenes=(
        Scene("sixteen words"),
        Scene("four words", {"size": "4 × 4"}),
        Scene("every pixel a word", {"size": "1 × 1"}),
        Scene("positions lost", {"positions": SHUFFLED}),
        Scene("pixels shuffled", {"size": "1 × 1", "positions": SHUFFLED}),
        Scene("one word", {"size": "8 × 8"}),
    ),
    questions=(
        "Half the patch's side: how many more words, and how many more pairs?",
        "Which digits could a model still tell apart by the bag of their patches?",
        "Here the patches go row by row. Must they, if each has its position?",
    ),
    poster=3,
)

if __name__ == "__main__":
    make()
