"""Lab 08, ``MultiHeadAttention``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch
from torch import nn

from autograder.misconceptions.m08_multi_head.common import _attend, _headed, _merge, _split
from autograder.testing import alternative, misconception


class _Module(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    W_Q: nn.Linear
    W_K: nn.Linear
    W_V: nn.Linear
    W_O: nn.Linear

    def __init__(self, d_model, h):
        super().__init__()
        self.h = h
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in range(4))

    def source(self, x, memory):
        return x if memory is None else memory

    def heads(self, x, memory) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return _split(self.W_Q(x), self.h), _split(self.W_K(memory), self.h), _split(self.W_V(memory), self.h)

    def attend(self, q, k, v, mask):
        return _attend(q, k, v, _headed(mask))

    def finish(self, heard):
        return self.W_O(_merge(heard))

    def forward(self, x, memory=None, mask=None):
        heard, weights = self.attend(*self.heads(x, self.source(x, memory)), mask)
        return self.finish(heard), weights


@misconception(
    "MultiHeadAttention",
    title="a module that ignores the memory",
    keeps="self-attention is right; cross-attention is not",
)
class ModuleWithoutMemory(_Module):
    """Your module always listens to x itself, even when a memory is given. Keys and values come from the memory."""

    def source(self, x, memory):
        return x


@misconception(
    "MultiHeadAttention",
    title="a module whose values come from the listener",
    keeps="self-attention is right; cross-attention is not",
)
class ModuleWithValuesOfX(_Module):
    """In cross-attention your values come from x. Keys and values both come from the memory; only the queries come from x."""

    def heads(self, x, memory):
        q, k, _ = super().heads(x, memory)
        return q, k, _split(self.W_V(x), self.h)


@misconception(
    "MultiHeadAttention",
    title="a module with listener and memory exchanged",
    keeps="self-attention is right; cross-attention is not",
)
class ModuleWithRolesExchanged(_Module):
    """In cross-attention your queries come from the memory and your keys from x: the roles are exchanged."""

    def heads(self, x, memory):
        return super().heads(memory, x)


@misconception("MultiHeadAttention", title="a module without its last layer")
class ModuleWithoutLastLayer(_Module):
    """The layer W_O is there, but it is never used: the merged heads go out as they are."""

    def finish(self, heard):
        return _merge(heard)


@misconception("MultiHeadAttention", title="a module with its last matrix transposed")
class ModuleWithLastMatrixTransposed(_Module):
    """You multiply by the matrix of W_O yourself, but nn.Linear keeps it transposed. Call the layer instead: self.W_O(…)."""

    def finish(self, heard):
        return _merge(heard) @ self.W_O.weight + self.W_O.bias


@misconception("MultiHeadAttention", title="a module scaled by the model's size")
class ModuleScaledByTheModel(_Module):
    """Your scores are divided by the root of d_model; it must be the size of a head, d_model / h."""

    def attend(self, q, k, v, mask):
        return _attend(q, k, v, _headed(mask), d=q.shape[-1] * self.h)


@misconception("MultiHeadAttention", title="a module without scaling")
class ModuleWithoutScaling(_Module):
    """Your scores are not divided by anything: the root of the head's size is missing."""

    def attend(self, q, k, v, mask):
        return _attend(q, k, v, _headed(mask), d=1)


@misconception(
    "MultiHeadAttention", title="a module that ignores the mask", keeps="right wherever there is no mask"
)
class ModuleWithoutMask(_Module):
    """Your module gives the same result with and without a mask: pass it on, with an axis for the heads."""

    def attend(self, q, k, v, mask):
        return _attend(q, k, v)


@misconception(
    "MultiHeadAttention",
    title="a module that forgets the mask when there is a memory",
    keeps="right but for the mask of the memory",
)
class ModuleWithoutMaskOfTheMemory(_Module):
    """Your module uses the mask in self-attention and forgets it in cross-attention. There it hides the padding of the
    memory: hand it on in both cases."""

    def forward(self, x, memory=None, mask=None):
        return super().forward(x, memory, mask if memory is None else None)


