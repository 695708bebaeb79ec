"""Lab 12, ``bleu``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from autograder.testing import alternative, misconception


def _n_grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _counts(hypotheses, references, n, clip=True):
    matches = total = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        found, known = _n_grams(hypothesis, n), _n_grams(reference, n)
        matches += sum((found & known).values()) if clip else sum(c for g, c in found.items() if g in known)
        total += sum(found.values())
    return matches, total


def _precisions(hypotheses, references, clip=True):
    pairs = [_counts(hypotheses, references, n, clip) for n in (1, 2, 3, 4)]
    return [matches / total if total else 0.0 for matches, total in pairs]


def _brevity(hypotheses, references):
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    return 1.0 if c >= r else math.exp(1 - r / c) if c else 0.0


def _geometric(precisions):
    return math.prod(precisions) ** (1 / len(precisions))


@misconception("bleu", title="matches are not clipped", keeps="right unless a translation repeats itself")
def bleu_without_clipping(hypotheses, references):
    """Your n-grams count as often as the translation says them, so that saying a frequent word again and again pays. Each counts at most as
    often as its reference has it."""
    return (
        100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references, clip=False))
    )


@misconception(
    "bleu",
    title="clipped by the whole corpus",
    keeps="right for a single sentence, and where sentences share no n-grams",
)
def bleu_clipped_by_the_corpus(hypotheses, references):
    """A word of yours may match the reference of another sentence: all n-grams of the corpus are counted in one heap before they are
    clipped. Clip each sentence by its own reference, then add up."""
    precisions = []
    for n in (1, 2, 3, 4):
        ours, theirs = (
            sum((_n_grams(words, n) for words in side), Counter()) for side in (hypotheses, references)
        )
        total = sum(ours.values())
        precisions.append(sum((ours & theirs).values()) / total if total else 0.0)
    return 100 * _brevity(hypotheses, references) * _geometric(precisions)


@misconception(
    "bleu", title="an error where nothing is said", keeps="right unless all translations are empty"
)
def bleu_that_divides_by_nothing(hypotheses, references):
    """Where all translations are empty your function divides by zero. Without any match the score is 0: say so before you compute the
    brevity penalty."""
    c, r = _lengths(hypotheses, references)
    brevity = 1.0 if c >= r else math.exp(1 - r / c)
    return 100 * brevity * _geometric(_precisions(hypotheses, references))


@misconception(
    "bleu", title="words are joined without a gap", keeps="right unless joined words happen to agree"
)
def bleu_of_joined_words(hypotheses, references):
    """Two different n-grams count as the same where their words are written alike without the gap, as *on to* and *onto*. Keep the words
    apart, in a tuple."""
    product = 1.0
    for n in (1, 2, 3, 4):
        matches = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            found, known = (
                Counter("".join(words[i : i + n]) for i in range(len(words) - n + 1))
                for words in (hypothesis, reference)
            )
            matches += sum((found & known).values())
            total += sum(found.values())
        product *= matches / total if total else 0.0
    return 100 * _brevity(hypotheses, references) * product**0.25


@misconception("bleu", title="no brevity penalty", keeps="right for translations as long as the references")
def bleu_without_brevity(hypotheses, references):
    """Your score lacks the brevity penalty, so that short translations get away with saying only what is sure."""
    return 100 * _geometric(_precisions(hypotheses, references))


def _lengths(hypotheses, references):
    return sum(map(len, hypotheses)), sum(map(len, references))


@misconception(
    "bleu", title="long translations are rewarded", keeps="right unless the translations are longer"
)
def bleu_that_rewards_length(hypotheses, references):
    """Your brevity penalty has no ceiling: when the translations have more words than the references, e to the power 1 − r/c is above 1, and the score goes
    up with every word too many (even above 100). It is 1 when c ≥ r."""
    c, r = _lengths(hypotheses, references)
    return 100 * math.exp(1 - r / c) * _geometric(_precisions(hypotheses, references))


@misconception(
    "bleu", title="long translations are punished, too", keeps="right unless the translations are longer"
)
def bleu_that_punishes_length(hypotheses, references):
    """Your brevity penalty lowers the score of long translations as well. It is 1 when c ≥ r: words that are too many have already cost precision."""
    c, r = _lengths(hypotheses, references)
    return 100 * math.exp(1 - max(c, r) / min(c, r)) * _geometric(_precisions(hypotheses, references))


@misconception(
    "bleu", title="short translations are rewarded", keeps="right for translations as long as the references"
)
def bleu_that_rewards_brevity(hypotheses, references):
    """Your brevity penalty is above 1 when the translations are too short, so that leaving words out pays: c and r are exchanged in the fraction. The exponent
    1 − r/c is negative when c < r."""
    c, r = _lengths(hypotheses, references)
    return 100 * math.exp(max(0.0, 1 - c / r)) * _geometric(_precisions(hypotheses, references))


@misconception(
    "bleu",
    title="the ratio of the lengths for a brevity penalty",
    keeps="right for translations as long as the references",
)
def bleu_with_a_plain_ratio(hypotheses, references):
    """Your brevity penalty is the plain ratio c/r. It is e to the power 1 − r/c."""
    c, r = _lengths(hypotheses, references)
    return 100 * min(1.0, c / r) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="c and r exchanged")
def bleu_with_exchanged_lengths(hypotheses, references):
    """Your brevity penalty punishes the long translations and spares the short ones: c and r are exchanged."""
    return 100 * _brevity(references, hypotheses) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="the mean of the sentences' scores")
def bleu_sentence_by_sentence(hypotheses, references):
    """You score each sentence and take the mean. BLEU sums matches and totals over the whole corpus first, and divides then."""
    scores = [
        100 * _brevity([h], [r]) * _geometric(_precisions([h], [r]))
        for h, r in zip(hypotheses, references, strict=True)
    ]
    return sum(scores) / len(scores)


@misconception("bleu", title="a brevity penalty for each sentence")
def bleu_with_a_brevity_for_each(hypotheses, references):
    """Your brevity penalty is taken sentence by sentence. The lengths are summed over the corpus first: one short sentence may be made
    good by a long one."""
    each = [_brevity([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    return 100 * sum(each) / len(each) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="the mean instead of the fourth root")
def bleu_with_an_arithmetic_mean(hypotheses, references):
    """You take the mean of the four precisions. BLEU takes the fourth root of their product, so that no n may be bad."""
    return 100 * _brevity(hypotheses, references) * sum(_precisions(hypotheses, references)) / 4


@misconception("bleu", title="a number from 0 to 1")
def bleu_up_to_one(hypotheses, references):
    """Your score goes from 0 to 1. BLEU is given from 0 to 100."""
    return _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references))


@misconception("bleu", title="lower-cased words", keeps="right but for capitals")
def bleu_of_lower_case(hypotheses, references):
    """You lower-case the words. They are compared as they are: in German a capital matters."""
    lower = [[[word.lower() for word in words] for words in side] for side in (hypotheses, references)]
    return 100 * _brevity(*lower) * _geometric(_precisions(*lower))


@misconception("bleu", title="trigrams are the longest")
def bleu_up_to_three(hypotheses, references):
    """Your n-grams stop at three. BLEU goes up to four: range(1, 4) ends before 4."""
    return 100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references)[:3])


@misconception(
    "bleu", title="an n without n-grams is left out", keeps="right but for very short translations"
)
def bleu_of_the_lengths_that_are_there(hypotheses, references):
    """When no translation is long enough for n-grams of some length, you leave that n out of the mean. BLEU is 0 then: there is nothing that could match."""
    pairs = [_counts(hypotheses, references, n) for n in (1, 2, 3, 4)]
    there = [matches / total for matches, total in pairs if total]
    return 100 * _brevity(hypotheses, references) * (_geometric(there) if there else 0.0)


@misconception(
    "bleu", title="empty translations are skipped", keeps="right unless one translation of several is empty"
)
def bleu_without_the_empty(hypotheses, references):
    """You skip the pairs whose translation is empty, so the words of their references are missing in r: who says nothing is not punished. They
    count as any others."""
    kept = [(h, r) for h, r in zip(hypotheses, references, strict=True) if h]
    return (
        100
        * _brevity([h for h, _ in kept], [r for _, r in kept])
        * _geometric(_precisions(hypotheses, references))
    )


@misconception("bleu", title="punctuation marks are dropped", keeps="right for sentences without any")
def bleu_without_marks(hypotheses, references):
    """You throw punctuation marks away. They are words like any other: they are compared, and they make n-grams."""
    bare = [
        [[word for word in words if word not in ".,!?;:"] for words in side]
        for side in (hypotheses, references)
    ]
    return 100 * _brevity(*bare) * _geometric(_precisions(*bare))


@misconception("bleu", title="the score is rounded", keeps="right to two decimals")
def bleu_rounded(hypotheses, references):
    """Your score is rounded to two decimals. Return it as it is: whoever prints it can round it."""
    return round(100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references)), 2)


@misconception("bleu", title="the score is rounded to four decimals", keeps="right to four decimals")
def bleu_rounded_to_four(hypotheses, references):
    """Your score is rounded to four decimals. Return it as it is: whoever prints it can round it."""
    return round(100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references)), 4)


@misconception(
    "bleu",
    title="a short sentence counts with an n-gram that it does not have",
    keeps="right for sentences of four words or more",
)
def bleu_with_one_n_gram_at_least(hypotheses, references):
    """You count at least one n-gram of each length in each translation. A sentence of two words has no 3-grams, and adds none to the total."""
    product = 1.0
    for n in (1, 2, 3, 4):
        matches, _ = _counts(hypotheses, references, n)
        product *= matches / sum(max(1, len(words) - n + 1) for words in hypotheses)
    return 100 * _brevity(hypotheses, references) * product**0.25


@alternative("bleu")
def bleu_by_joined_sums(hypotheses, references):
    return 100 * _brevity(hypotheses, references) * _geometric(_precisions(hypotheses, references))


@alternative("bleu")
def bleu_with_lists_and_numpy(hypotheses, references):
    matches, totals = np.zeros(4), np.zeros(4)
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        for n in range(1, 5):
            left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
            for i in range(len(hypothesis) - n + 1):
                totals[n - 1] += 1
                if hypothesis[i : i + n] in left:
                    left.remove(hypothesis[i : i + n])
                    matches[n - 1] += 1
    if not matches.all():
        return np.float64(0)
    ratio = sum(map(len, references)) / sum(map(len, hypotheses))
    return 100 * np.exp(np.log(matches / totals).mean() + min(1 - ratio, 0))
