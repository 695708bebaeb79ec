"""Lab 09: wrong answers that students give, with their hints, and correct answers in other styles."""

from __future__ import annotations

from collections import OrderedDict

import torch
from coursekit.provided.p08_multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F

from autograder.answers import alternative, misconception

# ---------------------------------------------------------------------------------------------------- LayerNorm


class _Norm(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def mean(self, x):
        return x.mean(dim=-1, keepdim=True)

    def variance(self, x):
        return x.var(dim=-1, keepdim=True, unbiased=False)

    def root(self, variance):
        return (variance + self.eps).sqrt()

    def finish(self, z):
        return self.weight * z + self.bias

    def forward(self, x):
        return self.finish((x - self.mean(x)) / self.root(self.variance(x)))


@misconception("LayerNorm", title="normalised over the words")
class NormOverTheWords(_Norm):
    """Your mean and variance run over the words of the sentence: each column gets mean 0, not each word. A word is normalised by
    itself, along the last axis."""

    def mean(self, x):
        return x.mean(dim=max(-2, -x.ndim), keepdim=True)

    def variance(self, x):
        return x.var(dim=max(-2, -x.ndim), keepdim=True, unbiased=False)


@misconception("LayerNorm", title="normalised over the batch")
class NormOverTheBatch(_Norm):
    """Your mean and variance run over the first axis, the batch: that is batch normalisation. Each vector along the last axis is
    normalised by itself."""

    def mean(self, x):
        return x.mean(dim=0, keepdim=True)

    def variance(self, x):
        return x.var(dim=0, keepdim=True, unbiased=False)


@misconception("LayerNorm", title="one mean and variance for all words together")
class NormOfTheWholeTensor(_Norm):
    """You take one mean and one variance of all the numbers together, so loud words stay loud. Each word has its own: reduce the last
    axis only."""

    def mean(self, x):
        return x.mean()

    def variance(self, x):
        return x.var(unbiased=False)


@misconception("LayerNorm", title="unbiased variance")
class NormWithUnbiasedVariance(_Norm):
    """Your vectors come out a little too small: your variance divides by d − 1. Here it divides by d (unbiased=False)."""

    def variance(self, x):
        return x.var(dim=-1, keepdim=True)


@misconception("LayerNorm", title="eps outside the root")
class NormWithEpsOutside(_Norm):
    """Your eps is added to the standard deviation. It belongs to the variance, inside the root; for vectors with nearly equal entries this
    makes a large difference."""

    def root(self, variance):
        return variance.sqrt() + self.eps


@misconception("LayerNorm", title="no eps")
class NormWithoutEps(_Norm):
    """A vector whose entries are all equal gives 0/0 in your norm: eps is missing. Add it to the variance."""

    def root(self, variance):
        return variance.sqrt()


@misconception("LayerNorm", title="a fixed eps")
class NormWithAFixedEps(_Norm):
    """Your eps is always 1e-5, whatever the argument says: keep the argument in the module and use it."""

    def root(self, variance):
        return (variance + 1e-5).sqrt()


@misconception("LayerNorm", title="divided by the variance")
class NormByTheVariance(_Norm):
    """You divide by the variance. It is the square of a size: divide by its root, or the result depends on the unit of x."""

    def root(self, variance):
        return variance + self.eps


@misconception("LayerNorm", title="the mean is not subtracted")
class NormWithoutCentring(_Norm):
    """Your vectors keep their mean: subtract it before you divide."""

    def mean(self, x):
        return 0


@misconception("LayerNorm", title="the mean is not divided")
class NormOfTheLastTermOnly(_Norm):
    """Only the mean is divided by the deviation, not the difference: put x − mean in brackets."""

    def forward(self, x):
        return self.finish(x - self.mean(x) / self.root(self.variance(x)))


@misconception("LayerNorm", title="weight and bias are not used")
class NormWithoutWeights(_Norm):
    """Your module owns a weight and a bias, but its result does not depend on them: multiply by the one, add the other."""

    def finish(self, z):
        return z


@misconception("LayerNorm", title="the bias is multiplied, too")
class NormWithScaledBias(_Norm):
    """Your weight multiplies the bias as well. First times the weight, then plus the bias."""

    def finish(self, z):
        return self.weight * (z + self.bias)


@misconception("LayerNorm", title="the weight before the norm")
class NormWithWeightsFirst(_Norm):
    """You multiply by the weight and add the bias before you normalise, and so the norm takes most of it away again. They come
    last."""

    def forward(self, x):
        x = super().finish(x)
        return (x - self.mean(x)) / self.root(self.variance(x))


@misconception("LayerNorm", title="the first weight is zero")
class NormOfZeros(_Norm):
    """Your weight begins as zeros, so everything comes out as zero. It begins as ones; only the bias begins as zeros."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        self.weight = nn.Parameter(torch.zeros(d_model))


@misconception("LayerNorm", title="nothing is learned by the norm")
class NormWithPlainTensors(nn.Module):
    """Your weight and your bias are not learned: a plain tensor, a buffer or a frozen parameter (requires_grad=False) is left alone by every optimiser. Make each of
    them an nn.Parameter."""

    mean, variance, root, finish, forward = (
        _Norm.mean,
        _Norm.variance,
        _Norm.root,
        _Norm.finish,
        _Norm.forward,
    )

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = torch.ones(d_model), torch.zeros(d_model), eps


@misconception("LayerNorm", title="mean and variance cut off from the gradient")
class NormWithDetachedStatistics(_Norm):
    """The values are right, the gradient is not: the mean and the variance depend on x, too. Is there a detach(), an item() or a
    no_grad()?"""

    def mean(self, x):
        return super().mean(x).detach()

    def variance(self, x):
        return super().variance(x).detach()


@misconception("LayerNorm", title="the input is changed")
class NormInPlace(_Norm):
    """Your norm subtracts the mean from its argument in place. Whoever calls it still needs that tensor, for the sum: make a new one."""

    def forward(self, x):
        spread = self.root(self.variance(x))
        x -= self.mean(x)
        return self.finish(x / spread)


@alternative("LayerNorm")
class NormByMoments(nn.Module):
    """Mean of the square minus square of the mean, and the reciprocal root; eps in a buffer."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(d_model).fill_(0.0))
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))
        self.register_buffer("small", torch.tensor(float(eps), dtype=torch.double))

    def forward(self, x):
        first, second = x.mean(-1, True), (x * x).mean(-1, True)
        return torch.addcmul(
            self.bias, (x - first) * torch.rsqrt(second - first**2 + self.small), self.weight
        )


