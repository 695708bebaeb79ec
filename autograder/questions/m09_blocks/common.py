"""What several questions of lab 09 are made of."""

import math

import torch
from torch import nn

from autograder.questions.engine import Observed
from autograder.questions.m08_multi_head.common import tensor

#: What steps in single precision, or another eps of a norm, leave of a result: relative to it, and beside it.
CLOSE = {"rtol": 1e-4, "atol": 1e-4}
NEARLY = {"rtol": 1e-3, "atol": 1e-3}


def some_mask(rng, *shape):
    """A mask in which something may be heard in each row."""
    mask = rng.random(shape) < 0.5
    mask[..., int(rng.integers(shape[-1]))] |= ~mask.any(axis=-1)
    return torch.tensor(mask)


def causal(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def first(result):
    """The tensor, or the first of several: whether a pair is returned has a scenario of its own."""
    return result[0] if isinstance(result, (tuple, list)) else result


# --------------------------------------------------------------------------------------------- what is learned


def thought_shapes(d_model, d_ff, prefix=""):
    first, second = f"{prefix}linear1", f"{prefix}linear2"
    shapes = {f"{first}.weight": (d_ff, d_model), f"{first}.bias": (d_ff,)}
    return shapes | {f"{second}.weight": (d_model, d_ff), f"{second}.bias": (d_model,)}


def block_shapes(attentions, norms, d_model, d_ff):
    """The shapes of all that a block learns, by name."""
    layers = [f"{attention}.{layer}" for attention in attentions for layer in ("W_Q", "W_K", "W_V", "W_O")]
    shapes = thought_shapes(d_model, d_ff, "feed_forward.")
    shapes |= {f"{name}.weight": (d_model, d_model) for name in layers}
    shapes |= {f"{name}.bias": (d_model,) for name in layers}
    return shapes | {
        f"norm{n}.{part}": (d_model,) for n in range(1, norms + 1) for part in ("weight", "bias")
    }


def drawn(rng, shapes):
    return {
        name: tensor(rng, *shape) / (math.sqrt(shape[-1]) if len(shape) > 1 else 1)
        for name, shape in shapes.items()
    }


def with_one_norm(weights):
    """The numbers of norm1 in all norms: which norm comes where has a scenario of its own."""
    return {
        name: weights[f"norm1.{name.split('.')[1]}"] if name.startswith("norm") else value
        for name, value in weights.items()
    }


def silenced(weights, *layers):
    """All that these layers say is zero."""
    return {
        name: torch.zeros_like(value) if name.rpartition(".")[0] in layers else value
        for name, value in weights.items()
    }


def built(student, sizes, weights):
    """The student's module with these numbers, in double precision and evaluation mode; a buffer stays as it is."""
    module = student(*sizes)
    module.call("double")
    module.eval()
    module.load_state_dict(weights, strict=False)
    return module


# ------------------------------------------------------------------------------------- what both blocks are asked


def quiet_words(student, rng, shapes, count, *memory):
    """Quiet words and quiet norms: behind silent sublayers each norm shows its eps."""
    weights = {name: torch.zeros(shape, dtype=torch.double) for name, shape in shapes.items()}
    weights |= {f"norm{n}.weight": torch.full((6,), 0.003, dtype=torch.double) for n in range(1, count + 1)}
    module = built(student, (6, 2, 5), weights)
    result = torch.as_tensor(first(module(0.003 * tensor(rng, 2, 4, 6), *memory))).double()
    yield Observed("a thousand times the output", 1000 * result, **NEARLY)


def gradients(module, weights, words, options, cotangent):
    """The gradients of the words and of all that is learned; a key's bias has none, for the softmax ignores it."""
    found = module.gradients(words, options, cotangent=cotangent)
    for place, gradient in enumerate(found.inputs):
        yield Observed(f"the gradient of argument {place}", gradient, rtol=1e-3, atol=1e-4)
    for name in weights:
        yield Observed(f"the gradient of {name}", found.parameters.get(name), rtol=1e-3, atol=1e-4)


RATE = 0.4
SEED = "import torch\ntorch.manual_seed(seed)"


def what_is_dropped(student, rng, shapes_of, sublayers, *memory):
    """Dropout silences entries of what one sublayer says, scales the others, and acts nowhere else.

    The sublayer speaks louder than the words that it is given, and the others are silent: signs behind the norm tell what was dropped.
    What the sublayer says, the block's own part is asked; words are normalised, so that a norm more changes nothing.
    """
    shapes = shapes_of(32, 16)
    voices = {name: f"{name}.{'linear2' if name == 'feed_forward' else 'W_O'}" for name in sublayers}
    for name, voice in voices.items():
        weights = silenced(drawn(rng, shapes), *(other for other in voices.values() if other != voice))
        weights[f"{voice}.bias"] = 50 + 5 * torch.tensor(rng.random(32))
        weights |= {part: torch.ones(32) for part in shapes if "norm" in part and "weight" in part}
        weights |= {part: torch.zeros(32) for part in shapes if "norm" in part and "bias" in part}
        module = built(student, (32, 4, 16, RATE), weights)
        x = nn.functional.layer_norm(tensor(rng, 4, 10, 32), (32,))
        said = torch.as_tensor(first(module.call(name, x, *(memory if name == "cross_attention" else ()))))
        quiet = torch.as_tensor(first(module(x, *memory)))
        module.train()
        student.scene(SEED, seed=int(rng.integers(1 << 30)))  # so that the same answer drops the same again
        loud = torch.as_tensor(first(module(x, *memory)))
        kept = torch.ones_like(loud, dtype=torch.bool) if fits(loud, x + said) else loud > 0
        share = 1 - float(kept.double().mean())
        yield Observed(f"{name}: nothing is dropped in evaluation mode", fits(quiet, x + said))
        yield Observed(
            f"{name}: the share dropped, about", min((0, 0.1, 0.4, 0.64), key=lambda r: abs(r - share))
        )
        yield Observed(f"{name}: zeros behind the norm", bool((loud == 0).any()))
        yield Observed(f"{name}: only what was said is dropped", fits(loud, x + kept * said / (1 - RATE)))
        whole = [bool((~kept).all(dim=axes).any()) for axes in (-1, (0, 1))]
        yield Observed(f"{name}: words or columns are dropped whole", any(whole))
    module = built(student, (32, 4, 16), drawn(rng, shapes))
    quiet = torch.as_tensor(first(module(x, *memory, causal(10))))
    module.train()
    loud = torch.as_tensor(first(module(x, *memory, causal(10))))
    yield Observed("without the argument nothing is dropped", torch.equal(quiet, loud))


def fits(result, total):
    return torch.allclose(result.double(), nn.functional.layer_norm(total, (32,)), rtol=1e-3, atol=1e-3)


# ---------------------------------------------------------------- of the wrong answers: right ones, in parts to replace


class Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def axes(self, x):
        return -1

    def mean(self, x):
        return x.mean(dim=self.axes(x), keepdim=True)

    def variance(self, x):
        return x.var(dim=self.axes(x), keepdim=True, unbiased=False)

    def root(self, variance):
        return (variance + self.eps).sqrt()

    def finish(self, z):
        return self.weight * z + self.bias

    def forward(self, x):
        return self.finish((x - self.mean(x)) / self.root(self.variance(x)))


class NormOverTheWords(Norm):
    """Your mean and variance run over the words of the sentence: each column gets mean 0, not each word. A word is normalised by
    itself, along the last axis."""

    def axes(self, x):
        return max(-2, -x.ndim)


class Thought(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def activation(self, hidden):
        return hidden.relu()

    def forward(self, x):
        return self.linear2(self.activation(self.linear1(x)))


def around(x, sublayer, norm):
    return norm(x + sublayer(x))
