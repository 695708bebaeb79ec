"""Hidden tests of lab 10. References: Python lists, sums of logarithms, and PyTorch's own loss and optimizers.

The loss may lean on the student's own ``label_smoothing``: where that is wrong, a test that fails is tried again
with a right one.
"""

from __future__ import annotations

import copy
import math

import numpy as np
import torch

from autograder.testing import (
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_shape,
    expect_unchanged,
    follow_through,
    hidden_test,
    part_of_a_scene,
)

#: Mutants of the master's solutions that compute the same.
EQUIVALENT_MUTANTS = {
    "masked_cross_entropy: right = surprise.gather(-1, targets[real][:, None]).squeeze(- 2)  # (n,)": "(n, 1) has the same mean",
    "masked_cross_entropy: right = surprise.gather(-1, targets[real][:, None]).squeeze(- 0)  # (n,)": "(n, 1) has the same mean",
    "masked_cross_entropy: right = surprise.gather(-1, targets[real][:, None]).squeeze(+1)  # (n,)": "the same axis",
    "masked_cross_entropy: right = surprise.gather(+1, targets[real][:, None]).squeeze(-1)  # (n,)": "the same axis",
    "masked_cross_entropy: surprise = -torch.log_softmax(logits[real], dim=+1)  # (n, V)": "the same axis",
    "masked_cross_entropy: return ((1 - smoothing) * right + smoothing * surprise.mean(dim=+1)).mean()": "the same axis",
}


def _tensor(array):
    return torch.tensor(np.asarray(array))


# ------------------------------------------------------------------------------------------------ shift_targets


def _shifted(sentences, bos, eos, pad):
    longest = max(len(sentence) for sentence in sentences)
    rows_in, rows_out = [], []
    for sentence in sentences:
        gap = [pad] * (longest - len(sentence))
        rows_in.append([bos, *sentence, *gap])
        rows_out.append([*sentence, eos, *gap])
    return rows_in, rows_out


_PARTS = ("the decoder input", "the labels tensor")


def _expect_shifted(student, sentences, bos, eos, pad, parts=_PARTS, dtype=None):
    """Both tensors, or one of ``parts``; of another ``dtype`` the values count all the same, but where a test asks for it."""
    result = student(sentences, bos, eos, pad)
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 2,
        "two things should be returned: the decoder input and the labels",
    )
    for part, expected, what in zip(result, _shifted(sentences, bos, eos, pad), _PARTS, strict=True):
        expect(isinstance(part, torch.Tensor), f"{what} should be a tensor")
        expect(
            dtype is None or not part.is_floating_point(), f"{what} should hold integers, but it holds floats"
        )
        expect(dtype in (None, part.dtype), f"{what} should hold integers (torch.long)")
        if what in parts:
            expect_shape(part, np.shape(expected), what)
            expect_equal(part, expected, what)


@hidden_test("shift_targets", weight=2)
def test_the_input_of_sentences_of_one_length(student, rng):
    """The decoder input of a single sentence, and of sentences of the same length."""
    _expect_shifted(student, [[2, 1, 0, 4]], 6, 5, 7, _PARTS[:1])
    _expect_shifted(student, rng.integers(10, 90, size=(4, 5)).tolist(), 97, 98, 99, _PARTS[:1])


@hidden_test("shift_targets", weight=3)
def test_both_hold_integers(student, rng):
    """The lecture's five lessons: both tensors hold integers, for a single sentence and several."""
    several = rng.integers(10, 90, size=(3, 4)).tolist()
    one: list[list[int]] = [[2, 1, 0, 4]]
    empty: list[list[int]] = [[]]
    for sentences in (one, several, empty):
        _expect_shifted(student, sentences, 6, 5, 7, dtype=torch.long)


def _sentences(rng, lengths):
    """Sentences of these lengths; the longest ones begin with smaller words than the others, so that max() takes another."""
    sentences = [rng.integers(11, 90, size=length).tolist() for length in lengths]
    return [[10, *words[1:]] if len(words) == max(lengths) else words for words in sentences]


@hidden_test("shift_targets", weight=1.5)
def test_batches_with_the_longest_first(student, rng):
    """Sentences of different lengths, the longest one first, and an empty one at the end."""
    for bos, eos, pad, lengths in ((1, 2, 0, (6, 4, 3, 1)), (97, 98, 99, (5, 2, 0)), (0, 9, -1, (1, 0))):
        _expect_shifted(student, _sentences(rng, lengths), bos, eos, pad)


@hidden_test("shift_targets", weight=3.5)
def test_batches_in_any_order(student, rng):
    """The longest sentence may stand anywhere, empty ones too, and one twice; each row belongs to the sentence in its place. Nothing is changed."""
    # For the first batch most answers return something, also those that fail for others: errors alone would tell too little.
    batches = ((2, 0, 2), 99), ((6, 1, 6, 3), 0), ((1, 3, 6, 2, 5), 99), ((0, 2, 0), -1)
    for lengths, pad in batches:
        _expect_shifted(student, _sentences(rng, lengths), 1, 2, pad)
        expect_unchanged(student, "work on a new list")


@hidden_test("shift_targets", weight=2)
def test_sentences_that_hold_the_three_numbers(student):
    """Sentences of one length that hold the numbers for the beginning, the end and the padding as words."""
    _expect_shifted(student, [[2, 7, 0], [0, 0, 2], [1, 2, 1]], 1, 2, 0)
    _expect_shifted(student, [[5]], 6, 5, 7)


