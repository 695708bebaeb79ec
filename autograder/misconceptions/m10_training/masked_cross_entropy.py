"""Lab 10, ``masked_cross_entropy``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch
from torch import nn

from autograder.testing import alternative, misconception


def _surprise(logits):
    return -torch.log_softmax(logits, dim=-1)


def _right(surprise, targets):
    return surprise.gather(-1, targets[..., None]).squeeze(-1)


def _real_loss(logits, targets, pad, smoothing):
    real = targets != pad
    surprise = _surprise(logits[real])
    return (1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)


@misconception("masked_cross_entropy", title="the padding counts as a word")
def loss_with_padding(logits, targets, pad, smoothing=0.0):
    """Your loss counts the padding like any other word. The model then learns mostly to say nothing, since most labels of a ragged batch are padding."""
    inside = targets.clamp(0, logits.shape[-1] - 1)
    surprise = _surprise(logits)
    return ((1 - smoothing) * _right(surprise, inside) + smoothing * surprise.mean(-1)).mean()


@misconception("masked_cross_entropy", title="divided by all positions")
def loss_divided_by_all(logits, targets, pad, smoothing=0.0):
    """The padding is left out of your sum but not out of the number you divide by: the more padding, the smaller your loss. Divide by the number of real positions."""
    return _real_loss(logits, targets, pad, smoothing).sum() / targets.numel()


@misconception("masked_cross_entropy", title="a sum instead of a mean")
def loss_summed(logits, targets, pad, smoothing=0.0):
    """Your loss grows with the number of words: it is the sum over the real positions, as on the slide. We take the mean."""
    return _real_loss(logits, targets, pad, smoothing).sum()


@misconception("masked_cross_entropy", title="the mean of the sentences' means")
def loss_averaged_by_sentence(logits, targets, pad, smoothing=0.0):
    """You take the mean of each sentence first, and then the mean of these. A word in a short sentence then counts more than one in a long sentence. Take one mean over all the
    real words of the batch."""
    if targets.dim() < 2:
        return _real_loss(logits, targets, pad, smoothing).mean()
    V = logits.shape[-1]
    rows = [
        _real_loss(one, labels, pad, smoothing).mean()
        for one, labels in zip(
            logits.reshape(-1, targets.shape[-1], V), targets.reshape(-1, targets.shape[-1]), strict=True
        )
        if (labels != pad).any()
    ]
    return torch.stack(rows).mean()


@misconception("masked_cross_entropy", title="smoothing is ignored")
def loss_without_smoothing(logits, targets, pad, smoothing=0.0):
    """Your loss is the same whatever the argument smoothing is."""
    return _real_loss(logits, targets, pad, 0.0).mean()


@misconception("masked_cross_entropy", title="the sum over the words instead of their mean")
def loss_smoothed_with_a_sum(logits, targets, pad, smoothing=0.0):
    """Your smoothing part is V times too large: each word's share is ε/V, so the second part is ε times the *mean* of −log p over the words."""
    real = targets != pad
    surprise = _surprise(logits[real])
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.sum(-1)).mean()


