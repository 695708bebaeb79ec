"""What lab 05 taught, for later labs: riddles from sentences, CBOW with gradients, neighbours and analogies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

Array = npt.NDArray[Any]
Ranking = list[tuple[str, float]]


def context_windows(ids: Sequence[Any], m: int) -> list[tuple[list[Any], Any]]:
    """(context, target) for every position that has neighbours: up to ``m`` items on each side, in order."""
    places = range(len(ids)) if len(ids) > 1 else range(0)
    return [([*ids[max(0, t - m) : t], *ids[t + 1 : t + 1 + m]], ids[t]) for t in places]


def _tables(W_in: Array, W_out: Array) -> tuple[torch.Tensor, torch.Tensor]:
    copies = (torch.tensor(np.ascontiguousarray(table), requires_grad=True) for table in (W_in, W_out))
    return next(copies), next(copies)


def _answer(
    context: Sequence[int], hints: torch.Tensor, answers: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean of the hints (D,) and the scores of all answers (V,)."""
    h = functional.embedding_bag(torch.tensor([list(context)]), hints, mode="mean")[0]
    return h, answers @ h


def cbow_forward(context: Sequence[int], W_in: Array, W_out: Array) -> tuple[Array, Array]:
    """The mean of the context's rows of ``W_in``, (D,), and the softmax of ``W_out`` times it, (V,)."""
    h, scores = _answer(context, *_tables(W_in, W_out))
    return h.detach().numpy(), scores.softmax(0).detach().numpy()


def cbow_backward(context: Sequence[int], target: int, W_in: Array, W_out: Array) -> tuple[Array, Array]:
    """Gradients of −ln p[target] for both tables, (V, D) each."""
    hints, answers = _tables(W_in, W_out)
    _, scores = _answer(context, hints, answers)
    loss = functional.cross_entropy(scores, torch.tensor(target))
    d_in, d_out = torch.autograd.grad(loss, (hints, answers))
    return d_in.numpy(), d_out.numpy()


def negative_sampling_loss(h: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Loss (B,) and gradients of h (B, D) and rows (B, 1+K, D), riddle by riddle; row 0 is the right answer's."""
    mean, table = _tables(h, rows)
    scores = torch.matmul(table, mean.unsqueeze(-1)).squeeze(-1)
    signs = torch.ones_like(scores[:1])
    signs[:, 0] = -1
    loss = functional.softplus(scores * signs, threshold=50).sum(1)
    d_h, d_rows = torch.autograd.grad(loss.sum(), (mean, table))
    return loss.detach().numpy(), d_h.numpy(), d_rows.numpy()


def _ranked(
    way: torch.Tensor, rows: torch.Tensor, words: Sequence[str], left_out: set[str], k: int
) -> Ranking:
    cosines = functional.cosine_similarity(rows, way[None], dim=1)
    order = cosines.argsort(descending=True, stable=True).tolist()
    return [(words[i], float(cosines[i])) for i in order if words[i] not in left_out][:k]


def nearest(word: str, vectors: Array, words: Sequence[str], k: int = 5) -> Ranking:
    """The ``k`` other words with the largest cosine to ``word``, with their cosines, the nearest first."""
    rows = torch.tensor(np.ascontiguousarray(vectors))
    return _ranked(rows[list(words).index(word)], rows, words, {word}, k)


def analogy(a: str, b: str, c: str, vectors: Array, words: Sequence[str], k: int = 3) -> Ranking:
    """The ``k`` best answers to “a is to b as c is to …”, by the cosine to b − a + c of vectors of length 1."""
    rows = functional.normalize(torch.tensor(np.ascontiguousarray(vectors)), dim=1)
    start, end, other = (rows[list(words).index(word)] for word in (a, b, c))
    return _ranked(end - start + other, rows, words, {a, b, c}, k)
