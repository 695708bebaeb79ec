"""Lab 11, top_k: logits (V,), k, T → probabilities (V,) of which k at most are above 0."""

import heapq
import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m11_decoding.common import cut, softened, softmax


def the_k_best(logits, k, T=1.0):
    return cut(softened(logits, T), lambda ps: k)


question = Question(the_k_best, uses=("temperature_probs",))


@question.family("The case by hand; other logits in any order: each word keeps its place.", weight=0.8)
def any_order(rng):
    yield Case(np.log([0.5, 0.3, 0.2]), 3, gives=[0.5, 0.3, 0.2])
    yield Case(np.log([0.5, 0.3, 0.2]), 2, gives=[0.625, 0.375, 0.0])
    for V, k in ((9, 3), (7, 1), (5, 4)):
        yield 2 * rng.normal(size=V) + 3, k
    yield rng.permutation([5, 2, 7, 1, 4]), 3


@question.family("The temperature acts before the renormalising.", weight=0.9)
def with_a_temperature(rng):
    for T in (0.4, 2.5):
        yield rng.normal(size=9), 4, T
    yield Case(rng.normal(size=6), 3, T=1.5)
    yield np.sort(rng.normal(size=5)), 1, 0.4


@question.family("Exactly k words stay, and of equal ones those with the lower numbers.", exact_ties=True)
def equals(rng):
    logits = rng.permutation([0.0, 2.0, 1.0, 2.0, 1.0, 1.0]) + rng.integers(9)
    for k in (1, 3, 4):
        yield logits, k
    yield np.tile(rng.permutation([0.0, 1.0, 0.5, 1.0]), 20), 28


@question.family("With k larger than V every word stays.", weight=0.5)
def more_than_there_are(rng):
    yield rng.normal(size=4), 50
    yield rng.normal(size=3), 4


@question.family("Where every word stays, the temperature acts as it always does.", weight=0.3)
def all_stay(rng):
    for T in (0.5, 2.0):
        for k in (5, 6):
            yield rng.normal(size=5), k, T


@question.family("Large and negative logits, and impossible words.", weight=0.3, rtol=1e-3, atol=1e-4)
def large_logits(rng):
    for shift in (-1000, 1000):
        yield rng.permutation([0.0, 0.7, 1.1, 1.9]) + shift, 2
        yield rng.permutation([0.0, 0.7, 1.1, 1.9]) + shift, 2, 0.5
    for T in (1.0, 2.0):
        yield rng.permutation([-np.inf, -3.0, -np.inf, -2.0, -np.inf]), 3, T


@question.family("Who is out is out, however low the logits of those that stay.", weight=0.4, exact_ties=True)
def very_low_logits(rng):
    yield rng.integers(1, 9) * rng.permutation([-3e12, -2e12, -4e12, -2e12]), 2
    yield rng.permutation([-3e12, -2e12, -4e12]), 1


def _kept(logits, best, T=1.0):
    """The softmax of some logits, at their places."""
    result = np.zeros(len(logits))
    result[best] = softmax(logits[best] / T)
    return result


def _best(logits):
    return np.argsort(-logits, kind="stable")


@question.misconception("not renormalised", costs=2.5)
def top_k_not_renormalised(logits, k, T=1.0):
    """The right words stay, but their probabilities no longer sum to one: what the others had has to be shared out. Divide by the sum of what
    is left."""
    probabilities = softmax(logits / T)
    probabilities[_best(logits)[k:]] = 0
    return probabilities


@question.misconception("a softmax of probabilities (the lecture's formula)", costs=3)
def top_k_exponentiates_probabilities(logits, k, T=1.0):
    """Your kept probabilities are nearly equal: they went through the exponential a second time, as on the slide. The formula is meant for
    logits, the numbers before the softmax."""
    return _kept(softmax(logits), _best(logits)[:k], T)


