"""The translator's benchmark compares like with like: same parameters, same batches, modules that learn."""

from __future__ import annotations

import json

import torch
from coursekit.data import parallel
from coursekit.provided.p12_translator import Transformer, make_batch
from coursekit.translator.model import build_model
from coursekit.translator.plan import Plan

from benchmarks import bench_translator as bench

PLAN = Plan(d_model=16, heads=2, d_ff=24, layers=1, dropout=0.0, batch_tokens=150, rate=1e-2)
BATCH = make_batch([([5, 6], [7]), ([8], [9, 10])])


def test_pytorchs_module_has_our_size_but_for_two_last_norms_and_runs_where_its_tokens_are():
    ours = sum(p.numel() for p in build_model(Transformer, 30, PLAN).parameters())
    stock = bench.PyTorchs(30, PLAN)
    assert sum(p.numel() for p in stock.parameters()) - ours == 2 * 2 * PLAN.d_model
    # The device "meta" has shapes and no numbers; a mask that is made elsewhere is an error there.
    source, decoder_input, _ = (part.to("meta") for part in BATCH)
    assert stock.to("meta")(source, decoder_input).device.type == "meta"


def test_all_contenders_learn_and_their_speeds_are_written(monkeypatch, tmp_path):
    for name, step in bench.contenders(PLAN, 30, torch.device("cpu")).items():
        losses = [float(step(BATCH)) for _ in range(9)]
        assert losses[-1] < losses[0], name
    monkeypatch.setattr("coursekit.data.load", lambda *_: parallel.load("train")[:40])
    monkeypatch.setattr(bench, "BUILD", tmp_path)
    monkeypatch.setattr(bench, "ROUNDS", 1)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    plan = "d_model=16 heads=2 d_ff=24 layers=1 dropout=0 batch_tokens=150 rate=0.01 vocabulary=290"
    monkeypatch.setattr("sys.argv", f"bench --threads 1 --plan {plan}".split())
    bench.main()
    rows = json.loads((tmp_path / "translator.json").read_text())["training"]
    assert {row["name"] for row in rows} >= {"ours", "torch.nn.Transformer", "ours with PyTorch's kernels"}
    assert all(row["tokens_a_second"] > 0 for row in rows)
    assert torch.get_num_threads() == 1
