"""Lab 08, MultiHeadAttention(d_model, h): x (B, Tq, d), memory (B, Tk, d) or None, mask → output (B, Tq, d), weights (B, h, Tq, Tk)."""

import math

import torch
from torch import nn

from autograder.questions.engine import Observed, Question
from autograder.questions.m08_multi_head.common import (
    ROUNDED,
    attend,
    cut,
    headed,
    merge,
    some_mask,
    split,
    tensor,
)

LAYERS = ("W_Q", "W_K", "W_V", "W_O")


class ByPyTorch(nn.Module):
    """PyTorch's own attention, with the four layers under the course's names."""

    def __init__(self, d_model, h):
        super().__init__()
        self.d_model, self.h = d_model, h
        for name in LAYERS:
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, mask=None):
        memory = x if memory is None else memory
        if mask is not None:  # PyTorch's is True where attention is forbidden, and has a row for each head
            mask = ~mask.expand(len(x), x.shape[1], memory.shape[1]).repeat_interleave(self.h, dim=0)
        layers = [getattr(self, name) for name in LAYERS]
        output, weights = nn.functional.multi_head_attention_forward(
            *(y.transpose(0, 1) for y in (x, memory, memory)),
            self.d_model,
            self.h,
            torch.cat([layer.weight for layer in layers[:3]]),
            torch.cat([layer.bias for layer in layers[:3]]),
            None,
            None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=self.W_O.weight,
            out_proj_bias=self.W_O.bias,
            attn_mask=mask,
            average_attn_weights=False,
        )
        return output.transpose(0, 1), weights


question = Question(
    ByPyTorch,
    uses=("split_heads", "merge_heads", "multi_head_attention"),
    forbidden=("torch.nn.MultiheadAttention", "torch.nn.functional.multi_head_attention_forward"),
)


def state(rng, d_model, asks=1.0, biases=0.0):
    """What the four layers learn. ``asks`` multiplies the queries: with 0 every word listens to all alike."""
    weights = {f"{name}.weight": tensor(rng, d_model, d_model) / math.sqrt(d_model) for name in LAYERS}
    weights["W_Q.weight"] *= asks
    return weights | {f"{name}.bias": biases * tensor(rng, d_model) for name in LAYERS}


def a_module(student, d_model, h, state):
    """The student's module in double precision with this state; a buffer of the student's own stays as it is."""
    module = student(d_model, h)
    module.call("double")
    module.eval()
    module.load_state_dict(state, strict=False)
    return module


def both(module, *words, **options):
    output, weights = module(*words, **options)
    yield Observed("the weights", weights, **ROUNDED)
    yield Observed("the output", output, **ROUNDED)


@question.scenario("In self-attention each head has its own map.", weight=2)
def maps_of_heads(student, rng):
    for B, T, d_model, h in ((2, 5, 12, 3), (3, 4, 4, 2), (1, 3, 10, 5)):
        _, weights = a_module(student, d_model, h, state(rng, d_model))(tensor(rng, B, T, d_model))
        yield Observed("the weights", weights, **ROUNDED)


@question.scenario(
    "Where every word listens to all alike, the values' mean comes out, through the last layer.", weight=3
)
def heard_alike(student, rng):
    for B, T, d_model, h in ((2, 5, 12, 3), (3, 4, 4, 2), (2, 4, 6, 1)):
        yield from both(
            a_module(student, d_model, h, state(rng, d_model, asks=0)), tensor(rng, B, T, d_model)
        )


@question.scenario("A memory is heard, in second place or by its name, and in that call alone.", weight=1.5)
def a_memory(student, rng):
    module = a_module(student, 12, 3, state(rng, 12, asks=0))
    for tq, tk in ((3, 4), (5, 2)):
        yield from both(module, tensor(rng, 2, tq, 12), memory=tensor(rng, 2, tk, 12))
    yield from both(module, tensor(rng, 2, 3, 12), tensor(rng, 2, 3, 12))
    yield from both(module, tensor(rng, 2, 3, 12))


@question.scenario(
    "Causal masks, and masks for each sentence, silence words in every head, of as many heads as sentences too.",
    weight=1.5,
)
def masks(student, rng):
    module, x = a_module(student, 12, 3, state(rng, 12, asks=0)), tensor(rng, 3, 4, 12)
    for mask in (torch.ones(4, 4, dtype=torch.bool).tril(), some_mask(rng, 3, 4, 4)):
        yield Observed("the weights", module(x, mask=mask)[1], **ROUNDED)


@question.scenario("Masks of a memory: its padding, and one for each sentence.", weight=1.5)
def masks_of_a_memory(student, rng):
    module = a_module(student, 12, 3, state(rng, 12, asks=0))
    x, memory = tensor(rng, 2, 4, 12), tensor(rng, 2, 5, 12)
    for mask in (torch.arange(5) < torch.tensor([5, 2])[:, None, None], some_mask(rng, 2, 4, 5)):
        yield from both(module, x, memory=memory, mask=mask)


