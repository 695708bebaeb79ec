"""Lab 12, ``Transformer``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import torch
from coursekit.provided.p06_positions import sinusoidal
from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
from torch import nn

from autograder.misconceptions.m12_translator.common import PAD
from autograder.testing import alternative, misconception


class _Model(nn.Module):
    """The right answer, with a screw for each mistake."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__()
        self.root = math.sqrt(d_model)
        self.source_embedding = nn.Embedding(source_size, d_model)
        self.target_embedding = nn.Embedding(target_size, d_model)
        for table in (self.source_embedding, self.target_embedding):
            nn.init.normal_(table.weight, std=d_model**-0.5)
        self.encoder = nn.ModuleList(EncoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))

    def embed(self, numbers, table):
        return table(numbers) * self.root + self.places(numbers, table)

    def places(self, numbers, table):
        return torch.tensor(sinusoidal(numbers.shape[1], table.embedding_dim)).to(table.weight.dtype)

    def source_mask(self, source):
        return (source != PAD).unsqueeze(1)

    def so_far(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril()

    def encode(self, source):
        mask = self.source_mask(source)
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x, mask)
        return x, mask

    def decode(self, target, memory, memory_mask):
        y = self.embed(target, self.target_embedding)
        for block in self.decoder:
            y = block(y, memory, self.so_far(target.shape[1]), memory_mask)
        return self.choose(y)

    def choose(self, y):
        return y @ self.target_embedding.weight.T

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


@misconception(
    "Transformer",
    title="the embeddings are not scaled",
    keeps="the masks, the learning and the dropout are right; what the blocks get is not",
)
class TransformerWithoutTheRoot(_Model):
    """Your embeddings are not multiplied by √d_model. They start small, so next to the positions the words would hardly be heard."""

    def embed(self, numbers, table):
        return table(numbers) + self.places(numbers, table)


@misconception(
    "Transformer",
    title="the root scales the positions, too",
    keeps="the masks, the learning and the dropout are right; what the blocks get is not",
)
class TransformerWithScaledPositions(_Model):
    """Your positions are multiplied by √d_model together with the words. Multiply the embedding first, then add the position."""

    def embed(self, numbers, table):
        return (table(numbers) + self.places(numbers, table)) * self.root


@misconception(
    "Transformer",
    title="no positions",
    keeps="the masks, the learning and the dropout are right; what the blocks get is not",
)
class TransformerWithoutPositions(_Model):
    """Your words have no positions, so that the order of the words makes no difference to the encoder. Add sinusoidal(T, d_model)."""

    def embed(self, numbers, table):
        return table(numbers) * self.root


@misconception(
    "Transformer",
    title="positions in the encoder only",
    keeps="the masks, the learning and the dropout are right; what the blocks get is not",
)
class TransformerWithPositionsInTheEncoder(_Model):
    """Your encoder knows its positions, your decoder does not. Both sides need them."""

    def embed(self, numbers, table):
        words = table(numbers) * self.root
        return words + self.places(numbers, table) if table is self.source_embedding else words


@misconception(
    "Transformer",
    title="the memory mask has its axis in the wrong place",
    keeps="right for a single sentence",
)
class TransformerWithAMaskForOne(_Model):
    """With one sentence your model works, with a batch it stops: the mask of the memory is (1, B, S) where (B, 1, S) is needed. The axis
    for the queries stands in the middle."""

    def source_mask(self, source):
        return (source != PAD).unsqueeze(0)


@misconception(
    "Transformer",
    title="a causal mask in the encoder",
    keeps="the decoder, the padding and the learning are right; the encoder has one mask too many",
)
class TransformerWhoseEncoderCannotLookAhead(_Model):
    """Your encoder hides from each English word those that come after it. The whole English sentence is there from the beginning: only
    the decoder needs the causal mask."""

    def encode(self, source):
        mask = self.source_mask(source)
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x, mask & self.so_far(source.shape[1]))
        return x, mask


@misconception(
    "Transformer",
    title="the encoder's blocks are not stacked",
    keeps="right for one layer; the decoder is right",
)
class TransformerOfUnstackedBlocks(_Model):
    """Each block of your encoder gets the embeddings, and only what the last one makes of them counts. A block gets what the block
    before it returned."""

    def encode(self, source):
        mask = self.source_mask(source)
        words = x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(words, mask)
        return x, mask


