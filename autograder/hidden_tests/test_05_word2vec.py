"""Hidden tests of lab 05: riddles, CBOW and its gradients, negative sampling, neighbours and analogies.

The references are loops over single numbers in ``math``; gradients are also compared with slopes of the loss.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.testing import (
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_unchanged,
    follow_through,
    hidden_test,
)

EQUIVALENT_MUTANTS = {
    "negative_sampling_loss: scores = (rows @ h[:, :, None])[:, :, -1]  # (B, 1+K)": "that axis has one item",
    "negative_sampling_loss: return loss, (g[:, None, :] @ rows)[:, -1], g[:, :, None] * h[:, None, :]": "that axis has one item",
}

SENTENCE = [
    "The",
    "competent",
    "services",
    "have",
    "not",
    "included",
    "them",
    "in",
    "the",
    "agenda",
    "on",
    "the",
    "grounds",
    "that",
    "they",
    "had",
    "been",
    "answered",
    "in",
    "a",
    "previous",
    "part-session",
]


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_with_right_forward = follow_through(
    """
import numpy as np


def cbow_forward(context, W_in, W_out):
    h = np.mean([W_in[word] for word in context], axis=0)
    scores = W_out.dot(h)
    return h, np.exp(scores - np.logaddexp.reduce(scores))
""",
    "cbow_forward",
)


# ------------------------------------------------------------------------------------------------- references


def _windows(ids, m):
    found = []
    for t in range(len(ids)):
        context = [ids[i] for i in range(len(ids)) if i != t and abs(i - t) <= m]
        if context:
            found.append((context, ids[t]))
    return found


def _dot(a, b) -> float:
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def _forward(context, W_in, W_out):
    h = [math.fsum(float(W_in[c][d]) for c in context) / len(context) for d in range(len(W_in[0]))]
    scores = [_dot(row, h) for row in W_out]
    largest = max(scores)
    total = math.fsum(math.exp(s - largest) for s in scores)
    return np.array(h), np.array([math.exp(s - largest) / total for s in scores])


def _loss(context, target, W_in, W_out) -> float:
    h = [math.fsum(float(W_in[c][d]) for c in context) / len(context) for d in range(len(W_in[0]))]
    scores = [_dot(row, h) for row in W_out]
    largest = max(scores)
    return largest + math.log(math.fsum(math.exp(s - largest) for s in scores)) - scores[target]


def _backward(context, target, W_in, W_out):
    h, p = _forward(context, W_in, W_out)
    dW_in, dW_out = np.zeros(W_in.shape), np.zeros(W_out.shape)
    for i, row in enumerate(W_out):
        error = p[i] - (i == target)
        for d in range(len(row)):
            dW_out[i, d] = error * h[d]
            for c in context:
                dW_in[c, d] += error * row[d] / len(context)
    return dW_in, dW_out


def _softplus(s: float) -> float:
    return max(s, 0.0) + math.log1p(math.exp(-abs(s)))


def _sigmoid(s: float) -> float:
    return math.exp(-_softplus(-s))


def _noise_loss(h, rows) -> float:
    """The loss of one riddle: h (D,), rows (1+K, D)."""
    scores = [_dot(row, h) for row in rows]
    return _softplus(-scores[0]) + math.fsum(map(_softplus, scores[1:]))


def _noise_gradients(h, rows):
    g = [_sigmoid(_dot(row, h)) - (k == 0) for k, row in enumerate(rows)]
    dh = [math.fsum(g[k] * float(rows[k][d]) for k in range(len(rows))) for d in range(len(h))]
    return np.array(dh), np.array([[gk * float(x) for x in h] for gk in g])


def _slopes(function, table, step=1e-5):
    """The slope of ``function`` for every number of ``table``, by moving it up and down."""
    found = np.zeros(table.shape)
    for place in np.ndindex(table.shape):
        moved = []
        for sign in (1, -1):
            copy = table.copy()
            copy[place] += sign * step
            moved.append(function(copy))
        found[place] = (moved[0] - moved[1]) / (2 * step)
    return found


def _cosine(a, b) -> float:
    return _dot(a, b) / math.sqrt(_dot(a, a) * _dot(b, b))


def _ranked(way, vectors, words, left_out):
    pairs = [
        (word, _cosine(row, way)) for word, row in zip(words, vectors, strict=True) if word not in left_out
    ]
    return sorted(pairs, key=lambda pair: -pair[1])


def _way(a, b, c, vectors, words):
    rows = [vectors[words.index(word)] for word in (a, b, c)]
    unit = [np.asarray(row) / math.sqrt(_dot(row, row)) for row in rows]
    return unit[1] - unit[0] + unit[2]


def _parts(result, count, names):
    several = isinstance(result, (tuple, list)) and len(result) == count
    expect(result is not None, "the result is None: does your function return its result?")
    expect(several, f"your function should return {count} things: {names}")
    return result


# --------------------------------------------------------------------------------------------- context_windows


def _riddles(result):
    """The student's riddles as (list, target) pairs."""
    expect(isinstance(result, (list, tuple)), "the result should be a list of pairs (context, target)")
    pairs = all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in result)
    expect(pairs, "each riddle should be a pair (context, target)")
    expect(
        all(isinstance(context, (list, tuple, np.ndarray)) for context, _ in result),
        "each riddle should begin with its context, a list",
    )
    return [(list(context), target) for context, target in result]


