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
