"""Lab 02, ``interpolate``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m02_dirichlet_map.common import _shares, reference
from autograder.testing import alternative, misconception


@misconception("interpolate", title="a fixed mixture")
def fixed_mixture(counts, shorter, alpha):
    """You mix the two models in the same proportion everywhere. A context seen a thousand times deserves more
    trust than one seen once: add α·Q to the *counts* and then divide."""
    return (_shares(np.asarray(counts, dtype=float)) + alpha * shorter) / (1 + alpha)


@misconception("interpolate", title="the shorter model only steps in for rows never seen")
def back_off_for_empty_rows(counts, shorter, alpha):
    """You use the shorter model only where a context was never seen. A context seen once still rules out all but
    one successor then. Every row needs its α imagined observations."""
    seen = counts.sum(axis=-1, keepdims=True) > 0
    return np.where(seen, _shares(np.asarray(counts, dtype=float)), shorter)


@misconception("interpolate", title="the shorter model only fills the zeros")
def fills_the_zeros(counts, shorter, alpha):
    """You add α·Q only where the count is zero. The shorter model has something to say about every successor:
    add it everywhere."""
    return _shares(counts + np.where(counts == 0, alpha * shorter, 0.0))


@misconception("interpolate", title="the sum below the line forgets α")
def alpha_not_below(counts, shorter, alpha):
    """Your rows sum to more than one: α·Q joins above the line, and as Q sums to one, α must join below."""
    below = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts + alpha * shorter, below, out=counts * 0.0 + shorter, where=below > 0)


@misconception("interpolate", title="V·α joins below the line")
def alpha_for_every_outcome_below(counts, shorter, alpha):
    """Your rows sum to less than one: below the line you add α for each of the V outcomes. Q sums to one already,
    so α·Q adds α in all."""
    V = counts.shape[-1]
    return (counts + alpha * shorter) / (counts.sum(axis=-1, keepdims=True) + V * alpha)


@misconception("interpolate", title="the shorter model is left out")
def shorter_left_out(counts, shorter, alpha):
    """Your result does not depend on the shorter model: you add the same α to every outcome. Here the imagined
    observations follow the shorter model: α·Q."""
    return reference.dirichlet_mean(counts, alpha / counts.shape[-1])


@misconception("interpolate", title="the weights of the two models are exchanged")
def weights_exchanged(counts, shorter, alpha):
    """The more often a context was seen, the *less* your result listens to its own counts. The weights are
    exchanged: its own share is n/(n + α), the shorter model's α/(n + α)."""
    n = counts.sum(axis=-1, keepdims=True)
    return (alpha * _shares(np.asarray(counts, dtype=float)) + n * shorter) / (n + alpha)


@misconception(
    "interpolate",
    title="the shorter model is matched to the wrong token",
    keeps="right for bigrams; only trigrams are mixed with the wrong row",
)
def newest_token_forgotten(counts, shorter, alpha):
    """Your trigram rows meet the wrong bigram rows. The *older* of the two tokens is forgotten, and it lies on the
    first axis: NumPy's broadcasting matches the last axes by itself."""
    shorter = np.asarray(shorter)
    if counts.ndim == 3 and shorter.ndim == 2 and counts.shape[0] == counts.shape[1]:
        shorter = shorter[:, None, :]
    elif counts.ndim == 3 and shorter.ndim == 2:
        shorter = np.resize(shorter, (counts.shape[0], 1, counts.shape[2]))
    return reference.interpolate(counts, shorter, alpha)


@misconception("interpolate", title="the sums of the rows lie along the wrong axis")
def without_keepdims(counts, shorter, alpha):
    """A single row comes out right, a table does not: the sums of its rows are a row themselves when the axis is dropped,
    and NumPy divides the columns by them. Keep the axis: keepdims=True."""
    return (counts + alpha * shorter) / (counts.sum(axis=-1) + alpha)


@misconception(
    "interpolate", title="a context never seen becomes nan", keeps="right for every context that was seen"
)
def nan_for_the_unseen(counts, shorter, alpha):
    """A context that was never seen becomes nan, from 0/0: you divide the counts by their sum before you mix. It should get
    the shorter model's row; (N + α·Q)/(ΣN + α) needs no case of its own."""
    with np.errstate(all="ignore"):
        n = counts.sum(axis=-1, keepdims=True)
        return n / (n + alpha) * (counts / n) + alpha / (n + alpha) * shorter


@misconception(
    "interpolate",
    title="the newest token is forgotten",
    keeps="right for bigrams; only trigrams are mixed with the wrong row",
)
def axis_before_the_last(counts, shorter, alpha):
    """Your shorter model gets a new axis before its last one, so it is matched by the older token and the newest is forgotten. The
    *first* axes are the ones that it lacks: NumPy's broadcasting puts them in front by itself."""
    shorter = np.asarray(shorter)
    while shorter.ndim < counts.ndim:
        shorter = np.expand_dims(shorter, -2)
    return reference.interpolate(counts, shorter, alpha)


@misconception("interpolate", title="the MAP with α·Q")
def the_maps_minus_one(counts, shorter, alpha):
    """You call dirichlet_map with α·Q, which takes 1 off each knob. The mixture adds α·Q itself: it is dirichlet_mean with a knob for
    each cell."""
    return _shares(counts + alpha * np.asarray(shorter) - 1)


@misconception(
    "interpolate",
    title="a shorter model of the counts' own shape does not fit",
    keeps="right where the shorter model lacks an axis",
)
def shorter_must_lack_an_axis(counts, shorter, alpha):
    """Your loop over the first axis takes the whole shorter model for each part of the counts. It may have the same shape as the counts,
    a row for each; without a loop NumPy's broadcasting does both."""
    if counts.ndim == 1:
        return reference.interpolate(counts, shorter, alpha)
    P = np.zeros(counts.shape)
    for i in range(len(counts)):
        P[i] = (counts[i] + alpha * shorter) / (counts[i].sum(axis=-1, keepdims=True) + alpha)
    return P


@misconception("interpolate", title="α is cut to a whole number", keeps="right for a whole α")
def alpha_cut(counts, shorter, alpha):
    """Your α loses its fraction. It is worth so many observations, but need not be a whole number: use it as it is."""
    return reference.interpolate(counts, shorter, int(alpha))


@misconception(
    "interpolate",
    title="the counts are changed in place",
    keeps="the values are right; the argument is changed",
)
def interpolate_in_place(counts, shorter, alpha):
    """Your probabilities are right, but your function writes into the counts that it was given, and whoever passed them finds
    others afterwards. counts += … changes a float array in place: write counts = counts + …"""
    counts = np.asarray(counts, dtype=float)
    total = counts.sum(axis=-1, keepdims=True) + alpha
    counts += alpha * shorter
    return counts / total


@alternative("interpolate")
def as_a_dirichlet_mean(counts, shorter, alpha):
    return reference.dirichlet_mean(counts, alpha * np.asarray(shorter))


@alternative("interpolate")
def as_a_weighted_average(counts, shorter, alpha):
    n = counts.sum(-1, keepdims=True)
    trust = n / (n + alpha)
    return trust * counts / np.where(n > 0, n, 1) + (1 - trust) * shorter


@alternative("interpolate")
def loops_in_float32(counts, shorter, alpha):
    counts = np.array(counts, dtype=np.float32)
    shorter = np.broadcast_to(np.asarray(shorter, dtype=np.float32), counts.shape)
    for at in np.ndindex(counts.shape[:-1]):
        counts[at] = (counts[at] + np.float32(alpha) * shorter[at]) / (counts[at].sum() + np.float32(alpha))
    return counts
