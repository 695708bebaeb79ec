"""Lab 13, ``sparse_mask``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.testing import alternative, misconception

_KINDS = ("full", "causal", "local", "dilated", "global")


def _sparse(kind, T, width, dilation, n_global):
    i, j = np.indices((T, T))
    gap = abs(i - j)
    masks = {
        "full": gap >= 0,
        "causal": j <= i,
        "local": gap <= width,
        "dilated": (gap % dilation == 0) & (gap <= width * dilation),
        "global": (gap <= width) | (np.minimum(i, j) < n_global),
    }
    if kind not in masks:
        raise ValueError(kind)
    return masks[kind]


@misconception("sparse_mask", title="True where attention is forbidden")
def forbidden_pairs(kind, T, width=2, dilation=2, n_global=1):
    """Your mask is True where attention is forbidden. In this course True means: may attend."""
    return ~_sparse(kind, T, width, dilation, n_global)


@misconception(
    "sparse_mask",
    title="causal without the diagonal",
    keeps="only the causal mask is wrong, one of several kinds",
)
def strictly_before(kind, T, width=2, dilation=2, n_global=1):
    """In your causal mask no position may attend to itself, and the first one has nothing at all: its softmax is nan."""
    return np.tri(T, k=-1, dtype=bool) if kind == "causal" else _sparse(kind, T, width, dilation, n_global)


@misconception(
    "sparse_mask", title="causal upside down", keeps="only the causal mask is wrong, one of several kinds"
)
def only_the_future(kind, T, width=2, dilation=2, n_global=1):
    """Your causal mask lets each position see itself and the future. Rows are those who listen: row i may attend to columns up to i."""
    return (
        _sparse(kind, T, width, dilation, n_global).T
        if kind == "causal"
        else _sparse(kind, T, width, dilation, n_global)
    )


@misconception("sparse_mask", title="windows that look back only")
def one_sided(kind, T, width=2, dilation=2, n_global=1):
    """Your windows reach only to one side. Take the absolute value of i − j: neighbours before and after count."""
    mask = _sparse(kind, T, width, dilation, n_global)
    return mask & np.tri(T, dtype=bool) if kind in ("local", "dilated") else mask


@misconception("sparse_mask", title="the width counts the whole window")
def whole_window(kind, T, width=2, dilation=2, n_global=1):
    """Your windows are about half as wide as asked: width counts the neighbours on each side, not those on both together."""
    return _sparse(kind, T, width // 2, dilation, n_global)


@misconception(
    "sparse_mask", title="gaps without an end", keeps="only the dilated mask is wrong, one of several kinds"
)
def every_multiple(kind, T, width=2, dilation=2, n_global=1):
    """Your dilated mask has the gaps, but no end: it should hold as many neighbours as the window, width on each side."""
    return _sparse(kind, T, T if kind == "dilated" else width, dilation, n_global)


@misconception(
    "sparse_mask",
    title="the reach is not stretched",
    keeps="only the dilated mask is wrong, one of several kinds",
)
def not_stretched(kind, T, width=2, dilation=2, n_global=1):
    """Your dilated mask cuts gaps into the plain window, so it has fewer neighbours. It should reach further: width times dilation."""
    return _sparse(kind, T, width // dilation if kind == "dilated" else width, dilation, n_global)


@misconception(
    "sparse_mask",
    title="global positions are heard but do not hear",
    keeps="only the global mask is wrong, one of several kinds",
)
def global_columns(kind, T, width=2, dilation=2, n_global=1):
    """Your global positions have full columns, but not full rows: all hear them, but they hear only their window, so they can't pass anything
    on."""
    mask = _sparse("local" if kind == "global" else kind, T, width, dilation, n_global).copy()
    if kind == "global":
        mask[:, :n_global] = True
    return mask


@misconception(
    "sparse_mask",
    title="global without the window",
    keeps="only the global mask is wrong, one of several kinds",
)
def global_alone(kind, T, width=2, dilation=2, n_global=1):
    """Your global mask has only the global rows and columns. The window of neighbours is part of it, too."""
    return _sparse(kind, T, -1 if kind == "global" else width, dilation, n_global)


@misconception(
    "sparse_mask",
    title="an unknown kind is let through",
    keeps="every mask is right; only a misspelt kind passes",
)
def unknown_is_full(kind, T, width=2, dilation=2, n_global=1):
    """An unknown kind of mask, a typing error for instance, raises no error in your function. Say so with a ValueError, or it will be found
    much later."""
    known = kind in ("full", "causal", "local", "dilated", "global")
    return _sparse(kind if known else "full", T, width, dilation, n_global)


@misconception(
    "sparse_mask",
    title="a window that ends one too early",
    keeps="right but for the outermost neighbours",
)
def below_the_width(kind, T, width=2, dilation=2, n_global=1):
    """Your windows lack their outermost neighbours: width says how many count on each side, so |i − j| may be equal to it."""
    return _sparse(kind, T, width - 1 if kind in ("local", "global") else width, dilation, n_global)


@misconception(
    "sparse_mask", title="a window wider than the text fails", keeps="every mask is right that fits the text"
)
def no_wider_than_the_text(kind, T, width=2, dilation=2, n_global=1):
    """A window that is wider than the text makes your function fail: there is no diagonal so far out. Such a window simply holds every pair."""
    reach = {"local": width, "global": width, "dilated": width * dilation}.get(kind, 0)
    torch.ones(T - reach)  # the diagonal that far out
    return _sparse(kind, T, width, dilation, n_global)


@misconception(
    "sparse_mask",
    title="a window wider than the text fails, with global positions",
    keeps="every mask is right that fits the text",
)
def global_no_wider_than_the_text(kind, T, width=2, dilation=2, n_global=1):
    """Your local window may be wider than the text, but the one of your global mask makes the function fail: there is no diagonal so far out. Such a window
    simply holds every pair."""
    torch.ones(T - width if kind == "global" else T)  # the diagonal that far out
    return _sparse(kind, T, width, dilation, n_global)


@misconception("sparse_mask", title="numbers instead of True and False")
def zeros_and_ones(kind, T, width=2, dilation=2, n_global=1):
    """Your mask holds the numbers 0 and 1. True and False are asked for: with numbers ~mask and masked_fill mean something else, or fail."""
    return torch.tensor(_sparse(kind, T, width, dilation, n_global)).float()


@misconception(
    "sparse_mask",
    title="an unknown kind gives None",
    keeps="every mask is right; only a misspelt kind passes",
)
def unknown_is_none(kind, T, width=2, dilation=2, n_global=1):
    """An unknown kind gives None, for no branch of yours takes it, and the error comes much later. Raise a ValueError at the end."""
    return _sparse(kind, T, width, dilation, n_global) if kind in _KINDS else None


@misconception(
    "sparse_mask",
    title="gaps that count from the edge",
    keeps="only the dilated mask is wrong, one of several kinds",
)
def gaps_from_the_edge(kind, T, width=2, dilation=2, n_global=1):
    """Near the left edge the gaps of your dilated mask are out of step: cut off at 0, the slice counts its steps from there, and may miss the position
    itself. They count from position i."""
    if kind != "dilated":
        return _sparse(kind, T, width, dilation, n_global)
    mask, reach = np.zeros((T, T), dtype=bool), width * dilation
    for i in range(T):
        mask[i, max(0, i - reach) : i + reach + 1 : dilation] = True
    return mask


@misconception(
    "sparse_mask",
    title="one global position, whatever is asked for",
    keeps="right for the usual number; one argument is not used",
)
def one_global_position(kind, T, width=2, dilation=2, n_global=1):
    """Only position 0 is global in your mask, however many are asked for: the first n_global positions are."""
    return _sparse(kind, T, width, dilation, 1)


@misconception(
    "sparse_mask",
    title="one global position too many",
    keeps="only the global mask is wrong, one of several kinds",
)
def one_global_row_too_many(kind, T, width=2, dilation=2, n_global=1):
    """In your global mask row n_global is full, too. Positions count from 0, so the first n_global end before it: i < n_global."""
    mask = _sparse(kind, T, width, dilation, n_global).copy()
    if kind == "global":
        mask[: n_global + 1] = True
    return mask


@misconception(
    "sparse_mask",
    title="more global positions than the text has",
    keeps="every mask is right that fits the text",
)
def no_more_global_than_the_text(kind, T, width=2, dilation=2, n_global=1):
    """Where more positions should be global than the text has, your function fails: there is no such row. Then simply all of them are global."""
    mask = torch.tensor(_sparse(kind, T, width, dilation, n_global))
    for g in range(n_global if kind == "global" else 0):
        mask[g] = True
    return mask


@misconception(
    "sparse_mask",
    title="kinds in capitals are let through",
    keeps="every mask is right; only a misspelt kind passes",
)
def kinds_in_any_case(kind, T, width=2, dilation=2, n_global=1):
    """“Full” or “LOCAL” is taken for “full” or “local” in your function. Any other kind than the five should raise a ValueError."""
    return _sparse(kind.strip().lower(), T, width, dilation, n_global)


@misconception(
    "sparse_mask",
    title="a ValueError for what is larger than the text",
    keeps="every mask is right that fits the text",
)
def refuses_what_is_larger(kind, T, width=2, dilation=2, n_global=1):
    """You refuse a width, a dilation or a number of global positions that is larger than T. Each of them may be: such a window holds every pair, and what a
    kind does not need is ignored."""
    if not (width < T and dilation < T and n_global <= T):
        raise ValueError("larger than the text")
    return _sparse(kind, T, width, dilation, n_global)


@alternative("sparse_mask")
def mask_by_loops(kind, T, width=2, dilation=2, n_global=1):
    rules = {
        "full": lambda i, j: True,
        "causal": lambda i, j: not j > i,
        "local": lambda i, j: j in range(i - width, i + width + 1),
        "dilated": lambda i, j: j in range(i - width * dilation, i + width * dilation + 1, dilation),
        "global": lambda i, j: i < n_global or j < n_global or abs(i - j) <= width,
    }
    if kind not in rules:
        raise ValueError(f"unknown kind {kind}")
    return [[rules[kind](i, j) for j in range(T)] for i in range(T)]


@alternative("sparse_mask")
def mask_by_diagonals(kind, T, width=2, dilation=2, n_global=1):
    ones = torch.ones(T, T).bool()
    match kind:
        case "full":
            return ones
        case "causal":
            return ones.tril()
        case "local" | "global":
            mask = ones.triu(-width) & ones.tril(width)
            if kind == "global":
                mask[:n_global] = mask[:, :n_global] = True
            return mask
        case "dilated":
            total = sum(np.eye(T, k=step * dilation) for step in range(-width, width + 1))
            return torch.tensor(np.asarray(total) > 0)
    raise ValueError("no such mask")
