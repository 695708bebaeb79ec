"""Lab 09, ``DecoderBlock``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from collections import OrderedDict

import torch
from coursekit.provided.p08_multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F

from autograder.misconceptions.m09_blocks.common import _around, _FeedForward, _Norm
from autograder.testing import alternative, misconception


class _Decoder(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = _FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = _Norm(d_model), _Norm(d_model), _Norm(d_model)
        self.drop = nn.Dropout(dropout)

    def self_attend(self, x, mask):
        return self.drop(self.self_attention(x, mask=mask)[0])

    def cross_attend(self, x, memory, mask):
        return self.drop(self.cross_attention(x, memory, mask)[0])

    def apply_feed_forward(self, x):
        return self.drop(self.feed_forward(x))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        x = _around(x, lambda y: self.cross_attend(y, memory, memory_mask), self.norm2)
        return _around(x, self.apply_feed_forward, self.norm3)


@misconception("DecoderBlock", title="queries from the memory")
class DecoderWithRolesExchanged(_Decoder):
    """In your cross-attention the memory asks and the decoder answers. The queries come from the decoder, keys and values from the
    memory: cross_attention(y, memory, …)."""

    def cross_attend(self, x, memory, mask):
        return self.drop(self.cross_attention(memory, x, mask)[0])


@misconception("DecoderBlock", title="the decoder ignores the memory")
class DecoderWithoutMemory(_Decoder):
    """Your output does not depend on the source: the cross-attention listens to the decoder itself. Give it the memory."""

    def cross_attend(self, x, memory, mask):
        return self.drop(self.cross_attention(x, None, None)[0])


@misconception(
    "DecoderBlock", title="the decoder ignores the self mask", keeps="right but for one of its two masks"
)
class DecoderWithoutSelfMask(_Decoder):
    """Your self-attention sees the future: self_mask is not passed on to it. The block would learn to copy what it should
    predict."""

    def self_attend(self, x, mask):
        return super().self_attend(x, None)


@misconception(
    "DecoderBlock", title="the decoder ignores the memory mask", keeps="right but for one of its two masks"
)
class DecoderWithoutMemoryMask(_Decoder):
    """Your cross-attention listens to the padding of the source: memory_mask is not passed on to it."""

    def cross_attend(self, x, memory, mask):
        return super().cross_attend(x, memory, None)


@misconception("DecoderBlock", title="the decoder's masks exchanged", keeps="right wherever there is no mask")
class DecoderWithMasksExchanged(_Decoder):
    """Your masks are exchanged: self_mask belongs to the self-attention, memory_mask to the cross-attention."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, memory_mask, self_mask)


@misconception("DecoderBlock", title="the decoder's masks inverted", keeps="right wherever there is no mask")
class DecoderWithMasksInverted(_Decoder):
    """Your block silences what may be heard. True means “may attend” throughout, the opposite of PyTorch's layers."""

    def self_attend(self, x, mask):
        return super().self_attend(x, None if mask is None else ~mask)

    def cross_attend(self, x, memory, mask):
        return super().cross_attend(x, memory, None if mask is None else ~mask)


@misconception(
    "DecoderBlock",
    title="one sentence's self mask for all",
    keeps="right wherever all sentences have one self mask",
)
class DecoderWithOneSelfMaskForAll(_Decoder):
    """Of a self_mask with a table for each sentence your block takes the first for all. Hand every mask on to the attention as it is."""

    def self_attend(self, x, mask):
        return super().self_attend(x, mask[0] if mask is not None and mask.ndim == 3 else mask)


@misconception(
    "DecoderBlock",
    title="the self mask in the place of the memory",
    keeps="right wherever there is no self mask",
)
class DecoderWithMaskAsMemory(_Decoder):
    """Your self_mask goes to the self-attention in second place, where the memory belongs: name it, self_attention(y, mask=self_mask)."""

    def self_attend(self, x, mask):
        return self.drop(self.self_attention(x, mask)[0])


@misconception(
    "DecoderBlock", title="a causal mask of its own", keeps="right wherever a causal self mask is given"
)
class DecoderWithItsOwnMask(_Decoder):
    """Your block makes a causal mask of its own when none is given, and ignores the one that is given. Whoever calls the block decides: use self_mask as it is,
    also when it is None."""

    def self_attend(self, x, mask):
        T = x.shape[1]
        return super().self_attend(x, torch.ones(T, T, dtype=torch.bool).tril())


@misconception(
    "DecoderBlock", title="a causal mask where none is given", keeps="right wherever a self mask is given"
)
class DecoderThatMakesUpAMask(_Decoder):
    """When no self_mask is given, your block makes a causal one. Whoever calls the block decides: None means that every word may hear every other."""

    def self_attend(self, x, mask):
        T = x.shape[1]
        return super().self_attend(x, torch.ones(T, T, dtype=torch.bool).tril() if mask is None else mask)


