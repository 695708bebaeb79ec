"""Hidden tests of lab 03: features by counting, votes with skips, masks, mask look-up, pair features.

The references count with dictionaries and add up single numbers.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

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
_RIGHT = """
import numpy as np


def mask_votes(votes, mask):
    return np.dot(np.asarray(mask, dtype=float), np.asarray(votes))


def mask_lookup(query, masks):
    return np.dot(query, masks)


def pair_features(x, W):
    product = np.dot(x, W)
    return np.where(product > 0, product, 0)
"""
_with_right_sums = follow_through(_RIGHT, "mask_votes")
_with_right_products = follow_through(_RIGHT, "mask_votes", "mask_lookup")
_with_right_features = follow_through(_RIGHT, "pair_features")


def expect_close(actual, expected, what):
    """To a millionth, of the largest number where that is above 1: single precision on the way is honest work too."""
    largest = np.abs(np.asarray(expected, dtype=float)).max(initial=1)
    _expect_close(actual, expected, what, rtol=1e-6, atol=1e-6 * largest)


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


def _renamed(rng, V, sentences):
    """The same sentences with other ids."""
    ids = rng.permutation(V).tolist()
    return [[ids[word] for word in sentence] for sentence in sentences]


# ------------------------------------------------------------------------------------------ count_features


@hidden_test("count_features", weight=1.25)
def test_shares_of_the_next_word_for_every_pair(student, rng):
    """Each pair of an earlier and the current word holds the shares of its next words."""
    sentences = [
        [0, 1, 2, 5],
        [0, 1, 3, 6],
        [2, 0, 1, 5],
        [3, 4, 0, 7],
        [1, 4, 6],
        [0, 1, 6],
        [2, 3, 4, 1, 7],
    ]
    sentences = _renamed(rng, 8, sentences)
    expect_close(student(sentences, 8), _shares(sentences, 8), "the table of shares")


@hidden_test("count_features", weight=1.5)
def test_words_that_come_again_count_at_each_position(student, rng):
    """Words come again: each earlier position counts, and one at the end of a sentence has no next word; the input stays as it was."""
    sentences = _renamed(rng, 5, [[0, 0, 1, 2, 3], [1, 0, 1, 4], [2, 1, 2, 0, 1]])
    expect_close(student(sentences, 5), _shares(sentences, 5), "the table of shares with repeated words")
    expect(not student.mutated, UNCHANGED)


@hidden_test("count_features", weight=0.75)
def test_long_sentences_and_many_of_them(student, rng):
    """A long sentence counts from its first word on, and pairs are counted however often they occur."""
    sentences = [[*range(14)], *([[0, 1, 13]] * 290), *([[0, 1, 14]] * 10)]
    sentences = _renamed(rng, 15, sentences)
    expect_close(student(sentences, 15), _shares(sentences, 15), "the table of shares")


@hidden_test("count_features")
def test_pairs_that_never_occurred_stay_zero(student):
    """Pairs that never occurred in these sentences stay zero, whatever was counted before; V words have a place, also those not said."""
    sentences = [[0, 2, 4, 1]]
    expect_close(student(sentences, 6), _shares(sentences, 6), "the table of a single sentence")
    none = student([[2, 3], [1], [0, 1]], 6)
    expect_close(none, np.zeros((6, 6, 6)), "the table of sentences without pairs")


@hidden_test("count_features", weight=0.25)
def test_sentences_of_every_kind(student, rng):
    """Words come again in long sentences, alone and among others, with words that nobody says, and where there are few words."""
    long = [0, 3, 0, 0, 2, 1, 3, 0, 4, 2, 0, 1, 2]
    among_others = [long, [2, 0, 1], [1], [3, 4], [2, 0, 1], [4, 0, 3, 0, 2, 0, 1, 5]]
    few_words = [[0, 1, 1, 0, 1], [1, 0, 1, 1, 1]]
    for sentences, said, V in (
        (among_others, 6, 9),
        ([long], 5, 9),
        (few_words, 2, 2),
        (few_words[:1], 2, 3),
    ):
        sentences = _renamed(rng, said, sentences)
        expect_close(student(sentences, V), _shares(sentences, V), "the table of shares")


@hidden_test("count_features", weight=0.5)
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


@hidden_test("skip_votes")
def test_each_earlier_word_votes_with_its_pair(student, rng):
    """Each earlier word has a row: what its pair with the current word says; the input stays as it was."""
    features = rng.random(size=(7, 7, 14))[:, :, ::2]
    history = np.sort(rng.permutation(7)[:5])[[3, 0, 4, 1, 2]]
    expected = [features[word, history[4]] for word in history[:4]]
    for form, what in ((history.tolist(), "the votes"), (history, "the votes for a history in an array")):
        expect_close(student(form, features), expected, what)
        expect(not student.mutated, UNCHANGED)


@hidden_test("skip_votes", weight=0.75)
def test_every_earlier_position_votes(student, rng):
    """Every earlier position votes: words that stand twice, the current word further up, pairs that never occurred, the first of many."""
    order = rng.permutation(4)
    features = rng.random(size=(4, 4, 4))
    for first, second, unseen, current in (np.roll(order, turn).tolist() for turn in range(4)):
        features[unseen, current] = 0
        history = [second, first, unseen, current, second, second]
        history += [first, current, unseen, first, second, current]
        for words in (history, np.array(history), [current] * 3, [unseen, second, first, current]):
            expected = [features[word, current] for word in words[:-1]]
            expect_close(student(words, features), expected, "the votes")


@hidden_test("skip_votes", weight=0.25)
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
    for form in (list, np.array):
        for earlier, current in ((1, 2), (2, 0)):
            vote = student(form([earlier, current]), features)
            expect_close(vote, [features[earlier, current]], "the vote of a single voter")
        for word in (0, 2):
            votes = student(form([word]), features)
            none = as_array(votes, "the votes at the first word")
            no_rows = none.shape == (0, 3) or (
                isinstance(votes, (list, tuple)) and not votes
            )  # a list has no columns
            expect(no_rows, "without an earlier word the result should have no rows, and V columns")


# ---------------------------------------------------------------------------------------------- mask_votes


@hidden_test("mask_votes", weight=0.75)
def test_those_who_may_vote_are_added_up(student, rng):
    """The rows of those who may vote are added up, whether the mask holds truth values or 0 and 1; the input stays as it was."""
    votes = rng.integers(-8, 9, size=(7, 5)) / 4
    mask = np.array([0, 1, 1, 0, 1, 0, 0])
    expected = votes[1] + votes[2] + votes[4]
    forms = {
        "truth values": mask.astype(bool),
        "0 and 1": mask.tolist(),
        "truth values in a list": mask.astype(bool).tolist(),
    }
    for words, form in forms.items():
        expect_close(student(votes, form), expected, f"the total with a mask of {words}")
        expect(not student.mutated, UNCHANGED)


@hidden_test("mask_votes")
def test_weights_in_between_give_parts_of_votes(student, rng):
    """Weights between 0 and 1 give parts of votes."""
    votes, mask = rng.random(size=(6, 8))[:, ::2], rng.uniform(0.1, 0.9, size=6)
    expect_close(student(votes, mask), _product(mask, votes), "the weighted total")
    square = rng.random(size=(6, 6))
    expect_close(student(square, mask), _product(mask, square), "the weighted total of a square table")


@hidden_test("mask_votes", weight=0.5)
def test_votes_of_whole_numbers_have_parts(student, rng):
    """Votes of whole numbers are weighted like others."""
    votes, mask = rng.integers(1, 9, size=(4, 3)), [0.5, 0.25, 0, 0.75]
    expect_close(student(votes, mask), _product(mask, votes), "the weighted total of whole votes")


@hidden_test("mask_votes", weight=0.25)
def test_all_nobody_and_no_voter(student, rng):
    """Everybody gives the plain sum, and nobody gives zeros: all silent, or no voter at all."""
    votes = rng.integers(1, 9, size=(4, 3)) / 4
    expect_close(
        student(votes, [1, 1, 1, 1]), votes[0] + votes[1] + votes[2] + votes[3], "the total of everybody"
    )
    expect_close(student(votes, [False] * 4), np.zeros(3), "the total when nobody may vote")
    masks: list[Any] = [[], np.zeros(0), np.zeros(0, dtype=bool)]
    for none in masks:
        for table in (votes[:0], np.zeros((0, 3), dtype=int)):
            expect_close(student(table, none), np.zeros(3), "the total without voters")


@hidden_test("mask_votes", weight=0.25)
def test_every_mask_with_every_table(student, rng):
    """Each kind of mask meets each kind of votes: whole numbers or not, below zero, one voter, one word, as many words as voters."""
    for N, V in ((4, 3), (3, 3), (1, 4), (5, 1)):
        whole = rng.integers(2, 9, size=(N, V)) * rng.choice([-1, 1], size=(N, V))
        some = np.arange(N) % 2 == 0
        parts = np.where(some, rng.uniform(0.3, 0.8, size=N), 1)
        for votes in (whole, whole + rng.uniform(0.1, 0.4, size=(N, V))):
            for mask in (some, some.astype(int), some.astype(float), ~some, parts, np.ones(N)):
                for form in (mask, mask.tolist()):
                    expect_close(student(votes, form), _product(mask, votes), "the weighted total")


@hidden_test("mask_votes", weight=0.5)
def test_masked_it_is_nought_to_one(student):
    """The lecture's masked votes: 0 to 1 after “program”, 1 to 0 after “battery”."""
    features = _shares([_ids(sentence) for sentence in SENTENCES], 13)
    for sentence, expected in zip(SENTENCES, ([0, 1], [1, 0]), strict=True):
        votes = features[_ids(sentence[:9]), WORDS.index("ran")]
        mask = [int(word in ("battery", "program")) for word in sentence[:9]]
        expect_close(student(votes[:, [DOWN, PLEASE]], mask), expected, "the total after masking")


