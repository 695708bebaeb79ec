"""Exports data from Python for the demos, as JSON in ``data/demos``.

``python -m coursekit.demos export [NAME …]`` writes the files; a test compares them with the functions below.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np


def markov_graph() -> Any:
    """How often a token follows two others in the names, 28 × 28 × 28, zeros left out: [a, b, c, count]."""
    from coursekit.data.names import ALPHABET, names

    text = "``" + "{``".join(names()) + "{"  # in ASCII the neighbours of a to z stand for start and end
    ids = np.frombuffer(text.encode("ascii"), dtype=np.uint8).astype(int) - ord("`")
    a, b, c = ids[:-2], ids[1:-1], ids[2:]
    inside = (b != 27) & (a != 27)  # a window that reaches into the next name counts for nothing
    table = np.zeros((28, 28, 28), dtype=int)
    np.add.at(table, (a[inside], b[inside], c[inside]), 1)
    places = np.argwhere(table)
    rows = np.column_stack([places @ [784, 28, 1], table[tuple(places.T)]])
    return {"alphabet": list(ALPHABET), "names": len(names()), "trigrams": rows.ravel().tolist()}


def kernel_to_attention() -> Any:
    """The heights of the eleven dots: a wave, a slope and a little noise."""
    places = np.linspace(0, 10, 11)
    heights = np.sin(places) + 0.1 * places + np.random.default_rng(3).normal(0, 0.2, 11)
    return {"heights": heights.round(4).tolist()}


def mask_painter() -> Any:
    """Queries and keys of seven tokens, 16 numbers each, drawn at random."""
    queries, keys = np.random.default_rng(4).normal(size=(2, 7, 16)).round(5)
    return {"queries": queries.tolist(), "keys": keys.tolist()}


def head_grid() -> Any:
    """The attention of the shipped translator's encoder in two sentences: words, and maps (layers, heads, T, T)."""
    from coursekit.data.parallel import tokenize
    from coursekit.provided.p12_translator import Transformer
    from coursekit.translator.attention_map import maps_of
    from coursekit.translator.word_model import load

    model, english, _ = load(Transformer)
    found: dict[str, Any] = {}
    for end in ("tired", "wide"):
        words = tokenize(f"The animal did not cross the street because it was too {end}.")
        maps = maps_of(model, [english.numbers[word] for word in words], [])
        layers = [weights.tolist() for name, weights in maps.items() if name.startswith("encoder")]
        rounded = [[[[round(p, 3) for p in row] for row in map_] for map_ in heads] for heads in layers]
        found[end] = {"words": words, "maps": rounded}
    return found


def sampling() -> Any:
    """How often each token follows q, t, a, m and z in the names."""
    from coursekit.data.names import names
    from coursekit.provided.p01_markov_bigram import bigram_counts

    letters = ["<S>", *"abcdefghijklmnopqrstuvwxyz", "end"]
    counts = bigram_counts(names())
    return {"letters": letters, "rows": {after: counts[letters.index(after)].tolist() for after in "qtamz"}}


def translator() -> Any:
    """Lab 12's trained model: its words, and its weights in half precision, as they are shipped."""

    import torch

    from coursekit.data import path
    from coursekit.translator.word_model import CHECKPOINT, SIZES

    stored = torch.load(path(CHECKPOINT), weights_only=True)
    words = {"english": stored["english"], "german": stored["german"]}
    return {**words, "heads": SIZES["heads"], "weights": _halves(stored["weights"])}


def everyday() -> Any:
    """The translator of everyday sentences: its merges, and its weights in half precision, as they are shipped."""
    import torch

    from coursekit.data import path

    stored = torch.load(path("tatoeba/translator.pt"), weights_only=True)
    merges = [list(pair) for pair in stored["subwords"]["merges"]]
    return {"merges": merges, "heads": stored["plan"]["heads"], "weights": _halves(stored["weights"])}


def _halves(weights: Any) -> dict[str, Any]:
    """Name → shape, and the numbers in half precision as base64."""
    return {
        name: [list(value.shape), base64.b64encode(value.half().numpy().tobytes()).decode("ascii")]
        for name, value in weights.items()
    }


def vit_patches() -> Any:
    """The first of each of scikit-learn's ten digits, 8 × 8 numbers from 0 to 16."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return [found.images[int(np.argmax(found.target == number))].astype(int).tolist() for number in range(10)]


EXPORTS: dict[str, Callable[[], Any]] = {
    "01_markov_graph": markov_graph,
    "07_kernel_to_attention": kernel_to_attention,
    "07_mask_painter": mask_painter,
    "08_head_grid": head_grid,
    "11_sampling": sampling,
    "12_everyday": everyday,
    "12_inside": everyday,
    "12_translator": translator,
    "13_vit_patches": vit_patches,
}

#: Trained models, which a page reads from the course's own files, without a second copy.
MODELS = {"12_everyday", "12_inside", "12_translator"}
#: Recordings of a training with frozen data: ``data/README.md`` names their source.
RECORDED = {"05_word_map", "10_skips_and_warmup"}


def text(name: str) -> str:
    """A demo's data as JSON text."""
    return json.dumps(EXPORTS[name](), separators=(",", ":"), ensure_ascii=False) + "\n"
