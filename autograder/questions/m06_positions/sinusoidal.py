"""Lab 06, sinusoidal: T, D, base → the positions 0 to T − 1 (T, D), sines and cosines in turn."""

import math

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m06_positions.common import ATOL, waves


def one_number_at_a_time(T, D, base=10000.0):
    P = np.zeros((T, D))
    for t, column in np.ndindex(T, D):
        angle = t / base ** (2 * (column // 2) / D)
        P[t, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return P


question = Question(one_number_at_a_time)
ROBOT = [[0, 1, 0, 1], [0.84, 0.54, 0.10, 1.0], [0.91, -0.42, 0.20, 0.98], [0.14, -0.99, 0.30, 0.96]]
FIVE = [
    [0.000, 1.000, 0.000, 1.000, 0.000],
    [0.841, 0.540, 0.025, 1.000, 0.001],
    [0.909, -0.416, 0.050, 0.999, 0.001],
    [0.141, -0.990, 0.075, 0.997, 0.002],
    [-0.757, -0.654, 0.100, 0.995, 0.003],
]


@question.family(
    "Sines and cosines in turn, from place 0 on: with a base of hardly more than 1 all clocks turn alike.",
    weight=2.5,
    atol=ATOL,
)
def all_clocks_alike(rng):
    for D in (4, 6):
        yield int(rng.integers(5, 12)), D, 1 + float(rng.uniform(2e-7, 8e-7))


@question.family("“I am a robot”: with base 100 the second clock is slower.", weight=1.5, atol=ATOL)
def slower_and_slower_clocks(rng):
    yield Case(4, 4, 100, gives=ROBOT)
    yield int(rng.integers(5, 15)), 8, float(rng.uniform(20, 400))
    yield Case(int(rng.integers(2, 40)), 2, base=float(rng.uniform(3, 9)))


@question.family("The usual base, few columns and many.", weight=0.5, atol=ATOL)
def the_usual_base(rng):
    for D in (10, 12):
        yield int(rng.integers(14, 40)), D


@question.family("An odd number of columns ends with a sine.", atol=ATOL)
def odd_columns(rng):
    yield Case(5, 5, gives=FIVE)
    yield int(rng.integers(6, 15)), 7
    yield int(rng.integers(4, 9)), 3, float(rng.uniform(15, 90))
    yield int(rng.integers(6, 12)), 5, float(rng.uniform(300, 900))


@question.family(
    "Tables of the same size, with one base after another, also below 1.", weight=0.75, atol=ATOL
)
def one_base_after_another(rng):
    T = int(rng.integers(5, 9))
    for base in (rng.uniform(30, 90), rng.uniform(200, 900), rng.uniform(0.3, 0.7)):
        yield Case(T, 6, base=float(base))


@question.family("One place is a table with one row, one column a table with one column.", weight=0.75)
def a_single_row_or_column(rng):
    yield Case(1, 8, gives=[[0, 1, 0, 1, 0, 1, 0, 1]])
    yield 1, int(rng.integers(4, 400))
    yield int(rng.integers(2, 60)), 1


@question.scenario("There is no last place: a text may be very long.", weight=0.5)
def no_last_place(student, rng):
    P = np.asarray(student(int(rng.integers(12_001, 13_000)), 2))
    yield Observed("the shape", P.shape)
    yield Observed("the last places", P[-3:], atol=4e-3)  # in single precision 12,000 radians are no sharper


def right(T, D, base):
    return waves(T, 2 * (np.arange(D) // 2) / D, base)


@question.misconception("all sines first, all cosines last", costs=3, because="all values, in another order")
def sines_first(T, D, base=10000.0):
    """Your first columns are all sines and the last ones all cosines. Some programs do it like that, but here, as in the paper, the sine
    and the cosine of a clock stand side by side."""
    clocks = np.arange(0, D, 2) / D
    return np.concatenate([waves(T, np.repeat(clocks, 2), base)[:, first::2] for first in (0, 1)], axis=1)[
        :, :D
    ]


@question.misconception(
    "every column its own frequency",
    costs=3,
    column=1,
    hint="""Your cosine columns are slower than the sines beside them. Both columns of a clock share the exponent 2i/D: otherwise they are not
    the two coordinates of one hand, and no matrix can move them on.""",
)
@question.misconception(
    "the number of the column for that of the pair",
    costs=3,
    column=2,
    hint="""You put the number of the column for i in 2i/D, so the two columns of a clock turn at different speeds. i is the number of the pair,
    the same for its sine and its cosine.""",
)
@question.misconception(
    "the exponent doubled",
    costs=3,
    pair=4,
    hint="""You put the number of the column where the number of the pair belongs: the exponent is 2i/D with i = 0, 1, 2, … for the pairs, so
    column 2 has the exponent 2/D, not 4/D.""",
)
def other_exponents(T, D, base=10000.0, *, column=0, pair=0):
    return waves(T, (column * np.arange(D) + pair * (np.arange(D) // 2)) / D, base)


@question.misconception("the slowest clock at exactly the base", costs=3)
def last_clock_at_base(T, D, base=10000.0):
    """You spread the clocks so that the slowest has exactly the speed 1/base, dividing by D/2 − 1. The paper's exponent is 2i/D, and the
    slowest clock is a little faster than that."""
    return waves(T, np.arange(D) // 2 / max((D + 1) // 2 - 1, 1), base)


@question.misconception("sine and cosine swapped", costs=3, because="all clocks are right")
def cosine_first(T, D, base=10000.0):
    """Sine and cosine have changed places. The even columns (0, 2, …) are sines: at place 0 a row reads 0, 1, 0, 1."""
    angles = np.arange(T)[:, None] / base ** (2 * (np.arange(D) // 2) / D)
    return np.where(np.arange(D) % 2, np.sin(angles), np.cos(angles))


@question.misconception("positions from one", costs=3, because="all rows but one are there")
def positions_from_one(T, D, base=10000.0):
    """Your first row belongs to place 1. Positions start at 0, where every sine is 0 and every cosine 1."""
    return right(T + 1, D, base)[1:]


@question.misconception("the base is always 10,000", costs=3, because="right with the usual base")
def base_ignored(T, D, base=10000.0):
    """Your function always uses the base 10,000. Use the base that it is given."""
    return right(T, D, 1e4)


@question.misconception("an odd number of columns breaks", costs=1.5)
def odd_breaks(T, D, base=10000.0):
    """With an odd number of columns your function fails: there is one cosine column less than there are sines. Compute the angles for
    all sines, and use as many of them for the cosines as there is room."""
    P = np.zeros((T, D))
    angles = np.arange(T)[:, None] / base ** (np.arange(0, D, 2) / D)
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles)
    return P


@question.misconception("rounded to two decimals", costs=3, because="the formula is right")
def rounded_to_two_decimals(T, D, base=10000.0):
    """Your values are right, but rounded to two decimals, as they are printed. Return them as they are: the slow clocks move by less than that
    in a step, so neighbours would look the same."""
    return right(T, D, base).round(2)


@question.alternative
def sinusoidal_in_lists(T, D, base=10000.0):
    wave = (math.sin, math.cos)
    return [[wave[j % 2](t / base ** ((j - j % 2) / D)) for j in range(D)] for t in range(T)]


@question.alternative
def sinusoidal_by_complex_turning(T, D, base=10000.0):
    pairs = (D + 1) // 2
    turn = np.exp(1j * base ** (-2 * np.arange(pairs) / D))
    hands = turn[None, :] ** np.arange(T)[:, None]
    return np.stack([hands.imag, hands.real], axis=2).reshape(T, 2 * pairs)[:, :D]


@question.alternative
def sinusoidal_in_single_precision(T, D, base=10000.0):
    speed = np.float32(base) ** (-2 * (np.arange(D) // 2) / D).astype(np.float32)
    angles = np.arange(T, dtype=np.float32)[:, None] * speed
    return np.where(np.arange(D) % 2, np.cos(angles), np.sin(angles)).astype(np.float64)
