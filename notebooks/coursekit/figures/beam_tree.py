"""Records a decoder's search and draws it as a tree of examined, kept and best prefixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coursekit.figures import BLUE, INK, ORANGE, boxed

Node = tuple[int, ...]  # a prefix
Children = dict[Node, list[tuple[Node, float]]]  # what follows it, with the last word's log-probability
Step = Callable[[Sequence[Sequence[int]]], np.ndarray]
_PALE = "#b8c2cc"


class Watched:
    """A ``step`` that records the prefixes of each call."""

    def __init__(self, step: Step):
        self.step = step
        self.calls: list[list[Node]] = []

    def __call__(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        """Record the prefixes and return the step's result."""
        self.calls.append([tuple(int(token) for token in prefix) for prefix in prefixes])
        return self.step(prefixes)

    @property
    def asked(self) -> list[Node]:
        """All recorded prefixes in order."""
        return [prefix for call in self.calls for prefix in call]


def draw_search(
    watched: Watched,
    words: Sequence[str],
    sentences: Sequence[Sequence[int]],
    *,
    ax: Any,
    title: str = "",
    at_least: float = 0.0,
    logs: bool = False,
) -> None:
    """Draw the tree that a decoder searched.

    ``sentences`` are the decoder's results (tokens without ``<bos>``), the best first, whose path is orange. Every prefix in
    ``watched``, and the other sentences, are blue; words that were not pursued are pale. Words less probable than
    ``at_least`` are left out. ``logs`` writes log-probabilities instead of probabilities on the branches, and their sum into
    each node.
    """
    root = watched.asked[0]
    paths = [{(*root, *tokens[:length]) for length in range(len(tokens) + 1)} for tokens in sentences]
    kept = {*watched.asked}.union(*paths)
    children = _children(watched, at_least, kept)
    places = _places(root, children)
    won = paths[0]
    colours = {node: ORANGE if node in won else BLUE if node in kept else _PALE for node in places}
    sums = {root: 0.0}
    for parent in sorted(children, key=len):
        for child, log_probability in children[parent]:
            sums[child] = sums[parent] + log_probability
            _branch(ax, places[parent], places[child], colours[child], log_probability, logs)
    for node, (x, y) in places.items():
        label = words[node[-1]] if node != root else "start"
        if logs and node != root:
            label += f" {_short(sums[node])}"
        ink = INK if colours[node] != _PALE else "#586275"
        boxed(ax, x, y, label, pad=0.25, edge=colours[node], width=1.4, fontsize=9.5, color=ink, zorder=3)
    across, up = np.array(list(places.values())).T
    ax.set(xlim=(across.min() - 0.3, across.max() + 0.35), ylim=(up.min() - 0.7, up.max() + 0.7))
    ax.set_axis_off()
    ax.set_title(title)


def _children(watched: Watched, at_least: float, kept: set[Node]) -> Children:
    """Recorded prefix -> following prefixes with the log-probability of their last word."""
    asked = list(dict.fromkeys(watched.asked))
    children = {}
    for prefix in asked:
        row = np.asarray(watched.step([list(prefix)]))[0]
        children[prefix] = [
            ((*prefix, token), float(value))
            for token, value in enumerate(row)
            if np.exp(value) > max(at_least, 0) or ((*prefix, token) in kept and value > -np.inf)
        ]
    return children


def _places(root: Node, children: Children) -> dict[Node, tuple[float, float]]:
    """Depth to the right, leaves evenly spaced from the top down, a parent midway between its children."""
    places: dict[Node, tuple[float, float]] = {}
    rows = iter(range(100_000))

    def put(node: Node, depth: int) -> float:
        below = [put(child, depth + 1) for child, _ in children.get(node, [])]
        height = (below[0] + below[-1]) / 2 if below else -float(next(rows))
        places[node] = (float(depth), height)
        return height

    put(root, 0)
    return places


def _branch(ax: Any, start: Any, end: Any, colour: str, log_probability: float, logs: bool) -> None:
    ax.plot(*zip(start, end, strict=True), color=colour, linewidth=2 if colour != _PALE else 1, zorder=1)
    number = _short(log_probability if logs else float(np.exp(log_probability)))
    x, y = np.add(start, end) / 2
    ink = INK if colour != _PALE else "#586275"
    boxed(ax, x, y, number, pad=0.1, fontsize=8.5, color=ink, zorder=2)


def _short(number: float) -> str:
    """Two decimals, and no 0 before them."""
    return ("−" if number < 0 else "") + f"{abs(number):.2f}".lstrip("0")
