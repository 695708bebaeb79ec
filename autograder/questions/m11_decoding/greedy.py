"""Lab 11, greedy: step, bos, eos, max_length → the tokens chosen one by one, and the sum of their log-probabilities."""

import math

import numpy as np

from autograder.questions.engine import Observed, Question
from autograder.questions.m11_decoding.common import Model, random_model, small_tree, tree


def most_probable(step, bos, eos, max_length):
    said, total = [], 0.0
    while len(said) < max_length and eos not in said:
        row = [float(p) for p in step([[bos, *said]])[0]]
        said.append(row.index(max(row)))
        total += max(row)
    return said, total


question = Question(most_probable)


def seen(student, model, bos, max_length):
    tokens, log_p = student(model, bos, model.eos, max_length)
    yield Observed("the tokens", tokens)
    yield Observed("their log-probability", np.reshape(log_p, ()))


@question.scenario(
    "The lecture's tree, yes, yes, the end; and other models, which end after some words for certain."
)
def follows(student, rng):
    yield from seen(student, small_tree(), 3, 10)
    for V, bos, words in ((5, 5, 3), (9, 8, 6), (4, 17, 1)):
        yield from seen(student, random_model(rng, V, 0, [bos] if bos < V else [], words), bos, 12)


@question.scenario(
    "The end may come first, or with the very last word allowed, and its log-probability counts.", weight=0.8
)
def the_end_has_a_price(student, rng):
    p = float(rng.uniform(0.6, 0.8))
    yield from seen(student, Model(lambda said: [p, 0.9 - p, 0.1], 0), 3, 5)
    yield from seen(
        student, Model(lambda said: [p, 0.9 - p, 0.1] if len(said) == 2 else [0.2, 0.5, 0.3], 0), 3, 3
    )


@question.scenario("The first and the last word may have other numbers.", weight=0.8)
def other_numbers(student, rng):
    for V, bos, eos in ((5, 0, 3), (9, 8, 2), (4, 17, 1), (2, 0, 1)):
        model = random_model(rng, V, eos, [bos] if bos < V else [], 3 if V > 2 else 0)
        yield from seen(student, model, bos, 12)


@question.scenario("A model that never ends is stopped after the words allowed.", weight=0.5)
def stops(student, rng):
    for max_length, eos in ((1, 0), (2, 0), (7, 0), (4, 2)):
        model = random_model(rng, 6, eos, [0] if eos else [], ends_after=99)
        yield from seen(student, model, 6, max_length)
        yield Observed("step is called once for each word at most", model.calls <= max_length)


@question.scenario("A sentence of a hundred improbable words has a finite sum.", weight=0.4)
def long_sentences(student, rng):
    row = np.full(10001, 1e-4)
    row[[0, int(rng.integers(1, 99))]] = 0, 2e-4
    yield from seen(student, Model(lambda said: row, 0), 10001, 100)


@question.scenario("Of equally probable words the one with the lower number is taken.", weight=0.4)
def equals(student, rng):
    p = float(rng.uniform(0.35, 0.45))
    yield from seen(
        student, Model(lambda said: [1.0, 0, 0] if len(said) == 2 else [1 - 2 * p, p, p], 0), 3, 3
    )
    yield from seen(student, tree({(): [0.2, 0.4, 0.4]}, [0.2, 0.3, 0.5], eos=2), 3, 5)
    yield from seen(student, tree({}, [0.2, 0.4, 0.4], eos=1), 3, 5)


def _greedy(step, bos, eos, max_length, add=lambda total, word, log_p: total + log_p):
    """The right answer; a wrong one adds up something else."""
    tokens, total = [], 0.0
    while len(tokens) < max_length and tokens[-1:] != [eos]:
        row = step([[bos, *tokens]])[0]
        tokens.append(int(np.argmax(row)))
        total = add(total, tokens[-1], float(row[tokens[-1]]))
    return tokens, total


@question.misconception("the end is left out of the tokens", costs=1.5, because="one token is wrong")
def greedy_without_eos(step, bos, eos, max_length):
    """Your sentence is right but for its last token: eos was chosen like any other word, so it belongs into the list (its log-probability is
    in your sum already)."""
    tokens, total = _greedy(step, bos, eos, max_length)
    return [token for token in tokens if token != eos], total


@question.misconception("the beginning is kept among the tokens", costs=1.5, because="one token is wrong")
def greedy_with_bos(step, bos, eos, max_length):
    """Your tokens begin with bos. It is the empty page that the model is given, not a word that was chosen; return what comes after it."""
    tokens, total = _greedy(step, bos, eos, max_length)
    return [bos, *tokens], total


@question.misconception("one word too few", costs=1, more=-1)
@question.misconception(
    "one word too many",
    costs=1,
    more=1,
    hint="A model that does not end is stopped one word too late: there are at most max_length words.",
)
def greedy_counts_otherwise(step, bos, eos, max_length, *, more):
    """A model that does not end is stopped one word too early: max_length counts the chosen words, and bos is not one of them."""
    return _greedy(step, bos, eos, max_length + more)


@question.misconception("the probability instead of its logarithm", costs=1.5, because="the tokens are right")
def greedy_returns_the_probability(step, bos, eos, max_length):
    """Your number is the probability of the sentence. Its logarithm is asked for: the plain sum of what step gives."""
    tokens, total = _greedy(step, bos, eos, max_length)
    return tokens, math.exp(total)


@question.misconception("only the last word's log-probability", costs=1.5, because="the sentence is right")
def greedy_scores_the_last_word(step, bos, eos, max_length):
    """Your number is the log-probability of the last word alone. A sentence's probability is a product over all its words, so the
    log-probabilities are added up along the way."""
    return _greedy(step, bos, eos, max_length, add=lambda total, word, log_p: log_p)


@question.misconception("the end is not counted in the sum", costs=1)
def greedy_does_not_pay_for_eos(step, bos, eos, max_length):
    """Your sum leaves out the last word when it is eos. Ending is a choice as well, and the model gave it a probability."""
    return _greedy(
        step, bos, eos, max_length, add=lambda total, word, log_p: total + (log_p if word != eos else 0.0)
    )


@question.misconception("the model only sees the last word", costs=2)
def greedy_forgets_the_prefix(step, bos, eos, max_length):
    """Your prefix is bos and the last word only. The model predicts from everything that was said: give it the whole prefix."""
    return _greedy(lambda prefixes: step([[bos, *prefixes[0][1:][-1:]]]), bos, eos, max_length)


@question.alternative
def greedy_with_a_for_loop_and_an_array(step, bos, eos, max_length):
    prefixes = np.array([[bos]])
    log_p = np.zeros(1)
    for _ in range(max_length):
        rows = step(prefixes)
        word = rows.argmax(axis=-1)
        log_p = log_p + rows.max(axis=-1)
        prefixes = np.hstack([prefixes, word[:, None]])
        if word[0] == eos:
            break
    return prefixes[0, 1:], log_p[0]


@question.alternative
def greedy_by_recursion(step, bos, eos, max_length):
    def go(said):
        row = step([(bos, *said)])[0].tolist()
        word = row.index(max(row))
        now = (*said, word)
        if word == eos or len(now) == max_length:
            return now, row[word]
        end, below = go(now)
        return end, row[word] + below

    return go(())
