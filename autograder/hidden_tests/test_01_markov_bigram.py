"""Hidden tests of lab 01: Markov chains of words and letters, sampled and scored."""

from __future__ import annotations

import string
from functools import cache
from itertools import pairwise

import numpy as np

from autograder.testing import (
    as_array,
    course_root,
    expect,
    expect_close,
    expect_equal,
    follow_through,
    hidden_test,
)

ALPHABET = ["<S>", *string.ascii_lowercase, "<E>"]
COMMANDS = ["show me my directories please", "show me my files please", "show me my photos please"]
REPORTS = ["check whether the battery ran down please", "check whether the program ran please"]

EQUIVALENT_MUTANTS = {
    "normalise_rows: return np.divide(N, total, out=np.zeros(N.shape), where=total != 0)": "counts are not negative",
    'sample_name: if current >= INDEX["<E>"]:': "<E> is the last token",
}


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_EARLIER = """
import numpy as np


def normalise_rows(N):
    N = np.array(N, dtype=float)
    total = N.sum(axis=1)
    total[total == 0] = 1
    return (N.T / total).T


def transition_matrix(sentences, weights):
    spoken = [sentence.split() for sentence in sentences]
    vocabulary = sorted(set().union(*spoken))
    N = np.zeros((len(vocabulary), len(vocabulary)))
    for words, weight in zip(spoken, weights):
        for place in range(1, len(words)):
            N[vocabulary.index(words[place - 1]), vocabulary.index(words[place])] += weight
    return vocabulary, normalise_rows(N)


def bigram_counts(words):
    N = np.zeros((28, 28), dtype=int)
    for word in words:
        tokens = [0, *(ord(letter) - 96 for letter in word), 27]
        np.add.at(N, (tokens[:-1], tokens[1:]), 1)
    return N
"""
_with_right_rows = follow_through(_EARLIER, "normalise_rows")
_with_right_chain = follow_through(_EARLIER, "normalise_rows", "transition_matrix")
_with_right_counts = follow_through(_EARLIER, "bigram_counts")


# ------------------------------------------------------------------------------------------------- references


def _normalised(N):
    """Each row by its own sum, one number at a time; an empty row stays zero."""
    return np.array(
        [[cell / sum(row) if sum(row) > 0 else 0.0 for cell in row] for row in np.asarray(N).tolist()]
    )


def _steps(word):
    tokens = ["<S>", *word, "<E>"]
    return [(ALPHABET.index(a), ALPHABET.index(b)) for a, b in pairwise(tokens)]


def _counts(words):
    N = np.zeros((28, 28))
    for word in words:
        for i, j in _steps(word):
            N[i, j] += 1
    return N


def _chain_of(sentences, weights, memory):
    """Vocabulary, contexts (tuples of ``memory`` words that something follows) and their rows."""
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    seen: dict[tuple, float] = {}
    for sentence, weight in zip(sentences, weights, strict=True):
        words = sentence.split()
        for at in range(memory, len(words)):
            key = tuple(words[at - memory : at]), words[at]
            seen[key] = seen.get(key, 0.0) + weight
    contexts = sorted({context for context, _ in seen})
    N = [[seen.get((context, word), 0.0) for word in vocabulary] for context in contexts]
    return vocabulary, contexts, _normalised(np.array(N).reshape(len(contexts), len(vocabulary)))


def _first_order(sentences, weights):
    vocabulary, contexts, rows = _chain_of(sentences, weights, 1)
    P = np.zeros((len(vocabulary), len(vocabulary)))
    for (word,), row in zip(contexts, rows, strict=True):
        P[vocabulary.index(word)] = row
    return vocabulary, P


def _parts(result, count, what):
    expect(result is not None, "the result is None: does your function return its result?")
    several = isinstance(result, (tuple, list)) and len(result) == count
    expect(several, f"your function should return {count} things: {what}")
    return result


def _names(rng, count, letters=string.ascii_lowercase, longest=9, shortest=1):
    return [
        "".join(rng.choice(list(letters), size=rng.integers(shortest, longest + 1))) for _ in range(count)
    ]


def _sentences(rng, count):
    """Sentences of different lengths from few words, so that words repeat, end and go on."""
    vocabulary = ["zebra", "owl", "a", "the", "I", "mole", "and"]
    return [" ".join(rng.choice(vocabulary, size=rng.integers(3, 9))) for _ in range(count)]


@cache
def _makemore_counts():
    return np.loadtxt(course_root() / "data/01_markov_bigram/makemore_counts.csv", delimiter=",", dtype=int)


