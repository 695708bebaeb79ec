"""Draws, for lab 09, the shapes inside an encoder block, measured with hooks and drawn to scale."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from coursekit.figures import BLUE, GREEN, INK, ORANGE, PURPLE, SKY

#: Drawn part -> name of its output. For the attention's pair of outputs this is the weights.
_PARTS = {
    "attention.W_Q": "queries",
    "attention.W_K": "keys",
    "attention.W_V": "values",
    "attention": "weights",
    "attention.W_O": "heard",
    "norm1": "norm1",
    "feed_forward.linear1": "linear1, ReLU",
    "feed_forward.linear2": "linear2",
    "norm2": "norm2",
}
#: Left edge, middle and colour of each box.
_PLACES = {
    "x": (0.0, 0.0, SKY),
    "queries": (1.4, 1.15, BLUE),
    "keys": (1.4, 0.0, BLUE),
    "values": (1.4, -1.15, BLUE),
    "heard": (4.3, 0.0, BLUE),
    "norm1": (5.7, 0.0, GREEN),
    "linear1, ReLU": (7.1, 0.0, ORANGE),
    "linear2": (8.5, 0.0, ORANGE),
    "norm2": (9.9, 0.0, GREEN),
}
_WIDTH, _TOP, _BELOW, _GREY = 0.5, 2.45, -2.3, "#8a97a3"


def stations(block: nn.Module, x: Tensor) -> dict[str, tuple[int, ...]]:
    """Run ``block(x)`` once. Returns name -> shape, for ``x`` and for the output of each part."""
    shapes: dict[str, tuple[int, ...]] = {"x": tuple(x.shape)}
    handles = []
    for name, part in block.named_modules():
        if name in _PARTS:

            def note(part: nn.Module, inputs: Any, output: Any, word: str = _PARTS[name]) -> None:
                shapes[word] = tuple((output[1] if isinstance(output, tuple) else output).shape)

            handles.append(part.register_forward_hook(note))
    try:
        with torch.no_grad():
            block(x)
    finally:
        for handle in handles:
            handle.remove()
    return shapes


def draw_walk(walk: dict[str, tuple[int, ...]], title: str) -> Any:
    """Draw the result of ``stations``. A box is as high as a word's vector is long. Returns the axes.

    A part that was not called, because its parameters were used directly, is an empty box.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    _, ax = plt.subplots(figsize=(9.6, 3.9))
    for name, (left, middle, colour) in _PLACES.items():
        shape = walk.get(name)
        height = shape[-1] / walk["x"][-1] if shape else 1.0
        style = (
            {"facecolor": colour, "lw": 0}
            if shape
            else {"facecolor": "none", "edgecolor": colour, "ls": "--"}
        )
        ax.add_patch(Rectangle((left, middle - height / 2), _WIDTH, height, **style))
        if name not in ("queries", "keys"):
            _label(ax, left, "queries, keys, values" if name == "values" else name, shape)
    if "weights" in walk:
        _draw_heads(ax, walk["weights"])
    for start in (0.0, 1.4, 2.85, 4.3, 5.7, 7.1, 8.5):
        _arrow(ax, (start + _WIDTH + 0.08, 0), (start + 1.4 - 0.08, 0))
    for start, end in ((0.0, 5.7), (5.7, 9.9)):
        _way_around(ax, start, end)
    ax.set(xlim=(-0.5, 11), ylim=(-3.5, 2.95))
    ax.set_title(title)
    ax.axis("off")
    return ax


def _label(ax: Any, left: float, name: str, shape: tuple[int, ...] | None) -> None:
    size = "\N{THIN SPACE}×\N{THIN SPACE}".join(map(str, shape or ())) or "not called"
    text = name.replace(", ", ",\n", 1) + "\n" + size
    ax.text(left + _WIDTH / 2, _BELOW, text, ha="center", va="top", fontsize=8.5, color=INK)


def _draw_heads(ax: Any, shape: tuple[int, ...]) -> None:
    """One little square for each head's map of weights, in two columns."""
    from matplotlib.patches import Rectangle

    rows = -(-shape[1] // 2)
    for head in range(shape[1]):
        corner = (2.8 + 0.32 * (head % 2), 0.36 * (rows / 2 - 1 - head // 2) + 0.03)
        ax.add_patch(Rectangle(corner, 0.28, 0.3, facecolor=PURPLE, lw=0))
    _label(ax, 2.85, "weights", shape)


def _arrow(ax: Any, start: tuple[float, float], end: tuple[float, float], colour: str = _GREY) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=style)


def _way_around(ax: Any, start: float, end: float) -> None:
    """The residual connection from one box to the norm behind the sublayer, where it is added."""
    left, right = start + _WIDTH * 0.7, end + _WIDTH * 0.3
    ax.plot([left, left, right], [0.55, _TOP, _TOP], color=INK, lw=1.4, solid_joinstyle="round")
    _arrow(ax, (right, _TOP), (right, 0.55), INK)
    ax.text(
        (left + right) / 2, _TOP + 0.08, "+ what went in", ha="center", va="bottom", fontsize=8.5, color=INK
    )
