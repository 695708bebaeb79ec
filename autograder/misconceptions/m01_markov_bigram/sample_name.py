"""Lab 01, ``sample_name``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m01_markov_bigram.common import ALPHABET, reference
from autograder.testing import alternative, misconception


def _walk(draw, limit=200):
    letters: list[int] = []
    current = 0
    while len(letters) < limit:
        current = int(draw(current))
        if current == 27:
            break
        letters.append(current)
    return "".join(ALPHABET[i] for i in letters)


@misconception("sample_name", title="the most likely letter instead of a draw")
def takes_the_largest(P, rng):
    """Your function always takes the most likely next token, so it writes the same name for ever. Draw the next
    token at random with the probabilities of the current row."""
    return _walk(lambda current: P[current].argmax())


@misconception("sample_name", title="every letter is drawn from the row of <S>")
def never_leaves_the_start(P, rng):
    """Every letter of your names comes from the row of <S>: the chain never moves on. After a draw, the token
    drawn becomes the current one, and the next draw uses its row."""
    return _walk(lambda current: rng.choice(28, p=P[0]), limit=20)


@misconception("sample_name", title="long names are cut off", keeps="right for short names")
def cut_off(P, rng):
    """No name of yours is longer than a few letters, though the table lets names go on. A name ends when <E> is drawn, and only then."""
    return _walk(lambda current: rng.choice(28, p=P[current]), limit=15)


@misconception("sample_name", title="no letter comes twice in a name")
def without_putting_back(P, rng):
    """No letter comes twice in your names: a letter that was drawn is taken out of the table. Each draw uses the current row as it is."""
    P = P.copy()

    def draw(current):
        row = P[current] / P[current].sum() if P[current].sum() > 0 else np.eye(28)[27]
        drawn = rng.choice(28, p=row)
        P[:, drawn] = 0
        return drawn

    return _walk(draw)


@misconception("sample_name", title="the draw ignores the probabilities")
def ignores_the_probabilities(P, rng):
    """Every possible next token is equally likely in your names. The size of the probability matters: hand the
    row to the draw, with p=."""
    return _walk(lambda current: rng.choice(np.flatnonzero(P[current])))


@misconception(
    "sample_name",
    title="the randomness does not come from rng",
    keeps="the distribution is right; only the generator is not the one given",
)
def own_randomness(P, rng):
    """Your names are well distributed, but the same generator state gives different names. All randomness must
    come from the generator rng that the function is given, so that a run can be repeated."""
    return reference.sample_name(P, np.random.default_rng())


@misconception("sample_name", title="a new generator in every call")
def a_new_generator_each_time(P, rng):
    """Your function makes its own generator with a fixed seed, so every call gives the same name. Draw from the
    rng that you are given; it goes on where the last name stopped."""
    return reference.sample_name(P, np.random.default_rng(0))


@misconception("sample_name", title="the last letter is missing")
def last_letter_dropped(P, rng):
    """Your names lack their last letter. Stop when <E> is drawn, but keep every letter drawn before it."""
    return reference.sample_name(P, rng)[:-1]


@misconception("sample_name", title="the markers stand in the name")
def markers_kept(P, rng):
    """Your names carry <S> or <E>. The markers say where a name begins and ends; they are no letters of it."""
    return "<S>" + reference.sample_name(P, rng) + "<E>"


@misconception("sample_name", title="the column is drawn from instead of the row")
def draws_from_the_column(P, rng):
    """Your names walk against the arrows: you draw from a column of the table. The row of the current token
    holds the probabilities of what comes next."""

    def draw(current):
        column = P[:, current]
        return rng.choice(28, p=column / column.sum()) if column.sum() > 0 else 27

    return _walk(draw, 30)


@alternative("sample_name")
def by_multinomial_and_argmax(P, rng):
    return _walk(lambda current: np.argmax(rng.multinomial(1, P[current])), 100_000)


@alternative("sample_name")
def by_cumulative_sums(P, rng):
    steps = np.cumsum(P, axis=1)

    def draw(current):
        return min(np.searchsorted(steps[current], rng.random() * steps[current, -1], side="right"), 27)

    return _walk(draw, 100_000)


@alternative("sample_name")
def by_the_gumbel_trick(P, rng):
    with np.errstate(divide="ignore"):
        scores = np.log(P)
    return _walk(lambda current: np.argmax(scores[current] + rng.gumbel(size=28)), 100_000)


@alternative("sample_name")
def by_tokens_and_recursion(P, rng):
    def rest(token):
        following = str(rng.choice(ALPHABET, p=P[ALPHABET.index(token)]))
        return "" if following == "<E>" else following + rest(following)

    return rest("<S>")


@misconception(
    "sample_name", title="the empty name is drawn again", keeps="right but for one name that is rarely drawn"
)
def never_an_empty_name(P, rng):
    """When the first draw is the end token you draw again, so the empty name never comes. That is another model than the
    table: take what is drawn."""
    while True:
        letters, current = "", 0
        while (current := int(rng.choice(28, p=P[current]))) != 27:
            letters += ALPHABET[current]
        if letters:
            return letters