@hidden_test("shift_targets", weight=0.5)
def test_all_kinds_of_sentences_at_once(student, rng):
    """All of it at once: many sentences, long, equal and empty ones, large numbers, and words that are the three numbers, at the end too."""
    bos, eos, pad = 40_000, 2, 0
    words = [*rng.integers(300, 60_000, 12).tolist(), 5, 5]
    sentences = [[7, 0], [0, 2, 40_000, 2], [], [9], words, [0], [7, 0], [], [5, 2, 0, 0]]
    _expect_shifted(student, sentences, bos, eos, pad, dtype=torch.long)
    _expect_shifted(student, [[], [], []], 1, 2, 0, dtype=torch.long)
    expect_unchanged(student, "work on a new list")


# ---------------------------------------------------------------------------------------------- label_smoothing


def _smoothed(targets, V, epsilon):
    rows = [[epsilon / V + (1 - epsilon) * (v == right) for v in range(V)] for right in np.ravel(targets)]
    return np.array(rows).reshape(*np.shape(targets), V)


def _expect_rows(student, targets, V, epsilon):
    result = student(_tensor(targets), V, epsilon)
    expect(
        as_array(result, "the rows").dtype.kind == "f",
        "the result should hold floats",
    )
    expect_close(result, _smoothed(targets, V, epsilon), "the smoothed targets", rtol=1e-6)


# Each V has an ε of its own below, so that one test alone sees rows that are kept from call to call.


@hidden_test("label_smoothing", weight=3.5)
def test_smoothing_by_hand_and_in_a_table(student, rng):
    """V = 4 with ε = 0.2, and targets of one axis and two; nothing is changed."""
    for shape, V, epsilon in (((5,), 4, 0.2), ((6,), 5, 0.1), ((3, 4), 10, 0.3)):
        targets = rng.integers(0, V, size=shape)
        targets.flat[:2] = V - 1, 1
        _expect_rows(student, targets, V, epsilon)
        expect_unchanged(student, "work on a new tensor")


@hidden_test("label_smoothing", weight=1.5)
def test_three_axes_and_a_large_epsilon(student, rng):
    """The lecture's six words with ε = 0.1, in targets of three axes; and an ε near 1."""
    for shape, V, epsilon in (((2, 3, 2), 6, 0.1), ((4,), 9, 0.95)):
        targets = rng.integers(0, V, size=shape)
        targets.flat[:2] = V - 1, 1
        _expect_rows(student, targets, V, epsilon)


@hidden_test("label_smoothing")
def test_a_share_is_spread_evenly(student, rng):
    """Each row sums to 1, the wrong words have a share each, all the same, and the right one has the most."""
    for V, epsilon in ((15, 0.3), (11, 0.15)):
        targets = rng.permutation(V)
        rows = as_array(student(_tensor(targets), V, epsilon), "the rows")
        expect_shape(rows, (V, V), "the smoothed targets")
        expect_close(rows.sum(axis=-1), np.ones(V), "the list of sums of the rows")
        right = np.take_along_axis(rows, targets[:, None], axis=-1)[:, 0]
        wrong = rows[np.arange(V) != targets[:, None]]
        expect(bool((wrong > 0).all()), "the wrong words should have a share")
        expect_close(wrong, np.full(V * (V - 1), wrong[0]), "the list of the wrong words' shares")
        expect(bool((right > 1 - epsilon - 1e-5).all()), "the right word should keep at least 1 − ε")


@hidden_test("label_smoothing", weight=2.5)
def test_the_rows_are_as_wide_as_the_vocabulary(student, rng):
    """With ε = 0 the rows are one-hot, and V wide, whichever words occur."""
    for shape, V in (((2, 5), 8), ((6,), 3), ((4,), 13)):
        _expect_rows(student, rng.integers(0, V - 1, size=shape), V, 0.0)


@hidden_test("label_smoothing", weight=2.5)
def test_axes_of_length_one_stay(student, rng):
    """One-hot rows of targets with axes of length one, and of a single target."""
    for shape in ((1, 4), (2, 1, 3), (5, 1), ()):
        targets = rng.integers(0, 8, size=shape)
        targets[(0,) * len(shape)] = 7
        _expect_rows(student, targets, 8, 0)


@hidden_test("label_smoothing", weight=1.5)
def test_another_epsilon_in_the_next_call(student, rng):
    """One word, several times in a row with the same V: each ε has rows of its own."""
    for epsilon in (0.4, 0.25, 0.0, 0.4):
        _expect_rows(student, rng.integers(0, 11, size=1), 12, epsilon)


@hidden_test("label_smoothing", weight=0.5)
def test_all_kinds_of_targets_at_once(student, rng):
    """All of it at once: none to four axes, some of length one, views, tiny and large vocabularies and ε."""
    sizes = (((), 17, 0.45), ((2, 1, 3, 2), 14, 0.5), ((4, 1), 200, 0.02), ((3, 3), 2, 0.25), ((2,), 1, 0.3))
    for shape, V, epsilon in (*sizes, ((2, 4, 3), 16, 0)):
        _expect_rows(student, rng.integers(0, V, size=shape[::-1]).T, V, epsilon)
        expect_unchanged(student, "work on a new tensor")


# ----------------------------------------------------------------------------------------- masked_cross_entropy

_with_right_smoothing = follow_through(
    """
import torch


def label_smoothing(targets, V, epsilon):
    return torch.nn.functional.one_hot(targets, V).double() * (1 - epsilon) + epsilon / V
""",
    "label_smoothing",
)