@misconception(
    "Transformer",
    title="the target embedding starts too small",
    keeps="the model is right; only where it starts is not",
)
class TransformerWithASmallTargetTable(_Model):
    """One of your embeddings starts with another standard deviation than the other: both begin with 1/√d_model, not 1/d_model."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        nn.init.normal_(self.target_embedding.weight, std=1 / d_model)


@misconception(
    "Transformer",
    title="no causal mask",
    keeps="the encoder, the padding and the learning are right; one of three masks is missing",
)
class TransformerThatPeeks(_Model):
    """Your decoder hears the words that it is to say: there is no causal mask in its self-attention. In training it copies, and
    when it translates there is nothing to copy."""

    def so_far(self, T):
        return None


@misconception("Transformer", title="the causal mask is turned around")
class TransformerThatHearsTheFuture(_Model):
    """Your mask lets each word hear itself and what comes after it: the triangle is the wrong one. True means "may attend"."""

    def so_far(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu()


@misconception(
    "Transformer",
    title="the encoder hears the padding",
    keeps="right for sentences of one length; one of three masks is missing",
)
class TransformerWhoseEncoderHearsPadding(_Model):
    """Your encoder's words listen to the padding, so that a sentence changes with the company it has in its batch. The blocks of the encoder
    need the mask, too."""

    def encode(self, source):
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x)
        return x, self.source_mask(source)


@misconception(
    "Transformer",
    title="the decoder hears the padding",
    keeps="right for sentences of one length; one of three masks is missing",
)
class TransformerWhoseDecoderHearsPadding(_Model):
    """Your German words listen to the English padding: cross-attention needs the memory mask."""

    def decode(self, target, memory, memory_mask):
        return super().decode(target, memory, None)


@misconception("Transformer", title="an output matrix of its own")
class TransformerThatIsNotTied(_Model):
    """Your model learns one more matrix of the German table's size, for the output. The German embedding does both jobs: the same table, not a copy that
    begins with the same numbers."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.output = nn.Linear(d_model, target_size, bias=False)

    def choose(self, y):
        return self.output(y)


@misconception(
    "Transformer", title="the tied table is detached", keeps="the values are right; one gradient is not"
)
class TransformerThatIsHalfTied(_Model):
    """Your output uses the German table's numbers, but not the table: as an output it gets no gradient. Don't detach or copy it."""

    def choose(self, y):
        return y @ self.target_embedding.weight.detach().T


@misconception("Transformer", title="the same block in every layer")
class TransformerOfOneBlock(_Model):
    """Your layers are one block, used several times: [block] * layers repeats the same object. Build a new block for each layer."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.encoder = nn.ModuleList([EncoderBlock(d_model, heads, d_ff, dropout)] * layers)
        self.decoder = nn.ModuleList([DecoderBlock(d_model, heads, d_ff, dropout)] * layers)


@misconception("Transformer", title="always one layer")
class TransformerOfOneLayer(_Model):
    """Your encoder and your decoder have a single block each, whatever the argument layers says. Build as many as it says, each of them new."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, 1, dropout)


@misconception(
    "Transformer",
    title="embeddings as large as PyTorch makes them",
    keeps="the model is right; only where it starts is not",
)
class TransformerWithLoudEmbeddings(_Model):
    """Your embeddings start with standard deviation 1. Times √d_model they drown the positions, and the first logits are huge. Draw them
    with standard deviation 1/√d_model."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.source_embedding.reset_parameters()
        self.target_embedding.reset_parameters()


@misconception("Transformer", title="only the first block is used", keeps="right for one layer")
class TransformerOfFirstBlocks(_Model):
    """Only your first block works: each block gets the embeddings again instead of what the block before it said."""

    def encode(self, source):
        mask = self.source_mask(source)
        x = self.embed(source, self.source_embedding)
        for block in self.encoder:
            out = block(x, mask)
        return out, mask


@misconception(
    "Transformer", title="probabilities instead of logits", keeps="all is right up to the last line"
)
class TransformerWithASoftmax(_Model):
    """Your model returns probabilities. The loss and the search do the softmax themselves; return the logits."""

    def choose(self, y):
        return super().choose(y).softmax(dim=-1)


@misconception(
    "Transformer",
    title="the dropout is not passed on",
    keeps="right wherever dropout is off; only training goes without it",
)
class TransformerWithoutDropout(_Model):
    """Your model takes a dropout and does nothing with it: pass it on to every block."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers)