# In each question a test's inputs leave out whatever the other tests are about: a slip fails those tests that are about it.


@hidden_test("context_windows", weight=0.3)
def test_the_lectures_three_windows(student):
    """have, not and included have the contexts that the lecture lists."""
    found = {target: context for context, target in _riddles(student(SENTENCE, 3))}
    expected = {
        "have": "The competent services not included them",
        "not": "competent services have included them in",
        "included": "services have not them in the",
    }
    for target, context in expected.items():
        expect_equal(found.get(target), context.split(), f"the context of “{target}”")


@hidden_test("context_windows", weight=0.1)
def test_every_position_is_a_target_once(student, rng):
    """With one word on each side: every position is a target once, from left to right."""
    for length in (2, 3, 9):
        ids = (1 + rng.permutation(100)[:length]).tolist()
        expect_equal(_riddles(student(ids, 1)), _windows(ids, 1), "the list of riddles")
    expect_unchanged(student)


@hidden_test("context_windows", weight=0.5)
def test_wider_windows_are_cut_at_the_ends(student, rng):
    """Wider windows are cut at both ends; a sentence shorter than the window is all context."""
    for m, length in ((4, 3), (2, 14), (3, 11), (5, 23), (4, 2), (2, 3), (9, 4)):
        ids = (1 + rng.permutation(100)[:length]).tolist()
        expect_equal(_riddles(student(ids, m)), _windows(ids, m), "the list of riddles of a wide window")


@hidden_test("context_windows", weight=0.4)
def test_a_lone_word_gives_no_riddle(student):
    """A sentence of one word gives no riddle, and neither does one of none."""
    for ids in ([7], [], ["alone"]):
        expect_equal(_riddles(student(ids, 2)), [], "the riddles of a sentence without any context")


@hidden_test("context_windows", weight=0.3)
def test_a_word_beside_its_twin_stays_a_hint(student, rng):
    """In the middle of a sentence, one word on each side: the same word beside the target is a hint."""
    a, b, c, d = (1 + rng.permutation(50)[:4]).tolist()
    for ids in ([a, b, b, c, d], [a, b, c, c, c, d], [a, b, b, b, b, b, c]):
        got = _riddles(student(ids, 1))[1:-1]
        expect_equal(got, _windows(ids, 1)[1:-1], "the riddles with a word beside its twin")


@hidden_test("context_windows", weight=0.8)
def test_repeated_words_stay_where_they_are(student, rng):
    """In wider windows, too, only the target's own position is left out, and all hints keep their order."""
    expect_equal(
        _riddles(student(["sea", "sea"], 3)), _windows(["sea", "sea"], 3), "the riddles of two equal words"
    )
    a, b, c, d = (1 + rng.permutation(50)[:4]).tolist()
    for m, ids in ((2, [a, b, a, c, a, d]), (3, [a, b, c, a, d, b, c]), (4, [b, b, a, d, a, b, c, a])):
        expect_equal(_riddles(student(ids, m)), _windows(ids, m), "the riddles of a sentence with repeats")


@hidden_test("context_windows", weight=0.6)
def test_the_word_with_id_0_is_a_word(student, rng):
    """The id 0 is a word like any other, as a hint and as the target; so is the empty string."""
    a, b, c, d = (1 + rng.permutation(50)[:4]).tolist()
    for m, ids in (
        (2, [a, b, 0, c, d]),
        (3, [a, 0, b, 0, c]),
        (2, [a, b, c, d, 0]),
        (2, ["sea", "", "land"]),
    ):
        got = _riddles(student(ids, m))[-1:]
        expect_equal(got, _windows(ids, m)[-1:], "the last riddle of a sentence with the id 0")


@hidden_test("context_windows", weight=0.2)
def test_sentences_of_every_kind(student, rng):
    """Windows of any width over sentences in which everything meets: repeats, twins, the id 0, few words and many, and strings."""
    a, b, c, d = (1 + rng.permutation(50)[:4]).tolist()
    sentences = [[0, a, b, 0, a, c, d, b, a, 0, c, b, a, a, d], [0, a, 0, 0, b, 0], [a, b, b, c, b, d]]
    sentences += [[0, a, b, a], [0, 0, 0, 0], [a, a, a], [0, 0], [0, a]]
    for ids in (*sentences, ["sea", "land", "sea", "", "sea", "sand"]):
        for m in (1, 2, 3, 5, 20):
            expect_equal(_riddles(student(ids, m)), _windows(ids, m), "the list of riddles")
    expect_equal(_riddles(student([a], 1)), [], "the riddles of a sentence without any context")


# ------------------------------------------------------------------------------------------------ cbow_forward


def _contexts(rng, V):
    """Contexts of every kind for a table of V words: longer than the table too, the first word and the last in them."""
    a, b, c = rng.choice(V, 3, replace=V < 3).tolist()
    return [[a], [b, b, b], [0, V - 1], [a, b, c], [a, a, b], [c, b, a, b, b, c, a, b, 0], list(range(V))]


