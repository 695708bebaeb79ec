"""The lists of names: the course's own, and makemore's if a copy is available."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from coursekit.data import CORPORA, lines, path
from coursekit.data.download import cache_folder, same_content

#: The tokens of a name in the order of every table: start, a to z, end; and each token's index.
ALPHABET = ["<S>", *"abcdefghijklmnopqrstuvwxyz", "<E>"]
INDEX = {token: i for i, token in enumerate(ALPHABET)}

#: Makemore's 27 tokens: one dot for both ends of a name, then a to z.
TOKENS = ".abcdefghijklmnopqrstuvwxyz"

MAKEMORE = CORPORA["makemore"].files[0]


def names() -> list[str]:
    """The built-in list: 29,910 distinct names of the US birth year 2017, the most frequent first, a to z only."""
    return lines("names.txt")


def makemore_names() -> list[str] | None:
    """The 32,033 names that the lectures count, or None, with one line that says so, if there is no copy.

    Looks in the folder ``COURSE_DATA_MIRROR`` and in the course's cache for ``names/names.txt``. A file with other content
    than the lectures' is ignored.
    """
    for folder in (os.environ.get("COURSE_DATA_MIRROR") or cache_folder(), cache_folder()):
        file = Path(folder) / MAKEMORE.name
        if same_content(file, MAKEMORE.sha256):
            return file.read_text(encoding="ascii").split()
    print(
        "makemore's names are not on this computer (an optional download): this part uses what is built in."
    )
    return None


def makemore_counts() -> np.ndarray:
    """(28, 28) integers: how often each token follows each other one in makemore's names (row: current token)."""
    return np.loadtxt(path("01_markov_bigram/makemore_counts.csv"), delimiter=",", dtype=int)


def makemore_trigrams() -> dict[str, np.ndarray]:
    """Counts (27, 27, 27) over ``.abc…z`` of parts of makemore's shuffled names: two tokens, then the next.

    The keys are ``first_200`` and ``first_1000`` (to learn from) and ``last_3203`` (to test on).
    """
    return _counts("02_dirichlet_map/makemore_trigrams.csv")


def makemore_bigrams() -> dict[str, np.ndarray]:
    """Counts (27, 27) over ``.abc…z`` of makemore's shuffled names: ``train_25626`` and ``dev_3203``."""
    return _counts("02_dirichlet_map/makemore_bigrams.csv")


def _counts(file: str) -> dict[str, np.ndarray]:
    """The columns of a table whose first column spells the cell: ``abc,1,5`` adds to cell (1, 2, 3)."""
    (_, *keys), *rows = [line.split(",") for line in lines(file)]
    tables = {key: np.zeros((27,) * len(rows[0][0]), dtype=int) for key in keys}
    for text, *counts in rows:
        cell = tuple(TOKENS.index(token) for token in text)
        for key, count in zip(keys, counts, strict=True):
            tables[key][cell] = int(count)
    return tables
