"""Lab 13, ``mel_spectrogram``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch

from autograder.testing import alternative, misconception


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


@misconception(
    "mel_spectrogram",
    title="a window that ends in zero",
    keeps="every step is right; only the window differs a little",
)
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


@misconception("mel_spectrogram", title="the floor is added", keeps="right for all but very quiet sounds")
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


@misconception(
    "mel_spectrogram",
    title="the frame that ends with the signal is missing",
    keeps="the frames are right; the last is missing where it ends with the signal",
)
def without_the_frame_at_the_end(signal, rate, frame=256, hop=128, n_mels=20):
    """A frame that ends exactly with the signal is missing in your result: range(0, N − frame, hop) stops before N − frame, and that is the last
    start that fits."""
    starts = range(0, len(signal) - frame, hop)
    frames = np.stack([signal[s : s + frame] * _hann(frame) for s in starts])
    return _log(np.abs(np.fft.rfft(frames)) ** 2 @ _filters(n_mels, frame, rate).T)


@misconception(
    "mel_spectrogram", title="the floor before the bands", keeps="right for all but very quiet sounds"
)
def floor_before_the_bands(signal, rate, frame=256, hop=128, n_mels=20):
    """You put the floor under the power of each frequency, and the bands then add up many floors. It belongs under each band's power, just before
    the logarithm."""
    T = (len(signal) - frame) // hop + 1
    frames = np.stack([signal[t * hop : t * hop + frame] * _hann(frame) for t in range(T)])
    power = np.maximum(np.abs(np.fft.rfft(frames)) ** 2, 1e-10)
    return np.log(power @ _filters(n_mels, frame, rate).T)


@misconception(
    "mel_spectrogram",
    title="half a frame, whatever hop is asked for",
    keeps="right for the usual hop; one argument is not used",
)
def hop_of_half_a_frame(signal, rate, frame=256, hop=128, n_mels=20):
    """Your frames begin half a frame apart, whatever hop is asked for. Frame t begins at t · hop."""
    return _log(_bands(signal, rate, frame, frame // 2, n_mels))


@misconception("mel_spectrogram", title="the signal is padded")
def padded(signal, rate, frame=256, hop=128, n_mels=20):
    """Your result has more frames than fit into the signal: you pad it, so that frames are centred. Here only whole frames of the signal count."""
    return _log(_bands(np.pad(signal, frame // 2), rate, frame, hop, n_mels))


@misconception(
    "mel_spectrogram",
    title="the power divided by the frame's length",
    keeps="right but for one amount everywhere",
)
def divided_by_the_frame(signal, rate, frame=256, hop=128, n_mels=20):
    """All your values are too small by the same amount: nothing is to be divided by the length of the frame."""
    return _log(_bands(signal, rate, frame, hop, n_mels) / frame)


@misconception("mel_spectrogram", title="whole numbers fail", keeps="right for all signals of floats")
def whole_numbers_fail(signal, rate, frame=256, hop=128, n_mels=20):
    """Your function fails for a signal of integers: frames *= window would have to write fractions into an array of integers. Without the shorter form,
    frames = frames * window, a new array is made."""
    starts = range(0, len(signal) - frame + 1, hop)
    frames = np.stack([signal[s : s + frame] for s in starts])
    frames *= _hann(frame)
    return _log(np.abs(np.fft.rfft(frames)) ** 2 @ _filters(n_mels, frame, rate).T)


@misconception(
    "mel_spectrogram",
    title="twenty bands, whatever is asked for",
    keeps="right for the usual number; one argument is not used",
)
def always_twenty_bands(signal, rate, frame=256, hop=128, n_mels=20):
    """Your result has 20 bands, however many are asked for: pass n_mels on to mel_filters."""
    return _log(_bands(signal, rate, frame, hop, 20))


@misconception(
    "mel_spectrogram",
    title="8000 samples in a second, always",
    keeps="right at this rate; one argument is not used",
)
def always_8000(signal, rate, frame=256, hop=128, n_mels=20):
    """The rate changes nothing in your result: 8000 stands where the argument belongs. Pass rate on to mel_filters."""
    return _log(_bands(signal, 8000, frame, hop, n_mels))


@misconception("mel_spectrogram", title="the real part alone")
def real_part_alone(signal, rate, frame=256, hop=128, n_mels=20):
    """You square the real part of the Fourier transform alone. The power is the absolute value squared, of the real and the imaginary part:
    np.abs(…) ** 2."""
    frames = np.stack([signal[s : s + frame] * _hann(frame) for s in range(0, len(signal) - frame + 1, hop)])
    return _log(np.fft.rfft(frames).real ** 2 @ _filters(n_mels, frame, rate).T)


@misconception(
    "mel_spectrogram",
    title="the mean is taken away",
    keeps="every step of the recipe is right; there is one too many",
)
def mean_taken_away(signal, rate, frame=256, hop=128, n_mels=20):
    """You take the signal's mean away first, so the lowest band changes. That is done often, but it is no step of this recipe."""
    return _log(_bands(signal - np.mean(signal), rate, frame, hop, n_mels))


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


@alternative("mel_spectrogram")
def mels_in_single_precision_as_lists(signal, rate, frame=256, hop=128, n_mels=20):
    return mels_in_single_precision(signal, rate, frame, hop, n_mels).tolist()


@alternative("mel_spectrogram")
def mels_of_a_signal_in_single_precision(signal, rate, frame=256, hop=128, n_mels=20):
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(signal, dtype=np.float32), frame)[::hop]
    power = np.abs(np.fft.rfft(frames * _hann(frame).astype(np.float32))) ** 2
    return _log(power @ _filters(n_mels, frame, rate).T)


@alternative("mel_spectrogram")
def mels_of_frames_in_single_precision(signal, rate, frame=256, hop=128, n_mels=20):
    frames = np.empty((1 + (len(signal) - frame) // hop, frame), dtype=np.float32)
    for t in range(len(frames)):
        frames[t] = signal[t * hop : t * hop + frame]
    return _log(np.abs(np.fft.rfft(frames * _hann(frame))) ** 2 @ _filters(n_mels, frame, rate).T)
