"""Public checks of lab 05: riddles, CBOW and its gradients, neighbours and analogies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coursekit.checks.api import close, ensure, equal, public_check
from coursekit.checks.break_it import impostor
from coursekit.checks.forbidden_calls import AUTOMATIC_GRADIENTS

FORBIDDEN = {
    "cbow_backward": AUTOMATIC_GRADIENTS,
    "negative_sampling_loss": AUTOMATIC_GRADIENTS,
}

W_IN = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
W_OUT = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
NOTHING = "your function returns None: end it with a return"
SENTENCE = ["The", "competent", "services", "have", "not", "included", "them", "in", "the", "agenda"]


def _parts(result: Any, count: int, names: str) -> Any:
    ensure(result is not None, NOTHING)
    several = isinstance(result, (tuple, list)) and len(result) == count
    ensure(several, f"return {count} things, separated by commas: {names}")
    return [np.asarray(part, dtype=float) for part in result]


# --------------------------------------------------------------------------------------------- context_windows


def _riddles(result: Any) -> Any:
    ensure(result is not None, NOTHING)
    ensure(isinstance(result, (list, tuple)), "return a list of pairs (context, target)")
    riddles = []
    for riddle in result:
        pair = isinstance(riddle, (tuple, list)) and len(riddle) == 2
        ensure(pair, "each riddle should be a pair (context, target)")
        context, target = riddle
        ensure(
            isinstance(context, (list, tuple, np.ndarray)) and not isinstance(target, (list, tuple)),
            "each riddle is a pair (context, target): first the list of hints, then the one answer",
        )
        riddles.append((list(context), target))
    return riddles


@public_check("context_windows")
def the_lectures_have(context_windows: Any) -> None:
    """The target have has the context The, competent, services, not, included, them."""
    contexts = {target: context for context, target in _riddles(context_windows(SENTENCE, 3))}
    ensure("have" in contexts, "every word of the sentence should be a target once")
    got = contexts["have"]
    ensure("have" not in got, "the target stands in its own context: leave its position out")
    ensure(
        got != ["The", "competent", "services", "not", "included"],
        "the context of have lacks its last word, them: a slice leaves out its end, so the words on the right are ids[place + 1 : place + 1 + m]",
    )
    ensure(len(got) == 6, f"three words on each side make six; you have {got}")
    hints = ["The", "competent", "services", "not", "included", "them"]
    ensure(
        got == hints or sorted(map(str, got)) != sorted(hints),
        f"the six hints of have are right, but not in the order of the sentence: {got}",
    )
    equal(got, hints, f"with m = 3 the context of have is {got}")


@public_check("context_windows")
def the_window_is_cut_at_the_ends(context_windows: Any) -> None:
    """At the ends of the sentence the window is shorter."""
    got = _riddles(context_windows([7, 8, 9], 1))
    ensure(len(got) == 3, f"three words make three riddles, also at the ends; you have {len(got)}")
    ensure(
        got[0] != ([9, 8], 7) and got[2] != ([8, 7], 9),
        "a window reaches around to the other end: negative indices count from the end, cut at 0",
    )
    equal(got, [([8], 7), ([7, 9], 8), ([8], 9)], f"[7, 8, 9] with m = 1 gave {got}")
    got = _riddles(context_windows([7, 8, 9, 6, 5], 2))
    ensure(
        got[:2] != [([8, 9], 7), ([9, 6], 8)],
        "[7, 8, 9, 6, 5] with m = 2: the target 8 lost the word on its left: a start place − m below 0 counts from the end, or the left "
        "side was left out: begin at max(0, place − m)",
    )
    right = [([8, 9], 7), ([7, 9, 6], 8), ([7, 8, 6, 5], 9), ([8, 9, 5], 6), ([9, 6], 5)]
    equal(got, right, f"[7, 8, 9, 6, 5] with m = 2 gave {got}")
    got = _riddles(context_windows([7, 8, 9, 6, 5, 4], 5))
    equal(got[:1], [([8, 9, 6, 5, 4], 7)], f"[7, 8, 9, 6, 5, 4] with m = 5 gave for the target 7 {got[:1]}")


@public_check("context_windows")
def the_id_0_is_a_word(context_windows: Any) -> None:
    """The id 0 is a word like any other."""
    got = _riddles(context_windows([5, 0, 6, 8], 1))
    right = [([0], 5), ([5, 6], 0), ([0, 8], 6), ([6], 8)]
    ensure(
        [(list(filter(None, context)), target) for context, target in right if any(context)]
        != [riddle for riddle in got if riddle[0]],
        "[5, 0, 6, 8] with m = 1: the hint 0 is lost: 0 is an id like any other, but counts as false, so ask “is not None” or go by the places",
    )
    ensure(
        [target for _, target in got] != [5, 6, 8],
        "[5, 0, 6, 8] with m = 1: the target 0 has no riddle: 0 is an id like any other, but counts as false, so go by the places",
    )
    equal(got, right, f"[5, 0, 6, 8] with m = 1 gave {got}")


@public_check("context_windows")
def a_repeated_word_stays(context_windows: Any) -> None:
    """Only the target's own position is left out; equal words stay where they are."""
    got = _riddles(context_windows([4, 4, 5], 1))
    ensure(
        got[:1] != [([], 4)] and got[:2] != [([5], 4), ([4], 5)],
        "[4, 4, 5] with m = 1: the word 4 stands in the sentence twice: leave out the target's position, not every equal word",
    )
    ensure(
        got[:2] != [([4], 4), ([4], 4)],
        "[4, 4, 5] with m = 1: the second 4 has the context of the first: ids.index(4) finds the first 4 only, so go through the positions",
    )
    equal(got, [([4], 4), ([4, 5], 4), ([4], 5)], f"[4, 4, 5] with m = 1 gave {got}")
    got = _riddles(context_windows([4, 9, 4, 5], 2))
    ensure(
        got[2:3] != [([9, 4, 5], 4)],
        "[4, 9, 4, 5] with m = 2: the second 4 has the right hints in another order: remove(4) takes out the first 4 that it meets; leave "
        "out the target's place instead",
    )
    ensure(
        got[1:2] != [([4, 5], 9)],
        "[4, 9, 4, 5] with m = 2: the target 9 has the word 4 on both sides, and both are hints: a context is no set",
    )
    right = [([9, 4], 4), ([4, 4, 5], 9), ([4, 9, 5], 4), ([9, 4], 5)]
    equal(got, right, f"[4, 9, 4, 5] with m = 2 gave {got}")
    got = _riddles(context_windows([0, 4, 0, 0], 3))
    right = [([4, 0, 0], 0), ([0, 0, 0], 4), ([0, 4, 0], 0), ([0, 4, 0], 0)]
    equal(got, right, f"[0, 4, 0, 0] with m = 3 gave {got}")


