"""Lab 13, ``TinyLM``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import torch
from coursekit.provided.p09_blocks import EncoderBlock
from torch import nn

from autograder.testing import alternative, misconception


class _LM(nn.Module):
    """The right model; the wrong ones change one step of it."""

    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        self.embedding = nn.Embedding(V, d_model)
        self.position = nn.Embedding(max_length, d_model)
        self.blocks = nn.ModuleList(EncoderBlock(d_model, heads, d_ff) for _ in range(layers))
        self.head = nn.Linear(d_model, V)
        self.causal, self.d_model = causal, d_model

    def _embed(self, ids):
        return self.embedding(ids) + self.position.weight[: ids.shape[1]]

    def _mask(self, ids):
        T = ids.shape[1]
        padding = (ids != 0).unsqueeze(1)
        return padding & torch.ones(T, T, dtype=torch.bool).tril() if self.causal else padding

    def forward(self, ids):
        x, mask = self._embed(ids), self._mask(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


@misconception("TinyLM", title="the future is visible")
class LooksAhead(_LM):
    """Your decoder sees the tokens that it is to guess: causal changes nothing. Its loss will fall nearly to zero in training, and it will
    write nonsense."""

    def _mask(self, ids):
        return (ids != 0)[:, None, :]


@misconception("TinyLM", title="an encoder that sees one side", keeps="a decoder is right")
class AlwaysCausal(_LM):
    """Your encoder sees only what is before. The causal mask belongs to the decoder: apply it only if causal is true."""

    def _mask(self, ids):
        return (ids != 0)[:, None, :] & torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()


@misconception("TinyLM", title="one token of the future is visible")
class OneAhead(_LM):
    """Each position of your decoder sees one token too many, the very one that it is to guess. Row t allows columns up to and including t."""

    def _mask(self, ids):
        T = ids.shape[1]
        padding = (ids != 0)[:, None, :]
        return padding & torch.ones(T, T, dtype=torch.bool).tril(1) if self.causal else padding


@misconception("TinyLM", title="padding is heard", keeps="right for sentences of one length")
class HearsPadding(_LM):
    """Your model attends to padding, so what it says about a sentence depends on how long the others in the batch are. Mask number 0 as
    a key."""

    def _mask(self, ids):
        T = ids.shape[1]
        allowed = torch.ones(T, T, dtype=torch.bool)
        return allowed.tril() if self.causal else allowed


@misconception("TinyLM", title="no positions")
class NoPositions(_LM):
    """Your model does not add the positions, so an encoder can't tell a sentence from its shuffled words."""

    def _embed(self, ids):
        return self.embedding(ids)


@misconception(
    "TinyLM", title="probabilities instead of logits", keeps="every step is right; there is one too many"
)
class Probabilities(_LM):
    """Your model ends with a softmax. Logits are asked for: cross_entropy takes the softmax itself, and two of them flatten all differences."""

    def forward(self, ids):
        return super().forward(ids).softmax(dim=-1)


@misconception("TinyLM", title="only the first block is used", keeps="right for a model of one layer")
class OneBlock(_LM):
    """The number of layers changes nothing in your result: every block should take what the one before it returned."""

    def forward(self, ids):
        x, mask = self._embed(ids), self._mask(ids)
        for block in self.blocks:
            y = block(x, mask)
        return self.head(y)


@misconception(
    "TinyLM", title="embeddings multiplied by the root of their size", keeps="right but for one factor"
)
class ScaledEmbeddings(_LM):
    """You multiply the embeddings by the root of d_model, as the translator does. This model adds them as they are."""

    def _embed(self, ids):
        return self.embedding(ids) * math.sqrt(self.d_model) + self.position.weight[: ids.shape[1]]


@misconception(
    "TinyLM",
    title="a decoder that hears padding",
    keeps="right for sentences of one length; one of two masks is missing",
)
class DecoderHearsPadding(_LM):
    """Your encoder does not hear padding, but your decoder does: its mask is the causal one alone. Padding may stand before a word,
    too: both masks hold at once, with &."""

    def _mask(self, ids):
        T = ids.shape[1]
        return torch.ones(T, T, dtype=torch.bool).tril() if self.causal else (ids != 0)[:, None, :]


@misconception("TinyLM", title="padding is masked as a query", keeps="right for sentences of one length")
class PaddingAsQuery(_LM):
    """You silence the rows of padding: it hears nothing. It is the columns that count: no word may hear padding, so it is masked as a key,
    (ids != 0) with its new axis in the middle."""

    def _mask(self, ids):
        T = ids.shape[1]
        own = torch.eye(T, dtype=torch.bool)
        rows = (ids != 0)[:, :, None].expand(-1, T, T) | own
        return rows & torch.ones(T, T, dtype=torch.bool).tril() if self.causal else rows


