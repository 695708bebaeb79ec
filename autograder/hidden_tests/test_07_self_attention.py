"""Hidden tests of lab 07: attention against loops that a reader can check, its gradient against autograd."""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import (
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_unchanged,
    follow_through,
    hidden_test,
    remembered,
)

# ------------------------------------------------------------------------------------- slow, obvious references


def _softmax_row(scores):
    """Softmax of a list in plain Python; a score of −∞ gets weight 0."""
    largest = max(scores)
    exponentials = [math.exp(score - largest) for score in scores]
    return [e / math.fsum(exponentials) for e in exponentials]


@remembered
def _smoothed(x, y, query, sigma):
    heights = []
    for place in query:
        weights = _softmax_row([-((float(place) - float(dot)) ** 2) / (2 * sigma**2) for dot in x])
        heights.append(math.fsum(w * float(height) for w, height in zip(weights, y, strict=True)))
    return np.array(heights)


def _dot_product_score(query, key):
    return float(sum(float(a) * float(b) for a, b in zip(query, key, strict=True))) / math.sqrt(len(query))


@remembered
def _attention(q, k, v, mask=None):
    return _attention_by(_dot_product_score, q, k, v, mask)


def _attention_by(score, q, k, v, mask):
    """Output and weights, one query and one key at a time, for any number of leading axes."""
    lead = q.shape[:-2]
    mask = np.broadcast_to(True if mask is None else mask, (*lead, q.shape[-2], k.shape[-2]))
    weights = np.zeros(mask.shape)
    for place in np.ndindex(*lead, q.shape[-2]):
        scores = [
            score(q[place], key) if allowed else -math.inf
            for key, allowed in zip(k[place[:-1]], mask[place], strict=True)
        ]
        weights[place] = _softmax_row(scores)
    output = np.zeros((*lead, q.shape[-2], v.shape[-1]))
    for place in np.ndindex(weights.shape):
        output[place[:-1]] += weights[place] * v[(*place[:-2], place[-1])]
    return output, weights


@remembered
def _gradients(q, k, v, d_output, mask=None):
    """Weights and gradients for q, k and v. PyTorch, whose import takes seconds, stays out of a NumPy lab."""
    mask = np.broadcast_to(True if mask is None else mask, (*q.shape[:-1], k.shape[-2]))
    scores = np.where(mask, np.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1]), -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    d_weights = np.einsum("...te,...se->...ts", d_output, v)
    d_scores = weights * (d_weights - np.einsum("...ts,...ts->...t", d_weights, weights)[..., None])
    d_scores /= math.sqrt(q.shape[-1])
    return weights, [
        np.einsum("...ts,...sd->...td", d_scores, k),
        np.einsum("...ts,...td->...sd", d_scores, q),
        np.einsum("...ts,...te->...se", weights, d_output),
    ]


def _two(result):
    """The two things an attention function returns."""
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 2,
        "two things should be returned: output, weights",
    )
    return result


#: Single precision knows a score of 1000 to four decimals.
SINGLE = {"rtol": 1e-3, "atol": 1e-3}


def _expect_attention(result, expected, **tolerance):
    output, weights = _two(result)
    # A mean may be small where the values are not, and single precision rounds those.
    tolerance.setdefault("atol", 3e-6)
    expect_close(weights, expected[1], "the weights (the second result)", **tolerance)
    expect_close(output, expected[0], "the output (the first result)", **tolerance)


def _some_mask(rng, *shape):
    """A random mask in which every query may attend to something, and something is hidden."""
    mask = rng.random(shape) < 0.5
    mask[..., 0] |= ~mask.any(axis=-1)
    return mask


# ------------------------------------------------------------------------------------------------ kernel_smooth


def _expect_heights(heights, expected, what):
    """The heights agree; a mean may be small where what it is the mean of is not, and single precision rounds that."""
    expect_close(heights, expected, what, atol=5e-6)


@hidden_test("kernel_smooth")
def test_the_case_by_hand(student):
    """The case computed by hand in the text."""
    expect_close(
        student(np.array([0.0, 1, 2]), np.array([0.0, 10, 40]), np.array([1.0]), 1.0),
        [15.48137],
        "the height",
        rtol=1e-5,
    )


@hidden_test("kernel_smooth", weight=4)
def test_two_dots_at_their_own_places(student, rng):
    """Two dots, asked at their own two places with a bell of width 1."""
    for _ in range(2):
        x, y = rng.uniform(-1, 1, 2), rng.normal(0, 5, 2)
        _expect_heights(student(x, y, x.copy(), 1.0), _smoothed(x, y, x, 1.0), "the heights at the dots")