@alternative("LayerNorm")
class NormOneVectorAtATime(nn.Module):
    """A loop over the vectors."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.size, self.eps = d_model, eps
        self.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))
        self.register_parameter("weight", nn.Parameter(torch.ones(d_model)))

    def forward(self, x):
        rows = []
        for row in x.reshape(-1, self.size):
            centred = row - sum(row) / len(row)
            spread = (centred @ centred / len(row) + self.eps) ** 0.5
            rows.append(centred / spread * self.weight + self.bias)
        return torch.stack(rows).view(x.shape)


@alternative("LayerNorm")
class NormByACentringMatrix(nn.Module):
    """Centring is a matrix; the norm of a vector is the root of d times its deviation."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.d_model, self.eps = d_model, eps

    def forward(self, x):
        d = self.d_model
        centring = torch.eye(d, dtype=x.dtype) - torch.full((d, d), 1 / d, dtype=x.dtype)
        z = torch.einsum("...i,ij->...j", x, centring)
        squares = torch.linalg.vector_norm(z, dim=-1).square() / d
        return z.mul(self.weight).div(squares.add(self.eps).sqrt().unsqueeze(-1)).add(self.bias)


@alternative("LayerNorm")
class NormInSinglePrecision(_Norm):
    """All in single precision."""

    def forward(self, x):
        variance, mean = torch.var_mean(x.float(), dim=-1, correction=0, keepdim=True)
        return ((x.float() - mean) / (variance + self.eps).sqrt()) * self.weight.float() + self.bias.float()


# -------------------------------------------------------------------------------------------------- FeedForward


