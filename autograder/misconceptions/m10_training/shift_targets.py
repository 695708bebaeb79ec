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


@misconception(
    "shift_targets", title="the end stands behind the padding", keeps="right for sentences of one length"
)
def targets_with_the_end_at_the_end(sentences, bos, eos, pad):
    """In short sentences your eos stands in the last column, behind the padding. It comes right behind the last word; the padding follows."""
    longest = max(map(len, sentences))
    padded = [[*s, *[pad] * (longest - len(s))] for s in sentences]
    return torch.tensor([[bos, *row] for row in padded]), torch.tensor([[*row, eos] for row in padded])


@misconception(
    "shift_targets",
    title="eos in the input as well",
    keeps="the labels are right, and sentences of one length",
)
def targets_cut_from_one_row(sentences, bos, eos, pad):
    """You pad <bos> … <eos> and cut off the first and the last column. In sentences shorter than the longest, the input then still holds eos, as
    if there were something to say after the end. Put eos into the labels only."""
    whole = _filled([[bos, *s, eos] for s in sentences], pad)
    return whole[:, :-1], whole[:, 1:]


@misconception("shift_targets", title="padding on the left", keeps="right for sentences of one length")
def targets_padded_on_the_left(sentences, bos, eos, pad):
    """Your padding stands in front of the sentences. Here it stands behind them, so that position 0 always holds bos."""
    longest = max(map(len, sentences))
    gaps = [[pad] * (longest - len(s)) for s in sentences]
    return (
        torch.tensor([[*g, bos, *s] for g, s in zip(gaps, sentences, strict=True)]),
        torch.tensor([[*g, *s, eos] for g, s in zip(gaps, sentences, strict=True)]),
    )


@misconception("shift_targets", title="the caller's sentences get longer", keeps="the results are right")
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


@misconception(
    "shift_targets", title="the rows in another order", keeps="right where the longest sentence stands first"
)
def targets_sorted_by_length(sentences, bos, eos, pad):
    """Your rows hold the right values, sorted by length: row b no longer belongs to sentence b, so each source would be taught the
    translation of another. Keep the order of the sentences."""
    rows = sorted(sentences, key=len, reverse=True)
    return _filled([[bos, *s] for s in rows], pad), _filled([[*s, eos] for s in rows], pad)


@misconception("shift_targets", title="the decoder input holds floats", keeps="the numbers are right")
def targets_with_an_input_of_floats(sentences, bos, eos, pad):
    """Your numbers are right, but the decoder input holds floats, and an embedding takes whole numbers only. Make it a tensor of torch.long: torch.zeros and
    torch.ones are floats unless you say dtype=torch.long."""
    inputs = _filled([[bos, *s] for s in sentences], pad)
    return inputs.float(), _filled([[*s, eos] for s in sentences], pad)


@misconception(
    "shift_targets",
    title="as wide as the first sentence",
    keeps="right where the longest sentence stands first",
)
def targets_as_wide_as_the_first(sentences, bos, eos, pad):
    """Your function fails as soon as a later sentence is longer than the first: T is the length of the longest one, wherever it stands,
    plus 1."""
    shape = len(sentences), len(sentences[0]) + 1
    decoder_input, labels = torch.full(shape, pad), torch.full(shape, pad)
    for b, sentence in enumerate(sentences):
        decoder_input[b, : len(sentence) + 1] = torch.tensor([bos, *sentence])
        labels[b, : len(sentence) + 1] = torch.tensor([*sentence, eos])
    return decoder_input, labels


@misconception("shift_targets", title="equal sentences", keeps="right where no sentence comes twice")
def targets_by_index(sentences, bos, eos, pad):
    """Where a sentence comes twice, its second row stays empty: you look up the row with sentences.index(…), which always finds the first. Count
    the rows, for b, sentence in enumerate(sentences)."""
    shape = len(sentences), max(map(len, sentences)) + 1
    decoder_input, labels = torch.full(shape, pad), torch.full(shape, pad)
    for sentence in sentences:
        b = sentences.index(sentence)
        decoder_input[b, : len(sentence) + 1] = torch.tensor([bos, *sentence])
        labels[b, : len(sentence) + 1] = torch.tensor([*sentence, eos])
    return decoder_input, labels


@misconception(
    "shift_targets", title="floats from an empty sentence", keeps="right where no sentence is empty"
)
def targets_with_floats_of_an_empty_sentence(sentences, bos, eos, pad):
    """As soon as one sentence is empty, your numbers are floats, and an embedding takes whole numbers only: torch.tensor([]) holds floats, and makes floats of
    what it is joined with. Say dtype=torch.long."""
    longest = max(map(len, sentences))
    begin, end, inputs, labels = torch.tensor([bos]), torch.tensor([eos]), [], []
    for sentence in sentences:
        words, gap = torch.tensor(sentence), torch.full((longest - len(sentence),), pad)
        inputs.append(torch.cat([begin, words, gap]))
        labels.append(torch.cat([words, end, gap]))
    return torch.stack(inputs), torch.stack(labels)


@misconception(
    "shift_targets",
    title="max of the sentences for the longest",
    keeps="right where the longest sentence has the largest first word, too",
)
def targets_as_wide_as_the_largest(sentences, bos, eos, pad):
    """Your function fails where the longest sentence does not begin with the largest word: max(sentences) compares lists word by word, as a
    dictionary does. The longest is max(sentences, key=len), and its length max(map(len, sentences))."""
    T = len(max(sentences)) + 1
    rows_in = [[bos, *s, *[pad] * (T - len(s) - 1)] for s in sentences]
    rows_out = [[*s, eos, *[pad] * (T - len(s) - 1)] for s in sentences]
    return torch.tensor(rows_in), torch.tensor(rows_out)


@misconception(
    "shift_targets",
    title="the end is found by looking for the padding",
    keeps="right where no word has the number of pad",
)
def targets_that_count_what_is_not_pad(sentences, bos, eos, pad):
    """In a sentence that holds the number of pad as a word your eos overwrites a word: its place is found by counting what is not pad.
    Count the words of the sentence instead: its len says how many there are."""
    longest = max(map(len, sentences)) + 1
    words = torch.tensor([[*s, *[pad] * (longest - len(s))] for s in sentences])
    labels = words.clone()
    labels[torch.arange(len(words)), (words != pad).sum(dim=1)] = eos
    return torch.cat([torch.full((len(words), 1), bos), words[:, :-1]], dim=1), labels


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
