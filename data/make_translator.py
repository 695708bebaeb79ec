"""Trains lab 12's translator on the built-in corpus and writes data/12_translator/translator.pt.

The model and the batches are the master's of lab 12, loss, step and rate those of lab 10, the plan is the lab's own. It
prints the seconds and the exact match on every split that is not for training.
"""

from __future__ import annotations

import sys
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
    """Train with one thread, save, and measure what was saved."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    lab = solution("12_translator")
    text = parallel.load("train")
    english, german = vocabularies(text)
    model = fresh(lab["Transformer"](len(english), len(german), **SIZES))
    pairs = with_unknown(numbered(text, english, german))
    training = Training(model, lab["make_batch"], pairs, vars(p10_training)).run()
    if not training.finished:
        return
    print(f"{training.steps:,} steps, {training.seconds:.0f} s")
    save(HERE / CHECKPOINT, model, english, german)
    model, _, _ = load(lab["Transformer"])
    for split in parallel.SPLITS[1:]:
        unseen = numbered(parallel.load(split), english, german)
        print(f"  {split:<18} {100 * exact_match(model, lab['make_batch'], unseen):6.2f} %", flush=True)


if __name__ == "__main__":
    main()
