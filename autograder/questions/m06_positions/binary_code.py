"""Lab 06, binary_code: p (…) whole numbers, bits → their binary digits (…, bits), the highest first."""

import numpy as np

from autograder.questions.engine import Case, Question


def digits(p, bits):
    p = np.asarray(p)
    codes = [[int(digit) for digit in format(int(number), f"0{bits}b")] for number in p.ravel()]
    return np.array(codes).reshape(*p.shape, bits)


question = Question(digits, forbidden=("numpy.unpackbits", "numpy.binary_repr", "numpy.base_repr"))


@question.family("5 is 0101, 1 and 16 in eight bits: a number, and a list of numbers.", weight=2)
def numbers_and_lists(rng):
    yield Case(5, 4, gives=[0, 1, 0, 1])
    yield Case([1, 16], 8, gives=[[0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0]])
    yield int(rng.integers(17, 63)), 6
    yield [0, 1, *rng.integers(2, 15, 3).tolist()], 7
    yield rng.permutation(16).tolist(), 4


@question.family("A list of lists of any depth: the bits are one more axis at the end.")
def tables(rng):
    for shape in ((2, 3), (3, 3), (2, 3, 2)):
        yield rng.integers(0, 31, shape).tolist(), 5
    yield rng.integers(2**8, 2**10, (2, 2)).tolist(), 10


@question.family("Axes of length one stay: a single number in a list, a single bit.")
def axes_of_length_one(rng):
    for shape in ((1,), (1, 4), (2, 1, 3)):
        yield rng.integers(0, 31, shape).tolist(), 5
    yield [*rng.permutation([0, 1, 1]).tolist()], 1


@question.family("An array of numbers, which stays as it is.", weight=0.5)
def arrays(rng):
    for shape in ((10,), (2, 3)):
        yield rng.integers(2, 63, shape)[::2], 6


@question.family("Numbers above 255, in eleven bits and in twenty.")
def large_numbers(rng):
    yield rng.integers(2**8 + 1, 2**11, 4).tolist(), 11
    yield [2**19, 70_005, *rng.integers(2**16, 2**20, 2).tolist()], 20


@question.family("Numbers above 2**31, in 45 bits and in 62.", weight=0.5)
def very_large_numbers(rng):
    yield [2**31 + 6, 2**44 + 2**33 + 9, *rng.integers(2**33, 2**45, 2).tolist()], 45
    yield int(rng.integers(2**60, 2**61)) * 2 + 1, 62


@question.misconception("the lowest bit first", costs=2, because="the bits are right, in another order")
def lowest_bit_first(p, bits):
    """Your codes are in reverse order. On paper, and here, the bit with the highest value stands first, on the left."""
    return np.asarray(p)[..., None] // 2 ** np.arange(bits) % 2


@question.misconception("counting from one", costs=2, because="right for another start")
def codes_from_one(p, bits):
    """Each code is that of the next number. Positions start at 0, and 0 is all zeros."""
    return (np.asarray(p)[..., None] + 1) // 2 ** np.arange(bits)[::-1] % 2


@question.misconception("bits in rows", costs=2, because="the bits are right, in another order")
def bits_in_rows(p, bits):
    """The axis of the bits comes first in your result. It should be the last one, after all axes of p."""
    return np.moveaxis(np.asarray(p)[..., None] // 2 ** np.arange(bits)[::-1] % 2, -1, 0)


@question.misconception("the whole quotient instead of its last bit", costs=2, because="one step from right")
def quotients(p, bits):
    """You divide by the value of each bit but keep the whole quotient. Only its remainder by 2 is the bit: 5 // 2 is 2, and its
    bit is 0."""
    return np.asarray(p)[..., None] // 2 ** np.arange(bits)[::-1]


@question.misconception("one number that looks binary", costs=3)
def looks_binary(p, bits):
    """You return one number whose decimal digits look binary, such as 101. Each bit needs a place of its own in the last axis."""
    return np.vectorize(lambda number: int(format(int(number), "b")))(np.asarray(p))


@question.misconception("a single 1, as in one-hot rows", costs=3)
def highest_bit_only(p, bits):
    """You set a single bit for each number. That is a one-hot code, which needs as many places as there are numbers; in binary several
    bits can be 1 at once."""
    exponent = np.floor(np.log2(np.maximum(np.asarray(p), 1))).astype(int)
    code = (exponent[..., None] == np.arange(bits)[::-1]).astype(int)
    return code * (np.asarray(p)[..., None] > 0)


@question.misconception("the bits' values instead of 1", costs=2, because="one step from right")
def values_of_the_bits(p, bits):
    """Where a bit is 1 you write its value (4, 2, 1) instead: 5 gives 0, 4, 0, 1. Each place holds 0 or 1; the value follows from the place."""
    return np.asarray(p)[..., None] & 2 ** np.arange(bits)[::-1]


@question.misconception("numbers kept in eight bits", costs=1.5)
def numbers_of_few_bits(p, bits):
    """Small numbers have the right code, large ones begin again from below: you keep p in an array of eight, sixteen or 32 bits (uint8, int16,
    int32), which holds no larger number. int64 does."""
    p = np.asarray(p).astype(np.int64).astype(np.uint8).astype(np.int64)
    return p[..., None] // 2 ** np.arange(bits)[::-1] % 2


@question.misconception("one place too far right", costs=2, because="one step from right")
def one_place_too_far(p, bits):
    """Your codes stand one place too far right, and the last bit is lost: the values of the bits go from 2**(bits − 1) down to 1 = 2**0. Yours
    go from 2**bits down to 2."""
    return np.asarray(p)[..., None] // 2 ** np.arange(bits, 0, -1) % 2


@question.alternative
def code_by_shifting(p, bits):
    p = np.asarray(p, dtype=np.int64)
    return np.stack([(p >> k) & 1 for k in reversed(range(bits))], axis=-1).astype(np.float32)


@question.alternative
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