class _Thought(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def bend(self, hidden):
        return hidden.relu()

    def forward(self, x):
        return self.linear2(self.bend(self.linear1(x)))


@misconception("FeedForward", title="no ReLU")
class ThoughtWithoutBend(_Thought):
    """There is no ReLU between your layers. Two linear layers in a row are only one linear layer: nothing like “and” can be
    computed."""

    def bend(self, hidden):
        return hidden


@misconception("FeedForward", title="a ReLU behind both layers")
class ThoughtWithTwoBends(_Thought):
    """Your result is never negative: there is a second ReLU behind linear2. A vote may be negative; the only ReLU is in the middle."""

    def forward(self, x):
        return super().forward(x).relu()


@misconception("FeedForward", title="the ReLU behind the wrong layer")
class ThoughtWithALateBend(_Thought):
    """Your ReLU comes last, behind linear2. It belongs between the two layers."""

    def forward(self, x):
        return self.linear2(self.linear1(x)).relu()


@misconception("FeedForward", title="a ReLU before the first layer")
class ThoughtWithAnEarlyBend(_Thought):
    """Your ReLU acts on x, before linear1. It belongs between the two layers."""

    def forward(self, x):
        return self.linear2(self.linear1(x.relu()))


@misconception("FeedForward", title="GELU for ReLU")
class ThoughtWithGelu(_Thought):
    """You use a GELU, as many later models do. Here it is the first transformer's ReLU, max(0, ·)."""

    def bend(self, hidden):
        return F.gelu(hidden)


@misconception("FeedForward", title="a leaky ReLU")
class ThoughtWithALeak(_Thought):
    """Negative numbers in the middle come through a little: that is a leaky ReLU. They become 0 here."""

    def bend(self, hidden):
        return F.leaky_relu(hidden)


@misconception("FeedForward", title="a sigmoid for the ReLU")
class ThoughtWithSigmoid(_Thought):
    """There is a sigmoid in the middle of your layer; it should be a ReLU, max(0, ·)."""

    def bend(self, hidden):
        return hidden.sigmoid()


@misconception("FeedForward", title="a residual connection inside")
class ThoughtWithAResidual(_Thought):
    """Your layer adds x to its result. The sum comes later, in residual: here it would be added twice."""

    def forward(self, x):
        return x + super().forward(x)


@misconception("FeedForward", title="always four times as wide")
class ThoughtFourTimesAsWide(_Thought):
    """Your middle layer is always four times as wide as the model. Usual, but the width is the argument d_ff."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, 4 * d_model)


@misconception("FeedForward", title="linear layers without a bias in the feed-forward layer")
class ThoughtWithoutBias(_Thought):
    """Your layers have no bias, so “and” can't be told from “or”: the bias is the threshold. Make them with nn.Linear as it is."""

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.linear1, self.linear2 = (
            nn.Linear(d_model, d_ff, bias=False),
            nn.Linear(d_ff, d_model, bias=False),
        )


@misconception("FeedForward", title="dropout inside the feed-forward layer")
class ThoughtWithDropout(_Thought):
    """Your result differs from call to call: there is a dropout inside. In this lab dropout acts on what the sublayer says, in the
    block."""

    def bend(self, hidden):
        return F.dropout(hidden.relu(), 0.1, self.training)


@misconception("FeedForward", title="the thought is cut off from the gradient")
class ThoughtThatDetaches(_Thought):
    """The values are right, but no gradient reaches linear1 and x: is there a detach(), a .data or a no_grad() in the forward pass?"""

    def bend(self, hidden):
        return hidden.detach().relu()


@misconception("FeedForward", title="the ReLU counts instead of passing")
class ThoughtOfYesAndNo(_Thought):
    """Your middle numbers are 0 or 1: you kept whether a number is positive, not the number. max(0, h) keeps h where it is
    positive."""

    def bend(self, hidden):
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
        chain = (("linear1", nn.Linear(d_model, d_ff)), ("bend", nn.ReLU(inplace=True)))
        super().__init__(OrderedDict((*chain, ("linear2", nn.Linear(d_ff, d_model)))))


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


# ----------------------------------------------------------------------------------------------------- residual


@misconception("residual", title="pre-LN for post-LN")
def residual_before(x, sublayer, norm):
    """You normalise what the sublayer is given: that is pre-LN. Here the norm comes last, on the sum."""
    return x + sublayer(norm(x))


@misconception("residual", title="only what the sublayer says")
def residual_without_x(x, sublayer, norm):
    """Your result forgets x itself: add it to what the sublayer says, or nothing leads around the sublayer."""
    return norm(sublayer(x))


@misconception("residual", title="no norm behind the sum")
def residual_without_norm(x, sublayer, norm):
    """The sum is right, but it is not normalised: the third argument is not used."""
    return x + sublayer(x)


@misconception("residual", title="the norm on the sublayer's words only")
def residual_with_the_norm_inside(x, sublayer, norm):
    """You normalise only what the sublayer says, and then add x. The norm acts on the sum."""
    return x + norm(sublayer(x))


@misconception("residual", title="the norm on x only")
def residual_with_normed_x(x, sublayer, norm):
    """You add the normalised x, and leave the sum as it is. Add x itself; the norm acts on the sum."""
    return norm(x) + sublayer(x)


@misconception("residual", title="norm before and after")
def residual_twice_normed(x, sublayer, norm):
    """You normalise twice: what the sublayer is given, and the sum. Only the sum is normalised."""
    return norm(x + sublayer(norm(x)))


@misconception("residual", title="x is changed in place")
def residual_in_place(x, sublayer, norm):
    """Your function changes x itself (x += …). Whoever passed it still needs it: write x + …"""
    x += sublayer(x)
    return norm(x)


@misconception("residual", title="the sublayer called twice")
def residual_that_asks_twice(x, sublayer, norm):
    """You call the sublayer twice. It costs twice the time, and with dropout the two calls do not even say the same: call it once and
    keep what it says."""
    if sublayer(x).shape == x.shape:
        return norm(x + sublayer(x))
    return norm(x)


@misconception("residual", title="the mean for the sum")
def residual_mean(x, sublayer, norm):
    """You take the mean of x and what the sublayer says. It is the sum: a silent sublayer should let x pass as it is."""
    return norm((x + sublayer(x)) / 2)


@misconception("residual", title="x added twice")
def residual_doubled(x, sublayer, norm):
    """x is in your sum twice, so that a silent sublayer lets 2 · x pass."""
    return norm(x + x + sublayer(x))


@misconception("residual", title="no gradient around the sublayer")
def residual_detached(x, sublayer, norm):
    """The values are right, but x is detached in your sum: no gradient goes around the sublayer, and that was the point."""
    return norm(x.detach() + sublayer(x))


@alternative("residual")
def residual_step_by_step(x, sublayer, norm):
    said = sublayer(x)
    total = torch.stack([x, said]).sum(dim=0)
    return norm(total)


@alternative("residual")
def residual_as_a_chain(x, sublayer, norm):
    return norm(torch.add(input=sublayer(x), other=x))


@alternative("residual")
def residual_into_what_was_said(x, sublayer, norm):
    said = sublayer(x)
    said += x
    return norm(said)


# ------------------------------------------------------------------------------------------------- EncoderBlock


def _around(x, sublayer, norm):
    return norm(x + sublayer(x))


class _Encoder(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, heads), _Thought(d_model, d_ff)
        self.norm1, self.norm2 = _Norm(d_model), _Norm(d_model)
        self.drop = nn.Dropout(dropout)

    def listen(self, x, mask):
        return self.drop(self.attention(x, mask=mask)[0])

    def think(self, x):
        return self.drop(self.feed_forward(x))

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.listen(y, mask), self.norm1)
        return _around(x, self.think, self.norm2)


