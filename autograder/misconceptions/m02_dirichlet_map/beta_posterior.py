"""Lab 02, ``beta_posterior``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from collections import namedtuple
from fractions import Fraction

import numpy as np

from autograder.misconceptions.m02_dirichlet_map.common import reference
from autograder.testing import alternative, misconception

Posterior = namedtuple("Posterior", "a b mode mean")


@misconception(
    "beta_posterior",
    title="the prior is forgotten in the mode",
    keeps="posterior and mean are right; one of three results is wrong",
)
def mode_without_prior(k, n, a, b):
    """Your mode is k/n, which is plain counting: the prior has no say in it. Use the posterior's knobs a' and
    b', where prior and tosses are added up already."""
    a_new, b_new, _, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, k / n if n else 0.5, mean


@misconception("beta_posterior", title="all tosses are added to b")
def all_tosses_added_to_b(k, n, a, b):
    """Your b grows by all n tosses. Only the tails belong there, n − k of them; the heads went to a."""
    return reference.beta_posterior(k, n + k, a, b)


@misconception("beta_posterior", title="heads and tails are exchanged")
def heads_and_tails_exchanged(k, n, a, b):
    """Your heads are added to b and your tails to a. In q^(a−1)·(1−q)^(b−1) the knob a belongs to heads."""
    return reference.beta_posterior(n - k, n, a, b)


@misconception(
    "beta_posterior",
    title="the mean is given for the mode",
    keeps="posterior and mean are right; one of three results is wrong",
)
def mean_for_the_mode(k, n, a, b):
    """Your mode equals your mean. The highest point of the curve has a minus one in each exponent, so it is
    (a' − 1)/(a' + b' − 2)."""
    a_new, b_new, _, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mean, mean


@misconception("beta_posterior", title="mode and mean are exchanged")
def mode_and_mean_exchanged(k, n, a, b):
    """Your third number is the mean and your fourth the mode. The order is a_new, b_new, mode, mean."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mean, mode


@misconception("beta_posterior", title="the minus one is taken twice")
def minus_one_twice(k, n, a, b):
    """Your a' and b' are one too small: they are the exponents of q and 1 − q, not the knobs. The knobs are
    a + k and b + n − k, and the minus one appears only when you look for the top."""
    _, _, mode, mean = reference.beta_posterior(k, n, a, b)
    return a + k - 1, b + n - k - 1, mode, mean


@misconception(
    "beta_posterior",
    title="the mode's denominator lacks a minus one",
    keeps="posterior and mean are right; one of three results is wrong",
)
def mode_over_one_less(k, n, a, b):
    """Your mode has a' + b' − 1 below the line. Both exponents lose one, so it is a' + b' − 2."""
    a_new, b_new, _, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, (a_new - 1) / (a_new + b_new - 1), mean


@misconception(
    "beta_posterior",
    title="a flat posterior has the mode nan",
    keeps="right but for one special case that the text pins",
)
def flat_mode_is_nan(k, n, a, b):
    """With a flat prior and no tosses your mode is nan, from 0/0. The flat curve has no highest point; the lab
    pins 0.5 for this one case."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mode if a_new + b_new > 2 else float("nan"), mean


@misconception(
    "beta_posterior",
    title="a half wherever one of the knobs is 1",
    keeps="right but where a special case is drawn too wide",
)
def half_when_a_knob_is_one(k, n, a, b):
    """Your mode is 0.5 as soon as one of a' and b' is 1. Only when *both* are 1 is the curve flat; with a' = 4, b' = 1 it
    is highest at 1."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, 0.5 if 1 in (a_new, b_new) else mode, mean


@misconception(
    "beta_posterior",
    title="a half whenever there are no tosses",
    keeps="right but where a special case is drawn too wide",
)
def half_without_tosses(k, n, a, b):
    """Without tosses your mode is always 0.5. Then the prior alone speaks, and it may well have a highest point: only
    a' = b' = 1 has none."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mode if n else 0.5, mean


