"""Lab 07, ``scaled_dot_product_attention``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.misconceptions.m07_self_attention.common import _attend, _swap
from autograder.testing import alternative, misconception


@misconception("scaled_dot_product_attention", title="softmax over the queries instead of the keys")
def softmax_over_queries(q, k, v, mask=None):
    """The columns of your weights sum to one, not the rows: the softmax runs over the queries. Each query hands out one
    unit of attention, so normalise over the keys, the last axis."""
    return _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, mask, axis=-2)


@misconception(
    "scaled_dot_product_attention",
    title="no division by √d_k",
    keeps="all is right but the scale, which d_k = 1 does not show",
)
def attention_without_scaling(q, k, v, mask=None):
    """Your scores are the plain dot products. Their variance grows with d_k, and the softmax gets too sharp; divide them
    by √d_k before the softmax."""
    return _attend(q @ _swap(k), v, mask)


@misconception(
    "scaled_dot_product_attention",
    title="division by d_k instead of its root",
    keeps="all is right but the scale, which d_k = 1 does not show",
)
def attention_scaled_by_d(q, k, v, mask=None):
    """Your weights are too even: the scores are divided by d_k. The variance of a dot product is d_k, so its standard
    deviation, the root, is what brings it back to 1."""
    return _attend(q @ _swap(k) / q.shape[-1], v, mask)


@misconception("scaled_dot_product_attention", title="scaled by the number of keys")
def attention_scaled_by_the_number_of_keys(q, k, v, mask=None):
    """Your scores are divided by the root of the number of keys. What makes a dot product large is the length of the
    vectors, d_k, the last axis of q and k."""
    return _attend(q @ _swap(k) / np.sqrt(k.shape[-2]), v, mask)


@misconception(
    "scaled_dot_product_attention",
    title="scaled by the size of the values",
    keeps="all is right but the scale, which d_k = d_v does not show",
)
def attention_scaled_by_the_values(q, k, v, mask=None):
    """Your scores are divided by the root of d_v, the size of the values. The dot product is between q and k: take the
    root of *their* size."""
    return _attend(q @ _swap(k) / np.sqrt(v.shape[-1]), v, mask)


@misconception("scaled_dot_product_attention", title="scaled after the softmax")
def attention_scaled_after_the_softmax(q, k, v, mask=None):
    """Your weights are divided by √d_k after the softmax, so that they no longer sum to one. Scale the scores before it."""
    _, weights = _attend(q @ _swap(k), v, mask)
    weights = weights / np.sqrt(q.shape[-1])
    return weights @ v, weights


@misconception(
    "scaled_dot_product_attention",
    title="a mask the wrong way round",
    keeps="right wherever there is no mask",
)
def attention_mask_inverted(q, k, v, mask=None):
    """Your function silences the keys that may be heard and hears those that may not. In this course True means “may
    attend”: fill with −∞ where the mask is False."""
    return _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, None if mask is None else ~mask)


@misconception(
    "scaled_dot_product_attention",
    title="masked scores set to 0 instead of −∞",
    keeps="right wherever there is no mask",
)
def attention_mask_multiplied(q, k, v, mask=None):
    """A masked key still gets weight: its score is multiplied by 0, and e⁰ is 1, not 0. Only a score of −∞ gives
    the weight 0."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else scores * mask, v, None)


@misconception(
    "scaled_dot_product_attention",
    title="the mask is added as 1 and 0",
    keeps="right wherever there is no mask",
)
def attention_mask_added(q, k, v, mask=None):
    """Your mask is added to the scores as 1 and 0, as one slide shows it. That makes the allowed keys a little louder, but
    silences nobody: the others need −∞."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else scores + mask, v, None)


@misconception(
    "scaled_dot_product_attention", title="masked after the softmax", keeps="right wherever there is no mask"
)
def attention_masked_after_the_softmax(q, k, v, mask=None):
    """Masked weights are 0 in your function, but the others do not sum to one any more: the softmax had already given a
    share to the masked keys. Mask the scores before the softmax."""
    _, weights = _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, None)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


@misconception(
    "scaled_dot_product_attention", title="the mask is ignored", keeps="right wherever there is no mask"
)
def attention_mask_ignored(q, k, v, mask=None):
    """Your function gives the same result with and without a mask. Use the argument: fill the scores with −∞ where
    it is False."""
    return _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, None)


@misconception(
    "scaled_dot_product_attention",
    title="a small negative number instead of −∞",
    keeps="right wherever there is no mask",
)
def attention_mask_with_minus_nine(q, k, v, mask=None):
    """Masked keys still whisper in your function: their scores are set to a small negative number. It must be −∞ (or so
    negative that its exponential is exactly 0)."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else np.where(mask, scores, -9.0), v, None)


