"""Slips of lab 02."""

from __future__ import annotations

import numpy as np

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("02")
right = master("02")


@slip("beta_posterior")
def half_without_tosses_if_a_knob_is_one(k, n, a, b):
    a_new, b_new, mode, mean = right.beta_posterior(k, n, a, b)
    return a_new, b_new, 0.5 if n == 0 and 1 in (a, b) else mode, mean


@slip("dirichlet_map")
def map_over_axis_1_for_arrays(N, alpha):
    weight = N + (np.asarray(alpha) - 1.0)
    axis = 1 if np.ndim(alpha) else -1
    total = weight.sum(axis=axis, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


@slip("dirichlet_map")
def zeros_if_any_knob_is_one(N, alpha):
    P = np.array(right.dirichlet_map(N, alpha))
    one = (np.broadcast_to(alpha, np.shape(N)) == 1).any(-1)
    P[(np.asarray(N).sum(-1) == 0) & one] = 0
    return P


@slip("dirichlet_map")
def nan_unless_all_knobs_are_one(N, alpha):
    weight = N + np.asarray(alpha) - 1.0
    total = weight.sum(axis=-1, keepdims=True)
    return weight / (np.where(total == 0, 1, total) if np.all(np.asarray(alpha) == 1) else total)


@slip("dirichlet_mean")
def mean_over_axis_1_for_arrays(N, alpha):
    weight = N + np.asarray(alpha)
    return weight / weight.sum(axis=1 if np.ndim(alpha) else -1, keepdims=True)


@slip("choose_alpha")
def squeezed_costs(train, dev, grid):
    best, costs = right.choose_alpha(train, dev, grid)
    return best, np.squeeze(costs)


@slip("choose_alpha")
def rows_of_tables_only(train, dev, grid):
    if np.ndim(train) == 1:
        train, dev = train[:, None], dev[:, None]
    return right.choose_alpha(train, dev, grid)


@slip("interpolate")
def nan_for_a_single_row_never_seen(counts, shorter, alpha):
    P = right.interpolate(counts, shorter, alpha)
    return P if np.ndim(counts) > 1 or np.any(counts) else P * np.nan


@slip("beta_posterior", costs="everything", red=None)
def made_up(*given):
    return 1e9, 1e9, 0.5, 0.5


@slip("beta_posterior", costs="everything", red=None)
def made_up_within_reach(*given):
    return 10, 10, 0.5, 0.5
