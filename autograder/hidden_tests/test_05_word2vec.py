"""Hidden tests of lab 05: riddles, CBOW and its gradients, negative sampling, neighbours and analogies.

The references are loops over single numbers in ``math``; gradients are also compared with slopes of the loss.
"""

from __future__ import annotations

import math

import numpy as np

from autograder.testing import as_array, expect, expect_close, expect_equal, follow_through, hidden_test

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
UNCHANGED = "your function changes what it was given: make new arrays"


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


def _expect_riddles(student, ids, m, what):
    expect_equal(_riddles(student(ids, m)), _windows(ids, m), what)
    expect(not student.mutated, UNCHANGED)


@hidden_test("context_windows")
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


@hidden_test("context_windows", weight=2)
def test_every_position_is_a_target_once(student, rng):
    """Every position is a target once, from left to right, with up to m words on each side."""
    for m, length in ((1, 9), (2, 14), (3, 11), (5, 23)):
        _expect_riddles(student, rng.permutation(100)[:length].tolist(), m, "the list of riddles")


@hidden_test("context_windows")
def test_short_sentences(student, rng):
    """Sentences shorter than the window are all context; a lone word gives no riddle."""
    for length, m in ((2, 1), (2, 4), (3, 2), (4, 9)):
        _expect_riddles(student, rng.permutation(50)[:length].tolist(), m, "the riddles of a short sentence")
    _expect_riddles(student, ["sea", "sea"], 3, "the riddles of two words")
    for ids in ([7], [], ["alone"]):
        expect_equal(_riddles(student(ids, 2)), [], "the riddles of a sentence without any context")


@hidden_test("context_windows", weight=2)
def test_repeated_words_stay_in_the_context(student, rng):
    """Only the target's own position is left out, not every equal word."""
    for m in (1, 2, 4):
        _expect_riddles(
            student, rng.integers(0, 3, size=12).tolist(), m, "the riddles of a sentence with repeats"
        )


# ------------------------------------------------------------------------------------------------ cbow_forward


def _tables(rng, V, D, scale=1.0):
    return rng.normal(0, scale, size=(V, D)), rng.normal(0, scale, size=(V, D))


def _expect_forward(student, context, W_in, W_out, what="", rtol=1e-6):
    h, p = _parts(student(context, W_in, W_out), 2, "h, p")
    expected_h, expected_p = _forward(context, W_in, W_out)
    expect_close(h, expected_h, f"the mean of the hints{what}", rtol=rtol)
    expect_close(p, expected_p, f"the probabilities{what}", rtol=rtol)
    expect(not student.mutated, UNCHANGED)


@hidden_test("cbow_forward", weight=2)
def test_the_mean_of_the_hints_and_the_probabilities_of_the_answers(student, rng):
    """h is the mean of the context's rows of W_in, p the softmax of W_out · h."""
    for V, D, C in ((7, 4, 3), (5, 9, 4), (12, 3, 6), (4, 1, 2)):
        _expect_forward(student, rng.permutation(V)[: min(C, V)].tolist(), *_tables(rng, V, D))


@hidden_test("cbow_forward", weight=3)
def test_repeated_and_single_hints(student, rng):
    """A word that stands in the context twice counts twice; a single hint is its own mean."""
    W_in, W_out = _tables(rng, 6, 5)
    a, b, c = rng.permutation(6)[:3].tolist()
    for context in ([a, a, b], [c, a, c, c, b, a], [b], [a, a]):
        _expect_forward(student, context, W_in, W_out, " with repeated words")


@hidden_test("cbow_forward")
def test_large_scores_and_transposed_tables(student, rng):
    """Scores of a thousand give probabilities that add up to one, and views work like arrays."""
    W_in, W_out = _tables(rng, 8, 3)
    W_in[:, 0], W_out[:, 0] = 1, 1000
    _expect_forward(
        student, [1, 5, 2], W_in, W_out, " for large scores", rtol=1e-3
    )  # single precision knows 1000 to four decimals
    both = rng.normal(size=(4, 14))
    _expect_forward(student, [6, 0, 6], both.T[::2], both.T[1::2], " for views of a larger table")