@question.scenario("Four layers are learned, each with a bias that counts, and nothing else.", weight=4)
def four_layers(student, rng):
    module, names = student(6, 2), [f"{name}.{part}" for name in LAYERS for part in ("weight", "bias")]
    yield Observed("what is learned", module.parameters(names))
    module = a_module(student, 6, 2, state(rng, 6, asks=0, biases=1.0))
    yield from both(module, tensor(rng, 2, 3, 6), tensor(rng, 2, 4, 6))


@question.scenario("In training mode nothing is left to chance.", weight=0.75)
def in_training(student, rng):
    module, x = a_module(student, 12, 3, state(rng, 12, asks=0)), tensor(rng, 2, 5, 12)
    module.train()
    first, again = (module(x, mask=torch.ones(5, 5, dtype=torch.bool).tril()) for _ in range(2))
    yield Observed("the weights", first[1], **ROUNDED)
    yield Observed(
        "the same twice",
        all(torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(first, again, strict=True)),
    )


AFTER_A_STEP = """
import torch

module = student_namespace[question](12, 3).double().eval()
with torch.no_grad():
    for state in states:
        module.load_state_dict(state, strict=False)
        output, weights = module(x, memory)
"""


@question.scenario(
    "After a step of training the same words and memory are heard with the new numbers.", weight=0.5
)
def after_a_step(student, rng):
    given = {
        "states": [state(rng, 12, asks=0) for _ in range(2)],
        "x": tensor(rng, 2, 3, 12),
        "memory": tensor(rng, 2, 4, 12),
    }
    scene = student.scene(AFTER_A_STEP, question=student.name, **given)
    yield Observed("the output", scene["output"], **ROUNDED)
    yield Observed("the weights", scene["weights"], **ROUNDED)


@question.scenario("Gradients reach the input, the memory and every layer.", weight=0.25)
def gradients(student, rng):
    module = a_module(student, 6, 2, state(rng, 6))
    x, memory, cotangent = tensor(rng, 2, 3, 6), tensor(rng, 2, 4, 6), tensor(rng, 2, 3, 6)
    found = module.gradients([x, memory], cotangent=[cotangent, torch.zeros(2, 2, 3, 4, dtype=torch.double)])
    for what, gradient in zip(("x", "the memory"), found.inputs, strict=True):
        yield Observed(f"the gradient of {what}", gradient, rtol=4e-5, atol=3e-4)
    for name in LAYERS:
        yield Observed(
            f"the gradient of {name}.weight", found.parameters[f"{name}.weight"], rtol=4e-5, atol=3e-4
        )


class Parts(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, h):
        super().__init__()
        self.h = h
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in range(4))

    def source(self, x, memory):
        return x if memory is None else memory

    def layers(self, x, memory):
        return self.W_Q(x), self.W_K(memory), self.W_V(memory)

    def heads(self, x, memory):
        return (split(y, self.h) for y in self.layers(x, memory))

    def attend(self, q, k, v, mask):
        return attend(q, k, v, headed(mask))

    def finish(self, heard):
        return self.W_O(merge(heard))

    def forward(self, x, memory=None, mask=None):
        heard, weights = self.attend(*self.heads(x, self.source(x, memory)), mask)
        return self.finish(heard), weights


@question.misconception("a module that ignores the memory", costs=2.5, card="an error comes first")
class ModuleWithoutMemory(Parts):
    """Your module always listens to x itself, even when a memory is given. Keys and values come from the memory."""

    def source(self, x, memory):
        return x


@question.misconception("one layer for queries and keys", costs=2)
class ModuleWithSharedKeys(Parts):
    """Your keys are made with W_Q. Then a word always likes itself best, and “who asks” and “what is offered” can't be learned apart:
    use W_K for the keys."""

    def layers(self, x, memory):
        return self.W_Q(x), self.W_Q(memory), self.W_V(memory)


@question.misconception("a module without its last layer", costs=4)
class ModuleWithoutLastLayer(Parts):
    """The layer W_O is there, but it is never used: the merged heads go out as they are."""

    def finish(self, heard):
        return merge(heard)


@question.misconception("the bias of the last layer forgotten", costs=1)
class ModuleWithoutTheLastBias(Parts):
    """You multiply by the matrix of W_O yourself, and its bias is forgotten. Call the layer: self.W_O(…) does both."""

    def finish(self, heard):
        return merge(heard) @ self.W_O.weight.T


@question.misconception("layers without a bias", costs=3)
class ModuleWithoutBias(Parts):
    """Your linear layers have no bias. The paper's formula has none either, but this course's layers do, as PyTorch's: otherwise
    its weights can't be copied."""

    def __init__(self, d_model, h):
        super().__init__(d_model, h)
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))


@question.misconception("a module scaled by the model's size", costs=1.5)
class ModuleScaledByTheModel(Parts):
    """Your scores are divided by the root of d_model; it must be the size of a head, d_model / h."""

    def attend(self, q, k, v, mask):
        return attend(q, k, v, headed(mask), (q.shape[-1] * self.h) ** 0.5)


@question.misconception("a module without scaling", costs=2)
class ModuleWithoutScaling(Parts):
    """Your scores are not divided by anything: the root of the head's size is missing."""

    def attend(self, q, k, v, mask):
        return attend(q, k, v, headed(mask), 1)


