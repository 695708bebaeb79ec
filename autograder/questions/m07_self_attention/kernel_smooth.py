"""Lab 07, kernel_smooth: x, y (n,), query (m,), sigma > 0 → the smoothed height at each query (m,)."""

import math

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m07_self_attention.common import softmax, softmax_row


def smoothed(x, y, query, sigma):
    heights = []
    for place in query:
        weights = softmax_row([-((float(place) - float(dot)) ** 2) / (2 * sigma**2) for dot in x])
        heights.append(math.fsum(w * float(height) for w, height in zip(weights, y, strict=True)))
    return np.array(heights)


question = Question(smoothed)


@question.family("Two dots, asked at their own places with a bell of width 1.", weight=4)
def at_the_dots(rng):
    for _ in range(2):
        x = rng.uniform(-1, 1, 2)
        yield x, rng.normal(0, 5, 2), x.copy(), 1.0


@question.family("The case by hand; other dots, other queries and other widths.", weight=3)
def many_dots_and_queries(rng):
    yield Case(np.array([0.0, 1, 2]), np.array([0.0, 10, 40]), np.array([1.0]), 1.0, gives=[15.48])
    for n, m, sigma in ((7, 4, 0.8), (3, 9, 2.5)):
        yield rng.normal(0, 3, n), rng.normal(0, 5, n), rng.normal(0, 3, m), sigma
    yield rng.uniform(-40, 40, 5), rng.normal(size=5), np.array([150.0, -155.0]), 100.0


@question.family("A very narrow bell gives the nearest dot's height, a very wide one the mean of all.")
def narrow_and_wide(rng):
    x, y = np.arange(6.0) * 2, rng.normal(size=6)
    query = x[[4, 0, 3, 1]] + rng.uniform(0.2, 0.5, 4)
    yield Case(x, y, query, 0.2)
    yield Case(x, y, query, 1e8)
    yield Case(np.array([0.0, 1, 2, 3]), np.array([4.0, 0, 0, 8]), np.array([1.5, 7]), 1e5, gives=[3.0, 3.0])


@question.family("Far away from every dot the answer is still a number, and the right one.", weight=2.5)
def far_away(rng):
    # The dots keep their distance, so that single precision finds the nearest one, too. With a narrow bell even 16 is far away.
    x, y = np.arange(5.0) + rng.uniform(-0.3, 0.3, 5), rng.normal(size=5)
    yield x, y, np.array([900.0, -1200.0]), 1.0
    yield x, y, np.array([20.0, -25.0]), 0.0625


@question.family("The same in a gap between dots in no order; two that are equally near share.", weight=2.5)
def in_a_gap(rng):
    x, y = rng.permutation(np.array([0.0, 300, 301, 700])), rng.normal(size=4)
    yield x, y, np.array([100.0, 150.0, 260.0, 640.0]), 1.0


@question.family("One dot, one query, whole numbers, and a dot far off that counts.")
def single_dots_and_integers(rng):
    yield np.array([2.0]), rng.normal(5, 2, 1), np.array([1.0, 9.0]), 1.5
    yield np.array([0, 3, 4, 8]), rng.permutation([1, 5, -2, 6]), np.array([2]), 1
    yield Case(np.array([0, 1]), np.array([5, 7]), np.array([0, 1]), 1, gives=[5.755, 6.245])
    yield Case(np.array([0.0, 1]), np.array([5.0, 7]), np.array([4.5]), 1.0, gives=[6.964])


def squared(x, query):
    return (query[:, None] - x[None, :]) ** 2


@question.misconception("the kernel of the slide, exp(−d²/σ)", costs=2)
def kernel_without_two_sigma_squared(x, y, query, sigma):
    """Your bell has another width: the exponent is the squared distance divided by σ itself, as on the slide. Here σ is
    a length, and it enters squared and doubled. Compare your exponent with the formula above the question."""
    return softmax(-squared(x, query) / sigma, axis=1) @ y


@question.misconception("σ is not squared", costs=1)
def sigma_not_squared(x, y, query, sigma):
    """The factor 2 is there, but σ is not squared. For σ = 1 nobody notices; at every other width the bell is wrong."""
    return softmax(-squared(x, query) / (2 * sigma), axis=1) @ y


@question.misconception("weights that do not sum to one", costs=2.5)
def kernel_not_normalised(x, y, query, sigma):
    """Your heights grow with the number of dots nearby: the weights of a query are not divided by their sum. A mean needs
    weights that sum to one."""
    return np.exp(-squared(x, query) / (2 * sigma**2)) @ y


@question.misconception("weights that sum to one over the queries", costs=2)
def kernel_normalised_over_queries(x, y, query, sigma):
    """Your weights sum to one over the queries, so a query's answer depends on which other queries are asked. Each query
    spreads one unit of weight over the dots: normalise along the axis of the dots."""
    return softmax(-squared(x, query) / (2 * sigma**2), axis=0) @ y


@question.misconception("nan far away from the dots", costs=1)
def kernel_that_divides_zero_by_zero(x, y, query, sigma):
    """Far away from every dot all exponentials round to 0, and your answer is 0/0. The weights are a softmax of
    −d²/(2σ²): use the safe softmax that you have."""
    w = np.exp(-squared(x, query) / (2 * sigma**2))
    with np.errstate(invalid="ignore"):
        return (w @ y) / w.sum(axis=1)


@question.misconception("the distance is not squared", costs=2.5)
def kernel_of_the_distance(x, y, query, sigma):
    """Your curve has a sharp corner at every dot: the exponent holds the distance, not its square. That is another
    kernel (Laplace's), not the Gaussian."""
    return softmax(-np.abs(query[:, None] - x[None, :]) / (2 * sigma**2), axis=1) @ y


@question.misconception("the 2 of the exponent is forgotten", costs=1)
def kernel_without_the_two(x, y, query, sigma):
    """Your bell is too narrow by √2: the exponent is the squared distance divided by σ², and the 2 is missing. Compare your exponent
    with the formula above the question."""
    return softmax(-squared(x, query) / sigma**2, axis=1) @ y


@question.alternative
def kernel_by_loops_and_lists(x, y, query, sigma):
    heights = []
    for place in query:
        exponents = [-((place - dot) ** 2) / (2 * sigma**2) for dot in x]
        bells = [math.exp(exponent - max(exponents)) for exponent in exponents]
        heights.append(sum(b * height for b, height in zip(bells, y, strict=True)) / sum(bells))
    return heights


@question.alternative
def kernel_in_single_precision(x, y, query, sigma):
    x, y, query = (np.asarray(part, dtype=np.float32) for part in (x, y, query))
    exponents = -0.5 * np.subtract.outer(query, x) ** 2 / np.float32(sigma) ** 2
    bells = np.exp(exponents - exponents.max(1, keepdims=True))
    return (bells * y).sum(1) / bells.sum(1)
