"""Lab 12, make_batch: [(source, target), …] → source (B, S), decoder_input (B, T + 1), labels (B, T + 1), filled with PAD."""

import numpy as np
import torch

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m12_translator.common import BOS, EOS, PAD, UNKNOWN


def word_by_word(pairs):
    """Tables full of padding, into which each word is written."""
    S, T = (max(len(pair[side]) for pair in pairs) for side in (0, 1))
    source, decoder_input, labels = (
        torch.full((len(pairs), width), PAD, dtype=torch.long) for width in (S, T + 1, T + 1)
    )
    for row, (english, german) in enumerate(pairs):
        for place, word in enumerate(english):
            source[row, place] = word
        decoder_input[row, 0], labels[row, len(german)] = BOS, EOS
        for place, word in enumerate(german):
            decoder_input[row, place + 1] = labels[row, place] = word
    return source, decoder_input, labels


question = Question(word_by_word)


def some_pairs(rng, source_lengths, target_lengths, size=99):
    def words(length):
        return rng.integers(4, size, size=length).tolist()

    return [(words(s), words(t)) for s, t in zip(source_lengths, target_lengths, strict=True)]


#: The longest source comes first: order has a family of its own.
LENGTHS = (((3, 1), (1, 2)), ((4, 2, 1), (5, 3, 1)), ((6, 2), (3, 3)))


@question.family("The source sentences, filled up to the longest of them.", weight=1.25, only=0)
def sources(rng):
    yield Case([([7, 8, 9], [5]), ([4], [6, 7])], gives=([[7, 8, 9], [4, 0, 0]], None, None))
    for lengths in LENGTHS:
        yield some_pairs(rng, *lengths)


@question.family("What the decoder is given: BOS, the whole target, padding.", only=1)
def decoder_inputs(rng):
    yield Case([([7, 8, 9], [5]), ([4], [6, 7])], gives=(None, [[1, 5, 0], [1, 6, 7]], None))
    for lengths in LENGTHS:
        yield some_pairs(rng, *lengths)


@question.family("What the decoder should say: the target, EOS, padding.", only=2)
def what_is_to_be_said(rng):
    yield Case([([7, 8, 9], [5]), ([4], [6, 7])], gives=(None, None, [[5, 2, 0], [6, 7, 2]]))
    for lengths in LENGTHS:
        yield some_pairs(rng, *lengths)


@question.family("The rows stand in the order of the pairs, however long the sentences are.", weight=1.75)
def order(rng):
    yield some_pairs(rng, (1, 4, 2), (2, 1, 3))


@question.family("A single pair, and sentences of a single word: no axis goes away.")
def single(rng):
    for lengths in (((2,), (4,)), ((1,), (1,)), ((1, 1, 1), (1, 1, 1))):
        yield some_pairs(rng, *lengths)


@question.family("Unknown words have a number like any other.")
def unknown_words(rng):
    pairs = some_pairs(rng, (4, 6), (5, 3))
    for row, side, place in ((0, 0, 1), (1, 0, 5), (1, 0, 2), (0, 1, 2)):
        pairs[row][side][place] = UNKNOWN
    yield pairs


@question.scenario("All three are tensors of whole numbers, torch.long.", weight=0.5)
def kinds(student, rng):
    batch = student(some_pairs(rng, (2, 3, 1), (4, 2, 2), size=30_000))
    yield Observed("how many sentences", [len(part) for part in batch])
    yield Observed("the kinds", [str(getattr(part, "dtype", type(part).__name__)) for part in batch])


def filled(rows, *, left=False, width=0):
    width = max(width, *(len(row) for row in rows))
    return torch.tensor(
        [[PAD] * (width - len(row)) + row if left else row + [PAD] * (width - len(row)) for row in rows]
    )


def sides(pairs):
    return [list(source) for source, _ in pairs], [list(target) for _, target in pairs]


def framed(targets, **options):
    """Both rows of the decoder."""
    inputs, labels = [[BOS, *t] for t in targets], [[*t, EOS] for t in targets]
    return filled(inputs, **options), filled(labels, **options)


@question.misconception("decoder_input and labels are not shifted", costs=1)
def batch_without_a_shift(pairs):
    """What you give the decoder is what it should say: the answer stands in the question. It must get BOS first, and say at each place the
    word that it is given at the next one."""
    sources, targets = sides(pairs)
    labels = framed(targets)[1]
    return filled(sources), labels, labels.clone()


