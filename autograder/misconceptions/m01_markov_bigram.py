"""Lab 01, Markov chains: named wrong answers with their hints, and correct answers in other styles."""

from __future__ import annotations

import itertools
import string
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from autograder.answers import alternative, misconception
from autograder.masters import master

ALPHABET = ["<S>", *string.ascii_lowercase, "<E>"]
INDEX = {token: i for i, token in enumerate(ALPHABET)}
reference = master("01_markov_bigram")


# ---------------------------------------------------------------------------------------------- normalise_rows


@misconception("normalise_rows", title="the columns are normalised instead of the rows")
def columns_normalised(N):
    """Your columns sum to one. That answers “what came before?”; the question is “what comes next?”, and
    the current word is the row. In NumPy axis=1 runs along a row."""
    total = N.sum(axis=0, keepdims=True)
    return np.divide(N, total, out=np.zeros(N.shape), where=total > 0)


@misconception("normalise_rows", title="the whole table is normalised at once")
def whole_table_normalised(N):
    """Your whole table sums to one: each cell is the probability of seeing that pair at all. The chain needs
    the probability of the next token *given* the current one, so each row has a sum of its own."""
    return N / N.sum() if N.sum() > 0 else np.zeros(N.shape)


@misconception("normalise_rows", title="a small number is added below the fraction line")
def small_number_below(N):
    """Your rows sum to a little less than one. A small number in the denominator alone avoids 0/0 but takes
    probability away from every row. Leave the full rows exact and treat the empty rows apart."""
    return N / np.sum(N + 0.0001, axis=1, keepdims=True)


@misconception("normalise_rows", title="an empty row turns into nan")
def empty_row_nan(N):
    """A row without counts became nan, because 0/0 is no number, and nan spreads to all that touches it.
    Divide only where the sum is greater than zero; a row never seen stays zero."""
    with np.errstate(all="ignore"):
        return N / N.sum(axis=1, keepdims=True)


@misconception("normalise_rows", title="an empty row becomes even")
def empty_row_even(N):
    """A row without counts got equal probabilities. That is an opinion about something that was never seen,
    and a fair one, but this lab pins a row of zeros. Lab 02 is about such opinions."""
    total = N.sum(axis=1, keepdims=True)
    return np.where(total > 0, N / np.where(total > 0, total, 1), 1 / N.shape[1])


@misconception("normalise_rows", title="softmax instead of division")
def softmax_of_counts(N):
    """Your rows are a softmax of the counts. Softmax is for scores, which may be negative; counts are already
    shares, and 5, 3, 2 should become .5, .3, .2 by plain division."""
    weights = np.exp(N - N.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@alternative("normalise_rows")
def row_by_row_in_plain_python(N):
    return [[float(n) / sum(map(float, row)) if sum(row) else 0.0 for n in row] for row in N]


@alternative("normalise_rows")
def by_a_diagonal_matrix(N):
    totals = np.einsum("ij->i", N)
    return np.diag(1.0 / np.where(totals == 0, 1.0, totals)) @ N


@alternative("normalise_rows")
def nan_to_zero_in_float32(N):
    N = np.array(N, dtype=np.float32)
    with np.errstate(all="ignore"):
        return np.nan_to_num((N.T / N.sum(1)).T)


@alternative("normalise_rows")
def with_torch(N):
    import torch

    N = torch.tensor(np.ascontiguousarray(N), dtype=torch.float64)
    return N / N.sum(dim=1, keepdim=True).clamp(min=1e-300)


# ------------------------------------------------------------------------------------------- transition_matrix


def _table(sentences, pairs_of):
    """Vocabulary and unnormalised table; ``pairs_of`` yields (current, next, weight)."""
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    N = np.zeros((len(vocabulary), len(vocabulary)))
    for current, following, weight in pairs_of:
        N[vocabulary.index(current), vocabulary.index(following)] += weight
    return vocabulary, N


def _pairs(sentences, weights):
    for sentence, weight in zip(sentences, weights, strict=True):
        words = sentence.split()
        for current, following in itertools.pairwise(words):
            yield current, following, weight


@misconception("transition_matrix", title="the weights are ignored")
def weights_ignored(sentences, weights):
    """Every sentence counts the same in your table. A sentence with weight 0.5 is said more often than one
    with 0.2: add its weight, not 1, for each of its pairs."""
    vocabulary, N = _table(sentences, _pairs(sentences, [1] * len(sentences)))
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="rows and columns are exchanged")
def transposed(sentences, weights):
    """Your table is turned around: it answers “what came before?”. The row is the current word and the column
    the next one, and the rows are normalised."""
    vocabulary, N = _table(sentences, ((b, a, w) for a, b, w in _pairs(sentences, weights)))
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="the last word of a sentence is followed by the next sentence")
def across_sentences(sentences, weights):
    """Your chain steps from the last word of one sentence to the first word of the next. Those two are
    neighbours in the list only; nobody said them in a row. Count inside each sentence."""
    spoken = [(word, weight) for s, weight in zip(sentences, weights, strict=True) for word in s.split()]
    vocabulary, N = _table(sentences, ((a, b, w) for (a, _), (b, w) in itertools.pairwise(spoken)))
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="divided by how often the word occurs")
def divided_by_occurrences(sentences, weights):
    """Some of your rows sum to less than one: those of words that also end a sentence. Divide by how often the
    word is *followed* by something, which is the row's own sum, and not by how often it occurs."""
    vocabulary, N = _table(sentences, _pairs(sentences, weights))
    occurs: Counter[str] = Counter()
    for sentence, weight in zip(sentences, weights, strict=True):
        for word in sentence.split():
            occurs[word] += weight
    return vocabulary, N / np.array([[occurs[word]] for word in vocabulary])