@hidden_test("kernel_smooth", weight=2)
def test_many_dots_and_queries(student, rng):
    """Other dots, other queries and other widths; arguments are left alone."""
    for n, m, sigma in ((7, 4, 0.8), (3, 9, 2.5)):
        x, y, query = rng.normal(0, 3, n), rng.normal(0, 5, n), rng.normal(0, 3, m)
        _expect_heights(student(x, y, query, sigma), _smoothed(x, y, query, sigma), "the heights")
        expect_unchanged(student)
    x, y, query = rng.uniform(-40, 40, 5), rng.normal(size=5), np.array([150.0, -155.0])
    _expect_heights(
        student(x, y, query, 100.0),
        _smoothed(x, y, query, 100.0),
        "the heights less than two widths of the bell away",
    )


@hidden_test("kernel_smooth")
def test_a_narrow_bell_takes_the_nearest_dot_and_a_wide_one_the_mean(student, rng):
    """A very narrow bell gives the nearest dot's height, a very wide one the mean of all."""
    x, y = np.arange(6.0) * 2, rng.normal(size=6)
    query = x[[4, 0, 3, 1]] + rng.uniform(0.2, 0.5, 4)
    _expect_heights(student(x, y, query, 0.2), y[[4, 0, 3, 1]], "the heights with a narrow bell")
    _expect_heights(student(x, y, query, 1e8), np.full(4, y.mean()), "the heights with a wide bell")


@hidden_test("kernel_smooth", weight=2.5)
def test_far_from_every_dot_there_is_an_answer(student, rng):
    """Far away from every dot the answer is still a number, and the right one."""
    # The dots keep their distance, so that single precision finds the nearest one, too.
    x, y = np.arange(5.0) + rng.uniform(-0.3, 0.3, 5), rng.normal(size=5)
    # With a narrow bell even 16 is far away.
    for sigma, query in ((1.0, np.array([900.0, -1200.0])), (0.0625, np.array([20.0, -25.0]))):
        _expect_heights(
            student(x, y, query, sigma), _smoothed(x, y, query, sigma), "the heights far from the dots"
        )


@hidden_test("kernel_smooth", weight=2.5)
def test_in_a_gap_between_the_dots_there_is_an_answer(student, rng):
    """The same in a wide gap between dots that stand in no order; two that are equally near share."""
    x, y = rng.permutation(np.array([0.0, 300, 301, 700])), rng.normal(size=4)
    query = np.array([100.0, 150.0, 260.0, 640.0])
    _expect_heights(student(x, y, query, 1.0), _smoothed(x, y, query, 1.0), "the heights in a gap")


@hidden_test("kernel_smooth")
def test_single_dots_integers_and_views(student, rng):
    """One dot, one query, whole numbers, and every other entry of an array."""
    expect_close(
        student(np.array([2.0]), np.array([7.5]), np.array([1.0, 9.0]), 1.5),
        [7.5, 7.5],
        "the height with a single dot",
    )
    x, y, query = np.array([0, 3, 4, 8]), np.array([1, 5, -2, 6]), np.array([2])
    _expect_heights(student(x, y, query, 1), _smoothed(x, y, query, 1), "the height for whole numbers")
    x, y, query = rng.uniform(-1, 1, (6, 2))[:, 0], rng.normal(size=12)[::2], rng.uniform(-1, 1, 9)[::-3]
    _expect_heights(student(x, y, query, 1.0), _smoothed(x, y, query, 1.0), "the heights")


# --------------------------------------------------------------------------------- scaled_dot_product_attention

_KEYS = np.array(
    [[1.0, 0, 0, 1, 1, 0, 1, 0, 1, 0], [0.0, 1, 0, 0, 1, 0, 1, 0, 0, 1], [0.0, 0, 1, 0, 0, 1, 0, 1, 0, 1]]
)
_QUERIES = np.array([[0.0, 0, 1, 0, 0, 1, 0, 1, 0, 1], [0.0, 0, 1, 0, 0, 1, 1, 0, 0, 0]])


@hidden_test("scaled_dot_product_attention", weight=0.5)
def test_the_film_night(student):
    """The film night: 0.17, 0.23 and 0.60 for the first query, 164 minutes."""
    output, weights = _two(student(_QUERIES, _KEYS, np.array([[117.0], [121.0], [194.0]])))
    expect_close(
        weights, [[0.169070, 0.231954, 0.598976], [0.296565, 0.296565, 0.406870]], "the weights", atol=1e-6
    )
    expect_close(output, [[164.048995], [149.515258]], "the output", rtol=1e-6)


