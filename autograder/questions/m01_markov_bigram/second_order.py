"""Lab 01, second_order: sentences, weights → contexts (pairs, sorted), vocabulary (sorted), P (C, V)."""

from collections import Counter, defaultdict

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


def chain_of_pairs(sentences, weights):
    """The weights of all three neighbours, cell by cell."""
    vocabulary, said = words_of(sentences), list(windows(sentences, weights, 3))
    contexts = sorted({(a, b) for (a, b, _), _ in said})
    N = [[sum(w for words, w in said if words == (*pair, c)) for c in vocabulary] for pair in contexts]
    return contexts, vocabulary, normalised(np.reshape(N, (len(contexts), len(vocabulary))))


question = Question(chain_of_pairs, uses=("normalise_rows", "transition_matrix"), earlier=TAKES_LISTS)

REPORTS = ["check whether the battery ran down please", "check whether the program ran please"]
AFTER = {
    ("battery", "ran"): {"down": 1.0},
    ("check", "whether"): {"the": 1.0},
    ("program", "ran"): {"please": 1.0},
    ("ran", "down"): {"please": 1.0},
    ("the", "battery"): {"ran": 1.0},
    ("the", "program"): {"ran": 1.0},
    ("whether", "the"): {"battery": 0.4, "program": 0.6},
}


def of_the_reports():
    words = ["battery", "check", "down", "please", "program", "ran", "the", "whether"]
    return list(AFTER), words, [[row.get(word, 0.0) for word in words] for row in AFTER.values()]


@question.family("The two reports, and others in which no three neighbours come twice.", weight=1.5)
def each_row(rng):
    yield Case(REPORTS, [0.4, 0.6], gives=of_the_reports())
    words = rng.permutation(["zebra", "owl", "a", "the", "I", "mole", "and", "so"]).tolist()
    first, second = words[:4], [words[0], words[1], *words[4:]]
    yield [" ".join(one) for one in (first, second, words[2:6])], rng.integers(1, 9, size=3).tolist()


@question.family("A word that is said several times in a row is a context with itself.", weight=1.5)
def the_same_word_twice(rng):
    for words in (["no no yes", "so so far", "no no thanks", "far far so"], ["go go go", "go go up"]):
        yield words, rng.integers(1, 9, size=len(words)).tolist()


@question.family("Sentences that share and repeat words are counted with their weights.")
def weighted(rng):
    for count in (2, 5):
        again = ["a the mole", "a the owl", "a the mole"]  # under every salt something comes again
        yield [*some_sentences(rng, count), *again], rng.uniform(0.1, 1, count + 3).tolist()


@question.family("Contexts stay inside a sentence; short sentences only add to the vocabulary.", weight=0.5)
def inside_a_sentence(rng):
    yield ["c b a", "b a", "a", "a b c b", "d e"], rng.integers(1, 9, size=5).tolist()
    yield Case(["go on"], [1], gives=([], ["go", "on"], np.zeros((0, 2))))


@question.family(
    "(a, b) and (b, a) are different contexts, and one that comes again keeps adding up.", weight=0.5
)
def in_their_order(rng):
    yield ["b a c", "a b d", "a b c a b e a b c", "a a a a b"], rng.uniform(0.5, 1.5, 4).tolist()
    yield Case(["a b c a b c a b d"], [2.5])


@question.family("One and many, long and short, with blanks; small and large weights.", weight=0.5)
def all_together(rng):
    yield from all_kinds(rng)


def _table(sentences, steps, more=(), normalise=normalised):
    """The answer for steps ((a, b, following), weight), with a row for each pair of ``more``."""
    steps = [(tuple(context), following, weight) for (*context, following), weight in steps]
    contexts, vocabulary = sorted({context for context, _, _ in steps} | set(more)), words_of(sentences)
    return contexts, vocabulary, normalise(added_up(contexts, vocabulary, steps))


@question.misconception("the two words of a context are exchanged", costs=2)
def context_backwards(sentences, weights):
    """Your contexts name the later word first. A context is read as it is spoken: (battery, ran), then what
    comes next."""
    return _table(sentences, (((b, a, c), w) for (a, b, c), w in windows(sentences, weights, 3)))


@question.misconception("the order of the two words is lost", costs=2)
def context_unordered(sentences, weights):
    """Your contexts (a, b) and (b, a) share a row. The order in which two words are said is information: keep
    the pair as it is spoken and sort the list of pairs, not the words inside a pair."""
    return _table(sentences, (((*sorted(ab), c), w) for (*ab, c), w in windows(sentences, weights, 3)))


