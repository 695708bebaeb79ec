"""Lab 08, ``split_heads``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch

from autograder.testing import alternative, misconception


@misconception("split_heads", title="a bare reshape into heads")
def split_by_reshape(x, h):
    """The shape is right, the content is not: your reshape cuts the words apart, not the columns, so each head sees only some
    of the words. Split the last axis in two first, then exchange the axes of words and heads."""
    return x.reshape(x.shape[0], h, x.shape[1], x.shape[2] // h)


@misconception("split_heads", title="interleaved heads")
def split_interleaved(x, h):
    """Your head 0 gets every h-th column instead of the first ones. When you split the last axis, the head comes first and
    the column within the head second."""
    return x.reshape(*x.shape[:2], x.shape[2] // h, h).permute(0, 3, 1, 2)


@misconception("split_heads", title="words and heads not exchanged")
def split_without_transposing(x, h):
    """The columns are cut correctly, but the head axis stands behind the words: (B, T, h, d_h). Attention works on the last two
    axes, so the heads must come before the words."""
    return x.reshape(*x.shape[:2], h, x.shape[2] // h)


@misconception("split_heads", title="heads of size h instead of h heads")
def split_into_heads_of_size_h(x, h):
    """You made heads of size h; wanted are h heads of size D / h. Look at which of the two numbers stands where."""
    return x.reshape(*x.shape[:2], x.shape[2] // h, h).transpose(1, 2)


@misconception("split_heads", title="each head transposed")
def split_with_words_last(x, h):
    """In your heads the words are the columns: (B, h, d_h, T). Exchange only the axes of words and heads, and leave
    the columns last."""
    return x.reshape(*x.shape[:2], h, x.shape[2] // h).permute(0, 2, 3, 1)


@misconception("split_heads", title="right for a single sentence only")
def split_with_the_batch_behind(x, h):
    """A batch of one sentence comes out right, more get mixed up: your heads stand before the batch, and a reshape does not
    exchange axes. Stack the pieces along dim=1, behind the batch, or transpose."""
    return torch.stack(x.chunk(h, dim=-1)).reshape(x.shape[0], h, x.shape[1], -1)


@misconception(
    "split_heads",
    title="a step of h columns",
)
def split_by_steps_of_h(x, h):
    """Your heads begin at the columns 0, h, 2h …; that is right only where a head is as wide as there are heads. Head i begins at
    column i · D / h."""
    return torch.stack([x[:, :, i * h : (i + 1) * h] for i in range(h)], dim=1)


@misconception(
    "split_heads",
    title="a single head without its axis",
    keeps="right for any other number of heads",
)
def split_but_for_one_head(x, h):
    """For h = 1 you return x as it is, (B, T, D). Also a single head has an axis, (B, 1, T, D): what computes with heads counts on it."""
    return x if h == 1 else torch.stack(x.chunk(h, dim=-1), dim=1)


@misconception(
    "split_heads",
    title="the numbers read in the order of memory",
    keeps="right for every tensor that is no view",
)
def split_by_strides(x, h):
    """A tensor that is a view of another one, a transposed one for instance, comes out wrong: you suppose that its sentences follow each
    other in memory. reshape and transpose go by the axes, whatever lies where."""
    B, T, D = x.shape
    return x.as_strided(
        (B, h, T, D // h), (T * D, x.stride(2) * (D // h), x.stride(1), x.stride(2)), x.storage_offset()
    )


@alternative("split_heads")
def split_by_chunks(x, h):
    return torch.stack(x.chunk(h, dim=-1), dim=1)


@alternative("split_heads")
def split_by_slices_in_numpy(x, h):
    x = x.numpy()
    d_h = x.shape[-1] // h
    return [[sentence[:, i * d_h : (i + 1) * d_h] for i in range(h)] for sentence in x]


@alternative("split_heads")
def split_by_unflatten(x, h):
    return x.float().unflatten(-1, (h, -1)).movedim(2, 1).contiguous()
