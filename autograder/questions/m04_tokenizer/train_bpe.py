"""Lab 04, train_bpe: {tuple of ids: count}, how many merges → {(left, right): new id}, the most frequent pair first."""

import heapq
from collections import Counter
from itertools import pairwise

import numpy as np

from autograder.questions.engine import Case, Observed, Question
from autograder.questions.m04_tokenizer.common import counted, merged, random_words, rhyme, trained


def learned(words, merges):
    return trained(words, merges)[0]


question = Question(
    learned,
    uses=("count_pairs",),
    forbidden=("tokenizers.Tokenizer", "tokenizers.ByteLevelBPETokenizer", "tokenizers.trainers.BpeTrainer"),
)


def untied(rng, letters, count=20, longest=10):
    """Words, and a number of merges of which none has to be decided by a tie."""
    while True:
        words, merges = random_words(rng, count, letters, longest), int(rng.integers(6, 10))
        if not trained(words, merges)[1]:
            return words, merges


def first_pairs(student, words, merges):
    """The first pairs of two more, in the order learned: how many there are is asked elsewhere."""
    result = student(words, merges + 2)
    return [list(map(int, pair)) for pair in sorted(result, key=result.get)[:merges]]


@question.family("The rhyme's first two merges, and the first of other words.", weight=0.75)
def the_first_merge(rng):
    yield Case(rhyme(), 2, gives={(115, 101): 256, (101, 95): 257})
    for letters in ("abcde", "aab", "aaabc"):
        yield untied(rng, letters)[0], 1


@question.family("The most frequent pair is merged again and again, counted anew each time.", weight=2.5)
def again_and_again(rng):
    for letters, count, longest in (("abcde", 20, 10), ("aab", 20, 10), ("aaabc", 20, 10), ("ab", 5, 40)):
        yield untied(rng, letters, count, longest)


@question.scenario(
    "A tie goes to the pair that is met first: in the earliest word, and there the leftmost.", weight=1.25
)
def ties(student, rng):
    for letters in ("zyxwv", "abcde", "badc"):
        words = {word: n + 1 for word, n in random_words(rng, 9, letters, longest=6, most=3).items()}
        yield Observed("the first merges", first_pairs(student, words, 9))
    for words in (
        {(8, 9): 2, (3, 4): 2, (1, 2): 1, (5, 6): 1},
        {(3, 4): 2, (8, 9): 2, (1, 2): 1, (5, 6): 1},
        {(8, 9, 8, 9): 1, (3, 4): 1, (5, 6): 1},
    ):
        yield Observed("the first two merges", first_pairs(student, words, 2))
    for word in (rng.permutation(12).tolist(), (7, 9, 5, 8, 6, 4, 3), (4, 5, 3, 8, 7, 9, 6)):
        yield Observed("the first three merges", first_pairs(student, {tuple(word): 4}, 3))


@question.family("A pair that occurs once is merged like any other.", weight=0.75)
def pairs_that_occur_once(rng):
    a, b, c, d = rng.permutation(256)[:4].tolist()
    yield {(a, b): 1}, 1
    yield {(a, b): 3, (c, d): 1}, 2
    yield {(a, b): 2, (b, a, b): 1, (c,): 1}, 2


@question.family("The case by hand; it stops when no pair is left, and 0 merges learn nothing.")
def no_pair_left(rng):
    yield Case({(97, 98): 2, (98, 97, 98): 1}, 5, gives={(97, 98): 256, (98, 256): 257})
    for most in (258, 50):
        yield {(int(rng.integers(256)),) * 8: int(rng.integers(2, 9))}, most
    yield random_words(rng, 5), 0
    yield {(97,): 3}, 2


@question.scenario("Bytes of one, two and three digits are tokens like the others.", weight=0.75)
def any_byte(student, rng):
    for left, right in ((97, 10), (12, 3), (int(rng.integers(20, 99)), int(rng.integers(10, 20)))):
        words = {(left, right): 9, (left, 10 * right + 5): 7, (100 + left, right): 5, (right, left): 3}
        yield Observed("the first two merges", first_pairs(student, words, 2))


def _train(words, merges, choose=None, first=256, merge=merged):
    """Training with one part exchanged for a wrong one."""
    found = {}
    while len(found) < merges:
        pairs = counted(words)
        if not pairs:
            break
        best = choose(pairs) if choose else max(pairs, key=pairs.get)
        found[best] = first + len(found)
        words = {merge(word, best, found[best]): n for word, n in words.items()}
    return found


