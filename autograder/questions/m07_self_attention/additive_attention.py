"""Lab 07, additive_attention: q, k, v as in question 2, W_q (d_q, d_a), W_k (d_k, d_a), w (d_a,) → output, weights."""

import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m07_self_attention.common import attend, attention_by, some_mask


def additive(q, k, v, W_q, W_k, w, mask=None):
    def score(query, key):
        hidden = [math.tanh(float(query @ W_q[:, a] + key @ W_k[:, a])) for a in range(len(w))]
        return math.fsum(h * float(weight) for h, weight in zip(hidden, w, strict=True))

    return attention_by(score, q, k, v, mask)


TAKES_SCORES = """
def scaled_dot_product_attention(q, k, v, mask=None, scores=None):
    if q is not None:  # else somebody's own function takes scores as a fifth argument, ready-made
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return weights @ v, weights
"""

question = Question(
    additive, uses=("scaled_dot_product_attention", "causal_mask", "padding_mask"), earlier=TAKES_SCORES
)


def drawn(rng, lead, tq, tk, d_q=4, d_k=3):
    return tuple(rng.normal(size=(*lead, *size)) for size in ((tq, d_q), (tk, d_k), (tk, 2)))


def layer(rng, d_a, d_q=4, d_k=3):
    return rng.normal(size=(d_q, d_a)), rng.normal(size=(d_k, d_a)), rng.normal(size=d_a)


def alike(rng, lead, T):
    """Queries that are all the same, keys that are all the same, and any values."""
    q, k = (np.repeat(rng.normal(size=(*lead, 1, size)), T, axis=-2) for size in (4, 3))
    return q, k, rng.normal(size=(*lead, T, 2))


@question.family(
    "The case by hand, 0.179 and 0.821; queries, keys, values and hidden layer of different sizes.",
    weight=1.5,
)
def sizes_differ(rng):
    one, keys = np.ones((1, 1)), np.array([[0.0], [1]])
    yield Case(np.zeros((1, 1)), keys, keys, one, one, np.array([2.0]), gives=([[0.821]], [[0.179, 0.821]]))
    yield *drawn(rng, (), 4, 6, 3, 5), *layer(rng, 7, 3, 5)


@question.family("Queries and keys that are all the same: each listens to all alike.", weight=2)
def alike_words(rng):
    for lead, T in (((), 4), ((3,), 3)):
        yield *alike(rng, lead, T), *layer(rng, 5)


@question.family("Words that are all alike, of two texts in one row: a mask lets each hear its own.")
def two_texts(rng):
    text = np.arange(5) < 2
    yield *alike(rng, (2,), 5), *layer(rng, 6), text[:, None] == text


@question.family("Batches, heads and sequences of length one.")
def batches_and_heads(rng):
    for lead, tq, tk in (((3,), 2, 4), ((2, 3), 1, 5), ((2,), 3, 1)):
        yield *drawn(rng, lead, tq, tk), *layer(rng, 5)


@question.family("Queries of zeros and a hidden layer of size 1, with masks of every shape.", weight=2)
def a_hidden_layer_of_one(rng):
    q, k, v = np.zeros((3, 2, 4)), rng.normal(size=(3, 5, 3)), rng.normal(size=(3, 5, 2))
    # The weights are small, and with them all scores: none of them is near −∞.
    W_q, W_k, w = rng.normal(size=(4, 1)), rng.normal(size=(3, 1)), rng.uniform(0.1, 0.2, 1)
    for shape in ((2, 5), (3, 2, 5), (3, 1, 5)):
        yield q, k, v, W_q, W_k, w, some_mask(rng, *shape)


@question.family("A sentence, a batch and a batch with heads, with masks that fit.", weight=0.5)
def masks(rng):
    weights = layer(rng, 6)
    for lead, shapes in (
        ((), ((2, 5), (1, 5))),
        ((3,), ((2, 5), (3, 2, 5), (3, 1, 5))),
        ((2, 3), ((2, 5), (3, 1, 5), (2, 1, 1, 5), (2, 3, 2, 5))),
    ):
        q, k, v = drawn(rng, lead, 2, 5)
        for shape in shapes:
            yield q, k, v, *weights, some_mask(rng, *shape)


