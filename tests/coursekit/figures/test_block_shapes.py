"""The drawing of the shapes in a block: also of a block that computes with a part's numbers without calling it."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")

import torch
from coursekit.figures.block_shapes import draw_walk, stations
from coursekit.provided.p08_multi_head import MultiHeadAttention
from torch import nn


class Thought(nn.Module):
    def __init__(self, calls: bool):
        super().__init__()
        self.linear1, self.linear2, self.calls = nn.Linear(16, 32), nn.Linear(32, 16), calls

    def forward(self, x: Any) -> Any:
        if self.calls:
            return self.linear2(self.linear1(x).relu())
        hidden = (x @ self.linear1.weight.T + self.linear1.bias).relu()
        return hidden @ self.linear2.weight.T + self.linear2.bias


class Block(nn.Module):
    def __init__(self, calls: bool = True):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(16, 2), Thought(calls)
        self.norm1, self.norm2 = nn.LayerNorm(16), nn.LayerNorm(16)

    def forward(self, x: Any) -> Any:
        x = self.norm1(x + self.attention(x)[0])
        return self.norm2(x + self.feed_forward(x))


def drawn(block: nn.Module) -> str:
    axes = draw_walk(stations(block, torch.randn(2, 7, 16)), title="a block")
    return " ".join(text.get_text() for text in axes.texts)


def test_each_part_says_the_shape_that_came_out_of_it() -> None:
    said = drawn(Block())
    assert "linear2\n2 × 7 × 16" in said
    assert "not called" not in said


def test_a_part_that_is_not_called_is_drawn_empty() -> None:
    said = drawn(Block(calls=False))
    assert "linear2\nnot called" in said
    assert "norm2\n2 × 7 × 16" in said
