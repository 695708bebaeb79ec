"""Translates many sentences at once: lab 11's beam search in tensors, with the keys and values of the past kept.

The search is that of lab 11, hypothesis for hypothesis; only the bookkeeping differs. A step computes the newest
token alone: the keys and values of earlier tokens are kept, and those of the source are worked out once.

Shapes: B sentences, k hypotheses each, R = B · k rows (at the first step B), S source tokens, V the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from coursekit.data.vocabulary import BOS, EOS, PAD
from coursekit.provided.p12_translator_fast import FastTransformer, Kept

#: Tokens without BOS and EOS, and log P / n ** length_penalty.
Hypothesis = tuple[list[int], float]


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
        for number, hypotheses in _search(fast, source, beam, length_penalty, max_length):
            translations[chosen[number]] = hypotheses
    return translations


def _search(
    fast: FastTransformer, source: Tensor, k: int, penalty: float, max_length: int
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """Beam search for all rows of source (B, S) at once; a row leaves, with its number, when its hypotheses have ended."""
    memory, bias = fast.encode(source)
    writing = {block.self_attention for block in fast.model.decoder}
    kept: Kept = {}
    device = source.device
    sentences = torch.arange(len(source), device=device)  # those that are still here
    tokens = torch.full((len(source), 1, 1), BOS, device=device)  # one hypothesis at the start: the empty one
    log_p = torch.zeros(len(source), 1, dtype=torch.float64, device=device)
    length = torch.zeros(len(source), 1, device=device)
    ended = torch.zeros(len(source), 1, dtype=torch.bool, device=device)
    for position in range(max_length):
        y = fast.decode(tokens[..., -1].reshape(-1, 1), memory, bias, kept, position)
        logits = F.linear(y[:, 0], fast.model.target_embedding.weight)
        best, choice = logits.topk(k, dim=-1)  # (R, k)
        gain = (best - logits.logsumexp(dim=-1, keepdim=True)).view(*ended.shape, k)
        # A hypothesis that has ended has one successor: itself.
        gain = gain.masked_fill(ended[..., None], float("-inf"))
        gain[..., 0].masked_fill_(ended, 0.0)
        choice = choice.view(*ended.shape, k).masked_fill(ended[..., None], PAD)
        candidates = log_p[..., None] + gain  # (B, k, k)
        longer = (length + ~ended)[..., None].expand_as(candidates)
        rank = (candidates / longer.double() ** penalty).flatten(1).topk(k, dim=-1).indices  # (B, k)
        parent = rank // k
        rows = parent + ended.shape[1] * torch.arange(len(sentences), device=device)[:, None]
        log_p, length, newest = (x.flatten(1).gather(1, rank) for x in (candidates, longer, choice))
        tokens = torch.cat([tokens.flatten(0, 1)[rows], newest[..., None]], dim=-1)
        ended = ended.gather(1, parent) | newest.eq(EOS)
        here = ~ended.all(dim=1) if position + 1 < max_length else torch.zeros_like(ended[:, 0])
        for row in (~here).nonzero()[:, 0].tolist():
            yield int(sentences[row]), _hypotheses(tokens[row], log_p[row], length[row], penalty)
        if not here.any():
            return
        sentences, tokens, log_p, length, ended = (x[here] for x in (sentences, tokens, log_p, length, ended))
        rows = rows[here].flatten()
        others = position == 0 or not here.all()
        for layer, (keys, values) in kept.items():
            if others or layer in writing:  # else each row has the source that it had
                kept[layer] = keys.index_select(0, rows), values.index_select(0, rows)
        bias = bias.index_select(0, rows) if others else bias


def _hypotheses(tokens: Tensor, log_p: Tensor, length: Tensor, penalty: float) -> list[Hypothesis]:
    """The hypotheses of one sentence, tokens (k, t), log_p and length (k), without the special tokens."""
    scores = (log_p / length.double() ** penalty).tolist()
    rows = [[token for token in row if token not in (PAD, BOS, EOS)] for row in tokens.tolist()]
    return [(row, score) for row, score in zip(rows, scores, strict=True) if score > float("-inf")]
