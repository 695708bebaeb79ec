"""Lab 09, ``LayerNorm``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch
from torch import nn

from autograder.misconceptions.m09_blocks.common import _Norm
from autograder.testing import alternative, misconception


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


@misconception("LayerNorm", title="the second axis for the last")
class NormOverTheSecondAxis(_Norm):
    """Your mean and variance run over axis 1, which is the last one only where there are two. In a batch of sentences it counts the words: name the
    last axis, dim=-1."""

    def mean(self, x):
        return x.mean(dim=min(1, x.ndim - 1), keepdim=True)

    def variance(self, x):
        return x.var(dim=min(1, x.ndim - 1), keepdim=True, unbiased=False)


@misconception(
    "LayerNorm", title="a view of a transposed tensor", keeps="right wherever the numbers lie in order"
)
class NormByAView(_Norm):
    """Your norm raises an error for a transposed tensor: view needs numbers that lie in order. Take reshape, or leave the axes as they are
    and name the last one, dim=-1."""

    def forward(self, x):
        return super().forward(x.view(-1, x.shape[-1])).view(x.shape)


@misconception(
    "LayerNorm",
    title="unbiased variance",
    keeps="right but for a factor that is near 1 where vectors are long",
)
class NormWithUnbiasedVariance(_Norm):
    """Your vectors come out a little too small: your variance divides by d − 1. Here it divides by d (unbiased=False)."""

    def variance(self, x):
        return x.var(dim=-1, keepdim=True)


@misconception(
    "LayerNorm", title="eps outside the root", keeps="right but for vectors with nearly equal entries"
)
class NormWithEpsOutside(_Norm):
    """Your eps is added to the standard deviation. It belongs to the variance, inside the root; for vectors with nearly equal entries this
    makes a large difference."""

    def root(self, variance):
        return variance.sqrt() + self.eps


@misconception("LayerNorm", title="no eps", keeps="right but for vectors with equal entries")
class NormWithoutEps(_Norm):
    """A vector whose entries are all equal gives 0/0 in your norm: eps is missing. Add it to the variance."""

    def root(self, variance):
        return variance.sqrt()


@misconception("LayerNorm", title="a fixed eps", keeps="right for the usual eps")
class NormWithAFixedEps(_Norm):
    """Your eps is always 1e-5, whatever the argument says: keep the argument in the module and use it."""

    def root(self, variance):
        return (variance + 1e-5).sqrt()


@misconception("LayerNorm", title="eps as a bound", keeps="right but for vectors with nearly equal entries")
class NormWithEpsAsABound(_Norm):
    """Your eps acts only where the variance is smaller than it. It is added to every variance, inside the root."""

    def root(self, variance):
        return variance.clamp(min=self.eps).sqrt()


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


@misconception(
    "LayerNorm",
    title="weight and bias are not used",
    keeps="the norm is right; weight and bias do nothing, which a new module does not show",
)
class NormWithoutWeights(_Norm):
    """Your module owns a weight and a bias, but its result does not depend on them: multiply by the one, add the other."""

    def finish(self, z):
        return z


@misconception(
    "LayerNorm",
    title="the bias is multiplied, too",
    keeps="right for a new module; one of its two parameters acts wrongly",
)
class NormWithScaledBias(_Norm):
    """Your weight multiplies the bias as well. First times the weight, then plus the bias."""

    def finish(self, z):
        return self.weight * (z + self.bias)


@misconception(
    "LayerNorm",
    title="the weight before the norm",
    keeps="right for a new module; its parameters act in the wrong place",
)
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
    """Your weight and your bias are not learned: a plain tensor, a buffer or a frozen parameter (requires_grad=False) is left alone by every optimizer. Make each of
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


@misconception(
    "LayerNorm",
    title="mean and variance cut off from the gradient",
    keeps="the values are right; the gradient is not",
)
class NormWithDetachedStatistics(_Norm):
    """The values are right, the gradient is not: the mean and the variance depend on x, too. Is there a detach(), an item() or a
    no_grad()?"""

    def mean(self, x):
        return super().mean(x).detach()

    def variance(self, x):
        return super().variance(x).detach()


@misconception(
    "LayerNorm", title="the input is changed", keeps="the values are right; the argument is changed"
)
class NormInPlace(_Norm):
    """Your norm subtracts the mean from its argument in place. Whoever calls it still needs that tensor, for the sum: make a new one."""

    def forward(self, x):
        spread = self.root(self.variance(x))
        x -= self.mean(x)
        return self.finish(x / spread)


@misconception(
    "LayerNorm",
    title="mean of the squares minus square of the mean",
    keeps="right but for single precision and a large mean",
)
class NormByMoments(nn.Module):
    """Your variance is the mean of the squares minus the square of the mean. With a large mean these two are huge and nearly equal, and
    single precision loses their difference: subtract the mean first, then square."""

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
class NormByReciprocals(nn.Module):
    """The mean of the squared differences, and the reciprocal root; eps in a buffer."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(d_model).fill_(0.0))
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))
        self.register_buffer("small", torch.tensor(float(eps), dtype=torch.double))

    def forward(self, x):
        first = x.mean(-1, True)
        second = (x - first).square().mean(-1, True)
        return torch.addcmul(self.bias, (x - first) * torch.rsqrt(second + self.small), self.weight)


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


@alternative("LayerNorm")
class NormInSinglePrecisionOnTheWay(_Norm):
    """All in single precision, and back."""

    def forward(self, x):
        y = x.float()
        y = y - y.mean(-1, keepdim=True)
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return (y * self.weight.float() + self.bias.float()).to(x.dtype)
