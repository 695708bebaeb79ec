"""Lab 08: wrong answers that students give, with their hints, and correct answers in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from autograder.answers import alternative, misconception

# -------------------------------------------------------------------------------------------------- split_heads


def _split(x, h):
    return x.reshape(*x.shape[:2], h, -1).transpose(1, 2)


def _merge(x):
    return x.transpose(1, 2).flatten(2)


@misconception("split_heads", title="a bare reshape into heads")
def split_by_reshape(x, h):
    """The shape is right, the content is not: your reshape cuts the words apart, not the columns, so each head sees only some
    of the words. Split the last axis in two first, then exchange the axes of words and heads."""
    return x.reshape(x.shape[0], h, x.shape[1], x.shape[2] // h)


@misconception("split_heads", title="interleaved heads")
def split_interleaved(x, h):
    """Your head 0 gets every h-th column instead of the first ones. When you split the last axis, the head comes first and
    the column within the head second."""
    return x.reshape(*x.shape[:2], x.shape[2] // h, h).permute(0, 3, 1, 2)


@misconception("split_heads", title="words and heads not exchanged")
def split_without_transposing(x, h):
    """The columns are cut correctly, but the head axis stands behind the words: (B, T, h, d_h). Attention works on the last two
    axes, so the heads must come before the words."""
    return x.reshape(*x.shape[:2], h, x.shape[2] // h)


@misconception("split_heads", title="heads of size h instead of h heads")
def split_into_heads_of_size_h(x, h):
    """You made heads of size h; wanted are h heads of size D / h. Look at which of the two numbers stands where."""
    return x.reshape(*x.shape[:2], x.shape[2] // h, h).transpose(1, 2)


@misconception("split_heads", title="each head transposed")
def split_with_words_last(x, h):
    """In your heads the words are the columns: (B, h, d_h, T). Exchange only the axes of words and heads, and leave
    the columns last."""
    return x.reshape(*x.shape[:2], h, x.shape[2] // h).permute(0, 2, 3, 1)


@alternative("split_heads")
def split_by_chunks(x, h):
    return torch.stack(x.chunk(h, dim=-1), dim=1)


@alternative("split_heads")
def split_by_slices_in_numpy(x, h):
    x = x.numpy()
    d_h = x.shape[-1] // h
    return [[sentence[:, i * d_h : (i + 1) * d_h] for i in range(h)] for sentence in x]


@alternative("split_heads")
def split_by_unflatten(x, h):
    return x.float().unflatten(-1, (h, -1)).movedim(2, 1).contiguous()


# -------------------------------------------------------------------------------------------------- merge_heads


@misconception("merge_heads", title="a bare reshape of the heads")
def merge_by_reshape(x):
    """The shape is right, the content is not: your reshape joins numbers of different words. Exchange the axes of heads and words
    first, then join the last two."""
    return x.reshape(x.shape[0], x.shape[2], -1)


@misconception("merge_heads", title="heads merged column by column")
def merge_interleaved(x):
    """Your columns alternate between the heads. All columns of head 0 come first, then all of head 1."""
    return x.permute(0, 2, 3, 1).flatten(2)


@misconception("merge_heads", title="heads added up")
def merge_by_adding(x):
    """You add the heads up, so that nobody can tell them apart any more. They are to stand side by side."""
    return x.sum(dim=1)


@misconception("merge_heads", title="the last two axes not joined")
def merge_without_joining(x):
    """Heads and words are exchanged, but the heads still have an axis of their own. Join the last two axes into one."""
    return x.transpose(1, 2)


@misconception("merge_heads", title="heads in the reverse order")
def merge_reversed(x):
    """The last head comes first in your result. The order of the heads must stay, or merging does not undo splitting."""
    return x.flip(1).transpose(1, 2).flatten(2)


@alternative("merge_heads")
def merge_by_concatenation(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@alternative("merge_heads")
def merge_by_einsum_in_single_precision(x):
    _, h, _, d_h = x.shape
    place = torch.eye(h * d_h).reshape(h, d_h, h * d_h)
    return torch.einsum("bhtd,hdm->btm", x.float(), place)


@alternative("merge_heads")
def merge_in_numpy(x):
    return np.concatenate(list(np.moveaxis(x.numpy(), 1, 0)), axis=-1)


# ----------------------------------------------------------------------------------------- multi_head_attention


def _attend(q, k, v, mask=None, d=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(d or q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1)
    return weights @ v, weights


def _heads(x, memory, W_Q, W_K, W_V, h) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return _split(x @ W_Q, h), _split(memory @ W_K, h), _split(memory @ W_V, h)


def _headed(mask):
    return None if mask is None else mask.unsqueeze(-3)


@misconception("multi_head_attention", title="no last matrix W_O")
def heads_without_the_last_matrix(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads are merged but not mixed: the product with W_O is missing."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return _merge(heard), weights


@misconception("multi_head_attention", title="the last matrix transposed")
def heads_with_the_last_matrix_transposed(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """You multiply the merged heads by the transpose of W_O. The course writes vectors as rows, so the matrix stands on the
    right as it is: its rows belong to the merged columns."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return _merge(heard) @ W_O.T, weights


