"""Lab 02, beta_posterior: k heads in n tosses, prior knobs a, b ≥ 1 → a_new, b_new, mode, mean."""

from __future__ import annotations

from collections import namedtuple
from fractions import Fraction

import numpy as np

from autograder.questions.engine import Case, Question


def posterior(k, n, a, b):
    """Toss by toss, in exact fractions: how much belief is on heads, and how much on tails."""
    heads, tails = Fraction(a), Fraction(b)
    for toss in range(n):
        heads, tails = (heads + 1, tails) if toss < k else (heads, tails + 1)
    top = Fraction(1, 2) if heads == tails == 1 else (heads - 1) / (heads + tails - 2)
    return tuple(map(float, (heads, tails, top, heads / (heads + tails))))


question = Question(posterior)


def tosses(rng):
    """Heads, tosses and whole knobs, with heads and tails both seen."""
    for _ in range(3):
        n = int(rng.integers(6, 40))
        yield int(rng.integers(1, n)), n, *rng.integers(2, 7, size=2).tolist()


@question.family("The heads are added to a.", only=0)
def heads(rng):
    yield from tosses(rng)


@question.family("The tails are added to b.", only=1)
def tails(rng):
    yield from tosses(rng)


@question.family("The mode is the highest point of the posterior's curve.", weight=1.5, only=2)
def top(rng):
    yield from tosses(rng)


@question.family("The mean is the average over the posterior's curve.", only=3)
def average(rng):
    yield from tosses(rng)


@question.family("With the flat prior the mode is k/n: the case by hand, and others.", weight=3, only=2)
def flat_prior(rng):
    yield Case(3, 3, 1, 1, gives=(4, 1, 1, 0.8))
    yield Case(7, 10, 1, 1, gives=(8, 4, 0.7, 0.6667))
    for n in rng.integers(5, 30, 2).tolist():
        yield int(rng.integers(1, n)), n, 1, 1
    yield 0, int(rng.integers(2, 9)), 1, 1


@question.family("The other case by hand; a single knob of 1, all heads, and all tails.", only=2)
def one_knob_of_one(rng):
    yield Case(3, 3, 2, 2, gives=(5, 2, 0.8, 0.7143))
    n = int(rng.integers(5, 30))
    yield n, n, 2, int(rng.integers(2, 5))
    yield n, n, int(rng.integers(2, 5)), 1
    yield n // 2, n, 1, int(rng.integers(2, 5))
    yield 0, n, 1, int(rng.integers(2, 5))


@question.family("Without tosses the prior alone speaks; the flat one has the mode 0.5.")
def no_tosses(rng):
    yield Case(0, 0, 1, 1, gives=(1, 1, 0.5, 0.5))
    for a, b in rng.integers(2, 7, size=(2, 2)).tolist():
        yield 0, 0, a, b
    yield 0, 0, 1, int(rng.integers(2, 5))
    yield 0, 0, int(rng.integers(2, 5)), 1


@question.family(
    "Knobs that are not whole keep their fraction, also where they are little above 1.", weight=1.5
)
def fractions(rng):
    for k, n, a, b in tosses(rng):
        yield k, n, a + float(rng.uniform(0.3, 0.9)), b + float(rng.uniform(0.3, 0.9))
    for a, b in (1 + rng.uniform(0.05, 0.24, size=(2, 2))).tolist():
        yield 0, 0, a, b


@question.misconception(
    "the prior is forgotten in the mode",
    costs=1,
    mode=lambda right, k, n, a, b: k / n if n else 0.5,
    hint="Your mode is k/n, plain counting: the prior has no say in it. Use a' and b', where prior and tosses are added up already.",
)
@question.misconception(
    "the mean is given for the mode",
    costs=1.5,
    mode=lambda right, k, n, a, b: right[3],
    hint="Your mode equals your mean. The curve has a minus one in each exponent, so its highest point is (a' − 1)/(a' + b' − 2).",
)
@question.misconception(
    "the mode's denominator lacks a minus one",
    costs=1.5,
    mode=lambda right, k, n, a, b: (right[0] - 1) / (right[0] + right[1] - 1),
    hint="Your mode has a' + b' − 1 below the line. Both exponents lose one, so it is a' + b' − 2.",
)
@question.misconception(
    "a flat posterior has the mode nan",
    costs=0.5,
    mode=lambda right, k, n, a, b: right[2] if right[0] + right[1] > 2 else float("nan"),
    hint="With a flat prior and no tosses your mode is nan, from 0/0. A flat curve has no highest point; the text asks for 0.5 there.",
)
@question.misconception(
    "a half wherever one of the knobs is 1",
    costs=1,
    mode=lambda right, k, n, a, b: 0.5 if 1 in right[:2] else right[2],
    hint="""Your mode is 0.5 as soon as one of a' and b' is 1. Only where *both* are 1 is the curve flat; with a' = 4, b' = 1 it is highest
    at 1.""",
)
@question.misconception(
    "a half whenever there are no tosses",
    costs=1,
    mode=lambda right, k, n, a, b: right[2] if n else 0.5,
    hint="Without tosses your mode is always 0.5. Then the prior alone speaks, and only a' = b' = 1 has no highest point.",
)
@question.misconception(
    "a half whenever the prior is flat",
    costs=1.5,
    mode=lambda right, k, n, a, b: 0.5 if a == b == 1 else right[2],
    hint="""With the flat prior your mode is 0.5 whatever was tossed. It is the *posterior* that must be flat, a' = b' = 1, and it is so only
    without tosses.""",
)
@question.misconception(
    "below the line stands at least 1",
    costs=0.5,
    mode=lambda right, k, n, a, b: (
        0.5 if right[0] == right[1] == 1 else (right[0] - 1) / max(sum(right[:2]) - 2, 1)
    ),
    hint="""Below the line of your mode stands at least 1, against a division by zero. But knobs need not be whole, so that a' + b' − 2 may lie
    between 0 and 1: only a' = b' = 1 is a case of its own.""",
)
@question.misconception(
    "a half where the knobs are nearly 1",
    costs=0.5,
    mode=lambda right, k, n, a, b: 0.5 if round(right[0]) == round(right[1]) == 1 else right[2],
    hint="""Your mode is 0.5 where both knobs round to 1. With 1.4 and 1.2 the curve does have a highest point, 2/3: only where both *are* 1 it has
    none.""",
)
def another_mode(k, n, a, b, *, mode):
    right = posterior(k, n, a, b)
    return *right[:2], mode(right, k, n, a, b), right[3]


