"""Hidden tests of lab 13: blanks by their statistics, the rest against loops, in double precision."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn import functional as F

from autograder.testing import (
    Handle,
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_raises,
    hidden_test,
)

_NEGATIVE = "no token number is negative"
_CONTINUOUS = "a continuous draw never hits the border exactly"
EQUIVALENT_MUTANTS = {
    "masked_lm_batch: chosen = (rng.random(ids.shape) < rate) & (ids > PAD)": _NEGATIVE,
    "masked_lm_batch: chosen = (rng.random(ids.shape) <= rate) & (ids != PAD)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate <= 0.8), MASK, ids)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate >= 0.8) & (fate <= 0.9), words, inputs)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate > 0.8) & (fate < 0.9), words, inputs)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate >= 0.8) & (fate > 0.9), words, inputs)": "another tenth",
    "masked_lm_batch: inputs = np.where(chosen & (fate >= 0.8) & (fate >= 0.9), words, inputs)": "another tenth",
    "TinyLM: mask = (ids > PAD)[:, None, :]  # (B, 1, T)": _NEGATIVE,
    "sparse_mask: return (gap % dilation <= 0) & (gap.abs() <= width * dilation)": "a remainder is never negative",
}


def _expect_unchanged(student):
    expect(
        not student.mutated,
        f"your function changes its argument {', '.join(student.mutated)}: work on a new array",
    )


def _expect_value_error(student, *arguments, **options):
    expect_raises(
        ValueError,
        lambda: student(*arguments, **options),
        "an argument that makes no sense should raise a ValueError",
    )


# ------------------------------------------------------------------------------------------ masked_lm_batch


def _two(result, shape):
    """Inputs and targets as integer arrays of the right shape."""
    expect(result is not None, "your function returns None: does it end with a return?")
    good = isinstance(result, (tuple, list)) and len(result) == 2
    expect(good, "two things should be returned: inputs, targets")
    arrays = [as_array(part, name) for part, name in zip(result, ("the inputs", "the targets"), strict=True)]
    for array, name in zip(arrays, ("the inputs", "the targets"), strict=True):
        expect(array.shape == shape, f"{name} should have the shape of ids")
    return arrays


def _asked(ids, inputs, targets, V):
    """Where something is asked, once the batch is known to be sound there: words only, and the original ones."""
    asked = targets != -100
    expect(asked.any(), "nothing was chosen at all")
    expect(not asked[ids == 0].any(), "a question is asked at a padding position")
    expect((targets[asked] == ids[asked]).all(), "a target is not the original number of its position")
    sound = (inputs[ids != 0] >= 1).all() and (inputs < V).all()
    expect(sound, "a random word is padding, or lies beyond the vocabulary")
    return asked


def _padded(rng, B, T, V):
    """Words 2 … V − 1, and padding behind a random length."""
    ids = rng.integers(2, V, size=(B, T))
    ids[np.arange(T) >= rng.integers(T // 2, T + 1, size=B)[:, None]] = 0
    return ids


def _expect_share(found, expected, count, what):
    """``found`` of ``count`` independent cases is a share near ``expected``: five and a half standard errors."""
    margin = 5.5 * math.sqrt(expected * (1 - expected) / count)
    expect(abs(found - expected) < margin, f"{what} is {found:.3f}, and should be about {expected:.3f}")


def _gen(rng):
    return np.random.default_rng(int(rng.integers(2**62)))


@hidden_test("masked_lm_batch", weight=1)
def test_targets_are_the_original_words(student, rng):
    """At the chosen positions the target is the original word; elsewhere it is −100 and the input stays."""
    ids = _padded(rng, 150, 70, 31)
    inputs, targets = _two(student(ids, 31, _gen(rng), 0.3), ids.shape)
    asked = _asked(ids, inputs, targets, 31)
    _expect_share(asked[ids != 0].mean(), 0.3, (ids != 0).sum(), "the share of chosen words")
    expect((inputs[~asked] == ids[~asked]).all(), "an input was changed where nothing is asked")


@hidden_test("masked_lm_batch", weight=1.5)
def test_padding_is_never_chosen(student, rng):
    """Padding is never asked about and never changed, and ids stays as it was."""
    ids = _padded(rng, 200, 41, 12)
    inputs, targets = _two(student(ids, 12, _gen(rng), 0.6), ids.shape)
    _expect_unchanged(student)
    _expect_share((targets != -100)[ids != 0].mean(), 0.6, (ids != 0).sum(), "the share of chosen words")
    expect((targets[ids == 0] == -100).all(), "a question is asked at a padding position")
    expect((inputs[ids == 0] == 0).all(), "padding became something else in the inputs")


@hidden_test("masked_lm_batch", weight=4)
def test_eighty_ten_ten(student, rng):
    """Of the chosen words 80 % become blanks, 10 % random words, 10 % stay, at any rate."""
    V = 2000
    for rate in (0.15, 0.8):
        ids = _padded(rng, 300, 301, V)
        inputs, targets = _two(student(ids, V, _gen(rng), rate), ids.shape)
        asked = _asked(ids, inputs, targets, V)
        n = int(asked.sum())
        _expect_share((inputs[asked] == 1).mean(), 0.8, n, "the share of chosen words that become [MASK]")
        stayed = 0.1 + 0.1 / (V - 2)
        _expect_share((inputs == ids)[asked].mean(), stayed, n, "the share of chosen words that stay")


@hidden_test("masked_lm_batch", weight=1.5)
def test_random_words_are_uniform(student, rng):
    """The random words are drawn evenly from all words, never padding or the blank, never one too many."""
    V = 9
    ids = np.full((400, 300), 4)
    inputs, targets = _two(student(ids, V, _gen(rng), 0.9), ids.shape)
    asked = _asked(ids, inputs, targets, V)
    n = int(asked.sum())
    shares = np.bincount(inputs[asked].astype(int), minlength=V) / n
    _expect_share(shares[1], 0.8, n, "the share of blanks")
    for word in (2, 3, 5, 6, 7, 8):
        _expect_share(shares[word], 0.1 / 7, n, "the share of one of the random words")
    _expect_share(shares[4], 0.1 + 0.1 / 7, n, "the share of words that are what they were")


@hidden_test("masked_lm_batch", weight=2)
def test_positions_are_chosen_independently(student, rng):
    """The number of chosen words differs from row to row as that of independent choices does."""
    B, T, rate = 6000, 20, 0.15
    ids = rng.integers(2, 50, size=(B, T))
    inputs, targets = _two(student(ids, 50, _gen(rng)), ids.shape)
    _asked(ids, inputs, targets, 50)
    counts = (targets != -100).sum(axis=1)
    _expect_share(counts.mean() / T, rate, B * T, "the share of chosen words when no rate is given")
    _expect_share((counts == 0).mean(), (1 - rate) ** T, B, "the share of rows in which nothing is chosen")
    columns = (targets != -100).mean(axis=0)
    for share in columns:
        _expect_share(share, rate, B, "the share of choices at one of the positions")


@hidden_test("masked_lm_batch", weight=1)
def test_each_chosen_position_has_its_own_fate(student, rng):
    """What becomes of a chosen word does not depend on what became of the others."""
    ids, calls = np.full((1, 5), 7), 1500
    results = [_two(one, ids.shape) for one in student.repeat(calls, ids, 400, _gen(rng), 1.0)]
    inputs = np.concatenate([one[0] for one in results])
    expect(all((one[1] == ids).all() for one in results), "with rate 1 every word should be chosen")
    student.observe("rows of blanks only", (inputs == 1).all(axis=1).mean(), atol=0.07)
    _expect_share((inputs == 1).mean(), 0.8, 5 * calls, "the share of chosen words that become [MASK]")
    _expect_share(
        (inputs == 1).all(axis=1).mean(), 0.8**5, calls, "the share of rows in which all become [MASK]"
    )


@hidden_test("masked_lm_batch", weight=2)
def test_chance_comes_from_rng_only(student, rng):
    """The same state of rng gives the same batch, another state another one."""
    ids, seed = _padded(rng, 30, 40, 25), int(rng.integers(2**40))
    first, again, other = (
        np.stack(_two(student(ids, 25, np.random.default_rng(s), 0.5), ids.shape))
        for s in (seed, seed, seed + 1)
    )
    expect(
        ((first[1] == ids) | (first[1] == -100)).all(), "a target is not the original number of its position"
    )
    expect((first == again).all(), "the same rng gives two different batches: draw from rng only")
    expect((first != other).any(), "another rng gives the same batch: draw from rng")


# --------------------------------------------------------------------------------------------------- TinyLM


def _shapes(V, d_model, d_ff, layers, max_length):
    """Names and shapes of everything that is learned."""
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.weight": (V, d_model),
        "position.weight": (max_length, d_model),
        "head.weight": (V, d_model),
        "head.bias": (V,),
    }
    for i in range(layers):
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            shapes[f"blocks.{i}.attention.{name}.weight"] = (d_model, d_model)
            shapes[f"blocks.{i}.attention.{name}.bias"] = (d_model,)
        shapes[f"blocks.{i}.feed_forward.linear1.weight"] = (d_ff, d_model)
        shapes[f"blocks.{i}.feed_forward.linear1.bias"] = (d_ff,)
        shapes[f"blocks.{i}.feed_forward.linear2.weight"] = (d_model, d_ff)
        shapes[f"blocks.{i}.feed_forward.linear2.bias"] = (d_model,)
        for norm in ("norm1", "norm2"):
            shapes[f"blocks.{i}.{norm}.weight"] = shapes[f"blocks.{i}.{norm}.bias"] = (d_model,)
    return shapes


def _reference(weights, ids, heads, layers, causal):
    """The logits, block by block and head by head."""
    T = ids.shape[1]
    x = weights["embedding.weight"][ids] + weights["position.weight"][:T]
    allowed = (ids != 0)[:, None, :].expand(-1, T, -1)
    if causal:
        allowed = allowed & (torch.arange(T)[:, None] >= torch.arange(T))

    def linear(y, name):
        return F.linear(y, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(y, name):
        return F.layer_norm(y, y.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])

    for i in range(layers):
        at = f"blocks.{i}"
        q, k, v = (linear(x, f"{at}.attention.{name}").chunk(heads, dim=-1) for name in ("W_Q", "W_K", "W_V"))
        heard = []
        for a, b, c in zip(q, k, v, strict=True):
            scores = (a @ b.mT / math.sqrt(a.shape[-1])).masked_fill(~allowed, -torch.inf)
            heard.append(scores.softmax(-1) @ c)
        x = norm(x + linear(torch.cat(heard, dim=-1), f"{at}.attention.W_O"), f"{at}.norm1")
        inner = linear(x, f"{at}.feed_forward.linear1").relu()
        x = norm(x + linear(inner, f"{at}.feed_forward.linear2"), f"{at}.norm2")
    return linear(x, "head")


def _build(student, rng, V, d_model, heads, d_ff, layers, max_length, causal):
    """The student's model with weights of ours, and those weights."""
    model = student(V, d_model, heads, d_ff, layers, max_length, causal)
    expect(isinstance(model, Handle), "TinyLM should be a class that derives from nn.Module")
    shapes = _shapes(V, d_model, d_ff, layers, max_length)
    expect_equal(
        model.parameters(), shapes, "the list of what is learned (embedding, position, blocks, head)"
    )
    weights = {name: torch.tensor(0.6 * rng.normal(size=shape)) for name, shape in shapes.items()}
    model.call("double")
    model.load_state_dict(weights, strict=False)
    return model, weights