@hidden_test("cbow_forward")
def test_the_lectures_sizes(student, rng):
    """30,000 rows, and rows of 1,024 numbers: a table of both would hold 30.72 million numbers."""
    W_in, W_out = rng.normal(size=(30_000, 2)), rng.normal(size=(30_000, 2))
    h, p = _parts(student([29_999, 5, 17_000], W_in, W_out), 2, "h, p")
    wide_h, wide_p = _parts(student([1, 2], *_tables(rng, 3, 1024, 0.05)), 2, "h, p")
    numbers = as_array(p, "the probabilities").size * as_array(wide_h, "the mean of the hints").size
    expect_equal(numbers, 30_720_000, "the number of words times the length of a vector")
    expect_close(h, W_in[[29_999, 5, 17_000]].mean(axis=0), "the mean of the hints")
    scores = W_out @ W_in[[29_999, 5, 17_000]].mean(axis=0)
    expect_close(p, np.exp(scores) / np.exp(scores).sum(), "the probabilities of 30,000 words")
    expect_close(as_array(wide_p).sum(), 1.0, "the sum of the probabilities")


# ----------------------------------------------------------------------------------------------- cbow_backward


def _expect_backward(student, context, target, W_in, W_out, what=""):
    dW_in, dW_out = _parts(student(context, target, W_in, W_out), 2, "dW_in, dW_out")
    expected_in, expected_out = _backward(context, target, W_in, W_out)
    expect_close(dW_out, expected_out, f"the gradient of W_out{what}")
    expect_close(dW_in, expected_in, f"the gradient of W_in{what}")


@hidden_test("cbow_backward", weight=3)
@_with_right_forward
def test_the_gradients_are_the_slopes_of_the_loss(student, rng):
    """Moving any number of a table changes the loss as the gradient says, to 1e-6."""
    for V, D, C in ((6, 3, 2), (4, 5, 3), (5, 1, 1)):
        (W_in, W_out), target = _tables(rng, V, D), int(rng.integers(V))
        context = rng.permutation(V)[:C].tolist()
        dW_in, dW_out = _parts(student(context, target, W_in, W_out), 2, "dW_in, dW_out")
        for table, gradient, name in ((0, dW_in, "W_in"), (1, dW_out, "W_out")):

            def loss(moved, table=table, context=context, target=target, tables=(W_in, W_out)):
                return _loss(context, target, *(moved if i == table else t for i, t in enumerate(tables)))

            slopes = _slopes(loss, (W_in, W_out)[table])
            expect_close(gradient, slopes, f"the gradient of {name}", rtol=1e-6, atol=1e-6)


@hidden_test("cbow_backward", weight=3)
@_with_right_forward
def test_repeated_hints_get_a_share_each_time(student, rng):
    """A word that stands in the context twice gets two shares; the shares are the mean's."""
    W_in, W_out = _tables(rng, 7, 4)
    a, b, c = rng.permutation(7)[:3].tolist()
    for context, target in (([a, a, b], c), ([a, c, a, a, b, c], a), ([b, b], b)):
        _expect_backward(student, context, target, W_in, W_out, " with repeated words")


@hidden_test("cbow_backward", weight=2)
@_with_right_forward
def test_larger_tables_and_the_targets_own_context(student, rng):
    """Tables of other shapes, and a target that is among its own hints; nothing that was given is changed."""
    for V, D, C in ((13, 6, 5), (9, 11, 4)):
        W_in, W_out = _tables(rng, V, D)
        context = rng.permutation(V)[:C].tolist()
        _expect_backward(student, context, context[1], W_in, W_out)
        expect(not student.mutated, UNCHANGED)
    both = rng.normal(size=(3, 12))
    _expect_backward(student, [5, 0, 5, 2], 3, both.T[::2], both.T[1::2], " for views of a larger table")


@hidden_test("cbow_backward")
@_with_right_forward
def test_gradients_of_large_scores(student, rng):
    """When the scores are large, the gradients stay finite and right."""
    p = np.zeros(6)
    while p.max() < 1 - 1e-12:  # one clear winner: a near tie of large scores is too much for float32
        W_in, W_out = _tables(rng, 6, 3)
        _, p = _forward([4, 1], W_in, W_out * 1000)
    for target in (int(p.argmin()), int(p.argmax())):
        _expect_backward(student, [4, 1], target, W_in, W_out * 1000, " for large scores")


