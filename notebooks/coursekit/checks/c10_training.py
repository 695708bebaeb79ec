"""Public checks of lab 10: the worked cases of the text, and hints that say which slip makes what came out."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import nn

from coursekit.checks.api import Hint, close, ensure, equal, is_stub, numbers, public_check
from coursekit.checks.break_it import impostor

FORBIDDEN = {
    "masked_cross_entropy": (
        "torch.nn.functional.cross_entropy",
        "torch.nn.CrossEntropyLoss",
        "torch.nn.functional.nll_loss",
        "torch.nn.NLLLoss",
    ),
    "adam_step": ("torch.optim.Adam", "torch.optim.AdamW"),
}


def _tensor(value: Any, what: str = "the result") -> torch.Tensor:
    ensure(value is not None, "your function returns None: does it end with a return?")
    ensure(isinstance(value, torch.Tensor), f"{what} should be a tensor, but it is a {type(value).__name__}")
    tensor: torch.Tensor = value
    return tensor


def _error(function: Any, *arguments: Any) -> Exception | None:
    """What a call raises, if anything; not a hint, nor the error of an answer that is not written yet."""
    try:
        function(*arguments)
    except Hint:
        raise
    except Exception as error:
        if is_stub(error):
            raise
        return error
    return None


# ----------------------------------------------------------------------------------------------- shift_targets


def _two(result: Any) -> tuple[torch.Tensor, torch.Tensor]:
    ensure(result is not None, "your function returns None: does it end with a return?")
    ensure(
        isinstance(result, (tuple, list)) and len(result) == 2,
        "return two things, the decoder input and the labels",
    )
    return _tensor(result[0], "the decoder input"), _tensor(result[1], "the labels")


@public_check("shift_targets")
def five_lessons(shift_targets: Any) -> None:
    """I am a student: five lessons, input and labels shifted by one."""
    decoder_input, labels = _two(shift_targets([[2, 1, 0, 4]], 6, 5, 7))
    ensure(
        decoder_input.shape == (1, 5),
        f"one sentence of four words makes five lessons: shape (1, 5), not {tuple(decoder_input.shape)}",
    )
    ensure(
        not torch.equal(decoder_input, labels),
        "input and labels are the same: nothing is shifted; the input begins with bos and has no eos",
    )
    ensure(
        decoder_input[0].tolist() != [2, 1, 0, 4, 5],
        "the two results are the other way round: the decoder input comes first",
    )
    equal(decoder_input, [[6, 2, 1, 0, 4]], "the decoder input should be bos and then the sentence")
    equal(labels, [[2, 1, 0, 4, 5]], "the labels should be the sentence and then eos")
    for part, name in ((decoder_input, "the decoder input"), (labels, "the labels")):
        ensure(part.dtype == torch.long, f"{name} should hold integers (torch.long), not {part.dtype}")


@public_check("shift_targets")
def short_ones_are_filled_up(shift_targets: Any) -> None:
    """A short sentence is padded behind its end, wherever the longest one stands; an empty one holds bos and eos only."""
    first, last, between = (
        _error(shift_targets, batch, 6, 5, 7)
        for batch in ([[2, 1, 0, 4], [3]], [[1], [2, 1, 0, 4]], [[1], [2, 1, 0, 4], [0]])
    )
    ensure(
        first is None or bool(last or between),
        "it fails for [2, 1, 0, 4] and [3]: is T the length of max(sentences)? Of lists max takes the one with the larger first word, here [3]; "
        "the longest is max(sentences, key=len)",
    )
    ensure(
        between is None or bool(first and last),
        "it fails for [1], [2, 1, 0, 4] and [0], where the longest sentence stands between shorter ones: T comes from the longest, wherever it stands",
    )
    decoder_input, labels = _two(shift_targets([[3], [2, 1, 0, 4], []], 6, 5, 7))
    ensure(
        decoder_input.shape == (3, 5),
        f"three sentences, the longest of four words, should give the shape (3, 5), not {tuple(decoder_input.shape)}",
    )
    rows = [[6, 3, 7, 7, 7], [6, 2, 1, 0, 4], [6, 7, 7, 7, 7]]
    ensure(
        decoder_input.tolist() == rows or sorted(decoder_input.tolist()) != sorted(rows),
        "the rows stand in another order than the sentences: row b belongs to sentence b",
    )
    ensure(
        decoder_input.tolist() != [[6, 3, 5, 7, 7], [6, 2, 1, 0, 4], [6, 5, 7, 7, 7]],
        "the decoder input of the short sentences holds eos: it belongs in the labels only, and pad stands here",
    )
    equal(
        decoder_input,
        rows,
        "the decoder input of the short sentences should be filled up with pad at the end",
    )
    equal(
        labels,
        [[3, 5, 7, 7, 7], [2, 1, 0, 4, 5], [5, 7, 7, 7, 7]],
        "in the labels eos comes right behind the sentence, and the padding behind eos",
    )
    for part, name in ((decoder_input, "the decoder input"), (labels, "the labels")):
        ensure(
            part.dtype == torch.long,
            f"with an empty sentence among others {name} should hold integers (torch.long), too, not {part.dtype}: torch.tensor([]) holds floats, "
            "unless you say dtype=torch.long",
        )


@public_check("shift_targets")
def equal_sentences_have_equal_rows(shift_targets: Any) -> None:
    """Two equal sentences have equal rows."""
    for part in _two(shift_targets([[3], [2, 1, 0, 4], [3]], 6, 5, 7)):
        ensure(
            part.shape == (3, 5),
            f"three sentences, the longest of four words, should give the shape (3, 5), not {tuple(part.shape)}",
        )
        ensure(
            torch.equal(part[0], part[2]),
            f"of the sentences [3], [2, 1, 0, 4] and [3] the first and the last should have equal rows, but these are {part[0].tolist()} and "
            f"{part[2].tolist()}: is a row looked up with sentences.index(…)? That always finds the first; enumerate counts them",
        )


@public_check("shift_targets")
def words_with_these_numbers(shift_targets: Any) -> None:
    """A sentence may hold the numbers of bos, eos and pad as words."""
    decoder_input, labels = _two(shift_targets([[1, 7], [5, 6]], 6, 5, 7))
    equal(
        decoder_input,
        [[6, 1, 7], [6, 5, 6]],
        "the decoder input of [1, 7] and [5, 6] should be [6, 1, 7] and [6, 5, 6]",
    )
    ensure(
        labels.tolist() != [[1, 5, 7], [5, 6, 5]],
        "in the labels of [1, 7] eos stands where its last word should: that word has the number of pad, so count the words of the list",
    )
    equal(labels, [[1, 7, 5], [5, 6, 5]], "the labels of [1, 7] and [5, 6] should be [1, 7, 5] and [5, 6, 5]")
    decoder_input, labels = _two(shift_targets([[5, 6, 7], [7]], 6, 5, 7))
    equal(
        decoder_input,
        [[6, 5, 6, 7], [6, 7, 7, 7]],
        "the decoder input of [5, 6, 7] and [7] should be [6, 5, 6, 7] and [6, 7, 7, 7]",
    )
    equal(
        labels,
        [[5, 6, 7, 5], [7, 5, 7, 7]],
        "the labels of [5, 6, 7] and [7] should be [5, 6, 7, 5] and [7, 5, 7, 7]: a word may have the number of pad, so count the words of the list",
    )


# --------------------------------------------------------------------------------------------- label_smoothing


@public_check("label_smoothing")
def four_words(label_smoothing: Any) -> None:
    """V = 4 and ε = 0.2: .85 for the right word and .05 for the others."""
    rows = _tensor(label_smoothing(torch.tensor([1, 2]), 4, 0.2))
    ensure(
        rows.shape != (2, 3),
        "each row ends with the largest word that occurs here, 2: it has a place for each of the V = 4 words, whichever occur",
    )
    ensure(rows.shape == (2, 4), f"two targets and V = 4 make the shape (2, 4), not {tuple(rows.shape)}")
    ensure(
        not np.allclose(rows[0, 1].item(), 0.8),
        "the right word has 0.8: ε is spread over all the words, so it gets its share of 0.05 back",
    )
    ensure(
        not np.allclose(rows[0, 1].item(), 1.05), "the right word has more than 1: take ε away from it first"
    )
    close(
        rows,
        [[0.05, 0.85, 0.05, 0.05], [0.05, 0.05, 0.85, 0.05]],
        "the rows should be .85 on the right word and .05 elsewhere",
    )


@public_check("label_smoothing")
def any_shape(label_smoothing: Any) -> None:
    """Targets of two axes, also with one of length one; ε = 0 gives one-hot rows, whatever ε was in the call before."""
    targets = torch.tensor([[0, 2, 1]])
    before = _tensor(label_smoothing(targets, 4, 0.2))
    rows = _tensor(label_smoothing(targets, 4, 0.0))
    ensure(
        rows.shape != (3, 4),
        "targets (1, 3) and V = 4 make the shape (1, 3, 4), not (3, 4): an axis of length one stays",
    )
    ensure(
        rows.shape == (1, 3, 4), f"targets (1, 3) and V = 4 make the shape (1, 3, 4), not {tuple(rows.shape)}"
    )
    ensure(
        not np.allclose(numbers(rows), numbers(before)),
        "called with ε = 0.2 and then with ε = 0 it gives the same rows: is a table kept from call to call?",
    )
    close(rows, np.eye(4)[[[0, 2, 1]]], "with ε = 0 the rows should be one-hot")
    ensure(rows.is_floating_point(), "the result should hold floats")


@public_check("label_smoothing")
def each_row_sums_to_one(label_smoothing: Any) -> None:
    """Targets of no axis, one or three, V = 7 and ε = 0.6: each row sums to 1."""
    share, flat = 0.6 / 7, torch.tensor([0, 6, 2, 3])
    wanted = np.eye(7)[[0, 6, 2, 3]] * 0.4 + share
    for targets, shape in (
        (flat, (4,)),
        (flat.reshape(2, 1, 2), (2, 1, 2)),
        (flat[1], ()),
        (flat.reshape(1, 2, 2, 1), (1, 2, 2, 1)),
    ):
        error = _error(label_smoothing, targets, 7, 0.6)
        ensure(
            shape == (4,) or error is None,
            f"it works for targets of one axis, but for the shape {shape} it stops with {type(error).__name__}: there may be any number of axes, "
            "none, too",
        )
        rows = _tensor(label_smoothing(targets, 7, 0.6))
        ensure(
            rows.shape == (*shape, 7),
            f"targets of shape {shape} and V = 7 make the shape {(*shape, 7)}, not {tuple(rows.shape)}",
        )
        sums = numbers(rows).sum(axis=-1).ravel()
        lowest = float(numbers(rows).min())
        ensure(
            not any(math.isclose(lowest, round(share, digits), rel_tol=1e-6) for digits in (2, 3, 4)),
            f"with V = 7 and ε = 0.6 each word should have a share of 0.6/7 = 0.085714, but it is rounded to {lowest:.4g}: take it as it is",
        )
        close(
            sums,
            np.ones(sums.size),
            f"with V = 7 and ε = 0.6 each row should sum to 1, but one sums to {sums[np.abs(sums - 1).argmax()]:.4g}",
            rtol=1e-5,
        )
        close(
            rows,
            wanted[1] if shape == () else wanted.reshape(*shape, 7),
            f"for targets of shape {shape}, V = 7 and ε = 0.6 the right words should have 0.4 + 0.6/7 = 0.4857, and the others 0.0857",
            rtol=1e-5,
        )


# ---------------------------------------------------------------------------------------- masked_cross_entropy


def _one_number(value: Any) -> float:
    loss = _tensor(value, "the loss")
    ensure(
        loss.shape == (),
        f"the loss should be a single number, shape (), but its shape is {tuple(loss.shape)}",
    )
    return float(loss.detach())


_QUARTERS = torch.tensor([[0.0, math.log(3)]])


@public_check("masked_cross_entropy")
def the_case_by_hand(masked_cross_entropy: Any) -> None:
    """Logits 0 and log 3: 0.288, and 0.398 with ε = 0.2, whichever number pad is."""
    got = _one_number(masked_cross_entropy(_QUARTERS, torch.tensor([1]), -1))
    ensure(not math.isclose(got, -0.28768, rel_tol=1e-3), "the sign is wrong: the surprise is −log p")
    ensure(not math.isclose(got, -0.75, rel_tol=1e-3), "you use the probability; its logarithm is needed")
    close(got, 0.28768, f"the loss should be 0.2877, but yours is {got:.4f}", rtol=1e-3)
    got = _one_number(masked_cross_entropy(_QUARTERS, torch.tensor([1]), -1, 0.2))
    ensure(not math.isclose(got, 0.28768, rel_tol=1e-3), "the argument smoothing is not used")
    ensure(
        not math.isclose(got, 0.8 * 0.28768 + 0.2 * (1.38629 + 0.28768), rel_tol=1e-3),
        "ε times the *mean* over the words of −log p, not times their sum",
    )
    close(got, 0.39754, f"with ε = 0.2 the loss should be 0.3975, but yours is {got:.4f}", rtol=1e-3)
    got = _one_number(masked_cross_entropy(_QUARTERS, torch.tensor([1]), 0, 0.2))
    ensure(
        not math.isclose(got, 0.28768, rel_tol=1e-3),
        "with pad = 0 word 0 gets no share of ε: what is left out are *positions* whose label is pad, not words",
    )
    close(
        got,
        0.39754,
        f"with ε = 0.2 and pad = 0 the loss should be 0.3975, too, but yours is {got:.4f}",
        rtol=1e-3,
    )


@public_check("masked_cross_entropy")
def knowing_nothing_costs_log_v(masked_cross_entropy: Any) -> None:
    """Equal logits cost log V: ln 6 for the lecture's six words, wherever the padding is."""
    labels = torch.tensor([[2, 1, 0, 4, 5], [3, 5, 7, 7, 7]])
    for smoothing in (0.0, 0.1):
        got = _one_number(masked_cross_entropy(torch.zeros(2, 5, 6), labels, 7, smoothing))
        ensure(
            not math.isclose(got, 0.7 * math.log(6), rel_tol=1e-4),
            "you divide by all 10 positions; the mean runs over the 7 real ones",
        )
        ensure(
            not math.isclose(got, 7 * math.log(6), rel_tol=1e-4),
            "this is the sum over the 7 real positions; take their mean",
        )
        close(got, math.log(6), f"the loss should be ln 6 = 1.7918, but it is {got:.4f}", rtol=1e-4)