def _tables(rng, V, D, scale=1.0) -> tuple[Any, Any]:
    return rng.normal(0, scale, size=(V, D)), rng.normal(0, scale, size=(V, D))


def _plain_tables(rng, V, D, context, not_best=None) -> tuple[Any, Any]:
    """Tables of few digits on which one answer is certain, so that all results have three decimals at most.

    No score is so large that an exponential overflows. The context has 1, 2 or 4 words; ``not_best`` is not the certain answer.
    """
    while True:
        W_in = rng.choice([-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0], size=(V, D))
        W_out = 240.0 * rng.integers(-2, 3, size=(V, D))
        h, each_once = W_in[context].mean(axis=0), W_in[sorted(set(context))].mean(axis=0)
        scores = np.sort(W_out @ h)
        told_apart = len(set(context)) in (1, len(context)) or not np.allclose(h, each_once)
        certain = scores[-1] - scores[-2] >= 30 and np.abs(scores).max() < 690
        if told_apart and certain and int((W_out @ h).argmax()) != not_best:
            return W_in, W_out


def _expect_hints(student, context, W_in, W_out, what):
    h, _ = _parts(student(context, W_in, W_out), 2, "h, p")
    expect_close(h, _forward(context, W_in, W_out)[0], f"the mean of the hints{what}", rtol=1e-6)


def _expect_probabilities(student, context, W_in, W_out, what="", rtol=1e-6):
    """That p is right for the student's own h: whoever has another h pays for that in the tests of h."""
    h, p = _parts(student(context, W_in, W_out), 2, "h, p")
    h = as_array(h)
    expect(h.shape == W_out.shape[1:], "the mean of the hints has the wrong shape")
    expect(np.isfinite(h).all(), "inf or nan (not a number) in the mean of the hints")
    scores = [_dot(row, h) for row in W_out]
    weights = [math.exp(s - max(scores)) for s in scores]
    expect_close(p, np.array(weights) / math.fsum(weights), f"the probabilities{what}", rtol=rtol)


@hidden_test("cbow_forward", weight=0.3)
def test_a_single_hint(student, rng):
    """A single hint is its own mean."""
    for V, D in ((7, 4), (5, 9), (12, 3), (4, 1)):
        _expect_hints(student, [int(rng.integers(V))], *_tables(rng, V, D), " of a single hint")


@hidden_test("cbow_forward", weight=0.4)
def test_the_mean_of_several_hints(student, rng):
    """h is the mean of the context's rows of W_in; the tables stay as they are."""
    for V, D, C in ((7, 4, 4), (5, 3, 2), (12, 3, 4)):
        context = rng.permutation(V)[:C].tolist()
        _expect_hints(student, context, *_plain_tables(rng, V, D, context), " of several hints")
        expect_unchanged(student, "compute with new arrays")


@hidden_test("cbow_forward", weight=0.4)
def test_repeated_hints(student, rng):
    """A word that stands in the context twice counts twice."""
    a, b, c = rng.permutation(6)[:3].tolist()
    for context in ([b, a, a, c], [c, a, a, a]):
        _expect_hints(student, context, *_plain_tables(rng, 6, 3, context), " with repeated words")


@hidden_test("cbow_forward", weight=0.5)
def test_the_first_hint_comes_again(student, rng):
    """The first word of the context comes again later, counts again, and finds its row as it was."""
    a, b, c = rng.permutation(6)[:3].tolist()
    for context in ([a, b, a, c], [c, b, c, c]):
        tables = _plain_tables(rng, 6, 3, context)
        _expect_hints(student, context, *tables, " where the first word comes again")
        expect_unchanged(student, "compute with new arrays")


@hidden_test("cbow_forward", weight=0.4)
def test_the_probabilities_of_all_words(student, rng):
    """p is the softmax of W_out · h."""
    for V, D, C in ((7, 4, 1), (5, 9, 3), (12, 3, 2), (4, 1, 1)):
        context = rng.permutation(V)[:C].tolist()
        _expect_probabilities(student, context, *_tables(rng, V, D))


@hidden_test("cbow_forward", weight=0.4)
def test_scores_of_a_thousand(student, rng):
    """Scores of a thousand and more give probabilities, one of them certain."""
    for context in ([1], [4]):
        W_in, W_out = _plain_tables(rng, 6, 3, context)
        W_in[:, 0], W_out[:] = 1, 0
        W_out[:, 0] = rng.permutation([2000, 1000, -3000, 2400, 0, 1960])
        _expect_probabilities(student, context, W_in, W_out, " for large scores")


@hidden_test("cbow_forward", weight=0.3)
def test_large_scores_close_together(student, rng):
    """Large scores that lie close together give all words a share."""
    W_in, W_out = _tables(rng, 8, 3)
    W_in[:, 0], W_out[:, 0] = 1, 1000
    _expect_probabilities(
        student, [5], W_in, W_out, " for large scores", rtol=1e-3
    )  # single precision: four decimals


