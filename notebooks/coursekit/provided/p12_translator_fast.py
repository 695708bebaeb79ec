"""Runs lab 12's transformer fast, on the model's own parameters: the same numbers, less work.

``FastTransformer(model, heads)`` reads the parameters of a model with the names of labs 08, 09 and 12
(``encoder.0.attention.W_Q``, …), the student's own or the course's. What it computes is what
``model(source, decoder_input)`` computes; what it learns, the model has learned. It saves work in these ways:

* one product for a block's queries, keys and values, instead of three small ones, and PyTorch's fused attention;
* ``own_kernels``, on a processor: no logits for padding (the output layer is a quarter of all products); its softmax, loss
  and gradient in one go, for a slice of rows that fits the cache; a dropout mask of random bytes, eight from one number;
* ``sixteen_bits``: products of bfloat16 where the machine is fast at them (half the bytes, twice the speed), sums in 32;
* on a GPU nothing that makes Python wait for the device, so that a step can be queued, and recorded as a CUDA graph.

Shapes: B sentences, S source and T target tokens, D = d_model, h heads, d = D / h, N real tokens, V the vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from coursekit.data.vocabulary import PAD, Batch
from coursekit.hardware import has_fast_bfloat16
from coursekit.provided.p06_positions import sinusoidal

#: 16-bit products are prepared anew for each shape; rows come in multiples of this, so that there are few shapes.
_ROWS = 256
#: PyTorch's ways to attend, but cuDNN's: it plans anew for each shape, for tenths of a second.
_ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
#: For each layer of attention in the decoder, the keys and values (B, h, t, d) of earlier tokens, or of the source.
Kept = dict[nn.Module, tuple[Tensor, Tensor]]


class _Product(Function):
    """x Wᵀ + b with 16-bit factors, and its gradient.  x (…, I), weight (O, I), bias (O) → (…, O)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])
        short, table = _short(rows), weight.bfloat16()
        ctx.save_for_backward(short, table)
        ctx.shape = x.shape
        y = torch.mm(short, table.t())[: len(rows)].float()
        return y.add_(bias).view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        short, table = ctx.saved_tensors
        gradient = gradients[0].reshape(-1, gradients[0].shape[-1])
        above = _short(gradient)
        below = torch.mm(above, table)[: len(gradient)].float().view(ctx.shape)
        return below, torch.mm(above.t(), short).float(), gradient.sum(0)


