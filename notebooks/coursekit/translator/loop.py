"""The training loop of lab 12's translator, in the lab and on real sentences: it can be stopped, and goes on as if it had not.

The optimizer, the random numbers and the position in the order of batches are in the checkpoint, so a run that was
interrupted has the same losses as one that was not.
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
    """Draw every matrix but the embeddings anew as Glorot and Bengio do (2010): signals keep their size."""
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "embedding" not in name:
            nn.init.xavier_uniform_(weight)
    return model


@dataclass
class Curve:
    """What a run has seen: the loss of each step, target tokens, and the seconds of its steps."""

    losses: list[float] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0


class TrainingLoop:
    """Step after step, over epochs that each have their own shuffle.

    A subclass says what the batches of an epoch are, what is learned from one, how far the run is, and how fast it learns.
    ``plan`` is what decides all of it, as plain values: a checkpoint of another plan is refused. ``optimizer`` holds
    ``model``'s parameters, ``more`` what a checkpoint holds besides. A loss may still be under way on a GPU: it is waited
    for every hundredth step only.
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
        """Predict, compare, go downhill, at the rate ``self.rate``; the loss before it."""
        raise NotImplementedError

    @property
    def taken(self) -> int:
        """How many steps have been taken."""
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
        """How much of the plan is done, 0 to 1."""
        return self.taken / self.steps

    @property
    def rate(self) -> float:
        """The learning rate of the next step: up for ``warm_up`` steps, and down to 0 in a straight line."""
        return float(self.recipe["rate"] * min((self.taken + 1) / self.recipe["warm_up"], 1 - self.progress))

    def take_steps(self) -> Iterator[int]:
        """One step after another, until the plan is done or someone asks to stop; yields the number of steps so far.

        Ctrl-C (and a request to end) waits for the step to be whole; a second one does not. The clock counts steps
        and the making of batches, and nothing else.
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
        """This epoch's batches: the same ones after a restart."""
        if self._held is None or self._held[0] != self.epoch:
            rng = random.Random(1000 * self.recipe["seed"] + self.epoch)
            self._held = (self.epoch, self.batches_of(rng))
        return self._held[1]

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
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
        if self.device.type == "cuda":  # there, dropout has random numbers of its own
            state["random_on_gpu"] = torch.cuda.get_rng_state(self.device)
        save_tensors(state, self.checkpoint)

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one. UserError when it is of another plan."""
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
    """While this lasts, Ctrl-C and SIGTERM ask the loop to stop after its step; asked twice, they act at once."""
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
