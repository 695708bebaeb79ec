"""What lab 11 taught, for later labs: greedy, sampling with temperature, top-k and top-p, and beam search."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[np.float64]
#: n prefixes of one length, each beginning with bos → (n, V) log-probabilities of the next token.
Step = Callable[[Sequence[Sequence[int]]], npt.ArrayLike]


def greedy(step: Step, bos: int, eos: int, max_length: int) -> tuple[list[int], float]:
    """Always the most probable token → (tokens without bos, with eos if it came; their log-probability)."""
    tokens, score = beam_search(step, 1, 0.0, bos, eos, max_length)[0]
    return tokens, score


def temperature_probs(logits: npt.ArrayLike, T: float) -> Array:
    """softmax(logits / T).  logits: (V,), T > 0 → (V,)."""
    return torch.softmax(_scores(logits) / T, dim=-1).numpy()


def top_k(logits: npt.ArrayLike, k: int, T: float = 1.0) -> Array:
    """The k most probable tokens at temperature T, renormalised; 0 elsewhere.  logits: (V,) → (V,)."""
    order = torch.sort(_scores(logits), descending=True, stable=True).indices
    return _renormalised(torch.softmax(_scores(logits) / T, dim=-1), order[:k])


def top_p(logits: npt.ArrayLike, p: float, T: float = 1.0) -> Array:
    """The smallest set of most probable tokens with probability of at least p, renormalised.  (V,) → (V,)."""
    probabilities = torch.softmax(_scores(logits) / T, dim=-1)
    values, order = torch.sort(probabilities, descending=True, stable=True)
    kept = order if p >= 1 else order[values.cumsum(0) - values < p]  # near 1 the sums are rounded
    return _renormalised(probabilities, kept)


def beam_search(
    step: Step, k: int, length_penalty: float, bos: int, eos: int, max_length: int
) -> list[tuple[list[int], float]]:
    """The k best hypotheses of a beam → [(tokens, score)], best first; score = log P / n**length_penalty.

    ``step`` is called once a position, with the hypotheses that have not ended. A finished one keeps its place.
    """
    beam: list[tuple[list[int], float]] = [([], 0.0)]
    for _ in range(max_length):
        live = [tokens for tokens, _ in beam if tokens[-1:] != [eos]]
        if not live:
            break
        rows = torch.as_tensor(np.asarray(step([[bos, *tokens] for tokens in live]), dtype=float))
        values, words = torch.sort(rows, dim=-1, descending=True, stable=True)
        beam = _pruned(beam, eos, values[:, :k].tolist(), words[:, :k].tolist(), k, length_penalty)
    return [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]


def _pruned(
    beam: list[tuple[list[int], float]],
    eos: int,
    values: list[list[float]],
    words: list[list[int]],
    k: int,
    length_penalty: float,
) -> list[tuple[list[int], float]]:
    """The k best of the finished hypotheses and the extensions of the others, whose rows come in order."""
    rows = iter(zip(values, words, strict=True))
    candidates: list[tuple[list[int], float]] = []
    for tokens, log_p in beam:
        if tokens[-1:] == [eos]:
            candidates.append((tokens, log_p))
        else:
            candidates += [([*tokens, w], log_p + v) for v, w in zip(*next(rows), strict=True) if v > -np.inf]
    return sorted(candidates, key=lambda one: one[1] / len(one[0]) ** length_penalty, reverse=True)[:k]


def _scores(logits: npt.ArrayLike) -> torch.Tensor:
    return torch.as_tensor(np.array(logits, dtype=float))


def _renormalised(probabilities: torch.Tensor, kept: torch.Tensor) -> Array:
    result = torch.zeros_like(probabilities)
    result[kept] = probabilities[kept] / probabilities[kept].sum()
    return result.numpy()