@public_check("masked_cross_entropy")
def the_padding_is_no_lesson(masked_cross_entropy: Any) -> None:
    """What the model says at the padding changes nothing and gets no gradient."""
    logits = torch.tensor([[[0.5, 1, -1], [2, 0, 1], [3, -3, 1], [0, 5, 1]]], requires_grad=True)
    losses = []
    for smoothing in (0.0, 0.1):
        long, short = (
            masked_cross_entropy(
                logits[:, :length], torch.tensor([[1, 2, 0, 0]])[:, :length].clone(), 0, smoothing
            )
            for length in (4, 2)
        )
        part = "the smoothing part takes the padding in: with ε = 0.1 the loss" if smoothing else "the loss"
        close(
            _one_number(long),
            _one_number(short),
            f"{part} should be the same with and without the two padding positions behind the sentence",
        )
        losses.append(long)
    loss = sum(losses)
    ensure(loss.requires_grad, "no gradient flows through your loss: compute with tensors all the way")
    (gradient,) = torch.autograd.grad(loss, logits)
    ensure(
        float(gradient[0, 2:].abs().max()) == 0, "the logits at the padding get a gradient: it should be 0"
    )
    ensure(float(gradient[0, :2].abs().max()) > 0, "the logits at the real words get no gradient")
    p = torch.softmax(logits.detach()[0, :2], dim=-1).numpy()
    right, even = np.eye(3)[[1, 2]], np.full((2, 3), 1 / 3)
    found = numbers(gradient)[0, :2]
    ensure(
        not np.allclose(found, 1.9 * (p - right) / 2, atol=1e-5),
        "no gradient flows through the smoothing part of your loss: compute both parts with tensors all the way, without .item(), .detach() or NumPy",
    )
    close(
        found,
        (p - right + p - 0.9 * right - 0.1 * even) / 2,
        "the gradient of the logits is not right: at each real position it is (p − q) divided by the number of real positions, here 2; "
        "does each part go through tensors only, without .item() or .detach()?",
        atol=1e-5,
    )


