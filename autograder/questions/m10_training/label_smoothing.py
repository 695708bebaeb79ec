"""Lab 10, label_smoothing: targets (…) integers, V, ε → (…, V): ε / V for each word, and 1 − ε more for the right one."""

import numpy as np
import torch
from torch import nn

from autograder.questions.engine import Case, Observed, Question


def word_by_word(targets, V, epsilon):
    rows = [
        [epsilon / V + (1 - epsilon) * (v == right) for v in range(V)] for right in targets.flatten().tolist()
    ]
    return np.array(rows).reshape(*targets.shape, V)


question = Question(word_by_word)


def some_words(rng, shape, V):
    """Targets among which the last word is."""
    targets = rng.integers(0, V, size=shape)
    targets.flat[0] = V - 1
    return torch.tensor(targets)


# Each V has an ε of its own below, so that one family alone sees rows that are kept from call to call.


@question.family("The text's V = 4 with ε = 0.2; targets of one axis and of two.", weight=2)
def tables(rng):
    yield Case(torch.tensor([2]), 4, 0.2, gives=[[0.05, 0.05, 0.85, 0.05]])
    for shape, V, epsilon in (((5,), 4, 0.2), ((6,), 5, 0.1), ((3, 4), 10, 0.3)):
        yield some_words(rng, shape, V), V, epsilon


@question.family("Six words with ε = 0.1 in targets of three axes and of four; an ε near 1.")
def three_axes(rng):
    for shape, V, epsilon in (((2, 3, 2), 6, 0.1), ((2, 2, 2, 2), 6, 0.1), ((4,), 9, 0.95)):
        yield some_words(rng, shape, V), V, epsilon


@question.family("With ε = 0 the rows are one-hot, and V wide, whichever words occur.", weight=1.25)
def as_wide_as_the_vocabulary(rng):
    for shape, V in (((2, 5), 7), ((6,), 3), ((4,), 13)):
        yield torch.tensor(rng.integers(0, V - 1, size=shape)), V, 0.0


@question.family("Axes of length one stay; a single target has one row.", weight=1.25)
def axes_of_length_one(rng):
    for shape in ((1, 4), (2, 1, 3), (5, 1), ()):
        yield some_words(rng, shape, 8), 8, 0.0


@question.family("The same V again with another ε.", weight=0.75)
def another_epsilon(rng):
    for epsilon in (0.4, 0.25, 0.0, 0.4):
        yield some_words(rng, (2,), 12), 12, epsilon


@question.scenario("The result holds floats, with ε = 0, too.", weight=0.3)
def floats(student, rng):
    for epsilon in (0.0, 0.1):
        rows = student(some_words(rng, (3,), 5), 5, epsilon)
        yield Observed("whether its numbers are floats", "float" in str(getattr(rows, "dtype", None)))


@question.misconception("the right word gets no share of ε", costs=1.5)
def smoothing_without_the_right_words_share(targets, V, epsilon):
    """Your rows sum to less than 1: the right word has 1 − ε, and the wrong ones ε/V each. ε is spread over all V words, so the right one
    gets ε/V on top."""
    one_hot = nn.functional.one_hot(targets, V).float()
    return one_hot * (1 - epsilon) + (1 - one_hot) * epsilon / V


@question.misconception("ε spread over the wrong words only", costs=1.5)
def smoothing_over_the_wrong_words(targets, V, epsilon):
    """Your right word has exactly 1 − ε, and the others share ε. That is the other convention; here ε is spread over all V words, the right one
    included."""
    one_hot = nn.functional.one_hot(targets, V).float()
    return one_hot * (1 - epsilon) + (1 - one_hot) * epsilon / (V - 1)


@question.misconception("ε is added but not taken away", costs=1.5)
def smoothing_that_adds(targets, V, epsilon):
    """Your rows sum to more than 1: every word gets ε/V, but the right one still has its full 1. Take ε away from it first."""
    return nn.functional.one_hot(targets, V) + epsilon / V


@question.misconception("ε for each word", costs=2)
def smoothing_with_whole_epsilon(targets, V, epsilon):
    """Each wrong word has the whole ε in your rows. It is one share ε for all of them together: ε/V each."""
    return (1 - epsilon) * nn.functional.one_hot(targets, V) + epsilon


@question.misconception("ε and 1 − ε exchanged", costs=2.5)
def smoothing_upside_down(targets, V, epsilon):
    """With ε = 0 your rows are flat, and they get sharper as ε grows: ε and 1 − ε are exchanged. ε is what is taken away."""
    return epsilon * nn.functional.one_hot(targets, V) + (1 - epsilon) / V


@question.misconception("no smoothing at all", costs=2)
def smoothing_that_does_nothing(targets, V, epsilon):
    """Your rows are one-hot whatever ε is."""
    return nn.functional.one_hot(targets, V).float()


@question.misconception("as wide as the largest word that occurs", costs=1)
def smoothing_as_wide_as_the_largest_word(targets, V, epsilon):
    """Your rows end with the largest word that occurs among the targets: one_hot without V, or a maximum, decides how wide they are. A
    row has V places, whichever words occur."""
    return (1 - epsilon) * nn.functional.one_hot(targets).float() + epsilon / V


@question.alternative
def smoothing_by_scatter_in_double_precision(targets, V, epsilon):
    rows = torch.full((*targets.shape, V), epsilon / V, dtype=torch.float64)
    return rows.scatter(-1, targets[..., None], 1 - epsilon + epsilon / V)


@question.alternative
def smoothing_by_rows_of_a_table(targets, V, epsilon):
    table = torch.eye(V).lerp(torch.full((V, V), 1 / V), epsilon)
    return table[targets]
