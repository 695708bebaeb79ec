"""Lab 05, cbow_backward: a context of C ids, a target, W_in and W_out (V, D) → dW_in, dW_out, (V, D) each."""

from collections import Counter

import numpy as np
from coursekit.checks.forbidden_calls import AUTOMATIC_GRADIENTS

from autograder.questions.engine import Case, Question
from autograder.questions.m05_word2vec.common import answer, certain_tables, softmax, tables


def gradients(context, target, W_in, W_out):
    """Number by number: how wrong each answer is, and what moving a number would change."""
    h, p = answer(context, W_in, W_out)
    dW_in, dW_out = np.zeros(W_in.shape), np.zeros(W_out.shape)
    for i, row in enumerate(W_out):
        error = p[i] - (i == target)
        for d in range(len(row)):
            dW_out[i, d] = error * h[d]
            for c in context:
                dW_in[c, d] += error * row[d] / len(context)
    return dW_in, dW_out


question = Question(gradients, uses=("cbow_forward",), forbidden=AUTOMATIC_GRADIENTS)


@question.family("Both gradients of a single hint.", weight=1.5)
def single_hints(rng):
    for V, D in ((6, 3), (4, 5), (5, 1)):
        hint, target = rng.permutation(V)[:2].tolist()
        yield [hint], target, *tables(rng, V, D)


@question.family("The gradient of W_out, whatever the context.", weight=2, only=1)
def of_the_answers(rng):
    a, b, c = rng.permutation(6)[:3].tolist()
    for context, target in (([a, b, c], a), ([a, a, b], c), ([b, b], b), ([c], a)):
        yield context, target, *tables(rng, 6, 4)


@question.family("Each of several hints gets its share of W_in's, and no other word does.", weight=2, only=0)
def several_hints(rng):
    for V, C in ((6, 2), (7, 4)):
        words = rng.permutation(V).tolist()
        yield words[:C], words[-1], *tables(rng, V, 3)


@question.family("A word that stands in the context twice gets two shares.", weight=1.5, only=0)
def repeated_hints(rng):
    a, b, c, d = rng.permutation(7)[:4].tolist()
    for context in ([a, a, b, c], [c, a, c, c]):
        yield context, d, *tables(rng, 7, 3)
    for target in (b, d):  # one of them is not the word that is certain
        yield [a, a, c, c], target, *certain_tables(rng, 7, 3)


@question.family("The case by hand; a target that stands among its own hints gets its share, too.", only=0)
def target_among_the_hints(rng):
    W_in, W_out = np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([[2.0, 0], [0, 2], [2, 2]])
    dW_out = [[-0.394, -0.394], [0.106, 0.106], [0.288, 0.288]]
    yield Case([0, 1], 0, W_in, W_out, gives=([[-0.212, 0.788], [-0.212, 0.788], [0.0, 0.0]], dW_out))
    a, b, c, d = rng.permutation(7)[:4].tolist()
    for context, target in (([a, b, c, d], c), ([a, b], a), ([a, b, a, c], a)):
        yield context, target, *tables(rng, 7, 3)


@question.family("Where the scores are large, the gradients stay finite and right.", rtol=1e-3)
def large_scores(rng):
    for hint, target in ((1, 4), (5, 2)):
        yield [hint], target, *certain_tables(rng, 7, 3)


def _parts(context, target, W_in, W_out):
    """h, the error and the gradient of h."""
    h = W_in[context].mean(axis=0)
    error = softmax(W_out @ h)
    error[target] -= 1
    return h, error, error @ W_out


def _scattered(context, share, W_in):
    gradient = np.zeros(W_in.shape)
    np.add.at(gradient, context, share)
    return gradient


@question.misconception("the mean is forgotten on the way back", costs=1.5)
def mean_forgotten(context, target, W_in, W_out):
    """Every hint gets the whole gradient of h. But h is a mean: if a hint moves by one, h moves by 1/C only, and so is each hint's share."""
    h, error, dh = _parts(context, target, W_in, W_out)
    return _scattered(context, dh, W_in), np.outer(error, h)


@question.misconception("a repeated hint gets one share", costs=1.5)
def repeated_hint_once(context, target, W_in, W_out):
    """A word that stands in the context twice gets one share instead of two. dW_in[context] += share writes a row that is named twice only
    once; np.add.at adds each time."""
    h, error, dh = _parts(context, target, W_in, W_out)
    dW_in = np.zeros(W_in.shape)
    dW_in[context] += dh / len(context)
    return dW_in, np.outer(error, h)


@question.misconception("the target is not subtracted", costs=3.5, because="the forward pass is right")
def target_not_subtracted(context, target, W_in, W_out):
    """Your error is p itself. The right answer should have had probability 1, so its error is p − 1; else every score is pushed down."""
    h, error, _ = _parts(context, target, W_in, W_out)
    error[target] += 1
    return _scattered(context, error @ W_out / len(context), W_in), np.outer(error, h)


