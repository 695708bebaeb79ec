"""Lab 10: wrong answers that students give, with their hints, and correct answers in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from autograder.answers import alternative, misconception

# ------------------------------------------------------------------------------------------------ shift_targets


def _filled(rows, pad):
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])


@misconception("shift_targets", title="nothing is shifted")
def targets_not_shifted(sentences, bos, eos, pad):
    """Decoder input and labels are the same: position t sees the very word that it should say. A model learns to copy it within a
    minute and can't write a word by itself. The input must be one step behind the labels."""
    rows = _filled([[bos, *sentence] for sentence in sentences], pad)
    return rows, rows.clone()


@misconception("shift_targets", title="input and labels exchanged")
def targets_exchanged(sentences, bos, eos, pad):
    """Your two results are exchanged: the decoder input, which begins with bos, comes first, the labels second."""
    return _filled([[*s, eos] for s in sentences], pad), _filled([[bos, *s] for s in sentences], pad)


@misconception("shift_targets", title="the end is forgotten")
def targets_without_the_end(sentences, bos, eos, pad):
    """Your labels do not hold eos, so the model never learns to stop. Behind its last word each sentence gets eos as a label."""
    longest = max(map(len, sentences)) + 1
    return (
        _filled([[bos, *s] for s in sentences], pad),
        torch.tensor([[*s, *[pad] * (longest - len(s))] for s in sentences]),
    )


@misconception("shift_targets", title="the end stands behind the padding")
def targets_with_the_end_at_the_end(sentences, bos, eos, pad):
    """In short sentences your eos stands in the last column, behind the padding. It comes right behind the last word; the padding follows."""
    longest = max(map(len, sentences))
    padded = [[*s, *[pad] * (longest - len(s))] for s in sentences]
    return torch.tensor([[bos, *row] for row in padded]), torch.tensor([[*row, eos] for row in padded])


@misconception("shift_targets", title="eos in the input as well")
def targets_cut_from_one_row(sentences, bos, eos, pad):
    """You pad <bos> … <eos> and cut off the first and the last column. In sentences shorter than the longest, the input then still holds eos, as
    if there were something to say after the end. Put eos into the labels only."""
    whole = _filled([[bos, *s, eos] for s in sentences], pad)
    return whole[:, :-1], whole[:, 1:]


@misconception("shift_targets", title="padding on the left")
def targets_padded_on_the_left(sentences, bos, eos, pad):
    """Your padding stands in front of the sentences. Here it stands behind them, so that position 0 always holds bos."""
    longest = max(map(len, sentences))
    gaps = [[pad] * (longest - len(s)) for s in sentences]
    return (
        torch.tensor([[*g, bos, *s] for g, s in zip(gaps, sentences, strict=True)]),
        torch.tensor([[*g, *s, eos] for g, s in zip(gaps, sentences, strict=True)]),
    )


@misconception("shift_targets", title="the caller's sentences get longer")
def targets_that_append(sentences, bos, eos, pad):
    """Your results are right, but you append eos to the lists that you were given: the caller's sentences have changed, and a second call adds a second end. Make new
    lists instead."""
    inputs = _filled([[bos, *s] for s in sentences], pad)
    for sentence in sentences:
        sentence.append(eos)
    return inputs, _filled(sentences, pad)


@misconception("shift_targets", title="the last word is lost")
def targets_that_lose_a_word(sentences, bos, eos, pad):
    """Your tensors are one column too narrow: a sentence of n words gives n + 1 lessons, the last of which is to stop."""
    return (
        _filled([[bos, *s[:-1]] if s else [bos] for s in sentences], pad),
        _filled([s or [eos] for s in sentences], pad),
    )


@alternative("shift_targets")
def targets_by_filling(sentences, bos, eos, pad):
    shape = len(sentences), max(map(len, sentences)) + 1
    decoder_input, labels = torch.full(shape, pad), torch.full(shape, pad)
    decoder_input[:, 0] = bos
    for b, sentence in enumerate(sentences):
        n = len(sentence)
        decoder_input[b, 1 : n + 1] = torch.tensor(sentence, dtype=torch.long)
        labels[b, :n] = torch.tensor(sentence, dtype=torch.long)
        labels[b, n] = eos
    return [decoder_input, labels]


