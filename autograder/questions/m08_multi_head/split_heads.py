"""Lab 08, split_heads: x (B, T, D), h → (B, h, T, D / h), head i with the columns i · D/h up to (i + 1) · D/h of every word."""

import numpy as np
import torch

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m08_multi_head.common import cut, tensor


def one_number_at_a_time(x, h):
    B, T, D = x.shape
    heads = np.zeros((B, h, T, D // h))
    for b, head, t, column in np.ndindex(heads.shape):
        heads[b, head, t, column] = x[b, t, head * (D // h) + column]
    return heads


question = Question(one_number_at_a_time)


@question.family(
    "The two words of the text; other batches, lengths and numbers of heads, 512 columns too.", weight=3
)
def batches(rng):
    words = torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13]]])
    yield Case(words, 2, gives=[[[[0.0, 1.0], [10.0, 11.0]], [[2.0, 3.0], [12.0, 13.0]]]])
    for B, T, h, d_h in ((2, 5, 3, 4), (3, 4, 2, 1), (2, 3, 2, 5)):
        yield tensor(rng, B, T, h * d_h), h
    yield torch.tensor(rng.integers(0, 9, (1, 2, 512))), 8


@question.family("A single sentence, its heads as wide as there are heads.")
def one_sentence(rng):
    for T, h in ((3, 2), (5, 3)):
        yield tensor(rng, 1, T, h * h), h


@question.family("A single head gets all columns, and has an axis of its own.")
def a_single_head(rng):
    yield tensor(rng, 2, 3, 5), 1


@question.scenario("Transposed views, and views of every second sentence.")
def views(student, rng):
    yield Observed("the heads of transposed sentences", student(tensor(rng, 2, 4, 5).transpose(1, 2), 2))
    yield Observed("the heads of every second sentence", student(tensor(rng, 4, 3, 4)[::2], 2))


@question.misconception("a bare reshape into heads", costs=3)
def split_by_reshape(x, h):
    """The shape is right, the content is not: your reshape cuts the words apart, not the columns, so each head sees only some
    of the words. Split the last axis in two first, then exchange the axes of words and heads."""
    return cut(x, h)


@question.misconception("interleaved heads", costs=3)
def split_interleaved(x, h):
    """Your head 0 gets every h-th column instead of the first ones. When you split the last axis, the head comes first and
    the column within the head second."""
    return x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2)


@question.misconception("words and heads not exchanged", costs=2.5)
def split_without_transposing(x, h):
    """The columns are cut correctly, but the head axis stands behind the words: (B, T, h, d_h). Attention works on the last two
    axes, so the heads must come before the words."""
    return x.reshape(*x.shape[:2], h, -1)


@question.misconception("heads of size h instead of h heads", costs=2.5)
def split_into_heads_of_size_h(x, h):
    """You made heads of size h; wanted are h heads of size D / h. Look at which of the two numbers stands where."""
    return x.reshape(*x.shape[:2], -1, h).transpose(1, 2)


@question.misconception("right for a single sentence only", costs=2)
def split_with_the_batch_behind(x, h):
    """A batch of one sentence comes out right, more get mixed up: your heads stand before the batch, and a reshape does not
    exchange axes. Stack the pieces along dim=1, behind the batch, or transpose."""
    return torch.stack(x.chunk(h, dim=-1)).reshape(x.shape[0], h, x.shape[1], -1)


@question.misconception("a step of h columns", costs=1.5)
def split_by_steps_of_h(x, h):
    """Your heads begin at the columns 0, h, 2h …; that is right only where a head is as wide as there are heads. Head i begins at
    column i · D / h."""
    return torch.stack([x[:, :, i * h : (i + 1) * h] for i in range(h)], dim=1)


@question.alternative
def split_by_chunks(x, h):
    return torch.stack(x.chunk(h, dim=-1), dim=1)


@question.alternative
def split_by_slices_in_numpy(x, h):
    x = x.numpy()
    d_h = x.shape[-1] // h
    return [[sentence[:, i * d_h : (i + 1) * d_h] for i in range(h)] for sentence in x]
