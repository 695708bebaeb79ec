"""Public checks of lab 00: one-hot rows, look-up, log-sum-exp, softmax and cross-entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import Hint, close, ensure, numbers, public_check
from coursekit.checks.break_it import impostor

FORBIDDEN = {
    "one_hot": (
        "torch.nn.functional.one_hot",
        "sklearn.preprocessing.OneHotEncoder",
        "sklearn.preprocessing.LabelBinarizer",
        "sklearn.preprocessing.label_binarize",
    ),
    "logsumexp": (
        "numpy.logaddexp",
        "numpy.logaddexp2",
        "scipy.special.logsumexp",
        "torch.logsumexp",
        "torch.logcumsumexp",
        "torch.logaddexp",
        "torch.logaddexp2",
        "Tensor.logsumexp",
        "Tensor.logcumsumexp",
        "scipy.special.log_softmax",
        "torch.log_softmax",
        "Tensor.log_softmax",
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
        "torch.nn.functional.softmin",
        "torch.nn.Softmin",
        "torch.distributions.Categorical",
        "torch.distributions.OneHotCategorical",
        "sklearn.utils.extmath.softmax",
    ),
    "cross_entropy": (
        "torch.nn.functional.cross_entropy",
        "torch.nn.CrossEntropyLoss",
        "torch.distributions.Categorical",
        "torch.distributions.OneHotCategorical",
        "sklearn.metrics.log_loss",
    ),
}


def _shape(value: Any, expected: Any, hint: Any) -> Any:
    """The value as an array of the expected shape, or the hint with both shapes."""
    found = numbers(value)
    ensure(found.shape == expected, f"the result has shape {found.shape}, but {expected} is expected: {hint}")
    return found


def _is(value: Any, what: Any) -> bool:
    """Whether a value is (nearly) what a certain slip returns."""
    return np.shape(value) == np.shape(what) and np.allclose(value, what, atol=1e-5, equal_nan=True)


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
    ensure(
        (rows == 1).sum() <= 3, "a row has several 1s: it should have only the one at the place of its own id"
    )
    close(rows, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], "the 1 in each row should stand at the place of its id")


@public_check("one_hot")
def the_rows_are_as_wide_as_the_vocabulary(one_hot: Any) -> None:
    """The rows are as wide as the vocabulary, even if the last words do not occur, and if it is large."""
    rows = one_hot([1, 1], 5)
    ensure(np.shape(rows) != (5, 2), "rows and columns are swapped: two words should give two rows")
    narrow = np.shape(rows) == (2, 2)
    rows = _shape(
        rows,
        (2, 5),
        "the width is V, not the largest id plus one"
        if narrow
        else "one row a word, one column for each of V words",
    )
    rows, before = np.array(rows), np.array([[0, 1, 0, 0, 0], [0, 1, 0, 0, 0]])
    later, expected = numbers(one_hot([4, 0], 5)), np.array([[0, 0, 0, 0, 1], [1, 0, 0, 0, 0]])
    ensure(
        later.shape != (2, 5) or not (later >= before | expected).all(),
        "the rows of the ids 1 and 1, asked for first, are still in those of 4 and 0: make a new table in each call",
    )
    close(rows, before, "both rows should have their 1 at place 1")
    close(later, expected, "the ids 4 and 0 should have their 1s at places 4 and 0")
    hint = "one row a word, one column for each of V words"
    row = _shape(one_hot([299, 0], 300), (2, 300), hint)[0]
    ensure(
        np.flatnonzero(row).tolist() != [43, 299],
        "with 300 words the row of id 299 has two 1s, at places 43 and 299: in numbers of 8 bits 299 and 43 are the same",
    )
    ensure(row.sum() == row[299] == 1, "with 300 words the row of id 299 should have its 1 at place 299")


@public_check("one_hot")
def any_shape_of_ids_gets_one_more_axis(one_hot: Any) -> None:
    """Two sentences at once, sentences of one word, or a single id, NumPy's too, work as well."""
    rows = _shape(
        one_hot(np.array([[0, 1], [2, 2]]), 3),
        (2, 2, 3),
        "keep the shape of ids and add an axis of length V",
    )
    close(
        rows, [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]], "the 1s do not stand at the places of the ids"
    )
    rows = _shape(
        one_hot([[1], [0]], 3), (2, 1, 3), "an axis of length one belongs to the shape of ids, and stays"
    )
    close(rows, [[[0, 1, 0]], [[1, 0, 0]]], "the 1s do not stand at the places of the ids")
    for single in (1, np.int64(1), np.array(1)):
        row = _shape(
            one_hot(single, 3), (3,), f"the single id {single!r} has no axis, so it gives a single row"
        )
        close(row, [0, 1, 0], f"the single id {single!r} should have its 1 at place 1")
    close(one_hot([0], 1), [[1]], "in a vocabulary of one word its row is [1]")
    for V, shape in ((2, (1, 2, 1)), (300, (2, 3)), (2, (2, 2)), (3, (1,))):
        ids = np.arange(np.prod(shape)).reshape(shape) % 2
        rows = _shape(one_hot(ids, V), (*shape, V), f"ids of shape {shape} get one more axis, of length {V}")
        places, ones = rows.argmax(axis=-1), (rows != 0).sum(axis=-1)
        hint = f"with ids of shape {shape} and {V} words the 1s do not stand at the places of the ids"
        ensure(np.array_equal(places, ids) and (ones == 1).all() and (rows.max(axis=-1) == 1).all(), hint)


