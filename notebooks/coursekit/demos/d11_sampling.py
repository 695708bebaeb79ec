"""Lab 11: temperature, top-k and top-p on what the names say comes next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coursekit.data.names import names
from coursekit.demos.frame import Again, Choice, Demo, Scene, Slider
from coursekit.demos.svg import TOP, Picture
from coursekit.provided.p01_markov_bigram import bigram_counts, normalise_rows

Array = npt.NDArray[np.float64]

LETTERS = ("<S>", *"abcdefghijklmnopqrstuvwxyz", "end")
AFTER = ("q", "t", "a", "m", "z", "the lecture's three")
THREE = np.array([0.5, 0.3, 0.2])
SHOWN = 9
SAMPLES = 12


def starting(after: str) -> tuple[Array, tuple[str, ...]]:
    """The model's own probabilities and the words they are for, the most probable first."""
    if after == AFTER[-1]:
        return THREE, ("A", "B", "C")
    row = normalise_rows(bigram_counts(names()))[LETTERS.index(after)]
    order = np.argsort(-row, kind="stable")
    order = order[row[order] > 0]
    return row[order], tuple(LETTERS[i] for i in order)


def chosen(p: Array, T: float, k: int, top: float) -> Array:
    """Probabilities after temperature, then top-k, then top-p, each renormalised; ``p`` falls from left to right."""
    logits = np.log(p) / T
    q = np.exp(logits - logits.max())
    q = q / q.sum()
    q = np.where(np.arange(len(q)) < k, q, 0)
    q = q / q.sum()
    before = np.concatenate(([0.0], np.cumsum(q)[:-1]))
    q = np.where(before < top - 1e-12, q, 0)
    return q / q.sum()


def surprise(p: Array) -> float:
    """How many equally likely words would be as hard to guess: exp of the entropy."""
    heard = p[p > 0]
    return float(np.exp(-(heard * np.log(heard)).sum()))


def draw(after: str, T: float, k: int, top: float, again: int) -> Picture:
    """The model's probabilities, hatched, and what the three knobs make of them; a few samples below."""
    p, words = starting(after)
    q = chosen(p, T, k, top)
    left = int((q > 0).sum())
    what = "“A”, “B” or “C”" if after == AFTER[-1] else f"a letter after “{after}”"
    if left == 1:
        title = f"Only “{words[0]}” is left: greedy, every time the same"
    elif left < len(p):
        title = f"{left} of {len(p)} are left; it feels like {surprise(q):.1f} equal ones"
    elif abs(T - 1) < 1e-9:
        title = f"The model itself: {what}, like {surprise(q):.1f} equal ones"
    else:
        way = "sharper" if T < 1 else "flatter"
        title = f"T = {T:.2g} is {way}: like {surprise(q):.1f} equal ones, not {surprise(p):.1f}"
    told = ", ".join(f"{word} {value:.3f}" for word, value in zip(words[:SHOWN], q, strict=False))
    picture = Picture(
        title,
        f"Sampling {what} with temperature {T:.2g}, top-k {k} and top-p {top:.2g}: {told}.",
        note=f"logits / {T:.2g}  →  softmax  →  the best {k}  →  the nucleus of {top:.2g}  →  sum to one",
    )
    x, y, wide, row = 150.0, TOP + 40, 420.0, 46.0
    most = max(float(p.max()), float(q.max()))
    picture.text(x, TOP + 20, "hatched: before the knobs, blue: after", weight=700)
    for i, word in enumerate(words[:SHOWN]):
        top_edge = y + i * row
        picture.rect(x, top_edge + 25, p[i] / most * wide, 14, fill="faint", hatch="soft", edge="line")
        picture.rect(
            x, top_edge + 3, max(q[i] / most * wide, 0.5), 22, fill="blue" if q[i] else "line", radius=3
        )
        picture.text(x - 14, top_edge + 32, word, size=28, anchor="end", weight=700 if q[i] else 400)
        picture.text(
            x + max(p[i], q[i]) / most * wide + 12,
            top_edge + 30,
            f"{q[i]:.3f}" if q[i] else "closed",
            size=24,
            weight=700 if q[i] else 400,
            colour="ink" if q[i] else "soft",
        )
    if len(words) > SHOWN:
        rest = f"… and {len(words) - SHOWN} more, together {q[SHOWN:].sum():.3f}"
        picture.text(x, y + SHOWN * row + 26, rest, size=24, colour="soft")
    right = 810.0
    picture.text(right, TOP + 20, "what it then says", weight=700)
    rng = np.random.default_rng(again)
    said = [words[i] for i in rng.choice(len(q), size=SAMPLES, p=q)]
    for i, word in enumerate(said):
        place = words.index(word)
        picture.chip(
            right + (i % 4) * 92,
            TOP + 46 + (i // 4) * 62,
            word,
            fill=("blue", "orange", "green", "sky")[min(place, 3)],
        )
    picture.text(right, TOP + 290, "what is left out", weight=700)
    gone = float(p[q == 0].sum())
    picture.rect(right, TOP + 310, 340, 30, fill="faint", edge="line")
    picture.rect(right, TOP + 310, 340 * gone, 30, fill="orange", hatch="ink")
    picture.text(right, TOP + 376, f"{gone:.0%} of the probability", size=24, colour="soft")
    return picture


demo = Demo(
    name="11_sampling",
    title="Temperature, top-k, top-p: how daring may it be?",
    look="Move one knob at a time: the temperature bends all bars, k and p cut some off, and the rest grows.",
    draw=draw,
    controls=(
        Choice("after", "what comes after", AFTER, "a"),
        Slider("T", "temperature T", 0.1, 5, 1.0, log=True),
        Slider("k", "top-k", 1, 28, 28),
        Slider("top", "top-p", 0.05, 1.0, 1.0, step=0.05),
        Again("again", "draw again"),
    ),
    scenes=(
        Scene("the model itself"),
        Scene("cold", {"T": 0.3}),
        Scene("hot", {"T": 3.0}),
        Scene("the best three", {"k": 3}),
        Scene("a nucleus of 0.6", {"top": 0.6}),
        Scene("the lecture's .5 .3 .2", {"after": AFTER[-1], "k": 3}),
    ),
    questions=(
        "Which knob never closes a word?",
        "After “q”, how many words does a nucleus of 0.9 keep, and how many after “a”?",
        "Why are .5, .3 and .2 left as they are at T = 1, and not turned into .391, .320 and .289?",
    ),
    poster=4,
)