@alternative("shift_targets")
def targets_by_pad_sequence(sentences, bos, eos, pad):
    heads = [torch.tensor([bos, *s]) for s in sentences]
    tails = [torch.tensor([*s, eos]) for s in sentences]
    return tuple(pad_sequence(rows, batch_first=True, padding_value=pad) for rows in (heads, tails))


# ---------------------------------------------------------------------------------------------- label_smoothing


@misconception("label_smoothing", title="the right word gets no share of ε")
def smoothing_without_the_right_words_share(targets, V, epsilon):
    """Your rows sum to less than 1: the right word has 1 − ε, and the wrong ones ε/V each. ε is spread over all V words, so the right one
    gets ε/V on top."""
    one_hot = nn.functional.one_hot(targets, V).float()
    return one_hot * (1 - epsilon) + (1 - one_hot) * epsilon / V


@misconception("label_smoothing", title="ε spread over the wrong words only")
def smoothing_over_the_wrong_words(targets, V, epsilon):
    """Your right word has exactly 1 − ε, and the others share ε. That is the other convention; here ε is spread over all V words, the right one
    included."""
    one_hot = nn.functional.one_hot(targets, V).float()
    return one_hot * (1 - epsilon) + (1 - one_hot) * epsilon / (V - 1)


@misconception("label_smoothing", title="ε is added but not taken away")
def smoothing_that_adds(targets, V, epsilon):
    """Your rows sum to more than 1: every word gets ε/V, but the right one still has its full 1. Take ε away from it first."""
    return nn.functional.one_hot(targets, V) + epsilon / V


@misconception("label_smoothing", title="ε for each word")
def smoothing_with_whole_epsilon(targets, V, epsilon):
    """Each wrong word has the whole ε in your rows. It is one share ε for all of them together: ε/V each."""
    return (1 - epsilon) * nn.functional.one_hot(targets, V) + epsilon


@misconception("label_smoothing", title="ε and 1 − ε exchanged")
def smoothing_upside_down(targets, V, epsilon):
    """With ε = 0 your rows are flat, and they get sharper as ε grows: ε and 1 − ε are exchanged. ε is what is taken away."""
    return epsilon * nn.functional.one_hot(targets, V) + (1 - epsilon) / V


@misconception("label_smoothing", title="no smoothing at all")
def smoothing_that_does_nothing(targets, V, epsilon):
    """Your rows are one-hot whatever ε is."""
    return nn.functional.one_hot(targets, V).float()


@alternative("label_smoothing")
def smoothing_by_scatter_in_double_precision(targets, V, epsilon):
    rows = torch.full((*targets.shape, V), epsilon / V, dtype=torch.float64)
    return rows.scatter(-1, targets[..., None], 1 - epsilon + epsilon / V)


@alternative("label_smoothing")
def smoothing_by_rows_of_a_table(targets, V, epsilon):
    table = torch.eye(V).lerp(torch.full((V, V), 1 / V), epsilon)
    return table[targets]


# ----------------------------------------------------------------------------------------- masked_cross_entropy


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


@misconception("masked_cross_entropy", title="the logarithm of a softmax that overflows")
def loss_that_overflows(logits, targets, pad, smoothing=0.0):
    """With large logits your loss is inf or nan: the softmax rounds a probability to 0, and its logarithm is −∞ (a softmax by hand overflows even earlier). Use log_softmax, or log-sum-exp."""
    real = targets != pad
    surprise = -torch.log(torch.softmax(logits[real], dim=-1))
    return ((1 - smoothing) * _right(surprise, targets[real]) + smoothing * surprise.mean(-1)).mean()


@misconception("masked_cross_entropy", title="a small number inside the logarithm")
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


