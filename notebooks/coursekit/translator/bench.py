"""Trains a student's transformer of lab 12 to reverse letters, with one part switched off.

The parts are switched off from outside, by the names that labs 08, 09 and 12 ask for. The rest of the student's model is
unchanged.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.vocabulary import SPECIALS, MakeBatch, Pair
from coursekit.errors import UserError
from coursekit.provided.p06_positions import sinusoidal
from coursekit.translator.training import Training, fresh
from coursekit.translator.word_model import exact_match

#: The special tokens, and twenty letters.
LETTERS = len(SPECIALS) + 20
HEADS = 4
PARTS = ("the root of d_k", "skips", "norms", "positions", "the shift")


@dataclass(frozen=True)
class Run:
    """The loss of each step, and the share of unseen pairs that greedy decoding gets exactly right."""

    losses: list[float]
    right: float


def learn(
    build: Callable[..., nn.Module],
    make_batch: MakeBatch,
    parts: Mapping[str, Callable[..., Any]],
    without: str = "nothing",
    steps: int = 250,
    size: int = 48,
) -> Run:
    """Train a small ``Transformer`` (the class ``build``) for ``steps`` steps to reverse sequences of 4 to 8 letters.

    ``parts`` are lab 10's answers. Raises UserError if ``without`` is not in ``PARTS``.
    """
    if without not in ("nothing", *PARTS):
        raise UserError(f"There is no part {without!r}: choose one of {', '.join(PARTS)}.")
    torch.manual_seed(0)
    model = fresh(build(LETTERS, LETTERS, d_model=64, heads=HEADS, d_ff=128, layers=2))
    switch_off(model, without)
    rng = random.Random(0)
    rows = [
        [rng.randrange(len(SPECIALS), LETTERS) for _ in range(rng.randint(4, 8))]
        for _ in range(steps * size + 300)
    ]
    pairs = [(row, row[::-1]) for row in rows]
    learned, unseen = pairs[:-300], pairs[-300:]
    how: dict[str, Any] = {"epochs": 1, "size": size, "d_model": 256, "warm_up": 60}
    how |= {"decay": 0.0, "smoothing": 0.0}
    given = _leaking(make_batch) if without == "the shift" else make_batch
    training = Training(model, given, learned, parts, **how)
    for _ in training.take_steps():
        pass
    return Run(training.losses, exact_match(model, make_batch, unseen))


def switch_off(model: nn.Module, part: str, heads: int = HEADS) -> None:
    """Switch one of ``PARTS`` off in a model (the shift is not in the model, but in its batches)."""
    table = getattr(model, "positions", None)
    if part == "positions" and isinstance(table, Tensor):
        with torch.no_grad():
            table.zero_()
    elif part == "positions":  # a model that keeps them elsewhere, or makes them anew
        for name in ("source_embedding", "target_embedding"):
            getattr(model, name).register_forward_hook(_without_the_place)
    for path, module in model.named_modules():
        name = path.rpartition(".")[2]
        if part == "the root of d_k" and name == "W_Q":
            module.register_forward_hook(
                lambda layer, inputs, output: output * (layer.out_features / heads) ** 0.5
            )
        elif part == "skips" and name in ("attention", "self_attention", "cross_attention", "feed_forward"):
            module.register_forward_hook(_less_the_input, with_kwargs=True)
        elif part == "norms" and name in ("norm1", "norm2", "norm3"):
            module.register_forward_hook(lambda norm, inputs, output: inputs[0])


def _without_the_place(embedding: Any, inputs: Any, words: Tensor) -> Tensor:
    """Embeddings (B, T, D) for which √D · embedding + position contains no position."""
    T, D = words.shape[-2:]
    bare: Tensor = words - torch.as_tensor(sinusoidal(T, D)).to(words.dtype) / D**0.5
    return bare


def _less_the_input(sublayer: Any, inputs: Any, named: dict[str, Any], output: Any) -> Any:
    """A sublayer's output minus its input, because the residual connection adds the input. Attention also returns weights."""
    x = inputs[0] if inputs else named["x"]
    return (output[0] - x, *output[1:]) if isinstance(output, tuple) else output - x


def _leaking(make_batch: MakeBatch) -> MakeBatch:
    """Batches whose decoder input is the labels."""

    def leaking(pairs: list[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        source, _, labels = make_batch(pairs)
        return source, labels, labels

    return leaking
