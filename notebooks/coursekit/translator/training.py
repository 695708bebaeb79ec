"""Trains lab 12's translator: a bar, a curve that grows, and a checkpoint that Ctrl-C leaves behind."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursekit.data.vocabulary import PAD, MakeBatch, Pair
from coursekit.figures import drawn_again
from coursekit.notebook.cards import in_notebook
from coursekit.notebook.progress import track
from coursekit.translator.batches import bucketed

__all__ = ["Training", "draw_curve", "fresh"]


def fresh(model: nn.Module) -> nn.Module:
    """Draw every matrix but the embeddings anew as Glorot and Bengio do (2010): signals keep their size."""
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "embedding" not in name:
            nn.init.xavier_uniform_(weight)
    return model


class Training:
    """A training run that can be stopped and goes on where it stopped.

    The plan is fixed at the start: ``epochs`` over ``pairs`` in batches of ``size``; the learning rate climbs to
    ``rate`` for ``warm_up`` steps and then falls to 0 in a straight line; ``decay`` times the rate of every weight is
    taken off at each step (AdamW, Loshchilov and Hutter 2019), without which half as many epochs learn less of
    combinations that were never seen. ``checkpoint`` is a file; when it exists and belongs to the same plan,
    training resumes from it.
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
        self.model, self.make_batch, self.pairs = model, make_batch, pairs
        self.size, self.rate, self.warm_up, self.seed = size, rate, warm_up, seed
        self.optimiser = torch.optim.AdamW(
            model.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9, weight_decay=decay, fused=True
        )
        self.loss = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=smoothing)
        self.steps_an_epoch = len(bucketed(pairs, size, random.Random(seed)))
        self.steps = epochs * self.steps_an_epoch
        self.plan = [len(pairs), epochs, size, rate, warm_up, decay, smoothing, seed]
        self.losses: list[float] = []
        self.seconds = 0.0
        self.checkpoint = Path(checkpoint) if checkpoint else None
        self._resume()

    @property
    def finished(self) -> bool:
        return len(self.losses) >= self.steps

    def run(self, seconds: float | None = None) -> Training:
        """Train to the end of the plan, for so many ``seconds``, or until Ctrl-C (or the stop button)."""
        began, curve = time.monotonic(), _LiveCurve()
        saved = began
        self.model.train()
        try:
            for number in track(range(len(self.losses), self.steps), "training, steps"):
                self._step(number)
                curve.show(self.losses)
                if time.monotonic() - saved > 30:  # so that a crash costs half a minute, too
                    saved = time.monotonic()
                    self._save()
                if seconds is not None and time.monotonic() - began > seconds:
                    break
        except KeyboardInterrupt:
            print(
                f"Stopped after step {len(self.losses):,} of {self.steps:,}; run it again to go on from there."
            )
        finally:
            self.seconds += time.monotonic() - began
            self.model.eval()
            self._save()
            curve.show(self.losses, last=True)
        return self

    def _step(self, number: int) -> None:
        """One batch: predict, compare, go downhill. A step that Ctrl-C cuts short does not count."""
        source, given, wanted = self.make_batch(self._batch(number))
        self.optimiser.param_groups[0]["lr"] = self.rate * min(
            (number + 1) / self.warm_up, (self.steps - number) / max(1, self.steps - self.warm_up)
        )
        loss = self.loss(self.model(source, given).flatten(0, 1), wanted.flatten())
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.losses.append(loss.item())

    def _batch(self, number: int) -> list[Pair]:
        """Batch ``number`` of the plan: each epoch has its own shuffle, the same one after a restart."""
        epoch, place = divmod(number, self.steps_an_epoch)
        if getattr(self, "_epoch", None) != epoch:
            self._epoch = epoch
            self._batches = bucketed(self.pairs, self.size, random.Random(1000 * self.seed + epoch))
        return self._batches[place]

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        state: dict[str, Any] = {
            "plan": self.plan,
            "losses": self.losses,
            "seconds": self.seconds,
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
        }
        beside = self.checkpoint.with_suffix(".part")
        torch.save(state, beside)
        beside.replace(self.checkpoint)  # whole or not at all

    def _resume(self) -> None:
        if self.checkpoint is None or not self.checkpoint.is_file():
            return
        state = torch.load(self.checkpoint, weights_only=True)
        if state["plan"] != self.plan:
            return
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.losses, self.seconds = list(state["losses"]), state["seconds"]
        print(f"Going on from step {len(self.losses):,} of {self.steps:,}.")


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