@public_check("masked_cross_entropy")
def large_logits(masked_cross_entropy: Any) -> None:
    """Large logits do not overflow, and rows of very different size work side by side."""
    got = _one_number(masked_cross_entropy(torch.tensor([[3000.0, 0.0]]), torch.tensor([1]), -1))
    ensure(math.isfinite(got), "logits of 3000 give inf or nan: use torch.log_softmax, not log of softmax")
    close(
        got,
        3000.0,
        f"logits 3000 and 0, the second word right: the loss should be 3000, but it is {got:.4g}",
    )
    side_by_side = torch.tensor([[1000.0, 1000.0], [0.0, 0.0]])
    got = _one_number(masked_cross_entropy(side_by_side, torch.tensor([1, 1]), -1))
    ensure(
        math.isfinite(got),
        "a row of zeros beside a row of 1000s gives inf or nan: whatever is taken out of a row must be that row's own",
    )
    close(
        got,
        math.log(2),
        f"the rows 1000, 1000 and 0, 0 should cost ln 2 each, but the loss is {got:.4g}",
        rtol=1e-3,
    )


@public_check("masked_cross_entropy")
def each_real_word_counts_alike(masked_cross_entropy: Any) -> None:
    """In sentences of different length each real word counts alike, with two leading axes, one or three."""
    logits = torch.tensor([[[0.0, 0.0], [0.0, math.log(3)]], [[0.0, 0.0], [0.0, 0.0]]])
    targets = torch.tensor([[0, 1], [1, -1]])
    for shape in ((2, 2), (4,), (2, 1, 2)):
        got = _one_number(masked_cross_entropy(logits.reshape(*shape, 2), targets.reshape(shape), -1))
        ensure(
            not math.isclose(got, 0.59178, rel_tol=1e-3),
            "this is the mean of the sentences' means; a word of a short sentence should count like any other",
        )
        ensure(
            not math.isclose(got, (math.log(2) + math.log(4 / 3)) / 2, rel_tol=1e-3),
            "word 0 is left out, as if it were padding: here pad = −1, and 0 is a word like any other",
        )
        close(
            got,
            0.55799,
            f"prices 0.693, 0.288 and 0.693 should give 0.558, but with targets of shape {shape} the loss is {got:.4f}",
            rtol=1e-3,
        )