@misconception(
    "MultiHeadAttention",
    title="a module with PyTorch's opposite mask",
    keeps="right wherever there is no mask",
)
class ModuleWithMaskInverted(_Module):
    """Your module silences what may be heard. In this course True means “may attend”, the opposite of nn.MultiheadAttention."""

    def attend(self, q, k, v, mask):
        return _attend(q, k, v, None if mask is None else ~_headed(mask))


@misconception(
    "MultiHeadAttention",
    title="a module whose mask lacks an axis for the heads",
    keeps="right without a mask, and with one mask for all sentences",
)
class ModuleWithBareMask(_Module):
    """A mask for all sentences works, a mask for each sentence does not: its first axis is taken for the heads. Use
    mask.unsqueeze(-3)."""

    def attend(self, q, k, v, mask):
        return _attend(q, k, v, mask)


@misconception("MultiHeadAttention", title="a module that cuts heads by a bare reshape")
class ModuleCutByReshape(_Module):
    """Your heads are cut by a bare reshape: the shapes fit, but each head sees only some of the words."""

    def heads(self, x, memory):
        layers = ((self.W_Q, x), (self.W_K, memory), (self.W_V, memory))
        q, k, v = (layer(y).reshape(y.shape[0], self.h, y.shape[1], -1) for layer, y in layers)
        return q, k, v

    def finish(self, heard):
        return self.W_O(heard.reshape(heard.shape[0], heard.shape[2], -1))


@misconception("MultiHeadAttention", title="a module that merges by a bare reshape")
class ModuleMergedByReshape(_Module):
    """Your weights are right, but the heads are merged by a bare reshape, which mixes numbers of different words."""

    def finish(self, heard):
        return self.W_O(heard.reshape(heard.shape[0], heard.shape[2], -1))


@misconception("MultiHeadAttention", title="a module that averages the maps of its heads")
class ModuleWithAveragedMaps(_Module):
    """Your output is right, but the weights are averaged over the heads, as PyTorch does by default. One map for each head is wanted."""

    def forward(self, x, memory=None, mask=None):
        output, weights = super().forward(x, memory, mask)
        return output, weights.mean(dim=1)


@misconception(
    "MultiHeadAttention",
    title="layers without a bias",
    keeps="the attention is right; only the biases are missing",
)
class ModuleWithoutBias(_Module):
    """Your linear layers have no bias. The paper's formula has none either, but this course's layers do, as PyTorch's: otherwise
    its weights can't be copied."""

    def __init__(self, d_model, h):
        super().__init__(d_model, h)
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))


@misconception(
    "MultiHeadAttention", title="the gradient is cut off", keeps="the values are right; the gradient is not"
)
class ModuleThatDetaches(_Module):
    """The values are right, but no gradient flows through your attention weights, so W_Q and W_K can never learn. Is there a
    detach() or a no_grad() in the forward pass?"""

    def attend(self, q, k, v, mask):
        _, weights = _attend(q, k, v, _headed(mask))
        return weights.detach() @ v, weights.detach()


@misconception("MultiHeadAttention", title="one layer for queries and keys")
class ModuleWithSharedKeys(_Module):
    """Your keys are made with W_Q. Then a word always likes itself best, and “who asks” and “what is offered” can't be learned apart:
    use W_K for the keys."""

    def heads(self, x, memory):
        q, _, v = super().heads(x, memory)
        return q, _split(self.W_Q(memory), self.h), v


@misconception("MultiHeadAttention", title="two names for one layer")
class ModuleWithOneLayerForKeysAndValues(_Module):
    """W_V and W_K are the same layer under two names: self.W_V = self.W_K makes no new one. What a word is found by and what it says
    are then never different: give each name an nn.Linear of its own."""

    def __init__(self, d_model, h):
        super().__init__(d_model, h)
        self.W_V = self.W_K


