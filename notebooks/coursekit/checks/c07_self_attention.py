"""Public checks of lab 07: worked numbers of the text, and hints that say which slip makes what came out."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import Hint, close, ensure, equal, numbers, public_check
from coursekit.checks.break_it import impostor
from coursekit.checks.forbidden_calls import AUTOMATIC_GRADIENTS

_READY_MADE = ("torch.nn.functional.scaled_dot_product_attention", "torch.nn.MultiheadAttention")
FORBIDDEN = {
    "scaled_dot_product_attention": _READY_MADE,
    "attention_backward": AUTOMATIC_GRADIENTS,
}

_KEYS = np.array(
    [
        [1.0, 0, 0, 1, 1, 0, 1, 0, 1, 0],
        [0.0, 1, 0, 0, 1, 0, 1, 0, 0, 1],
        [0.0, 0, 1, 0, 0, 1, 0, 1, 0, 1],
    ]
)
_VALUES = np.array([[117.0], [121.0], [194.0]])
_QUERIES = np.array([[0.0, 0, 1, 0, 0, 1, 0, 1, 0, 1], [0.0, 0, 1, 0, 0, 1, 1, 0, 0, 0]])
_SIZES_DIFFER = [[0.65490, 0.07929, 0.26581], [0.45605, 0.16155, 0.38240]]
_FILM_WEIGHTS = [[0.16907, 0.23195, 0.59898], [0.29657, 0.29657, 0.40687]]


# ------------------------------------------------------------------------------------------- kernel_smooth


def _first_height(heights: Any) -> float:
    """The height at the first query, or a hint."""
    ensure(heights is not None, "your function returns None: does it end with a return?")
    array = numbers(heights)
    return float(array.ravel()[0]) if array.size else np.nan


@public_check("kernel_smooth")
def the_case_by_hand(kernel_smooth: Any) -> None:
    """Three dots, one query: 15.48, as computed by hand."""
    height = kernel_smooth(np.array([0.0, 1, 2]), np.array([0.0, 10, 40]), np.array([1.0]), 1.0)
    got = _first_height(height)
    ensure(
        abs(got - 34.261) > 0.01,
        "you got 34.26: the weighted sum is there, but not divided by the sum of the weights",
    )
    ensure(
        abs(got - 14.239) > 0.01,
        "you got 14.24, as with the exponent −d² (here σ is 1): is the 2 missing? The exponent is −d²/(2σ²)",
    )
    ensure(
        abs(got - 50) > 0.01,
        "you got 50, the sum of the heights: the weights of one query should sum to 1, over the dots and not over the queries",
    )
    ensure(
        abs(got - 17.674) > 0.01,
        "you got 17.67: far dots count more than near ones; is there a minus sign in the exponent?",
    )
    close(height, [15.4814], f"the height should be 15.48, but yours is {got:.4g}", rtol=1e-4)


@public_check("kernel_smooth")
def twice_as_far(kernel_smooth: Any) -> None:
    """With σ = 2, a dot at distance 1 and one at distance 2 get the weights 0.59 and 0.41."""
    height = kernel_smooth(np.array([0.0, 3]), np.array([0.0, 1]), np.array([1.0]), 2.0)
    got = _first_height(height)
    ensure(abs(got - 0.3208) > 1e-3, f"the far dot gets {got:.3f}: σ must be squared, too")
    ensure(abs(got - 0.4688) > 1e-3, f"the far dot gets {got:.3f}: the distance must be squared")
    ensure(abs(got - 0.1824) > 1e-3, f"the far dot gets {got:.3f}, as with σ = 1: is σ in your formula?")
    close(
        height, [0.40733], f"the far dot should get the weight 0.407, but its share is {got:.3f}", rtol=1e-4
    )


@public_check("kernel_smooth")
def one_height_for_each_query(kernel_smooth: Any) -> None:
    """Five queries give five heights, and a narrow bell gives back the dots themselves."""
    x, y = np.array([0.0, 1, 2]), np.array([0.0, 10, 40])
    heights = kernel_smooth(x, y, np.array([2.0, 1, 0, 1, 2]), 0.05)
    close(
        heights,
        [40, 10, 0, 10, 40],
        "with a very narrow bell each query at a dot should get that dot's height",
    )


@public_check("kernel_smooth")
def whole_numbers_and_dots_far_off(kernel_smooth: Any) -> None:
    """Places may be whole numbers, and no dot is too far off to count."""
    x, y = np.array([0, 1]), np.array([5, 7])
    whole = numbers(kernel_smooth(x, y, np.array([0, 1]), 1))
    fractions = numbers(kernel_smooth(1.0 * x, 1.0 * y, np.array([0.0, 1]), 1.0))
    ensure(
        whole.shape == fractions.shape and np.allclose(whole, fractions),
        "where all places are whole numbers the results are other ones: are they put into an array of whole numbers, which cuts them "
        "(np.zeros_like takes over the type)?",
    )
    close(whole, [5.755081, 6.244919], "queries at both dots, with σ = 1, should get 5.755 and 6.245")
    height = kernel_smooth(1.0 * x, 1.0 * y, np.array([4.5]), 1.0)
    ensure(
        abs(_first_height(height) - 7) > 1e-3,
        "a dot more than 4σ away gets no weight in your function, but the other one is far off, too: cut nothing off",
    )
    close(height, [6.964028], "a query at 4.5 should get 6.964 from the dots at 0 and 1, with σ = 1")


@public_check("kernel_smooth")
def a_wide_bell_gives_the_mean(kernel_smooth: Any) -> None:
    """With a very wide bell every dot counts the same."""
    height = kernel_smooth(np.array([0.0, 1, 2, 3]), np.array([4.0, 0, 0, 8]), np.array([1.5, 7.0]), 1e5)
    close(height, [3, 3], "with σ = 100000 all weights are equal, so every height should be the mean of y: 3")


@public_check("kernel_smooth")
def far_away_there_is_still_an_answer(kernel_smooth: Any) -> None:
    """Far away from all the dots the nearest one answers."""
    height = kernel_smooth(np.array([0.0, 1]), np.array([5.0, 7]), np.array([500.0, -500.0]), 1.0)
    ensure(
        np.isfinite(numbers(height)).all(),
        "far from the dots you get 0/0: use softmax, which is safe there",
    )
    close(
        height,
        [7, 5],
        "a query at 500 should get the height of the dot at 1, the nearest: is anything added to the sum of weights?",
    )
    height = kernel_smooth(np.array([0.0, 1]), np.array([5.0, 7]), np.array([10.0, -9.0]), 0.1)
    ensure(
        np.isfinite(numbers(height)).all(),
        "with σ = 0.1 a query at 10 is far from dots at 0 and 1, and you get 0/0: how far is too far for the exponential depends on σ. "
        "softmax is safe there",
    )
    close(
        height,
        [7, 5],
        "with σ = 0.1 the queries 10 and -9 should get the heights of the dots at 1 and 0, the nearest",
    )
    height = kernel_smooth(np.array([0.0, 40]), np.array([5.0, 7]), np.array([140.0]), 100.0)
    close(
        height,
        [6.235496],
        "with σ = 100 a query at 140 is not far from dots at 0 and 40: it should get 6.235, to which both contribute",
    )


@public_check("kernel_smooth")
def in_a_gap_there_is_still_an_answer(kernel_smooth: Any) -> None:
    """So it is in a wide gap between dots, which may stand in any order."""
    height = kernel_smooth(np.array([300.0, 0, 700]), np.array([5.0, 7, 9]), np.array([100.0, 260, 640]), 1.0)
    ensure(
        np.isfinite(numbers(height)).all(),
        "in a gap between the dots you get 0/0: use softmax, which is safe there",
    )
    close(
        height,
        [7, 5, 9],
        "with dots at 300, 0 and 700 the queries 100, 260 and 640 should get the heights of the dots at 0, 300 and 700: "
        "the nearest answers, wherever it stands in the list",
    )
    height = kernel_smooth(np.array([300.0, 0, 700]), np.array([5.0, 7, 9]), np.array([150.0]), 1.0)
    close(
        height, [6], "the dots at 300 and 0 are equally near to a query at 150, so each should count half: 6"
    )


# ---------------------------------------------------------------------------- scaled_dot_product_attention


def _pair(result: Any) -> tuple[np.ndarray, np.ndarray]:
    """Output and weights as arrays, or a hint."""
    ensure(result is not None, "your function returns None: does it end with a return?")
    ensure(
        isinstance(result, (tuple, list)) and len(result) == 2,
        "return two things, the output and the weights: return output, weights",
    )
    output, weights = (numbers(part) for part in result)
    return output, weights


def _in_heads(answer: Any, batch: tuple[Any, ...], rest: tuple[Any, ...], alone: tuple[Any, ...]) -> None:
    """A hint when arrays with two leading axes do not give what they give with one."""
    hint = (
        "it works with one leading axis (a batch), but not with two (a batch and heads): count the axes from the end, "
        "and swap the last two only, as np.swapaxes(x, -1, -2) does"
    )
    try:
        result = answer(*(part[:, None] for part in batch), *rest)
        arrays = [numbers(part) for part in result]
    except Hint:
        raise
    except Exception:
        raise Hint(hint) from None
    for array, one in zip(arrays, alone, strict=True):
        ensure(_alike(array, one[:, None]), hint)


def _alike(one: np.ndarray, other: Any) -> bool:
    """Whether two arrays have one shape and nearly the same values."""
    return one.shape == np.shape(other) and np.allclose(one, other, atol=1e-4)


def _over_the_keys(weights: np.ndarray, why: str = "") -> None:
    """A hint when the rows of the weights do not sum to one."""
    rows, columns = weights.sum(axis=-1), weights.sum(axis=-2)
    if np.allclose(rows, 1):
        return
    ensure(
        not np.allclose(columns, 1),
        "the columns of your weights sum to 1, not the rows: the softmax must run over the keys, the last axis",
    )
    first = int(np.argmax(np.abs(rows.ravel() - 1)))
    total = rows.ravel()[first]
    if abs(total - 1) < 0.005 and not why:
        why = ". Are the weights rounded, or is something added to a sum?"
    raise Hint(f"row {first} of your weights sums to {total:.6g}: each query hands out exactly 1{why}")


def _with_scores_times(weights: Any, factor: float) -> np.ndarray:
    """The weights that a softmax makes of scores ``factor`` times as large."""
    powers = np.asarray(weights) ** factor
    sharper: np.ndarray = powers / powers.sum(axis=-1, keepdims=True)
    return sharper


@public_check("scaled_dot_product_attention")
def the_film_night(scaled_dot_product_attention: Any) -> None:
    """The film night: 0.17, 0.23 and 0.60 for the first query, and 164 minutes."""
    output, weights = _pair(scaled_dot_product_attention(_QUERIES, _KEYS, _VALUES))
    ensure(
        (output.shape, weights.shape) != ((2, 3), (2, 1)),
        "the output comes first and the weights second: return output, weights",
    )
    ensure(
        weights.shape == (2, 3),
        f"two queries and three keys make weights of shape (2, 3), not {weights.shape}",
    )
    _over_the_keys(weights)
    _, wide = _pair(scaled_dot_product_attention(_QUERIES, _KEYS, np.hstack([_VALUES, _VALUES])))
    ensure(
        np.allclose(wide, weights),
        "your weights change with the size of the values: divide by √d_k, the root of the size of the keys, not of d_v",
    )
    ensure(
        not np.allclose(weights[0], [0.01715, 0.04661, 0.93624], atol=1e-4),
        "these are the weights of the plain dot products: divide them by √d_k before the softmax",
    )
    ensure(
        not np.allclose(weights[0], [0.27801, 0.30725, 0.41474], atol=1e-4),
        "your scores are too small: divide by the square root of d_k, not by d_k",
    )
    close(weights, _FILM_WEIGHTS, "the first query should give the weights 0.169, 0.232 and 0.599", atol=1e-4)
    close(
        output,
        [[164.049], [149.515]],
        "the weights are right; the output is weights times values, a matrix product",
        atol=1e-2,
    )


@public_check("scaled_dot_product_attention")
def a_mask_silences_before_the_softmax(scaled_dot_product_attention: Any) -> None:
    """A masked key has weight 0, and the others share what is left."""
    mask = np.array([[True, True, False], [True, False, True]])
    _, weights = _pair(scaled_dot_product_attention(_QUERIES, _KEYS, _VALUES, mask))
    ensure(weights.shape == (2, 3), f"the weights should have shape (2, 3), not {weights.shape}")
    ensure(
        not np.allclose(weights, [[0, 0, 1], [0, 1, 0]], atol=1e-6),
        "the wrong keys are silent: True means “may attend”, so fill where the mask is False",
    )
    blocked = weights[~mask]
    ensure(
        np.allclose(blocked, 0, atol=1e-6),
        f"a masked key still has weight {blocked.max():.2g}: its score must be −∞ (0 is not enough)",
    )
    _over_the_keys(weights, ", so mask the scores before the softmax, not the weights after it")
    _, heard = _pair(scaled_dot_product_attention(_QUERIES, _KEYS, _VALUES))
    shares = heard * mask / (heard * mask).sum(axis=-1, keepdims=True)
    ensure(
        not np.allclose(weights, _with_scores_times(shares, np.sqrt(10)), atol=1e-4),
        "with a mask these are the weights of the plain dot products: divide them by √d_k, whether or not there is a mask",
    )
    close(weights, shares, "the keys that may be heard should keep their proportions", atol=1e-4)


@public_check("scaled_dot_product_attention")
def a_batch_is_many_sentences(scaled_dot_product_attention: Any) -> None:
    """A batch gives what its sentences give one by one, also with one mask row for all queries."""
    q, k, v = np.stack([_QUERIES, _QUERIES[::-1]]), np.stack([_KEYS, _KEYS]), np.stack([_VALUES, _VALUES])
    output, weights = _pair(scaled_dot_product_attention(q, k, v))
    alone = _pair(scaled_dot_product_attention(_QUERIES, _KEYS, _VALUES))
    for name, size, what in (("q", 2, "queries"), ("k", 3, "keys")):
        as_if = _with_scores_times(alone[1], np.sqrt(10 / size))
        ensure(
            not _alike(weights, [as_if, as_if[::-1]]),
            f"in a batch your scores are divided by √{size}, the root of the number of {what}: that is {name}.shape[1] there. Count the "
            f"axis from the end: {name}.shape[-1] is d_k",
        )
    for what, together, one in (("weights", weights, alone[1]), ("output", output, alone[0])):
        close(
            together,
            [one, one[::-1]],
            f"the {what} of a sentence should be the same in a batch as alone: count each axis from the end, as in q.shape[-1] and "
            "np.swapaxes(k, -1, -2)",
            atol=1e-4,
        )
    _in_heads(scaled_dot_product_attention, (q, k, v), (), (output, weights))
    mask = np.array([[[True, True, True]], [[False, False, True]]])  # (2, 1, 3), as padding_mask makes it
    stretched = "a mask of shape (B, 1, T_k) should hold for all queries of its sentence; np.where stretches it by itself"
    try:
        _, weights = _pair(scaled_dot_product_attention(q, k, v, mask))
    except IndexError:
        raise Hint(f"{stretched}; indexing, as in scores[~mask] or mask[i, j], does not") from None
    close(weights[1], [[0, 0, 1], [0, 0, 1]], stretched)
    close(
        weights[0],
        alone[1],
        "with a mask that hides nothing of a sentence its weights should be those without a mask",
        atol=1e-4,
    )
    headed = (
        "with two leading axes (1, 2) a mask of shape (2, 1, 3) has a row for each entry of the second one, as np.where stretches it. "
        "Does your function put an axis into the mask, or take one away?"
    )
    try:
        _, heads = _pair(scaled_dot_product_attention(q[None], k[None], v[None], mask))
    except (IndexError, ValueError):
        raise Hint(headed) from None
    ensure(_alike(heads, weights[None]), headed)
    fourth = "with two leading axes (2, 1) a mask may have four axes, too: one of shape (2, 1, 1, 3) has a row for each sentence"
    try:
        _, heads = _pair(scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], mask[:, None]))
    except (IndexError, ValueError):
        raise Hint(fourth) from None
    ensure(_alike(heads, weights[:, None]), fourth)


@public_check("scaled_dot_product_attention")
def large_scores_do_not_overflow(scaled_dot_product_attention: Any) -> None:
    """Scores in the thousands give weights, not nan, in rows of large and of small scores."""
    keys, values = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0], [2.0]])
    queries = np.array([[3000.0, 0], [0, 3000], [-3000, -3000]])
    with np.errstate(all="ignore"):
        output, weights = _pair(scaled_dot_product_attention(queries, keys, values))
    ensure(
        np.isfinite(weights[:2]).all(),
        "scores in the thousands give nan or inf: the exponential overflows unless the largest score of each row is taken away first",
    )
    ensure(
        np.isfinite(weights).all(),
        "a row in which all scores are far below 0 gives nan or inf: take away the largest score of that row, not that of the whole table",
    )
    right = [[1, 0], [0, 1], [0.5, 0.5]]
    close(weights[:2], right[:2], "of two scores that lie 2121 apart the larger should get all the weight")
    close(weights, right, "two equal scores should get half the weight each, also when both are -2121")
    close(output, [[1], [2], [1.5]], "the weights are right; the output is weights times values")
    with np.errstate(all="ignore"):
        for large in (3000, 3e6):
            _, weights = _pair(
                scaled_dot_product_attention(-large * keys[:1], keys, values, np.array([[True, False]]))
            )
            ensure(
                np.isfinite(weights).all(),
                "where a masked key has a far larger score than the others you get nan: fill its score with −∞ before the largest one is taken "
                "away",
            )
            ensure(
                np.allclose(weights, [[1, 0]]),
                f"a masked key gets the weight {weights.ravel()[-1]:.2g} where the score of the other key is {-large / 2**0.5:.0f}: only "
                "a score of −∞ is below every other",
            )


# --------------------------------------------------------------------------------------------- causal_mask


@public_check("causal_mask")
def three_positions(causal_mask: Any) -> None:
    """Three positions: the triangle of the text."""
    mask = causal_mask(3)
    ensure(mask is not None, "your function returns None: does it end with a return?")
    array = np.asarray(mask)
    ensure(array.shape == (3, 3), f"T = 3 makes a mask of shape (3, 3), not {array.shape}")
    ensure(
        array.dtype == bool,
        f"the entries should be booleans (True, False), but they are of type {array.dtype}: try dtype=bool",
    )
    ensure(array.diagonal().all(), "a position may attend to itself: the diagonal should be True")
    ensure(
        not (array[0].all() and not array[2, 0]),
        "your mask lets a position hear the future only: row i is the listener, True up to column i",
    )
    ensure(
        not array[0, 1], "position 0 may attend to position 1, which is the future: one diagonal too many?"
    )
    equal(
        mask,
        [[True, False, False], [True, True, False], [True, True, True]],
        "it should be the triangle in the text",
    )


@public_check("causal_mask")
def seven_tokens_hide_21_scores(causal_mask: Any) -> None:
    """The German sentence with its seven tokens hides 21 of 49 scores, those of the future."""
    mask = np.asarray(causal_mask(7), dtype=bool)
    hidden = int((~mask).sum())
    ensure(hidden == 21, f"of 49 scores 21 should be hidden, but your mask hides {hidden}")
    equal(
        mask,
        np.tri(7, dtype=bool),
        "your mask hides 21 of 49 scores, but for T = 7 other ones than those of the future",
    )


@public_check("causal_mask")
def one_token_and_many(causal_mask: Any) -> None:
    """A sentence may have a single token, or 130, and each call makes a new mask."""
    for T in (1, 130):
        shape = np.shape(causal_mask(T))
        ensure(shape == (T, T), f"T = {T} makes a mask of shape ({T}, {T}), not {shape}")
        equal(
            causal_mask(T),
            np.tri(T, dtype=bool),
            f"with T = {T} row i should be True up to column i, and False behind it",
        )
    mask = np.asarray(causal_mask(3))
    if mask.flags.writeable:
        before = mask.copy()
        mask[...] = False
        again = np.array(causal_mask(3))
        mask[...] = before
        equal(
            again,
            before,
            "whoever writes into a mask changes those of later calls: make a new array in each call",
        )


# -------------------------------------------------------------------------------------------- padding_mask


@public_check("padding_mask")
def three_sentences(padding_mask: Any) -> None:
    """Let there be light, Es werde Licht, Fiat lux: 4, 3 and 2 words."""
    mask = padding_mask([4, 3, 2], 4)
    ensure(mask is not None, "your function returns None: does it end with a return?")
    array = np.asarray(mask)
    ensure(
        array.shape != (3, 4),
        "the shape is (3, 4), but (3, 1, 4) is wanted: an axis of length 1 in the middle, for the queries",
    )
    ensure(
        array.shape == (3, 1, 4),
        f"three sentences and T = 4 make a mask of shape (3, 1, 4), not {array.shape}",
    )
    ensure(
        array.dtype == bool,
        f"the entries should be booleans (True, False), but they are of type {array.dtype}",
    )
    counts = array.sum(axis=-1).ravel().tolist()
    ensure(counts != [0, 1, 2], "True should mark the real words, not the padding")
    equal(counts, [4, 3, 2], f"the sentences have 4, 3 and 2 words, but your rows have {counts} times True")
    equal(
        mask,
        [[[True] * 4], [[True] * 3 + [False]], [[True] * 2 + [False] * 2]],
        "the real words come first, the padding behind",
    )


@public_check("padding_mask")
def full_and_empty(padding_mask: Any) -> None:
    """Lengths may be an array, and a length may be 0 or T."""
    mask = padding_mask(np.array([0, 2]), 2)
    rows = np.asarray(mask).tolist()
    ensure(
        rows != [[[True, True]], [[False, False]]],
        "lengths 0 and 2 come out in another order: row b of the mask belongs to lengths[b]",
    )
    ensure(
        rows != [[[True, True]], [[True, True]]],
        "a sentence of length 0 has no words, so its row should be all False; yours is all True",
    )
    equal(
        mask,
        [[[False, False]], [[True, True]]],
        "lengths 0 and 2 with T = 2 should be all False and all True",
    )


@public_check("padding_mask")
def wider_than_the_longest(padding_mask: Any) -> None:
    """T may be larger than the longest sentence, and two may be equally long."""
    mask = padding_mask([1, 3, 1], 5)
    ensure(
        np.shape(mask) != (3, 1, 3),
        "the mask is as wide as the longest sentence, 3, but T = 5 was asked for: the width is T",
    )
    one, three = [[True] + [False] * 4], [[True] * 3 + [False] * 2]
    ensure(
        np.asarray(mask).tolist() not in ([one, three, [[False] * 5]], [[[False] * 5], three, one]),
        "of two sentences of the same length, 1, only one gets its True: does it look for the place of a length in the list?",
    )
    equal(
        mask,
        [one, three, one],
        "lengths 1, 3 and 1 with T = 5 should be once, three times and once True, and False up to place 5",
    )


@public_check("padding_mask")
def a_batch_of_one(padding_mask: Any) -> None:
    """A batch may have a single sentence, and that a single word."""
    for lengths, T, row in (([2], 3, [True, True, False]), ([1], 1, [True])):
        try:
            mask = padding_mask(lengths, T)
        except Hint:
            raise
        except Exception as error:
            raise Hint(
                f"with one sentence (lengths = {lengths}, T = {T}) it stops with {type(error).__name__}: does the axis of the "
                "sentences stay when it has length 1?"
            ) from None
        ensure(
            np.shape(mask) == (1, 1, T),
            f"one sentence and T = {T} make a mask of shape (1, 1, {T}), not {np.shape(mask)}",
        )
        equal(mask, [[row]], f"with one sentence, lengths = {lengths} and T = {T}, the row should be {row}")


# -------------------------------------------------------------------------------------- additive_attention


def _one_sentence(additive_attention: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, *rest: Any) -> Any:
    """What comes out of one query without any leading axes; a hint when the function needs a batch, or longer axes."""
    try:
        result = additive_attention(q, k, v, *rest)
        good = np.shape(_pair(result)[1]) == (len(q), len(k))
        error = None
    except Hint:
        raise
    except Exception as raised:
        good, error = False, raised
    if not good:
        ensure(
            _shape_of_weights(additive_attention, q[None], k[None], v[None], *rest) != (1, len(q), len(k)),
            "it works with one leading axis (a batch), but there may be none, or two: count the axes from the end, "
            "as in x[..., :, None, :]",
        )
        W_q, W_k, w = rest
        longer = np.hstack([W_q, W_q]), np.hstack([W_k, W_k]), np.hstack([w, w])
        ensure(
            _shape_of_weights(additive_attention, np.vstack([q, q]), k, v, *longer) != (2 * len(q), len(k)),
            "it works with two queries and a hidden layer of size 2, but not where both are 1: does an axis of length 1 get lost "
            "(np.squeeze takes them all away)?",
        )
    if error is not None:
        raise error
    return result


def _shape_of_weights(additive_attention: Any, *arguments: Any) -> tuple[int, ...]:
    """The shape of the weights; () where there are none, or an error."""
    try:
        return np.shape(_pair(additive_attention(*arguments))[1])
    except Exception:
        return ()


@public_check("additive_attention")
def the_hand_computed_scores(additive_attention: Any) -> None:
    """One query, two keys: the weights 0.179 and 0.821 of the text."""
    one = np.ones((1, 1))
    output, weights = _pair(
        _one_sentence(
            additive_attention,
            np.zeros((1, 1)),
            np.array([[0.0], [1.0]]),
            np.array([[10.0], [20.0]]),
            one,
            one,
            np.array([2.0]),
        )
    )
    ensure(
        weights.shape == (1, 2), f"one query and two keys make weights of shape (1, 2), not {weights.shape}"
    )
    _over_the_keys(weights)
    ensure(
        not np.allclose(weights, [[0.1192, 0.8808]], atol=1e-3),
        "you got 0.119 and 0.881: the tanh is missing",
    )
    ensure(
        not np.allclose(weights, [[0.2761, 0.7239]], atol=1e-3),
        "you got 0.276 and 0.724: apply the tanh first, then multiply by w",
    )
    ensure(
        not np.allclose(weights, [[0.5, 0.5]]),
        "both weights are 0.5, so the keys make no difference: the projected key is added to the projected query, which is 0 here",
    )
    close(weights, [[0.17901, 0.82099]], "the weights should be 0.179 and 0.821", atol=1e-4)
    close(output, [[18.2099]], "the weights are right; the output is weights times values", atol=1e-3)


@public_check("additive_attention")
def sizes_may_differ(additive_attention: Any) -> None:
    """Queries of size 3 meet keys of size 2 in a hidden layer of size 4."""
    q, k = np.array([[1.0, 0, -1], [0, 2, 0]]), np.array([[1.0, 1], [0, -1], [2, 0]])
    W_q, W_k = np.arange(12.0).reshape(3, 4) / 10, np.arange(8.0).reshape(2, 4) / 10
    output, weights = _pair(additive_attention(q, k, np.eye(3), W_q, W_k, np.array([1.0, -1, 2, 0.5])))
    ensure(
        weights.shape == (2, 3),
        f"two queries and three keys make weights of shape (2, 3), not {weights.shape}",
    )
    _over_the_keys(weights)
    ensure(
        not any(_alike(weights, _with_scores_times(_SIZES_DIFFER, size**-0.5)) for size in (2, 3, 4)),
        "your scores are divided by a root: additive attention takes them as they are",
    )
    close(
        weights,
        _SIZES_DIFFER,
        "the weights are wrong: take one tanh of the sum q W_q + k W_k, then the product with w",
        atol=1e-4,
    )
    close(output, _SIZES_DIFFER, "the output is weights times values", atol=1e-4)


@public_check("additive_attention")
def batches_and_masks(additive_attention: Any) -> None:
    """A batch and a mask work as in question 2."""
    q, k, v = np.zeros((2, 1, 1)), np.array([[[0.0], [1.0]]] * 2), np.array([[[10.0], [20.0]]] * 2)
    mask = np.array([[[True, True]], [[True, False]]])
    output, weights = _pair(
        additive_attention(q, k, v, np.ones((1, 1)), np.ones((1, 1)), np.array([2.0]), mask)
    )
    close(
        weights[:1],
        [[[0.17901, 0.82099]]],
        "the weights of a batch should be those of its sentences",
        atol=1e-4,
    )
    with np.errstate(all="ignore"):
        _, large = _pair(additive_attention(q, k, v, np.ones((1, 1)), np.ones((1, 1)), np.array([2000.0])))
    ensure(
        np.isfinite(large).all(),
        "with w = 2000 you get nan or inf: a score may be as large as w makes it, and the exponential overflows. Use softmax, which is safe",
    )
    for size in (1.0, 0.01):
        _, masked = _pair(
            additive_attention(q, k, v, np.ones((1, 1)), np.ones((1, 1)), np.array([2 * size]), mask)
        )
        ensure(
            masked.shape == mask.shape, f"with a mask the weights have shape {masked.shape}, not {mask.shape}"
        )
        blocked = masked[~mask]
        ensure(
            np.allclose(blocked, 0, atol=1e-7),
            f"with w = {2 * size:g} a key where the mask is False gets the weight {blocked.max():.2g}, not 0: its score must be −∞, as in "
            "question 2",
        )
        _over_the_keys(masked, ", so mask the scores before the softmax, not the weights after it")
    close(output, [[[18.2099]], [[10]]], "the output should be the weighted mean of the values", atol=1e-3)
    draw = np.random.default_rng(1)
    q, k, v = draw.normal(size=(2, 3, 4)), draw.normal(size=(2, 5, 2)), draw.normal(size=(2, 5, 3))
    layer = (draw.normal(size=(4, 6)), draw.normal(size=(2, 6)), draw.normal(size=6))
    _in_heads(additive_attention, (q, k, v), layer, _pair(additive_attention(q, k, v, *layer)))
    mask = np.arange(5) <= np.arange(2, 5)[:, None]
    together = _pair(additive_attention(q, k, v, *layer, mask))
    stretch = "np.where(mask, scores, -np.inf) stretches a mask to scores of any number of axes"
    for hint, parts, one in (
        (
            f"with the same mask a sentence alone does not give what it gives in a batch: {stretch}",
            (q[0], k[0], v[0]),
            [part[0] for part in together],
        ),
        (
            f"with the same mask two leading axes do not give what one gives: {stretch}",
            (q[:, None], k[:, None], v[:, None]),
            [part[:, None] for part in together],
        ),
    ):
        try:
            arrays = _pair(additive_attention(*parts, *layer, mask))
        except (IndexError, ValueError):
            raise Hint(hint) from None
        ensure(all(_alike(array, right) for array, right in zip(arrays, one, strict=True)), hint)


# -------------------------------------------------------------------------------------- attention_backward


def _triple(result: Any, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    ensure(result is not None, "your function returns None: does it end with a return?")
    ensure(isinstance(result, (tuple, list)) and len(result) == 3, "return three things: d_q, d_k, d_v")
    arrays = [numbers(part) for part in result]
    for name, array, shape in zip(("d_q", "d_k", "d_v"), arrays, shapes, strict=True):
        ensure(array.shape == shape, f"{name} has shape {array.shape}, but {name[2:]} has shape {shape}")
    return arrays


@public_check("attention_backward")
def the_row_by_hand(attention_backward: Any) -> None:
    """Weights ½ and ½ with dA = (1, 0), the row of the text; then ¼ and ¾."""
    q, k, v = np.array([[2.0]]), np.array([[1.0], [3.0]]), np.array([[1.0], [0.0]])
    d_q, d_k, d_v = _triple(
        attention_backward(q, k, v, np.array([[0.5, 0.5]]), np.array([[1.0]])), (1, 1), (2, 1), (2, 1)
    )
    again = _forward(q[None], k[None], v[None])[1][0].T
    ensure(
        not np.allclose(d_v, again),
        "your d_v follows from weights that are computed again from q and k: use the `weights` that you are given, for a mask is in "
        "them",
    )
    close(d_v, [[0.5], [0.5]], "dV is the transposed weights times d_output: here 0.5 and 0.5")
    ensure(
        not np.allclose(d_k, [[1.0], [0.0]]),
        "dS is not just A · dA: first subtract the weighted mean of dA over the row",
    )
    ensure(
        not np.allclose(d_k, [[0.5], [0.0]]),
        "your dS is (0.25, 0) here, but each row of dS sums to 0: the weighted mean of the row, the sum of A · dA over its keys, is ½, and "
        "it is taken away from both entries",
    )
    close(d_k, [[0.5], [-0.5]], "dS is (0.25, −0.25) here, and the query is 2, so dK should be 0.5 and −0.5")
    close(
        d_q, [[-0.5]], "dS is (0.25, −0.25) and the keys are 1 and 3, so dQ should be 0.25·1 − 0.25·3 = −0.5"
    )
    _, d_k, _ = attention_backward(q, k, v, np.array([[0.25, 0.75]]), np.array([[1.0]]))
    ensure(
        not np.allclose(d_k, [[0.25], [-0.75]]),
        "you subtract the plain mean of dA over the row: take the mean weighted with the row of A",
    )
    close(d_k, [[0.375], [-0.375]], "with weights ¼ and ¾ dS is (0.1875, −0.1875), so dK should be ±0.375")
    _, d_k, _ = attention_backward(q, k, v, np.array([[0.0005, 0.9995]]), np.array([[1.0]]))
    close(
        d_k,
        [[0.0009995], [-0.0009995]],
        "a key with the weight 0.0005 has a gradient, too: with the weights 0.0005 and 0.9995 dK should be ±0.0009995",
    )


@public_check("attention_backward")
def whole_numbers(attention_backward: Any) -> None:
    """Queries, keys and values may be whole numbers."""
    whole = np.array([[2]]), np.array([[1], [3]]), np.array([[1], [0]])
    found = _triple(
        attention_backward(*whole, np.array([[0.5, 0.5]]), np.array([[1]])), (1, 1), (2, 1), (2, 1)
    )
    for name, gradient, right in zip(
        ("d_q", "d_k", "d_v"), found, ([[-0.5]], [[0.5], [-0.5]], [[0.5], [0.5]]), strict=True
    ):
        close(
            gradient,
            right,
            f"where {name[2:]} holds whole numbers {name} is another: is it put into an array of whole numbers, which cuts it "
            "(np.zeros_like takes over the type)?",
        )


@public_check("attention_backward")
def it_agrees_with_small_steps(attention_backward: Any) -> None:
    """Each gradient agrees with the change that a tiny step really makes."""
    q, k, v, d_output = _an_example()
    _, weights = _forward(q, k, v)
    found = _triple(attention_backward(q, k, v, weights, d_output), q.shape, k.shape, v.shape)
    for name, gradient, measured in zip(("d_v", "d_q", "d_k"), found[2:] + found[:2], _STEPS, strict=True):
        ensure(
            name == "d_v" or not np.allclose(gradient, 2 * measured, atol=1e-4),
            f"{name} is twice as large as it should be, and √d_k is 2 here: divide by it",
        )
        for axis, size, what in (("q.shape[1]", 3, "queries"), ("k.shape[1]", 5, "keys")):
            ensure(
                name == "d_v" or not np.allclose(gradient, 2 / np.sqrt(size) * measured, atol=1e-5),
                f"{name} is divided by √{size}, the root of the number of {what}: in a batch that is {axis}. Count the axis from the "
                "end: d_k is q.shape[-1]",
            )
        close(
            gradient,
            measured,
            f"{name} does not agree with the change that small steps of {name[2:]} make",
            atol=1e-5,
        )


@public_check("attention_backward")
def any_number_of_leading_axes(attention_backward: Any) -> None:
    """There may be two leading axes, a batch and heads."""
    q, k, v, d_output = _an_example()
    _, weights = _forward(q, k, v)
    alone = _triple(attention_backward(q, k, v, weights, d_output), q.shape, k.shape, v.shape)
    _in_heads(attention_backward, (q, k, v, weights, d_output), (), tuple(alone))
    heard = weights * (np.arange(5) < 4)  # as with a mask over the last key
    heard /= heard.sum(axis=-1, keepdims=True)
    close(
        _triple(attention_backward(q, k, v, heard, d_output), q.shape, k.shape, v.shape)[2],
        np.swapaxes(heard, -1, -2) @ d_output,
        "in a batch in which the last key has the weight 0 your d_v is not weightsᵀ · d_output: use the `weights` that you are given, and "
        "compute none again",
        atol=1e-5,
    )


def _an_example() -> tuple[np.ndarray, ...]:
    """Queries, keys and values of two sequences, and a gradient of the output."""
    draw = np.random.default_rng(0)
    sizes = (2, 3, 4), (2, 5, 4), (2, 5, 2), (2, 3, 2)
    return tuple(draw.normal(size=size) for size in sizes)


def _forward(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The output and the weights of one batch of attention, in loops, to measure small steps with."""
    weights = np.empty((len(q), q.shape[1], k.shape[1]))
    for b, i in np.ndindex(q.shape[:2]):
        row = np.exp([q[b, i] @ key / q.shape[-1] ** 0.5 for key in k[b]])
        weights[b, i] = row / row.sum()
    return np.array([a @ one for a, one in zip(weights, v, strict=True)]), weights