# --------------------------------------------------------------------------------------------------- adam_step


def _three(result: Any) -> list[torch.Tensor]:
    ensure(result is not None, "your function returns None: does it end with a return?")
    ensure(
        isinstance(result, (tuple, list)) and len(result) == 3, "return three things: the parameter, m and v"
    )
    return [_tensor(part, name) for part, name in zip(result, ("the parameter", "m", "v"), strict=True)]


def _numbers(*values: float) -> list[torch.Tensor]:
    return [torch.tensor([value], dtype=torch.float64) for value in values]


@public_check("adam_step")
def the_first_step(adam_step: Any) -> None:
    """The first step by hand: m = 0.05, v = 0.005, θ = 0.9."""
    theta, m, v = _three(adam_step(*_numbers(1.0, 0.5, 0.0, 0.0), 1, 0.1))
    close(
        m, [0.05], f"m should be 0.9 · 0 + 0.1 · 0.5 = 0.05, but it is {m.item():.4g}: return it uncorrected"
    )
    close(v, [0.005], f"v should be 0.98 · 0 + 0.02 · 0.25 = 0.005, but it is {v.item():.4g}")
    got = theta.item()
    ensure(not math.isclose(got, 1.1), "θ went up: subtract the step")
    ensure(
        not math.isclose(got, 1 - 0.1 * 0.05 / math.sqrt(0.005), rel_tol=1e-6),
        "the corrections are missing: divide m by 1 − β₁ᵗ and v by 1 − β₂ᵗ",
    )
    ensure(not math.isclose(got, 0.99, rel_tol=1e-6), "m is not corrected: divide it by 1 − β₁ᵗ")
    ensure(
        not math.isclose(got, 1 - 0.1 * 0.5 / math.sqrt(0.005), rel_tol=1e-6),
        "v is not corrected: divide it by 1 − β₂ᵗ",
    )
    ensure(not math.isclose(got, 1 - 0.1 * 0.5 / 0.25, rel_tol=1e-6), "divide by the square root of v̂")
    close(theta, [0.9], f"θ should be 0.9 after the first step, but it is {got:.4g}")