@hidden_test("cbow_forward", weight=0.3)
def test_tables_of_other_sizes(student, rng):
    """Two thousand words, rows of 1,024 numbers, and views of a larger table."""
    for V, D in ((2000, 2), (3, 1024)):
        W_in, W_out = rng.integers(1, 9, size=(V, D)) / 8, np.zeros((V, D))
        W_out[V // 2, 0] = 320
        _expect_probabilities(student, [V - 1], W_in, W_out, " for tables of another size")
    W_in, W_out = _plain_tables(rng, 7, 4, [6])
    both = np.empty((4, 14))
    both[:, ::2], both[:, 1::2] = W_in.T, W_out.T
    _expect_probabilities(student, [6], both.T[::2], both.T[1::2], " for views of a larger table")


@hidden_test("cbow_forward", weight=0.2)
def test_contexts_of_every_kind(student, rng):
    """Repeats, any number of hints, scores of any sign and size, and tables of any shape meet."""
    for V, D in ((5, 3), (4, 4), (3, 6), (30, 2), (5, 1)):
        W_in, W_out = _tables(rng, V, D)
        for context in _contexts(rng, V):
            for tables in ((W_in, W_out), (abs(W_in), -abs(W_out))):
                _expect_hints(student, context, *tables, " of a context of any kind")
                _expect_probabilities(student, context, *tables, " for a context of any kind", rtol=1e-5)
    a, b, c = rng.permutation(6)[:3].tolist()
    for context in ([a, b], [a, b, b, c], [c, c]):
        W_in, W_out = _plain_tables(rng, 6, 3, context)
        _expect_hints(student, context, W_in, 1000 * W_out, " for large scores")
        _expect_probabilities(student, context, W_in, 1000 * W_out, " for large scores")


# ----------------------------------------------------------------------------------------------- cbow_backward


def _gradients(student, context, target, W_in, W_out):
    return _parts(student(context, target, W_in, W_out), 2, "dW_in, dW_out")


def _expect_backward(student, context, target, W_in, W_out, what=""):
    dW_in, dW_out = _gradients(student, context, target, W_in, W_out)
    expected_in, expected_out = _backward(context, target, W_in, W_out)
    expect_close(dW_out, expected_out, f"the gradient of W_out{what}")
    expect_close(dW_in, expected_in, f"the gradient of W_in{what}")


def _expect_shares(student, context, target, W_in, W_out, what):
    """That every hint has its share of a gradient of h, whichever that is, and that no other word has any."""
    dW_in = as_array(_gradients(student, context, target, W_in, W_out)[0])
    expect(dW_in.shape == W_in.shape, "the gradient of W_in has the wrong shape")
    counts = np.bincount(context, minlength=len(W_in))
    share = dW_in.sum(axis=0) / len(context)
    expect(np.abs(share).max() > 0.01, f"the gradient of W_in{what} is zero")
    expect_close(dW_in, np.outer(counts, share), f"the shares in the gradient of W_in{what}")


@hidden_test("cbow_backward", weight=0.9)
@_with_right_forward
def test_the_gradients_of_a_single_hint(student, rng):
    """With a single hint, moving any number of a table changes the loss as the gradient says, to 1e-6."""
    for V, D in ((6, 3), (4, 5), (5, 1)):
        (W_in, W_out), (word, target) = _tables(rng, V, D), rng.permutation(V)[:2].tolist()
        found = _gradients(student, [word], target, W_in, W_out)
        for table, gradient, name in zip((0, 1), found, ("W_in", "W_out"), strict=True):

            def loss(moved, table=table, context=(word,), target=target, tables=(W_in, W_out)):
                return _loss(context, target, *(moved if i == table else t for i, t in enumerate(tables)))

            slopes = _slopes(loss, (W_in, W_out)[table])
            expect_close(gradient, slopes, f"the gradient of {name} of a single hint", rtol=1e-6, atol=1e-6)


@hidden_test("cbow_backward", weight=1.1)
@_with_right_forward
def test_the_gradient_of_the_answers(student, rng):
    """The gradient of W_out: for contexts of any length, with repeated words and with the target among them."""
    for V, D in ((7, 4), (13, 6)):
        W_in, W_out = _tables(rng, V, D)
        a, b, c = rng.permutation(V)[:3].tolist()
        for context, target in (([a, b, c], a), ([a, a, b], c), ([b, b], b), ([c], a)):
            _, dW_out = _gradients(student, context, target, W_in, W_out)
            expect_close(dW_out, _backward(context, target, W_in, W_out)[1], "the gradient of W_out")
    expect_unchanged(student, "compute the gradients, and leave the step to the training")


@hidden_test("cbow_backward", weight=0.5)
@_with_right_forward
def test_gradients_of_large_scores(student, rng):
    """When the scores are large, the gradients stay finite and right."""
    for _ in range(2):
        a, b = rng.permutation(6)[:2].tolist()
        W_in, W_out = _plain_tables(rng, 6, 3, [a], b)
        _expect_backward(student, [a], b, W_in, W_out * 1000, " for large scores")
        expect_unchanged(student, "compute the gradients, and leave the step to the training")


def _expect_hints_gradient(student, context, target, W_in, W_out, what):
    """That dW_in is right but for its sign, which other tests are about."""
    dW_in = as_array(_gradients(student, context, target, W_in, W_out)[0])
    expected = _backward(context, target, W_in, W_out)[0]
    turned = dW_in.shape == expected.shape and np.allclose(dW_in, -expected)
    expect_close(-dW_in if turned else dW_in, expected, f"the gradient of W_in{what}")


@hidden_test("cbow_backward", weight=0.9)
@_with_right_forward
def test_several_hints_share_the_gradient(student, rng):
    """Each of several hints gets its share, and no other word does."""
    for V, C in ((6, 2), (9, 4)):
        words = rng.permutation(V).tolist()
        context, target = words[:C], words[-1]
        tables = _plain_tables(rng, V, 3, context, target)
        _expect_hints_gradient(student, context, target, *tables, " of several hints")


@hidden_test("cbow_backward", weight=0.5)
@_with_right_forward
def test_repeated_hints_get_a_share_each_time(student, rng):
    """A word that stands in the context twice gets two shares, all of one size."""
    a, b, c, d = rng.permutation(7)[:4].tolist()
    for context in ([a, a, b, c], [c, a, c, c]):
        tables = _plain_tables(rng, 7, 3, context, d)
        _expect_hints_gradient(student, context, d, *tables, " with repeated words")


@hidden_test("cbow_backward", weight=0.3)
@_with_right_forward
def test_a_target_among_its_own_hints(student, rng):
    """A target that stands among its own hints gets its share."""
    a, b, c, d = rng.permutation(7)[:4].tolist()
    for context, target in (([a, b, c, d], c), ([a, b], a)):
        tables = _plain_tables(rng, 7, 3, context, target)
        _expect_shares(student, context, target, *tables, " where the target is among its hints")


@hidden_test("cbow_backward", weight=0.8)
@_with_right_forward
def test_a_repeated_target_among_its_own_hints(student, rng):
    """A target that stands among its own hints twice gets two shares."""
    a, b, c = rng.permutation(7)[:3].tolist()
    for context, target in (([a, b, a, c], a), ([b, c, b, b], b)):
        tables = _plain_tables(rng, 7, 3, context, target)
        _expect_shares(student, context, target, *tables, " where the target is among its hints twice")


@hidden_test("cbow_backward", weight=0.3)
@_with_right_forward
def test_riddles_of_every_kind(student, rng):
    """Repeats, any number of hints, targets in and out of the context, large scores, and tables of any shape meet."""
    for V, D in ((5, 3), (4, 4), (3, 6), (12, 2), (5, 1)):
        W_in, W_out = _tables(rng, V, D)
        for context in _contexts(rng, V):
            for target in {0, V - 1, context[0]}:
                found = _gradients(student, context, target, W_in, W_out)
                for one, right, name in zip(
                    found, _backward(context, target, W_in, W_out), ("W_in", "W_out"), strict=True
                ):
                    expect_close(
                        one, right, f"the gradient of {name} of a riddle of any kind", rtol=1e-5, atol=2e-6
                    )
    a, b, c, d = rng.permutation(6)[:4].tolist()
    for context, target in (
        ([a, b], d),
        ([a, b, b, c], d),
        ([c, d], d),
        ([d, c, d, d], d),
        ([a, b, a, d], d),
    ):
        W_in, W_out = _plain_tables(rng, 6, 3, context, target)
        _expect_backward(student, context, target, W_in, W_out * 1000, " for large scores")


# -------------------------------------------------------------------------------------- negative_sampling_loss


def _expected_noise(h, rows):
    """The losses of a batch, dh and drows."""
    gradients = [_noise_gradients(a, b) for a, b in zip(h, rows, strict=True)]
    losses = np.array([_noise_loss(a, b) for a, b in zip(h, rows, strict=True)])
    return losses, np.array([d for d, _ in gradients]), np.array([d for _, d in gradients])


def _expect_noise(student, h, rows, what="", parts="loss dh drows"):
    """That the named parts of the result are right; all three have to be there."""
    found = _parts(student(h, rows), 3, "loss, dh, drows")
    names = {"loss": "the loss", "dh": "the gradient dh", "drows": "the gradient drows"}
    for part, one, expected in zip(names, found, _expected_noise(h, rows), strict=True):
        if part in parts.split():
            expect_close(one, expected, f"{names[part]}{what}", rtol=1e-5, atol=1e-6)


def _large(rng, B, K) -> tuple[Any, Any]:
    """A batch of few digits whose scores lie near ±1,000, some right and some wrong."""
    h = np.column_stack([np.ones(B), rng.choice([-1.0, -0.5, 0.5, 1.0], size=(B, 2))])
    rows = rng.integers(-8, 9, size=(B, 1 + K, 3)) / 8
    rows[:, :, 0] += rng.choice([-1000.0, 1000.0], size=(B, 1 + K))
    rows[:, :2, 0] = -1000, 1000
    return h, rows


@hidden_test("negative_sampling_loss", weight=0.75)
def test_one_riddle(student, rng):
    """A single riddle with few noise words: moving any number changes the formula's loss as the gradients say."""
    for K in (1, 2, 5):
        h, rows = rng.normal(size=(1, 3)), rng.normal(size=(1, 1 + K, 3))
        _, dh, drows = _parts(student(h, rows), 3, "loss, dh, drows")
        by_h = _slopes(lambda moved, rows=rows: _noise_loss(moved, rows[0]), h[0])[None]
        by_rows = _slopes(lambda moved, h=h: _noise_loss(h[0], moved), rows[0])[None]
        expect_close(dh, by_h, "the gradient dh of one riddle", rtol=1e-6, atol=1e-6)
        expect_close(drows, by_rows, "the gradient drows of one riddle", rtol=1e-6, atol=1e-6)
    expect_unchanged(student, "make new arrays")


@hidden_test("negative_sampling_loss", weight=0.5)
def test_the_losses_of_a_batch(student, rng):
    """Every riddle of a batch has its own loss, whatever the shapes."""
    for B, K, D in ((3, 5, 4), (4, 2, 7), (2, 3, 1)):
        _expect_noise(student, rng.normal(size=(B, D)), rng.normal(size=(B, 1 + K, D)), parts="loss")


@hidden_test("negative_sampling_loss", weight=0.75)
def test_the_gradients_of_a_batch(student, rng):
    """Every riddle of a batch has its own gradients; views of larger arrays and an untrained model work alike."""
    for B, K, D in ((3, 5, 4), (4, 2, 7), (2, 3, 1)):
        _expect_noise(student, rng.normal(size=(B, D)), rng.normal(size=(B, 1 + K, D)), parts="dh drows")
    h, rows = rng.normal(size=(3, 6)).T[::2], rng.normal(size=(6, 3, 3))[::2]
    _expect_noise(student, h, rows, " of a view", parts="dh drows")
    h, rows = np.zeros((2, 3)), rng.normal(size=(2, 6, 3))
    _expect_noise(student, h, rows, " of an untrained model", parts="dh drows")


@hidden_test("negative_sampling_loss", weight=1)
def test_more_noise_words(student, rng):
    """Any number of noise words, two, six, fifteen: all of them push."""
    for K, D in ((2, 3), (6, 4), (15, 2)):
        h, rows = rng.normal(size=(1, D)), rng.normal(size=(1, 1 + K, D))
        _expect_noise(student, h, rows, " with many noise words", parts="dh drows")


@hidden_test("negative_sampling_loss", weight=1.25)
def test_the_losses_of_scores_of_a_thousand(student, rng):
    """Scores of ±1,000 give the losses that the formula gives."""
    for B, K in ((1, 1), (4, 3)):
        _expect_noise(student, *_large(rng, B, K), " for large scores", parts="loss")


@hidden_test("negative_sampling_loss", weight=0.75)
def test_the_gradients_of_scores_of_a_thousand(student, rng):
    """Scores of ±1,000 give finite and right gradients, in a batch, too."""
    for B, K in ((2, 1), (4, 3)):
        _expect_noise(student, *_large(rng, B, K), " for large scores", parts="dh drows")


@hidden_test("negative_sampling_loss", weight=0.3)
def test_batches_of_every_kind(student, rng):
    """One riddle or more with one noise word or many, scores of any size, and sizes that are equal meet."""
    for B, K, D in ((1, 1, 1), (1, 9, 3), (3, 1, 4), (4, 9, 2), (3, 2, 3), (12, 7, 1)):
        h, rows = rng.normal(size=(B, D)), rng.normal(size=(B, 1 + K, D))
        _expect_noise(student, h, rows, " of a batch of any kind")
    for B, K in ((1, 8), (3, 1), (3, 2), (5, 9)):
        _expect_noise(student, *_large(rng, B, K), " for large scores")


# ----------------------------------------------------------------------------------------------------- nearest


def _names(rng, V):
    words = [f"{a}{b}" for a in "bdgklmnprst" for b in ("a", "ea", "or", "ing")]
    return [words[i] for i in rng.permutation(len(words))[:V]]


def _vocabulary(rng, V, D) -> tuple[Any, Any]:
    """Words, and vectors of very different lengths."""
    return rng.normal(size=(V, D)) * np.exp(rng.normal(0, 1.5, size=(V, 1))), _names(rng, V)


def _around(rng, cosines, lengths):
    """Words, and vectors with these cosines to an axis and these lengths. Where a cosine is 1, the row lies on the axis."""
    across = rng.normal(size=(len(cosines), 3))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    cosines = np.array(cosines)[:, None]
    rows = np.hstack([cosines, np.sqrt(1 - cosines**2) * across]) * np.reshape(lengths, (-1, 1))
    return rows, _names(rng, len(rows))


def _pairs(result):
    """The result, a list of pairs."""
    expect(isinstance(result, (list, tuple)), "the result should be a list of pairs (word, cosine)")
    pairs = all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in result)
    expect(pairs, "each item of the result should be a pair (word, cosine)")
    return result


