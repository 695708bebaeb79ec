"""The speeches as sentences of word ids, for lab 05. Only frequent words are kept, so that each occurs often enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from coursekit.data.speeches import speech_text

_SENTENCE_END = regex.compile(r"[.!?;:]\s+|\n+")
_WORD = regex.compile(r"\p{L}+(?:'\p{L}+)?")


@dataclass(frozen=True)
class Corpus:
    """``words`` (most frequent first), the number of times each occurs, and the text as a list of ids for each sentence."""

    words: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    sentences: tuple[list[int], ...]


def speech_corpus(at_least: int = 20) -> Corpus:
    """The speeches in lower case, without numbers and without words that occur fewer than ``at_least`` times."""
    text = speech_text().lower().replace("’", "'")
    spoken = [_WORD.findall(sentence) for sentence in _SENTENCE_END.split(text)]
    counts = Counter(word for sentence in spoken for word in sentence)
    words = tuple(word for word, count in counts.most_common() if count >= at_least)
    number = {word: i for i, word in enumerate(words)}
    known = ([number[word] for word in sentence if word in number] for sentence in spoken)
    sentences = tuple(sentence for sentence in known if len(sentence) > 1)
    return Corpus(words, np.array([counts[word] for word in words]), sentences)


@dataclass(frozen=True)
class Examples:
    """Windows as arrays: contexts (N, 2m) padded with ``blank``, their sizes (N,), and the targets (N,)."""

    contexts: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.float32]
    targets: npt.NDArray[np.int32]
    blank: int

    def __len__(self) -> int:
        return len(self.targets)


def pack(
    sentences: Iterable[Sequence[int]],
    windows: Callable[[Sequence[int], int], Sequence[tuple[Sequence[int], int]]],
    m: int,
    blank: int,
) -> Examples:
    """All windows of all sentences as arrays. ``blank`` is an id that no word has."""
    contexts: list[list[int]] = []
    targets: list[int] = []
    for sentence in sentences:
        for context, target in windows(sentence, m):
            contexts.append([*context, *[blank] * (2 * m - len(context))])
            targets.append(target)
    table = np.array(contexts, dtype=np.int32)
    return Examples(
        table, (table != blank).sum(axis=1).astype(np.float32), np.array(targets, np.int32), blank
    )


def adagrad_step(table: Any, memory: Any, ids: Any, gradient: Any, rate: float) -> None:
    """One Adagrad step (Duchi et al. 2011) for the rows ``ids`` of ``table`` (V, D), in place. Repeated rows are summed first.

    Each row has its own step size: ``memory`` (V,) sums the mean squares of its gradients, and the step is divided by the
    root of that sum. Frequent words take small steps, rare words large ones.
    """
    order = np.argsort(ids, kind="stable")
    ids, gradient = ids[order], gradient[order]
    first = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]])
    rows, total = ids[first], np.add.reduceat(gradient, first, axis=0)
    memory[rows] += (total**2).mean(axis=1)
    table[rows] -= rate * total / np.sqrt(memory[rows])[:, None]
