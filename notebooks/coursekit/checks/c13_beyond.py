"""Public checks of lab 13: blanks, a look into the future, pairs, patches and frames, in cases small enough to read."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from coursekit.checks.api import Hint, close, ensure, public_check
from coursekit.checks.break_it import impostor

_LAYERS = tuple(
    f"torch.nn.{home}Transformer{part}"
    for home in ("", "modules.transformer.")
    for part in ("", "Encoder", "Decoder", "EncoderLayer", "DecoderLayer")
)
_SPECTROGRAMS = (
    "torch.stft",
    "torch.functional.stft",
    "Tensor.stft",
    "scipy.signal.stft",
    "scipy.signal.spectrogram",
    "scipy.signal.ShortTimeFFT",
    "matplotlib.mlab.specgram",
    "matplotlib.pyplot.specgram",
    "librosa.stft",
    "librosa.core.stft",
    "librosa.feature.melspectrogram",
    "torchaudio.functional.spectrogram",
    "torchaudio.transforms.Spectrogram",
    "torchaudio.transforms.MelSpectrogram",
)
FORBIDDEN = {"TinyLM": _LAYERS, "mel_spectrogram": _SPECTROGRAMS}


def _array(value: Any, what: str) -> np.ndarray:
    ensure(value is not None, "your function returns None: does it end with a return?")
    try:
        array = value.detach().numpy() if hasattr(value, "detach") else np.array(value)
        return array.astype(float) if array.dtype == object else array  # fractions are numbers, too
    except (TypeError, ValueError):
        raise Hint(f"{what} should be an array of numbers, but it is a {type(value).__name__}") from None


# ------------------------------------------------------------------------------------------ masked_lm_batch


def _sentences() -> np.ndarray:
    """600 rows of 7 words, 2 to 39, and 3 paddings."""
    ids = np.random.default_rng(1).integers(2, 40, size=(600, 10))
    ids[:, 7:] = 0
    return ids


def _batch(masked_lm_batch: Any, ids: np.ndarray, V: int, rate: float, seed: int = 2) -> list[np.ndarray]:
    """The inputs and the targets that are made of ``ids``."""
    result = masked_lm_batch(ids, V, np.random.default_rng(seed), rate)
    good = isinstance(result, (tuple, list)) and len(result) == 2
    ensure(good, "return two things, the inputs and the targets: return inputs, targets")
    arrays = [_array(part, name) for part, name in zip(result, ("inputs", "targets"), strict=True)]
    for name, found in zip(("inputs", "targets"), arrays, strict=True):
        ensure(
            found.shape == ids.shape,
            f"{name} has shape {found.shape}, but ids, and so {name}, has {ids.shape}",
        )
    return arrays


@public_check("masked_lm_batch")
def questions_at_chosen_positions_only(masked_lm_batch: Any) -> None:
    """Targets are the original words where something is asked, and −100 elsewhere."""
    ids = _sentences()
    inputs, targets = _batch(masked_lm_batch, ids, 40, 0.5)
    asked = targets != -100
    ensure(
        not asked.all(),
        "every position is asked: put −100 where a position was not chosen, padding included",
    )
    ensure(asked.any(), "nothing is asked at all: put the original number at the chosen positions")
    ensure(not (asked & (ids == 0)).any(), "padding was chosen: it is no word, so never ask for it")
    ensure(
        not (targets[asked] == 1).any(),
        "a target is 1, the blank: the target is the number that stood there before",
    )
    ensure((targets[asked] == ids[asked]).all(), "a target is not the original word of its position")
    ensure(
        (inputs[~asked] == ids[~asked]).all(), "an input was changed at a position that is not asked about"
    )


@public_check("masked_lm_batch")
def as_many_as_the_rate_says(masked_lm_batch: Any) -> None:
    """The share of chosen positions is about the rate."""
    ids = _sentences()
    for rate in (0.15, 0.5):
        _, targets = _batch(masked_lm_batch, ids, 40, rate)
        ensure(
            np.ptp((targets != -100).sum(axis=1)) > 0,
            "every row has the same number of chosen words: choose each position by itself, with rng.random(ids.shape)",
        )
        share = (targets != -100)[ids != 0].mean()
        ensure(
            abs(share - rate) < 0.06, f"with rate {rate}, {share:.2f} of the words were chosen in this check"
        )


@public_check("masked_lm_batch")
def eighty_ten_ten(masked_lm_batch: Any) -> None:
    """Of the chosen ones about 80 % are blanks, 10 % random words, 10 % unchanged."""
    ids = _sentences()
    inputs, targets = _batch(masked_lm_batch, ids, 40, 0.5)
    asked = targets != -100
    blank, same = (inputs[asked] == 1).mean(), (inputs == ids)[asked].mean()
    ensure(
        blank < 0.95,
        "all chosen words became [MASK]: a tenth should become random words, and a tenth should stay (is what "
        "happens to a chosen word decided by a random number of its own?)",
    )
    ensure(abs(blank - 0.8) < 0.06, f"{blank:.0%} of the chosen words became [MASK]: it should be about 80 %")
    several = asked.sum(axis=1) >= 3
    blanks = np.where(asked, inputs == 1, False).sum(axis=1)
    mixed = (blanks > 0) & (blanks < asked.sum(axis=1))
    ensure(
        mixed[several].mean() > 0.1,
        "in each row all chosen words share one fate: draw a random number for each word, rng.random(ids.shape)",
    )
    ensure(abs(same - 0.1) < 0.05, f"{same:.0%} of the chosen words stayed: it should be about 10 %")


@public_check("masked_lm_batch")
def random_words_are_words(masked_lm_batch: Any) -> None:
    """Random words are 2, 3, … V − 1, and all chance comes from rng."""
    ids = np.full((50, 60), 3)
    first, again, other = (np.stack(_batch(masked_lm_batch, ids, 5, 0.9, seed)) for seed in (0, 0, 1))
    ensure((first[0] != 0).all(), "a word became 0, which is padding: random words begin at 2")
    ensure((first[0] < 5).all(), "a random word is V or more: rng.integers(2, V) stays below V")
    random = np.array([(first[0] == word).mean() for word in (2, 4)])
    ensure(
        (random > 0.015).all(),
        "one of the words 2 to V − 1 is never drawn as a random word: draw them all alike, rng.integers(2, V)",
    )
    ensure(np.array_equal(first, again), "the same rng gives two different batches: draw from rng only")
    ensure(not np.array_equal(first, other), "another rng gives the same batch: draw from rng")


# --------------------------------------------------------------------------------------------------- TinyLM


def _model(TinyLM: Any, causal: bool) -> Any:
    torch.manual_seed(0)
    model = TinyLM(9, 8, 2, 12, 2, 6, causal)
    return model.double().eval()


@public_check("TinyLM")
def its_parts_have_their_names(TinyLM: Any) -> None:
    """The parts are embedding, position, blocks and head, and the logits have shape (B, T, V)."""
    torch.manual_seed(0)
    model = TinyLM(9, 8, 2, 12, 2, 6, True)
    found = {name.split(".")[0] for name, value in model.named_parameters() if value.requires_grad}
    wanted = {"embedding", "position", "blocks", "head"}
    ensure(
        found == wanted,
        f"what is learned should be in embedding, position, blocks and head, but it is in {', '.join(sorted(found)) or 'nothing'}",
    )
    for layers in (1, 2, 3):
        blocks = TinyLM(9, 8, 2, 12, layers, 6, True).blocks
        ensure(
            len(blocks) == layers,
            f"with layers = {layers} there should be as many blocks, but there are {len(blocks)}",
        )
        ensure(
            len({id(block) for block in blocks}) == layers,
            "the blocks are one and the same block, named several times: [block] * n copies nothing, so make each anew",
        )
    logits = model(torch.tensor([[2, 5, 3, 8]]))
    ensure(logits is not None, "forward returns None: does it end with a return?")
    ensure(
        tuple(logits.shape) == (1, 4, 9),
        f"the logits have shape {tuple(logits.shape)}, not (B, T, V) = (1, 4, 9)",
    )
    ensure(
        not torch.allclose(logits.sum(-1), torch.ones(1, 4), atol=1e-4),
        "the result sums to one: return the logits, without a softmax",
    )


@public_check("TinyLM")
def a_decoder_never_looks_ahead(TinyLM: Any) -> None:
    """With causal=True, changing the last token changes no earlier guess."""
    model = _model(TinyLM, True)
    one, other = model(torch.tensor([[2, 5, 3, 8]])), model(torch.tensor([[2, 5, 3, 4]]))
    ensure(
        not torch.isnan(one).any(),
        "nan in the logits: a row of the mask allows nothing; may each position see itself?",
    )
    ensure(
        torch.allclose(one[:, :3], other[:, :3]) or not torch.allclose(one[:, 0], other[:, 0]),
        "a position sees one token too many, the very one that it should guess: row t allows columns up to t",
    )
    ensure(
        torch.allclose(one[:, :3], other[:, :3]),
        "a guess changed when only a later token did: combine the padding mask with causal_mask(T)",
    )
    ensure(
        not torch.allclose(one[:, 3], other[:, 3]),
        "the last guess does not depend on the last token: a position may attend to itself",
    )


@public_check("TinyLM")
def an_encoder_sees_both_sides(TinyLM: Any) -> None:
    """With causal=False, changing the last token changes the first guess."""
    model = _model(TinyLM, False)
    one, other = model(torch.tensor([[2, 5, 3, 8]])), model(torch.tensor([[2, 5, 3, 4]]))
    ensure(
        not torch.allclose(one[:, 0], other[:, 0]),
        "the first guess does not see the last token: use the causal mask only if causal is true",
    )


@public_check("TinyLM")
def what_goes_through_the_blocks(TinyLM: Any) -> None:
    """The first block is given token plus position, and each other block what the one before it returned."""
    model, ids = _model(TinyLM, True), torch.tensor([[2, 5, 3, 8]])
    seen: list[torch.Tensor] = []
    handle = model.blocks[0].register_forward_pre_hook(
        lambda block, given, named: seen.append(given[0] if given else named.get("x")), with_kwargs=True
    )
    logits = model(ids)
    handle.remove()
    words, places = model.embedding.weight[ids], model.position.weight[:4]
    for x in [x for x in seen if isinstance(x, torch.Tensor) and x.shape == words.shape]:
        ensure(not torch.allclose(x, words), "the order of the words does not count: add the positions")
        ensure(
            not torch.allclose(x, 8**0.5 * words + places),
            "the embeddings are multiplied by √d_model: this model adds them as they are",
        )
        ensure(
            not torch.allclose(x, words + model.position.weight[1:5]),
            "the positions begin at 1: the first word of a sentence has position 0",
        )
        close(x, (words + places).detach(), "the first block should be given embedding plus position")
    for number, block in enumerate(model.blocks):
        weight = next(block.parameters())
        (gradient,) = torch.autograd.grad(logits.square().sum(), weight, retain_graph=True, allow_unused=True)
        ensure(
            gradient is not None and bool((gradient != 0).any()),
            f"block {number} has no influence: each block should take what the one before it returned",
        )


@public_check("TinyLM")
def padding_is_not_heard(TinyLM: Any) -> None:
    """Padding behind a sentence changes none of its guesses."""
    for causal in (True, False):
        model = _model(TinyLM, causal)
        bare, padded = model(torch.tensor([[2, 5, 3]])), model(torch.tensor([[2, 5, 3, 0, 0]]))
        ensure(
            torch.allclose(bare, padded[:, :3]),
            "padding changed the guesses: no position may attend to number 0, so mask it as a key",
        )
        ids = torch.tensor([[2, 0, 5, 3]])
        logits = model(ids)[ids != 0]
        (gradient,) = torch.autograd.grad(logits.square().sum(), model.embedding.weight)
        ensure(
            not gradient[0].any(),
            f"{'a decoder' if causal else 'an encoder'} hears padding that stands between words: mask number 0 as a key there, too",
        )


# ---------------------------------------------------------------------------------------------- sparse_mask


def _mask(value: Any, T: int) -> np.ndarray:
    mask = _array(value, "the mask")
    ensure(mask.dtype == bool, f"the mask should hold True and False, but it holds {mask.dtype}")
    ensure(mask.shape == (T, T), f"the mask has shape {mask.shape}, but it should be {(T, T)}")
    return mask


@public_check("sparse_mask")
def the_window_by_hand(sparse_mask: Any) -> None:
    """A window of one neighbour on each side, four positions: the case of the text."""
    mask = _mask(sparse_mask("local", 4, width=1), 4)
    ensure(mask.sum() != 6, "it looks as if your mask is True where attention is forbidden")
    ensure(mask.diagonal().all(), "a position is in its own window")
    ensure((mask == mask.T).all(), "the window reaches to both sides: take the absolute value of i − j")
    if mask.sum() == 4:
        reach = int(_mask(sparse_mask("local", 9, width=4), 9)[0].sum()) - 1
        ensure(reach != 3, "width 1 means one neighbour on each side: |i − j| ≤ width, not below it")
        ensure(reach != 2, "width 1 means one neighbour on each side: it does not count both sides together")
    close(mask.sum(1), [2, 3, 3, 2], "width 1 means one neighbour on each side: rows of 2, 3, 3 and 2")
    wide = _mask(sparse_mask("local", 3, width=5), 3)
    ensure(wide.all(), "a window wider than the text holds every pair")


@public_check("sparse_mask")
def full_and_causal(sparse_mask: Any) -> None:
    """Full allows 16 pairs of four positions, causal the 10 on and below the diagonal."""
    ensure(_mask(sparse_mask("full", 4), 4).all(), "full allows every pair")
    causal = _mask(sparse_mask("causal", 4), 4)
    ensure(causal.diagonal().all(), "a position may attend to itself: j ≤ i, not j < i")
    ensure(
        causal[3, 0] and not causal[0, 3], "causal is the wrong way round: row i may attend to columns j ≤ i"
    )
    ensure(causal.sum() == 10, f"causal should allow 10 of 16 pairs, yours allows {causal.sum()}")


@public_check("sparse_mask")
def dilated_and_global(sparse_mask: Any) -> None:
    """Dilated has gaps and reaches further; global has full rows and columns."""
    dilated = _mask(sparse_mask("dilated", 13, width=1, dilation=3), 13)
    row = np.flatnonzero(dilated[6]).tolist()
    ensure(
        row != [0, 3, 6, 9, 12],
        "your dilated mask has the gaps, but no end: it reaches as far as width · dilation, and no further",
    )
    ensure(
        row != [6],
        "your dilated mask has no neighbours left: it reaches further than the window, up to width · dilation",
    )
    ensure(
        row == [3, 6, 9],
        f"with width 1 and dilation 3, position 6 attends to 3, 6 and 9, but in yours to {row}",
    )
    mask = _mask(sparse_mask("global", 6, width=1, n_global=1), 6)
    ensure(mask[0].all(), "a global position attends to everybody: its row is full")
    ensure(mask[:, 0].all(), "everybody attends to a global position: its column is full")
    ensure(mask[4, 5] and not mask[2, 5], "beside the global positions there is the window, and nothing else")


@public_check("sparse_mask")
def an_unknown_kind(sparse_mask: Any) -> None:
    """An unknown kind raises a ValueError."""
    try:
        sparse_mask("windowed", 4)
    except ValueError:
        return
    raise Hint("a kind that does not exist should raise a ValueError")


# ------------------------------------------------------------------------------------------------- patchify


@public_check("patchify")
def the_image_of_the_text(patchify: Any) -> None:
    """A 4 × 4 image in patches of 2 × 2: the case of the text."""
    patches = _array(patchify(torch.arange(16.0).reshape(1, 4, 4, 1), 2), "the result")
    ensure(
        patches.ndim < 4 or patches.shape[1:4] != (4, 2, 2),
        "your patches are still squares: write each of them out as one vector of p · p · C numbers",
    )
    ensure(
        patches.shape == (1, 4, 4),
        f"the result has shape {patches.shape}, but four patches of four numbers, (1, 4, 4), are expected",
    )
    first = patches[0, 0].tolist()
    ensure(
        first != [0, 1, 2, 3],
        "patch 0 is the first row of the image: a bare reshape does not cut squares; split the axes, then exchange them",
    )
    ensure(first != [0, 4, 1, 5], "the pixels in a patch go column by column; they should go row by row")
    ensure(
        patches[0, 1].tolist() != [8, 9, 12, 13],
        "your patches go down the columns first; like text, they should go row by row",
    )
    wanted = [[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]]
    close(patches, wanted, "the patches are not in the text's order: row by row, from the top left")


@public_check("patchify")
def colours_and_other_shapes(patchify: Any) -> None:
    """Two images of 2 × 6 pixels with three channels: each pixel keeps its channels together."""
    patches = _array(patchify(torch.arange(72.0).reshape(2, 2, 6, 3), 2), "the result")
    ensure(patches.shape == (2, 3, 12), f"the result has shape {patches.shape}, but (2, 3, 12) is expected")
    wanted = [6, 7, 8, 9, 10, 11, 24, 25, 26, 27, 28, 29]
    close(
        patches[0, 1],
        wanted,
        "in patch 1 the channels of a pixel should stand side by side, pixel after pixel",
    )


@public_check("patchify")
def a_view_of_images(patchify: Any) -> None:
    """It also works on a transposed view of images."""
    view = torch.arange(16.0).reshape(1, 4, 4, 1).transpose(1, 2)
    patches = _array(patchify(view, 2), "the result")
    wanted = [[[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]]
    close(
        patches,
        wanted,
        "the patches of a transposed image are not right: does a view() or reshape mix its pixels?",
    )


@public_check("patchify")
def patches_that_do_not_fit(patchify: Any) -> None:
    """Patches that do not fill the image raise a ValueError."""
    for H, W, side in ((4, 6, "6 columns"), (2, 8, "2 rows")):
        try:
            patchify(torch.zeros(1, H, W, 1), 4)
        except ValueError:
            continue
        except AssertionError:
            raise Hint(
                f"{side} can't be cut into patches of 4: raise a ValueError; assert raises another error"
            ) from None
        raise Hint(f"{side} can't be cut into patches of 4: raise a ValueError")


# ------------------------------------------------------------------------------------------ mel_spectrogram


def _tone(frequency: float, samples: int = 1000) -> np.ndarray:
    return np.sin(2 * np.pi * frequency * np.arange(samples) / 8000)


@public_check("mel_spectrogram")
def frames_and_bands(mel_spectrogram: Any) -> None:
    """1,000 samples have six whole frames of 256, with a hop of 128."""
    mels = _array(mel_spectrogram(_tone(440), 8000), "the result")
    ensure(mels.shape != (20, 6), "the result is (n_mels, T): each row should be a frame")
    ensure(
        mels.shape != (5, 20),
        "the last frame is missing: from the first start to the last there are five hops, and so six frames",
    )
    ensure(
        mels.shape not in ((7, 20), (8, 20)),
        f"there are {len(mels)} frames, more than fit: nothing is padded or centred, only whole frames of the signal count",
    )
    hint = ": only whole frames count, from t · hop to t · hop + frame" if mels.shape[-1:] == (20,) else ""
    ensure(mels.shape == (6, 20), f"the result has shape {mels.shape}, but (6, 20) is expected{hint}")
    mels = _array(mel_spectrogram(_tone(440, 1024), 8000), "the result")
    ensure(
        mels.shape != (6, 20),
        "1,024 samples have seven frames: the one that ends with the very last sample counts, too",
    )
    ensure(
        mels.shape == (7, 20), f"1,024 samples have seven frames, (7, 20), but the result has {mels.shape}"
    )
    mels = _array(mel_spectrogram(_tone(440, 1024), 8000, hop=64), "the result")
    ensure(
        mels.shape != (7, 20), "with a hop of 64 there are as many frames as with 128: use the argument hop"
    )
    ensure(
        mels.shape == (13, 20),
        f"1,024 samples with a hop of 64 give (13, 20), but the result has {mels.shape}",
    )


@public_check("mel_spectrogram")
def silence_has_a_floor(mel_spectrogram: Any) -> None:
    """Silence is the logarithm of the floor, ln 1e-10 = −23.03."""
    mels = _array(mel_spectrogram(np.zeros(300), 8000), "the result")
    ensure(np.isfinite(mels).all(), "silence gave −∞ or nan: take max(power, 1e-10) before the logarithm")
    ensure(
        not mels.size or not np.allclose(mels, -10),
        "silence gives −10, so you took log10: use the natural logarithm",
    )
    ensure(
        not mels.size or mels.min() < -23 or mels.max() > 0 or np.ptp(mels) < 0.01,
        "silence lies above the floor: the floor belongs to each band's power, after the filters, not to each frequency's",
    )
    close(mels, np.full((1, 20), np.log(1e-10)), "silence should be ln(1e-10) in every band")


@public_check("mel_spectrogram")
def twice_as_loud(mel_spectrogram: Any) -> None:
    """A louder signal adds the same to every band: ten times the amplitude is ln 100 more."""
    quiet, loud = (
        _array(mel_spectrogram(a * (_tone(440) + _tone(2000)), 8000), "the result") for a in (100, 1000)
    )
    step = float(np.median(loud - quiet))
    ensure(
        abs(step - np.log(10)) > 0.05,
        "ten times the amplitude adds ln 10: square the absolute value, power is asked for",
    )
    close(step, np.log(100), "ten times the amplitude should add ln 100 to every band")


@public_check("mel_spectrogram")
def a_quiet_click(mel_spectrogram: Any) -> None:
    """A very quiet click is above the floor, and not moved by it."""
    click = np.zeros(256)
    click[128] = 1
    loud, quiet = (_array(mel_spectrogram(a * click, 8000), "the result") for a in (1, 1e-5))
    ensure(
        loud.shape == quiet.shape == (1, 20),
        f"256 samples make one frame of 20 bands, (1, 20), but the result has shape {loud.shape}",
    )
    expected = np.maximum(loud + np.log(1e-10), np.log(1e-10))
    ensure(
        not np.allclose(quiet, np.logaddexp(expected, np.log(1e-10))),
        "you add the floor to the power: it is a maximum, max(power, 1e-10)",
    )
    close(quiet, expected, "a click that is 1e5 times quieter should lose ln 1e10 in each band", atol=1e-3)


@public_check("mel_spectrogram")
def one_click(mel_spectrogram: Any) -> None:
    """A click of height 1 in the middle of a frame has power 1 at all frequencies."""
    click = np.zeros(256)
    click[128] = 1
    frames = _array(mel_spectrogram(click, 8000), "the result")
    ensure(len(frames) == 1, "256 samples make exactly one frame: the last one that fits counts too")
    total = float(np.exp(frames[0]).sum())
    hint = "the bands of a click sum to {:.4g}, not to 120.4: the window is 1 in the middle, and nothing is divided"
    ensure(abs(total - 120.39) < 0.02, hint.format(total))
    early = np.roll(click, -64)
    quarter = float(np.exp(_array(mel_spectrogram(early, 8000), "the result")[0]).sum())
    ensure(
        abs(quarter - 120.39 * 0.2531) > 0.1,
        "your window is the symmetric one (np.hanning(frame) divides by frame − 1): divide by frame",
    )
    click = np.roll(click, -128)
    faded = _array(mel_spectrogram(click, 8000), "the result")
    ensure(faded.max() < -20, "a click at a frame's first sample should vanish: multiply by the Hann window")


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("patchify")
def takes_images_for_squares(right: Any, images: Any, p: Any) -> Any:
    """It takes the height for the width, and leaves the rest of a wide image out.

    One survives: your images are as high as they are wide.
    """
    return right(images[:, :, : images.shape[1]], p)


@impostor("patchify")
def goes_down_first(right: Any, images: Any, p: Any) -> Any:
    """It reads images column by column, from top to bottom.

    One survives: your image looks the same when rows and columns change places.
    """
    return right(images.transpose(1, 2), p)


@impostor("patchify")
def turns_the_colours_round(right: Any, images: Any, p: Any) -> Any:
    """It writes each pixel's colours in the wrong order.

    One survives: your pixels have one channel, or equal ones.
    """
    return right(images.flip(-1), p)


@impostor("patchify")
def sees_the_first_image(right: Any, images: Any, p: Any) -> Any:
    """It takes the first image for all of them.

    One survives: give a batch of two different images.
    """
    return right(images[:1].expand_as(images), p)


@impostor("patchify")
def knows_one_size(right: Any, images: Any, p: Any) -> Any:
    """Its patches are always 2 pixels wide.

    One survives: try another size.
    """
    return right(images, 2)
