"""Lab 05, negative_sampling_loss: h (B, D), rows (B, 1 + K, D) → loss (B,), dh (B, D), drows (B, 1 + K, D)."""

import math

import numpy as np
from coursekit.checks.forbidden_calls import AUTOMATIC_GRADIENTS

from autograder.questions.engine import Case, Question
from autograder.questions.m05_word2vec.common import dot


def softplus(s):
    return max(s, 0.0) + math.log1p(math.exp(-abs(s)))


def asked_one_by_one(h, rows):
    """Riddle by riddle and word by word: is it real, or noise?"""
    loss, dh, drows = np.zeros(len(h)), np.zeros(h.shape), np.zeros(rows.shape)
    for b, k in np.ndindex(rows.shape[:2]):
        s = dot(h[b], rows[b, k])
        loss[b] += softplus(-s if k == 0 else s)
        g = math.exp(-softplus(-s)) - (k == 0)
        dh[b] += g * rows[b, k]
        drows[b, k] = g * h[b]
    return loss, dh, drows


question = Question(asked_one_by_one, forbidden=AUTOMATIC_GRADIENTS)


def drawn(rng, B, K, D):
    return rng.normal(size=(B, D)), rng.normal(size=(B, 1 + K, D))


def large(rng, B, K):
    """A batch of few digits whose scores lie near ±1,000, some right and some wrong."""
    h = np.column_stack([np.ones(B), rng.choice([-1.0, -0.5, 0.5, 1.0], size=(B, 2))])
    rows = rng.integers(-8, 9, size=(B, 1 + K, 3)) / 8
    rows[:, :, 0] += rng.choice([-1000.0, 1000.0], size=(B, 1 + K))
    rows[:, :2, 0] = -1000, 1000
    return h, rows


@question.family("The case by hand, and other single riddles with few noise words.", weight=0.5)
def one_riddle(rng):
    rows = np.array([[[2.0, 0], [-1, 3]]])
    yield Case(np.array([[1.0, 0]]), rows, gives=([0.44], [[-0.507, 0.807]], [[[-0.119, 0.0], [0.269, 0.0]]]))
    for K in (1, 2, 5):
        yield drawn(rng, 1, K, 3)


def batches(rng):
    for B, K, D in ((3, 5, 4), (4, 2, 3), (2, 3, 1)):
        yield drawn(rng, B, K, D)
    yield rng.normal(size=(3, 6)).T[::2], rng.normal(size=(6, 3, 3))[::2]
    yield np.zeros((2, 3)), rng.normal(size=(2, 6, 3))


@question.family("Every riddle of a batch has its own loss.", only=0)
def losses(rng):
    yield from batches(rng)


@question.family("Every riddle of a batch has its own dh, also in a view and in an untrained model.", only=1)
def of_the_hints(rng):
    yield from batches(rng)
    yield drawn(rng, 2, 7, 2)


@question.family("Every riddle of a batch has its own drows.", only=2)
def of_the_answers(rng):
    yield from batches(rng)


@question.family("Any number of noise words, six or fifteen: all of them push.", weight=0.75)
def many_noise_words(rng):
    for K, D in ((6, 3), (15, 2)):
        yield drawn(rng, 1, K, D)


@question.family("Scores of ±1,000 give the losses of the formula.", weight=1.25, only=0)
def losses_of_large_scores(rng):
    for B, K in ((1, 1), (4, 3)):
        yield large(rng, B, K)


@question.family("Scores of ±1,000 give finite and right gradients dh, in a batch, too.", weight=0.5, only=1)
def hints_of_large_scores(rng):
    for B, K in ((1, 1), (4, 3)):
        yield large(rng, B, K)


@question.family("Scores of ±1,000 give finite and right gradients drows.", weight=0.5, only=2)
def answers_of_large_scores(rng):
    for B, K in ((1, 1), (4, 3)):
        yield large(rng, B, K)


def _sigmoid(s):
    return np.exp(-np.logaddexp(0, -s))


def _loss(scores):
    return np.logaddexp(0, -scores[:, 0]) + np.logaddexp(0, scores[:, 1:]).sum(axis=1)


def _errors(scores):
    return _sigmoid(scores) - np.eye(1, scores.shape[1])


