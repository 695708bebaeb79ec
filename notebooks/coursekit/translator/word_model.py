"""Lab 12's word model with the student's own class: unknown words, exact match, the course's weights."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursekit import data
from coursekit.data.vocabulary import PAD, UNKNOWN, MakeBatch, Pair, Vocabulary
from coursekit.translator.model import Build, copy_weights

#: The shipped model's size, and the arguments of ``Transformer`` after the two vocabulary sizes.
SIZES = {"d_model": 128, "heads": 4, "d_ff": 256, "layers": 2}
CHECKPOINT = "12_translator/translator.pt"


def with_unknown(pairs: Sequence[Pair], share: float = 0.05) -> list[Pair]:
    """The pairs, where in some of them a word and its translation are replaced by ``UNKNOWN``.

    A word is drawn from a ``share`` of the pairs, and replaced if its translation is clear: two words are translations if they
    usually occur in the same pairs (Dice coefficient at least 0.4). Function words, which occur in more than one pair in thirty,
    stay. In the course's corpus one pair in sixty changes.
    """
    counted = pairs[::4] if len(pairs) > 10_000 else pairs
    english: Counter[int] = Counter()
    german: Counter[int] = Counter()
    together: Counter[tuple[int, int]] = Counter()
    for source, target in counted:
        english.update(set(source))
        german.update(set(target))
        together.update(product(set(source), set(target)))

    def dice(word: int, other: int) -> float:
        return 2 * together[word, other] / max(1, english[word] + german[other])

    rng = random.Random(0)
    changed = []
    for source, target in pairs:
        if rng.random() < share:
            place = rng.randrange(len(source))
            best = max(range(len(target)), key=lambda n: dice(source[place], target[n]))
            if english[source[place]] < len(counted) / 30 and dice(source[place], target[best]) >= 0.4:
                source = [*source[:place], UNKNOWN, *source[place + 1 :]]
                target = [*target[:best], UNKNOWN, *target[best + 1 :]]
        changed.append((source, target))
    return changed


@torch.no_grad()
def exact_match(model: nn.Module, make_batch: MakeBatch, pairs: Sequence[Pair], size: int = 250) -> float:
    """The share (0 to 1) of ``pairs`` whose greedy translation is exactly the reference, computed in one pass.

    The model gets the reference up to each position and must choose its next word at *every* position, including the end. If
    it does, greedy decoding gives the reference; if not, greedy decoding differs at that position.
    """
    model.eval()
    ordered = sorted(pairs, key=lambda pair: len(pair[1]))
    right = 0
    for first in range(0, len(ordered), size):
        source, decoder_input, labels = make_batch(ordered[first : first + size])
        best = model(source, decoder_input).argmax(dim=-1)
        right += int(((best == labels) | (labels == PAD)).all(dim=1).sum())
    return right / max(1, len(pairs))


def save(path: Path, model: nn.Module, english: Vocabulary, german: Vocabulary) -> None:
    """Write the model's parameters (half precision) and both word lists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().half().clone() for name, value in model.named_parameters()}
    torch.save({"weights": weights, "english": list(english.words), "german": list(german.words)}, path)


def load(build: Build) -> tuple[nn.Module, Vocabulary, Vocabulary]:
    """The shipped, trained model in the student's class ``build``, ready to translate, and its vocabularies."""
    stored: dict[str, Any] = torch.load(data.path(CHECKPOINT), weights_only=True)
    english, german = Vocabulary(tuple(stored["english"])), Vocabulary(tuple(stored["german"]))
    model = build(len(english), len(german), **SIZES)
    copy_weights(stored["weights"], model)
    return model.eval(), english, german