@misconception("masked_cross_entropy", title="smoothing only on top")
def loss_with_smoothing_on_top(logits, targets, pad, smoothing=0.0):
    """You add the smoothing part, but leave the right word its full weight: its part has the factor 1 − ε."""
    real = targets != pad
    surprise = _surprise(logits[real])
    return (_right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@misconception(
    "masked_cross_entropy",
    title="the logarithm of a softmax that overflows",
    keeps="right but for large logits",
)
def loss_that_overflows(logits, targets, pad, smoothing=0.0):
    """With large logits your loss is inf or nan: the softmax rounds a probability to 0, and its logarithm is −∞ (a softmax by hand overflows even earlier). Use log_softmax, or log-sum-exp."""
    real = targets != pad
    surprise = -torch.log(torch.softmax(logits[real], dim=-1))
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@misconception(
    "masked_cross_entropy",
    title="a small number inside the logarithm",
    keeps="right but for very improbable words",
)
def loss_with_a_small_constant(logits, targets, pad, smoothing=0.0):
    """A small constant stands inside your logarithm. It prevents inf, but it also bounds the loss: a model that is terribly wrong looks only a little wrong, and gets no gradient. Use
    log_softmax instead."""
    real = targets != pad
    surprise = -torch.log(torch.softmax(logits[real], dim=-1) + 1e-8)
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@misconception("masked_cross_entropy", title="no logarithm")
def loss_of_probabilities(logits, targets, pad, smoothing=0.0):
    """Your loss is made of probabilities, not of their logarithms: −log p is the surprise."""
    real = targets != pad
    surprise = -torch.softmax(logits[real], dim=-1)
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@misconception("masked_cross_entropy", title="softmax over the wrong axis")
def loss_over_positions(logits, targets, pad, smoothing=0.0):
    """Your softmax runs over the positions, not over the words: the last axis of the logits is the vocabulary."""
    real = targets != pad
    axis = -2 if logits.dim() > 1 else -1
    surprise = -torch.log_softmax(logits, dim=axis)[real]
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@misconception(
    "masked_cross_entropy",
    title="a number through which no gradient flows",
    keeps="the values are right; the gradient is not",
)
def loss_as_a_dead_number(logits, targets, pad, smoothing=0.0):
    """The value of your loss is right, but no gradient flows through it: it went through .item(), .detach(), NumPy or Python numbers on the way. Compute with tensors all the way."""
    return _real_loss(logits, targets, pad, smoothing).mean().detach()


@misconception(
    "masked_cross_entropy",
    title="the smoothing part takes the padding in",
    keeps="right without smoothing, and without padding",
)
def loss_smoothing_the_padding(logits, targets, pad, smoothing=0.0):
    """Without smoothing your loss is right; with it the padding counts after all: the part with ε is averaged over all positions, so the
    padding gets a gradient. Both parts run over the real positions only."""
    surprise, real = _surprise(logits), targets != pad
    return (1 - smoothing) * _right(surprise[real], targets[real]).mean() + smoothing * surprise.mean()


@misconception(
    "masked_cross_entropy",
    title="the padding's word gets no share of ε",
    keeps="right without smoothing, and where pad is no word",
)
def loss_smoothing_without_pads_word(logits, targets, pad, smoothing=0.0):
    """Where pad has the number of a word, your smoothing leaves this word out. That is another convention; here ε is spread over all V words, and
    only *positions* whose label is pad are left out."""
    real = targets != pad
    surprise = _surprise(logits[real])
    words = [word for word in range(logits.shape[-1]) if word != pad]
    return (
        (1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise[:, words].mean(-1)
    ).mean()


@misconception(
    "masked_cross_entropy",
    title="one maximum for all rows",
    keeps="right but for rows of very different size",
)
def loss_safe_by_one_maximum(logits, targets, pad, smoothing=0.0):
    """Your loss is inf or nan where the rows of logits are of very different size: taking out the largest of *all* rows leaves a row far
    below it with exponentials of 0. Take out each row's own largest, or use log_softmax."""
    real = targets != pad
    x = logits[real] - logits[real].max()
    surprise = torch.exp(x).sum(-1, keepdim=True).log() - x
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@misconception(
    "masked_cross_entropy",
    title="two leading axes at most",
    keeps="right for one leading axis or two",
)
def loss_for_two_leading_axes(logits, targets, pad, smoothing=0.0):
    """With three leading axes and more your function fails: it makes one axis of the first two, and there may be several. Flatten
    all but the last, reshape(-1, V), or select the real positions with a mask, which takes any number of axes."""
    if targets.dim() > 1:
        logits, targets = logits.flatten(0, 1), targets.flatten(0, 1)
    real = targets != pad
    surprise, words = _surprise(logits), torch.where(real, targets, 0)
    right = surprise[torch.arange(len(words)), words]
    return ((1 - smoothing) * right + smoothing * surprise.mean(-1))[real].mean()


@misconception(
    "masked_cross_entropy",
    title="no gradient through the smoothing part",
    keeps="the values are right; the gradient is not",
)
def loss_with_half_a_gradient(logits, targets, pad, smoothing=0.0):
    """The value of your loss is right, but no gradient flows through its smoothing part: that went through .item(), .detach() or NumPy on the way, so
    nothing is smoothed in training. Compute both parts with tensors."""
    real = targets != pad
    surprise = _surprise(logits[real])
    right = _right(surprise, targets[real]).mean()
    return (1 - smoothing) * right + smoothing * surprise.mean().item()


@misconception(
    "masked_cross_entropy",
    title="word 0 taken for padding",
    keeps="right where word 0 is not among the labels",
)
def loss_without_word_zero(logits, targets, pad, smoothing=0.0):
    """Your loss leaves out the positions whose label is word 0, too, whatever pad is: 0 is a word like any other. What counts is targets != pad."""
    return _real_loss(logits, torch.where(targets == 0, pad, targets), pad, smoothing).mean()


@misconception(
    "masked_cross_entropy",
    title="a padding beyond the vocabulary",
    keeps="right where pad is a word or below 0",
)
def loss_for_pads_up_to_the_vocabulary(logits, targets, pad, smoothing=0.0):
    """Your function fails where pad is no word, but a number behind the last one, 7 with V = 6: you look up −log p at the padding as well. Select the real
    positions first."""
    surprise = _surprise(logits)
    right = _right(surprise, targets.clamp(min=0))
    return ((1 - smoothing) * right + smoothing * surprise.mean(-1))[targets != pad].mean()


@misconception("masked_cross_entropy", title="the targets are changed", keeps="the loss is right")
def loss_in_place(logits, targets, pad, smoothing=0.0):
    """Your loss is right, but you write into the targets that you were given, so that for the caller the padding is gone. Write into a
    copy (clone), or make a new tensor (torch.where)."""
    real, surprise = targets != pad, _surprise(logits)
    targets[~real] = 0
    price = (1 - smoothing) * _right(surprise, targets) + smoothing * surprise.mean(-1)
    return price[real].mean()


@alternative("masked_cross_entropy")
def loss_by_label_smoothing(logits, targets, pad, smoothing=0.0):
    """With question 2, whose rows are in single precision."""
    real, V = targets != pad, logits.shape[-1]
    wanted = (1 - smoothing) * nn.functional.one_hot(targets[real], V) + smoothing / V
    return (wanted * _surprise(logits[real])).sum(dim=-1).mean()


@alternative("masked_cross_entropy")
def loss_with_a_mask_of_numbers(logits, targets, pad, smoothing=0.0):
    real = targets.ne(pad)
    inside = torch.where(real, targets, torch.zeros_like(targets))
    log_z = torch.logsumexp(logits, -1)
    right = torch.take_along_dim(logits, inside.unsqueeze(-1), -1)[..., 0]
    wanted = (1 - smoothing) * right + smoothing * logits.mean(-1)
    return ((log_z - wanted) * real).sum() / real.sum()


@alternative("masked_cross_entropy")
def loss_of_smoothed_rows(logits, targets, pad, smoothing=0.0):
    V = logits.size(-1)
    flat, labels = logits.reshape(-1, V), targets.reshape(-1)
    kept = torch.nonzero(labels != pad)[:, 0]
    rows = torch.full((len(kept), V), smoothing / V, dtype=logits.dtype)
    rows[torch.arange(len(kept)), labels[kept]] += 1 - smoothing
    return -(rows * flat[kept].log_softmax(1)).sum() / len(kept)


@alternative("masked_cross_entropy")
def loss_in_single_precision_word_by_word(logits, targets, pad, smoothing=0.0):
    V, losses = logits.shape[-1], []
    for row, right in zip(logits.float().reshape(-1, V), targets.reshape(-1).tolist(), strict=True):
        if right != pad:
            surprise = torch.logsumexp(row, 0) - row
            losses.append((1 - smoothing) * surprise[right] + smoothing * surprise.mean())
    return sum(losses) / len(losses)


@alternative("masked_cross_entropy")
def loss_in_single_precision_on_the_way(logits, targets, pad, smoothing=0.0):
    z, right = logits[targets != pad].float(), targets[targets != pad]
    surprise = z.logsumexp(-1, keepdim=True) - z
    picked = surprise[torch.arange(len(right)), right]
    return ((1 - smoothing) * picked.mean() + smoothing * surprise.mean()).to(logits.dtype)
