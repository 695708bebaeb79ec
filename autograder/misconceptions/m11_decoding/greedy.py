"""Lab 11, ``greedy``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import alternative, misconception


@misconception("greedy", title="the end is left out of the tokens")
def greedy_without_eos(step, bos, eos, max_length):
    """Your sentence is right but for its last token: eos was chosen like any other word, so it belongs into the list (its
    log-probability is in your sum already)."""
    tokens: list[int] = []
    total = 0.0
    for _ in range(max_length):
        row = step([[bos, *tokens]])[0]
        best = int(np.argmax(row))
        total += float(row[best])
        if best == eos:
            break
        tokens.append(best)
    return tokens, total


@misconception("greedy", title="the beginning is kept among the tokens")
def greedy_with_bos(step, bos, eos, max_length):
    """Your tokens begin with bos. It is the empty page that the model is given, not a word that was chosen; return what
    comes after it."""
    tokens, total = [bos], 0.0
    while len(tokens) <= max_length and (len(tokens) == 1 or tokens[-1] != eos):
        row = step([tokens])[0]
        tokens.append(int(np.argmax(row)))
        total += float(np.max(row))
    return tokens, total


@misconception("greedy", title="one word too few")
def greedy_counts_bos(step, bos, eos, max_length):
    """A model that does not end is stopped one word too early: max_length counts the chosen words, and bos is not one of
    them."""
    prefix, total = [bos], 0.0
    while len(prefix) < max_length and (len(prefix) == 1 or prefix[-1] != eos):
        row = step([prefix])[0]
        prefix = [*prefix, int(np.argmax(row))]
        total += float(np.max(row))
    return prefix[1:], total


@misconception(
    "greedy", title="one word too many", keeps="right wherever the sentence ends before max_length"
)
def greedy_with_one_word_too_many(step, bos, eos, max_length):
    """A model that does not end is stopped one word too late: there are at most max_length words."""
    return _greedy(step, bos, eos, max_length + 1)


@misconception("greedy", title="the probability instead of its logarithm")
def greedy_returns_the_probability(step, bos, eos, max_length):
    """Your number is the probability of the sentence. Its logarithm is asked for: the plain sum of what step gives."""
    tokens, total = _greedy(step, bos, eos, max_length)
    return tokens, math.exp(total)


@misconception("greedy", title="only the last word's log-probability")
def greedy_scores_the_last_word(step, bos, eos, max_length):
    """Your number is the log-probability of the last word alone. A sentence's probability is a product over all its words,
    so the log-probabilities are added up along the way."""
    return _greedy(step, bos, eos, max_length, add=lambda total, word, log_p: log_p)


@misconception(
    "greedy", title="the end is not counted in the sum", keeps="the tokens are right; one summand is missing"
)
def greedy_does_not_pay_for_eos(step, bos, eos, max_length):
    """Your sum leaves out the last word when it is eos. Ending is a choice as well, and the model gave it a probability."""
    return _greedy(
        step, bos, eos, max_length, add=lambda total, word, log_p: total + (log_p if word != eos else 0.0)
    )


@misconception("greedy", title="the model only sees the last word")
def greedy_forgets_the_prefix(step, bos, eos, max_length):
    """Your prefix is bos and the last word only. The model predicts from everything that was said: give it the whole prefix."""
    return _greedy(lambda prefixes: step([[bos, *prefixes[0][1:][-1:]]]), bos, eos, max_length)


@misconception("greedy", title="of equal words the last is taken", keeps="only ties are decided otherwise")
def greedy_takes_the_last_of_equals(step, bos, eos, max_length):
    """When two words are equally probable you take the one with the higher number. Ties go to the lower number in this course."""
    return _greedy(step, bos, eos, max_length, pick=lambda row: len(row) - 1 - int(np.argmax(row[::-1])))


@misconception(
    "greedy", title="the notebook's EOS instead of the argument", keeps="right wherever the end has number 0"
)
def greedy_with_the_notebooks_eos(step, bos, eos, max_length):
    """Your function stops at the word with number 0, the notebook's EOS, whatever the argument `eos` is. Other models have other numbers: compare with
    the argument."""
    return _greedy(step, bos, 0, max_length)


@misconception(
    "greedy", title="the logarithm of a product", keeps="only the number of a long sentence is wrong"
)
def greedy_by_a_product(step, bos, eos, max_length):
    """For a long sentence your log-probability is −∞: the product of its probabilities is too small for a computer, and the logarithm comes too late.
    Add the log-probabilities of the words."""
    tokens, product = _greedy(
        step, bos, eos, max_length, start=1.0, add=lambda total, word, log_p: total * math.exp(log_p)
    )
    return tokens, math.log(product) if product else -math.inf


def _greedy(
    step,
    bos,
    eos,
    max_length,
    pick=lambda row: int(np.argmax(row)),
    add=lambda total, word, log_p: total + log_p,
    start=0.0,
):
    """The right answer; a wrong one picks another word, or adds up something else."""
    tokens: list[int] = []
    total = start
    while len(tokens) < max_length and tokens[-1:] != [eos]:
        row = step([[bos, *tokens]])[0]
        tokens.append(pick(row))
        total = add(total, tokens[-1], float(row[tokens[-1]]))
    return tokens, total


@alternative("greedy")
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


@alternative("greedy")
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
