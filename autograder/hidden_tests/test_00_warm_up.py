"""Hidden tests of lab 00: one-hot rows, look-up, log-sum-exp, softmax and cross-entropy.

The references are loops over single numbers in ``math``, so that they share nothing with an array solution.
"""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import as_array, expect, expect_close, follow_through, hidden_test

EQUIVALENT_MUTANTS = {
    "cross_entropy: return np.mean(logsumexp(logits, axis=+1) - true_scores)": "axis 1 of (N, V) is the last one"
}

UNCHANGED = "your function changes its input: make a new array instead of writing into the old one"


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_EARLIER = """
import numpy as np


def one_hot(ids, V):
    return np.eye(V)[np.asarray(ids)]


def lookup(H, E):
    return np.tensordot(H, E, 1)


def logsumexp(x, axis=-1):
    return np.logaddexp.reduce(x, axis=axis)


def softmax(x, axis=-1):
    return np.exp(x - np.expand_dims(np.logaddexp.reduce(x, axis=axis), axis))
"""
_with_right_logsumexp = follow_through(_EARLIER, "logsumexp")
_with_right_earlier = follow_through(_EARLIER, "one_hot", "lookup", "logsumexp", "softmax")


def _one_hot(ids, V):
    ids = np.asarray(ids)
    rows = np.zeros((*ids.shape, V))
    for place, word in np.ndenumerate(ids):
        rows[(*place, int(word))] = 1.0
    return rows


def _log_sum_exp(scores) -> float:
    largest = max(scores)
    return largest + math.log(math.fsum(math.exp(score - largest) for score in scores))


def _along(function, x, axis):
    """``function`` of each line of ``x`` along ``axis``, line by line."""
    lines = np.moveaxis(x, axis, -1)
    values = np.array([function([float(v) for v in line]) for line in lines.reshape(-1, lines.shape[-1])])
    return values.reshape(*lines.shape[:-1], *values.shape[1:])


def _softmax(x, axis):
    def of_line(line):
        total = _log_sum_exp(line)
        return [math.exp(score - total) for score in line]

    return np.moveaxis(_along(of_line, x, axis), -1, axis)


def _prices(logits, ids):
    return [
        _log_sum_exp([float(v) for v in row]) - float(row[word])
        for row, word in zip(logits, ids, strict=True)
    ]


# ------------------------------------------------------------------------------------------------- one_hot


@hidden_test("one_hot")
def test_a_sentence_becomes_rows_with_a_single_one(student, rng):
    """A sentence becomes rows with a single 1 at the place of each id."""
    ids = rng.integers(0, 10, size=7)
    expect_close(student(ids, 11), _one_hot(ids, 11), "the one-hot rows")
    expect(not student.mutated, UNCHANGED)


@hidden_test("one_hot", weight=3)
def test_ids_of_any_shape_get_one_more_axis(student, rng):
    """Ids of any shape, and a single id, get one more axis at the end."""
    ids = rng.integers(0, 6, size=(4, 2, 10))[:, :, ::2]
    expect_close(student(ids, 6), _one_hot(ids, 6), "the one-hot rows of several sentences")
    expect_close(student(3, 5), _one_hot(3, 5), "the one-hot row of a single id")
    expect_close(student([[4], [0]], 5), _one_hot([[4], [0]], 5), "the one-hot rows of one-word sentences")


@hidden_test("one_hot")
def test_the_rows_are_as_wide_as_the_vocabulary(student):
    """The rows are as wide as the vocabulary, whichever words occur; a vocabulary of one word works."""
    expect_close(student([0, 2], 9), _one_hot([0, 2], 9), "the one-hot rows")
    expect_close(student([0], 1), [[1.0]], "the one-hot row of the only word there is")


@hidden_test("one_hot")
def test_the_same_word_has_dot_product_one_and_others_zero(student):
    """“find my files” is the lecture's [2, 3, 1], counted from 0; equal words have dot product 1, others 0."""
    rows = as_array(student([number - 1 for number in (2, 3, 1)], 3), "the one-hot rows")
    expect_close(rows, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], "the rows of find, my and files")
    rows = rows.astype(float)
    expect_close(rows @ rows.T, np.eye(3), "the dot products of the rows")


# -------------------------------------------------------------------------------------------------- lookup


@hidden_test("lookup")
def test_one_hot_rows_pick_rows_of_the_table(student, rng):
    """One-hot rows pick rows of the table, in their order and as often as they occur."""
    ids, table = rng.permutation([5, 0, 5, 3, 1]), rng.normal(size=(6, 4))
    expect_close(
        student(_one_hot(ids, 6), table), [table[word] for word in ids], "the rows that were looked up"
    )


