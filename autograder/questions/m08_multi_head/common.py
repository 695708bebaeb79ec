"""What several questions of lab 08 are made of."""

import math

import torch

#: What steps in single precision leave of a result in double precision: relative to it, and beside it.
ROUNDED = {"rtol": 4e-5, "atol": 4e-5}


def tensor(rng, *shape):
    return torch.tensor(rng.normal(size=shape))


def some_mask(rng, *shape):
    """A mask in which every query may hear word 1, and none the last one."""
    mask = rng.random(shape) < 0.5
    mask[..., 1], mask[..., -1] = True, False
    return torch.tensor(mask)


# ---------------------------------------------------------------------------------------- of the wrong answers


def split(x, h):
    return x.reshape(*x.shape[:2], h, -1).transpose(1, 2)


def cut(x, h):
    """The bare reshape: each head gets some of the words."""
    return x.reshape(x.shape[0], h, x.shape[1], -1)


def merge(x):
    return x.transpose(1, 2).flatten(2)


def headed(mask):
    return None if mask is None else mask.unsqueeze(-3)


def attend(q, k, v, mask=None, root=None, over=-1):
    scores = q @ k.mT / (root or math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(over)
    return weights @ v, weights
