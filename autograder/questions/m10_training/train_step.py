"""Lab 10, train_step: model, optimizer, loss_function, batch, rate, clip=1.0 → the loss before the update, a plain number."""

import numpy as np
import torch
from torch import nn

from autograder.questions.engine import Observed, Question
from autograder.questions.m08_multi_head.common import tensor


def by_hand(model, optimizer, loss_function, batch, rate, clip=1.0):
    """The gradients are asked for, shortened and handed to the weights one by one."""
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss = loss_function(model(batch[0], batch[1]), batch[2])
    weights = list(model.parameters())
    gradients = torch.autograd.grad(loss, weights, allow_unused=True)
    length = sum(float((part**2).sum()) for part in gradients if part is not None) ** 0.5
    for weight, part in zip(weights, gradients, strict=True):
        weight.grad = None if part is None else part * min(1.0, clip / length)
    optimizer.step()
    return loss.item()


question = Question(by_hand)

# A small model with dropout that can be heard, in a module inside it. Where it ``reads``, its decoder input counts; where it is
# ``idle``, a weight has no part. A loss of words, and one of wanted logits that is the same when its arguments change places, but
# for ``skew``. Of a single step of Adam the ``size`` is 100, so that no gradient is as small as an eps.
SCENE = """
import torch
from torch import nn


class Dropout(nn.Module):
    def forward(self, x, outside):
        return x * loudness(outside, self.training)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.weight, self.dropout = nn.Parameter(table), nn.Parameter(weight), Dropout()
        self.idle = nn.Parameter(torch.ones(2)) if idle else None

    def forward(self, source, decoder_input):
        heard = self.table[source].mean(dim=1, keepdim=True).repeat(1, decoder_input.shape[1], 1)
        if reads:
            heard = heard - 2 * self.table[decoder_input]
        return self.dropout(torch.tanh(heard) @ self.weight, self.training)


def loss_function(logits, labels):
    if labels.is_floating_point():
        return size * ((logits - labels) ** 2 * (1 + skew * labels**2)).mean()
    return size * nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)


model = Small()
parts = [{"params": [model.table]}, {"params": [model.weight]}] if several else model.parameters()
if kind == "Adam":
    optimizer = torch.optim.Adam(parts, lr=lr, eps=1e-30)
else:
    optimizer = torch.optim.SGD(parts, lr=lr, **{"momentum": {"momentum": 0.8}, "decay": {"weight_decay": 0.2}}.get(kind, {}))
"""
AFTER = "after = torch.cat([model.table.detach().flatten(), model.weight.detach().flatten()])"
USUAL = {"size": 1.0, "skew": 0.0, "several": False, "reads": True, "idle": False, "lr": 9.0}


def words(rng, B, S, T):
    return tuple(torch.tensor(rng.integers(1, 7, size=shape)) for shape in ((B, S), (B, T), (B, T)))


def to_match(rng, B, S, T):
    """A batch whose labels are wanted logits."""
    return *words(rng, B, S, T)[:2], tensor(rng, B, T, 7)


def steps_of(student, rng, kind, steps, prepare="", loss=False, **more):
    """The weights after each step, with ``loss`` the loss that is returned, and the modes in which the model was called."""
    factor, modes = float(rng.uniform(0.7, 1.4)), []

    def loudness(outside, inside):
        modes.append((outside, inside))
        return factor * (1 if outside else 0.8) * (1 if inside else 0.5)

    given = USUAL | more | {"table": tensor(rng, 7, 5), "weight": tensor(rng, 5, 7), "kind": kind}
    scene = student.scene(SCENE, loudness=loudness, **given)
    scene.run(prepare)
    for batch, rate, *clip in steps:
        found = student(scene["model"], scene["optimizer"], scene["loss_function"], batch, rate, *clip)
        scene.run(AFTER)
        yield Observed("the weights after the step", scene["after"], rtol=1e-5, atol=1e-5)
        if loss:
            yield Observed("the loss before the update", found, rtol=1e-5, atol=1e-5)
            yield Observed("a plain number", isinstance(found, (int, float, np.number)))
    if "eval" in prepare:
        yield Observed("the modes of the calls, outside and inside", modes)


@question.scenario("A step of Adam at the rate that is given; the loss comes back as a plain number.")
def a_step_of_adam(student, rng):
    yield from steps_of(student, rng, "Adam", [(to_match(rng, 3, 3, 4), 0.07, 1e6)], loss=True, size=100.0)


@question.scenario(
    "Logits and labels go into the loss in this order; a short gradient stays as it is.", weight=2
)
def without_clipping(student, rng):
    for batch in (to_match(rng, 3, 3, 4), words(rng, 3, 3, 4)):
        steps = [(batch, 0.7, 1e6)]
        yield from steps_of(student, rng, "decay", steps, loss=True, size=0.03, skew=1.0)


@question.scenario(
    "Steps on words in a row: each has its rate, and no gradient of an earlier one is left.", weight=2.5
)
def several_steps(student, rng):
    steps = [(words(rng, 3, 4, 5), rate, 40.0) for rate in (3.0, 0.5, 4.0)]
    yield from steps_of(student, rng, "momentum", steps, size=0.1)


@question.scenario(
    "The optimizer that is given takes each step: in the second it remembers the first.", weight=2
)
def it_remembers(student, rng):
    steps = [(to_match(rng, 3, 4, 5), rate, 1e6) for rate in (0.1, 0.3)]
    yield from steps_of(student, rng, "Adam", steps, size=0.03, reads=False)


