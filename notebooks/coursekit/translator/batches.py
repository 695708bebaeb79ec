"""Batches of sentences of like length."""

from __future__ import annotations

import random
from collections.abc import Sequence

from coursekit.data.vocabulary import Pair


def bucketed(pairs: Sequence[Pair], size: int, rng: random.Random) -> list[list[Pair]]:
    """Batches of ``size`` pairs of similar length, in random order: little padding, and still well mixed."""
    shuffled = rng.sample(list(pairs), len(pairs))
    batches = []
    for first in range(0, len(shuffled), 50 * size):
        pool = sorted(shuffled[first : first + 50 * size], key=lambda pair: (len(pair[1]), len(pair[0])))
        batches += [pool[start : start + size] for start in range(0, len(pool), size)]
    rng.shuffle(batches)
    return batches