@public_check("context_windows")
def a_lone_word_makes_no_riddle(context_windows: Any) -> None:
    """A sentence of one word makes no riddle, and neither does the empty one."""
    for sentence in ([3], []):
        equal(
            _riddles(context_windows(sentence, 2)),
            [],
            f"{sentence} has no word with a context: no riddle, []",
        )


# ------------------------------------------------------------------------------------------------ cbow_forward


def _not_rounded(subject: str, found: Any, exact: Any) -> None:
    """Refuse ``exact`` with a few decimals."""
    for decimals in range(1, 5):
        ensure(
            found.shape != exact.shape or not np.allclose(found, exact.round(decimals), rtol=0, atol=1e-7),
            f"{subject} rounded to {decimals} decimals: return the numbers as they are",
        )


@public_check("cbow_forward")
def the_worked_case_forward(cbow_forward: Any) -> None:
    """The context [0, 1] gives h = (0.5, 0.5) and the probabilities .212, .212, .576."""
    h, p = _parts(cbow_forward([0, 1], W_IN.copy(), W_OUT.copy()), 2, "h, p")
    ensure(
        h.shape == (2,), f"h should have shape (2,), one number for each column of W_in; yours is {h.shape}"
    )
    other, _ = _parts(cbow_forward([0, 1], W_IN.copy(), 3 * W_OUT), 2, "h, p")
    ensure(np.allclose(other, h), "your h changes with W_out: it is the mean of rows of W_in")
    ensure(not np.allclose(h, [1, 1]), "your h is (1, 1), the sum of the context's rows: take their mean")
    close(h, [0.5, 0.5], f"the mean of the rows 0 and 1 of W_in is (0.5, 0.5), but your h is {h}")
    ensure(p.shape == (3,), f"p should have one probability for each of the 3 words; its shape is {p.shape}")
    ensure(not np.allclose(p, [1, 1, 2]), "those are the scores: softmax turns them into probabilities")
    _not_rounded("your probabilities are", p, np.array([1, 1, math.e]) / (2 + math.e))
    ensure(
        not np.allclose(p, np.exp([0.5, 0.5, 1]) / np.exp([0.5, 0.5, 1]).sum()),
        "your scores are W_in · h: the words as answers have their rows in W_out",
    )
    close(
        p,
        [0.21194, 0.21194, 0.57612],
        f"the probabilities should be .21194, .21194, .57612; yours are {p.round(5)}",
        atol=1e-5,
    )