def _measured(q: np.ndarray, k: np.ndarray, v: np.ndarray, d_output: np.ndarray) -> list[np.ndarray]:
    """Gradients for v, q and k, by a small step of every entry in both directions.

    A step changes the output of its own sequence in the batch, and of no other.
    """
    step, gradients = 1e-5, []
    for which in (2, 0, 1):
        parts = [q.copy(), k.copy(), v.copy()]
        gradient = np.empty(parts[which].shape)
        for place in np.ndindex(gradient.shape):
            losses = []
            for sign in (1, -1):
                parts[which][place] += sign * step
                own = slice(place[0], place[0] + 1)
                losses.append((_forward(*(part[own] for part in parts))[0] * d_output[own]).sum())
                parts[which][place] -= sign * step
            gradient[place] = (losses[0] - losses[1]) / (2 * step)
        gradients.append(gradient)
    return gradients


#: The gradients of the example for v, q and k. The steps take longer than all other checks together, and are the same for
#: everybody: grading imports this module once for a class.
_STEPS = _measured(*_an_example())


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("scaled_dot_product_attention")
def divides_by_the_number_of_keys(right: Any, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """It divides by the root of the number of keys, not of their size.

    One survives: that root changes nothing in your input. Are there as many keys as a key has entries? Or are all scores so large that each
    query hears one key only, whatever they are divided by?
    """
    return right(q * np.sqrt(q.shape[-1] / k.shape[-2]), k, v, mask)


@impostor("scaled_dot_product_attention")
def divides_by_the_size_of_the_values(right: Any, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """It divides by the root of the size of the values, not of the keys.

    One survives: that root changes nothing in your input. Has a value as many entries as a key? Or are all scores so large that each query
    hears one key only, whatever they are divided by?
    """
    return right(q * np.sqrt(q.shape[-1] / v.shape[-1]), k, v, mask)


@impostor("scaled_dot_product_attention")
def never_looks_at_the_keys(right: Any, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """It takes the queries for keys, so it knows self-attention only.

    One survives: your queries do as well for keys. Are they the same?
    """
    return right(q, q, v, mask)


@impostor("scaled_dot_product_attention")
def hears_the_first_sentence_only(right: Any, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """It compares all sentences of a batch with the keys of the first.

    One survives: it goes wrong with a batch of two sentences whose keys are different enough to be heard.
    """
    first = k[(0,) * (k.ndim - 2)] if k.ndim > 2 else k
    return right(q, np.broadcast_to(first, k.shape), v, mask)


@impostor("scaled_dot_product_attention")
def masks_the_weights(right: Any, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """It masks the weights after the softmax, so that they no longer sum to 1.

    One survives: nothing is masked in your input, or only keys that nobody would hear without a mask either.
    """
    _, weights = right(q, k, v)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


@impostor("scaled_dot_product_attention")
def overflows(right: Any, q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """Its exponential overflows, and it answers nan.

    One survives: none of your scores is large. How large must one be for exp to overflow? One loud query is enough: the others may stay
    soft.
    """
    output, weights = right(q, k, v, mask)
    scores = np.einsum("...td,...sd->...ts", q, k) / np.sqrt(q.shape[-1])
    too_large = (scores > 709).any(axis=-1, keepdims=True)
    return np.where(too_large, np.nan, output), np.where(too_large, np.nan, weights)
