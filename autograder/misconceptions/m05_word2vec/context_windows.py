"""Lab 05, ``context_windows``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m05_word2vec.common import reference
from autograder.testing import alternative, misconception


def _windows(ids, m, context_of):
    riddles = []
    for place, target in enumerate(ids):
        context = context_of(place)
        if len(context):
            riddles.append((context, target))
    return riddles


@misconception("context_windows", title="only the words before the target")
def left_side_only(ids, m):
    """Your contexts hold only the words before the target. That would be the question of lab 01, what comes next; here the
    words after the gap are hints as well: up to m on each side."""
    return _windows(ids, m, lambda place: list(ids[max(0, place - m) : place]))


@misconception("context_windows", title="the target stands in its own context")
def target_in_context(ids, m):
    """The target is among its own hints, so the riddle gives its answer away and nothing is learned. Leave out the
    target's own position."""
    riddles = [(list(ids[max(0, t - m) : t + m + 1]), target) for t, target in enumerate(ids)]
    return riddles if len(ids) > 1 else []


@misconception(
    "context_windows", title="the window reaches around the end", keeps="right behind the first m words"
)
def wraps_around(ids, m):
    """At the beginning of a sentence your window takes words from its end (or gets lost): a negative index counts from
    the back. Cut the window at 0, max(0, place − m)."""
    count = len(ids)
    near = [d for d in range(-m, m + 1) if d]
    return _windows(
        ids, m, lambda place: [ids[(place + d) % count] for d in near if place + d < count and count > 1]
    )


@misconception(
    "context_windows",
    title="every word equal to the target is dropped",
    keeps="right where no word stands twice",
)
def drops_equal_words(ids, m):
    """When the target's word stands in the window a second time, you leave that out as well. It is an honest hint: only the
    target's own position is the gap."""
    return _windows(
        ids, m, lambda place: [i for i in ids[max(0, place - m) : place + m + 1] if i != ids[place]]
    )


@misconception("context_windows", title="only full windows")
def full_windows_only(ids, m):
    """Words near the ends of the sentence are missing as targets: you take only windows with m words on both sides. At the
    ends the window is shorter, and the riddle still counts."""
    return [riddle for riddle in reference.context_windows(ids, m) if len(riddle[0]) == 2 * m]


@misconception("context_windows", title="m words in all instead of m on each side")
def half_the_window(ids, m):
    """Your windows are too narrow: m is the number of words on *each* side, so a full window holds 2m hints."""
    half = (m + 1) // 2
    return _windows(
        ids, m, lambda place: [*ids[max(0, place - half) : place], *ids[place + 1 : place + 1 + m - half]]
    )


@misconception("context_windows", title="the target comes before the context")
def pairs_turned_around(ids, m):
    """Your pairs are (target, context). The rest of the lab expects (context, target), what is given before what is
    asked."""
    return [(target, context) for context, target in reference.context_windows(ids, m)]


@misconception(
    "context_windows",
    title="every word equal to the target is dropped",
    keeps="right where no word stands twice",
)
def drops_equal_words_and_keeps_the_riddle(ids, m):
    """When the target's word stands in the window a second time, you leave that out as well, so that riddles of equal words have no hint at all.
    It is an honest hint: only the target's own position is the gap."""
    if len(ids) < 2:
        return []
    return [
        ([i for i in ids[max(0, t - m) : t + m + 1] if i != target], target) for t, target in enumerate(ids)
    ]


@misconception("context_windows", title="the beginning has no hints on the left", keeps="right with m = 1")
def nothing_on_the_left_at_first(ids, m):
    """The first m words of a sentence get no hints on their left in your contexts. There are fewer than m there, but they are hints:
    begin at max(0, place − m)."""
    if len(ids) < 2:
        return []
    return [
        ([*(ids[t - m : t] if t >= m else []), *ids[t + 1 : t + 1 + m]], target)
        for t, target in enumerate(ids)
    ]


@misconception("context_windows", title="the beginning has no hints on the left", keeps="right with m = 1")
def slice_from_behind(ids, m):
    """The first words of a sentence lose hints on their left in your contexts: where place − m is below 0, the slice counts from the end of
    the sentence. Begin at max(0, place − m)."""
    return _windows(ids, m, lambda place: [*ids[place - m : place], *ids[place + 1 : place + 1 + m]])