@cache
def _words_with_makemores_counts():
    """32,033 words whose bigrams are counted exactly as those of makemore's names.

    The counts are a walk's steps: from <S> along them, from <E> back to <S>, every step used once. Such a
    walk is an Eulerian circuit (Hierholzer's algorithm finds one), and cut at <E> it is a list of words.
    """
    rng = np.random.default_rng(32_033)
    ahead = []
    for row in _makemore_counts():
        following = np.repeat(np.arange(28), row)
        rng.shuffle(following)
        ahead.append([0 if token == 27 else int(token) for token in following])
    stack, circuit = [0], []
    while stack:
        if ahead[stack[-1]]:
            stack.append(ahead[stack[-1]].pop())
        else:
            circuit.append(stack.pop())
    text = "".join("." if token == 0 else ALPHABET[token] for token in reversed(circuit))
    return text.strip(".").split(".")


def _entropy(P):
    return -sum(p * np.log(p) for p in P.ravel().tolist() if p > 0)


# ---------------------------------------------------------------------------------------------- normalise_rows


@hidden_test("normalise_rows", weight=2)
def test_each_row_is_divided_by_its_own_sum(student, rng):
    """Each row is divided by its own sum, whatever the table's shape."""
    for shape in ((4, 7), (7, 4), (5, 5), (1, 6), (6, 1)):
        N = rng.integers(1, 30, size=shape).astype(float)
        expect_close(student(N), _normalised(N), "the table of probabilities")


@hidden_test("normalise_rows")
def test_an_empty_row_stays_zero_among_others(student, rng):
    """Rows that were never seen stay zero, and the others are exact."""
    N = rng.integers(0, 9, size=(6, 9)).astype(float)
    N[[1, 4]], N[:, 3], N[0, 0], N[2, 0], N[2, 1] = 0, 0, 2, 0, 3
    expect_close(student(N), _normalised(N), "a table with empty rows", atol=1e-9)
    expect_close(student(np.zeros((3, 5))), np.zeros((3, 5)), "a table without any counts")


@hidden_test("normalise_rows", weight=1.5)
def test_rows_with_a_single_step_are_certain(student, rng):
    """A row in which only one thing ever followed holds a single 1."""
    for size in (4, 7):
        N = np.diag(rng.integers(2, 30, size=size).astype(float))[rng.permutation(size)]
        expect_close(student(N), (N > 0).astype(float), "a table of certain rows")


@hidden_test("normalise_rows", weight=0.5)
def test_a_table_whose_rows_hold_the_same_counts_in_turn(student, rng):
    """The same counts in each row, moved on by one place from row to row."""
    counts = rng.integers(1, 30, size=5).astype(float)
    N = np.array([np.roll(counts, place) for place in range(5)])
    expect_close(student(N), _normalised(N), "a table of rows that are moved on")


@hidden_test("normalise_rows", weight=2)
def test_whole_numbers_fractions_and_views_work_alike(student, rng):
    """Integer counts, fractional counts and a transposed view work, and the input is left alone."""
    whole = rng.integers(1, 50, size=(5, 3))
    expect_close(student(whole), _normalised(whole), "the result for integer counts")
    expect(not student.mutated, "your function changes the table it was given")
    fractions = rng.random((4, 6)) + 0.01
    expect_close(student(fractions.T), _normalised(fractions.T), "the result for fractional counts")
    expect(not student.mutated, "your function changes the table it was given")
    small = rng.random((3, 4)) * 1e-6
    expect_close(student(small), _normalised(small), "the result for very small counts")


@hidden_test("normalise_rows")
def test_the_lectures_entropy_of_makemores_table(student):
    """On makemore's counts the rows hold 59.82 nats, of 28 ln 28 = 93.30; with one boundary token a step costs 2.45401."""
    P = as_array(student(_makemore_counts()), "the table of probabilities")
    expect(P.shape == (28, 28), "a (28, 28) table of counts should give a (28, 28) table")
    expect_close(round(_entropy(P), 2), 59.82, "the entropy of the table")
    even = as_array(student(np.ones((28, 28))), "the table of probabilities")
    expect_close(_entropy(even), 28 * np.log(28), "the entropy of an even table")
    folded = _makemore_counts()[:27, :27].copy()  # one boundary token: <E>'s column becomes <S>'s
    folded[:, 0] = _makemore_counts()[:27, 27]
    P = as_array(student(folded), "the table of probabilities")
    expect(P.shape == (27, 27), "a (27, 27) table of counts should give a (27, 27) table")
    steps = folded > 0
    expect(bool((P[steps] > 0).all()), "a step that was counted should be possible")
    nll = -(folded[steps] * np.log(P[steps])).sum() / folded.sum()
    expect(abs(nll - 2.45401) < 1e-5, "the table with one boundary token should cost 2.45401 nats a step")


