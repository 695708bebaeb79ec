"""Lab 10, ``label_smoothing``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import torch
from torch import nn

from autograder.testing import alternative, misconception


@misconception("label_smoothing", title="the right word gets no share of ε")
def smoothing_without_the_right_words_share(targets, V, epsilon):
    """Your rows sum to less than 1: the right word has 1 − ε, and the wrong ones ε/V each. ε is spread over all V words, so the right one
    gets ε/V on top."""
    one_hot = nn.functional.one_hot(targets, V).float()
    return one_hot * (1 - epsilon) + (1 - one_hot) * epsilon / V


@misconception("label_smoothing", title="ε spread over the wrong words only")
def smoothing_over_the_wrong_words(targets, V, epsilon):
    """Your right word has exactly 1 − ε, and the others share ε. That is the other convention; here ε is spread over all V words, the right one
    included."""
    one_hot = nn.functional.one_hot(targets, V).float()
    return one_hot * (1 - epsilon) + (1 - one_hot) * epsilon / (V - 1)


@misconception("label_smoothing", title="ε is added but not taken away")
def smoothing_that_adds(targets, V, epsilon):
    """Your rows sum to more than 1: every word gets ε/V, but the right one still has its full 1. Take ε away from it first."""
    return nn.functional.one_hot(targets, V) + epsilon / V


@misconception("label_smoothing", title="ε for each word")
def smoothing_with_whole_epsilon(targets, V, epsilon):
    """Each wrong word has the whole ε in your rows. It is one share ε for all of them together: ε/V each."""
    return (1 - epsilon) * nn.functional.one_hot(targets, V) + epsilon


@misconception("label_smoothing", title="ε and 1 − ε exchanged")
def smoothing_upside_down(targets, V, epsilon):
    """With ε = 0 your rows are flat, and they get sharper as ε grows: ε and 1 − ε are exchanged. ε is what is taken away."""
    return epsilon * nn.functional.one_hot(targets, V) + (1 - epsilon) / V


@misconception("label_smoothing", title="no smoothing at all")
def smoothing_that_does_nothing(targets, V, epsilon):
    """Your rows are one-hot whatever ε is."""
    return nn.functional.one_hot(targets, V).float()


@misconception(
    "label_smoothing",
    title="as wide as the largest word that occurs",
    keeps="right where the vocabulary's last word occurs",
)
def smoothing_as_wide_as_the_largest_word(targets, V, epsilon):
    """Your rows end with the largest word that occurs among the targets: one_hot without V, or a maximum, decides how wide they are. A
    row has V places, whichever words occur."""
    return (1 - epsilon) * nn.functional.one_hot(targets).float() + epsilon / V


@misconception(
    "label_smoothing",
    title="an axis of length one disappears",
    keeps="right for targets without an axis of length one",
)
def smoothing_squeezed(targets, V, epsilon):
    """Your result loses an axis where the targets have one of length one, for squeeze() drops each of them. Targets (1, 5) make rows (1, 5, V)."""
    return (1 - epsilon) * nn.functional.one_hot(targets, V).float().squeeze() + epsilon / V


_TABLES: dict[int, torch.Tensor] = {}


@misconception(
    "label_smoothing", title="rows are kept from call to call", keeps="right for one ε with each V"
)
def smoothing_from_a_table(targets, V, epsilon):
    """Asked again with the same V and another ε, you return the rows of the first ε: a table is kept from call to call, by V alone. Make
    it in each call, or keep one for each pair of V and ε."""
    if V not in _TABLES:
        _TABLES[V] = torch.eye(V) * (1 - epsilon) + epsilon / V
    return _TABLES[V][targets]


def _row(right, V, epsilon):
    row = torch.full((V,), epsilon / V)
    row[right] += 1 - epsilon
    return row


@misconception("label_smoothing", title="two axes at most", keeps="right for targets of one axis or two")
def smoothing_for_two_axes(targets, V, epsilon):
    """Your function fails for targets of three axes: it goes through the first two by itself. There may be any number: one_hot, or a table with a row for each
    word, takes them all."""
    if targets.dim() < 2:
        return nn.functional.one_hot(targets, V) * (1 - epsilon) + epsilon / V
    rows = torch.full((*targets.shape, V), epsilon / V)
    for b in range(len(targets)):
        for t in range(targets.shape[1]):
            rows[b, t, targets[b, t]] += 1 - epsilon
    return rows


@misconception("label_smoothing", title="no single target", keeps="right for targets with axes")
def smoothing_for_one_axis_at_least(targets, V, epsilon):
    """Your function fails for a single target, a tensor without any axis: you go through the targets one by one. Of any shape means this one, too, and makes
    one row of V."""
    return torch.stack(
        [
            _row(t, V, epsilon) if targets.dim() == 1 else smoothing_for_one_axis_at_least(t, V, epsilon)
            for t in targets
        ]
    )


@misconception("label_smoothing", title="the share is rounded", keeps="right where ε/V has two digits")
def smoothing_rounded(targets, V, epsilon):
    """Your share ε/V is rounded, so that the rows do not sum to 1. Take it as it is."""
    return nn.functional.one_hot(targets, V) * (1 - epsilon) + round(epsilon / V, 2)


@misconception("label_smoothing", title="the targets are changed", keeps="the rows are right")
def smoothing_in_place(targets, V, epsilon):
    """Your rows are right, but the targets that you were given are changed: a method whose name ends in _ (unsqueeze_, add_) works in
    place. Use the one without _."""
    rows = torch.full((*targets.shape, V), epsilon / V)
    return rows.scatter_(-1, targets.unsqueeze_(-1), 1 - epsilon + epsilon / V)


@alternative("label_smoothing")
def smoothing_by_scatter_in_double_precision(targets, V, epsilon):
    rows = torch.full((*targets.shape, V), epsilon / V, dtype=torch.float64)
    return rows.scatter(-1, targets[..., None], 1 - epsilon + epsilon / V)


@alternative("label_smoothing")
def smoothing_by_rows_of_a_table(targets, V, epsilon):
    table = torch.eye(V).lerp(torch.full((V, V), 1 / V), epsilon)
    return table[targets]
