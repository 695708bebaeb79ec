"""Lab 07: wrong answers that students give, with their hints, and correct answers in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.answers import alternative, misconception


def _softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# ------------------------------------------------------------------------------------------------ kernel_smooth


def _squared(x, query):
    return (query[:, None] - x[None, :]) ** 2


@misconception("kernel_smooth", title="the kernel of the slide, exp(−d²/σ)")
def kernel_without_two_sigma_squared(x, y, query, sigma):
    """Your bell has another width: the exponent is the squared distance divided by σ itself, as on the slide. Here σ is
    a length, and it enters squared and doubled. Compare your exponent with the formula above the question."""
    return _softmax(-_squared(x, query) / sigma, axis=1) @ y


@misconception("kernel_smooth", title="σ is not squared")
def sigma_not_squared(x, y, query, sigma):
    """The factor 2 is there, but σ is not squared. For σ = 1 nobody notices; at every other width the bell is wrong."""
    return _softmax(-_squared(x, query) / (2 * sigma), axis=1) @ y


@misconception("kernel_smooth", title="weights that do not sum to one")
def kernel_not_normalised(x, y, query, sigma):
    """Your heights grow with the number of dots nearby: the weights of a query are not divided by their sum. A mean needs
    weights that sum to one."""
    return np.exp(-_squared(x, query) / (2 * sigma**2)) @ y


@misconception("kernel_smooth", title="weights that sum to one over the queries")
def kernel_normalised_over_queries(x, y, query, sigma):
    """Your weights sum to one over the queries, so a query's answer depends on which other queries are asked. Each query
    spreads one unit of weight over the dots: normalise along the axis of the dots."""
    return _softmax(-_squared(x, query) / (2 * sigma**2), axis=0) @ y


@misconception("kernel_smooth", title="a small number added to the sum")
def kernel_with_a_small_constant(x, y, query, sigma):
    """Near the dots you are right; far away your heights sink to 0. The small constant that you add to the sum protects
    from 0/0, but then the weights no longer sum to one where all exponentials are tiny. Take the largest exponent away
    first, as the softmax does."""
    w = np.exp(-_squared(x, query) / (2 * sigma**2))
    return (w / (w + 1e-16).sum(axis=1, keepdims=True)) @ y


@misconception("kernel_smooth", title="nan far away from the dots")
def kernel_that_divides_zero_by_zero(x, y, query, sigma):
    """Far away from every dot all exponentials round to 0, and your answer is 0/0. The weights are a softmax of
    −d²/(2σ²): use the safe softmax that you have."""
    w = np.exp(-_squared(x, query) / (2 * sigma**2))
    with np.errstate(invalid="ignore"):
        return (w @ y) / w.sum(axis=1)


@misconception("kernel_smooth", title="the distance is not squared")
def kernel_of_the_distance(x, y, query, sigma):
    """Your curve has a sharp corner at every dot: the exponent holds the distance, not its square. That is another
    kernel (Laplace's), not the Gaussian."""
    return _softmax(-np.abs(query[:, None] - x[None, :]) / (2 * sigma**2), axis=1) @ y


@misconception("kernel_smooth", title="far dots count more than near ones")
def kernel_with_the_wrong_sign(x, y, query, sigma):
    """The farther a dot, the more it counts in your function: the minus sign of the exponent is missing."""
    return _softmax(_squared(x, query) / (2 * sigma**2), axis=1) @ y


@alternative("kernel_smooth")
def kernel_by_loops_and_lists(x, y, query, sigma):
    heights = []
    for place in query:
        exponents = [-((place - dot) ** 2) / (2 * sigma**2) for dot in x]
        bells = [math.exp(exponent - max(exponents)) for exponent in exponents]
        heights.append(sum(b * height for b, height in zip(bells, y, strict=True)) / sum(bells))
    return heights


@alternative("kernel_smooth")
def kernel_in_single_precision(x, y, query, sigma):
    x, y, query = (np.asarray(part, dtype=np.float32) for part in (x, y, query))
    exponents = -0.5 * np.subtract.outer(query, x) ** 2 / np.float32(sigma) ** 2
    bells = np.exp(exponents - exponents.max(1, keepdims=True))
    return (bells * y).sum(1) / bells.sum(1)


@alternative("kernel_smooth")
def kernel_with_log_weights(x, y, query, sigma):
    z = (x[:, np.newaxis] - query) / sigma
    logs = -z * z / 2
    logs = logs - np.logaddexp.reduce(logs, axis=0)
    return np.einsum("nm,n->m", np.exp(logs), y)


# --------------------------------------------------------------------------------- scaled_dot_product_attention


def _swap(a):
    return np.swapaxes(a, -1, -2)


def _attend(scores, v, mask, axis=-1):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = _softmax(scores, axis)
    return weights @ v, weights


@misconception("scaled_dot_product_attention", title="softmax over the queries instead of the keys")
def softmax_over_queries(q, k, v, mask=None):
    """The columns of your weights sum to one, not the rows: the softmax runs over the queries. Each query hands out one
    unit of attention, so normalise over the keys, the last axis."""
    return _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, mask, axis=-2)