@public_check("adam_step")
def the_second_step(adam_step: Any) -> None:
    """The second step by hand: θ = 0.849; with a gradient of 0 it would go on to 0.833."""
    start = _numbers(0.9, -0.1, 0.05, 0.005)
    theta, m, v = _three(adam_step(*start, 2, 0.1))
    close(m, [0.035], "m should be 0.9 · 0.05 + 0.1 · (−0.1) = 0.035")
    close(v, [0.0051], "v should be 0.98 · 0.005 + 0.02 · 0.01 = 0.0051")
    close(
        theta, [0.848670], f"θ should be 0.84867, but it is {theta.item():.5f}: are β₁, β₂ raised to t = 2?"
    )
    theta, m, v = _three(adam_step(*_numbers(0.9, 0.0, 0.05, 0.005), 2, 0.1))
    close(m, [0.045], "with a gradient of 0 in the second step m should be 0.9 · 0.05 = 0.045")
    close(
        v,
        [0.0049],
        f"with a gradient of 0 in the second step v should fall to 0.98 · 0.005 = 0.0049, but it is {v.item():.4g}",
    )
    ensure(
        theta.item() != 0.9,
        "with a gradient of 0 in the second step θ stays where it is, but m is not 0: it goes on pushing",
    )
    close(
        theta,
        [0.832671],
        f"with a gradient of 0 in the second step θ should go on to 0.83267, for m is not 0; it is {theta.item():.5f}",
    )


@public_check("adam_step")
def every_weight_its_own_step(adam_step: Any) -> None:
    """Small and huge gradients make first steps of the same length, whatever the betas; a zero gradient makes none."""
    gradient = torch.tensor([[1e-3, -50.0], [0.0, 2.0]], dtype=torch.float64)
    nothing = torch.zeros(2, 2, dtype=torch.float64)
    for betas in ((), (0.5, 0.4)):
        theta, _, _ = _three(adam_step(nothing, gradient, nothing, nothing, 1, 0.5, *betas))
        ensure(bool(torch.isfinite(theta).all()), "a gradient of 0 gives 0/0: add eps to the root")
        ensure(
            not betas or not math.isclose(theta[1, 1].item(), -0.5 * 5 / math.sqrt(30), rel_tol=1e-4),
            "with beta1 = 0.5 and beta2 = 0.4 the corrections still use 0.9 and 0.98: take the arguments",
        )
        close(
            theta,
            [[-0.5, 0.5], [0.0, -0.5]],
            f"each weight's first step should have the length of the rate{', with beta1 = 0.5 and beta2 = 0.4 too' if betas else ''}",
            atol=3e-4,  # eps inside the root, which the next check tells, shortens the first by 0.00025
        )


@public_check("adam_step")
def eps_stands_after_the_root(adam_step: Any) -> None:
    """A large eps shows where it stands: with eps = 2 a gradient of 2 makes half a step. So does one of 1e-9 without eps."""
    theta, _, _ = _three(adam_step(*_numbers(1.0, 2.0, 0.0, 0.0), 1, 0.5, 0.9, 0.98, 2.0))
    got = theta.item()
    ensure(
        not math.isclose(got, 1 - 0.5 * 2 / math.sqrt(6), rel_tol=1e-4),
        "eps stands inside the root: add it to the root, √v̂ + ε",
    )
    ensure(
        not math.isclose(got, 1 - 0.5 * math.sqrt(0.02) / 0.1 * 0.2 / (math.sqrt(0.08) + 2), rel_tol=1e-4),
        "eps is added before v is corrected: correct v first, then take its root, then add eps",
    )
    close(theta, [0.75], f"θ should go from 1 to 1 − 0.5 · 2 / (2 + 2) = 0.75, but it is {got:.4g}")
    theta, _, _ = _three(adam_step(*_numbers(0.0, 1e-9, 0.0, 0.0), 1, 0.5))
    got = theta.item()
    close(
        theta,
        [-0.25],
        f"called without eps it should take 1e-9: a gradient as small as that makes half a step, from 0 to −0.25, but θ is {got:.4g}",
    )


