"""Public checks of lab 03: pair features by counting, votes, masks, mask look-up and the feed-forward layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import Hint, close, ensure, numbers, public_check
from coursekit.checks.break_it import impostor

FORBIDDEN = {
    "pair_features": ("torch.relu", "torch.nn.functional.relu", "torch.nn.ReLU", "Tensor.relu"),
    "feed_forward": ("torch.relu", "torch.nn.functional.relu", "torch.nn.ReLU", "Tensor.relu"),
}

_TABLE = np.zeros((4, 4, 4))
_TABLE[0, 1], _TABLE[0, 0], _TABLE[1, 0] = [0, 0, 2 / 3, 1 / 3], [0, 1, 0, 0], [1, 0, 0, 0]


def _shape(value: Any, expected: Any, hint: Any) -> Any:
    """The value as an array of the expected shape, or the hint with both shapes."""
    ensure(value is not None, "your function returns None: does it end with a return?")
    shape = np.shape(value)
    ensure(shape == expected, f"the result has shape {shape}, but {expected} is expected: {hint}")
    return numbers(value)


@public_check("count_features")
def a_pair_with_two_outcomes_is_undecided(count_features: Any) -> None:
    """The sentences 0 1 2 and 0 1 3 make the pair (0, 1) undecided between 2 and 3."""
    table = _shape(
        count_features([[0, 1, 2], [0, 1, 3]], 4), (4, 4, 4), "the axes are earlier, current, next"
    )
    ensure(
        not np.isnan(table).any(), "pairs that never occurred are nan (0 divided by 0): they should stay 0"
    )
    ensure(
        np.allclose(table[2], 0),
        "the second sentence should know nothing of the first: start each one afresh",
    )
    ensure(
        not np.allclose(table[0, 1], [0, 0, 1, 1]),
        "these are counts: divide each pair by the sum over its next words",
    )
    ensure(
        not np.allclose(table[1, 0], [0, 0, 0.5, 0.5]),
        "the first two axes are swapped: the earlier word comes first, then the current one",
    )
    close(table[0, 1], [0, 0, 0.5, 0.5], "after the pair (0, 1) came 2 once and 3 once: half and half")
    ensure(
        np.allclose(table[1, 1], 0),
        "the pair (1, 1) never occurred: the current position is not earlier than itself",
    )
    close(table.sum(), 1.0, "only the pair (0, 1) occurred; every other cell should be 0 (and not nan)")


@public_check("count_features")
def words_in_between_are_skipped(count_features: Any) -> None:
    """Earlier words count at any distance, not only next to the current one."""
    table = _shape(count_features([[0, 1, 2, 3]], 4), (4, 4, 4), "the axes are earlier, current, next")
    ensure(table[0, 2, 3] > 0, "word 0 stands before word 2, with word 1 between: this pair counts as well")
    close(
        table[[0, 0, 1], [1, 2, 2], [2, 3, 3]],
        [1, 1, 1],
        "the pairs (0, 1), (0, 2) and (1, 2) are sure of the next word",
    )
    close(table.sum(), 3.0, "three pairs occurred, each sure of its next word; all other cells should be 0")


@public_check("count_features")
def a_word_that_stands_twice_counts_twice(count_features: Any) -> None:
    """A word at two earlier positions counts twice; sentences do not touch."""
    table = _shape(
        count_features([[0, 0, 1, 2], [0, 1, 3]], 4), (4, 4, 4), "the axes are earlier, current, next"
    )
    ensure(
        not np.allclose(table[0, 1], [0, 0, 0.5, 0.5]),
        "the two 0s before the first 1 should count twice, once for each earlier position",
    )
    close(table[0, 1], [0, 0, 2 / 3, 1 / 3], "two of the three pairs (0, 1) are followed by 2, one by 3")
    close(table[0, 0], [0, 1, 0, 0], "the pair (0, 0) is followed by 1")
    ensure(
        np.allclose(table[2], 0),
        "the second sentence should know nothing of the first: start each one afresh",
    )


@public_check("skip_votes")
def each_earlier_word_has_a_row(skip_votes: Any) -> None:
    """Two earlier words have a row each, even if they are the same word."""
    votes = skip_votes([0, 0, 1], _TABLE)
    ensure(
        np.shape(votes) != (4,), "the votes are added up already: return one row a voter, the sum comes later"
    )
    ensure(np.shape(votes) != (3, 4), "three rows: the current word itself does not vote")
    votes = _shape(votes, (2, 4), "one row for each earlier word, one column for each next word")
    ensure(
        not np.allclose(votes[0], _TABLE[1, 0]),
        "the table was asked for [current, earlier]: its first axis is the earlier word",
    )
    close(votes, [[0, 0, 2 / 3, 1 / 3]] * 2, "both voters should say what the pair (0, 1) says")


@public_check("skip_votes")
def voters_stand_in_the_order_of_the_sentence(skip_votes: Any) -> None:
    """Voters stand in the order of the sentence."""
    table = np.arange(27.0).reshape(3, 3, 3)
    votes = _shape(skip_votes(np.array([2, 0, 1]), table), (2, 3), "one row for each earlier word")
    ensure(
        not np.allclose(votes, [[3, 4, 5], [21, 22, 23]]),
        "the rows are in the wrong order: word 2 stands first",
    )
    close(votes, [[21, 22, 23], [3, 4, 5]], "the rows should be those of the pairs (2, 1) and (0, 1)")


@public_check("skip_votes")
def the_first_word_has_no_voters(skip_votes: Any) -> None:
    """At the first word nobody can vote yet."""
    try:
        votes = skip_votes([2], _TABLE)
    except IndexError:
        raise Hint(
            "a history of one word has no earlier words, and np.array([]) holds floats, which are no indices: "
            "turn the whole history into an array first, then cut it"
        ) from None
    if not isinstance(votes, (list, tuple)) or votes:  # an empty list cannot show its columns
        _shape(votes, (0, 4), "no earlier words, no rows, but still V columns")
    close(skip_votes([1, 0], _TABLE), [[1, 0, 0, 0]], "with one earlier word there is one row")


def _masked(mask_votes: Any, votes: Any, mask: Any) -> Any:
    """The total, or a hint in words when the shapes do not fit together."""
    try:
        return mask_votes(votes, mask)
    except ValueError:
        raise Hint(
            "the shapes do not fit: the mask has one entry for each voter, and voters are rows"
        ) from None


@public_check("mask_votes")
def only_those_who_may_vote_count(mask_votes: Any) -> None:
    """Only those who may vote count; everybody together gives the plain sum."""
    votes = np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5]])
    total = _masked(mask_votes, votes, [0, 1, 0])
    ensure(np.shape(total) != (3, 2), "the masked rows are still separate: add them up")
    total = _shape(total, (2,), "one total for each next word")
    ensure(not np.allclose(total, [1, 1]), "the mask works the wrong way round: 1 means “may vote”")
    ensure(
        not np.allclose(total, [1, 2]),
        "0 and 1 were taken for row numbers (or not looked at): multiply each row by its entry of the mask",
    )
    close(total, [0, 1], "only the second voter may vote, and it votes for the second word")
    close(mask_votes(votes, np.array([True, True, True])), [1, 2], "all three together have 1 and 2 votes")


@public_check("mask_votes")
def half_a_vote_is_possible(mask_votes: Any) -> None:
    """A weight of one half means half a vote."""
    votes = np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5]])
    total = _shape(_masked(mask_votes, votes, [0.5, 1, 0]), (2,), "one total for each next word")
    ensure(not np.allclose(total, [0.5, 1.5]), "the first voter counted in full: multiply its row by 0.5")
    close(total, [0.25, 1.25], "half of [½, ½] plus [0, 1] is [¼, 1¼]")


@public_check("mask_votes")
def nobody_voting_gives_zeros(mask_votes: Any) -> None:
    """If nobody may vote, all totals are zero; the input stays as it was."""
    votes = np.array([[0.5, 0.5], [0.0, 1.0]])
    close(mask_votes(votes, [False, False]), [0, 0], "with everybody silent the totals should be zero")
    ensure(
        np.array_equal(votes, [[0.5, 0.5], [0.0, 1.0]]),
        "the array votes has changed: multiply into a new array",
    )


@public_check("mask_lookup")
def a_one_hot_query_fetches_its_row(mask_lookup: Any) -> None:
    """A one-hot query fetches the mask of its word."""
    masks = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    mask = _shape(mask_lookup(np.array([0.0, 1.0, 0.0]), masks), (3,), "one mask for one query")
    ensure(not np.allclose(mask, masks[:, 1]), "this is column 1 of the table: the mask of word 1 is row 1")
    close(mask, [1, 0, 0], "the query for word 1 should fetch row 1")


@public_check("mask_lookup")
def several_queries_fetch_several_masks(mask_lookup: Any) -> None:
    """Several queries fetch several masks, and a mixed query a mixed mask."""
    masks = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    fetched = _shape(
        mask_lookup(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]), masks), (3, 4), "one mask a query"
    )
    close(fetched[:2], masks[::-1], "the queries for words 1 and 0 should fetch rows 1 and 0")
    close(fetched[2], [0.5, 0.5, 1, 0], "half and half should give half of each mask")


@public_check("mask_lookup")
def the_query_is_taken_as_it_is(mask_lookup: Any) -> None:
    """A query whose entries do not add up to one is taken as it is."""
    masks = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    mask = _shape(mask_lookup(np.array([0.5, 0.25]), masks), (3,), "one mask for one query")
    ensure(
        not np.allclose(mask, [1 / 3, 2 / 3, 1]),
        "the query was divided by its sum first: multiply it with the table as it is",
    )
    close(mask, [0.25, 0.5, 0.75], "half of row 0 and a quarter of row 1 should give 0.25, 0.5 and 0.75")


@public_check("pair_features")
def battery_and_ran_light_one_feature(pair_features: Any) -> None:
    """battery and ran, [1, 0, 1, 1], make the features [1, 0]."""
    W = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    value = _shape(pair_features(np.array([1.0, 0.0, 1.0, 1.0]), W), (2,), "one value for each column of W")
    ensure(not np.allclose(value, [1, -1]), "the product is right; now replace negative values by 0")
    ensure(not np.allclose(value, [2, 0]), "the last entry of x, the bias, takes part in the product")
    ensure(
        not np.allclose(value, [1, 1]),
        "the −1 became 1: negative values become 0, they do not lose their sign",
    )
    close(value, [1, 0], "the product is [1, −1], and after the ReLU it is [1, 0]")
    close(pair_features(np.array([0.0, 1.0, 1.0, 1.0]), W), [0, 1], "for program and ran it should be [0, 1]")


@public_check("pair_features")
def large_values_stay(pair_features: Any) -> None:
    """Values above 1 stay as they are, and many rows work at once."""
    x = np.array([[3.0, 0.5], [-1.0, 2.0], [0.0, 0.0]])
    W = np.array([[1.0, -1.0, 0.0], [2.0, 0.0, 1.0]])
    value = _shape(pair_features(x, W), (3, 3), "one row of features for each row of x")
    ensure(
        not np.allclose(value, x @ W > 0),
        "your features are only 0 and 1: a positive value stays as large as it is",
    )
    ensure(value.max() > 1.5, "values are cut off at 1: only the negative ones are replaced")
    close(
        value,
        [[4, 0, 0.5], [3, 1, 2], [0, 0, 0]],
        "compare with x @ W: only its negative values should have changed",
    )


@public_check("feed_forward")
def the_two_histories_get_their_votes(feed_forward: Any) -> None:
    """battery … ran votes for down, program … ran for please."""
    W1 = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    x = np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]])
    votes = _shape(feed_forward(x, W1, np.eye(2)), (2, 2), "one row of votes for each row of x")
    ensure(not np.allclose(votes, [[1, -1], [-1, 1]]), "the ReLU between the two matrices is missing")
    close(
        votes, [[1, 0], [0, 1]], "the features are [1, 0] and [0, 1], and with this W2 the votes are the same"
    )


@public_check("feed_forward")
def votes_may_be_negative(feed_forward: Any) -> None:
    """There is one ReLU, in the middle: votes may be negative."""
    W1, W2 = np.array([[1.0, -1.0], [0.5, 0.5]]), np.array([[2.0, -1.0, 0.0], [1.0, -3.0, 1.0]])
    votes = _shape(feed_forward(np.array([2.0, 1.0]), W1, W2), (3,), "one vote for each column of W2")
    ensure(votes[1] != 0, "negative votes were cut off: there is no ReLU after the second matrix")
    ensure(not np.allclose(votes, [3.5, 2.0, -1.5]), "the ReLU between the two matrices is missing")
    ensure(not np.allclose(votes, [3.5, 2.0, 0]), "the ReLU comes after both matrices: it belongs between")
    close(
        votes, [5, -2.5, 0], "x W1 is [2.5, −1.5], the ReLU makes it [2.5, 0], and W2 turns that into votes"
    )


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("skip_votes")
def one_vote_a_word(right: Any, history: Any, features: Any) -> Any:
    """It lets each word vote once, however often it stands there.

    One survives: no word comes again in your history.
    """
    return right([*dict.fromkeys(history[:-1]), history[-1]], features)


@impostor("skip_votes")
def the_current_word_is_silent(right: Any, history: Any, features: Any) -> Any:
    """It lets nobody vote who is the same word as the current one.

    One survives: in your history the current word stands nowhere else.
    """
    return right(history, features)[np.asarray(history[:-1]) != history[-1]]


@impostor("skip_votes")
def looks_three_words_back(right: Any, history: Any, features: Any) -> Any:
    """It hears the last three voters only.

    One survives: the idea was to look far back. How far does your history go?
    """
    return right(history[-4:], features)


@impostor("skip_votes")
def sorts_the_voters(right: Any, history: Any, features: Any) -> Any:
    """It lists the votes by the number of the word, not in the order of the sentence.

    One survives: your voters stand in the order of their numbers.
    """
    return right([*sorted(history[:-1]), history[-1]], features)


@impostor("skip_votes")
def swaps_the_pair(right: Any, history: Any, features: Any) -> Any:
    """It asks the table for the pair (current, earlier).

    One survives: your table says the same about a pair and about the pair turned round.
    """
    return right(history, np.swapaxes(features, 0, 1))
