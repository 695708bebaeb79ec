"""The fast translator is the readable one: same losses, same gradients, same translations."""

from __future__ import annotations

import pytest
import torch
from coursekit.data.vocabulary import PAD
from coursekit.provided.p09_blocks import DecoderBlock
from coursekit.provided.p12_translator import Transformer, make_batch, translate
from coursekit.provided.p12_translator_fast import FastTransformer, _dropout_mask
from coursekit.provided.p12_translator_search import translate_all
from torch.nn import functional as F

from autograder.course.masters import solution

PAIRS = [([5, 9, 4, 8], [7, 6]), ([10, 4], [5, 5, 8, 9, 4]), ([6, 7, 8, 9], [11]), ([12, 4, 6], [9, 8, 7, 6])]


def _model(build=Transformer, sharp=1.0):
    torch.manual_seed(3)
    model = build(13, 13, d_model=24, heads=3, d_ff=32, layers=2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * sharp * torch.randn_like(parameter))
    model.source_embedding = model.target_embedding
    return model


@pytest.mark.parametrize(
    ("build", "own_kernels", "sixteen_bits", "copies"),  # a batch of 4 is one slice, one of 320 several
    [
        ("provided", True, False, 1),
        ("lab 12's", False, False, 80),
        ("provided", True, True, 80),
        ("provided", False, True, 80),  # a GPU's way, here on a processor
    ],
)
def test_the_fast_path_gives_the_readable_models_loss_and_gradients(build, own_kernels, sixteen_bits, copies):
    """In 16 bits the loss is right within 1 %, and each gradient points in nearly the same direction."""
    model = _model(Transformer if build == "provided" else solution("12_translator")["Transformer"])
    source, decoder_input, labels = batch = make_batch(PAIRS * copies)
    logits = model(source, decoder_input).flatten(0, 1)
    expected = F.cross_entropy(logits, labels.flatten(), ignore_index=PAD, label_smoothing=0.1)
    loss = FastTransformer(model, 3, own_kernels=own_kernels, sixteen_bits=sixteen_bits).loss(batch, 0.1)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-2 if sixteen_bits else 1e-5)
    parameters = dict(model.named_parameters())
    right, ours = (torch.autograd.grad(one, [*parameters.values()]) for one in (expected, loss))
    for name, wanted, gradient in zip(parameters, right, ours, strict=True):
        if not sixteen_bits:
            torch.testing.assert_close(gradient, wanted, rtol=1e-3, atol=2e-6, msg=name)
        elif wanted.norm() > 1e-4:  # keys have a bias that no softmax sees
            assert torch.cosine_similarity(gradient.flatten(), wanted.flatten(), dim=0) > 0.98, name


def test_bytes_drop_as_many_as_they_should_and_keep_the_mean():
    p = 0.3
    torch.manual_seed(0)
    mask = _dropout_mask(torch.empty(501, 999), p)
    kept = mask.ne(0).float()
    assert [1 - kept.mean().item(), mask.mean().item()] == pytest.approx([p, 1], abs=0.004)
    for shift in (1, 2, 4, 8, 999):  # neighbours are independent, also those from one random number
        flat = kept.flatten() - kept.mean()
        assert abs((flat[:-shift] * flat[shift:]).mean().item()) < 0.002
    mask = _dropout_mask(torch.ones(100_000), 0.9999)
    assert set(mask.tolist()) == {0.0, 256.0}, "a dropout of nearly one keeps something"


def test_dropout_acts_in_training_only():
    model, batch = _model(), make_batch(PAIRS)
    fast = FastTransformer(model, 3, dropout=0.4)
    assert fast.own_kernels, "a processor has our kernels"
    torch.manual_seed(0)
    assert fast.loss(batch).item() != fast.loss(batch).item()
    model.eval()
    assert fast.loss(batch).item() == fast.loss(batch).item()
    block, x = DecoderBlock(8, 2, 8, dropout=0.4), torch.randn(1, 3, 8)
    assert not torch.equal(block(x, x), block(x, x)), "the readable blocks drop, too"


@pytest.fixture(scope="module")
def half_trained():
    """A model that has begun to learn to reverse: it ends at many lengths, and its beams differ."""
    model = _model(sharp=0.2)
    fast = FastTransformer(model, 3, sixteen_bits=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(60):
        sources = [torch.randint(4, 13, (int(n),)).tolist() for n in torch.randint(1, 7, (24,))]
        loss = fast.loss(make_batch([(source, source[::-1]) for source in sources]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@pytest.mark.parametrize(("beam", "penalty"), [(1, 0.0), (3, 0.0), (4, 0.8)])
def test_many_sentences_at_once_are_translated_as_one_by_one(half_trained, beam, penalty):
    torch.manual_seed(5)
    sources = [torch.randint(4, 13, (1 + number % 6,)).tolist() for number in range(17)]
    how = {"beam": beam, "length_penalty": penalty, "max_length": 6}
    found = translate_all(FastTransformer(half_trained, 3), sources, **how, size=6)
    expected = [translate(half_trained, source, **how) for source in sources]
    assert [hypotheses[0][0] for hypotheses in found] == expected
    assert len({len(one) for one in expected}) > 3
    assert all(len(hypotheses) == beam for hypotheses in found)
    scores = [[score for _, score in hypotheses] for hypotheses in found]
    assert all(row == sorted(row, reverse=True) for row in scores)
    assert translate_all(FastTransformer(half_trained, 3), []) == []
