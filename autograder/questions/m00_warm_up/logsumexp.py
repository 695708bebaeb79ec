"""Lab 00, logsumexp: x of any shape, an axis → the logarithm of the sum of the exponentials along it."""

import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m00_warm_up.common import along, log_sum_exp


def line_by_line(x, axis=-1):
    return along(log_sum_exp, x, axis)


question = Question(
    line_by_line,
    forbidden=(
        "numpy.logaddexp", "numpy.logaddexp2", "scipy.special.logsumexp", "torch.logsumexp", "torch.logcumsumexp",
        "torch.logaddexp", "torch.logaddexp2", "Tensor.logsumexp", "Tensor.logcumsumexp",
        "scipy.special.log_softmax", "torch.log_softmax", "Tensor.log_softmax",
    ),
)  # fmt: skip


@question.family("The logarithm of the sum of exponentials: of a row, and of each row of a table.")
def rows(rng):
    yield Case(np.array([0.0, 0.0]), gives=0.693)
    yield Case(rng.normal(size=(3, 5)), axis=-1)
    yield Case(rng.normal(size=(3, 1)), axis=1)
    yield rng.normal(size=5), 0


@question.family("Without a name of an axis it is the last one.", weight=0.75)
def the_last_axis(rng):
    yield rng.normal(size=(4, 3))
    yield rng.integers(-3, 4, size=(3, 3))


@question.family("Either axis of a table can be summed, and it disappears; whole scores are fine.")
def either_axis(rng):
    for axis in (0, 1, -2):
        yield Case(rng.normal(size=(6, 3))[::2], axis=axis)
    yield Case(rng.integers(-3, 4, size=(3, 4)), axis=0)


@question.family("Any axis of three.", weight=0.75)
def three_axes(rng):
    for shape, axis in (((2, 4, 3), 1), ((2, 4, 3), 0), ((2, 1, 3), -1)):
        yield Case(rng.normal(size=shape), axis=axis)


@question.family("Rows of very large and of very small scores stand side by side.")
def rows_far_apart(rng):
    yield Case(np.array([1000.0, 1000.0]), gives=1000.693)
    yield Case(rng.normal(size=(3, 3)).round(3) + np.array([[0.0], [2000], [-2000]]), axis=1)
    yield Case(rng.normal(size=(3, 2)).round(3) + np.array([1200.0, -1500]), axis=0)


@question.family("One and the same row may hold small and very large scores.", weight=1.25)
def far_apart_in_a_row(rng):
    apart = np.array([[0.0, 0, 1500, 0], [3000, 3000, 0, 0], [0, 800, 800, 800]])
    yield Case(rng.normal(size=(3, 4)).round(3) + apart, axis=1)
    yield Case(rng.integers(-3, 4, size=(2, 3)) + np.array([[0, 1500, 0], [0, 0, 0]]), axis=1)


@question.family("A score of −∞ adds nothing.", weight=1.25)
def impossible_words(rng):
    x = rng.normal(size=(3, 4))
    x[0, 1], x[2, 0] = -np.inf, -np.inf
    yield Case(x, axis=1)
    x = rng.normal(size=(2, 2, 3))
    x[0, 1, 2] = -np.inf
    yield Case(x, axis=2)


@question.misconception("the largest score not taken out", costs=2.5)
def naive_logsumexp(x, axis=-1):
    """Your formula is right on paper, but the exponential of a large score is infinite in the computer, and that of
    a very negative one is 0. Take the largest score out first, and add it again at the end."""
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(x), axis=axis))


@question.misconception("one maximum for the whole table", costs=1.5)
def maximum_of_the_whole_table(x, axis=-1):
    """You take out the largest score of the whole table. A row whose scores are far below it loses all its
    exponentials to 0, and its logarithm becomes −∞. Each row (or column) needs its own maximum."""
    with np.errstate(all="ignore"):
        return x.max() + np.log(np.sum(np.exp(x - x.max()), axis=axis))


@question.misconception("the maximum not added again", costs=3, because="one step is missing")
def maximum_not_added_again(x, axis=-1):
    """You take the largest score out of the sum but do not put it back: the result is off by exactly that
    score. The last step adds it to the logarithm."""
    return np.log(np.sum(np.exp(x - x.max(axis=axis, keepdims=True)), axis=axis))


@question.misconception("always along the last axis", costs=1.5)
def always_the_last_axis(x, axis=-1):
    """Your function always sums along the last axis. It should use the axis that it is given, both for the
    maximum and for the sum."""
    m = x.max(axis=-1, keepdims=True)
    return (m + np.log(np.exp(x - m).sum(axis=-1, keepdims=True))).squeeze(-1)


@question.misconception("a mean instead of a sum", costs=3, because="off by one number")
def mean_instead_of_sum(x, axis=-1):
    """You average the exponentials. log-sum-exp adds them up: the difference is the logarithm of how many there
    are."""
    m = x.max(axis=axis, keepdims=True)
    return np.squeeze(m + np.log(np.exp(x - m).mean(axis=axis, keepdims=True)), axis=axis)


@question.misconception("the axis is kept", costs=2, because="every number is right")
def axis_kept(x, axis=-1):
    """Your numbers are right, but the summed axis is still there with length one. Take it out of the shape at the
    end: a table (2, 3) summed along axis 1 gives (2,), not (2, 1)."""
    m = x.max(axis=axis, keepdims=True)
    return m + np.log(np.exp(x - m).sum(axis=axis, keepdims=True))


@question.misconception("writes into its input", costs=1.5)
def writes_into_its_input(x, axis=-1):
    """Your numbers are right, but afterwards the caller's array holds other values: an operation like -= writes
    into it. Make a new array instead."""
    m = x.max(axis=axis, keepdims=True)
    x -= m
    return np.squeeze(m + np.log(np.exp(x).sum(axis=axis, keepdims=True)), axis=axis)


@question.misconception("−∞ counted as 0", costs=1.5)
def impossible_counted_as_zero(x, axis=-1):
    """You replace a score of −∞ by 0. Then it adds e⁰ = 1, and an impossible word counts like another. e^−∞ is 0 by itself: leave it
    as it is."""
    return line_by_line(np.where(np.isneginf(x), 0, x), axis)


@question.alternative
def logsumexp_by_lines(x, axis=-1):
    def of_line(line):
        m = max(line)
        return m + math.log(sum(math.exp(v - m) for v in line))

    return np.apply_along_axis(of_line, axis, x)
