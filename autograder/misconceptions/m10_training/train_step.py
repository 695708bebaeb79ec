"""Lab 10, ``train_step``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from autograder.testing import alternative, misconception


def _clip_all(model, optimizer, clip):
    nn.utils.clip_grad_norm_(model.parameters(), clip)


def _train(model, optimizer, loss_function, batch, rate, clip, *, leave_out=(), clip_gradient=_clip_all):
    """The seven things, with some of them left out, or the gradient clipped in another way."""
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
        clip_gradient(model, optimizer, clip)
    if "step" not in leave_out:
        optimizer.step()
    return loss.item()


@misconception(
    "train_step", title="old gradients are not cleared", keeps="the first step is right; later ones pile up"
)
def train_without_clearing(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your gradients pile up from step to step: backward adds to what is already there. Clear them before it."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clear",))


@misconception(
    "train_step",
    title="the model is not put into training mode",
    keeps="the step is right; only dropout is off",
)
def train_in_evaluation_mode(model, optimizer, loss_function, batch, rate, clip=1.0):
    """A model that was evaluated before stays in evaluation mode in your function: its dropout is off. Call model.train() first."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("mode",))


@misconception("train_step", title="the learning rate is not set")
def train_with_the_old_rate(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your steps have the length that the optimizer was made with: the argument rate is not used. Set it in every parameter group before the step."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("rate",))


@misconception(
    "train_step",
    title="the rate of the first group only",
    keeps="right for optimizers with one group, which is the rule",
)
def train_with_the_rate_of_one_group(model, optimizer, loss_function, batch, rate, clip=1.0):
    """An optimizer may hold its parameters in several groups, and you set the learning rate of the first one only: the others go on at their old one. Set it in each of
    optimizer.param_groups."""
    optimizer.param_groups[0]["lr"] = rate
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("rate",))


@misconception("train_step", title="nothing is clipped", keeps="right for gradients that are short enough")
def train_without_clipping(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Long gradients act in full: the argument clip is not used, or you clip before backward() has made the gradients."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clip",))