def _expect_ranking(student, result, expected, what, cosines=True):
    result = _pairs(result)
    expect_equal([word for word, _ in result], [word for word, _ in expected], f"the list of {what}")
    if not cosines:
        return
    found, right = np.array([float(as_array(c)) for _, c in result]), np.array([c for _, c in expected])
    wrong = not np.allclose(found, right, rtol=1e-5, atol=1e-6)
    if wrong and any(np.allclose(found, right.round(d), rtol=0, atol=1e-7) for d in range(5)):
        student.observe("cosines are rounded", True)  # evidence for a diagnosis, to however many decimals
        expect(False, f"the cosines of the {what} are rounded: return them as they are")
    expect(not wrong, f"wrong values in the cosines of the {what}")


#: With one decimal, so that a cosine that is rounded is right.
_COSINES = [1, 0.9, -1, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1, -0.2, -0.5, -0.9]


def _others(word, result, k):
    """The result without the word itself, which other tests are about; at most one place is lost to it."""
    others = [pair for pair in _pairs(result) if pair[0] != word]
    expect(k - 1 <= len(others) and len(result) <= k, f"the list should have {k} different words")
    return others


def _by_cosine(result):
    """The pairs of a result, the largest cosine first: their order is another test's."""
    return sorted(_pairs(result), key=lambda pair: -float(as_array(pair[1])))


