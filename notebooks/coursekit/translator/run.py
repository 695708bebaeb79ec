"""Trains lab 12's transformer on real sentences: the plan, the batches, the run that can be interrupted, its folder.

A run's folder holds ``plan.json``, ``subwords.json``, ``checkpoint.pt``, ``curve.json`` and ``curve.png``. Each is
written whole or not at all. A run goes on where it stopped, to the same curve: the optimiser, the random numbers and
the place in the order of batches are in the checkpoint.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursekit import data
from coursekit.data import parallel
from coursekit.data.vocabulary import PAD, Batch, Pair
from coursekit.errors import UserError
from coursekit.hardware import allow_sixteen_bits
from coursekit.translator.muon import Muon, inner_matrices
from coursekit.translator.subwords import Subwords, write_atomically
from coursekit.translator.training import fresh

__all__ = ["DIRECTIONS", "Plan", "Run", "batches", "build_model", "padded", "sentences", "tie"]

OPTIMISERS = ("adamw", "muon")
DIRECTIONS = ("de-en", "en-de", "both")
CORPORA = ("multi30k", "tatoeba", "built-in")
#: Source and target sentences may have so many tokens: lab 12's table of positions has 64 rows.
LONGEST = 63

Losses = Callable[[Batch, float], Tensor]


@dataclass(frozen=True)
class Plan:
    """Everything that decides what a training run does.

    ``minutes`` and ``tokens`` (target tokens; 0: no limit) end it before ``epochs`` do, and the rate is 0 by then.
    """

    corpus: str = "multi30k"
    direction: str = "de-en"
    lower: bool = True
    vocabulary: int = 4000
    d_model: int = 192
    heads: int = 4
    d_ff: int = 768
    layers: int = 2
    dropout: float = 0.1
    epochs: int = 15
    minutes: float = 0.0
    tokens: int = 0
    batch_tokens: int = 1000
    optimiser: str = "adamw"  # or "muon": Muon for the matrices inside, AdamW for all else
    rate: float = 2e-3
    warm_up: int = 300
    smoothing: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 0
    pairs: int = 0  # 0: all
    without: tuple[str, ...] = ()  # ways to save work that are off; see Steps

    @property
    def sizes(self) -> dict[str, int]:
        """The arguments of ``Transformer`` after the two vocabulary sizes."""
        return {"d_model": self.d_model, "heads": self.heads, "d_ff": self.d_ff, "layers": self.layers}


def sentences(corpus: str, split: str, direction: str) -> list[tuple[str, str]]:
    """(source, target) sentences of ``train``, ``validation`` or ``test``; ``both`` gives each pair twice."""
    if corpus == "built-in":
        names = {"train": "train", "validation": "valid", "test": "test_sentences"}
        pairs = parallel.load(names[split])
    else:
        pairs = data.load(corpus, split)
    turned = [(german, english) for english, german in pairs]
    return {"en-de": pairs, "de-en": turned, "both": [*pairs, *turned]}[direction]


def numbered(subwords: Subwords, pairs: Sequence[tuple[str, str]], direction: str) -> list[Pair]:
    """Sentences as subword numbers. With ``both``, a tag before the source says into which language.

    The first half of the pairs of ``both`` is English to German, as ``sentences`` gives them.
    """
    sources, targets = (subwords.encode([pair[side] for pair in pairs]) for side in (0, 1))
    if direction == "both":
        half = len(pairs) // 2
        sources = [
            [subwords.tag("de" if number < half else "en"), *source] for number, source in enumerate(sources)
        ]
    return list(zip(sources, targets, strict=True))


def batches(
    pairs: Sequence[Pair], tokens: int, rng: random.Random, like_length: bool = True
) -> list[list[Pair]]:
    """Batches of at most ``tokens`` places on either side, in random order.

    Sorted by source and then by target length, up and down in turn, so that neighbours have nearly the same lengths
    and a batch has nearly no padding; pairs with the same lengths are shuffled anew each time.
    """
    order = rng.sample(list(pairs), len(pairs))
    if like_length:
        order.sort(key=lambda pair: (len(pair[0]), len(pair[1]) * (1 if len(pair[0]) % 2 else -1)))
    found: list[list[Pair]] = []
    batch: list[Pair] = []
    width = 0
    for pair in order:
        width = max(width, len(pair[0]), len(pair[1]) + 1)
        if batch and width * (len(batch) + 1) > tokens:
            found.append(batch)
            batch, width = [], max(len(pair[0]), len(pair[1]) + 1)
        batch.append(pair)
    if batch:
        found.append(batch)
    rng.shuffle(found)
    return found


def padded(batch: Batch) -> float:
    """The share of a batch's places that are padding."""
    places = [batch[0], batch[2]]
    return 1 - sum(int(part.ne(PAD).sum()) for part in places) / sum(part.numel() for part in places)


