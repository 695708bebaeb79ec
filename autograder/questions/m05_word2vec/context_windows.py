"""Lab 05, context_windows: a sentence of ids, m words on each side → a list of pairs (context, target)."""

import numpy as np

from autograder.questions.engine import Case, Question


def riddles(ids, m):
    contexts = [[ids[i] for i in range(len(ids)) if i != t and abs(i - t) <= m] for t in range(len(ids))]
    return [(context, target) for context, target in zip(contexts, ids, strict=True) if context]


question = Question(riddles)

SENTENCE = """The competent services have not included them in the agenda on the grounds that they had been answered in a
previous part-session"""


def some_ids(rng, length):
    return (1 + rng.permutation(100)[:length]).tolist()


@question.family("The case by hand, and other sentences with one word on each side.")
def one_on_each_side(rng):
    yield Case([7, 8, 9], 1, gives=[([8], 7), ([7, 9], 8), ([8], 9)])
    for length in (2, 3, 9):
        yield some_ids(rng, length), 1


@question.family("Wider windows are cut at both ends.", weight=2)
def wider_windows(rng):
    for m, length in ((4, 3), (2, 14), (5, 12), (4, 2), (9, 4)):
        yield some_ids(rng, length), m


@question.family("A sentence of one word gives no riddle, and neither does one of none.", weight=0.3)
def lone_words(rng):
    yield Case([], 2, gives=[])
    for word in some_ids(rng, 2):
        yield [word], word % 3 + 1


@question.family("A word beside its twin stays a hint: one word on each side.")
def twins(rng):
    a, b, c, d = some_ids(rng, 4)
    for ids in ([a, b, b, c, d], [a, b, c, c, c, d], [a, b, b, b, b, b, c]):
        yield ids, 1


@question.family(
    "In wider windows, too, only the target's own place is left out, and all hints keep their order.",
    weight=1.5,
)
def repeated_words(rng):
    yield SENTENCE.split(), 3
    yield ["sea", "sea"], 3
    a, b, c, d = some_ids(rng, 4)
    for m, ids in ((2, [a, b, a, c, a, d]), (3, [a, b, c, a, d, b, c]), (4, [b, b, a, d, a, b, c, a])):
        yield ids, m


@question.family("The word with the id 0 is a word like any other, and so is the empty string.")
def id_zero(rng):
    a, b, c, d = some_ids(rng, 4)
    for ids in ([a, b, 0, c, d], [a, 0, b, c], [0, d, a, b], ["sea", "", "land"]):
        yield ids, 1
    yield [0, 0], 2


def _windows(ids, m, context_of):
    found = [(list(context_of(place)), target) for place, target in enumerate(ids)]
    return [riddle for riddle in found if riddle[0]]


@question.misconception("only the words before the target", costs=2, because="one slip")
def left_side_only(ids, m):
    """Your contexts hold only the words before the target. That was lab 01's question; here the words after the gap are hints, too."""
    return _windows(ids, m, lambda t: ids[max(0, t - m) : t])


@question.misconception("the target stands in its own context", costs=2.5)
def target_in_context(ids, m):
    """The target is among its own hints, so the riddle gives its answer away and nothing is learned. Leave out its position."""
    return _windows(ids, m, lambda t: ids[max(0, t - m) : t + m + 1] if len(ids) > 1 else [])


@question.misconception("the window reaches around the end", costs=1.5, because="right away from the ends")
def wraps_around(ids, m):
    """At the beginning of a sentence your window takes words from its end: a negative index counts from the back. Begin at
    max(0, place − m)."""
    near, T = [d for d in range(-m, m + 1) if d], len(ids)
    return _windows(ids, m, lambda t: [ids[(t + d) % T] for d in near if t + d < T and T > 1])


@question.misconception("every word equal to the target is dropped", costs=1.5)
def drops_equal_words(ids, m):
    """Where the target's word stands in the window a second time, you leave that out as well. It is an honest hint: only the target's own
    position is the gap."""
    return _windows(ids, m, lambda t: [i for i in ids[max(0, t - m) : t + m + 1] if i != ids[t]])


@question.misconception("only full windows", costs=1.5, because="only words near the ends are lost")
def full_windows_only(ids, m):
    """Words near the ends of the sentence are missing as targets: you take only windows with m words on both sides. At the ends the window
    is shorter, and the riddle still counts."""
    return [riddle for riddle in riddles(ids, m) if len(riddle[0]) == 2 * m]


@question.misconception("m words in all instead of m on each side", costs=2, because="one slip")
def half_the_window(ids, m):
    """Your windows are too narrow: m is the number of words on *each* side, so a full window holds 2m hints."""
    half = (m + 1) // 2
    return _windows(ids, m, lambda t: [*ids[max(0, t - half) : t], *ids[t + 1 : t + 1 + m - half]])


@question.misconception("the target comes before the context", costs=2, because="one slip")
def pairs_turned_around(ids, m):
    """Your pairs are (target, context). The lab expects (context, target), what is given before what is asked."""
    return [(target, context) for context, target in riddles(ids, m)]


@question.misconception("one word too few on the right", costs=2, because="it shows in nearly every window")
def one_too_few_on_the_right(ids, m):
    """On the right your windows end one word too early, with m = 1 they are empty there: a slice leaves out its end, so it is
    ids[place + 1 : place + 1 + m]."""
    return _windows(ids, m, lambda t: [*ids[max(0, t - m) : t], *ids[t + 1 : t + m]])


@question.misconception("the hints are in another order", costs=1.5, because="all hints are right")
def right_side_first(ids, m):
    """Your contexts hold the right words, and begin with those behind the target. Keep the order of the sentence."""
    return _windows(ids, m, lambda t: [*ids[t + 1 : t + 1 + m], *ids[max(0, t - m) : t]])


@question.alternative
def by_offsets_in_tuples(ids, m):
    offsets = [*range(-m, 0), *range(1, m + 1)]
    found = tuple(
        (tuple(ids[t + o] for o in offsets if 0 <= t + o < len(ids)), ids[t]) for t in range(len(ids))
    )
    return found if len(ids) > 1 else ()


@question.alternative
def by_splitting_and_deleting(ids, m):
    found = []
    for t in range(len(ids)):
        window = list(ids)[max(t - m, 0) : t + m + 1]
        target = window.pop(min(t, m))
        if window:
            found.append([np.array(window), target])
    return found
