"""Lab 01, bigram_counts: a list of names → how often each token follows each other one, (28, 28)."""

import itertools

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m01_markov_bigram.common import INDEX, some_names, steps_of


def one_by_one(words):
    N = np.zeros((28, 28), dtype=int)
    for word in words:
        for step in steps_of(word):
            N[step] += 1
    return N


question = Question(one_by_one)


def different_names(rng, count, letters="abcdefghijklmnopqrstuvwxyz", longest=9):
    """Different names of two letters and more, in which no letter comes three times in a row."""
    names = some_names(rng, 2 * count, letters, longest, shortest=2)
    return sorted({name for name in names if not any(3 * letter in name for letter in letters)})[:count]


def of_ava():
    N = np.zeros((28, 28), dtype=int)
    N[[0, 1, 22, 1], [1, 22, 1, 27]] = 1
    return N


@question.family("The four pairs of “ava”; the start and the end of each name included.")
def many_names(rng):
    yield Case(["ava"], gives=of_ava())
    for count in (80, 12):
        yield different_names(rng, count)
    yield different_names(rng, 20, "aez")


@question.family("A name of one letter has two pairs, one without letters has one.")
def short_names(rng):
    yield [*sorted(set(some_names(rng, 4, longest=1))), "otto"]
    yield from ([""], ["", *different_names(rng, 1)])
    yield [some_names(rng, 1, longest=1)[0], ""]


@question.family("A name that stands in the list several times counts each time.", weight=0.5)
def repeated_names(rng):
    words = different_names(rng, 6, "abcd", 5)
    yield [*words, "anna", *words, "anna", "anna"]


@question.family("The same letter three times and more in a row.", weight=0.5)
def the_same_letter(rng):
    one, other = rng.permutation(list("abcdwxyz"))[:2].tolist()
    yield [4 * one, one + 3 * other, other + 5 * one]


@question.family("A pair that comes thousands of times.", weight=0.5)
def thousands(rng):
    yield ["an" * 60 + end for end in different_names(rng, 50, longest=4)]


@question.family("An empty list, a single name, long ones; all kinds together.", weight=0.5)
def all_kinds(rng):
    few = ["".join(rng.choice(list("abz"), size=length)) for length in (1, 3, 7, 25)]
    yield []
    yield [few[2]]
    yield [*few, "", *few, "q", "".join(rng.choice(list("abz"), size=350)), "", "q"]


@question.scenario("The pairs of letters, wherever a name begins and ends.", weight=1.5)
def pairs_of_letters(student, rng):
    for words in (["anna", "otto"], different_names(rng, 20)):
        yield Observed("the pairs of letters", np.asarray(student(words))[1:27, 1:27])


def _counted(names):
    """How often each of the tokens of some names follows each other one."""
    N = np.zeros((28, 28))
    for tokens in names:
        for a, b in itertools.pairwise(tokens):
            N[INDEX[a], INDEX[b]] += 1
    return N


@question.misconception("no start token", costs=1, start=[], end=["<E>"], because="the letters are right")
@question.misconception(
    "no end token",
    costs=1,
    start=["<S>"],
    end=[],
    because="the pairs of letters are right",
    hint="""Nothing leads to <E> in your table: a chain made from it could never stop. Put <E> after the last letter
    of every name.""",
)
def without_a_marker(words, *, start, end):
    """Nothing follows <S> in your table, so it does not know how names begin. Put <S> before the first letter
    of every name."""
    return _counted([*start, *word, *end] for word in words)


@question.misconception("the counts are transposed", costs=2, because="one slip, though it shows everywhere")
def counts_transposed(words):
    """Your counts stand in the transposed cell: the row should be the current token and the column the one that
    follows."""
    return one_by_one(words).T


@question.misconception("repeated names count once", costs=1)
def distinct_names_only(words):
    """A name that stands in the list twice counts once in your table. The list says how often a name was met:
    count every occurrence."""
    return one_by_one(sorted(set(words)))


@question.misconception("pairs that overlap are missed", costs=1)
def overlaps_missed(words):
    """In a name such as *aaa* the pair (a, a) comes twice, and you count it once: `str.count` does not look at pairs that overlap. Go
    through the name letter by letter."""
    N = np.zeros((28, 28))
    for word in words:
        for step in {steps_of(word)[0], steps_of(word)[-1]}:
            N[step] += 1
        for pair in {word[k : k + 2] for k in range(len(word) - 1)}:
            N[INDEX[pair[0]], INDEX[pair[1]]] += word.count(pair)
    return N


@question.misconception("names of one letter are left out", costs=0.5, length=1)
@question.misconception(
    "the empty name is left out",
    costs=0.5,
    length=0,
    hint="A name without letters has one pair, (<S>, <E>), and you leave it out. A name of n letters has n + 1 pairs.",
)
def short_names_left_out(words, *, length):
    """A name of one letter has two pairs, (<S>, o) and (o, <E>), and you leave it out. A name of n letters has n + 1 pairs."""
    return one_by_one([word for word in words if len(word) > length])


_TABLE = np.zeros((28, 28))


@question.misconception("counts of earlier calls stay in the table", costs=1, because="right the first time")
def one_table_for_all_calls(words):
    """Your table still holds what was counted in earlier calls: it is made once, outside of the function or as the default of an
    argument, which is the same array each time. Make it inside the function."""
    _TABLE[...] += one_by_one(words)
    return _TABLE.copy()


@question.misconception("seen or not seen, instead of how often", costs=2, because="each pair is there")
def seen_or_not(words):
    """Your table holds only 0 and 1. Whether a pair was ever seen is not enough: add 1 each time you meet it
    (indexing with whole lists and += adds only once; np.add.at adds each time)."""
    return (one_by_one(words) > 0).astype(int)


@question.misconception("one token for start and end", costs=1, because="the pairs of letters are right")
def one_boundary_token(words):
    """You use the same token for the start and for the end. That is a fine convention, and makemore's, but this
    table has 28 tokens: <S> has index 0 and <E> has index 27."""
    N = one_by_one(words)
    N[:, 0] += N[:, 27]
    N[:, 27] = 0
    return N


@question.misconception("the names run into one another", costs=1, because="the pairs of letters are right")
def names_in_one_stream(words):
    """Your table counts a step from <E> to <S>, so the names were joined into one long stream. Nothing follows
    <E>: count inside each name."""
    N = one_by_one(words)
    N[27, 0] += max(len(words) - 1, 0)
    return N


@question.alternative
def with_add_at(words):
    ids = [[0, *(ord(letter) - 96 for letter in word), 27] for word in words]
    N = np.zeros((28, 28), dtype=np.int32)
    np.add.at(N, ([i for row in ids for i in row[:-1]], [i for row in ids for i in row[1:]]), 1)
    return N