@public_check("cbow_forward")
def repeated_hints_count_twice(cbow_forward: Any) -> None:
    """A word that stands in the context twice counts twice."""
    h, p = _parts(cbow_forward([0, 0, 1], W_IN.copy(), W_OUT.copy()), 2, "h, p")
    ensure(
        not np.allclose(h, [0.5, 0.5]),
        "word 0 stands in the context twice, so it has two of three votes in the mean",
    )
    ensure(
        not np.allclose(h, [1, 0.5]),
        "the context 0, 0, 1 has three words, and you divide by two: divide by the length of the context",
    )
    _not_rounded("your h is", h, np.array([2 / 3, 1 / 3]))
    close(h, [2 / 3, 1 / 3], f"the mean of the rows 0, 0, 1 is (2/3, 1/3), but your h is {h}", atol=1e-5)
    close(p.sum(), 1.0, "the probabilities should add up to one")


@public_check("cbow_forward")
def scores_of_a_thousand(cbow_forward: Any) -> None:
    """Large scores, too, give probabilities."""
    with np.errstate(all="ignore"):
        _, p = _parts(cbow_forward([0, 1], W_IN.copy(), 1000 * W_OUT), 2, "h, p")
    ensure(
        np.isfinite(p).all(),
        "with scores of 1000, 1000 and 2000 a probability is not a number: exp(1000) overflows; the softmax that is given subtracts the "
        "largest score first",
    )
    close(
        p, [0, 0, 1], f"the scores 1000, 1000 and 2000 should give the probabilities 0, 0, 1; yours are {p}"
    )
    with np.errstate(all="ignore"):
        h, p = _parts(cbow_forward([2, 0, 2, 2, 0], W_IN.copy(), 1000 * W_OUT), 2, "h, p")
    close(
        h,
        [1, 0.6],
        f"the mean of the rows 2, 0, 2, 2, 0 is (1, 0.6), also where the scores are large, but your h is {h}",
    )
    close(
        p, [0, 0, 1], f"the scores 2000, 1200 and 3200 should give the probabilities 0, 0, 1; yours are {p}"
    )


# ----------------------------------------------------------------------------------------------- cbow_backward


@public_check("cbow_backward")
def the_worked_case_backward(cbow_backward: Any) -> None:
    """The worked case: gradients of both tables."""
    dW_in, dW_out = _parts(cbow_backward([0, 1], 0, W_IN.copy(), W_OUT.copy()), 2, "dW_in, dW_out")
    ensure(
        dW_in.shape == (3, 2) and dW_out.shape == (3, 2),
        "both gradients have the shape of their table, (V, D)",
    )
    said = np.array([1, 1, math.e]) / (2 + math.e)
    _not_rounded("your gradients are", dW_out, np.outer(said - [1, 0, 0], [0.5, 0.5]))
    right_out = np.array([[-0.39403, -0.39403], [0.10597, 0.10597], [0.28806, 0.28806]])
    ensure(
        not np.allclose(dW_out, -right_out, atol=1e-4),
        "the sign is wrong: what was said minus what was right, p − 1",
    )
    close(
        dW_out,
        right_out,
        f"row i of dW_out is eᵢ · h with e = (−.788, .212, .576); yours is {dW_out.round(4).tolist()}",
        atol=1e-4,
    )
    right_in = np.array([[-0.21194, 0.78806], [-0.21194, 0.78806], [0, 0]])
    ensure(
        not np.allclose(dW_in, 2 * right_in, atol=1e-4),
        "each word of the context gets the full ∂L/∂h: h is a mean, so divide by their number",
    )
    ensure(
        not np.allclose(dW_in.sum(axis=0), [-0.42388 * 1.5, 1.57612 * 1.5], atol=1e-4),
        "word 2 is not in the context, so its row of dW_in is zero",
    )
    ensure(
        not np.allclose(dW_in, right_in * [[0], [1], [0]], atol=1e-4),
        "word 0, the target, stands in the context, too, and got nothing there: as a hint it gets its share like the others",
    )
    ensure(
        not np.allclose(dW_in, [said @ W_OUT / 2] * 2 + [[0, 0]], atol=1e-4),
        "your ∂L/∂h is the sum of pᵢ · W_out[i], without the −1 of the target: take the 1 off first, then use e for both tables",
    )
    close(
        dW_in,
        right_in,
        f"rows 0 and 1 of dW_in should be (−.212, .788), row 2 zero; yours is {dW_in.round(4).tolist()}",
        atol=1e-4,
    )


