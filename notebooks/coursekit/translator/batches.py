"""Makes batches from a corpus: sentences, their tokens, and batches of pairs of similar length."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from coursekit import data
from coursekit.data import parallel
from coursekit.data.vocabulary import EOS, PAD, Batch, MakeBatch, Pair
from coursekit.translator.subwords import Subwords

#: The most tokens of a source or target sentence: lab 12's table of positions has 64 rows.
LONGEST = 63


def sentences(corpus: str, split: str, direction: str, most: int = 0) -> list[tuple[str, str]]:
    """(source, target) sentences of ``train``, ``validation`` or ``test``: the first ``most``, or all for 0.

    The direction ``both`` gives each pair twice: first all from English to German, then all back.
    """
    if corpus == "built-in":
        names = {"train": "train", "validation": "valid", "test": "test_sentences"}
        pairs = parallel.load(names[split])
    else:
        pairs = data.load(corpus, split)
    pairs = pairs[: most or None]
    turned = [(german, english) for english, german in pairs]
    return {"en-de": pairs, "de-en": turned, "both": [*pairs, *turned]}[direction]


def numbered(subwords: Subwords, pairs: Sequence[tuple[str, str]], direction: str) -> list[Pair]:
    """The pairs from ``sentences`` as tokens. With ``both``, a tag before the source names the target language.

    Pairs that are too long for lab 12's table of positions, and empty ones, are left out.
    """
    sources, targets = (subwords.encode([pair[side] for pair in pairs]) for side in (0, 1))
    if direction == "both":
        half = len(pairs) // 2
        tags = [subwords.tag("de")] * half + [subwords.tag("en")] * half
        sources = [[tag, *source] for tag, source in zip(tags, sources, strict=True)]
    return [
        (source, target)
        for source, target in zip(sources, targets, strict=True)
        if 0 < len(source) <= LONGEST + 1 and 0 < len(target) <= LONGEST
    ]


def bucketed(pairs: Sequence[Pair], size: int, rng: random.Random) -> list[list[Pair]]:
    """Batches of ``size`` pairs of similar length, in random order: little padding, and still well mixed."""
    shuffled = rng.sample(list(pairs), len(pairs))
    batches = []
    for first in range(0, len(shuffled), 50 * size):
        pool = sorted(shuffled[first : first + 50 * size], key=lambda pair: (len(pair[1]), len(pair[0])))
        batches += [pool[start : start + size] for start in range(0, len(pool), size)]
    rng.shuffle(batches)
    return batches


@dataclass(frozen=True)
class Cut:
    """A planned batch: the numbers of its pairs (B), the widths S and T, and the number of real target tokens."""

    rows: Tensor
    columns: tuple[int, int]
    tokens: int


class PaddedPairs:
    """Pairs as padded tables of tokens on a device. ``batch`` cuts a batch from them without waiting.

    With a ``step`` above 1, batches have few shapes: each width is a multiple of ``step``, with as many rows as the budget
    allows. This helps code that plans or records its work for each shape. The last batch is filled up with blank pairs, whose
    labels are padding; one source token keeps their attention finite.
    """

    def __init__(
        self, pairs: Sequence[Pair], make_batch: MakeBatch, device: torch.device | str = "cpu", step: int = 1
    ):
        self.step = step
        self.sizes = [(len(source), len(target) + 1) for source, target in pairs]
        self.widths = [self._stepped(max(size)) for size in self.sizes]
        leaning = [source - target for source, target in self.sizes]
        turns = [1 if width // step % 2 else -1 for width in self.widths]
        self.places = [
            (-width, turn * lean) for width, turn, lean in zip(self.widths, turns, leaning, strict=True)
        ]
        tables = make_batch(list(pairs))
        most = self._stepped(max(table.shape[1] for table in tables))
        padded = [F.pad(table, (0, most - table.shape[1], 0, 1), value=PAD) for table in tables]
        padded[0][-1, 0] = EOS  # the blank pair
        self.tables = [table.to(device, torch.int32) for table in padded]

    def _stepped(self, length: int) -> int:
        return -(-length // self.step) * self.step

    def cuts(self, tokens: int, rng: random.Random) -> list[Cut]:
        """All pairs in random batches of at most ``tokens`` positions on either side, including padding.

        Pairs are sorted by the longer side and then by the difference of the sides, alternately up and down, so that batches
        have nearly no padding. Pairs with the same lengths are shuffled each time.
        """
        order = rng.sample(range(len(self.sizes)), len(self.sizes))
        order.sort(key=self.places.__getitem__)
        parts, first = [], 0
        while first < len(order):
            width = self.widths[order[first]]
            rows = max(1, tokens // width)
            sources, targets = zip(*(self.sizes[n] for n in order[first : first + rows]), strict=True)
            columns = (width, width) if self.step > 1 else (max(sources), max(targets))
            parts.append((slice(first, first + rows), columns, sum(targets)))
            first += rows
        if self.step > 1:
            order += [len(self.sizes)] * (first - len(order))  # blank pairs
        numbers = torch.tensor(order).to(self.tables[0].device)
        cuts = [Cut(numbers[rows], columns, real) for rows, columns, real in parts]
        rng.shuffle(cuts)
        return cuts

    def batch(self, cut: Cut) -> Batch:
        """source (B, S), decoder_input and labels (B, T), on the device."""
        widths = (cut.columns[0], cut.columns[1], cut.columns[1])
        source, decoder_input, labels = (
            table[:, :width].index_select(0, cut.rows).long()
            for table, width in zip(self.tables, widths, strict=True)
        )
        return source, decoder_input, labels