@question.misconception("the weights are ignored in the second order", costs=2, because="one slip")
def second_order_unweighted(sentences, weights):
    """Every sentence counts the same in your second-order table. Add the sentence's weight, not 1, for each
    step."""
    return _table(sentences, windows(sentences, [1] * len(sentences), 3))


@question.misconception("the last pair of a sentence gets a row", costs=1, because="all other rows are right")
def final_pairs_kept(sentences, weights):
    """You keep a row of zeros for the pair that ends a sentence. Nothing ever follows it, so there is nothing to
    predict: only pairs that some word follows have a row."""
    pairs = [pair for pair, _ in windows(sentences, weights, 2)]
    return _table(sentences, windows(sentences, weights, 3), pairs)


@question.misconception("words of short sentences are missing", costs=1)
def second_order_without_short_sentences(sentences, weights):
    """A sentence of one or two words has no context, but its words belong to the vocabulary. Collect the words before you leave it out."""
    return _table([s for s in sentences if len(s.split()) > 2], windows(sentences, weights, 3))


@question.misconception("a sentence listed twice counts once in the second order", costs=1)
def second_order_weights_in_a_dictionary(sentences, weights):
    """A sentence that stands in the list twice keeps only its last weight. A dictionary with the sentences as keys forgets the first
    one: walk through sentences and weights side by side."""
    last = dict(zip(sentences, weights, strict=True))
    return chain_of_pairs(list(last), list(last.values()))


@question.misconception("divided by how often the pair occurs", costs=1.5, because="most rows are right")
def second_order_divided_by_occurrences(sentences, weights):
    """Some of your rows sum to less than one: those of pairs that also end a sentence. Divide by how often a word *follows* the pair,
    which is the row's own sum."""
    contexts, vocabulary, N = _table(sentences, windows(sentences, weights, 3), normalise=np.array)
    occurs = Counter()
    for pair, weight in windows(sentences, weights, 2):
        occurs[pair] += weight
    return contexts, vocabulary, N / np.array([occurs[pair] for pair in contexts]).reshape(-1, 1)


@question.misconception("contexts reach into the next sentence", costs=2, because="one slip")
def second_order_across_sentences(sentences, weights):
    """Some of your contexts join the end of one sentence to the beginning of the next. Nobody said those words
    in a row. Count inside each sentence."""
    said = [(word, w) for s, w in zip(sentences, weights, strict=True) for word in s.split()]
    steps = zip(said, said[1:], said[2:], strict=False)
    return _table(sentences, (((a, b, c), w) for (a, _), (b, _), (c, w) in steps))


@question.misconception("the most recent word is skipped", costs=3)
def a_gap_in_the_context(sentences, weights):
    """Your context holds an earlier word and the *next* word is predicted one step too late, or the most recent
    word is left out. The context is the two words directly before the predicted one."""
    return _table(sentences, (((a, b, d), w) for (a, b, _, d), w in windows(sentences, weights, 4)))


@question.misconception("the second-order rows are not normalised", costs=2, because="one step is missing")
def second_order_not_normalised(sentences, weights):
    """Your second-order rows hold summed weights. Each row should be divided by its own sum, as in the first
    order."""
    return _table(sentences, windows(sentences, weights, 3), normalise=np.array)


@question.alternative
def by_dictionaries(sentences, weights):
    follow = defaultdict(lambda: defaultdict(float))
    for (*pair, c), w in windows(sentences, weights, 3):
        follow[tuple(pair)][c] += w
    vocabulary = sorted(set(" ".join(sentences).split()))
    P = [[follow[pair][c] / sum(follow[pair].values()) for c in vocabulary] for pair in sorted(follow)]
    return sorted(follow), vocabulary, np.array(P).reshape(-1, len(vocabulary))


@question.alternative
def through_the_full_cube_in_float32(sentences, weights):
    vocabulary = sorted(set(" ".join(sentences).split()))
    V = len(vocabulary)
    cube = np.zeros((V, V, V), dtype=np.float32)
    for words, w in windows(sentences, weights, 3):
        cube[tuple(map(vocabulary.index, words))] += w
    rows = cube.reshape(V * V, V)
    kept = np.flatnonzero(rows.sum(1))
    contexts = [[vocabulary[k // V], vocabulary[k % V]] for k in kept]
    return contexts, vocabulary, rows[kept] / rows[kept].sum(1, keepdims=True)
