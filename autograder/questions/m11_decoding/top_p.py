"""Lab 11, top_p: logits (V,), p, T → probabilities (V,) of the smallest set of words that has at least p."""

import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m11_decoding.common import cut, softened, softmax


def nucleus(logits, p, T=1.0):
    def keep(ps):
        return len(ps) if p >= 1 else next(n for n in range(1, len(ps) + 1) if math.fsum(ps[:n]) >= p)

    return cut(softened(logits, T), keep)


question = Question(nucleus, uses=("temperature_probs",))


@question.family("The case by hand; other logits in any order: each word keeps its place.", weight=0.9)
def any_order(rng):
    logits = np.log([0.4, 0.3, 0.2, 0.1])
    yield Case(logits, 0.6, gives=[0.5714, 0.4286, 0.0, 0.0])
    yield Case(logits, 0.8, gives=[0.4444, 0.3333, 0.2222, 0.0])
    for V, p in ((9, 0.5), (8, 0.75), (6, 0.31)):
        yield rng.permutation(np.linspace(-4, 0, V)) + rng.normal(0, 0.1, V), p
    yield 0.1 * rng.normal(size=30), 0.9


@question.family("A high temperature acts first, and lets more words in.", weight=0.6)
def when_it_is_hot(rng):
    for _ in range(2):
        yield rng.permutation(np.log([0.05, 0.55, 0.25, 0.1, 0.03, 0.02])), 0.78, 3.0
    yield rng.permutation(np.log([0.35, 0.35, 0.15, 0.1, 0.05])), 0.65, 3.0


@question.family("A low temperature acts first: the best word alone has enough then.", weight=0.8)
def when_it_is_cold(rng):
    for _ in range(2):
        yield rng.permutation(np.log([0.1, 0.4, 0.2, 0.3])) + rng.normal(), 0.6, 0.25


@question.family(
    "Of equally probable words those with the lower numbers are in.", weight=0.5, exact_ties=True
)
def equals(rng):
    yield rng.permutation([0.0, 2.0, 0.0, 2.0, 2.0]) + rng.integers(9), 0.01
    yield rng.permutation([0.0, 1.0, 0.0, 1.0]), 0.5


@question.family(
    "A tiny p keeps the best word; large logits, impossible words, one sure word.", weight=0.3, rtol=1e-3
)
def edges(rng):
    yield rng.normal(size=7), 1e-6
    yield rng.normal(size=7) + 1000, 1e-3
    yield rng.permutation([-np.inf, 1.0, -np.inf, 0.0]), 0.5
    yield rng.permutation([-80.0, 80.0, -90.0]), 0.9


@question.family(
    "With p = 1 all words stay, also where the running sum is rounded below 1.", weight=0.5, exact_ties=True
)
def all_stay(rng):
    for logits in (
        np.zeros(10),
        np.zeros(6),
        rng.permutation(np.log([0.3, 0.1, 0.2, 0.4])),
        rng.normal(size=6),
    ):
        yield logits, 1.0


@question.family("With p = 1 the temperature acts as it always does.", weight=0.5, exact_ties=True)
def all_stay_at_a_temperature(rng):
    for T in (0.5, 2.0):
        yield rng.permutation(np.log([0.5, 0.25, 0.125, 0.125])) + rng.normal(), 1.0, T


@question.family("With p = 1 the rarest words stay, too.", weight=0.4, atol=1e-30, rtol=2e-4, exact_ties=True)
def the_rarest_stay(rng):
    yield rng.permutation([-45 - rng.random(), 1.0, -42 - rng.random(), 0.0]), 1.0


def _nucleus(logits, T, count):
    """``count`` tells, from the sorted probabilities, how many stay."""
    probabilities = softmax(logits / T)
    kept = np.argsort(-probabilities, kind="stable")
    kept = kept[: count(probabilities[kept])]
    result = np.zeros(len(probabilities))
    result[kept] = probabilities[kept] / max(probabilities[kept].sum(), 1e-300)
    return result


def _enough(p):
    """How many of the sorted probabilities stay by the text: all for p = 1."""
    return lambda ps: len(ps) if p >= 1 else int((np.cumsum(ps) - ps < p).sum())


@question.misconception(
    "the word that crosses the line is left out",
    costs=2.5,
    count=lambda ps, p: int((np.cumsum(ps) <= p).sum()),
    hint="""Your nucleus has less than p: the word that carries the sum over the line is left out. With a sure word nothing at all may be left.
    The set is the smallest one with *at least* p.""",
)
@question.misconception(
    "every word above p",
    costs=2,
    count=lambda ps, p: max(1, int((ps >= 1 - p).sum())),
    hint="You compare each single probability with a threshold. Top-p looks at the running *sum* of the sorted probabilities.",
)
@question.misconception(
    "p = 1 is never reached",
    costs=1,
    count=lambda ps, p: int(np.argmax(np.cumsum(ps) >= p)) + 1,
    hint="""With p = 1 your function may keep a single word: the running sum ends at 0.9999999999999999, no place reaches p, and argmax of
    nothing but False is 0. For p = 1 every possible word stays.""",
)
def another_count(logits, p, T=1.0, *, count):
    return _nucleus(logits, T, lambda ps: count(ps, p))


@question.misconception("summed in the order of the vocabulary", costs=2.5)
def top_p_without_sorting(logits, p, T=1.0):
    """Your running sum goes through the words in the order of their numbers. Sort them by probability first."""
    probabilities = softmax(logits / T)
    kept = (np.cumsum(probabilities) - probabilities < p) | (p >= 1)
    return np.where(kept, probabilities, 0) / probabilities[kept].sum()


@question.misconception("the nucleus is not renormalised", costs=2)
def top_p_not_renormalised(logits, p, T=1.0):
    """The right words stay, but their probabilities no longer sum to one. Divide by the sum of what is left."""
    return np.where(_nucleus(logits, T, _enough(p)) > 0, softmax(logits / T), 0)


@question.misconception("cut first, temperature afterwards", costs=1.5)
def top_p_temperature_last(logits, p, T=1.0):
    """Your cut is made at T = 1, and the temperature acts on what is left. It comes first: a hot distribution has a large nucleus, a cold one
    a small one."""
    return softmax(np.where(_nucleus(logits, 1.0, _enough(p)) > 0, logits / T, -np.inf))


@question.misconception("the nucleus is sorted", costs=3)
def top_p_sorted(logits, p, T=1.0):
    """Your probabilities are right, but they have left their places: they come sorted. Entry i must belong to word i."""
    return -np.sort(-_nucleus(logits, T, _enough(p)))


@question.alternative
def top_p_word_by_word(logits, p, T=1.0):
    probabilities = softmax(np.asarray(logits, dtype=float) / T).tolist()
    kept, total = {}, 0.0
    for word in sorted(range(len(probabilities)), key=lambda i: -probabilities[i]):
        kept[word] = probabilities[word]
        total += probabilities[word]
        if total >= p and p < 1:
            break
    return [kept.get(i, 0.0) / total for i in range(len(probabilities))]


@question.alternative
def top_p_in_single_precision(logits, p, T=1.0):
    scaled = np.asarray(logits, dtype=np.float32) / np.float32(T)
    bells = np.exp(scaled - scaled.max())
    probabilities = bells / bells.sum()
    order = np.argsort(-probabilities, kind="stable")
    sums = np.concatenate([[0], np.cumsum(probabilities[order])[:-1]])
    probabilities[order[(sums >= p) & (p < 1)]] = 0
    return probabilities / probabilities.sum()
