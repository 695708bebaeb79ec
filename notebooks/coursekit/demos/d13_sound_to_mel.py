"""Lab 13: a tone or three vowels become a sentence of frames: waveform, spectrogram, mel bands."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from coursekit.demos.frame import Choice, Demo, Scene, Slider
from coursekit.demos.svg import TOP, Picture

Array = npt.NDArray[np.float64]

RATE = 8000
TONE, STEPS, VOWELS, HUM = "one tone", "rising octaves", "a, i, u", "two tones"
SOUNDS = (STEPS, VOWELS, TONE, HUM)
FRAMES = {"128 samples": 128, "256 samples": 256, "512 samples": 512}
#: Loudness is drawn from the loudest down to so many natural logarithms below.
DEPTH = 12.0
FORMANTS = {"a": (800, 1200, 2500), "i": (300, 2300, 3000), "u": (320, 800, 2300)}


def _sine(hertz: float, seconds: float) -> Array:
    return np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)


def _vowel(name: str, seconds: float) -> Array:
    """A buzz of 120 hertz, its harmonics louder near the vowel's formants."""
    total = np.zeros(round(seconds * RATE))
    for hertz in range(120, RATE // 2, 120):
        total += sum(1 / (1 + ((hertz - f) / 80) ** 2) for f in FORMANTS[name]) * _sine(hertz, seconds)
    return total / np.abs(total).max()


@cache
def sound(name: str) -> Array:
    """One second of sound, between −1 and 1."""
    if name == TONE:
        return _sine(440, 1.0)
    if name == HUM:
        return (_sine(300, 1.0) + _sine(3000, 1.0)) / 2
    if name == STEPS:
        return np.concatenate([_sine(220 * 2**k, 0.2) for k in range(5)])
    return np.concatenate([_vowel(vowel, 1 / 3) for vowel in "aiu"])[:RATE]


@cache
def powers(name: str, frame: int) -> Array:
    """(T, frame / 2 + 1): the power of each frequency in frames that overlap by half, faded by a Hann window."""
    signal = sound(name)
    cut = np.lib.stride_tricks.sliding_window_view(signal, frame)[:: frame // 2]
    fade = 0.5 * (1 - np.cos(2 * np.pi * np.arange(frame) / frame))
    spectrum = np.fft.rfft(cut * fade, axis=1)
    return spectrum.real**2 + spectrum.imag**2


def corners(bands: int) -> Array:
    """Where the triangles begin, peak and end, in hertz: bands + 2 numbers, evenly spaced in mel."""
    return 700 * (10 ** (np.linspace(0, np.log10(1 + RATE / 1400), bands + 2)) - 1)


@cache
def mels(name: str, frame: int, bands: int) -> Array:
    """(T, bands): the logarithm of the power under each triangle."""
    at, hertz = corners(bands), np.arange(frame // 2 + 1) * RATE / frame
    triangles = np.array([np.interp(hertz, at[k : k + 3], [0, 1, 0]) for k in range(bands)])
    return np.log(np.maximum(powers(name, frame) @ triangles.T, 1e-10))


def _tiles(picture: Picture, box: tuple[float, float, float, float], values: Array, colour: str) -> None:
    """(T, F) in a box, low frequencies at the bottom, darker for louder, in eight shades."""
    x, y, width, height = box
    picture.rect(*box, fill="faint", edge="line", radius=0)
    count, rows = values.shape
    wide, high = width / count, height / rows
    shades = np.clip(np.ceil((values - values.max() + DEPTH) / DEPTH * 8), 0, 8).astype(int)
    for shade in range(1, 9):
        way = []
        for t in range(count):
            edges = np.flatnonzero(np.diff(np.concatenate(([0], shades[t] == shade, [0]))))
            for low, end in zip(edges[::2], edges[1::2], strict=True):
                way.append(
                    f"M{x + t * wide:.1f} {y + height - end * high:.1f}"
                    f"h{wide:.2f}v{(end - low) * high:.2f}h-{wide:.2f}z"
                )
        if way:
            picture.curve("".join(way), colour="none", width=0, fill=colour, opacity=shade / 8)


def _wave(picture: Picture, signal: Array, start: int, frame: int) -> None:
    """The waveform of a frame and of as much before and after it."""
    left, width, middle, half = 110.0, 800.0, TOP + 68.0, 36.0
    first = min(max(start - frame, 0), len(signal) - 3 * frame)
    shown = signal[first : first + 3 * frame]
    picture.text(
        *(left, TOP + 18, f"waveform, from {first / RATE:.2f} to {(first + 3 * frame) / RATE:.2f} s"),
        size=24, weight=700,
    )  # fmt: skip
    step = width / len(shown)
    picture.rect(
        *(left + (start - first) * step, middle - half - 4, frame * step, 2 * half + 8),
        fill="orange", opacity=0.3, edge="orange", edge_width=4,
    )  # fmt: skip
    picture.path(
        [(left + n * step, middle - half * value) for n, value in enumerate(shown)], colour="ink", width=1.5
    )


def draw(name: str, size: str, bands: int, moment: int) -> Picture:
    """Waveform on top, spectrogram and mel frames below, and one frame as a vector."""
    signal, frame = sound(name), FRAMES[size]
    found, power = mels(name, frame, bands), np.log(np.maximum(powers(name, frame), 1e-10))
    count = len(found)
    t = min(count - 1, round(moment / 100 * (count - 1)))
    loud = int(found[t].argmax())
    peak = corners(bands)[loud + 1]
    start = t * frame // 2 / RATE
    picture = Picture(
        f"At {start:.2f} s the loudest of {bands} bands is around {peak:,.0f} Hz",
        f"One second of {name}: {len(signal):,} samples become {count} frames of {bands} mel bands. Frame {t} is loudest "
        f"in band {loud}, around {peak:.0f} hertz.",
        note=f"{len(signal):,} samples → {count} frames × {frame // 2 + 1} frequencies → {count} tokens × {bands} numbers",
    )
    left, width = 110.0, 800.0
    _wave(picture, signal, t * frame // 2, frame)
    boxes = ((left, TOP + 148.0, width, 140.0), (left, TOP + 334.0, width, 140.0))
    for box, values, heading, colour in (
        (boxes[0], power, "spectrogram, in hertz", "blue"),
        (boxes[1], found, "mel frames, by band", "green"),
    ):
        _tiles(picture, box, values, colour)
        picture.text(left, box[1] - 10, heading, size=24, weight=700)
    for y, word in ((boxes[0][1] + 18, "4,000"), (boxes[0][1] + 140, "0")):
        picture.text(left - 10, y, word, size=22, anchor="end", colour="soft")
    for y, word in ((boxes[1][1] + 18, str(bands - 1)), (boxes[1][1] + 140, "0")):
        picture.text(left - 10, y, word, size=22, anchor="end", colour="soft")
    picture.text(left + width, boxes[1][1] + 166, "1 second", size=22, anchor="end", colour="soft")
    picture.text(left, boxes[1][1] + 166, "0", size=22, colour="soft")
    for box in boxes:
        picture.rect(
            *(left + t * width / count - 3, box[1] - 4, width / count + 6, box[3] + 8),
            fill="none", edge="orange", edge_width=4,
        )  # fmt: skip
    picture.text(960, TOP + 18, f"token {t}: {bands} numbers", weight=700, fit=230)
    high = 440 / bands
    low = found.max() - DEPTH
    for band, value in enumerate(found[t]):
        y = TOP + 32 + (bands - 1 - band) * high
        share = max(0.0, (value - low) / DEPTH)
        picture.rect(
            *(960, y + 1, max(3, 200 * share), max(high - 2, 2)),
            fill="orange" if band == loud else "green", radius=1,
        )  # fmt: skip
    picture.text(960, TOP + 500, "logarithm of the power", size=22, colour="soft", fit=230)
    return picture


demo = Demo(
    name="13_sound_to_mel",
    title="Sound is a sentence of frames",
    look="Follow the orange frame from the waveform down: 256 samples become one token.",
    draw=draw,
    controls=(
        Choice("name", "sound", SOUNDS, STEPS),
        Choice("size", "frame", tuple(FRAMES), "256 samples"),
        Slider("bands", "mel bands", 8, 40, 32),
        Slider("moment", "moment (%)", 0, 100, 50),
    ),
    scenes=(
        Scene("octaves"),
        Scene("vowels: a", {"name": VOWELS, "moment": 15}),
        Scene("vowels: i", {"name": VOWELS, "moment": 50}),
        Scene("long frames", {"name": VOWELS, "size": "512 samples", "moment": 85}),
        Scene("eight bands", {"name": STEPS, "bands": 8, "moment": 90}),
        Scene("two tones", {"name": HUM}),
    ),
    questions=(
        "Each octave doubles the frequency. Why are its steps more even in mel than in hertz?",
        "Longer frames: what gets sharper, and what is smeared?",
        "How many tokens would a minute of speech be? And how many pairs for attention?",
    ),
)
