"""What lab 12 needs around the model: vocabularies, batches of like length, exact match, saved weights.

The model itself, ``make_batch`` and the search are the student's and come in as arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursekit import data, parallel

#: The numbers that stand for no word of the language, in both vocabularies.
PAD, BOS, EOS, UNKNOWN = 0, 1, 2, 3
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")

#: The shipped model's size, and the arguments of ``Transformer`` after the two vocabulary sizes.
SIZES = {"d_model": 128, "heads": 4, "d_ff": 256, "layers": 2}
CHECKPOINT = "12_translator/translator.pt"

Pair = tuple[list[int], list[int]]
Batch = tuple[Tensor, Tensor, Tensor]
MakeBatch = Callable[[list[Pair]], Batch]


@dataclass(frozen=True)
class Vocabulary:
    """Words and their numbers: ``SPECIALS`` first, then the words of the training set in alphabetical order."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Vocabulary:
        """Every word that occurs in ``sentences`` (lists of words)."""
        return cls((*SPECIALS, *sorted({word for sentence in sentences for word in sentence})))

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, sentence: str) -> list[int]:
        """A sentence as word numbers; a word that was never seen becomes ``UNKNOWN``."""
        return [self.numbers.get(word, UNKNOWN) for word in parallel.tokenize(sentence)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Word numbers as a sentence."""
        return parallel.detokenize([self.words[number] for number in numbers])

    def __len__(self) -> int:
        return len(self.words)


def vocabularies(pairs: Iterable[tuple[str, str]]) -> tuple[Vocabulary, Vocabulary]:
    """The vocabularies of both languages, from pairs of sentences."""
    english, german = zip(*pairs, strict=True)
    return Vocabulary.of(map(parallel.tokenize, english)), Vocabulary.of(map(parallel.tokenize, german))


def numbered(
    pairs: Iterable[tuple[str, str]], english: Vocabulary, german: Vocabulary
) -> list[tuple[list[int], list[int]]]:
    """Pairs of sentences as pairs of lists of word numbers."""
    return [(english.encode(source), german.encode(target)) for source, target in pairs]


def bucketed(pairs: Sequence[Pair], size: int, rng: random.Random) -> list[list[Pair]]:
    """Batches of ``size`` pairs of similar length, in random order: little padding, and still well mixed."""
    shuffled = rng.sample(list(pairs), len(pairs))
    batches = []
    for first in range(0, len(shuffled), 50 * size):
        pool = sorted(shuffled[first : first + 50 * size], key=lambda pair: (len(pair[1]), len(pair[0])))
        batches += [pool[start : start + size] for start in range(0, len(pool), size)]
    rng.shuffle(batches)
    return batches


def hits(model: nn.Module, make_batch: MakeBatch, pairs: Sequence[Pair], size: int = 250) -> list[bool]:
    """For each pair, whether the greedy translation is the reference, word for word, in one pass.

    The model is shown the reference so far and must choose its next word at *every* place, the end included.
    If it always does, greedy decoding would have walked the same way; if not, it would have left it there.
    """
    order = sorted(range(len(pairs)), key=lambda number: len(pairs[number][1]))
    found = [False] * len(pairs)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for first in range(0, len(order), size):
            chosen = order[first : first + size]
            source, given, wanted = make_batch([pairs[number] for number in chosen])
            best = model(source, given).argmax(dim=-1)
            right = ((best == wanted) | (wanted == PAD)).all(dim=1).tolist()
            for number, hit in zip(chosen, right, strict=True):
                found[number] = hit
    model.train(was_training)
    return found


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
