"""Lab 13: wrong answers that students give, with their hints, and correct answers in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
from coursekit.provided.p09_blocks import EncoderBlock
from torch import nn

from autograder.answers import alternative, misconception

# ------------------------------------------------------------------------------------------ masked_lm_batch


def _batch(ids, V, rng, rate, blank=0.8, swapped=0.1, lowest=2, choosable=None):
    chosen = (rng.random(ids.shape) < rate) & (ids != 0 if choosable is None else choosable)
    fate, words = rng.random(ids.shape), rng.integers(lowest, V, ids.shape)
    inputs = np.where(chosen & (fate < blank), 1, ids)
    inputs = np.where(chosen & (fate >= blank) & (fate < blank + swapped), words, inputs)
    return inputs, np.where(chosen, ids, -100)


@misconception("masked_lm_batch", title="every chosen word becomes a blank")
def only_blanks(ids, V, rng, rate=0.15):
    """All your chosen words become [MASK]. Only 80 % should: a tenth become random words and a tenth stay, so that the
    model works at words, too, and not only at blanks."""
    return _batch(ids, V, rng, rate, blank=1.0)


@misconception("masked_lm_batch", title="every word is a target")
def targets_everywhere(ids, V, rng, rate=0.15):
    """You ask for every word. A word that is in plain view teaches nothing but copying: the target is −100 wherever a position was
    not chosen."""
    return _batch(ids, V, rng, rate)[0], ids.copy()


@misconception("masked_lm_batch", title="padding is chosen as well")
def padding_too(ids, V, rng, rate=0.15):
    """Padding is among your chosen positions. It is no word, so it must neither be asked for nor changed."""
    return _batch(ids, V, rng, rate, choosable=True)


@misconception("masked_lm_batch", title="the targets are what the inputs became")
def targets_after_masking(ids, V, rng, rate=0.15):
    """Your targets were read after the words had been hidden, so the model is asked for [MASK]. The target is the word that stood there
    before."""
    inputs, targets = _batch(ids, V, rng, rate)
    return inputs, np.where(targets == -100, -100, inputs)


@misconception("masked_lm_batch", title="the same number of blanks in each row")
def a_fixed_number(ids, V, rng, rate=0.15):
    """Each of your rows has the same number of chosen words. They should be chosen independently of each other, so the number varies, and
    now and then it is zero."""
    ranks = np.where(ids != 0, rng.random(ids.shape), 2).argsort(axis=1).argsort(axis=1)
    chosen = (ranks < np.rint(rate * (ids != 0).sum(axis=1, keepdims=True))) & (ids != 0)
    return _batch(ids, V, rng, 2.0, choosable=chosen)


@misconception("masked_lm_batch", title="exactly 80 percent of the chosen words")
def exactly_eighty(ids, V, rng, rate=0.15):
    """Of your chosen words always the same share becomes [MASK]: they are shuffled and dealt out. What becomes of a word should be left to chance for each word by itself."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    places = rng.permutation(np.argwhere(chosen))
    blank, swapped = round(0.8 * len(places)), round(0.9 * len(places))
    inputs = ids.copy()
    inputs[tuple(places[:blank].T)] = 1
    inputs[tuple(places[blank:swapped].T)] = rng.integers(2, V, swapped - blank)
    return inputs, np.where(chosen, ids, -100)


