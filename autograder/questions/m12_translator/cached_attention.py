"""Lab 12, cached_attention: attention, x (B, 1, D), h, cache (keys, values) (B, t, D) or None → output (B, 1, D), cache of t + 1."""

import math

import numpy as np
import torch

from autograder.questions.engine import Observed, Question
from autograder.questions.m08_multi_head.common import attend, merge, split


def one_head_and_sentence_at_a_time(attention, x, h, cache=None):
    B, _, D = x.shape
    new = attention.W_K(x).detach(), attention.W_V(x).detach()
    keys, values = (
        torch.stack([torch.stack([*(() if cache is None else cache[i][b]), new[i][b, 0]]) for b in range(B)])
        for i in (0, 1)
    )
    queries, heard = attention.W_Q(x).detach(), torch.zeros(B, 1, D, dtype=torch.double)
    for b in range(B):
        for first in range(0, D, D // h):
            part = slice(first, first + D // h)
            scores = [math.exp(key[part] @ queries[b, 0, part] / math.sqrt(D // h)) for key in keys[b]]
            for score, value in zip(scores, values[b], strict=True):
                heard[b, 0, part] += score / sum(scores) * value[part]
    return attention.W_O(heard).detach(), (keys, values)


question = Question(one_head_and_sentence_at_a_time)

LAYERS = """
import torch
from coursekit.provided.p08_multi_head import MultiHeadAttention

attention = MultiHeadAttention(d_model, h).double().eval()
attention.load_state_dict(weights)
"""
SIZES = ((3, 6, 3), (4, 8, 2), (1, 6, 1))


class Layers:
    """A module of attention in a scene, with random layers; W_O hands on what it gets unless it ``mixes``."""

    def __init__(self, student, rng, d_model, h, mixes=False):
        weights = {}
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            random = mixes or name != "W_O"
            weight = rng.normal(size=(d_model, d_model)) / d_model**0.5 if random else np.eye(d_model)
            weights[f"{name}.weight"] = torch.tensor(weight)
            weights[f"{name}.bias"] = torch.tensor(rng.normal(size=d_model) * random)
        self.student, self.h = student, h
        self.scene = student.scene(LAYERS, d_model=d_model, h=h, weights=weights)

    def step(self, x, *cache):
        """One call: the output, and the cache as it is returned."""
        output, grown = self.student(self.scene["attention"], torch.tensor(x), self.h, *cache)
        return output, grown

    def given(self, rng, B, t, d_model):
        """A cache of random numbers, a list or a tuple as the student's own is."""
        own = self.step(rng.normal(size=(B, 1, d_model)))[1]
        return (list if isinstance(own, list) else tuple)(torch.tensor(rng.normal(size=(2, B, t, d_model))))


def words(rng, B, T, d_model):
    return rng.normal(size=(B, T, d_model))


def kept(grown):
    keys, values = grown
    yield Observed("the keys", keys)
    yield Observed("the values", values)


@question.scenario("Without a cache: what the first position hears is itself.")
def first_position(student, rng):
    for _, D, h in SIZES:
        yield Observed("the output", Layers(student, rng, D, h).step(words(rng, 1, 1, D))[0])


@question.scenario("Without a cache: the key and the value of the first position are kept.", weight=2.5)
def first_cache(student, rng):
    for _, D, h in SIZES:
        yield from kept(Layers(student, rng, D, h).step(words(rng, 1, 1, D))[1])


@question.scenario(
    "With a cache of other numbers: a new position hears all of it and itself, with several heads.",
    weight=2.5,
)
def a_given_cache(student, rng):
    for t, D, h in SIZES:
        layers = Layers(student, rng, D, h)
        for _ in range(2):
            yield Observed("the output", layers.step(words(rng, 1, 1, D), layers.given(rng, 1, t, D))[0])


CHANGES = """
before = [part.clone() for part in cache]
output, grown = student_namespace[question](attention, x, h, cache)
after = [*cache]
changed = len(before) != len(after) or not all(torch.equal(a, b) for a, b in zip(before, after))
"""


@question.scenario(
    "The new key and the new value stand behind the old ones, and the cache that was given stays as it is.",
    weight=3,
)
def growing(student, rng):
    for t, D, h in SIZES:
        layers = Layers(student, rng, D, h)
        cache = layers.given(rng, 2, t, D)
        layers.scene.run(CHANGES, question=student.name, x=torch.tensor(words(rng, 2, 1, D)), cache=cache)
        yield from kept(layers.scene["grown"])
        yield Observed("the cache that was given is changed", layers.scene["changed"])


def word_by_word_in(layers, x):
    """The outputs, each call with the cache of the one before."""
    cache = ()
    for t in range(x.shape[1]):
        output, grown = layers.step(x[:, t : t + 1], *cache)
        cache = (grown,)
        yield Observed("the output", output)


@question.scenario("A sentence word by word says what the causal mask gives in one go.", weight=4)
def word_by_word(student, rng):
    for T, D, h in ((4, 6, 3), (5, 4, 2)):
        yield from word_by_word_in(Layers(student, rng, D, h), words(rng, 1, T, D))


@question.scenario("Several sentences at once: each hears its own cache, also word by word.", weight=2.5)
def several_sentences(student, rng):
    for B, (t, D, h) in zip((2, 3), SIZES, strict=False):
        layers = Layers(student, rng, D, h)
        yield Observed("the output", layers.step(words(rng, B, 1, D), layers.given(rng, B, t, D))[0])
    yield from word_by_word_in(Layers(student, rng, 6, 3), words(rng, 3, 3, 6))


@question.scenario("What is heard goes through W_O, which mixes the heads.", weight=2.5)
def last_layer(student, rng):
    for T, D, h in ((2, 6, 3), (3, 4, 2)):
        yield from word_by_word_in(Layers(student, rng, D, h, mixes=True), words(rng, 1, T, D))


def heard_by(attention, x, keys, values, h, root=None):
    """What the heads hear, side by side, before W_O."""
    return merge(attend(*(split(part, h) for part in (attention.W_Q(x), keys, values)), root=root)[0])


def joined(attention, x, cache):
    """Keys and values of all positions."""
    new = attention.W_K(x), attention.W_V(x)
    if cache is None:
        return new
    return tuple(torch.cat([old, part], dim=1) for old, part in zip(cache, new, strict=True))


@question.misconception("the new position does not hear itself", costs=2)
def deaf_to_itself(attention, x, h, cache=None):
    """Your new position listens to the cache alone, so it hears all earlier words, but not itself. Add its key and its value first, then attend."""
    grown = joined(attention, x, cache)
    return attention.W_O(heard_by(attention, x, *(grown if cache is None else cache), h)), grown


@question.misconception("the cache does not grow", costs=2)
def cache_of_the_newest(attention, x, h, cache=None):
    """Your output is right, but the cache that you return holds the newest position only, so that the next call has forgotten the rest. Return all keys and values."""
    heard = heard_by(attention, x, *joined(attention, x, cache), h)
    return attention.W_O(heard), joined(attention, x, None)


@question.misconception("the given cache grows", costs=1)
def cache_that_grows_in_place(attention, x, h, cache=None):
    """Your outputs are right, but the cache that you were given has grown. A beam goes on from one cache in several ways, so it must stay as it
    is: torch.cat makes new tensors, and a new pair holds them."""
    keys, values = joined(attention, x, cache)
    if cache is not None:
        cache[0].data, cache[1].data = keys.data, values.data
    return attention.W_O(heard_by(attention, x, keys, values, h)), (keys, values)


@question.misconception("without W_O", costs=1)
def without_the_last_layer(attention, x, h, cache=None):
    """Your output is what the heads heard, side by side. The last layer of the attention, W_O, has still to mix it."""
    grown = joined(attention, x, cache)
    return heard_by(attention, x, *grown, h), grown


@question.misconception("the vectors are kept, not keys and values", costs=2)
def cache_of_vectors(attention, x, h, cache=None):
    """You keep the vectors x and compute all keys and values again in each call, which is the work that the cache should save. Keep W_K(x) and W_V(x)."""
    words = x if cache is None else torch.cat([cache[0], x], dim=1)
    heard = heard_by(attention, x, *joined(attention, words, None), h)
    return attention.W_O(heard), (words, words)


@question.misconception("keys in place of values", costs=2, because="whom to hear from is right")
def keys_for_values(attention, x, h, cache=None):
    """Your values are the keys: what is heard must come from W_V, and only the question of whom to hear from W_K."""
    keys = attention.W_K(x) if cache is None else torch.cat([cache[0], attention.W_K(x)], dim=1)
    return attention.W_O(heard_by(attention, x, keys, keys, h)), (keys, keys)


@question.misconception("keys and values exchanged", costs=1.5, because="a pair is in the wrong order")
def exchanged(attention, x, h, cache=None):
    """You return the values first and the keys second, so that the next call takes one for the other. The pair is (keys, values)."""
    keys, values = joined(attention, x, cache)
    return attention.W_O(heard_by(attention, x, keys, values, h)), (values, keys)


@question.misconception("the layer keeps the cache", costs=1.5)
def cache_on_the_layer(attention, x, h, cache=None):
    """You keep keys and values on the attention itself, and do not look at those that you are given. A beam goes on from one cache in several
    ways: use the argument."""
    attention.kept = joined(attention, x, None if cache is None else attention.kept)
    return attention.W_O(heard_by(attention, x, *attention.kept, h)), attention.kept


@question.misconception("the root of d_model", costs=1, because="a factor of the scores is wrong")
def with_the_root_of_the_model(attention, x, h, cache=None):
    """Your scores are divided by √d_model. Each head compares d_k = d_model / h columns, so it is √d_k, as in attend."""
    grown = joined(attention, x, cache)
    return attention.W_O(heard_by(attention, x, *grown, h, root=x.shape[-1] ** 0.5)), grown


@question.misconception("x is added to the output", costs=1, because="all but one sum is right")
def with_the_way_around(attention, x, h, cache=None):
    """You add x to the output. That is the way around the sublayer, and the business of the block; attention returns what W_O says."""
    grown = joined(attention, x, cache)
    return x + attention.W_O(heard_by(attention, x, *grown, h)), grown


@question.alternative
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


@question.alternative
def head_by_head_in_numpy(attention, x, h, cache=None):
    grown = [part.detach().numpy() for part in joined(attention, x, cache)]
    q = attention.W_Q(x).detach().numpy()
    size, heard = q.shape[-1] // h, []
    for first in range(0, q.shape[-1], size):
        part = slice(first, first + size)
        scores = q[..., part] @ np.swapaxes(grown[0][..., part], 1, 2) / np.sqrt(size)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        heard.append(weights / weights.sum(axis=-1, keepdims=True) @ grown[1][..., part])
    output = attention.W_O(torch.from_numpy(np.concatenate(heard, axis=-1)))
    return output, tuple(torch.from_numpy(part) for part in grown)
