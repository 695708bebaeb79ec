"""Public checks of lab 06: binary codes, sinusoidal positions, the shift matrix and rotary positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import close, ensure, numbers, public_check
from coursekit.checks.break_it import impostor

FORBIDDEN = {
    "binary_code": ("numpy.unpackbits", "numpy.binary_repr", "numpy.base_repr"),
}

_SIN1, _COS1 = 0.8414709848, 0.5403023059


def _shape(value: Any, expected: Any, hint: Any) -> Any:
    """The value as an array of the expected shape, or the hint with both shapes."""
    ensure(value is not None, "your function returns None: does it end with a return?")
    shape = np.shape(value)
    ensure(shape == expected, f"the result has shape {shape}, but {expected} is expected: {hint}")
    return numbers(value)


@public_check("binary_code")
def five_is_0101(binary_code: Any) -> None:
    """5 is 0101 and 8 is 1000, the highest bit first."""
    code = _shape(binary_code(5, 4), (4,), "one number for each bit")
    ensure(code.dtype.kind in "biuf", "the digits should be the numbers 0 and 1, not text")
    ensure(
        not np.array_equal(code, [1, 0, 1, 0]), "the bits are in reverse order: the highest one comes first"
    )
    ensure(
        not np.array_equal(code, [0, 4, 0, 1]),
        "the result is 0, 4, 0, 1: write 1 for each bit that 5 = 4 + 1 has, not the bit's value",
    )
    ensure(
        not np.array_equal(code, [0, 0, 1, 0]),
        "the result is 0010, one place too far right: the last bit is the one with the value 1 = 2 ** 0, and the first has the value 2 ** (bits - 1)",
    )
    close(code, [0, 1, 0, 1], "5 = 4 + 1, so it should be 0101")
    close(binary_code(8, 4), [1, 0, 0, 0], "8 should be 1000")


@public_check("binary_code")
def leading_zeros_fill_the_width(binary_code: Any) -> None:
    """With 8 bits, 1 and 16 have leading zeros; a list gives one row a number."""
    codes = binary_code([1, 16], 8)
    ensure(np.shape(codes) != (8, 2), "rows and columns are swapped: the bits are the last axis")
    codes = _shape(codes, (2, 8), "one row for each number, one column for each bit")
    close(codes, [[0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0]], "1 is 00000001 and 16 is 00010000")


@public_check("binary_code")
def any_shape_of_positions_works(binary_code: Any) -> None:
    """An array of any shape gets one more axis."""
    p = np.array([[0, 3, 5], [2, 1, 4]])
    codes = binary_code(p, 4)
    ensure(
        np.shape(codes) != (3, 2, 4),
        "row 0 of p has become column 0: the axes of p keep their order, and only the bits come behind them (.T turns all axes round)",
    )
    ensure(
        np.shape(codes) not in ((2, 4, 3), (4, 2, 3)),
        "for a table p the bits stand before its last axis: they are the last axis, behind all axes of p, however many there are",
    )
    right = np.array([[[int(bit) for bit in f"{number:04b}"] for number in row] for row in p])
    close(
        _shape(codes, (2, 3, 4), "the shape of p, then the bits"), right, "0, 3 and 5 are 0000, 0011 and 0101"
    )
    alone = _shape(binary_code([5], 4), (1, 4), "a list of one number keeps its axis")
    close(alone, [[0, 1, 0, 1]], "the code of [5] should be [[0, 1, 0, 1]]")
    bit = _shape(binary_code([0, 1], 1), (2, 1), "with a single bit its axis stays, too")
    close(bit, [[0], [1]], "with one bit, 0 is 0 and 1 is 1")


@public_check("binary_code")
def large_numbers(binary_code: Any) -> None:
    """In twenty bits 1000 is 00000000001111101000, and 100,000 is 00011000011010100000; numbers of 41 bits work, too."""
    codes = _shape(
        binary_code([1000, 100_000], 20), (2, 20), "one row for each number, one column for each bit"
    )
    right = np.array(
        [[int(bit) for bit in code] for code in ("00000000001111101000", "00011000011010100000")]
    )
    ensure(
        not np.array_equal(codes[0], [0] * 12 + [1, 1, 1, 0, 1, 0, 0, 0]),
        "for 1000 the code is that of 232 = 1000 − 3 · 256: the numbers are kept in eight bits (uint8), which hold none above 255",
    )
    close(codes[0], right[0], "1000 should be 00000000001111101000")
    close(
        codes[1],
        right[1],
        "1000 is right, but 100,000 should be 00011000011010100000: does your array's dtype hold numbers so large?",
    )
    far = _shape(binary_code([2**40 + 5], 41), (1, 41), "one row for each number, one column for each bit")
    close(
        far[0],
        [1, *[0] * 37, 1, 0, 1],
        "1000 and 100,000 are right, but 2**40 + 5 in 41 bits is not: does your array's dtype hold numbers so large (int32 ends at 2**31)?",
    )
    large = _shape(binary_code(np.array([[1000], [600]]), 10), (2, 1, 10), "the shape of p, then the bits")
    digits = [[[int(bit) for bit in code]] for code in ("1111101000", "1001011000")]
    close(large, digits, "in a table with a single column 1000 and 600 should be 1111101000 and 1001011000")


@public_check("sinusoidal")
def am_in_i_am_a_robot(sinusoidal: Any) -> None:
    """“I am a robot” (D = 4, base 100): the word at place 1 gets 0.84, 0.54, 0.10, 1.00."""
    P = _shape(sinusoidal(4, 4, base=100), (4, 4), "T rows, D columns")
    ensure(
        not np.allclose(P[0], [_SIN1, _COS1, np.sin(0.1), np.cos(0.1)]),
        "the first row is already that of place 1: positions start at 0",
    )
    ensure(
        not np.allclose(P[1], [_SIN1, np.sin(0.1), _COS1, np.cos(0.1)]),
        "all sines come first and all cosines last: they should stand in turn, sine, cosine, sine, cosine",
    )
    ensure(
        not np.allclose(P[1], [0.84, 0.54, 0.1, 1], rtol=0, atol=1e-9),
        "the row of place 1 is right, but rounded to two decimals: return the numbers with all their digits",
    )
    close(P[0], [0, 1, 0, 1], "at place 0 every hand points to 12: sine 0, cosine 1, in turn")

    ensure(abs(P[1, 0] - _SIN1) < 1e-6, "the first clock should turn by 1 radian a step: sin 1 = 0.84")
    ensure(
        abs(P[1, 1] - _COS1) < 1e-6,
        "the cosine beside it should be cos 1 = 0.54: both columns of a clock have the same frequency",
    )
    if abs(P[1, 2] - np.sin(0.01)) < 1e-6:
        _why_by_a_hundredth(sinusoidal)
    close(
        P[1],
        [_SIN1, _COS1, 0.0998334166, 0.9950041653],
        "the second clock should turn by 100^(−2/4) = 1/10 a step",
    )
    close(P[3, 2], 0.2955202067, "at place 3 the second clock should show sin 0.3")


def _why_by_a_hundredth(sinusoidal: Any) -> None:
    """Three slips make the second of two clocks with base 100 turn by 1/100; with three clocks and base 64 they differ."""
    speed = np.arcsin(_shape(sinusoidal(2, 6, base=64), (2, 6), "T rows, D columns")[1, 2])
    why = {
        10000 ** (-1 / 3): "use the base that is given, not always 10,000",
        1 / 16: "in the exponent 2i/D, i is the number of the pair (0, 1, 2, …), and not that of the column",
        1 / 8: "the last clock does not reach 1/base itself, for its exponent 2i/D stays below 1",
    }
    hint = next((text for known, text in why.items() if abs(speed - known) < 1e-6), "the exponent is 2i/D")
    ensure(False, f"the second clock turns by 1/100, but 100^(−2/4) is 1/10: {hint}")


@public_check("sinusoidal")
def an_odd_number_of_columns_ends_with_a_sine(sinusoidal: Any) -> None:
    """With D = 5 the last column is a sine without its cosine."""
    try:
        P = sinusoidal(3, 5)
    except ValueError:
        P = None
        ensure(False, "an odd D does not work yet: there is one cosine column less than sines")
    P = _shape(P, (3, 5), "T rows, and all D columns although D is odd")
    close(
        P[:, :2],
        [[0, 1], [_SIN1, _COS1], [0.9092974268, -0.4161468365]],
        "columns 0 and 1 should be the sine and cosine of 1 a step",
    )
    ensure(P[:, 4].any(), "the last column is all zeros: with D = 5 it is the sine of the third clock")
    ensure(
        abs(P[2, 2] - np.sin(2 / 10000 ** (2 / 6))) > 1e-6,
        "D in the exponent should be 5 and not 6, although there are three clocks",
    )
    ensure(
        abs(P[2, 4] - np.cos(2 / 10000 ** (4 / 5))) > 1e-6,
        "the last column is the cosine of the third clock: with an odd D it is a sine, whose cosine has no room",
    )
    close(
        P[2, 2:],
        [0.0502165921, 0.9987383514, 0.0012619143],
        "the clocks turn by 10000^(−2/5) and 10000^(−4/5) a step",
    )
    P = _shape(sinusoidal(2, 3, base=1000), (2, 3), "T rows, and all D columns although D is odd")
    close(
        P[1],
        [_SIN1, _COS1, np.sin(0.01)],
        "with D = 3 and base 1000 the last column turns by 1000^(−2/3) = 1/100 a step",
    )


@public_check("sinusoidal")
def a_longer_sentence_begins_like_a_shorter_one(sinusoidal: Any) -> None:
    """A position looks the same in a short and in a long sentence, and a sentence may be very long."""
    short, long = _shape(sinusoidal(3, 6), (3, 6), "T rows"), _shape(sinusoidal(8, 6), (8, 6), "T rows")
    close(long[:3], short, "the first three rows should not depend on the length of the sentence")
    close(
        (long**2).sum(axis=1),
        np.full(8, 3.0),
        "each clock should add sin² + cos² = 1, so every row has length √3",
    )
    book = _shape(sinusoidal(12_001, 2), (12_001, 2), "T rows, though they are many: no table ends before")
    close(
        book[-1],
        [np.sin(12_000), np.cos(12_000)],
        "position 12,000 should be sin 12,000 and cos 12,000",
        atol=2e-3,
    )


@public_check("sinusoidal")
def one_position_one_column(sinusoidal: Any) -> None:
    """A single position is a table with one row, and D = 1 one with a single column."""
    row = _shape(sinusoidal(1, 4), (1, 4), "one row, though T = 1; both axes stay")
    close(row, [[0, 1, 0, 1]], "position 0 should be 0, 1, 0, 1")
    column = _shape(sinusoidal(2, 1), (2, 1), "one column, though D = 1; both axes stay")
    close(column, [[0], [_SIN1]], "a single column should be the sine of the first clock")


@public_check("sinusoidal")
def another_base_another_table(sinusoidal: Any) -> None:
    """The same T and D with another base give another table; any positive base will do."""
    for base, speed in ((100, 0.1), (16, 0.25)):
        P = _shape(sinusoidal(2, 4, base=base), (2, 4), "T rows, D columns")
        ensure(
            speed == 0.1 or not np.allclose(P[1, 2:], [np.sin(0.1), np.cos(0.1)]),
            "asked with base 16 after base 100, it gives the table of base 100 again: is a table kept from call to call?",
        )
        close(
            P[1, 2:],
            [np.sin(speed), np.cos(speed)],
            f"with base {base} the second clock should turn by {base}^(−2/4) = {speed} a step",
        )
    P = _shape(sinusoidal(2, 4, base=0.25), (2, 4), "T rows, D columns")
    close(
        P[1, 2:], [np.sin(2), np.cos(2)], "with base 1/4 the second clock should turn by 4^(2/4) = 2 a step"
    )


@public_check("shift_matrix")
def a_quarter_turn_of_a_single_clock(shift_matrix: Any) -> None:
    """A quarter turn moves a hand from 12 to 3, and from 3 to 6 o'clock."""
    M = _shape(shift_matrix(np.pi / 2, 2), (2, 2), "D rows and D columns")
    moved = M @ np.array([0.0, 1.0])
    ensure(
        not np.allclose(moved, [-1, 0], atol=1e-6),
        "the hand turned backwards, from 12 to 9 o'clock: look at the signs of the two sines",
    )
    ensure(
        not np.allclose(moved, [_SIN1, _COS1]),
        "c = π/2 = 1.57 moved the hand by 1: c need not be whole, so cut nothing off",
    )
    close(
        moved,
        [1, 0],
        f"(sin, cos) = (0, 1) should move to (1, 0), but it moves to ({moved[0]:.2f}, {moved[1]:.2f})",
    )
    close(M @ np.array([1.0, 0.0]), [0, -1], "(sin, cos) = (1, 0) should move to (0, −1)")