def _ids(rng, B, T, V, padding=False):
    ids = rng.integers(1, V, size=(B, T))
    if padding:
        ids[np.arange(T) >= rng.integers(1, T, size=B)[:, None]] = 0
    return torch.tensor(ids)


@hidden_test("TinyLM", weight=1)
def test_an_encoder_of_known_weights(student, rng):
    """An encoder with known weights gives the right logits, for full and shorter sentences."""
    for V, d, h, ff, n, longest, T in (
        (7, 6, 2, 10, 1, 5, 5),
        (11, 12, 3, 5, 2, 8, 3),
        (5, 4, 1, 6, 3, 4, 1),
    ):
        model, weights = _build(student, rng, V, d, h, ff, n, longest, False)
        ids = _ids(rng, 2, T, V)
        expect_close(model(ids), _reference(weights, ids, h, n, False), "the logits of an encoder")


@hidden_test("TinyLM", weight=1)
def test_a_decoder_of_known_weights(student, rng):
    """A decoder with known weights gives the right logits, for full and shorter sentences."""
    for V, d, h, ff, n, longest, T in (
        (7, 6, 2, 10, 1, 5, 5),
        (11, 12, 3, 5, 2, 8, 3),
        (6, 4, 2, 7, 3, 4, 1),
    ):
        model, weights = _build(student, rng, V, d, h, ff, n, longest, True)
        ids = _ids(rng, 3, T, V)
        expect_close(model(ids), _reference(weights, ids, h, n, True), "the logits of a decoder")


