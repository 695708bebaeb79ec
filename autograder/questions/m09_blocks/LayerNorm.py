"""Lab 09, LayerNorm(d_model, eps=1e-5): x (…, d_model) → each vector with mean 0 and variance 1, times weight, plus bias."""

import torch
from torch import nn

from autograder.questions.engine import Observed, Question
from autograder.questions.m09_blocks.common import CLOSE, Norm, NormOverTheWords, tensor


class OneVectorAtATime(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.size, self.eps = d_model, eps
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        rows = []
        for row in x.reshape(-1, self.size):
            mean = sum(row) / self.size
            variance = sum((number - mean) ** 2 for number in row) / self.size
            rows.append((row - mean) / (variance + self.eps) ** 0.5 * self.weight + self.bias)
        return torch.stack(rows).reshape(x.shape)


question = Question(
    OneVectorAtATime,
    forbidden=(
        "torch.nn.LayerNorm", "torch.nn.modules.normalization.LayerNorm", "torch.nn.functional.layer_norm",
        "torch.layer_norm", "torch.native_layer_norm", "torch.nn.GroupNorm", "torch.nn.functional.group_norm",
        "torch.nn.InstanceNorm1d", "torch.nn.functional.instance_norm", "torch.nn.BatchNorm1d",
        "torch.nn.functional.batch_norm",
    ),
)  # fmt: skip


def a_norm(student, d_model, *eps, **learned):
    module = student(d_model, *eps)
    module.call("double")
    module.load_state_dict(learned, strict=False)
    return module


@question.scenario("(1, 3, 5, 7) becomes (−1.342, −0.447, 0.447, 1.342), beside other words.")
def by_hand(student, rng):
    words = [[1.0, 3, 5, 7], [0, 0, 0, 8], rng.integers(-9, 9, 4).tolist()]
    yield Observed("the normalised words", student(4)(torch.tensor(words)), **CLOSE)


@question.scenario(
    "Vectors alone, sentences, batches, a length of one, views: each vector by itself; x is left as it is.",
    weight=2,
)
def leading_axes(student, rng):
    for shape in ((7,), (5, 3), (2, 4, 9), (2, 3, 2, 5), (3, 1, 6)):
        module = a_norm(student, shape[-1])
        yield Observed("the normalised vectors", module(30 * tensor(rng, *shape) + 20), **CLOSE)
        yield Observed("x is changed", bool(module.mutated))
    yield Observed("those of a view", module(30 * tensor(rng, 6, 5, 2).permute(2, 1, 0)), **CLOSE)


@question.scenario(
    "Weight and bias, nothing else, are learned; they begin as ones and zeros, and are used.", weight=1.5
)
def weight_and_bias(student, rng):
    module = a_norm(student, 5)
    yield Observed("what is learned", module.parameters(["weight", "bias"]))
    x = 30 * tensor(rng, 5)
    yield Observed("the norm at first", module(x), **CLOSE)
    module.load_state_dict({"weight": tensor(rng, 5), "bias": tensor(rng, 5)}, strict=False)
    yield Observed("the norm with other numbers", module(x), **CLOSE)


@question.scenario(
    "eps stands inside the root: its usual value, others, and entries that are nearly or quite equal."
)
def inside_the_root(student, rng):
    for x in (0.003 * tensor(rng, 5) + 1, torch.full((5,), 7.0).double()):
        yield Observed("the norm of nearly equal entries", a_norm(student, 5)(x), rtol=1e-4, atol=1e-3)
    for eps in (0.5, 3.0, 1e-12):
        yield Observed("the norm with another eps", a_norm(student, 5, eps)(tensor(rng, 5)), **CLOSE)
    yield Observed("that of a sentence", a_norm(student, 5, 0.5)(tensor(rng, 2, 5)), **CLOSE)


@question.scenario(
    "The variance survives single precision where the mean is thousands of times the deviation.", weight=0.5
)
def a_large_mean(student, rng):
    for mean in (1001.0, 9003.0):
        x = mean + torch.tensor(rng.permutation([0.0, 0.5, 0.25, 1.0, 0.75, 0.125]), dtype=torch.float32)
        yield Observed("the norm", student(6)(x), rtol=0.02, atol=0.02)


@question.scenario("Gradients reach x, the weight and the bias; mean and variance depend on x, too.")
def gradients(student, rng):
    module = a_norm(student, 7, weight=tensor(rng, 7), bias=tensor(rng, 7))
    found = module.gradients([tensor(rng, 2, 3, 7)], cotangent=tensor(rng, 2, 3, 7))
    yield Observed("the gradient of x", found.inputs[0], **CLOSE)
    for name in ("weight", "bias"):
        yield Observed(f"the gradient of the {name}", found.parameters.get(name), **CLOSE)


question.misconception("normalised over the words", costs=2.5)(NormOverTheWords)


@question.misconception("one mean and variance for all words together", costs=2)
class NormOfTheWholeTensor(Norm):
    """You take one mean and one variance of all the numbers together, so loud words stay loud. Each word has its own: reduce the last
    axis only."""

    def axes(self, x):
        return tuple(range(x.ndim))


@question.misconception("unbiased variance", costs=1, because="all is right but for a factor")
class NormWithUnbiasedVariance(Norm):
    """Your vectors come out a little too small: your variance divides by d − 1. Here it divides by d (unbiased=False)."""

    def variance(self, x):
        return x.var(dim=-1, keepdim=True)


@question.misconception("eps outside the root", costs=1)
class NormWithEpsOutside(Norm):
    """Your eps is added to the standard deviation. It belongs to the variance, inside the root; for vectors with nearly equal entries this
    makes a large difference."""

    def root(self, variance):
        return variance.sqrt() + self.eps


@question.misconception("no eps", costs=1)
class NormWithoutEps(Norm):
    """A vector whose entries are all equal gives 0/0 in your norm: eps is missing. Add it to the variance."""

    def root(self, variance):
        return variance.sqrt()


@question.misconception("divided by the variance", costs=3)
class NormByTheVariance(Norm):
    """You divide by the variance. It is the square of a size: divide by its root, or the result depends on the unit of x."""

    def root(self, variance):
        return variance + self.eps


@question.misconception("the mean is not subtracted", costs=3)
class NormWithoutCentring(Norm):
    """Your vectors keep their mean: subtract it before you divide."""

    def mean(self, x):
        return 0


@question.misconception("the mean is not divided", costs=3)
class NormOfTheLastTermOnly(Norm):
    """Only the mean is divided by the deviation, not the difference: put x − mean in brackets."""

    def forward(self, x):
        return self.finish(x - self.mean(x) / self.root(self.variance(x)))


@question.misconception("weight and bias are not used", costs=1.5)
class NormWithoutWeights(Norm):
    """Your module owns a weight and a bias, but its result does not depend on them: multiply by the one, add the other."""

    def finish(self, z):
        return z


@question.misconception("the first weight is zero", costs=2.5)
class NormOfZeros(Norm):
    """Your weight begins as zeros, so everything comes out as zero. It begins as ones; only the bias begins as zeros."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        self.weight = nn.Parameter(torch.zeros(d_model))


@question.misconception("nothing is learned by the norm", costs=2.25)
class NormWithPlainTensors(Norm):
    """Your weight and your bias are not learned: a plain tensor, a buffer or a frozen parameter (requires_grad=False) is left alone by every
    optimizer. Make each of them an nn.Parameter."""

    def __init__(self, d_model, eps=1e-5):
        nn.Module.__init__(self)
        self.weight, self.bias, self.eps = torch.ones(d_model), torch.zeros(d_model), eps


@question.misconception("mean and variance cut off from the gradient", costs=1.5)
class NormWithDetachedStatistics(Norm):
    """The values are right, the gradient is not: the mean and the variance depend on x, too. Is there a detach(), an item() or a
    no_grad()?"""

    def mean(self, x):
        return super().mean(x).detach()

    def variance(self, x):
        return super().variance(x).detach()


@question.misconception("mean of the squares minus square of the mean", costs=1)
class NormByMoments(Norm):
    """Your variance is the mean of the squares minus the square of the mean. With a large mean these two are huge and nearly equal, and
    single precision loses their difference: subtract the mean first, then square."""

    def variance(self, x):
        return (x * x).mean(-1, True) - x.mean(-1, True) ** 2


@question.alternative
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


@question.alternative
class NormByACentringMatrix(Norm):
    """Centring is a matrix; the norm of a vector is the root of d times its deviation."""

    def forward(self, x):
        d = x.shape[-1]
        z = x @ (torch.eye(d, dtype=x.dtype) - torch.full((d, d), 1 / d, dtype=x.dtype))
        squares = torch.linalg.vector_norm(z, dim=-1).square() / d
        return z.mul(self.weight).div(squares.add(self.eps).sqrt().unsqueeze(-1)).add(self.bias)


@question.alternative
class NormInSinglePrecisionOnTheWay(Norm):
    def forward(self, x):
        y = x.float()
        y = y - y.mean(-1, keepdim=True)
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return (y * self.weight.float() + self.bias.float()).to(x.dtype)


@question.impostor
def normalises_all_together(right, x):
    """It takes one mean and one deviation for all words together.
    One survives: give it more than one word."""
    return right(x.reshape(-1)).reshape(x.shape)


@question.impostor
def divides_by_nothing(right, x):
    """It has no ε: for a word whose entries are all equal it divides 0 by 0.
    One survives: what must a word be like for its variance to be 0?"""
    equal_entries = x.amax(-1, keepdim=True) == x.amin(-1, keepdim=True)
    return torch.where(equal_entries, torch.nan, right(x))


@question.impostor
def has_a_large_epsilon(right, x):
    """Its ε is a hundred times too large.
    One survives: ε is tiny, so the word must be quiet, too."""
    return right(x / 10)


@question.impostor
def hears_one_word(right, x):
    """It answers for the first word, whichever it is asked for.
    One survives: give it two different words."""
    return right(x.reshape(-1, x.shape[-1])[0]).expand_as(x)


@question.impostor
def cuts_what_is_loud(right, x):
    """It cuts every entry at 2 deviations.
    One survives: can an entry of your words lie further out? With four entries none can."""
    return right(x).clamp(-2, 2)