@question.misconception("a module that ignores the mask", costs=2.5)
class ModuleWithoutMask(Parts):
    """Your module gives the same result with and without a mask: pass it on, with an axis for the heads."""

    def attend(self, q, k, v, mask):
        return attend(q, k, v)


@question.misconception("a module with PyTorch's opposite mask", costs=2.5)
class ModuleWithMaskInverted(Parts):
    """Your module silences what may be heard. In this course True means “may attend”, the opposite of nn.MultiheadAttention."""

    def attend(self, q, k, v, mask):
        return attend(q, k, v, None if mask is None else ~headed(mask))


@question.misconception("a module whose mask lacks an axis for the heads", costs=2)
class ModuleWithBareMask(Parts):
    """A mask for all sentences works, a mask for each sentence does not: its first axis is taken for the heads. Use
    mask.unsqueeze(-3)."""

    def attend(self, q, k, v, mask):
        return attend(q, k, v, mask)


@question.misconception("a module that merges by a bare reshape", costs=4)
class ModuleMergedByReshape(Parts):
    """Your weights are right, but the heads are merged by a bare reshape, which mixes numbers of different words."""

    def finish(self, heard):
        return self.W_O(heard.reshape(heard.shape[0], heard.shape[2], -1))


@question.misconception("a module that cuts heads by a bare reshape", costs=4.5)
class ModuleCutByReshape(ModuleMergedByReshape):
    """Your heads are cut by a bare reshape: the shapes fit, but each head sees only some of the words."""

    def heads(self, x, memory):
        return (cut(y, self.h) for y in self.layers(x, memory))


@question.misconception("a module that averages the maps of its heads", costs=3, because="all but the maps")
class ModuleWithAveragedMaps(Parts):
    """Your output is right, but the weights are averaged over the heads, as PyTorch does by default. One map for each head is wanted."""

    def forward(self, x, memory=None, mask=None):
        output, weights = super().forward(x, memory, mask)
        return output, weights.mean(dim=1)


@question.misconception("the sum x + … of a whole block", costs=1, because="the attention is right")
class ModuleWithAResidual(Parts):
    """You add x to the output. That sum is made around this layer, in lab 09; here only what the last layer says is returned."""

    def forward(self, x, memory=None, mask=None):
        output, weights = super().forward(x, memory, mask)
        return x + output, weights


@question.misconception("the gradient is cut off", costs=1.5)
class ModuleThatDetaches(Parts):
    """The values are right, but no gradient flows through your attention weights, so W_Q and W_K can never learn. Is there a
    detach() or a no_grad() in the forward pass?"""

    def attend(self, q, k, v, mask):
        weights = attend(q, k, v, headed(mask))[1].detach()
        return weights @ v, weights


@question.misconception("dropout that nobody asked for", costs=3, because="in training no output is right")
class ModuleWithDropout(Parts):
    """In training your module drops some of its weights by chance, so the same sentence gives two results. Dropout comes in lab 09,
    around the layer; this one has none."""

    def attend(self, q, k, v, mask):
        _, weights = attend(q, k, v, headed(mask))
        return nn.functional.dropout(weights, 0.1, self.training) @ v, weights


@question.misconception("keys and values of an earlier call", costs=1.5)
class ModuleThatKeepsTheMemory(Parts):
    """Your module keeps the keys and values of a memory and uses them again. After a step of training they are those of the old weights. Make
    them anew in each call."""

    def heads(self, x, memory):
        q, *new = super().heads(x, memory)
        if memory is not getattr(self, "last", None):
            self.last, self.kept = memory, new
        return q, *self.kept


@question.alternative
class ModuleByEinsum(nn.Module):
    """Heads by einsum; the size of a head is kept, not the number."""

    def __init__(self, d_model, h):
        super().__init__()
        assert d_model % h == 0, "the size must be divisible by the number of heads"
        self.size = d_model // h
        for name in ("W_O", "W_V", "W_K", "W_Q"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, mask=None):
        memory = x if memory is None else memory
        layers = (self.W_Q(x), self.W_K(memory), self.W_V(memory))
        q, k, v = (y.unflatten(-1, (-1, self.size)) for y in layers)
        scores = torch.einsum("bthd,bshd->bhts", q, k) * self.size**-0.5
        if mask is not None:
            while mask.ndim < 3:
                mask = mask[None]
            scores = scores + torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -torch.inf)[:, None]
        weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        return self.W_O(torch.einsum("bhts,bshd->bthd", weights, v).flatten(2)), weights


@question.alternative
class ModuleInSinglePrecisionAndBack(Parts):
    """All of it is computed in single precision, whatever comes in."""

    def layers(self, x, memory):
        layers = ((self.W_Q, x), (self.W_K, memory), (self.W_V, memory))
        return (nn.functional.linear(y.float(), w.weight.float(), w.bias.float()) for w, y in layers)

    def finish(self, heard):
        return nn.functional.linear(merge(heard), self.W_O.weight.float(), self.W_O.bias.float()).double()
