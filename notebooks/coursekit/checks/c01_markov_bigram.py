"""Public checks of lab 01: Markov chains of words and letters."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import close, ensure, equal, numbers, public_check
from coursekit.checks.break_it import impostor

ALPHABET = ["<S>", *"abcdefghijklmnopqrstuvwxyz", "<E>"]
COMMANDS = ["show me my directories please", "show me my files please", "show me my photos please"]
REPORTS = ["check whether the battery ran down please", "check whether the program ran please"]


# ---------------------------------------------------------------------------------------------- normalise_rows


@public_check("normalise_rows")
def counts_become_probabilities(normalise_rows: Any) -> None:
    """A row of counts becomes a row of probabilities."""
    N = np.array([[2.0, 3.0, 5.0], [1.0, 0.0, 3.0]])
    P = numbers(normalise_rows(N))
    ensure(
        P.shape == (2, 3), f"a table of shape (2, 3) should give one of the same shape; yours is {P.shape}"
    )
    ensure(
        not np.allclose(P, N / N.sum(axis=0)),
        "your columns sum to 1: a row stands for the current word, so divide each row by its own sum",
    )
    ensure(
        not np.allclose(P, N / N.sum()),
        "the whole table sums to 1: divide each row by its own sum, not by the sum of everything",
    )
    ensure(
        not np.allclose(P, N / N.max(axis=1, keepdims=True)),
        "the largest entry of each row is 1: divide by the sum of the row, not by its largest count",
    )
    close(P, [[0.2, 0.3, 0.5], [0.25, 0, 0.75]], "the counts 2, 3, 5 should become 0.2, 0.3, 0.5")


@public_check("normalise_rows")
def an_empty_row_stays_zero(normalise_rows: Any) -> None:
    """A row that was never seen stays zero."""
    with np.errstate(all="ignore"):
        P = numbers(normalise_rows(np.array([[0, 0, 0], [0, 1, 3], [0, 0, 0]])))
    ensure(
        not np.isnan(P).any(), "a row without counts became nan (0/0): divide only where the sum is not zero"
    )
    close(
        P,
        [[0, 0, 0], [0, 0.25, 0.75], [0, 0, 0]],
        "the two rows without counts should stay zero, and 0, 1, 3 become 0, 1/4, 3/4: only a row whose sum is 0 is empty",
    )


@public_check("normalise_rows")
def counts_need_not_be_whole(normalise_rows: Any) -> None:
    """Counts may be fractions, and as small as they like."""
    P = numbers(normalise_rows(np.array([[0.1, 0.3], [1e-9, 3e-9]])))
    ensure(
        P.shape == (2, 2), f"a table of shape (2, 2) should give one of the same shape; yours is {P.shape}"
    )
    close(
        P,
        [[0.25, 0.75]] * 2,
        f"the rows 0.1, 0.3 and 1e-9, 3e-9 should become 0.25, 0.75, but yours sum to {P[0].sum():.4g} and {P[1].sum():.4g}: "
        "divide each by its own sum, with nothing added to it and however small it is",
        rtol=1e-4,
    )
    wide = np.array([[0, 0, 0, 0, 0], [3, 0, 1, 0, 4], [0, 0, 0, 0, 0], [0, 20000, 60000, 0, 0]])
    for table in (
        wide,
        wide.T,
        wide * 1e-5,
        wide.T * 1e-5,
        wide[:, :1],
        wide[:1],
        wide[1:2],
        wide[:, :3] * 0.25,
    ):
        P, total = numbers(normalise_rows(table.copy(order="K"))), table.sum(axis=1, keepdims=True)
        what = f"a table of shape {table.shape} with counts up to {table.max():g}, some rows without any"
        ensure(P.shape == table.shape, f"{what}, should give one of the same shape; yours is {P.shape}")
        ensure(not np.isnan(P).any(), f"{what}, should not give nan: a row without counts stays zero")
        close(
            P * total,
            table,
            f"{what}: what comes out, times the sum of the row, should be the counts",
            rtol=1e-4,
        )
        close(
            P.sum(axis=1), (total > 0)[:, 0], f"{what}: each row should sum to 1, or to 0 where it is empty"
        )


# ------------------------------------------------------------------------------------------- transition_matrix


def _vocabulary_and_table(result: Any, parts: str, count: int) -> Any:
    ensure(result is not None, "your function returns None: end it with a return")
    ensure(
        isinstance(result, (tuple, list)) and len(result) == count,
        f"return {count} things, separated by commas: {parts}",
    )
    return result


@public_check("transition_matrix")
def the_vocabulary_is_sorted(transition_matrix: Any) -> None:
    """The vocabulary is the seven words in alphabetical order."""
    words, _ = _vocabulary_and_table(transition_matrix(COMMANDS, [0.2, 0.3, 0.5]), "vocabulary, P", 2)
    expected = ["directories", "files", "me", "my", "photos", "please", "show"]
    ensure(sorted(set(words)) == expected, "the vocabulary should hold each word of the sentences once")
    equal(list(words), expected, "the vocabulary should be in alphabetical order: sorted(…)")


@public_check("transition_matrix")
def my_branches(transition_matrix: Any) -> None:
    """After “my” come directories, files and photos with .2, .3 and .5."""
    words, P = _vocabulary_and_table(transition_matrix(COMMANDS, [0.2, 0.3, 0.5]), "vocabulary, P", 2)
    P, words = np.asarray(P, dtype=float), list(words)
    ensure(P.shape == (7, 7), f"P should be (7, 7), one row and one column a word; yours is {P.shape}")
    follow = [words.index(word) for word in ("directories", "files", "photos")]
    row, column = P[words.index("my"), follow], P[follow, words.index("my")]
    ensure(column.sum() == 0, "your table is turned around: the row is the current word, the column the next")
    ensure(
        not np.allclose(row, 1 / 3),
        "the three come out equally likely: add the sentence's weight, not 1, for each pair",
    )
    close(row, [0.2, 0.3, 0.5], "the row of “my” should hold .2, .3 and .5")


@public_check("transition_matrix")
def rows_sum_to_one_or_zero(transition_matrix: Any) -> None:
    """Each row sums to one, and the row of “please” to zero."""
    words, P = _vocabulary_and_table(transition_matrix(COMMANDS, [20, 30, 50]), "vocabulary, P", 2)
    P, words = numbers(P), list(words)
    ensure(P.shape == (7, 7), f"P should be (7, 7), one row and one column a word; yours is {P.shape}")
    last = P[words.index("please")]
    ensure(
        not np.isnan(last).any(),
        "the row of “please” became nan (0/0): nothing follows it, so its row stays zero",
    )
    ensure(
        last[words.index("show")] == 0 or last[words.index("me")] != 0,
        "“show” follows “please” in your table: pairs must not reach from one sentence into the next",
    )
    ensure(
        np.allclose(last, 0),
        "the row of “please” should be zero: no sentence goes on after it, so nothing is known of what comes next",
    )
    sums = dict(zip(words, P.sum(axis=1), strict=True))
    ensure(sums["show"] > 0, "nothing follows “show” in your table: is the row the current word?")
    sums.pop("please")
    for word, total in sums.items():
        ensure(
            abs(total - 1) < 1e-5,
            f"the row of “{word}” sums to {total:.3g}: normalise the rows after counting",
        )


@public_check("transition_matrix")
def sentences_of_several_lengths(transition_matrix: Any) -> None:
    """A sentence may have a single word, and each pair adds the whole weight of its sentence."""
    words, P = _vocabulary_and_table(
        transition_matrix(["hello", "go on", "go up to the top"], [5, 1, 1]), "vocabulary, P", 2
    )
    equal(
        list(words),
        ["go", "hello", "on", "the", "to", "top", "up"],
        "“hello” is a sentence of one word: it has no pair, but the word belongs to the vocabulary",
    )
    row = numbers(P)[0]
    ensure(
        not np.allclose(row[[2, 6]], [0.8, 0.2]),
        "“go on” counts more than the “go up” of a longer sentence: each pair adds the whole weight of its sentence",
    )
    close(
        row[[2, 6]], [0.5, 0.5], "“go on” and “go up” were said with the same weight, so each should have 0.5"
    )


@public_check("transition_matrix")
def a_word_that_also_ends_a_sentence(transition_matrix: Any) -> None:
    """A word that sometimes ends a sentence still has a row that sums to one."""
    words, P = _vocabulary_and_table(transition_matrix(["go on", "come go"], [1, 1]), "vocabulary, P", 2)
    place = [list(words).index(word) for word in ("come", "go", "on")]
    row = np.asarray(P, dtype=float)[place[1], place]
    ensure(row[0] == 0, "after “go” comes “on”; “come” stands before it: the row is the current word")
    close(
        row, [0, 0, 1], "divide the row of “go” by how often something follows it, not by how often it occurs"
    )


# ------------------------------------------------------------------------------------------------ second_order


def _pairs(contexts: Any) -> list[Any]:
    """The contexts as tuples, or a hint."""
    pairs = list(contexts)
    ensure(
        not any(isinstance(pair, str) for pair in pairs),
        "a context of yours is one string: it should be a pair of two words, (a, b)",
    )
    ensure(
        all(isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2 for pair in pairs),
        "each context should be a pair of two words, (a, b)",
    )
    return [tuple(str(word) for word in pair) for pair in pairs]


@public_check("second_order")
def the_contexts_are_pairs_in_order(second_order: Any) -> None:
    """The contexts are the pairs that some word follows, as spoken, sorted."""
    result = second_order(REPORTS[1:], [1])
    contexts, _, _ = _vocabulary_and_table(result, "contexts, vocabulary, P", 3)
    got = _pairs(contexts)
    ensure(
        ("whether", "check") not in got,
        "your pairs are turned around: the earlier word comes first, (check, whether)",
    )
    ensure(
        ("ran", "please") not in got,
        "(ran, please) ends the sentence: a pair that nothing follows has no row",
    )
    expected = [("check", "whether"), ("program", "ran"), ("the", "program"), ("whether", "the")]
    ensure(
        set(got) == set(expected),
        "the contexts should be exactly the pairs of neighbours that a word follows",
    )
    equal(got, expected, "sort the contexts, each once: sorted(…)")


@public_check("second_order")
def battery_ran_down(second_order: Any) -> None:
    """“battery ran” knows “down”, and “program ran” knows “please”."""
    result = second_order(REPORTS, [0.4, 0.6])
    contexts, words, P = _vocabulary_and_table(result, "contexts, vocabulary, P", 3)
    contexts, words, P = _pairs(contexts), list(words), numbers(P)
    ensure(
        ("down", "please") not in contexts or ("please", "check") not in contexts,
        "(please, check) is a context of yours: neighbours must not reach from one sentence into the next",
    )
    ensure(
        P.shape == (7, 8),
        f"P should be (7, 8), a row for each context and a column for each word; yours is {P.shape}",
    )
    ensure(
        ("battery", "ran") in contexts and ("program", "ran") in contexts,
        "(battery, ran) and (program, ran) should each be a context with a row of its own",
    )
    for pair, word in ((("battery", "ran"), "down"), (("program", "ran"), "please")):
        row = P[contexts.index(pair)]
        ensure(
            row.sum() == 0 or abs(row.sum() - 1) < 1e-5,
            f"the row of ({', '.join(pair)}) sums to {row.sum():.3g}: normalise the rows after counting",
        )
        close(row, np.eye(8)[words.index(word)], f"after {' '.join(pair)} only “{word}” ever comes")


@public_check("second_order")
def one_row_has_to_guess(second_order: Any) -> None:
    """Only the row “whether the” has fractions, .4 and .6."""
    result = second_order(REPORTS, [4, 6])
    contexts, words, P = _vocabulary_and_table(result, "contexts, vocabulary, P", 3)
    contexts, words, P = _pairs(contexts), list(words), numbers(P)
    row = P[contexts.index(("whether", "the"))] if ("whether", "the") in contexts else np.zeros(len(words))
    got = [row[words.index("battery")], row[words.index("program")]]
    close(
        got,
        [0.4, 0.6],
        "after “whether the” battery has .4 and program .6: use the weights, then normalise each row",
    )
    others = [i for i, pair in enumerate(contexts) if pair != ("whether", "the")]
    close(P[others].max(axis=1), np.ones(len(others)), "every other row should be certain")


@public_check("second_order")
def what_comes_again_adds_up(second_order: Any) -> None:
    """Three neighbours that come again add up, also in one sentence; a short sentence has words, too."""
    sentences = ["no no no yes", "no no yes", "so what"]
    contexts, words, P = _vocabulary_and_table(
        second_order(sentences, [1, 2, 5]), "contexts, vocabulary, P", 3
    )
    equal(
        list(words),
        ["no", "so", "what", "yes"],
        "the vocabulary should hold all words, sorted, also those of the short sentence “so what”: no, so, what, yes",
    )
    contexts, P = _pairs(contexts), numbers(P)
    ensure(("no", "no") in contexts, "(no, no) should be a context")
    row = P[contexts.index(("no", "no"))]
    ensure(
        not np.allclose(row, [1 / 3, 0, 0, 2 / 3]),
        "after (no, no) comes “yes” with the weights 1 and 2, and that makes 3: add each weight to what is there, with +=",
    )
    close(
        row, [0.25, 0, 0, 0.75], "after (no, no) comes “no” with weight 1 and “yes” with 1 + 2: 0.25 and 0.75"
    )
    contexts, words, P = second_order(["so it is", "so it", "so it was", "so it is"], [1, 1, 2, 1])
    ensure(("so", "it") in _pairs(contexts), "(so, it) should be a context: “is” and “was” follow it")
    row = numbers(P)[_pairs(contexts).index(("so", "it"))]
    close(
        row.sum(),
        1,
        f"the row of (so, it) sums to {row.sum():.3g}: divide by how often a word follows the pair, not by how often it occurs",
    )
    close(
        row[[list(words).index("is"), list(words).index("was")]],
        [0.5, 0.5],
        "“so it is” is listed twice with weight 1, so after (so, it) it weighs as much as “so it was” with 2",
    )
    contexts, words, P = _vocabulary_and_table(second_order(["go on"], [1]), "contexts, vocabulary, P", 3)
    ensure(len(contexts) == 0, "“go on” has no three words, so no context: the list should be empty")
    shape = np.shape(P)
    ensure(
        shape == (0, 2) or isinstance(P, (list, tuple)),
        f"where no sentence has three words P should have the shape (0, V), here (0, 2); yours is {shape}",
    )
    contexts, words, P = second_order(["to be to be to go"], [2])
    row = numbers(P)[_pairs(contexts).index(("be", "to"))]
    close(
        row[[list(words).index("be"), list(words).index("go")]],
        [0.5, 0.5],
        "in “to be to be to go” (be, to) is followed by “be” once and by “go” once",
    )
    row = numbers(second_order(["a b c a b c a b d"], [2])[2])[0]
    close(
        row,
        [0, 0, 2 / 3, 1 / 3],
        "in “a b c a b c a b d” (a, b) is followed by c twice and by d once: count each time it occurs",
    )
    for sentences, weights in (
        (["to  go on ", "to go on", "to go up", "to go on"], np.array([100.0, 300, 900, 500])),
        (["to go on", "to go on", "to go on", "stop", "to go up"], (1e-4, 1e-4, 1e-4, 1e-4, 3e-4)),
    ):
        contexts, words, P = _vocabulary_and_table(
            second_order(sentences, weights), "contexts, vocabulary, P", 3
        )
        what = f"in {sentences} with the weights {[float(w) for w in weights]}"
        equal(_pairs(contexts), [("to", "go")], f"{what} only (to, go) goes on")
        expected = sorted(set(" ".join(sentences).split()))
        equal(list(words), expected, f"the words of {sentences} are {expected}: .split() alone gives them")
        row = [0.5 if word in ("on", "up") else 0 for word in expected]
        close(P, [row], f"{what} “on” and “up” are equally likely after (to, go)")
    contexts, words, P = second_order(["go go go go go"], [0.5])
    equal(_pairs(contexts), [("go", "go")], "“go go go go go” has one context, (go, go)")
    close(P, [[1]], "in “go go go go go” only “go” follows (go, go)")
    contexts, words, P = second_order(["stop", "come", "stop"], [1, 1, 1])
    ensure(len(contexts) == 0, "sentences of one word have no context")
    equal(list(words), ["come", "stop"], "sentences of one word each have words, too")


# ----------------------------------------------------------------------------------------------- bigram_counts


@public_check("bigram_counts")
def ava_has_four_pairs(bigram_counts: Any) -> None:
    """“ava” has four pairs, with the start and the end."""
    N = bigram_counts(["ava"])
    ensure(N is not None, "your function returns None: end it with a return")
    N = numbers(N)
    ensure(N.shape == (28, 28), f"the table should be (28, 28), one row a token; yours is {N.shape}")
    turned = bool(N[1, 0] > 0 and N[27].sum() > 0)
    ensure(not turned, "your table is turned around: the row is the current token")
    ensure(N[0].sum() > 0, 'nothing follows <S> in your table: put "<S>" before each name')
    ensure(N[:, 27].sum() > 0, 'nothing leads to <E> in your table: put "<E>" after each name')
    ensure(N[:, 0].sum() == 0 and N[27].sum() == 0, "nothing comes before <S>, and nothing follows <E>")
    ensure(N.sum() == 4, f"“ava” has 4 pairs, but your table counts {N.sum():g}")
    expected = np.zeros((28, 28))
    for pair in (("<S>", "a"), ("a", "v"), ("v", "a"), ("a", "<E>")):
        expected[ALPHABET.index(pair[0]), ALPHABET.index(pair[1])] = 1
    close(N, expected, "a pair lies in the wrong cell: N[INDEX[current], INDEX[following]]")


@public_check("bigram_counts")
def counts_add_up(bigram_counts: Any) -> None:
    """Counts of several names add up, and a name that stands there twice counts twice."""
    N = numbers(bigram_counts(["anna", "hannah", "anna"]))
    ensure(N.shape == (28, 28), "the table should be (28, 28)")
    ensure(N[14, 14] != 2, "“nn” should count 3 here: a name that stands in the list twice counts twice")
    close(N[14, 14], 3, "“nn” occurs three times: add 1 for each occurrence")
    ensure(
        N[27].sum() == 0, "something follows <E> in your table: no pair reaches from one name into the next"
    )
    close(N.sum(), 17, "a name of n letters has n + 1 pairs, so 17 here in all")
    N = numbers(bigram_counts(["o", ""]))
    ensure(N[0, 15] == N[15, 27] == 1, "a name of one letter, “o”, has two pairs: (<S>, o) and (o, <E>)")
    ensure(N[0, 27] == 1, "a name without letters has one pair, (<S>, <E>): a chain may well draw it")
    close(N.sum(), 3, f"“o” and the empty name have 2 + 1 pairs, but your table counts {N.sum():g}")


# ------------------------------------------------------------------------------------------------- sample_name


def _chain(*steps: Any) -> Any:
    """A (28, 28) table with the given (current, next, probability)."""
    P = np.zeros((28, 28))
    for current, following, probability in steps:
        P[ALPHABET.index(current), ALPHABET.index(following)] = probability
    return P


@public_check("sample_name")
def a_certain_chain(sample_name: Any) -> None:
    """A chain without choices spells its only name."""
    P = _chain(("<S>", "m", 1), ("m", "i", 1), ("i", "a", 1), ("a", "<E>", 1))
    name = sample_name(P, np.random.default_rng(1))
    ensure(isinstance(name, str), 'return the name as one string: "".join(letters)')
    ensure("<" not in name, "leave <S> and <E> out of the name")
    ensure(
        name.lower() != "mia" or name == "mia",
        "the letters stay as they are in ALPHABET: “mia”, not “" + name + "”",
    )
    ensure(
        not (name and set(name) == {"m"}),
        f"a chain that can only spell “mia” gave “{name[:20]}”: after each draw, go on from the token drawn",
    )
    ensure(
        name != "mi",
        "a chain that can only spell “mia” gave “mi”: the letter that is drawn before <E> belongs to the name",
    )
    ensure(
        name != "",
        "a chain that can only spell “mia” gave an empty name: is the next token drawn with the row of the current one?",
    )
    equal(name, "mia", f"a chain that can only spell “mia” gave “{name[:20]}”")


@public_check("sample_name")
def a_fair_choice_is_fair(sample_name: Any) -> None:
    """A choice of 3 to 1 comes out about 3 to 1."""
    P = _chain(("<S>", "a", 0.75), ("<S>", "b", 0.25), ("a", "<E>", 1), ("b", "<E>", 1))
    rng = np.random.default_rng(2)
    names = [sample_name(P, rng) for _ in range(400)]
    share = names.count("a") / 400
    seen = sorted(set(names))
    ensure(
        len(seen) > 1,
        f"“a” and “b” are possible, but 400 calls with one rng gave only “{seen[0][:20]}”: each letter is drawn, from that rng",
    )
    equal(seen, ["a", "b"], f"only “a” and “b” are possible here, but these came up: {seen[:5]}")
    ensure(
        0.65 < share < 0.85,
        f"a letter with probability .75 came up in {share:.0%} of the names: draw with p=P[current]",
    )


@public_check("sample_name")
def randomness_comes_from_rng(sample_name: Any) -> None:
    """The same generator state gives the same name."""
    P = np.full((28, 28), 1 / 27)
    P[:, 0] = 0
    first, again = (sample_name(P, np.random.default_rng(5)) for _ in range(2))
    equal(first, again, "two generators in the same state gave two names: draw from rng, not from np.random")


@public_check("sample_name")
def a_name_may_be_long(sample_name: Any) -> None:
    """Letters may come again, and a name is as long as the table lets it be."""
    P = _chain(("<S>", "a", 1), ("a", "a", 0.49), ("a", "b", 0.49), ("a", "<E>", 0.02), ("b", "a", 1))
    rng = np.random.default_rng(4)
    lengths = [len(sample_name(P, rng)) for _ in range(100)]
    ensure(
        max(lengths) > 2,
        "“a” may follow “a” and “b” here, but no letter of yours comes twice in a name: each draw uses its row of P as it is",
    )
    ensure(
        max(lengths) > 100,
        f"names should be 75 letters long on average here, but the longest of 100 has {max(lengths)}: a name ends with <E> and only "
        "there",
    )


@public_check("sample_name")
def the_empty_name_is_a_name(sample_name: Any) -> None:
    """When the very first draw is the end, the name is empty."""
    P = _chain(("<S>", "<E>", 0.5), ("<S>", "a", 0.5), ("a", "<E>", 1))
    rng = np.random.default_rng(3)
    names = {sample_name(P, rng) for _ in range(60)}
    ensure(
        "" in names,
        'the first draw is <E> half of the time here, but no name came out empty: return "" then',
    )
    equal(
        names, {"", "a"}, f"only “a” and the empty name are possible here, but these came up: {sorted(names)}"
    )
    P = _chain(("<S>", "a", 1), ("a", "<S>", 0.5), ("a", "<E>", 0.496), ("a", "z", 0.004), ("z", "<E>", 1))
    drawn = [sample_name(P, rng) for _ in range(3000)]
    ensure(
        any("a<S>a" in name for name in drawn),
        f"this table allows <S> after “a”, and an <S> in the middle is written like any other token: “a<S>a”; yours are {drawn[:4]}",
    )
    ensure(
        any(name.endswith("z") for name in drawn),
        "a letter with probability .004 never came in 3,000 names of two letters and more: draw with the row as it is",
    )


# ------------------------------------------------------------------------------------------------- average_nll


def _number(value: Any) -> Any:
    ensure(value is not None, "your function returns None: end it with a return")
    array = numbers(value).astype(float)
    ensure(array.size == 1, f"the result should be one number; yours has shape {array.shape}")
    return float(array.reshape(()))


@public_check("average_nll")
def one_letter_by_hand(average_nll: Any) -> None:
    """The list [“a”] costs (ln 2 + ln 4)/2 = 1.04 a step."""
    P = _chain(("<S>", "a", 0.5), ("<S>", "b", 0.5), ("a", "<E>", 0.25), ("a", "b", 0.75), ("b", "<E>", 1))
    nll = _number(average_nll(P, ["a"]))
    ensure(
        not np.isnan(nll),
        "the result is nan (0 · ∞): this table holds zeros at steps that no name takes; look only at the steps that are taken",
    )
    ensure(nll >= 0, "the result is negative: mind the minus sign before the sum")
    ensure(
        not np.isclose(nll, 3 * np.log(2)) or not np.isclose(average_nll(P, ["ab"]), -np.log(0.375) / 2),
        "you divide by the number of letters: a name of n letters has n + 1 steps, for its end is one",
    )
    ensure(
        not np.isclose(nll, 3 * np.log(2)),
        "that is the sum over the steps: divide by the number of steps, 2 here",
    )
    ensure(not np.isclose(nll, 1.5), "that is in bits: use the natural logarithm, np.log")
    ensure(
        not np.isclose(nll, np.log(2)) or not np.isclose(average_nll(P, ["ab"]), -np.log(0.375) / 4),
        "you divide by the number of tokens: between the n + 2 tokens of a name lie n + 1 steps",
    )
    ensure(not np.isclose(nll, np.log(2)), "that is the first step alone: the step to <E> counts as well")
    ensure(not np.isclose(nll, np.log(4)), "that is the last step alone: the step from <S> counts as well")
    close(nll, 1.5 * np.log(2), "it should be (ln 2 + ln 4)/2 = 1.0397")


@public_check("average_nll")
def the_average_is_over_steps(average_nll: Any) -> None:
    """The average is over all steps of all names, not over names."""
    P = _chain(("<S>", "a", 0.5), ("<S>", "b", 0.5), ("a", "<E>", 0.25), ("a", "b", 0.75), ("b", "<E>", 1))
    nll = _number(average_nll(P, ["a", "ab"]))
    costs = -np.log([0.5, 0.25]), -np.log([0.5, 0.75, 1])
    ensure(
        not np.isclose(nll, (costs[0].mean() + costs[1].mean()) / 2),
        "that is an average of the names' averages: add up all steps, then divide once, by 5 here",
    )
    close(
        nll,
        np.concatenate(costs).mean(),
        "the list [“a”, “ab”] has 2 + 3 steps: add all their costs and divide by 5",
    )


@public_check("average_nll")
def an_impossible_step_is_infinite(average_nll: Any) -> None:
    """A name with an impossible step makes the result infinite."""
    P = _chain(("<S>", "a", 1), ("a", "<E>", 1))
    with np.errstate(all="ignore"):
        try:
            nll = _number(average_nll(P, ["a", "b"]))
        except ValueError as error:
            ensure(
                "math domain" not in str(error),
                "math.log(0) raises an error: where P is 0 the result is np.inf",
            )
            raise
    ensure(
        not np.isnan(nll), "the result is nan: an impossible step costs −ln 0 = ∞, and the average with it"
    )
    ensure(
        not np.isclose(nll, 0),
        "the steps with probability 0 are left out, or cost nothing: each costs −ln 0 = ∞",
    )
    ensure(
        np.isinf(nll) and nll > 0,
        f"a step with probability 0 makes the result np.inf, but it is {nll:.4g}: is a small number added in the log?",
    )


@public_check("average_nll")
def long_lists_and_rare_steps(average_nll: Any) -> None:
    """A long list does not become infinite, nor does a rare step."""
    P = _chain(("<S>", "a", 0.5), ("<S>", "b", 0.5), ("a", "<E>", 0.25), ("a", "b", 0.75), ("b", "<E>", 1))
    with np.errstate(all="ignore"):
        nll = _number(average_nll(P, ["a"] * 2000))
    ensure(
        not np.isinf(nll),
        "a list of 2,000 names costs ∞: a product of so many probabilities becomes 0 in a computer; add logarithms instead",
    )
    close(nll, 1.5 * np.log(2), "2,000 times the same name costs as much a step as that name alone")
    P = _chain(
        ("<S>", "a", 1e-12), ("<S>", "b", 1 - 1e-12), ("a", "<E>", 0.5), ("a", "a", 0.5), ("b", "<E>", 1)
    )
    nll = _number(average_nll(P, ["a"]))
    cost = np.log(2e12) / 2
    close(
        nll,
        cost,
        f"a step with P = 1e-12 is rare and not impossible: “a” should cost (27.63 + 0.69)/2 = {cost:.2f} a step, not {nll:.3g}",
    )
    P[0, 1], P[0, 2], P[0, 27] = 0.25, 0.5, 0.25
    nll = _number(average_nll(P, ["", "a"]))
    close(
        nll,
        5 * np.log(2) / 3,
        f"a name without letters is one step, from <S> to <E>: 5 ln 2 / 3 = 1.155, not {nll:.3g}",
    )
    with np.errstate(all="ignore"):
        nll = _number(average_nll(P, ["a" * 1500]))
    ensure(
        not np.isinf(nll),
        "a name of 1,500 letters costs ∞: the product of its probabilities becomes 0 in a computer; add logarithms instead",
    )
    close(
        nll,
        1502 * np.log(2) / 1501,
        f"a name of 1,500 times “a” takes a step of ln 4 and 1,500 of ln 2, so 0.694 each on average and not {nll:.3g}: a step counts "
        "each time it is taken",
    )


@public_check("bigram_counts")
def a_pair_that_occurs_twice_counts_twice(bigram_counts: Any) -> None:
    """A pair that occurs twice in one name counts twice."""
    N = np.asarray(bigram_counts(["banana"]))
    ensure(N.shape == (28, 28), f"the table has shape {N.shape}; 28 tokens make 28 rows and 28 columns")
    ensure(N[1, 14] == 2, f"“an” occurs twice in banana, but you counted {N[1, 14]:g}")


@public_check("average_nll")
def a_name_listed_twice_counts_twice(average_nll: Any) -> None:
    """A name that stands in the list twice counts twice."""
    P = np.zeros((28, 28))
    P[0, 1], P[0, 2], P[1, 27], P[2, 27] = 0.75, 0.25, 1, 1
    expected = -(2 * np.log(0.75) + np.log(0.25)) / 6
    close(
        average_nll(P, ["a", "a", "b"]), expected, "every name of the list counts, also one that comes again"
    )
    P[0, 27], P[0, 1], P[0, 2] = 0.5, 0.3, 0.2
    for names, steps in ((["", "", "a"], 4), ([""], 1), (["b", "", "b", ""], 6)):
        cost = -sum(np.log({"": 0.5, "a": 0.3, "b": 0.2}[name]) for name in names) / steps
        value = _number(average_nll(P, names))
        close(
            value, cost, f"{names} takes {steps} steps, which cost {cost:.4g} on average and not {value:.4g}"
        )
    even = np.full((28, 28), 1 / 28)
    for names in (["q"], [""], ["banana"], ["az" * 60], ["o", "", "o", "anna"]):
        shown = str(names) if len(str(names)) < 60 else "a name of 120 letters"
        close(
            _number(average_nll(even, names)),
            np.log(28),
            f"in a table of 1/28 everywhere each step costs ln 28, and so does the average of {shown}",
        )
    with np.errstate(all="ignore"):
        for names in (["ab"], ["q", "q"], ["a", "", "ba"]):
            value = _number(average_nll(P, names))
            ensure(
                np.isposinf(value),
                f"{names} takes a step with P = 0, so the result is np.inf, and not {value:.4g}",
            )
    P[0] = np.eye(28)[1]
    close(_number(average_nll(P, ["a", "a"])), 0, "names that are certain cost 0", atol=1e-6)


@public_check("transition_matrix")
def a_sentence_listed_twice_counts_with_both_weights(transition_matrix: Any) -> None:
    """A sentence that stands in the list twice counts with both weights."""
    words, P = _vocabulary_and_table(
        transition_matrix(["go on", "go up", "go on"], [0.15, 0.3, 0.15]), "vocabulary, P", 2
    )
    place = [list(words).index(word) for word in ("go", "on", "up")]
    row = np.asarray(P, dtype=float)[place[0], place[1:]]
    ensure(abs(row.sum() - 1) < 1e-6, f"the row of “go” should sum to 1, but sums to {row.sum():.3g}")
    close(
        row,
        [0.5, 0.5],
        "“go on” is listed twice with weight 0.15, so it weighs as much as “go up” with 0.3: add each sentence's own weight, as it is",
    )


@public_check("transition_matrix")
def a_pair_said_twice_in_a_sentence_counts_twice(transition_matrix: Any) -> None:
    """A pair that occurs twice in one sentence counts twice."""
    words, P = _vocabulary_and_table(transition_matrix(["row row row home"], [2]), "vocabulary, P", 2)
    place = [list(words).index(word) for word in ("row", "home")]
    row = np.asarray(P, dtype=float)[place[0], place]
    ensure(
        not np.allclose(row, 0.5),
        "“row row row home” holds the pair (row, row) twice and (row, home) once, yet they come out equally likely",
    )
    close(
        row,
        [2 / 3, 1 / 3],
        "in “row row row home” the row of “row” should hold 2/3 for itself and 1/3 for “home”",
    )
    for sentences, weights in (
        (["go  on ", "go on", "go up", "go on"], np.array([100.0, 300, 900, 500])),
        (["go on", "go on", "go on", "stop", "go up"], (1e-4, 1e-4, 1e-4, 1e-4, 3e-4)),
        (["on go on go up go up"], [0.25]),
        (["on go on go up go up"], [250]),
    ):
        words, P = _vocabulary_and_table(transition_matrix(sentences, weights), "vocabulary, P", 2)
        expected = sorted(set(" ".join(sentences).split()))
        equal(list(words), expected, f"the words of {sentences} are {expected}: .split() alone gives them")
        place = [expected.index(word) for word in ("go", "on", "up")]
        row = numbers(P)[place[0], place]
        what = f"in {sentences} with the weights {[float(w) for w in weights]}"
        share = 1 / 3 if len(sentences) == 1 else 0.5
        close(
            row,
            [0, share, 1 - share],
            f"{what} the row of “go” should be {share:.3g} for “on” and {1 - share:.3g} for “up”",
        )
    for weights in ([1, 3], [3, 1]):
        row = numbers(transition_matrix(["go on", "go up"], weights)[1])[0]
        shares = [0, weights[0] / 4, weights[1] / 4]
        close(
            row,
            shares,
            f"“go on” and “go up” have the weights {weights} here: each call has weights of its own",
        )
    words, P = _vocabulary_and_table(
        transition_matrix(["stop", "stop", "come"], [1, 1, 1]), "vocabulary, P", 2
    )
    equal(list(words), ["come", "stop"], "sentences of one word each have words, too")
    close(P, np.zeros((2, 2)), "where no sentence has two words, P should be all zeros, (2, 2) for two words")


@public_check("bigram_counts")
def no_names_and_very_many(bigram_counts: Any) -> None:
    """A letter may come three times in a row, a pair hundreds of times; no names leave an empty table."""
    N = numbers(bigram_counts(["aaa"]))
    ensure(N[1, 1] == 2, f"in “aaa” the pair (a, a) comes twice, but you counted {N[1, 1]:g}")
    names = ["ab" + third + fourth for third in ALPHABET[3:27] for fourth in ALPHABET[3:27]] * 4
    counted = numbers(bigram_counts(names))[1, 2]
    ensure(
        counted not in (0, 2048),
        f"in 2,304 names that begin with “ab” you counted the pair (a, b) {counted:g} times: an array of a short dtype, such as uint8 "
        "or float16, cannot count that far",
    )
    ensure(
        counted == 2304, f"in 2,304 names that begin with “ab” you counted the pair (a, b) {counted:g} times"
    )
    close(bigram_counts([]), np.zeros((28, 28)), "without any names the table should be all zeros")
    N = numbers(bigram_counts(["", "o", "", "o", "az" * 60 + "zz", "o"]))
    ensure(N[0, 27] == 2, f"two names without letters have (<S>, <E>) twice, but you counted {N[0, 27]:g}")
    ensure(
        N[0, 15] == N[15, 27] == 3,
        "“o” is listed three times, so (<S>, o) and (o, <E>) count three times each",
    )
    found = [N[1, 26], N[26, 1], N[26, 26]]
    close(
        found, [60, 59, 2], "60 times “az”, then “zz”, has (a, z) 60 times, (z, a) 59 times and (z, z) twice"
    )
    close(N.sum(), 131, f"the names have 2 + 6 + 123 pairs in all, but your table counts {N.sum():g}")
    for name in ("", "q", "banana"):
        total = numbers(bigram_counts([name])).sum()
        close(
            total, len(name) + 1, f"“{name}” alone has {len(name) + 1} pairs, but your table counts {total:g}"
        )


# ------------------------------------------------------------------------------------- Break it to believe it


def _total(right: Any, P: Any, words: Any) -> float:
    """The surprise of all names together."""
    return float(sum(right(P, [word]) * (len(word) + 1) for word in words))


@impostor("average_nll")
def averages_over_names(right: Any, P: Any, words: Any) -> Any:
    """It averages over names, not over steps.

    One survives: a long name of yours costs as much a step as a short one.
    """
    return np.mean([right(P, [word]) for word in words])


@impostor("average_nll")
def forgets_the_end(right: Any, P: Any, words: Any) -> Any:
    """It leaves out the last step of each name, to the end.

    One survives: in your table the step to the end costs no more and no less than others do.
    """
    ends = sum(-np.log(P[ALPHABET.index(word[-1]), ALPHABET.index("<E>")]) for word in words)
    return (_total(right, P, words) - ends) / sum(map(len, words))


@impostor("average_nll")
def forgets_the_start(right: Any, P: Any, words: Any) -> Any:
    """It leaves out the first step of each name, from the start.

    One survives: in your table the step from the start costs no more and no less than others do.
    """
    starts = sum(-np.log(P[ALPHABET.index("<S>"), ALPHABET.index(word[0])]) for word in words)
    return (_total(right, P, words) - starts) / sum(map(len, words))


@impostor("average_nll")
def reads_columns_for_rows(right: Any, P: Any, words: Any) -> Any:
    """It takes the row for the next token and the column for the current one.

    One survives: in your table a step costs as much as the step back.
    """
    return right(P.T, words)


@impostor("average_nll")
def counts_a_name_once(right: Any, P: Any, words: Any) -> Any:
    """It counts a name that stands in the list twice only once.

    One survives: it wants a name that comes again.
    """
    return right(P, list(dict.fromkeys(words)))


@impostor("average_nll")
def runs_names_together(right: Any, P: Any, words: Any) -> Any:
    """It runs all names together, as if they were one.

    One survives: two names one after the other cost what one long name does.
    """
    return right(P, ["".join(words)])
