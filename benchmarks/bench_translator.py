"""Times lab 12's transformer on Multi30k beside ``torch.nn.Transformer``, on a GPU where there is one.

All train the same layers on the same batches with the same optimizer, in turns; the median turn counts. How well a model
translates after so many minutes, ``python -m coursekit.translator`` measures (``docs/translator.md``).

Prints a table and writes ``build/bench/translator.json``. Multi30k comes from ``COURSE_DATA_MIRROR`` or the network.
``--plan dropout=0.25 batch_tokens=2000`` tries another plan.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from coursekit.data.vocabulary import PAD, Batch, Pair
from coursekit.hardware import has_fast_bfloat16
from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p10_training import masked_cross_entropy
from coursekit.provided.p12_translator import Transformer, make_batch
from coursekit.provided.p12_translator_fast import FastTransformer
from coursekit.translator.batches import PaddedPairs, numbered, sentences
from coursekit.translator.graphs import Step, recorded_on_gpu
from coursekit.translator.loop import fresh
from coursekit.translator.model import build_model, device_for
from coursekit.translator.plan import Plan, changes, plan_for
from coursekit.translator.run import GPU_STEP, Loss, optimizer_of, step_of
from coursekit.translator.subwords import Subwords
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional as F

BUILD = Path(__file__).resolve().parent.parent / "build" / "bench"
#: Turns of each contender at most; the steps of a turn, and the seconds for all turns, on a processor and on a GPU.
ROUNDS, STEPS, SECONDS = 5, (6, 40), (60, 20)
TITLE = "Target tokens a second, {device}\n{plan}"


class PyTorchs(nn.Module):
    """``torch.nn.Transformer`` with embeddings, positions and tied weights around it, as its users write it."""

    def __init__(self, size: int, plan: Plan):
        super().__init__()
        self.embedding = nn.Embedding(size, plan.d_model)
        nn.init.normal_(self.embedding.weight, std=plan.d_model**-0.5)
        sizes = (plan.d_model, plan.heads, plan.layers, plan.layers, plan.d_ff, plan.dropout)
        self.transformer = nn.Transformer(*sizes, batch_first=True)
        table = torch.as_tensor(sinusoidal(64, plan.d_model), dtype=torch.float32)
        self.register_buffer("positions", table, persistent=False)

    def embed(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) → (B, T, D), with positions."""
        scale = math.sqrt(self.embedding.embedding_dim)
        return self.embedding(tokens) * scale + self.positions[: tokens.shape[1]]

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        """source (B, S), decoder_input (B, T) → logits (B, T, V)."""
        length = decoder_input.shape[1]
        future = torch.ones(length, length, dtype=torch.bool, device=source.device).triu(1)
        y = self.transformer(
            self.embed(source),
            self.embed(decoder_input),
            tgt_mask=future,
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=decoder_input == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        return F.linear(y, self.embedding.weight)


def as_written(model: nn.Module, sixteen_bits: bool = False) -> Loss:
    """The loss by the model's own ``forward``, with PyTorch's own mixed precision or without."""

    def loss(batch: Batch, smoothing: float) -> Tensor:
        source, decoder_input, labels = batch
        with torch.autocast(source.device.type, dtype=torch.bfloat16, enabled=sixteen_bits):
            return masked_cross_entropy(model(source, decoder_input), labels, PAD, smoothing)

    return loss


class Contender:
    """One way to train."""

    def __init__(self, name: str, step: Step, padded: PaddedPairs, plan: Plan):
        self.name, self.step, self.padded = name, step, padded
        self.cuts = padded.cuts(plan.batch_tokens, random.Random(0))[:40]
        self.taken, self.last = 0, math.nan

    def turn(self, steps: int) -> tuple[int, float]:
        """Train on the next batches; their target tokens, and the seconds that it took."""
        tokens, began = 0, time.perf_counter()
        for _ in range(steps):
            cut = self.cuts[self.taken % len(self.cuts)]
            self.taken += 1
            loss = self.step(self.padded.batch(cut))
            tokens += cut.tokens
        self.last = float(loss)  # waits for a GPU
        return tokens, time.perf_counter() - began


def contenders(plan: Plan, size: int, pairs: list[Pair], device: torch.device) -> list[Contender]:
    """All of them, on the same batches."""
    on_gpu, short = device.type == "cuda", has_fast_bfloat16(device.type)
    padded = PaddedPairs(pairs, make_batch, device, step=GPU_STEP if on_gpu else 1)

    def add(name: str, model: nn.Module, loss_of: Callable[[nn.Module], Loss], graphs: bool = False) -> None:
        model = model.to(device).train()
        step = step_of(model, loss_of(model), optimizer_of(model, plan), plan)
        found.append(Contender(name, recorded_on_gpu(step) if graphs else step, padded, plan))

    def ours(**how: bool) -> tuple[nn.Module, Callable[[nn.Module], Loss]]:
        model = build_model(Transformer, size, plan)
        return model, lambda model: FastTransformer(model, plan.heads, plan.dropout, **how).loss

    found: list[Contender] = []
    add("ours", *ours(), graphs=on_gpu)
    if on_gpu:
        add("ours without graphs", *ours())
    else:
        add("ours with PyTorch's kernels", *ours(own_kernels=False))
    if short:
        add("ours without bfloat16", *ours(sixteen_bits=False))
    add("torch.nn.Transformer", fresh(PyTorchs(size, plan)), lambda model: as_written(model, short))
    add("lab 12's model as it is written", build_model(Transformer, size, plan), as_written)
    return found


def training_speed(plan: Plan, size: int, pairs: list[Pair], device: torch.device) -> list[dict[str, Any]]:
    """One row a contender: target tokens a second, in turns; no new round begins after ``SECONDS``."""
    began, on_gpu = time.perf_counter(), device.type == "cuda"
    everyone = contenders(plan, size, pairs, device)
    first = [one.turn(2 * len(one.cuts) if on_gpu else 3) for one in everyone]
    turns: list[list[tuple[int, float]]] = []
    while not turns or (len(turns) < ROUNDS and time.perf_counter() - began < SECONDS[on_gpu]):
        turns.append([one.turn(STEPS[on_gpu]) for one in everyone])
    rows = []
    for one, (tokens, warm), taken in zip(everyone, first, zip(*turns, strict=True), strict=True):
        rate = statistics.median(tokens / seconds for tokens, seconds in taken)
        row = {"name": one.name, "batch": plan.batch_tokens, "tokens_a_second": round(rate)}
        rows.append(row | {"set_up_seconds": round(max(0.0, warm - tokens / rate), 1)})
    return rows


def show(report: dict[str, Any]) -> None:
    """The report as a table."""
    table = Table("batch", "way", "median", "set-up, s", "against PyTorch's", title=TITLE.format(**report))
    stock = {row["batch"]: row for row in report["training"] if row["name"] == "torch.nn.Transformer"}
    for row in report["training"]:
        rate = row["tokens_a_second"]
        ratio = f"{rate / stock[row['batch']]['tokens_a_second']:.2f} ×"
        table.add_row(f"{row['batch']:,}", row["name"], f"{rate:,}", str(row["set_up_seconds"]), ratio)
    Console().print(table)


def main() -> None:
    """Measure, show, write the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--plan", nargs="*", default=[], metavar="NAME=VALUE", help="change the plan")
    add("--threads", type=int, default=2, help="of the processor (default: 2)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = device_for()
    on_gpu = device.type == "cuda"
    plan = plan_for("multi30k", device.type, direction="both", **changes(options.plan))
    text = sentences(plan.corpus, "train", plan.direction)
    subwords = Subwords.learn((one for pair in text for one in pair), plan.vocabulary, plan.lower)
    pairs = numbered(subwords, text, plan.direction)
    card = torch.cuda.get_device_name(device) if on_gpu else f"a processor, {options.threads} threads"
    report: dict[str, Any] = {
        "device": f"{card}, PyTorch {torch.__version__}, Python {platform.python_version()}",
        "plan": f"d={plan.d_model}, {plan.layers}+{plan.layers} layers, d_ff={plan.d_ff}, {len(subwords):,} subwords",
        "training": [],
    }
    for size in (plan.batch_tokens, 4000, 16000) if on_gpu else (plan.batch_tokens,):
        sized = replace(plan, batch_tokens=size)
        report["training"] += training_speed(sized, len(subwords), pairs, device)
    show(report)
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "translator.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
