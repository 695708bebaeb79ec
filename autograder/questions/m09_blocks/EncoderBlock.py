"""Lab 09, EncoderBlock(d_model, heads, d_ff, dropout=0.0): x (B, T, d), mask → listened, then thought, each with Add & Norm."""

from collections import OrderedDict

import torch
from coursekit.provided.p08_multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F

from autograder.questions.engine import Observed, Question
from autograder.questions.m09_blocks.common import (
    NEARLY,
    Norm,
    NormOverTheWords,
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
    """One sentence after the other, with PyTorch's norms."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, heads), Thought(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout1, self.dropout2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        done = []
        for number in range(len(x)):
            words = x[number : number + 1]
            own = mask[number] if mask is not None and mask.ndim == 3 else mask
            words = self.norm1(words + self.dropout1(self.attention(words, words, own)[0]))
            done.append(self.norm2(words + self.dropout2(self.feed_forward(words))))
        return torch.cat(done)


question = Question(
    SentenceBySentence,
    uses=("LayerNorm", "FeedForward", "residual"),
    forbidden=("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer"),
)


def shapes(d_model, d_ff):
    return block_shapes(("attention",), 2, d_model, d_ff)


@question.scenario("The parts have the text's names, and learn what it says.", weight=2.5)
def parts(student, rng):
    yield Observed("what is learned", student(6, 3, 5).parameters(list(shapes(6, 5))))


@question.scenario(
    "Listen, add, normalise; think, add, normalise: the lecture's two equations, and one tensor comes out.",
    weight=2,
)
def equations(student, rng):
    for B, T, d_model, heads, d_ff in ((2, 5, 6, 3, 7), (1, 1, 4, 2, 3)):
        module = built(student, (d_model, heads, d_ff), with_one_norm(drawn(rng, shapes(d_model, d_ff))))
        yield Observed("the output", module(tensor(rng, B, d_model, T).transpose(1, 2)), **NEARLY)
        yield Observed("x is changed", bool(module.mutated))


def listening(student, rng, heads):
    """A block that only listens: what it thinks has other scenarios."""
    weights = silenced(with_one_norm(drawn(rng, shapes(6, 7))), "feed_forward.linear2")
    return built(student, (6, heads, 7), weights)


@question.scenario(
    "A mask for all sentences, in second place or by name; the next call has another, or none.", weight=1.5
)
def masks_for_all(student, rng):
    module, x = listening(student, rng, 3), tensor(rng, 2, 4, 6)
    yield Observed("with a causal mask", first(module(x, causal(4))), **NEARLY)
    yield Observed("with another mask", first(module(x, mask=some_mask(rng, 4, 4))), **NEARLY)
    yield Observed("without one", first(module(x)), **NEARLY)
    yield Observed("of one sentence", first(module(tensor(rng, 1, 4, 6), causal(4))), **NEARLY)


@question.scenario("A mask for each sentence, and one for the padding.", weight=1.5)
def masks_for_each(student, rng):
    module, x = listening(student, rng, 2), tensor(rng, 4, 4, 6)
    for shape in ((4, 4, 4), (4, 1, 4)):
        yield Observed("with a mask", first(module(x, mask=some_mask(rng, *shape))), **NEARLY)


@question.scenario(
    "Each norm in its place, norm1 first: where sublayers are silent, only norms act.", weight=2
)
def norms(student, rng):
    weights = drawn(rng, shapes(6, 5))
    attention, thinking = "attention.W_O", "feed_forward.linear2"
    for silent in ((attention, thinking), (attention,), (thinking,)):
        module = built(student, (6, 2, 5), silenced(weights, *silent))
        yield Observed("the output", first(module(3 * tensor(rng, 2, 4, 6) + 1)), **NEARLY)


@question.scenario("The norms have LayerNorm's usual eps, as very quiet words show.", weight=0.5)
def usual_eps(student, rng):
    yield from quiet_words(student, rng, shapes(6, 5), 2)


@question.scenario("Gradients reach x and every part, and none comes from the future.", weight=1.5)
def all_gradients(student, rng):
    weights = with_one_norm(drawn(rng, shapes(6, 5)))
    module, x = built(student, (6, 2, 5), weights), tensor(rng, 2, 4, 6)
    yield from gradients(module, weights, [x], {"mask": causal(4)}, tensor(rng, 2, 4, 6))


@question.scenario(
    "In training mode dropout silences entries of what each sublayer says, before the sum, and nothing else.",
    weight=2,
)
def what_dropout_does(student, rng):
    yield from what_is_dropped(student, rng, shapes, ("attention", "feed_forward"))


class Encoder(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, heads), Thought(d_model, d_ff)
        self.norm1, self.norm2 = Norm(d_model), Norm(d_model)
        self.drop = nn.Dropout(dropout)

    def attend(self, x, mask):
        return self.drop(self.attention(x, mask=mask)[0])

    def apply_feed_forward(self, x):
        return self.drop(self.feed_forward(x))

    def forward(self, x, mask=None):
        x = around(x, lambda y: self.attend(y, mask), self.norm1)
        return around(x, self.apply_feed_forward, self.norm2)


@question.misconception("a pre-LN encoder block", costs=3)
class EncoderPreNorm(Encoder):
    """Your block normalises what each sublayer is given, and not the sums: that is pre-LN. Here each norm acts on the sum."""

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.apply_feed_forward(self.norm2(x))


@question.misconception("nothing leads around the encoder's attention", costs=3)
class EncoderWithoutFirstSum(Encoder):
    """What the attention says replaces the words in your block: the first residual connection is missing."""

    def forward(self, x, mask=None):
        return around(self.norm1(self.attend(x, mask)), self.apply_feed_forward, self.norm2)


@question.misconception("nothing leads around the encoder's feed-forward layer", costs=3)
class EncoderWithoutSecondSum(Encoder):
    """The second residual connection is missing: behind the feed-forward layer, add what went into it."""

    def forward(self, x, mask=None):
        x = around(x, lambda y: self.attend(y, mask), self.norm1)
        return self.norm2(self.apply_feed_forward(x))


@question.misconception("no norm at the end of the block", costs=3)
class EncoderWithoutLastNorm(Encoder):
    """Your second sum is not normalised: norm2 is missing behind the feed-forward layer."""

    def forward(self, x, mask=None):
        x = around(x, lambda y: self.attend(y, mask), self.norm1)
        return around(x, self.apply_feed_forward, lambda y: y)


@question.misconception("the encoder ignores its mask", costs=1.5)
class EncoderWithoutMask(Encoder):
    """Your block gives the same result with and without a mask: pass it on to the attention, attention(y, mask=mask)."""

    def attend(self, x, mask):
        return super().attend(x, None)


@question.misconception("the mask in the place of the memory", costs=1.5)
class EncoderWithMaskAsMemory(Encoder):
    """Your mask goes to the attention in second place, where the memory belongs: name it, attention(y, mask=mask)."""

    def attend(self, x, mask):
        return self.drop(self.attention(x, mask)[0])


@question.misconception("what goes into a sublayer stands twice in the sum", costs=3)
class EncoderThatAddsTwice(Encoder):
    """Your functions return x + attention(x), and residual adds x once more: what goes into a sublayer stands twice in the sum. Hand residual only
    what the sublayer says."""

    def attend(self, x, mask):
        return x + super().attend(x, mask)

    def apply_feed_forward(self, x):
        return x + super().apply_feed_forward(x)


@question.misconception("the encoder's mask inverted", costs=1.5)
class EncoderWithMaskInverted(Encoder):
    """Your block silences what may be heard. True means “may attend” throughout, the opposite of PyTorch's layers: pass the mask on as it
    is."""

    def attend(self, x, mask):
        return super().attend(x, None if mask is None else ~mask)


@question.misconception("words normalised over the sentence", costs=3)
class EncoderNormedOverWords(Encoder):
    """Your Add & Norm runs over the words of the sentence: a change of one word's loudness reaches all the others. Each word is
    normalised by itself, along the last axis."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.norm1, self.norm2 = NormOverTheWords(d_model), NormOverTheWords(d_model)


@question.misconception("dropout on the sum", costs=1)
class EncoderWithDropoutOnTheSum(Encoder):
    """Your dropout acts on the sum, so it also silences entries of the words themselves. It acts on what the sublayer says,
    before the sum."""

    def forward(self, x, mask=None):
        x = self.norm1(self.drop(x + self.attention(x, mask=mask)[0]))
        return self.norm2(self.drop(x + self.feed_forward(x)))


@question.misconception("no dropout in the encoder", costs=1)
class EncoderWithoutDropout(Encoder):
    """In training mode nothing is dropped in your block, whatever the probability: let the nn.Dropout act on what each sublayer
    says."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)


@question.misconception("dropout in evaluation mode", costs=1)
class EncoderThatAlwaysDrops(Encoder):
    """Your block drops in evaluation mode, too. Use an nn.Dropout that is a part of the block; it knows the mode."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)
        self.rate = dropout

    def attend(self, x, mask):
        return F.dropout(super().attend(x, mask), self.rate)

    def apply_feed_forward(self, x):
        return F.dropout(super().apply_feed_forward(x), self.rate)


@question.alternative
class EncoderByHand(nn.Module):
    """No helper of the lab but the attention; dropout by the function."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        up, down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.feed_forward = nn.Sequential(OrderedDict(linear1=up, relu=nn.ReLU(), linear2=down))
        self.attention = MultiHeadAttention(h=heads, d_model=d_model)
        self.p = dropout

    def forward(self, x, mask=None):
        said, _weights = self.attention(x, None, mask)
        x = self.norm1(F.dropout(said, self.p, training=self.training) + x)
        return self.norm2(F.dropout(self.feed_forward(x), self.p, training=self.training) + x)


@question.alternative
class EncoderInSinglePrecision(Encoder):
    """The result in single precision."""

    def forward(self, x, mask=None):
        return super().forward(x.clone(), mask).float()
