"""Trains lab 12's translator on the built-in corpus and writes data/12_translator/translator.pt.

    python data/make_translator.py [--seed 0] [--threads 1] [--epochs N] [--warm-up N] [--checkpoint FILE] [--out FILE]

A run that is stopped (Ctrl-C) goes on from its ``--checkpoint``.

The model and the batches are the master's of lab 12, loss, step and rate those of lab 10; the training is lab 12's own,
with its plan unless an option changes it. It prints seconds of the clock, seconds of the processor, and the exact match on every split that is not for
training.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "notebooks")]

import torch  # noqa: E402
from coursekit.data import parallel  # noqa: E402
from coursekit.data.vocabulary import numbered, vocabularies  # noqa: E402
from coursekit.provided import p10_training  # noqa: E402
from coursekit.translator.training import Training, fresh  # noqa: E402
from coursekit.translator.word_model import CHECKPOINT, SIZES, exact_match, load, save, with_unknown  # noqa: E402

from autograder.course.masters import solution  # noqa: E402


def main() -> None:
    """Train once, measure, save, and measure again what was saved."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=argparse.SUPPRESS)
    parser.add_argument("--warm-up", type=int, default=argparse.SUPPRESS)
    parser.add_argument("--checkpoint", type=Path, default=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / CHECKPOINT)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    lab = solution("12_translator")
    text = parallel.load("train")
    english, german = vocabularies(text)
    model = fresh(lab["Transformer"](len(english), len(german), **SIZES))
    pairs = with_unknown(numbered(text, english, german))
    names = ("epochs", "warm_up", "seed", "checkpoint")
    plan = {name: value for name, value in vars(options).items() if name in names}
    training = Training(model, lab["make_batch"], pairs, vars(p10_training), **plan)

    began, processor = time.perf_counter(), time.process_time()
    training.run()
    if not training.finished:
        return
    clock, processor = time.perf_counter() - began, time.process_time() - processor
    print(f"seed {options.seed}, {options.threads} threads, {training.steps:,} steps: ", end="")
    print(f"{clock:.0f} s of the clock, {processor:.0f} s of the processor")

    def report(model: torch.nn.Module) -> None:
        for split in parallel.SPLITS[1:]:
            pairs = numbered(parallel.load(split), english, german)
            print(f"  {split:<18} {100 * exact_match(model, lab['make_batch'], pairs):6.2f} %", flush=True)

    report(model)
    save(options.out, model, english, german)
    print(f"{options.out.name}: {options.out.stat().st_size / 1e6:.2f} MB")
    if options.out == HERE / CHECKPOINT:
        report(load(lab["Transformer"])[0])


if __name__ == "__main__":
    main()
