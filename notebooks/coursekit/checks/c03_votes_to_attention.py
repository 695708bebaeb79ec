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
_TABLE[0, 1], _TABLE[0, 0], _TABLE[1, 0] = [0, 0, 2 / 3, 1 / 3], [0, 1, 0, 0], [0, 0, 0, 1]


def _shape(value: Any, expected: Any, hint: Any) -> Any:
    """The value as an array of the expected shape, or the hint with both shapes."""
    array = numbers(value)
    ensure(array.shape == expected, f"the result has shape {array.shape}, but {expected} is expected: {hint}")
    return array


def _is(value: Any, other: Any) -> bool:
    """Whether a result is what a known slip makes of the input: shape and numbers."""
    return np.shape(value) == np.shape(other) and np.allclose(value, other)


@public_check("count_features")
def a_pair_with_two_outcomes_is_undecided(count_features: Any) -> None:
    """The sentences 0 1 2 and 0 1 3 make the pair (0, 1) undecided between 2 and 3."""
    axes = "the axes are earlier, current, next"
    table = np.array(_shape(count_features([[0, 1, 2], [0, 1, 3]], 4), (4, 4, 4), axes))
    ensure(
        not np.isnan(table).any(), "pairs that never occurred are nan (0 divided by 0): they should stay 0"
    )
    none = _shape(count_features([[2, 3]], 4), (4, 4, 4), axes)
    ensure(
        none[0, 1, :2].any() or not none[0, 1].any(),
        "called again with the sentence 2 3 alone, it still counts (0, 1): is the table made outside of the function? Then the "
        "counts of earlier calls stay in it",
    )
    ensure(
        not np.allclose(table[3, 3], 0.25),
        "the pair (3, 3) never occurred and has a quarter for each word: it should stay zero, so add nothing to the counts",
    )
    ensure(
        not table[2, 1, 3] or not table[2, 0, 1] or table[3].any(),
        "the second sentence should know nothing of the first: start each one afresh",
    )
    ensure(
        not table[2, 1, 2] or not table[2, 0, 1],
        "2 counts as earlier than 0 and 1, but it stands behind them: earlier is only what stands before the current word",
    )
    found = {tuple(cell) for cell in np.argwhere(table).tolist()}
    ensure(
        found == {(0, 1, 2), (0, 1, 3)} or {tuple(sorted(cell)) for cell in found} != {(0, 1, 2), (0, 1, 3)},
        "your axes stand in another order: the earlier word comes first, then the current one, then the next",
    )
    ensure(
        not np.allclose(table[0, 1], [0, 0, 1, 1]),
        "the pair (0, 1) has 1 for the word 2 and 1 for 3, and they sum to 2: divide each pair by the sum over its next words",
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
    table = _shape(
        count_features([list(range(12))], 16),
        (16, 16, 16),
        "V is 16, though only the words 0 to 11 are said here",
    )
    ensure(table[0, 2, 3] > 0, "word 0 stands before word 2, with word 1 between: this pair counts as well")
    ensure(
        table[0, 10, 11] > 0,
        "in the sentence 0 1 … 11 word 0 is earlier than word 10: no distance is too far",
    )
    close(
        table[[0, 0, 1], [1, 2, 2], [2, 3, 3]],
        [1, 1, 1],
        "the pairs (0, 1), (0, 2) and (1, 2) are sure of the next word",
    )
    close(table.sum(), 55.0, "55 pairs occurred, each sure of its next word; all other cells should be 0")


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
    close(table.sum(), 2.0, "only the pairs (0, 1) and (0, 0) occurred; every other cell should be 0")
    table = _shape(
        count_features([[0, 1, 0, 0, 0, 2, 0, 1, 0, 1]], 3), (3, 3, 3), "the axes are earlier, current, next"
    )
    close(
        table[:, 0],
        [[0.2, 0.6, 0.2], [1 / 3, 1 / 2, 1 / 6], [0, 1, 0]],
        "in 0 1 0 0 0 2 0 1 0 1 the pair (0, 0) is followed by 0 three times, by 1 nine times and by 2 three times",
    )


@public_check("count_features")
def a_pair_counts_where_a_word_follows(count_features: Any) -> None:
    """A pair counts wherever a word follows it, and only there, as often as it occurs."""
    axes = "the axes are earlier, current, next"
    row = _shape(count_features([[0, 1, 2], [3, 0, 1]], 4), (4, 4, 4), axes)[0, 1]
    ensure(
        not np.allclose(row, [0, 0, 0.5, 0]),
        "in 3 0 1 no word follows the pair (0, 1): there is nothing to count, and nothing to divide by",
    )
    close(row, [0, 0, 1, 0], "in 0 1 2 and 3 0 1 the pair (0, 1) is followed once, by 2")
    row = _shape(count_features([[0, 1, 2]] * 300 + [[0, 1, 3]] * 100, 4), (4, 4, 4), axes)[0, 1]
    ensure(
        not np.allclose(row, [0, 0, 44 / 144, 100 / 144]),
        "300 was counted as 44: whole numbers of eight bits begin again at 0 after 255; without a dtype NumPy takes larger ones",
    )
    close(row, [0, 0, 0.75, 0.25], "a pair that 2 follows 300 times and 3 follows 100 times has ¾ and ¼")


@public_check("skip_votes")
def each_earlier_word_has_a_row(skip_votes: Any) -> None:
    """Two earlier words have a row each, even if they are the same word."""
    votes = numbers(skip_votes([0, 0, 1], _TABLE))
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
def every_earlier_word_votes(skip_votes: Any) -> None:
    """Every earlier word votes, however far back, in the order of the sentence."""
    table = np.arange(64.0).reshape(4, 4, 4)
    table[3, 1] = 0  # a pair that never occurred
    row = {0: [4, 5, 6, 7], 1: [20, 21, 22, 23], 2: [36, 37, 38, 39], 3: [0, 0, 0, 0]}
    voters = [2, 0, 1, 3, 2, 0, 3, 2, 0, 3]
    votes = numbers(skip_votes(np.array([*voters, 1]), table))
    right = np.array([row[word] for word in voters])
    ensure(
        not _is(votes, right[np.array(voters) != 1]),
        "the history is 2 0 1 … 1: the current word also stands further up, and there it is a voter like the others",
    )
    ensure(
        not _is(votes, right[np.array(voters) != 3]),
        "the pair (3, 1) never occurred, but 3 is a voter: it has a row of zeros, so that a mask has an entry for each",
    )
    ensure(
        len(np.atleast_1d(votes)) in (0, 10) or not _is(votes, right[-len(votes) :]),
        f"only the last {len(np.atleast_1d(votes))} of ten voters have a row: every earlier word votes, however far back",
    )
    votes = _shape(votes, (10, 4), "ten earlier words, ten rows")
    ensure(not _is(votes, right[::-1]), "the rows are in the wrong order: row 0 is that of the first word")
    close(votes, right, "row i should be that of the pair of history[i] and the current word")


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
    close(skip_votes([1, 0], _TABLE), [[0, 0, 0, 1]], "with one earlier word there is one row")


def _masked(mask_votes: Any, votes: Any, mask: Any) -> Any:
    """The total, or a hint in words when the shapes do not fit together."""
    try:
        return numbers(mask_votes(votes, mask))
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
    """A weight of one half means half a vote, whatever the other weights are."""
    votes = np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5]])
    total = _shape(_masked(mask_votes, votes, [0.5, 1, 0]), (2,), "one total for each next word")
    ensure(not np.allclose(total, [0.5, 1.5]), "the first voter counted in full: multiply its row by 0.5")
    close(total, [0.25, 1.25], "half of [½, ½] plus [0, 1] is [¼, 1¼]")
    total = _shape(_masked(mask_votes, votes, [0.5, 0.125, 0]), (2,), "one total for each next word")
    ensure(
        not np.allclose(total, [0.5, 0.75]),
        "½ is the largest weight here, and it counted in full: weights are taken as they are, not compared with the largest",
    )
    ensure(
        not any(np.allclose(total, np.round([0.25, 0.375], places)) for places in range(3)),
        "the totals were rounded: [0.25, 0.375] stays as it is",
    )
    close(total, [0.25, 0.375], "half of [½, ½] plus an eighth of [0, 1] is [0.25, 0.375]")
    total = _shape(
        _masked(mask_votes, np.array([[2, 0], [1, 3]]), [0.5, 1]), (2,), "one total for each next word"
    )
    ensure(
        not np.allclose(total, [1, 3]),
        "with votes of whole numbers the weight ½ became 0: the mask is not cut to whole numbers",
    )
    close(total, [2, 3], "half of [2, 0] plus [1, 3] is [2, 3]")


