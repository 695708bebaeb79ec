"""Lab 03, ``count_features``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


def _shares(counts):
    total = counts.sum(axis=2, keepdims=True)
    return np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)


@misconception("count_features", title="only the word just before")
def only_neighbours(sentences, V):
    """You count only the word that stands directly before the current one. That is the second-order table of lab 01;
    the point of this one is that every earlier word of the sentence makes a pair, at any distance."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for a, c, n in zip(s, s[1:], s[2:], strict=False):
            counts[a, c, n] += 1
    return _shares(counts)


@misconception("count_features", title="counts instead of shares")
def counts_not_shares(sentences, V):
    """Your table holds counts. A pair that occurs often would shout louder than one that occurs rarely: divide each
    pair by the sum over its next words, so that every voter has one vote."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(1, len(s) - 1):
            for i in range(t):
                counts[s[i], s[t], s[t + 1]] += 1
    return counts


@misconception("count_features", title="the current word counted as earlier")
def current_word_is_earlier(sentences, V):
    """You pair the current position with itself. A word is not earlier than itself: stop one position before the
    current one."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(len(s) - 1):
            for i in range(t + 1):
                counts[s[i], s[t], s[t + 1]] += 1
    return _shares(counts)


@misconception(
    "count_features", title="a repeated word counted once", keeps="right for histories without repeated words"
)
def repeated_words_once(sentences, V):
    """A word that stands at two earlier positions makes two pairs. You count each different word only once for a
    position, so the shares come out differently."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(1, len(s) - 1):
            for a in set(s[:t]):
                counts[a, s[t], s[t + 1]] += 1
    return _shares(counts)


@misconception("count_features", title="axes in the wrong order")
def current_before_earlier(sentences, V):
    """The first two axes are swapped. The table is asked as [earlier, current, next]."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(1, len(s) - 1):
            for i in range(t):
                counts[s[t], s[i], s[t + 1]] += 1
    return _shares(counts)


@misconception("count_features", title="one long text instead of sentences")
def sentences_run_together(sentences, V):
    """You put all sentences into one row, so words of an earlier sentence vote in the next one. Each sentence starts
    with an empty history."""
    s = [word for sentence in sentences for word in sentence]
    counts = np.zeros((V, V, V))
    for t in range(1, len(s) - 1):
        for i in range(t):
            counts[s[i], s[t], s[t + 1]] += 1
    return _shares(counts)


@misconception("count_features", title="nan where nothing was seen")
def nan_for_unseen_pairs(sentences, V):
    """Pairs that never occurred come out as nan, because you divide zero by zero. They should stay zero: who has seen
    nothing has no vote."""
    counts = counts_not_shares(sentences, V)
    with np.errstate(all="ignore"):
        return counts / counts.sum(axis=2, keepdims=True)


def _counts(sentences, V, first=lambda t: 0):
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(1, len(s) - 1):
            for i in range(first(t), t):
                counts[s[i], s[t], s[t + 1]] += 1
    return counts


@misconception("count_features", title="divided over the earlier words")
def divided_over_the_earlier_words(sentences, V):
    """You divide by the sum over the first axis, the earlier words. Each pair holds shares of its *next* words: divide by the sum over
    the last axis."""
    counts = _counts(sentences, V)
    total = counts.sum(axis=0)
    return counts / np.where(total > 0, total, 1)


@misconception(
    "count_features",
    title="pairs at a sentence's end in the denominator",
    keeps="right unless the last word of a sentence goes on elsewhere",
)
def pairs_without_a_next_word(sentences, V):
    """Some of your pairs hold shares that sum to less than one: you divide by how often a pair occurs, and count it at the end of a
    sentence, too, where no next word comes. Divide by the sum of what you have counted."""
    pairs = np.zeros((V, V, 1))
    for s in sentences:
        for t in range(1, len(s)):
            for i in range(t):
                pairs[s[i], s[t]] += 1
    return _counts(sentences, V) / np.maximum(pairs, 1)


@misconception(
    "count_features", title="only the last eight words count", keeps="right for all but long sentences"
)
def only_the_last_eight(sentences, V):
    """You look back eight words and no further. Every earlier word of the sentence makes a pair, however far away it stands."""
    return _shares(_counts(sentences, V, first=lambda t: max(0, t - 8)))


_KEPT: dict[int, np.ndarray] = {}  # the table of the last call, by its size


@misconception(
    "count_features", title="counts of earlier calls stay in the table", keeps="right for the first call"
)
def counts_of_earlier_calls(sentences, V):
    """Your table still holds what was counted in an earlier call: it is made outside of the function, or kept by a cache. Make it
    inside, anew for each call."""
    counts = _counts(sentences, V) + _KEPT.get(V, 0)
    _KEPT.clear()
    _KEPT[V] = counts
    return _shares(counts)


@misconception(
    "count_features", title="as many words as occur", keeps="right where the word with the largest id occurs"
)
def as_many_words_as_occur(sentences, V):
    """Your table ends at the largest id in the sentences. The vocabulary has V words, also those that are not said here."""
    V = max(word for s in sentences for word in s) + 1
    return _shares(_counts(sentences, V))


@misconception("count_features", title="counts of eight bits", keeps="right up to 255")
def counts_of_eight_bits(sentences, V):
    """Your counts begin again at 0 after 255: an array of dtype uint8 holds no larger numbers. Without a dtype NumPy takes one that is
    large enough."""
    return _shares(_counts(sentences, V).astype(np.uint8))


@alternative("count_features")
def features_with_add_at(sentences, V):
    counts = np.zeros((V, V, V), dtype=np.float32)
    for s in map(np.array, sentences):
        if len(s) < 3:
            continue
        i, t = np.triu_indices(len(s) - 1, k=1)
        np.add.at(counts, (s[i], s[t], s[t + 1]), 1)
    return counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)


@alternative("count_features")
def features_in_plain_lists(sentences, V):
    table = [[[0] * V for _ in range(V)] for _ in range(V)]
    for s in sentences:
        for now, current in enumerate(s[:-1]):
            for word in s[:now]:
                table[word][current][s[now + 1]] += 1
    return [[[n / sum(row) if sum(row) else 0 for n in row] for row in plane] for plane in table]


@alternative("count_features")
def features_from_one_hot_sums(sentences, V):
    one = np.eye(V)
    counts = np.zeros((V, V, V))
    for s in sentences:
        seen = np.zeros(V)
        for t in range(len(s) - 1):
            counts += np.einsum("a,c,n->acn", seen, one[s[t]], one[s[t + 1]])
            seen = seen + one[s[t]]
    total = counts.sum(-1)[..., None]
    return np.where(total > 0, counts / np.where(total > 0, total, 1), 0)
