"""Hidden tests of lab 06: binary codes, sinusoidal positions, the shift matrix and rotary positions.

The references use Python's own binary notation and ``math``, one number at a time.
"""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import as_array, expect, expect_unchanged, follow_through, hidden_test
from autograder.testing import expect_close as _expect_close

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
    """To a hundred thousandth: angles of some hundred radians in single precision are honest work too."""
    largest = np.abs(np.asarray(expected, dtype=float)).max(initial=1)
    _expect_close(actual, expected, what, rtol=1e-6, atol=1e-5 * largest)


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


@hidden_test("binary_code", weight=5)
def test_zero_and_one_in_any_number_of_bits(student):
    """0 and 1 with leading zeros, in few bits and in many."""
    for p, bits in ((1, 6), ([0, 1, 1], 3), ([1, 0], 20)):
        expect_close(student(p, bits), _bits(p, bits), "the codes of zeros and ones")


@hidden_test("binary_code", weight=14)
def test_any_shape_of_positions_gets_one_more_axis(student):
    """Lists and tables of any shape get one more axis at the end: there each number has the code that it has alone."""
    alone = {p: as_array(student(p, 5), "the code of a number") for p in range(0, 12, 2)}
    for code in alone.values():
        expect(code.shape == (5,), "the code of a number should have one axis, with a place for each bit")
    expect(len({tuple(code.tolist()) for code in alone.values()}) == 6, "two numbers have the same code")
    expect(all(np.ptp(alone[p].astype(float)) > 0 for p in alone if p), "a code is one number repeated")
    for table in ([4], [[0, 2, 4], [6, 8, 10]], [[2, 8], [4, 6]], [[[10, 0, 2]], [[6, 4, 8]]], [[6]]):
        codes = np.array([alone[int(p)] for p in np.ravel(table)]).reshape(*np.shape(table), 5)
        expect_close(student(table, 5), codes, "the codes of a table of positions")
    expect(as_array(student([1, 0, 0], 1)).shape == (3, 1), "with a single bit its axis should stay")


@hidden_test("binary_code")
def test_the_lectures_four_and_eight_bit_codes(student):
    """The lectures' tables: 0 to 15 in four bits, and 1 to 16 in eight; and a single position."""
    for p, bits in ((range(16), 4), (range(1, 17), 8)):
        codes = student(list(p), bits)
        expect_close(codes, [[int(d) for d in format(n, f"0{bits}b")] for n in p], f"the {bits}-bit codes")
    expect_close(student(37, 7), _bits(37, 7), "the code of a single position")


@hidden_test("binary_code", weight=9)
def test_large_positions(student, rng):
    """Positions from 256 on, in eleven and in twenty bits."""
    p = rng.integers(2**8 + 1, 2**11, size=20).tolist()
    expect_close(student(p, 11), _bits(p, 11), "the eleven-bit codes")
    p = [2**20 - 1, 2**19, 70_005]
    expect_close(student(p, 20), _bits(p, 20), "the twenty-bit codes")


@hidden_test("binary_code", weight=4)
def test_very_large_positions(student):
    """Positions from 2 to the power of 31 on, in 45 bits."""
    p = [2**44 + 2**33 + 9, 2**31 + 6, 2**32 + 2**20]
    expect_close(student(p, 45), _bits(p, 45), "the 45-bit codes")


@hidden_test("binary_code", weight=7)
def test_an_array_of_positions_stays_as_it_is(student, rng):
    """An array of positions gives the same codes as a list, and stays as it is."""
    p = rng.integers(2, 2**6, size=20)[::2]
    expect_close(student(p, 6), _bits(p, 6), "the codes of an array")
    expect_unchanged(student)


