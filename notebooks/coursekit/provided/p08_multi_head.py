"""What lab 08 taught, for the labs after it: multi-head attention as a module, and the maps of its heads."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from coursekit.provided.p07_self_attention import scaled_dot_product_attention


def split_heads(x: Tensor, h: int) -> Tensor:
    """(B, T, D) → (B, h, T, D / h): head i gets the i-th block of columns of every word."""
    heads: Tensor = x.unflatten(-1, (h, -1)).transpose(1, 2)
    return heads


def merge_heads(x: Tensor) -> Tensor:
    """(B, h, T, d_h) → (B, T, h · d_h): undoes ``split_heads``."""
    return x.transpose(1, 2).flatten(2)


class MultiHeadAttention(nn.Module):
    """Self-attention, or cross-attention when a memory is given, with ``h`` heads (Vaswani et al. 2017, 3.2.2).

    ``W_Q``, ``W_K``, ``W_V`` and ``W_O`` are ``nn.Linear(d_model, d_model)``; ``d_model`` is divisible by ``h``.
    """

    def __init__(self, d_model: int, h: int):
        super().__init__()
        self.h = h
        self.W_Q = nn.Linear(d_model, d_model)
        self.W_K = nn.Linear(d_model, d_model)
        self.W_V = nn.Linear(d_model, d_model)
        self.W_O = nn.Linear(d_model, d_model)

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """x (B, T_q, d_model), memory (B, T_k, d_model) → output (B, T_q, d_model), weights (B, h, T_q, T_k).

        ``mask`` is (T_q, T_k), (B, T_q, T_k) or (B, 1, T_k), True = may attend.
        """
        source = x if memory is None else memory
        q, k, v = self.W_Q(x), self.W_K(source), self.W_V(source)
        heard, weights = scaled_dot_product_attention(
            split_heads(q, self.h),
            split_heads(k, self.h),
            split_heads(v, self.h),
            None if mask is None else mask.unsqueeze(-3),
        )
        return self.W_O(merge_heads(heard)), weights


def attention_maps(model: nn.Module, *inputs: Any) -> dict[str, Tensor]:
    """Run ``model(*inputs)`` once; the weights (B, h, T_q, T_k) of each MultiHeadAttention inside, by name.

    A layer counts by its class's name, so that the student's own class is found, too.
    """
    maps: dict[str, Tensor] = {}
    handles = []
    for name, module in model.named_modules():
        if type(module).__name__ == "MultiHeadAttention":

            def note(module: nn.Module, inputs: Any, output: Any, name: str = name) -> None:
                maps[name] = output[1].detach()

            handles.append(module.register_forward_hook(note))
    try:
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return maps
