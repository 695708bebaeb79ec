"""Lab 04, count_pairs: {tuple of ids: count} → {(left, right): count}, in the order in which the pairs are first met."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m04_tokenizer.common import counted, pairs_of, random_words, rhyme, spelled, token


def counts_of(words):
    counts = pairs_of({spelled(word): count for word, count in words.items()})
    return {tuple(map(token, pair)): count for pair, count in counts.items()}


question = Question(counts_of)


def without_runs(rng, count, letters="abcdefgh", most=100_000):
    """Different words in which no token stands twice."""
    words: dict[tuple[int, ...], int] = {}
    while len(words) < count:
        word = "".join(rng.permutation(list(letters))[: rng.integers(2, len(letters) + 1)])
        words.setdefault(tuple(word.encode("ascii")), int(rng.integers(1, most)))
    return words


def some_word(rng):
    return tuple((rng.permutation(50) + 250).tolist()[: rng.integers(4, 9)])


@question.family("In words that occur once each pair counts at every place where it stands.")
def words_that_occur_once(rng):
    for count in (2, 9):
        yield without_runs(rng, count, most=2)


@question.family("In a single word that occurs often each pair counts as often.", weight=0.75)
def a_single_word(rng):
    for _ in range(2):
        yield {some_word(rng): int(rng.integers(7, 10**5))}


@question.family("Each pair counts as often as the words that hold it occur.")
def with_their_words(rng):
    yield without_runs(rng, 15)
    yield {some_word(rng): int(rng.integers(2, 50)) for _ in range(9)}


@question.family(
    "A run of equal tokens holds a pair at every place; a word of one token holds none.", weight=1.25
)
def overlaps(rng):
    one = int(rng.integers(0, 256))
    yield Case({(97, 97, 97): 1}, gives={(97, 97): 2})
    yield {(one,) * length: int(rng.integers(2, 30)) for length in (1, 2, 3, 6)}
    yield {(5, 6, 5, 6, 5): 3, (6,): 9, (one + 256,) * 4: 1}
    yield random_words(rng, 9, "ab")
    yield {(one,): 4}
    yield {}


@question.scenario(
    "The pairs stand in the order in which they are first met; in the rhyme and in other words.", weight=0.75
)
def order(student, rng):
    for words in (rhyme(), without_runs(rng, 9, "zyxabc"), {some_word(rng): 1, (5,): 9, (300, 2, 1): 6}):
        yield Observed("the pairs, one after the other", list(student(words)))


def _adding(words, pairs=pairwise, name=tuple, times=lambda word, pair: 1, by=lambda count: count):
    counts = {}
    for word, count in words.items():
        for pair in pairs(word):
            counts[name(pair)] = counts.get(name(pair), 0) + by(count) * times(word, pair)
    return counts


def _each_once(word):
    return dict.fromkeys(pairwise(word))


@question.misconception("each word counts once", costs=1.5)
def words_count_once(words):
    """Every word counts the same in your result, however often it occurs. Add the word's count for each of its pairs, not 1."""
    return _adding(words, by=lambda count: 1)


@question.misconception("pairs reach from word to word", costs=1.5)
def across_words(words):
    """Some of your pairs consist of the last token of one word and the first of the next. The words of the dictionary are no text: they do not
    stand side by side anywhere. Count inside each word."""
    tokens = [(token, count) for word, count in words.items() for token in word]
    counts = {}
    for (left, _), (right, count) in pairwise(tokens):
        counts[left, right] = counts.get((left, right), 0) + count
    return counts


@question.misconception("overlapping pairs count once", costs=1)
def without_overlap(words):
    """In a run of three equal tokens you count their pair once. The *merge* may use each token once only, but the count looks at every pair
    of neighbours, and there are two."""
    return _adding(words, _each_once, times=lambda word, pair: spelled(word).count(spelled(pair)))


@question.misconception("a pair counts once a word", costs=1)
def once_a_word(words):
    """A pair that stands in a word twice counts once in your result. Go through all positions of the word, and add the word's count at each
    of them."""
    return _adding(words, _each_once)


@question.misconception("ab and ba are the same pair", costs=1.5)
def order_ignored(words):
    """Your pairs are sorted, so ab and ba count together. They are different pieces of text: keep the left token on the left."""
    return _adding(words, name=lambda pair: tuple(sorted(pair)))


@question.misconception("a pair has the count of its last word only", costs=1.5)
def overwritten(words):
    """A pair that stands in several words, or several times in one, has the count of the last place only: you write the count over the earlier
    one. Add it to what is there."""
    return {pair: count for word, count in words.items() for pair in pairwise(word)}


@question.misconception("the last pair of a word is missing", costs=1, because="all other pairs are right")
def last_pair_missing(words):
    """The last pair of each word is missing. A word of n tokens has n − 1 pairs, so the left token goes through range(len(word) - 1)."""
    return _adding(words, lambda word: pairwise(word[:-1]))


@question.misconception("a list of pairs and counts", costs=1, because="the counts are right")
def list_of_pairs(words):
    """Your counts are right, but they come as a list, and by that nobody can look up a pair. (most_common() makes one, and sorts it.) Return
    the dictionary itself: a Counter is one."""
    return Counter(counted(words)).most_common()


@question.alternative
def with_a_counter(words):
    counts = Counter()
    for word, count in words.items():
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] += count
    return counts


@question.alternative
def with_arrays_of_numpy_numbers(words):
    counts = defaultdict(np.int64)
    for word, count in words.items():
        row = np.asarray(word)
        for left, right in np.stack([row[:-1], row[1:]], axis=1):
            counts[int(left), int(right)] += np.int64(count)
    return counts