@misconception("DecoderBlock", title="a pre-LN decoder block")
class DecoderPreNorm(_Decoder):
    """Your block normalises what each sublayer is given, and not the sums: that is pre-LN. Here each norm acts on the sum."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = x + self.self_attend(self.norm1(x), self_mask)
        x = x + self.cross_attend(self.norm2(x), memory, memory_mask)
        return x + self.apply_feed_forward(self.norm3(x))


@misconception("DecoderBlock", title="nothing leads around the cross-attention")
class DecoderWithoutSecondSum(_Decoder):
    """The second residual connection is missing: what your cross-attention says replaces the words. Add what went into it."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        x = self.norm2(self.cross_attend(x, memory, memory_mask))
        return _around(x, self.apply_feed_forward, self.norm3)


@misconception("DecoderBlock", title="nothing leads around the decoder's feed-forward layer")
class DecoderWithoutThirdSum(_Decoder):
    """The third residual connection is missing: behind the feed-forward layer, add what went into it."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        x = _around(x, lambda y: self.cross_attend(y, memory, memory_mask), self.norm2)
        return self.norm3(self.apply_feed_forward(x))


@misconception(
    "DecoderBlock",
    title="queries from the block's input",
    keeps="one argument of one call is wrong; masks, norms and sums are right",
)
class DecoderThatAsksWithItsInput(_Decoder):
    """Your cross-attention asks with the block's input x. The queries come from what the self-attention has just said, after norm1."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        written = _around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        heard = self.norm2(written + self.cross_attend(x, memory, memory_mask))
        return _around(heard, self.apply_feed_forward, self.norm3)


@misconception("DecoderBlock", title="cross-attention before self-attention")
class DecoderInReverse(_Decoder):
    """Your block listens to the source first and to itself then. The self-attention comes first."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.cross_attend(y, memory, memory_mask), self.norm2)
        x = _around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        return _around(x, self.apply_feed_forward, self.norm3)


@misconception("DecoderBlock", title="no feed-forward layer in the decoder")
class DecoderThatDoesNotThink(_Decoder):
    """Your block ends behind the cross-attention: the feed-forward layer with its Add & Norm is never used."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        return _around(x, lambda y: self.cross_attend(y, memory, memory_mask), self.norm2)


@misconception(
    "DecoderBlock", title="the decoder's norms out of order", keeps="right but for which norm comes where"
)
class DecoderWithNormsExchanged(_Decoder):
    """Your second and third norm are exchanged: norm2 belongs to the cross-attention, norm3 to the feed-forward layer."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = _around(x, lambda y: self.self_attend(y, self_mask), self.norm1)
        x = _around(x, lambda y: self.cross_attend(y, memory, memory_mask), self.norm3)
        return _around(x, self.apply_feed_forward, self.norm2)


@misconception(
    "DecoderBlock", title="another eps in the decoder", keeps="right for words that are not very quiet"
)
class DecoderWithAnotherEps(_Decoder):
    """Your norms are made with an eps of your own: LayerNorm(d_model) with its usual one is asked for, or very quiet words come out otherwise."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.norm1, self.norm2, self.norm3 = (_Norm(d_model, eps=1e-6) for _ in range(3))


@misconception(
    "DecoderBlock", title="the memory of the first call", keeps="right as long as the memory stays the same"
)
class DecoderThatKeepsTheFirstMemory(_Decoder):
    """Your block keeps the memory of its first call and listens to it ever after. “The same memory” means the same for all blocks of one
    call; the next sentence brings its own."""

    kept = None

    def cross_attend(self, x, memory, mask):
        if self.kept is None:
            self.kept = memory
        return super().cross_attend(x, self.kept, mask)


@misconception(
    "DecoderBlock",
    title="the mask of an earlier call in the decoder",
    keeps="right wherever the masks stay the same",
)
class DecoderThatKeepsItsMask(_Decoder):
    """Your block keeps the self mask of its first call with one, and uses it ever after: each call has its own, or none."""

    kept = None

    def self_attend(self, x, mask):
        if self.kept is None:
            self.kept = mask
        return super().self_attend(x, self.kept)


@misconception("DecoderBlock", title="the memory is normalised")
class DecoderThatNormsTheMemory(_Decoder):
    """Your block normalises the memory before it listens to it. The memory goes in as it is; the encoder has normalised it."""

    def cross_attend(self, x, memory, mask):
        return super().cross_attend(x, self.norm2(memory), mask)


@misconception(
    "DecoderBlock", title="no gradient reaches the memory", keeps="the values are right; one gradient is not"
)
class DecoderThatDetachesTheMemory(_Decoder):
    """The values are right, but the memory is cut off from the gradient, so the encoder would never learn: do not detach it."""

    def cross_attend(self, x, memory, mask):
        return super().cross_attend(x, memory.detach(), mask)