@hidden_test("normalise_rows", weight=0.5)
def test_shapes_kinds_of_counts_and_empty_rows_together(student, rng):
    """Wide and tall tables, single rows and columns, with empty rows and without, of whole numbers, fractions, small and large ones."""
    for shape in ((1, 6), (6, 1), (1, 1), (4, 4), (3, 8), (8, 3), (28, 28)):
        whole = rng.integers(0, 7, size=shape)
        kinds = [whole, whole.T.copy().T, whole * 100_000, whole.astype(np.int32), whole.astype(float)]
        kinds += [rng.random(shape), rng.random(shape[::-1]).T, rng.random(shape) * 1e-9, 0.1 * whole]
        kinds.append(whole * 10.0 ** rng.integers(-8, 6, size=(shape[0], 1)))
        empty = rng.random((shape[0], 1)) < 0.4
        empty[-1] = True
        for N in kinds:
            for table in (N, np.where(empty, N[:1] * 0, N)):
                expect_close(student(table), _normalised(table), "the table of probabilities", atol=1e-6)


# ------------------------------------------------------------------------------------------- transition_matrix


def _expect_first_order(student, sentences, weights):
    vocabulary, P = _parts(student(sentences, weights), 2, "vocabulary, P")
    expected_vocabulary, expected = _first_order(sentences, weights)
    expect_equal(vocabulary, expected_vocabulary, "the vocabulary")
    expect_close(P, expected, "the transition matrix")


@hidden_test("transition_matrix")
@_with_right_rows
def test_the_lectures_three_commands(student):
    """After “my” come directories, files and photos with .2, .3 and .5; all else is certain."""
    vocabulary, P = _parts(student(COMMANDS, [0.2, 0.3, 0.5]), 2, "vocabulary, P")
    expect_equal(
        vocabulary, ["directories", "files", "me", "my", "photos", "please", "show"], "the vocabulary"
    )
    expected = np.zeros((7, 7))
    for i, j, p in (
        (0, 5, 1),
        (1, 5, 1),
        (2, 3, 1),
        (3, 0, 0.2),
        (3, 1, 0.3),
        (3, 4, 0.5),
        (4, 5, 1),
        (6, 2, 1),
    ):
        expected[i, j] = p
    expect_close(P, expected, "the transition matrix")


@hidden_test("transition_matrix", weight=4)
@_with_right_rows
def test_a_single_sentence(student, rng):
    """A single sentence, in which words come again and follow themselves."""
    for length in (6, 14):
        _expect_first_order(student, [" ".join(rng.choice(["sea", "to", "be", "so"], size=length))], [3.5])
    _expect_first_order(student, ["no no no yes no"], [2])


@hidden_test("transition_matrix")
@_with_right_rows
def test_sentences_of_one_length_and_one_weight(student, rng):
    """Sentences of the same length with the same weight."""
    sentences = [" ".join(rng.choice(["zebra", "owl", "a", "the"], size=5)) for _ in range(6)]
    _expect_first_order(student, sentences, [2.0] * 6)


@hidden_test("transition_matrix", weight=0.5)
@_with_right_rows
def test_the_first_order_branches_after_the_and_after_ran(student):
    """At 40 to 60 the first order has two rows with fractions: “the” and “ran”."""
    vocabulary, P = _parts(student(REPORTS, [40, 60]), 2, "vocabulary, P")
    expected_vocabulary, expected = _first_order(REPORTS, [40, 60])
    expect_equal(vocabulary, expected_vocabulary, "the vocabulary")
    expect_close(P, expected, "the transition matrix")
    fractional = [word for word, row in zip(vocabulary, as_array(P), strict=True) if 0 < row.max() < 1 - 1e-6]
    expect_equal(fractional, ["ran", "the"], "the list of words whose row has fractions")


@hidden_test("transition_matrix")
@_with_right_rows
def test_weighted_counts_of_sentences_that_share_words(student, rng):
    """Sentences that share and repeat words are counted with their weights."""
    for count in (2, 5, 12):
        _expect_first_order(student, _sentences(rng, count), (rng.random(count) + 0.1).tolist())
    expect(not student.mutated, "your function changes the sentences or the weights it was given")


@hidden_test("transition_matrix")
@_with_right_rows
def test_pairs_stay_inside_a_sentence(student, rng):
    """No pair reaches from one sentence into the next, and one-word sentences only add to the vocabulary."""
    _expect_first_order(student, ["b c", "d", "a b", "c a b", "d"], rng.integers(1, 9, size=5).tolist())
    _expect_first_order(student, ["hello"], [2.5])


@hidden_test("transition_matrix", weight=0.5)
@_with_right_rows
def test_a_pair_counts_each_time_it_occurs(student, rng):
    """A pair that occurs twice in a sentence counts twice, a word may follow itself."""
    weights = rng.integers(2, 9, size=3).tolist()
    _expect_first_order(student, ["to be or not to be", "to do or to be", "no no no yes no"], weights)


@hidden_test("transition_matrix")
@_with_right_rows
def test_a_sentence_that_is_listed_twice_counts_with_both_weights(student, rng):
    """A sentence that stands in the list twice counts with both of its weights."""
    first, second, other = rng.integers(2, 9, size=3).tolist()
    sentences = ["open my files", "close my door", "open my files"]
    _expect_first_order(student, sentences, [first, other, 2 * second])


