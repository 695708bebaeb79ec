"""Translates many sentences at once: lab 11's beam search in tensors, with the keys and values of the past kept.

The search is that of lab 11, hypothesis for hypothesis; only the bookkeeping differs. With a cache, a step computes the
newest token alone: the keys and values of earlier tokens stay as they are, and those of the source are worked out once.

Shapes: B sentences, k hypotheses each, R = B · k rows, S source tokens, t tokens so far, h heads, d = D / h, V the
vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from coursekit.data.vocabulary import BOS, EOS, PAD
from coursekit.provided.p12_translator_fast import FastTransformer

__all__ = ["Hypothesis", "translate_all"]

#: Tokens without BOS and EOS, and log P / n ** length_penalty.
Hypothesis = tuple[list[int], float]


class _Decoder:
    """Runs the decoder on the newest token only, for B sentences with k hypotheses each."""

    def __init__(self, fast: FastTransformer, source: Tensor, k: int):
        self.fast, self.k = fast, k
        memory, self.bias = fast.encode(source)  # bias (B, 1, S)
        self.past: list[Tensor | None] = [None for _ in fast.model.decoder]  # each (2, R, h, t, d)
        self.source = [
            self._heads(torch.stack(self._keys_values(b.cross_attention, memory))) for b in fast.model.decoder
        ]

    def logits(self, tokens: Tensor) -> Tensor:
        """tokens (R, t), BOS first, one longer at each call → (R, V), the scores of what comes next."""
        fast, position = self.fast, tokens.shape[1] - 1
        table = fast.model.target_embedding.weight
        y = F.embedding(tokens[:, -1], table) * fast.d_model**0.5 + fast.positions[position]
        for number, block in enumerate(fast.model.decoder):
            y = fast.add_and_norm(y, self._self_attend(number, block.self_attention, y), block.norm1)
            y = fast.add_and_norm(y, self._cross_attend(number, block.cross_attention, y), block.norm2)
            y = fast.add_and_norm(y, fast.feed_forward(block.feed_forward, y), block.norm3)
        return F.linear(y, table)

    def keep(self, rows: Tensor, sentences: Tensor | None) -> None:
        """Go on with these rows (R'), which may repeat, and with these sentences (B'), or all of them."""
        self.past = [None if past is None else past.index_select(1, rows) for past in self.past]
        if sentences is not None:
            self.source = [kept.index_select(1, sentences) for kept in self.source]
            self.bias = self.bias[sentences]

    def _self_attend(self, number: int, layer: Any, y: Tensor) -> Tensor:
        """y (R, D) attends to all tokens so far, itself the last → (R, D)."""
        newest = self._heads(torch.stack(self._keys_values(layer, y[:, None])))  # (2, R, h, 1, d)
        past = self.past[number]
        both = newest if past is None else torch.cat([past, newest], dim=3)
        self.past[number] = both
        query = self._heads(F.linear(y, layer.W_Q.weight, layer.W_Q.bias)[:, None])  # (R, h, 1, d)
        heard = _attend(query, both[0], both[1], None)
        return F.linear(heard.flatten(1), layer.W_O.weight, layer.W_O.bias)

    def _cross_attend(self, number: int, layer: Any, y: Tensor) -> Tensor:
        """y (R, D) attends to its source; the k rows of a sentence are k queries to one memory → (R, D)."""
        keys, values = self.source[number]  # (B, h, S, d)
        query = self._heads(F.linear(y, layer.W_Q.weight, layer.W_Q.bias).view(-1, self.k, y.shape[-1]))
        heard = _attend(query, keys, values, self.bias)  # (B, h, k, d)
        return F.linear(heard.transpose(1, 2).flatten(2).flatten(0, 1), layer.W_O.weight, layer.W_O.bias)

    def _keys_values(self, layer: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        return F.linear(x, layer.W_K.weight, layer.W_K.bias), F.linear(x, layer.W_V.weight, layer.W_V.bias)

    def _heads(self, x: Tensor) -> Tensor:
        """(…, T, D) → (…, h, T, d)."""
        return x.view(*x.shape[:-1], self.fast.heads, -1).transpose(-3, -2)


def _attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None) -> Tensor:
    """query (n, h, q, d), keys and values (n, h, S, d), bias (n, 1, S) → (n, h, q, d)."""
    scores: Tensor = query @ keys.transpose(-2, -1) * query.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias[:, None]
    return scores.softmax(dim=-1) @ values


@torch.no_grad()
def translate_all(
    fast: FastTransformer,
    sources: Sequence[Sequence[int]],
    *,
    beam: int = 1,
    length_penalty: float = 0.0,
    max_length: int = 60,
    size: int = 64,
) -> list[list[Hypothesis]]:
    """For each source sentence (token numbers) its ``beam`` best translations, best first; ``size`` at a time.

    ``max_length`` counts the chosen tokens, EOS included, as in lab 11.
    """
    fast.model.eval()
    device = fast.model.target_embedding.weight.device
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    translations: list[list[Hypothesis]] = [[] for _ in sources]
    for first in range(0, len(order), size):
        chosen = order[first : first + size]
        rows = [torch.tensor(sources[number]) for number in chosen]
        source = pad_sequence(rows, batch_first=True, padding_value=PAD).to(device)
        decoder = _Decoder(fast, source, beam)
        rows_of = _search(decoder, len(chosen), beam, length_penalty, max_length, device)
        for number, hypotheses in zip(chosen, rows_of, strict=True):
            translations[number] = hypotheses
    return translations


def _search(
    decoder: _Decoder, number: int, k: int, penalty: float, max_length: int, device: torch.device
) -> list[list[Hypothesis]]:
    """Beam search for ``number`` sentences at once; a sentence leaves when all its hypotheses have ended."""
    results: list[list[Hypothesis]] = [[] for _ in range(number)]
    sentences = torch.arange(number, device=device)  # those that are still here
    tokens = torch.full((number, k, 1), BOS, device=device)
    log_p = torch.full((number, k), float("-inf"), dtype=torch.float64, device=device)
    log_p[:, 0] = 0.0  # one hypothesis at the start: the empty one
    length = torch.zeros(number, k, device=device)
    ended = torch.zeros(number, k, dtype=torch.bool, device=device)
    for _ in range(max_length):
        logits = decoder.logits(tokens.flatten(0, 1))
        best, choice = logits.topk(k, dim=-1)  # (R, k)
        gain = (best - logits.logsumexp(dim=-1, keepdim=True)).view(-1, k, k)
        # A hypothesis that has ended has one successor: itself.
        gain = gain.masked_fill(ended[..., None], float("-inf"))
        gain[..., 0].masked_fill_(ended, 0.0)
        choice = choice.view(-1, k, k).masked_fill(ended[..., None], PAD)
        candidates = log_p[..., None] + gain  # (B, k, k)
        longer = (length + ~ended)[..., None].expand_as(candidates)
        rank = (candidates / longer.double() ** penalty).flatten(1).topk(k, dim=-1).indices  # (B, k)
        parent = rank // k
        log_p, length, newest = (x.flatten(1).gather(1, rank) for x in (candidates, longer, choice))
        earlier = tokens.gather(1, parent[..., None].expand(-1, -1, tokens.shape[-1]))
        tokens = torch.cat([earlier, newest[..., None]], dim=-1)
        ended = ended.gather(1, parent) | newest.eq(EOS)
        rows = torch.arange(len(sentences), device=device)[:, None] * k + parent  # (B, k)
        here = ~ended.all(dim=1)
        if bool(here.all()):
            decoder.keep(rows.flatten(), None)
            continue
        for row in (~here).nonzero()[:, 0].tolist():
            results[sentences[row]] = _hypotheses(tokens[row], log_p[row], length[row], penalty)
        kept = here.nonzero()[:, 0]
        if not len(kept):
            return results
        decoder.keep(rows[kept].flatten(), kept)
        sentences, tokens, log_p, length, ended = (x[kept] for x in (sentences, tokens, log_p, length, ended))
    for row, sentence in enumerate(sentences.tolist()):
        results[sentence] = _hypotheses(tokens[row], log_p[row], length[row], penalty)
    return results


def _hypotheses(tokens: Tensor, log_p: Tensor, length: Tensor, penalty: float) -> list[Hypothesis]:
    """The hypotheses of one sentence, tokens (k, t), log_p and length (k), without the special tokens."""
    scores = (log_p / length.double() ** penalty).tolist()
    rows = [[token for token in row if token not in (PAD, BOS, EOS)] for row in tokens.tolist()]
    return [(row, score) for row, score in zip(rows, scores, strict=True) if score > float("-inf")]