@misconception(
    "beta_posterior",
    title="the knobs are cut to whole numbers",
    keeps="right for knobs that are whole numbers",
)
def knobs_cut(k, n, a, b):
    """Your posterior loses the fraction of the prior's knobs: they are not always whole numbers. Add them as they are,
    without int() or //."""
    return reference.beta_posterior(k, n, int(a), int(b))


@misconception(
    "beta_posterior",
    title="a half whenever the prior is flat",
    keeps="posterior and mean are right; the mode is wrong for one prior",
)
def half_for_a_flat_prior(k, n, a, b):
    """With the flat prior your mode is 0.5 whatever was tossed. It is the *posterior* that must be flat, a' = b' = 1, and that it
    is only without tosses."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, 0.5 if a == b == 1 else mode, mean


@misconception(
    "beta_posterior",
    title="the prior is forgotten in the mean",
    keeps="posterior and mode are right; one of three results is wrong",
)
def mean_of_the_flat_prior(k, n, a, b):
    """Your mean is (k + 1)/(n + 2), Laplace's rule. It holds for the flat prior only; with any other, a'/(a' + b') knows prior
    and tosses."""
    a_new, b_new, mode, _ = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, mode, (k + 1) / (n + 2)


@misconception(
    "beta_posterior",
    title="below the line stands at least 1",
    keeps="right unless the knobs are little above 1",
)
def at_least_one_below(k, n, a, b):
    """Below the line of your mode stands at least 1, against a division by zero. But a' + b' − 2 may lie between 0 and 1, as the knobs
    need not be whole: only a' = b' = 1 is a case of its own."""
    a_new, b_new, _, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, 0.5 if a_new == b_new == 1 else (a_new - 1) / max(a_new + b_new - 2, 1), mean


@misconception(
    "beta_posterior",
    title="a half where the knobs are nearly 1",
    keeps="right but where a special case is drawn too wide",
)
def half_near_one(k, n, a, b):
    """Your mode is 0.5 where both knobs round to 1. With 1.4 and 1.2 the curve does have a highest point, 2/3: only where both *are* 1
    it has none."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, 0.5 if round(a_new) == round(b_new) == 1 else mode, mean


@misconception("beta_posterior", title="mode and mean are rounded", keeps="right to some digits")
def rounded_mode_and_mean(k, n, a, b):
    """Your mode and mean are rounded to a few digits. Return the numbers as they are: who needs fewer digits may round when
    printing."""
    a_new, b_new, mode, mean = reference.beta_posterior(k, n, a, b)
    return a_new, b_new, round(mode, 4), round(mean, 4)


@alternative("beta_posterior")
def as_an_array(k, n, a, b):
    knobs = np.add([a, b], [k, n - k], dtype=float)
    top = np.maximum(knobs - 1, 0)
    mode = top[0] / top.sum() if top.sum() else 0.5
    return np.array([*knobs, mode, knobs[0] / knobs.sum()])


@alternative("beta_posterior")
def in_float32_tensors(k, n, a, b):
    import torch

    heads, tails = torch.tensor(float(k + a)), torch.tensor(float(n - k + b))
    mode = torch.nan_to_num((heads - 1) / (heads - 1 + tails - 1), nan=0.5)
    return [heads, tails, mode, heads / (heads + tails)]


@alternative("beta_posterior")
def in_exact_fractions(heads, tosses, a, b):
    a, b = Fraction(a) + heads, Fraction(b) + tosses - heads
    return Posterior(a, b, (a - 1) / (a + b - 2) if a + b > 2 else Fraction(1, 2), a / (a + b))


@alternative("beta_posterior")
def toss_by_toss_in_zero_dimensional_arrays(k, n, a, b):
    for toss in range(n):
        a, b = (a + 1, b) if toss < k else (a, b + 1)
    mode = 0.5 if (a, b) == (1, 1) else np.asarray((a - 1) / (a + b - 2))
    return [np.asarray(a), b, mode, np.float32(a / (a + b))]
