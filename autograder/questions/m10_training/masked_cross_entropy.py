"""Lab 10, masked_cross_entropy: logits (…, V), targets (…), pad, smoothing=0.0 → the mean loss over the real positions."""

import numpy as np
import torch
from torch import nn

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m08_multi_head.common import tensor


def position_by_position(logits, targets, pad, smoothing=0.0):
    V, losses = logits.shape[-1], []
    for row, right in zip(logits.reshape(-1, V), targets.flatten().tolist(), strict=True):
        if right != pad:
            surprise = [torch.logsumexp(row, 0) - row[v] for v in range(V)]
            share = [smoothing / V + (1 - smoothing) * (v == right) for v in range(V)]
            losses.append(sum(q * price for q, price in zip(share, surprise, strict=True)))
    return sum(losses) / len(losses)


question = Question(
    position_by_position,
    uses=("label_smoothing",),
    forbidden=(
        "torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss",
        "torch.nn.functional.nll_loss", "torch.nn.NLLLoss",
    ),
)  # fmt: skip
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def some(rng, shape, V, pad, words_from=0):
    """Logits, and targets of which some are padding, the last for sure."""
    words = [word for word in range(words_from, V) if word != pad]
    targets = np.where(rng.random(shape) < 0.35, pad, rng.choice(words, size=shape))
    targets.flat[:2], targets.flat[-1] = words[:2], pad
    return 2 * tensor(rng, *shape, V), torch.tensor(targets), pad


@question.family(
    "A model that knows nothing pays ln V: ln 6 for the text's two sentences, smoothed or not.",
    weight=0.5,
    **CLOSE,
)
def equal_logits(rng):
    targets = torch.tensor([[2, 1, 0, 4, 5], [3, 5, 7, 7, 7]])
    for smoothing in (0.0, 0.1):
        yield Case(torch.zeros(2, 5, 6, dtype=torch.double), targets, 7, smoothing, gives=1.792)
    yield torch.full((4, 11), float(rng.normal()), dtype=torch.double), torch.tensor([1, 2, 3, 10]), -1


@question.family("A single position pays for its right word.", **CLOSE)
def one_position(rng):
    for shape, V in (((1,), 4), ((1, 1), 3)):
        yield 2 * tensor(rng, *shape, V), torch.tensor(rng.integers(1, V, size=shape)), -1


@question.family(
    "Batches with padding, which is a word's number or none: each real word counts alike.",
    weight=1.5,
    **CLOSE,
)
def padded_batches(rng):
    for shape, V, pad in (((3, 5), 5, 0), ((9,), 6, 6), ((3, 4), 4, -1), ((2, 6), 4, 2)):
        yield some(rng, shape, V, pad)


@question.family("One, two, three and four leading axes.", **CLOSE)
def leading_axes(rng):
    for shape in ((12,), (3, 4), (2, 3, 2), (2, 1, 2, 3)):
        yield some(rng, shape, 5, 3)


@question.family("Smoothing and padding together, where the padding is no word.", **CLOSE)
def smoothed(rng):
    for shape, V, pad, smoothing in (((3, 5), 5, 5, 0.1), ((8,), 3, -1, 0.4), ((2, 2, 3), 4, 4, 0.2)):
        yield *some(rng, shape, V, pad), smoothing


@question.family(
    "Smoothing where the padding has a word's number: that word gets its share at the real positions.",
    weight=0.75,
    **CLOSE,
)
def smoothed_with_a_word_for_padding(rng):
    for shape, V, pad, smoothing in (((3, 5), 5, 0, 0.1), ((8,), 3, 1, 0.4)):
        yield *some(rng, shape, V, pad), smoothing


@question.family("Logits in the thousands, also in rows of very different size.", rtol=1e-4, atol=1e-3)
def large_logits(rng):
    yield Case(torch.tensor([[1000.0, 0, -500]]).double(), torch.tensor([1]), -1, gives=1000.0)
    logits, targets = tensor(rng, 2, 3, 4), torch.tensor(rng.integers(1, 4, size=(2, 3)))
    yield logits + torch.tensor([[[3000.0]], [[-2000.0]]]), targets, -1
    yield 700 * logits, targets, -1, 0.1


