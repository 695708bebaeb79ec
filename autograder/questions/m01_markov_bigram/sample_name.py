"""Lab 01, sample_name: P (28, 28), rng → a name, drawn letter by letter from the row of the letter before."""

import re
import string
from collections import Counter
from itertools import pairwise

import numpy as np

from autograder.questions.engine import Observed, Question
from autograder.questions.m01_markov_bigram.common import ALPHABET, INDEX


def letter_by_letter(P, rng):
    """Where a number from 0 to 1 falls, the probabilities of the row laid end to end."""
    rows = P.tolist()
    name, row = "", rows[0]
    while True:
        left = rng.random() * sum(row)
        token = next((t for t, p in enumerate(row) if (left := left - p) < 0), 27)
        if token == 27:
            return name
        name, row = name + ALPHABET[token], rows[token]


question = Question(letter_by_letter)

# In every table a name may end from <S>, and <E> is the likeliest after each letter that is likeliest to come: so a wrong
# answer that never leaves <S>, or takes the likeliest, ends, and what it does is seen.


def table(steps):
    P = np.zeros((28, 28))
    for current, following, probability in steps:
        P[INDEX[current], INDEX[following]] = probability
    return P


def generator(rng):
    return np.random.default_rng(int(rng.integers(2**62)))


def vary(names):
    """Whether not all names are the same: who draws from a generator of their own in each call is known by that."""
    return len(set(names)) > 1


def are_of(P, names):
    """Whether each step comes as often as the table says: no impossible one, each likely one, each within six standard errors."""
    steps, visits = Counter(), Counter()
    for name in names:
        tokens = [INDEX.get(token, 27) for token in ("<S>", *re.findall("<S>|.", name), "<E>")]
        steps.update(pairwise(tokens))
        visits.update(tokens[:-1])

    def holds(step, p):
        expected = visits[step[0]] * p
        is_there = steps[step] > 0 or expected < 20
        return is_there and abs(steps[step] - expected) <= 6 * (expected * (1 - p)) ** 0.5 + 1e-6

    possible = {step: p for step, p in np.ndenumerate(P) if p}
    return steps.keys() <= possible.keys() and all(holds(step, p) for step, p in possible.items())


@question.scenario("Where only one name can be spelled, it is spelled, without <S> and <E>.")
def the_only_name(student, rng):
    for letters in ("ab", "".join(rng.permutation(list(string.ascii_lowercase))[:6])):
        certain = [(a, b, 1.0) for a, b in zip(letters, [*letters[1:], "<E>"], strict=True)]
        P = table([("<S>", letters[0], 0.5), ("<S>", "<E>", 0.5), *certain])
        names = student.repeat(30, P, generator(rng))
        shortest = min(filter(None, names), key=lambda name: (len(name), name), default="")
        seen = shortest if vary(names) else "always the same"
        yield Observed("the shortest name that has letters", seen)


@question.scenario("Among many names each step comes as often as its row of the table says.", weight=2)
def as_often_as_the_table_says(student, rng):
    letters = rng.permutation(list(string.ascii_lowercase))[:3].tolist()
    P = table([("<S>", "<E>", 0.25)])
    for token, base, spread in (("<S>", 0.1, 0.45), *((letter, 0.1, 0.3) for letter in letters)):
        P[INDEX[token], [INDEX[letter] for letter in letters]] = base + spread * rng.dirichlet([3, 3, 3])
    P[[INDEX[letter] for letter in letters], 27] = 0.4
    names = student.repeat(500, P, generator(rng))
    yield Observed("each step comes as often as the table says", are_of(P, names))
    twice = any(2 * letter in name for name in names for letter in letters)
    yield Observed("a letter comes twice in a row", vary(names) and twice)


@question.scenario("The same state of rng gives the same names, another state gives others.")
def chance_comes_from_rng(student, rng):
    likely, seed = str(rng.choice(list(string.ascii_lowercase))), int(rng.integers(2**40))
    row = table([("<S>", letter, 0.026) for letter in string.ascii_lowercase])[0]
    row[INDEX[likely]], row[27] = 0.2, 0.15
    P = np.tile(row, (28, 1))
    P[INDEX[likely], [INDEX[likely], 27]] = 0.15, 0.2
    first, again, other = (student.repeat(12, P, np.random.default_rng(s)) for s in (seed, seed, seed + 1))
    yield Observed("the same names from the same state", first == again)
    yield Observed("the same names from another state", first == other)
    yield Observed("the likeliest letters only", all(name == likely for name in first))


@question.scenario("A name is as long as the table lets it be.", weight=0.75)
def long_names(student, rng):
    b, c = rng.permutation(list(string.ascii_lowercase))[:2].tolist()
    starts = [("<S>", b, 0.45), ("<S>", c, 0.45), ("<S>", "<E>", 0.1)]
    P = table([*starts, (b, b, 0.5), (b, c, 0.476), (b, "<E>", 0.024), (c, b, 1.0)])
    names = student.repeat(80, P, generator(rng))
    yield Observed("some names have letters", any(names))
    longest = max(map(len, names))
    yield Observed(
        "names of more than 105 letters come", vary(names) and longest > 105
    )  # one in six is, none has 900


@question.scenario(
    "Where the table lets a name end at once, empty names come as often as it says.", weight=0.5
)
def empty_names(student, rng):
    letter = str(rng.choice(list(string.ascii_lowercase)))
    P = table([("<S>", "<E>", 0.5), ("<S>", letter, 0.5), (letter, "<E>", 1.0)])
    names = student.repeat(200, P, generator(rng))
    yield Observed("some names are empty", vary(names) and "" in names)
    yield Observed("as many as the table says", are_of(P, names))