@misconception("scaled_dot_product_attention", title="no division by √d_k")
def attention_without_scaling(q, k, v, mask=None):
    """Your scores are the plain dot products. Their variance grows with d_k, and the softmax gets too sharp; divide them
    by √d_k before the softmax."""
    return _attend(q @ _swap(k), v, mask)


@misconception("scaled_dot_product_attention", title="division by d_k instead of its root")
def attention_scaled_by_d(q, k, v, mask=None):
    """Your weights are too even: the scores are divided by d_k. The variance of a dot product is d_k, so its standard
    deviation, the root, is what brings it back to 1."""
    return _attend(q @ _swap(k) / q.shape[-1], v, mask)


@misconception("scaled_dot_product_attention", title="scaled by the number of keys")
def attention_scaled_by_the_number_of_keys(q, k, v, mask=None):
    """Your scores are divided by the root of the number of keys. What makes a dot product large is the length of the
    vectors, d_k, the last axis of q and k."""
    return _attend(q @ _swap(k) / np.sqrt(k.shape[-2]), v, mask)


@misconception("scaled_dot_product_attention", title="scaled by the size of the values")
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


@misconception("scaled_dot_product_attention", title="a mask the wrong way round")
def attention_mask_inverted(q, k, v, mask=None):
    """Your function silences the keys that may be heard and hears those that may not. In this course True means “may
    attend”: fill with −∞ where the mask is False."""
    return _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, None if mask is None else ~mask)


@misconception("scaled_dot_product_attention", title="masked scores set to 0 instead of −∞")
def attention_mask_multiplied(q, k, v, mask=None):
    """A masked key still gets weight: its score is multiplied by 0, and e⁰ is 1, not 0. Only a score of −∞ gives
    the weight 0."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else scores * mask, v, None)


@misconception("scaled_dot_product_attention", title="the mask is added as 1 and 0")
def attention_mask_added(q, k, v, mask=None):
    """Your mask is added to the scores as 1 and 0, as one slide shows it. That makes the allowed keys a little louder, but
    silences nobody: the others need −∞."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else scores + mask, v, None)


@misconception("scaled_dot_product_attention", title="masked after the softmax")
def attention_masked_after_the_softmax(q, k, v, mask=None):
    """Masked weights are 0 in your function, but the others do not sum to one any more: the softmax had already given a
    share to the masked keys. Mask the scores before the softmax."""
    _, weights = _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, None)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


@misconception("scaled_dot_product_attention", title="the mask is ignored")
def attention_mask_ignored(q, k, v, mask=None):
    """Your function gives the same result with and without a mask. Use the argument: fill the scores with −∞ where
    it is False."""
    return _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, None)


