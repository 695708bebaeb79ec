"""What lab 09 taught, for later labs: the blocks of an encoder and a decoder, post-LN, through library functions."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from coursekit.provided.p08_multi_head import MultiHeadAttention


class LayerNorm(nn.LayerNorm):
    """Mean 0 and variance 1 along the last axis, then times ``weight`` plus ``bias``.  (…, d_model) → same."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__(d_model, eps=eps)


class FeedForward(nn.Module):
    """linear2(ReLU(linear1(x))), the same for every position (Vaswani et al. 2017, equation 2).  (…, d_model) → same."""

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """x (…, d_model) → (…, d_model)."""
        output: Tensor = self.linear2(F.relu(self.linear1(x)))
        return output


def residual(x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]) -> Tensor:
    """Add & Norm: norm(x + sublayer(x)).  x (…, d_model) → same."""
    return norm(x + sublayer(x))


class EncoderBlock(nn.Module):
    """Self-attention and feed-forward, each with Add & Norm; ``dropout`` acts on each sublayer's output."""

    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float = 0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (B, T, d_model), mask broadcasts to (B, T, T), True = may attend → (B, T, d_model)."""
        x = residual(x, lambda y: self.dropout(self.attention(y, mask=mask)[0]), self.norm1)
        return residual(x, lambda y: self.dropout(self.feed_forward(y)), self.norm2)


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention to a memory, feed-forward, each with Add & Norm."""

    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float = 0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, memory: Tensor, self_mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        """x (B, T, d_model), memory (B, S, d_model), masks broadcast to (B, T, T) and (B, T, S) → (B, T, d_model)."""
        x = residual(x, lambda y: self.dropout(self.self_attention(y, mask=self_mask)[0]), self.norm1)
        x = residual(x, lambda y: self.dropout(self.cross_attention(y, memory, memory_mask)[0]), self.norm2)
        return residual(x, lambda y: self.dropout(self.feed_forward(y)), self.norm3)
