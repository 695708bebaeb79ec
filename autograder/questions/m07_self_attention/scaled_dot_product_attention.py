"""Lab 07, scaled_dot_product_attention: q (…, Tq, d_k), k (…, Tk, d_k), v (…, Tk, d_v) → output, weights."""

import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m07_self_attention.common import attend, attention_by, some_mask, swap


def dot_product_score(query, key):
    return float(sum(float(a) * float(b) for a, b in zip(query, key, strict=True))) / math.sqrt(len(query))


def attention(q, k, v, mask=None):
    return attention_by(dot_product_score, q, k, v, mask)


question = Question(
    attention, forbidden=("torch.nn.functional.scaled_dot_product_attention", "torch.nn.MultiheadAttention")
)

KEYS = np.array(
    [[1.0, 0, 0, 1, 1, 0, 1, 0, 1, 0], [0.0, 1, 0, 0, 1, 0, 1, 0, 0, 1], [0.0, 0, 1, 0, 0, 1, 0, 1, 0, 1]]
)
QUERIES = np.array([[0.0, 0, 1, 0, 0, 1, 0, 1, 0, 1], [0.0, 0, 1, 0, 0, 1, 1, 0, 0, 0]])
MINUTES = np.array([[117.0], [121.0], [194.0]])
FILM_WEIGHTS = [[0.169, 0.232, 0.599], [0.297, 0.297, 0.407]]
#: Single precision knows a score of 1000 to four decimals.
SINGLE = {"rtol": 1e-3, "atol": 1e-3}


def drawn(rng, lead, tq, tk, d_k=1, d_v=1):
    return tuple(rng.normal(size=(*lead, *size)) for size in ((tq, d_k), (tk, d_k), (tk, d_v)))


def alike(rng, lead, T, d_k, d_v):
    """Queries that are all the same, keys that are all the same, and any values."""
    q, k = (np.repeat(rng.normal(size=(*lead, 1, d_k)), T, axis=-2) for _ in range(2))
    return q, k, rng.normal(size=(*lead, T, d_v))


@question.family("The film night: 0.17, 0.23 and 0.60 for the first query, 164 minutes; and another one.")
def film_night(rng):
    yield Case(QUERIES, KEYS, MINUTES, gives=([[164.049], [149.515]], FILM_WEIGHTS))
    yield rng.permuted(QUERIES, axis=1), KEYS, rng.integers(90, 200, (3, 1)).astype(float)
    yield drawn(rng, (), 5, 4, 7, 3)
    X = rng.normal(size=(6, 2))
    yield X, X.copy(), X.copy()


@question.family("Queries and keys that are all the same: each listens to all alike.", weight=3.5)
def alike_words(rng):
    for lead, T, d_k, d_v in (((), 4, 3, 2), ((3,), 5, 2, 4), ((2, 2), 2, 4, 1)):
        yield alike(rng, lead, T, d_k, d_v)


@question.family(
    "Words that are all alike, of two texts in one row: a mask lets each hear its own.", weight=3
)
def two_texts(rng):
    for lead, first, second in (((), 2, 4), ((3,), 5, 1)):
        text = np.arange(first + second) < first
        yield *alike(rng, lead, first + second, 3, 2), text[:, None] == text


@question.family("A batch, a batch with heads, and sequences of length one.", weight=1.5)
def batches_and_heads(rng):
    for lead, tq, tk in (((3,), 5, 4), ((2, 3), 1, 5), ((2, 3), 4, 3), ((2,), 3, 1)):
        yield drawn(rng, lead, tq, tk)


@question.family(
    "Masks for each sentence, for all, with one row for all queries, and for each head.", weight=3
)
def masks(rng):
    q, k, v = drawn(rng, (3,), 4, 5)
    for shape in ((4, 5), (3, 4, 5), (3, 1, 5)):
        yield q, k, v, some_mask(rng, *shape)
    q, k, v = (np.stack([part, part[::-1]]) for part in (q, k, v))
    yield q, k, v, some_mask(rng, 3, 1, 5)


@question.family(
    "Long vectors, in a sentence, a batch and a batch with heads, with masks that fit.", weight=0.5
)
def long_vectors(rng):
    for lead, shapes in (
        ((), ((2, 3), (1, 3))),
        ((3,), ((2, 3), (3, 1, 3), (3, 2, 3))),
        ((2, 3), ((2, 3), (3, 1, 3), (2, 1, 1, 3), (2, 1, 2, 3), (2, 3, 2, 3))),
    ):
        q, k, v = (rng.uniform(-1.5, 1.5, (*lead, *size)) for size in ((2, 6), (3, 6), (3, 2)))
        yield q, k, v
        for shape in shapes:
            yield q, k, v, some_mask(rng, *shape)


