"""Lab 07, ``attention_backward``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.misconceptions.m07_self_attention.common import _softmax, _swap
from autograder.testing import alternative, misconception


def _backward(q, k, v, weights, d_output, scale=None):
    d_weights = d_output @ _swap(v)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_scores = d_scores / (np.sqrt(q.shape[-1]) if scale is None else scale)
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@misconception("attention_backward", title="the softmax has no gradient")
def backward_skips_the_softmax(q, k, v, weights, d_output):
    """Your gradient of the scores is the gradient of the weights: step 2, the softmax, is skipped."""
    d_scores = d_output @ _swap(v) / np.sqrt(q.shape[-1])
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@misconception("attention_backward", title="the weighted mean is not taken away")
def backward_without_the_mean(q, k, v, weights, d_output):
    """Your dS is A · dA. If one weight rises, the others of its row must fall: subtract the weighted mean of dA over the row
    first. Each row of dS should sum to 0."""
    d_scores = weights * (d_output @ _swap(v)) / np.sqrt(q.shape[-1])
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@misconception("attention_backward", title="only the diagonal of the softmax's derivative")
def backward_like_a_sigmoid(q, k, v, weights, d_output):
    """Your dS is A (1 − A) dA, as for a sigmoid. That is only the diagonal of the softmax's derivative: each weight also
    depends on all the other scores of its row."""
    d_scores = weights * (1 - weights) * (d_output @ _swap(v)) / np.sqrt(q.shape[-1])
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@misconception("attention_backward", title="a plain mean instead of the weighted one")
def backward_with_a_plain_mean(q, k, v, weights, d_output):
    """You subtract the plain mean of dA over the row. It must be the weighted mean, with the attention weights."""
    d_weights = d_output @ _swap(v)
    d_scores = weights * (d_weights - d_weights.mean(axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@misconception("attention_backward", title="the mean over the queries")
def backward_mean_over_queries(q, k, v, weights, d_output):
    """You sum over the queries where the sum runs over the keys: the softmax ran over the last axis, and so does the
    weighted mean."""
    d_weights = d_output @ _swap(v)
    d_scores = (
        weights * (d_weights - (weights * d_weights).sum(axis=-2, keepdims=True)) / np.sqrt(q.shape[-1])
    )
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@misconception(
    "attention_backward",
    title="√d_k is forgotten on the way back",
    keeps="d_v is right, and all is for d_k = 1",
)
def backward_without_scaling(q, k, v, weights, d_output):
    """Your gradients of q and k are too large by the factor √d_k: the scores were divided by it, so the gradient is, too."""
    return _backward(q, k, v, weights, d_output, scale=1.0)


@misconception(
    "attention_backward",
    title="√d_k only in one of the two gradients",
    keeps="two of three gradients are right",
)
def backward_scales_only_q(q, k, v, weights, d_output):
    """Your d_q is right, and your d_k is too large by √d_k. Both come from the same scores: divide dS once, before it is used twice."""
    d_q, d_k, d_v = _backward(q, k, v, weights, d_output)
    return d_q, d_k * np.sqrt(q.shape[-1]), d_v


@misconception("attention_backward", title="d_q and d_k exchanged")
def backward_exchanges_q_and_k(q, k, v, weights, d_output):
    """Your first two results are exchanged. The gradient of a query is made of keys, and the other way round."""
    d_q, d_k, d_v = _backward(q, k, v, weights, d_output)
    return d_k, d_q, d_v


@misconception("attention_backward", title="the gradient of the values without transposing")
def backward_values_not_transposed(q, k, v, weights, d_output):
    """Your d_v uses the weights as they are. A value is heard by all queries, so its gradient sums over the queries:
    transpose the weights."""
    d_q, d_k, _ = _backward(q, k, v, weights, d_output)
    return d_q, d_k, weights @ d_output


@misconception("attention_backward", title="gradients with the wrong sign")
def backward_with_the_wrong_sign(q, k, v, weights, d_output):
    """Your d_q and d_k have the wrong sign: the weighted mean is taken away from dA, not dA from the mean. Training would
    climb up the loss."""
    d_q, d_k, d_v = _backward(q, k, v, weights, d_output)
    return -d_q, -d_k, d_v


@misconception(
    "attention_backward", title="the weights are computed again", keeps="right wherever nothing is masked"
)
def backward_with_weights_of_its_own(q, k, v, weights, d_output):
    """You compute the weights again from q and k, and so forget the mask: use those that the forward pass returned."""
    return _backward(q, k, v, _softmax(q @ _swap(k) / np.sqrt(q.shape[-1])), d_output)


@misconception("attention_backward", title="the weights are changed in place", keeps="the values are right")
def backward_that_writes_over_the_weights(q, k, v, weights, d_output):
    """Your gradients are right, but you write over `weights`, which the caller still has. Make a new array: `dS = weights * …`, not
    `weights *= …`."""
    d_v = _swap(weights) @ d_output
    d_weights = d_output @ _swap(v)
    weights *= d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)
    root = np.sqrt(q.shape[-1])
    return weights @ k / root, _swap(weights) @ q / root, d_v


@misconception(
    "attention_backward",
    title="gradients for one leading axis",
    keeps="right for a sentence and for a batch; only a batch with heads shows it",
)
def backward_for_one_leading_axis(q, k, v, weights, d_output):
    """A sentence works, a batch works, a batch with heads does not: with four axes .T reverses all of them. Swap only the last two:
    np.swapaxes(x, -1, -2)."""

    def turned(a):
        return a.transpose(0, 2, 1) if a.ndim == 3 else a.T

    d_weights = d_output @ turned(v)
    d_scores = (
        weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    )
    return d_scores @ k, turned(d_scores) @ q, turned(weights) @ d_output


@misconception(
    "attention_backward",
    title="gradients scaled by the second axis",
    keeps="d_v is right, and all is for one sentence",
)
def backward_scaled_by_the_second_axis(q, k, v, weights, d_output):
    """One sentence works, a batch does not: `q.shape[1]` is d_k for one sentence, but the number of queries where there is a batch.
    Count from the end: `q.shape[-1]`."""
    return _backward(q, k, v, weights, d_output, scale=np.sqrt(q.shape[1]))


@misconception(
    "attention_backward",
    title="gradients cut to whole numbers",
    keeps="right where queries, keys and values are no whole numbers",
)
def backward_as_whole_as_the_inputs(q, k, v, weights, d_output):
    """Where queries, keys or values are whole numbers your gradients are cut: `np.zeros_like(q)` makes an array of whole numbers then.
    Give it `dtype=float`."""
    gradients = _backward(q, k, v, weights, d_output)
    return tuple(g.astype(part.dtype) for g, part in zip(gradients, (q, k, v), strict=True))


@misconception(
    "attention_backward",
    title="small weights get no gradient",
    keeps="right where no weight is small",
)
def backward_without_small_weights(q, k, v, weights, d_output):
    """You take keys with a small weight for masked ones and give them no gradient. A masked key has the weight 0, which makes its gradient
    0 by itself; a small weight has a gradient."""
    d_weights = d_output @ _swap(v)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_scores = np.where(weights > 1e-3, d_scores, 0) / np.sqrt(q.shape[-1])
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@alternative("attention_backward")
def backward_with_a_layer_of_its_own(q, k, v, weights, d_output):
    class SoftmaxLayer:
        def __init__(self, weights):
            self.weights = weights

        def backward(self, d_weights):
            return self.weights * (d_weights - np.sum(self.weights * d_weights, axis=-1, keepdims=True))

    d_scores = SoftmaxLayer(weights).backward(d_output @ _swap(v)) / np.sqrt(q.shape[-1])
    return d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output


@alternative("attention_backward")
def backward_with_the_full_jacobian(q, k, v, weights, d_output):
    jacobian = np.einsum("...j,jm->...jm", weights, np.eye(weights.shape[-1])) - np.einsum(
        "...j,...m->...jm", weights, weights
    )
    d_weights = np.einsum("...id,...jd->...ij", d_output, v)
    d_scores = np.einsum("...jm,...j->...m", jacobian, d_weights) * q.shape[-1] ** -0.5
    return (
        np.einsum("...ij,...jd->...id", d_scores, k),
        np.einsum("...ij,...id->...jd", d_scores, q),
        np.einsum("...ij,...id->...jd", weights, d_output),
    )


@alternative("attention_backward")
def backward_by_the_output(q, k, v, weights, d_output):
    # The weighted mean of dA over a row is the product of the output with its gradient.
    mean = ((weights @ v) * d_output).sum(-1)[..., None]
    d_scores = weights * (np.matmul(d_output, _swap(v)) - mean) / math.sqrt(k.shape[-1])
    return [d_scores @ k, _swap(d_scores) @ q, _swap(weights) @ d_output]


@alternative("attention_backward")
def backward_in_torch_single_precision(q, k, v, weights, d_output):
    import torch

    q, k, v, a, g = (
        torch.tensor(np.ascontiguousarray(p), dtype=torch.float32) for p in (q, k, v, weights, d_output)
    )
    d_a = g @ v.mT
    d_s = a * (d_a - (a * d_a).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
    return d_s @ k, d_s.mT @ q, a.mT @ g


@alternative("attention_backward")
def backward_in_single_precision_and_back(q, k, v, weights, d_output):
    q, k, v, a, g = (np.asarray(part, dtype=np.float32) for part in (q, k, v, weights, d_output))
    d_a = g @ _swap(v)
    d_s = a * (d_a - (a * d_a).sum(-1, keepdims=True)) / np.float32(np.sqrt(q.shape[-1]))
    return tuple(part.astype(float) for part in (d_s @ k, _swap(d_s) @ q, _swap(a) @ g))


@alternative("attention_backward")
def backward_by_the_output_in_single_precision(q, k, v, weights, d_output):
    q, k, v, a, g = (np.asarray(part, dtype=np.float32) for part in (q, k, v, weights, d_output))
    d_s = a * (g @ _swap(v) - ((a @ v) * g).sum(-1, keepdims=True)) / np.float32(math.sqrt(q.shape[-1]))
    return [part.astype(float) for part in (d_s @ k, _swap(d_s) @ q, _swap(a) @ g)]