# --------------------------------------------------------------------------------------------- mask_lookup


@hidden_test("mask_lookup")
@_with_right_sums
def test_a_one_hot_query_fetches_the_mask_of_its_word(student, rng):
    """A one-hot query fetches the row of its word; for “ran” that is the mask of the lecture."""
    masks = np.array([[0, 1, 1, 0, 1], [1, 0, 0, 0, 0], [0, 0, 1, 0, 1], [0, 1, 0, 1, 1], [1, 1, 0, 0, 0]])
    masks = masks[:, rng.permutation(5)].astype(float)
    expect_close(student(np.eye(5)[3], masks), masks[3], "the mask for a single query")
    masks = np.zeros((13, 13))
    masks[WORDS.index("ran"), _ids(["battery", "program", "ran"])] = 1
    query = np.array([word == "ran" for word in WORDS], dtype=float)
    expected = [float(word in ("battery", "program", "ran")) for word in WORDS]
    expect_close(student(query, masks), expected, "the mask for “ran”")


@hidden_test("mask_lookup")
@_with_right_sums
def test_several_queries_fetch_several_masks(student, rng):
    """Several queries fetch as many masks, in their order and as often as they ask."""
    masks = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [1, 1, 0, 1]])
    masks = np.repeat(masks[:, rng.permutation(4)].astype(float), 2, axis=1)[:, ::2]
    words = [5, 0, 5]
    expect_close(student(np.eye(6)[5], masks), masks[5], "the mask for a single query")
    expect_close(student(np.eye(6)[words], masks), [masks[word] for word in words], "the masks")
    expect_close(student(np.eye(6)[words[:1]], masks), [masks[5]], "the mask for a list of one query")