def tie(model: Any) -> Any:
    """One table for both languages, which share their subwords; nothing else of the model changes."""
    model.source_embedding = model.target_embedding
    return model


def build_model(build: Callable[..., nn.Module], size: int, plan: Plan) -> nn.Module:
    """A fresh model of the class ``build`` for a shared vocabulary of ``size``."""
    torch.manual_seed(plan.seed)
    return fresh(tie(build(size, size, **plan.sizes, dropout=plan.dropout)))


def optimisers(model: nn.Module, plan: Plan) -> list[torch.optim.Optimizer]:
    """AdamW for all that is learned; or Muon for the matrices inside, and AdamW for tables, biases and norms."""
    inner = inner_matrices(model) if plan.optimiser == "muon" else []
    chosen = {id(parameter) for parameter in inner}
    adamw = torch.optim.AdamW(
        [parameter for parameter in model.parameters() if id(parameter) not in chosen],
        lr=plan.rate,
        betas=(0.9, 0.98),
        weight_decay=plan.weight_decay,
        fused="optimiser" not in plan.without,
    )
    if not inner:
        return [adamw]
    device = inner[0].device.type
    sixteen = "bfloat16" not in plan.without and allow_sixteen_bits(device)
    dtype = torch.bfloat16 if sixteen else torch.float32
    return [Muon(inner, plan.rate, plan.weight_decay, dtype=dtype), adamw]


@dataclass
class Curve:
    """What a run has seen: losses by step, and what was measured on the way (step, tokens, seconds, …)."""

    losses: list[float] = field(default_factory=list)
    measured: list[dict[str, float]] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0


