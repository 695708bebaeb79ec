"""Trains lab 12's transformer on real sentences, with each run in its own folder.

The folder contains ``checkpoint.pt`` with the plan, the subwords and the curve.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.vocabulary import Batch, MakeBatch, Pair
from coursekit.translator.batches import Cut, PaddedPairs
from coursekit.translator.graphs import Step, recorded_on_gpu
from coursekit.translator.loop import TrainingLoop
from coursekit.translator.model import fast_path
from coursekit.translator.plan import Plan
from coursekit.translator.subwords import Subwords

__all__ = ["GPU_STEP", "Loss", "Run", "optimizer_of", "step_of"]

#: A batch and the label smoothing → the mean loss of its target tokens.
Loss = Callable[[Batch, float], Tensor]
#: The widths of batches on a GPU are multiples of this: Multi30k has 13 shapes, and a seventh of each batch is padding.
GPU_STEP = 4


def optimizer_of(model: nn.Module, plan: Plan) -> torch.optim.AdamW:
    """AdamW with its rate as a tensor on the model's device, so that a graph reads it in each step."""
    warnings.filterwarnings(
        "ignore", "This instance was constructed with capturable=True"
    )  # the first step runs without a graph
    rate = torch.tensor(plan.rate, device=next(model.parameters()).device)
    how: dict[str, Any] = {"betas": (0.9, 0.98), "weight_decay": plan.weight_decay, "fused": True}
    return torch.optim.AdamW(model.parameters(), lr=rate, capturable=rate.is_cuda, **how)


def step_of(model: nn.Module, loss: Loss, optimizer: torch.optim.Optimizer, plan: Plan) -> Step:
    """A training step with clipped gradients that never waits for a GPU."""

    def step(batch: Batch) -> Tensor:
        optimizer.zero_grad(set_to_none=True)
        value = loss(batch, plan.smoothing)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
        optimizer.step()
        return value.detach()

    return step


class Run(TrainingLoop):
    """A training run in its folder. Every minute it is saved and the validation loss measured.

    On a GPU, ``graphs`` records the steps as CUDA graphs.
    """

    save_every = 60.0

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        model: nn.Module,
        make_batch: MakeBatch,
        train: Sequence[Pair],
        validation: Sequence[Pair],
        subwords: Subwords,
        *,
        graphs: bool = True,
    ):
        self.plan, self.loss = plan, fast_path(model, plan).loss
        device = next(model.parameters()).device
        on_gpu = device.type == "cuda"
        self.train = PaddedPairs(train, make_batch, device, step=GPU_STEP if on_gpu else 1)
        self.validation = PaddedPairs(validation, make_batch, device)
        optimizer = optimizer_of(model, plan)
        kept: dict[str, Any] = {"checkpoint": folder / "checkpoint.pt", "more": {"subwords": subwords.state}}
        super().__init__(model, plan=asdict(plan), optimizer=optimizer, **kept)
        step = step_of(model, self.loss, optimizer, plan)
        self.step = recorded_on_gpu(step) if on_gpu and graphs else step

    def batches_of(self, rng: random.Random) -> list[Cut]:
        """Batches of ``batch_tokens`` positions."""
        return self.train.cuts(self.plan.batch_tokens, rng)

    def learn_from(self, batch: Cut) -> Tensor:
        """One step of AdamW on the plan's loss, with clipped gradients."""
        self.optimizer.param_groups[0]["lr"].fill_(self.rate)
        self.curve.tokens += batch.tokens
        return self.step(self.train.batch(batch))

    @property
    def progress(self) -> float:
        """The share of the plan that is done, 0 to 1, by steps, time or target tokens, whichever is largest."""
        by_time = self.curve.seconds / (60 * self.plan.minutes) if self.plan.minutes else 0.0
        by_tokens = self.curve.tokens / self.plan.tokens if self.plan.tokens else 0.0
        return min(1.0, max(super().progress, by_time, by_tokens))

    def go(self, report: Callable[[str], None] = print) -> Run:
        """Train to the plan's end or until Ctrl-C. A checkpoint is always written."""
        if self.progress >= 1:
            return self
        reported = saved = time.monotonic()
        report("Training. Ctrl-C stops it after its step; the same command goes on.")
        for _ in self.take_steps():
            now = time.monotonic()
            if now - saved > self.save_every:
                saved = reported = now
                self.save()
                report(f"{self._line()}, validation {self.validation_loss():.3f}")
            elif now - reported > 10:
                reported = now
                report(self._line())
        if self.progress >= 1:
            report(f"{self._line()}, validation {self.validation_loss():.3f}")
        elif self.stopping:
            report(f"Stopped after step {self.taken:,} of {self.steps:,}; the same command goes on.")
        self.save()
        return self

    @torch.no_grad()
    def validation_loss(self) -> float:
        """The mean loss of a validation token, without smoothing and dropout."""
        was_training = self.model.training
        self.model.eval()
        total, tokens = torch.zeros((), device=self.device), 0
        for cut in self.validation.cuts(4000, random.Random(0)):
            total += self.loss(self.validation.batch(cut), 0.0) * cut.tokens
            tokens += cut.tokens
        self.model.train(was_training)
        return float(total) / max(1, tokens)

    def _line(self) -> str:
        curve, last = self.curve, self.curve.losses[-100:]
        return (
            f"{100 * self.progress:3.0f} %  {curve.seconds / 60:5.1f} min  step {self.taken:,}  "
            f"{curve.tokens / max(curve.seconds, 1e-9):,.0f} target tokens/s  loss {sum(last) / max(1, len(last)):.3f}"
        )