@question.misconception("all tosses are added to b", costs=2)
def all_tosses_added_to_b(k, n, a, b):
    """Your b grows by all n tosses. Only the tails belong there, n − k of them; the heads went to a."""
    return posterior(k, n + k, a, b)


@question.misconception("heads and tails are exchanged", costs=2)
def heads_and_tails_exchanged(k, n, a, b):
    """Your heads are added to b and your tails to a. In q^(a−1)·(1−q)^(b−1) the knob a belongs to heads."""
    return posterior(n - k, n, a, b)


@question.misconception(
    "mode and mean are exchanged", costs=1.5, because="four right numbers, two out of their order"
)
def mode_and_mean_exchanged(k, n, a, b):
    """Your third number is the mean and your fourth the mode. The order is a_new, b_new, mode, mean."""
    a_new, b_new, mode, mean = posterior(k, n, a, b)
    return a_new, b_new, mean, mode


@question.misconception("the minus one is taken twice", costs=1.5)
def minus_one_twice(k, n, a, b):
    """Your a' and b' are one too small: they are the exponents of q and 1 − q, not the knobs. The knobs are a + k and b + n − k; the minus
    one appears only when you look for the top."""
    a_new, b_new, mode, mean = posterior(k, n, a, b)
    return a_new - 1, b_new - 1, mode, mean


@question.misconception("the knobs are cut to whole numbers", costs=1)
def knobs_cut(k, n, a, b):
    """Your posterior loses the fraction of the prior's knobs: they are not always whole. Add them as they are, without int() or //."""
    return posterior(k, n, int(a), int(b))


@question.misconception("the prior is forgotten in the mean", costs=1)
def mean_of_the_flat_prior(k, n, a, b):
    """Your mean is (k + 1)/(n + 2), Laplace's rule. It holds for the flat prior only; a'/(a' + b') knows prior and tosses."""
    return *posterior(k, n, a, b)[:3], (k + 1) / (n + 2)


@question.misconception("mode and mean are rounded", costs=1, because="right to four digits")
def rounded_mode_and_mean(k, n, a, b):
    """Your mode and mean are rounded. Return the numbers as they are: who needs fewer digits may round when printing."""
    a_new, b_new, mode, mean = posterior(k, n, a, b)
    return a_new, b_new, round(mode, 4), round(mean, 4)


@question.alternative
def as_an_array(k, n, a, b):
    knobs = np.add([a, b], [k, n - k], dtype=float)
    top = np.maximum(knobs - 1, 0)
    mode = top[0] / top.sum() if top.sum() else 0.5
    return np.array([*knobs, mode, knobs[0] / knobs.sum()])


@question.alternative
def in_float32_tensors(k, n, a, b):
    import torch

    heads, tails = torch.tensor(float(k + a)), torch.tensor(float(n - k + b))
    mode = torch.nan_to_num((heads - 1) / (heads - 1 + tails - 1), nan=0.5)
    return [heads, tails, mode, heads / (heads + tails)]


Posterior = namedtuple("Posterior", "a b mode mean")


@question.alternative
def in_exact_fractions(heads, tosses, a, b):
    a, b = Fraction(a) + heads, Fraction(b) + tosses - heads
    return Posterior(a, b, (a - 1) / (a + b - 2) if a + b > 2 else Fraction(1, 2), a / (a + b))


@question.alternative
def toss_by_toss_in_zero_dimensional_arrays(k, n, a, b):
    for toss in range(n):
        a, b = (a + 1, b) if toss < k else (a, b + 1)
    mode = 0.5 if (a, b) == (1, 1) else np.asarray((a - 1) / (a + b - 2))
    return [np.asarray(a), b, mode, np.float32(a / (a + b))]