@misconception("MultiHeadAttention", title="dropout that nobody asked for", keeps="right in evaluation mode")
class ModuleWithDropout(_Module):
    """In training your module drops some of its weights by chance, so the same sentence gives two results. Dropout comes in lab 09,
    around the layer; this one has none."""

    def __init__(self, d_model, h):
        super().__init__(d_model, h)
        self.dropout = nn.Dropout(0.1)

    def attend(self, q, k, v, mask):
        _, weights = _attend(q, k, v, _headed(mask))
        return self.dropout(weights) @ v, weights


@misconception("MultiHeadAttention", title="the sum x + … of a whole block")
class ModuleWithAResidual(_Module):
    """You add x to the output. That sum is made around this layer, in lab 09; here only what the last layer says is returned."""

    def forward(self, x, memory=None, mask=None):
        output, weights = super().forward(x, memory, mask)
        return x + output, weights


@misconception(
    "MultiHeadAttention", title="the bias of the last layer forgotten", keeps="only one bias is missing"
)
class ModuleWithoutTheLastBias(_Module):
    """You multiply by the matrix of W_O yourself, and its bias is forgotten. Call the layer: self.W_O(…) does both."""

    def finish(self, heard):
        return _merge(heard) @ self.W_O.weight.T


@misconception(
    "MultiHeadAttention",
    title="the layers' matrices without their biases",
    keeps="the attention is right; only the biases are missing",
)
class ModuleByMatricesOnly(_Module):
    """You take the matrices out of the four layers and leave their biases. Call the layers, self.W_Q(…): that does both."""

    def heads(self, x, memory):
        layers = ((self.W_Q, x), (self.W_K, memory), (self.W_V, memory))
        q, k, v = (_split(y @ layer.weight.T, self.h) for layer, y in layers)
        return q, k, v

    def finish(self, heard):
        return _merge(heard) @ self.W_O.weight.T


@misconception(
    "MultiHeadAttention",
    title="a mask for each sentence is taken for padding",
    keeps="right with masks (T_q, T_k) and (B, 1, T_k)",
)
class ModuleThatTakesMasksForPadding(_Module):
    """Your module takes every mask with three axes for padding, (B, 1, T_k), and fails for (B, T_q, T_k), where each query has a row of its
    own. mask.unsqueeze(-3) fits both."""

    def attend(self, q, k, v, mask):
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(len(q), 1, 1, k.shape[2])
        return _attend(q, k, v, mask)


@misconception(
    "MultiHeadAttention",
    title="keys and values of an earlier call",
    keeps="right until what is learned changes",
)
class ModuleThatKeepsTheMemory(_Module):
    """Your module keeps the keys and values of a memory and uses them again. After a step of training they are those of the old weights. Make
    them anew in each call."""

    def heads(self, x, memory):
        if memory is not getattr(self, "last", None):
            self.last, self.kept = memory, super().heads(x, memory)[1:]
        return _split(self.W_Q(x), self.h), *self.kept


@alternative("MultiHeadAttention")
class ModuleOfAList(_Module):
    """The layers stand in a list, and have their names besides."""

    def __init__(self, d_model, h):
        nn.Module.__init__(self)
        self.h = h
        self.layers = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.W_Q, self.W_K, self.W_V, self.W_O = self.layers


@alternative("MultiHeadAttention")
class ModuleByEinsum(nn.Module):
    """Heads by einsum; the size of a head is kept, not the number."""

    W_Q: nn.Linear
    W_K: nn.Linear
    W_V: nn.Linear
    W_O: nn.Linear

    def __init__(self, d_model, h):
        super().__init__()
        assert d_model % h == 0, "the size must be divisible by the number of heads"
        self.size = d_model // h
        for name in ("W_O", "W_V", "W_K", "W_Q"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, mask=None):
        memory = x if memory is None else memory
        q, k, v = (
            y.unflatten(-1, (-1, self.size)) for y in (self.W_Q(x), self.W_K(memory), self.W_V(memory))
        )
        scores = torch.einsum("bthd,bshd->bhts", q, k) * self.size**-0.5
        if mask is not None:
            while mask.ndim < 3:
                mask = mask[None]
            scores = scores + torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -torch.inf)[:, None]
        weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
        return self.W_O(torch.einsum("bhts,bshd->bthd", weights, v).flatten(2)), weights