@misconception("EncoderBlock", title="a pre-LN encoder block")
class EncoderPreNorm(_Encoder):
    """Your block normalises what each sublayer is given, and not the sums: that is pre-LN. Here each norm acts on the sum."""

    def forward(self, x, mask=None):
        x = x + self.listen(self.norm1(x), mask)
        return x + self.think(self.norm2(x))


@misconception("EncoderBlock", title="nothing leads around the encoder's attention")
class EncoderWithoutFirstSum(_Encoder):
    """What the attention says replaces the words in your block: the first residual connection is missing."""

    def forward(self, x, mask=None):
        return _around(self.norm1(self.listen(x, mask)), self.think, self.norm2)


@misconception("EncoderBlock", title="nothing leads around the encoder's feed-forward layer")
class EncoderWithoutSecondSum(_Encoder):
    """The second residual connection is missing: behind the feed-forward layer, add what went into it."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.listen(y, mask), self.norm1)
        return self.norm2(self.think(x))


@misconception("EncoderBlock", title="the block's input added in the second sum")
class EncoderThatAddsItsInputTwice(_Encoder):
    """In your second sum stands the block's input x. It should be what went into the feed-forward layer: the result of the first
    Add & Norm."""

    def forward(self, x, mask=None):
        heard = _around(x, lambda y: self.listen(y, mask), self.norm1)
        return self.norm2(x + self.think(heard))


@misconception("EncoderBlock", title="listening and thinking side by side")
class EncoderInParallel(_Encoder):
    """Your feed-forward layer is given the block's input. It should think about what was heard: give it the result of the first
    Add & Norm."""

    def forward(self, x, mask=None):
        heard = _around(x, lambda y: self.listen(y, mask), self.norm1)
        return self.norm2(heard + self.think(x))


@misconception("EncoderBlock", title="thinking before listening")
class EncoderInReverse(_Encoder):
    """Your block thinks first and listens then. The attention comes first, with norm1; the feed-forward layer second, with norm2."""

    def forward(self, x, mask=None):
        x = _around(x, self.think, self.norm1)
        return _around(x, lambda y: self.listen(y, mask), self.norm2)


@misconception("EncoderBlock", title="one norm used twice")
class EncoderWithOneNorm(_Encoder):
    """You use norm1 for both sums, and norm2 is never used. Each sum has its own."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.listen(y, mask), self.norm1)
        return _around(x, self.think, self.norm1)


