"""Lab 01, average_nll: P (28, 28), a list of names → the average surprise of a step in nats, one float."""

import math

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m01_markov_bigram.bigram_counts import one_by_one
from autograder.questions.m01_markov_bigram.common import INDEX, normalised, some_names, steps_of


def surprise(P, words):
    """Step after step; an impossible one is infinite."""
    steps = [float(P[step]) for word in words for step in steps_of(word)]
    return math.fsum(-math.log(p) for p in steps) / len(steps) if all(steps) else math.inf


question = Question(surprise, uses=("bigram_counts",))


def full_table(rng):
    """A table in which each step is possible, of few different counts, so that the card's data are short."""
    P, counts = np.zeros((28, 28)), rng.integers(1, 8, size=(27, 27))
    P[:27, 1:] = counts / counts.sum(axis=1, keepdims=True)
    return P


def by_hand():
    P = np.zeros((28, 28))
    P[0, [1, 2]], P[1, [27, 2]], P[2, 27] = 0.5, (0.25, 0.75), 1
    return P


@question.family("The case by hand, 1.04; names of one length: the start and the end count.")
def one_length(rng):
    yield Case(by_hand(), ["a"], gives=1.04)
    P = full_table(rng)
    yield P, some_names(rng, 1, shortest=4)
    yield P, ["anna", "otto", "lena"]


@question.family("Names of several lengths: the average is over all steps, not over names.")
def several_lengths(rng):
    P = full_table(rng)
    yield by_hand(), ["a", "ab"]
    for words in (
        [*some_names(rng, 12), "o"],
        ["", "eve"],
        ["", "", "eve"],
        [*some_names(rng, 5, longest=1), "eve", "eve", "maximilian"],
    ):
        yield P, words


@question.scenario("How many times more the same names cost under one table than under another.", weight=1.5)
def in_proportion(student, rng):
    words = ["a", "bob", "jo", "emilia"]
    for _ in range(2):
        costs = [np.asarray(student(full_table(rng), words), dtype=float) for _ in range(2)]
        yield Observed("how many times more it costs", costs[0] / costs[1])


@question.family("One impossible step makes the average infinite; without it the average is exact.")
def impossible_steps(rng):
    P, words = full_table(rng), ["abba", "cabcab", "baca"]
    P[INDEX["q"], INDEX["x"]] = 0
    yield P, words
    yield P, [*words, "aqxb"]
    yield P, ["aqxb"]
    yield P * (np.arange(28) != 27), some_names(rng, 2)


@question.family("A rare step is possible, however rare.", weight=0.5)
def rare_steps(rng):
    P = full_table(rng)
    for rare in (1e-4, 1e-9, 1e-13):
        P[INDEX["b"], INDEX["c"]] = rare * rng.uniform(0.5, 1)
        yield P.copy(), ["abba", "cabc", "baca"]


@question.family("Long lists and long names, whose product of probabilities is 0 in a computer.", weight=0.5)
def long_ones(rng):
    P = full_table(rng)
    yield P, some_names(rng, 120)
    yield P, ["".join(rng.choice(list("abcxyz"), size=400)), "eve"]


@question.family(
    "Even and sparse tables, one name or many, long and empty ones, which come again.", weight=0.5
)
def all_kinds(rng):
    few = ["".join(rng.choice(list("abz"), size=length)) for length in (1, 3, 7)]
    sparse = full_table(rng) * (rng.random((28, 28)) < 0.6)
    for words in ([""], ["z", "", "z"], ["zazaza", "aaaa"], [*few, "", *few, "q"]):
        yield np.full((28, 28), 1 / 28), words
        yield normalised(one_by_one(words)), words
        yield sparse, words
    yield np.asfortranarray(full_table(rng)), few


def _costs(P, word, start=0, end=None, log=np.log):
    return [-log(P[step]) for step in steps_of(word)[start:end]]


def _average(P, words, **kinds):
    return float(np.mean([cost for word in words for cost in _costs(P, word, **kinds)]))


@question.misconception("the product comes before the logarithm", costs=1)
def product_first(P, words):
    """On a long list your result is infinite though every step is possible: a product of hundreds of probabilities is too small for
    any computer and becomes 0. Add the logarithms of the steps instead."""
    steps = [P[step] for word in words for step in steps_of(word)]
    return float(-np.log(np.prod(steps)) / len(steps))


@question.misconception("rare steps are taken for impossible ones", costs=1)
def rare_is_impossible(P, words):
    """Your result is infinite though every step is possible: a small probability is taken for zero. Only P = 0 is impossible."""
    return _average(np.where(np.less(P, 1e-3), 0, P), words)


@question.misconception("divided by the number of tokens", costs=1, because="the sum is right")
def divided_by_tokens(P, words):
    """You divide by the number of tokens, n + 2 for a name of n letters. The steps lie between them: there are n + 1."""
    return float(sum(sum(_costs(P, word)) for word in words) / sum(len(word) + 2 for word in words))


