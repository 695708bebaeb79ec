"""Lab 13, mel_spectrogram: signal (N,), rate → the logarithm of the power in each mel band, frame by frame (T, n_mels)."""

import math

import numpy as np
import torch

from autograder.questions.engine import Observed, Question


def triangles(n_mels, frame, rate):
    """What each frequency adds to each band, one number at a time."""
    top = 2595 * math.log10(1 + rate / 1400)
    corner = [700 * (10 ** (top * k / (n_mels + 1) / 2595) - 1) for k in range(n_mels + 2)]
    table = np.zeros((n_mels, frame // 2 + 1))
    for band, place in np.ndindex(table.shape):
        low, centre, high = corner[band : band + 3]
        f = place * rate / frame
        if low < f < high:
            table[band, place] = (f - low) / (centre - low) if f <= centre else (high - f) / (high - centre)
    return table


def by_sums_of_waves(signal, rate, frame=256, hop=128, n_mels=20):
    n = np.arange(frame)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(frame // 2 + 1), n) / frame)
    window, bands, rows = np.sin(np.pi * n / frame) ** 2, triangles(n_mels, frame, rate), []
    for start in range(0, len(signal) - frame + 1, hop):
        power = np.abs(waves @ (window * signal[start : start + frame])) ** 2
        rows.append([math.log(max(float(band @ power), 1e-10)) for band in bands])
    return np.array(rows)


question = Question(
    by_sums_of_waves,
    forbidden=(
        "torch.stft", "torch.functional.stft", "Tensor.stft", "scipy.signal.stft", "scipy.signal.spectrogram",
        "scipy.signal.ShortTimeFFT", "matplotlib.mlab.specgram", "matplotlib.pyplot.specgram", "librosa.stft",
        "librosa.core.stft", "librosa.feature.melspectrogram", "torchaudio.functional.spectrogram",
        "torchaudio.transforms.Spectrogram", "torchaudio.transforms.MelSpectrogram",
    ),
)  # fmt: skip
#: Of logarithms: room for a spectrum in single precision.
ATOL = 1e-4


@question.family("Noise, with the usual frames, hops and bands.", weight=0.5, atol=ATOL)
def noise(rng):
    for N in rng.integers(390, 500, 2):
        yield rng.normal(size=N), 8000


@question.family(
    "Other frames, hops (larger than the frame, too), numbers of bands and rates.", weight=0.75, atol=ATOL
)
def other_sizes(rng):
    for N, rate, frame, hop, n_mels in (
        (150, 8000, 64, 20, 7),
        (245, 16000, 50, 70, 5),
        (67, 11025, 64, 2, 6),
    ):
        yield 3 * rng.normal(size=N), rate, frame, hop, n_mels


@question.family("A frame that ends with the signal counts.", atol=ATOL)
def ends_with_the_signal(rng):
    yield rng.normal(size=256), 8000
    yield rng.normal(size=64 + 3 * 32), 8000, 64, 32


@question.family("In silence and near it the floor is under each band.", weight=0.75, atol=ATOL)
def silence(rng):
    yield np.zeros(int(rng.integers(300, 600))), 8000
    for loudness in (3e-7, 1e-6):
        yield loudness * rng.normal(size=400), 8000


@question.family("A signal of whole numbers.", weight=0.25, atol=ATOL)
def whole_numbers(rng):
    yield rng.integers(-900, 900, size=300), 8000


@question.scenario("There is a row for each whole frame, and a column for each band.")
def rows_and_columns(student, rng):
    for N, frame, hop, n_mels in ((400, 64, 20, 7), (259, 50, 70, 5), (128 + 2 * 64, 128, 64, 6)):
        mels = np.asarray(student(rng.normal(size=N), 8000, frame, hop, n_mels))
        yield Observed("the shape", mels.shape)
        yield Observed("the frames are all alike", bool((mels == mels[0]).all()))


@question.scenario("The loudest band is that of a tone.", weight=2)
def the_band_of_a_tone(student, rng):
    for band in rng.choice(np.arange(9, 19), 2, replace=False):
        middle = 700 * (10 ** (math.log10(1 + 8000 / 1400) * (band + 1) / 21) - 1)
        tone = 50 * np.sin(2 * np.pi * middle * np.arange(700) / 8000)
        loudest = np.asarray(student(tone, 8000)).argmax(axis=1)
        yield Observed("the bands that are the loudest", sorted(set(loudest.tolist())))


@question.scenario("In noise the bands stand to each other as they should, in whatever unit.", weight=0.75)
def the_bands_by_their_spread(student, rng):
    mels = np.asarray(student(5 * rng.normal(size=500), 8000))
    yield Observed(
        "the bands, measured by their mean and spread", (mels - mels.mean()) / mels.std(), atol=1e-4
    )


def filters_of(n_mels, frame, rate):
    highest = 2595 * np.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (np.linspace(0, highest, n_mels + 2) / 2595) - 1)
    frequencies = np.linspace(0, rate / 2, frame // 2 + 1)
    return np.array([np.interp(frequencies, corners[k : k + 3], [0, 1, 0]) for k in range(n_mels)])


def hann_of(frame):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(frame) / frame)


def bands_of(signal, rate, frame, hop, n_mels, window=None, power=2, count=0):
    T = (len(signal) - frame) // hop + 1 + count
    frames = np.array([signal[t * hop : t * hop + frame] for t in range(T)]).reshape(T, frame)
    spectrum = np.abs(np.fft.rfft(frames * (hann_of(frame) if window is None else window))) ** power
    return spectrum @ filters_of(n_mels, frame, rate).T


def log_of(bands):
    return np.log(np.maximum(bands, 1e-10))


@question.misconception("magnitude instead of power", costs=2.5)
def magnitudes(signal, rate, frame=256, hop=128, n_mels=20):
    """You sum the absolute values of the Fourier transform; the power is asked for, which is their square."""
    return log_of(bands_of(signal, rate, frame, hop, n_mels, power=1))


@question.misconception("a window that ends in zero", costs=1.5)
def symmetric_window(signal, rate, frame=256, hop=128, n_mels=20):
    """Your numbers are off by a little everywhere: np.hanning makes the symmetric window, divided by frame − 1. The periodic one, divided by
    frame, is asked for."""
    return log_of(bands_of(signal, rate, frame, hop, n_mels, window=np.hanning(frame)))


@question.misconception("no window", costs=2)
def no_window(signal, rate, frame=256, hop=128, n_mels=20):
    """Your frames are cut out with hard edges, and each edge is a click with power at all frequencies. Multiply by the Hann window first."""
    return log_of(bands_of(signal, rate, frame, hop, n_mels, window=np.ones(frame)))


@question.misconception("the logarithm to base ten", costs=2)
def base_ten(signal, rate, frame=256, hop=128, n_mels=20):
    """Your values are the right ones divided by 2.303: the natural logarithm is asked for."""
    return np.log10(np.maximum(bands_of(signal, rate, frame, hop, n_mels), 1e-10))


@question.misconception("the floor is added", costs=1)
def added_floor(signal, rate, frame=256, hop=128, n_mels=20):
    """Loud sounds are right, very quiet ones are not: the floor is a maximum, not something to add."""
    return np.log(bands_of(signal, rate, frame, hop, n_mels) + 1e-10)


@question.misconception("bands in rows", costs=2, because="every number is right")
def bands_in_rows(signal, rate, frame=256, hop=128, n_mels=20):
    """Your rows are bands and your columns frames. A row should be a frame: it is the token that the model will read."""
    return log_of(bands_of(signal, rate, frame, hop, n_mels)).T


@question.misconception("the last frame is missing", costs=2)
def one_frame_too_few(signal, rate, frame=256, hop=128, n_mels=20):
    """One frame is missing at the end: between the first and the last start there are (N − frame) // hop steps, and so one more frame than
    steps."""
    return log_of(bands_of(signal, rate, frame, hop, n_mels, count=-1))


@question.misconception("the signal is padded", costs=2)
def padded(signal, rate, frame=256, hop=128, n_mels=20):
    """Your result has more frames than fit into the signal: you pad it, so that frames are centred. Here only whole frames of the signal count."""
    return log_of(bands_of(np.pad(signal, frame // 2), rate, frame, hop, n_mels))


@question.misconception("the power divided by the frame's length", costs=1.5)
def divided_by_the_frame(signal, rate, frame=256, hop=128, n_mels=20):
    """All your values are too small by the same amount: nothing is to be divided by the length of the frame."""
    return log_of(bands_of(signal, rate, frame, hop, n_mels) / frame)


@question.misconception("8000 samples in a second, always", costs=1)
def always_8000(signal, rate, frame=256, hop=128, n_mels=20):
    """The rate changes nothing in your result: 8000 stands where the argument belongs. Pass rate on to mel_filters."""
    return log_of(bands_of(signal, 8000, frame, hop, n_mels))


@question.misconception("the mean is taken away", costs=1, because="right for a signal whose mean is 0")
def mean_taken_away(signal, rate, frame=256, hop=128, n_mels=20):
    """You take the signal's mean away first, so the lowest band changes. That is done often, but it is no step of this recipe."""
    return log_of(bands_of(signal - np.mean(signal), rate, frame, hop, n_mels))


@question.alternative
def mels_frame_by_frame(signal, rate, frame=256, hop=128, n_mels=20):
    rows, start = [], 0
    while start + frame <= len(signal):
        spectrum = np.fft.fft(signal[start : start + frame] * np.hanning(frame + 1)[:-1])[: frame // 2 + 1]
        power = spectrum.real**2 + spectrum.imag**2
        rows.append([math.log(max(b, 1e-10)) for b in filters_of(n_mels, frame, rate).dot(power)])
        start += hop
    return rows


@question.alternative
def mels_in_single_precision(signal, rate, frame=256, hop=128, n_mels=20):
    frames = torch.tensor(np.array(signal, dtype=np.float32)).unfold(0, frame, hop)
    power = torch.fft.rfft(frames * torch.hann_window(frame)).abs() ** 2
    bands = power @ torch.tensor(filters_of(n_mels, frame, rate).T, dtype=torch.float32)
    return torch.log(torch.maximum(bands, torch.tensor(1e-10)))
