"""Lab 07, ``additive_attention``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m07_self_attention.common import _attend
from autograder.testing import alternative, misconception


def _hidden(q, k, W_q, W_k):
    return (q @ W_q)[..., :, None, :] + (k @ W_k)[..., None, :, :]


@misconception("additive_attention", title="no tanh")
def additive_without_tanh(q, k, v, W_q, W_k, w, mask=None):
    """Your hidden layer has no tanh. Without it the query's part is the same for every key, the softmax does not see it,
    and all queries listen to the same words."""
    return _attend(_hidden(q, k, W_q, W_k) @ w, v, mask)


@misconception("additive_attention", title="tanh of the score instead of the hidden layer")
def additive_tanh_outside(q, k, v, W_q, W_k, w, mask=None):
    """Your tanh comes after the product with w: the score is squeezed, not the hidden layer. First tanh, then w."""
    return _attend(np.tanh(_hidden(q, k, W_q, W_k) @ w), v, mask)


@misconception("additive_attention", title="query and key multiplied instead of added")
def additive_that_multiplies(q, k, v, W_q, W_k, w, mask=None):
    """Your projected queries and keys are multiplied with each other. In additive attention, as its name says, they are added."""
    return _attend(np.tanh((q @ W_q)[..., :, None, :] * (k @ W_k)[..., None, :, :]) @ w, v, mask)


@misconception("additive_attention", title="tanh of query and key apart", keeps="right where the query is 0")
def additive_tanh_before_the_sum(q, k, v, W_q, W_k, w, mask=None):
    """Your tanh is taken of query and key separately, and then they are added: the query's part drops out of the softmax
    again. Add first, then take the tanh of the sum."""
    return _attend((np.tanh(q @ W_q)[..., :, None, :] + np.tanh(k @ W_k)[..., None, :, :]) @ w, v, mask)


@misconception(
    "additive_attention",
    title="additive scores divided by a root",
    keeps="right for a hidden layer of size 1",
)
def additive_that_scales(q, k, v, W_q, W_k, w, mask=None):
    """Your scores are divided by the root of the hidden layer's size. The tanh keeps these scores small already; the division
    belongs to the dot product only."""
    return _attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w / np.sqrt(len(w)), v, mask)


@misconception("additive_attention", title="additive softmax over the queries")
def additive_softmax_over_queries(q, k, v, W_q, W_k, w, mask=None):
    """The columns of your weights sum to one, not the rows. Each query hands out one unit of attention: the softmax runs
    over the keys, the last axis."""
    return _attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w, v, mask, axis=-2)


@misconception(
    "additive_attention",
    title="the mask is ignored in additive attention",
    keeps="right wherever there is no mask",
)
def additive_mask_ignored(q, k, v, W_q, W_k, w, mask=None):
    """Your function gives the same result with and without a mask. Treat the scores as in question 2: −∞ where it is False."""
    return _attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w, v, None)


@misconception("additive_attention", title="−10 or so instead of −∞", keeps="right wherever there is no mask")
def additive_mask_with_minus_ten(q, k, v, W_q, W_k, w, mask=None):
    """Masked keys still whisper: their scores are set to a small negative number, and its exponential is small but not 0. Only a score
    of −∞ gives the weight 0."""
    scores = np.tanh(_hidden(q, k, W_q, W_k)) @ w
    return _attend(scores if mask is None else np.where(mask, scores, -10.0), v, None)


@misconception(
    "additive_attention",
    title="additive axes counted from the front",
    keeps="right for a sentence and for a batch; only a batch with heads shows it",
)
def additive_for_one_leading_axis(q, k, v, W_q, W_k, w, mask=None):
    """A sentence works, a batch works, a batch with heads does not: your axes are counted from the front. Count them from the end, as
    in x[..., :, None, :]."""
    alone = q.ndim == 2
    q, k, v = (part[None] if alone else part for part in (q, k, v))
    output, weights = _attend(np.tanh((q @ W_q)[:, :, None] + (k @ W_k)[:, None]) @ w, v, mask)
    return (output[0], weights[0]) if alone else (output, weights)


@misconception("additive_attention", title="ReLU instead of tanh")
def additive_with_relu(q, k, v, W_q, W_k, w, mask=None):
    """Your hidden layer uses a ReLU. That has no ceiling, so the scores grow with the inputs; additive attention uses tanh."""
    return _attend(np.maximum(_hidden(q, k, W_q, W_k), 0) @ w, v, mask)


@misconception(
    "additive_attention",
    title="additive weights masked after the softmax",
    keeps="right wherever there is no mask",
)
def additive_masked_after_the_softmax(q, k, v, W_q, W_k, w, mask=None):
    """Masked weights are 0 in your function, but the others do not sum to one any more. Mask the scores before the softmax, as in
    question 2."""
    _, weights = _attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w, v, None)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


@misconception(
    "additive_attention",
    title="a bound of the scores instead of −∞",
    keeps="right wherever there is no mask, and nearly so where w is large",
)
def additive_mask_with_a_bound(q, k, v, W_q, W_k, w, mask=None):
    """Your masked scores are a multiple of the bound Σ|w|. Where w is small that is not far below the others, and the masked keys are
    heard. Only a score of −∞ gives the weight 0."""
    scores = np.tanh(_hidden(q, k, W_q, W_k)) @ w
    return _attend(scores if mask is None else np.where(mask, scores, -10 * np.abs(w).sum()), v, None)


@misconception(
    "additive_attention", title="additive attention for a batch only", keeps="right for a batch of sentences"
)
def additive_for_a_batch_only(q, k, v, W_q, W_k, w, mask=None):
    """A batch works, a sentence alone and a batch with heads do not: your axes are counted from the front. Count them from the end, as
    in x[..., :, None, :]."""
    return _attend(np.tanh((q @ W_q)[:, :, None, :] + (k @ W_k)[:, None, :, :]) @ w, v, mask)


@misconception(
    "additive_attention", title="additive scores that overflow", keeps="right but where w is large"
)
def additive_that_overflows(q, k, v, W_q, W_k, w, mask=None):
    """Where w is large your weights become nan: the scores are bounded by Σ|w|, but that may be thousands, and the exponential
    overflows. Use the softmax of the lab."""
    scores = np.tanh(_hidden(q, k, W_q, W_k)) @ w
    with np.errstate(over="ignore", invalid="ignore"):
        bells = np.exp(scores) if mask is None else np.exp(scores) * mask
        weights = bells / bells.sum(axis=-1, keepdims=True)
        return weights @ v, weights


@misconception(
    "additive_attention", title="axes of length 1 are lost", keeps="right where no axis has length 1"
)
def additive_squeezed(q, k, v, W_q, W_k, w, mask=None):
    """A single query, a batch of one or a hidden layer of size 1 goes wrong: `np.squeeze` takes away every axis of length 1. Say which
    axis you mean, or let a matrix product take it."""
    return _attend(np.squeeze(np.tanh(_hidden(q, k, W_q, W_k)) * w).sum(axis=-1), v, mask)


@misconception(
    "additive_attention",
    title="an additive mask for one leading axis",
    keeps="right wherever there is no mask, and for a batch with one",
)
def additive_mask_for_one_leading_axis(q, k, v, W_q, W_k, w, mask=None):
    """A mask works in a batch only: for a sentence alone and for a batch with heads it raises an error. `np.where(mask, scores, -np.inf)`
    stretches the mask to scores of any number of axes."""
    scores = np.tanh(_hidden(q, k, W_q, W_k)) @ w
    if mask is not None:
        B, T_q, T_k = scores.shape
        mask = np.broadcast_to(mask, (B, T_q, T_k))
    return _attend(scores, v, mask)


@alternative("additive_attention")
def additive_one_query_at_a_time(q, k, v, W_q, W_k, w, mask=None):
    keys = np.matmul(k, W_k)
    rows = [np.tanh(np.matmul(q[..., i : i + 1, :], W_q) + keys).dot(w) for i in range(q.shape[-2])]
    scores = np.stack(rows, axis=-2)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(float).min)
    bells = np.exp(scores - scores.max(-1)[..., None])
    weights = bells / bells.sum(-1)[..., None]
    return np.matmul(weights, v), weights


@alternative("additive_attention")
def additive_in_torch_single_precision(q, k, v, W_q, W_k, w, mask=None):
    import torch

    q, k, v, W_q, W_k, w = (torch.tensor(part, dtype=torch.float32) for part in (q, k, v, W_q, W_k, w))
    scores = torch.tanh((q @ W_q).unsqueeze(-2) + (k @ W_k).unsqueeze(-3)).matmul(w)
    if mask is not None:
        scores = scores.masked_fill(~torch.tensor(mask), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
