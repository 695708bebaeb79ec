"""Lab 08: what eight heads of a trained encoder listen to in one sentence; the maps were recorded once (``make``)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from coursekit.data import path
from coursekit.data.parallel import tokenize
from coursekit.demos.frame import Choice, Demo, Scene, Slider
from coursekit.demos.svg import TOP, Picture

Array = npt.NDArray[np.float64]

FILE = "demos/head_grid.json"
START = "The animal did not cross the street because it was too"
ENDS = ("tired", "wide")
SENTENCES = {end: tokenize(f"{START} {end}.") for end in ENDS}
LAYERS, HEADS = 2, 4
#: Words that stand once in the sentence, so that a name is enough.
LISTENERS = ("animal", "not", "cross", "street", "because", "it", "too")


@cache
def maps(end: str) -> Array:
    """(layers, heads, T, T): the weights of the shipped translator's encoder (``data/12_translator``)."""
    return np.array(json.loads(path(FILE).read_text(encoding="utf-8"))[end])


def draw(end: str, layer: int, head: int, listener: str) -> Picture:
    """All eight maps, small, on the left; the chosen head's row as bars on the right."""
    words, weights = SENTENCES[end], maps(end)
    place = words.index(listener)
    row = weights[layer - 1, head - 1, place]
    most = int(row.argmax())
    picture = Picture(
        f"Layer {layer}, head {head}: “{listener}” hears “{words[most]}” most ({row[most]:.2f})",
        f"Eight maps of attention of a trained translator's encoder for “{START} {end}”. In layer {layer}, head {head}, "
        f"{listener} listens to " + ", ".join(f"{w} {p:.2f}" for w, p in zip(words, row, strict=True)) + ".",
        note=f"“… because it was too {end}.”   Lab 12's trained encoder: {LAYERS} layers, {HEADS} heads each",
    )
    side, gap, left, top = 176.0, 16.0, 26.0, TOP + 44.0
    cell = side / len(words)
    for a in range(LAYERS):
        for b in range(HEADS):
            x, y = left + b * (side + gap), top + a * (side + 58)
            chosen = (a, b) == (layer - 1, head - 1)
            picture.rect(x, y, side, side, fill="faint", radius=2)
            for (i, j), weight in np.ndenumerate(weights[a, b]):
                if weight >= 0.03:
                    picture.rect(
                        *(x + j * cell, y + i * cell, cell, cell), fill="blue", opacity=weight, radius=1
                    )
            picture.rect(
                *(x - 3, y + place * cell - 1, side + 6, cell + 2), fill="none", edge="red", edge_width=3
            )
            if chosen:
                picture.rect(x - 6, y - 6, side + 12, side + 12, fill="none", edge="orange", edge_width=6)
            picture.text(
                *(x + side / 2, y - 14), f"layer {a + 1}, head {b + 1}",
                size=22, anchor="middle", weight=700 if chosen else 400,
            )  # fmt: skip
    picture.text(
        left, top + 2 * side + 102, "row: who listens (red: the listener)   column: who is heard", size=24,
        colour="soft", fit=760,
    )  # fmt: skip
    picture.text(850, TOP + 30, f"“{listener}” listens to", weight=700)
    picture.bars(
        *(960, TOP + 44, 150, row, words), row=35,
        colours=["orange" if j == most else "blue" for j in range(len(words))],
    )  # fmt: skip
    return picture


def make() -> None:
    """Run the trained encoder on both sentences and write its maps to ``data/demos``."""
    import torch

    from coursekit.data.vocabulary import BOS
    from coursekit.provided.p08_multi_head import attention_maps
    from coursekit.provided.p12_translator import Transformer
    from coursekit.translator.word_model import load

    model, english, _ = load(Transformer)
    record = {}
    for end, words in SENTENCES.items():
        source = torch.tensor([[english.numbers[word] for word in words]])
        with torch.no_grad():
            found = attention_maps(model, source, torch.tensor([[BOS]]))
        layers = [weights[0].tolist() for name, weights in found.items() if name.startswith("encoder")]
        record[end] = [[[[round(p, 3) for p in row] for row in map_] for map_ in heads] for heads in layers]
    target = Path(__file__).resolve().parents[3] / "data" / FILE
    target.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


demo = Demo(
    name="08_head_grid",
    title="Eight heads read one sentence",
    look="Nobody told the heads what to look for. Change the last word: in which head does “it” look elsewhere?",
    draw=draw,
    controls=(
        Choice("end", "last word", ENDS, "tired"),
        Choice("listener", "listener", LISTENERS, "it"),
        Slider("layer", "layer", 1, LAYERS, 2),
        Slider("head", "head", 1, HEADS, 4),
    ),
    scenes=(
        Scene("who is tired?"),
        Scene("what is wide?", {"end": "wide"}),
        Scene("one layer earlier", {"layer": 1, "head": 1}),
        Scene("earlier, and wide", {"end": "wide", "layer": 1, "head": 1}),
        Scene("a head that spreads", {"head": 2}),
    ),
    questions=(
        "Which heads look at a fixed place, whatever the words are?",
        "“It” stands before “tired” and “wide”. How can it know which of them comes?",
        "Does a map prove what the model understood? What else could you test?",
    ),
)

if __name__ == "__main__":
    make()
