"""Records what the shipped translator's encoder listens to, for demo ``08_head_grid``."""

from __future__ import annotations

from typing import Any

from coursekit.data.parallel import tokenize

START = "The animal did not cross the street because it was too"
SENTENCES = {end: tokenize(f"{START} {end}.") for end in ("tired", "wide")}


def record() -> dict[str, Any]:
    """The words and the maps, (layers, heads, T, T), of both sentences."""
    import torch

    from coursekit.data.vocabulary import BOS
    from coursekit.provided.p08_multi_head import attention_maps
    from coursekit.provided.p12_translator import Transformer
    from coursekit.translator.word_model import load

    model, english, _ = load(Transformer)
    found: dict[str, Any] = {}
    for end, words in SENTENCES.items():
        source = torch.tensor([[english.numbers[word] for word in words]])
        with torch.no_grad():
            maps = attention_maps(model, source, torch.tensor([[BOS]]))
        layers = [weights[0].tolist() for name, weights in maps.items() if name.startswith("encoder")]
        rounded = [[[[round(p, 3) for p in row] for row in map_] for map_ in heads] for heads in layers]
        found[end] = {"words": words, "maps": rounded}
    return found