@public_check("shift_matrix")
def it_moves_every_position(shift_matrix: Any) -> None:
    """It moves position t to t + 3 and t + 20, with two clocks of different speed."""
    M = _shape(shift_matrix(3, 4, base=100), (4, 4), "D rows and D columns")

    def row(t: int) -> Any:
        return np.array([np.sin(t), np.cos(t), np.sin(t / 10), np.cos(t / 10)])

    close(M[:2, 2:], np.zeros((2, 2)), "the clocks should not mix: zero outside the 2 × 2 blocks")
    ensure(
        not np.allclose(M[:2, :2], M[2:, 2:]),
        "both clocks turn by the same angle: the second one is slower (ω = 1/10 here)",
    )
    usual = numbers(shift_matrix(3, 4))
    ensure(
        not all(np.allclose(part[2, 2:], [np.cos(0.03), np.sin(0.03)]) for part in (M, usual)),
        "with base 100 the second clock moves on by 3/100, just as with base 10,000: use the base that is given",
    )
    ensure(
        not np.allclose(M[2, 2:], [np.cos(0.03), np.sin(0.03)]),
        "the second clock moves on by 3/100 instead of 3/10: the exponent 2i/D of block number i = 1 is 2/4",
    )
    for t in (0, 5):
        close((M @ row(t))[:2], row(t + 3)[:2], "the first clock should move on by the angle 3")
        close((M @ row(t))[2:], row(t + 3)[2:], "the second clock should move on by the angle 3/10")
    ensure(
        not np.allclose(usual, M),
        "with base 10,000 the matrix is the same as with base 100 just before: is something kept from call to call?",
    )
    far = _shape(shift_matrix(20, 4, base=100), (4, 4), "D rows and D columns")
    ensure(
        not np.allclose((far @ row(0))[2:], [np.sin(2 - 0.6 * np.pi), np.cos(2 - 0.6 * np.pi)]),
        "c = 20 moves the second clock by (20 − 6π)/10 instead of 20/10: full turns of the first clock are no full turns of the others",
    )
    close(far @ row(5), row(25), "c = 20 should move position 5 to position 25")


