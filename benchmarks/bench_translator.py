"""Times lab 12's transformer on Multi30k: ours, ``torch.nn.Transformer``, and ours without what saves work.

All train the same number of layers of the same width on the same batches with the same optimizer, in turns of a few
steps. The median turn counts, and the fastest stands beside it. Then sentences a second in decoding: greedy and beam.
``--minutes`` also trains ours and PyTorch's for so long each and scores them on test2016 (long).
Prints tables and writes ``build/bench/translator.json``, and the curves of ``--minutes`` to ``translator.png``.
Multi30k comes from ``COURSE_DATA_MIRROR`` or the network.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from coursekit.data.vocabulary import BOS, EOS, PAD, Batch, Pair
from coursekit.hardware import has_fast_bfloat16
from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p12_translator import Transformer, make_batch, translate
from coursekit.provided.p12_translator_fast import FastTransformer
from coursekit.provided.p12_translator_search import translate_all
from coursekit.translator.batches import numbered, sentences, token_batches
from coursekit.translator.evaluation import scores
from coursekit.translator.loop import fresh, readable_loss
from coursekit.translator.model import build_model
from coursekit.translator.plan import Plan
from coursekit.translator.run import Run
from coursekit.translator.subwords import Subwords
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

ROOT = Path(__file__).resolve().parent.parent
console = Console()


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

    def _embed(self, tokens: Tensor) -> Tensor:
        return (
            self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
            + self.positions[: tokens.shape[1]]
        )

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        """source (B, S), decoder_input (B, T) → logits (B, T, V)."""
        y = self.transformer(
            self._embed(source),
            self._embed(decoder_input),
            tgt_mask=torch.ones(decoder_input.shape[1], decoder_input.shape[1], dtype=torch.bool).triu(1),
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=decoder_input == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        return F.linear(y, self.embedding.weight)


def in_sixteen_bits(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same loss under PyTorch's own mixed precision."""

    def run(*arguments: Any) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return loss(*arguments)

    return run


class Contender:
    """One way to train: a model with its loss, its optimizer and its batches, and how fast each turn was."""

    def __init__(
        self,
        name: str,
        model: nn.Module,
        loss: Callable[..., Tensor],
        data: Sequence[Batch],
    ):
        self.name, self.model, self.loss, self.data = name, model.train(), loss, data
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True)
        self.rates: list[float] = []
        self.taken, self.last = 0, math.nan

    def turn(self, steps: int, counts: bool = True) -> None:
        """Train on the next batches and note the target tokens a second."""
        tokens, began = 0, time.perf_counter()
        for _ in range(steps):
            batch = self.data[self.taken % len(self.data)]
            self.taken += 1
            loss = self.loss(batch, 0.1)
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.last = loss.item()
            tokens += int(batch[2].ne(PAD).sum())
        if counts:
            self.rates.append(tokens / (time.perf_counter() - began))

    @property
    def rate(self) -> float:
        """Target tokens a second, in the median turn."""
        return statistics.median(self.rates)


def contenders(plan: Plan, subwords: Subwords, pairs: list[Pair]) -> list[Contender]:
    """All of them, on the same batches."""
    data = [make_batch(batch) for batch in token_batches(pairs, plan.batch_tokens, random.Random(0))]

    def ours(name: str, **how: bool) -> Contender:
        model = build_model(Transformer, len(subwords), plan)
        return Contender(name, model, FastTransformer(model, plan.heads, plan.dropout, **how).loss, data)

    def theirs(name: str, around: Callable[..., Any] = lambda loss: loss) -> Contender:
        torch.manual_seed(plan.seed)
        model = fresh(PyTorchs(len(subwords), plan))
        return Contender(name, model, around(readable_loss(model)), data)

    readable = build_model(Transformer, len(subwords), plan)
    everyone = [
        ours("ours"),
        theirs("torch.nn.Transformer"),
        Contender("lab 12's model as it is written", readable, readable_loss(readable), data),
        ours("ours with PyTorch's kernels", own_kernels=False),
    ]
    if has_fast_bfloat16():
        everyone.append(ours("ours without bfloat16", sixteen_bits=False))
        everyone.append(theirs("torch.nn.Transformer, autocast bfloat16", in_sixteen_bits))
    return everyone


def training_speed(
    plan: Plan, subwords: Subwords, pairs: list[Pair], rounds: int, steps: int, seconds: float = math.inf
) -> list[dict]:
    """One row a contender: target tokens a second, in turns; no new round begins after so many seconds."""
    began = time.perf_counter()
    everyone = contenders(plan, subwords, pairs)
    for contender in everyone:
        contender.turn(steps, counts=False)
    for number in range(rounds):
        if number and time.perf_counter() - began > seconds:
            break
        for contender in everyone:
            contender.turn(steps)
        console.print(f"round {number + 1} of {rounds}, {time.perf_counter() - began:.0f} s")
    return [
        {
            "name": one.name,
            "target_tokens_a_second": round(one.rate),
            "fastest_turn": round(max(one.rates)),
            "parameters": sum(p.numel() for p in one.model.parameters()),
        }
        for one in everyone
    ]


