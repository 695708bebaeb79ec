"""Lab 05, ``cbow_backward``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from collections import Counter

import numpy as np

from autograder.misconceptions.m05_word2vec.common import _softmax, reference
from autograder.testing import alternative, misconception


def _backward(context, target, W_in, W_out):
    """h, the error and the gradient of h."""
    h, error = reference.cbow_forward(context, W_in, W_out)
    error[target] -= 1
    return h, error, error @ W_out


def _scattered(context, share, shape):
    gradient = np.zeros(shape)
    np.add.at(gradient, context, share)
    return gradient


@misconception(
    "cbow_backward",
    title="the mean is forgotten on the way back",
    keeps="right for a single hint, and for W_out",
)
def mean_forgotten(context, target, W_in, W_out):
    """Every hint gets the whole gradient of h. But h is a mean: if a hint moves by one, h moves by one C-th only, so each hint
    gets the share 1/C."""
    h, error, dh = _backward(context, target, W_in, W_out)
    return _scattered(context, dh, W_in.shape), np.outer(error, h)


@misconception(
    "cbow_backward", title="a repeated hint gets one share", keeps="right where no word stands twice"
)
def repeated_hint_once(context, target, W_in, W_out):
    """A word that stands in the context twice gets one share instead of two. dW_in[context] += share writes a row that is named
    twice only once; np.add.at adds each time."""
    h, error, dh = _backward(context, target, W_in, W_out)
    dW_in = np.zeros(W_in.shape)
    dW_in[context] += dh / len(context)
    return dW_in, np.outer(error, h)


@misconception("cbow_backward", title="the target is not subtracted")
def target_not_subtracted(context, target, W_in, W_out):
    """Your error is p itself. The right answer should have had probability 1, so its error is p − 1; otherwise every score is pushed
    down, the right one too."""
    h, p = reference.cbow_forward(context, W_in, W_out)
    return _scattered(context, p @ W_out / len(context), W_in.shape), np.outer(p, h)


@misconception("cbow_backward", title="the gradients point the other way")
def sign_reversed(context, target, W_in, W_out):
    """Both your gradients have the opposite sign: right minus said instead of said minus right. A step against *your* gradient would
    raise the loss."""
    h, error, dh = _backward(context, target, W_in, W_out)
    return -_scattered(context, dh / len(context), W_in.shape), -np.outer(error, h)


@misconception("cbow_backward", title="all words get the gradient of the hints")
def all_rows_of_w_in(context, target, W_in, W_out):
    """Every row of your dW_in is filled, also for words that are not in the context. They had no part in h, so the loss does not
    depend on them and their rows are zero."""
    h, error, dh = _backward(context, target, W_in, W_out)
    return np.tile(dh / len(context), (len(W_in), 1)), np.outer(error, h)


@misconception("cbow_backward", title="only the target's row of W_out is corrected")
def only_the_targets_answer(context, target, W_in, W_out):
    """Only the target's row of your dW_out is filled. Softmax makes all answers compete: the wrong ones must give way, each with
    its own probability as error."""
    h, error, dh = _backward(context, target, W_in, W_out)
    dW_out = np.zeros(W_out.shape)
    dW_out[target] = error[target] * h
    return _scattered(context, dh / len(context), W_in.shape), dW_out


@misconception("cbow_backward", title="a step instead of a gradient")
def tables_changed_in_place(context, target, W_in, W_out):
    """Your function takes a step: it changes the tables themselves on the way, so that the second gradient comes from a table that has
    moved already. Compute both gradients first, and leave the step to the training."""
    h, error, _ = _backward(context, target, W_in, W_out)
    dW_out = np.outer(error, h)
    W_out -= 0.1 * dW_out
    dW_in = _scattered(context, error @ W_out / len(context), W_in.shape)
    W_in -= 0.1 * dW_in
    return dW_in, dW_out


@misconception(
    "cbow_backward", title="shared among the different words", keeps="right where no word stands twice"
)
def shared_among_different_words(context, target, W_in, W_out):
    """Where a word repeats, your shares are too large: you divide by the number of different words. The mean was taken over all C words of
    the context, so a share is 1/C of ∂L/∂h, and a word that stands there twice gets two."""
    h, error, dh = _backward(context, target, W_in, W_out)
    return _scattered(context, dh / len(set(context)), W_in.shape), np.outer(error, h)


@misconception(
    "cbow_backward", title="a target among the hints gets no share", keeps="right where the target is no hint"
)
def no_share_for_the_target(context, target, W_in, W_out):
    """Where the target's word stands among its own hints, too, it gets no share of yours. As a hint it had its part in h, so it gets a share
    like the others."""
    h, error, dh = _backward(context, target, W_in, W_out)
    dW_in = _scattered(context, dh / len(context), W_in.shape)
    dW_in[target] = 0
    return dW_in, np.outer(error, h)


@misconception("cbow_backward", title="large scores overflow", keeps="right but for large scores")
def backward_that_overflows(context, target, W_in, W_out):
    """Large scores make your gradients nan: np.exp overflows from about 710 on. Take the probabilities from your cbow_forward, or subtract the
    largest score first."""
    h = W_in[context].mean(axis=0)
    with np.errstate(all="ignore"):
        error = np.exp(W_out @ h)
        error = error / error.sum()
    error[target] -= 1
    return _scattered(context, error @ W_out / len(context), W_in.shape), np.outer(error, h)


@misconception("cbow_backward", title="rounded gradients", keeps="right to three decimals")
def gradients_rounded(context, target, W_in, W_out):
    """Your gradients are right, and rounded. Rounding is for printing: a small step downhill needs all decimals. Return them as they are."""
    return tuple(gradient.round(3) for gradient in reference.cbow_backward(context, target, W_in, W_out))


@misconception(
    "cbow_backward", title="the 1 is taken off too late for the hints", keeps="the gradient of W_out"
)
def hints_from_p(context, target, W_in, W_out):
    """Your dW_out is right, but ∂L/∂h is computed from p, before the 1 is taken off at the target. Take it off first: both tables get their
    gradients from the error e."""
    h, p = reference.cbow_forward(context, W_in, W_out)
    dW_in = _scattered(context, p @ W_out / len(context), W_in.shape)
    p[target] -= 1
    return dW_in, np.outer(p, h)


@alternative("cbow_backward")
def by_loops(context, target, W_in, W_out):
    V, D = W_in.shape
    h = [sum(W_in[c, d] for c in context) / len(context) for d in range(D)]
    p = _softmax(np.array([sum(W_out[i, d] * h[d] for d in range(D)) for i in range(V)]))
    error = [p[i] - (1 if i == target else 0) for i in range(V)]
    dW_out = [[error[i] * h[d] for d in range(D)] for i in range(V)]
    shares = Counter(context)
    dW_in = [
        [shares[v] / len(context) * sum(error[i] * W_out[i, d] for i in range(V)) for d in range(D)]
        for v in range(V)
    ]
    return dW_in, dW_out


@alternative("cbow_backward")
def by_a_bag_and_outer_products(context, target, W_in, W_out):
    V = len(W_in)
    bag = np.bincount(context, minlength=V) / len(context)
    p = np.exp(W_out @ (bag @ W_in) - np.logaddexp.reduce(W_out @ (bag @ W_in)))
    error = p - np.eye(V)[target]
    return np.outer(bag, W_out.T @ error), np.outer(error, W_in.T @ bag)


@alternative("cbow_backward")
def in_float32(context, target, W_in, W_out):
    W_in, W_out = W_in.astype(np.float32), W_out.astype(np.float32)
    h = W_in[context].mean(axis=0)
    error = _softmax(W_out @ h)
    error[target] -= np.float32(1)
    dW_in = np.zeros_like(W_in)
    for word in context:
        dW_in[word] += (error @ W_out) / np.float32(len(context))
    return dW_in, error[:, None] * h
