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
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.errors import UserError
from coursekit.translator.model import load_tensors, save_tensors


@dataclass
class Curve:
    """The record of a run: the loss of each step, the number of target tokens, and the seconds of its steps."""

    losses: list[float] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0


class TrainingLoop:
    """Takes training steps over epochs, each with its own shuffle.

    A subclass defines the batches of an epoch and the step on one batch. ``plan`` contains all settings as plain values:
    a checkpoint of another plan is refused. ``optimizer`` has ``model``'s parameters, ``more`` is saved in checkpoints,
    too. A GPU may still be computing a loss: the loop waits for losses only at every hundredth step.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        plan: dict[str, Any],
        checkpoint: Path | None,
        **more: Any,
    ):
        self.model, self.optimizer, self.recipe, self.checkpoint = model, optimizer, plan, checkpoint
        self.more = more
        self.device = next(model.parameters()).device
        self.curve = Curve()
        self.epoch = self.batch = 0
        self.stopping = False
        self._under_way: list[Tensor] = []
        self._shuffle()
        self.steps: int = plan["epochs"] * len(self._batches)
        if checkpoint and checkpoint.is_file():
            self._resume(checkpoint)

    def batches_of(self, rng: random.Random) -> Sequence[Any]:
        """The batches of an epoch, shuffled by ``rng``."""
        raise NotImplementedError

    def learn_from(self, batch: Any) -> Tensor:
        """Take one step, and return the loss before it."""
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
        """Wait for the pending losses; the wait counts as training time."""
        began = time.perf_counter()
        if self._under_way:
            self.curve.losses += torch.stack(self._under_way).tolist()
            self._under_way.clear()
        self.curve.seconds += time.perf_counter() - began

    @property
    def progress(self) -> float:
        """The share of the plan that is done, 0 to 1."""
        return self.taken / self.steps

    @property
    def finished(self) -> bool:
        """Whether the plan is done."""
        return self.progress >= 1

    def take_steps(self) -> Generator[int, None, None]:
        """Take steps until the plan is done or a signal asks to stop. Yields the number of steps so far.

        Ctrl-C or SIGTERM stops after the current step, a second one at once. The clock counts only steps and the making of
        batches. A checkpoint is written every half minute, and at the end.
        """
        self.model.train()
        saved = time.monotonic()
        try:
            with _stopped_between_steps(self):
                while not self.finished and not self.stopping:
                    began = time.perf_counter()
                    self._under_way.append(self.learn_from(self._batches[self.batch]))
                    self.batch += 1
                    if self.batch == len(self._batches):
                        self.epoch, self.batch = self.epoch + 1, 0
                        self._shuffle()
                    self.curve.seconds += time.perf_counter() - began
                    if len(self._under_way) == 100:
                        self._wait()
                    if time.monotonic() - saved > 30:
                        self._save()
                        saved = time.monotonic()
                    yield self.taken
        finally:
            self._save()
            self.model.eval()

    def _shuffle(self) -> None:
        """This epoch's batches, which are the same after a restart."""
        self._batches = self.batches_of(random.Random(1000 * self.recipe["seed"] + self.epoch))

    def _save(self) -> None:
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

    def _resume(self, checkpoint: Path) -> None:
        """Resume from the checkpoint. Raises ``UserError`` if it belongs to another plan."""
        state = load_tensors(checkpoint, self.device)
        if state["plan"] != self.recipe:
            raise UserError(f"{checkpoint} belongs to another plan: choose another place, or remove it.")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"].cpu())
        if "random_on_gpu" in state and self.device.type == "cuda":
            torch.cuda.set_rng_state(state["random_on_gpu"].cpu(), self.device)
        self.curve = Curve(**state["curve"])
        self.epoch, self.batch = state["epoch"], state["batch"]
        self._shuffle()


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
