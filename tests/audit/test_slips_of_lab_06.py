"""Lab 06: slips in one branch only, or where two features meet, lose one test and turn the card red; single precision costs nothing."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.course.masters import solution

from .slips import loses_a_little, points_kept

LAB = "06_positions"


def _eight_bits_in_a_table(p, bits):
    p = np.asarray(p)
    return solution(LAB)["binary_code"](p % 256 if p.ndim > 1 else p, bits)


def _usual_base_for_odd_columns(T, D, base=10000.0):
    return solution(LAB)["sinusoidal"](T, D, *([] if D % 2 and base > 200 else [base]))


def _parts_of_a_step_back_lost(c, D, base=10000.0):
    return solution(LAB)["shift_matrix"](int(c) if c < 0 and D > 2 else c, D, base)


def _whole_numbers_of_a_batch_cut(x, positions, base=10000.0):
    turned = solution(LAB)["rope"](x, positions, base)
    return turned.astype(x.dtype) if x.ndim > 2 and x.shape[-1] > 2 else turned


SLIPS = [
    ("binary_code", _eight_bits_in_a_table),
    ("sinusoidal", _usual_base_for_odd_columns),
    ("shift_matrix", _parts_of_a_step_back_lost),
    ("rope", _whole_numbers_of_a_batch_cut),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "slip"), SLIPS, ids=lambda value: getattr(value, "__name__", value))
def test_a_slip_in_one_branch_loses_a_little_and_turns_the_card_red(question, slip):
    loses_a_little(LAB, question, slip)


def _angles_in_single_precision(T, D, base=10000.0):
    speed = np.float32(base) ** (-2 * (np.arange(D) // 2) / D).astype(np.float32)
    angles = np.arange(T, dtype=np.float32)[:, None] * speed
    return np.where(np.arange(D) % 2, np.cos(angles), np.sin(angles)).astype(np.float64)


def test_angles_in_single_precision_cost_nothing():
    assert points_kept(LAB, "sinusoidal", _angles_in_single_precision) == 1
