"""Translates many sentences at once: lab 11's beam search in tensors, with the keys and values of the past kept.

The search is that of lab 11, hypothesis for hypothesis; only the bookkeeping differs. With a cache, a step computes the
newest token alone: the keys and values of earlier tokens stay as they are, and those of the source are worked out once.

Shapes: B sentences, k hypotheses each, R = B · k rows, S source tokens, t tokens so far, h heads, d = D / h, V words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from coursekit.data.vocabulary import BOS, EOS, PAD
from coursekit.provided.p12_translator_fast import Fast

__all__ = ["Hypothesis", "mean_log_probabilities", "translate_all"]

#: Tokens without BOS and EOS, and log P / n ** length_penalty.
Hypothesis = tuple[list[int], float]


class _Decoder(Protocol):
    """What a search asks for the next words."""

    def logits(self, words: Tensor) -> Tensor:
        """words (R, t), BOS first, one longer at each call → (R, V), the scores of what comes next."""

    def keep(self, rows: Tensor, sentences: Tensor | None) -> None:
        """Go on with these rows (R'), which may repeat, and with these sentences (B'), or all of them."""


class _Recomputing:
    """Runs the decoder on all words so far, again and again."""

    def __init__(self, fast: Fast, source: Tensor, k: int):
        self.fast = fast
        memory, bias = fast.encode(source)
        self.memory = memory.repeat_interleave(k, dim=0)
        self.bias = None if bias is None else bias.repeat_interleave(k, dim=0)

    def logits(self, words: Tensor) -> Tensor:
        """See ``_Decoder``."""
        y = self.fast.decode(words, self.memory, self.bias)
        return F.linear(y[:, -1], self.fast.model.target_embedding.weight)

    def keep(self, rows: Tensor, sentences: Tensor | None) -> None:
        """See ``_Decoder``. A row's memory is its sentence's, whichever of its rows it comes from."""
        if sentences is not None:
            self.memory = self.memory[rows]
            self.bias = None if self.bias is None else self.bias[rows]


class _Cached:
    """Runs the decoder on the newest word only."""

    def __init__(self, fast: Fast, source: Tensor, k: int):
        self.fast, self.k = fast, k
        memory, self.bias = fast.encode(source)  # bias (B, 1, S) or None
        self.past: list[Tensor | None] = [None for _ in fast.model.decoder]  # each (2, R, h, t, d)
        self.source = [
            self._heads(torch.stack(self._keys_values(b.cross_attention, memory))) for b in fast.model.decoder
        ]

    def logits(self, words: Tensor) -> Tensor:
        """See ``_Decoder``."""
        fast, place = self.fast, words.shape[1] - 1
        table = fast.model.target_embedding.weight
        y = F.embedding(words[:, -1], table) * fast.d_model**0.5 + fast.positions(table.device)[place]
        for number, block in enumerate(fast.model.decoder):
            y = fast.add_and_norm(y, self._listen_back(number, block.self_attention, y), block.norm1)
            y = fast.add_and_norm(y, self._listen_to_source(number, block.cross_attention, y), block.norm2)
            y = fast.add_and_norm(y, fast.feed_forward(block.feed_forward, y), block.norm3)
        return F.linear(y, table)

    def keep(self, rows: Tensor, sentences: Tensor | None) -> None:
        """See ``_Decoder``."""
        self.past = [None if past is None else past.index_select(1, rows) for past in self.past]
        if sentences is not None:
            self.source = [kept.index_select(1, sentences) for kept in self.source]
            self.bias = None if self.bias is None else self.bias[sentences]

    def _listen_back(self, number: int, layer: Any, y: Tensor) -> Tensor:
        """y (R, D) listens to all words so far, itself the last → (R, D)."""
        newest = self._heads(torch.stack(self._keys_values(layer, y[:, None])))  # (2, R, h, 1, d)
        past = self.past[number]
        both = newest if past is None else torch.cat([past, newest], dim=3)
        self.past[number] = both
        query = self._heads(F.linear(y, layer.W_Q.weight, layer.W_Q.bias)[:, None])  # (R, h, 1, d)
        heard = _attend(query, both[0], both[1], None)
        return F.linear(heard.flatten(1), layer.W_O.weight, layer.W_O.bias)

    def _listen_to_source(self, number: int, layer: Any, y: Tensor) -> Tensor:
        """y (R, D) listens to its source; the k rows of a sentence are k queries to one memory → (R, D)."""
        keys, values = self.source[number]  # (B, h, S, d)
        query = self._heads(F.linear(y, layer.W_Q.weight, layer.W_Q.bias).unflatten(0, (-1, self.k)))
        heard = _attend(query, keys, values, self.bias)  # (B, h, k, d)
        return F.linear(heard.transpose(1, 2).flatten(2).flatten(0, 1), layer.W_O.weight, layer.W_O.bias)

    def _keys_values(self, layer: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        return F.linear(x, layer.W_K.weight, layer.W_K.bias), F.linear(x, layer.W_V.weight, layer.W_V.bias)

    def _heads(self, x: Tensor) -> Tensor:
        """(…, T, D) → (…, h, T, d)."""
        return x.unflatten(-1, (self.fast.heads, -1)).transpose(-3, -2)


class _Together:
    """Several models with one vocabulary: what comes next has the mean of their probabilities (an ensemble)."""

    def __init__(self, decoders: Sequence[_Decoder]):
        self.decoders = decoders

    def logits(self, words: Tensor) -> Tensor:
        """See ``_Decoder``."""
        return mean_log_probabilities([decoder.logits(words) for decoder in self.decoders])

    def keep(self, rows: Tensor, sentences: Tensor | None) -> None:
        """See ``_Decoder``."""
        for decoder in self.decoders:
            decoder.keep(rows, sentences)


def mean_log_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean of the models' probabilities, from each one's logits (…, V) → (…, V)."""
    logs = [one.log_softmax(dim=-1) for one in logits]
    return logs[0] if len(logs) == 1 else torch.stack(logs).logsumexp(dim=0) - math.log(len(logs))


