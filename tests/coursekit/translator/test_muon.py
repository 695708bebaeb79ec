"""Muon, for many matrices at a time, is PyTorch's Muon, which takes one after another."""

from __future__ import annotations

import copy

import pytest
import torch
from coursekit.provided.p12_translator import Transformer
from coursekit.translator.muon import Muon, inner_matrices, orthogonalised
from coursekit.translator.run import tie

SHAPES = [(24, 24), (24, 24), (24, 60), (60, 24), (60, 24), (5, 5)]


def _matrices(seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_ten_steps_are_those_of_pytorchs_muon(decay):
    mine, theirs = _matrices(1), _matrices(1)
    ours = Muon(mine, lr=0.02, weight_decay=decay, momentum=0.9)
    stock = torch.optim.Muon(
        theirs, lr=0.02, weight_decay=decay, momentum=0.9, adjust_lr_fn="match_rms_adamw"
    )
    for step in range(10):
        for one, two, noise in zip(mine, theirs, _matrices(100 + step), strict=True):
            one.grad, two.grad = noise.detach().clone(), noise.detach().clone()
        ours.step()
        stock.step()
        for one, two, first in zip(mine, theirs, _matrices(1), strict=True):
            moved = (two - first).norm()
            assert (one - two).norm() < 0.02 * moved  # 16 bits carry 3 digits


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 16, 40), (2, 40, 16)])
def test_singular_values_come_near_one_and_their_directions_stay(shape):
    torch.manual_seed(2)
    u, _, vt = torch.linalg.svd(torch.randn(shape), full_matrices=False)
    values = torch.logspace(0, -1.5, u.shape[-1])
    found = orthogonalised(u * values @ vt, torch.float32)
    assert float(torch.linalg.svdvals(found).min()) > 0.5 and float(torch.linalg.svdvals(found).max()) < 1.4
    inside = u.mT @ found @ vt.mT  # diagonal: no direction was mixed with another
    assert float((inside - torch.diag_embed(inside.diagonal(dim1=1, dim2=2))).abs().max()) < 1e-3


def test_a_matrix_of_zeros_and_one_without_a_gradient_stay_as_they_are():
    matrices = _matrices(3)[:2]
    before = [matrix.detach().clone() for matrix in matrices]
    optimiser = Muon(matrices, lr=0.1, weight_decay=0.0)
    matrices[0].grad = torch.zeros_like(matrices[0])
    optimiser.step()
    assert all(torch.equal(one, two) for one, two in zip(matrices, before, strict=True))


def test_it_goes_on_from_its_state():
    whole, part = _matrices(4), _matrices(4)
    optimisers = [Muon(whole), Muon(part)]
    for step in range(6):
        if step == 3:
            optimisers[1], state = Muon(part), copy.deepcopy(optimisers[1].state_dict())
            optimisers[1].load_state_dict(state)
        for matrices, optimiser in zip((whole, part), optimisers, strict=True):
            for matrix, noise in zip(matrices, _matrices(200 + step), strict=True):
                matrix.grad = noise.detach().clone()
            optimiser.step()
    assert all(torch.equal(one, two) for one, two in zip(whole, part, strict=True))


def test_it_takes_the_inner_matrices_of_a_translator_and_nothing_else():
    model = tie(Transformer(30, 30, d_model=16, heads=2, d_ff=24, layers=2))
    chosen = {id(parameter) for parameter in inner_matrices(model)}
    named = {name for name, parameter in model.named_parameters() if id(parameter) in chosen}
    assert len(named) == 2 * (4 + 2) + 2 * (8 + 2)
    assert "encoder.0.attention.W_Q.weight" in named and "decoder.1.feed_forward.linear2.weight" in named
    assert not [name for name in named if "embedding" in name or "norm" in name or "bias" in name]


def test_a_vector_is_refused():
    with pytest.raises(ValueError, match=r"for matrices; a parameter has shape \(3,\)"):
        Muon([torch.nn.Parameter(torch.zeros(3))])
