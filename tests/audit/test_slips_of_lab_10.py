"""Lab 10: slips in one branch only, or where two features meet, lose a little, and many a card says so."""

from __future__ import annotations

import pytest
import torch

from autograder.course.masters import solution

from .slips import loses_a_little

LAB = "10_training"
RIGHT = solution(LAB)


def floats_of_short_sentences(sentences, bos, eos, pad):
    """Floats where the sentences have other lengths."""
    parts = RIGHT["shift_targets"](sentences, bos, eos, pad)
    return [part.float() for part in parts] if len({len(words) for words in sentences}) > 1 else parts


def a_padding_that_is_a_word(sentences, bos, eos, pad):
    """The end stands in the wrong place where a word has the number of pad and rows are filled up."""
    decoder_input, labels = RIGHT["shift_targets"](sentences, bos, eos, pad)
    if any(pad in words for words in sentences):
        for row, words in zip(labels, sentences, strict=True):
            if len(words) + 1 < labels.shape[1]:
                row[len(words)] = pad
                row[sum(word != pad for word in words)] = eos
    return decoder_input, labels


def three_axes_at_most(targets, V, epsilon):
    """Four axes are flattened."""
    result = RIGHT["label_smoothing"](targets, V, epsilon)
    return result.flatten(0, -3) if targets.dim() > 3 else result


def dead_with_three_axes(logits, targets, pad, smoothing=0.0):
    """No gradient flows from more than two leading axes."""
    loss = RIGHT["masked_cross_entropy"](logits, targets, pad, smoothing)
    return loss.detach() if targets.dim() > 2 else loss


def smoothed_for_two_axes(logits, targets, pad, smoothing=0.0):
    """No smoothing for more than two leading axes."""
    return RIGHT["masked_cross_entropy"](logits, targets, pad, smoothing if targets.dim() < 3 else 0.0)


def late_betas(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The corrections of late steps are those of the usual betas."""
    right = RIGHT["adam_step"](parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    late = parameter - rate * right[1] / (1 - 0.9**t) / ((right[2] / (1 - 0.98**t)).sqrt() + eps)
    return (late, *right[1:]) if t > 10 else right


def corrected_means_with_eps(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Where eps is given in a later step v comes back corrected."""
    theta, m, v = RIGHT["adam_step"](parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return theta, m, v / (1 - beta2**t) if eps > 1e-9 and t > 1 else v


def step_zero_of_a_warm_up_of_one(step, d_model, warmup):
    """Where there is hardly a warm-up, step 0 has no rate."""
    return 0.0 if step < warmup == 1 else RIGHT["noam_rate"](step, d_model, warmup)


def no_loss_of_words(model, optimizer, loss_function, batch, rate, clip=1.0):
    """The loss of words comes back as a tensor."""
    loss = RIGHT["train_step"](model, optimizer, loss_function, batch, rate, clip)
    return loss if batch[2].is_floating_point() else torch.tensor(loss)


def clipped_in_the_first_step(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Nothing is clipped once the optimizer remembers something."""
    return RIGHT["train_step"](
        model, optimizer, loss_function, batch, rate, 1e9 if optimizer.state_dict()["state"] else clip
    )


SLIPS = [
    ("shift_targets", floats_of_short_sentences, True),
    ("shift_targets", a_padding_that_is_a_word, True),
    ("label_smoothing", three_axes_at_most, True),
    ("masked_cross_entropy", dead_with_three_axes, False),
    ("masked_cross_entropy", smoothed_for_two_axes, False),
    ("adam_step", late_betas, True),
    ("adam_step", corrected_means_with_eps, True),
    ("noam_rate", step_zero_of_a_warm_up_of_one, False),
    ("train_step", no_loss_of_words, False),
    ("train_step", clipped_in_the_first_step, False),
]


@pytest.mark.parametrize(
    ("question", "slip", "seen"), SLIPS, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_slip_in_one_branch_loses_a_little(question, slip, seen):
    loses_a_little(LAB, question, slip, red=seen)
