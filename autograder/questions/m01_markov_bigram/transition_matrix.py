"""Lab 01, transition_matrix: sentences, weights → vocabulary (sorted), P (V, V): the chain of first order."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m01_markov_bigram.common import (
    TAKES_LISTS,
    added_up,
    all_kinds,
    normalised,
    some_sentences,
    windows,
    words_of,
)


def first_order(sentences, weights):
    """The weights of all pairs, cell by cell."""
    vocabulary, pairs = words_of(sentences), list(windows(sentences, weights, 2))
    N = [[sum(w for pair, w in pairs if pair == (a, b)) for b in vocabulary] for a in vocabulary]
    return vocabulary, normalised(N)


question = Question(first_order, uses=("normalise_rows",), earlier=TAKES_LISTS)

COMMANDS = ["show me my directories please", "show me my files please", "show me my photos please"]
AFTER = {"directories": 5, "files": 5, "me": 3, "photos": 5, "show": 2}  # what is certain, as a column


def of_the_commands():
    words = ["directories", "files", "me", "my", "photos", "please", "show"]
    P = np.array([np.eye(7)[AFTER[word]] if word in AFTER else np.zeros(7) for word in words])
    P[3, [0, 1, 4]] = 0.2, 0.3, 0.5
    return words, P


@question.family("The three commands: after “my” .2, .3 and .5; and other sentences with their weights.")
def weighted(rng):
    yield Case(COMMANDS, [0.2, 0.3, 0.5], gives=of_the_commands())
    yield Case(COMMANDS, [20, 30, 50], gives=of_the_commands())
    for count in (3, 6):
        sentences = some_sentences(rng, count)
        yield sentences, rng.uniform(0.1, 2, count).tolist()
        yield sentences, rng.uniform(0.1, 2, count).tolist()


@question.family("A single sentence, in which words come again and follow themselves.", weight=1.5)
def a_single_sentence(rng):
    for length in (6, 14):
        yield ["so so " + " ".join(rng.choice(["sea", "to", "be", "so"], size=length)) + " so so"], [3.5]


@question.family("Sentences of the same length with the same weight.")
def alike(rng):
    said = [" ".join(rng.choice(["zebra", "owl", "a", "the"], size=5)) for _ in range(5)]
    yield [*said, "owl a the owl zebra"], [2.0] * 6


@question.family("Pairs stay inside a sentence; a word that also ends one; sentences of one word.")
def inside_a_sentence(rng):
    yield Case(["go on", "come go"], [1, 1], gives=(["come", "go", "on"], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    yield ["b c", "d", "a b", "c a b", "d", "f"], rng.integers(1, 9, size=6).tolist()
    yield ["hello"], [float(rng.uniform(1, 3))]


@question.family("A sentence that is listed twice counts with both of its weights.", weight=0.5)
def listed_twice(rng):
    first, second, other = rng.integers(2, 9, size=3).tolist()
    yield ["open my files", "close my door", "open my files"], [first, other, 2 * second]


@question.family("One and many, long and short, with blanks; small and large weights.", weight=0.5)
def all_together(rng):
    yield from all_kinds(rng)


def _table(sentences, steps, normalise=normalised):
    """The answer for steps ((current, next), weight)."""
    vocabulary = words_of(sentences)
    return vocabulary, normalise(added_up(vocabulary, vocabulary, ((*pair, w) for pair, w in steps)))


@question.misconception("the weights are ignored", costs=2)
def weights_ignored(sentences, weights):
    """Every sentence counts the same in your table. A sentence with weight 0.5 is said more often than one
    with 0.2: add its weight, not 1, for each of its pairs."""
    return _table(sentences, windows(sentences, [1] * len(sentences), 2))


@question.misconception("rows and columns are exchanged", costs=2, because="one slip")
def transposed(sentences, weights):
    """Your table is turned around: it answers “what came before?”. The row is the current word and the column
    the next one, and the rows are normalised."""
    return _table(sentences, ((pair[::-1], weight) for pair, weight in windows(sentences, weights, 2)))


@question.misconception("pairs reach over the end of a sentence", costs=2)
def across_sentences(sentences, weights):
    """Something follows the words that end a sentence: pairs reach over its end, each with the weight of the sentence that it comes
    from. All words in one long list lose the ends; count inside each sentence."""
    said = [
        one
        for sentence in zip(sentences, weights, strict=True)
        for one in windows(*([s] for s in sentence), 1)
    ]
    return _table(sentences, (((a[0][0], b[0][0]), a[1]) for a, b in pairwise(said)))


@question.misconception("divided by how often the word occurs", costs=1.5, because="most rows are right")
def divided_by_occurrences(sentences, weights):
    """Some of your rows sum to less than one: those of words that also end a sentence. Divide by how often the
    word is *followed* by something, which is the row's own sum, and not by how often it occurs."""
    vocabulary, N = _table(sentences, windows(sentences, weights, 2), np.array)
    occurs = Counter()
    for (word,), weight in windows(sentences, weights, 1):
        occurs[word] += weight
    return vocabulary, N / np.array([[occurs[word]] for word in vocabulary])


