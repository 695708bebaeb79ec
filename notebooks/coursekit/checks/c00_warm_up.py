"""Public checks of lab 00: one-hot rows, look-up, log-sum-exp, softmax and cross-entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import Hint, close, ensure, numbers, public_check
from coursekit.checks.break_it import impostor

FORBIDDEN = {
    "one_hot": ("torch.nn.functional.one_hot", "sklearn.preprocessing.OneHotEncoder"),
    "logsumexp": (
        "numpy.logaddexp",
        "scipy.special.logsumexp",
        "torch.logsumexp",
        "torch.logaddexp",
        "Tensor.logsumexp",
    ),
    "softmax": (
        "scipy.special.softmax",
        "scipy.special.log_softmax",
        "torch.softmax",
        "torch.log_softmax",
        "torch.nn.functional.softmax",
        "torch.nn.functional.log_softmax",
        "Tensor.softmax",
        "Tensor.log_softmax",
    ),
    "cross_entropy": (
        "torch.nn.functional.cross_entropy",
        "torch.nn.CrossEntropyLoss",
        "sklearn.metrics.log_loss",
    ),
}


def _shape(value: Any, expected: Any, hint: Any) -> Any:
    """The value as an array of the expected shape, or the hint with both shapes."""
    ensure(value is not None, "your function returns None: does it end with a return?")
    shape = np.shape(value)
    ensure(shape == expected, f"the result has shape {shape}, but {expected} is expected: {hint}")
    return numbers(value)


@public_check("one_hot")
def find_my_files_lights_one_place_a_word(one_hot: Any) -> None:
    """“find my files”, the ids 1, 2, 0, becomes three rows with one 1 each."""
    rows = _shape(one_hot([1, 2, 0], 3), (3, 3), "one row a word, one column for each word of the vocabulary")
    ensure(
        not np.array_equal(rows[:2], [[1, 0, 0], [0, 1, 0]]),
        "every 1 stands one place too far left: ids start at 0, so id 1 is the second place",
    )
    ensure(
        not np.array_equal(rows, [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        "rows and columns are swapped: each row belongs to a word of the sentence",
    )
    close(rows, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], "the 1 in each row should stand at the place of its id")


@public_check("one_hot")
def the_rows_are_as_wide_as_the_vocabulary(one_hot: Any) -> None:
    """The rows are as wide as the vocabulary, even if the last words do not occur."""
    rows = one_hot([1, 1], 5)
    ensure(np.shape(rows) != (5, 2), "rows and columns are swapped: two words should give two rows")
    rows = _shape(rows, (2, 5), "the width is V, not the largest id plus one")
    close(rows, [[0, 1, 0, 0, 0], [0, 1, 0, 0, 0]], "both rows should have their 1 at place 1")


@public_check("one_hot")
def any_shape_of_ids_gets_one_more_axis(one_hot: Any) -> None:
    """Two sentences at once, or a single id, work as well."""
    rows = _shape(
        one_hot([[0, 1], [2, 2]], 3), (2, 2, 3), "keep the shape of ids and add an axis of length V"
    )
    close(
        rows, [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]], "the 1s do not stand at the places of the ids"
    )
    close(one_hot(1, 3), [0, 1, 0], "a single id should give a single row")


def _multiplied(lookup: Any, weights: Any, table: Any) -> Any:
    """The look-up, or a hint in words when the shapes do not fit together."""
    try:
        return lookup(weights, table)
    except ValueError:
        raise Hint("the shapes do not fit: the rows of H have one weight for each *row* of E") from None


@public_check("lookup")
def a_one_hot_row_picks_a_row(lookup: Any) -> None:
    """One-hot rows pick rows of the table, in their order."""
    table = np.array([[10.0, 11.0], [20.0, 21.0], [30.0, 31.0], [40.0, 41.0]])
    weights = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    picked = _shape(_multiplied(lookup, weights, table), (3, 2), "one row for each row of H, as wide as E")
    close(
        picked, [[10, 11], [40, 41], [30, 31]], "rows 0, 3 and 2 of the table should come out, in that order"
    )


@public_check("lookup")
def half_and_half_mixes_two_rows(lookup: Any) -> None:
    """Weights of one half mix two rows; weights need not add up to one."""
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    mixed = _shape(
        _multiplied(lookup, np.array([[0.5, 0, 0.5], [2, 0, 0]]), table), (2, 2), "one row for each row of H"
    )
    ensure(
        not np.allclose(mixed[0], [1, 2]),
        "only one row was taken: both rows with a weight count, each by its weight",
    )
    ensure(
        not np.allclose(mixed[0], [6, 8]),
        "two rows were added in full: multiply each row by its weight first",
    )
    close(mixed[0], [3, 4], "half of [1, 2] plus half of [5, 6] is [3, 4]")
    close(mixed[1], [2, 4], "twice [1, 2] is [2, 4]: take the weights as they are, without rescaling them")


@public_check("lookup")
def a_single_row_and_a_batch_work(lookup: Any) -> None:
    """A single row of weights and a batch of sentences work as well."""
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    close(
        _multiplied(lookup, np.array([0.0, 1.0, 0.0]), table),
        [3, 4],
        "a single row of weights should give one row",
    )
    batch = np.broadcast_to(np.eye(3), (2, 3, 3))
    close(
        lookup(batch, table),
        np.broadcast_to(table, (2, 3, 2)),
        "two sentences should give two tables of rows",
    )


@public_check("logsumexp")
def two_zeros_give_ln_2(logsumexp: Any) -> None:
    """logsumexp of [0, 0] is ln 2, and of [2, 1, 0] it is 2.408."""
    value = _shape(logsumexp(np.array([0.0, 0.0]), axis=0), (), "one row of scores gives one number")
    ensure(abs(value - 2) > 1e-6, "2 is the sum of the exponentials: the logarithm is still missing")
    ensure(abs(value) > 1e-6, "0 instead of ln 2: is it a sum (not a mean) of the exponentials?")
    close(value, np.log(2), "ln(e⁰ + e⁰) should be ln 2 = 0.693")
    value = logsumexp(np.array([2.0, 1.0, 0.0]), axis=0)
    ensure(abs(value - 0.40760596) > 1e-5, "0.408 instead of 2.408: add the largest score again at the end")
    close(value, 2.40760596, "ln(e² + e¹ + e⁰) should be 2.408")


@public_check("logsumexp")
def the_axis_disappears(logsumexp: Any) -> None:
    """Along axis 0 a table of shape (2, 3) gives three numbers, along axis 1 or −1 two."""
    table = np.log(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    down = _shape(logsumexp(table.copy(), axis=0), (3,), "the axis that you sum over disappears")
    close(np.exp(down), [5, 7, 9], "with axis=0 the columns should give ln 5, ln 7 and ln 9")
    for axis in (1, -1):
        across = _shape(logsumexp(table.copy(), axis=axis), (2,), "the axis that you sum over disappears")
        close(np.exp(across), [6, 15], f"with axis={axis} the rows should give ln 6 and ln 15")


@public_check("logsumexp")
def large_scores_do_not_overflow(logsumexp: Any) -> None:
    """Scores of 1000 and of −1000 give finite answers, even side by side."""
    with np.errstate(all="ignore"):
        values = _shape(
            logsumexp(np.array([[1000.0, 1000.0], [-1000.0, -1000.0]]), axis=1), (2,), "one number a row"
        )
    ensure(
        np.isfinite(values[0]), "e^1000 overflows: take the largest score out before computing exponentials"
    )
    ensure(
        np.isfinite(values[1]),
        "the row of −1000s vanished: take out the largest score of each row, not of the whole table",
    )
    close(values, [1000 + np.log(2), -1000 + np.log(2)], "the rows should give 1000 + ln 2 and −1000 + ln 2")


@public_check("logsumexp")
def the_scores_stay_as_they_were(logsumexp: Any) -> None:
    """Your function leaves its input unchanged."""
    scores = np.array([[1.0, 2.0], [3.0, 4.0]])
    result = logsumexp(scores, axis=1)
    ensure(
        np.array_equal(scores, [[1.0, 2.0], [3.0, 4.0]]),
        "the array x has other values after the call: write x = x − m (a new array) instead of x -= m",
    )
    close(result, [2.31326169, 4.31326169], "logsumexp of [1, 2] should be 2.313")


@public_check("softmax")
def the_worked_example(softmax: Any) -> None:
    """softmax of [2, 1, 0] is [0.665, 0.245, 0.090]."""
    values = _shape(
        softmax(np.array([2.0, 1.0, 0.0]), axis=0), (3,), "probabilities have the shape of the scores"
    )
    ensure(abs(values.sum() - 1) < 1e-6, f"the probabilities add up to {values.sum():.4g} instead of 1")
    close(values, [0.66524096, 0.24472847, 0.09003057], "exponentials first, then divide by their sum")


@public_check("softmax")
def it_sums_to_one_along_the_axis(softmax: Any) -> None:
    """Along axis 0 the columns add up to one, along axis 1 or −1 the rows."""
    scores = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 0.0]])
    for axis, lines in ((0, "columns"), (1, "rows"), (-1, "rows")):
        values = _shape(softmax(scores, axis=axis), (2, 3), "probabilities have the shape of the scores")
        total = values.sum(axis=axis)
        ensure(
            abs(values.sum() - 1) > 1e-6,
            "the whole table adds up to 1: divide each row (or column) by its own sum",
        )
        ensure(
            np.allclose(total, 1),
            f"with axis={axis} the {lines} should add up to 1, but they give {total.round(3)}",
        )
    close(
        np.asarray(softmax(scores, axis=0))[:, 1],
        [0.26894142, 0.73105858],
        "the column with scores 2 and 3 should be 0.269 and 0.731",
    )


@public_check("softmax")
def adding_1000_changes_nothing(softmax: Any) -> None:
    """Adding 1000 to every score changes nothing."""
    scores = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 5.0]])
    with np.errstate(all="ignore"):
        shifted = softmax(scores + 1000, axis=-1)
    ensure(
        np.isfinite(numbers(shifted)).all(),
        "e^1000 overflows: take out the largest score first",
    )
    close(
        shifted,
        softmax(scores, axis=-1),
        "the scores differ by the same amounts, so the probabilities should be the same",
        rtol=1e-3,  # single precision knows 1000 to four decimals
    )


@public_check("softmax")
def minus_infinity_gets_nothing(softmax: Any) -> None:
    """A score of −∞ gets probability 0, and the others share the rest."""
    with np.errstate(all="ignore"):
        values = softmax(np.array([1.0, -np.inf, 1.0]), axis=0)
    close(values, [0.5, 0.0, 0.5], "two equal scores and an impossible one should give 0.5, 0 and 0.5")


@public_check("softmax")
def rows_of_very_different_size(softmax: Any) -> None:
    """A row of small scores beside one of large scores keeps its probabilities."""
    with np.errstate(all="ignore"):
        values = numbers(softmax(np.array([[2.0, 1.0, 0.0], [2002.0, 2001.0, 2000.0]]), axis=-1))
    ensure(
        np.isfinite(values).all(),
        "beside a row of large scores a row of small ones became 0/0: take out the largest score of each row",
    )
    close(values[0], values[1], "both rows have the same differences, so the same probabilities", rtol=1e-3)


@public_check("cross_entropy")
def the_worked_prices(cross_entropy: Any) -> None:
    """The scores [2, 1, 0] cost 0.408 if word 0 is true, and 2.408 if word 2 is."""
    logits = np.array([[2.0, 1.0, 0.0]])
    first = _shape(cross_entropy(logits, [0]), (), "the mean over all positions is one number")
    ensure(first > 0, "a price is never negative: −ln p, with a minus")
    ensure(
        abs(first - 0.66524096) > 1e-5, "0.665 is the probability of the true word: its price is −ln 0.665"
    )
    close(first, 0.40760596, "with word 0 true the price should be 2.408 − 2 = 0.408")
    close(cross_entropy(logits, np.array([2])), 2.40760596, "with word 2 true the price should be 2.408 − 0")


@public_check("cross_entropy")
def it_is_a_mean_over_positions(cross_entropy: Any) -> None:
    """Two positions give the mean of their prices."""
    value = cross_entropy(np.array([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0]]), [0, 2])
    ensure(value is not None, "your function returns None: does it end with a return?")
    value = _shape(value, (), "the mean over all positions is one number")
    ensure(abs(value - 2.81521191) > 1e-5, "2.815 is the sum of the two prices: take their mean")
    ensure(
        abs(value - 0.9384) > 1e-3,
        "0.938 is the sum divided by 3: divide by the number of positions, not of words",
    )
    close(value, 1.40760596, "the mean of 0.408 and 2.408 should be 1.408: one true word from each row")
    value = cross_entropy(np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.0]]), [0, 1])
    ensure(
        abs(value - 1.25126493) > 1e-5,
        "each true word was looked up in every row: take one score from each row, its own true word's",
    )
    close(value, 0.25126493, "the mean of 0.408 and 0.095 should be 0.251")


@public_check("cross_entropy")
def a_blind_guess_pays_ln_v(cross_entropy: Any) -> None:
    """Equal scores for V words cost ln V, whatever is true."""
    close(
        cross_entropy(np.zeros((4, 7)), [0, 3, 6, 6]),
        np.log(7),
        "seven words with equal scores should cost ln 7 = 1.946",
    )


@public_check("cross_entropy")
def a_confident_mistake_has_a_finite_price(cross_entropy: Any) -> None:
    """Being certain of the wrong word by 1000 costs 1000, not infinity."""
    with np.errstate(all="ignore"):
        value = cross_entropy(np.array([[1000.0, 0.0]]), [1])
    ensure(
        value is not None and np.isfinite(value),
        "the price is not finite: compute logsumexp(row) − score instead of the logarithm of a probability",
    )
    close(value, 1000.0, "the price should be 1000 − 0")


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("softmax")
def one_maximum_for_all(right: Any, x: Any, axis: Any = -1) -> Any:
    """It takes the largest score of the whole table away, not that of each row.

    One survives: no row (or column) of your table lies far below another.
    """
    too_far = np.max(x, axis=axis, keepdims=True) - np.max(x) < -745  # exp underflows, and 0/0 is nan
    return np.where(too_far, np.nan, right(x, axis))


@impostor("softmax")
def always_the_last_axis(right: Any, x: Any, axis: Any = -1) -> Any:
    """It always runs along the last axis.

    One survives: your axis is the last one.
    """
    return right(x, -1)


@impostor("softmax")
def overflows(right: Any, x: Any, axis: Any = -1) -> Any:
    """It takes no maximum away, so large scores overflow.

    One survives: all your scores are below 709.
    """
    return np.where(np.max(x, axis=axis, keepdims=True) > 709, np.nan, right(x, axis))


@impostor("softmax")
def cuts_large_scores_off(right: Any, x: Any, axis: Any = -1) -> Any:
    """It cuts large scores off at 700, so that nothing overflows.

    One survives: nowhere do two different scores above 700 meet.
    """
    return right(np.minimum(x, 700), axis)


@impostor("softmax")
def stumbles_over_minus_infinity(right: Any, x: Any, axis: Any = -1) -> Any:
    """It answers nan for a score of −∞.

    One survives: none of your scores is −∞.
    """
    return np.where(np.isneginf(x), np.nan, right(x, axis))
