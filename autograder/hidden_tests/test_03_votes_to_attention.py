"""Hidden tests of lab 03: features by counting, votes with skips, masks, mask look-up, pair features.

The references count with dictionaries and add up single numbers.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from autograder.testing import as_array, expect, follow_through, hidden_test
from autograder.testing import expect_close as _expect_close

EQUIVALENT_MUTANTS = {
    "count_features: return np.divide(counts, total, out=np.zeros(counts.shape), where=total != 0)": (
        "a sum of counts is never negative"
    ),
    "count_features: counts[earlier, sentence[now], sentence[now + 1]] += 2": "the shares are the same",
}

UNCHANGED = "your function changes its input: make a new array instead of writing into the old one"

UNDECIDED = ["check", "the", "log", "and", "find", "out", "whether", "it"]
#: The lecture's two sentences, and its vocabulary of thirteen words in alphabetical order.
SENTENCES = (
    [*UNDECIDED[:2], "program", *UNDECIDED[2:], "ran", "please"],
    [*UNDECIDED[:2], "battery", *UNDECIDED[2:], "ran", "down", "please"],
)
WORDS = sorted({word for sentence in SENTENCES for word in sentence})
DOWN, PLEASE = WORDS.index("down"), WORDS.index("please")


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_with_right_features = follow_through(
    """
import numpy as np


def pair_features(x, W):
    product = np.dot(x, W)
    return np.where(product > 0, product, 0)
""",
    "pair_features",
)


def expect_close(actual, expected, what):
    """To a millionth: a mask or table kept in float32 beside float64 numbers is honest work too."""
    _expect_close(actual, expected, what, rtol=1e-6, atol=1e-6)


def _shares(sentences, V):
    """The table of shares, from a dictionary of triples."""
    triples: Counter[tuple[int, int, int]] = Counter()
    for sentence in sentences:
        for now in range(1, len(sentence) - 1):
            for earlier in range(now):
                triples[sentence[earlier], sentence[now], sentence[now + 1]] += 1
    pairs: Counter[tuple[int, int]] = Counter()
    for (a, c, _), count in triples.items():
        pairs[a, c] += count
    table = np.zeros((V, V, V))
    for (a, c, n), count in triples.items():
        table[a, c, n] = count / pairs[a, c]
    return table


def _product(weights, rows):
    """Rows weighted and added, number by number, for weights with any axes in front."""
    weights, rows = np.asarray(weights, dtype=float), np.asarray(rows, dtype=float)
    result = np.zeros((*weights.shape[:-1], rows.shape[1]))
    for place in np.ndindex(result.shape):
        line = weights[place[:-1]]
        result[place] = sum(float(line[k]) * float(rows[k, place[-1]]) for k in range(len(rows)))
    return result


def _relu(values):
    return np.where(values > 0, values, 0.0)


def _ids(sentence):
    return [WORDS.index(word) for word in sentence]


# ------------------------------------------------------------------------------------------ count_features


@hidden_test("count_features", weight=1.5)
def test_shares_of_the_next_word_for_every_pair(student, rng):
    """Each pair of an earlier and the current word holds the shares of its next words."""
    sentences = [rng.permutation(6)[: rng.integers(3, 7)].tolist() for _ in range(25)]
    expect_close(student(sentences, 6), _shares(sentences, 6), "the table of shares")


@hidden_test("count_features", weight=2.5)
def test_repeated_words_count_at_each_position(student, rng):
    """A word that stands at several earlier positions counts at each of them; the input stays as it was."""
    sentences = [rng.integers(0, 4, size=size).tolist() for size in (9, 5, 7, 3, 8)]
    expect_close(student(sentences, 5), _shares(sentences, 5), "the table of shares with repeated words")
    expect(not student.mutated, UNCHANGED)


@hidden_test("count_features")
def test_pairs_that_never_occurred_stay_zero(student):
    """Pairs that never occurred stay zero, and very short sentences hold no pairs."""
    expect_close(
        student([[2, 3], [1], [0, 1]], 4), np.zeros((4, 4, 4)), "the table of sentences without pairs"
    )
    sentences = [[0, 2, 4, 2]]
    expect_close(student(sentences, 6), _shares(sentences, 6), "the table of a single sentence")


@hidden_test("count_features")
def test_only_battery_and_program_decide_after_ran(student):
    """In the lecture's sentences every earlier word is undecided after “ran”, but for “battery” and “program”.

    Thirteen words make 13³ cells; a table that grows with the cube has 1.25e14 of them for 50,000 words.
    """
    expect(len(WORDS) == 13 and max(map(len, SENTENCES)) == 12, "the lecture has 13 words and 12 positions")
    table = as_array(student([_ids(sentence) for sentence in SENTENCES], 13), "the table of shares")
    cells_for_50_000_words = table.size * (50_000 / len(WORDS)) ** 3
    expect(abs(cells_for_50_000_words / 1.25e14 - 1) < 1e-9, "the table should have V³ cells")
    expect_close(table, _shares([_ids(sentence) for sentence in SENTENCES], 13), "the table of shares")
    at_ran = table[:, WORDS.index("ran")][:, [DOWN, PLEASE]]
    expect_close(at_ran[_ids(UNDECIDED)], np.full((8, 2), 0.5), "the pairs that both sentences share")
    expect_close(at_ran[_ids(["battery", "program"])], [[1, 0], [0, 1]], "the pairs that decide")


# ---------------------------------------------------------------------------------------------- skip_votes


@hidden_test("skip_votes", weight=2)
def test_each_earlier_word_votes_with_its_pair(student, rng):
    """Each earlier word has a row: what its pair with the current word says."""
    features = rng.random(size=(7, 7, 14))[:, :, ::2]
    history = rng.permutation(7)[:5]
    expected = [features[word, history[4]] for word in history[:4]]
    expect_close(student(history.tolist(), features), expected, "the votes")
    expect_close(student(history, features), expected, "the votes for a history in an array")
    expect(not student.mutated, UNCHANGED)


@hidden_test("skip_votes")
def test_a_word_that_stands_twice_votes_twice(student, rng):
    """A word that stands twice votes twice, also when it is the current word."""
    features = rng.random(size=(4, 4, 4))
    history = [2, 1, 1, 3, 2]
    expect_close(student(history, features), [features[word, 2] for word in (2, 1, 1, 3)], "the votes")


@hidden_test("skip_votes")
def test_four_to_five_and_five_to_four(student):
    """The lecture's votes: “program log … ran” gives down 4 and please 5, “battery log … ran” 5 and 4."""
    features = _shares([_ids(sentence) for sentence in SENTENCES], 13)
    for sentence, expected in zip(SENTENCES, ([4, 5], [5, 4]), strict=True):
        votes = as_array(student(_ids(sentence[:10]), features), "the votes")
        expect(votes.shape == (9, 13), "there should be one row for each of the nine words before “ran”")
        expect_close(votes[:, [DOWN, PLEASE]].sum(axis=0), expected, "the total of the votes")
        expect_close(votes.sum(), 9.0, "the number of votes in all")