@question.family(
    "What a masked position holds makes no difference, however loud it is.", weight=1.5, **SINGLE
)
def masked_is_silent(rng):
    q, k, v = rng.uniform(1, 2, size=(3, 1)), rng.normal(size=(5, 1)), rng.normal(size=(5, 1))
    mask = np.array([True, True, False, True, False])
    loud_k, loud_v = k.copy(), v.copy()
    loud_k[[2, 4]] = 1000 * q[1]
    loud_v[[2, 4]] = 1e6
    yield q, loud_k, loud_v, np.tile(mask, (3, 1))
    yield q, k - 900, v, np.tile(mask, (3, 1))  # every score that counts is below −800
    yield np.array([[1.0], [2.0]]), np.full((5, 1), -3e6), v, np.tile(mask, (2, 1))


@question.family("Scores in the thousands give weights, not nan.", weight=2, **SINGLE)
def large_scores(rng):
    q, k, v = drawn(rng, (), 4, 6)
    yield rng.uniform(1, 2, size=(4, 1)), k + 900, v
    yield 3000 * q, k, v


@question.family("Places as clocks: order 104 gives e1 when it is cold, and a blend when it is warm.")
def orders(rng):
    angle = np.outer(np.arange(100, 111), [1, 0.5, 0.25, 0.125])
    keys = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    places = rng.choice(11, 2, replace=False)
    for tau in (1.0, 0.1, 1e-3):
        yield keys[places] / tau, keys, np.eye(11)


@question.family("The spread of the scores does not grow with their size.", weight=0.5)
def spread(rng):
    for d_k in (4, 400):
        yield rng.normal(size=(2, d_k)), rng.normal(size=(4, d_k)), np.ones((4, 1))


def scaled(q, k):
    return q @ swap(k) / np.sqrt(q.shape[-1])


@question.misconception("softmax over the queries instead of the keys", costs=3)
def softmax_over_queries(q, k, v, mask=None):
    """The columns of your weights sum to one, not the rows: the softmax runs over the queries. Each query hands out one
    unit of attention, so normalise over the keys, the last axis."""
    return attend(scaled(q, k), v, mask, axis=-2)


@question.misconception("no division by √d_k", costs=1)
def attention_without_scaling(q, k, v, mask=None):
    """Your scores are the plain dot products. Their variance grows with d_k, and the softmax gets too sharp; divide them
    by √d_k before the softmax."""
    return attend(q @ swap(k), v, mask)


@question.misconception("division by d_k instead of its root", costs=1)
def attention_scaled_by_d(q, k, v, mask=None):
    """Your weights are too even: the scores are divided by d_k. The variance of a dot product is d_k, so its standard
    deviation, the root, is what brings it back to 1."""
    return attend(q @ swap(k) / q.shape[-1], v, mask)


@question.misconception("a mask the wrong way round", costs=2)
def attention_mask_inverted(q, k, v, mask=None):
    """Your function silences the keys that may be heard and hears those that may not. In this course True means “may
    attend”: fill with −∞ where the mask is False."""
    return attend(scaled(q, k), v, None if mask is None else ~mask)


@question.misconception("masked scores set to 0 instead of −∞", costs=2)
def attention_mask_multiplied(q, k, v, mask=None):
    """A masked key still gets weight: its score is multiplied by 0, and e⁰ is 1, not 0. Only a score of −∞ gives
    the weight 0."""
    return attend(scaled(q, k) * (1 if mask is None else mask), v, None)


@question.misconception("the mask is added as 1 and 0", costs=2)
def attention_mask_added(q, k, v, mask=None):
    """Your mask is added to the scores as 1 and 0, as one slide shows it. That makes the allowed keys a little louder, but
    silences nobody: the others need −∞."""
    return attend(scaled(q, k) + (0 if mask is None else mask), v, None)


@question.misconception("masked after the softmax", costs=2)
def attention_masked_after_the_softmax(q, k, v, mask=None):
    """Masked weights are 0 in your function, but the others do not sum to one any more: the softmax had already given a
    share to the masked keys. Mask the scores before the softmax."""
    _, weights = attend(scaled(q, k), v, None)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


@question.misconception("the mask is ignored", costs=2)
def attention_mask_ignored(q, k, v, mask=None):
    """Your function gives the same result with and without a mask. Use the argument: fill the scores with −∞ where
    it is False."""
    return attend(scaled(q, k), v, None)