def _spoken(rng):
    """Lists of sentences with their weights: one, some and many, long and short, of few words and of many, listed again."""
    few, many, single = ["to", "be", "or"], list("abcdefghijklmno"), ["go"]
    for words, lengths in (
        (few, (9, 1, 2, 4)),
        (many, (14, 14, 14)),
        (single, (5, 1)),
        (many, (1, 1)),
        (few, (3,)),
    ):
        said = [" ".join(rng.choice(words, size=length)) for length in lengths]
        if words is few:
            said.append("to be or to be or to be to to to be")
        yield said, [1] * len(said)
        yield said, rng.random(len(said)) * 1e-4
        said = [said[0], said[0], *said, said[-1]]
        yield said, rng.integers(200, 900, size=len(said)).tolist()
        yield said, [0.5] * len(said)
        yield (
            [f"  {sentence.replace(' ', '  ')} " for sentence in said],
            rng.dirichlet(np.ones(len(said))).tolist(),
        )
        yield 4 * said, 10.0 ** rng.integers(-3, 4, size=4 * len(said))


@hidden_test("transition_matrix", weight=0.5)
@_with_right_rows
def test_lengths_words_and_weights_together(student, rng):
    """One sentence or many, long and short, listed again or not, with equal, large and small weights, as lists and arrays."""
    for sentences, weights in _spoken(rng):
        _expect_first_order(student, sentences, weights)


# ------------------------------------------------------------------------------------------------ second_order


def _expect_second_order(student, sentences, weights):
    contexts, vocabulary, P = _parts(student(sentences, weights), 3, "contexts, vocabulary, P")
    expected_vocabulary, expected_contexts, expected = _chain_of(sentences, weights, 2)
    expect_equal(contexts, expected_contexts, "the list of contexts")
    expect_equal(vocabulary, expected_vocabulary, "the vocabulary")
    expect_close(P, expected, "the second-order table")


def _expect_rows(student, sentences, weights):
    """Each context that goes on has its row; what else has one is not looked at."""
    contexts, vocabulary, P = _parts(student(sentences, weights), 3, "contexts, vocabulary, P")
    expected_vocabulary, expected_contexts, expected = _chain_of(sentences, weights, 2)
    expect_equal(vocabulary, expected_vocabulary, "the vocabulary")
    P = as_array(P, "the second-order table")
    expect(P.ndim == 2 and len(P) == len(contexts), "the table should have a row for each context")
    places = {
        tuple(pair) if isinstance(pair, (list, tuple)) else pair: place for place, pair in enumerate(contexts)
    }
    expect(set(expected_contexts) <= set(places), "a pair that a word follows has no row")
    rows = P[[places[pair] for pair in expected_contexts]]
    expect_close(rows, expected, "the rows of the contexts that go on")


@hidden_test("second_order", weight=3)
@_with_right_chain
def test_each_context_that_goes_on_has_its_row(student, rng):
    """No three neighbours come twice: each context has a row that says what follows it."""
    words = rng.permutation(["zebra", "owl", "a", "the", "I", "mole", "and", "so"]).tolist()
    first, second = words[:4], [words[0], words[1], *words[4:]]
    _expect_rows(
        student,
        [" ".join(first), " ".join(second), " ".join(words[2:6])],
        rng.integers(1, 9, size=3).tolist(),
    )


@hidden_test("second_order", weight=4)
@_with_right_chain
def test_contexts_of_the_same_word_twice(student, rng):
    """A word that is said several times in a row is a context with itself."""
    weights = rng.integers(1, 9, size=5).tolist()
    _expect_rows(student, ["no no yes", "so so far", "no no thanks", "no no yes", "far far so"], weights)


@hidden_test("second_order")
@_with_right_chain
def test_the_lectures_two_reports_leave_one_row_with_fractions(student):
    """Of the second-order rows only “whether the” has fractions; the subject decides after “ran”."""
    contexts, vocabulary, P = _parts(student(REPORTS, [0.4, 0.6]), 3, "contexts, vocabulary, P")
    _, expected_contexts, expected = _chain_of(REPORTS, [0.4, 0.6], 2)
    expect_equal(contexts, expected_contexts, "the list of contexts")
    expect_close(P, expected, "the second-order table")
    guessing = [expected_contexts[i] for i in np.nonzero(as_array(P).max(axis=1) < 1 - 1e-6)[0]]
    expect_equal(guessing, [("whether", "the")], "the contexts that have to guess")
    row = dict(
        zip(vocabulary, as_array(P)[expected_contexts.index(("battery", "ran"))].tolist(), strict=True)
    )
    expect(row.get("down", 0) > 0.999, "after “battery ran” only “down” should come")