@public_check("cbow_backward")
def repeated_hints_get_two_shares(cbow_backward: Any) -> None:
    """A word that stands in the context twice gets two shares."""
    dW_in, _ = _parts(cbow_backward([0, 0, 1], 2, W_IN.copy(), W_OUT.copy()), 2, "dW_in, dW_out")
    ensure(
        not np.allclose(dW_in[0], dW_in[1]),
        "words 0 and 1 got the same, but word 0 stands in the context twice: it gets two shares (dW_in[context] += … writes a repeated "
        "row only once, and a set holds each word once)",
    )
    close(
        dW_in[0],
        2 * dW_in[1],
        "word 0 stands in the context twice, so its row should be twice that of word 1",
    )
    scores = W_OUT @ [2 / 3, 1 / 3]
    dh = (np.exp(scores) / np.exp(scores).sum() - [0, 0, 1]) @ W_OUT
    ensure(
        not np.allclose(dW_in[1], dh / 2),
        "the context 0, 0, 1 has three words, so a share is a third of ∂L/∂h; yours is a half: divide by the length of the context, not by 2 or "
        "by the number of different words",
    )
    close(
        dW_in[1],
        dh / 3,
        "the context 0, 0, 1 has three words, so word 1 should get a third of ∂L/∂h",
        atol=1e-4,
    )


@public_check("cbow_backward")
def a_target_among_its_own_hints(cbow_backward: Any) -> None:
    """A target that is among its own hints gets its share, too."""
    dW_in, _ = _parts(cbow_backward([0, 1, 2], 1, W_IN.copy(), W_OUT.copy()), 2, "dW_in, dW_out")
    scores = W_OUT @ [2 / 3, 2 / 3]
    dh = (np.exp(scores) / np.exp(scores).sum() - [0, 1, 0]) @ W_OUT
    ensure(
        not np.allclose(dW_in, [dh / 3, 0 * dh, dh / 3], atol=1e-4),
        "word 1, the target, stands in the context, too, and got nothing there: as a hint it gets its share like the others",
    )
    close(dW_in, [dh / 3] * 3, "each of the hints 0, 1 and 2 should get a third of ∂L/∂h", atol=1e-4)


@public_check("cbow_backward")
def the_loss_falls_along_the_gradient(cbow_backward: Any) -> None:
    """Moving a number of a table changes the loss as the gradient says."""
    rng = np.random.default_rng(0)
    tables, context, target = rng.normal(size=(2, 5, 3)), [1, 4, 1], 3

    def loss(W_in: Any, W_out: Any) -> Any:
        scores = W_out @ W_in[context].mean(axis=0)
        return np.log(np.exp(scores).sum()) - scores[target]

    gradients = _parts(cbow_backward(context, target, *tables.copy()), 2, "dW_in, dW_out")
    for which, name in enumerate(("W_in", "W_out")):
        for place in ((1, 0), (3, 2), (4, 1)):
            moved = tables.copy(), tables.copy()
            moved[0][(which, *place)] += 1e-5
            moved[1][(which, *place)] -= 1e-5
            slope = (loss(*moved[0]) - loss(*moved[1])) / 2e-5
            component = gradients[which][place]
            ensure(
                abs(slope - component) < 1e-6,
                f"at {name}[{place[0]}, {place[1]}] the loss has the slope {slope:.4f}, but your gradient says {component:.4f}",
            )


@public_check("cbow_backward")
def large_scores_have_gradients(cbow_backward: Any) -> None:
    """Large scores, too, give finite gradients."""
    with np.errstate(all="ignore"):
        found = _parts(cbow_backward([0, 1], 0, W_IN.copy(), 1000 * W_OUT), 2, "dW_in, dW_out")
    ensure(
        all(np.isfinite(part).all() for part in found),
        "with scores of 1000, 1000 and 2000 a gradient is not a number: exp(1000) overflows; the softmax that is given subtracts the largest "
        "score first",
    )
    close(
        found[1],
        [[-0.5, -0.5], [0, 0], [0.5, 0.5]],
        "with the scores 1000, 1000 and 2000 e should be (−1, 0, 1)",
    )
    with np.errstate(all="ignore"):
        found = _parts(cbow_backward([0, 2, 0, 0, 2], 0, W_IN.copy(), 1000 * W_OUT), 2, "dW_in, dW_out")
    close(
        found[0],
        [[0, 1200], [0, 0], [0, 800]],
        "the context 0, 2, 0, 0, 2 with large scores: ∂L/∂h is (0, 2000), and the words 0 and 2 get three and two fifths of it",
    )


@public_check("cbow_backward")
def the_tables_are_left_alone(cbow_backward: Any) -> None:
    """The tables that you were given are not changed."""
    tables = W_IN.copy(), W_OUT.copy()
    cbow_backward([0, 1], 0, *tables)
    same = np.array_equal(tables[0], W_IN) and np.array_equal(tables[1], W_OUT)
    ensure(same, "your function changed W_in or W_out: it should only return the gradients")


# -------------------------------------------------------------------------------------- negative_sampling_loss