@misconception("masked_lm_batch", title="one fate for a whole row")
def one_fate_a_row(ids, V, rng, rate=0.15):
    """In each of your rows all chosen words share one fate: all blanks, or all random words, or all as they were. Draw a number for each word: rng.random(ids.shape)."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    fate, words = rng.random((len(ids), 1)), rng.integers(2, V, ids.shape)
    inputs = np.where(chosen & (fate < 0.8), 1, ids)
    return np.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs), np.where(chosen, ids, -100)


@misconception("masked_lm_batch", title="random words may be padding or a blank")
def words_from_zero(ids, V, rng, rate=0.15):
    """Your random words are drawn from 0 on, but 0 is padding and 1 is the blank. Words begin at 2."""
    return _batch(ids, V, rng, rate, lowest=0)


@misconception("masked_lm_batch", title="a generator of its own")
def own_generator(ids, V, rng, rate=0.15):
    """Your batch does not depend on rng: you draw from another generator. Draw from the one that is passed, so that a run can be repeated."""
    return _batch(ids, V, np.random.default_rng(), rate)


@misconception("masked_lm_batch", title="ids is changed in place")
def in_place(ids, V, rng, rate=0.15):
    """Your function writes the blanks into ids itself. After a few epochs the text is full of holes: work on a copy."""
    inputs, targets = _batch(ids, V, rng, rate)
    ids[...] = inputs
    return ids, targets


@misconception("masked_lm_batch", title="one draw decides twice")
def one_draw_twice(ids, V, rng, rate=0.15):
    """One random number decides whether a word is chosen and what becomes of it, without being scaled: it is below the rate, so nearly
    always below 0.8, too. Draw another one for the second decision."""
    draw, words = rng.random(ids.shape), rng.integers(2, V, ids.shape)
    chosen = (draw < rate) & (ids != 0)
    inputs = np.where(chosen & (draw < 0.8), 1, np.where(chosen & (draw < 0.9), words, ids))
    return inputs, np.where(chosen, ids, -100)


@alternative("masked_lm_batch")
def batch_by_loops(ids, V, rng, rate=0.15):
    inputs, targets = [list(row) for row in ids.tolist()], [[-100] * len(row) for row in ids.tolist()]
    for b, row in enumerate(ids.tolist()):
        for t, word in enumerate(row):
            if word == 0 or rng.uniform() >= rate:
                continue
            targets[b][t] = word
            fate = rng.choice(3, p=[0.8, 0.1, 0.1])
            if fate == 0:
                inputs[b][t] = 1
            elif fate == 1:
                inputs[b][t] = int(rng.integers(V - 2)) + 2
    return inputs, targets


@alternative("masked_lm_batch")
def batch_from_one_draw_in_torch(ids, V, rng, rate=0.15):
    words = torch.tensor(ids)
    draw = torch.tensor(rng.random(ids.shape)) / rate  # below one where it is chosen, and uniform there
    draw[words == 0] = 2
    inputs = words.clone()
    inputs[draw < 0.8] = 1
    swapped = (draw >= 0.8) & (draw < 0.9)
    inputs[swapped] = torch.tensor(rng.integers(2, V, int(swapped.sum())))
    return inputs, words.masked_fill(draw >= 1, -100)


# --------------------------------------------------------------------------------------------------- TinyLM


class _LM(nn.Module):
    """The right model; the wrong ones change one step of it."""

    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        self.embedding = nn.Embedding(V, d_model)
        self.position = nn.Embedding(max_length, d_model)
        self.blocks = nn.ModuleList(EncoderBlock(d_model, heads, d_ff) for _ in range(layers))
        self.head = nn.Linear(d_model, V)
        self.causal, self.d_model = causal, d_model

    def _embed(self, ids):
        return self.embedding(ids) + self.position.weight[: ids.shape[1]]

    def _mask(self, ids):
        T = ids.shape[1]
        padding = (ids != 0).unsqueeze(1)
        return padding & torch.ones(T, T, dtype=torch.bool).tril() if self.causal else padding

    def forward(self, ids):
        x, mask = self._embed(ids), self._mask(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


@misconception("TinyLM", title="the future is visible")
class LooksAhead(_LM):
    """Your decoder sees the tokens that it is to guess: causal changes nothing. Its loss will fall nearly to zero in training, and it will
    write nonsense."""

    def _mask(self, ids):
        return (ids != 0)[:, None, :]


@misconception("TinyLM", title="an encoder that sees one side")
class AlwaysCausal(_LM):
    """Your encoder sees only what is before. The causal mask belongs to the decoder: apply it only if causal is true."""

    def _mask(self, ids):
        return (ids != 0)[:, None, :] & torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()


@misconception("TinyLM", title="one token of the future is visible")
class OneAhead(_LM):
    """Each position of your decoder sees one token too many, the very one that it is to guess. Row t allows columns up to and including t."""

    def _mask(self, ids):
        T = ids.shape[1]
        padding = (ids != 0)[:, None, :]
        return padding & torch.ones(T, T, dtype=torch.bool).tril(1) if self.causal else padding


@misconception("TinyLM", title="padding is heard")
class HearsPadding(_LM):
    """Your model attends to padding, so what it says about a sentence depends on how long the others in the batch are. Mask number 0 as
    a key."""

    def _mask(self, ids):
        T = ids.shape[1]
        allowed = torch.ones(T, T, dtype=torch.bool)
        return allowed.tril() if self.causal else allowed


@misconception("TinyLM", title="no positions")
class NoPositions(_LM):
    """Your model does not add the positions, so an encoder can't tell a sentence from its shuffled words."""

    def _embed(self, ids):
        return self.embedding(ids)


