"""Trains 2,000 merges on a million characters in four ways, and prints seconds and compression of each.

Counts that are corrected (lab 04's challenge, and the version for later labs) against a plain recount of the
different words (lab 04's required answer), a recount of the running text, and the library ``tokenizers`` (Rust).
A way that takes minutes is run for fewer merges and continued at the same speed; the table says so. Writes
``build/bench/tokenizer.json``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coursekit.data.speeches import speech_text
from coursekit.provided.p04_tokenizer import encode_all, pre_tokenize, train_bpe
from rich.console import Console
from rich.table import Table

from autograder.course.masters import master

ROOT = Path(__file__).resolve().parent.parent
console = Console()
Merges = dict[tuple[int, int], int]


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds of one call, and its result."""
    began = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - began, result


def running_text_recount(text: str, merges: int) -> Merges:
    """Byte-pair encoding without any bookkeeping: every chunk of the text is counted and merged again each time."""
    lab = master("04")
    chunks = [tuple(chunk.encode("utf-8")) for chunk in pre_tokenize(text)]
    learned: Merges = {}
    for new in range(256, 256 + merges):
        counts: dict[tuple[int, int], int] = {}
        for word in chunks:
            for pair in itertools.pairwise(word):
                counts[pair] = counts.get(pair, 0) + 1
        best = max(counts, key=lambda pair: counts[pair])
        learned[best] = new
        chunks = [lab.merge_pair(word, best, new) for word in chunks]
    return learned


def library(text: str, merges: int) -> Any:
    """The same task for ``tokenizers``: GPT-2's chunks, 256 bytes, so many merges."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def measure(characters: int, merges: int, recounted: int) -> dict[str, Any]:
    """One row a way: seconds, for how many merges, and the tokens that the text becomes."""
    text, lab = speech_text(characters), master("04")
    words = {tuple(chunk.encode("utf-8")): count for chunk, count in Counter(pre_tokenize(text)).items()}
    rows = []

    def add(name: str, seconds: float, measured: int, tokens: int | None, same: bool | None) -> None:
        estimate = seconds * merges / measured
        rows.append({"name": name, "seconds": round(estimate, 3), "merges_measured": measured, "tokens": tokens,
                     "merges_as_the_plain_recount": same})  # fmt: skip

    seconds, plain = timed(lab.train_bpe, words, recounted or merges)
    first = list(plain.items())
    tokens = len(encode_all([text], plain)[0]) if len(plain) == merges else None
    add("recount, different words (required)", seconds, len(plain), tokens, None)
    for name, function in (
        ("corrected counts (challenge)", lab.train_bpe_fast),
        ("corrected counts (later labs)", train_bpe),
    ):
        seconds, found = timed(function, words, merges)
        same = list(found.items())[: len(first)] == first
        add(name, seconds, len(found), len(encode_all([text], found)[0]), same)
    few = max(1, merges // 500)
    seconds, running = timed(running_text_recount, text, few)
    add("recount, running text", seconds, few, None, list(running.items()) == first[:few])
    seconds, tokenizer = timed(library, text, merges)
    add("tokenizers (Rust)", seconds, merges, len(tokenizer.encode(text).ids), None)
    return {
        "characters": len(text),
        "merges": merges,
        "different_words": len(words),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "rows": rows,
    }


def show(report: dict[str, Any]) -> None:
    """The report as a table."""
    title = f"{report['merges']:,} merges, {report['characters']:,} characters, {report['different_words']:,} chunks"
    table = Table(title=title)
    for column in ("way", "seconds", "characters a token", "same merges"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for row in report["rows"]:
        short = row["merges_measured"] < report["merges"]
        seconds = f"{row['seconds']:,.2f}" + (f" (from {row['merges_measured']})" if short else "")
        rate = f"{report['characters'] / row['tokens']:.3f}" if row["tokens"] else ""
        table.add_row(
            row["name"],
            seconds,
            rate,
            {True: "yes", False: "NO", None: ""}[row["merges_as_the_plain_recount"]],
        )
    console.print(table)
    console.print(
        "The library decides ties in its own way (smallest ids first), so its merges differ here and there.",
        style="dim",
    )


def main() -> None:
    """Measure, show, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--merges", type=int, default=2_000)
    parser.add_argument(
        "--recounted", type=int, default=0, help="plain recount for so many merges only (0: all)"
    )
    options = parser.parse_args()
    report = measure(options.characters, options.merges, options.recounted)
    show(report)
    target = ROOT / "build" / "bench" / "tokenizer.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    console.print(f"written to {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