@misconception("TinyLM", title="one block under several names", keeps="right for one layer")
class OneBlockRepeated(_LM):
    """All your layers are one and the same block: [block] * n makes n names for it, no copies. Then the model learns a single block. Make
    each of them anew, in a list comprehension."""

    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__(V, d_model, heads, d_ff, 1, max_length, causal)
        self.blocks = nn.ModuleList([self.blocks[0]] * layers)


@misconception(
    "TinyLM",
    title="two blocks, whatever is asked for",
    keeps="right for the usual number of layers; one argument is not used",
)
class AlwaysTwoBlocks(_LM):
    """Your model has two blocks, however many layers are asked for. Make as many as the argument says."""

    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__(V, d_model, heads, d_ff, 2, max_length, causal)


@misconception("TinyLM", title="positions begin at 1")
class PositionsFromOne(_LM):
    """Each word gets the vector of the position behind its own: yours begin at 1. The first word stands at position 0."""

    def _embed(self, ids):
        places = torch.arange(1, ids.shape[1] + 1) % self.position.num_embeddings
        return self.embedding(ids) + self.position(places)


@misconception("TinyLM", title="blanks are masked like padding", keeps="right for sentences without blanks")
class BlanksMasked(_LM):
    """Your model does not attend to number 1, the blank. Only padding is masked: ids != PAD."""

    def _mask(self, ids):
        return super()._mask(torch.where(ids == 1, 0, ids))


@misconception(
    "TinyLM", title="log-probabilities instead of logits", keeps="right but for one amount in each row"
)
class LogProbabilities(_LM):
    """Your model ends with a log_softmax. Logits are asked for: cross_entropy takes it itself."""

    def forward(self, ids):
        return super().forward(ids).log_softmax(dim=-1)


@misconception(
    "TinyLM",
    title="the head shares the embedding's weight",
    keeps="every step is right; two parts share a weight",
)
class TiedHead(_LM):
    """Your head has the embedding's weight, one and the same (many models do that, this one does not): give it weights of its own, nn.Linear(d_model, V)."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.head.weight = self.embedding.weight


@misconception(
    "TinyLM", title="a mask is kept for its length", keeps="right for the first batch of each length"
)
class KeepsTheMask(_LM):
    """Your model keeps its mask for each length, so a batch is given the padding of an earlier one of the same length. The padding differs from batch to
    batch: make the mask anew in each call."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.masks = {}

    def _mask(self, ids):
        return self.masks.setdefault(ids.shape[1], super()._mask(ids))


@misconception(
    "TinyLM",
    title="a decoder keeps its mask",
    keeps="right for an encoder, and for the first batch of each shape",
)
class DecoderKeepsTheMask(_LM):
    """Your decoder keeps its mask for each shape, so a batch is given the padding of an earlier one of the same shape (your encoder makes it anew). The padding
    differs from batch to batch: make the mask anew in each call."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.masks = {}

    def _mask(self, ids):
        mask = super()._mask(ids)
        return self.masks.setdefault(ids.shape, mask) if self.causal else mask


@misconception("TinyLM", title="padding is masked as a query, too", keeps="right for sentences of one length")
class PaddingAsQueryToo(_LM):
    """The rows of padding allow nothing at all in your mask, so their softmax is nan, and the next block hands it on to the words. Mask padding as a key
    only: (ids != PAD)[:, None, :]."""

    def _mask(self, ids):
        return super()._mask(ids) & (ids != 0)[:, :, None]


@alternative("TinyLM")
class WithMaskByComparison(nn.Module):
    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        self.head = nn.Linear(d_model, V)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(EncoderBlock(d_model, heads, d_ff))
        self.position, self.embedding = nn.Embedding(max_length, d_model), nn.Embedding(V, d_model)
        self.register_buffer("order", torch.arange(max_length), persistent=False)
        self.causal = bool(causal)

    def forward(self, ids):
        B, T = ids.shape
        places = self.order[:T]
        future = places[None, :] > places[:, None]
        forbidden = (ids == 0).view(B, 1, T).expand(B, T, T)
        if self.causal:
            forbidden = forbidden | future
        x = self.position(places).repeat(B, 1, 1) + self.embedding(ids)
        for block in self.blocks:
            x = block(x, mask=~forbidden)
        return x @ self.head.weight.T + self.head.bias


@alternative("TinyLM")
class OneSentenceAtATime(_LM):
    def forward(self, ids):
        return torch.cat([super(OneSentenceAtATime, self).forward(row[None]) for row in ids])


@alternative("TinyLM")
class WithoutPadding(_LM):
    """Each sentence goes through the blocks without its padding; what would come out there is no number."""

    def forward(self, ids):
        x = self._embed(ids)
        logits = torch.full((*ids.shape, self.head.out_features), torch.nan, dtype=x.dtype)
        for n, row in enumerate(ids):
            (words,) = row.nonzero(as_tuple=True)
            y, mask = x[n : n + 1, words], self._mask(row[None, words])
            for block in self.blocks:
                y = block(y, mask)
            logits[n, words] = self.head(y[0])
        return logits
