"""Lab 09, FeedForward(d_model, d_ff): x (…, d_model) → linear2(ReLU(linear1(x)))."""

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F

from autograder.questions.engine import Observed, Question
from autograder.questions.m09_blocks.common import CLOSE, Thought, built, drawn, tensor, thought_shapes


class WordByWord(nn.Module):
    """One word after the other; the ReLU is a product."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        words = []
        for word in x.reshape(-1, x.shape[-1]):
            hidden = self.linear1.weight @ word + self.linear1.bias
            words.append(self.linear2.weight @ (hidden * (hidden > 0)) + self.linear2.bias)
        return torch.stack(words).reshape(x.shape)


question = Question(WordByWord)


def open_layer(student, rng, d_model, d_ff):
    """A layer in which no hidden number of positive words is near or below 0, and linear2 has no bias: ReLU and bias have scenarios."""
    weights = {name: value.abs() for name, value in drawn(rng, thought_shapes(d_model, d_ff)).items()}
    weights["linear1.bias"] += 9
    weights["linear2.bias"] *= 0
    return built(student, (d_model, d_ff), weights)


@question.scenario(
    "The features of lab 03: (1, 0, 1) becomes (1, −1), then (1, 0), then the votes.", weight=2
)
def features(student, rng):
    weights = {
        "linear1.weight": torch.tensor([[1.0, -1, 1], [-1, 1, 1]]),
        "linear1.bias": torch.tensor([-1.0, -1]),
        "linear2.weight": torch.tensor([[4.0, 5], [5, 4], [0, -7]]),
        "linear2.bias": torch.tensor([-1.0, 0, 2]),
    }
    x = torch.tensor([[1.0, 0, 1], [0, 1, 1], [1, 0, 0], rng.integers(0, 2, 3).tolist()])
    yield Observed("the votes", built(student, (3, 2), weights)(x.double()), **CLOSE)


@question.scenario("A ReLU in the middle and none behind: hidden numbers and votes of either sign.", weight=2)
def either_sign(student, rng):
    for shape, d_ff in (((2, 5, 3), 7), ((3, 1, 4), 6)):
        weights = drawn(rng, thought_shapes(shape[-1], d_ff))
        weights["linear2.bias"] *= 0
        yield Observed(
            "the votes", built(student, (shape[-1], d_ff), weights)(2 * tensor(rng, *shape)), **CLOSE
        )


@question.scenario("Two layers are learned, each with its bias, and nothing else.", weight=0.75)
def two_layers(student, rng):
    yield Observed("what is learned", student(5, 7).parameters(list(thought_shapes(5, 7))))


@question.scenario("The bias of linear2 counts.", weight=0.75)
def the_last_bias(student, rng):
    module = open_layer(student, rng, 5, 7)
    module.load_state_dict({"linear2.bias": tensor(rng, 5)}, strict=False)
    yield Observed("the votes", module(tensor(rng, 2, 3, 5).abs()), **CLOSE)


@question.scenario(
    "A word alone, words without a batch, more axes than usual, a view; x is left as it is.", weight=1.5
)
def leading_axes(student, rng):
    for shape, d_ff in (((9,), 5), ((4, 6), 2), ((2, 3, 2, 5), 4)):
        module = open_layer(student, rng, shape[-1], d_ff)
        yield Observed("the votes", module(2 * tensor(rng, *shape).abs()), **CLOSE)
        yield Observed("x is changed", bool(module.mutated))
    yield Observed("those of a view", module(tensor(rng, 5, 3, 2).abs().permute(2, 1, 0)), **CLOSE)


@question.scenario("Nothing is dropped inside, in training mode neither.")
def in_training(student, rng):
    module, x = open_layer(student, rng, 8, 200), tensor(rng, 2, 5, 8).abs()
    module.train()
    one, other = (torch.as_tensor(module(x)) for _ in range(2))
    yield Observed("two calls give the same", torch.equal(one, other))


@question.scenario("Gradients reach x and both layers, where the ReLU lets them through.")
def gradients(student, rng):
    for x in (tensor(rng, 2, 3, 4), -tensor(rng, 4).abs()):
        weights = drawn(rng, thought_shapes(4, 12))
        found = built(student, (4, 12), weights).gradients([x], cotangent=tensor(rng, *x.shape))
        yield Observed("the gradient of x", found.inputs[0], **CLOSE)
        for name in ("linear1.weight", "linear1.bias", "linear2.weight"):
            yield Observed(f"the gradient of {name}", found.parameters.get(name), **CLOSE)


@question.misconception("no ReLU", costs=1.5)
class ThoughtWithoutBend(Thought):
    """There is no ReLU between your layers. Two linear layers in a row are only one linear layer: nothing like “and” can be
    computed."""

    def activation(self, hidden):
        return hidden


@question.misconception("a ReLU behind both layers", costs=1.5)
class ThoughtWithTwoBends(Thought):
    """Your result is never negative: there is a second ReLU behind linear2. A vote may be negative; the only ReLU is in the middle."""

    def forward(self, x):
        return super().forward(x).relu()


@question.misconception("a residual connection inside", costs=2)
class ThoughtWithAResidual(Thought):
    """Your layer adds x to its result. The sum comes later, in residual: here it would be added twice."""

    def forward(self, x):
        return x + super().forward(x)


@question.misconception("always four times as wide", costs=2.25)
class ThoughtFourTimesAsWide(Thought):
    """Your middle layer is always four times as wide as the model. Usual, but the width is the argument d_ff."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, 4 * d_model)


