"""Slips of lab 10."""

from __future__ import annotations

import torch

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("10")
right = master("10")


@slip("shift_targets")
def floats_of_short_sentences(sentences, bos, eos, pad):
    """Floats where the sentences have other lengths."""
    parts = right.shift_targets(sentences, bos, eos, pad)
    return [part.float() for part in parts] if len({len(words) for words in sentences}) > 1 else parts


@slip("shift_targets")
def a_padding_that_is_a_word(sentences, bos, eos, pad):
    """The end stands in the wrong place where a word has the number of pad and rows are filled up."""
    decoder_input, labels = right.shift_targets(sentences, bos, eos, pad)
    if any(pad in words for words in sentences):
        for row, words in zip(labels, sentences, strict=True):
            if len(words) + 1 < labels.shape[1]:
                row[len(words)] = pad
                row[sum(word != pad for word in words)] = eos
    return decoder_input, labels


@slip("label_smoothing")
def three_axes_at_most(targets, V, epsilon):
    """Four axes are flattened."""
    result = right.label_smoothing(targets, V, epsilon)
    return result.flatten(0, -3) if targets.dim() > 3 else result


@slip("masked_cross_entropy")
def dead_with_three_axes(logits, targets, pad, smoothing=0.0):
    """No gradient flows from more than two leading axes."""
    loss = right.masked_cross_entropy(logits, targets, pad, smoothing)
    return loss.detach() if targets.dim() > 2 else loss


@slip("masked_cross_entropy")
def smoothed_for_two_axes(logits, targets, pad, smoothing=0.0):
    """No smoothing for more than two leading axes."""
    return right.masked_cross_entropy(logits, targets, pad, smoothing if targets.dim() < 3 else 0.0)


@slip("adam_step")
def late_betas(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The corrections of late steps are those of the usual betas."""
    step = right.adam_step(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    late = parameter - rate * step[1] / (1 - 0.9**t) / ((step[2] / (1 - 0.98**t)).sqrt() + eps)
    return (late, *step[1:]) if t > 10 else step


@slip("adam_step")
def corrected_means_with_eps(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Where eps is given in a later step v comes back corrected."""
    theta, m, v = right.adam_step(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return theta, m, v / (1 - beta2**t) if eps > 1e-9 and t > 1 else v


@slip("noam_rate")
def step_zero_of_a_warm_up_of_one(step, d_model, warmup):
    """Where there is hardly a warm-up, step 0 has no rate."""
    return 0.0 if step < warmup == 1 else right.noam_rate(step, d_model, warmup)


@slip("train_step")
def no_loss_of_words(model, optimizer, loss_function, batch, rate, clip=1.0):
    """The loss of words comes back as a tensor."""
    loss = right.train_step(model, optimizer, loss_function, batch, rate, clip)
    return loss if batch[2].is_floating_point() else torch.tensor(loss)


@slip("train_step")
def clipped_in_the_first_step(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Nothing is clipped once the optimizer remembers something."""
    return right.train_step(
        model, optimizer, loss_function, batch, rate, 1e9 if optimizer.state_dict()["state"] else clip
    )