@question.family(
    "Large scores do not overflow, and long vectors reach the ceiling of the tanh.", rtol=1e-3, atol=1e-3
)
def large_numbers(rng):
    q, k, v = 300 * rng.normal(size=(3, 4)), 300 * rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    yield q, k, v, rng.normal(size=(4, 3)), rng.normal(size=(2, 3)), np.array([1.5, -900.0, 0.7])


def _hidden(q, k, W_q, W_k):
    return (q @ W_q)[..., :, None, :] + (k @ W_k)[..., None, :, :]


@question.misconception("no tanh", costs=2.5)
def additive_without_tanh(q, k, v, W_q, W_k, w, mask=None):
    """Your hidden layer has no tanh. Without it the query's part is the same for every key, the softmax does not see it,
    and all queries listen to the same words."""
    return attend(_hidden(q, k, W_q, W_k) @ w, v, mask)


@question.misconception("tanh of the score instead of the hidden layer", costs=2.5)
def additive_tanh_outside(q, k, v, W_q, W_k, w, mask=None):
    """Your tanh comes after the product with w: the score is squeezed, not the hidden layer. First tanh, then w."""
    return attend(np.tanh(_hidden(q, k, W_q, W_k) @ w), v, mask)


@question.misconception("query and key multiplied instead of added", costs=2.5)
def additive_that_multiplies(q, k, v, W_q, W_k, w, mask=None):
    """Your projected queries and keys are multiplied with each other. In additive attention, as its name says, they are added."""
    return attend(np.tanh((q @ W_q)[..., :, None, :] * (k @ W_k)[..., None, :, :]) @ w, v, mask)


@question.misconception("additive scores divided by a root", costs=1)
def additive_that_scales(q, k, v, W_q, W_k, w, mask=None):
    """Your scores are divided by the root of the hidden layer's size. The tanh keeps these scores small already; the division
    belongs to the dot product only."""
    return attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w / np.sqrt(len(w)), v, mask)


@question.misconception("additive softmax over the queries", costs=2)
def additive_softmax_over_queries(q, k, v, W_q, W_k, w, mask=None):
    """The columns of your weights sum to one, not the rows. Each query hands out one unit of attention: the softmax runs
    over the keys, the last axis."""
    return attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w, v, mask, axis=-2)


@question.misconception("the mask is ignored in additive attention", costs=1.5)
def additive_mask_ignored(q, k, v, W_q, W_k, w, mask=None):
    """Your function gives the same result with and without a mask. Treat the scores as in question 2: −∞ where it is False."""
    return attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w, v, None)


@question.misconception("−10 or so instead of −∞", costs=1)
def additive_mask_with_minus_ten(q, k, v, W_q, W_k, w, mask=None):
    """Masked keys still whisper: their scores are set to a small negative number, and its exponential is small but not 0. Only a score
    of −∞ gives the weight 0."""
    scores = np.tanh(_hidden(q, k, W_q, W_k)) @ w
    return attend(scores if mask is None else np.where(mask, scores, -10.0), v, None)


@question.misconception("additive attention for a batch only", costs=1.5, because="right for a batch")
def additive_for_a_batch_only(q, k, v, W_q, W_k, w, mask=None):
    """A batch works, a sentence alone and a batch with heads do not: your axes are counted from the front. Count them from the end, as
    in x[..., :, None, :]."""
    return attend(np.tanh((q @ W_q)[:, :, None, :] + (k @ W_k)[:, None, :, :]) @ w, v, mask)


@question.alternative
def additive_one_query_at_a_time(q, k, v, W_q, W_k, w, mask=None):
    keys = np.matmul(k, W_k)
    rows = [np.tanh(np.matmul(q[..., i : i + 1, :], W_q) + keys).dot(w) for i in range(q.shape[-2])]
    scores = np.stack(rows, axis=-2)
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(float).min)
    bells = np.exp(scores - scores.max(-1)[..., None])
    weights = bells / bells.sum(-1)[..., None]
    return np.matmul(weights, v), weights