@hidden_test("second_order")
@_with_right_chain
def test_weighted_second_order_counts(student, rng):
    """Sentences that share and repeat words are counted with their weights."""
    for count in (2, 6, 15):
        again = ["a the mole", "a the owl", "a the mole"]  # under every salt something comes again
        sentences = [*_sentences(rng, count), *again]
        _expect_second_order(student, sentences, (rng.random(count + 3) + 0.1).tolist())
    expect(not student.mutated, "your function changes the sentences or the weights it was given")


@hidden_test("second_order")
@_with_right_chain
def test_contexts_stay_inside_a_sentence(student, rng):
    """No context reaches into the next sentence, and short sentences only add to the vocabulary."""
    weights = rng.integers(1, 9, size=5).tolist()
    _expect_second_order(student, ["c b a", "b a", "a", "a b c b", "d e"], weights)
    contexts, vocabulary, P = _parts(student(["go on", "stop"], [2, 1]), 3, "contexts, vocabulary, P")
    expect_equal(contexts, [], "the list of contexts where no sentence has three words")
    expect_equal(vocabulary, ["go", "on", "stop"], "the vocabulary")
    none = isinstance(P, (list, tuple)) and len(P) == 0
    expect(none or as_array(P).shape == (0, 3), "without contexts P should have shape (0, V)")


@hidden_test("second_order")
@_with_right_chain
def test_the_order_of_the_two_words_matters(student, rng):
    """(a, b) and (b, a) are different contexts, and a repeated context keeps adding up."""
    weights = (rng.random(4) + 0.5).tolist()
    _expect_second_order(student, ["b a c", "a b d", "a b c a b e a b c", "a a a a b"], weights)


@hidden_test("second_order", weight=0.5)
@_with_right_chain
def test_lengths_words_and_weights_together_in_the_second_order(student, rng):
    """One sentence or many, long and short, listed again or not, with equal, large and small weights, as lists and arrays."""
    for sentences, weights in _spoken(rng):
        if max(len(sentence.split()) for sentence in sentences) > 2:
            _expect_second_order(student, sentences, weights)
        else:
            contexts, vocabulary, _ = _parts(student(sentences, weights), 3, "contexts, vocabulary, P")
            expect_equal(contexts, [], "the list of contexts where no sentence has three words")
            expect_equal(vocabulary, _first_order(sentences, weights)[0], "the vocabulary")


# ----------------------------------------------------------------------------------------------- bigram_counts


def _without_triples(rng, count, letters=string.ascii_lowercase, longest=9):
    """Names of two letters and more in which no letter comes three times in a row."""
    names = _names(rng, 2 * count, letters, longest, shortest=2)
    return [name for name in names if not any(3 * letter in name for letter in letters)][:count]


def _expect_inner_counts(student, words, what):
    """The counts of pairs of letters are right; the two ends are another test's affair."""
    N = as_array(student(words), "the table of counts")
    expect(N.shape == (28, 28), "the table should have shape (28, 28)")
    expect_close(N[1:27, 1:27].astype(float), _counts(words)[1:27, 1:27], what)


@hidden_test("bigram_counts", weight=2.5)
def test_counts_of_many_names(student, rng):
    """The table of a list of names is counted right, the start and the end included."""
    for count in (200, 20):
        words = sorted(set(_without_triples(rng, count)))
        expect_close(student(words), _counts(words), "the table of counts")
    expect(not student.mutated, "your function changes the list of names")


@hidden_test("bigram_counts", weight=2.5)
def test_names_of_one_letter_and_of_none(student, rng):
    """A name of one letter has two pairs, one without letters has one."""
    words = [*sorted(set(_names(rng, 6, longest=1))), "otto"]
    expect_close(student(words), _counts(words), "the table of one-letter names")
    expect_close(student(["", "ab"]), _counts(["", "ab"]), "the table with a name without letters")


@hidden_test("bigram_counts", weight=1.5)
def test_the_markers_stay_apart(student, rng):
    """The row of <E> and the column of <S> are empty, the row of <S> counts the names."""
    words = sorted(set(_without_triples(rng, 50, "aez")))
    N = as_array(student(words), "the table of counts")
    expect(N.shape == (28, 28), "the table should have shape (28, 28)")
    expect_close(N[27], np.zeros(28), "the row of <E>")
    expect_close(N[:, 0], np.zeros(28), "the column of <S>")
    expect_close(N[0], _counts(words)[0], "the row of <S>")
    expect_close(N[:, 27], _counts(words)[:, 27], "the column of <E>")


@hidden_test("bigram_counts", weight=1.5)
def test_pairs_of_letters(student, rng):
    """The pairs of letters within names, double letters included."""
    _expect_inner_counts(
        student, ["anna", "otto", *sorted(set(_without_triples(rng, 40)))], "the pairs of letters"
    )