def _short(rows: Tensor) -> Tensor:
    """(N, D) in 16 bits, with rows of zeros up to a multiple of ``_ROWS``."""
    n, width = rows.shape
    if n % _ROWS == 0:
        return rows.bfloat16()
    whole = torch.empty(-(-n // _ROWS) * _ROWS, width, dtype=torch.bfloat16, device=rows.device)
    whole[:n] = rows
    whole[n:] = 0
    return whole


class _Loss(Function):
    """The mean smoothed cross-entropy of x Wᵀ (Szegedy et al. 2016), its gradient worked out on the way.

    With smoothing ε the target distribution is y = (1 − ε) one_hot + ε / V, and the gradient of the logits is
    softmax − y (lab 10). The even part ε / V is the same everywhere, so it acts through the sums of W's and of x's
    rows, and no (N, V) matrix but one slice of softmax is ever written.  x (N, D), weight (V, D), targets (N).
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, targets: Tensor, smoothing: float, sixteen: bool
    ) -> Tensor:
        number, size = x.shape[0], weight.shape[0]
        rows, table = (_short(x), weight.bfloat16()) if sixteen else (x, weight)
        total, below, dweight = 0.0, torch.empty_like(x), torch.zeros_like(weight)
        even = weight.sum(0)
        for first in range(0, number, _ROWS):
            part, labels = rows[first : first + _ROWS], targets[first : first + _ROWS, None]
            real = len(labels)
            logits = torch.mm(part, table.t())[:real].float()
            softmax = torch.softmax(logits, dim=-1)
            log_right = softmax.gather(1, labels).clamp_(min=1e-38).log_()
            log_sum = logits.gather(1, labels) - log_right  # log Σ exp
            log_mean = (x[first : first + real] @ even)[:, None] / size - log_sum
            total += float(-(1 - smoothing) * log_right.sum() - smoothing * log_mean.sum())
            softmax.scatter_add_(1, labels, torch.full_like(log_right, smoothing - 1))
            factor = _short(softmax) if sixteen else softmax
            below[first : first + real] = torch.mm(factor, table)[:real]
            if sixteen:
                dweight += torch.mm(factor.t(), part)
            else:
                dweight.addmm_(factor.t(), part)
        below.sub_(even, alpha=smoothing / size)
        dweight.sub_(x.sum(0), alpha=smoothing / size)
        ctx.save_for_backward(below.div_(number), dweight.div_(number))
        return x.new_tensor(total / number)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        below, dweight = ctx.saved_tensors
        return below.mul_(gradients[0]), dweight.mul_(gradients[0]), None, None, None


class FastTransformer:
    """A lab-12 ``model`` with ``heads`` heads, run fast. ``dropout`` acts where the blocks of lab 09 have it.

    ``own_kernels`` and ``sixteen_bits`` are chosen by the model's device, unless they are given.
    """

    def __init__(
        self,
        model: nn.Module,
        heads: int,
        dropout: float = 0.0,
        *,
        own_kernels: bool | None = None,
        sixteen_bits: bool | None = None,
    ):
        self.model: Any = model  # its parts have the names of labs 08, 09 and 12
        self.heads, self.dropout = heads, dropout
        table = model.get_parameter("target_embedding.weight")
        kind = table.device.type
        self.own_kernels = kind == "cpu" if own_kernels is None else own_kernels
        self.sixteen_bits = has_fast_bfloat16(kind) if sixteen_bits is None else sixteen_bits
        self.d_model = int(table.shape[1])
        self.positions = torch.as_tensor(sinusoidal(512, self.d_model)).to(table)  # (512, D), lab 06's

    def loss(self, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean cross-entropy of a batch's real target tokens: (B, S), (B, T), (B, T) → one number."""
        kind = batch[0].device.type
        if self.own_kernels or not self.sixteen_bits:
            return self._loss(batch, smoothing)
        with torch.autocast(kind, dtype=torch.bfloat16, cache_enabled=False):  # PyTorch chooses what is short
            return self._loss(batch, smoothing)

    def _loss(self, batch: Batch, smoothing: float) -> Tensor:
        source, decoder_input, labels = batch
        y = self.decode(decoder_input, *self.encode(source)).flatten(0, 1)  # (B · T, D)
        targets, table = labels.flatten(), self.model.target_embedding.weight
        if not self.own_kernels:  # the logits of padding cost less than waiting for the number of real tokens
            logits = F.linear(y, table)
            return F.cross_entropy(logits, targets, ignore_index=PAD, label_smoothing=smoothing)
        real = targets.ne(PAD).nonzero()[:, 0]
        arguments = (y[real], table, targets[real], smoothing, self.sixteen_bits)
        loss: Tensor = _Loss.apply(*arguments)  # type: ignore[no-untyped-call]
        return loss

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """source (B, S) → memory (B, S, D), and a bias (B, 1, S) with −∞ at padding."""
        bias = torch.zeros(source.shape, device=source.device).masked_fill_(source.eq(PAD), float("-inf"))
        bias = bias[:, None]
        x = self._embed(self.model.source_embedding, source)
        for block in self.model.encoder:
            x = self._add_and_norm(x, self._attend(block.attention, x, x, bias), block.norm1)
            x = self._add_and_norm(x, self._feed_forward(block.feed_forward, x), block.norm2)
        return x, bias

    def decode(
        self, decoder_input: Tensor, memory: Tensor, bias: Tensor, kept: Kept | None = None, first: int = 0
    ) -> Tensor:
        """decoder_input (B, T) and the result of ``encode`` → (B, T, D); times the embedding, that gives the logits.

        With ``kept``, which the caller holds, decoder_input (B, 1) is the token at position ``first`` alone.
        """
        y = self._embed(self.model.target_embedding, decoder_input, first)
        for block in self.model.decoder:
            y = self._add_and_norm(y, self._attend(block.self_attention, y, y, None, kept), block.norm1)
            y = self._add_and_norm(y, self._attend(block.cross_attention, y, memory, bias, kept), block.norm2)
            y = self._add_and_norm(y, self._feed_forward(block.feed_forward, y), block.norm3)
        return y

    # The parts.

    def _embed(self, table: nn.Embedding, tokens: Tensor, first: int = 0) -> Tensor:
        positions = self.positions[first : first + tokens.shape[1]]
        return torch.add(positions, F.embedding(tokens, table.weight), alpha=self.d_model**0.5)

    def _product(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """x Wᵀ + b, (…, I) → (…, O); in our 16 bits from ``_ROWS`` rows on, to which they are padded."""
        if self.own_kernels and self.sixteen_bits and x.numel() >= _ROWS * x.shape[-1]:
            product: Tensor = _Product.apply(x, weight, bias)  # type: ignore[no-untyped-call]
            return product
        return F.linear(x, weight, bias)

    def _jointly(self, x: Tensor, *layers: nn.Linear) -> Tensor:
        """Several layers on one input as one product: x (…, D) → (…, n · D)."""
        weight = torch.cat([layer.weight for layer in layers])
        return self._product(x, weight, torch.cat([layer.bias for layer in layers]))

    def _attend(
        self, layer: Any, x: Tensor, memory: Tensor, bias: Tensor | None, kept: Kept | None = None
    ) -> Tensor:
        """x (B, T, D) listens to memory (B, S, D), but not to padding; without a bias to itself, not to what follows."""
        earlier = (kept or {}).get(layer)
        if x is memory:
            q, k, v = self._heads(self._jointly(x, layer.W_Q, layer.W_K, layer.W_V), 3)
            if earlier:
                k, v = (torch.cat(both, dim=2) for both in zip(earlier, (k, v), strict=True))
        else:
            (q,) = self._heads(self._product(x, layer.W_Q.weight, layer.W_Q.bias), 1)
            k, v = earlier or self._heads(self._jointly(memory, layer.W_K, layer.W_V), 2)
        if kept is not None:
            kept[layer] = k, v
        mask = None if bias is None else bias[:, None].to(q.dtype)
        with sdpa_kernel(_ATTENTION):
            causal = mask is None and kept is None
            heard = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return self._product(heard.transpose(1, 2).flatten(2), layer.W_O.weight, layer.W_O.bias)

    def _heads(self, x: Tensor, parts: int) -> tuple[Tensor, ...]:
        """(B, T, parts · D) → parts of (B, h, T, d)."""
        split: tuple[Tensor, ...] = x.unflatten(-1, (parts, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind()
        return split

    def _feed_forward(self, layer: Any, x: Tensor) -> Tensor:
        """linear2(ReLU(linear1(x))), (…, D) → (…, D)."""
        hidden = F.relu(self._product(x, layer.linear1.weight, layer.linear1.bias))
        return self._product(hidden, layer.linear2.weight, layer.linear2.bias)

    def _add_and_norm(self, x: Tensor, y: Tensor, norm: Any) -> Tensor:
        """LayerNorm(x + dropout(y)), each (B, T, D)."""
        if not (self.model.training and self.dropout):
            x = x + y
        elif self.own_kernels:
            x = torch.addcmul(x, y, _dropout_mask(y, self.dropout))
        else:
            x = x + F.dropout(y, self.dropout)
        return F.layer_norm(x, (self.d_model,), norm.weight, norm.bias)


def _dropout_mask(x: Tensor, p: float) -> Tensor:
    """0 where a random byte is below 256 p, else what keeps the mean; the shape of x.

    p is rounded to 1/256, and to 255/256 at most.
    """
    dropped = min(255, round(256 * p))
    numbers = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    octets = numbers.view(torch.uint8)[: x.numel()].view(x.shape)
    return octets.to(x.dtype).ge_(dropped).mul_(256 / (256 - dropped))