@hidden_test("scaled_dot_product_attention", weight=0.5)
def test_one_sentence_of_odd_sizes(student, rng):
    """A sentence with different numbers of queries, keys and entries; arguments are left alone."""
    q, k, v = rng.normal(size=(5, 7)), rng.normal(size=(4, 7)), rng.normal(size=(4, 3))
    _expect_attention(student(q, k, v), _attention(q, k, v))
    expect_unchanged(student)


@hidden_test("scaled_dot_product_attention", weight=3.5)
def test_words_that_are_all_alike_share_evenly(student, rng):
    """Queries and keys that are all the same: each listens to all of them alike, whatever the size."""
    # The shares have few digits, so that who rounds them loses nothing here.
    for lead, T, d_k, d_v in (((), 4, 3, 2), ((3,), 5, 2, 4), ((2, 2), 2, 4, 1)):
        q, k = (np.repeat(rng.normal(size=(*lead, 1, d_k)), T, axis=-2) for _ in range(2))
        v = rng.normal(size=(*lead, T, d_v))
        _expect_attention(student(q, k, v), _attention(q, k, v))


@hidden_test("scaled_dot_product_attention", weight=3)
def test_two_texts_in_one_row_do_not_hear_each_other(student, rng):
    """Words that are all alike, of two texts in one row: a mask lets each hear its own text only."""
    for lead, first, second in (((), 2, 4), ((3,), 5, 1)):
        T = first + second
        q, k = (np.repeat(rng.normal(size=(*lead, 1, 3)), T, axis=-2) for _ in range(2))
        v, text = rng.normal(size=(*lead, T, 2)), np.arange(T) < first
        mask = text[:, None] == text
        _expect_attention(student(q, k, v, mask), _attention(q, k, v, mask))


@hidden_test("scaled_dot_product_attention", weight=1.5)
def test_batches_and_heads(student, rng):
    """A batch, a batch with heads, and sequences of length one."""
    for lead, tq, tk, d_k, d_v in (
        ((3,), 5, 4, 1, 1),
        ((2, 3), 1, 5, 1, 1),
        ((2, 3), 4, 3, 1, 1),
        ((2,), 3, 1, 1, 1),
    ):
        q, k, v = (
            rng.normal(size=(*lead, tq, d_k)),
            rng.normal(size=(*lead, tk, d_k)),
            rng.normal(size=(*lead, tk, d_v)),
        )
        _expect_attention(student(q, k, v), _attention(q, k, v))


@hidden_test("scaled_dot_product_attention", weight=3)
def test_masks_of_every_shape(student, rng):
    """Masks for each sentence, for all sentences, with one row for all queries, and for each head."""
    q, k, v = rng.normal(size=(3, 4, 1)), rng.normal(size=(3, 5, 1)), rng.normal(size=(3, 5, 1))
    for shape in ((4, 5), (3, 4, 5), (3, 1, 5)):
        mask = _some_mask(rng, *shape)
        _expect_attention(student(q, k, v, mask), _attention(q, k, v, mask))
        expect_unchanged(student)
    q, k, v = (np.stack([part, part[::-1]]) for part in (q, k, v))  # three heads
    mask = _some_mask(rng, 3, 1, 5)
    _expect_attention(student(q, k, v, mask), _attention(q, k, v, mask))


@hidden_test("scaled_dot_product_attention", weight=0.5)
def test_long_vectors_in_batches_with_masks(student, rng):
    """All of it at once: vectors of several entries, in a sentence, a batch and a batch with heads, with masks that fit them."""
    for lead, shapes in (
        ((), ((4, 5), (1, 5))),
        ((3,), ((4, 5), (3, 1, 5), (3, 4, 5))),
        ((2, 3), ((4, 5), (3, 1, 5), (2, 1, 1, 5), (2, 1, 4, 5), (2, 3, 4, 5))),
    ):
        q, k, v = (rng.uniform(-1.5, 1.5, (*lead, *size)) for size in ((4, 6), (5, 6), (5, 2)))
        _expect_attention(student(q, k, v), _attention(q, k, v))
        for shape in shapes:
            mask = _some_mask(rng, *shape)
            _expect_attention(student(q, k, v, mask), _attention(q, k, v, mask))


