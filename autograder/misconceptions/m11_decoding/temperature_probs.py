"""Lab 11, ``temperature_probs``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.misconceptions.m11_decoding.common import _softmax
from autograder.testing import alternative, misconception


@misconception("temperature_probs", title="multiplied by T")
def temperature_upside_down(logits, T):
    """Your cold dice are hot and your hot dice cold: the logits are multiplied by T. They are divided by it, so that a small T makes
    the differences large."""
    return _softmax(logits * T)


@misconception("temperature_probs", title="the probabilities are divided, not the logits")
def temperature_after_the_softmax(logits, T):
    """Your probabilities do not depend on T (or do not sum to one): the temperature acts after the softmax. Divide the logits, before it."""
    probabilities = _softmax(logits) / T
    return probabilities / probabilities.sum()


@misconception("temperature_probs", title="a softmax of probabilities")
def temperature_of_probabilities(logits, T):
    """Your result is much too flat: you take the softmax of probabilities divided by T. What is divided by T and exponentiated are the
    logits themselves."""
    return _softmax(_softmax(logits) / T)


@misconception("temperature_probs", title="an exponential that overflows", keeps="right but for large logits")
def temperature_that_overflows(logits, T):
    """With large logits, or a very small T, your result is not a number: the exponential overflows. Take the largest score away first, as
    the given softmax does."""
    with np.errstate(over="ignore", invalid="ignore"):
        bells = np.exp(np.asarray(logits, dtype=float) / T)
        return bells / bells.sum()


@misconception("temperature_probs", title="probabilities that do not sum to one")
def temperature_not_normalised(logits, T):
    """Your probabilities do not sum to one: after the power 1/T they have to be divided by their sum again."""
    return _softmax(logits) ** (1 / T)


@misconception(
    "temperature_probs",
    title="the logits change for the caller",
    keeps="the values are right; the argument is changed",
)
def temperature_in_place(logits, T):
    """Your probabilities are right, but the array that you were given is divided by T for good: the caller's logits are changed. Compute
    with logits / T, not with logits /= T."""
    if logits.dtype.kind == "f":
        logits /= T
        return _softmax(logits)
    return _softmax(logits / T)


@misconception(
    "temperature_probs", title="powers of probabilities that underflow", keeps="right but for extreme numbers"
)
def temperature_as_a_power(logits, T):
    """Your probabilities are raised to the power 1/T. By the formula that is right, but for a small T all the powers become 0 (and the result nan), and a
    probability that was 0 for the computer stays 0 at any temperature. Divide the logits by T first, then take the softmax."""
    with np.errstate(invalid="ignore"):
        powers = _softmax(logits) ** (1 / T)
        return powers / powers.sum()


@misconception(
    "temperature_probs",
    title="a very small T is made larger",
    keeps="only a very small T is treated otherwise",
)
def temperature_not_below_a_hundredth(logits, T):
    """Below some line your T is made larger, so that logits which differ by very little come out nearly equal. Any T above 0 may be divided by; the
    softmax that is given is safe."""
    return _softmax(logits / max(T, 0.01))


@alternative("temperature_probs")
def temperature_by_powers(logits, T):
    ratio = np.exp((np.asarray(logits, dtype=float) - max(logits)) / T)
    return [float(one) for one in ratio / ratio.sum()]


@alternative("temperature_probs")
def temperature_in_torch_single_precision(logits, T):
    return torch.softmax(torch.tensor(np.ascontiguousarray(logits), dtype=torch.float32) / T, dim=0)