@public_check("adam_step")
def a_late_step_of_a_single_number(adam_step: Any) -> None:
    """Tensors of any shape, a single number, too, and in step 30."""
    start = [one.reshape(()) for one in _numbers(0.9, -0.1, 0.05, 0.005)]
    error = _error(adam_step, *start, 30, 0.1)
    ensure(
        error is None,
        f"with single numbers, of shape (), it stops with {type(error).__name__}: compute with whole tensors, then any shape works",
    )
    theta, _, _ = _three(adam_step(*start, 30, 0.1))
    ensure(theta.shape == (), f"tensors of shape () make a θ of shape (), not {tuple(theta.shape)}")
    wanted = 0.9 - 0.1 * 0.035 / (1 - 0.9**30) / math.sqrt(0.0051 / (1 - 0.98**30))
    close(
        theta,
        wanted,
        f"the second step's numbers with t = 30 should give θ = {wanted:.5f}, but it is {theta.item():.5f}: the corrections fade away, but in step 30 "
        "1 − β₂ᵗ is still 0.45",
    )
    theta, m, v = _three(adam_step(*(one.reshape(1, 1, 1) for one in start), 30, 0.1, 0.5, 0.9, 2.0))
    wanted = 0.9 - 0.1 * -0.025 / (1 - 0.5**30) / (math.sqrt(0.0055 / (1 - 0.9**30)) + 2)
    for got, right, name in ((m, -0.025, "m"), (v, 0.0055, "v"), (theta, wanted, "θ")):
        close(
            got,
            [[[right]]],
            f"the same with shape (1, 1, 1), beta1 = 0.5, beta2 = 0.9 and eps = 2 should give {name} = {right:.5f}",
        )


# --------------------------------------------------------------------------------------------------- noam_rate


def _rate(noam_rate: Any, *arguments: int) -> float:
    rate = numbers(noam_rate(*arguments))
    ensure(rate.size == 1, f"the rate should be one number, but its shape is {rate.shape}")
    return float(rate.item())


@public_check("noam_rate")
def the_first_transformer(noam_rate: Any) -> None:
    """d_model = 512 and 4,000 steps of warm-up: 0.0007 at the top, half of it halfway up."""
    top = _rate(noam_rate, 4000, 512, 4000)
    ensure(
        not math.isclose(top, 1 / math.sqrt(512 * 4001), rel_tol=1e-6),
        "in step 4000 it gives the rate of step 4001: the step is counted from 1 already, so add nothing to it",
    )
    close(
        top,
        1 / math.sqrt(512 * 4000),
        f"at step 4000 it should be 1/√(512 · 4000) = 0.0006988, but it is {top:.4g}",
        atol=0,
    )
    ensure(
        not math.isclose(_rate(noam_rate, 1, 64, 100), 1 / 1000, rel_tol=1e-5),
        "step 1 with d_model = 64 and warmup = 100 has the rate 0.001, without the factor 64^−0.5 = 1/8: it stands before the whole minimum",
    )
    half = "halfway up it should be half of the highest rate: a straight line"
    close(_rate(noam_rate, 2000, 512, 4000), top / 2, half, rtol=1e-3, atol=0)
    close(
        _rate(noam_rate, 16000, 512, 4000),
        top / 2,
        "at four times the warm-up it should be half: it falls with the root",
        rtol=1e-3,
        atol=0,
    )
    close(
        _rate(noam_rate, 6000, 512, 4000),
        top * math.sqrt(2 / 3),
        "behind the top it should fall smoothly, with 1/√step: at step 6000 it is √(4000/6000) = 0.816 of the highest rate",
        rtol=1e-3,
        atol=0,
    )


@public_check("noam_rate")
def the_first_step_counts_from_zero_or_one(noam_rate: Any) -> None:
    """Step 1 has a tiny rate, for each size its own, and step 0 the same."""
    ensure(
        _rate(noam_rate, 1, 64, 100) != _rate(noam_rate, 1, 16, 4),
        "step 1 has one and the same rate with d_model = 64, warmup = 100 and then with 16 and 4: is something kept from call to call?",
    )
    ensure(
        _rate(noam_rate, 1, 64, 100) != _rate(noam_rate, 1, 64, 25),
        "step 1 with d_model = 64 has one and the same rate with warmup = 100 and then with 25: is something kept from call to call?",
    )
    for d_model, warmup, wanted in (
        (64, 100, 1 / 8 / 1000),
        (16, 4, 1 / 4 / 8),
        (512, 4000, 1 / math.sqrt(512 * 4000) / 4000),
    ):
        got = _rate(noam_rate, 1, d_model, warmup)
        ensure(
            math.isclose(got, wanted, rel_tol=1e-5)
            or got == 0
            or got not in [round(wanted, digits) for digits in range(12)],
            f"step 1 with d_model = {d_model} and warmup = {warmup} should be {wanted:.4g}, but it is rounded to {got:g}: return the rate as it is",
        )
        close(
            got,
            wanted,
            f"step 1 with d_model = {d_model} and warmup = {warmup} should be {wanted:.4g}, but it is {got:.4g}",
            atol=0,
        )
    got = _rate(noam_rate, 0, 64, 100)
    close(got, 1 / 8 / 1000, f"step 0 should have the rate of step 1, 0.000125, but it is {got:.4g}", atol=0)


