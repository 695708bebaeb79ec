"""Records the eight small trainings of demo ``10_skips_and_warmup`` (about three minutes)."""

from __future__ import annotations

from typing import Any

import numpy as np

DEPTH, SIZE, WARM_UP, STEPS, EVERY = 4, 64, 100, 400, 10
FACTORS = (1, 3)


def rate(step: int, warm: bool, factor: int) -> float:
    """Lab 10's learning rate for a width of 512; without warm-up it begins at its highest and falls in the same way."""
    top = factor * 512**-0.5 * WARM_UP**-0.5
    return top * min(step / WARM_UP if warm else 1.0, (WARM_UP / step) ** 0.5)


def record() -> dict[str, Any]:
    """Train eight models of 4 + 4 blocks on reversing letters; their losses and gradients (after the clip), every ten steps."""
    import torch
    from torch import Tensor, nn

    from coursekit.models import reversing
    from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
    from coursekit.provided.p10_training import masked_cross_entropy, shift_targets, train_step

    class Straight(EncoderBlock):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            x = self.norm1(self.attention(x, mask=mask)[0])
            return self.norm2(self.feed_forward(x))

    class StraightDecoder(DecoderBlock):
        def forward(
            self,
            x: Tensor,
            memory: Tensor,
            self_mask: Tensor | None = None,
            memory_mask: Tensor | None = None,
        ) -> Tensor:
            x = self.norm1(self.self_attention(x, mask=self_mask)[0])
            x = self.norm2(self.cross_attention(x, memory, memory_mask)[0])
            return self.norm3(self.feed_forward(x))

    class Stack(nn.Module):
        def __init__(self, block: type[nn.Module], *sizes: int):
            super().__init__()
            self.blocks = nn.ModuleList([block(*sizes) for _ in range(DEPTH)])

        def forward(self, x: Tensor, *others: Tensor) -> Tensor:
            for block in self.blocks:
                x = block(x, *others)
            return x

    def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
        return masked_cross_entropy(logits, labels, reversing.PAD)

    torch.set_num_threads(1)
    curves: dict[str, Any] = {}
    for factor in FACTORS:
        for skips, warm in ((True, True), (True, False), (False, True), (False, False)):
            draw = torch.Generator().manual_seed(2)
            torch.manual_seed(1)
            encoder, decoder = (EncoderBlock, DecoderBlock) if skips else (Straight, StraightDecoder)
            model = reversing.SmallTransformer(
                lambda *sizes, kind=encoder: Stack(kind, *sizes),
                lambda *sizes, kind=decoder: Stack(kind, *sizes),
                SIZE,
            )
            watched = [
                model.encoder.get_parameter(f"blocks.{layer}.attention.W_Q.weight") for layer in range(DEPTH)
            ]
            optimiser = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
            losses, gradients = [], []
            for step in range(1, STEPS + 1):
                rows = reversing.sequences(32, 4, 8, draw)
                batch = (
                    reversing.padded(rows),
                    *shift_targets([row[::-1] for row in rows], reversing.BOS, reversing.EOS, reversing.PAD),
                )
                losses.append(train_step(model, optimiser, loss_of, batch, rate(step, warm, factor)))
                gradients.append([float(weight.grad.norm()) for weight in watched if weight.grad is not None])
            smooth = np.array(losses).reshape(-1, EVERY).mean(axis=1)
            steep = np.array(gradients).reshape(-1, EVERY, DEPTH).mean(axis=1)
            curves[name(skips, warm, factor)] = {
                "loss": [round(float(value), 3) for value in smooth],
                "gradient": [[float(f"{value:.2g}") for value in row] for row in steep],
            }
            print(name(skips, warm, factor), smooth[:3], smooth[-3:], steep[0], steep[-1], flush=True)
    return curves


def name(skips: bool, warm: bool, factor: int) -> str:
    """The key of a run in the record."""
    return f"{'skips' if skips else 'no skips'}, {'warm-up' if warm else 'no warm-up'}, {factor}"