@misconception(
    "train_step", title="clipped after the step", keeps="right for gradients that are short enough"
)
def train_that_clips_too_late(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You clip after the optimizer has taken its step. By then the long gradient has done its work (and the old gradients, clipped, still lie there)."""
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


@misconception(
    "train_step", title="each entry is clipped by itself", keeps="right for gradients that are short enough"
)
def train_that_clips_entries(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You cut each entry of the gradient at ±clip, which changes its direction. Clip the length of the whole gradient instead."""

    def clip_entries(model, optimizer, clip):
        nn.utils.clip_grad_value_(model.parameters(), clip)

    return _train(model, optimizer, loss_function, batch, rate, clip, clip_gradient=clip_entries)


@misconception(
    "train_step",
    title="each parameter is clipped by itself",
    keeps="right for gradients that are short enough",
)
def train_that_clips_each_parameter(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You clip each parameter's gradient by its own length. It is the length of all of them together that counts, so that the direction of the step stays the same."""

    def clip_each(model, optimizer, clip):
        for parameter in model.parameters():
            nn.utils.clip_grad_norm_([parameter], clip)

    return _train(model, optimizer, loss_function, batch, rate, clip, clip_gradient=clip_each)


@misconception(
    "train_step",
    title="each group of parameters is clipped by itself",
    keeps="right for optimizers with one group, and for short gradients",
)
def train_that_clips_each_group(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You clip the gradient of each of the optimizer's groups by its own length. It is the length of all parameters together that counts: hand all of the model's parameters to one
    call."""

    def clip_groups(model, optimizer, clip):
        for group in optimizer.param_groups:
            nn.utils.clip_grad_norm_(group["params"], clip)

    return _train(model, optimizer, loss_function, batch, rate, clip, clip_gradient=clip_groups)


@misconception(
    "train_step",
    title="the argument clip is not used, but 1",
    keeps="right for short gradients, and for clip = 1",
)
def train_that_clips_at_one(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You shorten the gradient to the length 1, whatever the argument clip is. 1 is only its default."""

    def clip_at_one(model, optimizer, clip):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    return _train(model, optimizer, loss_function, batch, rate, clip, clip_gradient=clip_at_one)


@misconception(
    "train_step", title="short gradients are stretched", keeps="right for gradients longer than clip"
)
def train_that_stretches(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You give every gradient the length clip, so that short ones grow, and the steps never get smaller near the bottom. Only a gradient that is longer than clip
    is shortened."""

    def scale(model, optimizer, clip):
        with_part = [parameter for parameter in model.parameters() if parameter.grad is not None]
        length = torch.sqrt(sum((parameter.grad**2).sum() for parameter in with_part))
        for parameter in with_part:
            parameter.grad *= clip / (length + 1e-12)

    return _train(model, optimizer, loss_function, batch, rate, clip, clip_gradient=scale)


@misconception(
    "train_step",
    title="the loss with its arguments exchanged",
    keeps="right for losses that are the same both ways",
)
def train_with_the_loss_turned_round(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You call the loss with labels and logits exchanged. Most losses then stop with an error, or give another number: it is loss_function(logits, labels)."""

    def turned(logits, labels):
        return loss_function(labels, logits)

    return _train(model, optimizer, turned, batch, rate, clip)


@misconception(
    "train_step",
    title="only the outer module is in training mode",
    keeps="the step is right; only the dropout inside is off",
)
def train_with_the_outer_mode(model, optimizer, loss_function, batch, rate, clip=1.0):
    """The model says that it trains, but the modules inside it are still in evaluation mode, and dropout is one of them. model.train() sets all of them; model.training =
    True only the outermost."""
    model.training = True
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("mode",))


@misconception(
    "train_step",
    title="the labels as decoder input",
    keeps="right for models that do not look at their decoder input",
)
def train_with_the_labels_as_input(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You give the model the labels as its decoder input, so that it sees the very words that it should say: it learns to copy, and cannot
    write by itself. The batch holds both: model(source, decoder_input)."""
    source, _, labels = batch
    return _train(model, optimizer, loss_function, (source, labels, labels), rate, clip)


@misconception(
    "train_step",
    title="a new optimizer in each step",
    keeps="right for a first step without further settings",
)
def train_with_a_new_optimizer(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your steps are not those of the optimizer that you are given: what it remembers (momentum, Adam's means) and its settings are lost, since a
    new one is made in each step, or the weights are moved by hand. Set its rate, and call its step()."""
    fresh = type(optimizer)(model.parameters(), lr=rate)
    return _train(model, fresh, loss_function, batch, rate, clip)


@misconception(
    "train_step", title="cleared only after the step", keeps="right where no gradient was there before"
)
def train_that_clears_afterwards(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your first step takes in gradients that were there before: you clear them after the optimizer's step. Clear them before backward()."""
    loss = _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clear",))
    optimizer.zero_grad()
    return loss


@misconception(
    "train_step", title="a weight without a gradient", keeps="right where each weight has a part in the loss"
)
def train_that_needs_every_gradient(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your function fails where a weight had no part in the loss: its grad is None. Leave such weights out when you clip by hand; clip_grad_norm_ does."""

    def clip_by_hand(model, optimizer, clip):
        length = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))
        for parameter in model.parameters():
            parameter.grad *= min(1.0, clip / float(length))

    return _train(model, optimizer, loss_function, batch, rate, clip, clip_gradient=clip_by_hand)


@misconception("train_step", title="the weights do not move")
def train_without_a_step(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your loss is right, but the weights stay as they were: the optimizer's step is missing, or the gradients are cleared between backward and the step."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("step",))


@misconception("train_step", title="the loss is returned as a tensor", keeps="the steps are right")
def train_that_returns_a_tensor(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You return the loss as a tensor. It drags its whole computation along: whoever collects the losses of a thousand steps runs out of memory. Return the plain number."""
    kept = []

    def remember(logits, labels):
        kept.append(loss_function(logits, labels))
        return kept[-1]

    _train(model, optimizer, remember, batch, rate, clip)
    return kept[0]


@misconception("train_step", title="the loss after the update", keeps="the steps are right")
def train_that_reports_the_next_loss(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your number is the loss after the update: the model is run a second time. That costs as much as the step itself. Return the loss that you have already."""
    _train(model, optimizer, loss_function, batch, rate, clip)
    with torch.no_grad():
        return loss_function(model(*batch[:2]), batch[2]).item()


@alternative("train_step")
def train_with_gradients_by_hand(model, optimizer, loss_function, batch, rate, clip=1.0):
    parameters = list(model.parameters())
    loss = loss_function(model.train()(batch[0], batch[1]), batch[2])
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    length = torch.sqrt(sum(torch.sum(g * g) for g in gradients if g is not None))
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = None if gradient is None else gradient * torch.clamp(clip / length, max=1)
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
