"""Lab 08, ``merge_heads``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.testing import alternative, misconception


@misconception("merge_heads", title="a bare reshape of the heads")
def merge_by_reshape(x):
    """The shape is right, the content is not: your reshape joins numbers of different words. Exchange the axes of heads and words
    first, then join the last two."""
    return x.reshape(x.shape[0], x.shape[2], -1)


@misconception("merge_heads", title="heads merged column by column")
def merge_interleaved(x):
    """Your columns alternate between the heads. All columns of head 0 come first, then all of head 1."""
    return x.permute(0, 2, 3, 1).flatten(2)


@misconception("merge_heads", title="heads added up")
def merge_by_adding(x):
    """You add the heads up, so that nobody can tell them apart any more. They are to stand side by side."""
    return x.sum(dim=1)


@misconception("merge_heads", title="the last two axes not joined")
def merge_without_joining(x):
    """Heads and words are exchanged, but the heads still have an axis of their own. Join the last two axes into one."""
    return x.transpose(1, 2)


@misconception("merge_heads", title="heads in the reverse order")
def merge_reversed(x):
    """The last head comes first in your result. The order of the heads must stay, or merging does not undo splitting."""
    return x.flip(1).transpose(1, 2).flatten(2)


@misconception("merge_heads", title="sentences and words are mixed")
def merge_with_the_words_first(x):
    """A batch of one sentence comes out right, more get mixed up: you bring the words before the batch, and a reshape does not bring
    them back. Leave the batch first: exchange the axes of heads and words only."""
    B, h, T, d_h = x.shape
    return x.permute(2, 0, 1, 3).reshape(B, T, h * d_h)


@misconception("merge_heads", title="heads and words are taken for each other")
def merge_with_heads_as_words(x):
    """You read the shape as (B, T, h, d_h), but the heads come before the words: (B, h, T, d_h). So your result is right only when there
    are as many heads as words."""
    B, T, h, d_h = x.shape
    return x.transpose(1, 2).reshape(B, T, h * d_h)


@misconception("merge_heads", title="heads one below the other")
def merge_below_each_other(x):
    """Your heads stand one below the other, as if they were words: (B, h · T, d_h). Join them along the last axis, so that each word keeps
    its row."""
    return torch.cat(x.unbind(dim=1), dim=1)


@misconception("merge_heads", title="view after the exchange of axes")
def merge_by_view(x):
    """view can't join axes that have been exchanged, and raises an error; reshape copies the numbers where it must."""
    B, h, T, d_h = x.shape
    return x.transpose(1, 2).view(B, T, h * d_h)


@misconception("merge_heads", title="the argument is transposed in place", keeps="the values are right")
def merge_in_place(x):
    """What you return is right, but transpose_ with an underscore exchanges the axes of the argument itself, for all who use it. Without
    the underscore there is a new view."""
    return x.transpose_(1, 2).flatten(2)


@misconception(
    "merge_heads", title="sentences of one word lose their axis", keeps="right for all longer sentences"
)
def merge_squeezed(x):
    """Sentences of a single word lose an axis in your result: squeeze takes away every axis of length one that it may, and the words'
    axis can be one. An index, x[:, i], needs no squeeze."""
    return torch.cat([x[:, i].squeeze(1) for i in range(x.shape[1])], dim=-1)


@alternative("merge_heads")
def merge_by_concatenation(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@alternative("merge_heads")
def merge_by_einsum_in_single_precision(x):
    _, h, _, d_h = x.shape
    place = torch.eye(h * d_h).reshape(h, d_h, h * d_h)
    return torch.einsum("bhtd,hdm->btm", x.float(), place)


@alternative("merge_heads")
def merge_in_numpy(x):
    return np.concatenate(list(np.moveaxis(x.numpy(), 1, 0)), axis=-1)
