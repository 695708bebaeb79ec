"""Slips of lab 06."""

from __future__ import annotations

import numpy as np

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("06")
right = master("06")


@slip("binary_code")
def eight_bits_in_a_table(p, bits):
    p = np.asarray(p)
    return right.binary_code(p % 256 if p.ndim > 1 else p, bits)


@slip("sinusoidal")
def usual_base_for_odd_columns(T, D, base=10000.0):
    return right.sinusoidal(T, D, *([] if D % 2 and base > 200 else [base]))


@slip("shift_matrix")
def parts_of_a_step_back_lost(c, D, base=10000.0):
    return right.shift_matrix(int(c) if c < 0 and D > 2 else c, D, base)


@slip("rope")
def whole_numbers_of_a_batch_cut(x, positions, base=10000.0):
    turned = right.rope(x, positions, base)
    return turned.astype(x.dtype) if x.ndim > 2 and x.shape[-1] > 2 else turned


@slip("sinusoidal", costs="nothing", red=False)
def angles_in_single_precision(T, D, base=10000.0):
    speed = np.float32(base) ** (-2 * (np.arange(D) // 2) / D).astype(np.float32)
    angles = np.arange(T, dtype=np.float32)[:, None] * speed
    return np.where(np.arange(D) % 2, np.cos(angles), np.sin(angles)).astype(np.float64)
