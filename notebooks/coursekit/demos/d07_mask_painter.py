"""Lab 07: queries, keys and values of a sentence, and a mask that you paint yourself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coursekit.demos.frame import Choice, Demo, Paint, Scene, Slider
from coursekit.demos.svg import TOP, Picture
from coursekit.provided.p00_warm_up import softmax

Array = npt.NDArray[np.float64]

TOKENS = ("<sos>", "Ich", "habe", "einen", "Apfel", "gegessen", "<eos>")
T = len(TOKENS)
#: Where the scores stand in the picture: left, top, width and height of a cell.
CELLS = (140.0, TOP + 82.0, 60.0, 48.0)
D_K = 16
ALL = tuple((True,) * T for _ in range(T))
CAUSAL = tuple(tuple(j <= i for j in range(T)) for i in range(T))
PADDED = tuple(tuple(j < 6 for j in range(T)) for i in range(T))
STRICT = tuple(tuple(j < i for j in range(T)) for i in range(T))
_DRAW = np.random.default_rng(4).normal(size=(2, T, D_K))
QUERIES, KEYS = _DRAW
#: Each token has one number to say: its place. So the output is the place that a row listens to on average.
VALUES = np.arange(T, dtype=float)


def weights(mask: tuple[tuple[bool, ...], ...], scale: float) -> tuple[Array, Array]:
    """Masked scores and weights, (T, T) each; a row in which nobody may be heard gets weights of zero."""
    scores = np.where(np.array(mask), QUERIES @ KEYS.T / scale, -np.inf)
    out = np.zeros((T, T))
    heard = np.isfinite(scores).any(axis=1)
    out[heard] = softmax(scores[heard])
    return scores, out


def _title(scale: float, heard: Array, mask: tuple[tuple[bool, ...], ...]) -> str:
    closed = int((~np.array(mask)).sum())
    deaf = [token for token, row in zip(TOKENS, mask, strict=True) if not any(row)]
    future = sum(mask[i][j] for i in range(T) for j in range(i + 1, T))
    if deaf:
        return f"“{deaf[0]}” may hear nobody: 0/0, the softmax has no answer"
    if abs(np.log(scale / 4)) > 0.4:
        strongest = heard.max(axis=1).mean()
        return f"Divided by {scale:.2g}, not 4: a row's largest weight is {strongest:.2f}"
    if not closed:
        return "No mask: everyone may hear everyone, even the future"
    if not future:
        return f"The future is closed: {closed} scores are −∞, {closed} weights are 0"
    return f"{closed} score{'s are' if closed > 1 else ' is'} −∞; the other weights of a row grow"


def draw(mask: tuple[tuple[bool, ...], ...], scale: float, show: str) -> Picture:
    """The masked scores on the left; the weights after the softmax, the values and the outputs on the right."""
    scores, heard = weights(mask, scale)
    outputs = heard @ VALUES
    row = TOKENS.index(show)
    strongest = int(np.argmax(heard[row]))
    told = ", ".join(f"{token} {weight:.2f}" for token, weight in zip(TOKENS, heard[row], strict=True))
    listens = (
        f"“{show}” listens to “{TOKENS[strongest]}” most: {heard[row, strongest]:.2f}"
        if heard[row].any()
        else f"“{show}” listens to nobody"
    )
    picture = Picture(
        _title(scale, heard, mask),
        f"Attention of seven German tokens with {sum(not one for line in mask for one in line)} of 49 scores masked. "
        f"{show} listens to {told}.",
        note=f"{listens}      scores = q·k / {scale:.2g}" + ("   (√dₖ = 4)" if abs(scale - 4) < 0.01 else ""),
    )
    left, top, wide, high = CELLS
    right = 680.0
    picture.text(left, TOP + 22, "scores, −∞ where closed", weight=700)
    picture.text(right, TOP + 22, "weights", weight=700)
    picture.heat(left, top, scores, cell=(wide, high), rows=TOKENS, most=3, form=".1f", colour="green")
    picture.heat(right, top, heard, cell=(wide, high), form=".2f")
    picture.heat(
        right + 7 * wide + 16, top, outputs[:, None], cell=(76, high), most=6, form=".2f", colour="purple"
    )
    picture.heat(
        right, top + 7 * high + 14, VALUES[None], cell=(wide, high), most=6, form=".0f", colour="purple"
    )
    picture.text(right - 12, top + 7 * high + 46, "values", size=24, anchor="end")
    picture.text(right + 7 * wide + 54, top - 14, "out", size=24, anchor="middle", weight=700)
    for j, token in enumerate(TOKENS):
        for x in (left, right):
            picture.text(x + (j + 0.35) * wide, top - 8, token, size=22, turn=-28, fit=90)
    mark = top + row * high
    for x, long in ((left, 7 * wide), (right, 7 * wide + 92)):
        picture.rect(x - 3, mark - 2, long + 6, high + 4, fill="none", edge="red", edge_width=4, dash="10 6")
    picture.arrow(570, top + 168, 664, top + 168, width=6)
    picture.text(617, top + 148, "softmax", size=24, anchor="middle")
    picture.text(
        left,
        top + 7 * high + 46,
        "out = weights · values",
        size=24,
        colour="soft",
    )
    return picture


demo = Demo(
    name="07_mask_painter",
    title="Who may listen to whom? Paint the mask",
    look="Click the scores to open or close them. Each row is a listener: what one voice loses, the others share.",
    draw=draw,
    controls=(
        Choice("show", "listener", TOKENS, "Apfel"),
        Slider("scale", "scores divided by", 0.5, 32, 4.0, log=True),
        Paint("mask", "may listen to", TOKENS, TOKENS, CAUSAL, at=CELLS),
    ),
    scenes=(
        Scene("no mask", {"mask": ALL}),
        Scene("the future is closed", {"mask": CAUSAL}),
        Scene("padding closed", {"mask": PADDED}),
        Scene("off by one", {"mask": STRICT, "show": "<sos>"}),
        Scene("√dₖ forgotten", {"mask": CAUSAL, "scale": 1.0}),
        Scene("divided by too much", {"mask": CAUSAL, "scale": 32.0}),
    ),
    questions=(
        "Why −∞ before the softmax, and not 0 after it?",
        "What goes wrong if a token may not even hear itself?",
        "Which row of the weights looks the same with and without the causal mask?",
    ),
)
