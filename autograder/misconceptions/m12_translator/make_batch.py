"""Lab 12, ``make_batch``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from autograder.misconceptions.m12_translator.common import BOS, EOS, PAD
from autograder.testing import alternative, misconception


def _filled(rows, *, left=False, width=0):
    width = max(width, *(len(row) for row in rows))
    return torch.tensor(
        [[PAD] * (width - len(row)) + row if left else row + [PAD] * (width - len(row)) for row in rows]
    )


def _sides(pairs):
    return [list(source) for source, _ in pairs], [list(target) for _, target in pairs]


@misconception(
    "make_batch",
    title="decoder_input and labels are not shifted",
    keeps="the source, the padding and the labels are right",
)
def batch_without_a_shift(pairs):
    """What you give the decoder is what it should say: the answer stands in the question. It must get BOS first, and say at each place the
    word that it is given at the next one."""
    sources, targets = _sides(pairs)
    same = _filled([[*target, EOS] for target in targets])
    return _filled(sources), same, same.clone()


@misconception(
    "make_batch", title="no end of the sentence", keeps="the source, the shift and the padding are right"
)
def batch_without_eos(pairs):
    """Your labels never hold EOS, so the model would never learn to stop. It comes after the last word of each target."""
    sources, targets = _sides(pairs)
    decoder_input = _filled([[BOS, *target] for target in targets])
    return _filled(sources), decoder_input, _filled(targets, width=decoder_input.shape[1])


@misconception(
    "make_batch",
    title="one width for both languages",
    keeps="right where the longest source is as long as the longest target",
)
def batch_of_one_width(pairs):
    """Your source is as wide as the longest sentence of either language. It is filled up to the longest *source* sentence only."""
    sources, targets = _sides(pairs)
    width = max(map(len, [*sources, *targets]))
    inputs, labels = _filled([[BOS, *t] for t in targets]), _filled([[*t, EOS] for t in targets])
    return _filled(sources, width=width), inputs, labels


@misconception(
    "make_batch", title="the rows are sorted by length", keeps="right where the longest sentence comes first"
)
def batch_sorted_by_length(pairs):
    """Your rows stand in the order of their lengths. They keep the order of the pairs: whoever compares them with the sentences later
    finds each in its place."""
    sources, targets = _sides(sorted(pairs, key=lambda pair: -len(pair[0])))
    return _filled(sources), _filled([[BOS, *t] for t in targets]), _filled([[*t, EOS] for t in targets])


@misconception("make_batch", title="the lists that are given are padded", keeps="the batch is right")
def batch_that_pads_the_lists(pairs):
    """Your batch is right, but afterwards the source sentences that you were given end with padding: += adds to the caller's list. Build
    new lists."""
    width = max(len(source) for source, _ in pairs)
    for source, _ in pairs:
        source += [PAD] * (width - len(source))
    sources, targets = _sides(pairs)
    return torch.tensor(sources), _filled([[BOS, *t] for t in targets]), _filled([[*t, EOS] for t in targets])


@misconception("make_batch", title="EOS at the source", keeps="all that concerns the target is right")
def batch_with_eos_at_the_source(pairs):
    """Your source sentences end with EOS. They need no frame: the encoder sees where a sentence ends, for its padding is masked."""
    sources, targets = _sides(pairs)
    inputs, labels = _filled([[BOS, *t] for t in targets]), _filled([[*t, EOS] for t in targets])
    return _filled([[*s, EOS] for s in sources]), inputs, labels


@misconception("make_batch", title="padding in front")
def batch_padded_on_the_left(pairs):
    """Your padding stands before the words. It belongs at the end: the first word has place 0 whatever the other sentences are."""
    sources, targets = _sides(pairs)
    return (
        _filled(sources, left=True),
        _filled([[BOS, *t] for t in targets], left=True),
        _filled([[*t, EOS] for t in targets], left=True),
    )


@misconception("make_batch", title="EOS behind the padding", keeps="right for sentences of one length")
def batch_with_eos_at_the_very_end(pairs):
    """Your EOS stands in the last column, behind the padding. It belongs directly after each sentence's last word."""
    sources, targets = _sides(pairs)
    labels = torch.cat([_filled(targets), torch.full((len(targets), 1), EOS)], dim=1)
    return _filled(sources), _filled([[BOS, *t] for t in targets]), labels


@misconception("make_batch", title="EOS in decoder_input, too")
def batch_that_gives_eos(pairs):
    """You give the decoder EOS as well. Nothing is to be said after it, so decoder_input stops with the last word."""
    sources, targets = _sides(pairs)
    decoder_input = _filled([[BOS, *target, EOS] for target in targets])
    return (
        _filled(sources),
        decoder_input,
        _filled([[*target, EOS] for target in targets], width=decoder_input.shape[1]),
    )