def _loss(logits, targets, pad, smoothing=0.0):
    """Position by position, word by word."""
    V = logits.shape[-1]
    losses = []
    for row, right in zip(np.reshape(logits, (-1, V)), np.ravel(targets), strict=True):
        if right == pad:
            continue
        largest = max(row)
        log_sum = largest + math.log(math.fsum(math.exp(z - largest) for z in row))
        wanted = _smoothed([right], V, smoothing)[0]
        losses.append(math.fsum(q * (log_sum - z) for q, z in zip(wanted, row, strict=True)))
    return math.fsum(losses) / len(losses)


def _some(rng, shape, V, pad, words_from=0):
    """Logits and targets, about a third of which are padding (never all)."""
    logits = 2 * rng.normal(size=(*shape, V))
    targets = rng.choice([word for word in range(words_from, V) if word != pad], size=shape)
    targets[rng.random(shape) < 0.35] = pad
    targets.flat[:2] = (1 if pad != 1 else 0), (words_from if pad != words_from else 2)
    targets.flat[-1] = pad
    return logits, targets


def _expect_loss(student, logits, targets, pad, *smoothing, **tolerance):
    result = student(_tensor(logits), _tensor(targets), pad, *smoothing)
    # A student's smoothed targets may well be in single precision, as one_hot times a number is, and so may the logits on the way.
    tolerance = {"rtol": 1e-6} | tolerance
    expect_close(result, _loss(logits, targets, pad, *smoothing), "the loss", **tolerance)


@hidden_test("masked_cross_entropy", weight=0.5)
@_with_right_smoothing
def test_uniform_logits_cost_log_v(student):
    """A model that knows nothing pays ln 6 for I am a student, with or without smoothing, and ln V in general."""
    targets = np.array([[2, 1, 0, 4, 5], [3, 5, 7, 7, 7]])
    for smoothing in (0.0, 0.1):
        got = student(torch.zeros(2, 5, 6, dtype=torch.float64), _tensor(targets), 7, smoothing)
        expect_close(got, math.log(6), "the loss of equal logits", rtol=1e-6 if smoothing else 1e-9)
    got = student(torch.full((4, 11), -3.0, dtype=torch.float64), torch.tensor([1, 2, 3, 10]), -1)
    expect_close(got, math.log(11), "the loss of equal logits", rtol=1e-9)


@hidden_test("masked_cross_entropy")
@_with_right_smoothing
def test_loss_of_one_position(student, rng):
    """A single position pays for its right word."""
    for shape, V in (((1,), 4), ((1, 1), 3)):
        _expect_loss(student, 2 * rng.normal(size=(*shape, V)), rng.integers(1, V, size=shape), -1)


@hidden_test("masked_cross_entropy", weight=2.5)
@_with_right_smoothing
def test_loss_of_padded_batches(student, rng):
    """Batches with padding, where the padding is a word number or none: each real word counts alike; nothing is changed."""
    for shape, V, pad in (((4, 7), 5, 0), ((9,), 6, 6), ((3, 5), 4, -1), ((2, 6), 4, 2)):
        logits, targets = _some(rng, shape, V, pad)
        _expect_loss(student, logits, targets, pad)
        expect_unchanged(student, "work on a new tensor")


@hidden_test("masked_cross_entropy", weight=2.5)
@_with_right_smoothing
def test_loss_of_more_leading_axes(student, rng):
    """The same batch with one, two and three leading axes."""
    logits, targets = _some(rng, (12,), 7, 3)
    for shape in ((12,), (3, 4), (2, 3, 2), (2, 1, 2, 3)):
        _expect_loss(student, logits.reshape(*shape, 7), targets.reshape(shape), 3)


@hidden_test("masked_cross_entropy", weight=2)
@_with_right_smoothing
def test_loss_with_smoothing(student, rng):
    """Smoothed targets and padding together, where the padding is no word."""
    for shape, V, pad, smoothing in (((4, 6), 5, 5, 0.1), ((8,), 3, -1, 0.4), ((2, 5), 9, 9, 0.02)):
        logits, targets = _some(rng, shape, V, pad)
        _expect_loss(student, logits, targets, pad, smoothing)


@hidden_test("masked_cross_entropy", weight=2.5)
@_with_right_smoothing
def test_loss_with_smoothing_where_the_padding_is_a_word(student, rng):
    """Smoothed targets, where the padding has the number of a word: that word gets its share at the real positions."""
    for shape, V, pad, smoothing in (((4, 6), 5, 0, 0.1), ((8,), 3, 1, 0.4)):
        logits, targets = _some(rng, shape, V, pad)
        _expect_loss(student, logits, targets, pad, smoothing)


def _expect_gradient(student, rng, smoothing):
    """The gradient of the logits; word 0, which stands for the padding in some answers, has tests of its own."""
    logits, targets = _some(rng, (3, 5), 6, -1, words_from=1)
    found = student.gradients([_tensor(logits), _tensor(targets), -1, smoothing])
    expect(found.inputs[0] is not None, "no gradient flows through your loss")
    p = torch.softmax(_tensor(logits), dim=-1).numpy()
    real = targets != -1
    wanted = _smoothed(np.where(real, targets, 0), 6, smoothing)
    expected = (p - wanted) * real[..., None] / real.sum()
    expect_close(found.inputs[0], expected, "the gradient of the logits", rtol=1e-5, atol=1e-7)
    expect(
        not np.any(as_array(found.inputs[0])[~real]),
        "the logits at the padding should get no gradient at all",
    )


