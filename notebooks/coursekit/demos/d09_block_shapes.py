"""Lab 09: the shapes that walk through an encoder block and a decoder block, step by step."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.demos.frame import Choice, Demo, Scene, Slider, Steps
from coursekit.demos.svg import TOP, Picture

ENCODER, DECODER = "encoder", "decoder"
HEADS = ("1", "2", "4", "8")
#: Sentences in the batch, and words of the source sentence that a decoder listens to.
B, S = 2, 6
#: The feed-forward layer is so many times as wide as a word's vector.
WIDER = 4

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Stop:
    """A step of the walk: its name, what is computed, the shape that comes out and the shape in letters."""

    name: str
    does: str
    shape: Shape
    letters: str
    weights: int = 0


def _attention(T: int, D: int, h: int, keys: int, what: str, memory: bool, masked: bool) -> list[Stop]:
    letter = "S" if memory else "T"
    seen = " masked:" if masked else ""
    linear = D * D + D
    k_shape = f"Q (B, T, D), K and V (B, {letter}, D)" if memory else "Q, K, V: (B, T, D) each"
    where = "from the memory" if memory else "from x"
    return [
        Stop(f"{what}: Q, K, V", f"three linear layers; K, V {where}", (B, T, D), k_shape, 3 * linear),
        Stop(f"{what}: split heads", "each head gets D / h columns", (B, h, T, D // h), "(B, h, T, D/h)"),
        Stop(
            f"{what}: weights",
            f"{seen} softmax of Q Kᵀ / √(D/h)".strip(),
            (B, h, T, keys),
            f"(B, h, T, {letter})",
        ),
        Stop(f"{what}: heard", "weights · V, head by head", (B, h, T, D // h), "(B, h, T, D/h)"),
        Stop(f"{what}: merge heads", "heads side by side again", (B, T, D), "(B, T, D)"),
        Stop(f"{what}: W_O", "a linear layer mixes the heads", (B, T, D), "(B, T, D)", linear),
        Stop(f"{what}: add & norm", "LayerNorm(x + what was heard)", (B, T, D), "(B, T, D)", 2 * D),
    ]


def walk(block: str, T: int, D: int, h: int) -> list[Stop]:
    """All stops of a block, with how many learned numbers each uses."""
    F = WIDER * D
    stops = [Stop("input x", "a vector for each word", (B, T, D), "(B, T, D)")]
    stops += _attention(T, D, h, T, "self", memory=False, masked=block == DECODER)
    if block == DECODER:
        stops += _attention(T, D, h, S, "cross", memory=True, masked=False)
    return [
        *stops,
        Stop("linear1, ReLU", "each word by itself, four times as wide", (B, T, F), "(B, T, F)", D * F + F),
        Stop("linear2", "back to the old width", (B, T, D), "(B, T, D)", F * D + D),
        Stop("add & norm", "LayerNorm(x + what was thought)", (B, T, D), "(B, T, D)", 2 * D),
    ]


LAST = len(walk(DECODER, 4, 8, 1)) - 1


def _times(shape: Shape) -> str:
    return " × ".join(map(str, shape))


def _count(shape: Shape) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _sheets(picture: Picture, x: float, y: float, shape: Shape, colour: str, unit: float) -> None:
    """A tensor as sheets, to one scale: a sheet for each sentence, in it a table for each head."""
    *first, rows, columns = shape
    heads = first[1] if len(first) > 1 else 1
    wide, high, gap = max(columns * unit, 6.0), min(rows * 22.0, 124.0), 8.0
    for sentence in range(first[0]):
        for head in range(heads):
            left = x + head * (wide + gap)
            top = y + sentence * (high + 24)
            picture.rect(
                left, top, wide, high, fill=colour, opacity=0.8, edge="ink", edge_width=1.5, radius=2
            )
            for row in range(1, rows):
                picture.line(
                    left, top + row * high / rows, left + wide, top + row * high / rows, colour="paper"
                )


def _colour(stop: Stop) -> str:
    for word, colour in (("norm", "green"), ("linear", "orange"), ("weights", "purple"), ("input", "sky")):
        if word in stop.name:
            return colour
    return "blue"


def draw(block: str, step: int, T: int, D: int, heads: str) -> Picture:
    """The list of stops on the left; on the right the tensor that comes out of the current one, and its numbers."""
    h = int(heads)
    stops = walk(block, T, D, h)
    at = min(step, len(stops) - 1)
    stop = stops[at]
    numbers, weights = _count(stop.shape), sum(one.weights for one in stops)
    picture = Picture(
        f"{stop.name}: {_times(stop.shape)}",
        f"Step {at} of an {block} block with {B} sentences of {T} words, width {D} and {h} heads: {stop.name} gives "
        f"{_times(stop.shape)}, {numbers} numbers. The block learns {weights} numbers.",
        note=f"B = {B} sentences, T = {T} words, D = {D}, h = {h} heads, F = {WIDER * D}"
        + (f", S = {S} source words" if block == DECODER else ""),
    )
    pitch = min(42.0, 496 / len(stops))
    for n, one in enumerate(stops):
        y = TOP + 8 + n * pitch
        if n == at:
            picture.rect(0, y, 536, pitch, fill="orange", opacity=0.3, edge="orange", edge_width=3)
        size = 24 if len(stops) < 14 else 21
        base = y + pitch / 2 + 8
        picture.rect(10, y + pitch / 2 - 9, 18, 18, fill=_colour(one), radius=3)
        picture.text(42, base, one.name, size=size, weight=700 if n == at else 400, fit=300)
        picture.text(526, base, _times(one.shape), size=size, anchor="end", mono=True)
    x = 580.0
    picture.text(x, TOP + 36, stop.does, size=25, weight=700, fit=640)
    picture.text(x, TOP + 76, stop.letters, mono=True, fit=620)
    *_, columns = stop.shape
    tables = stop.shape[1] if len(stop.shape) == 4 else 1
    gaps = 8 * (tables - 1)
    unit = min(600 / (WIDER * D), (600 - gaps) / (tables * columns))
    _sheets(picture, x, TOP + 108, stop.shape, _colour(stop), unit)
    made = f"made with {stop.weights:,} learned numbers" if stop.weights else "nothing in it is learned"
    picture.text(x, TOP + 446, f"{numbers:,} numbers", weight=700)
    picture.text(x, TOP + 482, made, size=24, colour="soft")
    picture.text(1190, TOP + 446, f"the whole block learns {weights:,}", size=24, anchor="end")
    return picture


demo = Demo(
    name="09_block_shapes",
    title="Shapes on their way through a block",
    look="What goes in and what comes out has the same shape. Where does the shape change on the way?",
    draw=draw,
    controls=(
        Choice("block", "block", (ENCODER, DECODER), ENCODER),
        Steps("step", "step", LAST),
        Slider("T", "words T", 2, 10, 5),
        Slider("D", "width D", 8, 64, 32, step=8),
        Choice("heads", "heads h", HEADS, "4"),
    ),
    scenes=(
        Scene("what goes in"),
        Scene("heads part", {"step": 2}),
        Scene("word by word", {"step": 3}),
        Scene("wider", {"step": 8}),
        Scene("out as it came in", {"step": 10}),
        Scene("decoder: cross-attention", {"block": DECODER, "step": 10}),
        Scene("ten words", {"step": 3, "T": 10, "heads": "8"}),
    ),
    questions=(
        "Which numbers grow when the sentences get longer, and which do not?",
        "Why must what comes out have the shape of what goes in?",
        "More heads: does the block learn more numbers?",
    ),
    poster=2,
)
