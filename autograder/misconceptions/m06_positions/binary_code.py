"""Lab 06, ``binary_code``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


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


@misconception("binary_code", title="the bits' values instead of 1")
def values_of_the_bits(p, bits):
    """Where a bit is 1 you write its value (4, 2, 1) instead: 5 gives 0, 4, 0, 1. Each place holds 0 or 1; the value follows from the place."""
    return np.asarray(p)[..., None] & 2 ** np.arange(bits)[::-1]


@misconception("binary_code", title="numbers kept in eight bits", keeps="right for numbers up to 255")
def numbers_of_eight_bits(p, bits):
    """Your codes are right up to 255. Larger numbers begin again at 0, for you keep p in an array of eight bits (uint8), which holds no more."""
    p = np.asarray(p).astype(np.uint8).astype(int)
    return p[..., None] // 2 ** np.arange(bits)[::-1] % 2


@misconception("binary_code", title="numbers kept in sixteen bits", keeps="right for numbers up to 32,767")
def numbers_of_sixteen_bits(p, bits):
    """Your codes are right up to 32,767. You keep p in an array of sixteen bits (int16), which holds no larger number."""
    p = np.asarray(p).astype(np.int16).astype(int)
    return p[..., None] // 2 ** np.arange(bits)[::-1] % 2


@misconception("binary_code", title="numbers kept in 32 bits", keeps="right for numbers below 2**31")
def numbers_of_thirty_two_bits(p, bits):
    """Your codes are right up to 2**31 − 1. You keep p in an array of 32 bits (int32), which holds no larger number."""
    p = np.asarray(p).astype(np.int64).astype(np.int32).astype(np.int64)
    return p[..., None] // 2 ** np.arange(bits)[::-1] % 2


@misconception("binary_code", title="one place too far right")
def one_place_too_far(p, bits):
    """Your codes stand one place too far right, and the last bit is lost: the values of the bits go from 2**(bits − 1) down to 1 = 2**0. Yours
    go from 2**bits down to 2."""
    return np.asarray(p)[..., None] // 2 ** np.arange(bits, 0, -1) % 2


@misconception(
    "binary_code", title="the bits before the last axis of p", keeps="right for a number and for a list"
)
def bits_after_the_first_axis(p, bits):
    """For a list your codes are right, but where p is a table the bits stand before its last axis: a loop over p goes over its rows, not
    over its numbers. Put the bits behind all axes: np.stack(…, axis=-1)."""
    p = np.asarray(p)
    if p.ndim == 0:
        return np.array([p // 2**k % 2 for k in reversed(range(bits))])
    return np.array([[row // 2**k % 2 for k in reversed(range(bits))] for row in p])


@misconception(
    "binary_code", title="an axis of length one disappears", keeps="right where no axis has length one"
)
def codes_squeezed(p, bits):
    """Each code is right, but where an axis has length one (a list of one number, a single bit) it is lost: squeeze() drops all of them."""
    return (np.asarray(p)[..., None] // 2 ** np.arange(bits)[::-1] % 2).squeeze()


@misconception(
    "binary_code",
    title="the axes of p turned round",
    keeps="each code is right, and all are in place for a list",
)
def axes_of_p_turned_round(p, bits):
    """Each of your codes is right, but where p is a table, rows and columns have changed places: .T turns *all* axes round. Move only
    the axis of the bits: np.stack(…, axis=-1)."""
    p = np.asarray(p)
    return np.array([p // 2**k % 2 for k in reversed(range(bits))]).T


@misconception("binary_code", title="p is changed", keeps="the codes are right")
def halved_in_place(p, bits):
    """Your codes are right, but an array p is all zeros afterwards: np.asarray makes no copy of an array, and //= writes into it. Halve a
    copy, or write p = p // 2."""
    p = np.asarray(p)
    code = np.zeros((*p.shape, bits), dtype=int)
    for k in range(bits):
        code[..., bits - 1 - k] = p % 2
        p //= 2
    return code


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
