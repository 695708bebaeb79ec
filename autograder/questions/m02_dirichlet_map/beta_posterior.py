"""Lab 02, beta_posterior: k heads in n tosses, prior knobs a, b ≥ 1 → a_new, b_new, mode, mean."""

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


@question.misconception("mode and mean are exchanged", costs=1.5, because="the four numbers are right")
def mode_and_mean_exchanged(k, n, a, b):
    """Your third number is the mean and your fourth the mode. The order is a_new, b_new, mode, mean."""
    a_new, b_new, mode, mean = posterior(k, n, a, b)
    return a_new, b_new, mean, mode


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