@hidden_test("skip_votes")
def test_short_histories_have_few_voters(student, rng):
    """At the second word one voter stands, at the first none, and the table keeps its width."""
    features = rng.random(size=(3, 3, 3))
    expect_close(student([1, 2], features), [features[1, 2]], "the vote of a single voter")
    votes = student([0], features)
    none = as_array(votes, "the votes at the first word")
    no_rows = none.shape == (0, 3) or (
        isinstance(votes, (list, tuple)) and not votes
    )  # a list has no columns
    expect(no_rows, "without an earlier word the result should have no rows, and V columns")


# ---------------------------------------------------------------------------------------------- mask_votes


@hidden_test("mask_votes", weight=2)
def test_those_who_may_vote_are_added_up(student, rng):
    """The rows of those who may vote are added up, whether the mask holds truth values or 0 and 1."""
    votes = rng.normal(size=(7, 5))
    mask = np.array([0, 1, 1, 0, 1, 0, 0])
    expected = votes[1] + votes[2] + votes[4]
    expect_close(student(votes, mask.astype(bool)), expected, "the total with a mask of truth values")
    expect_close(student(votes, mask.tolist()), expected, "the total with a mask of 0 and 1")
    expect_close(
        student(votes, mask.astype(bool).tolist()), expected, "the total with a list of truth values"
    )
    expect(not student.mutated, UNCHANGED)


@hidden_test("mask_votes", weight=2)
def test_weights_in_between_give_parts_of_votes(student, rng):
    """Weights between 0 and 1 give parts of votes."""
    votes, mask = rng.random(size=(6, 8))[:, ::2], rng.random(size=6)
    expect_close(student(votes, mask), _product(mask, votes), "the weighted total")
    square = rng.random(size=(6, 6))
    expect_close(student(square, mask), _product(mask, square), "the weighted total of a square table")


@hidden_test("mask_votes")
def test_all_nobody_and_a_single_voter(student, rng):
    """Everybody gives the plain sum, nobody gives zeros, and a single voter has its own say."""
    votes = rng.random(size=(4, 3))
    expect_close(
        student(votes, [1, 1, 1, 1]), votes[0] + votes[1] + votes[2] + votes[3], "the total of everybody"
    )
    expect_close(student(votes, [False] * 4), np.zeros(3), "the total when nobody may vote")
    expect_close(student(votes[2:3], [0.5]), votes[2] / 2, "half the vote of a single voter")


@hidden_test("mask_votes")
def test_masked_it_is_nought_to_one(student):
    """The lecture's masked votes: 0 to 1 after “program”, 1 to 0 after “battery”."""
    features = _shares([_ids(sentence) for sentence in SENTENCES], 13)
    for sentence, expected in zip(SENTENCES, ([0, 1], [1, 0]), strict=True):
        votes = features[_ids(sentence[:9]), WORDS.index("ran")]
        mask = [word in ("battery", "program") for word in sentence[:9]]
        expect_close(student(votes[:, [DOWN, PLEASE]], mask), expected, "the total after masking")


# --------------------------------------------------------------------------------------------- mask_lookup