@hidden_test("masked_cross_entropy")
@_with_right_smoothing
def test_no_gradient_at_the_padding(student, rng):
    """Gradients flow to the real positions, are those of the mean, and are exactly 0 at the padding."""
    _expect_gradient(student, rng, 0.0)


@hidden_test("masked_cross_entropy", weight=4)
@_with_right_smoothing
def test_gradients_with_smoothing(student, rng):
    """The same with smoothing: a gradient flows through both parts of the loss."""
    _expect_gradient(student, rng, 0.3)


@hidden_test("masked_cross_entropy", weight=4)
@_with_right_smoothing
def test_loss_of_large_logits(student, rng):
    """Logits in the thousands neither overflow nor lose the answer, in one row or in rows of very different size."""
    row = np.array([[1000.0, 0.0, -500.0]])
    single = {"rtol": 1e-5, "atol": 1e-3}  # as single precision on the way has logits of this size
    _expect_loss(student, row, np.array([1]), -1, **single)
    logits, targets = rng.normal(size=(2, 4, 5)), rng.integers(1, 5, size=(2, 4))
    _expect_loss(student, logits + 1000, targets, -1, **single)
    _expect_loss(student, logits + np.array([[[3000.0]], [[-2000.0]]]), targets, -1, **single)
    _expect_loss(student, 700 * logits, targets, -1, 0.1, **single)


@hidden_test("masked_cross_entropy", weight=1)
@_with_right_smoothing
def test_all_kinds_of_losses_at_once(student, rng):
    """All of it at once: any leading axes with and without smoothing, padding of any number, none, and sentences of nothing else; huge logits, views, single precision; gradients."""
    for shape, V, pad, smoothing in (
        ((2, 3, 2), 4, 9, 0.0),
        ((2, 1, 2, 3), 5, 2, 0.2),
        ((3, 2, 4), 2, -1, 0.7),
        ((3, 4), 25, 0, 0.1),
        ((5,), 4, 4, 0.3),
        ((4,), 3, 1, 0.0),
    ):
        logits, targets = _some(rng, shape, V, pad)
        logits, targets = np.moveaxis(np.moveaxis(logits, -1, 0).copy(), 0, -1), np.asfortranarray(targets)
        if len(shape) == 2:
            targets[1] = pad
        logits[targets == pad] *= 500
        for kind in (np.float64, np.float32):
            found = student(_tensor(logits.astype(kind)), _tensor(targets), pad, smoothing)
            expect_close(found, _loss(logits, targets, pad, smoothing), "the loss", rtol=1e-6)
        found = student.gradients([_tensor(logits), _tensor(targets), pad, smoothing])
        own, real = _tensor(logits).requires_grad_(), _tensor(targets != pad)
        wanted = _tensor(_smoothed(np.where(real, targets, 0), V, smoothing))
        (-(wanted * torch.log_softmax(own, dim=-1)).sum(dim=-1) * real).sum().div(real.sum()).backward()
        expect(found.inputs[0] is not None, "no gradient flows through your loss")
        expect_close(found.inputs[0], own.grad, "the gradient of the logits", rtol=1e-5, atol=1e-6)
    logits, targets = _some(rng, (2, 5), 6, 3)
    logits = 700 * logits + rng.choice([-2000.0, 3000.0], size=(2, 5, 1))
    for smoothing in (0.0, 0.2):
        found = student(_tensor(logits), _tensor(targets), 3, smoothing)
        expect_close(found, _loss(logits, targets, 3, smoothing), "the loss", rtol=1e-4, atol=1e-3)
    targets[:] = 3
    targets[1, 2] = 5
    found = student(_tensor(logits), _tensor(targets), 3)
    expect_close(found, _loss(logits, targets, 3), "the loss of one word among padding", rtol=1e-4, atol=1e-3)


# ---------------------------------------------------------------------------------------------------- adam_step


def _three(result):
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 3,
        "three things should be returned: parameter, m, v",
    )
    return dict(zip(("the parameter", "m", "v"), result, strict=True))


def _expect_adam(student, arguments, expected, what, names=("the parameter", "m", "v")):
    result = _three(student(*arguments))
    for name, wanted in zip(("the parameter", "m", "v"), expected, strict=True):
        if name in names:
            # Single precision on the way rounds what a small entry is a difference of.
            rounded = 1e-6 * float(np.abs(as_array(wanted)).max())
            expect_close(result[name], wanted, f"{name} {what}", rtol=5e-6, atol=max(1e-9, rounded))


def _expect_the_same_twice(student):
    """The same call twice: an answer that counts its calls is told so, whatever its count is by now."""
    arguments = [_tensor([value]) for value in (1.0, 0.5, 0.0, 0.0)]
    first, second = (_three(student(*arguments, 1, 0.1)) for _ in range(2))
    same = np.allclose(as_array(first["the parameter"]), as_array(second["the parameter"]), equal_nan=True)
    if not same:
        student.observe("the same call twice", [same])
    expect(same, "called twice with the same arguments it gives two different parameters")


