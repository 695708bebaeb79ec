"""Trains lab 12's transformer on real sentences: a run in its folder, measured on the way.

The folder holds ``plan.json``, ``subwords.json``, ``checkpoint.pt``, ``curve.json`` and ``curve.png``. Each is written
whole or not at all.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursekit.data.vocabulary import PAD, Batch, MakeBatch, Pair
from coursekit.translator.batches import token_batches
from coursekit.translator.files import write_text
from coursekit.translator.loop import Curve, Loss, TrainingLoop
from coursekit.translator.plan import Plan

__all__ = ["Run", "draw_curve"]


class Run(TrainingLoop):
    """A training run in its folder. ``measure``, if given, adds to what is measured every ``measure_every`` seconds."""

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        model: nn.Module,
        make_batch: MakeBatch,
        loss: Loss,
        train: Sequence[Pair],
        validation: Sequence[Pair],
        *,
        measure: Callable[[], dict[str, float]] | None = None,
        measure_every: float = 60.0,
    ):
        self.folder, self.plan, self.train, self.validation = folder, plan, train, validation
        self.measure, self.measure_every = measure, measure_every
        self.loss = loss
        optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=plan.rate,
            betas=(0.9, 0.98),
            weight_decay=plan.weight_decay,
            fused=True,
        )
        place = folder / "checkpoint.pt"
        super().__init__(model, make_batch, plan=asdict(plan), checkpoint=place, optimizer=optimizer)
        self.resume()

    def batches_of(self, rng: random.Random) -> list[list[Pair]]:
        """Batches of ``batch_tokens`` positions."""
        return token_batches(self.train, self.plan.batch_tokens, rng)

    def update(self, batch: Batch) -> float:
        """AdamW on the loss of the plan, gradients clipped."""
        loss = self.loss(batch, self.plan.smoothing)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
        self.optimizer.param_groups[0]["lr"] = self.rate
        self.optimizer.step()
        return float(loss.detach())

    @property
    def progress(self) -> float:
        """How much of the plan is done, 0 to 1: by steps, by the clock or by target tokens, whichever is first."""
        by_time = self.curve.seconds / (60 * self.plan.minutes) if self.plan.minutes else 0.0
        by_tokens = self.curve.tokens / self.plan.tokens if self.plan.tokens else 0.0
        return min(1.0, max(super().progress, by_time, by_tokens))

    def go(self, report: Callable[[str], None] = print, stop_after: int | None = None) -> Run:
        """Train to the plan's end, or to step ``stop_after``, or until Ctrl-C; a checkpoint is always left."""
        if self.progress >= 1:
            return self
        reported = saved = time.monotonic()
        measured = self.curve.measured[-1]["seconds"] if self.curve.measured else 0.0
        report("Training. Ctrl-C stops it after its step; the same command goes on.")
        for step in self.take_steps():
            now = time.monotonic()
            if step == stop_after:
                break
            if self.curve.seconds - measured > self.measure_every:
                measured = self.curve.seconds
                report(self._measure())
            elif now - reported > 10:
                reported = now
                report(self._line())
            if now - saved > 60:
                saved = now
                self.save()
        if self.progress >= 1:
            if not self.curve.measured or self.curve.measured[-1]["step"] < len(self.curve.losses):
                report(self._measure())
        elif self.stopping:
            steps = f"{len(self.curve.losses):,} of {self.steps:,}"
            report(f"Stopped after step {steps}; the same command goes on.")
        self.save()
        return self

    def save(self) -> None:
        """Write the checkpoint and the curve, each whole or not at all."""
        super().save()
        write_text(self.folder / "curve.json", json.dumps(asdict(self.curve)))

    def validation_loss(self) -> float:
        """The mean loss of a validation token, without smoothing and dropout."""
        total, tokens = 0.0, 0
        with torch.no_grad():
            for pairs in token_batches(self.validation, 4000, random.Random(0)):
                batch = self.on_device(self.make_batch(pairs))
                real = int(batch[2].ne(PAD).sum())
                total, tokens = total + float(self.loss(batch, 0.0)) * real, tokens + real
        return total / max(1, tokens)

    def _measure(self) -> str:
        """Note the validation loss, and what else is measured, on the curve; the line to show."""
        state = torch.get_rng_state()  # measuring draws nothing from the training's random numbers
        was_training = self.model.training
        self.model.eval()
        row: dict[str, float] = {
            "step": len(self.curve.losses),
            "tokens": self.curve.tokens,
            "seconds": round(self.curve.seconds, 2),
            "training_loss": _mean(self.curve.losses[-100:]),
            "validation_loss": self.validation_loss(),
        }
        row |= self.measure() if self.measure is not None else {}
        self.model.train(was_training)
        torch.set_rng_state(state)
        self.curve.measured.append(row)
        scores = [f", {key} {value:.1f}" for key, value in row.items() if key.startswith(("BLEU", "chrF"))]
        return f"{self._line()}, validation {row['validation_loss']:.3f}{''.join(scores)}"

    def _line(self) -> str:
        curve = self.curve
        return (
            f"{100 * self.progress:3.0f} %  {curve.seconds / 60:5.1f} min  step {len(curve.losses):,}  "
            f"{curve.tokens / max(curve.seconds, 1e-9):,.0f} target tokens/s  loss {_mean(curve.losses[-100:]):.3f}"
        )


def draw_curve(curve: Curve) -> Any:
    """Training and validation loss against minutes, and BLEU where it was measured; returns the figure."""
    import matplotlib.pyplot as plt
    import numpy as np

    from coursekit.figures import BLUE, ORANGE, SKY, use_style

    use_style()
    figure, ax = plt.subplots(figsize=(7.2, 4.2))
    width = max(1, min(50, len(curve.losses) // 4))
    smooth = np.convolve(curve.losses, np.ones(width) / width, "valid")
    minutes = np.linspace(0, curve.seconds / 60, len(curve.losses))[width - 1 :]
    ax.plot(minutes, smooth, color=SKY, label="training (with smoothing and dropout)")
    rows = curve.measured
    times = [row["seconds"] / 60 for row in rows]
    ax.plot(times, [row["validation_loss"] for row in rows], "o-", ms=3, color=BLUE, label="validation")
    ax.set(xlabel="minutes of training", ylabel="loss for each token", ylim=(0, None))
    names = sorted({name for row in rows for name in row if name.startswith("BLEU")})  # each direction's
    if names:
        right = ax.twinx()
        for name, mark in zip(names, ("s-", "^--"), strict=False):
            scored = [(row["seconds"] / 60, row[name]) for row in rows if name in row]
            right.plot(*zip(*scored, strict=True), mark, ms=3, color=ORANGE)
            ax.plot([], [], mark, ms=3, color=ORANGE, label=f"{name} (validation, greedy)")
        right.set_ylabel("BLEU", color=ORANGE)
        right.set_ylim(0, None)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)  # below: nothing is behind it
    ax.set_title(f"The validation loss has come down to {rows[-1]['validation_loss']:.2f}")
    return figure


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))
