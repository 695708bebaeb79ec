"""The lists of names: the course's own, and makemore's where a copy is at hand."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from coursekit.data import lines, path

#: The tokens of a name in the order of every table: start, a to z, end; and each token's index.
ALPHABET = ["<S>", *"abcdefghijklmnopqrstuvwxyz", "<E>"]
INDEX = {token: i for i, token in enumerate(ALPHABET)}

MAKEMORE_SHA256 = "0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d"


def names() -> list[str]:
    """The built-in list: 29,910 distinct names of the US birth year 2017, the most frequent first, a to z only."""
    return lines("names.txt")


def makemore_names() -> list[str] | None:
    """The 32,033 names that the lectures count, or None (and one line that says so) when no copy is here.

    Looks in the folder ``COURSE_DATA_MIRROR`` and in the course's cache for ``names/names.txt``. A file with
    other content than the lectures' is not taken.
    """
    for folder in _places():
        file = folder / "names" / "names.txt"
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == MAKEMORE_SHA256:
            return file.read_text(encoding="ascii").split()
    print(
        "makemore's names are not on this computer (an optional download): this part uses what is built in."
    )
    return None


def makemore_counts() -> np.ndarray:
    """(28, 28) integers: how often each token follows each other one in makemore's names (row: current token)."""
    return np.loadtxt(path("01_markov_bigram/makemore_counts.csv"), delimiter=",", dtype=int)


def _places() -> list[Path]:
    cache = os.environ.get("COURSE_DATA_CACHE") or str(Path.home() / ".cache" / "bigrams-to-translators")
    mirror = os.environ.get("COURSE_DATA_MIRROR")
    return [Path(folder) for folder in (mirror, cache) if folder]