@public_check("negative_sampling_loss")
def the_worked_case_of_noise(negative_sampling_loss: Any) -> None:
    """The worked case: loss .440 and both gradients."""
    h, rows = np.array([[1.0, 0.0]]), np.array([[[2.0, 0.0], [-1.0, 3.0]]])
    loss, dh, drows = _parts(negative_sampling_loss(h, rows), 3, "loss, dh, drows")
    ensure(
        loss.shape == (1,),
        f"loss should have one number for each riddle, shape (1,) here; yours is {loss.shape}",
    )
    ensure(loss[0] > 0, "the loss is negative: mind the minus signs before the logarithms")
    ensure(
        not np.isclose(loss[0], 0.126928 + 1.313262, atol=1e-4),
        "the noise word counts as a real one: its score should be *low*, so it enters with −uₖ·h",
    )
    ensure(
        not np.isclose(loss[0], 0.048587, atol=1e-4),
        "that is a softmax over the two words: here each score goes through its own sigmoid",
    )
    close(loss, [0.440190], f"the loss should be .127 + .313 = .440, but is {loss[0]:.4f}", atol=1e-5)
    ensure(
        not np.allclose(dh, [[-0.238, 0]], atol=1e-2),
        "the noise word has no part in your dh: it pushes with its error σ(s₁), .269 here",
    )
    ensure(
        not np.allclose(dh, [[0.507, -0.807]], atol=1e-2),
        "dh has the wrong sign: g₀ = σ(s₀) − 1 is negative, gₖ = σ(sₖ) positive",
    )
    close(dh, [[-0.50735, 0.80682]], f"dh should be (−.507, .807), but is {dh.round(4).tolist()}", atol=1e-4)
    close(
        drows,
        [[[-0.11920, 0], [0.26894, 0]]],
        f"the rows of drows should be (−.119, 0) and (.269, 0), but are {drows.round(4).tolist()}",
        atol=1e-4,
    )


@public_check("negative_sampling_loss")
def every_riddle_for_itself(negative_sampling_loss: Any) -> None:
    """Every riddle of the batch has its own loss and gradients."""
    rng = np.random.default_rng(1)
    h, rows = rng.normal(size=(4, 3)), rng.normal(size=(4, 6, 3))
    together = _parts(negative_sampling_loss(h, rows), 3, "loss, dh, drows")
    for part, shape, name in zip(together, ((4,), (4, 3), (4, 6, 3)), ("loss", "dh", "drows"), strict=True):
        ensure(
            part.shape == shape,
            f"for 4 riddles with 6 rows of 3 numbers {name} should have shape {shape}, not {part.shape}",
        )
    alone = _parts(negative_sampling_loss(h[1:2], rows[1:2]), 3, "loss, dh, drows")
    for part, single, name in zip(together, alone, ("loss", "dh", "drows"), strict=True):
        close(
            part[1],
            single[0],
            f"{name} of a riddle changes with the batch it is in: no mean and no sum over the batch",
        )


@public_check("negative_sampling_loss")
def noise_words_add_up(negative_sampling_loss: Any) -> None:
    """The losses of several noise words add up."""
    h, rows = np.array([[1.0, 0.0]]), np.array([[[2.0, 0.0], [-1.0, 3.0], [-1.0, 3.0]]])
    loss, _, drows = _parts(negative_sampling_loss(h, rows), 3, "loss, dh, drows")
    ensure(
        not np.isclose(loss[0], 0.440190, atol=1e-4),
        "two equal noise words cost as much as one: add all of them up, without a mean",
    )
    close(
        loss,
        [0.753451],
        f"with two equal noise words the loss should be .127 + 2 · .313 = .753, but is {loss[0]:.4f}",
        atol=1e-5,
    )
    close(
        drows[0, 1],
        [0.26894, 0],
        "each noise word pushes with its full error σ(s), however many there are",
        atol=1e-4,
    )


@public_check("negative_sampling_loss")
def as_many_noise_words_as_there_are(negative_sampling_loss: Any) -> None:
    """Any number of noise words will do: one, or nine."""
    for K in (1, 9):
        h, rows = np.array([[1.0, 0.0]]), np.array([[[2.0, 0.0], *[[-1.0, 3.0]] * K]])
        try:
            loss, dh, drows = _parts(negative_sampling_loss(h, rows), 3, "loss, dh, drows")
        except (ValueError, IndexError) as error:
            ensure(
                False,
                f"with K = {K} noise words (the shape of rows says how many there are) your function raised {type(error).__name__}: {error}",
            )
        ensure(
            drows.shape == (1, 1 + K, 2),
            f"with K = {K} noise words drows should have shape {(1, 1 + K, 2)}, not {drows.shape}",
        )
        right = 0.126928 + K * 0.313262
        close(
            loss,
            [right],
            f"with K = {K} noise words the loss should be {right:.3f}, but is {loss[0]:.3f}",
            atol=1e-4,
        )
        close(
            dh[0, 1],
            K * 0.806824,
            f"with K = {K} noise words each should push dh with its full error",
            atol=1e-4,
        )
    h, rows = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[[2.0, 0.0], *[[-1.0, 3.0]] * 7]] * 2)
    _, dh, _ = _parts(negative_sampling_loss(h, rows), 3, "loss, dh, drows")
    close(
        dh,
        [[-2.12099, 5.64777], [-7.66802, 20.00417]],
        "two riddles with seven noise words each: every one of the seven pushes dh of its own riddle with its full error",
        atol=1e-3,
    )