@hidden_test("binary_code", weight=2)
def test_codes_of_every_kind(student, rng):
    """Numbers of any size, alone, in lists and in arrays of any shape, also with an axis of length one or as long as there are bits."""
    for bits in (3, 8, 11, 40):
        for shape in ((3,), (1,), (bits,), (2, 3), (2, 2), (1, 4), (2, 1, 3)):
            p = rng.integers(0, 2**bits, size=shape)
            p.flat[-1] = 2**bits - 3
            for form in (p, p.tolist()):
                expect_close(student(form, bits), _bits(p, bits), "the codes of a table of any kind")
            expect_unchanged(student)
        for number in (0, 5, 2**bits - 2):
            expect_close(student(number, bits), _bits(number, bits), "the code of a number")
    for p in (np.array([[1, 0], [0, 0]]), np.array([1]), 1):
        expect_close(student(p, 1), _bits(p, 1), "the codes of a single bit")


# ---------------------------------------------------------------------------------------------- sinusoidal

# Each (T, D) below belongs to one test and one base, but in the last test: it alone sees tables that are kept from call to call,
# and what is asked of the base. So a base of 1, with which exponents do not count, is a trace above it elsewhere.
_HARDLY_ABOVE_ONE = 1 + 1e-12


@hidden_test("sinusoidal", weight=4)
def test_one_position_and_very_many(student):
    """A single position is 0, 1, 0, 1 …, as a table with one row; and there is no last position."""
    expect_close(student(1, 8), [[0, 1, 0, 1, 0, 1, 0, 1]], "the first position")
    P = student(20_003, 2, _HARDLY_ABOVE_ONE)
    expect_close(P, _positions(20_003, 2), "the positions of a very long text")


@hidden_test("sinusoidal", weight=2)
def test_a_single_column(student):
    """A single column is a sine, as a table with one column."""
    expect_close(student(5, 1), _positions(5, 1), "the positions with one column")


@hidden_test("sinusoidal", weight=9)
def test_with_base_one_all_clocks_turn_alike(student):
    """Sines and cosines stand in turn, for positions from 0 on: with base 1 and a trace, where every clock turns by one radian a step."""
    for T, D in ((40, 4), (7, 6), (26, 12)):
        P = student(T, D, _HARDLY_ABOVE_ONE)
        expect_close(P, _positions(T, D, _HARDLY_ABOVE_ONE), "the positions with base 1")


@hidden_test("sinusoidal", weight=3)
def test_sines_and_cosines_of_slower_and_slower_clocks(student):
    """Each pair stands on a slower clock, near and far: “I am a robot” with four columns and base 100, and the usual base."""
    robot = [[0, 1, 0, 1], [0.84, 0.54, 0.10, 1.0], [0.91, -0.42, 0.20, 0.98], [0.14, -0.99, 0.30, 0.96]]
    P = as_array(student(4, 4, 100), "the table of positions")
    expect(P.shape == (4, 4), "the lecture's table should have one row for each position")
    expect(np.abs(P - robot).max() <= 0.00501, "the table differs from the one in the lecture")
    expect_close(P, _positions(4, 4, 100), "the table of positions")
    expect_close(student(301, 10), _positions(301, 10), "the positions with the usual base")
    expect_close(student(40, 2, 3), _positions(40, 2, 3), "the positions of a single clock")


@hidden_test("sinusoidal", weight=6)
def test_an_odd_number_of_columns_works(student):
    """An odd number of columns ends with a sine: the lecture's five columns, and others."""
    five = [
        [0.000, 0.841, 0.909, 0.141, -0.757],
        [1.000, 0.540, -0.416, -0.990, -0.654],
        [0.000, 0.025, 0.050, 0.075, 0.100],
        [1.000, 1.000, 0.999, 0.997, 0.995],
        [0.000, 0.001, 0.001, 0.002, 0.003],
    ]
    P = as_array(student(5, 5, 10000.0), "the table of positions")
    expect(P.shape == (5, 5), "the lecture's table should have one row for each position")
    expect(np.abs(P - np.transpose(five)).max() <= 0.000501, "the table differs from the one in the lecture")
    expect_close(P, _positions(5, 5), "the table of positions")
    expect_close(student(11, 7), _positions(11, 7), "the positions with seven columns")
    expect_close(student(6, 3, base=20.0), _positions(6, 3, 20.0), "the positions with three columns")


