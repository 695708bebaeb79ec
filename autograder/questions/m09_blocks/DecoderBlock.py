"""Lab 09, DecoderBlock(d_model, heads, d_ff, dropout=0.0): x (B, T, d), memory (B, S, d), masks → (B, T, d)."""

from collections import OrderedDict

import torch
from coursekit.provided.p08_multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F

from autograder.questions.engine import Observed, Question
from autograder.questions.m09_blocks.common import (
    NEARLY,
    Norm,
    Thought,
    around,
    block_shapes,
    built,
    causal,
    drawn,
    first,
    gradients,
    quiet_words,
    silenced,
    some_mask,
    tensor,
    what_is_dropped,
    with_one_norm,
)


class SentenceBySentence(nn.Module):
    """One sentence after the other, masks spread out to all of them first, with PyTorch's norms."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, heads) for _ in range(2))
        self.feed_forward, self.drop = Thought(d_model, d_ff), nn.Dropout(dropout)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        everything = torch.ones(1, 1, dtype=torch.bool)
        B, T, S = x.shape[0], x.shape[1], memory.shape[1]
        self_mask = (everything if self_mask is None else self_mask).expand(B, T, T)
        memory_mask = (everything if memory_mask is None else memory_mask).expand(B, T, S)
        done = []
        for y, source, own, theirs in zip(x, memory, self_mask, memory_mask, strict=True):
            y = y[None]
            y = self.norm1(y + self.drop(self.self_attention(y, mask=own)[0]))
            y = self.norm2(y + self.drop(self.cross_attention(y, source[None], theirs)[0]))
            done.append(self.norm3(y + self.drop(self.feed_forward(y))))
        return torch.cat(done)


question = Question(
    SentenceBySentence,
    uses=("LayerNorm", "FeedForward", "residual"),
    forbidden=("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer"),
)
LAYERS = ("self_attention.W_O", "cross_attention.W_O", "feed_forward.linear2")


def shapes(d_model, d_ff):
    return block_shapes(("self_attention", "cross_attention"), 3, d_model, d_ff)


def asking_always_the_same(weights):
    """What the source is asked with has a scenario of its own: here it is asked the same, whoever asks."""
    asks = "cross_attention.W_Q.weight"
    return with_one_norm(weights) | {asks: torch.zeros_like(weights[asks])}


@question.scenario("The parts have the text's names, and learn what it says.", weight=2.5)
def parts(student, rng):
    yield Observed("what is learned", student(6, 3, 5).parameters(list(shapes(6, 5))))


@question.scenario(
    "Listen to yourself, to the source, think: the lecture's three equations, and one tensor comes out.",
    weight=2,
)
def equations(student, rng):
    for B, T, S, d_model, heads, d_ff in ((2, 5, 4, 6, 3, 7), (1, 1, 3, 4, 2, 3)):
        module = built(student, (d_model, heads, d_ff), with_one_norm(drawn(rng, shapes(d_model, d_ff))))
        x, memory = tensor(rng, B, d_model, T).transpose(1, 2), tensor(rng, B, S, d_model)
        yield Observed("the output", module(x, memory), **NEARLY)
        yield Observed("x or the memory is changed", bool(module.mutated))


@question.scenario("The self mask, in its three shapes, acts on the self-attention.", weight=1.5)
def self_masks(student, rng):
    weights = silenced(asking_always_the_same(drawn(rng, shapes(6, 5))), *LAYERS[1:])
    module, x, memory = built(student, (6, 3, 5), weights), tensor(rng, 3, 4, 6), tensor(rng, 3, 4, 6)
    for mask in (causal(4), some_mask(rng, 3, 4, 4), some_mask(rng, 3, 1, 4)):
        yield Observed("the output", first(module(x, memory, self_mask=mask)), **NEARLY)


@question.scenario("The memory mask, in its three shapes, acts on the cross-attention.", weight=1.5)
def memory_masks(student, rng):
    weights = silenced(asking_always_the_same(drawn(rng, shapes(6, 5))), LAYERS[0], LAYERS[2])
    module, x, memory = built(student, (6, 3, 5), weights), tensor(rng, 3, 4, 6), tensor(rng, 3, 4, 6)
    for mask in (some_mask(rng, 4, 4), some_mask(rng, 3, 4, 4), some_mask(rng, 3, 1, 4)):
        yield Observed("the output", first(module(x, memory, memory_mask=mask)), **NEARLY)


@question.scenario(
    "Causal mask and padding at once, by name and in their places; the next call has others, or none.",
    weight=1.5,
)
def both_masks(student, rng):
    module = built(student, (6, 3, 5), asking_always_the_same(drawn(rng, shapes(6, 5))))
    for T, S in ((4, 5), (5, 3)):
        x, memory, padding = tensor(rng, 2, T, 6), tensor(rng, 2, S, 6), some_mask(rng, 2, 1, S)
        named = module(x, memory, memory_mask=padding, self_mask=causal(T))
        yield Observed("with both masks by name", first(named), **NEARLY)
        yield Observed("with both in their places", first(module(x, memory, causal(T), padding)), **NEARLY)
    tables = some_mask(rng, 2, 4, 4), some_mask(rng, 2, 4, 4)
    alike = module(tensor(rng, 2, 4, 6), tensor(rng, 2, 4, 6), *tables)
    yield Observed("with tables of one shape", first(alike), **NEARLY)
    yield Observed("with none", first(module(x, memory)), **NEARLY)


@question.scenario("Each norm in its place: where sublayers are silent, only norms act.", weight=2)
def norms(student, rng):
    weights = drawn(rng, shapes(6, 5))
    # What the source is asked with, and masks, have other scenarios.
    for layer in ("cross_attention.W_Q", "self_attention.W_V"):
        weights[f"{layer}.weight"].zero_()
    for speaking in (None, *LAYERS[1:]):
        silent = [layer for layer in LAYERS if layer != speaking]
        module = built(student, (6, 2, 5), silenced(weights, *silent))
        yield Observed(
            "the output", first(module(3 * tensor(rng, 2, 4, 6) + 1, tensor(rng, 2, 3, 6))), **NEARLY
        )


@question.scenario("The norms have LayerNorm's usual eps, as very quiet words show.", weight=0.5)
def usual_eps(student, rng):
    yield from quiet_words(student, rng, shapes(6, 5), 3, tensor(rng, 2, 3, 6))


@question.scenario(
    "Gradients reach x, the memory and every part; none comes from the future or the padding.", weight=2
)
def all_gradients(student, rng):
    weights = asking_always_the_same(drawn(rng, shapes(6, 5)))
    words = [tensor(rng, 2, 4, 6), tensor(rng, 2, 3, 6)]
    masks = {"self_mask": causal(4), "memory_mask": some_mask(rng, 2, 1, 3)}
    module = built(student, (6, 2, 5), weights)
    yield from gradients(module, weights, words, masks, tensor(rng, 2, 4, 6))


@question.scenario(
    "In training mode dropout silences entries of what each sublayer says, before the sum, and nothing else.",
    weight=1.5,
)
def what_dropout_does(student, rng):
    sublayers = ("self_attention", "cross_attention", "feed_forward")
    yield from what_is_dropped(student, rng, shapes, sublayers, tensor(rng, 4, 3, 32))


class Decoder(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, heads) for _ in range(2))
        self.feed_forward, self.drop = Thought(d_model, d_ff), nn.Dropout(dropout)
        self.norm1, self.norm2, self.norm3 = Norm(d_model), Norm(d_model), Norm(d_model)

    def self_attend(self, x, mask):
        return self.drop(self.self_attention(x, mask=mask)[0])

    def cross_attend(self, x, memory, mask):
        return self.drop(self.cross_attention(x, memory, mask)[0])

    def apply_feed_forward(self, x):
        return self.drop(self.feed_forward(x))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        x = around(x, lambda y: self.cross_attend(y, memory, memory_mask), self.norm2)
        return around(x, self.apply_feed_forward, self.norm3)


@question.misconception("queries from the memory", costs=2.5)
class DecoderWithRolesExchanged(Decoder):
    """In your cross-attention the memory asks and the decoder answers. The queries come from the decoder, keys and values from the
    memory: cross_attention(y, memory, …)."""

    def cross_attend(self, x, memory, mask):
        return self.drop(self.cross_attention(memory, x, mask)[0])


@question.misconception("the decoder ignores the memory", costs=3)
class DecoderWithoutMemory(Decoder):
    """Your output does not depend on the source: the cross-attention listens to the decoder itself. Give it the memory."""

    def cross_attend(self, x, memory, mask):
        return self.drop(self.cross_attention(x, None, None)[0])


@question.misconception("the decoder ignores the self mask", costs=1.5)
class DecoderWithoutSelfMask(Decoder):
    """Your self-attention sees the future: self_mask is not passed on to it. The block would learn to copy what it should
    predict."""

    def self_attend(self, x, mask):
        return super().self_attend(x, None)


@question.misconception("the decoder ignores the memory mask", costs=1)
class DecoderWithoutMemoryMask(Decoder):
    """Your cross-attention listens to the padding of the source: memory_mask is not passed on to it."""

    def cross_attend(self, x, memory, mask):
        return super().cross_attend(x, memory, None)


@question.misconception("the decoder's masks exchanged", costs=1.5)
class DecoderWithMasksExchanged(Decoder):
    """Your masks are exchanged: self_mask belongs to the self-attention, memory_mask to the cross-attention."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, memory_mask, self_mask)


