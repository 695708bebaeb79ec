"""Lab 08, merge_heads: (B, h, T, d_h) → (B, T, h · d_h), the heads of each word side by side."""

import numpy as np
import torch

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m08_multi_head.common import tensor


def one_number_at_a_time(x):
    B, h, T, d_h = x.shape
    words = np.zeros((B, T, h * d_h))
    for b, head, t, column in np.ndindex(x.shape):
        words[b, t, head * d_h + column] = x[b, head, t, column]
    return words


question = Question(one_number_at_a_time)


@question.family("The heads of the text's two words; other batches, lengths and numbers of heads.", weight=3)
def batches(rng):
    heads = torch.tensor([[[[0.0, 1], [10, 11]], [[2, 3], [12, 13]]]])
    yield Case(heads, gives=[[[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0]]])
    for shape in ((2, 3, 5, 4), (3, 2, 4, 1), (4, 5, 2, 2)):
        yield tensor(rng, *shape)


@question.family("A single sentence.")
def one_sentence(rng):
    for shape in ((1, 3, 5, 4), (1, 2, 4, 1)):
        yield tensor(rng, *shape)


@question.family("What a single head says of the words is the result.", weight=0.5)
def a_single_head(rng):
    yield tensor(rng, 2, 1, 3, 5)


@question.family("Sentences of a single word.", weight=0.5)
def a_single_word(rng):
    yield tensor(rng, 2, 3, 1, 4)


@question.scenario("Heads that are a view, as split_heads may return them.", weight=0.5)
def views(student, rng):
    yield Observed("the merged heads", student(tensor(rng, 2, 4, 3, 5).transpose(1, 2)))


@question.misconception("a bare reshape of the heads", costs=3)
def merge_by_reshape(x):
    """The shape is right, the content is not: your reshape joins numbers of different words. Exchange the axes of heads and words
    first, then join the last two."""
    return x.reshape(x.shape[0], x.shape[2], -1)


@question.misconception("heads merged column by column", costs=3)
def merge_interleaved(x):
    """Your columns alternate between the heads. All columns of head 0 come first, then all of head 1."""
    return x.permute(0, 2, 3, 1).flatten(2)


@question.misconception("heads added up", costs=2.5)
def merge_by_adding(x):
    """You add the heads up, so that nobody can tell them apart any more. They are to stand side by side."""
    return x.sum(dim=1)


@question.misconception("the last two axes not joined", costs=2.5)
def merge_without_joining(x):
    """Heads and words are exchanged, but the heads still have an axis of their own. Join the last two axes into one."""
    return x.transpose(1, 2)


@question.misconception("heads in the reverse order", costs=1.5, because="each word has all its heads")
def merge_reversed(x):
    """The last head comes first in your result. The order of the heads must stay, or merging does not undo splitting."""
    return x.flip(1).transpose(1, 2).flatten(2)


@question.misconception("sentences and words are mixed", costs=2.25)
def merge_with_the_words_first(x):
    """A batch of one sentence comes out right, more get mixed up: you bring the words before the batch, and a reshape does not bring
    them back. Leave the batch first: exchange the axes of heads and words only."""
    return x.permute(2, 0, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@question.misconception("view after the exchange of axes", costs=2, card="an error comes first")
def merge_by_view(x):
    """view can't join axes that have been exchanged, and raises an error; reshape copies the numbers where it must."""
    B, h, T, d_h = x.shape
    return x.transpose(1, 2).view(B, T, h * d_h)


@question.alternative
def merge_by_concatenation(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@question.alternative
def merge_by_einsum_in_single_precision(x):
    _, h, _, d_h = x.shape
    return torch.einsum("bhtd,hdm->btm", x.float(), torch.eye(h * d_h).reshape(h, d_h, h * d_h))