@hidden_test("scaled_dot_product_attention", weight=1.5)
def test_a_masked_key_is_silent_however_loud_it_is(student, rng):
    """What a masked position holds makes no difference at all, even when its score is enormous, or all others are far below 0."""
    q, k, v = rng.uniform(1, 2, size=(3, 1)), rng.normal(size=(5, 1)), rng.normal(size=(5, 1))
    mask = np.array([True, True, False, True, False])
    loud_k, loud_v = k.copy(), v.copy()
    loud_k[[2, 4]] = 1000 * q[1]
    loud_v[[2, 4]] = 1e6
    _expect_attention(student(q, loud_k, loud_v, np.tile(mask, (3, 1))), _attention(q, k, v, mask))
    low = k - 900  # every score that counts is below -800
    _expect_attention(student(q, low, v, np.tile(mask, (3, 1))), _attention(q, low, v, mask), **SINGLE)
    lowest = np.full((5, 1), -3e6)  # all alike, so that single precision knows the shares
    q = np.array([[1.0], [2.0]])
    _expect_attention(student(q, lowest, v, np.tile(mask, (2, 1))), _attention(q, lowest, v, mask))


@hidden_test("scaled_dot_product_attention", weight=2)
def test_large_scores_do_not_overflow(student, rng):
    """Scores in the thousands still give weights, and a shift of all scores changes nothing."""
    q, k, v = rng.normal(size=(4, 1)), rng.normal(size=(6, 1)), rng.normal(size=(6, 1))
    shifted = rng.uniform(1, 2, size=(4, 1))
    _expect_attention(student(shifted, k + 900, v), _attention(shifted, k + 900, v), **SINGLE)
    _expect_attention(student(3000 * q, k, v), _attention(3000 * q, k, v), **SINGLE)


@hidden_test("scaled_dot_product_attention")
def test_the_orders_are_found_when_it_is_cold(student, rng):
    """Order 104 gives e1 and order 106 gives g1 as the temperature goes to 0; warmer, a blend."""
    angle = np.outer(np.arange(100, 111), [1, 0.5, 0.25, 0.125])
    keys = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    for tau in (1.0, 0.1):
        _expect_attention(
            student(keys[[4, 6]] / tau, keys, np.eye(11)), _attention(keys[[4, 6]] / tau, keys, np.eye(11))
        )
    _, weights = _two(student(keys[[4, 6]] / 1e-3, keys, np.eye(11)))
    expect_close(weights, np.eye(11)[[4, 6]], "the weights when it is cold")


@hidden_test("scaled_dot_product_attention", weight=0.5)
def test_the_spread_of_the_scores_does_not_grow_with_d(student, rng):
    """The spread of the log weights, that is of the scores, stays near 1 for every size."""
    for d_k in (4, 900):
        q, k = rng.normal(size=(12, d_k)), rng.normal(size=(20, d_k))
        weights = as_array(_two(student(q, k, np.ones((20, 1))))[1], "the weights")
        expect(
            weights.shape == (12, 20),
            "the weights should have one row for each query and one column for each key",
        )
        expect(
            bool((weights > 0).all()),
            "for long vectors the softmax gives some keys no weight at all: are the scores scaled?",
        )
        logs = np.log(weights)
        spread = float((logs - logs.mean(axis=1, keepdims=True)).var())
        scores = q @ k.T / math.sqrt(d_k)
        expect_close(
            spread,
            (scores - scores.mean(axis=1, keepdims=True)).var(),
            "the variance of the scores",
            rtol=1e-6,
        )


@hidden_test("scaled_dot_product_attention", weight=0.5)
def test_shuffling_shuffles(student, rng):
    """Shuffled words give the same vectors, shuffled; the sentence is a view with its axes swapped."""
    X = rng.normal(size=(4, 6)).T[:, ::2]  # (6, 2), not contiguous
    order = rng.permutation(6)
    expected = _attention(X, X, X)
    _expect_attention(student(X, X, X), expected)
    output, _ = _two(student(X[order], X[order], X[order]))
    expect_close(output, expected[0][order], "the output for the shuffled sentence")


# -------------------------------------------------------------------------------------------------- causal_mask


def _expect_booleans(mask, what):
    expect(as_array(mask, what).dtype == bool, f"{what} should hold booleans (True and False)")


def _triangle(T, diagonal=0):
    return np.array([[column <= row + diagonal for column in range(T)] for row in range(T)])


def _square(mask, T):
    """The mask as an array of T rows and T columns."""
    array = as_array(mask, "the mask")
    expect(array.shape == (T, T), "the mask should have a row and a column for each position")
    return array


@hidden_test("causal_mask", weight=2)
def test_seven_tokens_hide_21_scores(student):
    """The German sentence of seven tokens: 21 of 49 scores are hidden, and the right ones."""
    mask = student(7)
    _expect_booleans(mask, "the mask")
    expect_equal(mask, [[j <= i for j in range(7)] for i in range(7)], "the mask for seven tokens")
    expect(int(49 - np.asarray(mask).sum()) == 21, "21 of the 49 scores should be hidden")