@misconception("multi_head_attention", title="scaled by the model's size, not the head's")
def heads_scaled_by_the_model(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your scores are divided by the root of d_model. Each head compares vectors of its own size d_k, so that is the root to take."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask), d=x.shape[-1])
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="scaled by the size of all heads together")
def heads_scaled_by_all_heads(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your scores are divided by the root of h · d_k, the width of all heads together. Each head compares vectors of size d_k only."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask), d=W_Q.shape[-1])
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="scaled by the size of the values")
def heads_scaled_by_the_values(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your scores are divided by the root of the values' size. Queries are compared with keys, so it is the root of *their* size, d_k."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask), d=W_V.shape[-1] // h)
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="one head that ignores h")
def heads_all_in_one(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """There is only one map of weights, copied for every head: you never cut into heads."""
    heard, weights = _attend(x @ W_Q, memory @ W_K, memory @ W_V, mask)
    return heard @ W_O, weights.unsqueeze(1).repeat(1, h, 1, 1)


@misconception("multi_head_attention", title="values of the listener instead of the memory")
def heads_with_values_of_x(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your values come from x. What is heard comes from the memory, so both keys and values are made from it; only the
    queries come from x."""
    q, k, _ = _heads(x, memory, W_Q, W_K, W_V, h)
    heard, weights = _attend(q, k, _split(x @ W_V, h), _headed(mask))
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="listener and memory exchanged")
def heads_with_queries_of_the_memory(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your queries come from the memory and your keys from x: the roles are exchanged. The one who listens asks."""
    heard, weights = _attend(*_heads(memory, x, W_Q, W_K, W_V, h), _headed(mask))
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="the memory is ignored")
def heads_that_ignore_the_memory(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your function is always self-attention: keys and values come from x, whatever the memory is."""
    heard, weights = _attend(*_heads(x, x, W_Q, W_K, W_V, h), _headed(mask))
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="a mask without an axis for the heads")
def heads_with_a_bare_mask(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """One mask for all sentences works, a mask for each sentence does not: without an axis for the heads its first axis is taken for
    them. If B equals h there is not even an error. Use mask.unsqueeze(-3)."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), mask)
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="the mask is ignored by the heads")
def heads_without_a_mask(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your function gives the same result with and without a mask: pass it on, with an axis for the heads."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h))
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="the mask of the first head only")
def heads_with_a_mask_for_the_first(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Only head 0 obeys the mask in your function. It holds for every head: let it broadcast over the head axis."""
    if mask is not None:
        mask = mask.unsqueeze(-3).expand(len(x), h, x.shape[1], memory.shape[1]).clone()
        mask[:, 1:] = True
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), mask)
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="the mean of the heads' weights")
def heads_with_averaged_weights(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your output is right, but the weights are averaged over the heads, (B, T_q, T_k). Each head's map is wanted: (B, h, T_q, T_k)."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return _merge(heard) @ W_O, weights.mean(dim=1)


@misconception("multi_head_attention", title="heads cut by a bare reshape")
def heads_cut_by_reshape(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads are cut by a bare reshape, so each of them sees only some of the words. Use split_heads and merge_heads."""

    def cut(y):
        return y.reshape(y.shape[0], h, y.shape[1], -1)

    heard, weights = _attend(cut(x @ W_Q), cut(memory @ W_K), cut(memory @ W_V), _headed(mask))
    return heard.reshape(*x.shape[:2], -1) @ W_O, weights


@misconception("multi_head_attention", title="merged by a bare reshape")
def heads_merged_by_reshape(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """The weights are right. The heads are merged by a bare reshape, which mixes numbers of different words: exchange the axes of
    heads and words first."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return heard.reshape(*x.shape[:2], -1) @ W_O, weights


@alternative("multi_head_attention")
def heads_in_a_loop(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    pieces = zip(W_Q.chunk(h, 1), W_K.chunk(h, 1), W_V.chunk(h, 1), W_O.chunk(h, 0), strict=True)
    total, maps = 0, []
    for Q, K, V, O in pieces:
        heard, weights = _attend(x @ Q, memory @ K, memory @ V, mask)
        total = total + heard @ O
        maps.append(weights)
    return total, torch.stack(maps, dim=1)


@alternative("multi_head_attention")
def heads_by_einsum_in_numpy(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    x, memory, Q, K, V, O = (np.asarray(part) for part in (x, memory, W_Q, W_K, W_V, W_O))
    Q, K, V = (W.reshape(W.shape[0], h, -1) for W in (Q, K, V))
    scores = np.einsum("btm,mhd,bsn,nhd->bhts", x, Q, memory, K, optimize=True) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(np.asarray(mask)[..., None, :, :], scores, -1e30)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum(
        "bhts,bsm,mhd,hdn->btn", weights, memory, V, O.reshape(h, -1, O.shape[-1]), optimize=True
    ), weights


@alternative("multi_head_attention")
def heads_in_single_precision(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    x, memory, W_Q, W_K, W_V, W_O = (part.float() for part in (x, memory, W_Q, W_K, W_V, W_O))
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return [_merge(heard) @ W_O, weights]


# ------------------------------------------------------------------------------------------- MultiHeadAttention


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


@misconception("MultiHeadAttention", title="a module that ignores the memory")
class ModuleWithoutMemory(_Module):
    """Your module always listens to x itself, even when a memory is given. Keys and values come from the memory."""

    def source(self, x, memory):
        return x


@misconception("MultiHeadAttention", title="a module whose values come from the listener")
class ModuleWithValuesOfX(_Module):
    """In cross-attention your values come from x. Keys and values both come from the memory; only the queries come from x."""

    def heads(self, x, memory):
        q, k, _ = super().heads(x, memory)
        return q, k, _split(self.W_V(x), self.h)


@misconception("MultiHeadAttention", title="a module with listener and memory exchanged")
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


@misconception("MultiHeadAttention", title="a module that ignores the mask")
class ModuleWithoutMask(_Module):
    """Your module gives the same result with and without a mask: pass it on, with an axis for the heads."""

    def attend(self, q, k, v, mask):
        return _attend(q, k, v)


@misconception("MultiHeadAttention", title="a module that forgets the mask when there is a memory")
class ModuleWithoutMaskOfTheMemory(_Module):
    """Your module uses the mask in self-attention and forgets it in cross-attention. There it hides the padding of the
    memory: hand it on in both cases."""

    def forward(self, x, memory=None, mask=None):
        return super().forward(x, memory, mask if memory is None else None)


@misconception("MultiHeadAttention", title="a module with PyTorch's opposite mask")
class ModuleWithMaskInverted(_Module):
    """Your module silences what may be heard. In this course True means “may attend”, the opposite of nn.MultiheadAttention."""

    def attend(self, q, k, v, mask):
        return _attend(q, k, v, None if mask is None else ~_headed(mask))


@misconception("MultiHeadAttention", title="a module whose mask lacks an axis for the heads")
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


@misconception("MultiHeadAttention", title="layers without a bias")
class ModuleWithoutBias(_Module):
    """Your linear layers have no bias. The paper's formula has none either, but this course's layers do, as PyTorch's: otherwise
    its weights can't be copied."""

    def __init__(self, d_model, h):
        super().__init__(d_model, h)
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))


@misconception("MultiHeadAttention", title="the gradient is cut off")
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


# ----------------------------------------------------------------------------------------------- attention_maps


def _is_attention(module):
    return type(module).__name__ == "MultiHeadAttention"


def _run_with_hooks(model, inputs, keep, remove=True):
    maps, handles = {}, []
    for name, module in model.named_modules():
        if _is_attention(module):
            hook = lambda module, given, output, name=name: maps.update({name: keep(output)})  # noqa: E731
            handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in handles if remove else ():
        handle.remove()
    return maps


@misconception("attention_maps", title="outputs instead of weights")
def maps_of_outputs(model, *inputs):
    """You collected what the layers say, not what they listen to: the output of such a layer is a pair, and the weights are its second part."""
    return _run_with_hooks(model, inputs, lambda output: output[0].detach())


@misconception("attention_maps", title="hooks left on the model")
def maps_with_hooks_left(model, *inputs):
    """The maps are right, but your hooks stay on the model and will run at every later forward pass. Keep the handles, and call
    remove() on each."""
    return _run_with_hooks(model, inputs, lambda output: output[1].detach(), remove=False)


@misconception("attention_maps", title="the model stays in evaluation mode")
def maps_in_evaluation_mode(model, *inputs):
    """The maps are right, but your function puts the model into evaluation mode and leaves it there: the training that goes on afterwards has lost its dropout.
    Leave the mode alone, or put it back."""
    model.eval()
    return _run_with_hooks(model, inputs, lambda output: output[1].detach())


@misconception("attention_maps", title="the model learns no more")
def maps_of_a_frozen_model(model, *inputs):
    """The maps are right, but your function switches the gradients of the model's weights off, and it can't learn any more. Detach the maps instead."""
    for weight in model.parameters():
        weight.requires_grad_(False)
    return _run_with_hooks(model, inputs, lambda output: output[1])


@misconception("attention_maps", title="the model runs twice")
def maps_of_two_runs(model, *inputs):
    """The maps are right, but your function runs the model twice, which costs twice the time. Once, with the hooks in place, is enough."""
    model(*inputs)
    return _run_with_hooks(model, inputs, lambda output: output[1].detach())


@misconception("attention_maps", title="maps that hang on the gradient")
def maps_not_detached(model, *inputs):
    """The maps are right, but they still belong to the graph of the gradient and keep the whole forward pass in memory: detach them."""
    return _run_with_hooks(model, inputs, lambda output: output[1])


@misconception("attention_maps", title="maps averaged over the heads")
def maps_averaged(model, *inputs):
    """Your maps are averaged over the heads. The heads listen to different things; keep them apart: (B, h, T_q, T_k)."""
    return _run_with_hooks(model, inputs, lambda output: output[1].detach().mean(dim=1))


@misconception("attention_maps", title="only the last layer is found")
def maps_of_the_last_layer(model, *inputs):
    """Only one layer is in your result, with the last name. The function that you made in the loop looks its name up when it is
    called, and by then the loop is over: let it keep the name, note(…, name=name)."""
    maps, handles = {}, []
    last = [name for name, module in model.named_modules() if _is_attention(module)][-1]
    for module in filter(_is_attention, model.modules()):
        hook = lambda module, given, output: maps.update({last: output[1].detach()})  # noqa: E731
        handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in handles:
        handle.remove()
    return maps


@misconception("attention_maps", title="only the direct children are searched")
def maps_of_children(model, *inputs):
    """You look at the direct children of the model only; layers that sit deeper, in a block or a list, are missed.
    named_modules() goes all the way down, and includes the model itself."""
    maps, handles = {}, []
    for name, module in model.named_children():
        if _is_attention(module):
            hook = lambda module, given, output, name=name: maps.update({name: output[1].detach()})  # noqa: E731
            handles.append(module.register_forward_hook(hook))
    model(*inputs)
    for handle in handles:
        handle.remove()
    return maps


@alternative("attention_maps")
def maps_by_replacing_forward(model, *inputs):
    maps, found = {}, {name: m for name, m in model.named_modules() if _is_attention(m)}
    for name, module in found.items():

        def forward(*args, _name=name, _forward=module.forward, **options):
            output, weights = _forward(*args, **options)
            maps[_name] = weights.detach().clone()
            return output, weights

        module.forward = forward
    model(*inputs)
    for module in found.values():
        del module.forward
    return maps


@alternative("attention_maps")
def maps_by_a_factory_in_single_precision(model, *inputs):
    maps = {}

    def remember(name):
        def note(module, given, output):
            maps[name] = output[1].detach().clone().float()

        return note

    handles = [
        m.register_forward_hook(remember(name)) for name, m in model.named_modules() if _is_attention(m)
    ]
    with torch.no_grad():
        model(*inputs)
    [handle.remove() for handle in handles]
    return dict(reversed(maps.items()))
