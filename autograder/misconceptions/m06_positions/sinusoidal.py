"""Lab 06, ``sinusoidal``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import alternative, misconception


def _angles(T, exponents, base):
    return np.arange(T)[:, None] / base ** np.asarray(exponents)


@misconception("sinusoidal", title="all sines first, all cosines last")
def sines_first(T, D, base=10000.0):
    """Your first columns are all sines and the last ones all cosines. Some programs do it like that, but here, as in the paper, the sine
    and the cosine of a clock stand side by side."""
    angles = _angles(T, np.arange(0, D, 2) / D, base)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :D]


@misconception("sinusoidal", title="every column its own frequency")
def own_frequency_for_each_column(T, D, base=10000.0):
    """Your cosine columns are slower than the sines beside them. Both columns of a clock share the exponent 2i/D: otherwise they are not
    the two coordinates of one hand, and no matrix can move them on."""
    angles = _angles(T, np.arange(D) / D, base)
    return np.where(np.arange(D) % 2, np.cos(angles), np.sin(angles))


@misconception("sinusoidal", title="every column its own frequency")
def own_frequency_doubled(T, D, base=10000.0):
    """You put the number of the column for i in 2i/D, so the two columns of a clock turn at different speeds. i is the number of the pair,
    the same for its sine and its cosine."""
    angles = _angles(T, 2 * np.arange(D) / D, base)
    return np.where(np.arange(D) % 2, np.cos(angles), np.sin(angles))


@misconception("sinusoidal", title="half the exponent")
def half_the_exponent(T, D, base=10000.0):
    """Your clocks slow down too little from one pair to the next: the exponent is 2i/D, where i is the number of the pair. You use
    i/D."""
    angles = _angles(T, (np.arange(D) // 2) / D, base)
    return np.where(np.arange(D) % 2, np.cos(angles), np.sin(angles))


@misconception("sinusoidal", title="the exponent doubled")
def exponent_of_the_column(T, D, base=10000.0):
    """You put the number of the column where the number of the pair belongs: the exponent is 2i/D with i = 0, 1, 2, … for the pairs, so
    column 2 has the exponent 2/D, not 4/D."""
    column = np.arange(D)
    angles = _angles(T, 2 * (column - column % 2) / D, base)
    return np.where(column % 2, np.cos(angles), np.sin(angles))


@misconception("sinusoidal", title="sine and cosine swapped")
def cosine_first(T, D, base=10000.0):
    """Sine and cosine have changed places. The even columns (0, 2, …) are sines: at place 0 a row reads 0, 1, 0, 1."""
    column = np.arange(D)
    angles = _angles(T, 2 * (column // 2) / D, base)
    return np.where(column % 2, np.sin(angles), np.cos(angles))


@misconception("sinusoidal", title="positions from one")
def positions_from_one(T, D, base=10000.0):
    """Your first row belongs to place 1. Positions start at 0, where every sine is 0 and every cosine 1."""
    column = np.arange(D)
    angles = (np.arange(T)[:, None] + 1) / base ** (2 * (column // 2) / D)
    return np.where(column % 2, np.cos(angles), np.sin(angles))


@misconception("sinusoidal", title="the base is always 10,000")
def base_ignored(T, D, base=10000.0):
    """Your function always uses the base 10,000. Use the base that it is given."""
    column = np.arange(D)
    return np.where(
        column % 2,
        np.cos(_angles(T, 2 * (column // 2) / D, 1e4)),
        np.sin(_angles(T, 2 * (column // 2) / D, 1e4)),
    )


@misconception(
    "sinusoidal",
    title="an odd number of columns breaks",
    keeps="right for an even number of columns, which is the rule",
)
def odd_breaks(T, D, base=10000.0):
    """With an odd number of columns your function fails: there is one cosine column less than there are sines. Compute the angles for
    all sines, and use as many of them for the cosines as there is room."""
    P = np.zeros((T, D))
    angles = _angles(T, np.arange(0, D, 2) / D, base)
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles)
    return P


@misconception(
    "sinusoidal",
    title="an odd number rounded up in the exponent",
    keeps="right for an even number of columns, which is the rule",
)
def odd_rounded_up(T, D, base=10000.0):
    """With an odd number of columns you compute one column more and cut it off. Then the exponent has D + 1 below the line instead of D,
    and all clocks but the first run at another speed."""
    return _even(T, D + D % 2, base)[:, :D]


@misconception("sinusoidal", title="the slowest clock at exactly the base")
def last_clock_at_base(T, D, base=10000.0):
    """You spread the clocks so that the slowest has exactly the speed 1/base, dividing by D/2 − 1. The paper's exponent is 2i/D, and the
    slowest clock is a little faster than that."""
    column = np.arange(D)
    angles = _angles(T, (column // 2) / max((D + 1) // 2 - 1, 1), base)
    return np.where(column % 2, np.cos(angles), np.sin(angles))


@misconception(
    "sinusoidal",
    title="the last of an odd number of columns stays empty",
    keeps="right for an even number of columns, which is the rule",
)
def last_column_empty(T, D, base=10000.0):
    """With an odd number of columns your last one is all zeros: you fill whole pairs only. It is the sine of one more clock, whose cosine has
    no room."""
    P = np.zeros((T, D))
    P[:, : D - D % 2] = _even(T, D, base)[:, : D - D % 2]
    return P


@misconception(
    "sinusoidal",
    title="the last of an odd number of columns a cosine",
    keeps="right for an even number of columns, which is the rule",
)
def last_column_a_cosine(T, D, base=10000.0):
    """With an odd number of columns your last one is the cosine of its clock. It is the sine, as in every even column; the cosine has no
    room."""
    P = _even(T, D, base)
    if D % 2:
        P[:, -1] = np.cos(np.arange(T) / base ** ((D - 1) / D))
    return P


@misconception("sinusoidal", title="a base above 1 only", keeps="right for a base above 1, which is the rule")
def base_above_one(T, D, base=10000.0):
    """Your function refuses a base of 1 or less. Any positive base will do: with 1 all clocks turn alike, and below 1 they turn faster and
    faster."""
    if base <= 1:
        raise ValueError("base must be larger than 1")
    return _even(T, D, base)


@misconception("sinusoidal", title="a table that ends", keeps="right up to the end of its table")
def first_rows_of_a_table(T, D, base=10000.0):
    """You make a table of a fixed number of rows and return the first T of them, as some programs do. A longer sentence gets too few rows: make as
    many as are asked for."""
    return _even(5000, D, base)[:T]


@misconception("sinusoidal", title="rounded to two decimals")
def rounded_to_two_decimals(T, D, base=10000.0):
    """Your values are right, but rounded to two decimals, as they are printed. Return them as they are: the slow clocks move by less than that
    in a step, so neighbours would look the same."""
    return _even(T, D, base).round(2)


_TABLES: dict[tuple[int, int], np.ndarray] = {}


@misconception(
    "sinusoidal", title="a table is kept from call to call", keeps="right for the first base of each T and D"
)
def table_kept_by_its_size(T, D, base=10000.0):
    """Asked again with the same T and D and another base, you return the table of the first base: it is kept from call to call, by T and
    D alone. Compute it anew, or keep it by all three arguments."""
    if (T, D) not in _TABLES:
        _TABLES[T, D] = _even(T, D, base)
    return _TABLES[T, D].copy()


@misconception(
    "sinusoidal", title="an axis of length one disappears", keeps="right for several rows and columns"
)
def positions_squeezed(T, D, base=10000.0):
    """With T = 1 or D = 1 your result has lost an axis: squeeze() drops each axis of length one. It stays a table (T, D)."""
    return _even(T, D, base).squeeze()


def _even(T, D, base):
    column = np.arange(D)
    angles = _angles(T, 2 * (column // 2) / D, base)
    return np.where(column % 2, np.cos(angles), np.sin(angles))


@alternative("sinusoidal")
def sinusoidal_in_lists(T, D, base=10000.0):
    wave = (math.sin, math.cos)
    return [[wave[j % 2](t / base ** ((j - j % 2) / D)) for j in range(D)] for t in range(T)]


@alternative("sinusoidal")
def sinusoidal_as_shifted_sines(T, D, base=10000.0):
    column = np.arange(D)
    speed = np.exp(-math.log(base) * (2 * (column // 2)) / D)
    return np.sin(np.arange(T).reshape(-1, 1) * speed + (column % 2) * math.pi / 2)


@alternative("sinusoidal")
def sinusoidal_in_torch_float32(T, D, base=10000.0):
    import torch

    P = torch.zeros(T, D)
    speed = torch.exp(torch.arange(0, D, 2) * (-math.log(base) / D))
    angles = torch.arange(T).unsqueeze(1) * speed
    P[:, 0::2] = torch.sin(angles)
    P[:, 1::2] = torch.cos(angles)[:, : D // 2]
    return P


@alternative("sinusoidal")
def sinusoidal_by_complex_turning(T, D, base=10000.0):
    pairs = (D + 1) // 2
    turn = np.exp(1j * base ** (-2 * np.arange(pairs) / D))
    hands = turn[None, :] ** np.arange(T)[:, None]
    return np.stack([hands.imag, hands.real], axis=2).reshape(T, 2 * pairs)[:, :D]
