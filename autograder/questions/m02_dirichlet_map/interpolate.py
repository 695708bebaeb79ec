"""Lab 02, interpolate: counts (…, V), shorter (…, V) or with fewer first axes, alpha > 0 → probabilities (…, V)."""

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m02_dirichlet_map.common import over, seen, shares


def mixed(counts, shorter, alpha):
    """Row by row: the share that the counts have of all evidence, and the share of the shorter model."""
    shorter, P = np.broadcast_to(shorter, counts.shape), np.empty(counts.shape)
    for row in np.ndindex(counts.shape[:-1]):
        n = float(counts[row].sum())
        own = counts[row] / n if n else np.zeros(counts.shape[-1])
        P[row] = n / (n + alpha) * own + alpha / (n + alpha) * shorter[row]
    return P


question = Question(mixed, uses=("dirichlet_map", "dirichlet_mean"))


def some(rng, *shape):
    """Rows of probabilities."""
    return rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])


@question.family("The case by hand, and other single rows.")
def single_rows(rng):
    yield Case(np.array([3, 1, 0]), np.array([0.2, 0.3, 0.5]), 4, gives=[0.475, 0.275, 0.25])
    for V, alpha in ((6, 2), (3, 40.0)):
        yield seen(rng, V), some(rng, V), alpha


@question.family("The more often a context was seen, the less the shorter model counts.", weight=1.5)
def tables(rng):
    for shape, alpha in (((4, 7), 5), ((6, 3), 1), ((2, 5), 40.0)):
        yield seen(rng, *shape) * rng.integers(1, 30, size=(shape[0], 1)) + 0.0, some(rng, *shape), alpha


@question.family("A shorter model with fewer axes is used for every oldest token.", weight=3)
def fewer_axes(rng):
    for shape in ((3, 5, 4), (4, 4, 3), (2, 2, 3, 4)):
        for axes in range(1, len(shape)):
            yield seen(rng, *shape), some(rng, *shape[axes:]), 7


@question.family(
    "Without counts the shorter model's row comes out exactly; with some the zeros fill up.", weight=3
)
def never_seen(rng):
    counts, shorter = rng.integers(1, 5, size=(4, 6)), some(rng, 4, 6)
    counts[[0, 2]], counts[1, 3:] = 0, 0
    yield counts, shorter, 3
    yield counts, shorter[0], 3
    yield counts[0], shorter[0], 3


@question.family("α need not be a whole number.")
def fractions(rng):
    for alpha in (0.5, 3.5, float(rng.uniform(1.2, 1.8))):
        yield seen(rng, 3, 4), some(rng, 3, 4), alpha


@question.scenario("Within a row the outcomes stand to each other as their counts plus α·Q.", weight=2)
def proportions(student, rng):
    for V, alpha in ((6, 2), (4, 30.0), (9, 1)):
        row = np.asarray(student(seen(rng, V), some(rng, V), alpha))
        yield Observed("the row, divided by its sum", row / row.sum())


@question.misconception("a fixed mixture", costs=3.5)
def fixed_mixture(counts, shorter, alpha):
    """You mix the two models in the same proportion everywhere. A context seen a thousand times deserves more trust than one seen once: add
    α·Q to the *counts* and then divide."""
    return (shares(counts + 0.0) + alpha * shorter) / (1 + alpha)


@question.misconception("the shorter model only steps in for rows never seen", costs=3)
def back_off_for_empty_rows(counts, shorter, alpha):
    """You use the shorter model only where a context was never seen. A context seen once still rules out all but one successor then. Every
    row needs its α imagined observations."""
    return np.where(counts.sum(axis=-1, keepdims=True) > 0, shares(counts + 0.0), shorter)


@question.misconception("the shorter model only fills the zeros", costs=3)
def fills_the_zeros(counts, shorter, alpha):
    """You add α·Q only where the count is zero. The shorter model has something to say about every successor: add it everywhere."""
    return shares(counts + np.where(counts == 0, alpha * shorter, 0.0))


@question.misconception("the sum below the line forgets α", costs=2.5)
def alpha_not_below(counts, shorter, alpha):
    """Your rows sum to more than one: α·Q joins above the line, and as Q sums to one, α must join below."""
    below = counts.sum(axis=-1, keepdims=True)
    return np.where(below > 0, over(counts + alpha * shorter, below + 0.0 * counts), shorter)


@question.misconception("V·α joins below the line", costs=2.5)
def alpha_for_every_outcome_below(counts, shorter, alpha):
    """Your rows sum to less than one: below the line you add α for each of the V outcomes. Q sums to one already, so α·Q adds α in all."""
    return (counts + alpha * shorter) / (counts.sum(axis=-1, keepdims=True) + counts.shape[-1] * alpha)


@question.misconception("the shorter model is left out", costs=3.5)
def shorter_left_out(counts, shorter, alpha):
    """Your result does not depend on the shorter model: you add the same α to every outcome. Here the imagined observations follow the
    shorter model: α·Q."""
    return shares(counts + alpha / counts.shape[-1])


@question.misconception("the weights of the two models are exchanged", costs=3)
def weights_exchanged(counts, shorter, alpha):
    """The more often a context was seen, the *less* your result listens to its own counts. The weights are exchanged: its own share is
    n/(n + α), the shorter model's α/(n + α)."""
    n = counts.sum(axis=-1, keepdims=True)
    return (alpha * shares(counts + 0.0) + n * shorter) / (n + alpha)


@question.misconception("the shorter model is matched to the wrong token", costs=2)
def newest_token_forgotten(counts, shorter, alpha):
    """Your trigram rows meet the wrong bigram rows. The *older* of the two tokens is forgotten, and it lies on the first axis: NumPy's
    broadcasting matches the last axes by itself."""
    if counts.ndim == 3 and shorter.ndim == 2 and counts.shape[0] == counts.shape[1]:
        shorter = shorter[:, None, :]
    elif counts.ndim == 3 and shorter.ndim == 2:
        shorter = np.resize(shorter, (counts.shape[0], 1, counts.shape[2]))
    return mixed(counts, shorter, alpha)


@question.misconception("a context never seen becomes nan", costs=2)
def nan_for_the_unseen(counts, shorter, alpha):
    """A context that was never seen becomes nan, from 0/0: you divide the counts by their sum before you mix. It should get the shorter
    model's row; (N + α·Q)/(ΣN + α) needs no case of its own."""
    n = counts.sum(axis=-1, keepdims=True)
    return n / (n + alpha) * (counts / n) + alpha / (n + alpha) * shorter


@question.misconception("the MAP with α·Q", costs=3)
def the_maps_minus_one(counts, shorter, alpha):
    """You call dirichlet_map with α·Q, which takes 1 off each knob. The mixture adds α·Q itself: it is dirichlet_mean with a knob for each
    cell."""
    return shares(counts + alpha * shorter - 1)


@question.alternative
def as_a_dirichlet_mean(counts, shorter, alpha):
    return shares(counts + alpha * np.asarray(shorter))


@question.alternative
def as_a_weighted_average(counts, shorter, alpha):
    n = counts.sum(-1, keepdims=True)
    trust = n / (n + alpha)
    return trust * counts / np.where(n > 0, n, 1) + (1 - trust) * shorter


@question.alternative
def loops_in_float32(counts, shorter, alpha):
    counts = np.array(counts, dtype=np.float32)
    shorter = np.broadcast_to(np.asarray(shorter, dtype=np.float32), counts.shape)
    for at in np.ndindex(counts.shape[:-1]):
        counts[at] = (counts[at] + np.float32(alpha) * shorter[at]) / (counts[at].sum() + np.float32(alpha))
    return counts