@hidden_test("causal_mask", weight=2)
def test_the_past_is_heard_and_the_future_is_not(student):
    """Each position hears all before it, and none of those that come later than the next."""
    for T in (2, 5, 9):
        mask = _square(student(T), T)
        before, later = _triangle(T, -1), ~_triangle(T, 1)
        expect_equal(mask[before], np.ones(before.sum()), "what may be heard of the past")
        expect_equal(mask[later], np.zeros(later.sum()), "what may be heard of the future")


_WRITTEN_INTO = """
import numpy as np

causal_mask = student_namespace[question]
mask = np.asarray(causal_mask(5))
before, writes = mask.copy(), mask.flags.writeable
if writes:
    mask[...] = False
again = np.array(causal_mask(5))
if writes:
    mask[...] = before
"""


@hidden_test("causal_mask")
def test_of_two_positions_exactly_one_hears_the_other(student):
    """Each position hears itself, and of any two one hears the other, all in the same direction; each call makes a new mask."""
    for T in (3, 6, 12):
        mask = _square(student(T), T)
        expect_equal(_turned(mask), _triangle(T), "the mask, in whichever direction,")
    mask = _square(student.scene(_WRITTEN_INTO, question=student.name).get("again"), 5)
    expect_equal(_turned(mask), _triangle(5), "the mask after an earlier one was written into")


def _turned(mask):
    """The mask, transposed where the first position hears the second."""
    return mask.T if mask[0, 1] else mask


@hidden_test("causal_mask")
def test_long_sentences(student):
    """Long sentences."""
    for T in (12, 130):
        expect_equal(student(T), _triangle(T), "the mask for a long sentence")


@hidden_test("causal_mask", weight=0.5)
def test_a_sentence_of_length_one(student):
    """A sentence of a single token."""
    expect_equal(student(1), [[True]], "the mask for a single token")


# ------------------------------------------------------------------------------------------------- padding_mask

# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_with_right_triangle = follow_through(
    """
import numpy as np

def causal_mask(T):
    position = np.arange(T)
    return position[:, None] >= position
""",
    "causal_mask",
)


def _real(lengths, T):
    return [[[position < length for position in range(T)]] for length in lengths]


def _rows(mask, B, T):
    """The mask's rows, one for each sentence, whether or not there is an axis for the queries."""
    array = as_array(mask, "the mask")
    expect(
        array.shape in ((B, T), (B, 1, T)),
        "the mask should have a row as wide as asked for, for each sentence",
    )
    return array.reshape(B, T)


@hidden_test("padding_mask")
@_with_right_triangle
def test_three_sentences_of_the_lecture(student):
    """Let there be light, Es werde Licht, Fiat lux."""
    mask = student([4, 3, 2], 4)
    _expect_booleans(mask, "the mask")
    expect_equal(mask, _real([4, 3, 2], 4), "the mask for the three sentences")


@hidden_test("padding_mask", weight=2)
@_with_right_triangle
def test_words_are_heard_and_what_lies_behind_is_not(student, rng):
    """All words are True; what is more than one place behind them is False."""
    lengths = rng.permutation([0, 2, 2, 5])
    rows = _rows(student(lengths, 7), 4, 7)
    for row, length in zip(rows, lengths, strict=True):
        expect_equal(row[:length], np.ones(length), "what may be heard of the words")
        expect_equal(row[length + 1 :], np.zeros(6 - length), "what may be heard of the padding")


@hidden_test("padding_mask", weight=2)
@_with_right_triangle
def test_words_and_padding_are_told_apart(student, rng):
    """In each sentence the words have one value and the padding has the other, the same two in all sentences."""
    lengths = sorted(
        rng.permutation(np.arange(1, 7))[:4].tolist(), reverse=True
    )  # none is wider than the longest
    rows = _rows(student(lengths, lengths[0]), 4, lengths[0])
    expect_equal(
        rows == rows[0, 0], np.array(_real(lengths, lengths[0]))[:, 0], "what is like the first word"
    )


@hidden_test("padding_mask")
@_with_right_triangle
def test_other_batches(student, rng):
    """Other batches: arrays of lengths, an empty and a full sentence, padding everywhere."""
    for lengths, T in ((rng.integers(0, 10, 6), 9), ([0, 5, 1], 5), ([2, 2], 7)):
        mask = student(lengths, T)
        _expect_booleans(mask, "the mask")
        expect_equal(mask, _real(lengths, T), "the mask for another batch")
        expect_unchanged(student)


