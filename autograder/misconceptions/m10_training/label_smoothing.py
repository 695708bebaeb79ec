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


@alternative("label_smoothing")
def smoothing_by_scatter_in_double_precision(targets, V, epsilon):
    rows = torch.full((*targets.shape, V), epsilon / V, dtype=torch.float64)
    return rows.scatter(-1, targets[..., None], 1 - epsilon + epsilon / V)


@alternative("label_smoothing")
def smoothing_by_rows_of_a_table(targets, V, epsilon):
    table = torch.eye(V).lerp(torch.full((V, V), 1 / V), epsilon)
    return table[targets]