@hidden_test("sinusoidal", weight=1.5)
def test_positions_of_every_kind(student):
    """Few rows or many, few columns or many, odd or even, with the usual base or another one: all of it meets."""
    for T, D in ((60, 9), (33, 20), (8, 8), (5, 21), (1, 7), (130, 3), (12, 12)):
        expect_close(student(T, D), _positions(T, D), "the positions with the usual base")
    sizes = (
        (1, 5, 30),
        (1, 6, 400.0),
        (10, 1, 7),
        (45, 11, 300.0),
        (120, 4, 1e6),
        (13, 13, 90.0),
        (28, 18, 4.0),
    )
    for T, D, base in sizes:
        expect_close(student(T, D, base), _positions(T, D, base), "the positions with another base")


@hidden_test("sinusoidal", weight=6)
def test_the_same_size_with_another_base(student):
    """Tables of the same size, one after the other, each with a base of its own, also below 1; then with the usual one."""
    for base in (50.0, 400.0, 50.0, 0.5):
        expect_close(student(9, 6, base=base), _positions(9, 6, base), "the positions with another base")
    expect_close(student(9, 6), _positions(9, 6), "the positions with the usual base")


# -------------------------------------------------------------------------------------------- shift_matrix


def _expect_turns(student, c, D, base=10000.0, clocks=None):
    """That each block turns by its angle, in whichever direction; of several clocks only the first ones are looked at so closely."""
    M = as_array(student(c, D, base), "the shift matrix")
    expect(M.shape == (D, D), "the shift matrix should have D rows and D columns")
    own_block = np.kron(np.eye(D // 2), np.ones((2, 2))) > 0
    expect(np.abs(M[~own_block]).max(initial=0) < 1e-5, "the shift matrix mixes clocks")
    seen = D if clocks is None else 2 * clocks
    right = np.diag(_shift(c, D, base))
    expect_close(_in(np.diag(M), M)[:seen], right[:seen], "the diagonal of the shift matrix")
    expect_close(_in(M.astype(float) @ M.T, M), np.eye(D), "M times its transpose")


_ONE_AND_ANOTHER = """
shift_matrix = student_namespace[question]
first = shift_matrix(1, 2)
shift_matrix(6, 2)
"""


@hidden_test("shift_matrix", weight=27)
@_with_right_positions
def test_one_clock_turns_by_an_angle(student):
    """A single clock: M is orthogonal, with the cosine of the angle on its diagonal, also after the next call; a shift by nothing is the identity."""
    for c in (0, 1, 2, 6):
        _expect_turns(student, c, 2)
    first = as_array(student.scene(_ONE_AND_ANOTHER, question=student.name).get("first"), "a shift matrix")
    cosines = np.diag(_shift(1, 2))
    expect_close(_in(np.diag(first), first), cosines, "a shift matrix after another call")


@hidden_test("shift_matrix", weight=4)
@_with_right_positions
def test_every_clock_has_a_block_of_its_own(student):
    """Several clocks: M is orthogonal, clocks do not mix, and the first has the cosine of its angle on the diagonal."""
    for c, D in ((3, 8), (5, 4), (6, 12), (0, 10)):
        _expect_turns(student, c, D, clocks=1)


@hidden_test("shift_matrix", weight=19)
@_with_right_positions
def test_it_turns_by_parts_of_a_step(student):
    """By a fraction each clock turns by its own angle, in one direction or the other, with the base that is given, also below 1, and after another one."""
    for c, D, base in ((2.5, 4, 16), (0.75, 6, 100.0), (2.5, 4, 50), (0.5, 4, 0.3)):
        _expect_turns(student, c, D, base)


@hidden_test("shift_matrix", weight=18)
@_with_right_positions
def test_it_carries_every_position_a_long_way_on(student):
    """M times the position t is the position t + c, for every t, by more than a turn, with the base that is given."""
    for c, D, base in ((11, 6, 100.0), (40, 4, 30.0)):
        M = as_array(student(c, D, base), "the shift matrix")
        expect(M.shape == (D, D), "the shift matrix should have D rows and D columns")
        for t in (0, 1, 4, 29):
            moved = _in(M.astype(float) @ np.array(_position(t, D, base)), M)
            expect_close(moved, _position(t + c, D, base), "the moved position")
        expect_close(M, _shift(c, D, base), "the shift matrix")


@hidden_test("shift_matrix", weight=14)
@_with_right_positions
def test_it_moves_a_long_way_back(student):
    """Negative shifts move back, by more than a turn of the first clock, with the usual base."""
    for c, D in ((-9, 6), (-45, 10)):
        expect_close(student(c, D), _shift(c, D), "the matrix that moves back")


@hidden_test("shift_matrix", weight=18)
@_with_right_positions
def test_a_single_clock_turns_back_by_parts_of_a_step(student):
    """A single clock turns back by parts of a step."""
    for c, base in ((-2.5, 7), (-0.4, 10000.0)):
        expect_close(student(c, 2, base), _shift(c, 2, base), "the matrix of a single clock that turns back")


@hidden_test("shift_matrix", weight=5)
@_with_right_positions
def test_shifts_of_every_kind(student):
    """Whole shifts and parts, on and back, by less than a turn and by more, with one clock or many and any base: all of it meets."""
    for c, D in ((-2.5, 6), (17.25, 8), (-13.5, 10), (23, 14), (4.0, 12), (-30.0, 16), (100, 4)):
        expect_close(student(c, D), _shift(c, D), "the matrix of a shift of any kind")
    for c, D, base in (
        (-1.5, 8, 40),
        (-14, 4, 90.0),
        (9.75, 10, 7.0),
        (-8.25, 14, 0.4),
        (-20.5, 2, 50.0),
        (-3, 12, 1e6),
    ):
        expect_close(student(c, D, base), _shift(c, D, base), "the matrix of a shift with another base")


# ---------------------------------------------------------------------------------------------------- rope


def _expect_angles(student, vectors, positions):
    """That copies of one vector at several positions stand at the right angles to one another, in whichever direction they turned.

    ``vectors``: (..., D), each of them is put at all the positions.
    """
    x = np.repeat(vectors[..., None, :], len(positions), axis=-2)
    turned = as_array(student(x, positions), "the turned vectors")
    expect(turned.shape == x.shape, "the result should have the shape of x")
    right = np.array(
        [[_rotated(v, m) for m in positions] for v in vectors.reshape(-1, vectors.shape[-1])]
    ).reshape(x.shape)
    squares = (vectors.astype(float) ** 2).sum(axis=-1)[..., None, None]

    def alike(rows):
        rows = rows.astype(float)
        return rows @ np.swapaxes(rows, -1, -2) / squares

    expect_close(
        _in(alike(turned), turned), alike(right), "the dot products of a vector at several positions"
    )
    if 0 in positions:
        start = list(positions).index(0)
        expect_close(turned[..., start, :], x[..., start, :], "the vectors at position 0")


def _expect_first_entries(student, lengths, positions):
    """That arrows (a, 0) have the right first entry, in whichever direction they turned. ``lengths``: (...), the a of each."""
    x = np.zeros((*np.shape(lengths), len(positions), 2), dtype=np.asarray(lengths).dtype)
    x[..., 0] = np.asarray(lengths)[..., None]
    turned = as_array(student(x, positions), "the turned vectors")
    expect(turned.shape == x.shape, "the result should have the shape of x")
    expected = x[..., 0] * np.cos(np.asarray(positions, dtype=float))
    expect_close(turned[..., 0], expected, "the first entries of the turned vectors")


@hidden_test("rope", weight=18)
@_with_right_shifts
def test_a_single_pair_turns_by_its_position(student, rng):
    """The first entry of a single pair turns by its position, also by a negative or a fractional one."""
    for positions in ([0, 3], np.array([1.0, 5.0, -2.0, 0.25, 0.0]), [58, 2.5]):
        _expect_first_entries(student, 1 + rng.random(), positions)


@hidden_test("rope", weight=20)
@_with_right_shifts
def test_neighbouring_pairs_turn_by_their_position(student, rng):
    """Each neighbouring pair turns by its position times the speed of its clock, anticlockwise, with the base that is given."""
    x, positions = rng.normal(size=(5, 16))[:, ::2], [3, 0, 17, 4, -4.5]
    expected = [_rotated(row, m, 30) for row, m in zip(x, positions, strict=True)]
    expect_close(student(x, positions, 30), expected, "the turned vectors")


@hidden_test("rope", weight=14)
@_with_right_shifts
def test_a_batch_with_heads_turns_along_its_positions(student, rng):
    """A batch with several heads is turned along the axis of the positions, with the base that is given."""
    x, positions = rng.normal(size=(2, 3, 5, 4)), np.array([9, 1, 0, 30, 2])
    expected = np.array(
        [[[_rotated(x[b, h, t], positions[t], 500) for t in range(5)] for h in range(3)] for b in range(2)]
    )
    expect_close(student(x, positions, base=500.0), expected, "the turned vectors of a batch")


@hidden_test("rope", weight=18)
@_with_right_shifts
def test_in_a_batch_the_distance_counts(student, rng):
    """In a batch, with heads and without, the dot product of a vector with itself elsewhere depends on the distance."""
    for shape in ((3, 4), (2, 3, 6)):
        _expect_angles(student, rng.normal(size=shape), [0, 5, 2, 41])


@hidden_test("rope", weight=20)
@_with_right_shifts
def test_whole_numbers_are_turned_too(student, rng):
    """Vectors of whole numbers become vectors of real ones: the first entries of single pairs."""
    _expect_first_entries(student, rng.integers(2, 9, size=3), [0, 1, 2, 3, 4])


@hidden_test("rope", weight=5)
@_with_right_shifts
def test_vectors_of_every_kind(student, rng):
    """Any axes in front, whole numbers and others, positions of any kind in a list or an array, and any base: all of it meets."""
    for shape in ((4, 6), (1, 8), (3, 3, 4), (2, 1, 2), (2, 4, 4, 10), (1, 2, 3, 2, 4)):
        T, D = shape[-2:]
        parts = rng.uniform(-40, 40, size=T)
        places = [parts, np.arange(T) - 6, 3 + np.arange(T), np.full(T, 2), np.zeros(T)]
        places.append(rng.integers(60, 90, size=T))
        for x in (rng.normal(size=shape), rng.integers(-5, 9, size=shape)):
            for number, positions in enumerate(places):
                base = (10000.0, 0.5, 30.0)[number % 3]
                rows = x.reshape(-1, T, D)
                right = [[_rotated(v, m, base) for v, m in zip(row, positions, strict=True)] for row in rows]
                form = positions if number % 2 else positions.tolist()
                found = student(x, form) if base == 10000.0 else student(x, form, base)
                expect_close(found, np.reshape(right, shape), "the turned vectors of any kind")


_NOTHING_TURNS = """
import numpy as np

rope = student_namespace[question]
still = rope(x, [0, 0])
shared = isinstance(still, np.ndarray) and np.shares_memory(still, x)
"""


@hidden_test("rope", weight=10)
@_with_right_shifts
def test_the_vectors_stay_as_they_are(student, rng):
    """The vectors that are given stay as they are, and the result is a new array, also where nothing turns."""
    _expect_first_entries(student, 1 + rng.random(), [0, 1, 2, 3])
    if student.mutated:  # the values are right: this alone tells the answer from others
        student.observe("x was changed", [1])
    expect_unchanged(student)
    scene = student.scene(_NOTHING_TURNS, question=student.name, x=rng.normal(size=(2, 2)))
    if shared := bool(scene.get("shared")):
        student.observe("x was returned", [1])
    expect(not shared, "where nothing turns your answer returns x itself: return a new array")