@question.misconception("renormalised by a softmax over zeros", costs=3)
def top_k_with_zeroed_logits(logits, k, T=1.0):
    """The words that should be out still have some probability: their logits are set to 0, and e⁰ is 1. A logit of −∞ is what gives the
    probability 0."""
    kept = np.zeros(len(logits))
    best = _best(logits)[:k]
    kept[best] = logits[best]
    return softmax(kept / T)


@question.misconception("the k largest, sorted", costs=3)
def top_k_sorted(logits, k, T=1.0):
    """Your probabilities are right, but they have left their places: they come sorted. Entry i must belong to word i."""
    return -np.sort(-_kept(logits, _best(logits)[:k], T))


@question.misconception("more than k words in a tie", costs=1)
def top_k_by_a_threshold(logits, k, T=1.0):
    """When several logits equal the k-th largest, more than k words stay: you compare with a threshold. Exactly k stay, and of equal ones
    those with the lower numbers."""
    threshold = np.sort(logits)[::-1][min(k, len(logits)) - 1]
    return softmax(np.where(logits >= threshold, logits / T, -np.inf))


@question.misconception("the temperature is ignored", costs=1.5)
def top_k_without_temperature(logits, k, T=1.0):
    """Your result is the same at every temperature: the argument T is not used, or cancels. Divide the logits by T first of all."""
    return _kept(logits, _best(logits)[:k])


@question.misconception("of equal words the last ones stay", costs=1)
def top_k_keeps_the_last_of_equals(logits, k, T=1.0):
    """Of equal logits you keep those with the higher numbers, which is what reading a sorted list backwards does. Sort the negative logits
    with kind="stable" instead."""
    return _kept(logits, np.argsort(logits, kind="stable")[::-1][:k], T)


@question.alternative
def top_k_with_minus_infinity(logits, k, T=1.0):
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    masked = np.full(len(logits), -np.inf)
    for i in order[:k]:
        masked[i] = logits[i] / T
    return softmax(masked)


@question.alternative
def top_k_in_single_precision(logits, k, T=1.0):
    logits = np.asarray(logits, dtype=np.float32)
    rank = np.argsort(np.argsort(-logits, kind="stable"), kind="stable")
    bells = np.exp((logits - logits.max()) / np.float32(T)) * (rank < k)
    return list(bells / bells.sum())


@question.alternative
def top_k_by_a_heap_on_probabilities(logits, k, T=1.0):
    best = heapq.nlargest(k, range(len(logits)), key=lambda i: (logits[i], -i))
    bells = {i: math.exp((logits[i] - max(logits)) / T) for i in best}
    return [bells.get(i, 0.0) / sum(bells.values()) for i in range(len(logits))]


@question.impostor
def keeps_ties(right, logits, k, T=1.0):
    """It keeps every word whose logit is not below the k-th largest, so more than k where some are equal.
    One survives: a word has to be out whose logit equals the k-th largest (at a T where theirs is more than 0)."""
    return right(logits, int((logits >= np.sort(logits)[-min(k, len(logits))]).sum()), T)


@question.impostor
def forgets_the_temperature(right, logits, k, T=1.0):
    """It ignores the temperature.
    One survives: it takes a temperature other than 1 that changes the shares of the words that stay."""
    return right(logits, k)


@question.impostor
def prefers_the_higher_number(right, logits, k, T=1.0):
    """Of equal logits it lets the higher number go first.
    One survives: of equal words some have to stay and some not (at a T where theirs is more than 0)."""
    return np.asarray(right(logits[::-1], k, T))[::-1]


@question.impostor
def overflows(right, logits, k, T=1.0):
    """Its exponential overflows, and it answers nan.
    One survives: it takes a positive logit that is above about 700 after the division by T."""
    kept = np.asarray(right(logits, k, T))
    return np.full(kept.shape, np.nan) if np.max(logits / T) > 709 else kept


@question.impostor
def stumbles_over_minus_infinity(right, logits, k, T=1.0):
    """It answers nan where a word is impossible.
    One survives: all words of your input are possible."""
    return np.where(np.isinf(logits), np.nan, right(logits, k, T))