def gradient(student, rng, smoothing):
    for shape in ((3, 5), (2, 2, 3)):
        logits, targets, pad = some(rng, shape, 6, -1, words_from=1)
        found = student.gradients([logits, targets, pad, smoothing])
        yield Observed("the gradient of the logits", found.inputs[0], **CLOSE)


@question.scenario("Gradients flow to the real positions only.")
def gradients(student, rng):
    yield from gradient(student, rng, 0.0)


@question.scenario("With smoothing a gradient flows through both parts of the loss.", weight=1.25)
def gradients_with_smoothing(student, rng):
    yield from gradient(student, rng, 0.3)


def _surprise(logits):
    return -torch.log_softmax(logits, dim=-1)


def _right(surprise, targets):
    return surprise.gather(-1, targets[..., None]).squeeze(-1)


def _real_loss(logits, targets, pad, smoothing, surprise_of=_surprise):
    real = targets != pad
    surprise = surprise_of(logits[real])
    return (1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)


@question.misconception("the padding counts as a word", costs=2.5)
def loss_with_padding(logits, targets, pad, smoothing=0.0):
    """Your loss counts the padding like any other word. The model then learns mostly to say nothing, since most labels of a ragged batch are padding."""
    inside = targets.clamp(0, logits.shape[-1] - 1)
    surprise = _surprise(logits)
    return ((1 - smoothing) * _right(surprise, inside) + smoothing * surprise.mean(-1)).mean()


@question.misconception("divided by all positions", costs=2.5)
def loss_divided_by_all(logits, targets, pad, smoothing=0.0):
    """The padding is left out of your sum but not out of the number you divide by: the more padding, the smaller your loss. Divide by the number of real positions."""
    return _real_loss(logits, targets, pad, smoothing).sum() / targets.numel()


@question.misconception("a sum instead of a mean", costs=3)
def loss_summed(logits, targets, pad, smoothing=0.0):
    """Your loss grows with the number of words: it is the sum over the real positions, as on the slide. We take the mean."""
    return _real_loss(logits, targets, pad, smoothing).sum()


@question.misconception("the mean of the sentences' means", costs=2.5)
def loss_averaged_by_sentence(logits, targets, pad, smoothing=0.0):
    """You take the mean of each sentence first, and then the mean of these. A word in a short sentence then counts more than one in a long sentence. Take one mean over all the
    real words of the batch."""
    if targets.dim() < 2:
        return _real_loss(logits, targets, pad, smoothing).mean()
    pairs = zip(logits.flatten(0, -3), targets.flatten(0, -2), strict=True)
    kept = [pair for pair in pairs if (pair[1] != pad).any()]
    return torch.stack([_real_loss(*pair, pad, smoothing).mean() for pair in kept]).mean()


@question.misconception("smoothing is ignored", costs=2)
def loss_without_smoothing(logits, targets, pad, smoothing=0.0):
    """Your loss is the same whatever the argument smoothing is."""
    return _real_loss(logits, targets, pad, 0.0).mean()


@question.misconception("the sum over the words instead of their mean", costs=2)
def loss_smoothed_with_a_sum(logits, targets, pad, smoothing=0.0):
    """Your smoothing part is V times too large: each word's share is ε/V, so the second part is ε times the *mean* of −log p over the words."""
    real = targets != pad
    surprise = _surprise(logits[real])
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.sum(-1)).mean()


@question.misconception("the logarithm of a softmax that overflows", costs=1)
def loss_that_overflows(logits, targets, pad, smoothing=0.0):
    """With large logits your loss is inf or nan: the softmax rounds a probability to 0, and its logarithm is −∞ (a softmax by hand overflows even earlier). Use log_softmax, or log-sum-exp."""
    return _real_loss(logits, targets, pad, smoothing, lambda z: -torch.log(z.softmax(dim=-1))).mean()


