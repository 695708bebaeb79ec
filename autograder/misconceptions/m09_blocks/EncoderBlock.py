"""Lab 09, ``EncoderBlock``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from collections import OrderedDict

import torch
from coursekit.provided.p08_multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F

from autograder.misconceptions.m09_blocks.common import _around, _FeedForward, _Norm
from autograder.misconceptions.m09_blocks.LayerNorm import NormOverTheWords
from autograder.testing import alternative, misconception


class _Encoder(nn.Module):
    """The right answer in parts that a wrong one replaces."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, heads), _FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = _Norm(d_model), _Norm(d_model)
        self.drop = nn.Dropout(dropout)

    def attend(self, x, mask):
        return self.drop(self.attention(x, mask=mask)[0])

    def apply_feed_forward(self, x):
        return self.drop(self.feed_forward(x))

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.attend(y, mask), self.norm1)
        return _around(x, self.apply_feed_forward, self.norm2)


@misconception("EncoderBlock", title="a pre-LN encoder block")
class EncoderPreNorm(_Encoder):
    """Your block normalises what each sublayer is given, and not the sums: that is pre-LN. Here each norm acts on the sum."""

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.apply_feed_forward(self.norm2(x))


@misconception("EncoderBlock", title="nothing leads around the encoder's attention")
class EncoderWithoutFirstSum(_Encoder):
    """What the attention says replaces the words in your block: the first residual connection is missing."""

    def forward(self, x, mask=None):
        return _around(self.norm1(self.attend(x, mask)), self.apply_feed_forward, self.norm2)


@misconception("EncoderBlock", title="nothing leads around the encoder's feed-forward layer")
class EncoderWithoutSecondSum(_Encoder):
    """The second residual connection is missing: behind the feed-forward layer, add what went into it."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.attend(y, mask), self.norm1)
        return self.norm2(self.apply_feed_forward(x))


@misconception("EncoderBlock", title="the block's input added in the second sum")
class EncoderThatAddsItsInputTwice(_Encoder):
    """In your second sum stands the block's input x. It should be what went into the feed-forward layer: the result of the first
    Add & Norm."""

    def forward(self, x, mask=None):
        heard = _around(x, lambda y: self.attend(y, mask), self.norm1)
        return self.norm2(x + self.apply_feed_forward(heard))


@misconception("EncoderBlock", title="listening and thinking side by side")
class EncoderInParallel(_Encoder):
    """Your feed-forward layer is given the block's input. It should think about what was heard: give it the result of the first
    Add & Norm."""

    def forward(self, x, mask=None):
        heard = _around(x, lambda y: self.attend(y, mask), self.norm1)
        return self.norm2(heard + self.apply_feed_forward(x))


@misconception("EncoderBlock", title="thinking before listening")
class EncoderInReverse(_Encoder):
    """Your block thinks first and listens then. The attention comes first, with norm1; the feed-forward layer second, with norm2."""

    def forward(self, x, mask=None):
        x = _around(x, self.apply_feed_forward, self.norm1)
        return _around(x, lambda y: self.attend(y, mask), self.norm2)


@misconception(
    "EncoderBlock", title="one norm used twice", keeps="right but for the numbers that norm2 learns"
)
class EncoderWithOneNorm(_Encoder):
    """You use norm1 for both sums, and norm2 is never used. Each sum has its own."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.attend(y, mask), self.norm1)
        return _around(x, self.apply_feed_forward, self.norm1)


@misconception(
    "EncoderBlock", title="the encoder's norms exchanged", keeps="right but for which norm comes where"
)
class EncoderWithNormsExchanged(_Encoder):
    """Your norms are exchanged: norm1 belongs to the attention, norm2 to the feed-forward layer."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.attend(y, mask), self.norm2)
        return _around(x, self.apply_feed_forward, self.norm1)


@misconception(
    "EncoderBlock", title="another eps in the encoder", keeps="right for words that are not very quiet"
)
class EncoderWithAnotherEps(_Encoder):
    """Your norms are made with an eps of your own: LayerNorm(d_model) with its usual one is asked for, or very quiet words come out otherwise."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.norm1, self.norm2 = _Norm(d_model, eps=1e-6), _Norm(d_model, eps=1e-6)


@misconception(
    "EncoderBlock",
    title="the mask of an earlier call in the encoder",
    keeps="right wherever the mask stays the same",
)
class EncoderThatKeepsItsMask(_Encoder):
    """Your block keeps the mask of its first call with one, and uses it ever after: each call has its own, or none."""

    kept = None

    def attend(self, x, mask):
        if self.kept is None:
            self.kept = mask
        return super().attend(x, self.kept)