@misconception("context_windows", title="a riddle without a hint", keeps="right from two words on")
def lone_word_kept(ids, m):
    """A sentence of one word gives a riddle with an empty context in your list. Without a hint there is nothing to guess from: such a
    sentence gives no riddle."""
    return [([*ids[max(0, t - m) : t], *ids[t + 1 : t + 1 + m]], target) for t, target in enumerate(ids)]


@misconception(
    "context_windows",
    title="an equal word is taken out in the target's place",
    keeps="right where no word stands twice",
)
def first_equal_word_removed(ids, m):
    """Where the target's word stands to its left, too, your hints are in another order: list.remove takes out the first equal word, not the
    target. Leave out the target's place."""
    riddles = []
    for place, target in enumerate(ids):
        context = list(ids[max(0, place - m) : place + m + 1])
        context.remove(target)
        if context:
            riddles.append((context, target))
    return riddles


@misconception(
    "context_windows", title="each word of the context once", keeps="right where no word stands twice"
)
def each_word_of_the_context_once(ids, m):
    """A word that stands in the window twice is one hint only in your contexts. Keep both: a context is a list of the positions around the
    target, not a set."""
    riddles = reference.context_windows(ids, m)
    return [(list(dict.fromkeys(context)), target) for context, target in riddles]


@misconception("context_windows", title="one word too few on the right")
def one_too_few_on_the_right(ids, m):
    """On the right your windows end one word too early: a slice leaves out its end, so up to m words after the target are
    ids[place + 1 : place + 1 + m]."""
    return _windows(ids, m, lambda place: [*ids[max(0, place - m) : place], *ids[place + 1 : place + m]])


@misconception(
    "context_windows",
    title="an equal word's place is taken for the target's",
    keeps="right where no word stands twice",
)
def place_of_the_first_equal_word(ids, m):
    """A word that comes again gets the context of its first place each time: ids.index finds the first equal word only. Go through the positions,
    with enumerate."""
    places = [list(ids).index(target) for target in ids]
    riddles = [([*ids[max(0, p - m) : p], *ids[p + 1 : p + 1 + m]], ids[p]) for p in places]
    return riddles if len(ids) > 1 else []


@misconception("context_windows", title="the hints are in another order")
def right_side_first(ids, m):
    """Your contexts hold the right words, and begin with those behind the target. Keep the order of the sentence: the words before the target
    first."""
    return _windows(ids, m, lambda place: [*ids[place + 1 : place + 1 + m], *ids[max(0, place - m) : place]])


@misconception("context_windows", title="one word too few on the right")
def one_too_few_and_empty_contexts(ids, m):
    """On the right your windows end one word too early, with m = 1 they are empty there: a slice leaves out its end, so up to m words after the
    target are ids[place + 1 : place + 1 + m]."""
    if len(ids) < 2:
        return []
    return [([*ids[max(0, t - m) : t], *ids[t + 1 : t + m]], target) for t, target in enumerate(ids)]


@misconception("context_windows", title="the word with id 0 is lost", keeps="right for all other words")
def false_words_lost(ids, m):
    """The word with the id 0 never is a hint in your contexts: 0 counts as false, so “if word” leaves it out. It is an id like any other. Ask “is
    not None”, or go by the places."""
    if len(ids) < 2:
        return []
    padded = [None] * m + list(ids) + [None] * m
    windows = (padded[t : t + m] + padded[t + m + 1 : t + 2 * m + 1] for t in range(len(ids)))
    return [([word for word in window if word], target) for window, target in zip(windows, ids, strict=True)]


@alternative("context_windows")
def by_offsets_in_tuples(ids, m):
    offsets = [*range(-m, 0), *range(1, m + 1)]
    found = tuple(
        (tuple(ids[t + o] for o in offsets if 0 <= t + o < len(ids)), ids[t]) for t in range(len(ids))
    )
    return found if len(ids) > 1 else ()


@alternative("context_windows")
def by_splitting_and_deleting(ids, m):
    riddles = []
    for t in range(len(ids)):
        window = list(ids)[max(t - m, 0) : t + m + 1]
        target = window.pop(min(t, m))
        if window:
            riddles.append([np.array(window), target])
    return riddles
