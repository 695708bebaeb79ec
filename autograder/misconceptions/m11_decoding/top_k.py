"""Lab 11, ``top_k``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import heapq
import math

import numpy as np

from autograder.misconceptions.m11_decoding.common import _softmax
from autograder.testing import alternative, misconception


@misconception("top_k", title="not renormalised")
def top_k_not_renormalised(logits, k, T=1.0):
    """The right words stay, but their probabilities no longer sum to one: what the others had has to be shared out. Divide by the sum of
    what is left."""
    probabilities = _softmax(logits / T)
    probabilities[np.argsort(-logits, kind="stable")[k:]] = 0
    return probabilities


@misconception("top_k", title="a softmax of probabilities (the lecture's formula)")
def top_k_exponentiates_probabilities(logits, k, T=1.0):
    """Your kept probabilities are nearly equal: they went through the exponential a second time, as on the slide. The formula is meant for
    logits, the numbers before the softmax."""
    best = np.argsort(-logits, kind="stable")[:k]
    result = np.zeros(len(logits))
    result[best] = _softmax(_softmax(logits)[best] / T)
    return result


@misconception("top_k", title="renormalised by a softmax over zeros")
def top_k_with_zeroed_logits(logits, k, T=1.0):
    """The words that should be out still have some probability: their logits are set to 0, and e⁰ is 1. A logit of −∞ is what
    gives the probability 0."""
    kept = np.zeros(len(logits))
    best = np.argsort(-logits, kind="stable")[:k]
    kept[best] = logits[best]
    return _softmax(kept / T)


@misconception("top_k", title="the k largest, sorted")
def top_k_sorted(logits, k, T=1.0):
    """Your probabilities are right, but they have left their places: they come sorted. Entry i must belong to word i."""
    result = np.zeros(len(logits))
    best = -np.sort(-logits)[:k]
    result[: len(best)] = _softmax(best / T)
    return result


@misconception("top_k", title="more than k words in a tie", keeps="only ties are decided otherwise")
def top_k_by_a_threshold(logits, k, T=1.0):
    """When several logits equal the k-th largest, more than k words stay in your function: it compares with a threshold. Exactly k stay, and of equal
    ones those with the lower numbers."""
    threshold = np.sort(logits)[::-1][min(k, len(logits)) - 1]
    with np.errstate(invalid="ignore"):
        return _softmax(np.where(logits >= threshold, logits / T, -np.inf))


@misconception(
    "top_k", title="the temperature is ignored", keeps="right at T = 1; one of its arguments is not used"
)
def top_k_without_temperature(logits, k, T=1.0):
    """Your result is the same at every temperature: the argument T is not used."""
    best = np.argsort(-logits, kind="stable")[:k]
    result = np.zeros(len(logits))
    result[best] = _softmax(logits[best])
    return result


@misconception(
    "top_k",
    title="the logits of top-k change for the caller",
    keeps="the values are right; the argument is changed",
)
def top_k_in_place(logits, k, T=1.0):
    """Your probabilities are right, but the logits that you were given are divided by T for good: the caller's array has changed. Compute with logits / T, not with
    logits /= T."""
    result = top_k_with_minus_infinity(logits, k, T)
    if logits.dtype.kind == "f":
        logits /= T
    return result


@misconception("top_k", title="the k least probable words")
def top_k_of_the_worst(logits, k, T=1.0):
    """The words that stay are the least probable ones: np.argsort sorts upwards. Sort the negative logits, or read from the other end."""
    worst = np.argsort(logits, kind="stable")[:k]
    result = np.zeros(len(logits))
    with np.errstate(invalid="ignore"):
        result[worst] = _softmax(logits[worst] / T)
    return result


@misconception("top_k", title="one word too many")
def top_k_plus_one(logits, k, T=1.0):
    """One word too many stays: the slice goes up to and including position k."""
    best = np.argsort(-logits, kind="stable")[: k + 1]
    result = np.zeros(len(logits))
    result[best] = _softmax(logits[best] / T)
    return result


@misconception("top_k", title="of equal words the last ones stay", keeps="only ties are decided otherwise")
def top_k_keeps_the_last_of_equals(logits, k, T=1.0):
    """Of equal logits you keep those with the higher numbers, which is what reading a sorted list backwards does. Sort the negative logits with
    kind="stable" instead."""
    best = np.argsort(logits, kind="stable")[::-1][:k]
    result = np.zeros(len(logits))
    result[best] = _softmax(logits[best] / T)
    return result


@misconception(
    "top_k", title="an error where k is larger than V", keeps="only a k that is larger than V is missing"
)
def top_k_place_by_place(logits, k, T=1.0):
    """With k larger than V your function looks for a place that the list does not have. Every word stays then; a slice `[:k]` forgives it."""
    order = np.argsort(-logits, kind="stable")
    masked = np.full(len(logits), -np.inf)
    for place in range(k):
        masked[order[place]] = logits[order[place]] / T
    return _softmax(masked)


@misconception("top_k", title="a low number instead of −∞", keeps="right but for very low logits")
def top_k_with_a_low_number(logits, k, T=1.0):
    """The words that should be out get a very low logit. Where the others' logits are as low, they come in again: −∞ is what always gives the
    probability 0."""
    masked = np.array(logits, dtype=float)
    masked[np.argsort(-logits, kind="stable")[k:]] = -1e9
    return _softmax(masked / T)


@misconception(
    "top_k",
    title="for k = V or more the temperature is forgotten",
    keeps="right for every smaller k, and for T = 1",
)
def top_k_of_all_without_temperature(logits, k, T=1.0):
    """For a k of V or more you return the softmax of the logits themselves. All words stay then, but the temperature acts all the same: divide by T
    first."""
    if k >= len(logits):
        return _softmax(np.asarray(logits, dtype=float))
    return top_k_with_minus_infinity(logits, k, T)


@alternative("top_k")
def top_k_with_minus_infinity(logits, k, T=1.0):
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    masked = np.full(len(logits), -np.inf)
    for i in order[:k]:
        masked[i] = logits[i] / T
    return _softmax(masked)


@alternative("top_k")
def top_k_in_single_precision(logits, k, T=1.0):
    logits = np.asarray(logits, dtype=np.float32)
    rank = np.argsort(np.argsort(-logits, kind="stable"), kind="stable")
    bells = np.exp((logits - logits.max()) / np.float32(T)) * (rank < k)
    return list(bells / bells.sum())


@alternative("top_k")
def top_k_by_a_heap_on_probabilities(logits, k, T=1.0):
    best = heapq.nlargest(k, range(len(logits)), key=lambda i: (logits[i], -i))
    bells = {i: math.exp((logits[i] - max(logits)) / T) for i in best}
    return [bells.get(i, 0.0) / sum(bells.values()) for i in range(len(logits))]