@misconception("EncoderBlock", title="no norm at the end of the block")
class EncoderWithoutLastNorm(_Encoder):
    """Your second sum is not normalised: norm2 is missing behind the feed-forward layer."""

    def forward(self, x, mask=None):
        x = _around(x, lambda y: self.attend(y, mask), self.norm1)
        return _around(x, self.apply_feed_forward, lambda y: y)


@misconception("EncoderBlock", title="the encoder ignores its mask", keeps="right wherever there is no mask")
class EncoderWithoutMask(_Encoder):
    """Your block gives the same result with and without a mask: pass it on to the attention, attention(y, mask=mask)."""

    def attend(self, x, mask):
        return super().attend(x, None)


@misconception(
    "EncoderBlock", title="the mask in the place of the memory", keeps="right wherever there is no mask"
)
class EncoderWithMaskAsMemory(_Encoder):
    """Your mask goes to the attention in second place, where the memory belongs: name it, attention(y, mask=mask)."""

    def attend(self, x, mask):
        return self.drop(self.attention(x, mask)[0])


@misconception(
    "EncoderBlock",
    title="a mask for all sentences taken for padding",
    keeps="right without a mask, and with one for each sentence",
)
class EncoderThatTakesMasksForPadding(_Encoder):
    """Your block takes a mask with two axes for padding, (B, T). It is one table for all sentences, (T, T), such as the causal mask: hand every mask on to
    the attention as it is."""

    def attend(self, x, mask):
        return super().attend(x, mask.unsqueeze(1) if mask is not None and mask.ndim == 2 else mask)


@misconception("EncoderBlock", title="what goes into a sublayer stands twice in the sum")
class EncoderThatAddsTwice(_Encoder):
    """Your functions return x + attention(x), and residual adds x once more: what goes into a sublayer stands twice in the sum. Hand residual only
    what the sublayer says."""

    def attend(self, x, mask):
        return x + super().attend(x, mask)

    def apply_feed_forward(self, x):
        return x + super().apply_feed_forward(x)


@misconception("EncoderBlock", title="the encoder's mask inverted", keeps="right wherever there is no mask")
class EncoderWithMaskInverted(_Encoder):
    """Your block silences what may be heard. True means “may attend” throughout, the opposite of PyTorch's layers: pass the mask on as it
    is."""

    def attend(self, x, mask):
        return super().attend(x, None if mask is None else ~mask)


@misconception("EncoderBlock", title="words normalised over the sentence")
class EncoderNormedOverWords(_Encoder):
    """Your Add & Norm runs over the words of the sentence: a change of one word's loudness reaches all the others. Each word is
    normalised by itself, along the last axis."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, dropout)
        self.norm1, self.norm2 = NormOverTheWords(d_model), NormOverTheWords(d_model)


@misconception(
    "EncoderBlock",
    title="dropout on the sum",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class EncoderWithDropoutOnTheSum(_Encoder):
    """Your dropout acts on the sum, so it also silences entries of the words themselves. It acts on what the sublayer says,
    before the sum."""

    def forward(self, x, mask=None):
        x = self.norm1(self.drop(x + self.attention(x, mask=mask)[0]))
        return self.norm2(self.drop(x + self.feed_forward(x)))


@misconception(
    "EncoderBlock",
    title="dropout behind the norm",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class EncoderWithDropoutLast(_Encoder):
    """Your dropout acts behind the norm. It acts on what the sublayer says, before the sum."""

    def forward(self, x, mask=None):
        x = self.drop(self.norm1(x + self.attention(x, mask=mask)[0]))
        return self.drop(self.norm2(x + self.feed_forward(x)))


@misconception(
    "EncoderBlock",
    title="dropout before the encoder's feed-forward layer, too",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class EncoderThatDropsBeforeThinking(_Encoder):
    """Your feed-forward layer is given words with holes: dropout acts on what goes into it as well. It acts on what a sublayer says,
    before the sum, and nowhere else."""

    def apply_feed_forward(self, x):
        return super().apply_feed_forward(self.drop(x))


@misconception(
    "EncoderBlock",
    title="dropout before the encoder's attention, too",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class EncoderThatDropsBeforeListening(_Encoder):
    """Your attention is given words with holes: dropout acts on what goes into it as well. It acts on what a sublayer says,
    before the sum, and nowhere else."""

    def attend(self, x, mask):
        return super().attend(self.drop(x), mask)


@misconception(
    "EncoderBlock",
    title="no dropout in the encoder",
    keeps="right wherever dropout is off; only training goes without it",
)
class EncoderWithoutDropout(_Encoder):
    """In training mode nothing is dropped in your block, whatever the probability: let the nn.Dropout act on what each sublayer
    says."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)