@hidden_test("padding_mask")
@_with_right_triangle
def test_a_batch_of_one_sentence(student):
    """A batch of one sentence, also of one word."""
    for lengths, T in ((np.array([3]), 8), ([1], 1)):
        expect_equal(student(lengths, T), _real(lengths, T), "the mask for a single sentence")


# ------------------------------------------------------------------------------------------- additive_attention

_with_right_attention = follow_through(
    """
import numpy as np

def causal_mask(T):
    position = np.arange(T)
    return position[:, None] >= position

def padding_mask(lengths, T):
    return np.array([[[t < n for t in range(T)]] for n in lengths], dtype=bool)

def scaled_dot_product_attention(q, k, v, mask=None, scores=None):
    if q is not None:  # else somebody's own function takes scores as a fifth argument, ready-made
        scores = np.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    bells = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = bells / bells.sum(axis=-1, keepdims=True)
    return np.einsum("...ij,...jd->...id", weights, v), weights
""",
    "scaled_dot_product_attention",
    "causal_mask",
    "padding_mask",
)


@remembered
def _additive(q, k, v, W_q, W_k, w, mask=None):
    def score(query, key):
        hidden = [math.tanh(float(query @ W_q[:, a] + key @ W_k[:, a])) for a in range(len(w))]
        return math.fsum(h * float(weight) for h, weight in zip(hidden, w, strict=True))

    return _attention_by(score, q, k, v, mask)


@hidden_test("additive_attention", weight=0.5)
@_with_right_attention
def test_the_additive_case_by_hand(student):
    """The case computed by hand in the text: 0.179 and 0.821."""
    one = np.ones((1, 1))
    output, weights = _two(
        student(
            np.zeros((1, 1)), np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]), one, one, np.array([2.0])
        )
    )
    expect_close(weights, [[0.178993, 0.821007]], "the weights", atol=1e-6)
    expect_close(output, [[0.821007]], "the output", atol=1e-6)


@hidden_test("additive_attention")
@_with_right_attention
def test_queries_and_keys_of_different_sizes(student, rng):
    """Queries, keys, values and hidden layer all of different sizes; arguments are left alone."""
    q, k, v = rng.normal(size=(4, 3)), rng.normal(size=(6, 5)), rng.normal(size=(6, 2))
    W_q, W_k, w = rng.normal(size=(3, 7)), rng.normal(size=(5, 7)), rng.normal(size=7)
    _expect_attention(student(q, k, v, W_q, W_k, w), _additive(q, k, v, W_q, W_k, w))
    expect_unchanged(student)


@hidden_test("additive_attention", weight=2)
@_with_right_attention
def test_additive_words_that_are_all_alike_share_evenly(student, rng):
    """Queries and keys that are all the same: each listens to all of them alike."""
    for lead, T in (((), 4), ((3,), 3)):
        q, k = (np.repeat(rng.normal(size=(*lead, 1, size)), T, axis=-2) for size in (4, 3))
        v, W_q, W_k, w = (
            rng.normal(size=(*lead, T, 2)),
            rng.normal(size=(4, 5)),
            rng.normal(size=(3, 5)),
            rng.normal(size=5),
        )
        _expect_attention(student(q, k, v, W_q, W_k, w), _additive(q, k, v, W_q, W_k, w))


@hidden_test("additive_attention")
@_with_right_attention
def test_additive_words_of_two_texts_do_not_hear_each_other(student, rng):
    """Words that are all alike, of two texts in one row: a mask lets each hear its own text only."""
    q, k = (np.repeat(rng.normal(size=(2, 1, size)), 5, axis=-2) for size in (4, 3))
    v, W_q, W_k, w = (
        rng.normal(size=(2, 5, 2)),
        rng.normal(size=(4, 6)),
        rng.normal(size=(3, 6)),
        rng.normal(size=6),
    )
    text = np.arange(5) < 2
    mask = text[:, None] == text
    _expect_attention(student(q, k, v, W_q, W_k, w, mask), _additive(q, k, v, W_q, W_k, w, mask))


@hidden_test("additive_attention")
@_with_right_attention
def test_additive_attention_in_batches(student, rng):
    """Batches, heads and sequences of length one."""
    for lead, tq, tk in (((3,), 2, 4), ((2, 3), 1, 5), ((2,), 3, 1)):
        q, k, v = (
            rng.normal(size=(*lead, tq, 4)),
            rng.normal(size=(*lead, tk, 3)),
            rng.normal(size=(*lead, tk, 2)),
        )
        W_q, W_k, w = rng.normal(size=(4, 5)), rng.normal(size=(3, 5)), rng.normal(size=5)
        _expect_attention(student(q, k, v, W_q, W_k, w), _additive(q, k, v, W_q, W_k, w))