@question.misconception("a pair counts once a sentence", costs=1.5, because="right for most sentences")
def a_pair_counts_once(sentences, weights):
    """A pair that occurs twice in one sentence counts once in your table, as in a set. It was said twice, so
    its weight is added twice."""
    alone = zip(([s] for s in sentences), ([w] for w in weights), strict=True)
    return _table(sentences, (step for one in alone for step in dict.fromkeys(windows(*one, 2))))


@question.misconception("the vocabulary comes from the pairs", costs=1)
def vocabulary_of_the_pairs(sentences, weights):
    """A sentence of one word has no pair, but its word belongs to the vocabulary. Collect the words from the sentences, not from the
    pairs."""
    pairs = list(windows(sentences, weights, 2))
    return _table([" ".join(pair) for pair, _ in pairs], pairs)


@question.misconception("weighted counts, not probabilities", costs=2, because="one step is missing")
def not_normalised(sentences, weights):
    """Your rows hold summed weights and do not add up to one. The last step is missing: each row divided by
    its own sum, which you have just written."""
    return _table(sentences, windows(sentences, weights, 2), np.array)


@question.misconception(
    "the vocabulary stands in the order of appearance", costs=1.5, because="the probabilities are right"
)
def order_of_appearance(sentences, weights):
    """Your probabilities are right, but the words stand in the order in which they were first said. The lab
    pins the alphabetical order, for the vocabulary and so for the rows and columns of the table."""
    vocabulary, P = first_order(sentences, weights)
    spoken = list(dict.fromkeys(" ".join(sentences).split()))
    at = [vocabulary.index(word) for word in spoken]
    return spoken, P[np.ix_(at, at)]


@question.misconception("a sentence listed twice counts once", costs=1)
def weights_in_a_dictionary(sentences, weights):
    """A sentence that stands in the list twice keeps only its last weight. A dictionary with the sentences as keys forgets
    the first one: walk through sentences and weights side by side."""
    last = dict(zip(sentences, weights, strict=True))
    return first_order(list(last), list(last.values()))


@question.alternative
def with_counters(sentences, weights):
    follow = defaultdict(Counter)
    for (a, b), w in windows(sentences, weights, 2):
        follow[a][b] += w
    vocabulary, rows = tuple(words_of(sentences)), []
    for a in vocabulary:
        total = sum(follow[a].values())
        rows.append([follow[a][b] / total if total else 0 for b in vocabulary])
    return [vocabulary, rows]


@question.alternative
def with_one_hot_products(sentences, weights):
    vocabulary = np.unique([word for sentence in sentences for word in sentence.split()])
    N = np.zeros((len(vocabulary), len(vocabulary)), dtype=np.float32)
    for sentence, weight in zip(sentences, weights, strict=True):
        hot = (np.array(sentence.split())[:, None] == vocabulary).astype(np.float32)
        N = N + weight * hot[:-1].T @ hot[1:]
    total = N.sum(1, keepdims=True)
    return vocabulary.tolist(), np.where(total > 0, N / np.where(total > 0, total, 1), 0).astype(np.float32)