def _run_of_adam(rng, shape, rate, betas, eps, steps, growing=False):
    """The arguments of each step of a run of PyTorch's Adam, and what it makes of them; of gradients that are ``growing`` v never falls."""
    weight = torch.nn.Parameter(_tensor(rng.normal(size=shape)))
    optimizer = torch.optim.Adam([weight], lr=rate, betas=betas, eps=eps)
    m, v = torch.zeros_like(weight.data), torch.zeros_like(weight.data)
    for t in range(1, steps + 1):
        size = rng.uniform(0.5, 1.5, size=shape) * (4.0**t if growing else 10.0 ** (-t % 3))
        weight.grad = _tensor(size * rng.choice([-1.0, 1.0], size=shape))
        before = weight.detach().clone()
        optimizer.step()
        state = optimizer.state[weight]
        after = weight.detach().clone(), state["exp_avg"].clone(), state["exp_avg_sq"].clone()
        yield t, (before, weight.grad.clone(), m, v, t, rate), after
        _, m, v = after


@hidden_test("adam_step", weight=3.25)
def test_the_two_means(student, rng):
    """The means m and v after several steps, with betas that are given."""
    for shape, betas in (((3, 4), (0.9, 0.98)), ((5,), (0.5, 0.4)), ((1,), (0.0, 0.9))):
        for t, arguments, after in _run_of_adam(rng, shape, 0.03, betas, 1e-9, 3):
            _expect_adam(student, (*arguments, *betas, 1e-9), after, f"in step {t}", ("m", "v"))


@hidden_test("adam_step", weight=1.5)
def test_the_same_as_pytorch(student, rng):
    """Several steps agree with PyTorch's Adam, for other shapes and rates; nothing is changed."""
    _expect_the_same_twice(student)
    for shape, rate in (((3, 4), 0.03), ((5,), 1.5), ((), 0.2)):
        for t, arguments, after in _run_of_adam(rng, shape, rate, (0.9, 0.98), 1e-9, 12):
            _expect_adam(student, (*arguments, 0.9, 0.98, 1e-9), after, f"in step {t}")
            expect_unchanged(student, "work on a new tensor")


@hidden_test("adam_step", weight=2)
def test_other_betas(student, rng):
    """Where the parameter goes with other betas."""
    _expect_the_same_twice(student)
    for betas in ((0.9, 0.999), (0.5, 0.4), (0.0, 0.9)):
        for t, arguments, after in _run_of_adam(rng, (4,), 0.03, betas, 1e-9, 3, growing=True):
            _expect_adam(student, (*arguments, *betas, 1e-9), after, f"in step {t}", ("the parameter",))


@hidden_test("adam_step", weight=2)
def test_the_defaults_and_late_steps(student, rng):
    """The two steps of the text, the defaults are those of the first transformer, and a late step is hardly corrected any more."""
    _expect_the_same_twice(student)
    start = [_tensor([value]) for value in (0.9, -0.1, 0.05, 0.005)]
    theta = 0.9 - 0.1 * (0.035 / 0.19) / (math.sqrt(0.0051 / 0.0396) + 1e-9)
    _expect_adam(student, (*start, 2, 0.1), ([theta], [0.035], [0.0051]), "after the second step")
    for t, arguments, after in _run_of_adam(rng, (2, 3), 1.0, (0.9, 0.98), 1e-9, 40):
        if t in (3, 40):
            _expect_adam(student, arguments, after, f"in step {t}")


@hidden_test("adam_step", weight=1.5)
def test_where_eps_stands(student):
    """The first step has the length of the rate, however tiny or huge the gradient; eps stands after the corrected root, and is 1e-9 where none is given."""
    _expect_the_same_twice(student)
    zeros = torch.zeros(4, dtype=torch.float64)
    gradient = torch.tensor([3e-3, -1e6, 0.5, 30.0], dtype=torch.float64)
    for eps in (1e-9, 0.5):
        arguments = (zeros, gradient, zeros, zeros, 1, 0.25, 0.9, 0.98, eps)
        wanted = -0.25 * gradient / (gradient.abs() + eps)
        _expect_adam(student, arguments, (wanted, None, None), "after the first step", ("the parameter",))
    gradient = torch.tensor([1e-9, -2e-9, 0.5, 30.0], dtype=torch.float64)
    wanted = -0.25 * gradient / (gradient.abs() + 1e-9)
    without = (zeros, gradient, zeros, zeros, 1, 0.25, 0.9, 0.98)
    _expect_adam(student, without, (wanted, None, None), "after a first step without eps", ("the parameter",))


@hidden_test("adam_step", weight=2)
def test_gradients_of_zero(student, rng):
    """A gradient of 0 makes no first step; in a later one m goes on by itself."""
    _expect_the_same_twice(student)
    zeros, theta = torch.zeros(3, dtype=torch.float64), _tensor(rng.normal(size=3))
    gradient = torch.tensor([0.0, 2.0, 0.0], dtype=torch.float64)
    arguments = (zeros, gradient, zeros, zeros, 1, 0.25, 0.9, 0.98, 1e-9)
    _expect_adam(student, arguments, ([0, -0.25, 0], None, None), "after the first step", ("the parameter",))
    m, v = _tensor([0.3, -0.2, 0.1]), _tensor([0.5, 0.2, 0.1])
    m_hat = (0.9 * m + 0.1 * gradient) / (1 - 0.9**3)
    v_hat = (0.98 * v + 0.02 * gradient**2) / (1 - 0.98**3)
    arguments = (theta, gradient, m, v, 3, 0.25, 0.9, 0.98, 1e-9)
    wanted = theta - 0.25 * m_hat / v_hat.sqrt()
    _expect_adam(student, arguments, (wanted, None, None), "after a later step", ("the parameter",))