@question.misconception("no end of the sentence", costs=1)
def batch_without_eos(pairs):
    """Your labels never hold EOS, so the model would never learn to stop. It comes after the last word of each target."""
    sources, targets = sides(pairs)
    decoder_input = framed(targets)[0]
    return filled(sources), decoder_input, filled(targets, width=decoder_input.shape[1])


@question.misconception("one width for both languages", costs=1)
def batch_of_one_width(pairs):
    """Your source is as wide as the longest sentence of either language. It is filled up to the longest *source* sentence only."""
    sources, targets = sides(pairs)
    return filled(sources, width=max(map(len, [*sources, *targets]))), *framed(targets)


@question.misconception("the lists that are given are padded", costs=1, because="the first batch is right")
def batch_that_pads_the_lists(pairs):
    """Your batch is right, but afterwards the source sentences that you were given end with padding: += adds to the caller's list. Build
    new lists."""
    width = max(len(source) for source, _ in pairs)
    for source, _ in pairs:
        source += [PAD] * (width - len(source))
    sources, targets = sides(pairs)
    return torch.tensor(sources), *framed(targets)


@question.misconception("EOS at the source", costs=1, frame=((), (EOS,)))
@question.misconception(
    "the source is shifted, too",
    costs=1,
    frame=((BOS,), (EOS,)),
    hint="Your source sentences carry BOS and EOS. Only the target needs them; the source is what the pair says.",
)
def batch_with_a_framed_source(pairs, *, frame):
    """Your source sentences end with EOS. They need no frame: the encoder sees where a sentence ends, for its padding is masked."""
    sources, targets = sides(pairs)
    return filled([[*frame[0], *s, *frame[1]] for s in sources]), *framed(targets)


@question.misconception("padding in front", costs=1.5)
def batch_padded_on_the_left(pairs):
    """Your padding stands before the words. It belongs at the end: the first word has place 0 whatever the other sentences are."""
    sources, targets = sides(pairs)
    return filled(sources, left=True), *framed(targets, left=True)


@question.misconception("EOS behind the padding", costs=1)
def batch_with_eos_at_the_very_end(pairs):
    """Your EOS stands in the last column, behind the padding. It belongs directly after each sentence's last word."""
    sources, targets = sides(pairs)
    labels = torch.cat([filled(targets), torch.full((len(targets), 1), EOS)], dim=1)
    return filled(sources), framed(targets)[0], labels


@question.misconception("EOS in decoder_input, too", costs=1, because="one column too many")
def batch_that_gives_eos(pairs):
    """You give the decoder EOS as well. Nothing is to be said after it, so decoder_input stops with the last word."""
    sources, targets = sides(pairs)
    decoder_input = filled([[BOS, *target, EOS] for target in targets])
    labels = filled([[*target, EOS] for target in targets], width=decoder_input.shape[1])
    return filled(sources), decoder_input, labels


def known(sentence):
    return [word for word in sentence if word > UNKNOWN]


@question.misconception("unknown words are left out of the source", costs=0.5)
def batch_without_unknown_words(pairs):
    """UNKNOWN (3) is gone from your source. An unknown word has a number like any other: the model should learn that something stood there."""
    sources, targets = sides(pairs)
    return filled(list(map(known, sources)), width=max(map(len, sources))), *framed(targets)


@question.misconception("whole numbers of another kind than torch.long", costs=0.5)
def batch_of_another_kind(pairs):
    """Your tensors hold whole numbers of 32 bits, and torch.long has 64: cross_entropy refuses other labels. torch.tensor of Python's lists gives torch.long."""
    return tuple(part.to(torch.int32) for part in word_by_word(pairs))


@question.alternative
def batch_cell_by_cell(pairs):
    S, T = max(len(s) for s, _ in pairs), max(len(t) for _, t in pairs)
    source = np.zeros((len(pairs), S), dtype=np.int64)
    both = np.zeros((len(pairs), T + 2), dtype=np.int64)
    for row, (s, t) in enumerate(pairs):
        source[row, : len(s)] = s
        both[row, : len(t) + 2] = [BOS, *t, EOS]
    decoder_input = np.where(both == EOS, PAD, both)
    return tuple(torch.from_numpy(part) for part in (source, decoder_input[:, :-1], both[:, 1:]))