@misconception("make_batch", title="everything is cut to the shortest")
def batch_cut_to_the_shortest(pairs):
    """You cut all sentences to the length of the shortest one, so words are lost. Fill the short ones up instead."""
    sources, targets = _sides(pairs)

    def cut(rows):
        width = min(map(len, rows))
        return torch.tensor([row[:width] for row in rows])

    return cut(sources), cut([[BOS, *t] for t in targets]), cut([[*t, EOS] for t in targets])


@misconception(
    "make_batch", title="the source is shifted, too", keeps="all that concerns the target is right"
)
def batch_with_a_framed_source(pairs):
    """Your source sentences carry BOS and EOS. Only the target needs them; the source is what the pair says."""
    sources, targets = _sides(pairs)
    return (
        _filled([[BOS, *s, EOS] for s in sources]),
        _filled([[BOS, *t] for t in targets]),
        _filled([[*t, EOS] for t in targets]),
    )


@misconception(
    "make_batch", title="an axis of length one goes away", keeps="right for several pairs of several words"
)
def batch_squeezed(pairs):
    """With a single pair your tensors have one axis only: squeeze takes each axis of length one away. A batch of one pair has the shape (1, S)."""
    sources, targets = _sides(pairs)
    inputs, labels = _filled([[BOS, *t] for t in targets]), _filled([[*t, EOS] for t in targets])
    return _filled(sources).squeeze(), inputs.squeeze(), labels.squeeze()


def _known(sentence):
    return [word for word in sentence if word > 3]


@misconception(
    "make_batch", title="unknown words are left out of the source", keeps="right for sentences of known words"
)
def batch_without_unknown_words(pairs):
    """UNKNOWN (3) is gone from your source. An unknown word has a number like any other: the model should learn that something stood there."""
    sources, targets = _sides(pairs)
    rows = _filled([_known(s) for s in sources], width=max(map(len, sources)))
    return rows, _filled([[BOS, *t] for t in targets]), _filled([[*t, EOS] for t in targets])


@misconception(
    "make_batch",
    title="unknown words are left out of both languages",
    keeps="right for sentences of known words",
)
def batch_of_known_words(pairs):
    """UNKNOWN (3) is gone from both languages. An unknown word has a number like any other: the model should learn that something stood there."""
    sources, targets = ([_known(words) for words in side] for side in _sides(pairs))
    return _filled(sources), _filled([[BOS, *t] for t in targets]), _filled([[*t, EOS] for t in targets])


@misconception(
    "make_batch", title="the labels are filled up with EOS", keeps="source and decoder_input are right"
)
def batch_with_labels_full_of_eos(pairs):
    """Your labels go on with EOS where the sentence has ended. One EOS is enough; then comes PAD, which the loss leaves out."""
    sources, targets = _sides(pairs)
    labels = _filled([[*t, EOS] for t in targets])
    return _filled(sources), _filled([[BOS, *t] for t in targets]), torch.where(labels == PAD, EOS, labels)


@alternative("make_batch")
def batch_by_pad_sequence(pairs):
    def pad(rows):
        return nn.utils.rnn.pad_sequence([torch.as_tensor(row) for row in rows], batch_first=True)

    sources, targets = _sides(pairs)
    return [pad(sources), pad([[BOS, *t] for t in targets]), pad([[*t, EOS] for t in targets])]


@misconception(
    "make_batch",
    title="whole numbers of another kind than torch.long",
    keeps="every number is right; only their kind is not",
)
def batch_in_int32(pairs):
    """Your tensors hold whole numbers of 32 bits, and torch.long has 64: cross_entropy refuses other labels. torch.tensor of Python's lists gives torch.long."""
    return tuple(part.int() for part in batch_cell_by_cell(pairs))


@misconception(
    "make_batch",
    title="whole numbers too small for all words",
    keeps="right for the first few words; only the kind of number is not",
)
def batch_in_int16(pairs):
    """Your tensors hold whole numbers of 16 bits, that end at 32,767, and torch.long has 64: the number of a rare word does not fit, and
    cross_entropy refuses such labels."""
    return tuple(part.short() for part in batch_cell_by_cell(pairs))


@alternative("make_batch")
def batch_cell_by_cell(pairs):
    S, T = max(len(s) for s, _ in pairs), max(len(t) for _, t in pairs)
    source = np.zeros((len(pairs), S), dtype=np.int64)
    both = np.zeros((len(pairs), T + 2), dtype=np.int64)
    for row, (s, t) in enumerate(pairs):
        source[row, : len(s)] = s
        both[row, : len(t) + 2] = [BOS, *t, EOS]
    decoder_input = np.where(both == EOS, PAD, both)
    return tuple(torch.from_numpy(part) for part in (source, decoder_input[:, :-1], both[:, 1:]))