@hidden_test("TinyLM", weight=2)
def test_padding_is_not_heard(student, rng):
    """With padding behind the sentences, or inside, the logits of all words are right."""
    for causal in (False, True):
        model, weights = _build(student, rng, 9, 6, 3, 8, 2, 9, causal)
        ids = _ids(rng, 4, 7, 9, padding=True)
        ids[0, 1:] = torch.tensor([3, 0, 5, 2, 0, 4])
        words = (ids != 0).numpy()
        logits = as_array(model(ids), "the logits")
        expect(logits.shape == (4, 7, 9), "the logits should have shape (B, T, V)")
        expected = _reference(weights, ids, 3, 2, causal).numpy()
        kind = "a decoder" if causal else "an encoder"
        expect_close(logits[words], expected[words], f"the logits of {kind} when some tokens are padding")


@hidden_test("TinyLM", weight=1.5)
def test_no_gradient_comes_from_the_future(student, rng):
    """A decoder's guess has a gradient of exactly 0 for every later token and position."""
    model, weights = _build(student, rng, 12, 6, 2, 9, 2, 7, True)
    ids = torch.tensor(rng.permutation(np.arange(1, 12))[:7][None])
    leaves = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
    logits = _reference(leaves, ids, 2, 2, True)
    for t in (0, 3, 5):
        cotangent = torch.zeros(1, 7, 12, dtype=torch.double)
        cotangent[0, t] = torch.tensor(rng.normal(size=12))
        found = model.gradients([ids], cotangent=cotangent)
        names = ("position.weight", "embedding.weight")
        wanted = torch.autograd.grad(
            (logits * cotangent).sum(), [leaves[n] for n in names], retain_graph=True
        )
        for name, gradient in zip(names, wanted, strict=True):
            actual = found.parameters.get(name)
            expect(actual is not None, f"no gradient reaches {name}: is something detached?")
            actual = as_array(actual, f"the gradient of {name}")
            later = np.arange(t + 1, 7) if name.startswith("pos") else ids[0, t + 1 :].numpy()
            expect(actual.shape == tuple(gradient.shape), f"the gradient of {name} has another shape")
            expect((actual[later] == 0).all(), "a guess depends on a token that comes after it")
            expect_close(actual, gradient, f"the gradient of {name}")