@misconception("masked_cross_entropy", title="a number through which no gradient flows")
def loss_as_a_dead_number(logits, targets, pad, smoothing=0.0):
    """The value of your loss is right, but no gradient flows through it: it went through .item(), .detach(), NumPy or Python numbers on the way. Compute with tensors all the way."""
    return _real_loss(logits, targets, pad, smoothing).mean().detach()


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


# ---------------------------------------------------------------------------------------------------- adam_step


def _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, *, corrected=(True, True), power=None):
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    power = t if power is None else power
    m_hat = m / (1 - beta1**power) if corrected[0] else m
    v_hat = v / (1 - beta2**power) if corrected[1] else v
    return parameter - rate * m_hat / (v_hat.sqrt() + eps), m, v


@misconception("adam_step", title="no correction of the means")
def adam_without_correction(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first steps have the wrong length: m and v began at 0 and are too small at first. Divide them by 1 − βᵗ before you use them."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, corrected=(False, False))


@misconception("adam_step", title="only m is corrected")
def adam_correcting_only_m(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first steps are too long: m is corrected for its beginning at 0, v is not. Both began at 0."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, corrected=(True, False))


@misconception("adam_step", title="the correction without the power t")
def adam_correcting_without_t(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your first step is right and all later ones are too long: the correction is 1 − β to the power t, and fades away as t grows."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=1)


@misconception("adam_step", title="counting from zero")
def adam_one_step_ahead(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your correction uses t + 1. Here t is 1 in the first step already."""
    return _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps, power=t + 1)


@misconception("adam_step", title="the corrected means are kept")
def adam_that_returns_corrected_means(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your parameter is right, but you return the corrected m̂ and v̂: in the next step they would be corrected a second time. Return the plain m and v."""
    parameter, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter, m / (1 - beta1**t), v / (1 - beta2**t)


@misconception("adam_step", title="no square root")
def adam_without_the_root(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """You divide by v̂, a mean of *squares*. Its root has the size of a gradient: divide by that."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter - rate * (m / (1 - beta1**t)) / (v / (1 - beta2**t) + eps), m, v


@misconception("adam_step", title="eps inside the root")
def adam_with_eps_inside(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your eps stands under the root, where it weighs much more for small gradients. It is added after the root."""
    _, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return parameter - rate * (m / (1 - beta1**t)) / (v / (1 - beta2**t) + eps).sqrt(), m, v


@misconception("adam_step", title="the gradient is not squared")
def adam_without_the_square(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your v is a mean of the gradient, not of its square: it can become negative, and its root is then no number."""
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient
    return parameter - rate * (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + eps), m, v


@misconception("adam_step", title="β₁ and β₂ exchanged")
def adam_with_betas_exchanged(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """β₁ and β₂ are exchanged in your function: β₁ belongs to m, β₂ to v."""
    return _adam(parameter, gradient, m, v, t, rate, beta2, beta1, eps)


@misconception("adam_step", title="uphill")
def adam_uphill(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your parameter moves with the gradient, uphill: the step is subtracted."""
    down, m, v = _adam(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return 2 * parameter - down, m, v


@misconception("adam_step", title="the tensors that were given are changed")
def adam_in_place(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Your values are right, but tensors that you were given are changed in place (mul_, add_, copy_, +=): for the caller they are no longer what they were. Make new ones."""
    m.mul_(beta1).add_(gradient, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    return parameter - rate * (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + eps), m, v


@alternative("adam_step")
def adam_with_lerp_and_addcdiv(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    m = torch.lerp(m, gradient, 1.0 - beta1)
    v = torch.lerp(v, gradient.square(), 1.0 - beta2)
    step = rate / (1 - math.pow(beta1, t))
    below = v.sqrt() / math.sqrt(1 - math.pow(beta2, t)) + eps
    return torch.addcdiv(parameter, m, below, value=-step), m, v


@alternative("adam_step")
def adam_in_numpy(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    p, g, m, v = (one.numpy() for one in (parameter, gradient, m, v))
    m = m + (1 - beta1) * (g - m)
    v = v + (1 - beta2) * (g * g - v)
    p = p - rate * np.divide(m, 1 - beta1**t) / (np.sqrt(np.divide(v, 1 - beta2**t)) + eps)
    return [torch.as_tensor(one) for one in (p, m, v)]


@alternative("adam_step")
def adam_in_single_precision(parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    return _adam(
        parameter.float(), gradient.float(), m.float(), v.float(), t, rate, beta1, beta2, eps, power=float(t)
    )


# ---------------------------------------------------------------------------------------------------- noam_rate


@misconception("noam_rate", title="the larger of the two instead of the smaller")
def noam_with_the_maximum(step, d_model, warmup):
    """Your rate is enormous at first and then grows without end: you take the larger of the two expressions. The smaller one counts."""
    step = max(step, 1)
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="no warm-up")
def noam_without_warm_up(step, d_model, warmup):
    """Your rate falls from the very first step: the straight climb during the warm-up is missing."""
    return d_model**-0.5 * max(step, 1) ** -0.5


@misconception("noam_rate", title="it never comes down")
def noam_that_stays_up(step, d_model, warmup):
    """Your rate climbs and then stays where it is. After the warm-up it falls with the root of the step."""
    return d_model**-0.5 * min(max(step, 1), warmup) * warmup**-1.5


@misconception("noam_rate", title="the model's size does not count")
def noam_without_the_size(step, d_model, warmup):
    """Your rate does not depend on d_model: larger models get smaller rates, by the root of their size."""
    step = max(step, 1)
    return min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="the root upside down")
def noam_with_the_root_of_the_size(step, d_model, warmup):
    """Your rate grows with the model's size: the exponent is −0.5, not 0.5."""
    step = max(step, 1)
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="step 0 has no rate")
def noam_from_step_zero(step, d_model, warmup):
    """Your function divides by 0 (or gives the rate 0) in step 0. Some programs count from there: step 0 has the rate of step 1."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@misconception("noam_rate", title="the exponents exchanged")
def noam_with_the_wrong_exponent(step, d_model, warmup):
    """Your two expressions do not meet at the top: the exponent of warmup is −1.5, so that step · warmup⁻¹·⁵ equals step⁻⁰·⁵ when step = warmup."""
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@alternative("noam_rate")
def noam_by_cases(step, d_model, warmup):
    step = step or 1
    shape = step / warmup if step <= warmup else math.sqrt(warmup / step)
    return shape / math.sqrt(d_model * warmup)


@alternative("noam_rate")
def noam_in_torch(step, d_model, warmup):
    step = torch.tensor(max(1.0, step), dtype=torch.float64)
    return torch.minimum(step.rsqrt(), step / warmup**1.5) / d_model**0.5


# --------------------------------------------------------------------------------------------------- train_step


def _train(model, optimizer, loss_function, batch, rate, clip, *, leave_out=()):
    """The seven things, with some of them left out."""
    source, decoder_input, labels = batch
    if "mode" not in leave_out:
        model.train()
    if "rate" not in leave_out:
        for group in optimizer.param_groups:
            group["lr"] = rate
    if "clear" not in leave_out:
        optimizer.zero_grad()
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    if "clip" not in leave_out:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    if "step" not in leave_out:
        optimizer.step()
    return loss.item()


@misconception("train_step", title="old gradients are not cleared")
def train_without_clearing(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your gradients pile up from step to step: backward adds to what is already there. Clear them before it."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clear",))


@misconception("train_step", title="the model is not put into training mode")
def train_in_evaluation_mode(model, optimizer, loss_function, batch, rate, clip=1.0):
    """A model that was evaluated before stays in evaluation mode in your function: its dropout is off. Call model.train() first."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("mode",))


@misconception("train_step", title="the learning rate is not set")
def train_with_the_old_rate(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your steps have the length that the optimiser was made with: the argument rate is not used. Set it in every parameter group before the step."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("rate",))


@misconception("train_step", title="the rate of the first group only")
def train_with_the_rate_of_one_group(model, optimizer, loss_function, batch, rate, clip=1.0):
    """An optimiser may hold its parameters in several groups, and you set the learning rate of the first one only: the others go on at their old one. Set it in each of
    optimizer.param_groups."""
    optimizer.param_groups[0]["lr"] = rate
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("rate",))


@misconception("train_step", title="nothing is clipped")
def train_without_clipping(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Long gradients act in full: the argument clip is not used, or you clip before backward() has made the gradients."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clip",))


@misconception("train_step", title="clipped after the step")
def train_that_clips_too_late(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You clip after the optimiser has taken its step. By then the long gradient has done its work (and the old gradients, clipped, still lie there)."""
    source, decoder_input, labels = batch
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.zero_grad()
    return loss.item()


@misconception("train_step", title="each entry is clipped by itself")
def train_that_clips_entries(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You cut each entry of the gradient at ±clip, which changes its direction. Clip the length of the whole gradient instead."""
    source, decoder_input, labels = batch
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), clip)
    optimizer.step()
    return loss.item()


@misconception("train_step", title="each parameter is clipped by itself")
def train_that_clips_each_parameter(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You clip each parameter's gradient by its own length. It is the length of all of them together that counts, so that the direction of the step stays the same."""
    source, decoder_input, labels = batch
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    for parameter in model.parameters():
        nn.utils.clip_grad_norm_([parameter], clip)
    optimizer.step()
    return loss.item()


@misconception("train_step", title="each group of parameters is clipped by itself")
def train_that_clips_each_group(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You clip the gradient of each of the optimiser's groups by its own length. It is the length of all parameters together that counts: hand all of the model's parameters to one
    call."""
    source, decoder_input, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = loss_function(model(source, decoder_input), labels)
    loss.backward()
    for group in optimizer.param_groups:
        group["lr"] = rate
        nn.utils.clip_grad_norm_(group["params"], clip)
    optimizer.step()
    return loss.item()


@misconception("train_step", title="the weights do not move")
def train_without_a_step(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your loss is right, but the weights stay as they were: the optimiser's step is missing, or the gradients are cleared between backward and the step."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("step",))


@misconception("train_step", title="the loss is returned as a tensor")
def train_that_returns_a_tensor(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You return the loss as a tensor. It drags its whole computation along: whoever collects the losses of a thousand steps runs out of memory. Return the plain number."""
    kept = []

    def remember(logits, labels):
        kept.append(loss_function(logits, labels))
        return kept[-1]

    _train(model, optimizer, remember, batch, rate, clip)
    return kept[0]


@misconception("train_step", title="the loss after the update")
def train_that_reports_the_next_loss(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your number is the loss after the update: the model is run a second time. That costs as much as the step itself. Return the loss that you have already."""
    _train(model, optimizer, loss_function, batch, rate, clip)
    with torch.no_grad():
        return loss_function(model(*batch[:2]), batch[2]).item()


@alternative("train_step")
def train_with_gradients_by_hand(model, optimizer, loss_function, batch, rate, clip=1.0):
    parameters = list(model.parameters())
    loss = loss_function(model.train()(batch[0], batch[1]), batch[2])
    gradients = torch.autograd.grad(loss, parameters)
    length = torch.sqrt(sum(torch.sum(g * g) for g in gradients))
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient * torch.clamp(clip / length, max=1)
    for group in optimizer.param_groups:
        group.update(lr=rate)
    optimizer.step()
    return float(loss.detach())


@alternative("train_step")
def train_in_another_order(model, optimizer, loss_function, batch, rate, clip=1.0):
    for i in range(len(optimizer.param_groups)):
        optimizer.param_groups[i]["lr"] = rate
    model.zero_grad(set_to_none=False)
    model.train(True)
    source, decoder_input, labels = batch
    logits = model(source, decoder_input)
    loss = loss_function(logits, labels)
    number = np.float64(loss.detach().numpy())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=clip)
    optimizer.step()
    optimizer.zero_grad()
    return number