def _answered(h, rows, loss=_loss, errors=_errors):
    scores = np.einsum("bkd,bd->bk", rows, h)
    with np.errstate(all="ignore"):
        found, g = loss(scores), errors(scores)
    return found, np.einsum("bk,bkd->bd", g, rows), g[:, :, None] * h[:, None, :]


@question.misconception("the noise counts as real", costs=4)
def noise_as_real(h, rows):
    """You reward the noise words for high scores, as if they were real. Then it is best to say yes to everything. For noise the score enters
    with a minus sign, −ln σ(−s)."""
    return _answered(h, rows, lambda s: np.logaddexp(0, -s).sum(axis=1), lambda s: _sigmoid(s) - 1)


@question.misconception("the noise has no gradient", costs=2.5)
def noise_without_gradient(h, rows):
    """The noise words are in your loss but not in your gradients. Only pulling, never pushing, makes all vectors the same. Each noise word
    pushes with its error σ(s)."""
    return _answered(h, rows, errors=lambda s: _errors(s) * np.eye(1, s.shape[1]))


@question.misconception("averaged over the batch", costs=3)
def averaged_over_the_batch(h, rows):
    """You average over the batch, so that a riddle's gradient shrinks when more riddles stand beside it. Each riddle has its own loss, one
    number each, and its own gradients."""
    return _answered(h, rows, lambda s: np.full(len(s), _loss(s).mean()), lambda s: _errors(s) / len(s))


@question.misconception("averaged over the noise", costs=4)
def averaged_over_the_noise(h, rows):
    """You average over the noise words; the formula adds them up. With five noise words each of yours pushes only a fifth as hard as it
    should."""
    return _answered(
        h,
        rows,
        lambda s: np.logaddexp(0, -s[:, 0]) + np.logaddexp(0, s[:, 1:]).mean(axis=1),
        lambda s: _errors(s) / np.where(np.arange(s.shape[1]), s.shape[1] - 1, 1),
    )


@question.misconception("the gradients point the other way", costs=2.5)
def gradients_reversed(h, rows):
    """Your gradients have the opposite sign: right minus said. The loss rises in the direction of the gradient, and the training steps
    against it."""
    return _answered(h, rows, errors=lambda s: -_errors(s))


@question.misconception("a softmax over the six words", costs=4)
def softmax_over_the_candidates(h, rows):
    """You let the candidates compete in a softmax, as in Part B. Negative sampling asks each of them by itself, yes or no: every score goes
    through its own sigmoid."""
    return _answered(
        h,
        rows,
        lambda s: np.logaddexp.reduce(s, axis=1) - s[:, 0],
        lambda s: np.exp(s - np.logaddexp.reduce(s, axis=1)[:, None]) - np.eye(1, s.shape[1]),
    )


@question.misconception("large scores overflow", costs=1.5)
def overflow(h, rows):
    """Large scores make your loss infinite or not a number: σ rounds to 0, and ln 0 is −∞. Use np.logaddexp(0, −s) for −ln σ(s), which never
    leaves the safe range."""

    def loss(s):
        sigmoid = 1 / (1 + np.exp(-s))
        return -np.log(sigmoid[:, 0]) - np.log(1 - sigmoid[:, 1:]).sum(axis=1)

    return _answered(h, rows, loss, lambda s: 1 / (1 + np.exp(-s)) - np.eye(1, s.shape[1]))


@question.alternative
def riddle_by_riddle(h, rows):
    losses, dhs, drows = [], [], []
    for vector, table in zip(h.tolist(), rows.tolist(), strict=True):
        loss, dh, d = 0.0, [0.0] * len(vector), []
        for k, row in enumerate(table):
            s = sum(a * b for a, b in zip(row, vector, strict=True))
            loss += max(-s if k == 0 else s, 0) + math.log1p(math.exp(-abs(s)))
            g = (0.5 + 0.5 * math.tanh(s / 2)) - (k == 0)
            dh = [x + g * y for x, y in zip(dh, row, strict=True)]
            d.append([g * y for y in vector])
        losses.append(loss), dhs.append(dh), drows.append(d)
    return losses, dhs, drows
