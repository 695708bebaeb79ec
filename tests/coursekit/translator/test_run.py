"""A training run on real sentences: its batches, its budget, going on after a stop, and what a GPU asks of a step."""

from __future__ import annotations

import random

import pytest
import torch
from coursekit.data.vocabulary import PAD, UNKNOWN
from coursekit.provided.p04_tokenizer import encode
from coursekit.provided.p12_translator import make_batch
from coursekit.provided.p12_translator_fast import FastTransformer
from coursekit.translator.batches import LONGEST, PaddedPairs, numbered, sentences
from coursekit.translator.model import build_model, device_for, load_lab_12
from coursekit.translator.plan import Plan, plan_for
from coursekit.translator.run import Run, optimizer_of, recorded, step_of
from coursekit.translator.subwords import Subwords

SMALL = {"corpus": "built-in", "d_model": 16, "heads": 2, "d_ff": 16, "layers": 1, "batch_tokens": 200}


def _run(folder, **more):
    plan = Plan(**{"epochs": 3} | SMALL | more)
    text = sentences("built-in", "train", "en-de", 80)
    subwords = Subwords.learn((sentence for pair in text for sentence in pair), 290)
    pairs = numbered(subwords, text, "en-de")
    model = build_model(load_lab_12()[0], len(subwords), plan)
    return Run(folder, plan, model, make_batch, pairs, pairs[:20], subwords)


def test_every_parameter_learns_and_neither_a_stop_nor_a_measurement_changes_the_curve(tmp_path):
    """Dropout, the optimizer's moments and the order of batches are as if nothing had happened."""
    whole = _run(tmp_path / "whole")
    before = {name: value.clone() for name, value in whole.model.named_parameters()}
    whole.go(lambda _: None)
    keys = {key for key in before if "W_K.bias" not in key}  # softmax does not see the keys' bias
    assert not [key for key in keys if torch.equal(before[key], whole.model.get_parameter(key))]
    steps = _run(tmp_path / "part").take_steps()
    for _ in range(7):
        next(steps)
    steps.close()
    torch.manual_seed(99)  # a new process has drawn other random numbers
    rest = _run(tmp_path / "part")
    assert len(rest.losses) == 7
    rest.say_every, said = 0, []
    rest.go(said.append)
    assert rest.finished and "validation" in said[6] and "validation" not in said[5]
    assert rest.losses == pytest.approx(whole.losses, rel=1e-6)
    mine, theirs = rest.model.state_dict(), whole.model.state_dict()
    assert all(torch.allclose(mine[name], theirs[name], atol=1e-6) for name in theirs)
    budget = whole.curve.tokens // 2
    short = _run(tmp_path / "short", tokens=budget).go(lambda _: None)
    assert budget <= short.curve.tokens < budget + 200 and short.finished and short.rate <= 0
    assert short.taken < whole.taken


@pytest.mark.parametrize("step", [1, 4])
def test_batches_hold_every_pair_once_keep_to_their_size_and_have_little_padding(step):
    rng = random.Random(1)
    lengths = [(rng.randint(3, 20), rng.randint(3, 20)) for _ in range(3000)]
    pairs = [([4 + number % 90] * s, [5 + number % 7] * t) for number, (s, t) in enumerate(lengths)]
    padded = PaddedPairs(pairs, make_batch, step=step)
    cuts = padded.cuts(600, random.Random(0))
    batches = [padded.batch(cut) for cut in cuts]
    rows = [row for source, _, labels in batches for row in zip(source, labels, strict=True)]
    assert sorted((s[s > 0].tolist(), y[y > 2].tolist()) for s, y in rows if y.any()) == sorted(pairs)
    assert [cut.tokens for cut in cuts] == [int(labels.ne(PAD).sum()) for _, _, labels in batches]
    sizes = [part.numel() for batch in batches for part in batch]
    shapes = {(source.shape, labels.shape) for source, _, labels in batches}
    assert max(sizes) <= 600
    if step == 1:
        assert sum(int(part.eq(PAD).sum()) for batch in batches for part in batch) < 0.1 * sum(sizes)
        assert len(shapes) > 50
    else:  # widths of 4, 8, …, 24, each as many rows high as there is room for
        assert len(shapes) <= 6 and {s[1] for s, _ in shapes} <= {4, 8, 12, 16, 20, 24}
        assert all(600 - s.numel() < s[1] for s, _ in shapes)
    orders = [[cut.rows.tolist() for cut in padded.cuts(600, random.Random(seed))] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]