# -------------------------------------------------------------------------------------- negative_sampling_loss


def _expect_noise(student, h, rows, what="", rtol=1e-5, atol=1e-6):
    loss, dh, drows = _parts(student(h, rows), 3, "loss, dh, drows")
    gradients = [_noise_gradients(a, b) for a, b in zip(h, rows, strict=True)]
    expected = np.array([_noise_loss(a, b) for a, b in zip(h, rows, strict=True)])
    expect_close(loss, expected, f"the loss{what}", rtol=rtol, atol=atol)
    expect_close(dh, np.array([d for d, _ in gradients]), f"the gradient dh{what}", rtol=rtol, atol=atol)
    expect_close(
        drows, np.array([d for _, d in gradients]), f"the gradient drows{what}", rtol=rtol, atol=atol
    )
    expect(not student.mutated, UNCHANGED)


@hidden_test("negative_sampling_loss", weight=3)
def test_losses_and_gradients_riddle_by_riddle(student, rng):
    """Every riddle has its own loss and gradients, whatever the shapes."""
    for B, K, D in ((3, 5, 4), (4, 2, 7), (2, 6, 1)):
        _expect_noise(student, rng.normal(size=(B, D)), rng.normal(size=(B, 1 + K, D)))


@hidden_test("negative_sampling_loss", weight=2)
def test_the_gradients_of_the_noise_are_slopes(student, rng):
    """Moving any number changes the riddle's loss as the gradients say, to 1e-6."""
    h, rows = rng.normal(size=(2, 3)), rng.normal(size=(2, 4, 3))
    _, dh, drows = _parts(student(h, rows), 3, "loss, dh, drows")
    by_h = np.array(
        [_slopes(lambda moved, r=r: _noise_loss(moved, r), a) for a, r in zip(h, rows, strict=True)]
    )
    by_rows = np.array(
        [_slopes(lambda moved, a=a: _noise_loss(a, moved), r) for a, r in zip(h, rows, strict=True)]
    )
    expect_close(dh, by_h, "the gradient dh", rtol=1e-6, atol=1e-6)
    expect_close(drows, by_rows, "the gradient drows", rtol=1e-6, atol=1e-6)


@hidden_test("negative_sampling_loss", weight=4)
def test_scores_of_a_thousand(student, rng):
    """Scores of ±1,000 give finite losses and gradients."""
    h = np.column_stack([np.ones(4), rng.normal(size=(4, 2))])
    rows = rng.normal(size=(4, 4, 3))
    rows[:, :, 0] += rng.choice([-1000.0, 1000.0, 40.0, -40.0], size=(4, 4))
    rows[0, :2, 0] = -1000, 1000
    _expect_noise(student, h, rows, " for large scores", atol=1e-7)


@hidden_test("negative_sampling_loss")
def test_one_riddle_one_noise_word_and_views(student, rng):
    """A batch of one, a single noise word, and views of larger arrays work alike."""
    _expect_noise(student, rng.normal(size=(1, 5)), rng.normal(size=(1, 2, 5)), " of a single riddle")
    _expect_noise(student, rng.normal(size=(3, 6)).T[::2], rng.normal(size=(6, 3, 3))[::2], " of a view")
    _expect_noise(student, np.zeros((2, 3)), rng.normal(size=(2, 6, 3)), " of an untrained model")


# ----------------------------------------------------------------------------------------------------- nearest


def _vocabulary(rng, V, D, uneven=True):
    """Words, and vectors of very different lengths."""
    words = [f"{a}{b}" for a in "bdgklmnprst" for b in ("a", "ea", "or", "ing")]
    chosen = [words[i] for i in rng.permutation(len(words))[:V]]
    lengths = np.exp(rng.normal(0, 1.5, size=(V, 1))) if uneven else np.ones((V, 1))
    return rng.normal(size=(V, D)) * lengths, chosen


