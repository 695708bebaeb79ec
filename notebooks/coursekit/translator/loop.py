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
    """What a run has seen: the loss of each step, target tokens, and the seconds of its steps."""

    losses: list[float] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0


class TrainingLoop:
    """Step after step, over epochs that each have their own shuffle.

    A subclass says what the batches of an epoch are, and what is learned from one. ``plan`` is what decides it all, as
    plain values: a checkpoint of another plan is refused. ``optimizer`` holds ``model``'s parameters, ``more`` what a
    checkpoint holds besides. A loss may still be under way on a GPU: it is waited for every hundredth step only.
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
        """Predict, compare, go downhill; the loss before it."""
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
        """Wait for the losses that are under way, on the clock."""
        began = time.perf_counter()
        if self._under_way:
            self.curve.losses += torch.stack(self._under_way).tolist()
            self._under_way.clear()
        self.curve.seconds += time.perf_counter() - began

    @property
    def progress(self) -> float:
        """How much of the plan is done, 0 to 1."""
        return self.taken / self.steps

    @property
    def finished(self) -> bool:
        """Whether the plan is done."""
        return self.progress >= 1

    def take_steps(self) -> Generator[int, None, None]:
        """One step after another, until the plan is done or someone asks to stop; yields the number of steps so far.

        Ctrl-C (and a request to end) waits for the step to be whole; a second one does not. The clock counts steps
        and the making of batches, and nothing else. A checkpoint is written every half minute, and at the end.
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
        """This epoch's batches: the same ones after a restart."""
        self._batches = self.batches_of(random.Random(1000 * self.recipe["seed"] + self.epoch))

    def _save(self) -> None:
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

    def _resume(self, checkpoint: Path) -> None:
        """Go on from the checkpoint. UserError when it is of another plan."""
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
