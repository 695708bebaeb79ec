"""Lab 04, ``train_bpe``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import heapq
from collections import Counter
from itertools import pairwise

import numpy as np

from autograder.misconceptions.m04_tokenizer.common import reference
from autograder.testing import alternative, misconception


def _train(words, merges, choose=None, count=None, first=256, merge=None, until=1):
    """Training with one part exchanged for a wrong one."""
    choose = choose or (lambda pairs: max(pairs, key=pairs.get))
    merge = merge or reference.merge_pair
    learned = {}
    while len(learned) < merges:
        pairs = (count or reference.count_pairs)(words)
        if not pairs or max(pairs.values()) < until:
            break
        best = choose(pairs)
        new = first + len(learned)
        learned[best] = new
        words = {merge(word, best, new): n for word, n in words.items()}
    return learned


@misconception("train_bpe", title="the pairs are counted only once")
def counted_only_once(words, merges):
    """Your merges are the most frequent pairs of the *original* text. After a merge everything is different: some
    pairs are gone, and new ones with the new token have come. Count again after each merge."""
    pairs = reference.count_pairs(words)
    best = sorted(pairs, key=pairs.get, reverse=True)[:merges]
    return {pair: 256 + i for i, pair in enumerate(best)}


@misconception("train_bpe", title="the words' counts are ignored")
def word_counts_ignored(words, merges):
    """You count each different word once. Then a rare word has as much say as “the”. A pair counts as often as its word
    occurs in the text."""
    return _train(dict.fromkeys(words, 1), merges)


@misconception(
    "train_bpe",
    title="a tie goes to the pair met last",
    keeps="the algorithm is right; ties are decided otherwise",
)
def last_of_a_tie(words, merges):
    """When two pairs occur equally often you take the one that is met later. Somebody must decide, and this
    course decides for the one met first; that is what max does with a dictionary in the order of count_pairs."""

    def choose(pairs):
        highest = max(pairs.values())
        return [pair for pair in pairs if pairs[pair] == highest][-1]

    return _train(words, merges, choose)


@misconception(
    "train_bpe",
    title="a tie goes to the smallest ids",
    keeps="the algorithm is right; ties are decided otherwise",
)
def smallest_ids_of_a_tie(words, merges):
    """When two pairs occur equally often you take the one with the smaller ids. Some libraries do that; here the pair
    wins that a count meets first, in the earliest word and there furthest to the left."""
    return _train(words, merges, lambda pairs: min(pairs, key=lambda pair: (-pairs[pair], pair)))


@misconception(
    "train_bpe",
    title="a tie goes to the largest ids",
    keeps="the algorithm is right; ties are decided otherwise",
)
def largest_ids_of_a_tie(words, merges):
    """When two pairs occur equally often you take the one with the larger ids: max over (count, pair) compares the pairs when
    the counts are equal. Here the pair wins that a count meets first, in the earliest word and there furthest to the left."""
    return _train(words, merges, lambda pairs: max(pairs, key=lambda pair: (pairs[pair], pair)))


@misconception(
    "train_bpe", title="no end when no pair is left", keeps="right unless a text runs out of pairs"
)
def no_end_without_pairs(words, merges):
    """When every word is a single token there is no pair left, and your function fails at the maximum of nothing. Stop
    there, with fewer merges than were asked for."""
    learned = {}
    for new in range(256, 256 + merges):
        pairs = reference.count_pairs(words)
        best = max(pairs, key=pairs.get)
        learned[best] = new
        words = {reference.merge_pair(word, best, new): n for word, n in words.items()}
    return learned


@misconception(
    "train_bpe",
    title="pairs that occur once are never merged",
    keeps="right until no pair occurs twice; what follows helps little",
)
def stops_at_one(words, merges):
    """You stop when the best pair occurs only once. Such a merge helps little, but the recipe goes on until no pair is
    left: only then do the rhyme's 18 words become 18 tokens."""
    return _train(words, merges, until=2)


@misconception("train_bpe", title="`merges` is taken for the size of the vocabulary")
def merges_as_vocabulary_size(words, merges):
    """You learn fewer merges than asked for: the 256 bytes were counted as well. The argument says how many merges to
    learn; the vocabulary then has 256 types more."""
    return _train(words, merges - 256)


@misconception("train_bpe", title="the new ids begin in the wrong place")
def ids_from_257(words, merges):
    """Your first new token does not have the id 256. The bytes take the ids 0 to 255, so the next free one is 256,
    and every later merge gets the next number."""
    return _train(words, merges, first=257)


@misconception(
    "train_bpe",
    title="overlapping pairs are merged twice",
    keeps="right for words without three equal tokens in a row",
)
def overlapping_merge(words, merges):
    """In a run of equal tokens your merge uses the middle one twice, so text appears that was never there. Replace from
    the left, and go on *behind* the pair: merge_pair does that."""

    def merge(word, pair, new):
        places = {i for i in range(len(word) - 1) if word[i : i + 2] == pair}
        covered = {i + 1 for i in places}
        return tuple(
            new if i in places else token for i, token in enumerate(word) if i in places or i not in covered
        )

    return _train(words, merges, merge=merge)