@question.misconception("linear layers without a bias in the feed-forward layer", costs=2.25)
class ThoughtWithoutBias(Thought):
    """Your layers have no bias, so “and” can't be told from “or”: the bias is the threshold. Make them with nn.Linear as it is."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.linear1, self.linear2 = (
            nn.Linear(*sizes, bias=False) for sizes in ((d_model, d_ff), (d_ff, d_model))
        )


@question.misconception("no bias behind the ReLU", costs=1)
class ThoughtWithoutSecondBias(Thought):
    """Your linear2 has no bias. Make both layers with nn.Linear as it is: the votes have a constant of their own."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)


@question.misconception("dropout inside the feed-forward layer", costs=1)
class ThoughtWithDropout(Thought):
    """Your result differs from call to call: there is a dropout inside. In this lab dropout acts on what the sublayer says, in the
    block."""

    def activation(self, hidden):
        return F.dropout(hidden.relu(), 0.1, self.training)


@question.misconception("the thought is cut off from the gradient", costs=1)
class ThoughtThatDetaches(Thought):
    """The values are right, but no gradient reaches linear1 and x: is there a detach(), a .data or a no_grad() in the forward pass?"""

    def activation(self, hidden):
        return hidden.detach().relu()


@question.alternative
class ThoughtByMatrices(Thought):
    """The formula of the paper, with matrices."""

    def forward(self, x):
        hidden = torch.einsum("...d,fd->...f", x, self.linear1.weight) + self.linear1.bias
        return torch.max(torch.zeros(1, dtype=x.dtype), hidden) @ self.linear2.weight.T + self.linear2.bias


@question.alternative
class ThoughtInSequence(nn.Sequential):
    """A chain of named layers."""

    def __init__(self, d_model, d_ff):
        up, down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        super().__init__(OrderedDict(linear1=up, activation=nn.ReLU(inplace=True), linear2=down))


@question.alternative
class ThoughtInSinglePrecisionOnTheWay(Thought):
    def forward(self, x):
        first, second = self.linear1, self.linear2
        hidden = F.linear(x.float(), first.weight.float(), first.bias.float()).clamp(min=0)
        return F.linear(hidden, second.weight.float(), second.bias.float()).to(x.dtype)