@misconception("scaled_dot_product_attention", title="a small negative number instead of −∞")
def attention_mask_with_minus_nine(q, k, v, mask=None):
    """Masked keys still whisper in your function: their scores are set to a small negative number. It must be −∞ (or so
    negative that its exponential is exactly 0)."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    return _attend(scores if mask is None else np.where(mask, scores, -9.0), v, None)


@misconception("scaled_dot_product_attention", title="a softmax that overflows")
def attention_that_overflows(q, k, v, mask=None):
    """With scores in the thousands your weights become nan: the exponential overflows. Take the largest score of each row
    away first, or use the softmax of the lab, which does."""
    scores = q @ _swap(k) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        return weights @ v, weights


@misconception("scaled_dot_product_attention", title="all axes of k are reversed in a batch")
def attention_with_dot_t(q, k, v, mask=None):
    """One sentence works, a batch does not: k.T reverses all axes, the batch's too. Swap only the last two,
    with np.swapaxes(k, -1, -2)."""
    return _attend(q @ k.T / np.sqrt(q.shape[-1]), v, mask)


@misconception("scaled_dot_product_attention", title="weights and output in the other order")
def attention_results_swapped(q, k, v, mask=None):
    """Your two results are right but in the other order: the output comes first, the weights second."""
    output, weights = _attend(q @ _swap(k) / np.sqrt(q.shape[-1]), v, mask)
    return weights, output


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


# -------------------------------------------------------------------------------------------------- causal_mask


@misconception("causal_mask", title="a word may not listen to itself")
def causal_mask_without_the_diagonal(T):
    """Your mask hides a position from itself. The first position then may attend to nothing, and its softmax is 0/0.
    The diagonal is allowed."""
    return np.tril(np.ones((T, T), dtype=bool), k=-1)


@misconception("causal_mask", title="one word of the future is visible")
def causal_mask_one_too_far(T):
    """Your mask lets each position see the next one, which is the very word it should predict: a model trained so looks
    perfect and has learned nothing. The last True of row i is in column i."""
    return np.tril(np.ones((T, T), dtype=bool), k=1)


@misconception("causal_mask", title="only the future is visible")
def causal_mask_transposed(T):
    """Your mask is the transposed one: each position hears itself and the future. Rows are the listeners: row 0 has one True."""
    return np.triu(np.ones((T, T), dtype=bool))


@misconception("causal_mask", title="True for what is forbidden")
def causal_mask_inverted(T):
    """Your mask is True where attention is forbidden, as some libraries have it. In this course True means “may attend”."""
    return np.triu(np.ones((T, T), dtype=bool), k=1)


@misconception("causal_mask", title="numbers instead of booleans")
def causal_mask_of_numbers(T):
    """Your mask holds 1 and 0 where True and False are wanted. With numbers ~mask gives −2 and −1, both of which count as
    True: masks are booleans."""
    return np.tril(np.ones((T, T), dtype=int))


@misconception("causal_mask", title="0 and −∞ instead of booleans")
def causal_mask_to_be_added(T):
    """Your mask is meant to be added to the scores: 0 and −∞. The mask of this course says True and False; the filling with
    −∞ happens in the attention."""
    return np.triu(np.full((T, T), -np.inf), k=1)


@alternative("causal_mask")
def causal_mask_by_comparison(T):
    position = np.arange(T)
    return position[:, None] >= position


@alternative("causal_mask")
def causal_mask_as_lists(T):
    return [[True] * (i + 1) + [False] * (T - i - 1) for i in range(T)]


@alternative("causal_mask")
def causal_mask_in_torch(T):
    import torch

    return ~torch.triu(torch.ones(T, T), diagonal=1).bool()


# ------------------------------------------------------------------------------------------------- padding_mask


@misconception("padding_mask", title="True for the padding")
def padding_mask_inverted(lengths, T):
    """Your mask is True at the padding. Some libraries want it so; in this course True means “may attend”, so the real
    words are True."""
    return np.arange(T)[None, None, :] >= np.asarray(lengths)[:, None, None]


@misconception("padding_mask", title="one padding position counts as a word")
def padding_mask_one_too_many(lengths, T):
    """Your rows have one True too many: a sentence of length n fills positions 0 to n − 1."""
    return np.arange(T)[None, None, :] <= np.asarray(lengths)[:, None, None]


@misconception("padding_mask", title="no axis for the queries")
def padding_mask_without_the_middle_axis(lengths, T):
    """The values are right, the shape is not: (B, T) would be taken for (queries, keys) when it meets the scores. It needs
    an axis of length 1 in the middle."""
    return np.arange(T)[None, :] < np.asarray(lengths)[:, None]


@misconception("padding_mask", title="queries masked instead of keys")
def padding_mask_for_the_queries(lengths, T):
    """Your mask has the shape (B, T, 1): it silences the listeners at the padding, not the padding itself. The keys are
    the last axis."""
    return np.arange(T)[None, :, None] < np.asarray(lengths)[:, None, None]


@misconception("padding_mask", title="padding on the left")
def padding_mask_on_the_left(lengths, T):
    """Your mask takes the last positions for the real words. Here the words come first and the padding behind them."""
    return np.arange(T)[None, None, :] >= T - np.asarray(lengths)[:, None, None]


@misconception("padding_mask", title="numbers instead of a mask of booleans")
def padding_mask_of_numbers(lengths, T):
    """Your mask holds 1 and 0 where True and False are wanted. Masks are booleans, so that & and ~ mean what they say."""
    return (np.arange(T)[None, None, :] < np.asarray(lengths)[:, None, None]).astype(float)


@misconception("padding_mask", title="as wide as the longest sentence")
def padding_mask_as_wide_as_the_longest(lengths, T):
    """Your mask is as wide as the longest sentence of the batch. The batch itself may be wider: the width is T, whatever
    the lengths are."""
    lengths = np.asarray(lengths)
    return np.arange(lengths.max())[None, None] < lengths[:, None, None]


@alternative("padding_mask")
def padding_mask_as_lists(lengths, T):
    return [[[t < n for t in range(T)]] for n in lengths]


@alternative("padding_mask")
def padding_mask_by_filling(lengths, T):
    mask = np.zeros((len(lengths), 1, T), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = True
    return mask


@alternative("padding_mask")
def padding_mask_in_torch(lengths, T):
    import torch

    return (torch.arange(T) < torch.as_tensor(lengths).unsqueeze(-1)).unsqueeze(1)


# ------------------------------------------------------------------------------------------- additive_attention


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


@misconception("additive_attention", title="tanh of query and key apart")
def additive_tanh_before_the_sum(q, k, v, W_q, W_k, w, mask=None):
    """Your tanh is taken of query and key separately, and then they are added: the query's part drops out of the softmax
    again. Add first, then take the tanh of the sum."""
    return _attend((np.tanh(q @ W_q)[..., :, None, :] + np.tanh(k @ W_k)[..., None, :, :]) @ w, v, mask)


@misconception("additive_attention", title="additive scores divided by a root")
def additive_that_scales(q, k, v, W_q, W_k, w, mask=None):
    """Your scores are divided by the root of the hidden layer's size. The tanh keeps these scores small already; the division
    belongs to the dot product only."""
    return _attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w / np.sqrt(len(w)), v, mask)


@misconception("additive_attention", title="additive softmax over the queries")
def additive_softmax_over_queries(q, k, v, W_q, W_k, w, mask=None):
    """The columns of your weights sum to one, not the rows. Each query hands out one unit of attention: the softmax runs
    over the keys, the last axis."""
    return _attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w, v, mask, axis=-2)


@misconception("additive_attention", title="the mask is ignored in additive attention")
def additive_mask_ignored(q, k, v, W_q, W_k, w, mask=None):
    """Your function gives the same result with and without a mask. Treat the scores as in question 2: −∞ where it is False."""
    return _attend(np.tanh(_hidden(q, k, W_q, W_k)) @ w, v, None)


@misconception("additive_attention", title="ReLU instead of tanh")
def additive_with_relu(q, k, v, W_q, W_k, w, mask=None):
    """Your hidden layer uses a ReLU. That has no ceiling, so the scores grow with the inputs; additive attention uses tanh."""
    return _attend(np.maximum(_hidden(q, k, W_q, W_k), 0) @ w, v, mask)


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


# ------------------------------------------------------------------------------------------- attention_backward


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


@misconception("attention_backward", title="√d_k is forgotten on the way back")
def backward_without_scaling(q, k, v, weights, d_output):
    """Your gradients of q and k are too large by the factor √d_k: the scores were divided by it, so the gradient is, too."""
    return _backward(q, k, v, weights, d_output, scale=1.0)


@misconception("attention_backward", title="√d_k only in one of the two gradients")
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