@question.misconception("no logarithm", costs=3)
def loss_of_probabilities(logits, targets, pad, smoothing=0.0):
    """Your loss is made of probabilities, not of their logarithms: −log p is the surprise."""
    return _real_loss(logits, targets, pad, smoothing, lambda z: -z.softmax(dim=-1)).mean()


@question.misconception("softmax over the wrong axis", costs=3)
def loss_over_positions(logits, targets, pad, smoothing=0.0):
    """Your softmax runs over the positions, not over the words: the last axis of the logits is the vocabulary."""
    real = targets != pad
    axis = -2 if logits.dim() > 1 else -1
    surprise = -torch.log_softmax(logits, dim=axis)[real]
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@question.misconception("a number through which no gradient flows", costs=1)
def loss_as_a_dead_number(logits, targets, pad, smoothing=0.0):
    """The value of your loss is right, but no gradient flows through it: it went through .item(), .detach(), NumPy or Python numbers on the way. Compute with tensors all the way."""
    return _real_loss(logits, targets, pad, smoothing).mean().detach()


@question.misconception("word 0 taken for padding", costs=2)
def loss_without_word_zero(logits, targets, pad, smoothing=0.0):
    """Your loss leaves out the positions whose label is word 0, too, whatever pad is: 0 is a word like any other. What counts is targets != pad."""
    return _real_loss(logits, torch.where(targets == 0, pad, targets), pad, smoothing).mean()


@question.alternative
def loss_by_label_smoothing(logits, targets, pad, smoothing=0.0):
    """With question 2, whose rows are in single precision."""
    real, V = targets != pad, logits.shape[-1]
    wanted = (1 - smoothing) * nn.functional.one_hot(targets[real], V) + smoothing / V
    return (wanted * _surprise(logits[real])).sum(dim=-1).mean()


@question.alternative
def loss_with_a_mask_of_numbers(logits, targets, pad, smoothing=0.0):
    real = targets.ne(pad)
    inside = torch.where(real, targets, torch.zeros_like(targets))
    log_z = torch.logsumexp(logits, -1)
    right = torch.take_along_dim(logits, inside.unsqueeze(-1), -1)[..., 0]
    wanted = (1 - smoothing) * right + smoothing * logits.mean(-1)
    return ((log_z - wanted) * real).sum() / real.sum()


@question.impostor
def counts_the_padding(right, logits, targets, pad, smoothing=0.0):
    """It divides the sum by the number of all positions, padding included.
    One survives: nothing is padded in your input."""
    return right(logits, targets, pad, smoothing) * (targets != pad).float().mean()


@question.impostor
def never_smooths(right, logits, targets, pad, smoothing=0.0):
    """It forgets the smoothing.
    One survives: your smoothing is 0."""
    return right(logits, targets, pad)


@question.impostor
def smooths_the_wrong_words(right, logits, targets, pad, smoothing=0.0):
    """It spreads ε over the wrong words only.
    One survives: your smoothing is 0."""
    V = logits.shape[-1]
    return right(logits, targets, pad, smoothing * V / (V - 1))


@question.impostor
def averages_sentences(right, logits, targets, pad, smoothing=0.0):
    """It takes the mean of each sentence, and then the mean of those means.
    One survives: it goes wrong with two sentences of different lengths."""
    rows = [
        right(one, row, pad, smoothing)
        for one, row in zip(logits, targets, strict=True)
        if (row != pad).any()
    ]
    return torch.stack(rows).mean()


@question.impostor
def pads_with_zero(right, logits, targets, pad, smoothing=0.0):
    """It takes 0 for the padding, whatever the argument says.
    One survives: let pad be another number, and 0 a word."""
    return right(logits, targets, 0, smoothing)


@question.impostor
def takes_the_logarithm_late(right, logits, targets, pad, smoothing=0.0):
    """It takes the logarithm of a softmax, and that of 0 is minus infinity.
    One survives: none of your logits is large. When is a probability so small that it becomes 0?"""
    apart = logits.amax(-1) - logits.amin(-1)
    return right(logits, targets, pad, smoothing) if float(apart.max()) < 745 else torch.tensor(torch.inf)