@hidden_test("lookup", weight=2)
def test_any_weights_mix_the_rows(student, rng):
    """Any weights, negative ones too, add up rows of the table, each by its weight."""
    weights, table = rng.normal(size=(3, 10))[:, ::2], rng.normal(size=(5, 7))
    expected = [
        [math.fsum(w * e for w, e in zip(row, column, strict=True)) for column in table.T] for row in weights
    ]
    expect_close(student(weights, table), expected, "the weighted sums of rows", atol=1e-6)
    expect(not student.mutated, UNCHANGED)
    square = rng.normal(size=(3, 3))
    expected = [
        [math.fsum(w * e for w, e in zip(row, column, strict=True)) for column in square.T]
        for row in weights[:, :3]
    ]
    expect_close(
        student(weights[:, :3], square), expected, "the weighted sums from a square table", atol=1e-6
    )


@hidden_test("lookup")
def test_a_single_row_and_a_batch_work(student, rng):
    """A single row of weights gives one row, and a batch gives a batch."""
    table = rng.normal(size=(4, 3))
    batch = rng.normal(size=(2, 5, 4))
    expected = np.array(
        [[sum(w * row for w, row in zip(line, table, strict=True)) for line in part] for part in batch]
    )
    expect_close(student(batch, table), expected, "the weighted sums of a batch", atol=1e-6)
    expect_close(
        student(batch[1, 2], table), expected[1, 2], "the weighted sum of a single row of weights", atol=1e-6
    )


@hidden_test("lookup")
def test_the_first_fourth_and_third_row_come_out(student):
    """The lecture's product: ones in the first, fourth and third column pull out those rows."""
    table = np.array([[0.2, 0.9], [0.0, 0.3], [0.7, 0.8], [0.4, 0.6]])
    picked = student(np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]), table)
    expect_close(picked, table[[0, 3, 2]], "the rows that were looked up")


# ----------------------------------------------------------------------------------------------- logsumexp


@hidden_test("logsumexp")
def test_it_is_the_logarithm_of_the_sum_of_exponentials(student, rng):
    """It is the logarithm of the sum of the exponentials along the last axis."""
    x = rng.normal(size=(3, 4, 5))
    expect_close(student(x, axis=-1), _along(_log_sum_exp, x, -1), "logsumexp along the last axis")
    expect_close(student(x), _along(_log_sum_exp, x, -1), "logsumexp without naming an axis")
    expect(not student.mutated, UNCHANGED)


@hidden_test("logsumexp", weight=1.5)
def test_any_axis_can_be_summed_and_disappears(student, rng):
    """Any axis can be summed, and it disappears from the shape."""
    x = rng.normal(size=(2, 8, 3))[:, ::2]
    for axis in (0, 1, -2):
        expect_close(student(x, axis=axis), _along(_log_sum_exp, x, axis), f"logsumexp along axis {axis}")
        expect(not student.mutated, UNCHANGED)
    line = rng.normal(size=6)
    expect_close(student(line, 0), _log_sum_exp(line.tolist()), "logsumexp of a single row")


@hidden_test("logsumexp", weight=3)
def test_scores_of_any_size_work(student, rng):
    """Very large and very small scores work, side by side too; adding 1000 to all adds 1000."""
    x = rng.normal(size=(4, 3))
    x[1] += 2000
    x[2] -= 2000
    expect_close(student(x, axis=1), _along(_log_sum_exp, x, 1), "logsumexp of rows of very different size")
    x = rng.normal(size=(3, 5))
    expect_close(
        student(x + 1000, axis=0),
        _along(_log_sum_exp, x, 0) + 1000,
        "logsumexp with 1000 added to all scores",
    )


@hidden_test("logsumexp")
def test_impossible_words_add_nothing_and_one_score_is_itself(student, rng):
    """A score of −∞ adds nothing, a single score is its own logsumexp, and the input stays as it was."""
    x = rng.normal(size=(3, 4))
    x[0, 1], x[2, 0] = -np.inf, -np.inf
    expected = [_log_sum_exp([v for v in row.tolist() if v > -math.inf]) for row in x]
    expect_close(student(x, axis=1), expected, "logsumexp with some scores of −∞")
    expect(not student.mutated, UNCHANGED)
    expect_close(student(x[:, 2:3], axis=1), x[:, 2], "logsumexp of single scores")


# ------------------------------------------------------------------------------------------------- softmax