@question.scenario(
    "Rare letters come, and an <S> in the middle is written like any other token.", weight=0.75
)
def rare_and_in_the_middle(student, rng):
    a, *rare = rng.permutation(list(string.ascii_lowercase))[:21].tolist()
    after = [(a, "<E>", 0.4), (a, a, 0.3), (a, "<S>", 0.202), *((a, z, 0.0049) for z in rare)]
    P = table([("<S>", a, 0.9), ("<S>", "<E>", 0.1), *after, *((z, "<E>", 1.0) for z in rare)])
    names = student.repeat(300, P, generator(rng))
    yield Observed("some names hold a rare letter", any(set(name) & {*rare} for name in names))
    yield Observed("some names hold <S>", vary(names) and any("<S>" in name for name in names))
    yield Observed("each step comes as often as the table says", are_of(P, names))


def _walk(draw, limit=1000):
    letters, current = [], 0
    while len(letters) < limit and (current := int(draw(current))) != 27:
        letters.append(current)
    return "".join(ALPHABET[i] for i in letters)


def _drawn(rng, row):
    return rng.multinomial(1, row).argmax()  # a third of the time of rng.choice


def _sampled(P, rng, limit=1000):
    return _walk(lambda current: _drawn(rng, P[current]), limit)


@question.misconception("the most likely letter instead of a draw", costs=3)
def takes_the_largest(P, rng):
    """Your function always takes the most likely next token, so it writes the same name for ever. Draw the next
    token at random with the probabilities of the current row."""
    return _walk(lambda current: P[current].argmax())


@question.misconception("every letter is drawn from the row of <S>", costs=2)
def never_leaves_the_start(P, rng):
    """Every letter of your names comes from the row of <S>: the chain never moves on. After a draw, the token
    drawn becomes the current one, and the next draw uses its row."""
    return _walk(lambda current: _drawn(rng, P[0]))


@question.misconception("long names are cut off", costs=1)
def cut_off(P, rng):
    """No name of yours is longer than a few letters, though the table lets names go on. A name ends when <E> is drawn, and only then."""
    return _sampled(P, rng, 15)


@question.misconception("no letter comes twice in a name", costs=1, because="each draw by itself is right")
def without_putting_back(P, rng):
    """No letter comes twice in your names: a letter that was drawn is taken out of the table. Each draw uses the current row as it is."""
    P = P.copy()

    def draw(current):
        row = P[current] / P[current].sum() if P[current].sum() > 0 else np.eye(28)[27]
        drawn = _drawn(rng, row)
        P[:, drawn] = 0
        return drawn

    return _walk(draw)


@question.misconception("the draw ignores the probabilities", costs=2)
def ignores_the_probabilities(P, rng):
    """Every possible next token is equally likely in your names. The size of the probability matters: hand the
    row to the draw, with p=."""
    return _walk(lambda current: rng.choice(np.flatnonzero(P[current])))


@question.misconception("the randomness does not come from rng", costs=1)
def own_randomness(P, rng):
    """Your names are well distributed, but the same generator state gives different names. All randomness must
    come from the generator rng that the function is given, so that a run can be repeated."""
    return _sampled(P, np.random.default_rng())


@question.misconception("a new generator in every call", costs=2.5)
def a_new_generator_each_time(P, rng):
    """Your function makes its own generator with a fixed seed, so every call gives the same name. Draw from the
    rng that you are given; it goes on where the last name stopped."""
    return _sampled(P, np.random.default_rng(0))


@question.misconception("the last letter is missing", costs=1.5, because="every draw is right")
def last_letter_dropped(P, rng):
    """Your names lack their last letter. Stop when <E> is drawn, but keep every letter drawn before it."""
    return _sampled(P, rng)[:-1]


@question.misconception("the markers stand in the name", costs=1.5, because="every draw is right")
def markers_kept(P, rng):
    """Your names carry <S> or <E>. The markers say where a name begins and ends; they are no letters of it."""
    return "<S>" + _sampled(P, rng) + "<E>"


@question.misconception("the column is drawn from instead of the row", costs=2.5)
def draws_from_the_column(P, rng):
    """Your names walk against the arrows: you draw from a column of the table. The row of the current token
    holds the probabilities of what comes next."""

    def draw(current):
        column = P[:, current]
        return _drawn(rng, column / column.sum()) if column.sum() > 0 else 27

    return _walk(draw, 30)


@question.misconception("the empty name is drawn again", costs=1, because="one name of many never comes")
def never_an_empty_name(P, rng):
    """When the first draw is the end token you draw again, so the empty name never comes. That is another model than the
    table: take what is drawn."""
    while not (name := _sampled(P, rng)):
        pass
    return name


@question.alternative
def by_cumulative_sums(P, rng):
    steps = np.cumsum(P, axis=1)

    def draw(current):
        return min(np.searchsorted(steps[current], rng.random() * steps[current, -1], side="right"), 27)

    return _walk(draw, 100_000)


@question.alternative
def by_the_gumbel_trick(P, rng):
    scores = np.log(P)
    return _walk(lambda current: np.argmax(scores[current] + rng.gumbel(size=28)), 100_000)


@question.alternative
def by_tokens_and_recursion(P, rng):
    def rest(token):
        following = str(rng.choice(ALPHABET, p=P[ALPHABET.index(token)]))
        return "" if following == "<E>" else following + rest(following)

    return rest("<S>")
