"""Lab 07, causal_mask: T → (T, T) booleans, row i True at positions 0 to i."""

import numpy as np

from autograder.questions.engine import Case, Observed, Question


def triangle(T):
    return np.array([[column <= row for column in range(T)] for row in range(T)])


question = Question(triangle)


@question.family(
    "The triangle of the text, the 21 hidden scores of seven tokens, and other sentences.", weight=2
)
def a_few_tokens(rng):
    yield Case(3, gives=[[True, False, False], [True, True, False], [True, True, True]])
    yield 7
    for T in rng.choice(np.arange(4, 60), 4, replace=False):
        yield int(T)


@question.family("Long sentences.")
def long_sentences(rng):
    for T in rng.integers(66, 120, 2):
        yield int(T)


@question.family("A single token, among others.", weight=0.5)
def a_single_token(rng):
    yield Case(1, gives=[[True]])
    for T in rng.integers(8, 50, 5):
        yield int(T)


@question.scenario(
    "Each position hears all before it, and none of those that come later than the next.", weight=2
)
def past_and_future(student, rng):
    for T in rng.integers(5, 30, 2):
        mask, distance = np.asarray(student(int(T))), np.subtract.outer(np.arange(T), np.arange(T))
        yield Observed("the past", mask[distance > 0].astype(bool))
        yield Observed("the future", mask[distance < -1].astype(bool))


@question.scenario(
    "Of any two positions one hears the other, all in the same direction, and each hears itself."
)
def one_hears_the_other(student, rng):
    for T in rng.integers(5, 30, 2):
        mask = np.asarray(student(int(T)))
        yield Observed("the mask, in whichever direction", (mask.T if mask[0, 1] else mask).astype(bool))


_WRITTEN_INTO = """
import numpy as np

causal_mask = student_namespace[name]
mask = np.asarray(causal_mask(size))
before, writes = mask.copy(), mask.flags.writeable
if writes:
    mask[...] = False
again = np.array(causal_mask(size))
if writes:
    mask[...] = before
"""


@question.scenario("Each call makes a new mask: whoever writes into one changes no other.")
def a_new_mask(student, rng):
    scene = student.scene(_WRITTEN_INTO, name=student.name, size=int(rng.integers(4, 9)))
    yield Observed("the mask after an earlier one was written into", scene["again"])


@question.misconception("a word may not listen to itself", costs=1)
def causal_mask_without_the_diagonal(T):
    """Your mask hides a position from itself. The first position then may attend to nothing, and its softmax is 0/0.
    The diagonal is allowed."""
    return np.tril(np.ones((T, T), dtype=bool), k=-1)


@question.misconception("one word of the future is visible", costs=1)
def causal_mask_one_too_far(T):
    """Your mask lets each position see the next one, which is the very word it should predict: a model trained so looks
    perfect and has learned nothing. The last True of row i is in column i."""
    return np.tril(np.ones((T, T), dtype=bool), k=1)


@question.misconception("only the future is visible", costs=1.5)
def causal_mask_transposed(T):
    """Your mask is the transposed one: each position hears itself and the future. Rows are the listeners: row 0 has one True."""
    return np.triu(np.ones((T, T), dtype=bool))


@question.misconception("True for what is forbidden", costs=1.5)
def causal_mask_inverted(T):
    """Your mask is True where attention is forbidden, as some libraries have it. In this course True means “may attend”."""
    return np.triu(np.ones((T, T), dtype=bool), k=1)


@question.misconception("numbers instead of booleans", costs=1)
def causal_mask_of_numbers(T):
    """Your mask holds 1 and 0 where True and False are wanted. With numbers ~mask gives −2 and −1, both of which count as
    True: masks are booleans."""
    return np.tril(np.ones((T, T), dtype=int))


@question.misconception("0 and −∞ instead of booleans", costs=1.5)
def causal_mask_to_be_added(T):
    """Your mask is meant to be added to the scores: 0 and −∞. The mask of this course says True and False; the filling with
    −∞ happens in the attention."""
    return np.triu(np.full((T, T), -np.inf), k=1)


@question.alternative
def causal_mask_by_comparison(T):
    position = np.arange(T)
    return position[:, None] >= position


@question.alternative
def causal_mask_as_lists(T):
    return [[True] * (i + 1) + [False] * (T - i - 1) for i in range(T)]