@hidden_test("mask_lookup")
def test_a_one_hot_query_fetches_the_mask_of_its_word(student, rng):
    """A one-hot query fetches the row of its word; for “ran” that is the mask of the lecture."""
    masks = rng.random(size=(5, 5))
    expect_close(student(np.eye(5)[3], masks), masks[3], "the mask for a single query")
    masks = np.zeros((13, 13))
    masks[WORDS.index("ran"), _ids(["battery", "program", "ran"])] = 1
    query = np.array([word == "ran" for word in WORDS], dtype=float)
    expected = [float(word in ("battery", "program", "ran")) for word in WORDS]
    expect_close(student(query, masks), expected, "the mask for “ran”")


@hidden_test("mask_lookup")
def test_several_queries_fetch_several_masks(student, rng):
    """Several queries fetch as many masks, in their order and as often as they ask."""
    masks = rng.random(size=(6, 8))[:, ::2]
    words = [5, 0, 5]
    expect_close(student(np.eye(6)[words], masks), [masks[word] for word in words], "the masks")
    expect_close(student(np.eye(6)[words[:1]], masks), [masks[5]], "the mask for a list of one query")


@hidden_test("mask_lookup", weight=2)
def test_a_mixed_query_gets_a_mixed_mask(student, rng):
    """A query that mixes words gets their masks in the same mixture."""
    query, masks = rng.normal(size=(2, 5)), rng.random(size=(5, 3))
    expect_close(student(query, masks), _product(query, masks), "the masks for mixed queries")
    expect(not student.mutated, UNCHANGED)
    square = rng.random(size=(5, 5))
    expect_close(student(query[1], square), _product(query[1], square), "the mask for a mixed query")


# ------------------------------------------------------------------------------------------- pair_features


@hidden_test("pair_features", weight=2)
def test_negative_values_become_zero_and_others_stay(student, rng):
    """Negative values of the product become 0, all others stay as they are."""
    x, W = rng.normal(size=(5, 4)), 3 * rng.normal(size=(4, 14))[:, ::2]
    expect_close(student(x, W), _relu(_product(x, W)), "the features")
    expect(not student.mutated, UNCHANGED)


@hidden_test("pair_features")
def test_a_single_row_and_a_batch_have_features(student, rng):
    """A single row and a batch of sentences have features too."""
    x, W = rng.normal(size=(2, 3, 5)), rng.normal(size=(5, 4))
    expect_close(student(x, W), _relu(_product(x, W)), "the features of a batch")
    expect_close(student(x[0, 1], W), _relu(_product(x[0, 1], W)), "the features of a single row")


@hidden_test("pair_features")
def test_battery_and_ran_is_one_and_nought(student):
    """The lecture's case: [1, 0, 1, 1] gives [1, −1], and the ReLU makes it [1, 0]; the other sentence [0, 1]."""
    W = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    expect_close(_product([1, 0, 1, 1], W), [1, -1], "the lecture's product")
    expect_close(student(np.array([1.0, 0.0, 1.0, 1.0]), W), [1, 0], "the features of “battery … ran”")
    expect_close(student(np.array([0.0, 1.0, 1.0, 1.0]), W), [0, 1], "the features of “program … ran”")
    alone = np.array([[1.0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
    expect_close(
        student(alone, W), np.zeros((3, 2)), "the features when a pair is not complete or has a rival"
    )


# -------------------------------------------------------------------------------------------- feed_forward


@hidden_test("feed_forward", weight=2)
@_with_right_features
def test_there_is_one_relu_between_the_two_matrices(student, rng):
    """There is one ReLU, between the two matrices."""
    x, W1, W2 = rng.normal(size=(7, 4)), rng.normal(size=(4, 12))[:, ::2], rng.normal(size=(6, 3))
    expect_close(student(x, W1, W2), _product(_relu(_product(x, W1)), W2), "the votes")
    expect(not student.mutated, UNCHANGED)


@hidden_test("feed_forward", weight=2)
@_with_right_features
def test_votes_come_for_single_rows_and_batches(student, rng):
    """Votes come for a single row and for a batch; square matrices are not mixed up."""
    W1, W2 = rng.normal(size=(5, 5)), rng.normal(size=(5, 5))
    x = rng.normal(size=(2, 3, 5))
    expected = _product(_relu(_product(x, W1)), W2)
    expect_close(student(x, W1, W2), expected, "the votes for a batch")
    expect_close(student(x[1, 0], W1, W2), expected[1, 0], "the votes for a single row")


@hidden_test("feed_forward")
@_with_right_features
def test_the_lectures_sentences_get_their_next_word(student):
    """“battery … ran” votes for down, “program … ran” for please, and anything else for neither."""
    W1 = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    x = np.array([[1.0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]])
    expect_close(student(x, W1, np.eye(2)), [[1, 0], [0, 1], [0, 0]], "the votes for down and please")
    against = np.array([[2.0, -1.0], [-1.0, 2.0]])
    expect_close(
        student(x, W1, against), [[2, -1], [-1, 2], [0, 0]], "the votes when a feature votes against a word"
    )