@hidden_test("softmax")
@_with_right_logsumexp
def test_scores_become_probabilities_along_the_last_axis(student, rng):
    """Scores become probabilities along the last axis."""
    x = rng.normal(size=(2, 4, 7))
    expect_close(student(x, axis=-1), _softmax(x, -1), "the probabilities along the last axis")
    expect_close(student(x), _softmax(x, -1), "the probabilities without naming an axis")
    expect(not student.mutated, UNCHANGED)


@hidden_test("softmax", weight=3)
@_with_right_logsumexp
def test_any_axis_can_be_chosen(student, rng):
    """Any axis can be chosen; the shape stays the same."""
    x = rng.normal(size=(3, 10, 4))[:, ::2]
    for axis in (0, 1, -2):
        expect_close(student(x, axis=axis), _softmax(x, axis), f"the probabilities along axis {axis}")
    expect_close(student(x[0, :, :1], axis=1), np.ones((5, 1)), "the probability of the only word there is")


@hidden_test("softmax", weight=3)
@_with_right_logsumexp
def test_only_differences_between_scores_count(student, rng):
    """Adding 1000 to all scores changes nothing, and rows of very different size work side by side."""
    x = rng.normal(size=(3, 5))
    expected = _softmax(x, 1)
    shifted = student(x + 1000, axis=1)  # of which single precision knows four decimals
    expect_close(shifted, expected, "the probabilities with 1000 added to all scores", rtol=1e-3)
    expect_close(
        student(x + np.array([[900.0], [0], [-900]]), axis=1),
        expected,
        "the probabilities of rows of different size",
        rtol=1e-3,
    )


@hidden_test("softmax")
@_with_right_logsumexp
def test_an_impossible_word_gets_nothing(student, rng):
    """A score of −∞ gets probability 0, and a score far ahead takes all."""
    x = rng.normal(size=(2, 4))
    x[0, 3], x[1, 0] = -np.inf, -np.inf
    rest = [_softmax(x[0, :3], 0), _softmax(x[1, 1:], 0)]
    expect_close(
        student(x, axis=1), [[*rest[0], 0.0], [0.0, *rest[1]]], "the probabilities beside an impossible word"
    )
    expect_close(
        student(np.array([0.0, 5000.0, 1.0])), [0, 1, 0], "the probabilities when one score is far ahead"
    )


# ------------------------------------------------------------------------------------------- cross_entropy


@hidden_test("cross_entropy", weight=2)
@_with_right_earlier
def test_it_is_the_mean_price_of_the_true_words(student, rng):
    """It is the mean negative log-probability of the true words."""
    logits, ids = rng.normal(size=(7, 5)), rng.integers(0, 5, size=7)
    expect_close(student(logits, ids), np.mean(_prices(logits, ids)), "the cross-entropy")
    expect(not student.mutated, UNCHANGED)
    expect_close(
        student(logits[::2], ids[::2].tolist()), np.mean(_prices(logits[::2], ids[::2])), "the cross-entropy"
    )


@hidden_test("cross_entropy")
@_with_right_earlier
def test_equal_scores_cost_ln_v(student, rng):
    """Equal scores for V words cost ln V, whichever words are true."""
    logits = np.repeat(rng.normal(size=(6, 1)), 11, axis=1)
    expect_close(student(logits, rng.integers(0, 11, size=6)), math.log(11), "the price of a blind guess")


@hidden_test("cross_entropy", weight=3)
@_with_right_earlier
def test_confident_mistakes_have_finite_prices(student, rng):
    """Scores of any size have finite prices; adding 1000 to a row changes nothing."""
    logits, ids = rng.normal(size=(4, 3)), np.array([1, 0, 2, 2])
    logits[0, 0] += 3000
    logits[2] -= 1500
    expect_close(
        student(logits, ids), np.mean(_prices(logits, ids)), "the cross-entropy of a confident mistake"
    )
    expect_close(
        student(logits + 1000, ids),
        np.mean(_prices(logits, ids)),
        "the cross-entropy with 1000 added",
        rtol=1e-3,
    )


@hidden_test("cross_entropy")
@_with_right_earlier
def test_a_single_position_costs_its_own_price(student, rng):
    """A single position costs its own price, and a sure and right bet costs nothing."""
    logits = rng.normal(size=(1, 9))
    expect_close(student(logits, [8]), _prices(logits, [8])[0], "the price at a single position")
    expect_close(
        student(np.array([[0.0, 800.0], [900.0, 0.0]]), [1, 0]), 0.0, "the price of sure and right bets"
    )