@question.misconception(
    "a small negative number instead of −∞",
    costs=2,
    fill=-9.0,
    hint="""Masked keys still whisper in your function: their scores are set to a small negative number. It must be −∞ (or so
    negative that its exponential is exactly 0).""",
)
@question.misconception("−10,000 or so instead of −∞", costs=0.5, fill=-1e4)
def attention_masked_by_a_number(q, k, v, mask=None, *, fill):
    """Masked keys are silent until all the other scores are lower than your negative number: then the masked ones win. A score
    of −∞ is below every other one."""
    scores = scaled(q, k)
    return attend(scores if mask is None else np.where(mask, scores, fill), v, None)


@question.misconception("a softmax that overflows", costs=1)
def attention_that_overflows(q, k, v, mask=None):
    """With scores in the thousands your weights become nan: the exponential overflows. Take the largest score of each row
    away first, or use the softmax of the lab, which does."""
    scores = scaled(q, k)
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        return weights @ v, weights


@question.misconception("axes counted from the front", costs=1, because="only a batch with heads shows it")
def attention_for_one_leading_axis(q, k, v, mask=None):
    """A sentence works, a batch works, a batch with heads does not: with four axes k.T reverses all of them. Swap only the last
    two, however many come before: np.swapaxes(k, -1, -2)."""
    turned = np.transpose(k, (0, 2, 1)) if k.ndim == 3 else k.T
    return attend(q @ turned / np.sqrt(q.shape[-1]), v, mask)


@question.misconception("all axes of k are reversed in a batch", costs=3)
def attention_with_dot_t(q, k, v, mask=None):
    """One sentence works, a batch does not: k.T reverses all axes, the batch's too. Swap only the last two,
    with np.swapaxes(k, -1, -2)."""
    return attend(q @ k.T / np.sqrt(q.shape[-1]), v, mask)


@question.misconception("weights and output in the other order", costs=4)
def attention_results_swapped(q, k, v, mask=None):
    """Your two results are right but in the other order: the output comes first, the weights second."""
    output, weights = attend(scaled(q, k), v, mask)
    return weights, output


@question.alternative
def attention_by_einsum_and_a_billion(q, k, v, mask=None):
    scores = np.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -1e9)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return np.einsum("...ij,...jd->...id", weights, v), weights


@question.alternative
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


@question.impostor
def divides_by_the_number_of_keys(right, q, k, v, mask=None):
    """It divides by the root of the number of keys, not of their size.
    One survives: that root changes nothing in your input. Are there as many keys as a key has entries? Or are all
    scores so large that each query hears one key only, whatever they are divided by?"""
    return right(q * np.sqrt(q.shape[-1] / k.shape[-2]), k, v, mask)


@question.impostor
def divides_by_the_size_of_the_values(right, q, k, v, mask=None):
    """It divides by the root of the size of the values, not of the keys.
    One survives: that root changes nothing in your input. Has a value as many entries as a key? Or are all scores
    so large that each query hears one key only, whatever they are divided by?"""
    return right(q * np.sqrt(q.shape[-1] / v.shape[-1]), k, v, mask)


@question.impostor
def never_looks_at_the_keys(right, q, k, v, mask=None):
    """It takes the queries for keys, so it knows self-attention only.
    One survives: your queries do as well for keys. Are they the same?"""
    return right(q, q, v, mask)


@question.impostor
def hears_the_first_sentence_only(right, q, k, v, mask=None):
    """It compares all sentences of a batch with the keys of the first.
    One survives: it goes wrong with a batch of two sentences whose keys are different enough to be heard."""
    first = k[(0,) * (k.ndim - 2)] if k.ndim > 2 else k
    return right(q, np.broadcast_to(first, k.shape), v, mask)


@question.impostor
def masks_the_weights(right, q, k, v, mask=None):
    """It masks the weights after the softmax, so that they no longer sum to 1.
    One survives: nothing is masked in your input, or only keys that nobody would hear without a mask either."""
    _, weights = right(q, k, v)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


@question.impostor
def overflows(right, q, k, v, mask=None):
    """Its exponential overflows, and it answers nan.
    One survives: none of your scores is large. How large must one be for exp to overflow? One loud query is enough:
    the others may stay soft."""
    output, weights = right(q, k, v, mask)
    scores = np.einsum("...td,...sd->...ts", q, k) / np.sqrt(q.shape[-1])
    too_large = (scores > 709).any(axis=-1, keepdims=True)
    return np.where(too_large, np.nan, output), np.where(too_large, np.nan, weights)
