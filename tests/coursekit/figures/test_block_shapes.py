"""The drawing of the shapes in a block: also of a block that computes with a part's numbers without calling it."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")

import torch
from coursekit.figures.block_shapes import draw_walk, stations
from coursekit.provided.p09_blocks import EncoderBlock
from torch import nn


class Thought(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x: Any) -> Any:
        hidden = (x @ self.linear1.weight.T + self.linear1.bias).relu()
        return hidden @ self.linear2.weight.T + self.linear2.bias


def test_a_part_that_is_not_called_is_drawn_empty_and_the_others_say_their_shapes() -> None:
    block = EncoderBlock(16, 2, 32)
    block.feed_forward = Thought()  # type: ignore[assignment]
    axes = draw_walk(stations(block, torch.randn(2, 7, 16)), title="a block")
    said = " ".join(text.get_text() for text in axes.texts)
    assert "linear2\nnot called" in said
    assert "norm2\n2 × 7 × 16" in said