@misconception("transition_matrix", title="a pair counts once a sentence")
def a_pair_counts_once(sentences, weights):
    """A pair that occurs twice in one sentence counts once in your table, as in a set. It was said twice, so
    its weight is added twice."""
    once = (p for s, w in zip(sentences, weights, strict=True) for p in sorted(set(_pairs([s], [w]))))
    vocabulary, N = _table(sentences, once)
    return vocabulary, reference.normalise_rows(N)


@misconception("transition_matrix", title="weighted counts, not probabilities")
def not_normalised(sentences, weights):
    """Your rows hold summed weights and do not add up to one. The last step is missing: each row divided by
    its own sum, which you have just written."""
    return _table(sentences, _pairs(sentences, weights))


@misconception("transition_matrix", title="the vocabulary stands in the order of appearance")
def order_of_appearance(sentences, weights):
    """Your probabilities are right, but the words stand in the order in which they were first said. The lab
    pins the alphabetical order, for the vocabulary and so for the rows and columns of the table."""
    vocabulary, N = _table(sentences, _pairs(sentences, weights))
    spoken = list(dict.fromkeys(word for sentence in sentences for word in sentence.split()))
    at = [vocabulary.index(word) for word in spoken]
    return spoken, reference.normalise_rows(N)[np.ix_(at, at)]


@alternative("transition_matrix")
def with_counters(sentences, weights):
    follow: defaultdict[str, Counter] = defaultdict(Counter)
    for a, b, w in _pairs(sentences, weights):
        follow[a][b] += w
    vocabulary = tuple(sorted(set(" ".join(sentences).split())))
    rows = []
    for a in vocabulary:
        total = sum(follow[a].values())
        rows.append([follow[a][b] / total if total else 0 for b in vocabulary])
    return [vocabulary, rows]


@alternative("transition_matrix")
def with_one_hot_products(sentences, weights):
    vocabulary = np.unique([word for sentence in sentences for word in sentence.split()])
    N = np.zeros((len(vocabulary), len(vocabulary)), dtype=np.float32)
    for sentence, weight in zip(sentences, weights, strict=True):
        hot = (np.array(sentence.split())[:, None] == vocabulary).astype(np.float32)
        N = N + weight * hot[:-1].T @ hot[1:]
    total = N.sum(1, keepdims=True)
    return vocabulary.tolist(), np.where(total > 0, N / np.where(total > 0, total, 1), 0).astype(np.float32)


# ------------------------------------------------------------------------------------------------ second_order


def _triples(sentences, weights):
    for sentence, weight in zip(sentences, weights, strict=True):
        words = sentence.split()
        for a, b, c in zip(words, words[1:], words[2:], strict=False):
            yield (a, b), c, weight


