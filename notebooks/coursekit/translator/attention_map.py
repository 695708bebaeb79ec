"""Reads a translator's attention: which tokens each token attends to while a sentence is translated."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from coursekit.data.vocabulary import BOS, SPECIALS
from coursekit.provided.p08_multi_head import attention_maps


def maps_of(model: nn.Module, source: Sequence[int], target: Sequence[int]) -> dict[str, Tensor]:
    """Name -> weights (heads, T_q, T_k) of every attention layer, for one pair of sentences."""
    model.eval()
    with torch.no_grad():
        maps = attention_maps(model, torch.tensor([list(source)]), torch.tensor([[BOS, *target]]))
    return {name: weights[0] for name, weights in maps.items()}


def alignment(model: nn.Module, source: Sequence[int], target: Sequence[int]) -> Tensor:
    """(T + 1, S): the weight of each source word for each target word and the end, in the last decoder block.

    It is the mean over the heads of the block's cross-attention.
    """
    maps = maps_of(model, source, target)
    return [weights for name, weights in maps.items() if name.startswith("decoder")][-1].mean(dim=0)


def self_attention_from(
    model: nn.Module, source: Sequence[int], position: int, head: int | None = None
) -> Tensor:
    """(layers, S): for each encoder block, a head's weight, or the largest of any, from the word at ``position`` to each word."""
    maps = maps_of(model, source, [])
    rows = [weights[:, position] for name, weights in maps.items() if name.startswith("encoder")]
    return torch.stack([row.amax(dim=0) if head is None else row[head] for row in rows])


def sway(model: nn.Module, source: Sequence[int], target: Sequence[int], position: int, rival: int) -> Tensor:
    """(S,): the influence of each source word on the choice of ``target[position]`` over the word ``rival``.

    The influence is the length of the gradient, at the word's vector, of the difference of the two logits. (Each position has
    its own row in a copy of the embedding table, so that repeated words are counted separately.)
    """
    model.eval()
    table = model.get_parameter("source_embedding.weight").detach().clone()
    rows = torch.arange(len(SPECIALS), len(SPECIALS) + len(source))
    table[rows] = model.get_parameter("source_embedding.weight").detach()[list(source)]
    table.requires_grad_()
    arguments = (rows[None], torch.tensor([[BOS, *target]]))
    logits = torch.func.functional_call(model, {"source_embedding.weight": table}, arguments)[0, position]
    (gradient,) = torch.autograd.grad(logits[target[position]] - logits[rival], table)
    lengths: Tensor = gradient[rows].norm(dim=-1)
    return lengths