@hidden_test("mask_lookup")
@_with_right_sums
def test_a_table_of_whole_numbers_is_mixed_as_it_is(student, rng):
    """A query that mixes words gets the same mixture of their rows, also of whole numbers, above 1 and below 0."""
    masks = np.array([[0, 3, -1], [2, 0, 1], [1, -2, 4], [5, 1, 0]])[:, rng.permutation(3)]
    for query in ([0.5, 0.25, 0, 0.125], [0.5, 1.5, 0, 1]):
        expect_close(student(np.array(query), masks), _product(query, masks), "the mask for a mixed query")


@hidden_test("mask_lookup")
@_with_right_sums
def test_mixed_queries_get_mixed_masks(student, rng):
    """Several mixed queries get their mixtures of any table; the input stays as it was."""
    query, masks = rng.uniform(0.5, 1.5, size=(2, 5)), rng.uniform(0.5, 3, size=(5, 3)) * [1, -1, 1]
    expect_close(student(query, masks), _product(query, masks), "the masks for mixed queries")
    expect(not student.mutated, UNCHANGED)


@hidden_test("mask_lookup", weight=0.5)
@_with_right_sums
def test_every_query_with_every_table(student, rng):
    """One or more queries of one word or several, more queries than words too, ask tables of 0 and 1, of whole numbers and of others."""
    for V, M in ((4, 3), (3, 3), (4, 1)):
        whole = rng.integers(2, 9, size=(V, M)) * np.where(
            np.add.outer(np.arange(V), np.arange(M)) % 2, -1, 1
        )
        words = np.eye(V)[[*rng.permutation(V), 0, 0]]
        mixed = rng.dirichlet(np.ones(V), size=V) * np.linspace(0.5, 1.5, V)[:, None]
        for masks in (whole, whole + 0.25, (whole > 0).astype(float)):
            for query in (
                words,
                *words,
                mixed,
                mixed[:1],
                mixed[-1],
                mixed[[0, 1, 0]],
                words[1:3].mean(axis=0),
            ):
                expect_close(student(query, masks), _product(query, masks), "the masks")
        expect_close(student(words.astype(int), whole), _product(words, whole), "the masks of whole numbers")


