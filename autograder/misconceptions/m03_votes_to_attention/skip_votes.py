"""Lab 03, ``skip_votes``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


@misconception("skip_votes", title="the votes already added up")
def already_added_up(history, features):
    """You return the total. Keep one row for each voter: the mask that comes next must be able to silence some of
    them."""
    history = np.asarray(history)
    return features[history[:-1], history[-1]].sum(axis=0)


@misconception("skip_votes", title="the current word votes too")
def current_word_votes(history, features):
    """There is one row too many: the current word votes with itself as a pair. Only the words before it are
    voters."""
    history = np.asarray(history)
    return features[history, history[-1]]


@misconception("skip_votes", title="current and earlier word swapped")
def swapped_pair(history, features):
    """You ask the table for [current, earlier]. Its first axis is the earlier word, its second the current one; the two
    pairs are not the same."""
    history = np.asarray(history)
    return features[history[-1], history[:-1]]


@misconception(
    "skip_votes", title="every different word votes once", keeps="right for histories without repeated words"
)
def each_word_once(history, features):
    """A word that stands twice in the history has only one row, and the order of the sentence is lost. Every position is
    a voter of its own."""
    return features[np.unique(np.asarray(history)[:-1]), history[-1]]


@misconception("skip_votes", title="the voters from back to front")
def back_to_front(history, features):
    """Your rows start with the word nearest to the current one. They should stand in the order of the sentence, so that a
    mask meets the right voter."""
    history = np.asarray(history)
    return features[history[:-1][::-1], history[-1]]


@misconception("skip_votes", title="each word with its neighbour")
def neighbouring_pairs(history, features):
    """You pair every word with the one right after it. Here the second word of each pair is always the current one, the
    last of the history."""
    history = np.asarray(history)
    return features[history[:-1], history[1:]]


@misconception(
    "skip_votes",
    title="the current word is no voter further up",
    keeps="right where the current word stands nowhere else",
)
def current_word_silent(history, features):
    """Where the current word also stands further up, you leave it out. Only the last position is no voter: at every earlier one a
    word votes, also with itself."""
    history = np.asarray(history)
    return features[history[history != history[-1]], history[-1]]


@misconception("skip_votes", title="eight voters at most", keeps="right for histories of up to nine words")
def eight_voters_at_most(history, features):
    """You hear the last eight voters and nobody further back. Every earlier word has a row, however long the history is."""
    history = np.asarray(history)[-9:]
    return features[history[:-1], history[-1]]


@misconception(
    "skip_votes", title="no row for a pair that never occurred", keeps="right where every pair has occurred"
)
def unseen_pairs_without_a_row(history, features):
    """You drop the rows of zeros. Who has nothing to say still stands in the list: a mask has an entry for each voter, and all those
    behind would meet the wrong one."""
    history = np.asarray(history)
    rows = features[history[:-1], history[-1]]
    return rows[rows.sum(axis=1) > 0]


@misconception("skip_votes", title="the history cut short for the caller too", keeps="the votes are right")
def history_cut_short(history, features):
    """You take the current word out of the history itself, so that the caller's list is one word shorter. Read it with history[-1], or
    work on a copy."""
    words = history.tolist() if isinstance(history, np.ndarray) else history
    current = words.pop()
    return features[np.array(words, dtype=int), current]


@alternative("skip_votes")
def votes_by_a_loop(history, features):
    *earlier, current = [int(word) for word in history]
    votes = np.zeros((len(earlier), features.shape[2]), dtype=np.float32)
    for row, word in enumerate(earlier):
        votes[row] = features[word][current]
    return votes


@alternative("skip_votes")
def votes_by_one_hot_products(history, features):
    one = np.eye(len(features))
    return np.einsum(
        "ta,c,acn->tn", one[list(history)[:-1]].reshape(-1, len(features)), one[history[-1]], features
    )


@alternative("skip_votes")
def votes_in_a_list_with_whole_numbers_for_none(history, features):
    rows = [features[word, history[-1]] for word in history[:-1]]
    return rows or np.zeros((0, features.shape[2]), dtype=int)


@alternative("skip_votes")
def votes_by_slicing_the_table_first(history, features):
    return np.take(features[:, history[-1], :], np.array(history[:-1], dtype=int), axis=0)