@hidden_test("bigram_counts", weight=5.5)
def test_a_list_adds_its_pairs_to_what_no_name_has(student, rng):
    """A list of names has its own pairs more than an empty list has."""
    words = ["otto", *sorted(set(_without_triples(rng, 20)))]
    none, some = (as_array(student(given), "the table of counts").astype(float) for given in ([], words))
    expect(none.shape == some.shape == (28, 28), "the table should have shape (28, 28)")
    expect_close((some - none)[1:27, 1:27], _counts(words)[1:27, 1:27], "the pairs that a list of names adds")


@hidden_test("bigram_counts", weight=2)
def test_repeated_names(student, rng):
    """A name that stands in the list several times counts each time."""
    words = sorted(set(_without_triples(rng, 12, "abcd", 5)))
    _expect_inner_counts(student, [*words, "anna", *words, "anna", "anna"], "the pairs of repeated names")


@hidden_test("bigram_counts", weight=2)
def test_the_same_letter_many_times_in_a_row(student, rng):
    """The same letter three times and more in a row."""
    _expect_inner_counts(student, ["zzz", "aaab", "baaaa"], "the pairs of the same letter")


@hidden_test("bigram_counts", weight=2)
def test_a_long_list_of_names(student, rng):
    """A long list, in which a pair comes thousands of times."""
    words = 4 * ["an" + a + b for a in string.ascii_lowercase for b in string.ascii_lowercase if a != "n"]
    _expect_inner_counts(student, words, "the pairs of a long list")


def _lists_of_names(rng):
    """Lists of one name and of many, of short, long and empty names, which come again and repeat their pairs."""
    long = "".join(rng.choice(list("abz"), size=350))
    few = ["".join(rng.choice(list("abz"), size=length)) for length in (1, 3, 7, 25)]
    yield from (
        [""],
        ["", ""],
        ["z"],
        ["a", "z", "a"],
        [long],
        ["zazaza"],
        ["aaaa"],
        few,
        [few[3], long, few[2]],
    )
    yield from (2 * ["", "o", "otto", "", "ottotto"], sorted(3 * few), [*few, long, "", *few, "q", "q"])
    yield [few[0], *_names(rng, 150), *few]


@hidden_test("bigram_counts")
def test_lists_and_names_of_all_kinds(student, rng):
    """One name or many, long ones, empty ones and ones of one letter, listed again and with pairs that come again."""
    for words in _lists_of_names(rng):
        expect_close(student(words), _counts(words), "the table of counts")


# ------------------------------------------------------------------------------------------------- sample_name


def _table(steps):
    P = np.zeros((28, 28))
    for current, following, probability in steps:
        P[ALPHABET.index(current), ALPHABET.index(following)] = probability
    return P


def _small_chain(rng):
    """A chain on three letters in which every name ends soon."""
    letters = rng.choice(list(string.ascii_lowercase), size=3, replace=False).tolist()
    P = np.zeros((28, 28))
    columns = [ALPHABET.index(letter) for letter in letters]
    P[0, columns] = rng.dirichlet([4, 4, 4]) / 2 + 1 / 6
    for column in columns:
        P[column, [*columns, 27]] = rng.dirichlet([3, 3, 3, 3]) * 0.5 + [0.1, 0.1, 0.1, 0.2]
    return P


def _sampled(student, times, P, rng):
    names = student.repeat(times, P, rng)
    expect(isinstance(names, list) and len(names) == times, "the names could not be drawn")
    expect(all(isinstance(name, str) for name in names), "each name should be one string")
    expect(max(map(len, names)) < 1_000, "a name does not end: stop at <E>")
    expect(not any("<" in name for name in names), "a name should hold neither <S> nor <E>")
    expect(all(set(name) <= set(string.ascii_lowercase) for name in names), "a name should hold letters only")
    return names


def _furthest(counts, P):
    """The largest distance, in standard deviations, of a step's count from what its row of P lets expect."""
    visits = counts.sum(axis=1, keepdims=True)
    spread = np.sqrt(visits * P * (1 - P))
    return float((np.abs(counts - visits * P) / np.where(spread > 0, spread, 1)).max())


@hidden_test("sample_name", weight=2)
def test_names_follow_the_tables_probabilities(student, rng):
    """Among many names each step occurs as often as the table says."""
    P = _small_chain(rng)
    counts = _counts(_sampled(student, 1500, P, rng))
    student.observe("frequencies", _normalised(counts), rtol=0, atol=0.08)
    expect(counts[P == 0].sum() == 0, "a name takes a step that the table rules out")
    expect(_furthest(counts, P) < 6, "the steps do not come up with the probabilities of the table")


@hidden_test("sample_name")
def test_each_step_depends_on_the_token_before(student, rng):
    """After each letter the next one comes from that letter's own row."""
    letters = rng.choice(list(string.ascii_lowercase), size=6, replace=False).tolist()
    P = _table([(a, b, 1.0) for a, b in zip(["<S>", *letters], [*letters, "<E>"], strict=True)])
    names = student.repeat(3, P, rng)
    student.observe("lengths", [len(name) if isinstance(name, str) else -1 for name in names])
    expect_equal(names, ["".join(letters)] * 3, "the only name that this chain can spell")