@public_check("negative_sampling_loss")
def large_scores_are_no_problem(negative_sampling_loss: Any) -> None:
    """Scores of ±1,000 that are wrong cost 1,000 nats each, and every number is finite."""
    h, rows = np.array([[1.0, 0.0]]), np.array([[[-1000.0, 0.0], [1000.0, 0.0]]])
    with np.errstate(all="ignore"):
        loss, dh, drows = _parts(negative_sampling_loss(h, rows), 3, "loss, dh, drows")
    ensure(
        np.isfinite(loss).all(),
        "a score of −1000 makes the loss inf or nan: use np.logaddexp(0, −s) for −ln σ(s)",
    )
    ensure(
        not 20 < loss[0] < 990,
        f"two scores that are wrong by 1,000 each cost 2,000 nats, but your loss stays at {loss[0]:.0f}: a small number inside the logarithm, "
        "or a limit for the scores, cuts it off; np.logaddexp(0, −s) needs neither",
    )
    close(
        loss,
        [2000.0],
        f"two scores that are wrong by 1,000 each cost 2,000 nats, but your loss is {loss[0]:.0f}",
    )
    ensure(np.isfinite(dh).all() and np.isfinite(drows).all(), "a gradient is inf or nan for a large score")


# ----------------------------------------------------------------------------------------------------- nearest

VECTORS = np.array([[1.0, 0.0], [10.0, 1.0], [0.0, 2.0], [-1.0, 0.0]])
WORDS = ["a", "b", "c", "d"]


def _ranking(result: Any) -> Any:
    ensure(result is not None, NOTHING)
    ensure(isinstance(result, (list, tuple)), "return a list of pairs (word, cosine)")
    pairs = all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in result)
    ensure(pairs, "each item of the list should be a pair (word, cosine)")
    ensure(
        all(isinstance(word, str) for word, _ in result),
        "each pair begins with the word itself, not with its row's number",
    )
    return [str(word) for word, _ in result], np.array([float(cosine) for _, cosine in result])


@public_check("nearest")
def direction_counts_not_length(nearest: Any) -> None:
    """The nearest word points in the same direction, however long it is."""
    words, cosines = _ranking(nearest("a", VECTORS, WORDS, k=2))
    ensure("a" not in words, "the word itself stands in the list: leave it out")
    ensure(
        words[:1] != ["d"] or cosines[0] < 0.5,
        "d points the opposite way, that is as far as it gets: keep the sign of the cosine",
    )
    ensure(
        words[:1] != ["d"],
        "d comes first, though it points the other way: rank by the cosine, the largest first (not by the straight distance)",
    )
    ensure(len(words) == 2, f"with k=2 there should be two words, not {len(words)}")
    ensure(words != ["c", "b"], "your list is turned round: b is the nearest of a, so it comes first, then c")
    equal(words, ["b", "c"], f"the neighbours of a should be b, then c; you have {words}")
    ensure(not np.isclose(cosines[0], 10), "that is the dot product: divide by the lengths of both vectors")
    ensure(
        not np.isclose(cosines[0], 10 / np.linalg.norm(VECTORS)),
        "all rows are divided by one and the same number, the length of the whole table: each row has its own length (axis=1)",
    )
    close(
        cosines, [0.99504, 0.0], f"the cosines should be .9950 and 0, but are {cosines.round(4)}", atol=1e-4
    )


@public_check("nearest")
def cosines_in_full(nearest: Any) -> None:
    """The cosines come with all their decimals: 3/√10 and 1/√5."""
    _, cosines = _ranking(nearest("a", np.array([[1.0, 0.0], [1.0, 2.0], [3.0, 1.0]]), ["a", "b", "c"], k=2))
    exact = np.array([3 / 10**0.5, 1 / 5**0.5])
    for decimals in range(1, 5):
        ensure(
            cosines.shape != (2,) or not np.allclose(cosines, exact.round(decimals), rtol=0, atol=1e-7),
            f"your cosines are rounded to {decimals} decimals: return them as they are",
        )
    close(cosines, exact, f"the cosines should be .9487 and .4472, but are {cosines.round(4)}", atol=1e-5)


