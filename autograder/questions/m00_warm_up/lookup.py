"""Lab 00, lookup: weights H (…, V), table E (V, D) → weighted sums of the table's rows (…, D)."""

import math

import numpy as np

from autograder.questions.engine import Case, Question


def number_by_number(H, E):
    H = np.asarray(H, dtype=float)
    sums = [
        [math.fsum(float(w) * float(e) for w, e in zip(line, column, strict=True)) for column in E.T]
        for line in H.reshape(-1, H.shape[-1])
    ]
    return np.array(sums).reshape(*H.shape[:-1], E.shape[1])


question = Question(number_by_number)
TABLE = np.array([[1.0, 2], [3, 4], [5, 6]])


@question.family("One-hot rows pick rows of the table, in their order and as often as they occur.")
def one_hot_rows(rng):
    yield Case(np.array([[0.0, 1, 0]]), TABLE, gives=[[3.0, 4.0]])
    yield np.eye(6)[rng.permutation([5, 0, 5, 3, 1])], rng.normal(size=(6, 4))


@question.family("Any weights, negative ones too, add up rows of the table, each by its weight.")
def any_weights(rng):
    yield Case(np.array([[0.5, 0, 0.5]]), TABLE, gives=[[3.0, 4.0]])
    weights = rng.uniform(1, 2, size=(3, 10))[:, ::2] * [1, 1, -1, 1, 1]
    yield weights, rng.normal(size=(5, 4))
    yield weights[:, :3], rng.normal(size=(3, 3))
    yield weights, rng.normal(size=(5, 1))


@question.family("Two 1s add up two rows, and a row of zeros gives zeros.", weight=0.75)
def ones_and_zeros(rng):
    yield np.array([[0.0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]]), rng.normal(size=(4, 3))


@question.family("From a table of whole numbers fractions of rows come out as they are.", weight=0.75)
def whole_tables(rng):
    table = 2 * rng.integers(1, 50, size=(4, 3)) + [[1], [1], [0], [0]]  # half of odd and even is not whole
    yield np.array([[0.5, 0, 0, 0.5], [0, 0.25, 0.75, 0]]), table
    yield np.eye(4, dtype=int)[[0, 3, 2]], table
    yield np.array([0.5, 0, 0, 0.5]), table


@question.family("Small weights count as they are.", weight=0.5)
def small_weights(rng):
    yield rng.uniform(1, 5, size=(2, 4)) * 1e-4, rng.uniform(1, 2, size=(4, 3)) * 1e4
    yield rng.uniform(1, 5, size=(2, 1, 4)) * 1e-4, rng.uniform(1, 2, size=(4, 3)) * 1e4


@question.family("A single row of weights gives a single row.", weight=0.75)
def a_single_row(rng):
    yield np.array([1.0, 0, 1, 1]), rng.normal(size=(4, 3))


@question.family("A batch gives a batch.")
def batches(rng):
    for shape in ((2, 3, 4), (2, 1, 2, 4)):
        yield rng.uniform(1, 2, size=shape), rng.normal(size=(4, 3))
    yield rng.uniform(1, 2, size=(2, 2, 4)) * [1, -1, 1, 1], rng.normal(size=(4, 3))


@question.misconception("only the row with the largest weight", costs=2)
def only_the_heaviest_row(H, E):
    """You pick one row of the table for each row of weights. That works for one-hot rows only: with weights
    0.5 and 0.5 both rows count half. A matrix product does this by itself."""
    return E[np.argmax(H, axis=-1)]


@question.misconception("rows added without their weights", costs=2)
def rows_without_weights(H, E):
    """Your result adds up every row of the table whose weight is not zero, as if all weights were 1. Each row
    counts by its weight: half a weight, half a row."""
    return (np.asarray(H) != 0).astype(float) @ E


@question.misconception("weights rescaled to sum to one", costs=2)
def weights_rescaled(H, E):
    """You divide the weights by their sum. Nothing says that they are shares of one: take them as they are, even
    negative ones."""
    with np.errstate(all="ignore"):
        return (H / H.sum(axis=-1, keepdims=True)) @ E


@question.misconception("columns of the table instead of rows", costs=2, because="a product of the two")
def columns_instead_of_rows(H, E):
    """You combine the columns of the table; each row of weights has one weight for each *row* of the table.
    Look at the shapes: (T, V) times (V, D)."""
    return H @ E.T


@question.misconception("a result as whole as the table", costs=1)
def as_whole_as_the_table(H, E):
    """From a table of whole numbers your results come out as whole numbers, their fractions cut off: the array that you fill has
    the type of E. Let it hold fractions (np.zeros alone does)."""
    return (H @ E).astype(E.dtype)


@question.misconception("negative weights left out", costs=1)
def negative_weights_left_out(H, E):
    """You leave out rows whose weight is negative. *Any* weights are allowed: a negative one takes its row away from the sum."""
    return np.where(H > 0, H, 0) @ E


@question.misconception("small weights taken for zero", costs=0.5)
def small_weights_for_zero(H, E):
    """You take small weights for 0. They may meet large numbers in the table: use all weights as they are."""
    return np.where(np.abs(H) < 0.001, 0, H) @ E


@question.alternative
def lookup_einsum(H, E):
    return np.einsum("...v,vd->...d", H, E)


@question.alternative
def lookup_sum_of_scaled_rows(H, E):
    H = np.asarray(H)
    result = np.zeros((*H.shape[:-1], E.shape[1]))
    for word in range(E.shape[0]):
        result = result + H[..., word, None] * E[word]
    return result
