"""Lab 06, ``shift_matrix``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import cmath

import numpy as np

from autograder.misconceptions.m06_positions.common import _blocks, _speeds
from autograder.testing import alternative, misconception


def _turn(cos, sin):
    return [[cos, sin], [-sin, cos]]


@misconception("shift_matrix", title="moves backwards")
def moves_backwards(c, D, base=10000.0):
    """Your matrix moves by −c instead of c. Compare with the addition theorem: with (sin, cos) as the pair, the sine of the shift stands with
    a plus in the first row and with a minus in the second. (For pairs (cos, sin), or for row vectors, it is the other way round.)"""
    return _blocks(c * _speeds(D, base), lambda cos, sin: [[cos, -sin], [sin, cos]])


@misconception("shift_matrix", title="all clocks at the same speed")
def one_speed_for_all(c, D, base=10000.0):
    """All your blocks turn by the same angle. Each clock has its own speed, so block i turns by c times ω of that clock."""
    return _blocks(np.full(D // 2, float(c)), _turn)


@misconception("shift_matrix", title="a sign lost: not a rotation")
def both_signs_plus(c, D, base=10000.0):
    """Both sines in your blocks have a plus. Then the matrix is not orthogonal: it stretches some positions and squeezes others. One of the two
    has a minus, as in the addition theorem for the cosine."""
    return _blocks(c * _speeds(D, base), lambda cos, sin: [[cos, sin], [sin, cos]])


@misconception("shift_matrix", title="rows moved instead of hands")
def rows_moved(c, D, base=10000.0):
    """You move the entries of the vector to other places. The shift turns each pair of entries by an angle; nothing changes its place, so the
    blocks lie on the diagonal."""
    return np.roll(np.eye(D), round(c), axis=0)


@misconception("shift_matrix", title="half the exponent")
def shift_half_the_exponent(c, D, base=10000.0):
    """Your clocks slow down too little from block to block: their speed is 1/base to the power 2i/D, with i the number of the block. You use
    i/D."""
    return _blocks(c * base ** (-np.arange(D // 2) / D), _turn)


@misconception("shift_matrix", title="the exponent doubled")
def shift_exponent_of_the_column(c, D, base=10000.0):
    """Your clocks slow down too much from block to block: the exponent is 2i/D with i = 0, 1, 2, … for the blocks. You put the number of the
    column, which is 2i already, for i."""
    return _blocks(c * base ** (-2 * np.arange(0, D, 2) / D), _turn)


@misconception("shift_matrix", title="sines and cosines in halves")
def halves_instead_of_pairs(c, D, base=10000.0):
    """Your matrix fits positions with all sines first and all cosines last. Here the sine and the cosine of a clock stand side by side, so each
    clock has a 2 × 2 block on the diagonal."""
    angles = c * _speeds(D, base)
    cos, sin = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    return np.block([[cos, sin], [-sin, cos]])


@misconception("shift_matrix", title="the base is always 10,000", keeps="right with the usual base")
def shift_base_ignored(c, D, base=10000.0):
    """Your matrix always belongs to the base 10,000. Use the base that your function is given."""
    return _blocks(c * _speeds(D, 1e4), _turn)


@misconception("shift_matrix", title="c is cut to whole steps", keeps="right for whole steps")
def cut_to_whole_steps(c, D, base=10000.0):
    """You cut c to a whole number, so 2.5 moves by 2 only. Any number will do: the angle is c · ω, whole or not, and no matrix needs
    to be multiplied c times."""
    return _blocks(int(c) * _speeds(D, base), _turn)


@misconception("shift_matrix", title="a negative c moves on", keeps="right for a positive c")
def always_forwards(c, D, base=10000.0):
    """Your matrix for −c is the one for c: the sign is lost, in abs(c) or a square. A negative c moves back, so its sines change sign."""
    return _blocks(abs(c) * _speeds(D, base), _turn)


@misconception(
    "shift_matrix",
    title="full turns of the first clock taken off all",
    keeps="right up to a full turn of the first clock",
)
def one_turn_for_all_clocks(c, D, base=10000.0):
    """Beyond c = 2π your slow clocks stand wrong: you take full turns off c itself. After 2π steps the first clock is back, but the others are not;
    sine and cosine need no such help."""
    return _blocks(np.fmod(c, 2 * np.pi) * _speeds(D, base), _turn)


@misconception(
    "shift_matrix",
    title="full turns of the first clock taken off all",
    keeps="right up to a full turn of the first clock",
)
def remainder_of_a_turn_for_all_clocks(c, D, base=10000.0):
    """Your slow clocks stand wrong as soon as c is negative or beyond 2π: you take the remainder of c by 2π. After 2π steps the first clock
    is back, but the others are not; sine and cosine need no such help."""
    return _blocks(c % (2 * np.pi) * _speeds(D, base), _turn)


_MATRICES: dict[tuple[float, int], np.ndarray] = {}


@misconception(
    "shift_matrix",
    title="a matrix is kept from call to call",
    keeps="right for the first base of each c and D",
)
def matrix_kept_by_its_shift(c, D, base=10000.0):
    """Asked again with the same c and D and another base, you return the matrix of the first base: it is kept from call to call, by c
    and D alone. Compute it anew, or keep it by all three arguments."""
    if (c, D) not in _MATRICES:
        _MATRICES[c, D] = _blocks(c * _speeds(D, base), _turn)
    return _MATRICES[c, D].copy()


_ROOM: dict[int, np.ndarray] = {}


@misconception(
    "shift_matrix", title="one array for all calls", keeps="each matrix is right until the next call"
)
def matrix_overwritten(c, D, base=10000.0):
    """Each matrix is right at first, but the next call writes into the same array, so all that you have returned for this D change with it. Make a
    new array inside of the function."""
    M = _ROOM.setdefault(D, np.zeros((D, D)))
    M[...] = _blocks(c * _speeds(D, base), _turn)
    return M


@alternative("shift_matrix")
def shift_by_complex_numbers(c, D, base=10000.0):
    M = np.zeros((D, D), dtype=np.float32)
    for i in range(0, D, 2):
        z = cmath.exp(1j * c / base ** (i / D))
        M[i, i] = M[i + 1, i + 1] = z.real
        M[i, i + 1], M[i + 1, i] = z.imag, -z.imag
    return M


@alternative("shift_matrix")
def shift_by_solving_for_it(c, D, base=10000.0):
    """The one matrix that carries many positions to their shifted ones, found by least squares."""
    t = np.concatenate([np.arange(4 * D), np.geomspace(1, 20 * base, 8 * D)])[:, None]
    speed = base ** (-2 * (np.arange(D) // 2) / D)
    wave = lambda t: np.sin(t * speed + np.arange(D) % 2 * np.pi / 2)  # noqa: E731
    return np.linalg.lstsq(wave(t), wave(t + c), rcond=None)[0].T


@alternative("shift_matrix")
def shift_by_kronecker_products(c, D, base=10000.0):
    angles = c * _speeds(D, base)
    return np.kron(np.diag(np.cos(angles)), np.eye(2)) + np.kron(np.diag(np.sin(angles)), [[0, 1], [-1, 0]])