@question.misconception("a causal mask where none is given", costs=1)
class DecoderThatMakesUpAMask(Decoder):
    """When no self_mask is given, your block makes a causal one. Whoever calls the block decides: None means that every word may hear every other."""

    def self_attend(self, x, mask):
        T = x.shape[1]
        return super().self_attend(x, torch.ones(T, T, dtype=torch.bool).tril() if mask is None else mask)


@question.misconception("a pre-LN decoder block", costs=3)
class DecoderPreNorm(Decoder):
    """Your block normalises what each sublayer is given, and not the sums: that is pre-LN. Here each norm acts on the sum."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = x + self.self_attend(self.norm1(x), self_mask)
        x = x + self.cross_attend(self.norm2(x), memory, memory_mask)
        return x + self.apply_feed_forward(self.norm3(x))


@question.misconception("nothing leads around the cross-attention", costs=3)
class DecoderWithoutSecondSum(Decoder):
    """The second residual connection is missing: what your cross-attention says replaces the words. Add what went into it."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        x = self.norm2(self.cross_attend(x, memory, memory_mask))
        return around(x, self.apply_feed_forward, self.norm3)


@question.misconception("no feed-forward layer in the decoder", costs=3)
class DecoderThatDoesNotThink(Decoder):
    """Your block ends behind the cross-attention: the feed-forward layer with its Add & Norm is never used."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        return around(x, lambda y: self.cross_attend(y, memory, memory_mask), self.norm2)


@question.misconception("the memory of the first call", costs=2, because="every later sentence is wrong")
class DecoderThatKeepsTheFirstMemory(Decoder):
    """Your block keeps the memory of its first call and listens to it ever after. “The same memory” means the same for all blocks of one
    call; the next sentence brings its own."""

    kept = None

    def cross_attend(self, x, memory, mask):
        if self.kept is None:
            self.kept = memory
        return super().cross_attend(x, self.kept, mask)


@question.misconception("the memory is normalised", costs=2.5)
class DecoderThatNormsTheMemory(Decoder):
    """Your block normalises the memory before it listens to it. The memory goes in as it is; the encoder has normalised it."""

    def cross_attend(self, x, memory, mask):
        return super().cross_attend(x, self.norm2(memory), mask)


@question.misconception("no dropout in the decoder", costs=0.5)
class DecoderWithoutDropout(Decoder):
    """In training mode nothing is dropped in your block, whatever the probability: let the nn.Dropout act on what each sublayer
    says."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)


@question.misconception("one attention for both", costs=4)
class DecoderWithOneAttention(Decoder):
    """Your self_attention and cross_attention are the same module, so whatever the one learns changes the other. Make two."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.cross_attention = self.self_attention


@question.alternative
class DecoderByHand(nn.Module):
    """No helper of the lab but the attention; the norms in a loop, dropout by the function."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        for number in (3, 2, 1):
            self.add_module(f"norm{number}", nn.LayerNorm(d_model, eps=1e-5))
        up, down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.feed_forward = nn.Sequential(OrderedDict(linear1=up, relu=nn.ReLU(), linear2=down))
        self.cross_attention, self.self_attention = (MultiHeadAttention(d_model, heads) for _ in range(2))
        self.p = dropout

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        sublayers = (
            lambda y: self.self_attention(y, y, self_mask)[0],
            lambda y: self.cross_attention(x=y, memory=memory, mask=memory_mask)[0],
            self.feed_forward,
        )
        for norm, sublayer in zip((self.norm1, self.norm2, self.norm3), sublayers, strict=True):
            x = norm(F.dropout(sublayer(x), self.p, self.training) + x)
        return x