@misconception("TinyLM", title="probabilities instead of logits")
class Probabilities(_LM):
    """Your model ends with a softmax. Logits are asked for: cross_entropy takes the softmax itself, and two of them flatten all differences."""

    def forward(self, ids):
        return super().forward(ids).softmax(dim=-1)


@misconception("TinyLM", title="only the first block is used")
class OneBlock(_LM):
    """The number of layers changes nothing in your result: every block should take what the one before it returned."""

    def forward(self, ids):
        x, mask = self._embed(ids), self._mask(ids)
        for block in self.blocks:
            y = block(x, mask)
        return self.head(y)


@misconception("TinyLM", title="embeddings multiplied by the root of their size")
class ScaledEmbeddings(_LM):
    """You multiply the embeddings by the root of d_model, as the translator does. This model adds them as they are."""

    def _embed(self, ids):
        return self.embedding(ids) * math.sqrt(self.d_model) + self.position.weight[: ids.shape[1]]


@alternative("TinyLM")
class WithMaskByComparison(nn.Module):
    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        self.head = nn.Linear(d_model, V)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(EncoderBlock(d_model, heads, d_ff))
        self.position, self.embedding = nn.Embedding(max_length, d_model), nn.Embedding(V, d_model)
        self.register_buffer("order", torch.arange(max_length), persistent=False)
        self.causal = bool(causal)

    def forward(self, ids):
        B, T = ids.shape
        places = self.order[:T]
        future = places[None, :] > places[:, None]
        forbidden = (ids == 0).view(B, 1, T).expand(B, T, T)
        if self.causal:
            forbidden = forbidden | future
        x = self.position(places).repeat(B, 1, 1) + self.embedding(ids)
        for block in self.blocks:
            x = block(x, mask=~forbidden)
        return x @ self.head.weight.T + self.head.bias


@alternative("TinyLM")
class OneSentenceAtATime(_LM):
    def forward(self, ids):
        return torch.cat([super(OneSentenceAtATime, self).forward(row[None]) for row in ids])


# ---------------------------------------------------------------------------------------------- sparse_mask


def _sparse(kind, T, width, dilation, n_global):
    i, j = np.indices((T, T))
    gap = abs(i - j)
    masks = {
        "full": gap >= 0,
        "causal": j <= i,
        "local": gap <= width,
        "dilated": (gap % dilation == 0) & (gap <= width * dilation),
        "global": (gap <= width) | (np.minimum(i, j) < n_global),
    }
    if kind not in masks:
        raise ValueError(kind)
    return masks[kind]


@misconception("sparse_mask", title="True where attention is forbidden")
def forbidden_pairs(kind, T, width=2, dilation=2, n_global=1):
    """Your mask is True where attention is forbidden. In this course True means: may attend."""
    return ~_sparse(kind, T, width, dilation, n_global)


@misconception("sparse_mask", title="causal without the diagonal")
def strictly_before(kind, T, width=2, dilation=2, n_global=1):
    """In your causal mask no position may attend to itself, and the first one has nothing at all: its softmax is nan."""
    return np.tri(T, k=-1, dtype=bool) if kind == "causal" else _sparse(kind, T, width, dilation, n_global)


@misconception("sparse_mask", title="causal upside down")
def only_the_future(kind, T, width=2, dilation=2, n_global=1):
    """Your causal mask lets each position see itself and the future. Rows are those who listen: row i may attend to columns up to i."""
    return (
        _sparse(kind, T, width, dilation, n_global).T
        if kind == "causal"
        else _sparse(kind, T, width, dilation, n_global)
    )