@alternative("MultiHeadAttention")
class ModuleWithABufferAndAFrozenNumber(_Module):
    """More is kept in the module, but nothing more is learned."""

    def __init__(self, d_model, h):
        super().__init__(d_model, h)
        self.register_buffer("size", torch.tensor(d_model // h))
        self.root = nn.Parameter(torch.tensor((d_model / h) ** 0.5), requires_grad=False)

    def attend(self, q, k, v, mask):
        return _attend(q, k, v, _headed(mask), d=int(self.size))


@alternative("MultiHeadAttention")
class ModuleByTorchFunction(nn.Module):
    """Output by PyTorch's fused function, weights by hand."""

    def __init__(self, d_model, h, dropout=0.0):
        super().__init__()
        self.heads, self.dropout = h, nn.Dropout(dropout)
        self.W_Q, self.W_K = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_V, self.W_O = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, mask=None):
        source = memory if memory is not None else x
        q = torch.stack(self.W_Q(x).chunk(self.heads, -1), 1)
        k = torch.stack(self.W_K(source).chunk(self.heads, -1), 1)
        v = torch.stack(self.W_V(source).chunk(self.heads, -1), 1)
        allowed = torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask is None else mask.unsqueeze(-3)
        allowed = allowed.expand(len(x), self.heads, x.shape[1], source.shape[1])
        heard = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(allowed.logical_not(), float("-inf"))
        return [self.dropout(self.W_O(torch.cat(heard.unbind(1), -1))), torch.softmax(scores, -1)]


@alternative("MultiHeadAttention")
class ModuleWithItsScaleInABuffer(_Module):
    """The root is kept in single precision, and there is a dropout that drops nothing."""

    def __init__(self, d_model, h):
        super().__init__(d_model, h)
        self.register_buffer("scale", torch.tensor((d_model // h) ** -0.5), persistent=False)
        self.quiet = nn.Dropout(p=0.0)

    def attend(self, q, k, v, mask):
        scores = torch.einsum("bhqd,bhkd->bhqk", q * self.scale, k)
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not()[..., None, :, :], torch.finfo(scores.dtype).min)
        weights = self.quiet(scores.softmax(-1))
        return weights @ v, weights


@alternative("MultiHeadAttention")
class ModuleWithScoresInSinglePrecision(_Module):
    """Scores and softmax are computed in single precision."""

    def attend(self, q, k, v, mask):
        scores = (q.float() @ k.float().mT) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-3), -torch.inf)
        weights = scores.softmax(-1).to(v.dtype)
        return weights @ v, weights


@alternative("MultiHeadAttention")
class ModuleWithASoftmaxInSinglePrecision(_Module):
    """Only the softmax is computed in single precision, as models in half precision do it."""

    def attend(self, q, k, v, mask):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-3), float("-inf"))
        weights = torch.softmax(scores, dim=-1, dtype=torch.float32).type_as(q)
        return weights @ v, weights


@alternative("MultiHeadAttention")
class ModuleInSinglePrecisionAndBack(_Module):
    """All of it is computed in single precision, whatever comes in."""

    def heads(self, x, memory):
        layers = ((self.W_Q, x), (self.W_K, memory), (self.W_V, memory))
        q, k, v = (nn.functional.linear(y.float(), w.weight.float(), w.bias.float()) for w, y in layers)
        return _split(q, self.h), _split(k, self.h), _split(v, self.h)

    def finish(self, heard):
        return nn.functional.linear(_merge(heard), self.W_O.weight.float(), self.W_O.bias.float())

    def forward(self, x, memory=None, mask=None):
        output, weights = super().forward(x, memory, mask)
        return output.to(x.dtype), weights.to(x.dtype)
