"""Lab 01, ``average_nll``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import itertools

import numpy as np

from autograder.misconceptions.m01_markov_bigram.common import INDEX, reference
from autograder.testing import alternative, misconception


def _costs(P, word, start=True, end=True, log=np.log):
    tokens = [*(["<S>"] if start else []), *word, *(["<E>"] if end else [])]
    with np.errstate(all="ignore"):
        return [-log(P[INDEX[a], INDEX[b]]) for a, b in itertools.pairwise(tokens)]


@misconception("average_nll", title="the product comes before the logarithm", keeps="right for short lists")
def product_first(P, words):
    """On a long list your result is infinite though every step is possible: a product of hundreds of probabilities is too small for
    any computer and becomes 0. Add the logarithms of the steps instead."""
    steps = [pair for word in words for pair in itertools.pairwise(["<S>", *word, "<E>"])]
    with np.errstate(all="ignore"):
        return float(-np.log(np.prod([P[INDEX[a], INDEX[b]] for a, b in steps])) / len(steps))


@misconception(
    "average_nll", title="rare steps are taken for impossible ones", keeps="right where no step is rare"
)
def rare_is_impossible(P, words):
    """Your result is infinite though every step is possible: a small probability is taken for zero. Only P = 0 is impossible."""
    costs = [cost for word in words for cost in _costs(P, word)]
    return float(np.mean(costs)) if max(costs) < -np.log(1e-3) else np.inf


@misconception(
    "average_nll", title="a tiny probability is taken for 0", keeps="right unless a step is as rare as 1e-8"
)
def tiny_is_impossible(P, words):
    """Your result is infinite though every step is possible: np.isclose takes a tiny probability for 0. Only P = 0 is impossible."""
    costs = [cost for word in words for cost in _costs(P, word)]
    return float(np.mean(costs)) if max(costs) < -np.log(1e-8) else np.inf


@misconception(
    "average_nll",
    title="a name's product comes before its logarithm",
    keeps="right for names of usual length",
)
def product_of_a_name(P, words):
    """On a long name your result is infinite though every step is possible: the product of its probabilities becomes 0 in a computer.
    Add the logarithms of the steps instead."""
    with np.errstate(all="ignore"):
        costs = [-np.log(np.prod(np.exp(-np.array(_costs(P, word))))) for word in words]
    return float(sum(costs) / sum(len(word) + 1 for word in words))


@misconception(
    "average_nll",
    title="a step that comes again in a name counts once",
    keeps="right unless a name repeats a step",
)
def distinct_steps_of_a_name(P, words):
    """A step that comes twice in one name counts once, as in a set. It was taken twice, so it costs twice."""
    steps = [pair for word in words for pair in dict.fromkeys(itertools.pairwise(["<S>", *word, "<E>"]))]
    with np.errstate(all="ignore"):
        return float(np.mean([-np.log(P[INDEX[a], INDEX[b]]) for a, b in steps]))


@misconception("average_nll", title="divided by the number of tokens")
def divided_by_tokens(P, words):
    """You divide by the number of tokens, n + 2 for a name of n letters. The steps lie between them: there are n + 1."""
    costs = [cost for word in words for cost in _costs(P, word)]
    return float(sum(costs) / (len(costs) + len(words)))


@misconception("average_nll", title="averaged over names instead of steps")
def averaged_over_names(P, words):
    """Your result is a mean of the names' own means, so a step in a short name weighs more than one in a long
    name. Add up the cost of all steps of all names and divide once by the number of steps."""
    return float(np.mean([np.mean(_costs(P, word)) for word in words]))


@misconception("average_nll", title="the cost of a whole name")
def cost_of_a_name(P, words):
    """Your result is the average cost of a *name*. Divide by the number of steps instead, so that lists of long
    and of short names compare."""
    return float(np.mean([np.sum(_costs(P, word)) for word in words]))


@misconception("average_nll", title="the step to the end is not counted")
def end_not_counted(P, words):
    """The step from the last letter to <E> is missing. Where a name stops is part of what the model predicts: a
    name of n letters has n + 1 steps."""
    return float(np.mean([c for word in words for c in _costs(P, word, end=False)]))


@misconception("average_nll", title="the step from the start is not counted")
def start_not_counted(P, words):
    """The step from <S> to the first letter is missing. How a name begins is part of what the model predicts: a
    name of n letters has n + 1 steps."""
    return float(np.mean([c for word in words for c in _costs(P, word, start=False)]))


@misconception("average_nll", title="divided by the number of letters")
def divided_by_letters(P, words):
    """You add up all steps but divide by the number of letters. A name of n letters has n + 1 steps, for the end
    is predicted too."""
    return float(np.sum([c for word in words for c in _costs(P, word)]) / sum(map(len, words)))


@misconception("average_nll", title="bits instead of nats")
def in_bits(P, words):
    """Your result is in bits, with the logarithm to base 2. The course measures in nats: np.log."""
    return float(np.mean([c for word in words for c in _costs(P, word, log=np.log2)]))


@misconception("average_nll", title="the sign is missing")
def log_likelihood(P, words):
    """Your result is negative: it is the log-likelihood. The *negative* log-likelihood turns the sign, so that
    more surprise is a larger number."""
    return -float(np.mean([c for word in words for c in _costs(P, word)]))


@misconception(
    "average_nll",
    title="a small number hides impossible steps",
    keeps="right wherever every step is possible",
)
def small_number_in_the_log(P, words):
    """You add a small number inside the logarithm, so an impossible step costs about 37 instead of infinity. It
    hides the one thing that this number should shout: the model ruled out what happened."""
    return float(np.mean([c for word in words for c in _costs(P + 1e-16, word)]))


@misconception("average_nll", title="perplexity instead of its logarithm")
def perplexity(P, words):
    """Your result is e to the NLL, the perplexity. It says among how many tokens the model seems to choose; the
    question asks for the NLL itself."""
    return float(np.exp(np.mean([c for word in words for c in _costs(P, word)])))


@misconception(
    "average_nll", title="impossible steps are left out", keeps="right wherever every step is possible"
)
def impossible_steps_left_out(P, words):
    """You leave out the steps with probability zero. They are the worst predictions of all: one of them makes
    the average infinite."""
    costs = np.array([c for word in words for c in _costs(P, word)])
    return float(costs[np.isfinite(costs)].mean())


@alternative("average_nll")
def from_the_counts(P, words):
    N = reference.bigram_counts(words)
    seen = N > 0
    with np.errstate(divide="ignore"):
        return -(N[seen] * np.log(np.asarray(P)[seen])).sum() / N.sum()


@alternative("average_nll")
def a_running_sum_with_math(P, words):
    import math

    total, steps = 0.0, 0
    for word in words:
        before = "<S>"
        for token in [*word, "<E>"]:
            p = float(P[INDEX[before]][INDEX[token]])
            total -= math.log(p) if p > 0 else -math.inf
            steps, before = steps + 1, token
    return total / steps


@alternative("average_nll")
def in_float32_as_an_array(P, words):
    rows = [i for word in words for i in (0, *(ord(letter) - 96 for letter in word))]
    columns = [j for word in words for j in (*(ord(letter) - 96 for letter in word), 27)]
    with np.errstate(divide="ignore"):
        return np.mean(-np.log(P.astype(np.float32)[rows, columns]), dtype=np.float32)


@alternative("average_nll")
def in_float32_on_the_way(P, words):
    logs, total, steps = np.full((28, 28), -np.inf, dtype=np.float32), 0.0, 0
    logs[P > 0] = np.log(np.asarray(P[P > 0], dtype=np.float32))
    for word in words:
        tokens = [INDEX[token] for token in ("<S>", *word, "<E>")]
        total -= float(logs[tokens[:-1], tokens[1:]].sum())
        steps += len(word) + 1
    return total / steps
