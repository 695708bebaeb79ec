"""Lab 07, attention_backward: q, k, v, the forward pass's weights, d_output → the gradients d_q, d_k, d_v."""

import math

import numpy as np
from coursekit.checks.forbidden_calls import AUTOMATIC_GRADIENTS

from autograder.questions.engine import Case, Question
from autograder.questions.m07_self_attention.common import softmax, swap


def gradients(q, k, v, weights, d_output):
    """One query and one key at a time: what each score's gradient is, and what it adds to query, key and value."""
    d_q, d_k, d_v = (np.zeros(part.shape) for part in (q, k, v))
    for place in np.ndindex(weights.shape[:-1]):
        lead, row = place[:-1], weights[place]
        d_row = [float(d_output[place] @ value) for value in v[lead]]
        mean = math.fsum(a * d for a, d in zip(row, d_row, strict=True))
        for j, (a, d) in enumerate(zip(row, d_row, strict=True)):
            d_score = a * (d - mean) / math.sqrt(q.shape[-1])
            d_q[place] += d_score * k[(*lead, j)]
            d_k[(*lead, j)] += d_score * q[place]
            d_v[(*lead, j)] += a * d_output[place]
    return d_q, d_k, d_v


question = Question(
    gradients,
    uses=("scaled_dot_product_attention", "causal_mask", "padding_mask"),
    forbidden=AUTOMATIC_GRADIENTS,
)


def drawn(rng, lead, tq, tk, d_k, d_v):
    """Queries, keys, values and the output's gradient, of entries that are not large, so that no weight is very small."""
    sizes = (tq, d_k), (tk, d_k), (tk, d_v), (tq, d_v)
    return tuple(rng.uniform(-1.5, 1.5, (*lead, *size)) for size in sizes)


def with_weights(q, k, v, d_output, mask=True):
    """The arguments: the weights in their place, as a forward pass with this mask gives them."""
    scores = np.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])
    return q, k, v, softmax(np.where(mask, scores, -np.inf)), d_output


def sentence_and_batch(rng):
    yield with_weights(*drawn(rng, (), 4, 3, 2, 5))
    yield with_weights(*drawn(rng, (2,), 3, 4, 3, 1))


@question.family("d_v of a sentence and of a batch, of different sizes.", weight=3, only=2)
def of_the_values(rng):
    yield from sentence_and_batch(rng)


@question.family("d_q of a sentence and of a batch.", weight=2, only=0)
def of_the_queries(rng):
    yield from sentence_and_batch(rng)


@question.family("d_k of a sentence and of a batch.", weight=2, only=1)
def of_the_keys(rng):
    yield from sentence_and_batch(rng)


@question.family(
    "The values balance out, so that the output is 0: queries and keys still have gradients.",
    weight=2.5,
    atol=1e-5,
)
def values_that_balance_out(rng):
    q, k = np.repeat(rng.uniform(-1.5, 1.5, (1, 1)), 4, axis=0), rng.uniform(-1.5, 1.5, (5, 1))
    v, d_output = rng.uniform(-1.5, 1.5, (5, 3)), rng.uniform(-1.5, 1.5, (4, 3))
    d_output -= d_output.mean(axis=0)  # so that nothing is left of a sum over the queries either
    _, _, _, weights, _ = with_weights(q, k, v, d_output)
    yield q, k, v - weights[0] @ v, weights, d_output


@question.family("All values are equal: only they have a gradient.", weight=0.5, atol=1e-5)
def equal_values(rng):
    for T_q, T_k in ((4, 5), (3, 2)):
        weights = np.full((T_q, T_k), 1 / T_k)
        q, k, v = rng.normal(size=(T_q, 3)), np.zeros((T_k, 3)), np.ones((T_k, 2))
        yield q, k, v, weights, rng.normal(size=(T_q, 2))


@question.family("Batches, heads, sequences of length one, and a mask for all sentences.")
def batches_and_heads(rng):
    for lead, tq, tk, d_k, d_v in (
        ((3,), 2, 3, 4, 2),
        ((2, 3), 3, 2, 2, 1),
        ((2,), 1, 4, 3, 1),
        ((2,), 3, 1, 2, 2),
    ):
        yield with_weights(*drawn(rng, lead, tq, tk, d_k, d_v))
    for lead in ((), (2,), (2, 3)):  # as many queries as keys; each hears itself and what came before
        yield with_weights(*drawn(rng, lead, 3, 3, 2, 2), np.tri(3, dtype=bool))


@question.family("The row of the text; with a mask, gradients flow only to what was heard.", weight=2)
def masked_keys(rng):
    q, k, v = np.array([[2.0]]), np.array([[1.0], [3.0]]), np.array([[1.0], [0.0]])
    gives = [[-0.5]], [[0.5], [-0.5]], [[0.5], [0.5]]
    yield Case(q, k, v, np.array([[0.5, 0.5]]), np.array([[1.0]]), gives=gives)
    mask = np.tril(np.ones((6, 6), dtype=bool)) & (np.arange(6) != 4)
    mask[4, 4] = False
    yield with_weights(*drawn(rng, (), 6, 6, 1, 2), mask)