@hidden_test("sample_name", weight=2)
def test_the_generator_decides_the_name(student, rng):
    """The same generator state gives the same names, another state gives other ones."""
    P = np.zeros((28, 28))
    P[:27, 1:27], P[1:27, 27] = 0.9 / 26, 0.1
    P[0] /= P[0].sum()
    seed = int(rng.integers(1 << 30))
    runs = [_sampled(student, 12, P, np.random.default_rng(s)) for s in (seed, seed, seed + 1)]
    student.observe("same and different", [runs[0] == runs[1], runs[0] == runs[2]])
    expect(runs[0] == runs[1], "the same generator state should give the same names")
    expect(runs[0] != runs[2], "another generator state should give other names")


@hidden_test("sample_name", weight=2.5)
def test_a_table_whose_rows_are_all_the_same(student, rng):
    """Each row is that of <S>: every letter is drawn alike, whatever came before."""
    row = np.zeros(28)
    row[1:5], row[27] = rng.dirichlet([6, 6, 6, 6]) * 0.7, 0.3
    P = np.tile(row, (28, 1))
    names = _sampled(student, 1500, P, rng)
    found = np.bincount([ALPHABET.index(letter) for letter in "".join(names)], minlength=28)
    found[27] = len(names)
    student.observe("how often each letter comes", found / found.sum(), rtol=0, atol=0.05)
    expect(
        _furthest(found[None], row[None]) < 6,
        "the letters do not come up with the probabilities of the table",
    )


@hidden_test("sample_name")
def test_a_name_may_be_long(student, rng):
    """Where the table lets a name go on for long, names are long."""
    P = _table([("<S>", "a", 1.0), ("a", "a", 0.5), ("a", "b", 0.48), ("a", "<E>", 0.02), ("b", "a", 1.0)])
    lengths = [len(name) for name in _sampled(student, 200, P, rng)]
    mean = 1 + (0.5 + 2 * 0.48) / 0.02  # of 50 visits to a, each but the last adds an a, or a b and an a
    student.observe("how long names are", [float(np.mean(lengths))], rtol=0.4, atol=0)
    expect(abs(np.mean(lengths) / mean - 1) < 6 / 14, "the names are too long or too short on average")
    expect(max(lengths) > 2 * mean, "no name is long")  # each is with e⁻²: none by chance in 10¹² classes


@hidden_test("sample_name")
def test_a_name_may_be_empty(student, rng):
    """Where the table lets a name end at once, empty names come as often as it says."""
    P = _table([("<S>", "<E>", 0.5), ("<S>", "a", 0.5), ("a", "<E>", 1.0)])
    names = student.repeat(300, P, rng)
    expect(all(name in ("", "a") for name in names), "a name takes a step that the table rules out")
    empty = sum(name == "" for name in names)
    student.observe("empty names", [empty > 0], rtol=0, atol=0)
    expect(empty > 0, "an <E> right after <S> makes an empty name: do not draw again")
    expect(abs(empty - 150) < 6 * np.sqrt(75), "empty names do not come as often as the table says")


@hidden_test("sample_name", weight=1)
def test_rare_letters_and_a_start_in_the_middle(student, rng):
    """A letter that comes four times in a thousand comes, and an <S> in the middle is written like any other token."""
    steps = [("a", "<S>", 0.396), ("a", "b", 0.3), ("a", "<E>", 0.3), ("a", "z", 0.004), ("b", "a", 1.0)]
    P = _table([("<S>", "a", 1.0), *steps, ("z", "<E>", 1.0)])
    names = student.repeat(3000, P, rng)
    expect(all(isinstance(name, str) for name in names), "each name should be one string")
    written = [name.replace("<S>", ".") for name in names]
    student.observe(
        "starts and rare letters", ["." in "".join(written), "z" in "".join(written)], rtol=0, atol=0
    )
    expect(
        all(set(name) <= set(".abz") for name in written), "a name holds something else than tokens that come"
    )
    counts = np.zeros((28, 28))
    for name in written:
        for i, j in _steps(["<S>" if token == "." else token for token in name]):
            counts[i, j] += 1
    expect(
        bool((counts[P > 0] > 0).all()),
        "a step that the table allows never comes: a rare one, or <S> in the middle",
    )
    expect(counts[P == 0].sum() == 0, "a name takes a step that the table rules out")
    expect(_furthest(counts, P) < 6, "the steps do not come up with the probabilities of the table")


# ------------------------------------------------------------------------------------------------- average_nll


def _nll(P, words):
    costs = [-np.log(P[i, j]) for word in words for i, j in _steps(word)]
    return sum(costs) / len(costs)


def _full_table(rng):
    P = rng.random((28, 28)) + 0.05
    P[:, 0], P[27] = 0, 0
    return _normalised(P)