@misconception("sparse_mask", title="windows that look back only")
def one_sided(kind, T, width=2, dilation=2, n_global=1):
    """Your windows reach only to one side. Take the absolute value of i − j: neighbours before and after count."""
    mask = _sparse(kind, T, width, dilation, n_global)
    return mask & np.tri(T, dtype=bool) if kind in ("local", "dilated") else mask


@misconception("sparse_mask", title="the width counts the whole window")
def whole_window(kind, T, width=2, dilation=2, n_global=1):
    """Your windows are about half as wide as asked: width counts the neighbours on each side, not those on both together."""
    return _sparse(kind, T, width // 2, dilation, n_global)


@misconception("sparse_mask", title="gaps without an end")
def every_multiple(kind, T, width=2, dilation=2, n_global=1):
    """Your dilated mask has the gaps, but no end: it should hold as many neighbours as the window, width on each side."""
    return _sparse(kind, T, T if kind == "dilated" else width, dilation, n_global)


@misconception("sparse_mask", title="the reach is not stretched")
def not_stretched(kind, T, width=2, dilation=2, n_global=1):
    """Your dilated mask cuts gaps into the plain window, so it has fewer neighbours. It should reach further: width times dilation."""
    return _sparse(kind, T, width // dilation if kind == "dilated" else width, dilation, n_global)


@misconception("sparse_mask", title="global positions are heard but do not hear")
def global_columns(kind, T, width=2, dilation=2, n_global=1):
    """Your global positions have full columns, but not full rows: all hear them, but they hear only their window, so they can't pass anything
    on."""
    mask = _sparse("local" if kind == "global" else kind, T, width, dilation, n_global).copy()
    if kind == "global":
        mask[:, :n_global] = True
    return mask


@misconception("sparse_mask", title="global without the window")
def global_alone(kind, T, width=2, dilation=2, n_global=1):
    """Your global mask has only the global rows and columns. The window of neighbours is part of it, too."""
    return _sparse(kind, T, -1 if kind == "global" else width, dilation, n_global)


@misconception("sparse_mask", title="an unknown kind is let through")
def unknown_is_full(kind, T, width=2, dilation=2, n_global=1):
    """An unknown kind of mask, a typing error for instance, raises no error in your function. Say so with a ValueError, or it will be found
    much later."""
    known = kind in ("full", "causal", "local", "dilated", "global")
    return _sparse(kind if known else "full", T, width, dilation, n_global)


@alternative("sparse_mask")
def mask_by_loops(kind, T, width=2, dilation=2, n_global=1):
    rules = {
        "full": lambda i, j: True,
        "causal": lambda i, j: not j > i,
        "local": lambda i, j: j in range(i - width, i + width + 1),
        "dilated": lambda i, j: j in range(i - width * dilation, i + width * dilation + 1, dilation),
        "global": lambda i, j: i < n_global or j < n_global or abs(i - j) <= width,
    }
    if kind not in rules:
        raise ValueError(f"unknown kind {kind}")
    return [[rules[kind](i, j) for j in range(T)] for i in range(T)]


@alternative("sparse_mask")
def mask_by_diagonals(kind, T, width=2, dilation=2, n_global=1):
    ones = torch.ones(T, T).bool()
    match kind:
        case "full":
            return ones
        case "causal":
            return ones.tril()
        case "local" | "global":
            mask = ones.triu(-width) & ones.tril(width)
            if kind == "global":
                mask[:n_global] = mask[:, :n_global] = True
            return mask
        case "dilated":
            total = sum(np.eye(T, k=step * dilation) for step in range(-width, width + 1))
            return torch.tensor(np.asarray(total) > 0)
    raise ValueError("no such mask")


# ------------------------------------------------------------------------------------------------- patchify


def _squares(images, p):
    B, H, W, C = images.shape
    if H % p or W % p:
        raise ValueError("the patches do not fit")
    return images.reshape(B, H // p, p, W // p, p, C)  # (B, row, y, column, x, C)


@misconception("patchify", title="a bare reshape into patches")
def patches_by_reshape(images, p):
    """Your patches are strips of the image's rows, because a reshape keeps the order in memory. Split the height and the width first, then
    bring the axes of the patch together."""
    return _squares(images, p).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception("patchify", title="patches column by column")
def patches_by_columns(images, p):
    """Your patches are right, but they go down the columns first. Text goes row by row, and so do the patches."""
    return _squares(images, p).permute(0, 3, 1, 2, 4, 5).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception("patchify", title="pixels column by column")
def pixels_by_columns(images, p):
    """Each of your patches holds the right pixels, turned over: within a patch they should go row by row as well."""
    return _squares(images, p).permute(0, 1, 3, 4, 2, 5).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception("patchify", title="channels first within a patch")
def channels_first(images, p):
    """Your patches hold all pixels of one colour, then all of the next. The channels of a pixel belong side by side."""
    return _squares(images, p).permute(0, 1, 3, 5, 2, 4).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception("patchify", title="what does not fit is cut off")
def patches_cut_off(images, p):
    """An image that the patches do not fill loses its last rows or columns, and nobody notices. Raise a ValueError instead."""
    B, H, W, C = images.shape
    squares = _squares(images[:, : H // p * p, : W // p * p], p)
    return squares.transpose(2, 3).reshape(B, (H // p) * (W // p), p * p * C)


@misconception("patchify", title="patches that stay squares")
def patches_stay_squares(images, p):
    """Your patches are right but still squares: each should be written out as one vector of p · p · C numbers."""
    return _squares(images, p).transpose(2, 3).flatten(1, 2)


@alternative("patchify")
def patches_by_unfold(images, p):
    _, H, W, _ = images.shape
    if H / p != H // p or W / p != W // p:
        raise ValueError("no")
    return images.unfold(1, p, p).unfold(2, p, p).permute(0, 1, 2, 4, 5, 3).flatten(3).flatten(1, 2)


@alternative("patchify")
def patches_by_slices(images, p):
    images = images.float().numpy()
    _, H, W, _ = images.shape
    if H % p + W % p > 0:
        raise ValueError("no")
    corners = [(r, c) for r in range(0, H, p) for c in range(0, W, p)]
    return [[image[r : r + p, c : c + p].flatten().tolist() for r, c in corners] for image in images]


# ------------------------------------------------------------------------------------------ mel_spectrogram


def _filters(n_mels, frame, rate):
    highest = 2595 * np.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (np.linspace(0, highest, n_mels + 2) / 2595) - 1)
    frequencies = np.linspace(0, rate / 2, frame // 2 + 1)
    return np.array([np.interp(frequencies, corners[k : k + 3], [0, 1, 0]) for k in range(n_mels)])


def _hann(frame):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(frame) / frame)


def _bands(signal, rate, frame, hop, n_mels, window=None, power=2, count=0):
    T = (len(signal) - frame) // hop + 1 + count
    frames = np.array([signal[t * hop : t * hop + frame] for t in range(T)]).reshape(T, frame)
    spectrum = np.abs(np.fft.rfft(frames * (_hann(frame) if window is None else window))) ** power
    return spectrum @ _filters(n_mels, frame, rate).T


def _log(bands):
    return np.log(np.maximum(bands, 1e-10))


@misconception("mel_spectrogram", title="magnitude instead of power")
def magnitudes(signal, rate, frame=256, hop=128, n_mels=20):
    """You sum the absolute values of the Fourier transform; the power is asked for, which is their square."""
    return _log(_bands(signal, rate, frame, hop, n_mels, power=1))


@misconception("mel_spectrogram", title="a window that ends in zero")
def symmetric_window(signal, rate, frame=256, hop=128, n_mels=20):
    """Your numbers are off by a little everywhere: np.hanning makes the symmetric window, divided by frame − 1. The periodic one, divided by
    frame, is asked for."""
    return _log(_bands(signal, rate, frame, hop, n_mels, window=np.hanning(frame)))


@misconception("mel_spectrogram", title="no window")
def no_window(signal, rate, frame=256, hop=128, n_mels=20):
    """Your frames are cut out with hard edges, and each edge is a click with power at all frequencies. Multiply by the Hann window first."""
    return _log(_bands(signal, rate, frame, hop, n_mels, window=np.ones(frame)))


@misconception("mel_spectrogram", title="the logarithm to base ten")
def base_ten(signal, rate, frame=256, hop=128, n_mels=20):
    """Your values are the right ones divided by 2.303: the natural logarithm is asked for."""
    return np.log10(np.maximum(_bands(signal, rate, frame, hop, n_mels), 1e-10))


@misconception("mel_spectrogram", title="the floor is added")
def added_floor(signal, rate, frame=256, hop=128, n_mels=20):
    """Loud sounds are right, very quiet ones are not: the floor is a maximum, not something to add."""
    return np.log(_bands(signal, rate, frame, hop, n_mels) + 1e-10)


@misconception("mel_spectrogram", title="bands in rows")
def bands_in_rows(signal, rate, frame=256, hop=128, n_mels=20):
    """Your rows are bands and your columns frames. A row should be a frame: it is the token that the model will read."""
    return _log(_bands(signal, rate, frame, hop, n_mels)).T


@misconception("mel_spectrogram", title="the last frame is missing")
def one_frame_too_few(signal, rate, frame=256, hop=128, n_mels=20):
    """One frame is missing at the end: between the first and the last start there are (N − frame) // hop steps, and so one more frame than
    steps."""
    return _log(_bands(signal, rate, frame, hop, n_mels, count=-1))


@misconception("mel_spectrogram", title="the signal is padded")
def padded(signal, rate, frame=256, hop=128, n_mels=20):
    """Your result has more frames than fit into the signal: you pad it, so that frames are centred. Here only whole frames of the signal count."""
    return _log(_bands(np.pad(signal, frame // 2), rate, frame, hop, n_mels))


@misconception("mel_spectrogram", title="the power divided by the frame's length")
def divided_by_the_frame(signal, rate, frame=256, hop=128, n_mels=20):
    """All your values are too small by the same amount: nothing is to be divided by the length of the frame."""
    return _log(_bands(signal, rate, frame, hop, n_mels) / frame)


@alternative("mel_spectrogram")
def mels_frame_by_frame(signal, rate, frame=256, hop=128, n_mels=20):
    rows, start = [], 0
    while start + frame <= len(signal):
        spectrum = np.fft.fft(signal[start : start + frame] * np.hanning(frame + 1)[:-1])[: frame // 2 + 1]
        power = spectrum.real**2 + spectrum.imag**2
        rows.append([math.log(max(b, 1e-10)) for b in _filters(n_mels, frame, rate).dot(power)])
        start += hop
    return rows


@alternative("mel_spectrogram")
def mels_in_torch(signal, rate, frame=256, hop=128, n_mels=20):
    frames = torch.tensor(np.array(signal, dtype=float)).unfold(0, frame, hop)
    power = (
        torch.fft.rfft(frames * torch.hann_window(frame, periodic=True, dtype=torch.double)).abs().square()
    )
    return (power @ torch.tensor(_filters(n_mels, frame, rate)).T).clamp(min=1e-10).log()


@alternative("mel_spectrogram")
def mels_in_strides(signal, rate, frame=256, hop=128, n_mels=20):
    frames = np.lib.stride_tricks.sliding_window_view(signal, frame)[::hop]
    power = np.abs(np.fft.rfft(frames * _hann(frame), axis=-1)) ** 2
    return np.log(np.einsum("tf,mf->tm", power, _filters(n_mels, frame, rate)).clip(1e-10))


@alternative("mel_spectrogram")
def mels_in_single_precision(signal, rate, frame=256, hop=128, n_mels=20):
    frames = torch.tensor(np.array(signal, dtype=np.float32)).unfold(0, frame, hop)
    power = torch.fft.rfft(frames * torch.hann_window(frame)).abs() ** 2
    bands = power @ torch.tensor(_filters(n_mels, frame, rate).T, dtype=torch.float32)
    return torch.log(torch.maximum(bands, torch.tensor(1e-10)))
