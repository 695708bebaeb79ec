"""Lab 11, ``top_p``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.misconceptions.m11_decoding.common import _softmax
from autograder.testing import alternative, misconception


def _nucleus(logits, T, count):
    """``count`` tells, from the sorted probabilities, how many stay."""
    probabilities = _softmax(logits / T)
    order = np.argsort(-probabilities, kind="stable")
    kept = order[: count(probabilities[order])]
    result = np.zeros(len(probabilities))
    result[kept] = probabilities[kept] / max(probabilities[kept].sum(), 1e-300)
    return result


def _enough(p):
    """How many of the sorted probabilities stay by the text: all for p = 1."""
    return lambda ps: len(ps) if p >= 1 else int((np.cumsum(ps) - ps < p).sum())


@misconception("top_p", title="the word that crosses the line is left out")
def top_p_stays_below(logits, p, T=1.0):
    """Your nucleus has less than p: the word that carries the sum over the line is left out. With a sure word nothing at all may be left. The
    set is the smallest one with *at least* p."""
    return _nucleus(logits, T, lambda ps: int((np.cumsum(ps) <= p).sum()))


@misconception(
    "top_p",
    title="the crossing word is left out unless it is alone",
    keeps="right where one word is enough, and for p = 1",
)
def top_p_stays_below_but_keeps_one(logits, p, T=1.0):
    """Your nucleus has less than p (except where a single word is left): the word that carries the sum over the line belongs to it."""
    return _nucleus(logits, T, lambda ps: len(ps) if p >= 1 else max(1, int((np.cumsum(ps) <= p).sum())))


@misconception("top_p", title="one word too many")
def top_p_one_too_many(logits, p, T=1.0):
    """Your nucleus has one word more than it needs: the sum had reached p before it came."""
    return _nucleus(logits, T, lambda ps: int((np.cumsum(ps) < p).sum()) + 2)


@misconception(
    "top_p",
    title="every word above p",
    keeps="right where one word is enough, and for p = 1, by its threshold",
)
def top_p_as_a_threshold(logits, p, T=1.0):
    """You compare each single probability with a threshold. Top-p looks at the running *sum* of the sorted probabilities."""
    return _nucleus(logits, T, lambda ps: max(1, int((ps >= 1 - p).sum())))


@misconception("top_p", title="summed in the order of the vocabulary")
def top_p_without_sorting(logits, p, T=1.0):
    """Your running sum goes through the words in the order of their numbers. Sort them by probability first: the nucleus holds the most
    probable ones."""
    probabilities = _softmax(logits / T)
    kept = (np.cumsum(probabilities) - probabilities < p) | (p >= 1)
    return np.where(kept, probabilities, 0) / probabilities[kept].sum()


@misconception("top_p", title="the nucleus is not renormalised")
def top_p_not_renormalised(logits, p, T=1.0):
    """The right words stay, but their probabilities no longer sum to one. Divide by the sum of what is left."""
    result = _nucleus(logits, T, _enough(p))
    return np.where(result > 0, _softmax(logits / T), 0)


@misconception(
    "top_p", title="cut first, temperature afterwards", keeps="right at T = 1; two steps are exchanged"
)
def top_p_temperature_last(logits, p, T=1.0):
    """Your cut is made at T = 1, and the temperature acts on what is left. It comes first: a hot distribution has a large nucleus, a cold
    one a small one."""
    plain = _nucleus(logits, 1.0, _enough(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        return _softmax(np.where(plain > 0, logits / T, -np.inf))


@misconception(
    "top_p",
    title="the logits of top-p change for the caller",
    keeps="the values are right; the argument is changed",
)
def top_p_in_place(logits, p, T=1.0):
    """Your probabilities are right, but the logits that you were given are divided by T for good: the caller's array has changed. Compute with logits / T, not with
    logits /= T."""
    result = top_p_word_by_word(logits, p, T)
    if logits.dtype.kind == "f":
        logits /= T
    return result


@misconception("top_p", title="the nucleus is sorted")
def top_p_sorted(logits, p, T=1.0):
    """Your probabilities are right, but they have left their places: they come sorted. Entry i must belong to word i."""
    return -np.sort(-_nucleus(logits, T, _enough(p)))


@misconception("top_p", title="the least probable words")
def top_p_from_the_tail(logits, p, T=1.0):
    """Your nucleus is gathered from the least probable words upwards: np.argsort sorts upwards. Begin with the most probable word."""
    probabilities = _softmax(logits / T)
    order = np.argsort(probabilities, kind="stable")
    sums = np.cumsum(probabilities[order])
    kept = order[(sums - probabilities[order] < p) | (p >= 1)]
    result = np.zeros(len(probabilities))
    result[kept] = probabilities[kept] / probabilities[kept].sum()
    return result


@misconception(
    "top_p", title="p = 1 is never reached", keeps="right but for p = 1 where the sum is rounded down"
)
def top_p_up_to_the_first_sum(logits, p, T=1.0):
    """With p = 1 your function may keep a single word: the running sum ends at 0.9999999999999999, no place reaches p, and argmax of nothing but False is 0. For
    p = 1 every possible word stays."""
    return _nucleus(logits, T, lambda ps: int(np.argmax(np.cumsum(ps) >= p)) + 1)


@misconception(
    "top_p",
    title="p = 1 is reached too early",
    keeps="only words of nearly no probability are lost, at p = 1",
)
def top_p_without_the_rarest(logits, p, T=1.0):
    """With p = 1 your function loses the rarest words: the running sum is rounded to 1 before they come. For p = 1 every possible word stays."""
    return _nucleus(logits, T, lambda ps: int(np.searchsorted(np.cumsum(ps), p)) + 1)


@misconception("top_p", title="of equal words the last ones are in", keeps="only ties are decided otherwise")
def top_p_takes_the_last_of_equals(logits, p, T=1.0):
    """Of equally probable words yours takes those with the higher numbers first, which is what reading a sorted list backwards does. Sort the negative
    probabilities with kind="stable" instead."""
    return _nucleus(logits[::-1], T, _enough(p))[::-1]


@misconception(
    "top_p", title="for p = 1 the temperature is forgotten", keeps="right for every other p, and for T = 1"
)
def top_p_of_one_without_temperature(logits, p, T=1.0):
    """For p = 1 you return the softmax of the logits themselves. All words stay then, but the temperature acts all the same: divide by T
    first."""
    return _softmax(np.asarray(logits, dtype=float)) if p == 1 else _nucleus(logits, T, _enough(p))


@alternative("top_p")
def top_p_word_by_word(logits, p, T=1.0):
    probabilities = _softmax(np.asarray(logits, dtype=float) / T).tolist()
    nucleus, total = {}, 0.0
    for word in sorted(range(len(probabilities)), key=lambda i: -probabilities[i]):
        nucleus[word] = probabilities[word]
        total += probabilities[word]
        if total >= p and p < 1:
            break
    return [nucleus.get(i, 0.0) / total for i in range(len(probabilities))]


@alternative("top_p")
def top_p_with_searchsorted_in_torch(logits, p, T=1.0):
    probabilities = torch.softmax(torch.as_tensor(np.array(logits, dtype=float)) / T, dim=-1)
    values, order = torch.sort(probabilities, descending=True, stable=True)
    size = int(torch.searchsorted(values.cumsum(0), torch.tensor(p, dtype=torch.float64))) + 1
    size = len(order) if p == 1 else size
    result = torch.zeros_like(probabilities)
    result[order[:size]] = values[:size] / values[:size].sum()
    return result


@alternative("top_p")
def top_p_in_single_precision(logits, p, T=1.0):
    scaled = np.asarray(logits, dtype=np.float32) / np.float32(T)
    bells = np.exp(scaled - scaled.max())
    probabilities = bells / bells.sum()
    order = np.argsort(-probabilities, kind="stable")
    sums = np.concatenate([[0], np.cumsum(probabilities[order])[:-1]])
    out = order[(sums >= p) & (p < 1)]
    probabilities[out] = 0
    return probabilities / probabilities.sum()