@misconception(
    "scaled_dot_product_attention", title="a softmax that overflows", keeps="right but for large scores"
)
def attention_that_overflows(q, k, v, mask=None):
    """With scores in the thousands your weights become nan: the exponential overflows. Take the largest score of each row
    away first, or use the softmax of the lab, which does."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        return weights @ v, weights


@misconception(
    "scaled_dot_product_attention",
    title="−100 or so instead of −∞",
    keeps="wrong only where all the scores that count are far below 0",
)
def attention_mask_with_minus_a_hundred(q, k, v, mask=None):
    """Masked keys are silent until all the other scores are lower still: then the masked ones win. A score of −∞ is below every
    other one."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else np.where(mask, scores, -100.0), v, None)


@misconception(
    "scaled_dot_product_attention", title="the keys are changed in place", keeps="the values are right"
)
def attention_that_centres_the_keys(q, k, v, mask=None):
    """Your values are right, but you change `k`, the caller's array. In self-attention, where q, k and v may be one array, the result is
    wrong as well. Make a new array: `k = k - …`, not `k -= …`."""
    k -= k.mean(axis=-2, keepdims=True)
    return _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, mask)


@misconception(
    "scaled_dot_product_attention",
    title="axes counted from the front",
    keeps="right for a sentence and for a batch; only a batch with heads shows it",
)
def attention_for_one_leading_axis(q, k, v, mask=None):
    """A sentence works, a batch works, a batch with heads does not: with four axes k.T reverses all of them. Swap only the last
    two, however many come before: np.swapaxes(k, -1, -2)."""
    turned = np.transpose(k, (0, 2, 1)) if k.ndim == 3 else k.T
    return _attend(q @ turned / np.sqrt(q.shape[-1]), v, mask)


@misconception(
    "scaled_dot_product_attention",
    title="all axes of k are reversed in a batch",
    keeps="right for one sentence; only a batch shows it",
)
def attention_with_dot_t(q, k, v, mask=None):
    """One sentence works, a batch does not: k.T reverses all axes, the batch's too. Swap only the last two,
    with np.swapaxes(k, -1, -2)."""
    return _attend(q @ k.T / np.sqrt(q.shape[-1]), v, mask)


@misconception("scaled_dot_product_attention", title="weights and output in the other order")
def attention_results_swapped(q, k, v, mask=None):
    """Your two results are right but in the other order: the output comes first, the weights second."""
    output, weights = _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, mask)
    return weights, output


@misconception(
    "scaled_dot_product_attention",
    title="scaled by the second axis",
    keeps="right for one sentence; only a batch shows it",
)
def attention_scaled_by_the_second_axis(q, k, v, mask=None):
    """One sentence works, a batch does not: `q.shape[1]` is d_k for one sentence, but the number of queries where there is a batch.
    Count from the end: `q.shape[-1]`."""
    return _attend(q @ _swap(k) / np.sqrt(q.shape[1]), v, mask)


@misconception(
    "scaled_dot_product_attention",
    title="a mask is used as an index",
    keeps="right where the mask has the shape of the scores",
)
def attention_mask_as_an_index(q, k, v, mask=None):
    """`scores[~mask] = …` needs a mask of the very shape of the scores. A mask may be smaller, one row for all queries, say:
    `np.where(mask, scores, -np.inf)` stretches it."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores[~mask] = -np.inf
    return _attend(scores, v, None)


@misconception(
    "scaled_dot_product_attention",
    title="an axis for the heads is put into the mask",
    keeps="right but for heads with a mask of three axes",
)
def attention_mask_with_an_axis_for_heads(q, k, v, mask=None):
    """Your function gives a mask an axis for the heads. The mask is stretched as it is: with a batch of three heads one of shape (3, 1, T_k)
    has a row for each head. Whoever wants the same for all heads puts the axis in when they call."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores, v, mask[:, None] if scores.ndim == 4 and np.ndim(mask) == 3 else mask)


