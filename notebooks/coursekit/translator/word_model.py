"""Lab 12's model of words around the student's own class: exact match, and the weights that come with the course."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursekit import data
from coursekit.data.vocabulary import PAD, MakeBatch, Pair, Vocabulary

#: The shipped model's size, and the arguments of ``Transformer`` after the two vocabulary sizes.
SIZES = {"d_model": 128, "heads": 4, "d_ff": 256, "layers": 2}
CHECKPOINT = "12_translator/translator.pt"


def hits(model: nn.Module, make_batch: MakeBatch, pairs: Sequence[Pair], size: int = 250) -> list[bool]:
    """For each pair, whether the greedy translation is the reference, word for word, in one pass.

    The model is shown the reference so far and must choose its next word at *every* position, the end included.
    If it always does, greedy decoding would have walked the same way; if not, it would have left it there.
    """
    order = sorted(range(len(pairs)), key=lambda number: len(pairs[number][1]))
    results = [False] * len(pairs)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for first in range(0, len(order), size):
            chosen = order[first : first + size]
            source, decoder_input, labels = make_batch([pairs[number] for number in chosen])
            best = model(source, decoder_input).argmax(dim=-1)
            right = ((best == labels) | (labels == PAD)).all(dim=1).tolist()
            for number, hit in zip(chosen, right, strict=True):
                results[number] = hit
    model.train(was_training)
    return results


def exact_match(model: nn.Module, make_batch: MakeBatch, pairs: Sequence[Pair]) -> float:
    """The share of ``pairs`` whose greedy translation is exactly the reference, 0 to 1."""
    return sum(hits(model, make_batch, pairs)) / max(1, len(pairs))


def save(path: Path, model: nn.Module, english: Vocabulary, german: Vocabulary) -> None:
    """Write the model's parameters (half precision) and both word lists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().half().clone() for name, value in model.named_parameters()}
    torch.save({"weights": weights, "english": list(english.words), "german": list(german.words)}, path)


def load(build: Callable[..., nn.Module]) -> tuple[nn.Module, Vocabulary, Vocabulary]:
    """The shipped, trained model in the student's class ``build``, ready to translate, and its vocabularies."""
    stored: dict[str, Any] = torch.load(data.path(CHECKPOINT), weights_only=True)
    english, german = Vocabulary(tuple(stored["english"])), Vocabulary(tuple(stored["german"]))
    model = build(len(english), len(german), **SIZES)
    own = {name: value for name, value in model.named_parameters() if value.requires_grad}
    if {n: v.shape for n, v in own.items()} != {n: v.shape for n, v in stored["weights"].items()}:
        raise ValueError(
            "The trained weights do not fit this Transformer: its parts need the names of the text."
        )
    with torch.no_grad():
        for name, value in stored["weights"].items():
            own[name].copy_(value)
    return model.eval(), english, german