@public_check("nearest")
def all_if_there_are_fewer(nearest: Any) -> None:
    """If there are fewer than k other words, all are returned, the nearest first."""
    words, cosines = _ranking(nearest("c", VECTORS, WORDS, k=10))
    ensure(
        "c" not in words,
        "with k = 10 and three other words, the word itself stands in the list: leave it out",
    )
    equal(sorted(words), ["a", "b", "d"], f"there are three other words; you have {words}")
    for word, others in (("a", ["b", "c", "d"]), ("d", ["c", "b", "a"])):
        found, _ = _ranking(nearest(word, VECTORS, WORDS, k=10))
        ensure(
            word not in found,
            f"asked for the ten nearest of {word}, whose opposite has the cosine −1, your list holds {word} itself: leave it out by its place, not by "
            "a small cosine",
        )
        equal(
            found, others, f"the others, from the nearest of {word} on, should be {others}; you have {found}"
        )
    found, _ = _ranking(nearest("d", VECTORS, tuple(WORDS)))
    equal(found, ["c", "b", "a"], f"without k all three others of d come, c, b, a; you have {found}")
    ensure((np.diff(cosines) <= 1e-12).all(), "the list should go from the largest cosine to the smallest")
    ensure(
        not np.isclose(cosines[0], 0.199, atol=1e-3),
        "divide by the length of the word's own vector as well, 2 here",
    )
    close(
        cosines,
        [0.0995, 0, 0],
        f"the cosines to c should be .0995, 0 and 0, but are {cosines.round(4)}",
        atol=1e-4,
    )


@public_check("nearest")
def five_words_without_k(nearest: Any) -> None:
    """Without k there are five words, and the words may stand in a tuple."""
    vectors = np.array([[np.cos(angle), np.sin(angle)] for angle in (0.4, 0, 0.1, 0.9, 1.5, 2.2, 3)])
    found, _ = _ranking(nearest("b", vectors, tuple("abcdefg")))
    equal(found, list("cadef"), f"the five neighbours of b should be c, a, d, e, f; you have {found}")


@public_check("nearest")
def a_twin_is_the_nearest(nearest: Any) -> None:
    """The word itself is left out, and not another one that points in the same direction."""
    vectors, words = np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 0.0], [1.0, 1.0]]), ["a", "b", "c", "d"]
    for word, twin in (("b", "c"), ("c", "b")):
        found, _ = _ranking(nearest(word, vectors, words, k=2))
        ensure(
            found[:1] != [word],
            f"b and c point in the same direction, and asked for {word} your list begins with {word} itself: leave out the word, not the "
            "first of the ranking",
        )
        ensure(
            found[:1] != ["d"],
            f"{twin} points in the same direction as {word}, and is another word, so it comes first: leave out {word} alone, whatever "
            "the cosines of others are",
        )
        equal(found, [twin, "d"], f"the neighbours of {word} should be {twin}, then d; you have {found}")


# ----------------------------------------------------------------------------------------------------- analogy


@public_check("analogy")
def the_fourth_corner(analogy: Any) -> None:
    """Can is to could as will is to would: the fourth corner is found."""
    vectors = np.array(
        [[1, 0, 0.1], [1, 1, 0.1], [0, 0.1, 1], [0, 1.1, 1], [0, -0.8, 1], [2, 1.1, 1.2], [0, 0.05, 1]]
    )
    words = ["can", "could", "will", "would", "backwards", "all", "shall"]
    answers, cosines = _ranking(analogy("can", "could", "will", vectors, words, k=2))
    ensure(
        not {"can", "could", "will"} & set(answers), "the three words of the question do not count as answers"
    )
    ensure(
        answers[:1] != ["backwards"], "you walked the way backwards: it leads from a to b, so v = b − a + c"
    )
    ensure(answers[:1] != ["all"], "your answer lies between all three words: a is subtracted, v = b − a + c")
    ensure(answers[:1] != ["shall"], "your answer is the neighbour of c: add the way from a to b first")
    equal(answers[:1], ["would"], f"can is to could as will is to would, but you found {answers}")
    ensure(
        len(answers) >= 2,
        f"with k=2 there should be two answers, not {len(answers)}: leave out the words of the question before you take the k best",
    )
    equal(len(answers), 2, f"with k=2 there should be two answers, not {len(answers)}")
    unit = np.stack([row / np.sqrt(row @ row) for row in vectors])
    way = unit[1] - unit[0] + unit[2]
    ensure(
        not np.isclose(cosines[0], unit[3] @ way),
        f"your number is {cosines[0]:.2f}, and a cosine is never above 1: divide by the length of v as well",
    )
    ensure(
        (np.abs(cosines) <= 1 + 1e-5).all(),
        f"your numbers are {cosines.round(2)}, and a cosine is never above 1: it takes rows of length 1, and v divided by its length",
    )