def _context_table(sentences, triples, contexts=None):
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    triples = list(triples)
    contexts = sorted({context for context, _, _ in triples} | set(contexts or ()))
    N = np.zeros((len(contexts), len(vocabulary)))
    for context, following, weight in triples:
        N[contexts.index(context), vocabulary.index(following)] += weight
    return contexts, vocabulary, reference.normalise_rows(N)


@misconception("second_order", title="the two words of a context are exchanged")
def context_backwards(sentences, weights):
    """Your contexts name the later word first. A context is read as it is spoken: (battery, ran), then what
    comes next."""
    return _context_table(sentences, (((b, a), c, w) for (a, b), c, w in _triples(sentences, weights)))


@misconception("second_order", title="the order of the two words is lost")
def context_unordered(sentences, weights):
    """Your contexts (a, b) and (b, a) share a row. The order in which two words are said is information: keep
    the pair as it is spoken and sort the list of pairs, not the words inside a pair."""
    return _context_table(sentences, ((tuple(sorted(p)), c, w) for p, c, w in _triples(sentences, weights)))


@misconception("second_order", title="the weights are ignored in the second order")
def second_order_unweighted(sentences, weights):
    """Every sentence counts the same in your second-order table. Add the sentence's weight, not 1, for each
    step."""
    return _context_table(sentences, _triples(sentences, [1] * len(sentences)))


@misconception("second_order", title="the last pair of a sentence gets a row")
def final_pairs_kept(sentences, weights):
    """You keep a row of zeros for the pair that ends a sentence. Nothing ever follows it, so there is nothing to
    predict: only pairs that some word follows have a row."""
    pairs = {pair for s in sentences for pair in itertools.pairwise(s.split())}
    return _context_table(sentences, _triples(sentences, weights), pairs)


@misconception("second_order", title="contexts reach into the next sentence")
def second_order_across_sentences(sentences, weights):
    """Some of your contexts join the end of one sentence to the beginning of the next. Nobody said those words
    in a row. Count inside each sentence."""
    said = [(word, w) for s, w in zip(sentences, weights, strict=True) for word in s.split()]
    steps = zip(said, said[1:], said[2:], strict=False)
    return _context_table(sentences, (((a, b), c, w) for (a, _), (b, _), (c, w) in steps))


@misconception("second_order", title="the most recent word is skipped")
def a_gap_in_the_context(sentences, weights):
    """Your context holds an earlier word and the *next* word is predicted one step too late, or the most recent
    word is left out. The context is the two words directly before the predicted one."""
    steps = []
    for s, w in zip(sentences, weights, strict=True):
        words = s.split()
        steps += [((a, b), d, w) for a, b, d in zip(words, words[1:], words[3:], strict=False)]
    return _context_table(sentences, steps)


@misconception("second_order", title="the second-order rows are not normalised")
def second_order_not_normalised(sentences, weights):
    """Your second-order rows hold summed weights. Each row should be divided by its own sum, as in the first
    order."""
    contexts, vocabulary, P = _context_table(sentences, _triples(sentences, weights))
    totals: Counter[tuple] = Counter()
    for context, _, weight in _triples(sentences, weights):
        totals[context] += weight
    return contexts, vocabulary, P * np.array([[totals[c]] for c in contexts]).reshape(-1, 1)


@alternative("second_order")
def by_dictionaries(sentences, weights):
    follow: defaultdict[tuple, defaultdict] = defaultdict(lambda: defaultdict(float))
    for pair, c, w in _triples(sentences, weights):
        follow[pair][c] += w
    vocabulary = sorted(set(" ".join(sentences).split()))
    P = [[follow[pair][c] / sum(follow[pair].values()) for c in vocabulary] for pair in sorted(follow)]
    return sorted(follow), vocabulary, np.array(P).reshape(-1, len(vocabulary))