class Run:
    """A training run in its folder. ``losses`` of a batch are computed by ``loss``, on ``model``'s parameters."""

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        model: nn.Module,
        make_batch: Callable[[list[Pair]], Batch],
        loss: Losses,
        train: Sequence[Pair],
        validation: Sequence[Pair],
        *,
        measure: Callable[[], dict[str, float]] | None = None,
        measure_every: float = 60.0,
        save_every: float = 60.0,
    ):
        self.folder, self.plan, self.model, self.loss = folder, plan, model, loss
        self.make_batch, self.train = make_batch, _short_enough(train)
        self.validation = _short_enough(validation)
        self.measure, self.measure_every, self.save_every = measure, measure_every, save_every
        self.device = next(model.parameters()).device
        self.optimisers = optimisers(model, plan)
        self.curve = Curve()
        self.epoch = self.place = 0
        self.asked_to_stop = False
        self.steps = plan.epochs * len(self._epoch_batches(0))
        self._resume()

    @property
    def progress(self) -> float:
        """How much of the plan is done, 0 to 1."""
        by_time = self.curve.seconds / (60 * self.plan.minutes) if self.plan.minutes else 0.0
        by_tokens = self.curve.tokens / self.plan.tokens if self.plan.tokens else 0.0
        return min(1.0, max(len(self.curve.losses) / self.steps, by_time, by_tokens))

    @property
    def rate(self) -> float:
        """The learning rate of the next step: up for ``warm_up`` steps, and down to 0 in a straight line."""
        return self.plan.rate * min((len(self.curve.losses) + 1) / self.plan.warm_up, 1 - self.progress)

    def go(self, say: Callable[[str], None] = print, stop_after: int | None = None) -> Run:
        """Train to the plan's end, or to step ``stop_after``, or until Ctrl-C; a checkpoint is always left.

        Ctrl-C (and a request to end) waits for the step to be whole; a second one does not.
        """
        if self.progress >= 1:
            return self
        with _stopped_between_steps(self):
            say("Training. Ctrl-C stops it after its step; the same command goes on.")
            return self._train(say, stop_after)

    def _train(self, say: Callable[[str], None], stop_after: int | None) -> Run:
        said = saved = time.monotonic()
        measured = self.curve.measured[-1]["seconds"] if self.curve.measured else 0.0
        self.model.train()
        try:
            for step in self._steps():
                if self.asked_to_stop or (stop_after is not None and step >= stop_after):
                    break
                now = time.monotonic()
                if self.curve.seconds - measured > self.measure_every:
                    measured = self.curve.seconds
                    say(self._measure())
                elif now - said > 10:
                    said = now
                    say(self._line())
                if now - saved > self.save_every:
                    saved = now
                    self.save()
            if self.progress >= 1:
                if not self.curve.measured or self.curve.measured[-1]["step"] < len(self.curve.losses):
                    say(self._measure())
            elif self.asked_to_stop:
                say(
                    f"Stopped after step {len(self.curve.losses):,} of {self.steps:,}; the same command goes on."
                )
        finally:
            self.model.eval()
        self.save()
        return self

    def _steps(self) -> Iterator[int]:
        """Make one step after another; the clock counts them and the making of batches, and nothing else."""
        while self.progress < 1:
            began = time.perf_counter()
            chosen = self._epoch_batches(self.epoch)
            self.curve.seconds += time.perf_counter() - began
            while self.place < len(chosen) and self.progress < 1:
                began = time.perf_counter()
                self._step(chosen[self.place])
                self.place += 1
                self.curve.seconds += time.perf_counter() - began
                yield len(self.curve.losses)
            if self.place >= len(chosen):
                self.epoch, self.place = self.epoch + 1, 0

    def _step(self, pairs: list[Pair]) -> None:
        batch = self.make_batch(pairs)
        loss = self.loss(self._moved(batch), self.plan.smoothing)
        self.model.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
        rate = self.rate
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.step()
        self.curve.tokens += int(batch[2].ne(PAD).sum())
        self.curve.losses.append(float(loss.detach()))

    def _moved(self, batch: Batch) -> Batch:
        source, given, wanted = (part.to(self.device, non_blocking=True) for part in batch)
        return source, given, wanted

    def _epoch_batches(self, epoch: int) -> list[list[Pair]]:
        """The batches of an epoch: each has its own shuffle, the same one after a restart."""
        if getattr(self, "_held", (None, None))[0] != epoch:
            rng = random.Random(1000 * self.plan.seed + epoch)
            like_length = "buckets" not in self.plan.without
            self._held = (epoch, batches(self.train, self.plan.batch_tokens, rng, like_length))
        return self._held[1]

    def validation_loss(self) -> float:
        """The mean loss of a validation token, without smoothing and dropout."""
        was_training, total, tokens = self.model.training, 0.0, 0
        self.model.eval()
        with torch.no_grad():
            for pairs in batches(self.validation, 4000, random.Random(0)):
                batch = self.make_batch(pairs)
                real = int(batch[2].ne(PAD).sum())
                total, tokens = total + float(self.loss(self._moved(batch), 0.0)) * real, tokens + real
        self.model.train(was_training)
        return total / max(1, tokens)

    def _measure(self) -> str:
        """Note the validation loss, and what else is measured, on the curve; the line to show."""
        state = torch.get_rng_state()  # measuring draws nothing from the training's random numbers
        row: dict[str, float] = {
            "step": len(self.curve.losses),
            "tokens": self.curve.tokens,
            "seconds": round(self.curve.seconds, 2),
            "training_loss": _mean(self.curve.losses[-100:]),
            "validation_loss": self.validation_loss(),
        }
        if self.measure is not None:
            row |= self.measure()
            self.model.train()
        torch.set_rng_state(state)
        self.curve.measured.append(row)
        more = "".join(
            f", {key} {value:.1f}" for key, value in row.items() if key.startswith(("BLEU", "chrF"))
        )
        return f"{self._line()}, validation {row['validation_loss']:.3f}{more}"

    def _line(self) -> str:
        curve = self.curve
        return (
            f"{100 * self.progress:3.0f} %  {curve.seconds / 60:5.1f} min  step {len(curve.losses):,}  "
            f"{curve.tokens / max(curve.seconds, 1e-9):,.0f} target tokens/s  loss {_mean(curve.losses[-100:]):.3f}"
        )

    def save(self) -> None:
        """Write the checkpoint and the curve, each whole or not at all."""
        state: dict[str, Any] = {
            "plan": asdict(self.plan),
            "model": self.model.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "random": torch.get_rng_state(),
            "curve": asdict(self.curve),
            "epoch": self.epoch,
            "place": self.place,
        }
        if self.device.type == "cuda":  # there, dropout has random numbers of its own
            state["random_on_gpu"] = torch.cuda.get_rng_state(self.device)
        save_tensors(state, self.folder / "checkpoint.pt")
        write_atomically(self.folder / "curve.json", json.dumps(asdict(self.curve)))

    def _resume(self) -> None:
        file = self.folder / "checkpoint.pt"
        if not file.is_file():
            return
        state = load_tensors(file, self.device)
        if plan_of(state["plan"]) != self.plan:
            raise UserError(
                f"{self.folder} holds a run with another plan: choose another folder, or remove it."
            )
        if "optimisers" not in state:
            raise UserError(f"{file} is of another version of the course, which cannot go on with it.")
        self.model.load_state_dict(state["model"])
        for optimiser, stored in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(stored)
        torch.set_rng_state(state["random"].cpu())
        if self.device.type == "cuda" and "random_on_gpu" in state:
            torch.cuda.set_rng_state(state["random_on_gpu"].cpu(), self.device)
        self.curve = Curve(**state["curve"])
        self.epoch, self.place = state["epoch"], state["place"]


