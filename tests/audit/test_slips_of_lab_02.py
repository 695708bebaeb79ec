"""Lab 02: slips in one branch only, or where two features meet, lose something; numbers made up earn nothing."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.course.masters import solution

from .slips import loses_a_little, points_kept

LAB = "02_dirichlet_map"


def _half_without_tosses_if_a_knob_is_one(k, n, a, b):
    a_new, b_new, mode, mean = solution(LAB)["beta_posterior"](k, n, a, b)
    return a_new, b_new, 0.5 if n == 0 and 1 in (a, b) else mode, mean


def _map_over_axis_1_for_arrays(N, alpha):
    weight = N + (np.asarray(alpha) - 1.0)
    axis = 1 if np.ndim(alpha) else -1
    total = weight.sum(axis=axis, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _zeros_if_any_knob_is_one(N, alpha):
    P = np.array(solution(LAB)["dirichlet_map"](N, alpha))
    one = (np.broadcast_to(alpha, np.shape(N)) == 1).any(-1)
    P[(np.asarray(N).sum(-1) == 0) & one] = 0
    return P


def _nan_unless_all_knobs_are_one(N, alpha):
    weight = N + np.asarray(alpha) - 1.0
    total = weight.sum(axis=-1, keepdims=True)
    return weight / (np.where(total == 0, 1, total) if np.all(np.asarray(alpha) == 1) else total)


def _mean_over_axis_1_for_arrays(N, alpha):
    weight = N + np.asarray(alpha)
    return weight / weight.sum(axis=1 if np.ndim(alpha) else -1, keepdims=True)


def _squeezed_costs(train, dev, grid):
    best, costs = solution(LAB)["choose_alpha"](train, dev, grid)
    return best, np.squeeze(costs)


def _rows_of_tables_only(train, dev, grid):
    if np.ndim(train) == 1:
        train, dev = train[:, None], dev[:, None]
    return solution(LAB)["choose_alpha"](train, dev, grid)


def _nan_for_a_single_row_never_seen(counts, shorter, alpha):
    P = solution(LAB)["interpolate"](counts, shorter, alpha)
    return P if np.ndim(counts) > 1 or np.any(counts) else P * np.nan


SLIPS = [
    ("beta_posterior", _half_without_tosses_if_a_knob_is_one),
    ("dirichlet_map", _map_over_axis_1_for_arrays),
    ("dirichlet_map", _zeros_if_any_knob_is_one),
    ("dirichlet_map", _nan_unless_all_knobs_are_one),
    ("dirichlet_mean", _mean_over_axis_1_for_arrays),
    ("choose_alpha", _squeezed_costs),
    ("choose_alpha", _rows_of_tables_only),
    ("interpolate", _nan_for_a_single_row_never_seen),
]


def _made_up(*given):
    return 1e9, 1e9, 0.5, 0.5


def _made_up_within_reach(*given):
    return 10, 10, 0.5, 0.5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "slip"), SLIPS, ids=lambda value: getattr(value, "__name__", value))
def test_a_slip_in_one_branch_loses_a_little_and_turns_the_card_red(question, slip):
    loses_a_little(LAB, question, slip)


@pytest.mark.parametrize("answer", [_made_up, _made_up_within_reach])
def test_a_posterior_that_is_made_up_earns_nothing(answer):
    assert points_kept(LAB, "beta_posterior", answer) == 0