@misconception("EncoderBlock", title="the encoder's norms exchanged")
class EncoderWithNormsExchanged(_Encoder):
    """Your norms are exchanged: norm1 belongs to the attention, norm2 to the feed-forward layer."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.listen(y, mask), self.norm2)
        return _around(x, self.think, self.norm1)


@misconception("EncoderBlock", title="no norm at the end of the block")
class EncoderWithoutLastNorm(_Encoder):
    """Your second sum is not normalised: norm2 is missing behind the feed-forward layer."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.listen(y, mask), self.norm1)
        return _around(x, self.think, lambda y: y)


@misconception("EncoderBlock", title="the encoder ignores its mask")
class EncoderWithoutMask(_Encoder):
    """Your block gives the same result with and without a mask: pass it on to the attention, attention(y, mask=mask)."""

    def listen(self, x, mask):
        return super().listen(x, None)


@misconception("EncoderBlock", title="the mask in the place of the memory")
class EncoderWithMaskAsMemory(_Encoder):
    """Your mask goes to the attention in second place, where the memory belongs: name it, attention(y, mask=mask)."""

    def listen(self, x, mask):
        return self.drop(self.attention(x, mask)[0])


@misconception("EncoderBlock", title="the encoder's mask inverted")
class EncoderWithMaskInverted(_Encoder):
    """Your block silences what may be heard. True means “may attend” throughout, the opposite of PyTorch's layers: pass the mask on as it
    is."""

    def listen(self, x, mask):
        return super().listen(x, None if mask is None else ~mask)


@misconception("EncoderBlock", title="words normalised over the sentence")
class EncoderNormedOverWords(_Encoder):
    """Your Add & Norm runs over the words of the sentence: a change of one word's loudness reaches all the others. Each word is
    normalised by itself, along the last axis."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.norm1, self.norm2 = NormOverTheWords(d_model), NormOverTheWords(d_model)


@misconception("EncoderBlock", title="dropout on the sum")
class EncoderWithDropoutOnTheSum(_Encoder):
    """Your dropout acts on the sum, so it also silences entries of the words themselves. It acts on what the sublayer says,
    before the sum."""

    def forward(self, x, mask=None):
        x = self.norm1(self.drop(x + self.attention(x, mask=mask)[0]))
        return self.norm2(self.drop(x + self.feed_forward(x)))


@misconception("EncoderBlock", title="dropout behind the norm")
class EncoderWithDropoutLast(_Encoder):
    """Your dropout acts behind the norm. It acts on what the sublayer says, before the sum."""

    def forward(self, x, mask=None):
        x = self.drop(self.norm1(x + self.attention(x, mask=mask)[0]))
        return self.drop(self.norm2(x + self.feed_forward(x)))


@misconception("EncoderBlock", title="dropout before the encoder's feed-forward layer, too")
class EncoderThatDropsBeforeThinking(_Encoder):
    """Your feed-forward layer is given words with holes: dropout acts on what goes into it as well. It acts on what a sublayer says,
    before the sum, and nowhere else."""

    def think(self, x):
        return super().think(self.drop(x))


@misconception("EncoderBlock", title="dropout before the encoder's attention, too")
class EncoderThatDropsBeforeListening(_Encoder):
    """Your attention is given words with holes: dropout acts on what goes into it as well. It acts on what a sublayer says,
    before the sum, and nowhere else."""

    def listen(self, x, mask):
        return super().listen(self.drop(x), mask)


@misconception("EncoderBlock", title="no dropout in the encoder")
class EncoderWithoutDropout(_Encoder):
    """In training mode nothing is dropped in your block, whatever the probability: let the nn.Dropout act on what each sublayer
    says."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)


@misconception("EncoderBlock", title="dropout of the encoder's attention only")
class EncoderWithDropoutOnce(_Encoder):
    """Dropout acts on what your attention says, but not on what the feed-forward layer says. It acts on both."""

    def think(self, x):
        return self.feed_forward(x)


@misconception("EncoderBlock", title="a fixed dropout in the encoder")
class EncoderWithAFixedDropout(_Encoder):
    """Your block always drops a tenth, whatever the argument dropout says; and its usual value is 0."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, 0.1)


@misconception("EncoderBlock", title="dropout in evaluation mode")
class EncoderThatAlwaysDrops(_Encoder):
    """Your block drops in evaluation mode, too. Use an nn.Dropout that is a part of the block; it knows the mode."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)
        self.rate = dropout

    def listen(self, x, mask):
        return F.dropout(super().listen(x, mask), self.rate)

    def think(self, x):
        return F.dropout(super().think(x), self.rate)


@misconception("EncoderBlock", title="the weights are returned, too")
class EncoderThatReturnsAPair(_Encoder):
    """Your block returns a pair. One tensor is wanted, so that the next block can take it as it is."""

    def forward(self, x, mask=None):
        return super().forward(x, mask), self.attention(x, mask=mask)[1]


