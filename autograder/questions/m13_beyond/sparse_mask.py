"""Lab 13, sparse_mask: kind, T → booleans (T, T), True where row i may attend to column j."""

import numpy as np
import torch

from autograder.questions.engine import Case, Question


def pair_by_pair(kind, T, width=2, dilation=2, n_global=1):
    rules = {
        "full": lambda i, j: True,
        "causal": lambda i, j: j <= i,
        "local": lambda i, j: -width <= i - j <= width,
        "dilated": lambda i, j: any(abs(i - j) == step * dilation for step in range(width + 1)),
        "global": lambda i, j: -width <= i - j <= width or min(i, j) < n_global,
    }
    if kind not in rules:
        raise ValueError("there is no such mask")
    return np.array([[rules[kind](i, j) for j in range(T)] for i in range(T)])


question = Question(pair_by_pair)


def sizes(rng, *numbers):
    """Some T from 9 to 14, beside each number."""
    return zip((int(T) for T in rng.integers(9, 15, len(numbers))), numbers, strict=True)


@question.family("Full and causal, True or False at each pair; what they do not need is ignored.")
def full_and_causal(rng):
    for kind in ("full", "causal"):
        for T, options in sizes(rng, {}, {"width": 0}, {"n_global": 3, "dilation": 1}):
            yield Case(kind, T, **options)


@question.family("Windows of several widths, also of width zero.")
def windows(rng):
    for T, width in sizes(rng, 4, 3, 1, 0):
        yield Case("local", T, width=width)
    yield "local", int(rng.integers(9, 15))


@question.family("Windows with gaps; a dilation of one is the plain window.")
def gaps(rng):
    for T, (width, dilation) in sizes(rng, (3, 2), (1, 3), (2, 1), (0, 2)):
        yield Case("dilated", T, width=width, dilation=dilation)


@question.family("Global positions have full rows and columns, and the window stays.")
def global_positions(rng):
    for T, (width, n_global) in sizes(rng, (3, 2), (1, 2), (2, 0)):
        yield Case("global", T, width=width, n_global=n_global)
    yield "global", int(rng.integers(9, 15))


@question.family("Windows, gaps and global positions that are larger than the text.", weight=1.25)
def larger_than_the_text(rng):
    T, large = int(rng.integers(4, 7)), int(rng.integers(8, 20))
    yield Case("causal", T, width=large, dilation=large, n_global=large)
    yield Case("local", T, width=large)
    yield Case("dilated", T, width=large, dilation=1)
    yield Case("dilated", T, width=2, dilation=large)
    yield Case("global", T, width=1, n_global=large)
    yield Case("global", T, width=large, n_global=1)


@question.family("An unknown kind raises a ValueError, and only that.", weight=0.5)
def unknown_kinds(rng):
    yield "full", int(rng.integers(9, 15))
    for kind in (
        "",
        *rng.permutation(["Local", "Full", "GLOBAL"])[:2],
        *rng.permutation(["hybrid", "windowed"]),
    ):
        yield str(kind), int(rng.integers(4, 15))


def sparse_of(kind, T, width, dilation, n_global):
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


@question.misconception("True where attention is forbidden", costs=2, because="right but for what True means")
def forbidden_pairs(kind, T, width=2, dilation=2, n_global=1):
    """Your mask is True where attention is forbidden. In this course True means: may attend."""
    return ~sparse_of(kind, T, width, dilation, n_global)


@question.misconception("causal without the diagonal", costs=1)
def strictly_before(kind, T, width=2, dilation=2, n_global=1):
    """In your causal mask no position may attend to itself, and the first one has nothing at all: its softmax is nan."""
    return np.tri(T, k=-1, dtype=bool) if kind == "causal" else sparse_of(kind, T, width, dilation, n_global)


@question.misconception("windows that look back only", costs=1.5)
def one_sided(kind, T, width=2, dilation=2, n_global=1):
    """Your windows reach only to one side. Take the absolute value of i − j: neighbours before and after count."""
    mask = sparse_of(kind, T, width, dilation, n_global)
    return mask & np.tri(T, dtype=bool) if kind in ("local", "dilated") else mask


@question.misconception("the width counts the whole window", costs=2)
def whole_window(kind, T, width=2, dilation=2, n_global=1):
    """Your windows are about half as wide as asked: width counts the neighbours on each side, not those on both together."""
    return sparse_of(kind, T, width // 2, dilation, n_global)


@question.misconception("the reach is not stretched", costs=1)
def not_stretched(kind, T, width=2, dilation=2, n_global=1):
    """Your dilated mask cuts gaps into the plain window, so it has fewer neighbours. It should reach further: width times dilation."""
    return sparse_of(kind, T, width // dilation if kind == "dilated" else width, dilation, n_global)


@question.misconception("global positions are heard but do not hear", costs=1)
def global_columns(kind, T, width=2, dilation=2, n_global=1):
    """Your global positions have full columns, but not full rows: all hear them, but they hear only their window, so they can't pass anything
    on."""
    mask = sparse_of("local" if kind == "global" else kind, T, width, dilation, n_global).copy()
    if kind == "global":
        mask[:, :n_global] = True
    return mask


@question.misconception("global without the window", costs=1.5)
def global_alone(kind, T, width=2, dilation=2, n_global=1):
    """Your global mask has only the global rows and columns. The window of neighbours is part of it, too."""
    return sparse_of(kind, T, -1 if kind == "global" else width, dilation, n_global)


@question.misconception("an unknown kind is let through", costs=0.5)
def unknown_is_full(kind, T, width=2, dilation=2, n_global=1):
    """An unknown kind of mask, a typing error for instance, raises no error in your function. Say so with a ValueError, or it will be found
    much later."""
    known = kind in ("full", "causal", "local", "dilated", "global")
    return sparse_of(kind if known else "full", T, width, dilation, n_global)


@question.misconception("numbers instead of True and False", costs=2.5, because="every pair is right")
def zeros_and_ones(kind, T, width=2, dilation=2, n_global=1):
    """Your mask holds the numbers 0 and 1. True and False are asked for: with numbers ~mask and masked_fill mean something else, or fail."""
    return torch.tensor(sparse_of(kind, T, width, dilation, n_global)).float()


@question.alternative
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


@question.alternative
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
