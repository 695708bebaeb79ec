"""Lab 06, shift_matrix: c, D, base → the matrix M (D, D) with M @ P[t] = P[t + c] for all t."""

import cmath
import math

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m06_positions.common import ATOL, blocks, speeds


def clock_by_clock(c, D, base=10000.0):
    M = np.zeros((D, D))
    for sine in range(0, D, 2):
        angle, cosine = c / base ** (sine / D), sine + 1
        M[sine, sine] = M[cosine, cosine] = math.cos(angle)
        M[sine, cosine], M[cosine, sine] = math.sin(angle), -math.sin(angle)
    return M


question = Question(clock_by_clock, uses=("sinusoidal",))


@question.family(
    "A quarter turn from 12 to 3 o'clock, and a single clock that moves on.", weight=2.5, atol=ATOL
)
def a_single_clock(rng):
    yield Case(math.pi / 2, 2, gives=[[0.0, 1.0], [-1.0, 0.0]])
    for c in rng.integers(1, 90, 2):
        yield int(c), 2


@question.family("Several clocks, each with a block and a speed of its own; a shift by nothing.", atol=ATOL)
def several_clocks(rng):
    for c, sizes in zip(rng.choice(np.arange(1, 7), 2, replace=False), ((4, 6), (8, 10, 12)), strict=True):
        yield int(c), int(rng.choice(sizes))
    yield 0, int(rng.choice([6, 10]))


@question.family("With one base after another, also below 1.", atol=ATOL)
def one_base_after_another(rng):
    c = int(rng.integers(1, 6))
    for base in (rng.uniform(30, 90), rng.uniform(200, 900), rng.uniform(0.3, 0.7)):
        yield c, 6, float(base)


@question.family("Parts of a step.", weight=0.75, atol=ATOL)
def parts_of_a_step(rng):
    yield float(rng.uniform(0.2, 0.8)), 4
    yield float(rng.uniform(2.2, 2.8)), 6


@question.family("A single clock that moves back.", weight=0.75, atol=ATOL)
def back(rng):
    for c in rng.integers(-90, 0, 2):
        yield int(c), 2


@question.family("More than a full turn of the first clock, on and back.", weight=1.5, atol=ATOL)
def more_than_a_turn(rng):
    yield int(rng.integers(7, 40)), 6
    yield int(rng.integers(-40, -7)), 4
    yield float(rng.uniform(7, 30)), 4, float(rng.uniform(20, 90))
    yield float(rng.uniform(-9.8, -9.2)), 4


@question.scenario("M is orthogonal, and turns each clock by its angle, on or back.", weight=1.5)
def in_whichever_direction(student, rng):
    for c, D in ((rng.integers(2, 6), 2), (rng.integers(2, 6), 6)):
        M = np.asarray(student(int(c), D))
        yield Observed("the diagonal", np.diag(M))
        yield Observed("M times its transpose", M @ M.T)
        yield Observed("the entries outside the blocks", M[np.kron(np.eye(D // 2), np.ones((2, 2))) == 0])


ONE_AND_ANOTHER = """
import numpy as np

first = student_namespace[name](one, 2)
student_namespace[name](another, 2)
first = np.array(first)
"""


@question.scenario("A matrix stays as it is when the next one is made.", weight=0.5)
def the_next_matrix(student, rng):
    one, another = rng.choice(np.arange(1, 6), 2, replace=False).tolist()
    yield Observed(
        "the first matrix",
        student.scene(ONE_AND_ANOTHER, name=student.name, one=one, another=another)["first"],
    )


def turn(cos, sin):
    return [[cos, sin], [-sin, cos]]


@question.misconception("moves backwards", costs=2, because="right in all but the direction")
def moves_backwards(c, D, base=10000.0):
    """Your matrix moves by −c instead of c. Compare with the addition theorem: with (sin, cos) as the pair, the sine of the shift stands with
    a plus in the first row and with a minus in the second. (For pairs (cos, sin), or for row vectors, it is the other way round.)"""
    return blocks(c * speeds(D, base), lambda cos, sin: [[cos, -sin], [sin, cos]])


@question.misconception("all clocks at the same speed", costs=2)
def one_speed_for_all(c, D, base=10000.0):
    """All your blocks turn by the same angle. Each clock has its own speed, so block i turns by c times ω of that clock."""
    return blocks(np.full(D // 2, float(c)), turn)


@question.misconception("a sign lost: not a rotation", costs=3, because="one sign is lost")
def both_signs_plus(c, D, base=10000.0):
    """Both sines in your blocks have a plus. Then the matrix is not orthogonal: it stretches some positions and squeezes others. One of the two
    has a minus, as in the addition theorem for the cosine."""
    return blocks(c * speeds(D, base), lambda cos, sin: [[cos, sin], [sin, cos]])


@question.misconception("rows moved instead of hands", costs=4)
def rows_moved(c, D, base=10000.0):
    """You move the entries of the vector to other places. The shift turns each pair of entries by an angle; nothing changes its place, so the
    blocks lie on the diagonal."""
    return np.roll(np.eye(D), round(c), axis=0)


@question.misconception("half the exponent", costs=2)
def shift_half_the_exponent(c, D, base=10000.0):
    """Your clocks slow down too little from block to block: their speed is 1/base to the power 2i/D, with i the number of the block. You use
    i/D."""
    return blocks(c * base ** (-np.arange(D // 2) / D), turn)


@question.misconception("sines and cosines in halves", costs=2)
def halves_instead_of_pairs(c, D, base=10000.0):
    """Your matrix fits positions with all sines first and all cosines last. Here the sine and the cosine of a clock stand side by side, so each
    clock has a 2 × 2 block on the diagonal."""
    angles = c * speeds(D, base)
    cos, sin = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    return np.block([[cos, sin], [-sin, cos]])


@question.misconception("the base is always 10,000", costs=2)
def shift_base_ignored(c, D, base=10000.0):
    """Your matrix always belongs to the base 10,000. Use the base that your function is given."""
    return blocks(c * speeds(D, 1e4), turn)


@question.alternative
def shift_by_complex_numbers(c, D, base=10000.0):
    M = np.zeros((D, D), dtype=np.float32)
    for i in range(0, D, 2):
        z = cmath.exp(1j * c / base ** (i / D))
        M[i, i] = M[i + 1, i + 1] = z.real
        M[i, i + 1], M[i + 1, i] = z.imag, -z.imag
    return M


@question.alternative
def shift_by_kronecker_products(c, D, base=10000.0):
    angles = c * speeds(D, base)
    return np.kron(np.diag(np.cos(angles)), np.eye(2)) + np.kron(np.diag(np.sin(angles)), [[0, 1], [-1, 0]])
