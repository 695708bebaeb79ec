"""Lab 12, ``cached_attention``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.testing import alternative, misconception


def _heads(x, h):
    B, T, D = x.shape
    return x.reshape(B, T, h, D // h).transpose(1, 2)


def _heard(attention, x, keys, values, h):
    """What the heads hear, side by side, before W_O."""
    q, k, v = (_heads(part, h) for part in (attention.W_Q(x), keys, values))
    weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
    return (weights @ v).transpose(1, 2).flatten(2)


def _grown(attention, x, cache):
    """Keys and values of all positions."""
    new = attention.W_K(x), attention.W_V(x)
    if cache is None:
        return new
    return tuple(torch.cat([old, part], dim=1) for old, part in zip(cache, new, strict=True))


@misconception(
    "cached_attention",
    title="the new position does not hear itself",
    keeps="the cache and the first position are right",
)
def deaf_to_itself(attention, x, h, cache=None):
    """Your new position listens to the cache alone, so it hears all earlier words, but not itself. Add its key and its value first, then attend."""
    grown = _grown(attention, x, cache)
    return attention.W_O(_heard(attention, x, *(grown if cache is None else cache), h)), grown


@misconception(
    "cached_attention",
    title="the cache is kept, but not heard",
    keeps="the cache and the first position are right",
)
def deaf_to_the_past(attention, x, h, cache=None):
    """Your new position listens to itself alone: what you keep is never used. Attend over all keys and values of the grown cache."""
    new = attention.W_K(x), attention.W_V(x)
    return attention.W_O(_heard(attention, x, *new, h)), _grown(attention, x, cache)


@misconception(
    "cached_attention", title="the cache does not grow", keeps="the output of a single call is right"
)
def cache_of_the_newest(attention, x, h, cache=None):
    """Your output is right, but the cache that you return holds the newest position only, so that the next call has forgotten the rest. Return all keys and values."""
    return attention.W_O(_heard(attention, x, *_grown(attention, x, cache), h)), (
        attention.W_K(x),
        attention.W_V(x),
    )


@misconception(
    "cached_attention",
    title="the given cache grows",
    keeps="outputs and cache are right; the argument is changed",
)
def cache_that_grows_in_place(attention, x, h, cache=None):
    """Your outputs are right, but the cache that you were given has grown. A beam goes on from one cache in several ways, so it must stay as it
    is: torch.cat makes new tensors, and a new pair holds them."""
    keys, values = _grown(attention, x, cache)
    if cache is not None:
        cache[0].data, cache[1].data = keys.data, values.data
    return attention.W_O(_heard(attention, x, keys, values, h)), (keys, values)


@misconception(
    "cached_attention", title="the sentences of a batch are mixed", keeps="right for a single sentence"
)
def cache_of_flat_rows(attention, x, h, cache=None):
    """With several sentences the positions of your cache go astray: all rows are put one after the other and cut anew. Join old and new
    along the axis of the positions, dim=1."""
    keys, values = attention.W_K(x), attention.W_V(x)
    if cache is not None:
        B, t, D = cache[0].shape
        rows = [
            torch.cat([old.flatten(0, 1), new.flatten(0, 1)])
            for old, new in zip(cache, (keys, values), strict=True)
        ]
        keys, values = (part.view(B, t + 1, D) for part in rows)
    return attention.W_O(_heard(attention, x, keys, values, h)), (keys, values)


@misconception("cached_attention", title="one head", keeps="the cache and the first position are right")
def with_one_head(attention, x, h, cache=None):
    """Your output is that of a single head as wide as the model. Cut queries, keys and values into heads, and put what they hear together again."""
    grown = _grown(attention, x, cache)
    return attention.W_O(_heard(attention, x, *grown, 1)), grown


@misconception("cached_attention", title="without W_O", keeps="all is right but the last layer")
def without_the_last_layer(attention, x, h, cache=None):
    """Your output is what the heads heard, side by side. The last layer of the attention, W_O, has still to mix it."""
    grown = _grown(attention, x, cache)
    return _heard(attention, x, *grown, h), grown


@misconception(
    "cached_attention",
    title="the vectors are kept, not keys and values",
    keeps="what it says word by word is right; the work that it should save is done",
)
def cache_of_vectors(attention, x, h, cache=None):
    """You keep the vectors x and compute all keys and values again in each call, which is the work that the cache should save. Keep W_K(x) and W_V(x)."""
    words = x if cache is None else torch.cat([cache[0], x], dim=1)
    return attention.W_O(_heard(attention, x, attention.W_K(words), attention.W_V(words), h)), (words, words)


@misconception(
    "cached_attention",
    title="the newest first",
    keeps="the outputs are right: attention does not mind the order",
)
def newest_first(attention, x, h, cache=None):
    """Your outputs are right, but the cache holds the newest position first. The oldest should come first, as in the sentence."""
    new = attention.W_K(x), attention.W_V(x)
    if cache is not None:
        new = tuple(torch.cat([part, old], dim=1) for old, part in zip(cache, new, strict=True))
    return attention.W_O(_heard(attention, x, *new, h)), new


@misconception("cached_attention", title="keys in place of values")
def keys_for_values(attention, x, h, cache=None):
    """Your values are the keys: what is heard must come from W_V, and only the question of whom to hear from W_K."""
    keys = attention.W_K(x) if cache is None else torch.cat([cache[0], attention.W_K(x)], dim=1)
    return attention.W_O(_heard(attention, x, keys, keys, h)), (keys, keys)


@misconception("cached_attention", title="keys and values exchanged")
def exchanged(attention, x, h, cache=None):
    """You return the values first and the keys second, so that the next call takes one for the other. The pair is (keys, values)."""
    keys, values = _grown(attention, x, cache)
    return attention.W_O(_heard(attention, x, keys, values, h)), (values, keys)


@misconception(
    "cached_attention",
    title="a cache in heads",
    keeps="right for one head; else the cache that is given has another form",
)
def cache_in_heads(attention, x, h, cache=None):
    """Your cache holds keys and values that are already cut into heads. The text asks for (B, t, d_model): cut them when you attend."""
    grown = _grown(
        attention,
        x,
        cache
        if cache is None
        else [part.transpose(1, 2).flatten(2) if part.dim() == 4 else part for part in cache],
    )
    return attention.W_O(_heard(attention, x, *grown, h)), tuple(_heads(part, h) for part in grown)


@misconception(
    "cached_attention",
    title="the layer keeps the cache",
    keeps="right where each call goes on from the last one",
)
def cache_on_the_layer(attention, x, h, cache=None):
    """You keep keys and values on the attention itself, and do not look at those that you are given. A beam goes on from one cache in several
    ways: use the argument."""
    attention.kept = _grown(attention, x, None if cache is None else attention.kept)
    return attention.W_O(_heard(attention, x, *attention.kept, h)), attention.kept


@misconception(
    "cached_attention",
    title="the root of d_model",
    keeps="the cache and the first position are right",
)
def with_the_root_of_the_model(attention, x, h, cache=None):
    """Your scores are divided by √d_model. Each head compares d_k = d_model / h columns, so it is √d_k, as in attend."""
    grown = _grown(attention, x, cache)
    q, k, v = (_heads(part, h) for part in (attention.W_Q(x), *grown))
    weights = torch.softmax(q @ k.transpose(-2, -1) / x.shape[-1] ** 0.5, dim=-1)
    return attention.W_O((weights @ v).transpose(1, 2).flatten(2)), grown


@misconception("cached_attention", title="nothing is heard")
def without_any_attention(attention, x, h, cache=None):
    """There is no attention in your answer: the output depends neither on W_Q nor on W_K nor on W_V, nor on the cache. Compute keys and values of x, join them to
    those of the cache, and let the query of x listen to them all."""
    words = x if cache is None else torch.cat([cache[0], x], dim=1)
    return attention.W_O(x), (words, words)


@misconception("cached_attention", title="x is added to the output", keeps="all but one sum is right")
def with_the_way_around(attention, x, h, cache=None):
    """You add x to the output. That is the way around the sublayer, and the business of the block; attention returns what W_O says."""
    grown = _grown(attention, x, cache)
    return x + attention.W_O(_heard(attention, x, *grown, h)), grown


@alternative("cached_attention")
def by_einsum_in_lists(attention, x, h, cache=None):
    with torch.no_grad():
        keys, values = attention.W_K(x), attention.W_V(x)
        if cache:
            keys, values = torch.hstack((cache[0], keys)), torch.hstack((cache[1], values))
        B, t, D = keys.shape
        q, k, v = attention.W_Q(x).view(B, h, -1), keys.view(B, t, h, -1), values.view(B, t, h, -1)
        weights = (torch.einsum("bhd,bthd->bht", q, k) / (D // h) ** 0.5).softmax(dim=2)
        heard = torch.einsum("bht,bthd->bhd", weights, v).reshape(B, 1, D)
        return [attention.W_O(heard), [keys, values]]


@alternative("cached_attention")
def head_by_head_in_numpy(attention, x, h, cache=None):
    grown = [part.detach().numpy() for part in _grown(attention, x, cache)]
    q = attention.W_Q(x).detach().numpy()
    size, heard = q.shape[-1] // h, []
    for first in range(0, q.shape[-1], size):
        part = slice(first, first + size)
        scores = q[..., part] @ np.swapaxes(grown[0][..., part], 1, 2) / np.sqrt(size)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        heard.append(weights / weights.sum(axis=-1, keepdims=True) @ grown[1][..., part])
    output = attention.W_O(torch.from_numpy(np.concatenate(heard, axis=-1)))
    return output, tuple(torch.from_numpy(part) for part in grown)


@alternative("cached_attention")
def by_the_module_itself(attention, x, h, cache=None):
    import copy

    keys, values = _grown(attention, x, cache)
    rest = copy.copy(attention)
    rest._modules = {**attention._modules, "W_K": torch.nn.Identity()}
    rest.W_V = torch.nn.Identity()
    q, k, v = (_heads(part, h) for part in (rest.W_Q(x), rest.W_K(keys), rest.W_V(values)))
    heard = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return rest.W_O(heard.transpose(1, 2).flatten(2)), (keys, values)