@misconception("EncoderBlock", title="the encoder's attention can't learn")
class EncoderThatDetaches(_Encoder):
    """The values are right, but no gradient comes through what your attention says: is there a detach() or a no_grad()?"""

    def listen(self, x, mask):
        return super().listen(x, mask).detach()


@alternative("EncoderBlock")
class EncoderByHand(nn.Module):
    """No helper of the lab but the attention; dropout by the function."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        layers = (
            ("linear1", nn.Linear(d_model, d_ff)),
            ("relu", nn.ReLU()),
            ("linear2", nn.Linear(d_ff, d_model)),
        )
        self.feed_forward = nn.Sequential(OrderedDict(layers))
        self.attention = MultiHeadAttention(h=heads, d_model=d_model)
        self.p = dropout

    def forward(self, x, mask=None):
        said, _weights = self.attention(x, None, mask)
        x = self.norm1(F.dropout(said, self.p, training=self.training) + x)
        return self.norm2(F.dropout(self.feed_forward(x), self.p, training=self.training) + x)


@alternative("EncoderBlock")
class EncoderSentenceBySentence(nn.Module):
    """A loop over the sentences; a dropout for each sublayer."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, heads), _Thought(d_model, d_ff)
        self.norm1, self.norm2 = _Norm(d_model), _Norm(d_model)
        self.dropout1, self.dropout2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        done = []
        for number in range(len(x)):
            sentence = x[number : number + 1]
            own = mask[number] if mask is not None and mask.ndim == 3 else mask
            heard = self.attention(sentence, memory=sentence, mask=own)[0]
            z = self.norm1(sentence + self.dropout1(heard))
            done.append(self.norm2(z + self.dropout2(self.feed_forward(z))))
        return torch.cat(done)


@alternative("EncoderBlock")
class EncoderByName(_Encoder):
    """Every argument by its name, in another order, and everything in residual's place by hand."""

    def listen(self, x, mask):
        heard, _ = self.attention(mask=mask, memory=None, x=x)
        return self.drop(input=heard)


@alternative("EncoderBlock")
class EncoderInSinglePrecision(_Encoder):
    """The result in single precision."""

    def forward(self, x, mask=None):
        return super().forward(x.clone(), mask).float()


# ------------------------------------------------------------------------------------------------- DecoderBlock