@misconception(
    "EncoderBlock",
    title="dropout of the encoder's attention only",
    keeps="right wherever dropout is off; in training one of two is missing",
)
class EncoderWithDropoutOnce(_Encoder):
    """Dropout acts on what your attention says, but not on what the feed-forward layer says. It acts on both."""

    def apply_feed_forward(self, x):
        return self.feed_forward(x)


@misconception(
    "EncoderBlock",
    title="a fixed dropout in the encoder",
    keeps="the block is right; only the rate of its dropout is not",
)
class EncoderWithAFixedDropout(_Encoder):
    """Your block always drops a tenth, whatever the argument dropout says; and its usual value is 0."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff, 0.1)


@misconception(
    "EncoderBlock",
    title="dropout twice on what the attention says",
    keeps="the block is right; only the rate of one of its dropouts is not",
)
class EncoderWithDropoutTwice(_Encoder):
    """Dropout acts twice on what your attention says, so more is dropped than was asked for. It acts once on what each sublayer says."""

    def attend(self, x, mask):
        return self.drop(super().attend(x, mask))


@misconception(
    "EncoderBlock",
    title="dropout in evaluation mode",
    keeps="the block is right; only its dropout does not know the mode",
)
class EncoderThatAlwaysDrops(_Encoder):
    """Your block drops in evaluation mode, too. Use an nn.Dropout that is a part of the block; it knows the mode."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__(d_model, heads, d_ff)
        self.rate = dropout

    def attend(self, x, mask):
        return F.dropout(super().attend(x, mask), self.rate)

    def apply_feed_forward(self, x):
        return F.dropout(super().apply_feed_forward(x), self.rate)


@misconception("EncoderBlock", title="the weights are returned, too")
class EncoderThatReturnsAPair(_Encoder):
    """Your block returns a pair. One tensor is wanted, so that the next block can take it as it is."""

    def forward(self, x, mask=None):
        return super().forward(x, mask), self.attention(x, mask=mask)[1]


@misconception(
    "EncoderBlock",
    title="the encoder's attention can't learn",
    keeps="the values are right; the gradient is not",
)
class EncoderThatDetaches(_Encoder):
    """The values are right, but no gradient comes through what your attention says: is there a detach() or a no_grad()?"""

    def attend(self, x, mask):
        return super().attend(x, mask).detach()


@alternative("EncoderBlock")
class EncoderByHand(nn.Module):
    """No helper of the lab but the attention; dropout by the function."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        layers = (
            ("linear1", nn.Linear(d_model, d_ff)),
            ("relu", nn.ReLU()),
            ("linear2", nn.Linear(d_ff, d_model)),
        )
        self.feed_forward = nn.Sequential(OrderedDict(layers))
        self.attention = MultiHeadAttention(h=heads, d_model=d_model)
        self.p = dropout

    def forward(self, x, mask=None):
        said, _weights = self.attention(x, None, mask)
        x = self.norm1(F.dropout(said, self.p, training=self.training) + x)
        return self.norm2(F.dropout(self.feed_forward(x), self.p, training=self.training) + x)


@alternative("EncoderBlock")
class EncoderSentenceBySentence(nn.Module):
    """A loop over the sentences; a dropout for each sublayer."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, heads), _FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = _Norm(d_model), _Norm(d_model)
        self.dropout1, self.dropout2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        done = []
        for number in range(len(x)):
            sentence = x[number : number + 1]
            own = mask[number] if mask is not None and mask.ndim == 3 else mask
            heard = self.attention(sentence, memory=sentence, mask=own)[0]
            z = self.norm1(sentence + self.dropout1(heard))
            done.append(self.norm2(z + self.dropout2(self.feed_forward(z))))
        return torch.cat(done)


@alternative("EncoderBlock")
class EncoderByName(_Encoder):
    """Every argument by its name, in another order, and everything in residual's place by hand."""

    def attend(self, x, mask):
        heard, _ = self.attention(mask=mask, memory=None, x=x)
        return self.drop(input=heard)


@alternative("EncoderBlock")
class EncoderInSinglePrecision(_Encoder):
    """The result in single precision."""

    def forward(self, x, mask=None):
        return super().forward(x.clone(), mask).float()