def _attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None) -> Tensor:
    """query (n, h, q, d), keys and values (n, h, S, d), bias (n, 1, S) → (n, h, q, d)."""
    scores = query @ keys.transpose(-2, -1) * query.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias[:, None]
    return scores.softmax(dim=-1) @ values


@torch.no_grad()
def translate_all(
    fast: Fast | Sequence[Fast],
    sources: Sequence[Sequence[int]],
    *,
    beam: int = 1,
    length_penalty: float = 0.0,
    max_length: int = 60,
    cached: bool = True,
    size: int = 64,
) -> list[list[Hypothesis]]:
    """For each source sentence (token numbers) its ``beam`` best translations, best first; ``size`` at a time.

    ``max_length`` counts the chosen tokens, EOS included, as in lab 11. Several models decide together.
    """
    models = [fast] if isinstance(fast, Fast) else list(fast)
    for one in models:
        one.model.eval()
    device = models[0].model.target_embedding.weight.device
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    found: list[list[Hypothesis]] = [[] for _ in sources]
    for first in range(0, len(order), size):
        chosen = order[first : first + size]
        rows = [torch.tensor(sources[number]) for number in chosen]
        source = pad_sequence(rows, batch_first=True, padding_value=PAD).to(device)
        decoders: list[_Decoder] = [
            (_Cached if cached else _Recomputing)(one, source, beam) for one in models
        ]
        decoder = decoders[0] if len(decoders) == 1 else _Together(decoders)
        for number, hypotheses in zip(
            chosen, _search(decoder, len(chosen), beam, length_penalty, max_length, device), strict=True
        ):
            found[number] = hypotheses
    return found


def _search(
    decoder: _Decoder, number: int, k: int, penalty: float, max_length: int, device: torch.device
) -> list[list[Hypothesis]]:
    """Beam search for ``number`` sentences at once; a sentence leaves when all its hypotheses have ended."""
    found: list[list[Hypothesis]] = [[] for _ in range(number)]
    names = torch.arange(number, device=device)  # which sentences are still here
    words = torch.full((number, k, 1), BOS, device=device)
    log_p = torch.full((number, k), float("-inf"), dtype=torch.float64, device=device)
    log_p[:, 0] = 0.0  # one hypothesis at the start: the empty one
    length = torch.zeros(number, k, device=device)
    ended = torch.zeros(number, k, dtype=torch.bool, device=device)
    for _ in range(max_length):
        logits = decoder.logits(words.flatten(0, 1))
        best, choice = logits.topk(k, dim=-1)  # (R, k)
        gain = (best - logits.logsumexp(dim=-1, keepdim=True)).view(len(names), k, k)
        choice = choice.view(len(names), k, k)
        # A hypothesis that has ended has one successor: itself.
        stay = torch.full((k,), float("-inf"), device=device).index_fill_(
            0, torch.zeros(1, dtype=torch.long, device=device), 0.0
        )
        gain = torch.where(ended[..., None], stay, gain)
        choice = choice.masked_fill(ended[..., None], PAD)
        candidates = log_p[..., None] + gain  # (B, k, k)
        longer = (length + ~ended)[..., None].expand_as(candidates)
        rank = (candidates / longer.double() ** penalty).flatten(1).topk(k, dim=-1).indices  # (B, k)
        parent = rank // k
        log_p, length = candidates.flatten(1).gather(1, rank), longer.flatten(1).gather(1, rank)
        word = choice.flatten(1).gather(1, rank)
        words = torch.cat([_of(words, parent), word[..., None]], dim=-1)
        ended = ended.gather(1, parent) | word.eq(EOS)
        rows = (torch.arange(len(names), device=device)[:, None] * k + parent).flatten()
        here = ~ended.all(dim=1)
        if bool(here.all()):
            decoder.keep(rows, None)
            continue
        for place in (~here).nonzero()[:, 0].tolist():
            found[names[place]] = _hypotheses(words[place], log_p[place], length[place], penalty)
        kept = here.nonzero()[:, 0]
        names, words, log_p, length, ended = (x[kept] for x in (names, words, log_p, length, ended))
        if not len(names):
            return found
        decoder.keep(rows.view(-1, k)[kept].flatten(), kept)
    for place, name in enumerate(names.tolist()):
        found[name] = _hypotheses(words[place], log_p[place], length[place], penalty)
    return found


def _of(words: Tensor, parent: Tensor) -> Tensor:
    """words (B, k, t), parent (B, k) → the parents' words (B, k, t)."""
    return words.gather(1, parent[..., None].expand(-1, -1, words.shape[-1]))


def _hypotheses(words: Tensor, log_p: Tensor, length: Tensor, penalty: float) -> list[Hypothesis]:
    """The hypotheses of one sentence, words (k, t), log_p and length (k), without the special tokens."""
    scores = (log_p / length.double() ** penalty).tolist()
    rows = [[token for token in row if token not in (PAD, BOS, EOS)] for row in words.tolist()]
    return [(row, score) for row, score in zip(rows, scores, strict=True) if score > float("-inf")]
