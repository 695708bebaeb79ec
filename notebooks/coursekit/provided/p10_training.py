"""What lab 10 taught, for later labs: targets, loss, optimizer step, learning rate and training step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence


def shift_targets(sentences: Sequence[Sequence[int]], bos: int, eos: int, pad: int) -> tuple[Tensor, Tensor]:
    """B lists of word numbers → decoder input (bos …) and labels (… eos), both (B, longest + 1), padded."""
    inputs = [torch.tensor([bos, *sentence]) for sentence in sentences]
    labels = [torch.tensor([*sentence, eos]) for sentence in sentences]
    return pad_sequence(inputs, True, pad), pad_sequence(labels, True, pad)


def label_smoothing(targets: Tensor, V: int, epsilon: float) -> Tensor:
    """targets (…) integers → (…, V): 1 − ε on the right word, and ε spread evenly over all V words."""
    return (1 - epsilon) * F.one_hot(targets, V) + epsilon / V


def masked_cross_entropy(logits: Tensor, targets: Tensor, pad: int, smoothing: float = 0.0) -> Tensor:
    """Mean cross-entropy over the positions that are not ``pad``.  logits (…, V), targets (…) → one number."""
    return F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=pad, label_smoothing=smoothing
    )


def adam_step(
    parameter: Tensor,
    gradient: Tensor,
    m: Tensor,
    v: Tensor,
    t: int,
    rate: float,
    beta1: float = 0.9,
    beta2: float = 0.98,
    eps: float = 1e-9,
) -> tuple[Tensor, Tensor, Tensor]:
    """Step number ``t`` (from 1) of Adam (Kingma and Ba 2015, algorithm 1) → new parameter, m and v."""
    m, v = m.lerp(gradient, 1 - beta1), v.lerp(gradient**2, 1 - beta2)
    below = (v / (1 - beta2**t)).sqrt() + eps
    return torch.addcdiv(parameter, m, below, value=-rate / (1 - beta1**t)), m, v


def noam_rate(step: int, d_model: int, warmup: int) -> float:
    """The learning rate of Vaswani et al. 2017 (equation 3); step 0 has the rate of step 1."""
    step = max(step, 1)
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_function: Callable[[Tensor, Tensor], Tensor],
    batch: tuple[Tensor, Tensor, Tensor],
    rate: float,
    clip: float = 1.0,
) -> float:
    """One update on a batch (source, decoder_input, labels), gradients clipped to ``clip`` → the loss before it."""
    source, decoder_input, labels = batch
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.item()
