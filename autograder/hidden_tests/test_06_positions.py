"""Hidden tests of lab 06: binary codes, sinusoidal positions, the shift matrix and rotary positions.

The references use Python's own binary notation and ``math``, one number at a time.
"""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import as_array, expect, follow_through, hidden_test
from autograder.testing import expect_close as _expect_close

UNCHANGED = "your function changes its input: make a new array instead of writing into the old one"
EQUIVALENT_MUTANTS: dict[str, str] = {}


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_EARLIER = """
import math

import numpy as np


def sinusoidal(T, D, base=10000.0):
    P = np.zeros((T, D))
    for t, column in np.ndindex(T, D):
        angle = t / base ** (2 * (column // 2) / D)
        P[t, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return P


def shift_matrix(c, D, base=10000.0):
    M = np.zeros((D, D))
    for i in range(0, D, 2):
        angle = c / base ** (i / D)
        M[i, i] = M[i + 1, i + 1] = math.cos(angle)
        M[i, i + 1] = math.sin(angle)
        M[i + 1, i] = -M[i, i + 1]
    return M
"""
_with_right_positions = follow_through(_EARLIER, "sinusoidal")
_with_right_shifts = follow_through(_EARLIER, "sinusoidal", "shift_matrix")


def expect_close(actual, expected, what):
    """To a millionth: angles kept in float32 beside float64 numbers are honest work too."""
    _expect_close(actual, expected, what, rtol=1e-6, atol=1e-6)


def _bits(p, bits):
    p = np.asarray(p)
    digits = [[int(digit) for digit in format(int(number), f"0{bits}b")] for number in p.ravel()]
    return np.array(digits).reshape(*p.shape, bits)