def _multiplied(lookup: Any, weights: Any, table: Any) -> Any:
    """The look-up, or a hint in words when the shapes do not fit together."""
    try:
        return lookup(np.array(weights), np.array(table))
    except ValueError:
        raise Hint("the shapes do not fit: the rows of H have one weight for each *row* of E") from None


@public_check("lookup")
def a_one_hot_row_picks_a_row(lookup: Any) -> None:
    """One-hot rows pick rows of the table, in their order."""
    table = [[10.0, 11.0], [20.0, 21.0], [30.0, 31.0], [40.0, 41.0]]
    weights = [[1.0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    picked = _shape(_multiplied(lookup, weights, table), (3, 2), "one row for each row of H, as wide as E")
    close(
        picked, [[10, 11], [40, 41], [30, 31]], "rows 0, 3 and 2 of the table should come out, in that order"
    )


@public_check("lookup")
def half_and_half_mixes_two_rows(lookup: Any) -> None:
    """Weights of one half mix two rows; weights need not add up to one, and may be negative or small."""
    table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    mixed = _shape(
        _multiplied(lookup, [[0.5, 0, 0.5], [2, 0, 0]], table), (2, 2), "one row for each row of H"
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
    mixed = _shape(_multiplied(lookup, [[2.0, 0, -1]], table), (1, 2), "one row for each row of H")
    ensure(
        not _is(mixed, [[2, 4]]),
        "the weight −1 was left out: twice [1, 2] minus [5, 6] is [−3, −2], not [2, 4]",
    )
    close(mixed, [[-3, -2]], "twice [1, 2] minus [5, 6] is [−3, −2]")
    mixed = _multiplied(lookup, [[0.0002, 0, 0]], [[10000.0, 20000], [0, 0], [0, 0]])
    close(
        mixed, [[2, 4]], "the weight 0.0002 and the row [10000, 20000] give [2, 4]: small weights count, too"
    )


@public_check("lookup")
def ones_add_up_and_tables_may_be_whole(lookup: Any) -> None:
    """Several 1s add up rows, none gives zeros; a table of whole numbers is fine."""
    table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    added = _shape(_multiplied(lookup, [[1.0, 0, 1], [0, 0, 0]], table), (2, 2), "one row for each row of H")
    ensure(
        not _is(added, [[1, 2], [1, 2]]),
        "of the weights 1, 0, 1 only the first 1 was taken, and 0, 0, 0 took a row, too: multiply and add up all the same",
    )
    close(added, [[6, 8], [0, 0]], "the weights 1, 0, 1 should give [1, 2] plus [5, 6], and 0, 0, 0 zeros")
    whole = numbers(_multiplied(lookup, [[0.5, 0, 0], [0, 0.5, 0.5]], [[1, 2], [3, 4], [5, 8]]))
    ensure(
        not _is(whole, [[0, 1], [4, 6]]) and not _is(whole, [[0, 1], [3, 6]]),
        "half of the whole numbers [1, 2] became [0, 1]: the result has to hold fractions, whatever the table holds",
    )
    close(
        whole,
        [[0.5, 1], [4, 6]],
        "half of [1, 2] is [0.5, 1], and half of [3, 4] plus half of [5, 8] is [4, 6]",
    )


@public_check("lookup")
def a_single_row_and_a_batch_work(lookup: Any) -> None:
    """A single row of weights and a batch of sentences work as well."""
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    row = _shape(
        _multiplied(lookup, [0.0, 1.0, 0.0], table), (2,), "a single row of weights should give one row"
    )
    close(row, [3, 4], "the weights [0, 1, 0] should give the row [3, 4]")
    ids = np.array([[0, 2, 1, 1], [2, 2, 0, 1]])
    rows = _shape(
        lookup(np.eye(3)[ids], table),
        (2, 4, 2),
        "two sentences of four words should give two tables of four rows",
    )
    close(rows, table[ids], "in a batch each position should get the row that its own weights pick")
    weights = np.array([[[0.5, 0, 0], [2, 0, -1], [0.0002, 0, 0]], [[1, 0, 1], [0, 0, 0], [0, 0.25, 0]]])
    sums = np.array([[[0.5, 1], [-3, -2], [0.0002, 0.0004]], [[6, 8], [0, 0], [0.75, 1]]])
    single = [(weights[n], sums[n], "a single row") for n in ((0, 0), (0, 1), (1, 0), (1, 2))]
    for given, right, what in ((weights, sums, "a batch"), *single):
        for numbers_of in (table, table.astype(int)):
            rows = _shape(lookup(given, numbers_of), right.shape, f"weights of shape {given.shape}")
            close(rows, right, f"in {what}, too, each row of the table counts by its weight", atol=1e-6)
    rows = _shape(lookup(weights[0], table[:, :1]), (3, 1), "a table of one column gives rows of length one")
    close(rows, sums[0, :, :1], "a table of one column has weighted sums like any other", atol=1e-6)


def _scores_of_all_kinds() -> Any:
    """Tables of scores far apart, whole or not, some of them −∞, each with an axis of it; no line is all −∞."""
    x = np.array([[[0, 0], [2000, 0], [0, -2000]], [[0, 1], [2000, 1], [-2000, -2000]]])
    ruled_out = np.where(x == 1, -np.inf, x)
    for scores in (
        x,
        x[0],
        x[:, :2],
        ruled_out,
        ruled_out.swapaxes(1, 2),
        ruled_out[:, :1],
        ruled_out[1, :, :1],
        x - 4000.5,
    ):
        for axis in range(-scores.ndim, scores.ndim):
            yield scores, axis


def _lines(scores: Any, axis: Any) -> Any:
    """The lines of a table along an axis, one after the other."""
    return np.moveaxis(scores, axis, -1).reshape(-1, scores.shape[axis]).astype(float)


def _alone(scores: Any, axis: Any) -> str:
    kinds = "with scores of −∞ among them" if np.isinf(scores).any() else "from small to large"
    return f"scores of the shape {scores.shape}, {kinds}: along axis {axis} a line should give what it gives alone"


@public_check("logsumexp")
def two_zeros_give_ln_2(logsumexp: Any) -> None:
    """logsumexp of [0, 0] is ln 2, and of [2, 1, 0] it is 2.408."""
    zeros = _shape(logsumexp(np.array([0.0, 0.0]), axis=0), (), "one row of scores gives one number")
    ensure(abs(zeros - 2) > 1e-6, "2 is the sum of the exponentials: the logarithm is still missing")
    value = _shape(logsumexp(np.array([2.0, 1.0, 0.0]), axis=0), (), "one row of scores gives one number")
    known = {
        0.40760596: "0.408 instead of 2.408: add the largest score again at the end",
        1.30899367: "1.309 instead of 2.408: that is the logarithm of the mean of the exponentials; take their sum",
        3.47344119: "3.474 instead of 2.408: that is the logarithm to base 2; ln is np.log",
        1.04561001: "1.046 instead of 2.408: that is the logarithm to base 10; ln is np.log",
    }
    for slip, hint in known.items():
        ensure(not _is(value, slip), hint)
    close(zeros, np.log(2), "ln(e⁰ + e⁰) should be ln 2 = 0.693")
    close(value, 2.40760596, "ln(e² + e¹ + e⁰) should be 2.408")


@public_check("logsumexp")
def the_axis_disappears(logsumexp: Any) -> None:
    """The axis that is summed disappears, of two axes or of three; it is the last one if none is named."""
    table = np.log(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    hint = "the axis that you sum over disappears"
    down = _shape(logsumexp(table, axis=0), (3,), hint)
    close(np.exp(down), [5, 7, 9], "with axis=0 the columns should give ln 5, ln 7 and ln 9")
    for axis in (1, -1):
        across = _shape(logsumexp(table, axis=axis), (2,), hint)
        close(np.exp(across), [6, 15], f"with axis={axis} the rows should give ln 6 and ln 15")
    unnamed = numbers(logsumexp(table))
    ensure(
        not _is(unnamed, down),
        "without a name of an axis it sums along axis 0: the default is axis=-1, the last",
    )
    close(unnamed, across, "without a name of an axis the rows should give ln 6 and ln 15, as with axis=-1")
    both = np.stack([table, table + 1])
    for axis, expected in (
        (0, table + np.log(1 + np.exp(1))),
        (1, [down, down + 1]),
        (2, [across, across + 1]),
    ):
        shape = np.shape(expected)
        found = _shape(logsumexp(both, axis=axis), shape, f"of three axes only axis {axis} disappears")
        close(found, expected, f"of three axes with axis={axis} only that one should be summed")


@public_check("logsumexp")
def large_scores_do_not_overflow(logsumexp: Any) -> None:
    """Scores of 1000 and of −1000 give finite answers, even side by side."""
    with np.errstate(all="ignore"):
        values = _shape(
            logsumexp(np.array([[1000.0, 1000.0], [-1000.0, -1000.0]]), axis=1), (2,), "one number a row"
        )
        alone = numbers(logsumexp(np.array([[-1000.0, -1000.0]]), axis=1))
        wide = _shape(logsumexp(np.array([[0.0, 2000.0, 3.0]]), axis=1), (1,), "one number a row")
    ensure(
        np.isfinite(values[0]), "e^1000 overflows: take the largest score out before computing exponentials"
    )
    ensure(
        np.isfinite(values[1]) or not np.isfinite(alone).all(),
        "the row of −1000s vanished: take out the largest score of each row, not of the whole table",
    )
    ensure(
        np.isfinite(values[1]),
        "a row of −1000s vanished, even alone: its largest score is −1000, so take out −1000, not 0 or 1000",
    )
    close(values, [1000 + np.log(2), -1000 + np.log(2)], "the rows should give 1000 + ln 2 and −1000 + ln 2")
    ensure(
        np.isfinite(wide).all(),
        "the row 0, 2000, 3 overflowed: what you take out of each row should be its largest score, here 2000",
    )
    close(wide, [2000], "the row 0, 2000, 3 should give 2000: beside e^2000 the others are nothing")


@public_check("logsumexp")
def impossible_words_add_nothing(logsumexp: Any) -> None:
    """A score of −∞ adds nothing, and your function leaves its input unchanged."""
    with np.errstate(all="ignore"):
        value = _shape(
            logsumexp(np.array([0.0, -np.inf, 0.0]), axis=0), (), "one row of scores gives one number"
        )
    ensure(
        not _is(value, np.log(3)),
        "the score −∞ was counted as a score of 0: it should add e^−∞ = 0, and not e⁰ = 1",
    )
    ensure(not np.isnan(value), "the scores 0, −∞, 0 gave nan: −∞ minus −∞, or −∞ times 0, is no number")
    close(value, np.log(2), "the scores 0, −∞, 0 should give ln(1 + 0 + 1) = ln 2")
    result = logsumexp(np.array([[1, 2], [3, 4]]), axis=1)
    close(result, [2.31326169, 4.31326169], "logsumexp of the whole numbers [1, 2] should be 2.313")
    for scores, axis in _scores_of_all_kinds():
        with np.errstate(all="ignore"):
            found = logsumexp(scores.copy(), axis=axis)
            alone = [numbers(logsumexp(line.copy(), axis=0)) for line in _lines(scores, axis)]
        shape = np.moveaxis(scores, axis, -1).shape[:-1]
        found = _shape(found, shape, f"of the shape {scores.shape} only axis {axis} disappears")
        close(found, np.reshape(alone, shape), _alone(scores, axis), rtol=1e-3, atol=1e-3)


@public_check("softmax")
def the_worked_example(softmax: Any) -> None:
    """softmax of [2, 1, 0] is [0.665, 0.245, 0.090]."""
    values = _shape(
        softmax(np.array([2.0, 1.0, 0.0]), axis=0), (3,), "probabilities have the shape of the scores"
    )
    exact = np.array([0.66524096, 0.24472847, 0.09003057])
    for digits in (1, 2, 3, 4):
        ensure(
            not np.allclose(values, exact.round(digits), rtol=0, atol=1e-7),
            f"your values are right, but rounded to {digits} decimals: return them with all their digits",
        )
    ensure(abs(values.sum() - 1) < 1e-6, f"the probabilities add up to {values.sum():.4g} instead of 1")
    ensure(
        not _is(values, [2 / 3, 1 / 3, 0]), "these are the scores divided by their sum: exponentials first"
    )
    ensure(
        not _is(values, [4 / 7, 2 / 7, 1 / 7]),
        "these are shares of 2², 2¹ and 2⁰: take powers of e, with np.exp",
    )
    close(values, exact, "the shares of e², e¹ and e⁰ in their sum should be 0.665, 0.245 and 0.090")


@public_check("softmax")
def it_sums_to_one_along_the_axis(softmax: Any) -> None:
    """Along axis 0 the columns add up to one, along axis 1 or −1 the rows; so do whole scores, and three axes."""
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
    down = numbers(softmax(scores, axis=0))
    close(down[:, 1], [0.26894142, 0.73105858], "the column with scores 2 and 3 should be 0.269 and 0.731")
    unnamed = numbers(softmax(scores))
    ensure(
        not _is(unnamed, down),
        "without a name of an axis the columns add up to 1: the default is axis=-1, the last",
    )
    close(unnamed, values, "without a name of an axis it should be as with axis=-1")
    whole = numbers(softmax(scores.astype(int), axis=-1))
    ensure(
        not _is(whole, np.zeros((2, 3))),
        "the whole scores 1, 2, 4 got whole probabilities, 0: the result has to hold fractions, whatever x holds",
    )
    close(whole, values, "the whole scores 1, 2, 4 should have the probabilities of 1.0, 2.0, 4.0")
    both = np.stack([scores, scores[::-1]])
    for axis, expected in ((2, [values, values[::-1]]), (1, [down, down[::-1]])):
        found = _shape(softmax(both, axis=axis), (2, 2, 3), "probabilities have the shape of the scores")
        close(found, expected, f"of three axes with axis={axis} that one should add up to 1")


@public_check("softmax")
def adding_1000_changes_nothing(softmax: Any) -> None:
    """Adding 1000 to every score changes nothing, and taking 1000 away neither."""
    scores = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 5.0]])
    with np.errstate(all="ignore"):
        shifted = numbers(softmax(scores + 1000, axis=-1))
        lowered = numbers(softmax(scores - 1000, axis=-1))
    ensure(np.isfinite(shifted).all(), "e^1000 overflows: take out the largest score first")
    ensure(
        np.isfinite(lowered).all(),
        "scores near −1000 became 0/0: take out the largest score, whatever its size and sign",
    )
    for values in (shifted, lowered):
        close(
            values,
            softmax(scores, axis=-1),
            "the scores differ by the same amounts, so the probabilities should be the same",
            rtol=1e-3,  # single precision knows 1000 to four decimals
        )


@public_check("softmax")
def minus_infinity_gets_nothing(softmax: Any) -> None:
    """A score of −∞ gets probability 0, and the others share the rest."""
    with np.errstate(all="ignore"):
        values = numbers(softmax(np.array([1.0, -np.inf, 1.0]), axis=0))
    close(values, [0.5, 0.0, 0.5], "two equal scores and an impossible one should give 0.5, 0 and 0.5")
    ensure(
        values[1] == 0,
        f"the score −∞ got a probability of {values[1]:.2g}: e^−∞ is 0 exactly, and nothing need be cut off or added",
    )


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
    for scores, axis in _scores_of_all_kinds():
        with np.errstate(all="ignore"):
            found = softmax(scores.copy(), axis=axis)
            alone = np.array([numbers(softmax(line.copy(), axis=0)) for line in _lines(scores, axis)])
        found = _shape(found, scores.shape, "probabilities have the shape of the scores")
        close(_lines(found, axis), alone, _alone(scores, axis), rtol=1e-3, atol=1e-4)


ONE_NUMBER = "the mean over all positions is one number"


@public_check("cross_entropy")
def the_worked_prices(cross_entropy: Any) -> None:
    """The scores [2, 1, 0] cost 0.408 if word 0 is true, and 2.408 if word 2 is."""
    logits = np.array([[2.0, 1.0, 0.0]])
    first, second = (_shape(cross_entropy(logits, ids), (), ONE_NUMBER) for ids in ([0], np.array([2])))
    ensure(first >= 0, "a price is never negative: −ln p, with a minus")
    ensure(
        abs(first - 0.66524096) > 1e-5, "0.665 is the probability of the true word: its price is −ln 0.665"
    )
    ensure(
        not _is(first, 0.58805105), "0.588 is −log2 of the probability: take the natural logarithm, np.log"
    )
    close(first, 0.40760596, "with word 0 true the price should be 2.408 − 2 = 0.408")
    close(second, 2.40760596, "with word 2 true the price should be 2.408 − 0")


@public_check("cross_entropy")
def it_is_a_mean_over_positions(cross_entropy: Any) -> None:
    """Several positions give the mean of their prices."""
    row = [2.0, 1.0, 0.0]
    value = _shape(cross_entropy(np.array([row, row]), [0, 2]), (), ONE_NUMBER)
    ensure(abs(value - 2.81521191) > 1e-5, "2.815 is the sum of the two prices: take their mean")
    ensure(
        abs(value - 0.9384) > 1e-3,
        "0.938 is the sum divided by 3: divide by the number of positions, not of words",
    )
    close(value, 1.40760596, "the mean of 0.408 and 2.408 should be 1.408")
    value = _shape(cross_entropy(np.array([row, [0.0, 3.0, 0.0]]), [0, 1]), (), ONE_NUMBER)
    ensure(
        abs(value - 1.25126493) > 1e-5,
        "each true word was looked up in every row: take one score from each row, its own true word's",
    )
    close(value, 0.25126493, "the mean of 0.408 and 0.095 should be 0.251")
    value = _shape(cross_entropy(np.array([row, row, row]), [0, 0, 2]), (), ONE_NUMBER)
    ensure(
        not _is(value, 0.40760596),
        "0.408 is the middle one of the prices 0.408, 0.408, 2.408, the median: the mean is their sum divided by 3",
    )
    ensure(
        not _is(value, 1.40760596),
        "of three prices, 0.408, 0.408 and 2.408, the last one counts half in yours: add up all, and divide once at the end",
    )
    close(value, 1.07427262, "the mean of 0.408, 0.408 and 2.408 should be 1.074")


@public_check("cross_entropy")
def a_blind_guess_pays_ln_v(cross_entropy: Any) -> None:
    """Equal scores for V words cost ln V, whatever is true, and whole scores are fine."""
    value = _shape(cross_entropy(np.zeros((4, 7), dtype=int), [0, 3, 6, 6]), (), ONE_NUMBER)
    ensure(
        not _is(value, 1.0),
        "seven words with the whole scores 0 cost 1, where ln 7 = 1.946 is right: prices are no whole numbers, whatever the scores are",
    )
    close(value, np.log(7), "seven words with equal scores should cost ln 7 = 1.946")


@public_check("cross_entropy")
def a_confident_mistake_has_a_finite_price(cross_entropy: Any) -> None:
    """Being certain of the wrong word by 1500 costs 1500, not infinity; each row is a bet of its own."""
    with np.errstate(all="ignore"):
        value = _shape(cross_entropy(np.array([[1500.0, 0.0]]), [1]), (), ONE_NUMBER)
        apart = numbers(cross_entropy(np.array([[2.0, 1.0, 0.0], [1502.0, 1501.0, 1500.0]]), [0, 0]))
    ensure(
        np.isfinite(value).all(),
        "the price is not finite: compute logsumexp(row) − score instead of the logarithm of a probability",
    )
    tens = value / np.log(10)
    ensure(
        not (3 < tens < 400 and _is(tens, np.round(tens))),
        f"the price is {value:.4g} = −ln 10^−{tens:.0f}, where 1500 is right: a small number was added to the probability; "
        "compute logsumexp(row) − score instead",
    )
    ensure(not _is(value, 1000.0), "the price is 1000, where 1500 is right: do not cut off large scores")
    close(value, 1500.0, "the price should be 1500 − 0")
    ensure(
        np.isfinite(apart).all(),
        "beside a row of large scores a row of small ones vanished: take out the largest score of each row",
    )
    close(apart, 0.40760596, "both rows have the same differences, so the same price, 0.408", rtol=1e-3)
    whole = np.array([[1500, 0, 0, 2], [0, 3, 0, 0], [-2000, 0, -1000, 1], [2, 1, 0, 2], [0, -1, 0, 2]])
    for logits, ids in ((whole, [1, 3, 2, 0, 3]), (whole[:, :1], [0] * 5), (whole[1:] + 0.5, [2, 2, 2, 2])):
        for given in (ids, np.array(ids)):
            with np.errstate(all="ignore"):
                value = _shape(cross_entropy(logits.copy(), given), (), ONE_NUMBER)
                alone = [
                    numbers(cross_entropy(logits[n : n + 1].astype(float), given[n : n + 1]))
                    for n in range(len(ids))
                ]
            close(
                value,
                np.mean(alone),
                f"{len(ids)} positions, {logits.shape[1]} words, scores small and large: the price should be the mean of what each "
                "position costs alone",
                rtol=1e-3,
                atol=1e-4,
            )


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
