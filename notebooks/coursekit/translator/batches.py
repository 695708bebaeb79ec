"""From a corpus to batches: sentences, their tokens, and pairs of like length together."""

from __future__ import annotations

import random
from collections.abc import Sequence

from coursekit import data
from coursekit.data import parallel
from coursekit.data.vocabulary import Pair
from coursekit.translator.subwords import Subwords

__all__ = ["LONGEST", "bucketed", "numbered", "sentences", "token_batches"]

#: Source and target sentences may have so many tokens: lab 12's table of positions has 64 rows.
LONGEST = 63


def sentences(corpus: str, split: str, direction: str, most: int = 0) -> list[tuple[str, str]]:
    """(source, target) sentences of ``train``, ``validation`` or ``test``: the first ``most``, or all for 0.

    ``both`` gives each pair twice: all of them from English to German, and then all back.
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
    """What ``sentences`` gives, as tokens. With ``both``, a tag before the source says into which language.

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


def token_batches(pairs: Sequence[Pair], tokens: int, rng: random.Random) -> list[list[Pair]]:
    """Batches of at most ``tokens`` positions on either side, padding included, in random order.

    Sorted by source and then by target length, up and down in turn, so that neighbours have nearly the same lengths
    and a batch has nearly no padding; pairs with the same lengths are shuffled anew each time.
    """
    order = rng.sample(list(pairs), len(pairs))
    order.sort(key=lambda pair: (len(pair[0]), len(pair[1]) * (1 if len(pair[0]) % 2 else -1)))
    batches: list[list[Pair]] = []
    batch: list[Pair] = []
    width = 0
    for pair in order:
        width = max(width, len(pair[0]), len(pair[1]) + 1)
        if batch and width * (len(batch) + 1) > tokens:
            batches.append(batch)
            batch, width = [], max(len(pair[0]), len(pair[1]) + 1)
        batch.append(pair)
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches
