"""Lab 03, skip_votes: history (T,), features (V, V, V) → a row of votes for each earlier word (T − 1, V)."""

import numpy as np

from autograder.questions.engine import Case, Question


def one_voter_at_a_time(history, features):
    rows = [features[int(word)][int(history[-1])] for word in history[:-1]]
    return np.array(rows).reshape(-1, features.shape[2])


question = Question(one_voter_at_a_time)


@question.family(
    "The case by hand; each earlier word has a row, what its pair with the current word says.", weight=1.5
)
def a_row_for_each(rng):
    shares = np.zeros((4, 4, 4))
    shares[0, 0, 1], shares[0, 1, 2:] = 1, (2 / 3, 1 / 3)
    yield Case([0, 0, 1], shares, gives=[[0, 0, 0.667, 0.333]] * 2)
    features, history = rng.random(size=(5, 5, 10))[:, :, ::2], rng.permutation(5)[:4]
    yield history.tolist(), features
    yield history[::-1].tolist(), features


@question.family("A history may be an array.", weight=0.5)
def arrays(rng):
    yield rng.permutation(5)[:4], rng.random(size=(5, 5, 10))[:, :, ::2]


@question.family("Every position votes: words that come twice, the current word, pairs that never occurred.")
def every_position(rng):
    first, second, unseen, current = rng.permutation(4).tolist()
    features = rng.random(size=(4, 4, 4))
    features[unseen, current] = 0
    yield [second, first, second, current], features
    yield [first, current, second, current], features
    yield [unseen, second, first, current], features
    yield [current] * 3, features


@question.family("Of a long history the first word votes, too.", weight=0.75)
def long_histories(rng):
    first, second, third, current = rng.permutation(4).tolist()
    yield [third, *[first, second] * 5, current], rng.random(size=(4, 4, 4))


@question.family("One earlier word has one row, none has none.", weight=0.75)
def short_histories(rng):
    features = rng.random(size=(3, 3, 3))
    for words in rng.permutation(3)[:2], rng.permutation(3)[:1]:
        yield words.tolist(), features


@question.misconception("the votes already added up", costs=2, because="the rows are right")
def already_added_up(history, features):
    """You return the total. Keep one row for each voter: the mask that comes next must be able to silence some of
    them."""
    history = np.asarray(history)
    return features[history[:-1], history[-1]].sum(axis=0)


@question.misconception("the current word votes too", costs=1.5, because="one row too many")
def current_word_votes(history, features):
    """There is one row too many: the current word votes with itself as a pair. Only the words before it are
    voters."""
    history = np.asarray(history)
    return features[history, history[-1]]


@question.misconception("current and earlier word swapped", costs=1.5, because="rows of pairs turned round")
def swapped_pair(history, features):
    """You ask the table for [current, earlier]. Its first axis is the earlier word, its second the current one; the two
    pairs are not the same."""
    history = np.asarray(history)
    return features[history[-1], history[:-1]]


@question.misconception("every different word votes once", costs=1.5, because="each row is right")
def each_word_once(history, features):
    """A word that stands twice in the history has only one row, and the order of the sentence is lost. Every position is
    a voter of its own."""
    return features[np.unique(np.asarray(history)[:-1]), history[-1]]


@question.misconception("the voters from back to front", costs=1.5, because="all rows, in another order")
def back_to_front(history, features):
    """Your rows start with the word nearest to the current one. They should stand in the order of the sentence, so that a
    mask meets the right voter."""
    history = np.asarray(history)
    return features[history[:-1][::-1], history[-1]]


@question.misconception("each word with its neighbour", costs=2)
def neighbouring_pairs(history, features):
    """You pair every word with the one right after it. Here the second word of each pair is always the current one, the
    last of the history."""
    history = np.asarray(history)
    return features[history[:-1], history[1:]]


@question.alternative
def votes_by_a_loop(history, features):
    *earlier, current = [int(word) for word in history]
    votes = np.zeros((len(earlier), features.shape[2]), dtype=np.float32)
    for row, word in enumerate(earlier):
        votes[row] = features[word][current]
    return votes


@question.impostor
def one_vote_a_word(right, history, features):
    """It lets each word vote once, however often it stands there.
    One survives: no word comes again in your history."""
    return right([*dict.fromkeys(history[:-1]), history[-1]], features)


@question.impostor
def the_current_word_is_silent(right, history, features):
    """It lets nobody vote who is the same word as the current one.
    One survives: in your history the current word stands nowhere else."""
    heard = [word for word in history[:-1] if word != history[-1]]
    return right([*heard, history[-1]], features)


@question.impostor
def looks_three_words_back(right, history, features):
    """It hears the last three voters only.
    One survives: the idea was to look far back. How far does your history go?"""
    return right(history[-4:], features)


@question.impostor
def sorts_the_voters(right, history, features):
    """It lists the votes by the number of the word, not in the order of the sentence.
    One survives: your voters stand in the order of their numbers."""
    return right([*sorted(history[:-1]), history[-1]], features)


@question.impostor
def swaps_the_pair(right, history, features):
    """It asks the table for the pair (current, earlier).
    One survives: your table says the same about a pair and about the pair turned round."""
    return right(history, np.swapaxes(features, 0, 1))
