"""The training loop of lab 12's translator, in the lab and on real sentences. It can be stopped and resumed.

The checkpoint contains the optimizer, the random state and the position in the order of batches, so an interrupted run has
the same losses as an uninterrupted one.
"""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.errors import UserError
from coursekit.translator.files import load_tensors, save_tensors

__all__ = ["Curve", "TrainingLoop", "fresh"]


def fresh(model: nn.Module) -> nn.Module:
    """Initialise every matrix except the embeddings like Glorot and Bengio (2010), so that signals keep their size."""
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "embedding" not in name:
            nn.init.xavier_uniform_(weight)
    return model


@dataclass
class Curve:
    """The record of a run: the loss of each step, the number of target tokens, and the seconds of its steps."""

    losses: list[float] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0


class TrainingLoop:
    """Takes training steps over epochs, each with its own shuffle.

    A subclass defines the batches of an epoch, the step on a batch, the progress of the run, and the learning rate. ``plan``
    contains all values that determine the run: a checkpoint of another plan is refused. ``optimizer`` holds the parameters of
    ``model``, ``more`` further content of a checkpoint. A loss may still be under way on a GPU: the loop waits only every
    hundredth step.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        plan: dict[str, Any],
        checkpoint: Path | None,
        optimizer: torch.optim.Optimizer,
        more: dict[str, Any] | None = None,
    ):
        self.model, self.optimizer, self.recipe, self.checkpoint = model, optimizer, plan, checkpoint
        self.more = more or {}
        self.device = next(model.parameters()).device
        self.curve = Curve()
        self.epoch = self.batch = 0
        self.stopping = False
        self._under_way: list[Tensor] = []
        self._held: tuple[int, Sequence[Any]] | None = None
        self.steps: int = plan["epochs"] * len(self._batches_of_epoch())
        self.resume()

    def batches_of(self, rng: random.Random) -> Sequence[Any]:
        """The batches of an epoch, shuffled by ``rng``."""
        raise NotImplementedError

    def learn_from(self, batch: Any) -> Tensor:
        """Take one training step at the rate ``self.rate``. Returns the loss before it."""
        raise NotImplementedError

    @property
    def taken(self) -> int:
        """The number of steps taken."""
        return len(self.curve.losses) + len(self._under_way)

    @property
    def losses(self) -> list[float]:
        """The loss of each step taken."""
        self._wait()
        return self.curve.losses

    def _wait(self) -> None:
        """Wait for the losses that are under way."""
        if self._under_way:
            self.curve.losses += torch.stack(self._under_way).tolist()
            self._under_way.clear()

    @property
    def progress(self) -> float:
        """The share of the plan that is done, 0 to 1."""
        return self.taken / self.steps

    @property
    def rate(self) -> float:
        """The learning rate of the next step: rising for ``warm_up`` steps, then falling linearly to 0."""
        return float(self.recipe["rate"] * min((self.taken + 1) / self.recipe["warm_up"], 1 - self.progress))

    def take_steps(self) -> Iterator[int]:
        """Take steps until the plan is done or a signal asks to stop. Yields the number of steps so far.

        Ctrl-C or SIGTERM stops after the current step, a second one at once. The clock counts only steps and the making of
        batches.
        """
        self.model.train()
        try:
            with _stopped_between_steps(self):
                while self.progress < 1 and not self.stopping:
                    began = time.perf_counter()
                    batches = self._batches_of_epoch()
                    self._under_way.append(self.learn_from(batches[self.batch]))
                    self.batch += 1
                    if self.batch == len(batches):
                        self.epoch, self.batch = self.epoch + 1, 0
                    if len(self._under_way) == 100:
                        self._wait()
                    self.curve.seconds += time.perf_counter() - began
                    yield self.taken
        finally:
            began = time.perf_counter()
            self._wait()
            self.curve.seconds += time.perf_counter() - began
            self.model.eval()

    def _batches_of_epoch(self) -> Sequence[Any]:
        """This epoch's batches, which are the same after a restart."""
        if self._held is None or self._held[0] != self.epoch:
            rng = random.Random(1000 * self.recipe["seed"] + self.epoch)
            self._held = (self.epoch, self.batches_of(rng))
        return self._held[1]

    def save(self) -> None:
        """Write the checkpoint, completely or not at all."""
        self._wait()
        if self.checkpoint is None:
            return
        state: dict[str, Any] = {
            **self.more,
            "plan": self.recipe,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "curve": asdict(self.curve),
            "epoch": self.epoch,
            "batch": self.batch,
        }
        if self.device.type == "cuda":  # dropout on a GPU has its own random numbers
            state["random_on_gpu"] = torch.cuda.get_rng_state(self.device)
        save_tensors(state, self.checkpoint)

    def resume(self) -> None:
        """Resume from the checkpoint, if there is one. Raises UserError if it has another plan."""
        if self.checkpoint is None or not self.checkpoint.is_file():
            return
        state = load_tensors(self.checkpoint, self.device)
        if state["plan"] != self.recipe:
            raise UserError(f"{self.checkpoint} belongs to another plan: choose another place, or remove it.")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"].cpu())
        if self.device.type == "cuda" and "random_on_gpu" in state:
            torch.cuda.set_rng_state(state["random_on_gpu"].cpu(), self.device)
        self.curve = Curve(**state["curve"])
        self.epoch, self.batch = state["epoch"], state["batch"]


@contextlib.contextmanager
def _stopped_between_steps(loop: TrainingLoop) -> Iterator[None]:
    """In the block, Ctrl-C and SIGTERM stop the loop after its step; a second signal acts at once."""
    loop.stopping = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if loop.stopping:
            raise KeyboardInterrupt
        loop.stopping = True

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