def _position(t, D, base=10000.0):
    row = []
    for column in range(D):
        angle = t / base ** (2 * (column // 2) / D)
        row.append(math.cos(angle) if column % 2 else math.sin(angle))
    return row


def _positions(T, D, base=10000.0):
    return np.array([_position(t, D, base) for t in range(T)])


def _shift(c, D, base=10000.0):
    M = np.zeros((D, D))
    for i in range(D // 2):
        angle = c / base ** (2 * i / D)
        s, k = 2 * i, 2 * i + 1
        M[s, s], M[s, k], M[k, s], M[k, k] = (
            math.cos(angle),
            math.sin(angle),
            -math.sin(angle),
            math.cos(angle),
        )
    return M


def _rotated(vector, position, base=10000.0):
    D, turned = len(vector), []
    for i in range(D // 2):
        arrow = complex(vector[2 * i], vector[2 * i + 1])
        angle = position / base ** (2 * i / D)
        arrow *= complex(math.cos(angle), math.sin(angle))
        turned += [arrow.real, arrow.imag]
    return turned


def _in(derived, answer):
    """What the test worked out from an answer, as precise as the answer is: an honest float32 stays one."""
    return np.asarray(derived).astype(answer.dtype if answer.dtype.kind == "f" else float)


# --------------------------------------------------------------------------------------------- binary_code


@hidden_test("binary_code", weight=2)
def test_the_lectures_four_and_eight_bit_codes(student):
    """The lectures' tables: 0 to 15 in four bits, and 1 to 16 in eight."""
    for p, bits in ((range(16), 4), (range(1, 17), 8)):
        codes = student(list(p), bits)
        expect_close(codes, [[int(d) for d in format(n, f"0{bits}b")] for n in p], f"the {bits}-bit codes")


@hidden_test("binary_code", weight=2)
def test_any_shape_of_positions_gets_one_more_axis(student, rng):
    """Positions of any shape, and a single one, get one more axis at the end."""
    p = rng.integers(0, 2**11, size=(3, 2, 10))[:, :, ::2]
    expect_close(student(p, 11), _bits(p, 11), "the codes of a table of positions")
    expect(not student.mutated, UNCHANGED)
    expect_close(student(37, 7), _bits(37, 7), "the code of a single position")
    expect_close(student([[6]], 3), [[[1, 1, 0]]], "the code of a one-by-one table")


@hidden_test("binary_code")
def test_narrow_and_wide_codes(student):
    """A single bit and twenty bits work."""
    expect_close(student([1, 0, 0], 1), [[1], [0], [0]], "the one-bit codes")
    expect_close(student([2**20 - 1, 2**19, 5], 20), _bits([2**20 - 1, 2**19, 5], 20), "the twenty-bit codes")


# ---------------------------------------------------------------------------------------------- sinusoidal


@hidden_test("sinusoidal", weight=2)
def test_the_two_tables_of_the_lectures(student):
    """The lectures' tables: “I am a robot” with four columns and base 100, and five columns, positions 0 to 4."""
    robot = [[0, 1, 0, 1], [0.84, 0.54, 0.10, 1.0], [0.91, -0.42, 0.20, 0.98], [0.14, -0.99, 0.30, 0.96]]
    five = [
        [0.000, 0.841, 0.909, 0.141, -0.757],
        [1.000, 0.540, -0.416, -0.990, -0.654],
        [0.000, 0.025, 0.050, 0.075, 0.100],
        [1.000, 1.000, 0.999, 0.997, 0.995],
        [0.000, 0.001, 0.001, 0.002, 0.003],
    ]
    for (T, D, base), printed, half in (
        ((4, 4, 100), robot, 0.00501),
        ((5, 5, 10000.0), np.transpose(five), 0.000501),
    ):
        P = as_array(student(T, D, base), "the table of positions")
        expect(P.shape == (T, D), "the lecture's table should have one row for each position")
        expect(np.abs(P - printed).max() <= half, "the table differs from the one in the lecture")
        expect_close(P, _positions(T, D, base), "the table of positions")


@hidden_test("sinusoidal", weight=2)
def test_sines_and_cosines_of_slower_and_slower_clocks(student):
    """Sines and cosines stand in turn, each pair on a slower clock, with the base that is given."""
    expect_close(student(9, 6), _positions(9, 6), "the positions with the usual base")
    expect_close(student(7, 12, base=50.0), _positions(7, 12, 50.0), "the positions with another base")


@hidden_test("sinusoidal", weight=1.5)
def test_a_single_clock_turns_by_one_radian_a_step(student):
    """A single clock turns by one radian a step, whatever the base."""
    expect_close(
        student(40, 2, 3), [[math.sin(t), math.cos(t)] for t in range(40)], "the positions of a single clock"
    )


@hidden_test("sinusoidal", weight=2)
def test_an_odd_number_of_columns_works(student):
    """An odd number of columns ends with a sine, and a single column is a sine."""
    expect_close(student(11, 7), _positions(11, 7), "the positions with seven columns")
    expect_close(student(6, 3, base=20.0), _positions(6, 3, 20.0), "the positions with three columns")
    expect_close(student(5, 1), _positions(5, 1), "the positions with one column")


@hidden_test("sinusoidal")
def test_every_position_has_the_same_length(student):
    """A single position is 0, 1, 0, 1 …; far places are bounded, and equal steps have equal length."""
    expect_close(student(1, 8), [[0, 1, 0, 1, 0, 1, 0, 1]], "the first position")
    P = as_array(student(301, 10), "the positions")
    expect(P.shape == (301, 10), "the positions should have shape (301, 10)")
    expect_close(
        _in((P.astype(float) ** 2).sum(axis=1), P), np.full(301, 5.0), "the squared lengths of the positions"
    )
    expect_close(P[300], _position(300, 10), "a position far away")


@hidden_test("sinusoidal", weight=0.5)
def test_two_sentences_of_the_same_nine_words_become_different(student, rng):
    """The lecture's two sentences hold the same nine words; with positions added they hold different vectors."""
    first = ["I", "do", "not", "like", "apples", "and", "you", "like", "oranges"]
    second = ["you", "like", "apples", "and", "I", "do", "not", "like", "oranges"]
    expect(
        sorted(first) == sorted(second) and len(first) == 9,
        "the lecture's sentences have the same nine words",
    )
    P = as_array(student(9, 4), "the positions")
    expect_close(P, _positions(9, 4), "the positions of nine words")
    vector = {word: rng.normal(size=4) for word in sorted(set(first))}
    one, other = (
        {tuple((vector[word] + row).round(6)) for word, row in zip(s, P, strict=True)}
        for s in (first, second)
    )
    expect(one != other, "with positions added the two sentences still hold the same vectors")


# -------------------------------------------------------------------------------------------- shift_matrix


@hidden_test("shift_matrix", weight=2)
@_with_right_positions
def test_it_carries_every_position_to_a_later_one(student):
    """M times the position t is the position t + c, for every t, and M does not depend on t."""
    for c, D, base in ((3, 8, 10000.0), (11, 6, 100.0)):
        M = as_array(student(c, D, base), "the shift matrix")
        expect(M.shape == (D, D), "the shift matrix should have D rows and D columns")
        for t in (0, 1, 4, 29):
            moved = _in(M.astype(float) @ np.array(_position(t, D, base)), M)
            expect_close(moved, _position(t + c, D, base), "the moved position")
        expect_close(M, _shift(c, D, base), "the shift matrix")


@hidden_test("shift_matrix")
@_with_right_positions
def test_it_moves_back_and_by_parts_of_a_step(student):
    """Negative and fractional shifts work, and a shift by nothing is the identity."""
    expect_close(student(-4, 6), _shift(-4, 6), "the matrix that moves back")
    expect_close(student(2.5, 4, base=16), _shift(2.5, 4, 16), "the matrix that moves by two and a half")
    expect_close(student(0, 10), np.eye(10), "the matrix that moves by nothing")


@hidden_test("shift_matrix")
@_with_right_positions
def test_it_is_orthogonal_and_shifts_add_up(student):
    """It is orthogonal, and a shift by a then by b is the shift by a + b."""
    a, b = as_array(student(2, 12), "the shift matrix"), as_array(student(5, 12), "the shift matrix")
    expect(a.shape == b.shape == (12, 12), "the shift matrix should have D rows and D columns")
    expect_close(_in(a.astype(float) @ a.T, a), np.eye(12), "M times its transpose")
    expect_close(_in(b.astype(float) @ a, a), _shift(7, 12), "the shift by two and then by five")


@hidden_test("shift_matrix", weight=1.5)
@_with_right_positions
def test_a_single_clock_turns_by_the_shift_itself(student):
    """A single clock turns by the shift itself."""
    expect_close(
        student(1, 2),
        [[math.cos(1), math.sin(1)], [-math.sin(1), math.cos(1)]],
        "the matrix of a single clock",
    )
    expect_close(student(-2.5, 2, 7), _shift(-2.5, 2, 7), "the matrix of a single clock that turns back")


# ---------------------------------------------------------------------------------------------------- rope


@hidden_test("rope", weight=2)
@_with_right_shifts
def test_neighbouring_pairs_turn_by_their_position(student, rng):
    """Each neighbouring pair turns by its position times the speed of its clock."""
    x, positions = rng.normal(size=(5, 16))[:, ::2], [3, 0, 17, 4, 4]
    expected = [_rotated(row, m) for row, m in zip(x, positions, strict=True)]
    expect_close(student(x, positions), expected, "the turned vectors")
    expect(not student.mutated, UNCHANGED)


@hidden_test("rope", weight=1.5)
@_with_right_shifts
def test_a_single_pair_turns_by_its_position(student, rng):
    """A single pair turns by its position itself, backwards at negative and between at fractional positions."""
    x, positions = rng.normal(size=(4, 2)), np.array([1.0, 5.0, -2.0, 0.25])
    expected = [_rotated(row, m) for row, m in zip(x, positions, strict=True)]
    expect_close(student(x, positions), expected, "the turned pairs")


@hidden_test("rope")
@_with_right_shifts
def test_a_batch_with_heads_turns_along_its_positions(student, rng):
    """A batch with several heads is turned along the axis of the positions."""
    x, positions = rng.normal(size=(2, 3, 5, 4)), np.array([9, 1, 0, 30, 2])
    expected = np.array(
        [[[_rotated(x[b, h, t], positions[t], 500) for t in range(5)] for h in range(3)] for b in range(2)]
    )
    expect_close(student(x, positions, base=500.0), expected, "the turned vectors of a batch")
    expect_close(
        student(x[:1, 0, :1], [7], 500.0), [[_rotated(x[0, 0, 0], 7, 500)]], "a single turned vector"
    )


@hidden_test("rope", weight=2)
@_with_right_shifts
def test_the_dot_product_depends_on_the_distance_only(student, rng):
    """The dot product of two turned vectors depends on the distance of their positions only, not on the places."""
    q, k = rng.normal(size=(1, 6)), rng.normal(size=(1, 6))
    expected = float(np.dot(_rotated(q[0], 4, 20), k[0]))
    for start in (0, 3, 58):
        a, b = (
            as_array(student(q, [start + 4], 20), "the turned vector"),
            as_array(student(k, [start], 20), "the turned vector"),
        )
        expect(a.shape == b.shape == (1, 6), "the turned vector should have the shape of x")
        expect_close(
            _in(np.dot(a[0].astype(float), b[0].astype(float)), a),
            expected,
            "the dot product at distance four",
        )


@hidden_test("rope")
@_with_right_shifts
def test_position_zero_leaves_a_vector_and_lengths_stay(student, rng):
    """At position 0 nothing turns, lengths never change, and the base can be chosen."""
    x = rng.normal(size=(4, 10))
    expect_close(student(x, [0, 0, 0, 0]), x, "the vectors at position 0")
    turned = as_array(student(x, [20, 21, 22, 23], base=30.0), "the turned vectors")
    expect_close(
        turned,
        [_rotated(row, 20 + t, 30.0) for t, row in enumerate(x)],
        "the turned vectors with another base",
    )
    expect_close(
        _in((turned.astype(float) ** 2).sum(axis=1), turned), (x**2).sum(axis=1), "the squared lengths"
    )