class _Decoder(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = _Thought(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = _Norm(d_model), _Norm(d_model), _Norm(d_model)
        self.drop = nn.Dropout(dropout)

    def write(self, x, mask):
        return self.drop(self.self_attention(x, mask=mask)[0])

    def hear(self, x, memory, mask):
        return self.drop(self.cross_attention(x, memory, mask)[0])

    def think(self, x):
        return self.drop(self.feed_forward(x))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.write(y, self_mask), self.norm1)
        x = _around(x, lambda y: self.hear(y, memory, memory_mask), self.norm2)
        return _around(x, self.think, self.norm3)


@misconception("DecoderBlock", title="queries from the memory")
class DecoderWithRolesExchanged(_Decoder):
    """In your cross-attention the memory asks and the decoder answers. The queries come from the decoder, keys and values from the
    memory: cross_attention(y, memory, …)."""

    def hear(self, x, memory, mask):
        return self.drop(self.cross_attention(memory, x, mask)[0])


@misconception("DecoderBlock", title="the decoder ignores the memory")
class DecoderWithoutMemory(_Decoder):
    """Your output does not depend on the source: the cross-attention listens to the decoder itself. Give it the memory."""

    def hear(self, x, memory, mask):
        return self.drop(self.cross_attention(x, None, None)[0])


@misconception("DecoderBlock", title="the decoder ignores the self mask")
class DecoderWithoutSelfMask(_Decoder):
    """Your self-attention sees the future: self_mask is not passed on to it. The block would learn to copy what it should
    predict."""

    def write(self, x, mask):
        return super().write(x, None)


@misconception("DecoderBlock", title="the decoder ignores the memory mask")
class DecoderWithoutMemoryMask(_Decoder):
    """Your cross-attention listens to the padding of the source: memory_mask is not passed on to it."""

    def hear(self, x, memory, mask):
        return super().hear(x, memory, None)


@misconception("DecoderBlock", title="the decoder's masks exchanged")
class DecoderWithMasksExchanged(_Decoder):
    """Your masks are exchanged: self_mask belongs to the self-attention, memory_mask to the cross-attention."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, memory_mask, self_mask)


@misconception("DecoderBlock", title="the decoder's masks inverted")
class DecoderWithMasksInverted(_Decoder):
    """Your block silences what may be heard. True means “may attend” throughout, the opposite of PyTorch's layers."""

    def write(self, x, mask):
        return super().write(x, None if mask is None else ~mask)

    def hear(self, x, memory, mask):
        return super().hear(x, memory, None if mask is None else ~mask)


@misconception("DecoderBlock", title="a causal mask of its own")
class DecoderWithItsOwnMask(_Decoder):
    """Your block makes a causal mask of its own when none is given, and ignores the one that is given. Whoever calls the block decides: use self_mask as it is,
    also when it is None."""

    def write(self, x, mask):
        T = x.shape[1]
        return super().write(x, torch.ones(T, T, dtype=torch.bool).tril())


@misconception("DecoderBlock", title="a causal mask where none is given")
class DecoderThatMakesUpAMask(_Decoder):
    """When no self_mask is given, your block makes a causal one. Whoever calls the block decides: None means that every word may hear every other."""

    def write(self, x, mask):
        T = x.shape[1]
        return super().write(x, torch.ones(T, T, dtype=torch.bool).tril() if mask is None else mask)


@misconception("DecoderBlock", title="a pre-LN decoder block")
class DecoderPreNorm(_Decoder):
    """Your block normalises what each sublayer is given, and not the sums: that is pre-LN. Here each norm acts on the sum."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = x + self.write(self.norm1(x), self_mask)
        x = x + self.hear(self.norm2(x), memory, memory_mask)
        return x + self.think(self.norm3(x))


@misconception("DecoderBlock", title="nothing leads around the cross-attention")
class DecoderWithoutSecondSum(_Decoder):
    """The second residual connection is missing: what your cross-attention says replaces the words. Add what went into it."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.write(y, self_mask), self.norm1)
        x = self.norm2(self.hear(x, memory, memory_mask))
        return _around(x, self.think, self.norm3)


@misconception("DecoderBlock", title="nothing leads around the decoder's feed-forward layer")
class DecoderWithoutThirdSum(_Decoder):
    """The third residual connection is missing: behind the feed-forward layer, add what went into it."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.write(y, self_mask), self.norm1)
        x = _around(x, lambda y: self.hear(y, memory, memory_mask), self.norm2)
        return self.norm3(self.think(x))


@misconception("DecoderBlock", title="queries from the block's input")
class DecoderThatAsksWithItsInput(_Decoder):
    """Your cross-attention asks with the block's input x. The queries come from what the self-attention has just said, after norm1."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        written = _around(x, lambda y: self.write(y, self_mask), self.norm1)
        heard = self.norm2(written + self.hear(x, memory, memory_mask))
        return _around(heard, self.think, self.norm3)


@misconception("DecoderBlock", title="cross-attention before self-attention")
class DecoderInReverse(_Decoder):
    """Your block listens to the source first and to itself then. The self-attention comes first."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.hear(y, memory, memory_mask), self.norm2)
        x = _around(x, lambda y: self.write(y, self_mask), self.norm1)
        return _around(x, self.think, self.norm3)


@misconception("DecoderBlock", title="no feed-forward layer in the decoder")
class DecoderThatDoesNotThink(_Decoder):
    """Your block ends behind the cross-attention: the feed-forward layer with its Add & Norm is never used."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.write(y, self_mask), self.norm1)
        return _around(x, lambda y: self.hear(y, memory, memory_mask), self.norm2)


@misconception("DecoderBlock", title="the decoder's norms out of order")
class DecoderWithNormsExchanged(_Decoder):
    """Your second and third norm are exchanged: norm2 belongs to the cross-attention, norm3 to the feed-forward layer."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.write(y, self_mask), self.norm1)
        x = _around(x, lambda y: self.hear(y, memory, memory_mask), self.norm3)
        return _around(x, self.think, self.norm2)


@misconception("DecoderBlock", title="the memory is normalised")
class DecoderThatNormsTheMemory(_Decoder):
    """Your block normalises the memory before it listens to it. The memory goes in as it is; the encoder has normalised it."""

    def hear(self, x, memory, mask):
        return super().hear(x, self.norm2(memory), mask)


@misconception("DecoderBlock", title="no gradient reaches the memory")
class DecoderThatDetachesTheMemory(_Decoder):
    """The values are right, but the memory is cut off from the gradient, so the encoder would never learn: do not detach it."""

    def hear(self, x, memory, mask):
        return super().hear(x, memory.detach(), mask)


@misconception("DecoderBlock", title="no dropout in the decoder")
class DecoderWithoutDropout(_Decoder):
    """In training mode nothing is dropped in your block, whatever the probability: let the nn.Dropout act on what each sublayer
    says."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)


@misconception("DecoderBlock", title="no dropout on what the source says")
class DecoderWithoutDropoutInTheMiddle(_Decoder):
    """Dropout acts on your first and third sublayer, but not on what the cross-attention says. It acts on all three."""

    def hear(self, x, memory, mask):
        return self.cross_attention(x, memory, mask)[0]


@misconception("DecoderBlock", title="dropout before the decoder's feed-forward layer, too")
class DecoderThatDropsBeforeThinking(_Decoder):
    """Your feed-forward layer is given words with holes: dropout acts on what goes into it as well. It acts on what a sublayer says,
    before the sum, and nowhere else."""

    def think(self, x):
        return super().think(self.drop(x))


@misconception("DecoderBlock", title="dropout on the memory")
class DecoderThatDropsTheMemory(_Decoder):
    """Your block drops entries of the memory before it listens to it. The memory goes in as it is; dropout acts on what the
    cross-attention says."""

    def hear(self, x, memory, mask):
        return super().hear(x, self.drop(memory), mask)


@misconception("DecoderBlock", title="the decoder's dropout on the sum")
class DecoderWithDropoutOnTheSum(_Decoder):
    """Your dropout acts on the sums, so it also silences entries of the words themselves. It acts on what the sublayer says,
    before the sum."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(self.drop(x + self.self_attention(x, mask=self_mask)[0]))
        x = self.norm2(self.drop(x + self.cross_attention(x, memory, memory_mask)[0]))
        return self.norm3(self.drop(x + self.feed_forward(x)))


@misconception("DecoderBlock", title="one attention for both")
class DecoderWithOneAttention(_Decoder):
    """Your self_attention and cross_attention are the same module, so whatever the one learns changes the other. Make two."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.cross_attention = self.self_attention


@misconception("DecoderBlock", title="the decoder returns the weights, too")
class DecoderThatReturnsAPair(_Decoder):
    """Your block returns a pair. One tensor is wanted, so that the next block can take it as it is."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, self_mask, memory_mask), self.cross_attention(x, memory)[1]


@alternative("DecoderBlock")
class DecoderByHand(nn.Module):
    """No helper of the lab but the attention; the norms in a loop, dropout by the function."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        for number in (3, 2, 1):
            self.add_module(f"norm{number}", nn.LayerNorm(d_model, eps=1e-5))
        layers = (
            ("linear1", nn.Linear(d_model, d_ff)),
            ("relu", nn.ReLU()),
            ("linear2", nn.Linear(d_ff, d_model)),
        )
        self.feed_forward = nn.Sequential(OrderedDict(layers))
        self.cross_attention, self.self_attention = (MultiHeadAttention(d_model, heads) for _ in range(2))
        self.p = dropout

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        sublayers = (
            lambda y: self.self_attention(y, y, self_mask)[0],
            lambda y: self.cross_attention(x=y, memory=memory, mask=memory_mask)[0],
            self.feed_forward,
        )
        for norm, sublayer in zip((self.norm1, self.norm2, self.norm3), sublayers, strict=True):
            x = norm(F.dropout(sublayer(x), self.p, self.training) + x)
        return x


@alternative("DecoderBlock")
class DecoderSentenceBySentence(nn.Module):
    """A loop over the sentences; masks spread out to all sentences first."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = _Thought(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (_Norm(d_model) for _ in range(3))
        self.dropouts = nn.ModuleList(nn.Dropout(dropout) for _ in range(3))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        B, T, S = x.shape[0], x.shape[1], memory.shape[1]
        everything = torch.ones(1, 1, dtype=torch.bool)
        self_mask = (everything if self_mask is None else self_mask).expand(B, T, T)
        memory_mask = (everything if memory_mask is None else memory_mask).expand(B, T, S)
        done = []
        for i in range(B):
            y = x[i][None]
            y = self.norm1(y + self.dropouts[0](self.self_attention(y, mask=self_mask[i])[0]))
            heard, _ = self.cross_attention(y, memory[i][None], memory_mask[i])
            y = self.norm2(y + self.dropouts[1](heard))
            done.append(self.norm3(y + self.dropouts[2](self.feed_forward(y)))[0])
        return torch.stack(done)


@alternative("DecoderBlock")
class DecoderByName(_Decoder):
    """Every argument by its name, in another order."""

    def write(self, x, mask):
        return self.drop(input=self.self_attention(mask=mask, memory=x, x=x)[0])

    def hear(self, x, memory, mask):
        return self.drop(self.cross_attention(memory=memory, mask=mask, x=x)[0])


@alternative("DecoderBlock")
class DecoderInSinglePrecision(_Decoder):
    """The result in single precision."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, self_mask, memory_mask).float()
