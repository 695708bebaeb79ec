"""The translator's benchmark compares like with like: same parameters, same batches, a module that learns."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from coursekit.data import parallel
from coursekit.provided.p12_translator import Transformer, make_batch
from coursekit.translator.batches import numbered, sentences
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


def test_pytorchs_module_has_our_size_but_for_two_last_norms_and_runs_where_its_tokens_are(small):
    ours = sum(p.numel() for p in build_model(Transformer, len(small[0]), PLAN).parameters())
    stock = bench.PyTorchs(len(small[0]), PLAN)
    assert sum(p.numel() for p in stock.parameters()) - ours == 2 * 2 * PLAN.d_model
    # The device "meta" has shapes and no numbers; a mask that is made elsewhere is an error there.
    source, decoder_input, _ = (part.to("meta") for part in make_batch([([5, 6], [7]), ([8], [9, 10])]))
    assert stock.to("meta")(source, decoder_input).device.type == "meta"


def test_all_contenders_learn_from_the_same_batches(small, monkeypatch):
    subwords, pairs = small
    cpu = torch.device("cpu")
    monkeypatch.setattr(bench, "ROUNDS", 1)
    rows = bench.training_speed(PLAN, len(subwords), pairs, cpu)
    assert {row["name"] for row in rows} >= {"ours", "torch.nn.Transformer", "ours with PyTorch's kernels"}
    assert all(row["tokens_a_second"] > 0 for row in rows)
    plan = replace(PLAN, rate=1e-2)
    for contender in bench.contenders(plan, len(subwords), pairs, cpu):
        contender.turn(1)
        first = contender.last
        contender.turn(len(contender.cuts))
        assert contender.last < first, contender.name


def test_pytorchs_module_translates_word_by_word_what_it_says_in_one_pass(small):
    """Greedy by the prefix is consistent: shown its own words, the module would choose them again."""
    subwords, pairs = small
    torch.manual_seed(1)
    stock = fresh(bench.PyTorchs(len(subwords), PLAN))
    sources = [source for source, _ in pairs[:9]]
    said = bench.PyTorchsTranslator(stock, subwords, PLAN).greedy(sources, size=2, most=12)
    for source, words in zip(sources, said, strict=True):
        with torch.no_grad():
            best = stock(*make_batch([(source, words or [5])])[:2])[0].argmax(-1).tolist()
        assert best[: len(words)] == words


def test_the_whole_measurement_scores_test2016_when_all_are_trained(monkeypatch, tmp_path, capsys):
    splits = []

    def load(_, split):
        splits.append(split)
        return parallel.load({"train": "train", "validation": "valid", "test": "test_sentences"}[split])[:12]

    monkeypatch.setattr("coursekit.data.load", load)
    monkeypatch.setattr(bench, "BUILD", tmp_path)
    monkeypatch.setattr(bench, "ROUNDS", 1)
    words = "bench --minutes 0.01 --threads 1 --device cpu --plan d_model=8 d_ff=8 vocabulary=280"
    monkeypatch.setattr("sys.argv", words.split())
    bench.main()
    report = json.loads((tmp_path / "translator.json").read_text())
    assert [row["name"] for row in report["quality"]] == ["ours", "ours", "torch.nn.Transformer"]
    for row in report["quality"]:
        beam = 5 if row["name"] == "ours" else 1
        assert {"de-en", "en-de"} < set(row[f"test2016, beam {beam}"]) and row["target_tokens"] > 0
    assert "test" not in splits[:-6] and splits[-6:] == ["test"] * 6
    assert "Target tokens a second, a processor" in capsys.readouterr().out
