"""Lab 07, ``kernel_smooth``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.misconceptions.m07_self_attention.common import _softmax
from autograder.testing import alternative, misconception


def _squared(x, query):
    return (query[:, None] - x[None, :]) ** 2


@misconception("kernel_smooth", title="the kernel of the slide, exp(−d²/σ)")
def kernel_without_two_sigma_squared(x, y, query, sigma):
    """Your bell has another width: the exponent is the squared distance divided by σ itself, as on the slide. Here σ is
    a length, and it enters squared and doubled. Compare your exponent with the formula above the question."""
    return _softmax(-_squared(x, query) / sigma, axis=1) @ y


@misconception("kernel_smooth", title="σ is not squared", keeps="right for σ = 1")
def sigma_not_squared(x, y, query, sigma):
    """The factor 2 is there, but σ is not squared. For σ = 1 nobody notices; at every other width the bell is wrong."""
    return _softmax(-_squared(x, query) / (2 * sigma), axis=1) @ y


@misconception("kernel_smooth", title="weights that do not sum to one")
def kernel_not_normalised(x, y, query, sigma):
    """Your heights grow with the number of dots nearby: the weights of a query are not divided by their sum. A mean needs
    weights that sum to one."""
    return np.exp(-_squared(x, query) / (2 * sigma**2)) @ y


@misconception("kernel_smooth", title="weights that sum to one over the queries")
def kernel_normalised_over_queries(x, y, query, sigma):
    """Your weights sum to one over the queries, so a query's answer depends on which other queries are asked. Each query
    spreads one unit of weight over the dots: normalise along the axis of the dots."""
    return _softmax(-_squared(x, query) / (2 * sigma**2), axis=0) @ y


@misconception("kernel_smooth", title="a small number added to the sum", keeps="right near the dots")
def kernel_with_a_small_constant(x, y, query, sigma):
    """Near the dots you are right; far away your heights sink to 0. The small constant that you add to the sum protects
    from 0/0, but then the weights no longer sum to one where all exponentials are tiny. Take the largest exponent away
    first, as the softmax does."""
    w = np.exp(-_squared(x, query) / (2 * sigma**2))
    return (w / (w + 1e-16).sum(axis=1, keepdims=True)) @ y


@misconception("kernel_smooth", title="nan far away from the dots", keeps="right near the dots")
def kernel_that_divides_zero_by_zero(x, y, query, sigma):
    """Far away from every dot all exponentials round to 0, and your answer is 0/0. The weights are a softmax of
    −d²/(2σ²): use the safe softmax that you have."""
    w = np.exp(-_squared(x, query) / (2 * sigma**2))
    with np.errstate(invalid="ignore"):
        return (w @ y) / w.sum(axis=1)


@misconception("kernel_smooth", title="the distance is not squared")
def kernel_of_the_distance(x, y, query, sigma):
    """Your curve has a sharp corner at every dot: the exponent holds the distance, not its square. That is another
    kernel (Laplace's), not the Gaussian."""
    return _softmax(-np.abs(query[:, None] - x[None, :]) / (2 * sigma**2), axis=1) @ y


@misconception("kernel_smooth", title="far dots count more than near ones")
def kernel_with_the_wrong_sign(x, y, query, sigma):
    """The farther a dot, the more it counts in your function: the minus sign of the exponent is missing."""
    return _softmax(_squared(x, query) / (2 * sigma**2), axis=1) @ y


@misconception(
    "kernel_smooth",
    title="far away the first or the last dot answers",
    keeps="right but in gaps between the dots",
)
def kernel_for_sorted_dots(x, y, query, sigma):
    """Where all exponentials round to 0 you take the first or the last dot. The dots need not be sorted, and there may be a gap
    between them: the nearest one answers, and the softmax finds it without any special case."""
    heights = []
    for place in query:
        bells = np.exp(-((place - x) ** 2) / (2 * sigma**2))
        if bells.sum() == 0:
            heights.append(y[0] if place < x.mean() else y[-1])
        else:
            heights.append((bells * y).sum() / bells.sum())
    return np.array(heights)


@misconception("kernel_smooth", title="the heights are changed in place", keeps="the values are right")
def kernel_that_shifts_the_heights(x, y, query, sigma):
    """Your heights are right, but you change `y`, the caller's array: `y -= …` writes into it, `y = y - …` makes a new one. With whole
    numbers it even raises an error."""
    middle = y.mean()
    y -= middle
    return _softmax(-_squared(x, query) / (2 * sigma**2), axis=1) @ y + middle


@misconception("kernel_smooth", title="the 2 of the exponent is forgotten")
def kernel_without_the_two(x, y, query, sigma):
    """Your bell is too narrow by √2: the exponent is the squared distance divided by σ², and the 2 is missing. Compare your exponent
    with the formula above the question."""
    return _softmax(-_squared(x, query) / sigma**2, axis=1) @ y


@misconception(
    "kernel_smooth",
    title="heights cut to whole numbers",
    keeps="right where the queries are no whole numbers",
)
def kernel_as_whole_as_the_queries(x, y, query, sigma):
    """Where the queries are whole numbers your heights are cut: `np.zeros_like(query)` makes an array of whole numbers then, and
    what is put into it loses its decimals. Give it `dtype=float`."""
    heights = np.zeros_like(query)
    for i, place in enumerate(query):
        heights[i] = _softmax(-((x - place) ** 2) / (2 * sigma**2)) @ y
    return heights


@misconception(
    "kernel_smooth", title="as many queries as dots", keeps="right where there are as many queries as dots"
)
def kernel_for_as_many_queries_as_dots(x, y, query, sigma):
    """Your loop over the queries runs as often as there are dots. Query and dots are two lists, each with its own length: go through
    the queries."""
    return np.array([_softmax(-((query[i] - x) ** 2) / (2 * sigma**2)) @ y for i in range(len(x))])


@misconception(
    "kernel_smooth",
    title="the bell is cut off",
    keeps="right but where a dot between 3σ and the nearest one counts a little",
)
def kernel_cut_off(x, y, query, sigma):
    """Your bell ends at some distance. A Gaussian has no end: a dot beyond 3σ counts little, but it counts, and where all dots are
    that far off, it counts much."""
    distance = np.abs(query[:, None] - x)
    reach = np.maximum(3 * sigma, distance.min(axis=1, keepdims=True))
    return _softmax(np.where(distance <= reach, -(distance**2) / (2 * sigma**2), -np.inf)) @ y


@misconception(
    "kernel_smooth",
    title="the largest exponent of the whole table",
    keeps="right but for a query that is far off while another is near",
)
def kernel_with_one_maximum(x, y, query, sigma):
    """You take away the largest exponent of all queries. For a query that is much farther from the dots than another one all exponentials
    still round to 0. Take away the largest of each row, as softmax does."""
    exponents = -_squared(x, query) / (2 * sigma**2)
    bells = np.exp(exponents - exponents.max())
    with np.errstate(invalid="ignore"):
        return (bells * y).sum(axis=1) / bells.sum(axis=1)


@misconception(
    "kernel_smooth",
    title="far away only one dot answers",
    keeps="right but where two dots are equally near",
)
def kernel_with_one_nearest_dot(x, y, query, sigma):
    """Where all exponentials round to 0 you take the height of the nearest dot. The formula says that only where one dot is nearest: two
    that are equally near share. The safe softmax needs no special case."""
    distance = np.abs(query[:, None] - x)
    bells = np.exp(-(distance**2) / (2 * sigma**2))
    total = bells.sum(axis=1)
    return np.where(total > 0, bells @ y / np.where(total > 0, total, 1), y[distance.argmin(axis=1)])


@misconception(
    "kernel_smooth",
    title="far away is a fixed distance",
    keeps="right for σ = 1",
)
def kernel_far_by_distance(x, y, query, sigma):
    """You let the nearest dot answer beyond a fixed distance. How far is too far for the exponential depends on σ: with a narrow bell
    you get 0/0 before it, with a wide one the other dots count, too. The safe softmax needs no special case."""
    heights = []
    for place in query:
        distance = np.abs(x - place)
        if distance.min() > 30:
            heights.append(y[distance < distance.min() + 1e-9].mean())
        else:
            bells = np.exp(-(distance**2) / (2 * sigma**2))
            with np.errstate(invalid="ignore"):
                heights.append(bells @ y / bells.sum())
    return np.array(heights)


@alternative("kernel_smooth")
def kernel_by_loops_and_lists(x, y, query, sigma):
    heights = []
    for place in query:
        exponents = [-((place - dot) ** 2) / (2 * sigma**2) for dot in x]
        bells = [math.exp(exponent - max(exponents)) for exponent in exponents]
        heights.append(sum(b * height for b, height in zip(bells, y, strict=True)) / sum(bells))
    return heights


@alternative("kernel_smooth")
def kernel_in_single_precision(x, y, query, sigma):
    x, y, query = (np.asarray(part, dtype=np.float32) for part in (x, y, query))
    exponents = -0.5 * np.subtract.outer(query, x) ** 2 / np.float32(sigma) ** 2
    bells = np.exp(exponents - exponents.max(1, keepdims=True))
    return (bells * y).sum(1) / bells.sum(1)


@alternative("kernel_smooth")
def kernel_with_log_weights(x, y, query, sigma):
    z = (x[:, np.newaxis] - query) / sigma
    logs = -z * z / 2
    logs = logs - np.logaddexp.reduce(logs, axis=0)
    return np.einsum("nm,n->m", np.exp(logs), y)
