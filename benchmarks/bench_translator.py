"""Times lab 12's transformer on Multi30k beside ``torch.nn.Transformer``, on a GPU where there is one.

All train the same layers on the same batches with the same optimizer, in turns; the median turn counts. How well a model
translates after so many minutes, ``python -m coursekit.translator`` measures (``docs/translator.md``).

Prints a table and writes ``build/bench/translator.json``. Multi30k comes from ``COURSE_DATA_MIRROR`` or the network.
``--plan dropout=0.25 batch_tokens=2000`` tries another plan.
"""

from __future__ import annotations

import argparse
import itertools
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
from coursekit.translator.model import build_model, device_for, fresh
from coursekit.translator.plan import Plan, changes, plan_for
from coursekit.translator.run import GPU_STEP, Loss, Step, optimizer_of, recorded_on_gpu, step_of
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


def contenders(plan: Plan, size: int, device: torch.device) -> dict[str, Step]:
    """A step of training by the name of the way to do it."""
    on_gpu, short = device.type == "cuda", has_fast_bfloat16(device.type)

    def way(model: nn.Module, loss_of: Callable[[nn.Module], Loss]) -> Step:
        model = model.to(device).train()
        return step_of(model, loss_of(model), optimizer_of(model, plan), plan)

    def ours(**how: bool) -> Step:
        model = build_model(Transformer, size, plan)
        return way(model, lambda model: FastTransformer(model, plan.heads, plan.dropout, **how).loss)

    if on_gpu:
        found = {"ours": recorded_on_gpu(ours()), "ours without graphs": ours()}
    else:
        found = {"ours": ours(), "ours with PyTorch's kernels": ours(own_kernels=False)}
    if short:
        found["ours without bfloat16"] = ours(sixteen_bits=False)
    found["torch.nn.Transformer"] = way(fresh(PyTorchs(size, plan)), lambda model: as_written(model, short))
    found["lab 12's model as it is written"] = way(build_model(Transformer, size, plan), as_written)
    return found


def training_speed(plan: Plan, size: int, pairs: list[Pair], device: torch.device) -> list[dict[str, Any]]:
    """One row a contender: target tokens a second, in turns; no new round begins after ``SECONDS``."""
    began, on_gpu = time.perf_counter(), device.type == "cuda"
    padded = PaddedPairs(pairs, make_batch, device, step=GPU_STEP if on_gpu else 1)
    cuts = padded.cuts(plan.batch_tokens, random.Random(0))[:40]
    steps = contenders(plan, size, device)
    coming = {name: itertools.cycle(cuts) for name in steps}

    def turn(name: str, count: int) -> tuple[int, float]:
        """Train on the next batches; their target tokens, and the seconds that it took."""
        tokens, start, losses = 0, time.perf_counter(), []
        for cut in itertools.islice(coming[name], count):
            losses.append(steps[name](padded.batch(cut)))
            tokens += cut.tokens
        float(losses[-1])  # waits for a GPU
        return tokens, time.perf_counter() - start

    first = {name: turn(name, 2 * len(cuts) if on_gpu else 3) for name in steps}
    turns: list[dict[str, tuple[int, float]]] = []
    while not turns or (len(turns) < ROUNDS and time.perf_counter() - began < SECONDS[on_gpu]):
        turns.append({name: turn(name, STEPS[on_gpu]) for name in steps})
    rows = []
    for name, (tokens, warm) in first.items():
        rate = statistics.median(taken[name][0] / taken[name][1] for taken in turns)
        row = {"name": name, "batch": plan.batch_tokens, "tokens_a_second": round(rate)}
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