@public_check("shift_matrix")
def back_and_forth_is_the_identity(shift_matrix: Any) -> None:
    """Moving on by 2 and back by 2 changes nothing, and neither does moving by 0; any positive base will do."""
    there, back = (_shape(shift_matrix(c, 6), (6, 6), "D rows and D columns") for c in (2, -2))
    close(shift_matrix(0, 6), np.eye(6), "moving by 0 should be the identity matrix")
    ensure(
        not np.allclose(there, back),
        "M for −2 is the same as M for 2: a negative c should move back",
    )
    close(
        there @ back,
        np.eye(6),
        "M for 2 times M for −2 should be the identity matrix",
    )
    back = _shape(shift_matrix(-7.5, 4, base=16), (4, 4), "D rows and D columns")
    close(
        back @ [0, 1, 0, 1],
        [np.sin(-7.5), np.cos(7.5), np.sin(-7.5 / 4), np.cos(7.5 / 4)],
        "c = −7.5 with base 16 should turn the first clock back by 7.5 and the second by 7.5/4",
    )
    quick = _shape(shift_matrix(1, 4, base=0.25), (4, 4), "D rows and D columns")
    close(
        quick[2, 2:],
        [np.cos(2), np.sin(2)],
        "with base 1/4 the second clock moves on by 4^(2/4) = 2 radians a step: the angle is c · ω, also where ω is more than π/2",
    )