# ------------------------------------------------------------------------------------------- pair_features


@hidden_test("pair_features", weight=1.25)
@_with_right_products
def test_where_nothing_is_negative_the_features_are_the_product(student, rng):
    """Where nothing is negative the features are the product, of a single row and of several."""
    x = np.array([[1.0, 1, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1], [1, 0, 1, 1]])
    W = rng.integers(1, 4, size=(4, 12))[:, ::2] / 2
    expect_close(student(x, W), _product(x, W), "the features")
    expect_close(student(x[0], W), _product(x[0], W), "the features of a single row")


@hidden_test("pair_features", weight=0.75)
@_with_right_products
def test_negative_values_become_zero_and_others_stay(student, rng):
    """Negative values of the product become 0, all others stay as they are, whatever x holds; the input stays as it was."""
    x, W = rng.normal(size=(7, 4)), 8 * rng.normal(size=(4, 14))[:, ::2]
    expect_close(student(x, W), _relu(_product(x, W)), "the features")
    expect(not student.mutated, UNCHANGED)


@hidden_test("pair_features", weight=0.5)
@_with_right_products
def test_a_batch_has_features(student, rng):
    """Sentences in a batch have features, with their axes in front."""
    x, W = rng.integers(-1, 2, size=(2, 3, 5)).astype(float), rng.choice([-1, -0.5, 0.5, 1], size=(5, 6))
    x[..., -1], W[-1] = 1, [-1, -0.5, 0.5, 1, -1, -0.5]
    x[0, 0], x[1, 2], W[:, 0] = [1, 0, 1, 0, 1], [0, 1, 0, 1, 1], [-1, 0.5, -1, 1, -1]
    expect_close(student(x[0], W), _relu(_product(x[0], W)), "the features of one of its tables")
    expect_close(student(x, W), _relu(_product(x, W)), "the features of a batch")


@hidden_test("pair_features", weight=0.5)
@_with_right_products
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


@hidden_test("pair_features", weight=0.25)
@_with_right_products
def test_features_of_every_shape(student, rng):
    """One row or a table of one, more axes, a single feature, as many as entries in x, whole numbers; in all, values of any size."""
    for F in (1, 4, 6):
        x, W = 4 * rng.normal(size=(2, 1, 4, 4)), rng.normal(size=(4, F))
        for some in (x, x[:1, 0], x[0, 0], x[0, 0, :1], x[1, 0, 1], *x[0, 0, :2]):
            expect_close(student(some, W), _relu(_product(some, W)), "the features")
        seen = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], [1]), axis=-1)[..., 0, :].astype(float)
        expect_close(student(seen, W), _relu(_product(seen, W)), "the features of all that may be seen")
    x, W = rng.integers(-4, 5, size=(2, 3, 4)), rng.integers(-3, 4, size=(4, 5))
    for some in (x, x[0], x[1, 0]):
        expect_close(student(some, W), _relu(_product(some, W)), "the features of whole numbers")
    x, W = np.array([1, 0, 1, 1]), np.array([[1, -1], [-1, 1], [1, 1], [-1, -1]])
    expect_close(student(x, W), [1, 0], "the features of whole numbers")


# -------------------------------------------------------------------------------------------- feed_forward


