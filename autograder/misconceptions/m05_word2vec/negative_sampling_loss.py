"""Lab 05, ``negative_sampling_loss``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import alternative, misconception


def _sigmoid(s):
    return np.exp(-np.logaddexp(0, -s))


def _from_errors(h, rows, g):
    return np.einsum("bk,bkd->bd", g, rows), g[:, :, None] * h[:, None, :]


def _scores(h, rows):
    return np.einsum("bkd,bd->bk", rows, h)


def _loss(scores):
    return np.logaddexp(0, -scores[:, 0]) + np.logaddexp(0, scores[:, 1:]).sum(axis=1)


def _errors(scores):
    g = _sigmoid(scores)
    g[:, 0] -= 1
    return g


@misconception("negative_sampling_loss", title="the noise counts as real")
def noise_as_real(h, rows):
    """You reward the noise words for high scores, as if they were real. Then the best the model can do is to say yes to
    everything. For noise the score enters with a minus sign, −ln σ(−s)."""
    scores = _scores(h, rows)
    return (np.logaddexp(0, -scores).sum(axis=1), *_from_errors(h, rows, _sigmoid(scores) - 1))


@misconception("negative_sampling_loss", title="the noise has no gradient")
def noise_without_gradient(h, rows):
    """The noise words are in your loss but not in your gradients. Only pulling, never pushing, makes all vectors the same. Each noise
    word pushes with its error σ(s)."""
    scores = _scores(h, rows)
    g = _errors(scores)
    g[:, 1:] = 0
    return (_loss(scores), *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="averaged over the batch")
def averaged_over_the_batch(h, rows):
    """You average over the batch, so that a riddle's gradient shrinks when more riddles stand beside it. Here each riddle has its
    own loss, one number each, and its own gradients."""
    scores = _scores(h, rows)
    dh, drows = _from_errors(h, rows, _errors(scores))
    return np.full(len(h), _loss(scores).mean()), dh / len(h), drows / len(h)


@misconception("negative_sampling_loss", title="averaged over the noise")
def averaged_over_the_noise(h, rows):
    """You average over the noise words; the formula adds them up. With five noise words each of yours pushes only a fifth as hard
    as it should."""
    scores = _scores(h, rows)
    noise = rows.shape[1] - 1
    loss = np.logaddexp(0, -scores[:, 0]) + np.logaddexp(0, scores[:, 1:]).mean(axis=1)
    g = _errors(scores)
    g[:, 1:] /= noise
    return (loss, *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="the gradients point the other way")
def gradients_reversed(h, rows):
    """Your gradients have the opposite sign: right minus said. The loss rises in the direction of the gradient, and
    the training steps against it."""
    scores = _scores(h, rows)
    return (_loss(scores), *_from_errors(h, rows, -_errors(scores)))


@misconception("negative_sampling_loss", title="a softmax over the six words")
def softmax_over_the_candidates(h, rows):
    """You let the candidates compete in a softmax, as in Part B. Negative sampling asks each of them by itself, yes or no:
    every score goes through its own sigmoid."""
    scores = _scores(h, rows)
    total = np.logaddexp.reduce(scores, axis=1)
    g = np.exp(scores - total[:, None])
    g[:, 0] -= 1
    return (total - scores[:, 0], *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="large scores overflow", keeps="right but for large scores")
def overflow(h, rows):
    """Large scores make your loss infinite or not a number: σ rounds to 0, and ln 0 is −∞. Use np.logaddexp(0, −s) for −ln σ(s), which
    never leaves the safe range."""
    scores = _scores(h, rows)
    with np.errstate(all="ignore"):
        sigmoid = 1 / (1 + np.exp(-scores))
        loss = -np.log(sigmoid[:, 0]) - np.log(1 - sigmoid[:, 1:]).sum(axis=1)
    g = sigmoid.copy()
    g[:, 0] -= 1
    return (loss, *_from_errors(h, rows, g))


@misconception(
    "negative_sampling_loss", title="a small number inside the logarithm", keeps="right but for large scores"
)
def small_number_in_the_logarithm(h, rows):
    """Your losses of large scores are cut off at 23: ln(σ + 1e-10) is never below −23. Use np.logaddexp(0, −s) for −ln σ(s): it is right for
    all scores, and needs no small number."""
    scores = _scores(h, rows)
    with np.errstate(all="ignore"):
        sigmoid = 1 / (1 + np.exp(-scores))
    loss = -np.log(sigmoid[:, 0] + 1e-10) - np.log(1 - sigmoid[:, 1:] + 1e-10).sum(axis=1)
    return (loss, *_from_errors(h, rows, _errors(scores)))


@misconception(
    "negative_sampling_loss", title="gradients averaged over the batch", keeps="losses, and a riddle alone"
)
def gradients_averaged_over_the_batch(h, rows):
    """Your gradients are divided by the number of riddles, so that they shrink when more riddles stand beside them. Each riddle
    has its own loss, and these are the gradients of that loss."""
    scores = _scores(h, rows)
    return (_loss(scores), *_from_errors(h, rows, _errors(scores) / len(h)))


@misconception("negative_sampling_loss", title="five noise words at most", keeps="right up to K = 5")
def five_noise_words_at_most(h, rows):
    """You count on five noise words at most, as in the training, and with more your function stops. Take their number from the shape of
    rows."""
    right = np.array([1, 0, 0, 0, 0, 0])[: rows.shape[1]]
    scores = _scores(h, rows)
    loss = np.logaddexp(0, (1 - 2 * right) * scores).sum(axis=1)
    return (loss, *_from_errors(h, rows, _sigmoid(scores) - right))


@misconception("negative_sampling_loss", title="five noise words at most", keeps="right up to K = 5")
def noise_after_the_fifth_left_out(h, rows):
    """You count on five noise words at most, as in the training, and leave out the others. Take their number from the shape of rows."""
    scores = _scores(h, rows)
    g = _errors(scores)
    g[:, 6:] = 0
    return (_loss(scores[:, :6]), *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="the sigmoid overflows", keeps="losses, and small scores")
def sigmoid_that_overflows(h, rows):
    """Your losses are right, and gradients of large scores are nan: in e^s / (1 + e^s) both parts overflow. Use np.exp(-np.logaddexp(0, -s))
    for σ(s)."""
    scores = _scores(h, rows)
    with np.errstate(all="ignore"):
        g = np.exp(scores) / (1 + np.exp(scores))
    g[:, 0] -= 1
    return (_loss(scores), *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="the noise counts as real in the loss", keeps="the gradients")
def loss_of_the_noise_as_real(h, rows):
    """Your gradients are right, but your loss rewards the noise words for high scores, as if they were real. For noise the score enters with a
    minus sign, −ln σ(−s) = np.logaddexp(0, s)."""
    scores = _scores(h, rows)
    return (np.logaddexp(0, -scores).sum(axis=1), *_from_errors(h, rows, _errors(scores)))


@misconception("negative_sampling_loss", title="the rows are changed", keeps="right, and spoils the rows")
def noise_turned_round_in_place(h, rows):
    """Your function turns the rows of the noise round in the array that it was given, so they are lost for whoever calls it. Compute with a new
    array."""
    rows[:, 1:] *= -1
    scores = _scores(h, rows)
    dh, drows = _from_errors(h, rows, _sigmoid(scores) - 1)
    drows[:, 1:] *= -1
    return np.logaddexp(0, -scores).sum(axis=1), dh, drows


@alternative("negative_sampling_loss")
def riddle_by_riddle(h, rows):
    losses, dhs, drows = [], [], []
    for vector, table in zip(h.tolist(), rows.tolist(), strict=True):
        loss, dh, d = 0.0, [0.0] * len(vector), []
        for k, row in enumerate(table):
            s = sum(a * b for a, b in zip(row, vector, strict=True))
            signed = -s if k == 0 else s
            loss += max(signed, 0) + math.log1p(math.exp(-abs(s)))
            g = (0.5 + 0.5 * math.tanh(s / 2)) - (k == 0)
            dh = [x + g * y for x, y in zip(dh, row, strict=True)]
            d.append([g * y for y in vector])
        losses.append(loss), dhs.append(dh), drows.append(d)
    return losses, dhs, drows


@alternative("negative_sampling_loss")
def signs_and_clipping_in_float32(h, rows):
    h, rows = h.astype(np.float32), rows.astype(np.float32)
    sign = np.ones(rows.shape[1], dtype=np.float32)
    sign[0] = -1
    signed = np.matmul(rows, h[..., None])[..., 0] * sign
    push = sign / (1 + np.exp(-np.clip(signed, -80, 80)))
    loss = np.maximum(signed, 0) + np.log1p(np.exp(-np.abs(signed)))
    return loss.sum(axis=1), (push[..., None] * rows).sum(axis=1), push[..., None] * h[:, None]


@alternative("negative_sampling_loss")
def with_torch(h, rows):
    import torch

    h, rows = (torch.tensor(np.ascontiguousarray(part)) for part in (h, rows))
    scores = torch.einsum("bkd,bd->bk", rows, h)
    real, noise = scores[:, :1], scores[:, 1:]
    log = torch.nn.functional.logsigmoid
    loss = -(log(real).sum(1) + log(-noise).sum(1))
    g = torch.cat([torch.sigmoid(real) - 1, torch.sigmoid(noise)], dim=1)
    return loss, torch.einsum("bk,bkd->bd", g, rows), torch.einsum("bk,bd->bkd", g, h)
