"""Lab 11, temperature_probs: logits (V,), T > 0 → the softmax of logits / T, (V,)."""

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m11_decoding.common import softened, softmax


def at_temperature(logits, T):
    return np.array(softened(logits, T))


question = Question(at_temperature)


@question.family("T = 1 changes nothing.", weight=0.4)
def at_one(rng):
    yield Case(np.log([0.5, 0.3, 0.2]), 1, gives=[0.5, 0.3, 0.2])
    yield 3 * rng.normal(size=7), 1.0


@question.family("The text's table, and other logits at cold and hot temperatures.", weight=0.6)
def cold_and_hot(rng):
    yield Case(np.log([0.5, 0.3, 0.2]), 0.5, gives=[0.658, 0.237, 0.105])
    yield Case(np.log([0.5, 0.3, 0.2]), 2.0, gives=[0.415, 0.322, 0.263])
    for T in (0.3, 0.9, 1.7, 40.0):
        yield 3 * rng.normal(size=8), T


@question.family("Views, whole numbers, and a single word.", weight=0.4)
def other_kinds(rng):
    yield 3 * rng.normal(size=12)[::2], 1.7
    yield rng.permutation([3, 0, 1, 1, -2]), 2
    yield rng.normal(size=1), 3.0


@question.family(
    "A temperature near zero: what is far apart freezes, what is nearly equal does not.",
    weight=0.5,
    rtol=1e-3,
)
def nearly_frozen(rng):
    tiny = 2.0**-10
    yield int(rng.integers(1, 9)) + tiny * rng.permutation([0.0, 1, 1, 0]), tiny
    yield tiny**2 * (rng.integers(9) + rng.permutation([0.0, 1, 2])), tiny**2


@question.family("Logits in the thousands, hot and cold, and impossible words.", weight=0.5, rtol=1e-3)
def large_logits(rng):
    yield rng.normal(size=5) + 1000, 1.3
    yield rng.permutation([5.0, -np.inf, 5.5, 4.0]), 0.7
    yield rng.permutation([5.0, -np.inf, 5.5, 4.0]), 1e-4
    yield rng.permutation([0.0, -800.0, 400.0]), 400.0
    yield np.round(8 * rng.normal(size=6)) / 8 - 1500, 40.0
    yield np.array([-np.inf, 5.0, 5.5, 4.0]), 0.7


@question.misconception("multiplied by T", costs=1.5)
def temperature_upside_down(logits, T):
    """Your cold dice are hot and your hot dice cold: the logits are multiplied by T. They are divided by it, so that a small T makes the
    differences large."""
    return softmax(logits * T)


@question.misconception("the probabilities are divided, not the logits", costs=1.5)
def temperature_after_the_softmax(logits, T):
    """Your probabilities do not depend on T (or do not sum to one): the temperature acts after the softmax. Divide the logits, before it."""
    probabilities = softmax(logits) / T
    return probabilities / probabilities.sum()


@question.misconception("a softmax of probabilities", costs=1.5)
def temperature_of_probabilities(logits, T):
    """Your result is much too flat: you take the softmax of probabilities divided by T. What is divided by T and exponentiated are the
    logits themselves."""
    return softmax(softmax(logits) / T)


@question.misconception("an exponential that overflows", costs=1)
def temperature_that_overflows(logits, T):
    """With large logits, or a very small T, your result is not a number: the exponential overflows. Take the largest score away first, as
    the given softmax does."""
    with np.errstate(over="ignore", invalid="ignore"):
        bells = np.exp(np.asarray(logits, dtype=float) / T)
        return bells / bells.sum()


@question.misconception("probabilities that do not sum to one", costs=1.5)
def temperature_not_normalised(logits, T):
    """Your probabilities do not sum to one: after the power 1/T they have to be divided by their sum again."""
    return softmax(logits) ** (1 / T)


@question.alternative
def temperature_by_powers(logits, T):
    ratio = np.exp((np.asarray(logits, dtype=float) - max(logits)) / T)
    return [float(one) for one in ratio / ratio.sum()]
