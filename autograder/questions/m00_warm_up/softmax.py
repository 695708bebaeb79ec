"""Lab 00, softmax: scores x of any shape, an axis → probabilities along it, of the same shape."""

import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m00_warm_up.common import along, log_sum_exp


def line_by_line(x, axis=-1):
    def of_line(line):
        total = log_sum_exp(line)
        return [math.exp(score - total) for score in line]

    return np.moveaxis(along(of_line, x, axis), -1, axis)


question = Question(
    line_by_line,
    uses=("logsumexp",),
    forbidden=(
        "scipy.special.softmax", "scipy.special.log_softmax", "torch.softmax", "torch.log_softmax",
        "torch.nn.functional.softmax", "torch.nn.functional.log_softmax", "Tensor.softmax", "Tensor.log_softmax",
        "torch.nn.functional.softmin", "torch.nn.Softmin", "torch.distributions.Categorical",
        "torch.distributions.OneHotCategorical", "sklearn.utils.extmath.softmax",
    ),
)  # fmt: skip


@question.family("The scores by hand; scores become probabilities along the last axis, with all digits.")
def the_last_axis(rng):
    yield Case(np.array([2.0, 1, 0]), gives=[0.665, 0.245, 0.090])
    yield Case(rng.normal(size=(3, 5)), axis=-1)
    yield rng.normal(size=4), 0


@question.family("Without a name of an axis it is the last one.", weight=0.75)
def no_axis_named(rng):
    yield rng.normal(size=(4, 3))
    yield rng.normal(size=(3, 3))


@question.family("Any axis of a table or of three; the shape stays the same.", weight=0.75)
def any_axis(rng):
    for axis in (0, 1, -1):
        yield Case(rng.normal(size=(2, 6, 3))[:, ::2], axis=axis)
    for axis in (0, -2):
        yield Case(rng.normal(size=(3, 4)), axis=axis)
    yield Case(rng.normal(size=(3, 1)), axis=1)


@question.family("Whole scores have fractions as probabilities.", weight=0.5)
def whole_scores(rng):
    yield rng.integers(-2, 3, size=(3, 4))
    yield rng.integers(-2, 3, size=(4, 3))


@question.family(
    "Only differences count: rows of very different size side by side.", weight=0.75, rtol=1e-3, atol=2e-4
)
def only_differences(rng):
    for sizes in ([[1000.0], [1000], [1000]], [[900.0], [0], [-900]]):
        yield Case(rng.normal(size=(3, 4)) + np.array(sizes), axis=1)
    x = rng.normal(size=(2, 2, 3)) + np.array([[[900.0], [0]], [[1000], [-900]]])
    yield x
    x[1, :, 0] = -np.inf
    yield x[1], 1


@question.family("All scores may lie far below zero.", weight=0.5, rtol=1e-3, atol=2e-4)
def very_small(rng):
    yield Case(rng.normal(size=(2, 4)) + np.array([[-1000.0], [-2000]]), axis=1)


@question.family(
    "A score of −∞ gets exactly 0, and one far ahead takes all.", weight=0.5, rtol=1e-5, atol=1e-9
)
def impossible_words(rng):
    x = rng.normal(size=(2, 4))
    x[0, 3], x[1, 0] = -np.inf, -np.inf
    yield Case(x, axis=1)
    yield np.array([0.0, rng.uniform(4000, 5000), 1.0]), 0


@question.misconception("the largest score not taken out", costs=1.5)
def naive_softmax(x, axis=-1):
    """Right on paper, but the exponential of a large score is infinite, and infinity divided by infinity is no number.
    Subtract the largest score of each row (or column) first: the fraction stays the same."""
    with np.errstate(all="ignore"):
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


@question.misconception("one sum for the whole table", costs=2, because="right for a single row")
def sums_over_everything(x, axis=-1):
    """All your probabilities together add up to one. Each row (or column) is a bet of its own: it should add up to
    one along the axis that is given."""
    values = np.exp(x - x.max())
    return values / values.sum()