@public_check("rope")
def a_quarter_turn_of_an_arrow(rope: Any) -> None:
    """The arrow (1, 0) turned by a quarter is (0, 1), and turned back by a quarter (0, −1)."""
    x = np.array([[1.0, 0.0], [0.0, 1.0]])
    try:
        turned = rope(x, [np.pi / 2, np.pi / 2])
    except IndexError:
        rope(x, [0, 1])  # where that raises the same, the fractions are not the cause
        turned = None
        ensure(
            False,
            "it works at positions 0 and 1, but not at π/2: positions are numbers, with fractions or below 0, and so no index. "
            "Compute the angles from them",
        )
    turned = _shape(turned, (2, 2), "the shape of x")
    ensure(
        not np.allclose(turned, [[1.0, 0.0], [-_SIN1, _COS1]]),
        "row 0 was turned by 0 and row 1 by 1: use the positions that are given, not the order of the rows",
    )
    ensure(
        not np.allclose(turned, [[0, 0], [-1, -1]], atol=1e-6),
        "the first entries are right; the second ones are computed from the *new* first ones: both new entries come from the two old ones",
    )
    ensure(
        np.allclose((turned**2).sum(axis=1), 1),
        "the arrows changed their length: nothing is added, and both new entries come from the two old ones",
    )
    ensure(
        not np.allclose(turned[0], [0, -1], atol=1e-6),
        "the arrow turned clockwise: look at the signs of the sines",
    )
    ensure(
        not np.allclose(turned, [[_COS1, _SIN1], [-_SIN1, _COS1]]),
        "both arrows stand at π/2 = 1.57, but are turned by 1: positions need not be whole, so cut nothing off",
    )
    ensure(
        not np.allclose(turned, x),
        "both arrows stand at π/2, but neither is turned: use the positions as they are given, each for itself",
    )
    close(turned, [[0, 1], [-1, 0]], "(1, 0) should become (0, 1), and (0, 1) should become (−1, 0)")
    back = _shape(rope(x, [-np.pi / 2, -np.pi / 2]), (2, 2), "the shape of x")
    ensure(
        not np.allclose(back, turned),
        "at −π/2 the arrows turn as at π/2: a negative position turns them back",
    )
    close(back, [[0, -1], [1, 0]], "(1, 0) should become (0, −1) at −π/2, and (0, 1) should become (1, 0)")
    close(x, [[1, 0], [0, 1]], "the result is right, but x itself has changed: write into a new array")