@misconception(
    "scaled_dot_product_attention",
    title="−10,000 or so instead of −∞",
    keeps="wrong only where all the scores that count are below that",
)
def attention_mask_with_minus_ten_thousand(q, k, v, mask=None):
    """Masked keys are silent until all the other scores are below your large negative number: then the masked ones win. A score of −∞ is
    below every other one."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else np.where(mask, scores, -1e4), v, None)


@misconception("scaled_dot_product_attention", title="rounded weights", keeps="right to three decimals")
def attention_with_rounded_weights(q, k, v, mask=None):
    """Your weights are rounded, so that they no longer sum to one, and what is made of them is off as well. Round where you print, not
    where you compute."""
    weights = _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, mask)[1].round(4)
    return weights @ v, weights


@misconception(
    "scaled_dot_product_attention",
    title="the largest score of the whole table",
    keeps="right but for a row far below another one",
)
def attention_with_one_maximum(q, k, v, mask=None):
    """You take away the largest score of the whole table. In a row whose scores are all far below it every exponential rounds to 0, and
    the weights are 0/0. Take away the largest of each row."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max())
    with np.errstate(invalid="ignore"):
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return weights @ v, weights


@misconception(
    "scaled_dot_product_attention",
    title="the exponentials are masked",
    keeps="right but where a masked score is far above the others",
)
def attention_that_masks_the_exponentials(q, k, v, mask=None):
    """You mask the exponentials, and they sum to one again. But the largest score, which you take away first, may be a masked one: then all
    others round to 0, and the weights are 0/0. Fill the scores with −∞ at the start."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    bells = np.exp(scores - scores.max(axis=-1, keepdims=True))
    bells = bells if mask is None else bells * mask
    with np.errstate(invalid="ignore"):
        weights = bells / bells.sum(axis=-1, keepdims=True)
        return weights @ v, weights


@misconception(
    "scaled_dot_product_attention",
    title="no division by √d_k where there is a mask",
    keeps="right wherever there is no mask",
)
def attention_unscaled_with_a_mask(q, k, v, mask=None):
    """Without a mask all is right; with one your scores are not divided by √d_k. Divide them first, whether or not a mask comes."""
    scores = q @ _swap(k)
    if mask is None:
        return _attend(scores / np.sqrt(q.shape[-1]), v, None)
    return _attend(scores, v, mask)


@misconception(
    "scaled_dot_product_attention",
    title="no division by √d_k in a batch",
    keeps="right for one sentence; only a batch shows it",
)
def attention_unscaled_in_a_batch(q, k, v, mask=None):
    """One sentence works; in a batch your scores are not divided by √d_k. d_k is `q.shape[-1]`, whatever comes before it."""
    scores = q @ _swap(k)
    return _attend(scores / np.sqrt(q.shape[1]) if q.ndim == 2 else scores, v, mask)


@misconception(
    "scaled_dot_product_attention",
    title="a mask of three axes at most",
    keeps="right but for masks of four axes",
)
def attention_mask_of_three_axes(q, k, v, mask=None):
    """A mask of four axes is too many for your function. With a batch and heads a mask may have a row for each sentence, or for each head
    of each sentence. `np.where(mask, scores, -np.inf)` stretches it, however many axes it has."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    if mask is not None:
        sentences, queries, keys = (1, *mask.shape) if mask.ndim == 2 else mask.shape
        stretched = np.broadcast_to(mask.reshape(sentences, queries, keys), (1, *scores.shape))
        scores = np.where(stretched[0], scores, -np.inf)
    return _attend(scores, v, None)


@alternative("scaled_dot_product_attention")
def attention_by_einsum_and_a_billion(q, k, v, mask=None):
    scores = np.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -1e9)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return np.einsum("...ij,...jd->...id", weights, v), weights


@alternative("scaled_dot_product_attention")
def attention_by_loops(q, k, v, mask=None):
    if q.ndim > 2:
        masks = [None] * len(q) if mask is None else np.broadcast_to(mask, (*q.shape[:-1], k.shape[-2]))
        results = [attention_by_loops(*one) for one in zip(q, k, v, masks, strict=True)]
        return [output for output, _ in results], [weights for _, weights in results]
    mask = np.broadcast_to(True if mask is None else mask, (len(q), len(k)))
    rows = []
    for i, query in enumerate(q):
        scores = {j: float(query @ k[j]) / math.sqrt(q.shape[1]) for j in range(len(k)) if mask[i, j]}
        bells = {j: math.exp(score - max(scores.values())) for j, score in scores.items()}
        rows.append([bells.get(j, 0.0) / sum(bells.values()) for j in range(len(k))])
    return (np.array(rows) @ v).tolist(), rows


@alternative("scaled_dot_product_attention")
def attention_in_torch_single_precision(q, k, v, mask=None):
    import torch

    q, k, v = (torch.tensor(np.ascontiguousarray(part), dtype=torch.float32) for part in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~torch.tensor(mask), -torch.inf)
    weights = scores.softmax(-1)
    return [weights @ v, weights]
