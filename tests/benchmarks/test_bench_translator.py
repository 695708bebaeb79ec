"""The translator's benchmark compares like with like: same parameters, same batches, a module that learns."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch
from coursekit.provided.p12_translator import Transformer, make_batch
from coursekit.translator.batches import numbered, sentences, token_batches
from coursekit.translator.loop import fresh
from coursekit.translator.model import build_model
from coursekit.translator.plan import Plan
from coursekit.translator.subwords import Subwords

from benchmarks import bench_translator as bench

PLAN = replace(Plan(corpus="built-in"), d_model=16, heads=2, d_ff=24, layers=1, dropout=0.0, batch_tokens=150)


@pytest.fixture(scope="module")
def small():
    text = sentences("built-in", "train", "de-en", 60)
    subwords = Subwords.learn((sentence for pair in text for sentence in pair), 290)
    return subwords, numbered(subwords, text, "de-en")


def test_pytorchs_module_has_our_size_but_for_two_last_norms(small):
    subwords, _ = small
    ours = sum(p.numel() for p in build_model(Transformer, len(subwords), PLAN).parameters())
    theirs = sum(p.numel() for p in bench.PyTorchs(len(subwords), PLAN).parameters())
    assert theirs - ours == 2 * 2 * PLAN.d_model


def test_all_contenders_learn_from_the_same_batches(small):
    subwords, pairs = small
    rows = bench.training_speed(PLAN, subwords, pairs, rounds=1, steps=1)
    names = [row["name"] for row in rows]
    assert {"ours", "torch.nn.Transformer", "ours with PyTorch's kernels"} <= set(names)
    assert all(row["target_tokens_a_second"] > 0 for row in rows)
    for contender in bench.contenders(PLAN, subwords, pairs)[:4]:  # another test compares the steps
        contender.turn(1)
        first = contender.last
        for group in contender.optimizer.param_groups:
            group["lr"] = 1e-2
        contender.turn(len(contender.data))
        assert contender.last < first, contender.name


def test_pytorchs_module_translates_word_by_word_what_it_says_in_one_pass(small):
    """Greedy by the prefix is consistent: shown its own words, the module would choose them again."""
    subwords, pairs = small
    torch.manual_seed(1)
    stock = fresh(bench.PyTorchs(len(subwords), PLAN))
    sources = [source for source, _ in token_batches(pairs, 150, random.Random(0))[0]]
    said = bench.pytorchs_greedy(stock, sources, 12, size=2)
    for source, words in zip(sources, said, strict=True):
        batch = make_batch([(source, words or [5])])
        with torch.no_grad():
            best = stock(*batch[:2])[0].argmax(-1).tolist()
        assert best[: len(words)] == words


def test_the_curves_are_drawn_and_the_title_says_how_often_ours_is_ahead():
    points = [{"seconds": 60.0 * n, "BLEU": 5.0 * n} for n in (1, 2, 3)]
    ours = {"name": "ours", "beam": 1, "minutes": 3.0, "BLEU": 16.0, "curve": points}
    slower = [{"seconds": 60.0, "BLEU": 4.0}, {"seconds": 120.0, "BLEU": 11.0}]
    theirs = {"name": "torch.nn.Transformer", "beam": 1, "minutes": 3.0, "BLEU": 12.5, "curve": slower}
    (ax,) = bench.draw_quality([ours, {**ours, "beam": 5}, theirs]).axes
    assert [len(line.get_xdata()) for line in ax.lines] == [3, 2]
    assert ax.get_title(loc="left") == "Lab 12's model is ahead of PyTorch's at 1 of 2 measurements"