@question.misconception("one maximum for the whole table", costs=1)
def softmax_with_one_maximum(x, axis=-1):
    """You subtract the largest score of the whole table. A row whose scores are far below it becomes 0 divided by 0.
    Subtract the largest score of each row (or column)."""
    with np.errstate(all="ignore"):
        values = np.exp(x - x.max())
        return values / values.sum(axis=axis, keepdims=True)


@question.misconception("always along the last axis", costs=1)
def softmax_always_last(x, axis=-1):
    """Your probabilities add up to one along the last axis whatever axis is asked for. Use the axis that your function
    is given."""
    values = np.exp(x - x.max(axis=-1, keepdims=True))
    return values / values.sum(axis=-1, keepdims=True)


@question.misconception("no exponential", costs=2.5, because="the shares sum to one")
def shares_without_exponential(x, axis=-1):
    """You divide the scores by their sum, without the exponential. Scores may be negative, and their sum may be zero:
    only the exponential makes them positive first."""
    with np.errstate(all="ignore"):
        return x / x.sum(axis=axis, keepdims=True)


@question.misconception("each score for itself", costs=3)
def each_score_for_itself(x, axis=-1):
    """You squash each score by itself (that is a sigmoid). The values lie between 0 and 1, but they do not share one
    unit of probability: divide by the sum over all the words."""
    with np.errstate(all="ignore"):
        return 1 / (1 + np.exp(-x))


def shares(x, axis):
    values = np.exp(x - x.max(axis=axis, keepdims=True))
    return values / values.sum(axis=axis, keepdims=True)


@question.misconception("as whole as the scores", costs=1)
def as_whole_as_the_scores(x, axis=-1):
    """Where the scores are whole numbers your probabilities are cut to 0: np.zeros_like(x) holds what x holds. Fill an array of
    fractions, or none: the division makes one."""
    result = np.zeros_like(x)
    result[...] = shares(x, axis)
    return result


@question.misconception("rounded to three decimals", costs=1, because="right to three digits")
def rounded_to_three_decimals(x, axis=-1):
    """Your probabilities are right, but rounded. Then they no longer add up to one, and a small one becomes 0. Round where you
    print, not in the function."""
    return shares(x, axis).round(3)


@question.alternative
def softmax_by_division(x, axis=-1):
    values = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return values / np.sum(values, axis=axis, keepdims=True)


@question.alternative
def softmax_by_lines(x, axis=-1):
    def of_line(line):
        return [
            1 / sum(math.exp(min(other - v, 700)) for other in line) if v > -math.inf else 0.0 for v in line
        ]

    return np.apply_along_axis(of_line, axis, x).tolist()


@question.impostor
def one_maximum_for_all(right, x, axis=-1):
    """It takes the largest score of the whole table away, not that of each row.
    One survives: no row (or column) of your table lies far below another."""
    too_far = np.max(x, axis=axis, keepdims=True) - np.max(x) < -745  # exp underflows, and 0/0 is nan
    return np.where(too_far, np.nan, right(x, axis))


@question.impostor
def always_the_last_axis(right, x, axis=-1):
    """It always runs along the last axis.
    One survives: your axis is the last one."""
    return right(x, -1)


@question.impostor
def overflows(right, x, axis=-1):
    """It takes no maximum away, so large scores overflow.
    One survives: all your scores are below 709."""
    return np.where(np.max(x, axis=axis, keepdims=True) > 709, np.nan, right(x, axis))


@question.impostor
def cuts_large_scores_off(right, x, axis=-1):
    """It cuts large scores off at 700, so that nothing overflows.
    One survives: nowhere do two different scores above 700 meet."""
    return right(np.minimum(x, 700), axis)


@question.impostor
def stumbles_over_minus_infinity(right, x, axis=-1):
    """It answers nan for a score of −∞.
    One survives: none of your scores is −∞."""
    return np.where(np.isneginf(x), np.nan, right(x, axis))