def _expect_number(value, expected, what):
    value = as_array(value, what)
    expect(value.size == 1, f"{what} should be one number")
    expect_close(value.reshape(()), expected, what)


@hidden_test("average_nll", weight=2)
@_with_right_counts
def test_the_average_surprise_of_a_step(student, rng):
    """A single name, and names of the same length: the average is over all steps, the start and the end included."""
    P = _full_table(rng)
    for words in (_names(rng, 1), ["a"], ["anna", "otto", "lena"]):
        _expect_number(student(P, words), _nll(P, words), "the average negative log-likelihood")


@hidden_test("average_nll")
@_with_right_counts
def test_names_of_several_lengths(student, rng):
    """Names of several lengths, and arguments are left alone."""
    P = _full_table(rng)
    for words in (_names(rng, 40), _names(rng, 7, longest=2), ["", "eve"]):
        _expect_number(student(P, words), _nll(P, words), "the average negative log-likelihood")
    expect(not student.mutated, "your function changes the table or the list of names")


@hidden_test("average_nll", weight=2)
@_with_right_counts
def test_names_of_very_different_lengths(student, rng):
    """Short and long names together are averaged over steps, not over names, also when names repeat."""
    P = _full_table(rng)
    words = [*_names(rng, 5, longest=1), "".join(rng.choice(list("abcxyz"), size=400)), *(["eve"] * 4)]
    _expect_number(student(P, words), _nll(P, words), "the average negative log-likelihood")


@hidden_test("average_nll", weight=5)
@_with_right_counts
def test_another_table_costs_in_proportion(student, rng):
    """How many times more the same names cost under one table than under another."""
    words = ["a", "bob", "jo", "emilia"]
    for _ in range(2):
        tables = _full_table(rng), _full_table(rng)
        found = [as_array(student(P, words), "the average").astype(float).reshape(-1) for P in tables]
        expect(found[0].size == found[1].size == 1, "the average should be one number")
        expect(
            bool(np.isfinite(found).all()) and found[1][0] != 0,
            "the average should be a number, and not zero",
        )
        ratio = _nll(tables[0], words) / _nll(tables[1], words)
        expect_close(found[0][0] / found[1][0], ratio, "how many times more it costs")


@hidden_test("average_nll", weight=2)
@_with_right_counts
def test_an_impossible_step_makes_the_average_infinite(student, rng):
    """A single impossible step makes the average infinite; without it the average is exact."""
    P, words = _full_table(rng), ["abba", "cabc", "baca"]
    P[ALPHABET.index("q"), ALPHABET.index("x")] = 0
    P[ALPHABET.index("b"), ALPHABET.index("c")] = 1e-9
    _expect_number(student(P, words), _nll(P, words), "the average over possible steps")
    _expect_number(student(P, [*words, "aqxb"]), np.inf, "the average with an impossible step")
    P[ALPHABET.index("b"), 27] = 0
    _expect_number(student(P, ["a", "ab", "c"]), np.inf, "the average with a letter that cannot end a name")


@hidden_test("average_nll", weight=2)
@_with_right_counts
def test_the_lectures_2_45401_on_makemores_counts(student):
    """On words with makemore's bigram counts the maximum-likelihood table costs 2.45401 nats a step."""
    N = _makemore_counts()
    P = _normalised(N)
    seen = N > 0
    nll = -(N[seen] * np.log(P[seen])).sum() / N.sum()
    expect(
        abs(nll - 2.45401) < 1e-5, "the course's table of makemore's counts is damaged: tell your instructor"
    )
    words, even = _words_with_makemores_counts(), (P + 1 / 28) / 2
    _expect_number(student(even, words[:500]), _nll(even, words[:500]), "the average under another table")
    _expect_number(student(P, words), nll, "the average over makemore's counts")


@hidden_test("average_nll", weight=0.75)
@_with_right_counts
def test_tables_and_lists_of_all_kinds(student, rng):
    """Even, sparse and certain tables, one name or many, long and empty ones, which come again, possible or not."""
    for words in _lists_of_names(rng):
        even, sparse, rare = np.full((28, 28), 1 / 28), rng.random((28, 28)), _full_table(rng)
        sparse[rng.random((28, 28)) < 0.4] = 0
        rare[:, 1] = 1e-12
        steps = [step for word in words for step in _steps(word)]
        counted, ruled_out = _normalised(_counts(words)), _full_table(rng)
        ruled_out[steps[-1]] = 0
        for P in (even, _normalised(sparse), rare, counted, ruled_out, np.asfortranarray(_full_table(rng))):
            with np.errstate(divide="ignore"):
                nll = _nll(P, words)
            found = as_array(student(P, words), "the average")
            expect(found.size == 1, "the average should be one number")
            expect_close(found.reshape(()), nll, "the average negative log-likelihood", atol=1e-6)
