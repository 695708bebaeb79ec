"""Lab 08, multi_head_attention: x (B, Tq, d), memory (B, Tk, d), W_Q, W_K, W_V, W_O, h → output (B, Tq, d), weights (B, h, Tq, Tk)."""

import math

import numpy as np
import torch

from autograder.questions.engine import Question
from autograder.questions.m08_multi_head.common import (
    ROUNDED,
    attend,
    cut,
    headed,
    merge,
    some_mask,
    split,
    tensor,
)


def one_head_at_a_time(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """One sentence and one head after the other, each with its own columns of the matrices."""
    x, memory, W_Q, W_K, W_V, W_O = (np.asarray(part, float) for part in (x, memory, W_Q, W_K, W_V, W_O))
    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
    allowed = np.broadcast_to(True if mask is None else mask, (len(x), x.shape[1], memory.shape[1]))
    outputs, maps = [], np.zeros((len(x), h, x.shape[1], memory.shape[1]))
    for b, (sentence, source, may) in enumerate(zip(x, memory, allowed, strict=True)):
        heard = []
        for i in range(h):
            q, k = sentence @ W_Q[:, i * d_k : (i + 1) * d_k], source @ W_K[:, i * d_k : (i + 1) * d_k]
            for t in range(len(q)):
                bells = [
                    math.exp(q[t] @ key / math.sqrt(d_k)) * ok for key, ok in zip(k, may[t], strict=True)
                ]
                maps[b, i, t] = np.array(bells) / sum(bells)
            heard.append(maps[b, i] @ source @ W_V[:, i * d_v : (i + 1) * d_v])
        outputs.append(np.concatenate(heard, axis=1) @ W_O)
    return np.array(outputs), maps


question = Question(
    one_head_at_a_time,
    uses=("split_heads", "merge_heads"),
    forbidden=("torch.nn.MultiheadAttention", "torch.nn.functional.multi_head_attention_forward"),
)


def matrices(rng, d_model, h, d_k, d_v):
    """The four matrices; those of the scores are small, so that no weight is near 0."""
    W_Q, W_K = (tensor(rng, d_model, h * d_k) / math.sqrt(d_model) for _ in range(2))
    return W_Q, W_K, tensor(rng, d_model, h * d_v), tensor(rng, h * d_v, d_model)


def alike(rng, d_model, h):
    """Matrices with which all scores are 0: who asks for nothing hears all words alike."""
    W_Q, W_K, W_V, W_O = matrices(rng, d_model, h, d_model // h, d_model // h)
    return W_Q, 0 * W_K, W_V, W_O


@question.family(
    "With one head and an identity for the last matrix it is lab 07's attention.", 0.75, **ROUNDED
)
def one_head(rng):
    x = tensor(rng, 2, 3, 4)
    W_Q, W_K, W_V, _ = matrices(rng, 4, 1, 4, 4)
    yield x, x, W_Q, W_K, W_V, torch.eye(4, dtype=torch.double), 1


@question.family("A sentence listens to itself.", 2, **ROUNDED)
def to_itself(rng):
    for B, T, d_model, h in ((2, 3, 6, 3), (3, 2, 4, 2)):
        x = tensor(rng, B, T, d_model)
        yield x, x, *matrices(rng, d_model, h, d_model // h, d_model // h), h


@question.family(
    "Who asks for nothing hears all words of the memory alike; what is heard is merged and mixed.",
    2,
    **ROUNDED,
)
def nothing_asked(rng):
    for tq, tk in ((2, 3), (4, 2)):
        yield tensor(rng, 2, tq, 4), tensor(rng, 2, tk, 4), *alike(rng, 4, 2), 2


@question.family(
    "What a sentence hears in another, longer, shorter or of the same length.", 1.5, only=0, **ROUNDED
)
def to_another(rng):
    for tq, tk in ((3, 3), (2, 4), (3, 1)):
        yield tensor(rng, 2, tq, 4), tensor(rng, 2, tk, 4), *matrices(rng, 4, 2, 2, 2), 2
    causal = torch.ones(2, 3, 3, dtype=torch.bool).tril()
    yield tensor(rng, 2, 3, 4), tensor(rng, 2, 3, 4), *matrices(rng, 4, 2, 2, 2), 2, causal


@question.family("What is heard where keys and values have different sizes.", 0.5, only=0, **ROUNDED)
def sizes_differ(rng):
    for d_k, d_v in ((3, 3), (1, 2)):
        yield tensor(rng, 2, 2, 4), tensor(rng, 2, 3, 4), *matrices(rng, 4, 2, d_k, d_v), 2
    causal = torch.ones(1, 2, 3, dtype=torch.bool).tril()
    yield tensor(rng, 1, 2, 4), tensor(rng, 1, 3, 4), *matrices(rng, 4, 2, 1, 2), 2, causal


@question.family(
    "Masks of a sentence that listens to itself: causal, for each sentence, for all queries.", 1.25, **ROUNDED
)
def masks(rng):
    x = tensor(rng, 2, 3, 4)
    for mask in (torch.ones(3, 3, dtype=torch.bool).tril(), some_mask(rng, 2, 3, 3), some_mask(rng, 2, 1, 3)):
        yield x, x, *alike(rng, 4, 2), 2, mask


@question.family("Masks of a memory, also where there are as many sentences as heads.", 1.25, **ROUNDED)
def masks_of_a_memory(rng):
    for B, shape in ((2, (2, 2, 3)), (3, (3, 1, 3)), (3, (2, 3))):
        yield tensor(rng, B, 2, 4), tensor(rng, B, 3, 4), *alike(rng, 4, 2), 2, some_mask(rng, *shape)


def heads(x, memory, W_Q, W_K, W_V, h, into=split):
    return into(x @ W_Q, h), into(memory @ W_K, h), into(memory @ W_V, h)


@question.misconception("no last matrix W_O", costs=3.5)
def heads_without_the_last_matrix(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads are merged but not mixed: the product with W_O is missing."""
    heard, weights = attend(*heads(x, memory, W_Q, W_K, W_V, h), headed(mask))
    return merge(heard), weights


@question.misconception("the last matrix transposed", costs=3.5)
def heads_with_the_last_matrix_transposed(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """You multiply the merged heads by the transpose of W_O. The course writes vectors as rows, so the matrix stands on the
    right as it is: its rows belong to the merged columns."""
    heard, weights = attend(*heads(x, memory, W_Q, W_K, W_V, h), headed(mask))
    return merge(heard) @ W_O.T, weights


@question.misconception(
    "scaled by the model's size, not the head's",
    costs=3,
    root=lambda d_model, d_k: d_model**0.5,
    hint="""Your scores are divided by the root of d_model. Each head compares vectors of its own size d_k, so that is the root
    to take.""",
)
@question.misconception("divided by the root twice", costs=1.5, root=lambda d_model, d_k: d_k)
def heads_scaled_otherwise(x, memory, W_Q, W_K, W_V, W_O, h, mask=None, *, root):
    """Your scores are divided by d_k, not by its root: either the root is missing, or it is divided by twice.
    scaled_dot_product_attention divides by itself."""
    q, k, v = heads(x, memory, W_Q, W_K, W_V, h)
    heard, weights = attend(q, k, v, headed(mask), root(x.shape[-1], q.shape[-1]))
    return merge(heard) @ W_O, weights


@question.misconception("one head that ignores h", costs=3)
def heads_all_in_one(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """There is only one map of weights, copied for every head: you never cut into heads."""
    heard, weights = attend(x @ W_Q, memory @ W_K, memory @ W_V, mask)
    return heard @ W_O, weights.unsqueeze(1).repeat(1, h, 1, 1)


@question.misconception("values of the listener instead of the memory", costs=3)
def heads_with_values_of_x(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your values come from x. What is heard comes from the memory, so both keys and values are made from it; only the
    queries come from x."""
    q, k, _ = heads(x, memory, W_Q, W_K, W_V, h)
    heard, weights = attend(q, k, split(x @ W_V, h), headed(mask))
    return merge(heard) @ W_O, weights


@question.misconception("the memory is ignored", costs=3)
def heads_that_ignore_the_memory(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your function is always self-attention: keys and values come from x, whatever the memory is."""
    heard, weights = attend(*heads(x, x, W_Q, W_K, W_V, h), headed(mask))
    return merge(heard) @ W_O, weights


@question.misconception(
    "the mask is ignored by the heads",
    costs=2.5,
    heard_through=lambda mask: None,
    hint="Your function gives the same result with and without a mask: pass it on, with an axis for the heads.",
)
@question.misconception("a mask without an axis for the heads", costs=2, heard_through=lambda mask: mask)
def heads_with_another_mask(x, memory, W_Q, W_K, W_V, W_O, h, mask=None, *, heard_through):
    """One mask for all sentences works, a mask for each sentence does not: without an axis for the heads its first axis is taken for
    them. If B equals h there is not even an error. Use mask.unsqueeze(-3)."""
    heard, weights = attend(*heads(x, memory, W_Q, W_K, W_V, h), heard_through(mask))
    return merge(heard) @ W_O, weights


@question.misconception("the mean of the heads' weights", costs=2.5, because="the output is right")
def heads_with_averaged_weights(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your output is right, but the weights are averaged over the heads, (B, T_q, T_k). Each head's map is wanted: (B, h, T_q, T_k)."""
    heard, weights = attend(*heads(x, memory, W_Q, W_K, W_V, h), headed(mask))
    return merge(heard) @ W_O, weights.mean(dim=1)


@question.misconception("heads cut by a bare reshape", costs=3.5)
def heads_cut_by_reshape(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads are cut by a bare reshape, so each of them sees only some of the words. Use split_heads and merge_heads."""
    heard, weights = attend(*heads(x, memory, W_Q, W_K, W_V, h, cut), headed(mask))
    return heard.reshape(*x.shape[:2], -1) @ W_O, weights


@question.misconception("merged by a bare reshape", costs=3.5)
def heads_merged_by_reshape(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """The weights are right. The heads are merged by a bare reshape, which mixes numbers of different words: exchange the axes of
    heads and words first."""
    heard, weights = attend(*heads(x, memory, W_Q, W_K, W_V, h), headed(mask))
    return heard.reshape(*x.shape[:2], -1) @ W_O, weights


@question.misconception("a softmax over the queries", costs=5)
def heads_with_softmax_over_queries(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your weights sum to one over the queries, so each word of the memory hands out one unit of attention. It is the listener who
    divides its own: the softmax runs over the keys, the last axis."""
    heard, weights = attend(*heads(x, memory, W_Q, W_K, W_V, h), headed(mask), over=-2)
    return merge(heard) @ W_O, weights


@question.misconception("the matrices cut by a reshape", costs=2.5, because="one wrong cut; the rest holds")
def heads_of_reshaped_matrices(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """You cut W_Q, W_K and W_V with a reshape, which keeps the order of their rows: a head then gets some rows, laid out anew, and not its
    columns. Make one product, x @ W_Q, and cut that with split_heads."""
    Q, K, V = (W.reshape(h, W.shape[0], -1) for W in (W_Q, W_K, W_V))
    heard, weights = attend(x[:, None] @ Q, memory[:, None] @ K, memory[:, None] @ V, headed(mask))
    return merge(heard) @ W_O, weights


@question.alternative
def heads_in_a_loop(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    pieces = zip(W_Q.chunk(h, 1), W_K.chunk(h, 1), W_V.chunk(h, 1), W_O.chunk(h, 0), strict=True)
    total, maps = 0, []
    for Q, K, V, O in pieces:
        heard, weights = attend(x @ Q, memory @ K, memory @ V, mask)
        total = total + heard @ O
        maps.append(weights)
    return total, torch.stack(maps, dim=1)


@question.alternative
def heads_by_einsum_in_numpy(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    x, memory, Q, K, V, O = (np.asarray(part) for part in (x, memory, W_Q, W_K, W_V, W_O))
    Q, K, V = (W.reshape(W.shape[0], h, -1) for W in (Q, K, V))
    scores = np.einsum("btm,mhd,bsn,nhd->bhts", x, Q, memory, K, optimize=True) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(np.asarray(mask)[..., None, :, :], scores, -1e30)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    O = O.reshape(h, -1, O.shape[-1])
    return np.einsum("bhts,bsm,mhd,hdn->btn", weights, memory, V, O, optimize=True), weights


@question.impostor
def gives_the_mask_no_axis(right, x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """It gives the mask no axis for the heads, so that head i gets the mask of sentence i.
    One survives: it wants a mask of its own for each sentence."""
    if mask is None or mask.ndim < 3:
        return right(x, memory, W_Q, W_K, W_V, W_O, h, mask)
    if len(mask) not in (1, h):
        raise ValueError("the mask does not fit the heads")
    columns = zip(W_Q.chunk(h, 1), W_K.chunk(h, 1), W_V.chunk(h, 1), W_O.chunk(h, 0), strict=True)
    heads = [right(x, memory, *parts, 1, mask[i % len(mask)]) for i, parts in enumerate(columns)]
    return sum(output for output, _ in heads), torch.cat([weights for _, weights in heads], dim=1)


@question.impostor
def listens_to_itself_only(right, x, memory, *rest):
    """It listens to itself, whatever the memory is.
    One survives: your sentence listens to itself."""
    return right(x, x, *rest)


@question.impostor
def divides_by_the_model_size(right, x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """It divides the scores by the root of the size of all heads together.
    One survives: with a single head its scores are right."""
    return right(x, memory, W_Q / h**0.5, W_K, W_V, W_O, h, mask)


@question.impostor
def forgets_the_last_matrix(right, x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """It does not multiply by W_O.
    One survives: your last matrix changes nothing."""
    return right(x, memory, W_Q, W_K, W_V, torch.eye(len(W_O), dtype=W_O.dtype), h, mask)


@question.impostor
def turns_the_mask_round(right, x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """It takes True in the mask for "may not".
    One survives: nothing is masked in your input."""
    return right(x, memory, W_Q, W_K, W_V, W_O, h, None if mask is None else ~mask)
