"""Lab 06, rope: x (…, T, D), positions (T,), base → x with each pair of entries turned by its position (…, T, D)."""

import cmath
import math

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m06_positions.common import ATOL, blocks, speeds


def arrow_by_arrow(x, positions, base=10000.0):
    D, y = x.shape[-1], np.zeros(x.shape)
    for *lead, t, i in np.ndindex(*x.shape[:-1], D // 2):
        a, b = (*lead, t, 2 * i), (*lead, t, 2 * i + 1)
        arrow = complex(x[a], x[b]) * cmath.rect(1, positions[t] / base ** (2 * i / D))
        y[a], y[b] = arrow.real, arrow.imag
    return y


question = Question(arrow_by_arrow, uses=("sinusoidal", "shift_matrix"))


@question.family("A single pair turns by its position.", weight=2, atol=ATOL)
def a_single_pair(rng):
    yield rng.normal(size=(3, 2)), rng.choice(np.arange(2, 40), 3, replace=False).tolist()
    yield rng.normal(size=(2, 2)), np.array([4, 0])


@question.family("A quarter turn by hand; fractions and negative positions.", weight=2, atol=ATOL)
def fractions_and_negative_positions(rng):
    yield Case(np.eye(2), [math.pi / 2] * 2, gives=[[0.0, 1.0], [-1.0, 0.0]])
    yield rng.normal(size=(3, 2)), np.array([-2.0, 0.0, 5.0]) + rng.uniform(0.2, 0.8, 3)
    yield rng.normal(size=(2, 2)), [-3, 2]


@question.family("Neighbours are pairs, each slower than the one before.", weight=1.5, atol=ATOL)
def several_pairs(rng):
    yield rng.normal(size=(3, 12))[:, ::2], [17, 0, int(rng.integers(1, 9))]
    yield rng.normal(size=(2, 8)), rng.choice(np.arange(1, 30), 2, replace=False)


@question.family("Another base, also below 1.", weight=2, atol=ATOL)
def another_base(rng):
    yield rng.normal(size=(2, 4)), [0, int(rng.integers(1, 20))], float(rng.uniform(20, 900))
    yield Case(rng.normal(size=(2, 6)), [3, int(rng.integers(4, 9))], base=float(rng.uniform(0.3, 0.7)))


@question.family("A batch, with heads or without.", weight=2, atol=ATOL)
def batches_and_heads(rng):
    yield rng.normal(size=(3, 2, 4)), [0, int(rng.integers(1, 20))]
    yield rng.normal(size=(2, 2, 3, 4)), rng.permutation([9, 0, 30])


@question.family("Vectors of whole numbers become vectors of real ones.", weight=0.5, atol=ATOL)
def whole_numbers(rng):
    yield rng.integers(2, 9, (3, 2)), [2, 1, int(rng.integers(3, 9))]
    yield rng.integers(2, 9, (2, 1, 2)), [1]
    yield rng.integers(2, 9, (2, 2, 4)), [1, int(rng.integers(3, 9))]


@question.scenario(
    "How alike a vector is to itself elsewhere: the distance counts, turned this way or that.", weight=1.5
)
def the_distance_counts(student, rng):
    for shape in ((1, 2), (3, 1, 4)):
        vectors = rng.normal(size=shape)
        turned = np.asarray(student(np.repeat(vectors, 4, axis=-2), [0, 5, 2, 41]))
        yield Observed("the dot products", turned @ np.swapaxes(turned, -1, -2), atol=1e-3)


NOTHING_TURNS = """
import numpy as np

still = student_namespace[name](x, [0, 0])
shared = isinstance(still, np.ndarray) and np.shares_memory(still, x)
still = np.array(still)
"""


@question.scenario("The result is a new array, also where nothing turns.", weight=0.5)
def a_new_array(student, rng):
    scene = student.scene(NOTHING_TURNS, name=student.name, x=rng.normal(size=(2, 2)))
    yield Observed("whether it shares its numbers with x", bool(scene["shared"]))
    yield Observed("the vectors at position 0", scene["still"])


def turned(x, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def rope_angles(x, positions, base):
    return np.asarray(positions, dtype=float)[:, None] * speeds(x.shape[-1], base)


@question.misconception("first half paired with second half", costs=2)
def halves_paired(x, positions, base=10000.0):
    """You pair entry i with entry i + D/2, as some libraries do. Here neighbours are pairs: 0 with 1, 2 with 3, as in the paper. Weights that are
    trained one way do not work the other way, so the choice is pinned."""
    angles = rope_angles(x, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


@question.misconception("turned the other way", costs=2, because="right in all but the direction")
def turned_clockwise(x, positions, base=10000.0):
    """Your arrows turn clockwise. Dot products still know the distance, but the sign of it is swapped: turn anticlockwise, with the minus in front
    of the first sine."""
    return turned(x, -rope_angles(x, positions, base))


@question.misconception("positions added instead of turned", costs=4)
def positions_added(x, positions, base=10000.0):
    """You add sines and cosines to the vector. That is the older way; here nothing is added, each pair of entries is turned, and its length stays
    as it was."""
    angles = rope_angles(x, positions, base)
    return x + np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)


@question.misconception("the given positions not used", costs=2.5, because="right for the usual positions")
def order_of_the_rows(x, positions, base=10000.0):
    """You turn by 0, 1, 2, … in the order of the rows, whatever positions are given. A word may stand anywhere, for example late in a sentence of which
    only the end is passed in."""
    return turned(x, rope_angles(x, np.arange(x.shape[-2]), base))


@question.misconception("all pairs at the same speed", costs=2)
def all_pairs_at_one_speed(x, positions, base=10000.0):
    """All your pairs turn by the same angle. Each pair has its own clock, slower from pair to pair: with one speed, places 44 steps apart would look
    the same."""
    return turned(x, np.repeat(np.asarray(positions, dtype=float)[:, None], x.shape[-1] // 2, axis=1))


@question.misconception("half the exponent", costs=2)
def rope_half_the_exponent(x, positions, base=10000.0):
    """Your clocks slow down too little from pair to pair: the exponent is 2i/D, with i the number of the pair. You use i/D."""
    D = x.shape[-1]
    return turned(x, np.asarray(positions, dtype=float)[:, None] * base ** (-np.arange(D // 2) / D))


@question.misconception("the base is always 10,000", costs=2)
def rope_base_ignored(x, positions, base=10000.0):
    """Your clocks always use the base 10,000. Use the base that your function is given."""
    return turned(x, rope_angles(x, positions, 1e4))


@question.misconception("the new first entry used for the second", costs=2.5, because="half of it is right")
def overwritten_while_turning(x, positions, base=10000.0):
    """You compute the second entry of a pair from the first entry that is turned already. Both new entries come from the two *old* ones: keep them until
    both are computed."""
    y = np.array(x, dtype=float)
    angles = rope_angles(x, positions, base)
    y[..., 0::2] = y[..., 0::2] * np.cos(angles) - y[..., 1::2] * np.sin(angles)
    y[..., 1::2] = y[..., 0::2] * np.sin(angles) + y[..., 1::2] * np.cos(angles)
    return y


@question.misconception("made for two axes", costs=2)
def rope_for_two_axes(x, positions, base=10000.0):
    """For x of shape (T, D) your result is right, but in a batch the entries stand in other places: the new axis of the pairs is axis 2 there,
    and no longer the last one. Use axis=-1, which counts from the end."""
    angles = rope_angles(x, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=2).reshape(x.shape)


@question.misconception("counted from the first position", costs=2, because="the distances are right")
def from_the_first_position(x, positions, base=10000.0):
    """You take the first position off all of them, so the first word is never turned. Between the words of *one* call nothing changes by that, but
    two calls no longer fit together: turn by the positions as they are given."""
    return turned(x, rope_angles(x, np.asarray(positions) - positions[0], base))


@question.alternative
def rope_by_complex_numbers(x, positions, base=10000.0):
    z = np.ascontiguousarray(x, dtype=float).view(complex)
    turned = z * np.exp(1j * np.outer(positions, speeds(x.shape[-1], base)))
    return turned.view(float)


@question.alternative
def rope_by_matrices(x, positions, base=10000.0):
    D = x.shape[-1]
    R = np.stack([blocks(m * speeds(D, base), lambda cos, sin: [[cos, -sin], [sin, cos]]) for m in positions])
    return np.einsum("tij,...tj->...ti", R, x)


@question.impostor
def counts_for_itself(right, x, positions):
    """It takes 0, 1, 2, … for the positions, whatever it is given.
    One survives: your positions are the ones that plain counting gives."""
    return right(x, np.arange(x.shape[-2]))


@question.impostor
def counts_from_the_first_word(right, x, positions):
    """It counts the positions from the first word on.
    One survives: your first vector stands at position 0."""
    return right(x, np.asarray(positions) - positions[0])


@question.impostor
def whole_positions_only(right, x, positions):
    """It cuts positions down to whole numbers.
    One survives: your positions are whole numbers. Need they be?"""
    return right(x, np.floor(positions))


@question.impostor
def pairs_the_halves(right, x, positions):
    """It pairs entry i with entry i + D/2, as some libraries do.
    One survives: your vectors hold a single pair."""
    order = np.arange(x.shape[-1]).reshape(2, -1).T.ravel()  # the halves, shuffled into one another
    return np.asarray(right(x[..., order], positions))[..., np.argsort(order)]


@question.impostor
def one_speed_for_all(right, x, positions):
    """It turns all pairs at the speed of the first clock.
    One survives: your vectors have one clock."""
    return right(x, positions, 1.0)