# ---------------------------------------------------------------------------------------------- sparse_mask


def _allowed(kind, i, j, width, dilation, n_global):
    near = -width <= i - j <= width
    if kind == "dilated":
        return any(abs(i - j) == step * dilation for step in range(width + 1))
    return {
        "full": True,
        "causal": j <= i,
        "local": near,
        "global": near or min(i, j) < n_global,
    }[kind]


def _expect_mask(student, kind, T, **given):
    options = {"width": 2, "dilation": 2, "n_global": 1, **given}
    expected = np.array([[_allowed(kind, i, j, **options) for j in range(T)] for i in range(T)])
    mask = as_array(student(kind, T, **given), "the mask")
    expect(mask.dtype.kind == "b", "the mask should hold True and False")
    expect_close(mask, expected, f"the mask of kind {kind}")


@hidden_test("sparse_mask", weight=1)
def test_the_pairs_of_sixteen_positions(student):
    """The counts of the text, for 16 positions: 256, 136, 74, 68 and 100 pairs."""
    for kind, pairs in {"full": 256, "causal": 136, "local": 74, "dilated": 68, "global": 100}.items():
        mask = as_array(student(kind, 16), "the mask")
        expect(mask.shape == (16, 16), "the mask should have shape (T, T)")
        expect_equal(int(mask.sum()), pairs, f"the number of pairs of kind {kind}")


