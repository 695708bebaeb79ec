"""Lab 08, ``multi_head_attention``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.misconceptions.m08_multi_head.common import _attend, _headed, _merge, _split
from autograder.testing import alternative, misconception


def _heads(x, memory, W_Q, W_K, W_V, h) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return _split(x @ W_Q, h), _split(memory @ W_K, h), _split(memory @ W_V, h)


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


@misconception(
    "multi_head_attention",
    title="scaled by the size of the values",
    keeps="right where values and keys have the same size, as nearly always",
)
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


@misconception(
    "multi_head_attention",
    title="a mask without an axis for the heads",
    keeps="right without a mask, and with one mask for all sentences",
)
def heads_with_a_bare_mask(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """One mask for all sentences works, a mask for each sentence does not: without an axis for the heads its first axis is taken for
    them. If B equals h there is not even an error. Use mask.unsqueeze(-3)."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), mask)
    return _merge(heard) @ W_O, weights


@misconception(
    "multi_head_attention", title="the mask is ignored by the heads", keeps="right wherever there is no mask"
)
def heads_without_a_mask(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your function gives the same result with and without a mask, at least where a sentence listens to another: pass it on, with an axis for
    the heads."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h))
    return _merge(heard) @ W_O, weights


@misconception(
    "multi_head_attention", title="the mask of the first head only", keeps="right wherever there is no mask"
)
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


@misconception("multi_head_attention", title="a softmax over the queries")
def heads_with_softmax_over_queries(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your weights sum to one over the queries, so each word of the memory hands out one unit of attention. It is the listener who
    divides its own: the softmax runs over the keys, the last axis."""
    q, k, v = _heads(x, memory, W_Q, W_K, W_V, h)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~_headed(mask), -torch.inf)
    weights = scores.softmax(-2)
    return _merge(weights @ v) @ W_O, weights


@misconception(
    "multi_head_attention", title="the mask after the softmax", keeps="right wherever there is no mask"
)
def heads_masked_after_the_softmax(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """With a mask your weights sum to less than one: they are cut after the softmax has shared out everything. Silence the scores
    first, with minus infinity; then the softmax shares among the words that are allowed."""
    q, k, v = _heads(x, memory, W_Q, W_K, W_V, h)
    _, weights = _attend(q, k, v)
    weights = weights if mask is None else weights * _headed(mask)
    return _merge(weights @ v) @ W_O, weights


@misconception(
    "multi_head_attention",
    title="values as wide as keys",
    keeps="right where values and keys have the same size, as nearly always",
)
def heads_with_values_as_wide_as_keys(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your function fails when values and keys have different sizes: you cut all three by the size of the keys. Each matrix says
    itself how wide its heads are: the number of its columns divided by h."""
    d_k = W_Q.shape[1] // h
    q, k, v = (y.reshape(*y.shape[:2], h, d_k).transpose(1, 2) for y in (x @ W_Q, memory @ W_K, memory @ W_V))
    heard, weights = _attend(q, k, v, _headed(mask))
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="the matrices cut by a reshape")
def heads_of_reshaped_matrices(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """You cut W_Q, W_K and W_V with a reshape, which keeps the order of their rows: a head then gets some rows, laid out anew, and not its
    columns. Make one product, x @ W_Q, and cut that with split_heads."""
    Q, K, V = (W.reshape(h, W.shape[0], -1) for W in (W_Q, W_K, W_V))
    heard, weights = _attend(x[:, None] @ Q, memory[:, None] @ K, memory[:, None] @ V, _headed(mask))
    return _merge(heard) @ W_O, weights


@misconception("multi_head_attention", title="divided by the root twice")
def heads_scaled_twice(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your scores are divided by d_k, not by its root: either the root is missing, or it is divided by twice.
    scaled_dot_product_attention divides by itself."""
    q, k, v = _heads(x, memory, W_Q, W_K, W_V, h)
    heard, weights = _attend(q / q.shape[-1] ** 0.5, k, v, _headed(mask))
    return _merge(heard) @ W_O, weights


@misconception(
    "multi_head_attention", title="weights of sentences and heads mixed up", keeps="the output is right"
)
def heads_with_mixed_weights(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your output is right, but the weights of different sentences and heads change places: they are stacked with the heads in front, and a
    reshape does not bring the batch there. Stack them along dim=1."""
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return _merge(heard) @ W_O, weights.transpose(0, 1).reshape(weights.shape)


@misconception(
    "multi_head_attention",
    title="the mask's axis counted from the front",
    keeps="right without a mask, and with a mask for each sentence",
)
def heads_with_the_axis_counted_from_the_front(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """A mask for each sentence works, one for all sentences, (T_q, T_k), does not: its axis number 1 is the keys'. Count the new axis from
    the end: mask.unsqueeze(-3)."""
    heard, weights = _attend(
        *_heads(x, memory, W_Q, W_K, W_V, h), None if mask is None else mask.unsqueeze(1)
    )
    return _merge(heard) @ W_O, weights


@misconception(
    "multi_head_attention",
    title="a mask that must be square",
    keeps="right without a mask, and in self-attention",
)
def heads_with_square_masks(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """A mask raises an error where the listener and the memory have different lengths: you suppose that it is square. Its shape needs no
    expand; unsqueeze(-3) is enough."""
    if mask is not None:
        mask = mask.expand(len(x), memory.shape[1], memory.shape[1])
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return _merge(heard) @ W_O, weights


@misconception(
    "multi_head_attention",
    title="the mask is forgotten where there is a memory",
    keeps="right without a mask, and in self-attention",
)
def heads_without_a_mask_of_the_memory(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your function uses the mask when a sentence listens to itself, and forgets it when it listens to another. There it hides the padding:
    use it in both cases."""
    square = x.shape == memory.shape and bool((x == memory).all())
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask) if square else None)
    return _merge(heard) @ W_O, weights


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


@alternative("multi_head_attention")
def heads_with_a_root_in_single_precision(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    q, k, v = _heads(x, memory, W_Q, W_K, W_V, h)
    scores = torch.matmul(q, k.transpose(-2, -1)) / torch.sqrt(torch.tensor(q.shape[-1], dtype=torch.float32))
    if mask is not None:
        scores = scores.masked_fill(mask.unsqueeze(-3) == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return _merge(torch.matmul(weights, v)) @ W_O, weights


@alternative("multi_head_attention")
def heads_with_scores_in_single_precision(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    q, k, v = _heads(x, memory, W_Q, W_K, W_V, h)
    scores = (q.float() @ k.float().mT) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(-3), -torch.inf)
    weights = torch.softmax(scores, dim=-1).type_as(v)
    return _merge(weights @ v) @ W_O, weights


@alternative("multi_head_attention")
def heads_in_single_precision_and_back(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    kind = x.dtype
    x, memory, W_Q, W_K, W_V, W_O = (part.float() for part in (x, memory, W_Q, W_K, W_V, W_O))
    heard, weights = _attend(*_heads(x, memory, W_Q, W_K, W_V, h), _headed(mask))
    return (_merge(heard) @ W_O).to(kind), weights.to(kind)
