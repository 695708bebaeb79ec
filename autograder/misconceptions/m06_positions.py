"""Named wrong answers to lab 06 with their hints, and correct answers in other styles."""

from __future__ import annotations

import cmath
import math

import numpy as np

from autograder.answers import alternative, misconception

# --------------------------------------------------------------------------------------------- binary_code


@misconception("binary_code", title="the lowest bit first")
def lowest_bit_first(p, bits):
    """Your codes are in reverse order. On paper, and here, the bit with the highest value stands first, on the left."""
    return np.asarray(p)[..., None] // 2 ** np.arange(bits) % 2


@misconception("binary_code", title="counting from one")
def codes_from_one(p, bits):
    """Each code is that of the next number. Positions start at 0, and 0 is all zeros."""
    return (np.asarray(p)[..., None] + 1) // 2 ** np.arange(bits)[::-1] % 2


@misconception("binary_code", title="bits in rows")
def bits_in_rows(p, bits):
    """The axis of the bits comes first in your result. It should be the last one, after all axes of p."""
    return np.moveaxis(np.asarray(p)[..., None] // 2 ** np.arange(bits)[::-1] % 2, -1, 0)


@misconception("binary_code", title="the whole quotient instead of its last bit")
def quotients(p, bits):
    """You divide by the value of each bit but keep the whole quotient. Only its remainder by 2 is the bit: 5 // 2 is 2, and its
    bit is 0."""
    return np.asarray(p)[..., None] // 2 ** np.arange(bits)[::-1]


@misconception("binary_code", title="one number that looks binary")
def looks_binary(p, bits):
    """You return one number whose decimal digits look binary, such as 101. Each bit needs a place of its own in the last axis."""
    return np.vectorize(lambda number: int(format(int(number), "b")))(np.asarray(p))


@misconception("binary_code", title="a single 1, as in one-hot rows")
def highest_bit_only(p, bits):
    """You set a single bit for each number. That is a one-hot code, which needs as many places as there are numbers; in binary several
    bits can be 1 at once."""
    exponent = np.floor(np.log2(np.maximum(np.asarray(p), 1))).astype(int)
    code = (exponent[..., None] == np.arange(bits)[::-1]).astype(int)
    return code * (np.asarray(p)[..., None] > 0)


@alternative("binary_code")
def code_by_shifting(p, bits):
    p = np.asarray(p, dtype=np.int64)
    return np.stack([(p >> k) & 1 for k in reversed(range(bits))], axis=-1).astype(np.float32)


@alternative("binary_code")
def code_by_repeated_division_in_lists(p, bits):
    if hasattr(p, "tolist"):
        p = p.tolist()
    if isinstance(p, (list, tuple)):
        return [code_by_repeated_division_in_lists(part, bits) for part in p]
    digits: list[int] = []
    for _ in range(bits):
        p, last = divmod(p, 2)
        digits.insert(0, last)
    return digits


@alternative("binary_code")
def code_by_subtracting_from_above(p, bits):
    rest = np.array(p, dtype=float)
    columns = []
    for k in range(bits - 1, -1, -1):
        columns.append(rest >= 2**k)
        rest = rest - 2**k * columns[-1]
    return np.stack(columns, axis=-1)


# ---------------------------------------------------------------------------------------------- sinusoidal


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


@misconception("sinusoidal", title="an odd number of columns breaks")
def odd_breaks(T, D, base=10000.0):
    """With an odd number of columns your function fails: there is one cosine column less than there are sines. Compute the angles for
    all sines, and use as many of them for the cosines as there is room."""
    P = np.zeros((T, D))
    angles = _angles(T, np.arange(0, D, 2) / D, base)
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles)
    return P


@misconception("sinusoidal", title="an odd number rounded up in the exponent")
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


# -------------------------------------------------------------------------------------------- shift_matrix


def _blocks(angles, block):
    D = 2 * len(angles)
    M = np.zeros((D, D))
    for i, angle in enumerate(angles):
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block(np.cos(angle), np.sin(angle))
    return M


def _turn(cos, sin):
    return [[cos, sin], [-sin, cos]]


def _speeds(D, base):
    return base ** (-np.arange(0, D, 2) / D)


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


@misconception("shift_matrix", title="sines and cosines in halves")
def halves_instead_of_pairs(c, D, base=10000.0):
    """Your matrix fits positions with all sines first and all cosines last. Here the sine and the cosine of a clock stand side by side, so each
    clock has a 2 × 2 block on the diagonal."""
    angles = c * _speeds(D, base)
    cos, sin = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    return np.block([[cos, sin], [-sin, cos]])


@misconception("shift_matrix", title="the base is always 10,000")
def shift_base_ignored(c, D, base=10000.0):
    """Your matrix always belongs to the base 10,000. Use the base that your function is given."""
    return _blocks(c * _speeds(D, 1e4), _turn)


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


# ---------------------------------------------------------------------------------------------------- rope


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


@misconception("rope", title="turned the other way")
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


@misconception("rope", title="the base is always 10,000")
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


@alternative("rope")
def rope_by_complex_numbers(x, positions, base=10000.0):
    z = np.ascontiguousarray(x).view(complex)
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