@hidden_test("additive_attention", weight=2)
@_with_right_attention
def test_a_hidden_layer_of_one_with_masks(student, rng):
    """Queries of zeros and a hidden layer of size 1, with masks of every shape."""
    q, k, v = np.zeros((3, 2, 4)), rng.normal(size=(3, 5, 3)), rng.normal(size=(3, 5, 2))
    # The weights are small, and with them all scores: none of them is near −∞.
    W_q, W_k, w = rng.normal(size=(4, 1)), rng.normal(size=(3, 1)), rng.uniform(0.1, 0.2, 1)
    for shape in ((2, 5), (3, 2, 5), (3, 1, 5)):
        mask = _some_mask(rng, *shape)
        _expect_attention(student(q, k, v, W_q, W_k, w, mask), _additive(q, k, v, W_q, W_k, w, mask))


@hidden_test("additive_attention", weight=0.5)
@_with_right_attention
def test_additive_attention_with_masks(student, rng):
    """A sentence, a batch and a batch with heads, with masks for each sentence, for all, and with one row for all queries."""
    W_q, W_k, w = rng.normal(size=(4, 6)), rng.normal(size=(3, 6)), rng.normal(size=6)
    for lead, shapes in (
        ((), ((2, 5), (1, 5))),
        ((3,), ((2, 5), (3, 2, 5), (3, 1, 5))),
        ((2, 3), ((2, 5), (3, 1, 5), (2, 1, 1, 5), (2, 3, 2, 5))),
    ):
        q, k, v = (rng.normal(size=(*lead, *size)) for size in ((2, 4), (5, 3), (5, 2)))
        for shape in shapes:
            mask = _some_mask(rng, *shape)
            _expect_attention(student(q, k, v, W_q, W_k, w, mask), _additive(q, k, v, W_q, W_k, w, mask))


@hidden_test("additive_attention")
@_with_right_attention
def test_additive_attention_with_large_numbers(student, rng):
    """Large scores do not overflow, and very long queries and keys run into the ceiling of the tanh."""
    q, k, v = 300 * rng.normal(size=(3, 4)), 300 * rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    W_q, W_k, w = rng.normal(size=(4, 3)), rng.normal(size=(2, 3)), np.array([1.5, -900.0, 0.7])
    _expect_attention(student(q, k, v, W_q, W_k, w), _additive(q, k, v, W_q, W_k, w), **SINGLE)


# ------------------------------------------------------------------------------------------- attention_backward

_NAMES = ("d_q", "d_k", "d_v")


def _expect_gradients(student, q, k, v, d_output, mask=None, *, names=_NAMES, **tolerance):
    """The gradients of ``names`` agree, and the others are there."""
    # Also where all gradients are small: what they are differences of is not, and single precision rounds that.
    tolerance.setdefault("atol", 3e-6)
    weights, expected = _gradients(q, k, v, d_output, mask)
    result = student(q, k, v, weights, d_output)
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 3,
        "three things should be returned: d_q, d_k, d_v",
    )
    wrong = []
    for name, actual, gradient in zip(_NAMES, result, expected, strict=True):
        if name not in names:
            continue
        try:
            expect_close(actual, gradient, name, **tolerance)
        except AssertionError as failure:
            wrong.append(str(failure))
    expect(not wrong, "; ".join(wrong))


def _drawn(rng, *shapes):
    """Arrays of entries that are not large, so that no weight is very small."""
    return [rng.uniform(-1.5, 1.5, shape) for shape in shapes]


@hidden_test("attention_backward", weight=3)
@_with_right_attention
def test_the_gradient_of_the_values(student, rng):
    """d_v of one sentence with different numbers of queries, keys and entries, and of a batch."""
    _expect_gradients(student, *_drawn(rng, (5, 3), (4, 3), (4, 6), (5, 6)), names=("d_v",))
    _expect_gradients(student, *_drawn(rng, (2, 5, 3), (2, 4, 3), (2, 4, 1), (2, 5, 1)), names=("d_v",))