@hidden_test("adam_step", weight=0.75)
def test_all_kinds_of_steps_at_once(student, rng):
    """All of it at once: other betas in late steps, for tensors of any shape, views and single precision, with an eps that counts and gradients of 0."""
    _expect_the_same_twice(student)
    for shape, betas, eps in (
        ((), (0.7, 0.98), 1e-9),
        ((3, 2), (0.9, 0.6), 0.5),
        ((2, 3, 5), (0.5, 0.4), 2.0),
        ((30,), (0.3, 0.0), 1e-9),
        ((2, 1, 3), (0.9, 0.98), 0.1),
    ):
        for t, arguments, after in _run_of_adam(rng, shape[::-1], 0.03, betas, eps, 14):
            if t not in (2, 14):
                continue
            tensors = [one.permute(tuple(range(len(shape)))[::-1]) for one in arguments[:4]]
            wanted = [one.permute(tuple(range(len(shape)))[::-1]) for one in after]
            given = (*tensors, *arguments[4:], *betas, eps)
            _expect_adam(student, given, wanted, f"in step {t}")
            expect_unchanged(student, "work on a new tensor")
    single = (*(one.float() for one in tensors), *given[4:])
    _expect_adam(student, single, wanted, "in single precision")
    theta, m, v = _tensor([[0.5, -1.0, 2.0]]), _tensor([[0.3, -0.2, 0.0]]), _tensor([[0.5, 0.2, 0.0]])
    gradient = _tensor([[0.0, 0.0, 3.0]])
    m_new, v_new = 0.6 * m + 0.4 * gradient, 0.7 * v + 0.3 * gradient**2
    moved = theta - 0.2 * (m_new / (1 - 0.6**150)) / ((v_new / (1 - 0.7**150)).sqrt() + 0.3)
    _expect_adam(
        student, (theta, gradient, m, v, 150, 0.2, 0.6, 0.7, 0.3), (moved, m_new, v_new), "in step 150"
    )


# ---------------------------------------------------------------------------------------------------- noam_rate


def _expect_rates(student, calls, what="the list of rates"):
    """The rates are compared by their quotients: a rate of a millionth, in single precision too, is to be right to four digits."""
    for step, d_model, warmup, wanted in calls:
        rate = as_array(student(step, d_model, warmup), "the rate")
        expect(rate.size == 1, "the rate should be one number")
        expect_close(float(rate.item()) / wanted, 1.0, what, rtol=1e-4, atol=0)


def _wanted(step, d_model, warmup):
    shape = step / warmup if step < warmup else math.sqrt(warmup / step)
    return shape / math.sqrt(warmup * d_model)


# Each step is asked for with one size and one warm-up only, but in the test for it.


@hidden_test("noam_rate", weight=4)
def test_it_falls_with_the_root_of_the_step(student):
    """Long after the warm-up: four times as many steps, half the rate."""
    for early, late, d_model, warmup in ((18_000, 72_000, 512, 4000), (10_000, 90_000, 16, 50)):
        rates = [as_array(student(step, d_model, warmup), "the rate") for step in (early, late)]
        expect(all(rate.size == 1 and rate.item() != 0 for rate in rates), "the rate should be one number")
        ratio = float(rates[1].item()) / float(rates[0].item())
        expect_close(ratio / math.sqrt(early / late), 1.0, "how much lower it is", rtol=1e-4, atol=0)


@hidden_test("noam_rate", weight=2)
def test_it_climbs_in_a_straight_line(student):
    """The warm-up of small models, up to the top."""
    calls = [(step, 16, 20) for step in (4, 5, 10, 15, 20)] + [(step, 9, 36) for step in (6, 30, 36)]
    _expect_rates(student, [(*call, _wanted(*call)) for call in calls])


@hidden_test("noam_rate", weight=1.5)
def test_the_first_steps_of_the_first_transformer(student):
    """512 and 4,000: the first steps are tiny, and not 0."""
    _expect_rates(student, [(step, 512, 4000, step / 4000 / math.sqrt(512 * 4000)) for step in (2, 3, 7)])