@contextlib.contextmanager
def _stopped_between_steps(run: Run) -> Iterator[None]:
    """While this lasts, Ctrl-C and SIGTERM ask the run to stop after its step; asked twice, they act at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: Any) -> None:
        if run.asked_to_stop:
            raise KeyboardInterrupt
        run.asked_to_stop = True

    run.asked_to_stop = False
    for number in before:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def save_tensors(state: dict[str, Any], path: Path) -> None:
    """``torch.save``, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    try:
        torch.save(state, beside)
        os.replace(beside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()


def load_tensors(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """What ``save_tensors`` wrote. A UserError, in one sentence, when the file is damaged or something else."""
    try:
        state = torch.load(path, weights_only=True, map_location=device)
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError):
        raise UserError(f"{path} cannot be read as a checkpoint: it is damaged, or something else.") from None
    if not isinstance(state, dict) or "plan" not in state:
        raise UserError(f"{path} is no checkpoint of a translator.")
    return state


def read_plan(folder: Path) -> Plan:
    """The plan of a run's folder. A UserError, in one sentence, when there is none."""
    file = folder / "plan.json"
    if not file.is_file():
        raise UserError(f"{folder} holds no training run: there is no plan.json.")
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{file} cannot be read as JSON: {error}.") from None
    return plan_of(stored)


def write_plan(folder: Path, plan: Plan) -> None:
    """Note the plan in its folder."""
    write_atomically(folder / "plan.json", json.dumps(asdict(plan), indent=1) + "\n")


def limited(plan: Plan, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first ``plan.pairs`` pairs, of both directions alike; all of them for 0."""
    if not plan.pairs:
        return pairs
    if plan.direction != "both":
        return pairs[: plan.pairs]
    half = len(pairs) // 2
    return [*pairs[:half][: plan.pairs], *pairs[half:][: plan.pairs]]


def draw_curve(curve: Curve, title: str = "") -> Any:
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
    ax.set_title(title or f"The validation loss has come down to {rows[-1]['validation_loss']:.2f}")
    return figure


def _short_enough(pairs: Sequence[Pair]) -> list[Pair]:
    return [(s, t) for s, t in pairs if 0 < len(s) <= LONGEST + 1 and 0 < len(t) <= LONGEST]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def plan_of(stored: Any) -> Plan:
    """The plan from what ``asdict`` and JSON made of it. A UserError where it is not a plan of this version."""
    if not isinstance(stored, dict):
        raise UserError("The run's plan is not a table of names and values.")
    strange = sorted(map(str, stored.keys() - Plan.__dataclass_fields__.keys()))
    if strange:
        raise UserError(
            f"The run was made by another version of the course: its plan has {', '.join(strange)}."
        )
    return Plan(**stored | {"without": tuple(stored.get("without", ()))})


def changed(plan: Plan, **new: Any) -> Plan:
    """The plan with what is not None changed."""
    return replace(plan, **{key: value for key, value in new.items() if value is not None})