@torch.no_grad()
def pytorchs_greedy(
    model: PyTorchs, sources: Sequence[Sequence[int]], max_length: int, size: int = 64
) -> list[list[int]]:
    """Greedy translations by PyTorch's module, the decoder run on the whole prefix at each step."""
    model.eval()
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    translations: list[list[int]] = [[] for _ in sources]
    for first in range(0, len(order), size):
        chosen = order[first : first + size]
        source = pad_sequence([torch.tensor(sources[n]) for n in chosen], True, PAD)
        memory = model.transformer.encoder(model._embed(source), src_key_padding_mask=source == PAD)
        words = torch.full((len(chosen), 1), BOS)
        for _ in range(max_length):
            future = torch.ones(words.shape[1], words.shape[1], dtype=torch.bool).triu(1)
            y = model.transformer.decoder(
                model._embed(words), memory, tgt_mask=future, memory_key_padding_mask=source == PAD
            )
            words = torch.cat([words, F.linear(y[:, -1], model.embedding.weight).argmax(-1)[:, None]], dim=1)
            if bool(words.eq(EOS).any(dim=1).all()):
                break
        for number, row in zip(chosen, words.tolist(), strict=True):
            row = row[1:]
            translations[number] = row[: row.index(EOS)] if EOS in row else row
    return translations


def decoding_speed(
    plan: Plan, subwords: Subwords, pairs: list[Pair], training: float
) -> list[dict[str, Any]]:
    """Sentences a second with a model that has trained for ``training`` seconds, so that its sentences end."""
    model = build_model(Transformer, len(subwords), plan)
    short = replace(plan, minutes=training / 60, epochs=1000, warm_up=100, batch_tokens=1000)
    fast = FastTransformer(model, plan.heads, plan.dropout)
    folder = ROOT / "build" / "bench" / "translator_decoding"
    (folder / "checkpoint.pt").unlink(missing_ok=True)
    Run(folder, short, model, make_batch, fast.loss, pairs, pairs[:200]).go(lambda line: None)
    sources = [source for source, _ in pairs[:256]]
    rows = []
    for beam in (1, 5):
        kind = "greedy" if beam == 1 else f"beam {beam}"
        for way, few, search in (
            ("64 at a time", sources, partial(translate_all, fast, beam=beam, max_length=40)),
            ("lab 12's translate, one by one", sources[:24], partial(_one_by_one, model, beam)),
        ):
            seconds = []
            for _ in range(2):  # the first time, memory is new
                began = time.perf_counter()
                search(few)
                seconds.append(time.perf_counter() - began)
            rate = round(len(few) / min(seconds), 1)
            rows.append({"name": f"{kind}, {way}", "sentences_a_second": rate})
    return rows


def _one_by_one(model: nn.Module, beam: int, sources: list[list[int]]) -> list[list[int]]:
    return [translate(model, source, beam=beam) for source in sources]


def quality(
    plan: Plan, subwords: Subwords, pairs: list[Pair], minutes: float, every: float
) -> list[dict[str, Any]]:
    """BLEU on test2016 after ``minutes`` of training, ours and PyTorch's, with BLEU on validation on the way."""
    plan = replace(plan, minutes=minutes, epochs=1000)
    test = sentences(plan.corpus, "test", plan.direction)
    held_text = sentences(plan.corpus, "validation", plan.direction)
    held = numbered(subwords, held_text, plan.direction)
    torch.manual_seed(plan.seed)
    stock = fresh(PyTorchs(len(subwords), plan))
    model = build_model(Transformer, len(subwords), plan)
    fast = FastTransformer(model, plan.heads, plan.dropout)

    def ours(texts: list[str], beam: int) -> list[str]:
        rows = translate_all(fast, subwords.encode(texts), beam=beam, length_penalty=1.0)
        return [subwords.decode(best[0][0]) for best in rows]

    def theirs(texts: list[str], beam: int) -> list[str]:
        return [subwords.decode(tokens) for tokens in pytorchs_greedy(stock, subwords.encode(texts), 60)]

    rows = []
    for name, one, loss, translated, beams in (
        ("ours", model, fast.loss, ours, (1, 5)),
        ("torch.nn.Transformer", stock, readable_loss(stock), theirs, (1,)),
    ):

        def measure(translated: Callable[[list[str], int], list[str]] = translated) -> dict[str, float]:
            texts, references = zip(*held_text[:300], strict=True)
            return {"BLEU": scores(translated(list(texts), 1), list(references), plan.lower)["BLEU"]}

        folder = ROOT / "build" / "bench" / f"translator_{name.replace('.', '_')}_{minutes:g}min"
        how: dict[str, Any] = {"measure": measure, "measure_every": 60 * every}
        run = Run(folder, plan, one, make_batch, loss, pairs, held, **how)
        run.go(lambda line, name=name: console.print(f"{name}: {line}"))  # type: ignore[misc]
        for beam in beams:
            texts, references = zip(*test, strict=True)
            result = scores(translated(list(texts), beam), list(references), plan.lower)
            rows.append(
                {"name": name, "beam": beam, "minutes": round(run.curve.seconds / 60, 2), **result}
                | {"target_tokens": run.curve.tokens, "curve": run.curve.measured}
            )
    return rows