@question.family("Weights that are nearly all on one key, and whole numbers.", atol=1e-4)
def sharp_weights_and_whole_numbers(rng):
    q, k, v = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    yield with_weights(12 * q, k, v, rng.normal(size=(5, 2)))
    yield with_weights(*(rng.integers(-3, 4, size) for size in ((3, 2), (4, 2), (4, 5), (3, 5))))


def _backward(q, k, v, weights, d_output, scale=None):
    d_weights = d_output @ swap(v)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_scores = d_scores / (np.sqrt(q.shape[-1]) if scale is None else scale)
    return d_scores @ k, swap(d_scores) @ q, swap(weights) @ d_output


@question.misconception("the softmax has no gradient", costs=3)
def backward_skips_the_softmax(q, k, v, weights, d_output):
    """Your gradient of the scores is the gradient of the weights: step 2, the softmax, is skipped."""
    d_scores = d_output @ swap(v) / np.sqrt(q.shape[-1])
    return d_scores @ k, swap(d_scores) @ q, swap(weights) @ d_output


@question.misconception("the weighted mean is not taken away", costs=2)
def backward_without_the_mean(q, k, v, weights, d_output):
    """Your dS is A · dA. If one weight rises, the others of its row must fall: subtract the weighted mean of dA over the row
    first. Each row of dS should sum to 0."""
    d_scores = weights * (d_output @ swap(v)) / np.sqrt(q.shape[-1])
    return d_scores @ k, swap(d_scores) @ q, swap(weights) @ d_output


@question.misconception("only the diagonal of the softmax's derivative", costs=3)
def backward_like_a_sigmoid(q, k, v, weights, d_output):
    """Your dS is A (1 − A) dA, as for a sigmoid. That is only the diagonal of the softmax's derivative: each weight also
    depends on all the other scores of its row."""
    d_scores = weights * (1 - weights) * (d_output @ swap(v)) / np.sqrt(q.shape[-1])
    return d_scores @ k, swap(d_scores) @ q, swap(weights) @ d_output


@question.misconception("√d_k is forgotten on the way back", costs=1.5)
def backward_without_scaling(q, k, v, weights, d_output):
    """Your gradients of q and k are too large by the factor √d_k: the scores were divided by it, so the gradient is, too."""
    return _backward(q, k, v, weights, d_output, scale=1.0)


@question.misconception("√d_k only in one of the two gradients", costs=1)
def backward_scales_only_q(q, k, v, weights, d_output):
    """Your d_q is right, and your d_k is too large by √d_k. Both come from the same scores: divide dS once, before it is used twice."""
    d_q, d_k, d_v = _backward(q, k, v, weights, d_output)
    return d_q, d_k * np.sqrt(q.shape[-1]), d_v


@question.misconception("d_q and d_k exchanged", costs=2.5)
def backward_exchanges_q_and_k(q, k, v, weights, d_output):
    """Your first two results are exchanged. The gradient of a query is made of keys, and the other way round."""
    d_q, d_k, d_v = _backward(q, k, v, weights, d_output)
    return d_k, d_q, d_v


@question.misconception("the gradient of the values without transposing", costs=3)
def backward_values_not_transposed(q, k, v, weights, d_output):
    """Your d_v uses the weights as they are. A value is heard by all queries, so its gradient sums over the queries:
    transpose the weights."""
    d_q, d_k, _ = _backward(q, k, v, weights, d_output)
    return d_q, d_k, weights @ d_output


@question.misconception("gradients with the wrong sign", costs=3)
def backward_with_the_wrong_sign(q, k, v, weights, d_output):
    """Your d_q and d_k have the wrong sign: the weighted mean is taken away from dA, not dA from the mean. Training would
    climb up the loss."""
    d_q, d_k, d_v = _backward(q, k, v, weights, d_output)
    return -d_q, -d_k, d_v


@question.alternative
def backward_with_a_layer_of_its_own(q, k, v, weights, d_output):
    class SoftmaxLayer:
        def __init__(self, weights):
            self.weights = weights

        def backward(self, d_weights):
            return self.weights * (d_weights - np.sum(self.weights * d_weights, axis=-1, keepdims=True))

    d_scores = SoftmaxLayer(weights).backward(d_output @ swap(v)) / np.sqrt(q.shape[-1])
    return d_scores @ k, swap(d_scores) @ q, swap(weights) @ d_output


@question.alternative
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


@question.alternative
def backward_by_the_output(q, k, v, weights, d_output):
    # The weighted mean of dA over a row is the product of the output with its gradient.
    mean = ((weights @ v) * d_output).sum(-1)[..., None]
    d_scores = weights * (np.matmul(d_output, swap(v)) - mean) / math.sqrt(k.shape[-1])
    return [d_scores @ k, swap(d_scores) @ q, swap(weights) @ d_output]
