"""Reads a translator's attention: what each token listened to while a sentence was translated."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from coursekit.data.vocabulary import BOS, SPECIALS
from coursekit.provided.p08_multi_head import attention_maps


def _maps(model: nn.Module, source: Sequence[int], target: Sequence[int]) -> dict[str, Tensor]:
    """The maps (heads, T_q, T_k) of every layer of attention, by name, for one pair of sentences."""
    model.eval()
    with torch.no_grad():
        maps = attention_maps(model, torch.tensor([list(source)]), torch.tensor([[BOS, *target]]))
    return {name: weights[0] for name, weights in maps.items()}


def alignment(model: nn.Module, source: Sequence[int], target: Sequence[int]) -> Tensor:
    """(T + 1, S): how much each word said, and the end, listened to each source word, in the last decoder block.

    The mean over the heads of the block's last layer of attention, which is the one to the memory.
    """
    maps = _maps(model, source, target)
    return [weights for name, weights in maps.items() if name.startswith("decoder")][-1].mean(dim=0)


def self_attention_from(model: nn.Module, source: Sequence[int], position: int) -> Tensor:
    """(layers, S): for each encoder block, the largest weight of any head from the word at ``position`` to each word."""
    maps = _maps(model, source, [])
    rows = [weights[:, position] for name, weights in maps.items() if name.startswith("encoder")]
    return torch.stack([row.amax(dim=0) for row in rows])


def sway(model: nn.Module, source: Sequence[int], target: Sequence[int], position: int, rival: int) -> Tensor:
    """(S,): how strongly each source word sways the choice of ``target[position]`` over the word ``rival``.

    The length of the gradient of the difference of the two logits at the word's vector. (Each position gets a row of its
    own in a copy of the embedding's table, so that a word that stands there twice is counted at each by itself.)
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