@hidden_test("sparse_mask", weight=4)
def test_full_and_causal_at_other_lengths(student):
    """Full and causal, odd lengths and length one, whatever the other arguments are."""
    for T in (1, 2, 7, 13):
        _expect_mask(student, "full", T, width=1)
        _expect_mask(student, "causal", T, width=0, n_global=3)


@hidden_test("sparse_mask", weight=2)
def test_windows(student):
    """Local windows of several widths, also wider than the text and of width zero."""
    for T, width in ((9, 1), (11, 4), (5, 0), (4, 9), (1, 2)):
        _expect_mask(student, "local", T, width=width)
    _expect_mask(student, "local", 13)


@hidden_test("sparse_mask", weight=3)
def test_windows_with_gaps(student):
    """Dilated windows of several widths and dilations; a dilation of one is the plain window."""
    for T, width, dilation in ((12, 1, 3), (15, 3, 2), (8, 2, 1), (6, 2, 9), (7, 0, 2), (1, 1, 1)):
        _expect_mask(student, "dilated", T, width=width, dilation=dilation)


@hidden_test("sparse_mask", weight=3)
def test_windows_with_global_positions(student):
    """Global positions have full rows and columns, and the window stays."""
    for T, width, n_global in ((9, 1, 2), (7, 0, 1), (10, 2, 0), (6, 1, 8), (1, 0, 1)):
        _expect_mask(student, "global", T, width=width, n_global=n_global)


@hidden_test("sparse_mask", weight=2)
def test_an_unknown_kind_of_mask(student):
    """An unknown kind raises a ValueError, and the known ones do not."""
    _expect_mask(student, "local", 6, width=1)
    for kind in ("diagonal", "Local", "", "hybrid", "windowed"):
        _expect_value_error(student, kind, 6)


# ------------------------------------------------------------------------------------------------- patchify


def _patches(images, p):
    """Patch by patch, with slices."""
    images = np.asarray(images)
    B, H, W, _ = images.shape
    return np.array(
        [
            [images[b, r : r + p, c : c + p].ravel() for r in range(0, H, p) for c in range(0, W, p)]
            for b in range(B)
        ]
    )


@hidden_test("patchify", weight=1)
def test_one_channel_and_square_images(student, rng):
    """Square images with one channel, patches of several sizes; images are left alone."""
    for B, side, p in ((2, 6, 2), (3, 9, 3), (1, 8, 4)):
        images = torch.tensor(rng.normal(size=(B, side, side, 1)))
        expect_close(student(images, p), _patches(images, p), "the patches")
        _expect_unchanged(student)


@hidden_test("patchify", weight=1.5)
def test_images_that_are_no_squares(student, rng):
    """Images higher than wide, and wider than high."""
    for B, H, W, p in ((2, 4, 10, 2), (3, 9, 3, 3), (1, 8, 12, 4)):
        images = torch.tensor(rng.normal(size=(B, H, W, 1)))
        expect_close(student(images, p), _patches(images, p), "the patches")


@hidden_test("patchify", weight=2)
def test_colours(student, rng):
    """Several channels, and images that are transposed views."""
    for shape, p in (((2, 4, 6, 3), 2), ((3, 6, 3, 2), 3), ((2, 2, 8, 5), 2)):
        images = torch.tensor(rng.normal(size=shape))
        expect_close(student(images, p), _patches(images, p), "the patches")
    view = torch.tensor(rng.normal(size=(2, 3, 6, 4))).permute(0, 3, 2, 1)
    expect_close(student(view, 2), _patches(view, 2), "the patches of a transposed view")


@hidden_test("patchify", weight=0.5)
def test_the_smallest_and_the_largest_patch(student, rng):
    """Patches of one pixel, and one patch that is the whole image."""
    images = torch.tensor(rng.normal(size=(2, 5, 5, 3)))
    expect_close(student(images, 1), images.reshape(2, 25, 3), "the patches of one pixel")
    expect_close(student(images, 5), images.reshape(2, 1, 75), "the patch that is the whole image")


