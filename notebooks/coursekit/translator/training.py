"""Trains lab 12's translator in its notebook, with a progress bar, a live curve and a checkpoint."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.data.vocabulary import PAD, MakeBatch, Pair
from coursekit.figures import soon_replaced
from coursekit.notebook.cards import in_notebook
from coursekit.notebook.progress import track
from coursekit.translator.batches import bucketed
from coursekit.translator.loop import TrainingLoop
from coursekit.translator.model import fresh

__all__ = ["Adam", "Training", "draw_curve", "fresh"]


#: (parameter, gradient, both running means, step number, rate) → new parameter and running means.
AdamStep = Callable[[Tensor, Tensor, Tensor, Tensor, int, float], tuple[Tensor, Tensor, Tensor]]


class Adam(torch.optim.Optimizer):
    """Lab 10's ``adam_step`` for each parameter of a model, with weight decay of ``decay`` times the rate.

    (AdamW, Loshchilov and Hutter 2019: weights are decayed directly, not through the gradient.)
    """

    def __init__(self, parameters: Iterable[nn.Parameter], adam_step: AdamStep, decay: float = 0.0):
        super().__init__(parameters, {"lr": 0.0})
        self.adam_step, self.decay = adam_step, decay

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take one step against the gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state, rate = self.state[parameter], group["lr"]
                m = state.get("m", torch.zeros_like(parameter))
                v = state.get("v", torch.zeros_like(parameter))
                state["t"] = state.get("t", 0) + 1
                parameter.mul_(1 - rate * self.decay)
                result = self.adam_step(parameter.detach().clone(), parameter.grad, m, v, state["t"], rate)
                parameter.copy_(result[0])
                state["m"], state["v"] = result[1], result[2]


class Training(TrainingLoop):
    """A training run with lab 10's parts that can be stopped and resumed.

    ``parts`` are lab 10's answers, the student's or the course's, by name: ``train_step``, ``masked_cross_entropy``,
    ``adam_step`` and ``noam_rate``. The plan is fixed at the start: ``epochs`` over ``pairs`` in batches of ``size``. The rate
    of a step is ``noam_rate`` with ``warm_up``, times the remaining share of the plan, so that it ends at 0. Each step decays
    every weight by ``decay`` times the rate, which helps with unseen combinations. If the file ``checkpoint`` exists, training
    resumes from it (UserError if it has another plan).
    """

    def __init__(
        self,
        model: nn.Module,
        make_batch: MakeBatch,
        pairs: Sequence[Pair],
        parts: Mapping[str, Callable[..., Any]],
        *,
        epochs: int = 4,
        size: int = 64,
        d_model: int = 128,
        warm_up: int = 400,
        decay: float = 0.3,
        smoothing: float = 0.05,
        seed: int = 0,
        checkpoint: Path | str | None = None,
    ):
        self.make_batch, self.pairs, self.size, self.parts = make_batch, pairs, size, parts
        plan: dict[str, Any] = {"pairs": len(pairs), "epochs": epochs, "size": size, "d_model": d_model}
        plan |= {"warm_up": warm_up, "weight_decay": decay, "smoothing": smoothing, "seed": seed, "clip": 1.0}
        optimizer = Adam(model.parameters(), parts["adam_step"], decay)
        super().__init__(model, optimizer, plan, Path(checkpoint) if checkpoint else None)
        if self.losses:
            print(f"Going on from step {len(self.losses):,} of {self.steps:,}.")

    def learn_from(self, batch: list[Pair]) -> Tensor:
        """One training step with lab 10's loss and optimizer."""

        def loss_function(logits: Tensor, labels: Tensor) -> Tensor:
            loss: Tensor = self.parts["masked_cross_entropy"](logits, labels, PAD, self.recipe["smoothing"])
            return loss

        parts = tuple(part.to(self.device) for part in self.make_batch(batch))
        given = (self.model, self.optimizer, loss_function, parts, self.rate)
        return torch.tensor(float(self.parts["train_step"](*given, self.recipe["clip"])), dtype=torch.float64)

    def batches_of(self, rng: random.Random) -> list[list[Pair]]:
        """Batches of ``size`` pairs."""
        return bucketed(self.pairs, self.size, rng)

    @property
    def rate(self) -> float:
        """The learning rate of the next step: lab 10's, times the remaining share of the plan."""
        noam = self.parts["noam_rate"](self.taken + 1, self.recipe["d_model"], self.recipe["warm_up"])
        return float(noam) * (1 - self.progress)

    @property
    def seconds(self) -> float:
        """The total seconds of the steps."""
        return self.curve.seconds

    def run(self, seconds: float | None = None) -> Training:
        """Train to the end of the plan, for ``seconds``, or until Ctrl-C (or the stop button)."""
        picture = _LiveCurve()
        began = time.monotonic()
        try:
            with contextlib.closing(self.take_steps()) as steps:
                for _ in track(steps, "training, steps", self.steps - len(self.losses)):
                    picture.show(self.losses)
                    if seconds is not None and time.monotonic() - began > seconds:
                        break
        finally:
            picture.show(self.losses, last=True)
        if self.stopping:
            done = f"{len(self.losses):,} of {self.steps:,}"
            print(f"Stopped after step {done}; run it again to go on from there.")
        return self


class _LiveCurve:
    """A figure of the losses that is updated every two seconds, in notebooks only."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.drawn = time.monotonic()

    def show(self, losses: Sequence[float], last: bool = False) -> None:
        if not in_notebook() or not losses or (not last and time.monotonic() - self.drawn < 2):
            return
        import matplotlib.pyplot as plt
        from IPython.display import display

        figure = draw_curve(losses)
        if not last:
            soon_replaced(figure)
        if self.handle is None:
            self.handle = display(figure, display_id=True)
        else:
            self.handle.update(figure)
        plt.close(figure)
        self.drawn = time.monotonic()


def draw_curve(losses: Sequence[float]) -> Any:
    """Draw the loss of each step, pale, and its running mean. Returns the figure."""
    import matplotlib.pyplot as plt
    import numpy as np

    from coursekit.figures import BLUE, SKY

    figure, ax = plt.subplots(figsize=(7.2, 3))
    width = min(20, len(losses))
    ax.plot(range(1, len(losses) + 1), losses, color=SKY, lw=0.8, label="each step")
    mean = np.convolve(losses, np.ones(width) / width, "valid")
    ax.plot(range(width, len(losses) + 1), mean, color=BLUE, label=f"mean of the last {width} steps")
    ax.legend()
    ax.set(xlabel="step", ylabel="loss for each word", ylim=(0, None))
    ax.set_title(f"The loss has come down from {losses[0]:.1f} to {np.mean(losses[-width:]):.2f}")
    return figure