@hidden_test("feed_forward")
@_with_right_products
@_with_right_features
def test_a_single_history_gets_its_votes(student, rng):
    """A single row x gets its votes: “battery … ran” for down, “program … ran” for please, and anything else for neither."""
    W1 = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    x = np.array([[1.0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]])
    for row, expected in zip(x, ([1, 0], [0, 1], [0, 0]), strict=True):
        expect_close(student(row, W1, np.eye(2)), expected, "the votes for down and please")
    W1, W2 = np.array([[1.0, -1.0, 1.0], [1.0, 1.0, -3.0]]), rng.uniform(0.5, 2, size=(3, 4))
    expect_close(student(np.array([2.0, 1.0]), W1, W2), 3 * W2[0], "the votes of a single feature")


@hidden_test("feed_forward", weight=1.25)
@_with_right_products
@_with_right_features
def test_there_is_one_relu_between_the_two_matrices(student, rng):
    """There is one ReLU, between the two matrices: votes may be negative, features of any size count; the input stays as it was."""
    x, W1, W2 = rng.normal(size=(7, 4)), rng.normal(size=(4, 12))[:, ::2], rng.normal(size=(6, 3))
    expect_close(student(x, W1, W2), _product(_relu(_product(x, W1)), W2), "the votes")
    expect(not student.mutated, UNCHANGED)


@hidden_test("feed_forward", weight=0.75)
@_with_right_products
@_with_right_features
def test_votes_come_for_batches(student, rng):
    """Votes come for a batch, with its axes in front."""
    x, W1, W2 = rng.normal(size=(2, 3, 5)), rng.normal(size=(5, 6)), rng.normal(size=(6, 4))
    expect_close(student(x, W1, W2), _product(_relu(_product(x, W1)), W2), "the votes for a batch")


@hidden_test("feed_forward")
@_with_right_products
@_with_right_features
def test_square_matrices_and_whole_numbers(student, rng):
    """With as many next words as entries in x, and with whole numbers in W2, the votes are the product, too."""
    x, W1 = rng.uniform(1.1, 1.9, size=5), rng.uniform(0.6, 1.4, size=(5, 5)) * [1, -1, 1, -1, -1]
    square, whole = rng.uniform(0.5, 2, size=(5, 5)), rng.integers(1, 9, size=(5, 3))
    features = _relu(_product(x, W1))
    expect_close(student(x, W1, square), _product(features, square), "the votes with square matrices")
    expect_close(student(x, W1, whole), _product(features, whole), "the votes with a W2 of whole numbers")


@hidden_test("feed_forward", weight=0.25)
@_with_right_products
@_with_right_features
def test_votes_of_every_shape(student, rng):
    """One row or a table of one, more axes, a single feature, one next word or as many as entries in x, and whole numbers everywhere."""
    for F, V in ((6, 4), (5, 5), (1, 3), (4, 1)):
        x, W1, W2 = 2 * rng.normal(size=(2, 1, 4, 4)), rng.normal(size=(4, F)), rng.normal(size=(F, V))
        x[0, 0, 0] *= np.sign(x[0, 0, 0] @ W1[:, 0])  # its first feature is there
        whole = rng.integers(1, 6, size=(F, V)) * np.where(np.arange(F) % 2, 1, -1)[:, None]
        for some in (x, x[:1, 0], x[0, 0], x[0, 0, :1], x[0, 0, 0]):
            for table in (W2, whole, np.eye(F)):
                expected = _product(_relu(_product(some, W1)), table)
                expect_close(student(some, W1, table), expected, "the votes")
        seen = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], [1]), axis=-1)[..., 0, :].astype(float)
        W1 = W1 / 8
        for some in (seen, seen[0], seen[1, 1]):
            for few in (W1, -abs(W1)):
                expected = _product(_relu(_product(some, few)), W2)
                expect_close(student(some, few, W2), expected, "the votes for all that may be seen")
    x, W1, W2 = (
        rng.integers(-4, 5, size=(2, 3, 4)),
        rng.integers(-3, 4, size=(4, 5)),
        rng.integers(-3, 4, size=(5, 4)),
    )
    for some in (x, x[0], x[1, 0]):
        expected = _product(_relu(_product(some, W1)), W2)
        expect_close(student(some, W1, W2), expected, "the votes of whole numbers")