@misconception(
    "DecoderBlock",
    title="no dropout in the decoder",
    keeps="right wherever dropout is off; only training goes without it",
)
class DecoderWithoutDropout(_Decoder):
    """In training mode nothing is dropped in your block, whatever the probability: let the nn.Dropout act on what each sublayer
    says."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)


@misconception(
    "DecoderBlock",
    title="no dropout on what the source says",
    keeps="right wherever dropout is off; in training one of three is missing",
)
class DecoderWithoutDropoutInTheMiddle(_Decoder):
    """Dropout acts on your first and third sublayer, but not on what the cross-attention says. It acts on all three."""

    def cross_attend(self, x, memory, mask):
        return self.cross_attention(x, memory, mask)[0]


@misconception(
    "DecoderBlock",
    title="dropout twice on what the source says",
    keeps="the block is right; only the rate of one of its dropouts is not",
)
class DecoderWithDropoutTwice(_Decoder):
    """Dropout acts twice on what your cross-attention says, so more is dropped than was asked for. It acts once on what each sublayer says."""

    def cross_attend(self, x, memory, mask):
        return self.drop(super().cross_attend(x, memory, mask))


@misconception(
    "DecoderBlock",
    title="dropout before the decoder's feed-forward layer, too",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class DecoderThatDropsBeforeThinking(_Decoder):
    """Your feed-forward layer is given words with holes: dropout acts on what goes into it as well. It acts on what a sublayer says,
    before the sum, and nowhere else."""

    def apply_feed_forward(self, x):
        return super().apply_feed_forward(self.drop(x))


@misconception(
    "DecoderBlock",
    title="dropout on the memory",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class DecoderThatDropsTheMemory(_Decoder):
    """Your block drops entries of the memory before it listens to it. The memory goes in as it is; dropout acts on what the
    cross-attention says."""

    def cross_attend(self, x, memory, mask):
        return super().cross_attend(x, self.drop(memory), mask)


@misconception(
    "DecoderBlock",
    title="the decoder's dropout on the sum",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class DecoderWithDropoutOnTheSum(_Decoder):
    """Your dropout acts on the sums, so it also silences entries of the words themselves. It acts on what the sublayer says,
    before the sum."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(self.drop(x + self.self_attention(x, mask=self_mask)[0]))
        x = self.norm2(self.drop(x + self.cross_attention(x, memory, memory_mask)[0]))
        return self.norm3(self.drop(x + self.feed_forward(x)))


@misconception("DecoderBlock", title="one attention for both")
class DecoderWithOneAttention(_Decoder):
    """Your self_attention and cross_attention are the same module, so whatever the one learns changes the other. Make two."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.cross_attention = self.self_attention


@misconception("DecoderBlock", title="the decoder returns the weights, too")
class DecoderThatReturnsAPair(_Decoder):
    """Your block returns a pair. One tensor is wanted, so that the next block can take it as it is."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, self_mask, memory_mask), self.cross_attention(x, memory)[1]


@alternative("DecoderBlock")
class DecoderByHand(nn.Module):
    """No helper of the lab but the attention; the norms in a loop, dropout by the function."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        for number in (3, 2, 1):
            self.add_module(f"norm{number}", nn.LayerNorm(d_model, eps=1e-5))
        layers = (
            ("linear1", nn.Linear(d_model, d_ff)),
            ("relu", nn.ReLU()),
            ("linear2", nn.Linear(d_ff, d_model)),
        )
        self.feed_forward = nn.Sequential(OrderedDict(layers))
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


@alternative("DecoderBlock")
class DecoderSentenceBySentence(nn.Module):
    """A loop over the sentences; masks spread out to all sentences first."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = _FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (_Norm(d_model) for _ in range(3))
        self.dropouts = nn.ModuleList(nn.Dropout(dropout) for _ in range(3))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        B, T, S = x.shape[0], x.shape[1], memory.shape[1]
        everything = torch.ones(1, 1, dtype=torch.bool)
        self_mask = (everything if self_mask is None else self_mask).expand(B, T, T)
        memory_mask = (everything if memory_mask is None else memory_mask).expand(B, T, S)
        done = []
        for i in range(B):
            y = x[i][None]
            y = self.norm1(y + self.dropouts[0](self.self_attention(y, mask=self_mask[i])[0]))
            heard, _ = self.cross_attention(y, memory[i][None], memory_mask[i])
            y = self.norm2(y + self.dropouts[1](heard))
            done.append(self.norm3(y + self.dropouts[2](self.feed_forward(y)))[0])
        return torch.stack(done)


@alternative("DecoderBlock")
class DecoderByName(_Decoder):
    """Every argument by its name, in another order."""

    def self_attend(self, x, mask):
        return self.drop(input=self.self_attention(mask=mask, memory=x, x=x)[0])

    def cross_attend(self, x, memory, mask):
        return self.drop(self.cross_attention(memory=memory, mask=mask, x=x)[0])


@alternative("DecoderBlock")
class DecoderInSinglePrecision(_Decoder):
    """The result in single precision."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, self_mask, memory_mask).float()