@question.misconception("averaged over names instead of steps", costs=2)
def averaged_over_names(P, words):
    """Your result is a mean of the names' own means, so a step in a short name weighs more than one in a long
    name. Add up the cost of all steps of all names and divide once by the number of steps."""
    return float(np.mean([np.mean(_costs(P, word)) for word in words]))


@question.misconception("the step to the end is not counted", costs=2, because="one slip", end=-1)
@question.misconception(
    "the step from the start is not counted",
    costs=2,
    start=1,
    because="one slip, though it shows everywhere",
    hint="""The step from <S> to the first letter is missing. How a name begins is part of what the model predicts: a
    name of n letters has n + 1 steps.""",
)
def a_step_not_counted(P, words, *, start=0, end=None):
    """The step from the last letter to <E> is missing. Where a name stops is part of what the model predicts: a
    name of n letters has n + 1 steps."""
    return _average(P, words, start=start, end=end)


@question.misconception("divided by the number of letters", costs=1, because="the sum is right")
def divided_by_letters(P, words):
    """You add up all steps but divide by the number of letters. A name of n letters has n + 1 steps, for the end
    is predicted too."""
    return float(np.sum([cost for word in words for cost in _costs(P, word)]) / sum(map(len, words)))


@question.misconception("bits instead of nats", costs=1, because="right but for a factor")
def in_bits(P, words):
    """Your result is in bits, with the logarithm to base 2. The course measures in nats: np.log."""
    return _average(P, words, log=np.log2)


@question.misconception("the sign is missing", costs=1, because="right but for the sign")
def log_likelihood(P, words):
    """Your result is negative: it is the log-likelihood. The *negative* log-likelihood turns the sign, so that
    more surprise is a larger number."""
    return -_average(P, words)


@question.misconception("a small number hides impossible steps", costs=1)
def small_number_in_the_log(P, words):
    """You add a small number inside the logarithm, so an impossible step costs about 37 instead of infinity. It
    hides the one thing that this number should shout: the model ruled out what happened."""
    return _average(P + 1e-16, words)


@question.misconception("perplexity instead of its logarithm", costs=2, because="one slip")
def perplexity(P, words):
    """Your result is e to the NLL, the perplexity. It says among how many tokens the model seems to choose; the
    question asks for the NLL itself."""
    return float(np.exp(_average(P, words)))


@question.misconception("impossible steps are left out", costs=1)
def impossible_steps_left_out(P, words):
    """You leave out the steps with probability zero. They are the worst predictions of all: one of them makes
    the average infinite."""
    costs = np.array([cost for word in words for cost in _costs(P, word)])
    return float(costs[np.isfinite(costs)].mean())


@question.alternative
def from_the_counts(P, words):
    N = one_by_one(words)
    seen = N > 0
    return -(N[seen] * np.log(np.asarray(P)[seen])).sum() / N.sum()


@question.alternative
def a_running_sum_with_math(P, words):
    total, steps = 0.0, 0
    for word in words:
        before = "<S>"
        for token in [*word, "<E>"]:
            p = float(P[INDEX[before]][INDEX[token]])
            total -= math.log(p) if p > 0 else -math.inf
            steps, before = steps + 1, token
    return total / steps


def total(right, P, words):
    """The surprise of all names together."""
    return float(sum(right(P, [word]) * (len(word) + 1) for word in words))


@question.impostor
def averages_over_names(right, P, words):
    """It averages over names, not over steps.
    One survives: a long name of yours costs as much a step as a short one."""
    return np.mean([right(P, [word]) for word in words])


@question.impostor
def forgets_the_end(right, P, words):
    """It leaves out the last step of each name, to the end.
    One survives: in your table the step to the end costs no more and no less than others do."""
    ends = sum(-np.log(P[INDEX[word[-1]], INDEX["<E>"]]) for word in words)
    return (total(right, P, words) - ends) / sum(map(len, words))


@question.impostor
def forgets_the_start(right, P, words):
    """It leaves out the first step of each name, from the start.
    One survives: in your table the step from the start costs no more and no less than others do."""
    starts = sum(-np.log(P[INDEX["<S>"], INDEX[word[0]]]) for word in words)
    return (total(right, P, words) - starts) / sum(map(len, words))


@question.impostor
def reads_columns_for_rows(right, P, words):
    """It takes the row for the next token and the column for the current one.
    One survives: in your table a step costs as much as the step back."""
    return right(P.T, words)


@question.impostor
def counts_a_name_once(right, P, words):
    """It counts a name that stands in the list twice only once.
    One survives: it wants a name that comes again."""
    return right(P, list(dict.fromkeys(words)))


@question.impostor
def runs_names_together(right, P, words):
    """It runs all names together, as if they were one.
    One survives: two names one after the other cost what one long name does."""
    return right(P, ["".join(words)])
