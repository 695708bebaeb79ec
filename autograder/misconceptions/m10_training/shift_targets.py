"""Lab 10, ``shift_targets``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch
from torch.nn.utils.rnn import pad_sequence

from autograder.testing import alternative, misconception


def _filled(rows, pad):
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])


@misconception("shift_targets", title="nothing is shifted")
def targets_not_shifted(sentences, bos, eos, pad):
    """Decoder input and labels are the same: position t sees the very word that it should say. A model learns to copy it within a
    minute and can't write a word by itself. The input must be one step behind the labels."""
    rows = _filled([[bos, *sentence] for sentence in sentences], pad)
    return rows, rows.clone()


@misconception("shift_targets", title="input and labels exchanged")
def targets_exchanged(sentences, bos, eos, pad):
    """Your two results are exchanged: the decoder input, which begins with bos, comes first, the labels second."""
    return _filled([[*s, eos] for s in sentences], pad), _filled([[bos, *s] for s in sentences], pad)


@misconception("shift_targets", title="the end is forgotten")
def targets_without_the_end(sentences, bos, eos, pad):
    """Your labels do not hold eos, so the model never learns to stop. Behind its last word each sentence gets eos as a label."""
    longest = max(map(len, sentences)) + 1
    return (
        _filled([[bos, *s] for s in sentences], pad),
        torch.tensor([[*s, *[pad] * (longest - len(s))] for s in sentences]),
    )


@misconception("shift_targets", title="the end stands behind the padding")
def targets_with_the_end_at_the_end(sentences, bos, eos, pad):
    """In short sentences your eos stands in the last column, behind the padding. It comes right behind the last word; the padding follows."""
    longest = max(map(len, sentences))
    padded = [[*s, *[pad] * (longest - len(s))] for s in sentences]
    return torch.tensor([[bos, *row] for row in padded]), torch.tensor([[*row, eos] for row in padded])


@misconception("shift_targets", title="eos in the input as well")
def targets_cut_from_one_row(sentences, bos, eos, pad):
    """You pad <bos> … <eos> and cut off the first and the last column. In sentences shorter than the longest, the input then still holds eos, as
    if there were something to say after the end. Put eos into the labels only."""
    whole = _filled([[bos, *s, eos] for s in sentences], pad)
    return whole[:, :-1], whole[:, 1:]


@misconception("shift_targets", title="padding on the left")
def targets_padded_on_the_left(sentences, bos, eos, pad):
    """Your padding stands in front of the sentences. Here it stands behind them, so that position 0 always holds bos."""
    longest = max(map(len, sentences))
    gaps = [[pad] * (longest - len(s)) for s in sentences]
    return (
        torch.tensor([[*g, bos, *s] for g, s in zip(gaps, sentences, strict=True)]),
        torch.tensor([[*g, *s, eos] for g, s in zip(gaps, sentences, strict=True)]),
    )


@misconception("shift_targets", title="the caller's sentences get longer")
def targets_that_append(sentences, bos, eos, pad):
    """Your results are right, but you append eos to the lists that you were given: the caller's sentences have changed, and a second call adds a second end. Make new
    lists instead."""
    inputs = _filled([[bos, *s] for s in sentences], pad)
    for sentence in sentences:
        sentence.append(eos)
    return inputs, _filled(sentences, pad)


@misconception("shift_targets", title="the last word is lost")
def targets_that_lose_a_word(sentences, bos, eos, pad):
    """Your tensors are one column too narrow: a sentence of n words gives n + 1 lessons, the last of which is to stop."""
    return (
        _filled([[bos, *s[:-1]] if s else [bos] for s in sentences], pad),
        _filled([s or [eos] for s in sentences], pad),
    )


@alternative("shift_targets")
def targets_by_filling(sentences, bos, eos, pad):
    shape = len(sentences), max(map(len, sentences)) + 1
    decoder_input, labels = torch.full(shape, pad), torch.full(shape, pad)
    decoder_input[:, 0] = bos
    for b, sentence in enumerate(sentences):
        n = len(sentence)
        decoder_input[b, 1 : n + 1] = torch.tensor(sentence, dtype=torch.long)
        labels[b, :n] = torch.tensor(sentence, dtype=torch.long)
        labels[b, n] = eos
    return [decoder_input, labels]


@alternative("shift_targets")
def targets_by_pad_sequence(sentences, bos, eos, pad):
    heads = [torch.tensor([bos, *s]) for s in sentences]
    tails = [torch.tensor([*s, eos]) for s in sentences]
    return tuple(pad_sequence(rows, batch_first=True, padding_value=pad) for rows in (heads, tails))