@misconception(
    "Transformer",
    title="the decoder's blocks get no dropout",
    keeps="right wherever dropout is off; only training goes without it",
)
class DecoderWithoutDropout(_Model):
    """Your encoder's blocks get the dropout, your decoder's do not: each block takes (d_model, heads, d_ff, dropout)."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.decoder = nn.ModuleList(DecoderBlock(d_model, heads, d_ff) for _ in range(layers))


@misconception(
    "Transformer",
    title="dropout on the embeddings, too",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class TransformerThatDropsWords(_Model):
    """Dropout acts on your embeddings as well, as in the paper. In this lab it happens in the blocks only: hand it on to them, and use it nowhere else."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.drop = nn.Dropout(dropout)

    def embed(self, numbers, table):
        return self.drop(super().embed(numbers, table))


@misconception(
    "Transformer",
    title="dropout before the logits",
    keeps="right wherever dropout is off; in training it acts in the wrong place",
)
class TransformerThatDropsItsAnswer(_Model):
    """Dropout acts on what the decoder says, just before the logits. In this lab it happens in the blocks only."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.drop = nn.Dropout(dropout)

    def choose(self, y):
        return super().choose(self.drop(y))


@misconception(
    "Transformer",
    title="the root in the encoder only",
    keeps="the encoder, the masks, the learning and the dropout are right",
)
class TransformerWithTheRootInTheEncoder(_Model):
    """Your encoder multiplies its embeddings by √d_model, your decoder does not. Both sides need the root."""

    def embed(self, numbers, table):
        factor = self.root if table is self.source_embedding else 1.0
        return table(numbers) * factor + self.places(numbers, table)


@misconception(
    "Transformer", title="unknown words are masked like padding", keeps="right for sentences of known words"
)
class TransformerThatHidesUnknownWords(_Model):
    """Your mask of the source hides UNKNOWN as well. Only PAD is hidden: that there is a word, and where, counts even if nobody knows it."""

    def source_mask(self, source):
        return (source > 3).unsqueeze(1)


@misconception(
    "Transformer",
    title="the mask of the last sentence that was encoded",
    keeps="right where decode follows encode for the same sentence",
)
class TransformerWithAMaskOnItself(_Model):
    """Your decoder takes the mask that encode has left on self, and not the one that it is given. With another sentence encoded in between it
    hides the wrong words: use decode's argument."""

    def encode(self, source):
        memory, self.kept = super().encode(source)
        return memory, self.kept

    def decode(self, target, memory, memory_mask):
        return super().decode(target, memory, self.kept)


@misconception(
    "Transformer", title="the decoder has four heads, whatever heads is", keeps="the encoder is right"
)
class DecoderOfFourHeads(_Model):
    """Your encoder's blocks get the number of heads, your decoder's always have four. Each block takes (d_model, heads, d_ff, dropout)."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        fixed = 4 if d_model % 4 == 0 else heads
        self.decoder = nn.ModuleList(DecoderBlock(d_model, fixed, d_ff, dropout) for _ in range(layers))


@alternative("Transformer")
class TransformerWithATiedLinear(_Model):
    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.output = nn.Linear(d_model, target_size, bias=False)
        self.output.weight = self.target_embedding.weight

    def choose(self, y):
        return self.output(y)


@alternative("Transformer")
class TransformerWithFrozenPositions(_Model):
    """A table that is a parameter and is not learned."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.table = nn.Parameter(torch.tensor(sinusoidal(64, d_model)), requires_grad=False)

    def places(self, numbers, table):
        return self.table[: numbers.shape[1]].to(table.weight.dtype)


@alternative("Transformer")
class TransformerWithASinglePrecisionTable(_Model):
    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__(source_size, target_size, d_model, heads, d_ff, layers, dropout)
        self.register_buffer("table", torch.tensor(sinusoidal(64, d_model), dtype=torch.float32))

    def places(self, numbers, table):
        return self.table[: numbers.shape[1]]


@alternative("Transformer")
class TransformerWithFullMasks(_Model):
    """Masks of shape (B, T, T), with the target's padding masked, too, wherever a word is left to hear."""

    def decode(self, target, memory, memory_mask):
        B, T = target.shape
        y = self.embed(target, self.target_embedding)
        mask = self.so_far(T).expand(B, T, T)
        for block in self.decoder:
            y = block(y, memory, self_mask=mask, memory_mask=memory_mask.expand(B, T, -1))
        return nn.functional.linear(y, self.target_embedding.weight)