@public_check("analogy")
def the_question_is_no_answer(analogy: Any) -> None:
    """All three words of the question are left out, and as many answers come as are asked for."""
    vectors = np.array([[1, 0.2], [1, 0.1], [1, 0], [1, 1], [1, 2], [0, 1]])
    words = ["a", "b", "c", "d", "e", "f"]
    for k in (2, 3):
        answers, _ = _ranking(analogy("a", "b", "c", vectors, words, k=k))
        for word in "abc":
            ensure(
                word not in answers,
                f"{word} stands among the answers, but is a word of the question: leave out all three",
            )
        ensure(
            len(answers) == k,
            f"k = {k} answers are asked for, and you have {len(answers)}: a, b and c come first here, so leave them out before you take the "
            "k best",
        )
        equal(answers, words[3 : 3 + k], f"the answers should be {words[3 : 3 + k]}, but are {answers}")
    answers, _ = _ranking(analogy("a", "b", "c", vectors, tuple(words)))
    equal(len(answers), 3, f"without k there should be three answers; you have {len(answers)}")
    answers, _ = _ranking(
        analogy("a", "b", "c", np.array([[1.0, 0], [0, 2], [-1, 0], [-3, 1]]), list("abcd"))
    )
    ensure(
        not set("abc") & set(answers),
        f"of four words only d is left, but your list is {answers}: leave out the words of the question, whatever number they got",
    )
    equal(answers, ["d"], f"by hand the answer is d; you have {answers}")


@public_check("analogy")
def all_words_have_length_one_first(analogy: Any) -> None:
    """All vectors are brought to length 1 before they are added."""
    vectors = np.array([[1.0, 0.0], [0.0, 30.0], [0.5, 0.5], [-0.2, 1.0], [0.6, 1.0]])
    words = ["a", "b", "c", "d", "e"]
    answers, cosines = _ranking(analogy("a", "b", "c", vectors, words, k=1))
    unit = np.stack([row / np.sqrt(row @ row) for row in vectors])
    way = unit[1] - unit[0] + unit[2]
    cosine = unit[3] @ way / np.linalg.norm(way)
    ensure(
        np.isclose(cosines[0], cosine)
        or not any(np.isclose(cosines[0], round(cosine, n), 0, 1e-12) for n in range(2, 7)),
        f"your cosine {cosines[0]:.9g} is rounded: return it as it is",
    )
    raw = vectors[1] - vectors[0] + vectors[2]
    ensure(
        not np.isclose(cosines[0], max(unit[3] @ raw, unit[4] @ raw) / np.linalg.norm(raw)),
        "you add the vectors as they are, and b is 30 times as long as a: bring all rows to length 1 first, then add",
    )
    ensure(
        np.isclose(cosines[0], cosine),
        f"the cosine of d with v, {way.round(3)}, should be {cosine:.4f}; your list begins with {answers[0]} and {cosines[0]:.4f}",
    )
    equal(answers, ["d"], f"the answer should be d, but is {answers}")


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("cbow_backward")
def writes_a_repeated_row_once(right: Any, context: Any, target: Any, W_in: Any, W_out: Any) -> Any:
    """It says dW_in[context] += share, which writes a repeated row only once.

    One survives: it takes a context in which a word repeats, and a dW_in that is not zero.
    """
    dW_in, dW_out = right(context, target, W_in, W_out)
    times = np.bincount(context, minlength=len(W_in)).clip(1)[:, None]
    return dW_in / times, dW_out


@impostor("cbow_backward")
def each_hint_once(right: Any, context: Any, target: Any, W_in: Any, W_out: Any) -> Any:
    """It takes each word of the context once, however often it stands there.

    One survives: it takes a context in which one word stands more often than another, and gradients that are not zero.
    """
    return right(list(dict.fromkeys(context)), target, W_in, W_out)


@impostor("cbow_backward")
def half_a_share_for_everybody(right: Any, context: Any, target: Any, W_in: Any, W_out: Any) -> Any:
    """It gives every hint half of the gradient, however many hints there are.

    One survives: it takes a number of hints other than two, and a dW_in that is not zero.
    """
    dW_in, dW_out = right(context, target, W_in, W_out)
    return np.asarray(dW_in) * len(context) / 2, dW_out


@impostor("cbow_backward")
def reads_two_hints(right: Any, context: Any, target: Any, W_in: Any, W_out: Any) -> Any:
    """It reads the first two hints only.

    One survives: it takes three hints or more, the later ones not like the first two, and gradients that are not zero.
    """
    return right(context[:2], target, W_in, W_out)


@impostor("cbow_backward")
def overflows(right: Any, context: Any, target: Any, W_in: Any, W_out: Any) -> Any:
    """Its exponential overflows where scores are large, and it answers nan.

    One survives: it takes a score so large that exp overflows. How large is that?
    """
    dW_in, dW_out = right(context, target, W_in, W_out)
    large = (W_out @ W_in[context].mean(axis=0)).max() > 709
    return (np.full(np.shape(dW_in), np.nan), dW_out) if large else (dW_in, dW_out)
