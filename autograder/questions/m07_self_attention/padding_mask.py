"""Lab 07, padding_mask: B lengths, T → (B, 1, T) booleans, True at the first lengths[b] positions."""

import numpy as np

from autograder.questions.engine import Case, Observed, Question


def real_words(lengths, T):
    return np.array([[[position < length for position in range(T)]] for length in lengths])


question = Question(real_words)


@question.family(
    "Sentences of the text and others: in any order, some equally long or empty, in an array or a list."
)
def any_order(rng):
    gives = [[[True, True, True, True]], [[True, True, True, False]], [[True, True, False, False]]]
    yield Case([4, 3, 2], 4, gives=gives)
    yield rng.permutation([0, 2, 2, 5]).tolist(), 7
    yield rng.integers(0, 10, 6), 9
    yield [0, 5, 1], 5


@question.family("Batches that are wider than their longest sentence.")
def padding_everywhere(rng):
    for longest in rng.integers(3, 9, 3).tolist():
        yield [longest, longest - 1, 1], longest + int(rng.integers(1, 9))


@question.family("A batch of one sentence, also of one word.")
def one_sentence(rng):
    yield Case([1], 1, gives=[[[True]]])
    for length in rng.integers(2, 9, 3):
        yield np.array([length]), int(rng.integers(9, 19))


@question.scenario("All words are True; what is more than one place behind them is False.", weight=2)
def words_are_heard(student, rng):
    lengths = rng.permutation([0, 2, 2, 5, int(rng.integers(1, 6))])
    rows = np.asarray(student(lengths, 7)).reshape(5, 7).astype(bool)
    for row, length in zip(rows, lengths, strict=True):
        yield Observed("the words", row[:length])
        yield Observed("the padding", row[length + 1 :])


@question.scenario("Words have one value and the padding has the other, the same in all sentences.", weight=2)
def told_apart(student, rng):
    for _ in range(2):  # none is wider than the longest
        lengths = sorted(rng.permutation(np.arange(1, 9))[:4].tolist(), reverse=True)
        rows = np.asarray(student(lengths, lengths[0])).reshape(4, lengths[0])
        yield Observed("what is like the first word", rows == rows[0, 0])


@question.misconception("True for the padding", costs=1)
def padding_mask_inverted(lengths, T):
    """Your mask is True at the padding. Some libraries want it so; in this course True means “may attend”, so the real
    words are True."""
    return np.arange(T)[None, None, :] >= np.asarray(lengths)[:, None, None]


@question.misconception("one padding position counts as a word", costs=1)
def padding_mask_one_too_many(lengths, T):
    """Your rows have one True too many: a sentence of length n fills positions 0 to n − 1."""
    return np.arange(T)[None, None, :] <= np.asarray(lengths)[:, None, None]


@question.misconception("no axis for the queries", costs=1)
def padding_mask_without_the_middle_axis(lengths, T):
    """The values are right, the shape is not: (B, T) would be taken for (queries, keys) when it meets the scores. It needs
    an axis of length 1 in the middle."""
    return np.arange(T)[None, :] < np.asarray(lengths)[:, None]


@question.misconception("queries masked instead of keys", costs=1)
def padding_mask_for_the_queries(lengths, T):
    """Your mask has the shape (B, T, 1): it silences the listeners at the padding, not the padding itself. The keys are
    the last axis."""
    return np.arange(T)[None, :, None] < np.asarray(lengths)[:, None, None]


@question.misconception("padding on the left", costs=1.5)
def padding_mask_on_the_left(lengths, T):
    """Your mask takes the last positions for the real words. Here the words come first and the padding behind them."""
    return np.arange(T)[None, None, :] >= T - np.asarray(lengths)[:, None, None]


@question.misconception("numbers instead of a mask of booleans", costs=0.5)
def padding_mask_of_numbers(lengths, T):
    """Your mask holds 1 and 0 where True and False are wanted. Masks are booleans, so that & and ~ mean what they say."""
    return (np.arange(T)[None, None, :] < np.asarray(lengths)[:, None, None]).astype(float)


@question.misconception("the sentences are sorted", costs=1)
def padding_mask_sorted(lengths, T):
    """Your rows stand in the order of the lengths, not in that of the sentences: row b belongs to `lengths[b]`. Do not sort."""
    return np.arange(T)[None, None, :] < np.sort(np.asarray(lengths))[::-1][:, None, None]


@question.alternative
def padding_mask_as_lists(lengths, T):
    return [[[t < n for t in range(T)]] for n in lengths]