def show(report: dict[str, Any]) -> None:
    """The report as tables."""
    rows = report["training"]
    table = Table(title=f"Training on {report['cores']} cores\n{report['plan']}")
    for column in ("way", "target tokens/s", "fastest turn", "against PyTorch's"):
        table.add_column(column, justify="left" if column == "way" else "right")
    base = next(row for row in rows if row["name"] == "torch.nn.Transformer")["target_tokens_a_second"]
    for row in rows:
        rate, fastest = row["target_tokens_a_second"], row["fastest_turn"]
        table.add_row(row["name"], f"{rate:,}", f"{fastest:,}", f"{rate / base:.2f} ×")
    console.print(table)
    table = Table(title="Decoding, 256 sentences")
    for column in ("way", "sentences/s"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for row in report["decoding"]:
        table.add_row(row["name"], f"{row['sentences_a_second']:,}")
    console.print(table)
    for row in report.get("quality", []):
        console.print(
            f"{row['name']}, {row['minutes']} min, beam {row['beam']}: BLEU {row['BLEU']} ({row['BLEU_signature']})"
        )


def main() -> None:
    """Measure, show, write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contender")
    parser.add_argument("--steps", type=int, default=6, help="training steps in a turn")
    parser.add_argument("--seconds", type=float, default=150, help="begin no round of turns after so many")
    parser.add_argument("--batch-tokens", type=int, default=1500)
    parser.add_argument(
        "--decoding-seconds", type=float, default=30, help="training before decoding is timed"
    )
    parser.add_argument(
        "--minutes", type=float, default=0, help="also train for so long each, and score (long)"
    )
    parser.add_argument("--every", type=float, default=1, help="minutes between measurements of BLEU")
    parser.add_argument("--seed", type=int, default=0, help="of our weights, and of everybody's batches")
    options = parser.parse_args()
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    plan = Plan(batch_tokens=options.batch_tokens, seed=options.seed)
    text = sentences(plan.corpus, "train", plan.direction)
    file = ROOT / "build" / "bench" / f"subwords_{plan.vocabulary}.json"
    if not file.is_file():
        both = (sentence for pair in text for sentence in pair)
        Subwords.learn(both, plan.vocabulary, plan.lower).save(file)
    subwords = Subwords.load(file)
    pairs = numbered(subwords, text, plan.direction)
    report: dict[str, Any] = {
        "cores": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "bfloat16_instructions": has_fast_bfloat16(),
        "plan": f"d={plan.d_model}, {plan.layers}+{plan.layers} layers, d_ff={plan.d_ff}, "
        f"{len(subwords):,} subwords, {plan.batch_tokens:,} tokens a batch",
    }
    rows = training_speed(plan, subwords, pairs, options.rounds, options.steps, options.seconds)
    _note(report, "training", rows)
    _note(report, "decoding", decoding_speed(plan, subwords, pairs, options.decoding_seconds))
    if options.minutes:
        tuned = replace(plan, batch_tokens=Plan().batch_tokens)
        _note(report, "quality", quality(tuned, subwords, pairs, options.minutes, options.every))
        draw_quality(report["quality"]).savefig(ROOT / "build" / "bench" / "translator.png", dpi=140)
    show(report)


def draw_quality(rows: Sequence[dict[str, Any]]) -> Any:
    """BLEU on validation against minutes of training, a line for each; test2016 in the legend. Returns the figure."""
    import matplotlib.pyplot as plt
    from coursekit.figures import BLUE, ORANGE, use_style

    use_style()
    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    greedy = [row for row in rows if row["beam"] == 1]
    for row, colour, mark in zip(greedy, (BLUE, ORANGE), ("o-", "s--"), strict=True):
        curve = [point for point in row["curve"] if "BLEU" in point]
        minutes = [point["seconds"] / 60 for point in curve]
        label = f"{row['name']}: {row['BLEU']:.1f} on test2016"
        ax.plot(minutes, [point["BLEU"] for point in curve], mark, ms=4, color=colour, label=label)
    ax.set(xlabel="minutes of training on two cores", ylabel="BLEU (validation, greedy)", ylim=(0, None))
    ax.legend(loc="lower right")
    ours, theirs = ([point["BLEU"] for point in row["curve"] if "BLEU" in point] for row in greedy)
    ahead = sum(mine > other for mine, other in zip(ours, theirs, strict=False))
    ax.set_title(
        f"Lab 12's model is ahead of PyTorch's at {ahead} of {min(len(ours), len(theirs))} measurements"
    )
    return figure


def _note(report: dict[str, Any], part: str, rows: list[dict[str, Any]]) -> None:
    """Put a part into the report, and write what is there: a later part may be interrupted."""
    report[part] = rows
    target = ROOT / "build" / "bench" / "translator.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    console.print(f"{part}: written to {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
