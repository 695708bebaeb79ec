"""Lab 03, count_features: sentences of ids, V → shares of the next word (V, V, V), asked as [earlier, current, next]."""

from collections import Counter

import numpy as np

from autograder.questions.engine import Case, Question


def from_a_dictionary(sentences, V):
    triples: Counter[tuple[int, int, int]] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    for sentence in sentences:
        for now in range(1, len(sentence) - 1):
            for earlier in sentence[:now]:
                triples[earlier, sentence[now], sentence[now + 1]] += 1
                pairs[earlier, sentence[now]] += 1
    table = np.zeros((V, V, V))
    for (earlier, current, after), count in triples.items():
        table[earlier, current, after] = count / pairs[earlier, current]
    return table


question = Question(from_a_dictionary)


def table(V, **rows):
    """Zeros but for the rows that are named: ``_01=[…]`` is that of the pair (0, 1)."""
    shares = np.zeros((V, V, V))
    for name, row in rows.items():
        shares[int(name[1]), int(name[2])] = row
    return shares.tolist()


def renamed(rng, V, sentences):
    """The same sentences with other ids."""
    ids = rng.permutation(V).tolist()
    return [[ids[word] for word in sentence] for sentence in sentences]


@question.family(
    "The sentences by hand; each pair of an earlier and the current word holds shares.", weight=1.5
)
def shares_for_every_pair(rng):
    yield Case([[0, 1, 2], [0, 1, 3]], 4, gives=table(4, _01=[0, 0, 0.5, 0.5]))
    sentences = [[0, 1, 2, 5], [0, 1, 3, 4], [2, 0, 1, 5], [3, 4, 0, 1], [1, 4, 2], [0, 1, 4]]
    yield renamed(rng, 6, sentences), 6


@question.family("A word that comes again counts at each earlier position.", weight=1.5)
def words_that_come_again(rng):
    yield renamed(rng, 5, [[0, 0, 1, 2, 3], [1, 0, 1, 4], [2, 1, 2, 0, 1]]), 5
    yield Case([[0, 0, 1, 2], [0, 1, 3]], 4, gives=table(4, _00=[0, 1, 0, 0], _01=[0, 0, 0.667, 0.333]))


@question.family("A single sentence counts from its first word on; V words have a place.")
def one_sentence(rng):
    yield renamed(rng, 6, [[0, 1, *([2, 3, 4] * 4), 5]]), 6
    yield renamed(rng, 5, [[0, 2, 4, 1]]), 7


@question.family("Pairs count however often they occur.", weight=0.5)
def many(rng):
    yield renamed(rng, 5, [[0, 1, 3]] * 290 + [[0, 1, 4]] * 10), 5


@question.family("Pairs that never occurred stay zero, whatever was counted before.")
def unseen_pairs(rng):
    ids = rng.permutation(5).tolist()
    yield [[ids[2], ids[3]], [ids[1]], [ids[0], ids[1]]], 7
    yield Case([[2, 3]], 5, gives=table(5))


def shares(counts):
    total = counts.sum(axis=2, keepdims=True)
    return np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)


def counted(sentences, V, places=lambda s, t: range(t)):
    """How often each triple occurs; ``places`` are those of the words that count as earlier than place t."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(len(s) - 1):
            for i in places(s, t):
                counts[s[i], s[t], s[t + 1]] += 1
    return counts


@question.misconception("only the word just before", costs=3, because="the shares of neighbours are right")
def only_neighbours(sentences, V):
    """You count only the word that stands directly before the current one. That is the second-order table of lab 01;
    the point of this one is that every earlier word of the sentence makes a pair, at any distance."""
    return shares(counted(sentences, V, lambda s, t: [t - 1] if t else []))


@question.misconception("counts instead of shares", costs=2, because="the counts are right")
def counts_not_shares(sentences, V):
    """Your table holds counts. A pair that occurs often would shout louder than one that occurs rarely: divide each
    pair by the sum over its next words, so that every voter has one vote."""
    return counted(sentences, V)


@question.misconception("the current word counted as earlier", costs=2, because="one pair too many each time")
def current_word_is_earlier(sentences, V):
    """You pair the current position with itself. A word is not earlier than itself: stop one position before the
    current one."""
    return shares(counted(sentences, V, lambda s, t: range(t + 1)))


@question.misconception("a repeated word counted once", costs=1.5)
def repeated_words_once(sentences, V):
    """A word that stands at two earlier positions makes two pairs. You count each different word only once for a
    position, so the shares come out differently."""
    return shares(counted(sentences, V, lambda s, t: {s[i]: i for i in range(t)}.values()))


@question.misconception("axes in the wrong order", costs=2, because="every share is right, at another place")
def current_before_earlier(sentences, V):
    """The first two axes are swapped. The table is asked as [earlier, current, next]."""
    return shares(counted(sentences, V).swapaxes(0, 1))


@question.misconception("one long text instead of sentences", costs=2, because="each sentence has its pairs")
def sentences_run_together(sentences, V):
    """You put all sentences into one row, so words of an earlier sentence vote in the next one. Each sentence starts
    with an empty history."""
    return shares(counted([[word for s in sentences for word in s]], V))


@question.misconception("nan where nothing was seen", costs=1.5, because="every pair that occurred is right")
def nan_for_unseen_pairs(sentences, V):
    """Pairs that never occurred come out as nan, because you divide zero by zero. They should stay zero: who has seen
    nothing has no vote."""
    counts = counted(sentences, V)
    with np.errstate(all="ignore"):
        return counts / counts.sum(axis=2, keepdims=True)


@question.misconception("divided over the earlier words", costs=2.5, because="the counts are right")
def divided_over_the_earlier_words(sentences, V):
    """You divide by the sum over the first axis, the earlier words. Each pair holds shares of its *next* words: divide by the sum over
    the last axis."""
    counts = counted(sentences, V)
    total = counts.sum(axis=0)
    return counts / np.where(total > 0, total, 1)


@question.misconception("pairs at a sentence's end in the denominator", costs=1.5, because="most are right")
def pairs_without_a_next_word(sentences, V):
    """Some of your pairs hold shares that sum to less than one: you divide by how often a pair occurs, and count it at the end of a
    sentence, too, where no next word comes. Divide by the sum of what you have counted."""
    pairs = np.zeros((V, V, 1))
    for s in sentences:
        for t in range(1, len(s)):
            for i in range(t):
                pairs[s[i], s[t]] += 1
    return counted(sentences, V) / np.maximum(pairs, 1)


@question.alternative
def features_with_add_at(sentences, V):
    counts = np.zeros((V, V, V), dtype=np.float32)
    for s in map(np.array, sentences):
        if len(s) < 3:
            continue
        i, t = np.triu_indices(len(s) - 1, k=1)
        np.add.at(counts, (s[i], s[t], s[t + 1]), 1)
    return counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)


@question.alternative
def features_in_plain_lists(sentences, V):
    table = [[[0] * V for _ in range(V)] for _ in range(V)]
    for s in sentences:
        for now, current in enumerate(s[:-1]):
            for word in s[:now]:
                table[word][current][s[now + 1]] += 1
    return [[[n / sum(row) if sum(row) else 0 for n in row] for row in plane] for plane in table]