@question.scenario("A weight that has no part in the loss stays as it is; the others move.")
def a_weight_without_a_part(student, rng):
    for clip in (0.2, 1e6):
        steps = [(to_match(rng, 3, 2, 4), 0.5, clip)]
        yield from steps_of(student, rng, "SGD", steps, size=10.0, reads=False, idle=True)


@question.scenario("All groups of the optimizer's parameters get the rate of this step.")
def several_groups(student, rng):
    steps = [(to_match(rng, 3, 2, 5), 0.3, 1e6)]
    yield from steps_of(student, rng, "Adam", steps, several=True, size=100.0, reads=False)


@question.scenario("A gradient that lies at the weights from before changes nothing.", weight=1.5)
def old_gradients(student, rng):
    prepare = "for p in model.parameters(): p.grad = torch.full_like(p, 300.0)"
    yield from steps_of(student, rng, "Adam", [(to_match(rng, 2, 3, 4), 0.2, 1e6)], prepare, size=100.0)


@question.scenario("A long gradient is shortened to the length given, or to 1.", weight=1.25)
def long_gradients(student, rng):
    for kind, *clips in (("SGD", [0.01]), ("SGD", [0.2]), ("SGD", []), ("momentum", [0.2], [0.2])):
        steps = [(to_match(rng, 3, 2, 4), 1.5, *clip) for clip in clips]
        yield from steps_of(student, rng, kind, steps, size=30.0, reads=False)


@question.scenario(
    "The gradients of all parameters are shortened together, whatever groups there are.", weight=1.25
)
def all_together(student, rng):
    steps = [(to_match(rng, 3, 2, 4), 0.4, 0.3)]
    yield from steps_of(student, rng, "SGD", steps, size=10.0, several=True, reads=False)


@question.scenario(
    "A model in evaluation mode is put into training mode, with what is inside, and called once.", weight=1.75
)
def in_training_mode(student, rng):
    steps = [(to_match(rng, 2, 5, 3), 0.1, 1e6)]
    yield from steps_of(student, rng, "Adam", steps, "model.eval()", size=100.0, reads=False)


def _train(
    model, optimizer, loss_function, batch, rate, clip, *, leave_out=(), clipped=nn.utils.clip_grad_norm_
):
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
        clipped(model.parameters(), clip)
    if "step" not in leave_out:
        optimizer.step()
    return loss.item()


@question.misconception("old gradients are not cleared", costs=1.5)
def train_without_clearing(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your gradients pile up from step to step: backward adds to what is already there. Clear them before it."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clear",))


@question.misconception("the model is not put into training mode", costs=0.5)
def train_in_evaluation_mode(model, optimizer, loss_function, batch, rate, clip=1.0):
    """A model that was evaluated before stays in evaluation mode in your function: its dropout is off. Call model.train() first."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("mode",))


@question.misconception("the learning rate is not set", costs=3)
def train_with_the_old_rate(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your steps have the length that the optimizer was made with: the argument rate is not used. Set it in every parameter group before the step."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("rate",))


@question.misconception("nothing is clipped", costs=1)
def train_without_clipping(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Long gradients act in full: the argument clip is not used, or you clip before backward() has made the gradients."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clip",))


@question.misconception("clipped after the step", costs=1.5)
def train_that_clips_too_late(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You clip after the optimizer has taken its step. By then the long gradient has done its work (and the old gradients, clipped, still lie there)."""
    loss = _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("clear", "clip"))
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.zero_grad()
    return loss


@question.misconception("each entry is clipped by itself", costs=1)
def train_that_clips_entries(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You cut each entry of the gradient at ±clip, which changes its direction. Clip the length of the whole gradient instead."""
    by_entry = nn.utils.clip_grad_value_
    return _train(model, optimizer, loss_function, batch, rate, clip, clipped=by_entry)


@question.misconception("the labels as decoder input", costs=2)
def train_with_the_labels_as_input(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You give the model the labels as its decoder input, so that it sees the very words that it should say: it learns to copy, and cannot
    write by itself. The batch holds both: model(source, decoder_input)."""
    source, _, labels = batch
    return _train(model, optimizer, loss_function, (source, labels, labels), rate, clip)


@question.misconception("a new optimizer in each step", costs=2.5)
def train_with_a_new_optimizer(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your steps are not those of the optimizer that you are given: what it remembers (momentum, Adam's means) and its settings are lost, since a
    new one is made in each step, or the weights are moved by hand. Set its rate, and call its step()."""
    fresh = type(optimizer)(model.parameters(), lr=rate)
    return _train(model, fresh, loss_function, batch, rate, clip)


@question.misconception("the weights do not move", costs=4)
def train_without_a_step(model, optimizer, loss_function, batch, rate, clip=1.0):
    """Your loss is right, but the weights stay as they were: the optimizer's step is missing, or the gradients are cleared between backward and the step."""
    return _train(model, optimizer, loss_function, batch, rate, clip, leave_out=("step",))


@question.misconception("the loss is returned as a tensor", costs=1)
def train_that_returns_a_tensor(model, optimizer, loss_function, batch, rate, clip=1.0):
    """You return the loss as a tensor. It drags its whole computation along: whoever collects the losses of a thousand steps runs out of memory. Return the plain number."""
    kept = []

    def remember(logits, labels):
        kept.append(loss_function(logits, labels))
        return kept[-1]

    _train(model, optimizer, remember, batch, rate, clip)
    return kept[0]


@question.alternative
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