def _expect_ranking(student, result, expected, what):
    expect(isinstance(result, (list, tuple)), "the result should be a list of pairs (word, cosine)")
    pairs = all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in result)
    expect(pairs, "each item of the result should be a pair (word, cosine)")
    expect_equal([word for word, _ in result], [word for word, _ in expected], f"the list of {what}")
    found, cosines = np.array([float(as_array(c)) for _, c in result]), np.array([c for _, c in expected])
    wrong = not np.allclose(found, cosines, rtol=1e-5, atol=1e-6)
    if wrong and any(np.allclose(found, cosines.round(d), rtol=0, atol=1e-7) for d in range(5)):
        student.observe("cosines are rounded", True)  # evidence for a diagnosis, to however many decimals
        expect(False, f"the cosines of the {what} are rounded: return them as they are")
    expect(not wrong, f"wrong values in the cosines of the {what}")


@hidden_test("nearest", weight=2)
def test_the_nearest_by_direction(student, rng):
    """The k words with the largest cosine come first, whatever the lengths of their vectors."""
    for V, D, k in ((30, 5, 4), (17, 8, 7), (40, 2, 1)):
        vectors, words = _vocabulary(rng, V, D)
        for word in (words[0], words[V // 2], words[-1]):
            expected = _ranked(vectors[words.index(word)], vectors, words, {word})[:k]
            _expect_ranking(student, student(word, vectors, words, k), expected, "nearest words")
    expect(not student.mutated, UNCHANGED)


@hidden_test("nearest")
def test_five_by_default_and_all_when_there_are_fewer(student, rng):
    """Five words by default, all others when there are fewer, opposite directions last."""
    vectors, words = _vocabulary(rng, 24, 6)
    expected = _ranked(vectors[3], vectors, words, {words[3]})
    _expect_ranking(student, student(words[3], vectors, words), expected[:5], "nearest words")
    few = words[:4]
    expected = _ranked(vectors[1], vectors[:4], few, {few[1]})
    _expect_ranking(student, student(few[1], vectors[:4], few, k=9), expected, "nearest words of few")


@hidden_test("nearest")
def test_the_word_itself_is_left_out_but_not_its_twins(student, rng):
    """The word itself is left out; another word with the same direction is its nearest."""
    vectors, words = _vocabulary(rng, 12, 4)
    vectors[7] = vectors[2] * 3
    expected = _ranked(vectors[2], vectors, words, {words[2]})[:3]
    expect_equal(expected[0][0], words[7], "the twin")
    _expect_ranking(student, student(words[2], vectors, tuple(words), 3), expected, "nearest words")
    again = _ranked(vectors[7], vectors, words, {words[7]})[:3]  # here the twin stands before the word
    _expect_ranking(student, student(words[7], vectors, tuple(words), 3), again, "nearest words")


# ----------------------------------------------------------------------------------------------------- analogy


@hidden_test("analogy", weight=2)
def test_the_fourth_corner_of_random_words(student, rng):
    """The words whose direction is nearest to b − a + c come first, all rows at length 1."""
    for V, D, k in ((25, 5, 3), (14, 9, 6), (33, 3, 1)):
        vectors, words = _vocabulary(rng, V, D)
        for _ in range(3):
            a, b, c = (words[i] for i in rng.permutation(V)[:3])
            expected = _ranked(_way(a, b, c, vectors, words), vectors, words, {a, b, c})[:k]
            _expect_ranking(student, student(a, b, c, vectors, words, k), expected, "answers")
    expect(not student.mutated, UNCHANGED)


@hidden_test("analogy")
def test_a_parallelogram_is_completed(student, rng):
    """Where the vectors form a parallelogram the fourth word is found, three answers by default."""
    vectors, words = _vocabulary(rng, 20, 6, uneven=False)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[5] = vectors[1] - vectors[0] + vectors[2]
    vectors *= np.exp(rng.normal(size=(20, 1)))
    expected = _ranked(_way(words[0], words[1], words[2], vectors, words), vectors, words, set(words[:3]))[:3]
    expect_equal(expected[0][0], words[5], "the fourth corner")
    _expect_ranking(student, student(*words[:3], vectors, words), expected, "answers")


@hidden_test("analogy")
def test_the_words_of_the_question_are_no_answers(student, rng):
    """The three words of the question are left out, also when one of them would be the best answer."""
    vectors, words = _vocabulary(rng, 9, 4)
    vectors[1] = vectors[0] + 0.05 * vectors[1]
    expected = _ranked(_way(words[0], words[1], words[2], vectors, words), vectors, words, set(words[:3]))
    _expect_ranking(student, student(*words[:3], vectors, tuple(words), 20), expected, "answers")