# -------------------------------------------------------------------------------------------------- train_step


class _Linear(nn.Module):
    """One weight: says weight · source. Remembers what its decoder was given, and the modes in which it, and a module inside it, was called."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(2.0))
        self.inside = nn.Identity()
        self.modes: list[tuple[bool, bool]] = []
        self.decoder_inputs: list[Any] = []

    def forward(self, source: torch.Tensor, decoder_input: torch.Tensor) -> torch.Tensor:
        self.modes.append((self.training, self.inside.training))
        self.decoder_inputs.append(
            decoder_input.tolist() if isinstance(decoder_input, torch.Tensor) else decoder_input
        )
        logits: torch.Tensor = self.weight * self.inside(source)
        return logits


class _Shifted(_Linear):
    """The same with a second weight, which is added, and a third that has no part in anything."""

    def __init__(self) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.tensor(0.0))
        self.idle = nn.Parameter(torch.tensor(5.0))

    def forward(self, source: torch.Tensor, decoder_input: torch.Tensor) -> torch.Tensor:
        return super().forward(source, decoder_input) + self.shift


_BATCH = (torch.tensor([1.0, 3.0]), torch.tensor([5, 6]), torch.tensor([1.0, 1.0]))


def _step(train_step: Any, model: _Linear, clip: float = 100.0, lr: float = 77.0) -> Any:
    optimizer = torch.optim.SGD([{"params": [weight]} for weight in model.parameters()], lr=lr)
    return train_step(model, optimizer, _distance, tuple(part.clone() for part in _BATCH), 0.1, clip)


def _distance(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """A squared distance; what is added is 0 for the labels here, and tells when the two have changed places."""
    return ((logits - labels) ** 2).mean() + (labels - 1).sum()


@public_check("train_step")
def one_update_by_hand(train_step: Any) -> None:
    """A model with a single weight, and clip = 100: loss 13, gradient 16, and the weight goes from 2 to 0.4."""
    model = _Linear()
    loss = _step(train_step, model)
    given = model.decoder_inputs[0] if model.decoder_inputs else [5, 6]
    ensure(
        given != [1, 1],
        "the model is given the labels as its decoder input: it sees the very words that it should say, and learns to copy; "
        "call model(source, decoder_input)",
    )
    ensure(
        given != [1, 3],
        "the model is given the source as its decoder input: call model(source, decoder_input)",
    )
    ensure(given == [5, 6], f"the model should be given the decoder input [5, 6] as it is, not {given}")
    ensure(loss is not None, "your function returns None: return loss.item()")
    ensure(not isinstance(loss, torch.Tensor), "the loss should be a plain number: loss.item()")
    ensure(isinstance(loss, Real), f"the loss should be a plain number, but it is a {type(loss).__name__}")
    ensure(
        not math.isclose(loss, 19.0, rel_tol=1e-5),
        "the two arguments of loss_function have changed places: it is loss_function(logits, labels)",
    )
    close(loss, 13.0, f"the loss of the model as it was is 13, but you return {float(loss):.4g}")
    weight = float(model.weight.detach())
    ensure(weight != 2.0, "the weight has not changed: did the optimizer take its step, after backward()?")
    ensure(
        not math.isclose(weight, 2 - 77 * 16),
        "the learning rate is the optimizer's own: set group['lr'] = rate",
    )
    ensure(
        not math.isclose(weight, 1.9, rel_tol=1e-5),
        "the gradient of 16 was cut to length 1, but here clip = 100: use the argument clip (1 is only its default)",
    )
    ensure(
        not math.isclose(weight, 2 - 0.1 * 100, rel_tol=1e-4),
        "the gradient of 16 was stretched to the length of clip = 100: shorten a longer one, and leave a shorter one as it is",
    )
    close(
        weight,
        0.4,
        f"with clip = 100, which is longer than the gradient, the weight should go from 2 to 2 − 0.1 · 16 = 0.4, but it is {weight:.4g}",
    )


@public_check("train_step")
def every_group_has_the_rate(train_step: Any) -> None:
    """An optimizer with several groups of parameters: all weights that had a part move at the rate that is given."""
    model = _Shifted()
    try:
        _step(train_step, model)
    except (TypeError, AttributeError) as error:
        raise Hint(
            f"with a weight that had no part in the loss it stops with {type(error).__name__}: its grad is None, so leave it out where you compute "
            "with gradients yourself"
        ) from None
    weight, shift = float(model.weight.detach()), float(model.shift.detach())
    ensure(
        not (math.isclose(weight, 0.4, rel_tol=1e-5) and math.isclose(shift, -77 * 6)),
        "only the first group got the rate: set it in each group of optimizer.param_groups",
    )
    close(
        [weight, shift],
        [0.4, -0.6],
        f"two weights, 2 and 0, with gradients 16 and 6 should become 0.4 and −0.6, but became {weight:.4g} and {shift:.4g}",
    )


@public_check("train_step")
def old_gradients_are_cleared(train_step: Any) -> None:
    """Gradients from before do not count, and the model is in training mode, with all modules inside it."""
    model = _Linear()
    model.weight.grad = torch.tensor(1000.0)
    model.eval()
    _step(train_step, model)
    ensure(
        math.isclose(float(model.weight.detach()), 0.4, rel_tol=1e-5),
        "a gradient that was there before was added to yours: clear the old gradients first",
    )
    ensure(
        model.modes != [(True, False)],
        "the model is in training mode, but a module inside it is not: model.train() puts all of them into it",
    )
    ensure(model.modes == [(True, True)], "the model should be called once, in training mode: model.train()")


@public_check("train_step")
def the_optimizer_takes_each_step(train_step: Any) -> None:
    """Two steps of an optimizer with momentum, which remembers the first in the second."""
    model = _Linear()
    optimizer = torch.optim.SGD(model.parameters(), lr=77.0, momentum=0.5)
    weights = []
    for _ in range(2):
        train_step(model, optimizer, _distance, tuple(part.clone() for part in _BATCH), 0.1, 100.0)
        weights.append(float(model.weight.detach()))
    ensure(
        not np.allclose(weights, [0.4, 0.4], rtol=1e-4),
        "in the second step the momentum of the first is forgotten: let the optimizer that you are given take each step, and make no new one",
    )
    close(
        weights,
        [0.4, -0.4],
        f"with momentum 0.5 two steps should take the weight from 2 to 0.4 and to −0.4, but yours go to {weights[0]:.4g} and {weights[1]:.4g}",
    )


@public_check("train_step")
def a_long_gradient_is_clipped(train_step: Any) -> None:
    """With clip = 2 the gradient of 16 is shortened to 2, and that of two weights as one vector."""
    model = _Linear()
    _step(train_step, model, clip=2.0)
    weight = float(model.weight.detach())
    ensure(
        not math.isclose(weight, 0.4, rel_tol=1e-4),
        "the gradient was not clipped, or only after the optimizer's step",
    )
    close(weight, 1.8, f"the weight should go from 2 to 2 − 0.1 · 2 = 1.8, but it is {weight:.4g}", rtol=1e-4)
    model = _Shifted()  # two gradients, 16 and 6: together they have the length √292
    _step(train_step, model, clip=2.0)
    shift = float(model.shift.detach())
    ensure(
        not math.isclose(shift, -0.2, rel_tol=1e-4),
        "the gradient of each weight, or of each group, was cut by itself: shorten all of them together, as one long vector (clip_grad_norm_ of all "
        "the model's parameters), so that its direction stays",
    )
    close(
        shift,
        -0.1 * 2 * 6 / math.sqrt(292),
        f"the second weight should go to −0.0702, but it is {shift:.4g}",
        rtol=1e-3,
    )


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("masked_cross_entropy")
def counts_the_padding(right: Any, logits: Any, targets: Any, pad: Any, smoothing: Any = 0.0) -> Any:
    """It divides the sum by the number of all positions, padding included.

    One survives: nothing is padded in your input.
    """
    return right(logits, targets, pad, smoothing) * (targets != pad).float().mean()


@impostor("masked_cross_entropy")
def never_smooths(right: Any, logits: Any, targets: Any, pad: Any, smoothing: Any = 0.0) -> Any:
    """It forgets the smoothing.

    One survives: your smoothing is 0.
    """
    return right(logits, targets, pad)


@impostor("masked_cross_entropy")
def smooths_the_wrong_words(right: Any, logits: Any, targets: Any, pad: Any, smoothing: Any = 0.0) -> Any:
    """It spreads ε over the wrong words only.

    One survives: your smoothing is 0.
    """
    V = logits.shape[-1]
    return right(logits, targets, pad, smoothing * V / (V - 1))


@impostor("masked_cross_entropy")
def averages_sentences(right: Any, logits: Any, targets: Any, pad: Any, smoothing: Any = 0.0) -> Any:
    """It takes the mean of each sentence, and then the mean of those means.

    One survives: it goes wrong with two sentences of different lengths.
    """
    rows = [
        right(one, row, pad, smoothing)
        for one, row in zip(logits, targets, strict=True)
        if (row != pad).any()
    ]
    return torch.stack(rows).mean()


@impostor("masked_cross_entropy")
def pads_with_zero(right: Any, logits: Any, targets: Any, pad: Any, smoothing: Any = 0.0) -> Any:
    """It takes 0 for the padding, whatever the argument says.

    One survives: let pad be another number, and 0 a word.
    """
    return right(logits, targets, 0, smoothing)


@impostor("masked_cross_entropy")
def takes_the_logarithm_late(right: Any, logits: Any, targets: Any, pad: Any, smoothing: Any = 0.0) -> Any:
    """It takes the logarithm of a softmax, and that of 0 is minus infinity.

    One survives: none of your logits is large. When is a probability so small that it becomes 0?
    """
    apart = logits.amax(-1) - logits.amin(-1)
    return right(logits, targets, pad, smoothing) if float(apart.max()) < 745 else torch.tensor(torch.inf)