@hidden_test("noam_rate", weight=3)
def test_other_sizes_and_warm_ups(student, rng):
    """One step of several sizes and warm-ups; before, at and after the top, and no warm-up at all."""
    calls = [(4000, *size) for size in ((512, 4000), (256, 4000), (512, 16_000))]
    _expect_rates(
        student, [(*call, _wanted(*call)) for call in calls], "the rates of one step for several sizes"
    )
    for _ in range(6):
        d_model, warmup = int(rng.integers(3, 900)), int(rng.integers(1, 500))
        steps = (1, max(1, warmup // 2), warmup, warmup + 1, 7 * warmup)
        _expect_rates(student, [(step, d_model, warmup, _wanted(step, d_model, warmup)) for step in steps])
    for d_model, warmup in ((1, 9), (7, 1), (30, 30)):
        calls = [(step, d_model, warmup) for step in (1, 2, warmup, 2_000_003)]
        _expect_rates(student, [(*call, _wanted(*call)) for call in calls])


@hidden_test("noam_rate", weight=1.5)
def test_step_zero_has_the_rate_of_step_one(student):
    """Counting from 0 does no harm."""
    _expect_rates(student, [(120_000, 64, 100, _wanted(120_000, 64, 100))], "the rate of a late step")
    for d_model, warmup in ((64, 100), (32, 20), (7, 1)):
        calls = [(0, d_model, warmup, _wanted(1, d_model, warmup))]
        _expect_rates(student, calls, "the rate of step 0")


# --------------------------------------------------------------------------------------------------- train_step

#: Runs beside the student's function, and here for the expected values: a small model with dropout that can be heard, in a
#: module inside it, and a weight that has no part. Where it ``reads``, its decoder input counts. Two losses: one of words, and one of wanted logits
#: that is the same when its arguments change places, but for ``skew``. A single step of Adam has a ``size`` of 100, so that no gradient is as small as an eps.
_SCENE = """
import torch
from torch import nn

class Dropout(nn.Module):
    def forward(self, x, outside):
        return x * loudness(outside, self.training)

class Small(nn.Module):
    def __init__(self, table, weight):
        super().__init__()
        self.table, self.weight, self.dropout = nn.Parameter(table), nn.Parameter(weight), Dropout()
        self.idle = nn.Parameter(torch.ones(2)) if idle else None

    def forward(self, source, decoder_input):
        heard = self.table[source].mean(dim=1, keepdim=True).repeat(1, decoder_input.shape[1], 1)
        if reads:
            heard = heard - 2 * self.table[decoder_input]
        return self.dropout(torch.tanh(heard) @ self.weight, self.training)

model = Small(table, weight)
groups = [{"params": [model.table], "lr": lr}, {"params": [model.weight], "lr": lr}]
make = {
    "SGD": torch.optim.SGD,
    "momentum": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.8),
    "decay": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, weight_decay=0.2),
    "both": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.8, weight_decay=0.2),
    "Adam": lambda parameters, lr: torch.optim.Adam(parameters, lr=lr, eps=1e-30),
    "AdamW": lambda parameters, lr: torch.optim.AdamW(parameters, lr=lr, eps=1e-30, weight_decay=0.1),
}[kind]
optimizer = make(groups if several else model.parameters(), lr=lr)

def loss_function(logits, labels):
    if labels.is_floating_point():
        return size * ((logits - labels) ** 2 * (1 + skew * labels**2)).mean()
    return size * nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)
"""

_AFTER = "after = torch.cat([model.table.detach().flatten(), model.weight.detach().flatten()])"


@part_of_a_scene
class _Loudness:
    """What a call of the model multiplies its logits with. It is known only here, and so are the calls."""

    def __init__(self, rng):
        self.modes, self.factor = [], float(rng.uniform(0.7, 1.4))

    def __call__(self, outside, inside):
        self.modes.append((outside, inside))
        return self.factor * (1 if outside else 0.8) * (1 if inside else 0.5)


def _batch(rng, B, S, T, V=7):
    return tuple(torch.tensor(rng.integers(1, V, size=shape)) for shape in ((B, S), (B, T), (B, T)))


def _batch_to_match(rng, B, S, T, V=7):
    """A batch whose labels are wanted logits: the loss is a squared distance."""
    return *_batch(rng, B, S, T, V)[:2], torch.tensor(rng.normal(size=(B, T, V)))


def _reference(bindings, steps, factor):
    """Losses and weights after each step, by the book; a clip of None is the usual 1."""
    namespace = {**bindings, "loudness": lambda outside, inside: factor}
    exec(_SCENE, namespace)
    model, optimizer, found = namespace["model"], namespace["optimizer"], []
    for (source, decoder_input, labels), rate, clip in steps:
        gradient_of = namespace["loss_function"](model(source, decoder_input), labels)
        parameters = [model.table, model.weight]
        gradients = torch.autograd.grad(gradient_of, parameters)
        length = math.sqrt(sum(float((g**2).sum()) for g in gradients))
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient * min(1.0, (1.0 if clip is None else clip) / length)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        found.append((float(gradient_of.detach()), torch.cat([p.detach().flatten() for p in parameters])))
    return found


def _expect_steps(
    student,
    rng,
    kind,
    steps,
    prepare="",
    size=1.0,
    skew=0.0,
    several=False,
    lr=None,
    loss="",
    V=7,
    D=5,
    **model,
):
    """Steps of the student's move the weights as they should. The optimizer is made with the rate ``lr``, or the first step's.

    ``size`` is a factor of the loss, and so of the gradient, ``skew`` makes it tell logits from labels; ``loss`` says whether the loss that is returned counts:
    its "value", or that it is a plain "number", too. The ``model`` reads its decoder input only where it ``reads``, so that an answer which gives it
    something else keeps what it does right; where it is ``idle``, one weight has no part.
    """
    bindings = {
        "table": torch.tensor(rng.normal(size=(V, D))),
        "weight": torch.tensor(rng.normal(size=(D, V))),
        "kind": kind,
        "reads": model.get("reads", True),
        "idle": model.get("idle", False),
        "several": several,
        "size": size,
        "skew": skew,
        "lr": steps[0][1] if lr is None else lr,
    }
    loudness = _Loudness(rng)
    scene = student.scene(_SCENE, loudness=loudness, **copy.deepcopy(bindings))
    if prepare:
        scene.run(prepare)
    for (batch, rate, clip), (price, weights) in zip(
        steps, _reference(bindings, steps, loudness.factor), strict=True
    ):
        clips = [] if clip is None else [clip]
        got = student(scene["model"], scene["optimizer"], scene["loss_function"], batch, rate, *clips)
        if loss:
            expect(got is not None, "your function returns None: it should return the loss")
            expect(
                loss != "number" or isinstance(got, (float, int, np.number)),
                "the loss should be a plain Python number: loss.item()",
            )
        scene.run(_AFTER)
        expect_close(scene.get("after"), weights, "the model's weights after the step", rtol=1e-6, atol=5e-6)
        if loss:
            expect_close(got, price, "the loss before the update", rtol=2e-6)
    return loudness.modes


@hidden_test("train_step", weight=1)
def test_a_step_of_adam_and_its_loss(student, rng):
    """A step of Adam moves the weights at the rate that is given; the loss comes back as a plain number."""
    steps = [(_batch_to_match(rng, 4, 3, 6), 0.07, 1e6)]
    _expect_steps(student, rng, "Adam", steps, lr=9.0, loss="number", size=100.0)


@hidden_test("train_step", weight=3)
def test_one_step_without_clipping(student, rng):
    """A step of gradient descent: logits and labels go into the loss in this order, and a short gradient stays as it is."""
    steps = [(_batch_to_match(rng, 4, 3, 6), 0.7, 1e6)]
    _expect_steps(student, rng, "decay", steps, size=0.03, skew=1.0, lr=9.0, loss="number")


@hidden_test("train_step", weight=4)
def test_several_steps_with_changing_rates(student, rng):
    """Several steps in a row on words, with an optimizer that remembers: each has its own rate, no gradient of an earlier step is left."""
    steps = [(_batch(rng, 3, 4, 5), rate, 40.0) for rate in (3.0, 0.5, 4.0)]
    _expect_steps(student, rng, "momentum", steps, size=0.1, lr=9.0)


@hidden_test("train_step", weight=3)
def test_the_optimizer_that_is_given_takes_each_step(student, rng):
    """Two steps of Adam, which remembers the first in the second."""
    steps = [(_batch_to_match(rng, 3, 4, 5), rate, 1e6) for rate in (0.1, 0.3)]
    _expect_steps(student, rng, "Adam", steps, size=0.03, lr=9.0, reads=False)


@hidden_test("train_step", weight=2)
def test_a_weight_without_a_part(student, rng):
    """A weight that has no part in the loss has no gradient, and stays as it is; the others are clipped and move."""
    for idle, clip in ((False, 0.2), (True, 0.2), (True, 1e6)):
        steps = [(_batch_to_match(rng, 3, 2, 4), 0.5, clip)]
        _expect_steps(student, rng, "SGD", steps, size=10.0, reads=False, idle=idle)


@hidden_test("train_step", weight=2)
def test_the_rate_is_set_in_every_parameter_group(student, rng):
    """An optimizer that was made with several groups of parameters: all of them get the rate of this step."""
    for rate in (0.02, 0.3):
        steps = [(_batch_to_match(rng, 3, 2, 5), rate, 1e6)]
        _expect_steps(student, rng, "Adam", steps, several=True, lr=9.0, size=100.0, reads=False)


@hidden_test("train_step", weight=2.5)
def test_old_gradients_do_not_count(student, rng):
    """A gradient that lies at the parameters from before changes nothing."""
    prepare = "for p in model.parameters(): p.grad = torch.full_like(p, 300.0)"
    _expect_steps(student, rng, "Adam", [(_batch_to_match(rng, 2, 3, 4), 0.2, 1e6)], prepare, size=100.0)


@hidden_test("train_step", weight=2)
def test_long_gradients_are_clipped(student, rng):
    """A long gradient is shortened to the length given, or to 1."""
    for clip in (0.01, 0.2, None):
        _expect_steps(
            student, rng, "SGD", [(_batch_to_match(rng, 3, 2, 4), 1.5, clip)], size=30.0, reads=False
        )


@hidden_test("train_step", weight=2.5)
def test_all_parameters_are_clipped_together(student, rng):
    """The gradients of all parameters are shortened together, also where the optimizer has several groups."""
    for clip in (0.05, 0.3):
        steps = [(_batch_to_match(rng, 3, 2, 4), 0.4, clip)]
        _expect_steps(student, rng, "SGD", steps, size=10.0, several=True, reads=False)


@hidden_test("train_step", weight=3)
def test_the_model_is_called_once_in_training_mode(student, rng):
    """A model that was in evaluation mode is put into training mode, with the modules inside it, and is called just once."""
    steps = [(_batch_to_match(rng, 2, 5, 3), 0.1, 1e6)]
    modes = _expect_steps(student, rng, "Adam", steps, "model.eval()", lr=9.0, size=100.0, reads=False)
    student.record(modes)
    expect(modes, "the model should be called")
    expect_equal(modes, [(True, True)], "the list of modes in which the model was called")


@hidden_test("train_step", weight=1)
def test_all_kinds_of_steps_on_words_at_once(student, rng):
    """All of it at once: steps on words whose gradients are clipped, each to its own length, with several groups, a weight without a part, other optimizers, old gradients; the loss of each."""
    sizes = ((3, 4, 5), (1, 3, 3), (4, 2, 6))
    steps = [
        (_batch(rng, *size), rate, clip)
        for size, rate, clip in zip(sizes, (0.5, 3.0, 0.2), (0.3, None, 0.05), strict=True)
    ]
    prepare = "model.eval()\nfor p in model.parameters(): p.grad = torch.full_like(p, 300.0)"
    _expect_steps(
        student, rng, "both", steps, prepare, size=10.0, skew=1.0, several=True, lr=9.0, loss="number"
    )
    _expect_steps(student, rng, "AdamW", steps, "model.eval()", size=10.0, idle=True, lr=9.0, loss="number")
    steps = [(_batch_to_match(rng, *size), 0.3, 0.1) for size in sizes]
    _expect_steps(student, rng, "Adam", steps, prepare, size=10.0, skew=1.0, several=True, loss="number")