@public_check("rope")
def neighbours_are_pairs(rope: Any) -> None:
    """Neighbouring entries are a pair, and the second pair turns more slowly."""
    turned = rope(np.array([[1.0, 0.0, 1.0, 0.0]]), [1], base=100)
    turned = _shape(turned, (1, 4), "the shape of x")
    ensure(
        not np.allclose(turned[0, [0, 2]], [_COS1 - _SIN1, _SIN1 + _COS1]),
        "entries 0 and 2 were paired: here neighbours are pairs, 0 with 1 and 2 with 3",
    )
    ensure(
        not np.allclose(turned, [[_COS1, _SIN1, _COS1, _SIN1]]),
        "both pairs turned by the same angle: the second one is slower (ω = 1/10 here)",
    )
    ensure(
        not np.allclose(turned, [[_COS1, np.cos(0.1), _SIN1, np.sin(0.1)]]),
        "the numbers are right, but both new first entries stand before both second ones: put each pair back side by side",
    )
    usual = numbers(rope(np.array([[1.0, 0.0, 1.0, 0.0]]), [1]))
    ensure(
        not all(np.allclose(part[0, 2:], [np.cos(0.01), np.sin(0.01)]) for part in (turned, usual)),
        "with base 100 the second pair turns by 1/100, just as with base 10,000: use the base that is given",
    )
    close(
        turned,
        [[_COS1, _SIN1, np.cos(0.1), np.sin(0.1)]],
        "the pairs should be turned by 1 and by 100^(−2/4) = 1/10",
    )


@public_check("rope")
def whole_numbers_turn_too(rope: Any) -> None:
    """Vectors of whole numbers become vectors of real ones; and the result is a new array."""
    turned = _shape(rope(np.array([[3, 1]]), [1]), (1, 2), "the shape of x")
    ensure(
        not np.array_equal(turned, [[0, 3]]),
        "(3, 1) turned by 1 is (0.78, 3.06), but you return (0, 3): an array made like x takes whole numbers only where x holds such, "
        "so make one of real numbers",
    )
    close(turned, [[3 * _COS1 - _SIN1, 3 * _SIN1 + _COS1]], "(3, 1) turned by 1 should be (0.78, 3.06)")
    x = np.array([[3.0, 1.0]])
    still = rope(x, [0])
    ensure(
        not (isinstance(still, np.ndarray) and np.shares_memory(still, x)),
        "at position 0 nothing turns, but you return x itself: return a new array there, too",
    )


