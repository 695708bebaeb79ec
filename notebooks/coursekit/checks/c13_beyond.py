"""Public checks of lab 13: blanks, a look into the future, pairs, patches and frames, in cases small enough to read."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from coursekit.checks.api import Hint, close, ensure, learned, public_check
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
    for name, part, found in zip(("inputs", "targets"), result, arrays, strict=True):
        ensure(
            found.shape == ids.shape,
            f"{name} has shape {found.shape}, but ids, and so {name}, has {ids.shape}",
        )
        ensure(
            found.dtype.kind != "f" or str(getattr(part, "dtype", "")) == "object",
            f"{name} holds floats ({found.dtype}), but token numbers are integers: "
            "is an array made by np.ones, np.zeros or np.empty without a dtype?",
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
        ensure(
            rate > 0.2 or (targets == -100).all(axis=1).any(),
            "something is asked in every row: each position is chosen by itself, so now and then none of a row is",
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
    ensure(
        not (0.68 < blank < 0.74 and 0.15 < same < 0.21),
        f"{blank:.0%} of the chosen words became [MASK] and {same:.0%} stayed, as if two separate draws followed each other, and the second "
        "put a tenth of random words over the blanks, too: let one number decide, below 0.8, below 0.9, or above",
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
def chance_decides_how_many(masked_lm_batch: Any) -> None:
    """In small batches the numbers of chosen words and of blanks vary."""
    ids = np.full((2, 6), 3)
    half = [_batch(masked_lm_batch, ids, 9, 0.5, seed)[1] for seed in range(12)]
    ensure(
        len({int((targets != -100).sum()) for targets in half}) > 1,
        "with rate 0.5 each batch of 12 words has the same number of chosen ones: each position is chosen by itself, so the number varies",
    )
    few = [_batch(masked_lm_batch, ids[:1, :3], 9, 0.2, seed)[1] for seed in range(24)]
    ensure(
        any((targets == -100).all() for targets in few),
        "with rate 0.2 something is asked in each of 24 batches of three words: each position is chosen by itself, so now and then none is",
    )
    whole = [_batch(masked_lm_batch, ids, 9, 1.0, seed)[0] for seed in range(12)]
    ensure(
        len({int((inputs == 1).sum()) for inputs in whole}) > 1,
        "of 12 chosen words the same number becomes [MASK] in every batch: each has its own fate, so the number varies",
    )


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
    swapped = (first[0] == 2) | (first[0] == 4)
    for inputs, drawn, line in ((first[0], swapped, "row"), (first[0].T, swapped.T, "column")):
        alike = [
            len(set(words[there])) == 1 for words, there in zip(inputs, drawn, strict=True) if there.sum() > 2
        ]
        ensure(
            not alike or np.mean(alike) < 0.9,
            f"all random words of a {line} are one and the same: draw one for each position, rng.integers(2, V, ids.shape)",
        )
    ids = np.full((120, 100), 3)
    same = (_batch(masked_lm_batch, ids, 4, 1.0)[0] == ids).mean()
    ensure(
        abs(same - 0.1) > 0.02,
        "a random word is never the old one: of the words 2 to V − 1 each should be as likely as the others, the old one, too",
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
    wanted = {"embedding", "position", "blocks", "head"}
    found = {name.split(".")[0] for name in learned(model, lambda name: name.split(".")[0] in wanted)}
    ensure(
        found == wanted,
        f"what is learned should be in embedding, position, blocks and head, but it is in {', '.join(sorted(found)) or 'nothing'}",
    )
    tied = getattr(model.head, "weight", None) is model.embedding.weight
    ensure(
        not tied,
        "head.weight is the embedding's weight, one and the same: here the head, nn.Linear(d_model, V), has weights of its own",
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
    ensure(
        not torch.allclose(logits.exp().sum(-1), torch.ones(1, 4), atol=1e-4),
        "the result is the logarithm of probabilities: return the logits, without a log_softmax",
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
        torch.allclose(one, model(torch.tensor([[2, 5, 3, 8]]))),
        "the same sentence has other guesses when it is asked again: nothing in this model is random, so no dropout",
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
    """Padding, behind a sentence or inside, changes none of its guesses; a blank does."""
    for causal in (True, False):
        kind = "a decoder" if causal else "an encoder"
        model = _model(TinyLM, causal)
        bare, padded = model(torch.tensor([[2, 5, 3]])), model(torch.tensor([[2, 5, 3, 0, 0]]))
        ensure(not torch.isnan(bare).any(), "nan in the logits: a row of the mask allows nothing")
        ensure(
            not torch.isnan(padded[:, :3]).any(),
            "nan where there is padding: a row of the mask allows nothing. Mask padding as a key only, not as a query: (ids != PAD)[:, None, :]",
        )
        ensure(
            torch.allclose(bare, padded[:, :3]),
            "padding changed the guesses: no position may attend to number 0, so mask it as a key",
        )
        ids = torch.tensor([[2, 0, 1, 5, 3]])
        anew = _model(TinyLM, causal)(ids)
        again = model(ids)
        ensure(
            torch.allclose(anew[ids != 0], again[ids != 0]),
            "the same sentence has other guesses after another one of its length: make the mask anew in each call, from its own ids",
        )
        weight = model.embedding.weight
        # Only the scores of words: one weight may be the embedding's and the head's, and say something of 0 and 1 there.
        (gradient,) = torch.autograd.grad(again[ids > 1][:, 2:].square().sum(), weight, retain_graph=True)
        ensure(
            not gradient[0].any(),
            f"{kind} hears padding that stands between words: mask number 0 as a key there, too",
        )
        (gradient,) = torch.autograd.grad(again[0, -1, 2:].square().sum(), weight)
        ensure(
            bool(gradient[1].any()) or not gradient[2].any(),
            f"{kind} does not hear the blank, number 1: only padding is masked, ids != PAD",
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
    row = np.flatnonzero(dilated[1]).tolist()
    ensure(
        row == [1, 4],
        f"with width 1 and dilation 3, position 1 attends to 1 and 4, but in yours to {row}: near the edges, too, the gaps count from the position itself",
    )
    mask = _mask(sparse_mask("global", 6, width=1, n_global=1), 6)
    ensure(mask[0].all(), "a global position attends to everybody: its row is full")
    ensure(mask[:, 0].all(), "everybody attends to a global position: its column is full")
    ensure(mask[4, 5] and not mask[2, 5], "beside the global positions there is the window, and nothing else")
    ensure(
        not mask[1].all(), "with n_global = 1 only position 0 is global, but row 1 is full, too: i < n_global"
    )
    ensure(
        not mask[:, 1].all(),
        "with n_global = 1 only position 0 is global, but column 1 is full, too: j < n_global",
    )
    mask = _mask(sparse_mask("global", 7, width=1, n_global=2), 7)
    ensure(
        mask[1].all() and mask[:, 1].all(),
        "with n_global = 2 the positions 0 and 1 are global: their rows and columns are full",
    )
    wide = _mask(sparse_mask("global", 3, width=5, n_global=1), 3)
    ensure(wide.all(), "a window wider than the text holds every pair, beside global positions, too")
    try:
        every = sparse_mask("global", 3, width=1, n_global=5)
    except IndexError:
        raise Hint(
            "with n_global = 5 and T = 3 it raises an IndexError: there may be fewer positions than n_global, and then all are global"
        ) from None
    ensure(
        _mask(every, 3).all(), "with n_global = 5 and T = 3 all positions are global: every pair is allowed"
    )


@public_check("sparse_mask")
def an_unknown_kind(sparse_mask: Any) -> None:
    """An unknown kind raises a ValueError."""
    for kind in ("windowed", "Full"):
        try:
            sparse_mask(kind, 4)
        except ValueError:
            continue
        more = ": the kinds are in small letters, and nothing else is one" if kind == "Full" else ""
        raise Hint(f"a kind that does not exist, {kind!r}, should raise a ValueError{more}")


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
    """Two images of 4 × 6 pixels with three channels: each pixel keeps its channels together."""
    patches = _array(patchify(torch.arange(144.0).reshape(2, 4, 6, 3), 2), "the result")
    ensure(patches.shape == (2, 6, 12), f"the result has shape {patches.shape}, but (2, 6, 12) is expected")
    wanted = [6, 7, 8, 9, 10, 11, 24, 25, 26, 27, 28, 29]
    close(
        patches[0, 1],
        wanted,
        "in patch 1 the channels of a pixel should stand side by side, pixel after pixel",
    )
    close(
        patches[0, :, 0],
        [0, 6, 12, 36, 42, 48],
        "an image of 2 rows and 3 columns of patches has them in another order: row r begins with patch r · columns",
    )
    close(patches[1], patches[0] + 72, "the second image's patches are not its own")


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
    mels = _array(mel_spectrogram(_tone(440), 8000, n_mels=12), "the result")
    ensure(mels.shape != (6, 20), "with n_mels = 12 there are still 20 bands: pass n_mels on to mel_filters")
    ensure(
        mels.shape == (6, 12), f"with n_mels = 12 the result has shape {mels.shape}, but (6, 12) is expected"
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
    faded = _array(mel_spectrogram(np.roll(click, -128), 8000), "the result")
    vanish = "a click at a frame's first sample should vanish: multiply by the Hann window"
    ensure(abs(float(np.exp(faded).sum()) / total - 1) > 0.1, vanish)
    ensure(
        _array(mel_spectrogram(np.full(256, 100.0), 8000), "the result").max() > -20,
        "a signal of equal numbers became silence: is the mean taken away? No step of the recipe does that",
    )
    ensure(
        min(abs(total * by / 120.39 - 1) for by in (256, 256**2)) > 0.001,
        f"the bands of a click sum to {total:.4g}, not to 120.4: nothing is divided by the frame's length",
    )
    ensure(
        abs(total - 120.39) < 0.02,
        f"where the window is 1, a click of height 1 has power 1 at all frequencies: its bands should sum to 120.4, but yours to {total:.4g}",
    )
    early = _array(mel_spectrogram(np.roll(click, -64), 8000), "the result")
    quarter = float(np.exp(early[0]).sum()) / 120.39
    ensure(
        abs(quarter - 0.125) > 0.01,
        "a click at sample 64 has half of the power that it should, and one in the middle all of it: an absolute value takes the "
        "imaginary part, too, np.abs(…) ** 2",
    )
    ensure(
        abs(quarter - 0.2531) > 0.001,
        "your window is the symmetric one (np.hanning(frame) divides by frame − 1): divide by frame",
    )
    ensure(faded.max() < -20, vanish)


@public_check("mel_spectrogram")
def the_rate_counts(mel_spectrogram: Any) -> None:
    """The same samples, played twice as fast, lie in other bands."""
    slow, fast = (_array(mel_spectrogram(_tone(440), rate), "the result") for rate in (8000, 16000))
    ensure(
        slow.shape != fast.shape or not np.allclose(slow, fast),
        "the rate changes nothing in the result: pass the argument on to mel_filters",
    )


@public_check("mel_spectrogram")
def whole_numbers(mel_spectrogram: Any) -> None:
    """A signal of whole numbers gives what the same numbers give as floats."""
    signal = np.random.default_rng(3).integers(-9, 10, 400)
    floats = _array(mel_spectrogram(signal.astype(float), 8000), "the result")
    try:
        mels = _array(mel_spectrogram(signal, 8000), "the result")
    except TypeError as error:
        if "Cannot cast ufunc" not in str(error):
            raise
        raise Hint(
            "a signal of integers raises an error: they can't hold what the window makes of them, so don't multiply in place (*=)"
        ) from None
    close(
        mels,
        floats,
        "whole numbers give another result than the same numbers as floats: does an array of integers on the way, np.zeros_like(signal) "
        "for one, cut off what stands behind the point?",
        atol=1e-2,
    )


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