@public_check("mask_votes")
def nobody_voting_gives_zeros(mask_votes: Any) -> None:
    """If nobody may vote, or nobody is there, all totals are zero."""
    votes = np.array([[0.5, 0.5], [0.0, 1.0]])
    close(mask_votes(votes, [False, False]), [0, 0], "with everybody silent the totals should be zero")
    total = _shape(
        mask_votes(votes[:0], []), (2,), "no voter is there, and there is still a total for each next word"
    )
    close(total, [0, 0], "without voters the totals should be zero")


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
def query_and_table_are_taken_as_they_are(mask_lookup: Any) -> None:
    """Query and table are taken as they are: any numbers, that add up to anything."""
    masks = np.array([[0, 3, -1], [2, 0, 1]])
    mask = _shape(mask_lookup(np.array([0.5, 0.25]), masks), (3,), "one mask for one query")
    ensure(
        not np.allclose(mask, [2 / 3, 2, -1 / 3]),
        "the query was divided by its sum first: multiply it with the table as it is",
    )
    ensure(
        not np.allclose(mask, 0),
        "½ and ¼ became 0: a query is not cut to whole numbers, though the table holds whole numbers here",
    )
    ensure(
        not np.allclose(mask, [0.5, 1, -0.25]), "the result is cut off at 1: leave it as the product gives it"
    )
    ensure(
        not np.allclose(mask, [0.25, 0.5, 0.25]),
        "every entry of the table above 0 counted as 1, and every other one as 0: a table may hold any numbers",
    )
    close(mask, [0.5, 1.5, -0.25], "½ · [0, 3, −1] + ¼ · [2, 0, 1] is [0.5, 1.5, −0.25]")
    mask = mask_lookup(np.array([2.0, 1.0]), masks)
    ensure(
        not _is(mask, [2 / 3, 2, -1 / 3]),
        "the query [2, 1] was divided by its sum first: multiply it with the table as it is",
    )
    close(mask, [2, 6, -1], "2 · [0, 3, −1] + [2, 0, 1] is [2, 6, −1]")
    square = np.array([[0, 3], [2, -1]])
    fetched = _shape(
        mask_lookup(np.array([[0.5, 0.25], [2.0, 1.0]]), square),
        (2, 2),
        "two queries, two masks of two entries",
    )
    close(
        fetched,
        [[0.5, 1.25], [2, 5]],
        "the queries [½, ¼] and [2, 1] for the rows [0, 3] and [2, −1] should fetch [0.5, 1.25] and [2, 5]",
    )