@public_check("rope")
def only_the_distance_counts(rope: Any) -> None:
    """Two words at places 5 and 2 fit as well as at 105 and 102."""
    q, k = np.array([[0.5, -1.0, 2.0, 0.3]]), np.array([[1.0, 0.7, -0.4, 1.5]])
    near = (np.asarray(rope(q, [5])) * np.asarray(rope(k, [2]))).sum()
    far = (np.asarray(rope(q, [105])) * np.asarray(rope(k, [102]))).sum()
    close(
        far,
        near,
        "the dot product should depend on the distance only",
    )
    ensure(
        abs(near - (q * k).sum()) > 1e-3,
        "nothing was turned: use the positions that are given, not the order of the rows",
    )


@public_check("rope")
def a_batch_works_too(rope: Any) -> None:
    """In a batch, with heads or without, each (T, D) part is turned as it would be alone."""
    batch, places = np.linspace(-2, 3, 48).reshape(2, 2, 3, 4) ** 2, [0, 1, 7]
    for x in (batch[0], batch):
        turned = _shape(rope(x, places), x.shape, "the shape of x")
        alone = np.reshape([numbers(rope(part, places)) for part in x.reshape(-1, 3, 4)], x.shape)
        ensure(
            np.allclose(turned, alone, atol=1e-5),
            f"an x of shape {x.shape} is turned differently from its parts of shape (3, 4) alone: is an axis counted from the front, which "
            "is another one in a batch?",
        )
        close(turned[..., 0, :], x[..., 0, :], "at position 0 nothing should turn")
        close(
            (turned**2).sum(axis=-1),
            (x**2).sum(axis=-1),
            "turning should not change the length of a vector",
        )
    turned = _shape(
        rope(np.array([[[3, 1, 2, 0]], [[1, 0, 0, 4]]]), [-1], base=100), (2, 1, 4), "the shape of x"
    )
    tenth = np.sin(0.1), np.cos(0.1)
    close(
        turned[:, 0],
        [
            [3 * _COS1 + _SIN1, _COS1 - 3 * _SIN1, 2 * tenth[1], -2 * tenth[0]],
            [_COS1, -_SIN1, 4 * tenth[0], 4 * tenth[1]],
        ],
        "a batch of whole numbers at position −1 with base 100: the pairs turn back by 1 and by 1/10",
    )


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("rope")
def counts_for_itself(right: Any, x: Any, positions: Any) -> Any:
    """It takes 0, 1, 2, … for the positions, whatever it is given.

    One survives: your positions are the ones that plain counting gives.
    """
    return right(x, np.arange(x.shape[-2]))


@impostor("rope")
def counts_from_the_first_word(right: Any, x: Any, positions: Any) -> Any:
    """It counts the positions from the first word on.

    One survives: your first vector stands at position 0.
    """
    return right(x, np.asarray(positions) - positions[0])


@impostor("rope")
def whole_positions_only(right: Any, x: Any, positions: Any) -> Any:
    """It cuts positions down to whole numbers.

    One survives: your positions are whole numbers. Need they be?
    """
    return right(x, np.floor(positions))


@impostor("rope")
def pairs_the_halves(right: Any, x: Any, positions: Any) -> Any:
    """It pairs entry i with entry i + D/2, as some libraries do.

    One survives: your vectors hold a single pair.
    """
    order = np.arange(x.shape[-1]).reshape(2, -1).T.ravel()  # the halves, shuffled into one another
    return np.asarray(right(x[..., order], positions))[..., np.argsort(order)]


@impostor("rope")
def one_speed_for_all(right: Any, x: Any, positions: Any) -> Any:
    """It turns all pairs at the speed of the first clock.

    One survives: your vectors have one clock.
    """
    return right(x, positions, 1.0)