PAIRS = [([5, 9, 4, 8], [7, 6]), ([10, 4], [5, 5, 8, 9, 4]), ([6, 7, 8, 9], [11]), ([12, 4, 6], [9, 8, 7, 6])]


def _small(kernels):
    """A small model's loss, a GPU's way or a processor's."""
    plan = Plan(**SMALL, dropout=0.0)
    model = build_model(load_lab_12()[0], 13, plan)
    return model, plan, FastTransformer(model, 2, own_kernels=kernels, sixteen_bits=False).loss


def test_blank_pairs_and_padding_to_few_shapes_change_no_loss_and_no_gradient():
    model, _, loss = _small(False)
    padded = PaddedPairs(PAIRS, make_batch, step=8)
    (cut,) = padded.cuts(64, random.Random(0))
    assert len(cut.rows) == 8 and cut.columns == (8, 8)
    assert padded.batch(cut)[0].ne(PAD).any(dim=1).all(), "nothing attends to nothing, which has no mean"
    values = [loss(batch, 0.1) for batch in (padded.batch(cut), make_batch(PAIRS))]
    gradients = [torch.autograd.grad(value, [*model.parameters()]) for value in values]
    torch.testing.assert_close(*values, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-6)


def test_a_step_on_a_gpu_waits_for_nothing():
    """On the device "meta", which has shapes and no numbers, to ask for a number is an error, as is a part elsewhere."""
    model, plan, _ = _small(False)
    model.to("meta")
    loss = FastTransformer(model, 2, dropout=0.1, own_kernels=False, sixteen_bits=False).loss
    padded = PaddedPairs(PAIRS, make_batch, "meta", step=4)
    batch = padded.batch(padded.cuts(32, random.Random(0))[0])
    step = step_of(model, loss, torch.optim.AdamW(model.parameters()), plan)
    assert step(batch).device.type == "meta"


def test_recorded_steps_learn_what_steps_as_written_learn():
    """One recording a shape; each replay reads the new batch and the new rate. (Here a replay calls the step again.)"""
    recordings = []

    def record(step, batch):
        loss = torch.zeros(())
        recordings.append(batch[0].shape)
        return lambda: loss.copy_(step(batch)), loss

    turned = [[([4 + (n + k) % 9 for n in source], target) for source, target in PAIRS] for k in range(4)]
    batches = [make_batch(pairs[part]) for pairs in turned for part in (slice(2), slice(2, 4), slice(1, 4))]
    curves = []
    for replayed in (False, True):
        model, plan, loss = _small(True)
        optimizer = optimizer_of(model, plan)
        step = step_of(model, loss, optimizer, plan)
        step = recorded(step, record) if replayed else step
        curves.append([])
        for number, batch in enumerate(batches):
            optimizer.param_groups[0]["lr"].fill_(0.01 / (1 + number))
            curves[-1].append(step(batch))
    torch.testing.assert_close(*map(torch.stack, curves))
    assert len(recordings) == len({(s.shape, y.shape) for s, _, y in batches}) == 3


def test_a_gpu_is_taken_when_there_is_one_and_has_a_plan_of_its_own(monkeypatch):
    for there, kind in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr("torch.cuda.is_available", lambda there=there: there)
        assert device_for().type == kind
    slow, fast = plan_for("multi30k"), plan_for("multi30k", "cuda", seed=3, weight_decay=0.2)
    assert fast.epochs > slow.epochs and fast.dropout > slow.dropout
    assert fast.seed == 3 and fast.weight_decay == 0.2
    assert [plan_for("multi30k", minutes=1, epochs=n).epochs for n in (None, 2)] == [1000, 2]


def test_subwords_are_lab_4s_and_spell_every_sentence():
    text = ["A man in a hat.", "Ein Mann mit Hut.", "Ein Männchen mit 3 Hüten!"] * 3
    subwords = Subwords.learn(text, 290, lower=True)
    assert len(subwords) == 290 and subwords.tag("de") == 289
    for sentence in [*text, "Größe: 🦊 ≠ fox", "  blanks  within  "]:
        numbers = subwords.encode([sentence])[0]
        assert numbers == [4 + token for token in encode(" " + sentence.lower().strip(), subwords.merges)]
        assert subwords.decode(numbers) == sentence.lower().strip()
        assert all(UNKNOWN < number < 288 for number in numbers)
    pairs = [("Hut " * (LONGEST + 9), "hat"), ("Ein Hut.", "a hat")]
    assert len(numbered(subwords, pairs, "de-en")) == 1, "a long one is left out"
