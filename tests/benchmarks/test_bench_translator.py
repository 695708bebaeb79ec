"""The translator's benchmark compares modules that learn."""

from __future__ import annotations

import json

import torch
from coursekit.data import parallel
from coursekit.provided.p12_translator import make_batch
from coursekit.translator.plan import Plan

from benchmarks import bench_translator as bench

PLAN = Plan(d_model=16, heads=2, d_ff=24, layers=1, dropout=0.0, batch_tokens=150, rate=1e-2)
BATCH = make_batch([([5, 6], [7]), ([8], [9, 10])])


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
