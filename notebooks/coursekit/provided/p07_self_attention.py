"""What lab 07 taught, for the labs after it: masks and scaled dot-product attention, on PyTorch tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def causal_mask(T: int) -> Tensor:
    """(T, T) booleans, True where a position may attend: to itself and to what is before it."""
    return torch.ones(T, T, dtype=torch.bool).tril()


def padding_mask(lengths: Sequence[int] | Tensor, T: int) -> Tensor:
    """(B, 1, T) booleans, True at the first ``lengths[b]`` positions of each sentence."""
    return (torch.arange(T) < torch.as_tensor(lengths)[:, None])[:, None, :]


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(q kᵀ / √d_k) v (Vaswani et al. 2017, equation 1): the output and the weights.

    q (…, T_q, d_k), k (…, T_k, d_k), v (…, T_k, d_v); ``mask`` broadcasts to (…, T_q, T_k), True = may attend.
    """
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
