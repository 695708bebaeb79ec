"""Trains lab 12's translator in its notebook: a bar, a curve that grows, and a checkpoint that Ctrl-C leaves behind."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from coursekit.data.vocabulary import MakeBatch, Pair
from coursekit.figures import drawn_again
from coursekit.notebook.cards import in_notebook
from coursekit.notebook.progress import track
from coursekit.translator.batches import bucketed
from coursekit.translator.loop import TrainingLoop, fresh, readable_loss

__all__ = ["Training", "draw_curve", "fresh"]


class Training(TrainingLoop):
    """A training run that can be stopped and goes on where it stopped.

    The plan is fixed at the start: ``epochs`` over ``pairs`` in batches of ``size``; the learning rate climbs to
    ``rate`` for ``warm_up`` steps and then falls to 0 in a straight line; ``decay`` times the rate of every weight is
    taken off at each step (AdamW, Loshchilov and Hutter 2019), without which half as many epochs learn less of
    combinations that were never seen. ``checkpoint`` is a file; when it exists, training resumes from it (UserError
    when it belongs to another plan).
    """

    def __init__(
        self,
        model: nn.Module,
        make_batch: MakeBatch,
        pairs: Sequence[Pair],
        *,
        epochs: int = 4,
        size: int = 64,
        rate: float = 3e-3,
        warm_up: int = 300,
        decay: float = 0.3,
        smoothing: float = 0.05,
        seed: int = 0,
        checkpoint: Path | str | None = None,
    ):
        self.pairs, self.size = pairs, size
        plan = {"pairs": len(pairs), "epochs": epochs, "size": size, "rate": rate, "warm_up": warm_up}
        plan |= {"weight_decay": decay, "smoothing": smoothing, "seed": seed, "clip": 1.0}
        place = Path(checkpoint) if checkpoint else None
        super().__init__(model, make_batch, readable_loss(model), plan=plan, checkpoint=place, eps=1e-9)
        self.resume()
        if self.losses:
            print(f"Going on from step {len(self.losses):,} of {self.steps:,}.")

    def batches_of(self, rng: random.Random) -> list[list[Pair]]:
        """Batches of ``size`` pairs."""
        return bucketed(self.pairs, self.size, rng)

    @property
    def rate(self) -> float:
        """The learning rate of the next step; the fall begins where the climb ends."""
        number, warm_up = len(self.losses), self.recipe["warm_up"]
        falling = (self.steps - number) / max(1, self.steps - warm_up)
        return float(self.recipe["rate"] * min((number + 1) / warm_up, falling))

    @property
    def losses(self) -> list[float]:
        """The loss of each step."""
        return self.curve.losses

    @property
    def seconds(self) -> float:
        """How long the steps took, all together."""
        return self.curve.seconds

    @property
    def finished(self) -> bool:
        """Whether the plan is done."""
        return self.progress >= 1

    def run(self, seconds: float | None = None) -> Training:
        """Train to the end of the plan, for so many ``seconds``, or until Ctrl-C (or the stop button)."""
        picture = _LiveCurve()
        began = saved = time.monotonic()
        try:
            for _ in track(self.take_steps(), "training, steps", self.steps - len(self.losses)):
                picture.show(self.losses)
                if time.monotonic() - saved > 30:  # so that a crash costs half a minute, too
                    saved = time.monotonic()
                    self.save()
                if seconds is not None and time.monotonic() - began > seconds:
                    break
        finally:
            self.save()
            picture.show(self.losses, last=True)
        if self.stopping:
            steps = f"{len(self.losses):,} of {self.steps:,}"
            print(f"Stopped after step {steps}; run it again to go on from there.")
        return self


class _LiveCurve:
    """A picture of the losses that is drawn again every two seconds, in a notebook only."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.drawn = time.monotonic()

    def show(self, losses: Sequence[float], last: bool = False) -> None:
        if not in_notebook() or not losses or (not last and time.monotonic() - self.drawn < 2):
            return
        import matplotlib.pyplot as plt
        from IPython.display import display

        figure = draw_curve(losses)
        if self.handle is None:
            self.handle = display(figure, display_id=True)
        else:
            drawn_again(figure)
            self.handle.update(figure)
        plt.close(figure)
        self.drawn = time.monotonic()


def draw_curve(losses: Sequence[float]) -> Any:
    """The loss of each step, pale, and its running mean over 20 steps; returns the figure."""
    import matplotlib.pyplot as plt
    import numpy as np

    from coursekit.figures import BLUE, SKY

    figure, ax = plt.subplots(figsize=(7.2, 3))
    width = min(20, len(losses))
    ax.plot(range(1, len(losses) + 1), losses, color=SKY, lw=0.8)
    ax.plot(range(width, len(losses) + 1), np.convolve(losses, np.ones(width) / width, "valid"), color=BLUE)
    ax.set(xlabel="step", ylabel="loss for each word", ylim=(0, None))
    ax.set_title(f"The loss has come down from {losses[0]:.1f} to {np.mean(losses[-width:]):.2f}")
    return figure