@misconception(
    "train_bpe",
    title="only the first place in a word is merged",
    keeps="right for words that never repeat a pair",
)
def first_place_only(words, merges):
    """In a word that holds a pair several times you merge the first place only. Then the pair is still there, and is counted and
    perhaps learned again. Replace it at every place of the word: merge_pair does."""

    now, learned = [(list(word), count) for word, count in words.items()], {}
    for new in range(256, 256 + merges):
        pairs = Counter()
        for word, count in now:
            for pair in pairwise(word):
                pairs[pair] += count
        if not pairs:
            break
        best = max(pairs, key=pairs.get)
        learned[best] = new
        for word, _ in now:
            places = [i for i, pair in enumerate(pairwise(word)) if pair == best]
            if places:
                word[places[0] : places[0] + 2] = [new]
    return learned


@misconception(
    "train_bpe",
    title="merged words go to the back",
    keeps="the algorithm is right; some ties are decided otherwise",
)
def merged_words_at_the_back(words, merges):
    """After a merge the changed words stand behind the others in your dictionary, so ties are decided otherwise: taken out and put in
    again, a key is the last. Build a new dictionary of all words in their old order."""
    words, learned = dict(words), {}
    while len(learned) < merges and (pairs := reference.count_pairs(words)):
        best = max(pairs, key=pairs.get)
        learned[best] = 256 + len(learned)
        for word in list(words):
            merged = reference.merge_pair(word, best, learned[best])
            if merged != word:
                words[merged] = words.pop(word)
    return learned


@misconception(
    "train_bpe",
    title="ties follow the order of earlier counts",
    keeps="the algorithm is right; some ties are decided otherwise",
)
def ties_by_corrected_counts(words, merges):
    """Your counts are corrected, not counted anew, so in your dictionary new pairs stand behind the old ones, wherever they are in the
    text. On a tie the pair wins that a *fresh* count of the merged words meets first."""
    pairs, learned = reference.count_pairs(words), {}
    while pairs and len(learned) < merges:
        best = max(pairs, key=pairs.get)
        learned[best] = 256 + len(learned)
        fresh = {}
        for word, count in words.items():
            merged = reference.merge_pair(word, best, learned[best])
            if merged != word:
                for pair in pairwise(word):
                    pairs[pair] -= count
                for pair in pairwise(merged):
                    pairs[pair] = pairs.get(pair, 0) + count
            fresh[merged] = count
        pairs, words = {pair: count for pair, count in pairs.items() if count > 0}, fresh
    return learned


@misconception(
    "train_bpe",
    title="one merge too few",
    keeps="every merge that it learns is the right one; the last is missing",
)
def one_merge_too_few(words, merges):
    """You learn one merge less than asked for. range(1, merges) ends one early: range(merges) has as many steps as its number
    says."""
    return _train(words, merges - 1)


@misconception(
    "train_bpe",
    title="a pair is found inside other numbers",
    keeps="right for bytes that all have as many digits",
)
def replaced_as_text(words, merges):
    """Your pairs are replaced in a text of digits, and there “97 10” also stands in “197 10” and in “97 105”. So tokens appear that
    nobody merged. Compare whole numbers, as merge_pair does."""

    def merge(word, pair, new):
        text = " ".join(map(str, word)).replace(f"{pair[0]} {pair[1]}", str(new))
        return tuple(map(int, text.split()))

    return _train(words, merges, merge=merge)


@alternative("train_bpe")
def by_correcting_the_counts(words, merges):
    return reference.train_bpe_fast(words, merges)


@alternative("train_bpe")
def over_the_running_text(words, merges):
    text, weights = [list(word) for word in words], list(words.values())
    learned = []
    for new in range(256, 256 + merges):
        counts = Counter()
        for tokens, weight in zip(text, weights, strict=True):
            for pair in pairwise(tokens):
                counts[pair] += weight
        if not counts:
            break
        ((pair, _),) = counts.most_common(1)
        learned.append((pair, new))
        for tokens in text:
            i = 0
            while i + 1 < len(tokens):
                if (tokens[i], tokens[i + 1]) == pair:
                    tokens[i : i + 2] = [new]
                i += 1
    return dict(learned)


@alternative("train_bpe")
def with_a_heap_for_each_choice(words, merges):
    words, learned = dict(words), {}
    for step in range(merges):
        pairs = reference.count_pairs(words)
        heap = [(-count, place, pair) for place, (pair, count) in enumerate(pairs.items())]
        heapq.heapify(heap)
        if not heap:
            return learned
        left, right = heap[0][2]
        learned[np.int64(left), np.int64(right)] = np.int64(256 + step)
        words = {reference.merge_pair(word, (left, right), 256 + step): n for word, n in words.items()}
    return learned