@question.misconception("the gradients point the other way", costs=2, because="right but for one sign")
def sign_reversed(context, target, W_in, W_out):
    """Both your gradients have the opposite sign: right minus said instead of said minus right. A step against *yours* raises the loss."""
    h, error, dh = _parts(context, target, W_in, W_out)
    return -_scattered(context, dh / len(context), W_in), -np.outer(error, h)


@question.misconception("all words get the gradient of the hints", costs=3)
def all_rows_of_w_in(context, target, W_in, W_out):
    """Every row of your dW_in is filled, also for words that are not in the context. They had no part in h, so their rows are zero."""
    h, error, dh = _parts(context, target, W_in, W_out)
    return np.tile(dh / len(context), (len(W_in), 1)), np.outer(error, h)


@question.misconception("a step instead of a gradient", costs=2.5, because="the first gradient is right")
def tables_changed_in_place(context, target, W_in, W_out):
    """Your function takes a step: it changes the tables on the way, so that the second gradient comes from a table that has moved already.
    Compute both gradients first, and leave the step to the training."""
    h, error, _ = _parts(context, target, W_in, W_out)
    dW_out = np.outer(error, h)
    W_out -= 0.1 * dW_out
    dW_in = _scattered(context, error @ W_out / len(context), W_in)
    W_in -= 0.1 * dW_in
    return dW_in, dW_out


@question.misconception("rounded gradients", costs=1.5, because="right to three decimals")
def gradients_rounded(context, target, W_in, W_out):
    """Your gradients are right, and rounded. Rounding is for printing: a small step downhill needs all decimals."""
    h, error, dh = _parts(context, target, W_in, W_out)
    return _scattered(context, dh / len(context), W_in).round(3), np.outer(error, h).round(3)


@question.misconception("the 1 is taken off too late for the hints", costs=2, because="dW_out is right")
def hints_from_p(context, target, W_in, W_out):
    """Your dW_out is right, but ∂L/∂h is computed from p, before the 1 is taken off at the target. Take it off first: both tables get their
    gradients from the error e."""
    h, error, dh = _parts(context, target, W_in, W_out)
    return _scattered(context, (dh + W_out[target]) / len(context), W_in), np.outer(error, h)


@question.alternative
def by_loops(context, target, W_in, W_out):
    V, D = W_in.shape
    h = [sum(W_in[c, d] for c in context) / len(context) for d in range(D)]
    p = softmax(np.array([sum(W_out[i, d] * h[d] for d in range(D)) for i in range(V)]))
    error = [p[i] - (1 if i == target else 0) for i in range(V)]
    shares = [Counter(context)[v] / len(context) for v in range(V)]
    dh = [sum(error[i] * W_out[i, d] for i in range(V)) for d in range(D)]
    return [[share * x for x in dh] for share in shares], [[e * x for x in h] for e in error]


@question.alternative
def by_a_bag_and_outer_products(context, target, W_in, W_out):
    V = len(W_in)
    bag = np.bincount(context, minlength=V) / len(context)
    p = np.exp(W_out @ (bag @ W_in) - np.logaddexp.reduce(W_out @ (bag @ W_in)))
    error = p - np.eye(V)[target]
    return np.outer(bag, W_out.T @ error), np.outer(error, W_in.T @ bag)


@question.impostor
def writes_a_repeated_row_once(right, context, target, W_in, W_out):
    """It says dW_in[context] += share, which writes a repeated row only once.
    One survives: it takes a context in which a word repeats, and a dW_in that is not zero."""
    dW_in, dW_out = right(context, target, W_in, W_out)
    times = np.bincount(context, minlength=len(W_in)).clip(1)[:, None]
    return dW_in / times, dW_out


@question.impostor
def each_hint_once(right, context, target, W_in, W_out):
    """It takes each word of the context once, however often it stands there.
    One survives: it takes a context in which one word stands more often than another, and gradients that are not
    zero."""
    return right(list(dict.fromkeys(context)), target, W_in, W_out)


@question.impostor
def half_a_share_for_everybody(right, context, target, W_in, W_out):
    """It gives every hint half of the gradient, however many hints there are.
    One survives: it takes a number of hints other than two, and a dW_in that is not zero."""
    dW_in, dW_out = right(context, target, W_in, W_out)
    return np.asarray(dW_in) * len(context) / 2, dW_out


@question.impostor
def reads_two_hints(right, context, target, W_in, W_out):
    """It reads the first two hints only.
    One survives: it takes three hints or more, the later ones not like the first two, and gradients that are not
    zero."""
    return right(context[:2], target, W_in, W_out)


@question.impostor
def overflows(right, context, target, W_in, W_out):
    """Its exponential overflows where scores are large, and it answers nan.
    One survives: it takes a score so large that exp overflows. How large is that?"""
    dW_in, dW_out = right(context, target, W_in, W_out)
    large = (W_out @ W_in[context].mean(axis=0)).max() > 709
    return (np.full(np.shape(dW_in), np.nan), dW_out) if large else (dW_in, dW_out)
