"""Hidden tests of lab 00: one-hot rows, look-up, log-sum-exp, softmax and cross-entropy.

The references are loops over single numbers in ``math``, so that they share nothing with an array solution.
"""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import as_array, expect, expect_close, expect_same_again, follow_through, hidden_test

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
    return values.reshape((*lines.shape[:-1], *values.shape[1:]))


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

# A shape of ids occurs in one test only, but in those that are about calls which follow each other: what an answer keeps
# of earlier calls, by their shape, costs there and nowhere else.


@hidden_test("one_hot")
def test_a_sentence_becomes_rows_with_a_single_one(student, rng):
    """A sentence becomes rows with a single 1 at the place of each id, and so does the next one."""
    for _ in range(2):
        ids = rng.permutation(11)[:7]
        expect_close(student(ids.tolist(), 11), _one_hot(ids, 11), "the one-hot rows")


@hidden_test("one_hot", weight=0.25)
def test_ids_of_any_shape_get_one_more_axis(student, rng):
    """Ids of any shape get one more axis at the end."""
    ids = rng.integers(0, 6, size=(4, 2, 10))[:, :, ::2]
    for _ in range(2):
        expect_close(student(ids, 6), _one_hot(ids, 6), "the one-hot rows of several sentences")
        ids = (ids + 1) % 6


@hidden_test("one_hot")
def test_an_axis_of_length_one_stays(student):
    """Sentences of one word, and a vocabulary of one word, keep their axis of length one."""
    expect_close(student([[4], [0]], 7), _one_hot([[4], [0]], 7), "the one-hot rows of one-word sentences")
    expect_close(student([0, 0], 1), [[1.0], [1.0]], "the one-hot rows of the only word there is")


@hidden_test("one_hot", weight=0.5)
def test_a_single_id_gives_a_single_row(student):
    """A single id gives a single row, as wide as the vocabulary."""
    expect_close(student(2, 9), _one_hot(2, 9), "the one-hot row of a single id")


@hidden_test("one_hot", weight=0.5)
def test_a_single_id_may_be_a_number_of_numpy(student):
    """A single id may be a number of NumPy's, or an array without axes."""
    expect_close(student(3, 8), _one_hot(3, 8), "the one-hot row of a single id")
    expect_close(student(np.int64(3), 8), _one_hot(3, 8), "the one-hot row of a single id")
    expect_close(student(np.array(5), 10), _one_hot(5, 10), "the one-hot row of a single id")


@hidden_test("one_hot", weight=0.5)
def test_a_vocabulary_may_be_large(student):
    """The rows are as wide as the vocabulary, also of hundreds of words."""
    expect_close(student([300, 300], 401), _one_hot([300, 300], 401), "the one-hot rows of a late word")


@hidden_test("one_hot", weight=0.25)
def test_the_ids_stay_as_they_were(student):
    """The array of ids is the same afterwards."""
    ids = np.array([2, 2, 2, 2])
    expect_close(student(ids, 5), _one_hot(ids, 5), "the one-hot rows")
    expect(not student.mutated, UNCHANGED)