@hidden_test("nearest", weight=0.4)
def test_the_words_in_their_order(student, rng):
    """The nearest first, the opposite ones last: the words alone, all vectors of one length, without the word itself."""
    for length in (1, 4):
        vectors, words = _around(rng, _COSINES, [length] * 12)
        order = rng.permutation(12)
        vectors, words, word = vectors[order], [words[i] for i in order], words[0]
        expected = _ranked(vectors[words.index(word)], vectors, words, {word})
        for k, found in ((5, student(word, vectors, words)), (9, student(word, vectors, tuple(words), 9))):
            others = _others(word, found, k)
            _expect_ranking(student, others, expected[: len(others)], "nearest words", cosines=False)


@hidden_test("nearest", weight=0.4)
def test_the_nearest_by_direction(student, rng):
    """The words with the largest cosine, whatever the lengths of their vectors, and their cosines, in any order, without the word itself."""
    for V, D, k in ((30, 5, 4), (17, 8, 7), (40, 2, 2)):
        vectors, words = _vocabulary(rng, V, D)
        for word in (words[0], words[V // 2], words[-1]):
            expected = _ranked(vectors[words.index(word)], vectors, words, {word})
            others = _by_cosine(_others(word, student(word, vectors, words, k), k))
            _expect_ranking(student, others, expected[: len(others)], "nearest words and cosines")


@hidden_test("nearest", weight=0.4)
def test_vectors_of_other_lengths_stay_as_they_are(student, rng):
    """The vectors that are given stay as they are, of whatever length; as many words come as are asked for, in order."""
    vectors, words = _around(rng, _COSINES, [2, 1, 8, 4, 1, 16, 32, 4, 1, 64, 2, 8])
    expected = _ranked(vectors[0], vectors, words, {words[0]})
    _expect_ranking(student, student(words[0], vectors, words, 6), expected[:6], "nearest words of a table")
    expect_unchanged(student, "compute with a new array")


@hidden_test("nearest", weight=0.4)
def test_all_others_when_there_are_fewer(student, rng):
    """All others when there are fewer than k, and never the word itself, in any order."""
    for count in (4, 2):
        vectors, words = _around(rng, [1, -1, 0.9, 0.8][:count], [2, 4, 8, 1][:count])
        for k in (9, count):
            found = _by_cosine(student(words[0], vectors, words, k))
            expected = _ranked(vectors[0], vectors, words, {words[0]})
            _expect_ranking(student, found, expected, "nearest words of few")


@hidden_test("nearest", weight=0.4)
def test_the_word_itself_is_left_out_but_not_its_twins(student, rng):
    """The word itself is left out; another word with the same direction is its nearest."""
    cosines = [0.6, -0.4, 1, 0.2, 0.8, 1, -0.7]
    vectors, words = _around(rng, cosines, [1, 2, 1, 8, 4, 4, 1])
    for word in (words[2], words[5]):  # one of the two stands before its twin, the other behind it
        expected = _ranked(vectors[words.index(word)], vectors, words, {word})[:3]
        found = student(word, vectors, words, 3)
        _expect_ranking(student, found, expected, "nearest words beside a twin", cosines=False)


@hidden_test("nearest", weight=0.15)
def test_neighbours_in_every_kind_of_table(student, rng):
    """Vectors of any length, a twin, few words or many, in a list or a tuple, with any k or none: all of it meets."""
    for count, twin in ((2, False), (5, True), (5, False), (12, True), (11, False)):
        cosines = [1.0, 0.9, *[1.0] * twin, 0.8, -1, 0.7, 0.6, 0.5, 0.3, -0.2, -0.5, -0.9][:count]
        vectors, words = _around(rng, cosines, 2.0 ** rng.integers(-4, 5, size=count))
        order = rng.permutation(count)
        if twin and order.argmin() > order.tolist().index(4):  # the first word before its opposite
            order = order[::-1]
        asked = [words[0], words[2]] if twin else [words[order[0]], words[order[-1]]]
        vectors, words = vectors[order], [words[i] for i in order]
        for word in asked:
            expected = _ranked(vectors[words.index(word)], vectors, words, {word})
            for form in (list, tuple):
                for k in (1, 3, count - 1, count, 30):
                    found = student(word, vectors, form(words), k)
                    _expect_ranking(student, found, expected[:k], "nearest words of any table")
                found = student(word, vectors, form(words))
                _expect_ranking(student, found, expected[:5], "five nearest words of any table")


# ----------------------------------------------------------------------------------------------------- analogy


def _corner(rng, uneven) -> tuple[Any, Any]:
    """A table in which row 3 nearly is the fourth corner of rows 0, 1 and 2, and nearer to it than they are.

    Whoever walks another way finds another word first; ``uneven`` vectors, added as they are, lead to another one, too.
    """
    while True:
        unit = rng.normal(size=(18, 5))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        unit[3] = unit[1] - unit[0] + unit[2]
        unit[3] += 0.2 * np.linalg.norm(unit[3]) * unit[4]
        unit[3] /= np.linalg.norm(unit[3])
        vectors = unit * (np.exp(rng.normal(0, 1.5, size=(18, 1))) if uneven else 1)
        a, b, c = unit[:3]
        others = [a - b + c, a + b + c, c] + ([vectors[1] - vectors[0] + vectors[2]] if uneven else [])
        long_ones_first = not uneven or (vectors[3:] @ (b - a + c)).argmax()
        if (
            (unit @ (b - a + c)).argmax() == 3
            and long_ones_first
            and all((unit[3:] @ way).argmax() for way in others)
        ):
            return vectors, _names(rng, 18)


def _expect_analogy(student, vectors, words, what, k=None, cosines=False):
    """The answers to the riddle of the first three words, the ``k`` best, or as many as by default."""
    a, b, c = words[:3]
    expected = _ranked(_way(a, b, c, vectors, words), vectors, words, {a, b, c})[: k or 3]
    found = student(*words[:3], vectors, words, *([] if k is None else [k]))
    _expect_ranking(student, found, expected, what, cosines)


@hidden_test("analogy", weight=0.2)
def test_the_fourth_corner(student, rng):
    """Where the vectors nearly form a parallelogram the fourth word is found: the word alone, all vectors of length 1."""
    for _ in range(3):
        _expect_analogy(student, *_corner(rng, uneven=False), "answers", k=1)


@hidden_test("analogy", weight=0.4)
def test_the_cosine_of_the_fourth_corner(student, rng):
    """Its cosine with b − a + c, all vectors of length 1."""
    for _ in range(3):
        _expect_analogy(student, *_corner(rng, uneven=False), "answers with their cosines", k=1, cosines=True)


@hidden_test("analogy", weight=0.4)
def test_the_fourth_corner_of_other_lengths(student, rng):
    """Vectors of very different lengths: all rows are brought to length 1 first, in a new array."""
    for _ in range(3):
        _expect_analogy(student, *_corner(rng, uneven=True), "answers among vectors of other lengths", k=1)
        expect_unchanged(student, "compute with a new array")


@hidden_test("analogy", weight=0.4)
def test_the_words_of_the_question_are_no_answers(student, rng):
    """The three words of the question are left out, also when all words are asked for."""
    vectors, words = _corner(rng, uneven=False)
    _expect_analogy(student, vectors, tuple(words), "answers among all words", k=20)


@hidden_test("analogy", weight=0.6)
def test_three_answers_behind_the_words_of_the_question(student, rng):
    """Three answers by default, also when all three words of the question would come first."""
    rows = 0.02 * rng.normal(size=(9, 4))
    rows[:, 0] += [1, 1, 1, 0.8, 0.6, 0.4, 0.2, -0.2, -0.4]
    rows[:, 1] += [0, 0, 0, 0.6, 0.8, 0.9, 1, 1, 0.9]
    lengths = np.array([[64.0], [1], [1], [2], [8], [1], [4], [2], [8]])
    _expect_analogy(student, rows * lengths, _names(rng, 9), "answers behind the words of the question")


def _riddle(rng, V):
    """Words, vectors of very different lengths, and three of the words; of nine these three would come first."""
    if V == 9:
        rows = 0.02 * rng.normal(size=(9, 4))
        rows[:, 0] += [1, 1, 1, 0.8, 0.6, 0.4, 0.2, -0.2, -0.4]
        rows[:, 1] += [0, 0, 0, 0.6, 0.8, 0.9, 1, 1, 0.9]
        words, order = _names(rng, 9), rng.permutation(9)
        lengths = np.array([[64.0], [1], [1], [2], [8], [1], [4], [2], [8]])
        return *words[:3], (rows * lengths)[order], [words[i] for i in order]
    while True:
        vectors, words = _vocabulary(rng, V, 4)
        a, b, c = (words[i] for i in rng.permutation(V)[:3])
        way = _way(a, b, c, vectors, words)
        apart = np.diff([cosine for _, cosine in _ranked(way, vectors, words, {a, b, c})])
        if np.linalg.norm(way) > 0.5 and np.min(np.abs(apart), initial=1) > 1e-4:
            return a, b, c, vectors, words


@hidden_test("analogy", weight=0.15)
def test_answers_in_every_kind_of_table(student, rng):
    """Words that stand anywhere, vectors of any length, few words or many, in a list or a tuple, with any k or none: all of it meets."""
    for V in (4, 5, 9, 18):
        a, b, c, vectors, words = _riddle(rng, V)
        expected = _ranked(_way(a, b, c, vectors, words), vectors, words, {a, b, c})
        for rows in (vectors, 4 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)):
            for form in (list, tuple):
                for k in (1, 2, 5, V, 30):
                    found = student(a, b, c, rows, form(words), k)
                    _expect_ranking(student, found, expected[:k], "answers in any table")
                found = student(a, b, c, rows, form(words))
                _expect_ranking(student, found, expected[:3], "three answers in any table")
