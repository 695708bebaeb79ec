"""Lab 10, shift_targets: sentences (lists of word numbers), bos, eos, pad → decoder input and labels, (B, T) integers each."""

import torch
from torch.nn.utils.rnn import pad_sequence

from autograder.questions.engine import Case, Observed, Question


def row_by_row(sentences, bos, eos, pad):
    longest = max(len(sentence) for sentence in sentences)
    inputs, labels = [], []
    for sentence in sentences:
        gap = [pad] * (longest - len(sentence))
        inputs.append([bos, *sentence, *gap])
        labels.append([*sentence, eos, *gap])
    return torch.tensor(inputs), torch.tensor(labels)


question = Question(row_by_row)


def of_lengths(rng, lengths):
    """Sentences of these lengths; the longest begin with a smaller word than the others, so that max() takes another."""
    sentences = [rng.integers(11, 90, size=length).tolist() for length in lengths]
    return [[10, *words[1:]] if len(words) == max(lengths) else words for words in sentences]


@question.family("A single sentence, and sentences of the same length.", weight=1.5)
def one_length(rng):
    yield [[2, 1, 0, 4]], 6, 5, 7
    yield rng.integers(10, 90, size=(4, 5)).tolist(), 97, 98, 99


@question.family(
    "Sentences of different lengths, the longest first, and an empty one: the text's two among them."
)
def longest_first(rng):
    gives = [[6, 2, 1, 0, 4], [6, 3, 7, 7, 7]], [[2, 1, 0, 4, 5], [3, 5, 7, 7, 7]]
    yield Case([[2, 1, 0, 4], [3]], 6, 5, 7, gives=gives)
    for bos, eos, pad, lengths in ((1, 2, 0, (6, 4, 3, 1)), (97, 98, 99, (5, 2, 0))):
        yield of_lengths(rng, lengths), bos, eos, pad


@question.family(
    "Sentences in any order: the longest anywhere, empty ones, one that comes twice.", weight=1.5
)
def any_order(rng):
    for lengths, pad in (((2, 0, 2), 99), ((6, 1, 6, 3), 0), ((1, 3, 6, 2, 5), 99)):
        yield of_lengths(rng, lengths), 1, 2, pad
    twice = of_lengths(rng, (2, 4))
    yield [twice[0], *twice], 1, 2, -1


@question.family("Words that have the numbers of the beginning, the end and the padding.", weight=0.75)
def the_three_numbers(rng):
    sentences = rng.integers(0, 12, size=(3, 4))
    sentences[0, :3] = rng.permutation(3)
    yield sentences.tolist(), 1, 2, 0
    yield [[2, 7, 0], [0, 0, 2], [1, 2, 1]], 1, 2, 0
    yield [[9, 0, *rng.integers(3, 9, size=2).tolist()], [0, 3]], 1, 2, 0


@question.scenario("Both are tensors of integers, of an empty sentence too.")
def integers(student, rng):
    for sentences in (rng.integers(10, 90, size=(3, 4)).tolist(), [[]], [[90, 80], [70]]):
        for part in student(sentences, 6, 5, 7):
            yield Observed("the kind of number", str(getattr(part, "dtype", None)))
            yield Observed("how many sentences", len(part))


def _filled(rows, pad, *, left=False, width=0):
    width = max(width, *map(len, rows))
    gaps = [[pad] * (width - len(row)) for row in rows]
    return torch.tensor([[*gap, *row] if left else [*row, *gap] for row, gap in zip(rows, gaps, strict=True)])


@question.misconception("nothing is shifted", costs=2.5)
def targets_not_shifted(sentences, bos, eos, pad):
    """Decoder input and labels are the same: position t sees the very word that it should say. A model learns to copy it within a
    minute and can't write a word by itself. The input must be one step behind the labels."""
    rows = _filled([[bos, *sentence] for sentence in sentences], pad)
    return rows, rows.clone()


@question.misconception("input and labels exchanged", costs=2.5)
def targets_exchanged(sentences, bos, eos, pad):
    """Your two results are exchanged: the decoder input, which begins with bos, comes first, the labels second."""
    return _filled([[*s, eos] for s in sentences], pad), _filled([[bos, *s] for s in sentences], pad)


@question.misconception("the end is forgotten", costs=2)
def targets_without_the_end(sentences, bos, eos, pad):
    """Your labels do not hold eos, so the model never learns to stop. Behind its last word each sentence gets eos as a label."""
    inputs = _filled([[bos, *s] for s in sentences], pad)
    return inputs, _filled(sentences, pad, width=inputs.shape[1])


@question.misconception("the end stands behind the padding", costs=1.5)
def targets_with_the_end_at_the_end(sentences, bos, eos, pad):
    """In short sentences your eos stands in the last column, behind the padding. It comes right behind the last word; the padding follows."""
    longest = max(map(len, sentences))
    padded = [[*s, *[pad] * (longest - len(s))] for s in sentences]
    return torch.tensor([[bos, *row] for row in padded]), torch.tensor([[*row, eos] for row in padded])


@question.misconception("eos in the input as well", costs=1)
def targets_cut_from_one_row(sentences, bos, eos, pad):
    """You pad <bos> … <eos> and cut off the first and the last column. In sentences shorter than the longest, the input then still holds eos, as
    if there were something to say after the end. Put eos into the labels only."""
    whole = _filled([[bos, *s, eos] for s in sentences], pad)
    return whole[:, :-1], whole[:, 1:]


@question.misconception("padding on the left", costs=1.5)
def targets_padded_on_the_left(sentences, bos, eos, pad):
    """Your padding stands in front of the sentences. Here it stands behind them, so that position 0 always holds bos."""
    inputs, labels = [[bos, *s] for s in sentences], [[*s, eos] for s in sentences]
    return _filled(inputs, pad, left=True), _filled(labels, pad, left=True)


@question.misconception("the caller's sentences get longer", costs=1)
def targets_that_append(sentences, bos, eos, pad):
    """Your results are right, but you append eos to the lists that you were given: the caller's sentences have changed, and a second call adds a second end. Make new
    lists instead."""
    inputs = _filled([[bos, *s] for s in sentences], pad)
    for sentence in sentences:
        sentence.append(eos)
    return inputs, _filled(sentences, pad)


@question.alternative
def targets_by_pad_sequence(sentences, bos, eos, pad):
    heads = [torch.tensor([bos, *s]) for s in sentences]
    tails = [torch.tensor([*s, eos]) for s in sentences]
    return tuple(pad_sequence(rows, batch_first=True, padding_value=pad) for rows in (heads, tails))