@hidden_test("one_hot", weight=0.25)
def test_shapes_sizes_and_kinds_of_ids_together(student, rng):
    """Many axes, axes of length one, vocabularies of two words or of hundreds, single ids at either end: each with each."""
    for V, shapes in (
        (2, ((2, 1, 3), (1,), (3, 3), ())),
        (13, ((1, 1, 4), (2, 2, 1, 3), (1, 1), (1, 6), (13,))),
        (1200, ((2, 5), (3, 1, 2), (), (1,), (120,))),
        (1, ((2, 1), (1, 1, 3), ())),
    ):
        for shape in shapes:
            ids, early = rng.integers(0, V, size=shape), rng.integers(0, (V + 1) // 2, size=shape)
            ids[...].flat[-1] = V - 1
            for given in (ids, early, early.astype(np.int32), ids.tolist()):
                expect_close(student(given, V), _one_hot(given, V), "the one-hot rows of several shapes")
    for single in (0, np.int64(0), np.array(6)):
        expect_close(student(single, 7), _one_hot(single, 7), "the one-hot row of a single id")


# -------------------------------------------------------------------------------------------------- lookup


def _mixed(weights, table):
    """The weighted sums of the rows of a table, number by number."""
    weights = np.asarray(weights, dtype=float)
    lines = weights.reshape(-1, weights.shape[-1])
    sums = [
        [math.fsum(float(w) * float(e) for w, e in zip(line, column, strict=True)) for column in table.T]
        for line in lines
    ]
    return np.array(sums).reshape(*weights.shape[:-1], table.shape[1])


@hidden_test("lookup", weight=0.25)
def test_one_hot_rows_pick_rows_of_the_table(student, rng):
    """One-hot rows pick rows of the table, in their order and as often as they occur."""
    ids, table = rng.permutation([5, 0, 5, 3, 1]), rng.normal(size=(6, 4))
    expect_close(
        student(_one_hot(ids, 6), table), [table[word] for word in ids], "the rows that were looked up"
    )


@hidden_test("lookup", weight=0.5)
def test_any_weights_mix_the_rows(student, rng):
    """Any weights, negative ones too, add up rows of the table, each by its weight."""
    weights, table = rng.uniform(1, 2, size=(3, 10))[:, ::2], rng.normal(size=(5, 7))
    weights = weights * [1, 1, -1, 1, 1]
    expect_close(student(weights, table), _mixed(weights, table), "the weighted sums of rows", atol=1e-6)
    expect(not student.mutated, UNCHANGED)
    square = rng.normal(size=(3, 3))
    expect_close(
        student(weights[:, :3], square),
        _mixed(weights[:, :3], square),
        "the weighted sums from a square table",
        atol=1e-6,
    )


@hidden_test("lookup", weight=0.5)
def test_several_ones_add_up_and_zeros_give_zeros(student, rng):
    """Two 1s in a row of weights add up two rows of the table, and a row of zeros gives zeros."""
    table = rng.normal(size=(4, 3))
    weights = np.array([[0.0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]])
    expect_close(student(weights, table), _mixed(weights, table), "the sums of several rows", atol=1e-6)


@hidden_test("lookup", weight=0.75)
def test_a_table_of_whole_numbers_has_fractions_of_its_rows(student, rng):
    """From a table of whole numbers fractions of rows come out as they are; whole weights work, too."""
    table = 2 * rng.integers(1, 50, size=(4, 3)) + [
        [1],
        [1],
        [0],
        [0],
    ]  # half of odd and even is no whole number
    weights = np.array([[0.5, 0, 0, 0.5], [0, 0.25, 0.75, 0]])
    expect_close(
        student(weights, table), _mixed(weights, table), "the weighted sums of whole numbers", atol=1e-6
    )
    expect_close(student(np.eye(4, dtype=int)[[0, 3, 2]], table), table[[0, 3, 2]], "the looked-up rows")


@hidden_test("lookup", weight=0.25)
def test_small_weights_count_too(student, rng):
    """Small weights count as they are."""
    weights, table = rng.uniform(1, 5, size=(2, 4)) * 1e-4, rng.uniform(1, 2, size=(4, 3)) * 1e4
    expect_close(student(weights, table), _mixed(weights, table), "the sums with small weights")


@hidden_test("lookup", weight=0.25)
def test_a_single_row_of_weights_gives_a_single_row(student, rng):
    """A single row of weights gives a single row."""
    weights, table = np.array([1.0, 0, 1, 1]), rng.normal(size=(4, 3))
    expect_close(
        student(weights, table), _mixed(weights, table), "the weighted sum of a single row", atol=1e-6
    )


@hidden_test("lookup", weight=0.5)
def test_a_batch_gives_a_batch(student, rng):
    """A batch of sentences gives a batch, whatever its shape and the weights."""
    table = rng.normal(size=(4, 3))
    for shape in ((5, 4), (2, 5, 4), (2, 3, 2, 4)):
        batch = rng.uniform(1, 2, size=shape) * [1, -1, 1, 1]
        expect_close(student(batch, table), _mixed(batch, table), "the weighted sums of a batch", atol=1e-6)


@hidden_test("lookup", weight=0.25)
def test_weights_shapes_and_tables_together(student, rng):
    """All kinds of weights in rows, tables and batches, with tables of fractions and of whole numbers, wide and narrow."""
    for V, D, shape in (
        (3, 2, (3,)), (4, 4, (4,)), (1, 3, (1,)), (5, 1, (1, 5)), (1, 1, (4, 1)), (3, 3, (2, 3)),
        (4, 4, (1, 4, 4)), (3, 2, (3, 3, 3)), (2, 5, (2, 1, 2)), (3, 1, (2, 2, 1, 3)),
    ):  # fmt: skip
        whole = rng.integers(-3, 4, size=shape)
        zeros = rng.uniform(1, 2, size=shape)
        zeros.reshape(-1, V)[0] = 0
        words = _one_hot(rng.integers(0, V, size=shape[:-1]), V)
        two = np.maximum(words, _one_hot(rng.integers(0, V, size=shape[:-1]), V))
        several = [
            zeros * rng.choice([-1, 1], size=shape),
            rng.integers(1, 8, size=shape) / 8,
            whole,
            zeros,
            words,
            two,
        ]
        several += [
            300 * several[0],
            rng.uniform(1, 2, size=shape) * 1e-4,
            rng.dirichlet(np.ones(V), shape[:-1]),
        ]
        for weights in several:
            for table in (
                rng.integers(1, 50, size=(V, D)),
                1e4 * rng.normal(size=(V, D)),
                rng.normal(size=(D, V)).T,
            ):
                largest = float(np.abs(weights).max() * np.abs(table).max())
                expect_close(
                    student(weights, table),
                    _mixed(weights, table),
                    "the weighted sums of rows",
                    atol=1e-6 * V * largest,
                )


# ----------------------------------------------------------------------------------------------- logsumexp


@hidden_test("logsumexp", weight=0.25)
def test_it_is_the_logarithm_of_the_sum_of_exponentials(student, rng):
    """It is the logarithm of the sum of the exponentials: of a row, and of each row of a table."""
    line, x = rng.normal(size=6), rng.normal(size=(3, 5))
    expect_close(student(line, 0), _log_sum_exp(line.tolist()), "logsumexp of a single row")
    expect_close(student(x, axis=-1), _along(_log_sum_exp, x, -1), "logsumexp along the last axis")
    expect_close(student(x[:, 2:3], axis=1), x[:, 2], "logsumexp of single scores")


@hidden_test("logsumexp", weight=0.5)
def test_the_last_axis_is_summed_if_none_is_named(student, rng):
    """Without a name of an axis it is the last one."""
    x = rng.normal(size=(4, 3))
    expect_close(student(x), _along(_log_sum_exp, x, -1), "logsumexp without naming an axis")


@hidden_test("logsumexp", weight=0.25)
def test_any_axis_can_be_summed_and_disappears(student, rng):
    """Either axis of a table can be summed, and it disappears from the shape; whole scores are fine."""
    x = rng.normal(size=(8, 3))[::2]
    for axis in (0, 1, -2):
        expect_close(student(x, axis=axis), _along(_log_sum_exp, x, axis), f"logsumexp along axis {axis}")
        expect(not student.mutated, UNCHANGED)
    whole = rng.integers(-3, 4, size=(3, 4))
    expect_close(student(whole, axis=0), _along(_log_sum_exp, whole, 0), "logsumexp of whole numbers")


@hidden_test("logsumexp", weight=0.5)
def test_three_axes_work_as_well(student, rng):
    """Any axis of three can be summed, and the other two stay."""
    x = rng.normal(size=(2, 8, 3))[:, ::2]
    for axis in (1, 0, -1):
        expect_close(student(x, axis=axis), _along(_log_sum_exp, x, axis), f"logsumexp along axis {axis}")


@hidden_test("logsumexp", weight=0.75)
def test_rows_far_apart_work_side_by_side(student, rng):
    """Rows of very large and of very small scores work, side by side too; adding 1000 to all adds 1000."""
    x = rng.normal(size=(4, 3))
    x[1] += 2000
    x[2] -= 2000
    expect_close(student(x, axis=1), _along(_log_sum_exp, x, 1), "logsumexp of rows of very different size")
    x = rng.normal(size=(3, 5))
    expect_close(
        student(x + 1000, axis=1),
        _along(_log_sum_exp, x, 1) + 1000,
        "logsumexp with 1000 added to all scores",
    )


@hidden_test("logsumexp", weight=0.5)
def test_columns_far_apart_work_side_by_side(student, rng):
    """Large and small scores work along the first of three axes, too."""
    x = rng.normal(size=(3, 2, 4))
    x[:, 0] -= 1500
    x[:, 1, 2] += 1200
    expect_close(student(x, axis=0), _along(_log_sum_exp, x, 0), "logsumexp along axis 0")


@hidden_test("logsumexp")
def test_one_row_may_hold_small_and_large_scores(student, rng):
    """One and the same row may hold small and very large scores."""
    x = rng.normal(size=(3, 5))
    x[0, 2] += 1500
    x[1, :3] += 3000
    x[2, 1:] += 800
    expect_close(student(x, axis=1), _along(_log_sum_exp, x, 1), "logsumexp of scores far apart in one row")


@hidden_test("logsumexp", weight=1.25)
def test_impossible_words_add_nothing(student, rng):
    """A score of −∞ adds nothing, and the input stays as it was."""
    x = rng.normal(size=(3, 4))
    x[0, 1], x[2, 0] = -np.inf, -np.inf
    expected = [_log_sum_exp([v for v in row.tolist() if v > -math.inf]) for row in x]
    expect_close(student(x, axis=1), expected, "logsumexp with some scores of −∞")
    expect(not student.mutated, UNCHANGED)


def _of_all_kinds(rng, shape, axis):
    """Scores, fractions and whole ones, of one size or far apart from line to line, with −∞ or without."""
    plain, whole = rng.normal(size=shape), rng.integers(-3, 4, size=shape)
    lines = tuple(1 if place == axis % len(shape) else length for place, length in enumerate(shape))
    sizes = rng.permutation(np.linspace(-2000, 1600, math.prod(lines) + 1))[1:]
    below, apart = plain - 1500, plain + sizes.reshape(lines)
    ruled_out = rng.random(np.moveaxis(plain, axis, -1).shape) < 0.6
    ruled_out[..., rng.integers(shape[axis])] = False
    ruled_out = np.moveaxis(ruled_out, -1, axis)
    finite = [plain, below, apart, whole, 800 * whole, np.zeros(shape), 0.5 + np.abs(plain)]
    return [*finite, *(np.where(ruled_out, -np.inf, x) for x in (plain, below, apart))]


#: Axes of length one, squares and cubes, one axis to four.
_SHAPES = ((1,), (4,), (1, 5), (5, 1), (3, 3), (2, 6), (2, 3, 4), (3, 3, 3), (2, 1, 3), (1, 2, 1, 3))


@hidden_test("logsumexp", weight=0.25)
def test_shapes_axes_and_scores_together(student, rng):
    """All axes of all shapes, with scores of all kinds: whole ones, −∞, lines far apart."""
    for shape in _SHAPES:
        for axis in (*range(-len(shape), len(shape)), None):
            for x in _of_all_kinds(rng, shape, -1 if axis is None else axis):
                found = student(x) if axis is None else student(x, axis=axis)
                right = _along(_log_sum_exp, x, -1 if axis is None else axis)
                expect_close(found, right, "logsumexp of scores of all kinds", atol=1e-6)


# ------------------------------------------------------------------------------------------------- softmax

#: What a rounding to three decimals leaves: it costs where all digits are asked for, and not in each test again.
_THREE_DECIMALS = {"atol": 6e-4}


@hidden_test("softmax")
@_with_right_logsumexp
def test_scores_become_probabilities_along_the_last_axis(student, rng):
    """Scores become probabilities along the last axis, with all their digits."""
    x = rng.normal(size=(4, 7))
    expect_close(student(x, axis=-1), _softmax(x, -1), "the probabilities along the last axis")
    expect(not student.mutated, UNCHANGED)
    expect_close(student(x[0], 0), _softmax(x[0], 0), "the probabilities of a single row")


@hidden_test("softmax", weight=0.5)
@_with_right_logsumexp
def test_it_runs_along_the_last_axis_if_none_is_named(student, rng):
    """Without a name of an axis it is the last one."""
    x = rng.normal(size=(5, 3))
    expect_close(student(x), _softmax(x, -1), "the probabilities without naming an axis", **_THREE_DECIMALS)


@hidden_test("softmax", weight=0.5)
@_with_right_logsumexp
def test_any_axis_can_be_chosen(student, rng):
    """Any axis of a table or of three can be chosen; the shape stays the same."""
    x = rng.normal(size=(3, 10, 4))[:, ::2]
    for axis in (0, 1, -1):
        expect_close(
            student(x, axis=axis),
            _softmax(x, axis),
            f"the probabilities along axis {axis}",
            **_THREE_DECIMALS,
        )
    table = x[0]
    for axis in (0, -2):
        expect_close(
            student(table, axis=axis),
            _softmax(table, axis),
            "the probabilities of columns",
            **_THREE_DECIMALS,
        )
    expect_close(student(table[:, :1], axis=1), np.ones((5, 1)), "the probability of the only word there is")


@hidden_test("softmax", weight=0.5)
@_with_right_logsumexp
def test_whole_scores_have_fractions_as_probabilities(student, rng):
    """Scores that are whole numbers become probabilities all the same."""
    x = rng.integers(-2, 3, size=(3, 4))
    expect_close(student(x), _softmax(x, -1), "the probabilities of whole scores", **_THREE_DECIMALS)


@hidden_test("softmax", weight=0.5)
@_with_right_logsumexp
def test_only_differences_between_scores_count(student, rng):
    """Rows of very different size work side by side; adding 1000 to all scores changes nothing."""
    x = rng.normal(size=(3, 5))
    expected = _softmax(x, 1)
    shifted = student(x + 1000, axis=1)  # of which single precision knows four decimals
    expect_close(
        shifted, expected, "the probabilities with 1000 added to all scores", rtol=1e-3, **_THREE_DECIMALS
    )
    expect_close(
        student(x + np.array([[900.0], [0], [-900]]), axis=1),
        expected,
        "the probabilities of rows of different size",
        rtol=1e-3,
        **_THREE_DECIMALS,
    )


@hidden_test("softmax", weight=0.5)
@_with_right_logsumexp
def test_scores_may_all_be_very_small(student, rng):
    """Where all scores lie far below zero, each row keeps its probabilities."""
    x = rng.normal(size=(2, 4))
    below = np.array([[-1000.0], [-2000]])
    expect_close(
        student(x + below, axis=1), _softmax(x, 1), "the probabilities of very small scores", rtol=1e-3,
        **_THREE_DECIMALS,
    )  # fmt: skip


@hidden_test("softmax", weight=0.5)
@_with_right_logsumexp
def test_an_impossible_word_gets_nothing(student, rng):
    """A score of −∞ gets probability 0, and a score far ahead takes all."""
    x = rng.normal(size=(2, 4))
    x[0, 3], x[1, 0] = -np.inf, -np.inf
    rest = [_softmax(x[0, :3], 0), _softmax(x[1, 1:], 0)]
    found = as_array(student(x, axis=1), "the probabilities beside an impossible word")
    what = "the probabilities beside an impossible word"
    expect_close(found, [[*rest[0], 0.0], [0.0, *rest[1]]], what, **_THREE_DECIMALS)
    expect(
        float(found[0, 3]) == float(found[1, 0]) == 0,
        "a word with a score of −∞ gets a probability that is not quite zero",
    )
    expect_close(
        student(np.array([0.0, 5000.0, 1.0]), 0), [0, 1, 0], "the probabilities when one score is far ahead"
    )


@hidden_test("softmax", weight=0.25)
@_with_right_logsumexp
def test_shapes_axes_and_scores_together_become_probabilities(student, rng):
    """All axes of all shapes, with scores of all kinds: whole ones, −∞, lines far apart."""
    for shape in _SHAPES:
        for axis in (*range(-len(shape), len(shape)), None):
            for x in _of_all_kinds(rng, shape, -1 if axis is None else axis):
                found = student(x) if axis is None else student(x, axis=axis)
                right = _softmax(x, -1 if axis is None else axis)
                expect_close(found, right, "the probabilities of scores of all kinds", rtol=3e-4, atol=3e-4)


# ------------------------------------------------------------------------------------------- cross_entropy


@hidden_test("cross_entropy", weight=0.25)
@_with_right_earlier
def test_a_single_position_costs_its_own_price(student, rng):
    """A single position costs its own price, and the same whenever you ask again."""
    logits = rng.normal(size=(2, 9))
    first, second, again = (student(logits[row : row + 1], [word]) for row, word in ((0, 8), (1, 3), (0, 8)))
    expect_same_again(first, again)
    expect_close(first, _prices(logits[:1], [8])[0], "the price at a single position")
    expect_close(second, _prices(logits[1:], [3])[0], "the price at a single position")


@hidden_test("cross_entropy", weight=0.25)
@_with_right_earlier
def test_two_positions_cost_the_mean_of_their_prices(student, rng):
    """Two positions cost the mean of their prices, and sure and right bets nothing."""
    logits, ids = rng.normal(size=(2, 6)), rng.integers(0, 6, size=2)
    expect_close(student(logits, ids), np.mean(_prices(logits, ids)), "the cross-entropy of two positions")
    expect(not student.mutated, UNCHANGED)
    expect_close(
        student(np.array([[0.0, 800.0], [900.0, 0.0]]), [1, 0]), 0.0, "the price of sure and right bets"
    )


@hidden_test("cross_entropy", weight=0.75)
@_with_right_earlier
def test_it_is_the_mean_price_of_the_true_words(student, rng):
    """It is the mean negative log-probability of the true words, over many positions."""
    logits, ids = rng.normal(size=(7, 5)), rng.integers(0, 5, size=7)
    expect_close(student(logits, ids), np.mean(_prices(logits, ids)), "the cross-entropy")
    expect_close(
        student(logits[::2], ids[::2].tolist()), np.mean(_prices(logits[::2], ids[::2])), "the cross-entropy"
    )


@hidden_test("cross_entropy", weight=0.25)
@_with_right_earlier
def test_equal_scores_cost_ln_v(student, rng):
    """Equal scores for V words cost ln V, whichever words are true."""
    logits = np.repeat(rng.normal(size=(1, 1)), 6, axis=0).repeat(11, axis=1)
    expect_close(student(logits, rng.integers(0, 11, size=6)), math.log(11), "the price of a blind guess")


@hidden_test("cross_entropy", weight=0.75)
@_with_right_earlier
def test_whole_scores_have_fractions_as_prices(student, rng):
    """Scores that are whole numbers have prices with fractions."""
    logits, ids = rng.integers(-3, 4, size=(5, 4)), rng.integers(0, 4, size=5)
    expect_close(student(logits, ids), np.mean(_prices(logits, ids)), "the cross-entropy of whole scores")


@hidden_test("cross_entropy", weight=0.5)
@_with_right_earlier
def test_a_confident_mistake_has_a_finite_price(student, rng):
    """A confident mistake costs as much as the true word lies behind, and no less."""
    logits = rng.normal(size=(1, 3))
    logits[0, 0] += 900
    expect_close(student(logits, [1]), _prices(logits, [1])[0], "the price of a confident mistake")


@hidden_test("cross_entropy", weight=0.5)
@_with_right_earlier
def test_scores_may_be_of_any_size(student, rng):
    """Scores may be larger than a thousand; adding 1000 to a row changes nothing."""
    logits = rng.normal(size=(1, 3))
    logits[0, 0] += 3000
    expect_close(student(logits, [2]), _prices(logits, [2])[0], "the price of a mistake by 3000")
    logits = rng.normal(size=(1, 4))
    expect_close(
        student(logits + 1000, [2]),
        _prices(logits, [2])[0],
        "the price with 1000 added to a row",
        rtol=1e-3,
        atol=3e-4,  # single precision knows 1000 to four decimals
    )


@hidden_test("cross_entropy", weight=0.75)
@_with_right_earlier
def test_rows_of_very_different_size_stand_side_by_side(student, rng):
    """A row of small scores beside one of large scores has its own price."""
    logits, ids = rng.normal(size=(4, 3)), np.array([1, 0, 2, 2])
    logits[2] -= 900
    expect_close(
        student(logits, ids),
        np.mean(_prices(logits, ids)),
        "the cross-entropy of rows far apart",
        rtol=1e-3,
        atol=3e-4,
    )


@hidden_test("cross_entropy", weight=0.25)
@_with_right_earlier
def test_positions_words_and_scores_together(student, rng):
    """One position or many, one word or many, whole scores and fractions, small and large ones: each with each."""
    for N, V in ((1, 4), (2, 2), (2, 5), (3, 3), (4, 2), (5, 1), (1, 1), (24, 6)):
        plain, whole = rng.normal(size=(N, V)), rng.integers(-3, 4, size=(N, V))
        apart = plain + rng.permutation(np.linspace(-2000, 1600, N + 1))[:N, None]
        for logits in (
            plain,
            whole,
            800 * whole,
            plain - 1500,
            apart,
            1200 * plain,
            np.zeros((N, V), dtype=int),
        ):
            for ids in (
                rng.integers(0, V, size=N),
                np.full(N, V - 1),
                logits.argmax(axis=1),
                logits.argmin(axis=1),
            ):
                for given in (ids, ids.tolist()):
                    right = np.mean(_prices(logits, ids))
                    expect_close(student(logits, given), right, "the cross-entropy", rtol=1e-4, atol=5e-4)