@alternative("second_order")
def through_the_full_cube_in_float32(sentences, weights):
    vocabulary = sorted(set(" ".join(sentences).split()))
    V = len(vocabulary)
    cube = np.zeros((V, V, V), dtype=np.float32)
    for (a, b), c, w in _triples(sentences, weights):
        cube[tuple(map(vocabulary.index, (a, b, c)))] += w
    rows = cube.reshape(V * V, V)
    kept = np.flatnonzero(rows.sum(1))
    contexts = [[vocabulary[k // V], vocabulary[k % V]] for k in kept]
    return contexts, vocabulary, rows[kept] / rows[kept].sum(1, keepdims=True)


# ----------------------------------------------------------------------------------------------- bigram_counts


def _count(words, tokens_of):
    N = np.zeros((28, 28))
    for word in words:
        for a, b in itertools.pairwise(tokens_of(word)):
            N[INDEX[a], INDEX[b]] += 1
    return N


@misconception("bigram_counts", title="no start token")
def no_start(words):
    """Nothing follows <S> in your table, so it does not know how names begin. Put <S> before the first letter
    of every name."""
    return _count(words, lambda word: [*word, "<E>"])


@misconception("bigram_counts", title="no end token")
def no_end(words):
    """Nothing leads to <E> in your table: a chain made from it could never stop. Put <E> after the last letter
    of every name."""
    return _count(words, lambda word: ["<S>", *word])


@misconception("bigram_counts", title="the counts are transposed")
def counts_transposed(words):
    """Your counts stand in the transposed cell: the row should be the current token and the column the one that
    follows."""
    return reference.bigram_counts(words).T


@misconception("bigram_counts", title="repeated names count once")
def distinct_names_only(words):
    """A name that stands in the list twice counts once in your table. The list says how often a name was met:
    count every occurrence."""
    return reference.bigram_counts(sorted(set(words)))


@misconception("bigram_counts", title="seen or not seen, instead of how often")
def seen_or_not(words):
    """Your table holds only 0 and 1. Whether a pair was ever seen is not enough: add 1 each time you meet it
    (indexing with whole lists and += adds only once; np.add.at adds each time)."""
    return (reference.bigram_counts(words) > 0).astype(int)


@misconception("bigram_counts", title="one token for start and end")
def one_boundary_token(words):
    """You use the same token for the start and for the end. That is a fine convention, and makemore's, but this
    table has 28 tokens: <S> has index 0 and <E> has index 27."""
    N = reference.bigram_counts(words)
    N[:, 0] += N[:, 27]
    N[:, 27] = 0
    return N


@misconception("bigram_counts", title="the names run into one another")
def names_in_one_stream(words):
    """Your table counts a step from <E> to <S>, so the names were joined into one long stream. Nothing follows
    <E>: count inside each name."""
    N = reference.bigram_counts(words)
    N[27, 0] += len(words) - 1
    return N


@alternative("bigram_counts")
def with_add_at(words):
    ids = [[0, *(ord(letter) - 96 for letter in word), 27] for word in words]
    N = np.zeros((28, 28), dtype=np.int32)
    np.add.at(N, ([i for row in ids for i in row[:-1]], [i for row in ids for i in row[1:]]), 1)
    return N


@alternative("bigram_counts")
def with_a_counter_of_pairs(words):
    pairs = Counter(p for word in words for p in itertools.pairwise(["<S>", *word, "<E>"]))
    return [[pairs[a, b] for b in ALPHABET] for a in ALPHABET]


@alternative("bigram_counts")
def with_bincount_in_float32(words):
    text = np.frombuffer("".join(f"`{word}{{" for word in words).encode(), dtype=np.uint8).astype(int) - 96
    steps = text[:-1] * 28 + text[1:]
    N = np.bincount(steps[text[:-1] != 27], minlength=784).reshape(28, 28)
    return N.astype(np.float32)


# ------------------------------------------------------------------------------------------------- sample_name


def _walk(draw, limit=200):
    letters: list[int] = []
    current = 0
    while len(letters) < limit:
        current = int(draw(current))
        if current == 27:
            break
        letters.append(current)
    return "".join(ALPHABET[i] for i in letters)


@misconception("sample_name", title="the most likely letter instead of a draw")
def takes_the_largest(P, rng):
    """Your function always takes the most likely next token, so it writes the same name for ever. Draw the next
    token at random with the probabilities of the current row."""
    return _walk(lambda current: P[current].argmax())


@misconception("sample_name", title="every letter is drawn from the row of <S>")
def never_leaves_the_start(P, rng):
    """Every letter of your names comes from the row of <S>: the chain never moves on. After a draw, the token
    drawn becomes the current one, and the next draw uses its row."""
    letters: list[int] = []
    while len(letters) < 20 and rng.random() < 0.8:
        letters.append(int(rng.choice(28, p=P[0])))
    return "".join(ALPHABET[i] for i in letters if i != 27)


@misconception("sample_name", title="the draw ignores the probabilities")
def ignores_the_probabilities(P, rng):
    """Every possible next token is equally likely in your names. The size of the probability matters: hand the
    row to the draw, with p=."""
    return _walk(lambda current: rng.choice(np.flatnonzero(P[current])))


@misconception("sample_name", title="the randomness does not come from rng")
def own_randomness(P, rng):
    """Your names are well distributed, but the same generator state gives different names. All randomness must
    come from the generator rng that the function is given, so that a run can be repeated."""
    return reference.sample_name(P, np.random.default_rng())


@misconception("sample_name", title="a new generator in every call")
def a_new_generator_each_time(P, rng):
    """Your function makes its own generator with a fixed seed, so every call gives the same name. Draw from the
    rng that you are given; it goes on where the last name stopped."""
    return reference.sample_name(P, np.random.default_rng(0))


@misconception("sample_name", title="the last letter is missing")
def last_letter_dropped(P, rng):
    """Your names lack their last letter. Stop when <E> is drawn, but keep every letter drawn before it."""
    return reference.sample_name(P, rng)[:-1]


@misconception("sample_name", title="the markers stand in the name")
def markers_kept(P, rng):
    """Your names carry <S> or <E>. The markers say where a name begins and ends; they are no letters of it."""
    return "<S>" + reference.sample_name(P, rng) + "<E>"


@misconception("sample_name", title="the column is drawn from instead of the row")
def draws_from_the_column(P, rng):
    """Your names walk against the arrows: you draw from a column of the table. The row of the current token
    holds the probabilities of what comes next."""

    def draw(current):
        column = P[:, current]
        return rng.choice(28, p=column / column.sum()) if column.sum() > 0 else 27

    return _walk(draw, 30)


@alternative("sample_name")
def by_multinomial_and_argmax(P, rng):
    return _walk(lambda current: np.argmax(rng.multinomial(1, P[current])), 100_000)


@alternative("sample_name")
def by_cumulative_sums(P, rng):
    steps = np.cumsum(P, axis=1)

    def draw(current):
        return min(np.searchsorted(steps[current], rng.random() * steps[current, -1], side="right"), 27)

    return _walk(draw, 100_000)


@alternative("sample_name")
def by_the_gumbel_trick(P, rng):
    with np.errstate(divide="ignore"):
        scores = np.log(P)
    return _walk(lambda current: np.argmax(scores[current] + rng.gumbel(size=28)), 100_000)


@alternative("sample_name")
def by_tokens_and_recursion(P, rng):
    def rest(token):
        following = str(rng.choice(ALPHABET, p=P[ALPHABET.index(token)]))
        return "" if following == "<E>" else following + rest(following)

    return rest("<S>")


# ------------------------------------------------------------------------------------------------- average_nll


def _costs(P, word, start=True, end=True, log=np.log):
    tokens = [*(["<S>"] if start else []), *word, *(["<E>"] if end else [])]
    with np.errstate(all="ignore"):
        return [-log(P[INDEX[a], INDEX[b]]) for a, b in itertools.pairwise(tokens)]


@misconception("average_nll", title="averaged over names instead of steps")
def averaged_over_names(P, words):
    """Your result is a mean of the names' own means, so a step in a short name weighs more than one in a long
    name. Add up the cost of all steps of all names and divide once by the number of steps."""
    return float(np.mean([np.mean(_costs(P, word)) for word in words]))


@misconception("average_nll", title="the cost of a whole name")
def cost_of_a_name(P, words):
    """Your result is the average cost of a *name*. Divide by the number of steps instead, so that lists of long
    and of short names compare."""
    return float(np.mean([np.sum(_costs(P, word)) for word in words]))


@misconception("average_nll", title="the step to the end is not counted")
def end_not_counted(P, words):
    """The step from the last letter to <E> is missing. Where a name stops is part of what the model predicts: a
    name of n letters has n + 1 steps."""
    return float(np.mean([c for word in words for c in _costs(P, word, end=False)]))


@misconception("average_nll", title="the step from the start is not counted")
def start_not_counted(P, words):
    """The step from <S> to the first letter is missing. How a name begins is part of what the model predicts: a
    name of n letters has n + 1 steps."""
    return float(np.mean([c for word in words for c in _costs(P, word, start=False)]))


@misconception("average_nll", title="divided by the number of letters")
def divided_by_letters(P, words):
    """You add up all steps but divide by the number of letters. A name of n letters has n + 1 steps, for the end
    is predicted too."""
    return float(np.sum([c for word in words for c in _costs(P, word)]) / sum(map(len, words)))


@misconception("average_nll", title="bits instead of nats")
def in_bits(P, words):
    """Your result is in bits, with the logarithm to base 2. The course measures in nats: np.log."""
    return float(np.mean([c for word in words for c in _costs(P, word, log=np.log2)]))


@misconception("average_nll", title="the sign is missing")
def log_likelihood(P, words):
    """Your result is negative: it is the log-likelihood. The *negative* log-likelihood turns the sign, so that
    more surprise is a larger number."""
    return -float(np.mean([c for word in words for c in _costs(P, word)]))


@misconception("average_nll", title="a small number hides impossible steps")
def small_number_in_the_log(P, words):
    """You add a small number inside the logarithm, so an impossible step costs about 37 instead of infinity. It
    hides the one thing that this number should shout: the model ruled out what happened."""
    return float(np.mean([c for word in words for c in _costs(P + 1e-16, word)]))


@misconception("average_nll", title="perplexity instead of its logarithm")
def perplexity(P, words):
    """Your result is e to the NLL, the perplexity. It says among how many tokens the model seems to choose; the
    question asks for the NLL itself."""
    return float(np.exp(np.mean([c for word in words for c in _costs(P, word)])))


@misconception("average_nll", title="impossible steps are left out")
def impossible_steps_left_out(P, words):
    """You leave out the steps with probability zero. They are the worst predictions of all: one of them makes
    the average infinite."""
    costs = np.array([c for word in words for c in _costs(P, word)])
    return float(costs[np.isfinite(costs)].mean())


@alternative("average_nll")
def from_the_counts(P, words):
    N = reference.bigram_counts(words)
    seen = N > 0
    with np.errstate(divide="ignore"):
        return -(N[seen] * np.log(np.asarray(P)[seen])).sum() / N.sum()


@alternative("average_nll")
def a_running_sum_with_math(P, words):
    import math

    total, steps = 0.0, 0
    for word in words:
        before = "<S>"
        for token in [*word, "<E>"]:
            p = float(P[INDEX[before]][INDEX[token]])
            total -= math.log(p) if p > 0 else -math.inf
            steps, before = steps + 1, token
    return total / steps


@alternative("average_nll")
def in_float32_as_an_array(P, words):
    rows = [i for word in words for i in (0, *(ord(letter) - 96 for letter in word))]
    columns = [j for word in words for j in (*(ord(letter) - 96 for letter in word), 27)]
    with np.errstate(divide="ignore"):
        return np.mean(-np.log(P.astype(np.float32)[rows, columns]), dtype=np.float32)


# ------------------------------------------------------------------------------------ seen in students' own answers


@misconception("transition_matrix", title="a sentence listed twice counts once")
def weights_in_a_dictionary(sentences, weights):
    """A sentence that stands in the list twice keeps only its last weight. A dictionary with the sentences as keys forgets
    the first one: walk through sentences and weights side by side."""
    vocabulary = sorted({word for sentence in sentences for word in sentence.split()})
    N = np.zeros((len(vocabulary), len(vocabulary)))
    for sentence, weight in dict(zip(sentences, weights, strict=True)).items():
        words = sentence.split()
        for a, b in pairwise(words):
            N[vocabulary.index(a), vocabulary.index(b)] += weight
    total = N.sum(axis=1, keepdims=True)
    return vocabulary, np.divide(N, total, out=np.zeros(N.shape), where=total > 0)


@misconception("sample_name", title="the empty name is drawn again")
def never_an_empty_name(P, rng):
    """When the first draw is the end token you draw again, so the empty name never comes. That is another model than the
    table: take what is drawn."""
    while True:
        letters, current = "", 0
        while (current := int(rng.choice(28, p=P[current]))) != 27:
            letters += "abcdefghijklmnopqrstuvwxyz"[current - 1] if current else ""
        if letters:
            return letters