@hidden_test("attention_backward", weight=2)
@_with_right_attention
def test_the_gradient_of_the_queries(student, rng):
    """d_q of one sentence and of a batch; arguments are left alone."""
    _expect_gradients(student, *_drawn(rng, (5, 3), (4, 3), (4, 6), (5, 6)), names=("d_q",))
    expect_unchanged(student)
    _expect_gradients(student, *_drawn(rng, (2, 5, 3), (2, 4, 3), (2, 4, 1), (2, 5, 1)), names=("d_q",))


@hidden_test("attention_backward", weight=2)
@_with_right_attention
def test_the_gradient_of_the_keys(student, rng):
    """d_k of one sentence and of a batch."""
    _expect_gradients(student, *_drawn(rng, (5, 3), (4, 3), (4, 6), (5, 6)), names=("d_k",))
    _expect_gradients(student, *_drawn(rng, (2, 5, 3), (2, 4, 3), (2, 4, 1), (2, 5, 1)), names=("d_k",))


@hidden_test("attention_backward", weight=2.5)
@_with_right_attention
def test_gradients_where_the_values_balance_out(student, rng):
    """The values of all keys balance out, so that the output is 0: queries and keys still have gradients."""
    one, k = _drawn(rng, (1, 1), (5, 1))
    q = np.repeat(one, 4, axis=0)
    v, d_output = _drawn(rng, (5, 3), (4, 3))
    d_output -= d_output.mean(axis=0)  # so that nothing is left of a sum over the queries either
    weights, _ = _gradients(q, k, v, d_output)
    _expect_gradients(student, q, k, v - weights[0] @ v, d_output, atol=1e-5)  # d_k is 0


@hidden_test("attention_backward", weight=0.5)
@_with_right_attention
def test_gradient_of_the_values_alone(student, rng):
    """The gradient of the values, in a case where nothing else has one."""
    q, k, v, d_output = rng.normal(size=(4, 3)), np.zeros((5, 3)), np.ones((5, 2)), rng.normal(size=(4, 2))
    _, expected = _gradients(q, k, v, d_output)
    weights = np.full((4, 5), 0.2)
    result = student(q, k, v, weights, d_output)
    expect(
        isinstance(result, (tuple, list)) and len(result) == 3,
        "three things should be returned: d_q, d_k, d_v",
    )
    expect_close(result[2], expected[2], "d_v")
    expect_close(result[0], np.zeros((4, 3)), "d_q, when all values are equal,", atol=1e-5)
    expect_close(result[1], np.zeros((5, 3)), "d_k, when all values are equal,", atol=1e-5)


@hidden_test("attention_backward")
@_with_right_attention
def test_gradients_in_batches(student, rng):
    """Batches, heads, sequences of length one, and a mask for all sentences; arguments are left alone."""
    for lead, tq, tk, d_k, d_v in (
        ((3,), 2, 5, 4, 6),
        ((2, 3), 4, 3, 5, 2),
        ((2,), 1, 4, 3, 1),
        ((2,), 3, 1, 2, 2),
    ):
        _expect_gradients(
            student, *_drawn(rng, (*lead, tq, d_k), (*lead, tk, d_k), (*lead, tk, d_v), (*lead, tq, d_v))
        )
        expect_unchanged(student)
    # As many queries as keys; each hears itself and what came before.
    for axes in ((), (2,), (2, 3)):
        q, k, v, d_output = (_drawn(rng, (*axes, 4, 3))[0] for _ in range(4))
        _expect_gradients(student, q, k, v, d_output, np.tri(4, dtype=bool))


@hidden_test("attention_backward", weight=2)
@_with_right_attention
def test_a_masked_key_gets_no_gradient(student, rng):
    """With a mask, gradients flow only to what was heard."""
    mask = np.tril(np.ones((6, 6), dtype=bool)) & (np.arange(6) != 4)
    mask[4, 4] = False
    q, k, v, d_output = _drawn(rng, (6, 1), (6, 1), (6, 2), (6, 2))
    _expect_gradients(student, q, k, v, d_output, mask)


@hidden_test("attention_backward")
@_with_right_attention
def test_gradients_of_views_and_sharp_weights(student, rng):
    """Arrays with swapped axes, weights that are nearly all on one key, and whole numbers."""
    q, k, v = rng.normal(size=(3, 5)).T, rng.normal(size=(8, 3))[::2], rng.normal(size=(4, 4))[:, ::2]
    _expect_gradients(student, 12 * q, k, v, rng.normal(size=(5, 2)), atol=1e-4)  # as single precision has it
    q, k, v = (rng.integers(-3, 4, size) for size in ((3, 2), (4, 2), (4, 5)))
    _expect_gradients(student, q, k, v, rng.integers(-3, 4, (3, 5)), atol=3e-5)  # sharp weights here, too
