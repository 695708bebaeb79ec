"""Trains lab 12's transformer on real sentences, with each run in its own folder.

The folder contains ``checkpoint.pt`` with the plan, the subwords and the curve. On a GPU, a step is some hundreds of
small kernels, and Python needs longer to launch them than the GPU to run them: a CUDA graph launches all at once. A
graph is for one shape of batch, so graphs save time if there are few shapes.
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
from coursekit.errors import UserError
from coursekit.translator.batches import Cut, PaddedPairs
from coursekit.translator.loop import TrainingLoop
from coursekit.translator.model import fast_path
from coursekit.translator.plan import Plan
from coursekit.translator.subwords import Subwords

#: A batch and the label smoothing → the mean loss of its target tokens.
Loss = Callable[[Batch, float], Tensor]
#: A batch → its loss before the step. The step may still be running on the GPU.
Step = Callable[[Batch], Tensor]
#: A step and a batch → a function that repeats the step on the batch's current values, and the tensor for its loss.
Record = Callable[[Step, Batch], tuple[Callable[[], None], Tensor]]
#: The widths of batches on a GPU are multiples of this: Multi30k has 13 shapes, and a seventh of each batch is padding.
GPU_STEP = 4


def optimizer_of(model: nn.Module, plan: Plan) -> torch.optim.AdamW:
    """AdamW whose learning rate is a tensor on the model's device, so that a graph reads it in each step."""
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


def recorded(step: Step, record: Record) -> Step:
    """``step``, recorded at a batch shape's second use and replayed from then on.

    The first use runs unrecorded, because PyTorch creates some of its state only then.
    """
    seen: set[torch.Size] = set()
    known: dict[torch.Size, tuple[Batch, Callable[[], None], Tensor]] = {}

    def take(batch: Batch) -> Tensor:
        shape = batch[0].shape + batch[2].shape
        if shape not in seen:
            seen.add(shape)
            return step(batch)
        if shape not in known:
            source, decoder_input, labels = batch
            own = (source.clone(), decoder_input.clone(), labels.clone())
            known[shape] = (own, *record(step, own))
        inputs, replay, loss = known[shape]
        for kept, given in zip(inputs, batch, strict=True):
            kept.copy_(given)
        replay()
        return loss.clone()

    return take


def recorded_on_gpu(step: Step) -> Step:
    """``step``, recorded as CUDA graphs that share memory. It gives this thread its own stream.

    (The default stream cannot be recorded.) Raises ``UserError`` if a shape cannot be recorded.
    """
    stream, pool = torch.cuda.Stream(), torch.cuda.graph_pool_handle()
    stream.wait_stream(torch.cuda.current_stream())
    torch.cuda.set_stream(stream)

    def record(step: Step, batch: Batch) -> tuple[Callable[[], None], Tensor]:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                loss = step(batch)
        except RuntimeError as error:
            raise UserError(f"This GPU cannot record the step: train with --no-graphs ({error}).") from None
        return graph.replay, loss

    return recorded(step, record)


class Run(TrainingLoop):
    """A training run in its own folder. With ``graphs``, steps on a GPU are recorded as CUDA graphs."""

    say_every = 10.0  # seconds

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
        super().__init__(model, optimizer, asdict(plan), folder / "checkpoint.pt", subwords=subwords.state)
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
    def rate(self) -> float:
        """The learning rate of the next step: it rises for ``warm_up`` steps, then falls linearly to 0."""
        return self.plan.rate * min((self.taken + 1) / self.plan.warm_up, 1 - self.progress)

    @property
    def progress(self) -> float:
        """The share of the plan that is done, 0 to 1, by steps, time or target tokens, whichever is largest."""
        by_time = self.curve.seconds / (60 * self.plan.minutes) if self.plan.minutes else 0.0
        by_tokens = self.curve.tokens / self.plan.tokens if self.plan.tokens else 0.0
        return min(1.0, max(super().progress, by_time, by_tokens))

    def go(self, report: Callable[[str], None] = print) -> Run:
        """Train to the plan's end, or until Ctrl-C, and write a checkpoint. Every sixth line reports the validation loss."""
        if self.finished:
            return self
        report("Training. Ctrl-C stops it after its step; the same command goes on.")
        lines, said = 0, time.monotonic()
        for _ in self.take_steps():
            if time.monotonic() - said > self.say_every:
                lines += 1
                report(self._line(measured=lines % 6 == 0))
                said = time.monotonic()
        if self.finished:
            report(self._line(measured=True))
        elif self.stopping:
            report(f"Stopped after step {self.taken:,} of {self.steps:,}; the same command goes on.")
        return self

    @torch.no_grad()
    def validation_loss(self) -> float:
        """The mean loss per validation token, without smoothing and dropout."""
        self.model.eval()
        total, tokens = torch.zeros((), device=self.device), 0
        for cut in self.validation.cuts(4000, random.Random(0)):
            total += self.loss(self.validation.batch(cut), 0.0) * cut.tokens
            tokens += cut.tokens
        self.model.train()
        return float(total) / max(1, tokens)

    def _line(self, measured: bool) -> str:
        curve, last = self.curve, self.curve.losses[-100:]
        validation = f", validation {self.validation_loss():.3f}" if measured else ""
        return (
            f"{100 * self.progress:3.0f} %  {curve.seconds / 60:5.1f} min  step {self.taken:,}  "
            f"{curve.tokens / max(curve.seconds, 1e-9):,.0f} target tokens/s  loss {sum(last) / max(1, len(last)):.3f}"
            f"{validation}"
        )