@question.misconception("the pairs are counted only once", costs=4)
def counted_only_once(words, merges):
    """Your merges are the most frequent pairs of the *original* text. After a merge everything is different: some pairs are gone, and new ones
    with the new token have come. Count again after each merge."""
    pairs = counted(words)
    best = sorted(pairs, key=pairs.get, reverse=True)[:merges]
    return {pair: 256 + i for i, pair in enumerate(best)}


@question.misconception("the words' counts are ignored", costs=3)
def word_counts_ignored(words, merges):
    """You count each different word once. Then a rare word has as much say as “the”. A pair counts as often as its word occurs."""
    return _train(dict.fromkeys(words, 1), merges)


@question.misconception(
    "a tie goes to the pair met last",
    costs=1,
    choose=lambda pairs: max(reversed(pairs), key=pairs.get),
    hint="When two pairs occur equally often you take the one met later. This course takes the one met first, as max does with count_pairs.",
)
@question.misconception(
    "a tie goes to the largest ids",
    costs=1,
    choose=lambda pairs: max(pairs, key=lambda pair: (pairs[pair], pair)),
    hint="""When two pairs occur equally often you take the one with the larger ids: max over (count, pair) compares the pairs when the counts
    are equal. Here the pair wins that a count meets first, in the earliest word and there furthest to the left.""",
)
def ties_decided_otherwise(words, merges, *, choose):
    return _train(words, merges, choose)


@question.misconception("no end when no pair is left", costs=1)
def no_end_without_pairs(words, merges):
    """When every word is a single token there is no pair left, and your function fails at the maximum of nothing. Stop there, with fewer
    merges than were asked for."""
    found = learned(words, merges)
    if len(found) < merges:
        raise ValueError("max() of nothing")
    return found


@question.misconception("`merges` is taken for the size of the vocabulary", costs=4)
def merges_as_vocabulary_size(words, merges):
    """You learn fewer merges than asked for: the 256 bytes were counted as well. The argument says how many merges to learn; the vocabulary
    then has 256 types more."""
    return _train(words, merges - 256)


@question.misconception("the new ids begin in the wrong place", costs=3, because="the first pair is right")
def ids_from_257(words, merges):
    """Your first new token does not have the id 256. The bytes take the ids 0 to 255, so the next free one is 256."""
    return _train(words, merges, first=257)


@question.misconception("overlapping pairs are merged twice", costs=3)
def overlapping_merge(words, merges):
    """In a run of equal tokens your merge uses the middle one twice, so text appears that was never there. Replace from the left, and go on
    *behind* the pair: merge_pair does that."""

    def merge(word, pair, new):
        places = {i for i in range(len(word) - 1) if word[i : i + 2] == pair}
        return tuple(
            new if i in places else t for i, t in enumerate(word) if i in places or i - 1 not in places
        )

    return _train(words, merges, merge=merge)


@question.misconception("one merge too few", costs=1.5, because="all merges but the last are right")
def one_merge_too_few(words, merges):
    """You learn one merge less than asked for. range(1, merges) ends one early: range(merges) has as many steps as its number says."""
    return _train(words, merges - 1)


@question.alternative
def over_the_running_text(words, merges):
    text, weights = [list(word) for word in words], list(words.values())
    found = []
    for new in range(256, 256 + merges):
        counts = Counter()
        for tokens, weight in zip(text, weights, strict=True):
            for pair in pairwise(tokens):
                counts[pair] += weight
        if not counts:
            break
        ((pair, _),) = counts.most_common(1)
        found.append((pair, new))
        for tokens in text:
            i = 0
            while i + 1 < len(tokens):
                if (tokens[i], tokens[i + 1]) == pair:
                    tokens[i : i + 2] = [new]
                i += 1
    return dict(found)


@question.alternative
def with_a_heap_for_each_choice(words, merges):
    words, found = dict(words), {}
    for step in range(merges):
        heap = [(-count, place, pair) for place, (pair, count) in enumerate(counted(words).items())]
        heapq.heapify(heap)
        if not heap:
            return found
        left, right = heap[0][2]
        found[np.int64(left), np.int64(right)] = np.int64(256 + step)
        words = {merged(word, (left, right), 256 + step): n for word, n in words.items()}
    return found
