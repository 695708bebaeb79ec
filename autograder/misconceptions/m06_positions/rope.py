"""Lab 06, ``rope``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m06_positions.common import _blocks, _speeds
from autograder.testing import alternative, misconception


def _turned(x, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def _rope_angles(x, positions, base):
    return np.asarray(positions, dtype=float)[:, None] * _speeds(x.shape[-1], base)


@misconception("rope", title="first half paired with second half")
def halves_paired(x, positions, base=10000.0):
    """You pair entry i with entry i + D/2, as some libraries do. Here neighbours are pairs: 0 with 1, 2 with 3, as in the paper. Weights that are
    trained one way do not work the other way, so the choice is pinned."""
    angles = _rope_angles(x, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


@misconception("rope", title="turned the other way", keeps="right in all but the direction")
def turned_clockwise(x, positions, base=10000.0):
    """Your arrows turn clockwise. Dot products still know the distance, but the sign of it is swapped: turn anticlockwise, with the minus in front
    of the first sine."""
    return _turned(x, -_rope_angles(x, positions, base))


@misconception("rope", title="positions added instead of turned")
def positions_added(x, positions, base=10000.0):
    """You add sines and cosines to the vector. That is the older way; here nothing is added, each pair of entries is turned, and its length stays
    as it was."""
    angles = _rope_angles(x, positions, base)
    return x + np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)


@misconception("rope", title="the given positions not used")
def order_of_the_rows(x, positions, base=10000.0):
    """You turn by 0, 1, 2, … in the order of the rows, whatever positions are given. A word may stand anywhere, for example late in a sentence of which
    only the end is passed in."""
    return _turned(x, _rope_angles(x, np.arange(x.shape[-2]), base))


@misconception("rope", title="all pairs at the same speed")
def all_pairs_at_one_speed(x, positions, base=10000.0):
    """All your pairs turn by the same angle. Each pair has its own clock, slower from pair to pair: with one speed, places 44 steps apart would look
    the same."""
    return _turned(x, np.repeat(np.asarray(positions, dtype=float)[:, None], x.shape[-1] // 2, axis=1))


@misconception("rope", title="half the exponent")
def rope_half_the_exponent(x, positions, base=10000.0):
    """Your clocks slow down too little from pair to pair: the exponent is 2i/D, with i the number of the pair. You use i/D."""
    D = x.shape[-1]
    return _turned(x, np.asarray(positions, dtype=float)[:, None] * base ** (-np.arange(D // 2) / D))


@misconception("rope", title="the base is always 10,000", keeps="right with the usual base")
def rope_base_ignored(x, positions, base=10000.0):
    """Your clocks always use the base 10,000. Use the base that your function is given."""
    return _turned(x, _rope_angles(x, positions, 1e4))


@misconception("rope", title="the new first entry used for the second")
def overwritten_while_turning(x, positions, base=10000.0):
    """You compute the second entry of a pair from the first entry that is turned already. Both new entries come from the two *old* ones: keep them until
    both are computed."""
    y = np.array(x, dtype=float)
    angles = _rope_angles(x, positions, base)
    y[..., 0::2] = y[..., 0::2] * np.cos(angles) - y[..., 1::2] * np.sin(angles)
    y[..., 1::2] = y[..., 0::2] * np.sin(angles) + y[..., 1::2] * np.cos(angles)
    return y


@misconception("rope", title="x is changed", keeps="right for real numbers, but for the change")
def rope_in_place(x, positions, base=10000.0):
    """You write the turned vectors into x itself: the caller's vectors are lost, and where x holds whole numbers all fractions, too. Write into a
    new array of real numbers."""
    x[...] = _turned(x, _rope_angles(x, positions, base))
    return x


@misconception("rope", title="cut to whole numbers", keeps="right for an x of real numbers")
def as_whole_as_x(x, positions, base=10000.0):
    """Where x holds whole numbers your result is cut to whole numbers: an array made like x (empty_like, zeros_like) has its dtype. Make one of
    real numbers: np.empty(x.shape)."""
    y = np.empty_like(x)
    y[...] = _turned(x, _rope_angles(x, positions, base))
    return y


@misconception("rope", title="made for two axes", keeps="right for an x with two axes")
def rope_for_two_axes(x, positions, base=10000.0):
    """For x of shape (T, D) your result is right, but in a batch the entries stand in other places: the new axis of the pairs is axis 2 there,
    and no longer the last one. Use axis=-1, which counts from the end."""
    angles = _rope_angles(x, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=2).reshape(x.shape)


@misconception("rope", title="positions cut to whole numbers", keeps="right at whole positions")
def at_whole_positions(x, positions, base=10000.0):
    """You cut the positions to whole numbers, so a word at 2.5 is turned as at 2. A position need not be whole: the angle is position times
    speed, as it is."""
    return _turned(x, _rope_angles(x, np.asarray(positions).astype(int), base))


@misconception("rope", title="the sign of the positions is lost", keeps="right at positions from 0 on")
def at_positions_without_sign(x, positions, base=10000.0):
    """A word at −2 is turned as at 2: the sign of the position is lost. A negative position turns backwards."""
    return _turned(x, _rope_angles(x, np.abs(positions), base))


@misconception("rope", title="counted from the first position", keeps="right where the first position is 0")
def from_the_first_position(x, positions, base=10000.0):
    """You take the first position off all of them, so the first word is never turned. Between the words of *one* call nothing changes by that, but
    two calls no longer fit together: turn by the positions as they are given."""
    return _turned(x, _rope_angles(x, np.asarray(positions) - positions[0], base))


@misconception("rope", title="positions looked up in a table", keeps="right at whole positions from 0 on")
def looked_up_in_a_table(x, positions, base=10000.0):
    """You look the positions up in a table with a row for 0, 1, 2, …, so a fraction ends in an error, and a negative position gets a row from the end. Compute
    the angles from the positions themselves."""
    angles = _rope_angles(x, np.arange(int(max(positions)) + 1), base)[positions]
    return _turned(x, angles)


@misconception("rope", title="x itself where nothing turns", keeps="right where anything turns")
def x_itself_where_nothing_turns(x, positions, base=10000.0):
    """Where all positions are 0 you return x itself. The result is a new array of real numbers, also where nothing turns: who changes the
    one would change the other."""
    if not np.any(positions):
        return x
    return _turned(x, _rope_angles(x, positions, base))


@misconception("rope", title="the turned pairs put back in halves", keeps="right for a single pair")
def put_back_in_halves(x, positions, base=10000.0):
    """You turn the right pairs, but put all new first entries before all second ones. Each pair goes back to where it was: np.stack with
    axis=-1 and then reshape, or assign to [..., 0::2] and [..., 1::2]."""
    angles = _rope_angles(x, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


@alternative("rope")
def rope_by_complex_numbers(x, positions, base=10000.0):
    z = np.ascontiguousarray(x, dtype=float).view(complex)
    turned = z * np.exp(1j * np.outer(positions, _speeds(x.shape[-1], base)))
    return turned.view(float)


@alternative("rope")
def rope_by_matrices(x, positions, base=10000.0):
    D = x.shape[-1]
    speeds = _speeds(D, base)
    R = np.stack([_blocks(m * speeds, lambda cos, sin: [[cos, -sin], [sin, cos]]) for m in positions])
    return np.einsum("tij,...tj->...ti", R, x)


@alternative("rope")
def rope_in_torch_float32(x, positions, base=10000.0):
    import torch

    x = torch.tensor(np.ascontiguousarray(x), dtype=torch.float32)
    D = x.shape[-1]
    speed = 1.0 / base ** (torch.arange(0, D, 2).float() / D)
    angle = torch.tensor(np.array(positions, dtype=np.float32))[:, None] * speed
    cos, sin = angle.cos().repeat_interleave(2, -1), angle.sin().repeat_interleave(2, -1)
    other = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return x * cos + other * sin
