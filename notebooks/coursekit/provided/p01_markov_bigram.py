"""What lab 01 taught, for later labs: Markov chains from counts, sampled and scored."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from coursekit.data.names import ALPHABET

Array = npt.NDArray[np.float64]


def normalise_rows(N: npt.ArrayLike) -> Array:
    """Counts (R, V) → probabilities (R, V), each row by its own sum; a row without counts stays zero."""
    counts = np.asarray(N, dtype=float)
    totals = counts.sum(axis=-1, keepdims=True)
    probabilities: Array = np.nan_to_num(np.divide(counts, totals, where=counts > 0, out=0 * counts))
    return probabilities


def transition_matrix(sentences: Sequence[str], weights: Sequence[float]) -> tuple[list[str], Array]:
    """First-order chain: the sorted vocabulary, and P[i, j] = P(word j follows word i), (V, V)."""
    vocabulary, N = np.unique(" ".join(sentences).split()), 0.0
    for sentence, weight in zip(sentences, weights, strict=True):
        hot = np.array(sentence.split())[:, None] == vocabulary  # (T, V)
        N = N + weight * np.matmul(hot[:-1].T.astype(float), hot[1:])
    return vocabulary.tolist(), normalise_rows(N)


def second_order(
    sentences: Sequence[str], weights: Sequence[float]
) -> tuple[list[tuple[str, str]], list[str], Array]:
    """Second-order chain: the sorted contexts that a word follows, the sorted vocabulary, and P, (C, V)."""
    steps = [
        (pair, word, weight)
        for words, weight in zip(map(str.split, sentences), weights, strict=True)
        for pair, word in zip(pairwise(words), words[2:], strict=False)
    ]
    contexts = sorted({pair for pair, _, _ in steps})
    vocabulary = sorted(set(" ".join(sentences).split()))
    N = np.zeros((len(contexts), len(vocabulary)))
    for pair, word, weight in steps:
        N[contexts.index(pair), vocabulary.index(word)] += weight
    return contexts, vocabulary, normalise_rows(N)


def _ids(words: Sequence[str]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Current and next token of every step of all names."""
    current = [i for word in words for i in (0, *map(ALPHABET.index, word))]
    following = [j for word in words for j in (*map(ALPHABET.index, word), 27)]
    return np.array(current, dtype=np.intp), np.array(following, dtype=np.intp)


def bigram_counts(words: Sequence[str]) -> npt.NDArray[np.int_]:
    """How often each of the 28 tokens follows each other one in a list of names, (28, 28)."""
    N = np.zeros((28, 28), dtype=int)
    np.add.at(N, _ids(words), 1)
    return N


def sample_name(P: Array, rng: np.random.Generator) -> str:
    """Draw one name from the (28, 28) table, from <S> until <E>."""
    name, current = "", 0
    while (current := int(rng.choice(28, p=P[current]))) != 27:
        name += ALPHABET[current]
    return name


def average_nll(P: Array, words: Sequence[str]) -> float:
    """Mean negative log-likelihood of a step, in nats; infinite when a name takes an impossible one."""
    with np.errstate(divide="ignore"):
        return float(-np.log(P[_ids(words)]).mean())