@public_check("pair_features")
def battery_and_ran_light_one_feature(pair_features: Any) -> None:
    """battery and ran, [1, 0, 1, 1], make the features [1, 0]."""
    W = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
    value = _shape(pair_features(np.array([1.0, 0.0, 1.0, 1.0]), W), (2,), "one value for each column of W")
    ensure(not np.allclose(value, [1, -1]), "the −1 of the product is still there: it should become 0")
    ensure(not np.allclose(value, [2, 0]), "the last entry of x, the bias, takes part in the product")
    ensure(not np.allclose(value, [1, 1]), "the −1 of the product became 1: negative values become 0")
    ensure(
        not np.allclose(value, [2, 1]),
        "[2, 1] comes out when negative numbers are removed before they are added up: first the product, then the ReLU",
    )
    ensure(
        not (np.isclose(value[0], 1) and -1 < value[1] < -1e-5),
        f"the −1 of the product became −{-value[1]:.3g}: negative values become 0, and no part of them is left",
    )
    close(value, [1, 0], "the product is [1, −1], and after the ReLU it is [1, 0]")
    close(pair_features(np.array([0.0, 1.0, 1.0, 1.0]), W), [0, 1], "for program and ran it should be [0, 1]")


@public_check("pair_features")
def large_values_stay(pair_features: Any) -> None:
    """Positive values stay as they are, large ones and small ones, in any number of rows."""
    x = np.array([[3.0, 2.25], [-1.0, 2.0], [0.0, 0.25]])
    W = np.array([[1.0, -1.0, 0.0], [2.0, 0.0, 1.0]])
    value = _shape(pair_features(x, W), (3, 3), "one row of features for each row of x")
    right = np.array([[7.5, 0, 2.25], [3, 1, 2], [0.5, 0, 0.25]])
    ensure(
        not np.allclose(value, right > 0),
        "your features are only 0 and 1: a positive value stays as large as it is",
    )
    ensure(
        _is(value, right) or not np.allclose(value, np.minimum(right, value.max())),
        f"values are cut off at {value.max():.3g}: only the negative ones are replaced",
    )
    ensure(
        not any(np.allclose(value, np.round(right, places)) for places in (0, 1)),
        "the features are rounded: 2.25 and 0.25 stay as they are",
    )
    ensure(
        not np.allclose(value, [[5, 0, 1], [1, 1, 1], [2, 0, 1]]),
        "the last entry of x was replaced by 1: it is already in place, and taken as it is",
    )
    close(value, right, "compare with x @ W: only its negative values should have changed")
    try:
        value = pair_features(x[:, None], W)
    except ValueError:
        raise Hint(
            "x of shape (3, 1, 2) ends in an error: any number of axes may stand in front of the last"
        ) from None
    close(
        _shape(value, (3, 1, 3), "the axes in front stay as they are"),
        right[:, None],
        "of x with three axes, each row should have its features",
    )
    single = numbers(pair_features(x[1], W))
    close(
        _shape(single, (3,), "one value for each column of W"),
        right[1],
        "a single row has the features that it has in a table",
    )
    whole = pair_features(np.array([[2, -3], [1, 4]]), np.array([[3, -1], [1, 2]]))
    close(
        whole, [[3, 0], [7, 7]], "x and W may hold whole numbers: [[3, −8], [7, 7]] becomes [[3, 0], [7, 7]]"
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
    """There is one ReLU, in the middle: votes may be negative, and features are any numbers above 0."""
    W1, W2 = np.array([[1.0, -1.0], [0.5, 0.5]]), np.array([[2, -1, 0], [1, -3, 1]])
    votes = _shape(feed_forward(np.array([2.0, 1.0]), W1, W2), (3,), "one vote for each column of W2")
    ensure(votes[1] != 0, "negative votes were cut off: there is no ReLU after the second matrix")
    ensure(not np.allclose(votes, [3.5, 2.0, -1.5]), "the ReLU between the two matrices is missing")
    ensure(not np.allclose(votes, [3.5, 2.0, 0]), "the ReLU comes after both matrices: it belongs between")
    ensure(
        not np.allclose(votes, [4, -2, 0]),
        "the feature 2.5 became 2: features are not cut to whole numbers, though W2 holds whole numbers here",
    )
    close(
        votes, [5, -2.5, 0], "x W1 is [2.5, −1.5], the ReLU makes it [2.5, 0], and W2 turns that into votes"
    )
    votes = numbers(feed_forward(np.array([0.0, 1.0]), W1, W2))
    ensure(not np.allclose(votes, 0), "a feature of 0.5 was lost: only negative values become 0")
    close(votes, [1.5, -2, 0.5], "x W1 is [0.5, 0.5], which stays, and W2 turns it into [1.5, −2, 0.5]")


@public_check("feed_forward")
def axes_in_front_stay(feed_forward: Any) -> None:
    """Axes in front of x stay, also with as many next words as entries in x."""
    W1, W2 = np.array([[1.0, -1.0], [0.5, 0.5]]), np.array([[2.0, -1.0], [1.0, 3.0]])
    x, right = np.array([[[1.0, 2.0]], [[0.0, 1.0]]]), np.array([[[4.0, -2.0]], [[1.5, 1.0]]])
    votes = _shape(feed_forward(x, W1, W2), (2, 1, 2), "the axes in front stay as they are")
    ensure(
        not np.allclose(votes, right + x),
        "x itself was added to the votes: the layer returns what comes out of the second matrix, and nothing more",
    )
    close(votes, right, "x W1 is [2, 0] and [0.5, 0.5], so the votes are [4, −2] and [1.5, 1]")
    close(
        feed_forward(x[:, 0], W1, W2),
        right[:, 0],
        "the same rows in a table of two should have the same votes",
    )
    votes = _shape(feed_forward(x[:1, 0], W1, W2), (1, 2), "a table of one row stays a table")
    close(votes, right[0], "a table of one row should have the votes of this row")


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
    heard = [word for word in history[:-1] if word != history[-1]]
    return right([*heard, history[-1]], features)


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
