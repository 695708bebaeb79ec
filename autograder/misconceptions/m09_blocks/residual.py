"""Lab 09, ``residual``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch

from autograder.testing import alternative, misconception


@misconception("residual", title="pre-LN for post-LN")
def residual_before(x, sublayer, norm):
    """You normalise what the sublayer is given: that is pre-LN. Here the norm comes last, on the sum."""
    return x + sublayer(norm(x))


@misconception("residual", title="only what the sublayer says")
def residual_without_x(x, sublayer, norm):
    """Your result forgets x itself: add it to what the sublayer says, or nothing leads around the sublayer."""
    return norm(sublayer(x))


@misconception("residual", title="no norm behind the sum")
def residual_without_norm(x, sublayer, norm):
    """The sum is right, but it is not normalised: the third argument is not used."""
    return x + sublayer(x)


@misconception("residual", title="the norm on the sublayer's words only")
def residual_with_the_norm_inside(x, sublayer, norm):
    """You normalise only what the sublayer says, and then add x. The norm acts on the sum."""
    return x + norm(sublayer(x))


@misconception("residual", title="the norm on x only")
def residual_with_normed_x(x, sublayer, norm):
    """You add the normalised x, and leave the sum as it is. Add x itself; the norm acts on the sum."""
    return norm(x) + sublayer(x)


@misconception("residual", title="norm before and after")
def residual_twice_normed(x, sublayer, norm):
    """You normalise twice: what the sublayer is given, and the sum. Only the sum is normalised."""
    return norm(x + sublayer(norm(x)))


@misconception(
    "residual",
    title="x is changed in place",
    keeps="the value is right; the argument is changed",
)
def residual_in_place(x, sublayer, norm):
    """Your function changes x itself (x += …). Whoever passed it still needs it: write x + …"""
    x += sublayer(x)
    return norm(x)


@misconception(
    "residual",
    title="added to what the sublayer handed back",
    keeps="the value is right; x changes only where the sublayer hands x itself back",
)
def residual_into_what_was_said(x, sublayer, norm):
    """You add x to the very tensor that the sublayer handed back (+=). Where that is x itself, as nn.Identity and dropout in evaluation mode hand
    it back, x changes: write said + x, which makes a new one."""
    said = sublayer(x)
    said += x
    return norm(said)


@misconception(
    "residual", title="the sublayer called twice", keeps="the values are right; the work is done twice"
)
def residual_that_asks_twice(x, sublayer, norm):
    """You call the sublayer twice. It costs twice the time, and with dropout the two calls do not even say the same: call it once and
    keep what it says."""
    if sublayer(x).shape == x.shape:
        return norm(x + sublayer(x))
    return norm(x)


@misconception(
    "residual", title="the norm called twice", keeps="the values are right; the work is done twice"
)
def residual_that_norms_twice(x, sublayer, norm):
    """You call the norm twice, and throw one result away. Call it once, on the sum, and keep what comes out."""
    total = x + sublayer(x)
    assert norm(total).shape == x.shape
    return norm(total)


@misconception("residual", title="the mean for the sum")
def residual_mean(x, sublayer, norm):
    """You take the mean of x and what the sublayer says. It is the sum: a silent sublayer should let x pass as it is."""
    return norm((x + sublayer(x)) / 2)


@misconception("residual", title="x added twice")
def residual_doubled(x, sublayer, norm):
    """x is in your sum twice, so that a silent sublayer lets 2 · x pass."""
    return norm(x + x + sublayer(x))


@misconception(
    "residual", title="no gradient around the sublayer", keeps="the values are right; the gradient is not"
)
def residual_detached(x, sublayer, norm):
    """The values are right, but x is detached in your sum: no gradient goes around the sublayer, and that was the point."""
    return norm(x.detach() + sublayer(x))


@alternative("residual")
def residual_step_by_step(x, sublayer, norm):
    said = sublayer(x)
    total = torch.stack([x, said]).sum(dim=0)
    return norm(total)


@alternative("residual")
def residual_as_a_chain(x, sublayer, norm):
    return norm(torch.add(input=sublayer(x), other=x))


@alternative("residual")
def residual_into_a_copy(x, sublayer, norm):
    said = sublayer(x).clone()
    said += x
    return norm(said)


@alternative("residual")
def residual_in_single_precision_on_the_way(x, sublayer, norm):
    return norm((x.float() + sublayer(x).float()).to(x.dtype))