@hidden_test("patchify", weight=2)
def test_patches_that_do_not_fit(student, rng):
    """A ValueError when the patches do not fill the height or the width, and only then."""
    images = torch.tensor(rng.normal(size=(1, 6, 4, 2)))
    expect_close(student(images, 2), _patches(images, 2), "the patches")
    shapes = (((1, 6, 4, 1), 3), ((1, 4, 6, 1), 3), ((2, 4, 6, 6), 4), ((1, 3, 3, 1), 6), ((1, 2, 8, 1), 4))
    for shape, p in shapes:
        _expect_value_error(student, torch.zeros(shape), p)


# ------------------------------------------------------------------------------------------ mel_spectrogram


def _filters(n_mels, frame, rate):
    top = 2595 * math.log10(1 + rate / 1400)
    corner = [700 * (10 ** (top * k / (n_mels + 1) / 2595) - 1) for k in range(n_mels + 2)]
    table = np.zeros((n_mels, frame // 2 + 1))
    for m in range(n_mels):
        low, centre, high = corner[m : m + 3]
        for b in range(frame // 2 + 1):
            f = b * rate / frame
            if low < f < high:
                table[m, b] = (f - low) / (centre - low) if f <= centre else (high - f) / (high - centre)
    return table


def _mels(signal, rate, frame=256, hop=128, n_mels=20):
    """Frame by frame, with the Fourier transform as a sum of cosines and sines."""
    n = np.arange(frame)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(frame // 2 + 1), n) / frame)
    window, filters, rows = np.sin(np.pi * n / frame) ** 2, _filters(n_mels, frame, rate), []
    for start in range(0, len(signal) - frame + 1, hop):
        power = np.abs(waves @ (window * signal[start : start + frame])) ** 2
        rows.append([math.log(max(float(row @ power), 1e-10)) for row in filters])
    return np.array(rows)


def _close(student, signal, *arguments, what="the spectrogram", **options):
    expect_close(
        student(signal, *arguments, **options),
        _mels(signal, *arguments, **options),
        what,
        rtol=1e-6,
        atol=1e-6,
    )


@hidden_test("mel_spectrogram", weight=2)
def test_noise_with_the_usual_frames(student, rng):
    """Noise of several lengths, with the default frame, hop and bands; the signal is left alone."""
    for N in (1000, 256, 700):
        _close(student, rng.normal(size=N), 8000)
        _expect_unchanged(student)


@hidden_test("mel_spectrogram", weight=2)
def test_other_frames_hops_and_bands(student, rng):
    """Other frames, hops (also larger than the frame), numbers of bands and rates."""
    for N, rate, frame, hop, n_mels in (
        (300, 4000, 64, 20, 7),
        (500, 16000, 100, 130, 5),
        (258, 8000, 128, 1, 6),
    ):
        _close(student, 3 * rng.normal(size=N), rate, frame, hop, n_mels)
    _close(student, rng.normal(size=400), 11025, frame=80, hop=40, n_mels=6)


@hidden_test("mel_spectrogram", weight=2.5)
def test_quiet_signals_and_the_floor(student, rng):
    """Silence, and signals so quiet that some bands lie below the floor."""
    _close(student, np.zeros(500), 8000, what="the spectrogram of silence")
    for loudness in (3e-7, 1e-6):
        _close(student, loudness * rng.normal(size=600), 8000, what="the spectrogram of a quiet signal")


@hidden_test("mel_spectrogram", weight=1)
def test_tones_whole_numbers_and_views(student, rng):
    """Integers, a strided view and a tone whose band is the loudest."""
    _close(student, rng.integers(-900, 900, size=520), 8000, what="the spectrogram of whole numbers")
    _close(student, rng.normal(size=1200)[::2], 8000, what="the spectrogram of a view")
    tone = 100 * np.sin(2 * np.pi * 1333 * np.arange(600) / 8000) + rng.normal(size=600)
    _close(student, tone, 8000, what="the spectrogram of a tone")
