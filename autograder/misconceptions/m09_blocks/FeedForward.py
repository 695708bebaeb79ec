"""Lab 09, ``FeedForward``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F

from autograder.misconceptions.m09_blocks.common import _FeedForward
from autograder.testing import alternative, misconception


@misconception("FeedForward", title="no ReLU")
class ThoughtWithoutBend(_FeedForward):
    """There is no ReLU between your layers. Two linear layers in a row are only one linear layer: nothing like “and” can be
    computed."""

    def activation(self, hidden):
        return hidden


@misconception("FeedForward", title="a ReLU behind both layers", keeps="right wherever no vote is negative")
class ThoughtWithTwoBends(_FeedForward):
    """Your result is never negative: there is a second ReLU behind linear2. A vote may be negative; the only ReLU is in the middle."""

    def forward(self, x):
        return super().forward(x).relu()


@misconception("FeedForward", title="the ReLU behind the wrong layer")
class ThoughtWithALateBend(_FeedForward):
    """Your ReLU comes last, behind linear2. It belongs between the two layers."""

    def forward(self, x):
        return self.linear2(self.linear1(x)).relu()


@misconception("FeedForward", title="a ReLU before the first layer")
class ThoughtWithAnEarlyBend(_FeedForward):
    """Your ReLU acts on x, before linear1. It belongs between the two layers."""

    def forward(self, x):
        return self.linear2(self.linear1(x.relu()))


@misconception("FeedForward", title="GELU for ReLU")
class ThoughtWithGelu(_FeedForward):
    """You use a GELU, as many later models do. Here it is the first transformer's ReLU, max(0, ·)."""

    def activation(self, hidden):
        return F.gelu(hidden)


@misconception("FeedForward", title="a leaky ReLU")
class ThoughtWithALeak(_FeedForward):
    """Negative numbers in the middle come through a little: that is a leaky ReLU. They become 0 here."""

    def activation(self, hidden):
        return F.leaky_relu(hidden)


@misconception("FeedForward", title="a sigmoid for the ReLU")
class ThoughtWithSigmoid(_FeedForward):
    """There is a sigmoid in the middle of your layer; it should be a ReLU, max(0, ·)."""

    def activation(self, hidden):
        return hidden.sigmoid()


@misconception("FeedForward", title="a residual connection inside")
class ThoughtWithAResidual(_FeedForward):
    """Your layer adds x to its result. The sum comes later, in residual: here it would be added twice."""

    def forward(self, x):
        return x + super().forward(x)


@misconception("FeedForward", title="always four times as wide")
class ThoughtFourTimesAsWide(_FeedForward):
    """Your middle layer is always four times as wide as the model. Usual, but the width is the argument d_ff."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, 4 * d_model)


@misconception("FeedForward", title="linear layers without a bias in the feed-forward layer")
class ThoughtWithoutBias(_FeedForward):
    """Your layers have no bias, so “and” can't be told from “or”: the bias is the threshold. Make them with nn.Linear as it is."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.linear1, self.linear2 = (
            nn.Linear(d_model, d_ff, bias=False),
            nn.Linear(d_ff, d_model, bias=False),
        )


@misconception(
    "FeedForward",
    title="no bias behind the ReLU",
    keeps="one of four parameters is missing, the rest is right",
)
class ThoughtWithoutSecondBias(_FeedForward):
    """Your linear2 has no bias. Make both layers with nn.Linear as it is: the votes have a constant of their own."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)


@misconception(
    "FeedForward", title="three axes only", keeps="right for batches of sentences, which all later parts send"
)
class ThoughtForThreeAxes(_FeedForward):
    """Your layer works for (B, T, d_model) only, and raises an error for a word alone. nn.Linear takes any leading axes or none: x.shape need not
    be unpacked."""

    def forward(self, x):
        B, T, d = x.shape
        return super().forward(x.reshape(B * T, d)).reshape(B, T, d)


@misconception(
    "FeedForward",
    title="a batch made and left",
    keeps="right for a word alone and for batches of sentences",
)
class ThoughtWithABatchOfOne(_FeedForward):
    """For a sentence without a batch, (T, d_model), your result has an axis more than it. nn.Linear takes any leading axes or none: x needs no
    other."""

    def forward(self, x):
        return super().forward(x[None] if x.ndim == 2 else x)


@misconception(
    "FeedForward",
    title="dropout inside the feed-forward layer",
    keeps="right in evaluation mode; in training it is random",
)
class ThoughtWithDropout(_FeedForward):
    """Your result differs from call to call: there is a dropout inside. In this lab dropout acts on what the sublayer says, in the
    block."""

    def activation(self, hidden):
        return F.dropout(hidden.relu(), 0.1, self.training)


@misconception(
    "FeedForward",
    title="the thought is cut off from the gradient",
    keeps="the values are right; the gradient is not",
)
class ThoughtThatDetaches(_FeedForward):
    """The values are right, but no gradient reaches linear1 and x: is there a detach(), a .data or a no_grad() in the forward pass?"""

    def activation(self, hidden):
        return hidden.detach().relu()


@misconception("FeedForward", title="the ReLU counts instead of passing")
class ThoughtOfYesAndNo(_FeedForward):
    """Your middle numbers are 0 or 1: you kept whether a number is positive, not the number. max(0, h) keeps h where it is
    positive."""

    def activation(self, hidden):
        return (hidden > 0).to(hidden.dtype)


@alternative("FeedForward")
class ThoughtByMatrices(nn.Module):
    """The formula of the paper, with matrices."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear2 = nn.Linear(in_features=d_ff, out_features=d_model)
        self.linear1 = nn.Linear(in_features=d_model, out_features=d_ff)

    def forward(self, x):
        hidden = torch.einsum("...d,fd->...f", x, self.linear1.weight) + self.linear1.bias
        return torch.max(torch.zeros(1, dtype=x.dtype), hidden) @ self.linear2.weight.T + self.linear2.bias


@alternative("FeedForward")
class ThoughtInSequence(nn.Sequential):
    """A chain of named layers."""

    def __init__(self, d_model, d_ff):
        chain = (("linear1", nn.Linear(d_model, d_ff)), ("activation", nn.ReLU(inplace=True)))
        super().__init__(OrderedDict((*chain, ("linear2", nn.Linear(d_ff, d_model)))))


@alternative("FeedForward")
class ThoughtOfAChain(nn.Module):
    """The layers stand in a chain, and have their names besides."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.chain = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.linear1, _, self.linear2 = self.chain

    def forward(self, x):
        return self.chain(x)


@alternative("FeedForward")
class ThoughtWordByWord(nn.Module):
    """A loop over the words, the ReLU as a product."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        words = []
        for word in x.reshape(-1, x.shape[-1]).unbind():
            hidden = self.linear1(word)
            words.append(self.linear2(hidden * (hidden > 0)))
        return torch.stack(words).reshape(x.shape)


@alternative("FeedForward")
class ThoughtInSinglePrecisionOnTheWay(_FeedForward):
    """All in single precision, and back."""

    def forward(self, x):
        first, second = self.linear1, self.linear2
        hidden = nn.functional.linear(x.float(), first.weight.float(), first.bias.float()).clamp(min=0)
        return nn.functional.linear(hidden, second.weight.float(), second.bias.float()).to(x.dtype)
